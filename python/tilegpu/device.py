"""The device: makes images, buffers, pipelines and passes, and copies between them."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, copies, enums
from tilegpu.attachment import clear_color, clear_depth_stencil
from tilegpu.buffer import Buffer
from tilegpu.capture import Replay
from tilegpu.compute import create_compute_pipeline, dispatch, dispatch_indirect
from tilegpu.context import Context
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.errors import ValidationError
from tilegpu.frame import Frame
from tilegpu.hsr import names as hsr_names
from tilegpu.hsr import parse as parse_hsr
from tilegpu.image import Image, Texture, image_of
from tilegpu.pipeline import Pipeline, create_pipeline
from tilegpu.render_pass import RenderPass
from tilegpu.sampler import Sampler, SamplerOptions
from tilegpu.secondary import SecondaryCommandBuffer
from tilegpu.set_layout import DescriptorSetLayout
from tilegpu.texels import default_texture_format, layers_of, texels_of
from tilegpu.uses import use_of_image
from tilegpu.ycbcr import SamplerYcbcrConversion

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path_ = str | os.PathLike[str]
_LIMITS = {"tiler_heap": 1 << 50}
_ASPECTS: dict[str, int] = _core.ENUMS["image_aspect"]
_REMAINING = _MAX_U32 = 0xFFFFFFFF
_POSITION = "it must be (x, y) in pixels, or (x, y, z) of a 3D image"


def _check_conversion(info: enums.FormatInfo, sampler: Sampler, mipmaps: bool, what: str) -> None:
    """What can't be sampled as it is asked for is refused here, not by the first draw that binds it."""
    conversion = sampler.ycbcr
    if conversion is not None and conversion.format_info.name != info.name:
        raise ValidationError(
            f"{what}: ycbcr is a conversion of {conversion.format_info.name}, the format is {info.name}; "
            f'make one of the format: dev.sampler_ycbcr_conversion("{info.name}")'
        )
    if conversion is None and info.planes:
        raise ValidationError(
            f'{what}: {info.name} is sampled by a conversion alone; give ycbcr=dev.sampler_ycbcr_conversion("{info.name}")'
        )
    if mipmaps and info.planes:
        raise ValidationError(f"{what}: mipmaps= of {info.name}; multi-planar images have one level: leave it out")


