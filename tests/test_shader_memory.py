"""What a specialised shader says of its own sizes: array lengths, descriptor counts, interfaces, private memory, the stack. Each is used as
said, or an error before work starts; memory is never touched outside. Every length goes through an OpSpecConstantOp, which no validator
checks."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import spirv
import tilegpu as tg

FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
FORMAT = "r32g32b32a32_sfloat"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def drawn(
    dev: tg.Device, vert: Any, frag: Any, *, bind: Any = None, push: Any = None, constants: Any = None, side: int = 8
) -> np.ndarray:
    out = dev.image((side, side), FORMAT)
    pipe = dev.pipeline(vert, frag, color=[out], constants=constants)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind=bind, push=push)
    return out.numpy()


# -- lengths


class Place(NamedTuple):
    """Where an array of length ``L`` may stand; ``most``: the largest length that is allowed there."""

    name: str
    most: int
    frag: str
    vert: str = FULL


HEAD = """#version 450
layout(constant_id = 0) const int N = 4;
const int L = N + 0;
layout(location = 0) out vec4 o;
"""
PUSH = "layout(push_constant) uniform P { int i; };\n"
PLACES = [
    Place("local", 16384, PUSH + "void main() { float a[L]; a[i] = 1.0; a[i + int(gl_FragCoord.x)] = 2.0; o = vec4(a[i]); }"),
    Place("local vectors", 4096, PUSH + "void main() { vec4 a[L]; a[i] = vec4(1); a[i + int(gl_FragCoord.x)] = vec4(2); o = a[i]; }"),
    Place("local matrices", 1024, PUSH + "void main() { mat4 a[L]; a[i] = mat4(1); a[i + int(gl_FragCoord.x)][i] = vec4(2); o = a[i][1]; }"),
    Place("of arrays", 4096, PUSH + "void main() { float a[2][L][2]; a[i][i][i] = 1.0; a[1][i + int(gl_FragCoord.x)][i] = 2.0; o = vec4(a[1][i][i]); }"),
    Place("in a structure", 16383, PUSH + "struct S { float x; float a[L]; }; void main() { S s; s.a[i] = 1.0; s.a[i + int(gl_FragCoord.x)] = 2.0; o = vec4(s.a[i]); }"),
    Place("global", 16384, PUSH + "float a[L]; void main() { a[i] = 1.0; a[i + int(gl_FragCoord.x)] = 2.0; o = vec4(a[i]); }"),
    Place("returned", 8000, PUSH + "float[L] f() { float a[L]; a[i] = 2.0; return a; } void main() { o = vec4(f()[i]); }"),
    Place("parameter", 8000, PUSH + "float f(float a[L]) { a[i] += 1.0; return a[i]; } void main() { float a[L]; a[i] = 2.0; o = vec4(f(a)); }"),
    Place("fragment input", 253, PUSH + "layout(location = 0) in float v[L]; void main() { o = vec4(v[0]); }",
          HEAD.replace("layout(location = 0) out vec4 o;", "layout(location = 0) out float v[L];") + FULL[13:-1] + " v[gl_VertexIndex] = 1.0; v[0] = 2.0; }"),
    Place("vertex input", 0, PUSH + "void main() { o = vec4(2); }",
          HEAD.replace("layout(location = 0) out vec4 o;", "layout(location = 0) in float v[L];") + FULL[13:-1] + " gl_Position.z = v[gl_VertexIndex]; }"),
    Place("fragment output", 8, "layout(location = 0) out vec4 p[L]; void main() { p[int(gl_FragCoord.y)] = vec4(2); }"),
    Place("clip distances", 8, "void main() { o = vec4(2); }",
          HEAD.replace("layout(location = 0) out vec4 o;", "out float gl_ClipDistance[L];") + FULL[13:-1] + " gl_ClipDistance[gl_VertexIndex] = 1.0; }"),
    Place("cull distances", 8, "void main() { o = vec4(2); }",
          HEAD.replace("layout(location = 0) out vec4 o;", "out float gl_CullDistance[L];") + FULL[13:-1] + " gl_CullDistance[gl_VertexIndex] = 1.0; }"),
    Place("clip distances read", 8, "in float gl_ClipDistance[L]; void main() { o = vec4(gl_ClipDistance[int(gl_FragCoord.x)]); }",
          "#version 450\nout float gl_ClipDistance[8];" + FULL[13:-1] + " for (int k = 0; k < 8; ++k) gl_ClipDistance[k] = 1.0; }"),
    Place("push constants", 61, "layout(push_constant) uniform P { int i; int a[L]; int b, c; }; void main() { o = vec4(a[i]); }"),
    Place("uniform block", 268435452, PUSH + "layout(binding = 0) uniform U { vec4 x; vec4 a[L]; }; void main() { o = a[i]; }"),
    Place("storage block", 268435454, PUSH + "layout(binding = 0) buffer U { vec4 a[L]; vec4 x; }; void main() { o = a[i]; a[i] = vec4(2); x = vec4(2); }"),
    Place("storage buffers", 65536, PUSH + "layout(binding = 0) buffer U { vec4 a; } u[L]; void main() { o = u[i].a; u[i].a = vec4(2); }"),
    Place("uniform buffers", 65536, PUSH + "layout(binding = 0) uniform U { vec4 a; } u[L]; void main() { o = u[i].a; }"),
    Place("textures", 65536, PUSH + "layout(binding = 0) uniform sampler2D u[L]; void main() { o = texture(u[i], vec2(0)); }"),
    Place("separate textures", 65536, PUSH + "layout(binding = 0) uniform texture2D u[L]; layout(binding = 1) uniform sampler s; void main() { o = texture(sampler2D(u[i], s), vec2(0)); }"),
    Place("separate samplers", 65536, PUSH + "layout(binding = 0) uniform texture2D u; layout(binding = 1) uniform sampler s[L]; void main() { o = texture(sampler2D(u, s[i]), vec2(0)); }"),
    Place("input attachments", 1, PUSH + "layout(input_attachment_index = 0, binding = 0) uniform subpassInput u[L]; void main() { o = subpassLoad(u[i]); }"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda p: p.name)
def test_lengths(dev: tg.Device, place: Place) -> None:
    """Lengths that no array may have are refused by name; allowed ones are drawn, or refused because of what is not bound."""
    for length in (0, -1, -(2**31), 1, 2, 5, 300, 65537, 2**20, 2**31 - 1):
        head = HEAD.replace("layout(location = 0) out vec4 o;", "") if place.name == "fragment output" else HEAD
        push: Any = {"i": -7} if "int i;" in place.frag else None
        if place.name == "push constants":
            push = {"i": -7, "a": np.zeros(max(1, min(length, 99)), "i4"), "b": 0, "c": 0}
        try:
            drawn(dev, place.vert, head + place.frag, constants={"N": length}, push=push)
        except tg.Error as error:
            text = str(error)
            assert "internal" not in text, (length, text)
            if length < 1:
                assert "at least 1 is allowed" in text and f"here {length})" in text, (length, text)
            assert length < 1 or length > place.most or "bound" in text or "bind" in text, (length, text)
        else:
            assert 1 <= length <= place.most, length


def test_zero_length_array() -> None:
    """The reproduction: a local array of 4 - 4 elements."""
    frag = """#version 450
