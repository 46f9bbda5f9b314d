"""Matrices and the orbit camera.

World: right-handed, y up. A camera at the origin looks along -z. Clip space is Vulkan's: y down, depth 0..1. The functions of the
first half work in float32, operation by operation as the reference program ``vkpeer`` does, so that the reference scenes have the
same bits; a (4, 4) array is the matrix of mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilegpu import arguments
from tilegpu.errors import ValidationError
from tilegpu.fixed import Spelt

Matrix = NDArray[np.float32]
F = np.float32


def identity() -> Matrix:
    """(4, 4) identity."""
    return np.eye(4, dtype=F)


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """a @ b of two (4, 4) matrices, each sum in float32 from k = 0 to 3 without fused multiply-add."""
    out = np.zeros((4, 4), F)
    for k in range(4):
        out = out + a[:, k : k + 1] * b[k : k + 1, :]
    return out


def translate(x: float, y: float, z: float) -> Matrix:
    """(4, 4) translation."""
    out = identity()
    out[:3, 3] = x, y, z
    return out


def _finite(value: Any, what: str) -> float:
    found = arguments.number(value, f"OrbitCamera.{what}")
    if not math.isfinite(found):
        raise ValidationError(f"OrbitCamera.{what} is {arguments.shown(value)}; it must be finite")
    return found


def rotate_x(angle: float) -> Matrix:
    """(4, 4) right-handed rotation about x; radians."""
    c, s = F(math.cos(F(angle))), F(math.sin(F(angle)))
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]], F)


def rotate_y(angle: float) -> Matrix:
    """(4, 4) right-handed rotation about y; radians."""
    c, s = F(math.cos(F(angle))), F(math.sin(F(angle)))
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]], F)


def perspective(fov_y_degrees: float, aspect: float, near: float, far: float) -> Matrix:
    """(4, 4) perspective projection to Vulkan's clip space (y down, depth 0 at ``near``, 1 at ``far``). ``fov_y_degrees``: degrees, while
    rotations are in radians."""
    n, f = F(near), F(far)
    half = F(F(F(fov_y_degrees) * F(0.5)) * F(3.14159265)) / F(180)
    t = F(1) / F(math.tan(half))
    out = np.zeros((4, 4), F)
    out[0, 0] = t / F(aspect)
    out[1, 1] = -t
    out[2, 2] = f / (n - f)
    out[2, 3] = n * f / (n - f)
    out[3, 2] = -1
    return out


def normalize(v: ArrayLike) -> NDArray[np.float32]:
    """``v / |v|`` of (..., 3) in float32; the sum of squares from x to z."""
    a = np.asarray(v, F)
    x, y, z = a[..., 0:1], a[..., 1:2], a[..., 2:3]
    out: NDArray[np.float32] = a * (F(1) / np.sqrt(x * x + y * y + z * z))
    return out


def transform(matrix: NDArray[Any], points: NDArray[Any]) -> NDArray[Any]:
    """(..., 3) points times a (3, 3) matrix: products and sums in a fixed order, so the same bits on every CPU (BLAS is not)."""
    x, y, z = points[..., 0:1], points[..., 1:2], points[..., 2:3]
    out: NDArray[Any] = x * matrix[:, 0] + y * matrix[:, 1] + z * matrix[:, 2]
    return out


def axes_against(direction: ArrayLike) -> NDArray[np.float64]:
    """(3, 3): rows are the right, up and backward axes of a view that looks against ``direction`` (x, y, z), y up: of a light that shines
    parallel from there, say. It may not be straight up or down."""
    x, y, z = np.asarray(direction, np.float64).tolist()
    length = math.sqrt(x * x + y * y + z * z)
    if not math.hypot(x, z) > 1e-9 * length:
        raise ValidationError(f"axes_against: direction is ({x:g}, {y:g}, {z:g}); it must be a direction, and not straight up or down")
    x, y, z = x / length, y / length, z / length
    across = math.sqrt(x * x + z * z)
    right = z / across, 0.0, -x / across
    up = y * right[2], z * right[0] - x * right[2], -y * right[0]
    return np.array([right, up, (x, y, z)])


#: A larger float has steps of a ten-thousandth of a turn and more.
MOST_ANGLE = 1e12


def radians_for_degrees(value: Any) -> str:
    """What is wrong with an angle in degrees that is the radians of a multiple of 5 degrees, to the last place of a float; "" for others,
    however small: telescopes have such. Nobody's field of view is so by accident."""
    if not 0 < value < math.pi:
        return ""
    degrees = 5 * round(math.degrees(value) / 5)
    if not degrees or abs(value - math.radians(degrees)) > 1e-7 * value:
        return ""
    return f"{value:.8g}, the radians of {degrees} degrees; it is in degrees: give {degrees}"


