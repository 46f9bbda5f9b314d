"""Outputs that a stage has and never writes, where what comes behind reads them for certain: nothing, or zeros, is drawn.

In: the stages' modules. Out: a warning of the pipeline, an error with ``strict``. Told is what happens in any execution: levels of a patch
without a store to them, and of variables and built-ins what no store of a shader reaches and the next one loads whatever comes
(:mod:`tilegpu.certain_uses`); inputs of vertices that a patch has not. Source: Vulkan specification, "Tessellation", "Shader Input and
Output Interfaces".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tilegpu.certain_uses import LEVELS, OUTPUT, STRANGE, Uses, uses_of
from tilegpu.errors import UndefinedContentsError, UndefinedContentsWarning
from tilegpu.pipeline_rules import Words, writes_built_in

if TYPE_CHECKING:
    from tilegpu import _core
    from tilegpu.interface import Stages
    from tilegpu.program import Program

_STAGES = ("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "task", "mesh", "fragment")
_OUTER, _INNER = LEVELS
_BUILT_INS = {0: "gl_Position", 1: "gl_PointSize", 3: "gl_ClipDistance", 4: "gl_CullDistance", _OUTER: "gl_TessLevelOuter",
              _INNER: "gl_TessLevelInner"}  # fmt: skip
_ARRAYS = frozenset({3, 4, _OUTER, _INNER})
#: Modes: which levels each kind of patch has, outer and inner.
_KINDS = {22: ("triangles", 3, 1), 24: ("quads", 4, 2), 25: ("isolines", 2, 0)}
_OUTPUT_VERTICES = 26
_OUTPUT_VARIABLE = 4 << 16 | 59  # the first word of a variable without a value
_CLIP_DISTANCE, _CULL_DISTANCE = 32, 33  # capabilities
_VERTICES_IN = {19: 1, 20: 2, 21: 4, 22: 3, 23: 6}  # of a geometry shader's primitives


def warn_of_unwritten_inputs(pipeline: Program, rasterizes: bool, patch_vertices: int | None, strict: bool) -> None:
    """``rasterizes``: fragments are shaded, unless state says otherwise; ``patch_vertices``: of what is drawn, ``None``: the pass says so;
    ``strict``: of the device."""
    names = [name for name in _STAGES if name in pipeline.stages and (rasterizes or name != "fragment")]
    try:
        found = [*_levels(pipeline), *_variables(pipeline, names), *_clipping(pipeline, rasterizes), *_beyond(pipeline, patch_vertices)]
    except STRANGE:
        found = []
    for text, key in found:
        if strict:
            raise UndefinedContentsError(f"{pipeline.title}: {text}")
        pipeline._warn_once(key, text, UndefinedContentsWarning)


def stage_uses(pipeline: Program, stage: str) -> Uses:
    """What a stage does, with the constants of the pipeline."""
    return uses_of(bytes(pipeline.stages[stage].spirv), dict(pipeline.interface.specialization.get(stage, [])), stage)


def _levels(pipeline: Program) -> list[tuple[str, str]]:
    stages: Stages = pipeline.stages
    control, evaluation = stages.get("tessellation_control"), stages.get("tessellation_evaluation")
    if control is None or evaluation is None:
        return []
    spirv = bytes(control.spirv)
    if not writes_built_in(spirv, _OUTER):
        what = "the tessellation control shader never writes gl_TessLevelOuter. Vulkan leaves it undefined; here it is 0"
        return [(f"{what}, and nothing is drawn", "gl_TessLevelOuter")]
    modes = {number for stage in ("tessellation_evaluation", "tessellation_control") for number in stage_uses(pipeline, stage).modes}
    kind, outer, inner = next((_KINDS[mode] for mode in _KINDS if mode in modes), ("", 0, 0))
    found = []
    if inner and not writes_built_in(spirv, _INNER):
        what = "the tessellation control shader never writes gl_TessLevelInner. Vulkan leaves it undefined; here it is 0"
        found, inner = [(what, "gl_TessLevelInner")], 0
    stored = stage_uses(pipeline, "tessellation_control").stored
    for built_in, count, end in ((_OUTER, outer, ", and nothing is drawn"), (_INNER, inner, "")):
        missing = [] if stored is None else [k for k in range(count) if (built_in, True, k) not in stored]
        if missing:
            which = ", ".join(f"{_BUILT_INS[built_in]}[{k}]" for k in missing)
            side = "outer" if built_in == _OUTER else "inner"
            what = f"the tessellation control shader never writes {which}; {kind} have {count} {side} level{'s' if count > 1 else ''}"
            found.append((f"{what}. Vulkan leaves it undefined; here it is 0{end}", which))
    return found


def _variables(pipeline: Program, names: list[str]) -> list[tuple[str, str]]:
    """What one stage never writes and the next one loads whatever comes."""
    found: dict[str, str] = {}
    for writer, reader in itertools.pairwise(names):
        outputs = [output for output in pipeline.stages[writer].reflection.outputs if output.name]
        asked = any(not o.used or o.type.locations > 1 for o in outputs) or _has_block(pipeline.stages[writer], len(outputs))
        if not asked and not _reads_built_ins(bytes(pipeline.stages[reader].spirv), reader):
            continue
        stored = stage_uses(pipeline, writer).stored
        if stored is None:
            continue
        reads, uses = stage_uses(pipeline, reader), stage_uses(pipeline, writer)
        for part, _, _ in reads.loaded:
            places = [(part.built_in, part.patch, k) for k in range(part.first, part.first + part.places)]
            if not stored.isdisjoint(places) or (part.built_in >= 0 and not _is_next(part.built_in, reader)):
                continue
            name, key = _title(part.built_in, part.first, outputs)
            if not name or (part.built_in in LEVELS and not uses.declared(part.built_in)):
                continue
            stage, next_ = writer.replace("_", " "), reader.replace("_", " ")
            what = f"the {stage} shader never writes {name}, which the {next_} shader reads. Vulkan leaves it undefined; here it is 0"
            found.setdefault(key, what)
    return [(what, key) for key, what in found.items()]


def _has_block(module: _core.ShaderModule, outputs: int) -> bool:
    """Whether several of a stage's outputs may be members of one variable: of those, "used" says that one is. Positions have one too."""
    words = np.frombuffer(module.spirv, np.uint32) if outputs > 1 else np.zeros(4, np.uint32)
    return outputs > 1 and outputs >= int(np.count_nonzero((words[:-3] == _OUTPUT_VARIABLE) & (words[3:] == OUTPUT)))


