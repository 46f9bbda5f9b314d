"""Scenes of several passes: a shadow map, a mirror, bloom, deferred shading that reads its g-buffer in the tile, and a frame of all of it.

Each is plain data: passes with targets, later passes sample or load what earlier ones stored. The pass that makes the picture is the last.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from tilegpu.math import inverse
from tilegpu.scene import (
    Blend,
    Draw,
    Frame,
    Output,
    Pass,
    Program,
    Sampled,
    Sampler,
    Scene,
    State,
    Target,
    frozen,
    program,
    shader_text,
    shapes,
)
from tilegpu.scene.camera import OrbitCamera, axes_against
from tilegpu.scene.mesh import Mesh

HDR = "r16g16b16a16_sfloat"
COMPARE = Sampler(address_u="clamp_to_edge", address_v="clamp_to_edge", compare="less_or_equal")
FULL = {"count": 3, "state": State(depth_test=False, depth_write=False)}
ADD = State(depth_test=False, depth_write=False, blend=Blend("one", "one", "add", "one", "one", "add"))
SHADOW_PX, GLOWS = 1024, 4


def look_from(direction: tuple[float, float, float], half: float, far: float) -> np.ndarray:
    """(4, 4): a light that shines parallel from a direction, onto a square of 2 ``half`` about the origin."""
    right, up, back = axes_against(direction)
    out = np.eye(4)
    out[:3, :3] = right / half, -up / half, -back / far
    out[2, 3] = 0.5
    return out.astype("f4")


@functools.cache
def meshes() -> dict[str, Mesh]:
    return frozen({
        "floor": shapes.disc(9.0, 1.0),
        "knot": shapes.torus_knot(2, 3, 1.0, 0.4, 0.24),
        "ball": shapes.ball(0.5, 40),
        "ring": shapes.ring(1.9, 0.09),
        "column": shapes.lathe([(0, 0), (0.42, 0), (0.42, 0.12), (0.30, 0.2), (0.26, 2.6), (0.36, 2.72), (0.36, 2.85), (0, 2.85)], 40),
    })


@functools.cache
def things() -> tuple[tuple[str, tuple, tuple, tuple], ...]:
    """(mesh, (x, y, z, scale), colour, (roughness, glow, turns with the time)); the floor first."""
    out: list[tuple[str, tuple, tuple, tuple]] = [("floor", (0, 0, 0, 1), (0.62, 0.60, 0.57), (0.9, 0.0, 0.0))]
    out.append(("knot", (0, 1.3, 0, 0.85), (0.93, 0.62, 0.30), (0.25, 0.0, 1.0)))
    out.append(("ring", (0, 1.3, 0, 1), (0.30, 0.75, 1.0), (0.4, 5.0, -1.0)))
    for i in range(8):
        turn = i * 2 * math.pi / 8 + 0.2
        at = (4.6 * math.cos(turn), 0, 4.6 * math.sin(turn), 1)
        out.append(("column", at, (0.78, 0.76, 0.72), (0.8, 0.0, 0.0)))
    for i in range(12):
        turn = i * 2 * math.pi / 12
        hue = [0.55 + 0.45 * math.cos(turn + k * 2.094) for k in range(3)]
        at = (2.9 * math.cos(turn), 0.42, 2.9 * math.sin(turn), 0.84)
        out.append(("ball", at, tuple(hue), (0.2, 4.0 if i % 3 == 0 else 0.0, 0.0)))
    return tuple(out)


class Passes(Scene):
    """What the scenes have in common."""

    default_size, default_samples = (960, 540), 1

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 0.9, 0), distance=9.4, yaw=0.93, pitch=0.36, fov_y=36.0, radius=9.0, near=0.5, far=30.0)

    def view(self, size: tuple[int, int], camera: OrbitCamera) -> dict:
        matrix = camera.view_projection(size[0] / size[1])
        to_light = np.array([0.55, 0.75, 0.36])
        return {"view_projection": matrix, "light": look_from(tuple(to_light), 6.5, 20.0),
                "inverse_view_projection": inverse(matrix),
                "eye": np.array([*camera.eye, 1], "f4"),
                "to_light": np.array([*(to_light / math.sqrt(float(to_light @ to_light))), 0], "f4")}

    def objects(self, what: Program, view: dict, time: float, state: State, bind: dict | None = None, floor: bool = True):
        for mesh, place, color, (roughness, glow, turns) in things()[0 if floor else 1:]:
            yield self.one(what, view, state, bind or {}, mesh, place, color, (roughness, glow, turns * time))

    def one(self, what: Program, view: dict, state: State, bind: dict, mesh: str, place: tuple, color: tuple, surface: tuple) -> Draw:
        push = {"place": np.array(place, "f4"), "color": np.array([*color, 1], "f4"), "surface": np.array([*surface, 0], "f4")}
        return Draw(what, meshes()[mesh].vertices, meshes()[mesh].indices, push=push, bind={"view": view, **bind}, state=state, label=mesh)

    def shadow_pass(self, view: dict, time: float) -> tuple[Pass, Target]:
        target = Target("d32_sfloat", (SHADOW_PX, SHADOW_PX), "shadow map")
        state = State(cull="none", depth_bias=(1.0, 1.5))
        draws = tuple(self.objects(program("passes_mesh.vert", "passes_depth.frag", LIGHT=1), view, time, state))
        return Pass(depth=Output(target, clear=1.0), draws=draws, label="shadow map"), target

    def glow_passes(self, hdr: Target, size: tuple[int, int]) -> tuple[list[Pass], Target]:
        """Bright parts at half the size, smaller and smaller, then up again, each added to the one above."""
        chain = [Target(HDR, (max(1, size[0] >> k), max(1, size[1] >> k)), f"glow 1/{1 << k}") for k in range(1, GLOWS + 1)]
        full, fill = "passes_full.vert", {"load": "dont_care"}

        def step(kind: str, source: Target, target: Target, state: State, **options) -> Pass:
            what, word = program(full, "passes_filter.frag", **{kind: 1}), kind.lower()
            draw = Draw(what, count=3, state=state, bind={"source": Sampled(source)}, label=word)
            return Pass((Output(target, **options),), draws=(draw,), label=f"{word} {target.label.removeprefix('glow ')}")

        plain = FULL["state"]
        passes = [step("BRIGHT", hdr, chain[0], plain, **fill)]
        passes += [step("DOWN", a, b, plain, **fill) for a, b in itertools.pairwise(chain)]
        passes += [step("UP", b, a, ADD, load="load") for a, b in reversed([*itertools.pairwise(chain)])]
        return passes, chain[0]

    def compose(self, hdr: Target, glow: Target | None) -> Draw:
        bind = {"source": Sampled(hdr), **({} if glow is None else {"glow": Sampled(glow)})}
        defines = {"COMPOSE": 1, **({} if glow is None else {"GLOW": 1})}
        return Draw(program("passes_full.vert", "passes_filter.frag", **defines), bind=bind, label="compose", **FULL)

    def deferred_pass(self, view: dict, time: float, samples: int, shadow: Target | None) -> tuple[Pass, Target]:
        """The g-buffer is written, read by the light's draw in the tile, and dropped: only the lit colour is stored."""
        albedo, normal = Target(label="albedo"), Target("a2b10g10r10_unorm_pack32", label="normal")
        depth, lit = Target("d32_sfloat", label="depth"), Target(HDR, label="lit")
        draws = [*self.objects(program("passes_mesh.vert", "passes_gbuffer.frag"), view, time, State(cull="back"))]
        defines = {**({"SHADOW": 1} if shadow else {}), **({"MULTISAMPLED": 1} if samples > 1 else {})}
        bind = {"view": view, "lamps": {"lamp": self.lamps(time)}, **({"shadow_map": Sampled(shadow, COMPARE)} if shadow else {})}
        draws.append(Draw(light_program(tuple(sorted(defines))), bind=bind, label="light", **FULL))
        gone = {"clear": (0.0, 0.0, 0.0, 0.0), "store": False}
        color = (Output(albedo, **gone), Output(normal, **gone), Output(lit, load="dont_care"))
        return Pass(color, Output(depth, clear=1.0, store=False), tuple(draws), samples, "g-buffer and light"), lit

    @staticmethod
    def lamps(time: float) -> list[dict]:
        out = []
        for i in range(16):
            angle, radius = i * 2.399963 + 0.4 * time, 5.0 * math.sqrt((i + 0.5) / 16)
            color = [1.1 * max(0.0, math.cos(i * 2.399963 + k * 2.094)) for k in range(3)]
            place = (radius * math.cos(angle), 0.5 + 0.9 * (i % 3) / 2, radius * math.sin(angle), 2.6)
            out.append({"place": place, "color": (*color, 1.0)})
        return out


