"""What a new pipeline is warned of in its fixed-function state: numbers without effect, masks that leave nothing, constants that are cut.

In: a pipeline, its state as Vulkan has it, the arguments of ``dev.pipeline``. Out: warnings, once for each pipeline and name. What has an
effect is none of them: depth clamp without a depth attachment (nothing is clipped at near and far), alpha to coverage of one sample (a
fragment below half is dropped), sample shading of one sample (each has its invocation). depth_compare beside depth_test=False is Vulkan's
state, which has both.
Source: Vulkan specification, "Rasterization", "Fragment Operations", "The Framebuffer".
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tilegpu import _core, enums
from tilegpu.errors import LostPrimitivesWarning
from tilegpu.pipeline_rules import Words
from tilegpu.pipeline_state import has_samples, per_target, say_constants, shading_rate_of
from tilegpu.program import Program

_FRONT_FACING = 17  # SPIR-V's number of gl_FrontFacing
_TOPOLOGIES: dict[str, int] = _core.ENUMS["primitive_topology"]
_NO_FACES = {number for name, number in _TOPOLOGIES.items() if "point" in name or "line" in name}
_ALWAYS: int = _core.ENUMS["compare_op"]["always"]
_DECORATE, _BUILT_IN = 71, 11
_DECLARES_RATE = struct.pack("<2I", 2 << 16 | 17, 4422)  # OpCapability FragmentShadingRateKHR
_STENCIL_FACE = {"compare": "always", "fail": "keep", "pass": "keep", "depth_fail": "keep"}
_STENCIL_STATES = frozenset({"stencil_test_enable", "stencil_op"})
_STENCIL_BITS = 0xFF
_PASS_EQUALS = frozenset({"equal", "less_or_equal", "greater_or_equal"})
_BLEND_STATES = frozenset({"color_blend_enable", "color_blend_equation", "color_blend_advanced", "logic_op_enable"})
_NO_FACTORS = frozenset({"min", "max"})
_FLOATS = frozenset({"float", "float16_t"})


def warn_of_idle_state(
    pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str], given: Mapping[str, Any]
) -> None:
    """Of what the arguments themselves say, whatever is drawn. ``given``: the arguments of ``dev.pipeline``."""
    if info.depth_stencil.stencil_test and dynamic.isdisjoint(_STENCIL_STATES) and not any(map(_does, _faces(given))):
        name = next(n for n in ("stencil_test", "stencil_front", "stencil_back") if given[n] not in (None, False))
        fix = "give stencil_test={'compare': 'equal', 'reference': 1}, say, or {'pass': 'replace', 'reference': 1}"
        pipeline.warn_unused(name, f"{name} has no effect: it compares by 'always' and keeps what is there; {fix}")
    if info.depth_stencil.stencil_test and dynamic.isdisjoint(_STENCIL_STATES):
        _warn_of_stencil_masks(pipeline, dynamic, given)
    if dynamic.isdisjoint(_BLEND_STATES) and given["logic_op"] is None:
        _warn_of_factors(pipeline, given["blend"], len(info.color_formats))
    _warn_of_faces(pipeline, info, dynamic, given)
    if "fragment_shading_rate" not in dynamic:
        _warn_of_rates(pipeline, given["fragment_shading_rate"])
    if not info.rasterization.rasterizer_discard:
        _warn_of_alpha_state(pipeline, info, dynamic)
    samples, mask = info.multisample.samples, info.multisample.sample_mask
    if not has_samples(mask, samples) and dynamic.isdisjoint({"sample_mask", "rasterization_samples"}):
        pipeline._warn_once("sample_mask", no_samples(mask, samples), LostPrimitivesWarning)


def _warn_of_rates(pipeline: Program, given: Any) -> None:
    """Of a shading rate that no fragment has, and of the primitive's, where only one of shader and combiner knows of it."""
    name = "fragment_shading_rate"
    if "fragment" not in pipeline._stages:
        if given is not None:
            pipeline.warn_unused(name, f"{name} has no effect without a fragment shader; leave it out, or give frag=")
        return
    last = next((s for s in ("geometry", "tessellation_evaluation", "vertex") if s in pipeline._stages), None)
    if last is None:  # a mesh shader, whose implicit block may declare a rate that is not written
        return
    writes = _DECLARES_RATE in pipeline._stages[last].spirv[:512]
    takes = shading_rate_of(given, name)[2] != _core.ENUMS["fragment_shading_rate_combiner_op"]["keep"]
    if writes and not takes:
        fix = f"give {name}={{'combiner_ops': ('replace', 'keep')}} (or 'min', 'max', 'mul')"
        said = f"gl_PrimitiveShadingRateEXT of the {last} shader has no effect: the first combiner keeps the pipeline's rate; {fix}"
        pipeline.warn_unused(name, said)
    elif takes and not writes:
        fix = "write gl_PrimitiveShadingRateEXT in the last stage before rasterization, or give 'keep'"
        pipeline.warn_unused(name, f"{name}: combiner_ops[0] takes the rate of primitives, which no shader writes: it is 1x1; {fix}")


