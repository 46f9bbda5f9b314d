"""What a pass renders to: an image, what happens to it before and after, and the values that clear it.

In: what the user gives for a colour, depth or stencil attachment. Out: the core's attachment and the view that is rendered to.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu import _core, arguments, enums, notebook
from tilegpu.errors import ClampedValueWarning, ValidationError, users_level
from tilegpu.fixed import OfThisProcess, Slotted
from tilegpu.image import Image, ImageView, KeptView, Texture
from tilegpu.texels import MOST_FINITE, MOST_UNSIGNED

if TYPE_CHECKING:
    from tilegpu.context import Context

#: What sums and products of 32 bits leave beside 0 and 1.
_ROUNDING = 1e-5
#: Kinds of formats of which every component holds all from 0 to 1.
_HOLD_0_TO_1 = frozenset({"unorm", "srgb", "snorm", "sfloat"})


def _is_zero(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float, np.integer, np.floating)) and not value)


class Attachment(OfThisProcess, Slotted):
    """An image in a pass: what happens to it before (load), after (store) and to whom it is resolved.

    ``load_op``: ``"load"``, ``"clear"``, ``"dont_care"``, ``"none"``; by default ``"clear"`` if ``clear`` is given,
    else ``"load"``.
    ``clear``: (r, g, b, a) for colour (integers for integer formats), one number for depth or stencil. Of fewer than four the rest is that
    of (0, 0, 0, 1): (r, g, b) is opaque.
    ``store_op``: ``"store"``, ``"dont_care"``, ``"none"``.
    ``resolve``: a single-sampled image that receives the resolved samples, in tile memory; ``resolve_mode``: of colours ``"average"``,
    of integers ``"sample_zero"``; of depth ``"sample_zero"`` (the default), ``"average"``, ``"min"``, ``"max"``, of stencil all but
    ``"average"``.
    ``level``, ``layer``: which part of the image, if ``image`` is no view; of a 3D image ``layer`` is a slice.
    """

    __slots__ = ("clear", "image", "layer", "level", "load_op", "resolve", "resolve_mode", "store_op")
    image: Image | ImageView | Texture
    load_op: str
    clear: Any
    store_op: str
    resolve: Image | ImageView | Texture | None
    resolve_mode: str | None
    level: int
    layer: int

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
        # The slots at once: a pass makes some attachments, and __setattr__ looks at each name.
        load_op = load_op if load_op is not None else ("clear" if clear is not None else "load")
        _say(self, image, load_op, clear, store_op, resolve, resolve_mode, level, layer)

    def _repr_html_(self) -> str:
        """What happens to the image."""
        clear = "" if self.clear is None else str(self.clear)
        resolve = "" if self.resolve is None else f"{self.resolve!r}, {self.resolve_mode or 'by the default mode'}"
        rows = [("image", repr(self.image)), ("load", self.load_op), ("clear", clear), ("store", self.store_op), ("resolve", resolve),
                ("level", self.level or ""), ("layer", self.layer or "")]  # fmt: skip
        return notebook.facts("attachment", rows)

    def __repr__(self) -> str:
        resolve = f", resolve={self.resolve!r}" if self.resolve is not None else ""
        return f"tilegpu.Attachment({self.image!r}, load_op={self.load_op!r}, store_op={self.store_op!r}{resolve})"

    def _view(self, image: Any, layers: int, what: str) -> ImageView:
        if isinstance(image, ImageView):
            image.require_identity(what, "an attachment")
            if not (_is_zero(self.level) and _is_zero(self.layer)):
                raise ValidationError(
                    f"{what}: level is {arguments.shown(self.level)} and layer {arguments.shown(self.layer)} beside a view, which says "
                    "both; leave them out, or give the image"
                )
            return image
        if isinstance(image, Texture):
            image = image.image
        if not isinstance(image, Image):
            raise ValidationError(f"{what} is {arguments.shown(image)}; it must be an image, a view or a tilegpu.Attachment")
        self.level = arguments.whole(self.level, f"{what}: level")
        self.layer = arguments.whole(self.layer, f"{what}: layer")
        there = image._layer_count(self.level) if 0 <= self.level < image.mip_levels else image._layer_count(0)
        if not 0 <= self.level < image.mip_levels or not 0 <= self.layer <= there - layers:
            of_pass = "layers= of the pass, or its view_mask= to the highest bit"
            from_it = f"{layers} layers from it ({of_pass})" if layers > 1 else "1 layer from it"
            raise ValidationError(
                f"{what}: level {self.level}, layer {self.layer} and {from_it}; image '{image.label}' has "
                f"{image.mip_levels} levels and {there} {'slices' if image.type == '3d' else 'layers'}"
            )
        flat = "1d" if image.type == "1d" else "2d"
        return image.view(
            flat if layers == 1 else f"{flat}_array", level=self.level, levels=1, layer=self.layer, layers=layers
        )

    def _keep_built(self, aspect: str, core: _core.RenderingAttachment, view: ImageView) -> None:
        """For passes like this one. Only what warns of nothing, and holds no numbers that somebody may change."""
        image, clear = self.image, self.clear
        if type(image) is not Image or image.planes or self.resolve is not None or self.level or self.layer or view.layers != 1:
            return
        if type(self.load_op) is not str or type(self.store_op) is not str or self.load_op not in ("clear", "dont_care"):
            return
        plain = clear is None
        if aspect == "color":
            plain |= type(clear) is tuple and len(clear) == 4 and view.view_info.numeric in _HOLD_0_TO_1 and _are_0_to_1(clear)
        else:
            plain |= aspect == "depth" and type(clear) is float
        if plain:
            image._built[aspect] = Built(clear, self.load_op, self.store_op, core, KeptView(view), image.size)

    def build(self, aspect: str, layers: int, what: str) -> tuple[_core.RenderingAttachment, ImageView]:
        """The core's attachment and the view that is rendered to."""
        view = self._view(self.image, layers, what)
        info = view.view_info
        if aspect == "color":
            if info.is_depth_stencil:
                raise ValidationError(
                    f"{what}: image '{view.image.label}' has format {info.name}, which is no colour; give it as depth= or stencil="
                )
            clear = _core.ClearValue.color(info.number, clear_color(self.clear, f"{what}: clear", info))
        else:
            if not (info.depth_bits if aspect == "depth" else info.stencil_bits):
                raise ValidationError(
                    f"{what}: image '{view.image.label}' has format {info.name}, which has no {aspect}"
                )
            clear = clear_depth_stencil(self.clear, aspect, f"{what}: clear")
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
            mode = enums.parse("resolve_mode", default if self.resolve_mode is None else self.resolve_mode, f"{what}: resolve_mode")
            if mode == _core.ENUMS["resolve_mode"]["none"]:
                raise ValidationError(f"{what}: resolve_mode is 'none' beside resolve=; leave both out where nothing is resolved")
        elif self.resolve_mode is not None:
            raise ValidationError(f"{what}: resolve_mode is {arguments.shown(self.resolve_mode)}, but resolve= names no image")
        core = _core.RenderingAttachment(
            view.core, load_op, store_op, clear, mode, None if resolve_view is None else resolve_view.core
        )
        if layers == 1:
            self._keep_built(aspect, core, view)
        return core, view



