"""Rules of modelled GPUs, each against what its source says: forward pixel kill's queue, killers, what a pre-pass kills and costs, blend
constants, low-resolution Z's feedback. Sources: Arm, "Killing Pixels" and the article on the fragment pre-pass; Mesa: PanVK
(``!(rt_mask & ~rt_written)``, pan_blend_constant_mask), Turnip and freedreno's table of devices (has_lrz_feedback)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tests.test_forward_kill_queue import HEAD, PLAIN, VERT, VERTEX

import tilegpu as tg

DISCARD = HEAD + "void main() { if (v_color.a < 0.1) discard; o = v_color; }"
DEPTH = HEAD + "void main() { gl_FragDepth = gl_FragCoord.z; o = v_color; }"
MEMORY = HEAD + """layout(set = 0, binding = 0) buffer B { uint hits[]; };
void main() { atomicAdd(hits[0], 1u); o = v_color; }"""  # fmt: skip


def rect(size: int, x0: float, y0: float, x1: float, y1: float, z: float) -> np.ndarray:
    corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]
    out = np.zeros(6, VERTEX)
    out["position"] = [(2 * x / size - 1, 2 * y / size - 1, z, 1) for x, y in corners]
    out["color"] = 1
    return out


def layer(z: float) -> np.ndarray:
    """One triangle over everything: each quad of it comes once."""
    out = np.zeros(3, VERTEX)
    out["position"], out["color"] = [(-1, -1, z, 1), (3, -1, z, 1), (-1, 3, z, 1)], 1
    return out


class Pass:
    """Draws on a device of its own: (fragment shader, vertices, state of the pipeline, arguments of the draw)."""

    def __init__(
        self, profile: str, draws: list[tuple[Any, ...]], size: int = 64, colors: int = 1, trace: Any = False, **options: Any
    ) -> None:
        self.dev = tg.Device(profile, **options)
        images = [self.dev.image((size, size), "r8g8b8a8_unorm") for _ in range(colors)]
        depth = self.dev.image((size, size), "d32_sfloat")
        hits = self.dev.buffer(np.zeros(4, np.uint32))
        attachments = [tg.Attachment(image, clear=(0, 0, 0, 0)) for image in images]
        made: dict[Any, tg.Pipeline] = {}
        with self.dev.render_pass(color=attachments, depth=tg.Attachment(depth, clear=1.0), trace=trace) as self.rp:
            for fragment, vertices, state, *rest in draws:
                key = (fragment, str(state))
                if key not in made:
                    of = {"color": ["r8g8b8a8_unorm"] * colors, "depth": "d32_sfloat", "depth_compare": "less"} | state
                    made[key] = self.dev.pipeline(VERT, fragment, vertex=VERTEX, **of)
                bind = {"B": hits} if fragment and "buffer B" in fragment else None
                self.rp.draw(made[key], vertices, bind=bind, **(rest[0] if rest else {}))
        self.stats = self.rp.stats
        self.hits = int(hits.numpy()[0])


# -- forward pixel kill


@pytest.mark.parametrize("quads", [64, 192, 224, 240, 256])
def test_all_that_the_queue_has_room_for_waits(quads: int) -> None:
    cut = {"scissor": (0, 0, 32, quads // 8)}  # two rows of 16 quads for each two of pixels
    found = Pass("immortalis-g925", [(PLAIN, layer(z), {}, cut) for z in (0.9, 0.2)], hsr=["forward_pixel_kill"]).stats
    assert (found.fragments_killed_by_fpk, found.fragments_shaded) == (4 * quads, 4 * quads)


def test_what_the_queue_has_no_room_for_is_shaded() -> None:
    cut = {"scissor": (0, 0, 64, 64)}  # 1,024 quads: the first has left it long before the second layer comes
    found = Pass("immortalis-g925", [(PLAIN, layer(z), {}, cut) for z in (0.9, 0.2)], hsr=["forward_pixel_kill"]).stats
    assert found.fragments_killed_by_fpk == 0


def test_layers_of_a_tile_shade_the_last_alone() -> None:
    draws = [(PLAIN, layer(0.9 - 0.1 * i), {}) for i in range(8)]
    assert Pass("mali-g610", draws, 256).stats.fragments_shaded == 256 * 256


def test_a_killer_writes_every_colour_that_is_bound() -> None:
    """Of both layers' two attachments one is written: the second hides all of the first, and PanVK does not let it kill."""
    both = HEAD + "layout(location = 1) out vec4 o1; void main() { o = o1 = v_color; }"
    left = "it does not write every colour attachment (bound and not written: color1 '"
    for fragment, killed, words in ((PLAIN, 0, left), (both, 256, "")):
        found = Pass("mali-g57", [(fragment, rect(64, 0, 0, 16, 16, z), {}) for z in (0.9, 0.2)], colors=2)
        assert found.stats.fragments_killed_by_fpk == killed
        kill = next(t for t in found.rp.explain().rows[0]["techniques"] if t["technique"] == "forward_pixel_kill")
        assert words in kill["reason"]


