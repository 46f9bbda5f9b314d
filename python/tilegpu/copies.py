"""Copies between buffers and images without conversion. In: what users give. Out: Vulkan's regions, recorded and run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilegpu import _core, arguments
from tilegpu.buffer import Buffer, BufferSlice
from tilegpu.context import CommandStats, Context
from tilegpu.errors import ValidationError
from tilegpu.image import Image, ImageView, Texture, image_for_command
from tilegpu.texels import say_depth
from tilegpu.uses import Use, use_of_buffer, use_of_image

_ASPECTS: dict[str, int] = _core.ENUMS["image_aspect"]
_MAX_U32 = 0xFFFFFFFF
_POSITION = "it must be (x, y) in pixels, or (x, y, z) of a 3D image"
_EXTENT = "it must be (width, height) in pixels, and a depth in volumes"


@dataclass(slots=True)
class _Side:
    """The source or the destination."""

    thing: Any  # what is left of it without slices and views: a buffer, an image, or what is neither
    offset_B: int
    level: int
    layer: int
    pos: tuple[int, int, int]

    @property
    def volume(self) -> bool:
        return isinstance(self.thing, Image) and self.thing.type == "3d"


def _side(name: str, thing: Any, offset: Any, level: Any, layer: Any, pos: Any) -> _Side:
    offset_B = arguments.count(offset, f"copy: {name}_offset")
    if isinstance(thing, BufferSlice):
        thing, offset_B = thing.buffer, offset_B + thing.offset
    return _Side(
        thing,
        offset_B,
        arguments.count(level, f"copy: {name}_level", _MAX_U32),
        arguments.count(layer, f"copy: {name}_layer", _MAX_U32),
        arguments.vector(pos, 0, f"copy: {name}_pos", _POSITION),
    )


def _kind_of(given: Any, destination: bool) -> tuple[np.dtype[Any] | None, str]:
    """What kind of numbers a buffer or an array holds, where it is known, and the beginning of a sentence of it. What was written to a
    buffer that was made of a size is over where something else is stored there, and says nothing of what it receives."""
    buffer = given.buffer if isinstance(given, BufferSlice) else given
    if isinstance(buffer, Buffer):
        if buffer.dtype is None and (destination or not buffer.rows_known):
            return None, ""
        how = "made from" if buffer.dtype is not None else "written with"
        return buffer._array_dtype or buffer.held, f"buffer '{buffer.label}' was {how}"
    return (buffer.dtype, "the array holds") if isinstance(buffer, np.ndarray) else (None, "")


def _require_numbers(given: Any, image: Image, aspect: str | None, destination: bool = False) -> None:
    """A copy moves bytes: numbers of another kind than the texels' would be other values. Bytes (``uint8``) and structures say nothing.
    ``destination``: it is where the copy goes to."""
    dtype, whose = _kind_of(given, destination)
    dtype = None if dtype is None else dtype.base
    if dtype is None or dtype.kind not in "iuf" or dtype == np.uint8:
        return
    info, name = image.format_info, image._aspect(aspect)
    if info.is_compressed or image.planes:
        return
    packed = "_pack" in info.name or name == "stencil" or (name == "depth" and info.depth_bits == 24)
    if packed or (name == "depth" and info.depth_bits == 16):
        floats = False
    else:
        floats = name == "depth" or info.numeric in ("sfloat", "ufloat")
    wanted_B = 4 if name == "depth" else info.component_bits // 8
    if dtype.kind != "f" if floats else dtype.kind == "f":
        fits = False
    else:
        fits = not floats or dtype.itemsize == wanted_B
    if not fits:
        want = f"float{8 * wanted_B}" if floats else "integers"
        fix = "image.write converts, or give bytes where bits are meant (array.view(np.uint8))"
        if destination:
            fix = "give a buffer that was made of a size or of such numbers, or take image.numpy(), which has pixels as an array"
        raise ValidationError(
            f"copy: {whose} {dtype}, and image '{image.label}' of {info.name} holds {want}; a copy moves bytes as they are: {fix}"
        )


def _rows_of(array: np.ndarray[Any, Any], image: Image, aspect: str | None) -> tuple[int, int, int]:
    """Width, height, and layers or slices of an array of an image's texels, or texel blocks."""
    info, name = image.format_info, image._aspect(aspect)
    texel_B = {"stencil": 1, "depth": 2 if info.depth_bits == 16 else 4}.get(name, info.texel_B)
    # Three dimensions are (H, W, C); layers of single numbers are meant only where a texel is one.
    has_components = array.ndim > 3 or (array.ndim == 3 and (array.shape[-1] * array.itemsize == texel_B or info.component_count > 1))
    shape = array.shape if has_components else (*array.shape, 1)
    if not 3 <= len(shape) <= 4 or shape[-1] * array.itemsize != texel_B or 0 in shape:
        raise ValidationError(
            f"copy: the array has shape {array.shape} and dtype {array.dtype}; image '{image.label}' of {info.name} takes (H, W), "
            f"(H, W, C) or (L, H, W, C) with {texel_B} bytes a "
            + ("texel block, H and W in blocks" if info.is_compressed else "pixel; convert it (dev.texture does), or give bytes")
        )
    height, width = shape[-3:-1]
    return width * info.block_px[0], height * info.block_px[1], shape[0] if len(shape) == 4 else 1


