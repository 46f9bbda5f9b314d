"""Which primitive each renderer shows at each sample, and where the primitives are, in float64.

In: a frame. Out: for both renderers an image of (primitive, draw, depth) by sample, drawn with the frame's own shaders and a few lines
behind them; and the screen triangles of every draw, in float64 from clip positions that OpenGL's transform feedback captures.
A primitive is counted within its instance, as both APIs do; the draw is told apart in frames of up to MAX_DRAWS. Triangles that reach
behind the eye plane are left out.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.reference import samples
from tilegpu.reference.gl import EMPTY_FRAGMENT, ReferenceError, Renderer
from tilegpu.reference.translate import compile_spirv, translate, with_constants
from tilegpu.scene import Draw, Frame, Program

if TYPE_CHECKING:
    from tilegpu.scene import SceneRenderer

#: In frames of more draws than these all draws count as the first: the number is a constant of the shader.
MAX_DRAWS = 32
_FORMAT = "r32g32b32a32_sfloat"
_NONE = (-1.0, -1.0, 1.0, 0.0)
_TAIL = """
layout(location = {location}) out vec4 tg_primitive;
void main() {{
  shaded_main();
  tg_primitive = vec4(float(gl_PrimitiveID), {draw}.0, gl_FragCoord.z, 0.0);
}}
"""
_FETCH_VERTEX = """#version 450
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }"""
_FETCH_FRAGMENT = """#version 450
uniform sampler2DMS tg_image;
uniform int tg_sample;
layout(location = 0) out vec4 tg_value;
void main() { tg_value = texelFetch(tg_image, ivec2(gl_FragCoord.xy), tg_sample); }"""


def _number(frame: Frame, draw: int) -> int:
    return draw if len(frame.draws) <= MAX_DRAWS else 0


def ours(renderer: SceneRenderer, frame: Frame) -> NDArray[np.float32]:
    """(H, W, samples, 4): primitive and draw (-1: none), depth at the pixel's centre, 0; by tilegpu. Blended draws count as opaque."""
    programs: dict[tuple[int, int], Program] = {}

    def changed(number: int, draw: Draw) -> Draw:
        key = id(draw.program), number
        program = programs.get(key)
        if program is None:
            text, count = re.subn(r"\bvoid\s+main\s*\(\s*(void)?\s*\)", "void shaded_main()", draw.program.fragment or EMPTY_FRAGMENT)
            if count != 1:
                raise ReferenceError(f"program '{draw.program.label}': main() was not found in the fragment shader")
            tail = _TAIL.format(location=len(frame.color_formats), draw=number)
            program = dataclasses.replace(draw.program, fragment=text + tail, label=f"{draw.program.label}, primitives")
            programs[key] = program
        return dataclasses.replace(draw, program=program, state=dataclasses.replace(draw.state, blend=None))

    colors = tuple(frame.clear_color(i) for i in range(len(frame.color_formats)))
    what = dataclasses.replace(
        frame,
        color_formats=(*frame.color_formats, _FORMAT),
        clear_colors=(*colors, _NONE),
        resolve="store_cmd" if frame.samples > 1 else "none",
        draws=tuple(changed(_number(frame, i), draw) for i, draw in enumerate(frame.draws)),
        label=f"{frame.label}, primitives",
    )
    image = renderer.render_to_images(what)[-1].numpy()
    return np.asarray(image, np.float32).reshape(frame.size[1], frame.size[0], frame.samples, 4)


def reference(renderer: Renderer, frame: Frame) -> NDArray[np.float32]:
    """The same by OpenGL (depth: at the sample, for counts that the driver has not). The renderer's context is current."""
    if not renderer.has_samples(frame.samples):
        planes = []
        try:
            for sample in range(frame.samples):
                renderer.shift_px = samples.shift_px(frame.samples, sample)
                planes.append(reference(renderer, dataclasses.replace(frame, samples=1, resolve="none")))
        finally:
            renderer.shift_px = None
        return np.concatenate(planes, axis=2)
    renderer.draw_passes(frame)
    colors = len(frame.color_formats)
    width, height = frame.size
    target = renderer.framebuffer(frame.size, frame.samples, (*frame.color_formats, _FORMAT), True)
    renderer.clear(target, frame)
    image = target.color_attachments[-1]
    only = renderer.ctx.framebuffer([image])
    only.clear(*_NONE)
    for i, draw in enumerate(frame.draws):
        tail = _TAIL.format(location=colors, draw=_number(frame, i))
        renderer.draw(target, draw, tail, blend_off=True, color_count=colors)

    def read(source: Any) -> NDArray[np.float32]:
        data = source.read(components=4, dtype="f4", alignment=1)
        return np.frombuffer(data, np.float32).reshape(height, width, 4)

    if frame.samples == 1:
        out = read(only)[:, :, None]
    else:
        ctx = renderer.ctx
        program = ctx.program(vertex_shader=_FETCH_VERTEX, fragment_shader=_FETCH_FRAGMENT)
        array = ctx.vertex_array(program, [])
        single = renderer.framebuffer(frame.size, 1, (_FORMAT,), False)
        planes = []
        for sample in range(frame.samples):
            single.use()
            ctx.disable(ctx.DEPTH_TEST | ctx.CULL_FACE | ctx.BLEND)
            ctx.wireframe = False
            image.use(0)
            ctx.clear_samplers(0, 1)
            program["tg_image"].value = 0  # type: ignore[union-attr]
            program["tg_sample"].value = sample  # type: ignore[union-attr]
            array.render(ctx.TRIANGLES, vertices=3)
            planes.append(read(single))
        out = np.stack(planes, axis=2)
        array.release()
        program.release()
        renderer.free(single)
    renderer._home.use()
    only.release()
    renderer.free(target)
    return out


