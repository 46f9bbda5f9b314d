"""The bits of NaN, seen as integers: what arithmetic makes is the one NaN, whichever operand, processor or order LLVM chose; what only
moves a value keeps its bits, as programs carry integers in floats. And integers of 64 bits become floats with one rounding."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

ONE = 0x7FC00000
#: Quiet and signalling, of either sign: as whole numbers -1, -8314043, 2143363909, 2139095041.
GIVEN = (0xFFFFFFFF, 0xFF812345, 0x7FC12345, 0x7F800001)
ARITHMETIC = """
x * y + z; x + y; y - x; x * y; x / y; y / x; -y; abs(y); fma(x, y, z); mod(x, z); dot(vec3(x, y, z), vec3(z, x, y)); length(vec2(x, y));
min(y, z); max(y, z); clamp(y, z, z); mix(x, y, z); sqrt(y); inversesqrt(y); sin(y); atan(y, x); exp2(y); log(y); floor(y); fract(y);
round(y); trunc(y); ldexp(y, 2); radians(y); normalize(vec2(y, z)).x; cross(vec3(x, y, z), vec3(y, z, x)).x;
reflect(vec3(x, y, z), vec3(y, z, x)).x; refract(vec3(x, y, z), vec3(y, z, x), y).x; determinant(mat2(x, y, z, x));
inverse(mat2(x, y, z, x))[0][0]; (mat2(x, y, z, x) * vec2(y, z)).x; float(double(y)); modf(y, whole); whole_of(y); subgroupAdd(y);
made(x, y); x > 0.0 ? x + y : x; sum_of(y)
"""
MOVES = """
y; x > 0.0 ? y : z; vec4(x, y, z, x).y; intBitsToFloat(floatBitsToInt(y)); same(y); list[k]; mat2(x, y, z, x)[0][1]; held.b;
subgroupBroadcastFirst(y); subgroupShuffle(y, 0u); transpose(mat2(x, z, y, x))[0][1]; x < 0.0 ? y + x : y; kept(y, x)
"""
CODE = """#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 1) in;
layout(binding = 0) READ { vec4 given[1]; };
layout(binding = 1) buffer Out { uint seen[]; };
struct Pair { float a, b; };
shared float shared_by_all;
float same(float v) { return v; }
float made(float a, float b) { return a + b; }
float kept(float a, float b) { float r = b; for (int n = 0; n < 2; n++) r = a; return r; }
float sum_of(float v) { float r = 0.0; for (int n = 0; n < 2; n++) r += v; return r; }
void into(float v, out float to) { to = v; }
float whole_of(float v) { float w; modf(v, w); return w; }
void main() {
  float x = given[0].x, y = given[0].y, z = given[0].z, whole;
  int k = int(given[0].w) + 1;
  float list[3] = float[3](x, y, z);
  Pair held = Pair(x, y);
  float r = EXPRESSION, through;
  seen[0] = floatBitsToUint(EXPRESSION);
  seen[1] = floatBitsToUint(r);
  vec2 part = vec2(0.0);
  part[k - 1] = r;
  seen[2] = uint(floatBitsToInt(part.x));
  into(r, through);
  seen[3] = floatBitsToUint(through);
  shared_by_all = r;
  barrier();
  seen[4] = floatBitsToUint(shared_by_all);
  uvec2 both = unpackDouble2x32(packDouble2x32(uvec2(floatBitsToUint(r), 0u)));
  seen[5] = both.x;
}
"""


def expressions(text: str) -> list[str]:
    return [" ".join(e.split()) for e in text.split(";")]


def seen(device: tg.Device, expression: str, given: int, read: str = "readonly buffer In") -> set[int]:
    """Words that the shader saw. What is stored as a float is stored with the one NaN, in shared memory, too."""
    code = CODE.replace("EXPRESSION", expression).replace("READ", read)
    values = np.array([0x3F800000, given, 0xFF812345, 0], "u4").view("f4")
    out = device.buffer(np.zeros(6, "u4"))
    device.dispatch(device.compute_pipeline(code), 1, bind={(0, 0): device.buffer(values), (0, 1): out})
    words = [int(word) for word in out.numpy()]
    assert words.pop(4) == ONE
    return set(words)


@pytest.fixture(scope="module", params=[4, 8])
def device(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(threads=1, lanes=request.param)


@pytest.mark.parametrize("expression", expressions(ARITHMETIC))
def test_arithmetic_makes_the_one_nan(device: tg.Device, expression: str) -> None:
    for given in GIVEN:
        assert seen(device, expression, given) == {ONE}, hex(given)


@pytest.mark.parametrize("expression", expressions(MOVES))
def test_moves_keep_the_bits(device: tg.Device, expression: str) -> None:
    for given in GIVEN:
        assert seen(device, expression, given) == {given}, hex(given)
        assert seen(device, expression, given, "uniform In") == {given}, hex(given)


def test_optimised_code_gives_the_same() -> None:
    for text, wanted in ((ARITHMETIC, None), (MOVES, 0xFF812345)):
        device = tg.Device(threads=1, cache_dir="off")
        for expression in expressions(text)[::7]:
            assert seen(device, expression, 0xFF812345) == {wanted or ONE}
        device.wait_compiles()
        for expression in expressions(text)[::7]:
            assert seen(device, expression, 0xFF812345) == {wanted or ONE}


def test_what_fragments_are_given_is_interpolated_or_kept() -> None:
    """A smooth input is arithmetic; a flat one has the bits that it was given, or the one NaN where the vertex shader made it."""
    vertex = """#version 450
    layout(binding = 0) readonly buffer In { vec4 given[1]; };
    layout(location = 0) out float smoothly;
    layout(location = 1) flat out float given_flat;
    layout(location = 2) flat out float made_flat;
    void main() {
      vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
      gl_Position = vec4(p * 2.0 - 1.0, 0.5, 1.0);
      smoothly = given_flat = given[0].y;
      made_flat = given[0].x * given[0].y + given[0].z;
    }"""
    fragment = """#version 450
    layout(location = 0) in float smoothly;
    layout(location = 1) flat in float given_flat;
    layout(location = 2) flat in float made_flat;
    layout(location = 0) out uvec4 o;
    void main() {
      o.xy = uvec2(floatBitsToUint(smoothly), floatBitsToUint(given_flat));
      o.zw = uvec2(floatBitsToUint(made_flat), floatBitsToUint(dFdx(smoothly)));
    }"""
    format_ = "r32g32b32a32_uint"
    for lanes in (4, 8):
        device = tg.Device(threads=1, lanes=lanes)
        pipeline, out = device.pipeline(vertex, fragment, color=[format_]), device.image((8, 8), format_)
        given = device.buffer(np.array([0x3F800000, 0xFFFFFFFE, 0x7F812345, 0], "u4").view("f4"))
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipeline, count=3, bind={"In": given})
        assert (out.numpy() == (ONE, 0xFFFFFFFE, ONE, ONE)).all()


def test_derivatives_of_what_all_lanes_share() -> None:
    """Infinity less infinity is no number, also where the compiler knows that all lanes have it."""
    fragment = """#version 450
    layout(binding = 0) readonly buffer In { vec4 given[1]; };
    layout(location = 0) out uvec4 o;
    void main() {
      float x = given[0].x, y = given[0].y;
      o = uvec4(floatBitsToUint(dFdx(y)), floatBitsToUint(dFdyFine(y)), floatBitsToUint(fwidth(y)), floatBitsToUint(fwidthCoarse(x)));
    }"""
    vertex = "#version 450\nvoid main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0.5, 1.0); }"
    format_ = "r32g32b32a32_uint"
    device = tg.Device(threads=1)
    out = device.image((8, 8), format_)
    for infinite in (np.inf, -np.inf, np.nan):
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            given = np.array([2.5, infinite, 0, 0], "f4")
            rp.draw(device.pipeline(vertex, fragment, color=[format_]), count=3, bind={"In": device.buffer(given)})
        assert (out.numpy() == (ONE, ONE, ONE, 0)).all()


def near_ties(rng: np.random.Generator) -> np.ndarray:
    """Whole numbers of up to 64 bits beside what lies between two floats."""
    values = [0, 1, 2**63, 2**64 - 1, 2**63 - 1, 2**53 - 1, 2**53, 2**53 + 1, 2**24 + 1]
    for _ in range(1500):
        bits = int(rng.integers(25, 65))
        value = (int(rng.integers(1 << 23, 1 << 24)) << (bits - 24)) + (1 << bits - 25)
        values += [value + d for d in (-1, 0, 1, 1 << int(rng.integers(0, max(1, bits - 25))))]
    return np.array([v & (2**64 - 1) for v in values], "u8")


@pytest.mark.parametrize("kind", ["uint64_t", "int64_t"])
@pytest.mark.parametrize("to", ["float", "double"])
def test_long_integers_are_rounded_once(device: tg.Device, kind: str, to: str) -> None:
    code = f"""#version 450
    #extension GL_EXT_shader_explicit_arithmetic_types : require
    layout(local_size_x = 8) in;
    layout(binding = 0) readonly buffer In {{ {kind} given[]; }};
    layout(binding = 1) buffer Out {{ {to} made[]; }};
    void main() {{ uint k = gl_GlobalInvocationID.x; if (k < given.length()) made[k] = {to}(given[k]); }}"""
    given = near_ties(np.random.default_rng(64))
    made = device.buffer(np.zeros(len(given), "f4" if to == "float" else "f8"))
    device.dispatch(device.compute_pipeline(code), -(-len(given) // 8), bind={"In": device.buffer(given), "Out": made})
    wanted = given.astype(made.numpy().dtype) if kind[0] == "u" else given.view("i8").astype(made.numpy().dtype)
    assert np.array_equal(made.numpy().view("u4"), wanted.view("u4"))


#: Of NaN, infinities and what has no value there, stored as floats.
STORED = """
sin(y); cos(y); tan(y); asin(y); acos(y); atan(y); atan(y, x); sinh(y); cosh(y); tanh(y); asinh(y); acosh(y); atanh(y); exp(y); exp2(y);
log(y); log2(y); pow(y, x); pow(x, y); sqrt(y); inversesqrt(y); floor(y); ceil(y); fract(y); round(y); roundEven(y); trunc(y); degrees(y);
radians(y); mod(y, x); mod(x, y); abs(y); -y; y + x; y - y; y * x; y / y; x / y; fma(y, x, x); mix(y, x, 0.5); smoothstep(x, y, x);
length(vec2(y, x)); normalize(vec2(y, x)).y; reflect(vec2(y, x), vec2(x, y)).y; refract(vec2(y, x), vec2(x, y), x).y; ldexp(y, 3);
faceforward(vec2(y, x), vec2(x, y), vec2(x, y)).x; determinant(mat2(y, x, x, y)); inverse(mat2(y, x, x, y))[1][0]; cross(vec3(y), vec3(x)).x
"""


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("code", ["quick", "optimised"])
def test_stores_of_what_functions_make_have_one_nan(lanes: int, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGPU_CODE", code)
    dev = tg.Device(lanes=lanes, cache_dir="off", threads=1)
    expressions = [one.strip() for one in STORED.split(";")]
    stores = "\n".join(f"o[i * {len(expressions)}u + {k}u] = {one};" for k, one in enumerate(expressions))
    pipe = dev.compute_pipeline(
        f"""#version 450
        layout(local_size_x = 16) in;
        layout(binding = 0) readonly buffer A {{ float a[]; }};
        layout(binding = 1) writeonly buffer O {{ float o[]; }};
        void main() {{ uint i = gl_GlobalInvocationID.x; float y = a[i], x = a[i + 16u]; {stores} }}"""
    )
    special = np.array([*GIVEN, 0x7F800000, 0xFF800000, 0xBF800000, 0xC0400000, 0x40400000, 0, 0x80000000, 1], np.uint32)
    given = np.resize(special, 32).view(np.float32)
    out = dev.buffer(np.zeros(16 * len(expressions), np.float32))
    dev.dispatch(pipe, invocations=16, bind={"A": dev.buffer(given), "O": out})
    bits = out.numpy(np.uint32).reshape(16, -1)
    nans = (bits & 0x7FFFFFFF) > 0x7F800000
    assert nans.any(0).sum() >= len(expressions) - 8
    wrong = {expressions[k] for k in np.nonzero((nans & (bits != ONE)).any(0))[0]}
    assert not wrong, wrong


@pytest.mark.filterwarnings("ignore::tilegpu.errors.ClampedValueWarning")
@pytest.mark.parametrize("name", ["r8g8b8a8_sint", "r16g16b16a16_sint", "r32g32b32a32_sint", "r8g8b8a8_uint", "r32g32b32a32_uint"])
def test_nan_as_a_clear_value_of_integers_is_0(name: str) -> None:
    dev = tg.Device(cache_dir="off", threads=1)
    image = dev.image((4, 4), name)
    dev.clear(image, (float("nan"), 1, -float("nan"), 2))
    assert image.numpy()[0, 0].tolist() == [0, 1, 0, 2]
    with dev.render_pass(color=[tg.Attachment(image, clear=(3, float("nan"), 4, float("nan")))]):
        pass
    assert image.numpy()[0, 0].tolist() == [3, 0, 4, 0]


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("code", ["quick", "optimised"])
def test_stores_keep_bits_that_were_given_and_only_moved(lanes: int, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a buffer or a bitcast, as components of composites too; what goes through a variable, a selection or arithmetic is the one NaN."""
    monkeypatch.setenv("TILEGPU_CODE", code)
    dev = tg.Device(lanes=lanes, cache_dir="off", threads=1)
    pipe = dev.compute_pipeline(
        """#version 450
        layout(local_size_x = 16) in;
        struct Pair { float a; uint b; };
        layout(binding = 0) readonly buffer A { float a[]; };
        layout(binding = 1) readonly buffer N { uint n[]; };
        layout(binding = 2) readonly buffer P { Pair p[]; };
        layout(binding = 3) writeonly buffer O { vec4 o[]; };
        layout(binding = 4) writeonly buffer Q { Pair q[]; };
        void main() {
          uint i = gl_GlobalInvocationID.x;
          o[i * 4] = vec4(a[i], uintBitsToFloat(n[i]), uintBitsToFloat(0xFF812345u), 1.0);
          o[i * 4 + 1] = vec4(vec2(1.0, a[i]), vec2(a[i] + 1.0, uintBitsToFloat(n[i]))).wzyx;
          float through = a[i];
          o[i * 4 + 2] = vec4(through, n[i] > 5u ? a[i] : a[i + 1], -a[i], a[n[i] & 15u]);
          o[i * 4 + 3].y = uintBitsToFloat(n[i]);
          q[i] = p[i];
        }"""
    )
    bits = np.resize(np.array([*GIVEN, 0x3F800000], np.uint32), 17)
    pairs = np.repeat(bits[:16, None], 2, axis=1)
    out, q = dev.buffer(np.zeros((64, 4), np.float32)), dev.buffer(np.zeros(128, np.uint8))
    held = dev.buffer(pairs.reshape(-1).view(np.uint8))
    bind = {"A": dev.buffer(bits.view(np.float32)), "N": dev.buffer(bits), "P": held, "O": out, "Q": q}
    dev.dispatch(pipe, invocations=16, bind=bind)
    found = out.numpy(np.uint32).reshape(16, 4, 4)
    one = np.uint32(0x3F800000)
    own = bits[:16]
    canonical = np.where((bits & 0x7FFFFFFF) > 0x7F800000, np.uint32(ONE), bits)
    assert (found[:, 0] == np.stack([own, own, np.full(16, 0xFF812345, np.uint32), np.full(16, one)], 1)).all()
    assert (found[:, 1, [0, 2, 3]] == np.stack([own, own, np.full(16, one)], 1)).all()
    assert (found[:, 2, 0] == canonical[:16]).all()
    assert (found[:, 2, 1] == canonical[:16]).all()
    assert (found[:, 2, 3] == bits[own & 15]).all()
    assert ((found[:, 2, 2] == ONE) | (own == one)).all()
    assert (found[:, 3, 1] == own).all() and (q.numpy(np.uint32).reshape(16, 2) == pairs).all()
