"""Occlusion queries. In: a pass while it is open. Out: a number of samples once it has ended."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from tilegpu import _core
from tilegpu.errors import ValidationError


class Query:
    """An occlusion query: ``samples`` that passed all tests, once the pass has ended."""

    def __init__(self, label: str, commands: Callable[[], _core.CommandBuffer], views: int = 1) -> None:
        self._label, self._commands, self._count = label, commands, views
        self._pool = _core.QueryPool(views)

    @property
    def samples(self) -> int:
        """Samples that passed, in all views. Raises before the pass has ended."""
        return sum(self.views)

    @property
    def views(self) -> list[int]:
        """The same for each view of the pass, in the order of their numbers; one where the pass has none."""
        if not self._pool.available(0):
            raise ValidationError(
                f"query of pass '{self._label}': the result is there only after the pass's with block has ended"
            )
        return [self._pool.value(i) for i in range(self._count)]

    def __enter__(self) -> Query:
        self._commands().begin_query(self._pool, 0, True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commands().end_query(self._pool, 0)
