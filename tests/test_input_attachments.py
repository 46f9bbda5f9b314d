"""Reading the tile: input attachments at the own pixel and sample, in primitive order, in one pass, with the same bits everywhere.

The oracle is a NumPy loop over rectangles in order. Rectangles lie on 1/32 pixel, where no sample is, so that coverage needs no
tie-breaking rule; each is two triangles, whose shared diagonal belongs to one of them.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

#: Random scenes, and states that nothing asks for, are the matter of this file.
pytestmark = pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")

SIZE = (75, 53)  # no multiple of any bin
CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 16},
    {"lanes": 8, "threads": 2},
    {"lanes": 4, "threads": 1, "bin_px": 32},
    {"lanes": 16, "bin_px": 128, "hsr": ["hierarchical_z"]},
    {"lanes": 8, "tiler_heap": 1 << 12},  # splits after nearly every rectangle
    {"lanes": 4, "tiler_heap": 1 << 14, "hsr": ["visibility_buffer"]},
]
# Sample locations in 1/16 pixel (Vulkan specification, "Multisampling").
LOCATIONS = {1: [(8, 8)], 4: [(6, 2), (14, 6), (2, 10), (10, 14)]}
DTYPE = np.dtype([("position", "f4", 3), ("id", "u4")])

VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in uint id;
layout(location = 0) flat out uint v_id;
void main() { gl_Position = vec4(position, 1.0); v_id = id; }"""
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""


def header(samples: int, kind: str = "", index: int = 0, name: str = "old") -> str:
    ms = "MS" if samples > 1 else ""
    return f"layout(input_attachment_index = {index}, set = 0, binding = {index}) uniform {kind}subpassInput{ms} {name};\n"


def load(name: str, samples: int) -> str:
    return f"subpassLoad({name}, gl_SampleID)" if samples > 1 else f"subpassLoad({name})"


Rect = tuple[float, float, float, float, float]  # x0, y0, x1, y1 in pixels, z


def random_rectangles(seed: int, count: int) -> list[Rect]:
    rng = np.random.default_rng(seed)
    rects = []
    for _ in range(count):
        x = np.sort(rng.integers(-4, SIZE[0] * 4 + 4, 2)) / 4 + 1 / 32
        y = np.sort(rng.integers(-4, SIZE[1] * 4 + 4, 2)) / 4 + 1 / 32
        rects.append((x[0], y[0], x[1] + 0.25, y[1] + 0.25, float(rng.integers(1, 16)) / 16))
    return rects


def vertices(rects: list[Rect]) -> np.ndarray:
    out = np.zeros((len(rects), 6), DTYPE)
    for i, (x0, y0, x1, y1, z) in enumerate(rects):
        for k, (x, y) in enumerate([(x0, y0), (x1, y0), (x0, y1), (x1, y0), (x1, y1), (x0, y1)]):
            out[i, k] = ((x / SIZE[0] * 2 - 1, y / SIZE[1] * 2 - 1, z), i + 1)
    return out.reshape(-1)


def covered(rect: Rect, samples: int) -> np.ndarray:
    """(height, width, samples) bool."""
    x, y = np.arange(SIZE[0])[None, :, None], np.arange(SIZE[1])[:, None, None]
    at = np.array(LOCATIONS[samples]) / 16
    px, py = x + at[:, 0], y + at[:, 1]
    return (px > rect[0]) & (px < rect[2]) & (py > rect[1]) & (py < rect[3])


def pixels(image: tg.Image, samples: int) -> np.ndarray:
    """(height, width, samples, components)."""
    a = image.numpy()
    return a if samples > 1 else a[:, :, None]


