"""Images, textures and buffers from Python: what is a view, what is a copy, files, and every message about wrong arguments."""

# ruff: noqa: E501
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PillowImage

import tilegpu as tg

RNG = np.random.default_rng(7)
PIXELS = RNG.integers(0, 256, (6, 5, 4), dtype=np.uint8)


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


# -- formats and enumerations


@pytest.mark.parametrize(
    "name", ["r8g8b8a8_srgb", "R8G8B8A8_SRGB", "VK_FORMAT_R8G8B8A8_SRGB", "vk_format_r8g8b8a8_srgb"]
)
def test_format_names_in_any_case_with_or_without_prefix(dev: tg.Device, name: str) -> None:
    assert dev.image((4, 4), name).format == "r8g8b8a8_srgb"


def test_every_format_has_information() -> None:
    for name in tg.format_names():
        info = tg.format_info(name)
        assert info.name == name
        assert info.texel_B > 0


@pytest.mark.parametrize(
    "mode", ["clamp_to_edge", "CLAMP_TO_EDGE", "VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE", "clamp-to-edge"]
)
def test_enumeration_spellings(dev: tg.Device, mode: str) -> None:
    assert "clamp" in repr(dev.sampler(address=mode)).lower()


# -- pixels


@pytest.mark.parametrize(
    "name", ["r8g8b8a8_unorm", "r8g8b8a8_srgb", "r8g8b8a8_uint", "b8g8r8a8_unorm", "b8g8r8a8_srgb"]
)
def test_numpy_is_a_copy_of_the_stored_bytes_in_rgba_order(dev: tg.Device, name: str) -> None:
    image = dev.texture(PIXELS, name).image
    array = image.numpy()
    np.testing.assert_array_equal(array, PIXELS)
    array[...] = 0
    np.testing.assert_array_equal(image.numpy(), PIXELS)


def test_asarray_is_a_read_only_view_without_a_copy(dev: tg.Device) -> None:
    image = dev.texture(PIXELS, "r8g8b8a8_unorm").image
    view = np.asarray(image)
    assert view.shape == (6, 5, 4)
    assert not view.flags.writeable
    assert not view.flags.owndata
    dev.clear(image, (1, 1, 1, 1))
    assert (view == 255).all()


def test_view_keeps_the_image_alive(dev: tg.Device) -> None:
    view = np.asarray(dev.texture(PIXELS, "r8g8b8a8_unorm").image)
    np.testing.assert_array_equal(view, PIXELS)


def test_asarray_of_a_format_without_dtype_copies(dev: tg.Device) -> None:
    image = dev.texture(PIXELS, "b8g8r8a8_unorm").image
    assert np.array_equal(np.asarray(image), image.numpy())
    with pytest.raises(tg.ValidationError, match="has format b8g8r8a8_unorm; that needs a copy"):
        image.__array__(copy=False)


@pytest.mark.parametrize(
    ("name", "dtype", "tolerance"),
    [
        ("r16g16b16a16_sfloat", "f2", 5e-4),
        ("r32g32b32a32_sfloat", "f4", 0),
        ("a2b10g10r10_unorm_pack32", "f4", 0.17),
        ("r4g4b4a4_unorm_pack16", "f4", 0.034),
    ],
)
def test_floats_are_converted(dev: tg.Device, name: str, dtype: str, tolerance: float) -> None:
    values = RNG.random((6, 5, 4), dtype=np.float32)
    array = dev.texture(values, name).image.numpy()
    assert array.dtype == dtype
    np.testing.assert_allclose(array.astype(np.float32), values, atol=max(tolerance, 1e-9))


def test_floats_to_srgb_are_linear_light(dev: tg.Device) -> None:
    array = dev.texture(np.full((1, 1, 4), 0.5, np.float32), "r8g8b8a8_srgb").image.numpy()
    assert array.tolist() == [[[188, 188, 188, 128]]]


def test_rgb_gets_an_alpha_of_one(dev: tg.Device) -> None:
    assert (dev.texture(PIXELS[:, :, :3]).image.numpy()[:, :, 3] == 255).all()
    assert dev.texture(PIXELS[:, :, :3].astype(np.float32)).image.numpy()[0, 0, 3] == 1.0


