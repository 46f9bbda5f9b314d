"""Where a filter samples: of a place between texels eight bits are kept, rounded to the nearest.

Source: Vulkan specification, "Texel Filtering" (subTexelPrecisionBits, which is 8); docs/decisions.md, 555.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def kept(texels: np.ndarray[Any, Any] | float) -> np.ndarray[Any, Any]:
    """Of coordinates in texels."""
    return np.asarray(np.floor(np.asarray(texels, np.float64) * 256 + 0.5) / 256)
