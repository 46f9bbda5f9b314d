"""Everyday light in several passes: shadow cascades, ambient occlusion, decals, deferred shading with 200 lights, temporal antialiasing.

The world is made of blocks: instances of a box, each with a place, a size and a paint, in one buffer.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, ClassVar

import numpy as np
from tilegpu._samples._everyday import ADD, EDGE, HDR, OVER, POINT, SRGB, cube, frame_of, full, read_only

from tilegpu.math import inverse
from tilegpu.scene import Draw, Frame, Output, Pass, Sampled, Sampler, Scene, State, Target, procedural, program, shapes
from tilegpu.scene.camera import OrbitCamera, axes_against, multiply, translate
from tilegpu.scene.mesh import Mesh

CULLED = State(cull="back")
COMPARE = Sampler(mipmap_mode="nearest", address_u="clamp_to_edge", address_v="clamp_to_edge", compare="less_or_equal")
GONE = {"clear": (0.0, 0.0, 0.0, 0.0)}
TO_SUN = (0.46, 0.62, 0.63)


@functools.cache
@read_only
def ball() -> Mesh:
    return shapes.ball(1.0, 12)


def blocks(rows) -> np.ndarray:
    """(n, 12) float32 for the buffer ``Blocks`` of (x, y, z, turn, width, height, depth, pattern, red, green, blue, tilt); y: its foot."""
    out = np.array(rows, np.float64)
    out[:, 1] += out[:, 5] / 2
    return out.astype("f4")


class Blocks(Scene):
    """What these scenes have in common."""

    view_of: ClassVar[dict[str, Any]] = {
        "target": (0, 1.0, 0),
        "distance": 12.0,
        "yaw": 0.6,
        "pitch": 0.3,
        "fov_y": 40.0,
        "radius": 10.0,
        "near": 0.5,
        "far": 60.0,
    }

    def camera(self) -> OrbitCamera:
        return OrbitCamera(**self.view_of)

    def view(self, size, camera, **more) -> dict:
        matrix = camera.view_projection(size[0] / size[1])
        return {
            "view_projection": matrix,
            "inverse": inverse(matrix),
            "before": matrix,
            "eye": np.array([*camera.eye, 1], "f4"),
            "sun": np.array([*TO_SUN, 0], "f4"),
            "size_px": np.array([*size, 1 / size[0], 1 / size[1]], "f4"),
        } | more

    @staticmethod
    def world(rows, fragment, view, bind=None, state=CULLED, **defines) -> Draw:
        return Draw(
            program("blocks.vert", fragment, **defines),
            cube().vertices,
            cube().indices,
            instances=len(rows),
            bind={"View": view, "Blocks": rows, **(bind or {})},
            state=state,
            label="blocks",
        )

    @staticmethod
    def g_buffer(rows, view) -> tuple[Pass, dict[str, Sampled]]:
        """Colour, normal and depth of the blocks, stored for the passes behind it."""
        color, normal, depth = (
            Target(label="colour"),
            Target("a2b10g10r10_unorm_pack32", label="normal"),
            Target("d32_sfloat", label="depth"),
        )
        one = Pass(
            (Output(color, **GONE), Output(normal, **GONE)),
            Output(depth, clear=1.0),
            (Blocks.world(rows, "blocks_gbuffer.frag", view),),
            label="g-buffer",
        )
        return one, {name: Sampled(target, POINT) for name, target in (("color_map", color), ("normal_map", normal), ("depth_map", depth))}

    def last(self, size, samples, draw, passes, **options) -> Frame:
        options = {"depth_format": None, **options}
        return frame_of(self, size, samples, (draw,), color_formats=SRGB, passes=tuple(passes), **options)


# ----------------------------------------------------------------------------------------------------------------- cascades
@functools.cache
@read_only
def town() -> np.ndarray:
    """A street of houses that goes far, trees of two blocks, and the ground."""
    rows = [(0, -1, -40, 0, 120, 1, 160, 1, 0.42, 0.40, 0.36, 0)]
    r = procedural.random_numbers(17, 8 * 400).reshape(-1, 8).astype(np.float64).tolist()
    paints = ((0.72, 0.42, 0.30), (0.80, 0.70, 0.50), (0.55, 0.60, 0.62), (0.62, 0.30, 0.26), (0.75, 0.74, 0.70))
    for k in range(130):
        side, along = (-1 if k & 1 else 1), 14 - 1.65 * (k // 2)
        for row in range(2):
            a, b, c, d, e, f, g, h = r[2 * k % 200 + row + 3 * row]
            x, high = side * (4.6 + 5.6 * row + 1.0 * a), 1.6 + 2.8 * b * (1 + row) + 0.01 * k
            if (k // 2) % 2 == 0:
                rows.append((x, 0, along, 0.08 * (c - 0.5), 2.1 + d, high, 2.4 + 0.6 * e, 2, *paints[int(5 * f)], 0))
                rows.append((x, high, along, 0.08 * (c - 0.5), 2.3 + d, 0.16, 2.6 + 0.6 * e, 0, 0.30, 0.16, 0.13, 0))
                rows.append((x + 0.5 * (g - 0.5), high, along + 0.6 * (h - 0.5), 0, 0.35, 0.8, 0.35, 0, 0.45, 0.25, 0.2, 0))
    for k in range(44):
        side, along = (-1 if k & 1 else 1), 13 - 1.9 * (k // 2)
        wide = 0.75 + 0.4 * r[k][0]
        rows.append((2.4 * side, 0, along, 0, 0.13, 1.0, 0.13, 0, 0.25, 0.17, 0.10, 0))
        rows.append((2.4 * side, 0.8, along, r[k][1], wide, 0.9 + 0.3 * r[k][2], wide, 0, 0.16, 0.36 + 0.1 * r[k][3], 0.10, 0))
        rows.append((2.4 * side, 1.5, along, r[k][1] + 0.7, 0.7 * wide, 0.7, 0.7 * wide, 0, 0.20, 0.42, 0.12, 0))
    return blocks(rows)


def cascade(eye, forward, near: float, far: float) -> np.ndarray:
    """(4, 4): the sun's view of a ball about what the eye sees from ``near`` to ``far``; it moves by whole texels."""
    right, up, back = axes_against(TO_SUN)
    middle, radius = np.asarray(eye, np.float64) + np.asarray(forward, np.float64) * (near + far) / 2, (far - near) / 2 + 0.55 * far
    out, texel = np.eye(4), 2 * radius / CASCADE_PX
    for row, (axis, sign) in enumerate(((right, 1.0), (up, -1.0))):
        at = math.floor(sum(axis[k] * middle[k] for k in range(3)) / texel) * texel
        out[row, :3], out[row, 3] = sign * axis / radius, -sign * at / radius
    out[2, :3], out[2, 3] = -back / 120, 0.5 + sum(back[k] * middle[k] for k in range(3)) / 120
    return out.astype("f4")


