"""tilegpu.shapes: closed, wound as they say, of the right size; drawn with and without culling they are the same picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import shapes

CLOSED = {
    "cube": (lambda **o: shapes.cube((1, 2, 3), **o), 6.0),
    "sphere": (lambda **o: shapes.sphere(1, 96, **o), 4 / 3 * math.pi),
    "knot": (lambda **o: shapes.torus_knot(2, 3, 0.4, 0.02, 800, **o), None),
    "torus": (lambda **o: shapes.torus(1, 0.25, 96, 48, **o), 2 * math.pi**2 * 0.0625),
    "cylinder": (lambda **o: shapes.cylinder(1, 2, 128, **o), 2 * math.pi),
    "cone": (lambda **o: shapes.cylinder(1, 3, 128, top_radius=0, **o), math.pi),
}


def corners(mesh: shapes.Mesh) -> Any:
    return mesh.vertices["position"].astype(np.float64)[mesh.indices.reshape(-1, 3)]


@pytest.mark.parametrize("name", CLOSED)
def test_closed_shapes_have_their_volume_and_point_outward(name: str) -> None:
    make, volume = CLOSED[name]
    mesh = make()
    a, b, c = (corners(mesh)[:, k] for k in range(3))
    enclosed = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert enclosed == pytest.approx(volume, rel=0.01) if volume else enclosed > 0
    assert mesh.vertices.dtype == shapes.VERTEX and mesh.indices.dtype == np.uint32
    normal = mesh.vertices["normal"].astype(np.float64)
    assert np.linalg.norm(normal, axis=1) == pytest.approx(1, abs=1e-5)
    face = np.cross(b - a, c - a)
    mean = normal[mesh.indices.reshape(-1, 3)].mean(axis=1)
    assert (np.einsum("ij,ij->i", face, mean) > 0).all(), "normals point to the side that is counter-clockwise"
    uv = mesh.vertices["uv"]
    assert name == "knot" or (uv.min() >= 0 and uv.max() <= 1)


@pytest.mark.parametrize("name", [*CLOSED, "plane"])
def test_tangents_are_orthogonal(name: str) -> None:
    make = (lambda **o: shapes.plane(2, 3, **o)) if name == "plane" else CLOSED[name][0]
    vertices = make(attributes=("normal", "tangent")).vertices
    assert vertices.dtype.names == ("normal", "tangent")
    assert np.einsum("ij,ij->i", vertices["normal"], vertices["tangent"][:, :3]) == pytest.approx(0, abs=1e-5)


def test_plane_faces_up() -> None:
    mesh = shapes.plane((4, 2), 3)
    assert mesh.triangles == 18
    face = np.cross(corners(mesh)[:, 1] - corners(mesh)[:, 0], corners(mesh)[:, 2] - corners(mesh)[:, 0])
    assert (face[:, 1] > 0).all() and face[:, 1].sum() / 2 == pytest.approx(8)
    near = mesh.vertices[mesh.vertices["uv"][:, 1] == 1]
    assert (near["position"][:, 2] == 1).all()


VERT = """#version 450
layout(location = 0) in vec3 position;  layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 n;
layout(push_constant) uniform P { mat4 view_projection; };
void main() { n = normal; gl_Position = view_projection * vec4(position, 1.0); }"""
FRAG = """#version 450
layout(location = 0) in vec3 n;  layout(location = 0) out vec4 color;
void main() { color = vec4(normalize(n) * 0.5 + 0.5, 1.0); }"""


@pytest.mark.parametrize("name", [*CLOSED, "plane"])
def test_culling_back_faces_changes_nothing(name: str) -> None:
    mesh = shapes.plane(2) if name == "plane" else CLOSED[name][0]()
    mesh = shapes.only(mesh, "position", "normal")
    dev = tg.Device()
    camera = tg.math.OrbitCamera(distance=6, yaw=0.6, pitch=0.5)
    pictures = []
    for cull in ("none", "back"):
        out, depth = dev.image((96, 96), "r8g8b8a8_unorm"), dev.image((96, 96), "d32_sfloat", transient=True)
        pipe = dev.pipeline(VERT, FRAG, vertex=mesh.vertices.dtype, color=[out.format], depth=depth.format, cull=cull,
                            front_face="counter_clockwise", depth_test=True, depth_write=True, depth_compare="less")  # fmt: skip
        far = tg.Attachment(depth, clear=1.0, store_op="dont_care")
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))], depth=far) as rp:
            rp.draw(pipe, mesh.vertices, indices=mesh.indices, push={"view_projection": camera.view_projection(1)})
        pictures.append(out.numpy())
    assert np.array_equal(*pictures) and (pictures[0][..., 3] > 0).mean() > 0.005


def test_flat_ones_cover_what_they_say() -> None:
    full = shapes.full_screen_triangle()
    assert full["uv"] == pytest.approx((full["position"] + 1) / 2)
    rectangle = shapes.quad(10, 20, 50, 40)
    assert rectangle["position"].min(0).tolist() == [10, 20] and rectangle["position"].max(0).tolist() == [50, 40]
    assert rectangle["uv"][rectangle["position"][:, 1] == 20].max(0).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: shapes.cube(0), "cube: size is 0"),
        (lambda: shapes.cube((1, 2)), "three for x, y and z"),
        (lambda: shapes.sphere(1, 3), "from 4 to 8192"),
        (lambda: shapes.sphere(math.nan), "sphere: radius is nan"),
        (lambda: shapes.torus(1, 0), "torus: tube is 0"),
        (lambda: shapes.cylinder(top_radius=-1), "top_radius is -1"),
        (lambda: shapes.cube(attributes=("pos",)), "choose from position, normal, tangent, uv"),
        (lambda: shapes.plane(segments=0), "plane: segments is 0"),
    ],
)
def test_wrong_sizes_are_named(call: Any, said: str) -> None:
    with pytest.raises(tg.ValidationError) as error:
        call()
    assert said in str(error.value)


def test_only_takes_names_or_a_list_of_them() -> None:
    ball = tg.shapes.sphere(1.0)
    assert tg.shapes.only(ball, ("position", "uv")).vertices.dtype == tg.shapes.only(ball, "position", "uv").vertices.dtype


@pytest.mark.parametrize("name", ["sphere", "torus"])
def test_round_shapes_have_the_normals_of_the_exact_surface(name: str) -> None:
    """A torus leaned up on one side of where its tube is closed, and down on the other; of a ball's poles each leaned its own way."""
    vertices = getattr(shapes, name)().vertices
    position, normal = (vertices[field].astype(np.float64) for field in ("position", "normal"))
    centre = np.zeros_like(position)
    if name == "torus":
        flat = position * (1, 0, 1)
        centre = 0.4 * flat / np.linalg.norm(flat, axis=1, keepdims=True)
    exact = position - centre
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    assert np.abs(normal - exact).max() < 1e-3
