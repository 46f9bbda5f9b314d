"""Small pictures of a report, as ``data:`` addresses. In: images, maps of fragments. Out: PNG within the page: it needs no other file."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core
from tilegpu.history import killers_picture, ramp_picture
from tilegpu.image import Image
from tilegpu.texels import to_pillow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAP_PX, _THUMBNAIL_PX = 420, 150


def _address(picture: Any, width_px: int, smooth: bool) -> str:
    """PNG of a Pillow picture, at most so wide and three quarters as high."""
    from PIL import Image as Pillow

    factor = min(1.0, width_px / picture.width, 0.75 * width_px / picture.height)
    if factor < 1:
        size = max(1, round(picture.width * factor)), max(1, round(picture.height * factor))
        picture = picture.resize(size, Pillow.Resampling.BOX if smooth else Pillow.Resampling.NEAREST)
    stream = io.BytesIO()
    picture.save(stream, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def _pillow(rgb: NDArray[Any]) -> Any:
    from PIL import Image as Pillow

    return Pillow.fromarray(rgb)


def map_picture(values: NDArray[Any]) -> str:
    """Counts of fragments by pixel: black is 0, pale yellow the greatest."""
    return _address(_pillow(ramp_picture(values)), _MAP_PX, True)


def killers(maps: dict[str, NDArray[Any]]) -> str:
    """Who killed fragments, by colour."""
    return _address(_pillow(killers_picture(maps)), _MAP_PX, True)


def ramp_css() -> str:
    """The colours of :func:`map_picture` from 0 to the greatest, as a CSS gradient."""
    colors = ramp_picture(np.arange(9).reshape(1, 9))[0]
    return f"linear-gradient(to right, {', '.join(f'rgb({r}, {g}, {b})' for r, g, b in colors.tolist())})"


def thumbnail(image: Image, aspect: str, level: int, layer: int) -> str:
    """What an image holds now; "" where that is undefined or no picture. Depth is shown between its least and its greatest."""
    bit = _core.ENUMS["image_aspect"].get(aspect, 0)
    if (
        image.transient
        or image.samples > 1
        or image.format_info.needs_conversion
        or image.planes
        or image.core.why_undefined(bit, level, layer)
    ):
        return ""
    seen = image._host_reads
    try:
        array = image.numpy(level, layer, aspect)
    finally:
        image._host_reads = seen  # a report is no reader
    if aspect == "depth":
        low, high = float(array.min()), float(array.max())
        grey = ((array[..., 0] - low) / max(high - low, 1e-9) * 255).astype(np.uint8)
        return _address(_pillow(grey), _THUMBNAIL_PX, True)
    if array.dtype.kind == "f" and aspect == "color":
        array = np.clip(np.nan_to_num(array), 0, None)
        rgb = np.repeat(array[..., :1], 3, axis=2) if array.shape[2] < 3 else array[..., :3]
        encoded = np.clip(rgb.astype(np.float32), 0, 1) ** np.float32(1 / 2.2)  # linear light, as a screen shows it
        return _address(_pillow((encoded * 255).astype(np.uint8)), _THUMBNAIL_PX, True)
    if array.dtype.kind not in "u" or image.format_info.is_depth_stencil:
        return ""
    return _address(to_pillow(array, image.format_info).convert("RGB"), _THUMBNAIL_PX, True)
