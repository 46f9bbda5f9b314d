"""Kernels whose loops nobody can count go over several vectors of a workgroup in one body (cpp/src/shader/lower/compute.cpp): the same
bits for any lanes, kind of code, size of workgroup and target, and those that NumPy has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilegpu as tg

COUNT = 1600  # invocations, no multiple of every workgroup
SIZES = ((8, 8, 1), (64, 1, 1), (16, 16, 1), (32, 1, 1), (48, 1, 1), (10, 10, 1), (4, 4, 8), (16, 1, 1), (5, 1, 1))
#: Collatz steps, and what each kernel does beside the loop.
LOOP = "uint n = at + 1u, steps = 0u; while (n != 1u) { n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u; steps++; }"
KERNELS = {
    "in order": f"{LOOP} o[at] = steps;",
    "in another order": f"{LOOP} o[(at * 7u) % {COUNT}u] = steps;",
    "a word for all": f"uint more = o[{2 * COUNT - 1}u] + 3u; {LOOP} o[at] = steps + more;",
    "some": f"{LOOP} if ((steps & 1u) == 0u) o[at] = steps; else o[at] = 1000u + n;",
    "two words": f"{LOOP} o[at] = steps; o[{COUNT}u + at] = n + at;",
    "an early return": f"if ((at & 3u) == 2u) return; {LOOP} o[at] = steps;",
    "loops in each other": "uint sum = 0u; "
    "for (uint k = at; k > 0u; k >>= 1) { uint n = k; while (n > 3u) { n = n / 3u + (n & 1u); sum++; } "
    "if (sum > 40u) break; } o[at] = sum;",
    "a neighbour": f"{LOOP} o[at] = subgroupQuadSwapHorizontal(steps) + subgroupBallot(steps > 20u).x * 1000u + subgroupAdd(steps);",
    "a counter": f"{LOOP} atomicAdd(o[steps & 7u], steps);",
    "floats": "float x = float(at) * 0.01, sum = 0.0; while (x > 0.05) { sum += sin(x) * sqrt(x); x *= 0.83; } "
    "o[at] = floatBitsToUint(sum);",
    "a budget for all": f"uint k = 0u; while (k < at) k += 1u + (k & 3u); {LOOP} o[at] = k ^ steps;",
}
Array = NDArray[np.uint32]


def run(dev: tg.Device, body: str, size: tuple[int, int, int]) -> Array:
    x, y, z = size
    groups = -(-COUNT // (x * y * z))
    text = f"""#version 450
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;
layout(std430, binding = 0) buffer O {{ uint o[]; }};
void main() {{ uint at = gl_WorkGroupID.x * {x * y * z}u + gl_LocalInvocationIndex; if (at >= {COUNT}u) return; {body} }}"""
    out = dev.buffer(np.zeros(2 * COUNT, np.uint32))
    dev.dispatch(dev.compute_pipeline(text), (groups, 1, 1), bind={"O": out})
    found: Array = out.numpy().view(np.uint32).copy()
    return found


def collatz() -> Array:
    steps = np.zeros(COUNT, np.uint32)
    n = np.arange(1, COUNT + 1, dtype=np.uint64)
    while (n != 1).any():
        steps += n != 1
        n = np.where(n == 1, 1, np.where(n % 2 == 0, n // 2, 3 * n + 1))
    return steps


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    devices: list[tuple[dict[str, Any], tg.Device]] = []
    for code in ("optimised", "quick"):
        monkeypatch.setenv("TILEGPU_CODE", code)
        for options in ({"lanes": 4}, {"lanes": 8}, {"lanes": 16}, {"lanes": 8, "jit_target": "baseline"}, {"threads": 1}):
            devices.append(({"code": code, **options}, tg.Device(cache_dir="off", **options)))
    whole = [size for size in SIZES if "neighbour" not in name or np.prod(size) % 4 == 0]
    want = run(devices[0][1], KERNELS[name], whole[0])
    for options, dev in devices:
        for size in whole:
            found = run(dev, KERNELS[name], size)
            assert (found == want).all(), (options, size, np.flatnonzero(found != want)[:8])


def test_the_numbers_are_right() -> None:
    dev = tg.Device(cache_dir="off")
    steps = collatz()
    assert (run(dev, KERNELS["in order"], (8, 8, 1))[:COUNT] == steps).all()
    places = np.arange(COUNT, dtype=np.uint64) * 7 % COUNT
    assert (run(dev, KERNELS["in another order"], (16, 16, 1))[places] == steps).all()
    counted = run(dev, KERNELS["a counter"], (64, 1, 1))[:8]
    assert (counted == [steps[steps % 8 == k].sum() for k in range(8)]).all()


def test_a_loop_without_end_is_told_whatever_the_lanes() -> None:
    body = "uint k = at; while (k != 77u) k = k == 1234u ? 1234u : 77u; o[at] = k;"
    for lanes in (4, 8, 16):
        dev = tg.Device(cache_dir="off", lanes=lanes, loop_budget=10_000)
        with pytest.raises(tg.Error, match="loop"):
            run(dev, body, (8, 8, 1))
