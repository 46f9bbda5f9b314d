"""A frame as a file that a program of any Vulkan driver can draw: ``benchmarks/cpp/vkframe.cpp``.

In: a :class:`~tilegpu.scene.Frame` and the renderer that drew it, whose pipelines say where things are bound. Out: ``PATH``, lines of
numbers, and ``PATH.bin``, the bytes that they point to. Numbers are Vulkan's own. What the file can't say is a ``ValueError``.

Each line begins with its kind; ``begin:count`` is a place in the bytes::

    frame WIDTH HEIGHT
    sampler MIN MAG MIP U V W BIAS MIN_LOD MAX_LOD COMPARES OP
    image FORMAT WIDTH HEIGHT LEVELS SAMPLES USE, and for a texture (USE 0) the bytes of each level; 1: a colour, 2: a depth
    buffer BYTES
    pipeline VERTEX FRAGMENT SAMPLES, the fixed state, formats, vertex input, push constants, bindings
    pass WIDTH HEIGHT SAMPLES COLOURS DEPTH, then a line for each attachment and each draw
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tilegpu as tg
from tilegpu.scene import (
    ALPHA_BLEND,
    Blend,
    Draw,
    Frame,
    Output,
    Pass,
    Sampled,
    Sampler,
    SceneRenderer,
    State,
    Target,
    Texture,
    mip_chain,
)

FORMATS = {
    "r8_unorm": 9, "r8g8_unorm": 16, "r8g8b8a8_unorm": 37, "r8g8b8a8_srgb": 43, "a2b10g10r10_unorm_pack32": 64, "r16_sfloat": 76,
    "r16g16_sfloat": 83, "r16g16b16a16_sfloat": 97, "r32_sfloat": 100, "r32g32_sfloat": 103, "r32g32b32a32_sfloat": 109,
    "b10g11r11_ufloat_pack32": 122, "d16_unorm": 124, "d32_sfloat": 126,
}  # fmt: skip
_COMPARE = ("never", "less", "equal", "less_or_equal", "greater", "not_equal", "greater_or_equal", "always")
_ADDRESS = ("repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border", "mirror_clamp_to_edge")
_FACTOR = (
    "zero", "one", "src_color", "one_minus_src_color", "dst_color", "one_minus_dst_color", "src_alpha", "one_minus_src_alpha", "dst_alpha",
    "one_minus_dst_alpha",
)  # fmt: skip
_OPERATION = ("add", "subtract", "reverse_subtract", "min", "max")
_TOPOLOGY = ("point_list", "line_list", "line_strip", "triangle_list", "triangle_strip", "triangle_fan")
_CULL = ("none", "front", "back", "front_and_back")
_LOAD = ("load", "clear", "dont_care")
#: VkDescriptorType of what a scene binds.
_EMPTY_FRAGMENT = "#version 450\nvoid main() {}\n"
_DESCRIPTOR = {"combined_image_sampler": 1, "uniform_buffer": 6, "storage_buffer": 7}


def _format(name: str) -> int:
    if name not in FORMATS:
        raise ValueError(f"the file of a frame has no format {name}; it has {', '.join(FORMATS)}")
    return FORMATS[name]


class _Writer:
    """Lines and bytes; what is the same object is written once."""

    def __init__(self, frame: Frame, renderer: SceneRenderer) -> None:
        self.frame, self.renderer = frame, renderer
        self.lines: list[str] = [f"frame {frame.size[0]} {frame.size[1]}"]
        self.bytes: list[bytes] = []
        self.at = 0
        self.numbers: dict[Any, int] = {}
        self.counts = {"sampler": 0, "image": 0, "buffer": 0, "pipeline": 0}

    def put(self, data: bytes) -> str:
        """The place of these bytes, which begin at a multiple of 16; what fills up to the next is not theirs."""
        begin, padding_B = self.at, -len(data) % 16
        self.at += len(data) + padding_B
        self.bytes += [data, bytes(padding_B)]
        return f"{begin}:{len(data)}"

    def once(self, kind: str, key: Any, line: Any) -> int:
        """The number of a thing, whose line is made where it is new."""
        found = self.numbers.get((kind, key))
        if found is None:
            words = " ".join(str(word) for word in line())
            found = self.numbers[kind, key] = self.counts[kind]
            self.counts[kind] += 1
            self.lines.append(f"{kind} {words}")
        return found

    def sampler(self, s: Sampler) -> int:
        filters = [int(name == "linear") for name in (s.min_filter, s.mag_filter, s.mipmap_mode)]
        address = [_ADDRESS.index(name) for name in (s.address_u, s.address_v, s.address_w)]
        compare = _COMPARE.index(s.compare) if s.compare else 0
        return self.once(
            "sampler",
            s,
            lambda: (*filters, *address, s.lod_bias, s.min_lod, s.max_lod, int(s.compare is not None), compare),
        )

    def texture(self, t: Texture) -> int:
        def line() -> list[Any]:
            levels = [t.pixels]
            if t.mipmaps is True:
                levels += mip_chain(t.pixels, t.format.endswith("_srgb"))
            elif t.mipmaps is not False:
                levels += list(t.mipmaps)
            height, width = t.pixels.shape[:2]
            places = [self.put(np.ascontiguousarray(level).tobytes()) for level in levels]
            return [_format(t.format), width, height, len(levels), 1, 0, *places]

        return self.once("image", id(t), line)

    def target(self, key: Any, name: str, size: tuple[int, int], samples: int) -> int:
        use = 2 if name.startswith("d") else 1
        return self.once("image", (key, samples), lambda: (_format(name), *size, 1, samples, use))

    def buffer(self, key: Any, data: bytes) -> int:
        return self.once("buffer", key, lambda: (self.put(data),))

    def pipeline(self, draw: Draw, made: tg.Pipeline, formats: Sequence[str], depth: str | None, samples: int) -> int:
        def line() -> list[Any]:
            program = draw.program
            if program.constants or program.input_attachments:
                raise ValueError(
                    f"program '{program.label}': the file of a frame has no constants and no input attachments"
                )
            stages = [
                (program.vertex, "vertex", program.vertex_file),
                (program.fragment or _EMPTY_FRAGMENT, "fragment", program.fragment_file),
            ]
            device = self.renderer.device.core  # its disk cache, and its compilers
            code = [
                self.put(bytes(tg.compile_glsl(text, stage, file=file or stage, device=device))) for text, stage, file in stages
            ]
            # Depth only: the peers' programs have two shaders, and this one writes no colour.
            state = draw.state if program.fragment is not None else dataclasses.replace(draw.state, color_write_mask="")
            words = [*code, samples, *_state_words(state, depth is not None)]
            words += [len(formats), *map(_format, formats), 0 if depth is None else _format(depth)]
            layout = made.vertex_layout
            stride = layout.bindings[0].stride_B if layout.bindings else 0
            words += [stride, len(layout.attributes)]
            words += [
                word for location, _, format_, offset in layout.attributes for word in (location, format_, offset)
            ]
            bindings = made.interface.bindings
            words += [len(made.pack_push(draw.push)) if draw.push else 0, len(bindings)]
            for (number, binding), one in bindings.items():
                if number or one.descriptor not in _DESCRIPTOR:
                    raise ValueError(
                        f"program '{program.label}': {one.title} is a {one.descriptor}; the file of a frame has {', '.join(_DESCRIPTOR)}"
                    )
                words += [binding, _DESCRIPTOR[one.descriptor]]
            return words

        return self.once("pipeline", id(made), line)

    def draw(self, draw: Draw, made: tg.Pipeline, pipeline: int) -> None:
        vertices = indices = -1
        size_B = 0
        if draw.vertices is not None:
            vertices = self.buffer(id(draw.vertices), np.ascontiguousarray(draw.vertices).tobytes())
        if draw.indices is not None:
            size_B = draw.indices.dtype.itemsize
            indices = self.buffer(id(draw.indices), np.ascontiguousarray(draw.indices).tobytes())
        push = self.put(made.pack_push(draw.push)) if draw.push else "0:0"
        words: list[Any] = [pipeline, vertices, indices, size_B, draw.first, draw.element_count, draw.instances, push]
        words += [int(draw.scissor is not None), *(draw.scissor or (0, 0, 0, 0)), len(made.interface.bindings)]
        for (_, binding), one in made.interface.bindings.items():
            name = next(n for n in (one.name, one.block_name) if n in draw.bind)
            value = draw.bind[name]
            if isinstance(value, Texture):
                words += [binding, self.texture(value), self.sampler(value.sampler)]
            elif isinstance(value, Sampled):
                image = self.target(id(value.target), value.target.format, self.frame.size_of(value.target), 1)
                words += [binding, image, self.sampler(value.sampler)]
            elif isinstance(value, np.ndarray):
                words += [binding, self.buffer(id(value), np.ascontiguousarray(value).tobytes()), -1]
            else:
                assert not isinstance(value, (Texture, Sampled))
                data = np.ascontiguousarray(made.struct(name, **value)).tobytes()
                words += [binding, self.buffer((id(value), id(made), name), data), -1]
        self.lines.append("draw " + " ".join(map(str, words)))

    def attachment(self, key: Any, name: str, size: tuple[int, int], samples: int, output: Output) -> str:
        """A line: what is drawn to, and with several samples what it is resolved into."""
        image = self.target(key, name, size, samples)
        resolved = self.target(key, name, size, 1) if samples > 1 and not name.startswith("d") and output.store else -1
        clear = output.clear if isinstance(output.clear, tuple) else (output.clear, 0, 0, 0)
        return f"attachment {image} {resolved} {_LOAD.index(output.load)} {int(output.store and samples == 1)} {' '.join(map(str, clear))}"

    def add_pass(self, one: Pass, keys: Sequence[Any], made: Sequence[tg.Pipeline]) -> None:
        """``keys``: what tells the attachments' images apart. Everything that draws need is written before the pass."""
        size = self.frame.size_of(one.outputs[0].target)
        attachments = [
            self.attachment(k, o.target.format, size, one.samples, o) for k, o in zip(keys, one.outputs, strict=True)
        ]
        formats, depth = [o.target.format for o in one.color], None if one.depth is None else one.depth.target.format
        pipelines = [self.pipeline(d, p, formats, depth, one.samples) for d, p in zip(one.draws, made, strict=True)]
        first = len(self.lines)
        for draw, pipeline, number in zip(one.draws, made, pipelines, strict=True):
            self.draw(draw, pipeline, number)
        drawn = [line for line in self.lines[first:] if line.startswith("draw ")]
        self.lines[first:] = [line for line in self.lines[first:] if not line.startswith("draw ")]
        head = f"pass {size[0]} {size[1]} {one.samples} {len(one.color)} {int(one.depth is not None)} {len(drawn)}"
        self.lines += [head, *attachments, *drawn]


