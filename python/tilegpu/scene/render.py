"""Frames on tilegpu. In: a :class:`~tilegpu.scene.description.Frame`; out: pictures and what they cost.

What a frame names is uploaded once and kept for as long as frames keep naming the same object (arrays, textures, mappings by
identity; programs and states as pipelines) and it holds the same (:mod:`tilegpu.scene.kept`), so a moving camera costs a few hundred
bytes a frame. The very same frame drawn again is a replay of the recorded commands. Before it, and for each new frame, what somebody could
have changed is looked at once: arrays that are writeable, mappings and lists; what is read-only is not.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tilegpu as tg
from tilegpu import arguments
from tilegpu.errors import users_level
from tilegpu.fixed import Spelt
from tilegpu.scene import targets
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.description import Blend, Draw, Frame, Program, RenderResult, Sampled, Sampler, Scene, State, Texture
from tilegpu.scene.dynamic import Shape, dynamic_state
from tilegpu.scene.frame_checks import (
    check_attachments,
    check_bound,
    check_frame,
    check_passes,
    require_frame,
    say_unwritten,
    title_of,
)
from tilegpu.scene.kept import Kept, Recorded
from tilegpu.scene.sending import NOTHING
from tilegpu.scene.user_file import DrawnFrame


class SceneRenderer(Spelt):
    """Draws frames on one device and keeps what they share. Not for use by several threads at once.

    ``dynamic``: pipelines leave all state to the pass, which sets it where it changes; pictures are the same.
    """

    def __init__(self, device: tg.Device, dynamic: bool = False) -> None:
        if not isinstance(device, tg.Device):
            must = "it must be a tilegpu.Device, such as tg.Device()"
            raise tg.ValidationError(f"SceneRenderer: device is {arguments.shown(device)}; {must}")
        self.device = device
        self._dynamic = dynamic
        self._kept = Kept()
        self._stored: dict[int, tuple[str, int]] = {}  # arrays of the frame that shaders write and don't read: by which draw, how often
        self._pipelines: dict[Any, tg.Pipeline] = {}
        self._samplers: dict[Sampler, tg.Sampler] = {}
        self._targets: tuple[Any, targets.Targets] | None = None
        self._target_images: dict[int, tg.Image] = {}  # of the frame that is recorded, by id of its targets
        self._recording: _Recording | None = None
        self._place: tuple[str, Sequence[Draw]] = ("", ())  # what is recorded, for messages: whose draws these are
        self._shift_px = (0.0, 0.0)
        self._window: tuple[int, int, int, int] | None = None
        self._drawn: list[tg.RenderPass] | None = None  # passes of a user's function
        #: What passes keep, those of a function where they say nothing of ``trace=``: ``True``: what moved for each of their tiles
        #: (:meth:`tilegpu.RenderPass.tiles`); a place (x, y), each 0 to 1: also what became of fragments, and of the pixel there, in
        #: passes that load, which can't be asked later.
        self.trace: bool | tuple[float, float] = False

    def render(
        self,
        frame: Frame,
        read: bool = True,
        shift_px: tuple[float, float] = (0.0, 0.0),
        window: tuple[int, int, int, int] | None = None,
    ) -> RenderResult:
        """Draws a frame.

        ``read = False`` leaves the pictures in the device's images (``images`` is then empty) and the pass unexplained
        (``explain`` is ``None``), for benchmarks.
        ``shift_px`` moves what is drawn by (x, y) pixels, fractions included; comparisons ask with it what a rounding can change.
        ``window``: (x, y, width, height), x and y multiples of 64: only this part of the frame's own pass, to the bit what the whole has
        there; passes before it are drawn whole. With it frames may be up to 65,534 px wide and high. A function that draws itself has none.
        Raises :class:`tilegpu.Error` for what the device can't do; the message names the draw's program.
        """
        require_frame(frame, "SceneRenderer.render")
        if type(shift_px) is not tuple or shift_px != (0.0, 0.0) or window is not None or read is not True:
            shift_px, window, read = _request(frame, shift_px, window, read)
        if isinstance(frame, DrawnFrame):
            if window is not None:
                why = "its function draws by itself, so no window of it can be drawn; return a Frame"
                raise tg.ValidationError(f"frame '{frame.label}': {why}")
            return self._render_drawn(frame, read)
        self._drawn = None
        self._kept.begin()
        made_of = frame, shift_px, self.trace, window
        if self._recording is None or self._recording.made_of != made_of or not self._kept.is_as(self._recording.recorded):
            self._shift_px, self._window = shift_px, window
            recorded = self._kept.record()
            self._recording = self._record(frame, recorded)
            self._kept.end_record()
        else:
            for one in self._recording.passes:
                one.replay()
        done = self._recording
        if frame.resolve == "store_cmd":
            for source, target in zip(done.targets.color, done.targets.readable, strict=True):
                self.device.resolve(source, target)
        images = [image.numpy() for image in done.targets.readable] if read else []
        depth_image = done.targets.depth
        depth = depth_image.numpy() if read and frame.store_depth and depth_image is not None else None
        if len(done.passes) == 1:
            return RenderResult(images, depth, done.render_pass.stats, done.render_pass.explain() if read else None)
        stats = tg.FrameStats(frame.label, [one.stats for one in done.passes])
        explanation = tg.FrameExplanation(frame.label, [one.explain() for one in done.passes]) if read else None
        return RenderResult(images, depth, stats, explanation)

    def _render_drawn(self, frame: DrawnFrame, read: bool) -> RenderResult:
        """What a user's function draws, or the frame that it returns. An open frame of the device's takes its passes in."""
        outer = self.device.open_frame
        own = self.device.frame(frame.label) if outer is None else None
        if own is not None:
            own.takes_inner = True  # the function may have frames itself
        open_frame = outer if own is None else own
        assert open_frame is not None
        first = len(open_frame.nodes)
        with own or contextlib.nullcontext():
            before, self.device.default_trace = self.device.default_trace, self.trace
            try:
                returned = frame.call(self.device)
            finally:
                self.device.default_trace = before
            if isinstance(returned, Frame):
                return self.render(returned, read)
        passes = [node.render_pass for node in open_frame.nodes[first:] if node.render_pass is not None]
        self._drawn = [p for p in passes if isinstance(p, tg.RenderPass)]
        stats = tg.FrameStats(frame.label, [p.stats for p in passes])
        explanation = tg.FrameExplanation(frame.label, [p.explain() for p in passes]) if read else None
        return RenderResult(frame.pictures(returned) if read else [], None, stats, explanation)

    @property
    def render_pass(self) -> tg.RenderPass:
        """The pass of the frame that was drawn last, of several the last; it can be asked (``why``, ``heatmap``)."""
        if self._drawn is not None:
            if not self._drawn:
                raise tg.ValidationError("the function that drew the frame has no render pass to ask")
            return self._drawn[-1]
        assert self._recording is not None
        return self._recording.render_pass

    @property
    def passes(self) -> list[tg.RenderPass]:
        """All passes of the frame that was drawn last, in order."""
        if self._drawn is not None:
            return list(self._drawn)
        return [] if self._recording is None else list(self._recording.passes)

    def samples_of(self, frame: Frame) -> int:
        """How many samples a pixel the picture of a frame that was just drawn has: of a function, the most of its passes; 0 where it had
        none on this device, and nobody knows."""
        if isinstance(frame, DrawnFrame) and self._drawn is not None:
            return max((int(one.layout["samples"]) for one in self._drawn), default=0)
        return frame.samples if self._recording is None else self._recording.made_of[0].samples

    def pipelines(self, frame: Frame) -> list[list[tg.Pipeline]]:
        """The pipeline of each draw, pass by pass, the frame's own pass last: for those who hand the frame on to another renderer."""
        shapes = []
        for one in frame.passes:
            depth = None if one.depth is None else one.depth.target.format
            shapes.append(Shape(frame.size_of(one.outputs[0].target), one.samples, tuple(o.target.format for o in one.color), depth))
        shapes.append(Shape(frame.size, frame.samples, frame.color_formats, frame.depth_format))
        draws = [*(one.draws for one in frame.passes), frame.draws]
        return [
            [self._pipeline(shape, d.program, d.state, None if d.vertices is None else d.vertices.dtype) for d in some]
            for shape, some in zip(shapes, draws, strict=True)
        ]

    def render_to_images(self, frame: Frame) -> list[tg.Image]:
        """Draws a frame; the colour images that the pass wrote, with all their samples. They are the next frame's too."""
        self.render(frame, read=False)
        assert self._recording is not None
        return self._recording.targets.color

    # ---------------------------------------------------------------------------------------------------- recording

    def _record(self, frame: Frame, recorded: Recorded) -> _Recording:
        check_frame(frame, "SceneRenderer.render")  # fields of draws can't change: a replay looks only at what arrays and mappings hold
        if frame.resolve != "none" and frame.samples == 1:
            raise tg.ValidationError(f"frame '{frame.label}': resolve is '{frame.resolve}', but samples is 1; use 'none'")
        if frame.resolve == "none" and frame.samples > 1:
            raise tg.ValidationError(f"frame '{frame.label}': {frame.samples} samples need resolve 'pass' or 'store_cmd'")
        check_passes(frame)
        check_attachments(frame)
        for some in (frame.draws, frame.passes, *(part for one in frame.passes for part in (one.draws, one.color))):
            self._kept.note_members(some)
        held = frame.size if self._window is None else self._window[2:]
        key = targets.key_of(frame), held
        if self._targets is None or self._targets[0] != key:
            self._targets = key, targets.make(self.device, frame, held)
        images = self._targets[1]
        self._target_images = {number: images.of_passes[k] for number, k in targets.numbers(frame).items()}
        passes = []
        self._stored.clear()
        for k, one in enumerate(frame.passes):
            depth_format = None if one.depth is None else one.depth.target.format
            shape = Shape(frame.size_of(one.outputs[0].target), one.samples, tuple(o.target.format for o in one.color), depth_format)
            self._place = f"frame '{frame.label}', pass '{one.label}'", one.draws
            passes.append(self._record_pass(shape, one.label, one.draws, *targets.attachments_of_pass(frame, k, images), (0.0, 0.0), None))
        shape = Shape(frame.size, frame.samples, frame.color_formats, frame.depth_format)
        window = None if self._window is None else (*self._window[:2], *frame.size)
        self._place = f"frame '{frame.label}'", frame.draws
        passes.append(self._record_pass(shape, frame.label, frame.draws, *targets.attachments(frame, images), self._shift_px, window))
        self._say_lost(frame)
        return _Recording((frame, self._shift_px, self.trace, self._window), images, passes, recorded)

    def _record_pass(
        self,
        shape: Shape,
        label: str,
        draws: Sequence[Draw],
        color: list[tg.Attachment],
        depth: tg.Attachment | None,
        shift_px: Any,
        window: tuple[int, int, int, int] | None,
    ) -> tg.RenderPass:
        viewport = (*shift_px, *map(float, shape.size)) if any(shift_px) else None
        trace = self._trace_of(shape, color, depth)
        with self.device.render_pass(color=color, depth=depth, label=label, trace=trace, window=window) as render_pass:
            pipelines: dict[tg.Pipeline, None] = {}
            state: State | None = None
            scissor: Any = None
            like: tuple[Program, State, Any, tg.Pipeline] | None = None  # what the last draw's pipeline was made of, and it
            for draw in draws:
                if self._dynamic and (draw.state is not state or draw.scissor != scissor):
                    state, scissor = draw.state, draw.scissor
                    render_pass.set(**dynamic_state(shape, state, scissor))
                dtype = None if draw.vertices is None else draw.vertices.dtype
                if like is None or like[0] is not draw.program:
                    self._note_constants(draw.program)
                if like is None or like[0] is not draw.program or like[1] is not draw.state or like[2] is not dtype:
                    like = draw.program, draw.state, dtype, self._pipeline(shape, draw.program, draw.state, dtype)
                self._draw(render_pass, like[3], draw, viewport)
                pipelines[like[3]] = None
        loaded = {k for k, one in enumerate(color) if one.load_op == "load"}
        say_unwritten(f"pass '{label}'", len(shape.color_formats), pipelines, loaded)
        return render_pass

    def _trace_of(self, shape: Shape, color: list[tg.Attachment], depth: tg.Attachment | None) -> Any:
        place, loads = self.trace, any(one.load_op == "load" for one in [*color, depth] if one is not None)
        if isinstance(place, bool) or not loads:
            return bool(place)
        return [tuple(min(int(at * side), side - 1) for at, side in zip(place, shape.size, strict=True))]

    def _title(self, draw: Draw) -> str:
        """What messages call a draw that is recorded: its frame, and its label or its number."""
        what, draws = self._place
        return f"{what}, {title_of(draw, next((k for k, one in enumerate(draws) if one is draw), 0))}"

    def _draw(self, render_pass: tg.RenderPass, pipeline: tg.Pipeline, draw: Draw, viewport: Any) -> None:
        bind: dict[str, Any] | None = None
        if draw.bind is not NOTHING:
            self._kept.note_members(draw.bind)
        if not draw.push and draw.push is not NOTHING:
            self._kept.note_members(draw.push)  # it may be filled later
        if draw.bind:
            names, bind = pipeline.interface.names, {}
            for name, value in draw.bind.items():
                if (binding := names.get(name)) is not None:
                    check_bound(binding.descriptor, name, value, draw, self._title)
                    if pipeline.may_write and binding.descriptor == "storage_buffer":
                        self._note_store(pipeline, binding, value, draw)
                bind[name] = self._bound(pipeline, name, value, draw)
        try:
            count = draw.element_count
        except tg.ValidationError as wrong:
            raise tg.ValidationError(str(wrong).replace(draw.title, self._title(draw), 1)) from None
        render_pass.draw(
            pipeline,
            None if draw.vertices is None else self._buffer(draw.vertices, "vertex"),
            indices=None if draw.indices is None else self._indices(draw),
            instances=draw.instances,
            bind=bind,
            push=self._push(pipeline, draw.push) if draw.push else None,
            first=draw.first,
            count=count,
            viewport=viewport,
            scissor=None if self._dynamic else draw.scissor,
        )

    def _note_constants(self, program: Program) -> None:
        """Once for a program; an empty mapping of somebody's may be filled later, the default may not."""
        if program.constants is not NOTHING:
            self._kept.note_members(program.constants)

    def _made(self, *args: Any, **state: Any) -> tg.Pipeline:
        """A pipeline; what is wrong with its blending is said in the words of scenes, which have a class for what is a dict there."""
        try:
            return self.device.pipeline(*args, **state)
        except tg.ValidationError as wrong:
            before, found, _ = str(wrong).partition("; or give a dict with ")
            if not found:
                raise
            raise tg.ValidationError(f"{before}; or give a tilegpu.scene.Blend(src_color=..., dst_color=...)") from None

    def _pipeline(self, shape: Shape, program: Program, state: State, dtype: Any) -> tg.Pipeline:
        key = (program, state, dtype, shape[1:], str(program.constants) if program.constants else "")
        found = self._pipelines.get(key)
        if found is None:
            constants: dict[str, Any] = {**program.constants}
            blend = dataclasses.asdict(state.blend) if isinstance(state.blend, Blend) else state.blend
            depth = shape.depth_format is not None and state.depth_test
            with warnings.catch_warnings():
                # A mesh may carry more than one of its programs reads.
                warnings.simplefilter("ignore", tg.UnusedNameWarning)
                found = self._made(
                    program.vertex,
                    program.fragment,
                    vertex=dtype,
                    color=list(shape.color_formats),
                    depth=shape.depth_format,
                    samples=shape.samples,
                    topology=state.topology,
                    primitive_restart=state.primitive_restart,
                    polygon_mode=state.polygon_mode,
                    cull=state.cull,
                    front_face=state.front_face,
                    depth_test=depth,
                    depth_write=depth and state.depth_write,
                    depth_compare=state.depth_compare,
                    depth_bias=state.depth_bias,
                    blend=blend,
                    write_mask=state.color_write_mask,
                    alpha_to_coverage=state.alpha_to_coverage,
                    dynamic="all" if self._dynamic else (),
                    constants=constants,
                    vert_file=program.vertex_file,
                    frag_file=program.fragment_file,
                    label=program.label,
                    input_attachments=list(program.input_attachments) or None,
                )
            self._pipelines[key] = found
        return found

    # ------------------------------------------------------------------------------------------------------ uploads

    def _buffer(self, array: Any, usage: str) -> Any:
        if array is None or not array.size:  # a buffer has at least a byte
            return array
        flat = array.reshape(-1) if array.dtype.names else array  # of rows the draw has said what there is to say
        return self._kept.get((id(array), usage), array, lambda: self.device.buffer(flat, usage=usage, label=usage))

    def _indices(self, draw: Draw) -> Any:
        """Uploaded, and looked at as an array for ``rp.draw`` is: a vertex that there is not would be drawn as zeros."""
        indices, first = draw.indices, draw.first
        if indices is None or not indices.size:
            return indices
        flat = indices.reshape(-1)
        made = self._kept.get((id(indices), "index"), indices, lambda: (self.device.buffer(flat, usage="index", label="index"), {}))
        buffer: tg.Buffer = made[0]
        greatest: dict[Any, int] = made[1]  # by the part that is drawn
        part = first, draw.element_count, draw.state.primitive_restart
        if draw.vertices is not None and indices.dtype.kind in "iu":
            if part not in greatest:
                used = indices.reshape(-1)[first : first + part[1]]
                used = used[used != np.iinfo(used.dtype).max] if part[2] else used
                greatest[part] = int(used.max()) if used.size else -1
            there = draw.vertices.size if draw.vertices.dtype.names else len(draw.vertices)
            if greatest[part] >= there:
                raise tg.ValidationError(
                    f"{self._title(draw)}: indices has {greatest[part]}; {arguments.there_are(there, 'vertex')}"
                    + (f", 0 to {there - 1}" if there > 1 else "")
                )
        return buffer

    def _bound(self, pipeline: tg.Pipeline, name: str, value: Any, draw: Draw) -> Any:
        if isinstance(value, Sampled):
            return self._target_images[id(value.target)], self._sampler(value.sampler)
        if isinstance(value, Texture):
            return self._kept.get((id(value), "texture"), value, lambda: self._texture(value))
        key = (id(value), id(pipeline), name)
        if isinstance(value, Mapping):
            if not all(isinstance(member, str) for member in value):
                must = "it must be a mapping from names of the block's members"
                raise tg.ValidationError(f"{self._title(draw)}: bind '{name}' is {arguments.shown(value)}; {must}")
            # The layout is the program's: the same mapping may be packed differently for another one.
            return self._kept.get(key, value, lambda: self._block(pipeline.struct(name, **value), name), pipeline)
        if isinstance(value, np.ndarray) and not value.dtype.names and (value.ndim > 1 or value.itemsize >= 8):
            (laid_out,) = self._kept.get(key, value, lambda: (self._laid_out(pipeline, name, value),), pipeline)
            if laid_out is not None:
                return laid_out

        def uploaded() -> tg.Buffer:
            return self._block(np.ascontiguousarray(arguments.array(value, f"{self._title(draw)}: bind '{name}'")), name)

        return self._kept.get((id(value), "bound"), value, uploaded)

    def _laid_out(self, pipeline: tg.Pipeline, name: str, value: Any) -> tg.Buffer | None:
        """Rows of numbers, or numbers of 64 bits, that lie otherwise in the block, vec3 by 16 bytes for one, as a buffer of their own;
        ``None``: as they are."""
        binding = pipeline.interface.names.get(name)
        if binding is None or binding.layout is None or binding.conflict or len(binding.layout.names) != 1:
            return None
        try:
            packed = pipeline.struct(name, **{binding.layout.names[0]: value})
        except tg.ValidationError:
            return None  # what is wrong is said where it is bound
        return None if len(packed) == value.nbytes else self._block(packed, name)

    def _block(self, data: Any, name: str) -> tg.Buffer:
        return self.device.buffer(data, usage="uniform|storage", label=name)

    def _push(self, pipeline: tg.Pipeline, push: Mapping[str, Any]) -> bytes:
        packed: bytes = self._kept.get((id(push), id(pipeline)), push, lambda: pipeline.pack_push(push), pipeline)
        return packed

    def _sampler(self, s: Sampler) -> tg.Sampler:
        """One for each of equal samplers."""
        found = self._samplers.get(s)
        if found is None:
            found = self._samplers[s] = self.device.sampler(
                mag_filter=s.mag_filter,
                min_filter=s.min_filter,
                mipmap_mode=s.mipmap_mode,
                address=(s.address_u, s.address_v, s.address_w),
                mip_lod_bias=s.lod_bias,
                min_lod=s.min_lod,
                max_lod=s.max_lod,
                compare=s.compare,
            )
        return found

    def _note_store(self, pipeline: tg.Pipeline, binding: Any, value: Any, draw: Draw) -> None:
        """Counts where shaders only write an array, in a copy that the renderer has."""
        if pipeline.only_stores(binding.set, binding.binding):
            text = f"{self._title(draw)}: the shaders write {binding.title}"
            self._stored[id(value)] = text, self._stored.get(id(value), ("", 0))[1] + 1

    def _say_lost(self, frame: Frame) -> None:
        """Warns of what is written and never read: a scene has no buffers that could be read afterwards."""
        if not self._stored:
            return
        bound = Counter(id(value) for draw in frame.all_draws for value in draw.bind.values())
        for number, (text, count) in self._stored.items():
            if bound[number] == count:
                warnings.warn(
                    f"{text}; given is no buffer, a copy of it is written, and no draw reads that: the result is "
                    "lost; draw with dev.render_pass and a dev.buffer, or leave the block out of the shader",
                    tg.UnusedNameWarning,
                    stacklevel=users_level(),
                )

    def _texture(self, texture: Texture) -> tg.Texture:
        must = "it must be True, False, or the levels from 1 down as arrays"
        given = texture.mipmaps
        mipmaps = given if isinstance(given, bool) else arguments.sequence(given, f"texture '{texture.label}': mipmaps", must)
        return self.device.texture(
            texture.pixels,
            texture.format,
            mipmaps=mipmaps,
            sampler=self._sampler(texture.sampler),
            label=texture.label,
        )


