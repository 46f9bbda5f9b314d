"""The scenes by which tilegpu is measured against other renderers; each stresses one thing.

They are those of the reference program ``vkpeer``, bit for bit: same vertices, textures, matrices, constants and order of draws.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from tilegpu.scene import Draw, Frame, Sampler, Scene, State, Texture, program
from tilegpu.scene.camera import OrbitCamera, identity, multiply, normalize, perspective, rotate_x, rotate_y, translate
from tilegpu.scene.mesh import columns, reference_texture_levels, sphere

F = np.float32
LIGHT = normalize([0.4, 0.6, 0.7])
TURN = multiply(rotate_x(0.5), rotate_y(0.3))


@functools.cache
def texture(mipmap_mode: str) -> Texture:
    levels = reference_texture_levels()
    return Texture(levels[0], mipmaps=levels[1:], sampler=Sampler(mipmap_mode=mipmap_mode), label="test texture")


def push(mvp=None, p0=(0, 0, 0, 0), p1=(0, 0, 0, 0), p2=(0, 0, 0, 0)) -> Mapping[str, np.ndarray]:
    """The push constant block that all these shaders share; unused members are zero. Nobody changes it: of ten thousand it would be looked
    at before each replay."""
    table = {"mvp": identity() if mvp is None else mvp}
    for name, value in ("p0", p0), ("p1", p1), ("p2", p2), ("p3", (0, 0, 0, 0)):
        table[name] = np.array(value, F)
    for array in table.values():
        array.setflags(write=False)
    return MappingProxyType(table)


class Reference(Scene):
    """A scene of the list: ``make(aspect, camera)`` returns its draws, the rest is how the pass is set up."""

    moves = False

    def __init__(self, name, description, make, *, size=(1920, 1080), samples=1, resolve="none", view=None,
                 colors=("r8g8b8a8_unorm",), store_depth=False):
        self.name, self.description, self.default_size, self.default_samples = name, description, size, samples
        self.fixed_samples = name.startswith(("msaa", "multisampling"))
        self._make: Callable = make
        self._resolve, self._view, self._colors, self._store_depth = resolve, view, colors, store_depth

    def camera(self) -> OrbitCamera | None:
        return OrbitCamera(**self._view) if self._view else None

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        resolve = "none" if samples == 1 else "pass" if self._resolve == "none" else self._resolve
        draws = tuple(self._make(F(size[0]) / F(size[1]), camera))
        return Frame(size, samples, self._colors, store_depth=self._store_depth, resolve=resolve, draws=draws, label=self.name)


def rectangle(x, y, w, h, z, color, state, label) -> Draw:
    return Draw(program("fill.vert", "fill.frag"), count=6, state=state, label=label,
                push=push(p0=(z, 0, 0, 0), p1=(x, y, w, h), p2=color))


def fill(kind: str, aspect, camera):
    state = State(depth_test=False, depth_write=False, blend="alpha") if kind == "blend" else State()
    for i in range(16):
        z = F(0.95) - F(0.05) * F(i) if kind == "back_to_front" else F(0.20) + F(0.05) * F(i)
        color = (F(i + 1) / F(16), F(1) - F(i) / F(16), 0.8 if i & 1 else 0.2, 0.25 if kind == "blend" else 1.0)
        yield rectangle(-1, -1, 2, 2, z, color, state, f"layer {i}")


def draws_10k(aspect, camera):
    state = State()
    for i in range(10000):
        x, y = F(i % 100), F(i // 100)
        color = (x / F(100), y / F(100), 0.5, 1)
        yield rectangle(F(-1) + F(0.02) * x, F(-1) + F(0.02) * y, 0.0125, 0.0148, 0.5, color, state, f"rectangle {i}")


def heavy_overdraw(aspect, camera):
    mesh, colours = columns()
    mvp = camera.view_projection(aspect) if camera else perspective(60, aspect, 0.1, 100)
    for k in range(100):
        yield Draw(program("heavy.vert", "heavy.frag"), mesh.vertices, mesh.indices, count=60, first=60 * k, label=f"column {k}",
                   push=push(mvp, p0=(*LIGHT, 0), p2=(*colours[k], 1)), bind={"tex": texture("nearest")})


def bumpy_sphere(shader, nu, nv, distance, colour, aspect, camera):
    """One sphere with bumps. The light is fixed to the viewer, so it turns against the model."""
    mesh = sphere(nu, nv, 0.05)
    model_view = camera.view() if camera else multiply(translate(0, 0, -distance), TURN)
    projection = camera.projection(aspect) if camera else perspective(45, aspect, 0.5, 10)
    turn = model_view[:3, :3]
    light = turn[0] * LIGHT[0] + turn[1] * LIGHT[1] + turn[2] * LIGHT[2]
    # The product in the reference's order: (projection * translation) * rotation.
    mvp = (multiply(projection, model_view) if camera else
           multiply(multiply(projection, translate(0, 0, -distance)), TURN))
    bind = {"uTex": texture("linear")} if shader == "multisampling" else {}
    yield Draw(program(f"{shader}.vert", f"{shader}.frag"), mesh.vertices, mesh.indices, state=State(cull="back"), bind=bind,
               push=push(mvp, p0=(*light, 0), p2=(*colour, 1)), label="bumpy sphere")


def sphere_grid(fragment, aspect, camera):
    """100 instances of a sphere of 2000 triangles; roughness grows to the right, metal upwards."""
    mesh = sphere(40, 25)
    mvp = (camera.view_projection(aspect) if camera else
           multiply(perspective(45, aspect, 1, 100), translate(0, 0, -12.3)))
    eye = camera.eye if camera else (0, 0, 12.3)
    p = program("grid.vert", fragment)
    bind = {"tex": texture("linear")} if "uniform sampler2D tex" in p.fragment else {}
    yield Draw(p, mesh.vertices, mesh.indices, instances=100, state=State(cull="back"), bind=bind,
               push=push(mvp, p0=(*eye, 0), p1=(*LIGHT, 0)), label="100 spheres")


def sphere_view(distance):
    return {"distance": distance, "yaw": -0.3, "pitch": 0.5, "fov_y": 45.0, "radius": 1.05, "near": 0.5, "far": 10}


def all_scenes():
    grid_view = {"distance": 12.3, "fov_y": 45.0, "radius": 6.4, "near": 1, "far": 100}
    yield Reference("clear", "colour and depth cleared and stored, no draw", lambda aspect, camera: (), store_depth=True)
    for kind, text in (("opaque_back_to_front", "every layer passes the depth test"),
                       ("opaque_front_to_back", "only the first layer passes"),
                       ("blend", "no depth test, alpha 0.25")):
        yield Reference(f"fill_{kind}", f"16 full-screen rectangles; {text}",
                        functools.partial(fill, kind.removeprefix("opaque_")))
    for suffix, size in (("512", (512, 512)), ("1080p", (1920, 1080))):
        yield Reference(f"heavy_overdraw_{suffix}", "100 textured columns of value noise, ten layers a pixel", heavy_overdraw,
                        size=size, view={"target": (0, 0, -9), "distance": 9, "fov_y": 60.0, "radius": 9, "near": 0.1, "far": 100})
    for name, nu, nv in (("mesh_1m", 1000, 500), ("mesh_100k", 320, 156)):
        make = functools.partial(bumpy_sphere, "mesh", nu, nv, 2.85, (0.9, 0.6, 0.3))
        yield Reference(name, f"{2 * nu * nv:,} small triangles in one draw", make, view=sphere_view(2.85))
    yield Reference("textured_pbr", "100 textured spheres, Cook-Torrance, two lights",
                    functools.partial(sphere_grid, "grid_pbr.frag"), view=grid_view)
    lambert = functools.partial(sphere_grid, "grid_lambert.frag")
    model = functools.partial(bumpy_sphere, "multisampling", 142, 71, 2.0, (0.9, 0.8, 0.7))
    for family, make, view in (("msaa", lambert, grid_view), ("multisampling", model, sphere_view(2.0))):
        what = "100 spheres, Lambert" if family == "msaa" else "one model that fills the view, two look-ups"
        yield Reference(f"{family}1", f"{what}; one sample", make, view=view)
        for n in (2, 4, 8, 16):
            yield Reference(f"{family}{n}_pass_resolve", f"{what}; {n} samples resolved in the tile", make, samples=n,
                            resolve="pass", view=view)
            yield Reference(f"{family}{n}_store_cmd_resolve", f"{what}; {n} samples stored, then resolved", make, samples=n,
                            resolve="store_cmd", view=view)
    yield Reference("gbuffer5", "100 spheres into five attachments, 28 bytes a pixel", functools.partial(sphere_grid, "gbuffer.frag"),
                    colors=("r8g8b8a8_unorm", "r16g16b16a16_sfloat", "r16g16b16a16_sfloat", "r8g8b8a8_unorm", "r8g8b8a8_unorm"),
                    view=grid_view)
    yield Reference("draws_10k", "10,000 draws of a rectangle of 12x8 pixels", draws_10k)


SCENES = list(all_scenes())
