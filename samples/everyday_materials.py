"""Everyday materials: balls lit by the picture of a sky (image-based lighting), and a wall of 600 draws, 24 programs, 12 textures."""

from __future__ import annotations

import functools
import math

import numpy as np
from tilegpu._samples._everyday import BACKGROUND, HDR, SRGB, frame_of, read_only, texture

from tilegpu.scene import Draw, Frame, Sampler, Scene, State, Texture, procedural, program, shapes
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.mesh import Mesh

F = np.float32


@functools.cache
@read_only
def ball(segments: int) -> Mesh:
    return shapes.ball(0.5, segments)


@functools.cache
@read_only
def sky_picture() -> Texture:
    """1024x512 rgba16f, equirectangular: a low sun, clouds, hills; smaller levels are means, which stand for rougher reflections."""
    width, height = 1024, 512
    up = 1 - 2 * (np.arange(height, dtype=F)[:, None] + F(0.5)) / height + np.zeros((1, width), F)
    around = (np.arange(width, dtype=F)[None] + F(0.5)) / width + np.zeros((height, 1), F)
    image = np.zeros((height, width, 3), F)
    t = np.clip(up, 0, 1)[..., None]
    image[:] = np.array((0.95, 0.62, 0.40), F) * (1 - t) * (1 - t) + np.array((0.10, 0.24, 0.60), F) * t * (2 - t)
    cloud = procedural.fractal_noise(1024, 16, 6, 61)[:512] * F(0.7) + procedural.fractal_noise(1024, 4, 3, 62)[::2] * F(0.3)
    cover = procedural.smooth(0.47, 0.68, cloud) * np.clip(up * 4, 0, 1)
    image += cover[..., None] * (np.array((1.5, 1.15, 0.95), F) - image) * F(0.85)
    away = ((around - F(0.13)) * 4) ** 2 + ((up - F(0.22)) * 2) ** 2
    image += (np.clip(F(0.006) / (away + F(0.0025)) - F(0.02), 0, 60))[..., None] * np.array((1.0, 0.72, 0.42), F)
    image[away < 0.0012] = (160.0, 130.0, 90.0)
    hill = F(-0.03) + F(0.16) * (procedural.fractal_noise(1024, 16, 6, 63)[0] - F(0.4))
    land = up < hill[None]
    ground = procedural.mix((0.10, 0.12, 0.05), (0.22, 0.20, 0.10), procedural.fractal_noise(1024, 16, 5, 64)[:512])
    image = np.where(land[..., None], ground * (F(0.55) + F(0.5) * np.clip(-up, 0, 1))[..., None], image)
    levels = [image]
    while levels[-1].shape[0] > 4:
        a = levels[-1]
        levels.append((a[0::2, 0::2] + a[1::2, 0::2] + a[0::2, 1::2] + a[1::2, 1::2]) * F(0.25))
    halves = []
    for level in levels:
        out = np.ones((*level.shape[:2], 4), np.float16)
        out[..., :3] = level
        halves.append(out)
    return Texture(halves[0], HDR, halves[1:], Sampler(address_v="clamp_to_edge"), "sky")


class SkyLight(Scene):
    name, description = (
        "sky_ibl",
        "27 balls of metal and lacquer in the light of a picture of the sky, by roughness; the sky behind, a floor that mirrors it",
    )
    moves = False

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 1.35, 0), distance=9.6, yaw=0.06, pitch=0.06, fov_y=33.0, radius=6.0, near=0.5, far=60.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        ways = camera.corner_directions(size[0] / size[1])
        view = {
            "view_projection": camera.view_projection(size[0] / size[1]),
            "eye": np.array([*camera.eye, 1], "f4"),
            "way": [(*map(float, way), 0.0) for way in ways],
        }
        bind = {"View": view, "sky": sky_picture()}
        draws = (
            Draw(program("sky_back.vert", "sky_back.frag"), count=3, bind=bind, state=BACKGROUND, label="sky"),
            Draw(program("sky_ball.vert", "sky_ball.frag", FLOOR=1), *floor(), bind=bind, label="floor"),
            Draw(
                program("sky_ball.vert", "sky_ball.frag"),
                ball(64).vertices,
                ball(64).indices,
                instances=27,
                bind=bind,
                state=State(cull="back"),
                label="balls",
            ),
        )
        return frame_of(self, size, samples, draws, color_formats=SRGB)