@functools.cache
def light_program(defines: tuple[str, ...]) -> Program:
    text = shader_text("passes_light.frag", dict.fromkeys(defines, 1))
    return Program(shader_text("passes_full.vert"), text, f"light ({', '.join(defines)})", input_attachments=("color0", "color1", "depth"))


class ShadowMap(Passes):
    name, description = "shadow_map", "two passes: depth as the light sees it, then a picture that compares with it"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        first, target = self.shadow_pass(view, time)
        lit = program("passes_mesh.vert", "passes_lit.frag", SHADOW=1)
        draws = tuple(self.objects(lit, view, time, State(cull="back"), {"shadow_map": Sampled(target, COMPARE)}))
        return Frame(size, samples, ("r8g8b8a8_srgb",), ((0.10, 0.13, 0.20, 1),), resolve="pass" if samples > 1 else "none", draws=draws,
                     label="main", passes=(first,))


class Reflections(Passes):
    name, description = "reflections", "two passes: what the floor mirrors, then the picture with it"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        mirrored, depth = Target("r8g8b8a8_srgb", label="mirrored"), Target("d32_sfloat", label="mirror depth")
        below = program("passes_mesh.vert", "passes_lit.frag", MIRROR=1)
        state = State(cull="back", front_face="clockwise")  # a mirror turns the winding round
        first = Pass((Output(mirrored, clear=(0.10, 0.13, 0.20, 1)),), Output(depth, clear=1.0, store=False),
                     tuple(self.objects(below, view, time, state, floor=False)), samples, "mirror")
        draws = [*self.objects(program("passes_mesh.vert", "passes_lit.frag"), view, time, State(cull="back"), floor=False)]
        floor = program("passes_mesh.vert", "passes_lit.frag", REFLECTION=1)
        mesh, place, color, surface = things()[0]
        draws.append(self.one(floor, view, State(cull="back"), {"reflection": Sampled(mirrored)}, mesh, place, color, surface))
        return Frame(size, samples, ("r8g8b8a8_srgb",), ((0.10, 0.13, 0.20, 1),), resolve="pass" if samples > 1 else "none",
                     draws=tuple(draws), label="main", passes=(first,))


