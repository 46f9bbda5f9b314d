"""scripts/install_packages.sh with stand-ins for Debian's programs: what it asks apt for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "install_packages.sh"


def asked(folder: Path, packages: str, *programs: str) -> list[str]:
    """The packages that apt-get is given on a system where only `here` is installed, and `programs` are to be found."""
    bin_ = folder / "bin"
    bin_.mkdir()
    log = folder / "log"
    stand_ins = {
        "dpkg-query": 'case "$*" in *" here") echo "install ok installed";; *) exit 1;; esac',
        "apt-get": f'echo "$@" >> {log}',
        "id": "echo 0",
        **dict.fromkeys(programs, "exit 0"),
    }
    for name, body in stand_ins.items():
        (bin_ / name).write_text(f"#!/bin/sh\n{body}\n")
        (bin_ / name).chmod(0o755)
    for name in ("sed", "grep", "tr"):
        found = next(Path(p) / name for p in os.environ["PATH"].split(":") if (Path(p) / name).exists())
        (bin_ / name).symlink_to(found)
    (folder / "list.txt").write_text(packages)
    subprocess.run(["/bin/sh", SCRIPT, folder / "list.txt"], env={"PATH": str(bin_)}, check=True)
    return log.read_text().split()[4:] if log.exists() else []


@pytest.mark.parametrize(
    "packages, programs, wanted",
    [
        ("here\nthere  # why\n# all comment\n", (), ["there"]),
        ("here\n", (), []),
        ("nodejs:node\nnpm:npm\nthere\n", ("node", "npm"), ["there"]),
        ("nodejs:node\nnpm:npm\n", ("npm",), ["nodejs"]),
    ],
)  # fmt: skip
def test_only_what_is_missing(tmp_path: Path, packages: str, programs: tuple[str, ...], wanted: list[str]) -> None:
    assert asked(tmp_path, packages, *programs) == wanted
