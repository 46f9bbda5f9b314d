"""Compute: well-known algorithms and random kernels against NumPy; the same words for any lanes and threads; messages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

CASES = [(4, 1), (8, 2), (16, 1), (16, 2)]


@functools.cache
def device(lanes: int, threads: int) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, cache_dir="off")


def everywhere(
    text: str,
    want: dict[str, Any],
    make: Callable[[], dict[str, Any]],
    *,
    constants: dict[str, Any] | None = None,
    push: Any = None,
    **dispatch: Any,
) -> None:
    """Runs the kernel at all lanes and threads on fresh buffers of ``make``; ``want``: what they hold afterwards."""
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        pipe = dev.compute_pipeline("#version 450\n" + text, constants=constants)
        buffers = {name: dev.buffer(array) for name, array in make().items()}
        dev.dispatch(pipe, bind=buffers, push=push, **dispatch)
        for name, array in want.items():
            array = np.asarray(array)
            got = buffers[name].numpy(array.dtype, array.shape)
            if not np.array_equal(got, array):
                at = tuple(int(i) for i in np.argwhere(got != array)[0])
                raise AssertionError(
                    f"lanes {lanes}, threads {threads}: {name}{list(at)} is {got[at]}, not {array[at]}"
                )


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("size", [1, 5, 8, 32, 48, 1024])
def test_places_of_invocations(size: int) -> None:
    groups = (3, 2, 4)
    text = """
layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;
struct Place { uvec4 group; uvec4 local; uvec4 global; };
layout(binding = 0) buffer Out { Place places[]; };
void main() {
  uint group = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
  uint i = group * gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z + gl_LocalInvocationIndex;
  places[i].group = uvec4(gl_WorkGroupID, gl_LocalInvocationIndex);
  places[i].local = uvec4(gl_LocalInvocationID, gl_NumWorkGroups.z);
  places[i].global = uvec4(gl_GlobalInvocationID, 7);
}"""
    for shape in {(size, 1, 1), (8, 4, 2), (4, 6, 1), (3, 5, 2), (16, 2, 2)} if size == 8 else {(size, 1, 1)}:
        n = int(np.prod(shape))
        z, y, x, k, j, i = np.meshgrid(*[np.arange(c) for c in (*groups[::-1], *shape[::-1])], indexing="ij")
        z, y, x, k, j, i = (a.ravel() for a in (z, y, x, k, j, i))
        want = np.stack(
            [
                *(x, y, z, i + shape[0] * (j + shape[1] * k), i, j, k, 0 * x + groups[2]),
                *(x * shape[0] + i, y * shape[1] + j, z * shape[2] + k, 0 * x + 7),
            ],
            axis=-1,
        ).astype(np.uint32)
        # The constant is the size in x; y and z are written into the text.
        sized = text.replace(
            "local_size_y = 1, local_size_z = 1", f"local_size_y = {shape[1]}, local_size_z = {shape[2]}"
        )
        everywhere(
            sized,
            {"Out": want},
            lambda n=n: {"Out": n * 24 * 48},  # type: ignore[misc]
            constants={0: shape[0]} if shape[0] != 1 else None,
            groups=groups,
        )


def test_reduction_in_shared_memory() -> None:
    values = rng(1).integers(0, 2**32, 4096, np.uint32)
    everywhere(
        """
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer In { uint values[]; };
layout(binding = 1) buffer Out { uint sums[]; };
shared uint part[128];
void main() {
  uint i = gl_LocalInvocationID.x;
  part[i] = values[gl_GlobalInvocationID.x];
  barrier();
  for (uint step = 64; step > 0; step >>= 1) {
    if (i < step) part[i] += part[i + step];
    barrier();
  }
  if (i == 0) sums[gl_WorkGroupID.x] = part[0];
}""",
        {"Out": values.reshape(32, 128).sum(1, dtype=np.uint32)},
        lambda: {"In": values, "Out": 32 * 4},
        groups=32,
    )


def test_scan_and_barriers_in_called_functions() -> None:
    values = rng(2).integers(0, 1000, 1024, np.uint32)
    everywhere(
        """
