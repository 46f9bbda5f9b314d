"""Targets of the passes before a frame's own, by OpenGL. In: a frame. Out: framebuffers to draw to, textures to sample.

Input attachments are copies of the attachments, made before the draw that reads them: the shaders fetch them at their own pixel
(SPIRV-Cross turns ``subpassLoad`` into ``texelFetch``), which is what a tile's memory gives where invocations do not overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilegpu.reference import glraw
from tilegpu.reference.gl_formats import ReferenceError, gl_format
from tilegpu.scene import Frame, Target

if TYPE_CHECKING:
    import moderngl


class PassTargets:
    """A texture for each target, ``framebuffers`` for each pass; the context is current."""

    def __init__(self, ctx: moderngl.Context, frame: Frame) -> None:
        self._ctx, self._frame = ctx, frame
        self._textures: dict[int, Any] = {}
        self._made: list[Any] = []
        self._copies: dict[tuple[int, str], tuple[Any, list[Any]]] = {}
        self.framebuffers: list[Any] = []
        self._resolves: list[list[tuple[Any, Any]]] = []
        for one in frame.passes:
            if one.samples not in (1, 4):
                raise ReferenceError(
                    f"pass '{one.label}' has {one.samples} samples; before the frame's own pass the reference has 1 and 4"
                )
            colors = [self._texture(o.target, False) for o in one.color]
            depth = None if one.depth is None else self._texture(one.depth.target, True)
            resolves = []
            if one.samples > 1:
                many = [self._keep(self._new(o.target, False, one.samples)) for o in one.color]
                for k, output in enumerate(one.color):
                    if output.store:
                        resolves.append(
                            (self._keep(ctx.framebuffer([colors[k]])), self._keep(ctx.framebuffer([many[k]])))
                        )
                colors = many
                depth = None if one.depth is None else self._keep(self._new(one.depth.target, True, one.samples))
            self.framebuffers.append(self._keep(ctx.framebuffer(colors, depth)))
            self._resolves.append(resolves)

    def of(self, frame: Frame) -> bool:
        """They are this frame's: frames with the same passes at the same size share them."""
        return self._frame.passes is frame.passes and self._frame.size == frame.size

    def _keep(self, thing: Any) -> Any:
        self._made.append(thing)
        return thing

    def _new(self, target: Target, depth: bool, samples: int) -> Any:
        size, count = self._frame.size_of(target), samples if samples > 1 else 0
        if depth:
            made = self._ctx.depth_texture(size, samples=count)
            if not count:
                made.compare_func = ""  # what is sampled as it is; samplers that compare say so themselves
                glraw.set_max_level(int(made.glo), 0)
            return made
        form = gl_format(target.format, target=True)
        made = self._ctx.texture(size, form.components, samples=count, dtype=form.dtype, internal_format=form.internal)
        if not count:
            glraw.set_max_level(int(made.glo), 0)
        return made

    def _texture(self, target: Target, depth: bool) -> Any:
        if id(target) not in self._textures:
            self._textures[id(target)] = self._keep(self._new(target, depth, 1))
        return self._textures[id(target)]

    def texture(self, target: Target) -> Any:
        """What passes drew to it."""
        return self._textures[id(target)]

    def begin(self, number: int) -> Any:
        """The framebuffer of a pass, with what is cleared cleared."""
        one, target = self._frame.passes[number], self.framebuffers[number]
        everything = (True,) * 4
        if one.color:
            target.color_mask = [everything] * len(one.color) if len(one.color) > 1 else everything
        target.depth_mask = True
        for k, output in enumerate(one.color):
            if output.load == "clear":
                only = self._ctx.framebuffer([target.color_attachments[k]])
                only.clear(*output.clear)  # type: ignore[misc]
                target.use()
                only.release()
        if one.depth is not None and one.depth.load == "clear":
            only = self._ctx.framebuffer([], target.depth_attachment)
            only.clear(depth=1.0 if isinstance(one.depth.clear, tuple) else one.depth.clear)
            target.use()
            only.release()
        return target

    def end(self, number: int) -> None:
        """Resolves what has several samples."""
        for resolved, source in self._resolves[number]:
            self._ctx.copy_framebuffer(resolved, source)

    def copies(self, number: int, names: tuple[str, ...]) -> dict[str, Any]:
        """What attachments of a pass hold now, by name."""
        one, target = self._frame.passes[number], self.framebuffers[number]
        if one.samples > 1:
            raise ReferenceError(
                f"pass '{one.label}' reads attachments of {one.samples} samples; the reference has this with one"
            )
        out = {}
        for name in names:
            depth = name == "depth"
            output = one.depth if depth else one.color[int(name.removeprefix("color"))]
            assert output is not None
            if (number, name) not in self._copies:
                copy = self._keep(self._new(output.target, depth, 1))
                source = target.depth_attachment if depth else target.color_attachments[int(name.removeprefix("color"))]
                pair = [
                    self._keep(self._with_color(t) if depth else self._ctx.framebuffer([t])) for t in (copy, source)
                ]
                self._copies[number, name] = copy, pair
            copy, pair = self._copies[number, name]
            self._ctx.copy_framebuffer(*pair)
            out[name] = copy
        target.use()
        return out

    def _with_color(self, depth: Any) -> Any:
        """moderngl copies depth along with colours, so there has to be one."""
        return self._ctx.framebuffer([self._keep(self._ctx.texture(depth.size, 1))], depth)

    def release(self) -> None:
        """Framebuffers before the textures in them."""
        for thing in reversed(self._made):
            thing.release()
        self._made.clear()