layout(constant_id=0) const int N = 4;
layout(push_constant) uniform P { int i; };
layout(location=0) out vec4 o;
void main() { vec4 a[N-4]; a[i] = vec4(1,2,3,4); a[i+int(gl_FragCoord.x)] += vec4(5); o = a[i] + a[0]; }"""
    with pytest.raises(
        tg.ShaderError,
        match=r"variable 'a': its array length is 0; at least 1 .* constant 'N' \(constant_id 0, here 4\)",
    ):
        tg.Device(cache_dir="off").pipeline(FULL, frag, color=[FORMAT])


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("length", [1, 2, 7, 65, 300])
def test_indices_stay_within_specialised_arrays(lanes: int, length: int) -> None:
    """An index beyond means the last element, of local arrays and of arrays within arrays."""
    frag = """#version 450
layout(constant_id = 0) const int N = 1;
layout(push_constant) uniform P { int i; };
layout(location = 0) out vec4 o;
void main() { float a[N], b[N * 2 - N + 0][2]; for (int k = 0; k < N; ++k) { a[k] = float(k); b[k][0] = float(-k); b[k][1] = 0.5; }
  int x = int(gl_FragCoord.x); o = vec4(a[x + i], a[x - 1], b[x + i][0], b[x][x + 2]); }"""
    dev = tg.Device(cache_dir="off", lanes=lanes)
    out = drawn(dev, FULL, frag, push={"i": length - 2}, constants={"N": length})
    x = np.arange(8)
    last = length - 1
    above = np.where((x + length - 2 >= 0) & (x + length - 2 < length), x + length - 2, last)
    below = np.where((x - 1 >= 0) & (x - 1 < length), x - 1, last)
    want = np.stack([above, below, -above, np.full(8, 0.5)], axis=1).astype("f4")
    assert (out[3] == want).all(), (out[3], want)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_specialised_descriptor_arrays(dev: tg.Device, count: int) -> None:
    """As many descriptors as the specialised length; an index beyond means the last."""
    frag = """#version 450
