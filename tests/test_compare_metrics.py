"""Differences of pictures: the figures of ``tilegpu compare``, on pictures made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tilegpu.reference.compare import Comparison, Tolerance, clear_value, side_by_side
from tilegpu.reference.metrics import covered, difference, per_pixel


def picture(value: int = 10, size: tuple[int, int] = (20, 30)) -> np.ndarray:
    out = np.full((*size, 4), value, np.uint8)
    out[5:15, 5:25] = 100
    return out


def test_equal_pictures_do_not_differ() -> None:
    found = difference(picture(), picture())
    assert (found.max_diff, found.rms, found.share_over_2, found.covered_px) == (0, 0, 0, 200)


def test_difference_has_no_sign() -> None:
    ours, reference = picture(), picture()
    ours[5, 5], reference[6, 6] = 0, 0
    pixels = per_pixel(ours, reference)
    assert pixels[5, 5] == pixels[6, 6] == pytest.approx(100 / 255)
    assert per_pixel(np.zeros((1, 1, 4), np.uint8), np.full((1, 1, 4), 255, np.uint8))[0, 0] == 1.0


def test_share_is_of_covered_pixels_and_counts_over_two() -> None:
    ours, reference = picture(), picture()
    ours[5, 5:9, 0] += 2  # not over
    ours[6, 5:9, 1] += 3
    found = difference(ours, reference)
    assert found.share_over_2 == pytest.approx(4 / 200)
    assert found.max_diff == pytest.approx(3 / 255)
    assert found.rms == pytest.approx(np.sqrt((4 * 4 + 4 * 9) / 200) / 255)


def test_either_picture_covers() -> None:
    ours, reference = picture(), picture()
    ours[0, 0] = 200
    assert difference(ours, reference).covered_px == 201
    assert difference(reference, ours).covered_px == 201


def test_edge_mask_keeps_edges_apart() -> None:
    ours, reference = picture(), picture()
    ours[5, 5:15, 0] += 50
    ours[10, 10, 0] += 9
    edges = np.zeros((20, 30), bool)
    edges[5] = True
    found = difference(ours, reference, edges)
    assert found.share_over_2_edges == pytest.approx(10 / 200)
    assert found.share_over_2_inside == pytest.approx(1 / 180)
    assert found.max_diff_inside == pytest.approx(9 / 255)
    assert (found.over_8_inside_px, found.edge_px) == (1, 20)
    assert len(Tolerance().failures(found)) == 3


def test_nothing_covered_still_sees_a_difference() -> None:
    a = np.full((4, 4, 4), 10, np.uint8)
    none = np.zeros((4, 4), bool)
    assert difference(a, a, cover=none).max_diff == 0
    assert difference(a, a + 5, cover=none).share_over_2 == 1.0


def test_float_images_count_relative_error() -> None:
    reference = np.full((2, 2, 4), 100, np.float32)
    assert per_pixel(reference + 1, reference).max() == pytest.approx(0.01)
    small = np.full((2, 2, 4), 0.5, np.float32)
    assert per_pixel(small + np.float32(0.01), small).max() == pytest.approx(0.01, rel=1e-4)


def test_nan_differs_from_a_number_and_not_from_nan() -> None:
    a = np.full((1, 1, 4), np.nan, np.float32)
    assert per_pixel(a, np.zeros((1, 1, 4), np.float32))[0, 0] == np.inf
    assert per_pixel(a, a)[0, 0] == 0
    infinite = np.full((1, 1, 4), np.inf, np.float32)
    assert per_pixel(infinite, infinite)[0, 0] == 0


def test_sizes_must_agree() -> None:
    with pytest.raises(ValueError, match="shapes"):
        per_pixel(np.zeros((2, 2, 4), np.uint8), np.zeros((2, 3, 4), np.uint8))


def test_background_is_found() -> None:
    assert covered(picture(), picture()).sum() == 200


@pytest.mark.parametrize(
    ("name", "color", "expected"),
    [
        ("r8g8b8a8_unorm", (0.1, 0.2, 0.3, 1.0), (26, 51, 76, 255)),
        ("r8g8b8a8_srgb", (0.5, 0.0, 1.0, 0.5), (188, 0, 255, 128)),
        ("r16g16b16a16_sfloat", (0.5, 2.0, -1.0, 1.0), (0.5, 2.0, -1.0, 1.0)),
    ],
)
def test_clear_value(name: str, color: tuple[float, float, float, float], expected: tuple[float, ...]) -> None:
    assert np.allclose(clear_value(name, color, 4), expected, atol=0.51 if "8" in name[:4] else 0)


def test_side_by_side_shows_three_pictures() -> None:
    ours, reference = picture(), picture()
    ours[10, 10, 0] += 8
    out = side_by_side(Comparison(0, ours, reference, None, difference(ours, reference)), amplify=16)
    assert out.shape == (20, 3 * 30 + 16, 3)
    assert out[10, 2 * 38 + 10].tolist() == [128, 128, 128]
    assert (out[:, 30:38] == 255).all()
