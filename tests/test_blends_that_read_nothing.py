"""Blending that gives the source, or what the source alone decides, is opaque: it hides, kills and costs as no blending does, and gives the
same bits by every way. Source: Vulkan specification, "Blend Factors" (a zero factor leaves its operand out); Mesa,
src/panfrost/lib/pan_blend.c (pan_blend_is_opaque, pan_blend_reads_dest) and PanVK's blend_needs_shader."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (16, 16)
FULL = """#version 450
layout(push_constant) uniform P { float z; };
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, z, 1); }"""
COLOR = """#version 450
layout(location = 0) out vec4 o;
void main() { o = vec4(gl_FragCoord.x / 16.0, gl_FragCoord.y / 16.0 - 0.2, 1.25, fract(gl_FragCoord.x * 0.3)); }"""
ONE = {"src_color": "one", "dst_color": "zero", "src_alpha": "one", "dst_alpha": "zero"}
FORMATS = [
    "r8g8b8a8_unorm",
    "r8g8b8a8_srgb",
    "r8g8b8a8_snorm",
    "r16g16b16a16_sfloat",
    "b10g11r11_ufloat_pack32",
    "r8_unorm",
]
SOURCES = ["zero", "one", "src_color", "one_minus_src_color", "src_alpha", "one_minus_src_alpha", "constant_color"]
COPIES: list[dict[str, Any]] = [
    {"blend": ONE}, {"blend": {**ONE, "color_op": "subtract", "alpha_op": "subtract"}}, {"blend": "src"},
    {"blend": {**ONE, "dst_alpha": "one"}, "write_mask": "rgb"},
]  # fmt: skip
OTHERS: list[dict[str, Any]] = [
    {"blend": {**ONE, "src_color": "src_alpha"}}, {"blend": {**ONE, "src_alpha": "src_alpha_saturate"}},
    {"blend": {**ONE, "src_color": "one_minus_src_color", "color_op": "reverse_subtract"}}, {"logic_op": "clear"}, {"logic_op": "set"},
    {"logic_op": "copy_inverted"}, {"blend": "zero"},
]  # fmt: skip
READS: list[dict[str, Any]] = [
    {"blend": "alpha"}, {"blend": {**ONE, "src_color": "dst_color"}}, {"blend": {"color_op": "min"}}, {"logic_op": "xor"},
    {"blend": {**ONE, "src_color": "src_alpha_saturate"}}, {"write_mask": "rgb"}, {"blend": "multiply"},
]  # fmt: skip


def drawn(
    profile: str, format_: str = "r8g8b8a8_unorm", samples: int = 1, below: Any = None, hsr: Any = None, **state: Any
) -> Any:
    """A pass: a far draw over everything, then a near one with ``state``; its device's image too."""
    dev = tg.Device(profile, **({"hsr": hsr} if hsr else {}))
    image, depth = dev.image(SIZE, format_, samples=samples), dev.image(SIZE, "d32_sfloat", samples=samples)
    of: dict[str, Any] = {"color": [format_], "depth": "d32_sfloat", "samples": samples, "depth_compare": "less"}
    plain, with_state = dev.pipeline(FULL, COLOR, **of), dev.pipeline(FULL, COLOR, **of, **state)
    clear = (0.5, 0.25, 0.75, 0.5) if below is None else below
    with dev.render_pass(color=[tg.Attachment(image, clear=clear)], depth=tg.Attachment(depth, clear=1.0)) as rp:
        if below is None:
            rp.draw(plain, count=3, push={"z": 0.9})
        rp.draw(with_state, count=3, push={"z": 0.2})
    return rp, image.numpy()


def facts(rp: tg.RenderPass) -> dict[str, Any]:
    s = rp.stats
    return {
        "shaded": s.fragments_shaded, "killed while waiting": s.fragments_killed_by_fpk, "stops": len(s.prepass_stops),
        "reads": dict(rp.costs().read_B),
    }  # fmt: skip


