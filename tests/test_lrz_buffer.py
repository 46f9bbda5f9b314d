"""Low-resolution Z's buffer: rp.lrz(), directions, the first culprit across passes, secondaries, caches that nobody flushes, pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.low_resolution_z import DIRECTIONS

SIZE = (96, 64)
FORMAT = "r8g8b8a8_unorm"
VERTEX = np.dtype([("position", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }"""
FRAG = """#version 450
layout(location = 0) out vec4 o;
void main() { o = vec4(gl_FragCoord.z, 1.0, 0.0, 1.0); }"""


def rect(x0: float, y0: float, x1: float, y1: float, z: float, size: tuple[int, int] = SIZE) -> np.ndarray:
    out = np.zeros(6, VERTEX)
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
    out["position"] = [(2 * x / size[0] - 1, 2 * y / size[1] - 1, z, 1) for x, y in corners]
    return out


def full(z: float) -> np.ndarray:
    """One triangle over everything."""
    out = np.zeros(3, VERTEX)
    out["position"] = [(-1, -1, z, 1), (3, -1, z, 1), (-1, 3, z, 1)]
    return out


class Case:
    """A device with one colour and one depth image."""

    def __init__(self, profile: str = "adreno-a650", **options: Any) -> None:
        self.dev = tg.Device(profile, threads=2, **options)
        self.color = self.dev.image(SIZE, FORMAT)
        self.depth = self.dev.image(SIZE, "d32_sfloat")
        self.pipelines: dict[str, tg.Pipeline] = {}

    def pipeline(self, compare: str) -> tg.Pipeline:
        if compare not in self.pipelines:
            write = not compare.endswith(" read")
            self.pipelines[compare] = self.dev.pipeline(
                VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare=compare.removesuffix(" read"),
                depth_write=write,
            )  # fmt: skip
        return self.pipelines[compare]

    def run(self, *draws: tuple[str, np.ndarray], clear: float | None = 1.0, depth: Any = None, **options: Any) -> tg.RenderPass:
        image = self.depth if depth is None else depth
        z = tg.Attachment(image, "load") if clear is None else tg.Attachment(image, clear=clear)
        with self.dev.render_pass(color=[tg.Attachment(self.color, clear=(0, 0, 0, 0))], depth=z, **options) as rp:
            for compare, vertices in draws:
                rp.draw(self.pipeline(compare), vertices)
        return rp


def reasons(rp: tg.RenderPass) -> list[str]:
    return [row["low_resolution_z_off"] for row in rp.explain().rows for _ in range(row["draws"])]


def test_the_buffer_is_the_farthest_depth_of_each_texel() -> None:
    """A rectangle whose edges lie inside texels: those that it covers whole have its depth rounded down, the others the clear value."""
    rp = Case().run(("less", full(0.75)), ("less", rect(12, 8, 60, 42, 0.3)))
    found = rp.lrz()
    assert found.direction == "less" and list(found.buffers) == ["less"]
    buffer = found.buffers["less"]
    assert buffer.texel_px == (8, 8) and buffer.depth.shape == (8, 12) and buffer.depth.dtype == np.uint16
    expected = np.full((8, 12), np.floor(np.float32(0.75) * 65535.0), np.uint16)
    expected[1:5, 2:7] = np.floor(np.float64(np.float32(0.3)) * 65535.0)
    # A texel that the rectangle's diagonal crosses is covered by neither of its triangles.
    covered = buffer.depth == expected
    assert covered[0].all() and covered[5:].all() and covered[:, :2].all() and covered[:, 7:].all()
    inside = buffer.depth[1:5, 2:7]
    assert set(np.unique(inside)) == {expected[1, 2], expected[0, 0]} and (inside == expected[1, 2]).sum() >= 10
    assert buffer.fast_clear and buffer.block_texels == (16, 4) and buffer.modified.all() and buffer.modified.shape == (2, 1)
    assert list(found.direction_by_draw) == [DIRECTIONS.index("less")] * 2


