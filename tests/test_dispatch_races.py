"""Buffers and shared variables of which invocations read what others store: told where it is a race for certain, and nowhere else."""

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
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_what_is_none_or_may_be_none(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    body, more = RIGHT[number]
    run(devs[1], body, **dict(more))


ONE: dict[str, Any] = {"declared": "layout(binding = 1) buffer B { float b[]; };", "bind": lambda x: {"B": x}}
ONE_OF_VECTORS = ONE | {"declared": "layout(binding = 1) buffer B { vec4 b[]; };", "groups": 4}
PARTICLES = ONE | {"declared": "struct P { vec3 at; float age; mat2 m; }; layout(binding = 1) buffer B { P p[]; };", "groups": 1}
BY_ROWS = ONE | {"declared": "struct P { mat4x2 m; vec2 e; }; layout(binding = 1, row_major) buffer B { P p[]; };", "groups": 1}
HEADER = ONE | {"declared": "layout(binding = 1) buffer B { uint n; uint k; float b[]; }; layout(push_constant) uniform U { uint u; };"}
PUSHED: dict[str, Any] = {"push": {"u": 3}}

#: In place, through one binding: what people write.
RACES_OF_ONE: list[tuple[str, dict[str, Any]]] = [
    ("float t = b[(i + 1023) % 1024]; b[i] = t;", ONE),
    ("b[i] = b[i + 1];", ONE),
    ("b[i] = b[i + 1];", ONE | {"as_set": True}),
    ("b[i + 1] += b[i];", ONE),
    ("b[i] = b[63 - i];", ONE | {"groups": 1}),  # a reversal
    ("b[i / 2] += 1;", ONE),  # two that count in one word
    ("b[i] = 0.25 * (b[i - 1] + b[i + 1] + b[i - 32] + b[i + 32]);", ONE),
    ("b[i + 32 * y] = b[i + 32 * ((y + 1) % 32)];", ONE | {"size": "local_size_x = 8, local_size_y = 8", "groups": (4, 4)}),
    ("b[i] = b[i + 1];", ONE | {"bind": lambda x: {"B": x.slice(1024)}, "groups": 8}),
    ("b[i].x = b[i + 1].x;", ONE_OF_VECTORS),
    ("b[i] = b[i + 1].yxzw;", ONE_OF_VECTORS),
    ("P one = p[i + 1]; p[i] = one;", PARTICLES),
    ("p[i].at = p[i + 1].at;", PARTICLES),
    ("mat2 m = p[i + 1].m; p[i].m = m;", PARTICLES),
    ("float x = b[i ^ 64u]; barrier(); b[i] = x;", ONE),
    ("b[0] = float(i); b[i + 1] = b[0];", ONE),  # each its own number
    ("b[i] = float(n); n = u;", HEADER | PUSHED),  # of before, or of this dispatch
]


@pytest.mark.parametrize("number", range(len(RACES_OF_ONE)))
def test_what_is_a_race_of_one_binding(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    """x[i] = x[i + 1] had other numbers for each count of lanes, and not a word was said, as it is of two bindings."""
    body, more = RACES_OF_ONE[number]
    said = r"invocation \(\d+, \d+, 0\) reads of 'B' .* what invocation \(\d+, \d+, 0\) stores there, in buffer 'buffer', and nothing"
    with pytest.warns(tg.UndefinedContentsWarning, match=said):
        run(devs[0], body, **dict(more))
    with pytest.raises(tg.UndefinedContentsError, match=said):
        run(devs[1], body, **dict(more))


RIGHT_OF_ONE: list[tuple[str, dict[str, Any]]] = [
    ("b[i] = 2 * b[i];", ONE),
    ("b[i] = 2 * b[i];", ONE | {"as_set": True}),
    ("b[i] = b[i] + b[i + 1024];", ONE),  # beyond the end: zeros
    ("b[i] = b[i + 512];", ONE | {"groups": 8}),
    ("b[2 * i] = b[2 * i + 1];", ONE | {"groups": 8}),
    ("float a = b[2 * i], c = b[2 * i + 1]; b[2 * i] = c; b[2 * i + 1] = a;", ONE | {"groups": 8}),  # pairs
    ("b[i] = b[i + 1];", ONE | {"bind": lambda x: {"B": x.slice(0, 4)}, "groups": 1}),
    ("b[i].x = b[i + 1].y;", ONE_OF_VECTORS),
    ("P one = p[i]; one.age += 1; p[i] = one;", PARTICLES),
    ("p[i].at = vec3(p[i + 1].age);", PARTICLES),
    ("mat4x2 m = p[i].m; m[0] *= 2; p[i].m = m;", BY_ROWS),  # whose rows are apart, not its columns
    ("if ((i & 1u) == 0) b[i] = b[i + 1];", ONE),
    ("b[i] = b[uint(b[i])];", ONE),
    ("float x = b[i ^ 1u]; barrier(); b[i] = x;", ONE),
    ("atomicAdd(n, 1u); b[i] = 1;", HEADER | PUSHED),
    ("n = u; b[i + 2] = float(n);", HEADER | PUSHED),  # all of them the same
    ("n = 3; k = gl_NumWorkGroups.x * n; b[i] = float(n + k);", HEADER | PUSHED),
]


@pytest.mark.parametrize("number", range(len(RIGHT_OF_ONE)))
def test_what_is_none_of_one_binding(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    body, more = RIGHT_OF_ONE[number]
    run(devs[1], body, **dict(more))


# ------------------------------------------------------------------------------------------------------- shared memory


def shared(body: str, variable: str = "float s[64]", **more: Any) -> tuple[str, dict[str, Any]]:
    return f"uint l = gl_LocalInvocationIndex; {body}", ONE | {"declared": f"{ONE['declared']} shared {variable};"} | more


VECTORS_SHARED = "vec4 s[64]"
SQUARE = {"size": "local_size_x = 8, local_size_y = 8", "groups": (2, 2)}
RACES_OF_SHARED: list[tuple[str, dict[str, Any]]] = [
    shared("s[l] = float(l); b[i] = s[l ^ 8u];"),
    shared("s[l] = float(l); memoryBarrierShared(); b[i] = s[63 - l];"),  # which waits for nobody
    shared("s[l] = float(l); b[i] = s[l + 1];", groups=1),
    shared("s[l] = float(l); b[i] = s[l + 64];", groups=1),  # the last one
    shared("float t = s[l ^ 8u]; s[l] = t; b[i] = 1;"),
    shared("s[l] = 1.0; barrier(); b[i] = s[63 - l]; s[l] = b[i];"),  # written again too early
    shared("s[l] = 1.0; barrier(); s[l] += s[l ^ 32u]; b[i] = 1;"),
    shared("s[l].x = 1.0; b[i] = s[l ^ 8u].x;", VECTORS_SHARED),
    shared("s[l] = vec4(l); b[i] = s[l ^ 8u].y;", VECTORS_SHARED),
    shared("s[l].b = 1.0; b[i] = s[l ^ 8u].b;", "struct { mat3 a; float b; float c[2]; } s[64]"),
    shared("s[gl_LocalInvocationID.y][gl_LocalInvocationID.x] = 1.0; b[i] = s[gl_LocalInvocationID.x][gl_LocalInvocationID.y];",
           "float s[8][8]", **SQUARE),
    shared("s = float(l); b[i] = s;", "float s"),
    shared("b[i] = s[gl_WorkGroupID.x & 1u]; s[l] = 2.0;"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RACES_OF_SHARED)))
def test_a_barrier_that_is_missing(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    body, more = RACES_OF_SHARED[number]
    said = r"invocation \(\d+, \d+, 0\) reads in the shared 's' what invocation \(\d+, \d+, 0\) of its workgroup stores there, and no bar"
    with pytest.warns(tg.UndefinedContentsWarning, match=said):
        run(devs[0], body, **dict(more))
    with pytest.raises(tg.UndefinedContentsError, match=said):
        run(devs[1], body, **dict(more))


RIGHT_OF_SHARED: list[tuple[str, dict[str, Any]]] = [
    shared("s[l] = float(l); barrier(); b[i] = s[l ^ 8u];"),
    shared("s[l] = float(l); barrier(); float t = s[l ^ 8u]; barrier(); s[l] = t; b[i] = s[l];"),
    shared("s[l] = float(l); s[l] *= 2; b[i] = s[l];"),  # each its own
    shared("s[l].x = 1.0; b[i] = s[l ^ 8u].y;", VECTORS_SHARED),
    shared("s[l].a[0] = vec3(1); b[i] = s[l ^ 8u].b + s[l ^ 8u].c[1];", "struct { mat3 a; float b; float c[2]; } s[64]"),
    shared("s[l] = float(l); if (l < 32) s[l] += s[l + 32]; b[i] = 1;"),  # of conditions nothing is said
    shared("s[l] = float(l); wait(); b[i] = s[l ^ 8u];", "float s[64]; void wait() { barrier(); } float more"),
    shared("s = 3.0; b[i] = s;", "float s"),  # all of them the same
    shared("s = float(gl_WorkGroupID.x); b[i] = s;", "float s"),
    shared("s = 0; barrier(); atomicAdd(s, l); barrier(); b[i] = float(s);", "uint s"),
    shared("s[l] = float(l); b[i] = s[l ^ 8u];", size="local_size_x = 1", groups=64),
    shared("s[l] = float(l); b[i] = s[l ^ 8u];", groups=0),
    shared("s[l] = float(l); b[i] = s[uint(b[i]) & 63];"),
]


@pytest.mark.parametrize("number", range(len(RIGHT_OF_SHARED)))
def test_no_barrier_is_missing(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    body, more = RIGHT_OF_SHARED[number]
    run(devs[1], body, **dict(more))


def test_what_is_known_of_a_pipeline_is_of_each_dispatch(devs: tuple[tg.Device, tg.Device]) -> None:
    """Answers are kept; the message names the buffer of this dispatch, and another size or place is asked anew."""
    body = "void main() { uint i = gl_GlobalInvocationID.x; b[i] = b[i + 64]; }"
    pipeline = devs[1].compute_pipeline(f"#version 450\nlayout(local_size_x = 64) in; {ONE['declared']} {body}")
    for name in ("first", "second", "first"):
        buffer = devs[1].buffer(np.zeros(1024, np.float32), label=name)
        devs[1].dispatch(pipeline, 1, bind={"B": buffer})
        devs[1].dispatch(pipeline, 2, bind={"B": buffer.slice(0, 256)})
        with pytest.raises(tg.UndefinedContentsError, match=f"in buffer '{name}'"):
            devs[1].dispatch(pipeline, 2, bind={"B": buffer})
    for base in range(200):  # more than are kept
        devs[1].dispatch(pipeline, 1, base=base, bind={"B": buffer})
    with pytest.raises(tg.UndefinedContentsError, match="in buffer 'first'"):
        devs[1].dispatch(pipeline, 2, bind={"B": buffer})


def test_in_place_has_one_result() -> None:
    results = [run(tg.Device(threads=1, lanes=lanes, strict=True), "b[i] = 2 * a[i];").numpy().copy() for lanes in (4, 8, 16)]
    assert all(np.array_equal(one, 2 * np.arange(1024, dtype=np.float32)) for one in results)
