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


#: Rooms of tables and structs: what functions they have are a few lines.
FEW_LINES = 100


def test_asserts_stand_in_every_room() -> None:
    """About ten for each thousand lines, where there are functions: headers of structs have nothing to ask."""
    rooms = [room for room in house.house() if room.name != house.GENERATED and sum(f.lines for f in room.functions) >= FEW_LINES]
    assert len(rooms) > 30
    assert [(room.name, round(room.asserts_per_1000, 1)) for room in rooms if room.asserts_per_1000 < 10] == []


def test_functions_are_short() -> None:
    """At most a hundred lines, what a Python function says of itself left out."""
    functions = [f for room in house.house() if room.name != house.GENERATED for f in room.functions] + house.python_functions()
    assert [(f.file, f.name, f.lines) for f in functions if f.lines > 100] == []


#: The head's last line is the first that is no comment.
HEAD = re.compile(r"\A(?://[^\n]*\n)+")
SAYS = re.compile(r"\bIn(?:, out)?: |\bOut: |\b[Ss]ee [\w/]+\.[ch]pp|of [\w/]+\.hpp\b")


def test_heads_say_what_goes_in_and_out() -> None:
    """Or which file says it."""
    files = [f for f in (PATH.parent.parent / "cpp" / "src").rglob("*.[ch]pp") if house.GENERATED not in str(f)]
    heads = {str(f): HEAD.match(f.read_text()) for f in files}
    assert [name for name, head in heads.items() if not head or not SAYS.search(head[0].replace("\n// ", " "))] == []


def test_python_functions_are_read() -> None:
    found = {f.name: f.lines for f in house.python_functions()}
    assert found["create_pipeline"] <= 100 and found["viewports_of"] == 3


def test_prefetches_are_not_removed() -> None:
    """GCC takes a function of prefetches alone for one without effect (base/prefetch.hpp): none is asked for in another way."""
    core = PATH.parent.parent / "cpp"
    asking = re.compile(r"__builtin_prefetch|_mm_prefetch")
    assert [f.name for f in core.rglob("*.?pp") if asking.search(f.read_text())] == ["prefetch.hpp"]
