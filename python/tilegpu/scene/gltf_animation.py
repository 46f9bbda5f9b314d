"""Animations of a glTF document.

In: a validated :class:`~tilegpu.scene.gltf.Document`. Out: :class:`Animation`, which says for a time what nodes' values become. Source:
Khronos glTF 2.0, section 3.11 and appendix C (interpolation: step, linear, spherical linear, cubic spline). On the CPU in float64, one
value after the other, sines through the C library: the same bits on every CPU.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilegpu.scene.gltf import Document
from tilegpu.scene.matrices import slerp, unit
from tilegpu.scene.model_file import named
from tilegpu.scene.part import Array

#: Path of a channel to the number of components of its values (weights: one for each morph target).
_PATHS = {"translation": 3, "rotation": 4, "scale": 3, "weights": 0}
_MODES = ("LINEAR", "STEP", "CUBICSPLINE")


@dataclass(frozen=True, eq=False)
class Sampler:
    """Key frames. ``times``: (n,) seconds. ``values``: (n, c) float64; of a cubic spline (n, 3, c): tangent in, value, tangent out."""

    times: Sequence[float]
    values: Array
    mode: str
    rotation: bool = False

    def at(self, time: float) -> Array:
        """(c,) float64 at a time in seconds; before the first and after the last key frame its value."""
        last = len(self.times) - 1
        value = self.values[:, 1] if self.mode == "CUBICSPLINE" else self.values
        if time <= self.times[0]:
            return unit(value[0]) if self.rotation else value[0]
        if time >= self.times[last]:
            return unit(value[last]) if self.rotation else value[last]
        k = bisect.bisect_right(self.times, time) - 1
        if self.mode == "STEP":
            return value[k]
        span = self.times[k + 1] - self.times[k]
        t = (time - self.times[k]) / span
        if self.mode == "LINEAR":
            if self.rotation:
                return slerp(value[k], value[k + 1], t)
            return (1 - t) * value[k] + t * value[k + 1]
        t2, t3 = t * t, t * t * t
        out = (
            (2 * t3 - 3 * t2 + 1) * value[k]
            + span * (t3 - 2 * t2 + t) * self.values[k, 2]
            + (-2 * t3 + 3 * t2) * value[k + 1]
            + span * (t3 - t2) * self.values[k + 1, 0]
        )
        return unit(out) if self.rotation else out


@dataclass(frozen=True, eq=False)
class Animation:
    """``channels``: (node, path, sampler); ``duration_s``: the last key frame of all."""

    name: str
    duration_s: float
    channels: tuple[tuple[int, str, Sampler], ...]

    def local_time(self, time: float) -> float:
        """The time within the animation: it is repeated, and its end is shown where a picture falls upon it."""
        if self.duration_s <= 0 or 0 <= time <= self.duration_s:
            return max(time, 0.0)
        return time % self.duration_s

    def at(self, time: float) -> dict[int, dict[str, Any]]:
        """By node and path: the value at a time in seconds."""
        inside = self.local_time(time)
        out: dict[int, dict[str, Any]] = {}
        for node, path, sampler in self.channels:
            out.setdefault(node, {})[path] = sampler.at(inside).tolist()
        return out


def read_animations(doc: Document, target_counts: dict[int, int]) -> list[Animation]:
    """All animations of a document. ``target_counts``: number of morph targets by node (0: it has none)."""
    out = []
    for number, table in enumerate(doc.json["animations"]):
        here = f"animations[{number}]"
        samplers = doc.objects(table, "samplers", here)
        channels: list[tuple[int, str, Sampler]] = []
        made: dict[tuple[int, str, int], Sampler] = {}  # many channels name one
        seen: set[tuple[int, str]] = set()
        for k, channel in enumerate(doc.objects(table, "channels", here)):
            where = f"{here}.channels[{k}]"
            target = doc.object(channel, "target", where)
            if "node" not in target:
                continue  # section 3.11: such a channel is ignored; what an extension points to instead is named as left out
            doc.item("nodes", target["node"], f"{where}.target")
            path = doc.choice(target, "path", {name: name for name in _PATHS}, f"{where}.target")
            node = int(target["node"])
            if "matrix" in doc.json["nodes"][node] and path != "weights":
                raise doc.error(where, f"moves nodes[{node}], which has a matrix; a moved node has translation, rotation and scale")
            if (node, path) in seen:
                raise doc.error(where, f"moves {path} of nodes[{node}] a second time")
            seen.add((node, path))
            index = doc.integer(channel, "sampler", where)
            if index >= len(samplers):
                raise doc.error(where, f"refers to samplers[{index}]; the animation has {len(samplers)}")
            width = _PATHS[path] or target_counts.get(node, 0)
            if not width:
                raise doc.error(where, f"moves weights of nodes[{node}], whose mesh has no morph targets")
            key = index, path, width
            if key not in made:
                made[key] = _sampler(doc, samplers[index], path, width, f"{here}.samplers[{index}]")
            channels.append((node, path, made[key]))
        ends = [float(sampler.times[-1]) for _, _, sampler in channels]
        out.append(Animation(named(table.get("name"), f"animation {number}"), max(ends, default=0.0), tuple(channels)))
    return out


def _sampler(doc: Document, table: dict[str, Any], path: str, width: int, where: str) -> Sampler:
    mode = doc.choice(table, "interpolation", {name: name for name in _MODES}, where, "LINEAR")
    times = doc.accessor(table.get("input"), f"{where}.input", ("SCALAR",))[:, 0].astype(np.float64)
    if not len(times):
        raise doc.error(where, "input has no key frame")
    if not np.all(np.isfinite(times)) or times[0] < 0 or not np.all(np.diff(times) > 0):
        raise doc.error(where, "input has times that are negative, not finite or not strictly increasing")
    kind = {"weights": "SCALAR", "rotation": "VEC4"}.get(path, "VEC3")
    values = doc.accessor(table.get("output"), f"{where}.output", (kind,)).astype(np.float64)
    steps = 3 if mode == "CUBICSPLINE" else 1
    rows = steps * len(times) * (width if path == "weights" else 1)
    if len(values) != rows:
        raise doc.error(where, f"output has {len(values)} elements; {len(times)} key frames of {path}, {mode}, need {rows}")
    if not np.all(np.isfinite(values)):
        raise doc.error(where, "output has a value that is not a finite number")
    doc.budget.keep(values.nbytes + 32 * len(times), where, "key frames")
    shape = (len(times), 3, width) if steps == 3 else (len(times), width)
    return Sampler(times.tolist(), values.reshape(shape), mode, path == "rotation")
