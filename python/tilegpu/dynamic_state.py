"""Dynamic state: what a pipeline leaves to the pass, by Vulkan's names, and the commands that set it.

Names are those of VkDynamicState in small letters, such as ``"cull_mode"``; any case, with or without
``VK_DYNAMIC_STATE_`` and ``_EXT`` or ``_KHR``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tilegpu import _core, arguments, enums
from tilegpu.attachment import rect_of
from tilegpu.enum_names import meant
from tilegpu.errors import Place, UnusedNameWarning, ValidationError, candidates, users_place
from tilegpu.pipeline_state import (
    advanced_blend_of,
    blend_equation,
    clamp_range_of,
    depth_bias_of,
    depth_bounds_of,
    discard_rectangles_of,
    extra_overestimation_of,
    line_stipple_of,
    line_width_of,
    sample_locations_of,
    shading_rate_of,
    stencil_mask_of,
    write_mask_of,
)

#: A command of CommandBuffer and its arguments.
Call = tuple[str, tuple[Any, ...]]

_FRONT, _BACK = 1, 2
_MOST_PX: int = _core.MAX_FRAMEBUFFER_SIZE_PX  # of the picture that a window is a part of
_TARGETS = range(_core.MAX_COLOR_ATTACHMENTS)
#: Set with the pipeline's vertex=, whenever it is bound.
VERTEX_STATES = ("vertex_input", "vertex_input_binding_stride")


def _normalize(name: Any) -> str:
    text = name if isinstance(name, str) else arguments.shown(name)
    return text.strip().lower().removeprefix("vk_dynamic_state_").removesuffix("_ext").removesuffix("_khr")


def known_state(name: Any, what: str) -> str:
    """The short name of a state; an error where there is none."""
    short = _normalize(name)
    if short in _core.DYNAMIC_STATES:
        return short
    near = candidates(short, _core.DYNAMIC_STATES, meant("dynamic state", short))
    raise ValidationError(f"{what} has {arguments.shown(name)}, which is no dynamic state{near}")


def dynamic_states(names: str | Iterable[str], what: str) -> frozenset[str]:
    """Of ``dynamic=``: a list of names, or ``"all"``."""
    if isinstance(names, str):
        if names != "all":
            raise ValidationError(f"{what}: dynamic is {names!r}; it must be a list of names, or 'all'")
        return frozenset(_core.DYNAMIC_STATES)
    given = arguments.sequence(names, f"{what}: dynamic", "it must be a list of names, or 'all'")
    return frozenset(known_state(name, f"{what}: dynamic") for name in given)


def _flag(name: str) -> Callable[[Any, str], list[Call]]:
    def calls(value: Any, what: str) -> list[Call]:
        if not isinstance(value, (bool, np.bool_)):
            raise ValidationError(f"{what} is {value!r}; it must be True or False")
        return [(f"set_{name}", (bool(value),))]

    return calls


def _named(name: str, kind: str) -> Callable[[Any, str], list[Call]]:
    return lambda value, what: [(f"set_{name}", (enums.parse(kind, "none" if value is None else value, what),))]


def _several(value: Any, what: str) -> list[Any]:
    """Viewports or scissors: one, or a list of them."""
    several = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 2)
    items = list(value) if several else []
    if not items or not isinstance(items[0], (list, tuple, np.ndarray)):
        return [value]
    if len(items) > _core.MAX_VIEWPORTS:
        raise ValidationError(f"{what} has {len(items)} entries; it must be one, or a list of 1 to {_core.MAX_VIEWPORTS}")
    return items


def viewports_of(value: Any, what: str) -> list[tuple[float, ...]]:
    """One viewport, or a list of them: six numbers each."""
    values = _several(value, what)
    return [viewport_of(v, what if len(values) == 1 else f"{what}[{i}]") for i, v in enumerate(values)]


def scissors_of(value: Any, what: str) -> list[list[int]]:
    """One scissor, or a list of them."""
    values = _several(value, what)
    return [_scissor_of(v, what if len(values) == 1 else f"{what}[{i}]") for i, v in enumerate(values)]


def _scissor_of(value: Any, what: str) -> list[int]:
    rect = rect_of(value, what)
    if rect[0] < 0 or rect[1] < 0:
        raise ValidationError(f"{what} is {arguments.shown(value)}; x and y must not be negative")
    if max(rect[0] + rect[2], rect[1] + rect[3]) > 0x7FFFFFFF:
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must end within 31 bits")
    return rect


def viewport_of(value: Any, what: str) -> tuple[float, ...]:
    """Six finite numbers of a viewport as users write it."""
    must = "it must be (x, y, width, height[, min_depth, max_depth]), finite numbers"
    values = arguments.numbers(value, what, (4, 6), must)
    if len(values) == 4:
        values = (*values, 0.0, 1.0)
    if not np.all(np.isfinite(values)):
        raise ValidationError(f"{what} is {arguments.shown(value)}; {must}")
    width, height = values[2:4]
    if not 0 < width <= _MOST_PX or abs(height) > _MOST_PX:
        raise ValidationError(
            f"{what} is {arguments.shown(value)}; width must be above 0, and width and height at most {_MOST_PX} px "
            "(a negative height turns the picture over)"
        )
    reach = (values[0], values[0] + width, values[1], values[1] + height)
    if min(reach) < -2 * _MOST_PX or max(reach) > 2 * _MOST_PX:
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must lie within {-2 * _MOST_PX} to {2 * _MOST_PX} px")
    if not all(0 <= depth <= 1 for depth in values[4:]):
        raise ValidationError(
            f"{what} is {arguments.shown(value)}: its depths are {values[4]:g} and {values[5]:g}; each must be 0 to 1 "
            "(tilegpu has no VK_EXT_depth_range_unrestricted)"
        )
    return values


def _faces(name: str) -> Callable[[Any, str], list[Call]]:
    def calls(value: Any, what: str) -> list[Call]:
        must = "it must be 0 to 255, or (front, back)"
        one = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        pair = [value, value] if one else arguments.wholes(value, what, 2, must)
        if name != "stencil_reference":
            pair = [stencil_mask_of(int(v), what) for v in pair]
        elif not all(0 <= int(v) <= 255 for v in pair):
            raise ValidationError(f"{what} is {arguments.shown(value)}; {must}")
        return [(f"set_{name}", (face, int(v))) for face, v in zip((_FRONT, _BACK), pair, strict=True)]

    return calls


def _stencil_op(value: Any, what: str) -> list[Call]:
    keys = ("fail", "pass", "depth_fail", "compare")
    both = isinstance(value, Mapping)
    must = f"it must be a dict of {', '.join(keys)}, or two: (front, back)"
    sides = [value] if both else arguments.sequence(value, what, must)
    if not all(isinstance(fields, Mapping) for fields in sides) or len(sides) != (1 if both else 2):
        raise ValidationError(f"{what} is {arguments.shown(value)}; {must}")
    calls: list[Call] = []
    for face, fields in zip((_FRONT | _BACK,) if both else (_FRONT, _BACK), sides, strict=True):
        for key in fields:
            if key not in keys:
                raise ValidationError(f"{what} has no field '{key}'{candidates(key, keys, meant('stencil field', key))}")
        operations = [enums.parse("stencil_op", fields.get(key, "keep"), f"{what}: {key}") for key in keys[:3]]
        compare = enums.parse("compare_op", fields.get("compare", "always"), f"{what}: compare")
        calls.append(("set_stencil_op", (face, *operations, compare)))
    return calls


def _each_target(name: str, parse: Callable[[Any, str], Any]) -> Callable[[Any, str], list[Call]]:
    def calls(value: Any, what: str) -> list[Call]:
        values = list(value) if isinstance(value, (list, tuple)) else [value for _ in _TARGETS]
        return [(f"set_{name}", (0, [parse(v, f"{what}[{i}]") for i, v in enumerate(values)]))]

    return calls


def _provoking_vertex(value: Any, what: str) -> list[Call]:
    if not isinstance(value, str) or value not in ("first", "last"):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be 'first' or 'last'")
    return [("set_provoking_vertex_mode", (int(value == "last"),))]


def _constants(value: Any, what: str) -> list[Call]:
    values = arguments.numbers(value, what, (4,), "it must be four numbers, r g b a")
    return [("set_blend_constants", (list(values),))]


def _samples(value: Any, what: str) -> list[Call]:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value not in (1, 2, 4, 8, 16):
        raise ValidationError(f"{what} is {arguments.shown(value)}; allowed are 1, 2, 4, 8 and 16")
    return [("set_rasterization_samples", (int(value),))]


def _patch_vertices(value: Any, what: str) -> int:
    points = arguments.count(value, what, 32)
    if not points:
        raise ValidationError(f"{what} is 0; a patch has 1 to 32 vertices")
    return points


def _write_enable(value: Any, what: str) -> list[Call]:
    values = list(value) if isinstance(value, (list, tuple)) else [value for _ in _TARGETS]
    return [("set_color_write_enable", ([arguments.flag(v, what) for v in values],))]


def _discard_rectangles(value: Any, what: str) -> list[Call]:
    """These and no others: those that were set before and are not given hold no pixel."""
    rects = discard_rectangles_of(value, what)
    return [("set_discard_rectangles", (rects + [[0, 0, 0, 0]] * (_core.MAX_DISCARD_RECTANGLES - len(rects)),))]


def _not_by_hand(name: str) -> Callable[[Any, str], list[Call]]:
    def calls(value: Any, what: str) -> list[Call]:
        raise ValidationError(
            f"{what}: {name} comes with the pipeline's vertex=; it is set whenever that is drawn with"
        )

    return calls


_FLAGS = (
    "depth_test_enable",
    "depth_write_enable",
    "depth_bounds_test_enable",
    "stencil_test_enable",
    "rasterizer_discard_enable",
    "depth_bias_enable",
    "primitive_restart_enable",
    "depth_clamp_enable",
    "depth_clip_enable",
    "depth_clip_negative_one_to_one",
    "alpha_to_coverage_enable",
    "alpha_to_one_enable",
    "logic_op_enable",
    "sample_locations_enable",
    "discard_rectangle_enable",
    "line_stipple_enable",
)
_SETTERS: dict[str, Callable[[Any, str], list[Call]]] = {
    **{name: _flag(name) for name in _FLAGS},
    **{name: _not_by_hand(name) for name in VERTEX_STATES},
    "viewport": lambda v, what: [("set_viewports", (viewports_of(v, what),))],
    "scissor": lambda v, what: [("set_scissors", (scissors_of(v, what),))],
    "viewport_with_count": lambda v, what: [("set_viewports", (viewports_of(v, what),))],
    "scissor_with_count": lambda v, what: [("set_scissors", (scissors_of(v, what),))],
    "line_width": lambda v, what: [("set_line_width", (line_width_of(v, what),))],
    "depth_bias": lambda v, what: [("set_depth_bias", depth_bias_of(v, what) or (0.0, 0.0, 0.0))],
    "depth_clamp_range": lambda v, what: [("set_depth_clamp_range", clamp_range_of(v, what))],
    "blend_constants": _constants,
    "depth_bounds": lambda v, what: [("set_depth_bounds", depth_bounds_of(v, what))],
    "stencil_compare_mask": _faces("stencil_compare_mask"),
    "stencil_write_mask": _faces("stencil_write_mask"),
    "stencil_reference": _faces("stencil_reference"),
    "stencil_op": _stencil_op,
    "cull_mode": _named("cull_mode", "cull_mode"),
    "front_face": _named("front_face", "front_face"),
    "primitive_topology": _named("primitive_topology", "primitive_topology"),
    "rasterization_stream": lambda v, what: [("set_rasterization_stream", (arguments.count(v, what, 3),))],
    "patch_control_points": lambda v, what: [("set_patch_control_points", (_patch_vertices(v, what),))],
    "tessellation_domain_origin": _named("tessellation_domain_origin", "tessellation_domain_origin"),
    "polygon_mode": _named("polygon_mode", "polygon_mode"),
    "depth_compare_op": _named("depth_compare_op", "compare_op"),
    "logic_op": _named("logic_op", "logic_op"),
    "provoking_vertex_mode": _provoking_vertex,
    "rasterization_samples": _samples,
    "sample_mask": lambda v, what: [("set_sample_mask", (arguments.count(v, what, 0xFFFFFFFF),))],
    "color_blend_enable": _each_target("color_blend_enable", arguments.flag),
    "color_blend_equation": _each_target("color_blend_equation", blend_equation),
    "color_write_mask": _each_target("color_write_mask", write_mask_of),
    "color_write_enable": _write_enable,
    "color_blend_advanced": _each_target("color_blend_advanced", advanced_blend_of),
    "conservative_rasterization_mode": _named("conservative_rasterization_mode", "conservative_rasterization_mode"),
    "extra_primitive_overestimation_size": lambda v, what: [
        ("set_extra_primitive_overestimation_size", (extra_overestimation_of(v, what),))
    ],
    "fragment_shading_rate": lambda v, what: [("set_fragment_shading_rate", shading_rate_of(v, what))],
    "line_rasterization_mode": _named("line_rasterization_mode", "line_rasterization_mode"),
    "line_stipple": lambda v, what: [("set_line_stipple", line_stipple_of(v, what))],
    "discard_rectangle": _discard_rectangles,
    "discard_rectangle_mode": _named("discard_rectangle_mode", "discard_rectangle_mode"),
    "sample_locations": lambda v, what: [("set_sample_locations", (sample_locations_of(v, what),))],
}
assert set(_SETTERS) == set(_core.DYNAMIC_STATES)
#: One of these that is the same object has the same value.
_IMMUTABLE = (bool, int, float, str)
#: States that are set as one with another: with either name the later value holds.
_SLOTS = {"viewport_with_count": "viewport", "scissor_with_count": "scissor"}
#: Of these the later one holds, attachment by attachment.
_BLENDS = ("color_blend_equation", "color_blend_advanced")


class StateOfPass:
    """What a pass said of dynamic state, and what of it the command buffer has already."""

    def __init__(self) -> None:
        self._calls: dict[str, list[Call]] = {}
        self._stale: set[str] = set()
        self._last_blend = ""  # of _BLENDS
        self.pending = False  #: the next draw should :meth:`apply`
        self.values: dict[str, Any] = {}  #: as the user gave them, by slot
        self._set_at: dict[str, Place] = {}  # by rp.set and no draw has wanted it yet: where
        self.behind: set[str] = set()  #: what secondary command buffers were executed behind, and was not set again

    def set(self, state: Mapping[str, Any], what: str, by_itself: bool = False) -> None:
        """Checks all of them before it takes any. What is the same as before changes nothing. ``by_itself``: no argument of a draw."""
        values: dict[str, Any] = {}
        calls: dict[str, list[Call]] = {}
        last_blend = self._last_blend
        slots: list[str] = []
        for given, value in state.items():
            name = given if given in _SETTERS else known_state(given, what)
            slot = _SLOTS.get(name, name)
            slots.append(slot)
            same = type(value) in _IMMUTABLE and value is self.values.get(slot, self) and slot not in calls
            if same and (slot not in _BLENDS or slot == last_blend):
                continue
            values[slot], calls[slot] = value, _SETTERS[name](value, f"{what}: {name}")
            if slot in _BLENDS:
                last_blend = slot
        self._last_blend = last_blend
        self.behind.difference_update(slots)
        self.values.update(values)
        if calls:
            if by_itself and (new := [slot for slot in calls if slot not in self._calls]):
                place = users_place()
                self._set_at.update((slot, place) for slot in new)
            self._calls.update(calls)
            self._stale.update(calls)
            self.pending = True

    def forget(self) -> None:
        """Another pipeline was bound, which may have replaced what was set."""
        self._stale.update(self._calls)
        self.pending = bool(self._stale)

    def executed(self) -> None:
        """Secondary command buffers were: in Vulkan nothing holds behind them."""
        self.behind.update(self._calls)
        self.forget()

    def relied_on(self, wanted: frozenset[str]) -> list[str]:
        """Of what is wanted what was set before secondary command buffers were executed."""
        return sorted(self.behind.intersection(_SLOTS.get(name, name) for name in wanted))

    def warn_unused(self, what: str, drawn: bool) -> None:
        """At the end: a warning for each state that was set and that no pipeline of a later draw leaves open; ``drawn``: whether there were
        draws at all."""
        for slot, place in self._set_at.items() if drawn else ():
            place.warn(
                f"{what}: set: {slot} has no effect: no draw behind it is with a pipeline that leaves it open; give dev.pipeline "
                f"dynamic=['{slot}'], or its own argument",
                UnusedNameWarning,
            )

    def apply(self, commands: _core.CommandBuffer, wanted: frozenset[str]) -> list[str]:
        """Sets what is wanted and not there yet; returns what that is."""
        wanted = wanted.union(slot for name, slot in _SLOTS.items() if name in wanted)
        if self._set_at:
            for slot in wanted.intersection(self._set_at):
                del self._set_at[slot]
        names = sorted(self._stale & wanted, key=lambda name: (name == self._last_blend, name))
        for name in names:
            for command, given in self._calls[name]:
                getattr(commands, command)(*given)
        self._stale -= wanted
        self.pending = False
        return names
