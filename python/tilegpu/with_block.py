"""What does its work in a ``with`` block alone, and is told where it never was in one. In: where it was made. Out: a warning there.

And the other way round: calls that give nothing, and are entered as if they gave a block. In: the call. Out: an error that says what it is.

Without this a condition that was made and not entered leaves draws unconditional, and a pass that was never entered draws nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from tilegpu import _core
from tilegpu.errors import PACKAGE, Place, UnusedNameWarning, ValidationError
from tilegpu.fixed import Fixed


class Done:
    """What calls give that give nothing and look like blocks: entered, it says what they are instead. False, as ``None`` is."""

    __slots__ = ("_call", "_instead", "_take_back")

    def __init__(self, call: str, instead: str, take_back: Callable[[], object] | None = None) -> None:
        """``take_back``: undoes what the call asked for, when it turns out to be no block."""
        self._call, self._instead, self._take_back = call, instead, take_back

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{self._call}: done>"

    def _ipython_display_(self) -> None:
        """Nothing is shown below a cell."""

    if not TYPE_CHECKING:  # else it could be entered

        def __enter__(self) -> Any:
            if self._take_back is not None:
                self._take_back()
            raise ValidationError(f"{self._call} is no with block: {self._instead}")

        def __exit__(self, *raised: Any) -> None:
            """Python looks for it before it enters."""


_LINE = "on a line of its own"


def next_capture(take_back: Callable[[], object]) -> Done:
    """Of ``dev.capture``; ``take_back``: forgets what it asked for."""
    before = f"{_LINE} before `with dev.render_pass(...) as rp:`"
    return Done("dev.capture", f"it asks for the next pass; write dev.capture(path) {before}, or rp.capture(path) behind it", take_back)


PASS_CAPTURE = Done("rp.capture", f"it writes the pass that ended, at once; write rp.capture(path) {_LINE} behind the pass's block")
FRAME_CAPTURE = Done("f.capture", f"it writes the frame that ended, at once; write f.capture(path) {_LINE} behind the frame's block")
SET_STATE = Done("rp.set", f"what it sets holds until it is set again or the pass ends; write rp.set(...) {_LINE} before the draws")


class WithBlock(Fixed):
    """Base of what has to be entered. ``_example``: how it is written, for messages."""

    _example = "with ...:"
    _made_line: tuple[CodeType, int, dict[str, Any]] | None = None  # code, where in it, globals
    _was_entered = False

    def _made(self) -> None:
        """Remembers the user's place."""
        vars(self)["_made_line"] = _core.users_line(PACKAGE)

    @property
    def _made_at(self) -> Place | None:
        if self._made_line is None:
            return None
        code, at, names = self._made_line
        line = next((line for start, end, line in code.co_lines() if start <= at < end and line is not None), code.co_firstlineno)
        return Place(code.co_filename, line, names.setdefault("__warningregistry__", {}))

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
