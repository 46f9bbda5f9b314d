"""Outputs that a stage has and never writes, where what comes behind reads them for certain: nothing, or zeros, is drawn.

In: the stages' modules. Out: a warning of the pipeline, an error with ``strict``. Told is what happens in any execution: a control shader
without a store to the levels, a variable that no line of its shader names and that the next one loads before anything parts its
invocations. Source: Vulkan specification, "Tessellation", "Shader Input and Output Interfaces".
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from tilegpu.errors import UndefinedContentsError, UndefinedContentsWarning
from tilegpu.pipeline_rules import Words, writes_built_in

if TYPE_CHECKING:
    from tilegpu.interface import Stages
    from tilegpu.program import Program

_STAGES = ("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "fragment")
_OUTER, _INNER = 11, 12  # TessLevelOuter, TessLevelInner
# SPIR-V's numbers.
_ENTRY, _MODE, _VARIABLE, _DECORATE, _FUNCTION, _LOAD, _CHAINS = 15, 16, 59, 71, 54, 61, (65, 66)
_ENDS = frozenset(range(249, 256))  # of a block: branches, returns, kill; loops begin with a branch
_LABEL = 248
_LOCATION, _INPUT, _ISOLINES = 30, 1, 25


def warn_of_unwritten_inputs(pipeline: Program, rasterizes: bool, strict: bool) -> None:
    """``rasterizes``: fragments are shaded, unless state says otherwise; ``strict``: of the device."""
    for text, key in [*_levels(pipeline._stages), *_variables(pipeline._stages, rasterizes)]:
        if strict:
            raise UndefinedContentsError(f"{pipeline.title}: {text}")
        pipeline._warn_once(key, text, UndefinedContentsWarning)


def _levels(stages: Stages) -> list[tuple[str, str]]:
    control, evaluation = stages.get("tessellation_control"), stages.get("tessellation_evaluation")
    if control is None or evaluation is None:
        return []
    spirv = bytes(control.spirv)
    if not writes_built_in(spirv, _OUTER):
        what = "the tessellation control shader never writes gl_TessLevelOuter. Vulkan leaves it undefined; here it is 0"
        return [(f"{what}, and nothing is drawn", "gl_TessLevelOuter")]
    lines = any(number == _MODE and operands[1] == _ISOLINES for number, operands in Words(evaluation.spirv).instructions())
    if not lines and not writes_built_in(spirv, _INNER):
        what = "the tessellation control shader never writes gl_TessLevelInner. Vulkan leaves it undefined; here it is 0"
        return [(what, "gl_TessLevelInner")]
    return []


def _variables(stages: Stages, rasterizes: bool) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    names = [name for name in _STAGES if name in stages and (rasterizes or name != "fragment")]
    for writer, reader in itertools.pairwise(names):
        declared = [output for output in stages[writer].reflection.outputs if not output.used and output.name]
        if not declared:
            continue
        read = _loaded(bytes(stages[reader].spirv))
        written = {(o.location, o.component) for o in stages[writer].reflection.outputs if o.used}
        for output in declared:
            if output.location in read and not any(location == output.location for location, _ in written):
                stage, next_ = writer.replace("_", " "), reader.replace("_", " ")
                what = f"the {stage} shader never writes its output '{output.name}' (location {output.location})"
                what += f", which the {next_} shader reads. Vulkan leaves it undefined; here it is 0"
                found.append((what, f"output {output.location}"))
    return found


@functools.lru_cache(maxsize=256)
def _loaded(spirv: bytes) -> frozenset[int]:
    """Locations of inputs that the entry point loads in its first block, whatever comes."""
    entry, inside, done = 0, False, False
    locations: dict[int, int] = {}
    inputs: set[int] = set()
    bases: dict[int, int] = {}
    found: set[int] = set()
    for number, operands in Words(spirv).instructions():
        if number == _ENTRY:
            entry = operands[1]
        elif number == _DECORATE and operands[1] == _LOCATION:
            locations[operands[0]] = operands[2]
        elif number == _VARIABLE and operands[2] == _INPUT:
            inputs.add(operands[1])
        elif number == _FUNCTION:
            inside, done = operands[1] == entry, False
        elif inside and not done and number != _LABEL:
            if number in _CHAINS:
                bases[operands[1]] = bases.get(operands[2], operands[2])
            elif number == _LOAD:
                variable = bases.get(operands[2], operands[2])
                if variable in inputs and variable in locations:
                    found.add(locations[variable])
            done = number in _ENDS
    return frozenset(found)
