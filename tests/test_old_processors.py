"""A CPU that is less than x86-64-v3 (emulated by qemu-user): a sentence, where constructors compiled for v3 would end the process."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tilegpu

#: `make test-aarch64` installs it.
EMULATOR = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static") or ""
pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not EMULATOR, reason="x86-64's matter, and qemu-user is needed (packages/cross.txt)"
)
LIBRARY = Path(tilegpu._core.__file__).parent / "libtilegpu.so"


def run(cpu: str, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([EMULATOR, "-cpu", cpu, sys.executable, "-c", code], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("cpu", ["Nehalem", "SandyBridge", "IvyBridge"])
def test_import_says_what_lacks(cpu: str) -> None:
    """x86-64-v2, and AVX without AVX2."""
    done = run(cpu, "import tilegpu")
    assert done.returncode == 1, done.stderr
    assert "ImportError: tilegpu needs an x86-64-v3 CPU (AVX2, FMA, BMI, F16C: Intel since Haswell 2013" in done.stderr
    assert "this one has no AVX2" in done.stderr


def test_the_driver_leaves_programs_to_others() -> None:
    """VK_ERROR_INCOMPATIBLE_DRIVER, by which the Vulkan loader goes on without it."""
    code = f"""import ctypes
library = ctypes.CDLL({str(LIBRARY)!r})
print(library.vk_icdNegotiateLoaderICDInterfaceVersion(ctypes.byref(ctypes.c_uint32(7))))"""
    done = run("Nehalem", code)
    assert (done.returncode, done.stdout) == (0, "-9\n"), done.stderr


def test_the_least_that_will_do_does() -> None:
    done = run("Haswell", "import tilegpu as tg; print(tg.Device(threads=1).info['lanes'])")
    assert done.returncode == 0 and done.stdout.strip().isdigit(), done.stderr
