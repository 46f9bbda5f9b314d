"""Commands on images outside passes, but for copies: blits, clears, mip chains, resolves.

In: what users give. Out: Vulkan's regions, recorded and run, and what an open frame is told of them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

from tilegpu import _core, arguments, enums
from tilegpu.attachment import clear_color, clear_depth_stencil
from tilegpu.context import CommandStats, Context
from tilegpu.errors import UnusedNameWarning, ValidationError, users_level
from tilegpu.image import Image, image_for_command
from tilegpu.uses import use_of_image

_ASPECTS: dict[str, int] = _core.ENUMS["image_aspect"]
_REMAINING = _MAX_U32 = 0xFFFFFFFF
_POSITION = "it must be (x, y) in pixels, or (x, y, z) of a 3D image"


def blit(
    self: Context,
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
) -> CommandStats:
    """Copies with scaling and conversion of the format. ``filter``: ``"linear"``, ``"nearest"``, or, of 2D images, ``"cubic"``.

    Rects are corners (x0, y0, x1, y1); x0 > x1 mirrors.
    Of 3D images (x0, y0, z0, x1, y1, z1). Returns what it moved: the texels of both rects."""
    source, destination = _image(self, source, "blit: source"), _image(self, destination, "blit: destination")
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
        if any(a == b for a, b in zip(*corners, strict=True)):  # in Vulkan that is a blit of nothing; in Python a mistake
            raise ValidationError(
                f"blit: {name}_rect is {arguments.shown(rect)}, which has no texels; rects are two corners, (x0, y0, x1, y1), and not a "
                "corner and a size"
            )
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

    def record(commands: _core.CommandBuffer) -> None:
        try:
            commands.blit_image(source.core, destination.core, [tuple(region)], mode)
        except ValidationError as wrong:
            if "_rect " not in str(wrong):
                raise
            raise ValidationError(f"{wrong}; rects are two corners, (x0, y0, x1, y1), and not a corner and a size") from None

    return self._run(
        record,
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


def _words_of(number: float, signed: bool) -> list[float]:
    """The integer of 64 bits as the first two words of a colour, the lower one first, each as the format's integers of 32 bits are."""
    low, high = (-(1 << 63), (1 << 63) - 1) if signed else (0, (1 << 64) - 1)
    bits = min(max(int(number), low), high) & ((1 << 64) - 1)
    words = [bits & 0xFFFFFFFF, bits >> 32]
    return [*(float(word - (1 << 32) if signed and word >> 31 else word) for word in words), 0.0, 0.0]


def clear(
    self: Context,
    image: Any,
    color: Sequence[float] | None = None,
    *,
    depth: float | None = None,
    stencil: int | None = None,
    level: int = 0,
    levels: int | None = None,
    layer: int = 0,
    layers: int | None = None,
) -> CommandStats:
    """Fills an image, or some of its levels and layers (``None``: all from the first on): (r, g, b, a) for colour, or
    depth and stencil. Returns what it moved."""
    target = _image(self, image, "clear")
    what = f"clear of image '{target.label}'"
    if target.type == "3d" and (layer, layers) not in ((0, None), (0, target.depth)):
        slices = "it clears all slices; one or some are cleared as attachments: tg.Attachment(image, clear=..., layer=slice)"
        raise ValidationError(f"{what}: layer is {arguments.shown(layer)}, layers {arguments.shown(layers)}; of a 3d image {slices}")
    part = (
        arguments.count(level, f"{what}: level", _MAX_U32),
        _REMAINING if levels is None else arguments.count(levels, f"{what}: levels", _MAX_U32),
        arguments.count(layer, f"{what}: layer", _MAX_U32),
        _REMAINING if layers is None else arguments.count(layers, f"{what}: layers", _MAX_U32),
    )
    uses = functools.partial(
        use_of_image, target, True, "clear", level=level, levels=levels, layer=layer, layers=layers, whole=True
    )
    if not target.format_info.is_depth_stencil:
        given = [f"{name}=" for name, value in (("depth", depth), ("stencil", stencil)) if value is not None]
        if color is None or given:
            said = f"{' and '.join(given)} is given, and " if given else ""
            only = "" if color is None else " alone"
            raise ValidationError(f"{what}: {said}format {target.format} is of colours: it takes (r, g, b, a){only}")
        numbers = clear_color(color, what, target.format_info)
        if target.format_info.component_bits == 64:
            numbers = _words_of(numbers[0], target.format_info.numeric == "sint")
        value = _core.ClearValue.color(target.format_info.number, numbers)
        return self._run(
            lambda cb: cb.clear_color_image(target.core, value, [(_ASPECTS["color"], *part)]),
            "clear",
            uses,
        )
    if color is not None or (depth is None and stencil is None):
        said = "" if color is None else "a colour is given, and "
        raise ValidationError(
            f"{what}: {said}format {target.format} takes {' and '.join(n + '=' for n in target.format_info.aspects)}"
        )
    written_B = 0
    for aspect, number in (("depth", depth), ("stencil", stencil)):
        if number is not None:
            bit = _ASPECTS[target._aspect(aspect)]
            value = clear_depth_stencil(number, aspect, what)
            fill = functools.partial(_clear_aspect, target.core, value, (bit, *part))
            written_B += self._run(fill, "clear", functools.partial(uses, aspect=aspect)).written_B
    return CommandStats("clear", 0, written_B)


