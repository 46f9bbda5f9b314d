"""Everyday work outdoors: foliage by alpha test and by alpha to coverage, an instanced forest, layered terrain, a skinned crowd."""

from __future__ import annotations

import functools
import math

import numpy as np
from tilegpu._samples._everyday import BACKGROUND, SRGB, frame_of, read_only, texture

from tilegpu.scene import CLAMPED, Draw, Frame, Scene, State, Texture, procedural, program, shapes
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.mesh import grid_indices, quad_indices

VERTEX = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("uv", "<f4", 2)])
SUN = np.array([0.48, 0.72, 0.50, 0], "f4")


def view_of(size, camera) -> dict:
    """The uniform block ``View`` that the shaders of these scenes share."""
    ways = camera.corner_directions(size[0] / size[1]).astype("f4")
    return {
        "view_projection": camera.view_projection(size[0] / size[1]),
        "eye": np.array([*camera.eye, 1], "f4"),
        "sun": SUN,
        "way": [(*way.tolist(), 0.0) for way in ways],
    }


def sky(view) -> Draw:
    return Draw(program("outdoors_sky.vert", "outdoors_sky.frag"), count=3, bind={"View": view}, state=BACKGROUND, label="sky")


def outdoors(scene: Scene, size, samples, draws) -> Frame:
    return frame_of(scene, size, samples, draws, color_formats=SRGB, clear_colors=((0.5, 0.6, 0.75, 1),))


def mesh_vertices(position, normal, uv) -> np.ndarray:
    out = np.zeros(position.reshape(-1, 3).shape[0], VERTEX)
    out["position"], out["normal"], out["uv"] = position.reshape(-1, 3), normal.reshape(-1, 3), uv.reshape(-1, 2)
    return out


