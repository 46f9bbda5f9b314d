"""Sampler Y'CbCr conversions. In: Vulkan's names for models, ranges, chroma locations. Out: the core's conversion.

Source: Vulkan specification, VkSamplerYcbcrConversionCreateInfo.
"""

from __future__ import annotations

from typing import Any

from tilegpu import _core, arguments, enums, notebook
from tilegpu.fixed import Fixed


class SamplerYcbcrConversion(Fixed):
    """How luma and chroma of textures become RGB when they are sampled. Made by :meth:`tilegpu.Device.sampler_ycbcr_conversion`.

    ``format``: of the images, such as ``"g8_b8r8_2plane_420_unorm"`` (NV12), ``"g8_b8_r8_3plane_420_unorm"`` (I420), or a plain one
    such as ``"r8g8b8a8_unorm"``. Luma is in G, Cb in B, Cr in R. ``model``: ``"ycbcr_709"``, ``"ycbcr_601"``, ``"ycbcr_2020"``,
    ``"ycbcr_identity"`` (expanded, not converted), ``"rgb_identity"`` (neither). ``range``: ``"itu_narrow"`` (luma 16 to 235 of 255) or
    ``"itu_full"``. ``components``: four letters of ``rgba01`` before the conversion, such as ``"bgra"`` where Cr and Cb have changed
    places. ``x_chroma_offset``, ``y_chroma_offset``: where chroma lies that is there for two columns or rows, ``"cosited_even"`` (on the
    first) or ``"midpoint"`` (between both); the defaults are those of most video. ``chroma_filter``: ``"linear"`` or ``"nearest"``, of
    such chroma. ``force_explicit_reconstruction``: chroma is filtered to luma's texels first, and both then by the sampler's filter;
    else each is filtered by its own coordinates, which is faster.
    """

    __slots__ = ("_text", "core", "format_info")

    def __init__(
        self,
        format: Any,
        *,
        model: str = "ycbcr_709",
        range: str = "itu_narrow",
        components: str | None = None,
        x_chroma_offset: str = "cosited_even",
        y_chroma_offset: str = "midpoint",
        chroma_filter: str = "linear",
        force_explicit_reconstruction: bool = False,
    ) -> None:
        what = "sampler Y'CbCr conversion"
        self.format_info = enums.parse_format(format, f"{what}: format")
        self.core = _core.SamplerYcbcrConversion(
            self.format_info.number,
            enums.parse("sampler_ycbcr_model_conversion", model, f"{what}: model"),
            enums.parse("sampler_ycbcr_range", range, f"{what}: range"),
            enums.parse_swizzle(components, f"{what}: components"),
            enums.parse("chroma_location", x_chroma_offset, f"{what}: x_chroma_offset"),
            enums.parse("chroma_location", y_chroma_offset, f"{what}: y_chroma_offset"),
            enums.parse("filter", chroma_filter, f"{what}: chroma_filter"),
            arguments.flag(force_explicit_reconstruction, f"{what}: force_explicit_reconstruction"),
        )
        self._text = f"{model}, {range}, chroma {chroma_filter} at {x_chroma_offset}/{y_chroma_offset}"

    @property
    def format(self) -> str:
        """Of the images."""
        return self.format_info.name

    def _repr_html_(self) -> str:
        model, range_, chroma = self._text.split(", ")
        return notebook.facts(f"Y'CbCr conversion of {self.format}", [("model", model), ("range", range_), ("chroma", chroma[7:])])

    def __repr__(self) -> str:
        return f"<tilegpu.SamplerYcbcrConversion of {self.format}, {self._text}>"