def _cut(size_px: int, block_px: int, left_px: int) -> int:
    """The last of some texel blocks may reach over the edge of a level, which is ``left_px`` away."""
    return left_px if 0 < size_px - left_px < block_px else size_px


def _copy_bytes(device: Context, source: _Side, destination: _Side, size: int | None) -> CommandStats:
    from_, to = source.thing, destination.thing
    left_B, room_B = from_.size - source.offset_B, to.size - destination.offset_B
    if size is None and left_B > room_B >= 0:
        raise ValidationError(
            f"copy: source buffer '{from_.label}' has {left_B:,} B from byte {source.offset_B:,} on, destination buffer '{to.label}' has "
            f"room for {room_B:,} B from byte {destination.offset_B:,} on; give size={room_B} to copy a part"
        )
    size = left_B if size is None else size
    if size < 0:
        raise ValidationError(
            f"copy: offsets are {source.offset_B} and {destination.offset_B} B, behind the end of a buffer"
        )
    region = (source.offset_B, destination.offset_B, size)
    stats = device._run(
        lambda cb: cb.copy_buffer(from_.core, to.core, [region]),
        "copy",
        lambda: [
            use_of_buffer(from_, False, "copy", first=source.offset_B, size=size),
            use_of_buffer(to, True, "copy", first=destination.offset_B, size=size, whole=True),
        ],
    )
    to.take_matrices(from_, destination.offset_B, source.offset_B, size)
    return stats


def _array_for(target: Buffer, given: Any, size: int | None, from_B: Any, destination: Buffer | BufferSlice, to_B: Any) -> Any:
    """An array, list or bytes that are the source, as :meth:`Buffer.write` takes them: none of it is cut off unless ``size`` says so."""
    from_B, to_B = arguments.count(from_B, "copy: source_offset"), arguments.count(to_B, "copy: destination_offset")
    first_B = destination.offset if isinstance(destination, BufferSlice) else 0
    array = target.fitting(given, "copy", first_B + to_B - from_B)  # where its first byte would be
    if not array.ndim and array.dtype.names is None:  # dev.buffer would take it for a size
        raise ValidationError(f"copy: source is {arguments.shown(given)}; it must be a buffer, an array or bytes, such as [{given}]")
    left_B, room_B = array.nbytes - from_B, destination.size - to_B
    if size is None and left_B > room_B >= 0:
        raise ValidationError(
            f"copy: the source has {left_B} bytes, and buffer '{target.label}' has room for {room_B}; give size, or a part of the source"
        )
    return array