@dataclass
class Triangles:
    """A frame's triangles on the screen: ``x``, ``y`` in pixels and depth ``z``, (T, 3) float64, its number and its draw."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    primitive: NDArray[np.int64]
    draw: NDArray[np.int64]

    def near(self, x: int, y: int) -> NDArray[np.int64]:
        """Triangles whose bounding box touches the pixel or its border of one pixel."""
        hit = (self.x.min(1) <= x + 2) & (self.x.max(1) >= x - 1) & (self.y.min(1) <= y + 2) & (self.y.max(1) >= y - 1)
        return np.flatnonzero(hit)

    def at(self, triangle: int, x: float, y: float) -> tuple[float, float]:
        """(distance to the nearest edge in pixels, positive inside; depth of the plane) at a place."""
        px, py, pz = self.x[triangle], self.y[triangle], self.z[triangle]
        nx, ny = np.roll(px, -1), np.roll(py, -1)
        area = (px[1] - px[0]) * (py[2] - py[0]) - (px[2] - px[0]) * (py[1] - py[0])
        if area == 0:
            return -np.inf, float(pz[0])
        sides = ((nx - px) * (y - py) - (ny - py) * (x - px)) * np.sign(area)
        weights = np.roll(sides, -1) / abs(area)
        return float((sides / np.hypot(nx - px, ny - py)).min()), float(weights @ pz)


def triangles(renderer: Renderer, frame: Frame) -> Triangles:
    """All triangles of a frame. The renderer's context is current."""
    renderer._home.use()
    found: list[NDArray[np.float64]] = []
    numbers: list[NDArray[np.int64]] = []
    draws: list[NDArray[np.int64]] = []
    programs: dict[int, Any] = {}
    for i, draw in enumerate(frame.draws):
        if id(draw.program) not in programs:
            vertex = translate(
                compile_spirv(draw.program.vertex, "vertex", draw.program.vertex_file), "vertex", draw.program.label
            )
            text = with_constants(vertex, draw.program.constants)
            programs[id(draw.program)] = renderer.ctx.program(vertex_shader=text, varyings=["gl_Position"]), vertex
        program, vertex = programs[id(draw.program)]
        array = renderer.vertex_array(program, draw)
        constants, bind, made = renderer.prepare_bindings(program, (vertex,), draw)
        bind()
        for member, data in constants:
            member.write(data)
        count = draw.element_count
        each = draw.triangle_count
        if each:
            buffer = renderer.ctx.buffer(reserve=each * draw.instances * 48)
            array.transform(buffer, renderer.mode(draw), vertices=count, first=draw.first, instances=draw.instances)
            clip = np.frombuffer(buffer.read(), np.float32).reshape(-1, 3, 4).astype(np.float64)
            ahead = (clip[..., 3] > 0).all(1)
            found.append(clip[ahead])
            numbers.append((np.arange(len(clip)) % each)[ahead])
            draws.append(np.full(int(ahead.sum()), _number(frame, i)))
            buffer.release()
        array.release()
        for block in made:
            block.release()
    for program, _ in programs.values():
        program.release()
    clip = np.concatenate(found) if found else np.zeros((0, 3, 4))
    w = clip[..., 3]
    return Triangles(
        (clip[..., 0] / w + 1) * (frame.size[0] / 2),
        (clip[..., 1] / w + 1) * (frame.size[1] / 2),
        (clip[..., 2] / w + 1) / 2,  # --fixup-clipspace has turned depth into OpenGL's -1..1
        np.concatenate(numbers) if numbers else np.zeros(0, np.int64),
        np.concatenate(draws) if draws else np.zeros(0, np.int64),
    )
