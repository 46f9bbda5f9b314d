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
    assert len(INTEGERS) == 27 and len(FLOATS) == 27
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


FULL = """#version 450
layout(location = 0) out vec2 at;
void main() { at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1; gl_Position = vec4(at, 0.5, 1); }"""


def drawn(dev: tg.Device, frag: str, fmt: str, samples: int = 1, **bind: tg.Image) -> list[float]:
    """A texel of what covers all."""
    image, resolved = (dev.image((4, 4), fmt, samples=n) for n in (samples, 1))
    more = {"resolve": resolved, "store_op": "dont_care"} if samples > 1 else {}
    with dev.render_pass(color=tg.Attachment(image, clear=(0,) * 4, **more)) as rp:
        rp.draw(dev.pipeline(FULL, "#version 450\n" + frag, color=[fmt], samples=samples), count=3, bind=bind)
    return np.ravel((resolved if samples > 1 else image).numpy()[0, 0]).tolist()


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_integers_that_do_not_fit(lanes: int) -> None:
    dev = tg.Device(lanes=lanes, threads=1)
    for fmt, glsl, kind, value, expected in (
        ("r8_uint", "r8ui", "uint", "300u", 255), ("r8_sint", "r8i", "int", "-300", -128), ("r8_sint", "r8i", "int", "300", 127),
        ("r16_uint", "r16ui", "uint", "70000u", 65535), ("r16_sint", "r16i", "int", "-70000", -32768),
    ):  # fmt: skip
        assert drawn(dev, f"layout(location = 0) out {kind} o; void main() {{ o = {value}; }}", fmt) == [expected]
        image, letter = dev.image((4, 4), fmt), kind[0]
        dev.clear(image, (0,))
        head = f"layout(binding = 0, {glsl}) uniform writeonly {letter}image2D t; layout(location = 0) out vec4 o;"
        vector = "uvec4" if letter == "u" else "ivec4"
        text = f"{head} void main() {{ imageStore(t, ivec2(gl_FragCoord.xy), {vector}({value})); o = vec4(1); }}"
        drawn(dev, text.replace("iimage2D" if letter == "i" else "uimage2D", f"{letter}image2D"), "r8_unorm", t=image)
        assert (image.numpy() == expected).all()


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("viewport", [None, (0, 0, 4, 4, 0.25, 0.75)])
def test_depth_beyond_its_range(viewport: tuple[float, ...] | None, lanes: int) -> None:
    dev = tg.Device(lanes=lanes, threads=1)
    for value, expected in (("3.0", 1), ("-3.0", 0), ("1.0 / (at.x - at.x)", None), ("0.875", 0.875)):
        depth = dev.image((4, 4), "d32_sfloat")
        text = f"#version 450\nlayout(location = 0) in vec2 at; void main() {{ gl_FragDepth = {value}; }}"
        with dev.render_pass(depth=tg.Attachment(depth, clear=0.5)) as rp:
            rp.draw(dev.pipeline(FULL, text, depth=depth.format, depth_compare="always"), count=3, viewport=viewport)
        assert expected is None or (depth.numpy() == expected).all()


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_a_sample_that_there_is_not_is_the_last(lanes: int) -> None:
    dev = tg.Device(lanes=lanes, threads=1)
    head, tail = "layout(location = 0) in vec2 at; layout(location = 0) out vec4 o; void main() { o = vec4(", "); }"
    for samples in (1, 4):
        last = "at" if samples == 1 else "interpolateAtSample(at, 3)"
        for number in (7, 15, -1):
            found = drawn(dev, f"{head}interpolateAtSample(at, {number}), {last}{tail}", "r32g32b32a32_sfloat", samples)
            assert found[:2] == found[2:]


