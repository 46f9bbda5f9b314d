"""scripts/wheels.py: what differs between two wheels is named, interpreters are what they are called; the metadata says each version."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pybind11
import pytest
from tests.passed_before import passed_before, told_apart_by

ROOT = Path(__file__).resolve().parent.parent


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wheels, first_steps = script("wheels"), script("first_steps")


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


def test_an_interpreter_of_another_debian_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a version that neither pyenv nor the path has (scripts/debian_python.sh makes it)."""
    monkeypatch.setenv("TILEGPU_BARE", str(tmp_path))
    python = tmp_path / "python3.99" / "usr" / "bin" / "python3.99"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho cpython 3.99\n")
    python.chmod(0o755)
    assert wheels.interpreter("3.99") == python
    python.write_text("#!/bin/sh\necho pypy 3.99\n")
    assert wheels.interpreter("3.99") is None


def test_the_first_steps_draw_what_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs that bare systems run (make test-wheels-bare), on this build: tests/first_steps.json is of the pages as they are."""
    for name in [n for n in os.environ if n.startswith(("TILEGPU_GOLDEN", "PYTEST_"))]:
        monkeypatch.delenv(name)
    first_steps.write(tmp_path)
    first_steps.draw(tmp_path)
    if os.environ.get("TILEGPU_REGENERATE"):
        first_steps.HASHES.write_text(json.dumps(first_steps.pictures(tmp_path), indent=1) + "\n")
        first_steps.write(tmp_path)
    assert first_steps.check(tmp_path) == 0
    wrong = dict.fromkeys(first_steps.PROGRAMS, "0")
    (tmp_path / first_steps.HASHES.name).write_text(json.dumps(wrong))
    assert first_steps.check(tmp_path) == 1


def test_the_sdist_is_what_builds(tmp_path: Path) -> None:
    """Sources of this tree alone, whatever has been built in it; and in them all that CMakeLists.txt and pyproject.toml name."""
    pytest.importorskip("scikit_build_core")
    code = "import scikit_build_core.build as b, sys; print(b.build_sdist(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    tops = {"CHANGELOG.md", "CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "SECURITY.md", "THIRD_PARTY_NOTICES"}
    assert {n.partition("/")[0] for n in names} == tops | {"pyproject.toml", "cpp", "python", "samples", "shaders"}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0:
        new = subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
        sources = {n for n in (tracked.stdout + new.stdout).splitlines() if (ROOT / n).is_file()}
        assert names - {"PKG-INFO"} <= sources
        wanted = {n for n in sources if n.startswith(("cpp/", "python/", "samples/", "shaders/")) and not n.startswith("cpp/tests/")}
        assert wanted - names == set()
    assert made.stat().st_size < 3_000_000


@pytest.mark.slow
def test_the_bindings_are_one_unit_too(tmp_path: Path) -> None:
    """As wheels compile them (CMakeLists.txt, UNITY_BUILD): a name that two files have each for themselves ends there."""
    compiled = ROOT / "build" / "release" / "compile_commands.json"
    if not compiled.exists():
        pytest.skip(f"{compiled}: nothing was built here")
    files = sorted((ROOT / "cpp" / "bindings").glob("*.cpp"))
    (command,) = (c for c in json.loads(compiled.read_text()) if c["file"] == str(ROOT / "cpp" / "bindings" / "plain_draws.cpp"))
    words = [w for w in shlex.split(command["command"]) if "ccache" not in w]
    unit = tmp_path / "unit.cpp"
    unit.write_text("".join(f'#include "{f}"\n' for f in files))
    at = words.index("-o")
    words = [w for w in [*words[:at], *words[at + 2 :]] if w not in ("-c", command["file"])] + ["-O0", "-fsyntax-only"]
    assert len(files) > 20
    compiler = subprocess.run([words[0], "--version"], capture_output=True, text=True, check=True).stdout
    read = [p for p in (ROOT / "cpp").rglob("*") if p.suffix in (".hpp", ".h", ".inc", ".def") or p in files]
    assert {"device.hpp", "bindings.hpp"} <= {p.name for p in read}
    with passed_before(told_apart_by([compiler, pybind11.__version__, sys.version, *words], read, ROOT)) as passed:
        if not passed:
            done = subprocess.run([*words, str(unit)], cwd=command["directory"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[:3000]


def test_every_version_is_said() -> None:
    """Wheels, classifiers and the oldest Python are of the same versions."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project) == list(wheels.VERSIONS)
    assert f'requires-python = ">={wheels.VERSIONS[0]}"' in project
    assert set(wheels.SUITES.values()) <= set(wheels.VERSIONS)


@pytest.mark.skipif(platform.libc_ver()[1] not in ("2.35", "2.36"), reason="a newer build machine asks for what it has")
def test_a_library_asks_for_no_newer_system_than_its_tag() -> None:
    """What LLVM asks for of glibc 2.36 is the core's own."""
    import tilegpu

    library = (Path(tilegpu._core.__file__).parent / "libtilegpu.so").read_bytes()
    wanted = {tuple(map(int, v.split(b"."))) for v in re.findall(rb"\0GLIBC_(2\.\d+)(?=\0)", library)}
    assert wanted and max(wanted) <= (2, 35)
    assert max(int(v) for v in re.findall(rb"\0GLIBCXX_3\.4\.(\d+)(?=\0)", library)) <= 30


