"""A few of each kind of fault (``make faults`` strikes two hundred): what was disturbed draws the right bits after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.kinds import KINDS

#: What comes of a fault that struck, and not behind what it was meant for.
STRUCK = {
    "interrupts": "within", "signals": "signals", "forks": "children", "deaths": "threads", "memory": "OutOfMemoryError", "kills": "killed",
    "clients": "killed",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_faults(kind: str) -> None:
    words = [sys.executable, "-m", "tests.faults", "--here", "--kind", kind, "--count", "12"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[STRUCK[kind]] >= 1
