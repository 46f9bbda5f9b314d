"""Numbers of 8, 16 and 64 bits in shaders, and halves and doubles: against NumPy, the same words for any lanes; in every kind of memory."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import spirv
import tilegpu as tg

CASES = [(4, 1, ""), (8, 2, "baseline"), (16, 1, "")]
HEAD = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
"""
SIGNED = {"int8_t": np.int8, "int16_t": np.int16, "int": np.int32, "int64_t": np.int64}
UNSIGNED = {"uint8_t": np.uint8, "uint16_t": np.uint16, "uint": np.uint32, "uint64_t": np.uint64}
FLOATS = {"float16_t": np.float16, "float": np.float32, "double": np.float64}
INTEGERS = SIGNED | UNSIGNED
ALL = INTEGERS | FLOATS


@functools.cache
def device(lanes: int, threads: int, target: str) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, jit_target=target, cache_dir="off")


def same(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> bool:
    """Bit by bit, but that any NaN is one."""
    if want.dtype.kind == "f":
        nan = np.isnan(want)
        got, want = np.where(nan, 0, got).astype(want.dtype), np.where(nan & np.isnan(got), 0, want).astype(want.dtype)
    return got.tobytes() == want.tobytes()


def run(
    declarations: str, body: str, buffers: dict[str, np.ndarray[Any, Any]], want: dict[str, np.ndarray[Any, Any]], n: int, **more: Any
) -> None:
    """Kernels of 32 invocations for ``n`` elements; ``declarations`` has the blocks, bound by name."""
    text = HEAD + "layout(local_size_x = 32) in;\n" + declarations + "\nvoid main() { uint i = gl_GlobalInvocationID.x;\n" + body + "\n}"
    push = more.pop("push", None)
    for case in CASES:
        dev = device(*case)
        pipe = dev.compute_pipeline(text, **more)
        bound = {name: dev.buffer(array) for name, array in buffers.items()}
        dev.dispatch(pipe, (n + 31) // 32, bind=bound, push=push)
        for name, array in want.items():
            got = bound[name].numpy(array.dtype, array.shape)
            if not same(got, array):
                at = next(k for k in range(len(array)) if not same(got[k : k + 1], array[k : k + 1]))
                raise AssertionError(f"{case}: {name}[{at}] is {got[at]!r}, not {array[at]!r}")


def some(dtype: Any, n: int, seed: int) -> np.ndarray[Any, Any]:
    """Random bits, with what is special among them."""
    rng = np.random.default_rng(seed)
    size_B = np.dtype(dtype).itemsize
    values = rng.integers(0, 256, n * size_B, np.uint8).view(dtype)
    if np.dtype(dtype).kind == "f":
        special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -2.5, 3, 100, 65504, 6e-8, 6.1e-5])
        small = rng.normal(0, 10, n // 2).astype(dtype)
        values[: n // 2] = small
    else:
        info = np.iinfo(dtype)
        special = np.array([0, 1, 2, 3, 7, info.max, info.min, info.max - 1], object)
        values[: n // 2] = rng.integers(0, 100, n // 2).astype(dtype)
    places = rng.permutation(n)[: 3 * len(special)]
    with np.errstate(over="ignore"):
        values[places] = np.concatenate([rng.permutation(special) for _ in range(3)]).astype(dtype)
    return values


def blocks(**types: str) -> str:
    return "\n".join(
        f"layout(binding = {k}, std430) buffer B{name} {{ {glsl} {name}[]; }};" for k, (name, glsl) in enumerate(types.items())
    )


def wrapped(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Python's integers modulo the type's size."""
    bits = 8 * np.dtype(dtype).itemsize
    unsigned = np.array([int(v) & ((1 << bits) - 1) for v in values], dtype=np.dtype(f"u{bits // 8}"))
    return unsigned.view(dtype)


def quotient(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


@pytest.mark.parametrize("glsl", INTEGERS)
def test_integers(glsl: str) -> None:
    dtype, n = INTEGERS[glsl], 256
    bits = 8 * np.dtype(dtype).itemsize
    a, b = some(dtype, n, 1), some(dtype, n, 2)
    x, y = [int(v) for v in a], [int(v) for v in b]
    unsigned_x = [v & ((1 << bits) - 1) for v in x]
    results = {
        "a[i] + b[i]": [p + q for p, q in zip(x, y, strict=True)],
        "a[i] - b[i]": [p - q for p, q in zip(x, y, strict=True)],
        "a[i] * b[i]": [p * q for p, q in zip(x, y, strict=True)],
        "a[i] / b[i]": [quotient(p, q) for p, q in zip(x, y, strict=True)],
        "a[i] & b[i]": [p & q for p, q in zip(x, y, strict=True)],
        "a[i] | b[i]": [p | q for p, q in zip(x, y, strict=True)],
        "a[i] ^ b[i]": [p ^ q for p, q in zip(x, y, strict=True)],
        "~a[i]": [~p for p in x],
        "-a[i]": [-p for p in x],
        f"a[i] << (b[i] & {glsl}({bits - 1}))": [p << (q & (bits - 1)) for p, q in zip(x, y, strict=True)],
        f"a[i] >> (b[i] & {glsl}({bits - 1}))": [p >> (q & (bits - 1)) for p, q in zip(x, y, strict=True)],
        f"a[i] << (i % {bits})": [p << (k % bits) for k, p in enumerate(x)],
        "min(a[i], b[i])": [min(p, q) for p, q in zip(x, y, strict=True)],
        "max(a[i], b[i])": [max(p, q) for p, q in zip(x, y, strict=True)],
        f"clamp(a[i], {glsl}(3), {glsl}(90))": [min(max(p, 3), 90) for p in x],
        f"{glsl}(a[i] < b[i])": [p < q for p, q in zip(x, y, strict=True)],
        f"{glsl}(a[i] >= b[i])": [p >= q for p, q in zip(x, y, strict=True)],
        f"{glsl}(a[i] == b[i])": [p == q for p, q in zip(x, y, strict=True)],
        "a[i] < b[i] ? a[i] : b[i]": [min(p, q) for p, q in zip(x, y, strict=True)],
    }
    if glsl in SIGNED:
        results["abs(a[i])"] = [abs(p) for p in x]
        results["sign(a[i])"] = [(p > 0) - (p < 0) for p in x]
    else:
        results["a[i] % b[i]"] = [p % q if q else 0 for p, q in zip(x, y, strict=True)]
    if bits == 32:
        results[f"{glsl}(bitCount(a[i]))"] = [p.bit_count() for p in unsigned_x]
    names = [f"r{k}" for k in range(len(results))]
    want = {f"B{name}": wrapped(values, dtype) for name, values in zip(names, results.values(), strict=True)}
    empty = {name: np.zeros(n, dtype) for name in want}
    run(
        blocks(a=glsl, b=glsl, **dict.fromkeys(names, glsl)),
        "\n".join(f"  {name}[i] = {text};" for name, text in zip(names, results, strict=True)),
        {"Ba": a, "Bb": b, **empty},
        want,
        n,
    )


@pytest.mark.parametrize("glsl", ["float16_t", "double"])
def test_floats(glsl: str) -> None:
    dtype, n = FLOATS[glsl], 512
    a, b = some(dtype, n, 3), some(dtype, n, 4)
    x, y = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        floor, whole = np.floor(x), np.trunc(x)
        rounded = {  # by operations that round once
            "a[i] + b[i]": a + b,
            "a[i] - b[i]": a - b,
            "a[i] * b[i]": a * b,
            "a[i] / b[i]": a / b,
            "sqrt(a[i])": np.sqrt(a),
            "-a[i]": -a,
            "abs(a[i])": np.abs(a),
            "floor(a[i])": floor,
            "ceil(a[i])": np.ceil(x),
            "trunc(a[i])": whole,
            "roundEven(a[i])": np.rint(x),
            f"{glsl}(a[i] < b[i])": x < y,
            f"{glsl}(a[i] <= b[i])": x <= y,
            f"{glsl}(a[i] == b[i])": x == y,
            f"{glsl}(a[i] != b[i])": x != y,
            "sign(a[i])": np.where(np.isnan(x), 0, np.where(x == 0, x, np.sign(x))),
            f"step({glsl}(2.5), a[i])": ~(x < 2.5),
            f"{glsl}(isnan(a[i]))": np.isnan(x),
            f"{glsl}(isinf(a[i]))": np.isinf(x),
            "ldexp(a[i], int(i % 60) - 30)": np.ldexp(a, np.arange(n, dtype=np.int32) % 60 - 30),
        }
        if glsl == "float16_t":
            rounded["fma(a[i], b[i], b[i])"] = (x * y + y).astype(np.float32)
            # Of halves in doubles: exact but for the last step.
        want = {f"Br{k}": np.asarray(values).astype(dtype) for k, values in enumerate(rounded.values())}
    names = [f"r{k}" for k in range(len(rounded))]
    run(
        blocks(a=glsl, b=glsl, **dict.fromkeys(names, glsl)),
        "\n".join(f"  {name}[i] = {text};" for name, text in zip(names, rounded, strict=True)),
        {"Ba": a, "Bb": b, **{f"B{name}": np.zeros(n, dtype) for name in names}},
        want,
        n,
    )


def converted(values: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Floats to integers: towards zero, to the nearest that there is, NaN to 0. Integers: modulo. To floats: one rounding."""
    if np.dtype(dtype).kind == "f" or np.dtype(values.dtype).kind != "f":
        if np.dtype(dtype).kind != "f":
            return wrapped(values, dtype)
        if dtype == np.float16 and values.dtype.kind != "f":
            return values.astype(np.float64).astype(np.float16)  # of more than 53 bits: infinite anyway
        return values.astype(dtype)
    info = np.iinfo(dtype)
    whole = [0 if np.isnan(v) else int(v) if np.isfinite(v) else int(np.sign(v)) << 70 for v in values]
    limited = [min(max(v, info.min), info.max) for v in whole]
    return np.array(limited, dtype=dtype)


@pytest.mark.parametrize("glsl", ALL)
def test_conversions(glsl: str) -> None:
    """Of each type to each other one."""
    n = 256
    a = some(ALL[glsl], n, 5)
    others = dict(enumerate(ALL))
    with np.errstate(all="ignore"):
        want = {f"Br{k}": converted(a, ALL[name]) for k, name in others.items()}
    run(
        blocks(a=glsl, **{f"r{k}": name for k, name in others.items()}),
        "\n".join(f"  r{k}[i] = {name}(a[i]);" for k, name in others.items()),
        {"Ba": a, **{f"Br{k}": np.zeros(n, ALL[name]) for k, name in others.items()}},
        want,
        n,
    )


def test_bits_as_other_numbers() -> None:
    n = 128
    words = np.random.default_rng(6).integers(0, 2**32, 2 * n, np.uint32)
    pairs = words.reshape(n, 2)
    run(
        blocks(w="uvec2", d="double", q="uint64_t", h="f16vec2", s="u16vec4", back="uvec2"),
        """  d[i] = packDouble2x32(w[i]); q[i] = packUint2x32(w[i]); h[i] = unpackFloat2x16(w[i].x); s[i] = unpack16(q[i]);
  back[i] = uvec2(uint(doubleBitsToUint64(d[i]) >> 32), packUint2x16(s[i].xy));""",
        {
            "Bw": words, "Bd": np.zeros(n), "Bq": np.zeros(n, np.uint64), "Bh": np.zeros(2 * n, np.float16),
            "Bs": np.zeros(4 * n, np.uint16), "Bback": np.zeros(2 * n, np.uint32),
        },
        {
            "Bd": words.view(np.float64),
            "Bq": words.view(np.uint64),
            "Bh": pairs[:, 0].copy().view(np.float16),
            "Bs": words.view(np.uint16),
            "Bback": np.stack([pairs[:, 1], pairs[:, 0]], 1).ravel(),
        },
        n,
    )  # fmt: skip


@pytest.mark.parametrize("glsl", ALL)
def test_kinds_of_memory(glsl: str) -> None:
    """Private arrays with an index, shared memory, vectors, structures beside smaller members, push constants and uniform blocks."""
    dtype, n = ALL[glsl], 96
    size_B = np.dtype(dtype).itemsize
    prefix = {
        "int8_t": "i8", "int16_t": "i16", "int": "i", "int64_t": "i64", "uint8_t": "u8", "uint16_t": "u16", "uint": "u",
        "uint64_t": "u64", "float16_t": "f16", "float": "", "double": "d",
    }[glsl]  # fmt: skip
    values = np.random.default_rng(7).integers(0, 100, (n, 4)).astype(dtype)
    element: Any = {
        "names": ["small", "one", "three"],
        "formats": ["u1", dtype, (dtype, 3)],
        "offsets": [0, size_B, 4 * size_B],
        "itemsize": 8 * size_B,
    }
    structs = np.zeros(n, np.dtype(element))
    rng = np.random.default_rng(8)
    structs["small"], structs["one"], structs["three"] = (rng.integers(0, 200, n), rng.integers(0, 90, n), rng.integers(0, 90, (n, 3)))
    group = np.arange(n) // 32 * 32
    turned = values[group + (np.arange(n) + 5) % 32]
    want = np.stack(
        [
            values[np.arange(n), np.arange(n) % 4],
            turned[:, 2],
            structs["one"],
            structs["three"][:, 1],
            np.full(n, 7).astype(dtype),
            np.full(n, 11).astype(dtype),
            structs["small"].astype(dtype),
            values[:, 3],
        ],
        1,
    )
    run(
        f"""struct One {{ uint8_t small; {glsl} one; {prefix}vec3 three; }};
layout(binding = 0, std430) buffer Bv {{ {prefix}vec4 v[]; }};
layout(binding = 1, std430) buffer Bs {{ One s[]; }};
layout(binding = 2, std430) buffer Br {{ {glsl} r[]; }};
layout(binding = 3, std140) uniform Bu {{ float f; {glsl} u; }};
layout(push_constant) uniform Push {{ uint8_t before; {glsl} p; }} push;
shared {prefix}vec4 all_of_it[32];
{prefix}vec4 global;""",
        f"""  {glsl} own[4];
  for (int k = 0; k < 4; k++) own[k] = v[i][k];
  global = v[i];
  all_of_it[gl_LocalInvocationIndex] = v[i];
  barrier();
  r[i * 8 + 0] = own[i % 4];
  r[i * 8 + 1] = all_of_it[(gl_LocalInvocationIndex + 5) % 32].z;
  One one = s[i];
  r[i * 8 + 2] = one.one;
  r[i * 8 + 3] = s[i].three[1];
  r[i * 8 + 4] = u;
  r[i * 8 + 5] = push.p;
  r[i * 8 + 6] = {glsl}(s[i].small);
  r[i * 8 + 7] = global[3];""",
        {
            "Bv": values,
            "Bs": structs,
            "Br": np.zeros(n * 8, dtype),
            "Bu": np.frombuffer((b"\0" * max(4, size_B) + np.array([7], dtype).tobytes()).ljust(16, b"\0"), np.uint8).copy(),
        },
        {"Br": want.ravel()},
        n,
        push={"before": 1, "p": 11},
    )


def test_atomics_of_64_bits() -> None:
    n = 128
    values = some(np.uint64, n, 9)
    signed = values.view(np.int64)
    want = np.array(
        [
            int(values.astype(object).sum()) % 2**64,
            int(values.max()),
            int(values.min()),
            int(signed.max()) % 2**64,
            int(np.bitwise_xor.reduce(values)),
            n,
        ],
        np.uint64,
    )
    start = np.array([0, 0, 2**64 - 1, 2**63, 0, 0], np.uint64)
    text = """#extension GL_EXT_shader_atomic_int64 : require
layout(binding = 0) buffer Bv { uint64_t v[]; };
layout(binding = 1) buffer Br { uint64_t sum, most, least; int64_t top; uint64_t odd; uint64_t count; };
shared uint64_t here;"""
    body = """  if (gl_LocalInvocationIndex == 0) here = 0;
  barrier();
  atomicAdd(sum, v[i]); atomicMax(most, v[i]); atomicMin(least, v[i]); atomicMax(top, int64_t(v[i])); atomicXor(odd, v[i]);
  atomicAdd(here, uint64_t(1));
  barrier();
  if (gl_LocalInvocationIndex == 0) atomicAdd(count, here);"""
    run(text, body, {"Bv": values, "Br": start}, {"Br": want}, n)


SWITCH_TYPES = """%long = OpTypeInt 64 1
%short = OpTypeInt 16 1
%byte = OpTypeInt 8 0
%five = OpTypeArray %uint %u5
%list0 = OpConstantComposite %five %u1 %u2 %u3 %u4 %u5
%pfive = OpTypePointer Function %five
%pone = OpTypePointer Function %uint"""
SWITCHES = """%i_long = OpSConvert %long %i
%at = OpAccessChain %pelement %b %u0 %i_long
%k = OpLoad %long %at
%small = OpSConvert %short %k
%tiny = OpUConvert %byte %k
OpSelectionMerge %after None
OpSwitch %k %other 0 %zero 5000000000 %large -3 %minus
%zero = OpLabel
OpBranch %after
%large = OpLabel
OpBranch %after
%minus = OpLabel
OpBranch %after
%other = OpLabel
OpBranch %after
%after = OpLabel
%r = OpPhi %uint %u1 %zero %u2 %large %u3 %minus %u4 %other
OpSelectionMerge %after2 None
OpSwitch %small %other2 0 %zero2 -3 %minus2
%zero2 = OpLabel
OpBranch %after2
%minus2 = OpLabel
OpBranch %after2
%other2 = OpLabel
OpBranch %after2
%after2 = OpLabel
%s = OpPhi %uint %u1 %zero2 %u2 %minus2 %u3 %other2
%p1 = OpAccessChain %pone %list %k
%v1 = OpLoad %uint %p1
%p2 = OpAccessChain %pone %list %small
%v2 = OpLoad %uint %p2
%p3 = OpAccessChain %pone %list %tiny
%v3 = OpLoad %uint %p3
%base = OpIMul %uint %i %u5
%o0 = OpAccessChain %puint %out %u0 %base
OpStore %o0 %r
%b1 = OpIAdd %uint %base %u1
%o1 = OpAccessChain %puint %out %u0 %b1
OpStore %o1 %s
%b2 = OpIAdd %uint %base %u2
%o2 = OpAccessChain %puint %out %u0 %b2
OpStore %o2 %v1
%b3 = OpIAdd %uint %base %u3
%b3l = OpSConvert %long %b3
%o3 = OpAccessChain %puint %out %u0 %b3l
OpStore %o3 %v2
%b4 = OpIAdd %uint %base %u4
%b4s = OpSConvert %short %b4
%o4 = OpAccessChain %puint %out %u0 %b4s
OpStore %o4 %v3"""


def test_switches_and_indices() -> None:
    """By integers of 8, 16 and 64 bits, as no GLSL has them; indices beyond the end are the last element's."""
    keys = np.array([0, 5_000_000_000, -3, 7, 2, 259, 65539, -65533], np.int64)
    keys = np.concatenate([keys, keys[::-1]] * 2)
    small = keys.astype(np.int16)
    clamped = np.where((keys < 0) | (keys > 4), 4, keys)
    want = np.stack(
        [
            np.select([keys == 0, keys == 5_000_000_000, keys == -3], [1, 2, 3], 4),
            np.select([small == 0, small == -3], [1, 2], 3),
            clamped + 1,
            np.where((small < 0) | (small > 4), 4, small) + 1,
            np.minimum(keys.astype(np.uint8), 4) + 1,
        ],
        1,
    ).astype(np.uint32)
    module = spirv.kernel("Int64 Int16 Int8", "%long", 8, SWITCH_TYPES, SWITCHES, "%list = OpVariable %pfive Function %list0\n")
    for case in CASES:
        dev = device(*case)
        pipe = dev.compute_pipeline(module)
        out = dev.buffer(want.nbytes)
        dev.dispatch(pipe, 1, bind={"B": dev.buffer(keys), "R": out})
        np.testing.assert_array_equal(out.numpy(np.uint32, want.shape), want)


def test_specialization_constants() -> None:
    integers = [-7, 60000, 2**40 + 3, 3 * (2**40 + 3) - 7, 70000 % 65536, 200, 0, 100]
    given = {0: -7, 1: 60000, 2: 2**40 + 3, 3: 1.5, 4: 1e300, 5: 200}
    run(
        """layout(constant_id = 0) const int16_t a = int16_t(1); layout(constant_id = 1) const uint16_t b = uint16_t(2);
layout(constant_id = 2) const int64_t c = 3l; layout(constant_id = 3) const float16_t d = 4.0hf;
layout(constant_id = 4) const double e = 5.0lf; layout(constant_id = 5) const uint8_t f = uint8_t(6);
const int64_t g = c * 3l + int64_t(a); const uint16_t h = b + uint16_t(10000);
layout(binding = 0, std430) buffer Br { int64_t r[8]; double s[2]; };""",
        """  if (i == 0) {
    r[0] = a; r[1] = b; r[2] = c; r[3] = g; r[4] = h; r[5] = f; r[6] = 0l; r[7] = f >> uint8_t(1); s[0] = d; s[1] = e;
  }""",
        {"Br": np.zeros(10, np.int64)},
        {"Br": np.concatenate([np.array(integers, np.int64), np.array([1.5, 1e300]).view(np.int64)])},
        32,
        constants=given,
    )  # fmt: skip


def test_subgroups_of_every_number() -> None:
    n = 64
    declarations, body = "", ""
    buffers: dict[str, np.ndarray[Any, Any]] = {}
    want: dict[str, np.ndarray[Any, Any]] = {}
    for k, (glsl, dtype) in enumerate(ALL.items()):
        values = np.random.default_rng(k).integers(1, 9, n).astype(dtype)
        four = values.reshape(-1, 4)
        result = np.stack([four.sum(1, dtype=dtype).repeat(4), four.min(1).repeat(4), four[:, ::-1].ravel(), four.max(1).repeat(4)], 1)
        declarations += f"layout(binding = {2 * k}, std430) buffer Bv{k} {{ {glsl} v{k}[]; }};\n"
        declarations += f"layout(binding = {2 * k + 1}, std430) buffer Br{k} {{ {glsl} r{k}[]; }};\n"
        body += f"""  r{k}[i * 4] = subgroupAdd(v{k}[i]); r{k}[i * 4 + 1] = subgroupMin(v{k}[i]);
  r{k}[i * 4 + 2] = subgroupShuffleXor(v{k}[i], 3); r{k}[i * 4 + 3] = subgroupMax(v{k}[i]);\n"""
        buffers |= {f"Bv{k}": values, f"Br{k}": np.zeros(4 * n, dtype)}
        want[f"Br{k}"] = result.astype(dtype).ravel()
    extensions = "".join(f"#extension GL_KHR_shader_subgroup_{one} : require\n" for one in ("arithmetic", "shuffle")) + "".join(
        f"#extension GL_EXT_shader_subgroup_extended_types_{one} : require\n" for one in ("int8", "int16", "int64", "float16")
    )
    run(extensions + declarations, body, buffers, want, n)


def test_doubles_by_parts() -> None:
    """fract, modf, frexp, mix, fma, smoothstep, vectors and matrices of doubles."""
    n = 128
    a = np.random.default_rng(10).normal(0, 50, (n, 4))
    significand, exponent = np.frexp(a[:, 0])
    want = np.stack(
        [
            a[:, 0] - np.floor(a[:, 0]),
            np.trunc(a[:, 1]),
            significand,
            exponent.astype(np.float64),
            np.maximum(a[:, 0], a[:, 1]),
            np.where(a[:, 2] < 0, 0.0, 1.0),
            np.abs(a[:, 3]),
            np.clip(a[:, 3], -1.0, 1.0),
        ],
        1,
    )
    run(
        blocks(a="dvec4", r="double"),
        """  double whole, part = modf(a[i].y, whole); int e;
  r[i * 8] = fract(a[i].x); r[i * 8 + 1] = whole; r[i * 8 + 2] = frexp(a[i].x, e); r[i * 8 + 3] = e;
  r[i * 8 + 4] = max(a[i].x, a[i].y); r[i * 8 + 5] = step(0.0lf, a[i].z);
  r[i * 8 + 6] = length(a[i].w); r[i * 8 + 7] = clamp(a[i].w, -1.0lf, 1.0lf);""",
        {"Ba": a, "Br": np.zeros(n * 8)},
        {"Br": want.ravel()},
        n,
    )
    dev = device(*CASES[1])
    pipe = dev.compute_pipeline(
        HEAD
        + "layout(local_size_x = 32) in;\n"
        + blocks(a="dvec4", r="double")
        + """void main() { uint i = gl_GlobalInvocationID.x;
  dmat4 m = dmat4(a[i], a[i].yzwx, a[i].zwxy * 2.0lf, a[i].wyxz + 1.0lf);
  r[i * 4] = length(a[i]); r[i * 4 + 1] = dot(a[i], a[i].wzyx); r[i * 4 + 2] = determinant(m); r[i * 4 + 3] = (inverse(m) * a[i]).x; }"""
    )
    out = dev.buffer(n * 4 * 8)
    dev.dispatch(pipe, n // 32, bind={"Ba": dev.buffer(a), "Br": out})
    got = out.numpy(np.float64, (n, 4))
    columns = np.stack([a, a[:, [1, 2, 3, 0]], a[:, [2, 3, 0, 1]] * 2, a[:, [3, 1, 0, 2]] + 1], 2)
    np.testing.assert_allclose(got[:, 0], np.linalg.norm(a, axis=1), rtol=1e-14)
    np.testing.assert_allclose(got[:, 1], (a * a[:, ::-1]).sum(1), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(got[:, 2], np.linalg.det(columns), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(got[:, 3], np.linalg.solve(columns, a[:, :, None])[:, 0, 0], rtol=1e-7, atol=1e-9)


def test_halves_by_the_functions_of_floats() -> None:
    """Vulkan's precision of 16-bit floats: sin and cos to 2^-7 absolutely, exp2 and log2 to a few units in the last place."""
    n = 512
    a = np.linspace(0.05, 3, n).astype(np.float16)
    dev = device(*CASES[2])
    pipe = dev.compute_pipeline(
        HEAD
        + "layout(local_size_x = 32) in;\n"
        + blocks(a="float16_t", r="float16_t")
        + """void main() { uint i = gl_GlobalInvocationID.x;
  r[i * 6] = sin(a[i]); r[i * 6 + 1] = cos(a[i]); r[i * 6 + 2] = exp2(a[i]); r[i * 6 + 3] = log2(a[i]); r[i * 6 + 4] = pow(a[i], 1.5hf);
  r[i * 6 + 5] = inversesqrt(a[i]); }"""
    )
    out = dev.buffer(n * 6 * 2)
    dev.dispatch(pipe, n // 32, bind={"Ba": dev.buffer(a), "Br": out})
    got, x = out.numpy(np.float16, (n, 6)).astype(np.float64), a.astype(np.float64)
    for k, want in enumerate([np.sin(x), np.cos(x), np.exp2(x), np.log2(x), x**1.5, 1 / np.sqrt(x)]):
        np.testing.assert_allclose(got[:, k], want, rtol=2**-10, atol=2**-14)


def test_between_vertices_and_fragments() -> None:
    """Scalars of 64 bits take two components each, those of vectors of three and four two locations; also in arrays with an index."""
    vertex = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(location = 0) out flat double a; layout(location = 1) out flat dvec3 b; layout(location = 3) out flat uint64_t c[2];
layout(location = 5, component = 2) out flat double d; layout(location = 6) out flat i64vec4 e; layout(location = 8) out vec4 f;
void main() {
  a = 1.0 / 3.0lf; b = dvec3(1e300, 2.5, -1e-300); c[0] = 0x123456789abcdefUL; c[1] = ~0UL; d = 7.0lf; e = i64vec4(-1, 1l << 40, 3, -5);
  f = vec4(0.25);
  gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1);
}"""
    fragment = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(location = 0) in flat double a; layout(location = 1) in flat dvec3 b; layout(location = 3) in flat uint64_t c[2];
layout(location = 5, component = 2) in flat double d; layout(location = 6) in flat i64vec4 e; layout(location = 8) in vec4 f;
layout(location = 0) out uvec4 o;
void main() {
  uint ok = 0;
  if (a == 1.0 / 3.0lf) ok |= 1;
  if (b.x == 1e300 && b.y == 2.5 && b.z == -1e-300) ok |= 2;
  if (c[int(gl_FragCoord.x) & 1] == ((int(gl_FragCoord.x) & 1) == 1 ? ~0UL : 0x123456789abcdefUL)) ok |= 4;
  if (d == 7.0lf) ok |= 8;
  if (e.x == -1 && e.y == 1l << 40 && e.z == 3 && e.w == -5) ok |= 16;
  if (f.w == 0.25) ok |= 32;
  o = uvec4(ok);
}"""
    for case in CASES:
        dev = device(*case)
        pipe = dev.pipeline(vertex, fragment, color="r8g8b8a8_uint")
        target = dev.image((16, 16), "r8g8b8a8_uint")
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3)
        assert np.all(target.numpy() == 63)


DOT_TYPES = """%byte = OpTypeInt 8 0
%bytes = OpTypeVector %byte 4
%near = OpConstant %uint 0x7fffff00"""
DOT = """%i2 = OpIMul %uint %i %u2
%i21 = OpIAdd %uint %i2 %u1
%p0 = OpAccessChain %puint %b %u0 %i2
%p1 = OpAccessChain %puint %b %u0 %i21
%x = OpLoad %uint %p0
%y = OpLoad %uint %p1
%xv = OpBitcast %bytes %x
%yv = OpBitcast %bytes %y
%d0 = OpSDotKHR %uint %x %y PackedVectorFormat4x8BitKHR
%d1 = OpUDotKHR %uint %xv %yv
%d2 = OpSUDotKHR %uint %x %y PackedVectorFormat4x8BitKHR
%d3 = OpSDotAccSatKHR %uint %xv %yv %near
%d4 = OpUDotAccSatKHR %uint %x %y %near PackedVectorFormat4x8BitKHR
%d5 = OpSUDotAccSatKHR %uint %xv %yv %near
%base = OpIMul %uint %i %u6"""


def test_integer_dot_products() -> None:
    n = 128
    stores = "\n".join(
        f"%a{k} = OpIAdd %uint %base %u{k}\n%o{k} = OpAccessChain %puint %out %u0 %a{k}\nOpStore %o{k} %d{k}" for k in range(6)
    )
    words = np.random.default_rng(11).integers(0, 2**32, (n, 2), np.uint32)
    signed, unsigned = (words.view(np.int8).reshape(n, 2, 4).astype(np.int64), words.view(np.uint8).reshape(n, 2, 4).astype(np.int64))
    s, u, mixed = ((signed[:, 0] * signed[:, 1]).sum(1), (unsigned[:, 0] * unsigned[:, 1]).sum(1), (signed[:, 0] * unsigned[:, 1]).sum(1))
    top = 2**31 - 1
    columns = [s, u, mixed, np.minimum(s + 0x7FFFFF00, top), np.minimum(u + 0x7FFFFF00, 2**32 - 1), np.minimum(mixed + 0x7FFFFF00, top)]
    want = np.stack(columns, 1).astype(np.int64).astype(np.uint32)
    dots = "Int8 DotProduct DotProductInput4x8Bit DotProductInput4x8BitPacked"
    module = spirv.kernel(dots, "%uint", 4, DOT_TYPES, DOT + "\n" + stores, extensions="SPV_KHR_integer_dot_product")
    for case in CASES:
        dev = device(*case)
        out = dev.buffer(want.nbytes)
        dev.dispatch(dev.compute_pipeline(module), n // 32, bind={"B": dev.buffer(words), "R": out})
        np.testing.assert_array_equal(out.numpy(np.uint32, want.shape), want)


NARROW = """OpCapability Shader
OpCapability {capability}
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" %in %out %place
{mode}OpName %in "a"
OpName %out "a"
OpDecorate %out Location 0
OpDecorate %in Location 0
{decorate}
%void = OpTypeVoid
%f = OpTypeFunction %void
%float = OpTypeFloat 32
%float4 = OpTypeVector %float 4
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%narrow = {narrow}
%pin = OpTypePointer Input {read}
%in = OpVariable %pin Input
%pout = OpTypePointer Output {written}
%out = OpVariable %pout Output
%pplace = OpTypePointer {place} %float4
%place = OpVariable %pplace {place}
%main = OpFunction %void None %f
%start = OpLabel
%v = OpLoad {read} %in
%w = {convert} {written} %v
OpStore %out %w
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize("output", [False, True])
@pytest.mark.parametrize("stage", ["Vertex", "Fragment"])
@pytest.mark.parametrize(
    ("capability", "narrow", "wide"),
    [("Int16", "OpTypeInt 16 1", "%int"), ("Int8", "OpTypeInt 8 0", "%uint"), ("Float16", "OpTypeFloat 16", "%float")],
)
def test_inputs_and_outputs_of_fewer_bits(capability: str, narrow: str, wide: str, stage: str, output: bool) -> None:
    """Of 8 bits there are none; of 16 not without StorageInputOutput16: refused by name, not drawn as what they are not."""
    fragment = stage == "Fragment"
    conversion = "OpFConvert" if narrow.startswith("OpTypeFloat") else "OpSConvert" if narrow.endswith("16 1") else "OpUConvert"
    module = spirv.assemble(
        NARROW.format(
            capability=capability,
            model=stage,
            mode="OpExecutionMode %main OriginUpperLeft\n" if fragment else "",
            decorate="OpDecorate %in Flat\nOpDecorate %place BuiltIn FragCoord" if fragment else "OpDecorate %place BuiltIn Position",
            narrow=narrow,
            read=wide if output else "%narrow",
            written="%narrow" if output else wide,
            place="Input" if fragment else "Output",
            convert=conversion,
        ),
        validate=False,
    )
    glsl = wide[1:]
    vertex: Any = f"#version 450\nlayout(location = 0) flat out {glsl} a; void main() {{ a = {glsl}(1); gl_Position = vec4(0); }}"
    other: Any = f"#version 450\nlayout(location = 0) flat in {glsl} a; layout(location = 0) out vec4 o; void main() {{ o = vec4(a); }}"
    why = "a' has scalars of " + ("8 bits; inputs" if capability == "Int8" else "16 bits, and the module does not declare Storage")
    with pytest.raises(tg.Error, match=why):
        device(*CASES[1]).pipeline(
            vertex if fragment else module,
            module if fragment else other,
            vertex=None if fragment else np.dtype([("a", {"%int": "i4", "%uint": "u4", "%float": "f4"}[wide])]),
            color="r8g8b8a8_unorm",
        )


def test_the_fraction_of_a_half_stays_below_one() -> None:
    """What rounds to 1 is the last half before it; infinity has none."""
    values = np.array([-6e-8, -1e-4, -0.25, 0.75, 1, -1, 2.5, -2.5, 65504, -0.0, 0.9995, -0.0004], np.float16).repeat(3)[:32]
    exact = values.astype(np.float64) - np.floor(values.astype(np.float64))
    want = np.minimum(exact.astype(np.float16), np.float16(1 - 2**-11))
    run(
        blocks(a="float16_t", r="float16_t"),
        "float16_t x = a[i] * float16_t(1); r[i] = fract(x);",
        {"Ba": values, "Br": np.zeros_like(values)},
        {"Br": want},
        32,
    )
