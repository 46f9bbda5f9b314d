"""SPIR-V for tests: text to words, and words through spirv-opt's passes, by the programs of the package spirv-tools."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

VULKAN = "vulkan1.0"


def assemble(text: str, *, validate: bool = True) -> bytes:
    """The module of an assembly text (SPIR-V 1.0); the validator must take it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.spv"
        subprocess.run(
            ["spirv-as", "--target-env", "spv1.0", "-o", path, "-"], input=text, text=True, check=True, timeout=60
        )
        if validate:
            subprocess.run(["spirv-val", "--target-env", VULKAN, path], check=True, timeout=60)
        return path.read_bytes()


def optimise(module: bytes, *passes: str) -> bytes:
    """What spirv-opt makes of it; the module itself where the validator does not take that."""
    with tempfile.TemporaryDirectory() as directory:
        before, after = Path(directory) / "a.spv", Path(directory) / "b.spv"
        before.write_bytes(module)
        subprocess.run(["spirv-opt", *passes, before, "-o", after], check=True, timeout=60, capture_output=True)
        valid = (
            subprocess.run(
                ["spirv-val", "--target-env", "vulkan1.3", after], timeout=60, capture_output=True
            ).returncode
            == 0
        )
        return after.read_bytes() if valid else module
