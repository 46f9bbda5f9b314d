"""What became of every fragment of a pass: the history of a pixel, costs for each draw, maps.

The tile phase has a second build that notes what happens (``cpp/src/tile/worker/fragment_trace.hpp``); it gives the same bits, and the same
counters but for :data:`ORDER_COUNTS`, because it draws in API order and never near ones first. A pass that
begins with cleared attachments and writes no memory can be asked after its end: it is executed again beside what happens to its images.
Any other pass is asked before: ``dev.render_pass(..., trace=...)``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import notebook
from tilegpu.arguments import shown
from tilegpu.errors import ValidationError
from tilegpu.fixed import Told

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Maps whose sums depend on the order in which a bin's triangles were drawn.
ORDER_COUNTS = ("early_killed", "hierarchical_z", "visibility_buffer")
#: kind: what a pixel's number is; those with a counter sum up to it.
HEATMAPS: dict[str, str] = {
    "rasterized": "fragments rasterized: overdraw",
    "early_killed": "fragments killed by early tests, those of hierarchical Z included",
    "hierarchical_z": "fragments killed by hierarchical Z",
    "pre_pass": "fragments killed by the pre-pass",
    "forward_kill": "fragments killed while they waited",
    "visibility_buffer": "fragments that passed early tests and were hidden before they were shaded",
    "shaded": "fragments shaded, those of several pixels at the first of them",
    "sliced": "invocations of sliced shaders",
    "discarded": "fragments discarded by the shader",
    "late_killed": "fragments killed by late tests",
    "overwritten": "fragments shaded of which nothing is left",
    "tile_ms": "milliseconds of the pixel's tile, over its pixels: the sum is the tiles' time on one thread",
}
#: kind: what its picture is called where it is not the kind (``tilegpu explain --heatmaps``).
PICTURE_NAMES = {"rasterized": "overdraw", "tile_ms": "tile_time"}
#: kind: counter of ``rp.stats`` that the map's sum is.
MAP_COUNTERS = {
    "rasterized": "fragments_rasterized",
    "early_killed": "fragments_early_killed",
    "hierarchical_z": "fragments_killed_by_hierarchical_z",
    "pre_pass": "fragments_killed_by_prepass",
    "forward_kill": "fragments_killed_by_fpk",
    "shaded": "fragments_shaded",
    "sliced": "sliced_invocations",
    "discarded": "fragments_discarded",
    "late_killed": "fragments_late_killed",
}

_FATES = {
    "rasterized": "nothing more: its draw writes nothing here",
    "lrz_primitive": "rejected by low-resolution Z with its primitive",
    "lrz_block": "rejected by low-resolution Z with its 4x4 block",
    "hierarchical_z": "rejected by hierarchical Z",
    "early_test": "rejected by the early depth/stencil test",
    "early_pass": "passed the early test",
    "hidden_visibility": "hidden in the visibility buffer",
    "hidden_pre_pass": "hidden in the pre-pass",
    "killed_main_pass": "killed in the main pass: hidden",
    "forward_pixel_kill": "killed while it waited",
    "sliced": "its sliced shader ran",
    "shaded": "shaded",
    "discarded": "shaded, discarded by the shader",
    "masked": "shaded, sample taken away by the shader's mask or alpha to coverage",
    "late_test": "shaded, rejected by the late depth/stencil test",
    "not_owned": "shaded, but not written: hidden",
    "written": "written",
    "blended": "blended",
    "depth_stencil_only": "passed all tests; writes no colour",
    "overwritten": "written, then overwritten",
    "cleared": "written, then cleared",
}

#: Steps that know what was stored.
_LOOKS = {"rasterized", "hierarchical_z", "early_test", "early_pass", "late_test", "written", "blended"}


@dataclasses.dataclass(frozen=True)
class FragmentStep(Told):
    """One step of a fragment at a sample.

    ``step``: ``"rasterized"``, ``"lrz_primitive"``, ``"lrz_block"``, ``"hierarchical_z"``, ``"early_test"`` (failed), ``"early_pass"``,
    ``"hidden_visibility"``, ``"hidden_pre_pass"``, ``"killed_main_pass"``, ``"forward_pixel_kill"``, ``"sliced"``, ``"shaded"``,
    ``"discarded"``, ``"masked"``, ``"late_test"`` (failed), ``"not_owned"``, ``"written"``, ``"blended"``, ``"depth_stencil_only"``,
    ``"overwritten"``, ``"cleared"``. ``by``: (draw, instance, primitive) that did it, or ``None``.
    ``depth``, ``stencil``: stored values before and after, in the image's precision; ``None`` where the step has nothing to do with them.
    ``color``: for each colour attachment the four
    components before and after, only where they were written.
    """

    step: str
    by: tuple[int, int, int] | None
    depth: tuple[float, float] | None
    stencil: tuple[int, int] | None
    color: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]


@dataclasses.dataclass(frozen=True)
class FragmentHistory(Told):
    """A fragment at one sample: who (``draw``, ``instance``, ``primitive``, ``pipeline``), where in depth, and its ``steps`` in order."""

    draw: int
    instance: int
    primitive: int
    pipeline: str
    sample: int
    depth: float
    steps: tuple[FragmentStep, ...]
    tests: tuple[str, ...] = ("depth", "stencil")  #: those of which the pass has an attachment

    @property
    def fate(self) -> str:
        """Name of the last step."""
        return self.steps[-1].step

    @property
    def survives(self) -> bool:
        """Something of its colour is in an attachment at the end of the pass."""
        return self.fate in ("written", "blended")

    @property
    def text(self) -> str:
        """What became of it, with who did it and values before and after."""
        last = self.steps[-1]
        text = _FATES[last.step].replace("depth/stencil", "/".join(self.tests) or "depth/stencil")
        if last.by is not None:
            text += f" by {_name(last.by)}"
        if last.step in ("early_test", "hierarchical_z", "late_test") and last.depth and last.stencil:
            stored = {"depth": f"depth {last.depth[0]:.7g}", "stencil": f"stencil {last.stencil[0]}"}
            if self.tests:
                text += f" (stored {', '.join(stored[test] for test in self.tests)})"
        writes = [s for s in self.steps if s.step in ("written", "blended")]
        if writes:
            text += ": " + "; ".join(f"{_color(a)} -> {_color(b)}" for a, b in writes[-1].color)
        return text


def _name(who: tuple[int, int, int]) -> str:
    draw, instance, primitive = who
    return f"draw {draw}" + (f" instance {instance}" if instance else "") + f" primitive {primitive}"


def _color(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{v:.4g}" for v in values) + ")"


@dataclasses.dataclass(frozen=True)
class PixelHistory(Told):
    """Every fragment that reached a pixel, in API order. Printed, a table.

    ``fragments``: a :class:`FragmentHistory` for each fragment and sample asked for. Primitives that were clipped, culled or left out
    of the tile because they do not cover the sample are not in it.
    """

    label: str
    x: int
    y: int
    samples: tuple[int, ...]
    fragments: tuple[FragmentHistory, ...]
    color_kinds: tuple[str, ...] = ()  #: of each colour attachment: ``"unorm"``, ``"srgb"``, ``"sfloat"``, ...

    @property
    def survivors(self) -> tuple[FragmentHistory, ...]:
        """The fragments whose colour is in the result, in the order in which they were drawn."""
        return tuple(f for f in self.fragments if f.survives)

    @property
    def _head(self) -> str:
        first, last = self.samples[0], self.samples[-1]
        which = f"sample {first}" if first == last else f"samples {first} to {last}"
        count = len(self.fragments)
        return f"pass '{self.label}', pixel ({self.x}, {self.y}), {which}: {count} fragment{'s' if count != 1 else ''}"

    def _repr_html_(self) -> str:
        """A row for each fragment, with its colours before and after; what is in the result is in bold."""
        many = len(self.samples) > 1
        rows: list[list[str]] = []
        for f in self.fragments:
            name = f"instance {f.instance}, primitive {f.primitive}" if f.instance else f"primitive {f.primitive}"
            fate = notebook.escaped(f.text)
            cells = [*([str(f.sample)] if many else []), str(f.draw), f.pipeline, name, f"{f.depth:.7g}"]
            seen = notebook.Html(f"<b>{fate}</b>" if f.survives else fate)
            rows.append([*cells, self._squares(f), seen])
        heads = [*(["sample"] if many else []), "draw", "pipeline", "of", "depth", "colour", "what became of it"]
        return notebook.table(self._head, heads if rows else (), rows)

    def _squares(self, fragment: FragmentHistory) -> notebook.Html:
        """Colours before and after, of each attachment that it wrote."""
        writes = [step for step in fragment.steps if step.step in ("written", "blended")]
        if not writes:
            return notebook.Html("")
        kinds = [*self.color_kinds, *["unorm"] * len(writes[-1].color)]
        pairs = zip(writes[-1].color, kinds, strict=False)
        return notebook.Html(" ".join(f"{notebook.swatch(a, kind)}&rarr;{notebook.swatch(b, kind)}" for (a, b), kind in pairs))

    def __str__(self) -> str:
        head = self._head
        if not self.fragments:
            return head
        many = len(self.samples) > 1
        rows = [
            (*(("sample",) if many else ()), "draw", "pipeline", "instance", "primitive", "depth", "what became of it")
        ]
        for f in self.fragments:
            cells = (str(f.draw), f.pipeline, str(f.instance), str(f.primitive), f"{f.depth:.7g}", f.text)
            rows.append((*((str(f.sample),) if many else ()), *cells))
        widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]) - 1)]
        lines = [head]
        for row in rows:
            lines.append("  " + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]))
        return "\n".join(lines)

    __repr__ = __str__


def pixel_history(
    label: str,
    x: int,
    y: int,
    samples: Sequence[int],
    events: list[dict[str, Any]],
    pipelines: list[str],
    color_kinds: Sequence[str] = (),
    tests: Sequence[str] = ("depth", "stencil"),
) -> PixelHistory:
    """The core's events of one pixel as a history; ``pipelines``: label by draw; ``color_kinds``: of the colour attachments; ``tests``:
    which of depth and stencil the pass has."""
    found: dict[tuple[int, tuple[int, int, int]], list[dict[str, Any]]] = {}
    for event in events:
        if event["sample"] in samples:
            found.setdefault((event["sample"], event["fragment"]), []).append(event)
    fragments = []
    for (sample, (draw, instance, primitive)), steps in sorted(found.items(), key=lambda item: item[0]):
        fragments.append(
            FragmentHistory(
                draw,
                instance,
                primitive,
                pipelines[draw] if draw < len(pipelines) else "",
                sample,
                next((e["depth"] for e in reversed(steps) if e["step"] == "shaded" and e["depth"]), steps[0]["depth"]),
                tuple(
                    FragmentStep(
                        e["step"],
                        e["by"],
                        (e["depth_before"], e["depth_after"]) if e["step"] in _LOOKS else None,
                        (e["stencil_before"], e["stencil_after"]) if e["step"] in _LOOKS else None,
                        tuple((tuple(a), tuple(b)) for a, b in zip(e["color_before"], e["color_after"], strict=True)),
                    )
                    for e in steps
                ),
                tuple(tests),
            )
        )
    return PixelHistory(label, x, y, tuple(samples), tuple(fragments), tuple(color_kinds))


def tile_time_map(size: tuple[int, int], tiles: Iterable[tuple[int, int, int, int, float]]) -> NDArray[np.float64]:
    """Milliseconds for each pixel, (height, width): a tile's time over its pixels inside the picture."""
    width, height = size
    out = np.zeros((height, width))
    for x, y, tile_width, tile_height, ms in tiles:
        part = out[max(y, 0) : max(y + tile_height, 0), max(x, 0) : max(x + tile_width, 0)]
        if part.size:
            part += ms / part.size
    return out