def _extent_px(source: _Side, destination: _Side, extent: Any) -> tuple[int, int, int]:
    """As much as fits the images, where nothing is given."""
    if extent is None:
        images = [side for side in (source, destination) if isinstance(side.thing, Image)]
        sizes = [side.thing._level_size(side.level, side.pos) for side in images]
        # Compared by texel blocks, which are texels but for compressed formats; in texels of the first image, as Vulkan has it.
        blocks = [(*side.thing.format_info.block_px, 1) for side in images]
        counts = [[-(-v // b) for v, b in zip(size, block, strict=True)] for size, block in zip(sizes, blocks, strict=True)]
        fewest = [min(values) for values in zip(*counts, strict=True)]
        extent = [min(n * b, v) for n, b, v in zip(fewest, blocks[0], sizes[0], strict=True)]
    size_px = arguments.vector(extent, 1, "copy: extent", _EXTENT)
    if min(size_px) <= 0:
        raise ValidationError(f"copy: extent is {extent}; width and height must be at least 1")
    return size_px


def _slices_of_layers(
    source: _Side, destination: _Side, size_px: tuple[int, int, int], extent: Any, layers: int | None
) -> int:
    """How many, where slices of one image are layers of the other: extent has their number in Vulkan."""
    if layers is None and extent is None:
        flat = destination if source.volume else source
        return max(1, min(size_px[2], flat.thing.layers - flat.layer))
    if layers is None:
        return size_px[2]
    if extent is not None and len(arguments.sequence(extent, "copy: extent", _EXTENT)) == 3 and layers != size_px[2]:
        raise ValidationError(f"copy: layers is {layers}, and the third of extent {size_px[2]}; slices become layers one by one")
    return layers


def _check_said(source: _Side, destination: _Side, given: dict[str, Any]) -> None:
    """Arguments that nothing looks at, by what the two sides are."""
    buffers = [isinstance(side.thing, Buffer) for side in (source, destination)]
    for side, name, is_buffer in ((source, "source", buffers[0]), (destination, "destination", buffers[1])):
        if is_buffer and (side.level or side.layer or any(side.pos)):
            said = next(n for n, v in (("level", side.level), ("layer", side.layer), ("pos", any(side.pos))) if v)
            raise ValidationError(f"copy: {name}_{said} is given, and the {name} is a buffer, which has none; leave it out")
        if not is_buffer and side.offset_B:
            raise ValidationError(f"copy: {name}_offset is given, and the {name} is an image; give {name}_pos, in pixels")
    idle: tuple[str, ...]
    if all(buffers):
        idle, why = ("row_length", "image_height", "extent", "layers", "aspect"), "both are buffers; give size, in bytes"
    else:
        idle, why = ("size",), "one is an image; give extent, in pixels"
        if not any(buffers):
            idle, why = (*idle, "row_length", "image_height"), "both are images; give extent, in pixels"
    for name in idle:
        if given[name]:
            raise ValidationError(f"copy: {name} is given, and {why}")


def _say_depth_of_buffer(
    image: Image, name: str, source: _Side, size_px: tuple[int, int, int], layers: int, rows: tuple[int, int]
) -> None:
    """Of a copy from a buffer, where all of what it reads is there; else the core says so."""
    if name != "depth" or image.format_info.depth_bits != 32 or source.offset_B % 4:
        return
    (width, height), count = size_px[:2], max(layers, size_px[2])
    pitch, slab = rows[0] or width, (rows[0] or width) * (rows[1] or height)
    numbers = np.frombuffer(memoryview(source.thing.core), np.uint8)[source.offset_B :]
    numbers = numbers[: len(numbers) // 4 * 4].view(np.float32)
    if pitch >= width and slab >= pitch * height and (count - 1) * slab + (height - 1) * pitch + width <= len(numbers):
        strides = (4 * slab, 4 * pitch, 4)
        values = np.lib.stride_tricks.as_strided(numbers, (count, height, width), strides, writeable=False)
        say_depth(image.label, values, "copy", image.device.strict)


@contextlib.contextmanager
def _rows_named(rows: tuple[int, int]) -> Iterator[None]:
    """Of a copy between a buffer and an image that needs more bytes than there are: rows may have been given in bytes."""
    try:
        yield
    except ValidationError as wrong:
        named = [f"row_length={rows[0]} is in pixels, not bytes"] if rows[0] else []
        named += [f"image_height={rows[1]} is in rows of pixels"] if rows[1] else []
        if not named or "buffer bytes" not in str(wrong):
            raise
        raise ValidationError(f"{wrong}; {', '.join(named)}") from None


def _check_aspects(from_: Image, to: Image, aspect: str | None) -> None:
    """A copy between images is of one aspect, which both have."""
    have, wants = from_.format_info.aspects, to.format_info.aspects
    if aspect is None and not set(have) & set(wants):
        raise ValidationError(
            f"copy: image '{from_.label}' of {from_.format_info.name} has {' and '.join(have)}, image '{to.label}' of "
            f"{to.format_info.name} has {' and '.join(wants)}, which are not copied to each other: copy to a buffer, and that to the image"
        )


def _copy_texels(
    device: Context, source: _Side, destination: _Side, aspect: str | None, extent: Any, layers: int | None, rows: tuple[int, int]
) -> CommandStats:
    """Where at least one is an image. ``rows``: pixels in a row of the buffer, rows in a layer or slice."""
    from_, to = source.thing, destination.thing
    image = to if isinstance(to, Image) else from_
    if not isinstance(image, Image) or not isinstance(to, (Image, Buffer)):
        raise ValidationError(
            f"copy: from {arguments.shown(from_)} to {arguments.shown(to)}; "
            "both must be images or buffers (the source may be an array)"
        )
    if isinstance(from_, Image) and isinstance(to, Image):
        _check_aspects(from_, to, aspect)
    name = image._aspect(aspect)
    size_px = _extent_px(source, destination, extent)
    counts = (1, 1) if layers is None else (layers, layers)
    if isinstance(from_, Image) and isinstance(to, Image) and source.volume != destination.volume:
        slices = _slices_of_layers(source, destination, size_px, extent, layers)
        size_px = (*size_px[:2], slices)
        counts = (1, slices) if source.volume else (slices, 1)
    if isinstance(from_, Buffer) and isinstance(to, Image):
        _say_depth_of_buffer(to, name, source, size_px, counts[0], rows)
    from_part = (_ASPECTS[name], source.level, source.layer, counts[0])
    to_part = (_ASPECTS[name], destination.level, destination.layer, counts[1])
    if isinstance(from_, Image):
        first, slabs = (source.pos[2], size_px[2]) if source.volume else (source.layer, counts[0])
        from_._require_all_readable([name], source.level, first, slabs, rect=(*source.pos[:2], *size_px[:2]))

    def uses() -> list[Use]:
        found: list[Use] = []
        for side, write, count in ((source, False, counts[0]), (destination, True, counts[1])):
            if isinstance(side.thing, Buffer):
                found.append(use_of_buffer(side.thing, write, "copy", first=side.offset_B))
                continue
            slabs = (side.pos[2], size_px[2]) if side.volume else (side.layer, count)
            whole = write and not any(side.pos[:2]) and size_px[:2] == side.thing._level_size(side.level)[:2]
            first, count = slabs
            found += use_of_image(
                side.thing, write, "copy", aspect=name, level=side.level, levels=1, layer=first, layers=count, whole=whole
            )
        return found

    if isinstance(from_, Buffer):
        up = (source.offset_B, *rows, to_part, destination.pos, size_px)
        with _rows_named(rows):
            return device._run(lambda cb: cb.copy_buffer_to_image(from_.core, to.core, [up]), "copy", uses)
    if isinstance(to, Buffer):
        to.take_texels(destination.offset_B)
        down = (destination.offset_B, *rows, from_part, source.pos, size_px)
        with _rows_named(rows):
            return device._run(lambda cb: cb.copy_image_to_buffer(from_.core, to.core, [down]), "copy", uses)
    across = (from_part, source.pos, to_part, destination.pos, size_px)
    return device._run(lambda cb: cb.copy_image(from_.core, to.core, [across]), "copy", uses)


def copy(
    self: Context,
    source: Any,
    destination: Any,
    *,
    source_offset: int = 0,
    destination_offset: int = 0,
    size: int | None = None,
    source_level: int = 0,
    source_layer: int = 0,
    source_pos: Sequence[int] = (0, 0),
    destination_level: int = 0,
    destination_layer: int = 0,
    destination_pos: Sequence[int] = (0, 0),
    extent: Sequence[int] | None = None,
    row_length: int = 0,
    aspect: str | None = None,
    layers: int | None = None,
    image_height: int = 0,
) -> CommandStats:
    """Copies between buffers and images without conversion; arrays and bytes may be the source too.

    An array of (H, W), (H, W, C) or (L, H, W, C) has the texels of the format as they are, and says the extent and the layers or
    slices; of compressed formats it has texel blocks, H and W count them, and C is their bytes. Bytes and arrays of one dimension are
    taken like a buffer. For a buffer the source is taken as :meth:`tilegpu.Buffer.write` takes it, and all of it must fit unless ``size``
    is given; from buffer to buffer bytes are copied, whatever they are.

    Offsets and ``size`` of buffers are bytes; positions and ``extent`` of images are (x, y) and (width, height)
    in pixels, by default as much as fits both; of 3D images they have three values.
    Of compressed formats they are whole texel blocks, or reach to the level's edge; between a compressed and another format a texel
    block is one texel, and ``extent`` is in texels of the source.
    Offsets of buffers beside images are multiples of a texel's bytes, of depth and stencil of 4.
    ``row_length``: pixels in a row of the buffer, 0 for the extent's width,
    ``image_height``: rows of a layer or slice. ``aspect``: ``"depth"`` (the default where there is one) or ``"stencil"`` of such
    images, ``"plane_0"`` to ``"plane_2"`` of multi-planar ones, where positions and sizes are the plane's. ``layers``: how
    many, by default one; where one of two images is 3D they are slices of it, by default as many as fit both.

    Returns what it moved.
    """
    given_sides = (source, "copy: source"), (destination, "copy: destination")
    sides = [image_for_command(side, what) if isinstance(side, (ImageView, Texture)) else side for side, what in given_sides]
    source, destination = (side.plane_of(aspect) if isinstance(side, Image) else side for side in sides)
    if source is not sides[0] or destination is not sides[1]:
        aspect = None  # said by the plane
    asked, size = size is not None, None if size is None else arguments.count(size, "copy: size")
    layers = None if layers is None else arguments.count(layers, "copy: layers", _MAX_U32)
    row_length = arguments.count(row_length, "copy: row_length", _MAX_U32)
    image_height = arguments.count(image_height, "copy: image_height", _MAX_U32)
    if isinstance(destination, Image):
        _require_numbers(source, destination, aspect)
    elif isinstance(source, Image):
        _require_numbers(destination, source, aspect, destination=True)
    if not isinstance(source, (Buffer, BufferSlice, Image)):
        if isinstance(source, np.ndarray) and isinstance(destination, Image) and source.ndim > 1 and not row_length:
            row_length, image_height, given = _rows_of(source, destination, aspect)
            volume = destination.type == "3d"
            if extent is None:
                left = destination._level_size(destination_level, destination_pos)
                block_px = destination.format_info.block_px
                fitting = [_cut(n, b, v) for n, b, v in zip((row_length, image_height), block_px, left, strict=False)]
                extent = [*fitting, given] if volume else fitting
            if layers is None and not volume:
                layers = given
        target = destination.buffer if isinstance(destination, BufferSlice) else destination
        if isinstance(target, Buffer):
            source = _array_for(target, source, size, source_offset, destination, destination_offset)
        if not isinstance(source, (bytes, bytearray, memoryview, np.ndarray)):
            arguments.array(source, "copy: source", "it must be an image, a buffer, an array or bytes")
        source = Buffer.create(source, None, "source of copy")
    if isinstance(source, BufferSlice) and size is None:
        size = source.size
    from_ = _side("source", source, source_offset, source_level, source_layer, source_pos)
    to = _side("destination", destination, destination_offset, destination_level, destination_layer, destination_pos)
    sizes = {"size": size if asked else None, "row_length": row_length, "image_height": image_height, "extent": extent is not None}
    _check_said(from_, to, {**sizes, "layers": layers is not None, "aspect": aspect is not None})
    for side, name in ((from_, "source"), (to, "destination")):
        if isinstance(side.thing, (Buffer, Image)):
            self.say_foreign(side.thing, f"copy: {name}")
    if isinstance(from_.thing, Buffer) and isinstance(to.thing, Buffer):
        return _copy_bytes(self, from_, to, size)
    return _copy_texels(self, from_, to, aspect, extent, layers, (row_length, image_height))
