"""Conditional rendering. In: a word of a buffer. Out: commands that are executed, or left out, by what it holds then."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from tilegpu import _core, arguments
from tilegpu.buffer import Buffer, BufferSlice, require_usage, require_words
from tilegpu.errors import ValidationError
from tilegpu.with_block import WithBlock

_WORD_B = 4


class Condition:
    """A word of 32 bits: what follows runs where it is not 0, or with ``inverted`` where it is."""

    def __init__(self, given: Any, inverted: Any, what: str) -> None:
        if not isinstance(given, (Buffer, BufferSlice)):
            raise ValidationError(f"{what} is {arguments.shown(given)}; it must be a buffer, or a part of one, that begins with a uint32")
        if not isinstance(inverted, bool):
            raise ValidationError(f"{what}: inverted is {arguments.shown(inverted)}; it must be True or False")
        buffer, self._offset_B = (given, 0) if isinstance(given, Buffer) else (given.buffer, given.offset)
        if given.size < _WORD_B or self._offset_B % _WORD_B:
            raise ValidationError(
                f"{what} has {given.size} bytes from byte {self._offset_B} on; it takes {_WORD_B}, at a multiple of {_WORD_B}"
            )
        require_usage(buffer, "conditional_rendering", what)
        require_words(buffer, what, self._offset_B, _WORD_B)
        self._buffer, self._inverted = buffer, inverted

    def begin(self, commands: _core.CommandBuffer) -> None:
        """Records where the conditional part begins; it ends with ``end_conditional_rendering``."""
        commands.begin_conditional_rendering(self._buffer.core, self._offset_B, self._inverted)


class ConditionalRendering(WithBlock):
    """Draws and clears in its ``with`` block, executed on a condition. Made by ``rp.conditional``."""

    _example = "with rp.conditional(...):"

    def __init__(self, label: str, commands: Callable[[], _core.CommandBuffer], condition: Condition) -> None:
        self._made()
        self._label, self._commands, self._condition = label, commands, condition

    def __repr__(self) -> str:
        return f"<tilegpu.ConditionalRendering of pass '{self._label}', {'entered' if self._was_entered else 'not entered'}>"

    def end_of_pass(self) -> None:
        """The pass has ended: what was not meant is said."""
        self.say_never_entered(f"rp.conditional() of pass '{self._label}'", "the draws behind it don't depend on it")

    def __enter__(self) -> ConditionalRendering:
        self._was_entered = True
        self._condition.begin(self._commands())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commands().end_conditional_rendering()