@pytest.mark.parametrize("profile", ["mali-g57", "immortalis-g925", "adreno-a740", "desktop-immediate"])
def test_it_is_drawn_and_costs_as_no_blending(profile: str) -> None:
    none = facts(drawn(profile)[0])
    for state in COPIES[:3] + OTHERS:
        assert facts(drawn(profile, **state)[0]) == none, state
    if profile.startswith(("mali", "immortalis")):
        for state in READS:
            assert facts(drawn(profile, **state)[0]) != none, state


def test_masks_of_components_that_a_format_has_not_keep_nothing() -> None:
    none = facts(drawn("immortalis-g925", "r8_unorm")[0])
    for state in (
        {"write_mask": "r"},
        {"write_mask": "rgb"},
        {"blend": {**ONE, "src_alpha": "dst_color"}},
        {"blend": {**ONE, "src_color": "dst_alpha"}},
    ):
        assert facts(drawn("immortalis-g925", "r8_unorm", **state)[0]) == none, state


@pytest.mark.parametrize("format_", FORMATS)
def test_the_picture_is_the_same_by_every_way(format_: str) -> None:
    """Over numbers that are none too, which a factor of zero must leave out: through the visibility buffer, the pre-pass, and in order."""
    signed = format_ in ("r16g16b16a16_sfloat", "b10g11r11_ufloat_pack32")
    below = (np.inf, np.nan, 3.0, np.inf) if signed else (0.5, 0.25, 0.75, 0.5)
    equations = [
        dict(ONE, src_color=a, src_alpha=b, color_op=op)
        for a, b, op in itertools.product(SOURCES, SOURCES[:2], ("add", "subtract", "reverse_subtract"))
    ]
    random.Random(format_).shuffle(equations)
    for blend in equations[:10]:
        state = (
            {"blend": blend, "blend_constants": (0.25, 0.5, 0.75, 0.3)}
            if "constant" in str(blend)
            else {"blend": blend}
        )
        for samples in (1, 4):
            picture = [
                drawn(profile, format_, samples, below, hsr, **state)[1].tobytes()
                for profile, hsr in (("host", None), ("host", "off"), ("immortalis-g925", None))
            ]
            assert picture[0] == picture[1] == picture[2], blend


def told(profile: str, format_: str, **state: Any) -> str:
    """The explanation of the blend unit; empty where it does not need one."""
    rows = drawn(profile, format_, **state)[0].explain().rows
    found = [t for t in rows[-1]["techniques"] if t["technique"] == "blend_unit" and t["state"] == "off"]
    return found[0]["reason"] if found else ""


@pytest.mark.parametrize(
    ("format_", "state", "words"),
    [
        ("r16g16b16a16_sfloat", {"blend": ONE}, ""),
        ("r16g16b16a16_sfloat", {}, ""),
        (
            "r16g16b16a16_sfloat",
            {"write_mask": "rgb"},
            "the unit does not mask components of this format; 0 operations and 1 read",
        ),
        ("r8g8b8a8_unorm", {"write_mask": "rgb"}, ""),
        (
            "r8g8b8a8_unorm",
            {"alpha_to_one": True},
            "alpha to one changes what the fragment shader wrote; 0 operations and 0 reads",
        ),
        (
            "r16g16b16a16_sfloat",
            {"blend": dict(ONE, src_color="src_alpha")},
            "does not blend this format; 3 operations and 0 reads",
        ),
        ("r8g8b8a8_unorm", {"logic_op": "xor"}, "logic operation"),
        ("r16g16b16a16_sfloat", {"blend": "alpha"}, "does not blend this format; 13 operations and 1 read"),
    ],
)
def test_what_needs_a_blend_shader(format_: str, state: dict[str, Any], words: str) -> None:
    for profile in ("mali-g57", "immortalis-g925"):
        said = told(profile, format_, **state)
        assert words in said and bool(words) == bool(said)
    assert not told("adreno-a740", format_, **state)
