"""Fields of plain data that can't be set, and what looks almost like one of them.

In: frozen dataclasses. Out: the same, whose assignments raise an error that says how another value is got, or which name is near: Python's
own says "cannot assign to field", and nothing of a name that is misspelt.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tilegpu.errors import ValidationError, candidates
from tilegpu.fixed import MissingAttributeError, said


class FrozenFieldError(ValidationError, dataclasses.FrozenInstanceError):
    """As Python's own, a ``FrozenInstanceError`` (and so an ``AttributeError``) too: code that catches that goes on working."""


def tell_frozen(*classes: type) -> None:
    """Of frozen dataclasses. Classes that users derive from them may have attributes of their own, as Python lets them."""
    for cls in classes:
        setattr(cls, "__setattr__", _refusing(cls))  # noqa: B010 -- a dataclass that is frozen takes none in its body
        if "__getattr__" not in vars(cls):
            setattr(cls, "__getattr__", _missing)  # noqa: B010


def _missing(thing: Any, name: str) -> Any:
    if name[0] == "_":
        raise AttributeError(f"'{type(thing).__name__}' object has no attribute '{name}'")
    raise MissingAttributeError(thing, name)


def _refusing(cls: type) -> Any:
    names = [field.name for field in dataclasses.fields(cls)]

    def set_field(self: Any, name: str, value: Any) -> None:
        if name in names:
            how = f"is given where it is made; make a new one by dataclasses.replace(..., {name}=...)"
            raise FrozenFieldError(f"{said(self)}: {name} {how}")
        if type(self) is cls:
            raise FrozenFieldError(f"{said(self)}: there is no attribute '{name}' to set{candidates(name, names)}")
        object.__setattr__(self, name, value)

    return set_field