@pytest.mark.parametrize("threads", [1, 3])
def test_the_buffer_is_that_of_any_order_and_thread_count(threads: int) -> None:
    rng = np.random.default_rng(4)
    draws = [("less", rect(*sorted_box(rng), float(rng.uniform(0.1, 0.9)))) for _ in range(60)]
    found = []
    for order in (draws, draws[::-1]):
        case = Case("adreno-a740")
        case.dev = tg.Device("adreno-a740", threads=threads)
        case.color, case.depth = case.dev.image(SIZE, FORMAT), case.dev.image(SIZE, "d32_sfloat")
        found.append(case.run(*order).lrz().buffers["less"].depth)
    assert np.array_equal(*found) and len(np.unique(found[0])) > 5


def sorted_box(rng: np.random.Generator) -> tuple[float, float, float, float]:
    x, y = np.sort(rng.uniform(0, SIZE[0], 2)), np.sort(rng.uniform(0, SIZE[1], 2))
    return float(x[0]), float(y[0]), float(x[1]), float(y[1])


def test_direction_after_each_draw() -> None:
    case = Case("adreno-a650")
    rp = case.run(("less read", full(0.5)), ("less", full(0.5)), ("greater read", full(0.7)), ("greater", full(0.7)), ("less", full(0.1)))
    assert [DIRECTIONS[i] for i in rp.lrz().direction_by_draw] == ["unknown", "less", "less", "disabled", "disabled"]
    assert rp.lrz().direction == "disabled"


def test_bidirectional_is_off_by_default() -> None:
    """Mesa's document: 'by default, this behavior is disabled'."""
    draws = [("less", full(0.5)), ("greater", full(0.75)), ("greater", full(0.6))]
    rp = Case("adreno-a740").run(*draws)
    assert reasons(rp)[1].startswith("invalid until clear: the direction of depth writes changed")
    assert rp.stats.lrz_primitives_rejected_in_binning == rp.stats.lrz_primitives_rejected == 0
    both = Case("adreno-a740", hsr=["lrz:bidirectional"]).run(*draws)
    assert reasons(both) == ["", "", ""] and list(both.lrz().buffers) == ["less", "greater"]
    assert both.stats.lrz_primitives_rejected_in_binning == both.stats.bins  # the last one, behind the second


def test_the_first_culprit_across_passes() -> None:
    case = Case()
    case.run(("less", full(0.2)), ("always", full(0.5)), label="opaque")
    for name in ("effects", "glass"):  # whoever asks, and however late
        rp = case.run(("less read", full(0.4)), clear=None, label=name)
        assert reasons(rp) == ["invalid until clear: depth compare is ALWAYS, with depth write (draw 1 of pass 'opaque')"]
    rp = case.run(("less read", full(0.4)), ("less", full(0.4)))
    assert reasons(rp) == ["", ""]


def test_why_a_pass_left_nothing() -> None:
    case = Case()
    part = {"area": (0, 0, 48, 64)}
    case.run(("less", full(0.2)), label="half", **part)
    rp = case.run(("less", full(0.1)), clear=None)
    assert reasons(rp) == ["invalid until clear: it drew to a part of the depth image, or did not store depth (pass 'half')"]
    case.run(("less", full(0.2)))
    assert reasons(case.run(("less", full(0.1)), clear=None, **part)) == [
        "invalid until clear: the render area is a part of the depth image, which is loaded"
    ]
    other = case.dev.image(SIZE, "d32_sfloat")
    other.write(np.ones((SIZE[1], SIZE[0]), "f4"))
    assert reasons(case.run(("less", full(0.1)), clear=None, depth=other)) == [
        "invalid until clear: no pass left low-resolution Z for this depth image"
    ]


