"""What an ended pass can tell: its cost, the framebuffer's five pieces, draws explained, histories of pixels.

In: the recorded command buffer, which may be executed again. Out: statistics, tables, maps.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilegpu import _core, arguments, notebook, reads_since
from tilegpu.binding import ReadLate
from tilegpu.context import Context, open_here
from tilegpu.enums import parse_format
from tilegpu.errors import ValidationError, candidates
from tilegpu.explain import Explanation
from tilegpu.files import output_problem, place, suffix_problem
from tilegpu.frame_traffic import Moved
from tilegpu.history import HEATMAPS, PICTURE_NAMES, PixelHistory, parse_trace, pixel_history, tile_time_map
from tilegpu.image import Image
from tilegpu.low_resolution_z import LowResolutionZ
from tilegpu.pass_lint import Line, lines_of
from tilegpu.stats import PassStats
from tilegpu.with_block import PASS_CAPTURE, Done

dict_of = _core.dict_of  # vars(), without a look for an attribute

if TYPE_CHECKING:
    import weakref
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tilegpu.cost_counts import PassCounts
    from tilegpu.costs import PassCosts
    from tilegpu.uses import Use


class PassResults:
    """The half of :class:`tilegpu.RenderPass` that is used after its ``with`` block."""

    label: str
    _device: Context
    _what: str  # what messages call it
    _trace = _trace_fragments = False  # what is kept of each tile, and of fragments
    _trace_pixels: list[tuple[int, int]]
    _found: dict[str, Any] | None = None  # of the last fragment trace with maps
    _recorded: _core.CommandBuffer | None = None
    _reads: list[Any]  # what the recording reads of memory that would else be given to other passes
    _submission: _core.Submission | None = None  # the last execution
    _stats: PassStats | None = None  # of it, once somebody asked
    _hsr: _core.HiddenSurfaceRemoval | None = None  # where it is not the device's
    _late: Sequence[ReadLate] = ()  # sets that are read as they are when it is executed
    _undefined: list[str]  # what is read, or may be, though nobody wrote it; for lint() and a warning
    _size = _held = (0, 0)  # of the framebuffer; of the window of it that the attachments hold
    _window: tuple[int, int, int, int] | None = None  # x, y, and the framebuffer's size
    _steps: reads_since.Steps | None = None  # of frames
    _left: list[weakref.ref[reads_since.Left]]  # what it left in images as a step of these

    def __init__(self, device: Context, label: str, trace: bool | str | Sequence[Any]) -> None:
        # One by one: update() makes a dictionary of its own first.
        own = dict_of(self)
        own["label"], own["_device"], own["_what"] = label, device, f"pass '{label}'"
        own["_trace_pixels"], own["_reads"], own["_undefined"], own["_left"] = [], [], [], []
        if trace is not False:
            self._trace, self._trace_fragments, self._trace_pixels = parse_trace(trace, self._what)

    @property
    def uses(self) -> list[Use]:
        """What it reads and writes."""
        return []

    def _image_uses(self) -> Iterable[Use]:
        """Those that are of images, and maybe others, in less time."""
        return self.uses

    def images_used(self) -> dict[int, Image]:
        """Images that it reads or writes, by id."""
        return {id(use.thing): use.thing for use in self.uses if isinstance(use.thing, Image)}

    def _repr_html_(self) -> str:
        """What it cost, once it has ended."""
        return f"<pre>{notebook.escaped(repr(self))}</pre>" if self._submission is None else self.stats._repr_html_()

    def _execute(self, commands: _core.CommandBuffer) -> None:
        own = dict_of(self)
        device = own["_device"]
        of_device = dict_of(device)
        path = of_device["_next_capture"]
        if path is not None:
            device._capture_next(None)
            _core.save_capture(device.core, [commands], path)
        frame = of_device["_frame"]
        if open_here.passes:  # a list of what each draw reads and writes is long
            device._check_order(self._what, self.uses)
        if frame is not None or own["_undefined"]:
            device._before(self._what, self._undefined if self._submission is None else [])
        if own.get("_trace_fragments"):
            submission = own["_submission"] = device._submit(commands, [(0, True, self._trace_pixels)])
            self._found = submission.fragment_trace(0)
        else:
            own["_submission"] = of_device["core"].submit_one(commands)
        own["_stats"] = None
        again = list(own["_left"])  # a replay leaves the same again
        if frame is not None:
            frame.add_pass(self, commands)
        elif of_device["_frames"]:
            reads_since.executed(self._image_uses(), self._steps)
        for ref in again:
            if (one := ref()) is not None:
                one.put()

    def replay(self) -> PassStats:
        """Executes the ended pass again, without recording it again, and waits; returns its new statistics.

        Buffers and textures are read as they are now; NumPy arguments are those that were copied at the draws.
        """
        if self._recorded is None:
            raise ValidationError(
                f"{self._what}: replay() is for a pass whose with block has ended without an exception"
            )
        for one in self._late:
            one.check()
        self._execute(self._recorded)
        return self.stats

    def capture(self, path: str | os.PathLike[str]) -> Done:
        """Writes the ended pass to a file, with everything that it names: what :meth:`replay` would execute now.

        ``tilegpu replay`` and :meth:`tilegpu.Device.load_capture` draw it, in any process, with the same bits. Images and buffers are
        written as they are now; for a pass that loads what it overwrites, call :meth:`tilegpu.Device.capture` before it.
        """
        if self._recorded is None:
            raise ValidationError(
                f"{self._what}: capture() is for a pass whose with block has ended without an exception"
            )
        path = arguments.path(path, f"{self._what}: capture: path")
        if problem := output_problem(path) or suffix_problem(path, "captures"):
            raise ValidationError(f"{self._what}: capture: {problem}")
        _core.save_capture(self._device.core, [self._recorded], place(path))
        return PASS_CAPTURE

    @property
    def stats(self) -> PassStats:
        """What the pass cost; there once the ``with`` block has ended."""
        found = self._stats
        if found is None:
            if self._submission is None:
                raise ValidationError(
                    f"{self._what}: stats are there only after its with block has ended without an exception"
                )
            found = self._stats = PassStats(self.label, self._submission.pass_stats(0))
        return found

    def _piece(self, name: str) -> dict[str, Any]:
        import json

        pieces: dict[str, dict[str, Any]] = json.loads(self._ended(f"{name} is known").describe_framebuffer(0))
        return pieces[name]

    @property
    def layout(self) -> dict[str, Any]:
        """First of the framebuffer's five pieces: formats, samples, areas, tile size and its allocation in tile memory."""
        return self._piece("layout")

    @property
    def load(self) -> dict[str, Any]:
        """Second piece: what a tile starts with, per target, inside the render area and in the border around it."""
        return self._piece("load")

    @property
    def store(self) -> dict[str, Any]:
        """Third piece: what leaves the tile, per target, and where to."""
        return self._piece("store")

    @property
    def resolve(self) -> dict[str, Any]:
        """Fourth piece: the copy inside tile memory at the end of the pass; empty where the store does it on its way out."""
        return self._piece("resolve")

    @property
    def desc(self) -> dict[str, Any]:
        """Fifth piece: tiler heap, sample positions, and what else is neither layout nor operation."""
        return self._piece("desc")

    def tiles(self) -> list[dict[str, Any]]:
        """What moved for each tile, for a pass made with ``trace=True``: a dictionary each, part by part, layer by layer,
        row by row.

        ``x``, ``y``, ``width``, ``height`` (both as ``size``): the tile in pixels, which may reach beyond the framebuffer; ``layer``;
        ``part``: ``"normal"``, or ``"first"``, ``"middle"``, ``"last"`` of a pass that was split; ``has_primitives``;
        ``traffic``: bytes by attachment and cause, as in ``rp.stats.traffic``, whose sum they are.
        """
        submission = self._ended("tiles() are known")
        if not self._trace:
            raise ValidationError(f"{self._what}: tiles() needs dev.render_pass(..., trace=True)")
        return submission.tile_trace(0)

    def lint(self) -> list[str]:
        """What costs bytes without need, with the bytes, and what was hardly meant: undefined contents that are loaded or sampled.
        A line each; empty if there is nothing to say."""
        found = [line.text for line in self._lint()]
        return [*found, *(line for line in self._undefined if line not in found)]

    def _moved(self) -> Moved:
        """What it moved, by tiles where they were noted; for lint."""
        submission = self._ended("lint() has an answer")
        return Moved(self.stats.traffic, submission.tile_trace(0) if self._trace else (), self.layout, bool(self.stats.rendered_in_sysmem))

    @property
    def _in_memory(self) -> bool:
        """Without tiles: on a profile that has none, or on Adreno in sysmem."""
        from tilegpu.cost_constants import CONSTANTS

        constants = CONSTANTS.get(self._device.profile)  # none of host, whose bins are tiles
        return bool(self.stats.rendered_in_sysmem) or (constants is not None and constants.kind == "immediate")

    def _lint(self, node: int = 0) -> list[Line]:
        """What it says itself. ``node``: its number in a frame."""
        import json

        submission = self._ended("lint() has an answer")
        return lines_of(submission.lint(0), self._moved(), json.loads(submission.describe_framebuffer(0)), node)

    def explain(self) -> Explanation:
        """Per draw: which hidden-surface removal was on, and why not; there once the ``with`` block has ended."""
        from tilegpu.hsr import names, tried

        profile = self._device.profile
        found = tried(names(self._hsr or self._device.core.hsr), profile)
        words = f"tried, and not {profile}'s own: {', '.join(found)}" if found else ""
        return Explanation(self.label, self._ended("explain() has an answer").explain(0), self._costs, words)

    def costs(self) -> PassCosts:
        """What the pass would cost on the GPU that the device's profile models: operations, bytes read and written, cycles, and the unit
        that limits it (docs/costs.md).

        The ended pass is executed again for it, beside its images, to count fragments by draw, unless it was traced. A pass that can't be
        (it loads, was split, its shaders write memory) has its costs of its own counters where all draws run the same programs. Else, and
        on profile ``host``, which is this computer and not modelled, raises :class:`tilegpu.ValidationError`.
        """
        from tilegpu.costs import costs_of

        return costs_of(self._counts())

    def _counts(self) -> PassCounts:
        from tilegpu.cost_counts import counts_of
        from tilegpu.costs import constants_of
        from tilegpu.hsr import names

        profile = self._device.profile
        submission = self._ended("costs() are known")
        constants_of(profile)
        trace: dict[str, Any] | None = None
        try:
            trace = self._fragments()
        except ValidationError as refused:
            if "cannot be traced after its end" not in str(refused):
                raise
        return counts_of(submission, 0, self.label, profile, names(self._hsr or self._device.core.hsr), trace)

    def lrz(self) -> LowResolutionZ:
        """Low-resolution Z as the pass left it, feedback included: the buffer of each direction, and the direction byte after each draw,
        as arrays. Raises :class:`tilegpu.ValidationError` where it is switched off for the pass."""
        found = self._ended("lrz() is there").low_resolution_z(0)
        if found is None:
            raise ValidationError(
                f"{self._what}: lrz(): low-resolution Z is switched off; use a profile that has it, or hsr=['lrz']"
            )
        return LowResolutionZ._of(found)

    def why(self, x: int, y: int, sample: int | None = None, *, layer: int = 0) -> PixelHistory:
        """The history of a pixel (framebuffer coordinates) and a sample, or all its samples: every fragment that reached it, in API
        order, and what became of it at which stage. ``layer``: of a pass with several, or the view.

        The ended pass is executed again for the pixel's tile, beside its images. Buffers and textures are read as they are now.
        A pass that loads images, was split or whose shaders write memory can't be repeated: name its pixels in advance,
        ``dev.render_pass(..., trace=[(x, y)])``. Raises :class:`tilegpu.ValidationError` where neither is the case, or for a
        pixel or sample that is not there.
        """
        submission = self._ended("why() has an answer")
        width, height = self._size
        x, y = (arguments.whole(at, f"{self._what}: why(): {name}") for name, at in (("x", x), ("y", y)))
        sample = None if sample is None else arguments.whole(sample, f"{self._what}: why(): sample")
        layer = arguments.whole(layer, f"{self._what}: why(): layer")
        if not (0 <= x < width and 0 <= y < height):
            raise ValidationError(f"{self._what}: why({x}, {y}): the framebuffer is {width} x {height} px")
        layout = self.layout
        samples = int(layout["samples"])
        if sample is not None and not 0 <= sample < samples:
            raise ValidationError(f"{self._what}: why(): sample is {sample}; the pass has {samples}")
        if not 0 <= layer < int(layout["layers"]):
            raise ValidationError(f"{self._what}: why(): layer is {layer}; the pass has {layout['layers']}")
        if self._found is not None and layer == 0 and (x, y) in self._trace_pixels:
            events = self._found["events"][self._trace_pixels.index((x, y))]
        else:
            events = self._trace_again(False, [(x, y)], layer=layer)["events"][0]
        pipelines: list[str] = []
        for row in submission.explain(0):
            pipelines += [row["pipeline"]] * row["draws"]
        kinds = [parse_format(name, self._what).numeric if name != "none" else "" for name in layout["color_formats"]]
        tests = [name for name in ("depth", "stencil") if layout[f"{name}_format"] != "none"]
        return pixel_history(self.label, x, y, range(samples) if sample is None else [sample], events, pipelines, kinds, tests)

    def heatmap(self, kind: str) -> NDArray[Any]:
        """A number for each pixel of the framebuffer, (height, width).

        ``kind``: a key of :data:`tilegpu.history.HEATMAPS`, or the name of a picture of ``tilegpu explain`` (``"overdraw"`` for
        ``"rasterized"``, ``"tile_time"`` for ``"tile_ms"``). Counts of fragments are int32, and sum up to the counter of
        ``rp.stats`` exactly, but that three are of API order where the pass was drawn near ones first
        (:data:`tilegpu.history.ORDER_COUNTS`); ``"tile_ms"`` is float64, in milliseconds, and of a new execution (best of
        three for each tile).
        Raises :class:`tilegpu.ValidationError` for a pass that can't be repeated (see :meth:`why`) and was not
        made with ``trace="fragments"``.
        """
        kind = next((k for k, name in PICTURE_NAMES.items() if name == kind), kind) if isinstance(kind, str) else kind
        if not isinstance(kind, str) or kind not in HEATMAPS:
            raise ValidationError(f"{self._what}: heatmap {arguments.shown(kind)} is not known{candidates(kind, HEATMAPS)}")
        if kind != "tile_ms":
            result: NDArray[Any] = self._fragments()["maps"][kind]
            return result.copy()
        runs = [self._trace_again(False, [], timed=True)["tiles"] for _ in range(3)]
        tiles = [(*place, min(run[i][4] for run in runs)) for i, (*place, _) in enumerate(runs[0])]
        left, top = self._window[:2] if self._window else (0, 0)
        return tile_time_map(self._held, [(x - left, y - top, *rest) for x, y, *rest in tiles])

    def _fragments(self) -> dict[str, Any]:
        """Maps and costs: from the execution if it was traced, else from another one."""
        if self._found is None:
            self._found = self._trace_again(True, [])
        return self._found

    def _trace_again(self, maps: bool, pixels: list[tuple[int, int]], timed: bool = False, layer: int = 0) -> dict[str, Any]:
        """Of the last execution, once more beside its images."""
        submission = self._ended("what became of its fragments is known")
        try:
            found: dict[str, Any] = self._device.core.trace_again(submission, 0, maps, pixels, timed, layer)
        except ValidationError as refused:
            if not str(refused).endswith("while it is recorded"):
                raise
            how = f"trace={pixels}" if pixels else "trace='fragments'"
            raise ValidationError(f"{refused}: dev.render_pass(..., {how})", refused.code) from None
        return found

    def _costs(self) -> list[dict[str, Any]]:
        return list(self._fragments()["draws"])

    def _ended(self, what: str) -> _core.Submission:
        """The last execution, for what is known only once the pass has ended."""
        if self._recorded is None or self._submission is None:
            raise ValidationError(f"{self._what}: {what} only after its with block has ended without an exception")
        return self._submission
