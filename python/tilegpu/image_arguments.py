"""What a user says of a new image: its sizes, what it may be used for.

In: arguments of :meth:`tilegpu.Device.image`. Out: numbers of Vulkan's.
"""

from __future__ import annotations

from typing import Any

from tilegpu import _core, arguments, enums
from tilegpu.errors import ValidationError


def sizes_of(size: Any, what: str) -> list[int]:
    """Width, height and depth of a 3D image; without the depth of a 2D, only the width of a 1D."""
    must = "it must be (width, height) in pixels, (width,) for 1d, (width, height, depth) for 3d"
    items = arguments.sequence(size, f"{what}: size", must)
    sizes = arguments.wholes(items, f"{what}: size", min(max(len(items), 1), 3), must)
    limit = _core.MAX_IMAGE_SIZE_PX
    if not all(1 <= v <= limit for v in sizes):
        shown = ", ".join(str(v) for v in sizes)
        raise ValidationError(
            f"{what}: size is ({shown}); width and height must be 1 to {limit} pixels, and so must a depth"
        )
    return sizes


def default_usage(info: enums.FormatInfo, transient: bool, tiling: int) -> int:
    """Bits of ``image_usage``: all that the format allows; of a transient image what lives in tiles. ``tiling``: its number."""
    usage = _core.ENUMS["image_usage"]
    if info.planes:  # what those can do, and only a view with a conversion can't: it is sampled alone
        return default_usage(info.planes[0], transient, tiling)
    attachment = (
        usage["depth_stencil_attachment"]
        if info.is_depth_stencil
        else usage["color_attachment"]
        if info.color_attachment
        else 0
    )
    if transient:
        return attachment | usage["transient_attachment"] | usage["input_attachment"]
    mask = attachment | usage["transfer_src"] | usage["transfer_dst"]
    if attachment:
        mask |= usage["input_attachment"]
    if tiling != _core.ENUMS["image_tiling"]["block_compressed"]:
        mask |= (usage["sampled"] if info.sampled else 0) | (usage["storage"] if info.storage else 0)
        mask |= usage["fragment_shading_rate_attachment"] if info.name == "r8_uint" else 0
    return mask
