"""Fixtures that several test files use (OpenGL, a display), and what makes the suite's processes cheap."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

# Bytecode: where the environment forbids to write it (PYTHONDONTWRITEBYTECODE, as in many containers), each of the suite's processes would
# compile all that it imports, half a second each, and each of pytest's workers all test files. It is kept in the build folder then.
# Before what follows is imported: workers and programs that tests start inherit the environment.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = os.environ.get("PYTHONPYCACHEPREFIX") or str(REPOSITORY / "build" / "pycache")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# How long one example takes is a matter of the machine, and of what else it does: under an emulator 200 ms are none.
settings.register_profile("tilegpu", deadline=None)
settings.load_profile("tilegpu")


def pytest_collection_finish() -> None:
    """What thousands of tests are made of stays to the end: the garbage collector, which would go through it again and again, has not
    to look at it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def gl() -> None:
    """Skips, with the reason, where the OpenGL reference cannot be drawn. In CI (CI=true) it must be there."""
    from tilegpu.reference import unavailable

    missing = unavailable()
    if missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have the OpenGL reference: {missing}")
        pytest.skip(f"no OpenGL reference: {missing}")


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of an X display of 1280x800 with 24 bits: an Xvfb of our own."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(
        command, pass_fds=[write_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        os.close(write_end)
        try:
            with os.fdopen(read_end) as pipe:
                number = pipe.readline().strip()
            if not number:
                pytest.skip("Xvfb does not start here")
            yield f":{number}"
        finally:
            server.terminate()


@pytest.fixture
def run_cli(tmp_path: Path):
    """Calls ``python -m tilegpu`` with arguments in an empty directory; returns the finished process."""

    def run(
        *arguments: str, env: dict[str, str] | None = None, cwd: Path = tmp_path
    ) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ, **(env or {}))
        return subprocess.run(
            [sys.executable, "-m", "tilegpu", *arguments],
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environment,
            timeout=300,
            check=False,
        )

    return run
