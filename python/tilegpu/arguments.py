"""Checks of what users give, one kind each. In: a value, and the words that name its object and field. Out: the value, of one type.

Whatever is of the wrong kind is a :class:`tilegpu.ValidationError`, never an exception of Python's own out of the middle of the work.
What is merely too small or too large is said where its limits are known.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.errors import MAX_SHOWN, ValidationError, keep_label
from tilegpu.errors import shown as shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of items that are taken as they are, without words for a message.
_INTEGERS, _NUMBERS = frozenset({int}), frozenset({int, float})


def whole(value: Any, what: str, must: str = "it must be a whole number") -> int:
    """An integer of Python's or NumPy's, or a float without a fraction; True and False are none."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    raise ValidationError(f"{what} is {shown(value)}; {must}")


def view_mask(value: Any, what: str) -> int:
    """A bit for each view; 0: none."""
    found = whole(value, what, "it must be a number with a bit for each view")
    if not 0 <= found <= 0xFFFFFFFF:
        raise ValidationError(f"{what} is {found}; it must be 0 to 0xffffffff, a bit for each view")
    return found


def count(value: Any, what: str, most: int = 1 << 62) -> int:
    """A whole number from 0 to ``most``."""
    found = whole(value, what)
    if not 0 <= found <= most:
        raise ValidationError(f"{what} is {found}; it must not be " + ("negative" if found < 0 else f"above {most}"))
    return found


def number(value: Any, what: str, must: str = "it must be a number") -> float:
    """A real number, as a float; True and False are none."""
    refuse_masked(value, what)
    if (isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu"
    ):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ValidationError(f"{what} is {shown(value)}; {must}")


def sequence(value: Any, what: str, must: str) -> list[Any]:
    """The items of a list, a tuple, an array or another iterable that is no text and no mapping."""
    refuse_masked(value, what)
    if not isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
        try:
            return list(value)
        except Exception:
            pass
    raise ValidationError(f"{what} is {shown(value)}; {must}")


def wholes(value: Any, what: str, count: int, must: str) -> list[int]:
    """So many whole numbers."""
    items = sequence(value, what, must)
    if len(items) != count:
        raise ValidationError(f"{what} is {shown(value)}; {must}")
    if _INTEGERS.issuperset(map(type, items)):
        return items
    return [whole(item, f"{what}: {shown(value)} has an item that", must) for item in items]


def vector(value: Any, fill: int, what: str, must: str) -> tuple[int, int, int]:
    """A position or an extent: two or three whole numbers of 31 bits, as three; ``fill`` is the third of two."""
    items = sequence(value, what, must)
    x, y, z = (*wholes(items, what, 3 if len(items) == 3 else 2, must), fill)[:3]
    if any(abs(v) > 0x7FFFFFFF for v in (x, y, z)):
        raise ValidationError(f"{what} is {shown(value)}; all must fit 31 bits")
    return x, y, z


def numbers(value: Any, what: str, counts: Sequence[int], must: str) -> tuple[float, ...]:
    """Real numbers, as many as one of ``counts``."""
    items = sequence(value, what, must)
    if len(items) not in counts:
        raise ValidationError(f"{what} is {shown(value)}; {must}")
    if _NUMBERS.issuperset(map(type, items)):
        with contextlib.suppress(OverflowError):  # an integer that no float holds: below, with its words
            return tuple(map(float, items))
    return tuple(number(item, f"{what}: {shown(value)} has an item that", must) for item in items)


def flag(value: Any, what: str) -> bool:
    """True or False; 1, 0 and None are taken too."""
    if value is None or (isinstance(value, (bool, int, np.bool_, np.integer)) and value in (0, 1)):
        return bool(value)
    raise ValidationError(f"{what} is {shown(value)}; it must be True or False")


