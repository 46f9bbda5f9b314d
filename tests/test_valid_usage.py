"""What Vulkan's validation layers call an error, by the rule's name: an error here, before anything is executed.

Rules of pipelines, draws, descriptors, copies and queries that the other files of misuse (test_forbidden, test_nothing_silent, ...) don't
have; and each row of the table of ``docs/undefined.md`` that says what tilegpu has in their place: a warning, an error where the device is
strict, and the result.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

PAGE = (Path(__file__).parent.parent / "docs" / "undefined.md").read_text(encoding="utf-8")
COLOR = "r8g8b8a8_unorm"
COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
TWO = WHITE.replace("void main() {", "layout(location = 1) out vec4 p; void main() { p = vec4(1);")
POSITION = "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
GEOMETRY = """#version 450
layout(triangles) in; layout(MADE, max_vertices = 3) out;
void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position; EmitVertex(); } }"""
CONTROL = """#version 450
layout(vertices = 3) out; layout(location = 0) out VARYING c[];
void main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; c[gl_InvocationID] = VARYING(1);
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1.0; }"""
EVALUATION = """#version 450
layout(triangles) in; layout(location = 0) in VARYING c[]; layout(location = 0) out vec4 d;
void main() { gl_Position = gl_in[0].gl_Position; d = vec4(c[0], vec4(1)); }"""
LAYER = "#version 450\n#extension GL_ARB_shader_viewport_layer_array : require\nvoid main() { gl_Layer = 1; gl_Position = vec4(0); }"
SENDS = "#version 450\nlayout(location = AT) HOW out KIND c; void main() { c = KIND(1); gl_Position = vec4(0); }"
TAKES = "#version 450\nlayout(location = 0) HOW in KIND c; layout(location = 0) out vec4 o; void main() { o = vec4(BODY); }"
SAMPLES = "#version 450\nlayout(binding = 0) uniform KIND s; layout(location = 0) out vec4 o; void main() { o = vec4(CODE); }"
CAPTURES = """#version 450
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16, location = 0) out vec4 c; void main() { c = vec4(1); gl_Position = vec4(0); }"""
Misuse = Callable[[tg.Device], Any]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def image(dev: tg.Device, format_: str = COLOR, size: tuple[int, ...] = (8, 8), **options: Any) -> tg.Image:
    """One that was cleared."""
    made = dev.image(size, format_, **options)
    depth = made.format_info.is_depth_stencil
    dev.clear(made, **dict.fromkeys(made.format_info.aspects, 0)) if depth else dev.clear(made, (0, 0, 0, 0))
    return made


def pipe(dev: tg.Device, vert: str = COVER, frag: str | None = WHITE, **state: Any) -> tg.Pipeline:
    return dev.pipeline(vert, frag, **{"color": [COLOR], "label": "p", **state})


def run(dev: tg.Device, record: Callable[[tg.RenderPass], Any], count: int = 1, **given: Any) -> None:
    layers = 2 if given.get("view_mask") else 1
    color = [tg.Attachment(dev.image((8, 8), COLOR, layers=layers), clear=(0, 0, 0, 0)) for _ in range(count)]
    with dev.render_pass(color, label="a", **given) as rp:
        record(rp)


def draw(dev: tg.Device, given: dict[str, Any] | None = None, rp: Any = None, **state: Any) -> None:
    """A draw by a pipeline of this state; ``rp``: states that the pass sets."""
    own = {key: state.pop(key) for key in ("bind", "indices", "vertices", "count") if key in state}
    if "vertices" not in own:
        own.setdefault("count", 3)
    made = pipe(dev, **state)

    def record(within: tg.RenderPass) -> None:
        within.set(**rp or {})
        within.draw(made, own.pop("vertices", None), **own)

    run(dev, record, len(state.get("color", [1])), **given or {})


def stage(kind: str, sent: str, body: str) -> dict[str, str]:
    flat = "flat" if "int" in kind + sent else ""
    vert, frag = SENDS.replace("KIND", sent).replace("AT", "0"), TAKES.replace("KIND", kind).replace("BODY", body)
    return {"vert": vert.replace("HOW", flat), "frag": frag.replace("HOW", flat)}


def tessellated(sent: str, read: str) -> dict[str, str]:
    return {
        "tessellation_control": CONTROL.replace("VARYING", sent),
        "tessellation_evaluation": EVALUATION.replace("VARYING", read).replace("vec4(c[0], vec4(1))", "vec4(c[0])"),
    }


def sampled(dev: tg.Device, view: Any, code: str, kind: str = "sampler2D", **sampler: Any) -> None:
    draw(dev, frag=SAMPLES.replace("KIND", kind).replace("CODE", code), bind={"s": (view, dev.sampler(**sampler))})


def nested(dev: tg.Device, begin: Callable[[tg.RenderPass], Any]) -> None:
    def record(rp: tg.RenderPass) -> None:
        with begin(rp):
            rp.draw(pipe(dev), count=3)
        query = begin(rp)
        with query:
            rp.draw(pipe(dev), count=3)
        with query:
            rp.draw(pipe(dev), count=3)

    run(dev, record)


def two_statistics(rp: tg.RenderPass) -> None:
    with rp.statistics(), rp.statistics():
        pass


UINT, SINT, BOTH = "r8g8b8a8_uint", "r8g8b8a8_sint", "d24_unorm_s8_uint"
PLACES = [(0.25, 0.25), (0.5, 0.5), (0.75, 0.75), (0, 0)]
EXPLICIT = tg.VertexBinding(8, [(0, "r32g32_sfloat", 0)])
BORDER = {"address": "clamp_to_border", "filter": "nearest"}
BUFFER = "#version 450\nlayout(binding = 0) buffer B { vec4 b; }; void main() { b = vec4(1); }"
DUAL = """#version 450
layout(location = 0, index = 0) out vec4 o; layout(location = 0, index = 1) out vec4 p; layout(location = 1) out vec4 q;
void main() { o = p = q = vec4(1); }"""
DUAL_BLEND = {"src_color": "src1_color", "dst_color": "one_minus_src1_color"}

#: The rule (VUID-...), the misuse, what its message says.
RULES: list[tuple[str, Misuse, str]] = [
    ("VkImageCreateInfo-imageCreateMaxMipLevels-02251", lambda d: d.image((8, 8, 8), "d32_sfloat"), "size has three numbers; depth"),
    ("VkImageViewCreateInfo-image-04441", lambda d: d.image((8, 8), COLOR, usage="transfer_src|transfer_dst").view(), "usage is of copies"),
    # samplers
    ("vkCmdDraw-mipmapMode-04770",
     lambda d: sampled(d, image(d, UINT, mip_levels=2), "texture(s, vec2(0))", "usampler2D", min_filter="nearest", mag_filter="nearest",
                       mipmap_mode="linear"), "format r8g8b8a8_uint, which can't be filtered"),
    ("vkCmdDraw-magFilter-04553",
     lambda d: sampled(d, image(d, BOTH).view(aspect="stencil"), "texture(s, vec2(0))", "usampler2D", filter="linear"),
     "of which stencil is read, which can't be filtered"),
    ("VkSamplerCustomBorderColorCreateInfoEXT-format-07605",
     lambda d: sampled(d, image(d), "texture(s, vec2(2))", **BORDER, border_color=(1, 0, 0, 1)),
     r"border_color is of ints, .* no integers"),
    ("VkSamplerCustomBorderColorCreateInfoEXT-format-07605",
     lambda d: sampled(d, image(d, UINT), "texture(s, vec2(2))", "usampler2D", **BORDER, border_color="float_opaque_white"),
     "border_color is of floats, and image .* holds integers"),
    ("vkCmdDraw-format-07753", lambda d: sampled(d, image(d, SINT), "texture(s, vec2(0))", "usampler2D", filter="nearest"),
     "reads uint, and the texels are sint; declare isampler2D"),
    ("vkCmdDraw-format-07753", lambda d: sampled(d, image(d, UINT), "texture(s, vec2(0))", "isampler2D", filter="nearest"),
     "reads int, and the texels are uint; declare usampler2D"),
    # descriptors
    ("VkDescriptorBufferInfo-offset-00340",
     lambda d: d.dispatch(d.compute_pipeline(BUFFER), 1, bind={"B": d.buffer(64).slice(64, 0)}),
     "has 0 bytes; a descriptor has at least 1"),
    ("VkDescriptorBufferInfo-range-00341",
     lambda d: d.dispatch(d.compute_pipeline(BUFFER), 1, bind={"B": d.buffer(64).slice(0, 0)}), "has 0 bytes"),
    # between stages
    ("RuntimeSpirv-OpEntryPoint-08743", lambda d: pipe(d, **tessellated("vec3", "vec4")),
     r"tessellation evaluation shader reads 'c' .* as vec4.*, which the tessellation control shader writes as vec3"),
    ("RuntimeSpirv-OpEntryPoint-07754", lambda d: pipe(d, **stage("uint", "int", "c")), "as uint, which the vertex shader writes as int"),
    ("RuntimeSpirv-Location-06272", lambda d: pipe(d, SENDS.replace("KIND", "vec4").replace("HOW", "").replace("AT", "40")),
     "writes 'c' at location 40; between stages locations go from 0 to 31"),
    ("RuntimeSpirv-OpImage-06377", lambda d: pipe(d, frag=SAMPLES.replace("KIND", "sampler2D").replace(
        "CODE", "textureGatherOffset(s, vec2(0), ivec2(0, 8))")), "texel offset of 8; -8 to 7"),
    ("RuntimeSpirv-Offset-06344", lambda d: pipe(d, **stage("vec4", "vec4", "interpolateAtOffset(c, vec2(0, -0.75))")),
     "interpolateAtOffset of -0.75 px; -0.5 to 0.4375"),
    ("RuntimeSpirv-Fragment-06427", lambda d: pipe(d, frag=DUAL, color=[COLOR, COLOR], blend=[DUAL_BLEND, None]),
     r"blend\[0\] takes a second source \(src1\), and the fragment shader writes location 1 too \('q'\)"),
    # pipelines
    ("VkGraphicsPipelineCreateInfo-rasterizationStream-02319", lambda d: pipe(d, rasterization_stream=1), "there is no geometry shader"),
    ("VkGraphicsPipelineCreateInfo-rasterizationStream-02319",
     lambda d: pipe(d, geometry=GEOMETRY.replace("MADE", "triangle_strip"), rasterization_stream=2), "shader emits nothing to it"),
    ("VkGraphicsPipelineCreateInfo-conservativePointAndLineRasterization-06759",
     lambda d: pipe(d, topology="line_strip", conservative="overestimate"), "conservative is for triangles, and topology is line_strip"),
    ("VkGraphicsPipelineCreateInfo-conservativePointAndLineRasterization-06760",
     lambda d: pipe(d, geometry=GEOMETRY.replace("MADE", "points"), conservative="underestimate"), "the geometry shader makes points"),
    ("vkCmdDraw-conservativePointAndLineRasterization-07499",
     lambda d: draw(d, topology="point_list", dynamic=["conservative_rasterization_mode"],
                    rp={"conservative_rasterization_mode": "overestimate"}), "and topology is point_list"),
    ("VkPipelineDepthStencilStateCreateInfo", lambda d: pipe(d, depth_bounds=(0, 1)), "depth= names no format"),
    ("VkSampleLocationsInfoEXT-sampleLocationsCount-01527", lambda d: pipe(d, samples=4, sample_locations=PLACES[:2]),
     "has 2 places, and samples is 4; give one for each"),
    ("VkSampleLocationsInfoEXT-sampleLocationsPerPixel-01526", lambda d: pipe(d, sample_locations=PLACES[:1]), "samples is 1; give"),
    ("vkCmdDraw-sampleLocationsPerPixel-07482",
     lambda d: draw(d, {"samples": 4}, samples=4, sample_locations=PLACES, dynamic=["sample_locations"],
                    rp={"sample_locations": PLACES[:2]}), "has 2 places, and samples is 4"),
    # draws
    ("VkGraphicsPipelineCreateInfo-renderPass-06059", lambda d: draw(d, {"view_mask": 3}, vert=LAYER), "has views .* names gl_Layer"),
    ("vkCmdDraw-viewportCount-03419",
     lambda d: draw(d, dynamic=["viewport", "scissor"], rp={"viewport": [(0, 0, 8, 8)] * 2, "scissor": (0, 0, 8, 8)}),
     r"set are 2 viewport\(s\) and 1 scissor\(s\); give as many"),
    ("vkCmdDraw-attachmentCount-07750",
     lambda d: draw(d, frag=TWO, color=[COLOR, COLOR], dynamic=["color_write_enable"], rp={"color_write_enable": [True]}),
     "color_write_enable has 1 entry; there are 2 colour attachments"),
    ("vkCmdDraw-None-02721", lambda d: draw(d, vert=POSITION, vertex=EXPLICIT, vertices=d.buffer(16), count=3),
     "count=3 reaches vertex 2; there are 2 vertices"),
    ("vkCmdDrawIndirectByteCountEXT-vertexStride-09475",
     lambda d: run(d, lambda rp: rp.draw_indirect(pipe(d), d.buffer(16), byte_count=6)), "byte_count is 6; .* multiples of 4"),
    ("vkCmdBeginQuery-queryPool-01922", lambda d: run(d, two_statistics), "another query of statistics is active"),
    ("vkCmdBeginQuery-None-00807", lambda d: nested(d, lambda rp: rp.query()), "was begun before; make a new one"),
    ("vkCmdBeginQuery-None-00807", lambda d: nested(d, lambda rp: rp.statistics()), "was begun before; make a new one"),
    ("VkCommandBufferInheritanceRenderingInfo-depthAttachmentFormat-06200", lambda d: d.secondary(depth="d32_sfloat", stencil="s8_uint"),
     "depth is d32_sfloat and stencil s8_uint; where a pass has both they are one image"),
    # copies: what has no meaning for the two sides
    ("VkBufferImageCopy", lambda d: d.copy(d.buffer(64), d.buffer(64), row_length=4), "row_length is given, and both are buffers"),
    ("VkBufferImageCopy", lambda d: d.copy(d.buffer(64), d.buffer(64), extent=(1, 1)), "extent is given, and both are buffers"),
    ("VkBufferImageCopy", lambda d: d.copy(image(d), image(d), image_height=8), "image_height is given, and both are images"),
    ("VkBufferImageCopy", lambda d: d.copy(image(d), image(d), size=4), "size is given, and both are images"),
    ("VkBufferImageCopy", lambda d: d.copy(image(d), d.buffer(256), size=4), "size is given, and one is an image"),
    ("VkBufferImageCopy", lambda d: d.copy(d.buffer(256), image(d), source_level=1), "source_level is given, and the source is a buffer"),
    ("VkBufferImageCopy", lambda d: d.copy(image(d), d.buffer(256), destination_pos=(1, 0)), "destination_pos is given, and the dest"),
    ("VkBufferImageCopy", lambda d: d.copy(image(d), image(d), destination_offset=4), "destination_offset is given, and the destination"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), [pytest.param(*rule[1:], id=f"{i}-{rule[0]}") for i, rule in enumerate(RULES)])
def test_rules(dev: tg.Device, call: Misuse, message: str) -> None:
    with pytest.raises(tg.ValidationError, match=message):
        call(dev)


def test_right_programs_are_silent(dev: tg.Device) -> None:
    strict = tg.Device(threads=1, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe(dev, **stage("vec2", "vec4", "c, c"))
        pipe(dev, **tessellated("vec4", "vec4"))
        pipe(dev, **stage("vec4", "vec4", "interpolateAtOffset(c, vec2(-0.5, 0.4375))"), samples=4)
        pipe(dev, samples=4, sample_locations=PLACES)
        streams = GEOMETRY.replace("MADE", "points").replace("EmitVertex()", "EmitStreamVertex(1)")
        pipe(dev, geometry=streams, rasterization_stream=1)
        sampled(dev, image(dev), "texture(s, vec2(2))", **BORDER, border_color=(1.0, 0.0, 0.0, 1.0))
        sampled(dev, image(dev, UINT), "texture(s, vec2(2))", "usampler2D", **BORDER, border_color=(1, 0, 0, 1))
        draw(dev, vert=POSITION, vertex=EXPLICIT, vertices=dev.buffer(24), count=3)
        draw(strict, vert=POSITION, vertex=np.dtype(("f4", 2)), vertices=np.zeros((3, 2), "f4"))
        strict.copy(np.ones((8, 8), "f4"), strict.image((8, 8), "d32_sfloat"))
        nested_once = pipe(dev)
        run(dev, lambda rp: rp.draw(nested_once, count=3))


# ------------------------------------------------------------------------------- what Vulkan forbids and tilegpu has


def another_devices(dev: tg.Device) -> None:
    other = tg.Device(threads=1)
    texture = other.texture(np.full((2, 2, 4), 255, "u1"))
    out = dev.image((4, 4), COLOR)
    frag = SAMPLES.replace("KIND", "sampler2D").replace("CODE", "texture(s, vec2(0))")
    with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.draw(pipe(dev, frag=frag), count=3, bind={"s": texture})
    assert out.numpy().min() == 255


def others(use: Callable[[tg.Device, tg.Device], Any]) -> Misuse:
    return lambda dev: use(dev, tg.Device(threads=1))


PARAMETERS = np.array([[3, 1, 0, 0]], "u4")


def captured(rp: tg.RenderPass, dev: tg.Device, buffer: tg.Buffer) -> None:
    captures = "layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out gl_PerVertex { vec4 gl_Position; };"
    vert = COVER.replace("#version 450", f"#version 450\n{captures}")
    with rp.transform_feedback(buffer):
        rp.draw(pipe(dev, vert=vert), count=3)


def conditional(rp: tg.RenderPass, buffer: tg.Buffer) -> None:
    with rp.conditional(buffer):
        pass


def own_framebuffer(dev: tg.Device, **pieces: Any) -> None:
    dev.framebuffer(tg.FramebufferLayout([COLOR], size=(8, 8)), **pieces)


#: Other ways to what a row says, each to be said.
MORE_OF_SHARING: list[Misuse] = [
    others(lambda d, o: d.copy(o.buffer(np.zeros(4, "f4")), d.buffer(16))),
    others(lambda d, o: d.copy(d.buffer(256), o.image((8, 8), COLOR))),
    others(lambda d, o: d.clear(o.image((8, 8), COLOR), (0, 0, 0, 0))),
    others(lambda d, o: d.blit(image(o), image(d))),
    others(lambda d, o: d.resolve(image(o, samples=4), image(d))),
    others(lambda d, o: d.generate_mipmaps(image(o, mip_levels=2))),
    others(lambda d, o: d.dispatch(d.compute_pipeline(BUFFER), 1, bind={"B": o.buffer(16)})),
    others(lambda d, o: draw(d, vert=POSITION, vertex=np.dtype(("f4", 2)), vertices=o.buffer(np.zeros((3, 2), "f4")), count=3)),
    others(lambda d, o: draw(d, indices=o.buffer(np.arange(3, dtype="u4")))),
    others(lambda d, o: run(d, lambda rp: rp.draw_indirect(pipe(d), o.buffer(np.array([3, 1, 0, 0], "u4"))))),
    others(lambda d, o: d.render_pass(tg.Attachment(o.image((8, 8), COLOR), clear=(0, 0, 0, 0))).__enter__()),
    others(lambda d, o: d.descriptor_set(d.compute_pipeline(BUFFER), bind={"B": o.buffer(16)})),
    others(lambda d, o: d.dispatch(d.compute_pipeline(BUFFER), 1, bind={"B": d.buffer(16)}, condition=o.buffer(np.ones(1, "u4")))),
    others(lambda d, o: d.dispatch_indirect(d.compute_pipeline(BUFFER), o.buffer(np.ones(3, "u4")), bind={"B": d.buffer(16)})),
    others(lambda d, o: run(d, lambda rp: conditional(rp, o.buffer(np.ones(1, "u4"))))),
    others(lambda d, o: run(d, lambda rp: rp.draw_indirect(pipe(d), PARAMETERS, draw_count=o.buffer(np.ones(1, "u4"))))),
    others(lambda d, o: run(d, lambda rp: captured(rp, d, o.buffer(64)))),
    others(lambda d, o: own_framebuffer(d, load={"color0": tg.Load(image(o))})),
    others(lambda d, o: own_framebuffer(d, store={"color0": image(o)})),
    others(lambda d, o: own_framebuffer(d, resolve={"color0": tg.Resolve(image(o))})),
]


def packed(dev: tg.Device, pad: str = "u1") -> None:
    dtype = np.dtype([("id", pad), ("position", "f4", 2)])
    vertices = np.zeros(3, dtype)
    vertices["position"] = (-1, -1), (3, -1), (-1, 3)
    out = dev.image((4, 4), COLOR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=tg.UnusedNameWarning)  # 'id', which no shader reads
        made = dev.pipeline(POSITION, WHITE, vertex=dtype, color=[COLOR])
    with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(made, vertices)
    assert out.numpy().min() == 255


def deep(dev: tg.Device, how: str = "copy") -> None:
    values, to = np.array([[5.0, -1.0], [np.inf, 0.25]], "f4"), dev.image((2, 2), "d32_sfloat")
    if how == "write":
        to.write(values)
    else:
        dev.copy(values if how == "copy" else dev.buffer(values), to)
    assert np.array_equal(to.numpy()[..., 0], values)


def at_samples(dev: tg.Device, dynamic: str = "") -> None:
    """The second sample lies where the column's number is a whole one: there the input, which is x in pixels, is too."""
    vert = COVER.replace("void main() {", "layout(location = 0) out float x; void main() {").replace("1); }", "1); x = p.x * 8; }")
    frag = "layout(location = 0) in float x; layout(location = 0) out vec4 o; void main() { o = vec4(interpolateAtSample(x, 1)); }"
    many, out = dev.image((8, 8), "r32_sfloat", samples=4), dev.image((8, 8), "r32_sfloat")
    places, state = [(0.5, 0.5), (0, 0), *PLACES[:2]], {"dynamic": [dynamic]} if dynamic else {}
    made = dev.pipeline(vert, f"#version 450\n{frag}", color=["r32_sfloat"], samples=4, sample_locations=places, **state)
    with dev.render_pass(tg.Attachment(many, clear=(9, 0, 0, 0), resolve=out)) as rp:
        if dynamic:
            rp.set(sample_locations=places)
        rp.draw(made, count=3)
    assert np.array_equal(out.numpy()[:, :, 0], np.tile(np.arange(8, dtype="f4"), (8, 1)))


