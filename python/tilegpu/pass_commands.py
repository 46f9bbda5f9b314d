"""What is recorded inside a pass: draws, clears, dynamic state, queries; for passes and for secondary command buffers.

In: the user's arguments. Out: commands of an open command buffer.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from tilegpu import _core, arguments, keywords, set_names
from tilegpu.attachment import clear_color, clear_depth_stencil, rect_of
from tilegpu.buffer import Buffer, BufferSlice, require_usage, require_words
from tilegpu.conditional import Condition, ConditionalRendering
from tilegpu.draw_arguments import DrawArguments
from tilegpu.errors import ValidationError
from tilegpu.fixed import OfThisProcess
from tilegpu.indirect import (
    check_group_names,
    check_parameter_names,
    check_parameter_rows,
    check_parameter_stride,
    count_in,
    indirect_rows,
    rows_read,
)
from tilegpu.query import Query, StatisticsQuery
from tilegpu.transform_feedback import TransformFeedback
from tilegpu.uses import use_of_buffer
from tilegpu.vertex_sources import MAX_U32
from tilegpu.with_block import SET_STATE, Done

_REMAINING = 0xFFFFFFFF  #: VK_REMAINING_ARRAY_LAYERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tilegpu.descriptor_set import DescriptorSet
    from tilegpu.enums import FormatInfo
    from tilegpu.keywords import Never
    from tilegpu.pipeline import Pipeline


def _byte_count_of(given: Any, indirect: Any, indices: Any, what: str) -> int:
    """Bytes of a vertex, of draws that transform feedback counted."""
    byte_count = arguments.count(given, f"{what}: byte_count", MAX_U32)
    if byte_count % 4:
        raise ValidationError(f"{what}: byte_count is {byte_count}; vertices of transform feedback are multiples of 4 bytes")
    if indices is not None or not isinstance(indirect, (Buffer, BufferSlice)):
        raise ValidationError(f"{what}: with byte_count indirect must be a buffer, and there are no indices")
    return byte_count


def _by_name(given: tuple[Any, ...]) -> str:
    """Of states that were given by place."""
    if len(given) == 2 and isinstance(given[0], str) and given[0] in _core.DYNAMIC_STATES:
        return f"states are given by name: set({given[0]}={arguments.shown(given[1])})"
    return "states are given by name, such as set(cull_mode='back'); of a mapping set(**mapping)"


_F = TypeVar("_F", bound=Callable[..., Any])
_GROUPS = "it must be a whole number, or one for x, y and z each"
_MOST_GROUPS, _MOST_OF_ALL = 65535, 1 << 22  # maxTaskWorkGroupCount, maxTaskWorkGroupTotalCount


class _Parameters(NamedTuple):
    """Of indirect draws."""

    given: Any  #: as it is read
    core: _core.Buffer
    offset: int
    draw_count: int
    stride: int
    rows: NDArray[Any] | None  #: where they are an array
    counter: tuple[_core.Buffer, int] | None


def _plain_first(function: _F) -> _F:
    """A draw whose arguments are plain is recorded by the core, without a step of the interpreter; ``function`` is the general way."""
    explained = keywords.explained(function, f"rp.{function.__name__}")
    return functools.update_wrapper(_core.PlainMethod(function, explained), function)  # type: ignore[return-value]


class PassCommands(OfThisProcess):
    """The half of :class:`tilegpu.RenderPass` and :class:`tilegpu.SecondaryCommandBuffer` that records."""

    label: str
    _what: str  # what messages call it
    _size: tuple[int, int]  # the framebuffer's; of a part of a pass, the largest that there is
    _draws: DrawArguments | None = None  # while it is open
    _quick: _core.PlainDraws | None = None  # records its draws whose arguments are plain
    _formats: Sequence[FormatInfo | None] = ()  # of the colour attachments
    _views: int = 1  # how many the pass has; without: 1

    _blocks: list[Query | StatisticsQuery | ConditionalRendering | TransformFeedback]  # that were made in it
    #: Entered in C: an exception between any two of the interpreter's steps leaves it free.
    _turns: _core.Turn | _core.PlainDraws | None = None
    _statistics: list[StatisticsQuery]  # the one that is active

    def __init__(self) -> None:
        # At once: each attribute that is set by itself is asked whether it is the user's.
        vars(self).update(_blocks=[], _statistics=[])

    @property
    def _turn(self) -> _core.Turn | _core.PlainDraws:
        """For ``with``. A draw is several commands of the core: none of another thread's comes between them, and none of its own thread's,
        which would come from within it: from ``__array__`` of an argument, or from who is told of a warning."""
        turns = self._turns
        if turns is None:
            turns = vars(self).setdefault("_turns", _core.Turn())
        if turns._is_owned():
            raise ValidationError(
                f"{self._what}: a command within another one of the same pass, which is not recorded yet: "
                "called from an argument's __array__, or from a hook of warnings; record it before or behind"
            )
        return turns

    def _said_elsewhere(self, name: str) -> str:
        """Of state and arguments of draws, which attributes of a pass would not change."""
        if name in _core.DYNAMIC_STATES:
            also = f"draw(..., {name}=...), or " if name in _OF_DRAWS else ""
            return f"give it to {also}set({name}=...) for draws whose pipeline lists it in dynamic"
        return f"give it to each draw: draw(..., {name}=...)" if name in _OF_DRAWS else ""

    def _open(self) -> DrawArguments:
        if self._draws is None:
            raise ValidationError(f"{self._what} is not open; draw inside its with block")
        return self._draws

    def _recorder(self) -> Callable[[], _core.CommandBuffer]:
        """For blocks, which the pass knows: one that knew the pass would keep it until the garbage collector comes by."""
        place, what = weakref.ref(self), self._what

        def commands() -> _core.CommandBuffer:
            if (of := place()) is None:
                raise ValidationError(f"{what} is not there any more; draw inside its with block")
            return of._open().commands

        return commands

    def set(self, *by_place: Never, **state: Any) -> Done:
        """Sets dynamic state, by Vulkan's names, for the draws that follow with pipelines that list it in ``dynamic``.

        It holds until it is set again or the pass ends; pipelines that fix it are drawn with their own. Values are those of
        :meth:`Device.pipeline`'s arguments::

            rp.set(cull_mode="back", depth_test_enable=True, depth_compare_op="less", primitive_topology="triangle_strip")
            rp.set(stencil_op={"pass": "replace", "compare": "always"}, stencil_write_mask=0xFF, stencil_reference=1)
            rp.set(color_blend_enable=True, color_blend_equation="alpha", color_write_mask="rgba")

        ``stencil_op`` and the stencil masks take one value for both faces, or (front, back); what each colour attachment
        has takes one value for all, or a list. A draw that needs a state that was never set raises
        :class:`ValidationError`, which names it.
        """
        if by_place:
            raise ValidationError(f"{self._what}: set{arguments.shown(by_place)}: {_by_name(by_place)}")
        with self._turn:
            self._open().state.set(state, f"{self._what}: set", by_itself=True)
        return SET_STATE

    @_plain_first
    def draw(
        self,
        pipeline: Pipeline,
        vertices: Any = None,
        *,
        indices: Any = None,
        instances: Any = 1,
        bind: Mapping[Any, Any] | None = None,
        sets: Mapping[int, DescriptorSet] | None = None,
        push: Mapping[str, Any] | bytes | None = None,
        first: int = 0,
        count: int | None = None,
        vertex_offset: int = 0,
        first_instance: int = 0,
        viewport: Sequence[Any] | None = None,
        scissor: Sequence[Any] | None = None,
        stencil_reference: int | tuple[int, int] | None = None,
        blend_constants: Sequence[float] | None = None,
        depth_bias: Any = None,
        **unknown: Never,
    ) -> None:
        """Records one draw.

        ``vertices``: an array with the pipeline's dtype (copied now), a :class:`Buffer` or slice of one, a list of
        these where the pipeline has
        several bindings; ``None`` where the shader takes none (then ``count`` is needed). ``indices``: integers,
        any shape, or a Buffer made
        from uint8, uint16 or uint32; rows of them that are no primitives of a list (four for triangles) are told.
        ``instances``: a number, or the data of the per-instance bindings, whose
        length is then the number.
        ``bind``: by name or (set, binding): Buffer, slice, bytes, mapping or array for buffers; Texture or (image,
        sampler) for textures; image
        or view; sampler; a list of these for arrays of descriptors. None is a null descriptor (of anything but a
        sampler): reads give 0, sizes are 0, writes vanish. An offset into a buffer is a slice of it. A draw sees
        objects as they are bound; their contents as they are when the pass is executed. ``sets``: whole sets by number
        (:meth:`Device.descriptor_set`), of which ``bind`` names nothing then. ``push``: push constants by name, or all as
        bytes.
        ``first`` and ``count`` count indices if there are any, else vertices; by default all. With data as ``instances``,
        ``first_instance`` is the first of it that is drawn. What reaches beyond arrays and vertex buffers is an error; indices that lie
        in a buffer are not looked at, and what they reach beyond the vertices reads zeros or the last ones (robustBufferAccess).
        ``viewport``: (x, y, width, height[, min_depth, max_depth]); ``scissor``: (x, y, width, height); by default
        the whole framebuffer. Lists of up to 16 of both, as many of one as of the other, for shaders that write
        gl_ViewportIndex: a primitive with an index beyond them is not drawn.
        ``stencil_reference``: a number, or (front, back). Nothing of this stays for the next draw, but for what the
        pipeline lists in ``dynamic``: there it is the same as :meth:`set` before the draw.
        """
        if unknown:
            keywords.no_such("rp.draw", unknown, PassCommands.draw)
        with self._turn:
            draws = self._open()
            available = draws.prepare(
                pipeline,
                vertices,
                indices,
                bind,
                sets,
                push,
                viewport,
                scissor,
                stencil_reference,
                blend_constants,
                depth_bias,
            )
            instance_count = draws.instances(pipeline, instances, first_instance)
            if count is None:
                if available is None:
                    why = "no vertices and no indices" if vertices is None else "the stride of the vertices is 0, which any number reads"
                    raise ValidationError(f"{self._what}, {pipeline.title}: {why}; give count=")
                if indices is None:
                    draws.check_lengths(pipeline)
                count = available - arguments.whole(first, f"{self._what}, {pipeline.title}: first")
                if count < 0:
                    raise ValidationError(
                        f"{self._what}, {pipeline.title}: first is {first}; "
                        f"{arguments.there_are(available, 'vertex' if indices is None else 'index')}"
                    )
            self._check_range(pipeline, first, count, first_instance, vertex_offset)
            if count:
                draws.say_rows(pipeline, indices is not None)
                draws.say_leftover(pipeline, count, indices is not None)
            draws.check_reach(pipeline, first, count, vertex_offset, available, indices is not None)
            if indices is None:
                if vertex_offset:
                    raise ValidationError(
                        f"{self._what}, {pipeline.title}: vertex_offset={vertex_offset} is for indexed draws; use first="
                    )
                draws.commands.draw(count, instance_count, first, first_instance)
            else:
                draws.commands.draw_indexed(count, instance_count, first, vertex_offset, first_instance)
            if count and instance_count:
                draws.drawn(pipeline, bind, sets, vertices, indices, instances)
            draws.note_plain(pipeline, vertices)

    def _check_range(
        self, pipeline: Pipeline, first: Any, count: Any, first_instance: Any, vertex_offset: Any
    ) -> None:
        try:
            if (
                0 <= count <= MAX_U32
                and 0 <= first <= MAX_U32
                and 0 <= first_instance <= MAX_U32
                and -0x80000000 <= vertex_offset <= 0x7FFFFFFF
            ):
                if not (type(count) is type(first) is type(first_instance) is type(vertex_offset) is int):
                    given = count, first, first_instance, vertex_offset
                    if any(isinstance(one, bool) for one in given):
                        raise TypeError  # below, with its words
                    list(map(operator.index, given))
                return
        except (TypeError, ValueError):
            pass
        raise ValidationError(
            f"{self._what}, {pipeline.title}: first={arguments.shown(first)}, count={arguments.shown(count)}, "
            f"first_instance={arguments.shown(first_instance)} must be whole numbers from 0 to {MAX_U32}, "
            f"vertex_offset={arguments.shown(vertex_offset)} a 32-bit integer"
        )

    def draw_indirect(
        self,
        pipeline: Pipeline,
        indirect: Any,
        vertices: Any = None,
        *,
        indices: Any = None,
        instances: Any = None,
        bind: Mapping[Any, Any] | None = None,
        sets: Mapping[int, DescriptorSet] | None = None,
        push: Mapping[str, Any] | bytes | None = None,
        offset: int = 0,
        draw_count: int | Buffer | BufferSlice | None = None,
        stride: int | None = None,
        byte_count: int | None = None,
        viewport: Sequence[Any] | None = None,
        scissor: Sequence[Any] | None = None,
        stencil_reference: int | tuple[int, int] | None = None,
        blend_constants: Sequence[float] | None = None,
        depth_bias: Any = None,
    ) -> None:
        """Records draws whose parameters lie in memory and are read when the pass runs.

        ``indirect``: a :class:`Buffer` (read at the end of the ``with`` block) or an (n, 4) array of uint32 (vertex
        count, instance count, first
        vertex, first instance); with ``indices`` (n, 5): index count, instance count, first index, vertex offset,
        first instance.
        ``draw_count``: how many, or a buffer with the number (uint32), read when the pass runs: no more than lie in ``indirect``.
        ``offset`` and ``stride`` in bytes, of arrays too. What an array's rows reach is checked as :meth:`draw` does; what lies in buffers
        is not looked at. ``byte_count``: ``indirect`` is a counter of transform feedback instead, and the
        draw has as many vertices of so many bytes as were written. The other arguments are those of :meth:`draw`; ``instances`` is the data
        of per-instance bindings.
        """
        with self._turn:
            draws = self._open()
            draws.require_pipeline(pipeline)
            what = f"{self._what}, {pipeline.title}"
            words = 4 if indices is None else 5
            if byte_count is not None:
                byte_count = _byte_count_of(byte_count, indirect, indices, what)
            read = self._parameters(draws, indirect, words, offset, stride, draw_count, byte_count is not None, what)
            rows, counter = read.rows, read.counter
            available = draws.prepare(
                pipeline,
                vertices,
                indices,
                bind,
                sets,
                push,
                viewport,
                scissor,
                stencil_reference,
                blend_constants,
                depth_bias,
            )
            draws.say_rows(pipeline, indices is not None)
            if rows is not None and counter is None:
                draws.check_rows(pipeline, rows, available, indices is not None)
            if instances is not None or pipeline.vertex_layout.per_instance:
                if isinstance(instances, int) and instances != 1 and not pipeline.vertex_layout.per_instance:
                    raise ValidationError(f"{what}: instances is {instances}; how many there are is in indirect: leave it out")
                draws.instances(pipeline, instances)
                if rows is not None and counter is None and pipeline.vertex_layout.per_instance:
                    draws.check_instances_of_rows(pipeline, rows)
            if byte_count is not None:
                draws.commands.draw_indirect_byte_count(read.core, read.offset, byte_count)
            else:
                draws.commands.draw_indirect(indices is not None, read.core, read.offset, read.draw_count, read.stride, *(counter or ()))
            if rows is None or np.any((rows[:, 0] > 0) & (rows[:, 1] > 0)):
                more = (("indirect", read.given), ("draw count", draw_count))
                draws.drawn(pipeline, bind, sets, vertices, indices, instances, *more)

    @staticmethod
    def _parameters(
        draws: DrawArguments, indirect: Any, words: int, offset: Any, stride: Any, draw_count: Any, by_bytes: bool, what: str
    ) -> _Parameters:
        """Of indirect draws. ``words``: of each; ``by_bytes``: a counter of transform feedback lies there."""
        offset = arguments.whole(offset, f"{what}: offset")
        stride = None if stride is None else arguments.whole(stride, f"{what}: stride")
        counter: tuple[_core.Buffer, int] | None = None
        if isinstance(draw_count, (Buffer, BufferSlice)):
            draws.uses.note_buffer(draw_count, "draw count", f"{what}: draw_count")
            counter, draw_count = count_in(draw_count, f"{what}: draw_count")[:2], None
        draw_count = None if draw_count is None else arguments.whole(draw_count, f"{what}: draw_count")
        for name, value in (("offset", offset), ("stride", stride), ("draw_count", draw_count)):
            if value is not None and not 0 <= value <= MAX_U32:
                raise ValidationError(f"{what}: {name} is {value}; it must be 0 to {MAX_U32}")
        whole = isinstance(indirect, Buffer) and not offset
        given = indirect
        if isinstance(indirect, BufferSlice):
            offset, indirect = offset + indirect.offset, indirect.buffer
        if not isinstance(indirect, Buffer):
            rows = indirect_rows(indirect, words, f"{what}: indirect")
            core = draws.upload(np.ascontiguousarray(rows & MAX_U32).astype(np.uint32))
            rows, step = rows_read(rows, offset, stride, draw_count, what)
            return _Parameters(given, core, offset, len(rows), step, rows, counter)
        given = indirect.slice(min(offset, indirect.size))
        draws.uses.note_buffer(given, "indirect", f"{what}: indirect")
        read_B = 4 if by_bytes else words * 4
        require_words(indirect, f"{what}: indirect", offset, read_B, read_B if stride is None and draw_count != 1 else stride)
        if words == 3:
            check_group_names(indirect, offset, f"{what}: indirect")
        else:
            check_parameter_names(indirect, words, f"{what}: indirect", offset)
        require_usage(indirect, "indirect_buffer", f"{what}: indirect")
        if stride is None and not by_bytes and draw_count != 1:
            check_parameter_rows(indirect, words, f"{what}: indirect", offset, whole)
        elif not by_bytes and stride and draw_count != 1:
            check_parameter_stride(indirect, words, f"{what}: indirect", offset, stride)
        stride = words * 4 if stride is None else stride
        if draw_count is None:
            draw_count = max(0, (indirect.size - offset - words * 4) // max(1, stride) + 1)
            if not draw_count and not by_bytes:
                raise ValidationError(
                    f"{what}: indirect has {max(0, indirect.size - offset)} B from offset {offset} on; a draw takes {words * 4} B"
                )
        return _Parameters(given, indirect.core, offset, draw_count, stride, None, counter)

    def draw_mesh_tasks(
        self,
        pipeline: Pipeline,
        groups: int | Sequence[int] = 1,
        *,
        bind: Mapping[Any, Any] | None = None,
        sets: Mapping[int, DescriptorSet] | None = None,
        push: Mapping[str, Any] | bytes | None = None,
        viewport: Sequence[Any] | None = None,
        scissor: Sequence[Any] | None = None,
        stencil_reference: int | tuple[int, int] | None = None,
        blend_constants: Sequence[float] | None = None,
        depth_bias: Any = None,
    ) -> None:
        """Records one draw of a pipeline with a mesh shader: workgroups of its task shader, or of the mesh shader where it has none.

        ``groups``: how many in x, y and z, or in x alone; at most 65,535 in each and 4,194,304 in all. The other arguments are those of
        :meth:`draw`. What workgroups make is drawn in their order, x before y before z.
        """
        with self._turn:
            draws = self._open()
            draws.prepare(
                pipeline, None, None, bind, sets, push, viewport, scissor, stencil_reference, blend_constants, depth_bias, meshes=True
            )
            what = f"{self._what}, {pipeline.title}: groups"
            given = [groups] if isinstance(groups, (int, np.integer)) else arguments.sequence(groups, what, _GROUPS)
            if not 1 <= len(given) <= 3:
                raise ValidationError(f"{what} is {arguments.shown(groups)}; {_GROUPS}")
            x, y, z = [arguments.count(v, what, _MOST_GROUPS) for v in given] + [1] * (3 - len(given))
            if x * y * z > _MOST_OF_ALL:
                said = f"{what} is {arguments.shown(groups)}, {x * y * z} in all"
                raise ValidationError(f"{said}; at most {_MOST_OF_ALL} are allowed: draw them in several calls")
            draws.commands.draw_mesh_tasks([x, y, z])
            if x * y * z:
                draws.drawn(pipeline, bind, sets, None, None, None)

    def draw_mesh_tasks_indirect(
        self,
        pipeline: Pipeline,
        indirect: Any,
        *,
        bind: Mapping[Any, Any] | None = None,
        sets: Mapping[int, DescriptorSet] | None = None,
        push: Mapping[str, Any] | bytes | None = None,
        offset: int = 0,
        draw_count: int | Buffer | BufferSlice | None = None,
        stride: int | None = None,
        viewport: Sequence[Any] | None = None,
        scissor: Sequence[Any] | None = None,
        stencil_reference: int | tuple[int, int] | None = None,
        blend_constants: Sequence[float] | None = None,
        depth_bias: Any = None,
    ) -> None:
        """The same with the workgroups of each draw in memory: rows of three ``uint32``, x, y and z, in a :class:`Buffer`, read when the
        pass runs, or an (n, 3) array.

        A draw of more workgroups than :meth:`draw_mesh_tasks` takes draws nothing. The other arguments are those of :meth:`draw_indirect`;
        ``gl_DrawID`` is the number of the row.
        """
        with self._turn:
            draws = self._open()
            draws.require_pipeline(pipeline, meshes=True)
            read = self._parameters(draws, indirect, 3, offset, stride, draw_count, False, f"{self._what}, {pipeline.title}")
            draws.prepare(
                pipeline, None, None, bind, sets, push, viewport, scissor, stencil_reference, blend_constants, depth_bias, meshes=True
            )
            draws.commands.draw_mesh_tasks_indirect(read.core, read.offset, read.draw_count, read.stride, *(read.counter or ()))
            if read.rows is None or np.any(np.all(read.rows > 0, axis=1)):
                draws.drawn(pipeline, bind, sets, None, None, None, ("indirect", read.given), ("draw count", draw_count))

    def clear(
        self,
        color: Any = None,
        *,
        depth: float | None = None,
        stencil: int | None = None,
        attachment: int = 0,
        rect: Sequence[int] | None = None,
        layer: int = 0,
        layers: int | None = None,
    ) -> None:
        """Clears attachments inside the pass, in order with the draws.

        ``color``: (r, g, b, a) for colour ``attachment``, or a mapping of these by number. ``rect``: (x, y, width,
        height), within the pass's area; by default all of it. ``layer``, ``layers``: the first and how many (``None``: all from it on);
        a pass with views clears all of them.
        """
        with self._turn:
            commands = self._open().commands
            first = arguments.whole(layer, f"{self._what}: layer of clear")
            count = _REMAINING if layers is None else arguments.whole(layers, f"{self._what}: layers of clear")
            if not 0 <= first <= _REMAINING or not 1 <= count <= _REMAINING:
                raise ValidationError(f"{self._what}: clear of {count} layers from {first} on; it must be at least one, from 0 on")
            if self._views > 1 and (first or layers is not None):
                raise ValidationError(f"{self._what}: layer and layers of clear; a pass with views clears all of them, leave both out")
            area = None if rect is None else rect_of(rect, f"{self._what}: rect of clear")
            attachment = arguments.whole(attachment, f"{self._what}: attachment of clear")
            colors = {} if color is None else dict(color) if isinstance(color, Mapping) else {attachment: color}
            if not colors and depth is None and stencil is None:
                raise ValidationError(f"{self._what}: clear() of nothing; give color=, depth= or stencil=")
            for number, value in colors.items():
                number = arguments.whole(number, f"{self._what}: attachment of clear")
                info = self._formats[number] if 0 <= number < len(self._formats) else None
                if info is None:
                    raise ValidationError(
                        f"{self._what}: clear of colour attachment {number}; the pass has {len(self._formats)}"
                    )
                values = clear_color(value, f"{self._what}: clear of color[{number}]", info)
                commands.clear_attachment(number, 1, _core.ClearValue.color(info.number, values), area, first, count)
            for aspect, number in (("depth", depth), ("stencil", stencil)):
                if number is not None:
                    clear = clear_depth_stencil(number, aspect, f"{self._what}: clear of {aspect}")
                    commands.clear_attachment(-1, _core.ENUMS["image_aspect"][aspect], clear, area, first, count)

    def query(self) -> Query:
        """An occlusion query: ``with rp.query() as q: rp.draw(...)``, after the pass ``q.samples``; of a pass with views
        the sum, and ``q.views`` has that of each."""
        self._open()
        made = Query(self.label, self._recorder(), self._views)
        self._blocks.append(made)
        return made

    def conditional(self, buffer: Buffer | BufferSlice, *, inverted: bool = False) -> ConditionalRendering:
        """``with rp.conditional(visible): rp.draw(...)``: draws and clears of the block are left out where the ``uint32`` that
        ``buffer``, or a part of one, begins with is 0; with ``inverted`` where it is not.

        It is read when the pass is executed: a dispatch or a copy before the pass may have written it, the samples of an earlier query
        for one. Draws that are left out count as draws of no vertices. Blocks do not nest.
        """
        draws = self._open()
        condition = Condition(buffer, inverted, f"{self._what}: buffer of conditional")
        draws.uses.note_buffer(buffer, "condition", f"{self._what}: buffer of conditional")
        draws.hazards.reads(buffer, f"{self._what}: conditional", "condition")
        made = ConditionalRendering(self.label, self._recorder(), condition)
        self._blocks.append(made)
        return made

    def transform_feedback(
        self, buffers: Any, *, resume: Any = None, keep: Any = None, stream: int = 0
    ) -> TransformFeedback:
        """Captures vertices: ``with rp.transform_feedback(buffer) as captured: rp.draw(...)``, after the pass ``captured.primitives``.

        The last shader before the rasterizer says which of its outputs go where, by ``layout(xfb_buffer = 0, xfb_offset = 0,
        xfb_stride = 16)``. ``buffers``: one, or a list of up to four, or parts of them. ``keep``: buffers of 4 bytes that get the
        number of bytes written, one for each; ``resume``: the same, from which a later one goes on.
        ``stream``: whose primitives the result counts.
        """
        draws, what = self._open(), f"{self._what}: transform feedback"

        def begins() -> None:
            draws.capture(buffers)
            for given, write in ((buffers, True), (keep, True), (resume, False)):
                for buffer in () if given is None else given if isinstance(given, (list, tuple)) else (given,):
                    draws.uses.note_buffer(buffer, "transform feedback", what, write)
                    if write:
                        whole, start_B = (buffer.buffer, buffer.offset) if isinstance(buffer, BufferSlice) else (buffer, 0)
                        whole.forget_rows(start_B, buffer.size)
                        draws.hazards.wrote([use_of_buffer(buffer, True, "")], "transform feedback", False)

        made = TransformFeedback(self.label, self._recorder(), buffers, resume, keep, stream, begins, draws.capture)
        self._blocks.append(made)
        return made

    def statistics(self) -> StatisticsQuery:
        """A pipeline-statistics query: ``with rp.statistics() as q: rp.draw(...)``, after the pass ``q["vertex_shader_invocations"]``."""
        self._open()
        made = StatisticsQuery(self.label, self._recorder(), self._views, self._statistics)
        self._blocks.append(made)
        return made


#: Arguments of draws, for who sets them as attributes of the pass.
_OF_DRAWS = frozenset({*keywords.names_of(PassCommands.draw), *keywords.names_of(PassCommands.draw_indirect)}) - {"label"}
set_names.takes("rp.set", lambda: _core.DYNAMIC_STATES)
