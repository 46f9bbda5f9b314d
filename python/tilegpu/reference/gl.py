"""Draws a :class:`~tilegpu.scene.description.Frame` with OpenGL through moderngl, without a display (EGL).

OpenGL's window has y up and its images have row 0 at the bottom, so the same clip coordinates give the same rows; the winding as
seen turns round. The provoking vertex is set to the first. Depth is a 24-bit buffer in -1..1 turned to 0..1.
llvmpipe's shortcuts of texture filtering are switched off: approximate levels of detail (``GALLIVM_PERF=no_filter_hacks``), 8-bit
weights (``no_aos_sampling``), and its logarithm, which no switch reaches (:mod:`tilegpu.reference.lod`; ``exact_lod``).
"""

from __future__ import annotations

import dataclasses
import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.errors import needs_packages
from tilegpu.reference import blocks, glraw, samples
from tilegpu.reference.gl_formats import ReferenceError, gl_format
from tilegpu.reference.gl_passes import PassTargets
from tilegpu.reference.lod import with_exact_lod
from tilegpu.reference.translate import (
    Translated,
    TranslationError,
    compile_spirv,
    spirv_cross,
    translate,
    with_constants,
)
from tilegpu.scene import ALPHA_BLEND, Blend, Draw, DrawnFrame, Frame, Program, Sampled, Texture
from tilegpu.scene.frame_checks import check_passes

if TYPE_CHECKING:
    import moderngl


_COMPARE = {
    "never": "0",
    "less": "<",
    "equal": "==",
    "less_or_equal": "<=",
    "greater": ">",
    "not_equal": "!=",
    "greater_or_equal": ">=",
    "always": "1",
}
_FACTOR = {
    "zero": 0,
    "one": 1,
    "src_color": 0x0300,
    "one_minus_src_color": 0x0301,
    "src_alpha": 0x0302,
    "one_minus_src_alpha": 0x0303,
    "dst_alpha": 0x0304,
    "one_minus_dst_alpha": 0x0305,
    "dst_color": 0x0306,
    "one_minus_dst_color": 0x0307,
    "src_alpha_saturate": 0x0308,
}
_EQUATION = {"add": 0x8006, "min": 0x8007, "max": 0x8008, "subtract": 0x800A, "reverse_subtract": 0x800B}


#: Of a draw of depth alone: OpenGL leaves to the implementation what a program without one writes; nothing, with :func:`color_mask`.
EMPTY_FRAGMENT = "#version 450\nvoid main() {}\n"


@dataclass
class ReferencePicture:
    """Colour images in attachment order, (H, W, C), row 0 on top, and where they came from."""

    images: list[NDArray[Any]]
    provenance: dict[str, str] = field(default_factory=dict)


def unavailable() -> str | None:
    """What keeps this machine from drawing the reference; ``None`` if nothing does."""
    if spirv_cross() is None:
        return "the program spirv-cross is not installed (apt install spirv-cross)"
    try:
        with Renderer.shared() as _:
            return None
    except ReferenceError as error:
        return str(error)


def color_mask(draw: Draw) -> tuple[bool, ...]:
    """Which channels of a colour a draw writes."""
    writes = "" if draw.program.fragment is None else draw.state.color_write_mask
    return tuple(c in writes for c in "rgba")


def instance_name(glsl: str, block: str) -> str:
    """Name of the variable of a block in SPIRV-Cross's output; the block's own name where it has none."""
    found = re.search(r"\b(?:uniform|buffer) " + re.escape(block) + r"\s*\{[^}]*\}\s*(\w+)", glsl)
    return found.group(1) if found else block


