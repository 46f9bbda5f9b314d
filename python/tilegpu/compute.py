"""Compute pipelines and dispatches: workgroups of a shader over buffers and images."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tilegpu import _core, arguments, notebook, reads_since, shader
from tilegpu.arena import Arena
from tilegpu.binding import DescriptorBinder
from tilegpu.buffer import Buffer, BufferSlice, require_usage, require_words
from tilegpu.conditional import Condition
from tilegpu.context import Context
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.dispatch_races import race_of
from tilegpu.errors import ValidationError
from tilegpu.fixed import no_block
from tilegpu.indirect import check_group_names
from tilegpu.interface import Interface, Stages
from tilegpu.program import Program, specialization_of
from tilegpu.set_layout import DescriptorSetLayout, layouts_by_number
from tilegpu.stats import bytes_text

_MOST: int = _core.MAX_WORKGROUPS
_SIZE = f"it must be a whole number or up to three of them, x, y and z, from 0 to {_MOST}"


@no_block
class DispatchStats(NamedTuple):
    """What a dispatch was and cost."""

    workgroups: tuple[int, int, int]
    invocations: int
    shared_memory_B: int  #: of one workgroup
    lanes: int  #: invocations at a time on each thread
    threads: int  #: that took part
    ordered: bool  #: atomics wanted an order: workgroups ran one after the other
    waiting_memory_B: int  #: what a workgroup's invocations keep at a barrier; 0: they never wait
    time_ms: float

    def _rows(self) -> list[tuple[str, str]]:
        x, y, z = self.workgroups
        return [
            ("workgroups", f"{x:,} x {y:,} x {z:,}"),
            ("invocations", f"{self.invocations:,}"),
            ("lanes, threads", f"{self.lanes} x {self.threads}" + (", in order: atomics want it" if self.ordered else "")),
            ("shared memory of a workgroup", bytes_text(self.shared_memory_B)),
            ("kept at barriers, of a workgroup", bytes_text(self.waiting_memory_B)),
            ("time", f"{self.time_ms:.3f} ms"),
        ]

    def __str__(self) -> str:
        rows = self._rows()
        width, value_width = (max(len(row[k]) for row in rows) for k in (0, 1))
        return "\n".join(["dispatch", *(f"  {text:<{width}}  {value:>{value_width}}" for text, value in rows)])

    def _repr_html_(self) -> str:
        return notebook.table("dispatch", (), self._rows(), {1})


class ComputePipeline(Program):
    """A compiled compute shader. Made by :meth:`tilegpu.Device.compute_pipeline`."""

    def __init__(self, core: _core.ComputePipeline, stages: Stages) -> None:
        super().__init__(core, stages)
        self.core = core
        #: Invocations of a workgroup in x, y and z, with the constants' values.
        self.workgroup_size: tuple[int, int, int] = (
            core.workgroup_size[0],
            core.workgroup_size[1],
            core.workgroup_size[2],
        )
        self.shared_memory_B = core.shared_memory_B  #: of one workgroup
        #: An atomic of a buffer gives what depends on the order of invocations: workgroups run in order, on one thread.
        self.orders_workgroups = core.orders_workgroups

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.workgroup_size))
        return f"<tilegpu.ComputePipeline '{self.label}', workgroups of {size}>"


def create_compute_pipeline(
    self: Context,
    comp: shader.ShaderSource,
    *,
    constants: Mapping[Any, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    set_layouts: Mapping[int, DescriptorSetLayout] | None = None,
    comp_file: str = "",
    label: str = "",
) -> ComputePipeline:
    """Compiles a compute shader.

    ``comp`` is GLSL text, a path (.comp, .glsl, .spv) or SPIR-V bytes; ``comp_file`` is what messages call a text.
    ``constants``: specialisation constants by name or id, such as the workgroup's size. ``defines``: GLSL macros.
    ``include``: directories of ``#include``. ``set_layouts``: layouts of descriptor sets by number
    (:meth:`Device.descriptor_set_layout`), for sets that pipelines share, those of graphics too; the layouts of other sets are what the
    shader uses of them.

    A workgroup has at most 1,024 invocations and 64 KiB of shared memory, which begins with zeros. Subgroups have 4 invocations.

    Raises :class:`ShaderError` with all errors of a compile, :class:`ValidationError` and :class:`UnsupportedError` otherwise.
    """
    again = functools.partial(create_compute_pipeline, **locals())
    label = arguments.text(label, "compute_pipeline: label")
    comp_file = arguments.text(comp_file, "compute_pipeline: comp_file")
    module = shader.load(
        comp, "compute", defines=defines, include=include, label=label, file=comp_file, device=self.core
    )
    what = f"pipeline '{label}'" if label else "compute_pipeline"
    if module.reflection.stage != _core.ENUMS["shader_stage"]["compute"]:
        raise ValidationError(f"{what}: '{module.label}' is no compute shader")
    if not label:
        label = shader.label_of(self, [module])
    named = f"pipeline '{label}'"
    if constants is not None and not isinstance(constants, Mapping):
        raise ValidationError(f"{what}: constants is {arguments.shown(constants)}; it must be a mapping by name or id")
    stages: Stages = {"compute": module}
    interface = Interface(named, stages)
    specialization = specialization_of(interface, constants, what) if constants else {}
    sets = [] if set_layouts is None else layouts_by_number(self.core, set_layouts, what)
    core = _core.ComputePipeline(self.core, module, specialization.get("compute", []), label, sets)
    pipeline = ComputePipeline(core, stages)
    interface = Interface(named, stages, specialization) if specialization else interface
    pipeline.interface = interface.with_lengths(pipeline.set_layouts)
    pipeline.made_by = self.core
    pipeline.warn_of_defines([comp], defines, include)
    pipeline.keep_sources([comp], again)
    return pipeline


def dispatch(
    self: Context,
    pipeline: ComputePipeline,
    groups: int | Sequence[int] | None = None,
    *,
    invocations: int | Sequence[int] | None = None,
    base: int | Sequence[int] = 0,
    bind: Mapping[Any, Any] | None = None,
    sets: Mapping[int, DescriptorSet] | None = None,
    push: Any = None,
    condition: Buffer | BufferSlice | None = None,
    inverted: bool = False,
) -> DispatchStats:
    """Runs workgroups and waits for them; buffers hold the result then (:meth:`Buffer.numpy`).

    ``groups``: workgroups in x, y and z; or ``invocations``: so many of them, rounded up to whole workgroups (the shader
    leaves out what is beyond). ``base``: of the workgroups' ids. ``bind``: by name or (set, binding): buffers, textures,
    arrays and mappings for blocks that the shader only reads. ``sets``: whole sets by number
    (:meth:`Device.descriptor_set`). ``push``: push constants, a mapping by name or bytes. ``condition``: a buffer, or a part of one,
    that begins with a ``uint32``: nothing runs where it is 0, or with ``inverted`` where it is not (no workgroups in the result).

    A dispatch sees what passes, copies and dispatches before it wrote. The result has the same bits for any number of threads and lanes
    if invocations meet in memory only by atomics, or across barriers of their workgroup.

    Raises :class:`ValidationError` before anything runs; :class:`DeviceLostError` where a loop did not end.
    """
    what = "dispatch"
    _require_pipeline(pipeline, what)
    if (groups is None) == (invocations is None):
        raise ValidationError(f"{what}, {pipeline.title}: give either groups or invocations=")
    if groups is not None:
        counts = _three(groups, 1, f"{what}, {pipeline.title}: groups", _MOST)
    else:
        wanted = _three(invocations, 1, f"{what}, {pipeline.title}: invocations", 0xFFFFFFFF)
        counts = [-(-n // size) for n, size in zip(wanted, pipeline.workgroup_size, strict=True)]
        if max(counts) > _MOST:
            raise ValidationError(
                f"{what}, {pipeline.title}: invocations is {arguments.shown(invocations)}, which takes {counts} workgroups; at most "
                f"{_MOST} are allowed in x, y and z: use another direction, or several dispatches with base="
            )
    first = _three(base, 0, f"{what}, {pipeline.title}: base", _MOST)
    work = counts, first
    return _run(self, pipeline, what, bind, sets, push, (condition, inverted), lambda cb: cb.dispatch_base(first, counts), work=work)


def dispatch_indirect(
    self: Context,
    pipeline: ComputePipeline,
    buffer: Buffer | BufferSlice,
    *,
    offset: int = 0,
    bind: Mapping[Any, Any] | None = None,
    sets: Mapping[int, DescriptorSet] | None = None,
    push: Any = None,
    condition: Buffer | BufferSlice | None = None,
    inverted: bool = False,
) -> DispatchStats:
    """The same with the workgroups in x, y and z as three ``uint32`` in ``buffer``, ``offset`` bytes from its start.

    A shader may have written them. Raises :class:`DeviceLostError` where they are more than is allowed.
    """
    what = "dispatch_indirect"
    _require_pipeline(pipeline, what)
    if not isinstance(buffer, (Buffer, BufferSlice)):
        raise ValidationError(
            f"{what}, {pipeline.title}: buffer is {arguments.shown(buffer)}; it must be a buffer (dev.buffer)"
        )
    at = arguments.count(offset, f"{what}, {pipeline.title}: offset", 1 << 48)
    whole, start = (buffer, 0) if isinstance(buffer, Buffer) else (buffer.buffer, buffer.offset)
    require_usage(whole, "indirect_buffer", f"{what}, {pipeline.title}: buffer")
    require_words(whole, f"{what}, {pipeline.title}: buffer", start + at, 12)
    check_group_names(whole, start + at, f"{what}, {pipeline.title}: buffer")
    only_if = (condition, inverted)
    groups = BufferSlice(whole, start + at, 12)
    return _run(self, pipeline, what, bind, sets, push, only_if, lambda cb: cb.dispatch_indirect(whole.core, start + at), groups)


def _require_pipeline(pipeline: Any, what: str) -> None:
    if not isinstance(pipeline, ComputePipeline):
        raise ValidationError(
            f"{what}: the first argument is {arguments.shown(pipeline)}; it must be a compute pipeline (dev.compute_pipeline)"
        )


def _three(value: Any, otherwise: int, what: str, most: int) -> list[int]:
    """One, two or three numbers as three."""
    given = [value] if isinstance(value, (int, np.integer)) else arguments.sequence(value, what, _SIZE)
    if not 1 <= len(given) <= 3:
        raise ValidationError(f"{what} is {arguments.shown(value)}; {_SIZE}")
    return [arguments.count(v, what, most) for v in given] + [otherwise] * (3 - len(given))


def _run(
    device: Context,
    pipeline: ComputePipeline,
    what: str,
    bind: Mapping[Any, Any] | None,
    sets: Mapping[int, DescriptorSet] | None,
    push: Any,
    only_if: tuple[Any, Any],
    record: Callable[[_core.CommandBuffer], None],
    indirect: BufferSlice | None = None,
    empty: bool = False,
    work: tuple[Sequence[int], Sequence[int]] | None = None,
) -> DispatchStats:
    condition = None if only_if[0] is None else Condition(*only_if, f"{what}, {pipeline.title}: condition")
    if condition is None and arguments.flag(only_if[1], f"{what}, {pipeline.title}: inverted"):
        raise ValidationError(f"{what}, {pipeline.title}: inverted is given without condition=, which it turns round; leave it out")
    arena = Arena(device)
    data = pipeline.push_bytes(push, what) if push is not None or pipeline.has_push else b""
    commands = _core.CommandBuffer(device.core)
    commands.begin()
    commands.bind_compute_pipeline(pipeline.core)
    binder = DescriptorBinder(arena, compute=True)
    binder.bind(commands, pipeline, bind, sets, what)
    if not empty:
        binder.take()
    if work is not None and (race := race_of(pipeline, pipeline.workgroup_size, *work, bind, sets)):
        binder.undefined[race] = None
    if only_if[0] is not None:
        binder.uses.note_buffer(only_if[0], "condition", f"{what}, {pipeline.title}: condition")
    if indirect is not None:
        binder.uses.note_buffer(indirect, "indirect", f"{what}, {pipeline.title}: indirect")
    if data:
        commands.push_constants(0, data)
    if condition:
        condition.begin(commands)
    record(commands)
    if condition:
        commands.end_conditional_rendering()
    commands.end()
    frame = device._frame
    device._check_order(f"{what}, {pipeline.title}", binder.uses)
    device._before(f"{what}, {pipeline.title}", list(binder.undefined))
    found = device._submit(commands).dispatch_stats(0)
    x, y, z = found.workgroups
    stats = DispatchStats(
        (x, y, z),
        found.invocations,
        found.shared_memory_B,
        found.lanes,
        found.threads,
        found.ordered,
        found.waiting_memory_B,
        found.time_ms,
    )
    if frame is not None:
        frame.add_dispatch(pipeline.label, commands, binder.uses, stats, arena, tuple(binder.late.values()))
    elif device._frames:
        reads_since.executed(binder.uses)
    return stats