def part_bound(dev: tg.Device, block: str = "uniform", sets: bool = False) -> None:
    """A row of three numbers that begins at byte 12, in a draw or in a dispatch."""
    rows, result = dev.buffer(np.arange(12, dtype="f4").reshape(4, 3)), dev.buffer(np.zeros(3, "f4"))
    text = f"layout(binding = 0) {block} U {{ float a, b, c; }}; layout(binding = 1) buffer R {{ float r[]; }};"
    kernel = dev.compute_pipeline(f"#version 450\n{text}\nvoid main() {{ r[0] = a; r[1] = b; r[2] = c; }}")
    bind: dict[str, Any] = {"U": rows.slice(12, 12), "R": result}
    dev.dispatch(kernel, 1, **({"sets": {0: dev.descriptor_set(kernel, bind=bind)}} if sets else {"bind": bind}))
    assert result.numpy("f4").tolist() == [3, 4, 5]


SET: dict[str, tuple[Any, Any]] = {
    "cull_mode": ("front_and_back", "none"),
    "viewport": ((0, 0, 1, 8), (0, 0, 8, 8)),
    "stencil_reference": (1, 2),
}


def between(dev: tg.Device, name: str = "cull_mode", behind: str = "", executed: int = 1) -> None:
    """A draw that the state keeps from the last pixel, behind secondary command buffers; ``behind``: what is said of the state there."""
    out, both = dev.image((8, 8), COLOR), dev.image((8, 8), "d32_sfloat_s8_uint")
    formats = {"color": [COLOR], "stencil": both.format}
    wanted = {"stencil_test": {"compare": "equal"}} if name == "stencil_reference" else {}
    made = dev.pipeline(COVER, WHITE, **formats, dynamic=[name], **wanted)
    with dev.secondary(**formats) as part:
        part.set(**{name: SET[name][1]})
        part.draw(made, count=3, scissor=(0, 0, 1, 1))
    with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0)), stencil=tg.Attachment(both, clear=2)) as rp:
        rp.set(**{name: SET[name][0]})
        if executed:
            rp.execute_commands(*[part] * executed)
        if behind == "again":
            rp.set(**{name: SET[name][0]})
        if behind == "fixed":
            rp.draw(dev.pipeline(COVER, WHITE, **formats), count=3, scissor=(0, 0, 1, 1))
        else:
            rp.draw(made, count=3, **({name: SET[name][0]} if behind == "draw" else {}))
    assert out.numpy()[7, 7, 1] == 0


