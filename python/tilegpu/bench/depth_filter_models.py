"""The models of ``tilegpu bench depth-filter``: those of Yu and Kim, section 4.1, in kind (the paper's own are lost).

512 x 512 pixels, no culling, one draw: (a) 100 random hexagonal columns, (b) and (c) a general object replicated to a high and a lower
depth complexity, (d) a textured plane of depth complexity 1.0. Everything follows from the seeds below.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilegpu.scene import Draw, Frame, State, program
from tilegpu.scene.camera import multiply, perspective, rotate_x, transform, translate
from tilegpu.scene.mesh import VERTEX, Mesh, columns, grid_indices
from tilegpu.scene.shapes import ball, cos_sin, torus_knot

#: The paper's screen.
SIZE_PX = (512, 512)
_SEED_B, _SEED_C, _SEED_SERIES = 2004, 2005, 2006


@dataclass(frozen=True, eq=False)
class Model:
    """A model: one mesh, one matrix."""

    name: str
    description: str
    mesh: Mesh
    mvp: NDArray[np.float32]

    def frame(self, size: tuple[int, int] = SIZE_PX) -> Frame:
        """One pass, one draw; the same object each time for the same size."""
        return _frame(self, size)


@functools.lru_cache(maxsize=64)
def _frame(model: Model, size: tuple[int, int]) -> Frame:
    light = np.array([0.4, 0.7, 0.59, 0], np.float32)
    none = np.zeros(4, np.float32)
    push = {"mvp": model.mvp, "p0": light, "p1": none, "p2": np.array([0.8, 0.6, 0.4, 1], np.float32), "p3": none}
    draw = Draw(
        program("mesh.vert", "mesh.frag"),
        model.mesh.vertices,
        model.mesh.indices,
        push=push,
        state=State(),
        label=model.name,
    )
    return Frame(size, 1, draws=(draw,), label=model.name)


def _turns(random: np.random.Generator) -> NDArray[np.float64]:
    """A rotation, by sines and cosines that are the same on every machine."""
    c, s = cos_sin(random.uniform(0, 2 * math.pi, 3))
    about_x = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    about_y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    about_z = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    return transform(about_z, transform(about_y, about_x.T)).T


def _replicate(mesh: Mesh, count: int, seed: int, half_width: float, near: float, far: float, scale: float) -> Mesh:
    """``count`` copies, turned at random, their centres between two planes, in random order."""
    random = np.random.default_rng(seed)
    vertices, indices = [], []
    for k in range(count):
        turn = _turns(random)
        centre = np.array([*random.uniform(-half_width, half_width, 2), -random.uniform(near, far)])
        copy = np.zeros(len(mesh.vertices), VERTEX)
        copy["aPos"] = transform(turn * scale, mesh.vertices["position"]) + centre
        copy["aNormal"] = transform(turn, mesh.vertices["normal"])
        vertices.append(copy)
        indices.append(mesh.indices + np.uint32(k * len(copy)))
    return Mesh(np.concatenate(vertices), np.concatenate(indices))


def _projection(near: float, far: float) -> NDArray[np.float32]:
    return perspective(50.0, 1.0, near, far)


@functools.cache
def columns_model() -> Model:
    """(a): 100 random hexagonal columns."""
    mvp = multiply(_projection(6.0, 25.0), multiply(translate(0, 0, -8), rotate_x(0.2)))
    return Model("a", "100 random hexagonal columns", columns()[0], mvp)


@functools.cache
def knots_model() -> Model:
    """(b): a knot, many times."""
    mesh = _replicate(torus_knot(steps=120, sides=12), 60, _SEED_B, 2.6, 6.0, 12.0, 2.2)
    return Model("b", "60 torus knots", mesh, _projection(4.0, 14.0))


@functools.cache
def balls_model() -> Model:
    """(c): a ball, fewer times."""
    mesh = _replicate(ball(0.9, 32), 120, _SEED_C, 2.6, 6.0, 12.0, 0.62)
    return Model("c", "120 balls", mesh, _projection(4.0, 14.0))


@functools.cache
def plane_model() -> Model:
    """(d): a plane over the whole screen, depth complexity 1.0."""
    corners = np.zeros(4, VERTEX)
    corners["aPos"] = [(-8, 8, -12), (8, 8, -12), (-8, -8, -6), (8, -8, -6)]
    corners["aNormal"] = (0, 0, 1)
    return Model("d", "a plane over the whole screen", Mesh(corners, grid_indices(1, 1)), _projection(4.0, 14.0))


def models() -> tuple[Model, ...]:
    """(a) to (d)."""
    return columns_model(), knots_model(), balls_model(), plane_model()


@functools.cache
def complexity_series() -> tuple[Model, ...]:
    """Balls from few to many: depth complexity of about 1 to 12."""
    return tuple(
        Model(
            f"n{count}",
            f"{count} balls",
            _replicate(ball(0.9, 32), count, _SEED_SERIES, 2.6, 6.0, 12.0, 0.62),
            _projection(4.0, 14.0),
        )
        for count in (6, 30, 60, 120, 190, 260, 340)
    )
