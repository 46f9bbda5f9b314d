"""The fixed-function state of a graphics pipeline: what users write, and Vulkan's structs made of it.

A new ``GraphicsPipelineCreateInfo`` holds Vulkan's plain state; only what differs is set.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tilegpu import _core, arguments, enums
from tilegpu.attachment import rect_of
from tilegpu.enum_names import meant
from tilegpu.errors import ClampedValueWarning, ValidationError, candidates, users_level

_ALL_CHANNELS = 0xF
_MOST_LINE_WIDTH_px = 64
_PRESETS: dict[str, dict[str, str]] = {
    "alpha": {
        "src_color": "src_alpha",
        "dst_color": "one_minus_src_alpha",
        "src_alpha": "one",
        "dst_alpha": "one_minus_src_alpha",
    },
    "premultiplied": {
        "src_color": "one",
        "dst_color": "one_minus_src_alpha",
        "src_alpha": "one",
        "dst_alpha": "one_minus_src_alpha",
    },
    "additive": {"src_color": "one", "dst_color": "one", "src_alpha": "one", "dst_alpha": "one"},
}
_FACTOR_KEYS = ("src_color", "dst_color", "src_alpha", "dst_alpha")
_ADVANCED_KEYS = ("op", "src_premultiplied", "dst_premultiplied", "overlap", "clamp_results")
_BLEND_KEYS = ("src_color", "dst_color", "color_op", "src_alpha", "dst_alpha", "alpha_op", *_ADVANCED_KEYS, "write_mask")
#: Those of VK_EXT_blend_operation_advanced.
_FIRST_ADVANCED_OP = _core.ENUMS["blend_op"]["zero"]
_ADVANCED_OPS = [name for name, op in _core.ENUMS["blend_op"].items() if op >= _FIRST_ADVANCED_OP]
_STENCIL_KEYS = ("fail", "pass", "depth_fail", "compare", "compare_mask", "write_mask", "reference")
#: polygon_mode, cull, front_face, provoking_vertex, line_width, rasterizer_discard, depth_clamp
_PLAIN_RASTERIZATION = ("fill", "none", "counter_clockwise", "first", 1.0, False, False)
#: samples, sample_shading, sample_mask, alpha_to_coverage, alpha_to_one
_PLAIN_MULTISAMPLING = (1, False, 0xFFFFFFFF, False, False)
_PLAIN_TYPES = frozenset((str, bool, int, float))
_NO_CONSTANTS = (0.0, 0.0, 0.0, 0.0)
_CONSTANTS = frozenset({"constant_color", "one_minus_constant_color", "constant_alpha", "one_minus_constant_alpha"})
ALL_BITS = 0xFFFFFFFF
_ROUNDING = 1e-5  # what is left of 1 by sums, which is stored as 1 all the same

Blend = str | Mapping[str, Any] | None


class PipelineState:
    """The dynamic state's values that draws start from."""

    __slots__ = ("blend_constants", "depth_bias", "stencil_reference")

    def __init__(
        self,
        blend_constants: tuple[float, ...],
        depth_bias: tuple[float, float, float],
        stencil_reference: tuple[int, int],
    ) -> None:
        self.blend_constants, self.depth_bias, self.stencil_reference = blend_constants, depth_bias, stencil_reference


def write_mask_of(value: Any, what: str) -> int:
    """Some of the letters of ``"rgba"`` as bits."""
    if value is None:
        return _ALL_CHANNELS
    if isinstance(value, (bool, int)):
        mask = _ALL_CHANNELS if value is True else int(value)
        if 0 <= mask <= _ALL_CHANNELS:
            return mask
    elif isinstance(value, str) and all(c in "rgba" for c in value.lower()):
        return sum({1 << "rgba".index(c) for c in value.lower()})
    raise ValidationError(f"{what} is {arguments.shown(value)}; it must be some of the letters 'rgba' ('' for none)")


def _advanced_of(given: Mapping[str, Any], what: str) -> tuple[bool, bool, int, bool]:
    """Premultiplied source and destination, overlap, clamped results."""
    return (
        arguments.flag(given.get("src_premultiplied", True), f"{what}: src_premultiplied"),
        arguments.flag(given.get("dst_premultiplied", True), f"{what}: dst_premultiplied"),
        enums.parse("blend_overlap", given.get("overlap", "uncorrelated"), f"{what}: overlap"),
        arguments.flag(given.get("clamp_results", False), f"{what}: clamp_results"),
    )


