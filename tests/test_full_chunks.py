"""Chunks of the geometry phase that are full: what is left of their draws goes on in others, and nothing shows it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.full_chunk_cases"],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_no_picture_and_no_count_depends_on_where_chunks_end() -> None:
    whole = run(TILEGPU_CHUNK_KB="")
    for size_KB in ("1", "7"):
        cut = run(TILEGPU_CHUNK_KB=size_KB)
        assert [line.split(" | ")[0] for line in cut] == [line.split(" | ")[0] for line in whole]
        others = [a != b for a, b in zip(cut, whole, strict=True)]  # most memory at once: of more chunks, so they were cut
        assert sum(others) > len(others) // 2
