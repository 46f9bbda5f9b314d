"""Operations of a shader, as the benchmarks count them: :mod:`tilegpu.operations`."""

from __future__ import annotations

from tilegpu.operations import Operations, count

__all__ = ["Operations", "count"]