def test_grey_needs_no_component_axis(dev: tg.Device) -> None:
    image = dev.texture(PIXELS[:, :, 0]).image
    assert image.format == "r8_unorm"
    np.testing.assert_array_equal(image.numpy()[:, :, 0], PIXELS[:, :, 0])


def test_layers_levels_and_views_of_big_endian_and_strided_pixels(dev: tg.Device) -> None:
    layers = RNG.integers(0, 2**16, (3, 4, 8, 1), dtype=np.uint16)
    strided = layers.astype(">u2")[:, ::1, ::-1][:, :, ::-1]
    image = dev.texture(strided, "r16_unorm", mipmaps=[layers[:, ::2, ::2]]).image
    assert (image.layers, image.mip_levels) == (3, 2)
    np.testing.assert_array_equal(image.numpy(layer=2), layers[2])
    np.testing.assert_array_equal(image.numpy(level=1, layer=1), layers[1, ::2, ::2])


def test_mipmaps_are_boxes(dev: tg.Device) -> None:
    image = dev.texture(np.array([[[0], [255]], [[255], [0]]], np.uint8), mipmaps=True).image
    assert image.mip_levels == 2
    assert image.numpy(level=1).tolist()[0][0][0] in (127, 128)


def test_texture_from_a_file_and_from_pillow(dev: tg.Device, tmp_path: Path) -> None:
    PillowImage.fromarray(PIXELS).save(tmp_path / "t.png")
    np.testing.assert_array_equal(dev.texture(tmp_path / "t.png").image.numpy(), PIXELS)
    np.testing.assert_array_equal(dev.texture(PillowImage.open(tmp_path / "t.png")).image.numpy(), PIXELS)


# -- files


