"""Transform feedback. In: a pass while it is open, buffers. Out: what the last stage before the rasterizer writes of each vertex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from tilegpu import _core, arguments
from tilegpu.buffer import Buffer, BufferSlice
from tilegpu.errors import LostPrimitivesWarning, ValidationError
from tilegpu.with_block import WithBlock

Place = tuple[_core.Buffer, int, int]
_BUFFERS = 4


def place_of(given: Any, what: str) -> Place:
    """A buffer or a part of one: with its offset and size in bytes."""
    if isinstance(given, Buffer):
        return given.core, 0, given.size
    if isinstance(given, BufferSlice):
        return given.buffer.core, given.offset, given.size
    raise ValidationError(f"{what} is {arguments.shown(given)}; it must be a buffer or a part of one")


def places_of(given: Any, what: str) -> list[Place]:
    """One for each of the four buffers, from the first on."""
    items: Sequence[Any] = given if isinstance(given, (list, tuple)) else [given]
    if not 1 <= len(items) <= _BUFFERS:
        raise ValidationError(f"{what} has {len(items)} buffers; 1 to {_BUFFERS} are allowed")
    return [place_of(item, f"{what}[{k}]") for k, item in enumerate(items)]


def _nothing() -> None:
    """In the place of what was needed once."""


class TransformFeedback(WithBlock):
    """Vertices of the draws in its ``with`` block, in buffers. Made by ``rp.transform_feedback``.

    ``primitives`` that were written, and how many were ``needed``, once the pass has ended; of ``stream`` 0, or of another.
    """

    _example = "with rp.transform_feedback(...) as captured:"

    def __init__(
        self,
        label: str,
        commands: Callable[[], _core.CommandBuffer],
        buffers: Any,
        resume: Any,
        keep: Any,
        stream: int,
        begins: Callable[[], None],
        ends: Callable[[], None],
    ) -> None:
        """``begins`` is called where the block is entered: from there on draws write the buffers; ``ends`` where it is left."""
        what = f"transform feedback of pass '{label}'"
        self._made()
        self._label, self._commands, self._begins, self._ends = label, commands, begins, ends
        self._buffers = places_of(buffers, f"{what}: buffers")
        self._resume = [] if resume is None else places_of(resume, f"{what}: resume")
        self._keep = [] if keep is None else places_of(keep, f"{what}: keep")
        self._stream = arguments.count(stream, f"{what}: stream", 3)
        self._pool = _core.QueryPool.transform_feedback(1)

    def _result(self, k: int) -> int:
        if not self._was_entered:
            raise ValidationError(
                f"transform feedback of pass '{self._label}' was never entered, so nothing was captured; write `{self._example}`"
            )
        if not self._pool.available(0):
            raise ValidationError(
                f"transform feedback of pass '{self._label}': the result is there only after the pass's with block has ended"
            )
        return self._pool.value(k)

    def __repr__(self) -> str:
        there = self._was_entered and self._pool.available(0)
        result = f"{self.primitives} of {self.needed} primitives" if there else "no result yet"
        return f"<tilegpu.TransformFeedback of pass '{self._label}', {result}>"

    @property
    def primitives(self) -> int:
        """Primitives that were written. Raises before the pass has ended."""
        return self._result(0)

    @property
    def needed(self) -> int:
        """Primitives that there would have been, had the buffers been large enough."""
        return self._result(1)

    def end_of_pass(self) -> None:
        """The pass has ended: what was not meant, or did not fit, is said."""
        self._forget()
        self.say_never_entered(f"rp.transform_feedback() of pass '{self._label}'", "captures nothing")
        if self._was_entered and self._made_at is not None and self._pool.available(0) and self.needed > self.primitives:
            self._made_at.warn(
                f"transform feedback of pass '{self._label}': {self.primitives} of {self.needed} primitives fit the buffers, the others "
                "are not captured; make the buffers larger (`captured.needed` says for how many)",
                LostPrimitivesWarning,
            )

    def __enter__(self) -> TransformFeedback:
        self._enter_once(f"transform feedback of pass '{self._label}'")
        commands = self._commands()
        self._begins()
        commands.bind_transform_feedback_buffers(self._buffers)
        commands.begin_transform_feedback(self._resume)  # says first what the pass can't have
        commands.begin_query(self._pool, 0, False, self._stream)
        self._was_entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends()
        if kind is None:
            commands = self._commands()
            commands.end_query(self._pool, 0)
            commands.end_transform_feedback(self._keep)
        self._forget()

    def _forget(self) -> None:
        """What it needed of the pass; who asks for the result later keeps the numbers alone."""
        self._begins = self._ends = _nothing
