"""Scenes by name: the samples, from the repository or from ``tilegpu/_samples`` in a wheel, and model files."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path
from types import CodeType, ModuleType

from tilegpu.errors import Error, ValidationError
from tilegpu.files import input_problem, place
from tilegpu.scene.description import Scene
from tilegpu.scene.programs import folder_of, program, shader_path, shader_text
from tilegpu.scene.user_file import SceneFileError, error_in, scene_of

__all__ = ["MODEL_SUFFIXES", "UnknownSceneError", "find_scene", "program", "scene_file", "scenes", "shader_path", "shader_text"]

#: Suffixes of model files that :func:`find_scene` takes.
MODEL_SUFFIXES = (".gltf", ".glb", ".obj", ".ply", ".stl")


class UnknownSceneError(Error, KeyError):
    """There is neither a scene nor a file of this name; the message has near ones."""

    __str__ = Exception.__str__  # KeyError's is in quotes


class _Anew(importlib.machinery.SourceFileLoader):
    """Compiles the file each time and leaves nothing beside it: Python knows bytecode by the file's size and the second in which it was
    written, so that of two edits in one second the first would be run."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _load_module(path: Path, name: str, loader: _Anew | None = None) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
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
def _sample_folder() -> Path:
    """The folder of the samples, as the package ``tilegpu._samples``: what they share is a module of it (``_everyday``)."""
    folder = folder_of("samples")
    package = ModuleType("tilegpu._samples")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    return folder


@functools.cache
def _scenes() -> dict[str, Scene]:
    table: dict[str, Scene] = {}
    for path in sorted(_sample_folder().glob("[!_]*.py")):
        for scene in _load_module(path, f"tilegpu._samples.{path.stem}").SCENES:
            if scene.name in table:
                raise ValidationError(f"sample {path}: scene '{scene.name}' exists already; names must be unique")
            table[scene.name] = scene
    return table


def scenes() -> dict[str, Scene]:
    """All scenes of ``samples/`` by name. A sample is a module with a list ``SCENES``; geometry is made when a frame is asked for."""
    return dict(_scenes())


def split_name(text: str) -> tuple[Path, str] | None:
    """(path, name or "") of ``FILE.py`` or ``FILE.py:NAME``; ``None`` for anything else."""
    found = re.fullmatch(r"(.*\.py)(?::([^:/\\]*))?", text, re.IGNORECASE | re.DOTALL)
    return None if found is None else (Path(found[1]), found[2] or "")


def load_file(path: Path, name: str = "") -> Scene:
    """A user's own Python file (:mod:`tilegpu.scene.user_file`): it is run anew each time, with its folder first in ``sys.path``, as
    Python runs a script, but ``__name__`` is not ``"__main__"``. Raises :class:`SceneFileError`."""
    if problem := input_problem(path):
        raise SceneFileError(f"there is no file {path.resolve()}" if problem == "is not there" else f"{path} {problem}")
    path = path.resolve()
    key = f"tilegpu_user_file_{path.stem}"
    sys.modules.pop(key, None)
    if path.parent.name in ("samples", "_samples") and path.parent == folder_of("samples").resolve():
        _sample_folder()
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        module = _load_module(path, key, _Anew(key, str(path)))
    except (Exception, SystemExit) as error:
        raise error_in(path, error, "running the file") from error
    return scene_of(module, name, path)


def scene_file(name_or_path: str | Path) -> Path | None:
    """The file that :func:`find_scene` reads for a name; ``None`` of a sample's, and where there is no such file. What comes from a file
    may be a stranger's: its shaders may crash compilers, its content is compared."""
    text = place(str(name_or_path))
    own = split_name(text)
    path = Path(text) if own is None else own[0]
    if not path.is_file() or (not path.suffix and text in _scenes()):  # samples have no suffix
        return None
    return path


def find_scene(name_or_path: str | Path) -> Scene:
    """A sample by its name, or a file as a scene: a model, or Python of the user's own (``FILE.py`` or ``FILE.py:NAME``).

    Raises :class:`tilegpu.scene.UnknownSceneError` with near names if there is neither, what
    :func:`tilegpu.scene.model.load_model` raises for a bad model, and :class:`SceneFileError` for what is wrong in Python.
    """
    text = place(str(name_or_path))
    table = _scenes()
    if text in table:
        return table[text]
    if (own := split_name(text)) is not None:
        return load_file(*own)
    path = Path(text)
    if path.suffix.lower() in MODEL_SUFFIXES or path.is_file():
        from tilegpu.scene.model import load_model

        return load_model(path)
    import difflib

    near = difflib.get_close_matches(text, table, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise UnknownSceneError(
        f"no scene and no model file '{text}'{hint} ('tilegpu scenes' lists all; models are {', '.join(MODEL_SUFFIXES)}; "
        "your own: FILE.py or FILE.py:NAME)"
    )
