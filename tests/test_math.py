"""tilegpu.math: what the matrices do to points, against the specification's words; wrong input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilegpu as tg
from tilegpu import math as tm

FINITE = st.floats(-100, 100)
POINT = st.tuples(FINITE, FINITE, FINITE)
ANGLE = st.floats(-7, 7)


def depth_at(matrix: Any, distance: float) -> float:
    return float(tm.transform(matrix, (0, 0, -distance))[2])


def test_perspective_has_vulkans_clip_space() -> None:
    m = tm.perspective(90, 2.0, 0.5, 10)
    assert m.dtype == np.float32
    assert depth_at(m, 0.5) == pytest.approx(0, abs=1e-6) and depth_at(m, 10) == pytest.approx(1)
    # 90 degrees: at distance 3 the picture reaches 3 up, and 6 to the right at an aspect of 2. y is down, x right.
    assert tm.transform(m, (6, 3, -3))[:2] == pytest.approx((1, -1))
    assert tm.transform(m, (0, -3, -3))[:2] == pytest.approx((0, 1))


def test_reversed_and_infinite_depth() -> None:
    assert depth_at(tm.perspective(60, 1, 0.5, 10, reverse_z=True), 0.5) == pytest.approx(1)
    assert depth_at(tm.perspective(60, 1, 0.5, 10, reverse_z=True), 10) == pytest.approx(0, abs=1e-7)
    for far in (None, math.inf):
        assert depth_at(tm.perspective(60, 1, 0.5, far), 0.5) == pytest.approx(0, abs=1e-6)
        assert 0.9999 < depth_at(tm.perspective(60, 1, 0.5, far), 1e5) <= 1
        assert depth_at(tm.perspective(60, 1, 0.5, far, reverse_z=True), 0.5) == 1
        assert depth_at(tm.perspective(60, 1, 0.5, far, reverse_z=True), 1e5) == pytest.approx(5e-6)
    # What reversed depth is for: two surfaces 1 apart at a distance of 100,000 differ, and don't without it.
    far_off = [tm.transform(tm.perspective(60, 1, 0.5, None, reverse_z=r), [(0, 0, -1e5), (0, 0, -1e5 - 1)])[:, 2] for r in (False, True)]
    assert far_off[0][0] == far_off[0][1] and far_off[1][0] > far_off[1][1]


def test_orthographic_and_pixels() -> None:
    m = tm.orthographic(-2, 6, -1, 3, 1, 11)
    assert tm.transform(m, [(-2, -1, -1), (6, 3, -11), (2, 1, -6)]) == pytest.approx(np.array([(-1, 1, 0), (1, -1, 1), (0, 0, 0.5)]))
    reverse = tm.orthographic(-2, 6, -1, 3, 1, 11, reverse_z=True)
    assert tm.transform(reverse, [(0, 0, -1), (0, 0, -11)])[:, 2] == pytest.approx((1, 0), abs=1e-6)
    assert tm.transform(tm.pixels(640, 480), [(0, 0, 0.25), (640, 480, 0.5), (320, 240, 0)]) == pytest.approx(
        np.array([(-1, -1, 0.25), (1, 1, 0.5), (0, 0, 0)]), abs=1e-6
    )


def test_look_at() -> None:
    view = tm.look_at((0, 0, 5), (0, 0, 0))
    assert view == pytest.approx(tm.translate(0, 0, -5))
    view = tm.look_at((3, 2, 1), (3, 2, -9), up=(1, 0, 0))  # lying on its side: x is up
    assert tm.transform(view, [(3, 2, 1), (4, 2, 1), (3, 2, 0)]) == pytest.approx(np.array([(0, 0, 0), (0, 1, 0), (0, 0, -1)]))


@given(POINT, POINT, POINT)
def test_look_at_is_a_rotation_that_looks_ahead(eye: Any, target: Any, up: Any) -> None:
    away = np.subtract(eye, target)
    if np.linalg.norm(away) < 1e-3 or np.linalg.norm(np.cross(away, up)) < 1e-2 * max(1, np.linalg.norm(up) * np.linalg.norm(away)):
        return
    view = tm.look_at(eye, target, up).astype(np.float64)
    assert view[:3, :3] @ view[:3, :3].T == pytest.approx(np.eye(3), abs=1e-5)
    assert np.linalg.det(view[:3, :3]) == pytest.approx(1, abs=1e-5)
    ahead = view @ [*target, 1]
    assert ahead[:3] == pytest.approx((0, 0, -np.linalg.norm(away)), abs=2e-3)
    assert (view[:3, :3] @ up)[1] > 0 and (view[:3, :3] @ up)[0] == pytest.approx(0, abs=1e-3)


def test_rotations_are_right_handed() -> None:
    quarter = math.pi / 2
    assert tm.transform(tm.rotate_x(quarter), (0, 1, 0)) == pytest.approx((0, 0, 1), abs=1e-7)
    assert tm.transform(tm.rotate_y(quarter), (0, 0, 1)) == pytest.approx((1, 0, 0), abs=1e-7)
    assert tm.transform(tm.rotate_z(quarter), (1, 0, 0)) == pytest.approx((0, 1, 0), abs=1e-7)
    assert tm.rotate((0, 5, 0), 0.3) == pytest.approx(tm.rotate_y(0.3))


@given(POINT.filter(lambda v: np.linalg.norm(v) > 1e-3), ANGLE, POINT.filter(lambda v: np.linalg.norm(v) > 1e-3), ANGLE)
def test_quaternions_are_the_same_rotations(axis: Any, angle: float, other: Any, more: float) -> None:
    a, b = tm.quaternion(axis, angle), tm.quaternion(other, more)
    assert tm.quaternion_matrix(a) == pytest.approx(tm.rotate(axis, angle), abs=2e-6)
    both = tm.multiply(tm.rotate(axis, angle), tm.rotate(other, more))
    assert tm.quaternion_matrix(tm.quaternion_multiply(a, b)) == pytest.approx(both, abs=3e-6)


def test_slerp_goes_the_shorter_way_at_an_even_speed() -> None:
    a, b = tm.quaternion((0, 1, 0), 0.2), tm.quaternion((0, 1, 0), 1.4)
    assert tm.slerp(a, b, 0.25) == pytest.approx(tm.quaternion((0, 1, 0), 0.5), abs=1e-6)
    assert tm.slerp(a, -b, 0.5) == pytest.approx(tm.quaternion((0, 1, 0), 0.8), abs=1e-6)
    assert tm.slerp(a, a, 0.5) == pytest.approx(a)


@given(st.lists(FINITE, min_size=16, max_size=16))
def test_inverse(values: list[float]) -> None:
    m = np.reshape(values, (4, 4)) + 50 * np.eye(4)
    if np.linalg.cond(m) > 1e4:
        return
    assert tm.inverse(m) == pytest.approx(np.linalg.inv(m), rel=1e-4, abs=1e-5)


def test_multiply_is_the_product_from_left_to_right() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 4, 4))
    assert tm.multiply(a, b, c) == pytest.approx((a @ b @ c).astype(np.float32), rel=1e-5)
    assert tm.multiply(a).dtype == np.float32
    assert tm.multiply(np.eye(3), np.eye(3)).shape == (3, 3)


def test_normal_matrix_keeps_normals_upright() -> None:
    model = tm.multiply(tm.rotate((1, 2, 3), 0.7), tm.scale(1, 4, 0.5))
    tangent, normal = np.array([1.0, 1, 0]), np.array([1.0, -1, 0])
    assert (model[:3, :3] @ tangent) @ (tm.normal_matrix(model) @ normal) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("reverse_z", [False, True])
@pytest.mark.parametrize("far", [None, 50.0])
def test_ray_through_a_pixel_meets_what_is_drawn_there(reverse_z: bool, far: float | None) -> None:
    size = (200, 100)
    vp = tm.multiply(tm.perspective(50, 2, 0.1, far, reverse_z=reverse_z), tm.look_at((3, 2, 5), (0, 1, 0)))
    for point in ((0, 0, 0), (1, 1.5, -2), (-0.5, 0.2, 1)):
        clip = tm.transform(vp, point)
        pixel = (clip[0] + 1) / 2 * size[0] - 0.5, (clip[1] + 1) / 2 * size[1] - 0.5
        origin, direction = tm.ray_through(vp, pixel, size, reverse_z=reverse_z)
        along = np.subtract(point, origin)
        assert np.linalg.norm(np.cross(along, direction)) < 1e-3
        assert direction @ np.subtract(point, (3, 2, 5)) > 0
    parallel = tm.orthographic(-2, 2, -1, 1, 0, 10, reverse_z=reverse_z)
    assert tm.ray_through(parallel, (99.5, 49.5), size, reverse_z=reverse_z)[1] == pytest.approx((0, 0, -1))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tm.perspective(0, 1, 0.1), "fov_y_degrees is 0"),
        (lambda: tm.perspective(60, 0, 0.1), "width / height"),
        (lambda: tm.perspective(60, 1, 0), "near is 0"),
        (lambda: tm.perspective(60, 1, 1, 0.5), "far must be beyond near"),
        (lambda: tm.perspective(60, 1, 1, math.nan), "far must be beyond near"),
        (lambda: tm.orthographic(1, 1, 0, 1, 0, 1), "left and right are 1 and 1"),
        (lambda: tm.pixels(0, 5), "0 x 5"),
        (lambda: tm.look_at((1, 2, 3), (1, 2, 3)), "both (1, 2, 3)"),
        (lambda: tm.look_at((0, 1, 0), (0, 0, 0)), "parallel"),
        (lambda: tm.look_at((0, 1), (0, 0, 0)), "three numbers"),
        (lambda: tm.translate(1, 2), "three numbers"),
        (lambda: tm.scale("abc"), "three numbers"),
        (lambda: tm.rotate((0, 0, 0), 1), "must have a length"),
        (lambda: tm.inverse(np.zeros((4, 4))), "can't be inverted"),
        (lambda: tm.inverse(np.full((3, 3), np.nan)), "can't be inverted"),
        (lambda: tm.multiply(), "no matrices"),
        (lambda: tm.multiply(np.eye(4), np.eye(3)), "matrix 1 has shape (3, 3)"),
        (lambda: tm.quaternion_matrix((0, 0, 0, 0)), "must have a length"),
        (lambda: tm.transform(np.eye(4), (1, 2)), "(..., 3)"),
    ],
)
def test_wrong_input_is_named(call: Any, said: str) -> None:
    with pytest.raises(tg.ValidationError) as error:
        call()
    assert said in str(error.value)


CUBE_VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 0) out vec3 direction;
layout(push_constant) uniform P { mat4 view_projection; };
void main() { direction = position; gl_Position = view_projection * vec4(position, 1.0); }"""
CUBE_FRAG = """#version 450
layout(location = 0) in vec3 direction;
layout(location = 0) out vec4 color;
void main() { color = vec4(normalize(direction), 1.0); }"""
LOOK_UP = """#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform samplerCube cube;
void main() {
  float a = uv.x * 6.2831853, b = (uv.y - 0.5) * 3.1415926;
  vec3 d = vec3(cos(b) * sin(a), sin(b), cos(b) * cos(a));
  color = vec4(abs(texture(cube, d).xyz - d), 1.0);
}"""
FULL = """#version 450
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 v;
void main() { v = uv; gl_Position = vec4(position, 0.0, 1.0); }"""