def require_averages(info: enums.FormatInfo, what: str) -> None:
    """Vulkan forbids linear blits of integers, which a mip chain is made by (VUID-vkCmdBlitImage-filter-02001)."""
    if info.numeric in ("uint", "sint"):
        raise ValidationError(
            f"{what}: the format is {info.name}, and integers are not averaged; take texels for each level, dev.blit(image, image, "
            "filter='nearest', source_level=k - 1, destination_level=k), or give the levels, dev.texture(pixels, mipmaps=[level1, ...])"
        )


def generate_mipmaps(self: Context, image: Any) -> CommandStats:
    """Makes levels 1 and up from level 0, each from the one above. Returns what it moved. Warns where there is no level 1 to make.
    Raises :class:`ValidationError` for integers, which are not averaged."""
    target = _image(self, image, "generate_mipmaps")
    if target.mip_levels == 1 and max(target._level_size(0)) > 1:
        fix = "create it with mip_levels=None, for all levels"
        if target.samples > 1:
            fix = f"images of {target.samples} samples have no others: dev.resolve it to one of mip_levels=None, and generate those"
        said = f"generate_mipmaps has no effect: image '{target.label}' has one level; {fix}"
        warnings.warn(said, UnusedNameWarning, stacklevel=users_level())
    if target.mip_levels > 1:
        require_averages(target.format_info, f"generate_mipmaps: image '{target.label}'")
    target._require_all_readable(target.format_info.aspects[:1], 0, 0, target._layer_count(0))
    return self._run(
        lambda cb: cb.generate_mipmaps(target.core),
        "generate_mipmaps",
        lambda: [
            *use_of_image(target, False, "mipmaps", level=0, levels=1),
            *use_of_image(target, True, "mipmaps", level=1, whole=True),
        ],
    )


def resolve(
    self: Context,
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
) -> CommandStats:
    """Averages the samples of a stored multisampled image into a single-sampled one: all layers from the first on, and
    as much as the source has from its position on, or a region. Returns what it moved: of every pixel all samples read, and one written; a
    pass that resolves in the tile (``resolve=`` of its attachment) writes one."""
    source, destination = _image(self, source, "resolve: source"), _image(self, destination, "resolve: destination")
    source_layer = arguments.count(source_layer, "resolve: source_layer", _MAX_U32)
    if source_layer >= source.layers:
        raise ValidationError(f"resolve: source_layer is {source_layer}; image '{source.label}' has {source.layers} layer(s)")
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
    return self._run(
        lambda cb: cb.resolve_image(source.core, destination.core, [region]),
        "resolve",
        lambda: [
            *use_of_image(source, False, "resolve", levels=1, layer=source_layer, layers=count),
            *use_of_image(
                destination,
                True,
                "resolve",
                level=destination_level,
                levels=1,
                layer=destination_layer,
                layers=count,
                whole=whole,
            ),
        ],
    )


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


def _image(device: Context, value: Any, what: str) -> Image:
    image = image_for_command(value, what)
    device.say_foreign(image, what)
    return image
