"""Atomic operations on floats: sums in the order of invocations, minima and maxima in any, exchanges; buffers, shared memory, images."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

CASES = [(4, 1), (8, 2), (16, 1), (16, 2)]
HEAD = """#version 450
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
"""
N = 320

Array = np.ndarray[Any, Any]


@functools.cache
def device(lanes: int, threads: int) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, cache_dir="off")


def kinds() -> Any:
    return pytest.mark.parametrize("name, dtype", [("float", np.float32), ("double", np.float64)])


def run(text: str, buffers: dict[str, Array], want: dict[str, Array], ordered: bool | None = None, bind: Any = None) -> None:
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        pipe = dev.compute_pipeline(HEAD + text)
        if ordered is not None:
            assert pipe.orders_workgroups == ordered
        bound = {name: dev.buffer(array) for name, array in buffers.items()}
        images = bind(dev) if bind else {}
        dev.dispatch(pipe, bind=bound | images, groups=N // 32)
        for name, array in want.items():
            got = images[name].numpy()[..., 0] if name in images else bound[name].numpy(array.dtype, array.shape)
            np.testing.assert_array_equal(got.view(np.uint8), array.view(np.uint8), f"lanes {lanes}, threads {threads}, {name}")


def numbers(dtype: Any, seed: int) -> Array:
    """Of many sizes: a sum of them depends on its order."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(N) * 10.0 ** rng.integers(-6, 7, N)).astype(dtype)


