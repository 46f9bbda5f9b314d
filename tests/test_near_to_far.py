"""Large triangles of a bin are drawn near ones first, whatever the order of the draws (cpp/src/tile/near_to_far.hpp): no bit depends on
it, equal depths included, and what is hidden is rejected the same in every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilegpu as tg

SIZE = (100, 70)  # no multiple of a bin
VERTEX = np.dtype([("position", "f4", 3), ("color", "f4", 3)])
VERT = """#version 450
layout(location = 0) in vec3 position;  layout(location = 1) in vec3 color;
layout(location = 0) out vec3 v_color;
void main() { gl_Position = vec4(position, 1); v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec3 v_color;   layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 0.5); }"""
DISCARD = FRAG.replace("{ o", "{ if ((int(gl_FragCoord.x) & 3) == 0) discard; o")
# Draws that may change places, and draws that stay in theirs.
FREE: list[dict[str, Any]] = [{"depth_compare": "less"}, {"depth_compare": "less_or_equal"}]
FIXED: list[dict[str, Any]] = [
    {"depth_compare": "less", "blend": "alpha", "depth_write": False},
    {"depth_compare": "less", "blend": "alpha"},
    {"depth_compare": "greater"},
    {"depth_compare": "equal"},
    {"depth_compare": "less", "shader": DISCARD},
    {"depth_compare": "less", "sample_mask": 0},
    {"depth_test": False},
]


def layers(depths: list[float]) -> np.ndarray:
    """A triangle over the whole picture for each depth, its number as colour."""
    out = np.zeros((len(depths), 3), VERTEX)
    out["position"][..., :2] = [(-1, -1), (3, -1), (-1, 3)]
    out["position"][..., 2] = np.array(depths)[:, None]
    out["color"] = (np.arange(len(depths))[:, None, None] + 1) / 255
    return out.reshape(-1)


def large(rng: np.random.Generator, count: int) -> np.ndarray:
    """Triangles as large as the picture, many in the same few planes: level, sloped, and some the same as another."""
    out = np.zeros((count, 3), VERTEX)
    xy = rng.uniform(-1.2, 1.2, (count, 1, 2)) + rng.normal(0, 1, (count, 3, 2))
    xy[rng.random(count) < 0.25] = [(-1, -1), (3, -1), (-1, 3)]
    planes = np.concatenate([np.zeros((4, 2)), rng.integers(-2, 3, (4, 2)) / 16], 0)
    which = rng.integers(0, len(planes), count)
    level = rng.integers(1, 5, count) / 8
    out["position"][..., :2] = xy
    out["position"][..., 2] = (xy * planes[which][:, None]).sum(2) + level[:, None]
    out["color"] = rng.random((count, 1, 3))
    same = np.flatnonzero(rng.random(count) < 0.2)
    out["position"][same] = out["position"][rng.integers(0, count, same.size)]
    return out.reshape(-1)


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    """In API order (twice), and in any."""
    return [
        tg.Device(lanes=8, threads=1, compress_samples=False),
        tg.Device(lanes=8, threads=1, hsr="off"),
        tg.Device(lanes=8, threads=2),
        tg.Device(lanes=16, threads=1, bin_px=32),
        tg.Device(lanes=4, threads=2, bin_px=128),
    ]


def draw_pass(device: tg.Device, seed: int) -> list[bytes]:
    rng = np.random.default_rng(seed)
    depth_format = ["d32_sfloat", "d16_unorm", "x8_d24_unorm_pack32"][int(rng.integers(3))]
    color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, depth_format)
    free = float(rng.choice([0.6, 1.0]))
    many = 0.15 if rng.random() < 0.5 else 0.0

    def pipeline() -> tg.Pipeline:
        state = dict(FREE[int(rng.integers(2))] if rng.random() < free else FIXED[int(rng.integers(len(FIXED)))])
        shader = state.pop("shader", FRAG)
        return device.pipeline(VERT, shader, vertex=VERTEX, color=["r8g8b8a8_unorm"], depth=depth_format, **state)

    clear = float(rng.choice([1.0, 0.375]))
    for load in (False, True):  # the second pass finds depths that are those of its planes
        op: dict[str, Any] = {"load_op": "load"} if load else {"load_op": "clear", "clear": clear}
        first: dict[str, Any] = {"load_op": "load"} if load else {"load_op": "clear", "clear": (0, 0, 0, 1)}
        with device.render_pass(
            color=[tg.Attachment(color, **first)], depth=tg.Attachment(depth, **op, store_op="store")
        ) as rp:
            scissored = False
            for _ in range(int(rng.integers(1, 7))):
                count = int(rng.integers(200, 600)) if rng.random() < many else int(rng.integers(1, 12))
                rp.draw(pipeline(), large(rng, count), scissor=(9, 3, 50, 44) if scissored else None)
                kind = rng.random()
                if kind < 0.1:
                    rp.clear(depth=0.5, rect=(7, 5, 60, 40))
                elif kind < 0.2:
                    scissored = not scissored
                elif kind < 0.3:
                    with rp.query():
                        rp.draw(pipeline(), large(rng, 3))
    return [image.numpy().tobytes() for image in (color, depth)]


@given(st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_no_bit_depends_on_the_order(devices: list[tg.Device], seed: int) -> None:
    expected = draw_pass(devices[0], seed)
    for device in devices[1:]:
        assert draw_pass(device, seed) == expected, seed


@pytest.mark.parametrize("compare", ["less", "less_or_equal"])
@pytest.mark.parametrize("depth_format", ["d32_sfloat", "d16_unorm"])
def test_equal_depths_keep_api_order(devices: list[tg.Device], compare: str, depth_format: str) -> None:
    """Golden: of layers at the same depth the first wins with LESS, the last with LESS_OR_EQUAL, wherever nearer or farther ones come."""
    depths = [0.75, 0.5, 0.875, 0.5, 0.25, 0.625, 0.25, 0.5, 0.25, 0.75]
    winner = 5 if compare == "less" else 9  # by number from 1
    for device in devices:
        color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, depth_format)
        pipe = device.pipeline(
            VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth_format, depth_compare=compare
        )
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0)
        ) as rp:
            rp.draw(pipe, layers(depths))
        assert np.unique(color.numpy()[..., 0]).tolist() == [winner]


def test_depth_that_a_blended_draw_wrote_is_found_again(devices: list[tg.Device]) -> None:
    """A blended draw that writes depth keeps no nearer bound of a block. Its first triangle covers a part of some blocks, its second one,
    steep and nearer, all of them; the opaque layer behind lies between the bound after the first and the depths of the second."""
    corners_px = [[(-20, -20, 0.8), (64, -20, 0.8), (-20, 64, 0.8)], [(18, -40, 0.05), (18, 110, 0.05), (32, 35, 0.95)]]
    triangles = np.zeros((2, 3), VERTEX)
    triangles["position"] = corners_px
    triangles["position"][..., :2] = triangles["position"][..., :2] / SIZE * 2 - 1
    triangles["color"] = np.array([0.2, 0.7])[:, None, None]

    def picture(device: tg.Device) -> list[bytes]:
        color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, "d32_sfloat")
        blended, opaque = (
            device.pipeline(VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth.format, **state)
            for state in ({"blend": "alpha"}, {})
        )
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))],
            depth=tg.Attachment(depth, clear=1.0, store_op="store"),
        ) as rp:
            rp.draw(blended, triangles.reshape(-1))
            rp.draw(opaque, layers([0.3]))
        return [image.numpy().tobytes() for image in (color, depth)]

    expected = picture(tg.Device(hsr="off"))
    for device in devices:
        assert picture(device) == expected


def test_hidden_layers_are_rejected_alike(devices: list[tg.Device]) -> None:
    """Ten layers in any order, in one draw or one each: nine are rejected by blocks before a depth is read; one is shaded."""
    pixels = SIZE[0] * SIZE[1]
    depths = list(np.arange(1, 11) / 16)
    device = devices[2]
    for order in (depths, depths[::-1], list(np.random.default_rng(1).permutation(depths))):
        for together in (True, False):
            color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, "d32_sfloat")
            pipes = [
                device.pipeline(VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth.format, cull=mode)
                for mode in ("none", "front")
            ]
            with device.render_pass(
                color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0)
            ) as rp:
                if together:
                    rp.draw(pipes[0], layers(order))
                else:
                    for i, z in enumerate(order):
                        rp.draw(pipes[i % 2], layers([z]))
            assert rp.stats.fragments_rasterized == 10 * pixels
            assert rp.stats.fragments_shaded == pixels
            assert (
                rp.stats.fragments_killed_by_hierarchical_z > 0.9 * 9 * pixels
            )  # the rest: blocks that the render area cuts


def test_hidden_layers_are_rejected_alike_where_many_lie_in_a_bin(devices: list[tg.Device]) -> None:
    """Hundreds and thousands of layers, far to near: all but one of each run of 4096 are rejected by blocks before a depth is read."""
    pixels = SIZE[0] * SIZE[1]
    device = devices[2]
    for count, runs in ((200, 1), (300, 1), (1000, 1), (5000, 2)):
        color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, "d32_sfloat")
        pipe = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth.format)
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0)
        ) as rp:
            rp.draw(pipe, layers(list(1 - (np.arange(count) + 1) / (count + 1))))
        assert rp.stats.fragments_rasterized == count * pixels
        assert rp.stats.fragments_shaded == pixels
        # Layers of one class of depth are drawn in API order.
        assert rp.stats.fragments_killed_by_hierarchical_z > 0.97 * (count - 8 * runs) * pixels, count


@pytest.mark.parametrize("compare", ["less", "less_or_equal"])
@pytest.mark.parametrize("count", [300, 4095, 4096, 4097, 9000])
def test_more_than_a_run_holds(devices: list[tg.Device], compare: str, count: int) -> None:
    """A run ends after 4096 triangles; many of these lie in the same few planes, and the colour tells which one won."""
    rng = np.random.default_rng(count)
    triangles = large(rng, count)
    pictures = []
    for device in devices:
        color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, "d32_sfloat")
        pipe = device.pipeline(
            VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth.format, depth_compare=compare
        )
        with device.render_pass(
            color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0, store_op="store")
        ) as rp:
            rp.draw(pipe, triangles)
        pictures.append([image.numpy().tobytes() for image in (color, depth)])
    assert pictures == pictures[:1] * len(devices)


@pytest.mark.parametrize("compare", ["less", "less_or_equal"])
def test_depths_that_round_to_the_same(devices: list[tg.Device], compare: str) -> None:
    """Layers so near to one another that D16 does not tell them apart, though floats and the order of drawing do."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        depths = (np.float32(0.5) + rng.random(30).astype(np.float32) * np.float32(6e-5)).tolist()
        codes = np.rint(np.array(depths, np.float32).astype(np.float64) * 65535)
        nearest = np.flatnonzero(codes == codes.min())
        winner = nearest[0] + 1 if compare == "less" else nearest[-1] + 1
        for device in devices:
            color, depth = device.image(SIZE, "r8g8b8a8_unorm"), device.image(SIZE, "d16_unorm")
            pipe = device.pipeline(
                VERT, FRAG, vertex=VERTEX, color=[color.format], depth=depth.format, depth_compare=compare
            )
            with device.render_pass(
                color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0)
            ) as rp:
                rp.draw(pipe, layers(depths))
            assert np.unique(color.numpy()[..., 0]).tolist() == [winner]