def everywhere(draw: Callable[[tg.Device], list[np.ndarray]]) -> list[np.ndarray]:
    """The result of one configuration, after comparing with all others."""
    results = [draw(tg.Device(**c)) for c in CONFIGURATIONS]
    for result, configuration in zip(results[1:], CONFIGURATIONS[1:], strict=True):
        for a, b in zip(results[0], result, strict=True):
            assert np.array_equal(a, b), f"differs with {configuration}"
    return results[0]


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("count", [3, 70])
def test_each_primitive_of_a_draw_sees_the_ones_before(samples: int, count: int) -> None:
    """Order cannot be permuted: every step multiplies what it finds."""
    rects = random_rectangles(count, count)
    frag = f"""#version 450
{header(samples, "u")}layout(location = 0) flat in uint v_id;
layout(location = 0) out uint o_value;
void main() {{ o_value = {load("old", samples)}.r * 1664525u + v_id; }}"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        image = device.image(SIZE, "r32_uint", samples=samples)
        pipe = device.pipeline(VERT, frag, vertex=DTYPE, color=["r32_uint"], samples=samples)
        with device.render_pass(color=[tg.Attachment(image, clear=(7, 0, 0, 0))]) as rp:
            rp.draw(pipe, vertices(rects))
        return [pixels(image, samples)[..., 0]]

    want = np.full((SIZE[1], SIZE[0], samples), 7, np.uint32)
    for i, rect in enumerate(rects):
        mask = covered(rect, samples)
        want[mask] = want[mask] * np.uint32(1664525) + np.uint32(i + 1)
    assert np.array_equal(everywhere(draw)[0], want)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(("preset", "formula"), [
    ({"src_color": "one", "dst_color": "one"}, "old + new"),
    ({"src_color": "one", "dst_color": "one", "color_op": "reverse_subtract"}, "old - new"),
    ({"src_color": "one", "dst_color": "one", "color_op": "max"}, "max(old, new)"),
    ({"src_color": "dst_color", "dst_color": "zero"}, "old * new"),
])  # fmt: skip
@pytest.mark.parametrize(
    "format_",
    ["r8g8b8a8_unorm", "b8g8r8a8_srgb", "r16g16b16a16_sfloat", "a2b10g10r10_unorm_pack32", "b10g11r11_ufloat_pack32"],
)
def test_programmable_blending_is_fixed_function_blending(samples: int, preset: dict[str, str], formula: str, format_: str) -> None:
    rects = random_rectangles(5, 30)
    body = """vec4 new = vec4(float(v_id % 5u) / 4.0, float(v_id % 3u) / 8.0, float(v_id % 7u) / 8.0, 0.25);"""
    programmable = f"""#version 450
{header(samples, name="tile")}layout(location = 0) flat in uint v_id;
layout(location = 0) out vec4 o_color;
void main() {{ {body} vec4 old = {load("tile", samples)}; o_color = {formula}; }}"""
    plain = f"""#version 450
layout(location = 0) flat in uint v_id;
layout(location = 0) out vec4 o_color;
void main() {{ {body} o_color = new; }}"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        results = []
        for frag, blend in ((programmable, None), (plain, preset)):
            image = device.image(SIZE, format_, samples=samples)
            pipe = device.pipeline(VERT, frag, vertex=DTYPE, color=[format_], samples=samples, blend=blend)
            with device.render_pass(color=[tg.Attachment(image, clear=(0.5, 0.25, 0.75, 0.5))]) as rp:
                rp.draw(pipe, vertices(rects))
            results.append(image.numpy())
        return results

    # The two paths of one device; the other configurations are the test above's business.
    mine, fixed = draw(tg.Device())
    assert np.array_equal(mine, fixed) and len(np.unique(mine)) > 3


