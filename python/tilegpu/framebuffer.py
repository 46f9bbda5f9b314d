"""Framebuffers of one's own: layout, load, store, resolve and descriptor as five pieces, each with images of its own.

In: the pieces. Out: the core's attachments for a pass, and what they read and write. Source: PanVK's framebuffer abstraction ("Re-thinking
framebuffers in PanVK", Collabora 2026): loads, stores and resolves are decoupled and need not name the same images; a resolve is a
parallel copy from targets or images to targets; each is in two halves, in bounds and border.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tilegpu import _core, arguments, enums, notebook
from tilegpu.attachment import Attachment, clear_color, clear_depth_stencil, rect_of
from tilegpu.context import Context
from tilegpu.errors import Error, UnusedNameWarning, ValidationError, users_level
from tilegpu.fixed import Fixed, Made
from tilegpu.image import Image, ImageView, Texture
from tilegpu.uses import Use, use_of_view

#: Of a pass, as of images (the core's kMaxImageLayers).
MAX_LAYERS = 2048

_MODES: dict[str, int] = _core.ENUMS["resolve_mode"]
_NONE, _CLEAR, _IMAGE = 0, 1, 2  # TileLoad
_SOURCES = {"none": 0, **{f"color{i}": 2 + i for i in range(_core.MAX_COLOR_ATTACHMENTS)}, "depth": 10, "stencil": 11}
_FROM_IMAGE = 1
_KEPT = -1  # the border: whatever keeps the stored image's pixels


def _piece(piece: object, **fields: object) -> str:
    """A piece for people: its fields that say something."""
    said = ", ".join(f"{name} {value}" for name, value in fields.items() if value is not None and value is not False)
    return f"<tilegpu.{type(piece).__name__} {said or 'of nothing'}>"


class _Piece(Made):
    """Base of the five. There is nothing to set: what a piece says is looked at when it is made."""

    _closed = True


class FramebufferLayout(_Piece):
    """First piece: what tile memory holds, and where the pass works. Nothing of images.

    ``color``: formats, ``None`` for an unused slot; ``depth``, ``stencil``: formats (one with both for both). ``size``: (width, height) in
    pixels. ``samples``: 1, 2, 4, 8 or 16. ``area``: (x, y, width, height) in pixels, all by default. ``layers``, ``view_mask``: as of
    :meth:`tilegpu.Device.render_pass`.
    """

    def __init__(
        self,
        color: Sequence[Any] = (),
        depth: Any = None,
        stencil: Any = None,
        *,
        size: Sequence[int],
        samples: int = 1,
        area: Sequence[int] | None = None,
        layers: int = 1,
        view_mask: int = 0,
    ) -> None:
        what = "framebuffer: layout"
        color = arguments.sequence([color] if isinstance(color, str) else color, f"{what}: color", "it must be formats")
        if len(color) > _core.MAX_COLOR_ATTACHMENTS:
            raise ValidationError(f"{what}: color has {len(color)} formats; at most {_core.MAX_COLOR_ATTACHMENTS} are allowed")
        given = {f"color{i}": format_ for i, format_ in enumerate(color)} | {"depth": depth, "stencil": stencil}
        self.formats = {name: enums.parse_format(f, f"{what}: {name}") for name, f in given.items() if f is not None}
        if not self.formats:
            raise ValidationError(f"{what} has no target; give color= or depth= formats")
        for name, info in self.formats.items():
            has = not info.is_depth_stencil if name.startswith("color") else bool(getattr(info, f"{name}_bits"))
            if not has:
                raise ValidationError(f"{what}: {name} is {info.name}; it must be a format with {name.rstrip('0123456789')}")
        if depth is not None and stencil is not None and self.formats["depth"] != self.formats["stencil"]:
            raise ValidationError(f"{what}: depth and stencil have two formats; give both the same one, such as 'd24_unorm_s8_uint'")
        self.colors = len(color)
        must = "it must be (width, height) in pixels, at least 1 each"
        self.size: tuple[int, int] = tuple(arguments.wholes(size, f"{what}: size", 2, must))  # type: ignore[assignment]
        self.samples = arguments.whole(samples, f"{what}: samples")
        self.area = None if area is None else rect_of(area, f"{what}: area")
        self.layers = arguments.whole(layers, f"{what}: layers")
        self.view_mask = arguments.view_mask(view_mask, f"{what}: view_mask")
        if self.view_mask and self.layers != 1:
            raise ValidationError(f"{what}: layers is {layers} beside view_mask; the views are the layers, leave one of them out")
        if min(self.size) < 1 or not 1 <= self.layers <= MAX_LAYERS:
            raise ValidationError(f"{what}: size is {self.size} with {self.layers} layers; {must}, and 1 to {MAX_LAYERS} layers")
        if self.samples not in (1, 2, 4, 8, 16):
            raise ValidationError(f"{what}: samples is {samples}, allowed is 1, 2, 4, 8 or 16")

    def __repr__(self) -> str:
        targets = ", ".join(f"{name} {info.name}" for name, info in self.formats.items())
        samples = f", {self.samples} samples" if self.samples > 1 else ""
        return f"<tilegpu.FramebufferLayout {self.size[0]}x{self.size[1]} px{samples}: {targets}>"

    @property
    def all_layers(self) -> int:
        """As many layers as images must have."""
        return max(self.layers, self.view_mask.bit_length())


class Load(_Piece):
    """Second piece, of one target: what a tile starts with.

    ``image``: of the layout's format, with its samples or with one, which goes to all; or ``clear``: a colour, or a number for depth or
    stencil; neither: nothing is loaded, and the tile starts at zero. ``border``: the same around the render area, where blocks of a
    block-compressed image reach beyond it: ``"image"``, ``"clear"``, ``"none"``; by default what keeps the stored image's pixels.
    """

    def __init__(self, image: Any = None, *, clear: Any = None, border: str | None = None) -> None:
        if image is not None and clear is not None:
            raise ValidationError("Load: image and clear are both given; a border of the other kind is border=")
        if border is not None and not (isinstance(border, str) and border in ("image", "clear", "none")):
            raise ValidationError(f"Load: border is {arguments.shown(border)}; it must be 'image', 'clear', 'none' or None")
        self.image, self.clear, self.border = image, clear, border

    def __repr__(self) -> str:
        return _piece(self, image=self.image, clear=self.clear, border=self.border)


class Store(_Piece):
    """Third piece, of one target: where it goes.

    ``image``: of the layout's format. ``samples``: ``"all"``, of an image with as many; else how they become the one of the image:
    ``"average"``, ``"sample_zero"``, ``"min"``, ``"max"`` (by default what Vulkan's resolve does, and sample zero behind a
    :class:`Resolve`). ``always``: also from tiles that no primitive touches where the image has the values already.
    """

    def __init__(self, image: Any, *, samples: str | None = None, always: bool = False) -> None:
        if samples is not None and not isinstance(samples, str):
            raise ValidationError(f"Store: samples is {arguments.shown(samples)}; it must be 'all', a resolve mode or None")
        self.image, self.samples = image, samples
        self.always = arguments.flag(always, "Store: always")

    def __repr__(self) -> str:
        return _piece(self, image=self.image, samples=self.samples, always=self.always)


class Resolve(_Piece):
    """Fourth piece, of one target: what its samples become at the end of the pass, before the store.

    ``source``: a target (``"color0"``, ``"depth"``, ...), this one or another; or an image, whose texels come in. All resolves of a pass
    read before any writes: targets may be exchanged. ``mode``: how the samples of the source become one, ``"average"`` by default
    (integers, depth and stencil: ``"sample_zero"``), ``"sample_zero"``, ``"min"``, ``"max"``. ``border``: a source for the pixels around
    the render area that a block-compressed image is stored with.
    """

    def __init__(self, source: Any, mode: str | None = None, *, border: Any = None) -> None:
        self.source, self.mode, self.border = source, mode, border

    def __repr__(self) -> str:
        return _piece(self, source=self.source, mode=self.mode, border=self.border)


def bins_nothing(profile: str) -> bool:
    """It has no heap for primitives either."""
    from tilegpu.cost_constants import CONSTANTS  # of models alone; `import tilegpu` goes without them

    return profile in CONSTANTS and CONSTANTS[profile].kind == "immediate"


class FramebufferDesc(_Piece):
    """Fifth piece: what is neither layout nor operation. ``None``: as the profile and the device have it.

    ``tiler_heap_B``: bytes of binned geometry beyond which the pass is split. ``draws_a_part``: draws after which it is split, as by a
    limit of the hardware. ``transaction_elimination``, ``hsr_prepass``: ``False`` switches them off for the pass.
    """

    def __init__(
        self,
        *,
        tiler_heap_B: int | None = None,
        draws_a_part: int | None = None,
        transaction_elimination: bool = True,
        hsr_prepass: bool = True,
    ) -> None:
        what = "framebuffer: desc"
        self.tiler_heap_B = 0 if tiler_heap_B is None else arguments.count(tiler_heap_B, f"{what}: tiler_heap_B")
        self.draws_a_part = 0 if draws_a_part is None else arguments.count(draws_a_part, f"{what}: draws_a_part", 0xFFFFFFFF)
        if tiler_heap_B == 0 or draws_a_part == 0:
            raise ValidationError(f"{what}: tiler_heap_B and draws_a_part are at least 1; None for no limit of the pass's own")
        self.transaction_elimination = arguments.flag(transaction_elimination, f"{what}: transaction_elimination")
        self.hsr_prepass = arguments.flag(hsr_prepass, f"{what}: hsr_prepass")

    def __repr__(self) -> str:
        limits = {"tiler_heap_B": self.tiler_heap_B or None, "draws_a_part": self.draws_a_part or None}
        off = [name for name in ("transaction_elimination", "hsr_prepass") if not getattr(self, name)]
        return _piece(self, **limits, **dict.fromkeys(off, "off"))

    def core(self) -> _core.FramebufferDesc:
        """The core's."""
        return _core.FramebufferDesc(self.tiler_heap_B, self.draws_a_part, self.transaction_elimination, self.hsr_prepass)