def _no_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: tuple[str, ...]) -> Path:
    """A folder of wheels of some versions; each has an interpreter but 3.10."""
    monkeypatch.setattr(wheels, "interpreter", lambda version: None if version == "3.10" else Path(f"/usr/bin/python{version}"))
    monkeypatch.setattr(wheels, "packages_for", lambda version, wheel: tmp_path / "packages")
    dist = tmp_path / "dist"
    dist.mkdir()
    for version in there:
        tag = f"cp{version.replace('.', '')}"
        for processor in ("aarch64", "x86_64", "zz"):  # of another one beside it: this machine can't try it
            (dist / f"tilegpu-0.2-{tag}-{tag}-manylinux_2_35_{processor}.whl").touch()
    monkeypatch.setattr(wheels.platform, "machine", lambda: "x86_64")
    return dist


def test_what_fails_in_a_bare_debian_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dist = _no_machine(monkeypatch, tmp_path, ("3.11", "3.12"))

    def run(*words: object, **_: object) -> str:
        if "cp312" in str(words):
            raise SystemExit("sh scripts/test_wheel_bare.sh\nImportError: libtilegpu.so")
        return "fine\n"

    monkeypatch.setattr(wheels, "run", run)
    assert wheels.try_bare(dist, ["3.10", "3.11", "3.12", "3.13"], ["bookworm"]) == 1
    out, err = capsys.readouterr()
    assert "left out: bookworm 3.10: there is no CPython 3.10 on this machine; pyenv install 3.10, or" in out
    assert f"left out: bookworm 3.13: there is no wheel of CPython 3.13 in {dist}; make wheels WHEEL_ARGS='--versions 3.13'" in out
    assert "tried: bookworm 3.11\n" in out
    assert "FAILED: bookworm 3.12: tilegpu-0.2-cp312-cp312-manylinux_2_35_x86_64.whl with /usr/bin/python3.12 in a bare bookworm" in err
    assert "ImportError: libtilegpu.so" in err and "make test-wheels-bare SUITES=bookworm WHEEL_ARGS='--versions 3.12'" in err
    assert wheels.try_bare(dist, ["3.11"], ["bookworm", "trixie"]) == 0


def test_a_wheel_has_the_name_that_is_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of either processor; what auditwheel calls newer is no wheel of ours, and the other processor's stays where it is."""
    dist = tmp_path / "dist"
    dist.mkdir()
    other = dist / "tilegpu-0.2-cp311-cp311-manylinux_2_35_x86_64.whl"
    other.touch()
    system = "manylinux_2_35_aarch64"
    asked: list[str] = []

    def run(*words: object, **_: object) -> str:
        if "repair" in words:
            asked.append(str(words[words.index("--plat") + 1]))
            (dist / f"tilegpu-0.2-cp311-cp311-{system}.whl").touch()
        return f'This constrains the platform tag to "{system}". platform tag: "{system}"'

    monkeypatch.setattr(wheels, "run", run)
    monkeypatch.setattr(wheels, "of_commit", dict)
    monkeypatch.setattr(wheels.platform, "machine", lambda: "x86_64")
    raw = tmp_path / "tilegpu-0.2-cp311-cp311-linux_aarch64.whl"
    made, verdict = wheels.repaired(tmp_path / "auditwheel", raw, dist)
    assert made.name.endswith(f"-{system}.whl") and verdict == system and other.exists() and asked == ["auto"]
    system = "manylinux_2_36_aarch64"
    with pytest.raises(SystemExit, match=r"linux_aarch64\.whl manylinux_2_36_aarch64; it should be"):
        wheels.repaired(tmp_path / "auditwheel", raw, dist)


def test_nothing_tried_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    dist = _no_machine(monkeypatch, tmp_path, ())
    for act, given in ((wheels.try_bare, [["bookworm"]]), (wheels.try_all, [])):
        assert act(dist, ["3.12"], *given) == 1
        assert "no wheel was tried, so nothing is known of any: see what was left out, and why" in capsys.readouterr().err


def test_a_python_of_another_debian_is_tried_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It can make no environment with pip here, and still says what `tilegpu[all]` resolves to."""
    dist = _no_machine(monkeypatch, tmp_path, ("3.14",))
    monkeypatch.setattr(wheels, "interpreter", lambda version: tmp_path / "bare" / "python3.14")
    monkeypatch.setattr(wheels, "cache", lambda: tmp_path / "bare")
    monkeypatch.setattr(wheels, "environment_of", lambda python, version: python)

    def run(*words: object, **_: object) -> str:
        assert "scripts/test_wheel.sh" not in words
        return json.dumps({"install": [{"metadata": {"name": "numpy"}}]})

    monkeypatch.setattr(wheels, "run", run)
    assert wheels.try_all(dist, ["3.14"]) == 0
    out = capsys.readouterr().out
    assert "left out: 3.14: this Python is of another Debian" in out and "3.14: tilegpu[all] resolves to 1 packages" in out


def test_no_source_knows_when_it_was_built() -> None:
    """Two builds of one commit are the same bytes: the compiler's clock is in none of them."""
    clocks = re.compile(r"\b__(?:DATE|TIME|TIMESTAMP)__\b")
    kinds = {".cpp", ".hpp", ".h", ".c", ".inc", ".in", ".cmake", ".txt", ".py", ".pyi"}
    sources = [path for room in ("cpp", "python") for path in (ROOT / room).rglob("*") if path.suffix in kinds]
    assert len(sources) > 500 and {".cpp", ".hpp", ".py"} <= {path.suffix for path in sources}
    assert [str(path) for path in sources if clocks.search(path.read_text(encoding="utf-8"))] == []
