"""Matrices for Vulkan's clip space, quaternions, the orbit camera. In: numbers and arrays of any kind. Out: float32 arrays.

World and camera are right-handed, y up; a camera looks along -z. Clip space is Vulkan's: y down, depth 0..1. A (4, 4) array is the
matrix of mathematics (``M @ column_vector``), as everywhere in tilegpu. Angles are radians, but for ``fov_y_degrees``.

Everything is computed in float64, in an order that is written down, and rounded to float32 once, at the end. NumPy's ``@`` is not: it calls
BLAS, whose sums depend on the CPU. For pictures that are compared for equality multiply with :func:`multiply`.

Source: Vulkan specification, chapters "Fixed-Function Vertex Post-Processing" and "Image Operations" (cube map face selection).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilegpu import ValidationError, arguments, keywords
from tilegpu.scene.camera import MOST_ANGLE, OrbitCamera, radians_for_degrees
from tilegpu.scene.matrices import product, rotation
from tilegpu.scene.matrices import slerp as _slerp

__all__ = [
    "OrbitCamera",
    "cube_face_views",
    "identity",
    "inverse",
    "look_at",
    "multiply",
    "normal_matrix",
    "orthographic",
    "perspective",
    "pixels",
    "quaternion",
    "quaternion_matrix",
    "quaternion_multiply",
    "ray_through",
    "rotate",
    "rotate_x",
    "rotate_y",
    "rotate_z",
    "scale",
    "slerp",
    "transform",
    "translate",
]

_MOST = float(np.finfo(np.float32).max)
Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
_Array = NDArray[np.float64]


def _numbers_of(value: ArrayLike, what: str, must: str) -> _Array:
    """float64; texts, which NumPy would read as numbers, and complex numbers, whose second half it would drop, are none."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except Exception:  # of the value's own, too
        raise ValidationError(f"{what} is {arguments.shown(value)}; {must}") from None
    raise ValidationError(f"{what} is {arguments.shown(value)}, of dtype {array.dtype}; {must}")


def _array(value: ArrayLike, shapes: tuple[tuple[int, ...], ...], what: str, must: str) -> _Array:
    """float64, of one of the shapes."""
    array = _numbers_of(value, what, must)
    if array.shape not in shapes:
        raise ValidationError(f"{what} has shape {array.shape}; {must}")
    return array


def _vector(value: ArrayLike, what: str) -> _Array:
    array = _array(value, ((3,),), what, "it must be three numbers (x, y, z)")
    if not (np.abs(array) <= _MOST).all():  # nor is NaN
        raise ValidationError(f"{what} is ({', '.join(f'{n:g}' for n in array)}); it must be finite numbers that float32 holds")
    return array


def _xyz(given: Sequence[Any], what: str) -> _Array:
    """``f(x, y, z)`` or ``f((x, y, z))``."""
    return _vector(given[0] if len(given) == 1 else given, what)  # type: ignore[arg-type]


def _matrix(value: ArrayLike, what: str) -> _Array:
    return _array(value, ((4, 4),), what, "it must be a (4, 4) matrix")


def _unit(v: _Array, what: str) -> _Array:
    length = math.sqrt(float(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]))
    if not (0 < length < math.inf):
        raise ValidationError(f"{what} is ({', '.join(f'{n:g}' for n in v)}); it must have a length")
    return v / length


def _cross(a: _Array, b: _Array) -> _Array:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _single(matrix: _Array) -> Matrix:
    return matrix.astype(np.float32)


# ------------------------------------------------------------------------------------------------------------ projections


def _numbers(what: str, **given: Any) -> None:
    """Raises for what is no number, by its name; before anything is compared with it. ``far`` may be ``None``."""
    for name, value in given.items():
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number and (value is not None or name != "far"):
            raise ValidationError(f"{what}: {name} is {arguments.shown(value)}; it must be a number")


def _finite(what: str, **given: Any) -> None:
    """:func:`_numbers`, and neither NaN nor infinite."""
    _numbers(what, **given)
    for name, value in given.items():
        if not math.isfinite(value):
            raise ValidationError(f"{what}: {name} is {value}; it must be finite")


