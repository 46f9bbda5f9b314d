"""Packets whose source changes nothing leave the tile alone: no pixel's result depends on what its neighbours hold.

The same pairs of source and destination are blended twice: with sources of nothing (0, less, no numbers) side by side, so that whole
packets have nothing to write, and in random order, where each packet has something. Any format, factors, operations, write masks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (64, 48)
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); }"""
COPY = """#version 450
layout(set = 0, binding = 0) uniform sampler2D source;  layout(location = 0) out vec4 o_color;
void main() { o_color = texelFetch(source, ivec2(gl_FragCoord.xy), 0); }"""
LATE = COPY.replace("{ o", "{ if (gl_FragCoord.x < 0.0) discard; o")  # the epilogue by itself, not in the body's code
FORMATS = [
    "r8g8b8a8_unorm", "r8g8b8a8_srgb", "b8g8r8a8_unorm", "r8_unorm", "r8g8_unorm", "r16g16b16a16_unorm", "a2b10g10r10_unorm_pack32",
    "r8g8b8a8_snorm", "r16g16b16a16_sfloat", "r5g6b5_unorm_pack16",
]  # fmt: skip
FACTORS = [
    "zero", "one", "src_color", "one_minus_src_color", "dst_color", "one_minus_dst_color", "src_alpha", "one_minus_src_alpha", "dst_alpha",
    "one_minus_dst_alpha", "constant_color", "src_alpha_saturate",
]  # fmt: skip
OVER = {
    "src_color": "src_alpha",
    "dst_color": "one_minus_src_alpha",
    "src_alpha": "one",
    "dst_alpha": "one_minus_src_alpha",
}
GLOW = {"src_color": "src_alpha", "dst_color": "one", "src_alpha": "zero", "dst_alpha": "one"}
KEPT: list[Any] = [OVER, GLOW, "premultiplied", "additive",
                   {"src_color": "one", "dst_color": "one_minus_src_color", "src_alpha": "one", "dst_alpha": "one"}]  # fmt: skip


def any_blend(rng: np.random.Generator) -> Any:
    if rng.random() < 0.6:
        return KEPT[int(rng.integers(len(KEPT)))]
    blend: dict[str, Any] = {k: str(rng.choice(FACTORS)) for k in ("src_color", "dst_color", "src_alpha", "dst_alpha")}
    return blend | {
        k: str(rng.choice(["add", "subtract", "reverse_subtract", "min", "max"])) for k in ("color_op", "alpha_op")
    }