def _advanced_op(value: Any, what: str) -> int:
    op = enums.parse("blend_op", value, f"{what}: op")
    if op < _FIRST_ADVANCED_OP:
        raise ValidationError(
            f"{what}: op is {arguments.shown(value)}, which is no advanced operation{candidates(value, _ADVANCED_OPS)}; "
            f"ordinary ones are color_op and alpha_op"
        )
    return op


def _blend_fields(blend: Any, what: str) -> Mapping[str, Any]:
    """A preset, an advanced operation or a mapping as a mapping."""
    if isinstance(blend, str):
        preset = _PRESETS.get(blend.lower())
        if preset is not None:
            return preset
        if blend.lower().removeprefix("vk_blend_op_").removesuffix("_ext") in _ADVANCED_OPS:
            return {"op": blend}
        raise ValidationError(
            f"{what} is '{blend}', which is no preset{candidates(blend, [*_PRESETS, *_ADVANCED_OPS], meant('blend preset', blend))}; "
            f"or give a dict with {', '.join(_BLEND_KEYS)}"
        )
    if not isinstance(blend, Mapping):
        raise ValidationError(
            f"{what} is {arguments.shown(blend)}; it must be None, a preset ({', '.join(_PRESETS)}), an advanced operation "
            f"(such as 'multiply'), a dict, or a list of these, one for each target"
        )
    for key in blend:
        if key not in _BLEND_KEYS:
            raise ValidationError(f"{what} has no field {arguments.shown(key)}{candidates(key, _BLEND_KEYS, meant('blend field', key))}")
    return blend


def blend_of(
    blend: Blend, write_mask: Any, what: str
) -> tuple[_core.ColorBlendAttachmentState, tuple[bool, bool, int, bool] | None]:
    """Of a preset, an advanced operation, a mapping or ``None``; beside it what only advanced operations have."""
    mask = write_mask_of(write_mask, f"{what}: write_mask")
    factor, operation = (
        (lambda v, k: enums.parse("blend_factor", v, f"{what}: {k}")),
        (lambda v, k: enums.parse("blend_op", v, f"{what}: {k}")),
    )
    if blend is None or blend is False:
        one, zero, add = factor("one", ""), factor("zero", ""), operation("add", "")
        return _core.ColorBlendAttachmentState(False, one, zero, add, one, zero, add, mask), None
    given = _blend_fields(blend, what)
    if "write_mask" in given:
        mask = write_mask_of(given["write_mask"], f"{what}: write_mask")
    if "op" in given:
        color_op = alpha_op = _advanced_op(given["op"], what)
    else:
        color_op = operation(given.get("color_op", "add"), "color_op")
        alpha_op = operation(given.get("alpha_op", color_op), "alpha_op")
    advanced = [op for op in (color_op, alpha_op) if op >= _FIRST_ADVANCED_OP]
    name = enums.name_of("blend_op", advanced[0]) if advanced else ""
    for key in given:
        if not advanced and key in _ADVANCED_KEYS:
            raise ValidationError(f"{what} has '{key}' without an advanced operation; give one as op, such as 'multiply'")
        if advanced and (key in _FACTOR_KEYS or ("op" in given and key in ("color_op", "alpha_op"))):
            raise ValidationError(f"{what} has '{key}' beside '{name}', an advanced operation, which is the whole equation")
    color = [factor(given.get(k, other), k) for k, other in (("src_color", "one"), ("dst_color", "zero"))]
    alpha = [factor(given.get(k, other), k) for k, other in (("src_alpha", color[0]), ("dst_alpha", color[1]))]
    state = _core.ColorBlendAttachmentState(True, color[0], color[1], color_op, alpha[0], alpha[1], alpha_op, mask)
    return state, _advanced_of(given, what) if advanced else None


