"""Window coordinates, framebuffer pixels and camera movements: pure functions.

A window's coordinates (what the mouse reports) are not pixels where the display is scaled (HiDPI): the framebuffer may be larger.
Both have their origin at the top left and y down, as Vulkan's images do.
"""

from __future__ import annotations

import math

Size = tuple[int, int]


def to_framebuffer(x: float, y: float, window: Size, framebuffer: Size) -> tuple[int, int]:
    """Pixel of the framebuffer under the window coordinate (x, y), clamped to the framebuffer."""
    if min(*window, *framebuffer) <= 0:
        return 0, 0
    px = math.floor(x * framebuffer[0] / window[0])
    py = math.floor(y * framebuffer[1] / window[1])
    return min(max(px, 0), framebuffer[0] - 1), min(max(py, 0), framebuffer[1] - 1)


def render_size(framebuffer: Size, limit: int = 16384) -> Size | None:
    """Size to render at for a framebuffer: itself, within the limits of an image; ``None`` while the window is minimised."""
    if framebuffer[0] <= 0 or framebuffer[1] <= 0:
        return None
    return min(framebuffer[0], limit), min(framebuffer[1], limit)


def drag_to_turn(dx: float, dy: float, window: Size) -> tuple[float, float]:
    """(yaw, pitch) in radians for a drag by (dx, dy) window coordinates: the window's smaller side is half a turn.

    Dragging right turns the model to the right (the camera goes left), dragging down shows more of the top.
    """
    scale = math.pi / max(1, min(window))
    return -dx * scale, dy * scale


def drag_to_pan(dx: float, dy: float, window: Size) -> tuple[float, float]:
    """(right, up) movement of the camera's target for a drag, in heights of the frame: the model follows the mouse."""
    scale = 1.0 / max(1, window[1])
    return -dx * scale, dy * scale


def wheel_to_zoom(steps: float) -> float:
    """Factor of the camera's distance for wheel steps (up: nearer)."""
    return math.exp(-0.12 * steps)


def fitted(picture: Size, framebuffer: Size) -> tuple[int, int, int, int]:
    """(left, top, width, height) in the framebuffer of a picture of another size: as large as fits, in the middle, its shape kept."""
    if min(*picture, *framebuffer) <= 0:
        return 0, 0, max(framebuffer[0], 0), max(framebuffer[1], 0)
    scale = min(framebuffer[0] / picture[0], framebuffer[1] / picture[1])
    width, height = max(1, round(picture[0] * scale)), max(1, round(picture[1] * scale))
    return (framebuffer[0] - width) // 2, (framebuffer[1] - height) // 2, width, height


def to_picture(pixel: tuple[int, int], framebuffer: Size, picture: Size) -> tuple[int, int]:
    """The picture's pixel that the framebuffer shows at ``pixel``, clamped to the picture."""
    left, top, width, height = fitted(picture, framebuffer)
    x, y = (pixel[0] - left) * picture[0] // max(width, 1), (pixel[1] - top) * picture[1] // max(height, 1)
    return min(max(x, 0), picture[0] - 1), min(max(y, 0), picture[1] - 1)
