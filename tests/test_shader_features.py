"""What GLSL can say, as a table: each case is a fragment shader's body and the same computation in Python, for 16x16 pixels (i, j).

Every case runs on 4, 8 and 16 lanes: the bits must be the same, and equal the Python values (to a few units in the last place where
the expression rounds).
"""

# ruff: noqa: E501
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

import tilegpu as tg

SIDE = 16
VERT = """#version 450
layout(location = 0) out vec2 uv;
void main() { vec2 c = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0; gl_Position = vec4(c, 0.5, 1); uv = c; }"""
GONE = (-1.0, -1.0, -1.0, -1.0)


class Case(NamedTuple):
    name: str
    body: str
    expected: Callable[[int, int], Sequence[float] | float]
    declarations: str = ""
    tolerance: float = 0.0


def trunc_div(a: int, b: int) -> int:
    return math.trunc(a / b)


def nested(i: int, j: int) -> tuple[float, float]:
    x = y = 0
    for k in range(j):
        s = (i + k) & 3
        if s == 0:
            continue
        if s in (1, 2):
            if s == 1:
                x += 1
            if k != 3:
                x += 10
        elif k == 1:
            x += 300
        elif k == 2:
            x += 200
        y += 1
        if y > 9:
            break
    return x, y


def early_return(k: int) -> float:
    r, s = 0, k & 3
    if s == 3:
        return 3
    if s == 0:
        r += 5
    if s <= 1:
        if k > 4:
            return r
        r += 2
    return r + 100


def loops(i: int, j: int) -> float:
    k, x = 0, 0
    while True:
        if k > i:
            break
        k += 1
        while True:
            if k > j:
                break
            k += 2
            if k == 7:
                return x
        x = k
    return x


def signed_mod(a: int, b: int) -> int:
    return a - b * trunc_div(a, b)


def default_middle(s: int) -> int:
    return {0: 11, 1: 2, 2: 4}.get(s, 10)


