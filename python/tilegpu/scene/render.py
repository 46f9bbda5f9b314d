"""Frames on tilegpu. In: a :class:`~tilegpu.scene.description.Frame`; out: pictures and what they cost.

What a frame names is uploaded once and kept for as long as frames keep naming the same object (arrays, textures, mappings by
identity; programs and states as pipelines), so a moving camera costs a few hundred bytes a frame. The very same frame drawn again
is a replay of the recorded commands.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import tilegpu as tg
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.description import Blend, Draw, Frame, Program, RenderResult, Scene, State, Texture
from tilegpu.scene.dynamic import dynamic_state
from tilegpu.scene.user_file import DrawnFrame

#: Uploads that no frame named for so many frames are let go.
_KEEP_FRAMES = 8


class _Kept:
    """Things made from objects, by identity of the object; holds the object, so that its id stays its own."""

    def __init__(self) -> None:
        self._table: dict[Any, tuple[Any, Any, int]] = {}

    def get(self, key: Any, owner: Any, frame: int, make: Any) -> Any:
        """The thing kept under ``key`` (which contains ``id(owner)``), made if need be."""
        found = self._table.get(key)
        value = make() if found is None else found[1]
        if found is None or found[2] != frame:
            self._table[key] = (owner, value, frame)
        return value

    def sweep(self, frame: int) -> None:
        """Forgets what was not asked for lately."""
        old = [key for key, (_, _, used) in self._table.items() if used < frame - _KEEP_FRAMES]
        for key in old:
            del self._table[key]


@dataclasses.dataclass
class _Targets:
    """Images of a frame: what the pass writes, and what is read afterwards."""

    color: list[tg.Image]
    readable: list[tg.Image]  #: the same, or what they are resolved to
    depth: tg.Image | None


class SceneRenderer:
    """Draws frames on one device and keeps what they share. Not for use by several threads at once.

    ``dynamic``: pipelines leave all state to the pass, which sets it where it changes; pictures are the same.
    """

    def __init__(self, device: tg.Device, dynamic: bool = False) -> None:
        self.device = device
        self._dynamic = dynamic
        self._frame_number = 0
        self._kept = _Kept()
        self._pipelines: dict[Any, tg.Pipeline] = {}
        self._targets: tuple[Any, _Targets] | None = None
        self._recording: _Recording | None = None
        self._shift_px = (0.0, 0.0)
        self._drawn: list[tg.RenderPass] | None = None  # passes of a user's function

    def render(self, frame: Frame, read: bool = True, shift_px: tuple[float, float] = (0.0, 0.0)) -> RenderResult:
        """Draws a frame.

        ``read = False`` leaves the pictures in the device's images (``images`` is then empty) and the pass unexplained
        (``explain`` is ``None``), for benchmarks.
        ``shift_px`` moves what is drawn by (x, y) pixels, fractions included; comparisons ask with it what a rounding can change.
        Raises :class:`tilegpu.Error` for what the device can't do; the message names the draw's program.
        """
        if isinstance(frame, DrawnFrame):
            return self._render_drawn(frame, read)
        self._drawn = None
        self._frame_number += 1
        if self._recording is None or self._recording.frame is not frame or self._shift_px != shift_px:
            self._shift_px = shift_px
            self._recording = self._record(frame)
            self._kept.sweep(self._frame_number)
        else:
            self._recording.render_pass.replay()
        done = self._recording
        if frame.resolve == "store_cmd":
            for source, target in zip(done.targets.color, done.targets.readable, strict=True):
                self.device.resolve(source, target)
        images = [image.numpy() for image in done.targets.readable] if read else []
        depth_image = done.targets.depth
        depth = depth_image.numpy() if read and frame.store_depth and depth_image is not None else None
        return RenderResult(images, depth, done.render_pass.stats, done.render_pass.explain() if read else None)

    def _render_drawn(self, frame: DrawnFrame, read: bool) -> RenderResult:
        """What a user's function draws, or the frame that it returns. An open frame of the device's takes its passes in."""
        outer = self.device.open_frame
        own = self.device.frame(frame.label) if outer is None else None
        open_frame = outer if own is None else own
        assert open_frame is not None
        first = len(open_frame.nodes)
        with own or contextlib.nullcontext():
            returned = frame.call(self.device)
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
                raise ValueError("the function that drew the frame has no render pass to ask")
            return self._drawn[-1]
        assert self._recording is not None
        return self._recording.render_pass

    def render_to_images(self, frame: Frame) -> list[tg.Image]:
        """Draws a frame; the colour images that the pass wrote, with all their samples. They are the next frame's too."""
        self.render(frame, read=False)
        assert self._recording is not None
        return self._recording.targets.color

    # ------------------------------------------------------------------------------------------------------ targets

    def _images(self, frame: Frame) -> _Targets:
        """The frame's images; those of the frame before, if they fit."""
        key = (frame.size, frame.samples, frame.color_formats, frame.depth_format, frame.resolve, frame.store_depth)
        if self._targets is None or self._targets[0] != key:
            device, size, samples = self.device, frame.size, frame.samples
            transient = frame.resolve == "pass"
            color = [
                device.image(size, f, samples=samples, transient=transient, label=f"color{k}")
                for k, f in enumerate(frame.color_formats)
            ]
            readable = color
            if frame.resolve != "none":
                readable = [device.image(size, f, label=f"resolved{k}") for k, f in enumerate(frame.color_formats)]
            depth = None
            if frame.depth_format is not None:
                depth = device.image(
                    size, frame.depth_format, samples=samples, transient=not frame.store_depth, label="depth"
                )
            self._targets = (key, _Targets(color, readable, depth))
        return self._targets[1]

    def _attachments(self, frame: Frame, targets: _Targets) -> tuple[list[tg.Attachment], tg.Attachment | None]:
        in_pass = frame.resolve == "pass"
        color = [
            tg.Attachment(
                image,
                clear=frame.clear_color(k),
                store_op="dont_care" if in_pass else "store",
                resolve=targets.readable[k] if in_pass else None,
            )
            for k, image in enumerate(targets.color)
        ]
        depth = None
        if targets.depth is not None:
            store = "store" if frame.store_depth else "dont_care"
            depth = tg.Attachment(targets.depth, clear=frame.clear_depth, store_op=store)
        return color, depth

    # ---------------------------------------------------------------------------------------------------- recording

    def _record(self, frame: Frame) -> _Recording:
        if frame.resolve != "none" and frame.samples == 1:
            raise ValueError(f"frame '{frame.label}': resolve is '{frame.resolve}', but samples is 1; use 'none'")
        if frame.resolve == "none" and frame.samples > 1:
            raise ValueError(f"frame '{frame.label}': {frame.samples} samples need resolve 'pass' or 'store_cmd'")
        targets = self._images(frame)
        color, depth = self._attachments(frame, targets)
        render_pass = self.device.render_pass(color=color, depth=depth, label=frame.label)
        with render_pass:
            state: State | None = None
            for draw in frame.draws:
                if self._dynamic and draw.state is not state:
                    state = draw.state
                    render_pass.set(**dynamic_state(frame, state))
                self._draw(render_pass, frame, draw)
        return _Recording(frame, targets, render_pass)

    def _draw(self, render_pass: tg.RenderPass, frame: Frame, draw: Draw) -> None:
        dtype = None if draw.vertices is None else draw.vertices.dtype
        pipeline = self._pipeline(frame, draw.program, draw.state, dtype)
        bind = {name: self._bound(pipeline, name, value) for name, value in draw.bind.items()}
        render_pass.draw(
            pipeline,
            self._buffer(draw.vertices, "vertex"),
            indices=self._buffer(draw.indices, "index"),
            instances=draw.instances,
            bind=bind or None,
            push=self._push(pipeline, draw.push),
            first=draw.first,
            count=draw.element_count,
            viewport=(*self._shift_px, *map(float, frame.size)) if any(self._shift_px) else None,
        )

    def _pipeline(self, frame: Frame, program: Program, state: State, dtype: Any) -> tg.Pipeline:
        formats = (frame.color_formats, frame.depth_format, frame.samples)
        key = (program, state, dtype, formats)
        found = self._pipelines.get(key)
        if found is None:
            constants: dict[str, Any] = {**program.constants}
            blend = dataclasses.asdict(state.blend) if isinstance(state.blend, Blend) else state.blend
            with warnings.catch_warnings():
                # A mesh may carry more than one of its programs reads.
                warnings.simplefilter("ignore", tg.UnusedNameWarning)
                found = self.device.pipeline(
                    program.vertex,
                    program.fragment,
                    vertex=dtype,
                    color=list(frame.color_formats),
                    depth=frame.depth_format,
                    samples=frame.samples,
                    topology=state.topology,
                    primitive_restart=state.primitive_restart,
                    polygon_mode=state.polygon_mode,
                    cull=state.cull,
                    front_face=state.front_face,
                    depth_test=state.depth_test and frame.depth_format is not None,
                    depth_write=state.depth_test and state.depth_write and frame.depth_format is not None,
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
                )
            self._pipelines[key] = found
        return found

    # ------------------------------------------------------------------------------------------------------ uploads

    def _buffer(self, array: Any, usage: str) -> tg.Buffer | None:
        if array is None:
            return None
        return self._keep((id(array), usage), array, lambda: self.device.buffer(array, usage=usage, label=usage))

    def _bound(self, pipeline: tg.Pipeline, name: str, value: Any) -> Any:
        if isinstance(value, Texture):
            return self._keep((id(value), "texture"), value, lambda: self._texture(value))
        if isinstance(value, Mapping):
            # The layout is the program's: the same mapping may be packed differently for another one.
            key = (id(value), id(pipeline), name)
            return self._keep(key, (value, pipeline), lambda: self._block(pipeline.struct(name, **value), name))
        return self._keep((id(value), "bound"), value, lambda: self._block(np.ascontiguousarray(value), name))

    def _block(self, data: Any, name: str) -> tg.Buffer:
        return self.device.buffer(data, usage="uniform|storage", label=name)

    def _push(self, pipeline: tg.Pipeline, push: Mapping[str, Any]) -> bytes | None:
        if not push:
            return None
        packed: bytes = self._keep((id(push), id(pipeline)), (push, pipeline), lambda: pipeline.pack_push(push))
        return packed

    def _texture(self, texture: Texture) -> tg.Texture:
        s = texture.sampler
        mipmaps = texture.mipmaps if isinstance(texture.mipmaps, bool) else list(texture.mipmaps)
        return self.device.texture(
            texture.pixels,
            texture.format,
            mipmaps=mipmaps,
            sampler=self.device.sampler(
                mag_filter=s.mag_filter,
                min_filter=s.min_filter,
                mipmap_mode=s.mipmap_mode,
                address=(s.address_u, s.address_v, s.address_w),
                mip_lod_bias=s.lod_bias,
                min_lod=s.min_lod,
                max_lod=s.max_lod,
            ),
            label=texture.label,
        )

    def _keep(self, key: Any, owner: Any, make: Any) -> Any:
        return self._kept.get(key, owner, self._frame_number, make)


class _Recording:
    """A frame's pass, to be executed again."""

    def __init__(self, frame: Frame, targets: _Targets, render_pass: tg.RenderPass) -> None:
        self.frame, self.targets = frame, targets
        self.render_pass = render_pass


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
    if isinstance(frame_or_scene, Scene):
        frame_or_scene = frame_or_scene.frame(size, samples, camera, time)
    return SceneRenderer(device).render(frame_or_scene)
