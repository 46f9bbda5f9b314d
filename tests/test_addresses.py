"""Buffer device addresses in compute: data structures against NumPy, addresses that lead nowhere, the same words everywhere."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from spirv import assemble

CASES = [(4, 1), (8, 2), (16, 1), (16, 2)]
WINDOW = 1 << 32  # from one buffer's address to the next at least

HEAD = """#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
"""

Arrays = dict[str, Any]


@functools.cache
def device(lanes: int, threads: int) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, cache_dir="off")


def everywhere(
    text: str, make: Callable[[tg.Device], tuple[dict[str, tg.Buffer], Arrays]], want: Arrays, **dispatch: Any
) -> None:
    """Runs the kernel at all lanes and threads. ``make``: buffers, and push constants; ``want``: what buffers hold afterwards."""
    for lanes, threads in CASES:
        dev = device(lanes, threads)
        pipe = dev.compute_pipeline(text if isinstance(text, bytes) else HEAD + text)
        buffers, push = make(dev)
        dev.dispatch(pipe, push=push, **dispatch)
        for name, array in want.items():
            got = buffers[name].numpy(array.dtype, array.shape)
            np.testing.assert_array_equal(got, array, f"lanes {lanes}, threads {threads}, {name}")


def test_a_linked_list_through_several_buffers() -> None:
    """Each invocation walks from its own node, through forward pointers, for as long as its list goes."""
    n, parts = 300, 3
    rng = np.random.default_rng(1)
    following = np.where(rng.random(n) < 0.1, -1, np.maximum(rng.integers(-1, n, n), -1))
    following = np.where(following <= np.arange(n), -1, following)  # no circles
    values = rng.integers(0, 1000, n, np.uint32)
    sums = np.zeros(n, np.uint32)
    for i in range(n):
        at = i
        while at >= 0:
            sums[i] += values[at]
            at = following[at]
    node = np.dtype([("next", "<u8"), ("value", "<u4"), ("_", "<u4")])

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        nodes = [dev.buffer(n // parts * node.itemsize) for _ in range(parts)]
        address = np.array([nodes[i % parts].device_address + i // parts * node.itemsize for i in range(n)], np.uint64)
        for part, buffer in enumerate(nodes):
            view = buffer.numpy(node)
            mine = np.arange(part, n, parts)
            view["value"] = values[mine]
            view["next"] = np.where(following[mine] < 0, np.uint64(0), address[following[mine]])
        heads, out = dev.buffer(address), dev.buffer(4 * n)
        buffers = {"out": out, "heads": heads} | {f"nodes{k}": b for k, b in enumerate(nodes)}
        return buffers, {"heads": heads.device_address, "sums": out.device_address, "n": n}

    everywhere(
        """
