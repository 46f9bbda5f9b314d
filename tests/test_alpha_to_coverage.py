"""Samples that alpha and gl_SampleMask leave of a pixel: the first round(alpha * samples), halves up, of those in the mask."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (37, 22)
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); }"""
FRAG = """#version 450
layout(set = 0, binding = 0) uniform sampler2D wanted;  layout(location = 0) out vec4 o_color;
void main() {
  vec4 w = texelFetch(wanted, ivec2(gl_FragCoord.xy), 0);
  o_color = vec4(1, 1, 1, w.r);
#ifdef MASK
  gl_SampleMask[0] = int(w.g);
#endif
}"""
ALPHAS = np.array(
    [0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 1.0, 2.0, 1e-30, 0.125, 0.25, 0.375, 0.5, 0.75, 0.875, 0.03125], "f4"
)


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("covers", [False, True])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_samples_that_are_left(samples: int, masked: bool, covers: bool, lanes: int) -> None:
    rng = np.random.default_rng(samples)
    wanted = np.zeros((SIZE[1], SIZE[0], 4), "f4")
    some = rng.random(wanted.shape[:2]) < 0.5
    wanted[..., 0] = np.where(some, rng.choice(ALPHAS, some.shape), rng.uniform(-0.2, 1.2, some.shape))
    wanted[..., 1] = rng.integers(0, 1 << samples, some.shape)
    device = tg.Device(lanes=lanes, threads=1)
    color, resolved = (device.image(SIZE, "r32g32b32a32_sfloat", samples=n) for n in (samples, 1))
    state: dict[str, Any] = {"alpha_to_coverage": True} if covers else {}
    pipe = device.pipeline(
        FULL,
        FRAG,
        defines={"MASK": 1} if masked else {},
        color=[color.format],
        samples=samples,
        write_mask="rgb",
        **state,
    )
    texture = device.texture(wanted, "r32g32b32a32_sfloat", filter="nearest")
    attachment = tg.Attachment(color, load_op="clear", clear=(0, 0, 0, 0), store_op="dont_care", resolve=resolved)
    with device.render_pass(color=[attachment]) as rp:
        rp.draw(pipe, count=3, bind={"wanted": texture})
    alpha = np.where(wanted[..., 0] > 0, np.minimum(wanted[..., 0], np.float32(1)), np.float32(0))
    first = (
        np.floor(alpha * np.float32(samples) + np.float32(0.5)).astype(int) if covers else np.full(some.shape, samples)
    )
    left = (1 << first) - 1
    if masked:
        left &= wanted[..., 1].astype(int)
    counts = sum((left >> s & 1) for s in range(samples))
    np.testing.assert_array_equal(resolved.numpy()[..., 0] * samples, counts)


# ------------------------------------------------------------------------------------------------ alpha that is none, or that is not there
INTEGERS = "#version 450\nlayout(location = 0) out uvec4 o; void main() { o = uvec4(255, 7, 1, ALPHA); }"
NONE = "alpha_to_coverage needs a fragment shader output with an alpha component at location 0"


def told(caught: list[Any], category: type[Warning]) -> list[str]:
    return [str(w.message) for w in caught if w.category is category]


