"""Scenes: renderer-neutral descriptions of pictures, the samples, and models read from files.

>>> from tilegpu.scene import scenes
>>> frame = scenes()["mesh_1m"].frame((640, 360), samples=4)

The door of this room: other rooms import from here. The modules that it names are what samples are made of.
"""

from tilegpu import keywords
from tilegpu.scene import bake, camera, glyphs, mesh, procedural, shapes
from tilegpu.scene.description import (
    ALPHA_BLEND,
    CLAMPED,
    Blend,
    Draw,
    Frame,
    Output,
    Pass,
    Program,
    RenderResult,
    Sampled,
    Sampler,
    Scene,
    State,
    Target,
    Texture,
)
from tilegpu.scene.environment import Environment
from tilegpu.scene.interaction import KEY_NAMES as KEY_NAMES
from tilegpu.scene.interaction import Interaction, Keys, Mouse, View
from tilegpu.scene.mipmaps import mip_chain
from tilegpu.scene.model_file import ModelError
from tilegpu.scene.page import Page
from tilegpu.scene.programs import program, shader_text
from tilegpu.scene.render import SceneRenderer
from tilegpu.scene.resources import MODEL_SUFFIXES, UnknownSceneError, find_scene, load_file, scene_file, scenes
from tilegpu.scene.seals import frozen
from tilegpu.scene.user_file import DrawnFrame, FrameScene, FunctionScene, SceneFileError

__all__ = [
    "ALPHA_BLEND",
    "CLAMPED",
    "MODEL_SUFFIXES",
    "Blend",
    "Draw",
    "DrawnFrame",
    "Environment",
    "Frame",
    "FrameScene",
    "FunctionScene",
    "Interaction",
    "Keys",
    "ModelError",
    "Mouse",
    "Output",
    "Page",
    "Pass",
    "Program",
    "RenderResult",
    "Sampled",
    "Sampler",
    "Scene",
    "SceneFileError",
    "SceneRenderer",
    "State",
    "Target",
    "Texture",
    "UnknownSceneError",
    "View",
    "bake",
    "camera",
    "find_scene",
    "frozen",
    "glyphs",
    "load_file",
    "mesh",
    "mip_chain",
    "procedural",
    "program",
    "scene_file",
    "scenes",
    "shader_text",
    "shapes",
]

keywords.explain_calls(globals(), __all__, "tilegpu.scene")
