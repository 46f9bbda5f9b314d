"""clang-tidy over the C++ sources, those alone that changed since they were last clean (`make tidy` calls it).
A FILE that is a header stands for the sources that include it.

    python scripts/tidy.py --build build/release [--tool clang-tidy] [--jobs N] [FILE ...]

In: compile_commands.json and what ninja knows of includes. Out: findings, exit code 1 if there are any. A source is looked at again when
it, a header that it includes, its command or .clang-tidy changed; what was clean is noted in BUILD/tidy.json by a hash of all of these.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
#: Warnings of the build's own compiler that clang doesn't know; what libstdc++'s headers use themselves (std::stable_sort); and clang's own
#: warning of functions that only a static_assert calls.
EXTRA = (
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-Wno-ignored-optimization-argument",
    "--extra-arg=-Wno-deprecated-declarations",
    "--extra-arg=-Wno-unneeded-internal-declaration",
)


def dependencies(build: Path) -> dict[str, list[str]]:
    """Object file: what its compile read, as ninja noted it."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=False).stdout
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if line.startswith("    "):
            current.append(line.strip())
        elif ": #deps" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def commands(build: Path) -> dict[Path, dict[str, str]]:
    """Source: its first command (the tile phase is compiled twice)."""
    found: dict[Path, dict[str, str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(REPOSITORY / "cpp"):
            found.setdefault(path, entry)
    return found


def output_of(entry: dict[str, str]) -> str:
    """The object file as ninja names it; not every CMake notes it beside the command."""
    words = shlex.split(entry["command"])
    return entry.get("output") or (words[words.index("-o") + 1] if "-o" in words[:-1] else "")


class Hashes:
    """Of files, each read once."""

    def __init__(self) -> None:
        self.known: dict[Path, str] = {}

    def __call__(self, path: Path) -> str:
        if path not in self.known:
            self.known[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        return self.known[path]


def key(source: Path, entry: dict[str, str], read: list[str], version: str, hash_of: Hashes) -> str:
    """Of all that a finding depends on; of headers, the repository's. The same wherever the repository lies."""
    paths = {source, REPOSITORY / ".clang-tidy"}
    paths |= {p for p in (Path(entry["directory"], name).resolve() for name in read) if p.is_relative_to(REPOSITORY / "cpp")}
    command = entry["command"].replace(str(REPOSITORY), ".")
    whole = "\n".join([version, command, *EXTRA, *(f"{p.relative_to(REPOSITORY)} {hash_of(p)}" for p in sorted(paths))])
    return hashlib.sha256(whole.encode()).hexdigest()


def read_by(entry: dict[str, str], read: dict[str, list[str]]) -> set[Path]:
    """What a source's compile read."""
    return {Path(entry["directory"], name).resolve() for name in read.get(output_of(entry), [])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, help="default: all sources of the build")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--tool", default="clang-tidy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if not (options.build / "compile_commands.json").exists():
        print(f"tidy: there is no build in {options.build}; make build-tests makes one", file=sys.stderr)
        return 1
    version = subprocess.run([options.tool, "--version"], capture_output=True, text=True, check=True).stdout
    all_commands, read = commands(options.build), dependencies(options.build)
    notes = options.build / "tidy.json"
    clean: dict[str, str] = json.loads(notes.read_text()) if notes.exists() else {}
    hash_of = Hashes()
    wanted = [f.resolve() for f in options.files if f.suffix == ".cpp"] if options.files else list(all_commands)
    headers = {f.resolve() for f in options.files if f.suffix == ".hpp"}
    wanted += [s for s, entry in all_commands.items() if s not in wanted and headers & read_by(entry, read)]
    work = {}
    for source in wanted:
        if source not in all_commands:
            print(f"tidy: {source} is in no build; build first", file=sys.stderr)
            return 1
        entry = all_commands[source]
        now = key(source, entry, read.get(output_of(entry), []), version, hash_of)
        if clean.get(str(source.relative_to(REPOSITORY))) != now:
            work[source] = now

    def run(source: Path) -> tuple[Path, int, str]:
        command = [options.tool, "-p", options.build, "--quiet", *EXTRA, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
        return source, done.returncode, done.stdout

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for source, code, output in pool.map(run, work):
            if code == 0:
                clean[str(source.relative_to(REPOSITORY))] = work[source]
                notes.write_text(json.dumps(clean))
            else:
                failed += 1
                print(output.strip(), flush=True)
    print(f"tidy: {len(work)} of {len(wanted)} sources looked at, findings in {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
