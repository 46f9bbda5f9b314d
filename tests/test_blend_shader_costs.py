"""What blend shaders cost on a Mali: operations counted on paper, accesses of the tile, samples; what explain, lint and what-if say.

PanVK's article: "For everything else, the fragment shader jumps to a blend shader which reads from the framebuffer, does the blending math
in the shader, and writes it back out to the framebuffer." Mesa's driver runs the whole fragment shader for each sample then.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cost_changes import changes
from tilegpu.cost_constants import CONSTANTS
from tilegpu.costs import costs_of

SIZE = (64, 32)
PIXELS = SIZE[0] * SIZE[1]
FORMAT = "r8g8b8a8_unorm"
VERT = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.5, 1.0); }"""
FRAG = """#version 450
layout(push_constant) uniform Push { vec4 color; } push;
layout(location = 0) out vec4 o;
void main() { o = push.color * 0.5 + 0.25; }"""
FRAGMENT_OPERATIONS = 8
MALI = [name for name, row in CONSTANTS.items() if row.kind == "buffer"]


def equation(color: tuple[str, str, str], alpha: tuple[str, str, str] | None = None) -> dict[str, str]:
    a = alpha or color
    return {"src_color": color[0], "dst_color": color[1], "color_op": color[2], "src_alpha": a[0], "dst_alpha": a[1], "alpha_op": a[2]}


def drawn(profile: str, state: dict[str, Any], format_: str = FORMAT, samples: int = 1, **options: Any) -> tg.RenderPass:
    """One triangle over everything."""
    device = tg.Device(profile, **options)
    pipeline = device.pipeline(VERT, FRAG, color=[format_], samples=samples, label="glass", **state)
    target = device.image(SIZE, format_, samples=samples)
    with device.render_pass(color=[tg.Attachment(target, clear=(0.1, 0.2, 0.3, 0.4))]) as rp:
        rp.draw(pipeline, count=3, push={"color": (0.5, 0.5, 0.5, 0.5)})
    return rp


#: State, format, arithmetic of one blend on paper: products, sums, "one minus", by component.
ON_PAPER = [
    ({"blend": equation(("one", "one", "max"))}, FORMAT, 4),
    ({"blend": equation(("dst_color", "src_alpha", "add"))}, FORMAT, 4 + 4 + 4),
    ({"blend": "alpha"}, "r16g16b16a16_sfloat", (3 + 1 + 3 + 3) + (1 + 1 + 1)),  # 1 - a is one number; the alpha of "alpha": one, 1 - a
    ({"blend": "additive"}, "r16g16b16a16_sfloat", None),
    ({"blend": equation(("zero", "one_minus_src_color", "add"), ("zero", "one", "add"))}, "r16g16b16a16_sfloat", 3 + 3),
    ({"blend": equation(("src_alpha_saturate", "one", "add"), ("one", "one", "add"))}, FORMAT, (2 + 3 + 3) + 1),
    ({"blend": "alpha"}, "r16_sfloat", None),
    ({"logic_op": "xor"}, FORMAT, 4 * 6),
    ({"logic_op": "xor"}, "r8g8b8a8_uint", None),
]


@pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")
@pytest.mark.parametrize("profile", ["mali-g57", "immortalis-g925"])
@pytest.mark.parametrize(("state", "format_", "operations"), [row for row in ON_PAPER if row[2] is not None])
def test_a_blend_is_counted_on_paper(profile: str, state: dict[str, Any], format_: str, operations: int) -> None:
    rp = drawn(profile, state, format_)
    (draw,) = rp._counts().draws
    assert (draw.programs.blend_targets, draw.programs.blend_operations, draw.written) == (1, operations, PIXELS)
    costs, k = rp.costs(), CONSTANTS[profile]
    assert costs.arithmetic["blend shaders"] == PIXELS * (operations + k.blend_call.value)
    assert costs.arithmetic["fragments"] == PIXELS * FRAGMENT_OPERATIONS
    # The unit blends a pixel in one access; a shader loads it and stores it.
    assert costs.units["colour writes"] == 2 * PIXELS / (k.pixels.value * k.cores.value)
    (reason,) = [t["reason"] for row in rp.explain().rows for t in row["techniques"] if t["technique"] == "blend_unit"]
    assert f"; {operations} operations and 1 read of the tile for each fragment" in reason
    (line,) = [line for line in rp.lint() if "blend shader" in line]
    assert f"{operations} operations" in line and f"a pass that shaded {PIXELS:,} fragments" in line


