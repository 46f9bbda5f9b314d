"""Files that lost something without a word: pictures of integers, films of several sizes, caches, journals, variables of the environment.

In: what is written. Out: an error, or a warning, that names what does not fit.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu.cli import animation
from tilegpu.farm import FarmError, Job, render
from tilegpu.farm.encoding import encoded
from tilegpu.terminal import UsageError
from tilegpu.testing import naming

dev = tg.Device(threads=1)


@pytest.mark.parametrize(
    ("format_", "value", "suffix", "said"),
    [
        ("r32_uint", 70000, ".png", r"\.png holds whole numbers from 0 to 255, .*from 70000 to 70000; save as \.exr or \.npy"),
        ("r32_sint", -5, ".png", r"from -5 to -5; save as \.npy"),
        ("r16_uint", 256, ".webp", r"save as \.npy"),
        ("r8_sint", -1, ".tif", r"save as \.npy"),
    ],
)
def test_integers_that_8_bits_do_not_hold(tmp_path: Path, format_: str, value: int, suffix: str, said: str) -> None:
    image = dev.image((4, 4), format_, label="ids")
    dev.clear(image, (value, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match=f"image 'ids' of {format_}: .*{said}"):
        image.save(tmp_path / f"x{suffix}")
    image.save(tmp_path / "x.npy")
    assert np.load(tmp_path / "x.npy").max() == value
    dev.clear(image, (100, 0, 0, 0))
    image.save(tmp_path / f"x{suffix}")
    assert np.asarray(Pillow.open(tmp_path / f"x{suffix}").convert("L")).max() == 100
    if value > 65535 or value < 0:  # of arrays of 16 bits nobody knows that they are not numbers of 0 to 1
        with pytest.raises(tg.ValidationError, match="these pixels"):
            encoded(np.full((4, 4, 1), value, np.int32), ".png")


def grown(sizes: list[int], fails: int = -1) -> Any:
    for number, side in enumerate(sizes):
        if number == fails:
            raise RuntimeError("the sun went down")
        yield Pillow.new("RGB", (side, side), (number * 40, 0, 0))


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_pictures_of_a_film_have_one_size(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"film{suffix}"
    with pytest.raises(UsageError, match=r"one size; grow\.py:3: draw\(\) made frame 12 16x16, those before it 12x12"):
        animation.write(path, grown([12, 12, 16]), 3, 10, "grow.py:3: draw()", 10)
    assert getattr(Pillow.open(path), "n_frames", 1) == 2
    assert "has the 2 of 3 pictures" in capsys.readouterr().err


def test_a_film_keeps_the_pictures_before_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the sun"):
        animation.write(tmp_path / "film.gif", grown([8] * 4, fails=3), 4, 10)
    assert Pillow.open(tmp_path / "film.gif").n_frames == 3
    with pytest.raises(RuntimeError, match="the sun"):
        animation.write(tmp_path / "none.gif", grown([8], fails=0), 1, 10)
    assert not (tmp_path / "none.gif").exists()


@pytest.mark.parametrize("value", ["", "0", "false", "No", "off", "1", "TRUE", "yes", "on"])
def test_a_variable_that_says_yes_or_no(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TILEGPU_GOLDEN_UPDATE", value)
    assert naming.is_set("TILEGPU_GOLDEN_UPDATE") == (value.lower() in ("1", "true", "yes", "on"))


def test_a_variable_that_says_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGPU_GOLDEN_UPDATE", "maybe")
    with pytest.raises(ValueError, match="TILEGPU_GOLDEN_UPDATE is 'maybe'; it must be 1"):
        naming.is_set("TILEGPU_GOLDEN_UPDATE")


def test_a_cache_that_can_not_be_had_is_said_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")

    def said(folder: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tg.Device(threads=1, cache_dir=folder)
        return [str(w.message) for w in caught if w.category is tg.CacheWarning]

    (text,) = said(file)
    assert text.startswith(f"Device: cache_dir is {str(file)!r}, but compiled shaders can't be kept, so each run compiles them anew: ")
    assert f"{file}/objects can't be made: Not a directory" in text
    assert said(file) == said("off") == said(tmp_path / "new") == []


def test_a_cache_without_a_key_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong with the folder then."""
    key = tmp_path / "key"
    key.symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("TILEGPU_CACHE_KEY", str(key))
    with pytest.warns(tg.CacheWarning, match=f"the cache's key {key} is no file of the user's own; remove it"):
        tg.Device(threads=1, cache_dir=tmp_path / "good")


