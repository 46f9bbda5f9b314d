"""The light of models and of the demo: three lights and a sky, as members of the uniform block ``view`` of ``pbr.frag``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilegpu.scene.camera import FixedCamera, OrbitCamera

F = np.float32


def direction(yaw: float, pitch: float) -> tuple[float, float, float]:
    """Unit vector to a light at ``yaw`` about y (0: +z, positive towards +x) and ``pitch`` above the horizon, in degrees."""
    a, b = math.radians(yaw), math.radians(pitch)
    return (math.sin(a) * math.cos(b), math.sin(b), math.cos(a) * math.cos(b))


def view_block(
    camera: OrbitCamera | FixedCamera,
    aspect: float,
    lights: Sequence[tuple[tuple[float, float, float], tuple[float, float, float], float]],
    sky: tuple[float, float, float],
    horizon: tuple[float, float, float],
    ground: tuple[float, float, float],
    exposure: float = 1.0,
) -> dict[str, Any]:
    """Members of ``view``. ``lights``: up to three of (unit direction to the light, colour, size as added roughness)."""
    directions, colours = np.zeros((3, 4), F), np.zeros((3, 4), F)
    directions[:, 1] = 1
    for k, (towards, colour, size) in enumerate(lights):
        directions[k], colours[k] = (*towards, size), (*colour, 0)
    return {
        "view_projection": camera.view_projection(aspect),
        "eye": np.array([*camera.eye, exposure], F),
        "light_direction": directions,
        "light_color": colours,
        "sky": np.array([*sky, 0], F),
        "horizon": np.array([*horizon, 0], F),
        "ground": np.array([*ground, 0], F),
    }


#: Of models: what the light is multiplied by before the tone curve.
EXPOSURE = 0.62


def studio(camera: OrbitCamera | FixedCamera, aspect: float, yaw_degrees: float, exposure: float = EXPOSURE) -> dict[str, Any]:
    """The set-up for models: a warm key light, a cool fill light and a rim light, placed about the direction ``yaw_degrees``."""
    lights = (
        (direction(yaw_degrees + 40, 45), (2.3, 2.2, 2.0), 0.08),
        (direction(yaw_degrees - 65, 15), (0.35, 0.45, 0.6), 0.2),
        (direction(yaw_degrees + 165, 35), (1.2, 1.25, 1.35), 0.1),
    )
    return view_block(camera, aspect, lights, (0.36, 0.42, 0.54), (0.5, 0.5, 0.5), (0.1, 0.09, 0.08), exposure)
