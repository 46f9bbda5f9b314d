"""Whether a frame is what it is said to be, and its passes make sense. In: a :class:`~tilegpu.scene.description.Frame`. Out: an error that
names the pass, the draw and the field, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilegpu import arguments
from tilegpu.errors import ValidationError
from tilegpu.scene.description import Draw, Frame, Output, Pass, Program, Sampled, State, Target


def _require(value: Any, kinds: Any, what: str, must: str) -> None:
    if not isinstance(value, kinds):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be {must}")


def _is_plain(draw: Any) -> bool:
    """What nearly every draw is; others are looked at field by field, for the message."""
    return (
        type(draw) is Draw
        and type(draw.program) is Program
        and type(draw.state) is State
        and (draw.vertices is None or type(draw.vertices) is np.ndarray)
        and (draw.indices is None or type(draw.indices) is np.ndarray)
        and type(draw.push) is dict
        and type(draw.bind) is dict
    )


def _check_draws(draws: Any, what: str) -> None:
    """A sequence of draws whose fields are what they are said to be."""
    if type(draws) is tuple and all(map(_is_plain, draws)):
        return
    _require(draws, (tuple, list), f"{what}: draws", "a tuple of tilegpu.scene.Draw, such as (Draw(...),)")
    for number, draw in enumerate(draws):
        _require(draw, Draw, f"{what}: draws[{number}]", "a tilegpu.scene.Draw")
        of = f"{what}: draw '{draw.label}'" if draw.label else f"{what}: draws[{number}]"
        _require(draw.program, Program, f"{of}: program", "a tilegpu.scene.Program (vertex and fragment shader)")
        _require(draw.state, State, f"{of}: state", "a tilegpu.scene.State")
        for name in ("vertices", "indices"):
            _require(getattr(draw, name), (np.ndarray, type(None)), f"{of}: {name}", "an array, or None")
        for name in ("push", "bind"):
            _require(getattr(draw, name), Mapping, f"{of}: {name}", "a mapping by name")


def check_frame(frame: Any, who: str) -> None:
    """Raises where the frame, its passes or its draws are something else. What a user's function draws is looked at as it draws."""
    _require(frame, Frame, f"{who}: frame", "a tilegpu.scene.Frame, such as scene.frame() makes")
    what = f"frame '{frame.label}'"
    _require(frame.passes, (tuple, list), f"{what}: passes", "a tuple of tilegpu.scene.Pass, such as (Pass(...),)")
    _check_draws(frame.draws, what)
    for number, one in enumerate(frame.passes):
        _require(one, Pass, f"{what}: passes[{number}]", "a tilegpu.scene.Pass")
        of = f"{what}, pass '{one.label}'"
        _require(one.color, (tuple, list), f"{of}: color", "a tuple of tilegpu.scene.Output, such as (Output(...),)")
        for k, output in enumerate(one.color):
            _require(output, Output, f"{of}: color[{k}]", "a tilegpu.scene.Output")
        _require(one.depth, (Output, type(None)), f"{of}: depth", "a tilegpu.scene.Output, or None")
        for output in one.outputs:
            _require(output.target, Target, f"{of}: target of an Output", "a tilegpu.scene.Target")
        _check_draws(one.draws, of)


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
    if one.samples not in (1, 2, 4, 8, 16):
        raise ValidationError(f"{what}: samples is {one.samples}; allowed are 1, 2, 4, 8 and 16")
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
    for draw in draws:
        for name, value in draw.bind.items():
            if not isinstance(value, Sampled):
                continue
            if id(value.target) in drawn:
                raise ValidationError(f"{what}, draw '{draw.label}': {name} samples target '{value.target.label}', which the pass draws to")
            if id(value.target) not in stored:
                samples = f"{name} samples target '{value.target.label}'"
                raise ValidationError(f"{what}, draw '{draw.label}': {samples}, which no pass before stores")
