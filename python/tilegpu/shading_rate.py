"""The attachment of a pass that tells how many pixels fragments have, by place (``VK_KHR_fragment_shading_rate``).

In: an image of r8_uint, and for how many pixels a texel is. Out: arguments of the core's begin_rendering, what the pass reads of it, and a
warning where no draw looks at it. Source: Vulkan specification, "Attachment Fragment Shading Rate".
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilegpu import _core, arguments
from tilegpu.errors import UnusedNameWarning, ValidationError, users_level
from tilegpu.image import Image, ImageView, Texture, image_of
from tilegpu.uses import Use, use_of_view

if TYPE_CHECKING:
    from tilegpu.context import Context

_NAME = "fragment_shading_rate"  #: as a row of the core's explanation has it
_OF_ATTACHMENT, _FORBIDDEN = "with the attachment's", "fragments of 1x1: "


class ShadingRate:
    """``value``: as of ``render_pass(shading_rate=)``; ``layers``: of the pass. Raises :class:`ValidationError` for everything but
    ``(image, (width, height))``."""

    def __init__(self, what: str, value: Any, layers: int) -> None:
        self._what = f"{what}: shading_rate"
        low, high = _core.SHADING_RATE_TEXEL_PX
        must = f"it must be (image, (width, height)): an image of r8_uint, and a texel's pixels, powers of two from {low} to {high}"
        if not isinstance(value, (tuple, list)) or len(value) != 2 or not isinstance(value[0], (Image, ImageView, Texture)):
            raise ValidationError(f"{self._what} is {arguments.shown(value)}; {must}")
        given = value[0].image if isinstance(value[0], Texture) else value[0]
        width, height = (int(side) for side in arguments.wholes(value[1], f"{self._what}: texel size", 2, must))
        for side in (width, height):
            if not low <= side <= high or side & (side - 1):
                raise ValidationError(f"{self._what}: texel size is {arguments.shown(value[1])}; {must}")
        image = image_of(given)
        if image.format != "r8_uint":
            raise ValidationError(f"{self._what}: image '{image.label}' has format {image.format}; {must}")
        layered = image.layers if layers > 1 and image.layers > 1 else 1
        self.view = given if isinstance(given, ImageView) else given.view("2d_array", level=0, levels=1, layer=0, layers=layered)
        self.texel_px = width, height

    def begin(self, device: Context, undefined: list[str]) -> dict[str, Any]:
        """Of the core's begin_rendering; ``undefined``: gets a line where nobody wrote it."""
        device.say_foreign(self.view.image, self._what)
        if reason := self.view.why_undefined(None):
            undefined.append(f"shading_rate: the contents of image '{self.view.image.label}' are undefined: {reason}; write it before")
        return {"shading_rate": self.view.core, "shading_rate_texel_px": self.texel_px}

    def uses(self) -> list[Use]:
        """What tells the sizes of fragments is read."""
        return use_of_view(self.view, False, "shading rate", aspect="color", attachment="shading_rate")

    def say_unused(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """``rows``: of the core's explanation of the pass. Warns where the state of no draw combines its rate with the attachment's."""
        reasons = [str(t["reason"]) for row in rows for t in row["techniques"] if t["technique"] == _NAME]
        if not any(_OF_ATTACHMENT in reason or reason.startswith(_FORBIDDEN) for reason in reasons):
            warnings.warn(
                f"{self._what}: image '{self.view.image.label}' has no effect: no draw takes it over; give a pipeline "
                "fragment_shading_rate={'combiner_ops': ('keep', 'replace')} (or 'min', 'max', 'mul')",
                UnusedNameWarning,
                stacklevel=users_level(),
            )
