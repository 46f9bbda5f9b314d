"""Discard rectangles (VK_EXT_discard_rectangles): what of a draw is left, whatever hides it, is tested of it or counts it.

Oracle: the same draw once for each cell that the rectangles' edges cut the picture into, with the cell as its scissor, where the test lets
pixels pass. Source: Vulkan specification, "Discard Rectangles Test".
"""

from __future__ import annotations

import contextlib
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.test_one_result import device_of

import tilegpu as tg
from tilegpu.errors import ValidationError

SIZE = 100
DTYPE = np.dtype([("position", "<f4", 4), ("tint", "<f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 tint;
layout(location = 0) out vec4 v;
void main() { gl_Position = position; gl_PointSize = 23.0; v = tint; }"""
PLAIN = "#version 450\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 o; void main() { o = v; }"
HOLES = PLAIN.replace("o = v;", "if ((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) % 3 == 0) discard; o = v;")
DERIVED = PLAIN.replace("o = v;", "o = v + fwidth(v) * 3.0;")
MASK_IN = PLAIN.replace("o = v;", "o = vec4(gl_SampleMaskIn[0] & 15, gl_SampleMaskIn[0] >> 4, 0, 64) / 64.0 + v * 0.25;")
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "opaque": (PLAIN, {}),
    "holes": (HOLES, {}),
    "derivatives": (DERIVED, {}),
    "mask in": (MASK_IN, {}),
    "blend": (PLAIN, {"blend": "additive", "depth_write": False}),
    "blend and write": (PLAIN, {"blend": "alpha"}),
    "coarse": (PLAIN, {"fragment_shading_rate": (2, 2)}),
    "overestimated": (PLAIN, {"conservative": "overestimate"}),
    "points": (PLAIN, {"topology": "point_list"}),
    "lines": (PLAIN, {"topology": "line_strip", "line_width": 7.0}),
    "strict lines": (PLAIN, {"topology": "line_strip", "line_width": 7.0, "line_mode": "rectangular", "line_stipple": (3, 0x5B7)}),
    "smooth lines": (PLAIN, {"topology": "line_strip", "line_width": 7.0, "line_mode": "rectangular_smooth"}),
    "stencil": (PLAIN, {"stencil_test": {"pass": "invert", "depth_fail": "increment_and_wrap", "compare": "not_equal", "reference": 3}}),
    "not discarded": (PLAIN, {}),
}
CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 8, "threads": 2, "hsr": "off"},
    {"lanes": 8, "threads": 2},
    {"lanes": 4, "threads": 1, "bin_px": 32, "code": "quick"},
    {"lanes": 16, "threads": 2, "hsr": "all", "code": "optimised"},
    {"lanes": 16, "threads": 2, "hsr": ["pre_pass", "forward_pixel_kill", "depth_filter:two_plane"]},
    {"lanes": 8, "threads": 2, "profile": "adreno-a740"},
    {"lanes": 8, "threads": 2, "hsr": ["deferred_vertex_shading", "lrz", "visibility_buffer"], "bin_px": 64},
]
Rect = tuple[int, int, int, int]


def vertices(rng: np.random.Generator) -> np.ndarray:
    """Triangles from a few pixels to the whole picture, each at its own depth or sloped."""
    count = 9
    out = np.zeros(3 * count, DTYPE)
    for i in range(count):
        reach = rng.choice([0.1, 0.6, 3.0])
        out["position"][3 * i : 3 * i + 3, :2] = rng.uniform(-1, 1, 2) + rng.uniform(-reach, reach, (3, 2))
        out["position"][3 * i : 3 * i + 3, 2] = rng.choice([rng.random(), 0.0]) + rng.random(3) * rng.choice([0.0, 0.3])
    out["position"][:, 2] = np.clip(out["position"][:, 2], 0, 1)
    out["position"][:, 3] = 1
    out["tint"] = rng.random((3 * count, 4))
    return out


def rectangles(rng: random.Random) -> list[Rect]:
    """Blocks, bins and neither; some beyond the picture or empty."""
    out = []
    for _ in range(rng.choice([1, 2, 3])):
        step = rng.choice([1, 4, 32])
        x, y = (rng.randrange(0, SIZE + 8, step) for _ in "xy")
        out.append((x, y, rng.choice([rng.randrange(70), 2**31 - 1 - x]), rng.randrange(0, 90, step)))
    return out


def passes(rects: list[Rect], mode: str, x: int, y: int) -> bool:
    inside = any(rx <= x < rx + w and ry <= y < ry + h for rx, ry, w, h in rects)
    return inside == (mode == "inclusive")


def cells(rects: list[Rect], mode: str) -> list[Rect]:
    """Scissors that hold the pixels of which something may be drawn, each once."""
    cuts = []
    for axis in (0, 1):
        edges = {0, SIZE} | {min(r[axis] + d, SIZE) for r in rects for d in (0, r[axis + 2])}
        cuts.append(sorted(edges))
    return [
        (x0, y0, x1 - x0, y1 - y0)
        for (x0, x1), (y0, y1) in itertools.product(itertools.pairwise(cuts[0]), itertools.pairwise(cuts[1]))
        if passes(rects, mode, x0, y0)
    ]


Draw = tuple[str, np.ndarray, list[Rect], str]


def random_draws(seed: int) -> list[Draw]:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    return [
        (rng.choice([*KINDS, "opaque", "opaque", "opaque"]), vertices(numbers), rectangles(rng), rng.choice(["exclusive", "inclusive"]))
        for _ in range(7)
    ]


def pictures(
    dev: tg.Device, draws: list[Draw], samples: int, way: str, counts: bool
) -> tuple[list[bytes], list[int]]:
    """Bytes of all attachments, and samples that passed of each draw, where that is counted, which keeps techniques off.

    ``way``: ``"cells"``, as the oracle has it, ``"fixed"`` or ``"dynamic"``.
    """
    color = dev.image((SIZE, SIZE), "r16g16b16a16_sfloat", samples=samples)
    depth = dev.image((SIZE, SIZE), "d32_sfloat_s8_uint", samples=samples)
    single = dev.image((SIZE, SIZE), "r16g16b16a16_sfloat")
    queries: list[tg.Query] = []
    dynamic = ["discard_rectangle", "discard_rectangle_enable", "discard_rectangle_mode"]
    target = tg.Attachment(color, clear=(0, 0, 0, 0), resolve=single if samples > 1 else None)
    with dev.render_pass(color=[target], depth=tg.Attachment(depth, clear=1.0), stencil=tg.Attachment(depth, clear=0)) as rp:
        for kind, data, rects, mode in draws:
            shader, state = KINDS[kind]
            free = kind == "not discarded"
            state = {"depth_compare": "less_or_equal", **state}
            if way == "fixed" and not free:
                state["discard_rectangles"] = {"rectangles": rects, "mode": mode}
            pipeline = dev.pipeline(
                VERT, shader, vertex=DTYPE, color=[color.format], depth=depth.format, stencil=depth.format, samples=samples,
                dynamic=dynamic if way == "dynamic" else (), **state,
            )  # fmt: skip
            if way == "dynamic":
                rp.set(discard_rectangle=rects, discard_rectangle_mode=mode, discard_rectangle_enable=not free)
            scissors = cells(rects, mode) if way == "cells" and not free else [(0, 0, SIZE, SIZE)]
            with rp.query() if counts else contextlib.nullcontext() as query:
                for scissor in scissors:
                    rp.draw(pipeline, data, scissor=scissor)
            if query is not None:
                queries.append(query)
    planes = [single.numpy().tobytes()] if samples > 1 else [color.numpy().tobytes()]
    if samples == 1:
        planes += [depth.numpy(aspect=aspect).tobytes() for aspect in ("depth", "stencil")]
    return planes, [query.samples for query in queries]


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("samples", [1, 4])
def test_random_passes_leave_what_scissors_leave(configuration: dict[str, Any], samples: int) -> None:
    dev = device_of({"cache_dir": "off", **configuration})
    for seed in range(6):
        draws = random_draws(100 * samples + seed)
        want = pictures(dev, draws, samples, "cells", seed % 3 == 0)
        for way in ("fixed", "dynamic"):
            got = pictures(dev, draws, samples, way, seed % 3 == 0)
            assert got == want, f"seed {seed}, {way}: {[d[0] for d in draws]}"


def test_the_pictures_are_of_something() -> None:
    """Every kind, rectangle and both modes are drawn, and take something away."""
    draws = [draw for samples in (1, 4) for seed in range(6) for draw in random_draws(100 * samples + seed)]
    assert {draw[0] for draw in draws} == set(KINDS) and {draw[3] for draw in draws} == {"exclusive", "inclusive"}
    left = [sum(w * h for _, _, w, h in cells(rects, mode)) for _, _, rects, mode in draws]
    assert sum(0 < pixels < SIZE * SIZE for pixels in left) > len(draws) // 2 and 0 in left


def one(dev: tg.Device, **state: Any) -> np.ndarray:
    """Where a whole picture is drawn."""
    color = dev.image((16, 16), "r8_unorm")
    whole = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"
    white = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    pipeline = dev.pipeline(whole, white, color=[color.format], **{k: v for k, v in state.items() if k != "set"})
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
        rp.set(**state.get("set", {}))
        rp.draw(pipeline, count=3)
    return np.asarray(color.numpy()).reshape(16, 16) == 255


def test_one_rectangle() -> None:
    dev = tg.Device(cache_dir="off", threads=1)
    inside = np.zeros((16, 16), bool)
    inside[3:10, 2:7] = True
    rect = (2, 3, 5, 7)
    assert np.array_equal(one(dev, discard_rectangles=[rect]), ~inside)
    assert np.array_equal(one(dev, discard_rectangles={"rectangles": [rect], "mode": "inclusive"}), inside)
    assert one(dev, discard_rectangles=[]).all() and one(dev, dynamic=["discard_rectangle_enable"]).all()
    states = ["discard_rectangle", "discard_rectangle_enable", "discard_rectangle_mode"]
    given = {"discard_rectangle": [rect], "discard_rectangle_enable": True, "discard_rectangle_mode": "inclusive"}
    assert np.array_equal(one(dev, dynamic=states, set=given), inside)
    assert one(dev, dynamic=states, set={**given, "discard_rectangle_enable": False}).all()
    # How many there are stays the pipeline's.
    two = {**given, "discard_rectangle": [(0, 0, 1, 1), rect], "discard_rectangle_mode": "exclusive"}
    fixed = {"discard_rectangles": [(0, 0, 0, 0)], "dynamic": states, "set": two}
    first = np.ones((16, 16), bool)
    first[0, 0] = False
    assert np.array_equal(one(dev, **fixed), first)
    with pytest.raises(ValidationError, match="leaves discard_rectangle_mode open"):
        one(dev, dynamic=states, set={"discard_rectangle": [rect], "discard_rectangle_enable": True})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([(0, 0, 1, 1)] * 9, "has 9 entries; it must be a list of at most 8 rectangles"),
        ([(-1, 0, 1, 1)], "must begin at no negative pixel"),
        ([(2**31 - 1, 0, 1, 1)], "end within 31 bits"),
        ({"rects": []}, "has no field 'rects'"),
        ({"rectangles": [(0, 0, 1, 1)], "mode": "inside"}, "which is no discard_rectangle_mode; did you mean 'inclusive'?"),
    ],
)
def test_what_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        one(tg.Device(cache_dir="off", threads=1), discard_rectangles=value)
    assert message in str(caught.value)


@pytest.mark.parametrize("way", ["fixed", "dynamic"])
def test_captures(tmp_path: Path, way: str) -> None:
    dev = tg.Device(cache_dir="off", threads=1)
    for seed in (1, 2):
        dev.capture(tmp_path / "c")
        want, _ = pictures(dev, random_draws(seed), 1, way, False)
        replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
        replay.run()
        assert replay.pictures[0].tobytes() == want[0]


def test_pixels_and_draws_say_why() -> None:
    dev = tg.Device(cache_dir="off", threads=1, profile="adreno-a740")
    color, depth = dev.image((32, 32), "r8_unorm"), dev.image((32, 32), "d32_sfloat")
    whole = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0.5, 1); }"
    white = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    cut = dev.pipeline(
        whole, white, color=[color.format], depth=depth.format, depth_compare="less", discard_rectangles=[(4, 4, 8, 8)]
    )
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.draw(cut, count=3)
    assert not rp.why(4, 4).fragments and not rp.why(11, 11).fragments
    assert rp.why(3, 4).fragments and rp.why(12, 11).fragments
    text = str(rp.explain())
    assert "outside of discard rectangles" in text and "discard rectangles leave pixels out" in text