def factors_of(blend: Any, targets: int, what: str) -> list[frozenset[str]]:
    """Names of the factors that blending has, of each colour attachment; those of advanced operations: what they read of the source.
    Beside min and max, which take none, only those of the second source, which shaders must have all the same."""
    found = []
    for one in [] if blend is None else per_target(blend, targets, f"{what}: blend"):
        given: Mapping[str, Any] = {} if one is None or one is False else _blend_fields(one, what)
        names = set()
        for key in (k for k in _FACTOR_KEYS if k in given):
            name = enums.name_of("blend_factor", enums.parse("blend_factor", given[key], what))
            op = given.get("color_op", "add")
            op = op if key.endswith("color") else given.get("alpha_op", op)
            if "src1" in name or enums.name_of("blend_op", enums.parse("blend_op", op, what)) not in ("min", "max"):
                names.add(name)
        found.append(frozenset({"src_alpha"} if "op" in given else names))
    return found


def blend_equation(blend: Blend, what: str) -> _core.ColorBlendAttachmentState:
    """VkColorBlendEquationEXT, which has no advanced operations."""
    state, advanced = blend_of(blend, None, what)
    if advanced is not None:
        raise ValidationError(f"{what} is {arguments.shown(blend)}, an advanced operation; set color_blend_advanced to it")
    return state


def stencil_mask_of(mask: int, what: str) -> int:
    """Stencil has 8 bits: a mask of others switches the test off, or what it writes. All 32 are everything, as Vulkan's programs have
    it."""
    if mask != ALL_BITS and not 0 <= mask <= 255:
        raise ValidationError(f"{what} is {mask:#x}; stencil has 8 bits: it must be 0 to 0xff, or {ALL_BITS:#x} for all")
    return mask


def _stencil_state(fields: Mapping[str, Any], what: str) -> tuple[_core.StencilOpState, int]:
    named: dict[str, Any] = {}
    for key, value in fields.items():
        short = key.removesuffix("_op") if isinstance(key, str) else arguments.shown(key)
        if short not in _STENCIL_KEYS:
            raise ValidationError(f"{what} has no field '{key}'{candidates(key, _STENCIL_KEYS, meant('stencil field', key))}")
        named[short] = value
    operation = lambda key: enums.parse("stencil_op", named.get(key, "keep"), f"{what}: {key}")  # noqa: E731

    def number(key: str, default: int) -> int:
        return arguments.whole(named.get(key, default), f"{what}: {key}")

    reference = number("reference", 0)
    if not 0 <= reference <= 255:
        raise ValidationError(f"{what}: reference is {reference}; it must be 0 to 255")
    state = _core.StencilOpState(
        operation("fail"),
        operation("pass"),
        operation("depth_fail"),
        enums.parse("compare_op", named.get("compare", "always"), f"{what}: compare"),
        stencil_mask_of(number("compare_mask", 0xFF), f"{what}: compare_mask"),
        stencil_mask_of(number("write_mask", 0xFF), f"{what}: write_mask"),
        reference,
    )
    return state, reference


def per_target(value: Any, count: int, what: str) -> list[Any]:
    """One value for each colour attachment: those of a list, or the same for all."""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValidationError(f"{what} has {arguments.number_of(len(value), 'entry')}; {arguments.there_are(count, 'colour format')}")
        return list(value)
    return [value] * count


def depth_bias_of(value: Any, what: str) -> tuple[float, float, float] | None:
    """Constant factor, clamp and slope factor of the forms that users write; ``None``: no bias."""
    found = _depth_bias(value, what)
    if found is not None and not all(map(math.isfinite, found)):
        raise ValidationError(f"{what} is {arguments.shown(value)}; its numbers must be finite")
    return found


def _depth_bias(value: Any, what: str) -> tuple[float, float, float] | None:
    if value is None or value is False:
        return None
    if isinstance(value, Mapping):
        for key in value:
            if key not in ("constant", "clamp", "slope"):
                near = candidates(key, ["constant", "clamp", "slope"], meant("depth_bias field", key))
                raise ValidationError(f"{what} has no field '{key}'{near}")
        constant, clamp, slope = (
            arguments.number(value.get(key, 0), f"{what}: {key}") for key in ("constant", "clamp", "slope")
        )
        return constant, clamp, slope
    if isinstance(value, (int, float)):
        return arguments.number(value, what), 0.0, 0.0
    must = "give (constant, slope), (constant, clamp, slope), or a dict of these"
    values = arguments.numbers(value, what, (2, 3), must)
    return values[0], values[1] if len(values) == 3 else 0.0, values[-1]


