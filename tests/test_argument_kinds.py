"""Arguments of the wrong kind: whatever is given where, the answer is a result or an error of tilegpu, never one of Python's own."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import arguments

VERT = """#version 450
layout(location = 0) in vec2 p;  layout(location = 1) in vec4 col;
layout(push_constant) uniform P { vec4 o; mat4 m; };
layout(set = 0, binding = 0) uniform U { vec4 a; float b[3]; } u;
void main() { gl_Position = vec4(p + o.xy, 0, 1); }"""
FRAG = """#version 450
layout(set = 0, binding = 1) uniform sampler2D t;  layout(set = 0, binding = 2) buffer S { uint n[]; } s;
layout(location = 0) out vec4 c;
void main() { c = texture(t, vec2(0)); }"""
VERTEX = np.dtype([("p", "f4", 2), ("col", "f4", 4)])


class Hostile:
    """Refuses everything that NumPy and Python ask of a value."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("no array")

    def __float__(self) -> float:
        raise RuntimeError("no float")

    def __int__(self) -> int:
        raise RuntimeError("no int")

    def __len__(self) -> int:
        return 4

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class HostilePath(os.PathLike[str]):
    """Has a path only as long as nobody asks."""

    def __fspath__(self) -> str:
        raise RuntimeError("no path")

    __repr__ = Hostile.__repr__  # type: ignore[assignment]


