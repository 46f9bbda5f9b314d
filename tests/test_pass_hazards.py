"""What draws of one pass write and later ones read too early: a warning, and on a strict device an error before anything is executed.

In: passes of two or three draws. Out: what was said. The programs at the end are right, and nothing may be said of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import block_bytes

FORMAT = "r8g8b8a8_unorm"
OUT = "layout(location = 0) out vec4 o;"
FULL = """#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
RED = f"#version 450\n{OUT} void main() {{ o = vec4(1, 0, 0, 1); }}"
FETCH = "#version 450\nlayout(location = 0) in vec4 p; void main() { gl_Position = p; }"
STORES = f"#version 450\nlayout(binding = 0) buffer B {{ uint x[]; }}; {OUT} void main() {{ x[0] = 3u; o = vec4(0); }}"
VERTEX_STORES = FULL.replace("void main() {", "layout(binding = 0) buffer B { vec4 x[]; };\nvoid main() { x[gl_VertexIndex] = vec4(1);")
READS = """#version 450
layout(binding = 0) readonly buffer B { float x[]; };
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, x[0], 1); }"""
CAPTURES = """#version 450
layout(xfb_buffer = 0, xfb_offset = 0, xfb_stride = 16) out gl_PerVertex { vec4 gl_Position; };
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"""
POINTS = np.dtype(("f4", 4))
dev = tg.Device(threads=1)


def pipe(vert: str = FULL, frag: str | None = RED, device: tg.Device = dev, **more: Any) -> tg.Pipeline:
    return device.pipeline(vert, frag, color=[FORMAT], **more)


def recorded(draws: Callable[[tg.RenderPass, tg.Device], None], device: tg.Device = dev) -> list[str]:
    """What a pass of these draws warns of."""
    out = device.image((16, 16), FORMAT)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], label="p") as rp:
            draws(rp, device)
    return [str(w.message) for w in caught if w.category is tg.UndefinedContentsWarning]


def vertices(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros((3, 4), np.float32), label="b")
    rp.draw(pipe(VERTEX_STORES, device=d), count=3, bind={"B": b})
    rp.draw(pipe(FETCH, device=d, vertex=POINTS), b)


def same_draw(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros((3, 4), np.float32), label="b")
    both = VERTEX_STORES.replace("layout(binding", "layout(location = 0) in vec4 p; layout(binding").replace("vec4(1);", "p + 1;")
    rp.draw(pipe(both, device=d, vertex=POINTS), b, bind={"B": b})


def instances(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros((3, 4), np.float32), label="b")
    rp.draw(pipe(VERTEX_STORES, device=d), count=3, bind={"B": b})
    rp.draw(pipe(FETCH, device=d, instance=POINTS), count=3, instances=b)


def indices(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32), label="b")
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.draw(pipe(device=d), indices=b, count=3)


def indirect(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32), label="b")
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.draw_indirect(pipe(device=d), b)


def draw_count(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32), label="b")
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.draw_indirect(pipe(device=d), d.buffer(np.zeros(4, np.uint32)), draw_count=b)


def condition(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32), label="b")
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    with rp.conditional(b):
        rp.draw(pipe(device=d), count=3)


def vertex_shader(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(16, label="b")
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.draw(pipe(READS, device=d), count=3, bind={"B": b})


def vertex_shader_before_too(rp: tg.RenderPass, d: tg.Device) -> None:
    """The same bindings again: what was written between counts."""
    b, reader = d.buffer(16, label="b"), pipe(READS, device=d)
    rp.draw(reader, count=3, bind={"B": b})
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.draw(reader, count=3, bind={"B": b})


def by_set(rp: tg.RenderPass, d: tg.Device) -> None:
    b, writer, reader = d.buffer(16, label="b"), pipe(frag=STORES, device=d), pipe(READS, device=d)
    rp.draw(writer, count=3, sets={0: d.descriptor_set(writer, 0, {"B": b})})
    rp.draw(reader, count=3, sets={0: d.descriptor_set(reader, 0, {"B": b})})


def stored_image(rp: tg.RenderPass, d: tg.Device) -> None:
    image = d.image((16, 16), FORMAT, label="b")
    d.clear(image, (0, 0, 0, 0))
    store = f"""#version 450
layout(binding = 0, rgba8) uniform writeonly image2D t; {OUT} void main() {{ imageStore(t, ivec2(0), vec4(1)); o = vec4(0); }}"""
    sample = READS.replace("readonly buffer B { float x[]; }", "uniform sampler2D t").replace("x[0]", "texelFetch(t, ivec2(0), 0).r")
    rp.draw(pipe(frag=store, device=d), count=3, bind={"t": image})
    rp.draw(pipe(sample, device=d), count=3, bind={"t": (image, d.sampler())})


def captured(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros((3, 4), np.float32), label="b")
    with rp.transform_feedback(b):
        rp.draw(pipe(CAPTURES, None, device=d), count=3)
    rp.draw(pipe(FETCH, device=d, vertex=POINTS), b)


def captured_where_it_reads(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros((3, 4), np.float32), label="b")
    own = CAPTURES.replace("void main()", "layout(location = 0) in vec4 p; void main()").replace("0, 1);", "p.x, 1);")
    with rp.transform_feedback(b):
        rp.draw(pipe(own, None, device=d, vertex=POINTS), b)


def block_of_fragments(rp: tg.RenderPass, d: tg.Device) -> None:
    """A uniform block: each fragment reads the same bytes."""
    b = d.buffer(16, label="b")
    uniform = f"#version 450\nlayout(binding = 0) uniform B {{ uvec4 x; }}; {OUT} void main() {{ o = vec4(x); }}"
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.draw(pipe(frag=uniform, device=d), count=3, bind={"B": b})


def secondary(rp: tg.RenderPass, d: tg.Device) -> None:
    """What the pass wrote before, and a part of it reads that was recorded elsewhere."""
    b = d.buffer(16, label="b")
    with d.secondary(color=[FORMAT]) as part:
        part.draw(pipe(READS, device=d), count=3, bind={"B": b})
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.execute_commands(part)


def secondary_writes(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32), label="b")
    with d.secondary(color=[FORMAT]) as part:
        part.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})
    rp.execute_commands(part)
    rp.draw_indirect(pipe(device=d), b)