def _angle(what: str, angle: Any) -> None:
    """Radians: any number, as long as its float still has places within a turn."""
    _finite(what, angle=angle)
    if abs(angle) > MOST_ANGLE:
        raise ValidationError(f"{what}: angle is {angle:g}; a float of that size has no places within a turn: take it modulo 2 * pi")


def _planes(near: float, far: float | None, what: str) -> None:
    if not 0 < near < math.inf:
        raise ValidationError(f"{what}: near is {near}; it must be above 0, or depth has no meaning")
    if far is not None and not near < far:
        raise ValidationError(f"{what}: near is {near} and far is {far}; far must be beyond near (None: infinitely far)")


def perspective(fov_y_degrees: float, aspect: float, near: float, far: float | None = None, *, reverse_z: bool = False) -> Matrix:
    """(4, 4) camera to clip space, perspective.

    ``fov_y_degrees``: the angle from the bottom to the top of the picture, 0 to 180 degrees (the other functions take radians:
    ``perspective(0.785, ...)`` is a picture of less than a degree, and taken; what is the radians of 5, 10, 15 ... degrees to the last
    place, as ``math.pi / 4`` is, is an error). ``aspect``: width / height. ``near``, ``far``:
    distances in front of the camera; ``far=None`` has no far plane. Depth is 0 at ``near`` and 1 at ``far``. With ``reverse_z`` it is 1 at
    ``near`` and 0 at ``far``, which spreads the precision of ``d32_sfloat`` evenly: clear depth to 0 and compare with ``"greater"``.

    Raises :class:`tilegpu.ValidationError` for an angle, aspect or distance that makes no picture.
    """
    _numbers("perspective", fov_y_degrees=fov_y_degrees, aspect=aspect, near=near, far=far)
    if not 0 < fov_y_degrees < 180:
        raise ValidationError(f"perspective: fov_y_degrees is {fov_y_degrees}; it must be between 0 and 180 (degrees, not radians)")
    if wrong := radians_for_degrees(fov_y_degrees):
        raise ValidationError(f"perspective: fov_y_degrees is {wrong}")
    if not 0 < aspect < math.inf:
        raise ValidationError(f"perspective: aspect is {aspect}; it must be width / height, above 0")
    if far == math.inf:
        far = None
    _planes(near, far, "perspective")
    t = 1 / math.tan(math.radians(fov_y_degrees) / 2)
    out = np.zeros((4, 4))
    out[0, 0], out[1, 1], out[3, 2] = t / aspect, -t, -1
    if arguments.flag(reverse_z, "perspective: reverse_z"):
        out[2, 2], out[2, 3] = (0, near) if far is None else (near / (far - near), near * far / (far - near))
    else:
        out[2, 2], out[2, 3] = (-1, -near) if far is None else (far / (near - far), near * far / (near - far))
    return _single(out)


def orthographic(
    left: float, right: float, bottom: float, top: float, near: float, far: float, *, reverse_z: bool = False
) -> Matrix:
    """(4, 4) camera to clip space, parallel: the box from ``left`` to ``right``, ``bottom`` to ``top`` (up), and ``near`` to ``far`` in
    front of the camera (both may be negative: behind it) fills the picture. Depth is 0 at ``near``, 1 at ``far``; ``reverse_z``: 1 and 0.

    Raises :class:`tilegpu.ValidationError` where two opposite sides are the same, or ``near`` is beyond ``far``.
    """
    _numbers("orthographic", left=left, right=right, bottom=bottom, top=top, near=near, far=far)
    for names, a, b in (("left and right", left, right), ("bottom and top", bottom, top), ("near and far", near, far)):
        if a is None or b is None or not (a != b and math.isfinite(a) and math.isfinite(b)):
            raise ValidationError(f"orthographic: {names} are {a} and {b}; they must be two finite numbers that differ")
    if near > far:
        fix = "far must be beyond near (reverse_z=True turns depth round)"
        raise ValidationError(f"orthographic: near is {near} and far is {far}; {fix}")
    if arguments.flag(reverse_z, "orthographic: reverse_z"):
        near, far = far, near
    out = np.eye(4)
    out[0, 0], out[0, 3] = 2 / (right - left), -(right + left) / (right - left)
    out[1, 1], out[1, 3] = -2 / (top - bottom), (top + bottom) / (top - bottom)
    out[2, 2], out[2, 3] = 1 / (near - far), near / (near - far)
    return _single(out)