EXTENSIONS: dict[str, list[Misuse]] = {
    "commonparent": [another_devices, *MORE_OF_SHARING],
    "attribAddress": [packed, lambda d: draw(d, vert=POSITION, vertex=EXPLICIT, vertices=d.buffer(64).slice(2, 24), count=3)],
    "VUID-VkWriteDescriptorSet-descriptorType-00327": [
        part_bound,
        lambda d: part_bound(d, "readonly buffer"),
        lambda d: part_bound(d, sets=True),
        lambda d: part_bound(d, "buffer", sets=True),
    ],
    "VUID-VkVertexInputBindingDescription-stride-00619": [lambda d: packed(d, "V2096")],
    "VUID-vkCmdDraw-sampleLocationsEnable-07487": [at_samples, lambda d: at_samples(d, "sample_locations")],
    "vkCmdExecuteCommands": [between, lambda d: between(d, "viewport"), lambda d: between(d, "stencil_reference")],
    "VUID-VkCopyBufferToImageInfo2-None-00214": [deep, lambda d: deep(d, "write"), lambda d: deep(d, "buffer")],
}


def rows_of_the_page() -> list[str]:
    table = PAGE.partition("## What Vulkan forbids and tilegpu has")[2]
    first = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ") and not line.startswith("| rule")]
    return [re.sub(r"[` ,].*$", "", cell.lstrip("`")) for cell in first]


