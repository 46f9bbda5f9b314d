"""The closed forms of section 3: three distributions of pixels over depth, and what equations 2 to 4 make of them.

Figure 3 and equation 1 are lost with the paper's figures: its text says "a uniform distribution function, a triangle-shape function and a
more complex polynomial function". p1 and p2 follow from that; p3 is ours, a polynomial that is normalized and leans to the far plane, as
depth after a perspective division does. Equation 4 supposes RP = 3 t (1 - t) BP, the same for every scene.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Curve = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Distribution:
    """A density of pixels over depth 0 to 1, and its integral from 0 on: FP."""

    name: str
    formula: str
    density: Curve
    front: Curve


DISTRIBUTIONS = (
    Distribution("p1", "1", np.ones_like, lambda t: t),
    Distribution(
        "p2",
        "4 z, from 1/2 on 4 (1 - z)",
        lambda z: np.where(z < 0.5, 4 * z, 4 * (1 - z)),
        lambda t: np.where(t < 0.5, 2 * t * t, 1 - 2 * (1 - t) ** 2),
    ),
    Distribution("p3", "12 z^2 (1 - z)", lambda z: 12 * z * z * (1 - z), lambda t: t**3 * (4 - 3 * t)),
)


def rejected(t: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.float64]:
    """RP of equation 4: 3 t (1 - t) of the pixels behind t."""
    return 3 * t * (1 - t) * (1 - front)


def survived(t: NDArray[np.float64], front: NDArray[np.float64]) -> NDArray[np.float64]:
    """SP of equation 4: what is behind t and not rejected."""
    return 1 - front - rejected(t, front)


@dataclass(frozen=True)
class ClosedForm:
    """What equation 4 says of a distribution: where FP = SP and how much is rejected there, where most is rejected and how much."""

    name: str
    formula: str
    crossing: float
    rejected_there: float
    best: float
    most_rejected: float


def closed_forms() -> list[ClosedForm]:
    """Of all three, on a grid of 1/4096."""
    t = np.arange(4097) / 4096
    found = []
    for p in DISTRIBUTIONS:
        front = p.front(t)
        at = int(np.abs(front - survived(t, front)).argmin())
        best = int(rejected(t, front).argmax())
        share = rejected(t, front)
        found.append(ClosedForm(p.name, p.formula, float(t[at]), float(share[at]), float(t[best]), float(share[best])))
    return found