def height_field(n: int, half: float, height: np.ndarray, tile: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and indices of n x n quads of (n + 1, n + 1) heights over a square of 2 ``half``."""
    y, x = np.mgrid[0 : n + 1, 0 : n + 1].astype(np.float64)
    step = 2 * half / n
    px, pz = x * step - half, y * step - half
    padded = np.pad(height, 1, mode="edge")
    dx, dz = (padded[1:-1, 2:] - padded[1:-1, :-2]) / (2 * step), (padded[2:, 1:-1] - padded[:-2, 1:-1]) / (2 * step)
    normal = np.stack([-dx, np.ones_like(dx), -dz], -1)
    normal /= np.sqrt((normal * normal).sum(-1, keepdims=True))
    vertices = mesh_vertices(np.stack([px, height, pz], -1), normal, np.stack([px, pz], -1) / tile)
    return vertices, grid_indices(n, n).reshape(-1, 3)[:, [0, 2, 1]].reshape(-1).copy()


def field(n: int, cells: int, octaves: int, seed: int) -> np.ndarray:
    """(n + 1, n + 1) noise, periodic."""
    noise = procedural.fractal_noise(n, cells, octaves, seed).astype(np.float64)
    return np.pad(noise, ((0, 1), (0, 1)), mode="wrap")


# ------------------------------------------------------------------------------------------------------------------ foliage
@functools.cache
@read_only
def leaf_texture() -> Texture:
    """A twig of pointed leaves, 256x256 with alpha."""
    n = 256
    y, x = (np.mgrid[0:n, 0:n] + 0.5) / n * 2 - 1
    color, alpha = np.full((n, n, 3), (0.10, 0.22, 0.04)), np.zeros((n, n))
    stem = np.abs(x - 0.10 * y * y) < 0.018
    color[stem & (y > -0.75)], alpha[stem & (y > -0.75)] = (0.16, 0.10, 0.05), 1.0
    r = procedural.random_numbers(31, 26 * 4).reshape(26, 4).tolist()
    cosines, sines = shapes.cos_sin(
        np.array([(-1.05 if k & 1 else 1.05) * (1.15 - 0.5 * k / 26) + 0.3 * (r[k][0] - 0.5) for k in range(26)])
    )
    for k in range(26):
        base_y = 0.9 - 1.62 * k / 25
        base_x, length = 0.10 * base_y * base_y, 0.50 + 0.22 * r[k][1] - 0.2 * k / 26
        u = ((x - base_x) * sines[k] - (y - base_y) * cosines[k]) / length
        v = ((x - base_x) * cosines[k] + (y - base_y) * sines[k]) / length
        shape = 0.42 * u * (1 - u) * (1.35 - 0.5 * u) * 2.0 - np.abs(v) * 1.25
        inside = (u > 0) & (u < 1) & (shape > 0)
        vein = np.clip(1 - np.minimum(np.abs(v) * 40, np.abs((u * 7 - np.abs(v) * 8) % 1 - 0.5) * 9 + 0.45), 0, 1)
        tone = np.array((0.10 + 0.10 * r[k][2], 0.27 + 0.12 * r[k][3], 0.035))
        paint = tone * (0.75 + 0.5 * np.clip(u, 0, 1) + 0.25 * (v > 0))[..., None] * (1 - 0.4 * vein[..., None])
        color[inside], alpha[inside] = paint[inside], 1.0
    pixels = procedural.to_srgb8(color)
    pixels[..., 3] = (alpha * 255).astype(np.uint8)
    return texture(pixels, "leaves", sampler=CLAMPED)


@functools.cache
@read_only
def grass_texture() -> Texture:
    """Blades of grass, 128x128 with alpha."""
    n = 128
    y, x = (np.mgrid[0:n, 0:n] + 0.5) / n
    color, alpha = np.full((n, n, 3), (0.12, 0.25, 0.03)), np.zeros((n, n))
    for bx, lean, high, tone in procedural.random_numbers(67, 22 * 4).reshape(22, 4).tolist():
        up = 1 - y
        top = 0.55 + 0.43 * high
        middle = 0.08 + 0.84 * bx + (lean - 0.5) * 0.55 * up * up
        inside = (np.abs(x - middle) < 0.026 * (1 - up / top)) & (up < top)
        color[inside] = (np.array((0.13 + 0.16 * tone, 0.30 + 0.15 * tone, 0.04)) * (0.45 + 0.75 * up)[..., None])[inside]
        alpha[inside] = 1.0
    pixels = procedural.to_srgb8(color)
    pixels[..., 3] = (alpha * 255).astype(np.uint8)
    return texture(pixels, "grass", sampler=CLAMPED)


def cards(places, outward, size, seed, upright=False) -> np.ndarray:
    """Four vertices for each place: a square that faces about ``outward``, with that as its normal."""
    n = len(places)
    r = procedural.random_numbers(seed, 3 * n).reshape(n, 3).astype(np.float64)
    across_c, across_s = shapes.cos_sin(r[:, 0] * 2 * math.pi)
    if upright:
        right, up = (
            np.stack([across_c, 0 * across_c, across_s], 1),
            np.stack([0.25 * (r[:, 1] - 0.5), 1 + 0 * across_c, 0.25 * (r[:, 2] - 0.5)], 1),
        )
    else:
        tilt = np.stack([across_c, r[:, 1] - 0.5, across_s], 1)
        right = np.cross(outward, tilt)
        right /= np.sqrt((right * right).sum(1, keepdims=True))
        up = np.cross(right, outward) + 0.35 * (r - 0.5)
    corners = [places + size * (right * (k % 2 * 2 - 1) + up * (1 - k // 2 * 2)) for k in range(4)]
    if upright:
        corners = [corner + size * up for corner in corners]
    uv = np.broadcast_to(np.array([(k % 2, k // 2) for k in range(4)], "f8"), (n, 4, 2))
    normal = np.repeat(outward[:, None], 4, 1)
    return mesh_vertices(np.stack(corners, 1), normal, uv)


def ball_of(seed: int, count: int) -> np.ndarray:
    """(count, 3) places in a ball of radius 1, more of them outside."""
    r = procedural.random_numbers(seed, 3 * count).reshape(count, 3).astype(np.float64)
    y = r[:, 0] * 2 - 1
    c, s = shapes.cos_sin(r[:, 1] * 2 * math.pi)
    around = np.sqrt(1 - y * y)
    return np.stack([around * c, y, around * s], 1) * (0.55 + 0.45 * np.sqrt(r[:, 2]))[:, None]


@functools.cache
@read_only
def garden() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Vertices and indices: ground, stems, leaves, grass."""
    leaves, stems = [], []
    bushes = [
        (-3.4, 0.55, 0.4, 1.0),
        (-1.9, 0.45, 1.6, 0.8),
        (3.1, 0.6, 0.9, 1.05),
        (1.7, 0.4, 2.0, 0.7),
        (-4.6, 0.7, -1.6, 1.2),
        (4.7, 0.7, -1.4, 1.2),
    ]
    trees = [(-1.6, 3.1, -2.4, 1.75), (1.9, 3.4, -3.2, 1.95), (-4.6, 3.6, -5.2, 2.1), (5.2, 3.7, -5.6, 2.2), (0.2, 3.9, -8.0, 2.4)]
    for k, (x, y, z, radius) in enumerate(bushes + trees):
        tree = k >= len(bushes)
        for part in range(5 if tree else 2):
            at = np.array([x, y, z])
            if part:
                c, s = math.cos(part * 2.4 + k), math.sin(part * 2.4 + k)
                at = at + np.array([c * 0.62, 0.16 * (part % 3 - 1), s * 0.62]) * radius
            inside = ball_of(10 * k + part, 270 if tree else 330)
            out = inside / np.sqrt((inside * inside).sum(1, keepdims=True))
            scale = radius * (0.72 if part else 0.85)
            leaves.append(cards(at + inside * scale * (1, 0.8, 1), out, 0.30 if tree else 0.24, 500 + 10 * k + part))
        if tree:
            stem = shapes.lathe([(0.0, 0.0), (0.30, 0.0), (0.2, 0.25), (0.15, y * 0.6), (0.08, y), (0, y)], 20)
            vertices = mesh_vertices(stem.vertices["position"] + np.array([x, 0, z], "f4"), stem.vertices["normal"], stem.vertices["uv"])
            stems.append((vertices, stem.indices))
    where = procedural.random_numbers(8, 2 * 5200).reshape(-1, 2).astype(np.float64) * (15, 13) - (7.5, 9.0)
    places = np.stack([where[:, 0], 0 * where[:, 0], where[:, 1]], 1)
    grass = cards(places, np.broadcast_to(np.array([0.0, 1.0, 0.0]), places.shape), 0.17, 9, upright=True)
    first = np.cumsum([0, *(len(v) for v, _ in stems)])
    trunks = np.concatenate([v for v, _ in stems]), np.concatenate([i + np.uint32(f) for (_, i), f in zip(stems, first, strict=False)])
    all_leaves = np.concatenate(leaves)
    n = 8
    ground = height_field(n, 16.0, np.zeros((n + 1, n + 1)), 2.0)
    return {
        "ground": ground,
        "stems": trunks,
        "leaves": (all_leaves, quad_indices(len(all_leaves) // 4, turned=True)),
        "grass": (grass, quad_indices(len(grass) // 4, turned=True)),
    }


@functools.cache
@read_only
def ground_texture(label: str) -> Texture:
    """256x256 sRGB: grass, rock, sand, snow, bark."""
    n = 256
    fine, coarse = procedural.fractal_noise(n, 32, 4, 3), procedural.fractal_noise(n, 4, 6, 19)
    if label == "grass":
        image = procedural.mix((0.035, 0.085, 0.012), (0.17, 0.25, 0.045), fine * 0.65 + coarse * 0.35)
    elif label == "rock":
        cracks = procedural.smooth(0.0, 0.14, np.abs(procedural.fractal_noise(n, 8, 5, 41) - 0.5))
        image = procedural.mix((0.10, 0.085, 0.07), (0.34, 0.31, 0.28), coarse) * (0.45 + 0.55 * cracks[..., None])
    elif label == "sand":
        x = np.mgrid[0:n, 0:n][1] / n
        ripple = np.abs(((x * 12 + 1.5 * coarse) % 1) * 2 - 1).astype("f4")
        image = procedural.mix((0.42, 0.33, 0.19), (0.66, 0.55, 0.36), ripple * 0.5 + fine * 0.5)
    elif label == "snow":
        image = procedural.mix((0.70, 0.76, 0.86), (0.95, 0.96, 0.98), fine)
    else:
        x = np.mgrid[0:n, 0:n][1] / n
        ridge = np.abs(((x * 10 + 1.8 * coarse) % 1) * 2 - 1).astype("f4")
        image = procedural.mix((0.05, 0.032, 0.02), (0.22, 0.15, 0.09), ridge * 0.6 + fine * 0.4)
    return texture(procedural.to_srgb8(image), label)


class Foliage(Scene):
    """``kind``: "" (alpha test), or "COVERAGE": alpha to coverage."""

    def __init__(self, name: str, description: str, samples: int, kind: str = "") -> None:
        self.name, self.description, self.default_samples, self.kind = name, description, samples, kind
        self.fixed_samples = samples > 1

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 1.75, -2), distance=8.6, yaw=0.08, pitch=0.10, fov_y=42.0, radius=8.0, near=0.3, far=60.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = view_of(size, camera or self.camera())
        draws = [sky(view)]
        for name, map_name in (("ground", "grass"), ("stems", "bark")):
            draws.append(
                Draw(
                    program("outdoors.vert", "outdoors.frag"),
                    *garden()[name],
                    bind={"View": view, "map": ground_texture(map_name)},
                    label=name,
                )
            )
        state = State(alpha_to_coverage=bool(self.kind))
        what = program("foliage.vert", "foliage.frag", **({self.kind: 1} if self.kind else {}))
        for name, map_ in (("leaves", leaf_texture()), ("grass", grass_texture())):
            draws.append(
                Draw(
                    what,
                    *garden()[name],
                    bind={"View": view, "map": map_},
                    push={"wind": np.array([time, 0, 0, 0], "f4")},
                    state=state,
                    label=name,
                )
            )
        return outdoors(self, size, samples, draws)


# ------------------------------------------------------------------------------------------------------- forest and terrain
@functools.cache
@read_only
def conifer() -> tuple[np.ndarray, np.ndarray]:
    """A tree of 124 triangles: whorls of drooping branches and a stem; uv.y < 0: the stem."""
    parts, indices, first = [], [], 0
    for k in range(7):
        low, high, wide = 0.14 + 0.125 * k, 0.14 + 0.125 * k + 0.26, 0.34 * (1 - k / 7.6)
        turn = np.arange(16) * (2 * math.pi / 16) + k
        c, s = shapes.cos_sin(turn)
        reach = wide * np.where(np.arange(16) % 2, 0.62, 1.0)
        rim = np.stack([c * reach, low - 0.06 * (np.arange(16) % 2 == 0), s * reach], 1)
        tip = np.array([[0.0, high, 0.0]])
        normal = np.stack([c, 0.45 + 0 * c, s], 1)
        parts.append(
            mesh_vertices(
                np.vstack([rim, tip]), np.vstack([normal, [[0, 1, 0]]]) / 1.1, np.vstack([np.stack([reach, 0 * c + k / 7], 1), [[0, 1]]])
            )
        )
        j = np.arange(16)
        indices.append(first + np.stack([j, 0 * j + 16, (j + 1) % 16], 1))
        first += 17
    stem = shapes.lathe([(0.035, -0.1), (0.022, 0.5)], 6)
    uv = np.zeros((len(stem.vertices), 2)) - 1
    parts.append(mesh_vertices(stem.vertices["position"], stem.vertices["normal"], uv))
    indices.append(first + stem.indices.reshape(-1, 3).astype(np.int64))
    return np.concatenate(parts), np.vstack(indices).astype(np.uint32).reshape(-1)


HILLS, HILLS_HALF = 128, 40.0


@functools.cache
@read_only
def hills() -> np.ndarray:
    return 7.0 * field(HILLS, 2, 6, 71) - 3.0


@functools.cache
@read_only
def woods() -> np.ndarray:
    """(3000, 4) float32: x, y, z, height; the shader turns each by its number."""
    r = procedural.random_numbers(90, 3 * 3000).reshape(-1, 3).astype(np.float64)
    x, z = (r[:, 0] * 2 - 1) * 36, (r[:, 1] * 2 - 1) * 36
    step = 2 * HILLS_HALF / HILLS
    column, row = ((x + HILLS_HALF) / step).astype(int), ((z + HILLS_HALF) / step).astype(int)
    return np.stack([x, hills()[row, column] - 0.1, z, 1.5 + 1.9 * r[:, 2]], 1).astype("f4")


class Forest(Scene):
    name, description = "forest", "3,000 conifers of 124 triangles in one draw, on hills; 404,768 triangles, with haze"
    moves = False

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 1.5, 4), distance=25.0, yaw=0.6, pitch=0.22, fov_y=42.0, radius=30.0, near=0.5, far=120.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = view_of(size, camera or self.camera())
        ground = Draw(
            program("outdoors.vert", "outdoors.frag", HAZE=1),
            *height(),
            bind={"View": view, "map": ground_texture("grass")},
            label="hills",
            state=State(cull="back"),
        )
        trees = Draw(
            program("forest.vert", "forest.frag"), *conifer(), instances=len(woods()), bind={"View": view, "Woods": woods()}, label="trees"
        )
        return outdoors(self, size, samples, (sky(view), ground, trees))


@functools.cache
@read_only
def height() -> tuple[np.ndarray, np.ndarray]:
    return height_field(HILLS, HILLS_HALF, hills(), 2.5)


@functools.cache
@read_only
def mountains() -> tuple[np.ndarray, np.ndarray]:
    """512x512 quads: ridges, and a plain of sand before them."""
    ridge = 1 - np.abs(2 * field(512, 4, 7, 203) - 1)
    base = field(512, 2, 4, 99)
    high = 11.0 * ridge * ridge * np.clip(base * 1.7 - 0.35, 0, 1) + 2.2 * base
    return height_field(512, 30.0, high - 1.5, 1.2)


class Terrain(Scene):
    name, description = "terrain", "524,288 triangles of mountains, four trilinear sRGB layers by height and slope"
    moves = False

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 2.2, 2), distance=26.0, yaw=-0.45, pitch=0.27, fov_y=42.0, radius=25.0, near=0.5, far=120.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = view_of(size, camera or self.camera())
        layers = {name: ground_texture(name) for name in ("grass", "rock", "sand", "snow")}
        draw = Draw(
            program("outdoors.vert", "terrain.frag"), *mountains(), bind={"View": view, **layers}, state=State(cull="back"), label="terrain"
        )
        return outdoors(self, size, samples, (sky(view), draw))


# -------------------------------------------------------------------------------------------------------------------- crowd
BONES = 10  # hips, chest, head, arms (2), lower arms (2), legs as one bone each (2), unused
SKINNED = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("bone", "u1", 4), ("weight", "<f4", 2), ("part", "<f4")])


