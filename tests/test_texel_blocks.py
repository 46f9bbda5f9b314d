"""Views of compressed images whose texels are texel blocks: what kernels, passes and copies write as blocks is what the compressed image
decodes, for every format, level, layer and slice, against the oracle of blocks; captures; what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracle import compressed as oracle
from tests.test_compressed_formats import FETCH, FULL, HEAD, block_counts, draw, random_blocks, same_texels

import tilegpu as tg

USAGE = ("sampled", "storage", "color_attachment", "input_attachment", "transfer_src", "transfer_dst")
WRITE = """#version 450
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0, {layout}) uniform writeonly uimage2D{array} blocks;
layout(binding = 1) readonly buffer In {{ uint words[]; }};
layout(push_constant) uniform P {{ uint columns, rows, layer; }};
void main() {{
  uvec2 at = gl_GlobalInvocationID.xy;
  if (at.x >= columns || at.y >= rows) return;
  uint k = (at.y * columns + at.x) * {words}u;
  imageStore(blocks, {place}, uvec4(words[k], words[k + 1u], {rest}));
}}"""


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=2)


def words_of(name: str) -> int:
    return oracle.block_B(name) // 4


def block_format(name: str) -> str:
    return "r32g32_uint" if words_of(name) == 2 else "r32g32b32a32_uint"


def writer(dev: tg.Device, name: str, array: bool = False) -> tg.ComputePipeline:
    wide = words_of(name) == 4
    return dev.compute_pipeline(
        WRITE.format(
            layout="rgba32ui" if wide else "rg32ui",
            array="Array" if array else "",
            words=4 if wide else 2,
            place="ivec3(at, layer)" if array else "ivec2(at)",
            rest="words[k + 2u], words[k + 3u]" if wide else "0u, 1u",
        )
    )


def write(dev: tg.Device, pipe: tg.ComputePipeline, view: Any, blocks: np.ndarray, layer: int = 0) -> None:
    rows, columns = blocks.shape[:2]
    push = {"columns": columns, "rows": rows, "layer": layer}
    dev.dispatch(pipe, invocations=(columns, rows), bind={"blocks": view, "In": blocks.view(np.uint32).ravel()}, push=push)


@pytest.mark.parametrize("name", oracle.FORMATS)
def test_what_a_kernel_writes_as_blocks_is_decoded(name: str) -> None:
    """Each level by itself, of a size that is no multiple of a block, at any number of lanes: read as colours and as blocks."""
    block = oracle.block_px(name)
    size, levels = (block[0] * 3 + 1, block[1] * 3 - 1), 3
    for lanes in (4, 8, 16):
        dev = tg.Device(threads=2, lanes=lanes)
        image = dev.image(size, name, mip_levels=levels, usage=USAGE)
        pipe = writer(dev, name)
        written = []
        for level in range(levels):
            level_size = (max(1, size[0] >> level), max(1, size[1] >> level))
            rows, columns = block_counts(name, level_size)
            blocks = random_blocks(name, rows, columns, seed=level)
            assert image.texel_blocks[level].size == (columns, rows)
            write(dev, pipe, image.view(format=block_format(name), level=level, levels=1), blocks)
            written.append((level_size, blocks))
        for level, (level_size, blocks) in enumerate(written):
            want = oracle.decode_image(name, blocks, level_size)
            frag = FETCH.replace(", 0)", f", {level})")
            assert same_texels(name, draw(dev, frag, {"t": (image, dev.sampler(filter="nearest"))}, level_size), want), (lanes, level)
            seen = image.texel_blocks[level].numpy()
            assert np.array_equal(seen.reshape(*blocks.shape[:2], -1), blocks.view(np.uint32).reshape(*blocks.shape[:2], -1))
            assert same_texels(name, image.numpy(level), want[..., : tg.format_info(name).component_count].copy())


@pytest.mark.parametrize("name", ["bc1_rgba_unorm_block", "bc7_unorm_block", "etc2_r8g8b8_unorm_block", "astc_6x5_unorm_block"])
def test_layers_and_slices(dev: tg.Device, name: str) -> None:
    """Several layers of an array at once; slices of a volume, one by one; faces of a cube."""
    block, fmt = oracle.block_px(name), block_format(name)
    size = (block[0] * 2 + 3, block[1] * 2 + 1)
    counts = block_counts(name, size)
    layers = [random_blocks(name, *counts, seed=k) for k in range(3)]
    array = dev.image(size, name, layers=4, usage=USAGE)
    view = array.view("2d_array", format=fmt, layer=1, layers=3)
    for k, blocks in enumerate(layers):
        write(dev, writer(dev, name, array=True), view, blocks, k)
    volume = dev.image((*size, 3), name, usage=USAGE)
    for k, blocks in enumerate(layers):
        write(dev, writer(dev, name), volume.view("2d", format=fmt, layer=k, layers=1), blocks)
    for k, blocks in enumerate(layers):
        want = oracle.decode_image(name, blocks, size)
        frag = FETCH.replace("sampler2D", "sampler2DArray").replace("ivec2(gl_FragCoord.xy)", f"ivec3(gl_FragCoord.xy, {k + 1})")
        assert same_texels(name, draw(dev, frag, {"t": (array, dev.sampler(filter="nearest"))}, size), want)
        frag = FETCH.replace("sampler2D", "sampler3D").replace("ivec2(gl_FragCoord.xy)", f"ivec3(gl_FragCoord.xy, {k})")
        assert same_texels(name, draw(dev, frag, {"t": (volume, dev.sampler(filter="nearest"))}, size), want)
    square = dev.image((block[0] * block[1], block[0] * block[1]), name, cube=True, usage=USAGE)
    cube = square.texel_blocks[0].size[0] == square.texel_blocks[0].size[1]
    assert cube == (block[0] == block[1])


@pytest.mark.parametrize("name", ["bc4_unorm_block", "bc6h_sfloat_block", "astc_8x5_unorm_block"])
def test_a_pass_draws_blocks(dev: tg.Device, name: str) -> None:
    """Clears, draws, loads what a copy wrote, stores; blocks are read as an input of the next pass, and by a sampler as floats."""
    block, fmt, wide = oracle.block_px(name), block_format(name), words_of(name) == 4
    size = (block[0] * 9 - 2, block[1] * 5 - 1)
    rows, columns = block_counts(name, size)
    blocks, words = random_blocks(name, rows, columns), words_of(name)
    image = dev.image(size, name, usage=USAGE)
    color = image.view(format=fmt)
    frag = f"""#version 450
