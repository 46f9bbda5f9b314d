"""Vulkan's enumerations and formats by name: any case, with or without the ``VK_..._`` prefix and the ``_BIT`` suffix."""

from __future__ import annotations

import copyreg
import functools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from tilegpu import _core, enum_names
from tilegpu.arguments import sequence, shown
from tilegpu.errors import UnsupportedError, ValidationError, candidates
from tilegpu.format_names import meant

_SUFFIXES = ("_bit", "_khr", "_ext")


@functools.lru_cache(maxsize=4096)
def _normalize(kind: str, text: str) -> str:
    name = text.strip().lower().replace("-", "_").replace(" ", "_")
    name = name.removeprefix("vk_")
    name = name.removeprefix(kind + "_")
    changed = True
    while changed:
        changed = False
        for suffix in _SUFFIXES:
            if name.endswith(suffix):
                name, changed = name.removesuffix(suffix), True
    return name


def allowed(kind: str) -> list[str]:
    """All names of an enumeration, such as ``"compare_op"``."""
    return list(_core.ENUMS[kind])


def _candidates(kind: str, value: Any, names: Iterable[str]) -> str:
    """What other interfaces call it is looked up first: near names may be other tests, as 'equal' is of OpenGL's 'lequal'."""
    text = _normalize(kind, value) if isinstance(value, str) else value
    found = enum_names.meant(kind, value) or enum_names.meant(kind, text)
    return candidates(value, names, found, all_meant=True)


def parse(kind: str, value: Any, what: str, aliases: Iterable[str] = ()) -> int:
    """Value of one name of an enumeration. ``what`` names object and field in the error, ``aliases`` are names that may be meant."""
    table = _core.ENUMS[kind]
    if isinstance(value, str):
        found = table.get(value)
        if found is None:
            found = table.get(_normalize(kind, value))
        if found is not None:
            return found
    elif isinstance(value, int) and not isinstance(value, bool) and value in table.values():
        return int(value)
    raise ValidationError(f"{what} is {shown(value)}, which is no {kind}{_candidates(kind, value, [*aliases, *table])}")


def parse_flags(kind: str, value: str | Iterable[str] | int, what: str, aliases: dict[str, str] | None = None) -> int:
    """Names joined by ``|`` or in a sequence, as one bit mask."""
    must = f"it must be names out of {', '.join(allowed(kind))}, joined by | or in a list"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        known = functools.reduce(operator.or_, _core.ENUMS[kind].values())
        if value < 0 or int(value) & ~known:
            raise ValidationError(f"{what} is {shown(value)}, with bits that no {kind} has; {must}, or Vulkan's bits of these")
        return int(value)
    names = value.split("|") if isinstance(value, str) else sequence(value, what, must)
    mask = 0
    for name in names:
        text = _normalize(kind, name) if isinstance(name, str) else name
        mask |= parse(kind, (aliases or {}).get(text, text) if isinstance(text, str) else text, what, aliases or ())
    return mask


def name_of(kind: str, value: int) -> str:
    """Name of a value, for people."""
    for name, number in _core.ENUMS[kind].items():
        if number == value:
            return name
    return str(value)


def parse_swizzle(text: str | None, what: str) -> list[int]:
    """Four letters of ``rgba01`` as component swizzles; ``None`` is identity."""
    table = _core.ENUMS["component_swizzle"]
    if text is None:
        return [table["identity"]] * 4
    if not isinstance(text, str) or len(text) != 4 or any(c not in "rgba01" for c in text.lower()):
        raise ValidationError(f"{what} is {shown(text)}; it must be four letters of 'rgba01', such as 'rrr1'")
    return [table[{"0": "zero", "1": "one"}.get(c, c)] for c in text.lower()]


FormatInfo = _core.FormatInfo


def format_names() -> list[str]:
    """Every format that tilegpu knows."""
    return _core.format_names()


def _format_named(name: str) -> FormatInfo:
    return parse_format(name, "a format from another process")


copyreg.pickle(FormatInfo, lambda info: (_format_named, (info.name,)))  # a row of a table that every process has

_find_format = functools.lru_cache(maxsize=1024)(_core.find_format)


@functools.cache
def _formats_by_number() -> dict[int, FormatInfo]:
    return {info.number: info for info in map(_find_format, format_names()) if info is not None}


def format_of(number: int) -> FormatInfo:
    """Format by Vulkan's number."""
    return _formats_by_number()[number]


def parse_format(value: Any, what: str) -> FormatInfo:
    """Format by name, or of an object with a ``format`` (an image; of a view its own). ``what`` names object and field in the error."""
    name = value if isinstance(value, str) else getattr(value, "view_format", None) or getattr(value, "format", value)
    if isinstance(name, str):
        info = _find_format(name.strip()) if name.isascii() else None
        if info is not None:
            return info
        raise UnsupportedError(
            f"{what.removesuffix(': format')}: format {shown(name)} is not known{candidates(name, format_names(), meant(name))}",
            "VK_ERROR_FORMAT_NOT_SUPPORTED",
        )
    raise ValidationError(f"{what} is {shown(value)}; a format is a name such as 'r8g8b8a8_srgb', or an image")