def set_rasterization(
    state: _core.RasterizationState,
    polygon_mode: str,
    cull: str | None,
    front_face: str,
    provoking_vertex: str,
    line_width: float,
    rasterizer_discard: bool,
    depth_clamp: bool | tuple[float, float],
    what: str,
) -> None:
    """VkPipelineRasterizationStateCreateInfo, but for the depth bias."""
    given = (polygon_mode, cull, front_face, provoking_vertex, line_width, rasterizer_discard, depth_clamp)
    if all(type(value) in _PLAIN_TYPES for value in given) and given == _PLAIN_RASTERIZATION:
        return
    state.polygon_mode = enums.parse("polygon_mode", polygon_mode, f"{what}: polygon_mode")
    state.cull_mode = enums.parse("cull_mode", "none" if cull is None else cull, f"{what}: cull")
    state.front_face = enums.parse("front_face", front_face, f"{what}: front_face")
    set_depth_clamp(state, depth_clamp, f"{what}: depth_clamp")
    state.rasterizer_discard = arguments.flag(rasterizer_discard, f"{what}: rasterizer_discard")
    state.line_width = line_width_of(line_width, f"{what}: line_width")
    if not isinstance(provoking_vertex, str) or provoking_vertex not in ("first", "last"):
        raise ValidationError(f"{what}: provoking_vertex is {arguments.shown(provoking_vertex)}; it must be 'first' or 'last'")
    state.provoking_vertex_last = provoking_vertex == "last"


def clamp_range_of(value: Any, what: str) -> tuple[bool, float, float]:
    """VkDepthClampRangeEXT: whether the user gives it, and the least and the most depth. ``None``: the viewport's."""
    if value is None:
        return False, 0.0, 1.0
    least, most = arguments.numbers(value, what, (2,), "it must be (least, most), each 0 to 1, or None for the viewport's")
    if not 0 <= least <= most <= 1:
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be (least, most), each 0 to 1, the least first")
    return True, least, most


def set_depth_clamp(state: _core.RasterizationState, value: Any, what: str) -> None:
    """On, off, or to a range that is not the viewport's."""
    if isinstance(value, (tuple, list)):
        state.depth_clamp = True
        state.depth_clamp_user, state.min_depth_clamp, state.max_depth_clamp = clamp_range_of(value, what)
    else:
        state.depth_clamp = arguments.flag(value, what)


def line_width_of(value: Any, what: str) -> float:
    """Pixels; the core cuts them to what lines can have, 1 to 64."""
    width = arguments.number(value, what)
    if not 0 < width < math.inf:
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a number of pixels above 0 (beyond 1 to 64 it is cut)")
    if not 1 <= width <= _MOST_LINE_WIDTH_px:
        cut = f"{what} is {arguments.shown(value)}; lines are 1 to {_MOST_LINE_WIDTH_px} px wide, and it is cut to that"
        warnings.warn(cut, ClampedValueWarning, stacklevel=users_level())
    return width


def set_clipping(
    state: _core.RasterizationState, depth_clip: bool | None, negative_one_to_one: bool, stream: int, what: str
) -> None:
    """What Vulkan's extensions add to it: the near and the far plane, and the stream that is rasterized."""
    if depth_clip is not None:
        state.depth_clip = arguments.flag(depth_clip, f"{what}: depth_clip")
    if negative_one_to_one is not False:
        state.depth_clip_negative_one_to_one = arguments.flag(negative_one_to_one, f"{what}: depth_clip_negative_one_to_one")
    if not isinstance(stream, int) or stream != 0:
        state.rasterization_stream = arguments.count(stream, f"{what}: rasterization_stream", 3)


_RATE_FIELDS = ("fragment_size", "combiner_ops")


