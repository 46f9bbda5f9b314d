"""Wheels for every CPython that is here, called manylinux by auditwheel, and whether two builds of one commit are the same bytes.

In: the repository, interpreters (`python3.X` on the path, pyenv's). Out: dist/*.whl and a table: what each Python got, its size, which
libraries and versions of symbols it wants. What can't be built here is said; a build that fails ends with 1.

The time in an archive is the commit's (SOURCE_DATE_EPOCH). Each Python has a build folder of its own; ccache gives them the core's
objects, which know nothing of Python. `--twice` builds the first one again in another folder and names every file that differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: What auditwheel calls the oldest system that the build of Debian 12 reaches: GLIBCXX_3.4.30 (GCC 12) is the newest that is wanted, and
#: Ubuntu 22.04 is the oldest that has it (docs/dependencies.md).
PLATFORM = "manylinux_2_35_x86_64"
#: Of a wheel. LLVM is most of it; more is to be explained.
MOST_B = 25_000_000
BUILD_NEEDS = ("scikit-build-core>=0.11", "pybind11>=3.0", "hatch-fancy-pypi-readme>=24.1")


def run(*words: str | Path, **more: object) -> str:
    """What a program prints. Raises where it fails, with what it said."""
    done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return str(done.stdout)


def interpreter(version: str) -> Path | None:
    """A CPython of this version that works."""
    pyenv = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python"), reverse=True)
    on_path = [Path(p) for p in (shutil.which(f"python{version}"),) if p]
    for path in (*pyenv, *on_path):
        code = "import sys; print(f'{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}')"
        said = subprocess.run([str(path), "-c", code], capture_output=True, text=True)
        if said.returncode == 0 and said.stdout.strip() == f"cpython {version}":
            return path
    return None


def environment_of(python: Path, version: str) -> Path:
    """A virtual environment with what builds need."""
    folder = ROOT / "build" / "wheels" / f"venv-{version}"
    if not (folder / ".stamp").exists():
        run(python, "-m", "venv", folder)
        run(folder / "bin" / "python", "-m", "pip", "install", "-q", *BUILD_NEEDS)
        (folder / ".stamp").touch()
    return folder / "bin" / "python"


def build(python: Path, version: str, build_folder: Path, out: Path) -> Path:
    """A wheel as the build makes it."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    settings = [f"--config-settings=build-dir={build_folder}"]
    when = run("git", "log", "-1", "--format=%ct").strip()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": when}
    run(python, "-m", "pip", "wheel", "-q", ".", "--no-deps", "--no-build-isolation", *settings, "-w", out, env=environment)
    (wheel,) = out.glob("*.whl")
    return wheel


def repaired(auditwheel: Path, wheel: Path, out: Path) -> tuple[Path, str]:
    """The same with manylinux in its name, and auditwheel's verdict."""
    verdict = " ".join(run(auditwheel, "show", wheel).split())
    found = re.search(r'platform tag: "([^"]+)"', verdict)
    run(auditwheel, "repair", "--plat", PLATFORM, "-w", out, wheel)
    tag = wheel.name.split("-")[2]
    (made,) = out.glob(f"*-{tag}-*manylinux*.whl")
    return made, found[1] if found else verdict


def contents(wheel: Path) -> dict[str, str]:
    """Hash of each file, and of what the archive says of it."""
    with zipfile.ZipFile(wheel) as archive:
        return {i.filename: f"{hashlib.sha256(archive.read(i)).hexdigest()} {i.date_time} {i.external_attr}" for i in archive.infolist()}


def difference(one: Path, other: Path) -> list[str]:
    """Files of two wheels that differ; empty: the wheels are the same bytes."""
    if one.read_bytes() == other.read_bytes():
        return []
    a, b = contents(one), contents(other)
    return sorted(name for name in a | b if a.get(name) != b.get(name)) or ["the archive itself, with the same files"]


def try_all(dist: Path, versions: list[str]) -> int:
    """Installs each wheel as a user would, runs scripts/test_wheel.sh, and asks pip whether all extras go together."""
    tried = 0
    for version in versions:
        python = interpreter(version)
        tag = f"cp{version.replace('.', '')}"
        wheels = sorted(dist.glob(f"*-{tag}-{tag}-*manylinux*.whl"))
        if python is None or not wheels:
            print(f"{version}: {'no interpreter on this machine' if python is None else 'no wheel in dist/ (make wheels)'}")
            continue
        print(run("sh", "scripts/test_wheel.sh", python, wheels[-1]), end="")
        tool = environment_of(python, version)
        resolved = run(tool, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--report", "-", f"{wheels[-1]}[all]")
        names = [entry["metadata"]["name"] for entry in json.loads(resolved)["install"]]
        print(f"{version}: tilegpu[all] resolves to {len(names)} packages")
        tried += 1
    return 0 if tried else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", nargs="*", default=VERSIONS, choices=VERSIONS)
    parser.add_argument("--auditwheel", type=Path, default=ROOT / ".venv" / "bin" / "auditwheel")
    parser.add_argument("--test", action="store_true", help="build nothing: try the wheels of dist/, each where nothing is")
    parser.add_argument("--twice", action="store_true", help="build the first one again, and compare")
    options = parser.parse_args()
    dist, work = ROOT / "dist", ROOT / "build" / "wheels"
    dist.mkdir(exist_ok=True)
    if options.test:
        return try_all(dist, options.versions)
    rows: list[str] = []
    wrong = False
    first: tuple[Path, str, Path] | None = None
    for version in options.versions:
        python = interpreter(version)
        if python is None:
            rows.append(f"| {version} | no interpreter on this machine | | |")
            continue
        print(f"CPython {version}: {python}", file=sys.stderr, flush=True)
        tool = environment_of(python, version)
        raw = build(tool, version, work / f"build-{version}", work / f"raw-{version}")
        made, verdict = repaired(options.auditwheel, raw, dist)
        size_B = made.stat().st_size
        wrong |= size_B > MOST_B
        rows.append(f"| {version} | {made.name} | {verdict} | {size_B:,} bytes{' (too many)' if size_B > MOST_B else ''} |")
        first = first or (tool, version, raw)
    print("| CPython | wheel | auditwheel | size |\n|---|---|---|---|", *rows, sep="\n")
    if first is None:
        print("no interpreter was found", file=sys.stderr)
        return 1
    if options.twice:
        tool, version, raw = first
        again = build(tool, version, work / f"again-{version}", work / f"raw-again-{version}")
        names = difference(raw, again)
        print(f"two builds of {version}, in two folders: " + ("the same bytes" if not names else f"these differ: {', '.join(names)}"))
        wrong |= bool(names)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