# -- the pre-pass


def test_what_runs_is_not_killed_by_the_pre_pass() -> None:
    draws = [(PLAIN, rect(64, 0, 0, 32, 32, 0.9), {}), (MEMORY, rect(64, 0, 0, 64, 64, 0.5), {})]
    found = Pass("immortalis-g925", draws, trace="fragments")
    assert found.hits == 64 * 64
    assert found.stats.fragments_rasterized == 64 * 64 + 32 * 32
    assert found.stats.fragments_killed_by_prepass == 32 * 32 == int(found.rp.heatmap("pre_pass").sum())
    assert found.stats.fragments_shaded == 64 * 64
    assert found.stats.primitives_culled_by_prepass == 2
    hidden = Pass("immortalis-g925", draws[::-1], trace="fragments")  # of what is behind, all run and the rest is killed or fails
    assert hidden.hits == 64 * 64 and hidden.stats.fragments_killed_by_prepass == int(hidden.rp.heatmap("pre_pass").sum()) == 0


def cost_of(draws: list[tuple[Any, ...]], **options: Any) -> Any:
    return Pass("mali-g725", draws, 256, trace="fragments", **options).rp.costs()


def test_a_pre_pass_that_a_draw_ended_costs_nothing_after_it() -> None:
    blended = (PLAIN, layer(0.95), {"blend": "alpha"})  # writes depth too: rule 1.1
    layers = [(PLAIN, layer(0.9 - 0.02 * i), {}) for i in range(20)]
    without = ["hierarchical_z", "forward_pixel_kill", "deferred_vertex_shading"]
    with_it, none = cost_of([blended, *layers]), cost_of([blended, *layers], hsr=without)
    assert with_it.units["depth tests"] == none.units["depth tests"] and with_it.stall == none.stall == 0.0


def test_what_a_pre_pass_skips_is_tested_once() -> None:
    through = [(PLAIN, layer(0.5), {"blend": "alpha", "depth_write": False})]
    without = ["hierarchical_z", "forward_pixel_kill", "deferred_vertex_shading"]
    assert cost_of(through).units["depth tests"] == cost_of(through, hsr=without).units["depth tests"]
    opaque = [(PLAIN, layer(0.5), {})]
    assert cost_of(opaque).units["depth tests"] == 2 * cost_of(opaque, hsr=without).units["depth tests"]


# -- what the pre-pass of a tile leaves, and forward pixel kill

MASK_IN = HEAD + "void main() { o = v_color * float(gl_SampleMaskIn[0] & 1); }"  # rule 4
FAR, NEAR = (rect(64, 2, 2, 10, 10, z) for z in (0.9, 0.2))
ELSEWHERE = rect(64, 20, 20, 22, 22, 0.5)
OVER = {"blend": "alpha", "depth_write": False}


