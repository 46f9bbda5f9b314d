"""Which samples a triangle covers.

Source: Vulkan specification, "Basic Polygon Rasterization" (a sample is covered when it is inside; one that lies on an edge belongs to the
triangle of which the edge is a top or left one), "Multisampling" (standardSampleLocations), subPixelPrecisionBits = 8.
"""

from __future__ import annotations

import numpy as np

SUBPIXEL = 256

# In sixteenths of a pixel from its top-left corner; the tables of "standardSampleLocations".
SAMPLE_LOCATIONS = {
    1: [(8, 8)],
    2: [(12, 12), (4, 4)],
    4: [(6, 2), (14, 6), (2, 10), (10, 14)],
    8: [(9, 5), (7, 11), (13, 9), (5, 3), (3, 13), (1, 7), (11, 15), (15, 1)],
    16: [(9, 9), (7, 5), (5, 10), (12, 7), (3, 6), (10, 13), (13, 11), (11, 3),
         (6, 14), (8, 1), (4, 2), (2, 12), (0, 8), (15, 4), (14, 15), (1, 0)],
}  # fmt: skip


def snap(xy: np.ndarray) -> np.ndarray:
    """Framebuffer coordinates (..., 2) to integers of 1/256 pixel, to nearest even."""
    return np.rint(np.asarray(xy, np.float64) * SUBPIXEL).astype(np.int64)


def sample_points(width: int, height: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of every sample in 1/256 pixel, each of shape (height, width, samples)."""
    locations = np.array(SAMPLE_LOCATIONS[samples], np.int64) * (SUBPIXEL // 16)
    x = np.arange(width, dtype=np.int64)[None, :, None] * SUBPIXEL + locations[None, None, :, 0]
    y = np.arange(height, dtype=np.int64)[:, None, None] * SUBPIXEL + locations[None, None, :, 1]
    return np.broadcast_to(x, (height, width, samples)), np.broadcast_to(y, (height, width, samples))


def covered(triangle: np.ndarray, width: int, height: int, samples: int) -> np.ndarray:
    """Coverage (height, width, samples) of a triangle of snapped vertices (3, 2). Python integers are not needed: coordinates stay
    below 2**24 and products below 2**49."""
    a, b, c = (tuple(int(v) for v in p) for p in triangle)
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    if area == 0:
        return np.zeros((height, width, samples), bool)
    if area < 0:
        b, c = c, b
    x, y = sample_points(width, height, samples)
    inside = np.ones((height, width, samples), bool)
    # Positive area with y down: clockwise on the screen. A top edge is level and runs to the right, a left edge runs up.
    for p, q in ((a, b), (b, c), (c, a)):
        dx, dy = q[0] - p[0], q[1] - p[1]
        edge = dx * (y - p[1]) - dy * (x - p[0])
        top_left = dy < 0 or (dy == 0 and dx > 0)
        inside &= (edge > 0) | ((edge == 0) & top_left)
    return inside
