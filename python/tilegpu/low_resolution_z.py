"""Low-resolution Z as a pass left it: the buffers and directions as arrays.

In: what the core kept at the end of the pass. Out: :class:`LowResolutionZ`. Source: Mesa, "Low Resolution Z Buffer".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.fixed import Told

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The direction byte's values, by number.
DIRECTIONS = ("unknown", "less", "greater", "disabled")


@dataclass(frozen=True)
class LowResolutionZBuffer(Told):
    """The buffer of one direction."""

    direction: str  #: ``"less"``: no sample of a texel ends up farther than its depth; ``"greater"``: none nearer
    depth: NDArray[np.uint16]  #: (rows, columns) texels, Z16_UNORM: 65535 is 1.0
    texel_px: tuple[int, int]  #: width and height of a texel, in pixels: 8x8 samples
    fast_clear: bool  #: cleared by a bit for each block; else texel by texel (the image is too large, or the value can't be kept)
    modified: NDArray[np.bool_]  #: (rows, columns) of blocks, a fast-clear bit each; False: the block has the clear value
    block_texels: tuple[int, int]  #: width and height of a block, in texels


@dataclass(frozen=True)
class LowResolutionZ(Told):
    """What :meth:`tilegpu.RenderPass.lrz` returns."""

    direction: str  #: of depth writes when the pass ended: one of :data:`DIRECTIONS`
    direction_by_draw: NDArray[np.uint8]  #: the direction byte after each draw: indices of :data:`DIRECTIONS`
    buffers: dict[str, LowResolutionZBuffer]  #: by direction: one, or two where the technique is bidirectional; none: nobody used it
    pair: int  #: which of A7xx's two pairs of buffers the pass used: 0 or 1; before A7xx always 0
    events: tuple[str, ...]  #: of the command stream, in order: ``LRZ_FLIP_BUFFER``, ``LRZ_CLEAR``, ``LRZ_FLUSH``
    concurrent_binning_off: str  #: why it can't be binned while the pass before is rendered; "": it can

    @classmethod
    def _of(cls, found: dict[str, Any]) -> LowResolutionZ:
        buffers = {}
        for b in found["buffers"]:
            direction = DIRECTIONS[b["direction"]]
            buffers[direction] = LowResolutionZBuffer(
                direction, b["texels"], b["texel_px"], b["fast_clear"], b["modified"].astype(bool), b["block_texels"]
            )
        return cls(
            DIRECTIONS[found["direction"]],
            found["direction_by_draw"],
            buffers,
            found["pair"],
            tuple(found["events"]),
            found["concurrent_binning_off"],
        )
