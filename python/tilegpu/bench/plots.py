"""matplotlib, if it is there: axes, ticks and legends are not our business."""

from __future__ import annotations

from typing import Any

from tilegpu.errors import needs_packages


def load_pyplot() -> Any:
    """``matplotlib.pyplot`` that draws into files. Raises ``RuntimeError`` where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise RuntimeError(needs_packages("drawing plots", "matplotlib", extra="plots")) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
