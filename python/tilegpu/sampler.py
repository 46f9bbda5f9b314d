"""Samplers. In: Vulkan's names for filters, addresses, comparisons. Out: the core's sampler."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from tilegpu import _core, arguments, enums, notebook
from tilegpu.errors import UnusedNameWarning, ValidationError, users_level
from tilegpu.fixed import Fixed
from tilegpu.ycbcr import SamplerYcbcrConversion

_BORDER = "float_transparent_black"


class SamplerOptions(TypedDict, total=False):
    """What :class:`Sampler` takes, for what passes it on."""

    filter: str | None
    mag_filter: str | None
    min_filter: str | None
    mipmap_mode: str | None
    address: str | Sequence[str] | None
    mip_lod_bias: float
    min_lod: float
    max_lod: float | None
    compare: str | None
    border_color: str | Sequence[float]
    max_anisotropy: float
    reduction: str
    unnormalized_coordinates: bool
    non_seamless_cube_map: bool
    ycbcr: SamplerYcbcrConversion | None


class Sampler(Fixed):
    """How a texture is read. Made by :meth:`tilegpu.Device.sampler`.

    ``filter`` sets those of the three filters that are not given by themselves, by default ``"linear"`` (of formats that can't be
    filtered, such as integers, ``"nearest"``). ``"cubic"`` as ``filter``, ``mag_filter`` or ``min_filter`` takes sixteen texels of a 2D
    view (four of 1D, 64 of 3D) with Catmull-Rom weights, whose results may be a little beyond the texels'; between levels it is
    ``"linear"``. Cubes have none, and it goes without anisotropy.
    ``address`` is one mode, or one each for u, v (and w; else v's), by default ``"repeat"``;
    ``max_lod=None`` is no limit. ``compare``: for shaders that compare depths (``sampler2DShadow``), and for them alone.
    ``border_color``: a name, or four numbers, which are integers for integer formats and floats for others.
    ``max_anisotropy``: up to so many samples (16) along the longer side of what a pixel covers, whose mean it is; of integers one.
    ``reduction``: ``"min"`` and ``"max"`` take the least or greatest of the texels in place of their average.
    ``non_seamless_cube_map``: the faces of a cube are images by themselves, with ``address`` at their edges, as OpenGL's are unless asked
    otherwise; by default a filter goes over the edge to the next face, whatever ``address`` is.
    ``ycbcr``: a conversion (:meth:`tilegpu.Device.sampler_ycbcr_conversion`); shaders then only sample, without gather, fetch and
    offsets, ``address`` is ``"clamp_to_edge"``, and there is no anisotropy, reduction, comparison.
    """

    __slots__ = (
        "__weakref__", "_text", "border", "border_numbers", "compares", "core", "cubic", "linear", "lod_bias", "lods", "mip_linear",
        "ycbcr",
    )  # fmt: skip

    def __init__(
        self,
        *,
        filter: str | None = None,
        mag_filter: str | None = None,
        min_filter: str | None = None,
        mipmap_mode: str | None = None,
        address: str | Sequence[str] | None = None,
        mip_lod_bias: float = 0.0,
        min_lod: float = 0.0,
        max_lod: float | None = None,
        compare: str | None = None,
        border_color: str | Sequence[float] = _BORDER,
        max_anisotropy: float = 1.0,
        reduction: str = "weighted_average",
        unnormalized_coordinates: bool = False,
        non_seamless_cube_map: bool = False,
        ycbcr: SamplerYcbcrConversion | None = None,
    ) -> None:
        if filter is not None:
            filters = {"mag_filter": mag_filter, "min_filter": min_filter, "mipmap_mode": mipmap_mode}
            say_all_given("sampler", "filter", filter, filters, [filter, filter, "linear" if _is_cubic(filter) else filter])
            mag_filter, min_filter = (filter if name is None else name for name in (mag_filter, min_filter))
            if mipmap_mode is None:
                mipmap_mode = "linear" if _is_cubic(filter) else filter  # between levels there is no cubic one
        self.compares = compare is not None
        given, between = (mag_filter, min_filter), mipmap_mode is not None
        mag_filter, min_filter, mipmap_mode = ("linear" if name is None else name for name in (*given, mipmap_mode))
        if ycbcr is not None and not isinstance(ycbcr, SamplerYcbcrConversion):
            raise ValidationError(
                f"sampler: ycbcr is {arguments.shown(ycbcr)}; it must be a conversion (dev.sampler_ycbcr_conversion)"
            )
        if address is None:
            address = "repeat" if ycbcr is None else "clamp_to_edge"
        addresses = addresses_of(address, "sampler: address")
        info = _core.SamplerCreateInfo()
        info.mag_filter = enums.parse("filter", mag_filter, "sampler: mag_filter")
        info.min_filter = enums.parse("filter", min_filter, "sampler: min_filter")
        #: Whether linear (or cubic) filtering was asked for, and not only what is there by default.
        linear, cubic = _core.ENUMS["filter"]["linear"], _core.ENUMS["filter"]["cubic"]
        filters_given = zip(given, (info.mag_filter, info.min_filter), strict=True)
        self.linear = any(name is not None and n in (linear, cubic) for name, n in filters_given)
        self.cubic = cubic in (info.mag_filter, info.min_filter)
        info.mipmap_mode = enums.parse("sampler_mipmap_mode", mipmap_mode, "sampler: mipmap_mode")
        self.linear |= between and info.mipmap_mode == _core.ENUMS["sampler_mipmap_mode"]["linear"]
        info.address_u, info.address_v, info.address_w = (
            enums.parse("sampler_address_mode", a, "sampler: address") for a in addresses
        )
        info.mip_lod_bias = arguments.number(mip_lod_bias, "sampler: mip_lod_bias")
        info.min_lod = arguments.number(min_lod, "sampler: min_lod")
        info.max_lod = 1000.0 if max_lod is None else arguments.number(max_lod, "sampler: max_lod")
        if compare is not None:
            info.compare_enable = True
            info.compare_op = enums.parse("compare_op", compare, "sampler: compare")
        if isinstance(border_color, str):
            info.border_color = enums.parse("border_color", border_color, "sampler: border_color")
        else:
            info.border_color, info.custom_border_bits = _custom_border(border_color)
        border = _core.ENUMS["sampler_address_mode"]["clamp_to_border"]
        if info.border_color != _core.ENUMS["border_color"][_BORDER] and border not in (info.address_u, info.address_v, info.address_w):
            warnings.warn(
                f"sampler: border_color has no effect with address={arguments.shown(address)}; give address='clamp_to_border'",
                UnusedNameWarning,
                stacklevel=users_level(),
            )
        #: Kind of the border's numbers, ``"float"`` or ``"int"``, where it has some and shows; else ``""``.
        self.border = _border_kind(info.border_color) if border in (info.address_u, info.address_v, info.address_w) else ""
        custom = self.border != "" and not isinstance(border_color, str)
        #: Of its own numbers, where they show: their least and greatest.
        self.border_numbers = (float(np.min(border_color)), float(np.max(border_color))) if custom else (0.0, 1.0)
        info.max_anisotropy = arguments.number(max_anisotropy, "sampler: max_anisotropy")
        info.reduction_mode = enums.parse("sampler_reduction_mode", reduction, "sampler: reduction")
        info.unnormalized_coordinates = arguments.flag(unnormalized_coordinates, "sampler: unnormalized_coordinates")
        info.non_seamless_cube_map = arguments.flag(non_seamless_cube_map, "sampler: non_seamless_cube_map")
        info.ycbcr = None if ycbcr is None else ycbcr.core
        self.lods = (info.min_lod, info.max_lod)  #: what levels of detail are cut to
        self.lod_bias = info.mip_lod_bias
        self.mip_linear = info.mipmap_mode == _core.ENUMS["sampler_mipmap_mode"]["linear"]
        self.ycbcr = ycbcr
        self.core = _core.Sampler(info)
        self._text = (
            f"mag {mag_filter}, min {min_filter}, mip {mipmap_mode}, address {'/'.join(dict.fromkeys(map(str, addresses)))}"
            + ("" if ycbcr is None else f", {ycbcr!r}")
        )

    def levels_of(self, least_lod: float, greatest_lod: float, count: int, view_min_lod: float = 0.0) -> tuple[int, int]:
        """(first, end) of the levels, of ``count``, that levels of detail between these read; 0 to infinity: whatever they are.
        ``view_min_lod``: of the view, from its first level on."""
        if greatest_lod == math.inf:
            least_lod = -math.inf  # with any bias
        high = min(max(self.lods[1], 0.0), count - 1.0)
        low = min(max(self.lods[0], 0.0), high)
        first, last = (max(min(max(lod + self.lod_bias, low), high), view_min_lod) for lod in (least_lod, greatest_lod))
        if self.mip_linear:
            return math.floor(first), math.ceil(last) + 1
        return max(math.ceil(first + 0.5) - 1, 0), max(math.ceil(last + 0.5) - 1, 0) + 1

    def require_filter(self, info: enums.FormatInfo, what: str, stencil: bool = False) -> None:
        """Raises where it was asked to filter what can't be filtered. ``stencil``: that is what is read of the format."""
        if self.linear and not self.compares and (stencil or not info.linear_filter) and not info.planes:
            asked = "cubic" if self.cubic else "linear"
            raise ValidationError(
                f"{what}, which can't be filtered, and the sampler's filter is {asked}: leave it out, or give filter='nearest', "
                "mipmap_mode='nearest'"
            )

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, _, value in (part.partition(" ") for part in self._text.split(", ") if " " in part)]
        lods = (("levels of detail", f"{self.lods[0]:g} to {self.lods[1]:g}" if self.lods != (0, 1000) else ""), ("bias", self.lod_bias))
        more = (*lods, ("compares depths", "yes" if self.compares else ""), ("border", self.border), ("conversion", self.ycbcr or ""))
        return notebook.facts("sampler", [*rows[:4], *more])

    def __repr__(self) -> str:
        return f"<tilegpu.Sampler {self._text}>"