def test_save_png_and_npy(dev: tg.Device, tmp_path: Path) -> None:
    image = dev.texture(PIXELS, "r8g8b8a8_srgb").image
    image.save(tmp_path / "i.png")
    np.testing.assert_array_equal(np.asarray(PillowImage.open(tmp_path / "i.png")), PIXELS)
    image.save(tmp_path / "i.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "i.npy"), PIXELS)


def test_png_of_floats_clamps_and_of_nan_is_black(dev: tg.Device, tmp_path: Path) -> None:
    values = np.array([[[-1, 0.5, 2, 1], [np.nan, np.inf, -np.inf, 1]]], np.float32)
    dev.texture(values).image.save(tmp_path / "f.png")
    assert np.asarray(PillowImage.open(tmp_path / "f.png")).tolist() == [[[0, 128, 255, 255], [0, 255, 0, 255]]]


def test_png_of_two_components_is_rgb(dev: tg.Device, tmp_path: Path) -> None:
    dev.texture(PIXELS[:, :, :2]).image.save(tmp_path / "rg.png")
    array = np.asarray(PillowImage.open(tmp_path / "rg.png"))
    np.testing.assert_array_equal(array[:, :, :2], PIXELS[:, :, :2])
    assert (array[:, :, 2] == 0).all()


def test_notebook_shows_defined_images_only(dev: tg.Device) -> None:
    assert dev.texture(PIXELS)._repr_png_()[:4] == b"\x89PNG"
    assert dev.image((4, 4), "r8g8b8a8_unorm")._repr_png_() is None


# -- copies


def test_copies_between_buffers_and_images(dev: tg.Device) -> None:
    source = dev.texture(PIXELS).image
    buffer = dev.buffer(PIXELS.nbytes)
    dev.copy(source, buffer)
    np.testing.assert_array_equal(buffer.numpy(shape=(6, 5, 4)), PIXELS)
    other = dev.image((5, 6), "r8g8b8a8_unorm")
    dev.copy(buffer, other)
    np.testing.assert_array_equal(other.numpy(), PIXELS)
    third = dev.image((5, 6), "r8g8b8a8_unorm")
    dev.clear(third, (0, 0, 0, 0))
    dev.copy(other, third, source_pos=(1, 2), destination_pos=(0, 1), extent=(3, 2))
    np.testing.assert_array_equal(third.numpy()[1:3, 0:3], PIXELS[2:4, 1:4])
    assert third.numpy()[0].max() == 0
    dev.copy(PIXELS[::-1], third)
    np.testing.assert_array_equal(third.numpy(), PIXELS[::-1])
    half = dev.buffer(PIXELS.nbytes // 2)
    dev.copy(buffer.slice(0, half.size), half)
    np.testing.assert_array_equal(half.numpy(), PIXELS.reshape(-1)[: half.size])


def test_blit_mirrors_and_converts(dev: tg.Device) -> None:
    source = dev.texture(PIXELS).image
    target = dev.image((5, 6), "b8g8r8a8_unorm")
    dev.blit(source, target, filter="nearest", source_rect=(5, 0, 0, 6))
    np.testing.assert_array_equal(target.numpy(), PIXELS[:, ::-1])


def test_blits_of_nothing_are_mistakes(dev: tg.Device) -> None:
    """Vulkan allows them; here somebody took two corners for a corner and a size."""
    image, target = dev.texture(PIXELS).image, dev.image((5, 6), "r8g8b8a8_unorm")
    with pytest.raises(tg.ValidationError, match=r"source_rect is \(2, 2, 2, 3\), which has no texels"):
        dev.blit(image, target, source_rect=(2, 2, 2, 3))
    with pytest.raises(tg.ValidationError, match=r"destination_rect is \(0, 3, 5, 3\), which has no texels"):
        dev.blit(image, target, destination_rect=(0, 3, 5, 3))


def test_clear_of_depth_and_stencil(dev: tg.Device) -> None:
    image = dev.image((3, 2), "d32_sfloat_s8_uint")
    dev.clear(image, depth=0.25, stencil=7)
    assert image.numpy().tolist() == [[[0.25]] * 3] * 2
    assert image.numpy(aspect="stencil").tolist() == [[[7]] * 3] * 2


# -- buffers


def test_buffer_views_its_memory(dev: tg.Device) -> None:
    buffer = dev.buffer(np.arange(6, dtype=">i4").reshape(2, 3))
    assert buffer.numpy().tolist() == [0, 1, 2, 3, 4, 5]
    buffer.numpy()[1] = 9
    assert buffer.numpy(shape=(2, 3)).tolist() == [[0, 9, 2], [3, 4, 5]]
    buffer.write(np.array([8], np.int32), offset=20)
    assert np.asarray(buffer)[5] == 8
    assert dev.buffer(16).numpy().tolist() == [0] * 16
    assert len(dev.buffer(np.zeros(5, [("a", "f4", 3)]))) == 5


def test_matrix_fields_of_structured_arrays_are_transposed(dev: tg.Device) -> None:
    array = np.zeros(2, [("m", "f4", (2, 3)), ("x", "f4")])
    array["m"], array["x"] = np.arange(6).reshape(2, 3), 5
    view = dev.buffer(array).numpy()
    assert view["m"][1].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert view["x"].tolist() == [5, 5]


# -- messages

Case = tuple[Callable[[tg.Device], Any], type[tg.Error], str]

CASES: list[Case] = [
    (lambda d: d.image((0, 3), "r8_unorm"), tg.ValidationError, r"size is \(0, 3\); width and height must be 1 to 16384 pixels"),
    (lambda d: d.image((16385, 3), "r8_unorm"), tg.ValidationError, "must be 1 to 16384 pixels"),
    (lambda d: d.image("abc", "r8_unorm"), tg.ValidationError, r"size is 'abc'; it must be \(width, height\)"),
    (lambda d: d.image((4, 4), "r8_unrom", label="x"), tg.UnsupportedError, "image 'x': format 'r8_unrom' is not known; did you mean 'r8_unorm'"),
    (lambda d: d.image((4, 4), 7), tg.ValidationError, "a format is a name such as"),
    (lambda d: d.image((4, 4), "r8g8b8_unorm"), tg.UnsupportedError, "r8g8b8_unorm"),
    (lambda d: d.image((4, 4), "r8_unorm", samples=3), tg.ValidationError, "samples is 3.*1, 2, 4, 8 or 16"),
    (lambda d: d.image((4, 4), "r8_unorm", mip_levels=9), tg.ValidationError, "mip_levels is 9; a 4x4 image has 1 to 3"),
    (lambda d: d.image((4, 5), "r8_unorm", cube=True), tg.ValidationError, "cube=True takes square images"),
    (lambda d: d.image((4, 4), "r8_unorm", usage="samled"), tg.ValidationError, "usage is 'samled'.*did you mean 'sampled'"),
    (lambda d: d.image((4, 4), "r8_unorm", tiling="optimal"), tg.ValidationError, "tiling is 'optimal'.*linear, block_compressed"),
    (lambda d: d.image((4, 4), "r8_unorm", label="x").numpy(), tg.UndefinedContentsError, "image 'x': its color contents are undefined.*clear it, copy or draw to it before"),
    (lambda d: np.asarray(d.image((4, 4), "r8_unorm")), tg.UndefinedContentsError, "undefined.*clear it, copy or draw to it before"),
    (lambda d: d.image((4, 4), "r8_unorm").save("x.png"), tg.UndefinedContentsError, "undefined.*clear it, copy or draw to it before"),
    (lambda d: d.image((4, 4), "r8_unorm", samples=4).numpy(), tg.UndefinedContentsError, "resolve it into a single-sampled image with resolve="),
    (lambda d: d.texture(PIXELS).image.numpy(aspect="depth"), tg.ValidationError, "without aspect 'depth'; it has: color"),
    (lambda d: d.texture(PIXELS).image.numpy(level=1), tg.ValidationError, "level 1, layer 0 does not exist; it has 1 levels and 1 layers"),
    (lambda d: d.texture(PIXELS).image.save("x.pdf"), tg.ValidationError, "the suffix is '.pdf'; it must be .png"),
    (lambda d: d.texture(PIXELS).image.save("x.png", sample=1), tg.ValidationError, "sample is 1; it has samples 0 to 0"),
    (lambda d: d.texture(PIXELS).image.view("cubee"), tg.ValidationError, "did you mean 'cube'"),
    (lambda d: d.texture(PIXELS).image.view(swizzle="xyzw"), tg.ValidationError, "swizzle is 'xyzw'; it must be four letters of 'rgba01'"),
    (lambda d: d.texture(PIXELS).image.view(level=3), tg.ValidationError, "level is 3"),
    (lambda d: d.texture(np.zeros((4, 4, 5))), tg.ValidationError, r"pixels have shape \(4, 4, 5\)"),
    (lambda d: d.texture(np.zeros((0, 4, 4))), tg.ValidationError, "none of them 0"),
    (lambda d: d.texture(["a"]), tg.ValidationError, "they must be numbers"),
    (lambda d: d.texture("nowhere.png"), tg.ValidationError, "can't read 'nowhere.png'"),
    (lambda d: d.texture(np.zeros((2, 2, 4), np.int64)), tg.ValidationError, "have no default format; give format="),
    (lambda d: d.texture(PIXELS, "r8g8_unorm"), tg.ValidationError, "pixels have 4 components, format r8g8_unorm has 2"),
    (lambda d: d.texture(PIXELS[:, :, :2], "r8g8b8a8_unorm"), tg.ValidationError, "pixels have 2 components, format r8g8b8a8_unorm has 4"),
    (lambda d: d.texture(PIXELS.astype(np.int64), "r8g8b8a8_unorm"), tg.ValidationError, "int64, which can't become r8g8b8a8_unorm"),
    (lambda d: d.texture(PIXELS.astype(np.float32), "r8g8b8a8_uint"), tg.ValidationError, "holds integers; convert with astype"),
    (lambda d: d.texture(PIXELS, mipmaps=[PIXELS]), tg.ValidationError, r"level 1 has shape \(6, 5\).*it must be \(3, 2\)"),
    (lambda d: d.texture(PIXELS, mipmaps=[PIXELS] * 9), tg.ValidationError, "9 mipmaps given; a 5x6 image has 2"),
    (lambda d: d.sampler(filter="linnear"), tg.ValidationError, "mag_filter is 'linnear'.*did you mean 'linear'"),
    (lambda d: d.sampler(address=["repeat"] * 4), tg.ValidationError, "give one mode, or one each for u, v"),
    (lambda d: d.sampler(address=3.5), tg.ValidationError, "address is 3.5"),
    (lambda d: d.buffer(0), tg.ValidationError, "size is 0; it must be at least 1 byte"),
    (lambda d: d.buffer(np.zeros(0)), tg.ValidationError, "data is empty"),
    (lambda d: d.buffer(np.array(["a"])), tg.ValidationError, "dtype <U1; it must be numbers, bytes, or a size"),
    (lambda d: d.buffer(4, usage="vertx"), tg.ValidationError, "usage is 'vertx'"),
    (lambda d: d.buffer(4, label="b").slice(2, 3), tg.ValidationError, "buffer 'b': slice of 3 bytes at offset 2; the buffer has 4 bytes"),
    (lambda d: d.buffer(4, label="b").write(b"12345"), tg.ValidationError, "buffer 'b': write of 5 bytes at offset 0; the buffer has 4"),
    (lambda d: d.copy([3.5], "x"), tg.ValidationError, "both must be images or buffers"),
    (lambda d: d.copy(d.texture(PIXELS), d.image((5, 6), "r8g8b8a8_unorm"), extent=(0, 1)), tg.ValidationError, "width and height must be at least 1"),
    (lambda d: d.copy(d.image((5, 6), "r8_unorm"), d.buffer(64)), tg.UndefinedContentsError, "undefined"),
    (lambda d: d.blit(d.texture(PIXELS), d.buffer(4)), tg.ValidationError, "blit: destination is .*; it must be an image"),
    (lambda d: d.blit(d.texture(PIXELS), d.image((5, 6), "r8_unorm"), source_rect=(1, 2)), tg.ValidationError, r"it must be \(x0, y0, x1, y1\)"),
    (lambda d: d.clear(d.image((5, 6), "r8_unorm")), tg.ValidationError, r"takes \(r, g, b, a\)"),
    (lambda d: d.clear(d.image((5, 6), "d32_sfloat"), (1, 1, 1, 1)), tg.ValidationError, "takes depth="),
    (lambda d: d.clear(d.image((5, 6), "d32_sfloat"), depth=2), tg.ValidationError, "depth is 0 to 1"),
    (lambda d: d.clear(d.image((5, 6), "s8_uint"), stencil=300), tg.ValidationError, "whole number 0 to 255"),
    (lambda d: tg.Device(profile="foo"), tg.ValidationError, "profile 'foo' is not known; there are host"),
    (lambda d: tg.Device(lanes=5), tg.ValidationError, "lanes is 5; allowed are 4, 8, 16 and 0"),
    (lambda d: tg.Device(bin_px=48), tg.ValidationError, "bin_px is 48; allowed are 32, 64, 128 and 0"),
    (lambda d: tg.Device(threads=-1), tg.ValidationError, "threads is -1"),
    (lambda d: tg.Device(vertex_batch=99), tg.ValidationError, "vertex_batch is 99"),
    (lambda d: tg.Device(jit_target="pentium"), tg.Error, "pentium"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[c[2][:40] for c in CASES])
def test_message(dev: tg.Device, case: Case) -> None:
    call, kind, pattern = case
    with pytest.raises(kind, match=f"(?s){pattern}"):
        call(dev)


def test_a_sampler_and_its_arguments_are_not_both_given() -> None:
    dev = tg.Device()
    pixels = np.zeros((2, 2, 4), np.uint8)
    with pytest.raises(tg.ValidationError, match=r"texture 'wood': sampler= is given and filter, address too; give one or the other"):
        dev.texture(pixels, sampler=dev.sampler(), filter="nearest", address="clamp_to_edge", label="wood")
    with pytest.raises(tg.ValidationError, match="no argument 'fliter'; did you mean 'filter'"):
        dev.texture(pixels, fliter="nearest")
    assert dev.texture(pixels, filter="nearest").sampler.core is not None


def test_the_profiles_have_names() -> None:
    assert tg.profile_names()[0] == "host" and "immortalis-g925" in tg.profile_names()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("max_anisotropy", 64, "max_anisotropy is 64, allowed"), ("max_anisotropy", 16.5, "is 16.5, allowed"),
     ("mip_lod_bias", -20.25, "is -20.25, allowed"), ("mip_lod_bias", float("nan"), "is nan, allowed"),
     ("min_lod", 2000, "is 2000, allowed is at most max_lod, 1000")],
)  # fmt: skip
def test_floats_in_messages_have_the_digits_that_they_need(dev: tg.Device, field: str, value: float, said: str) -> None:
    with pytest.raises(tg.ValidationError, match=re.escape(said)):
        dev.sampler(**{field: value})
