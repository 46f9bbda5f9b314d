"""The device: makes images, buffers, pipelines and passes, and copies between them."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, enums
from tilegpu.attachment import clear_color, clear_depth_stencil
from tilegpu.buffer import Buffer, BufferSlice
from tilegpu.capture import Replay
from tilegpu.context import Context
from tilegpu.errors import ValidationError
from tilegpu.hsr import names as hsr_names
from tilegpu.hsr import parse as parse_hsr
from tilegpu.image import Image, ImageView, Texture
from tilegpu.pipeline import create_pipeline
from tilegpu.render_pass import RenderPass
from tilegpu.sampler import Sampler, SamplerOptions
from tilegpu.texels import default_texture_format, layers_of, texels_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path_ = str | os.PathLike[str]
_LIMITS = {"tiler_heap": 1 << 50}
_ASPECTS: dict[str, int] = _core.ENUMS["image_aspect"]


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
    ``compress_samples``: equal samples are kept once; off to compare.

    None of these changes a single bit of the result. Threads are made at the first pass, and anew in a forked child.
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
        profile, jit_target = arguments.text(profile, "Device: profile"), arguments.text(jit_target, "Device: jit_target")
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
        size: tuple[int, int],
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
        """An image of ``size`` (width, height) pixels; its contents are undefined until something is stored.

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

    def texture(
        self,
        pixels: Any,
        format: Any = None,
        *,
        mipmaps: bool | Sequence[Any] = False,
        cube: bool = False,
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
        up. ``cube``: 6 layers +x, -x, +y, -y, +z, -z. The sampler's parameters (``filter``, ``address`` and the others) are
        those of :meth:`sampler`; ``sampler`` takes a ready one.
        """
        name = arguments.text(label, "texture: label") or (str(pixels) if isinstance(pixels, (str, os.PathLike)) else "")
        what = f"texture '{name}'" if name else "texture"
        if sampler is not None and not isinstance(sampler, Sampler):
            raise ValidationError(f"{what}: sampler is {arguments.shown(sampler)}; it must be a sampler (dev.sampler)")
        if sampler is not None and sampling:
            raise ValidationError(f"{what}: sampler= is given and {', '.join(sampling)} too; give one or the other")
        chosen = Sampler(**sampling) if sampler is None else sampler
        if not isinstance(mipmaps, bool):
            mipmaps = arguments.sequence(mipmaps, f"{what}: mipmaps", "it must be True, False or a list of levels")
        levels = [layers_of(p, what) for p in (pixels, *([] if isinstance(mipmaps, bool) else mipmaps))]
        base = levels[0]
        count, height, width = base.shape[:3]
        info = enums.parse_format(default_texture_format(base, what) if format is None else format, what)
        chain = max(width, height).bit_length()
        if len(levels) > chain:
            raise ValidationError(f"{what}: {len(levels) - 1} mipmaps given; a {width}x{height} image has {chain - 1}")
        image = self.image(
            (width, height),
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

    def buffer(self, data: Any, *, usage: str | Iterable[str] | None = None, label: str = "buffer") -> Buffer:
        """A buffer with a copy of an array or bytes, or of a size in bytes, then zero.

        ``usage``: some of ``"uniform"``, ``"storage"``, ``"vertex"``, ``"index"``, ``"indirect"``,
        ``"transfer_src"``, ``"transfer_dst"``, joined by ``|``;
        by default all. Fields of shape (rows, columns) of a structured array are matrices and are transposed to the
        shader's columns.
        """
        return Buffer.create(data, usage, label)

    pipeline = create_pipeline

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
    ) -> RenderPass:
        """A render pass, to be used in a ``with`` block.

        ``color``: attachments (:class:`tilegpu.Attachment`, or images, which are then loaded and stored); ``None``
        leaves a slot unused.
        ``area``: (x, y, width, height) in pixels, by default all; outside of it nothing changes. ``layers``: of
        layered rendering.
        ``samples``: renders single-sampled images with so many samples, which are resolved as they are stored.
        ``hsr``: this pass's hidden-surface removal (:mod:`tilegpu.hsr`); ``None`` for the device's.
        ``trace``: ``True``: keep what moved for each tile, for :meth:`RenderPass.tiles`; ``"fragments"``: that, and what became of
        every fragment (:meth:`RenderPass.heatmap`, costs in :meth:`RenderPass.explain`) of this very execution; a pixel ``(x, y)`` or a
        list of them: that, and their histories (:meth:`RenderPass.why`). The last two take several times as long.

        Leaving the block submits and waits; ``rp.stats`` then says what the pass cost. An exception inside discards
        the pass and leaves the
        images as they were. Ctrl-C ends a long pass.
        """
        return RenderPass(self, color, depth, stencil, area, layers, samples, label, hsr, trace)

    # -- copies outside passes; all of them have happened when the call returns

    def copy(
        self,
        source: Any,
        destination: Any,
        *,
        source_offset: int = 0,
        destination_offset: int = 0,
        size: int | None = None,
        source_level: int = 0,
        source_layer: int = 0,
        source_pos: tuple[int, int] = (0, 0),
        destination_level: int = 0,
        destination_layer: int = 0,
        destination_pos: tuple[int, int] = (0, 0),
        extent: tuple[int, int] | None = None,
        row_length: int = 0,
        aspect: str | None = None,
    ) -> None:
        """Copies between buffers and images without conversion; arrays and bytes may be the source too.

        Offsets and ``size`` of buffers are bytes; positions and ``extent`` of images are (x, y) and (width, height)
        in pixels, by default as much as
        fits both. ``row_length``: pixels in a row of the buffer, 0 for the extent's width. ``aspect``: ``"depth"``
        or ``"stencil"`` of such images.
        """
        source, destination = _unwrap(source), _unwrap(destination)
        source_offset = _count(source_offset, "copy: source_offset")
        destination_offset = _count(destination_offset, "copy: destination_offset")
        size = None if size is None else _count(size, "copy: size")
        source_layer = _count(source_layer, "copy: source_layer")
        destination_layer = _count(destination_layer, "copy: destination_layer")
        row_length = _count(row_length, "copy: row_length")
        must = "it must be (x, y) in pixels"
        source_x, source_y = arguments.wholes(source_pos, "copy: source_pos", 2, must)
        destination_x, destination_y = arguments.wholes(destination_pos, "copy: destination_pos", 2, must)
        if not isinstance(source, (Buffer, BufferSlice, Image)):
            source = self.buffer(source, label="source of copy")
        if isinstance(source, BufferSlice):
            source_offset, size, source = (
                source_offset + source.offset,
                source.size if size is None else size,
                source.buffer,
            )
        if isinstance(destination, BufferSlice):
            destination_offset, destination = destination_offset + destination.offset, destination.buffer
        if isinstance(source, Buffer) and isinstance(destination, Buffer):
            size = min(source.size - source_offset, destination.size - destination_offset) if size is None else size
            self._run(lambda cb: cb.copy_buffer(source.core, destination.core, source_offset, destination_offset, size))
            return
        image = destination if isinstance(destination, Image) else source
        if not isinstance(image, Image) or not isinstance(destination, (Image, Buffer)):
            raise ValidationError(
                f"copy: from {arguments.shown(source)} to {arguments.shown(destination)}; "
                "both must be images or buffers (the source may be an array)"
            )
        name = image._aspect(aspect)
        bit = _ASPECTS[name]
        if isinstance(source, Image):
            source._require_readable(name, source_level, source_layer)
        from_region = (bit, _count(source_level, "copy: source_level"), source_layer, source_x, source_y)
        to_level = _count(destination_level, "copy: destination_level")
        to_region = (bit, to_level, destination_layer, destination_x, destination_y)
        if extent is None:
            sizes = []
            if isinstance(source, Image):
                sizes.append(source._level_size(source_level, source_pos))
            if isinstance(destination, Image):
                sizes.append(destination._level_size(destination_level, destination_pos))
            extent = (min(s[0] for s in sizes), min(s[1] for s in sizes))
        width, height = arguments.wholes(extent, "copy: extent", 2, "it must be (width, height) in pixels")
        if width <= 0 or height <= 0:
            raise ValidationError(f"copy: extent is {extent}; width and height must be at least 1")
        if isinstance(source, Buffer):
            assert isinstance(destination, Image)
            target = destination
            self._run(
                lambda cb: cb.copy_buffer_to_image(
                    source.core, source_offset, row_length, target.core, to_region, width, height
                )
            )
        elif isinstance(destination, Buffer):
            self._run(
                lambda cb: cb.copy_image_to_buffer(
                    source.core, from_region, width, height, destination.core, destination_offset, row_length
                )
            )
        else:
            self._run(lambda cb: cb.copy_image(source.core, from_region, destination.core, to_region, width, height))

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
    ) -> None:
        """Copies with scaling and conversion of the format. Rects are corners (x0, y0, x1, y1); x0 > x1 mirrors."""
        source, destination = _image(source, "blit: source"), _image(destination, "blit: destination")
        source._require_readable(None, source_level, source_layer)
        mode = enums.parse("filter", filter, "blit: filter")
        corners = [
            [0, 0, *image._level_size(level)]
            if rect is None
            else arguments.wholes(rect, f"blit: {name}", 4, "it must be (x0, y0, x1, y1)")
            for image, level, rect, name in (
                (source, source_level, source_rect, "source_rect"),
                (destination, destination_level, destination_rect, "destination_rect"),
            )
        ]
        if any(abs(v) > 0x7FFFFFFF for corner in corners for v in corner):
            raise ValidationError(f"blit: corners are {corners}; all must fit 31 bits")
        destination_layer = _count(destination_layer, "blit: destination_layer")
        self._run(
            lambda cb: cb.blit_image(
                source.core,
                source_level,
                source_layer,
                corners[0],
                destination.core,
                destination_level,
                destination_layer,
                corners[1],
                mode,
            )
        )

    def clear(
        self,
        image: Any,
        color: Sequence[float] | None = None,
        *,
        depth: float | None = None,
        stencil: int | None = None,
    ) -> None:
        """Fills all levels and layers of an image: (r, g, b, a) for colour, or depth and stencil."""
        target = _image(image, "clear")
        what = f"clear of image '{target.label}'"
        if not target.format_info.is_depth_stencil:
            if color is None or depth is not None or stencil is not None:
                raise ValidationError(f"{what}: format {target.format} takes (r, g, b, a)")
            value = _core.ClearValue.color(target.format_info.number, clear_color(color, what))
            self._run(lambda cb: cb.clear_color_image(target.core, value))
            return
        if color is not None or (depth is None and stencil is None):
            raise ValidationError(
                f"{what}: format {target.format} takes {' and '.join(n + '=' for n in target.format_info.aspects)}"
            )
        for aspect, number in (("depth", depth), ("stencil", stencil)):
            if number is not None:
                bit = _ASPECTS[target._aspect(aspect)]
                value = clear_depth_stencil(number, aspect, what)
                self._run(functools.partial(_clear_aspect, target.core, value, bit))

    def generate_mipmaps(self, image: Any) -> None:
        """Makes levels 1 and up from level 0, each from the one above."""
        target = _image(image, "generate_mipmaps")
        target._require_readable(None, 0, 0)
        self._run(lambda cb: cb.generate_mipmaps(target.core))

    def capture(self, path: str | os.PathLike[str]) -> None:
        """The next pass is written to a file just before it is executed: with what its images and buffers hold then.

        See :meth:`tilegpu.RenderPass.capture`, for a pass that ended.
        """
        self._next_capture = os.fspath(path)

    def load_capture(self, path: str | os.PathLike[str]) -> Replay:
        """Reads a capture; its ``run()`` draws it. Files from strangers are safe to read: what is wrong with one is an error."""
        return Replay(self, path)

    def resolve(self, source: Any, destination: Any) -> None:
        """Averages the samples of a stored multisampled image into a single-sampled one."""
        source, destination = _image(source, "resolve: source"), _image(destination, "resolve: destination")
        source._require_readable(None, 0, 0)
        self._run(lambda cb: cb.resolve_image(source.core, destination.core))

    def __repr__(self) -> str:
        info = self.info
        name = f" '{self.label}'" if self.label else ""
        return f"<tilegpu.Device{name}, profile {self.profile}, {info['threads']} threads, {info['lanes']} lanes>"


def _clear_aspect(image: _core.Image, value: _core.ClearValue, aspect: int, commands: _core.CommandBuffer) -> None:
    commands.clear_depth_stencil_image(image, value, aspect)


def _count(value: Any, what: str) -> int:
    number = arguments.whole(value, what)
    if not 0 <= number <= 1 << 62:
        raise ValidationError(f"{what} is {number}; it must not be negative")
    return number


def _unwrap(value: Any) -> Any:
    return value.image if isinstance(value, (Texture, ImageView)) else value


def _image(value: Any, what: str) -> Image:
    image = _unwrap(value)
    if not isinstance(image, Image):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be an image")
    return image
