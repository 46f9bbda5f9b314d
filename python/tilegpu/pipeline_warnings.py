"""What a new pipeline is warned of: outputs and attachments that don't meet, alpha that is not there, arguments of draws without effect.

In: a pipeline, what it was made of. Out: warnings, once for each pipeline and name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core
from tilegpu.errors import UndefinedContentsError, UndefinedContentsWarning
from tilegpu.pipeline_rules import POSITION, Words, writes_built_in
from tilegpu.program import Program
from tilegpu.structs import type_name

if TYPE_CHECKING:
    from tilegpu.interface import Stages

_TYPES: dict[str, int] = _core.ENUMS["descriptor_type"]
_TOPOLOGIES: dict[str, int] = _core.ENUMS["primitive_topology"]
_LINES = {_TOPOLOGIES[name] for name in _TOPOLOGIES if "line" in name}
_FILL: int = _core.ENUMS["polygon_mode"]["fill"]
_INPUT = _TYPES["input_attachment"]
_WRITTEN = {_TYPES[name] for name in ("storage_buffer", "storage_image", "storage_texel_buffer")}
_SOURCE_ALPHA = frozenset({"src_alpha", "one_minus_src_alpha", "src_alpha_saturate"})
_CONSTANTS = frozenset({"constant_color", "one_minus_constant_color", "constant_alpha", "one_minus_constant_alpha"})
# SPIR-V's numbers: instructions, modes, built-ins.
_MODE, _BEFORE_MODES = 16, frozenset({10, 11, 14, 15, 17, 331})
_EARLY_TESTS, _DEPTH_REPLACING, _STENCIL_REPLACING = 9, 12, 5027
_FRAG_DEPTH, _FRAG_STENCIL = 22, 5014
_BLEND_STATES = frozenset({"color_blend_enable", "color_blend_equation", "color_blend_advanced"})


def _is(given: Any, nothing: int | str | None) -> bool:
    """Whether an argument is its default; users give arrays, too, which ``==`` compares by elements."""
    return not isinstance(given, (np.ndarray, list, tuple)) and bool(given == nothing)


def idle_arguments(
    info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str], factors: Sequence[frozenset[str]]
) -> dict[str, str]:
    """Arguments of a draw that have no effect with the pipeline, and what of ``dev.pipeline`` would give them one."""
    idle: dict[str, str] = {}
    if not info.depth_stencil.stencil_test and "stencil_test_enable" not in dynamic:
        idle["stencil_reference"] = "stencil_test="
    if not info.rasterization.depth_bias_enable and "depth_bias_enable" not in dynamic:
        idle["depth_bias"] = "depth_bias=(0, 0)" if info.depth_format else "a depth attachment: give depth=, and depth_bias=(0, 0)"
    if not any(names & _CONSTANTS for names in factors) and dynamic.isdisjoint(_BLEND_STATES):
        idle["blend_constants"] = "blend= with a factor such as 'constant_color'"
    return idle


def warn_of_idle(pipeline: Program, info: _core.GraphicsPipelineCreateInfo, idle: dict[str, str], constants: bool) -> None:
    """What was given to ``dev.pipeline``, and nothing looks at. ``idle``: of its draws; ``constants``: whether any was given."""
    if constants and "blend_constants" in idle:
        pipeline.warn_unused("blend_constants", f"blend_constants has no effect without {idle['blend_constants']}")
    if info.rasterization.depth_bias_enable and not info.depth_format:
        pipeline.warn_unused("depth_bias", "depth_bias has no effect without a depth attachment; give depth=")


def warn_of_assembly(
    pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str], given: Mapping[str, Any]
) -> None:
    """State of patches without tessellation, of lines where there are none, blending where a logic operation takes its place, input
    attachments that nothing reads. ``given``: the arguments of ``dev.pipeline``."""
    if "tessellation_control" not in pipeline._stages:
        for name, plain in (("patch_control_points", 3), ("domain_origin", "upper_left")):
            if name not in dynamic and not _is(given[name], plain):
                pipeline.warn_unused(name, f"{name} has no effect without tessellation shaders")
    plain = pipeline._stages.keys() <= {"vertex", "fragment"} and dynamic.isdisjoint({"primitive_topology", "polygon_mode", "line_width"})
    if plain and given["polygon_mode"] == "fill" and info.topology not in _LINES:
        for name, nothing in (("line_width", 1), ("line_mode", None), ("line_stipple", None)):
            if not _is(given[name], nothing):
                fix = "give topology='line_list', or polygon_mode='line'"
                pipeline.warn_unused(name, f"{name} has no effect: nothing is drawn as lines; {fix}")
    lines = given["polygon_mode"] if "polygon_mode" not in dynamic and info.rasterization.polygon_mode != _FILL else None
    if lines and info.rasterization.conservative_mode and "conservative_rasterization_mode" not in dynamic:
        fix = "lines and points are covered by their own rules; leave it out, or draw polygon_mode='fill'"
        pipeline.warn_unused("conservative", f"conservative has no effect with polygon_mode='{lines}': {fix}")
    blend = given["blend"]
    blends = any(one is not None for one in blend) if isinstance(blend, (list, tuple)) else blend is not None
    if blends and given["logic_op"] is not None and "logic_op_enable" not in dynamic:
        pipeline.warn_unused("blend", "blend has no effect beside logic_op, which takes its place; leave one of them out")
    reads = any(b.descriptor == _INPUT for module in pipeline._stages.values() for b in module.reflection.bindings)
    if given["input_attachments"] is not None and not reads:
        pipeline.warn_unused("input_attachments", "input_attachments has no effect as no shader reads a subpassInput")


def warn_of_position(pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str], strict: bool) -> None:
    """Primitives whose last shader never says where they are; ``strict``: of the device. Not of those that draw nothing by design: whose
    shaders store elsewhere, or that have neither attachments nor a fragment shader."""
    stages = pipeline._stages
    stage = next(name for name in ("mesh", "geometry", "tessellation_evaluation", "vertex") if name in stages)
    draws = "fragment" in stages or any(info.color_formats) or info.depth_format or info.stencil_format
    if not draws or info.rasterization.rasterizer_discard or "rasterizer_discard_enable" in dynamic:
        return
    module = stages[stage]
    if writes_built_in(bytes(module.spirv), POSITION) or any(b.used and b.descriptor in _WRITTEN for b in module.reflection.bindings):
        return
    what = f"the {stage.replace('_', ' ')} shader never writes gl_Position; write it, or give rasterizer_discard=True"
    if strict:
        raise UndefinedContentsError(f"{pipeline.title}: {what}")
    pipeline._warn_once("gl_Position", f"{what}. Vulkan leaves it undefined; here it is 0, and nothing is drawn", UndefinedContentsWarning)


def warn_of_tests(pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str], depth_write: bool | None) -> None:
    """Depth is written only where it is tested. ``depth_write``: as it was given."""
    if depth_write and not info.depth_stencil.depth_test and dynamic.isdisjoint(("depth_test_enable", "depth_write_enable")):
        fix = "depth is written where it is tested; give depth_compare='always' in the place of depth_test=False"
        pipeline.warn_unused("depth_write", f"depth_write=True has no effect without depth_test: {fix}")


def warn_of_replaced(pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str]) -> None:
    """Depth and stencil references that a fragment shader writes, and no test looks at."""
    module = pipeline._stages.get("fragment")
    if module is None or info.rasterization.rasterizer_discard:
        return
    modes: set[int] = set()
    for number, operands in Words(module.spirv).instructions():
        if number == _MODE:
            modes.add(operands[1])
        elif number not in _BEFORE_MODES:
            break
    early = _EARLY_TESTS in modes
    without = "has no effect with layout(early_fragment_tests), which takes the primitive's; leave one of them out"
    if _DEPTH_REPLACING in modes and writes_built_in(bytes(module.spirv), _FRAG_DEPTH):
        why = "" if info.depth_format else "has no effect without a depth attachment; give depth="
        if early or why:  # depth_test=False, which one must say, is meant
            pipeline.warn_unused("gl_FragDepth", f"gl_FragDepth, which the fragment shader writes, {without if early else why}")
    if _STENCIL_REPLACING in modes and writes_built_in(bytes(module.spirv), _FRAG_STENCIL):
        why = "" if info.stencil_format else "has no effect without a stencil attachment; give stencil="
        if not why and not info.depth_stencil.stencil_test and "stencil_test_enable" not in dynamic:
            why = "has no effect without stencil_test"
        if early or why:
            pipeline.warn_unused(
                "gl_FragStencilRefARB", f"gl_FragStencilRefARB, which the fragment shader writes, {without if early else why}"
            )


def warn_of_outputs(
    pipeline: Program,
    info: _core.GraphicsPipelineCreateInfo,
    dynamic: frozenset[str],
    locations: Sequence[int | None] | None,
    masks: Sequence[int],
    factors: Sequence[frozenset[str]],
) -> None:
    """``locations``: as ``attachment_locations=``; ``masks``, ``factors``: write mask, and what blending reads, of each attachment."""
    stages, count = pipeline._stages, len(info.color_formats)
    if locations is None and count:
        _warn_of_lost_outputs(pipeline, stages, count)
    if dynamic.isdisjoint(("color_write_mask", "color_write_enable")):
        _warn_of_unwritten(pipeline, info, locations, masks)
    _warn_of_alpha(pipeline, stages, locations, factors)


def _warn_of_lost_outputs(pipeline: Program, stages: Stages, count: int) -> None:
    """Vulkan discards what a fragment shader writes to a location without an attachment; with some attachments it is seldom meant."""
    fragment = stages.get("fragment")
    for output in [] if fragment is None else fragment.reflection.outputs:
        if output.location >= count:
            there = f"there {'is' if count == 1 else 'are'} {count} colour attachment{'' if count == 1 else 's'}"
            what = f"the fragment shader's output '{output.name}' goes to location {output.location}; {there}"
            pipeline.warn_unused(f"output {output.name}", what)


def _warn_of_unwritten(
    pipeline: Program, info: _core.GraphicsPipelineCreateInfo, locations: Sequence[int | None] | None, masks: Sequence[int]
) -> None:
    """Colour attachments that no output goes to keep what they hold, where Vulkan leaves them undefined."""
    assert len(masks) == len(info.color_formats)
    formats = [i for i, number in enumerate(info.color_formats) if number]
    fragment = pipeline._stages.get("fragment")
    if not formats:
        return
    if fragment is None:
        nothing = not (info.depth_format or info.stencil_format or info.rasterization.rasterizer_discard)
        if nothing and not any(b.descriptor in _WRITTEN for m in pipeline._stages.values() for b in m.reflection.bindings):
            pipeline.warn_unused("color", "there is no fragment shader, so that nothing is drawn to color; give frag=")
        return
    if any(b.descriptor == _INPUT for b in fragment.reflection.bindings):
        return  # what it reads of the tile it has no need to write
    written: set[int] = set()
    declared: dict[int, str] = {}  # and nothing of the shader names them
    for output in fragment.reflection.outputs:
        length = output.type.array_length if output.type.kind == "array" else 1
        places = range(output.location, output.location + max(1, length))
        if output.used:
            written.update(places)
        else:
            declared.update(dict.fromkeys(places, output.name))
    for i in formats:
        location = i if locations is None else locations[i]
        if location is None or location in written or not masks[i]:
            continue
        outputs = ", ".join(map(str, sorted(written))) or "none"
        why = f"has no output at location {location} (it has: {outputs})"
        if location in declared:
            why = f"never writes its output '{declared[location]}' (location {location})"
        pipeline.warn_unused(
            f"color[{i}]",
            f"color[{i}]: the fragment shader {why}; the attachment keeps what it "
            "holds, where Vulkan leaves it undefined. If that is meant, say so: attachment_locations= with None for it, or write_mask=''",
        )


def _warn_of_alpha(
    pipeline: Program, stages: Stages, locations: Sequence[int | None] | None, factors: Sequence[frozenset[str]]
) -> None:
    """Blending by an alpha that the output does not have, which is 0."""
    fragment = stages.get("fragment")
    for i, names in enumerate(factors if fragment is not None else ()):
        location = i if locations is None else locations[i]
        if not names & _SOURCE_ALPHA or location is None or fragment is None:
            continue
        there = [o for o in fragment.reflection.outputs if o.location == location]
        if there and max(o.component + max(1, o.type.rows) for o in there) < 4 and all(o.type.kind != "array" for o in there):
            pipeline.warn_unused(
                f"blend[{i}]",
                f"blend[{i}] reads the source's alpha, and the fragment shader's output '{there[0].name}' ({type_name(there[0].type)}) has "
                "none: it is 0; declare a vec4",
            )