@pytest.mark.parametrize("profile", MALI)
def test_what_the_unit_blends_costs_no_more_than_what_is_not_blended(profile: str) -> None:
    """And a blend shader more, but "it's fast enough": less than twice of a shader of some operations."""
    plain, unit, shader = (
        drawn(profile, state).costs() for state in ({}, {"blend": "alpha"}, {"blend": equation(("dst_color", "src_alpha", "add"))})
    )
    # A pre-pass skips what is not opaque, which is tested once then.
    tested = {"depth tests": plain.units["depth tests"] / (2 if drawn(profile, {}).stats.prepass_tiles else 1)}
    assert plain.units | tested == unit.units and "blend shaders" not in unit.arithmetic
    assert all(shader.units[name] >= unit.units[name] for name in unit.units)
    assert shader.units["arithmetic"] > unit.units["arithmetic"] and shader.units["colour writes"] == 2 * unit.units["colour writes"]
    assert unit.cycles <= shader.cycles < 2 * unit.cycles


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_with_several_samples_the_whole_fragment_shader_runs_for_each(samples: int) -> None:
    """Mesa, panfrost: "a single ST_TILE in the blend shader with the current sample ID, requiring per-sample shading"."""
    rp = drawn("mali-g610", {"blend": equation(("one", "one", "max"))}, samples=samples)
    costs, unit = rp.costs(), drawn("mali-g610", {"blend": "additive"}, samples=samples).costs()
    k = CONSTANTS["mali-g610"]
    again = costs.arithmetic.get("fragments, for each sample of blend shaders", 0)
    assert again == PIXELS * FRAGMENT_OPERATIONS * (samples - 1)
    assert costs.arithmetic["blend shaders"] == PIXELS * samples * (4 + 2)
    assert costs.units["colour writes"] == 2 * PIXELS * samples / (k.pixels.value * k.cores.value)
    assert unit.units["colour writes"] == PIXELS * max(1, samples / 4) / (k.pixels.value * k.cores.value)
    (reason,) = [t["reason"] for row in rp.explain().rows for t in row["techniques"] if t["technique"] == "blend_unit"]
    assert (f"the whole fragment shader runs {samples} times" in reason) == (samples > 1)


def test_others_have_no_blend_shaders() -> None:
    for profile in ("adreno-a650", "desktop-immediate"):
        (draw,) = drawn(profile, {"blend": equation(("one", "one", "max"))})._counts().draws
        assert (draw.programs.blend_targets, draw.programs.blend_operations) == (0, 0)


@pytest.mark.parametrize("samples", [1, 4])
def test_what_if_says_what_the_unit_would_save(samples: int) -> None:
    """Advice that holds when it is taken: the same pass with an equation of the unit's costs as many cycles less."""
    rp = drawn("mali-g57", {"blend": equation(("one", "one", "max"))}, samples=samples)
    (change,) = [c for c in changes(rp._counts()) if "blend shader (glass)" in c.text]
    taken = drawn("mali-g57", {"blend": "additive"}, samples=samples)
    assert change.saves_cycles == pytest.approx(rp.costs().cycles - taken.costs().cycles) and change.saves_B == 0
    assert f"{PIXELS * samples:,} runs of up to 4 operations" in change.detail
    assert not [c for c in changes(taken._counts()) if "blend shader" in c.text]


def test_a_constant_of_several_values_is_the_draws() -> None:
    """It is state of the draw, not of the pipeline."""
    blend = equation(("constant_color", "one", "add"))
    for constant, targets in (((0.5,) * 4, 0), ((0.5, 0.5, 0.5, 1.0), 1)):
        (draw,) = drawn("mali-g57", {"blend": blend, "blend_constants": constant})._counts().draws
        assert draw.programs.blend_targets == targets and draw.programs.blend_operations == targets * (4 + 4)


def test_more_operations_never_cost_less() -> None:
    counts = drawn("mali-g57", {"blend": equation(("one", "one", "max"))})._counts()
    (draw,) = counts.draws
    cycles = [
        costs_of(dataclasses.replace(counts, draws=(dataclasses.replace(
            draw, programs=dataclasses.replace(draw.programs, blend_operations=n)),))).cycles
        for n in (0, 4, 40, 400, 4000)
    ]  # fmt: skip
    assert cycles == sorted(cycles) and cycles[-1] > cycles[0]


def test_the_picture_does_not_know() -> None:
    pictures = [np.asarray(drawn(p, {"blend": equation(("one", "one", "max"))})._bound[0][2].image) for p in ("host", "mali-g57")]
    np.testing.assert_array_equal(*pictures)
