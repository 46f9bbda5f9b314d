"""What a recording reads and writes: parts of images and buffers, by how.

In: what is bound, attached or copied. Out: a :class:`Use` for each, of which frames make their edges. What shaders reach by address
(``device_address``) is no use: no descriptor names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tilegpu.buffer import Buffer, BufferSlice, BufferView
from tilegpu.context import Context
from tilegpu.image import Image, ImageView

_WHOLE = 1 << 63


class Use(NamedTuple):
    """A part of an image or of a buffer that is read or written.

    ``how``: ``"load"``, ``"store"``, ``"sampled"``, ``"storage image"``, ``"vertex"``, ``"copy"``, ... ``whole``: of a write: nothing is
    left of what the part held. ``attachment``: of a pass, its name in the ledger (``"color0"``). Images: ``aspect``, levels and
    layers (slices of 3D images) as (first, end); buffers: bytes as (first, end).
    """

    thing: Image | Buffer
    write: bool
    how: str
    whole: bool = False
    attachment: str = ""
    aspect: str = ""
    levels: tuple[int, int] = (0, 1)
    layers: tuple[int, int] = (0, 1)
    bytes: tuple[int, int] = (0, 0)

    def meets(self, aspect: str, levels: tuple[int, int], layers: tuple[int, int], bytes: tuple[int, int]) -> bool:
        """Whether something belongs to this part and to that one of the same image or buffer. An aspect ``""`` is any."""
        if isinstance(self.thing, Buffer):
            return _overlap(self.bytes, bytes)
        return (not aspect or aspect == self.aspect) and _overlap(self.levels, levels) and _overlap(self.layers, layers)

    def parts(self) -> Iterator[tuple[int, int]]:
        """(level, layer) of an image, one by one."""
        for level in range(*self.levels):
            for layer in range(self.layers[0], min(self.layers[1], _slabs(self.thing, level))):
                yield level, layer

    @property
    def size_B(self) -> int:
        """Bytes of the part, texels as they are without tiling or padding."""
        if isinstance(self.thing, Buffer):
            return self.bytes[1] - self.bytes[0]
        return sum(level_size_B(self.thing, level, self.aspect) for level, _ in self.parts())


class LaterUses(Sequence[Use]):
    """Those of a recording that is not going to change, made when somebody asks; the same objects each time."""

    __slots__ = ("_all", "_made_by")

    def __init__(self, made_by: Callable[[], Iterable[Use]]) -> None:
        self._made_by = made_by
        self._all: tuple[Use, ...] | None = None

    def _uses(self) -> tuple[Use, ...]:
        if self._all is None:
            self._all = tuple(self._made_by())
        return self._all

    def __getitem__(self, number: Any) -> Any:
        return self._uses()[number]

    def __len__(self) -> int:
        return len(self._uses())

    def __iter__(self) -> Iterator[Use]:
        return iter(self._uses())

    def __repr__(self) -> str:
        return repr(self._uses())


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return max(a[0], b[0]) < min(a[1], b[1])


def _slabs(thing: Any, level: int) -> int:
    return max(1, thing.depth >> level) if thing.type == "3d" else int(thing.layers)


def level_size_B(image: Image, level: int, aspect: str) -> int:
    """Bytes of one layer or slice of a level."""
    info = image.format_info
    texel_B = {"stencil": 1, "depth": 2 if info.depth_bits == 16 else 4}.get(aspect, info.texel_B)
    across, down = (-(-max(1, side >> level) // block) for side, block in zip(image.size, info.block_px, strict=False))
    return across * down * texel_B * image.samples


def use_of_image(
    image: Image,
    write: bool,
    how: str,
    *,
    aspect: str | None = None,
    level: int = 0,
    levels: int | None = None,
    layer: int = 0,
    layers: int | None = None,
    whole: bool = False,
    attachment: str = "",
) -> list[Use]:
    """One for each aspect (``None``: all that the format has); ``levels`` and ``layers``: how many, ``None`` for all from the first on.
    Of a multi-planar image those of its planes, which are images; of texel blocks the level of the image that has them."""
    if image.planes:
        return [
            use
            for plane in image.planes
            for use in use_of_image(plane, write, how, layer=layer, layers=layers, whole=whole, attachment=attachment)
        ]
    names = image.format_info.aspects if aspect is None else (aspect,)
    if image._blocks_of is not None:
        image, level = image._whole()
        levels = 1
    where = _ranges(image, level, levels, layer, layers)
    return [Use(image, write, how, whole, attachment, name, *where) for name in names]


def _ranges(
    image: Image, level: int, levels: int | None, layer: int, layers: int | None
) -> tuple[tuple[int, int], tuple[int, int]]:
    """(first, end) of levels and of layers."""
    last_level = image.mip_levels if levels is None else min(level + levels, image.mip_levels)
    most = _slabs(image, level)
    return (level, last_level), (layer, most if layers is None else min(layer + layers, most))


def use_of_view(
    view: ImageView, write: bool, how: str, *, aspect: str | None = None, whole: bool = False, attachment: str = ""
) -> list[Use]:
    """The part of an image that a view shows. A descriptor shows one aspect (:attr:`tilegpu.ImageView.read_aspect`); of multi-planar
    images all planes."""
    if view.image.planes:
        return use_of_image(
            view.image, write, how, layer=view.layer, layers=view.layers, whole=whole, attachment=attachment
        )
    name = view.read_aspect if aspect is None else aspect
    layer, layers = (0, None) if view.type == "3d" else (view.layer, view.layers)
    image, level = view.image._whole()
    part = (level + view.level, view.levels, layer, layers)
    return [Use(image, write, how, whole, attachment, name, *_ranges(image, *part))]


def use_of_buffer(
    given: Buffer | BufferSlice | BufferView,
    write: bool,
    how: str,
    *,
    whole: bool = False,
    first: int = 0,
    size: int | None = None,
) -> Use:
    """A buffer, or bytes of it from ``first`` on."""
    if isinstance(given, BufferView):
        given = given.buffer
    if isinstance(given, BufferSlice):
        first, size, given = given.offset + first, given.size - first if size is None else size, given.buffer
    end = given.size if size is None else min(given.size, first + size)
    return Use(given, write, how, whole, bytes=(first, max(first, end)))


class Uses:
    """Those of one recording on ``device``. What is noted is what a draw has at hand; uses are made of it when somebody asks, which is
    rare."""

    __slots__ = ("_by_thing", "_device", "_indexed", "notes")

    def __init__(self, device: Context, notes: list[Any] | None = None) -> None:
        self._device = device
        self.notes: list[Any] = [] if notes is None else notes  #: what makes each of them, and of what
        self._indexed = 0  # of the notes, those that are in this
        self._by_thing: dict[int, dict[Use, None]] = {}

    def note(self, made_by: Callable[..., Use | Iterable[Use]], *arguments: Any) -> None:
        """``made_by(*arguments)`` is a use, or several."""
        self.notes.append((made_by, arguments))

    def note_buffer(self, buffer: Buffer | BufferSlice, how: str, what: str, write: bool = False) -> None:
        """It is read, or written, all of it. ``what``: what messages call it, where another device made it."""
        self._device.say_foreign(buffer.buffer if isinstance(buffer, BufferSlice) else buffer, what)
        self.notes.append((use_of_buffer, (buffer, write, how)))

    def take(self, others: Uses) -> None:
        """Those of another recording too, which has ended."""
        self.notes.extend(others.notes)

    def of(self, thing: Image | Buffer) -> Iterable[Use]:
        """Those of one image or buffer; what was looked at for another one is not looked at again."""
        for made_by, arguments in self.notes[self._indexed :]:
            made = made_by(*arguments)
            for use in (made,) if isinstance(made, Use) else made:
                self._by_thing.setdefault(id(use.thing), {})[use] = None
        self._indexed = len(self.notes)
        return self._by_thing.get(id(thing), {})

    def but_buffers(self) -> Iterator[Use]:
        """Those of descriptors, images among them, some more than once; without what draws read of buffers by themselves, of which a pass
        may have thousands."""
        for made_by, arguments in self.notes:
            if made_by is not use_of_buffer:
                made = made_by(*arguments)
                yield from (made,) if isinstance(made, Use) else made

    def __iter__(self) -> Iterator[Use]:
        found: dict[tuple[Any, ...], Use] = {}
        for made_by, arguments in self.notes:
            made = made_by(*arguments)
            for use in (made,) if isinstance(made, Use) else made:
                found.setdefault((id(use.thing), *use[1:]), use)
        return iter(found.values())
