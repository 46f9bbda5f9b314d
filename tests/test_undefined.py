"""docs/undefined.md: every row of its tables, at each number of lanes, by compute and by fragment shader."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg

PAGE = (Path(__file__).parent.parent / "docs" / "undefined.md").read_text(encoding="utf-8")
KINDS = {"zero": "i4", "least": "i4", "far": "i4", "huge": "f4", "nan": "f4", "zero_f": "f4"}
VALUES = np.array([(0, -(2**31), 9, 1e20, np.nan, 0)], list(KINDS.items()))
BLOCK = "Given { int zero; int least; int far; float huge; float nan; float zero_f; };"


def rows(title: str) -> list[tuple[str, str]]:
    table = PAGE.partition(f"| {title} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(.+?)` \| `(.+?)` \|", table, re.MULTILINE)


INTEGERS, FLOATS = rows("integers"), rows("floats")


def wanted() -> list[int]:
    integers = [-(2**31) if value == "least" else int(value) for _, value in INTEGERS]
    return integers + np.array([float(value) for _, value in FLOATS], "f4").view("i4").tolist()


def body() -> str:
    lines = [expression for expression, _ in INTEGERS] + [f"floatBitsToInt({expression})" for expression, _ in FLOATS]
    stores = "\n".join(f"  o[{k}] = {line};" for k, line in enumerate(lines))
    return f"void main() {{\n  int unset; int array[4] = int[4](1, 2, 3, 4);\n{stores}\n}}"


def bits(found: np.ndarray) -> list[int]:
    """As integers."""
    return found.view("i4").tolist()


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_every_row(lanes: int) -> None:
    assert len(INTEGERS) == 15 and len(FLOATS) == 10
    dev = tg.Device(lanes=lanes, threads=1)
    head = "#version 450\nlayout(binding = 0) buffer Out { int o[]; };\nlayout(binding = 1) readonly buffer " + BLOCK
    text = head + "\nlayout(binding = 2) buffer Many { int buffer_of_64[]; };\n" + body()
    count = len(INTEGERS) + len(FLOATS)
    out, bind = dev.buffer(np.zeros(count, "i4")), {"Given": dev.buffer(VALUES), "Many": dev.buffer(np.full(64, 7, "i4"))}
    dev.dispatch(dev.compute_pipeline(text), 1, bind={"Out": out, **bind})
    named = dict(zip([row[0] for row in INTEGERS + FLOATS], zip(bits(out.numpy()), wanted(), strict=True), strict=True))
    assert {name: pair for name, pair in named.items() if pair[0] != pair[1]} == {}

    target = dev.image((1, 1), "r8_unorm")
    vert = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
    again = dev.buffer(np.zeros(count, "i4"))
    with dev.render_pass(color=tg.Attachment(target, clear=(0,))) as rp:
        rp.draw(dev.pipeline(vert, text, color=[target.format]), count=3, bind={"Out": again, **bind})
    assert bits(again.numpy()) == bits(out.numpy())


def test_a_barrier_that_some_do_not_reach() -> None:
    text = """#version 450
    layout(local_size_x = 64) in;
    layout(binding = 0) buffer Out { uint o[]; };
    shared uint s[64];
    void main() {
      uint i = gl_LocalInvocationIndex;
      s[i] = i;
      if (i % 3u != 0u) barrier();
      o[i] = s[i] + 1u;
    }"""
    found = []
    for lanes in (4, 8, 16):
        dev = tg.Device(lanes=lanes, threads=1)
        out = dev.buffer(np.zeros(64, "u4"))
        dev.dispatch(dev.compute_pipeline(text), 1, bind={"Out": out})
        found.append(out.numpy().view("u4").tolist())
    assert found[0] == found[1] == found[2] == list(range(1, 65))


def test_what_lies_outside() -> None:
    text = """#version 450
    layout(binding = 0) buffer Out { int o[]; };
    layout(binding = 1) buffer Many { int b[]; };
    layout(binding = 2) uniform sampler2DArray s;
    layout(binding = 3, r32i) uniform iimage2D i;
    layout(push_constant) uniform P { int far; };
    int byte_of(vec4 texel) { return int(texel.x * 255.0 + 0.5); }
    void main() {
      b[far] = 9;
      imageStore(i, ivec2(far, 1), ivec4(8));
      o[0] = byte_of(texelFetch(s, ivec3(far, 0, 0), 0));
      o[1] = byte_of(texelFetch(s, ivec3(0, 0, far), 0));
      o[2] = byte_of(texture(s, vec3(0.5, 0.5, far)));
      o[3] = imageLoad(i, ivec2(far, 0)).x;
      o[4] = imageLoad(i, ivec2(0, 0)).x;
    }"""
    dev = tg.Device(threads=1)
    out, many = dev.buffer(np.zeros(5, "i4")), dev.buffer(np.full(64, 5, "i4"))
    texture = dev.texture(np.stack([np.full((2, 2, 4), 50, "u1"), np.full((2, 2, 4), 60, "u1")]))
    image = dev.image((2, 2), "r32_sint")
    dev.clear(image, (3,))
    dev.dispatch(dev.compute_pipeline(text), 1, bind={"Out": out, "Many": many, "s": texture, "i": image}, push={"far": 9000})
    assert out.numpy().view("i4").tolist() == [0, 0, 60, 0, 3]
    assert set(many.numpy().view("i4").tolist()) == {5} and set(image.numpy().ravel().tolist()) == {3}


GEOMETRY = """#version 450
layout(triangles) in; layout(triangle_strip, max_vertices = 4) out;
void main() {
  for (int k = 0; k < MANY; k++) {
    gl_Position = vec4(k / 2 - 1.0, (k & 1) * 2 - 1.0, 0, 1);
    EmitVertex();
    if (k == CUT) EndPrimitive();
  }
}"""
COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_more_vertices_than_a_geometry_shader_may_emit(lanes: int) -> None:
    """Those beyond max_vertices are not there: the picture and the counts are those of the shader that stops in time."""
    dev = tg.Device(lanes=lanes, threads=1)
    out = dev.image((64, 64), "r8_unorm")

    def drawn(many: int, cut: int = 99, stream: int = 0) -> tuple[bytes, int]:
        text = GEOMETRY.replace("MANY", str(many)).replace("CUT", str(cut))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tg.LostPrimitivesWarning)  # which says so
            pipe = dev.pipeline(COVER, WHITE, geometry=text, color=[out.format], rasterization_stream=stream)
        with dev.render_pass(color=tg.Attachment(out, clear=(0,))) as rp:
            rp.draw(pipe, count=3, instances=5)
        return out.numpy().tobytes(), rp.stats.primitives_out

    right = drawn(4)
    assert right[1] == 10 and 0 < np.frombuffer(right[0], "u1").astype(int).sum() < 255 * 64 * 64
    assert drawn(5) == drawn(9) == drawn(300) == right
    assert drawn(9, cut=2) == drawn(4, cut=2) and drawn(9, cut=2)[1] == 5  # one whole triangle; of the next there is one vertex
    assert drawn(9, cut=4) == right  # the end of a primitive comes too late
    with pytest.raises(tg.ValidationError, match="the geometry shader emits nothing to it"):
        drawn(4, stream=1)


def test_points_without_a_size_and_lines_of_any_width() -> None:
    dev = tg.Device(threads=1)
    out = dev.image((32, 32), "r8_unorm")

    def drawn(vert: str, **state: object) -> int:
        pipe = dev.pipeline(vert, WHITE, color=[out.format], **state)
        with dev.render_pass(color=tg.Attachment(out, clear=(0,))) as rp:
            rp.draw(pipe, count=2)
        return int((out.numpy() != 0).sum())

    point = "#version 450\nvoid main() { gl_Position = vec4(0.03, 0.03, 0, 1); }"
    line = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex * 4 - 2, 0.03, 0, 1); }"
    assert drawn(point, topology="point_list") == 1
    widths = [drawn(line, topology="line_list", line_width=width) for width in (1, 5, 64)]
    with pytest.warns(tg.ClampedValueWarning, match="lines are 1 to 64 px wide") as cut:
        widths += [drawn(line, topology="line_list", line_width=width) for width in (0.25, 1000)]
    assert widths == [32, 160, 1024, 32, 1024] and len(cut) == 2


def test_vertices_at_any_byte() -> None:
    """A dtype of 13 bytes, from the third byte of a buffer on."""
    dev = tg.Device(threads=1)
    dtype = np.dtype([("id", "u1"), ("position", "f4", 2), ("shade", "f4")])
    vertices = np.array([(1, (-1, -1), 1), (2, (3, -1), 1), (3, (-1, 3), 1)], dtype)
    vert = """#version 450
    layout(location = 0) in vec2 position; layout(location = 1) in float shade; layout(location = 0) out float s;
    void main() { gl_Position = vec4(position, 0, 1); s = shade; }"""
    frag = "#version 450\nlayout(location = 0) in float s; layout(location = 0) out vec4 o; void main() { o = vec4(s); }"
    out = dev.image((4, 4), "r8_unorm")
    with pytest.warns(tg.ExtensionWarning, match="has offset 1 and stride 13, in bytes, not both multiples of 4"):
        pipe = dev.pipeline(vert, frag, vertex=dtype, color=[out.format])
    buffer = dev.buffer(3 + vertices.nbytes)
    buffer.write(vertices.tobytes(), offset=3)
    for given, words in ((vertices, ""), (buffer.slice(3), "the vertices begin at byte 3")):
        said = pytest.warns(tg.ExtensionWarning, match=words) if words else nullcontext()
        with said, dev.render_pass(color=tg.Attachment(out, clear=(0,))) as rp:
            rp.draw(pipe, given, count=3)
        assert set(out.numpy().ravel().tolist()) == {255}


def test_what_nothing_covers_after_dont_care_is_zero() -> None:
    """Whatever the tiles are: of the host, of a profile, whole or in parts."""
    vertex = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 0.7 - 0.5, 0.5, 1); }"
    fragment = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(gl_FragCoord.xy / 200, 1, 1); }"
    for samples in (1, 4):
        found: dict[bytes, str] = {}
        for profile in ("host", "mali-g57", "immortalis-g925", "adreno-a740", "desktop-immediate"):
            for bin_px in (32, 128):
                device = tg.Device(profile, bin_px=bin_px, cache_dir="off", threads=2)
                image = device.image((200, 150), "r8g8b8a8_unorm", samples=samples)
                device.clear(image, (0.3, 0.4, 0.5, 0.6))
                with device.render_pass(color=[tg.Attachment(image, load_op="dont_care")]) as rp:
                    rp.draw(device.pipeline(vertex, fragment, color=[image.format], samples=samples), count=3)
                picture = image.numpy()
                assert 0.9 < np.mean(np.all(picture == 0, -1)) < 1
                found.setdefault(picture.tobytes(), f"{profile}, {bin_px}")
        assert len(found) == 1, found.values()
