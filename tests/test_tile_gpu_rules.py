"""Rules of modelled GPUs that go by memory and by format: rule 3 of the fragment pre-pass, and blends that need a shader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (64, 64)
FORMAT = "r8g8b8a8_unorm"
VERTEX = """#version 450
layout(push_constant) uniform P { float z; };
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, z, 1); }"""
PLAIN = "#version 450\nlayout(location = 0) out vec4 c; void main() { c = vec4(1, 1, 1, 0.5); }"
STORAGE = "layout(std430, set = 0, binding = %d) %s buffer %s { uint %s[]; };\n"


def fragment(declarations: str, body: str) -> str:
    start = "void main() { c = vec4(1); uint i = uint(gl_FragCoord.x); "
    return f"#version 450\n{declarations}layout(location = 0) out vec4 c;\n{start}{body} }}"


READ_A_WRITE_B = fragment(STORAGE % (0, "readonly", "A", "a") + STORAGE % (1, "", "B", "b"), "b[i] = a[3] + 1u;")
UNIFORM = fragment("layout(set = 0, binding = 0) uniform A { uvec4 a[8]; };\n" + STORAGE % (1, "", "B", "b"), "b[i] = a[1].x;")
ALIASES = fragment(STORAGE % (0, "readonly", "A", "a") + STORAGE % (0, "", "B", "b"), "b[i] = a[3] + 1u;")
SAMPLED = fragment(
    "layout(set = 0, binding = 0) uniform sampler2D a;\nlayout(set = 0, binding = 1, rgba8) uniform writeonly image2D b;\n",
    "imageStore(b, ivec2(gl_FragCoord.xy), texelFetch(a, ivec2(0), 0));",
)
WRITES_TWO = fragment(STORAGE % (0, "writeonly", "A", "a") + STORAGE % (1, "writeonly", "B", "b"), "a[i] = 1u; b[i] = 2u;")


def stops(shader: str, bind: Callable[[tg.Device], dict[Any, Any]]) -> list[tuple[str, str]]:
    """What ends the pre-pass of three draws, of which the second has the shader."""
    dev = tg.Device(profile="immortalis-g925", hsr=["pre_pass"], cache_dir="off")
    color, depth = dev.image(SIZE, FORMAT), dev.image(SIZE, "d32_sfloat")
    common: dict[str, Any] = {"color": [FORMAT], "depth": "d32_sfloat", "depth_compare": "less"}
    plain, special = dev.pipeline(VERTEX, PLAIN, **common), dev.pipeline(VERTEX, shader, **common)
    with dev.render_pass(tg.Attachment(color, clear=(0, 0, 0, 1)), tg.Attachment(depth, clear=1.0)) as rp:
        for pipe, z in ((plain, 0.9), (special, 0.5), (plain, 0.2)):
            rp.draw(pipe, count=3, push={"z": z}, bind=bind(dev) if pipe is special else None)
    return [(stop["rule"], stop["reason"]) for stop in rp.stats.prepass_stops]


def two_parts(dev: tg.Device, *ranges: tuple[int, int]) -> dict[Any, Any]:
    whole = dev.buffer(4096)
    return {(0, k): whole.slice(*part) for k, part in enumerate(ranges)}


@pytest.mark.parametrize(("shader", "bind", "stopped"), [
    (READ_A_WRITE_B, lambda dev: {(0, 0): dev.buffer(4096), (0, 1): dev.buffer(4096)}, False),
    (READ_A_WRITE_B, lambda dev: dict.fromkeys(((0, 0), (0, 1)), dev.buffer(4096)), True),
    (READ_A_WRITE_B, lambda dev: two_parts(dev, (0, 2048), (2048, 2048)), False),
    (READ_A_WRITE_B, lambda dev: two_parts(dev, (0, 2052), (2048, 2048)), True),
    (UNIFORM, lambda dev: dict.fromkeys(((0, 0), (0, 1)), dev.buffer(4096)), True),
    (UNIFORM, lambda dev: {(0, 0): dev.buffer(4096), (0, 1): dev.buffer(4096)}, False),
    (ALIASES, lambda dev: {(0, 0): dev.buffer(4096)}, True),
    (WRITES_TWO, lambda dev: dict.fromkeys(((0, 0), (0, 1)), dev.buffer(4096)), False),
    (SAMPLED, lambda dev: {(0, 0): dev.texture(np.zeros((64, 64, 4), np.uint8)), (0, 1): dev.image(SIZE, FORMAT)}, False),
])  # fmt: skip
def test_rule_3_goes_by_memory(shader: str, bind: Callable[[tg.Device], dict[Any, Any]], stopped: bool) -> None:
    """"The same buffer", whatever the variables are called and wherever it is bound."""
    found = stops(shader, bind)
    assert [rule for rule, _ in found] == (["3"] if stopped else [])
    assert all("reads" in reason and "writes" in reason for _, reason in found)


def test_rule_3_of_an_image_that_is_sampled_and_stored() -> None:
    def bind(dev: tg.Device) -> dict[Any, Any]:
        one = dev.image(SIZE, FORMAT)
        dev.clear(one, (0, 0, 0, 0))
        return {(0, 0): (one, dev.sampler()), (0, 1): one}

    assert [rule for rule, _ in stops(SAMPLED, bind)] == ["3"]


def blend(color: tuple[str, str, str], alpha: tuple[str, str, str] | None = None) -> dict[str, str]:
    a = alpha or color
    return {"src_color": color[0], "dst_color": color[1], "color_op": color[2], "src_alpha": a[0], "dst_alpha": a[1], "alpha_op": a[2]}


#: Format, blending or logic operation, words of the reason ("": the unit does it; None: nothing is blended).
BLENDS: list[tuple[str, dict[str, Any], str | None]] = [
    (FORMAT, {}, None),
    (FORMAT, {"blend": "alpha"}, ""),
    (FORMAT, {"blend": "additive"}, ""),
    ("r8g8b8a8_srgb", {"blend": "alpha"}, ""),
    ("a2b10g10r10_unorm_pack32", {"blend": "alpha"}, ""),
    ("r16g16b16a16_sfloat", {"blend": "alpha"}, "format"),
    ("r16g16b16a16_sfloat", {}, None),
    ("b10g11r11_ufloat_pack32", {"blend": "additive"}, "format"),
    ("r16g16b16a16_unorm", {"blend": "alpha"}, "format"),
    (FORMAT, {"blend": blend(("one", "one", "max"))}, "no sum"),
    (FORMAT, {"blend": blend(("dst_color", "zero", "add"))}, ""),
    (FORMAT, {"blend": blend(("dst_color", "src_color", "add"), ("one", "zero", "add"))}, ""),
    (FORMAT, {"blend": blend(("dst_color", "src_alpha", "add"))}, "different kinds"),
    (FORMAT, {"blend": blend(("src_alpha", "one_minus_src_alpha", "reverse_subtract"))}, ""),
    (FORMAT, {"blend": blend(("src_alpha_saturate", "one", "add"), ("one", "one", "add"))}, "src_alpha_saturate"),
    (FORMAT, {"blend": blend(("constant_color", "one", "add")), "blend_constants": (0.5, 0.5, 0.5, 0.5)}, ""),
    (FORMAT, {"blend": blend(("constant_color", "one", "add")), "blend_constants": (0.5, 0.5, 0.5, 1.0)}, "several values"),
    (FORMAT, {"blend": "alpha", "blend_constants": (0.5, 0.25, 0.5, 1.0)}, ""),
    (FORMAT, {"logic_op": "xor"}, "logic"),
]


@pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")
@pytest.mark.parametrize(("format_", "state", "words"), BLENDS)
def test_blends_that_need_a_shader_are_counted(format_: str, state: dict[str, Any], words: str | None) -> None:
    for profile, has_unit in (("mali-g610", True), ("adreno-a650", False), ("host", False)):
        dev = tg.Device(profile=profile, cache_dir="off")
        plain, special = dev.pipeline(VERTEX, PLAIN, color=[format_]), dev.pipeline(VERTEX, PLAIN, color=[format_], label="mixed", **state)
        with dev.render_pass(tg.Attachment(dev.image(SIZE, format_), clear=(0, 0, 0, 1))) as rp:
            rp.draw(plain, count=3, push={"z": 0.5})
            for _ in range(3):
                rp.draw(special, count=3, push={"z": 0.5})
        found = [t for row in rp.explain().rows for t in row["techniques"] if t["technique"] == "blend_unit"]
        lines = [line for line in rp.lint() if "blend shader" in line]
        if not has_unit or words is None:
            assert not found and not lines
            continue
        assert [t["state"] for t in found] == ["off" if words else "on"]
        assert words in found[0]["reason"]
        assert len(lines) == bool(words) and all("pipeline 'mixed': color0" in line and "3 of 4 draws" in line for line in lines)


def test_splits_by_draws_are_named() -> None:
    dev = tg.Device(cache_dir="off")
    target = dev.image(SIZE, FORMAT)
    layout, desc = tg.FramebufferLayout([FORMAT], size=SIZE), tg.FramebufferDesc(draws_a_part=2)
    fb = dev.framebuffer(layout, {"color0": tg.Load(clear=(0, 0, 0, 1))}, {"color0": target}, desc=desc)
    pipe = dev.pipeline(VERTEX, PLAIN, color=[FORMAT])
    with dev.render_pass(framebuffer=fb) as rp:
        for _ in range(5):
            rp.draw(pipe, count=3, push={"z": 0.5})
    assert rp.stats.splits == 2
    assert any("draws_a_part" in line and "2 times" in line for line in rp.lint())


def test_the_table_has_a_cell_for_each_draw() -> None:
    """Draws that don't blend have no state of the unit; their other cells stay in place."""
    dev = tg.Device(profile="mali-g610", cache_dir="off")
    plain, mixed = dev.pipeline(VERTEX, PLAIN, color=[FORMAT]), dev.pipeline(VERTEX, PLAIN, color=[FORMAT], blend="alpha", label="mixed")
    with dev.render_pass(tg.Attachment(dev.image(SIZE, FORMAT), clear=(0, 0, 0, 1))) as rp:
        for pipe in (plain, mixed, plain):
            rp.draw(pipe, count=3, push={"z": 0.5})
    headings, rows, _, _ = rp.explain().folded()
    column = headings.index("blend unit")
    assert [row[column] for row in rows] == ["-", "on", "-"] and {len(row) for row in rows} == {len(headings)}
    text = str(rp.explain())
    assert all(row["plan"] in text for row in rp.explain().rows)