class World:
    """A device and what it made, and values of every kind."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dev = tg.Device(threads=1)
        self.image = self.dev.image((8, 8), "r8g8b8a8_unorm", label="im")
        self.depth = self.dev.image((8, 8), "d32_sfloat")
        self.pipeline = self.dev.pipeline(VERT, FRAG, vertex=VERTEX, color=["r8g8b8a8_unorm"])
        self.buffer = self.dev.buffer(np.zeros(64, "u4"))
        self.texture = self.dev.texture(np.zeros((2, 2, 4), np.uint8))
        four = self.dev.image((8, 8), "r8g8b8a8_unorm", samples=4)
        self.values: list[Any] = [
            None, True, False, 0, 1, -1, 3, 2**32, 2**63, 2**64, 10**30, 1.5, -0.0, float("nan"), float("inf"), 1e300,
            "", "x", "linear", "load", "r8g8b8a8_unorm", "depth", "\ud800", "a\0b", "host", "all", "auto", b"", b"abc", bytes(64),
            [], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], (8, 8), (0, 0, 8, 8), (0, 0, 0, 1), {}, {"a": 1}, {"a": [1, 2, 3, 4]},
            object(), object, Hostile(), [[1, 2], [3]], set(), range(3), lambda: 0, memoryview(bytes(8)), np.float32(1), np.int64(5),
            np.array([object()] * 2, dtype=object), np.array([None]), np.array(["x", "y"]), np.zeros(3, VERTEX), np.zeros(3),
            np.zeros((4, 4)), np.zeros((2, 2, 4), np.uint8), np.arange(3), np.array([1, 2, 3], "u2"), np.array(1 + 2j),
            np.zeros(3, "M8[s]"), np.zeros(0), np.zeros((1, 1, 1, 1, 1)),
            np.zeros(2, [("p", object)]), np.zeros(3, "S4"), np.zeros(3, VERTEX)[0],
            self.image, four, self.depth, self.texture, self.buffer, self.buffer.slice(0, 16), self.pipeline, self.dev,
        ]  # fmt: skip

    def any(self) -> Any:
        return self.random.choice(self.values)

    def some(self, *names: str, most: int = 3) -> dict[str, Any]:
        return {n: self.any() for n in self.random.sample(names, self.random.randint(0, min(most, len(names))))}

    def rather(self, good: Any) -> Any:
        return good if self.random.random() < 0.5 else self.any()

    def draw(self) -> None:
        with self.dev.render_pass(self.image) as rp:
            given: dict[str, Any] = {
                "bind": {"u": {"a": [1, 2, 3, 4], "b": [1, 2, 3]}, "t": self.texture, "s": self.buffer},
                "push": {"o": [0, 0, 0, 0], "m": np.eye(4)},
            }
            vertices: Any = np.zeros(3, VERTEX)
            names = ("indices", "instances", "bind", "push", "first", "count", "vertex_offset", "first_instance", "viewport", "scissor",
                     "stencil_reference", "blend_constants", "depth_bias")  # fmt: skip
            what = self.random.randrange(6)
            if what == 0:
                vertices = self.any()
            elif what == 1:
                given["bind"][self.random.choice("uts")] = self.any()
            elif what == 2:
                given["push"][self.random.choice("om")] = self.any()
            elif what == 3:
                rp.clear(self.any(), **self.some("depth", "stencil", "attachment", "rect"))
            elif what == 4:
                more = self.some("indices", "offset", "draw_count", "stride")
                rp.draw_indirect(self.rather(self.pipeline), self.any(), vertices, **given, **more)
            else:
                given[self.random.choice(names)] = self.any()
            rp.draw(self.rather(self.pipeline) if what == 5 else self.pipeline, vertices, **given)

    def make_pipeline(self) -> None:
        given: dict[str, Any] = {"vertex": VERTEX, "color": ["r8g8b8a8_unorm"]}
        names = ("vertex", "instance", "color", "depth", "stencil", "samples", "topology", "cull", "polygon_mode", "depth_test",
                 "depth_compare", "depth_bounds", "depth_bias", "stencil_test", "stencil_front", "blend", "blend_constants", "write_mask",
                 "logic_op", "sample_shading",
                 "sample_mask", "input_attachments", "constants", "defines", "line_width", "label")  # fmt: skip
        self.dev.pipeline(VERT, FRAG, **(given | self.some(*names, most=2)))

    def calls(self) -> list[Callable[[], object]]:
        dev, image, rather, some, given = self.dev, self.image, self.rather, self.some, self.any
        return [
            lambda: dev.image(rather((4, 4)), rather("r8_unorm"), **some("samples", "transient", "mip_levels", "layers", "cube", "usage",
                                                                           "tiling", "label")),
            lambda: dev.sampler(**some("filter", "mag_filter", "mipmap_mode", "address", "mip_lod_bias", "min_lod", "max_lod", "compare",
                                       "border_color", "max_anisotropy", "reduction", "unnormalized_coordinates", "non_seamless_cube_map")),
            lambda: dev.texture(given(), **some("format", "mipmaps", "cube", "sampler", "filter", "label")),
            lambda: dev.buffer(given(), **some("usage", "label")),
            lambda: dev.copy(given(), given(), **some("source_offset", "destination_offset", "size", "source_level", "source_layer",
                                                      "source_pos", "extent", "row_length", "aspect")),
            lambda: dev.blit(rather(image), rather(image), **some("filter", "source_rect", "destination_rect", "source_level",
                                                                       "destination_layer")),
            lambda: dev.clear(rather(image), given(), **some("depth", "stencil")),
            lambda: dev.generate_mipmaps(given()),
            lambda: dev.resolve(given(), given()),
            lambda: dev.render_pass(tg.Attachment(rather(image), **some("load_op", "clear", "store_op", "resolve", "resolve_mode",
                                                                        "level", "layer"))).__enter__(),
            lambda: dev.render_pass(rather(image), **some("depth", "stencil", "area", "layers", "samples", "hsr", "trace",
                                                                  "label")).__enter__(),
            self.draw,
            self.draw,
            self.make_pipeline,
            lambda: dev.pipeline(given(), given(), color=["r8g8b8a8_unorm"]),
            lambda: image.view(**some("type", "format", "aspect", "level", "levels", "layer", "layers", "swizzle")),
            lambda: image.numpy(**some("level", "layer", "aspect")),
            lambda: self.buffer.write(given(), rather(0)),
            lambda: self.buffer.slice(given(), rather(4)),
            lambda: self.buffer.numpy(**some("dtype", "shape")),
            lambda: tg.Device(**some("profile", "threads", "lanes", "jit_target", "bin_px", "vertex_batch", "tiler_heap", "hsr", most=2)),
            lambda: self.pipeline.struct("u", a=given(), b=given()),
            lambda: tg.format_info(given()),
        ]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_any_value_anywhere_is_a_result_or_an_error_of_tilegpu() -> None:
    world = World(int(os.environ.get("TILEGPU_FUZZ_SEED", "1")))
    calls = world.calls()
    refused = 0
    for _ in range(int(os.environ.get("TILEGPU_FUZZ_CASES", "2500"))):
        number = world.random.randrange(len(calls))
        try:
            calls[number]()
        except tg.Error as error:
            assert str(error)
            refused += 1
        except Exception as error:
            raise AssertionError(f"call {number} ended in {type(error).__name__}: {error}") from error
    assert refused > 100


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.image("big", "r8_unorm"), r"image: size is 'big'; it must be \(width, height\) in pixels"),
        (lambda d: d.image((4, 4), "r8_unorm", samples="4", label="a"), "image 'a': samples is '4'; it must be a whole number"),
        (lambda d: d.image((4, 4), "r8_unorm", cube="yes"), "cube is 'yes'; it must be True or False"),
        (lambda d: d.buffer(np.array([object()])), "data has dtype object; it must be numbers, bytes, or a size in bytes"),
        (lambda d: d.buffer(Hostile()), r"data is a Hostile, which is no array \(no array\)"),
        (lambda d: d.sampler(min_lod="low"), "sampler: min_lod is 'low'; it must be a number"),
        (lambda d: d.copy(b"abcd", d.buffer(4), source_offset=None), "copy: source_offset is None; it must be a whole number"),
        (lambda d: d.copy(b"abcd", d.buffer(4), source_level=-1), "copy: source_level is -1; it must not be negative"),
        (lambda d: d.render_pass(d.image((4, 4), "r8_unorm"), area="all"), "area is 'all'; it must be"),
        (lambda d: d.buffer(8).write(["x"]), "what is written has dtype <U1; it must be numbers"),
        (lambda d: d.image((4, 4), "r8_unorm", tiling=Hostile()), "tiling is a Hostile, which is no image_tiling"),
        (lambda d: tg.math.look_at(Hostile(), (0, 0, 0)), "look_at: eye is a Hostile; it must be three numbers"),
        (lambda d: tg.math.transform(np.eye(4), Hostile()), "transform: points is a Hostile; it must be numbers"),
        (lambda d: tg.math.perspective(Hostile(), 1, 1, 2), "is a Hostile; it must be a number"),
        (lambda d: d.load_capture(Hostile()), "path is a Hostile; it must be a path"),
        (lambda d: d.load_capture(HostilePath()), "path is a HostilePath; it must be a path"),
    ],
)
def test_the_message_names_what_was_given(call: Callable[[tg.Device], object], message: str) -> None:
    with pytest.raises(tg.ValidationError, match=message):
        call(tg.Device(threads=1))


def test_long_values_are_cut_in_messages() -> None:
    assert len(arguments.shown(np.zeros(10_000))) <= 80 and "\n" not in arguments.shown(np.zeros((50, 50)))


def test_a_tiling_by_number_is_used_as_by_name() -> None:
    made = [tg.Device(threads=1).image((16, 16), "r8g8b8a8_unorm", tiling=tiling) for tiling in ("block_compressed", 1)]
    assert made[0].usage == made[1].usage