layout(local_size_x = 256) in;
layout(binding = 0) buffer In { uint values[]; };
shared uint line[2][256];
uint side = 0;
void step_of(uint i, uint reach) {
  barrier();
  line[1 - side][i] = line[side][i] + (i >= reach ? line[side][i - reach] : 0u);
  side = 1 - side;
  barrier();
}
void main() {
  uint i = gl_LocalInvocationIndex;
  line[0][i] = values[gl_GlobalInvocationID.x];
  for (uint reach = 1; reach < 256; reach *= 2) step_of(i, reach);
  values[gl_GlobalInvocationID.x] = line[side][i];
}""",
        {"In": values.reshape(4, 256).cumsum(1).astype(np.uint32).ravel()},
        lambda: {"In": values},
        groups=4,
    )


def test_bitonic_sort() -> None:
    values = rng(3).standard_normal(1024).astype(np.float32)
    everywhere(
        """
layout(local_size_x = 512) in;
layout(binding = 0) buffer In { float values[]; };
shared float line[1024];
void main() {
  uint i = gl_LocalInvocationIndex;
  line[i] = values[i];
  line[i + 512] = values[i + 512];
  for (uint k = 2; k <= 1024; k *= 2)
    for (uint j = k / 2; j > 0; j /= 2) {
      barrier();
      uint low = 2 * j * (i / j) + i % j, high = low + j;
      bool up = (low & k) == 0;
      float a = line[low], b = line[high];
      if ((a > b) == up) { line[low] = b; line[high] = a; }
    }
  barrier();
  values[i] = line[i];
  values[i + 512] = line[i + 512];
}""",
        {"In": np.sort(values)},
        lambda: {"In": values},
        groups=1,
    )


def test_histogram_by_atomics() -> None:
    values = rng(4).integers(0, 256, 20000, np.uint32)
    bins = np.bincount(values, minlength=256).astype(np.uint32)
    everywhere(
        """
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint values[]; };
layout(binding = 1) buffer Out { uint bins[256]; uint most; uint least; int total; };
shared uint own[256];
void main() {
  for (uint k = gl_LocalInvocationIndex; k < 256; k += 64) own[k] = 0;
  barrier();
  for (uint k = gl_GlobalInvocationID.x; k < values.length(); k += 64 * gl_NumWorkGroups.x) {
    atomicAdd(own[values[k]], 1);
    atomicMax(most, values[k]);
    atomicMin(least, values[k] - 1000u);
    atomicAdd(total, -1);
  }
  barrier();
  for (uint k = gl_LocalInvocationIndex; k < 256; k += 64) atomicAdd(bins[k], own[k]);
}""",
        {"Out": np.concatenate([bins, np.array([values.max(), 0, -20000 & 0xFFFFFFFF], np.uint32)])},
        lambda: {"In": values, "Out": 259 * 4},
        groups=7,
    )


def test_matrix_product_in_tiles() -> None:
    a, b = rng(5).integers(-9, 10, (2, 96, 64)).astype(np.float32)
    b = np.ascontiguousarray(b.reshape(64, 96))
    everywhere(
        """
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) buffer C { float c[]; };
layout(push_constant) uniform Push { uint inner; uint columns; };
shared float tile_a[16][16], tile_b[16][16];
void main() {
  uvec2 at = gl_GlobalInvocationID.xy, l = gl_LocalInvocationID.xy;
  float sum = 0;
  for (uint k = 0; k < inner; k += 16) {
    tile_a[l.y][l.x] = a[at.y * inner + k + l.x];
    tile_b[l.y][l.x] = b[(k + l.y) * columns + at.x];
    barrier();
    for (uint i = 0; i < 16; i++) sum += tile_a[l.y][i] * tile_b[i][l.x];
    barrier();
  }
  c[at.y * columns + at.x] = sum;
}""",
        {"C": a @ b},
        lambda: {"A": a, "B": b, "C": 96 * 96 * 4},
        push={"inner": 64, "columns": 96},
        groups=(6, 6),
    )


@pytest.mark.parametrize("kind", ["float", "vec2", "vec3", "vec4", "mat3"])
def test_elements_side_by_side(kind: str) -> None:
    """Elements of one to nine words, of which the last vector of lanes has only some inside of the buffer."""
    words = {"float": 1, "vec2": 2, "vec3": 4, "vec4": 4, "mat3": 12}[kind]
    used = {"vec3": [0, 1, 2], "mat3": [0, 1, 2, 4, 5, 6, 8, 9, 10]}.get(kind, list(range(words)))
    count = 200
    source = rng(6).standard_normal((count, words)).astype(np.float32)
    want = np.zeros((count, words), np.float32)
    want[:, used] = source[:, used] * 2
    odd = np.arange(count) % 3 == 1
    want[odd] = 0
    scattered = np.zeros((count, words), np.float32)
    scattered[(np.arange(count) * 7) % count, :] = want
    text = """
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { KIND from[]; };
layout(binding = 1) buffer Out { KIND to[]; };
layout(binding = 2) buffer Far { KIND there[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i % 3 == 1) return;
  to[i] = 2.0 * from[i];
  if (i < COUNT) there[i * 7 % COUNT] = 2.0 * from[i];
}"""
    everywhere(
        text.replace("KIND", kind).replace("COUNT", "200u"),
        {"Out": want, "Far": scattered},
        lambda: {"In": source, "Out": want.nbytes, "Far": want.nbytes},
        invocations=count + 50,
    )


def test_atomics_with_an_order_give_the_same_for_any_threads_and_lanes() -> None:
    """What an atomic returns goes by the order of workgroups, and in them of eight invocations at a time."""
    text = """#version 450
