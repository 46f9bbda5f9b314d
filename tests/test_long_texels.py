"""Storage images and texel buffers of 64-bit integers: stores, loads, every atomic operation, of all dimensions, at their edges and null;
what is of another width. Oracle: NumPy, by the order of invocations where it is fixed, and what is the same in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

HEAD = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_image_int64 : require
"""
N = 96
KINDS = {"u": ("uint64_t", np.uint64, "r64ui", "r64_uint"), "i": ("int64_t", np.int64, "r64i", "r64_sint")}


@pytest.fixture(params=[(4, "quick"), (8, "optimised"), (16, "optimised")], ids=lambda p: f"{p[0]}-{p[1]}")
def dev(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tg.Device:
    monkeypatch.setenv("TILEGPU_CODE", request.param[1])
    return tg.Device(lanes=request.param[0], threads=2, cache_dir="off")


def numbers(dtype: Any, count: int) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 1 << 64, count, np.uint64).view(dtype)


def run(dev: tg.Device, text: str, bind: dict[str, Any], groups: int = N // 32) -> None:
    dev.dispatch(dev.compute_pipeline(HEAD + "layout(local_size_x = 32) in;\n" + text), bind=bind, groups=groups)


@pytest.mark.parametrize("letter", KINDS)
def test_atomic_operations(dev: tg.Device, letter: str) -> None:
    """All of them, on both halves of the word; what they give back of a sum is a sum before."""
    name, dtype, layout, format_ = KINDS[letter]
    v = numbers(dtype, N)
    start = numbers(dtype, 16)[8:]
    text = f"""layout(binding = 0) readonly buffer V {{ {name} v[]; }};
layout(binding = 1, {layout}) uniform {letter}64image2D target;
layout(binding = 2) writeonly buffer R {{ {name} found[]; }};
void main() {{
  uint i = gl_GlobalInvocationID.x;
  found[i] = imageAtomicAdd(target, ivec2(0, 0), v[i]);
  imageAtomicMin(target, ivec2(1, 0), v[i]);
  imageAtomicMax(target, ivec2(2, 0), v[i]);
  imageAtomicAnd(target, ivec2(3, 0), v[i] | {name}(1) << (i % 64));
  imageAtomicOr(target, ivec2(0, 1), v[i] & {name}(0x100000001L) << (i % 8));
  imageAtomicXor(target, ivec2(1, 1), v[i]);
  imageAtomicCompSwap(target, ivec2(2, 1), v[0], v[i]);
  {name} handed = imageAtomicExchange(target, ivec2(3, 1), v[i]);
  if (i == 77) found[{N}] = handed;
  imageAtomicAdd(target, ivec2(4, 0), v[i]);
  imageAtomicAdd(target, ivec2(-1, 1), v[i]);
}}"""
    image = dev.image((4, 2), format_, usage="storage|transfer_src|transfer_dst")
    start[6] = v[0]
    image.write(start.reshape(2, 4, 1))
    out = dev.buffer((N + 1) * 8, usage="storage")
    run(dev, text, {"V": dev.buffer(v), "target": image, "R": out})
    got = image.numpy().reshape(-1)
    assert got.dtype == dtype
    with np.errstate(over="ignore"):
        total = start[0] + v.sum(dtype=dtype)
        masks = [v[i] | (np.uint64(1) << np.uint64(i % 64)).view(dtype) for i in range(N)]
        bits = [v[i] & (np.uint64(0x100000001) << np.uint64(i % 8)).view(dtype) for i in range(N)]
    assert got[0] == total
    assert got[1] == min(start[1], v.min()) and got[2] == max(start[2], v.max())
    assert got[3] == np.bitwise_and.reduce(np.array([start[3], *masks], dtype))
    assert got[4] == np.bitwise_or.reduce(np.array([start[4], *bits], dtype))
    assert got[5] == np.bitwise_xor.reduce(np.array([start[5], *v], dtype))
    assert got[6] in v and got[7] in v
    found = np.frombuffer(out.numpy().tobytes(), dtype)
    assert len(set(found[:N].tolist())) == N and start[0] in found[:N]  # each saw another sum
    with np.errstate(over="ignore"):
        assert total in found[:N] + v
    assert found[N] in v or found[N] == start[7]


@pytest.mark.parametrize("letter", KINDS)
@pytest.mark.parametrize("declared", [True, False])
def test_stores_and_loads(dev: tg.Device, letter: str, declared: bool) -> None:
    """Of images of every kind and of texel buffers, with a format and without; outside zeros are read (and 1), and nothing is written."""
    name, dtype, layout, format_ = KINDS[letter]
    v = numbers(dtype, N)
    form = f", {layout}" if declared else ""
    extra = "" if declared else "#extension GL_EXT_shader_image_load_formatted : require\n"
    text = f"""{extra}layout(binding = 0) readonly buffer V {{ {name} v[]; }};
layout(binding = 1{form}) uniform {letter}64image2D flat_;
layout(binding = 2{form}) uniform {letter}64image3D deep;
layout(binding = 3{form}) uniform {letter}64image2DArray layers;
layout(binding = 4{form}) uniform {letter}64imageBuffer words;
layout(binding = 5) writeonly buffer R {{ {letter}64vec4 found[]; }};
void main() {{
  int i = int(gl_GlobalInvocationID.x);
  imageStore(flat_, ivec2(i % 16, i / 16), {letter}64vec4(v[i], 2, 3, 4));
  imageStore(deep, ivec3(i % 4, i / 4 % 4, i / 16), {letter}64vec4(v[i] + {name}(1)));
  imageStore(layers, ivec3(i % 4, i / 4 % 4, i / 16), {letter}64vec4(v[i] ^ {name}(3)));
  imageStore(words, i, {letter}64vec4(~v[i]));
  imageStore(flat_, ivec2(16, i / 16), {letter}64vec4(7));
  found[i * 5] = imageLoad(flat_, ivec2(i % 16, i / 16));
  found[i * 5 + 1] = imageLoad(deep, ivec3(i % 4, i / 4 % 4, i / 16));
  found[i * 5 + 2] = imageLoad(layers, ivec3(i % 4, i / 4 % 4, i / 16));
  found[i * 5 + 3] = imageLoad(words, i);
  found[i * 5 + 4] = imageLoad(flat_, ivec2(-1 - i, 0));
}}"""
    flat_ = dev.image((16, 6), format_, usage="storage|transfer_src")
    deep = dev.image((4, 4, 6), format_, usage="storage|transfer_src")
    layers = dev.image((4, 4), format_, layers=6, usage="storage|transfer_src")
    words = dev.buffer(N * 8, usage="storage_texel_buffer")
    out = dev.buffer(N * 5 * 32, usage="storage")
    bind = {"V": dev.buffer(v), "flat_": flat_, "deep": deep, "layers": layers, "words": words.texels(format_), "R": out}
    run(dev, text, bind)
    with np.errstate(over="ignore"):
        want = [v, v + dtype(1), v ^ dtype(3), ~v]
    np.testing.assert_array_equal(flat_.numpy().reshape(-1), want[0])
    np.testing.assert_array_equal(np.frombuffer(words.numpy().tobytes(), dtype), want[3])
    found = np.frombuffer(out.numpy().tobytes(), dtype).reshape(N, 5, 4)
    for k in range(4):
        np.testing.assert_array_equal(found[:, k], np.stack([want[k], 0 * v, 0 * v, 0 * v + 1], axis=1))
    assert not found[:, 4, :3].any()


def test_texel_buffers_and_their_ends(dev: tg.Device) -> None:
    """Atomic operations beyond the last texel change nothing and give 0."""
    text = """layout(binding = 0, r64ui) uniform u64imageBuffer words;
layout(binding = 1) writeonly buffer R { uint64_t found[]; };
void main() { uint i = gl_GlobalInvocationID.x; found[i] = imageAtomicAdd(words, int(i), 1UL << 40); }"""
    memory = dev.buffer(np.arange(13, dtype=np.uint64), usage="storage_texel_buffer")
    out = dev.buffer(np.full(32, 9, np.uint64), usage="storage")
    run(dev, text, {"words": memory.texels("r64_uint"), "R": out}, groups=1)
    got = np.frombuffer(memory.numpy().tobytes(), np.uint64)
    np.testing.assert_array_equal(got, np.arange(13) + (1 << 40))
    np.testing.assert_array_equal(np.frombuffer(out.numpy().tobytes(), np.uint64), np.arange(32) * (np.arange(32) < 13))


def test_clears_and_copies() -> None:
    """Of all bits, with their sign; a copy keeps all bits, also to an image of another format of 64 bits."""
    dev = tg.Device()
    for format_, value in (("r64_uint", (1 << 41) + 5), ("r64_sint", -2), ("r64_sint", -(1 << 40))):
        image = dev.image((3, 2), format_, usage="storage|transfer_src|transfer_dst")
        image.write(np.full((2, 3, 1), 1 << 40, np.int64 if format_ == "r64_sint" else np.uint64))
        assert (image.numpy() == 1 << 40).all()
        dev.clear(image, (value, 0, 0, 0))
        assert (image.numpy() == value).all()
        other = dev.image((3, 2), "r32g32_uint", usage="transfer_src|transfer_dst")
        dev.copy(image, other)
        assert (other.numpy() == [value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF]).all()


def test_what_is_of_another_width(dev: tg.Device) -> None:
    atomic = """layout(binding = 0) uniform u64image2D target;
void main() { imageAtomicAdd(target, ivec2(0), 1UL); }""".replace("binding = 0", "binding = 0, r64ui")
    with pytest.raises(tg.Error, match=r"r32_uint.*one of 64 bits"):
        run(dev, atomic, {"target": dev.image((2, 2), "r32_uint", usage="storage")})
    narrow = """layout(binding = 0, r32ui) uniform uimage2D target;
void main() { imageAtomicAdd(target, ivec2(0), 1u); }"""
    with pytest.raises(tg.Error, match=r"r64_uint.*one of 32 bits"):
        run(dev, narrow, {"target": dev.image((2, 2), "r64_uint", usage="storage")})
    for usage in ("sampled", "color_attachment"):
        with pytest.raises(tg.Error, match="r64_uint"):
            dev.image((2, 2), "r64_uint", usage=usage)
    with pytest.raises(tg.Error, match="r64_sfloat"):
        dev.image((2, 2), "r64_sfloat", usage="storage")
