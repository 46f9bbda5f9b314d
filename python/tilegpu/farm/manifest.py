"""What a run drew, as a file that anybody can check. In: a job, hashes of each frame. Out: JSON, one frame a line; and back.

While frames are drawn a journal (``NAME.part``) grows beside it, a line for each; the manifest takes its place when all are there. Both
have the same bytes whoever drew what and in which order, so two manifests of one job can be compared as files. They may come from
anywhere: sizes, types and names are checked, and a name that leads out of the folder is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tilegpu import arguments
from tilegpu.farm.encoding import color_path, output_path
from tilegpu.farm.job import FarmError, Job, job_of
from tilegpu.files import place, read_regular
from tilegpu.whole_file import told, write_whole

FORMAT = 1
#: A million frames of 250 bytes.
_MOST_B = 256 << 20
_HASH = re.compile(r"[0-9a-f]{64}")
Window = tuple[int, int, int, int]


@dataclass(frozen=True)
class Written:
    """A file: its name in the manifest's folder, SHA-256 and size of its bytes."""

    name: str
    sha256: str
    size_B: int


@dataclass(frozen=True)
class FrameRecord:
    """A frame that was drawn. ``pixels``: :func:`tilegpu.farm.pixel_hash` of its images, whatever the files' format. ``tiles``: the same of
    each window (x, y, width, height) that it was drawn in."""

    index: int
    pixels: str
    files: tuple[Written, ...] = ()
    tiles: tuple[tuple[Window, str], ...] = ()


@dataclass
class Manifest:
    """``version``: tilegpu's. ``content``, ``shaders``: hashes of what frame 0 is made of, and of its shaders; ``file``: of the scene's
    file. ``output``: the name that frames' names are made from. ``frames``: by number."""

    job: Job
    version: str
    content: str
    shaders: str
    output: str
    file: str | None = None
    frames: dict[int, FrameRecord] = field(default_factory=dict)

    def head(self) -> dict[str, Any]:
        """All but the frames."""
        return {
            "format": FORMAT,
            "tilegpu": self.version,
            "job": self.job.as_dict(),
            "scene": {"content": self.content, "shaders": self.shaders, "file": self.file},
            "output": self.output,
        }

    def differences(self, other: Manifest) -> list[str]:
        """What of two runs' heads differs: ``"size: 64x64, 128x128"``."""
        found = []
        for name, (mine, theirs) in _pairs(self.head(), other.head()).items():
            if mine != theirs:
                found.append(f"{name} {_shown(mine)} there, {_shown(theirs)} asked for")
        return found

    def write(self, path: Path) -> None:
        """Writes it whole, under its name in one step."""
        lines = ",\n  ".join(json.dumps(_frame_values(self.frames[k])) for k in sorted(self.frames))
        text = json.dumps(self.head(), indent=1)
        assert text.endswith("\n}")
        write_whole(path, f'{text[:-2]},\n "frames": [\n  {lines}\n ]\n}}\n', "the manifest")