layout(constant_id = 0) const int N = 2;
layout(push_constant) uniform P { int i; };
layout(set = 0, binding = 0) buffer B { uint x[]; } b[N];
layout(set = 0, binding = 1) uniform sampler2D t[N * 2];
layout(location = 0) out vec4 o;
void main() { o = vec4(b[i].x[0], b[int(gl_FragCoord.x)].x[0], textureLod(t[i], vec2(0), 0.0).x, b.length()); if (gl_FragCoord.y < 1.0) b[i].x[1] = 7u; }"""
    for i in (0, 1, count - 1, count, 99, 1000000, -1):
        buffers = [dev.buffer(np.full(16, k + 1, np.uint32), usage="storage") for k in range(count)]
        textures = [dev.texture(np.full((1, 1, 4), 10 * k, np.uint8)) for k in range(2 * count)]
        out = drawn(
            dev,
            FULL,
            frag,
            bind={"b": buffers if count > 1 else buffers[0], "t": textures},
            push={"i": i},
            constants={0: count},
        )
        at = i if 0 <= i < count else count - 1
        tex = i if 0 <= i < 2 * count else 2 * count - 1
        want = [[at + 1, min(x, count - 1) + 1, np.float32(10 * tex) / np.float32(255), count] for x in range(8)]
        assert (out[3] == np.array(want, "f4")).all(), i
        assert [int(b.numpy().view(np.uint32)[1]) for b in buffers] == [7 if k == at else k + 1 for k in range(count)]


def test_specialised_blocks_are_filled_by_name(dev: tg.Device) -> None:
    """What is bound, and its size, follow the specialised lengths."""
    frag = """#version 450
layout(constant_id = 0) const int N = 2;
layout(push_constant) uniform P { vec4 p[N]; };
layout(set = 0, binding = 0) uniform U { vec4 a[N]; vec4 end; };
layout(location = 0) out vec4 o;
void main() { o = a[N - 1] + end + p[N - 1]; }"""
    for n in (1, 2, 5):
        values = np.arange(4 * n, dtype="f4").reshape(n, 4)
        uniform = {"a": values, "end": (100, 200, 300, 400)}
        out = drawn(dev, FULL, frag, bind={"U": uniform}, push={"p": values}, constants={"N": n})
        assert (out[0, 0] == 2 * values[-1] + [100, 200, 300, 400]).all()
    with pytest.raises(
        tg.ShaderError, match=r"takes 272 bytes; at most 256 are allowed.*constant 'N' \(constant_id 0, here 17\)"
    ):
        dev.pipeline(FULL, frag, color=[FORMAT], constants={"N": 17})


def test_clip_distances(dev: tg.Device) -> None:
    """Eight are stored and clip; nine are refused by name."""
    vert = """#version 450