CASCADE_PX, SPLITS = 1024, (0.5, 7.0, 16.0, 34.0, 75.0)


class Cascades(Blocks):
    name, description = "shadow_cascades", "a street in the sun: four shadow maps of 1024x1024 by distance, 3x3 filtered comparisons"
    moves = False
    view_of: ClassVar[dict[str, Any]] = {
        "target": (0.3, 1.5, 6),
        "distance": 10.0,
        "yaw": -0.06,
        "pitch": 0.06,
        "fov_y": 45.0,
        "radius": 10.0,
        "near": 0.5,
        "far": 110.0,
    }

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        forward = -camera.view()[2, :3]
        passes, maps, matrices = [], {}, {}
        for k in range(4):
            target = Target("d32_sfloat", (CASCADE_PX, CASCADE_PX), f"cascade {k}")
            matrices[f"cascade{k}"] = cascade(camera.eye, forward, SPLITS[k], SPLITS[k + 1])
            light = self.view(size, camera) | {"view_projection": matrices[f"cascade{k}"]}
            draw = self.world(town(), "passes_depth.frag", light, state=State(cull="none", depth_bias=(1.0, 2.0)), DEPTH=1)
            passes.append(Pass(depth=Output(target, clear=1.0), draws=(draw,), label=f"cascade {k}"))
            maps[f"map{k}"] = Sampled(target, COMPARE)
        lights = {**matrices, "splits": np.array(SPLITS[1:], "f4"), "forward": np.array([*forward, 0], "f4")}
        draw = self.world(town(), "blocks_cascades.frag", self.view(size, camera), {"Cascades": lights, **maps})
        return self.last(size, samples, draw, passes, depth_format="d32_sfloat", clear_colors=((0.42, 0.60, 0.85, 1),))


