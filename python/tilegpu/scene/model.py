"""Model files as scenes: glTF and GLB through ``gltf.py`` and ``gltf_parts.py``; OBJ, PLY and STL through a reader each.

In: a path. Out: a :class:`ModelScene`, whose parts are meshes (structured vertices, lists of triangles, lines or points) with a material
and a matrix, and which moves where the file says so.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tilegpu import arguments
from tilegpu.errors import ValidationError
from tilegpu.scene.camera import FixedCamera, OrbitCamera
from tilegpu.scene.description import Draw, Frame, Scene, Texture
from tilegpu.scene.environment import Environment
from tilegpu.scene.gltf import Document
from tilegpu.scene.gltf_parts import GltfParts
from tilegpu.scene.lighting import EXPOSURE, studio
from tilegpu.scene.model_file import ModelError, ModelFile, say
from tilegpu.scene.obj import read_obj
from tilegpu.scene.part import Array, F, Part, build_part, triangulate
from tilegpu.scene.ply import read_ply
from tilegpu.scene.pose import PartPose, Poser, extremes, posed_positions
from tilegpu.scene.seals import freeze
from tilegpu.scene.stl import read_stl

__all__ = ["ModelError", "ModelScene", "Part", "build_part", "load_model", "triangulate"]

_MAX_PARTS = 100_000
_MAX_PROGRAMS = 256
#: What :meth:`ModelScene.configured` may choose.
CHOICES = ("animation", "camera", "lights", "exposure", "environment")
#: Moments of an animation that the camera frames.
_FRAMED_MOMENTS = 8
#: So many vertices are placed by one matrix in the time of one that a joint moves.
_RIGID = 8
_READERS = {".obj": read_obj, ".ply": read_ply, ".stl": read_stl}


class ModelScene(Scene):
    """A model in the studio light, framed by the camera; blended parts are drawn last, back to front.

    ``poser``: how it moves. Then a frame's ``time`` is that within the chosen animation, at first the file's first one.
    """

    default_samples = 4
    clear_color = (0.055, 0.06, 0.07, 1.0)  # linear

    def __init__(
        self,
        name: str,
        parts: list[Part],
        yaw: float = 0.45,
        pitch: float = 0.22,
        path: str | Path | None = None,
        poser: Poser | None = None,
    ) -> None:
        self._source = name if path is None else path  # for messages
        if not parts:
            raise ModelError(f"model '{self._source}': has no triangles to draw")
        self.name = name
        self.parts = parts
        self._poser = poser
        self._animation = 0 if poser is not None and poser.animations else None
        triangles = sum(part.indices.size // 3 for part in parts if part.topology == "triangle_list")
        materials = {id(part.material) for part in parts}
        counts = ((triangles, "triangle"), (len(parts), "draw"), (len(materials), "material"))
        self.description = ", ".join(f"{n:,} {word}{'s' if n != 1 else ''}" for n, word in counts)
        for what in ("animations", "cameras"):
            if names := getattr(self, what):
                self.description += f", {len(names)} {what if len(names) > 1 else what[:-1]}"
        self._yaw, self._pitch = yaw, pitch
        self._camera: int | None = None
        self._lights: Literal["file", "studio"] = "file" if poser is not None and poser.has_lights else "studio"
        self._exposure = EXPOSURE
        self._environment: Environment | None = None
        self._blocks = {id(part.material): part.material.block() for part in parts}
        # What every frame names: read-only from here on, so that no frame is asked whether it changed.
        freeze([self._blocks, [(part.vertices, part.indices, part.matrix, part.material.maps) for part in parts]])
        self._textures: dict[int, Mapping[str, Texture]] = {}
        self._poses: tuple[float, list[PartPose]] | None = None  # of the time asked for last
        self._measure()

    # ------------------------------------------------------------------------------------------------------- choices

    @property
    def animations(self) -> list[str]:
        """Names of the animations."""
        return [] if self._poser is None else [name for name, _ in self._poser.animations]

    @property
    def moves(self) -> bool:  # type: ignore[override]
        """Whether it has an animation, and shows it."""
        return self.duration_s > 0

    @property
    def duration_s(self) -> float:
        """How long the chosen animation takes, in seconds; 0 without one."""
        return 0.0 if self._poser is None or self._animation is None else self._poser.animations[self._animation][1]

    @property
    def cameras(self) -> list[str]:
        """Names of the file's cameras."""
        return [] if self._poser is None else [name for name, _ in self._poser.cameras]

    def configured(self, **options: Any) -> ModelScene:
        """The same model with other choices; what is ``None`` stays. Parts and textures are shared.

        ``animation``: name or number of one of :attr:`animations`; ``"none"``: the model stands as the file has it.
        ``camera``: name or number of one of :attr:`cameras`; ``"none"``: one that frames the model (at first).
        ``lights``: ``"file"`` (at first, if it has any) or ``"studio"``. ``exposure``: what the light is multiplied by (0.62).
        ``environment``: path of a ``.hdr`` or ``.exr`` picture of the whole sky, an array of its pixels, or an
        :class:`~tilegpu.scene.Environment`; it takes the place of the studio's lights and sky, and is seen behind the model. ``"none"``:
        the studio (at first).
        Raises :class:`tilegpu.ValidationError` with what there is to choose.
        """
        unknown = [name for name in options if name not in CHOICES]
        if unknown:
            raise ValidationError(f"model '{self._source}': there is no choice of {', '.join(unknown)}; there are {', '.join(CHOICES)}")
        out = copy.copy(self)
        if options.get("animation") is not None:
            out._animation = self._chosen("animation", options["animation"], self.animations)
            out._poses = None
            out._measure()
        if options.get("camera") is not None:
            out._camera = self._chosen("camera", options["camera"], self.cameras)
            out.default_size = out._natural_size()
        lights = options.get("lights")
        if lights is not None:
            named = isinstance(lights, str) and lights in ("file", "studio")
            if not named or (lights == "file" and not (self._poser and self._poser.has_lights)):
                there = "there is studio, and file where it has lights of its own"
                raise ValidationError(f"model '{self._source}': lights is {arguments.shown(lights)}; {there}")
            out._lights = lights
        exposure = options.get("exposure")
        if exposure is not None:
            must = "a number above 0 is needed, below 1e6"
            number = arguments.number(exposure, f"model '{self._source}': exposure", must)
            if not 0 < number < 1e6:
                raise ValidationError(f"model '{self._source}': exposure is {exposure}; {must}")
            out._exposure = number
        sky = options.get("environment")
        if sky is not None:
            out._environment = self._sky(sky)
        return out

    def _sky(self, given: Any) -> Environment | None:
        """An environment of whatever one can be made of; ``None`` for "none"."""
        if isinstance(given, Environment):
            return given
        if isinstance(given, np.ndarray):
            return Environment(given)
        if not isinstance(given, (str, os.PathLike)):
            must = "a .hdr or .exr file, an array of shape (H, W, 3), or an Environment is needed"
            raise ValidationError(f"model '{self._source}': environment is {arguments.shown(given)}; {must}")
        return None if str(given).lower() == "none" else Environment.read(os.fspath(given))

    def _chosen(self, what: str, wanted: str | int, names: list[str]) -> int | None:
        """Number of a named thing; ``None`` for "none"."""
        text = str(wanted)
        if text in names:
            return names.index(text)
        if text.lower() == "none":
            return None
        if text.isascii() and text.isdigit() and int(text) < len(names):
            return int(text)
        there = ", ".join(f"{k} '{name}'" for k, name in enumerate(names)) or "none"
        if what == "camera" and self._poser is not None and (unplaced := self._poser.unplaced_cameras):
            some = ", ".join(f"{k} '{name}'" for k, name in unplaced[:4]) + (", ..." if len(unplaced) > 4 else "")
            there += f" that a node of the scene places (the file's cameras {some} stand nowhere: give a node 'camera')"
        raise ValidationError(f"model '{self._source}': {what} is '{text}'; there is {there}")

    # ---------------------------------------------------------------------------------------------------------- space

    @property
    def _moves(self) -> bool:
        return self._poser is not None and self._poser.moves

    def _pose(self, time: float) -> list[PartPose]:
        """Poses of all parts at a time; the same objects for the same time."""
        assert self._poser is not None
        time = 0.0 if self._animation is None else time  # nothing moves then
        if self._poses is None or self._poses[0] != time:
            # What is too large for a 32-bit float is infinite, and refused by name.
            with np.errstate(over="ignore", invalid="ignore"):
                self._poses = time, self._poser.pose(self._animation, time)
        return self._poses[1]

    def _measure(self) -> None:
        """Where the model is: centres of parts, the points that the camera frames, the natural size."""
        corners: dict[int, Array] = {}  # parts at several places share their arrays
        for part in self.parts:
            if id(part.indices) not in corners:
                corners[id(part.indices)] = np.unique(part.indices)
        which = [corners[id(part.indices)] for part in self.parts]
        if not self._moves:
            used = [part.world_positions(w) for part, w in zip(self.parts, which, strict=True)]
        else:
            used = self._posed(0.0, which)
        self._centres = [(p.min(0) + p.max(0)) / 2 for p in used]
        if self.duration_s > 0:  # one camera for the whole animation: a few points of each of several moments
            moments = [self.duration_s * k / _FRAMED_MOMENTS for k in range(1, _FRAMED_MOMENTS + 1)]
            used = [extremes(np.concatenate(used)), *(extremes(np.concatenate(self._posed(m, which))) for m in moments)]
        points = np.concatenate(used)
        self.low, self.high = points.min(0), points.max(0)
        self._points = points
        if not np.abs(points).max() < 1e15:
            largest = float(np.abs(points).max())
            raise ModelError(
                f"model '{self._source}': a position is {largest:.3g} from the origin; at most 1e15 can be projected"
            )
        if np.array_equal(self.low, self.high) and any(part.topology != "point_list" for part in self.parts):
            at = ", ".join(f"{v:g}" for v in self.low)
            say(f"model '{self._source}': all of it lies in one point ({at}), so that nothing is seen; is a node's scale 0?")
        self.default_size = self._natural_size()

    def _posed(self, time: float, which: list[Array]) -> list[Array]:
        poses = self._pose(time)
        return [posed_positions(part, pose, w) for part, pose, w in zip(self.parts, poses, which, strict=True)]

    def _natural_size(self) -> tuple[int, int]:
        """About 0.9 megapixels in the model's proportions, so that it fills the frame; or in those of the chosen camera."""
        if self._poser is not None and self._camera is not None:
            wanted = self._poser.cameras[self._camera][1] or 16 / 9
            width = max(16, round(math.sqrt(1280 * 720 * wanted) / 16) * 16)
            return min(width, 4096), min(max(16, round(width / wanted / 16) * 16), 4096)
        camera = self._framed(1.0)
        clip = np.c_[self._points, np.ones(len(self._points))] @ camera.view_projection(1.0).astype(np.float64).T
        extent = np.ptp(clip[:, :2] / clip[:, 3:], axis=0)
        aspect = float(np.clip(extent[0] / max(extent[1], 1e-6), 0.6, 16 / 9))
        width = round(math.sqrt(1280 * 720 * aspect) / 16) * 16
        return width, round(width / aspect / 16) * 16

    @property
    def _title(self) -> str:
        return f"model '{self._source}'"

    def camera(self, aspect: float | None = None) -> OrbitCamera:
        """A camera that frames the model for ``aspect`` = width / height (default: that of ``default_size``), or one at the place of the
        chosen camera, without its roll."""
        if self._camera is not None:
            fixed = self._fixed_camera(0.0)
            return fixed.orbit((self.low + self.high) / 2, float(np.linalg.norm(self.high - self.low)) / 2)
        return self._framed(aspect)

    def turn_camera(self, aspect: float | None = None) -> OrbitCamera:
        """One that frames the model at every yaw, all from one distance; at the place of the chosen camera where there is one."""
        return self.camera() if self._camera is not None else self._framed(aspect, turn=True)

    def _framed(self, aspect: float | None, turn: bool = False) -> OrbitCamera:
        if aspect is None:
            aspect = self.default_size[0] / self.default_size[1]
        return OrbitCamera.framing(
            self.low, self.high, self._yaw, self._pitch, points=self._points, aspect=aspect, fill=0.94, turn=turn
        )

    def _fixed_camera(self, time: float) -> FixedCamera:
        """The chosen camera."""
        assert self._poser is not None and self._camera is not None
        fixed = self._poser.camera(self._camera, self._animation, time)
        if not np.abs(fixed.to_world).max() < 1e15:
            raise ModelError(f"model '{self._source}': camera '{self.cameras[self._camera]}' is more than 1e15 from the origin")
        return fixed

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """See :meth:`Scene.frame`."""
        size, samples = self._resolve_request(size, samples, camera, time)
        aspect = size[0] / size[1]
        seen: OrbitCamera | FixedCamera = camera if camera is not None else self.camera(aspect)
        if camera is None and self._camera is not None:
            seen = self._fixed_camera(time)
        light: dict[str, Any] = {"view": studio(seen, aspect, math.degrees(self._yaw), self._exposure)}
        if self._lights == "file":
            assert self._poser is not None
            light["Lights"] = self._poser.lights(self._animation, time)
        if self._environment is not None:
            light.update(self._environment.bind())
        poses = self._pose(time) if self._moves else None
        order = [k for k, part in enumerate(self.parts) if part.material.alpha_mode != "BLEND"]
        blended = [k for k, part in enumerate(self.parts) if part.material.alpha_mode == "BLEND"]
        eye = seen.eye.astype(np.float64)
        blended.sort(key=lambda k: -float(np.linalg.norm(self._centres[k] - eye)))

        def drawn(numbers: list[int]) -> list[Draw]:
            return [draw for k in numbers for draw in self._draws(self.parts[k], None if poses is None else poses[k], light)]

        draws = drawn(order)
        if self._environment is not None:  # where nothing opaque is, and behind what is not
            draws.append(self._environment.background(seen.corner_directions(aspect), self._exposure))
        draws += drawn(blended)
        return Frame(
            size,
            samples,
            ("r8g8b8a8_srgb",),
            (self.clear_color,),
            resolve="pass" if samples > 1 else "none",
            draws=tuple(draws),
            label=self.name,
        )

    def _draws(self, part: Part, pose: PartPose | None, light: dict[str, Any]) -> Iterator[Draw]:
        names = part.attributes
        uv_count = sum(name.startswith("uv") for name in names)
        variant, bind = dict(part.variant), {"view": light["view"], "material": self._blocks[id(part.material)]}
        if not part.material.unlit and "LIGHTLESS" not in variant:
            variant.update({name: 1 for name, key in (("LIGHTS", "Lights"), ("ENVIRONMENT", "Environment")) if key in light})
            bind.update({name: value for name, value in light.items() if name != "view"})
        shader = part.material.program(uv_count, "color" in names, "tangent" in names, variant)
        bind.update(part.material.textures(shader))
        matrix, mirrored = part.matrix, part.mirrored
        if pose is not None:
            bind.update(pose.bind(part))
            matrix, mirrored = pose.matrix.astype(F), pose.mirrored
        states = part.material.states(mirrored)
        if part.topology != "triangle_list":  # no inside and no outside
            states = (dataclasses.replace(states[-1], topology=part.topology, cull="none"),)
        for state in states:
            yield Draw(
                shader,
                part.vertices,
                part.indices,
                push={"model": matrix},
                bind=bind,
                state=state,
                label=f"{part.label} ({part.material.name})",
            )