class Bloom(Passes):
    name, description = "bloom", "nine passes: a picture with high range, its bright parts smaller and smaller and up again, both together"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        hdr, depth = Target(HDR, label="high range"), Target("d32_sfloat", label="depth")
        lit = program("passes_mesh.vert", "passes_lit.frag")
        main = Pass((Output(hdr, clear=(0.02, 0.03, 0.06, 1)),), Output(depth, clear=1.0, store=False),
                    tuple(self.objects(lit, view, time, State(cull="back"))), samples, "main")
        glow, bright = self.glow_passes(hdr, size)
        return Frame(size, 1, ("r8g8b8a8_srgb",), depth_format=None, draws=(self.compose(hdr, bright),), label="compose",
                     passes=(main, *glow))


class Deferred(Passes):
    name, description = "deferred", "two passes: a g-buffer that is read in the tile and never leaves it, and the tone curve"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        first, lit = self.deferred_pass(self.view(size, camera or self.camera()), time, samples, None)
        return Frame(size, 1, ("r8g8b8a8_srgb",), depth_format=None, draws=(self.compose(lit, None),), label="compose", passes=(first,))


class WholeFrame(Passes):
    name = "mobile_frame"
    description = "a frame as games have it: shadow map, g-buffer read in the tile, bloom, user interface"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = self.view(size, camera or self.camera())
        shadow, shadow_map = self.shadow_pass(view, time)
        main, lit = self.deferred_pass(view, time, samples, shadow_map)
        glow, bright = self.glow_passes(lit, size)
        draws = (self.compose(lit, bright), self.interface(size))
        return Frame(size, 1, ("r8g8b8a8_srgb",), depth_format=None, draws=draws, label="compose and interface",
                     passes=(shadow, main, *glow))

    @staticmethod
    def interface(size: tuple[int, int]) -> Draw:
        """A bar below, a map in a corner, as rectangles over the picture."""
        unit = min(size) / 100
        w, h = size
        right, low = w / unit, h / unit
        dark = (0.02, 0.03, 0.05)
        rects = [((0, low - 14, right, 14), (*dark, 0.72)), ((right - 30, 3, 27, 27), (*dark, 0.6))]
        rects += [((right - 28 + 5 * k, 5 + 4 * (k % 3), 3, 3), (0.3, 0.8, 1.0, 0.9)) for k in range(5)]
        rects += [((4 + 11 * k, low - 11.5, 9, 9), (0.25 + 0.1 * k, 0.35, 0.55 - 0.06 * k, 0.85)) for k in range(6)]
        rects += [((right - 62, low - 9, 58, 4), (0.12, 0.12, 0.14, 0.9)), ((right - 61.5, low - 8.5, 41, 3), (0.85, 0.25, 0.2, 1.0))]
        vertices = np.zeros(6 * len(rects), [("position", "f4", 2), ("color", "f4", 4)])
        for k, ((x, y, width, height), color) in enumerate(rects):
            x, y, x2, y2 = x * unit, y * unit, (x + width) * unit, (y + height) * unit
            corners = [(x, y), (x, y2), (x2, y), (x2, y), (x, y2), (x2, y2)]
            vertices["position"][6 * k : 6 * k + 6], vertices["color"][6 * k : 6 * k + 6] = corners, color
        state = State(depth_test=False, depth_write=False, blend="alpha")
        push = {"size_px": np.array(size, "f4")}
        return Draw(program("passes_ui.vert", "passes_ui.frag"), vertices, push=push, state=state, label="interface")


SCENES = [ShadowMap(), Reflections(), Bloom(), Deferred(), WholeFrame()]
