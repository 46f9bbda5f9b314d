"""Samplers that compare, with colours: the first component is compared, texel by texel, as a depth is.

Vulkan has it where a format says SAMPLED_IMAGE_DEPTH_COMPARISON; Direct3D's SampleCmp takes such textures. Oracle: the same texels as depth
(`d32_sfloat`), and NumPy.
"""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg
from test_input_attachments import FULL
from tilegpu.errors import ValidationError

SIZE = (16, 16)
TEXELS = np.random.default_rng(7).integers(0, 9, (5, 7)).astype(np.float32) / 8
OPERATIONS = ["never", "less", "equal", "less_or_equal", "greater", "not_equal", "greater_or_equal", "always"]
COMPARE = {
    "never": lambda a, b: np.zeros(b.shape, bool), "less": np.less, "equal": np.equal, "less_or_equal": np.less_equal,
    "greater": np.greater, "not_equal": np.not_equal, "greater_or_equal": np.greater_equal, "always": lambda a, b: np.ones(b.shape, bool),
}  # fmt: skip
SAMPLE = """#version 450
layout(set = 0, binding = 0) uniform sampler2DShadow t;
layout(location = 0) out vec4 o;
void main() {
  vec3 at = vec3(gl_FragCoord.xy / 13.0, 0.5);
  o = vec4(texture(t, at), textureLod(t, at, 0.0), textureGather(t, at.xy, 0.5).zw);
}"""


def sampled(device: tg.Device, format_: str, operation: str, filter_: str) -> np.ndarray:
    if format_.startswith("d"):
        image = device.image((7, 5), format_)
        fill = device.pipeline(FULL, """#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform texture2D t;
void main() { gl_FragDepth = texelFetch(t, ivec2(gl_FragCoord.xy), 0).r; }""", depth=format_, depth_compare="always")  # fmt: skip
        source = _values(device)
        with device.render_pass(depth=tg.Attachment(image, clear=1.0)) as rp:
            rp.draw(fill, count=3, bind={"t": source})
        view = image.view(aspect="depth")
    else:
        image = device.image((7, 5), format_)
        _drawn(device, image, format_)
        view = image.view()
    out = device.image(SIZE, "r32g32b32a32_sfloat")
    pipe = device.pipeline(FULL, SAMPLE, color=["r32g32b32a32_sfloat"])
    sampler = device.sampler(filter=filter_, address="clamp_to_edge", compare=operation)
    with device.render_pass(color=tg.Attachment(out, clear=(9, 9, 9, 9))) as rp:
        rp.draw(pipe, count=3, bind={"t": (view, sampler)})
    return out.numpy()


def _values(device: tg.Device) -> tg.Image:
    image = device.image((7, 5), "r32_sfloat")
    image.write(TEXELS[..., None])
    return image


def _drawn(device: tg.Device, image: tg.Image, format_: str) -> None:
    source = _values(device)
    fill = device.pipeline(FULL, """#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform texture2D t;
layout(location = 0) out vec4 o;
void main() { o = vec4(texelFetch(t, ivec2(gl_FragCoord.xy), 0).r, 0.25, 0.5, 0.75); }""", color=[format_])  # fmt: skip
    with device.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 0))) as rp:
        rp.draw(fill, count=3, bind={"t": source})


@pytest.mark.parametrize("filter_", ["nearest", "linear"])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_a_colour_compares_as_the_depth_of_the_same_value(lanes: int, filter_: str) -> None:
    device = tg.Device(lanes=lanes)
    for operation in OPERATIONS:
        want = sampled(device, "d32_sfloat", operation, filter_)
        assert np.array_equal(sampled(device, "r32_sfloat", operation, filter_), want), operation
        # Eighths are exact in these, but for the fixed ones, of which 0, 1 and what is not near the reference are.
        for format_ in ("r16g16_sfloat", "r16g16b16a16_sfloat", "b10g11r11_ufloat_pack32"):
            assert np.array_equal(sampled(device, format_, operation, filter_), want), (format_, operation)


@pytest.mark.parametrize("format_", ["r8_unorm", "r8g8b8a8_unorm", "a2b10g10r10_unorm_pack32", "r16_unorm", "r8g8_snorm", "r8g8b8a8_srgb"])
def test_codes_compare_as_their_values(format_: str) -> None:
    """Against what a fetch gives; the reference lies between codes."""
    device = tg.Device()
    image = device.image((7, 5), format_)
    _drawn(device, image, format_)
    values = device.image((7, 5), "r32_sfloat")
    fetch = device.pipeline(FULL, """#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform texture2D t;
layout(location = 0) out float o;
void main() { o = texelFetch(t, ivec2(gl_FragCoord.xy), 0).r; }""", color=["r32_sfloat"])  # fmt: skip
    with device.render_pass(color=tg.Attachment(values, clear=(0, 0, 0, 0))) as rp:
        rp.draw(fetch, count=3, bind={"t": image})
    texels = values.numpy()[..., 0]
    x = np.minimum(np.floor((np.arange(SIZE[0], dtype=np.float32) + 0.5) / np.float32(13) * 7).astype(int), 6)
    y = np.minimum(np.floor((np.arange(SIZE[1], dtype=np.float32) + 0.5) / np.float32(13) * 5).astype(int), 4)
    for operation in OPERATIONS:
        want = COMPARE[operation](np.float32(0.5), texels[np.ix_(y, x)]).astype(np.float32)
        got = sampled(device, format_, operation, "nearest")
        assert np.array_equal(got[..., 0], want) and np.array_equal(got[..., 1], want), operation