def shading_rate_of(value: Any, what: str) -> tuple[int, int, int, int]:
    """Width and height in pixels, and both combiners' numbers, of the forms that users write: a size, or a mapping of it and combiners."""
    fields: Mapping[str, Any] = value if isinstance(value, Mapping) else {"fragment_size": (1, 1) if value is None else value}
    for key in fields:
        if key not in _RATE_FIELDS:
            raise ValidationError(f"{what} has no field '{key}'{candidates(key, _RATE_FIELDS, meant('fragment_shading_rate field', key))}")
    given = fields.get("fragment_size", (1, 1))
    must = "it must be (width, height), each 1, 2 or 4 pixels"
    shown = f"{what}: fragment_size" if isinstance(value, Mapping) else what
    width, height = (int(side) for side in arguments.wholes(given, shown, 2, must))
    if width not in (1, 2, 4) or height not in (1, 2, 4):
        raise ValidationError(f"{shown} is {arguments.shown(given)}; {must} (maxFragmentSize is 4x4)")
    must = "it must be two of keep, replace, min, max, mul: with the primitive's rate, and with the attachment's"
    given = fields.get("combiner_ops", ("keep", "keep"))
    ops = arguments.sequence(given, f"{what}: combiner_ops", must)
    if len(ops) != 2:
        raise ValidationError(f"{what}: combiner_ops is {arguments.shown(given)}; {must}")
    first, second = (enums.parse("fragment_shading_rate_combiner_op", op, f"{what}: combiner_ops[{i}]") for i, op in enumerate(ops))
    return width, height, first, second


def set_depth_bias(state: _core.RasterizationState, value: Any, what: str) -> tuple[float, float, float]:
    """Constant factor, clamp and slope factor; returns what draws start from."""
    bias = None if value is None else depth_bias_of(value, f"{what}: depth_bias")
    if bias is None:
        return 0.0, 0.0, 0.0
    state.depth_bias_enable = True
    state.depth_bias_constant, state.depth_bias_clamp, state.depth_bias_slope = bias
    return bias


def depth_bounds_of(value: Any, what: str) -> tuple[float, float]:
    """Least and largest depth that passes."""
    low, high = arguments.numbers(value, what, (2,), "it must be (min, max)")
    if not 0 <= low <= high <= 1:
        raise ValidationError(f"{what} is ({low:g}, {high:g}); both must be 0 to 1, and the first not above the second")
    return low, high


def set_depth(
    state: _core.DepthStencilState,
    has_format: bool,
    test: bool | None,
    write: bool | None,
    compare: str | None,
    bounds: tuple[float, float] | None,
    what: str,
) -> None:
    """The depth part of VkPipelineDepthStencilStateCreateInfo."""
    tested = (compare is not None or has_format) if test is None else arguments.flag(test, f"{what}: depth_test")
    if tested and not has_format:
        raise ValidationError(
            f"{what}: depth is tested, but depth= names no format; give the depth attachment's, such as depth='d32_sfloat'"
        )
    state.depth_test = tested
    state.depth_write = tested if write is None else arguments.flag(write, f"{what}: depth_write")
    if compare is not None:
        state.depth_compare = enums.parse("compare_op", compare, f"{what}: depth_compare")
    if bounds is not None:
        if not has_format:
            raise ValidationError(f"{what}: depth_bounds are given, but depth= names no format; give the depth attachment's")
        state.depth_bounds_test = True
        state.min_depth_bounds, state.max_depth_bounds = depth_bounds_of(bounds, f"{what}: depth_bounds")


def set_stencil(
    state: _core.DepthStencilState,
    test: bool | Mapping[str, Any] | None,
    front: Mapping[str, Any] | None,
    back: Mapping[str, Any] | None,
    what: str,
) -> tuple[int, int]:
    """The stencil part of it; returns the references that draws start from."""
    if test is None and front is None and back is None:
        return 0, 0
    for name, value in (("stencil_front", front), ("stencil_back", back)):
        if value is not None and not isinstance(value, Mapping):
            raise ValidationError(f"{what}: {name} is {arguments.shown(value)}; it must be a dict")
    if not isinstance(test, Mapping):
        test = None if test is None else arguments.flag(test, f"{what}: stencil_test")
    if isinstance(test, Mapping):
        front, back = {**test, **(front or {})}, {**test, **(back or {})}
    if front is None and back is None and test is not True:
        return 0, 0
    state.stencil_test = test is not False
    state.front, front_reference = _stencil_state(front or {}, f"{what}: stencil_front")
    state.back, back_reference = _stencil_state(back or {}, f"{what}: stencil_back")
    return front_reference, back_reference


