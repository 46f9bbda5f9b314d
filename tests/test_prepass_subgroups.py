"""Operations among those of a subgroup that run do not end the fragment pre-pass: all that the rasterizer covers run, as for draws that
write memory, so that they give the same, and draws around them profit. Source: Arm, article on the fragment pre-pass (rules 4 and 5: the
coverage mask, helper lanes and values of the tile are named, subgroups are not)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (64, 48)
VERTEX = np.dtype([("position", "f4", 4), ("color", "f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color; layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
HEAD = """#version 450
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
"""
FRAGMENTS = {
    "plain": HEAD + "void main() { o = v_color; }",
    "sum": HEAD + "void main() { o = vec4(subgroupAdd(v_color.rgb) * 0.25, 1.0); }",
    "ballot": HEAD + "void main() { o = vec4(float(subgroupBallotBitCount(subgroupBallot(v_color.r > 0.4))) * 0.25, v_color.gb, 1.0); }",
    "elected": HEAD + "void main() { o = subgroupElect() ? v_color : v_color.bgra * 0.5; }",
    "any": HEAD + "void main() { if (subgroupAll(v_color.r > 0.6)) discard; o = vec4(v_color.rg, subgroupMax(v_color.b), 1.0); }",
    "discards": HEAD + """void main() {
  if ((int(gl_FragCoord.x) + int(gl_FragCoord.y)) % 3 == 0) discard;
  o = vec4(subgroupMin(v_color.rgb), 1.0); }""",
    "depth": HEAD + "void main() { gl_FragDepth = subgroupAdd(v_color.r) * 0.2; o = v_color; }",
    "early": HEAD.replace("layout(location = 0) in", "layout(early_fragment_tests) in;\nlayout(location = 0) in", 1)
    + "void main() { o = vec4(subgroupAdd(v_color.rgb) * 0.25, 1.0); }",
}  # fmt: skip


def triangles(rng: random.Random, count: int) -> np.ndarray:
    out = np.zeros(3 * count, VERTEX)
    out["position"] = [
        (rng.uniform(-1.4, 1.4), rng.uniform(-1.4, 1.4), rng.choice([0.2, 0.5, rng.random()]), 1)
        for _ in range(3 * count)
    ]
    out["color"] = [[rng.random() for _ in range(4)] for _ in range(3 * count)]
    return out


def drawn(
    draws: list[tuple[str, np.ndarray, dict[str, Any]]], samples: int, **options: Any
) -> tuple[tg.RenderPass, bytes]:
    dev = tg.Device("immortalis-g925", **options)
    color, depth = (dev.image(SIZE, f, samples=samples) for f in ("r8g8b8a8_unorm", "d32_sfloat"))
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        for kind, vertices, state in draws:
            state = {
                "vertex": VERTEX,
                "color": ["r8g8b8a8_unorm"],
                "depth": "d32_sfloat",
                "samples": samples,
                "depth_compare": "less",
            } | state
            pipe = dev.pipeline(VERT, FRAGMENTS[kind], **state)
            rp.draw(pipe, vertices)
    return rp, color.numpy().tobytes() + depth.numpy().tobytes()


@pytest.mark.parametrize("kind", ["sum", "ballot", "elected", "any", "discards", "depth"])
def test_they_do_not_end_it(kind: str) -> None:
    rng = random.Random(1)
    rp, _ = drawn(
        [("plain", triangles(rng, 3), {}), (kind, triangles(rng, 3), {}), ("plain", triangles(rng, 3), {})], 1
    )
    assert not rp.stats.prepass_stops


def test_early_tests_end_it_and_say_why() -> None:
    rng = random.Random(1)
    rp, _ = drawn([("plain", triangles(rng, 3), {}), ("early", triangles(rng, 3), {})], 1)
    assert {(s["rule"], s["reason"].split(",")[0]) for s in rp.stats.prepass_stops} == {
        ("8", "asks which invocations of a subgroup run")
    }


@pytest.mark.parametrize("seed", range(30))
def test_any_draws_give_the_same_with_the_pre_pass_and_without(seed: int) -> None:
    rng = random.Random(seed)
    samples = rng.choice([1, 1, 4])
    draws = []
    for _ in range(rng.randint(3, 9)):
        state: dict[str, Any] = {"depth_write": rng.random() < 0.8}
        if rng.random() < 0.2:
            state |= {"blend": "alpha", "depth_write": False}
        draws.append((rng.choice(list(FRAGMENTS)), triangles(rng, rng.randint(1, 8)), state))
    expected = drawn(draws, samples, hsr="off")[1]
    for options in (
        {},
        {"hsr": ["pre_pass"]},
        {"hsr": ["pre_pass", "hierarchical_z"], "lanes": 4},
        {"hsr": ["pre_pass", "visibility_buffer"], "bin_px": 32},
    ):
        assert drawn(draws, samples, **options)[1] == expected, options
