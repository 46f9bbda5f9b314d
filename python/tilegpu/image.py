"""Images, views and textures.

In: arguments of :meth:`tilegpu.Device.image`. Out: images of the core with their views; what they hold is in ``image_pixels``.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tilegpu import _core, arguments, enums, keywords, notebook
from tilegpu.context import Context
from tilegpu.errors import ValidationError
from tilegpu.fixed import AsArray, Fixed, NoLength, OfThisProcess, Slotted, makes_things
from tilegpu.image_arguments import default_usage, sizes_of
from tilegpu.image_pixels import ASPECT_BITS, ImagePixels
from tilegpu.sampler import Sampler
from tilegpu.ycbcr import SamplerYcbcrConversion

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from tilegpu.keywords import Never

_REMAINING = _MAX_U32 = 0xFFFFFFFF
_TRANSFERS: int = _core.ENUMS["image_usage"]["transfer_src"] | _core.ENUMS["image_usage"]["transfer_dst"]
_MOST_PARTS = 4096  # levels and layers of a view that are looked at when it is bound


@makes_things
class Image(ImagePixels, Fixed, AsArray, NoLength):
    """An image: attachment, texture, storage image, or all of them. Made by :meth:`tilegpu.Device.image` and
    :meth:`tilegpu.Device.texture`.

    ``size`` is (width, height) in pixels; row 0 is the top row. In arrays the shape is (height, width[, samples],
    components). ``type``: ``"1d"``, ``"2d"`` or ``"3d"``; ``depth``: the slices of a 3D image, each read and drawn to as a ``layer``.
    ``planes``: of a multi-planar format an image each, with the plane's format and size: pixels are theirs, and they can be copied,
    sampled and drawn to like others. Elsewhere ``()``.
    ``texel_blocks``: of a compressed format an image for each level, whose texels are the level's texel blocks. Elsewhere ``()``.
    """

    _in_its_place = ".size is (width, height), and .numpy() is an array, whose length is the number of rows"

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
        usage: int = 0,
    ) -> None:
        self.core = core
        self.usage = usage  #: of VkImageUsageFlagBits; 0: whatever the format allows
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
        self._views: dict[tuple[Any, ...], KeptView] = {}
        self._left: list[Any] = []  # weak: what steps of frames wrote of it and nobody has read (reads_since.py)
        self._texel_blocks: tuple[Image, ...] | None = None  # made when they are asked for
        self._blocks_of: tuple[weakref.ref[Image], int] | None = None  # whose texel blocks it has, of which level
        self._built: dict[str, Any] = {}  # what attachments of it were built to last, by aspect
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
        info = enums.parse_format(format_, f"{what}: format")
        sizes = sizes_of(size, what)
        (width, height, depth), type_ = (*sizes, 1, 1)[:3], f"{len(sizes)}d"
        label = label or f"{'x'.join(str(v) for v in sizes)} {info.name}" + (f" {samples}x" if samples != 1 else "")
        what = f"image '{label}'"
        layers = (6 if cube else 1) if layers is None else arguments.whole(layers, f"{what}: layers")
        if not 1 <= layers <= _MAX_U32:
            raise ValidationError(f"{what}: layers is {layers}; it must be at least 1")
        if not 0 <= samples <= _MAX_U32:
            raise ValidationError(f"{what}: samples is {samples}, allowed is 1, 2, 4, 8 or 16")
        if info.is_depth_stencil and type_ == "3d":
            raise ValidationError(f"{what}: size has three numbers; depth and stencil ({info.name}) are of 1D and 2D images, with layers=")
        full_chain = max(width, height, depth).bit_length()
        levels = full_chain if mip_levels is None else arguments.whole(mip_levels, f"{what}: mip_levels")
        if not 1 <= levels <= full_chain:
            raise ValidationError(
                f"{what}: mip_levels is {levels}; a {'x'.join(str(v) for v in sizes)} image has 1 to {full_chain} (None for all)"
            )
        if cube and (layers % 6 or width != height):
            raise ValidationError(
                f"{what}: cube=True takes square images with 6 layers a cube; this is {width}x{height} with {layers} layers"
            )
        layout = enums.parse("image_tiling", tiling, f"{what}: tiling")
        mask = (
            default_usage(info, transient, layout)
            if usage is None
            else enums.parse_flags("image_usage", usage, f"{what}: usage", {"transient": "transient_attachment"})
        )
        if not mask:
            raise ValidationError(f"{what}: usage is empty; name at least one use, or leave it out for all that the format allows")
        if transient:
            mask |= _core.ENUMS["image_usage"]["transient_attachment"]
        transient = bool(mask & _core.ENUMS["image_usage"]["transient_attachment"])
        core = _core.Image(
            info.number,
            width,
            height,
            levels,
            layers,
            samples,
            mask,
            cube,
            layout,
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
            usage=mask,
        )

    @property
    def device(self) -> Context:
        """The device that made it."""
        return self._device

    @property
    def texel_blocks(self) -> tuple[Image, ...]:
        """Of a compressed format: by level, an image in the same memory whose texels are the level's texel blocks, in ``r32g32_uint`` or
        ``r32g32b32a32_uint``. It is read, written, drawn to and viewed in other formats of that size like any image, as far as
        ``usage`` goes; what is written there is decoded by whoever samples this image. Elsewhere ``()``.
        """
        if self._texel_blocks is None:
            self._texel_blocks = tuple(
                Image(
                    self._device,
                    core,
                    (core.width_px, core.height_px),
                    enums.format_of(core.format),
                    samples=1,
                    mip_levels=1,
                    layers=self.layers,
                    cube=self.cube and core.width_px == core.height_px,
                    transient=False,
                    tiling=self.tiling,
                    label=core.label,
                    depth=core.depth_px,
                    type_=self.type,
                    usage=self.usage,
                )
                for core in self.core.texel_blocks
            )
            for level, blocks in enumerate(self._texel_blocks):
                blocks._blocks_of = weakref.ref(self), level
        return self._texel_blocks

    def _whole(self) -> tuple[Image, int]:
        """The image whose memory this one has, and of which level: what is written here is read there. Of any other image itself."""
        of = self._blocks_of
        whole = None if of is None else of[0]()
        return (self, 0) if of is None or whole is None else (whole, of[1])

    def _views_blocks(self, info: enums.FormatInfo) -> bool:
        """Whether a view of this format has this image's texel blocks for texels."""
        return self.format_info.is_compressed and not info.is_compressed and info.texel_B == self.format_info.texel_B

    def _said_elsewhere(self, name: str) -> str:
        return "it is of the size: make a new one, with size=" if name in ("width", "height", "depth") else ""

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
        min_lod: float = 0.0,
        **unknown: Never,
    ) -> ImageView:
        """A view of some levels and layers; of a 3D image as ``"2d"`` or ``"2d_array"``, some slices of one level.

        ``type``: ``"2d"``, ``"2d_array"``, ``"cube"``, ...; by default what the image is. ``levels`` and
        ``layers``: how many, ``None`` for the
        rest. ``swizzle``: four letters of ``rgba01``, such as ``"rrr1"``. ``aspect``: ``"depth"``, ``"stencil"``, or ``"plane_0"`` to
        ``"plane_2"`` of a multi-planar image. ``ycbcr``: a conversion, which views of multi-planar and packed 4:2:2 images have.
        ``min_lod``: shaders sample no level before it, whatever the sampler says, counted from the image's first level; a ``texelFetch``
        of a level before its whole part gives zeros, and so does a gather where the view's first level is one. ``format``: of a compressed
        image also one that is not compressed, with texels of as many bytes as its texel blocks have: they are its texels, of one level
        (``texel_blocks``).
        """
        if unknown:
            keywords.no_such("image.view", unknown, Image.view)
        if (plane := self.plane_of(aspect)) is not self:
            return plane.view(type, format, None, level, levels, layer, layers, swizzle, ycbcr, min_lod)
        what = f"view of image '{self.label}'"
        level, layer = self._u32(level, f"{what}: level"), self._u32(layer, f"{what}: layer")
        levels = None if levels is None else self._u32(levels, f"{what}: levels")
        layers = None if layers is None else self._u32(layers, f"{what}: layers")
        if format is not None and self._views_blocks(enums.parse_format(format, f"{what}: format")):
            blocks = self._view_of_blocks(what, level, levels)
            least = arguments.number(min_lod, f"{what}: min_lod")
            if not least <= level:
                raise ValidationError(f"{what}: min_lod is {least:g}; a view of texel blocks has level {level} alone")
            return blocks.view(type, format, aspect, 0, 1, layer, layers, swizzle, ycbcr)
        if type is None:
            type = (
                ("cube" if self.layers == 6 else "cube_array")
                if self.cube
                else f"{self.type}_array"
                if self.layers > 1 and layers != 1
                else self.type
            )
        if self.usage and not self.usage & ~_TRANSFERS:
            raise ValidationError(
                f"{what}: the image's usage is of copies alone, which need no view; "
                "create it with 'sampled', 'storage' or an attachment's too"
            )
        kind = enums.parse("image_view_type", type, f"view of image '{self.label}': type")
        self._require_type(enums.name_of("image_view_type", kind), what)
        number = (
            self.format_info.number
            if format is None
            else enums.parse_format(format, f"view of image '{self.label}': format").number
        )
        aspects = 0 if aspect is None else ASPECT_BITS[self._aspect(aspect)]
        components = enums.parse_swizzle(swizzle, f"{what}: swizzle")  # before the key: it must be text
        if ycbcr is not None and not isinstance(ycbcr, SamplerYcbcrConversion):
            must = "it must be what dev.sampler_ycbcr_conversion() gives, or None"
            raise ValidationError(f"{what}: ycbcr is {arguments.shown(ycbcr)}; {must}")
        least = arguments.number(min_lod, f"{what}: min_lod")
        if math.isnan(least):
            raise ValidationError(f"{what}: min_lod is nan; it must be a number")
        key = (kind, number, aspects, level, levels, layer, layers, swizzle, ycbcr, least)
        kept = self._views.get(key)
        if kept is not None:
            return kept.of(self)
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
            least,
        )
        found = ImageView(self, core, enums.name_of("image_view_type", kind), level, layer, levels, layers)
        found.swizzle = "rgba" if swizzle is None else swizzle.lower()
        found.min_lod = max(least - level, 0.0)
        found.view_info = enums.format_of(number)
        if aspects:
            found.aspects = (self._aspect(aspect),)
        found.numeric = "uint" if aspects == ASPECT_BITS["stencil"] or self.format == "s8_uint" else enums.format_of(number).numeric
        self._views[key] = KeptView(found)
        return found

    def _view_of_blocks(self, what: str, level: int, levels: int | None) -> Image:
        """The image that a view of texel blocks is of."""
        if level >= self.mip_levels:
            raise ValidationError(f"{what}: level is {level}; the image has {self.mip_levels}, from 0 on")
        if (count := self.mip_levels - level if levels is None else levels) != 1:
            raise ValidationError(f"{what}: levels is {count}; a view of texel blocks has one level: give levels=1")
        return self.texel_blocks[level]

    def _require_type(self, wanted: str, what: str) -> None:
        """Raises where an image of other dimensions, or a cube, would be needed; says how to make that."""
        own, kind = f"{what}: type is '{wanted}', and the image is {self.type}", wanted.partition("_")[0]
        if kind == "cube" and self.type == "2d" and not self.cube:
            raise ValidationError(f"{what}: type is '{wanted}', and the image is no cube; create it with cube=True, square, with 6 layers")
        flat = "2d" if kind == "cube" else kind
        if flat == self.type or self.type == "3d":  # the core says which views slices have
            return
        sizes = {"1d": "one number, (width,)", "2d": "two numbers, (width, height)", "3d": "three numbers, (width, height, depth)"}
        raise ValidationError(f"{own}; create it with a size of {sizes[flat]}")

    @staticmethod
    def _u32(value: Any, what: str) -> int:
        if type(value) is int and 0 <= value <= _MAX_U32:
            return value
        number = arguments.whole(value, what)
        if not 0 <= number <= _MAX_U32:
            raise ValidationError(f"{what} is {number}; it must be 0 to {_MAX_U32}")
        return number

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


