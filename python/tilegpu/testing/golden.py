"""``assert_image_equal``: a picture against the golden one of its name.

In: a picture, a name; from the environment (set by the pytest plugin): TILEGPU_GOLDEN_UPDATE, TILEGPU_GOLDEN_OUTPUT,
TILEGPU_GOLDEN_KEEP, and what naming.py and claims.py read. Out: nothing, or ``ImageMismatch`` with files to look at; a record for the
report.
"""

from __future__ import annotations

import math
import os
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tilegpu import Error, __version__, arguments
from tilegpu.testing import naming
from tilegpu.testing.claims import claimed
from tilegpu.testing.difference import Difference, difference_of, marked, shown, side_by_side
from tilegpu.testing.pictures import (
    UNREADABLE,
    Array,
    GoldenError,
    as_array,
    check_name,
    check_number,
    decode,
    encode,
    like_golden,
    png_bytes,
    write_file,
)

Status = Literal["equal", "near", "different", "missing", "written", "updated"]


class ImageMismatch(AssertionError):
    """A picture that is not the golden one. ``picture``: what is known of it."""

    def __init__(self, message: str, picture: Picture) -> None:
        super().__init__(message)
        self.picture = picture

    def __reduce__(self) -> tuple[Any, ...]:
        """Both arguments: a worker's failure arrives in the process that waits for it."""
        return type(self), (str(self), self.picture)