def test_the_culprit_of_an_indirect_draw_is_named_as_people_count() -> None:
    case = Case()
    args = case.dev.buffer(np.array([(3, 1, 0, 0), (3, 1, 0, 0)], np.uint32))
    with case.dev.render_pass(
        color=[tg.Attachment(case.color, clear=(0, 0, 0, 0))], depth=tg.Attachment(case.depth, clear=1.0), label="first"
    ) as rp:
        rp.draw_indirect(case.pipeline("less"), args, full(0.5), draw_count=2)
        rp.draw(case.pipeline("always"), full(0.5))
    assert "(draw 2)" not in reasons(rp)[2] and reasons(rp)[2].startswith("invalid until clear: depth compare is ALWAYS")
    assert reasons(case.run(("less", full(0.5)), clear=None))[0].endswith("(draw 2 of pass 'first')")


@pytest.mark.parametrize("profile, off", [("adreno-a630", True), ("adreno-a650", False)])
def test_secondaries(profile: str, off: bool) -> None:
    """Before gen3 the direction is tracked by the CPU, which does not know it while a secondary is recorded."""
    case = Case(profile)
    with case.dev.secondary(color=[FORMAT], depth="d32_sfloat") as part:
        part.draw(case.pipeline("less"), full(0.25))
    with case.dev.render_pass(color=[tg.Attachment(case.color, clear=(0, 0, 0, 0))], depth=tg.Attachment(case.depth, clear=1.0)) as rp:
        rp.execute_commands(part)
        rp.draw(case.pipeline("less"), full(0.5))
    reason = "off for the pass: secondary command buffers: the direction is tracked by the CPU"
    assert reasons(rp) == ([reason] * 2 if off else ["", ""])
    assert (rp.stats.lrz_primitives_rejected_in_binning == 0) == off


def test_switched_off() -> None:
    with pytest.raises(tg.ValidationError, match=r"lrz\(\): low-resolution Z is switched off; use a profile that has it"):
        Case("host").run(("less", full(0.5))).lrz()
    with pytest.raises(tg.ValidationError, match=r"lrz\(\) is there only after"):
        case = Case()
        with case.dev.render_pass(color=[tg.Attachment(case.color, clear=(0, 0, 0, 0))]) as rp:
            rp.lrz()


@pytest.mark.parametrize("flush", [True, False])
def test_a_stale_cache(flush: bool) -> None:
    """Two depth images in turn. Without LRZ_FLUSH the pass that loads the first reads the fast-clear bits of the second: blocks that
    were cleared get back the near texels of the frame before, and what is drawn behind those is missing."""
    case = Case("adreno-a650", lrz_flush=flush)
    second = case.dev.image(SIZE, "d32_sfloat")
    case.run(("less", full(0.1)))  # frame 1: near texels everywhere
    case.run(("less", full(0.3)), depth=second)
    case.run(("less", rect(0, 0, 4, 4, 0.9)))  # frame 2: cleared, and no texel covered
    other = case.run(("less", full(0.3)), depth=second)
    rp = case.run(("less", full(0.5)), clear=None)
    missing = int((case.color.numpy()[..., 1] == 0).sum())
    assert missing == (0 if flush else SIZE[0] * SIZE[1])
    assert other.lrz().events == (("LRZ_CLEAR", "LRZ_FLUSH", "LRZ_FLUSH") if flush else ("LRZ_CLEAR",))
    assert rp.lrz().events == (("LRZ_FLUSH",) if flush else ())


def test_pairs_and_concurrent_binning() -> None:
    """A7xx: each pass that clears takes the other pair, so that it may be binned while the pass before is rendered."""
    case = Case("adreno-a740")
    found = [case.run(("less", full(0.5))).lrz() for _ in range(3)]
    assert [f.pair for f in found] in ([0, 1, 0], [1, 0, 1]) and all(f.events[0] == "LRZ_FLIP_BUFFER" for f in found)
    assert [f.concurrent_binning_off for f in found] == ["no pass is rendered before it", "", ""]
    loads = case.run(("less", full(0.4)), clear=None).lrz()
    assert loads.pair == found[-1].pair and "loads depth" in loads.concurrent_binning_off and "LRZ_FLIP_BUFFER" not in loads.events
    older = Case("adreno-a650")
    for _ in range(2):
        f = older.run(("less", full(0.5))).lrz()
        assert f.pair == 0 and f.concurrent_binning_off == "before A7xx one processor bins and renders"