_SLOTS = ("image", "load_op", "clear", "store_op", "resolve", "resolve_mode", "level", "layer")
_say, _said = _core.slot_writer(Attachment, _SLOTS), _core.slot_reader(Attachment, _SLOTS)


def built_before(attachment: Attachment, aspect: str, device: Context) -> Built | None:
    """What :meth:`Attachment.build` of the whole image made, where image, operations and clear value are those of the last time, nothing is
    loaded and nothing resolved: there is nothing new to look at. ``None``: build it."""
    said = _said(attachment)
    if said is None:
        return None
    image, load_op, clear, store_op, resolve, resolve_mode, level, layer = said
    if type(image) is not Image or resolve is not None or resolve_mode is not None:
        return None
    of_image = _core.dict_of(image)
    built: Built | None = of_image["_built"].get(aspect)
    if built is None or of_image["_device"] is not device or not (type(level) is type(layer) is int) or level or layer:
        return None
    if not (type(load_op) is type(store_op) is str and built.load_op == load_op and built.store_op == store_op):
        return None
    return built if clear is built.clear or _core.same_floats(clear, built.clear) else None


class Built(NamedTuple):
    """What an attachment said of an image, and what became of it. ``size``: (width, height) in pixels."""

    clear: Any
    load_op: str
    store_op: str
    core: _core.RenderingAttachment
    view: KeptView
    size: tuple[int, int]


