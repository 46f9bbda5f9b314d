"""Fragment shading rate against the oracle of the specification: sizes, combiners, attachments, coverage, tests, counts; one result.

Source: Vulkan specification, "Fragment Shading Rates", "Multisampling"; tests/oracle/shading_rate.py.
"""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from oracle.coverage import SAMPLE_LOCATIONS, covered, snap
from oracle.shading_rate import (
    OPS,
    RATES,
    centroid,
    clamp,
    combine,
    encode,
    final_size,
    first_pixel_bits,
    mask_of,
    sizes_over,
    supported,
)
from tilegpu import _core
from tilegpu.errors import ValidationError

WIDTH, HEIGHT = 52, 44  # neither is a multiple of 8: fragments are cut by the edge
SIZES = [*RATES, (1, 1)]
Array = np.ndarray[Any, Any]
DTYPE = np.dtype([("p", "f4", 2), ("z", "f4"), ("value", "f4"), ("rate", "u4")])
VERT = """#version 450
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) in vec2 p; layout(location = 1) in float z; layout(location = 2) in float value; layout(location = 3) in uint rate;
layout(location = 0) out float v; layout(location = 1) centroid out float c;
void main() { gl_Position = vec4(p, z, 1); v = c = value; RATE }"""
FRAG = """#version 450
#extension GL_EXT_fragment_shading_rate : require
EARLY
layout(location = 0) in float v; layout(location = 1) centroid in float c;
layout(location = 0) out vec4 color; layout(location = 1) out uvec4 words;
void main() {
  MORE
  color = vec4(gl_FragCoord.xy, v, c);
  words = uvec4(gl_ShadingRateEXT, gl_SampleMaskIn[0], gl_PrimitiveID + 1, gl_HelperInvocation ? 1 : 0);
}"""
KILL = "if ((int(gl_FragCoord.x) / 4 + int(gl_FragCoord.y) / 4) % 3 == 0) discard;"
MASK = "gl_SampleMask[0] = int(0x96a5c35au >> (gl_PrimitiveID & 7));"
DEPTH = "gl_FragDepth = fract(gl_FragCoord.x * 0.37 + float(gl_PrimitiveID) * 0.21);"


def vert(writes_rate: bool) -> str:
    return VERT.replace("RATE", "gl_PrimitiveShadingRateEXT = int(rate);" if writes_rate else "")


def frag(more: str = "", early: str = "") -> str:
    return FRAG.replace("MORE", more).replace("EARLY", early)


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def triangles(seed: int, count: int = 24) -> Array:
    rng = np.random.default_rng(seed)
    out = np.zeros(3 * count, DTYPE)
    for i in range(count):
        reach = int(rng.choice([200, 900, 4000, 12000]))
        corners = rng.integers(0, [WIDTH * 256, HEIGHT * 256]) + rng.integers(-reach, reach + 1, (3, 2))
        out["p"][3 * i : 3 * i + 3] = corners / 256 * 2 / [WIDTH, HEIGHT] - 1
        out["z"][3 * i : 3 * i + 3] = rng.random()
        out["value"][3 * i : 3 * i + 3] = rng.random(3)
        out["rate"][3 * i : 3 * i + 3] = rng.choice([encode(size) for size in SIZES] + [2, 8, 10], 3)
    return out