@functools.cache
@read_only
def person() -> tuple[np.ndarray, np.ndarray]:
    """A figure of 1,838 triangles with two weights a vertex, feet at y = 0, 1.8 high."""
    out, indices, first = [], [], 0

    def limb(profile, at, bones, joint, blend, part, squash=1.0, segments=10) -> None:
        nonlocal first
        mesh = shapes.lathe(shapes.curve(profile, 2), segments, 80)
        vertices = np.zeros(len(mesh.vertices), SKINNED)
        position = mesh.vertices["position"] * np.array([1, 1, squash], "f4") + np.array(at, "f4")
        vertices["position"], vertices["normal"], vertices["part"] = position, mesh.vertices["normal"], part
        upper = np.clip((position[:, 1] - joint) / blend + 0.5, 0, 1)
        vertices["bone"][:, 0], vertices["bone"][:, 1] = bones
        vertices["weight"][:, 0], vertices["weight"][:, 1] = upper, 1 - upper
        out.append(vertices)
        indices.append(mesh.indices + np.uint32(first))
        first += len(vertices)

    for k, side in enumerate((-1, 1)):
        limb(
            [(0, 0), (0.07, 0.0), (0.055, 0.12), (0.075, 0.42), (0.095, 0.75), (0.08, 0.92), (0, 0.94)],
            (0.10 * side, 0, 0),
            (7 + k, 7 + k),
            0.5,
            0.2,
            1,
        )
        limb(
            [(0, 0.78), (0.045, 0.79), (0.04, 0.95), (0.05, 1.15), (0.06, 1.38), (0, 1.46)],
            (0.235 * side, 0, 0),
            (3 + k, 5 + k),
            1.12,
            0.12,
            0,
        )
        limb([(0, 0.70), (0.035, 0.72), (0.045, 0.78), (0, 0.83)], (0.235 * side, 0, 0), (5 + k, 5 + k), 1.0, 0.1, 2, segments=8)
    limb(
        [(0, 0.86), (0.15, 0.88), (0.16, 1.0), (0.17, 1.2), (0.2, 1.38), (0.12, 1.47), (0.06, 1.5), (0, 1.5)],
        (0, 0, 0),
        (1, 0),
        1.02,
        0.2,
        0,
        0.62,
        16,
    )
    limb(
        [(0, 1.46), (0.05, 1.47), (0.055, 1.54), (0.095, 1.6), (0.11, 1.69), (0.09, 1.79), (0, 1.83)],
        (0, 0, 0),
        (2, 1),
        1.52,
        0.05,
        2,
        0.95,
        14,
    )
    limb([(0.117, 1.68), (0.12, 1.72), (0.1, 1.81), (0, 1.85)], (0, 0, -0.012), (2, 2), 1.5, 0.1, 3, 0.97, 14)
    return np.concatenate(out), np.concatenate(indices)