def pixels(width: int, height: int) -> Matrix:
    """(4, 4) pixels to clip space, for what lies flat on the screen: (0, 0) is the picture's top left corner, x right, y **down**,
    z the depth as it is."""
    _finite("pixels", width=width, height=height)
    if not (width > 0 and height > 0):
        raise ValidationError(f"pixels: the size is {width} x {height}; both sides must be above 0")
    return _single(np.array([[2 / width, 0, 0, -1], [0, 2 / height, 0, -1], [0, 0, 1, 0], [0, 0, 0, 1.0]]))


# ------------------------------------------------------------------------------------------------------------------ views


def _view(right: _Array, up: _Array, back: _Array, eye: _Array) -> _Array:
    out = np.eye(4)
    for row, axis in enumerate((right, up, back)):
        out[row, :3] = axis
        out[row, 3] = -(axis[0] * eye[0] + axis[1] * eye[1] + axis[2] * eye[2])
    return out


def look_at(eye: ArrayLike, target: ArrayLike, up: ArrayLike = (0, 1, 0)) -> Matrix:
    """(4, 4) world to camera: a camera at ``eye`` that looks at ``target``, ``up`` upright in the picture.

    Raises :class:`tilegpu.ValidationError` where ``eye`` is ``target``, or ``up`` is parallel to the line between them.
    """
    at = _vector(eye, "look_at: eye")
    back = at - _vector(target, "look_at: target")
    if not np.any(back):
        raise ValidationError(f"look_at: eye and target are both ({', '.join(f'{v:g}' for v in at)}); move one of them")
    back = _unit(back, "look_at: eye - target")
    upright = _unit(_vector(up, "look_at: up"), "look_at: up")
    right = _cross(upright, back)
    if float(right[0] * right[0] + right[1] * right[1] + right[2] * right[2]) < 1e-12:
        raise ValidationError(
            f"look_at: up is ({', '.join(f'{v:g}' for v in upright)}), parallel to the line of sight; give another, such as (0, 0, 1)"
        )
    right = _unit(right, "look_at: up")
    return _single(_view(right, _cross(back, right), back, at))


#: Of the faces +x, -x, +y, -y, +z, -z: where it looks, where s grows (right), where t grows (down). Vulkan specification, "Cube Map Face
#: Selection and Transformations".
_FACES = (
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
)


def cube_face_views(eye: ArrayLike = (0, 0, 0)) -> Matrix:
    """(6, 4, 4) world to camera for the layers of a cube map that is drawn from ``eye``: +x, -x, +y, -y, +z, -z.

    With ``perspective(90, 1, near, far)`` layer k then holds what a shader reads with ``texture(samplerCube, direction)``. Cube maps are
    left-handed by definition, so each of these mirrors: what faces the camera is ``front_face="clockwise"`` where it else is
    ``"counter_clockwise"``.
    """
    at = _vector(eye, "cube_face_views: eye")
    views = [_view(np.array(s, float), -np.array(t, float), -np.array(ahead, float), at) for ahead, s, t in _FACES]
    return np.stack([_single(view) for view in views])


# --------------------------------------------------------------------------------------------------------- transformations


def identity() -> Matrix:
    """(4, 4) that changes nothing."""
    return np.eye(4, dtype=np.float32)


def multiply(*matrices: ArrayLike) -> Matrix:
    """The product of square matrices of one size, the last applied first: ``multiply(projection, view, model)``.

    Sums go from k = 0 on in float64, without fused multiply-add, whatever the CPU; the result is rounded to float32.
    """
    if not matrices:
        raise ValidationError("multiply: no matrices; give at least one, for example multiply(projection, view)")
    shapes = ((4, 4), (3, 3), (2, 2))
    arrays = [_array(m, shapes, f"multiply: matrix {k}", "it must be (4, 4), (3, 3) or (2, 2)") for k, m in enumerate(matrices)]
    out = arrays[0]
    for k, matrix in enumerate(arrays[1:], 1):
        if matrix.shape != out.shape:
            raise ValidationError(f"multiply: matrix {k} has shape {matrix.shape}, those before it {out.shape}; they must be equal")
        out = product(out, matrix)
    return _single(out)