def test_the_page_has_every_extension() -> None:
    assert rows_of_the_page() == list(EXTENSIONS)


@pytest.mark.parametrize(("row", "way"), [(row, k) for row, ways in EXTENSIONS.items() for k in range(len(ways))])
def test_extensions_are_said(dev: tg.Device, row: str, way: int) -> None:
    use = EXTENSIONS[row][way]
    with pytest.warns(tg.ExtensionWarning, match="Vulkan forbids it") as found:
        use(dev)
    assert found[0].filename == __file__
    with pytest.raises(tg.ValidationError, match=re.escape("(Device(strict=True): what Vulkan forbids is an error)")):
        use(tg.Device(threads=1, strict=True))


@pytest.mark.parametrize(("kind", "offset", "least"), [("float", 2, 4), ("float", 13, 4), ("double", 4, 8), ("int64_t", 12, 8)])
def test_numbers_of_blocks_lie_at_multiples_of_their_size(dev: tg.Device, kind: str, offset: int, least: int) -> None:
    """Said by name, of a draw, of a set, and of a set that knew no shader."""
    text = f"#extension GL_EXT_shader_explicit_arithmetic_types : require\nlayout(binding = 0) buffer U {{ {kind} a; }};"
    layout = dev.descriptor_set_layout({0: "storage_buffer"})
    kernel = dev.compute_pipeline(f"#version 450\n{text}\nvoid main() {{ a += {kind}(1); }}", set_layouts={0: layout})
    part = dev.buffer(64, label="b").slice(offset, 16)
    said = f"the slice begins at byte {offset} of buffer 'b'; it must be a multiple of {least}: copy it"
    with pytest.raises(tg.ValidationError, match=rf"'U' \(set 0, binding 0\): {said}"):
        dev.dispatch(kernel, 1, bind={"U": part})
    with pytest.raises(tg.ValidationError, match=rf"'U' \(set 0, binding 0\): {said}"):
        dev.descriptor_set(kernel, bind={"U": part})
    with warnings.catch_warnings(), pytest.raises(tg.ValidationError, match=said):
        warnings.simplefilter("ignore", tg.ExtensionWarning)
        dev.dispatch(kernel, 1, sets={0: dev.descriptor_set(layout, bind={0: part})})


