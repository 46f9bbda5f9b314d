"""Whether a frame is what it is said to be, and its passes make sense. In: a :class:`~tilegpu.scene.description.Frame`. Out: an error that
names the pass, the draw and the field, before anything is drawn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import arguments
from tilegpu.errors import UnusedNameWarning, ValidationError, users_level
from tilegpu.scene.description import Draw, Frame, Output, Pass, Program, Sampled, State, Target, Texture

if TYPE_CHECKING:
    import tilegpu as tg

_RESOLVES = ("none", "pass", "store_cmd")
_LOADS = ("clear", "load", "dont_care")
_SAMPLES = (1, 2, 4, 8, 16)
_MAPPINGS = (dict, MappingProxyType)


def _require_one_of(value: Any, choices: Sequence[Any], what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (str, int, np.integer)) or value not in choices:
        *others, last = (repr(choice) for choice in choices)
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be {', '.join(others)} or {last}")


def _require(value: Any, kinds: Any, what: str, must: str) -> None:
    if not isinstance(value, kinds):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be {must}")


def _require_whole(value: Any, what: str, other: str) -> None:
    """``other``: what else it may be, "" for nothing; begins with ", or None"."""
    if value is None and other:
        return
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a whole number{other}")


def _is_sound(draw: Any) -> bool:
    """Whether the fields of a draw are what they are said to be; of ten thousand nobody wants the words that say so."""
    return (
        isinstance(draw, Draw)
        and isinstance(draw.program, Program)
        and isinstance(draw.state, State)
        and (draw.vertices is None or isinstance(draw.vertices, np.ndarray))
        and (draw.indices is None or isinstance(draw.indices, np.ndarray))
        and type(draw.first) is int
        and type(draw.instances) is int
        and (draw.count is None or type(draw.count) is int)
        and (type(draw.push) in _MAPPINGS or isinstance(draw.push, Mapping))  # the second question alone costs more than all others
        and (type(draw.bind) in _MAPPINGS or isinstance(draw.bind, Mapping))
    )


def _check_draws(draws: Any, what: str) -> None:
    """A sequence of draws whose fields are what they are said to be."""
    if type(draws) is tuple and all(map(_is_sound, draws)):
        return
    _require(draws, (tuple, list), f"{what}: draws", "a tuple of tilegpu.scene.Draw, such as (Draw(...),)")
    for number, draw in enumerate(draws):
        if _is_sound(draw):
            continue
        _require(draw, Draw, f"{what}: draws[{number}]", "a tilegpu.scene.Draw")
        of = f"{what}: {title_of(draw, number)}"
        _require(draw.program, Program, f"{of}: program", "a tilegpu.scene.Program (vertex and fragment shader, or vertex alone)")
        _require(draw.state, State, f"{of}: state", "a tilegpu.scene.State")
        for name in ("vertices", "indices"):
            _require(getattr(draw, name), (np.ndarray, type(None)), f"{of}: {name}", "an array, or None")
        for name in ("first", "count", "instances"):
            _require_whole(getattr(draw, name), f"{of}: {name}", ", or None: all from first on" if name == "count" else "")
        for name in ("push", "bind"):
            _require(getattr(draw, name), Mapping, f"{of}: {name}", "a mapping by name")


def require_frame(frame: Any, who: str) -> None:
    """Raises for what is no frame at all: all that has to be asked of one that is drawn again."""
    _require(frame, Frame, f"{who}: frame", "a tilegpu.scene.Frame, such as scene.frame() makes")


def check_frame(frame: Any, who: str) -> None:
    """Raises where the frame, its passes or its draws are something else. What a user's function draws is looked at as it draws."""
    require_frame(frame, who)
    what = f"frame '{frame.label}'"
    size = frame.size
    if not (isinstance(size, (tuple, list)) and len(size) == 2 and all(isinstance(n, (int, np.integer)) and n > 0 for n in size)):
        own = "; in frame() of a scene, size, samples = self._resolve_request(size, samples, camera, time) takes its own for None"
        must = "it must be (width, height), whole numbers of pixels"
        raise ValidationError(f"{what}: size is {arguments.shown(size)}; {must}{own if size is None else ''}")
    _require_one_of(frame.resolve, _RESOLVES, f"{what}: resolve")
    _require_one_of(frame.samples, _SAMPLES, f"{what}: samples")
    _require(frame.color_formats, (tuple, list), f"{what}: color_formats", "a tuple of formats, such as ('r8g8b8a8_srgb',)")
    colors = "a tuple of colours, one for each attachment or one for all, such as ((0.0, 0.0, 0.0, 1.0),)"
    _require(frame.clear_colors, (tuple, list), f"{what}: clear_colors", colors)
    for given in frame.clear_colors:
        _require(given, (tuple, list, np.ndarray), f"{what}: clear_colors", colors)
    for given in frame.color_formats:
        _require(given, str, f"{what}: color_formats", "a tuple of formats, such as ('r8g8b8a8_srgb',)")
    _require(frame.depth_format, (str, type(None)), f"{what}: depth_format", "a format, such as 'd32_sfloat', or None: no depth")
    arguments.flag(frame.store_depth, f"{what}: store_depth")
    _require(frame.passes, (tuple, list), f"{what}: passes", "a tuple of tilegpu.scene.Pass, such as (Pass(...),)")
    _check_draws(frame.draws, what)
    for number, one in enumerate(frame.passes):
        _require(one, Pass, f"{what}: passes[{number}]", "a tilegpu.scene.Pass")
        of = f"{what}, pass '{one.label}'"
        _require_one_of(one.samples, _SAMPLES, f"{of}: samples")
        _require(one.color, (tuple, list), f"{of}: color", "a tuple of tilegpu.scene.Output, such as (Output(...),)")
        for k, output in enumerate(one.color):
            _require(output, Output, f"{of}: color[{k}]", "a tilegpu.scene.Output")
        _require(one.depth, (Output, type(None)), f"{of}: depth", "a tilegpu.scene.Output, or None")
        for output in one.outputs:
            _require(output.target, Target, f"{of}: target of an Output", "a tilegpu.scene.Target")
            arguments.flag(output.store, f"{of}: store of target '{output.target.label}'")
            _require_one_of(output.load, _LOADS, f"{of}: load of target '{output.target.label}'")
        _check_draws(one.draws, of)