def sources(rng: np.random.Generator) -> np.ndarray:
    """(H, W, 4) float32: colours, in half of the 8x8 blocks nothing: no alpha, no colour, or neither."""
    out = rng.uniform(-0.2, 1.3, (SIZE[1], SIZE[0], 4)).astype("f4")
    nothing = rng.choice(np.array([0.0, -0.0, -0.5, np.nan, -np.inf], "f4"), (SIZE[1], SIZE[0], 4))
    strange = rng.choice(np.array([np.inf, 3e38, np.nan, -1e30], "f4"), out.shape)
    out = np.where(rng.random(out.shape) < 0.03, strange, out)
    kind = np.kron(rng.integers(0, 6, (SIZE[1] // 8, SIZE[0] // 8)), np.ones((8, 8), int))[..., None]
    alpha = np.arange(4) == 3
    return np.where((kind == 1) & alpha | (kind == 2) & ~alpha | (kind == 3), nothing, out).astype("f4")


def targets(rng: np.random.Generator) -> np.ndarray:
    """(H, W, 4) float32: all codes, the lowest ones more often."""
    out = rng.uniform(0, 1, (SIZE[1], SIZE[0], 4)) ** rng.choice([1.0, 2.2, 6.0], (SIZE[1], SIZE[0], 1))
    return np.where(rng.random(out.shape) < 0.1, rng.choice([-0.0, 0.0, 1.0, 2.0, -1.0]), out).astype("f4")


def blended(
    device: tg.Device,
    source: np.ndarray | None,
    target: np.ndarray,
    format_: str,
    shader: str,
    samples: int,
    state: dict[str, Any],
) -> np.ndarray:
    """What becomes of the targets, of all samples alike; without a source as they are. Bytes (pixels, bytes of a texel)."""
    image = device.image(SIZE, format_, samples=samples)
    resolved = device.image(SIZE, format_) if samples > 1 else None
    copy = device.pipeline(FULL, COPY, color=[format_], samples=samples)
    pipe = device.pipeline(FULL, shader, color=[format_], samples=samples, **state)
    pictures = [device.texture(p, "r32g32b32a32_sfloat", filter="nearest") for p in (target, source) if p is not None]
    attachment = tg.Attachment(image, load_op="clear", clear=(0, 0, 0, 0), store_op="store", resolve=resolved)
    with device.render_pass(color=[attachment]) as rp:
        for what, picture in zip((copy, pipe), pictures, strict=False):
            rp.draw(what, count=3, bind={"source": picture})
    array = np.ascontiguousarray((resolved or image).numpy())
    return array.view(np.uint8).reshape(SIZE[0] * SIZE[1], -1)


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    return [tg.Device(lanes=16, threads=1), tg.Device(lanes=8, threads=2), tg.Device(lanes=4, threads=1, bin_px=32)]


@pytest.mark.parametrize("seed", range(120))
def test_neighbours_decide_nothing(devices: list[tg.Device], seed: int) -> None:
    rng = np.random.default_rng(seed)
    format_, samples = FORMATS[seed % len(FORMATS)], int(rng.choice([1, 1, 4]))
    state: dict[str, Any] = {"blend": any_blend(rng), "blend_constants": (0.3, 0.6, 0.2, 0.7)}
    if "constant" not in str(state["blend"]):
        del state["blend_constants"]
    if rng.random() < 0.25:
        state["write_mask"] = str(rng.choice(["rgb", "r", "rg"]))
    if samples > 1 and rng.random() < 0.2:
        state["alpha_to_one"] = True
    shader = LATE if rng.random() < 0.4 else COPY
    source, target = sources(rng), targets(rng)
    order = rng.permutation(SIZE[0] * SIZE[1])
    mixed_source, mixed_target = (a.reshape(-1, 4)[order].reshape(a.shape) for a in (source, target))
    expected = None
    for device in devices:
        got = blended(device, source, target, format_, shader, samples, state)
        shuffled = blended(device, mixed_source, mixed_target, format_, shader, samples, state)
        np.testing.assert_array_equal(got[order], shuffled)
        expected = got if expected is None else expected
        np.testing.assert_array_equal(expected, got)


@pytest.mark.parametrize(
    "format_", ["r8g8b8a8_unorm", "r8g8b8a8_srgb", "b8g8r8a8_unorm", "r8_unorm", "r5g6b5_unorm_pack16"]
)
@pytest.mark.parametrize("blend", KEPT, ids=str)
def test_nothing_keeps_the_texel(devices: list[tg.Device], format_: str, blend: Any) -> None:
    """Whether the packet is skipped or blended: all codes come back as they were."""
    rng = np.random.default_rng(7)
    target = targets(rng)
    nothing = rng.choice(np.array([0.0, -0.0, -2.0, np.nan], "f4"), target.shape)
    for every in (1, 0):  # all pixels; all but one in four
        source = nothing.copy()
        if not every:
            source[::2, ::2] = 0.7
        before = blended(devices[0], None, target, format_, COPY, 1, {})
        for device in devices:
            after = blended(device, source, target, format_, COPY, 1, {"blend": blend})
            kept = np.ones(target.shape[:2], bool) if every else (source[..., 0] != np.float32(0.7))
            np.testing.assert_array_equal(after[kept.reshape(-1)], before[kept.reshape(-1)])
