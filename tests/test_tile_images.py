"""Tile images (SPV_EXT_shader_tile_image): what the tile has at a fragment's own pixel, read without descriptors.

Oracle: the same shader with subpass inputs (`test_input_attachments.py` holds those against NumPy), of which the module is made
(`tile_image_modules.py`), and NumPy where subpass inputs can't say it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from test_input_attachments import (
    CONFIGURATIONS,
    DTYPE,
    FULL,
    GBUFFER_FRAG,
    LIGHT,
    SIZE,
    VERT,
    covered,
    header,
    load,
    pixels,
    random_rectangles,
    vertices,
)
from tile_image_modules import DEPTH, STENCIL, assembled, tile_image_module, tile_image_text
from tilegpu.errors import Error, ShaderError

pytestmark = pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")


@pytest.mark.parametrize("version", ["1.3", "1.6"])
@pytest.mark.parametrize("samples", [1, 4])
def test_each_primitive_of_a_draw_sees_the_ones_before(samples: int, version: str) -> None:
    """Order cannot be permuted: every step multiplies what it finds."""
    rects = random_rectangles(70, 40)
    frag = tile_image_module(f"""#version 450
{header(samples, "u")}layout(location = 0) flat in uint v_id;
layout(location = 0) out uint o_value;
void main() {{ o_value = {load("old", samples)}.r * 1664525u + v_id; }}""", version)
    want = np.full((SIZE[1], SIZE[0], samples), 7, np.uint32)
    for i, rect in enumerate(rects):
        mask = covered(rect, samples)
        want[mask] = want[mask] * np.uint32(1664525) + np.uint32(i + 1)
    for configuration in CONFIGURATIONS:
        device = tg.Device(**configuration)
        image = device.image(SIZE, "r32_uint", samples=samples)
        pipe = device.pipeline(VERT, frag, vertex=DTYPE, color=["r32_uint"], samples=samples)
        with device.render_pass(color=[tg.Attachment(image, clear=(7, 0, 0, 0))]) as rp:
            rp.draw(pipe, vertices(rects))
        assert np.array_equal(pixels(image, samples)[..., 0], want), configuration


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("depth_format", ["d32_sfloat", "d16_unorm", "d24_unorm_s8_uint"])
def test_deferred_shading(samples: int, depth_format: str) -> None:
    """Three colours and depth: the picture of subpass inputs, and nothing leaves the tile."""
    rects = random_rectangles(11, 40)
    formats = ["r8g8b8a8_unorm", "r16g16_sfloat", "r32_uint", "r8g8b8a8_unorm"]

    def shader(depth: int) -> str:
        return f"""#version 450
{header(samples, "", 0, "albedo")}{header(samples, "", 1, "normal")}{header(samples, "u", 2, "ids")}{header(samples, "", depth, "depth")}
layout(location = 3) out vec4 o_color;
{LIGHT}
void main() {{
  o_color = light({load("albedo", samples)}, {load("normal", samples)}.rg, {load("ids", samples)}.r, {load("depth", samples)}.r);
}}"""

    def draw(configuration: dict[str, Any], frag: bytes | str, **state: Any) -> np.ndarray:
        device = tg.Device(**configuration)
        color = [device.image(SIZE, f, samples=samples, transient=i < 3) for i, f in enumerate(formats)]
        depth = device.image(SIZE, depth_format, samples=samples, transient=True)
        fill = device.pipeline(VERT, GBUFFER_FRAG, vertex=DTYPE, color=formats, depth=depth_format, samples=samples)
        pipe = device.pipeline(
            FULL, frag, color=formats, depth=depth_format, samples=samples, depth_test=False, **state
        )
        assert not (isinstance(frag, bytes) and pipe.set_layouts)
        clears = [(0.25, 0.5, 0.125, 1), (0.5, 0.25), (9, 0, 0, 0), (0, 0, 0, 1)]
        keep = ["dont_care"] * 3 + ["store"]
        attachments = [tg.Attachment(i, clear=c, store_op=k) for i, c, k in zip(color, clears, keep, strict=True)]
        with device.render_pass(color=attachments, depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")) as rp:
            rp.draw(fill, vertices(rects))
            rp.draw(pipe, count=3)
        if not rp.stats.splits:
            assert all(sum(rp.stats.traffic[f"color{i}"].values()) == 0 for i in range(3))
        return color[3].numpy()

    want = draw({}, shader(3), input_attachments=["color0", "color1", "color2", "depth"])
    module = tile_image_module(shader(DEPTH))
    for configuration in CONFIGURATIONS:
        assert np.array_equal(draw(configuration, module), want), configuration


@pytest.mark.parametrize("early", [False, True])
def test_depth_that_the_draw_itself_writes(early: bool) -> None:
    rects = random_rectangles(23, 50)

    def shader(index: int) -> str:
        return f"""#version 450
{"layout(early_fragment_tests) in;" if early else ""}
{header(1, "", index)}layout(location = 0) flat in uint v_id;
layout(location = 0) out float o_seen;
void main() {{ o_seen = {load("old", 1)}.r + float(v_id) * 2.0; }}"""

    def draw(configuration: dict[str, Any], frag: bytes | str, **state: Any) -> np.ndarray:
        device = tg.Device(**configuration)
        image, depth = device.image(SIZE, "r32_sfloat"), device.image(SIZE, "d32_sfloat")
        pipe = device.pipeline(VERT, frag, vertex=DTYPE, color=["r32_sfloat"], depth="d32_sfloat", blend="additive", **state)
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
            rp.draw(pipe, vertices(rects))
        return image.numpy()

    want = draw({}, shader(0), input_attachments=["depth"])
    for configuration in CONFIGURATIONS:
        assert np.array_equal(draw(configuration, tile_image_module(shader(DEPTH))), want), configuration


@pytest.mark.parametrize("format_", ["s8_uint", "d24_unorm_s8_uint", "d32_sfloat_s8_uint"])
def test_stencil(format_: str) -> None:
    rects = random_rectangles(31, 20)
    frag = tile_image_module(f"""#version 450
{header(1, "u", STENCIL)}layout(location = 0) out uint o_seen;
void main() {{ o_seen = subpassLoad(old).r; }}""")
    want = (250 + sum(covered(r, 1)[..., 0].astype(np.uint32) for r in rects)) % 256
    for configuration in CONFIGURATIONS:
        device = tg.Device(**configuration)
        image, stencil = device.image(SIZE, "r32_uint"), device.image(SIZE, format_)
        count = device.pipeline(
            VERT, None, vertex=DTYPE, color=["r32_uint"], stencil=format_, stencil_test={"pass": "increment_and_wrap"}
        )
        show = device.pipeline(FULL, frag, color=["r32_uint"], stencil=format_)
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], stencil=tg.Attachment(stencil, clear=250)) as rp:
            rp.draw(count, vertices(rects))
            rp.draw(show, count=3)
        assert np.array_equal(image.numpy()[..., 0], want), configuration


def test_without_a_sample_it_is_sample_0_and_each_by_its_number() -> None:
    """A resolve of the program's own: one invocation reads all samples of its pixel; a sample that the pass has not reads 0."""
    rects = random_rectangles(41, 12)
    module = tile_image_module("""#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput old;
layout(location = 1) out uint o_seen;
void main() { o_seen = subpassLoad(old).r * 1000u; }""")
    sums = tile_image_module("""#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInputMS old;
layout(location = 1) out uint o_seen;
void main() {
  uint sum = 0u;
  for (int i = 0; i < 6; i++) sum = sum * 31u + subpassLoad(old, i).r;
  o_seen = sum + subpassLoad(old, int(gl_FragCoord.x) % 4).r;
}""")
    fill = """#version 450
layout(location = 0) flat in uint v_id;
layout(location = 0) out uint o_value;
void main() { o_value = v_id; }"""
    ids = np.full((SIZE[1], SIZE[0], 4), 5, np.uint32)
    for i, rect in enumerate(rects):
        ids[covered(rect, 4)] = i + 1
    fold = np.zeros(ids.shape[:2], np.uint32)
    for i in range(6):
        fold = fold * np.uint32(31) + (ids[..., i] if i < 4 else np.uint32(0))
    column = np.arange(SIZE[0]) % 4
    fold = fold + np.take_along_axis(ids, np.broadcast_to(column[None, :, None], (*ids.shape[:2], 1)), 2)[..., 0]
    for configuration in CONFIGURATIONS:
        device = tg.Device(**configuration)
        for frag, want in ((module, ids[..., 0] * np.uint32(1000)), (sums, fold)):
            images = [device.image(SIZE, "r32_uint", samples=4) for _ in range(2)]
            first = device.pipeline(VERT, fill, vertex=DTYPE, color=["r32_uint"] * 2, samples=4, write_mask=["rgba", ""])
            second = device.pipeline(FULL, frag, color=["r32_uint"] * 2, samples=4)
            with device.render_pass(color=[tg.Attachment(i, clear=(5, 0, 0, 0)) for i in images]) as rp:
                rp.draw(first, vertices(rects))
                rp.draw(second, count=3)
            seen = images[1].numpy()[..., 0]
            assert np.array_equal(seen, np.broadcast_to(want[..., None], seen.shape)), configuration


