"""Every colour format as an attachment, through shader, blender and clear, against NumPy: conversions, logic ops, blending.

The texels are compared as the bytes that lie in the image. tests/oracle/formats.py knows the formats by their names only.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from tests.oracle import formats as fm
from tests.oracle.fragment_ops import Blend, _combine, _factor

import tilegpu as tg

COUNT = 512
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""


def frag(kind: str) -> str:
    """Pixel x takes row x of a storage buffer."""
    return f"""#version 450
layout(set = 0, binding = 0) readonly buffer Colors {{ {kind}vec4 colors[]; }};
layout(location = 0) out {kind}vec4 o_color;
void main() {{ o_color = colors[int(gl_FragCoord.x)]; }}"""


@cache
def device() -> tg.Device:
    return tg.Device()


def kind_of(format_: fm.Format) -> str:
    return {"uint": "u", "sint": "i"}.get(format_.numeric, "")


def colors_for(format_: fm.Format, seed: int = 1) -> np.ndarray:
    """(COUNT, 4) float32 or 32-bit integers: in range, out of range, ties, special numbers."""
    rng = np.random.default_rng(seed)
    if format_.is_integer:
        bits = rng.integers(1, 33, (COUNT, 4))
        values = rng.integers(0, 1 << 32, (COUNT, 4)) >> (32 - bits)
        return values.astype(np.uint32).view(np.int32) if format_.numeric == "sint" else values.astype(np.uint32)
    colors = rng.uniform(-1.25, 1.25, (COUNT, 4)).astype(np.float32)
    colors[:64] = rng.choice(np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1e-6, 1e-40, 0.0031308, 100.0], np.float32), (64, 4))
    for c in format_.components:  # halfway between two codes
        top = (1 << (c.bits - (format_.numeric == "snorm"))) - 1
        if format_.numeric in ("unorm", "snorm") and c.bits <= 16:
            colors[64:128, c.channel] = ((rng.integers(0, top, 64) + 0.5) / top).astype(np.float32)
    return colors


def texels(image: tg.Image, texel_B: int) -> bytes:
    buffer = device().buffer(np.zeros(COUNT * texel_B, np.uint8))
    device().copy(image, buffer)
    return bytes(buffer.numpy().tobytes())


def draw(name: str, colors: np.ndarray, before: bytes | None = None, **state: object) -> bytes:
    format_ = fm.parse(name)
    image = device().image((COUNT, 1), name)
    if before is not None:
        device().copy(np.frombuffer(before, np.uint8), image)
    pipe = device().pipeline(FULL, frag(kind_of(format_)), color=[name], **state)
    load = tg.Attachment(image) if before is not None else tg.Attachment(image, clear=(0, 0, 0, 0))
    with device().render_pass(color=[load]) as rp:
        rp.draw(pipe, count=3, bind={"Colors": device().buffer(colors, usage="storage")})
    return texels(image, format_.texel_B)


def assert_codes(format_: fm.Format, got: bytes, colors: np.ndarray) -> None:
    codes = fm.from_bytes(format_, got)
    want = fm.encode(format_, colors)
    for k, c in enumerate(format_.components):
        if format_.numeric == "srgb" and c.channel < 3:
            assert np.abs(codes[:, k] - fm.srgb_exact(colors[:, c.channel])).max() <= 0.6
        else:
            assert np.array_equal(codes[:, k], want[:, k]), f"{format_.name}, component {'rgba'[c.channel]}"


@pytest.mark.parametrize("name", fm.COLOR_FORMATS)
def test_shader_outputs_are_converted_exactly(name: str) -> None:
    format_ = fm.parse(name)
    colors = colors_for(format_)
    assert_codes(format_, draw(name, colors), colors)


@pytest.mark.parametrize("name", fm.COLOR_FORMATS)
def test_clears_are_what_a_shader_writes(name: str) -> None:
    """Load operation, clear inside the pass, clear of the image: one conversion."""
    format_ = fm.parse(name)
    colors = colors_for(format_, 2)[128:140]
    if format_.is_integer:
        colors = colors.astype(np.float64)
    for color in colors:
        value = tuple(color.tolist())
        images = [device().image((COUNT, 1), name) for _ in range(3)]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with device().render_pass(color=[tg.Attachment(images[0], clear=value)]):
                pass
            with device().render_pass(color=[tg.Attachment(images[1], clear=(0, 0, 0, 0))]) as rp:
                rp.clear(value)
            device().clear(images[2], value)
        # What the format does not hold is said at all three, and what it holds at none.
        assert len(said) in (0, 3) and all(one.category is tg.ClampedValueWarning for one in said), (value, said)
        for image in images:
            assert_codes(format_, texels(image, format_.texel_B), np.tile(color, (COUNT, 1)))


# What (0.3, 0.6, 0.9, 0.2), or (200, -3, 70000, 5) as integers (-3 is 0 where there is no sign), becomes: the bytes of the texel.
GOLDEN = {
    "r8_unorm": "4d",
    "r8_snorm": "26",
    "r8_uint": "c8",
    "r8_sint": "7f",
    "r8_srgb": "95",
    "r8g8_unorm": "4d99",
    "r8g8_snorm": "264c",
    "r8g8_uint": "c800",
    "r8g8_sint": "7ffd",
    "r8g8_srgb": "95cb",
    "r8g8b8a8_unorm": "4d99e533",
    "r8g8b8a8_snorm": "264c7219",
    "r8g8b8a8_uint": "c800ff05",
    "r8g8b8a8_sint": "7ffd7f05",
    "r8g8b8a8_srgb": "95cbf333",
    "r16_unorm": "cd4c",
    "r16_snorm": "6626",
    "r16_uint": "c800",
    "r16_sint": "c800",
    "r16_sfloat": "cd34",
    "r16g16_unorm": "cd4c9999",
    "r16g16_snorm": "6626cc4c",
    "r16g16_uint": "c8000000",
    "r16g16_sint": "c800fdff",
    "r16g16_sfloat": "cd34cd38",
    "r16g16b16a16_unorm": "cd4c999965e63333",
    "r16g16b16a16_snorm": "6626cc4c32739919",
    "r16g16b16a16_uint": "c8000000ffff0500",
    "r16g16b16a16_sint": "c800fdffff7f0500",
    "r16g16b16a16_sfloat": "cd34cd38333b6632",
    "r32_uint": "c8000000",
    "r32_sint": "c8000000",
    "r32_sfloat": "9a99993e",
    "r32g32_uint": "c800000000000000",
    "r32g32_sint": "c8000000fdffffff",
    "r32g32_sfloat": "9a99993e9a99193f",
    "r32g32b32a32_uint": "c8000000000000007011010005000000",
    "r32g32b32a32_sint": "c8000000fdffffff7011010005000000",
    "r32g32b32a32_sfloat": "9a99993e9a99193f6666663fcdcc4c3e",
    "r10x6_unorm_pack16": "c04c",
    "r10x6g10x6_unorm_2pack16": "c04c8099",
    "r10x6g10x6b10x6a10x6_unorm_4pack16": "c04c809940e64033",
    "r12x4_unorm_pack16": "d04c",
    "r12x4g12x4_unorm_2pack16": "d04c9099",
    "r12x4g12x4b12x4a12x4_unorm_4pack16": "d04c909950e63033",
    "b8g8r8a8_unorm": "e5994d33",
    "b8g8r8a8_snorm": "724c2619",
    "b8g8r8a8_uint": "ff00c805",
    "b8g8r8a8_sint": "7ffd7f05",
    "b8g8r8a8_srgb": "f3cb9533",
    "a8b8g8r8_unorm_pack32": "4d99e533",
    "a8b8g8r8_snorm_pack32": "264c7219",
    "a8b8g8r8_uint_pack32": "c800ff05",
    "a8b8g8r8_sint_pack32": "7ffd7f05",
    "a8b8g8r8_srgb_pack32": "95cbf333",
    "a2b10g10r10_unorm_pack32": "33999979",
    "a2b10g10r10_uint_pack32": "c800f0ff",
    "a2r10g10b10_unorm_pack32": "999b3953",
    "a2r10g10b10_uint_pack32": "ff0380cc",
    "b10g11r11_ufloat_pack32": "4d6b9c76",
    "r5g6b5_unorm_pack16": "dc4c",
    "b5g6r5_unorm_pack16": "c9e4",
    "r5g5b5a1_unorm_pack16": "f84c",
    "b5g5r5a1_unorm_pack16": "d2e4",
    "a1r5g5b5_unorm_pack16": "7c26",
    "r4g4b4a4_unorm_pack16": "d359",
    "b4g4r4a4_unorm_pack16": "53d9",
}


def golden_color(format_: fm.Format) -> np.ndarray:
    if format_.numeric == "uint":
        return np.array([[200, 0, 70000, 5]] * COUNT, np.uint32)
    if format_.numeric == "sint":
        return np.array([[200, -3, 70000, 5]] * COUNT, np.int32)
    return np.array([[0.3, 0.6, 0.9, 0.2]] * COUNT, np.float32)


@pytest.mark.parametrize("name", fm.COLOR_FORMATS)
def test_golden_table(name: str) -> None:
    format_ = fm.parse(name)
    got = draw(name, golden_color(format_))
    assert got == got[: format_.texel_B] * COUNT
    assert got[: format_.texel_B].hex() == GOLDEN[name]


LOGIC_OPS = {
    "clear": lambda s, d: s * 0,
    "and": lambda s, d: s & d,
    "and_reverse": lambda s, d: s & ~d,
    "copy": lambda s, d: s,
    "and_inverted": lambda s, d: ~s & d,
    "no_op": lambda s, d: d,
    "xor": lambda s, d: s ^ d,
    "or": lambda s, d: s | d,
    "nor": lambda s, d: ~(s | d),
    "equivalent": lambda s, d: ~(s ^ d),
    "invert": lambda s, d: ~d,
    "or_reverse": lambda s, d: s | ~d,
    "copy_inverted": lambda s, d: ~s,
    "or_inverted": lambda s, d: ~s | d,
    "nand": lambda s, d: ~(s & d),
    "set": lambda s, d: ~(s * 0),
}
LOGIC_FORMATS = [
    "r8_uint", "r8g8b8a8_uint", "r16g16_sint", "r32_uint", "r32g32b32a32_sint", "r8g8b8a8_unorm", "b8g8r8a8_unorm", "r8g8_snorm",
    "r16g16b16a16_unorm", "a2b10g10r10_uint_pack32", "a2r10g10b10_unorm_pack32", "b5g6r5_unorm_pack16", "r5g5b5a1_unorm_pack16",
]  # fmt: skip


def random_texels(format_: fm.Format, seed: int) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, COUNT * format_.texel_B, np.uint8).tobytes()


@pytest.mark.parametrize("op", LOGIC_OPS)
def test_logic_ops(op: str) -> None:
    for name in LOGIC_FORMATS:
        format_ = fm.parse(name)
        colors, before = colors_for(format_, 3), random_texels(format_, 4)
        source, old = fm.encode(format_, colors), fm.from_bytes(format_, before)
        mask = "rb" if op in ("xor", "copy") else "rgba"
        got = fm.from_bytes(format_, draw(name, colors, before, logic_op=op, write_mask=mask))
        for k, c in enumerate(format_.components):
            want = LOGIC_OPS[op](source[:, k], old[:, k]) & ((1 << c.bits) - 1)
            if "rgba"[c.channel] not in mask:
                want = old[:, k]
            assert np.array_equal(got[:, k], want), f"{op} on {name}, component {'rgba'[c.channel]}"


@pytest.mark.parametrize("name", ["r8g8b8a8_srgb", "r16g16_sfloat", "r32_sfloat", "b10g11r11_ufloat_pack32"])
@pytest.mark.parametrize("op", ["xor", "clear", "no_op"])
def test_logic_ops_pass_over_float_and_srgb(name: str, op: str) -> None:
    """Colours go through unmodified there, without blending."""
    format_ = fm.parse(name)
    colors = np.abs(colors_for(format_, 5))
    got = draw(name, colors, random_texels(format_, 6), logic_op=op, blend="additive")
    assert_codes(format_, got, colors)


BLENDS = {
    "alpha": Blend(True, "src_alpha", "one_minus_src_alpha", "add", "one", "one_minus_src_alpha", "add"),
    "factors": Blend(True, "dst_color", "one_minus_src_color", "subtract", "dst_alpha", "constant_alpha", "reverse_subtract",
                     constants=(0.5, 0.25, 0.75, 0.625)),
    "extremes": Blend(True, "one", "one", "min", "one", "one", "max"),
    "masked": Blend(True, "src_alpha_saturate", "constant_color", "add", "one_minus_dst_alpha", "one", "subtract", "rga",
                    constants=(0.5, 0.25, 0.75, 0.625)),
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in fm.COLOR_FORMATS if fm.parse(n).blends])
@pytest.mark.parametrize("which", BLENDS)
def test_blending(name: str, which: str) -> None:
    """Within the rounding of float32 arithmetic (its error is below half a step of the formats) and that of the format."""
    format_, state = fm.parse(name), BLENDS[which]
    rng = np.random.default_rng(7)
    low = -1.0 if format_.numeric in ("snorm", "sfloat") else 0.0
    colors = rng.uniform(low, 1, (COUNT, 4)).astype(np.float32)
    colors[:, 3] = rng.uniform(0, 1, COUNT)
    old = fm.encode(format_, rng.uniform(low, 1, (COUNT, 4)).astype(np.float32))
    got = draw(
        name, colors, fm.to_bytes(format_, old), blend_constants=state.constants,
        blend={k: getattr(state, k) for k in ("src_color", "dst_color", "color_op", "src_alpha", "dst_alpha", "alpha_op")}
        | {"write_mask": state.write},
    )  # fmt: skip
    codes, destination = fm.from_bytes(format_, got), fm.decode(format_, old)
    want = np.empty((COUNT, 4))
    for i in range(COUNT):
        s, d = tuple(colors[i].astype(np.float64).tolist()), tuple(destination[i].tolist())
        k = state.constants
        fs, fd = _factor(state.src_color, s, d, k), _factor(state.dst_color, s, d, k)
        fsa, fda = _factor(state.src_alpha, s, d, k), _factor(state.dst_alpha, s, d, k)
        want[i, :3] = [_combine(state.color_op, s[c], fs[c], d[c], fd[c]) for c in range(3)]
        want[i, 3] = _combine(state.alpha_op, s[3], fsa[3], d[3], fda[3])
    for k, c in enumerate(format_.components):
        if "rgba"[c.channel] not in state.write:
            assert np.array_equal(codes[:, k], old[:, k])
            continue
        value = want[:, c.channel]
        if format_.numeric == "srgb" and c.channel < 3:
            assert np.abs(codes[:, k] - fm.srgb_exact(value)).max() <= 0.6 + 1e-3, which
            continue
        if format_.numeric in ("unorm", "srgb", "ufloat"):
            value = np.maximum(value, 0.0)
        if format_.numeric in ("unorm", "srgb", "snorm"):
            value = np.clip(value, -1, 1)
        stored = fm.decode_component(format_.numeric, c.bits, c.channel, codes[:, k])
        error = np.abs(stored - value)
        assert (error <= 0.5 * fm.step_of(format_, c, value) + 4e-7).all(), (which, "rgba"[c.channel], error.max())