def translate(*offset: Any) -> Matrix:
    """(4, 4) that moves by ``translate(x, y, z)`` or ``translate((x, y, z))``."""
    out = np.eye(4)
    out[:3, 3] = _xyz(offset, "translate: the offset")
    return _single(out)


def scale(*factor: Any) -> Matrix:
    """(4, 4) that stretches by ``scale(x, y, z)``, ``scale((x, y, z))``, or ``scale(s)`` in all directions."""
    one = len(factor) == 1 and np.ndim(factor[0]) == 0
    values = _xyz(factor * 3 if one else factor, "scale: the factor")
    return _single(np.diag([*values, 1.0]))


def _rotation(axis: _Array, angle: float) -> _Array:
    """(4, 4) right-handed about a unit axis (Rodrigues' formula)."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    k = 1 - c
    return np.array(
        [
            [c + x * x * k, x * y * k - z * s, x * z * k + y * s, 0],
            [y * x * k + z * s, c + y * y * k, y * z * k - x * s, 0],
            [z * x * k - y * s, z * y * k + x * s, c + z * z * k, 0],
            [0, 0, 0, 1],
        ]
    )


def rotate(axis: ArrayLike, angle: float) -> Matrix:
    """(4, 4) right-handed rotation by ``angle`` about ``axis``, of any length but 0. ``angle``: radians, not degrees
    (``math.radians(90)`` is a quarter turn)."""
    _angle("rotate", angle)
    return _single(_rotation(_unit(_vector(axis, "rotate: axis"), "rotate: axis"), angle))


def rotate_x(angle: float) -> Matrix:
    """(4, 4) right-handed rotation about x. ``angle``: radians, not degrees (``math.radians(90)`` is a quarter turn)."""
    return rotate((1, 0, 0), angle)


def rotate_y(angle: float) -> Matrix:
    """(4, 4) right-handed rotation about y. ``angle``: radians, not degrees (``math.radians(90)`` is a quarter turn)."""
    return rotate((0, 1, 0), angle)


def rotate_z(angle: float) -> Matrix:
    """(4, 4) right-handed rotation about z. ``angle``: radians, not degrees (``math.radians(90)`` is a quarter turn)."""
    return rotate((0, 0, 1), angle)


def _inverse(m: _Array, what: str) -> _Array:
    """By Gauss-Jordan with pivots: LAPACK's order depends on the CPU."""
    n = len(m)
    work = np.concatenate([m, np.eye(n)], axis=1)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(work[k:, k])))
        if not abs(work[pivot, k]) > 0 or not np.isfinite(work).all():
            raise ValidationError(f"{what} can't be inverted: a direction is scaled to nothing, or a value is not finite")
        work[[k, pivot]] = work[[pivot, k]]
        work[k] = work[k] / work[k, k]
        for row in range(n):
            if row != k:
                work[row] = work[row] - work[row, k] * work[k]
    return work[:, n:]


def inverse(matrix: ArrayLike) -> Matrix:
    """The inverse of a (4, 4) or (3, 3) matrix, the same bits on every CPU. Raises :class:`tilegpu.ValidationError` if it has none."""
    m = _array(matrix, ((4, 4), (3, 3)), "inverse: the matrix", "it must be (4, 4) or (3, 3)")
    return _single(_inverse(m, "inverse: the matrix"))


def normal_matrix(model: ArrayLike) -> Matrix:
    """(3, 3) for normals of what ``model`` (4, 4) moves: the inverse transpose of its upper left. Normalise what it gives."""
    return _single(_inverse(_matrix(model, "normal_matrix: model")[:3, :3], "normal_matrix: model").T)