@dataclass(frozen=True)
class Picture:
    """One comparison. ``test``: of pytest, else "". ``golden``: the file. ``message``: why it failed.

    ``files``: pictures to look at, by "side_by_side" (all three), "expected", "actual", "difference" (PNG of 8 bits; of a picture that
    is equal only "actual").
    """

    name: str
    test: str
    golden: str
    status: Status
    message: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the assertion failed."""
        return self.status in ("different", "missing")

    def as_dict(self) -> dict[str, Any]:
        """The fields by name: what goes from one process to another."""
        return asdict(self)


_pictures: list[Picture] = []


def take_pictures() -> list[Picture]:
    """All comparisons since the last call, in order, and forgets them."""
    taken = _pictures[:]
    _pictures.clear()
    return taken


def assert_image_equal(
    image: Any,
    name: str | os.PathLike[str] | None = None,
    *,
    tolerance: float = 0.0,
    differing_px: int = 0,
    perceptual: float | None = None,
) -> None:
    """Compares a picture with the golden one of this name, bit by bit.

    ``image``: a ``tilegpu.Image`` (of it level 0, layer or slice 0, of depth and stencil depth: what else it has is told, but for smaller
    levels), (H, W) or (H, W, channels) of integers or floats, or the path of a picture's file, such as a screenshot.
    ``name``: ``"name.png"`` in the folder ``golden`` beside the test (an absolute one as it is); ``"name.npy"`` for what a PNG doesn't hold
    exactly. Without one the test's: ``test_module.test_function-parameters.png``, a second one of the same test ``….2.png``.

    ``tolerance``: largest difference of a channel that counts as equal, in the values' units (2: of 255 for uint8).
    ``differing_px``: number of pixels that may differ by more. ``perceptual``: largest mean of FLIP, 0 to 1 (about 0.05 is seen by who
    looks twice); alone it is the only condition, with the others one more. tilegpu's own pictures need none of them.

    Raises ``ImageMismatch`` (an ``AssertionError``) if the picture differs or there is no golden one; writes expected, actual and
    difference below ``tilegpu-pictures/``. With ``pytest --tilegpu-update`` or TILEGPU_GOLDEN_UPDATE=1 the golden is written instead,
    but not twice in a run: two different pictures of one name are an ``ImageMismatch`` that names both.
    Raises :class:`GoldenError` for what is no picture, and for names and values that don't fit.
    """
    __tracebackhide__ = True  # pytest shows the test's line
    try:
        _assert_equal(image, name, tolerance, differing_px, perceptual)
    except (GoldenError, ImageMismatch) as wrong:
        raise wrong.with_traceback(None)  # noqa: B904 -- what was called to find out is no news to the test


def _assert_equal(
    image: Any, name: str | os.PathLike[str] | None, tolerance: float, differing_px: int, perceptual: float | None
) -> None:
    __tracebackhide__ = True
    if name is not None and not isinstance(name, (str, os.PathLike)):
        said = f"assert_image_equal: name is {arguments.shown(name)}; it must be a file's name, such as 'name.png'"
        if isinstance(image, (str, os.PathLike)):
            said += f": the picture comes first, assert_image_equal(image, {os.fspath(image)!r})"
        raise GoldenError(said)
    array = as_array(image)
    path, name = naming.golden_path(name, ".png" if array.dtype == np.uint8 else ".npy")
    check_name(array, path, image)  # wrong whether there is a golden or not
    for what, value in (("tolerance", tolerance), ("differing_px", differing_px), ("perceptual", perceptual)):
        if value is not None or what != "perceptual":
            check_number(f"assert_image_equal: {what}", value, 1 if what == "perceptual" else None)
    _check_limits(array, tolerance, differing_px, perceptual)
    update = naming.is_set("TILEGPU_GOLDEN_UPDATE")
    with claimed(path, naming.place()) if update else nullcontext() as first:
        _compare(_Asked(path, name, update, first), array, tolerance, differing_px, perceptual)


def _check_limits(array: Array, tolerance: float, differing_px: float, perceptual: float | None) -> None:
    """Raises :class:`GoldenError` for limits that no picture of this kind goes beyond, or that change nothing: numbers in another unit."""
    kind, what = array.dtype, "assert_image_equal"
    whole = kind.kind in "bui"
    most = int(np.iinfo(kind).max) - int(np.iinfo(kind).min) if kind.kind in "ui" else 1 if whole else math.inf
    if tolerance >= most:
        unit = f"channels of {kind} differ by {most} at most" if whole else "nothing differs by more"
        raise GoldenError(f"{what}: tolerance is {tolerance:g}, so it could never fail: {unit}; it must be below that, such as 2")
    if whole and 0 < tolerance < 1:
        share = f"; as a share of {most} it is tolerance={max(1, round(tolerance * most))}" if most > 1 else ""
        raise GoldenError(
            f"{what}: tolerance is {tolerance:g}, which has no effect: channels of {kind} are whole numbers, and tolerance is in "
            f"their units, 0 to {most}{share}"
        )
    pixels = array.shape[0] * array.shape[1]
    if differing_px >= pixels:
        one = f"the picture has {pixels:,} pixel{'s' if pixels > 1 else ''}"
        raise GoldenError(f"{what}: differing_px is {differing_px}, so it could never fail: {one}; it must be below that")
    if differing_px != int(differing_px):
        share = f"; as a share of {pixels:,} pixels it is differing_px={round(differing_px * pixels)}" if differing_px < 1 else ""
        raise GoldenError(f"{what}: differing_px is {differing_px:g}; it must be a whole number, of pixels{share}")
    if perceptual == 1:
        raise GoldenError(f"{what}: perceptual is 1, so it could never fail: the mean of FLIP is at most 1; about 0.05 is seen")


@dataclass(frozen=True)
class _Asked:
    """``first``: who compared with the golden before, in a run that updates."""

    path: Path
    name: str
    update: bool
    first: str | None


def _compare(asked: _Asked, array: Array, tolerance: float, differing_px: int, perceptual: float | None) -> None:
    __tracebackhide__ = True
    path = asked.path
    try:
        golden, made_by = decode(path)
    except FileNotFoundError:
        golden, made_by = None, None
    except UNREADABLE as error:
        raise GoldenError(f"golden picture '{path}': {getattr(error, 'strerror', None) or error}") from None

    if golden is None:
        if asked.update:
            write_file(path, encode(array, path))
            _keep(asked, "written", actual=array)
            return
        message = f"there is no golden {_relative(path)} yet for picture '{asked.name}'; "
        writes = "`pytest --tilegpu-update`" if naming.test_id() else "TILEGPU_GOLDEN_UPDATE=1 in the environment"
        message += f"{writes} writes it: look at it, commit it"
        _fail(asked, "missing", message, actual=array)
    assert golden is not None
    array = like_golden(array, golden)
    reason = _reason(golden, array, tolerance, differing_px, perceptual)
    if reason is None:
        _keep(asked, "equal" if golden.tobytes() == array.tobytes() else "near", actual=array)
    elif asked.update and asked.first is not None:
        two = f"picture '{asked.name}' is two different pictures in this run, and one golden {_relative(path)} holds one:\n"
        two += f"  it is that of {asked.first},\n  not that of {naming.place()}; give each a name of its own"
        message = reason.said(two)
        _fail(asked, "different", message, expected=golden, actual=array, tolerance=tolerance)
    elif asked.update:
        write_file(path, encode(array, path))
        _keep(asked, "updated", expected=golden, actual=array, tolerance=tolerance)
    else:
        made = f"the golden is of tilegpu {made_by}, this is {__version__}" if made_by and made_by != __version__ else ""
        message = reason.said(f"picture '{asked.name}' is not the golden {_relative(path)}") + (f"\n  {made}" if made else "")
        _fail(asked, "different", message, expected=golden, actual=array, tolerance=tolerance)


def _relative(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


@dataclass(frozen=True)
class _Reason:
    """What is wrong: ``figures`` on one line, ``first``: where it begins."""

    figures: str
    first: str = ""

    def said(self, of: str) -> str:
        """Figures come first: pytest's summary has room for some twenty words of each test."""
        return f"{self.figures}: {of}" + (f"\n  {self.first}" if self.first else "")