def test_faces_of_a_cube_map_are_where_shaders_look() -> None:
    """Each texel holds the direction that it was drawn in; a look-up in any direction gives that direction."""
    dev, lens = tg.Device(), tg.math.perspective(90, 1, 0.1)
    cube = dev.image((128, 128), "r16g16b16a16_sfloat", cube=True)
    box = tg.shapes.cube(2, attributes=("position",))
    faces = {}
    for name, front in (("front", "clockwise"), ("back", "counter_clockwise")):
        pipe = dev.pipeline(CUBE_VERT, CUBE_FRAG, vertex=box.vertices.dtype, color=[cube.format], cull="front", front_face=front)
        for k, view in enumerate(tg.math.cube_face_views()):
            target = tg.Attachment(cube.view("2d", layer=k, layers=1), clear=(9, 9, 9, 1))
            with dev.render_pass(color=[target]) as rp:  # seen from inside: the box's front faces are culled
                rp.draw(pipe, box.vertices, indices=box.indices, push={"view_projection": tg.math.multiply(lens, view)})
        faces[name] = np.stack([cube.numpy(layer=k) for k in range(6)])
        if name == "front":
            out = dev.image((64, 32), "r32g32b32a32_sfloat")
            show = dev.pipeline(FULL, LOOK_UP, vertex=tg.shapes.full_screen_triangle().dtype, color=[out.format])
            with dev.render_pass(color=[tg.Attachment(out, clear=(9, 9, 9, 9))]) as rp:
                rp.draw(show, tg.shapes.full_screen_triangle(), bind={"cube": (cube, dev.sampler())})
            error = out.numpy()[..., :3]
            assert error.max() < 0.02
    assert (faces["back"][..., 0] == 9).all() and not (faces["front"][..., 0] == 9).any(), "the views mirror"
