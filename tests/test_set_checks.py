"""What ``bind=`` asks of the shaders, ``sets=`` asks too: of sets that a layout made, and of those that were written for another pipeline.

Comparisons, signs of texels, blocks that end early, contents that nobody could read back; what shaders do with what a set holds, as it was
at the draw. Each comes with the valid programs beside it, which a strict device draws without a word.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
COLOR = "r8g8b8a8_unorm"
COMBINED = "combined_image_sampler"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class Declared(NamedTuple):
    """What a fragment shader has at binding 0, and what it makes of it."""

    text: str
    result: str


PLAIN = Declared("layout(binding = 0) uniform sampler2D t;", "texture(t, vec2(0.5)).rrrr")
SHADOW = Declared("layout(binding = 0) uniform sampler2DShadow t;", "vec4(texture(t, vec3(0.5, 0.5, 0.9)))")
INTEGERS = Declared("layout(binding = 0) uniform isampler2D t;", "vec4(texelFetch(t, ivec2(0), 0)) / 255")
NATURALS = Declared("layout(binding = 0) uniform usampler2D t;", "vec4(texelFetch(t, ivec2(0), 0)) / 255")
INTEGER_ROW = Declared("layout(binding = 0) uniform isamplerBuffer t;", "vec4(texelFetch(t, 0)) / 255")
NATURAL_ROW = Declared("layout(binding = 0) uniform usamplerBuffer t;", "vec4(texelFetch(t, 0)) / 255")
VECTOR, MATRIX = (
    Declared(f"layout(binding = 0) uniform U {{ {kind} m; }};", "vec4(m[0])") for kind in ("vec4", "mat4")
)
READ, FAR = (
    Declared(f"layout(binding = 0) readonly buffer U {{ {kind} m; }};", "vec4(m[0])") for kind in ("vec4", "mat4")
)
WRITES = Declared("layout(binding = 0) buffer U { vec4 m; };", "m = vec4(1)")
HARMLESS = Declared("layout(binding = 0) buffer U { vec4 m; };", "m")


def pipeline(dev: tg.Device, declared: Declared, label: str, **more: Any) -> tg.Pipeline:
    frag = f"#version 450\n{declared.text}\nlayout(location = 0) out vec4 o; void main() {{ o = {declared.result}; }}"
    return dev.pipeline(COVER, frag, color=[COLOR], label=label, **more)


def draw(dev: tg.Device, pipe: tg.Pipeline, within: Callable[[], Any] = lambda: None, **given: Any) -> int:
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.draw(pipe, count=3, **given)
        within()
    return int(out.numpy()[0, 0, 0])


def by_layout(dev: tg.Device, declared: Declared, kind: str, value: Any, maker: Declared) -> int:
    layout = dev.descriptor_set_layout({0: kind})
    made = dev.descriptor_set(layout, bind={0: value}, label="s")
    return draw(dev, pipeline(dev, declared, "p", set_layouts={0: layout}), sets={0: made})


def by_other(dev: tg.Device, declared: Declared, kind: str, value: Any, maker: Declared) -> int:
    made = dev.descriptor_set(pipeline(dev, maker, "maker"), bind={0: value}, label="s")
    return draw(dev, pipeline(dev, declared, "p"), sets={0: made})


def by_dispatch(dev: tg.Device, declared: Declared, kind: str, value: Any, maker: Declared) -> int:
    layout = dev.descriptor_set_layout({0: kind, 9: "storage_buffer"})
    result = dev.buffer(np.zeros(4, np.float32))
    text = f"{declared.text}\nlayout(binding = 9) buffer R {{ vec4 r; }}; void main() {{ r = {declared.result}; }}"
    comp = dev.compute_pipeline(f"#version 450\n{text}", label="p", set_layouts={0: layout})
    dev.dispatch(comp, 1, sets={0: dev.descriptor_set(layout, bind={0: value, 9: result}, label="s")})
    return round(float(result.numpy(np.float32)[0]) * 255)


WAYS = (by_layout, by_other, by_dispatch)


def values(dev: tg.Device) -> dict[str, Any]:
    near, compares = dev.sampler(filter="nearest"), dev.sampler(filter="nearest", compare="less_or_equal")
    depth, naturals = dev.image((4, 4), "d32_sfloat"), dev.image((4, 4), "r8g8b8a8_uint")
    dev.clear(depth, depth=0.5)
    dev.clear(naturals, (200, 200, 200, 200))
    words = dev.buffer(np.full(4, 200, np.uint32))
    return {
        "colour": dev.texture(np.full((4, 4, 4), 200, np.uint8)),
        "depth": (depth, near),
        "compared": (depth, compares),
        "naturals": (naturals, near),
        "row": words.texels("r32_uint"),
        "short": dev.buffer(np.ones(4, np.float32)),
        "long": dev.buffer(np.ones(16, np.float32)),
        "bytes": np.ones(4, np.float32).tobytes(),
    }


#: Type, what the shader declares, what is bound, whose set it may be, what is said.
WRONG = [
    (COMBINED, SHADOW, "colour", PLAIN, r"the shader compares depths \(sampler2DShadow\), the sampler has no compare="),
    (COMBINED, SHADOW, "depth", PLAIN, r"the shader compares depths \(sampler2DShadow\), the sampler has no compare="),
    (COMBINED, PLAIN, "compared", SHADOW, r"the sampler has compare=, the shader compares nothing"),
    (COMBINED, INTEGERS, "naturals", NATURALS, "the shader reads int, and the texels are uint"),
    ("uniform_texel_buffer", INTEGER_ROW, "row", NATURAL_ROW, "the shader reads int, and the texels are uint"),
]
SHORT = [
    ("uniform_buffer", MATRIX, "short", VECTOR),
    ("uniform_buffer", MATRIX, "bytes", VECTOR),
    ("storage_buffer", FAR, "short", READ),
]
RIGHT = [
    (COMBINED, SHADOW, "compared", SHADOW, 0),
    (COMBINED, PLAIN, "depth", PLAIN, 128),
    (COMBINED, PLAIN, "colour", PLAIN, 200),
    (COMBINED, NATURALS, "naturals", NATURALS, 200),
    ("uniform_texel_buffer", NATURAL_ROW, "row", NATURAL_ROW, 200),
    ("uniform_buffer", MATRIX, "long", MATRIX, 255),
    ("uniform_buffer", VECTOR, "long", MATRIX, 255),
    ("uniform_buffer", VECTOR, "bytes", VECTOR, 255),
    ("storage_buffer", HARMLESS, "short", READ, 255),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "declared", "name", "maker", "message"), WRONG)
def test_what_the_shader_reads(
    dev: tg.Device, kind: str, declared: Declared, name: str, maker: Declared, message: str, way: Callable[..., int]
) -> None:
    value = values(dev)[name]
    with pytest.raises(tg.ValidationError, match=message):
        draw(dev, pipeline(dev, declared, "p"), bind={(0, 0): value})
    where = r"pipeline 'p': set 0, 's': 't' \(set 0, binding 0\): "
    with pytest.raises(tg.ValidationError, match=where + message):
        way(dev, declared, kind, value, maker)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "declared", "name", "maker"), SHORT)
def test_blocks_that_end_early(
    dev: tg.Device, kind: str, declared: Declared, name: str, maker: Declared, way: Callable[..., int]
) -> None:
    message = r"pipeline 'p': 'U' \(set 0, binding 0\) has 64 bytes, buffer of 16 bytes is bound; what the shader reads beyond is 0"
    with pytest.warns(tg.ShortBufferWarning, match=message) as told:
        way(dev, declared, kind, values(dev)[name], maker)
    assert len(told) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "declared", "name", "maker", "result"), RIGHT)
def test_what_fits_is_drawn_in_silence(
    dev: tg.Device, kind: str, declared: Declared, name: str, maker: Declared, result: int, way: Callable[..., int]
) -> None:
    assert way(dev, declared, kind, values(dev)[name], maker) == result


def test_contents_that_another_pipeline_writes(dev: tg.Device) -> None:
    """They have memory of their own, which nobody could read back; where nothing is written they are as good as a buffer."""
    contents = np.ones(4, np.float32).tobytes()
    made = dev.descriptor_set(pipeline(dev, READ, "maker"), bind={0: contents}, label="s")
    with pytest.raises(
        tg.ValidationError, match=r"set 0, 's': 'U' .* is written by the shaders; the set has contents of its own there"
    ):
        draw(dev, pipeline(dev, WRITES, "p"), sets={0: made})
    assert draw(dev, pipeline(dev, HARMLESS, "p"), sets={0: made}) == 255


# --------------------------------------------------------------------------------------------------- what may be meant, and what not


def test_arrays_where_something_fits(dev: tg.Device) -> None:
    """Which elements are read nobody knows: nothing is said but where none fits."""
    layout = dev.descriptor_set_layout({0: (COMBINED, 2)})
    declared = Declared("layout(binding = 0) uniform sampler2DShadow t[2];", "vec4(texture(t[0], vec3(0.5, 0.5, 0.2)))")
    pipe = pipeline(dev, declared, "p", set_layouts={0: layout})
    found = values(dev)
    assert draw(dev, pipe, sets={0: dev.descriptor_set(layout, bind={0: [found["compared"], found["depth"]]})}) == 255
    with pytest.raises(tg.ValidationError, match=r"'t' \(set 0, binding 0\)\[0\]: the shader compares depths"):
        draw(dev, pipe, sets={0: dev.descriptor_set(layout, bind={0: [found["depth"], found["colour"]]})})


def test_several_variables_at_one_place(dev: tg.Device) -> None:
    """Tables of all textures are declared once for each kind."""
    layout = dev.descriptor_set_layout({0: (COMBINED, 2)}, partially_bound=True)
    text = "layout(binding = 0) uniform sampler2D t[2]; layout(binding = 0) uniform isampler2D s[2];"
    declared = Declared(text, "texture(t[0], vec2(0.5)) + vec4(texelFetch(s[1], ivec2(0), 0))")
    signed = dev.image((4, 4), "r8g8b8a8_sint")
    dev.clear(signed, (0, 0, 0, 0))
    held = [values(dev)["colour"], (signed, dev.sampler(filter="nearest"))]
    made = dev.descriptor_set(layout, bind={0: held})
    try:
        assert draw(dev, pipeline(dev, declared, "p", set_layouts={0: layout}), sets={0: made}) == 200
    except tg.ValidationError as error:  # the core looks at each element by the variables that name it
        assert "set 0, '" not in str(error)


# ----------------------------------------------------------------------------------------------- what is read, written and undefined


def two(
    dev: tg.Device, kind: str, declared: Declared, first: Any, second: Any, **layout: Any
) -> tuple[tg.Pipeline, tg.DescriptorSet]:
    made = dev.descriptor_set_layout({0: kind, 1: kind}, **layout)
    return pipeline(dev, declared, "p", set_layouts={0: made}), dev.descriptor_set(made, bind={0: first, 1: second})


def test_what_the_shaders_do_not_use_of_a_set_may_change(dev: tg.Device) -> None:
    first, second = (dev.texture(np.full((4, 4, 4), 200, np.uint8)) for _ in range(2))
    pipe, made = two(dev, COMBINED, PLAIN, first, second)
    assert draw(dev, pipe, lambda: dev.clear(second.image, (0, 0, 0, 0)), sets={0: made}) == 200
    with pytest.raises(tg.ValidationError, match="is open, and the image is read by its draws"):
        draw(dev, pipe, lambda: dev.clear(first.image, (0, 0, 0, 0)), sets={0: made})
    with dev.frame() as f:
        draw(dev, pipe, sets={0: made})
    assert {id(use.thing) for use in f.nodes[0].uses} >= {id(first.image)} and all(
        use.thing is not second.image for use in f.nodes[0].uses
    )


def test_what_a_set_held_at_the_draw(dev: tg.Device) -> None:
    """It may be written anew behind the draw, which sees what it held then."""
    first, second = (dev.texture(np.full((4, 4, 4), 200, np.uint8)) for _ in range(2))
    pipe, made = two(dev, COMBINED, PLAIN, first, second)

    def later(change: tg.Texture) -> None:
        made.update({0: second})
        dev.clear(change.image, (0, 0, 0, 0))

    with pytest.raises(tg.ValidationError, match="is open, and the image is read by its draws"):
        draw(dev, pipe, lambda: later(first), sets={0: made})
    made.update({0: first})
    assert draw(dev, pipe, lambda: later(second), sets={0: made}) == 200
    third = dev.texture(np.full((4, 4, 4), 100, np.uint8))
    pipe, made = two(dev, COMBINED, PLAIN, first, third, update_after_bind=True)

    def late(change: tg.Texture) -> None:
        made.update({0: third})
        dev.clear(change.image, (0, 0, 0, 0))

    assert draw(dev, pipe, lambda: late(first), sets={0: made}) == 100
    made.update({0: first})
    with pytest.raises(tg.ValidationError, match="is open, and the image is read by its draws"):
        draw(dev, pipe, lambda: late(third), sets={0: made})


def test_storage_is_written_where_the_pipeline_that_draws_writes(dev: tg.Device) -> None:
    buffers = [dev.buffer(np.ones(4, np.float32)) for _ in range(2)]
    pipe, made = two(dev, "storage_buffer", READ, *buffers)
    assert draw(dev, pipe, lambda: buffers[0].numpy(), sets={0: made}) == 255
    made = dev.descriptor_set(pipeline(dev, READ, "maker"), bind={0: buffers[0]})
    with pytest.raises(tg.ValidationError, match="is open, and the buffer is written by its draws"):
        draw(dev, pipeline(dev, WRITES, "p"), lambda: buffers[0].numpy(), sets={0: made})


def test_images_that_the_set_was_made_to_write(dev: tg.Device) -> None:
    """Another pipeline reads them, though nobody has written them."""
    stores = Declared(
        "layout(binding = 0, rgba8) writeonly uniform image2D t;", "vec4(1); imageStore(t, ivec2(0), vec4(1))"
    )
    loads = Declared("layout(binding = 0, rgba8) readonly uniform image2D t;", "imageLoad(t, ivec2(0))")
    made = dev.descriptor_set(pipeline(dev, stores, "maker"), bind={0: dev.image((4, 4), COLOR, label="i")})
    with pytest.raises(tg.UndefinedContentsError, match="may be read, but the contents of image 'i' are undefined"):
        draw(dev, pipeline(dev, loads, "p"), sets={0: made})
    draw(dev, pipeline(dev, stores, "p"), sets={0: made})
    assert draw(dev, pipeline(dev, loads, "p"), sets={0: made}) == 255


APART = """layout(binding = 0) uniform texture2D t; layout(set = {}, binding = 1) uniform sampler s[2];
layout(binding = 2) uniform sampler u;"""
BOTH = "texture(sampler2D(t, s[1]), vec2(0.5)) + texture(sampler2D(t, u), vec2(0.5))"


@pytest.mark.parametrize("way", ["bind", "set", "two sets", "set and bind"])
def test_samplers_of_sets_say_which_levels_are_read(dev: tg.Device, way: str) -> None:
    """Any that comes without an image may meet any image: those in lists too."""
    chain = dev.image((4, 4), COLOR, mip_levels=3, label="chain")
    dev.clear(chain, (1, 1, 1, 1), level=0, levels=1)
    first, all_levels = dev.sampler(max_lod=0.0), dev.sampler()
    pipe = pipeline(dev, Declared(APART.format(int(way not in ("bind", "set"))), BOTH), "p")

    def drawn(samplers: list[tg.Sampler]) -> int:
        if way == "bind":
            return draw(dev, pipe, bind={"t": chain, "s": samplers, "u": first})
        if way == "set":
            return draw(dev, pipe, sets={0: dev.descriptor_set(pipe, bind={"t": chain, "s": samplers, "u": first})})
        sets = {1: dev.descriptor_set(pipe, 1, {"s": samplers})}
        if way == "set and bind":
            return draw(dev, pipe, bind={"t": chain, "u": first}, sets=sets)
        return draw(dev, pipe, sets={0: dev.descriptor_set(pipe, 0, {"t": chain, "u": first}), **sets})

    assert drawn([first, first]) == 255
    with pytest.raises(tg.UndefinedContentsError, match="image 'chain' of level 1"):
        drawn([first, all_levels])


# ------------------------------------------------------------------------------------------------ images and samplers that come apart

SEPARATE = "layout(binding = 0) uniform {}texture2D t{}; layout(set = {}, binding = 1) uniform sampler s;"
MEET: list[tuple[str, str, str, str, str]] = [
    (
        "",
        "vec4(texture(sampler2DShadow(t, s), vec3(0.5, 0.5, 0.2)))",
        "depth",
        "near",
        r"the shader compares depths \(sampler2DShadow\)",
    ),
    (
        "",
        "vec4(texture(sampler2DShadow(t, s), vec3(0.5, 0.5, 0.2)))",
        "colour",
        "compares",
        "",
    ),
    (
        "",
        "texture(sampler2D(t, s), vec2(0.5)).rrrr",
        "depth",
        "compares",
        "the sampler has compare=, the shader compares nothing",
    ),
    ("u", "vec4(texture(usampler2D(t, s), vec2(0.5))) / 255", "naturals", "linear", "which can't be filtered"),
    ("", "vec4(texture(sampler2DShadow(t, s), vec3(0.5, 0.5, 0.2)))", "depth", "compares", ""),
    ("", "texture(sampler2D(t, s), vec2(0.5)).rrrr", "depth", "near", ""),
    ("u", "vec4(texture(usampler2D(t, s), vec2(0.5))) / 255", "naturals", "near", ""),
    ("", "texelFetch(sampler2D(t, s), ivec2(0), 0).rrrr", "depth", "compares", ""),  # no sampler is asked
]


@pytest.mark.parametrize("way", ["bind", "set", "set and bind", "two sets"])
@pytest.mark.parametrize(("prefix", "result", "image", "sampler", "message"), MEET)
def test_images_and_samplers_that_come_apart(
    dev: tg.Device, prefix: str, result: str, image: str, sampler: str, message: str, way: str
) -> None:
    """They are looked at as what comes together is, wherever they stand."""
    apart = int(way in ("set and bind", "two sets"))
    pipe = pipeline(dev, Declared(SEPARATE.format(prefix, "", apart), result), "p")
    samplers = {
        "near": dev.sampler(filter="nearest"),
        "linear": dev.sampler(filter="linear"),
        "compares": dev.sampler(filter="nearest", compare="less_or_equal"),
    }
    value = values(dev)[image]
    held: dict[str, Any] = {"t": value[0] if isinstance(value, tuple) else value, "s": samplers[sampler]}
    given: dict[str, Any] = {"bind": held}
    if way == "set":
        given = {"sets": {0: dev.descriptor_set(pipe, bind=held)}}
    elif apart:
        given = {"sets": {1: dev.descriptor_set(pipe, 1, {"s": held["s"]})}, "bind": {"t": held["t"]}}
    if way == "two sets":
        given["sets"][0] = dev.descriptor_set(pipe, 0, given.pop("bind"))
    for _ in range(2):
        if message:
            both = rf"pipeline 'p': 't' \(set 0, binding 0\) with 's' \(set {apart}, binding 1\): "
            with pytest.raises(tg.ValidationError, match=both + f".*{message}"):
                draw(dev, pipe, **given)
        else:
            draw(dev, pipe, **given)


def test_pairs_where_something_fits(dev: tg.Device) -> None:
    """Of an array nobody knows which image meets the sampler; a pair that is both compared and not may be meant either way."""
    found, compares = values(dev), dev.sampler(filter="nearest", compare="less_or_equal")
    declared = Declared(SEPARATE.format("", "[2]", 0), "vec4(texture(sampler2DShadow(t[1], s), vec3(0.5, 0.5, 0.2)))")
    pipe = pipeline(dev, declared, "p")
    assert draw(dev, pipe, bind={"t": [found["colour"].image, found["depth"][0]], "s": compares}) == 255
    assert draw(dev, pipe, bind={"t": [found["colour"].image] * 2, "s": compares}) == 255
    either = "gl_FragCoord.x < 0 ? texture(sampler2D(t, s), vec2(0.5)) : vec4(texture(sampler2DShadow(t, s), vec3(0.5, 0.5, 0.2)))"
    pipe = pipeline(dev, Declared(SEPARATE.format("", "", 0), either), "p")
    assert draw(dev, pipe, bind={"t": found["depth"][0], "s": compares}) == 255