def parse_trace(trace: Any, what: str) -> tuple[bool, bool, list[tuple[int, int]]]:
    """``trace=`` of a pass: tiles, fragments, pixels."""
    if isinstance(trace, (bool, np.bool_)):
        return bool(trace), False, []
    if isinstance(trace, str) and trace == "fragments":
        return True, True, []
    try:
        pixels = [trace] if len(trace) == 2 and all(isinstance(v, (int, np.integer)) for v in trace) else list(trace)
        found = [(int(x), int(y)) for x, y in pixels]
        if all(0 <= x <= 0x7FFFFFFF and 0 <= y <= 0x7FFFFFFF for x, y in found) and not isinstance(trace, (str, bytes, Mapping)):
            return True, True, found
        raise ValueError
    except Exception:
        raise ValidationError(
            f"{what}: trace is {shown(trace)}; it must be True (tiles), 'fragments', a pixel (x, y) or a list of pixels"
        ) from None


#: Black over blue, red and yellow to white: equal steps look equal.
_RAMP = np.array(
    [(0, 0, 4), (59, 15, 112), (140, 41, 129), (222, 73, 104), (254, 159, 109), (252, 253, 191)], np.float64
)
#: Colours of a picture of who killed: map, colour.
KILLERS: dict[str, tuple[int, int, int]] = {
    "early_test": (70, 130, 230),
    "hierarchical_z": (40, 200, 200),
    "visibility_buffer": (90, 190, 80),
    "pre_pass": (240, 190, 60),
    "forward_kill": (225, 90, 60),
    "late_killed": (190, 90, 200),
    "discarded": (150, 150, 150),
}