ARRAY = """#version 450
layout(input_attachment_index = 1, set = 0, binding = 3) uniform usubpassInput old[3];
layout(location = 0) out uint o_seen;
void main() { o_seen = subpassLoad(old[1]).r * 100u + subpassLoad(old[2]).r; }"""


def test_arrays_and_locations_that_nobody_draws_to() -> None:
    """Elements have locations of their own; of one that has no attachment zeros are read."""
    device = tg.Device()
    images = [device.image((8, 8), "r32_uint") for _ in range(3)]
    pipe = device.pipeline(FULL, tile_image_module(ARRAY), color=["r32_uint"] * 3)
    with device.render_pass(color=[tg.Attachment(image, clear=(3 + k, 0, 0, 0)) for k, image in enumerate(images)]) as rp:
        rp.draw(pipe, count=3)
    assert (images[0].numpy()[..., 0] == 500).all()  # location 3 has none
    assert not pipe.set_layouts


def test_a_plane_that_the_pass_has_not_reads_zeros() -> None:
    frag = tile_image_module(f"""#version 450
{header(1, "", DEPTH, "z")}{header(1, "u", STENCIL, "s")}
layout(location = 0) out vec4 o_color;
void main() {{ o_color = vec4(subpassLoad(z).r + 0.25, float(subpassLoad(s).r) + 0.5, 1.0, 1.0); }}""")
    device = tg.Device()
    image = device.image((8, 8), "r32g32b32a32_sfloat")
    with device.render_pass(color=tg.Attachment(image, clear=(9, 9, 9, 9))) as rp:
        rp.draw(device.pipeline(FULL, frag, color=["r32g32b32a32_sfloat"]), count=3)
    assert (image.numpy() == (0.25, 0.5, 1, 1)).all()


