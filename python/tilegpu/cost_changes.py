"""Changes that would make a pass cheaper, each with what it saves: found by changing what the pass counted, and asking the model again.

In: :class:`tilegpu.cost_counts.PassCounts`. Out: :class:`Change` of every change that saves something, the dearest first. A change is
about the program (an operation, a state, a format), never about the model; what it would do to a picture is said where it isn't nothing.
Orders of draws are not here: they are drawn (:mod:`tilegpu.frame_orders`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tilegpu.cost_counts import DrawCounts, PassCounts
from tilegpu.costs import PassCosts, costs_of

_LARGEST_TILE_PX = 64 * 64
#: Of profiles whose largest is another: Mesa's rows in cpp/src/framebuffer/profile.cpp.
_LARGEST_TILES_PX = {"mali-g610": 32 * 32, "mali-g57": 16 * 16}
_LEAST = 0.005  #: of bytes or of cycles; less is not worth a line


@dataclasses.dataclass(frozen=True)
class Change:
    """``text`` is the same on every profile, ``detail`` is what this one has there. ``saves_read_B``, ``saves_write_B``,
    ``saves_cycles``: of what the pass costs as it is. ``drops``: the attachment whose contents are not stored any more; ``skips``: the one
    that is not loaded any more; ``samples``: how many the pass has then, which others that share its images have too."""

    text: str
    detail: str
    saves_read_B: float
    saves_write_B: float
    saves_cycles: float
    drops: str = ""
    skips: str = ""
    samples: int = 0
    at_most: bool = False  #: an estimate that following may not reach
    order: tuple[int, ...] = ()  #: of the pass's draws: it was drawn so, and that is what it saves
    same_picture: bool = True  #: of ``order``

    @property
    def saves_B(self) -> float:
        """Both ways."""
        return self.saves_read_B + self.saves_write_B


def changes(counts: PassCounts, explain: Sequence[Mapping[str, Any]] = ()) -> list[Change]:
    """What would help, most cycles first, then most bytes. ``explain``: the pass's rows, as of :meth:`RenderPass.explain`."""
    before = costs_of(counts)
    found = []
    for candidate in _candidates(counts, explain):
        change = _saving(candidate, before, costs_of(candidate.changed))
        bytes_B = before.total("read_B") + before.total("write_B")
        if change.saves_B >= _LEAST * max(1.0, bytes_B) or change.saves_cycles >= _LEAST * max(1.0, before.cycles):
            found.append(change)
    return sorted(found, key=lambda c: (-c.saves_cycles, -c.saves_B, c.text))


class _Candidate(NamedTuple):
    text: str
    changed: PassCounts
    detail: str = ""
    drops: str = ""
    skips: str = ""
    samples: int = 0
    at_most: bool = False


def _saving(candidate: _Candidate, before: PassCosts, after: PassCosts) -> Change:
    return Change(
        candidate.text, candidate.detail, before.total("read_B") - after.total("read_B"), before.total("write_B") - after.total("write_B"),
        before.cycles - after.cycles, candidate.drops, candidate.skips, candidate.samples, candidate.at_most,
    )  # fmt: skip


def _candidates(c: PassCounts, explain: Sequence[Mapping[str, Any]]) -> Iterator[_Candidate]:
    yield from _operations(c)
    yield from _samples(c)
    yield from _clears(c)
    yield from _low_resolution_z(c, explain)
    yield from _late_z(c)
    yield from _blend_shaders(c)
    yield from _fat_pixels(c)
    yield from _textures(c)


def _traffic(c: PassCounts, attachment: str, **bytes_of: int) -> PassCounts:
    return dataclasses.replace(c, traffic={**c.traffic, attachment: {**c.traffic[attachment], **bytes_of}})


def _draws(c: PassCounts, draws: Iterable[DrawCounts], **counters: float) -> PassCounts:
    return dataclasses.replace(c, draws=tuple(draws), counters={**c.counters, **counters})


