"""Buffers that a dispatch reads at one binding and stores to at another: told where it is a race for certain, and nowhere else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

TWO = "layout(binding = 0) readonly buffer A { float a[]; }; layout(binding = 1) buffer B { float b[]; };"
VECTORS = "layout(binding = 0) readonly buffer A { vec4 a[]; }; layout(binding = 1) buffer B { vec4 b[]; };"
BOTH: Callable[[tg.Buffer], Any] = lambda x: {"A": x, "B": x}  # noqa: E731


@pytest.fixture(scope="module")
def devs() -> tuple[tg.Device, tg.Device]:
    return tg.Device(threads=1), tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def run(
    dev: tg.Device, body: str, groups: Any = 16, bind: Any = BOTH, declared: str = TWO, size: str = "local_size_x = 64", **more: Any
) -> Any:
    numbers = "uint i = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;"
    kernel = f"#version 450\nlayout({size}) in; {declared}\nvoid main() {{ {numbers} {body} }}"
    pipeline, buffer = dev.compute_pipeline(kernel, constants=more.pop("constants", None)), dev.buffer(np.arange(1024, dtype=np.float32))
    given = bind(buffer)
    sets = {0: dev.descriptor_set(pipeline, bind=given)} if more.pop("as_set", False) else None
    dev.dispatch(pipeline, groups, bind=None if sets else given, sets=sets, **more)
    return buffer


#: Neighbours of a buffer that is changed in place, and others'.
RACES: list[tuple[str, dict[str, Any]]] = [
    ("b[i] = a[(i + 1) % 1024] + a[(i + 1023) % 1024];", {}),
    ("b[i] = a[i + 1];", {}),
    ("b[i] = a[i + 1];", {"as_set": True}),
    ("b[i] = a[max(int(i) - 1, 0)];", {}),
    ("b[i] = a[1023 - i];", {}),
    ("b[i + 1] = a[i];", {"base": 3}),
    ("b[i] = a[i + 500];", {"groups": 8}),
    ("b[i] = a[i ^ 1u];", {"groups": 1}),
    ("b[i] = a[(i & ~63u) + (63 - gl_LocalInvocationIndex)];", {}),
    ("b[i] = a[gl_WorkGroupID.x * 64 + ((gl_LocalInvocationID.x + 1) & 63)];", {}),
    ("b[i] = a[i + 1];", {"declared": VECTORS, "groups": 4}),
    ("b[i].x = a[(i + 1) & 255].x;", {"declared": VECTORS, "groups": 4}),
    ("b[i + 32 * y] = a[i + 32 * ((y + 1) % 32)];", {"size": "local_size_x = 8, local_size_y = 8", "groups": (4, 4)}),
    ("b[i] = a[i + K];", {"declared": TWO + "layout(constant_id = 3) const uint K = 0;", "constants": {"K": 1}}),
    ("b[i] = a[i];", {"bind": lambda x: {"A": x.slice(1024), "B": x.slice(0, 2048)}, "groups": 8}),
    ("float x = a[i ^ 64u]; barrier(); b[i] = x;", {}),  # which waits for the workgroup alone
]


@pytest.mark.parametrize("number", range(len(RACES)))
def test_what_is_a_race(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    """Other numbers for each count of lanes and threads, and nothing said so."""
    body, more = RACES[number]
    said = r"invocation \(\d+, \d+, 0\) reads as 'A' .* what invocation \(\d+, \d+, 0\) stores as 'B' .*, in buffer 'buffer', and"
    with pytest.warns(tg.UndefinedContentsWarning, match=said):
        run(devs[0], body, **dict(more))
    with pytest.raises(tg.UndefinedContentsError, match=said):
        run(devs[1], body, **dict(more))


#: In place, apart, or not known.
RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("b[i] = 2 * a[i];", {}),
    ("b[i] = 2 * a[i];", {"as_set": True}),
    ("b[1023 - i] = a[1023 - i];", {}),
    ("b[i] = a[i];", {"declared": VECTORS, "groups": 4}),
    ("b[i + 32 * y] += a[i + 32 * y];", {"size": "local_size_x = 8, local_size_y = 8", "groups": (4, 4)}),
    ("b[i] = a[i + 512];", {"groups": 8}),  # halves
    ("b[2 * i] = a[2 * i + 1];", {"groups": 8}),
    ("b[i] = a[i + 1024];", {}),  # beyond the end: zeros
    ("b[i] = a[i + 1];", {"groups": 0}),
    ("b[i] = a[i + 1];", {"groups": 1, "size": "local_size_x = 1"}),
    ("b[i] = a[i + 1];", {"bind": lambda x: {"A": x.slice(2048), "B": x.slice(0, 2048)}, "groups": 8}),
    ("b[i] = a[i + 1];", {"bind": lambda x: {"A": np.ones(1024, np.float32), "B": x}}),
    ("if ((i & 1u) == 0) b[i] = a[i + 1];", {}),  # red and black
    ("if (i >= 1000) return; b[i] = a[i + 1];", {}),
    ("b[i] = a[i + K];", {"declared": TWO + "layout(constant_id = 3) const uint K = 0;"}),
    ("b[i] = a[i + k];", {"declared": TWO + "layout(push_constant) uniform P { uint k; };", "push": {"k": 512}, "groups": 8}),
    ("b[i] = a[uint(a[i])];", {}),
    ("float x = a[i ^ 1u]; barrier(); b[i] = x;", {}),  # within the workgroup
    ("b[i] = b[i + 1];", {"declared": "layout(binding = 1) buffer B { float b[]; };", "bind": lambda x: {"B": x}}),  # one binding
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_what_is_none_or_may_be_none(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    body, more = RIGHT[number]
    run(devs[1], body, **dict(more))


def test_in_place_has_one_result() -> None:
    results = [run(tg.Device(threads=1, lanes=lanes, strict=True), "b[i] = 2 * a[i];").numpy().copy() for lanes in (4, 8, 16)]
    assert all(np.array_equal(one, 2 * np.arange(1024, dtype=np.float32)) for one in results)
