"""What is to be drawn, as plain data that goes to any machine. In: a scene's name or file, and choices. Out: the scene, its frames.

The numbers of frames are those of the whole: frame 500 of 1000 is the same picture, whoever draws it with which others.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

from tilegpu import Error, profile_names
from tilegpu.errors import candidates
from tilegpu.farm.hashes import hash_of_file
from tilegpu.files import place
from tilegpu.scene import DrawnFrame, Frame, FunctionScene, Scene, find_scene, scene_file, scenes
from tilegpu.scene.fields import tell_frozen

#: Of one job, nine hours of a film: a manifest comes from anybody, and lists of its frames are made.
MOST_FRAMES = 1_000_000
#: Sides of images end here; larger pictures are drawn in tiles.
MOST_PX = 16384
#: Sides of pictures end here, in however many tiles.
MOST_TILED_PX = 65534
#: Side of tiles where nothing else is said.
TILE_PX = 4096
_TILE_STEP_PX = 64
#: Fields of a job that say how it is drawn, not what: they are in no manifest, and none can set them.
_HOW = {"isolate_compiler"}


class FarmError(Error):
    """A job that can't be drawn, or was not: the message names the frame, the worker, and what to do."""


@dataclasses.dataclass(frozen=True)
class Job:
    """Frames of a scene. ``scene``: a sample's name, or a model's or Python file's path (``FILE.py:NAME``), which every worker reads: its
    content is compared. ``size``, ``samples``: the scene's own, where ``None``. ``of``: frames of one turn of the camera, or of the
    scene's animation. ``fps``: frames a second of the scene's time (30; those of an animation are spread over it). ``time``: of frame 0, in
    seconds. ``animation``, ``camera``, ``lights``, ``exposure``, ``environment``: choices of models, as of ``tilegpu render``. ``profile``:
    the GPU to model. ``tile``: side in pixels of the tiles that each frame is drawn in, a multiple of 64; ``None``: whole, or 4,096 where
    a side of the picture is above 16,384. ``isolate_compiler``: as of :class:`tilegpu.Device`; ``None``: where the scene is a file. It is
    the workers' affair: no manifest has it, as it changes no picture.
    """

    scene: str
    size: tuple[int, int] | None = None
    samples: int | None = None
    of: int = 1
    fps: float | None = None
    time: float = 0.0
    animation: str | None = None
    camera: str | None = None
    lights: str | None = None
    exposure: float | None = None
    environment: str | None = None
    profile: str = "host"
    tile: int | None = None
    isolate_compiler: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scene, (str, Path)) or not str(self.scene):
            raise FarmError(f"Job: scene is {self.scene!r}; it must be a scene's name or a path")
        object.__setattr__(self, "scene", str(self.scene))
        if self.scene.isidentifier() and self.scene not in (names := scenes()) and not Path(place(self.scene)).is_file():
            raise FarmError(f"Job: there is no scene '{self.scene}'{candidates(self.scene, names)}; or give a file (.glb, FILE.py:NAME)")
        profiles = profile_names()
        if not isinstance(self.profile, str) or self.profile not in profiles:
            raise FarmError(f"Job: profile is {self.profile!r:.80}, which is none{candidates(self.profile, profiles)}")
        if self.size is not None:
            two = isinstance(self.size, (tuple, list)) and len(self.size) == 2
            ok = two and all(isinstance(n, int) and 1 <= n <= MOST_TILED_PX for n in self.size)
            if not ok:
                raise FarmError(f"Job: size is {self.size!r}; it must be (width, height), each 1 to {MOST_TILED_PX} px")
            object.__setattr__(self, "size", tuple(self.size))
        if isinstance(self.of, bool) or not isinstance(self.of, int) or not 1 <= self.of <= MOST_FRAMES:
            raise FarmError(f"Job: of is {self.of!r:.80}; it must be the number of frames of the whole, from 1 to {MOST_FRAMES:,}")
        if self.fps is not None and not (isinstance(self.fps, (int, float)) and 0 < self.fps < 1e9):
            raise FarmError(f"Job: fps is {self.fps!r}; it must be a number of frames a second above 0")
        if not isinstance(self.time, (int, float)) or not 0 <= self.time <= 1e9:
            raise FarmError(f"Job: time is {self.time!r}; it must be a number of seconds from 0 to 1e9")
        if self.samples is not None and not (isinstance(self.samples, int) and self.samples in (1, 2, 4, 8, 16)):
            raise FarmError(f"Job: samples is {self.samples!r:.80}; it must be 1, 2, 4, 8 or 16")
        # Not math.isfinite, which raises for whole numbers that no float holds.
        if self.exposure is not None and not (isinstance(self.exposure, (int, float)) and abs(self.exposure) <= sys.float_info.max):
            raise FarmError(f"Job: exposure is {self.exposure!r:.80}; it must be a finite number")
        ok = isinstance(self.tile, int) and _TILE_STEP_PX <= self.tile <= MOST_PX and not self.tile % _TILE_STEP_PX
        if self.tile is not None and not ok:
            raise FarmError(f"Job: tile is {self.tile!r}; it must be a multiple of {_TILE_STEP_PX} px, at most {MOST_PX}")
        if self.isolate_compiler is not None and not isinstance(self.isolate_compiler, bool):
            raise FarmError(f"Job: isolate_compiler is {self.isolate_compiler!r:.80}; it must be True, False or None (for files)")

    def as_dict(self) -> dict[str, Any]:
        """What pictures depend on, as JSON can hold it."""
        return {name: value for name, value in dataclasses.asdict(self).items() if name not in _HOW}

    @property
    def isolates(self) -> bool:
        """Whether its devices compile in processes of their own."""
        return file_of(self) is not None if self.isolate_compiler is None else self.isolate_compiler