def _request(frame: Frame, shift_px: Any, window: Any, read: Any) -> tuple[tuple[float, float], tuple[int, int, int, int] | None, bool]:
    """What a frame is rendered with, of the kinds that it is said to be."""
    what = f"SceneRenderer.render: frame '{frame.label}'"
    x_px, y_px = arguments.numbers(shift_px, f"{what}: shift_px", (2,), "it must be (x, y) in pixels")
    if window is not None:
        x, y, width, height = arguments.wholes(window, f"{what}: window", 4, "it must be (x, y, width, height) in pixels, or None")
        window = x, y, width, height
    return (x_px, y_px), window, arguments.flag(read, f"{what}: read")


class _Recording:
    """A frame's passes, to be executed again for as long as what they were made of is as it was; ``render_pass`` is its own, the last."""

    def __init__(
        self, made_of: tuple[Frame, tuple[float, float], Any, Any], images: targets.Targets, passes: list[tg.RenderPass], recorded: Recorded
    ) -> None:
        self.made_of, self.targets, self.recorded = made_of, images, recorded
        self.passes, self.render_pass = passes, passes[-1]


def render(
    device: tg.Device,
    frame_or_scene: Frame | Scene,
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    camera: OrbitCamera | None = None,
    time: float = 0.0,
) -> RenderResult:
    """One picture of a frame, or of a scene (then ``size`` and so on are those of :meth:`Scene.frame`).

    For more than one picture use a :class:`SceneRenderer`, which keeps pipelines, textures and buffers.
    """
    if not isinstance(frame_or_scene, (Scene, Frame)):
        shown = arguments.shown(frame_or_scene)
        raise tg.ValidationError(f"render: frame_or_scene is {shown}; it must be a scene (find_scene), or a tilegpu.scene.Frame")
    if isinstance(frame_or_scene, Scene):
        frame_or_scene = frame_or_scene.frame(size, samples, camera, time)
    return SceneRenderer(device).render(frame_or_scene)