HAZARDS = [
    vertices, same_draw, instances, indices, indirect, draw_count, condition, vertex_shader, vertex_shader_before_too, by_set, stored_image,
    captured, captured_where_it_reads, block_of_fragments, secondary, secondary_writes,
]  # fmt: skip


@pytest.mark.parametrize("draws", HAZARDS)
def test_what_is_read_too_early_is_said(draws: Callable[[tg.RenderPass, tg.Device], None]) -> None:
    said = recorded(draws)
    assert len(said) == 1 and "'b', which a draw of the same pass writes" in said[0] and "pass behind this one" in said[0]


@pytest.mark.parametrize("draws", [vertices, indirect, vertex_shader, captured])
def test_it_is_an_error_on_a_strict_device(draws: Callable[[tg.RenderPass, tg.Device], None]) -> None:
    with pytest.raises(tg.UndefinedContentsError, match="'b', which a draw of the same pass writes"):
        recorded(draws, tg.Device(threads=1, strict=True))


def own_pixels(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(16 * 16 * 4)
    at = "uint(gl_FragCoord.y) * 16 + uint(gl_FragCoord.x)"
    head = f"#version 450\nlayout(binding = 0) buffer B {{ uint x[]; }}; {OUT} void main() {{"
    rp.draw(pipe(frag=f"{head} x[{at}] = 1u; o = vec4(0); }}", device=d), count=3, bind={"B": b})
    rp.draw(pipe(frag=f"{head} o = vec4(x[{at}]); }}", device=d), count=3, bind={"B": b})


def atomics(rp: tg.RenderPass, d: tg.Device) -> None:
    b, head = d.buffer(16), "layout(binding = 0) buffer B { uint x[]; };"
    count = FULL.replace("void main() {", f"{head}\nvoid main() {{ atomicAdd(x[0], 1u);")
    rp.draw(pipe(count, device=d), count=3, bind={"B": b})
    rp.draw(pipe(count, device=d), count=3, bind={"B": b})


def not_readonly_but_read(rp: tg.RenderPass, d: tg.Device) -> None:
    """Declared without readonly, and nothing is stored."""
    b = d.buffer(np.zeros((3, 4), np.float32))
    reads = f"#version 450\nlayout(binding = 0) buffer B {{ vec4 x[]; }}; {OUT} void main() {{ o = x[0]; }}"
    rp.draw(pipe(frag=reads, device=d), count=3, bind={"B": b})
    rp.draw(pipe(FETCH, device=d, vertex=POINTS), b)


def stores_behind_a_constant(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32))
    constant = "layout(constant_id = 0) const bool ON = true; layout(binding"
    off = STORES.replace("layout(binding", constant).replace("x[0] = 3u;", "if (ON) x[0] = 3u;")
    rp.draw(pipe(frag=off, device=d, constants={"ON": False}), count=3, bind={"B": b})
    rp.draw_indirect(pipe(device=d), b)


def other_bytes(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(256, np.uint32))
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b.slice(0, 512)})
    rp.draw_indirect(pipe(device=d), b.slice(512, 16))


def read_before(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32))
    rp.draw_indirect(pipe(device=d), b)
    rp.draw(pipe(frag=STORES, device=d), count=3, bind={"B": b})