def covered(device: tg.Device, frag: str, fmt: str, samples: int, dynamic: bool, **state: Any) -> tuple[Any, list[Any]]:
    """The first texel of what covers all, and what was said."""
    color, resolved = (device.image((16, 16), fmt, samples=n) for n in (samples, 1))
    name = "alpha_to_coverage_enable"
    state |= {"dynamic": [name]} if dynamic else {"alpha_to_coverage": True}
    integers = "uint" in fmt or "sint" in fmt
    clear = (9, 9, 9, 9) if integers else (0.5, 0.5, 0.5, 0.5)
    more: dict[str, Any] = {"resolve": resolved, "store_op": "dont_care"} if samples > 1 else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipe = device.pipeline(FULL, frag, color=[fmt], samples=samples, **state)
        with device.render_pass(color=[tg.Attachment(color, clear=clear, **more)]) as rp:
            if dynamic:
                rp.set(alpha_to_coverage_enable=True)
            rp.draw(pipe, count=3)
    return (resolved if samples > 1 else color).numpy()[0, 0].tolist(), caught


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("samples", [1, 4, 16])
@pytest.mark.parametrize("fmt", ["r8g8b8a8_uint", "r32g32b32a32_uint", "r16g16b16a16_sint"])
@pytest.mark.parametrize("profile", ["host", "immortalis-g925", "adreno-a740"])
def test_integers_are_drawn_whatever_their_alpha(profile: str, fmt: str, samples: int, dynamic: bool) -> None:
    device = tg.Device(profile, threads=1)
    for alpha in ("0", "255", "0x7f"):  # as floats, denormals
        frag = INTEGERS.replace("ALPHA", alpha)
        if "sint" in fmt:
            frag = frag.replace("uvec4", "ivec4")
        texel, caught = covered(device, frag, fmt, samples, dynamic)
        assert texel == [255, 7, 1, int(alpha, 0)]
        assert told(caught, tg.UnusedNameWarning) == [
            "pipeline 'pipeline': alpha_to_coverage has no effect: output 'o' is of integers, which have no coverage; leave it out, or "
            "declare a vec4"
        ]


@pytest.mark.parametrize("dynamic", [False, True])
def test_integers_keep_what_else_decides_coverage(dynamic: bool) -> None:
    """A sample mask, a discard and a depth that the shader writes are theirs."""
    device = tg.Device(threads=1)
    body = "if (gl_FragCoord.x < 8) discard; o = uvec4(7);"
    frag = f"#version 450\nlayout(location = 0) out uvec4 o; void main() {{ {body} }}"
    texel, _ = covered(device, frag, "r8g8b8a8_uint", 4, dynamic)
    assert texel == [9, 9, 9, 9]