def set_blend(
    state: _core.ColorBlendState,
    targets: int,
    blend: Any,
    write_mask: Any,
    constants: Sequence[float],
    logic_op: str | None,
    what: str,
) -> tuple[float, ...]:
    """VkPipelineColorBlendStateCreateInfo; returns the constants that draws start from."""
    if blend is not None or write_mask is not None:
        blends = per_target(blend, targets, f"{what}: blend")
        if isinstance(write_mask, (tuple, list)) and len(write_mask) == 4 != targets and all(type(one) is bool for one in write_mask):
            letters = "".join(letter for letter, one in zip("rgba", write_mask, strict=True) if one)
            raise ValidationError(f"{what}: write_mask is {arguments.shown(write_mask)}; components are letters: give {letters!r}")
        masks = per_target(write_mask, targets, f"{what}: write_mask")
        made = [blend_of(b, m, f"{what}: blend[{i}]") for i, (b, m) in enumerate(zip(blends, masks, strict=True))]
        state.attachments = [attachment for attachment, _ in made]
        for i, (_, advanced) in enumerate(made):
            if advanced is not None:
                state.set_advanced(i, *advanced)
    if logic_op is not None:
        state.logic_op_enable = True
        state.logic_op = enums.parse("logic_op", logic_op, f"{what}: logic_op")
    if type(constants) is tuple and constants == _NO_CONSTANTS:
        return _NO_CONSTANTS
    must = "it must be four numbers, r g b a"
    values = arguments.numbers(constants, f"{what}: blend_constants", (4,), must)
    return values


def say_constants(values: Sequence[float], infos: Sequence[enums.FormatInfo | None], factors: Sequence[frozenset[str]], what: str) -> None:
    """Warns of constants that blending cuts to what each attachment that reads them holds, as Vulkan has it: (r, g, b, a) of 255, NaN.
    ``factors``: names of those of each attachment."""
    for number, (info, names) in enumerate(zip(infos, factors, strict=True)):
        if info is None or info.numeric not in ("unorm", "srgb", "snorm") or not names & _CONSTANTS:
            continue
        read = values[3:] if "color" not in " ".join(names & _CONSTANTS) else values
        least = -1 if info.numeric == "snorm" else 0
        if all(least - _ROUNDING <= v <= 1 + _ROUNDING for v in read):
            continue
        hint = "; (r, g, b, a) of 255 are divided by 255" if max(read) > 2 else ""
        text = f"{what} is ({', '.join(f'{v:g}' for v in values)}); color[{number}] of {info.name} takes numbers from {least} to 1"
        warnings.warn(f"{text}, and others are clamped{hint}", ClampedValueWarning, stacklevel=users_level())
        return


def has_samples(mask: int, samples: int) -> bool:
    """Whether a sample mask leaves any sample that there is; one that leaves none draws nothing."""
    return bool(mask & ((1 << samples) - 1))


def advanced_blend_of(value: Any, what: str) -> tuple[int, bool, bool, int, bool]:
    """VkColorBlendAdvancedEXT: operator, premultiplied source and destination, overlap, clamped results."""
    given = {"op": value} if isinstance(value, str) else value
    if not isinstance(given, Mapping) or "op" not in given:
        raise ValidationError(
            f"{what} is {arguments.shown(value)}; it must be an operation, such as 'multiply', or a dict of {', '.join(_ADVANCED_KEYS)}"
        )
    for key in given:
        if key not in _ADVANCED_KEYS:
            raise ValidationError(f"{what} has no field {arguments.shown(key)}{candidates(key, _ADVANCED_KEYS)}")
    return (_advanced_op(given["op"], what), *_advanced_of(given, what))


def extra_overestimation_of(value: Any, what: str) -> float:
    """extraPrimitiveOverestimationSize, in pixels."""
    most = _core.MAX_EXTRA_OVERESTIMATION_PX
    size_px = arguments.number(value, what)
    if not 0 <= size_px <= most:
        raise ValidationError(f"{what} is {value!r}; it must be 0 to {most:g} (pixels)")
    return size_px


def line_stipple_of(value: Any, what: str) -> tuple[int, int]:
    """Factor and pattern."""
    most = _core.MAX_LINE_STIPPLE_FACTOR
    must = f"it must be (factor, pattern): 1 to {most}, and 16 bits"
    factor, pattern = arguments.wholes(value, what, 2, must)
    if not 1 <= factor <= most or not 0 <= pattern <= 0xFFFF:
        raise ValidationError(f"{what} is {arguments.shown(value)}; {must}")
    return int(factor), int(pattern)