def _count_programs(file: ModelFile, parts: list[Part]) -> None:
    """Each variant of the shader is compiled when it is drawn first, for a tenth of a second and more."""
    seen: set[Any] = set()
    for part in parts:
        material = part.material
        sets = tuple(sorted(material.uv_sets.items()))
        seen.add((part.attributes, tuple(part.variant.items()), part.topology, sets, material.unlit, material.alpha_mode))
    if len(seen) > _MAX_PROGRAMS:
        what = f"its materials and meshes differ in {len(seen):,} ways that a shader has to know"
        most = f"at most {_MAX_PROGRAMS} variants are compiled"
        raise file.error("the scene", f"{what}; {most}; give materials the same maps and texture coordinates")


def _count_posing(file: ModelFile, parts: list[Part], poser: Poser) -> None:
    """Count the moves of vertices by which a scene that bends or moves is framed (:meth:`ModelScene._measure`), before they are done."""
    if not poser.moves:
        return
    moments = 1 + _FRAMED_MOMENTS if any(duration_s > 0 for _, duration_s in poser.animations) else 1
    for k, part in enumerate(parts):
        targets = 0 if part.morphs is None else len(part.morphs.deltas)
        where = f"draw {k} ({part.label})"
        file.budget.keep(32 * targets, where, f"{targets:,} weights")  # of the file and of a pose
        bends = 4 * part.skin_sets + targets
        vertices = min(len(part.vertices), part.indices.size)
        file.budget.pose(moments * (vertices * bends + (vertices + _RIGID - 1) // _RIGID), where)


def load_model(path: str | Path) -> ModelScene:
    """A model file (glTF, GLB, OBJ, PLY, STL) as a scene.

    Raises :class:`ModelError` (a ``ValueError``) that names the file, the object and the field for whatever is wrong with it. Reads
    regular files only. A model whose files have N bytes takes at most 512 MB and 1,000 N bytes of memory, and never more than 4096 MB;
    ``TILEGPU_MODEL_MEMORY_MB`` says another number.
    """
    path = Path(path)
    file = ModelFile(path)
    try:
        # Transforms that overflow give infinite positions, which ModelScene refuses by name; NumPy's warning would only come before.
        with np.errstate(over="ignore", invalid="ignore"):
            read = _READERS.get(path.suffix.lower())
            if read is not None:
                return ModelScene(path.stem, read(file), path=path)
            document = Document.load(file)
            reader = GltfParts(document, _MAX_PARTS)
            try:
                parts, poser = reader.parts()
            finally:
                reader.close()
            _count_posing(file, parts, poser)
            _count_programs(file, parts)
            document.release()  # the poser keeps it, for its nodes
            return ModelScene(path.stem, parts, path=path, poser=poser)
    except MemoryError as error:
        used_MB = file.budget.used_B >> 20
        raise ModelError(f"model '{path}': the machine has no memory for it ({used_MB:,} MB taken); make the model smaller") from error