layout(constant_id = 0) const int N = 4;
out float gl_ClipDistance[N * 1];
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0);
  for (int k = 0; k < N; ++k) gl_ClipDistance[k] = 1.0; gl_ClipDistance[N - 1] = -gl_Position.x; }"""
    frag = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
    for n in (1, 4, 8):
        assert (drawn(dev, vert, frag, constants={"N": n})[0, :, 0] == [1, 1, 1, 1, 0, 0, 0, 0]).all()
    with pytest.raises(tg.ShaderError, match="gl_ClipDistance has 9 elements; at most 8 are allowed"):
        dev.pipeline(vert, frag, color=[FORMAT], constants={"N": 9})


# -- types and constants of strangers


ASM = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %out
OpExecutionMode %main OriginUpperLeft
OpDecorate %out Location 0
OpDecorate %spec SpecId 0
%void = OpTypeVoid
%vf = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%v4 = OpTypeVector %float 4
%pout = OpTypePointer Output %v4
%pfloat = OpTypePointer Function %float
%out = OpVariable %pout Output
%one = OpConstant %float 1
%u0 = OpConstant %uint 0
%u2 = OpConstant %uint 2
%spec = OpSpecConstant %uint 2
%ones = OpConstantComposite %v4 %one %one %one %one
"""


def asm(declarations: str, body: str = "") -> bytes:
    text = ASM + declarations + "%main = OpFunction %void None %vf\n%entry = OpLabel\n" + body
    return spirv.assemble(text + "OpStore %out %ones\nOpReturn\nOpFunctionEnd\n")


def refused(dev: tg.Device, module: bytes, match: str, **arguments: Any) -> None:
    with pytest.raises(tg.Error, match=match):
        dev.pipeline(FULL, module, color=[FORMAT], **arguments)


def test_structures_of_nothing(dev: tg.Device) -> None:
    """An array of 2^31 empty structures has no scalar; walking through it would take for ever."""
    module = asm(
        "%none = OpTypeStruct\n%n = OpSpecConstantOp %uint IMul %spec %u2\n%many = OpTypeArray %none %n\n%pmany = OpTypePointer Function %many\n",
        "%v = OpVariable %pmany Function\n%x = OpLoad %many %v\nOpStore %v %x\n",
    )
    assert (drawn(dev, FULL, module)[0, 0] == 1).all()
    refused(dev, module, "parts; at most 65536 are allowed", constants={0: 2**30})


def test_types_that_double(dev: tg.Device) -> None:
    """A structure of two structures of two structures ...: 2^18 scalars in 18 lines. One of so many is refused whether it is used or not,
    before it is validated; a smaller one only where a value of it would be too large."""

    def doubled(times: int) -> str:
        return "%s0 = OpTypeStruct %float\n" + "".join(f"%s{k} = OpTypeStruct %s{k - 1} %s{k - 1}\n" for k in range(1, times + 1))

    def used(times: int) -> Any:
        return asm(doubled(times) + f"%p = OpTypePointer Function %s{times}\n", "%v = OpVariable %p Function\n")

    refused(dev, used(18), "at most 65536 are allowed")
    refused(dev, asm(doubled(18)), "a structure of 131072 members")
    refused(dev, used(16), "parts; at most 65536 are allowed")
    assert (drawn(dev, FULL, asm(doubled(16)))[0, 0] == 1).all()  # not used


def test_types_within_types(dev: tg.Device) -> None:
    declarations = "%a0 = OpTypeArray %float %u2\n" + "".join(
        f"%a{k} = OpTypeArray %a{k - 1} %spec\n" for k in range(1, 5000)
    )
    refused(dev, asm(declarations), "nests more than 128 types, the limit")


def test_constants_together_are_bounded(dev: tg.Device) -> None:
    declarations = "%k = OpConstant %uint 1000000\n%big = OpTypeArray %float %k\n" + "".join(
        f"%c{k} = OpConstantNull %big\n" for k in range(3000)
    )
    refused(dev, asm(declarations), "all constants up to it 20000.*; the limit is 1048576")


# -- private memory and the stack


