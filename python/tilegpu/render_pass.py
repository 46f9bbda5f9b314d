"""Render passes: attachments, draws, queries. Leaving the ``with`` block submits and waits; an exception inside discards the pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, enums
from tilegpu.arena import Arena
from tilegpu.binding import DescriptorBinder
from tilegpu.buffer import Buffer, BufferSlice, require_usage
from tilegpu.errors import ValidationError
from tilegpu.explain import Explanation
from tilegpu.history import HEATMAPS, PixelHistory, parse_trace, pixel_history, tile_time_map
from tilegpu.hsr import parse as parse_hsr
from tilegpu.image import Image, ImageView, Texture
from tilegpu.pipeline import Pipeline
from tilegpu.pipeline_state import depth_bias_of
from tilegpu.stats import PassStats
from tilegpu.vertex import buffer_matches, index_array, vertex_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tilegpu.device import Device

_INDEX_TYPES = {np.dtype(np.uint8): "uint8", np.dtype(np.uint16): "uint16", np.dtype(np.uint32): "uint32"}
_FRONT, _BACK = 1, 2
_MAX_U32 = 0xFFFFFFFF


class Attachment:
    """An image in a pass: what happens to it before (load), after (store) and to whom it is resolved.

    ``load_op``: ``"load"``, ``"clear"``, ``"dont_care"``, ``"none"``; by default ``"clear"`` if ``clear`` is given,
    else ``"load"``.
    ``clear``: r, g, b, a for colour (integers for integer formats), one number for depth or stencil.
    ``store_op``: ``"store"``, ``"dont_care"``, ``"none"``.
    ``resolve``: a single-sampled image that receives the resolved samples, in tile memory; ``resolve_mode``:
    ``"average"`` (default for
    colour that is not integer), ``"sample_zero"`` (default otherwise), ``"min"``, ``"max"``.
    ``level``, ``layer``: which part of the image, if ``image`` is no view.
    """

    __slots__ = ("clear", "image", "layer", "level", "load_op", "resolve", "resolve_mode", "store_op")

    def __init__(
        self,
        image: Image | ImageView | Texture,
        load_op: str | None = None,
        clear: Any = None,
        store_op: str = "store",
        resolve: Image | ImageView | Texture | None = None,
        resolve_mode: str | None = None,
        level: int = 0,
        layer: int = 0,
    ) -> None:
        self.image = image
        self.load_op = load_op if load_op is not None else ("clear" if clear is not None else "load")
        self.clear = clear
        self.store_op = store_op
        self.resolve = resolve
        self.resolve_mode = resolve_mode
        self.level = level
        self.layer = layer

    def __repr__(self) -> str:
        resolve = f", resolve={self.resolve!r}" if self.resolve is not None else ""
        return f"tilegpu.Attachment({self.image!r}, load_op={self.load_op!r}, store_op={self.store_op!r}{resolve})"

    def _view(self, image: Any, layers: int, what: str) -> ImageView:
        if isinstance(image, ImageView):
            return image
        if isinstance(image, Texture):
            image = image.image
        if not isinstance(image, Image):
            raise ValidationError(f"{what} is {image!r}; it must be an image, a view or a tilegpu.Attachment")
        if not 0 <= self.level < image.mip_levels or not 0 <= self.layer <= image.layers - layers:
            raise ValidationError(
                f"{what}: level {self.level}, layer {self.layer} and {layers} layer(s) from it; image '{image.label}' has "
                f"{image.mip_levels} levels and {image.layers} layers"
            )
        return image.view(
            "2d" if layers == 1 else "2d_array", level=self.level, levels=1, layer=self.layer, layers=layers
        )

    def build(self, aspect: str, layers: int, what: str) -> tuple[_core.RenderingAttachment, ImageView]:
        """The core's attachment and the view that is rendered to."""
        view = self._view(self.image, layers, what)
        info = view.image.format_info
        if aspect == "color":
            if info.is_depth_stencil:
                raise ValidationError(
                    f"{what}: image '{view.image.label}' has format {info.name}, which is no colour; give it as depth= or stencil="
                )
            clear = _core.ClearValue.color(info.number, _clear_color(self.clear, f"{what}: clear"))
        else:
            if not (info.depth_bits if aspect == "depth" else info.stencil_bits):
                raise ValidationError(
                    f"{what}: image '{view.image.label}' has format {info.name}, which has no {aspect}"
                )
            clear = _clear_depth_stencil(self.clear, aspect, f"{what}: clear")
        load_op = enums.parse("attachment_load_op", self.load_op, f"{what}: load_op")
        store_op = enums.parse("attachment_store_op", self.store_op, f"{what}: store_op")
        if self.clear is not None and load_op != _core.ENUMS["attachment_load_op"]["clear"]:
            raise ValidationError(
                f"{what}: clear is given, but load_op is {self.load_op!r}; use load_op='clear', or leave clear out"
            )
        resolve_view = None
        mode = _core.ENUMS["resolve_mode"]["none"]
        if self.resolve is not None:
            target = Attachment(self.resolve, level=0, layer=0)
            resolve_view = target._view(self.resolve, layers, f"{what}: resolve")
            default = "sample_zero" if aspect != "color" or info.is_integer else "average"
            mode = enums.parse("resolve_mode", self.resolve_mode or default, f"{what}: resolve_mode")
        elif self.resolve_mode is not None:
            raise ValidationError(f"{what}: resolve_mode is {self.resolve_mode!r}, but resolve= names no image")
        core = _core.RenderingAttachment(
            view.core, load_op, store_op, clear, mode, None if resolve_view is None else resolve_view.core
        )
        return core, view