def _warn(what: str) -> None:
    warnings.warn(what, UnusedNameWarning, stacklevel=users_level())


def check_attachments(frame: Frame) -> None:
    """Raises where attachments have no clear value; warns of what is given and has no attachment."""
    what, colors, clears = f"frame '{frame.label}'", len(frame.color_formats), len(frame.clear_colors)
    if colors and clears not in (1, colors):
        text = f"{what}: clear_colors has {clears}, and color_formats {colors}; give one for each attachment, or one for all"
        if clears < colors:
            raise ValidationError(text)
        _warn(text)
    if frame.store_depth and frame.depth_format is None:
        _warn(f"{what}: store_depth has no effect without a depth attachment; give depth_format=")
    _say_undrawn(what, frame.draws, colors, frame.depth_format is not None)
    if frame.depth_format is None:
        _say_untested(what, frame.draws, "depth_format='d32_sfloat'")
    for one in frame.passes:
        if one.depth is None:
            _say_untested(f"{what}, pass '{one.label}'", one.draws, "depth=Output(Target('d32_sfloat'), clear=1.0, store=False)")
        _say_undrawn(f"{what}, pass '{one.label}'", one.draws, len(one.color), one.depth is not None)
        clear = None if one.depth is None or one.depth.load != "clear" else one.depth.clear
        if isinstance(clear, tuple) and clear != Output.clear and list(clear) != [1] * len(clear):
            _warn(f"{what}, pass '{one.label}': clear of depth is {arguments.shown(clear)}, and it is cleared to 1; give a number")


def _say_undrawn(what: str, draws: Sequence[Draw], colors: int, depth: bool) -> None:
    """Warns of draws of depth alone where there is none, or where colours are that nothing else draws to."""
    alone = [draw for draw in draws if draw.program.fragment is None]
    if alone and not depth:
        names = ", ".join(sorted({f"'{draw.program.label}'" for draw in alone}))
        _warn(f"{what}: program {names} has no fragment shader and the pass no depth, so it draws nothing; give fragment=, or depth")
    elif alone and colors and len(alone) == len(draws):
        _warn(f"{what}: no draw has a fragment shader, so nothing is drawn to color; give fragment=, or leave color out")


def _say_untested(what: str, draws: Sequence[Draw], fix: str) -> None:
    """Warns of draws whose state says that depth is tested, in a pass without depth: what is drawn last is seen, however far it is."""
    seen: dict[int, State] = {}
    for number, draw in enumerate(draws):
        if id(draw.state) in seen:
            continue
        seen[id(draw.state)] = draw.state
        if not (why := draw.state.wants_depth):
            continue
        lost = "which has no effect without a depth attachment: what is drawn last covers what was drawn before, however near that is"
        _warn(f"{what}, {title_of(draw, number)}: its state has {why}, {lost}; give {fix}, or State(depth_test=False)")
        return