@dataclass
class OrbitCamera(Spelt):
    """A camera that looks at ``target`` from ``distance`` away; what the viewer turns, moves and zooms.

    ``yaw`` turns about the world's y axis (0: the camera is on the +z side), ``pitch`` lifts the camera (positive: it looks down).
    Angles in radians (a ``pitch`` beyond a quarter turn is upside down, and beyond a turn an error), field of view in degrees.
    ``radius`` is that of the thing looked at: near and far planes follow from it.
    Raises :class:`tilegpu.ValidationError` for what makes no picture, when it is made and when it is asked for a matrix.
    """

    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    distance: float = 3.0
    yaw: float = 0.0
    pitch: float = 0.0
    fov_y: float = 45.0
    radius: float = 1.0
    near: float | None = None
    far: float | None = None
    _home: tuple[tuple[float, float, float], float, float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check()
        self._home = (self.target, self.distance, self.yaw, self.pitch)

    def _check(self) -> None:
        """Raises for a field that makes no picture; the fields may have been set since it was made."""
        what = "OrbitCamera"
        must = "it must be three numbers (x, y, z)"
        if not all(map(math.isfinite, arguments.numbers(self.target, f"{what}: target", (3,), must))):
            raise ValidationError(f"{what}: target is {arguments.shown(self.target)}; {must}")
        for name, low, high, must in (
            ("distance", 0.0, math.inf, "a number above 0"),
            ("yaw", -MOST_ANGLE, MOST_ANGLE, "a number of radians, within a turn or some"),
            ("pitch", -2 * math.pi, 2 * math.pi, "radians, within a turn: math.radians(45) for 45 degrees"),
            ("fov_y", 0.0, 180.0, "between 0 and 180 degrees"),
            ("radius", 0.0, math.inf, "a number above 0"),
            ("near", 0.0, math.inf, "a distance above 0, or None"),
            ("far", 0.0, math.inf, "a distance above 0, or None"),
        ):
            value = getattr(self, name)
            if value is None and name in ("near", "far"):
                continue
            if not low < arguments.number(value, f"{what}: {name}", f"it must be {must}") < high:
                raise ValidationError(f"{what}: {name} is {arguments.shown(value)}; it must be {must}")
        if wrong := radians_for_degrees(self.fov_y):
            raise ValidationError(f"{what}: fov_y is {wrong}")
        near, far = self._planes()
        if not near < far:
            given = "" if self.far is not None else " (distance + 4 * radius)"
            raise ValidationError(f"{what}: near is {near:g} and far is {far:g}{given}; far must be beyond near")

    def _planes(self) -> tuple[float, float]:
        near = self.near if self.near is not None else max(self.distance - 4 * self.radius, self.distance * 0.02)
        return near, self.far if self.far is not None else self.distance + 4 * self.radius

    @staticmethod
    def framing(
        low: ArrayLike,
        high: ArrayLike,
        yaw: float = 0.5,
        pitch: float = 0.3,
        fov_y: float = 40.0,
        points: ArrayLike | None = None,
        aspect: float = 16 / 9,
        fill: float = 0.9,
        turn: bool = False,
    ) -> OrbitCamera:
        """A camera that shows the box from ``low`` to ``high`` as large as fits ``fill`` of the frame.

        ``points``: (N, 3) vertices to fit instead of the box's corners (a tighter fit). ``aspect``: width / height to fit. ``turn``: so
        that they fit at every yaw, from one distance, about the upright axis through the box's centre; else at ``yaw`` alone.
        """
        lo, hi = np.asarray(low, np.float64), np.asarray(high, np.float64)
        if points is None:
            corners = np.array([[(lo, hi)[i >> k & 1][k] for k in range(3)] for i in range(8)])
        else:
            corners = np.asarray(points, np.float64).reshape(-1, 3)
        centre = (lo + hi) / 2
        # A point, or what 32-bit floats can't tell from one so far from the origin, is looked at from a distance that they can hold.
        least = max(1e-6, 1e-5 * float(np.abs(centre).max()))
        radius = max(math.dist(hi.tolist(), lo.tolist()) / 2, least)
        camera = OrbitCamera((0.0, 0.0, 0.0), 1.0, yaw, pitch, fov_y, radius)
        if turn:
            height, distance = _fit_of_turn(corners - centre, pitch, math.tan(math.radians(fov_y) / 2) * fill, aspect, radius)
            camera.target = (float(centre[0]), float(centre[1]) + height, float(centre[2]))
            camera.distance = max(distance, least)
            camera.__post_init__()
            return camera
        local = transform(camera._axes(), corners - centre)  # in the camera's axes, about the centre
        tan_y = math.tan(math.radians(fov_y) / 2) * fill
        tan_x = tan_y * aspect
        # Alternate: centre the projected extent, then the smallest distance at which every point is inside the frame.
        shift = np.zeros(2)
        distance = radius
        for _ in range(8):
            x, y, z = local[:, 0] - shift[0], local[:, 1] - shift[1], local[:, 2]
            distance = float(np.max(np.maximum(np.abs(x) / tan_x, np.abs(y) / tan_y) + z))
            distance = max(distance, 1e-3 * radius + float(np.max(z)), least)
            depth = distance - z
            px, py = x / depth, y / depth
            shift = shift + np.array([(px.max() + px.min()) / 2, (py.max() + py.min()) / 2]) * distance
        axes = camera._axes()
        target = centre + axes[0] * shift[0] + axes[1] * shift[1]
        camera.target = (float(target[0]), float(target[1]), float(target[2]))
        camera.distance = distance
        camera.__post_init__()
        return camera

    def _axes(self) -> NDArray[np.float64]:
        """(3, 3): rows are the camera's right, up and backward axes in the world."""
        cy, sy, cp, sp = math.cos(self.yaw), math.sin(self.yaw), math.cos(self.pitch), math.sin(self.pitch)
        return np.array([[cy, 0, -sy], [-sy * sp, cp, -cy * sp], [sy * cp, sp, cy * cp]])

    @property
    def eye(self) -> NDArray[np.float32]:
        """(3,) position of the camera in the world."""
        return (np.array(self.target) + self._axes()[2] * self.distance).astype(F)

    def view(self) -> Matrix:
        """(4, 4) world to camera."""
        self._check()
        axes = self._axes()
        out = np.eye(4)
        out[:3, :3] = axes
        out[:3, 3] = -transform(axes, np.array(self.target))
        out[2, 3] -= self.distance
        return out.astype(F)

    def projection(self, aspect: float) -> Matrix:
        """(4, 4) camera to clip space; ``aspect`` = width / height."""
        self._check()
        must = "it must be width / height, above 0"
        if not 0 < arguments.number(aspect, "OrbitCamera: aspect", must) < math.inf:
            raise ValidationError(f"OrbitCamera: aspect is {arguments.shown(aspect)}; {must}")
        return perspective(self.fov_y, aspect, *self._planes())

    def view_projection(self, aspect: float) -> Matrix:
        """(4, 4) world to clip space."""
        return multiply(self.projection(aspect), self.view())

    def corner_directions(self, aspect: float) -> NDArray[np.float64]:
        """(3, 3) directions in the world at (-1, -1), (3, -1) and (-1, 3) of clip space, y down."""
        return corner_directions(self._axes(), self.fov_y, aspect)

    def rotate(self, yaw: float, pitch: float) -> None:
        """Turn by angles in radians; pitch stops short of the poles."""
        yaw, pitch = _finite(yaw, "rotate: yaw"), _finite(pitch, "rotate: pitch")
        self.yaw = math.remainder(self.yaw + yaw, 2 * math.pi)
        self.pitch = min(max(self.pitch + pitch, -1.55), 1.55)

    def zoom(self, factor: float) -> None:
        """Multiply the distance (below 1: nearer)."""
        factor = _finite(factor, "zoom: factor")
        self.distance = min(max(self.distance * factor, 0.02 * self.radius), 100 * self.radius)

    def pan(self, right: float, up: float) -> None:
        """Move the target in the picture plane; 1 is the height of the frame."""
        right, up = _finite(right, "pan: right"), _finite(up, "pan: up")
        span = 2 * self.distance * math.tan(math.radians(self.fov_y) / 2)
        axes = self._axes()
        target = np.array(self.target) + (axes[0] * right + axes[1] * up) * span
        self.target = (float(target[0]), float(target[1]), float(target[2]))

    def reset(self) -> None:
        """Back to where it was made."""
        self.target, self.distance, self.yaw, self.pitch = self._home


def _fit_of_turn(points: NDArray[np.float64], pitch: float, tan_y: float, aspect: float, radius: float) -> tuple[float, float]:
    """(height of the target, distance) from which ``points`` (N, 3) lie within the frame at every yaw, in its middle from top to bottom.

    A point at height h, r from the axis, goes on a circle. Angle a on it is r sin(a) to the right, h cos(p) - r cos(a) sin(p) up and
    h sin(p) + r cos(a) cos(p) towards the camera, which sees it inside from a distance of |right| / tan_x + towards, and of |up| / tan_y +
    towards. The most of each over all a is A sin(a) + B cos(a) at its largest, hypot(A, B), so no angle is left out.
    """
    c, s, h = math.cos(pitch), math.sin(pitch), points[:, 1]
    r = np.sqrt(points[:, 0] * points[:, 0] + points[:, 2] * points[:, 2])
    across = float(np.max(h * s + r * math.hypot(1 / (tan_y * aspect), c)))

    def upright(tan: float) -> tuple[float, float, float]:
        """What points above and below the middle need, before the target is moved; the height at which it is the same."""
        above = float(np.max(h * (s + c / tan) + r * abs(c - s / tan)))
        below = float(np.max(h * (s - c / tan) + r * abs(c + s / tan)))
        return above, below, (above - below) * tan / (2 * c) if c > 1e-3 else 0.0

    above, below, height = upright(tan_y)
    if across - height * s > above - height * (s + c / tan_y):
        # The width decides, and height is left over, as much above as below: as if the frame were as low as the points are.
        low, high = 1e-3 * tan_y, tan_y
        for _ in range(12):
            tan = math.sqrt(low * high)
            reached, _, height = upright(tan)
            low, high = (low, tan) if reached - height * (s + c / tan) < across - height * s else (tan, high)
    distance = max(above - height * (s + c / tan_y), below - height * (s - c / tan_y), across - height * s)
    nearest = float(np.max(h * s + r * abs(c))) - height * s
    return height, max(distance, nearest + 1e-3 * radius)


@dataclass(frozen=True, eq=False)
class FixedCamera:
    """A camera that a file places. ``to_world``: (4, 4) float64; it looks along its -z, y up; scale does not count.

    A perspective of ``fov_y`` degrees, or (``None``) an orthographic view of ``half_height`` each way. ``far``: ``None``: infinitely far.
    """

    to_world: NDArray[np.float64]
    near: float
    far: float | None
    fov_y: float | None
    half_height: float = 1.0

    def axes(self) -> NDArray[np.float64]:
        """(3, 3): rows are the camera's right, up and backward axes in the world, of length 1 and at right angles."""
        backward = _unit3(self.to_world[:3, 2], (0.0, 0.0, 1.0))
        right = self.to_world[:3, 0]
        along = float(right[0] * backward[0] + right[1] * backward[1] + right[2] * backward[2])
        right = _unit3(right - along * backward, (1.0, 0.0, 0.0))
        (ax, ay, az), (bx, by, bz) = backward, right
        return np.stack([right, np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]), backward])

    @property
    def eye(self) -> NDArray[np.float32]:
        """(3,) position of the camera in the world; of an orthographic one far behind, so that all views are parallel."""
        place = self.to_world[:3, 3]
        if self.fov_y is None:
            place = place + self.axes()[2] * (1e5 * self.half_height)
        out: NDArray[np.float32] = place.astype(F)
        return out

    def view_projection(self, aspect: float) -> Matrix:
        """(4, 4) world to clip space; ``aspect`` = width / height of the picture, whose height shows what the camera's does."""
        axes = self.axes()
        view = np.eye(4)
        view[:3, :3] = axes
        view[:3, 3] = -transform(axes, self.to_world[:3, 3])
        return multiply(self._projection(aspect), view.astype(F))

    def _projection(self, aspect: float) -> Matrix:
        if self.fov_y is not None:
            if self.far is not None:
                return perspective(self.fov_y, aspect, self.near, self.far)
            out = perspective(self.fov_y, aspect, self.near, 2 * self.near)
            out[2, 2], out[2, 3] = -1, -F(self.near)
            return out
        assert self.far is not None
        out = np.eye(4, dtype=F)
        out[0, 0], out[1, 1] = 1 / (self.half_height * aspect), -1 / self.half_height
        out[2, 2], out[2, 3] = -1 / (self.far - self.near), -self.near / (self.far - self.near)
        return out

    def corner_directions(self, aspect: float) -> NDArray[np.float64]:
        """(3, 3) directions in the world at (-1, -1), (3, -1) and (-1, 3) of clip space, y down; all one of an orthographic camera."""
        return corner_directions(self.axes(), self.fov_y or 0.0, aspect)

    def orbit(self, centre: ArrayLike, radius: float) -> OrbitCamera:
        """A camera to turn, at the same place and in the same direction, about what of ``centre`` lies ahead; it does not roll."""
        axes = self.axes()
        right, backward = axes[0], axes[2]
        ahead = float(np.sum((self.to_world[:3, 3] - np.asarray(centre, np.float64)) * backward))
        distance = max(ahead, 0.1 * radius, 1e-6)
        target = self.to_world[:3, 3] - backward * distance
        fov_y = self.fov_y if self.fov_y is not None else math.degrees(2 * math.atan(self.half_height / distance))
        pitch = math.asin(min(max(float(backward[1]), -1.0), 1.0))
        yaw = math.atan2(float(backward[0]), float(backward[2])) if abs(pitch) < 1.55 else math.atan2(-float(right[2]), float(right[0]))
        where = (float(target[0]), float(target[1]), float(target[2]))
        return OrbitCamera(where, distance, yaw, pitch, fov_y, radius)


def corner_directions(axes: NDArray[np.float64], fov_y_degrees: float, aspect: float) -> NDArray[np.float64]:
    """(3, 3) directions at (-1, -1), (3, -1) and (-1, 3) of clip space, y down, for axes right, up, backward."""
    high = math.tan(math.radians(fov_y_degrees) / 2)
    places = ((-1.0, -1.0), (3.0, -1.0), (-1.0, 3.0))
    return np.stack([axes[0] * (x * high * aspect) - axes[1] * (y * high) - axes[2] for x, y in places])


def _unit3(v: NDArray[np.float64], fallback: tuple[float, float, float]) -> NDArray[np.float64]:
    length = math.sqrt(float(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]))
    return v / length if length > 0 else np.array(fallback)
