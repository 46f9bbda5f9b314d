"""Sampler Y'CbCr conversions: every format, model, range, chroma location and filter to the bit of an oracle; planes; what is refused."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from tests.oracle import ycbcr as oracle

import tilegpu as tg

SEED = int(os.environ.get("TILEGPU_FUZZ_SEED", "0"))  # `make fuzz`: other places and conversions each time
SIZE = (12, 10)
COUNT = 512
SAMPLES = """#version 450
layout(local_size_x = 64) in;
layout(binding = 0) uniform sampler2D frame;
layout(binding = 1) readonly buffer Places { vec4 places[]; };
layout(binding = 2) writeonly buffer Colors { vec4 colors[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  colors[i] = textureLod(frame, places[i].xy, places[i].z);
}"""
WHOLE = """#version 450
layout(location = 0) out vec2 uv;
void main() {
  uv = vec2(gl_VertexIndex == 1 ? 2 : 0, gl_VertexIndex == 2 ? 2 : 0);
  gl_Position = vec4(uv * 2 - 1, 0, 1);
}"""
SHOW = """#version 450
layout(binding = 0) uniform sampler2D frame;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = texture(frame, uv); }"""
FORMATS = [name for name in tg.format_names() if tg.format_info(name).needs_conversion]
NV12, I420 = "g8_b8r8_2plane_420_unorm", "g8_b8_r8_3plane_420_unorm"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def frame(dev: tg.Device, name: str, planes: list[np.ndarray], size: tuple[int, int] = SIZE) -> tg.Image:
    image = dev.image(size, name)
    for k, words in enumerate(planes):
        dev.copy(words, image, aspect=f"plane_{k}" if len(planes) > 1 else None)
    return image


def places(seed: int = 0) -> np.ndarray:
    """Coordinates inside, outside, on borders of texels and between; levels of detail that magnify and that don't."""
    rng = np.random.default_rng(seed + 1000 * SEED)
    out = np.zeros((COUNT, 4), np.float32)
    out[:, :2] = rng.uniform(-0.3, 1.3, (COUNT, 2))
    out[:128, :2] = rng.integers(-4, 30, (128, 2)) / (2 * np.array(SIZE))
    out[:, 2] = rng.choice([-1, 0, 0.5, 3], COUNT)
    return out


def conversion(dev: tg.Device, name: str, how: oracle.Conversion) -> tg.SamplerYcbcrConversion:
    return dev.sampler_ycbcr_conversion(
        name,
        model=how.model,
        range=how.range,
        components=how.components,
        x_chroma_offset=how.x_chroma_offset,
        y_chroma_offset=how.y_chroma_offset,
        chroma_filter=how.chroma_filter,
        force_explicit_reconstruction=how.force_explicit_reconstruction,
    )


