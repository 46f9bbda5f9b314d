"""Occlusion queries. In: a pass while it is open. Out: a number of samples once it has ended."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from tilegpu import _core, notebook
from tilegpu.errors import ValidationError, candidates
from tilegpu.with_block import WithBlock


def _not_there(label: str, entered: bool, example: str) -> ValidationError:
    what = f"query of pass '{label}'"
    if not entered:
        return ValidationError(f"{what} was never entered, so nothing was counted; write `{example}`")
    return ValidationError(f"{what}: the result is there only after the pass's with block has ended")


class QueryIsNoNumberError(ValidationError, TypeError):
    """As Python's own, a TypeError too."""


class Query(WithBlock):
    """An occlusion query: ``samples`` that passed all tests, once the pass has ended."""

    _example = "with rp.query() as q:"

    def __init__(self, label: str, commands: Callable[[], _core.CommandBuffer], views: int = 1) -> None:
        self._made()
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
            raise _not_there(self._label, self._was_entered, self._example)
        return [self._pool.value(i) for i in range(self._count)]

    def _is_no_number(self, *_: object) -> NoReturn:
        raise QueryIsNoNumberError(f"query of pass '{self._label}' is no number, and no truth; ask .samples, once the pass has ended")

    __bool__ = __int__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = _is_no_number

    def __eq__(self, other: object) -> bool:
        return self._is_no_number() if isinstance(other, (int, float)) else self is other

    __hash__ = object.__hash__

    def _repr_html_(self) -> str:
        return notebook.facts("", [("occlusion query", repr(self))])

    def __repr__(self) -> str:
        there = self._was_entered and self._pool.available(0)
        return f"<tilegpu.Query of pass '{self._label}', {f'{self.samples} samples' if there else 'no result yet'}>"

    def end_of_pass(self) -> None:
        """The pass has ended: what was not meant is said."""
        self.say_never_entered(f"rp.query() of pass '{self._label}'", "counts nothing")

    def __enter__(self) -> Query:
        self._enter_once(f"query of pass '{self._label}'")
        self._commands().begin_query(self._pool, 0, True)
        self._was_entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commands().end_query(self._pool, 0)


#: Counts of pipeline-statistics queries, in the order of VkQueryPipelineStatisticFlagBits.
STATISTICS = {
    "input_assembly_vertices": 1 << 0,
    "input_assembly_primitives": 1 << 1,
    "vertex_shader_invocations": 1 << 2,
    "geometry_shader_invocations": 1 << 3,
    "geometry_shader_primitives": 1 << 4,
    "clipping_invocations": 1 << 5,
    "clipping_primitives": 1 << 6,
    "fragment_shader_invocations": 1 << 7,
    "tessellation_control_shader_patches": 1 << 8,
    "tessellation_evaluation_shader_invocations": 1 << 9,
    "task_shader_invocations": 1 << 11,
    "mesh_shader_invocations": 1 << 12,
}


class StatisticsQuery(WithBlock):
    """Pipeline statistics and generated primitives of the draws in its ``with`` block, once the pass has ended: ``q["..."]``.

    Keys: those of :data:`STATISTICS`, ``primitives_generated`` (also where nothing is rasterized; of mesh shaders none) and
    ``mesh_primitives_generated``: what mesh shaders said they make. ``clipping_primitives`` are all but
    those that lie beyond the near or the far plane, a clip or a cull distance, or are no numbers: what is culled by its facing, covers no
    sample or lies beside the view counts, as the specification wants or allows.
    ``fragment_shader_invocations`` depend on hidden-surface removal. ``views``: a dictionary
    for each view.
    """

    _example = "with rp.statistics() as q:"

    def __init__(
        self, label: str, commands: Callable[[], _core.CommandBuffer], views: int = 1, active: list[StatisticsQuery] | None = None
    ) -> None:
        self._made()
        self._label, self._commands, self._count = label, commands, views
        self._active = [] if active is None else active  # of the pass: the one that is open
        self._pools = (
            _core.QueryPool.statistics(views, sum(STATISTICS.values())),
            _core.QueryPool.primitives_generated(views),
            _core.QueryPool.mesh_primitives_generated(views),
        )

    @property
    def views(self) -> list[dict[str, int]]:
        """The counts of each view, in the order of their numbers; one where the pass has none."""
        statistics, generated, of_meshes = self._pools
        if not statistics.available(0):
            raise _not_there(self._label, self._was_entered, self._example)
        many = len(STATISTICS)
        return [
            {
                **{name: statistics.value(v * many + i) for i, name in enumerate(STATISTICS)},
                "primitives_generated": generated.value(v),
                "mesh_primitives_generated": of_meshes.value(v),
            }
            for v in range(self._count)
        ]

    def _repr_html_(self) -> str:
        """The counts, once the pass has ended."""
        if not self._was_entered or not self._pools[0].available(0):
            return f"<pre>{notebook.escaped(repr(self))}</pre>"
        rows = [(name.replace("_", " "), f"{self[name]:,}") for name in self.views[0]]
        return notebook.table(f"statistics of pass '{self._label}'", (), rows, {1})

    def __repr__(self) -> str:
        if not self._was_entered or not self._pools[0].available(0):
            return f"<tilegpu.StatisticsQuery of pass '{self._label}', no result yet>"
        counts = ", ".join(f"{name} {self[name]}" for name in self.views[0])
        return f"<tilegpu.StatisticsQuery of pass '{self._label}': {counts}>"

    def _where_else(self, name: str) -> str:
        names = [*STATISTICS, "primitives_generated", "mesh_primitives_generated"]
        return f"counts are read by their names: q['fragment_shader_invocations']{candidates(name, names)}"

    def __getitem__(self, name: str) -> int:
        """The count in all views. Raises before the pass has ended."""
        views = self.views
        if name not in views[0]:
            raise ValidationError(f"query of pass '{self._label}': '{name}' is not counted; there are {', '.join(views[0])}")
        return sum(view[name] for view in views)

    def end_of_pass(self) -> None:
        """The pass has ended: what was not meant is said."""
        self.say_never_entered(f"rp.statistics() of pass '{self._label}'", "counts nothing")

    def __enter__(self) -> StatisticsQuery:
        self._enter_once(f"query of pass '{self._label}'")
        if self._active:
            raise ValidationError(f"query of pass '{self._label}': another query of statistics is active; end it first")
        for pool in self._pools:
            self._commands().begin_query(pool, 0, False)
        self._active.append(self)
        self._was_entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active.clear()
        if kind is None:
            for pool in self._pools:
                self._commands().end_query(pool, 0)
