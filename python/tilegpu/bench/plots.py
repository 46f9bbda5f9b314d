"""matplotlib, if it is there: axes, ticks and legends are not our business."""

from __future__ import annotations

from typing import Any


def load_pyplot() -> Any:
    """``matplotlib.pyplot`` that draws into files. Raises ``RuntimeError`` where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise RuntimeError("drawing plots needs matplotlib, which is not installed: pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
