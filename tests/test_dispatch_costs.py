"""Dispatches in the cost model: operations and bytes on paper, caches, workgroups that fill no warp; in frames and in what-if."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.cost_constants import CONSTANTS, Figure
from tilegpu.dispatch_costs import BoundCounts, DispatchCounts, costs_of_dispatch
from tilegpu.operations import Operations
from tilegpu.shader_memory import Access, accesses

HEAD = """#version 450
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer A { vec4 a[]; };
layout(std430, set = 0, binding = 1) buffer B { vec4 b[]; };
layout(std430, set = 0, binding = 2) buffer C { uint n; };
layout(set = 0, binding = 3, rgba8) uniform readonly image2D i;
layout(set = 0, binding = 4, rgba8) uniform writeonly image2D w;
layout(set = 0, binding = 5) uniform sampler2D t;
layout(set = 0, binding = 6) uniform U { mat4 m; float k[4]; };
layout(set = 0, binding = 7) uniform D { bvec2 d; };
layout(push_constant) uniform P { float p; };
shared float s[64];
vec4 twice(uint at) { return a[at] * 2.0; }
vec4 look(sampler2D s, vec2 at) { return textureLod(s, at, 0.0); }
vec4 look_again(sampler2D s) { return look(s, vec2(0)) + look(s, vec2(1)); }
void keep(writeonly image2D to, vec4 what) { imageStore(to, ivec2(0), what); }
"""
A, B, C, READ, W, T, U, D = ((0, k) for k in range(8))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("b[0] = vec4(p);", {B: Access(write_B=16)}),
        ("b[gl_GlobalInvocationID.x] = a[gl_GlobalInvocationID.x] + b[3];", {A: Access(read_B=16), B: Access(16, 16)}),
        ("b[0].y = a[1].x;", {A: Access(read_B=4), B: Access(write_B=4)}),
        ("for (int j = 0; j < 5; j++) b[0] += a[j];", {A: Access(read_B=80), B: Access(80, 80)}),
        ("b[0] = twice(1u) + twice(2u);", {A: Access(read_B=32), B: Access(write_B=16)}),
        ("atomicAdd(n, 1u);", {C: Access(4, 4)}),
        ("s[0] = p; barrier(); b[0].x = s[1];", {B: Access(write_B=4)}),
        ("b[0] = m * vec4(k[1]);", {U: Access(read_B=64 + 4), B: Access(write_B=16)}),
        ("imageStore(w, ivec2(0), imageLoad(i, ivec2(1)));", {READ: Access(texels_read=1), W: Access(texels_written=1)}),
        ("b[0] = look_again(t);", {T: Access(texels_read=2), B: Access(write_B=16)}),
        ("keep(w, look(t, vec2(0)));", {T: Access(texels_read=1), W: Access(texels_written=1)}),
        ("b[0] = vec4(all(bvec2(p > 0.0, d.x)) ? 1.0 : 0.0);", {D: Access(read_B=4), B: Access(write_B=16)}),
        ("b[0] = texelFetch(t, ivec2(0), 0) + textureLod(t, vec2(0), 0.0);", {T: Access(texels_read=2), B: Access(write_B=16)}),
    ],
)
def test_what_an_invocation_moves(body: str, expected: dict[Any, Access]) -> None:
    found = accesses(tg.compile_glsl(HEAD + "void main() { " + body + " }", "compute"))
    assert {where: one for where, one in found.items() if one != Access()} == expected


def test_no_spirv() -> None:
    with pytest.raises(ValueError, match="no SPIR-V"):
        accesses(b"\0" * 40)


ADD = """#version 450
layout(local_size_x_id = 0) in;
layout(std430, set = 0, binding = 0) readonly buffer A { vec4 a[]; };
layout(std430, set = 0, binding = 1) buffer B { vec4 b[]; };
void main() { uint i = gl_GlobalInvocationID.x; b[i] = a[i] * 0.5 + a[0]; }"""


def frame_of(device: tg.Device, groups: int = 16, size: int = 64) -> tg.Frame:
    pipeline = device.compute_pipeline(ADD, constants={0: size}, label="add")
    a, b = (device.buffer(np.ones((groups * size, 4), np.float32)) for _ in range(2))
    with device.frame("f") as frame:
        device.dispatch(pipeline, groups, bind={"A": a, "B": b})
    return frame


def test_a_dispatch_is_counted_on_paper() -> None:
    """1024 invocations: 2 x 4 operations each; 16 bytes twice and 16 bytes once, of buffers of 16 KiB that the second cache holds."""
    found = frame_of(tg.Device(profile="mali-g57")).what_if()
    row = next(row for row in found.profiles if row["profile"] == "mali-g57")
    (costs,) = row["dispatches"]
    assert costs["label"] == "add" and costs["exact"]
    assert costs["arithmetic"] == {"compute": 1024 * 8} and costs["texture"] == {}
    assert costs["read_B"] == {"buffers": 16384} and costs["write_B"] == {"buffers": 16384}
    k = CONSTANTS["mali-g57"]
    assert costs["units"] == {
        "arithmetic": 1024 * 8 / (k.operations.value * k.cores.value), "texture": 0, "bus": 32768 / k.bus_B.value,
    }  # fmt: skip
    assert row["arithmetic"] == 1024 * 8 and row["read_B"] == row["write_B"] == 16384 and row["cycles"] == costs["cycles"]
    assert found.left_out == []


def test_small_workgroups_fill_no_warp() -> None:
    """Workgroups of 8: half of a warp of 16 idles, and seven eighths of 64 fibers; operations and bytes are the same."""
    rows = {}
    for size in (8, 64):
        found = frame_of(tg.Device(profile="host"), 1024 // size, size).what_if()
        rows[size] = {row["profile"]: row["dispatches"][0] for row in found.profiles}
    for profile, idle in (("mali-g610", 2), ("adreno-a650", 8), ("desktop-immediate", 4)):
        few, many = rows[8][profile], rows[64][profile]
        assert few["units"]["arithmetic"] == idle * many["units"]["arithmetic"]
        assert few["arithmetic"] == many["arithmetic"] and few["read_B"] == many["read_B"]


def counts(size_B: int, moved_B: float) -> DispatchCounts:
    return DispatchCounts("d", 4, 64, Operations(3, 1), (BoundCounts(size_B, moved_B, 0, False), BoundCounts(64, 0, 64, True)), False)


def test_what_the_second_cache_does_not_hold_is_fetched_again() -> None:
    k = CONSTANTS["mali-g57"]
    held = dataclasses.replace(k, l2_B=Figure(4096, "caches"))
    assert costs_of_dispatch(counts(4096, 40960), "mali-g57", held).read_B == {"buffers": 4096}
    half = dataclasses.replace(k, l2_B=Figure(2048, "caches"))
    costs = costs_of_dispatch(counts(4096, 40960), "mali-g57", half)
    assert costs.read_B == {"buffers": 4096 + 36864 / 2} and costs.write_B == {"images": 64}
    assert costs_of_dispatch(counts(0, 40960), "mali-g57", half).read_B == {"buffers": 40960}, "by address: nobody knows what is the same"
    assert costs_of_dispatch(counts(1 << 30, 512), "mali-g57").read_B == {"buffers": 512}, "no more than is moved"


@pytest.mark.parametrize("profile", CONSTANTS)
def test_faster_hardware_is_not_slower(profile: str) -> None:
    cycles = costs_of_dispatch(counts(1 << 24, 1 << 26), profile).cycles
    for name in ("cores", "operations", "texels", "bus_B", "l2_B"):
        figure = getattr(CONSTANTS[profile], name)
        faster = dataclasses.replace(CONSTANTS[profile], **{name: figure._replace(value=figure.value * 2)})
        assert costs_of_dispatch(counts(1 << 24, 1 << 26), profile, faster).cycles <= cycles


def test_counts_do_not_know_lanes_and_threads() -> None:
    found = []
    for options in ({"lanes": 4, "threads": 1}, {"lanes": 16, "threads": 2}):
        result = frame_of(tg.Device(profile="adreno-a740", **options)).what_if()
        found.append([row["dispatches"] for row in result.profiles])
    assert found[0] == found[1]


def test_what_if_has_dispatches_of_a_capture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "f.tgcap"
    frame_of(tg.Device()).capture(path)
    assert main(["what-if", str(path), "--profile", "mali-g610", "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    (row,) = found["profiles"]
    assert row["dispatches"] and all(one["cycles"] > 0 for one in row["dispatches"])
    assert row["cycles"] == sum(one["cycles"] for one in row["dispatches"])
