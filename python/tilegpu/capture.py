"""Captures: passes and dispatches in a file with everything that they name, executed again in another process with the same bits.

In: a file that :meth:`tilegpu.RenderPass.capture`, :meth:`tilegpu.Device.capture` or a program on the Vulkan driver wrote. Out: its
pictures, the buffers that its dispatches wrote, what it cost.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, notebook
from tilegpu.capture_reads import stores_in_use
from tilegpu.context import Context
from tilegpu.errors import ValidationError
from tilegpu.explain import Explanation
from tilegpu.files import place
from tilegpu.fixed import Fixed
from tilegpu.pass_lint import lines_of_submission
from tilegpu.stats import PassStats

if TYPE_CHECKING:
    from numpy.typing import NDArray


def capture_profile(path: str | os.PathLike[str]) -> str:
    """Profile of the device that wrote the capture: the one to draw it with."""
    return _core.capture_profile(place(path))


class Replay(Fixed):
    """A capture that was read. Made by :meth:`tilegpu.Device.load_capture`."""

    def __init__(self, device: Context, path: str | os.PathLike[str]) -> None:
        self.path = place(path)
        self._device = device
        self._capture = _core.load_capture(device.core, self.path)
        self._submission: _core.Submission | None = None

    def run(self) -> list[PassStats]:
        """Executes it, and waits; what each pass cost. Again: on what the images and buffers hold by then.

        Raises :class:`tilegpu.ValidationError` within a frame of the same device: a frame knows what its own passes name, and a capture
        brings its own images. :meth:`explain`, :meth:`lint` and ``tilegpu what-if`` answer for it.
        """
        if (frame := self._device._frame) is not None:
            raise ValidationError(
                f"capture '{self.path}': run() within frame '{frame.label}', which can't see its passes; run it outside of the frame"
            )
        submission = self._submission = self._device.core.submit_and_wait(self._capture.command_buffers)
        return [PassStats(submission.pass_label(i) or f"{i}", submission.pass_stats(i)) for i in range(submission.pass_count())]

    def explain(self) -> list[Explanation]:
        """Of each pass, per draw: which hidden-surface removal was on, and why not; after :meth:`run`. Without costs of draws, which want
        the pass executed again with a trace."""
        submission = self._executed("explanations")
        return [Explanation(submission.pass_label(i) or f"{i}", submission.explain(i)) for i in range(submission.pass_count())]

    def lint(self) -> list[str]:
        """What each of its passes pays without need, and what was hardly meant: lines that name their pass; after :meth:`run`. Of a store
        that something in the capture reads (passes, dispatches, copies and other commands) nothing is said. What a frame says across
        passes (:meth:`tilegpu.Frame.lint`) needs the frame."""
        submission = self._executed("findings")
        found = [(i, lines_of_submission(submission, i, stores_in_use(submission))) for i in range(submission.pass_count())]
        return [f"pass '{submission.pass_label(i) or i}': {line.text}" for i, lines in found for line in lines]

    @property
    def pictures(self) -> list[NDArray[Any]]:
        """What the last pass stored in colour, or resolved it to, or the storage images that a later dispatch wrote: arrays as of
        :meth:`tilegpu.Image.numpy`; after :meth:`run`."""
        self._executed("pictures")
        color = _core.ENUMS["image_aspect"]["color"]
        made = []
        copies = self._capture.rows_for_pictures()
        for (image, level, layer), (rows, width, height) in zip(self._capture.pictures, copies, strict=True):
            if rows is None:
                made.append(image.read(color, level, layer))
                continue
            region = ((color, level, layer, 1), (0, 0, 0), (color, 0, 0, 1), (0, 0, 0), (width, height, 1))
            copy = _core.CommandBuffer(self._device.core)
            copy.begin()
            copy.copy_image(image, rows, [region])
            copy.end()
            self._device.core.submit_and_wait([copy])
            made.append(rows.read(color, 0, 0))
        return made

    @property
    def buffers(self) -> list[tuple[str, NDArray[np.uint8]]]:
        """Label and bytes of each buffer that the dispatches may write; after :meth:`run`."""
        self._executed("buffers")
        return [(buffer.label, np.frombuffer(memoryview(buffer), np.uint8).copy()) for buffer in self._capture.buffers]

    @property
    def dispatches(self) -> int:
        """How many dispatches :meth:`run` executed."""
        return self._executed("dispatches").dispatch_count()

    def _executed(self, what: str) -> _core.Submission:
        if self._submission is None:
            raise ValidationError(f"capture '{self.path}': {what} are there only after run()")
        return self._submission

    def _repr_html_(self) -> str:
        """Its pictures, once it ran; else how to."""
        if self._submission is None:
            return f"<pre>{notebook.escaped(repr(self))}: run() draws it</pre>"
        rows = [("passes", str(self._submission.pass_count())), ("dispatches", str(self.dispatches))]
        shapes = [(f"picture {k}", f"{' x '.join(map(str, array.shape))}, {array.dtype}") for k, array in enumerate(self.pictures)]
        return notebook.table(f"capture '{self.path}'", (), [*rows, *shapes], {1})

    def __repr__(self) -> str:
        return f"<tilegpu.Replay of '{self.path}'>"
