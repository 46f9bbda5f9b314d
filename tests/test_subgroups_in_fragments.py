"""Subgroups of fragments: the quads of a primitive. Against NumPy, from coverage alone; the same for lanes, profiles, techniques."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

WIDTH, HEIGHT = 26, 18
HEAD = """#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_clustered : require
layout(location = 0) flat in uint id; layout(location = 0) out uvec4 o;
layout(binding = 0) buffer Count { uint elected, covered; };
"""
VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 0) flat out uint id;
void main() { id = gl_VertexIndex / 3; gl_Position = vec4(position, 1); }"""
PLAIN = "void main() { o = uvec4(id + 1); }"
ASKING = """void main() {
  uint v = uint(gl_FragCoord.x) + 32u * uint(gl_FragCoord.y) + id * 1000u, place = gl_SubgroupInvocationID;
  uint votes = uint(subgroupElect()) | uint(subgroupAny(v % 3u == 0u)) << 1 | uint(subgroupAll(v % 2u == 0u)) << 2
    | uint(subgroupAllEqual(v / 4u)) << 3 | place << 4 | gl_SubgroupSize << 8;
  if (v % 5u == 1u) votes |= subgroupBallot(v % 2u == 0u).x << 16;
  o = uvec4(subgroupBallot(true).x, subgroupAdd(v), votes, subgroupExclusiveAdd(v) ^ subgroupBroadcastFirst(v) << 12
    ^ subgroupShuffleXor(v, 1u) << 20 ^ subgroupQuadSwapVertical(v) << 3);
}"""


def triangles(seed: int, count: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1.2, 1.2, (count, 3, 3))
    corners[:, :, 2] = rng.uniform(0.1, 0.9, (count, 1))
    return corners.reshape(-1, 3).astype(np.float32)