class Device(Context):
    """A software GPU.

    ``profile``: ``"host"`` (this CPU) or a GPU whose tile memory is modelled, such as ``"immortalis-g925"``.
    ``threads``: 0 for what affinity and cgroup quota allow. ``lanes``: 4, 8 or 16 fragments at once, 0 for what the
    CPU has.
    ``jit_target``: ``""`` (this CPU), ``"x86-64-v3"`` or ``"x86-64-v4"``. ``bin_px``: 32, 64, 128 or 0 (chosen).
    ``vertex_batch``: unique vertices shaded together, 3 to 32; 0 (the default) for 32, or for a whole range of indices
    where they are dense. ``cache_dir``: where compiled pipelines are kept, ``""`` for the user's cache, ``"off"`` for
    nowhere. ``tiler_heap``: bytes of binned geometry beyond which a pass is split (incremental rendering), 0 for the
    profile's. ``hsr``: the hidden-surface removal of passes that do not choose their own: ``"default"`` (the
    profile's), ``"off"``, ``"all"`` or names (:mod:`tilegpu.hsr`).
    ``compress_samples``: equal samples are kept once; off to compare. ``ordered_atomics``: dispatches whose buffer
    atomics give what depends on the order of invocations run their workgroups in order, on one thread; off: on all
    threads, in any order, so that their results may differ from run to run.

    None but the last changes a single bit of the result. Threads are made at the first pass, and anew in a forked child.
    """

    def __init__(
        self,
        profile: str = "host",
        *,
        threads: int = 0,
        lanes: int = 0,
        jit_target: str = "",
        bin_px: int = 0,
        vertex_batch: int = 0,
        cache_dir: Path_ = "",
        tiler_heap: int = 0,
        hsr: str | Iterable[str] = "default",
        compress_samples: bool = True,
        ordered_atomics: bool = True,
        label: str = "",
    ) -> None:
        for name, value in (
            ("threads", threads),
            ("lanes", lanes),
            ("bin_px", bin_px),
            ("vertex_batch", vertex_batch),
            ("tiler_heap", tiler_heap),
        ):
            if not isinstance(value, (int, np.integer)) or not 0 <= value <= _LIMITS.get(name, 0xFFFFFFFF):
                raise ValidationError(
                    f"Device: {name} is {arguments.shown(value)}; it must be a whole number, 0 for the default"
                )
        self.label = arguments.text(label, "Device: label")
        profile, jit_target = (
            arguments.text(profile, "Device: profile"),
            arguments.text(jit_target, "Device: jit_target"),
        )
        if not isinstance(cache_dir, (str, os.PathLike)):
            raise ValidationError(f"Device: cache_dir is {arguments.shown(cache_dir)}; it must be a path, '' or 'off'")
        core = _core.Device(
            profile,
            threads,
            lanes,
            jit_target,
            bin_px,
            vertex_batch,
            os.fspath(cache_dir),
            tiler_heap,
            None if isinstance(hsr, str) and hsr == "default" else parse_hsr(hsr, profile, "Device"),
            arguments.flag(compress_samples, "Device: compress_samples"),
            arguments.flag(ordered_atomics, "Device: ordered_atomics"),
        )
        super().__init__(core, profile)

    @property
    def info(self) -> dict[str, Any]:
        """CPU, lanes, threads, LLVM, cache directory, profile."""
        return self.core.info()

    @property
    def hsr(self) -> tuple[str, ...]:
        """The hidden-surface removal of passes that do not choose their own; names as :mod:`tilegpu.hsr` has them."""
        return hsr_names(self.core.hsr)

    @property
    def compile_stats(self) -> dict[str, Any]:
        """Pipelines, functions compiled or found in the cache, milliseconds; those that wait for their optimised code."""
        return self.core.compile_stats()

    def wait_compiles(self) -> None:
        """Waits until every function has its optimised code.

        Pipelines that were not in the disk cache are ready with code that was generated quickly: the same bits, and up to 1.4 times
        the time of a pass. Threads in the background optimise it; passes that begin afterwards use that. Call this before measuring.
        """
        self.core.wait_compiles()

    # -- objects

    def image(
        self,
        size: Sequence[int],
        format: Any,
        *,
        samples: int = 1,
        transient: bool = False,
        mip_levels: int | None = 1,
        layers: int | None = None,
        cube: bool = False,
        usage: str | Iterable[str] | None = None,
        tiling: str = "linear",
        label: str = "",
    ) -> Image:
        """An image of ``size`` (width, height) pixels ((width,): 1D; (width, height, depth): 3D); its contents are undefined
        until something is stored.

        ``samples``: 1, 2, 4, 8 or 16. ``transient``: an attachment that lives in tile memory only; it has no memory
        unless a spill needs it.
        ``mip_levels``: ``None`` for the whole chain. ``cube``: 6 square layers. ``usage``: by default everything
        that the format allows.
        ``tiling``: ``"linear"`` (rows, which NumPy can view) or ``"block_compressed"`` (lossless, as AFBC).
        """
        return Image.create(
            self,
            size,
            format,
            samples=samples,
            transient=transient,
            mip_levels=mip_levels,
            layers=layers,
            cube=cube,
            usage=usage,
            tiling=tiling,
            label=label,
        )

    sampler = Sampler
    sampler_ycbcr_conversion = SamplerYcbcrConversion

    def texture(
        self,
        pixels: Any,
        format: Any = None,
        *,
        mipmaps: bool | Sequence[Any] = False,
        cube: bool = False,
        type: str = "2d",
        sampler: Sampler | None = None,
        label: str = "",
        **sampling: Unpack[SamplerOptions],
    ) -> Texture:
        """An image with these pixels and a sampler.

        ``pixels``: (H, W), (H, W, C), or with layers (L, H, W, C); a path or a Pillow image are read through
        Pillow. Integers of the format's
        width are stored as they are, floats are converted (linear light for ``*_srgb``); RGB gets an alpha of 1.
        ``format``: by default
        ``*_unorm`` or ``*_sfloat`` of the array's width. ``mipmaps``: ``True`` makes the chain by 2x2 boxes; a
        sequence of arrays is levels 1 and
        up. ``cube``: 6 layers +x, -x, +y, -y, +z, -z. ``type``: ``"1d"`` for shaders with ``sampler1D``; pixels are
        (W,), (W, C) or (L, W, C) then. The sampler's parameters (``filter``, ``address`` and the others) are
        those of :meth:`sampler`; ``sampler`` takes a ready one. Of a multi-planar ``format`` pixels are a list of its planes: luma (H, W),
        then chroma of its own height and width, (H, W, 2) as Cb, Cr, or (H, W) twice; ``ycbcr`` says how they become RGB.
        """
        name = arguments.text(label, "texture: label") or (
            str(pixels) if isinstance(pixels, (str, os.PathLike)) else ""
        )
        what = f"texture '{name}'" if name else "texture"
        if sampler is not None and not isinstance(sampler, Sampler):
            raise ValidationError(f"{what}: sampler is {arguments.shown(sampler)}; it must be a sampler (dev.sampler)")
        if sampler is not None and sampling:
            raise ValidationError(f"{what}: sampler= is given and {', '.join(sampling)} too; give one or the other")
        chosen = Sampler(**sampling) if sampler is None else sampler
        if not isinstance(mipmaps, bool):
            mipmaps = arguments.sequence(mipmaps, f"{what}: mipmaps", "it must be True, False or a list of levels")
        if type not in ("1d", "2d"):
            raise ValidationError(f"{what}: type is {arguments.shown(type)}; it must be '1d' or '2d'")
        info = None if format is None else enums.parse_format(format, what)
        if info is not None and info.planes:
            _check_conversion(info, chosen, mipmaps is not False, what)
            return Texture(self._planes(pixels, info, what, name), chosen)
        levels = [layers_of(p, what, type == "1d") for p in (pixels, *([] if isinstance(mipmaps, bool) else mipmaps))]
        base = levels[0]
        count, height, width = base.shape[:3]
        if info is None:
            info = enums.parse_format(default_texture_format(base, what), what)
        _check_conversion(info, chosen, mipmaps is not False, what)
        chain = max(width, height).bit_length()
        if len(levels) > chain:
            raise ValidationError(f"{what}: {len(levels) - 1} mipmaps given; a {width}x{height} image has {chain - 1}")
        image = self.image(
            (width,) if type == "1d" else (width, height),
            info.name,
            mip_levels=None if mipmaps is True else len(levels),
            layers=count,
            cube=cube,
            label=name,
        )
        for level, array in enumerate(levels):
            size = (max(1, height >> level), max(1, width >> level))
            if array.shape[0] != count or array.shape[1:3] != size:
                raise ValidationError(
                    f"{what}: level {level} has shape {array.shape[1:3]} and {array.shape[0]} layer(s); it must be {size} and {count}"
                )
            for layer in range(count):
                image.core.write(level, layer, texels_of(array[layer], info, what))
        if mipmaps is True and image.mip_levels > 1:
            self.generate_mipmaps(image)
        return Texture(image, chosen)

    def _planes(self, pixels: Any, info: enums.FormatInfo, what: str, label: str) -> Image:
        """An image of a multi-planar format with these pixels, plane by plane."""
        count = len(info.planes)
        if not isinstance(pixels, (list, tuple)) or len(pixels) != count:
            given = f"{len(pixels)} arrays" if isinstance(pixels, (list, tuple)) else arguments.shown(pixels)
            raise ValidationError(f"{what}: pixels are {given}; of {info.name} they are a list of {count} planes")
        arrays = [layers_of(p, f"{what}: plane {k}") for k, p in enumerate(pixels)]
        layers, height, width = arrays[0].shape[:3]
        image = self.image((width, height), info.name, layers=layers, label=label)
        for k, (array, plane) in enumerate(zip(arrays, image.planes, strict=True)):
            shape = (layers, plane.height, plane.width)
            if array.shape[:3] != shape:
                raise ValidationError(
                    f"{what}: plane {k} has {array.shape[0]} layer(s) of {array.shape[1:3]}; it must be {layers} of {shape[1:]}"
                )
            for layer in range(layers):
                plane.core.write(0, layer, texels_of(array[layer], plane.format_info, f"{what}: plane {k}"))
        return image

    def buffer(self, data: Any, *, usage: str | Iterable[str] | None = None, label: str = "buffer") -> Buffer:
        """A buffer with a copy of an array or bytes, or of a size in bytes, then zero.

        ``usage``: some of ``"uniform"``, ``"storage"``, ``"vertex"``, ``"index"``, ``"indirect"``,
        ``"uniform_texel"``, ``"storage_texel"``, ``"transfer_src"``, ``"transfer_dst"``, ``"shader_device_address"``,
        joined by ``|``; by default all. Fields of shape (rows, columns) of a structured array are matrices and are transposed to the
        shader's columns.
        """
        return Buffer.create(data, usage, label, self.core)

    pipeline = create_pipeline
    compute_pipeline = create_compute_pipeline
    dispatch = dispatch
    dispatch_indirect = dispatch_indirect

    def descriptor_set_layout(
        self,
        bindings: Mapping[int, Any],
        *,
        update_after_bind: bool = False,
        partially_bound: bool = False,
        label: str = "layout",
    ) -> DescriptorSetLayout:
        """The layout of descriptor sets that several pipelines share: give it to them as ``set_layouts={number: layout}``.

        ``bindings``: a type by binding, such as ``"combined_image_sampler"``, ``"uniform_buffer"``, ``"storage_buffer"``,
        ``"sampled_image"``, ``"sampler"``, or (type, count) for arrays. Pipelines may use a part of it. ``update_after_bind``:
        passes read what its sets hold when they are executed, not when draws were recorded. ``partially_bound``: what was never
        written may be missing, as long as no shader reads it; it gives 0. Sets of two layouts with the same of all these are
        bound alike.
        """
        return DescriptorSetLayout(bindings, update_after_bind, partially_bound, label)

    def descriptor_set(
        self,
        layout: DescriptorSetLayout | Pipeline,
        set: int | None = None,
        bind: Mapping[Any, Any] | None = None,
        *,
        label: str = "set",
    ) -> DescriptorSet:
        """A descriptor set that is written once and bound for many draws: ``rp.draw(..., sets={1: materials})``.

        ``layout``: a pipeline, of which ``set`` says the set (it may be left out where there is one), or a layout. Of a pipeline's
        set, ``bind`` takes the names of its shaders, and values are checked against what they declare; of a layout's it takes
        bindings' numbers, and blocks are given as bytes or buffers. A set fits every pipeline whose layout of that number is
        defined the same: the same shader variables in use, or the same ``set_layouts``. ``bind``: see
        :meth:`DescriptorSet.update`, which writes it anew at any time.
        """
        return DescriptorSet(self, layout, set, bind, label)

    def secondary(
        self,
        color: Any = (),
        depth: Any = None,
        stencil: Any = None,
        *,
        samples: int = 1,
        occlusion_query: bool = False,
        label: str = "secondary",
        view_mask: int = 0,
    ) -> SecondaryCommandBuffer:
        """A secondary command buffer: draws, recorded in a ``with`` block, that become part of passes.

        ``color``, ``depth``, ``stencil``: formats (or images of them) of the passes' attachments, as of :meth:`pipeline`;
        ``samples``: of all; ``view_mask``: of the passes. It may be executed many times, in one pass or in several, and may be
        recorded in other threads::

            with dev.secondary(color=[out.format], depth="d32_sfloat") as trees:
                trees.draw(pipe, vertices, sets={1: materials})
            with dev.render_pass(color=[out], depth=depth) as rp:
                rp.execute_commands(trees)

        Its methods are those of a pass: ``draw``, ``draw_indirect``, ``set``, ``clear``, ``query``. The framebuffer's size is not
        known: without ``viewport`` and ``scissor`` a draw has those of the whole framebuffer of the pass. NumPy arguments are
        copied as it is recorded. ``occlusion_query``: it may be executed while a query of the pass is active, and has none of its
        own then.
        """
        return SecondaryCommandBuffer(self, color, depth, stencil, samples, occlusion_query, label, view_mask)

    def render_pass(
        self,
        color: Any = (),
        depth: Any = None,
        stencil: Any = None,
        *,
        area: Sequence[int] | None = None,
        layers: int = 1,
        samples: int = 0,
        hsr: str | Iterable[str] | None = None,
        trace: bool | str | Sequence[Any] = False,
        label: str = "pass",
        view_mask: int = 0,
    ) -> RenderPass:
        """A render pass, to be used in a ``with`` block.

        ``color``: attachments (:class:`tilegpu.Attachment`, or images, which are then loaded and stored); ``None``
        leaves a slot unused.
        ``area``: (x, y, width, height) in pixels, by default all; outside of it nothing changes. ``layers``: of
        layered rendering, from each attachment's on; gl_Layer chooses one (0 where it isn't written), and what is drawn to one that
        is not there is drawn nowhere. ``view_mask``: instead, a bit for each view (VK_KHR_multiview): every draw goes once to each
        layer whose bit is set, whose number is gl_ViewIndex.
        ``samples``: renders single-sampled images with so many samples, which are resolved as they are stored.
        ``hsr``: this pass's hidden-surface removal (:mod:`tilegpu.hsr`); ``None`` for the device's.
        ``trace``: ``True``: keep what moved for each tile, for :meth:`RenderPass.tiles`; ``"fragments"``: that, and what became of
        every fragment (:meth:`RenderPass.heatmap`, costs in :meth:`RenderPass.explain`) of this very execution; a pixel ``(x, y)`` or a
        list of them: that, and their histories (:meth:`RenderPass.why`). The last two take several times as long.

        Leaving the block submits and waits; ``rp.stats`` then says what the pass cost. An exception inside discards
        the pass and leaves the
        images as they were. Ctrl-C ends a long pass.
        """
        return RenderPass(self, color, depth, stencil, area, layers, samples, label, hsr, trace, view_mask)

    def frame(self, label: str = "frame", *, strict: bool = False, outputs: Any = ()) -> Frame:
        """What is done on the device in its ``with`` block, as a graph: passes, dispatches, copies, and what flows between them::

            with dev.frame("shadowed") as f:
                with dev.render_pass(depth=shadow_map, ...) as rp: ...
                with dev.render_pass(color=[out], ...) as rp: ...        # samples shadow_map
            print(f)                     # nodes, and what was stored here, loaded and sampled there
            print(f.stats)               # added up
            print("\n".join(f.lint()))   # across passes, with the bytes that each change saves
            f.replay()                   # all of it again

        Nothing else changes: each pass is executed as it ends. ``strict``: what reads contents that nobody wrote, or may, is an
        :class:`UndefinedContentsError` before it is executed; else ``f.lint()`` says so. ``outputs``: images that the frame is drawn for;
        by default what its last pass stores in colour, and what the program has read. Frames don't nest. See :class:`Frame`.
        """
        return Frame(self, label, strict, outputs)

    @property
    def open_frame(self) -> Frame | None:
        """The frame whose ``with`` block is open, if there is one."""
        frame: Frame | None = self._frame
        return frame

    # -- copies outside passes; all of them have happened when the call returns

    copy = copies.copy

    def blit(
        self,
        source: Any,
        destination: Any,
        *,
        filter: str = "linear",
        source_rect: Sequence[int] | None = None,
        destination_rect: Sequence[int] | None = None,
        source_level: int = 0,
        source_layer: int = 0,
        destination_level: int = 0,
        destination_layer: int = 0,
        layers: int = 1,
    ) -> None:
        """Copies with scaling and conversion of the format. Rects are corners (x0, y0, x1, y1); x0 > x1 mirrors.
        Of 3D images (x0, y0, z0, x1, y1, z1)."""
        source, destination = _image(source, "blit: source"), _image(destination, "blit: destination")
        mode = enums.parse("filter", filter, "blit: filter")
        aspects = sum(_ASPECTS[name] for name in source.format_info.aspects)
        layers = arguments.count(layers, "blit: layers", _MAX_U32)
        region: list[Any] = []
        for image, level, layer, rect, name in (
            (source, source_level, source_layer, source_rect, "source"),
            (destination, destination_level, destination_layer, destination_rect, "destination"),
        ):
            level = arguments.count(level, f"blit: {name}_level", _MAX_U32)
            layer = arguments.count(layer, f"blit: {name}_layer", _MAX_U32)
            corners = _corners(rect, image._level_size(level), f"blit: {name}_rect")
            region += [(aspects, level, layer, layers), corners]
            if name == "source":
                low, high = (tuple(map(pick, *corners)) for pick in (min, max))
                slabs = (low[2], high[2] - low[2]) if image.type == "3d" else (layer, layers)
                rect = (low[0], low[1], high[0] - low[0], high[1] - low[1])
                image._require_all_readable(image.format_info.aspects, level, *slabs, rect=rect)
        sides = (
            (source, False, source_level, source_layer, None),
            (destination, True, destination_level, destination_layer, destination_rect),
        )
        self._run(
            lambda cb: cb.blit_image(source.core, destination.core, [tuple(region)], mode),
            "blit",
            lambda: [
                use
                for image, write, level, layer, rect in sides
                for use in use_of_image(
                    image,
                    write,
                    "blit",
                    level=level,
                    levels=1,
                    layer=0 if image.type == "3d" else layer,
                    layers=None if image.type == "3d" else layers,
                    whole=write and rect is None,
                )
            ],
        )

    def clear(
        self,
        image: Any,
        color: Sequence[float] | None = None,
        *,
        depth: float | None = None,
        stencil: int | None = None,
        level: int = 0,
        levels: int | None = None,
        layer: int = 0,
        layers: int | None = None,
    ) -> None:
        """Fills an image, or some of its levels and layers (``None``: all from the first on): (r, g, b, a) for colour, or
        depth and stencil."""
        target = _image(image, "clear")
        what = f"clear of image '{target.label}'"
        part = (
            arguments.count(level, f"{what}: level", _MAX_U32),
            _REMAINING if levels is None else arguments.count(levels, f"{what}: levels", _MAX_U32),
            arguments.count(layer, f"{what}: layer", _MAX_U32),
            _REMAINING if layers is None else arguments.count(layers, f"{what}: layers", _MAX_U32),
        )
        uses = functools.partial(use_of_image, target, True, "clear", level=level, levels=levels, layer=layer, layers=layers, whole=True)
        if not target.format_info.is_depth_stencil:
            if color is None or depth is not None or stencil is not None:
                raise ValidationError(f"{what}: format {target.format} takes (r, g, b, a)")
            value = _core.ClearValue.color(target.format_info.number, clear_color(color, what))
            self._run(
                lambda cb: cb.clear_color_image(target.core, value, [(_ASPECTS["color"], *part)]),
                "clear",
                uses,
            )
            return
        if color is not None or (depth is None and stencil is None):
            raise ValidationError(
                f"{what}: format {target.format} takes {' and '.join(n + '=' for n in target.format_info.aspects)}"
            )
        for aspect, number in (("depth", depth), ("stencil", stencil)):
            if number is not None:
                bit = _ASPECTS[target._aspect(aspect)]
                value = clear_depth_stencil(number, aspect, what)
                fill = functools.partial(_clear_aspect, target.core, value, (bit, *part))
                self._run(fill, "clear", functools.partial(uses, aspect=aspect))

    def generate_mipmaps(self, image: Any) -> None:
        """Makes levels 1 and up from level 0, each from the one above."""
        target = _image(image, "generate_mipmaps")
        target._require_all_readable(target.format_info.aspects[:1], 0, 0, target._layer_count(0))
        self._run(
            lambda cb: cb.generate_mipmaps(target.core),
            "generate_mipmaps",
            lambda: [
                *use_of_image(target, False, "mipmaps", level=0, levels=1),
                *use_of_image(target, True, "mipmaps", level=1, whole=True),
            ],
        )

    def capture(self, path: str | os.PathLike[str]) -> None:
        """The next pass is written to a file just before it is executed: with what its images and buffers hold then.

        See :meth:`tilegpu.RenderPass.capture`, for a pass that ended.
        """
        self._next_capture = os.fspath(path)

    def load_capture(self, path: str | os.PathLike[str]) -> Replay:
        """Reads a capture; its ``run()`` draws it. Files from strangers are safe to read: what is wrong with one is an error."""
        return Replay(self, path)

    def resolve(
        self,
        source: Any,
        destination: Any,
        *,
        source_layer: int = 0,
        source_pos: Sequence[int] = (0, 0),
        destination_level: int = 0,
        destination_layer: int = 0,
        destination_pos: Sequence[int] = (0, 0),
        extent: Sequence[int] | None = None,
        layers: int | None = None,
    ) -> None:
        """Averages the samples of a stored multisampled image into a single-sampled one: all layers from the first on, and
        as much as the source has from its position on, or a region."""
        source, destination = _image(source, "resolve: source"), _image(destination, "resolve: destination")
        source_layer = arguments.count(source_layer, "resolve: source_layer", _MAX_U32)
        count = source.layers - source_layer if layers is None else arguments.count(layers, "resolve: layers", _MAX_U32)
        destination_level = arguments.count(destination_level, "resolve: destination_level", _MAX_U32)
        destination_layer = arguments.count(destination_layer, "resolve: destination_layer", _MAX_U32)
        from_pos = arguments.vector(source_pos, 0, "resolve: source_pos", _POSITION)
        extent = source._level_size(0, from_pos) if extent is None else extent
        size_px = arguments.vector(extent, 1, "resolve: extent", "it must be (width, height) in pixels")
        if min(size_px) <= 0:
            raise ValidationError(f"resolve: extent is {extent}; width and height must be at least 1")
        rect = (*from_pos[:2], *size_px[:2])
        source._require_all_readable(source.format_info.aspects[:1], 0, source_layer, count, rect=rect)
        region = (
            (_ASPECTS["color"], 0, source_layer, count),
            from_pos,
            (_ASPECTS["color"], destination_level, destination_layer, count),
            arguments.vector(destination_pos, 0, "resolve: destination_pos", _POSITION),
            size_px,
        )
        whole = not any(region[3]) and size_px[:2] == destination._level_size(destination_level)[:2]
        self._run(
            lambda cb: cb.resolve_image(source.core, destination.core, [region]),
            "resolve",
            lambda: [
                *use_of_image(source, False, "resolve", levels=1, layer=source_layer, layers=count),
                *use_of_image(
                    destination, True, "resolve", level=destination_level, levels=1, layer=destination_layer, layers=count, whole=whole
                ),
            ],
        )

    def __repr__(self) -> str:
        info = self.info
        name = f" '{self.label}'" if self.label else ""
        return f"<tilegpu.Device{name}, profile {self.profile}, {info['threads']} threads, {info['lanes']} lanes>"


def _clear_aspect(
    image: _core.Image, value: _core.ClearValue, part: tuple[int, int, int, int, int], commands: _core.CommandBuffer
) -> None:
    commands.clear_depth_stencil_image(image, value, [part])


def _corners(rect: Any, whole: tuple[int, int, int], what: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two corners of three values; without a rect those of the whole level, of which a rect in 2D takes the depth."""
    if rect is None:
        return (0, 0, 0), whole
    must = "it must be (x0, y0, x1, y1), or (x0, y0, z0, x1, y1, z1) of a 3D image"
    items = arguments.sequence(rect, what, must)
    values = arguments.wholes(items, what, 6 if len(items) == 6 else 4, must)
    if any(abs(v) > 0x7FFFFFFF for v in values):
        raise ValidationError(f"{what} is {arguments.shown(rect)}; all must fit 31 bits")
    if len(values) == 4:
        values = [*values[:2], 0, *values[2:], whole[2]]
    return tuple(values[:3]), tuple(values[3:])


def _image(value: Any, what: str) -> Image:
    image = image_of(value)
    if not isinstance(image, Image):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be an image")
    return image
