"""The first triangle and a textured cube: the two smallest scenes."""

from __future__ import annotations

import functools

import numpy as np

from tilegpu.scene import Draw, Frame, Scene, State, Texture
from tilegpu.scene.camera import OrbitCamera, rotate_y
from tilegpu.scene.mesh import box
from tilegpu.scene.mipmaps import mip_chain
from tilegpu.scene.resources import program


class Triangle(Scene):
    """The triangle of the README."""

    name, description = "triangle", "the first triangle: three vertices, three colours"
    default_size, default_samples = (512, 512), 4

    vertices = np.array([((0, -0.5), (1, 0, 0)), ((0.5, 0.5), (0, 1, 0)), ((-0.5, 0.5), (0, 0, 1))],
                        dtype=[("position", "f4", 2), ("color", "f4", 3)])

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples)
        draw = Draw(program("triangle.vert", "triangle.frag"), self.vertices, label="triangle",
                    state=State(depth_test=False, depth_write=False))
        return Frame(size, samples, ("r8g8b8a8_srgb",), ((0, 0, 0, 1),), depth_format=None,
                     resolve="pass" if samples > 1 else "none", draws=(draw,), label=self.name)


@functools.cache
def crate() -> Texture:
    """256x256 sRGB: a wooden crate of planks with a frame and a diagonal brace."""
    y, x = np.mgrid[0:256, 0:256]
    grain = 0.5 + 0.25 * np.sin(x * 0.9 + 3 * np.sin(y * 0.05)) + 0.25 * np.sin(x * 0.31 + 5 * np.sin(y * 0.021))
    brightness = 0.72 + 0.2 * grain - 0.35 * (x % 43 < 2)
    border = np.minimum(np.minimum(x, 255 - x), np.minimum(y, 255 - y))
    frame = (border < 34) | (np.abs(x - y) < 24)
    brightness = np.where(frame, 0.92 + 0.12 * grain, brightness) - 0.45 * (np.abs(border - 34) < 2)
    brightness -= 0.45 * ((np.abs(np.abs(x - y) - 24) < 2) & (border >= 34))
    rgb = np.clip(brightness[..., None] * np.array([196, 140, 84]), 0, 255)
    pixels = np.dstack([rgb, np.full((256, 256), 255)]).astype(np.uint8)
    return Texture(pixels, "r8g8b8a8_srgb", mip_chain(pixels, True), label="crate")


class Cube(Scene):
    """A textured cube that turns with the time."""

    name, description = "cube", "a textured, mipmapped cube"
    default_size, default_samples = (512, 512), 4
    mesh = box()

    def camera(self) -> OrbitCamera:
        return OrbitCamera(distance=3.0, yaw=0.6, pitch=0.45, fov_y=35.0, radius=0.9)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples)
        camera = camera or self.camera()
        push = {"view_projection": camera.view_projection(size[0] / size[1]), "model": rotate_y(time)}
        draw = Draw(program("cube.vert", "cube.frag"), self.mesh.vertices, self.mesh.indices, push=push,
                    bind={"albedo": crate()}, state=State(cull="back"), label="cube")
        return Frame(size, samples, ("r8g8b8a8_srgb",), ((0.02, 0.025, 0.035, 1),),
                     resolve="pass" if samples > 1 else "none", draws=(draw,), label=self.name)


SCENES = [Triangle(), Cube()]
