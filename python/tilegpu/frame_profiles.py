"""A frame on other GPU profiles, beside the device that drew it.

In: a capture of the frame. Out: for each profile what each pass cost, its tiles and which techniques were on; of one of them maps of
fragments too. Every run has a device and images of its own: nothing of the user's is drawn to, and a frame that loads what it stored
before is run from what its images hold now.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core
from tilegpu.capture_reads import stores_in_use
from tilegpu.context import DEFAULT_OPTIONS, CommandStats, DeviceOptions
from tilegpu.cost_changes import Change
from tilegpu.cost_constants import CONSTANTS
from tilegpu.cost_counts import PassCounts, counts_of
from tilegpu.costs import PassCosts, costs_of, costs_of_command, sum_of
from tilegpu.dispatch_costs import DispatchCounts, costs_of_dispatch, dispatch_counts
from tilegpu.draw_orders import Moves
from tilegpu.draw_overlaps import grid
from tilegpu.files import place
from tilegpu.frame_stats import moved_B
from tilegpu.frame_traffic import Moved
from tilegpu.hsr import names

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Of draws that low-resolution Z tests, and that may not write it: a technique that is on, though not all of it.
TESTED_ONLY = "low-resolution Z (tested, not written)"
#: Of draws that others may kill, and that kill nothing: they are not opaque, or leave an attachment of the pass as it is.
KILLED_ONLY = "forward pixel kill (killed, does not kill)"
_KILLED_ONLY = "can be killed, but does not kill: "


#: Of draws whose fragments have several pixels on a profile whose GPU has none such.
RATES_OF_NONE = "fragment shading rate (not of this GPU)"
_RATES_OF_NONE = "the profile's GPU has no such fragments"


def is_tested_only(low_resolution_z_off: str) -> bool:
    """By what :meth:`tilegpu.RenderPass.explain` says of low-resolution Z: only its write is off."""
    return low_resolution_z_off.startswith("write off ")


def is_killed_only(technique: Mapping[str, Any]) -> bool:
    """An entry of ``techniques`` of a row: the draw waits where later ones may kill it, and kills nothing itself."""
    return technique["technique"] == "forward_pixel_kill" and str(technique["reason"]).startswith(_KILLED_ONLY)


@dataclasses.dataclass(eq=False)
class PassRun:
    """One pass on one profile: ``counters`` and ``traffic`` as of ``rp.stats``, the framebuffer's ``layout``, ``explain`` rows;
    ``tiles``: of a frame, what moved for each;
    ``maps`` by kind and ``costs`` by draw where fragments were traced; ``counts``: for the cost model, of
    profiles that have one."""

    counters: dict[str, Any]
    traffic: dict[str, dict[str, int]]
    layout: dict[str, Any]
    explain: list[dict[str, Any]]
    tiles: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    maps: dict[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    costs: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    counts: PassCounts | None = None
    #: Of some of its pixels, what became of every fragment; only where orders of draws are asked for.
    pixels: list[list[dict[str, Any]]] = dataclasses.field(default_factory=list)

    def modelled(self) -> PassCosts | None:
        """What it would cost on the profile's GPU; ``None`` on ``host``."""
        return None if self.counts is None else costs_of(self.counts)

    @property
    def moved(self) -> Moved:
        """For changes of what it loads and stores."""
        return Moved(self.traffic, self.tiles, self.layout, bool(self.counters.get("rendered_in_sysmem")))

    @property
    def tile(self) -> str:
        """Its tile in pixels: of the profile, else of this host; "" without tiles."""
        if self.counters.get("rendered_in_sysmem"):
            return ""  # the layout has what GMEM would have held
        width, height = self.layout["tile_width_px"], self.layout["tile_height_px"]
        return f"{width}x{height}" if width and height else ""

    def bytes(self, *causes: str) -> int:
        """Bytes of some causes."""
        return sum(row.get(cause, 0) for row in self.traffic.values() for cause in causes)