# ---------------------------------------------------------------------------------------------------------------- occlusion
@functools.cache
@read_only
def heap() -> np.ndarray:
    """A room's corner with shelves and boxes."""
    rows = [
        (0, -1, 0, 0, 16, 1, 16, 0, 0.80, 0.78, 0.74, 0),
        (0, 0, -5.5, 0, 16, 8, 1, 0, 0.80, 0.77, 0.72, 0),
        (-5.5, 0, 0, 0, 1, 8, 16, 0, 0.74, 0.77, 0.80, 0),
    ]
    r = procedural.random_numbers(29, 8 * 400).reshape(-1, 8).astype(np.float64).tolist()
    for k in range(260):
        a, b, c, d, e, f, g, _ = r[k]
        far = 5.4 * math.sqrt(a)
        high = 0.25 + 1.25 * c * (1.2 - 0.12 * far)
        tone = ((0.85, 0.55, 0.40), (0.90, 0.85, 0.75), (0.55, 0.65, 0.72), (0.85, 0.75, 0.50))[int(4 * g)]
        rows.append(
            (
                far * math.cos(2 * math.pi * b) - 0.8,
                0,
                far * math.sin(2 * math.pi * b) - 0.8,
                3.1 * d,
                0.3 + 0.6 * e,
                high,
                0.3 + 0.6 * f,
                0,
                *tone,
                0,
            )
        )
    for k in range(5):
        rows.append((-0.5, 0.9 + 1.1 * k, -4.75, 0, 8.5, 0.10, 0.7, 0, 0.62, 0.50, 0.38, 0))
        for j in range(22):
            a, b, c, d, e, _, _, _ = r[300 + (k * 22 + j) % 100]
            rows.append(
                (
                    -4.5 + 0.37 * j,
                    1.0 + 1.1 * k,
                    -4.75,
                    0.1 * (a - 0.5),
                    0.16 + 0.16 * b,
                    0.55 + 0.35 * c,
                    0.5,
                    0,
                    0.35 + 0.5 * d,
                    0.35 + 0.4 * e,
                    0.45,
                    0,
                )
            )
    return blocks(rows)


class Occlusion(Blocks):
    name, description = "ssao", "ambient occlusion: g-buffer, 24 taps a pixel in a hemisphere, a filter of 4x4, light"
    moves = False
    view_of: ClassVar[dict[str, Any]] = {
        "target": (-0.6, 1.5, -0.8),
        "distance": 10.5,
        "yaw": 0.72,
        "pitch": 0.36,
        "fov_y": 40.0,
        "radius": 8.0,
        "near": 1.0,
        "far": 40.0,
    }

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        first, maps = self.g_buffer(heap(), view)
        raw, smooth = Target("r8_unorm", label="occlusion"), Target("r8_unorm", label="smooth occlusion")
        geometry = {"View": view, "normal_map": maps["normal_map"], "depth_map": maps["depth_map"]}
        passes = [
            first,
            Pass((Output(raw, load="dont_care"),), draws=(full("ssao.frag", "occlusion", geometry),), label="occlusion"),
            Pass(
                (Output(smooth, load="dont_care"),),
                draws=(full("ssao_smooth.frag", "smooth", {"occlusion": Sampled(raw, POINT)}),),
                label="smooth",
            ),
        ]
        draw = full("ssao_light.frag", "light", {"View": view, **maps, "occlusion": Sampled(smooth, POINT)})
        return self.last(size, samples, draw, passes)