CASES = [
    Case("switch_falls_through", "switch (i & 3) { case 0: o.x += 1; case 1: o.x += 2; break; case 2: o.x += 4; default: o.x += 8; case 7: o.x += 16; }", lambda i, j: [3, 2, 28, 24][i & 3]),
    Case("switch_default_first", "switch (i & 3) { default: o.x += 8; case 0: o.x += 1; case 1: o.x += 2; break; case 2: o.x += 4; }", lambda i, j: [3, 2, 4, 11][i & 3]),
    Case("switch_default_in_the_middle", "switch (i & 7) { case 0: o.x += 1; default: o.x += 8; case 1: o.x += 2; break; case 2: o.x += 4; }", lambda i, j: default_middle(i & 7)),
    Case("switch_with_continue_and_break_in_a_loop", "for (int k = 0; k < j; ++k) { switch ((i + k) & 3) { case 0: continue; case 1: o.x += 1; case 2: if (k == 3) break; o.x += 10; break; default: switch (k) { case 1: o.x += 100; case 2: o.x += 200; } } o.y += 1; if (o.y > 9.0) break; }", nested),
    Case("switch_returns", "o.x = f(i);", lambda i, j: [1, 2, 3, 3][i & 3], "float f(int k) { switch (k & 3) { case 0: return 1.; case 1: return 2.; default: return 3.; } }"),
    Case("switch_return_inside_fallthrough", "o.x = f(i);", lambda i, j: early_return(i), "float f(int k) { float r = 0; switch (k & 3) { case 0: r += 5; case 1: if (k > 4) return r; r += 2; case 2: r += 100; break; default: return 3.; } return r; }"),
    Case("switch_of_nothing", "switch (i) {} switch (j & 1) { case 0: case 1: o.x += 1; default: break; }", lambda i, j: 1),
    Case("switch_on_uniform", "switch (A) { case 3: o.x += 1; case 4: o.x += 2; break; default: o.x += 9; }", lambda i, j: 3, "layout(constant_id = 0) const int A = 3;"),
    Case("switch_on_unsigned", "switch (uint(i) * 0x10000000u) { case 0xf0000000u: o.x = 1; break; case 0x80000000u: o.x = 2; }", lambda i, j: {15: 1, 8: 2}.get(i, 0)),
    Case("do_while_continue", "int k = 0; do { k++; if ((k & 1) == 0) continue; o.x += k; } while (k < i);", lambda i, j: sum(k for k in range(1, max(i, 1) + 1) if k & 1)),
    Case("endless_loops_left_by_break_and_return", "int k = 0; for (;;) { if (k++ > i) break; for (;;) { if (k > j) break; k += 2; if (k == 7) return; } o.x = k; }", lambda i, j: loops(i, j)),
    Case("while_true_return", "while (true) { o.x += 1; if (o.x > float(i)) return; }", lambda i, j: i + 1),
    Case("loop_with_a_call_as_condition", "int k = 0; while (t(k, i)) k++; o.x = k;", lambda i, j: next(k for k in range(9) if not (k < 7 and k * k < 4 * i)), "bool t(int k, int n) { return k < 7 && k * k < 4 * n; }"),
    Case("short_circuit_has_side_effects", "bool r = i > 3 && f() || j > 2 && f(); o = vec4(r, c, 0, 0);", lambda i, j: (i > 3 or j > 2, 1 if i > 3 or j > 2 else 0), "int c = 0; bool f() { c++; return true; }"),
    Case("discard_in_a_function", "o.x = f(i); o.y = 1;", lambda i, j: GONE if i & 1 else (2, 1), "float f(int k) { if ((k & 1) == 1) discard; return 2.; }"),
    Case("discard_as_a_case", "switch (i & 1) { case 0: o.x = 1; break; default: discard; } o.y = 1;", lambda i, j: GONE if i & 1 else (1, 1)),
    Case("discard_in_a_loop", "for (int k = 0; k < 8; ++k) { if (k == i) discard; o.x += 1; }", lambda i, j: GONE if i < 8 else 8),
    Case("discard_in_a_nested_call_in_a_loop", "for (int k = 0; k < 4; ++k) o.x += g(i + k);", lambda i, j: GONE if i <= 6 <= i + 3 else 8, "float f(int k) { if (k == 6) discard; return 2.; } float g(int k) { return k < 6 || k > 6 ? 2. : f(k); }"),
    Case("demote_keeps_derivatives", "if ((i & 1) == 1) demote; o.x = dFdx(float(i * i)); o.y = helperInvocationEXT() ? 1. : 0.;", lambda i, j: GONE if i & 1 else (2 * i + 1, 0), "#extension GL_EXT_demote_to_helper_invocation : enable\n"),
    Case("matrix_determinant_transpose_outer", "mat3 m = mat3(1, 2, 3, 4, 5, 6, 7, 8, 10 + i); o = vec4(determinant(m), transpose(m)[0][2], outerProduct(vec2(i, j), vec3(1, 2, 3))[2][1], determinant(mat2(i, j, 3, 4)));", lambda i, j: (-3 * (10 + i) + 27, 7, 3 * j, 4 * i - 3 * j)),
    Case("matrix_inverse_4", "mat4 m = mat4(2) + mat4(float(i)); m[2][1] = 3; m[0][3] = -1; o = inverse(m) * (m * vec4(1, 2, 3, 4));", lambda i, j: (1, 2, 3, 4), tolerance=1e-5),
    Case("matrix_inverse_2_and_3", "mat3 m = mat3(4 + i, 1, 0, 1, 3, j, 0, 1, 40); mat2 n = mat2(1, i, 2, 2 * i + 1); o = vec4(inverse(m) * (m * vec3(1, 2, 3)), (inverse(n) * n)[1][1]);", lambda i, j: (1, 2, 3, 1), tolerance=2e-5),
    Case("matrix_arithmetic", "mat2x3 a = mat2x3(1, 2, 3, 4, 5, 6); mat3x2 b = transpose(a); mat2 c = b * a; mat3 d = a * b; o = vec4(c[1][0], d[2][1], matrixCompMult(a, a)[1][2], (a / 2.0)[0][1]); a[i & 1][j % 3] = 9.; o += vec4(a[1][2], (-c)[0][0], (c + 1.0)[0][0], c == transpose(c));", lambda i, j: (32 + (9 if i & 1 and j % 3 == 2 else 6), 36 - 14, 36 + 15, 1 + 1)),
    Case("vector_times_matrix", "mat2x3 a = mat2x3(1, 2, 3, 4, 5, i); vec2 l = vec3(j, 1, 2) * a; vec3 r = a * vec2(j, 2); o = vec4(l, r.yz);", lambda i, j: (j + 2 + 6, 4 * j + 5 + 2 * i, 2 * j + 10, 3 * j + 2 * i)),
    Case("structs_and_arrays_by_dynamic_index", "S s[3]; for (int k = 0; k < 3; ++k) { s[k].a = vec3(k, i, j); for (int n = 0; n < 3; ++n) s[k].b[n] = k * 10 + n; s[k].m = mat2(k); } S t = s[i % 3]; s[1] = t; o = vec4(t.a[j % 3], t.b[i % 3], t.m[1][1], s[j % 3].a.x);", lambda i, j: ((i % 3, i, j)[j % 3], (i % 3) * 11, i % 3, (0, i % 3, 2)[j % 3]), "struct S { vec3 a; int b[3]; mat2 m; };"),
    Case("struct_comparison", "S a = S(vec2(i, 3), ivec2(j)), b = S(vec2(j, 3), ivec2(j)); o.xy = vec2(a == b, a != b);", lambda i, j: (i == j, i != j), "struct S { vec2 v; ivec2 n; };"),
    Case("arrays_of_arrays", "float a[3][4]; for (int x = 0; x < 3; x++) for (int y = 0; y < 4; y++) a[x][y] = x * 10 + y; a[j % 3][i % 4] += 100.; o = vec4(a[i % 3][j % 4], a[1].length(), a.length(), a[j % 3][i % 4]);", lambda i, j: ((i % 3) * 10 + j % 4 + (100 if i % 3 == j % 3 and i % 4 == j % 4 else 0), 4, 3, (j % 3) * 10 + i % 4 + 100)),
    Case("constant_table_and_vector_component", "const float t[4] = float[](1., 2., 3., 4.); vec4 v = vec4(1, 2, 3, 4); v[j & 3] = float(i); o = vec4(t[i & 3], v.xyz);", lambda i, j: ((i & 3) + 1, *[i if k == (j & 3) else k + 1 for k in range(3)])),
    Case("arrays_in_and_out_of_functions", "float a[4]; for (int k = 0; k < 4; k++) a[k] = k; g(a, i & 3); vec4 v = vec4(0); h(v.zx); o = vec4(a[0], a[3 - (i & 3)], v.x, v.z);", lambda i, j: (99 if (i & 3) == 3 else 3, 99, 4, 3), "void g(inout float a[4], int k) { a[k] = 99.; a = float[](a[3], a[2], a[1], a[0]); } void h(out vec2 q) { q = vec2(3, 4); }"),
    Case("globals_with_initialisers", "gx += float(i); o.x = gx; f(); o.y = gx;", lambda i, j: (6 + i, 7 + i), "float gx = float(3) * 2.; void f() { gx += 1.; }"),
    Case("boolean_vectors", "bvec3 b = greaterThan(vec3(i, j, 5), vec3(4)); o = vec4(any(b), all(b), not(b).x, b[j % 3]); o.xy += mix(vec2(10), vec2(20), b.xy);", lambda i, j: (1 + (20 if i > 4 else 10), (i > 4 and j > 4) + (20 if j > 4 else 10), i <= 4, (i > 4, j > 4, True)[j % 3])),
    Case("boolean_operators_and_conversions", "bool a = i > 3, b = j > 3; o = vec4(a ^^ b, a == b, bool(i), uint(a) + uint(int(b)));", lambda i, j: ((i > 3) != (j > 3), (i > 3) == (j > 3), i != 0, (i > 3) + (j > 3))),
    Case("increments", "int k = i; k++, --k, k <<= 2; int a = k++; int b = ++k; o = vec4(a, b, k, k--);", lambda i, j: (4 * i, 4 * i + 2, 4 * i + 2, 4 * i + 2)),
    Case("integer_division_and_shifts", "int d = j - 20; o = vec4((i - 8) / d, (i - 8) % (j + 1), (i - 8) >> 1, (uint(i) << 28) >> 20);", lambda i, j: (trunc_div(i - 8, j - 20), signed_mod(i - 8, j + 1) if i >= 8 else None, (i - 8) >> 1, (i << 28) % 2**32 >> 20)),
    Case("bit_fields", "o = vec4(bitfieldExtract(-i * 77, 2, 5), bitfieldInsert(i, j, 3, 4), bitCount(i * 999), bitfieldExtract(uint(i * 991), 3, 7));", lambda i, j: (((((-i * 77) >> 2) & 31) ^ 16) - 16, (i & ~(15 << 3)) | ((j & 15) << 3), (i * 999).bit_count(), (i * 991 >> 3) & 127)),
    Case("bit_searches", "o = vec4(findLSB(i), findMSB(i), findMSB(-i), bitfieldReverse(uint(i)) >> 24);", lambda i, j: ((i & -i).bit_length() - 1, i.bit_length() - 1, (i - 1).bit_length() - 1 if i else -1, int(f"{i:08b}"[::-1], 2))),
    Case("carry_borrow_extended", "uint c, b, hi, lo; int h, l; uaddCarry(uint(i) * 0x20000000u, 0xF0000000u, c); usubBorrow(uint(i), uint(j), b); umulExtended(uint(i) * 123456789u, uint(j) * 97654321u, hi, lo); imulExtended(-i * 12345678, j * 98765432, h, l); o = vec4(c, b, hi >> 8, h >> 8);", lambda i, j: ((i * 0x20000000 % 2**32) + 0xF0000000 >= 2**32, i < j, ((i * 123456789 % 2**32) * (j * 97654321 % 2**32)) >> 40, (-i * 12345678 * ((j * 98765432 + 2**31) % 2**32 - 2**31)) >> 40)),
    Case("modf_frexp_ldexp", "float w; int e; vec2 ww; o.x = modf(float(i) * -1.25, w); o.y = w; o.z = frexp(float(j) * 3.75, e); o.w = e + ldexp(1.5, i - 3);", lambda i, j: (math.modf(i * -1.25)[0], math.modf(i * -1.25)[1], math.frexp(j * 3.75)[0], math.frexp(j * 3.75)[1] + math.ldexp(1.5, i - 3))),
    Case("packing", "o = vec4(packUnorm4x8(vec4(i, j, 0, 5) / 15.0) & 0xffffu, packHalf2x16(vec2(i, 0)), unpackSnorm2x16(packSnorm2x16(vec2(-1, 1))).x, unpackUnorm4x8(uint(i) * 0x11000000u).w);", lambda i, j: (i * 17 + j * 17 * 256, int(np.float16(i).view(np.uint16)), -1, i / 15), tolerance=1e-7),
    Case("nan_and_infinity", "float z = float(i - i); o = vec4(isnan(z / z), isinf(1.0 / z), floatBitsToUint(float(i)) >> 16, intBitsToFloat(0x40000000));", lambda i, j: (1, 1, int(np.float32(i).view(np.uint32)) >> 16, 2)),
    Case("rounding", "float x = float(i) * 0.5 - 3.75; o = vec4(floor(x), ceil(x), trunc(x), roundEven(float(i) * 0.5)); o += vec4(fract(x), sign(x), abs(x), mod(x, 3.0));", lambda i, j: (lambda x: (math.floor(x) + x - math.floor(x), math.ceil(x) + np.sign(x), math.trunc(x) + abs(x), np.round(i * 0.5) + x - 3 * math.floor(x / 3)))(i * 0.5 - 3.75), tolerance=1e-6),
    Case("trigonometry", "float x = float(i) * 0.37 - 2.0, y = float(j) / 16.0; o = vec4(sin(x) + cos(x), tan(y) + asin(y), acos(y) + atan(x), atan(y, x));", lambda i, j: (lambda x, y: (math.sin(x) + math.cos(x), math.tan(y) + math.asin(y), math.acos(y) + math.atan(x), math.atan2(y, x)))(i * 0.37 - 2.0, j / 16), tolerance=3e-5),
    Case("hyperbolic", "float x = float(i) * 0.37 - 2.0, y = float(j) / 20.0; o = vec4(sinh(x) - cosh(y), tanh(x), asinh(x) + acosh(1.0 + y), atanh(y));", lambda i, j: (lambda x, y: (math.sinh(x) - math.cosh(y), math.tanh(x), math.asinh(x) + math.acosh(1 + y), math.atanh(y)))(i * 0.37 - 2.0, j / 20), tolerance=2e-4),
    Case("exponentials", "float x = float(i) * 0.25 + 0.1, y = float(j) * 0.25; o = vec4(exp(y) + exp2(x), log(x) + log2(x), pow(x, y), sqrt(x) + inversesqrt(x));", lambda i, j: (lambda x, y: (math.exp(y) + 2**x, math.log(x) + math.log2(x), x**y, x**0.5 + x**-0.5))(i * 0.25 + 0.1, j * 0.25), tolerance=3e-5),
    Case("common", "float x = float(i) / 16.0; o = vec4(smoothstep(0.25, 0.75, x), step(0.5, x), mix(1.0, 3.0, x), clamp(x, 0.25, 0.5)); o.x += float(min(i, j) + max(uint(i), 3u) + clamp(j, 2, 5)) + fma(x, 2.0, 1.0);", lambda i, j: (lambda x, t: (t * t * (3 - 2 * t) + min(i, j) + max(i, 3) + min(max(j, 2), 5) + x * 2 + 1, x >= 0.5, 1 + 2 * x, min(max(x, 0.25), 0.5)))(i / 16, min(max(i / 8 - 0.5, 0), 1)), tolerance=1e-6),
    Case("geometric", "vec3 v = vec3(i, j, 1), n = vec3(0, 1, 0); o = vec4(length(v), distance(v, n), cross(v, n).x, dot(reflect(v, n), vec3(1, 2, 3))); o.x += normalize(v).y + faceforward(n, v, n).y;", lambda i, j: (lambda q: (q + j / q + (1 if j < 0 else -1), math.sqrt(i * i + (j - 1) ** 2 + 1), -1, i - 2 * j + 3))(math.sqrt(i * i + j * j + 1)), tolerance=1e-5),
    Case("refraction", "vec2 v = normalize(vec2(i + 1, -1)); o.xy = refract(v, vec2(0, 1), 1.25);", lambda i, j: (lambda x, y: (lambda k: (0, 0) if k < 0 else (1.25 * x, 1.25 * y - (1.25 * y + math.sqrt(k))))(1 - 1.5625 * (1 - y * y)))((i + 1) / math.hypot(i + 1, 1), -1 / math.hypot(i + 1, 1)), tolerance=1e-5),
    Case("specialisation_operations", "o = vec4(A / 2 + A % 3, U / 2u + U % 4u + (U >> 1) + (~U & 15u), -A, int(U) + int(L && A < 0) + int(L == false) + (U >= 3u ? 3 : 1)); float a[N]; a[i % N] = 3.; o.x += a[i % N] + I.z + W.y;", lambda i, j: (-3 - 1 + 3 - 14 + 2**32 - 14, 4 + 1 + 4 + 6, 7, 9 + 1 + 0 + 3), "layout(constant_id = 0) const int A = -7; layout(constant_id = 1) const uint U = 9u; layout(constant_id = 2) const bool L = true; const int N = int(U) * 2 - 1; const ivec3 I = ivec3(A) * 2; const uvec2 W = uvec2(I.xy);", 1e-6),
    Case("derivatives", "o = vec4(dFdx(float(i * 3 + j)), dFdyFine(float(j * 5)), fwidthCoarse(float(i + 2 * j)), dFdxFine(float(i * j)));", lambda i, j: (3, 5, 3, j)),
    Case("interpolation_functions", "o = vec4(interpolateAtCentroid(uv).x, interpolateAtSample(uv, 0).y, interpolateAtOffset(uv, vec2(0.25)).x, interpolateAtOffset(uv, vec2(0.0, float(i) / 32.0)).y);", lambda i, j: ((i + 0.5) / 8 - 1, (j + 0.5) / 8 - 1, (i + 0.75) / 8 - 1, (j + 0.5 + i / 32) / 8 - 1), tolerance=1e-6),
    Case("fragment_built_ins", "o = vec4(gl_FragCoord.x + gl_FragCoord.z + gl_FragCoord.w, gl_PrimitiveID + gl_Layer, gl_SampleMaskIn[0], gl_HelperInvocation);", lambda i, j: (i + 0.5 + 0.5 + 1, 0, 1, 0)),
    Case("sample_built_ins", "o = vec4(gl_SampleID, gl_SamplePosition, gl_FrontFacing);", lambda i, j: (0, 0.5, 0.5, None)),
]  # fmt: skip


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    return [tg.Device(cache_dir="off", threads=1, lanes=lanes) for lanes in (4, 8, 16)]


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_case(devices: list[tg.Device], case: Case) -> None:
    extension = case.declarations if case.declarations.startswith("#extension") else ""
    declarations = "" if extension else case.declarations
    frag = (
        f"#version 450\n{extension}layout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 o;\n{declarations}\n"
        f"void main() {{ int i = int(gl_FragCoord.x), j = int(gl_FragCoord.y); o = vec4(0); {case.body} }}"
    )
    images = []
    for device in devices:
        out = device.image((SIDE, SIDE), "r32g32b32a32_sfloat")
        pipe = device.pipeline(VERT, frag, color=[out])
        with device.render_pass(color=[tg.Attachment(out, clear=GONE)]) as rp:
            rp.draw(pipe, count=3)
        images.append(out.numpy())
    for image in images[1:]:
        np.testing.assert_array_equal(image.view(np.uint32), images[0].view(np.uint32))
    for j in range(SIDE):
        for i in range(SIDE):
            value = case.expected(i, j)
            wanted = [*value] if isinstance(value, tuple | list) else [value]
            for c, want in enumerate([*wanted, 0, 0, 0][:4]):
                if want is None:
                    continue  # the language leaves it open
                got = float(images[0][j, i, c])
                assert abs(got - float(want)) <= case.tolerance * max(1.0, abs(float(want))), (
                    i,
                    j,
                    "xyzw"[c],
                    got,
                    want,
                )