def ramp_picture(values: NDArray[Any], top: float | None = None) -> NDArray[np.uint8]:
    """Values (height, width) as colours (height, width, 3): black for 0, pale yellow for ``top`` (default: the greatest) and above."""
    most = float(values.max()) if top is None else top
    at = np.clip(values / (most or 1.0), 0, 1) * (len(_RAMP) - 1)
    low = np.minimum(at.astype(int), len(_RAMP) - 2)
    mix = (at - low)[..., None]
    return np.round(_RAMP[low] * (1 - mix) + _RAMP[low + 1] * mix).astype(np.uint8)


def killers_picture(maps: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Who killed fragments: the mean of :data:`KILLERS`' colours, weighted by what each killed; brighter where more were killed."""
    parts = {**maps, "early_test": maps["early_killed"] - maps["hierarchical_z"]}
    weights = np.stack([np.maximum(parts[name], 0) for name in KILLERS], axis=-1).astype(np.float64)
    total = weights.sum(axis=-1)
    mean = weights @ np.array(list(KILLERS.values()), np.float64) / np.maximum(total, 1)[..., None]
    strength = np.sqrt(total / max(1.0, float(total.max())))[..., None]
    return np.round(mean * (0.25 * (total > 0)[..., None] + 0.75 * strength)).astype(np.uint8)
