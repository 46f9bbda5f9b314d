"""scripts/house.py: the parser of braces that counts asserts and finds functions."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "scripts" / "house.py"
spec = importlib.util.spec_from_file_location("house", PATH)
assert spec and spec.loader
house = importlib.util.module_from_spec(spec)
sys.modules["house"] = house
spec.loader.exec_module(house)

SOURCE = """
#define BRACE {
namespace a {
struct S : Base {
  S(int x) : x_(x), y_{2} { assert(x > 0); }
  int get() const noexcept { return x_; }
  bool operator==(const S& other) const {
    return x_ == other.x_;  // } is text
  }
};
constexpr int kTable[] = {1, 2};
static_assert(sizeof(kTable) == 8);
template <class T>
auto long_one(const T& t,
              int limit = 3) -> decltype(t) {
  const char* text = "{{{ assert(";
  if (limit) {
    const auto inner = [&](int v) { return v; };
    assert(inner(1) == 1);
  }
  return t;
}
}
"""


def test_functions_and_asserts() -> None:
    found = {f.name: f.lines for f in house.functions_of(SOURCE, "a.cpp")}
    assert found == {"S": 1, "get": 1, "operator==": 3, "long_one": 10}
    assert len(house.ASSERT.findall(house.without_texts(SOURCE))) == 2


def test_the_tree_is_read() -> None:
    rooms = {room.name: room for room in house.house()}
    assert {"tile", "geometry", "shader/lower"} <= set(rooms)
    assert rooms["tile"].functions[0].lines >= 30
    assert all(f.lines < 1000 for room in rooms.values() for f in room.functions), "a brace was lost"


def test_recordings_are_plain_data() -> None:
    """What is const for its readers has nothing that an execution could write to."""
    core = PATH.parent.parent / "cpp" / "src"
    files = [*(core / "command").glob("*.hpp"), *(core / "pipeline" / name for name in ("resolved.hpp", "program.hpp", "kernel.hpp"))]
    assert len(files) >= 8
    for file in files:
        text = house.without_texts(file.read_text())
        assert not re.search(r"\bmutable\b|\bstd::mutex\b|\bconst_cast\b|(?<!static )\bstd::atomic\b", text), file.name
