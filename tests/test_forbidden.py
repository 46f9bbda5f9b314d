"""What Vulkan's validation layers call an error is one: uses that no usage names, copies off the texels' grid, clears beyond the render
area, resolves and attachments that no Vulkan has. Each says object, field, value, what is allowed; nothing was executed.

The same programs without the mistake run, and so does everything on objects whose usage nobody said.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COLOR = "r8g8b8a8_unorm"
BOTH = "d24_unorm_s8_uint"
COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
CAPTURES = """#version 450
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16, location = 0) out vec4 c; void main() { c = vec4(1); gl_Position = vec4(0); }"""
Misuse = Callable[[tg.Device], Any]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def full(dev: tg.Device, format_: str = COLOR, size: tuple[int, ...] = (8, 8), **options: Any) -> tg.Image:
    """An image that was cleared."""
    image = dev.image(size, format_, **options)
    if image.format_info.is_depth_stencil:
        dev.clear(image, **dict.fromkeys(image.format_info.aspects, 0))
    else:
        dev.clear(image, (0, 0, 0, 0))
    return image


def attachment(dev: tg.Device, format_: str = COLOR, **options: Any) -> tg.Attachment:
    given = {key: options.pop(key) for key in ("resolve", "resolve_mode", "layer") if key in options}
    clear = 0 if format_ not in (COLOR, "r8_uint") else (0, 0, 0, 0)
    return tg.Attachment(dev.image((8, 8), format_, **options), clear=clear, **given)


def run(dev: tg.Device, record: Callable[[tg.RenderPass], Any] = lambda rp: None, **given: Any) -> None:
    if not given.keys() & {"color", "depth", "stencil"}:
        given["color"] = attachment(dev)
    with dev.render_pass(**given, label="a") as rp:
        record(rp)


def draw(dev: tg.Device, given: dict[str, Any] | None = None, *, vert: str = COVER, frag: str = WHITE, **arguments: Any) -> None:
    options = {key: arguments.pop(key) for key in ("vertex", "depth", "stencil", "depth_test") if key in arguments}
    pipe = dev.pipeline(vert, frag, color=[COLOR], label="p", **options)
    run(dev, lambda rp: rp.draw(pipe, **{"count": 3, **arguments}), **(given or {}))


# ----------------------------------------------------------------------------------------------------------- usages


def buffer(dev: tg.Device, usage: str, size: Any = 256) -> tg.Buffer:
    return dev.buffer(size, usage=usage, label="b")


def chain(dev: tg.Device, usage: str) -> tg.Image:
    image = dev.image((8, 8), COLOR, mip_levels=2, usage=usage, label="i")
    run(dev, color=tg.Attachment(image, clear=(0, 0, 0, 0)))
    return image


NONE_OF_BUFFER, NONE_OF_IMAGE = "usage of buffer 'b' is one without {0}, allowed is one with {0}", "usage of image 'i' is one without {0}, "
USAGES: list[tuple[Misuse, str, str]] = [
    (lambda d: d.copy(buffer(d, "storage"), d.buffer(256)), "^copy: " + NONE_OF_BUFFER, "transfer_src"),
    (lambda d: d.copy(d.buffer(256), buffer(d, "storage")), NONE_OF_BUFFER, "transfer_dst"),
    (lambda d: d.copy(buffer(d, "storage"), d.image((8, 8), COLOR)), NONE_OF_BUFFER, "transfer_src"),
    (lambda d: d.copy(full(d), buffer(d, "storage")), NONE_OF_BUFFER, "transfer_dst"),
    (lambda d: d.copy(full(d, usage="transfer_dst", label="i"), d.buffer(256)), "^copy: " + NONE_OF_IMAGE, "transfer_src"),
    (lambda d: d.copy(d.buffer(256), d.image((8, 8), COLOR, usage="sampled", label="i")), NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: d.copy(full(d, usage="transfer_dst", label="i"), d.image((8, 8), COLOR)), NONE_OF_IMAGE, "transfer_src"),
    (lambda d: d.copy(full(d), d.image((8, 8), COLOR, usage="sampled", label="i")), NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: d.blit(full(d, usage="transfer_dst", label="i"), d.image((8, 8), COLOR)), "^blit: " + NONE_OF_IMAGE, "transfer_src"),
    (lambda d: d.blit(full(d), d.image((8, 8), COLOR, usage="sampled", label="i")), NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: d.resolve(full(d, samples=4, usage="transfer_dst", label="i"), d.image((8, 8), COLOR)), NONE_OF_IMAGE, "transfer_src"),
    (lambda d: d.resolve(full(d, samples=4), d.image((8, 8), COLOR, usage="sampled", label="i")), NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: d.clear(d.image((8, 8), COLOR, usage="sampled", label="i"), (0, 0, 0, 0)), "^clear: " + NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: d.clear(d.image((8, 8), BOTH, usage="sampled", label="i"), depth=0), NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: d.generate_mipmaps(chain(d, "color_attachment|transfer_dst")), NONE_OF_IMAGE, "transfer_src"),
    (lambda d: d.generate_mipmaps(chain(d, "color_attachment|transfer_src")), NONE_OF_IMAGE, "transfer_dst"),
    (lambda d: run(d, lambda rp: rp.transform_feedback(buffer(d, "storage")).__enter__()), NONE_OF_BUFFER, "transform_feedback_buffer"),
    (
        lambda d: run(d, lambda rp: rp.transform_feedback(d.buffer(64), resume=buffer(d, "storage", 4)).__enter__()),
        "pass 'a': begin_transform_feedback: " + NONE_OF_BUFFER,
        "transform_feedback_counter_buffer",
    ),
    (lambda d: draw(d, {"color": read_by_itself(d, "color_attachment")}, frag=READS), NONE_OF_IMAGE, "input_attachment"),
]
READS = """#version 450
layout(input_attachment_index = 0, binding = 0) uniform subpassInput i; layout(location = 0) out vec4 o;
void main() { o = subpassLoad(i); }"""


def read_by_itself(dev: tg.Device, usage: str) -> tg.Attachment:
    return tg.Attachment(dev.image((8, 8), COLOR, usage=usage, label="i"), clear=(0, 0, 0, 0))


@pytest.mark.parametrize("number", range(len(USAGES)))
def test_uses_that_the_usage_does_not_name(dev: tg.Device, number: int) -> None:
    call, message, flag = USAGES[number]
    with pytest.raises(tg.ValidationError, match=message.format(flag) + ".*create the (buffer|image) with that usage$"):
        call(dev)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: indirect(d, draw_count=buffer(d, "storage", np.ones(1, "u4"))), "draw_count: buffer 'b' has usage storage_buffer"),
        (lambda d: indirect(d, draw_count=d.buffer(np.ones(1, "f4"))), "draw_count: buffer 'buffer' was made from float32"),
        (lambda d: indirect(d, buffer(d, "storage", 16), byte_count=16), "create it with usage='indirect' too"),
        (lambda d: indirect(d, np.array([[3, 1, 0, 0]]), draw_count=5), "draw_count is 5; indirect has 1 row$"),
        (lambda d: d.buffer(16, usage=""), "usage is"),
        (lambda d: d.buffer(16, usage=[]), "usage is empty; name at least one use, or leave it out for all"),
        (lambda d: d.image((8, 8), COLOR, usage=[]), "usage is empty; name at least one use, or leave it out"),
        (lambda d: d.image((8, 8), COLOR, usage="transient"), "usage is transient alone, allowed is"),
        (lambda d: d.image((8, 8), COLOR, transient=True, usage="color_attachment|sampled"), "usage is transient with sampled"),
    ],
)  # fmt: skip
def test_usages_of_counts_and_none(dev: tg.Device, call: Misuse, message: str) -> None:
    with pytest.raises(tg.ValidationError, match=message):
        call(dev)


def indirect(dev: tg.Device, parameters: Any = None, **arguments: Any) -> None:
    pipe = dev.pipeline(COVER, WHITE, color=[COLOR])
    given = dev.buffer(np.array([[3, 1, 0, 0]], "u4")) if parameters is None else parameters
    run(dev, lambda rp: rp.draw_indirect(pipe, given, **arguments))


def test_usages_that_are_named_and_those_of_old(dev: tg.Device) -> None:
    """By default objects may be used for everything that there is, and a transient image is one however it was said."""
    source, target = dev.buffer(256, usage="transfer_src"), dev.image((8, 8), COLOR, usage="transfer_dst|transfer_src")
    dev.copy(source, target)
    dev.copy(target, dev.buffer(256, usage="transfer_dst"))
    dev.generate_mipmaps(full(dev, mip_levels=None))
    captured = dev.buffer(64, usage="transform_feedback")
    counter = dev.buffer(4, usage="transform_feedback_counter|indirect")
    pipe = dev.pipeline(CAPTURES, WHITE, color=[COLOR])

    def capture(rp: tg.RenderPass) -> None:
        with rp.transform_feedback(captured, keep=counter):
            rp.draw(pipe, count=3)

    run(dev, capture)
    indirect(dev, counter, byte_count=16)
    assert dev.image((8, 8), COLOR, usage="transient|color_attachment").transient
    draw(dev, {"color": read_by_itself(dev, "color_attachment|input_attachment")}, frag=READS)


# ----------------------------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize(
    ("format_", "offset", "grid", "options"),
    [
        (COLOR, 2, "4, the bytes of a texel of r8g8b8a8_unorm", {}),
        ("r32g32_sfloat", 4, "8, the bytes of a texel of r32g32_sfloat", {}),
        ("bc1_rgba_unorm_block", 4, "8, the bytes of a texel of bc1_rgba_unorm_block", {}),
        ("d16_unorm", 2, "4, for depth and stencil", {}),
        ("s8_uint", 1, "4, for depth and stencil", {}),
        (BOTH, 2, "4, for depth and stencil", {"aspect": "stencil"}),
        ("g8_b8r8_2plane_420_unorm", 1, "2, the bytes of a texel of r8g8_unorm", {"aspect": "plane_1"}),
    ],
)
def test_offsets_in_buffers_are_on_the_texels_grid(dev: tg.Device, format_: str, offset: int, grid: str, options: Any) -> None:
    data, image = dev.buffer(1024), dev.image((8, 8), format_)
    with pytest.raises(tg.ValidationError, match=rf"^copy: the buffer's offset is {offset}, allowed is a multiple of {grid}$"):
        dev.copy(data, image, source_offset=offset, **options)
    dev.copy(data, image, source_offset=16, **options)
    with pytest.raises(tg.ValidationError, match=f"the buffer's offset is {16 + offset}, "):
        dev.copy(image, data, destination_offset=16 + offset, **options)
    dev.copy(image, data, destination_offset=16, **options)


def test_depth_in_a_buffer_is_copied_as_it_is(dev: tg.Device) -> None:
    """Vulkan leaves it undefined beyond 0 to 1 (docs/undefined.md)."""
    image, values = dev.image((2, 2), "d32_sfloat"), np.array([[5.0, -1.0], [np.inf, 0.25]], "f4")
    dev.copy(values, image)
    assert np.array_equal(image.numpy()[..., 0], values)


# ----------------------------------------------------------------------------------------------------- clears in passes


@pytest.mark.parametrize(
    ("clear", "given", "message"),
    [
        ({"rect": (4, 4, 8, 8)}, {}, r"8x8 px at \(4, 4\), allowed is at least 1x1 px within the render area, 8x8 px at \(0, 0\)"),
        ({"rect": (-1, 0, 4, 4)}, {}, r"rect of clear is 4x4 px at \(-1, 0\)"),
        ({"rect": (0, 0, 8, 8)}, {"area": (2, 2, 4, 4)}, r"rect of clear is 8x8 px at \(0, 0\), .* the render area, 4x4 px at \(2, 2\)"),
        ({"rect": (0, 0, 0, 4)}, {}, r"rect of clear is 0x4 px"),
        ({"rect": (0, 0, 4, 0)}, {}, r"rect of clear is 4x0 px"),
        ({"layer": 1}, {}, "layers of clear is all from 1, allowed is at least one, of the pass's 1"),
        ({"layers": 2}, {}, "layers of clear is 2 from 0, allowed is at least one, of the pass's 1"),
        ({"layers": 0}, {}, "clear of 0 layers"),
        ({"layer": 1}, {"view_mask": 3}, "a pass with views clears all of them, leave both out"),
        ({"layers": 1}, {"view_mask": 3}, "a pass with views clears all of them, leave both out"),
    ],
)  # fmt: skip
def test_clears_stay_within_the_pass(dev: tg.Device, clear: dict[str, Any], given: dict[str, Any], message: str) -> None:
    color = attachment(dev, layers=2 if given.get("view_mask") else 1)
    with pytest.raises(tg.ValidationError, match=f"pass 'a': .*{message}"):
        run(dev, lambda rp: rp.clear((1, 0, 0, 1), **clear), color=color, **given)


def test_clears_of_secondaries_stay_within_the_pass(dev: tg.Device) -> None:
    def part(**clear: Any) -> tg.SecondaryCommandBuffer:
        with dev.secondary(color=[COLOR]) as made:
            made.clear((1, 0, 0, 1), **clear)
        return made

    with pytest.raises(tg.ValidationError, match=r"rect of clear is 9x8 px at \(0, 0\), .* 8x8 px at \(0, 0\)"):
        run(dev, lambda rp: rp.execute_commands(part(rect=(0, 0, 9, 8))))
    with pytest.raises(tg.ValidationError, match="layers of clear is all from 3"):
        run(dev, lambda rp: rp.execute_commands(part(layer=3)))
    with pytest.raises(tg.ValidationError, match=r"rect of clear is 4x4 px at \(-2, 0\)"):
        part(rect=(-2, 0, 4, 4))
    image = dev.image((8, 8), COLOR)
    run(dev, lambda rp: rp.execute_commands(part()), color=tg.Attachment(image, clear=(0, 0, 0, 0)), area=(2, 2, 4, 4))
    dev.clear(image, (0, 0, 0, 0))
    run(dev, lambda rp: rp.execute_commands(part()), color=image, area=(2, 2, 4, 4))
    assert int((image.numpy()[..., 0] == 255).sum()) == 16  # all of the area, whatever it is


# --------------------------------------------------------------------------------------------- resolves and attachments


def resolved(dev: tg.Device, format_: str, mode: str, name: str = "color") -> None:
    run(dev, **{name: attachment(dev, format_, samples=4, resolve=dev.image((8, 8), format_), resolve_mode=mode)})


@pytest.mark.parametrize("mode", ["sample_zero", "min", "max"])
def test_colours_are_averaged(dev: tg.Device, mode: str) -> None:
    with pytest.raises(tg.ValidationError, match=rf"pass 'a': color0.resolve_mode is {mode}, allowed is average, for colours"):
        resolved(dev, COLOR, mode)
    if mode != "sample_zero":
        with pytest.raises(tg.ValidationError, match=f"color0.resolve_mode is {mode}, allowed is sample_zero, for integers"):
            resolved(dev, "r8_uint", mode)
    resolved(dev, "d32_sfloat", mode, "depth")
    resolved(dev, "s8_uint", mode, "stencil")


def test_other_resolves(dev: tg.Device) -> None:
    resolved(dev, COLOR, "average")
    resolved(dev, "r8_uint", "sample_zero")
    resolved(dev, "d32_sfloat", "average", "depth")
    with pytest.raises(tg.ValidationError, match="resolve_mode is 'none' beside resolve=; leave both out"):
        resolved(dev, COLOR, "none")
    with pytest.raises(tg.ValidationError, match="average"):
        resolved(dev, "s8_uint", "average", "stencil")


def test_depth_and_stencil_are_one_image(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="image of depth and stencil is image '8x8 d32_sfloat', layer 0 and image '8x8 s8"):
        run(dev, depth=attachment(dev, "d32_sfloat"), stencil=attachment(dev, "s8_uint"))
    both = dev.image((8, 8), BOTH, layers=2)
    of = [tg.Attachment(both, clear=0, layer=layer) for layer in (0, 1)]
    with pytest.raises(tg.ValidationError, match=r"layer 0 and image .*, layer 1, allowed is one image, level and layer for both"):
        run(dev, depth=of[0], stencil=of[1])
    run(dev, depth=of[1], stencil=of[1])
    many, ones = dev.image((8, 8), BOTH, samples=4), [dev.image((8, 8), BOTH, label=f"one{k}") for k in range(2)]
    with pytest.raises(tg.ValidationError, match="resolve of depth and stencil is image 'one0', layer 0 and image 'one1'"):
        run(dev, depth=tg.Attachment(many, clear=0, resolve=ones[0]), stencil=tg.Attachment(many, clear=0, resolve=ones[1]))
    run(dev, depth=tg.Attachment(many, clear=0, resolve=ones[0]), stencil=tg.Attachment(many, clear=0, resolve=ones[0]))
    with pytest.raises(tg.ValidationError, match="pipeline 'p': depth has format d32_sfloat and stencil s8_uint; where a pass has both"):
        dev.pipeline(COVER, depth="d32_sfloat", stencil="s8_uint", label="p")


def test_formats_of_depth_that_nothing_tests(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="depth has format none in the pass and d32_sfloat in the pipeline"):
        draw(dev, depth="d32_sfloat", depth_test=False)
    for given, formats in (({"stencil": attachment(dev, "s8_uint")}, {}), ({}, {"stencil": "s8_uint"})):
        with pytest.raises(tg.ValidationError, match=r"stencil has format .* in the pass and .* in the pipeline; they must be the same"):
            draw(dev, {"color": attachment(dev), **given}, **formats)


# ------------------------------------------------------------------------------------------------- draws and pipelines


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: pipeline(d, samples=4, sample_shading=2.0), "sample_shading is 2.0; it must be True, False, or the least share, 0 to 1"),
        (lambda d: pipeline(d, samples=4, sample_shading=-1), "sample_shading is -1; "),
        (lambda d: pipeline(d, samples=4, sample_shading=float("nan")), "sample_shading is nan; "),
        (lambda d: pipeline(d, topology="line_list", line_width=0), "line_width is 0; it must be a number of pixels above 0"),
        (lambda d: pipeline(d, topology="line_list", line_width=float("nan")), "line_width is nan; "),
        (lambda d: run(d, lambda rp: rp.set(line_width=-1)), "set: line_width is -1; "),
        (lambda d: run(d, lambda rp: rp.set(sample_mask=-2)), "set: sample_mask is -2; "),
        (lambda d: run(d, lambda rp: rp.set(sample_mask=1 << 40)), "set: sample_mask is 1099511627776; "),
        (lambda d: pipeline(d, stencil="s8_uint", stencil_test={"reference": 300}), "reference is 300; it must be 0 to 255"),
        (lambda d: fields(d, stride=-8), "stride of vertex binding 0 is -8; it must not be negative"),
        (lambda d: fields(d, stride="x"), "stride of vertex binding 0 is 'x'; it must be a whole number"),
        (lambda d: fields(d, stride=1 << 40), "stride of vertex binding 0 is 1099511627776; it must not be above"),
        (lambda d: fields(d, offset=-4), "vertex attribute at location 0: offset is -4; it must not be negative"),
        (lambda d: fields(d, divisor=3), "vertex binding 0 has divisor 3; that is for rate='instance'"),
        (lambda d: fields(d, attributes=[(0, "r32g32_sfloat")]), r"binding 0 is \(0, 'r32g32_sfloat'\); it must be a list"),
        (lambda d: fields(d, attributes=[(0, "r32g32_sfloat", 0), (70, "r32_sfloat", 0)]), "at location 70: locations go from 0 to 15"),
        (lambda d: pipeline(d, vert=DISTANCES), "vertex shader has 5 clip distances and 5 cull distances; at most 8 together are allowed"),
        (lambda d: draw(d, viewport=[(0, 0, 8, 8)] * 2, scissor=[(0, 0, 8, 8)] * 3), "there are 2 viewports and 3 scissors; give as many"),
        (lambda d: draw(d, scissor=[(0, 0, 8, 8)] * 3), "there is 1 viewport and 3 scissors; give as many"),
        (lambda d: draw(d, scissor=((1 << 31) - 1, 0, 4, 4)), "it must end within 31 bits"),
        (lambda d: indexed(d, 32, 2, 12), "indices begin at byte 2 of buffer 'i'; it must be a multiple"),
        (lambda d: indexed(d, np.zeros(8, "u2"), 1, 6), "buffer 'i': offset of slice is 1, in bytes, within a number of 2 bytes"),
    ],
)  # fmt: skip
def test_state_that_vulkan_forbids(dev: tg.Device, call: Misuse, message: str) -> None:
    with pytest.raises(tg.ValidationError, match=message):
        call(dev)


DISTANCES = """#version 450
out float gl_ClipDistance[5]; out float gl_CullDistance[5];
void main() { gl_Position = vec4(0); for (int i = 0; i < 5; i++) gl_ClipDistance[i] = gl_CullDistance[i] = 0.0; }"""
FIELDS = "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"


def pipeline(dev: tg.Device, vert: str = COVER, **state: Any) -> tg.Pipeline:
    return dev.pipeline(vert, WHITE, color=[COLOR], **state)


def fields(dev: tg.Device, stride: Any = 8, offset: Any = 0, divisor: int = 1, attributes: Any = None) -> None:
    given = [(0, "r32g32_sfloat", offset)] if attributes is None else attributes
    pipeline(dev, FIELDS, vertex=tg.VertexBinding(stride, given, "vertex", divisor))


def indexed(dev: tg.Device, indices: Any, offset: int, size: int) -> None:
    draw(dev, indices=dev.buffer(indices, label="i").slice(offset, size))


# ---------------------------------------------------------------------------------------------------------- descriptors


@pytest.mark.parametrize("kind", ["uniform", "buffer"])
def test_offsets_of_buffers_in_sets(dev: tg.Device, kind: str) -> None:
    frag = f"#version 450\nlayout(binding = 0) {kind} U {{ vec4 c; }} u; layout(location = 0) out vec4 o; void main() {{ o = u.c; }}"
    with pytest.raises(tg.ValidationError, match="the slice begins at byte 3 of buffer 'buffer'; it must be a multiple of 4"):
        draw(dev, frag=frag, bind={"U": dev.buffer(64).slice(3, 16)})
    draw(dev, frag=frag, bind={"U": dev.buffer(64).slice(4, 16)})


SAMPLED = "#version 450\nlayout(binding = 0) uniform {} s; layout(location = 0) out vec4 o; void main() {{ o = vec4({}); }}"


@pytest.mark.parametrize(
    ("kind", "code", "image", "message"),
    [
        ("sampler3D", "textureLod(s, vec3(0), 0)", {"size": (8, 8, 8)}, "the view of image '8x8x8 .*' is 3d; bind one that is 1d or 2d"),
        ("sampler2DArray", "textureLod(s, vec3(0), 0)", {"layers": 2}, "is 2d_array; bind one that is 1d or 2d"),
        ("samplerCube", "textureLod(s, vec3(1), 0)", {"cube": True}, "is cube; bind one that is 1d or 2d"),
        ("sampler2D", "texture(s, vec2(0))", {}, "samples with implicit level of detail, projection or comparison; use textureLod"),
        ("sampler2D", "textureProjLod(s, vec3(0, 0, 1), 0)", {}, "the shader samples with implicit level of detail, projection"),
        ("sampler2D", "textureLodOffset(s, vec2(0), 0, ivec2(1))", {}, "the shader samples with texel offsets; add them"),
        ("sampler2D", "textureLod(s, vec2(0), 0)", {"mip_levels": 2}, "has 2 levels; bind a view of one"),
        ("sampler2D", "textureLod(s, vec2(0), 0)", {}, ""),
    ],
)
def test_samplers_of_unnormalised_coordinates(dev: tg.Device, kind: str, code: str, image: dict[str, Any], message: str) -> None:
    sampler = dev.sampler(unnormalized_coordinates=True, filter="nearest", max_lod=0, address="clamp_to_edge")
    given = {"frag": SAMPLED.format(kind, code), "bind": {"s": (full(dev, **image), sampler)}}
    if not message:
        draw(dev, **given)
        return
    with pytest.raises(tg.ValidationError, match="'s' .*: its sampler has unnormalized_coordinates, and .*" + message):
        draw(dev, **given)


def test_views_of_two_aspects_are_not_sampled(dev: tg.Device) -> None:
    image, frag = full(dev, BOTH, label="z"), SAMPLED.format("sampler2D", "texture(s, vec2(0))")
    with pytest.raises(tg.ValidationError, match="has a view of depth and stencil of 'z'; make a view of one of them"):
        draw(dev, frag=frag, bind={"s": (image.view(), dev.sampler(filter="nearest"))})
    draw(dev, frag=frag, bind={"s": (image.view(aspect="depth"), dev.sampler(filter="nearest"))})


# ---------------------------------------------------------------------------------------------------- transform feedback


def test_what_is_captured_has_a_place(dev: tg.Device) -> None:
    def captured(vert: str, **to: Any) -> None:
        pipe = dev.pipeline(vert, WHITE, color=[COLOR], label="p")

        def record(rp: tg.RenderPass) -> None:
            with rp.transform_feedback(**to):
                rp.draw(pipe, count=3)

        run(dev, record)

    with pytest.raises(tg.ValidationError, match="'p': transform feedback is active, and no shader of the pipeline says what is captured"):
        captured(COVER, buffers=dev.buffer(64))
    with pytest.raises(tg.ValidationError, match="and the shader captures to xfb_buffer 1, and no buffer is bound there"):
        captured(CAPTURES.replace("xfb_buffer = 0", "xfb_buffer = 1"), buffers=dev.buffer(64))
    with pytest.raises(tg.ValidationError, match="the offset of buffer 0 is 64; multiples of 4 below its size, 64, are allowed"):
        captured(CAPTURES, buffers=dev.buffer(64).slice(64, 0))
    captured(CAPTURES, buffers=dev.buffer(64))


def test_right_programs_are_silent(dev: tg.Device) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(dev)
        both = full(dev, BOTH)
        draw(dev, {"color": attachment(dev), "depth": both, "stencil": both}, depth=BOTH, stencil=BOTH)
