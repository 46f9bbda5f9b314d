"""The device: makes images, buffers, pipelines and passes, and copies between them."""

from __future__ import annotations

import functools
import os
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, copies, enums, files, image_commands, keywords, notebook
from tilegpu.buffer import Buffer
from tilegpu.capture import Replay
from tilegpu.compute import create_compute_pipeline, dispatch, dispatch_indirect
from tilegpu.context import Context, DeviceOptions
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.errors import CacheWarning, UnusedNameWarning, ValidationError, near_names, users_level
from tilegpu.fixed import Named, makes_things
from tilegpu.frame import Frame
from tilegpu.framebuffer import Framebuffer, FramebufferDesc, FramebufferLayout, bins_nothing
from tilegpu.hsr import names as hsr_names
from tilegpu.hsr import parse as parse_hsr
from tilegpu.image import Image, Texture
from tilegpu.pipeline import Pipeline, create_pipeline
from tilegpu.render_pass import RenderPass
from tilegpu.sampler import Sampler, SamplerOptions
from tilegpu.secondary import SecondaryCommandBuffer
from tilegpu.set_layout import DescriptorSetLayout
from tilegpu.texels import as_colors, default_texture_format, layers_of, numbers_of, texels_of
from tilegpu.with_block import Done, next_capture
from tilegpu.ycbcr import SamplerYcbcrConversion

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path_ = str | os.PathLike[str]
_begin_pass = RenderPass.__init__  # without what looks at who calls (keywords.refuse_calls): small frames would notice
_begin_frame = Frame.__init__
_RENDER_MODES = ("gmem", "sysmem", "autotune")
_NO_CACHE: set[tuple[str, str]] = set()  # folders, and why, that were told of
_LIMITS = {"tiler_heap": 1 << 50, "loop_budget": 1 << 62, "indirect_budget": 1 << 62, "compile_memory": 1 << 50}
_ASPECTS: dict[str, int] = _core.ENUMS["image_aspect"]
_REMAINING = _MAX_U32 = 0xFFFFFFFF
_POSITION = "it must be (x, y) in pixels, or (x, y, z) of a 3D image"


def _render_mode(mode: str) -> _core.RenderMode:
    if not isinstance(mode, str) or mode not in _RENDER_MODES:
        raise ValidationError(f"Device: render_mode is {arguments.shown(mode)}; it must be one of {', '.join(_RENDER_MODES)}")
    found: _core.RenderMode = getattr(_core.RenderMode, mode)
    return found


def _check_conversion(info: enums.FormatInfo, sampler: Sampler, mipmaps: Any, what: str) -> None:
    """What can't be sampled as it is asked for is refused here, not by the first draw that binds it."""
    sampler.require_filter(info, f"{what}: format is {info.name}")
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
    if mipmaps is True:
        image_commands.require_averages(info, what)
    if mipmaps is not False and info.planes:
        raise ValidationError(f"{what}: mipmaps= of {info.name}; multi-planar images have one level: leave it out")


def _take_back(of: weakref.ref[Device], path: str) -> None:
    """A capture that was asked for by a block that there is not."""
    device = of()
    if device is not None and device._next_capture == path:
        device._capture_next(None)


