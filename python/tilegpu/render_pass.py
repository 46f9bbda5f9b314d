"""Render passes: attachments, draws, queries. Leaving the ``with`` block submits and waits; an exception inside discards the pass."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from tilegpu import _core, arguments
from tilegpu.attachment import Attachment, clear_color, clear_depth_stencil, rect_of
from tilegpu.buffer import Buffer, BufferSlice, require_usage
from tilegpu.context import Context
from tilegpu.draw_arguments import MAX_U32, DrawArguments
from tilegpu.errors import ValidationError
from tilegpu.hsr import parse as parse_hsr
from tilegpu.image import Image, ImageView, Texture
from tilegpu.pass_results import PassResults
from tilegpu.pipeline import Pipeline
from tilegpu.query import Query


class RenderPass(PassResults):
    """A pass that is recorded in a ``with`` block. Made by :meth:`tilegpu.Device.render_pass`; see there."""

    def __init__(
        self,
        device: Context,
        color: Any,
        depth: Any,
        stencil: Any,
        area: Sequence[int] | None,
        layers: int,
        samples: int,
        label: str,
        hsr: str | Iterable[str] | None = None,
        trace: bool | str | Sequence[Any] = False,
    ) -> None:
        super().__init__(device, arguments.text(label, "pass: label"), trace)
        if color is None:
            color = ()
        elif isinstance(color, (Attachment, Image, ImageView, Texture)):
            color = (color,)
        color = arguments.sequence(color, f"{self._what}: color", "it must be attachments or images")
        if len(color) > _core.MAX_COLOR_ATTACHMENTS:
            raise ValidationError(
                f"{self._what}: color has {len(color)} attachments; at most {_core.MAX_COLOR_ATTACHMENTS} are allowed"
            )
        self._color = [self._attachment(a, f"color[{i}]") for i, a in enumerate(color)]
        self._depth = self._attachment(depth, "depth")
        self._stencil = self._attachment(stencil, "stencil")
        self._area = [0, 0, 0, 0] if area is None else rect_of(area, f"{self._what}: area")
        if area is not None and not (self._area[2] and self._area[3]):
            raise ValidationError(
                f"{self._what}: area is {tuple(area)!r}; width and height must be at least 1 (None for the whole)"
            )
        layers = arguments.whole(layers, f"{self._what}: layers")
        if not 1 <= layers <= MAX_U32:
            raise ValidationError(f"{self._what}: layers is {layers}; it must be at least 1")
        if not isinstance(samples, (int, np.integer)) or samples not in (0, 2, 4, 8, 16):
            raise ValidationError(
                f"{self._what}: samples is {arguments.shown(samples)}; "
                "it must be 2, 4, 8 or 16 (multisampled rendering to single-sampled images), or 0"
            )
        self._layers, self._samples = layers, samples
        self._hsr = None if hsr is None else parse_hsr(hsr, device.profile, self._what)
        self._draws: DrawArguments | None = None  # while the pass is open
        self._views: list[ImageView | None] = []

    def _attachment(self, value: Any, name: str) -> Attachment | None:
        if value is None or isinstance(value, Attachment):
            return value
        if isinstance(value, (Image, ImageView, Texture)):
            return Attachment(value)
        raise ValidationError(
            f"{self._what}: {name} is {arguments.shown(value)}; it must be a tilegpu.Attachment, an image, a view or None"
        )

    # -- the with block

    def __enter__(self) -> RenderPass:
        if self._draws is not None or self._stats is not None:
            raise ValidationError(f"{self._what} was entered before; make a new one with dev.render_pass")
        commands = _core.CommandBuffer(self._device.core)
        commands.begin()
        cores: list[_core.RenderingAttachment] = []
        views: list[ImageView | None] = []
        for number, attachment in enumerate(self._color):
            core, view = (
                (_core.RenderingAttachment(), None)
                if attachment is None
                else attachment.build("color", self._layers, f"{self._what}: color[{number}]")
            )
            cores.append(core)
            views.append(view)
        none = _core.RenderingAttachment()
        depth, depth_view = (
            (none, None) if self._depth is None else self._depth.build("depth", self._layers, f"{self._what}: depth")
        )
        stencil, stencil_view = (
            (none, None)
            if self._stencil is None
            else self._stencil.build("stencil", self._layers, f"{self._what}: stencil")
        )
        present = [v for v in [*views, depth_view, stencil_view] if v is not None]
        if not present:
            raise ValidationError(f"{self._what} has no attachment; give color=[...] or depth=")
        self._note_oddities([*zip(self._color, views, strict=True)], (self._depth, depth_view), (self._stencil, stencil_view))
        self._size = (
            min(max(1, v.image.width >> v.level) for v in present),
            min(max(1, v.image.height >> v.level) for v in present),
        )
        commands.begin_rendering(
            cores, depth, stencil, self._area, self._layers, self._samples, self.label, self._hsr, self._trace
        )
        self._views = views
        self._draws = DrawArguments(self._device, commands, self._what, self._size)
        return self

    def _note_oddities(self, colors: list[Any], depth: Any, stencil: Any) -> None:
        """For lint(): what is loaded though nobody wrote it, and sizes that differ."""
        bound = [*((f"color{i}", *pair) for i, pair in enumerate(colors)), ("depth", *depth), ("stencil", *stencil)]
        sizes = set()
        for name, attachment, view in bound:
            if attachment is None or view is None:
                continue
            sizes.add((max(1, view.image.width >> view.level), max(1, view.image.height >> view.level)))
            loads = str(attachment.load_op).lower() == "load"
            if loads and (reason := view.why_undefined(name if name in ("depth", "stencil") else None)):
                undefined = f"the contents of image '{view.image.label}' are undefined: {reason}"
                self._notes.append(f"{name}: load_op is load, but {undefined}; clear it, or draw to it before")
            if attachment.resolve is not None:
                resolved = attachment.resolve.image if isinstance(attachment.resolve, (Texture, ImageView)) else attachment.resolve
                level = getattr(attachment.resolve, "level", 0)
                sizes.add((max(1, resolved.width >> level), max(1, resolved.height >> level)))
        if len(sizes) > 1 and not any(self._area):
            shown = ", ".join("x".join(map(str, size)) for size in sorted(sizes))
            self._notes.append(f"attachments have sizes {shown}; the pass covers what all have, give area= if that is meant")

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        draws, self._draws = self._draws, None
        if draws is None:
            return
        commands = draws.commands
        if kind is not None:
            commands.discard_rendering()
            return
        try:
            commands.end_rendering()
            commands.end()
            self._execute(commands)
            self._recorded = commands
            self._reads.append(draws.arena)
            self._notes += draws.undefined
        finally:
            draws.end()

    def _open(self) -> DrawArguments:
        if self._draws is None:
            raise ValidationError(f"{self._what} is not open; draw inside its with block")
        return self._draws

    # -- draws

    def set(self, **state: Any) -> None:
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
        self._open().state.set(state, f"{self._what}: set")

    def draw(
        self,
        pipeline: Pipeline,
        vertices: Any = None,
        *,
        indices: Any = None,
        instances: Any = 1,
        bind: Mapping[Any, Any] | None = None,
        push: Mapping[str, Any] | bytes | None = None,
        first: int = 0,
        count: int | None = None,
        vertex_offset: int = 0,
        first_instance: int = 0,
        viewport: Sequence[float] | None = None,
        scissor: Sequence[int] | None = None,
        stencil_reference: int | tuple[int, int] | None = None,
        blend_constants: Sequence[float] | None = None,
        depth_bias: Any = None,
    ) -> None:
        """Records one draw.

        ``vertices``: an array with the pipeline's dtype (copied now), a :class:`Buffer` or slice of one, a list of
        these where the pipeline has
        several bindings; ``None`` where the shader takes none (then ``count`` is needed). ``indices``: integers,
        any shape, or a Buffer made
        from uint8, uint16 or uint32. ``instances``: a number, or the data of the per-instance bindings, whose
        length is then the number.
        ``bind``: by name or (set, binding): Buffer, slice, bytes, mapping or array for buffers; Texture or (image,
        sampler) for textures; image
        or view; sampler; a list of these for arrays of descriptors. None is a null descriptor (of anything but a
        sampler): reads give 0, sizes are 0, writes vanish. An offset into a buffer is a slice of it. A draw sees
        objects as they are bound; their contents as they are when the pass is executed. ``push``: push constants by name, or all as
        bytes.
        ``first`` and ``count`` count indices if there are any, else vertices; by default all.
        ``viewport``: (x, y, width, height[, min_depth, max_depth]); ``scissor``: (x, y, width, height); by default
        the whole framebuffer.
        ``stencil_reference``: a number, or (front, back). Nothing of this stays for the next draw, but for what the
        pipeline lists in ``dynamic``: there it is the same as :meth:`set` before the draw.
        """
        draws = self._open()
        available = draws.prepare(
            pipeline,
            vertices,
            indices,
            bind,
            push,
            viewport,
            scissor,
            stencil_reference,
            blend_constants,
            depth_bias,
        )
        instance_count = draws.instances(pipeline, instances)
        if count is None:
            if available is None:
                raise ValidationError(f"{self._what}, {pipeline.title}: no vertices and no indices; give count=")
            count = max(0, available - arguments.whole(first, f"{self._what}, {pipeline.title}: first"))
        self._check_range(pipeline, first, count, first_instance, vertex_offset)
        if indices is None:
            if vertex_offset:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: vertex_offset={vertex_offset} is for indexed draws; use first="
                )
            draws.commands.draw(count, instance_count, first, first_instance)
        else:
            draws.commands.draw_indexed(count, instance_count, first, vertex_offset, first_instance)

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
                operator.index(count), operator.index(first), operator.index(first_instance), operator.index(vertex_offset)
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
        push: Mapping[str, Any] | bytes | None = None,
        offset: int = 0,
        draw_count: int | None = None,
        stride: int | None = None,
        viewport: Sequence[float] | None = None,
        scissor: Sequence[int] | None = None,
        stencil_reference: int | tuple[int, int] | None = None,
        blend_constants: Sequence[float] | None = None,
        depth_bias: Any = None,
    ) -> None:
        """Records draws whose parameters lie in memory and are read when the pass runs.

        ``indirect``: a :class:`Buffer` (read at the end of the ``with`` block) or an (n, 4) array of uint32 (vertex
        count, instance count, first
        vertex, first instance); with ``indices`` (n, 5): index count, instance count, first index, vertex offset,
        first instance.
        ``offset`` and ``stride`` in bytes. The other arguments are those of :meth:`draw`; ``instances`` is the data
        of per-instance bindings.
        """
        draws = self._open()
        draws.require_pipeline(pipeline)
        what = f"{self._what}, {pipeline.title}"
        words = 4 if indices is None else 5
        offset = arguments.whole(offset, f"{what}: offset")
        stride = None if stride is None else arguments.whole(stride, f"{what}: stride")
        draw_count = None if draw_count is None else arguments.whole(draw_count, f"{what}: draw_count")
        for name, value in (("offset", offset), ("stride", stride), ("draw_count", draw_count)):
            if value is not None and not 0 <= value <= MAX_U32:
                raise ValidationError(f"{what}: {name} is {value}; it must be 0 to {MAX_U32}")
        if isinstance(indirect, BufferSlice):
            offset, indirect = offset + indirect.offset, indirect.buffer
        if isinstance(indirect, Buffer):
            require_usage(indirect, "indirect_buffer", f"{what}: indirect")
            stride = words * 4 if stride is None else stride
            if draw_count is None:
                draw_count = max(0, (indirect.size - offset - words * 4) // max(1, stride) + 1)
            core = indirect.core
        else:
            array = np.atleast_2d(arguments.array(indirect, f"{what}: indirect"))
            if array.ndim != 2 or array.shape[1] != words or array.dtype.kind not in "iu":
                raise ValidationError(
                    f"{what}: indirect has shape {array.shape} and dtype {array.dtype}; it must be integers of shape (n, {words})"
                )
            core = draws.upload(np.ascontiguousarray(array.astype(np.int64) & MAX_U32).astype(np.uint32))
            stride = words * 4
            draw_count = len(array) if draw_count is None else min(draw_count, len(array))
        draws.prepare(
            pipeline,
            vertices,
            indices,
            bind,
            push,
            viewport,
            scissor,
            stencil_reference,
            blend_constants,
            depth_bias,
        )
        if instances is not None or pipeline.vertex_layout.per_instance:
            draws.instances(pipeline, instances)
        draws.commands.draw_indirect(indices is not None, core, offset, draw_count, stride)

    def clear(
        self,
        color: Any = None,
        *,
        depth: float | None = None,
        stencil: int | None = None,
        attachment: int = 0,
        rect: Sequence[int] | None = None,
    ) -> None:
        """Clears attachments inside the pass, in order with the draws.

        ``color``: (r, g, b, a) for colour ``attachment``, or a mapping of these by number. ``rect``: (x, y, width,
        height), by default all.
        """
        commands = self._open().commands
        area = [0, 0, *self._size] if rect is None else rect_of(rect, f"{self._what}: rect of clear")
        attachment = arguments.whole(attachment, f"{self._what}: attachment of clear")
        colors = {} if color is None else dict(color) if isinstance(color, Mapping) else {attachment: color}
        if not colors and depth is None and stencil is None:
            raise ValidationError(f"{self._what}: clear() of nothing; give color=, depth= or stencil=")
        for number, value in colors.items():
            number = arguments.whole(number, f"{self._what}: attachment of clear")
            view = self._views[number] if 0 <= number < len(self._views) else None
            if view is None:
                raise ValidationError(
                    f"{self._what}: clear of colour attachment {number}; the pass has {len(self._views)}"
                )
            values = clear_color(value, f"{self._what}: clear of color[{number}]")
            commands.clear_attachment(number, 1, _core.ClearValue.color(view.image.format_info.number, values), area)
        for aspect, number in (("depth", depth), ("stencil", stencil)):
            if number is not None:
                clear = clear_depth_stencil(number, aspect, f"{self._what}: clear of {aspect}")
                commands.clear_attachment(-1, _core.ENUMS["image_aspect"][aspect], clear, area)

    def query(self) -> Query:
        """An occlusion query: ``with rp.query() as q: rp.draw(...)``, after the pass ``q.samples``."""
        self._open()
        return Query(self.label, lambda: self._open().commands)

    def __repr__(self) -> str:
        state = "open" if self._draws is not None else "ended" if self._stats is not None else "not entered"
        return f"<tilegpu.RenderPass '{self.label}', {state}>"