layout(local_size_x = 96) in;
layout(binding = 0) buffer Out { uint next; uint last; uint places[]; };
shared uint own;
void main() {
  uint i = gl_GlobalInvocationID.x;
  for (uint k = 0; k < i % 5; k++) {
    uint at = atomicAdd(next, 1), mine = atomicAdd(own, 1);
    places[at] = i * 16 + k + (mine << 16);
    if ((i & 3) == k) atomicExchange(last, at ^ mine);
  }
}"""
    results = []
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        pipe = dev.compute_pipeline(text)
        assert pipe.orders_workgroups
        out = dev.buffer(4096 * 4)
        assert dev.dispatch(pipe, 20, bind={"Out": out}).threads == 1
        results.append(out.numpy(np.uint32))
    count = sum(i % 5 for i in range(96 * 20))
    assert results[0][0] == count and len(set(results[0][2 : 2 + count])) == count
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_atomics_with_an_order_beside_images() -> None:
    """Code that uses images has the device's lanes; the order of what atomics return is the same nevertheless, barriers or not."""
    body = """
  uint i = gl_GlobalInvocationID.x;
  for (uint k = 0; k < 2 + i % 3; k++) {
    uint at = atomicAdd(next, 1u + uint(texelFetch(picture, ivec2(i % 8u, k), 0).r > 0.5)), mine = atomicAdd(own, 1);
    places[at] = i * 16 + k + (mine << 16);
    if ((i & 3) == k) atomicExchange(last, at ^ mine);
    WAIT
  }
"""
    head = """#version 450
layout(local_size_x = 43) in;
layout(binding = 0) buffer Out { uint next; uint last; uint places[]; };
layout(binding = 1) uniform sampler2D picture;
shared uint own;
void main() {"""
    for wait in ("", "barrier();"):
        results = []
        for lanes, threads in CASES:
            dev = device(lanes, threads)
            pipe = dev.compute_pipeline(head + body.replace("WAIT", wait).replace("2 + i % 3", "3" if wait else "2 + i % 3") + "}")
            picture = dev.texture(rng(7).integers(0, 256, (8, 8, 4), np.uint8), format="r8g8b8a8_unorm", mipmaps=False)
            out = dev.buffer(4096 * 4)
            dev.dispatch(pipe, 9, bind={"Out": out, "picture": picture})
            results.append(out.numpy(np.uint32))
        assert results[0][0] > 43 * 9 * 2
        for (lanes, threads), other in zip(CASES[1:], results[1:], strict=True):
            np.testing.assert_array_equal(results[0], other, f"lanes {lanes}, threads {threads}, {wait or 'no barrier'}")