@makes_things
class Device(Context):
    """A software GPU.

    ``profile``: ``"host"`` (this CPU) or a GPU whose tile memory is modelled, such as ``"immortalis-g925"``.
    ``threads``: 0 for what affinity and cgroup quota allow. ``lanes``: 4, 8 or 16 fragments at once, 0 for what the
    CPU has: 16 with AVX-512 and with SVE of 512 bits or more, else 8.
    ``jit_target``: ``""`` (this CPU), ``"baseline"`` (``"x86-64-v3"``; on aarch64 ``"armv8-a"``, NEON) or ``"x86-64-v4"``.
    ``bin_px``: of the profile ``host``, side of the bins: 32, 64, 128 or 0 (chosen).
    ``vertex_batch``: unique vertices shaded together, 3 to 64 (beyond 32 of filled triangles with indices; 32 of all else); 0
    (the default) for the profile's: 32, with ``"host"`` a whole range of indices where they are dense. ``cache_dir``: where
    compiled pipelines are kept (``~`` is the home folder, as in other paths), ``""`` for the user's cache, ``"off"`` for nowhere.
    ``tiler_heap``: bytes of binned geometry
    beyond which a pass is split (incremental rendering), 0 for the profile's. ``hsr``: the hidden-surface removal of passes
    that do not choose their own: ``"default"`` (the profile's), ``"off"``, ``"all"`` or names (:mod:`tilegpu.hsr`).
    ``compress_samples``: equal samples are kept once, blocks in which a texture has nothing are not shaded; off to
    compare. ``ordered_atomics``: dispatches whose buffer atomics give what depends on the order of invocations run their
    workgroups in order, on one thread; off: on all threads, in any order, so that their results may differ from run to run.

    ``loop_budget``: how often all loops of the invocations that run together (as many as there are lanes) may go round; beyond
    it they are ended, and the pass or dispatch is a :class:`DeviceLostError` that names the loop's line. 0: 2**24 in passes, 2**26
    in dispatches.
    ``indirect_budget``: how many vertices, over all instances, the indirect draws of a pass may have together, and how many invocations
    an indirect dispatch: numbers that lie in buffers, which shaders or mistakes may have written. Beyond it nothing is executed, and the
    pass or dispatch is a :class:`DeviceLostError`. 0: 2**28.
    ``lrz_flush``: low-resolution Z's caches are flushed as Adreno's driver does it (the event ``LRZ_FLUSH``); off: as by a driver that
    forgets it, to see what a stale cache does to pictures.
    ``render_mode``: of profiles with GMEM (Adreno's), where passes are rendered: ``"gmem"``, tile by tile; ``"sysmem"``, at once in memory;
    ``"autotune"``, as Mesa's autotuner chooses (:doc:`/hsr_lrz`).
    ``strict``: passes and dispatches that read, or may read, what nobody wrote (images, and attachments with ``load_op="dont_care"`` within
    a pass) are an :class:`UndefinedContentsError` before they are executed; else an :class:`UndefinedContentsWarning`, once for each place.

    ``isolate_compiler``: shaders are compiled in processes of their own (the program ``tilegpu-compiler`` of the package; glslang and
    SPIRV-Tools work there on every device), so that one that makes the compiler crash or hang is a :class:`ShaderError`, one that makes it
    want too much memory an :class:`OutOfMemoryError`, and Ctrl-C interrupts it; what it costs says :doc:`/reliability`.
    ``compile_timeout``: with it, seconds of processor time that a shader's GLSL, its validation or one function of its code may take, 0
    for 60; four times as many by the clock. ``compile_memory``: bytes of
    address space that such a process may have beyond those it begins with, 2**25 or more, 0 for 2**30, or for ``TILEGPU_MEMORY_MB`` where
    that is less.

    None but ``ordered_atomics`` and ``lrz_flush`` changes a single bit of the result of a program without races (the few exceptions:
    :doc:`/undefined`). Threads are made at the first pass, and anew in
    a forked child. A device lives as long as something names it, and has nothing to close: ``with tilegpu.Device() as dev:`` is taken,
    and leaving the block ends nothing.
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
        loop_budget: int = 0,
        indirect_budget: int = 0,
        lrz_flush: bool = True,
        render_mode: str = "gmem",
        isolate_compiler: bool = False,
        compile_timeout: float = 0,
        compile_memory: int = 0,
        strict: bool = False,
        label: str = "",
    ) -> None:
        for name, value in (
            ("threads", threads),
            ("lanes", lanes),
            ("bin_px", bin_px),
            ("vertex_batch", vertex_batch),
            ("tiler_heap", tiler_heap),
            ("loop_budget", loop_budget),
            ("indirect_budget", indirect_budget),
            ("compile_memory", compile_memory),
        ):
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 <= value <= _LIMITS.get(name, 0xFFFFFFFF):
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
        folder = files.place(cache_dir)
        asked = arguments.number(compile_timeout, "Device: compile_timeout"), int(compile_memory)
        limits = asked if arguments.flag(isolate_compiler, "Device: isolate_compiler") else None
        if limits is None and any(asked):
            raise ValidationError(
                "Device: compile_timeout and compile_memory are limits of a process that compiles; give isolate_compiler too"
            )
        if profile not in (known := _core.profile_names().split(", ")):
            meant = "".join(f"did you mean '{name}'? " for name in near_names(profile, known)[:1])
            raise ValidationError(f"Device: profile '{profile}' is not known; {meant}there are {', '.join(known)}")
        core = _core.Device(
            profile,
            threads,
            lanes,
            jit_target,
            bin_px,
            vertex_batch,
            os.fsencode(folder),  # the bytes that the system has; they may be no UTF-8
            tiler_heap,
            None if isinstance(hsr, str) and hsr == "default" else parse_hsr(hsr, profile, "Device"),
            arguments.flag(compress_samples, "Device: compress_samples"),
            arguments.flag(ordered_atomics, "Device: ordered_atomics"),
            int(loop_budget),
            int(indirect_budget),
            arguments.flag(lrz_flush, "Device: lrz_flush"),
            _render_mode(render_mode),
            limits,
        )
        super().__init__(core, profile, arguments.flag(strict, "Device: strict"))
        if tiler_heap and bins_nothing(profile):
            said = f"Device: tiler_heap splits no pass on {profile}, which bins nothing; leave it out"
            warnings.warn(said, UnusedNameWarning, stacklevel=users_level())
        self.compiler_limits = limits
        self._options = DeviceOptions(limits, _render_mode(render_mode), tiler_heap, vertex_batch, lrz_flush, ordered_atomics,
                                      int(loop_budget), int(indirect_budget))  # fmt: skip
        self._say_no_cache(folder)

    def _say_no_cache(self, asked: str) -> None:
        """Warns, once for each folder and cause, where compiled shaders can't be kept."""
        why = self.info["cache_off_because"]
        if asked == "off" or not why or (asked, why) in _NO_CACHE:
            return
        _NO_CACHE.add((asked, why))
        folder = f"cache_dir is {asked!r}, but " if asked else ""
        warnings.warn(
            f"Device: {folder}compiled shaders can't be kept, so each run compiles them anew: {why} "
            "(cache_dir='off' says that no cache is meant)",
            CacheWarning,
            stacklevel=users_level(),
        )

    @property
    def info(self) -> dict[str, Any]:
        """CPU, lanes, threads, LLVM, cache directory (and why there is none), profile, vertices of a batch (0: ranges of indices)."""
        return Named("dev.info", self.core.info())

    @property
    def hsr(self) -> tuple[str, ...]:
        """The hidden-surface removal of passes that do not choose their own; names as :mod:`tilegpu.hsr` has them."""
        return hsr_names(self.core.hsr)

    @property
    def compile_stats(self) -> dict[str, Any]:
        """Pipelines, functions compiled or found in the cache, milliseconds; those that wait for their optimised code."""
        return Named("dev.compile_stats", self.core.compile_stats())

    @property
    def cache_files(self) -> tuple[str, ...]:
        """Names of files in the disk cache (``info["cache_dir"]``) that this device has read or written: compiled shaders, and what is
        known of them. Empty where the cache is off. The files are authentic on this machine alone: :meth:`cache_entries`."""
        return tuple(self.core.cache_files())

    def cache_entries(self) -> dict[str, bytes]:
        """What :attr:`cache_files` names, as bytes for :meth:`add_cache_entries` of a device on another machine."""
        entries = {name: self.core.export_cache_entry(name) for name in self.cache_files}
        return {name: entry for name, entry in entries.items() if entry}

    def add_cache_entries(self, entries: Mapping[str, bytes]) -> int:
        """Puts entries of another device's :meth:`cache_entries` into this one's disk cache; returns how many are there now. They are
        machine code that will run here: take them only from who may do that. Files of a cache that are copied by hand are compiled
        anew, as each user's cache has a key of its own. Raises :class:`ValidationError` for what is no mapping of names to bytes."""
        if not isinstance(entries, Mapping):
            raise ValidationError(f"add_cache_entries: entries is {arguments.shown(entries)}; it must be what cache_entries() gave")
        added = 0
        for name, entry in entries.items():
            if not isinstance(entry, bytes):
                raise ValidationError(f"add_cache_entries: {arguments.shown(name)} is {arguments.shown(entry)}; it must be bytes")
            added += self.core.import_cache_entry(arguments.text(name, "add_cache_entries: a name"), entry)
        return added

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

        ``samples``: 1, 2, 4, 8 or 16. ``transient``: an attachment that lives in tile memory, and can't be
        sampled; it gets memory when a pass asks for it (``store_op="store"``, or a split).
        ``mip_levels``: ``None`` for the whole chain. ``cube``: 6 square layers. ``usage``: by default everything
        that the format allows, copies too; what is done with it otherwise is an error.
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

        ``pixels``: (H, W), (H, W, C), or with layers (L, H, W, C); a path or a Pillow image are read through Pillow, ``.exr``
        (``pip install "tilegpu[exr]"``) and ``.hdr`` as the floats that they hold. Integers of the format's width are stored as they are,
        floats are converted (linear light for ``*_srgb``); RGB gets an alpha of 1. ``format``: by default
        ``*_unorm`` or ``*_sfloat`` of the array's width, of files too: say ``"r8g8b8a8_srgb"`` for pictures of colours, which would look
        washed out in ``*_srgb`` images. A grey file or Pillow image is sampled as grey: it becomes colours in a format
        that has them, and by default has one component, which the texture shows as red, green and blue (``swizzle``); an array
        (H, W) is red, as is a format of one component that you give. ``mipmaps``: ``True`` makes the chain by 2x2 boxes (not of integers);
        a sequence of arrays is levels 1 and
        up. ``cube``: 6 layers +x, -x, +y, -y, +z, -z. ``type``: ``"1d"`` for shaders with ``sampler1D``; pixels are
        (W,), (W, C) or (L, W, C) then; ``"3d"`` for ``sampler3D``: (D, H, W) or (D, H, W, C), slices of a volume. The sampler's parameters
        (``filter``, ``address`` and the others) are those of :meth:`sampler`; ``sampler`` takes a ready one. Of a
        multi-planar ``format`` pixels are a list of its planes: luma (H, W),
        then chroma of its own height and width, (H, W, 2) as Cb, Cr, or (H, W) twice; ``ycbcr`` says how they become RGB.
        """
        name = arguments.text(label, "texture: label") or (
            str(pixels) if isinstance(pixels, (str, os.PathLike)) else ""
        )
        what = f"texture '{name}'" if name else "texture"
        if unknown := [key for key in sampling if key not in SamplerOptions.__annotations__]:
            keywords.no_such("dev.texture", unknown, [*keywords.names_of(Device.texture), *SamplerOptions.__annotations__])
        if sampler is not None and not isinstance(sampler, Sampler):
            raise ValidationError(f"{what}: sampler is {arguments.shown(sampler)}; it must be a sampler (dev.sampler)")
        if sampler is not None and sampling:
            raise ValidationError(f"{what}: sampler= is given and {', '.join(sampling)} too; give one or the other")
        chosen = Sampler(**sampling) if sampler is None else sampler
        if not isinstance(mipmaps, bool):
            mipmaps = arguments.sequence(mipmaps, f"{what}: mipmaps", "it must be True, False or a list of levels")
        if not isinstance(type, str) or type not in ("1d", "2d", "3d"):
            raise ValidationError(f"{what}: type is {arguments.shown(type)}; it must be '1d', '2d' or '3d'")
        if cube is True and type != "2d":
            raise ValidationError(f"{what}: cube=True and type='{type}'; a cube is of type '2d'")
        info = None if format is None else enums.parse_format(format, f"{what}: format")
        if info is not None and info.planes:
            _check_conversion(info, chosen, mipmaps, what)
            return Texture(self._planes(pixels, info, what, name), chosen)
        given = [numbers_of(p, what) for p in (pixels, *([] if isinstance(mipmaps, bool) else mipmaps))]
        levels = [layers_of(p, what, type) for p, _ in given]
        base = levels[0]
        count, height, width = base.shape[:3]
        grey = all(one for _, one in given) and info is None
        if info is None:
            info = enums.parse_format(default_texture_format(base, what), what)
        levels = [as_colors(level, info) if one else level for level, (_, one) in zip(levels, given, strict=True)]
        _check_conversion(info, chosen, mipmaps, what)
        extent = {"1d": (width,), "2d": (width, height), "3d": (width, height, count)}[type]
        chain = max(extent).bit_length()
        if len(levels) > chain:
            sizes = "x".join(map(str, extent))
            raise ValidationError(f"{what}: {len(levels) - 1} mipmaps given; a {sizes} image has {chain - 1}")
        image = self.image(
            extent,
            info.name,
            mip_levels=None if mipmaps is True else len(levels),
            layers=1 if type == "3d" else count,
            cube=cube,
            label=name,
        )
        for level, array in enumerate(levels):
            size = (max(1, height >> level), max(1, width >> level))
            there = max(1, count >> level) if type == "3d" else count
            if array.shape[0] != there or array.shape[1:3] != size:
                parts = "slice(s)" if type == "3d" else "layer(s)"
                raise ValidationError(
                    f"{what}: level {level} has shape {array.shape[1:3]} and {array.shape[0]} {parts}; it must be {size} and {there}"
                )
            if "depth" in info.aspects:  # as writes check it; bytes are codes of 0 to 1
                array = array.astype(np.float32) / np.float32(255) if array.dtype == np.uint8 else array
                image.write(array, level=level, aspect="depth")
                continue
            if type == "3d":
                image.write(array, level=level)
                continue
            for layer in range(count):
                image.core.write(level, layer, texels_of(array[layer], info, what))
        if mipmaps is True and image.mip_levels > 1:
            self.generate_mipmaps(image)
        return Texture(image, chosen, swizzle="rrr1" if grey else None)

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
        """A buffer with a copy of an array or bytes, or of a size in bytes, then zero. Lists become floats or integers of 32 bits;
        whole numbers that these don't hold keep 64.

        ``usage``: some of ``"uniform"``, ``"storage"``, ``"vertex"``, ``"index"``, ``"indirect"``,
        ``"uniform_texel"``, ``"storage_texel"``, ``"transfer_src"``, ``"transfer_dst"``, ``"shader_device_address"``,
        ``"conditional_rendering"``, ``"transform_feedback"``, ``"transform_feedback_counter"``,
        joined by ``|``; by default all. What is done with it otherwise is an error. Fields of shape (rows, columns) of a structured array
        are matrices and are transposed to the shader's columns; matrices of an array without fields are not, and binding them as such is
        an error.
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
        return DescriptorSetLayout(self.core, bindings, update_after_bind, partially_bound, label)

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
        own then. The pass's statistics count its draws, and the pass's condition holds for them.
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
        window: Sequence[int] | None = None,
        framebuffer: Framebuffer | None = None,
        shading_rate: Any = None,
    ) -> RenderPass:
        """A render pass, to be used in a ``with`` block.

        ``color``: attachments (:class:`tilegpu.Attachment`, or images, which are then loaded and stored); ``None``
        leaves a slot unused.
        ``area``: (x, y, width, height) in pixels, by default all; outside of it nothing changes. A pass without attachments, whose shaders
        write buffers and images alone, needs it, as nothing else says how large the pass is. ``layers``: of
        layered rendering, from each attachment's on; gl_Layer chooses one (0 where it isn't written), and what is drawn to one that
        is not there is drawn nowhere. ``view_mask``: instead, a bit for each view (VK_KHR_multiview): every draw goes once to each
        layer whose bit is set, whose number is gl_ViewIndex.
        ``samples``: renders single-sampled images with so many samples, which are resolved as they are stored.
        ``window``: (x, y, width, height): the attachments hold the part of a picture of ``width`` x ``height`` pixels (up to 65,534 each
        way) that begins at its pixel (x, y), multiples of 64. Viewports, scissors, ``area`` and gl_FragCoord are the picture's, and what
        is drawn is what one pass over all of it draws there, to the bit.
        ``framebuffer``: instead of attachments and area: pieces of one's own (:meth:`framebuffer`).
        ``shading_rate``: (image, (width, height)): an image or view of r8_uint, each texel of which is the fragment size of so many pixels
        of the framebuffer (powers of two, 8 to 64): log2 of the fragment's width times 4, and log2 of its height. Pipelines take it over
        by their second combiner (``fragment_shading_rate``). It is read as the pass is executed.
        ``hsr``: this pass's hidden-surface removal (:mod:`tilegpu.hsr`); ``None`` for the device's.
        ``trace``: ``True``: keep what moved for each tile, for :meth:`RenderPass.tiles`; ``"fragments"``: that, and what became of
        every fragment (:meth:`RenderPass.heatmap`, costs in :meth:`RenderPass.explain`) of this very execution; a pixel ``(x, y)`` or a
        list of them: that, and their histories (:meth:`RenderPass.why`). The last two take several times as long.

        Leaving the block submits and waits; ``rp.stats`` then says what the pass cost. An exception inside discards
        the pass and leaves the
        images as they were. Ctrl-C ends a long pass.
        """
        made = object.__new__(RenderPass)
        _begin_pass(made, self, color, depth, stencil, area, layers, samples, label, hsr, trace, view_mask, window, framebuffer,
                    shading_rate)  # fmt: skip
        return made

    def framebuffer(
        self,
        layout: FramebufferLayout,
        load: Mapping[str, Any] | None = None,
        store: Mapping[str, Any] | None = None,
        resolve: Mapping[str, Any] | None = None,
        desc: FramebufferDesc | None = None,
        *,
        label: str = "framebuffer",
    ) -> Framebuffer:
        """A framebuffer of one's own, for ``render_pass(framebuffer=...)``: where images of load and store differ, or targets are
        resolved into one another. Passes over attachments need none.

        ``layout``: a :class:`tilegpu.FramebufferLayout`: formats, size, samples, area. The others are by target (``"color0"``, ``"depth"``,
        ``"stencil"``): ``load``: :class:`tilegpu.Load` or an image; ``store``: :class:`tilegpu.Store` or an image; ``resolve``:
        :class:`tilegpu.Resolve`, an image, or the name of a target. What none of them names lives in tile memory alone. ``desc``: a
        :class:`tilegpu.FramebufferDesc`. Raises :class:`ValidationError` for what a pass of it couldn't do.
        """
        return Framebuffer(self, layout, load, store, resolve, desc, label)

    def frame(self, label: str = "frame", *, strict: bool = False, outputs: Any = ()) -> Frame:
        """What is done on the device in its ``with`` block, as a graph: passes, dispatches, copies, and what flows between them::

            with dev.frame("shadowed") as f:
                with dev.render_pass(depth=shadow_map, ...) as rp: ...
                with dev.render_pass(color=[out], ...) as rp: ...        # samples shadow_map
            print(f)                     # nodes, and what was stored here, loaded and sampled there
            print(f.stats)               # added up
            print("\\n".join(f.lint()))  # across passes, with the bytes that each change saves
            f.replay()                   # all of it again

        Nothing else changes: each pass is executed as it ends. ``strict``: what reads contents that nobody wrote, or may, is an
        :class:`UndefinedContentsError` before it is executed; else ``f.lint()`` says so. ``outputs``: images that the frame is drawn for;
        by default what its last pass stores in colour, and what the program has read. Frames don't nest. See :class:`Frame`.
        """
        made = object.__new__(Frame)
        _begin_frame(made, self, label, strict, outputs)
        return made

    @property
    def open_frame(self) -> Frame | None:
        """The frame whose ``with`` block is open, if there is one."""
        frame: Frame | None = self._frame
        return frame

    # -- copies outside passes; all of them have happened when the call returns

    copy = copies.copy
    blit = image_commands.blit
    clear = image_commands.clear
    generate_mipmaps = image_commands.generate_mipmaps
    resolve = image_commands.resolve

    def capture(self, path: str | os.PathLike[str]) -> Done:
        """The next pass is written to a file just before it is executed: with what its images and buffers hold then. Warns where none came
        before the device or the process ends.

        See :meth:`tilegpu.RenderPass.capture`, for a pass that ended. Raises :class:`ValidationError` for a path that can't be written to.
        """
        path = arguments.path(path, "device: capture: path")
        problem = files.output_problem(path) or files.suffix_problem(path, "captures")
        if problem:
            raise ValidationError(f"device: capture: {problem}")
        if self._next_capture is not None:
            lost = f"device: capture: no pass ended since {self._next_capture} was asked for, which is not written now"
            warnings.warn(f"{lost}; the next pass goes to {os.fsdecode(path)}", UnusedNameWarning, stacklevel=users_level())
        self._capture_next(place := files.place(path))
        return next_capture(functools.partial(_take_back, weakref.ref(self), place))

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing: what it made may be in use, and goes with its names."""

    def load_capture(self, path: str | os.PathLike[str]) -> Replay:
        """Reads a capture; its ``run()`` draws it. Files from strangers are safe to read: what is wrong with one is an error."""
        return Replay(self, arguments.path(path, "device: load_capture: path"))

    def _repr_html_(self) -> str:
        info, title = self.info, f"device '{self.label}'" if self.label else "device"
        names = ("profile", "cpu", "threads", "lanes", "llvm_version", "cache_dir")
        rows = [(name.removesuffix("_dir").removesuffix("_version").replace("llvm", "LLVM"), str(info[name])) for name in names]
        return notebook.table(title, (), [*rows, ("hidden-surface removal", ", ".join(self.hsr) or "off")])

    def __repr__(self) -> str:
        info = self.info
        name = f" '{self.label}'" if self.label else ""
        return f"<tilegpu.Device{name}, profile {self.profile}, {info['threads']} threads, {info['lanes']} lanes>"
