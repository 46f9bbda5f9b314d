"""What a dispatch would cost on a modelled GPU: the operations of its invocations, the bytes that they move, cycles.

In: what was dispatched, and what its shader reached. Out: :class:`tilegpu.costs.PassCosts`, so that a frame adds up. The rules:
``docs/costs.md``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from tilegpu import _core
from tilegpu.cost_constants import Constants
from tilegpu.cost_memory import through_cache
from tilegpu.costs import PassCosts, constants_of
from tilegpu.enums import format_of
from tilegpu.operations import Operations, count
from tilegpu.shader_memory import accesses


@dataclasses.dataclass(frozen=True)
class BoundCounts:
    """What all invocations move of one binding, ``size_B`` bytes of which are bound; 0: nobody knows."""

    size_B: int
    read_B: float
    write_B: float
    image: bool


@dataclasses.dataclass(frozen=True)
class DispatchCounts:
    """A dispatch, whatever GPU runs it. ``uses_addresses``: of what it moves by address nobody knows how much is the same memory."""

    label: str
    workgroups: int
    workgroup_size: int
    operations: Operations
    bound: tuple[BoundCounts, ...]
    uses_addresses: bool

    @property
    def invocations(self) -> int:
        """Of whole workgroups."""
        return self.workgroups * self.workgroup_size


def dispatch_counts(submission: _core.Submission, index: int) -> DispatchCounts:
    """Of dispatch ``index``."""
    row: Mapping[str, Any] = submission.dispatch_program(index)
    groups = math.prod(submission.dispatch_stats(index).workgroups)
    size = math.prod(row["workgroup_size"])
    _, spirv, constants = row["stage"]
    there = {(b["set"], b["binding"]): b for b in row["bound"]}
    bound = []
    for where, access in accesses(spirv, dict(constants)).items():
        of = there.get(where) if where is not None else None
        info = format_of(of["format"]) if of is not None and of["format"] else None
        texel_B = info.texel_B / math.prod(info.block_px) if info is not None else 0.0
        read_B, write_B = access.read_B + access.texels_read * texel_B, access.write_B + access.texels_written * texel_B
        there_B = of["size_B"] if of is not None else 0
        bound.append(BoundCounts(there_B, groups * size * read_B, groups * size * write_B, info is not None))
    return DispatchCounts(row["pipeline"], groups, size, count(spirv, dict(constants)), tuple(bound), row["uses_addresses"])


def costs_of_dispatch(counts: DispatchCounts, profile: str, constants: Constants | None = None) -> PassCosts:
    """``constants``: others than the profile's."""
    k = constants or constants_of(profile)
    read_B: dict[str, float] = {}
    write_B: dict[str, float] = {}
    for b in counts.bound:
        name = "images" if b.image else "buffers"
        for to, moved_B in ((read_B, b.read_B), (write_B, b.write_B)):
            footprint_B = min(float(b.size_B or moved_B), moved_B)
            if moved_B:
                to[name] = to.get(name, 0.0) + through_cache(moved_B, footprint_B, k.l2_B.value)
    run = counts.invocations
    lanes = math.ceil(counts.workgroup_size / k.wave.value) * k.wave.value * counts.workgroups
    units = {
        "arithmetic": counts.operations.arithmetic * lanes / (k.operations.value * k.cores.value),
        "texture": counts.operations.texture * lanes / (k.texels.value * k.cores.value),
        "bus": (sum(read_B.values()) + sum(write_B.values())) / k.bus_B.value,
    }
    arithmetic = {"compute": float(counts.operations.arithmetic * run)} if counts.operations.arithmetic and run else {}
    texture = {"compute": float(counts.operations.texture * run)} if counts.operations.texture and run else {}
    return PassCosts(profile, counts.label, arithmetic, texture, read_B, write_B, units, exact=counts.operations.exact or not run)