def random_case(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    pick = lambda values: values[int(rng.integers(len(values)))]  # noqa: E731
    texel = (pick([8, 16, 32]), pick([8, 16, 64]))
    rates = rng.choice(16, (-(-HEIGHT // texel[1]), -(-WIDTH // texel[0]))) % 11
    return {
        "samples": pick([1, 2, 4]),
        "size": pick([*SIZES, (4, 1), (1, 4)]),
        "ops": (pick(OPS), pick(OPS)),
        "rates": (rates.astype(np.uint8), texel) if rng.random() < 0.7 else None,
        "writes_rate": bool(rng.random() < 0.7),
        "more": pick(["", "", KILL, MASK, DEPTH, KILL + MASK]),
        "early": "",
        "depth_compare": pick(["less", "greater", "less_or_equal"]),
        "vertices": triangles(seed),
    }


def pipeline_of(dev: tg.Device, case: dict[str, Any], **more: Any) -> tg.Pipeline:
    return dev.pipeline(
        vert(case["writes_rate"]),
        frag(case["more"], case["early"]),
        vertex=DTYPE,
        color=["r32g32b32a32_sfloat", "r32g32b32a32_uint"],
        depth="d32_sfloat",
        depth_compare=case["depth_compare"],
        samples=case["samples"],
        **more,
    )


FETCH = """#version 450
layout(set = 0, binding = 0) uniform PREFIXsampler2DMS t;
layout(location = 0) out PREFIXvec4 color;
void main() { ivec2 at = ivec2(gl_FragCoord.xy); color = texelFetch(t, ivec2(at.x % WIDTH, at.y), at.x / WIDTH); }"""
WHOLE = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"


def samples_of(dev: tg.Device, image: tg.Image) -> Array:
    """(y, x, sample, 4)."""
    if image.samples == 1:
        return image.numpy()[:, :, None]
    out = dev.image((WIDTH * image.samples, HEIGHT), image.format)
    prefix = "u" if "uint" in image.format else ""
    fetch = dev.pipeline(WHOLE, FETCH.replace("PREFIX", prefix).replace("WIDTH", str(WIDTH)), color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
        rp.draw(fetch, count=3, bind={"t": (image, dev.sampler(filter="nearest"))})
    return out.numpy().reshape(HEIGHT, image.samples, WIDTH, 4).transpose(0, 2, 1, 3)


def draw(dev: tg.Device, case: dict[str, Any], how: str = "pipeline", **pass_arguments: Any) -> tuple[Array, Array, Any]:
    """Colours, words, and the pass."""
    rate = {"fragment_size": case["size"], "combiner_ops": case["ops"]}
    state = {"fragment_shading_rate": rate} if how == "pipeline" else {"dynamic": ["fragment_shading_rate"]}
    pipeline = pipeline_of(dev, case, **state)
    color = dev.image((WIDTH, HEIGHT), "r32g32b32a32_sfloat", samples=case["samples"])
    words = dev.image((WIDTH, HEIGHT), "r32g32b32a32_uint", samples=case["samples"])
    depth = dev.image((WIDTH, HEIGHT), "d32_sfloat", samples=case["samples"])
    far = 0.0 if case["depth_compare"] == "greater" else 1.0
    if case["rates"] is not None:
        pass_arguments["shading_rate"] = (dev.texture(case["rates"][0], "r8_uint").image, case["rates"][1])
    targets = [tg.Attachment(color, clear=(0, 0, 0, 0)), tg.Attachment(words, clear=(0, 0, 0, 0))]
    with dev.render_pass(color=targets, depth=tg.Attachment(depth, clear=far, store_op="dont_care"), **pass_arguments) as rp:
        if how != "pipeline":
            rp.set(fragment_shading_rate=rate)
        rp.draw(pipeline, case["vertices"])
    return samples_of(dev, color), samples_of(dev, words), rp


def plane(corners: Array, values: Array, x: float, y: float) -> float:
    inverse = np.linalg.inv(np.column_stack([corners / 256, np.ones(3)]))
    return float(np.array([x, y, 1]) @ inverse @ values.astype(float))


class Picture:
    """What the specification says comes of a case."""

    def __init__(self, case: dict[str, Any]) -> None:
        samples, vertices = case["samples"], case["vertices"]
        self.color = np.zeros((HEIGHT, WIDTH, samples, 4))
        self.words = np.zeros((HEIGHT, WIDTH, samples, 4), np.uint32)
        self.invocations = self.pixels = 0
        far = 0.0 if case["depth_compare"] == "greater" else 1.0
        self.depth = np.full((HEIGHT, WIDTH, samples), far, np.float32)
        places = [(x / 16, y / 16) for x, y in SAMPLE_LOCATIONS[samples]]
        for i in range(len(vertices) // 3):
            self._draw(case, i, vertices[3 * i : 3 * i + 3], places)

    def _draw(self, case: dict[str, Any], number: int, t: Array, places: list[tuple[float, float]]) -> None:
        samples = case["samples"]
        corners = snap((t["p"].astype("f8") + 1) * np.array([WIDTH, HEIGHT]) / 2)
        inside = covered(corners, WIDTH, HEIGHT, samples)
        if not inside.any():
            return
        z = np.float32(t["z"][0])
        rate = int(t["rate"][0]) & 15 if case["writes_rate"] else 0

        def size_at(x: int, y: int) -> tuple[int, int]:
            texel = 0
            if case["rates"] is not None:
                texels, (across, down) = case["rates"]
                texel = int(texels[y // down, x // across])
            return final_size(case["size"], case["ops"], rate, texel, samples)

        passes = {"less": np.less, "greater": np.greater, "less_or_equal": np.less_equal}[case["depth_compare"]]
        for x, y, size in sizes_over(WIDTH, HEIGHT, size_at):
            w, h = size
            part = np.s_[y : min(y + h, HEIGHT), x : min(x + w, WIDTH)]
            if not inside[part].any():
                continue
            cut = np.zeros((h, w, samples), bool)  # beyond the framebuffer nothing is covered
            cut[: inside[part].shape[0], : inside[part].shape[1]] = inside[part]
            centre = x + w / 2, y + h / 2
            depth = z
            if "gl_FragDepth" in case["more"]:
                at = np.float32(np.float32(centre[0]) * np.float32(0.37) + np.float32(number) * np.float32(0.21))
                depth = at - np.floor(at)
            live = inside[part] & passes(depth, self.depth[part])
            ran = inside[part].any() if "gl_FragDepth" in case["more"] else live.any()
            self.invocations += int(ran)
            self.pixels += int((inside[part] if "gl_FragDepth" in case["more"] else live).any(-1).sum())
            if "discard" in case["more"] and (int(centre[0]) // 4 + int(centre[1]) // 4) % 3 == 0:
                continue
            mask_in = mask_of(cut)
            if "gl_SampleMask[" in case["more"]:
                out = 0x96A5C35A >> (number & 7)
                for py, px, s in itertools.product(range(live.shape[0]), range(live.shape[1]), range(samples)):
                    live[py, px, s] &= bool(first_pixel_bits(out, size, samples, x + px, y + py) >> s & 1)
            at_centroid = centroid(cut, x, y, places)
            self.depth[part] = np.where(live, depth, self.depth[part])
            value = [*centre, plane(corners, t["value"], *centre), plane(corners, t["value"], *at_centroid)]
            self.color[part][live] = value
            self.words[part][live] = [encode(size), mask_in, number + 1, 0]


def check(case: dict[str, Any], colors: Array, words: Array, note: Any) -> Picture:
    want = Picture(case)
    assert np.array_equal(words, want.words), (note, np.argwhere((words != want.words).any(-1))[:4])
    assert np.array_equal(colors[..., :2], want.color[..., :2].astype(np.float32)), note
    assert np.allclose(colors[..., 2:], want.color[..., 2:], atol=2e-4, rtol=2e-4), note
    return want


# -- rates


def test_offered_rates_are_those_of_the_oracle_and_what_vulkan_requires() -> None:
    rates = {(w, h): counts for w, h, counts in _core.SHADING_RATES}
    assert [(w, h) for w, h, _ in _core.SHADING_RATES] == sorted(rates, reverse=True)
    assert rates.pop((1, 1)) == 0xFFFFFFFF
    assert rates == {size: sum(counts) for size, counts in RATES.items()}
    for size in ((2, 2), (2, 1)):
        assert rates[size] & 7 == 7
    assert all(w * h * max(RATES[w, h]) <= 32 for w, h in rates)


def test_clamping_takes_the_largest_that_fits() -> None:
    assert clamp((4, 1), 1) == (2, 1) and clamp((1, 4), 1) == (1, 2)
    assert clamp((4, 4), 4) == (4, 2)  # a wide and a tall one remain
    assert clamp((16, 2), 1) == (4, 2) and clamp((4, 4), 8) == (1, 1)
    assert combine("mul", (2, 1), (2, 4)) == (4, 4)
    for samples, size in itertools.product((1, 2, 4), itertools.product((1, 2, 4, 8, 16), repeat=2)):
        assert clamp(size, samples) in supported(samples)


# -- pictures


@pytest.mark.parametrize("samples", [1, 2, 4])
@pytest.mark.parametrize("size", SIZES)
def test_pipeline_rate(dev: tg.Device, size: tuple[int, int], samples: int) -> None:
    case = random_case(3) | {"size": size, "samples": samples, "ops": ("keep", "keep"), "rates": None, "more": "", "writes_rate": False}
    case["depth_compare"] = "less"
    colors, words, rp = draw(dev, case)
    want = check(case, colors, words, (size, samples))
    assert rp.stats.fragments_shaded == want.invocations
    expected = (0, 0) if clamp(size, samples) == (1, 1) else (want.invocations, want.pixels)
    assert (rp.stats.coarse_fragments, rp.stats.coarse_pixels) == expected


@pytest.mark.parametrize("seed", range(40))
def test_random_cases(dev: tg.Device, seed: int) -> None:
    case = random_case(seed)
    colors, words, _ = draw(dev, case, "pipeline" if seed % 2 else "dynamic")
    check(case, colors, words, seed)


WAYS = [
    {"lanes": 16, "threads": 1},
    {"lanes": 8, "threads": 3, "bin_px": 32, "hsr": "off"},
    {"lanes": 4, "threads": 2, "hsr": "all"},
    {"lanes": 16, "threads": 2, "profile": "immortalis-g925"},
    {"lanes": 8, "threads": 2, "profile": "mali-g57"},
    {"lanes": 16, "threads": 2, "profile": "adreno-a740"},
    {"lanes": 4, "threads": 1, "profile": "desktop-immediate"},
    {"lanes": 16, "threads": 2, "bin_px": 128, "hsr": "all", "profile": "mali-g720"},
]


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_one_result(dev: tg.Device, way: int) -> None:
    other = tg.Device(cache_dir="off", **WAYS[way])
    for seed in range(100, 112):
        case = random_case(seed)
        a, b = draw(dev, case), draw(other, case)
        assert np.array_equal(a[0].view(np.uint32), b[0].view(np.uint32)) and np.array_equal(a[1], b[1]), (seed, WAYS[way])
        if way == 0:  # counts are of what hidden-surface removal leaves
            names = ("fragments_shaded", "coarse_fragments", "coarse_pixels", "helper_lanes")
            assert [getattr(a[2].stats, n) for n in names] == [getattr(b[2].stats, n) for n in names], (seed, WAYS[way])


def test_geometry_shaders_give_the_rate_of_the_provoking_vertex(dev: tg.Device) -> None:
    geometry = """#version 450
    #extension GL_EXT_fragment_shading_rate : require
    layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
    layout(location = 0) in float v[]; layout(location = 1) centroid in float c[]; layout(location = 2) in uint r[];
    layout(location = 0) out float o; layout(location = 1) centroid out float oc;
    void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position; o = v[i]; oc = c[i]; gl_PrimitiveID = gl_PrimitiveIDIn;
      gl_PrimitiveShadingRateEXT = int(r[i]); EmitVertex(); } }"""
    source = vert(False).replace("void main() {", "layout(location = 2) out uint r;\nvoid main() { r = rate;")
    for provoking in ("first", "last"):
        case = random_case(7) | {"writes_rate": True, "ops": ("replace", "keep"), "rates": None, "more": "", "samples": 2}
        case["depth_compare"] = "less"
        rate = {"fragment_size": (1, 1), "combiner_ops": case["ops"]}
        case["size"] = (1, 1)
        pipeline = dev.pipeline(
            source, frag(), geometry=geometry, vertex=DTYPE, color=["r32g32b32a32_sfloat", "r32g32b32a32_uint"], depth="d32_sfloat",
            depth_compare="less", samples=2, fragment_shading_rate=rate, provoking_vertex=provoking,
        )  # fmt: skip
        color = dev.image((WIDTH, HEIGHT), "r32g32b32a32_sfloat", samples=2)
        words = dev.image((WIDTH, HEIGHT), "r32g32b32a32_uint", samples=2)
        depth = tg.Attachment(dev.image((WIDTH, HEIGHT), "d32_sfloat", samples=2), clear=1.0, store_op="dont_care")
        with dev.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in (color, words)], depth=depth) as rp:
            rp.draw(pipeline, case["vertices"])
        turned = case["vertices"].copy()
        if provoking == "last":
            turned["rate"][0::3] = turned["rate"][2::3]
        check(case | {"vertices": turned}, samples_of(dev, color), samples_of(dev, words), provoking)


def test_layers_of_the_attachment_go_with_layers_of_the_pass(dev: tg.Device) -> None:
    rates = np.array([[[0]], [[5]], [[10]]], np.uint8)
    image = dev.image((1, 1), "r8_uint", layers=3)
    for layer in range(3):
        image.write(rates[layer], layer=layer)
    out = dev.image((16, 16), "r8g8b8a8_uint", layers=3)
    source = """#version 450
    #extension GL_ARB_shader_viewport_layer_array : require
    void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); gl_Layer = gl_InstanceIndex; }"""
    shader = """#version 450
    #extension GL_EXT_fragment_shading_rate : require
    layout(location = 0) out uvec4 color; void main() { color = uvec4(gl_ShadingRateEXT); }"""
    state = {"fragment_size": (1, 1), "combiner_ops": ("keep", "replace")}
    pipeline = dev.pipeline(source, shader, color=[out.format], fragment_shading_rate=state)
    with dev.render_pass(color=[tg.Attachment(out.view("2d_array"), clear=(9, 9, 9, 9))], layers=3, shading_rate=(image, (64, 64))) as rp:
        rp.draw(pipeline, count=3, instances=3)
    assert [int(out.numpy(layer=k)[3, 3, 0]) for k in range(3)] == [0, 5, 10]


# -- derivatives, textures, memory, blending


def test_derivatives_span_fragments(dev: tg.Device) -> None:
    out = dev.image((32, 32), "r32g32b32a32_sfloat")
    shader = """#version 450
    layout(location = 0) out vec4 color;
    void main() { vec2 at = gl_FragCoord.xy; color = vec4(dFdx(at.x), dFdy(at.y), dFdx(at.x * at.x), fwidth(at.y)); }"""
    for w, h in SIZES:
        pipeline = dev.pipeline(WHOLE, shader, color=[out.format], fragment_shading_rate=(w, h))
        with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
            rp.draw(pipeline, count=3)
        got = out.numpy()
        assert (got[..., 0] == w).all() and (got[..., 1] == h).all() and (got[..., 3] == h).all(), (w, h)
        left = np.arange(32) // (2 * w) * 2 * w + w / 2
        assert np.array_equal(got[0, :, 2], ((left + w) ** 2 - left**2).astype(np.float32)), (w, h)
        assert rp.stats.fragments_shaded == 32 * 32 // (w * h)


def test_each_fragment_writes_memory_once(dev: tg.Device) -> None:
    shader = """#version 450
    layout(early_fragment_tests) in;
    layout(set = 0, binding = 0) buffer Count { uint runs; uint helpers; };
    layout(location = 0) out vec4 color;
    void main() { atomicAdd(runs, 1); if (gl_HelperInvocation) atomicAdd(helpers, 1); color = vec4(1); }"""
    out = dev.image((40, 24), "r8g8b8a8_unorm")
    for size, lanes in itertools.product(SIZES, (4, 16)):
        device = tg.Device(cache_dir="off", threads=1, lanes=lanes)
        out = device.image((40, 24), "r8g8b8a8_unorm")
        counts = device.buffer(np.zeros(2, np.uint32))
        pipeline = device.pipeline(WHOLE, shader, color=[out.format], fragment_shading_rate=size)
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipeline, count=3, bind={"Count": counts}, scissor=(3, 5, 30, 17))
        w, h = size
        expected = (-(-33 // w) - 3 // w) * (-(-22 // h) - 5 // h)
        assert counts.numpy().tolist() == [expected, 0] and rp.stats.fragments_shaded == expected, size


def test_blending_is_pixel_by_pixel_and_in_order(dev: tg.Device) -> None:
    """Coarse and fine draws over each other: what a coarse one blends with is each pixel's own."""
    rng = np.random.default_rng(5)
    out = [dev.image((WIDTH, HEIGHT), "r32g32b32a32_sfloat") for _ in range(2)]
    vertices = triangles(17, 12)
    fill = """#version 450
    layout(location = 0) in float v; layout(location = 0) out vec4 color;
    layout(push_constant) uniform P { vec4 c; };
    void main() { color = c; }"""
    make = lambda size: dev.pipeline(  # noqa: E731
        vert(False), fill, vertex=DTYPE, color=["r32g32b32a32_sfloat"], blend="alpha", fragment_shading_rate=size
    )
    pipelines = {size: make(size) for size in SIZES}
    orders = [SIZES[int(i)] for i in rng.integers(0, len(SIZES), 12)]
    for image, chosen in zip(out, (orders, [(1, 1)] * 12), strict=True):
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
            for i, size in enumerate(chosen):
                c = np.array([i / 12, 1 - i / 12, 0.5, 0.3 + i / 20], np.float32)
                rp.draw(pipelines[size], vertices[3 * i : 3 * i + 3], push={"c": c})
    assert np.array_equal(out[0].numpy(), out[1].numpy())  # a constant colour is the same at any rate


def test_input_attachments_are_read_at_the_centre(dev: tg.Device) -> None:
    shader = """#version 450
    layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput below;
    layout(location = 0) out vec4 color; void main() { color = subpassLoad(below) + vec4(0, 0, 1, 0); }"""
    first = "#version 450\nlayout(location = 0) out vec4 color; void main() { color = vec4(gl_FragCoord.xy, 0, 1); }"
    for size, lanes in itertools.product(SIZES, (4, 8, 16)):
        device = tg.Device(cache_dir="off", lanes=lanes)
        out = device.image((32, 16), "r32g32b32a32_sfloat")
        fine, coarse = (
            device.pipeline(WHOLE, first, color=[out.format]),
            device.pipeline(WHOLE, shader, color=[out.format], input_attachments=["color0"], fragment_shading_rate=size),
        )
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(fine, count=3)
            rp.draw(coarse, count=3)
            rp.draw(coarse, count=3)  # of the same pixels: in the order of the primitives
        w, h = size
        x, y = np.meshgrid(np.arange(32) // w * w + w // 2 + 0.5, np.arange(16) // h * h + h // 2 + 0.5)
        assert np.array_equal(out.numpy()[..., :3], np.stack([x, y, np.full_like(x, 2)], -1).astype(np.float32)), (size, lanes)


def test_occlusion_queries_count_samples(dev: tg.Device) -> None:
    case = random_case(11) | {"samples": 4, "size": (2, 2), "ops": ("keep", "keep"), "rates": None, "more": "", "writes_rate": False}
    case["depth_compare"] = "less"
    counts = []
    for size in ((1, 1), (2, 2), (4, 2)):
        pipeline = pipeline_of(dev, case, fragment_shading_rate=size)
        images = [dev.image((WIDTH, HEIGHT), f, samples=4) for f in ("r32g32b32a32_sfloat", "r32g32b32a32_uint")]
        depth = tg.Attachment(dev.image((WIDTH, HEIGHT), "d32_sfloat", samples=4), clear=1.0, store_op="dont_care")
        with dev.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in images], depth=depth) as rp:
            query, statistics = rp.query(), rp.statistics()
            with query, statistics:
                rp.draw(pipeline, case["vertices"])
        counts.append(query.samples)
        assert statistics["fragment_shader_invocations"] == rp.stats.fragments_shaded
    assert len(set(counts)) == 1 and counts[0] > 0


# -- what forbids it


@pytest.mark.parametrize(
    "state, shader, reason",
    [
        ({"sample_shading": True, "samples": 4}, "", "sampleShadingEnable"),
        ({"samples": 4}, "int s = gl_SampleID;", "asks for its sample"),
        ({"samples": 8}, "", "more than 4 samples"),
        ({"conservative": "overestimate"}, "", "conservative rasterization"),
        ({"samples": 2, "sample_locations": [(0.25, 0.25), (0.5, 0.75)]}, "", "sample locations"),
    ],
)
def test_what_forces_one_pixel(dev: tg.Device, state: dict[str, Any], shader: str, reason: str) -> None:
    samples = state.get("samples", 1)
    use = "float(s)" if shader else "0.0"
    source = f"""#version 450
    #extension GL_EXT_fragment_shading_rate : require
    layout(location = 0) out vec4 color; void main() {{ {shader} color = vec4(gl_FragCoord.xy, gl_ShadingRateEXT, {use}); }}"""
    out = dev.image((16, 16), "r32g32b32a32_sfloat", samples=samples)
    pipeline = dev.pipeline(WHOLE, source, color=[out.format], fragment_shading_rate=(2, 2), **state)
    with dev.render_pass(color=[tg.Attachment(out, clear=(9, 9, 9, 9))]) as rp:
        rp.draw(pipeline, count=3)
    assert rp.stats.coarse_fragments == 0 and rp.stats.fragments_shaded >= 16 * 16
    assert reason in str(rp.explain()) and "fragments of 1x1" in str(rp.explain())


def test_messages(dev: tg.Device) -> None:
    make = lambda rate: dev.pipeline(WHOLE, "#version 450\nvoid main() { }", fragment_shading_rate=rate)  # noqa: E731
    for rate, text in [
        ((3, 1), r"fragment_shading_rate is \(3, 1\); it must be \(width, height\), each 1, 2 or 4 pixels"),
        ((2,), r"it must be \(width, height\)"),
        ({"fragment_size": (8, 8)}, r"fragment_size is \(8, 8\)"),
        ({"size": (2, 2)}, r"has no field 'size'"),
        ({"combiner_ops": ("keep",)}, r"combiner_ops is \('keep',\); it must be two of"),
        ({"combiner_ops": ("keep", "maxx")}, r"combiner_ops\[1\]"),
    ]:
        with pytest.raises(ValidationError, match=text):
            make(rate)
    out = tg.Attachment(dev.image((64, 64), "r8g8b8a8_unorm"), clear=(0, 0, 0, 0))
    rates = dev.texture(np.zeros((4, 4), np.uint8), "r8_uint").image
    for given, text in [
        (rates, r"it must be \(image, \(width, height\)\)"),
        ((rates, (4, 8)), r"powers of two from 8 to 64"),
        ((rates, (24, 8)), r"powers of two from 8 to 64"),
        ((dev.image((4, 4), "r8_unorm"), (16, 16)), r"has format r8_unorm"),
        ((rates, (8, 8)), r"extent is 4x4 texels"),
    ]:
        with pytest.raises(ValidationError, match=text), dev.render_pass(color=[out], shading_rate=given):
            pass


# -- what goes wrong without a word


WRITES = """#version 450
layout(location = 0) out vec4 color; layout(binding = 0, r8ui) uniform uimage2D rates;
void main() { color = vec4(1); imageStore(rates, ivec2(gl_FragCoord.xy) / 8, uvec4(5)); }"""
INTEGERS = "#version 450\nlayout(location = 0) out uint value;\nvoid main() { value = 5u; }"
PLAIN = "#version 450\nlayout(location = 0) out vec4 color;\nvoid main() { color = vec4(1); }"
COVER = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
BY_PLACE = {"combiner_ops": ("keep", "replace")}


def test_rates_that_the_pass_itself_writes_are_an_error() -> None:
    """By tiles and threads some fragments would have the old sizes, some the new ones."""
    dev = tg.Device()
    out, rates = dev.image((64, 64), "r8g8b8a8_unorm"), dev.image((64, 64), "r8_uint", label="rates")
    dev.clear(rates, (0, 0, 0, 0))
    pipe = dev.pipeline(COVER, WRITES, color=out, fragment_shading_rate=BY_PLACE, label="writer")
    words = r"its shading_rate is image 'rates' \(level 0, layer 0\), which pipeline 'writer': 'rates' \(set 0, binding 0\) writes"
    with (
        pytest.raises(tg.ValidationError, match=words),
        dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], shading_rate=(rates, (8, 8))) as rp,
    ):
        rp.draw(pipe, count=3, bind={"rates": rates})
    with (
        pytest.raises(tg.ValidationError, match="shading_rate is image 'rates', which is color0 too"),
        dev.render_pass(color=[tg.Attachment(rates, clear=(0, 0, 0, 0))], shading_rate=(rates, (8, 8))) as rp,
    ):
        rp.draw(dev.pipeline(COVER, INTEGERS, color=rates), count=3)


def test_rates_that_no_draw_looks_at_are_told() -> None:
    dev = tg.Device()
    out, rates = dev.image((64, 64), "r8g8b8a8_unorm"), dev.texture(np.full((8, 8), 5, np.uint8), "r8_uint").image
    at = {"color": [tg.Attachment(out, clear=(0, 0, 0, 1))], "shading_rate": (rates, (8, 8))}
    words = "shading_rate: image .* has no effect: no draw takes it over"
    with pytest.warns(tg.UnusedNameWarning, match=words), dev.render_pass(**at) as rp:
        rp.draw(dev.pipeline(COVER, PLAIN, color=out, fragment_shading_rate=(2, 2)), count=3)
    assert rp.stats.coarse_fragments == 32 * 32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with dev.render_pass(**at) as rp:
            rp.draw(dev.pipeline(COVER, PLAIN, color=out), count=3)
            rp.draw(dev.pipeline(COVER, PLAIN, color=out, fragment_shading_rate=BY_PLACE), count=3)
    assert rp.stats.coarse_fragments == 32 * 32


def test_frames_and_captures_know_that_rates_are_read(tmp_path: Path) -> None:
    """The store of what a pass draws there is needed; a GPU without rates is not said to have them on."""
    dev = tg.Device()
    out, rates = dev.image((64, 64), "r8g8b8a8_unorm"), dev.image((8, 8), "r8_uint", label="rates")
    with dev.frame("f", outputs=out) as frame:
        with dev.render_pass(color=[tg.Attachment(rates, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(dev.pipeline(COVER, INTEGERS, color=rates), count=3)
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], shading_rate=(rates, (8, 8))) as rp:
            rp.draw(dev.pipeline(COVER, PLAIN, color=out, fragment_shading_rate=BY_PLACE), count=3)
    assert rp.stats.fragments_shaded == 32 * 32 and frame.lint() == [] and "<- 'rates': shading rate, stored by 0" in str(frame)
    frame.capture(tmp_path / "f.tgcap")
    replay = dev.load_capture(tmp_path / "f.tgcap")
    replay.run()
    assert not any("store_op" in line and "color0" in line and "pass 0" in line for line in replay.lint())
    on = {row["profile"]: row["techniques"] for row in frame.what_if(["mali-g720", "mali-g57"]).profiles}
    assert "fragment shading rate" in on["mali-g720"] and "fragment shading rate" not in on["mali-g57"]
    assert "fragment shading rate (not of this GPU)" in on["mali-g57"]


@pytest.mark.parametrize(
    ("writes", "rate", "fragment", "said"),
    [
        (True, None, True, "gl_PrimitiveShadingRateEXT of the vertex shader has no effect: the first combiner keeps"),
        (True, (2, 2), True, "gl_PrimitiveShadingRateEXT of the vertex shader has no effect"),
        (True, {"combiner_ops": ("max", "keep")}, True, ""),
        (False, {"fragment_size": (2, 2), "combiner_ops": ("replace", "keep")}, True, "rate of primitives, which no shader writes"),
        (False, {"combiner_ops": ("keep", "replace")}, True, ""),
        (False, (2, 2), False, "fragment_shading_rate has no effect without a fragment shader"),
    ],
)
def test_rates_that_nobody_takes_or_gives_are_told(writes: bool, rate: Any, fragment: bool, said: str) -> None:
    dev = tg.Device(cache_dir="off")
    written = "gl_PrimitiveShadingRateEXT = 5;" if writes else ""
    vert = f"#version 450\n#extension GL_EXT_fragment_shading_rate : require\nvoid main() {{ gl_Position = vec4(0, 0, 0, 1); {written} }}"
    frag = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }" if fragment else None
    targets: dict[str, Any] = {"color": "r8g8b8a8_unorm"} if fragment else {"depth": "d32_sfloat"}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        dev.pipeline(vert, frag, fragment_shading_rate=rate, **targets)
    told = [str(w.message) for w in found if issubclass(w.category, tg.UnusedNameWarning)]
    assert len(told) == bool(said) and all(said in text for text in told)
