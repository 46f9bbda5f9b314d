"""A frame prepared for drawing again and again by OpenGL: what benchmarks time.

Vertex arrays, uniform values and state are worked out once; a run clears, draws, resolves and waits, and reads nothing back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilegpu.reference import glraw
from tilegpu.reference.gl import ReferenceError, Renderer, color_mask
from tilegpu.scene import Draw, Frame


class PreparedFrame:
    """A frame with its OpenGL objects. Raises :class:`ReferenceError` for what the reference cannot draw."""

    def __init__(self, frame: Frame) -> None:
        if frame.samples not in (1, 4):
            raise ReferenceError(f"{frame.samples} samples; the reference has 1 and 4")
        with Renderer.shared() as renderer:
            self.renderer, self.frame = renderer, frame
            renderer.ctx.enable_direct(glraw.FRAMEBUFFER_SRGB)
            depth = frame.depth_format is not None
            self.target = renderer.framebuffer(frame.size, frame.samples, frame.color_formats, depth)
            self.resolves: list[tuple[Any, Any]] = []
            if frame.samples > 1:
                for attachment, name in zip(self.target.color_attachments, frame.color_formats, strict=True):
                    source = renderer.ctx.framebuffer([attachment])
                    self.resolves.append((renderer.framebuffer(frame.size, 1, (name,), False), source))
            renderer.forget_passes()
            renderer.draw_passes(frame)
            self.passes = renderer.take_passes()
            formats = len(frame.color_formats)
            self.draws = [self._prepare(draw, self.target, depth, formats) for draw in frame.draws]
            self.draws_of_passes = [
                [
                    self._prepare(draw, self.passes.framebuffers[k], one.depth is not None, len(one.color))
                    for draw in one.draws
                ]
                for k, one in enumerate(frame.passes)
                if self.passes is not None
            ]
            self.last: Draw | None = None

    def _prepare(
        self, draw: Draw, target: Any, depth: bool, count: int
    ) -> tuple[Draw, Callable[[], None], Callable[[], None]]:
        """The draw, its state and bindings as a call, and the draw itself."""
        renderer = self.renderer
        program, vertex, fragment = renderer.program(draw.program)
        array = renderer.vertex_array(program, draw)
        mask = color_mask(draw)
        constants, bind, _ = renderer.prepare_bindings(program, (vertex, fragment), draw)

        def set_up() -> None:
            renderer.set_state(draw, depth, False)
            if count:
                target.color_mask = mask if count == 1 else [mask] * count
            target.depth_mask = draw.state.depth_write
            target.scissor = draw.scissor
            target.use()
            bind()

        mode, n = renderer.mode(draw), draw.element_count

        def go() -> None:
            for member, data in constants:
                member.write(data)
            array.render(mode, vertices=n, first=draw.first, instances=draw.instances)

        return draw, set_up, go

    def run(self) -> None:
        """Draws the frame and waits for it."""
        with self.renderer.ctx:
            if self.passes is not None:
                self.renderer.give_passes(self.passes)
            for number, draws in enumerate(self.draws_of_passes):
                assert self.passes is not None
                self._run(draws, number, self.passes.begin(number))
                self.passes.end(number)
            self.renderer.clear(self.target, self.frame)
            self._run(self.draws, -1, self.target)
            for resolved, source in self.resolves:
                self.renderer.ctx.copy_framebuffer(resolved, source)
            self.renderer.ctx.finish()

    def _run(self, draws: list[tuple[Draw, Callable[[], None], Callable[[], None]]], number: int, target: Any) -> None:
        last: Draw | None = None
        for draw, set_up, go in draws:
            self.renderer.copy_tile(draw, number)
            same = last is not None and (last.state, last.program, last.bind, last.scissor) == (
                draw.state,
                draw.program,
                draw.bind,
                draw.scissor,
            )
            if not same:
                set_up()
            go()
            last = draw
        if last is not None and last.scissor is not None:
            target.scissor = None  # clears go by it