def _warn_of_alpha_state(pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str]) -> None:
    if info.multisample.alpha_to_coverage and "alpha_to_coverage_enable" not in dynamic:
        say_alpha_to_coverage(pipeline)
    if info.multisample.alpha_to_one and "alpha_to_one_enable" not in dynamic:
        say_alpha_to_one(pipeline, any(info.color_formats))


def say_alpha_to_coverage(pipeline: Program) -> None:
    """Where it is on: of shaders whose alpha is no number from 0 to 1 (Vulkan skips it), or is never written."""
    name, fragment = "alpha_to_coverage", pipeline._stages.get("fragment")
    if fragment is None:
        pipeline.warn_unused(name, f"{name} has no effect without a fragment shader, whose alpha it takes; leave it out, or give frag=")
        return
    for output in fragment.reflection.outputs:
        inner = _element(output.type)
        if output.location or output.component + inner.rows < 4:
            continue
        if inner.base not in _FLOATS:
            said = f"{name} has no effect: output '{output.name}' is of integers, which have no coverage; leave it out, or declare a vec4"
            pipeline.warn_unused(name, said)
        elif not output.used:
            said = f"{name} takes the alpha of output '{output.name}', which the fragment shader never writes; write it. Vulkan leaves it"
            pipeline._warn_once(name, f"{said} undefined; here it is 0, and nothing is drawn", LostPrimitivesWarning)
        return


def say_alpha_to_one(pipeline: Program, has_colors: bool) -> None:
    """Where it is on: of pipelines whose colours are of integers, or that have none."""
    name, fragment = "alpha_to_one", pipeline._stages.get("fragment")
    outputs = [] if fragment is None else fragment.reflection.outputs
    if not has_colors or fragment is None:
        why = "without colour attachments" if fragment is not None else "without a fragment shader, whose alpha it replaces"
        pipeline.warn_unused(name, f"{name} has no effect {why}; leave it out")
    elif outputs and all(_element(output.type).base not in _FLOATS for output in outputs):
        said = f"{name} has no effect: output '{outputs[0].name}' is of integers, whose alpha stays; leave it out, or declare a vec4"
        pipeline.warn_unused(name, said)


def _element(type_: _core.ReflectedType) -> _core.ReflectedType:
    while type_.kind == "array":
        type_ = type_.members[0][2]
    return type_


def no_samples(mask: int, samples: int) -> str:
    """Of messages: a mask that leaves nothing."""
    there = "the only sample there is has bit 0" if samples == 1 else f"the {samples} samples there are have bits 0 to {samples - 1}"
    return f"sample_mask is {mask:#x}, and {there}: nothing is drawn; leave it out for all"


def _warn_of_faces(
    pipeline: Program, info: _core.GraphicsPipelineCreateInfo, dynamic: frozenset[str], given: Mapping[str, Any]
) -> None:
    """Which face is the front is asked by culling, a stencil test of two sides and gl_FrontFacing; points and lines have none."""
    culls = info.rasterization.cull_mode != _core.ENUMS["cull_mode"]["none"] or "cull_mode" in dynamic
    plain = pipeline._stages.keys() <= {"vertex", "fragment"} and "primitive_topology" not in dynamic
    if plain and info.topology in _NO_FACES and info.rasterization.cull_mode and "cull_mode" not in dynamic:
        name = enums.name_of("primitive_topology", info.topology)
        pipeline.warn_unused("cull", f"cull={given['cull']!r} has no effect with topology='{name}', which has no faces; leave it out")
    if info.rasterization.front_face == _core.ENUMS["front_face"]["counter_clockwise"] or "front_face" in dynamic or culls:
        return
    front, back = _faces(given)
    if (info.depth_stencil.stencil_test and front != back) or any(name.startswith("stencil") for name in dynamic):
        return
    fragment = pipeline._stages.get("fragment")
    if fragment is None or not _asks_front_facing(bytes(fragment.spirv)):
        fix = "give cull='back', or leave it out (the fragment shader does not ask gl_FrontFacing)"
        pipeline.warn_unused("front_face", f"front_face={given['front_face']!r} has no effect, as nothing is culled; {fix}")


