"""What a pass cost, readable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilegpu import _core, notebook
from tilegpu.arguments import shown
from tilegpu.errors import ValidationError, candidates
from tilegpu.fixed import Made, MissingAttributeError, NoOperationError, made_once, said

#: Heading, counters and what they are called when they are printed.
GROUPS: dict[str, tuple[tuple[str, str], ...]] = {
    "geometry": (
        ("draws", "draws"),
        ("indices", "indices"),
        ("vertices_shaded", "vertices shaded"),
        ("vertex_batches", "vertex batches"),
        ("primitives_in", "primitives in"),
        ("primitives_culled", "primitives culled"),
        ("primitives_clipped", "primitives clipped"),
        ("primitives_out", "primitives out"),
        ("bin_entries", "bin entries"),
        ("lrz_primitives_rejected_in_binning", "left out of bins by low-resolution Z"),
        ("bins_with_primitives", "bins with primitives"),
        ("bins", "bins"),
    ),
    "tessellation, geometry shaders, transform feedback": (
        ("patches", "patches"),
        ("control_invocations", "invocations of control shaders"),
        ("evaluation_invocations", "invocations of evaluation shaders"),
        ("geometry_invocations", "invocations of geometry shaders"),
        ("geometry_primitives", "primitives of geometry shaders"),
        ("primitives_captured", "primitives captured"),
        ("captured_B", "captured (bytes)"),
    ),
    "task and mesh shaders": (
        ("task_workgroups", "workgroups of task shaders"),
        ("task_invocations", "invocations of task shaders"),
        ("mesh_workgroups", "workgroups of mesh shaders"),
        ("mesh_invocations", "invocations of mesh shaders"),
        ("mesh_vertices", "vertices of mesh shaders"),
        ("mesh_primitives", "primitives of mesh shaders"),
        ("mesh_primitives_culled", "of these, culled by the shader"),
    ),
    "fragments": (
        ("fragments_rasterized", "rasterized"),
        ("fragments_early_killed", "killed by early tests"),
        ("lrz_primitives_rejected", "primitives hidden by low-resolution Z"),
        ("lrz_blocks_rejected", "4x4 blocks hidden by low-resolution Z"),
        ("lrz_feedback_texels", "texels moved by low-resolution Z's feedback"),
        ("fragments_shaded", "shaded"),
        ("coarse_fragments", "of these, fragments of several pixels"),
        ("coarse_pixels", "pixels that these were for"),
        ("fragments_discarded", "discarded"),
        ("fragments_late_killed", "killed by late tests"),
        ("samples_written", "samples written"),
        ("helper_lanes", "helper lanes"),
        ("idle_lanes", "idle lanes"),
        ("packets", "packets"),
    ),
    "hidden-surface removal": (
        ("primitives_culled_by_prepass", "primitives culled by the pre-pass"),
        ("fragments_killed_by_prepass", "fragments killed by the pre-pass"),
        ("fragments_killed_by_fpk", "fragments killed while they waited"),
        ("fragments_killed_by_hierarchical_z", "fragments killed by hierarchical Z"),
        ("sliced_invocations", "invocations of sliced shaders"),
    ),
    "deferred vertex shading": (
        ("vertices_position_shaded", "vertices shaded for their position alone"),
        ("vertices_shaded_in_tiles", "vertices shaded in tiles"),
        ("primitives_deferred", "primitives deferred"),
        ("varyings_deferred_B", "varyings not written (bytes)"),
    ),
    "vertices of the modelled GPU": (
        ("vertices_in_tiles", "in tiles, where deferred"),
        ("vertices_positioned_in_prepass", "positions in the pre-pass"),
        ("vertices_shaded_in_prepass", "whole in the pre-pass"),
        ("vertices_fetched_B", "vertices fetched (bytes)"),
        ("indices_fetched_B", "indices fetched (bytes)"),
    ),
    "memory and time": (
        ("tiler_heap_B", "tiler heap (bytes)"),
        ("visibility_stream_B", "visibility stream (bytes)"),
        ("gmem_bandwidth_B", "in GMEM, for the autotuner (bytes)"),
        ("sysmem_bandwidth_B", "in sysmem, for the autotuner (bytes)"),
        ("rendered_in_sysmem", "rendered in sysmem"),
        ("peak_arena_B", "peak arena (bytes)"),
        ("splits", "splits"),
        ("geometry_ms", "geometry (ms)"),
        ("tiles_ms", "tiles (ms)"),
    ),
}


#: What some GPUs have and others not, or a technique that was on: printed where one of them is not 0, then all of them.
_TOGETHER = (
    ("visibility_stream_B", "gmem_bandwidth_B", "sysmem_bandwidth_B", "rendered_in_sysmem"),  # a profile with GMEM has bytes of it
    ("lrz_primitives_tested", "lrz_primitives_rejected_in_binning", "lrz_primitives_rejected",
     "lrz_blocks_rejected", "lrz_feedback_texels"),
    ("primitives_culled_by_prepass", "fragments_killed_by_prepass", "fragments_killed_by_fpk"),
    ("coarse_fragments", "coarse_pixels"),
    ("bin_entries", "bins_with_primitives", "bins", "tiler_heap_B", "peak_arena_B"),
)  # fmt: skip


def counted_by_attribute(thing: Any, name: Any) -> NoOperationError:
    """Of statistics that are asked as a mapping."""
    named = name if isinstance(name, str) and name in thing._values else "draws"
    return NoOperationError(f"{said(thing)}: counters are attributes, such as stats.{named}; stats.asdict() is a dict of them all")


class PassStats(Made):
    """Counters of one executed pass as attributes (``stats.fragments_shaded``); printed, a table; in a notebook too.

    ``traffic`` has the bytes between tile memory and images: ``stats.traffic["color0"]["store"]``. Everything but
    the two times is the same for any number of threads, and but ``helper_lanes``, ``idle_lanes`` and ``packets`` for
    any number of lanes. (Where a draw both discards and writes depth, some fragments that are hidden in any case are
    killed before they are shaded with one number of lanes, and after that with another.)
    """

    label: str
    _counters: _core.PassStats | None

    def __init__(self, label: str, counters: _core.PassStats) -> None:
        # Not by __setattr__, which asks what counters there are. A copy, made when the pass had ended.
        vars(self).update(label=label, _counters=counters)

    @made_once
    def _values(self) -> dict[str, Any]:
        """Made when someone asks: frames that only draw do not pay for it."""
        assert self._counters is not None  # a pickled one has its values
        return self._counters.asdict()

    def __getstate__(self) -> dict[str, Any]:
        """Plain numbers: to other processes."""
        return {**vars(self), "_counters": None, "_values": self._values}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            pass
        raise MissingAttributeError(self, name)

    def __getitem__(self, name: Any) -> Any:
        raise counted_by_attribute(self, name)

    def _said_elsewhere(self, name: str) -> str:
        return "it is what was counted" if name in self._values else ""

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    @property
    def vertex_ratio(self) -> float:
        """Vertices shaded for each vertex that the indices name; 1 is the least work possible."""
        unique = self._values["vertices_unique_requested"]
        return self._values["vertices_shaded"] / unique if unique else 0.0

    def asdict(self) -> dict[str, Any]:
        """All counters, ``traffic`` as nested dictionaries: ready for JSON."""
        return {
            **self._values,
            "traffic": {k: dict(v) for k, v in self._values["traffic"].items()},
            "label": self.label,
        }

    def bytes(self, cause: str) -> int:
        """Bytes of one cause (``"load"``, ``"store"``, ``"resolve"``, ...) over all attachments."""
        return bytes_of_cause(self._values["traffic"], cause)

    def _rows(self) -> list[tuple[str, list[tuple[str, str]]]]:
        groups: list[tuple[str, list[tuple[str, str]]]] = []
        absent = {key for some in _TOGETHER if not any(self._values.get(key) for key in some) for key in some}
        for title, fields in GROUPS.items():
            if not any(self._values.get(key) for key, _ in fields):
                continue  # techniques that were off, stages that are not there, vertices of no modelled GPU
            rows = [(text, _number(self._values[key])) for key, text in fields if key in self._values and key not in absent]
            if title == "geometry" and self._values.get("vertices_unique_requested"):
                rows.append(("shaded for each unique vertex", f"{self.vertex_ratio:.3f}"))
            groups.append((title, rows))
        traffic = []
        for attachment, causes in self._values["traffic"].items():
            traffic += [(f"{attachment} {cause.replace('_', ' ')}", bytes_text(n)) for cause, n in causes.items() if n]
        if traffic:
            groups.append(("traffic between tiles and images", traffic))
        return groups

    def __str__(self) -> str:
        groups = self._rows()
        width = max((len(text) for _, rows in groups for text, _ in rows), default=0)
        value_width = max((len(value) for _, rows in groups for _, value in rows), default=0)
        lines = [f"pass '{self.label}'"]
        for title, rows in groups:
            lines.append(f"  {title}")
            lines += [f"    {text:<{width}}  {value:>{value_width}}" for text, value in rows]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = []
        for title, group in self._rows():
            rows += [(notebook.Html(f"<b>{notebook.escaped(title)}</b>"), ""), *group]
        return notebook.table(f"pass '{self.label}'", (), rows, {1})


def _number(value: float | int) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


#: What a ledger has of each attachment, for passes and frames that have none.
CAUSES = ("load", "clear", "store", "resolve", "border_load", "border_store", "spill_load", "spill_store", "saved_clean_tile",
          "saved_compression", "saved_transaction_elimination")  # fmt: skip


def bytes_of_cause(traffic: Mapping[str, Mapping[str, int]], cause: Any) -> int:
    """The sum over all attachments of a ledger; a cause that there is not is an error."""
    known = dict.fromkeys([name for causes in traffic.values() for name in causes] or CAUSES)
    if cause not in known:
        raise ValidationError(f"stats: bytes({shown(cause)}): there is no such cause{candidates(cause, known)}")
    return sum(causes.get(cause, 0) for causes in traffic.values())


def bytes_text(count: int) -> str:
    """Bytes for people: exact below a mebibyte."""
    if count < 1 << 20:
        return f"{count:,} B"
    return f"{count / (1 << 20):,.2f} MiB"
