"""Occlusion queries. In: a pass while it is open. Out: a number of samples once it has ended."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from tilegpu import _core
from tilegpu.errors import ValidationError


class Query:
    """An occlusion query: ``samples`` that passed all tests, once the pass has ended."""

    def __init__(self, label: str, commands: Callable[[], _core.CommandBuffer]) -> None:
        self._label, self._commands = label, commands
        self._pool = _core.QueryPool(1)

    @property
    def samples(self) -> int:
        """Samples that passed. Raises before the pass has ended."""
        if not self._pool.available(0):
            raise ValidationError(
                f"query of pass '{self._label}': the result is there only after the pass's with block has ended"
            )
        return self._pool.value(0)

    def __enter__(self) -> Query:
        self._commands().begin_query(self._pool, 0, True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commands().end_query(self._pool, 0)
