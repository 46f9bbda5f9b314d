"""scripts/wheels.py: what differs between two wheels is named, interpreters are what they are called; the metadata says each version."""

from __future__ import annotations

import importlib.util
import platform
import re
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("wheels", ROOT / "scripts" / "wheels.py")
assert spec and spec.loader
wheels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wheels)


def archive(path: Path, files: dict[str, bytes], year: int = 2026) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for name, data in files.items():
            out.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), data)
    return path


def test_what_differs_is_named(tmp_path: Path) -> None:
    one = archive(tmp_path / "a.whl", {"x": b"1", "y": b"2"})
    assert wheels.difference(one, archive(tmp_path / "b.whl", {"x": b"1", "y": b"2"})) == []
    assert wheels.difference(one, archive(tmp_path / "c.whl", {"x": b"1", "y": b"3", "z": b""})) == ["y", "z"]
    assert wheels.difference(one, archive(tmp_path / "d.whl", {"x": b"1", "y": b"2"}, 2025)) == ["x", "y"]
    assert wheels.difference(one, archive(tmp_path / "e.whl", {"y": b"2", "x": b"1"})) == ["the archive itself, with the same files"]


def test_an_interpreter_is_of_its_version() -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert version in wheels.VERSIONS and wheels.interpreter(version) is not None
    assert wheels.interpreter("3.99") is None


@pytest.mark.skipif(platform.libc_ver()[1] not in ("2.35", "2.36"), reason="a newer build machine asks for what it has")
def test_a_library_asks_for_no_newer_system_than_its_tag() -> None:
    """What LLVM asks for of glibc 2.36 is the core's own."""
    import tilegpu

    library = (Path(tilegpu._core.__file__).parent / "libtilegpu.so").read_bytes()
    wanted = {tuple(map(int, v.split(b"."))) for v in re.findall(rb"\0GLIBC_(2\.\d+)(?=\0)", library)}
    assert wanted and max(wanted) <= (2, 35)
    assert max(int(v) for v in re.findall(rb"\0GLIBCXX_3\.4\.(\d+)(?=\0)", library)) <= 30
