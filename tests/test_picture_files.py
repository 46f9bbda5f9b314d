"""Pictures in files: what is exact is exact, what a format can't hold is refused with what can, films have their frames and their time."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.cli.animation import durations_ms

OpenEXR = pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (tilegpu[exr])")


def image_of(pixels: np.ndarray, format: str) -> tg.Image:
    return tg.Device().texture(pixels, format).image


def exr(path: Path) -> dict[str, np.ndarray]:
    with OpenEXR.File(str(path), separate_channels=True) as file:
        return {name: channel.pixels for name, channel in file.channels().items()}


@pytest.mark.parametrize("suffix", [".png", ".webp", ".tga", ".tif", ".tiff"])
def test_lossless_files_have_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    """Also colours below an alpha of 0."""
    pixels = np.random.default_rng(1).integers(0, 256, (37, 53, 4), np.uint8)
    pixels[:10, :, 3] = 0
    image_of(pixels, "r8g8b8a8_srgb").save(tmp_path / f"x{suffix}")
    assert np.array_equal(np.asarray(Pillow.open(tmp_path / f"x{suffix}").convert("RGBA")), pixels)


@pytest.mark.parametrize("suffix", [".jpg", ".JPEG", ".gif", ".ppm", ".bmp"])
def test_files_without_alpha_have_the_colours_as_they_are(suffix: str, tmp_path: Path) -> None:
    y, x = np.mgrid[0:48, 0:64]
    pixels = np.stack([4 * x, 5 * y, 255 - 4 * x, 0 * x], -1).astype(np.uint8)  # nothing of it is opaque
    path = tmp_path / f"x{suffix}"
    image_of(pixels, "r8g8b8a8_unorm").save(path)
    found = np.asarray(Pillow.open(path).convert("RGB")).astype(int)
    assert np.abs(found - pixels[..., :3]).mean() < (0 if suffix in (".ppm", ".bmp") else 5) + 1e-9


def test_quality_is_asked_for(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (64, 64, 4), np.uint8)
    pixels[..., 3] = 255
    image = image_of(pixels, "r8g8b8a8_unorm")
    sizes = []
    for quality in (10, 95):
        for suffix in (".jpg", ".webp"):
            image.save(tmp_path / f"{quality}{suffix}", quality=quality)
            sizes.append((tmp_path / f"{quality}{suffix}").stat().st_size)
    assert sizes[0] < sizes[2] and sizes[1] < sizes[3]


@pytest.mark.parametrize(
    ("format", "dtype", "channels"),
    [("r16g16b16a16_sfloat", "float16", "RGBA"), ("r32g32b32a32_sfloat", "float32", "RGBA"), ("r32g32_sfloat", "float32", "RG"),
     ("r16_sfloat", "float16", "R"), ("r32_uint", "uint32", "R")],
)  # fmt: skip
def test_exr_keeps_every_bit(format: str, dtype: str, channels: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    if dtype == "uint32":
        pixels = rng.integers(0, 1 << 32, (9, 11, 1), np.uint32)
    else:
        pixels = (rng.normal(size=(9, 11, len(channels))) * 1000).astype(dtype)
        pixels[0, 0], pixels[0, 1], pixels[0, 2], pixels[0, 3] = np.inf, -np.inf, -0.0, np.finfo(dtype).tiny / 4
    image_of(pixels, format).save(tmp_path / "x.exr")
    found = exr(tmp_path / "x.exr")
    assert sorted(found) == sorted(channels)
    for k, name in enumerate(channels):
        assert found[name].dtype == dtype and found[name].tobytes() == np.ascontiguousarray(pixels[..., k]).tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4"])
@pytest.mark.parametrize("components", [1, 2, 3, 4])
def test_exr_is_a_texture_with_its_bits(dtype: str, components: int, tmp_path: Path) -> None:
    """Halves and floats, infinities and what is not a number."""
    values = np.random.default_rng(components).standard_normal((5, 7, components)).astype(dtype) * 100
    values[0, 0], values[1, 1] = np.inf, np.nan
    from tilegpu.picture_file import save_exr

    save_exr(values, str(tmp_path / "x.exr"), "x")
    image = tg.Device().texture(tmp_path / "x.exr").image
    width = 16 if dtype == "f2" else 32
    assert image.format == "".join(f"{c}{width}" for c in "rgba"[: {3: 4}.get(components, components)]) + "_sfloat"
    assert image.numpy()[..., :components].tobytes() == values.tobytes()
    if components == 3:
        assert (image.numpy()[..., 3] == 1).all()


def test_depth_and_radiance_are_textures_too(tmp_path: Path) -> None:
    from tilegpu.picture_file import save_exr

    dev = tg.Device()
    save_exr(np.full((4, 4, 1), 0.3, np.float32), str(tmp_path / "z.exr"), "z", depth=True)
    assert (dev.texture(str(tmp_path / "z.exr"), mipmaps=True).image.numpy() == np.float32(0.3)).all()
    (tmp_path / "x.hdr").write_bytes(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n" + bytes([128, 64, 0, 129, 0, 0, 0, 0]))
    image = dev.texture(tmp_path / "x.hdr").image
    assert image.format == "r32g32b32a32_sfloat" and image.numpy().tolist() == [[[1.0, 0.5, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]]


def test_textures_that_can_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dev = tg.Device()
    (tmp_path / "bad.exr").write_bytes(b"no picture")
    for name, said in (("bad.exr", "OpenEXR can't read it"), ("none.exr", "cannot be read: No such file"), ("none.hdr", "No such file")):
        with pytest.raises(tg.ValidationError, match=rf"texture '.*': '.*{name}'.*{said}"):
            dev.texture(tmp_path / name)
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    with pytest.raises(tg.ValidationError, match=r'package OpenEXR, which is not installed: pip install OpenEXR \(tilegpu\[exr\]\)'):
        dev.texture(tmp_path / "bad.exr")


def test_exr_of_depth_and_of_a_sample(tmp_path: Path) -> None:
    dev = tg.Device()
    depth = dev.image((8, 6), "d32_sfloat")
    color = dev.image((8, 6), "r16g16b16a16_sfloat", samples=4)
    attachments = {"depth": tg.Attachment(depth, clear=0.3)}, {"color": [tg.Attachment(color, clear=(2, 3, 4, 5))]}
    for image, options in zip((depth, color), attachments, strict=True):
        with dev.render_pass(**options):
            pass
        if image is color:
            with pytest.raises(tg.ValidationError, match="has 4 samples"):
                image.save(tmp_path / "x.exr")
            image.save(tmp_path / "x.exr", sample=2)
        else:
            image.save(tmp_path / "z.exr")
    assert (exr(tmp_path / "z.exr")["Z"] == np.float32(0.3)).all()
    assert (exr(tmp_path / "x.exr")["B"] == 4).all()


def test_what_does_not_fit_names_what_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = image_of(np.zeros((4, 4, 4), np.uint8), "r8g8b8a8_srgb")
    for path, options, said in (
        ("x.exr", {}, "of r8g8b8a8_srgb: .exr holds float16, float32, uint32, and these pixels are uint8; save as .png"),
        ("x.jp2", {}, "the suffix is '.jp2'; it must be .png"),
        ("x", {}, "has no suffix"),
        ("x.png", {"quality": 50}, "quality= is for .jpg and .webp"),
        ("x.jpg", {"quality": 0}, "from 1 to 100"),
        ("x.jpg", {"quality": "best"}, "from 1 to 100"),
    ):
        with pytest.raises(tg.ValidationError) as error:
            image.save(tmp_path / path, **options)
        assert said in str(error.value)
    wide = image_of(np.zeros((1, 16384, 4), np.uint8), "r8g8b8a8_srgb")
    with pytest.raises(tg.ValidationError, match=r"16384 x 1 px are more than .webp holds \(16383"):
        wide.save(tmp_path / "x.webp")
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    with pytest.raises(tg.UnsupportedError, match=r'pip install OpenEXR \(tilegpu\[exr\]\)'):
        image_of(np.zeros((4, 4, 4), np.float32), "r32g32b32a32_sfloat").save(tmp_path / "x.exr")
    assert list(tmp_path.iterdir()) == []


def test_times_of_pictures_add_up() -> None:
    assert durations_ms(3, 30, 10) == [30, 40, 30] and sum(durations_ms(300, 30, 10)) == 10_000
    assert sum(durations_ms(60, 24, 1)) == 2500


def test_films_have_the_frames_that_pictures_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A WebP bit for bit, a GIF and an MP4 nearly; each lasts as long as it should."""
    av = pytest.importorskip("av", reason="av is not installed (tilegpu[video])")
    for name in ("f.png", "f.webp", "f.gif", "f.mp4"):
        assert main(["render", "cube", "--size", "64x48", "--frames", "6", "--fps", "12", "-o", str(tmp_path / name)]) == 0
    assert "f.gif: cube, 64x48, 4 samples, 6 frames" in capsys.readouterr().out
    stills = [np.asarray(Pillow.open(tmp_path / f"f_{k:03}.png").convert("RGBA")) for k in range(6)]
    assert not np.array_equal(stills[0], stills[3])
    for name, most in (("f.webp", 0.0), ("f.gif", 6.0)):
        with Pillow.open(tmp_path / name) as film:
            assert film.n_frames == 6 and film.info.get("loop") == 0
            total_ms = 0
            for k, still in enumerate(stills):
                film.seek(k)
                found = np.asarray(film.convert("RGBA")).astype(int)
                total_ms += film.info["duration"]
                assert np.abs(found[..., :3] - still[..., :3]).mean() <= most
            assert total_ms == 500
    with av.open(str(tmp_path / "f.mp4")) as film:
        stream = film.streams.video[0]
        frames = [frame.to_ndarray(format="rgb24", src_colorspace="ITU709").astype(int) for frame in film.decode(stream)]
        assert len(frames) == 6 and stream.average_rate == 12 and stream.codec_context.colorspace == 1
    assert max(np.abs(frame - still[..., :3]).mean() for frame, still in zip(frames, stills, strict=True)) < 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "x.gif", "--frames", "2", "--fps", "60"], "at most 50 pictures a second"),
        (["-o", "x.mp4", "--frames", "2", "--size", "63x48"], "--size 64x48"),
        (["-o", "x.mp4"], "one picture is no film; give --frames N, or write .png"),
        (["-o", "x.pdf"], "it must be .png"),
        (["-o", "x.exr"], "save as .png"),
    ],
)
def test_films_that_can_not_be(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", "cube", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_video_without_its_package(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    assert main(["render", "cube", "--frames", "2", "-o", str(tmp_path / "x.mp4")]) == 2
    assert 'pip install av (tilegpu[video])' in capsys.readouterr().err