def _reads_built_ins(spirv: bytes, stage: str) -> bool:
    """Whether it may have inputs of :data:`_BUILT_INS`: all stages between vertices and fragments do; fragments say so."""
    return stage != "fragment" or not Words(spirv).capabilities.isdisjoint((_CLIP_DISTANCE, _CULL_DISTANCE))


def _is_next(built_in: int, reader: str) -> bool:
    """Whether a built-in that a stage reads is what the one before it writes."""
    if built_in in LEVELS:
        return reader == "tessellation_evaluation"
    return built_in in _BUILT_INS and (reader != "fragment" or built_in in _ARRAYS)


def _title(built_in: int, place: int, outputs: Iterable[_core.ReflectedVariable]) -> tuple[str, str]:
    """What messages call a part, and its key; ``""``: the stage before has no such output, which is another error."""
    if built_in >= 0:
        name = _BUILT_INS[built_in] + (f"[{place}]" if built_in in _ARRAYS else "")
        return name, name
    for output in outputs:
        first, count = output.location, max(1, output.type.locations)
        if first <= place < first + count:
            where = f"location {place} of its output '{output.name}'" if count > 1 else f"its output '{output.name}' (location {place})"
            return where, f"output {place}"
    return "", ""


def _clipping(pipeline: Program, rasterizes: bool) -> list[tuple[str, str]]:
    """Distances of the last stage before the rasterizer of which some are written, and some are not."""
    stage = next(name for name in ("mesh", "geometry", "tessellation_evaluation", "vertex") if name in pipeline.stages)
    spirv = bytes(pipeline.stages[stage].spirv)
    if not rasterizes or Words(spirv).capabilities.isdisjoint((_CLIP_DISTANCE, _CULL_DISTANCE)):
        return []
    uses = stage_uses(pipeline, stage)
    stored, found = uses.stored, []
    for built_in in (3, 4) if stored is not None else ():
        assert stored is not None
        there = [(built_in, False, k) in stored for k in range(uses.declared(built_in))]
        if any(there) and not all(there):
            which = ", ".join(f"{_BUILT_INS[built_in]}[{k}]" for k, written in enumerate(there) if not written)
            what = f"the {stage.replace('_', ' ')} shader never writes {which}, by which primitives are cut"
            found.append((f"{what}. Vulkan leaves it undefined; here it is 0", which))
    return found


def _beyond(pipeline: Program, patch_vertices: int | None) -> list[tuple[str, str]]:
    """Inputs of vertices that the patch, or the primitive, has not."""
    found: dict[str, str] = {}
    for stage in ("tessellation_control", "tessellation_evaluation", "geometry"):
        if stage not in pipeline.stages:
            continue
        uses = stage_uses(pipeline, stage)
        if stage == "geometry":
            count, why = next((n for mode, n in _VERTICES_IN.items() if mode in uses.modes), None), "its primitives have {}"
        elif stage == "tessellation_control":
            count, why = patch_vertices, "patches have {} (patch_control_points)"
        else:
            made = pipeline.stages.get("tessellation_control")
            modes = {} if made is None else stage_uses(pipeline, "tessellation_control").modes
            count, why = modes.get(_OUTPUT_VERTICES, [None])[0], "the control shader makes patches of {} (layout(vertices = {}) out)"
        for part, function, label in uses.loaded if count is not None else ():
            most = uses.most(part.vertex, function, label) if part.vertex else None
            if most is not None and count is not None and most >= count:
                name = uses.names.get(part.variable) or _BUILT_INS.get(part.built_in, "an input")
                what = f"the {stage.replace('_', ' ')} shader reads {name}[{most}]; {why.format(count, count)}"
                found.setdefault(name, f"{what}. Vulkan leaves it undefined; here it is 0")
    return [(what, f"{name} beyond") for name, what in found.items()]