@pytest.mark.parametrize(
    ("format_", "value", "said"),
    [
        ("r16g16b16a16_sfloat", (1e6, 0, 0, 1), "numbers up to 65504, and larger ones become infinite"),
        ("b10g11r11_ufloat_pack32", (-1.0, 0, 0, 1), "numbers from 0 to 65024, and others are clamped"),
        ("r8g8b8a8_unorm", (1.5, 0, 0, 1), "numbers from 0 to 1, and others are clamped$"),
        ("r8g8b8a8_unorm", (255, 0, 0, 1), "of 255 are divided by 255"),
    ],
)
def test_clear_values_that_the_format_does_not_hold(format_: str, value: Any, said: str) -> None:
    with pytest.warns(tg.ClampedValueWarning, match=said):
        dev.clear(dev.image((4, 4), format_), value)


def test_clear_values_that_it_holds() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev.clear(dev.image((4, 4), "r8g8b8a8_unorm"), (1.0000001, -1e-7, 0, 1))
        dev.clear(dev.image((4, 4), "r16g16b16a16_sfloat"), (65504, -65504, np.inf, 1))


def test_a_run_that_drew_nothing_leaves_no_journal(tmp_path: Path) -> None:
    job = Job("triangle", size=(8, 8), of=2)
    with pytest.raises(FarmError, match="executor is 'thread'"):
        render(job, tmp_path / "t.png", executor="thread")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".png", ".npy"])
def test_layers_that_a_file_leaves_out_are_said(tmp_path: Path, suffix: str) -> None:
    dev, path = tg.Device(), tmp_path / f"a{suffix}"
    made = {
        "layers": (dev.image((8, 8), "r8g8b8a8_unorm", layers=3, label="x"), "has 3 layers", "layer=0 to 2 "),
        "cube": (dev.image((8, 8), "r8g8b8a8_unorm", cube=True, label="x"), "has 6 layers", "layer=0 to 5 "),
        "3d": (dev.image((8, 8, 4), "r8g8b8a8_unorm", label="x"), "has 4 slices", "layer=0 to 3 "),
    }
    for kind, (image, said, fix) in made.items():
        dev.clear(image, (0.0, 0.0, 1.0, 1.0))
        with pytest.warns(tg.UnusedNameWarning, match=f"^image 'x': save: it {said}, and the first alone is written; give {fix}") as caught:
            image.save(path)
        assert caught[0].filename == __file__, kind
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for layer in (0, 2):
                image.save(path, layer=layer)
        with pytest.raises(tg.ValidationError, match="layer 9 does not exist"):
            image.save(path, layer=9)
        html = image._repr_html_()
        assert html is not None and f"{'slice' if kind == '3d' else 'layer'} 0 of {said.split()[1]}" in html
    plain = dev.image((8, 8), "r8g8b8a8_unorm")
    dev.clear(plain, (0.0, 0.0, 1.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.save(path)
    assert plain._repr_html_() is None


def test_stencil_that_a_file_leaves_out_is_said(tmp_path: Path) -> None:
    dev = tg.Device()
    image = dev.image((8, 8), "d32_sfloat_s8_uint", label="x")
    dev.clear(image, depth=0.5, stencil=3)
    with pytest.warns(tg.UnusedNameWarning, match="^image 'x': save: it has stencil, and depth alone is written; give aspect='stencil'"):
        image.save(tmp_path / "a.png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image.save(tmp_path / "a.png", aspect="depth")
        image.save(tmp_path / "a.npy", aspect="stencil")
        dev.clear(image, depth=0.5, stencil=0)
        image.save(tmp_path / "a.png")


def test_three_numbers_of_a_clear_are_opaque() -> None:
    """As the docstring of Attachment says."""
    dev = tg.Device()
    for value, want in (((1, 0, 1), (255, 0, 255, 255)), ((1,), (255, 0, 0, 255)), ((0, 1, 0, 0), (0, 255, 0, 0))):
        image = dev.image((4, 4), "r8g8b8a8_unorm")
        with dev.render_pass(color=[tg.Attachment(image, clear=value)]):
            pass
        assert (image.numpy() == want).all()
    assert "(r, g, b) is opaque" in str(tg.Attachment.__doc__)