def _reason(golden: Array, array: Array, tolerance: float, differing_px: int, perceptual: float | None) -> _Reason | None:
    """What is wrong; None if nothing is."""
    if golden.shape != array.shape or golden.dtype != array.dtype:
        return _Reason(f"it is {array.dtype} {array.shape}, the golden {golden.dtype} {golden.shape}")
    if golden.tobytes() == array.tobytes():
        return None
    found = difference_of(golden, array, tolerance, perceptual=perceptual is not None)
    words, first = [], ""
    if found.differing_px > differing_px and (perceptual is None or tolerance or differing_px):
        figures, first = _where(golden, array, found, tolerance, differing_px)
        words.append(figures)
    if perceptual is not None and found.flip is not None and found.flip > perceptual:
        words.append(f"FLIP has a mean of {found.flip:.4f}, allowed is {perceptual:g}")
    return _Reason("; ".join(words), first) if words else None


def _where(golden: Array, array: Array, found: Difference, tolerance: float, allowed_px: int) -> tuple[str, str]:
    """How many, how much and where, and the first of them."""
    assert found.box is not None and found.first is not None
    x0, y0, x1, y1 = found.box
    x, y = found.first
    full = f" of {np.iinfo(golden.dtype).max}" if golden.dtype.kind in "ui" else ""
    more = f" by more than {tolerance:g}" if tolerance else ""
    allowed = f" ({allowed_px} may)" if allowed_px else ""
    return (
        f"{found.differing_px:,} of {found.pixels:,} pixels ({100 * found.differing_px / found.pixels:.3g} %) differ{more}{allowed}, "
        f"the largest by {found.largest:g}{full}, in columns {x0} to {x1 - 1}, rows {y0} to {y1 - 1}",
        f"first at x {x}, y {y}: expected {_values(golden[y, x])}, is {_values(array[y, x])}",
    )


def _values(texel: Any) -> str:
    return str(tuple(np.atleast_1d(texel).ravel().tolist()))


def _fail(asked: _Asked, status: Status, message: str, **pictures: Any) -> None:
    __tracebackhide__ = True
    record = _keep(asked, status, message=message, **pictures)
    looked_at = ", ".join(f"{kind.replace('_', ' ')} {_relative(Path(file))}" for kind, file in record.files.items())
    raise ImageMismatch(record.message + (f"\n  look at: {looked_at}" if looked_at else ""), record) from None


def _keep(
    asked: _Asked,
    status: Status,
    *,
    actual: Array,
    expected: Array | None = None,
    tolerance: float = 0.0,
    message: str = "",
) -> Picture:
    """Notes the comparison, with files to look at: all pictures of those that differ, and of others where a report is wanted."""
    test = naming.test_id()
    failed = status in ("different", "missing", "updated")
    kept: dict[str, str] = {}
    if failed or naming.is_set("TILEGPU_GOLDEN_KEEP"):
        root = Path(os.environ.get("TILEGPU_GOLDEN_OUTPUT", "tilegpu-pictures"))
        folder = root / naming.of_test(test) if test else root
        pictures = {"actual": shown(actual)}
        if expected is not None:
            pictures = {"expected": shown(expected), **pictures}
            if expected.shape == actual.shape and expected.dtype == actual.dtype:
                pictures["difference"] = marked(expected, actual, tolerance)
            pictures = {"side_by_side": side_by_side(pictures), **pictures}
        for kind, picture in pictures.items():
            file = folder / f"{naming.safe(asked.name)}.{kind}.png"
            try:
                write_file(file, png_bytes(picture))
            except Error as error:  # what differs is told all the same
                message += f"\n  {error}"
                break
            kept[kind] = str(file.absolute())
    record = Picture(asked.name, test, str(asked.path), status, message, kept)
    _pictures.append(record)
    return record
