"""Pictures and arrays keep their numbers: 16 bits, floats, copies of another kind than the texels; one class for all errors."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

PillowImage = pytest.importorskip("PIL.Image")
VALUES = np.linspace(0, 65535, 16).astype(np.uint16).reshape(4, 4)


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(strict=True, cache_dir="off")


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_grey_pictures_of_16_bits(dev: tg.Device, tmp_path: Path, suffix: str) -> None:
    """They were cut to 8 bits, which made all but the darkest white."""
    path = tmp_path / f"h.{suffix}"
    PillowImage.fromarray(VALUES).save(path)
    texture = dev.texture(path)
    assert texture.format == "r16_unorm"
    np.testing.assert_array_equal(texture.image.numpy()[..., 0], VALUES)
    np.testing.assert_array_equal(dev.texture(path, "r16_unorm").image.numpy()[..., 0], VALUES)
    image = dev.image((4, 4), "r16_unorm")
    image.write(PillowImage.open(path))
    np.testing.assert_array_equal(image.numpy()[..., 0], VALUES)


def test_pictures_of_floats_and_of_one_bit(dev: tg.Device, tmp_path: Path) -> None:
    floats = (VALUES / 1000).astype(np.float32)
    PillowImage.fromarray(floats).save(tmp_path / "f.tif")
    texture = dev.texture(tmp_path / "f.tif")
    assert texture.format == "r32_sfloat"
    np.testing.assert_array_equal(texture.image.numpy()[..., 0], floats)
    PillowImage.fromarray(VALUES > 30000).save(tmp_path / "b.png")
    np.testing.assert_array_equal(dev.texture(tmp_path / "b.png").image.numpy()[..., 0], np.where(VALUES > 30000, 255, 0))
    with pytest.raises(tg.ValidationError, match="no default format"):
        dev.texture(PillowImage.fromarray(VALUES.astype(np.int32) * 1000))


@pytest.mark.parametrize(("array", "format_", "right"), [
    (np.full((4, 4), 7, np.int32), "r32_sfloat", False),
    (np.full((4, 4), 7, np.uint16), "r16_sfloat", False),
    (np.full((4, 4, 4), 0.5, np.float16), "r16g16b16a16_unorm", False),
    (np.full(16, 0.5, np.float32), "r8g8b8a8_unorm", False),
    (np.full((4, 4), 0.5, np.float64), "r32g32_sfloat", False),
    (np.full((4, 4), 0.5, np.float32), "b10g11r11_ufloat_pack32", False),
    (np.full((4, 4), 7, np.int32), "d32_sfloat", False),
    (np.full((4, 4), 0.5, np.float32), "d24_unorm_s8_uint", False),
    (np.full((4, 4), 0.5, np.float32), "r32_sfloat", True),
    (np.full((4, 4, 4), 0.5, np.float16), "r16g16b16a16_sfloat", True),
    (np.full((4, 4), 0.5, np.float32), "d32_sfloat", True),
    (np.full((4, 4), 7, np.uint16), "d16_unorm", True),
    (np.full((4, 4), 7, np.uint32), "r8g8b8a8_unorm", True),
    (np.full((4, 4), 7, np.uint32), "b10g11r11_ufloat_pack32", True),
    (np.full((4, 4), 7, np.int32), "r32_sint", True),
    (np.full((4, 4, 4), 7, np.uint8), "r32_sfloat", True),
])  # fmt: skip
def test_copies_take_numbers_of_the_texels_kind(dev: tg.Device, array: np.ndarray[Any, Any], format_: str, right: bool) -> None:
    for source in (array, dev.buffer(array)):
        image = dev.image((4, 4), format_)
        if right:
            dev.copy(source, image)
            continue
        with pytest.raises(tg.ValidationError, match="moves bytes as they are"):
            dev.copy(source, image)
    if not right:  # bytes are bytes
        whole = np.ascontiguousarray(array).view(np.uint8).ravel()
        dev.copy(dev.buffer(whole), dev.image((4, 4), format_))


def test_all_errors_have_one_base() -> None:
    """Named are those that docs/errors.md names."""
    ours = []
    for module in pkgutil.walk_packages(tg.__path__, "tilegpu."):
        if module.name.split(".")[-1].startswith("__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # a package that is an extra
            continue
        ours += [c for _, c in inspect.getmembers(loaded, inspect.isclass) if c.__module__ == module.name and issubclass(c, Exception)]
    others = {c.__name__ for c in ours if not issubclass(c, (tg.Error, Warning))}
    assert len(ours) > 15 and others <= {"ImageMismatch", "MissingPackage", "UsageError"}