def sample_locations_of(value: Any, what: str) -> list[tuple[float, float]]:
    """A place in the pixel for each sample; x to the right and y down, from 0 to 15/16, in steps of 1/16."""
    must = "it must be 1, 2, 4, 8 or 16 places (x, y) in the pixel, from 0 to 15/16"
    places = []
    for i, place in enumerate(arguments.sequence(value, what, must)):
        x, y = arguments.numbers(place, f"{what}[{i}]", (2,), "it must be (x, y), from 0 to 15/16")
        if not (0 <= x <= 0.9375 and 0 <= y <= 0.9375):
            raise ValidationError(f"{what}[{i}] is {arguments.shown(place)}; it must be (x, y), from 0 to 15/16")
        places.append((x, y))
    if len(places) not in (1, 2, 4, 8, 16):
        raise ValidationError(f"{what} has {len(places)} entries; {must}")
    return places


def discard_rectangles_of(value: Any, what: str) -> list[list[int]]:
    """A list of rectangles (x, y, width, height) in pixels of the framebuffer."""
    most = _core.MAX_DISCARD_RECTANGLES
    must = f"it must be a list of at most {most} rectangles (x, y, width, height)"
    rects = [rect_of(rect, f"{what}[{i}]") for i, rect in enumerate(arguments.sequence(value, what, must))]
    if len(rects) > most:
        raise ValidationError(f"{what} has {len(rects)} entries; {must}")
    for i, (x, y, width, height) in enumerate(rects):
        if min(x, y) < 0 or max(x + width, y + height) > 0x7FFFFFFF:
            raise ValidationError(f"{what}[{i}] is {arguments.shown(value[i])}; it must begin at no negative pixel and end within 31 bits")
    return rects


def set_discard_rectangles(info: _core.GraphicsPipelineCreateInfo, value: Any, what: str) -> None:
    """VkPipelineDiscardRectangleStateCreateInfoEXT."""
    if value is None:
        return
    what, keys = f"{what}: discard_rectangles", ("rectangles", "mode")
    given = value if isinstance(value, Mapping) else {"rectangles": value}
    for key in given:
        if key not in keys:
            raise ValidationError(f"{what} has no field '{key}'{candidates(key, keys)}")
    rects = discard_rectangles_of(given.get("rectangles", ()), f"{what}: rectangles" if given is value else what)
    mode = enums.parse("discard_rectangle_mode", given.get("mode", "exclusive"), f"{what}: mode")
    if rects:
        info.set_discard_rectangles(rects, mode)


def set_sample_locations(state: _core.MultisampleState, value: Any, what: str) -> None:
    """VkPipelineSampleLocationsStateCreateInfoEXT."""
    if value is not None:
        state.set_sample_locations(sample_locations_of(value, f"{what}: sample_locations"))


def set_primitives(
    state: _core.RasterizationState,
    conservative: str | Mapping[str, Any] | None,
    line_mode: str | None,
    line_stipple: Any,
    what: str,
) -> None:
    """VkPipelineRasterizationConservativeStateCreateInfoEXT and VkPipelineRasterizationLineStateCreateInfo."""
    if conservative is not None:
        keys = ("mode", "extra_overestimation_px")
        given = {"mode": conservative} if isinstance(conservative, str) else conservative
        if not isinstance(given, Mapping):
            raise ValidationError(
                f"{what}: conservative is {arguments.shown(conservative)}; it must be a mode, or a dict of {', '.join(keys)}"
            )
        for key in given:
            if key not in keys:
                raise ValidationError(f"{what}: conservative has no field '{key}'{candidates(key, keys)}")
        mode = given.get("mode", "overestimate")
        state.conservative_mode = enums.parse("conservative_rasterization_mode", mode, f"{what}: conservative")
        extra = given.get("extra_overestimation_px", 0.0)
        state.extra_overestimation_px = extra_overestimation_of(extra, f"{what}: conservative: extra_overestimation_px")
    if line_mode is not None:
        state.line_mode = enums.parse("line_rasterization_mode", line_mode, f"{what}: line_mode")
    if line_stipple is not None:
        state.line_stipple = True
        state.line_stipple_factor, state.line_stipple_pattern = line_stipple_of(line_stipple, f"{what}: line_stipple")