GBUFFER_FRAG = """#version 450
layout(location = 0) flat in uint v_id;
layout(location = 0) out vec4 o_albedo;
layout(location = 1) out vec2 o_normal;
layout(location = 2) out uint o_id;
void main() {
  o_albedo = vec4(float(v_id * 37u % 256u), float(v_id * 91u % 256u), float(v_id * 11u % 256u), 255.0) / 255.0;
  o_normal = vec2(sin(float(v_id)), gl_FragCoord.x / 64.0);
  o_id = v_id;
}"""
LIGHT = """vec4 light(vec4 albedo, vec2 normal, uint id, float depth) {
  return vec4(albedo.rgb * (0.5 + 0.5 * normal.x) + vec3(normal.y * 0.125, float(id & 15u) / 64.0, depth), 1.0);
}"""


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("depth_format", ["d32_sfloat", "d16_unorm", "x8_d24_unorm_pack32", "d24_unorm_s8_uint"])
def test_deferred_shading_in_one_pass_is_that_in_two(samples: int, depth_format: str) -> None:
    """One pass whose g-buffer never leaves the tile gives the picture of two passes that store it and fetch it as textures."""
    rects = random_rectangles(11, 40)
    formats = ["r8g8b8a8_unorm", "r16g16_sfloat", "r32_uint", "r8g8b8a8_unorm"]
    inputs = (
        header(samples, "", 0, "albedo") + header(samples, "", 1, "normal")
        + header(samples, "u", 2, "ids") + header(samples, "", 3, "depth")
    )  # fmt: skip
    deferred = f"""#version 450
{inputs}layout(location = 3) out vec4 o_color;
{LIGHT}
void main() {{
  o_color = light({load("albedo", samples)}, {load("normal", samples)}.rg, {load("ids", samples)}.r, {load("depth", samples)}.r);
}}"""
    ms = "MS" if samples > 1 else ""
    textures = "".join(
        f"layout(set = 0, binding = {i}) uniform {kind}sampler2D{ms} {name};\n"
        for i, (kind, name) in enumerate([("", "albedo"), ("", "normal"), ("u", "ids"), ("", "depth")])
    )
    fetch = "ivec2(gl_FragCoord.xy), " + ("gl_SampleID" if samples > 1 else "0")
    second = f"""#version 450
{textures}layout(location = 0) out vec4 o_color;
{LIGHT}
void main() {{
  o_color = light(texelFetch(albedo, {fetch}), texelFetch(normal, {fetch}).rg, texelFetch(ids, {fetch}).r, texelFetch(depth, {fetch}).r);
}}"""

    def draw(device: tg.Device, one_pass: bool) -> list[np.ndarray]:
        color = [device.image(SIZE, f, samples=samples, transient=one_pass and i < 3) for i, f in enumerate(formats)]
        depth = device.image(SIZE, depth_format, samples=samples, transient=one_pass)
        keep = "dont_care" if one_pass else "store"
        clears = [(0.25, 0.5, 0.125, 1), (0.5, 0.25), (9, 0, 0, 0)]
        gbuffer = [tg.Attachment(i, clear=c, store_op=keep) for i, c in zip(color[:3], clears, strict=True)]
        lit = tg.Attachment(color[3], clear=(0, 0, 0, 1))
        z = tg.Attachment(depth, clear=1.0, store_op=keep)
        if one_pass:
            fill = device.pipeline(VERT, GBUFFER_FRAG, vertex=DTYPE, color=formats, depth=depth_format, samples=samples)
            light = device.pipeline(
                FULL, deferred, color=formats, depth=depth_format, samples=samples, depth_test=False,
                input_attachments=["color0", "color1", "color2", "depth"],
            )  # fmt: skip
            with device.render_pass(color=[*gbuffer, lit], depth=z) as rp:
                rp.draw(fill, vertices(rects))
                rp.draw(light, count=3)
            if not rp.stats.splits:
                assert all(sum(rp.stats.traffic[f"color{i}"].values()) == 0 for i in range(3))
                assert sum(rp.stats.traffic["depth"].values()) == 0
        else:
            fill = device.pipeline(VERT, GBUFFER_FRAG, vertex=DTYPE, color=formats[:3], depth=depth_format, samples=samples)
            light = device.pipeline(FULL, second, color=formats[3:], samples=samples)
            with device.render_pass(color=gbuffer, depth=z) as rp:
                rp.draw(fill, vertices(rects))
            sampler = device.sampler(filter="nearest")
            names = dict(zip(["albedo", "normal", "ids"], color[:3], strict=True))
            bind = {n: (i, sampler) for n, i in names.items()} | {"depth": (depth.view(aspect="depth"), sampler)}
            with device.render_pass(color=[lit]) as rp:
                rp.draw(light, count=3, bind=bind)
        return [color[3].numpy()]

    two = draw(tg.Device(), False)[0]
    assert np.array_equal(everywhere(lambda d: draw(d, True))[0], two)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("early", [False, True])
def test_depth_that_the_draw_itself_writes(samples: int, early: bool) -> None:
    """Tests after shading: a fragment sees what earlier primitives left; early_fragment_tests: its own value is there already."""
    rects = random_rectangles(23, 50)
    frag = f"""#version 450
{"layout(early_fragment_tests) in;" if early else ""}
{header(samples)}layout(location = 0) flat in uint v_id;
layout(location = 0) out float o_seen;
void main() {{ o_seen = {load("old", samples)}.r + float(v_id) * 2.0; }}"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        image = device.image(SIZE, "r32_sfloat", samples=samples)
        depth = device.image(SIZE, "d32_sfloat", samples=samples)
        pipe = device.pipeline(
            VERT, frag, vertex=DTYPE, color=["r32_sfloat"], depth="d32_sfloat", samples=samples,
            input_attachments=["depth"], blend="additive",
        )  # fmt: skip
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
            rp.draw(pipe, vertices(rects))
        return [pixels(image, samples)[..., 0]]

    depth, want = np.ones((SIZE[1], SIZE[0], samples), np.float32), np.zeros((SIZE[1], SIZE[0], samples), np.float32)
    for i, rect in enumerate(rects):
        mask = covered(rect, samples) & (np.float32(rect[4]) < depth)
        before = depth.copy()
        depth[mask] = rect[4]
        want[mask] += (depth if early else before)[mask] + np.float32((i + 1) * 2)
    assert np.array_equal(everywhere(draw)[0], want)


@pytest.mark.parametrize("format_", ["s8_uint", "d24_unorm_s8_uint", "d32_sfloat_s8_uint"])
def test_stencil(format_: str) -> None:
    rects = random_rectangles(31, 20)
    frag = f"""#version 450
{header(1, "u", 1)}layout(location = 0) out uint o_seen;
void main() {{ o_seen = subpassLoad(old).r; }}"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        image, stencil = device.image(SIZE, "r32_uint"), device.image(SIZE, format_)
        count = device.pipeline(
            VERT, None, vertex=DTYPE, color=["r32_uint"], stencil=format_, stencil_test={"pass": "increment_and_wrap"}
        )
        show = device.pipeline(FULL, frag, color=["r32_uint"], stencil=format_, input_attachments=[None, "stencil"])
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], stencil=tg.Attachment(stencil, clear=250)) as rp:
            rp.draw(count, vertices(rects))
            rp.draw(show, count=3)
        return [image.numpy()[..., 0]]

    want = (250 + sum(covered(r, 1)[..., 0].astype(np.uint32) for r in rects)) % 256
    assert np.array_equal(everywhere(draw)[0], want)


