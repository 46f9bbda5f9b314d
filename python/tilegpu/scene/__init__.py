"""Scenes: renderer-neutral descriptions of pictures, the samples, and models read from files.

>>> from tilegpu.scene import scenes
>>> frame = scenes()["mesh_1m"].frame((640, 360), samples=4)
"""

from tilegpu.scene.description import (
    ALPHA_BLEND,
    Blend,
    Draw,
    Frame,
    Program,
    RenderResult,
    Sampler,
    Scene,
    State,
    Texture,
)
from tilegpu.scene.resources import find_scene, scenes

__all__ = [
    "ALPHA_BLEND",
    "Blend",
    "Draw",
    "Frame",
    "Program",
    "RenderResult",
    "Sampler",
    "Scene",
    "State",
    "Texture",
    "find_scene",
    "scenes",
]