def test_subgroups_of_four() -> None:
    """All operations, where the third of each five invocations has left; of the same subgroups at any number of lanes."""
    n = 160
    values = rng(9).integers(0, 2**32, n, np.uint32)
    runs = np.arange(n) % 5 != 3
    x, on = values.reshape(-1, 4).astype(np.uint64), runs.reshape(-1, 4)
    lane = np.arange(4)
    wrap = np.uint64(0xFFFFFFFF)
    zeroed = np.where(on, x, 0)
    first = x[np.arange(len(x)), on.argmax(1)][:, None]
    odd = on & (x % 2 == 1)
    half = zeroed.reshape(-1, 2, 2).sum(2).repeat(2, 1)
    columns = {
        "subgroupElect() ? 1u : 0u": lane == on.argmax(1)[:, None],
        "subgroupAll((v & 1u) == 1u) ? 1u : 0u": (odd == on).all(1)[:, None],
        "subgroupAny((v & 1u) == 1u) ? 1u : 0u": odd.any(1)[:, None],
        "subgroupAllEqual(v / 3000000000u) ? 1u : 0u": (~on | (x // 3000000000 == first // 3000000000)).all(1)[:, None],
        "subgroupBroadcastFirst(v)": first,
        "subgroupBallot((v & 1u) == 1u).x": (odd << lane).sum(1)[:, None],
        "subgroupBallotBitCount(subgroupBallot(true))": on.sum(1)[:, None],
        "subgroupBallotExclusiveBitCount(subgroupBallot(true))": on.cumsum(1) - on,
        "subgroupBallotInclusiveBitCount(subgroupBallot(true))": on.cumsum(1),
        "subgroupBallotFindLSB(subgroupBallot(true))": on.argmax(1)[:, None],
        "subgroupBallotFindMSB(subgroupBallot(true))": 3 - on[:, ::-1].argmax(1)[:, None],
        "subgroupInverseBallot(uvec4(6)) ? 1u : 0u": (6 >> lane) & 1,
        "subgroupAdd(v)": zeroed.sum(1)[:, None] & wrap,
        "subgroupInclusiveAdd(v)": zeroed.cumsum(1) & wrap,
        "subgroupExclusiveAdd(v)": (zeroed.cumsum(1) - zeroed) & wrap,
        "subgroupMax(v)": zeroed.max(1)[:, None],
        "subgroupMin(v)": np.where(on, x, wrap).min(1)[:, None],
        "subgroupXor(v)": np.bitwise_xor.reduce(zeroed, 1)[:, None],
        "subgroupOr(v)": np.bitwise_or.reduce(zeroed, 1)[:, None],
        "subgroupAnd(v)": np.bitwise_and.reduce(np.where(on, x, wrap), 1)[:, None],
        "subgroupMul(v | 1u)": np.multiply.reduce(np.where(on, x | 1, 1).astype(np.uint32), 1, np.uint32)[:, None],
        "subgroupClusteredAdd(v, 2)": half & wrap,
        "gl_SubgroupLtMask.x + 16u * gl_SubgroupGeMask.x": ((1 << lane) - 1) + 16 * (15 & ~((1 << lane) - 1)),
        "gl_SubgroupSize + 8u * gl_SubgroupInvocationID + 64u * gl_NumSubgroups": 4 + 8 * lane + 64 * 10,
        # What lanes take from one that has left is undefined: these are asked of all, before it leaves.
        "shuffled": x[:, ::-1],
        "quad": x[:, [2, 3, 0, 1]],
        "up": np.where(lane >= 1, x[:, [0, 0, 1, 2]], 7),
        "broadcast": x[:, [2]],
    }
    want = np.zeros((n, len(columns)), np.uint32)
    for k, column in enumerate(columns.values()):
        want[:, k] = np.where(runs, np.broadcast_to(column, x.shape).ravel() & 0xFFFFFFFF, 0)
    stores = "".join(f"  out_[i * {len(columns)}u + {k}u] = {text};\n" for k, text in enumerate(columns))
    kinds = ("basic", "vote", "ballot", "arithmetic", "shuffle", "shuffle_relative", "clustered", "quad")
    everywhere(
        "".join(f"#extension GL_KHR_shader_subgroup_{kind} : require\n" for kind in kinds)
        + f"""layout(local_size_x = 40) in;
layout(binding = 0) readonly buffer In {{ uint values[]; }};
layout(binding = 1) buffer Out {{ uint out_[]; }};
void main() {{
  uint i = gl_GlobalInvocationID.x, v = values[i];
  uint shuffled = subgroupShuffle(v, 3u - gl_SubgroupInvocationID), quad = subgroupQuadSwapVertical(v);
  uint up = subgroupShuffleUp(v, 1u), broadcast = subgroupQuadBroadcast(v, 2u);
  if (gl_SubgroupInvocationID == 0u) up = 7u;
  if (i % 5u == 3u) return;
{stores}}}""",
        {"Out": want},
        lambda: {"In": values, "Out": want.nbytes},
        groups=4,
    )


def test_random_kernels() -> None:
    """Statements on shared memory between barriers, by random shapes of workgroups, against the same in NumPy."""
    random = rng(7)
    for _ in range(12):
        shape = [(64, 1), (40, 1), (8, 8), (16, 4), (6, 10), (128, 2)][int(random.integers(6))]
        n = shape[0] * shape[1]
        seed = random.integers(0, 2**32, n, np.uint32)
        here = seed.copy()
        lines = []
        for _ in range(int(random.integers(2, 7))):
            kind, amount, factor = int(random.integers(4)), int(random.integers(1, n)), int(random.integers(1, 99)) | 1
            i = np.arange(n, dtype=np.uint32)
            if kind == 0:
                lines.append(f"v = line[(i + {amount}u) % N] * {factor}u + i;")
                new = here[(i + amount) % n] * np.uint32(factor) + i
            elif kind == 1:
                lines.append(f"v = line[i]; if ((v & 4u) != 0u) v ^= line[(i * {factor}u) % N];")
                new = np.where(here & 4, here ^ here[(i * factor) % n], here)
            elif kind == 2:
                lines.append(f"v = line[i]; for (uint k = 0u; k < i % {amount}u; k++) v = v * {factor}u + line[k];")
                new = here.copy()
                for lane in range(n):
                    v = int(here[lane])
                    for k in range(lane % amount):
                        v = (v * factor + int(here[k])) & 0xFFFFFFFF
                    new[lane] = v
            else:
                lines.append(f"v = line[N - 1u - i]; if (i >= {amount}u) v += {factor}u;")
                new = here[::-1] + np.where(i >= amount, factor, 0).astype(np.uint32)
            here = new.astype(np.uint32)
        body = "\n".join(f"  barrier(); {line} barrier(); line[i] = v;" for line in lines)
        text = f"""
layout(local_size_x = {shape[0]}, local_size_y = {shape[1]}) in;
layout(binding = 0) buffer In {{ uint values[]; }};
const uint N = {n};
shared uint line[N];
void main() {{
  uint i = gl_LocalInvocationIndex, v = 0u;
  line[i] = values[i];
{body}
  values[i] = line[i];
}}"""
        everywhere(text, {"In": here}, lambda seed=seed: {"In": seed}, groups=1)  # type: ignore[misc]


def test_a_texture_and_an_indirect_dispatch() -> None:
    dev = device(8, 2)
    picture = rng(8).integers(0, 256, (20, 30, 4), np.uint8)
    pipe = dev.compute_pipeline("""#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0) uniform sampler2D picture;
layout(binding = 1) buffer Out { vec4 texels[]; };
void main() {
  ivec2 size = textureSize(picture, 0), at = ivec2(gl_GlobalInvocationID.xy);
  if (at.x < size.x && at.y < size.y) texels[at.y * size.x + at.x] = texelFetch(picture, at, 0);
}""")
    out = dev.buffer(20 * 30 * 16)
    groups = dev.buffer(np.array([9, 4, 5, 1], np.uint32))
    bind = {"picture": dev.texture(picture, format="r8g8b8a8_unorm", mipmaps=False), "Out": out}
    stats = dev.dispatch_indirect(pipe, groups, offset=4, bind=bind)
    assert stats.workgroups == (4, 5, 1) and stats.invocations == 640
    np.testing.assert_allclose(out.numpy(np.float32, (20, 30, 4)), picture / np.float32(255), atol=1e-7)


def test_messages() -> None:
    dev = device(8, 2)
    text = "#version 450\nlayout(local_size_x = 64) in; layout(binding = 0) buffer Out { uint a[]; }; void main() { a[0] = 1; }"
    pipe = dev.compute_pipeline(text, label="p")
    assert pipe.workgroup_size == (64, 1, 1) and "64 x 1 x 1" in repr(pipe)
    out = dev.buffer(16)

    def says(part: str, call: Callable[[], Any]) -> None:
        with pytest.raises(tg.Error) as error:
            call()
        assert part in str(error.value), error.value

    says("bind= lacks 'Out' (set 0, binding 0), a storage_buffer", lambda: dev.dispatch(pipe, 1))
    says("give either groups or invocations=", lambda: dev.dispatch(pipe, bind={"Out": out}))
    says("groups is 65536", lambda: dev.dispatch(pipe, 65536, bind={"Out": out}))
    says("groups is (1, 2, 3, 4); it must be", lambda: dev.dispatch(pipe, (1, 2, 3, 4), bind={"Out": out}))
    says("takes [156250, 1, 1] workgroups", lambda: dev.dispatch(pipe, invocations=10_000_000, bind={"Out": out}))
    says("must be a compute pipeline", lambda: dev.dispatch(None, 1))  # type: ignore[arg-type]
    says(
        "which a numpy.ndarray" if False else "it must be a tilegpu.Buffer",
        lambda: dev.dispatch(pipe, 1, bind={"Out": np.zeros(4)}),
    )
    says(
        "is no compute shader", lambda: dev.compute_pipeline(tg.compile_glsl("#version 450\nvoid main() {}", "vertex"))
    )
    says("no push constants", lambda: dev.dispatch(pipe, 1, bind={"Out": out}, push={"x": 1}))
    says("no specialisation constant 'n'", lambda: dev.compute_pipeline(text, constants={"n": 1}))
    endless = dev.compute_pipeline(text.replace("a[0] = 1;", "while (a[0] != 7u) a[1] += 1u;"))
    with pytest.raises(tg.DeviceLostError, match="of the compute shader was ended: its loops went round more than 67108864 times"):
        dev.dispatch(endless, 60000, bind={"Out": out})
    dev.dispatch(pipe, 1, bind={"Out": out})
    assert out.numpy(np.uint32)[0] == 1


def test_the_vulkan_memory_model() -> None:
    """Scopes and semantics of its own, coherent buffers and images, shared memory that begins as zeros: what orders more is always done."""
    text = """#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_null_initializer : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) devicecoherent buffer B { uint a[]; };
layout(std430, binding = 1) nonprivate buffer R { uint r[33]; };
layout(binding = 2, r32ui) workgroupcoherent uniform uimage2D target;
shared uint s[32] = {};
void main() {
  uint i = gl_LocalInvocationIndex;
  s[31 - i] += a[i];
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
  atomicAdd(r[0], s[i], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
  imageStore(target, ivec2(i, 0), uvec4(s[i]));
  memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsAcquireRelease);
  atomicStore(r[1 + i], imageLoad(target, ivec2(i, 0)).x + 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
}"""
    for lanes in (4, 8, 16):
        dev = tg.Device(lanes=lanes, cache_dir="off")
        result = dev.buffer(np.zeros(33, np.uint32))
        target = dev.image((32, 1), "r32_uint", usage=("storage", "transfer_src", "transfer_dst"))
        values = dev.buffer(np.arange(32, dtype=np.uint32))
        dev.dispatch(dev.compute_pipeline(text), 1, bind={"B": values, "R": result, "target": target})
        np.testing.assert_array_equal(result.numpy(np.uint32, (33,)), [496, *range(32, 0, -1)])
