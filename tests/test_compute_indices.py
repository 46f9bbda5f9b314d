"""Which words the lanes of a kernel reach: what the compiler says of it without running (one beside the other, all the same) must be so.

Indices are random expressions of the invocation's number, of constants and of a number that the compiler does not know, with the clamps
and selections that programs write around them; the same are evaluated in NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import tilegpu as tg

WORDS, SIZE, UNKNOWN = 64, 32, 3
DATA = np.random.default_rng(1).permutation(1 << 16)[:WORDS].astype(np.uint32)
Expression = tuple[str, np.ndarray]  # GLSL, and its values for all invocations


@functools.cache
def device(lanes: int) -> tg.Device:
    return tg.Device(lanes=lanes, cache_dir="off")


def selected(a: Expression, b: Expression, c: Expression, d: Expression) -> Expression:
    return f"({a[0]} < {b[0]} ? {c[0]} : {d[0]})", np.where(a[1] < b[1], c[1], d[1]).astype(np.uint32)


def expression(rng: np.random.Generator, invocations: np.ndarray, depth: int) -> Expression:
    """Of uint; all arithmetic is modulo 2^32 in both."""
    if depth == 0 or rng.random() < 0.15:
        constant = rng.choice([0, 1, 2, 4, 7, 10, 31, 63, 0x3FFFFFFE, 0xFFFFFFF8]).astype(np.uint32)
        return [
            ("i", invocations),
            (f"{constant}u", np.full_like(invocations, constant)),
            ("n", np.full_like(invocations, UNKNOWN)),
        ][rng.choice(3, p=[0.5, 0.3, 0.2])]
    a, b = (expression(rng, invocations, depth - 1) for _ in range(2))
    kinds = ["+", "-", "*", "&", "|", "^", "min", "max", "<<", ">>", "%", "?"]
    kind = rng.choice(kinds, p=[0.2, 0.1, 0.08, 0.05, 0.05, 0.05, 0.17, 0.05, 0.05, 0.05, 0.05, 0.1])
    if kind == "?":
        return selected(a, b, *((a, b) if rng.random() < 0.5 else (expression(rng, invocations, depth - 1), b)))
    if kind in ("min", "max"):
        return f"{kind}({a[0]}, {b[0]})", (np.minimum if kind == "min" else np.maximum)(a[1], b[1])
    if kind in ("<<", ">>", "%"):
        amount = int(rng.integers(1, 5))
        shift = {"<<": np.left_shift, ">>": np.right_shift, "%": np.remainder}[kind]
        return f"({a[0]} {kind} {amount}u)", shift(a[1], np.uint32(amount))
    work = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
    return f"({a[0]} {kind} {b[0]})", work[kind](a[1], b[1])


def check(expressions: list[Expression], invocations: np.ndarray, number: str) -> None:
    lines = "\n".join(
        f"o[{k * len(invocations)}u + gl_GlobalInvocationID.x] = uvec2(data[min({e}, 63u)], part[min({e}, 63u)]);"
        for k, (e, _) in enumerate(expressions)
    )
    text = f"""#version 450
layout(local_size_x = {SIZE}) in;
layout(binding = 0) readonly buffer D {{ uint data[]; }}; layout(binding = 1) writeonly buffer O {{ uvec2 o[]; }};
layout(push_constant) uniform P {{ uint n; }}; shared uint part[{WORDS}];
void main() {{
  part[gl_LocalInvocationIndex] = data[gl_LocalInvocationIndex];
  part[gl_LocalInvocationIndex + {SIZE}u] = data[gl_LocalInvocationIndex + {SIZE}u];
  barrier();
  uint i = {number};
  {lines}
}}"""
    want = np.stack([DATA[np.minimum(values, 63)] for _, values in expressions])
    for lanes in (4, 8, 16):
        dev = device(lanes)
        data, out = dev.buffer(DATA), dev.buffer(want.size * 8)
        pipe = dev.compute_pipeline(text)
        dev.dispatch(pipe, (len(invocations) // SIZE, 1, 1), bind={"D": data, "O": out}, push={"n": UNKNOWN})
        got = out.numpy(np.uint32, (*want.shape, 2))
        for k, (e, _) in enumerate(expressions):
            for memory in range(2):
                assert np.array_equal(got[k, :, memory], want[k]), f"lanes {lanes}, {('data', 'part')[memory]}[{e}]"


def numbers(local: bool) -> tuple[np.ndarray, str]:
    invocations = np.arange(2 * SIZE, dtype=np.uint32)
    return (invocations % SIZE, "gl_LocalInvocationIndex") if local else (invocations, "gl_GlobalInvocationID.x")


@pytest.mark.parametrize("local", [True, False])
def test_clamps_that_meet(local: bool) -> None:
    """What ends at the right words, with others between; what programs write at the ends of their arrays."""
    i, number = numbers(local)
    u = np.uint32
    check(
        [
            ("i < n ? i : 7u", np.where(i < UNKNOWN, i, 7).astype(u)),
            ("min(i, 10u) + min(20u - i, 10u)", np.minimum(i, u(10)) + np.minimum(u(20) - i, u(10))),
            ("min(i, 4u) + min(10u - i, 7u) + i", np.minimum(i, u(4)) + np.minimum(u(10) - i, u(7)) + i),
            ("min(n, i)", np.minimum(u(UNKNOWN), i)),
            ("n < i ? n : 7u", np.where(i > UNKNOWN, UNKNOWN, 7).astype(u)),
            ("min(i - 2u, 0x3ffffffeu)", np.minimum(i - u(2), u(0x3FFFFFFE))),
            ("i == 0u ? 0u : i - 1u", np.where(i == 0, 0, i - u(1)).astype(u)),
            ("min(i + 1u, 31u)", np.minimum(i + u(1), u(31))),
        ],
        i,
        number,
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_indices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    i, number = numbers(bool(seed % 2))
    with np.errstate(over="ignore"):
        check([expression(rng, i, 4) for _ in range(24)], i, number)
