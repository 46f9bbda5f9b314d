"""The demo: a small gallery. Metals, glazes, stone, a gem under glass, a polished floor with true reflections, soft shadows.

Everything is made by code: shapes (tilegpu.scene.shapes), textures (.procedural), shadows (.bake); the shader is demo.frag.
One render pass: the objects, their mirror images below the floor, the floor blended over them, and the glass; four samples,
resolved in the tile.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np

from tilegpu.scene import (
    Draw,
    Frame,
    Sampler,
    Scene,
    State,
    Texture,
    bake,
    frozen,
    mip_chain,
    procedural,
    program,
    shapes,
)
from tilegpu.scene.camera import OrbitCamera, multiply, rotate_x, rotate_y, transform, translate
from tilegpu.scene.mesh import Mesh

LIGHTS = ((-4.5, 7.0, 5.0), (6.0, 5.0, 4.0), (2.5, 6.5, -6.0))  # as in demo.frag


@dataclass(frozen=True, eq=False)
class Thing:
    """An object of the gallery: mesh, place, material. ``spin``: radians a second about its own y axis."""

    label: str
    mesh: Mesh
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    metallic: float = 0.0
    roughness: float = 0.5
    texture_scale: float = 1.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: float = 0.0
    tilt: float = 0.0
    instances: int = 1
    maps: dict = field(default_factory=dict)
    kind: str = ""  # "", "GLASS", "FLOOR" or "WALL"
    casts: bool = True

    def matrix(self, time: float) -> np.ndarray:
        return multiply(translate(*self.place), multiply(rotate_y(self.spin * time), rotate_x(self.tilt)))


def pedestal(height: float, radius: float, segments: int) -> Mesh:
    h, r = height, radius
    return shapes.lathe([(0, 0), (r * 1.18, 0), (r * 1.18, 0.09), (r * 1.08, 0.12), (r * 1.05, 0.16), (r, 0.19), (r, h - 0.16),
                         (r * 1.04, h - 0.13), (r * 1.10, h - 0.09), (r * 1.14, h - 0.07), (r * 1.14, h - 0.012),
                         (r * 1.12, h), (0, h)], segments)


def texture(pixels, srgb=True, **sampler) -> Texture:
    return Texture(pixels, "r8g8b8a8_srgb" if srgb else "r8g8b8a8_unorm", mip_chain(pixels, srgb), Sampler(**sampler))


@functools.cache
def gallery(detail: int = 4) -> tuple[Thing, ...]:
    """The things. ``detail`` scales the triangle counts; 1 is what casts the shadows."""
    d = detail
    stone, jade = texture(procedural.stone()), texture(procedural.jade())
    vase = shapes.lathe(shapes.curve([(0.0, 0.0), (0.17, 0.0), (0.19, 0.03), (0.30, 0.30), (0.335, 0.50), (0.26, 0.76), (0.115, 0.92),
                                      (0.10, 1.0), (0.15, 1.08), (0.135, 1.085), (0.085, 1.0), (0.08, 0.9)], 2 * d), 20 * d, 80)
    bowl = shapes.lathe(shapes.curve([(0.0, 0.0), (0.16, 0.0), (0.17, 0.03), (0.36, 0.17), (0.47, 0.36), (0.455, 0.375), (0.34, 0.19),
                                      (0.15, 0.06), (0.0, 0.05)], 2 * d), 20 * d, 80, uv_scale=(3, 2))
    column = shapes.lathe([(0, 0), (0.42, 0), (0.42, 0.18), (0.36, 0.24), (0.31, 0.3), (0.26, 4.4), (0.3, 4.5), (0.4, 4.62),
                           (0.4, 4.8), (0, 4.8)], 8 * d)
    dome = shapes.lathe(shapes.curve([(0.38, 0.0), (0.38, 0.35), (0.36, 0.58), (0.27, 0.76), (0.13, 0.85), (0.0, 0.875)], 2 * d),
                        20 * d, 80)
    plinth = shapes.lathe([(0, 0), (0.44, 0), (0.44, 0.035), (0.415, 0.06), (0, 0.06)], 20 * d)
    knob = shapes.ball(0.035, 6 * d)
    gold = {"color": (1.0, 0.71, 0.29), "metallic": 1.0}
    brass = {"color": (0.91, 0.68, 0.36), "metallic": 1.0, "roughness": 0.22}
    polished = {"maps": {"base_map": stone}, "roughness": 0.16, "texture_scale": 2.0}
    return frozen((
        Thing("middle pedestal", pedestal(0.80, 0.50, 20 * d), **polished),
        Thing("left pedestal", pedestal(0.72, 0.44, 20 * d), (-2.05, 0, -0.25), **polished),
        Thing("right pedestal", pedestal(0.72, 0.44, 20 * d), (2.05, 0, -0.25), **polished),
        Thing("knot", shapes.torus_knot(2, 3, 0.40, 0.17, 0.105, 70 * d, 7 * d), (0, 1.42, 0), **gold, roughness=0.17, spin=0.5, tilt=1.2),
        Thing("vase", vase, (-2.05, 0.72, -0.25), maps={"base_map": texture(procedural.ceramic())}, roughness=0.10, texture_scale=1.0),
        Thing("plinth", plinth, (2.05, 0.72, -0.25), **brass),
        Thing("gem", shapes.gem(0.21, 0.36), (2.05, 1.22, -0.25), (0.85, 0.05, 0.10), roughness=0.05, emission=(0.10, 0.003, 0.008),
              spin=0.8, tilt=0.25),
        Thing("inner ring", shapes.ring(0.27, 0.012, 20 * d, 3 * d), (2.05, 1.20, -0.25), **brass, spin=0.9, tilt=1.35),
        Thing("outer ring", shapes.ring(0.315, 0.010, 20 * d, 3 * d), (2.05, 1.20, -0.25), **brass, spin=-0.6, tilt=0.95),
        Thing("knob", knob, (2.05, 1.68, -0.25), **brass),
        Thing("bowl", bowl, (1.02, 0, 1.25), (0.95, 0.50, 0.33), 1.0, 0.28, maps={"normal_map": texture(procedural.hammered(), False)}),
        Thing("jade ball", shapes.ball(0.34, 20 * d), (-1.05, 0.34, 1.20), maps={"base_map": jade}, roughness=0.08),
        Thing("silver ball", shapes.ball(0.17, 16 * d), (-0.42, 0.17, 1.72), (0.95, 0.94, 0.92), 1.0, 0.06),
        Thing("coral ball", shapes.ball(0.12, 12 * d), (0.22, 0.12, 1.85), (0.80, 0.16, 0.07), 0.0, 0.3),
        Thing("columns", column, (0, 0, 7.0), (0.55, 0.52, 0.48), 0.0, 0.6, instances=22, casts=False),
        Thing("wall", shapes.lathe([(9.0, 7.5), (9.0, 0.0)], 88), color=(0.30, 0.26, 0.23), roughness=0.85, kind="WALL", casts=False),
        Thing("floor", shapes.disc(9.0, 2.4), maps={"base_map": texture(procedural.marble_floor())}, roughness=0.12, kind="FLOOR",
              casts=False),
        Thing("glass dome", dome, (2.05, 0.78, -0.25), roughness=0.03, kind="GLASS", casts=False),
    ))


@functools.cache
def floor_light() -> dict:
    """What the floor binds: its map of shadows, and where that lies."""
    casters = np.concatenate([
        (transform(t.matrix(0)[:3, :3], t.mesh.vertices["position"]) + np.array(t.place, "f4"))[t.mesh.indices].reshape(-1, 3, 3)
        for t in gallery(1) if t.casts])
    lights = [*(bake.light_points(p, 0.45, 10) for p in LIGHTS), bake.dome_points(28)]
    image = bake.blur(bake.plane_visibility(casters, 0.0, 4.5, 512, lights, (0.0, 0.0)), 2)
    area = {"area": np.array([0, 0, 1 / 9, 0], "f4")}
    return frozen({"light_map": texture(image, False, address_u="clamp_to_edge", address_v="clamp_to_edge"), "area": area})


class Demo(Scene):
    name, description = "demo", "a gallery: metals, glazes, stone, glass, a mirror floor, soft shadows"
    default_size, default_samples = (1280, 720), 4

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0.0, 0.86, 0.15), distance=6.3, yaw=0.10, pitch=0.17, fov_y=31.0, radius=9.0, near=0.4, far=30.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        view = {"view_projection": camera.view_projection(size[0] / size[1]), "eye": np.array([*camera.eye, 0.85], "f4")}
        solid = [t for t in gallery() if not t.kind or t.kind == "WALL"]
        floor, glass = ([t for t in gallery() if t.kind == kind] for kind in ("FLOOR", "GLASS"))
        order = [(t, 1) for t in solid] + [(t, -1) for t in solid + glass] + [(t, 1) for t in floor + glass]
        draws = [draw for thing, side in order for draw in self.draws(thing, side, view, time)]
        return Frame(size, samples, ("r8g8b8a8_srgb",), ((0.004, 0.004, 0.005, 1),), resolve="pass" if samples > 1 else "none",
                     draws=tuple(draws), label=self.name)

    def draws(self, thing: Thing, side: int, view: dict, time: float):
        bind, defines = {"view": view, **thing.maps}, {name.upper(): 1 for name in thing.maps}
        if thing.kind == "FLOOR":
            bind, defines = bind | floor_light(), defines | {"LIGHT_MAP": 1}
        if thing.kind:
            defines[thing.kind] = 1
        push = {"model": thing.matrix(time), "color": np.array([*thing.color, 1], "f4"),
                "surface": np.array([thing.metallic, thing.roughness, side, thing.texture_scale], "f4"),
                "special": np.array([*thing.emission, 2 * math.pi / thing.instances], "f4")}
        transparent = thing.kind in ("GLASS", "FLOOR")
        front_face = "counter_clockwise" if side > 0 else "clockwise"  # a mirror turns the winding round
        for cull in ("front", "back") if thing.kind == "GLASS" else ("back",):
            state = State(cull=cull, front_face=front_face, blend="alpha" if transparent else None, depth_write=not transparent)
            yield Draw(program("demo.vert", "demo.frag", **defines), thing.mesh.vertices, thing.mesh.indices, instances=thing.instances,
                       push=push, bind=bind, state=state, label=thing.label + (" (reflection)" if side < 0 else ""))


SCENES = [Demo()]
