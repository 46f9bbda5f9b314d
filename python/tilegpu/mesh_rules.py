"""What a pipeline with a mesh shader can not have: all that stands before shaders, and the shaders that it takes the place of.

In: the arguments of ``dev.pipeline``. Out: :class:`ValidationError`, or nothing. Source: Vulkan specification, "Mesh Shading", "Valid
Usage" of VkGraphicsPipelineCreateInfo (pStages-02095 to -02097, -pDynamicState-07065 to -07068).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tilegpu.errors import ValidationError

if TYPE_CHECKING:
    from tilegpu.interface import Stages

_ARGUMENT = {"vertex": "vert="}  # where it is not the stage's name
#: Arguments that say what vertices and primitives go in, and what they are by default.
_OF_ASSEMBLY: dict[str, Any] = {
    "vertex": None,
    "instance": None,
    "topology": None,
    "primitive_restart": False,
    "patch_control_points": 3,
    "domain_origin": "upper_left",
}
_STATES = frozenset({
    "vertex_input", "vertex_input_binding_stride", "primitive_topology", "primitive_restart_enable", "patch_control_points",
    "tessellation_domain_origin",
})  # fmt: skip


def check_mesh_stages(stages: Stages, what: str) -> None:
    """A mesh shader stands for all before the rasterizer, and a task shader before it."""
    if "task" in stages and "mesh" not in stages:
        raise ValidationError(f"{what}: task= is given without mesh=; a task shader starts workgroups of a mesh shader: give both")
    if "mesh" not in stages:
        return
    for stage in ("vertex", "tessellation_control", "tessellation_evaluation", "geometry"):
        if stage in stages:
            name = _ARGUMENT.get(stage, f"{stage}=")
            raise ValidationError(f"{what}: mesh= and {name} are given; a mesh shader makes the primitives itself: leave out one of both")


def check_mesh_arguments(given: Mapping[str, Any], what: str) -> None:
    """Of a pipeline with a mesh shader."""
    for name, plain in _OF_ASSEMBLY.items():
        value = given[name]
        if value is not None and not (type(value) is type(plain) and value == plain):
            why = "has no vertex input" if name in ("vertex", "instance") else "says itself what it makes (layout(triangles) out)"
            raise ValidationError(f"{what}: {name}= is given beside mesh=; a mesh shader {why}: leave it out")


def left_of_meshes(left: frozenset[str], everything: bool, what: str) -> frozenset[str]:
    """State that is left to the pass. ``everything``: nobody named it."""
    wrong = sorted(left & _STATES)
    if wrong and not everything:
        it = "it" if len(wrong) == 1 else "them"
        raise ValidationError(f"{what}: dynamic has {', '.join(wrong)}, which a mesh shader has not; leave {it} out")
    return left - _STATES
