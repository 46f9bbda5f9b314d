"""scripts/tidy.py: a source is looked at again when a header that it includes changes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "scripts" / "tidy.py"
spec = importlib.util.spec_from_file_location("tidy", PATH)
assert spec and spec.loader
tidy = importlib.util.module_from_spec(spec)
sys.modules["tidy"] = tidy
spec.loader.exec_module(tidy)


def test_headers_of_a_source_are_found_by_its_command() -> None:
    """Whether compile_commands.json names the object file or has it in the command alone."""
    entry = {"directory": "/b", "file": "/s/a.cpp", "command": "c++ -I /s -o a.dir/a.cpp.o -c /s/a.cpp"}
    read = {"a.dir/a.cpp.o": ["../s/a.cpp", "../s/a.hpp"]}
    for given in (entry, entry | {"output": "a.dir/a.cpp.o"}):
        assert tidy.read_by(given, read) == {Path("/s/a.cpp"), Path("/s/a.hpp")}
