"""Fragment shader interlock: fragments that share a pixel (or a sample) run one after the other in the order of their primitives.

Source: Vulkan specification, "Fragment Shader Interlock"; SPV_EXT_fragment_shader_interlock. Triangles that lie over each other change a
word of their pixel by value * 3 + number, which no other order gives; the oracle covers samples with integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from oracle.coverage import covered, snap

SIZE = 40
COUNT = 60
Array = np.ndarray[Any, Any]
CASES = [
    {"lanes": 16, "threads": 1, "hsr": "all"},
    {"lanes": 8, "threads": 3, "bin_px": 32, "hsr": "off"},
    {"lanes": 4, "threads": 2, "hsr": "all", "profile": "immortalis-g925"},
    {"lanes": 16, "threads": 2, "hsr": "all", "profile": "adreno-a740"},
]
VERT = """#version 450
layout(location = 0) in vec2 p; layout(location = 1) in float z; layout(location = 0) flat out uint number;
void main() { gl_Position = vec4(p, z, 1); number = gl_VertexIndex / 3 + 1; }"""
FRAG = """#version 450
#extension GL_ARB_fragment_shader_interlock : require
layout(MODE_interlock_ORDER) in;
TESTS
layout(location = 0) flat in uint number; layout(location = 0) out vec4 color;
PLACE
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  beginInvocationInterlockARB();
  CHANGE
  endInvocationInterlockARB();
  color = vec4(number);
}"""
BUFFER = "layout(set = 0, binding = 0) buffer Words { uint words[]; };"
IN_BUFFER = f"uint i = (at.y * {SIZE} + at.x) * SAMPLES + SAMPLE; words[i] = words[i] * 3 + number;"
IMAGE = "layout(set = 0, binding = 0, r32ui) uniform coherent uimage2D image;"
IN_IMAGE = "imageStore(image, at, uvec4(imageLoad(image, at).x * 3 + number));"


def triangles(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    out = np.zeros(3 * COUNT, [("p", "f4", 2), ("z", "f4")])
    pixels = rng.integers(0, SIZE * 256, (COUNT, 3, 2)) / 256
    out["p"] = (pixels * 2 / SIZE - 1).reshape(-1, 2)
    out["z"] = np.repeat(rng.uniform(0, 1, COUNT), 3)
    return out


def coverage(vertices: Array, samples: int) -> Array:
    """(triangle, y, x, sample)."""
    pixels = (vertices["p"].reshape(COUNT, 3, 2).astype("f8") + 1) * SIZE / 2
    return np.array([covered(snap(triangle), SIZE, SIZE, samples) for triangle in pixels]).reshape(COUNT, SIZE, SIZE, samples)


def accumulated(runs: Array) -> Array:
    """``runs``: of each triangle, in order, where its fragments run."""
    words = np.zeros(runs.shape[1:], np.uint32)
    for number, where in enumerate(runs, 1):
        words[where] = words[where] * np.uint32(3) + np.uint32(number)
    return words


def shader(mode: str, order: str = "ordered", place: str = BUFFER, change: str = IN_BUFFER, samples: int = 1, tests: str = "") -> str:
    sample = "gl_SampleID" if mode == "sample" else "0"
    text = FRAG.replace("MODE", mode).replace("ORDER", order).replace("PLACE", place).replace("CHANGE", change).replace("TESTS", tests)
    return text.replace("SAMPLES", str(samples if mode == "sample" else 1)).replace("SAMPLE", sample)


def run(dev: tg.Device, vertices: Array, frag: str, bound: Any, samples: int = 1, draws: int = 1, depth: bool = False) -> None:
    color = dev.image((SIZE, SIZE), "r32g32b32a32_sfloat", samples=samples)
    more: dict[str, Any] = {"depth": "d32_sfloat", "depth_test": True, "depth_write": True, "depth_compare": "less"} if depth else {}
    pipeline = dev.pipeline(VERT, frag, vertex=vertices.dtype, color=[color.format], samples=samples, **more)
    target: dict[str, Any] = {"depth": tg.Attachment(dev.image((SIZE, SIZE), "d32_sfloat", samples=samples), clear=1.0)} if depth else {}
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], **target) as rp:
        step = COUNT // draws
        for k in range(draws):
            rp.draw(pipeline, vertices, first=3 * step * k, count=3 * step, bind=bound)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("mode", "samples"), [("pixel", 1), ("pixel", 4), ("sample", 4), ("sample", 1)])
def test_a_buffer_sees_fragments_in_order(case: dict[str, Any], mode: str, samples: int) -> None:
    dev = tg.Device(cache_dir="off", **case)
    vertices = triangles(samples)
    covers = coverage(vertices, samples)
    runs: Array = covers if mode == "sample" else np.asarray(covers.any(-1, keepdims=True))
    for draws in (1, 4):
        words = dev.buffer(np.zeros(runs[0].size, np.uint32), usage="storage")
        run(dev, vertices, shader(mode, samples=samples), {"Words": words}, samples, draws)
        assert np.array_equal(words.numpy().view(np.uint32).reshape(runs.shape[1:]), accumulated(runs)), draws


@pytest.mark.parametrize("case", CASES)
def test_an_image_and_early_tests(case: dict[str, Any]) -> None:
    dev = tg.Device(cache_dir="off", **case)
    vertices = triangles(9)
    runs = coverage(vertices, 1)[..., 0]
    seen, nearest = np.zeros_like(runs), np.ones((SIZE, SIZE), np.float32)
    for k, where in enumerate(runs):
        seen[k] = where & (vertices["z"][3 * k] < nearest)
        nearest[seen[k]] = vertices["z"][3 * k]
    for tests, wanted in (("", runs), ("layout(early_fragment_tests) in;", seen)):
        image = dev.image((SIZE, SIZE), "r32_uint", usage="storage|transfer_dst|transfer_src")
        dev.copy(np.zeros((SIZE, SIZE), np.uint32), image)
        run(dev, vertices, shader("pixel", place=IMAGE, change=IN_IMAGE, tests=tests), {"image": image}, depth=True)
        assert np.array_equal(image.numpy().reshape(SIZE, SIZE), accumulated(wanted)), tests


def test_unordered_ones_are_exclusive() -> None:
    vertices = triangles(5)
    dev = tg.Device(cache_dir="off", threads=2)
    words = dev.buffer(np.zeros(SIZE * SIZE, np.uint32), usage="storage")
    count = "uint i = at.y * 40 + at.x; words[i] = words[i] + 1;"
    run(dev, vertices, shader("pixel", "unordered", change=count), {"Words": words})
    assert np.array_equal(words.numpy().view(np.uint32).reshape(SIZE, SIZE), coverage(vertices, 1)[..., 0].sum(0))
