"""Images, views and textures; pixels to NumPy and to files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, enums, notebook, picture_file
from tilegpu.context import Context
from tilegpu.errors import UndefinedContentsError, ValidationError
from tilegpu.sampler import Sampler
from tilegpu.texels import samples_side_by_side, to_pillow
from tilegpu.ycbcr import SamplerYcbcrConversion

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_ASPECT_BITS: dict[str, int] = _core.ENUMS["image_aspect"]
_REMAINING = _MAX_U32 = 0xFFFFFFFF


class Image:
    """An image: attachment, texture, storage image, or all of them. Made by :meth:`tilegpu.Device.image` and
    :meth:`tilegpu.Device.texture`.

    ``size`` is (width, height) in pixels; row 0 is the top row. In arrays the shape is (height, width[, samples],
    components). ``type``: ``"1d"``, ``"2d"`` or ``"3d"``; ``depth``: the slices of a 3D image, each read and drawn to as a ``layer``.
    ``planes``: of a multi-planar format an image each, with the plane's format and size: pixels are theirs, and they can be copied,
    sampled and drawn to like others. Elsewhere ``()``.
    """

    def __init__(
        self,
        device: Context,
        core: _core.Image,
        size: tuple[int, int],
        format_: enums.FormatInfo,
        *,
        samples: int,
        mip_levels: int,
        layers: int,
        cube: bool,
        transient: bool,
        tiling: str,
        label: str,
        depth: int = 1,
        type_: str = "2d",
    ) -> None:
        self.core = core
        self.size = size
        self.format_info = format_
        self.samples = samples
        self.mip_levels = mip_levels
        self.layers = layers
        self.cube = cube
        self.transient = transient
        self.tiling = tiling
        self.label = label
        self.depth = depth
        self.type = type_
        self._device = device
        self._views: dict[tuple[Any, ...], ImageView] = {}
        self._host_reads = 0  # how often its pixels went to the program: frames tell by it what is read by nobody
        self.planes: tuple[Image, ...] = tuple(
            Image(
                device,
                plane,
                size if k == 0 else (size[0] // format_.chroma_px[0], size[1] // format_.chroma_px[1]),
                format_.planes[k],
                samples=1,
                mip_levels=1,
                layers=layers,
                cube=False,
                transient=False,
                tiling=tiling,
                label=f"{label} (plane {k})",
            )
            for k, plane in enumerate(core.planes)
        )

    @classmethod
    def create(
        cls,
        device: Context,
        size: Sequence[int],
        format_: Any,
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
        """See :meth:`tilegpu.Device.image`."""
        label = arguments.text(label, "image: label")
        what = f"image '{label}'" if label else "image"
        samples, cube = arguments.whole(samples, f"{what}: samples"), arguments.flag(cube, f"{what}: cube")
        transient = arguments.flag(transient, f"{what}: transient")
        info = enums.parse_format(format_, what)
        sizes = _sizes_of(size, what)
        (width, height, depth), type_ = (*sizes, 1, 1)[:3], f"{len(sizes)}d"
        label = label or f"{'x'.join(str(v) for v in sizes)} {info.name}" + (f" {samples}x" if samples != 1 else "")
        what = f"image '{label}'"
        layers = (6 if cube else 1) if layers is None else arguments.whole(layers, f"{what}: layers")
        if not 1 <= layers <= _MAX_U32:
            raise ValidationError(f"{what}: layers is {layers}; it must be at least 1")
        if not 0 <= samples <= _MAX_U32:
            raise ValidationError(f"{what}: samples is {samples}, allowed is 1, 2, 4, 8 or 16")
        full_chain = max(width, height, depth).bit_length()
        levels = full_chain if mip_levels is None else arguments.whole(mip_levels, f"{what}: mip_levels")
        if not 1 <= levels <= full_chain:
            raise ValidationError(
                f"{what}: mip_levels is {mip_levels}; a {'x'.join(str(v) for v in sizes)} image has 1 to {full_chain} (None for all)"
            )
        if cube and (layers % 6 or width != height):
            raise ValidationError(
                f"{what}: cube=True takes square images with 6 layers a cube; this is {width}x{height} with {layers} layers"
            )
        mask = (
            _default_usage(info, transient, tiling)
            if usage is None
            else enums.parse_flags("image_usage", usage, f"{what}: usage", {"transient": "transient_attachment"})
        )
        core = _core.Image(
            info.number,
            width,
            height,
            levels,
            layers,
            samples,
            mask,
            cube,
            enums.parse("image_tiling", tiling, f"{what}: tiling"),
            label,
            enums.parse("image_type", type_, f"{what}: size"),
            depth,
        )
        if not transient:
            core.ensure_memory()
        return cls(
            device,
            core,
            (width, height),
            info,
            samples=samples,
            mip_levels=levels,
            layers=layers,
            cube=cube,
            transient=transient,
            tiling=tiling,
            label=label,
            depth=depth,
            type_=type_,
        )

    @property
    def device(self) -> Context:
        """The device that made it."""
        return self._device

    @property
    def width(self) -> int:
        """Pixels."""
        return self.size[0]

    @property
    def height(self) -> int:
        """Pixels."""
        return self.size[1]

    @property
    def format(self) -> str:
        """Vulkan's name, lower case, without prefix."""
        return self.format_info.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of :meth:`numpy`: (height, width[, samples], components)."""
        components = 1 if self.format_info.is_depth_stencil else self.format_info.component_count
        return (self.height, self.width, *((self.samples,) if self.samples > 1 else ()), components)

    def view(
        self,
        type: str | None = None,
        format: str | None = None,
        aspect: str | None = None,
        level: int = 0,
        levels: int | None = None,
        layer: int = 0,
        layers: int | None = None,
        swizzle: str | None = None,
        ycbcr: SamplerYcbcrConversion | None = None,
    ) -> ImageView:
        """A view of some levels and layers; of a 3D image as ``"2d"`` or ``"2d_array"``, some slices of one level.

        ``type``: ``"2d"``, ``"2d_array"``, ``"cube"``, ...; by default what the image is. ``levels`` and
        ``layers``: how many, ``None`` for the
        rest. ``swizzle``: four letters of ``rgba01``, such as ``"rrr1"``. ``aspect``: ``"depth"``, ``"stencil"``, or ``"plane_0"`` to
        ``"plane_2"`` of a multi-planar image. ``ycbcr``: a conversion, which views of multi-planar and packed 4:2:2 images have.
        """
        if (plane := plane_of(self, aspect)) is not self:
            return plane.view(type, format, None, level, levels, layer, layers, swizzle, ycbcr)
        what = f"view of image '{self.label}'"
        level, layer = self._u32(level, f"{what}: level"), self._u32(layer, f"{what}: layer")
        levels = None if levels is None else self._u32(levels, f"{what}: levels")
        layers = None if layers is None else self._u32(layers, f"{what}: layers")
        if type is None:
            type = (
                ("cube" if self.layers == 6 else "cube_array")
                if self.cube
                else f"{self.type}_array"
                if self.layers > 1 and layers != 1
                else self.type
            )
        kind = enums.parse("image_view_type", type, f"view of image '{self.label}': type")
        number = (
            self.format_info.number
            if format is None
            else enums.parse_format(format, f"view of image '{self.label}'").number
        )
        aspects = 0 if aspect is None else _ASPECT_BITS[self._aspect(aspect)]
        components = enums.parse_swizzle(swizzle, f"{what}: swizzle")  # before the key: it must be text
        key = (kind, number, aspects, level, levels, layer, layers, swizzle, ycbcr)
        found = self._views.get(key)
        if found is None:
            core = _core.ImageView(
                self.core,
                kind,
                number,
                aspects,
                level,
                _REMAINING if levels is None else levels,
                layer,
                _REMAINING if layers is None else layers,
                components,
                None if ycbcr is None else ycbcr.core,
            )
            found = self._views[key] = ImageView(self, core, enums.name_of("image_view_type", kind), level, layer, levels, layers)
        return found

    def _plane(self, aspect: str) -> Image | None:
        """The plane that an aspect is."""
        number = {"plane_0": 0, "plane_1": 1, "plane_2": 2}.get(aspect, -1) if isinstance(aspect, str) else -1
        return self.planes[number] if 0 <= number < len(self.planes) else None

    @staticmethod
    def _u32(value: Any, what: str) -> int:
        if isinstance(value, int) and 0 <= value <= _MAX_U32:
            return value
        number = arguments.whole(value, what)
        if not 0 <= number <= _MAX_U32:
            raise ValidationError(f"{what} is {number}; it must be 0 to {_MAX_U32}")
        return number

    def _aspect(self, aspect: str | None) -> str:
        have = self.format_info.aspects
        if aspect is None:
            return have[0]
        if not isinstance(aspect, str) or aspect not in have:
            raise ValidationError(
                f"image '{self.label}' has format {self.format} without aspect {arguments.shown(aspect)}; "
                f"it has: {', '.join(have)}"
            )
        return aspect

    def _require_readable(
        self, aspect: str | None, level: int, layer: int, rect: tuple[int, int, int, int] | None = None
    ) -> str:
        """The aspect's name; ``rect``: only of this (x, y, width, height), which the core has to check."""
        name = self._aspect(aspect)
        level = arguments.whole(level, f"image '{self.label}': level")
        layer = arguments.whole(layer, f"image '{self.label}': layer")
        if not 0 <= level < self.mip_levels or not 0 <= layer < self._layer_count(level):
            raise ValidationError(
                f"image '{self.label}': level {level}, layer {layer} does not exist; "
                f"it has {self.mip_levels} levels and {self._layer_count(max(level, 0))} layers"
            )
        width, height, _ = self._level_size(level)
        if rect is not None and not (0 <= rect[0] < rect[0] + rect[2] <= width and 0 <= rect[1] < rect[1] + rect[3] <= height):
            return name
        reason = self.core.why_undefined(_ASPECT_BITS[name], level, layer, rect)
        if reason:
            fix = "give its attachment store_op='store'"
            if self.samples > 1:
                fix += ", or resolve it into a single-sampled image with resolve= and read that"
            where = "" if self.mip_levels == self._layer_count(0) == 1 else f" of level {level}, layer {layer}"
            raise UndefinedContentsError(
                f"image '{self.label}': its {name} contents{where} are undefined: {reason}; {fix}"
            )
        return name

    def _require_all_readable(
        self,
        aspects: Sequence[str],
        level: int,
        first: int,
        count: int,
        rect: tuple[int, int, int, int] | None = None,
    ) -> None:
        """So many layers or slices."""
        for aspect in aspects:
            for layer in range(first, first + count):
                self._require_readable(aspect, level, layer, rect)

    def _level_size(self, level: int, pos: Sequence[int] = (0, 0, 0)) -> tuple[int, int, int]:
        """Width, height and depth of a level from a position on."""
        level = arguments.whole(level, f"image '{self.label}': level")
        must = "it must be (x, y) in pixels, or (x, y, z) of a 3D image"
        x, y, z = arguments.vector(pos, 0, f"image '{self.label}': position", must)
        if not 0 <= level < self.mip_levels:
            raise ValidationError(f"image '{self.label}': level {level} does not exist; it has {self.mip_levels}")
        depth = max(1, self.depth >> level) - z if self.type == "3d" else 1
        return max(1, self.width >> level) - x, max(1, self.height >> level) - y, depth

    def _layer_count(self, level: int) -> int:
        """Layers, or the slices of a 3D image."""
        return max(1, self.depth >> level) if self.type == "3d" else self.layers

    def _linear_copy(self, level: int, layer: int, aspect: str) -> _core.Image:
        width, height, _ = self._level_size(level)
        copy = Image.create(
            self._device, (width, height), self.format, samples=self.samples, label=f"copy of {self.label}"
        )
        bit = _ASPECT_BITS[aspect]
        self._device._run(
            lambda cb: cb.copy_image(
                self.core,
                copy.core,
                [((bit, level, layer, 1), (0, 0, 0), (bit, 0, 0, 1), (0, 0, 0), (width, height, 1))],
            )
        )
        return copy.core

    def numpy(self, level: int = 0, layer: int = 0, aspect: str | None = None) -> NDArray[Any]:
        """Copy of one level of one layer: shape (H, W, C), with more than one sample (H, W, samples, C).

        Components of 8, 16 or 32 bits keep their bits: ``*_unorm`` and ``*_srgb`` are unsigned integers (sRGB stays
        encoded), ``*_sfloat``
        floats. Packed formats become float32 (or 32-bit integers where they hold integers). Order is R, G, B, A
        whatever the memory order. Compressed formats become float32, as shaders read them (``*_srgb``: linear).
        Packed 4:2:2 is (H, W / 2, 4) words as they lie in memory; of a multi-planar image ``aspect`` is ``"plane_0"`` to ``"plane_2"``.
        Depth is float32 and stencil uint8, with C = 1; ``aspect`` is ``"depth"`` (default) or ``"stencil"``.

        Raises :class:`UndefinedContentsError` for a level and layer that was never stored.
        """
        if (plane := plane_of(self, aspect)) is not self:
            return plane.numpy(level, layer)
        name = self._require_readable(aspect, level, layer)
        self._require_pixels()
        self._host_reads += 1
        source = self.core if self.tiling == "linear" else self._linear_copy(level, layer, name)
        if source is not self.core:
            level = layer = 0
        return source.read(_ASPECT_BITS[name], int(level), int(layer))

    def _require_pixels(self) -> None:
        if self.planes:
            formats = ", ".join(f"planes[{k}] of {p.format}" for k, p in enumerate(self.planes))
            raise ValidationError(f"image '{self.label}' of {self.format} has no pixels of its own; read its planes: {formats}")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Read-only view of level 0, layer 0 without a copy, where the format and tiling allow it."""
        name = self._require_readable(None, 0, 0)
        self._require_pixels()
        self._host_reads += 1
        if self.samples > 1:
            raise ValidationError(
                f"np.asarray: image '{self.label}' has {self.samples} samples; "
                "resolve it (resolve= of its attachment) or use image.numpy(), "
                f"which gives (H, W, {self.samples}, C)"
            )
        view = self.core.view(_ASPECT_BITS[name], 0, 0)
        if view is None:
            why = f"tiling {self.tiling}" if self.tiling != "linear" else f"format {self.format}"
            raise ValidationError(
                f"np.asarray: image '{self.label}' of {why} can't be viewed as an array; use image.numpy(), a converted copy"
            )
        if dtype is not None and np.dtype(dtype) != view.dtype:
            if copy is False:
                raise ValidationError(
                    f"np.asarray: image '{self.label}' is {view.dtype}, not {np.dtype(dtype)}; that needs a copy"
                )
            return view.astype(dtype)
        return view.copy() if copy else view

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        aspect: str | None = None,
        sample: int | None = None,
        level: int = 0,
        layer: int = 0,
        quality: int | None = None,
    ) -> None:
        """Writes a picture, in the format of the suffix; ``.npy``: the array of :meth:`numpy`.

        ``.exr`` keeps floats as they are (float16, float32; depth as channel Z; uint32), with the package OpenEXR (``tilegpu[exr]``).
        All others have 8 bits: floats are clamped to 0..1, 16-bit values rounded, integers clamped to 0..255; depth is
        grey, 1 white. ``.png``, ``.webp``, ``.tga``, ``.tif``, ``.bmp``, ``.ppm`` are lossless, ``.jpg`` and ``.gif`` (256 colours) are
        not. The last four have no alpha: the colours are written as they are. ``quality``: 1 to 100, of ``.jpg`` (default 95), and of
        ``.webp``, which it makes lossy. An image with more than one sample needs ``sample=`` (or ``.npy``, which takes all).

        Raises :class:`tilegpu.ValidationError` for a suffix or a format that does not fit, and names those that do.
        """
        target = os.fspath(path)
        suffix = picture_file.suffix_of(target, f"image '{self.label}'")
        picture_file.check_quality(quality, suffix, f"image '{self.label}'")
        name = self._require_readable(aspect, level, layer)
        if sample is not None and not 0 <= arguments.whole(sample, f"image '{self.label}': sample") < self.samples:
            raise ValidationError(f"image '{self.label}': sample is {sample}; it has samples 0 to {self.samples - 1}")
        if suffix == ".npy":
            array = self.numpy(level, layer, name)
            np.save(target, array[:, :, sample] if sample is not None and self.samples > 1 else array)
            return
        if suffix == ".exr":
            self._require_one_sample(sample)
            array = self.numpy(level, layer, name)
            one = array[:, :, sample] if self.samples > 1 else array
            picture_file.save_exr(one, target, f"image '{self.label}' of {self.format}", depth=name == "depth")
            return
        picture_file.save_picture(self._pillow(name, sample, level, layer), target, suffix, f"image '{self.label}'", quality)

    def _require_one_sample(self, sample: int | None) -> None:
        """Of a picture; and pixels at all."""
        self._require_pixels()
        if self.format_info.needs_conversion:
            raise ValidationError(f"image '{self.label}' of {self.format} is no picture; draw it with a conversion, or save as .npy")
        if self.samples > 1 and sample is None:
            raise ValidationError(
                f"image '{self.label}' has {self.samples} samples; resolve it (resolve= of its attachment), "
                f"or save one with sample=0 to {self.samples - 1}, or all as .npy"
            )

    def _pillow(self, aspect: str, sample: int | None, level: int, layer: int) -> Any:
        self._require_one_sample(sample)
        array = self.numpy(level, layer, aspect)
        if self.samples > 1:
            array = array[:, :, sample]
        return to_pillow(array, self.format_info)

    def _repr_png_(self) -> bytes | None:
        """Level 0 of layer 0; of several samples all, beside and below each other. ``None`` where nothing is stored, or is no picture."""
        if self.planes or self.format_info.needs_conversion or self.core.why_undefined(_ASPECT_BITS[self._aspect(None)], 0, 0):
            return None
        import io

        stream = io.BytesIO()
        if self.samples > 1:
            to_pillow(samples_side_by_side(self.numpy()), self.format_info).save(stream, format="PNG")
        else:
            self._pillow(self._aspect(None), None, 0, 0).save(stream, format="PNG")
        return stream.getvalue()

    def _repr_html_(self) -> str | None:
        """Says of several samples what the picture is; others are their PNG."""
        png = self._repr_png_() if self.samples > 1 else None
        if png is None:
            return None
        return notebook.picture(png, f"{self.label}: its {self.samples} samples, from left to right, then down")

    def __repr__(self) -> str:
        sizes = (self.width, self.height, self.depth)[: int(self.type[0])]
        parts = [f"{'x'.join(map(str, sizes))} px", self.format]
        if self.samples > 1:
            parts.append(f"{self.samples} samples")
        if self.layers > 1:
            parts.append(f"{self.layers} layers")
        if self.mip_levels > 1:
            parts.append(f"{self.mip_levels} levels")
        if self.transient:
            parts.append("transient")
        return f"<tilegpu.Image '{self.label}', {', '.join(parts)}>"


class ImageView:
    """Some levels and layers of an image, as one type. Made by :meth:`Image.view`."""

    __slots__ = ("core", "image", "layer", "layers", "level", "levels", "type")

    def __init__(
        self,
        image: Image,
        core: _core.ImageView,
        type_: str,
        level: int,
        layer: int,
        levels: int | None = None,
        layers: int | None = None,
    ) -> None:
        self.image, self.core, self.type, self.level, self.layer = image, core, type_, level, layer
        self.levels, self.layers = levels, layers  #: how many, None for all from the first on

    @property
    def format(self) -> str:
        """Format of the image."""
        return self.image.format

    def why_undefined(self, aspect: str | None = None) -> str:
        """Why the contents of its first level and layer are undefined, ``""`` if they are not."""
        image = self.image
        return image.core.why_undefined(_ASPECT_BITS[image._aspect(aspect)], self.level, self.layer)

    def __repr__(self) -> str:
        return f"<tilegpu.ImageView {self.type} of '{self.image.label}'>"


class Texture:
    """An image with a sampler, to be bound as one. Made by :meth:`tilegpu.Device.texture`."""

    __slots__ = ("image", "sampler")

    def __init__(self, image: Image, sampler: Sampler) -> None:
        self.image, self.sampler = image, sampler

    @property
    def format(self) -> str:
        """Format of the image."""
        return self.image.format

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.image.size

    def _repr_png_(self) -> bytes | None:
        return self.image._repr_png_()

    def __repr__(self) -> str:
        return f"<tilegpu.Texture of {self.image!r}, {self.sampler!r}>"


def image_of(value: Any) -> Any:
    """The image of a texture or a view; anything else as it is."""
    return value.image if isinstance(value, (Texture, ImageView)) else value


def plane_of(image: Any, aspect: str | None) -> Any:
    """The plane's own image, where the aspect is one; anything else as it is."""
    if not isinstance(aspect, str) or not aspect.startswith("plane_") or not isinstance(image, Image) or not image.planes:
        return image
    plane = image._plane(aspect)
    if plane is None:
        raise ValidationError(
            f"image '{image.label}' of {image.format} has no {aspect}; it has {len(image.planes)} planes, from plane_0 on"
        )
    return plane


