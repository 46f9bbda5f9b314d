"""A draw's vertices, instances and indices: buffers or arrays to bound buffers, and how far a draw may reach in them.

In: what the user gives a draw. Out: the binding commands that differ from what is bound already; how many elements there are; errors
where a draw reaches beyond them, and warnings where some are left over. Arrays are copied into the pass's arena.
Source: Vulkan specification, "Drawing Commands", "Vertex Input Address Calculation".
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments
from tilegpu.arena import Arena
from tilegpu.array_fit import kinds_misfit, vertex_misfit
from tilegpu.buffer import Buffer, BufferSlice, require_usage
from tilegpu.context import Context
from tilegpu.dynamic_state import StateOfPass
from tilegpu.errors import LostPrimitivesWarning, ValidationError, beyond_vulkan, users_level
from tilegpu.fixed import made_once
from tilegpu.pipeline import Pipeline
from tilegpu.uses import Uses
from tilegpu.vertex import ENDLESS, VertexLayout, index_array, vertex_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_U32 = 0xFFFFFFFF
_INDEX_TYPES = {np.dtype(np.uint8): "uint8", np.dtype(np.uint16): "uint16", np.dtype(np.uint32): "uint32"}


def _sources(given: Any, bindings: int) -> list[Any]:
    """One for each binding. A list for a single binding is its rows, or holds what it is given."""
    if not isinstance(given, (list, tuple)):
        return [given]
    if bindings > 1 or any(isinstance(v, (Buffer, BufferSlice)) for v in given):
        return list(given)
    return list(given) if any(isinstance(v, np.ndarray) and (v.ndim > 1 or (v.ndim and v.dtype.names)) for v in given) else [given]


def _rows_of_records(given: Any) -> tuple[int, ...]:
    """Of an array of records, or a buffer made from one, the shape behind its first dimension."""
    if isinstance(given, (Buffer, BufferSlice)):
        buffer, offset = (given, 0) if isinstance(given, Buffer) else (given.buffer, given.offset)
        return buffer.rows_at(offset, given.size) if buffer.held is not None and buffer.held.names else ()
    return given.shape[1:] if isinstance(given, np.ndarray) and given.dtype.names else ()


def _unequal(layout: VertexLayout, numbers: Sequence[int], sources: list[Any], counts: list[int], things: str) -> tuple[str, bool]:
    """Which of several sources is longer than the shortest, for a message, and whether it is an array; buffers may have room."""
    if len(counts) < 2 or len(set(counts)) == 1:
        return "", False
    bindings = [layout.bindings[number] for number in numbers]
    # An element for every instance's share; a last element of an explicit binding may end before its stride does. One that all share
    # (divisor or stride 0) is as long as any.
    ends = [count < ENDLESS and binding.divisor > 0 for count, binding in zip(counts, bindings, strict=True)]
    least = min((count * b.divisor for count, b, has_end in zip(counts, bindings, ends, strict=True) if has_end), default=0)
    for i, (count, binding) in enumerate(zip(counts, bindings, strict=True)):
        needed = -(-least // binding.divisor) if ends[i] else count
        if count > needed + (binding.dtype is None):
            shortest = next(k for k, b in enumerate(bindings) if ends[k] and counts[k] * b.divisor == least)
            return f"{things}[{i}] has {arguments.number_of(count, 'element')}, {things}[{shortest}] has {counts[shortest]}", isinstance(
                sources[i], np.ndarray
            )
    return "", False


class VertexSources:
    """What of it a recording has bound. ``plain``: of an open pass; ``commands``: of a part of one that is not known (a secondary command
    buffer)."""

    _pipeline: Pipeline | None = None
    _index: tuple[_core.Buffer, int, str] | None = None
    _last_vertices: tuple[Pipeline, Any, int] | None = None
    _last_indices: tuple[Any, int] | None = None
    _vertex_count: int | None = None  # of the draw's vertices, where they are known to end there
    _counts: list[int]  # of the last sources, elements
    _unequal = ("", False)  # what of the draw's vertices is longer than the shortest, and whether it is an array
    _index_rows: tuple[int, ...] = ()  # the shape of the draw's indices behind their first dimension
    _vertex_rows: tuple[int, ...] = ()  # the same of records that are its vertices
    _index_values: NDArray[Any] | None = None  # the draw's indices, where they are an array
    _primitive = (1, 1)  # of the draw's topology; see Pipeline.primitive

    def __init__(self, device: Context, what: str, commands: _core.CommandBuffer | None, plain: _core.PlainDraws | None) -> None:
        self.device = device
        self._what = what
        self.plain = plain  #: what records draws whose arguments are plain; ``None``: of a part of a pass, whose draws all go this way
        if commands is not None:
            self.commands = commands

    # What plain draws don't ask is made when a draw does.

    @made_once
    def commands(self) -> _core.CommandBuffer:
        """Where it records."""
        assert self.plain is not None
        return self.plain.commands

    @made_once
    def arena(self) -> Arena:
        """Copies of arrays, for as long as somebody holds it."""
        return Arena(self.device, None if self.plain is None else self.plain.arena)

    @made_once
    def uses(self) -> Uses:
        """What draws read and write, for frames."""
        return Uses(self.device, None if self.plain is None else self.plain.notes)

    @made_once
    def _vertex(self) -> dict[int, tuple[_core.Buffer, int]]:
        return {}

    @made_once
    def state(self) -> StateOfPass:
        """What was set for draws that follow."""
        return StateOfPass()

    def _restarts(self, pipeline: Pipeline) -> bool:
        restart = pipeline.primitive_restart
        if "primitive_restart_enable" in pipeline.dynamic:
            restart = bool(self.state.values.get("primitive_restart_enable", restart))
        return restart

    def _vertices(self, pipeline: Pipeline, vertices: Any) -> int | None:
        last = self._last_vertices
        if last is not None and last[0] is pipeline and last[1] is vertices:
            return last[2]
        layout = pipeline.vertex_layout
        numbers = layout.per_vertex
        self._last_vertices = self._vertex_count = None
        self._unequal = ("", False)
        if vertices is None:
            if numbers:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: the vertex shader reads {len(numbers)} vertex binding(s); give vertices="
                )
            return None
        if not numbers and isinstance(vertices, (int, np.integer)):
            raise ValidationError(f"{self._what}, {pipeline.title}: vertices is {arguments.shown(vertices)}; a number of them is count=")
        if not numbers:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: vertices are given, but the pipeline was made without vertex=; "
                "give dev.pipeline the dtype"
            )
        sources = _sources(vertices, len(numbers))
        self._vertex_rows = _rows_of_records(sources[0]) if sources else ()
        if len(sources) != len(numbers):
            raise ValidationError(
                f"{self._what}, {pipeline.title}: {len(sources)} vertex array(s); the pipeline has {len(numbers)} vertex bindings"
            )
        available = self._bind_sources(layout, numbers, sources, f"{self._what}, {pipeline.title}")
        self._unequal = _unequal(layout, numbers, sources, self._counts, "vertices")
        self._vertex_count = min(self._counts)
        if available == ENDLESS:
            return None  # the stride is 0: any number of vertices reads the same
        if isinstance(vertices, (Buffer, BufferSlice)) and available is not None:
            self._last_vertices = (pipeline, vertices, available)
        return available

    def instances(self, pipeline: Pipeline, instances: Any, first_instance: Any = 0) -> int:
        """Binds the data of the per-instance bindings; returns the number of instances from the first that is drawn on."""
        layout = pipeline.vertex_layout
        numbers = layout.per_instance
        if isinstance(instances, (int, np.integer)) and not isinstance(instances, bool):
            if numbers:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: the pipeline has {len(numbers)} per-instance binding(s); "
                    "give their data as instances="
                )
            if not 0 <= instances <= MAX_U32:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: instances is {instances}; it must be 0 to {MAX_U32}"
                )
            return int(instances)
        if not numbers and not isinstance(instances, (Buffer, BufferSlice, np.ndarray, list, tuple)):
            raise ValidationError(
                f"{self._what}, {pipeline.title}: instances is {arguments.shown(instances)}; it must be a whole number"
            )
        if not numbers:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: instances is data, but the pipeline was made without instance=; "
                "give dev.pipeline the dtype"
            )
        sources = _sources(instances, len(numbers))
        if instances is None or len(sources) != len(numbers):
            raise ValidationError(
                f"{self._what}, {pipeline.title}: instances has {len(sources)} array(s); "
                f"the pipeline has {len(numbers)} per-instance bindings"
            )
        what = f"{self._what}, {pipeline.title}: instances"
        first = arguments.count(first_instance, f"{self._what}, {pipeline.title}: first_instance", MAX_U32)
        found = self._bind_sources(layout, numbers, sources, what, first)
        self._say_unequal(pipeline, *_unequal(layout, numbers, sources, self._counts, "instances"), "slices of equal lengths")
        return 1 if found is None else found

    def _bind_sources(
        self, layout: VertexLayout, numbers: Sequence[int], sources: list[Any], what: str, first_instance: int = 0
    ) -> int | None:
        """One source for each binding; returns how many elements the shortest has, ``None`` where instances share all that there are."""
        available: int | None = None
        self._counts = []
        for number, data in zip(numbers, sources, strict=True):
            binding = layout.bindings[number]
            buffer, offset, count = self._source(data, layout, number, what)
            self._counts.append(count)
            self._bind_vertex(number, (buffer, offset))
            if binding.rate == "instance":
                shared = binding.divisor == 0 or count == ENDLESS
                if first_instance and first_instance >= count:
                    raise ValidationError(f"{what}: first_instance is {first_instance}; {arguments.there_are(count, 'element')}")
                count -= first_instance
                if shared and count:
                    continue
                count *= binding.divisor
            available = count if available is None else min(available, count)
        return available

    def _source(
        self, data: Any, layout: VertexLayout, number: int, what: str
    ) -> tuple[_core.Buffer, int, int]:
        """(buffer, offset, number of elements) of one vertex binding."""
        dtype, stride_B = layout.bindings[number].dtype, layout.bindings[number].stride_B
        if isinstance(data, (Buffer, BufferSlice)):
            buffer, offset, size_B = (
                (data, 0, data.size) if isinstance(data, Buffer) else (data.buffer, data.offset, data.size)
            )
            require_usage(buffer, "vertex_buffer", what)
            held = buffer.held
            if buffer.matrices or (held is not None and (dtype is None or buffer.row_shape or held != dtype)):
                formats = [format_ for _, binding, format_, _ in layout.attributes if binding == number]
                if wrong := vertex_misfit(buffer, dtype, formats, what, offset, size_B):
                    raise ValidationError(wrong)
            self.uses.note_buffer(data, "vertices", what)
            if offset % layout.alignments_B[number]:
                beyond_vulkan(
                    f"{what}: the vertices begin at byte {offset} of buffer '{buffer.label}', no multiple of {layout.alignments_B[number]}",
                    self.device.strict,
                )
            count = size_B // max(1, stride_B) if dtype is not None else self._elements(layout, number, size_B, what)
            return buffer.core, offset, count
        array, count = vertex_array(data, layout, number, what)
        if dtype is None:
            formats = [format_ for _, binding, format_, _ in layout.attributes if binding == number]
            if wrong := kinds_misfit(array.dtype, formats, f"{what}: the array given as vertices is of {array.dtype}"):
                raise ValidationError(wrong)
            count = self._elements(layout, number, array.nbytes, what)
        return self.arena.upload(array), 0, count

    @staticmethod
    def _elements(layout: VertexLayout, number: int, size_B: int, what: str) -> int:
        """How many elements of a binding whose attributes are given outright can be read of so many bytes."""
        binding, end_B = layout.bindings[number], layout.ends_B[number]
        if 0 < size_B < end_B:
            raise ValidationError(
                f"{what}: vertex binding {number} has {size_B} bytes of data, and the attributes of its first element end at byte {end_B}: "
                "give more, or its VertexBinding smaller offsets"
            )
        return binding.elements(size_B, end_B)

    def _bind_vertex(self, number: int, source: tuple[_core.Buffer, int]) -> None:
        pipeline = self._pipeline
        if pipeline is not None and "vertex_input_binding_stride" in pipeline.dynamic:
            stride_B = pipeline.vertex_layout.bindings[number].stride_B
            self.commands.bind_vertex_buffer2(number, *source, None, stride_B)
            self._vertex[number] = source
        elif self._vertex.get(number) != source:
            self.commands.bind_vertex_buffer(number, *source)
            self._vertex[number] = source

    def _indices(self, pipeline: Pipeline, indices: Any) -> int:
        last = self._last_indices
        self._index_values = None
        if last is not None and last[0] is indices:
            return last[1]
        self._last_indices = None
        what = f"{self._what}, {pipeline.title}"
        if isinstance(indices, (Buffer, BufferSlice)):
            buffer, offset, size_B = (
                (indices, 0, indices.size)
                if isinstance(indices, Buffer)
                else (indices.buffer, indices.offset, indices.size)
            )
            require_usage(buffer, "index_buffer", f"{what}: indices")
            width = buffer.index_kind(what)
            kind = _INDEX_TYPES[width]
            self.uses.note_buffer(indices, "indices", f"{what}: indices")
            source = (buffer.core, offset, kind)
            count = size_B // width.itemsize
            self._index_rows = buffer.rows_at(offset, size_B)
        else:
            self._index_rows = np.shape(indices)[1:]
            array = self._index_values = index_array(indices, self._restarts(pipeline), what)
            source = (self.arena.upload(array), 0, _INDEX_TYPES[array.dtype])
            count = array.size
        if self._index != source:
            self.commands.bind_index_buffer(source[0], source[1], _core.ENUMS["index_type"][source[2]])
            self._index = source
        if isinstance(indices, (Buffer, BufferSlice)):
            self._last_indices = (indices, count)
        return count

    def check_lengths(self, pipeline: Pipeline) -> None:
        """Of a draw that says no count: all of its vertices are meant, and the shortest array ends it."""
        self._say_unequal(pipeline, *self._unequal, "count=")

    def _say_unequal(self, pipeline: Pipeline, text: str, arrays: bool, fix: str) -> None:
        if not text:
            return
        if fix == "count=":  # of vertices
            fix += "; what advances with the instance is dev.pipeline(instance=...) and rp.draw(instances=...)"
        message = f"{self._what}, {pipeline.title}: {text}; give arrays of one length, or {fix}"
        if arrays:
            raise ValidationError(message)
        warnings.warn(message, LostPrimitivesWarning, stacklevel=users_level())

    def check_reach(
        self, pipeline: Pipeline, first: int, count: int, vertex_offset: int, available: int | None, indexed: bool
    ) -> None:
        """Raises where a draw reaches beyond its indices, or beyond its vertices by what is known when it is recorded."""
        if not count:
            return
        there = self._there(available, indexed)
        if there is not None and first + count > there and (indexed or self._vertex_count is not None):
            thing = "index" if indexed else "vertex"
            raise ValidationError(
                f"{self._what}, {pipeline.title}: first={first}, count={count} reaches {thing} {first + count - 1}; "
                f"{arguments.there_are(there, thing)}"
            )
        if not indexed or self._index_values is None or self._vertex_count is None:
            return
        values = self._index_values[first : first + count]
        if self._restarts(pipeline):
            values = values[values != np.iinfo(values.dtype).max]
        if not values.size:
            return
        low, high = int(values.min()) + vertex_offset, int(values.max()) + vertex_offset
        if low < 0 or high >= self._vertex_count:
            offset = f" with vertex_offset={vertex_offset}" if vertex_offset else ""
            raise ValidationError(
                f"{self._what}, {pipeline.title}: indices{offset} reach vertex {low if low < 0 else high}; "
                f"{arguments.there_are(self._vertex_count, 'vertex')}" + self._restart_hint(pipeline, high - vertex_offset)
            )

    def _restart_hint(self, pipeline: Pipeline, index: int) -> str:
        """Of an index that restarts a strip where indices are of another type, or where nothing restarts."""
        if index not in (0xFF, 0xFFFF, 0xFFFFFFFF):
            return ""
        if not self._restarts(pipeline):
            return "; a strip restarts there with primitive_restart=True alone"
        assert self._index_values is not None
        kind = self._index_values.dtype
        return f"; indices of {kind} restart a strip at {np.iinfo(kind).max}, the largest of their type"

    def _there(self, available: int | None, indexed: bool) -> int | None:
        """What a draw may reach."""
        return available if indexed or self._vertex_count is None else self._vertex_count

    def say_rows(self, pipeline: Pipeline, indexed: bool) -> None:
        """Warns where rows of indices, or of vertices that are drawn without, are no primitives."""
        rows = self._index_rows if indexed else self._vertex_rows
        if not rows or self._restarts(pipeline):
            return
        topology = str(self.state.values.get("primitive_topology", "")) if "primitive_topology" in pipeline.dynamic else ""
        name = "indices" if indexed else "vertices"
        if wrong := arguments.rows_misfit(rows, self._primitive[0], name, topology or pipeline.assembly[0]):
            warnings.warn(f"{self._what}, {pipeline.title}: {wrong}", LostPrimitivesWarning, stacklevel=users_level())

    def say_leftover(self, pipeline: Pipeline, count: int, indexed: bool) -> None:
        """Warns where the last vertices, or indices, make no primitive."""
        step, least = self._primitive
        if (count % step == 0 and count >= least) or self._restarts(pipeline):
            return
        thing, things = ("index", "indices") if indexed else ("vertex", "vertices")
        whole, left = count // step, count % step
        if count >= least:
            made = f"{left} of {count} {things} {'is' if left == 1 else 'are'} left over"
        else:
            made = f"1 {thing} makes no primitive" if count == 1 else f"{count} {things} make no primitive"
        warnings.warn(
            f"{self._what}, {pipeline.title}: {made}: the topology takes {step if step > 1 else f'at least {least}'}"
            f"{' each' if step > 1 else ''}; "
            + (f"give count={whole * step}" if step > 1 and whole else "give more")
            + ", or dev.pipeline another topology=",
            LostPrimitivesWarning,
            stacklevel=users_level(),
        )

    def check_rows(self, pipeline: Pipeline, rows: NDArray[Any], available: int | None, indexed: bool) -> None:
        """The same of indirect draws whose parameters are an array: what reaches too far, and what is left over."""
        drawn = np.flatnonzero((rows[:, 0] > 0) & (rows[:, 1] > 0))
        if not drawn.size:
            return
        step, least = self._primitive
        rest = drawn[(rows[drawn, 0] % step != 0) | (rows[drawn, 0] < least)]
        there = self._there(available, indexed)
        if there is not None and (indexed or self._vertex_count is not None):
            far = drawn[rows[drawn, 0] + rows[drawn, 2] > there]
            if far.size:
                count, first = int(rows[far[0], 0]), int(rows[far[0], 2])
                self.check_reach(pipeline, first, count, 0, available, indexed)
        if indexed and self._index_values is not None and self._vertex_count is not None:
            self._check_rows_of_indices(pipeline, rows[drawn], available)
        if rest.size:
            self.say_leftover(pipeline, int(rows[rest[0], 0]), indexed)

    def _check_rows_of_indices(self, pipeline: Pipeline, rows: NDArray[Any], available: int | None) -> None:
        """Each row's indices and vertex offset, where not all of them together are within the vertices."""
        assert self._index_values is not None and self._vertex_count is not None
        values = self._index_values
        if not values.size:
            return
        low, high = int(values.min()) + int(rows[:, 3].min()), int(values.max()) + int(rows[:, 3].max())
        if low >= 0 and high < self._vertex_count:
            return
        for count, _, first, offset in np.unique(rows[:, :4], axis=0).tolist():
            self.check_reach(pipeline, first, count, offset, available, True)

    def check_instances_of_rows(self, pipeline: Pipeline, rows: NDArray[Any]) -> None:
        """What rows of parameters draw of the data of per-instance bindings, whose elements were counted when they were bound."""
        layout = pipeline.vertex_layout
        first, instances = rows[:, -1], rows[:, 1]
        drawn = (rows[:, 0] > 0) & (instances > 0)
        for place, (number, count) in enumerate(zip(layout.per_instance, self._counts, strict=True)):
            binding = layout.bindings[number]
            # An instance's element is the first instance, and one more for each divisor of them.
            last = first + ((instances - 1) // binding.divisor if binding.divisor else 0)
            far = np.flatnonzero(drawn & (last >= count))
            if not far.size:
                continue
            row, name = int(far[0]), "instances" if len(layout.per_instance) == 1 else f"instances[{place}]"
            share = "" if binding.divisor == 1 else ", which all instances share" if not binding.divisor else f" times {binding.divisor}"
            raise ValidationError(
                f"{self._what}, {pipeline.title}: indirect[{row}] draws {instances[row]} instances from {first[row]} on; {name} has data "
                f"for {count}{share}"
            )