def test_any_sample_of_the_own_pixel_and_none_beyond() -> None:
    """An index that differs between lanes; a sample that the pass has not reads 0."""
    rects = random_rectangles(41, 12)
    frag = f"""#version 450
{header(4, "u")}layout(location = 1) out uint o_seen;
void main() {{ o_seen = subpassLoad(old, int(gl_FragCoord.x) % 5).r; }}"""
    fill = """#version 450
layout(location = 0) flat in uint v_id;
layout(location = 0) out uint o_id;
void main() { o_id = v_id; }"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        images = [device.image(SIZE, "r16_uint", samples=4) for _ in range(2)]
        formats = ["r16_uint"] * 2
        with device.render_pass(color=[tg.Attachment(i, clear=(99, 0, 0, 0)) for i in images]) as rp:
            rp.draw(device.pipeline(VERT, fill, vertex=DTYPE, color=formats, samples=4), vertices(rects))
            rp.draw(device.pipeline(FULL, frag, color=formats, samples=4), count=3)
        return [i.numpy()[..., 0] for i in images]

    ids, seen = everywhere(draw)
    want = np.full((SIZE[1], SIZE[0], 4), 99, np.uint16)
    for i, rect in enumerate(rects):
        want[covered(rect, 4)] = i + 1
    assert np.array_equal(ids, want)
    for x in range(SIZE[0]):
        expected = want[:, x, x % 5] if x % 5 < 4 else np.zeros(SIZE[1])
        assert np.array_equal(seen[:, x], np.repeat(expected[:, None], 4, 1)), x


def test_arrays_constant_and_dynamic_index() -> None:
    frag = """#version 450