layout(location = 0) out uvec4 o; layout(binding = 0) readonly buffer In {{ uint words[]; }};
void main() {{ uint k = (uint(gl_FragCoord.y) * {columns}u + uint(gl_FragCoord.x)) * {words}u;
  o = uvec4(words[k], words[k + 1u], {"words[k + 2u], words[k + 3u]" if wide else "0u, 0u"}); }}"""
    pipe = dev.pipeline(FULL, frag, color=[color])
    half = columns // 2
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"In": blocks.view(np.uint32).ravel()}, scissor=(0, 0, half, rows))
    want = blocks.copy()
    want[:, half:] = 0
    assert np.array_equal(image.texel_blocks[0].numpy().reshape(rows, columns, -1), want.view(np.uint32).reshape(rows, columns, -1))
    dev.copy(blocks[:, half:], image, destination_pos=(half * block[0], 0), extent=(size[0] - half * block[0], size[1]))
    with dev.render_pass(color=[tg.Attachment(color, "load")]) as rp:
        rp.clear((1, 2, 3, 4), rect=(1, 1, 2, 1))
    want = blocks.copy()
    want[1, 1:3] = np.array([1, 2, 3, 4][:words], np.uint32).view(np.uint8)
    assert same_texels(name, draw(dev, FETCH, {"t": (image, dev.sampler(filter="nearest"))}, size), oracle.decode_image(name, want, size))
    seen = FETCH.replace("out vec4", "out uvec4").replace("sampler2D", "usampler2D")
    out = dev.image((columns, rows), "r32g32b32a32_uint")
    with dev.render_pass(color=[tg.Attachment(out, "dont_care")]) as rp:
        rp.draw(dev.pipeline(FULL, seen, color=[out]), count=3, bind={"t": (color, dev.sampler(filter="nearest"))})
    assert np.array_equal(out.numpy()[..., :words], want.view(np.uint32).reshape(rows, columns, -1))


def test_a_capture_holds_views_of_blocks(dev: tg.Device, tmp_path: Path) -> None:
    name, size = "bc3_unorm_block", (22, 14)
    rows, columns = block_counts(name, size)
    blocks = random_blocks(name, rows, columns)
    image, out = dev.image(size, name, usage=USAGE, mip_levels=2), dev.image(size, "r32g32b32a32_sfloat")
    dev.copy(blocks, image)
    frag = HEAD + """layout(binding = 0) uniform sampler2D t; layout(binding = 1) uniform usampler2D b;