# ------------------------------------------------------------------------------------------------------------------- decals
@functools.cache
@read_only
def yard() -> np.ndarray:
    rows = [
        (0, -1, 0, 0, 40, 1, 40, 1, 0.50, 0.49, 0.47, 0),
        (0, 0, -4.5, 0, 14, 4.2, 1, 3, 0.55, 0.32, 0.24, 0),
        (-6.5, 0, 0.5, 0, 1, 4.2, 11, 3, 0.60, 0.40, 0.30, 0),
        (0, 4.2, -4.5, 0, 14.2, 0.2, 1.3, 0, 0.6, 0.58, 0.55, 0),
        (-6.5, 4.2, 0.5, 0, 1.3, 0.2, 11.2, 0, 0.6, 0.58, 0.55, 0),
    ]
    r = procedural.random_numbers(41, 6 * 40).reshape(-1, 6).tolist()
    for k in range(14):
        a, b, c, d, e, f = r[k]
        rows.append((9 * a - 4.5, 0, 6 * b - 2.5, 3 * c, 0.7 + 0.5 * d, 0.5 + 0.5 * e, 0.7 + 0.4 * f, 4, 0.55, 0.40, 0.22, 0))
    return blocks(rows)


@functools.cache
@read_only
def decals() -> np.ndarray:
    """(n, 12): middle and turn, half sizes and kind, colour and the axis that is projected along (0: x, 1: y, 2: z)."""
    r = procedural.random_numbers(43, 8 * 200).reshape(-1, 8).astype(np.float64).tolist()
    out = []
    for k in range(160):
        a, b, c, d, _, _, g, _ = r[k]
        hue = [0.5 + 0.5 * math.cos(6.283 * (g + shift)) for shift in (0.0, 0.33, 0.67)]
        size = 0.22 + 0.65 * c * c
        if k % 5 < 2:
            out.append((13 * a - 6, 0.0, 9 * b - 4, 6.28 * d, size, 0.5, size, k % 4, *hue, 1))
        elif k % 5 < 4:
            out.append((12 * a - 6, 0.4 + 3.2 * b, -4.0, 0.5 * (d - 0.5), size, size, 0.5, k % 4, *hue, 2))
        else:
            out.append((-6.0, 0.4 + 3.2 * b, 9.5 * a - 4.2, 0.5 * (d - 0.5), 0.5, size, size, k % 4, *hue, 0))
    return np.array(out, "f4")


class Decals(Blocks):
    name, description = (
        "decals",
        "160 decals on walls, ground and crates: boxes that find the surface in the depth, blended into the g-buffer's colour",
    )
    moves = False
    view_of: ClassVar[dict[str, Any]] = {
        "target": (-1.0, 1.3, -0.6),
        "distance": 10.0,
        "yaw": 0.52,
        "pitch": 0.26,
        "fov_y": 42.0,
        "radius": 8.0,
        "near": 1.0,
        "far": 50.0,
    }

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        first, maps = self.g_buffer(yard(), view)
        state = dataclasses.replace(OVER, cull="front")
        boxes = Draw(
            program("decals.vert", "decals.frag"),
            cube().vertices,
            cube().indices,
            instances=len(decals()),
            state=state,
            label="decals",
            bind={"View": view, "Decals": decals(), "depth_map": maps["depth_map"]},
        )
        painted = Pass((Output(maps["color_map"].target, load="load"),), draws=(boxes,), label="decals")
        return self.last(size, samples, full("sun_light.frag", "light", {"View": view, **maps}), (first, painted))