def _sizes_of(size: Any, what: str) -> list[int]:
    """Width, height and depth of a 3D image; without the depth of a 2D, only the width of a 1D."""
    must = "it must be (width, height) in pixels, (width,) for 1d, (width, height, depth) for 3d"
    items = arguments.sequence(size, f"{what}: size", must)
    sizes = arguments.wholes(items, f"{what}: size", min(max(len(items), 1), 3), must)
    limit = _core.MAX_IMAGE_SIZE_PX
    if not all(1 <= v <= limit for v in sizes):
        shown = ", ".join(str(v) for v in sizes)
        raise ValidationError(
            f"{what}: size is ({shown}); width and height must be 1 to {limit} pixels, and so must a depth"
        )
    return sizes


def _default_usage(info: enums.FormatInfo, transient: bool, tiling: str) -> int:
    usage = _core.ENUMS["image_usage"]
    if info.planes:  # what those can do, and only a view with a conversion can't: it is sampled alone
        return _default_usage(info.planes[0], transient, tiling)
    attachment = (
        usage["depth_stencil_attachment"]
        if info.is_depth_stencil
        else usage["color_attachment"]
        if info.color_attachment
        else 0
    )
    if transient:
        return attachment | usage["transient_attachment"] | usage["input_attachment"]
    mask = attachment | usage["transfer_src"] | usage["transfer_dst"]
    if attachment:
        mask |= usage["input_attachment"]
    if "compressed" not in str(tiling).lower():
        mask |= (usage["sampled"] if info.sampled else 0) | (usage["storage"] if info.storage else 0)
    return mask


