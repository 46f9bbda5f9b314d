"""tilegpu.shapes: closed, wound as they say, of the right size; drawn with and without culling they are the same picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import shapes
from tilegpu.scene import shapes as detailed

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


STEPS = [
    ("lathe", lambda n: shapes.lathe([(1, 0), (1, 1)], n), 3), ("curve", lambda n: shapes.curve([(1, 0), (1, 1)], n), 1),
    ("gem", lambda n: shapes.gem(1, 1, n), 3), ("ball", lambda n: detailed.ball(1, n), 4), ("ring", lambda n: detailed.ring(1, 0.2, n), 3),
    ("ring", lambda n: detailed.ring(1, 0.2, 8, n), 3),
    ("disc", lambda n: detailed.disc(1, 1, n), 3),
    ("torus_knot", lambda n: detailed.torus_knot(steps=n), 8), ("torus_knot", lambda n: detailed.torus_knot(sides=n), 3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make", "least"), STEPS)
def test_steps_that_make_nothing(name: str, make: Any, least: int) -> None:
    for wrong in (least - 1, 0, -1, -5, 1.5, 8193, 2**70, None, "8", "", [], [[1, 2], [3]], {}, 1j, b"x", float("nan"), float("inf"), True,
                  np.array([]), np.zeros((2, 2)), np.array("x"), object(), np.datetime64("2020-01-01"), range(3), len):  # fmt: skip
        with pytest.raises(tg.ValidationError, match=f"{name}: .*it must be a whole number from {least} to 8192"):
            make(wrong)
    for right in (least, np.int64(least), float(least)):
        make(right)


def test_profiles_and_numbers_that_make_nothing() -> None:
    line = [(1, 0), (1, 1)]
    for call, said in (
        (lambda: shapes.lathe([(1, 0), (1, 0), (1, 1)]), r"the point \(1.0, 0.0\) twice in a row"),
        (lambda: shapes.lathe([(1, 0), (np.nan, 1)]), "not finite"), (lambda: shapes.curve([(1, 0), (np.inf, 1)]), "not finite"),
        (lambda: shapes.lathe(line, sharp="x"), "lathe: sharp"), (lambda: shapes.lathe(line, uv_scale=1), "lathe: uv_scale"),
        (lambda: shapes.lathe(line, smooth_ends="no"), "lathe: smooth_ends"), (lambda: detailed.ball("x"), "ball: radius"),
        (lambda: detailed.disc(1, 0), "disc: tile"), (lambda: detailed.torus_knot(0, 0), "no way round"),
        (lambda: shapes.only(shapes.cube(1), np.zeros(2)), "choose from"), (lambda: shapes.cos_sin("x"), "cos_sin: angles"),
        (lambda: shapes.cos_sin(np.array([np.inf])), "cos_sin: angles"),
        (lambda: detailed.make_mesh(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((2, 2)), np.arange(3)), "2 of uv"),
        (lambda: detailed.make_mesh(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 2)), np.arange(1, 4)), "whole numbers from 0 to 2"),
        (lambda: detailed.make_mesh(None, np.zeros((3, 3)), np.zeros((3, 2)), np.arange(3)), "make_mesh: position"),  # type: ignore[arg-type]
    ):  # fmt: skip
        with pytest.raises(tg.ValidationError, match=said):
            call()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("kind", ["image", "texture", "view", "samples", "buffer"])
def test_dtypes_of_arrays_that_are_none(kind: str) -> None:
    dev = tg.Device(threads=1)
    texture = dev.texture(np.full((4, 4, 4), 200, np.uint8))
    many = dev.image((4, 4), "r8g8b8a8_unorm", samples=4)
    dev.clear(many, (0, 0, 0, 1))
    thing = {"image": texture.image, "texture": texture, "view": texture.image.view(level=0, levels=1), "samples": many,
             "buffer": dev.buffer(np.arange(4, dtype="f4"))}[kind]  # fmt: skip
    for wrong in ("x", "", -1, 0, 1.5, [[1, 2], [3]], {"a": 1}, object(), True, 1j, np.array([]), (1, 2, 3), len, [None], "\udc80", {1}):
        with pytest.raises(tg.ValidationError, match=r"np.asarray: .*: dtype is .*which is none"):
            thing.__array__(wrong)
    assert np.asarray(thing, np.float64).dtype == np.float64
    assert np.asarray(thing, "u1").dtype == np.uint8
