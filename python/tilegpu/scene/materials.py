"""Metallic-roughness materials and how a draw uses them: program, uniform block, textures, state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tilegpu.scene.description import Program, State, Texture
from tilegpu.scene.programs import program

F = np.float32
#: Map of a material to the name of its sampler in pbr.frag, in the order of the bindings.
MAPS = ("base_color", "metal_rough", "normal", "occlusion", "emissive")


@dataclass(frozen=True, eq=False)
class Material:
    """glTF's metallic-roughness material. Colours are linear; textures of ``base_color`` and ``emissive`` have an sRGB format.

    ``maps``: a texture by name out of :data:`MAPS`. ``uv_sets``: which texture coordinate of the mesh each map reads.
    """

    name: str = "material"
    base_color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    metallic: float = 1.0
    roughness: float = 1.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal_scale: float = 1.0
    occlusion_strength: float = 1.0
    alpha_mode: Literal["OPAQUE", "MASK", "BLEND"] = "OPAQUE"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    unlit: bool = False
    maps: Mapping[str, Texture] = field(default_factory=dict)
    uv_sets: Mapping[str, int] = field(default_factory=dict)

    def block(self) -> dict[str, Any]:
        """Members of the uniform block ``material``."""
        return {
            "base_color": np.array(self.base_color, F),
            "emissive": np.array([*self.emissive, self.alpha_cutoff], F),
            "factors": np.array([self.metallic, self.roughness, self.normal_scale, self.occlusion_strength], F),
        }

    def program(self, uv_count: int, vertex_color: bool, tangents: bool, variant: Mapping[str, object] | None = None) -> Program:
        """The variant of pbr.vert and pbr.frag for a mesh with these attributes. ``variant``: more names to define."""
        defines: dict[str, object] = {"UV_COUNT": uv_count, **(variant or {})}
        for name in MAPS:
            used = name in self.maps and not (self.unlit and name != "base_color") and (name != "normal" or tangents)
            if used:
                defines[f"{name.upper()}_UV"] = f"v_uv{self.uv_sets.get(name, 0)}"
        if vertex_color:
            defines["VERTEX_COLOR"] = 1
        if self.unlit:
            defines["UNLIT"] = 1
        if self.alpha_mode != "OPAQUE":
            defines[f"ALPHA_{self.alpha_mode}"] = 1
        return program("pbr.vert", "pbr.frag", **defines)

    def textures(self, shader: Program) -> dict[str, Texture]:
        """Textures by the names of the samplers that ``shader`` has."""
        return {
            f"{name}_map": self.maps[name]
            for name in MAPS
            if name in self.maps and f"#define {name.upper()}_UV " in (shader.fragment or "")
        }

    def states(self, mirrored: bool) -> tuple[State, ...]:
        """State of each draw needed: two for a blended, double-sided material (back faces first), else one.

        ``mirrored``: the node's matrix turns the winding round.
        """
        front: Literal["clockwise", "counter_clockwise"] = "clockwise" if mirrored else "counter_clockwise"
        if self.alpha_mode == "BLEND":
            sides: tuple[Literal["front", "back"], ...] = ("front", "back") if self.double_sided else ("back",)
            return tuple(State(cull=side, front_face=front, depth_write=False, blend="alpha") for side in sides)
        return (State(cull="none" if self.double_sided else "back", front_face=front),)