def _pairs(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    out: dict[str, tuple[Any, Any]] = {}
    for name in mine:
        a, b = mine[name], theirs.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            out |= {key if name == "job" else f"{name}.{key}": pair for key, pair in _pairs(a, b).items()}
        else:
            out[name] = (a, b)
    return out


def _shown(value: Any) -> str:
    return f"{str(value)[:12]}..." if isinstance(value, str) and _HASH.fullmatch(value) else json.dumps(value)


def _frame_values(frame: FrameRecord) -> dict[str, Any]:
    values: dict[str, Any] = {"frame": frame.index, "pixels": frame.pixels}
    if frame.tiles:
        values["tiles"] = [{"window": list(window), "pixels": pixels} for window, pixels in frame.tiles]
    values["files"] = [{"name": f.name, "sha256": f.sha256, "bytes": f.size_B} for f in frame.files]
    return values


class Journal:
    """Lines of frames as they come. ``take_up``: goes on behind those of an earlier run."""

    def __init__(self, manifest: Manifest, path: Path) -> None:
        self._path, self._manifest = path, manifest
        self.part = journal_of(path)
        lines = [json.dumps(manifest.head()), *(json.dumps(_frame_values(f)) for f in manifest.frames.values())]
        write_whole(self.part, "\n".join(lines) + "\n", "the manifest's journal")
        self._file = self.part.open("a", encoding="utf-8")

    def add(self, frame: FrameRecord) -> None:
        """One more; on disk when this returns, but for what the system holds back."""
        self._manifest.frames[frame.index] = frame
        with told(self.part, f"the manifest's journal, frame {frame.index}"):
            self._file.write(json.dumps(_frame_values(frame)) + "\n")
            self._file.flush()

    def close(self, whole: bool) -> None:
        """``whole``: the manifest takes its place. A journal of no frames says nothing to the next run, and goes."""
        self._file.close()
        if not whole and not self._manifest.frames:
            self.part.unlink(missing_ok=True)
        if whole:
            self._manifest.write(self._path)
            self.part.unlink(missing_ok=True)


def journal_of(path: Path) -> Path:
    """Where a run's journal is."""
    return path.with_name(path.name + ".part")


def manifest_of(output: Path) -> Path:
    """The manifest's path where nobody gives one: ``turn.manifest.json`` of ``turn.png``."""
    return output.with_name(f"{output.stem}.manifest.json")


def manifest_path(path: Any) -> Path:
    """Of what a user gave. Raises :class:`FarmError` for what is no path, such as what a run returned, which has one."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        found = getattr(path, "manifest", None)
        fix = f"it must be a path, such as run.manifest, {found}" if isinstance(found, Path) else "it must be a path"
        raise FarmError(f"manifest is {arguments.shown(path)}; {fix}")
    if not os.fspath(path):
        raise FarmError("manifest is ''; it must be a path")
    return Path(place(os.fsdecode(path)))


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """A manifest or a journal. Raises :class:`FarmError` that says what is wrong in it."""
    path = manifest_path(path)
    try:
        text = read_regular(path, _MOST_B).decode("utf-8")
    except FileNotFoundError:
        raise FarmError(f"there is no manifest {path}") from None
    except OSError as error:
        raise FarmError(f"{path} {error.strerror}") from None
    except UnicodeDecodeError:
        raise FarmError(f"{path} is no manifest: it is no UTF-8") from None
    try:
        if path.suffix == ".part":
            return _journal(text, path)
        values = _json(text)
        return _manifest(values, _list(values.get("frames"), "frames") if isinstance(values, dict) else [], path)
    except RecursionError:
        raise FarmError(f"{path} is no manifest: it is nested too deeply") from None
    except (ValueError, FarmError) as error:  # of JSON, and of what is checked below; of a job
        raise FarmError(f"{path} is no manifest: {error}") from None


def _journal(text: str, path: Path) -> Manifest:
    lines = text.splitlines(keepends=True)
    frames = []
    for number, line in enumerate(lines[1:], 2):
        if not line.endswith("\n"):
            break  # the run ended in the middle of it
        try:
            frames.append(_json(line))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return _manifest(_json(lines[0] if lines else ""), frames, path)


def _json(text: str) -> Any:
    """Raises ``ValueError`` where it is none, and where an object says one thing twice, of which Python would take the last."""
    if not text.strip():
        raise ValueError("it is empty")
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has {twice!r:.80} twice")
    return values


def _require_names(values: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    """Raises for what nobody would read."""
    if strange := [name for name in values if name not in names]:
        raise ValueError(f"{what} has {strange[0]!r:.80}; it has {', '.join(names)}")


def _manifest(head: Any, frames: list[Any], path: Path) -> Manifest:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        found = head.get("format") if isinstance(head, dict) else type(head).__name__
        raise ValueError(f"its format is {found!r}, which tilegpu reads is {FORMAT}")
    scene, job = head.get("scene"), head.get("job")
    if not isinstance(scene, dict) or not isinstance(job, dict):
        raise ValueError("scene and job must be objects")
    _require_names(head, ("format", "tilegpu", "job", "scene", "output", "frames"), "it")
    _require_names(scene, ("content", "shaders", "file"), "scene")
    file = scene.get("file")
    manifest = Manifest(
        job_of(job),
        _text(head.get("tilegpu"), "tilegpu"),
        _hash(scene.get("content"), "scene.content"),
        _hash(scene.get("shaders"), "scene.shaders"),
        _name(head.get("output"), "output"),
        None if file is None else _hash(file, "scene.file"),
    )
    for values in frames:
        frame = _frame(values, manifest.job)
        if frame.index in manifest.frames:
            raise ValueError(f"it has frame {frame.index} twice")
        _require_own_files(frame, manifest)
        manifest.frames[frame.index] = frame
    return manifest


def _require_own_files(frame: FrameRecord, manifest: Manifest) -> None:
    """Raises where a frame's files are not called as a run calls them: a file of another frame, or of somebody's."""
    path = output_path(manifest.output, frame.index, manifest.job.of)
    for color, file in enumerate(frame.files):
        if file.name != (own := color_path(path, color).name):
            raise ValueError(f"frame {frame.index}: file {color} is {file.name!r}; that of this frame is called {own!r}")


def _frame(values: Any, job: Job) -> FrameRecord:
    if not isinstance(values, dict):
        raise ValueError("a frame must be an object")
    index = _whole(values.get("frame"), "frame", job.of - 1)
    what = f"frame {index}"
    _require_names(values, ("frame", "pixels", "tiles", "files"), what)
    for one in _objects(values.get("files", []), f"{what}: files"):
        _require_names(one, ("name", "sha256", "bytes"), f"{what}: a file")
    files = tuple(
        Written(
            _name(one.get("name"), f"{what}: name"),
            _hash(one.get("sha256"), f"{what}: sha256"),
            _whole(one.get("bytes"), f"{what}: bytes", 1 << 50),
        )
        for one in _objects(values.get("files", []), f"{what}: files")
    )
    tiles: list[tuple[Window, str]] = []
    for one in _objects(values.get("tiles", []), f"{what}: tiles"):
        _require_names(one, ("window", "pixels"), f"{what}: a tile")
        window = [_whole(n, f"{what}: window", 65534) for n in _list(one.get("window"), f"{what}: window")]
        if len(window) != 4:
            raise ValueError(f"{what}: a window must be [x, y, width, height]")
        tiles.append(((window[0], window[1], window[2], window[3]), _hash(one.get("pixels"), f"{what}: pixels")))
    return FrameRecord(index, _hash(values.get("pixels"), f"{what}: pixels"), files, tuple(tiles))


def is_hash(value: Any) -> bool:
    """Whether it is a SHA-256 in hexadecimal."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list")
    return value


def _objects(value: Any, what: str) -> list[dict[str, Any]]:
    if not all(isinstance(one, dict) for one in _list(value, what)):
        raise ValueError(f"{what} must be objects")
    return value  # type: ignore[no-any-return]


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > 4096 or not value.isprintable():  # it is shown in a terminal
        raise ValueError(f"{what} must be text of one line, at most 4096 characters")
    return value


def _hash(value: Any, what: str) -> str:
    if not is_hash(value):
        raise ValueError(f"{what} must be a SHA-256 in hexadecimal")
    return str(value)


def _name(value: Any, what: str) -> str:
    name = _text(value, what)
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise ValueError(f"{what} is {name!r}; it must be a file's name without a folder")
    return name


def _whole(value: Any, what: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{what} is {value!r:.80}; it must be a whole number from 0 to {most}")
    return value