class _Target:
    """One target of all pieces: the core's attachment, its view, and the images of its pieces."""

    def __init__(self, name: str, core: _core.RenderingAttachment, view: ImageView) -> None:
        self.name, self.core, self.view = name, core, view
        self.load: ImageView | None = None
        self.store: ImageView | None = None
        self.resolve: ImageView | None = None

    @property
    def aspect(self) -> str:
        return self.name if self.name in ("depth", "stencil") else "color"


class Framebuffer(Fixed):
    """A framebuffer of one's own. Made by :meth:`tilegpu.Device.framebuffer`; see there."""

    def __init__(
        self,
        device: Context,
        layout: FramebufferLayout,
        load: Mapping[str, Load] | None,
        store: Mapping[str, Store | Any] | None,
        resolve: Mapping[str, Resolve | Any] | None,
        desc: FramebufferDesc | None,
        label: str,
    ) -> None:
        self.label = arguments.text(label, "framebuffer: label")
        self._what = f"framebuffer '{self.label}'"
        self._device = device
        if not isinstance(layout, FramebufferLayout):
            raise ValidationError(f"{self._what}: layout is {arguments.shown(layout)}; it must be a tilegpu.FramebufferLayout")
        if desc is not None and not isinstance(desc, FramebufferDesc):
            raise ValidationError(f"{self._what}: desc is {arguments.shown(desc)}; it must be a tilegpu.FramebufferDesc")
        self.layout, self.desc = layout, desc or FramebufferDesc()
        parts = [name for name in ("tiler_heap_B", "draws_a_part") if getattr(self.desc, name)]
        if parts and bins_nothing(device.profile):
            said = f"{self._what}: desc: {' and '.join(parts)} splits no pass on {device.profile}, which bins nothing; leave it out"
            warnings.warn(said, UnusedNameWarning, stacklevel=users_level())
        self.load = self._pieces(load, "load", Load)
        self.store = self._pieces(store, "store", Store)
        self.resolve = self._pieces(resolve, "resolve", Resolve)
        self._transient: dict[str, Image] = {}
        self.targets = [self._target(name) for name in layout.formats]
        self._try()

    def _pieces(self, given: Any, piece: str, kind: Any) -> dict[str, Any]:
        """By target, each of its class; an image alone is what its class makes of it."""
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise ValidationError(f"{self._what}: {piece} is {arguments.shown(given)}; it must be a dictionary by target, such as 'color0'")
        found: dict[str, Any] = {}
        for name, value in given.items():
            if name not in self.layout.formats:
                there = ", ".join(self.layout.formats)
                raise ValidationError(f"{self._what}: {piece} names {arguments.shown(name)}; the layout has {there}")
            image = isinstance(value, (Image, ImageView, Texture)) or (kind is Resolve and isinstance(value, str))
            if not image and not isinstance(value, kind):
                raise ValidationError(
                    f"{self._what}: {piece}: {name} is {arguments.shown(value)}; it must be a tilegpu.{kind.__name__} or an image"
                )
            found[name] = kind(value) if image else value
        return found

    def _view(self, image: Any, what: str, name: str) -> ImageView:
        """A view of the pass's layers, of the target's format and as large as the layout says."""
        view = Attachment(image)._view(image, self.layout.all_layers, what)
        self._device.say_foreign(view.image, what)
        wanted = self.layout.formats[name].name
        if view.view_format != wanted:
            given = "image" if view.view_format == view.format else "the view of image"
            raise ValidationError(
                f"{what}: {given} '{view.image.label}' has format {view.view_format}; the layout's {name} is {wanted}, and a piece does "
                f"not convert: give an image of {wanted}, or change the layout"
            )
        size = (max(1, view.image.width >> view.level), max(1, view.image.height >> view.level))
        if size != self.layout.size:
            raise ValidationError(
                f"{what}: image '{view.image.label}' has {size[0]}x{size[1]} px; the layout's size is "
                f"{self.layout.size[0]}x{self.layout.size[1]}, give area= for a part of it"
            )
        return view

    def _attached(self, name: str) -> ImageView:
        """What a split spills to: the image that takes all samples, or else one that has no memory before."""
        both = [n for n in ("depth", "stencil") if n in self.layout.formats]
        names = both if name in both else [name]  # depth and stencil are of one image
        stored = [self.store.get(n) for n in names]
        views = [None if s is None else self._view(s.image, f"{self._what}: store: {n}", n) for n, s in zip(names, stored, strict=True)]
        first = views[0]
        same = first is not None and all(v is not None and v.core == first.core for v in views)
        whole = all(s is None or s.samples in (None, "all") for s in stored)
        if first is not None and same and whole and first.image.samples == self.layout.samples:
            return first
        key = names[0]
        if key not in self._transient:
            layers = self.layout.all_layers
            self._transient[key] = Image.create(
                self._device, self.layout.size, self.layout.formats[name].name, samples=self.layout.samples, transient=True,
                layers=layers, label=f"{self.label}: {' and '.join(names)}",
            )  # fmt: skip
        return self._view(self._transient[key], self._what, name)

    def _store_mode(self, name: str, store: Store, view: ImageView) -> int:
        if store.samples is None:
            if view.image.samples == self.layout.samples:
                return _MODES["none"]
            return _MODES["sample_zero"] if name in self.resolve else self._default_mode(name)
        if store.samples == "all":
            return _MODES["none"]
        return enums.parse("resolve_mode", store.samples, f"{self._what}: store: {name}: samples", ("all",))

    def _default_mode(self, source: str) -> int:
        averages = source.startswith("color") and not self.layout.formats[source].is_integer
        return _MODES["average" if averages else "sample_zero"]

    def _source(self, name: str, value: Any, what: str) -> int:
        if isinstance(value, (Image, ImageView, Texture)):
            return _FROM_IMAGE
        if isinstance(value, str) and value in _SOURCES and (value == "none" or value in self.layout.formats):
            return _SOURCES[value]
        there = ", ".join(self.layout.formats)
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be an image, or a target of the layout: {there}")

    def _target(self, name: str) -> _Target:
        info = self.layout.formats[name]
        load, store, resolve = self.load.get(name, Load()), self.store.get(name), self.resolve.get(name)
        what = f"{self._what}: load: {name}"
        clear = (
            _core.ClearValue.color(info.number, clear_color(load.clear, f"{what}: clear", info))
            if name.startswith("color")
            else clear_depth_stencil(load.clear, name, f"{what}: clear")
        )
        view = self._attached(name)
        core = _core.RenderingAttachment(
            view.core, enums.parse("attachment_load_op", "dont_care", what), enums.parse("attachment_store_op", "dont_care", what),
            clear, _MODES["none"], None,
        )  # fmt: skip
        target = _Target(name, core, view)
        if load.image is not None:
            target.load = self._view(load.image, what, name)
        if store is not None:
            target.store = self._view(store.image, f"{self._what}: store: {name}", name)
        if load.border == "image" and target.load is None:
            if target.store is None:
                raise ValidationError(f"{what}: border is 'image', but neither load nor store names one")
            target.load = target.store
        source, border, mode = 0, _KEPT, _MODES["none"]
        if resolve is not None:
            what = f"{self._what}: resolve: {name}"
            source = self._source(name, resolve.source, f"{what}: source")
            if resolve.border is not None:
                border = self._source(name, resolve.border, f"{what}: border")
            images = [v for v in (resolve.source, resolve.border) if isinstance(v, (Image, ImageView, Texture))]
            if images:
                views = [self._view(v, what, name) for v in images]
                target.resolve = views[0]
                if any(v.core != views[0].core for v in views):
                    raise ValidationError(f"{what}: source and border are two images; a target's resolve reads one")
            if resolve.mode is not None:
                mode = enums.parse("resolve_mode", resolve.mode, f"{what}: mode")
            elif isinstance(resolve.source, str) and resolve.source != "none" and self.layout.samples > 1:
                mode = self._default_mode(resolve.source)
            elif target.resolve is not None and target.resolve.image.samples > 1:
                mode = self._default_mode(name)
        core.own(_core.AttachmentPieces(
            _IMAGE if load.image is not None else _CLEAR if load.clear is not None else _NONE,
            _KEPT if load.border is None else {"none": _NONE, "clear": _CLEAR, "image": _IMAGE}[load.border],
            None if target.load is None else target.load.core,
            None if target.store is None else target.store.core,
            store is not None and store.always,
            _MODES["none"] if store is None or target.store is None else self._store_mode(name, store, target.store),
            source, border, mode,
            None if target.resolve is None else target.resolve.core,
        ))  # fmt: skip
        return target

    def attachments(self) -> tuple[list[_core.RenderingAttachment], _core.RenderingAttachment, _core.RenderingAttachment]:
        """The core's: colours, depth, stencil."""
        by_name = {target.name: target.core for target in self.targets}
        none = _core.RenderingAttachment()
        colors = [by_name.get(f"color{i}", none) for i in range(self.layout.colors)]
        return colors, by_name.get("depth", none), by_name.get("stencil", none)

    def _try(self) -> None:
        """Begins a pass and drops it, so that what can't be is an error here."""
        commands = _core.CommandBuffer(self._device.core)
        commands.begin()
        colors, depth, stencil = self.attachments()
        try:
            commands.begin_rendering(
                colors, depth, stencil, list(self.layout.area or (0, 0, 0, 0)), self.layout.all_layers, 0, self.label,
                view_mask=self.layout.view_mask, desc=self.desc.core(),
            )  # fmt: skip
        except Error as wrong:
            raise type(wrong)(str(wrong).replace(f"pass '{self.label}'", self._what)) from None
        commands.discard_rendering()

    def undefined(self) -> list[str]:
        """What is loaded or resolved from though nobody wrote it."""
        notes = []
        for target in self.targets:
            for view, how in ((target.load, "loaded"), (target.resolve, "a source of its resolve")):
                aspect = None if target.aspect == "color" else target.aspect
                if view is not None and (reason := view.why_undefined(aspect)):
                    notes.append(
                        f"{target.name}: image '{view.image.label}' is {how}, but its contents are undefined: {reason}; "
                        "clear it, or draw to it before"
                    )
        return notes

    def uses(self) -> Iterable[Use]:
        """What a pass of it reads and writes."""
        whole = self.layout.area is None or tuple(self.layout.area) == (0, 0, *self.layout.size)
        for target in self.targets:
            more: dict[str, Any] = {"aspect": target.aspect, "attachment": target.name}
            if target.load is not None:
                yield from use_of_view(target.load, False, "load", **more)
            if target.resolve is not None:
                yield from use_of_view(target.resolve, False, "load", **more)
            if target.store is not None:
                how = "store" if target.store.image.samples == self.layout.samples else "resolve"
                yield from use_of_view(target.store, True, how, whole=whole, **more)

    def _repr_html_(self) -> str:
        """Its targets: where each begins, and where it goes."""

        def name(view: ImageView | None) -> str:
            return "" if view is None else view.image.label

        rows = [(t.name, self.layout.formats[t.name].name, name(t.load), name(t.store), name(t.resolve)) for t in self.targets]
        title = f"framebuffer '{self.label}', {self.layout.samples} sample(s)"
        return notebook.table(title, ("target", "format", "load", "store", "resolve"), rows)

    def __repr__(self) -> str:
        return f"<tilegpu.Framebuffer '{self.label}', {', '.join(self.layout.formats)}, {self.layout.samples} samples>"