def expected(covered: np.ndarray[Any, Any], number: int) -> np.ndarray[Any, Any]:
    """Of one primitive that covers these pixels: what ASKING gives for each of them."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    v = (x + 32 * y + number * 1000).astype(np.uint64)

    def quads(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return a.reshape(HEIGHT // 2, 2, WIDTH // 2, 2).transpose(0, 2, 1, 3).reshape(-1, 4)

    def image(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return a.reshape(HEIGHT // 2, WIDTH // 2, 2, 2).transpose(0, 2, 1, 3).reshape(HEIGHT, WIDTH)

    on, value, place = quads(covered), quads(v), np.arange(4)
    first = on.argmax(1)[:, None]
    value_first = np.take_along_axis(value, first, 1)
    ballot = (on << place).sum(1)[:, None]
    some = on & (value % 5 == 1)
    votes = (
        (place == first)
        | (on & (value % 3 == 0)).any(1)[:, None] << 1
        | (~on | (value % 2 == 0)).all(1)[:, None] << 2
        | (~on | (value // 4 == value_first // 4)).all(1)[:, None] << 3
        | place << 4
        | 4 << 8
    )
    votes = votes | np.where(some, ((some & (value % 2 == 0)) << place).sum(1)[:, None] << 16, 0)
    zeroed = np.where(on, value, 0)
    before = zeroed.cumsum(1) - zeroed
    mixed = before ^ value_first << np.uint64(12) ^ value[:, [1, 0, 3, 2]] << np.uint64(20) ^ value[:, [2, 3, 0, 1]] << np.uint64(3)
    columns = [np.broadcast_to(ballot, on.shape), np.broadcast_to(zeroed.sum(1)[:, None], on.shape), votes, mixed]
    return np.stack([image(c.astype(np.uint64)) for c in columns], 2).astype(np.uint32)


def draw(dev: tg.Device, fragment: str, corners: np.ndarray[Any, Any], depth: bool, **more: Any) -> tuple[Any, Any]:
    pipe = dev.pipeline(
        VERTEX,
        HEAD + fragment,
        vertex=np.dtype([("position", "f4", 3)]),
        color="r32g32b32a32_uint",
        depth="d32_sfloat" if depth else None,
        **({"depth_test": True, "depth_write": True, "depth_compare": "less"} if depth else {}),
    )
    target = dev.image((WIDTH, HEIGHT), "r32g32b32a32_uint")
    count = dev.buffer(np.zeros(2, np.uint32))
    z = tg.Attachment(dev.image((WIDTH, HEIGHT), "d32_sfloat"), clear=1.0) if depth else None
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))], depth=z, **more) as rp:
        bind = {"Count": count} if "elected" in fragment else {}
        rp.draw(pipe, corners.view(np.dtype([("position", "f4", 3)])).ravel(), bind=bind)
    return target.numpy(), count.numpy(np.uint32)


@pytest.mark.parametrize("lanes, threads", [(4, 1), (8, 2), (16, 2)])
def test_quads_of_one_primitive(lanes: int, threads: int) -> None:
    dev = tg.Device(lanes=lanes, threads=threads, cache_dir="off")
    for seed in range(6):
        corners = triangles(seed, 1)
        covered = draw(dev, PLAIN, corners, False)[0][:, :, 0] > 0
        got = draw(dev, ASKING, corners, False)[0]
        np.testing.assert_array_equal(got, np.where(covered[:, :, None], expected(covered, 0), 0), f"seed {seed}")


@pytest.mark.parametrize("early", [False, True])
def test_what_is_hidden_takes_part(early: bool) -> None:
    """Whether a fragment is hidden by others changes nothing for its quad, whichever techniques there are; unless tests are to be early."""
    corners = triangles(11, 12)
    results = []
    for lanes, profile, hsr in itertools.product((4, 16), (None, "immortalis-g925", "adreno-a740"), (None, [])):
        more = {} if profile is None else {"profile": profile}
        dev = tg.Device(lanes=lanes, threads=2, cache_dir="off", **more)
        text = ("layout(early_fragment_tests) in;\n" if early else "") + ASKING
        results.append(draw(dev, text, corners, True, **({} if hsr is None else {"hsr": hsr}))[0])
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    dev = tg.Device(lanes=8, threads=2, cache_dir="off")
    front = draw(dev, PLAIN, corners, True)[0][:, :, 0]
    want = np.zeros((HEIGHT, WIDTH, 4), np.uint32)
    for number in range(12):
        alone = corners.copy()
        alone[: 3 * number] = alone[3 * number + 3 :] = 0
        covered = draw(dev, PLAIN, alone, False)[0][:, :, 0] > 0
        want = np.where((front == number + 1)[:, :, None], expected(covered, number), want)
    assert np.array_equal(results[0], want) is not early


def test_elected_invocations_write() -> None:
    """One of each quad that covers something; helpers are never elected."""
    counting = """void main() {
  uint n = subgroupAdd(1u);
  if (subgroupElect()) { atomicAdd(elected, 1u); atomicAdd(covered, n); }
  o = uvec4(id + 1);
}"""
    for lanes in (4, 8, 16):
        dev = tg.Device(lanes=lanes, threads=2, cache_dir="off")
        corners = triangles(5, 1)
        target, count = draw(dev, counting, corners, False)
        on = target[:, :, 0] > 0
        quads = on.reshape(HEIGHT // 2, 2, WIDTH // 2, 2).any((1, 3))
        assert list(count) == [quads.sum(), on.sum()]


def test_explained() -> None:
    dev = tg.Device(lanes=8, threads=2, cache_dir="off")
    pipe = dev.pipeline(VERTEX, HEAD + ASKING, vertex=np.dtype([("position", "f4", 3)]), color="r32g32b32a32_uint")
    target = dev.image((WIDTH, HEIGHT), "r32g32b32a32_uint")
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, triangles(3, 2).view(np.dtype([("position", "f4", 3)])).ravel())
    assert "which invocations of a subgroup run" in str(rp.explain())