def _is_cubic(filter: Any) -> bool:
    try:
        return enums.parse("filter", filter, "sampler: filter") == _core.ENUMS["filter"]["cubic"]
    except ValidationError:
        return False  # said by the filter's own name


def addresses_of(address: Any, what: str) -> list[Any]:
    """Those of u, v and w, of one mode or one each."""
    addresses = list(address) if isinstance(address, (list, tuple)) else [address] * 3
    if not 1 <= len(addresses) <= 3:
        raise ValidationError(f"{what} is {arguments.shown(address)}; give one mode, or one each for u, v (and w)")
    return [*addresses, *[addresses[-1]] * (3 - len(addresses))]


def say_all_given(what: str, one: str, given: Any, singly: Mapping[str, Any], values: Sequence[Any]) -> None:
    """Warns where ``one`` stands for several arguments, and each of these was given as something that is none of its ``values``' doing."""
    if given is None or None in singly.values() or list(singly.values()) == list(values):
        return
    each = ", ".join(f"{name}={arguments.shown(value)}" for name, value in singly.items())
    text = f"{what}: {one}={arguments.shown(given)} has no effect with {each}; leave out what it is to set"
    warnings.warn(text, UnusedNameWarning, stacklevel=users_level())


def _border_kind(color: int) -> str:
    name = enums.name_of("border_color", color)
    return "" if "transparent" in name else "int" if name.startswith("int") else "float"


def _custom_border(color: Any) -> tuple[int, list[int]]:
    """Which of the two custom border colours it is, and its bits."""
    array = arguments.array(color, "sampler: border_color", "it must be a name or four numbers")
    if array.shape != (4,) or array.dtype.kind not in "fiu":
        raise ValidationError(f"sampler: border_color is {arguments.shown(color)}; it must be a name or four numbers")
    if array.dtype.kind == "f":
        bits = array.astype(np.float32).view(np.uint32)
        return enums.parse("border_color", "float_custom", "sampler: border_color"), bits.tolist()
    if not all(-(1 << 31) <= v < 1 << 32 for v in array.tolist()):
        raise ValidationError(f"sampler: border_color is {arguments.shown(color)}; integers must fit 32 bits")
    bits = np.array([v & 0xFFFFFFFF for v in array.tolist()], np.uint32)
    return enums.parse("border_color", "int_custom", "sampler: border_color"), bits.tolist()
