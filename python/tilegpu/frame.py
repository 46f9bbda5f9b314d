"""Frames: what is done on a device in a ``with`` block, as a graph of passes, dispatches and copies.

In: what the device executes meanwhile. Out: totals, edges, lint across passes, a replay and a capture of the whole. Nothing is recorded
anew: a node keeps the commands that were executed.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import warnings
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tilegpu import _core, arguments, reads_since
from tilegpu.binding import ReadLate
from tilegpu.compute import DispatchStats
from tilegpu.context import CommandStats, Context, open_passes
from tilegpu.errors import UndefinedContentsError, UnusedNameWarning, ValidationError, users_level
from tilegpu.files import output_problem, place, suffix_problem
from tilegpu.fixed import Told
from tilegpu.frame_graph import BEFORE, Edge, Graph, Node, Unread
from tilegpu.frame_lint import Finding, findings
from tilegpu.frame_stats import FrameStats
from tilegpu.image import Image, image_of
from tilegpu.pass_results import PassResults
from tilegpu.stats import PassStats, bytes_text
from tilegpu.uses import LaterUses, Use
from tilegpu.whole_file import write_whole
from tilegpu.with_block import FRAME_CAPTURE, Done, WithBlock

if TYPE_CHECKING:
    from tilegpu.explain import Explanation
    from tilegpu.frame_costs import Comparison

_VERBS = {
    "store": "stored", "resolve": "resolved", "copy": "copied", "blit": "blitted", "clear": "cleared", "mipmaps": "mipmaps made",
    "load": "loaded", "sampled": "sampled", "vertices": "read as vertices", "indices": "read as indices",
}  # fmt: skip


class Frame(WithBlock):
    """A frame of several passes. Made by :meth:`tilegpu.Device.frame`; see there.

    ``nodes``: what was done, in order (:class:`Node`). What the host wrote meanwhile (``buffer.write``, ``dev.texture``) is no node, and
    :meth:`replay` does not write it again. ``takes_inner``: frames may be opened inside of it, and what is done in them is its own as well:
    for who watches a program that has frames itself.
    """

    _example = 'with dev.frame("...") as f:'
    nodes: list[Node]
    takes_inner = False
    _outer: Frame | None = None
    _open_passes: dict[int, str]  # that were entered within it and not left, by id: what they are
    _host_wrote: dict[int, Image]  # what the program wrote itself, no node of it
    _pending: dict[int, tuple[str, ...]]  # thread: what the node that it executes now reads undefined
    _state = "not entered"
    _lock: threading.Lock
    _mark: reads_since.Mark
    _graph: tuple[int, Graph] | None = None

    def __init__(self, device: Context, label: str, strict: bool, outputs: Any) -> None:
        self.label = arguments.text(label, "frame: label")
        self._what = f"frame '{self.label}'"
        self._device = device
        self.strict = arguments.flag(strict, f"{self._what}: strict")
        given = (outputs,) if isinstance(image_of(outputs), Image) else outputs
        self._outputs: list[Image] = []
        must = "it must be an image or a list of them"
        none = type(given) is tuple and not given
        for value in () if none else arguments.sequence(given, f"{self._what}: outputs", must):
            if not isinstance(image_of(value), Image):
                raise ValidationError(f"{self._what}: outputs has {arguments.shown(value)}; it must be images")
            self._outputs.append(image_of(value))
        # At once: each attribute that is set by itself is asked whether it is the user's.
        vars(self).update(
            nodes=[], _open_passes={}, _host_wrote={}, _pending={}, _lock=threading.Lock(), _mark=reads_since.Mark()
        )
        self._made()  # last: what could not be made was told

    def __del__(self) -> None:
        self.say_never_entered(getattr(self, "_what", "a frame"), "nothing is in it")

    # -- the with block

    def __enter__(self) -> Frame:
        self._was_entered = True
        if self._state != "not entered":
            raise ValidationError(f"{self._what} was entered before; make a new one with dev.frame")
        for open_pass in open_passes():
            if open_pass._device is self._device:
                raise ValidationError(
                    f"{self._what}: {open_pass.title} is open, and is executed only when its with block ends: nothing of it would be in "
                    "the frame; open the frame first"
                )
        with self._device._lock:
            outer = self._device._frame
            if outer is not None and not outer.takes_inner:
                raise ValidationError(f"{self._what}: frame '{outer.label}' is open on this device; frames don't nest, leave it first")
            self._device._frame, self._outer = self, outer
            self._device._frames.add(self)
        self._state = "open"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._device._frame = self._outer
        self._state = "ended" if kind is None else "left by an exception"
        with self._lock:
            left_open = list(self._open_passes.values())
        if kind is None and left_open:
            self._state = "left by an exception"
            are = "is" if len(left_open) == 1 else "are"
            raise ValidationError(
                f"{self._what} ends while {', '.join(left_open)} {are} open: what is executed then is no part of it; leave the pass first, "
                "its with block lies within the frame's"
            )
        if kind is None:
            if not self.nodes and not self._host_wrote and not self.takes_inner:
                text = f"{self._what}: nothing was recorded in it; a frame has what its own device executes ({self._device!r})"
                warnings.warn(text, UnusedNameWarning, stacklevel=users_level())
            self._look_at_outputs()

    def _look_at_outputs(self) -> None:
        """What the frame is said to be drawn for, and nothing in it writes: for all that is asked of it later it is not there."""
        if not self._outputs:
            return
        written = {id(use.thing) for node in self.nodes for use in node.uses if use.write} | self._host_wrote.keys()
        for image in self._outputs:
            if id(image._whole()[0]) in written or any(id(plane) in written for plane in image.planes):
                continue
            message = f"{self._what}: outputs has image '{image.label}', which nothing in the frame writes; draw to it, or leave it out"
            if self.strict or self._device.strict:
                raise ValidationError(message)
            warnings.warn(message, UnusedNameWarning, stacklevel=users_level())

    def entered(self, render_pass: PassResults, what: str) -> None:
        """A pass was begun; it has to end before the frame does."""
        with self._lock:
            self._open_passes[id(render_pass)] = what

    def left(self, render_pass: PassResults) -> None:
        """A pass that was begun has ended, or was given up."""
        with self._lock:
            self._open_passes.pop(id(render_pass), None)

    # -- what the device tells while the frame is open

    def before(self, what: str, undefined: Sequence[str]) -> None:
        """Something is about to be executed. Raises where it reads, or may read, what nobody wrote, and the frame is strict."""
        if undefined and self.strict:
            texts = (text.removeprefix(f"{what}: ").removeprefix(f"{what}, ") for text in undefined)
            raise UndefinedContentsError(f"{self._what}, {what}: {'; '.join(texts)}")
        self._pending[threading.get_ident()] = tuple(undefined)

    def host_wrote(self, image: Image) -> None:
        """The program wrote pixels (:meth:`tilegpu.Image.write`)."""
        with self._lock:
            self._host_wrote[id(image._whole()[0])] = image
        if self._outer is not None:
            self._outer.host_wrote(image)

    def _add(self, node: Node, images: dict[int, Image] | None = None) -> None:
        """``images``: those that it reads or writes, where that is known without asking it."""
        node.undefined = self._pending.pop(threading.get_ident(), ())
        if images is None:
            images = {id(use.thing): use.thing for use in node.uses if isinstance(use.thing, Image)}
        node.host_reads = {key: image._host_reads for key, image in images.items()}
        with self._lock:
            node.number = len(self.nodes)
            self.nodes.append(node)
        node.steps.setdefault(self._mark, node.number)
        if self._outer is not None:
            self._outer._add(dataclasses.replace(node), images)
        else:
            reads_since.executed(node.uses, node.steps)
        node.left = {id(one.use): one for one in reads_since.left_by(node.uses, self._mark, node.number)}
        if (render_pass := node.render_pass) is not None:
            render_pass._left = [ref for ref in render_pass._left if ref() is not None]
            render_pass._left += map(weakref.ref, node.left.values())

    def add_pass(self, render_pass: PassResults, commands: _core.CommandBuffer) -> None:
        """A pass was executed."""
        if render_pass._steps is None:
            render_pass._steps = reads_since.Steps()
        uses, steps = LaterUses(lambda: render_pass.uses), render_pass._steps
        node = Node(0, "pass", render_pass.label, uses, render_pass.stats, render_pass, commands=commands, steps=steps)
        self._add(node, render_pass.images_used())

    def add_dispatch(
        self,
        label: str,
        commands: _core.CommandBuffer,
        uses: Iterable[Use],
        stats: DispatchStats,
        keep: Any,
        late: Sequence[ReadLate] = (),
    ) -> None:
        """A dispatch was executed; ``keep``: memory that its commands read; ``late``: sets that each execution reads as they are then."""
        self._add(Node(0, "dispatch", label, tuple(uses), stats, commands=commands, keep=keep, late=late))

    def add_command(self, kind: str, commands: _core.CommandBuffer, uses: Iterable[Use], stats: CommandStats) -> None:
        """A copy, a clear, ... was executed."""
        self._add(Node(0, kind, "", tuple(uses), stats, commands=commands))

    # -- what it tells

    def _ended(self, what: str) -> None:
        if self._state != "ended":
            raise ValidationError(
                f"{self._what} is {self._state}: {what} only after its with block has ended without an exception"
            )

    def _of_nodes(self) -> Graph:
        if self._graph is None or self._graph[0] != len(self.nodes):
            self._graph = len(self.nodes), Graph(self.nodes)
        return self._graph[1]

    @property
    def passes(self) -> list[PassResults]:
        """The passes, in order."""
        return [node.render_pass for node in self.nodes if node.render_pass is not None]

    @property
    def stats(self) -> FrameStats:
        """What all passes cost together; of the last execution."""
        passes = [node.stats for node in self.nodes if isinstance(node.stats, PassStats)]
        dispatches = [node.stats for node in self.nodes if isinstance(node.stats, DispatchStats)]
        return FrameStats(self.label, passes, dispatches, [node.stats for node in self.nodes if isinstance(node.stats, CommandStats)])

    @property
    def edges(self) -> list[Edge]:
        """What flows: written here, read there, as it was drawn: descriptor sets as draws read them. What shaders reach by address
        (``device_address``) is not among it."""
        return list(self._of_nodes().edges)

    @property
    def unread(self) -> list[Unread]:
        """Writes that no later node of the frame reads; its outputs are among them."""
        return list(self._of_nodes().unread)

    @property
    def outputs(self) -> list[Image]:
        """What the frame is drawn for: as given, or the colour images that its last pass stores or resolves to."""
        if self._outputs:
            return list(self._outputs)
        found: dict[int, Image] = {}
        for node in reversed(self.nodes):
            for use in node.uses:
                if use.write and isinstance(use.thing, Image) and not use.thing.format_info.is_depth_stencil:
                    found[id(use.thing)] = use.thing
            if found:
                break
        return list(found.values())

    def lint(self) -> list[Finding]:
        """What costs bytes without need, across passes, the dearest first: texts with ``saves_B`` (of the device's profile) and ``nodes``.
        What is stored and nobody has read yet: in the frame, as an output, or since, by the program or on the GPU; passes that could be
        one; samples that a command resolves; clears by command; and what each pass says itself. What is read undefined is there too."""
        self._ended("lint() has an answer")
        return [one for one in self._findings() if one.is_said]

    def _findings(self) -> list[Finding]:
        """Also those that only other profiles are asked."""
        return findings(self.nodes, self._of_nodes(), self.outputs)

    def explain(self) -> FrameExplanation:
        """Of each pass, what became of its draws and why (:meth:`RenderPass.explain`)."""
        self._ended("explain() has an answer")
        return FrameExplanation(self.label, [render_pass.explain() for render_pass in self.passes])

    def replay(self) -> FrameStats:
        """Executes all nodes again, in order, without recording them again, and waits; returns the new totals.

        Buffers and textures are read as they are now, as by :meth:`RenderPass.replay`; what the host wrote between two passes is not
        written again.
        """
        self._ended("replay() is there")
        with self._device._lock:
            if self._device._frame is not None and not self._device._frame.takes_inner:
                raise ValidationError(
                    f"{self._what}: replay() within frame '{self._device._frame.label}'; leave it first"
                )
        for node in self.nodes:
            if node.render_pass is not None:
                node.stats = node.render_pass.replay()
            else:
                for late in node.late:
                    late.check()
                submission = self._device._submit(node.commands)
                reads_since.executed(node.uses, node.steps)
                for one in node.left.values():
                    one.put()
                if node.kind == "dispatch":
                    node.stats = node.stats._replace(time_ms=submission.dispatch_stats(0).time_ms)
        return self.stats

    def capture(self, path: str | os.PathLike[str]) -> Done:
        """Writes all nodes to one file, with everything that they name: what :meth:`replay` would execute now. ``tilegpu replay`` and
        :meth:`tilegpu.Device.load_capture` draw it. Images and buffers are written as they are now."""
        self._ended("capture() is there")
        if not self.nodes:
            raise ValidationError(f"{self._what}: nothing was done in it; there is nothing to capture")
        path = arguments.path(path, f"{self._what}: capture: path")
        if problem := output_problem(path) or suffix_problem(path, "captures"):
            raise ValidationError(f"{self._what}: capture: {problem}")
        _core.save_capture(self._device.core, [node.commands for node in self.nodes], place(path))
        return FRAME_CAPTURE

    def report(self, path: str | os.PathLike[str], *, profiles: Sequence[str] | None = None) -> None:
        """Writes one HTML page that works without a network: the passes and what flows between them, bytes by cause, lint with the bytes
        saved, profiles side by side, and of each pass its draws explained and its tiles as pictures.

        The frame is executed again on devices of its own, once for each of ``profiles`` (by default all), from a capture of it in a
        temporary file: the user's images stay as they are. Pictures need Pillow. Raises :class:`ValidationError` for unknown profiles,
        and for a path that can't be written to, before anything is executed.
        """
        from tilegpu.frame_orders import run_all  # what few programs need is loaded when they do
        from tilegpu.frame_profiles import ProfileRun
        from tilegpu.frame_report import report

        self._ended("report() is there")
        path = arguments.path(path, f"{self._what}: report: path")
        problem = output_problem(path) or suffix_problem(path, "HTML pages")
        if problem:
            raise ValidationError(f"{self._what}: report: {problem}")
        known = [name.strip() for name in str(_core.profile_names()).split(",")]
        chosen = (
            known
            if profiles is None
            else list(arguments.sequence(profiles, f"{self._what}: profiles", "it must be a list of names"))
        )
        for name in chosen:
            if not isinstance(name, str) or name not in known:
                raise ValidationError(
                    f"{self._what}: profiles has {arguments.shown(name)}; there are {', '.join(known)}"
                )
        runs: list[ProfileRun] = []
        if self.nodes:
            import tempfile

            with tempfile.TemporaryDirectory(prefix="tilegpu-report-") as folder:
                capture = Path(folder) / "frame.tgcap"
                self.capture(capture)
                device = self._device
                runs = run_all(capture, device.profile, device.core.hsr, chosen, device._options)
        text = report(self.label, self._device.profile, self.nodes, self._of_nodes(), self._findings(), self.outputs, runs)
        write_whole(path, text, f"{self._what}: report")

    def what_if(self, profiles: Sequence[str] | None = None) -> Comparison:
        """The frame on all modelled GPUs side by side, and the changes that would make it cheaper, each with the bytes and cycles that
        it saves (docs/costs.md). Printed, a table.

        Like :meth:`report` it executes a capture of the frame, once for each of ``profiles`` (by default all that have a cost model), each
        as it is by default: Adreno's in GMEM, whatever ``render_mode`` the device has, but for its ``tiler_heap`` and ``lrz_flush``, and on
        its own profile its ``vertex_batch``.
        Raises :class:`ValidationError` for names that are not among them.
        """
        from tilegpu.cost_constants import CONSTANTS
        from tilegpu.frame_costs import comparison
        from tilegpu.frame_orders import run_with_orders

        self._ended("what_if() has an answer")
        must = f"{self._what}: profiles"
        chosen = list(CONSTANTS) if profiles is None else list(arguments.sequence(profiles, must, "it must be a list of names"))
        if not chosen:
            raise ValidationError(f"{must} is empty; there are {', '.join(CONSTANTS)}")
        for name in chosen:
            if not isinstance(name, str) or name not in CONSTANTS:
                raise ValidationError(f"{must} has {arguments.shown(name)}; there are {', '.join(CONSTANTS)}")
        if not self.nodes:
            return comparison(self.label, [])
        import tempfile

        with tempfile.TemporaryDirectory(prefix="tilegpu-what-if-") as folder:
            capture = Path(folder) / "frame.tgcap"
            self.capture(capture)
            own = self._device._options._replace(render_mode=_core.RenderMode.gmem)
            options = {name: own if name == self._device.profile else own.of_another() for name in chosen}
            runs = [run_with_orders(capture, name, options=options[name]) for name in chosen]
        return comparison(self.label, runs, self._findings(), self.nodes, self.unread, self.outputs, self._device.profile)

    # -- text

    def _line(self, edge: Edge) -> str:
        part = f" ({edge.part})" if edge.part else ""
        source = "from before" if edge.source == BEFORE else f"{_VERBS.get(edge.written, 'written')} by {edge.source}"
        return f"      <- '{edge.thing.label}'{part}: {_VERBS.get(edge.read, edge.read)}, {source}, {bytes_text(edge.size_B)}"

    def __str__(self) -> str:
        graph = self._of_nodes()
        stats = self.stats
        lines = [
            f"frame '{self.label}', {self._state}: {_counted(self.nodes)}; {bytes_text(stats.moved_B)} between tiles and images"
            + (f", {bytes_text(stats.commands_B)} by commands" if stats.commands else "")
        ]
        for node in self.nodes:
            moved = f", {bytes_text(FrameStats('', [node.stats]).moved_B)}" if isinstance(node.stats, PassStats) else ""
            if isinstance(node.stats, CommandStats):
                moved = f", {bytes_text(node.stats.read_B)} read, {bytes_text(node.stats.written_B)} written"
            draws = f", {node.stats.draws} draw{'s' if node.stats.draws != 1 else ''}" if isinstance(node.stats, PassStats) else ""
            name = f"{node.kind} '{node.label}'" if node.label else node.kind
            lines.append(f"  {node.number:>3} {name}{draws}{moved}")
            read = [e for e in graph.edges if e.target == node.number and (e.source != BEFORE or e.read == "load")]
            lines += [self._line(edge) for edge in read]
            nobody = [(u, u.use.thing) for u in graph.unread if u.source == node.number and isinstance(u.use.thing, Image)]
            for unread, image in nobody:
                over = "" if unread.overwritten_by is None else f"; overwritten by {unread.overwritten_by}"
                part = f" ({unread.use.aspect})" if len(image.format_info.aspects) > 1 else ""
                lines.append(
                    f"      -> '{image.label}'{part}: {_VERBS.get(unread.use.how, 'written')}, not read in the frame{over}"
                )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>{self.stats._repr_html_() if self.passes else ''}"

    def __repr__(self) -> str:
        return f"<tilegpu.Frame '{self.label}', {self._state}, {_counted(self.nodes)}>"


class FrameExplanation(Told):
    """Explanations of a frame's passes, in order; printed, one after another. ``rows``: all draws' rows, each with its ``pass``."""

    def __init__(self, label: str, passes: Sequence[Explanation]) -> None:
        self.label, self.passes = label, list(passes)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """As :attr:`Explanation.rows`, with the number of the pass."""
        return [{"pass": number, **row} for number, one in enumerate(self.passes) for row in one.rows]

    @property
    def costs(self) -> list[dict[str, Any]]:
        """As :attr:`Explanation.costs`, with the number of the pass."""
        return [{"pass": number, **row} for number, one in enumerate(self.passes) for row in one.costs]

    def __str__(self) -> str:
        return "\n".join(map(str, self.passes))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self.passes)


def _counted(nodes: Sequence[Node]) -> str:
    counts: dict[str, int] = {}
    for node in nodes:
        counts[node.kind] = counts.get(node.kind, 0) + 1
    plural = {"pass": "passes", "dispatch": "dispatches", "copy": "copies", "generate_mipmaps": "mip chains"}
    return (
        ", ".join(
            f"{n} {plural.get(k, k + 's') if n != 1 else k.replace('generate_mipmaps', 'mip chain')}"
            for k, n in counts.items()
        )
        or "nothing done"
    )
