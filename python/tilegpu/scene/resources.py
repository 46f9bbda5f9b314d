"""Scenes by name: the samples, from the repository or from ``tilegpu/_samples`` in a wheel, and model files."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tilegpu.scene.description import Scene
from tilegpu.scene.programs import folder_of, program, shader_path, shader_text

__all__ = ["MODEL_SUFFIXES", "find_scene", "program", "scenes", "shader_path", "shader_text"]

#: Suffixes of model files that :func:`find_scene` takes.
MODEL_SUFFIXES = (".gltf", ".glb", ".obj", ".ply", ".stl")


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
    for path in sorted(folder_of("samples").glob("[!_]*.py")):
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
