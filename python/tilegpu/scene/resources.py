"""Where shaders and samples live: the repository when running from source, ``tilegpu/_samples`` and ``tilegpu/_shaders`` in a wheel."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from tilegpu.scene.description import Program, Scene

_PACKAGE = Path(__file__).resolve().parent.parent
#: Suffixes of model files that :func:`find_scene` takes.
MODEL_SUFFIXES = (".gltf", ".glb", ".obj", ".ply", ".stl")


def _folder(name: str) -> Path:
    """``_name`` beside the package (wheel) or ``name`` at the repository's root (source)."""
    candidates = [_PACKAGE / f"_{name}", _PACKAGE.parent.parent / name]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"tilegpu: no folder '{name}'; looked at {', '.join(map(str, candidates))}; reinstall the package"
    )


def shader_path(name: str) -> Path:
    """Path of a shader of the samples, e.g. ``"pbr.frag"``. Raises ``FileNotFoundError`` that lists what there is."""
    folder = _folder("shaders")
    path = folder / name
    if not path.is_file():
        there = ", ".join(sorted(p.name for p in folder.iterdir() if p.suffix in (".vert", ".frag")))
        raise FileNotFoundError(f"tilegpu: no shader '{name}' in {folder}; there are {there}")
    return path


@functools.cache
def _shader_text(name: str, defines: tuple[tuple[str, str], ...]) -> str:
    text = shader_path(name).read_text(encoding="utf-8")
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


def _load_module(path: Path) -> ModuleType:
    name = f"tilegpu._samples.{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"tilegpu: cannot import sample {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@functools.cache
def _scenes() -> dict[str, Scene]:
    table: dict[str, Scene] = {}
    for path in sorted(_folder("samples").glob("[!_]*.py")):
        for scene in _load_module(path).SCENES:
            if scene.name in table:
                raise ValueError(f"sample {path}: scene '{scene.name}' exists already; names must be unique")
            table[scene.name] = scene
    return table


def scenes() -> dict[str, Scene]:
    """All scenes of ``samples/`` by name. A sample is a module with a list ``SCENES``; geometry is made when a frame is asked for."""
    return dict(_scenes())


def find_scene(name_or_path: str | Path) -> Scene:
    """A sample by its name, or a model file as a scene.

    Raises ``KeyError`` with near names if there is neither, and what :func:`tilegpu.scene.model.load_model` raises for a bad file.
    """
    text = str(name_or_path)
    table = _scenes()
    if text in table:
        return table[text]
    path = Path(text)
    if path.suffix.lower() in MODEL_SUFFIXES or path.is_file():
        from tilegpu.scene.model import load_model

        return load_model(path)
    import difflib

    near = difflib.get_close_matches(text, table, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise KeyError(
        f"no scene and no model file '{text}'{hint} ('tilegpu scenes' lists all; models are {', '.join(MODEL_SUFFIXES)})"
    )