def _clear_color(value: Any, what: str) -> list[float]:
    if value is None:
        return [0.0, 0.0, 0.0, 0.0]
    try:
        values = [float(v) for v in value]
    except TypeError:
        values = []
    if not 1 <= len(values) <= 4:
        raise ValidationError(f"{what} is {value!r}; it must be (r, g, b, a)")
    return values + [0.0, 0.0, 0.0, 1.0][len(values) :]


def _clear_depth_stencil(value: Any, aspect: str, what: str) -> _core.ClearValue:
    if value is None:
        return _core.ClearValue.depth_stencil(1.0, 0)
    try:
        number = float(value)
    except TypeError:
        raise ValidationError(f"{what} is {value!r}; {aspect} takes one number") from None
    if aspect == "depth":
        if not 0.0 <= number <= 1.0:
            raise ValidationError(f"{what} is {value!r}; depth is 0 to 1")
        return _core.ClearValue.depth_stencil(number, 0)
    if number != int(number) or not 0 <= number <= 255:
        raise ValidationError(f"{what} is {value!r}; stencil is a whole number 0 to 255")
    return _core.ClearValue.depth_stencil(1.0, int(number))


def _rect(value: Sequence[int], what: str) -> list[int]:
    try:
        x, y, width, height = (int(v) for v in value)
    except (TypeError, ValueError):
        raise ValidationError(f"{what} is {value!r}; it must be (x, y, width, height) in pixels") from None
    if width < 0 or height < 0 or max(abs(x), abs(y), width, height) > 0x7FFFFFFF:
        raise ValidationError(f"{what} is {value!r}; width and height must not be negative, and all must fit 31 bits")
    return [x, y, width, height]