def nothing_drawn(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(np.zeros(4, np.uint32))
    rp.draw(pipe(frag=STORES, device=d), count=0, bind={"B": b})
    rp.draw_indirect(pipe(device=d), b)


def vertices_for_fragments(rp: tg.RenderPass, d: tg.Device) -> None:
    """Fragments come after all vertices."""
    b = d.buffer(np.zeros((3, 4), np.float32))
    rp.draw(pipe(VERTEX_STORES, device=d), count=3, bind={"B": b})
    reads = f"#version 450\nlayout(binding = 0) readonly buffer B {{ vec4 x[]; }}; {OUT} void main() {{ o = x[0]; }}"
    rp.draw(pipe(frag=reads, device=d), count=3, bind={"B": b})


def before_the_capture(rp: tg.RenderPass, d: tg.Device) -> None:
    """Made, and read by a draw before it is entered."""
    b = d.buffer(np.zeros((3, 4), np.float32))
    block = rp.transform_feedback(b)
    rp.draw(pipe(FETCH, device=d, vertex=POINTS), b)
    with block:
        rp.draw(pipe(CAPTURES, device=d), count=3)


@pytest.mark.parametrize(
    "draws",
    [
        before_the_capture,
        own_pixels,
        atomics,
        not_readonly_but_read,
        stores_behind_a_constant,
        other_bytes,
        read_before,
        nothing_drawn,
        vertices_for_fragments,
    ],
)
def test_right_programs_are_quiet(draws: Callable[[tg.RenderPass, tg.Device], None]) -> None:
    assert recorded(draws) == []
    assert recorded(draws, tg.Device(threads=1, strict=True)) == []


SAMPLES = f"#version 450\nlayout(binding = 0) uniform sampler2D t; {OUT} void main() {{ o = texture(t, vec2(0)); }}"


@pytest.mark.parametrize("empty", [{"count": 0}, {"count": 3, "instances": 0}])
def test_a_draw_of_nothing_reads_nothing(empty: dict[str, int]) -> None:
    """Undefined contents that it binds are those of the next draw with the same bindings alone."""
    unwritten = (dev.image((4, 4), FORMAT), dev.sampler())
    sampling = pipe(frag=SAMPLES)
    assert recorded(lambda rp, d: rp.draw(sampling, bind={"t": unwritten}, **empty)) == []

    def then_something(rp: tg.RenderPass, d: tg.Device) -> None:
        rp.draw(sampling, bind={"t": unwritten}, **empty)
        rp.draw(sampling, bind={"t": unwritten}, count=3)

    assert len(recorded(then_something)) == 1


# ------------------------------------------------------------------------------------------------------- what a draw writes of its own
OWN = f"""#version 450
layout(binding = 0) uniform U {{ vec4 a; vec4 b; vec4 c[4]; mat4 m; }};
layout(binding = 1) buffer B {{ vec4 x; vec4 y; vec4 z[]; }};
{OUT} void main() {{ o = READ; WRITE }}"""
BODY = "#version 450\nlayout(binding = 0) uniform U { vec4 a; vec4 b; };\nlayout(binding = 1) buffer B { vec4 x[]; };\nvoid main() {"
AT = " gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1);"
ODD = "int(gl_FragCoord.x) & 1"


def own(read: str, write: str, first: int = 0, size: int = 1024, by_set: bool = False) -> Callable[[tg.RenderPass, tg.Device], None]:
    """A draw whose fragments read and write one buffer; ``first``: where what is written is bound."""

    def draws(rp: tg.RenderPass, d: tg.Device) -> None:
        b = d.buffer(4096, label="b")
        pipeline = pipe(frag=OWN.replace("READ", read).replace("WRITE", write), device=d)
        given = {"U": b.slice(0, 1024), "B": b.slice(first, size)}
        if by_set:
            rp.draw(pipeline, count=3, sets={0: d.descriptor_set(pipeline, 0, given)})
        else:
            rp.draw(pipeline, count=3, bind=given)

    return draws


def own_vertices(rp: tg.RenderPass, d: tg.Device) -> None:
    """Invocations before the rasterizer do not wait for each other either."""
    b = d.buffer(1024, label="b")
    rp.draw(pipe(BODY + " x[0] = a + 1;" + AT + " }", device=d), count=3, bind={"U": b, "B": b})


def own_of_both_stages(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(1024, label="b")
    reads = BODY.replace("layout(binding = 1) buffer B { vec4 x[]; };", "") + AT.replace("0, 1", "a.x, 1") + " }"
    rp.draw(pipe(reads, STORES.replace("binding = 0", "binding = 1"), device=d), count=3, bind={"U": b, "B": b})


def own_in_a_part(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(4096, label="b")
    with d.secondary(color=[FORMAT]) as part:
        part.draw(pipe(frag=OWN.replace("READ", "a").replace("WRITE", "x = a;"), device=d), count=3, bind={"U": b, "B": b})
    rp.execute_commands(part)


TOO_EARLY = [
    own("a", "x = vec4(1);"), own("a", "x.y = 1.0;"), own("c[1]", "z[1] = vec4(1);"), own(f"c[{ODD}]", "z[3] = vec4(1);"),
    own("a", "atomicAdd(n, 1u);"), own("m[0]", f"z[{ODD}] = vec4(1);"), own("b", "x = vec4(1);", 16), own("a", "x = vec4(1);", by_set=True),
    own_vertices, own_of_both_stages, own_in_a_part,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TOO_EARLY)))
@pytest.mark.parametrize("lanes", [4, 8])
def test_a_block_that_the_draw_itself_writes_is_said(number: int, lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__name__ + ".OWN", OWN.replace("vec4 x;", "uint n; vec4 x_;") if number == 4 else OWN)
    said = recorded(TOO_EARLY[number], tg.Device(threads=1, lanes=lanes))
    assert len(said) == 1 and "buffer 'b', which the draw itself writes" in said[0] and "bind a copy of it" in said[0], said
    with pytest.raises(tg.UndefinedContentsError, match="'b', which the draw itself writes"):
        recorded(TOO_EARLY[number], tg.Device(threads=1, lanes=lanes, strict=True))


@pytest.mark.parametrize(
    "draws",
    [
        own("a", "y = vec4(1);"),  # other members
        own("b", "x.y = 1.0;"),
        own("c[0]", "z[1] = vec4(1);"),
        own("m[0]", "z[0] = vec4(1);"),
        own("a", f"z[{ODD}] = vec4(1);"),
        own("m[1]", "x = vec4(1);", 1024),  # other bytes
        own("vec4(1)", "x = vec4(1);"),  # nothing is read
        own("a", "o += x;"),  # nothing is written
        own("a + float(z.length())", "y = x;"),
    ],
)
def test_other_bytes_of_its_own_are_quiet(draws: Callable[[tg.RenderPass, tg.Device], None]) -> None:
    assert recorded(draws) == []
    assert recorded(draws, tg.Device(threads=1, strict=True)) == []


def vertices_for_own_fragments(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(1024)
    uniform = f"#version 450\nlayout(binding = 0) uniform U {{ vec4 a; }}; {OUT} void main() {{ o = a; }}"
    writes = BODY.replace("layout(binding = 0) uniform U { vec4 a; vec4 b; };\n", "") + " x[0] = vec4(1);" + AT + " }"
    rp.draw(pipe(writes, uniform, device=d), count=3, bind={"U": b, "B": b})


def own_elements(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(16 * 16 * 4)
    at = "uint(gl_FragCoord.y) * 16 + uint(gl_FragCoord.x)"
    adds = f"#version 450\nlayout(binding = 0) buffer B {{ uint x[]; }}; {OUT} void main() {{ x[{at}] += 1u; o = vec4(0); }}"
    rp.draw(pipe(frag=adds, device=d), count=3, bind={"B": b})


def switched_off(rp: tg.RenderPass, d: tg.Device) -> None:
    b = d.buffer(1024)
    frag = OWN.replace("layout(binding = 0)", "layout(constant_id = 0) const bool ON = true;\nlayout(binding = 0)", 1)
    frag = frag.replace("READ", "a").replace("WRITE", "if (ON) x = vec4(1);")
    rp.draw(pipe(frag=frag, device=d, constants={"ON": False}), count=3, bind={"U": b, "B": b})


@pytest.mark.parametrize("draws", [vertices_for_own_fragments, own_elements, switched_off])
def test_draws_that_write_rightly_are_quiet(draws: Callable[[tg.RenderPass, tg.Device], None]) -> None:
    assert recorded(draws) == []
    assert recorded(draws, tg.Device(threads=1, strict=True)) == []


def test_types_are_looked_at_once_however_often_others_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 structures of two of the one before are 65,536 numbers, by text of a line each."""
    looked: list[int] = []
    sizes = block_bytes._Blocks._made_size_B
    monkeypatch.setattr(block_bytes._Blocks, "_made_size_B", lambda self, type_: looked.append(type_) or sizes(self, type_))
    types = "".join(f"struct S{k} {{ S{k - 1} a, b; }};\n" for k in range(1, 17))
    code = f"""#version 450
    struct S0 {{ int a; }};
    {types}
    layout(binding = 0) buffer B {{ S16 all; }};
    layout(binding = 1) buffer C {{ S16 others; }};
    void main() {{ all.b = others.a; }}"""
    loads, stores = block_bytes.block_bytes(tg.compile_glsl(code, "vertex"), {})
    assert loads == {(0, 1): [(0, 2**17)]} and stores[0, 0] == [(2**17, 2**18)]
    assert len(looked) <= 20