layout(input_attachment_index = 1, set = 0, binding = 3) uniform usubpassInput old[3];
layout(location = 0) out uint o_seen;
void main() { o_seen = subpassLoad(old[1]).r * 100u + subpassLoad(old[int(gl_FragCoord.x) % 3]).r; }"""
    device = tg.Device()
    images = [device.image((9, 4), "r32_uint") for _ in range(4)]
    pipe = device.pipeline(FULL, frag, color=["r32_uint"] * 4)
    with device.render_pass(color=[tg.Attachment(im, clear=(i, 0, 0, 0)) for i, im in enumerate(images)]) as rp:
        rp.draw(pipe, count=3)
    assert images[0].numpy()[0, :, 0].tolist() == [201, 202, 203] * 3


def test_helper_lanes_and_the_border_are_defined() -> None:
    """Derivatives of what was read: the neighbours' tile values, 0 outside the render area; the same in every configuration."""
    rng = np.random.default_rng(3)
    triangles = np.zeros(90, DTYPE)
    triangles["position"][:, :2] = rng.uniform(-1, 1, (90, 2))
    triangles["position"][:, 2] = 0.5
    triangles["id"] = np.arange(90) // 3
    frag = f"""#version 450
{header(1, "u")}layout(location = 0) flat in uint v_id;
layout(location = 0) out uint o_value;
void main() {{
  float seen = float(subpassLoad(old).r & 1023u);
  o_value = uint(int(dFdx(seen) * 3.0) + int(dFdy(seen) * 5.0)) + v_id;
}}"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        image = device.image(SIZE, "r32_uint")
        pipe = device.pipeline(VERT, frag, vertex=DTYPE, color=["r32_uint"])
        with device.render_pass(color=[tg.Attachment(image, clear=(500, 0, 0, 0))], area=(3, 5, 61, 37)) as rp:
            rp.draw(pipe, triangles)
        return [image.numpy()]

    everywhere(draw)


def test_outside_the_render_area_zero_is_read() -> None:
    """Quads at the edges of an odd area reach out of it: the derivative there is that of a step from 0."""
    frag = f"""#version 450
{header(1, "i")}layout(location = 0) out ivec2 o_value;
void main() {{ float seen = float(subpassLoad(old).r); o_value = ivec2(dFdxFine(seen), dFdyFine(seen)); }}"""

    def draw(device: tg.Device) -> list[np.ndarray]:
        image = device.image(SIZE, "r16g16_sint")
        pipe = device.pipeline(FULL, frag, color=["r16g16_sint"])
        with device.render_pass(color=[tg.Attachment(image, clear=(500, 0))], area=(3, 5, 60, 38)) as rp:
            rp.draw(pipe, count=3)
        return [image.numpy()]

    value = everywhere(draw)[0]
    dx, dy = np.zeros((38, 60), int), np.zeros((38, 60), int)
    dx[:, 0], dx[:, -1], dy[0], dy[-1] = 500, -500, 500, -500
    assert np.array_equal(value[5:43, 3:63, 0], dx) and np.array_equal(value[5:43, 3:63, 1], dy)


ERRORS = [
    ("subpassInput", 1, {}, ["r8g8b8a8_unorm"], "input_attachment_index 1.*reads no attachment.*index 0 is color"),
    ("usubpassInput", 0, {}, ["r8g8b8a8_unorm"], "base type uint.*r8g8b8a8_unorm"),
    ("subpassInputMS", 0, {}, ["r8g8b8a8_unorm"], "subpassInputMS.*1 samples"),
    ("subpassInput", 0, {"samples": 4}, ["r8g8b8a8_unorm"], "declare it subpassInputMS"),
    ("subpassInput", 0, {"input_attachments": [None, "color0"]}, ["r8g8b8a8_unorm"], "input_attachment_index 0"),
    ("subpassInput", 0, {"input_attachments": ["colour0"]}, ["r8g8b8a8_unorm"], "did you mean 'color0'"),
    ("subpassInput", 0, {"input_attachments": ["color0", "color0"]}, ["r8g8b8a8_unorm"], "twice"),
    ("subpassInput", 0, {"input_attachments": ["depth"]}, ["r8g8b8a8_unorm"], "no attachment of this pipeline"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "index", "arguments", "formats", "message"), ERRORS)
def test_errors(kind: str, index: int, arguments: dict[str, Any], formats: list[str], message: str) -> None:
    argument = ", 0" if kind.endswith("MS") else ""
    frag = f"""#version 450
layout(input_attachment_index = {index}, set = 0, binding = 0) uniform {kind} old;
layout(location = 0) out vec4 o_color;
void main() {{ o_color = vec4(subpassLoad(old{argument})); }}"""
    with pytest.raises(tg.Error, match=message):
        tg.Device().pipeline(FULL, frag, color=formats, **arguments)


def test_nothing_is_bound_for_an_input_attachment() -> None:
    frag = f"""#version 450
{header(1)}layout(location = 0) out vec4 o_color;
void main() {{ o_color = subpassLoad(old); }}"""
    device = tg.Device()
    image = device.image((8, 8), "r8g8b8a8_unorm")
    pipe = device.pipeline(FULL, frag, color=[image.format])
    with pytest.raises(tg.Error, match="bind nothing"), device.render_pass(color=[image]) as rp:
        rp.draw(pipe, count=3, bind={"old": image})
    assert "reads the tile (input attachment)" in str(_explain(device, pipe, image))


def _explain(device: tg.Device, pipe: tg.Pipeline, image: tg.Image) -> Any:
    with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3)
    return rp.explain()


@pytest.mark.parametrize("samples", [1, 4])
def test_the_sample_keeps_its_g_buffer_in_the_tile(samples: int) -> None:
    path = Path(__file__).resolve().parent.parent / "samples" / "deferred.py"
    spec = importlib.util.spec_from_file_location("deferred_sample", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.UnusedNameWarning)
        lit, rp = module.render(tg.Device(), (96, 54), samples)
    for name in ("color0", "color1", "depth"):
        assert sum(rp.stats.traffic[name].values()) == 0
    picture = lit.numpy()[..., :3]
    assert picture[5, 48].max() < 70 and picture[45, 70].max() > 150  # the sky, the lit floor