layout(local_size_x = 64) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Node { Node next; uint value; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Heads { Node head[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Sums { uint sum[]; };
layout(push_constant) uniform Push { Heads heads; Sums sums; uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  uint sum = 0;
  for (Node at = heads.head[i]; uint64_t(at) != 0; at = at.next) sum += at.value;
  sums.sum[i] = sum;
}""",
        make,
        {"out": sums},
        invocations=n,
    )


def test_a_matrix_product() -> None:
    n = 24
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-8, 8, (n, n)).astype(np.float32) for _ in range(2))

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        buffers = {"a": dev.buffer(a), "b": dev.buffer(b), "c": dev.buffer(4 * n * n)}
        return buffers, {name: buffer.device_address for name, buffer in buffers.items()} | {"n": n}

    everywhere(
        """
layout(local_size_x = 8, local_size_y = 8) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Matrix { float at[]; };
layout(push_constant) uniform Push { Matrix a; Matrix b; Matrix c; uint n; };
void main() {
  uvec2 i = gl_GlobalInvocationID.xy;
  float sum = 0;
  for (uint k = 0; k < n; k++) sum += a.at[i.y * n + k] * b.at[k * n + i.x];
  c.at[i.y * n + i.x] = sum;
}""",
        make,
        {"c": a @ b},
        groups=(n // 8, n // 8),
    )


def test_a_structure_of_pointers_to_structures() -> None:
    """Matrices in both orders, vectors, numbers of 8 to 64 bits, whole structures read and written, a table of pointers in a buffer."""
    n = 37
    dtype = np.dtype(
        {
            "names": ["columns", "rows", "v", "half", "byte", "wide", "words"],
            "formats": [("<f4", (3, 4)), ("<f4", (4, 4)), ("<f4", 3), "<f2", "i1", "<i8", ("<u4", 5)],
            "offsets": [0, 48, 112, 124, 126, 128, 136],
            "itemsize": 160,
        }
    )
    rng = np.random.default_rng(3)
    given = np.zeros(n, dtype)
    given["columns"], given["rows"] = rng.integers(-9, 9, (n, 3, 4)), rng.integers(-9, 9, (n, 4, 4))
    given["v"], given["half"], given["byte"] = rng.integers(-9, 9, (n, 3)), rng.integers(-9, 9, n), rng.integers(-100, 100, n)
    given["wide"], given["words"] = rng.integers(-(2**60), 2**60, n), rng.integers(0, 2**32, (n, 5))
    want = given.copy()
    for i in range(n):
        turned = given["columns"][i].T @ given["v"][i]  # columns of the matrix lie behind each other
        want["rows"][i] = given["rows"][i] + np.outer(turned, [1, 2, 3, 4])
        want["v"][i] = (given["rows"][i] @ turned)[:3]
        want["half"][i], want["byte"][i] = given["half"][i] * 2, given["byte"][i] // 1 ^ 5
        want["wide"][i], want["words"][i] = given["wide"][i] * 3, given["words"][i][::-1]

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        source, copies = dev.buffer(given.tobytes()), dev.buffer(n * 160)
        table = dev.buffer(np.array([source.device_address, copies.device_address], np.uint64))
        return {"source": source, "copies": copies, "table": table}, {"table": table.device_address, "n": n}

    everywhere(
        """
layout(local_size_x = 32) in;
struct Rest { vec3 v; float16_t half_; int8_t byte_; int64_t wide; uint words[5]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Thing { mat3x4 columns; layout(row_major) mat4 rows; Rest rest; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Table { Thing from; Thing to; };
layout(push_constant) uniform Push { Table table; uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  Thing from = table.from[i], to = table.to[i];
  Rest x = from.rest;
  vec4 turned = from.columns * x.v;
  to.columns = from.columns;
  to.rows = from.rows + outerProduct(turned, vec4(1, 2, 3, 4));
  x.v = (from.rows * turned).xyz;
  x.half_ *= float16_t(2); x.byte_ ^= int8_t(5); x.wide *= 3;
  uint words[5] = x.words;
  for (int k = 0; k < 5; k++) x.words[k] = words[4 - k];
  to.rest = x;
  to.rows[2] = from.rows[2] + turned * 3;  // a column of a row-major matrix, once more
  to.rows[i % 4][3] = from.rows[i % 4][3] + turned[3] * (i % 4 + 1);
}""",
        make,
        {"copies": want},
        invocations=n,
    )


def test_atomics() -> None:
    n = 4000
    keys = np.random.default_rng(4).integers(0, 64, n, np.uint32)
    counts = np.bincount(keys, minlength=64).astype(np.uint32)
    totals = np.zeros(64, np.uint64)
    np.add.at(totals, keys, (np.arange(n, dtype=np.uint64) << np.uint64(20)) + np.uint64(1))
    most = np.zeros(64, np.int32)
    np.maximum.at(most, keys, np.arange(n, dtype=np.int32))

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        buffers = {"keys": dev.buffer(keys), "counts": dev.buffer(256), "totals": dev.buffer(512), "most": dev.buffer(256)}
        return buffers, {name: buffer.device_address for name, buffer in buffers.items()} | {"n": n}

    everywhere(
        """
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { uint at[]; };
layout(buffer_reference, std430) buffer Signed { int at[]; };
layout(buffer_reference, std430) buffer Longs { uint64_t at[]; };
layout(push_constant) uniform Push { Words keys; Words counts; Longs totals; Signed most; uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  uint key = keys.at[i];
  atomicAdd(counts.at[key], 1u);
  atomicAdd(totals.at[key], (uint64_t(i) << 20) + 1);
  atomicMax(most.at[key], int(i));
}""",
        make,
        {"counts": counts, "totals": totals, "most": most},
        invocations=n,
    )


def test_what_atomics_return_is_the_same_everywhere() -> None:
    """They are ordered as those of storage buffers are."""

    def run(lanes: int, threads: int) -> bytes:
        dev = device(lanes, threads)
        pipe = dev.compute_pipeline(
            HEAD
            + """
layout(local_size_x = 32) in;
layout(buffer_reference, std430) buffer Words { uint next; uint at[]; };
layout(push_constant) uniform Push { Words words; };
void main() { words.at[atomicAdd(words.next, 1u)] = gl_GlobalInvocationID.x; }"""
        )
        out = dev.buffer(4 + 4 * 640)
        dev.dispatch(pipe, groups=20, push={"words": out.device_address})
        return out.numpy().tobytes()

    first = run(*CASES[0])
    assert sorted(np.frombuffer(first, np.uint32)[1:]) == list(range(640))
    assert all(run(*case) == first for case in CASES[1:])


def test_pointers_are_values() -> None:
    """In variables, arrays, parameters, results, conditions, loops; as uint64_t and uvec2; with sums and differences of elements."""
    n = 96
    a, b = np.arange(1000, 1000 + n, dtype=np.uint32), np.arange(5000, 5000 + n, dtype=np.uint32)
    i = np.arange(n)
    chosen = np.where(i % 3 == 0, a, b)
    walked = np.array([(a if k % 2 else b)[: k % 7 + 1].sum() for k in i])
    listed = np.array([a, b])[i % 2, i]
    want = np.stack([chosen, walked, listed, a[np.minimum(i + 3, n - 1)], b[i], a[::-1]], -1).astype(np.uint32)

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        buffers = {"a": dev.buffer(a), "b": dev.buffer(b), "out_": dev.buffer(24 * n)}
        return buffers, {name: buffer.device_address for name, buffer in buffers.items()}

    everywhere(
        """
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint x; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Out { uint six[6]; };
layout(push_constant) uniform Push { Word a; Word b; Out out_; };
Word pick(Word one, Word other, bool first) { if (first) return one; return other; }
uint get(Word from, int i) { return from[i].x; }
void main() {
  int i = int(gl_GlobalInvocationID.x);
  Word kept[2] = Word[](a, b);
  Word at = pick(a, b, i % 2 != 0);
  uint sum = 0;
  for (int k = 0; k <= i % 7; k++, at = at + 1) sum += at.x;
  uint64_t number = uint64_t(b) + 4ul * uint(i);
  uvec2 halves = uvec2(b + i);
  bool same = number == packUint2x32(halves) && Word(halves) == Word(number);
  Word last = a + 95;
  Out o = out_ + i;
  o.six[0] = get(pick(a, b, i % 3 == 0), i);
  o.six[1] = sum;
  o.six[2] = (kept[i % 2] + i).x;
  o.six[3] = Word(uint64_t(a) + 4ul * min(i + 3, 95)).x;
  o.six[4] = same ? Word(halves).x : 0u;
  o.six[5] = last[-i].x;
}""".replace("Word(halves) == Word(number)", "uint64_t(Word(halves)) == uint64_t(Word(number))"),
        make,
        {"out_": want},
        invocations=n,
    )


PEEK = """
layout(local_size_x = 16) in;
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Word { uint x; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Four { uvec4 x; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Long { uint64_t x; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Byte { uint8_t x; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer List { uint64_t at[]; };
struct Seen { uvec4 four; uint64_t wide; uint word; uint byte_; };
layout(buffer_reference, scalar, buffer_reference_align = 8) writeonly buffer Out { Seen seen[]; };
layout(push_constant) uniform Push { List list; Out out_; uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  uint64_t at = list.at[i];
  Seen s;
  s.four = Four(at).x; s.wide = Long(at).x; s.word = Word(at).x; s.byte_ = uint(Byte(at).x);
  out_.seen[i] = s;
}"""
SEEN = np.dtype([("four", "<u4", 4), ("wide", "<u8"), ("word", "<u4"), ("byte", "<u4")])


def peeked(ranges: list[tuple[int, bytes]], addresses: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What PEEK finds: each scalar by itself, zero where it is not wholly in a range."""

    def scalar(at: int, size: int) -> int:
        for first, content in ranges:
            if first <= at and at + size <= first + len(content):
                return int.from_bytes(content[at - first : at - first + size], "little")
        return 0

    seen = np.zeros(len(addresses), SEEN)
    for row, address in zip(seen, addresses.tolist(), strict=True):
        row["four"] = [scalar((address + 4 * k) % 2**64, 4) for k in range(4)]
        row["wide"], row["word"], row["byte"] = scalar(address, 8), scalar(address, 4), scalar(address, 1)
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_any_number_is_an_address(seed: int) -> None:
    """Null, one byte past the end, across it, misaligned, made up, far away, of a buffer that is gone: zeros, never a fault."""
    rng = np.random.default_rng(seed)
    contents = [rng.integers(1, 256, size, np.uint8).tobytes() for size in (1000, 64, 3, 4096)]

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        gone = dev.buffer(256)
        gone.numpy()[:] = 77
        buffers = {f"b{k}": dev.buffer(content) for k, content in enumerate(contents)}
        ranges = [(buffers[f"b{k}"].device_address, content) for k, content in enumerate(contents)]
        starts = [first for first, _ in ranges] + [gone.device_address]
        del gone
        known = [0, 1, 2**64 - 1, 2**64 - 16, 2**63, WINDOW - 1, 2**52, 2**32 - 8]
        for first, content in ranges:
            end = first + len(content)
            known += [first, first - 1, first - 4, end - 16, end - 8, end - 5, end - 4, end - 1, end, end + 1, first | 1 << 63]
            known += [first + 2**31, first + WINDOW - 1, first + WINDOW // 2 - 2]
        near = [s + int(d) for s in starts for d in rng.integers(-20, 1100, 8)]
        wild = [int(x) >> int(s) for x, s in zip(rng.integers(0, 2**63, 40), rng.integers(0, 40, 40), strict=True)]
        mixed = np.array([x % 2**64 for x in known + near + wild + starts], np.uint64)
        # Some runs of neighbours, some of the same address, some of one buffer alone: each way through the code.
        runs = [np.uint64(starts[0]) + np.arange(64, dtype=np.uint64) * np.uint64(k) for k in (0, 1, 4, 16, 17)]
        addresses = np.concatenate([mixed, *runs, rng.permutation(mixed)])
        addresses = addresses[: len(addresses) // 16 * 16 + 5]
        want = peeked(ranges, addresses)
        given, out = dev.buffer(addresses), dev.buffer(len(addresses) * SEEN.itemsize)
        checks.append((out, want))
        return buffers | {"list": given}, {"list": given.device_address, "out_": out.device_address, "n": len(addresses)}

    for lanes, threads in CASES:
        checks: list[tuple[tg.Buffer, Any]] = []
        dev = tg.Device(lanes=lanes, threads=threads, cache_dir="off")
        buffers, push = make(dev)
        lists = [b for b, _ in checks]
        given = dev.buffer(8)
        assert given.device_address not in [b.device_address for b in lists]
        dev.dispatch(dev.compute_pipeline(HEAD + PEEK), invocations=push["n"], push=push)
        for out, want in checks:
            np.testing.assert_array_equal(out.numpy(SEEN), want, f"lanes {lanes}, threads {threads}")
        del buffers


def test_stores_and_atomics_that_lead_nowhere_vanish() -> None:
    rng = np.random.default_rng(5)
    size = 200
    before = rng.integers(0, 256, size, np.uint8)
    offsets = [-4, -1, 0, 5, 16, 50, 100, 150, size - 16, size - 9, size - 4, size - 3, size, size + 1, 2**31, 2**32 - 6, 2**40, 2**63]
    want = before.copy()

    def put(at: int, value: int, count: int) -> None:
        if at >= 0 and at + count <= size:
            want[at : at + count] = np.frombuffer(value.to_bytes(count, "little"), np.uint8)

    for i, offset in enumerate(offsets):
        for k in range(2):  # two words, each by itself
            put(offset + 4 * k, i * 0x1010101 + k, 4)
        if offset % 4 == 0 and offset >= 0 and offset + 4 <= size:
            put(offset, (int.from_bytes(want[offset : offset + 4].tobytes(), "little") + 7) % 2**32, 4)

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        guard = dev.buffer(np.full(64, 0x5A, np.uint8))
        target, behind = dev.buffer(before), dev.buffer(np.full(64, 0x5A, np.uint8))
        buffers = {"guard": guard, "target": target, "behind": behind}
        for buffer in buffers.values():
            assert buffer.device_address
        addresses = dev.buffer(np.array([(target.device_address + o) % 2**64 for o in offsets], np.uint64))
        return buffers | {"list": addresses}, {"list": addresses.device_address, "n": len(offsets)}

    everywhere(
        """
layout(local_size_x = 32) in;
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Two { uvec2 x; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Word { uint x; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer List { uint64_t at[]; };
layout(push_constant) uniform Push { List list; uint n; };
void main() {
  if (gl_LocalInvocationIndex != 0u) return;
  for (uint i = 0; i < n; i++) {
    Two(list.at[i]).x = uvec2(i * 0x1010101u, i * 0x1010101u + 1u);
    atomicAdd(Word(list.at[i]).x, 7u);
  }
}""",
        make,
        {"target": want, "guard": np.full(64, 0x5A, np.uint8), "behind": np.full(64, 0x5A, np.uint8)},
        groups=1,
    )


def test_lanes_that_store_far_apart() -> None:
    """Each lane to another buffer, some nowhere; and strides so large that offsets leave 32 bits."""
    n = 48
    want = [np.zeros(n, np.uint32) for _ in range(5)]
    for i in range(n):
        if i % 6 < 5:
            want[i % 6][i] = i + 1
    strided = np.zeros(64, np.uint32)
    strided[0] = 99

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        parts = [dev.buffer(4 * n) for _ in range(5)]
        table = dev.buffer(np.array([p.device_address for p in parts] + [0x123456789ABCDE], np.uint64))
        far = dev.buffer(256)
        buffers = {f"p{k}": part for k, part in enumerate(parts)} | {"table": table, "far": far}
        return buffers, {"table": table.device_address, "far": far.device_address}

    everywhere(
        """
layout(local_size_x = 16) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
struct Large { uint x; uint padding[0xfffffff]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Far { Large of[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Table { Words to[6]; };
layout(push_constant) uniform Push { Table table; Far far; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  table.to[i % 6].at[i] = i + 1;
  far.of[i].x = 99 + i;  // 1 GiB apart: all but the first lead nowhere
}""",
        make,
        {f"p{k}": w for k, w in enumerate(want)} | {"far": strided},
        groups=n // 16,
    )


def test_large_values_in_pieces() -> None:
    """Structures of 45 scalars, from three buffers to three others, the last one across the end: what lies outside is not kept."""
    n, size = 40, 180
    rng = np.random.default_rng(7)
    given = [rng.integers(0, 2**32, n * 45, np.uint32) for _ in range(3)]
    want = [np.zeros(n * 45 - 20, np.uint32) for _ in range(3)]
    for i in range(n):
        value = given[i % 3][45 * i : 45 * i + 45] + np.uint32(1)
        kept = want[(i + 1) % 3][45 * i : 45 * i + 45]
        kept[:] = value[: len(kept)]

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        sources = [dev.buffer(array) for array in given]
        targets = [dev.buffer(size * n - 80) for _ in range(3)]
        table = dev.buffer(np.array([b.device_address for b in sources + targets], np.uint64))
        buffers = {f"s{k}": b for k, b in enumerate(sources)} | {f"t{k}": b for k, b in enumerate(targets)} | {"table": table}
        return buffers, {"table": table.device_address, "n": n}

    everywhere(
        """
layout(local_size_x = 32) in;
struct Large { uint a[45]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Many { Large of[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Table { Many of[6]; };
layout(push_constant) uniform Push { Table table; uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= n) return;
  Large x = table.of[i % 3].of[i];
  for (int k = 0; k < 45; k++) x.a[k]++;
  table.of[3 + (i + 1) % 3].of[i] = x;
}""",
        make,
        {f"t{k}": array for k, array in enumerate(want)},
        invocations=n,
    )


def test_a_pass_sees_what_the_one_before_stored() -> None:
    """Nothing is read before its store: in a loop of one invocation, and from dispatch to dispatch."""
    dev = device(16, 2)
    pipe = dev.compute_pipeline(
        HEAD
        + """
layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Word { uint x; };
layout(binding = 0) buffer Same { uint same; };
layout(push_constant) uniform Push { Word word; };
void main() {
  for (int i = 0; i < 5; i++) { word.x = word.x + 1u; same += word.x; }  // the buffer and the address are one place
}"""
    )
    buffer = dev.buffer(np.array([1], np.uint32))
    value = 1
    for _ in range(3):
        dev.dispatch(pipe, groups=1, bind={"Same": buffer}, push={"word": buffer.device_address})
        for _ in range(5):
            value = (value + 1) * 2 % 2**32
        assert buffer.numpy(np.uint32)[0] == value


def test_addresses_are_the_same_on_every_run() -> None:
    def run() -> list[int]:
        dev = tg.Device(cache_dir="off", threads=1)
        buffers = [dev.buffer(100 + 4000 * k) for k in range(5)]
        found = [buffers[k].device_address for k in (3, 0, 4)]
        del buffers[3]
        return [*found, buffers[0].device_address, dev.buffer(7).device_address, buffers[1].slice(32).device_address]

    first = run()
    assert run() == first
    assert all(address % WINDOW == 0 and address for address in first[:5]) and first[5] % WINDOW == 32
    assert first[3] == first[1] and len(set(first[:3] + first[4:])) == 5  # the address of what is gone is not given again at once


def test_messages() -> None:
    dev = device(8, 2)
    with pytest.raises(tg.ValidationError, match=r"buffer 'b' has usage storage_buffer; create it with usage='shader_device_address' too"):
        _ = dev.buffer(64, usage="storage", label="b").device_address
    assert dev.buffer(64, usage="storage|shader_device_address").device_address
    vertex = HEAD + """
layout(buffer_reference) buffer Word { uint x; };
layout(location = 0) flat out Word w;
void main() { gl_Position = vec4(0); w = Word(uint64_t(5)); }"""
    with pytest.raises(tg.Error, match=r"pointer|buffer_reference|reference"):
        dev.pipeline(vertex, "#version 450\nvoid main() {}", color=[])


ASSEMBLY = """
OpCapability Shader
OpCapability Int64
OpCapability PhysicalStorageBufferAddresses
OpExtension "SPV_KHR_physical_storage_buffer"
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main "main" %id
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %to_word ArrayStride 4
OpDecorate %push_type Block
OpMemberDecorate %push_type 0 Offset 0
OpMemberDecorate %push_type 1 Offset 8
OpDecorate %kept AliasedPointer
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%long = OpTypeInt 64 0
%bool = OpTypeBool
%uvec2 = OpTypeVector %uint 2
%uvec3 = OpTypeVector %uint 3
%to_id = OpTypePointer Input %uvec3
%to_id_x = OpTypePointer Input %uint
%id = OpVariable %to_id Input
%to_word = OpTypePointer PhysicalStorageBuffer %uint
%push_type = OpTypeStruct %to_word %to_word
%to_push = OpTypePointer PushConstant %push_type
%to_pushed = OpTypePointer PushConstant %to_word
%push = OpVariable %to_push PushConstant
%to_kept = OpTypePointer Function %to_word
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%minus = OpConstant %int -1
%zero64 = OpConstant %long 0
%main = OpFunction %void None %function
%entry = OpLabel
%kept = OpVariable %to_kept Function
%i_at = OpAccessChain %to_id_x %id %zero
%i = OpLoad %uint %i_at
%from_at = OpAccessChain %to_pushed %push %zero
%out_at = OpAccessChain %to_pushed %push %one
%from = OpLoad %to_word %from_at
%out = OpLoad %to_word %out_at
%element = OpPtrAccessChain %to_word %from %i
OpStore %kept %element
%odd_bits = OpBitwiseAnd %uint %i %one
%odd = OpIEqual %bool %odd_bits %one
OpSelectionMerge %merge None
OpBranchConditional %odd %yes %merge
%yes = OpLabel
%before = OpPtrAccessChain %to_word %element %minus
%number = OpConvertPtrToU %long %before
%back = OpConvertUToPtr %to_word %number
OpBranch %merge
%merge = OpLabel
%at = OpPhi %to_word %element %entry %back %yes
%halves = OpBitcast %uvec2 %at
%again = OpBitcast %to_word %halves
%kept_again = OpLoad %to_word %kept
%chosen = OpSelect %to_word %odd %again %kept_again
%x = OpLoad %uint %chosen Aligned 4
%null = OpConvertUToPtr %to_word %zero64
%nothing = OpLoad %uint %null Aligned 4
%address = OpConvertPtrToU %long %chosen
%is_null = OpIEqual %bool %address %zero64
%is = OpSelect %uint %is_null %three %zero
%sum = OpIAdd %uint %x %nothing
%whole = OpIAdd %uint %sum %is
%place = OpPtrAccessChain %to_word %out %i
OpStore %place %whole Aligned|Volatile 4
OpReturn
OpFunctionEnd
"""


def test_instructions_that_glslang_does_not_write() -> None:
    n = 64
    values = np.random.default_rng(6).integers(0, 2**32, n, np.uint32)
    i = np.arange(n)

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        buffers = {"from": dev.buffer(values), "out": dev.buffer(4 * n)}
        return buffers, np.array([b.device_address for b in buffers.values()], np.uint64).tobytes()  # type: ignore[return-value]

    module = assemble(ASSEMBLY, validate=False)
    everywhere(module, make, {"out": values[np.where(i % 2, i - 1, i)]}, groups=2)  # type: ignore[arg-type]


ROW_MAJOR = """OpMemberDecorate %holds 0 Offset 0
OpMemberDecorate %holds 0 RowMajor
OpMemberDecorate %holds 0 MatrixStride 16
OpDecorate %holds Block
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%mat2 = OpTypeMatrix %vec2 2
%holds = OpTypeStruct %mat2
%to_holds = OpTypePointer PhysicalStorageBuffer %holds
%to_vec2 = OpTypePointer PhysicalStorageBuffer %vec2
%to_float = OpTypePointer PhysicalStorageBuffer %float
"""


def test_columns_of_row_major_matrices() -> None:
    """By a chain alone they are read; what goes through OpSelect is refused: the value of an address has no stride of components."""
    head, main = ASSEMBLY.split("%main = OpFunction")
    decorations, types = ROW_MAJOR.split("%float", 1)
    head = head.replace("%void = OpTypeVoid", decorations + "%void = OpTypeVoid", 1) + "%float" + types
    begin = main[: main.index("%element =")]
    body = """%number = OpConvertPtrToU %long %from
%held = OpConvertUToPtr %to_holds %number
%c0 = OpAccessChain %to_vec2 %held %zero %zero
%c1 = OpAccessChain %to_vec2 %held %zero %one
%n0 = OpConvertPtrToU %long %c0
%n1 = OpConvertPtrToU %long %c1
%same = OpIEqual %bool %n0 %n1
CHOSEN
%v = OpLoad %vec2 %p Aligned 4
%y = OpCompositeExtract %float %v 1
%bits = OpBitcast %uint %y
%to = OpPtrAccessChain %to_word %out %i
OpStore %to %bits Aligned 4
OpReturn
OpFunctionEnd
"""
    text = head + "%main = OpFunction" + begin + body
    rows = np.arange(8, dtype=np.float32)  # rows begin at words 0 and 4

    def make(dev: tg.Device) -> tuple[dict[str, tg.Buffer], Arrays]:
        buffers = {"from": dev.buffer(rows), "out": dev.buffer(4 * 32)}
        return buffers, np.array([b.device_address for b in buffers.values()], np.uint64).tobytes()  # type: ignore[return-value]

    plain = assemble(text.replace("CHOSEN", "%p = OpCopyObject %to_vec2 %c1"), validate=False)
    everywhere(plain, make, {"out": np.full(32, 5, np.float32)}, groups=1)
    chosen = assemble(text.replace("CHOSEN", "%p = OpSelect %to_vec2 %same %c0 %c1"), validate=False)
    with pytest.raises(tg.Error, match="column of a row-major"):
        device(8, 2).compute_pipeline(chosen)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("OpDecorate %to_word ArrayStride 4\n", "", "ArrayStride"),
        ("%void = OpTypeVoid", "OpTypeForwardPointer %lost PhysicalStorageBuffer\n%void = OpTypeVoid", "lost|announced|forward"),
    ],
)
def test_modules_that_are_wrong(old: str, new: str, message: str) -> None:
    with pytest.raises(tg.Error, match=message):
        device(8, 2).compute_pipeline(assemble(ASSEMBLY.replace(old, new), validate=False))
