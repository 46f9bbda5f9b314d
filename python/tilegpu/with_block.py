"""What does its work in a ``with`` block alone, and is told where it never was in one. In: where it was made. Out: a warning there.

Without this a condition that was made and not entered leaves draws unconditional, and a pass that was never entered draws nothing.
"""

from __future__ import annotations

import sys
from typing import Any

from tilegpu import _core
from tilegpu.errors import PACKAGE, Place, UnusedNameWarning, ValidationError
from tilegpu.fixed import Fixed


class WithBlock(Fixed):
    """Base of what has to be entered. ``_example``: how it is written, for messages."""

    _example = "with ...:"
    _made_line: tuple[str, int, dict[str, Any]] | None = None
    _was_entered = False

    def _made(self) -> None:
        """Remembers the user's line."""
        vars(self)["_made_line"] = _core.users_line(PACKAGE)

    @property
    def _made_at(self) -> Place | None:
        if self._made_line is None:
            return None
        file, line, names = self._made_line
        return Place(file, line, names.setdefault("__warningregistry__", {}))

    def _enter_once(self, what: str, again: str = "make a new one for other draws") -> None:
        """Raises where it was entered before; :attr:`_was_entered` is set when entering has succeeded."""
        if self._was_entered:
            raise ValidationError(f"{what} was begun before; {again}")

    def say_never_entered(self, what: str, effect: str) -> None:
        """Warns, once for each place, where it was made and not entered."""
        if self._was_entered or self._made_at is None or sys.is_finalizing():
            return
        place = self._made_at
        vars(self)["_made_line"] = None
        place.warn(f"{what} was never entered, and {effect}; write `{self._example}`", UnusedNameWarning)