def test_pixels_that_nothing_covers_are_zero_whatever_the_tiles() -> None:
    """A load of "don't care": tiles without primitives, too (docs/framebuffers.md)."""
    half = FULL.replace("gl_Position = vec4(at", "gl_Position = vec4(at.x * 0.2 - 0.7, at.y * 0.2 - 0.7")
    frag = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    pictures = []
    ways = [("host", {}), ("host", {"bin_px": 32}), ("mali-g57", {}), ("adreno-a740", {}), ("adreno-a740", {"render_mode": "sysmem"})]
    for profile, more in ways:
        dev = tg.Device(profile, threads=1, **more)  # type: ignore[arg-type]
        image = dev.image((128, 128), "r8g8b8a8_unorm")
        dev.clear(image, (1, 0.5, 0.25, 1))
        with dev.render_pass(color=tg.Attachment(image, load_op="dont_care")) as rp:
            rp.draw(dev.pipeline(half, frag, color=[image.format]), count=3)
        pictures.append(image.numpy().copy())
        assert pictures[-1][-1, -1].tolist() == [0] * 4 and pictures[-1].max() == 255
    assert all((picture == pictures[0]).all() for picture in pictures)


def test_the_list_of_exceptions_has_those_that_are_known() -> None:
    """Each is tried, that it may go from the list when it has one result, and is in the summary of docs/concepts.md."""
    table = PAGE.partition("## Exceptions to one result")[2].partition("## What Vulkan forbids")[0]
    depths, patches = [], []
    for profile in ("host", "adreno-a740"):
        dev = tg.Device(profile, threads=1)
        depth, color = dev.image((16, 16), "d32_sfloat"), dev.image((16, 16), "r8_unorm")
        behind, plain = FULL.replace("0.5, 1)", "0.8, 1)"), "layout(location = 0) out vec4 o; void main() { o = vec4(1); }"
        lies = "layout(depth_greater) out float gl_FragDepth;" + plain.replace("{", "{ gl_FragDepth = 0.1;")
        fixed = {"color": [color.format], "depth": depth.format}
        with dev.render_pass(color=tg.Attachment(color, clear=(0,)), depth=tg.Attachment(depth, clear=1)) as rp:
            rp.draw(dev.pipeline(FULL, "#version 450\n" + plain, depth_compare="less", **fixed), count=3)
            rp.draw(dev.pipeline(behind, "#version 450\n" + lies, depth_compare="less", **fixed), count=3)
        depths.append(float(depth.numpy()[0, 0, 0]))
    assert (len(set(depths)) > 1) == ("depth_greater" in table)
    control = """#version 450
    layout(vertices = 32) out; layout(location = 0) out float v[]; layout(location = 1) out float w[];
    void main() {
      gl_out[gl_InvocationID].gl_Position = vec4(0); v[gl_InvocationID] = 0.5;
      w[gl_InvocationID] = v[(gl_InvocationID + 7) % 32];
      gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelOuter[3] = 1;
      gl_TessLevelInner[0] = gl_TessLevelInner[1] = 1;
    }"""
    evaluation = """#version 450
    layout(quads) in; layout(location = 1) in float w[]; layout(location = 0) out float sum;
    void main() { sum = 0; for (int i = 0; i < 32; i++) sum += w[i] / 32; gl_Position = vec4(gl_TessCoord.xy * 2 - 1, 0, 1); }"""
    shown = "#version 450\nlayout(location = 0) in float sum; layout(location = 0) out float o; void main() { o = sum; }"
    for lanes in (4, 16):
        dev = tg.Device(lanes=lanes, threads=1)
        image = dev.image((8, 8), "r32_sfloat")
        stages = {"tessellation_control": control, "tessellation_evaluation": evaluation}
        pipe = dev.pipeline(FULL, shown, **stages, color=[image.format], patch_control_points=4)
        with warnings.catch_warnings(), dev.render_pass(color=tg.Attachment(image, clear=(9,))) as rp:
            warnings.simplefilter("ignore")
            rp.draw(pipe, count=4)
        patches.append(float(image.numpy()[4, 3, 0]))
    assert (len(set(patches)) > 1) == ("tessellation control shader" in table)
    concepts = (Path(__file__).parent.parent / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert "depth_greater" in concepts and "neither loads nor covers" not in concepts