def sampled(dev: tg.Device, pipe: Any, image: tg.Image, how: oracle.Conversion, at: np.ndarray, mag: str, min_: str) -> np.ndarray:
    colors = dev.buffer(np.zeros((COUNT, 4), np.float32))
    sampler = dev.sampler(mag_filter=mag, min_filter=min_, ycbcr=conversion(dev, image.format, how))
    dev.dispatch(pipe, (COUNT // 64, 1, 1), bind={"frame": (image, sampler), "Places": dev.buffer(at), "Colors": colors})
    return colors.numpy().view(np.float32).reshape(COUNT, 4)


def wanted(name: str, planes: list[np.ndarray], how: oracle.Conversion, at: np.ndarray, mag: str, min_: str) -> np.ndarray:
    format_ = oracle.Format(name)
    by = {
        f: oracle.sample(format_, planes, at[:, 0], at[:, 1], f == "linear", how) for f in {mag, min_}
    }
    return np.where(at[:, 2:3] <= 0, by[mag], by[min_])


def choices(name: str, seed: int, count: int) -> list[tuple[oracle.Conversion, str, str]]:
    rng = np.random.default_rng(seed + 1000 * SEED)
    subsampled = oracle.Format(name).chroma != (1, 1)
    out = []
    for _ in range(count):
        pick = lambda *of: of[rng.integers(len(of))]  # noqa: E731
        out.append(
            (
                oracle.Conversion(
                    model=pick("rgb_identity", "ycbcr_identity", *oracle.MODELS),
                    range=pick("itu_narrow", "itu_full"),
                    components=pick("rgba", "bgra", "rgb0", "bgr1") if subsampled else pick("rgba", "bgra", "grb1", "brg0"),
                    x_chroma_offset=pick("cosited_even", "midpoint"),
                    y_chroma_offset=pick("cosited_even", "midpoint"),
                    chroma_filter=pick("linear", "nearest"),
                    force_explicit_reconstruction=bool(rng.integers(2)),
                ),
                pick("linear", "nearest"),
                pick("linear", "nearest"),
            )
        )
    return out


def assert_same(got: np.ndarray, want: np.ndarray, what: object) -> None:
    differ = np.nonzero((got.view(np.uint32) != want.astype(np.float32).view(np.uint32)) & ~((got == 0) & (want == 0)))[0]
    assert differ.size == 0, f"{what}: sample {differ[0]}: {got[differ[0]]}, wanted {want[differ[0]]}; {differ.size} numbers differ"


def test_formats_are_there() -> None:
    assert len(FORMATS) == 32
    assert {NV12, I420, "g16b16g16r16_422_unorm", "g12x4_b12x4r12x4_2plane_444_unorm_3pack16"} <= set(FORMATS)
    info = tg.format_info(NV12)
    assert [p.name for p in info.planes] == ["r8_unorm", "r8g8_unorm"] and info.chroma_px == (2, 2)
    assert tg.format_info("b8g8r8g8_422_unorm").block_px == (2, 1) and not tg.format_info("b8g8r8g8_422_unorm").planes
    assert [p.name for p in tg.format_info("g10x6_b10x6r10x6_2plane_422_unorm_3pack16").planes] == [
        "r10x6_unorm_pack16",
        "r10x6g10x6_unorm_2pack16",
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_sampled_as_the_specification_says(dev: tg.Device, name: str) -> None:
    rng = np.random.default_rng(FORMATS.index(name))
    pipe = dev.compute_pipeline(SAMPLES)
    size = SIZE if oracle.Format(name).chroma != (1, 1) else (11, 7)  # only chroma for two wants even sizes
    planes = oracle.Format(name).random(size, rng)
    image, at = frame(dev, name, planes, size), places(FORMATS.index(name))
    for how, mag, min_ in choices(name, FORMATS.index(name), 6):
        assert_same(sampled(dev, pipe, image, how, at, mag, min_), wanted(name, planes, how, at, mag, min_), (name, how, mag, min_))


def test_every_way_of_reconstruction(dev: tg.Device) -> None:
    """Locations, filters, explicit or not, of 4:2:0 and 4:2:2; odd sizes of chroma, one texel of it."""
    pipe = dev.compute_pipeline(SAMPLES)
    rng = np.random.default_rng(5)
    for name, size in ((NV12, (14, 6)), ("g8b8g8r8_422_unorm", (6, 5)), (I420, (2, 2))):
        planes = oracle.Format(name).random(size, rng)
        image, at = frame(dev, name, planes, size), places(7)
        for x, y, chroma, explicit, luma in itertools.product(
            ("cosited_even", "midpoint"), ("cosited_even", "midpoint"), ("nearest", "linear"), (False, True), ("nearest", "linear")
        ):
            how = oracle.Conversion("rgb_identity", "itu_full", "rgba", x, y, chroma, explicit)
            assert_same(sampled(dev, pipe, image, how, at, luma, luma), wanted(name, planes, how, at, luma, luma), (name, how, luma))


def test_every_model_and_range_at_every_depth(dev: tg.Device) -> None:
    pipe = dev.compute_pipeline(SAMPLES)
    rng = np.random.default_rng(9)
    names = ("g10x6_b10x6_r10x6_3plane_422_unorm_3pack16", "b12x4g12x4r12x4g12x4_422_unorm_4pack16", "g16_b16r16_2plane_444_unorm")
    for name in (NV12, *names):
        planes = oracle.Format(name).random(SIZE, rng)
        image, at = frame(dev, name, planes), places(8)
        for model, range_ in itertools.product(("rgb_identity", "ycbcr_identity", *oracle.MODELS), ("itu_full", "itu_narrow")):
            how = oracle.Conversion(model, range_, chroma_filter="linear", y_chroma_offset="midpoint")
            assert_same(sampled(dev, pipe, image, how, at, "linear", "linear"), wanted(name, planes, how, at, "linear", "linear"), how)


def test_the_same_bits_on_any_device() -> None:
    name = "g10x6_b10x6r10x6_2plane_420_unorm_3pack16"
    planes = oracle.Format(name).random(SIZE, np.random.default_rng(3))
    at = places(4)
    results = []
    for options in ({"lanes": 4}, {"lanes": 8, "threads": 1}, {"lanes": 8, "jit_target": "baseline"}, {"lanes": 16, "threads": 3}):
        device = tg.Device(cache_dir="off", **options)  # type: ignore[arg-type]
        pipe = device.compute_pipeline(SAMPLES)
        image = frame(device, name, planes)
        results.append([sampled(device, pipe, image, how, at, mag, min_) for how, mag, min_ in choices(name, 2, 5)])
    for other in results[1:]:
        assert all(np.array_equal(a.view(np.uint32), b.view(np.uint32)) for a, b in zip(results[0], other, strict=True))


def drawn(dev: tg.Device, texture: Any, size: tuple[int, int], shader: str = SHOW) -> np.ndarray:
    out = dev.image(size, "r32g32b32a32_sfloat")
    pipe = dev.pipeline(WHOLE, shader, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(9, 9, 9, 9))]) as rp:
        rp.draw(pipe, count=3, bind={"frame": texture})
    return out.numpy()


@pytest.mark.parametrize("shader", [SHOW, SHOW.replace("texture(frame, uv)", "textureGrad(frame, uv, dFdx(uv), dFdy(uv))")])
def test_a_fragment_shader_draws_a_frame(dev: tg.Device, shader: str) -> None:
    planes = oracle.Format(NV12).random((32, 16), np.random.default_rng(1))
    how = oracle.Conversion(y_chroma_offset="midpoint", chroma_filter="linear")
    texture = dev.texture(planes, NV12, ycbcr=conversion(dev, NV12, how))
    got = drawn(dev, texture, (64, 32), shader)
    x, y = np.meshgrid((np.arange(64) + 0.5) / 64, (np.arange(32) + 0.5) / 32)
    want = oracle.sample(oracle.Format(NV12), planes, x.ravel().astype(np.float32), y.ravel().astype(np.float32), True, how)
    np.testing.assert_allclose(got.reshape(-1, 4), want, atol=2e-5)


def test_plain_formats_are_converted_too(dev: tg.Device) -> None:
    """RGBA8 as luma and chroma, with levels and a linear filter: the sample, then the conversion."""
    rng = np.random.default_rng(2)
    pixels = rng.integers(0, 256, (16, 16, 4)).astype(np.uint8)
    for name, components in (("r8g8b8a8_unorm", "rgba"), ("b8g8r8a8_unorm", "brga"), ("a2b10g10r10_unorm_pack32", "rgba")):
        how = oracle.Conversion("ycbcr_601", "itu_full", components)
        data = pixels if name.endswith("8_unorm") else pixels / np.float32(255)
        plain = drawn(dev, dev.texture(data, name, mipmaps=True, address="clamp_to_edge"), (24, 24)).astype(np.float64)
        got = drawn(dev, dev.texture(data, name, mipmaps=True, ycbcr=conversion(dev, name, how)), (24, 24))
        moved = plain[:, :, ["rgba".index(c) for c in components]]
        half = 128 / 255 if name.endswith("8_unorm") else 512 / 1023
        y, cr, cb = moved[:, :, 1], moved[:, :, 0] - half, moved[:, :, 2] - half
        want = np.stack([y + 1.402 * cr, y - (0.202008 * cb + 0.419198 * cr) / 0.587, y + 1.772 * cb, moved[:, :, 3]], 2)
        np.testing.assert_allclose(got, want, atol=1e-5)
    swapped = oracle.Conversion("rgb_identity", "itu_full", "bgr1")
    got = drawn(dev, dev.texture(pixels, ycbcr=conversion(dev, "r8g8b8a8_unorm", swapped)), (16, 16))
    plain = drawn(dev, dev.texture(pixels, address="clamp_to_edge"), (16, 16))
    assert np.array_equal(got[:, :, :3], plain[:, :, 2::-1]) and (got[:, :, 3] == 1).all()


def test_layers_and_arrays_of_descriptors(dev: tg.Device) -> None:
    planes = [oracle.Format(NV12).random(SIZE, np.random.default_rng(k)) for k in range(3)]
    how = oracle.Conversion(chroma_filter="linear")
    ycbcr = conversion(dev, NV12, how)
    layered = dev.texture([np.stack([p[0] for p in planes])[..., None], np.stack([p[1] for p in planes])], NV12, ycbcr=ycbcr)
    assert layered.image.layers == 3
    single = [dev.texture(p, NV12, ycbcr=ycbcr) for p in planes]
    for k in range(3):
        one = drawn(dev, single[k], SIZE)
        layer = SHOW.replace("sampler2D ", "sampler2DArray ").replace("frame, uv", f"frame, vec3(uv, {k})")
        assert np.array_equal(one, drawn(dev, layered, SIZE, layer))
        element = SHOW.replace("frame;", "frame[3];").replace("frame, uv", f"frame[{k}], uv")
        assert np.array_equal(one, drawn(dev, single, SIZE, element))


def test_planes_are_images_of_their_own(dev: tg.Device) -> None:
    image = dev.image(SIZE, NV12, label="frame")
    luma, chroma = image.planes
    assert (luma.format, luma.size, chroma.format, chroma.size) == ("r8_unorm", SIZE, "r8g8_unorm", (6, 5))
    pipe = dev.pipeline(WHOLE, "#version 450\nlayout(location = 0) out vec4 c; void main() { c = vec4(0.2, 0.6, 0, 1); }", color=[chroma])
    with dev.render_pass(color=[tg.Attachment(chroma, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3)
    assert (image.numpy(aspect="plane_1") == [51, 153]).all()
    with pytest.raises(tg.UndefinedContentsError, match="frame"):
        luma.numpy()
    store = dev.compute_pipeline(
        "#version 450\nlayout(binding = 0, r8) uniform writeonly image2D t;\n"
        "void main() { imageStore(t, ivec2(gl_WorkGroupID.xy), vec4(float(gl_WorkGroupID.x) / 255)); }"
    )
    dev.dispatch(store, (*SIZE, 1), bind={"t": image.view(aspect="plane_0")})
    assert np.array_equal(luma.numpy()[:, :, 0], np.tile(np.arange(12, dtype=np.uint8), (10, 1)))
    alone = drawn(dev, (image.view(aspect="plane_0"), dev.sampler(filter="nearest")), SIZE)
    assert np.array_equal(alone[:, :, 0] * np.float32(255), luma.numpy()[:, :, 0].astype(np.float32))
    how = oracle.Conversion("ycbcr_identity", "itu_full")
    got = drawn(dev, (image, dev.sampler(filter="nearest", ycbcr=conversion(dev, NV12, how))), SIZE)
    np.testing.assert_allclose(got[0, 5], [153 / 255 - 128 / 255, 5 / 255, 51 / 255 - 128 / 255, 1], atol=1e-6)


def test_planes_are_copied(dev: tg.Device) -> None:
    rng = np.random.default_rng(6)
    planes = oracle.Format(NV12).random(SIZE, rng)
    image, other = frame(dev, NV12, planes), dev.image(SIZE, I420)
    dev.copy(image, other, aspect="plane_0")
    assert np.array_equal(other.numpy(aspect="plane_0")[:, :, 0], planes[0])
    plain = dev.image((6, 5), "r8g8_unorm")
    dev.copy(image.planes[1], plain)
    assert np.array_equal(plain.numpy(), planes[1])
    part = dev.buffer(np.zeros(3 * 2 * 2, np.uint8))
    dev.copy(image, part, aspect="plane_1", source_pos=(2, 1), extent=(3, 2))
    assert np.array_equal(part.numpy().reshape(2, 3, 2), planes[1][1:3, 2:5])
    dev.copy(np.full((2, 2, 2), 7, np.uint8), image, aspect="plane_1", destination_pos=(4, 3))
    planes[1][3:, 4:] = 7
    assert np.array_equal(image.numpy(aspect="plane_1"), planes[1])
    packed = dev.image(SIZE, "g8b8g8r8_422_unorm")
    blocks = rng.integers(0, 256, (10, 6, 4)).astype(np.uint8)
    dev.copy(blocks, packed)
    assert np.array_equal(packed.numpy(), blocks)
    words = dev.image((6, 10), "r8g8b8a8_unorm")  # a block is a texel
    dev.copy(packed, words)
    assert np.array_equal(words.numpy(), blocks)


def test_what_is_refused(dev: tg.Device) -> None:
    make = dev.sampler_ycbcr_conversion
    ycbcr = make(NV12)
    image = frame(dev, NV12, oracle.Format(NV12).random(SIZE, np.random.default_rng(0)))
    packed = dev.image(SIZE, "g8b8g8r8_422_unorm")
    refused: list[tuple[str, Any]] = [
        ("an even number", lambda: dev.image((11, 10), NV12)),
        ("an even number", lambda: dev.image((10, 11), I420)),
        ("mip_levels", lambda: dev.image(SIZE, NV12, mip_levels=2)),
        ("samples", lambda: dev.image(SIZE, NV12, samples=4)),
        ("2d", lambda: dev.image((4, 4, 4), NV12)),
        ("clamp_to_edge", lambda: dev.sampler(address="repeat", ycbcr=ycbcr)),
        ("max_anisotropy", lambda: dev.sampler(max_anisotropy=4, ycbcr=ycbcr)),
        ("reduction", lambda: dev.sampler(reduction="min", ycbcr=ycbcr)),
        ("UNORM", lambda: make("r8g8b8a8_srgb")),
        ("UNORM", lambda: make("bc7_unorm_block")),
        ("components.g", lambda: make(NV12, components="grba")),
        ("components.r", lambda: make(NV12, components="rgra")),
        ("a component of r8g8_unorm", lambda: make("r8g8_unorm")),
        ("itu_full", lambda: make("r5g6b5_unorm_pack16")),
        ("no sampler_ycbcr_model_conversion", lambda: make(NV12, model="709")),
        ("must be a conversion", lambda: dev.sampler(ycbcr="709")),  # type: ignore[arg-type]
        ("plane_0, plane_1 or plane_2", lambda: image.view()),
        ("needs no sampler|sampler Y'CbCr conversion", lambda: dev.clear(image, (0, 0, 0, 0))),
        ("sampler Y'CbCr conversion", lambda: dev.clear(packed, (0, 0, 0, 0))),
        ("plane_0 or plane_1", lambda: dev.copy(image, dev.image(SIZE, NV12))),
        ("plane_0", lambda: dev.copy(dev.image(SIZE, "r8_unorm"), dev.image(SIZE, "r8_unorm"), aspect="plane_0")),
        ("has no plane_2", lambda: dev.copy(image, dev.image(SIZE, I420), aspect="plane_2")),
        ("sampler Y'CbCr conversion", lambda: dev.blit(image, dev.image(SIZE, "r8g8b8a8_unorm"))),
        ("read its planes", lambda: image.numpy()),
        ("conversion of", lambda: dev.texture([np.zeros((10, 12), np.uint8)] * 2, I420, ycbcr=ycbcr)),
        ("conversion of", lambda: dev.texture(np.zeros((4, 4, 4), np.uint8), ycbcr=ycbcr)),
        ("conversion alone", lambda: dev.texture([np.zeros((10, 12), np.uint8)] * 2, NV12)),
        ("images have one level", lambda: dev.texture([np.zeros((10, 12), np.uint8)] * 2, NV12, ycbcr=ycbcr, mipmaps=True)),
        ("list of 2 planes", lambda: dev.texture(np.zeros((10, 12), np.uint8), NV12, ycbcr=ycbcr)),
        ("must be 1 of", lambda: dev.texture([np.zeros((10, 12), np.uint8), np.zeros((10, 12, 2), np.uint8)], NV12, ycbcr=ycbcr)),
        ("sampler Y'CbCr conversion", lambda: drawn(dev, (image, dev.sampler()), SIZE)),
        ("another", lambda: drawn(dev, (image.view(ycbcr=ycbcr), dev.sampler(ycbcr=make(NV12, model="ycbcr_601"))), SIZE)),
        ("without a sampler Y'CbCr", lambda: drawn(dev, (image.view(aspect="plane_0"), dev.sampler(ycbcr=ycbcr)), SIZE)),
        ("colour attachment|render", lambda: dev.pipeline(WHOLE, SHOW, color=[NV12])),
    ]
    for part, call in refused:
        with pytest.raises((tg.ValidationError, tg.UnsupportedError), match=part):
            call()
            pytest.fail(f"nothing was refused: {part}")
    sampler = dev.sampler(ycbcr=ycbcr)
    for asked, part in (
        ("textureGather(frame, uv)", "gathers"),
        ("texelFetch(frame, ivec2(0), 0)", "fetches"),
        ("textureOffset(frame, uv, ivec2(1))", "texel offsets"),
        ("textureQueryLod(frame, uv).xyxy", "level of detail"),
    ):
        with pytest.raises(tg.ValidationError, match=part):
            drawn(dev, (image, sampler), SIZE, SHOW.replace("texture(frame, uv)", asked))
    size = drawn(dev, (image, sampler), SIZE, SHOW.replace("texture(frame, uv)", "vec4(textureSize(frame, 0), 0, 1)"))
    assert (size[0, 0, :2] == SIZE).all()
    apart = SHOW.replace("uniform sampler2D frame", "uniform texture2D frame; layout(binding = 1) uniform sampler s")
    out = dev.image(SIZE, "r8g8b8a8_unorm")
    pipe = dev.pipeline(WHOLE, apart.replace("frame, uv", "sampler2D(frame, s), uv"), color=[out])
    with pytest.raises(tg.ValidationError, match="combined_image_sampler"), dev.render_pass(color=[out]) as rp:
        rp.draw(pipe, count=3, bind={"frame": image.view(ycbcr=ycbcr), "s": dev.sampler()})


def test_a_pass_cannot_read_the_planes_it_draws(dev: tg.Device) -> None:
    image = frame(dev, NV12, oracle.Format(NV12).random(SIZE, np.random.default_rng(0)))
    sampler = dev.sampler(ycbcr=dev.sampler_ycbcr_conversion(NV12))
    pipe = dev.pipeline(WHOLE, SHOW, color=[image.planes[1]])
    with pytest.raises(tg.ValidationError, match="plane 1"), dev.render_pass(color=[image.planes[1]]) as rp:
        rp.draw(pipe, count=3, bind={"frame": (image, sampler)})


def test_captures_have_frames(dev: tg.Device, tmp_path: Any) -> None:
    planes = oracle.Format(I420).random(SIZE, np.random.default_rng(4))
    texture = dev.texture(planes, I420, ycbcr=dev.sampler_ycbcr_conversion(I420, model="ycbcr_2020"))
    out = dev.image(SIZE, "r8g8b8a8_unorm")
    pipe = dev.pipeline(WHOLE, SHOW, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))], label="frame") as rp:
        rp.draw(pipe, count=3, bind={"frame": texture})
    rp.capture(tmp_path / "frame.tgcap")
    replay = dev.load_capture(tmp_path / "frame.tgcap")
    replay.run()
    assert np.array_equal(replay.pictures[0], out.numpy())
    plane = texture.image.planes[2]  # an image like others
    fill = dev.pipeline(WHOLE, "#version 450\nlayout(location = 0) out vec4 c; void main() { c = vec4(0.4); }", color=[plane])
    with dev.render_pass(color=[tg.Attachment(plane, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(fill, count=3)
    rp.capture(tmp_path / "plane.tgcap")
    replay = dev.load_capture(tmp_path / "plane.tgcap")
    replay.run()
    assert (replay.pictures[0] == 102).all() and replay.pictures[0].shape == (5, 6, 1)


def test_formats_in_high_bits_are_images_like_others(dev: tg.Device) -> None:
    words = np.random.default_rng(1).integers(0, 1 << 16, (4, 4, 4)).astype(np.uint16)
    for name, low in (("r10x6g10x6b10x6a10x6_unorm_4pack16", 6), ("r12x4g12x4b12x4a12x4_unorm_4pack16", 4)):
        image = dev.image((4, 4), name)
        dev.copy(words, image)
        got = drawn(dev, (image, dev.sampler(filter="nearest")), (4, 4))
        want = oracle.divide((words >> low).astype(np.float32), (1 << (16 - low)) - 1)
        assert np.array_equal(got, want)