def _operations(c: PassCounts) -> Iterator[_Candidate]:
    """Loads and stores."""
    blends = any(d.programs.reads_tile for d in c.draws)
    tests = any(d.programs.tests_depth for d in c.draws)
    for name, row in c.traffic.items():
        is_depth = name in ("depth", "stencil")
        if row.get("load") and not row.get("saved_clean_tile") and not (tests if is_depth else blends):
            yield _Candidate(f"{name}: clear it, or load_op='dont_care', if the draws cover all of it", _traffic(c, name, load=0),
                             skips=name)  # fmt: skip
        if row.get("store") and is_depth:
            yield _Candidate(f"{name}: store_op='dont_care', if nothing reads it after the pass", _traffic(c, name, store=0), drops=name)
        if row.get("store") and not is_depth and c.stores_samples(name) and not row.get("saved_clean_tile"):
            resolved = row.get("resolve", 0) if c.resolves(name) else row["store"] // c.samples
            how = "store_op='dont_care' beside its resolve=" if c.resolves(name) else "resolve= in the tile with store_op='dont_care'"
            yield _Candidate(f"{name}: {how}, if nothing reads the {c.samples} samples",
                             _traffic(c, name, store=0, resolve=resolved), drops=name)  # fmt: skip


def _samples(c: PassCounts) -> Iterator[_Candidate]:
    """Half of them."""
    if (changed := with_fewer_samples(c)) is not None:
        fewer = changed.samples
        yield _Candidate(f"{fewer} sample{'s' if fewer > 1 else ''} in place of {c.samples} (another picture)", changed, samples=fewer)


