"""Everyday effects: particles (blended, additive, soft) and three pictures that one fragment shader makes (rays, noise, a fractal)."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np
from tilegpu._samples._everyday import ADD, HDR, OVER, POINT, SRGB, cube, frame_of, full, read_only, texture

from tilegpu.scene import (
    CLAMPED,
    Draw,
    Frame,
    Output,
    Pass,
    Sampled,
    Scene,
    State,
    Target,
    Texture,
    procedural,
    program,
    shapes,
)
from tilegpu.scene.camera import OrbitCamera


@functools.cache
@read_only
def puff() -> Texture:
    """64x64: a soft ball of smoke with lumps, white with alpha."""
    n = 64
    y, x = (np.mgrid[0:n, 0:n] + 0.5) / n * 2 - 1
    r = np.sqrt(x * x + y * y)
    lumps = procedural.fractal_noise(n, 4, 4, 5).astype(np.float64)
    alpha = np.clip(1.15 - r - 0.55 * (1 - lumps), 0, 1)
    pixels = np.zeros((n, n, 4), np.uint8)
    pixels[..., :3] = (np.clip(0.55 + 0.6 * lumps - 0.25 * y, 0, 1) * 255).astype(np.uint8)[..., None]
    pixels[..., 3] = (np.clip(alpha * 1.5, 0, 1) * np.clip((1 - r) * 6, 0, 1) * 255).astype(np.uint8)
    return texture(pixels, "puff", False, CLAMPED)


@functools.cache
@read_only
def spark() -> Texture:
    """64x64: a glow that falls off, with a hint of four rays."""
    n = 64
    y, x = (np.mgrid[0:n, 0:n] + 0.5) / n * 2 - 1
    r2 = x * x + y * y
    glow = np.clip(0.05 / (r2 + 0.04) - 0.05, 0, 1) + 0.25 * np.clip(0.02 / (np.abs(x * y) * 8 + r2 * 0.5 + 0.02) - 0.06, 0, 1)
    pixels = np.repeat((np.clip(glow, 0, 1) * 255).astype(np.uint8)[..., None], 4, 2)
    return texture(pixels, "spark", False, CLAMPED)


def gathered(places, sizes, colors, angles=None, eye=None) -> np.ndarray:
    """(n, 12) float32 for the buffer ``Particles``: place and size, colour, angle; far ones first where there is an eye."""
    out = np.zeros((len(places), 12), "f4")
    out[:, :3], out[:, 3], out[:, 4:8] = places, sizes, colors
    out[:, 8] = 0 if angles is None else angles
    if eye is None:
        return out
    away = ((out[:, :3].astype(np.float64) - np.asarray(eye, np.float64)) ** 2).sum(1)
    return out[np.argsort(-away, kind="stable")]


class Particles(Scene):
    """What the three have in common."""

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 1.7, 0), distance=9.0, yaw=0.5, pitch=0.18, fov_y=40.0, radius=8.0, near=0.5, far=40.0)

    def view(self, size, camera) -> dict:
        axes = camera.view()[:3, :3]
        return {
            "view_projection": camera.view_projection(size[0] / size[1]),
            "right": np.array([*axes[0], 0], "f4"),
            "up": np.array([*axes[1], 0], "f4"),
            "eye": np.array([*camera.eye, 1], "f4"),
        }

    @staticmethod
    def draw(view, what, particles, picture, state, bind=None) -> Draw:
        return Draw(
            what,
            count=4,
            instances=len(particles),
            bind={"View": view, "Particles": particles, "map": picture, **(bind or {})},
            state=dataclasses.replace(state, topology="triangle_strip"),
            label="particles",
        )


@functools.lru_cache(2)
@read_only
def campfire(time: float, eye: tuple) -> np.ndarray:
    """50,000 particles: flames below, smoke above them."""
    n = 50000
    r = procedural.random_numbers(21, 8 * n).reshape(n, 8).astype(np.float64)
    age = (r[:, 0] + time * (0.15 + 0.1 * r[:, 1])) % 1.0
    fire = r[:, 2] < 0.42
    c, s = shapes.cos_sin(r[:, 3] * 2 * math.pi + age * 5 * (r[:, 4] - 0.3))
    wide = np.where(fire, 0.85 * r[:, 5] * (1 - age) * (1 - age) + 0.1 * r[:, 6], (0.2 + 1.5 * age) * r[:, 5])
    y = np.where(fire, 0.12 + 2.6 * age * (1 - 0.75 * r[:, 5]), 1.3 + 3.4 * age)
    drift = np.where(fire, 0.0, 1.2 * age * age)
    places = np.stack([c * wide + drift, y, s * wide], 1)
    sizes = np.where(fire, 0.10 * (1 - 0.6 * age), 0.05 + 0.16 * age) * (0.7 + 0.6 * r[:, 6])
    hot = np.stack([1.25 - 0.25 * age, 0.85 - 0.75 * age, 0.30 - 0.30 * age, 0.30 * (1 - age)], 1)
    grey = 0.30 + 0.25 * r[:, 7]
    smoke = np.stack(
        [
            grey + 0.35 * np.clip(0.25 - age, 0, 1),
            grey + 0.1 * np.clip(0.25 - age, 0, 1),
            grey,
            0.10 * (1 - age) * (1 - 0.6 * r[:, 5]) * np.clip(age * 8, 0, 1),
        ],
        1,
    )
    return gathered(places, sizes, np.where(fire[:, None], hot, smoke), r[:, 6] * 6.283 + age, eye)


class Campfire(Particles):
    name, description = "particles", "a campfire: 50,000 blended textured particles, sorted, 36 pixels wide in the mean"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        view = self.view(size, camera)
        draws = [
            full("campfire_night.frag", "night", push={"size": np.array([size[0] / size[1], 0, 0, 0], "f4")}),
            Draw(
                program("particles_solid.vert", "particles_solid.frag"),
                cube().vertices,
                cube().indices,
                instances=9,
                bind={"View": view},
                push={"scene": np.array([0, 0, 0, 0], "f4")},
                label="logs",
            ),
            self.draw(view, program("particles.vert", "particles.frag"), campfire(time, tuple(camera.eye.tolist())), puff(), OVER),
        ]
        return frame_of(self, size, samples, draws)


@functools.cache
@read_only
def galaxy() -> np.ndarray:
    """70,000 stars on two arms."""
    n = 70000
    r = procedural.random_numbers(33, 8 * n).reshape(n, 8).astype(np.float64)
    far = 0.05 + 4.8 * r[:, 0] * (0.25 + 0.75 * r[:, 7])
    spread = (r[:, 1] + r[:, 2] + r[:, 3] - 1.5) * np.where(r[:, 5] < 0.25, 3.0, 0.55 + 0.4 / (0.6 + far))
    angle = 2.6 * np.sqrt(far + 0.05) + math.pi * (r[:, 4] > 0.5) + spread
    c, s = shapes.cos_sin(angle)
    y = 1.7 + (r[:, 5] + r[:, 6] + r[:, 3] - 1.5) * 0.42 / (0.5 + far)
    core = 1 / (1 + far * far * 1.3)
    bright = 0.018 + 0.16 * r[:, 6] * r[:, 6] * r[:, 6] * r[:, 6]
    colors = np.stack([bright * (0.45 + 1.0 * core), bright * (0.50 + 0.45 * core), bright * (1.15 - 0.65 * core), np.ones(n)], 1)
    pink = (r[:, 4] * 40 % 1 > 0.93) & (far > 0.8)
    colors[pink, :3] *= (1.5, 0.55, 0.85)
    sizes = 0.03 + 0.05 * r[:, 2] * r[:, 2] + np.where(pink, 0.06, 0.0)
    return gathered(np.stack([c * far, y, s * far], 1), sizes, colors)


class Galaxy(Particles):
    name, description = "particles_additive", "a galaxy: 70,000 particles added into rgba16f, then a tone curve"
    moves = False

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 1.7, 0), distance=8.5, yaw=0.5, pitch=0.62, fov_y=40.0, radius=8.0, near=0.5, far=40.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view, light = self.view(size, camera or self.camera()), Target(HDR, label="light")
        stars = self.draw(view, program("particles.vert", "particles.frag", ADDED=1), galaxy(), spark(), ADD)
        first = Pass((Output(light, clear=(0.004, 0.005, 0.010, 1)),), draws=(stars,), label="stars")
        tone = full("tone_curve.frag", "tone curve", {"source": Sampled(light)}, {"exposure": np.array([1.3, 0, 0, 0], "f4")})
        return frame_of(self, size, samples, (tone,), color_formats=SRGB, depth_format=None, passes=(first,))


@functools.lru_cache(2)
@read_only
def mist(eye: tuple) -> np.ndarray:
    """3,000 large soft particles over the ground."""
    n = 3000
    r = procedural.random_numbers(44, 6 * n).reshape(n, 6).astype(np.float64)
    c, s = shapes.cos_sin(r[:, 0] * 2 * math.pi)
    far = 6.0 * np.sqrt(r[:, 1])
    y = 0.05 + 0.75 * r[:, 2] * r[:, 2]
    tone = 0.78 + 0.2 * r[:, 3]
    colors = np.stack([tone, tone * 0.96, tone * 1.02, 0.10 + 0.10 * r[:, 4]], 1)
    return gathered(np.stack([c * far, y, s * far], 1), 0.30 + 0.35 * r[:, 5], colors, r[:, 3] * 6.283, eye)


class Mist(Particles):
    name, description = "particles_soft", "mist among stones: 3,000 large particles that fade where they meet the depth of an earlier pass"
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        view = self.view(size, camera)
        color, depth = Target("r8g8b8a8_unorm", label="solid"), Target("d32_sfloat", label="depth")
        stones = Draw(
            program("particles_solid.vert", "particles_solid.frag"),
            cube().vertices,
            cube().indices,
            instances=28,
            bind={"View": view},
            push={"scene": np.array([1, 0, 0, 0], "f4")},
            state=State(cull="none"),
            label="stones",
        )
        first = Pass((Output(color, clear=(0.42, 0.50, 0.62, 1)),), Output(depth, clear=1.0), (stones,), label="solid")
        camera_z = np.array([camera.near, camera.far, 0.35, 0], "f4")
        soft = self.draw(
            {**view, "planes": camera_z},
            program("particles.vert", "particles.frag", SOFT=1),
            mist(tuple(camera.eye.tolist())),
            puff(),
            OVER,
            {"solid_depth": Sampled(depth, POINT)},
        )
        copy = full("copy.frag", "copy", {"source": Sampled(color)})
        return frame_of(self, size, samples, (copy, soft), depth_format=None, passes=(first,))


class Toy(Scene):
    """One fragment shader that makes the whole picture."""

    def __init__(self, name: str, description: str) -> None:
        self.name, self.description = name, description

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        push = {"toy": np.array([size[0], size[1], time, 0], "f4")}
        return frame_of(self, size, samples, (full(f"{self.name}.frag", self.name, push=push),), depth_format=None)


SCENES = [
    Campfire(),
    Galaxy(),
    Mist(),
    Toy("toy_ray_march", "columns and a sea of balls by ray marching: up to 80 steps with sin and mod, soft shadows"),
    Toy("toy_noise", "clouds at sunset: 28 octaves of value noise a pixel, warped by themselves"),
    Toy("toy_fractal", "the Mandelbrot set, up to 220 rounds, smoothly coloured"),
]