def _are_0_to_1(value: tuple[Any, ...]) -> bool:
    """Plain numbers that need no second look."""
    return all((type(v) is float or type(v) is int) and 0 <= v <= 1 for v in value)


def clear_color(value: Any, what: str, info: enums.FormatInfo) -> list[float]:
    """Four numbers of what the user gave, (0, 0, 0, 0) for nothing; warns of those that the format does not hold."""
    if value is None:
        return [0.0, 0.0, 0.0, 0.0]
    if type(value) is tuple and len(value) == 4 and info.numeric in _HOLD_0_TO_1 and _are_0_to_1(value):
        return list(map(float, value))
    values = list(arguments.numbers(value, what, (1, 2, 3, 4), "it must be (r, g, b, a)"))
    if info.is_integer:
        signed = info.numeric == "sint"
        low, high = (-(1 << info.component_bits - 1), (1 << info.component_bits - 1) - 1) if signed else (0, (1 << info.component_bits) - 1)
        fits, must = [float(v).is_integer() and low <= v <= high for v in values], f"whole numbers from {low} to {high}"
        values = [0.0 if v != v else v for v in values]  # NaN has no integer: the processor would choose one
    elif info.numeric in ("unorm", "srgb", "snorm"):
        low = -1 if info.numeric == "snorm" else 0
        # What rounding leaves above 1 is stored as 1 all the same.
        fits, must = [low - _ROUNDING <= v <= 1 + _ROUNDING for v in values], f"numbers from {low} to 1"
    elif info.numeric == "sfloat":
        most = MOST_FINITE[info.component_bits]
        fits, must = [abs(v) <= most or math.isinf(v) or v != v for v in values], f"numbers up to {most:g}"
    elif info.numeric == "ufloat":
        most = MOST_UNSIGNED.get(info.name, math.inf)
        fits, must = [0 <= v <= most or v == math.inf or v != v for v in values], f"numbers from 0 to {most:g}"
    else:
        return values + [0.0, 0.0, 0.0, 1.0][len(values) :]
    if not all(fits[: info.component_count]):  # what the format has not is nowhere
        fixed = info.numeric in ("unorm", "srgb", "snorm")
        hint = "; (r, g, b, a) of 255 are divided by 255" if max(values) > 2 and fixed else ""
        become = "larger ones become infinite" if info.numeric == "sfloat" else "others are clamped"
        text = f"{what} is {arguments.shown(value)}; {info.name} takes {must}, and {become}{hint}"
        warnings.warn(text, ClampedValueWarning, stacklevel=users_level())
    return values + [0.0, 0.0, 0.0, 1.0][len(values) :]


def clear_depth_stencil(value: Any, aspect: str, what: str) -> _core.ClearValue:
    """The clear value of a number, 1.0 and 0 for nothing."""
    if value is None:
        return _core.ClearValue.depth_stencil(1.0, 0)
    number = arguments.number(value, what, f"{aspect} takes one number")
    if aspect == "depth":
        if not 0.0 <= number <= 1.0:
            raise ValidationError(f"{what} is {arguments.shown(value)}; depth is 0 to 1")
        return _core.ClearValue.depth_stencil(number, 0)
    if not number.is_integer() or not 0 <= number <= 255:
        raise ValidationError(f"{what} is {arguments.shown(value)}; stencil is a whole number 0 to 255")
    return _core.ClearValue.depth_stencil(1.0, int(number))


def rect_of(value: Sequence[int], what: str) -> list[int]:
    """(x, y, width, height) as integers that fit the core."""
    x, y, width, height = arguments.wholes(value, what, 4, "it must be (x, y, width, height) in pixels")
    if width < 0 or height < 0 or max(abs(x), abs(y), width, height) > 0x7FFFFFFF:
        raise ValidationError(f"{what} is {arguments.shown(value)}; width and height must not be negative, and all must fit 31 bits")
    return [x, y, width, height]
