"""The arguments of a draw: vertices, indices, instances, descriptors, push constants and dynamic state to commands.

In: what the user gives a draw. Out: the binding commands that differ from what the open pass has bound already. Arrays are copied into
the pass's arena; what a draw doesn't say is the pipeline's.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, captured_outputs, enums
from tilegpu.arena import Arena
from tilegpu.array_fit import kinds_misfit, vertex_misfit
from tilegpu.binding import DescriptorBinder, ReadLate
from tilegpu.buffer import Buffer, BufferSlice, require_usage
from tilegpu.context import Context
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.dynamic_state import StateOfPass, scissors_of, viewports_of
from tilegpu.errors import LostPrimitivesWarning, ValidationError, beyond_vulkan, users_level
from tilegpu.fixed import made_once
from tilegpu.pass_hazards import Hazards
from tilegpu.pipeline import Pipeline, vertices_of
from tilegpu.pipeline_rules import require_sample_places, require_triangles, say_sample_interpolation
from tilegpu.pipeline_state import depth_bias_of
from tilegpu.uses import Uses
from tilegpu.vertex import ENDLESS, VertexLayout, index_array, vertex_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_U32 = 0xFFFFFFFF
_INDEX_TYPES = {np.dtype(np.uint8): "uint8", np.dtype(np.uint16): "uint16", np.dtype(np.uint32): "uint32"}
_FRONT, _BACK = 1, 2
_ASSEMBLY = frozenset({"primitive_topology", "patch_control_points"})
_OF_TARGETS = frozenset({"color_blend_enable", "color_blend_equation", "color_write_mask", "color_write_enable", "color_blend_advanced"})
_VIEWPORT, _SCISSOR = frozenset({"viewport", "viewport_with_count"}), frozenset({"scissor", "scissor_with_count"})
#: A draw's own values in their order, and what a pipeline lists them as.
_AS_STATE = {
    "viewport": _VIEWPORT,
    "scissor": _SCISSOR,
    **{name: frozenset({name}) for name in ("stencil_reference", "blend_constants", "depth_bias")},
}


def _sources(given: Any, bindings: int) -> list[Any]:
    """One for each binding. A list for a single binding is its rows, or holds what it is given."""
    if not isinstance(given, (list, tuple)):
        return [given]
    if bindings > 1 or any(isinstance(v, (Buffer, BufferSlice)) for v in given):
        return list(given)
    return list(given) if any(isinstance(v, np.ndarray) and (v.ndim > 1 or (v.ndim and v.dtype.names)) for v in given) else [given]


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
            return f"{things}[{i}] has {count} elements, {things}[{shortest}] has {counts[shortest]}", isinstance(
                sources[i], np.ndarray
            )
    return "", False


class DrawArguments:
    """What an open pass has bound. ``plain``: of it; ``commands``: of a part of a pass that is not known (a secondary command buffer)."""

    _pipeline: Pipeline | None = None
    _index: tuple[_core.Buffer, int, str] | None = None
    _last_vertices: tuple[Pipeline, Any, int] | None = None
    _last_indices: tuple[Any, int] | None = None
    _captures: Sequence[Any] = ()  # buffers of the transform feedback that is active
    _captured: Pipeline | None = None  # which fits them
    views = False  #: the pass has views, which choose the layers
    _vertex_count: int | None = None  # of the draw's vertices, where they are known to end there
    _counts: list[int]  # of the last sources, elements
    _unequal = ("", False)  # what of the draw's vertices is longer than the shortest, and whether it is an array
    _index_values: NDArray[Any] | None = None  # the draw's indices, where they are an array
    _push: bytes | None = None
    _primitive = (1, 1)  # of the draw's topology; see Pipeline.primitive
    _dynamic: tuple[Any, ...] = ()
    _pipelines_own: tuple[Any, ...] = ()  # what the bound pipeline says where the draw says nothing
    _viewport: list[tuple[float, ...]] | None = None  # None: the whole; empty: as state says
    _scissor: list[list[int]] | None = None
    _resets = False  # a draw that says nothing has something to set back

    def __init__(
        self,
        device: Context,
        what: str,
        size: tuple[int, int],
        commands: _core.CommandBuffer | None = None,
        plain: _core.PlainDraws | None = None,
    ) -> None:
        self.device = device
        self._what = what
        self._size = size
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
    def undefined(self) -> dict[str, None]:
        """What draws may read though nobody wrote it."""
        return {}

    @made_once
    def _whole(self) -> list[list[int]]:
        return [[0, 0, *self._size]]

    @made_once
    def _vertex(self) -> dict[int, tuple[_core.Buffer, int]]:
        return {}

    @made_once
    def _binder(self) -> DescriptorBinder:
        return DescriptorBinder(self.arena, uses=self.uses, undefined=self.undefined)

    @made_once
    def hazards(self) -> Hazards:
        """What draws read that others write too late."""
        return Hazards(part=self.plain is None)

    @made_once
    def state(self) -> StateOfPass:
        """What was set for draws that follow."""
        return StateOfPass()

    def made(self, name: str) -> Any:
        """Of those the one of this name, ``None`` where no draw asked."""
        return vars(self).get(name)

    def note_plain(self, pipeline: Pipeline, vertices: Any) -> None:
        """A draw was recorded. Those that follow may be plain, unless there is something to set back, or to look at."""
        plain = self.plain
        if plain is None or self.views or self._captures or self.state.pending or self.hazards.listening:
            return
        if self._viewport is not None or self._dynamic is not self._pipelines_own:
            return
        if self._scissor is not None and len(self._scissor) != 1:
            return  # more than a scissor, which plain draws know
        asked = pipeline._plain
        if asked is None and not pipeline.dynamic:
            asked = pipeline.look_whether_plain()
        if asked is not None:
            if isinstance(vertices, Buffer) and not vertices.matrices and vertices.held is not None:
                asked.fits(vertices.held, vertices.row_shape)  # which was looked at
            if (binder := self.made("_binder")) is not None:
                binder.keep_plain(asked)
        plain.open_with((self._scissor or self._whole)[0])

    def _take_over(self) -> None:
        """Plain draws bound what is not known here."""
        self._pipeline = self._index = self._last_vertices = self._last_indices = self._push = None
        self._vertex.clear()
        if (binder := self.made("_binder")) is not None:
            binder.forget_bound()
        if self.plain is not None and (self._scissor is not None or self.plain.scissor != self._whole[0]):
            self._scissor = [self.plain.scissor]

    @property
    def has_drawn(self) -> bool:
        """Whether a pipeline was bound, as each draw does."""
        return self._pipeline is not None

    def read_late(self, late: Mapping[Any, ReadLate]) -> None:
        """Sets that another recording, which is executed here, reads as they are then."""
        self._binder.late.update(late)

    def require_pipeline(self, pipeline: Any) -> None:
        """Raises for anything else."""
        if not isinstance(pipeline, Pipeline):
            raise ValidationError(
                f"{self._what}: draw's first argument is {arguments.shown(pipeline)}; it must be a pipeline (dev.pipeline)"
            )

    def upload(self, data: NDArray[Any]) -> _core.Buffer:
        """A buffer with a copy of an argument, which lives as long as the pass."""
        return self.arena.upload(data)

    def end(self) -> None:
        """The pass has ended: nothing is bound any more."""
        if (binder := self.made("_binder")) is not None:
            binder.clear()
        if self.plain is not None:
            self.plain.end()

    def prepare(
        self,
        pipeline: Pipeline,
        vertices: Any,
        indices: Any,
        bind: Mapping[Any, Any] | None,
        sets: Mapping[int, DescriptorSet] | None,
        push: Any,
        viewport: Any,
        scissor: Any,
        stencil_reference: Any,
        blend_constants: Any,
        depth_bias: Any,
    ) -> int | None:
        """Binds everything; returns the number of indices or vertices that there are, if known."""
        self.require_pipeline(pipeline)
        if self.plain is not None and self.plain.take_over():
            self._take_over()
        if pipeline is not self._pipeline:
            self._bind_pipeline(pipeline)
        if self._captures and pipeline is not self._captured:
            self._check_captures(pipeline)
        given = (
            viewport is not None
            or scissor is not None
            or stencil_reference is not None
            or blend_constants is not None
            or depth_bias is not None
        )
        if given and pipeline.dynamic:
            viewport, scissor, stencil_reference, blend_constants, depth_bias = self._take_as_state(
                pipeline, viewport, scissor, stencil_reference, blend_constants, depth_bias
            )
        if given and pipeline.idle:
            self._say_idle(pipeline, stencil_reference, blend_constants, depth_bias)
        available = self._vertices(pipeline, vertices)
        if indices is not None:
            available = self._indices(pipeline, indices)
        self._binder.bind(self.commands, pipeline, bind, sets, self._what)
        if push is not None or pipeline.has_push:
            self._push_constants(pipeline, push)
        if given or self._resets:
            self._dynamic_state(pipeline, viewport, scissor, stencil_reference, blend_constants, depth_bias)
        if self.state.pending:
            self._apply_state(pipeline)
        return available

    def capture(self, buffers: Any = ()) -> None:
        """Transform feedback to these begins, or has ended."""
        if self.plain is not None:
            self.plain.close()
        self._captures = list(buffers) if isinstance(buffers, (list, tuple)) else [buffers]
        self._captured = None

    def _check_captures(self, pipeline: Pipeline) -> None:
        for number, given in enumerate(self._captures):
            if wrong := captured_outputs.misfit(pipeline.stages, number, given, f"{self._what}, {pipeline.title}: transform feedback"):
                raise ValidationError(wrong)
        self._captured = pipeline

    def drawn(
        self,
        pipeline: Pipeline,
        bind: Mapping[Any, Any] | None,
        sets: Mapping[int, DescriptorSet] | None,
        vertices: Any,
        indices: Any,
        instances: Any,
        *more: tuple[str, Any],
    ) -> None:
        """What was prepared draws something, or may. ``more``: what else the hardware reads for it, and how."""
        self._binder.take()
        if self.hazards.listening or pipeline.may_write:
            fixed = (("vertices", vertices), ("indices", indices), ("instances", instances), *more)
            self.hazards.note_draw(f"{self._what}, {pipeline.title}", pipeline, bind, sets, fixed)

    def check_reach(
        self, pipeline: Pipeline, first: int, count: int, vertex_offset: int, available: int | None, indexed: bool
    ) -> None:
        """Raises where a draw reaches beyond its indices, or beyond its vertices by what is known when it is recorded."""
        if not count:
            return
        there = self._there(available, indexed)
        if there is not None and first + count > there and (indexed or self._vertex_count is not None):
            thing, things = ("index", "indices") if indexed else ("vertex", "vertices")
            raise ValidationError(
                f"{self._what}, {pipeline.title}: first={first}, count={count} reaches {thing} {first + count - 1}; "
                f"there are {there} {things}"
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
                f"there are {self._vertex_count} vertices" + self._restart_hint(pipeline, high - vertex_offset)
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

    def _assembly(self, pipeline: Pipeline) -> tuple[int, int]:
        """As :attr:`Pipeline.primitive`, of what was set."""
        values, (topology, points) = self.state.values, pipeline.assembly
        if "primitive_topology" in pipeline.dynamic:
            given = values.get("primitive_topology", "point_list")
            topology = enums.name_of("primitive_topology", enums.parse("primitive_topology", given, self._what))
        if "patch_control_points" in pipeline.dynamic:
            points = values.get("patch_control_points", 1)
        return vertices_of(topology, points)

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

    def _restarts(self, pipeline: Pipeline) -> bool:
        restart = pipeline.primitive_restart
        if "primitive_restart_enable" in pipeline.dynamic:
            restart = bool(self.state.values.get("primitive_restart_enable", restart))
        return restart

    def _bind_pipeline(self, pipeline: Pipeline) -> None:
        if self.views and pipeline.reads_layer:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: the pass has views (view_mask), which are the layers, and a shader names gl_Layer; use "
                "gl_ViewIndex, or a pass with layers="
            )
        self.commands.bind_pipeline(pipeline.core)
        state = pipeline.state
        self._dynamic = self._pipelines_own = (state.stencil_reference, state.blend_constants, state.depth_bias)
        self._pipeline, self._primitive = pipeline, pipeline.primitive
        self.state.forget()
        if "vertex_input" in pipeline.dynamic:
            self._vertex_input(pipeline)
        if "vertex_input_binding_stride" in pipeline.dynamic:
            self._last_vertices = None
        self._note_resets(pipeline)

    def _note_resets(self, pipeline: Pipeline) -> None:
        """What was set for one draw, or as state of pipelines that list it, ends with a draw that doesn't say it."""
        self._resets = (
            self._dynamic is not self._pipelines_own
            or (self._viewport is not None and _VIEWPORT.isdisjoint(pipeline.dynamic))
            or (self._scissor not in (None, self._whole) and _SCISSOR.isdisjoint(pipeline.dynamic))
        )

    def _take_as_state(self, pipeline: Pipeline, *values: Any) -> tuple[Any, ...]:
        """Of a draw's own values those that the pipeline lists are state, as if set before; returns the others in their places."""
        taken: dict[str, Any] = {}
        left = list(values)
        for i, (name, names) in enumerate(_AS_STATE.items()):
            if values[i] is not None and not names.isdisjoint(pipeline.dynamic):
                taken[name], left[i] = values[i], None
        if taken:
            self.state.set(taken, f"{self._what}, {pipeline.title}")
        return tuple(left)

    @staticmethod
    def _say_idle(pipeline: Pipeline, *values: Any) -> None:
        """What the draw says, and the pipeline does not look at."""
        for name, value in zip(("stencil_reference", "blend_constants", "depth_bias"), values, strict=True):
            if value is not None and name in pipeline.idle:
                pipeline.warn_unused(name, f"{name} of draw has no effect: the pipeline was made without {pipeline.idle[name]}")

    def _apply_state(self, pipeline: Pipeline) -> None:
        self._check_state(pipeline)
        if self.state.behind and (names := self.state.relied_on(pipeline.dynamic)):
            are = "is" if len(names) == 1 else "are"
            beyond_vulkan(
                f"{self._what}, {pipeline.title}: {', '.join(names)} {are} as set before execute_commands, behind which nothing is set; "
                "set it again",
                self.device.strict,
            )
            self.state.behind.difference_update(names)
        applied = self.state.apply(self.commands, pipeline.dynamic)
        if not _ASSEMBLY.isdisjoint(pipeline.dynamic):
            self._primitive = self._assembly(pipeline)
        # What pipelines that leave it to draws find set.
        if "viewport" in applied:
            self._viewport = []
        if "scissor" in applied:
            self._scissor = []

    def _check_state(self, pipeline: Pipeline) -> None:
        """State that was set fits together, and the pipeline (VUID-vkCmdDraw-viewportCount-03417 to -03419, -attachmentCount-07750,
        -sampleLocationsPerPixel-07482, -conservativePointAndLineRasterization-07499)."""
        values, dynamic, what = self.state.values, pipeline.dynamic, f"{self._what}, {pipeline.title}"
        if not (dynamic.isdisjoint(_VIEWPORT) or dynamic.isdisjoint(_SCISSOR)) and {"viewport", "scissor"} <= values.keys():
            counts = len(viewports_of(values["viewport"], what)), len(scissors_of(values["scissor"], what))
            if counts[0] != counts[1]:
                raise ValidationError(f"{what}: set are {counts[0]} viewport(s) and {counts[1]} scissor(s); give as many")
        targets = len(pipeline.color_formats)
        for name in sorted(_OF_TARGETS & dynamic):  # of those that are fewer, the core says which attachment is meant
            given = values.get(name)
            if isinstance(given, (list, tuple)) and (len(given) > targets or (name == "color_write_enable" and len(given) < targets)):
                said = f"{name} has {len(given)} entries; there are {targets} colour attachments"
                raise ValidationError(f"{what}: {said}: give one value for all, or a list with one for each")
        if "sample_locations" in dynamic and "sample_locations" in values and values.get("sample_locations_enable", True):
            samples = values.get("rasterization_samples", pipeline.samples) if "rasterization_samples" in dynamic else pipeline.samples
            require_sample_places(len(values["sample_locations"]), int(samples), f"{what}: sample_locations")
            say_sample_interpolation(pipeline.stages, what, self.device.strict)
        mode = values.get("conservative_rasterization_mode") if "conservative_rasterization_mode" in dynamic else None
        if mode is not None and "geometry" not in pipeline.stages and enums.parse("conservative_rasterization_mode", mode, what):
            topology = pipeline.assembly[0]
            if "primitive_topology" in dynamic:
                topology = values.get("primitive_topology", topology)
            require_triangles(enums.parse("primitive_topology", topology, what), what)

    def _vertex_input(self, pipeline: Pipeline) -> None:
        layout = pipeline.vertex_layout
        rates = _core.ENUMS["vertex_input_rate"]
        bindings = [[number, b.stride_B, rates[b.rate], b.divisor] for number, b in enumerate(layout.bindings)]
        self.commands.set_vertex_input(bindings, [list(attribute) for attribute in layout.attributes])

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
        if isinstance(instances, (int, np.integer)):
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

    def check_lengths(self, pipeline: Pipeline) -> None:
        """Of a draw that says no count: all of its vertices are meant, and the shortest array ends it."""
        self._say_unequal(pipeline, *self._unequal, "count=")

    def _say_unequal(self, pipeline: Pipeline, text: str, arrays: bool, fix: str) -> None:
        if not text:
            return
        message = f"{self._what}, {pipeline.title}: {text}; give arrays of one length, or {fix}"
        if arrays:
            raise ValidationError(message)
        warnings.warn(message, LostPrimitivesWarning, stacklevel=users_level())

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
                    raise ValidationError(f"{what}: first_instance is {first_instance}; there are {count} elements")
                count -= first_instance
                if shared and count:
                    continue
                count *= binding.divisor
            available = count if available is None else min(available, count)
        return available

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
        else:
            array = self._index_values = index_array(indices, self._restarts(pipeline), what)
            source = (self.arena.upload(array), 0, _INDEX_TYPES[array.dtype])
            count = array.size
        if self._index != source:
            self.commands.bind_index_buffer(source[0], source[1], _core.ENUMS["index_type"][source[2]])
            self._index = source
        if isinstance(indices, (Buffer, BufferSlice)):
            self._last_indices = (indices, count)
        return count

    def _push_constants(self, pipeline: Pipeline, push: Any) -> None:
        floats = pipeline.interface.push_floats
        if floats is not None and type(push) is dict and floats.push(self.commands, push):
            self._push = None  # what was pushed last isn't known here
            return
        data = pipeline.push_bytes(push, self._what)
        if data != self._push:
            self.commands.push_constants(0, data)
            self._push = data

    def _dynamic_state(
        self,
        pipeline: Pipeline,
        viewport: Any,
        scissor: Any,
        stencil_reference: Any,
        blend_constants: Any,
        depth_bias: Any,
    ) -> None:
        state = pipeline.state
        what = f"{self._what}, {pipeline.title}"
        if viewport is not None or (self._viewport is not None and _VIEWPORT.isdisjoint(pipeline.dynamic)):
            if viewport is None:
                self.commands.reset_viewport()
                self._viewport = None
            elif (values := viewports_of(viewport, f"{what}: viewport")) != self._viewport:
                self.commands.set_viewports(values)
                self._viewport = values
        if scissor is not None or (self._scissor is not None and _SCISSOR.isdisjoint(pipeline.dynamic)):
            whole = self._whole
            if scissor is None and viewport is not None:
                whole = whole * len(self._viewport or whole)
            rects = whole if scissor is None else scissors_of(scissor, f"{what}: scissor")
            count = 1 if self._viewport is None else len(self._viewport)  # 0: state has them
            if scissor is not None and count and len(rects) != count:
                raise ValidationError(
                    f"{what}: there {'is 1 viewport' if count == 1 else f'are {count} viewports'} and {len(rects)} "
                    f"scissor{'s' if len(rects) != 1 else ''}; give as many"
                )
            if rects != self._scissor:
                self.commands.set_scissors(rects)
                self._scissor = rects
        reference = state.stencil_reference if stencil_reference is None else stencil_reference
        must = "it must be 0 to 255, or (front, back)"
        reference = (
            (int(reference), int(reference))
            if isinstance(reference, (int, np.integer))
            else tuple(arguments.wholes(reference, f"{what}: stencil_reference", 2, must))
        )
        if not all(0 <= v <= 255 for v in reference):
            raise ValidationError(f"{what}: stencil_reference is {arguments.shown(stencil_reference)}; {must}")
        constants = (
            state.blend_constants
            if blend_constants is None
            else arguments.numbers(
                blend_constants, f"{what}: blend_constants", (4,), "it must be four numbers, r g b a"
            )
        )
        bias = (
            state.depth_bias
            if depth_bias is None
            else (depth_bias_of(depth_bias, f"{what}: depth_bias") or (0.0, 0.0, 0.0))
        )
        if reference != self._dynamic[0]:
            self.commands.set_stencil_reference(_FRONT, reference[0])
            self.commands.set_stencil_reference(_BACK, reference[1])
        if constants != self._dynamic[1]:
            self.commands.set_blend_constants(list(constants))
        if bias != self._dynamic[2]:
            self.commands.set_depth_bias(*bias)
        now = (reference, constants, bias)
        self._dynamic = self._pipelines_own if now == self._pipelines_own else now
        self._note_resets(pipeline)