def say_unwritten(what: str, count: int, pipelines: Iterable[tg.Pipeline], loaded: Collection[int] = ()) -> None:
    """Warns of colour attachments that no draw of a pass writes, where others are written. One draw may leave some to the others; what is
    ``loaded`` keeps what it has."""
    written: set[int] = set()
    for pipeline in pipelines:
        if any(one.descriptor == "input_attachment" for one in pipeline.interface.bindings.values()):
            return  # what it reads of the tile it has no need to write
        for output in pipeline.interface.outputs:
            length = output.type.array_length if output.type.kind == "array" else 1
            written.update(range(output.location, output.location + max(1, length)))
    if written and (lost := sorted(set(range(count)) - written - set(loaded))):
        none = f"no draw writes color {', '.join(map(str, lost))}, as no fragment shader has an output at that location"
        _warn(f"{what}: {none}; write it, or leave its format out")


def check_passes(frame: Frame) -> None:
    """Raises where sizes differ, where a target is sampled or loaded that no pass before stored, or sampled while it is drawn to, and
    where samples would have to be loaded."""
    stored: set[int] = set()
    for one in frame.passes:
        what = f"frame '{frame.label}', pass '{one.label}'"
        _check_outputs(what, one, frame)
        for output in one.outputs:
            if output.load == "load" and id(output.target) not in stored:
                raise ValidationError(f"{what} loads target '{output.target.label}', which no pass before stored; load='clear'")
        _check_sampled(what, one.draws, stored, {id(output.target) for output in one.outputs})
        stored |= {id(output.target) for output in one.outputs if output.store}
    _check_sampled(f"frame '{frame.label}'", frame.draws, stored, set())


def _check_outputs(what: str, one: Pass, frame: Frame) -> None:
    if not one.outputs:
        raise ValidationError(f"{what} has no attachment; give color= or depth=")
    sizes = {output.target.label: frame.size_of(output.target) for output in one.outputs}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"'{label}' {width}x{height}" for label, (width, height) in sizes.items())
        raise ValidationError(f"{what}: its attachments have sizes {shown}; they must be of one size")
    for output in one.outputs:
        if one.samples > 1 and output.load == "load":
            raise ValidationError(f"{what} has {one.samples} samples and loads target '{output.target.label}', which has one; load='clear'")
    if one.samples > 1 and one.depth is not None and one.depth.store:
        depth = f"stores depth target '{one.depth.target.label}'"
        raise ValidationError(f"{what} has {one.samples} samples and {depth}; store=False, or one sample")


def _check_sampled(what: str, draws: Sequence[Draw], stored: set[int], drawn: set[int]) -> None:
    for number, draw in enumerate(draws):
        for name, value in draw.bind.items():
            if not isinstance(value, Sampled):
                continue
            if id(value.target) in drawn:
                samples = f"{title_of(draw, number)}: {name} samples target '{value.target.label}'"
                raise ValidationError(f"{what}, {samples}, which the pass draws to")
            if id(value.target) not in stored:
                samples = f"{title_of(draw, number)}: {name} samples target '{value.target.label}'"
                raise ValidationError(f"{what}, {samples}, which no pass before stores")


def check_bound(descriptor: str, name: str, value: Any, draw: Draw, title: Callable[[Draw], str]) -> None:
    """Raises for what a binding of this type can't take, in the words of scenes; ``descriptor``: Vulkan's name of the type; ``title``: what
    messages call the draw."""
    if isinstance(value, (Target, Output)):
        label = (value.target if isinstance(value, Output) else value).label
        raise ValidationError(
            f"{title(draw)}: bind '{name}' is target '{label}' alone; give tilegpu.scene.Sampled(target), which says how it is sampled"
        )
    pictured = isinstance(value, (Texture, Sampled))
    if pictured is descriptor.endswith(("sampler", "image")):
        return
    if pictured:
        kind = f"is a tilegpu.scene.{type(value).__name__}, and a {descriptor}"
        raise ValidationError(f"{title(draw)}: bind '{name}' {kind}; give an array, or a mapping of the block's members")
    given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else arguments.shown(value)
    raise ValidationError(
        f"{title(draw)}: bind '{name}' is {given}, and a {descriptor}; give a tilegpu.scene.Texture(pixels), or Sampled(target)"
    )


def title_of(draw: Draw, number: int) -> str:
    """A draw for messages: its label, or its place."""
    return f"draw '{draw.label}'" if draw.label else f"draws[{number}]"
