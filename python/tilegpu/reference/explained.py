"""Pixels inside that differ by more than 8/255 and are known: how many at most, and the likely reason.

The neighbourhoods were looked at for BoxTextured, Duck, teapot and NormalTangentTest; the other reasons are inferred from the
scenes' samplers and from lists of the values, and the limits from measured counts. Take them as a list of what is still to be proved.
A count is of pixels at the scene's own size and samples; at another size it scales with the area, and one pixel more is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """At most ``pixels`` per million covered pixels, for this reason."""

    per_million: float
    reason: str


_SHARED_EDGE = (
    "single pixels where two triangles of one surface meet: a sample on their common edge goes to the other triangle, "
    "whose colour at this pixel is extrapolated"
)
_NEAREST = "texels of a nearest filter: a coordinate on the border of two texels is rounded to the other one"
_NORMAL_MAP = "highlights on a normal map: a rounding of the filtered normal is amplified by a sharp specular lobe"
_MIP = "nearest mipmap level: a level of detail on the border of two levels goes to the other one"
_CUTOFF = "dark, thin texels around alpha cut-offs and in minified text"

#: By scene name, or by a model file's name without suffix.
EXPLAINED = {
    "heavy_overdraw_512": Explanation(20, _MIP),
    "heavy_overdraw_1080p": Explanation(20, _MIP),
    "multisampling1": Explanation(20, _SHARED_EDGE),
    "multisampling4_pass_resolve": Explanation(20, _SHARED_EDGE),
    "multisampling4_store_cmd_resolve": Explanation(20, _SHARED_EDGE),
    "demo": Explanation(60, _NORMAL_MAP),
    "BoxTextured": Explanation(40, _NEAREST),
    "Duck": Explanation(40, _SHARED_EDGE),
    "house": Explanation(40, _SHARED_EDGE),
    "skull": Explanation(10, _SHARED_EDGE),
    "teapot": Explanation(10, _SHARED_EDGE),
    "FlightHelmet": Explanation(20, _NORMAL_MAP),
    "WaterBottle": Explanation(20, _NORMAL_MAP),
    "NormalTangentTest": Explanation(250, _NORMAL_MAP),
    "AlphaBlendModeTest": Explanation(90, _CUTOFF),
}


def allowed_px(scene: str, covered_px: int) -> tuple[int, str]:
    """(number of pixels inside that may differ by more than 8/255, reason) for a scene that covers so many pixels."""
    found = EXPLAINED.get(scene)
    if found is None:
        return 0, ""
    return int(found.per_million * covered_px / 1e6) + 1, found.reason