def many_arrays(count: int, length: int = 64) -> str:
    body = "".join(
        f"float a{k}[{length}]; for (int j = 0; j < {length}; ++j) a{k}[j] = float(j * {k}); a{k}[i] = {k}.0; a{k}[i + int(gl_FragCoord.x)] += c; c += a{k}[i * 3];\n"
        for k in range(count)
    )
    return (
        "#version 450\nlayout(push_constant) uniform P { int i; };\nlayout(location = 0) out vec4 o;\nvoid main() { float c = 0.0;\n"
        + body
        + "o = vec4(c); }"
    )


def test_private_memory_is_one_sum(dev: tg.Device) -> None:
    """Small arrays count as large ones do."""
    frag = many_arrays(257).replace("for (int j = 0; j < 64; ++j) ", "for (int j = 0; j < 1; ++j) ")
    with pytest.raises(tg.OutOfMemoryError, match="private arrays take 65792 bytes an invocation; the limit is 65536"):
        dev.pipeline(FULL, frag, color=[FORMAT])


@pytest.mark.parametrize("count", [3, 40])
def test_arrays_on_the_stack_and_beyond(count: int) -> None:
    """The first ones lie on the stack, the others in the thread's memory: no difference."""
    i, want = 5, []
    for x in range(8):
        c = np.float32(0)
        for k in range(count):
            a = np.arange(64, dtype="f4") * np.float32(k)
            a[i] = k
            a[i + x] += c
            c += a[i * 3]
        want.append(c)
    for lanes in (4, 8, 16):
        dev = tg.Device(cache_dir="off", lanes=lanes)
        assert (drawn(dev, FULL, many_arrays(count), push={"i": i})[2, :, 0] == np.array(want)).all()


def test_calls_share_memory(dev: tg.Device) -> None:
    """Sibling calls take the same place, nested ones do not."""
    functions = "".join(
        f"float f{k}(int i) {{ float a[64]; for (int j = 0; j < 64; ++j) a[j] = float(j + {k}); a[i] += {f'f{k - 1}(i + 1)' if k else '0.0'}; return a[i]; }}\n"
        for k in range(20)
    )
    frag = (
        "#version 450\nlayout(location = 0) out vec4 o;\n"
        + functions
        + "void main() { int x = int(gl_FragCoord.x); o = vec4(f19(x), f19(x + 1), f19(x), 0); }"
    )
    out = drawn(dev, FULL, frag)
    f = [sum(x + 19 - k + k for k in range(20)) for x in range(9)]
    assert (out[1, :, 0] == f[:8]).all() and (out[1, :, 1] == f[1:]).all() and (out[1, :, 2] == f[:8]).all()


def test_frames_of_many_values(dev: tg.Device) -> None:
    """Far more values alive at once than there are registers; frames beyond the limit are in test_jit.cpp."""
    names = [f"v{k}" for k in range(300)]
    body = "".join(f"float {n} = x * {k}.5;\n" for k, n in enumerate(names)) + "float s = 0.0;\n"
    body += f"if (x > 4.0) {{ s = {' + '.join(names)}; }} else {{ s = {' - '.join(names)}; }}\n"
    frag = (
        "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { float x = gl_FragCoord.x + 0.5;\n"
        + body
        + "o = vec4(s); }"
    )
    x = np.arange(1, 9)
    values = np.array([[a * (k + 0.5) for k in range(300)] for a in x])
    want = np.where(x > 4, values.sum(axis=1), 2 * values[:, 0] - values.sum(axis=1))
    assert (drawn(dev, FULL, frag)[1, :, 0] == want).all()


def test_deep_nesting_of_calls_and_selections(dev: tg.Device) -> None:
    """Inlined, the depths add up; the compiler's own stack is bounded."""
    depth, functions = 90, 40
    text = "#version 450\nlayout(location = 0) out vec4 o;\nfloat f0(float x) { return x; }\n"
    for k in range(1, functions):
        text += (
            f"float f{k}(float x) {{ "
            + "if (x > 0.5) { " * depth
            + f"x = f{k - 1}(x);"
            + " }" * depth
            + " return x; }\n"
        )
    text += f"void main() {{ o = vec4(f{functions - 1}(gl_FragCoord.x)); }}"
    with pytest.raises(tg.ShaderError, match="control flow nests deeper than 400 with its calls, the limit"):
        dev.pipeline(FULL, text, color=[FORMAT])
