"""Cameras and lights of a glTF document.

In: a validated :class:`~tilegpu.scene.gltf.Document` and the visits of its node tree. Out: :class:`View` and :class:`Punctual`, which a
node's matrix places in the world. Source: Khronos glTF 2.0, section 3.10 (cameras), and the extension KHR_lights_punctual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tilegpu.scene.camera import FixedCamera
from tilegpu.scene.gltf import Document
from tilegpu.scene.gltf_nodes import Visit
from tilegpu.scene.model_file import named
from tilegpu.scene.part import Array, F

_LIGHTS = "KHR_lights_punctual"
_MAX_LIGHTS = 10_000


@dataclass(frozen=True, eq=False)
class View:
    """A camera at the node of a visit. ``aspect``: width / height that the file asks for, ``None`` if it leaves that to the picture.

    ``fov_y_degrees`` of a perspective, or ``height``, half that of an orthographic view; ``far``: ``None`` is infinitely far.
    """

    visit: int
    name: str
    aspect: float | None
    near: float
    far: float | None
    fov_y_degrees: float | None
    height: float = 1.0

    def placed(self, matrix: Array) -> FixedCamera:
        """The camera, its node at ``matrix``, (4, 4) float64 node to world, whose scale does not count."""
        return FixedCamera(matrix, self.near, self.far, self.fov_y_degrees, self.height)


@dataclass(frozen=True, eq=False)
class Punctual:
    """A light at the node of a visit: ``directional`` (intensity in lux), ``point`` or ``spot`` (candela)."""

    visit: int
    kind: str
    color: tuple[float, float, float]
    range: float | None
    inner: float = 0.0
    outer: float = math.pi / 4

    def placed(self, matrix: Array) -> Array:
        """(3, 4) float32 as the block ``Lights`` of ``pbr.frag`` has it: place (or direction to the light) and 1 / range^2 (or -1);
        colour and angle scale; direction of the light and angle offset."""
        axis = matrix[:3, 2]  # the light shines along -z
        length = math.sqrt(sum(float(x) * float(x) for x in axis))
        backward = axis / length if length > 0 else np.array([0.0, 0.0, 1.0])
        scale, offset = 0.0, 1.0
        if self.kind == "spot":
            scale = 1 / max(0.001, math.cos(self.inner) - math.cos(self.outer))
            offset = -math.cos(self.outer) * scale
        if self.kind == "directional":
            place, reach = backward, -1.0
        else:
            place, reach = matrix[:3, 3], 0.0 if self.range is None else 1 / (self.range * self.range)
        with np.errstate(over="ignore"):
            return np.array([[*place, reach], [*self.color, scale], [*(-backward), offset]]).astype(F)


def read_views(doc: Document, visits: list[Visit]) -> list[View]:
    """The cameras of the drawn scene, in the order of its nodes."""
    out: list[View] = []
    for number, visit in enumerate(visits):
        node = doc.json["nodes"][visit.node]
        if "camera" not in node:
            continue
        table = doc.item("cameras", node["camera"], f"nodes[{visit.node}]")
        here = f"cameras[{node['camera']}]"
        kind = doc.choice(table, "type", {"perspective": "perspective", "orthographic": "orthographic"}, here)
        fields, where = doc.object(table, kind, here), f"{here}.{kind}"
        near = doc.number(fields, "znear", -1.0, where)
        far = doc.number(fields, "zfar", 0.0, where) if kind == "orthographic" or "zfar" in fields else None
        least = 0.0 if kind == "orthographic" else 1e-30
        if near < least or (far is not None and far <= near):
            raise doc.error(where, f"znear is {near:g}, zfar {far}; 0 < znear < zfar is needed (of an orthographic camera znear may be 0)")
        name = named(node.get("name"), named(table.get("name"), f"camera {len(out)}"))
        if kind == "perspective":
            angle = doc.number(fields, "yfov", 0.0, where)
            if not 1e-4 < angle < 3.14:
                raise doc.error(where, f"yfov is {angle:g}; an angle in radians between 0 and pi is needed")
            aspect = doc.number(fields, "aspectRatio", 0.0, where) if "aspectRatio" in fields else None
            if aspect is not None and not 1e-3 < aspect < 1e3:
                raise doc.error(where, f"aspectRatio is {aspect:g}; a positive number is needed, at most 1000")
            out.append(View(number, name, aspect, near, far, math.degrees(angle)))
            continue
        wide, high = (abs(doc.number(fields, key, 0.0, where)) for key in ("xmag", "ymag"))
        if not (high > 1e-30 and 1e-3 < wide / high < 1e3):
            raise doc.error(where, f"xmag is {wide:g}, ymag {high:g}; numbers other than 0 are needed, of less than 1000 to one")
        out.append(View(number, name, wide / high, near, far, None, high))
    return out


def read_lights(doc: Document, visits: list[Visit]) -> list[Punctual]:
    """The lights of the drawn scene (KHR_lights_punctual), in the order of its nodes."""
    out: list[Punctual] = []
    tables = doc.objects(doc.object(doc.object(doc.json, "extensions", "the document"), _LIGHTS, "extensions"), "lights", _LIGHTS)
    for number, visit in enumerate(visits):
        node, here = doc.json["nodes"][visit.node], f"nodes[{visit.node}]"
        if "extensions" not in node:
            continue
        extension = doc.object(doc.object(node, "extensions", here), _LIGHTS, f"{here}.extensions")
        if not extension:
            continue
        index = doc.integer(extension, "light", f"{here}.{_LIGHTS}")
        if index >= len(tables):
            raise doc.error(f"{here}.{_LIGHTS}", f"refers to lights[{index}]; the file has {len(tables)}")
        if len(out) >= _MAX_LIGHTS:
            raise doc.error(here, f"more than {_MAX_LIGHTS:,} lights; every fragment would be lit by each of them")
        table, where = tables[index], f"{_LIGHTS}.lights[{index}]"
        kind = doc.choice(table, "type", {name: name for name in ("directional", "point", "spot")}, where)
        color = doc.numbers(table, "color", 3, [1.0, 1.0, 1.0], where)
        intensity = doc.number(table, "intensity", 1.0, where)
        reach = doc.number(table, "range", 0.0, where) if "range" in table else None
        if intensity < 0 or min(color) < 0 or (reach is not None and reach <= 0):
            raise doc.error(where, f"intensity is {intensity:g}, color {color}, range {reach}; none may be negative, range not 0")
        cone = doc.object(table, "spot", where)
        inner = doc.number(cone, "innerConeAngle", 0.0, f"{where}.spot")
        outer = doc.number(cone, "outerConeAngle", math.pi / 4, f"{where}.spot")
        if kind == "spot" and not 0 <= inner < outer <= math.pi / 2 + 1e-6:
            raise doc.error(f"{where}.spot", f"innerConeAngle is {inner:g}, outerConeAngle {outer:g}; 0 <= inner < outer <= pi/2 is needed")
        r, g, b = (c * intensity for c in color)
        out.append(Punctual(number, kind, (r, g, b), reach, inner, outer))
    return out