def with_fewer_samples(c: PassCounts) -> PassCounts | None:
    """A pass with half of its samples; ``None``: it has one. What moves with one sample a pixel (``samples=`` of a pass whose images have
    one) moves as before. Of one sample a pixel nothing is resolved: what ``resolve=`` left is the image, which is stored once."""
    if c.samples <= 1:
        return None
    fewer = max(1, c.samples // 2)

    def half(name: str, cause: str, n: int) -> int:
        every = {"load": c.loads_samples, "border_load": c.loads_samples, "store": c.stores_samples, "border_store": c.stores_samples}
        spilled = cause in ("spill_load", "spill_store")  # what a split keeps is the tile as it is: all samples
        if cause == "store" and fewer == 1 and c.stores_samples(name) and c.resolves(name):
            return 0
        return n // 2 if spilled or (cause in every and every[cause](name)) else n

    traffic = {name: {k: half(name, k, n) for k, n in row.items()} for name, row in c.traffic.items()}
    z = c.low_resolution_z and c.low_resolution_z.of_samples(fewer / c.samples)
    return dataclasses.replace(c, traffic=traffic, layout={**c.layout, "samples": fewer}, low_resolution_z=z)


def _without_unseen(draws: Iterable[DrawCounts], share: float = 1.0, first: int = 0) -> list[DrawCounts]:
    return [
        dataclasses.replace(d, shaded=d.shaded - int(d.unseen_fragments * share)) if d.draw >= first and not d.programs.reads_tile else d
        for d in draws
    ]


def _shaded(draws: Iterable[DrawCounts]) -> int:
    return sum(d.shaded for d in draws)


def _clears(c: PassCounts) -> Iterator[_Candidate]:
    """Clears that end the pre-pass. Draws behind them may end it too, so no more than this is saved."""
    tiles = max(1, c.counters["prepass_tiles"])
    for stop in c.counters["prepass_stops"]:
        if stop["rule"] != "clear":
            continue
        draws = _without_unseen(c.draws, stop["tiles"] / tiles, stop["draw"] + 1)  # it follows the draw
        yield _Candidate(
            f"a clear after draw {stop['draw']} ends the pre-pass: clear when the pass begins, or draw what follows in another pass",
            _draws(c, draws, fragments_shaded=_shaded(draws)),
            f"in {stop['tiles']:,} tile{'s' if stop['tiles'] != 1 else ''}", at_most=True,
        )  # fmt: skip


#: Why low-resolution Z is off for a draw, or not written, and what a program can do about it; the first that the reason has. "": nothing,
#: as there is no depth to test, or as the draw is tested and others write all the same.
_LOW_RESOLUTION_Z_HELP = (
    ("write off for the draw: ", ""),
    ("no depth attachment", ""),
    ("no depth test", ""),
    (" of pass '", "draw what breaks it last there"),
    ("(draw ", ""),  # an order of draws: tilegpu.draw_orders
    ("depth is not cleared", "clear depth in this pass"),
    ("neither cleared nor loaded", "clear depth in this pass"),
    ("no pass left", "clear depth in this pass"),
    ("tracked by the CPU", "not on this GPU: from A650 on"),
    ("colour that it does not replace", "write all attachments whole, without blending"),
    ("no colour after a draw that wrote colour", ""),  # an order again
    ("tencil", "no stencil in this draw"),
    ("compare is EQUAL", "less_or_equal, or greater_or_equal where near is 1"),
    ("compare is NEVER", ""),
    ("compare is ALWAYS", ""),
    ("depth compare is", "compare in the direction of the pass"),
    ("direction", "compare in one direction from clear to clear"),
    ("gl_FragDepth", "declare depth_greater, or depth_less where near is 1"),
    ("early_fragment_tests", "ask for early_fragment_tests, if the picture stays right"),
    ("query", "query boxes, in draws behind the others"),
)


def _low_resolution_z_help(reason: str) -> str:
    """What helps; "" for nothing."""
    return next((help_text for words, help_text in _LOW_RESOLUTION_Z_HELP if words in reason), "take that away")


def _low_resolution_z(c: PassCounts, explain: Sequence[Mapping[str, Any]]) -> Iterator[_Candidate]:
    """Draws that low-resolution Z does not test or hold, by their own fault, by another draw's or by the pass's: where it does, it knows
    all depths before anything is shaded, so what is overwritten would not have been shaded, and what early tests killed not rasterized."""
    if not any(name.partition(":")[0] == "lrz" for name in c.techniques):
        return
    reasons: dict[str, list[int]] = {}
    for row in explain:
        if (reason := row["low_resolution_z_off"]) and _low_resolution_z_help(reason):
            reasons.setdefault(reason, []).extend(range(row["first_draw"], row["first_draw"] + row["draws"]))
    for reason, numbers in reasons.items():
        tested = {d.draw for d in c.draws if d.draw in set(numbers) and d.programs.tests_depth and not d.programs.decides_coverage}
        # EQUAL shades what is seen when it is drawn, whatever low-resolution Z knows: only its tests are saved.
        without = {d.draw: d for d in (c.draws if "compare is EQUAL" in reason else _without_unseen(c.draws))}
        draws = [
            without[d.draw] if d.draw in tested else d
            for d in c.draws
        ]
        hidden = sum(max(0, d.rasterized - d.shaded) for d in draws if d.draw in tested)
        rasterized = max(0, c.counters["fragments_rasterized"] - hidden)
        many = f"{len(numbers)} draws" if len(numbers) > 1 else f"draw {numbers[0]}"
        changed = _draws(c, draws, fragments_rasterized=rasterized, fragments_shaded=_shaded(draws))
        state = "tested by low-resolution Z and not in it" if reason.startswith("write off ") else "without low-resolution Z"
        yield _Candidate(f"{many} {state} ({reason}): {_low_resolution_z_help(reason)}", changed, at_most=True)


def _late_z(c: PassCounts) -> Iterator[_Candidate]:
    """Shaders that decide coverage, where they run twice."""
    late = [d for d in c.draws if d.programs.decides_coverage and d.sliced]
    if not late:
        return
    numbers = {d.draw for d in late}

    def early(d: DrawCounts) -> DrawCounts:
        v = dict(d.vertices)
        if v:
            v["vertices_positioned_in_prepass"] += v["vertices_shaded_in_prepass"]
            v["vertices_shaded_in_prepass"] = 0
        return dataclasses.replace(d, sliced=0, vertices=v)

    names = sorted({d.programs.pipeline for d in late})
    dearest = max(late, key=lambda d: d.sliced * d.programs.coverage.arithmetic)
    yield _Candidate(
        f"late Z ({', '.join(names)}): no discard, alpha to coverage or gl_FragDepth, or else first in the shader",
        _draws(c, [early(d) if d.draw in numbers else d for d in c.draws]),
        f"{dearest.programs.coverage.arithmetic:,} operations run before coverage is known, and again where it is seen",
    )


def _blend_shaders(c: PassCounts) -> Iterator[_Candidate]:
    """Blends that the fixed unit can't do: as if it could."""
    found = [d for d in c.draws if d.programs.blend_targets and d.written]
    if not found:
        return

    def by_unit(d: DrawCounts) -> DrawCounts:
        return dataclasses.replace(d, programs=dataclasses.replace(d.programs, blend_targets=0, blend_operations=0))

    names = sorted({d.programs.pipeline for d in found})
    runs = sum(d.written * c.samples for d in found)
    most = max(d.programs.blend_operations for d in found)
    yield _Candidate(
        f"a blend shader ({', '.join(names)}): a format and an equation that the fixed unit blends (rp.explain() says what it can't)",
        _draws(c, map(by_unit, c.draws)),
        f"{runs:,} runs of up to {most:,} operations" + (f", and the fragment shader {c.samples} times" if c.samples > 1 else ""),
    )


def _fat_pixels(c: PassCounts) -> Iterator[_Candidate]:
    """Tiles that are small as pixels are wide: primitives are in more of them, and each shades their vertices again."""
    n = c.counters
    largest_px = _LARGEST_TILES_PX.get(c.profile, _LARGEST_TILE_PX)
    if not 0 < c.tile_px < largest_px or c.profile.startswith("adreno") or not n["primitives_out"]:
        return
    side_px = math.isqrt(largest_px)
    now_px, then_px = (c.layout["tile_width_px"], c.layout["tile_height_px"]), (side_px, side_px)
    names = ("vertices_in_tiles", "vertices_positioned_in_prepass", "vertices_shaded_in_prepass")
    of_tiles = {*names, "vertices_shaded_after_prepass", "vertices_kept_in_tiles", "bin_entries"}
    gone = dict.fromkeys(of_tiles, 0)
    draws = []
    for d in c.draws:
        share = _of_larger_tiles(d, now_px, then_px)
        vertices = {k: round(v * share) if k in of_tiles else v for k, v in d.vertices.items()}
        draws.append(dataclasses.replace(d, vertices=vertices))
        for name in gone.keys() & d.vertices.keys():
            gone[name] += d.vertices[name] - vertices[name]
    counters = {name: max(0, n[name] - gone[name]) for name in (*names, "bin_entries")}
    layout = {**c.layout, "tile_width_px": side_px, "tile_height_px": side_px}
    changed = dataclasses.replace(_draws(c, draws, **counters), layout=layout)
    yield _Candidate("fewer bytes or samples a pixel, for the profile's largest tiles", changed,
                     f"{side_px}x{side_px} in place of {now_px[0]}x{now_px[1]}")  # fmt: skip


def _of_larger_tiles(d: DrawCounts, now_px: tuple[int, int], then_px: tuple[int, int]) -> float:
    """How many of a draw's entries in tiles are left with larger ones. A primitive is in one tile, in those that its area fills, and in
    those that its edges cross: the second go by the tile's area, the last by its sides."""
    if not d.vertices or not d.vertices["primitives_out"] or not d.vertices["bin_entries"]:
        return 1.0
    now = d.vertices["bin_entries"] / d.vertices["primitives_out"]
    area_px = d.rasterized / d.vertices["primitives_out"]
    filled = min(area_px / math.prod(now_px), max(0.0, now - 1))
    crossed = max(0.0, now - 1 - filled)
    of_sides = sum(1 / side_px for side_px in then_px) / sum(1 / side_px for side_px in now_px)
    then = min(now, 1.0) + filled * math.prod(now_px) / math.prod(then_px) + crossed * of_sides
    return min(1.0, then / now)


def _textures(c: PassCounts) -> Iterator[_Candidate]:
    """Large textures without levels."""

    def with_levels(d: DrawCounts) -> DrawCounts:
        textures = tuple(dataclasses.replace(t, levels=max(2, t.levels)) if t.chain else t for t in d.programs.textures)
        return dataclasses.replace(d, programs=dataclasses.replace(d.programs, textures=textures))

    if any(t.levels == 1 and t.chain for d in c.draws for t in d.programs.textures):
        yield _Candidate("give textures of one level a mip chain (another picture where they are minified)",
                         _draws(c, map(with_levels, c.draws)))  # fmt: skip
