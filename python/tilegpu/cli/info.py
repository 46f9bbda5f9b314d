"""``tilegpu info``: a report to paste into a bug report; with ``--profile`` the constants of a profile's cost model and their sources."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import stat
from pathlib import Path
from typing import Any

from tilegpu.cli.common import EXIT_OK, UsageError


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "info", help="version, CPU, lanes, LLVM, threads, cache: a report to paste", description=__doc__
    )
    parser.add_argument(
        "--profile",
        action="append",
        metavar="P",
        help="in place of it the constants of this GPU's cost model, with a source each; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def _version_of(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cache_size(folder: str) -> str:
    path = Path(folder)
    if not folder or folder == "off" or not path.is_dir():
        return "empty"
    sizes_B = []
    for file in path.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # other processes rename and remove files there
            status = file.stat()
            if stat.S_ISREG(status.st_mode):
                sizes_B.append(status.st_size)
    return f"{len(sizes_B)} files, {sum(sizes_B) / 1e6:.1f} MB"


def _cpu_model() -> str:
    """The processor's name as the system tells it, "" where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name") and ":" in line)
    return next(names, "")


def report() -> dict[str, str]:
    """The lines of the report by name."""
    import tilegpu

    device = tilegpu.Device()
    info = device.info
    if callable(info):
        info = info()
    found = info if isinstance(info, dict) else {n: getattr(info, n) for n in dir(info) if not n.startswith("_")}
    cache = str(found.get("cache_dir", ""))
    return {
        "tilegpu": tilegpu.__version__,
        "cpu": f"{_cpu_model()} ({found.get('cpu', '')})".strip(),
        "lanes": str(found.get("lanes", "")),
        "vectors": str(found.get("vectors", "")),
        "jit target": str(found.get("jit_target", "") or "this CPU"),
        "llvm": str(found.get("llvm_version", "")),
        "threads": f"{found.get('threads', '')} of {os.cpu_count()}",
        "profile": str(found.get("profile", "host")),
        "cache": f"{cache or 'off'} ({found.get('cache_off_because') or _cache_size(cache)})",
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "numpy": _version_of("numpy"),
        "pillow": _version_of("pillow"),
        "moderngl": _version_of("moderngl"),
        "glfw": _version_of("glfw"),
    }


def constants_text(profile: str) -> str:
    """A profile's constants: name, value, what it is, where it is from."""
    from tilegpu.cost_constants import CONSTANTS, SOURCES, rows_of

    rows = rows_of(profile)
    widths = [max(len(text) for text in column) for column in (([n for n, _, _ in rows]), [f.text.rstrip(" *") for _, f, _ in rows])]
    lines = [f"{profile} ({CONSTANTS[profile].kind}): constants of the cost model, for each cycle of the GPU; * is an estimate"]
    for name, figure, meaning in rows:
        star = "*" if figure.estimated else " "
        lines.append(f"  {name:{widths[0]}}  {figure.text.rstrip(' *'):>{widths[1]}} {star}  {meaning}")
        lines.append(f"  {'':{widths[0]}}  {'':{widths[1]}}      from: {SOURCES[figure.source]}")
    return "\n".join(lines)


def run_constants(profiles: list[str], as_json: bool) -> int:
    """Prints constants of profiles."""
    from tilegpu.cost_constants import CONSTANTS, SOURCES, rows_of

    for name in profiles:
        if name not in CONSTANTS:
            why = " (host is this computer: it is measured, not modelled)" if name == "host" else ""
            raise UsageError(f"--profile {name}: it has no cost model{why}; there are {', '.join(CONSTANTS)}")
    if as_json:
        found = {
            profile: {
                "kind": CONSTANTS[profile].kind,
                "constants": {
                    name: {"value": figure.value, "estimated": figure.estimated, "is": meaning, "source": SOURCES[figure.source]}
                    for name, figure, meaning in rows_of(profile)
                },
            }
            for profile in profiles
        }
        print(json.dumps(found, indent=1))
    else:
        print("\n\n".join(map(constants_text, profiles)))
    return EXIT_OK


def run(options: argparse.Namespace) -> int:
    """Prints the report."""
    if options.profile:
        return run_constants(list(dict.fromkeys(options.profile)), options.json)
    lines = report()
    if options.json:
        print(json.dumps(lines, indent=1))
    else:
        for name, value in lines.items():
            print(f"{name + ':':12} {value}")
    return EXIT_OK