def _state_words(state: State, depth: bool) -> list[Any]:
    blend = ALPHA_BLEND if state.blend == "alpha" else state.blend
    words: list[Any] = [
        _TOPOLOGY.index(state.topology),
        int(state.primitive_restart),
        int(state.polygon_mode == "line"),
        _CULL.index(state.cull),
    ]
    words += [
        int(state.front_face == "clockwise"),
        int(depth and state.depth_test),
        int(depth and state.depth_test and state.depth_write),
    ]
    words += [
        _COMPARE.index(state.depth_compare),
        int(state.alpha_to_coverage),
        sum(1 << "rgba".index(c) for c in state.color_write_mask),
    ]
    words += [int(state.depth_bias is not None), *(state.depth_bias or (0, 0)), int(blend is not None)]
    if isinstance(blend, Blend):
        words += [_FACTOR.index(blend.src_color), _FACTOR.index(blend.dst_color), _OPERATION.index(blend.color_op)]
        words += [_FACTOR.index(blend.src_alpha), _FACTOR.index(blend.dst_alpha), _OPERATION.index(blend.alpha_op)]
    return words


def write(frame: Frame, renderer: SceneRenderer, path: Path) -> None:
    """Writes a frame that ``renderer`` has drawn. Raises ``ValueError`` for what the file can't say."""
    if frame.resolve == "store_cmd":
        raise ValueError(f"frame '{frame.label}': the file of a frame resolves in the pass alone, not by a command")
    out, made = _Writer(frame, renderer), renderer.pipelines(frame)
    for number, one in enumerate(frame.passes):
        out.add_pass(one, [id(o.target) for o in one.outputs], made[number])
    color = tuple(
        Output(Target(name, frame.size), clear=frame.clear_color(k)) for k, name in enumerate(frame.color_formats)
    )
    depth = None
    if frame.depth_format is not None:
        depth = Output(Target(frame.depth_format, frame.size), clear=frame.clear_depth, store=frame.store_depth)
    last = Pass(color, depth, frame.draws, frame.samples, frame.label)
    keys = [f"picture {k}" for k in range(len(color))] + (["depth"] if depth else [])
    out.add_pass(last, keys, made[-1])
    out.lines.append(f"picture {out.target('picture 0', frame.color_formats[0], frame.size, 1)}")
    path.write_text("\n".join([*out.lines, "end", ""]), encoding="ascii")
    Path(f"{path}.bin").write_bytes(b"".join(out.bytes))