def test_integers_are_refused_by_name() -> None:
    device = tg.Device()
    pipe = device.pipeline(FULL, SAMPLE, color=["r32g32b32a32_sfloat"])
    out = device.image(SIZE, "r32g32b32a32_sfloat")
    stencil = device.image((4, 4), "d24_unorm_s8_uint").view(aspect="stencil")
    with pytest.raises(ValidationError, match=r"integers are not compared|integer"), device.render_pass(color=out) as rp:
        rp.draw(pipe, count=3, bind={"t": (stencil, device.sampler(compare="less"))})


#: Formats of blocks and of no red: the cubic filter has a way of its own for the first.
BLOCKS = ["bc1_rgba_unorm_block", "bc4_unorm_block", "bc6h_ufloat_block", "etc2_r8g8b8_unorm_block", "astc_4x4_unorm_block", "a8_unorm"]


@pytest.mark.parametrize("filter_", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("format_", BLOCKS)
def test_blocks_compare_as_what_a_fetch_gives(format_: str, filter_: str) -> None:
    device = tg.Device()
    image, values = device.image((8, 8), format_), device.image((8, 8), "r32_sfloat")
    size_B = image.format_info.texel_B
    # Blocks of a few kinds, so that many texels are decoded; of ASTC random ones may be errors, whose colour is one too.
    words = np.random.default_rng(3).integers(0, 256, (4 if format_ != "a8_unorm" else 64, size_B), np.uint8)
    if format_.startswith("astc"):
        words[:] = np.frombuffer(bytes.fromhex("fcfdffffffffffff") + bytes.fromhex("0040008000c000ff"), np.uint8)
    if format_ == "a8_unorm":
        device.clear(image, (0.5, 0.5, 0.5, 0.75))
    else:
        device.copy(device.buffer(words.reshape(-1)), image)
    fetch = device.pipeline(FULL, """#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform texture2D t;
layout(location = 0) out float o;
void main() { o = texelFetch(t, ivec2(gl_FragCoord.xy), 0).r; }""", color=["r32_sfloat"])  # fmt: skip
    with device.render_pass(color=tg.Attachment(values, clear=(0, 0, 0, 0))) as rp:
        rp.draw(fetch, count=3, bind={"t": image})
    pipe = device.pipeline(FULL, SAMPLE, color=["r32g32b32a32_sfloat"])
    for operation in OPERATIONS:
        seen = []
        for source in (image, values):
            out = device.image(SIZE, "r32g32b32a32_sfloat")
            sampler = device.sampler(filter=filter_, address="clamp_to_edge", compare=operation)
            with device.render_pass(color=tg.Attachment(out, clear=(9, 9, 9, 9))) as rp:
                rp.draw(pipe, count=3, bind={"t": (source, sampler)})
            seen.append(out.numpy())
        assert np.array_equal(*seen), operation


@pytest.mark.parametrize("format_", ["r8g8b8a8_unorm", "r32_sfloat", "d16_unorm", "d32_sfloat"])
@pytest.mark.parametrize("fetches", ["many", "flats"])
def test_what_is_fetched_beside_a_comparing_sampler(format_: str, fetches: str) -> None:
    """A fetch has no reference: its code is made for the pair too, as another variable of the heap fetches."""
    device = tg.Device()
    image, many = device.image((4, 4), format_), device.image((4, 4), "r8g8b8a8_unorm", samples=4)
    if format_.startswith("d"):
        device.clear(image, depth=0.25)
    else:
        device.clear(image, (0.25,) * 4)
    with device.render_pass(color=tg.Attachment(many, clear=(1, 1, 1, 1))):
        pass
    kind, last = ("sampler2DMS", "1") if fetches == "many" else ("sampler2D", "0")
    pipe = device.pipeline(FULL, f"""#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform sampler2DShadow compared[];
layout(set = 0, binding = 0) uniform {kind} fetched[];
layout(location = 0) out vec4 o;
void main() {{
  int i = int(gl_FragCoord.x) % 2;
  if (i == 0) o = vec4(texture(compared[nonuniformEXT(i)], vec3(0.5, 0.5, 0.125)));
  else o = texelFetch(fetched[nonuniformEXT(i)], ivec2(1), {last});
}}""", color=["r32g32b32a32_sfloat"], set_layouts={0: (layout := device.descriptor_set_layout(
        {0: ("combined_image_sampler", 2)}, partially_bound=True))})  # fmt: skip
    second = many if fetches == "many" else device.texture(np.full((4, 4, 4), 255, np.uint8)).image
    near, compares = device.sampler(filter="nearest"), device.sampler(filter="nearest", compare="less")
    out = device.image((8, 4), "r32g32b32a32_sfloat")
    with device.render_pass(color=tg.Attachment(out, clear=(9, 9, 9, 9))) as rp:
        rp.draw(pipe, count=3, sets={0: device.descriptor_set(layout, bind={0: [(image, compares), (second, near)]})})
    assert (out.numpy() == 1).all()