def set_multisampling(
    state: _core.MultisampleState,
    samples: int,
    sample_shading: bool | float,
    sample_mask: int,
    alpha_to_coverage: bool,
    alpha_to_one: bool,
    what: str,
) -> None:
    """VkPipelineMultisampleStateCreateInfo."""
    given = (samples, sample_shading, sample_mask, alpha_to_coverage, alpha_to_one)
    if type(samples) is int and all(type(value) in _PLAIN_TYPES for value in given) and given == _PLAIN_MULTISAMPLING:
        return
    samples = arguments.whole(samples, f"{what}: samples", "allowed are 1, 2, 4, 8 and 16")
    if samples not in (1, 2, 4, 8, 16):
        raise ValidationError(f"{what}: samples is {samples!r}; allowed are 1, 2, 4, 8 and 16")
    state.samples = samples
    state.sample_shading = sample_shading is not False and sample_shading is not None
    if state.sample_shading:
        state.min_sample_shading = (
            1.0 if sample_shading is True else arguments.number(sample_shading, f"{what}: sample_shading")
        )
        if not 0 <= state.min_sample_shading <= 1:
            raise ValidationError(
                f"{what}: sample_shading is {arguments.shown(sample_shading)}; it must be True, False, or the least share, 0 to 1"
            )
    sample_mask = arguments.whole(sample_mask, f"{what}: sample_mask", "it must be a 32-bit mask")
    if not 0 <= sample_mask <= 0xFFFFFFFF:
        raise ValidationError(f"{what}: sample_mask is {sample_mask!r}; it must be a 32-bit mask")
    state.sample_mask = int(sample_mask)
    state.alpha_to_coverage = arguments.flag(alpha_to_coverage, f"{what}: alpha_to_coverage")
    state.alpha_to_one = arguments.flag(alpha_to_one, f"{what}: alpha_to_one")


def set_attachment_locations(
    info: _core.GraphicsPipelineCreateInfo, locations: Sequence[int | None] | None, targets: int, what: str
) -> None:
    """VkRenderingAttachmentLocationInfo: one entry for each colour attachment."""
    if locations is None:
        return
    must = f"it must be a location or None for each of the {targets} colour attachments"
    given = arguments.sequence(locations, f"{what}: attachment_locations", must)
    if len(given) != targets:
        raise ValidationError(f"{what}: attachment_locations has {len(given)} entries; {must}")
    most = _core.MAX_COLOR_ATTACHMENTS - 1
    if isinstance(locations, (set, frozenset)):
        raise ValidationError(f"{what}: attachment_locations is {arguments.shown(locations)}; {must}, in order")
    info.set_attachment_locations(
        [None if at is None else arguments.count(at, f"{what}: attachment_locations[{i}]", most) for i, at in enumerate(given)]
    )


def set_input_attachments(info: _core.GraphicsPipelineCreateInfo, names: Sequence[str | None] | None, what: str) -> None:
    """From "what does index i read" to Vulkan's "which index has attachment i"."""
    if names is None:
        return
    indices: dict[str, int] = {}
    allowed = [f"color{i}" for i in range(_core.MAX_COLOR_ATTACHMENTS)] + ["depth", "stencil"]
    must = f"it must be a list of {', '.join(allowed)} and None"
    given = [names] if isinstance(names, str) else arguments.sequence(names, f"{what}: input_attachments", must)
    for index, name in enumerate(given):
        if name is None:
            continue
        if not isinstance(name, str) or name not in allowed:
            raise ValidationError(
                f"{what}: input_attachments[{index}] is {arguments.shown(name)}{candidates(name, allowed)}; "
                f"or None for an index that is not used"
            )
        if name in indices:
            raise ValidationError(f"{what}: input_attachments names {name!r} twice, at {indices[name]} and {index}")
        indices[name] = index
    colors = [indices.get(f"color{i}") for i in range(_core.MAX_COLOR_ATTACHMENTS)]
    info.set_input_attachments(colors, indices.get("depth"), indices.get("stencil"))