PLAIN = """#version 450
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput old;
layout(location = 0) out vec4 o_color;
void main() { o_color = subpassLoad(old); }"""


def test_kinds_that_differ_are_an_error() -> None:
    with pytest.raises(Error, match=r"tile image 'old' \(location 0\) is of base type float.*r32_uint"):
        text = PLAIN.replace("vec4 o", "uvec4 o").replace("= subpassLoad(old)", "= uvec4(subpassLoad(old))")
        tg.Device().pipeline(FULL, tile_image_module(text), color=["r32_uint"])


@pytest.mark.parametrize(("before", "after", "words"), [
    ("OpCapability TileImageColorReadAccessEXT", "", "capability TileImageColorReadAccessEXT is not declared"),
    ("Location 0\n", "Location 8\n", "tile image has Location 8; locations go from 0 to 7"),
    ("!4173 !0 !0 !0 !2 !0", "!4173 !0 !1 !0 !2 !0", "must have Arrayed 0, MS 0, Sampled 2"),
    ('OpExtension "SPV_EXT_shader_tile_image"', "", "not valid SPIR-V"),
])  # fmt: skip
def test_modules_that_are_wrong_are_told(before: str, after: str, words: str) -> None:
    """Each is what SPIRV-Tools of 2023 can't judge."""
    text = tile_image_text(PLAIN)
    image = next(line.split()[0] for line in text.splitlines() if "OpVariable" in line and "!4172" in line)
    if "Location" in before:
        before, after = f"OpDecorate {image} {before}", f"OpDecorate {image} {after}"
    assert before in f"{text}\n"
    module = assembled(f"{text}\n".replace(before, after))
    with pytest.raises(ShaderError, match=words):
        tg.Device().pipeline(FULL, module, color=["r8g8b8a8_unorm"])


def test_non_coherent_reads_are_coherent() -> None:
    text = tile_image_text(PLAIN)
    main = next(line.split()[2] for line in text.splitlines() if "OpEntryPoint" in line)
    modes = "\n".join(f"OpExecutionMode {main} NonCoherent{plane}AttachmentReadEXT" for plane in ("Color", "Depth", "Stencil"))
    origin = next(line for line in text.splitlines() if "OriginUpperLeft" in line)
    module = assembled(text.replace(origin, f"{origin}\n{modes}"))
    device = tg.Device()
    image = device.image((8, 8), "r8g8b8a8_unorm")
    with device.render_pass(color=tg.Attachment(image, clear=(0.2, 0.4, 0.6, 0.8))) as rp:
        rp.draw(device.pipeline(FULL, module, color=["r8g8b8a8_unorm"]), count=3)
    assert (image.numpy() == (51, 102, 153, 204)).all()
