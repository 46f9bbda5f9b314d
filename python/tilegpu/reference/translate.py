"""Vulkan GLSL to OpenGL GLSL by way of SPIR-V, so that both renderers run the same shader.

In: the text that tilegpu compiles. Out: GLSL 450 for OpenGL and the interface, both by SPIRV-Cross (``--version 450 --no-es``;
``--fixup-clipspace`` turns the vertex shader's depth 0..1 into OpenGL's -w..w).
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilegpu import Error


class TranslationError(Error, RuntimeError):
    """A shader that SPIRV-Cross or the reference cannot express; the message names it."""


@dataclass(frozen=True, eq=False)
class Translated:
    """One stage: OpenGL GLSL and SPIRV-Cross's reflection (names, offsets, locations)."""

    glsl: str
    reflection: dict[str, Any]


def spirv_cross() -> str | None:
    """Path of the program ``spirv-cross``, or ``None``."""
    return shutil.which("spirv-cross")


def _run(arguments: list[str], what: str) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TranslationError(f"{what}: {Path(arguments[0]).name} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def compile_spirv(glsl: str, stage: str, file: str = "") -> bytes:
    """SPIR-V of a vertex (``stage="vertex"``) or fragment shader, by tilegpu's own compiler."""
    import tilegpu

    return bytes(tilegpu.compile_glsl(glsl, stage, file=file or f"<{stage} shader>"))


@functools.lru_cache(maxsize=256)
def translate(spirv: bytes, stage: str, label: str = "shader") -> Translated:
    """OpenGL GLSL of a SPIR-V module. Raises :class:`TranslationError`."""
    program = spirv_cross()
    if program is None:
        raise TranslationError("spirv-cross is not installed (apt install spirv-cross)")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shader.spv"
        path.write_bytes(spirv)
        fixup = ["--fixup-clipspace"] if stage == "vertex" else []
        glsl = _run([program, "--version", "450", "--no-es", *fixup, str(path)], label)
        reflection = json.loads(_run([program, str(path), "--reflect"], label))
    if reflection.get("separate_images") or reflection.get("separate_samplers"):
        raise TranslationError(f"{label}: separate images and samplers; OpenGL has combined ones only")
    return Translated(_avoid_keywords(glsl), reflection)


def _avoid_keywords(glsl: str) -> str:
    """SPIRV-Cross 2021 leaves names that are reserved in desktop GLSL; only those met so far are renamed."""
    return re.sub(r"\b(sample|patch)\b(?=\s*[=;,.)\[])", r"\1_", glsl)


def with_constants(stage: Translated, constants: Mapping[str, bool | int | float]) -> str:
    """The GLSL with specialisation constants set by name, through SPIRV-Cross's ``SPIRV_CROSS_CONSTANT_ID_n`` macros."""
    lines = []
    for entry in stage.reflection.get("specialization_constants", []):
        if entry["name"] in constants:
            value = constants[entry["name"]]
            text = ("true" if value else "false") if entry["type"] == "bool" else repr(value)
            lines.append(f"#define SPIRV_CROSS_CONSTANT_ID_{entry['id']} {text}")
    first, rest = stage.glsl.split("\n", 1)
    return "\n".join([first, *lines, rest])
