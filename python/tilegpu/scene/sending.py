"""Read-only mappings on their way to another process. In: the attributes of a description; out: what pickle takes, and the same again.

``types.MappingProxyType`` can't be pickled by itself, and it is what says that nobody changes a mapping (:mod:`tilegpu.scene.seals`).
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

#: What nobody gave: one object, so that identity tells it from an empty mapping of somebody's, which may be filled later.
NOTHING: Mapping[str, Any] = MappingProxyType({})


class _Sent:
    """A mapping that is read-only, or has such members. There is one for each mapping: what draws share, they share after the journey."""

    __slots__ = ("__weakref__", "mapping")

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self.mapping = mapping

    def __getstate__(self) -> tuple[bool, dict[str, Any]]:
        return isinstance(self.mapping, MappingProxyType), {name: _to_send(value) for name, value in self.mapping.items()}

    def __setstate__(self, state: tuple[bool, dict[str, Any]]) -> None:
        read_only, table = state
        made = {name: _arrived(value) for name, value in table.items()}
        self.mapping = made if not read_only else MappingProxyType(made) if made else NOTHING


_on_the_way: weakref.WeakValueDictionary[int, _Sent] = weakref.WeakValueDictionary()


def _needs_help(value: Any) -> bool:
    return isinstance(value, MappingProxyType) or (type(value) is dict and any(map(_needs_help, value.values())))


def _to_send(value: Any) -> Any:
    if not _needs_help(value):
        return value
    found = _on_the_way.get(id(value))  # it holds the mapping, whose id is no other's meanwhile
    if found is None:
        found = _on_the_way[id(value)] = _Sent(value)
    return found


def _arrived(value: Any) -> Any:
    return value.mapping if isinstance(value, _Sent) else value


class Sendable:
    """Base of what may have read-only mappings, and can be pickled and copied all the same."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: _to_send(value) for name, value in vars(self).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: _arrived(value) for name, value in state.items()})