void main() { o = texelFetch(t, ivec2(gl_FragCoord.xy), 0) + vec4(texelFetch(b, ivec2(gl_FragCoord.xy) / 4, 0) & 255u); }"""
    pipe, nearest = dev.pipeline(FULL, frag, color=[out]), dev.sampler(filter="nearest")
    bind = {"t": (image, nearest), "b": (image.view(format="r32g32b32a32_uint", levels=1), nearest)}
    with dev.render_pass(color=[tg.Attachment(out, "dont_care")], label="seen") as rp:
        rp.draw(pipe, count=3, bind=bind)
    first = np.repeat(np.repeat(blocks.view(np.uint32) & 255, 4, 0), 4, 1)[: size[1], : size[0]]
    want = oracle.decode_image(name, blocks, size) + first.astype(np.float32)
    assert np.array_equal(out.numpy(), want.astype(np.float32))
    rp.capture(tmp_path / "c")
    for lanes in (4, 16):
        replay = tg.Device(cache_dir="off", lanes=lanes).load_capture(tmp_path / "c")
        replay.run()
        assert np.array_equal(replay.pictures[0], out.numpy())


def test_contents_are_the_memorys(dev: tg.Device) -> None:
    """What a pass leaves undefined as blocks is undefined as colours, and what is copied as blocks is defined again."""
    image = dev.image((8, 8), "bc7_unorm_block", usage=USAGE, label="bc")
    view = image.view(format="r32g32b32a32_uint")
    with dev.render_pass(color=[tg.Attachment(view, clear=(0, 0, 0, 0), store_op="dont_care")], label="lost") as rp:
        pass
    assert "store_op of pass 'lost'" in image.view().why_undefined()
    del rp
    dev.copy(np.zeros((2, 2, 16), np.uint8), image)
    assert not view.why_undefined() and not image.view().why_undefined()
    assert view.image.label == "bc (blocks of level 0)" and view.image.texel_blocks == ()


WRONG = {
    r"levels is 2; a view of texel blocks has one level: give levels=1": lambda i: i.view(format="r32g32b32a32_uint"),
    r"level is 2; the image has 2, from 0 on": lambda i: i.view(format="r32g32b32a32_uint", level=2, levels=1),
    r"format is r32g32_uint, allowed is bc7_unorm_block, or one of the same compression, or of colour that is not compressed "
    r"with 16 bytes": lambda i: i.view(format="r32g32_uint", levels=1),
    r"format is bc3_unorm_block, allowed is bc7_unorm_block": lambda i: i.view(format="bc3_unorm_block"),
    r"type is '3d', and the image is 2d": lambda i: i.view("3d", format="r32g32b32a32_uint", levels=1),
}


@pytest.mark.parametrize("message", WRONG)
def test_views_that_cannot_be(dev: tg.Device, message: str) -> None:
    image = dev.image((10, 6), "bc7_unorm_block", mip_levels=2, usage=USAGE, label="b")
    with pytest.raises(tg.Error) as caught:
        WRONG[message](image)
    assert re.search(message, str(caught.value)), caught.value


def test_the_compressed_image_itself_is_never_written_by_shaders(dev: tg.Device) -> None:
    image = dev.image((8, 8), "bc7_unorm_block", usage=USAGE, label="b")
    pipe = dev.compute_pipeline(
        "#version 450\nlayout(local_size_x = 1) in; layout(binding = 0, rgba8) uniform writeonly image2D b;"
        "void main() { imageStore(b, ivec2(0), vec4(1)); }"
    )
    with pytest.raises(tg.Error, match="format of the view of image 'b' is bc7_unorm_block, allowed is a format that is not compressed"):
        dev.dispatch(pipe, 1, bind={"b": image})
    with pytest.raises(tg.Error, match="bc7_unorm_block"), dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]):
        pass
    with pytest.raises(tg.Error, match="without storage"):
        plain = dev.image((8, 8), "bc7_unorm_block", label="plain")
        dev.dispatch(pipe, 1, bind={"b": plain.view(format="r32g32b32a32_sfloat")})


def test_frames_know_whose_memory_blocks_are(dev: tg.Device) -> None:
    """The lint advised to store nothing of what a later pass samples, and an image that blocks had written was written by nobody."""
    image = dev.image((32, 32), "bc1_rgba_unorm_block", usage=USAGE, mip_levels=2, label="tex")
    out = dev.image((32, 32), "r8g8b8a8_unorm")
    red = "#version 450\nlayout(location = 0) out uvec2 o; void main() { o = uvec2(0xf800f800u, 0u); }"
    encode = dev.pipeline(FULL, red, color=["r32g32_uint"])
    show = dev.pipeline(FULL, FETCH, color=[out])
    with dev.frame("f", outputs=[image, out], strict=True) as frame:
        for level in range(2):
            with dev.render_pass(color=tg.Attachment(image.texel_blocks[level], clear=(0, 0)), label=f"encode {level}") as rp:
                rp.draw(encode, count=3)
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="show") as rp:
            rp.draw(show, count=3, bind={"t": (image, dev.sampler(filter="nearest"))})
    assert {(edge.source, edge.target) for edge in frame.edges} >= {(0, 2), (1, 2)}
    assert not [finding for finding in frame.lint() if "nobody" in str(finding)]
    assert out.numpy()[3, 3].tolist() == [255, 0, 0, 255]


def test_the_least_level_of_a_view_of_blocks(dev: tg.Device) -> None:
    image = dev.image((32, 32), "bc1_rgba_unorm_block", usage=USAGE, mip_levels=3)
    assert image.view("2d", format="r32g32_uint", level=1, levels=1, min_lod=1.0)
    for least in (1.5, 3.0, float("nan")):
        with pytest.raises(tg.ValidationError, match=r"min_lod is .*; a view of texel blocks has level 1 alone"):
            image.view("2d", format="r32g32_uint", level=1, levels=1, min_lod=least)