class Query:
    """An occlusion query: ``samples`` that passed all tests, once the pass has ended."""

    def __init__(self, render_pass: RenderPass) -> None:
        self._pass = render_pass
        self._pool = _core.QueryPool(1)

    @property
    def samples(self) -> int:
        """Samples that passed. Raises before the pass has ended."""
        if not self._pool.available(0):
            raise ValidationError(
                f"query of pass '{self._pass.label}': the result is there only after the pass's with block has ended"
            )
        return self._pool.value(0)

    def __enter__(self) -> Query:
        self._pass._open().begin_query(self._pool, 0, True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._pass._open().end_query(self._pool, 0)


class RenderPass:
    """A pass that is recorded in a ``with`` block. Made by :meth:`tilegpu.Device.render_pass`; see there."""

    def __init__(
        self,
        device: Device,
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
        self.label = label
        self._device = device
        self._what = f"pass '{label}'"
        self._trace, self._trace_fragments, self._trace_pixels = parse_trace(trace, self._what)
        self._found: dict[str, Any] | None = None  # of the last fragment trace with maps
        if color is None:
            color = ()
        elif isinstance(color, (Attachment, Image, ImageView, Texture)):
            color = (color,)
        if len(color) > _core.MAX_COLOR_ATTACHMENTS:
            raise ValidationError(
                f"{self._what}: color has {len(color)} attachments; at most {_core.MAX_COLOR_ATTACHMENTS} are allowed"
            )
        self._color = [self._attachment(a, f"color[{i}]") for i, a in enumerate(color)]
        self._depth = self._attachment(depth, "depth")
        self._stencil = self._attachment(stencil, "stencil")
        self._area = [0, 0, 0, 0] if area is None else _rect(area, f"{self._what}: area")
        if area is not None and not (self._area[2] and self._area[3]):
            raise ValidationError(
                f"{self._what}: area is {tuple(area)!r}; width and height must be at least 1 (None for the whole)"
            )
        if layers < 1:
            raise ValidationError(f"{self._what}: layers is {layers}; it must be at least 1")
        if samples not in (0, 2, 4, 8, 16):
            raise ValidationError(
                f"{self._what}: samples is {samples!r}; it must be 2, 4, 8 or 16 (multisampled rendering to single-sampled images), or 0"
            )
        self._layers, self._samples = layers, samples
        self._hsr = None if hsr is None else parse_hsr(hsr, device.profile, self._what)
        self._commands: _core.CommandBuffer | None = None
        self._recorded: _core.CommandBuffer | None = None
        self._stats: PassStats | None = None
        self._views: list[ImageView | None] = []

    def _attachment(self, value: Any, name: str) -> Attachment | None:
        if value is None or isinstance(value, Attachment):
            return value
        if isinstance(value, (Image, ImageView, Texture)):
            return Attachment(value)
        raise ValidationError(
            f"{self._what}: {name} is {value!r}; it must be a tilegpu.Attachment, an image, a view or None"
        )

    # -- the with block

    def __enter__(self) -> RenderPass:
        if self._commands is not None or self._stats is not None:
            raise ValidationError(f"{self._what} was entered before; make a new one with dev.render_pass")
        commands = _core.CommandBuffer(self._device.core)
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
        self._size = (
            min(max(1, v.image.width >> v.level) for v in present),
            min(max(1, v.image.height >> v.level) for v in present),
        )
        commands.begin_rendering(
            cores, depth, stencil, self._area, self._layers, self._samples, self.label, self._hsr, self._trace
        )
        self._views = views
        self._commands = commands
        self._arena = Arena(self._device)
        self._binder = DescriptorBinder(self._arena)
        self._pipeline: Pipeline | None = None
        self._vertex: dict[int, tuple[_core.Buffer, int]] = {}
        self._index: tuple[_core.Buffer, int, str] | None = None
        self._last_vertices: tuple[Pipeline, Any, int] | None = None
        self._last_indices: tuple[Any, int] | None = None
        self._push: bytes | None = None
        self._dynamic: tuple[Any, ...] = ()
        self._pipelines_own: tuple[Any, ...] = ()  # what the bound pipeline says where the draw says nothing
        self._viewport: tuple[float, ...] | None = None
        self._scissor: list[int] | None = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        commands, self._commands = self._commands, None
        if commands is None:
            return
        if kind is not None:
            commands.discard_rendering()
            return
        try:
            commands.end_rendering()
            self._execute(commands)
            self._recorded = commands
        finally:
            self._binder.clear()

    def _execute(self, commands: _core.CommandBuffer) -> None:
        if self._trace_fragments:
            commands.trace_fragments(0, True, self._trace_pixels, False)
        self._device._submit(commands)
        self._stats = PassStats(self.label, commands.pass_stats(0))
        self._found = commands.fragment_trace(0) if self._trace_fragments else None

    def replay(self) -> PassStats:
        """Executes the ended pass again, without recording it again, and waits; returns its new statistics.

        Buffers and textures are read as they are now; NumPy arguments are those that were copied at the draws.
        """
        if self._recorded is None:
            raise ValidationError(
                f"{self._what}: replay() is for a pass whose with block has ended without an exception"
            )
        self._execute(self._recorded)
        return self.stats

    @property
    def stats(self) -> PassStats:
        """What the pass cost; there once the ``with`` block has ended."""
        if self._stats is None:
            raise ValidationError(
                f"{self._what}: stats are there only after its with block has ended without an exception"
            )
        return self._stats

    def _piece(self, name: str) -> dict[str, Any]:
        import json

        pieces: dict[str, dict[str, Any]] = json.loads(self._ended(f"{name} is known").describe_framebuffer(0))
        return pieces[name]

    @property
    def layout(self) -> dict[str, Any]:
        """First of the framebuffer's five pieces: formats, samples, areas, tile size and its allocation in tile memory."""
        return self._piece("layout")

    @property
    def load(self) -> dict[str, Any]:
        """Second piece: what a tile starts with, per target, inside the render area and in the border around it."""
        return self._piece("load")

    @property
    def store(self) -> dict[str, Any]:
        """Third piece: what leaves the tile, per target, and where to."""
        return self._piece("store")

    @property
    def resolve(self) -> dict[str, Any]:
        """Fourth piece: the copy inside tile memory at the end of the pass; empty where the store does it on its way out."""
        return self._piece("resolve")

    @property
    def desc(self) -> dict[str, Any]:
        """Fifth piece: tiler heap, sample positions, and what else is neither layout nor operation."""
        return self._piece("desc")

    def tiles(self) -> list[dict[str, Any]]:
        """What moved for each tile, for a pass made with ``trace=True``: a dictionary each, part by part, layer by layer,
        row by row.

        ``x``, ``y``, ``size``: the tile's place and side in pixels (tiles of the host, cut with the framebuffer); ``layer``;
        ``part``: ``"normal"``, or ``"first"``, ``"middle"``, ``"last"`` of a pass that was split; ``has_primitives``;
        ``traffic``: bytes by attachment and cause, as in ``rp.stats.traffic``, whose sum they are.
        """
        commands = self._ended("tiles() are known")
        if not self._trace:
            raise ValidationError(f"{self._what}: tiles() needs dev.render_pass(..., trace=True)")
        return commands.tile_trace(0)

    def lint(self) -> list[str]:
        """What costs bytes without need, a line each, with the bytes; empty if there is nothing to say."""
        return self._ended("lint() has an answer").lint(0)

    def explain(self) -> Explanation:
        """Per draw: which hidden-surface removal was on, and why not; there once the ``with`` block has ended."""
        return Explanation(self.label, self._ended("explain() has an answer").explain(0), self._costs)

    def why(self, x: int, y: int, sample: int | None = None) -> PixelHistory:
        """The history of a pixel (framebuffer coordinates) and a sample, or all its samples: every fragment that reached it, in API
        order, and what became of it at which stage.

        The ended pass is executed again for the pixel's tile, beside its images. Buffers and textures are read as they are now.
        A pass that loads images, was split or whose shaders write memory can't be repeated: name its pixels in advance,
        ``dev.render_pass(..., trace=[(x, y)])``. Raises :class:`tilegpu.ValidationError` where neither is the case, or for a
        pixel or sample that is not there.
        """
        commands = self._ended("why() has an answer")
        width, height = self._size
        if not (0 <= x < width and 0 <= y < height):
            raise ValidationError(f"{self._what}: why({x}, {y}): the framebuffer is {width} x {height} px")
        samples = int(self.layout["samples"])
        if sample is not None and not 0 <= sample < samples:
            raise ValidationError(f"{self._what}: why(): sample is {sample}; the pass has {samples}")
        if self._found is not None and (x, y) in self._trace_pixels:
            events = self._found["events"][self._trace_pixels.index((x, y))]
        else:
            commands.trace_fragments(0, False, [(x, y)], True)
            self._device._submit(commands)
            events = commands.fragment_trace(0)["events"][0]
        pipelines: list[str] = []
        for row in commands.explain(0):
            pipelines += [row["pipeline"]] * row["draws"]
        return pixel_history(self.label, x, y, range(samples) if sample is None else [sample], events, pipelines)

    def heatmap(self, kind: str) -> NDArray[Any]:
        """A number for each pixel of the framebuffer, (height, width).

        ``kind``: a key of :data:`tilegpu.history.HEATMAPS`. Counts of fragments are int32, and sum up to the counter of
        ``rp.stats`` exactly; ``"tile_ms"`` is float64, in milliseconds, and of a new execution (best of three for each tile).
        Raises :class:`tilegpu.ValidationError` for a pass that can't be repeated (see :meth:`why`) and was not
        made with ``trace="fragments"``.
        """
        if kind not in HEATMAPS:
            raise ValidationError(f"{self._what}: heatmap '{kind}' is not known; there are {', '.join(HEATMAPS)}")
        if kind != "tile_ms":
            result: NDArray[Any] = self._fragments()["maps"][kind]
            return result.copy()
        commands = self._ended("heatmap() has an answer")
        runs = []
        for _ in range(3):
            commands.trace_fragments(0, False, [], True, True)
            self._device._submit(commands)
            runs.append(commands.fragment_trace(0)["tiles"])
        tiles = [(x, y, side, min(run[i][3] for run in runs)) for i, (x, y, side, _) in enumerate(runs[0])]
        return tile_time_map(self._size, tiles)

    def _fragments(self) -> dict[str, Any]:
        """Maps and costs: from the execution if it was traced, else from another one."""
        commands = self._ended("what became of its fragments is known")
        if self._found is None:
            commands.trace_fragments(0, True, [], True)
            self._device._submit(commands)
            self._found = commands.fragment_trace(0)
            assert self._found is not None
        return self._found

    def _costs(self) -> list[dict[str, Any]]:
        return list(self._fragments()["draws"])

    def _ended(self, what: str) -> _core.CommandBuffer:
        """The recorded pass, for what is known only once it has ended."""
        if self._recorded is None:
            raise ValidationError(f"{self._what}: {what} only after its with block has ended without an exception")
        return self._recorded

    def _open(self) -> _core.CommandBuffer:
        if self._commands is None:
            raise ValidationError(f"{self._what} is not open; draw inside its with block")
        return self._commands

    # -- draws

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
        or view; sampler; a list of these for arrays of descriptors. ``push``: push constants by name, or all as
        bytes.
        ``first`` and ``count`` count indices if there are any, else vertices; by default all.
        ``viewport``: (x, y, width, height[, min_depth, max_depth]); ``scissor``: (x, y, width, height); by default
        the whole framebuffer.
        ``stencil_reference``: a number, or (front, back). Nothing of this stays for the next draw.
        """
        commands = self._open()
        available = self._prepare(
            commands,
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
        instance_count = self._instances(commands, pipeline, instances)
        if count is None:
            if available is None:
                raise ValidationError(f"{self._what}, {pipeline.title}: no vertices and no indices; give count=")
            count = max(0, available - first)
        if not (
            0 <= count <= _MAX_U32
            and 0 <= first <= _MAX_U32
            and 0 <= first_instance <= _MAX_U32
            and -0x80000000 <= vertex_offset <= 0x7FFFFFFF
        ):
            raise ValidationError(
                f"{self._what}, {pipeline.title}: first={first}, count={count}, first_instance={first_instance} must be 0 to {_MAX_U32}, "
                f"vertex_offset={vertex_offset} a 32-bit integer"
            )
        if indices is None:
            if vertex_offset:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: vertex_offset={vertex_offset} is for indexed draws; use first="
                )
            commands.draw(count, instance_count, first, first_instance)
        else:
            commands.draw_indexed(count, instance_count, first, vertex_offset, first_instance)

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
        commands = self._open()
        what = f"{self._what}, {pipeline.title}"
        words = 4 if indices is None else 5
        if isinstance(indirect, BufferSlice):
            offset, indirect = offset + indirect.offset, indirect.buffer
        if isinstance(indirect, Buffer):
            require_usage(indirect, "indirect_buffer", f"{what}: indirect")
            stride = words * 4 if stride is None else stride
            if draw_count is None:
                draw_count = max(0, (indirect.size - offset - words * 4) // max(1, stride) + 1)
            core = indirect.core
        else:
            array = np.atleast_2d(np.asarray(indirect))
            if array.ndim != 2 or array.shape[1] != words or array.dtype.kind not in "iu":
                raise ValidationError(
                    f"{what}: indirect has shape {array.shape} and dtype {array.dtype}; it must be integers of shape (n, {words})"
                )
            core = self._arena.upload(np.ascontiguousarray(array.astype(np.int64) & _MAX_U32).astype(np.uint32))
            stride = words * 4
            draw_count = len(array) if draw_count is None else min(draw_count, len(array))
        self._prepare(
            commands,
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
            self._instances(commands, pipeline, instances)
        commands.draw_indirect(indices is not None, core, offset, draw_count, stride)

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
        commands = self._open()
        area = [0, 0, *self._size] if rect is None else _rect(rect, f"{self._what}: rect of clear")
        colors = {} if color is None else dict(color) if isinstance(color, Mapping) else {attachment: color}
        if not colors and depth is None and stencil is None:
            raise ValidationError(f"{self._what}: clear() of nothing; give color=, depth= or stencil=")
        for number, value in colors.items():
            view = self._views[number] if 0 <= number < len(self._views) else None
            if view is None:
                raise ValidationError(
                    f"{self._what}: clear of colour attachment {number}; the pass has {len(self._views)}"
                )
            values = _clear_color(value, f"{self._what}: clear of color[{number}]")
            commands.clear_attachment(number, 1, _core.ClearValue.color(view.image.format_info.number, values), area)
        for aspect, number in (("depth", depth), ("stencil", stencil)):
            if number is not None:
                clear = _clear_depth_stencil(number, aspect, f"{self._what}: clear of {aspect}")
                commands.clear_attachment(-1, _core.ENUMS["image_aspect"][aspect], clear, area)

    def query(self) -> Query:
        """An occlusion query: ``with rp.query() as q: rp.draw(...)``, after the pass ``q.samples``."""
        self._open()
        return Query(self)

    # -- the parts of a draw

    def _prepare(
        self,
        commands: _core.CommandBuffer,
        pipeline: Pipeline,
        vertices: Any,
        indices: Any,
        bind: Mapping[Any, Any] | None,
        push: Any,
        viewport: Any,
        scissor: Any,
        stencil_reference: Any,
        blend_constants: Any,
        depth_bias: Any,
    ) -> int | None:
        """Binds everything; returns the number of indices or vertices that there are, if known."""
        if not isinstance(pipeline, Pipeline):
            raise ValidationError(
                f"{self._what}: draw's first argument is {pipeline!r}; it must be a pipeline (dev.pipeline)"
            )
        if pipeline is not self._pipeline:
            commands.bind_pipeline(pipeline.core)
            state = pipeline.state
            self._dynamic = self._pipelines_own = (state.stencil_reference, state.blend_constants, state.depth_bias)
            self._pipeline = pipeline
        available = self._vertices(commands, pipeline, vertices)
        if indices is not None:
            available = self._indices(commands, pipeline, indices)
        self._binder.bind(commands, pipeline, bind, self._what)
        if push is not None or pipeline.has_push:
            self._push_constants(commands, pipeline, push)
        if (
            self._dynamic is not self._pipelines_own
            or viewport is not None
            or scissor is not None
            or stencil_reference is not None
            or blend_constants is not None
            or depth_bias is not None
            or self._viewport is not None
            or self._scissor is not None
        ):
            self._dynamic_state(commands, pipeline, viewport, scissor, stencil_reference, blend_constants, depth_bias)
        return available

    def _source(
        self, data: Any, dtype: np.dtype[Any] | None, stride_B: int, what: str
    ) -> tuple[_core.Buffer, int, int]:
        """(buffer, offset, number of elements) of one vertex binding."""
        if isinstance(data, (Buffer, BufferSlice)):
            buffer, offset, size_B = (
                (data, 0, data.size) if isinstance(data, Buffer) else (data.buffer, data.offset, data.size)
            )
            require_usage(buffer, "vertex_buffer", what)
            if not buffer_matches(buffer.dtype, dtype):
                raise ValidationError(
                    f"{what}: buffer '{buffer.label}' was made from {buffer.dtype}, the pipeline was made for {dtype}"
                )
            return buffer.core, offset, size_B // max(1, stride_B)
        array, count = vertex_array(data, dtype, what)
        return self._arena.upload(array), 0, count

    def _bind_vertex(self, commands: _core.CommandBuffer, number: int, source: tuple[_core.Buffer, int]) -> None:
        if self._vertex.get(number) != source:
            commands.bind_vertex_buffer(number, *source)
            self._vertex[number] = source

    def _vertices(self, commands: _core.CommandBuffer, pipeline: Pipeline, vertices: Any) -> int | None:
        last = self._last_vertices
        if last is not None and last[0] is pipeline and last[1] is vertices:
            return last[2]
        layout = pipeline.vertex_layout
        numbers = layout.per_vertex
        self._last_vertices = None
        if vertices is None:
            if numbers:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: the vertex shader reads {len(numbers)} vertex binding(s); give vertices="
                )
            return None
        if not numbers:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: vertices are given, but the pipeline was made without vertex=; "
                "give dev.pipeline the dtype"
            )
        sources = list(vertices) if isinstance(vertices, (list, tuple)) and len(numbers) > 1 else [vertices]
        if len(sources) != len(numbers):
            raise ValidationError(
                f"{self._what}, {pipeline.title}: {len(sources)} vertex array(s); the pipeline has {len(numbers)} vertex bindings"
            )
        available: int | None = None
        for number, data in zip(numbers, sources, strict=True):
            binding = layout.bindings[number]
            buffer, offset, count = self._source(
                data, binding.dtype, binding.stride_B, f"{self._what}, {pipeline.title}"
            )
            self._bind_vertex(commands, number, (buffer, offset))
            available = count if available is None else min(available, count)
        if isinstance(vertices, (Buffer, BufferSlice)) and available is not None:
            self._last_vertices = (pipeline, vertices, available)
        return available

    def _instances(self, commands: _core.CommandBuffer, pipeline: Pipeline, instances: Any) -> int:
        layout = pipeline.vertex_layout
        numbers = layout.per_instance
        if isinstance(instances, (int, np.integer)):
            if numbers:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: the pipeline has {len(numbers)} per-instance binding(s); "
                    "give their data as instances="
                )
            if not 0 <= instances <= _MAX_U32:
                raise ValidationError(
                    f"{self._what}, {pipeline.title}: instances is {instances}; it must be 0 to {_MAX_U32}"
                )
            return int(instances)
        if not numbers:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: instances is data, but the pipeline was made without instance=; "
                "give dev.pipeline the dtype"
            )
        sources = list(instances) if isinstance(instances, (list, tuple)) and len(numbers) > 1 else [instances]
        if instances is None or len(sources) != len(numbers):
            raise ValidationError(
                f"{self._what}, {pipeline.title}: instances has {len(sources)} array(s); "
                f"the pipeline has {len(numbers)} per-instance bindings"
            )
        available: int | None = None
        for number, data in zip(numbers, sources, strict=True):
            binding = layout.bindings[number]
            buffer, offset, count = self._source(
                data, binding.dtype, binding.stride_B, f"{self._what}, {pipeline.title}: instances"
            )
            self._bind_vertex(commands, number, (buffer, offset))
            available = count if available is None else min(available, count)
        return available or 0

    def _indices(self, commands: _core.CommandBuffer, pipeline: Pipeline, indices: Any) -> int:
        last = self._last_indices
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
            kind = _INDEX_TYPES.get(buffer.dtype) if buffer.dtype is not None else "uint32"
            if kind is None:
                raise ValidationError(
                    f"{what}: index buffer '{buffer.label}' was made from {buffer.dtype}; make it from uint8, uint16 or uint32"
                )
            source = (buffer.core, offset, kind)
            count = size_B // (4 if buffer.dtype is None else buffer.dtype.itemsize)
        else:
            array = index_array(indices, pipeline.primitive_restart, what)
            source = (self._arena.upload(array), 0, _INDEX_TYPES[array.dtype])
            count = array.size
        if self._index != source:
            commands.bind_index_buffer(source[0], source[1], _core.ENUMS["index_type"][source[2]])
            self._index = source
        if isinstance(indices, (Buffer, BufferSlice)):
            self._last_indices = (indices, count)
        return count

    def _push_constants(self, commands: _core.CommandBuffer, pipeline: Pipeline, push: Any) -> None:
        floats = pipeline.interface.push_floats
        if floats is not None and type(push) is dict and floats.push(commands, push):
            self._push = None  # what was pushed last isn't known here
            return
        size_B = pipeline.interface.push_layout.size_B if pipeline.interface.push_layout is not None else 0
        if push is None:
            names = ", ".join(m.name for m in pipeline.interface.push_constants)
            raise ValidationError(
                f"{self._what}, {pipeline.title}: the shaders have push constants ({names}); give push="
            )
        if type(push) is dict or isinstance(push, Mapping):  # the second question alone costs a tenth of a draw
            data = pipeline.pack_push(push)
        elif isinstance(push, (bytes, bytearray, memoryview)):
            data = bytes(push)
        elif isinstance(push, (np.ndarray, np.void)) and push.dtype.names:
            data = pipeline.pack_push({n: push[n] for n in push.dtype.names})
        elif isinstance(push, np.ndarray):
            data = push.tobytes()
        else:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: push is {push!r}; it must be a mapping by name, or all as bytes"
            )
        if len(data) != size_B:
            raise ValidationError(
                f"{self._what}, {pipeline.title}: push has {len(data)} bytes; the shaders' push constants take {size_B}"
            )
        if data != self._push:
            commands.push_constants(0, data)
            self._push = data

    def _dynamic_state(
        self,
        commands: _core.CommandBuffer,
        pipeline: Pipeline,
        viewport: Any,
        scissor: Any,
        stencil_reference: Any,
        blend_constants: Any,
        depth_bias: Any,
    ) -> None:
        state = pipeline.state
        what = f"{self._what}, {pipeline.title}"
        if viewport is not None or self._viewport is not None:
            values = (
                (0.0, 0.0, *map(float, self._size), 0.0, 1.0) if viewport is None else tuple(float(v) for v in viewport)
            )
            if len(values) == 4:
                values = (*values, 0.0, 1.0)
            if len(values) != 6 or not np.all(np.isfinite(values)):
                raise ValidationError(
                    f"{what}: viewport is {viewport!r}; it must be (x, y, width, height[, min_depth, max_depth]), finite numbers"
                )
            if values != self._viewport:
                commands.set_viewport(*values)
                self._viewport = values
        if scissor is not None or self._scissor is not None:
            rect = [0, 0, *self._size] if scissor is None else _rect(scissor, f"{what}: scissor")
            if rect != self._scissor:
                commands.set_scissor(rect)
                self._scissor = rect
        reference = state.stencil_reference if stencil_reference is None else stencil_reference
        reference = (
            (int(reference), int(reference))
            if isinstance(reference, (int, np.integer))
            else tuple(int(v) for v in reference)
        )
        if len(reference) != 2 or not all(0 <= v <= 255 for v in reference):
            raise ValidationError(
                f"{what}: stencil_reference is {stencil_reference!r}; it must be 0 to 255, or (front, back)"
            )
        constants = state.blend_constants if blend_constants is None else tuple(float(v) for v in blend_constants)
        if len(constants) != 4:
            raise ValidationError(f"{what}: blend_constants is {blend_constants!r}; it must be four numbers, r g b a")
        bias = (
            state.depth_bias
            if depth_bias is None
            else (depth_bias_of(depth_bias, f"{what}: depth_bias") or (0.0, 0.0, 0.0))
        )
        if reference != self._dynamic[0]:
            commands.set_stencil_reference(_FRONT, reference[0])
            commands.set_stencil_reference(_BACK, reference[1])
        if constants != self._dynamic[1]:
            commands.set_blend_constants(list(constants))
        if bias != self._dynamic[2]:
            commands.set_depth_bias(*bias)
        now = (reference, constants, bias)
        self._dynamic = self._pipelines_own if now == self._pipelines_own else now

    def __repr__(self) -> str:
        state = "open" if self._commands is not None else "ended" if self._stats is not None else "not entered"
        return f"<tilegpu.RenderPass '{self.label}', {state}>"