# --------------------------------------------------------------------------------------------------------------- 200 lights
@functools.cache
@read_only
def hall() -> np.ndarray:
    rows = [
        (0, -1, 0, 0, 30, 1, 44, 1, 0.55, 0.53, 0.50, 0),
        (0, 0, -16, 0, 30, 9, 1, 3, 0.5, 0.45, 0.4, 0),
        (-9, 0, 0, 0, 1, 9, 44, 3, 0.5, 0.45, 0.42, 0),
        (9, 0, 0, 0, 1, 9, 44, 3, 0.5, 0.45, 0.42, 0),
    ]
    for k in range(22):
        x, z = (-5.2 if k & 1 else 5.2), 9 - 2.4 * (k // 2)
        rows += [
            (x, 0, z, 0, 1.1, 0.35, 1.1, 0, 0.6, 0.58, 0.55, 0),
            (x, 0.35, z, 0.785 * (k & 2), 0.62, 4.6, 0.62, 0, 0.70, 0.68, 0.64, 0),
            (x, 4.95, z, 0, 1.1, 0.35, 1.1, 0, 0.6, 0.58, 0.55, 0),
        ]
    for x in (-5.2, 5.2):
        rows.append((x, 5.3, -3, 0, 0.9, 0.5, 27, 0, 0.6, 0.58, 0.55, 0))
    r = procedural.random_numbers(51, 6 * 60).reshape(-1, 6).tolist()
    for k in range(60):
        a, b, c, d, e, _ = r[k]
        rows.append((8 * a - 4, 0, 22 * b - 14, 3 * c, 0.5 + 0.5 * d, 0.3 + 0.7 * e * e, 0.5 + 0.4 * c, 4, 0.6, 0.5, 0.38, 0))
    return blocks(rows)


@functools.lru_cache(2)
@read_only
def lamps(time: float) -> np.ndarray:
    """(200, 8): place and radius, colour."""
    r = procedural.random_numbers(53, 6 * 200).reshape(-1, 6).astype(np.float64)
    sway = shapes.cos_sin(6.283 * r[:, 3] + time)[1]
    out = np.zeros((200, 8), "f4")
    out[:, 0], out[:, 1], out[:, 2] = 15.5 * r[:, 0] - 7.75 + 0.4 * sway, 0.25 + 3.6 * r[:, 1] * r[:, 1], 26 * r[:, 2] - 15
    out[:, 3] = 1.6 + 1.6 * r[:, 4]
    for k in range(3):
        out[:, 4 + k] = 0.15 + 1.9 * np.clip(shapes.cos_sin(6.283 * (r[:, 5] + k / 3))[0], 0, 1)
    return out


class ManyLights(Blocks):
    name, description = "lights_200", "deferred shading of a hall with 200 lights, each a ball that adds its light into rgba16f"
    view_of: ClassVar[dict[str, Any]] = {
        "target": (0, 2.2, -2),
        "distance": 13.0,
        "yaw": 0.16,
        "pitch": 0.16,
        "fov_y": 48.0,
        "radius": 12.0,
        "near": 0.5,
        "far": 60.0,
    }

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        first, maps = self.g_buffer(hall(), view)
        light = Target(HDR, label="light")
        balls = Draw(
            program("lamps.vert", "lamps.frag"),
            ball().vertices,
            ball().indices,
            instances=200,
            state=dataclasses.replace(ADD, cull="front"),
            label="lights",
            bind={"View": view, "Lamps": lamps(time), **maps},
        )
        ambient = full("lamps_ambient.frag", "ambient", {"color_map": maps["color_map"], "normal_map": maps["normal_map"]})
        lit = Pass((Output(light, load="dont_care"),), draws=(ambient, balls), label="light")
        tone = full("tone_curve.frag", "tone curve", {"source": Sampled(light, POINT)}, {"exposure": np.array([1.1, 0, 0, 0], "f4")})
        return self.last(size, samples, tone, (first, lit))


# ----------------------------------------------------------------------------------------------------------------- temporal
@functools.cache
@read_only
def park() -> np.ndarray:
    """Fences, poles and a wheel: thin things."""
    rows = [(0, -1, 0, 0, 60, 1, 60, 1, 0.42, 0.50, 0.34, 0)]
    for k in range(90):
        rows.append((-9 + 0.2 * k, 0, 2.4 - 0.25 * abs(math.sin(0.3 * k)), 0, 0.045, 1.0, 0.045, 0, 0.85, 0.85, 0.82, 0))
    for y in (0.35, 0.85):
        rows.append((0, y, 2.35, 0, 18, 0.05, 0.05, 0, 0.85, 0.85, 0.82, 0))
    for k in range(36):  # spokes and cabins of a big wheel
        angle = k * math.pi / 18
        x, y = 3.0 * math.cos(angle), 3.6 + 3.0 * math.sin(angle)
        rows.append((1.5 * math.cos(angle), 3.6 + 1.5 * math.sin(angle) - 0.02, -3, 0, 3.0, 0.04, 0.04, 0, 0.75, 0.2, 0.2, angle))
        rows.append((x, y - 0.04, -3, 0, 0.56, 0.07, 0.09, 0, 0.9, 0.9, 0.9, angle + math.pi / 2))
        if k % 2 == 0:
            hue = [0.5 + 0.4 * math.cos(angle + s) for s in (0, 2.1, 4.2)]
            rows.append((x, y - 0.42, -3, 0, 0.34, 0.36, 0.34, 0, *hue, 0))
    for side in (-1, 1):
        rows.append((0.9 * side, 0.0, -3.2, 0, 0.12, 3.9, 0.12, 0, 0.8, 0.8, 0.8, 0.42 * side))
    for k in range(14):
        rows += [
            (-8 + 1.25 * k, 0, -6.5, 0, 0.16, 1.2, 0.16, 0, 0.35, 0.24, 0.15, 0),
            (-8 + 1.25 * k, 1.0, -6.5, 0.5 * k, 0.95, 1.3 + 0.3 * (k % 3), 0.95, 0, 0.2, 0.42, 0.16, 0),
        ]
    return blocks(rows)


class Temporal(Blocks):
    name, description = (
        "taa",
        "temporal antialiasing: this frame shifted within the pixel, the last one by its motion, clamped to its neighbours",
    )
    moves = False
    view_of: ClassVar[dict[str, Any]] = {
        "target": (0, 2.7, -1.5),
        "distance": 12.0,
        "yaw": 0.30,
        "pitch": 0.10,
        "fov_y": 42.0,
        "radius": 10.0,
        "near": 1.0,
        "far": 60.0,
    }

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        earlier = OrbitCamera(
            **self.view_of | {"yaw": camera.yaw - 0.006, "pitch": camera.pitch, "target": camera.target, "distance": camera.distance}
        )
        before = earlier.view_projection(size[0] / size[1])
        shift = translate(0.25 / size[0] * 2, -0.25 / size[1] * 2, 0)
        now, motion, depth = Target(HDR, label="now"), Target("r16g16_sfloat", label="motion"), Target("d32_sfloat", label="depth")
        history, old_depth = Target(HDR, label="history"), Target("d32_sfloat", label="history's depth")
        sky = (0.45, 0.62, 0.85, 1)
        view = self.view(size, camera)
        view = view | {"view_projection": multiply(shift, view["view_projection"]), "before": before}
        old_view = self.view(size, earlier)
        current = Pass(
            (Output(now, clear=sky), Output(motion, clear=(0, 0, 0, 0))),
            Output(depth, clear=1.0),
            (self.world(park(), "blocks_moving.frag", view, MOTION=1),),
            label="now",
        )
        past = Pass(
            (Output(history, clear=sky),),
            Output(old_depth, clear=1.0, store=False),
            (self.world(park(), "blocks_moving.frag", old_view),),
            4,
            "history",
        )
        maps = {
            "now_map": Sampled(now, POINT),
            "motion_map": Sampled(motion, POINT),
            "depth_map": Sampled(depth, POINT),
            "history_map": Sampled(history, EDGE),
        }
        return self.last(size, samples, full("taa.frag", "resolve", {"View": view, **maps}), (past, current))


SCENES = [Cascades(), Occlusion(), Decals(), ManyLights(), Temporal()]