@pytest.mark.parametrize("name", SET)
@pytest.mark.parametrize(("behind", "executed"), [("again", 1), ("draw", 1), ("fixed", 1), ("", 0), ("again", 2)])
def test_what_is_set_behind_secondaries_needs_no_word(name: str, behind: str, executed: int) -> None:
    """Or what nobody wants there, or where none was executed."""
    if behind == "draw" and name == "cull_mode":
        return  # no argument of draws
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "pass 'pass': set: .* has no effect", tg.UnusedNameWarning)  # of "fixed"
        between(tg.Device(threads=1, strict=True), name, behind, executed)


def test_state_behind_secondaries_is_told_once_by_name(dev: tg.Device) -> None:
    out = dev.image((8, 8), COLOR)
    made = dev.pipeline(COVER, WHITE, color=[COLOR], dynamic=["cull_mode", "front_face"], label="p")
    with dev.secondary(color=[COLOR]) as part:
        part.draw(pipe(dev), count=3)
    with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.set(cull_mode="none", front_face="clockwise")
        rp.draw(made, count=3)
        for _ in range(2):
            rp.execute_commands(part)
            rp.set(front_face="clockwise")  # the value that it has
            with pytest.warns(tg.ExtensionWarning) as told:
                rp.draw(made, count=3)
                rp.draw(made, count=3)
            assert [str(t.message).partition(";")[0] for t in told] == [
                "pass 'a', pipeline 'p': cull_mode is as set before execute_commands, behind which nothing is set"
            ]