@dataclasses.dataclass(eq=False)
class ProfileRun:
    """A frame on one profile. ``commands``: what copies, blits, resolves, clears and mip chains moved, in order; a mip chain, or a copy of
    several regions, may be several."""

    profile: str
    passes: list[PassRun]
    dispatches: list[DispatchCounts] = dataclasses.field(default_factory=list)
    commands: list[CommandStats] = dataclasses.field(default_factory=list)
    #: Of its passes: number and attachment of stores that something in the capture reads, or may read.
    in_use: set[tuple[int, str]] = dataclasses.field(default_factory=set)
    #: For each pass which draws may change places; and all that passes stored, where it was asked for.
    moves: list[Moves] = dataclasses.field(default_factory=list)
    picture: list[NDArray[Any]] = dataclasses.field(default_factory=list)
    #: Of each pass whose draws were tried in other orders (:mod:`tilegpu.frame_orders`): what helped.
    orders: dict[int, list[Change]] = dataclasses.field(default_factory=dict)
    #: Passes with fragments that are shaded and not seen, whose draws can't be tried in another order, and why.
    fixed: dict[int, str] = dataclasses.field(default_factory=dict)

    def total(self, counter: str) -> int:
        """A counter of all passes."""
        return int(sum(one.counters[counter] for one in self.passes))

    def in_memory(self, number: int) -> bool:
        """Whether a pass has no tiles: on a GPU that has none, or on Adreno in sysmem."""
        constants = CONSTANTS.get(self.profile)  # none of host, whose bins are tiles
        return bool(self.passes[number].counters["rendered_in_sysmem"]) or (constants is not None and constants.kind == "immediate")

    @property
    def has_tiles(self) -> bool:
        """Whether any pass goes tile by tile."""
        return not all(self.in_memory(number) for number in range(len(self.passes)))

    @property
    def moved_B(self) -> int:
        """Bytes between tile memory and images."""
        return sum(moved_B(one.traffic) for one in self.passes)

    def modelled(self, commands: bool = True) -> PassCosts | None:
        """What all passes, dispatches and commands would cost on the profile's GPU, one after another; ``None`` on ``host``."""
        if self.profile not in CONSTANTS or any(one.counts is None for one in self.passes):
            return None
        return sum_of(known, "frame") if (known := self.in_a_row(commands=commands)) else None

    def in_a_row(
        self,
        changed: Mapping[int, PassCounts] | None = None,
        gone: Collection[int] = (),
        commands: bool = True,
        moved: Mapping[int, CommandStats] | None = None,
    ) -> list[PassCosts]:
        """Costs of all that it executes, for :func:`tilegpu.costs.sum_of`: the passes in their order, so that each may hide the binning of
        the one behind it, then dispatches and commands. ``changed``: other counts of some passes, by number; ``gone``: commands that are
        left out; ``moved``: what others move then."""
        counts = [(changed or {}).get(number, one.counts) for number, one in enumerate(self.passes)]
        kept = [costs for number, costs in enumerate(self.modelled_commands(moved)) if number not in gone] if commands else []
        return [*(costs_of(of) for of in counts if of is not None), *self.modelled_dispatches(), *kept]

    def modelled_dispatches(self) -> list[PassCosts]:
        """Of each of ``dispatches``; nothing on ``host``."""
        return [costs_of_dispatch(one, self.profile) for one in self.dispatches] if self.profile in CONSTANTS else []

    def modelled_commands(self, moved: Mapping[int, CommandStats] | None = None) -> list[PassCosts]:
        """Of each of ``commands``; of some, by number, what they would move."""
        return [costs_of_command(self.profile, *(moved or {}).get(number, command)) for number, command in enumerate(self.commands)]

    def techniques(self) -> dict[str, tuple[int, int]]:
        """For each technique of hidden-surface removal: draws that it was on for, and draws. Those that low-resolution Z tests and that may
        not write it have a word of their own, :data:`TESTED_ONLY`: what lies behind draws before them, or behind feedback, is rejected; and
        so have those that forward pixel kill may kill and that kill nothing, :data:`KILLED_ONLY`."""
        found: dict[str, list[int]] = {}
        for one in self.passes:
            for row in one.explain:
                states = {"early tests": not row["early_tests_off"], "visibility buffer": not row["visibility_off"]}
                states["low-resolution Z"] = not row["low_resolution_z_off"]
                states[TESTED_ONLY] = is_tested_only(row["low_resolution_z_off"])
                states |= {
                    RATES_OF_NONE if _RATES_OF_NONE in t["reason"] else t["technique"].replace("_", " "): t["state"] == "on"
                    for t in row["techniques"]
                }
                half = any(is_killed_only(t) for t in row["techniques"])
                if "forward pixel kill" in states:
                    states |= {"forward pixel kill": states["forward pixel kill"] and not half, KILLED_ONLY: half}
                for name, on in states.items():
                    counts = found.setdefault(name, [0, 0])
                    counts[0] += row["draws"] if on else 0
                    counts[1] += row["draws"]
        return {name: (on, all_of_them) for name, (on, all_of_them) in found.items()}


#: Shaders compiled in processes of their own, as long and with as much memory as where nobody says (:class:`tilegpu.Device`).
NO_LIMITS = (0.0, 0)


def options_of(isolate_compiler: bool) -> DeviceOptions:
    """Of devices whose shaders processes of their own compile, or not, and that are as usual otherwise."""
    return DEFAULT_OPTIONS._replace(compiler_limits=NO_LIMITS if isolate_compiler else None)