@kinds()
def test_sums_are_of_one_order(name: str, dtype: Any) -> None:
    """Invocation after invocation, workgroup after workgroup, as if each was rounded by hand; what each of them found as well."""
    v = numbers(dtype, 1)
    text = f"""layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer V {{ {name} v[]; }};
layout(binding = 1) buffer R {{ {name} sum; {name} local_sums[10]; {name} found[]; }};
shared {name} own;
void main() {{
  uint i = gl_GlobalInvocationID.x, g = gl_WorkGroupID.x;
  if (gl_LocalInvocationIndex == 0) own = {name}(0);
  barrier();
  found[i] = atomicAdd(sum, v[i]);
  atomicAdd(own, v[i]);
  barrier();
  if (gl_LocalInvocationIndex == 0) local_sums[g] = own;
}}"""
    want, start = np.zeros(11 + N, dtype), np.zeros(11 + N, dtype)
    for i in range(N):
        want[11 + i] = want[0]
        want[0] = want[0] + v[i]
        want[1 + i // 32] = want[1 + i // 32] + v[i]
    assert want[0] != v[::-1].cumsum(dtype=dtype)[-1], "another order gives another sum"
    run(text, {"V": v, "R": start}, {"R": want}, ordered=True)
    # A NaN is one of one kind, whatever the processor makes of it.
    v[7], v[9] = np.inf, -np.inf
    only = np.zeros(11 + N, dtype)
    text = text.replace("found[i] = ", "")
    nan = np.array(0x7FC00000, np.uint32).view(np.float32) if dtype == np.float32 else np.array(0x7FF8 << 48, np.uint64).view(dtype)
    with np.errstate(invalid="ignore"):
        for i in range(N):
            only[1 + i // 32] = only[1 + i // 32] + v[i]
    only[0] = only[1] = nan
    run(text, {"V": v, "R": start}, {"R": only}, ordered=True)


@kinds()
def test_minima_and_maxima_are_the_same_in_any_order(name: str, dtype: Any) -> None:
    """NaN is left out, and -0 is less than 0; where there is nothing but NaN it stays."""
    v = numbers(dtype, 2)
    v[::5] = np.nan
    v[3], v[7] = np.inf, -np.inf
    zeros = np.where(np.arange(N) % 3 == 0, -0.0, np.where(np.arange(N) % 3 == 1, 0.0, np.nan)).astype(dtype)
    text = f"""layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer V {{ {name} v[]; }};
layout(binding = 1) readonly buffer Z {{ {name} zeros[]; }};
layout(binding = 2) buffer R {{ {name} r[8]; }};
shared {name} least;
void main() {{
  uint i = gl_GlobalInvocationID.x;
  if (gl_LocalInvocationIndex == 0) least = {name}(1) / {name}(zeros[1]);
  barrier();
  atomicMin(r[0], v[i]); atomicMax(r[1], v[i]);
  atomicMin(r[2], zeros[i]); atomicMax(r[3], zeros[i]);
  atomicMin(r[4], v[i]); atomicMax(r[5], v[i - i % 5]);
  atomicMin(least, v[i]);
  barrier();
  if (gl_LocalInvocationIndex == 0) atomicMin(r[6], least);
}}"""
    start = np.array([5, -5, 0, -0.0, np.nan, np.nan, 9, 4], dtype)
    want = np.array([-np.inf, np.inf, -0.0, 0.0, -np.inf, np.nan, -np.inf, 4], dtype)
    run(text, {"V": v, "Z": zeros, "R": start}, {"R": want}, ordered=False)


@kinds()
def test_exchanges_loads_and_stores(name: str, dtype: Any) -> None:
    v = numbers(dtype, 3)
    text = f"""#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer V {{ {name} v[]; }};
layout(binding = 1) buffer R {{ {name} last; {name} kept; {name} handed[]; }};
void main() {{
  uint i = gl_GlobalInvocationID.x;
  handed[i] = atomicExchange(last, v[i]);
  atomicStore(kept, v[i], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
  handed[i] += atomicLoad(kept, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed) * {name}(0);
}}"""
    start = np.zeros(2 + N, dtype)
    start[0] = 77
    want = np.concatenate([[v[-1], v[-1], 77], v[:-1]]).astype(dtype)
    run(text, {"V": v, "R": start}, {"R": want}, ordered=True)


def test_texels() -> None:
    """Of images and of texel buffers of one float."""
    v = numbers(np.float32, 4)
    text = """layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer V { float v[]; };
layout(binding = 1, r32f) uniform image2D target;
layout(binding = 2, r32f) uniform imageBuffer words;
void main() {
  uint i = gl_GlobalInvocationID.x; ivec2 at = ivec2(i & 3, 0);
  imageAtomicAdd(target, at, v[i]);
  imageAtomicMin(target, at + ivec2(0, 1), v[i]);
  imageAtomicMax(target, at + ivec2(0, 2), v[i]);
  imageAtomicExchange(target, at + ivec2(0, 3), v[i]);
  imageAtomicAdd(target, ivec2(4, i), v[i]);
  imageAtomicAdd(words, int(i) % 5, v[i]);
}"""
    want, words = np.zeros((4, 4), np.float32), np.zeros(5, np.float32)
    for i in range(N):
        k = i & 3
        want[0, k] += v[i]
        want[1, k], want[2, k], want[3, k] = min(want[1, k], v[i]), max(want[2, k], v[i]), v[i]
        words[i % 5] += v[i]

    def images(dev: tg.Device) -> dict[str, Any]:
        target = dev.image((4, 4), "r32_sfloat")
        dev.copy(np.zeros((4, 4, 1), np.float32), target)
        return {"target": target}

    for lanes, threads in CASES:
        dev = device(lanes, threads)
        bound, buffer = images(dev), dev.buffer(np.zeros(5, np.float32))
        bound |= {"V": dev.buffer(v), "words": buffer}
        dev.dispatch(dev.compute_pipeline(HEAD + text), bind=bound, groups=N // 32)
        np.testing.assert_array_equal(bound["target"].numpy()[..., 0], want, f"lanes {lanes}, threads {threads}")
        np.testing.assert_array_equal(buffer.numpy(np.float32), words)


def test_fragments() -> None:
    """What has no order is the same however fragments are shaded: minima, maxima, sums that are exact."""
    vertex = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"""
    fragment = HEAD + """layout(location = 0) out vec4 o;
layout(binding = 0) buffer R { float sum, least, most; };
void main() {
  float x = sin(gl_FragCoord.x * 12.9 + gl_FragCoord.y * 78.2);
  atomicAdd(sum, 0.5); atomicMin(least, x); atomicMax(most, x);
  o = vec4(x);
}"""
    results = []
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        target = dev.image((96, 64), "r32g32b32a32_sfloat")
        buffer = dev.buffer(np.array([0, 9, -9], np.float32))
        pipe = dev.pipeline(vertex, fragment, color=[target.format])
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, bind={"R": buffer})
        x, got = target.numpy()[..., 0], buffer.numpy(np.float32)
        np.testing.assert_array_equal(got, [96 * 64 / 2, x.min(), x.max()])
        results.append(got.tobytes())
    assert len(set(results)) == 1


def test_halves_are_refused_by_name() -> None:
    text = """#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 1) in; shared float16_t x; layout(binding = 0) buffer R { float r; };
void main() { x = float16_t(0); atomicAdd(x, float16_t(1)); r = float(x); }"""
    with pytest.raises(tg.Error, match="AtomicFloat16Add"):
        device(8, 2).compute_pipeline(HEAD + text)