class ImageView(Fixed, AsArray, NoLength):
    """Some levels and layers of an image, as one type. Made by :meth:`Image.view`."""

    __slots__ = (
        "__weakref__", "aspects", "core", "image", "layer", "layers", "level", "levels", "min_lod", "numeric", "swizzle", "type",
        "view_info",
    )  # fmt: skip
    _in_its_place = ".image.size is (width, height), and numpy.asarray of it is an array, whose length is the number of rows"

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
        self.numeric = image.format_info.numeric  #: of its texels: ``"unorm"``, ``"uint"``, ...
        self.swizzle = "rgba"  #: four letters of ``rgba01``
        self.min_lod = 0.0  #: no level before it is sampled, from its own first level on
        self.view_info = image.format_info  #: what shaders and passes take its texels for
        self.aspects = tuple(image.format_info.aspects)  #: of those of the image's format the ones that it shows

    def _where_else(self, name: str) -> str:
        return _of_the_image(self, name)

    def require_identity(self, what: str, use: str) -> None:
        """Raises where it swaps components, for uses that can't."""
        if self.swizzle != "rgba":
            raise ValidationError(
                f"{what}: the view of image '{self.image.label}' has swizzle '{self.swizzle}'; {use} takes views without one"
            )

    @property
    def format(self) -> str:
        """Format of the image; ``view_format`` is the view's own."""
        return self.image.format

    @property
    def view_format(self) -> str:
        """What shaders and passes take its texels for."""
        return self.view_info.name

    def part_shown(self) -> str:
        """What of its image it shows, or in which other way, for commands that go by the image; ``""``: all, as it is."""
        image = self.image
        slabs = image.depth if image.type == "3d" else image.layers
        found = []
        if self.level or self.level_count != image.mip_levels:
            found.append(f"{self.level_count} of {image.mip_levels} levels, from {self.level} on")
        if self.layer or self.layers not in (None, slabs, image.layers):
            count = slabs - self.layer if self.layers is None else self.layers
            found.append(f"{count} of {slabs} {'slices' if image.type == '3d' else 'layers'}, from {self.layer} on")
        if self.aspects != tuple(image.format_info.aspects):
            found.append(f"the {' and '.join(self.aspects)} aspect alone")
        if self.view_format != image.format:
            found.append(f"the texels as {self.view_format}")
        if self.swizzle != "rgba":
            found.append(f"the components as '{self.swizzle}'")
        return "; ".join(found)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Copy of the one level and layer that it shows, as :meth:`Image.numpy` has it. Raises :class:`ValidationError` of several."""
        layers = self.image._layer_count(self.level) - self.layer if self.layers is None else self.layers
        if self.level_count != 1 or layers != 1 or copy is False:
            raise ValidationError(
                f"np.asarray: the view of image '{self.image.label}' shows {self.level_count} level(s) and {layers} layer(s); "
                "image.numpy(level, layer) gives a copy of one"
            )
        own, info = self.image.format_info, self.view_info
        unsigned = {"unorm", "srgb", "uint"}.issuperset((own.numeric, info.numeric))
        alike = info is own or (unsigned and (own.component_bits, own.component_count) == (info.component_bits, info.component_count))
        if self.swizzle != "rgba" or not alike:
            other = f"swizzle '{self.swizzle}'" if alike else f"format {info.name}"
            raise ValidationError(
                f"np.asarray: the view of image '{self.image.label}' has {other}, and the image's pixels are of {own.name} as they lie; "
                "image.numpy(level, layer) gives these"
            )
        array: NDArray[Any] = self.image.numpy(self.level, self.layer, None if len(self.aspects) > 1 else self.aspects[0])
        return array if dtype is None else arguments.converted(array, dtype, f"np.asarray: the view of image '{self.image.label}'")

    def why_undefined(self, aspect: str | None = None) -> str:
        """Why the contents of its first level and layer are undefined, ``""`` if they are not. ``aspect``: by default what shaders read."""
        image = self.image
        name = self.read_aspect if aspect is None else image._aspect(aspect)
        return image.core.why_undefined(ASPECT_BITS[name], self.level, self.layer)

    @property
    def read_aspect(self) -> str:
        """Which of its aspects shaders read: depth where it shows stencil as well."""
        return self.aspects[0]

    @property
    def level_count(self) -> int:
        """Levels, where ``levels`` may be ``None`` for all."""
        return self.image.mip_levels - self.level if self.levels is None else self.levels

    def undefined_part(self, levels: tuple[int, int] | None = None, layers: Collection[int] | None = None) -> str:
        """Which of its levels and layers (or slices) nobody wrote, and why, of the first that there is; ``""``: none of the first 4,096.
        ``levels``: (first, end) of the view's that count; ``layers``: which of its layers do (of cubes which cubes), those beyond the last
        one for the last one."""
        image = self.image
        if image.planes:
            return self.why_undefined()
        bit = ASPECT_BITS[self.read_aspect]
        begin, end_level = (0, self.level_count) if levels is None else levels
        parts, wide = 0, 6 if self.type.startswith("cube") else 1
        for level in range(self.level + begin, self.level + min(end_level, self.level_count)):
            there = image._layer_count(level)
            first, end = (0, there) if self.type == "3d" else (self.layer, there if self.layers is None else self.layer + self.layers)
            end = min(end, there)
            last = max(0, (end - first) // wide - 1)
            counted = None if layers is None else {min(layer, last) for layer in layers}
            for layer in range(first, end):
                if counted is not None and (layer - first) // wide not in counted:
                    continue
                parts += 1
                if parts > _MOST_PARTS:
                    return ""
                if reason := image.core.why_undefined(bit, level, layer):
                    one = image.mip_levels == 1 and image._layer_count(0) == 1
                    return f"are undefined: {reason}" if one else f"of level {level}, layer {layer} are undefined: {reason}"
        return ""

    def _repr_png_(self) -> bytes | None:
        """The first level and layer that it shows, its components as the image has them; ``None`` where that is no picture."""
        image = self.image
        if image.planes or image.samples > 1 or image.format_info.needs_conversion or self.why_undefined():
            return None
        import io

        stream = io.BytesIO()
        image._pillow(self.read_aspect, None, self.level, self.layer).save(stream, format="PNG")
        return stream.getvalue()

    def _repr_html_(self) -> str:
        layers = "all" if self.layers is None else str(self.layers)
        rows = [
            ("type", self.type),
            ("levels", f"{self.level_count} from {self.level} on"),
            ("layers", f"{layers} from {self.layer} on"),
            ("aspects", ", ".join(self.aspects)),
            ("swizzle", self.swizzle),
        ]
        png = self._repr_png_()
        shown = "" if png is None else notebook.picture(png, f"level {self.level}, layer {self.layer}")
        return notebook.table(f"view of image '{self.image.label}'", (), rows, {1}) + shown

    def __repr__(self) -> str:
        return f"<tilegpu.ImageView {self.type} of '{self.image.label}'>"


#: Of a view all but the image.
_OF_A_VIEW = tuple(name for name in ImageView.__slots__ if name not in ("__weakref__", "image"))
_write_view, _read_view = _core.slot_writer(ImageView, ("image", *_OF_A_VIEW)), _core.slot_reader(ImageView, _OF_A_VIEW)


class KeptView:
    """What an image keeps of a view: not the view itself, which names the image. Of such a ring the memory would come back when Python
    looks for rings, long after nobody has the image any more: some frames of images of their own were gigabytes."""

    __slots__ = ("_of_it", "_there")

    def __init__(self, view: ImageView) -> None:
        self._of_it, self._there = _read_view(view) or (), weakref.ref(view)

    def of(self, image: Image) -> ImageView:
        """The view, or, where nobody has it any more, one like it."""
        view = self._there()
        if view is None:
            view = object.__new__(ImageView)
            _write_view(view, image, *self._of_it)
            self._there = weakref.ref(view)
        return view


class Texture(OfThisProcess, Slotted, AsArray, NoLength):
    """An image with a sampler, to be bound as one. Made by :meth:`tilegpu.Device.texture`.

    ``swizzle``: of the view that shaders sample, ``"rrr1"`` of grey pictures; ``None``: the components as they are, as of ``image``.
    """

    __slots__ = ("__weakref__", "image", "sampler", "swizzle")
    _in_its_place = ".size is (width, height), and numpy.asarray of it is an array, whose length is the number of rows"
    image: Image
    sampler: Sampler
    swizzle: str | None

    def __init__(self, image: Image, sampler: Sampler, swizzle: str | None = None) -> None:
        if not isinstance(image, Image) or not isinstance(sampler, Sampler):
            wrong = ("sampler", sampler) if isinstance(image, Image) else ("image", image)
            raise ValidationError(f"{_wrong_part(*wrong)}; dev.texture(pixels) makes both of an array")
        _image(self, image)
        _sampler(self, sampler)
        _swizzle(self, swizzle)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("image", "sampler") and not isinstance(value, Image if name == "image" else Sampler):
            raise ValidationError(_wrong_part(name, value))
        super().__setattr__(name, value)

    @property
    def format(self) -> str:
        """Format of the image."""
        return self.image.format

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.image.size

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The image's pixels: :meth:`Image.__array__`."""
        return self.image.__array__(dtype, copy)

    def _where_else(self, name: str) -> str:
        return _of_the_image(self, name)

    def _repr_png_(self) -> bytes | None:
        return self.image._repr_png_()

    def __repr__(self) -> str:
        return f"<tilegpu.Texture of {self.image!r}, {self.sampler!r}>"


