"""Shaders of the samples as programs. They live in the repository when running from source, in ``tilegpu/_shaders`` in a wheel."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from tilegpu.errors import Error, ValidationError, candidates
from tilegpu.scene.description import Program

_INCLUDE = re.compile(r'#include "([^"]+)"')
_PACKAGE = Path(__file__).resolve().parent.parent


class NoShaderError(Error, FileNotFoundError):
    """There is no shader, or nothing that it includes, of this name. A ``FileNotFoundError`` too, for code that catches that."""

    __str__ = Exception.__str__  # OSError's looks for errno


def folder_of(name: str) -> Path:
    """Folder of shaders or samples: ``_name`` beside the package (wheel) or ``name`` at the repository's root (source)."""
    candidates = [_PACKAGE / f"_{name}", _PACKAGE.parent.parent / name]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"tilegpu: no folder '{name}'; looked at {', '.join(map(str, candidates))}; reinstall the package"
    )


def shader_path(name: str) -> Path:
    """Path of a shader of the samples, e.g. ``"pbr.frag"``. Raises :class:`NoShaderError`, which lists near ones."""
    folder = folder_of("shaders")
    path = folder / name
    if not path.is_file():
        there = sorted(p.name for p in folder.iterdir() if p.suffix in (".vert", ".frag", ".glsl"))
        own = "; of your own shaders give the text: tilegpu.scene.Program(vertex, fragment)"
        raise NoShaderError(f"program: the samples have no shader '{name}' in {folder}{candidates(str(name), there)}{own}")
    return path


def spliced(path: Path, within: tuple[Path, ...] = ()) -> str:
    """A shader with what it includes, beside itself, in place of the lines that say so: a program is its text, wherever it is drawn, and so
    is its hash. Errors name the file that is included, and the line there. ``within``: the files that include this one."""
    if path in within:
        raise ValidationError(f"shader {path} includes itself, by way of {', '.join(p.name for p in within)}; take an #include out")
    text = path.read_text(encoding="utf-8")
    if "#include" not in text:
        return text
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _INCLUDE.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        beside = path.with_name(found[1])
        if not beside.is_file():
            raise NoShaderError(f"tilegpu: {path}:{number}: there is no file '{found[1]}' beside it to include")
        lines += [f'#line 1 "{found[1]}"', spliced(beside, (*within, path)).rstrip("\n"), f'#line {number + 1} "{path.name}"']
    return "\n".join([*lines, ""])


@functools.cache
def _shader_text(name: str, defines: tuple[tuple[str, str], ...]) -> str:
    text = spliced(shader_path(name))
    if not defines:
        return text
    version, rest = text.split("\n", 1)
    return "\n".join([version, *(f"#define {key} {value}" for key, value in defines), "#line 2", rest])


def shader_text(name: str, defines: Mapping[str, object] | None = None) -> str:
    """GLSL of a shader of the samples, with ``#define`` lines put below ``#version``; line numbers stay those of the file."""
    items = sorted(
        (key, str(int(value)) if isinstance(value, bool) else str(value)) for key, value in (defines or {}).items()
    )
    return _shader_text(name, tuple(items))


@functools.cache
def _program(vertex: str, fragment: str, defines: tuple[tuple[str, object], ...]) -> Program:
    table = dict(defines)
    label = f"{vertex}+{fragment}" if not table else f"{vertex}+{fragment} ({', '.join(table)})"
    return Program(
        shader_text(vertex, table),
        shader_text(fragment, table),
        label,
        str(shader_path(vertex)),
        str(shader_path(fragment)),
    )


def program(vertex: str, fragment: str, **defines: object) -> Program:
    """Program of two shaders of the samples; the same object for the same arguments."""
    return _program(vertex, fragment, tuple(sorted(defines.items())))