def run(
    path: str | os.PathLike[str],
    profile: str,
    hsr: Any = None,
    trace: bool = False,
    options: DeviceOptions = DEFAULT_OPTIONS,
    keeps_picture: bool = False,
) -> ProfileRun:
    """Executes a capture on a new device. ``hsr``: what is not the profile's default; ``trace``: with maps and costs; ``keeps_picture``:
    with what passes stored; ``options``: of the device."""
    device = _device(profile, hsr, options)
    capture = _core.load_capture(device, place(path))
    submission = device.submit_and_wait(capture.command_buffers)
    models = profile in CONSTANTS
    picture = _picture(capture) if keeps_picture else []
    numbers = range(submission.pass_count())
    looks = [_pixels_of(submission, i) if keeps_picture else [] for i in numbers]
    traced = device.submit_and_wait(capture.command_buffers, [(i, True, looks[i]) for i in numbers]) if trace or models else None
    passes = [_pass_run(profile, device, submission, traced, i, trace) for i in numbers]
    commands = [CommandStats(*row) for row in submission.command_traffic()]
    dispatches = [dispatch_counts(submission, i) for i in range(submission.dispatch_count())]
    moves = [Moves(*of) for of in capture.draws_that_move()]
    return ProfileRun(profile, passes, dispatches, commands, stores_in_use(submission), moves, picture)


def run_in_order(
    path: str | os.PathLike[str],
    profile: str,
    hsr: Any,
    orders: Mapping[int, Sequence[int]],
    options: DeviceOptions = DEFAULT_OPTIONS,
) -> tuple[dict[int, PassRun], list[NDArray[np.uint8]]]:
    """The same with draws of some passes in other ``orders``: these passes, with their counts, and all that passes stored."""
    device = _device(profile, hsr, options)
    capture = _core.load_capture(device, place(path), [(number, list(order)) for number, order in orders.items()])
    submission = device.submit_and_wait(capture.command_buffers)
    picture = _picture(capture)
    traced = device.submit_and_wait(capture.command_buffers, [(i, True, []) for i in orders])
    return {i: _pass_run(profile, device, submission, traced, i) for i in orders}, picture


def look_at(
    path: str | os.PathLike[str],
    profile: str,
    hsr: Any,
    pixels: Mapping[int, Sequence[tuple[int, int]]],
    options: DeviceOptions = DEFAULT_OPTIONS,
) -> dict[int, list[list[dict[str, Any]]]]:
    """Of some passes what became of every fragment of these pixels, as they are drawn."""
    device = _device(profile, hsr, options)
    capture = _core.load_capture(device, place(path))
    traced = device.submit_and_wait(capture.command_buffers, [(i, True, list(of)) for i, of in pixels.items()])
    return {i: list(traced.fragment_trace(i)["events"]) for i in pixels}


def _pixels_of(submission: _core.Submission, i: int) -> list[tuple[int, int]]:
    """Of a pass with draws that could change places, some pixels of its area."""
    layout = json.loads(submission.describe_framebuffer(i))["layout"]
    x0, y0, x1, y1 = layout["render_area_px"]
    if sum(row["draws"] for row in submission.draw_programs(i)) < 2 or x1 < x0 or y1 < y0:
        return []
    return [(x0 + x, y0 + y) for x, y in grid(x1 - x0 + 1, y1 - y0 + 1)]


def _device(profile: str, hsr: Any, options: DeviceOptions) -> _core.Device:
    return _core.Device(
        profile, 0, 0, "", 0, options.vertex_batch, "", options.tiler_heap_B, hsr, True, options.ordered_atomics, options.loop_budget,
        options.indirect_budget, options.lrz_flush, options.render_mode, compiler_limits=options.compiler_limits,
    )  # fmt: skip


def _pass_run(
    profile: str, device: _core.Device, submission: _core.Submission, traced: _core.Submission | None, i: int, maps: bool = False
) -> PassRun:
    counters = submission.pass_stats(i).asdict()
    traffic = {name: dict(causes) for name, causes in counters.pop("traffic").items()}
    layout = json.loads(submission.describe_framebuffer(i))["layout"]
    made = PassRun(counters, traffic, layout, submission.explain(i), submission.tile_trace(i))
    if traced is not None:
        found = traced.fragment_trace(i)
        made.maps, made.costs = dict(found["maps"]) if maps else {}, list(found["draws"])
        made.pixels = list(found["events"])
        if profile in CONSTANTS:
            made.counts = counts_of(submission, i, submission.pass_label(i), profile, names(device.hsr), found)
    return made


def _picture(capture: _core.Capture) -> list[NDArray[np.uint8]]:
    """All that its passes store or resolve to, as it is now, rows of texels of bytes: of images in blocks, what they decode to."""
    found = []
    for image, level, layer, aspect, rows in capture.stored_parts():
        if rows is not None:
            image.copy_level(rows, aspect, level, layer)
        pixels = np.ascontiguousarray(image.read(aspect, level, layer) if rows is None else rows.read(aspect, 0, 0))
        found.append(pixels.view(np.uint8).reshape(*pixels.shape[:2], -1))
    return found