def turned_about(joint, angle_x: np.ndarray, angle_z=0.0) -> np.ndarray:
    """(n, 3, 4) float64: turns by angles about the x axis through a joint, and a little about z."""
    c, s = shapes.cos_sin(angle_x)
    cz, sz = math.cos(angle_z), math.sin(angle_z)
    out = np.zeros((len(angle_x), 3, 4))
    out[:, 0, 0], out[:, 0, 1] = cz, -sz
    out[:, 1, 0], out[:, 1, 1], out[:, 1, 2] = c * sz, c * cz, -s
    out[:, 2, 0], out[:, 2, 1], out[:, 2, 2] = s * sz, s * cz, c
    for row in range(3):
        out[:, row, 3] = joint[row] - (out[:, row, 0] * joint[0] + out[:, row, 1] * joint[1] + out[:, row, 2] * joint[2])
    return out


def after(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, 3, 4): first ``b``, then ``a``."""
    out = a[:, :, 0:1] * b[:, 0:1, :] + a[:, :, 1:2] * b[:, 1:2, :] + a[:, :, 2:3] * b[:, 2:3, :]
    out[:, :, 3] += a[:, :, 3]
    return out


@functools.lru_cache(2)
@read_only
def crowd(time: float) -> dict[str, np.ndarray]:
    """``Bones``: (n * BONES * 3, 4) rows of matrices, and ``People``: (n, 8) place, turn, colours."""
    n = 520
    r = procedural.random_numbers(11, 8 * n).reshape(n, 8).astype(np.float64)
    phase = r[:, 0] * 2 * math.pi + 5.0 * time
    swing = shapes.cos_sin(phase)[1]
    cheer = r[:, 5] > 0.62
    lift = shapes.cos_sin(phase * 1.3)[1]
    chest = turned_about((0, 1.0, 0), 0.10 * lift)
    bones = np.zeros((n, BONES, 3, 4))
    bones[:, 0] = turned_about((0, 0.95, 0), 0 * swing)
    bones[:, 1] = chest
    bones[:, 2] = after(chest, turned_about((0, 1.5, 0), 0.25 * lift))
    for k, side in enumerate((-1, 1)):
        angle = np.where(cheer, -2.55 + 0.3 * lift * side, 0.65 * side * swing)
        upper = after(chest, turned_about((0.2 * side, 1.4, 0), angle, 0.12 * side))
        bones[:, 3 + k] = upper
        bones[:, 5 + k] = after(upper, turned_about((0.235 * side, 1.12, 0), np.where(cheer, -0.35, -0.35 - 0.25 * side * swing)))
        bones[:, 7 + k] = turned_about((0.1 * side, 0.92, 0), np.where(cheer, 0.0, -0.6 * side * swing))
    people = np.zeros((n, 8), "f4")
    k = np.arange(n)
    people[:, 0], people[:, 2] = (k % 26 - 12.5) * 0.95 + 0.5 * (r[:, 1] - 0.5), (k // 26 - 10) * 1.15 + 0.5 * (r[:, 2] - 0.5)
    people[:, 3] = 0.5 * (r[:, 3] - 0.5)
    people[:, 4:7] = 0.12 + 0.75 * r[:, 4:7] * np.where(r[:, 7:] > 0.5, 1.0, 0.55)
    people[:, 7] = r[:, 7]
    return {"Bones": bones.reshape(-1, 4).astype("f4"), "People": people}


class Crowd(Scene):
    name, description = "crowd", "520 people, each with bones of its own: two weights a vertex, 955,760 triangles in one draw"

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 0.5, 1.5), distance=13.5, yaw=0.35, pitch=0.38, fov_y=40.0, radius=15.0, near=0.5, far=80.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        view = view_of(size, camera or self.camera())
        ground = Draw(program("outdoors.vert", "outdoors.frag", HAZE=1), *plaza(), bind={"View": view, "map": paving()}, label="plaza")
        people = Draw(
            program("crowd.vert", "crowd.frag"),
            *person(),
            instances=520,
            bind={"View": view, **crowd(time)},
            state=State(cull="back"),
            label="people",
        )
        return outdoors(self, size, samples, (sky(view), ground, people))


@functools.cache
@read_only
def plaza() -> tuple[np.ndarray, np.ndarray]:
    return height_field(4, 40.0, np.zeros((5, 5)), 2.4)


@functools.cache
@read_only
def paving() -> Texture:
    n = 256
    y, x = np.mgrid[0:n, 0:n]
    stone = (x // 64 + y // 64) % 2
    grout = (x % 64 < 2) | (y % 64 < 2)
    tone = procedural.mix((0.30, 0.28, 0.25), (0.46, 0.43, 0.39), procedural.fractal_noise(n, 16, 4, 2)) * (1 - 0.18 * stone[..., None])
    return texture(procedural.to_srgb8(np.where(grout[..., None], 0.13, tone)), "paving")


SCENES = [
    Foliage("foliage", "trees, bushes and grass of 15,910 cards by alpha test: one trilinear texture and discard", 1),
    Foliage("foliage_msaa", "the same with four samples", 4),
    Foliage("foliage_coverage", "the same with four samples and alpha to coverage", 4, "COVERAGE"),
    Forest(),
    Terrain(),
    Crowd(),
]