_image, _sampler, _swizzle = (vars(Texture)[name].__set__ for name in ("image", "sampler", "swizzle"))  # without __setattr__


def _wrong_part(name: str, value: Any) -> str:
    return f"texture: {name} is {arguments.shown(value)}; it must be {'an image' if name == 'image' else 'dev.sampler()'}"


def _of_the_image(value: Texture | ImageView, name: str) -> str:
    """Where it is, if the image has it."""
    kind = "texture" if isinstance(value, Texture) else "view"
    has = name != "image" and (hasattr(Image, name) or name in vars(value.image))
    return f"its image has: {kind}.image.{name}" if has else ""


def image_of(value: Any) -> Any:
    """The image of a texture or a view; anything else as it is."""
    return value.image if isinstance(value, (Texture, ImageView)) else value


def image_for_command(value: Any, what: str) -> Image:
    """The image that a command outside of passes (a copy, blit, clear, resolve, mip chain) works on: such commands know images and no
    views, and would touch more than a view shows, or other bits. Raises :class:`ValidationError` for what is no image, and for such a
    view."""
    image = image_of(value)
    if not isinstance(image, Image):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be an image")
    if isinstance(value, ImageView) and (part := value.part_shown()):
        raise ValidationError(
            f"{what} is a view of a part of image '{image.label}', or of it in another way: it shows {part}, and such commands work on "
            "images; give the image, and the command's own level, layer or aspect, as far as it has them"
        )
    return image