@pytest.mark.parametrize(
    ("between", "shaded"),
    [
        ((PLAIN, ELSEWHERE, OVER), 64 + 4 + 4),
        ((MEMORY, ELSEWHERE, {}), 64 + 4 + 4),
        ((DISCARD, ELSEWHERE, OVER), 64 + 4 + 4),
        ((PLAIN, rect(64, 2, 2, 10, 10, 0.5), OVER), 64 + 4),
        ((PLAIN, rect(64, 2, 2, 6, 6, 0.5), {}), 64 + 4),
    ],
    ids=["blended", "writes memory", "blended, may discard", "blended, above it", "opaque, in front of it"],
)
@pytest.mark.parametrize("profile", ["immortalis-g925", "mali-g725"])
def test_what_the_pre_pass_draws_again_waits_with_what_it_found(profile: str, between: tuple[Any, ...], shaded: int) -> None:
    """Visible of the pre-pass 64 far fragments and what is drawn again; a draw that ends it; then 64 near ones over the far ones."""
    draws = [(PLAIN, FAR, {}), between, (MASK_IN, rect(64, 30, 30, 32, 32, 0.5), {}), (PLAIN, NEAR, {})]
    found = Pass(profile, draws).stats
    off = Pass(profile, draws, hsr=["pre_pass"]).stats
    assert off.fragments_shaded - found.fragments_shaded == found.fragments_killed_by_fpk
    assert found.fragments_shaded == shaded


def test_what_writes_memory_is_drawn_whole_however_long_it_waits() -> None:
    """Above and below what is opaque: every fragment that passes counts once, with the pre-pass, the kill, both and none."""
    draws = [(PLAIN, FAR, {}), (MEMORY, NEAR, {}), (MASK_IN, ELSEWHERE, {}), (PLAIN, rect(64, 0, 0, 12, 12, 0.1), {})]
    hits = [Pass("immortalis-g925", draws, hsr=hsr).hits for hsr in (["pre_pass", "forward_pixel_kill"], ["pre_pass"], "off")]
    assert hits == [64, 64, 64]