def test_a_float_beside_integers_decides_alone_where_it_is_at_location_0() -> None:
    device = tg.Device(threads=1)
    both = """#version 450
layout(location = A) out vec4 a; layout(location = B) out uvec4 b; void main() { a = vec4(0); b = uvec4(7); }"""
    images = [device.image((4, 4), f) for f in ("r8g8b8a8_unorm", "r8g8b8a8_uint")]
    for swapped, expected in ((False, 9), (True, 7)):
        text = both.replace("A)", "1)" if swapped else "0)").replace("B)", "0)" if swapped else "1)")
        order = images[::-1] if swapped else images
        pipe = device.pipeline(FULL, text, color=[i.format for i in order], alpha_to_coverage=True)
        with device.render_pass(color=[tg.Attachment(i, clear=(9, 9, 9, 9) if "uint" in i.format else (0, 0, 0, 0)) for i in order]) as rp:
            rp.draw(pipe, count=3)
        assert images[1].numpy()[0, 0].tolist() == [expected] * 4


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "frag",
    [
        "void main() {}",
        "void main() { gl_FragDepth = 0.25; }",
        "layout(location = 1) out vec4 o; void main() { o = vec4(1); }",
        "layout(location = 0) out vec3 o; void main() { o = vec3(1); }",
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_without_an_alpha_it_is_an_error_without_colours_too(frag: str, samples: int, strict: bool) -> None:
    device, frag = tg.Device(threads=1, strict=strict), "#version 450\n" + frag
    depth = device.image((8, 8), "d32_sfloat", samples=samples)
    fixed: dict[str, Any] = {"color": [], "depth": depth.format, "depth_compare": "always", "samples": samples}
    with pytest.raises(tg.ValidationError, match=NONE):
        device.pipeline(FULL, frag, **fixed, alpha_to_coverage=True)
    pipe = device.pipeline(FULL, frag, **fixed, dynamic=["alpha_to_coverage_enable"])
    with pytest.raises(tg.ValidationError, match=NONE), device.render_pass(depth=tg.Attachment(depth, clear=0.5)) as rp:
        rp.set(alpha_to_coverage_enable=True)
        rp.draw(pipe, count=3)
    with device.render_pass(depth=tg.Attachment(depth, clear=0.75)) as rp:
        rp.set(alpha_to_coverage_enable=False)
        rp.draw(pipe, count=3)
    assert (depth.numpy() == (0.25 if "gl_FragDepth" in frag else 0.5)).all()
    device.pipeline(FULL, frag, **fixed, alpha_to_coverage=True, rasterizer_discard=True)  # nothing is asked


def test_alpha_may_be_a_component_or_an_array_of_its_own() -> None:
    device = tg.Device(threads=1)
    apart = "layout(location = 0) out vec3 c; layout(location = 0, component = 3) out float a; void main() { c = vec3(1); a = A; }"
    array = "layout(location = 0) out vec4 o[1]; void main() { o[0] = vec4(1, 1, 1, A); }"
    for text in (apart, array):
        for alpha, expected in ((0.0, 128), (1.0, 255)):
            frag = "#version 450\n" + text.replace("A;", f"{alpha};").replace("A)", f"{alpha})")
            texel, caught = covered(device, frag, "r8g8b8a8_unorm", 4, False)
            assert texel[0] == expected and not caught


@pytest.mark.parametrize("dynamic", [False, True])
def test_what_alpha_is_not_there_is_told(dynamic: bool) -> None:
    device = tg.Device(threads=1)
    unwritten = "#version 450\nlayout(location = 0) out vec4 o; void main() {}"
    _, caught = covered(device, unwritten, "r8g8b8a8_unorm", 4, dynamic, write_mask="")
    assert len(said := told(caught, tg.LostPrimitivesWarning)) == 1 and "output 'o', which the fragment shader never writes" in said[0]
    state: dict[str, Any] = {"dynamic": ["alpha_to_coverage_enable"]} if dynamic else {"alpha_to_coverage": True}
    depth = device.image((8, 8), "d32_sfloat", samples=4)
    with pytest.warns(tg.UnusedNameWarning, match="alpha_to_coverage has no effect without a fragment shader"):
        pipe = device.pipeline(FULL, None, color=[], depth=depth.format, samples=4, **state)
        with device.render_pass(depth=tg.Attachment(depth, clear=1)) as rp:
            if dynamic:
                rp.set(alpha_to_coverage_enable=True)
            rp.draw(pipe, count=3)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("frag", "colors", "expected"),
    [
        (INTEGERS.replace("ALPHA", "5"), ["r8g8b8a8_uint"], "output 'o' is of integers, whose alpha stays"),
        ("#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }", [], "without colour attachments"),
        ("#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }", ["r8g8b8a8_unorm"], ""),
        ("""#version 450
layout(location = 0) out uvec4 o; layout(location = 1) out vec4 p; void main() { o = uvec4(1); p = vec4(0); }""",
         ["r8g8b8a8_uint", "r8g8b8a8_unorm"], ""),
    ],
)  # fmt: skip
def test_alpha_to_one_without_effect_is_told(frag: str, colors: list[str], expected: str, dynamic: bool) -> None:
    device = tg.Device(threads=1)
    state: dict[str, Any] = {"dynamic": ["alpha_to_one_enable"]} if dynamic else {"alpha_to_one": True}
    images = [device.image((8, 8), f) for f in colors]
    more = {} if images else {"area": (0, 0, 8, 8)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipe = device.pipeline(FULL, frag, color=colors, **state)
        with device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in images], **more) as rp:
            if dynamic:
                rp.set(alpha_to_one_enable=True)
            rp.draw(pipe, count=3)
    said = told(caught, tg.UnusedNameWarning)
    assert [expected in text and "alpha_to_one has no effect" in text for text in said] == ([True] if expected else [])
    if colors[:1] == ["r8g8b8a8_uint"] and len(colors) == 1:
        assert images[0].numpy()[0, 0, 3] == 5


def test_alpha_to_one_asks_for_no_blend_shader_of_integers() -> None:
    device = tg.Device("mali-g725", threads=1)
    for fmt, frag, shader in (
        ("r8g8b8a8_uint", INTEGERS.replace("ALPHA", "5"), False),
        ("r8g8b8a8_unorm", "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0); }", True),
    ):
        image = device.image((16, 16), fmt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pipe = device.pipeline(FULL, frag, color=[fmt], alpha_to_one=True)
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3)
        assert ("alpha to one changes" in str(rp.explain())) == shader
