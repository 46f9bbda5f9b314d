"""Model files as scenes: glTF and GLB through ``gltf.py`` and ``gltf_parts.py``; OBJ, PLY and STL through a reader each.

In: a path. Out: a :class:`ModelScene`, whose parts are meshes (structured vertices, triangle lists) with a material and a matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.description import Draw, Frame, Scene, Texture
from tilegpu.scene.gltf import Document
from tilegpu.scene.gltf_parts import GltfParts
from tilegpu.scene.lighting import studio
from tilegpu.scene.model_file import ModelError, ModelFile
from tilegpu.scene.obj import read_obj
from tilegpu.scene.part import Array, Part, build_part, triangulate
from tilegpu.scene.ply import read_ply
from tilegpu.scene.stl import read_stl

__all__ = ["ModelError", "ModelScene", "Part", "build_part", "load_model", "triangulate"]

_MAX_PARTS = 100_000
_MAX_VISITS = 500_000
_READERS = {".obj": read_obj, ".ply": read_ply, ".stl": read_stl}


class ModelScene(Scene):
    """A model in the studio light, framed by the camera; blended parts are drawn last, back to front."""

    default_samples = 4
    clear_color = (0.055, 0.06, 0.07, 1.0)  # linear

    def __init__(
        self, name: str, parts: list[Part], yaw: float = 0.45, pitch: float = 0.22, path: str | Path | None = None
    ) -> None:
        source = name if path is None else path  # for messages
        if not parts:
            raise ModelError(f"model '{source}': has no triangles to draw")
        self.name = name
        self.parts = parts
        triangles = sum(part.indices.size // 3 for part in parts)
        materials = {id(part.material) for part in parts}
        self.description = f"{triangles:,} triangles, {len(parts)} draws, {len(materials)} materials"
        self._yaw, self._pitch = yaw, pitch
        corners: dict[int, Array] = {}  # parts at several places share their arrays
        for part in parts:
            if id(part.indices) not in corners:
                corners[id(part.indices)] = np.unique(part.indices)
        used = [part.world_positions(corners[id(part.indices)]) for part in parts]
        self._centres = [(p.min(0) + p.max(0)) / 2 for p in used]
        points = np.concatenate(used)
        self.low, self.high = points.min(0), points.max(0)
        self._points = points
        if not np.abs(points).max() < 1e15:
            largest = float(np.abs(points).max())
            raise ModelError(
                f"model '{source}': a position is {largest:.3g} from the origin; at most 1e15 can be projected"
            )
        self.default_size = self._natural_size()
        self._blocks = {id(part.material): part.material.block() for part in parts}
        self._textures: dict[int, Mapping[str, Texture]] = {}

    def _natural_size(self) -> tuple[int, int]:
        """About 0.9 megapixels in the model's proportions, so that it fills the frame."""
        camera = self._framed(1.0)
        clip = np.c_[self._points, np.ones(len(self._points))] @ camera.view_projection(1.0).astype(np.float64).T
        extent = np.ptp(clip[:, :2] / clip[:, 3:], axis=0)
        aspect = float(np.clip(extent[0] / max(extent[1], 1e-6), 0.6, 16 / 9))
        width = round(math.sqrt(1280 * 720 * aspect) / 16) * 16
        return width, round(width / aspect / 16) * 16

    def camera(self, aspect: float | None = None) -> OrbitCamera:
        """A camera that frames the model for ``aspect`` = width / height (default: that of ``default_size``)."""
        return self._framed(self.default_size[0] / self.default_size[1] if aspect is None else aspect)

    def _framed(self, aspect: float) -> OrbitCamera:
        return OrbitCamera.framing(
            self.low, self.high, self._yaw, self._pitch, points=self._points, aspect=aspect, fill=0.94
        )

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """See :meth:`Scene.frame`."""
        size, samples = self._resolve_request(size, samples)
        aspect = size[0] / size[1]
        if camera is None:
            camera = self.camera(aspect)
        view = studio(camera, aspect, math.degrees(self._yaw))
        order = [k for k, part in enumerate(self.parts) if part.material.alpha_mode != "BLEND"]
        blended = [k for k, part in enumerate(self.parts) if part.material.alpha_mode == "BLEND"]
        eye = camera.eye.astype(np.float64)
        blended.sort(key=lambda k: -float(np.linalg.norm(self._centres[k] - eye)))
        draws = [draw for k in order + blended for draw in self._draws(self.parts[k], view)]
        return Frame(
            size,
            samples,
            ("r8g8b8a8_srgb",),
            (self.clear_color,),
            resolve="pass" if samples > 1 else "none",
            draws=tuple(draws),
            label=self.name,
        )

    def _draws(self, part: Part, view: dict[str, Any]) -> Iterator[Draw]:
        names = part.attributes
        uv_count = sum(name.startswith("uv") for name in names)
        shader = part.material.program(uv_count, "color" in names, "tangent" in names)
        bind: dict[str, Any] = {"view": view, "material": self._blocks[id(part.material)]}
        bind.update(part.material.textures(shader))
        for state in part.material.states(part.mirrored):
            yield Draw(
                shader,
                part.vertices,
                part.indices,
                push={"model": part.matrix},
                bind=bind,
                state=state,
                label=f"{part.label} ({part.material.name})",
            )


def load_model(path: str | Path) -> ModelScene:
    """A model file (glTF, GLB, OBJ, PLY, STL) as a scene.

    Raises :class:`ModelError` (a ``ValueError``) that names the file, the object and the field for whatever is wrong with it. Reads
    regular files only, and takes no more memory than ``TILEGPU_MODEL_MEMORY_MB`` says (4096).
    """
    path = Path(path)
    file = ModelFile(path)
    try:
        # Transforms that overflow give infinite positions, which ModelScene refuses by name; NumPy's warning would only come before.
        with np.errstate(over="ignore", invalid="ignore"):
            read = _READERS.get(path.suffix.lower())
            parts = GltfParts(Document.load(file), _MAX_VISITS, _MAX_PARTS).parts() if read is None else read(file)
            return ModelScene(path.stem, parts, path=path)
    except MemoryError as error:
        used_MB = file.budget.used_B >> 20
        raise ModelError(f"model '{path}': the machine has no memory for it ({used_MB:,} MB taken); make the model smaller") from error