def test_a_clear_inside_the_pass_is_said_to_empty_the_queue() -> None:
    found = Pass("mali-g57", [(PLAIN, FAR, {})])
    dev = found.dev
    pipe = dev.pipeline(VERT, PLAIN, vertex=VERTEX, color=["r8g8b8a8_unorm"])
    with dev.render_pass(color=[tg.Attachment(dev.image((64, 64), "r8g8b8a8_unorm"), clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, FAR)
        rp.clear(color=(1, 0, 0, 1), rect=(0, 0, 1, 1))
        rp.draw(pipe, NEAR)
    reasons = [next(t for t in row["techniques"] if t["technique"] == "forward_pixel_kill")["reason"] for row in rp.explain().rows]
    assert len(reasons) == 2 and "clear" in reasons[0] and not reasons[1]
    assert rp.stats.fragments_killed_by_fpk == 0


# -- blend constants


@pytest.mark.parametrize(
    ("factors", "constants", "needs"),
    [
        (("constant_alpha", "one_minus_constant_alpha", "one", "zero"), (0, 0, 0, 0.5), False),
        (("constant_color", "one_minus_constant_color", "one", "zero"), (0.5, 0.5, 0.5, 0), False),
        (("constant_color", "one_minus_constant_color", "one", "zero"), (0.5, 0.25, 0.5, 0.5), True),
        (("constant_color", "zero", "constant_alpha", "zero"), (0.5, 0.5, 0.5, 0.25), True),
        (("constant_color", "zero", "constant_alpha", "zero"), (0.5, 0.5, 0.5, 0.5), False),
    ],
)
def test_constants_that_no_factor_reads_may_differ(factors: tuple[str, ...], constants: tuple[float, ...], needs: bool) -> None:
    names = ("src_color", "dst_color", "src_alpha", "dst_alpha")
    state = {"blend": dict(zip(names, factors, strict=True)), "blend_constants": constants}
    row = Pass("mali-g725", [(PLAIN, layer(0.5), state)]).rp.explain().rows[0]
    unit = next(t for t in row["techniques"] if t["technique"] == "blend_unit")
    assert (unit["state"] == "off") == needs == ("several values" in unit["reason"])


@pytest.mark.parametrize(
    ("formats", "constants", "factors", "off"),
    [
        (("r8g8b8a8_unorm", "r8g8b8a8_unorm"), (0.3,) * 4, ("constant_alpha", "constant_alpha"), None),
        (("r8g8b8a8_unorm", "a2b10g10r10_unorm_pack32"), (0.3,) * 4, ("constant_alpha", "constant_alpha"), 1),
        (("a2b10g10r10_unorm_pack32", "r8g8b8a8_unorm"), (0.3,) * 4, ("constant_alpha", "constant_alpha"), 1),
        (("r8g8b8a8_unorm", "a2b10g10r10_unorm_pack32"), (0.0,) * 4, ("constant_alpha", "constant_alpha"), None),
        (("r8g8b8a8_unorm", "a2b10g10r10_unorm_pack32"), (0.3,) * 4, ("constant_alpha", "one"), None),
        (("r8g8b8a8_unorm", "r8g8b8a8_unorm"), (0.3, 0.3, 0.3, 0.4), ("constant_color", "constant_alpha"), 1),
        # What is a blend shader's anyway is not in the unit.
        (("r16g16b16a16_sfloat", "a2b10g10r10_unorm_pack32"), (0.3,) * 4, ("constant_alpha", "constant_alpha"), 0),
    ],
)
def test_the_blend_unit_holds_one_constant(
    formats: tuple[str, str], constants: tuple[float, ...], factors: tuple[str, str], off: int | None
) -> None:
    """Stored by the bits of each colour's format; packed by hand: 0.3 is 76 of 255, 306 of 1,023, in the upper bits of 16."""
    assert int(np.float32(0.3) * 255) << 8 != int(np.float32(0.3) * 1023) << 6
    dev = tg.Device("mali-g725")
    fragment = PLAIN.replace("out vec4 o;", "out vec4 o; layout(location = 1) out vec4 p;").replace("o = v_color;", "o = p = v_color;")
    blends = [{"src_color": "one", "dst_color": factor, "src_alpha": "one", "dst_alpha": "zero"} for factor in factors]
    pipe = dev.pipeline(VERT, fragment, vertex=VERTEX, color=list(formats), blend=blends, blend_constants=constants)
    with dev.render_pass(color=[tg.Attachment(dev.image((8, 8), format_), clear=(0, 0, 0, 0)) for format_ in formats]) as rp:
        rp.draw(pipe, layer(0.5))
    unit = next(t for t in rp.explain().rows[0]["techniques"] if t["technique"] == "blend_unit")
    assert (unit["state"] == "off") == (off is not None), unit
    assert off is None or unit["reason"].startswith(f"color{off} needs")


def test_a_logic_operation_that_does_nothing_writes_nothing() -> None:
    draws = [(PLAIN, layer(0.9), {}), (PLAIN, layer(0.2), {"logic_op": "no_op"})]
    found = Pass("immortalis-g925", draws)
    assert not found.stats.prepass_stops and found.stats.fragments_shaded == 64 * 64
    assert all(t["technique"] != "blend_unit" for t in found.rp.explain().rows[1]["techniques"])


# -- low-resolution Z's feedback


def many(z: float) -> np.ndarray:
    return np.concatenate([rect(256, x, y, x + 16, y + 16, z) for x in range(0, 256, 16) for y in range(0, 256, 16)])


@pytest.mark.parametrize("mode", ["gmem", "sysmem"])
@pytest.mark.parametrize("profile", ["adreno-a630", "adreno-a650", "adreno-a740"])
def test_feedback_begins_with_gpu_tracking(profile: str, mode: str) -> None:
    found = Pass(profile, [(DISCARD, rect(256, 0, 0, 256, 256, 0.2), {}), (PLAIN, many(0.9), {})], 256, render_mode=mode).stats
    has = profile != "adreno-a630"
    assert (found.lrz_feedback_texels > 0, found.lrz_primitives_rejected > 0) == (has, has)


def test_in_memory_a630_rejects_nothing() -> None:
    draws = [(PLAIN, rect(256, 0, 0, 256, 256, 0.2), {}), (PLAIN, many(0.9), {})]
    assert Pass("adreno-a630", draws, 256, render_mode="sysmem").stats.lrz_primitives_rejected == 0
    assert Pass("adreno-a650", draws, 256, render_mode="sysmem").stats.lrz_primitives_rejected == 512


@pytest.mark.parametrize("fragment", [DEPTH, MEMORY])
def test_a_draw_that_it_is_off_for_gives_no_feedback(fragment: str) -> None:
    sliver = (PLAIN, rect(256, 0, 0, 16, 16, 0.95), {})  # sets the direction
    for profile in ("adreno-a650", "adreno-a740"):
        draws = [sliver, (fragment, rect(256, 0, 0, 256, 256, 0.2), {}), (PLAIN, many(0.9), {})]
        found = Pass(profile, draws, 256).stats
        assert (found.lrz_feedback_texels, found.lrz_primitives_rejected) == (0, 0)


@pytest.mark.parametrize("profile", ["adreno-a630", "adreno-a650", "adreno-a740"])
def test_a_depth_image_that_a_command_cleared_begins_with_low_resolution_z(profile: str) -> None:
    """From a650 on (Turnip, tu_lrz_clear_depth_image); what comes between, other layers and other writes, ends it as ever."""
    dev = tg.Device(profile)
    color, depth, other = dev.image((256, 256), "r8g8b8a8_unorm"), dev.image((256, 256), "d32_sfloat"), dev.image((256, 256), "d32_sfloat")
    pipe = dev.pipeline(VERT, PLAIN, vertex=VERTEX, color=["r8g8b8a8_unorm"], depth="d32_sfloat", depth_compare="less")

    def left_out(load: bool = True) -> tuple[int, bytes]:
        attachment = tg.Attachment(depth, load_op="load") if load else tg.Attachment(depth, clear=1.0)
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=attachment) as rp:
            rp.draw(pipe, rect(256, 0, 0, 256, 256, 0.2))
            rp.draw(pipe, many(0.9))
        picture = depth.numpy().tobytes()
        return rp.stats.lrz_primitives_rejected + rp.stats.lrz_primitives_rejected_in_binning, picture

    expected, picture = left_out(load=False)
    assert expected
    dev.clear(depth, depth=1.0)
    tracked = profile != "adreno-a630"
    assert left_out() == (expected if tracked else 0, picture)
    dev.clear(depth, depth=1.0)
    dev.clear(other, depth=0.0)
    assert left_out() == (expected if tracked else 0, picture)
    dev.clear(depth, depth=1.0)
    dev.copy(other, depth, aspect="depth")  # behind everything: nothing passes LESS
    assert left_out()[0] == 0
    dev.clear(depth, depth=0.5)  # between the two
    assert left_out()[0] > 0 if tracked else left_out()[0] == 0


@pytest.mark.parametrize("profile", ["adreno-a630", "adreno-a650", "adreno-a740"])
@pytest.mark.parametrize(("compare", "clear", "z"), [("greater", 1.0, 0.1), ("less", 0.0, 0.9)])
def test_what_the_clear_hides_is_rejected_where_the_buffer_holds_it(profile: str, compare: str, clear: float, z: float) -> None:
    """The a650's fast clear is one bit, right for the direction whichever end it was; the a630 clears its buffer, to the depth itself."""
    dev = tg.Device(profile)
    pipe = dev.pipeline(VERT, PLAIN, vertex=VERTEX, color=["r8g8b8a8_unorm"], depth="d32_sfloat", depth_compare=compare)
    target = tg.Attachment(dev.image((64, 64), "r8g8b8a8_unorm"), clear=(0, 0, 0, 1))
    with dev.render_pass(color=target, depth=tg.Attachment(dev.image((64, 64), "d32_sfloat"), clear=clear)) as rp:
        rp.draw(pipe, rect(64, 8, 8, 16, 16, z))
    assert rp.stats.bin_entries == (2 if profile == "adreno-a650" else 0)
    assert rp.stats.fragments_shaded == 0


@pytest.mark.parametrize("seed", range(8))
def test_counts_of_a_gpu_without_tiles_know_no_bins(seed: int) -> None:
    rng, found = random.Random(seed), []
    shapes = [(rng.randrange(-8, 100), rng.randrange(-8, 100), rng.randrange(4, 60), rng.randrange(4, 60), rng.random()) for _ in range(60)]
    for options in ({}, {"bin_px": 32}, {"bin_px": 128}, {"lanes": 4, "threads": 1}):
        draws = [(PLAIN, rect(128, x, y, x + w, y + h, z), {}) for x, y, w, h, z in shapes]
        counts = Pass("desktop-immediate", draws, 128, **options).stats.asdict()
        found.append({k: v for k, v in counts.items() if k.startswith("fragments_") or k == "bin_entries"})
    assert all(counts == found[0] for counts in found)
    assert found[0]["fragments_killed_by_hierarchical_z"] > 0