UNSUPPORTED = [
    ("fragment", "#extension GL_ARB_shader_clock : enable\n", "o.x = float(clock2x32ARB().x);", "ShaderClock|extension"),
    ("fragment", "#extension GL_EXT_shader_atomic_float2 : enable\n#extension GL_EXT_shader_explicit_arithmetic_types_float16 : enable\nlayout(binding = 0) buffer B { float16_t h; };", "o.x = float(atomicAdd(h, float16_t(1)));", "AtomicFloat16Add|extension"),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "declarations", "body", "name"), UNSUPPORTED)
def test_what_is_not_supported_is_named_at_pipeline_creation(
    devices: list[tg.Device], stage: str, declarations: str, body: str, name: str
) -> None:
    assert stage == "fragment"
    frag = f"#version 450\n{declarations}\nlayout(location = 0) out vec4 o;\nvoid main() {{ o = vec4(1); {body} }}"
    with pytest.raises(tg.Error, match=name):
        devices[0].pipeline(VERT, frag, color=["r8g8b8a8_unorm"])


def test_vertex_built_ins(devices: list[tg.Device]) -> None:
    """gl_VertexIndex with offsets, gl_InstanceIndex, the bases and the draw's number, clip and cull distances, written point size."""
    vert = """#version 460
layout(location = 0) flat out ivec4 seen;
out float gl_ClipDistance[2];
out float gl_CullDistance[1];
void main() {
  int k = gl_VertexIndex - gl_BaseVertex;
  vec2 c = vec2(k & 1, k >> 1) * 4.0 - 1.0;
  gl_Position = vec4(c, 0.5, 1);
  gl_PointSize = 1.0;
  gl_ClipDistance[0] = c.x;
  gl_ClipDistance[1] = 1.0;
  gl_CullDistance[0] = gl_InstanceIndex == 5 ? -1.0 : 1.0;
  seen = ivec4(gl_BaseVertex, gl_InstanceIndex, gl_BaseInstance, gl_DrawID);
}"""
    frag = """#version 450
layout(location = 0) flat in ivec4 seen;
layout(location = 0) out vec4 o;
void main() { o = vec4(seen); }"""
    for device in devices:
        out = device.image((SIDE, SIDE), "r32g32b32a32_sfloat")
        pipe = device.pipeline(vert, frag, color=[out])
        commands = device.buffer(np.array([[3, 1, 0, 7, 2], [3, 2, 0, 9, 4]], np.uint32), usage="indirect")
        with device.render_pass(color=[tg.Attachment(out, clear=GONE)]) as rp:
            rp.draw_indirect(pipe, commands, indices=np.arange(3, dtype=np.uint32))
        image = out.numpy()
        assert (image[:, : SIDE // 2] == GONE).all(), "clipped where x < 0"
        assert (image[:, SIDE // 2 :] == (9, 4, 4, 1)).all(), (
            "instance 5 is culled, instance 4 of the second draw is on top"
        )


def test_clip_and_cull_distances_reach_the_fragment_shader(devices: list[tg.Device]) -> None:
    """Interpolated like any input, perspective included; what the vertex shader did not write reads zero or is undefined."""
    vert = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in float value;
out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; float gl_CullDistance[1]; };
void main() { gl_Position = position; gl_ClipDistance[0] = value; gl_ClipDistance[1] = value - 4.0; gl_CullDistance[0] = 10.0 - value; }"""
    frag = """#version 450
in float gl_ClipDistance[2]; in float gl_CullDistance[1];
layout(location = 0) out vec4 o;
void main() { o = vec4(gl_ClipDistance[0], gl_ClipDistance[1], gl_CullDistance[0], 1.0); }"""
    vertices = np.zeros(3, np.dtype([("position", "f4", 4), ("value", "f4")]))
    vertices["position"] = [(-1, -1, 0, 1), (3, -1, 0, 1), (-4, 12, 0, 4)]
    vertices["value"] = [2, 5, 11]
    x, y = np.meshgrid((np.arange(SIDE) + 0.5) / (2 * SIDE), (np.arange(SIDE) + 0.5) / (2 * SIDE))
    a = np.stack([1 - x - y, x, y])
    w, value = np.array([1, 1, 4])[:, None, None], np.array([2, 5, 11])[:, None, None]
    expected = (a * value / w).sum(axis=0) / (a / w).sum(axis=0)
    kept = expected >= 4  # the second clip distance cuts here
    clear = np.abs(expected - 4) > 1e-3
    assert kept.any() and not kept.all()
    for device in devices:
        out = device.image((SIDE, SIDE), "r32g32b32a32_sfloat")
        pipe = device.pipeline(vert, frag, vertex=vertices.dtype, color=[out])
        with device.render_pass(color=[tg.Attachment(out, clear=GONE)]) as rp:
            rp.draw(pipe, vertices)
        image = out.numpy()
        assert (image[~kept & clear] == GONE).all()
        shown = kept & clear
        for channel, want in enumerate((expected, expected - 4, 10 - expected)):
            np.testing.assert_allclose(image[shown][:, channel], want[shown], rtol=1e-4, atol=5e-4)  # vertices are snapped


QUALIFIED = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in float value;
layout(location = 0) flat out float f; layout(location = 1) noperspective out float n;
layout(location = 2) out float s; layout(location = 3) centroid out float c; layout(location = 4) sample out float p;
void main() { gl_Position = position; f = n = s = c = p = value; }"""


def test_interpolation_qualifiers(devices: list[tg.Device]) -> None:
    """With w of 1, 1 and 4: perspective and noperspective as the formulas say; flat is the first vertex's."""
    frag = """#version 450
layout(location = 0) flat in float f; layout(location = 1) noperspective in float n;
layout(location = 2) in float s; layout(location = 3) centroid in float c; layout(location = 4) sample in float p;
layout(location = 0) out vec4 o; layout(location = 1) out vec4 q;
void main() { o = vec4(f, n, s, c); q = vec4(p); }"""
    vertices = np.zeros(3, np.dtype([("position", "f4", 4), ("value", "f4")]))
    vertices["position"] = [(-1, -1, 0, 1), (3, -1, 0, 1), (-4, 12, 0, 4)]
    vertices["value"] = [2, 5, 11]
    for device in devices:
        out, other = (device.image((SIDE, SIDE), "r32g32b32a32_sfloat") for _ in range(2))
        pipe = device.pipeline(QUALIFIED, frag, vertex=vertices.dtype, color=[out, other])
        with device.render_pass(color=[tg.Attachment(out, clear=GONE), tg.Attachment(other, clear=GONE)]) as rp:
            rp.draw(pipe, vertices)
        x, y = np.meshgrid((np.arange(SIDE) + 0.5) / (2 * SIDE), (np.arange(SIDE) + 0.5) / (2 * SIDE))
        a = np.stack([1 - x - y, x, y])
        w = np.array([1, 1, 4])[:, None, None]
        value = np.array([2, 5, 11])[:, None, None]
        linear, perspective = (a * value).sum(axis=0), (a * value / w).sum(axis=0) / (a / w).sum(axis=0)
        image = out.numpy()
        assert (image[..., 0] == 2).all()
        np.testing.assert_allclose(image[..., 1], linear, rtol=1e-5)
        for got in (image[..., 2], image[..., 3], other.numpy()[..., 0]):
            np.testing.assert_allclose(got, perspective, rtol=1e-5)