def transform(matrix: ArrayLike, points: ArrayLike) -> Vector:
    """(..., 3) points times a (4, 4) matrix, divided by w: where a point lies in clip space, or in the world."""
    m = _matrix(matrix, "transform: the matrix")
    p = _numbers_of(points, "transform: points", "it must be numbers (..., 3)")
    if p.ndim < 1 or p.shape[-1] != 3:
        raise ValidationError(f"transform: the points have shape {p.shape}; it must be (..., 3)")
    x, y, z = p[..., 0:1], p[..., 1:2], p[..., 2:3]
    out = x * m[:, 0] + y * m[:, 1] + z * m[:, 2] + m[:, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _single(out[..., :3] / out[..., 3:])


def ray_through(
    view_projection: ArrayLike, pixel: ArrayLike, size: tuple[int, int], *, reverse_z: bool = False
) -> tuple[Vector, Vector]:
    """What lies under a pixel: (origin, unit direction) in the world, of the ray through the middle of ``pixel`` (x, y) of a picture of
    ``size`` (width, height), from nearer to farther. ``view_projection``: (4, 4) world to clip space, made with the same ``reverse_z``;
    ``far`` may be ``None``."""
    back = _inverse(_matrix(view_projection, "ray_through: view_projection"), "ray_through: view_projection")
    x, y = _array(pixel, ((2,),), "ray_through: pixel", "it must be two numbers (x, y)")
    sides = _array(size, ((2,),), "ray_through: size", "it must be (width, height)")
    if not (sides > 0).all():
        raise ValidationError(f"ray_through: size is {arguments.shown(size)}; both sides must be above 0")
    clip = 2 * (x + 0.5) / size[0] - 1, 2 * (y + 0.5) / size[1] - 1
    depths = (0.75, 0.25) if arguments.flag(reverse_z, "ray_through: reverse_z") else (0.25, 0.75)  # inside: an end may be at infinity
    near, far = (back[:, 0] * clip[0] + back[:, 1] * clip[1] + back[:, 2] * depth + back[:, 3] for depth in depths)
    near, far = near[:3] / near[3], far[:3] / far[3]
    return _single(near), _single(_unit(far - near, "ray_through: the ray"))


# ------------------------------------------------------------------------------------------------------------- quaternions


def _quaternion(value: ArrayLike, what: str) -> _Array:
    q = _array(value, ((4,),), what, "it must be four numbers (x, y, z, w)")
    length = math.sqrt(float(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]))
    if not 0 < length < math.inf:
        raise ValidationError(f"{what} is {arguments.shown(q.tolist())}; it must have a length")
    return q / length


def quaternion(axis: ArrayLike, angle: float) -> Vector:
    """(4,) rotation by ``angle`` about ``axis``, as (x, y, z, w): glTF's order, w last. ``angle``: radians, not degrees."""
    _angle("quaternion", angle)
    unit = _unit(_vector(axis, "quaternion: axis"), "quaternion: axis")
    return _single(np.array([*(unit * math.sin(angle / 2)), math.cos(angle / 2)]))


def quaternion_multiply(a: ArrayLike, b: ArrayLike) -> Vector:
    """(4,) rotation that turns by ``b``, then by ``a``; of length 1."""
    ax, ay, az, aw = _quaternion(a, "quaternion_multiply: a")
    bx, by, bz, bw = _quaternion(b, "quaternion_multiply: b")
    return _single(
        np.array(
            [
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
                aw * bw - ax * bx - ay * by - az * bz,
            ]
        )
    )


def quaternion_matrix(q: ArrayLike) -> Matrix:
    """(4, 4) rotation of a quaternion (x, y, z, w) of any length but 0."""
    out = np.eye(4)
    out[:3, :3] = rotation(_quaternion(q, "quaternion_matrix: q"))
    return _single(out)


def slerp(a: ArrayLike, b: ArrayLike, t: float) -> Vector:
    """(4,) rotation between ``a`` (t = 0) and ``b`` (t = 1) along the shorter way, at an even speed."""
    _finite("slerp", t=t)
    return _single(_slerp(_quaternion(a, "slerp: a"), _quaternion(b, "slerp: b"), t))


keywords.explain_calls(globals(), __all__, "tilegpu.math")
