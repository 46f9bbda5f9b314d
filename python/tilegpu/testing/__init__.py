"""Golden pictures: what a test draws against what was looked at once and committed.

tilegpu gives the same bits on any machine, so a golden test compares bits: no tolerance that hides a mistake, no GPU in CI.

    from tilegpu.testing import assert_image_equal

    def test_shadow():
        assert_image_equal(draw_shadow(), "shadow.png")

``pytest --tilegpu-update`` writes the pictures into ``golden/`` beside the test, to be looked at and committed. Where one differs
the test fails with the pixels' number, place and values; expected, actual and difference lie side by side in ``tilegpu-pictures/``,
with one HTML page of all of them. Under other test runners the environment variable ``TILEGPU_GOLDEN_UPDATE=1`` does the same.
"""

from tilegpu import keywords
from tilegpu.testing.difference import Difference, difference_of
from tilegpu.testing.golden import ImageMismatch, Picture, assert_image_equal, take_pictures
from tilegpu.testing.pictures import GoldenError
from tilegpu.testing.report import summary, write_report

__all__ = [
    "Difference",
    "GoldenError",
    "ImageMismatch",
    "Picture",
    "assert_image_equal",
    "difference_of",
    "summary",
    "take_pictures",
    "write_report",
]

# What pytest prints of a failure begins with the class's name: the one that users import.
for _error in (GoldenError, ImageMismatch):
    _error.__module__ = "tilegpu.testing"
keywords.explain_calls(globals(), __all__, "tilegpu.testing")