class Renderer:
    """An OpenGL context without a window, and what was made in it: programs, textures and buffers, kept for as long as the
    scene's objects live."""

    _shared: Renderer | None = None

    def __init__(self) -> None:
        os.environ.setdefault("GALLIVM_PERF", "no_filter_hacks,no_aos_sampling")
        try:
            import moderngl
        except ImportError as error:
            raise ReferenceError(needs_packages("OpenGL", "moderngl", extra="view")) from error
        try:
            self.ctx: moderngl.Context = moderngl.create_context(standalone=True, backend="egl", require=450)
        except Exception as error:
            raise ReferenceError(f"no OpenGL 4.5 context through EGL: {error}") from error
        self.ctx.provoking_vertex = self.ctx.FIRST_VERTEX_CONVENTION
        self._home = self.ctx.simple_framebuffer((1, 1))  # bound while others are released
        self.exact_lod = False  #: LODs as the specification writes them, not as the driver approximates them
        #: Where the picture is moved to and its inputs are taken, for sample counts that the driver has not.
        self.shift_px: tuple[float, float] | None = None
        self._programs: dict[tuple[int, str, bool, bool], tuple[moderngl.Program, Translated, Translated]] = {}
        self._buffers: dict[int, moderngl.Buffer] = {}
        self._textures: dict[int, moderngl.Texture] = {}
        self._samplers: dict[Any, moderngl.Sampler] = {}
        self._passes: PassTargets | None = None  # of the frame whose passes were drawn last
        self._lent = False  # they are somebody else's
        self._tile: dict[str, moderngl.Texture] = {}  # copies of the open pass's attachments, for input attachments

    @classmethod
    @contextmanager
    def shared(cls, exact_lod: bool = False) -> Iterator[Renderer]:
        """The process's renderer, its context current. ``exact_lod``: see :mod:`tilegpu.reference.lod`."""
        if cls._shared is None:
            cls._shared = Renderer()
        renderer = cls._shared
        before, renderer.exact_lod = renderer.exact_lod, exact_lod
        try:
            with renderer.ctx:
                yield renderer
        finally:
            renderer.exact_lod = before

    @property
    def max_samples(self) -> int:
        """The most samples a colour image may have."""
        return int(self.ctx.max_samples)

    def provenance(self) -> dict[str, str]:
        """Renderer, driver and library versions."""
        import moderngl

        info = self.ctx.info
        return {
            "renderer": info["GL_RENDERER"],
            "driver": info["GL_VERSION"],
            "moderngl": moderngl.__version__,
            "GALLIVM_PERF": os.environ.get("GALLIVM_PERF", ""),
            "lod": "by the specification's formula, in the shader" if self.exact_lod else "the driver's",
        }

    # ---------------------------------------------------------------------------------------------- objects of the context
    def program(self, program: Program, tail: str = "") -> tuple[moderngl.Program, Translated, Translated]:
        """The linked program with its two translated stages; ``tail``: see :meth:`draw`."""
        key = (id(program), tail, self.exact_lod, self.shift_px is not None)
        found = self._programs.get(key)
        if found is not None:
            return found
        try:
            vertex = translate(compile_spirv(program.vertex, "vertex", program.vertex_file), "vertex", program.label)
            shading = EMPTY_FRAGMENT if program.fragment is None else program.fragment
            fragment = translate(compile_spirv(shading, "fragment", program.fragment_file), "fragment", program.label)
        except TranslationError as error:
            raise ReferenceError(str(error)) from error
        fragment_glsl = with_constants(fragment, program.constants)
        if self.exact_lod:
            fragment_glsl = with_exact_lod(fragment_glsl)
        if self.shift_px is not None:
            fragment_glsl = samples.at_pixel_centre(fragment_glsl)
        if tail:
            fragment_glsl = fragment_glsl.replace("void main()", "void shaded_main()") + tail
        made = self.ctx.program(vertex_shader=with_constants(vertex, program.constants), fragment_shader=fragment_glsl)
        self._programs[key] = made, vertex, fragment
        weakref.finalize(program, self._programs.pop, key, None)
        return self._programs[key]

    def _buffer(self, array: NDArray[Any]) -> moderngl.Buffer:
        key = id(array)
        if key not in self._buffers:
            self._buffers[key] = self.ctx.buffer(np.ascontiguousarray(array).tobytes())
            weakref.finalize(array, self._buffers.pop, key, None)
        return self._buffers[key]

    def _texture(self, texture: Texture) -> moderngl.Texture:
        key = id(texture)
        if key in self._textures:
            return self._textures[key]
        form = gl_format(texture.format)
        height, width = texture.pixels.shape[:2]
        made = self.ctx.texture(
            (width, height),
            form.components,
            np.ascontiguousarray(texture.pixels, form.numpy).tobytes(),
            alignment=1,
            dtype=form.dtype,
            internal_format=form.internal,
        )
        if texture.mipmaps is True:
            made.build_mipmaps()
        elif texture.mipmaps is False:
            glraw.set_max_level(int(made.glo), 0)
        else:
            levels = list(texture.mipmaps)
            made.build_mipmaps(max_level=len(levels))
            for level, pixels in enumerate(levels, 1):
                made.write(np.ascontiguousarray(pixels, form.numpy).tobytes(), level=level, alignment=1)
        self._textures[key] = made
        weakref.finalize(texture, self._textures.pop, key, None)
        return made

    def _use_texture(self, texture: Texture | Sampled | str, unit: int) -> None:
        """``str``: an attachment of the open pass, read at the pixel itself."""
        if isinstance(texture, str):
            self._tile[texture].use(unit)
            self.ctx.clear_samplers(unit, unit + 1)
            return
        if isinstance(texture, Sampled):
            assert self._passes is not None
            self._passes.texture(texture.target).use(unit)
        else:
            self._texture(texture).use(unit)
        if texture.sampler not in self._samplers:
            made = self.ctx.sampler()
            glraw.set_sampler(int(made._glo), texture.sampler)
            self._samplers[texture.sampler] = made
        self._samplers[texture.sampler].use(unit)

    def framebuffer(
        self, size: tuple[int, int], samples: int, formats: tuple[str, ...], depth: bool
    ) -> moderngl.Framebuffer:
        """A framebuffer of colour textures in these formats, with a depth buffer if asked for."""
        colors = []
        for name in formats:
            form = gl_format(name)
            colors.append(
                self.ctx.texture(
                    size,
                    form.components,
                    samples=samples if samples > 1 else 0,
                    dtype=form.dtype,
                    internal_format=form.internal,
                )
            )
        attachment = self.ctx.depth_texture(size, samples=samples if samples > 1 else 0) if depth else None
        return self.ctx.framebuffer(colors, attachment)

    # ---------------------------------------------------------------------------------------------------------------- draws
    def set_state(self, draw: Draw, depth: bool, blend_off: bool) -> None:
        """Fixed-function state of a draw, but for its scissor; ``depth``: there is a depth buffer."""
        ctx, state = self.ctx, draw.state
        ctx.disable(ctx.DEPTH_TEST | ctx.CULL_FACE | ctx.BLEND)
        if depth and state.depth_test:
            ctx.enable(ctx.DEPTH_TEST)
            ctx.depth_func = _COMPARE[state.depth_compare]
        if state.cull != "none":
            ctx.enable(ctx.CULL_FACE)
            ctx.cull_face = {"back": "back", "front": "front", "front_and_back": "front_and_back"}[state.cull]
        ctx.front_face = "cw" if state.front_face == "counter_clockwise" else "ccw"
        if state.blend is not None and not blend_off:
            blend = ALPHA_BLEND if state.blend == "alpha" else state.blend
            assert isinstance(blend, Blend)
            ctx.enable(ctx.BLEND)
            ctx.blend_func = tuple(
                _FACTOR[f] for f in (blend.src_color, blend.dst_color, blend.src_alpha, blend.dst_alpha)
            )
            ctx.blend_equation = _EQUATION[blend.color_op], _EQUATION[blend.alpha_op]
        ctx.wireframe = state.polygon_mode == "line"
        ctx.polygon_offset = (state.depth_bias[1], state.depth_bias[0]) if state.depth_bias else (0.0, 0.0)
        for on, capability in (
            (state.alpha_to_coverage and not blend_off, glraw.SAMPLE_ALPHA_TO_COVERAGE),
            (state.primitive_restart, glraw.PRIMITIVE_RESTART_FIXED_INDEX),
            (state.topology == "point_list" and "gl_PointSize" in draw.program.vertex, glraw.PROGRAM_POINT_SIZE),
        ):
            (ctx.enable_direct if on else ctx.disable_direct)(capability)

    def vertex_array(self, program: moderngl.Program, draw: Draw) -> moderngl.VertexArray:
        """Vertex fields matched to the program's inputs, by name, else by order = location."""
        import moderngl

        inputs = {name: program[name] for name in program if isinstance(program[name], moderngl.Attribute)}
        inputs = {name: a for name, a in inputs.items() if not name.startswith("gl_")}
        index = self._buffer(draw.indices) if draw.indices is not None else None
        size = draw.indices.dtype.itemsize if draw.indices is not None else 4
        if draw.vertices is None:
            return self.ctx.vertex_array(program, [], index, size)
        dtype = draw.vertices.dtype
        fields = list(dtype.names or ())
        by_location = {a.location: name for name, a in inputs.items()}
        chosen: list[str] = []
        parts: list[str] = []
        at = 0
        for position, field_name in sorted(enumerate(fields), key=lambda item: dtype.fields[item[1]][1]):  # type: ignore[index]
            kind, offset = dtype.fields[field_name][:2]  # type: ignore[index]
            base, shape = kind.subdtype if kind.subdtype else (kind, ())
            count = int(np.prod(shape)) if shape else 1
            name = field_name if field_name in inputs else by_location.get(position, "")
            if any(other in inputs for other in fields) and field_name not in inputs:
                name = ""
            if offset > at:
                parts.append(f"{offset - at}x")
            at = offset + kind.itemsize
            if not name:
                parts.append(f"{kind.itemsize}x")
                continue
            scalar = inputs[name].shape  # "f", "i" or "I"
            letter = base.kind if scalar in ("i", "I") else "f"
            parts.append(f"{count}{letter}{base.itemsize}")
            chosen.append(name)
        if dtype.itemsize > at:
            parts.append(f"{dtype.itemsize - at}x")
        missing = set(inputs) - set(chosen)
        if missing:
            raise ReferenceError(f"draw '{draw.label}': no vertex field for {', '.join(sorted(missing))}")
        content = [(self._buffer(draw.vertices), " ".join(parts), *chosen)] if chosen else []
        return self.ctx.vertex_array(program, content, index, size)

    def prepare_bindings(
        self, program: moderngl.Program, stages: tuple[Translated, ...], draw: Draw
    ) -> tuple[list[tuple[Any, bytes]], Callable[[], None], list[moderngl.Buffer]]:
        """Push constants as (uniform, bytes), a function that binds textures and blocks, and the blocks' buffers to release."""
        import moderngl

        constants: list[tuple[Any, bytes]] = []
        for stage in stages:
            types = stage.reflection.get("types", {})
            for block in stage.reflection.get("push_constants", []):
                found = blocks.plain_uniforms(block["type"], types, draw.push, block["name"])
                for name, (data, count) in found.items():
                    member = program.get(name, None)
                    if isinstance(member, moderngl.Uniform) and all(member is not known for known, _ in constants):
                        constants.append((member, data.tobytes()[: member.array_length * data.nbytes // max(1, count)]))
        textures: list[tuple[Any, int, Any]] = []
        for stage in stages:
            for entry in stage.reflection.get("textures", []):
                member = program.get(entry["name"], None)
                if not isinstance(member, moderngl.Uniform) or any(member is known for known, _, _ in textures):
                    continue
                value = draw.bind.get(entry["name"])
                if not isinstance(value, (Texture, Sampled)):
                    raise ReferenceError(f"draw '{draw.label}': nothing is bound to the texture '{entry['name']}'")
                if isinstance(value, Texture):
                    self._texture(value)
                textures.append((member, len(textures), value))
            for entry in stage.reflection.get("subpass_inputs", []):
                member = program.get(entry["name"], None)
                if isinstance(member, moderngl.Uniform):
                    textures.append((member, len(textures), draw.program.input_attachments[entry["input_attachment_index"]]))
        buffers: list[tuple[Any, int, Any]] = []
        made: list[moderngl.Buffer] = []
        for kind in ("ubos", "ssbos"):
            for stage in stages:
                types = stage.reflection.get("types", {})
                for entry in stage.reflection.get(kind, []):
                    block_name = types.get(entry["type"], {}).get("name", entry["name"])
                    names = (instance_name(stage.glsl, block_name), entry["name"], block_name)
                    content = next((draw.bind[n] for n in names if n in draw.bind), None)
                    member = program.get(block_name, None) or program.get(entry["name"], None)
                    if member is None or any(member is known for known, _, _ in buffers):
                        continue
                    if content is None or isinstance(content, (Texture, Sampled)):
                        raise ReferenceError(f"draw '{draw.label}': nothing is bound to the block '{entry['name']}'")
                    buffer = self.ctx.buffer(blocks.block_bytes(entry, types, content))  # type: ignore[arg-type]
                    put = buffer.bind_to_uniform_block if kind == "ubos" else buffer.bind_to_storage_buffer
                    buffers.append((member, len(buffers), put))
                    made.append(buffer)

        def bind() -> None:
            for member, unit, texture in textures:
                member.value = unit
                self._use_texture(texture, unit)
            for member, slot, put in buffers:
                member.binding = slot
                put(slot)

        return constants, bind, made

    @staticmethod
    def mode(draw: Draw) -> int:
        """OpenGL's number of the draw's topology."""
        return {"point_list": 0, "line_list": 1, "triangle_list": 4, "triangle_strip": 5, "triangle_fan": 6}[draw.state.topology]

    def draw(
        self,
        target: moderngl.Framebuffer,
        draw: Draw,
        tail: str = "",
        uniforms: Mapping[str, Any] | None = None,
        blend_off: bool = False,
        color_count: int = 1,
        scale: int = 1,
    ) -> None:
        """One draw into ``target``, which is ``scale`` times as large as the picture.

        ``tail`` is GLSL put behind the fragment shader, whose ``main`` becomes ``shaded_main``."""
        program, vertex, fragment = self.program(draw.program, tail)
        self.set_state(draw, target.depth_attachment is not None, blend_off)
        array = self.vertex_array(program, draw)
        constants, bind, made = self.prepare_bindings(program, (vertex, fragment), draw)
        bind()
        for member, data in constants:
            member.write(data)
        for name, value in (uniforms or {}).items():
            if name in program:
                program[name].value = value  # type: ignore[union-attr]
        mask = color_mask(draw)
        attachments = len(target.color_attachments)
        if attachments == 1:
            target.color_mask = mask
        elif attachments:
            target.color_mask = [mask if i < color_count else (True,) * 4 for i in range(attachments)]
        target.depth_mask = draw.state.depth_write
        target.scissor = None if draw.scissor is None else tuple(scale * side for side in draw.scissor)
        target.use()
        if self.shift_px is not None:
            if "tg_offset" in program:
                program["tg_offset"].value = self.shift_px  # type: ignore[union-attr]
            glraw.set_viewport(*self.shift_px, *target.size)
        array.render(self.mode(draw), vertices=draw.element_count, first=draw.first, instances=draw.instances)
        if draw.scissor is not None:
            target.scissor = None
        array.release()
        for buffer in made:
            buffer.release()

    def free(self, target: moderngl.Framebuffer) -> None:
        """Releases a framebuffer and the textures in it."""
        self._home.use()
        for attachment in (*target.color_attachments, target.depth_attachment):
            if attachment is not None:
                attachment.release()
        target.release()

    def clear(self, target: moderngl.Framebuffer, frame: Frame) -> None:
        """Clears colours (each its own) and depth; colours of sRGB images are linear, as Vulkan's."""
        everything = (True,) * 4
        count = len(target.color_attachments)
        target.color_mask = everything if count == 1 else [everything] * count
        target.depth_mask = True
        if count == 1 or len(frame.clear_colors) == 1:
            target.clear(*frame.clear_color(0), depth=frame.clear_depth)
            return
        target.clear(depth=frame.clear_depth)
        for i, attachment in enumerate(target.color_attachments):
            one = self.ctx.framebuffer([attachment])
            one.clear(*frame.clear_color(i))
            self._home.use()
            one.release()

    def draw_passes(self, frame: Frame) -> None:
        """Draws the passes before the frame's own, unless they were drawn last; what samples their targets finds them then."""
        if not frame.passes or (self._passes is not None and self._passes.of(frame)):
            return
        self.ctx.enable_direct(glraw.FRAMEBUFFER_SRGB)
        before, self.shift_px = self.shift_px, None
        try:
            check_passes(frame)
            self.forget_passes()
            self._passes = PassTargets(self.ctx, frame)
            for k, one in enumerate(frame.passes):
                target = self._passes.begin(k)
                for draw in one.draws:
                    self.copy_tile(draw, k)
                    self.draw(target, draw, color_count=len(one.color))
                self._home.use()
                self._passes.end(k)
        finally:
            self.shift_px = before

    def copy_tile(self, draw: Draw, number: int) -> None:
        """For a draw with input attachments: what they hold now. OpenGL can't read what it draws to."""
        if draw.program.input_attachments:
            assert self._passes is not None
            self._tile = self._passes.copies(number, draw.program.input_attachments)

    def forget_passes(self) -> None:
        """Releases the targets of the passes that were drawn last."""
        if self._passes is not None:
            self._home.use()
            if not self._lent:
                self._passes.release()
            self._passes, self._tile, self._lent = None, {}, False

    def take_passes(self) -> PassTargets | None:
        """The targets of the passes that were drawn last, whose owner is who took them."""
        taken, self._passes = self._passes, None
        return taken

    def give_passes(self, passes: PassTargets) -> None:
        """What samples targets finds these; they stay their owner's."""
        self._passes, self._lent = passes, True

    def has_samples(self, count: int) -> bool:
        """Whether the driver has images of so many samples at Vulkan's standard locations."""
        return count == 1 or (count == 4 and self.max_samples >= 4)

    def _render_by_sample(self, frame: Frame) -> ReferencePicture:
        if frame.samples not in samples.LOCATIONS:
            raise ReferenceError(f"{frame.samples} samples; there are {', '.join(map(str, samples.LOCATIONS))}")
        if any(draw.state.alpha_to_coverage for draw in frame.draws):
            raise ReferenceError(f"alpha to coverage with {frame.samples} samples; the reference has it with 1 and 4")
        if any(draw.state.polygon_mode != "fill" for draw in frame.draws):
            raise ReferenceError(f"lines with {frame.samples} samples; the reference has them with 1 and 4")
        single = dataclasses.replace(frame, samples=1, resolve="none")
        pictures = []
        try:
            for sample in range(frame.samples):
                self.shift_px = samples.shift_px(frame.samples, sample)
                pictures.append(self.render(single).images)
        finally:
            self.shift_px = None
        images = [samples.resolve([p[i] for p in pictures], name) for i, name in enumerate(frame.color_formats)]
        return ReferencePicture(images, self.provenance() | {"samples_by": "one picture for each sample"})

    def render(self, frame: Frame) -> ReferencePicture:
        """The frame's colour images. Raises :class:`ReferenceError` for what OpenGL through moderngl cannot do."""
        if isinstance(frame, DrawnFrame):
            raise ReferenceError(
                f"'{frame.label}' is drawn by the function {frame.function.__name__}(); OpenGL draws what is described as plain data: "
                "return a tilegpu.scene.Frame"
            )
        if not self.has_samples(frame.samples):
            return self._render_by_sample(frame)
        ctx = self.ctx
        ctx.enable_direct(glraw.FRAMEBUFFER_SRGB)
        self.draw_passes(frame)
        target = self.framebuffer(frame.size, frame.samples, frame.color_formats, frame.depth_format is not None)
        self.clear(target, frame)
        for draw in frame.draws:
            self.draw(target, draw, color_count=len(frame.color_formats))
        images = []
        for attachment, name in zip(target.color_attachments, frame.color_formats, strict=True):
            source = ctx.framebuffer([attachment])
            if frame.samples > 1:
                resolved = self.framebuffer(frame.size, 1, (name,), False)
                ctx.copy_framebuffer(resolved, source)
                images.append(read(resolved, name, frame.size))
                self.free(resolved)
            else:
                images.append(read(source, name, frame.size))
            self._home.use()
            source.release()
        self.free(target)
        error = ctx.error
        if error != "GL_NO_ERROR":
            raise ReferenceError(f"OpenGL reports {error} for frame '{frame.label}'")
        return ReferencePicture(images, self.provenance())


def read(source: moderngl.Framebuffer, format_name: str, size: tuple[int, int]) -> NDArray[Any]:
    """(H, W, C) of the framebuffer's first colour image."""
    form = gl_format(format_name)
    data = source.read(components=form.components, dtype=form.dtype, alignment=1)
    return np.frombuffer(data, form.numpy).reshape(size[1], size[0], form.components)