tell_frozen(Job)


def require_job(job: Any) -> None:
    """Raises for anything else, such as the name of its scene."""
    if not isinstance(job, Job):
        raise FarmError(f"job is {job!r}; it must be a tilegpu.farm.Job, such as Job('triangle')")


def job_of(values: dict[str, Any]) -> Job:
    """The other way round. Raises :class:`FarmError` for what is no job."""
    known = {field.name for field in dataclasses.fields(Job)} - _HOW
    if strange := set(values) - known:
        raise FarmError(f"a job has no {', '.join(sorted(strange))}; it has {', '.join(sorted(known))}")
    for name in ("animation", "camera", "lights", "environment", "scene", "profile"):
        value = values.get(name)
        if value is not None and not (isinstance(value, str) and value.isprintable()):
            raise FarmError(f"a job's {name} is {value!r:.80}; it must be text of one line")
    if isinstance(values.get("size"), list):
        values = {**values, "size": tuple(values["size"])}
    try:
        return Job(**values)
    except TypeError as error:
        raise FarmError(f"this is no job: {error}") from None


def scene_of(job: Job) -> Scene:
    """The scene with the job's choices. Raises :class:`FarmError` for what there is not, and what :func:`find_scene` raises of files."""
    try:
        found = find_scene(job.scene)
    except KeyError as error:
        raise FarmError(str(error.args[0])) from None
    try:
        scene = found.configured(
            animation=job.animation, camera=job.camera, lights=job.lights, exposure=job.exposure, environment=job.environment
        )
    except ValueError as error:
        raise FarmError(str(error)) from None
    if isinstance(scene, FunctionScene):
        for name in ("size", "samples"):
            if getattr(job, name) is not None and not {name, "view"} & set(scene.parameters):
                raise FarmError(f"{name}: the function {scene.name}() asks for none; give it a parameter {name} (or view), and draw so")
    return scene


def file_of(job: Job) -> Path | None:
    """The scene's file, if it is one."""
    return scene_file(job.scene)


def file_hash(job: Job) -> str | None:
    """Of the scene's own file; what that refers to (buffers, textures) is in the hash of its frame."""
    path = file_of(job)
    return None if path is None else hash_of_file(path)


def with_whole_paths(job: Job) -> Job:
    """The same for workers whose folder is another one."""
    path, environment = file_of(job), job.environment
    if path is not None:
        which = "" if Path(place(job.scene)) == path else f":{job.scene.rpartition(':')[2]}"
        job = dataclasses.replace(job, scene=f"{path.resolve()}{which}")
    if environment is not None and (picture := Path(place(environment))).is_file():
        job = dataclasses.replace(job, environment=str(picture.resolve()))
    return job


def why_alike(scene: Scene, of: int) -> str:
    """Why several frames of a scene are one picture; "" where they are not."""
    if of == 1 or scene.moves or scene.camera() is not None:
        return ""
    if isinstance(scene, FunctionScene):
        asks = f"the function {scene.name}() asks for neither time nor camera (nor view)"
        return f"{asks}, so nothing tells its pictures apart but what it does by itself; give it a parameter time"
    return f"{scene.name} has no camera to turn and looks the same at any time; all are one picture"


def pictures_per_second(scene: Scene, of: int, fps: float | None) -> float:
    """``fps``, or 30; the pictures of a scene with an animation are spread over it once."""
    if fps is None and scene.duration_s and of > 1:
        return float(of / scene.duration_s)
    return float(fps or 30.0)


def frame_of(scene: Scene, job: Job, index: int) -> Frame:
    """Frame ``index``. Of several, the camera turns once about the scene, from a distance at which all of a model is seen from everywhere;
    a scene with an animation keeps its camera."""
    camera = None
    if job.of > 1 and not scene.duration_s:
        width, height = job.size or scene.default_size
        camera = copy.copy(scene.turn_camera(width / height))
    if camera is not None:
        camera.rotate(2 * math.pi * index / job.of, 0.0)
    time = job.time + index / pictures_per_second(scene, job.of, job.fps) if scene.moves else 0.0  # Prepared says so
    return scene.frame(job.size, job.samples, camera=camera, time=time)


def windows_of(job: Job, frame: Frame) -> list[tuple[int, int, int, int]] | None:
    """(x, y, width, height) of each tile of a frame, row by row; ``None``: it is drawn whole. Raises :class:`FarmError` for frames that
    can't be drawn in tiles."""
    width, height = frame.size
    if job.tile is None and max(width, height) <= MOST_PX:
        return None
    what = f"{job.scene}: {width}x{height} px"
    if isinstance(frame, DrawnFrame):
        raise FarmError(f"{what} in tiles: its function draws by itself; let it return a tilegpu.scene.Frame, or draw it whole")
    for one in frame.passes:
        for output in one.outputs:
            if max(frame.size_of(output.target)) > MOST_PX:
                raise FarmError(
                    f"{what} in tiles: target '{output.target.label}' of pass '{one.label}' is as large as the picture, and images end at "
                    f"{MOST_PX} px; give the target a size of its own, or ask for a smaller picture"
                )
    side = job.tile or TILE_PX
    return [(x, y, min(side, width - x), min(side, height - y)) for y in range(0, height, side) for x in range(0, width, side)]