def rows_misfit(rows: tuple[int, ...], step: int, name: str, topology: str) -> str:
    """What is wrong with indices, or vertices, whose rows are no primitives of a topology of lists, such as four corners of a face for
    triangles; ``rows``: the shape of an array behind its first dimension, ``step``: vertices of a primitive. A column says nothing."""
    last = rows[-1] if rows else 1
    if step < 2 or last < 2 or last % step == 0:
        return ""
    shown = ", ".join(["n", *map(str, rows)])
    quads = last == 4 and step == 3
    fix = f"two triangles of each four are {name}[:, [0, 1, 2, 0, 2, 3]]" if quads else f"give rows of {step}, or another topology="
    return (
        f"{name} of shape ({shown}) are rows of {last}, and '{topology}' takes {step} each, across the rows; {fix} "
        f"({name}.reshape(-1) where they are meant one behind the other)"
    )


_MANY = {"index": "indices", "vertex": "vertices", "entry": "entries"}


def number_of(count: int, one: str) -> str:
    """``1 vertex``, ``3 vertices``, for a message."""
    return f"{count} {one if count == 1 else _MANY.get(one, one + 's')}"


def there_are(count: int, one: str) -> str:
    """``there is 1 vertex``, ``there are 3 vertices``, for a message."""
    return f"there {'is' if count == 1 else 'are'} {number_of(count, one)}"


def text(value: Any, what: str) -> str:
    """A string that UTF-8 can hold."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            pass
        else:
            if what.endswith(("label", "file")):
                keep_label(value)
            return value
    raise ValidationError(f"{what} is {shown(value)}; it must be text")


def path(value: Any, what: str) -> str:
    """A path as text: of a string, of bytes, or of what has a path (``os.PathLike``). One of no characters is none."""
    if isinstance(value, (str, bytes, os.PathLike)):
        with contextlib.suppress(Exception):  # a __fspath__ of the user's
            if found := os.fsdecode(value):
                return found
    raise ValidationError(f"{what} is {shown(value)}; it must be a path")


def _masks(mask: Any) -> bool:
    """Whether a mask hides anything; that of a structured array has its fields."""
    found = np.asarray(mask)
    return any(_masks(found[name]) for name in found.dtype.names) if found.dtype.names else bool(found.any())


def refuse_masked(value: Any, what: str) -> None:
    """Raises for an array of which a mask hides something: NumPy's plain arrays have no masks, and the hidden numbers would be used."""
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray and _masks(getattr(value, "mask", False)):
        raise ValidationError(f"{what} is a masked array, and what is masked would be used; give it .filled(...) or .compressed()")


def dtype(value: Any, what: str) -> np.dtype[Any]:
    """What NumPy takes for one."""
    try:
        return np.dtype(value)
    except Exception as wrong:
        said = " ".join(str(wrong).split())
        raise ValidationError(f"{what}: dtype is {shown(value)}, which is none ({said[:MAX_SHOWN]}); give one such as 'float32'") from None


def converted(value: NDArray[Any], to: Any, what: str) -> NDArray[Any]:
    """An array's numbers in another dtype; the same array where it has that."""
    wanted = dtype(to, what)
    try:
        return value.astype(wanted, copy=False)
    except Exception as wrong:
        said = " ".join(str(wrong).split())
        raise ValidationError(f"{what}: {value.dtype} can't be converted to {wanted} ({said[:MAX_SHOWN]})") from None


def array(value: Any, what: str, must: str = "it must be numbers") -> NDArray[Any]:
    """A NumPy array of whatever NumPy makes one of; objects, texts and dates are refused."""
    refuse_masked(value, what)
    try:
        made = np.asarray(value)
    except Exception as wrong:
        raise ValidationError(f"{what} is {shown(value)}, which is no array ({wrong}); {must}") from None
    if made.dtype.hasobject and not made.ndim:
        raise ValidationError(f"{what} is {shown(value)}; {must}")
    if made.dtype.hasobject or made.dtype.kind in "USOmM":
        raise ValidationError(f"{what} has dtype {made.dtype}; {must}")
    return made