def _faces(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Fields of the stencil test of front and back, as the user gave them; they were checked."""
    both = given["stencil_test"]
    found = [{**(both if isinstance(both, Mapping) else {}), **(given[name] or {})} for name in ("stencil_front", "stencil_back")]
    return [{key.removesuffix("_op"): value for key, value in fields.items()} for fields in found]


def _warn_of_stencil_masks(pipeline: Program, dynamic: frozenset[str], given: Mapping[str, Any]) -> None:
    """Operations that write nothing, and a comparison of no bits, by a mask of 0. A mask that one face has beside what both have is how
    that face is switched off, and says nothing."""
    for side, face in zip(("stencil_front", "stencil_back"), _faces(given), strict=True):
        own = {key.removesuffix("_op") for key in given[side] or ()}
        for mask, keys in (("write_mask", ("pass", "fail", "depth_fail")), ("compare_mask", ("compare",))):
            if int(face.get(mask, 1)) & _STENCIL_BITS or f"stencil_{mask}" in dynamic:
                continue
            for key in keys:
                kind = "compare_op" if key == "compare" else "stencil_op"
                value = enums.name_of(kind, enums.parse(kind, face.get(key, _STENCIL_FACE[key]), key))
                if value in (_STENCIL_FACE[key], "never") or (mask in own and key not in own):  # never passes: so it says
                    continue
                name = side if key in own else "stencil_test"
                passes = "it always passes" if value in _PASS_EQUALS else "nothing passes"
                what = f"no bits are compared, and {passes}" if mask == "compare_mask" else "nothing is written"
                said = f"{name}: {key}='{value}' has no effect with {mask}=0: {what}; leave {mask} out"
                pipeline.warn_unused(f"{name} {mask}", said)


def _warn_of_factors(pipeline: Program, blend: Any, targets: int) -> None:
    """Minimum and maximum take the colours as they are: factors beside them, that were given and say something else."""
    several = isinstance(blend, (list, tuple))
    for i, one in enumerate([] if blend is None else per_target(blend, targets, "blend")):
        if not isinstance(one, Mapping) or "op" in one:
            continue
        color = _operation(one.get("color_op", "add"))
        alpha = _operation(one["alpha_op"]) if "alpha_op" in one else color
        for key, operation in (("src_color", color), ("dst_color", color), ("src_alpha", alpha), ("dst_alpha", alpha)):
            # What alpha is not given is colour's.
            of_alpha = key.endswith("color") and key.replace("color", "alpha") not in one and alpha not in _NO_FACTORS
            factor = enums.name_of("blend_factor", enums.parse("blend_factor", one.get(key, "one"), "blend"))
            if operation not in _NO_FACTORS or of_alpha or factor == "one":
                continue
            name = f"blend[{i}]" if several else "blend"
            by = f"{'alpha_op' if key.endswith('alpha') and 'alpha_op' in one else 'color_op'}='{operation}'"
            said = f"{name}: {key}='{factor}' has no effect with {by}, which takes no factors"
            pipeline.warn_unused(f"{name} {key}", f"{said}; leave it out, or multiply in the fragment shader")


def _operation(given: Any) -> str:
    return enums.name_of("blend_op", enums.parse("blend_op", given, "blend"))


def _does(face: Mapping[str, Any]) -> bool:
    """Whether a stencil test may reject a fragment, or change what is there."""
    kinds = {"compare": "compare_op"}
    return any(
        enums.parse(kinds.get(key, "stencil_op"), face.get(key, nothing), key) != _core.ENUMS[kinds.get(key, "stencil_op")][nothing]
        for key, nothing in _STENCIL_FACE.items()
    )


def _asks_front_facing(spirv: bytes) -> bool:
    return any(number == _DECORATE and operands[1:3] == [_BUILT_IN, _FRONT_FACING] for number, operands in Words(spirv).instructions())


def warn_of_constants(
    pipeline: Program,
    info: _core.GraphicsPipelineCreateInfo,
    formats: Sequence[enums.FormatInfo | None],
    dynamic: frozenset[str],
    factors: Sequence[frozenset[str]],
) -> None:
    """Constants of blending that the attachments which they are blended with cut; ``factors``: what each reads."""
    fixed = not any(name.startswith("color_blend") or name in ("blend_constants", "logic_op_enable") for name in dynamic)
    if fixed and factors and not info.blend.logic_op_enable:
        say_constants(info.blend_constants, formats, factors, f"{pipeline.title}: blend_constants")
