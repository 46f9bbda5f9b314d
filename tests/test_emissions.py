"""Geometry shaders that make no primitive, emit more than they may, or leave out what a vertex wants: told, where it is certain."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from spirv import assemble, kernel_text
from tilegpu.certain_uses import uses_of

F = "r8g8b8a8_unorm"
HEAD = "#version 450\n"
FULL = HEAD + "void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
RED = HEAD + "layout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
COLORED = HEAD + "layout(location = 0) in vec3 c; layout(location = 0) out vec4 o; void main() { o = vec4(c, 1); }"
FLAT = COLORED.replace("in vec3", "flat in vec3")
PLACE = "gl_Position = gl_in[i].gl_Position;"
OUT, FLAT_OUT = "layout(location = 0) out vec3 c;", "layout(location = 0) flat out vec3 c;"
EACH = "for (int i = 0; i < 3; i++)"
VERTEX = f"void vertex(int i) {{ {PLACE} EmitVertex(); }}"
STORES = "layout(binding = 0) buffer B { uint n; };"


@pytest.fixture(scope="module")
def devs() -> tuple[tg.Device, tg.Device]:
    return tg.Device(threads=1), tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def geometry(body: str, most: int = 3, made: str = "triangle_strip", declared: str = "") -> str:
    head = f"layout(triangles) in; layout({made}, max_vertices = {most}) out; {declared}"
    return HEAD + f"{head} layout(push_constant) uniform P {{ int k; }}; void main() {{ {body} }}"


def told(devs: tuple[tg.Device, tg.Device], said: str, text: str, frag: str = RED, undefined: bool = False, **more: Any) -> None:
    warning, error = (
        (tg.UndefinedContentsWarning, tg.UndefinedContentsError) if undefined else (tg.LostPrimitivesWarning, tg.ValidationError)
    )
    with pytest.warns(warning, match=said):
        devs[0].pipeline(FULL, frag, geometry=text, color=[F], **more)
    with pytest.raises(error, match=said):
        devs[1].pipeline(FULL, frag, geometry=text, color=[F], **more)


LOST: list[tuple[str, str]] = [
    (geometry(f"{EACH} {PLACE}"), r"emits nothing that is drawn; write EmitVertex\(\) for each vertex, or give rasterizer_d"),
    (geometry(f"{EACH} {{ {PLACE} EmitVertex(); }}", 2), r"may emit 2 \(max_vertices\), and a primitive of its triangle_strip has 3: "),
    (geometry(f"{EACH} {{ {PLACE} EmitVertex(); }}", 1, "line_strip"), r"may emit 1 \(max_vertices\), and a primitive of its line_strip h"),
    (geometry(f"for (int i = 0; i < 2; i++) {{ {PLACE} EmitVertex(); }}"), "emits 2 to a primitive at most, and .* triangle_strip has 3"),
    (geometry(f"{EACH} {{ {PLACE} EmitVertex(); EndPrimitive(); }}"), "emits 1 to a primitive at most"),
    (geometry(f"int i = 0; {PLACE} EmitVertex(); if (k > 0) {{ {PLACE} EmitVertex(); }}"), "emits 2 to a primitive at most"),
    (geometry("vertex(0); vertex(1);", declared=VERTEX), "emits 2 to a primitive at most"),
    (geometry(f"int i = k; {PLACE} EmitVertex(); EndPrimitive(); {PLACE} EmitVertex();", 4, "line_strip"), "emits 1 to a primitive at"),
    (geometry("for (int i = 0; i < 4; i++) { gl_Position = vec4(i); EmitVertex(); }"),
     r"emits 4 vertices, and max_vertices is 3: those behind are lost; write layout\(max_vertices = 4\) out"),
    (geometry(f"for (int j = 0; j < 2; j++) {{ {EACH} {{ {PLACE} EmitVertex(); }} EndPrimitive(); }}", 5), "emits 6 vertices, and max_v"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LOST)))
def test_what_makes_no_primitive(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    """A blank picture, or a part of it, and not a word; of stream 1 it was an error."""
    told(devs, "the geometry shader " + LOST[number][1], LOST[number][0])


MADE: list[str] = [
    geometry(f"{EACH} {{ {PLACE} EmitVertex(); }}"),
    geometry("gl_Position = vec4(0); EmitVertex();", 1, "points"),
    geometry(f"for (int i = 0; i < 2; i++) {{ {PLACE} EmitVertex(); }}", 2, "line_strip"),
    geometry(f"if (k > 0) {EACH} {{ {PLACE} EmitVertex(); }}"),
    geometry(f"for (int i = 0; i < k; i++) {{ {PLACE} EmitVertex(); }}"),
    geometry(f"for (int i = 0; i < k; i++) {{ {PLACE} EmitVertex(); if (i % 3 == 2) EndPrimitive(); }}", 30),
    geometry("vertex(0); vertex(1); vertex(2);", declared=VERTEX),
    geometry(f"{EACH} vertex(i);", declared=VERTEX),
    geometry("n = 1;", declared=STORES),  # which counts, and draws nothing by design
    geometry(f"for (int i = 0; i < 4; i++) {{ if (i == k) continue; {PLACE.replace('[i]', '[i % 3]')} EmitVertex(); }}"),
    geometry(f"for (int i = 0; i < 9; i++) {{ if (i == k) break; {PLACE.replace('[i]', '[i % 3]')} EmitVertex(); }}"),
    geometry("if (k > 0) { gl_Position = vec4(0); EmitVertex(); EmitVertex(); EmitVertex(); } else EmitVertex();"),
    geometry("while (true) { gl_Position = vec4(k); EmitVertex(); if (k > 0) break; }"),
]


@pytest.mark.parametrize("number", range(len(MADE)))
def test_what_makes_primitives(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    text = MADE[number]
    if "else EmitVertex" in text:
        text = text.replace("; EmitVertex(); EmitVertex(); EmitVertex(); } else EmitVertex();", "; EmitVertex(); }")
        told(devs, "emits 1 to a primitive at most", text)
    else:
        devs[1].pipeline(FULL, RED, geometry=text, color=[F])


def test_what_is_not_drawn_by_design(devs: tuple[tg.Device, tg.Device]) -> None:
    devs[1].pipeline(FULL, geometry=geometry(f"{EACH} {PLACE}"), rasterizer_discard=True)
    devs[1].pipeline(FULL, RED, geometry=geometry(f"{EACH} {PLACE}"), color=[F], dynamic=["rasterizer_discard_enable"])
    captured = "layout(stream = 1, xfb_buffer = 0, xfb_offset = 0, xfb_stride = 4, location = 1) out float f;"
    text = geometry("f = 1; EmitStreamVertex(1);", 1, "points", captured)
    devs[1].pipeline(FULL, geometry=text, rasterizer_discard=True)
    with pytest.raises(tg.UndefinedContentsError, match="never writes gl_Position"):  # and of emissions nothing
        devs[1].pipeline(FULL, RED, geometry=text, color=[F])
    text = text.replace("xfb_buffer = 0, xfb_offset = 0, xfb_stride = 4, ", "").replace("f = 1;", "f = 1; gl_Position = vec4(0);")
    told(devs, "emits nothing that is drawn", text)


UNWRITTEN: list[tuple[str, str, str]] = [
    (geometry(f"{EACH} {{ EmitVertex(); {PLACE} }}"), RED, "gl_Position"),
    (geometry(f"{PLACE.replace('[i]', '[0]')} EmitVertex(); EmitVertex(); EmitVertex();"), RED, "gl_Position"),
    (geometry(f"c = vec3(1); {EACH} {{ {PLACE} EmitVertex(); }}", declared=OUT), COLORED, "'c'"),
    (geometry(f"c = vec3(1); {EACH} {{ if (i == k) {PLACE} EmitVertex(); }}", declared=OUT), COLORED, "'c'"),
    (geometry(f"for (int j = 0; j < 2; j++) {{ c = vec3(j); {EACH} {{ {PLACE} EmitVertex(); }} EndPrimitive(); }}", 6, declared=OUT),
     COLORED, "'c'"),
    (geometry(f"for (int j = 0; j < 2; j++) {{ {EACH} {{ c = vec3(j); EmitVertex(); {PLACE} }} EndPrimitive(); }}", 6, declared=OUT),
     COLORED, "gl_Position"),
    (geometry(f"gl_ClipDistance[0] = 1; {EACH} {{ {PLACE} EmitVertex(); }}"), RED, r"gl_ClipDistance\[0\]"),
    (geometry("gl_PointSize = 4; for (int i = 0; i < 3; i++) { gl_Position = vec4(i); EmitVertex(); }", 3, "points"), RED, "gl_PointSize"),
    (geometry("c = vec3(1); for (int i = 0; i < 3; i++) { gl_Position = vec4(i); EmitVertex(); }", 3, "points", FLAT_OUT), FLAT, "'c'"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(UNWRITTEN)))
def test_what_a_vertex_lacks(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    """EmitVertex() leaves outputs undefined; off by one, 23 of 64 pixels were drawn, and elsewhere a picture."""
    text, frag, name = UNWRITTEN[number]
    said = rf"the geometry shader emits a vertex for which it has not written {name}: EmitVertex\(\) leaves outputs undefined in Vulkan"
    told(devs, said, text, frag, undefined=True)


WRITTEN: list[tuple[str, str]] = [
    (geometry(f"{EACH} {{ switch (k) {{ case 1: {PLACE} break; case 7: gl_Position = vec4(1); }} EmitVertex(); }}"), RED),
    (geometry(f"{EACH} {{ c = vec3(1); {PLACE} EmitVertex(); }}", declared=OUT), COLORED),
    (geometry(f"c = vec3(1); {EACH} {{ {PLACE} EmitVertex(); c = vec3(i); }}", declared=OUT), COLORED),
    (geometry(f"{EACH} {{ if (i == k) c = vec3(1); {PLACE} EmitVertex(); }}", declared=OUT), COLORED),
    (geometry(f"c = vec3(1); for (int i = 0; i < k; i++) {{ {PLACE} EmitVertex(); }}", declared=OUT), COLORED),  # once, perhaps
    (geometry(f"c = vec3(1); for (int i = 0; i < 1; i++) {{ {PLACE} EmitVertex(); }}", 1, "points", OUT), COLORED),
    (geometry(f"c = vec3(1); {EACH} {{ {PLACE} EmitVertex(); if (k > 0) break; }}", declared=OUT), COLORED),
    (geometry(f"c = vec3(1); {EACH} {{ {PLACE} EmitVertex(); }}", declared=OUT), RED),  # which nobody reads
    (geometry(f"c = vec3(1); {EACH} {{ {PLACE} EmitVertex(); }}", declared=OUT), COLORED.replace("o = ", "if (gl_FragCoord.x > 1) o = ")),
    # Of one vertex of the primitive.
    (geometry(f"c = vec3(1); {EACH} {{ {PLACE} EmitVertex(); }}", declared=FLAT_OUT), FLAT),
    (geometry(f"gl_Layer = 0; gl_PrimitiveID = 3; {EACH} {{ {PLACE} EmitVertex(); }}"), RED),
    (geometry(f"{EACH} {{ set(c); {PLACE} EmitVertex(); }}", declared=OUT + "void set(out vec3 to) { to = vec3(1); }"), COLORED),
    (geometry(f"{EACH} {{ set(); {PLACE} EmitVertex(); }}", declared=OUT + "void set() { c = vec3(1); }"), COLORED),
    (geometry(f"{EACH} vertex(i);", declared=OUT + VERTEX.replace("EmitVertex", "c = vec3(1); EmitVertex")), COLORED),
]


@pytest.mark.parametrize("number", range(len(WRITTEN)))
def test_what_a_vertex_has(devs: tuple[tg.Device, tg.Device], number: int) -> None:
    text, frag = WRITTEN[number]
    devs[1].pipeline(FULL, frag, geometry=text, color=[F])


def test_outputs_keep_their_values(devs: tuple[tg.Device, tg.Device]) -> None:
    """As docs/undefined.md says: what was written once is there at each vertex."""
    text = geometry(f"c = vec3(1, 0, 1); {EACH} {{ {PLACE} EmitVertex(); }}", declared=OUT)
    with pytest.warns(tg.UndefinedContentsWarning, match="here they keep their values"):
        pipeline = devs[0].pipeline(FULL, COLORED, geometry=text, color=[F])
    image = devs[0].image((4, 4), F)
    with devs[0].render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipeline, count=3, push={"k": 0})
    assert np.array_equal(np.unique(image.numpy().reshape(-1, 4), axis=0), [[255, 0, 255, 255]])


def test_a_switch_of_64_bits() -> None:
    """Its cases' numbers are two words each, which were taken for labels: random programs have such."""
    types = "%long = OpTypeInt 64 1\n%zero = OpConstant %long 0"
    body = "OpSelectionMerge %end None\nOpSwitch %zero %end 1 %one 4294967298 %two\n%one = OpLabel\nOpBranch %end\n"
    body += "%two = OpLabel\nOpBranch %end\n%end = OpLabel"
    uses = uses_of(assemble(kernel_text("Int64", "%long", 8, types, body)), {}, "compute")
    ways = uses.ways[uses.entry]
    first, one, two, end = ways.next
    assert ways.next == {first: [end, one, two], one: [end], two: [end], end: []}
    assert [ways.passes(label) for label in ways.next] == [True, False, False, True]