@functools.cache
@read_only
def floor() -> tuple[np.ndarray, np.ndarray]:
    mesh = shapes.disc(6.5, 1.0)
    return mesh.vertices, mesh.indices


PATTERNS, FINISHES = 8, 3


@functools.cache
@read_only
def surfaces() -> tuple[Texture, ...]:
    """Twelve textures of 256x256 in sRGB: stones, woods, cloths, rust."""
    n, out = 256, []
    y, x = np.mgrid[0:n, 0:n] / n
    pairs = (
        ((0.50, 0.45, 0.38), (0.80, 0.76, 0.70)),
        ((0.05, 0.07, 0.08), (0.30, 0.36, 0.40)),
        ((0.24, 0.10, 0.04), (0.62, 0.36, 0.16)),
        ((0.10, 0.30, 0.20), (0.55, 0.80, 0.60)),
        ((0.36, 0.05, 0.04), (0.78, 0.30, 0.18)),
        ((0.08, 0.10, 0.34), (0.40, 0.55, 0.85)),
        ((0.60, 0.48, 0.18), (0.95, 0.85, 0.50)),
        ((0.25, 0.08, 0.30), (0.70, 0.45, 0.78)),
        ((0.35, 0.18, 0.08), (0.75, 0.50, 0.28)),
        ((0.10, 0.10, 0.10), (0.85, 0.85, 0.83)),
        ((0.05, 0.28, 0.32), (0.50, 0.82, 0.80)),
        ((0.70, 0.30, 0.25), (0.95, 0.80, 0.72)),
    )
    for k, (low, high) in enumerate(pairs):
        noise = procedural.fractal_noise(n, 4 << k % 3, 6, 300 + k).astype(np.float64)
        if k % 4 == 0:
            value = noise
        elif k % 4 == 1:
            value = 1 - np.abs(2 * ((3 * noise) % 1) - 1)
        elif k % 4 == 2:
            value = np.abs(((x * 8 + 2.5 * noise) % 1) * 2 - 1)
        else:
            value = 0.5 * noise + 0.5 * ((((x * 16) % 1 < 0.5) ^ ((y * 16) % 1 < 0.5)) * 0.7 + 0.15)
        pixels = procedural.to_srgb8(procedural.mix(low, high, value.astype("f4")))
        out.append(texture(pixels, f"surface {k}"))
    return tuple(out)


class Materials(Scene):
    name, description = "materials", "a wall of 600 balls: 600 draws, 24 programs, 12 textures"

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 0, 0), distance=42.0, yaw=0.0, pitch=0.0, fov_y=27.0, radius=16.0, near=20.0, far=60.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        view = {"view_projection": camera.view_projection(size[0] / size[1]), "eye": np.array([*camera.eye, 1], "f4")}
        draws, mesh = [], ball(22)
        r = procedural.random_numbers(5, 4 * 600).reshape(600, 4).tolist()
        for k in range(600):
            column, row = k % 30, k // 30
            a, b, c, d = r[k]
            what = program("material.vert", "material.frag", PATTERN=int(a * PATTERNS), FINISH=int(b * FINISHES))
            push = {
                "place": np.array(
                    [1.2 * (column - 14.5), 1.0 * (9.5 - row), 0.25 * math.sin(0.7 * column) * math.cos(0.6 * row), 0.9], "f4"
                ),
                "look": np.array([0.5 + c, d, time, 0], "f4"),
            }
            draws.append(
                Draw(
                    what,
                    mesh.vertices,
                    mesh.indices,
                    push=push,
                    bind={"View": view, "surface": surfaces()[(k * 7 + row) % 12]},
                    state=State(cull="back"),
                    label=f"ball {k}",
                )
            )
        return frame_of(self, size, samples, draws, color_formats=SRGB, clear_colors=((0.020, 0.022, 0.028, 1),))


SCENES = [SkyLight(), Materials()]
