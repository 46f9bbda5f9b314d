"""gl_SampleMaskIn of what passed the early tests (VK_EXT_post_depth_coverage), whatever hides it later; with several pixels a fragment
too. Oracle: the samples that the draw wrote, and those that the depth before it left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = 36
VERTICES = """#version 450
layout(push_constant) uniform P { float z; uint which; };
void main() {
  vec2 whole = vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1);
  vec2 part = vec2(gl_VertexIndex == 1 ? 0.83 : -0.91, gl_VertexIndex == 2 ? 0.77 : -0.69);
  gl_Position = vec4(which == 0u ? whole : part, z, 1);
}"""
PLAIN = "#version 450\nlayout(location = 0) out uint o; void main() { o = 0xabcdu; }"
MASK = """#version 450
#extension GL_ARB_post_depth_coverage : require
layout({mode}) in;
layout(binding = 0) buffer Seen {{ uint seen[]; }};
layout(location = 0) out uint o;
void main() {{
  o = uint(gl_SampleMaskIn[0]);
  seen[uint(gl_FragCoord.y) * 36u + uint(gl_FragCoord.x)] = o;
}}"""
FETCH = """#version 450
layout(set = 0, binding = 0) uniform usampler2DMS t;
layout(location = 0) out uint color;
void main() { ivec2 at = ivec2(gl_FragCoord.xy); color = texelFetch(t, ivec2(at.x % 36, at.y), at.x / 36).r; }"""
WHOLE = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"


def samples_of(dev: tg.Device, image: tg.Image) -> np.ndarray:
    """(y, x, sample)."""
    if image.samples == 1:
        return np.asarray(image.numpy()).reshape(SIZE, SIZE, 1)
    out = dev.image((SIZE * image.samples, SIZE), image.format)
    fetch = dev.pipeline(WHOLE, FETCH, color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
        rp.draw(fetch, count=3, bind={"t": (image, dev.sampler(filter="nearest"))})
    return np.asarray(out.numpy()).reshape(SIZE, image.samples, SIZE).transpose(0, 2, 1)


def drawn(
    dev: tg.Device, samples: int, mode: str, *, covered: bool = False, rate: tuple[int, int] = (1, 1), **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Samples of a whole picture, behind a triangle that is nearer; and what the shader said. ``covered``: all of it lies below another."""
    color = dev.image((SIZE, SIZE), "r32_uint", samples=samples)
    depth = dev.image((SIZE, SIZE), "d32_sfloat", samples=samples)
    formats: dict[str, Any] = {"color": ["r32_uint"], "depth": "d32_sfloat", "depth_compare": "less", "samples": samples}
    plain = dev.pipeline(VERTICES, PLAIN, **formats)
    mask = dev.pipeline(VERTICES, MASK.format(mode=mode), fragment_shading_rate=rate, **formats)
    seen = dev.buffer(np.full(SIZE * SIZE, 0xFFFF, np.uint32))

    def push(z: float, which: int) -> bytes:
        return np.float32(z).tobytes() + np.uint32(which).tobytes()

    targets: dict[str, Any] = {"color": [tg.Attachment(color, clear=(0xFFFF, 0, 0, 0))], "depth": tg.Attachment(depth, clear=1.0)}
    with dev.render_pass(**targets, **options) as rp:
        rp.draw(plain, count=3, push=push(0.25, 1))
        rp.draw(mask, count=3, push=push(0.5, 0), bind={(0, 0): seen})
        if covered:
            rp.draw(plain, count=3, push=push(0.125, 0))
    return samples_of(dev, color), np.asarray(seen.numpy()).reshape(SIZE, SIZE)


@pytest.mark.parametrize("hsr", ["default", "off"])
@pytest.mark.parametrize("samples", [1, 2, 4, 8, 16])
def test_the_mask_is_what_passed(samples: int, hsr: str) -> None:
    dev = tg.Device(cache_dir="off", threads=1)
    options: dict[str, Any] = {} if hsr == "default" else {"hsr": "off"}
    found, seen = drawn(dev, samples, "post_depth_coverage", **options)
    passed = found != 0xABCD
    bits = (passed * (1 << np.arange(samples))).sum(axis=2)
    partly = (bits != 0) & (bits != (1 << samples) - 1)
    assert samples == 1 or partly.sum() > 20
    np.testing.assert_array_equal(np.where(passed, found, bits[:, :, None]), np.repeat(bits[:, :, None], samples, axis=2))
    np.testing.assert_array_equal(np.where(bits, seen, 0), bits)
    np.testing.assert_array_equal(seen[bits == 0], 0xFFFF)  # nothing passed: it was not shaded
    # What is drawn over it later changes nothing of it, and without the mode the mask is the rasteriser's.
    _, covered = drawn(dev, samples, "post_depth_coverage", covered=True, **options)
    np.testing.assert_array_equal(covered, seen)
    _, early = drawn(dev, samples, "early_fragment_tests", **options)
    np.testing.assert_array_equal(early, np.where(bits, (1 << samples) - 1, 0xFFFF))


def test_fragments_of_several_pixels() -> None:
    """As many bits as samples of the fragment passed."""
    dev = tg.Device(cache_dir="off", threads=1)
    found, _ = drawn(dev, 4, "post_depth_coverage", rate=(2, 2))
    passed = found != 0xABCD
    counts = passed.sum(axis=2).reshape(SIZE // 2, 2, SIZE // 2, 2).sum(axis=(1, 3))
    assert ((counts > 0) & (counts < 16)).sum() > 10
    words = np.where(passed, found, 0).max(axis=2).reshape(SIZE // 2, 2, SIZE // 2, 2).max(axis=(1, 3))
    np.testing.assert_array_equal([[int(w).bit_count() for w in row] for row in words], counts)


def test_profiles_and_lanes_have_one_result() -> None:
    pictures = [
        drawn(tg.Device(cache_dir="off", profile=profile, lanes=lanes), 4, "post_depth_coverage")
        for profile, lanes in (("host", 4), ("host", 16), ("immortalis-g925", 8), ("adreno-a740", 8))
    ]
    for found, seen in pictures[1:]:
        np.testing.assert_array_equal(found, pictures[0][0])
        np.testing.assert_array_equal(seen, pictures[0][1])
