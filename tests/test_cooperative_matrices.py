"""Cooperative matrices of VK_KHR_cooperative_matrix in compute shaders: products, layouts, components, errors; against NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import cooperative as co
import tilegpu as tg

CASES = [(4, 1, ""), (8, 2, "baseline"), (8, 2, ""), (16, 1, "")]
Array = np.ndarray[Any, Any]


@functools.cache
def device(lanes: int, threads: int, target: str) -> tg.Device:
    return tg.Device(lanes=lanes, threads=threads, jit_target=target, cache_dir="off")


def run(
    words: bytes, buffers: list[Array], groups: int | tuple[int, ...] = 1, cases: Any = CASES, **more: Any
) -> list[Array]:
    """What the buffers hold afterwards, the same for all devices."""
    results: list[list[Array]] = []
    for case in cases:
        dev = device(*case)
        bound = {f"b{k}": dev.buffer(b) for k, b in enumerate(buffers)}
        dev.dispatch(dev.compute_pipeline(words, **more), groups, bind=bound)
        results.append([bound[f"b{k}"].numpy(b.dtype, b.shape) for k, b in enumerate(buffers)])
    for case, other in zip(cases[1:], results[1:], strict=True):
        for k, (got, want) in enumerate(zip(other, results[0], strict=True)):
            assert got.tobytes() == want.tobytes(), f"{case}: buffer {k} differs from that of {cases[0]}"
    return results[0]


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of 32-bit floats, rounded once: the sum of two 64-bit numbers is rounded to odd before."""
    p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s = p + c
    part = s - p
    error = (p - (s - part)) + (c - part)
    bits = s.view(np.int64).copy()
    inexact = (error != 0) & (bits & 1 == 0) & np.isfinite(s)
    bits += np.where(inexact, np.where((error > 0) == (s > 0), 1, -1), 0)
    return bits.view(np.float64).astype(np.float32)


def product(a: Array, b: Array, c: Array, saturates: bool = False) -> Array:
    """The sum begins with C and goes on by the columns of A, in order; integers of 32 bits, the last sum of which may stop."""
    if c.dtype.kind == "f":
        total = c.astype(np.float32)
        for k in range(a.shape[1]):
            total = fma(np.broadcast_to(a[:, k : k + 1], c.shape), np.broadcast_to(b[k], c.shape), total)
        return total.astype(c.dtype)
    products = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.uint32).view(c.dtype).astype(np.int64)
    total = products + c.astype(np.int64)
    if saturates:
        total = np.clip(total, np.iinfo(c.dtype).min, np.iinfo(c.dtype).max)
    return total.astype(np.uint32).view(c.dtype) if c.dtype.itemsize == 4 else total.astype(c.dtype)


def some(name: str, shape: tuple[int, ...], seed: int) -> Array:
    dtype = co.SCALARS[name].dtype
    rng = np.random.default_rng(seed)
    if dtype.kind == "f":
        return (rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 3, shape)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def flags(a: str, b: str, c: str, saturates: bool) -> int:
    signed = [name.startswith("int") for name in (a, b, c)]
    return (
        co.SIGNED_A * signed[0]
        | co.SIGNED_B * signed[1]
        | (co.SIGNED_C | co.SIGNED_RESULT) * signed[2]
        | co.SATURATES * saturates
    )


def product_words(row: tg.CooperativeMatrix, layouts: tuple[int, int, int], local: int = 4) -> bytes:
    types = {"A": (row.a, row.m, row.k, co.A), "B": (row.b, row.k, row.n, co.B), "C": (row.c, row.m, row.n, co.SUM)}
    body = f"""%w = OpCompositeExtract %uint32 %g3 0
%at = OpIMul %uint32 %w %subgroups
%number = OpIAdd %uint32 %at %u
%first = OpIMul %uint32 %number %size
%p0 = OpAccessChain %to_{row.a} %b_0 %c_0 %first
%p1 = OpAccessChain %to_{row.b} %b_1 %c_0 %first
%p2 = OpAccessChain %to_{row.c} %b_2 %c_0 %first
%p3 = OpAccessChain %to_{row.c} %b_3 %c_0 %first
%a = OpCooperativeMatrixLoadKHR %A %p0 %c_{layouts[0]} %c_{row.m}
%b = OpCooperativeMatrixLoadKHR %B %p1 %c_{layouts[1]} %c_{row.m}
%c = OpCooperativeMatrixLoadKHR %C %p2 %c_{layouts[2]} %c_{row.m}
%d = OpCooperativeMatrixMulAddKHR %C %a %b %c {flags(row.a, row.b, row.c, row.saturates)}
OpCooperativeMatrixStoreKHR %p3 %d %c_{layouts[2]} %c_{row.m}"""
    more = f"%size = OpConstant %uint32 {row.m * row.m}\n%subgroups = OpConstant %uint32 {local // 4}"
    return co.module(
        [row.a, row.b, row.c, row.c], types, "%g3 = OpLoad %v3 %group\n" + body, declarations=more, local=local
    )


def laid(matrices: Array, layout: int) -> Array:
    return matrices if layout == co.ROW else np.swapaxes(matrices, -1, -2)


@pytest.mark.parametrize(
    "row", tg.cooperative_matrices(), ids=lambda r: f"{r.m}-{r.a}-{r.b}-{r.c}{'-sat' * r.saturates}"
)
def test_products(row: tg.CooperativeMatrix) -> None:
    """Each row of the table, of 6 subgroups in 2 workgroups; layouts differ."""
    layouts = (co.ROW, co.COLUMN, co.ROW) if row.saturates else (co.COLUMN, co.ROW, co.COLUMN)
    names = (row.a, row.b, row.c)
    if row.a == row.c == "float32":
        layouts = (co.ROW, co.ROW, co.ROW)
    a, b, c = (some(name, (6, row.m, row.m), 10 + k) for k, name in enumerate(names))
    if row.saturates and row.c != "float32":
        c[:, ::2] = np.iinfo(c.dtype).max - 5
        c[:, 1::4] = np.iinfo(c.dtype).min + 3
    given = [np.ascontiguousarray(laid(x, layout)) for x, layout in zip((a, b, c), layouts, strict=True)]
    got = run(product_words(row, layouts, 12), [*given, np.zeros_like(given[2])], 2)[3]
    want = np.stack([product(*x, row.saturates) for x in zip(a, b, c, strict=True)])
    assert want.astype(np.float64).std() > 0
    assert laid(got, layouts[2]).tobytes() == want.tobytes()


def test_table() -> None:
    """42 products: 21 of each size, and each once."""
    table = tg.cooperative_matrices()
    assert len(set(table)) == len(table) == 42
    assert {r.m for r in table} == {8, 16} and all(r.m == r.n == r.k for r in table)
    assert {(r.a, r.b, r.c) for r in table if r.c == "float32"} == {("float16",) * 2 + ("float32",), ("float32",) * 3}
    assert not any(r.saturates and "float" in r.c for r in table)


def copy_words(
    component: str,
    element: str,
    rows: int,
    columns: int,
    layouts: tuple[int, int],
    first: tuple[int, int],
    strides: tuple[int, int],
) -> bytes:
    """A matrix from buffer 0 to buffer 1, whose elements may be of another type; ``first`` and ``strides`` in elements."""
    body = f"""%from = OpAccessChain %to_{element} %b_0 %c_0 %c_{first[0]}
%to = OpAccessChain %to_{element} %b_1 %c_0 %c_{first[1]}
%a = OpCooperativeMatrixLoadKHR %M %from %c_{layouts[0]} %c_{strides[0]}
OpCooperativeMatrixStoreKHR %to %a %c_{layouts[1]} %c_{strides[1]}"""
    return co.module([element, element], {"M": (component, rows, columns, co.SUM)}, body)


def matrix_of(memory: Array, shape: tuple[int, int], layout: int, first: int, stride: int, own: int) -> Array:
    """Where the components of a matrix are: in bytes. ``first`` and ``stride`` in elements of ``memory``."""
    row, column = np.meshgrid(np.arange(shape[0]), np.arange(shape[1]), indexing="ij")
    major, minor = (row, column) if layout == co.ROW else (column, row)
    return (first + major * stride) * memory.dtype.itemsize + minor * own


@pytest.mark.parametrize("component", ["float16", "float32", "int8", "uint16", "int32"])
@pytest.mark.parametrize(("element", "shape"), [("", (8, 16)), ("", (16, 8)), ("uint32", (16, 16)), ("uint8", (8, 8))])
@pytest.mark.parametrize(
    "layouts", [(co.ROW, co.ROW), (co.ROW, co.COLUMN), (co.COLUMN, co.ROW), (co.COLUMN, co.COLUMN)]
)
def test_layouts(component: str, element: str, shape: tuple[int, int], layouts: tuple[int, int]) -> None:
    """Loads and stores by rows and columns, of any start and stride; and where the memory's elements are of another type."""
    own = co.SCALARS[component].dtype.itemsize
    memory = np.arange(4096, dtype=np.uint32).view(co.SCALARS[element or component].dtype).copy()
    if memory.dtype.kind == "f":
        memory[:] = np.arange(memory.size) % 2000
    first, strides = (3, 8), (33, 18 * 4 // memory.dtype.itemsize if memory.dtype.itemsize < own else 17)
    if memory.dtype.itemsize < own:
        strides = (60, 64)
    words = copy_words(component, element or component, *shape, layouts, first, strides)
    got = run(words, [memory, np.zeros_like(memory)], cases=CASES[1:])[1]
    want = np.zeros(memory.nbytes, np.uint8)
    source = matrix_of(memory, shape, layouts[0], first[0], strides[0], own)
    target = matrix_of(memory, shape, layouts[1], first[1], strides[1], own)
    for byte in range(own):
        want[target + byte] = memory.view(np.uint8)[source + byte]
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("layout", [co.ROW, co.COLUMN])
@pytest.mark.parametrize("stride", [16, 0x7FFFFFFF, 0xFFFFFFFF])
def test_out_of_range(layout: int, stride: int) -> None:
    """Components that lie beyond the buffer are zeros, and are not stored: the others are exact."""
    memory = np.arange(1, 101, dtype=np.uint32)
    target = np.full(70, 7, np.uint32)
    body = f"""%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_{layout} %stride
OpCooperativeMatrixStoreKHR %p_1_0 %a %c_{layout} %c_16
OpCooperativeMatrixStoreKHR %p_2_0 %a %c_{layout} %stride"""
    words = co.module(
        ["uint32"] * 3, {"M": ("uint32", 16, 16, co.SUM)}, body, declarations=f"%stride = OpConstant %uint32 {stride}"
    )
    _, got, narrow = run(words, [memory, np.zeros(256, np.uint32), target])
    index = (np.arange(16)[:, None] * stride + np.arange(16)).ravel()
    inside = index < memory.size
    want = np.where(inside, memory[np.where(inside, index, 0)], 0)
    assert got.tolist() == want.tolist() and 0 < inside.sum() < 256
    wanted = target.copy()
    wanted[index[index < 70]] = want[index < 70]
    assert narrow.tolist() == wanted.tolist()


def test_shared_memory_is_guarded() -> None:
    """A matrix that reaches beyond its shared variable has zeros there, and what lies behind the variable stays."""
    declare = """%n64 = OpConstant %uint32 64
%n256 = OpConstant %uint32 256
%small = OpTypeArray %uint32 %n64
%large = OpTypeArray %uint32 %n256
%psmall = OpTypePointer Workgroup %small
%plarge = OpTypePointer Workgroup %large
%pu = OpTypePointer Workgroup %uint32
%s = OpVariable %psmall Workgroup
%t = OpVariable %plarge Workgroup"""
    body = """%ps = OpAccessChain %pu %s %c_0
%pt = OpAccessChain %pu %t %c_0
%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_0 %c_16
OpCooperativeMatrixStoreKHR %ps %a %c_0 %c_16
%b = OpCooperativeMatrixLoadKHR %M %ps %c_0 %c_16
OpCooperativeMatrixStoreKHR %p_1_0 %b %c_0 %c_16
%c = OpCooperativeMatrixLoadKHR %M %pt %c_0 %c_16
OpCooperativeMatrixStoreKHR %p_2_0 %c %c_0 %c_16"""
    words = co.module(["uint32"] * 3, {"M": ("uint32", 16, 16, co.SUM)}, body, declarations=declare)
    memory = np.arange(1, 257, dtype=np.uint32)
    _, near, behind = run(words, [memory, np.ones(256, np.uint32), np.ones(256, np.uint32)])
    assert near.tolist() == [*range(1, 65), *[0] * 192]
    assert not behind.any()


ELEMENTWISE = {
    "float32": {
        "OpFAdd": np.add, "OpFSub": np.subtract, "OpFMul": np.multiply, "OpFDiv": None, "OpFNegate": np.negative,
        "OpMatrixTimesScalar": None,
    },
    "float16": {"OpFAdd": np.add, "OpFSub": np.subtract, "OpFMul": np.multiply, "OpFNegate": np.negative},
    "int32": {
        "OpIAdd": np.add, "OpISub": np.subtract, "OpIMul": np.multiply, "OpSDiv": None, "OpSNegate": np.negative,
        "OpMatrixTimesScalar": None,
    },
    "uint8": {"OpIAdd": np.add, "OpISub": np.subtract, "OpIMul": np.multiply, "OpUDiv": np.floor_divide},
}  # fmt: skip


@pytest.mark.parametrize(("name", "op"), [(n, o) for n, ops in ELEMENTWISE.items() for o in ops])
def test_elementwise(name: str, op: str) -> None:
    """Operations on each component, with the bits that the same operation has on scalars."""
    body = f"""%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_0 %c_16
%b = OpCooperativeMatrixLoadKHR %M %p_1_0 %c_0 %c_16
%r = {op} %M %a {"" if "Negate" in op else "%second" if "Scalar" in op else "%b"}
OpCooperativeMatrixStoreKHR %p_2_0 %r %c_0 %c_16"""
    body = body.replace("%second", "%factor")
    words = co.module(
        [name] * 3,
        {"M": (name, 8, 16, co.SUM)},
        body,
        declarations=f"%factor = OpConstant %{name} {0.7 if 'float' in name else 7}",
    )
    a, b = some(name, (8, 16), 1), some(name, (8, 16), 2)
    b[b == 0] = 3
    got = run(words, [a, b, np.zeros_like(a)], cases=CASES[1:])[2]
    with np.errstate(all="ignore"):
        if op == "OpFDiv":
            want = a / b
        elif op == "OpMatrixTimesScalar":
            want = a * a.dtype.type(0.7 if a.dtype.kind == "f" else 7)
        elif op == "OpSDiv":
            want = np.trunc(a.astype(np.float64) / b).astype(np.int32)
        else:
            want = ELEMENTWISE[name][op](*([a] if "Negate" in op else [a, b]))
    assert got.tobytes() == want.astype(a.dtype).tobytes()


CONVERSIONS = [
    ("OpFConvert", "float16", "float32", lambda x: x.astype(np.float32)),
    ("OpFConvert", "float32", "float16", lambda x: x.astype(np.float16)),
    ("OpSConvert", "int8", "int32", lambda x: x.astype(np.int32)),
    ("OpUConvert", "uint32", "uint8", lambda x: x.astype(np.uint8)),
    ("OpConvertFToS", "float32", "int8", lambda x: np.clip(np.trunc(x), -128, 127).astype(np.int8)),
    ("OpConvertSToF", "int32", "float32", lambda x: x.astype(np.float32)),
    ("OpConvertUToF", "uint8", "float16", lambda x: x.astype(np.float16)),
    ("OpBitcast", "float32", "uint32", lambda x: x.view(np.uint32)),
    ("OpBitcast", "int8", "uint8", lambda x: x.view(np.uint8)),
]


@pytest.mark.parametrize(("op", "name", "to", "convert"), CONVERSIONS, ids=lambda x: x if isinstance(x, str) else "")
def test_conversions(op: str, name: str, to: str, convert: Any) -> None:
    body = f"""%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_0 %c_16
%r = {op} %N %a
OpCooperativeMatrixStoreKHR %p_1_0 %r %c_0 %c_16"""
    words = co.module([name, to], {"M": (name, 16, 16, co.SUM), "N": (to, 16, 16, co.SUM)}, body)
    a = some(name, (16, 16), 5)
    want = convert(a)
    assert run(words, [a, np.zeros_like(want)], cases=CASES[1:])[1].tobytes() == want.tobytes()


COMPOSITES = """%psum = OpTypePointer Function %M
%pair = OpTypeArray %M %c_2
%ppair = OpTypePointer Function %pair
%pfloat = OpTypePointer Function %float32
%two = OpConstant %float32 2
%three = OpConstant %float32 3
%splat = OpConstantComposite %M %three
%null = OpConstantNull %M
%length = OpSpecConstantOp %uint32 CooperativeMatrixLengthNV %M
%bool = OpTypeBool
%g = OpTypeFunction %M %M %psum
%private = OpTypePointer Private %M
%own = OpVariable %private Private"""
TWICE = """%twice = OpFunction %M None %g
%given = OpFunctionParameter %M
%kept = OpFunctionParameter %psum
%twice_start = OpLabel
%sum = OpFAdd %M %given %given
OpStore %kept %given
OpReturnValue %sum
OpFunctionEnd"""


def test_values_go_everywhere() -> None:
    """Splats, constants, components by number and by pointer, variables, arrays, functions, phis, selections, the length."""
    variables = "%v = OpVariable %psum Function\n%pairs = OpVariable %ppair Function\n%k = OpVariable %pk Function"
    body = """OpStore %k %c_0
%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_0 %c_8
%n = OpCooperativeMatrixLengthKHR %uint32 %M
%same = OpIEqual %bool %n %length
%first = OpCompositeExtract %float32 %a 0
%changed = OpCompositeInsert %M %first %a 1
%made = OpCompositeConstruct %M %two
%t = OpFunctionCall %M %twice %changed %v
%v0 = OpLoad %M %v
%s1 = OpFAdd %M %v0 %made
%s2 = OpFAdd %M %s1 %splat
%s3 = OpFAdd %M %s2 %null
OpStore %own %s3
%which = OpSGreaterThan %bool %u %c_0
OpSelectionMerge %joined None
OpBranchConditional %which %yes %no
%yes = OpLabel
OpBranch %joined
%no = OpLabel
%s4 = OpLoad %M %own
OpBranch %joined
%joined = OpLabel
%phi = OpPhi %M %t %yes %s4 %no
%chosen = OpSelect %M %same %phi %null
%q1 = OpAccessChain %psum %pairs %c_1
OpStore %q1 %chosen
OpBranch %head
%head = OpLabel
OpLoopMerge %done %next None
OpBranch %test
%test = OpLabel
%i = OpLoad %uint32 %k
%less = OpULessThan %bool %i %n
OpBranchConditional %less %loop %done
%loop = OpLabel
%e = OpAccessChain %pfloat %pairs %c_1 %i
%x = OpLoad %float32 %e
%fi = OpConvertUToF %float32 %i
%y = OpFAdd %float32 %x %fi
OpStore %e %y
OpBranch %next
%next = OpLabel
%more = OpIAdd %uint32 %i %c_1
OpStore %k %more
OpBranch %head
%done = OpLabel
%last = OpLoad %M %q1
%at = OpIMul %uint32 %u %c_64
%to = OpAccessChain %to_float32 %b_1 %c_0 %at
OpCooperativeMatrixStoreKHR %to %last %c_0 %c_8"""
    words = co.module(
        ["float32", "float32"], {"M": ("float32", 8, 8, co.SUM)}, body, declarations=COMPOSITES + "\n%pk = OpTypePointer Function %uint32",
        variables=variables, local=8, functions=TWICE,
    )  # fmt: skip
    a = some("float32", (8, 8), 3)
    got = run(words, [a, np.zeros((2, 8, 8), np.float32)])[1]
    changed = a.copy()
    changed[0, 4:] = a[0, :4]  # component 1 of each invocation is in row 0, four columns on
    number = (np.arange(8)[:, None] * 2 + np.arange(8) // 4).astype(np.float32)
    want = np.stack([changed + np.float32(2) + np.float32(3) + number, changed + changed + number])
    assert got.tobytes() == want.astype(np.float32).tobytes()


TILED = """%n32 = OpConstant %uint32 32
%n128 = OpConstant %uint32 128
%n512 = OpConstant %uint32 512
%n1024 = OpConstant %uint32 1024
%bool = OpTypeBool
%tile = OpTypeArray %float16 %n512
%ptile = OpTypePointer Workgroup %tile
%pcell = OpTypePointer Workgroup %float16
%ta = OpVariable %ptile Workgroup
%tb = OpVariable %ptile Workgroup
%pk = OpTypePointer Function %uint32
%psum = OpTypePointer Function %C
%zero = OpConstantNull %C"""


def tiled_words(n: int) -> bytes:
    """C = A B of float16 to float32, n a multiple of 32: a workgroup of 4 subgroups makes 32 x 32, a subgroup 16 x 16 of them. Steps of 16
    of k: strips of A (32 x 16) and B (16 x 32) go to shared memory, 32 numbers by each invocation, between barriers."""
    body = """%g3 = OpLoad %v3 %group
%gx = OpCompositeExtract %uint32 %g3 0
%gy = OpCompositeExtract %uint32 %g3 1
%column0 = OpIMul %uint32 %gx %n32
%row0 = OpIMul %uint32 %gy %n32
%sx = OpBitwiseAnd %uint32 %u %c_1
%sy = OpShiftRightLogical %uint32 %u %c_1
OpStore %sum %zero
OpStore %k %c_0
OpBranch %head
%head = OpLabel
OpLoopMerge %done %next None
OpBranch %test
%test = OpLabel
%k0 = OpLoad %uint32 %k
%less = OpULessThan %bool %k0 %size
OpBranchConditional %less %loop %done
%loop = OpLabel
OpStore %c %l
OpBranch %fill
%fill = OpLabel
OpLoopMerge %filled %fill_next None
OpBranch %fill_test
%fill_test = OpLabel
%e = OpLoad %uint32 %c
%fill_less = OpULessThan %bool %e %n512
OpBranchConditional %fill_less %one %filled
%one = OpLabel
%ra = OpShiftRightLogical %uint32 %e %c_4
%ca = OpBitwiseAnd %uint32 %e %c_15
%ra1 = OpIAdd %uint32 %ra %row0
%ra2 = OpIMul %uint32 %ra1 %size
%ca1 = OpIAdd %uint32 %ca %k0
%ia = OpIAdd %uint32 %ra2 %ca1
%rb = OpShiftRightLogical %uint32 %e %c_5
%cb = OpBitwiseAnd %uint32 %e %c_31
%rb1 = OpIAdd %uint32 %rb %k0
%rb2 = OpIMul %uint32 %rb1 %size
%cb1 = OpIAdd %uint32 %cb %column0
%ib = OpIAdd %uint32 %rb2 %cb1
%qa = OpAccessChain %to_float16 %b_0 %c_0 %ia
%qb = OpAccessChain %to_float16 %b_1 %c_0 %ib
%xa = OpLoad %float16 %qa
%xb = OpLoad %float16 %qb
%wa = OpAccessChain %pcell %ta %e
%wb = OpAccessChain %pcell %tb %e
OpStore %wa %xa
OpStore %wb %xb
OpBranch %fill_next
%fill_next = OpLabel
%e2 = OpIAdd %uint32 %e %c_16
OpStore %c %e2
OpBranch %fill
%filled = OpLabel
OpControlBarrier %c_2 %c_2 %order
%sya = OpIMul %uint32 %sy %n256
%sxb = OpIMul %uint32 %sx %c_16
%pa = OpAccessChain %pcell %ta %sya
%pb = OpAccessChain %pcell %tb %sxb
%a = OpCooperativeMatrixLoadKHR %A %pa %c_0 %c_16
%b = OpCooperativeMatrixLoadKHR %B %pb %c_0 %c_32
%s = OpLoad %C %sum
%s2 = OpCooperativeMatrixMulAddKHR %C %a %b %s
OpStore %sum %s2
OpControlBarrier %c_2 %c_2 %order
OpBranch %next
%next = OpLabel
%k2 = OpIAdd %uint32 %k0 %c_16
OpStore %k %k2
OpBranch %head
%done = OpLabel
%fx = OpIMul %uint32 %sx %c_16
%fy = OpIMul %uint32 %sy %c_16
%tx = OpIAdd %uint32 %fx %column0
%ty = OpIAdd %uint32 %fy %row0
%ty1 = OpIMul %uint32 %ty %size
%first = OpIAdd %uint32 %ty1 %tx
%to = OpAccessChain %to_float32 %b_2 %c_0 %first
%all = OpLoad %C %sum
OpCooperativeMatrixStoreKHR %to %all %c_0 %size"""
    more = TILED + f"\n%size = OpConstant %uint32 {n}\n%order = OpConstant %uint32 264\n%n256 = OpConstant %uint32 256"
    return co.module(
        ["float16", "float16", "float32"],
        {"A": ("float16", 16, 16, co.A), "B": ("float16", 16, 16, co.B), "C": ("float32", 16, 16, co.SUM)}, body, declarations=more,
        variables="%k = OpVariable %pk Function\n%c = OpVariable %pk Function\n%sum = OpVariable %psum Function", local=16,
    )  # fmt: skip


def test_matrix_product_with_shared_memory() -> None:
    """96 x 96 of float16, each sum of 96 products in float32, the bits of one chain of fused multiply-adds."""
    a, b = some("float16", (96, 96), 1), some("float16", (96, 96), 2)
    got = run(tiled_words(96), [a, b, np.zeros((96, 96), np.float32)], (3, 3))[2]
    assert got.tobytes() == product(a, b, np.zeros((96, 96), np.float32)).tobytes()


def test_subgroups_that_part_ways() -> None:
    """Products behind a branch that whole subgroups take: those that don't keep what they had, with any number of lanes."""
    body = """%a = OpCooperativeMatrixLoadKHR %A %p_0_0 %c_0 %c_8
%b = OpCooperativeMatrixLoadKHR %B %p_0_0 %c_1 %c_8
%z = OpCooperativeMatrixLoadKHR %C %p_1_0 %c_0 %c_8
%odd = OpBitwiseAnd %uint32 %u %c_1
%which = OpIEqual %bool %odd %c_1
%at = OpIMul %uint32 %u %c_64
%to = OpAccessChain %to_float32 %b_2 %c_0 %at
OpSelectionMerge %joined None
OpBranchConditional %which %yes %joined
%yes = OpLabel
%d = OpCooperativeMatrixMulAddKHR %C %a %b %z
OpCooperativeMatrixStoreKHR %to %d %c_0 %c_8
OpBranch %joined
%joined = OpLabel"""
    types = {"A": ("float32", 8, 8, co.A), "B": ("float32", 8, 8, co.B), "C": ("float32", 8, 8, co.SUM)}
    words = co.module(["float32"] * 3, types, body, declarations="%bool = OpTypeBool", local=20)
    a, c = some("float32", (8, 8), 1), some("float32", (8, 8), 2)
    got = run(words, [a, c, np.full((5, 8, 8), 9, np.float32)])[2]
    want = product(a, np.ascontiguousarray(a.T), c)
    assert [x.tobytes() == want.tobytes() for x in got] == [False, True, False, True, False]
    assert (got[::2] == 9).all()


@pytest.mark.parametrize("layout", [co.ROW, co.COLUMN])
def test_buffers_by_address(layout: int) -> None:
    """Each subgroup has an address of its own; what lies beyond a buffer is zero, and not stored."""
    declare = """%ulong = OpTypeInt 64 0
%pair = OpTypeVector %uint32 2
%anywhere = OpTypePointer PhysicalStorageBuffer %float32"""
    body = """%at = OpIMul %uint32 %u %c_4
%at1 = OpIAdd %uint32 %at %c_1
%at2 = OpIAdd %uint32 %at %c_2
%at3 = OpIAdd %uint32 %at %c_3"""
    for k, index in enumerate(("%at", "%at1", "%at2", "%at3")):
        body += f"\n%q{k} = OpAccessChain %to_uint32 %b_0 %c_0 {index}\n%w{k} = OpLoad %uint32 %q{k}"
    body += f"""
%from2 = OpCompositeConstruct %pair %w0 %w1
%to2 = OpCompositeConstruct %pair %w2 %w3
%from64 = OpBitcast %ulong %from2
%to64 = OpBitcast %ulong %to2
%from = OpConvertUToPtr %anywhere %from64
%to = OpConvertUToPtr %anywhere %to64
%a = OpCooperativeMatrixLoadKHR %M %from %c_{layout} %c_16 !2 !4
OpCooperativeMatrixStoreKHR %to %a %c_{1 - layout} %c_16 !2 !4"""
    words = co.module(
        ["uint32"], {"M": ("float32", 16, 16, co.SUM)}, body, declarations=declare, local=8, addressing="PhysicalStorageBuffer64",
        capabilities=("Int64", "PhysicalStorageBufferAddresses"),
    )  # fmt: skip
    memory, short = some("float32", (16, 16), 1), some("float32", (150,), 2)
    for case in CASES:
        dev = device(*case)
        sources, targets = (
            [dev.buffer(memory), dev.buffer(short)],
            [dev.buffer(np.full(200, 7, np.float32)) for _ in range(2)],
        )
        table = np.array(
            [[s.device_address, t.device_address] for s, t in zip(sources, targets, strict=True)], np.uint64
        )
        dev.dispatch(dev.compute_pipeline(words), 1, bind={"b0": dev.buffer(table.view(np.uint32))})
        for source, target in zip((memory, short), targets, strict=True):
            whole = np.zeros(256, np.float32)
            whole[: source.size] = source.ravel()
            assert (
                target.numpy(np.float32).tobytes()
                == np.ascontiguousarray(whole.reshape(16, 16).T).ravel()[:200].tobytes()
            ), case


def test_sizes_are_specialised() -> None:
    body = """%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_0 %c_16
OpCooperativeMatrixStoreKHR %p_1_0 %a %c_1 %c_16
%n = OpCooperativeMatrixLengthKHR %uint32 %M
%x = OpConvertUToF %float32 %n
OpStore %p_2_0 %x"""
    words = co.module(["float32"] * 3, {"M": ("float32", 16, 16, co.SUM)}, body, specialised_rows=16)
    a = some("float32", (16, 16), 1)
    for rows in (8, 16):
        _, got, length = run(
            words, [a, np.zeros((16, 16), np.float32), np.zeros(1, np.float32)], constants={"rows": rows}
        )
        want = np.zeros((16, 16), np.float32)
        want[:, :rows] = a[:rows].T
        assert got.tobytes() == want.tobytes() and length == 4 * rows
    with pytest.raises(tg.UnsupportedError, match="it has 12 x 16 components; sides of 8 and 16 are offered"):
        device(*CASES[0]).compute_pipeline(words, constants={"rows": 12})


LOAD = "%a = OpCooperativeMatrixLoadKHR %M %p_0_0 %c_0 %c_16\nOpCooperativeMatrixStoreKHR %p_0_0 %a %c_0 %c_16"
REFUSED = {
    "scope is 2; a subgroup's": {"scope": 2},
    "it has 8 x 4 components": {"shape": (8, 4)},
    "components are float64": {"component": "float64"},
    "its use is 3": {"use": 3},
    "its layout is 2": {"body": LOAD.replace("%c_0 %c_16", "%c_2 %c_16")},
    "has no stride": {"body": LOAD.replace("%c_0 %c_16", "%c_0")},
    "size in x is 6; it must be a multiple of 4": {"local": 6},
    "B has use 0; it must be 1": {
        "body": LOAD + "\n%d = OpCooperativeMatrixMulAddKHR %M %a %a %a", "use": 0,
    },
    "A has use 2; it must be 0": {"body": LOAD + "\n%d = OpCooperativeMatrixMulAddKHR %M %a %a %a"},
    "in no other stage": {"model": "Fragment"},
    "OpBitcast between matrices whose components differ": {"body": LOAD + "\n%d = OpBitcast %N %a"},
    "can only be allocated in Function or Private": {
        "body": LOAD + "\nOpStore %shared_matrix %a",
        "names": 'OpName %shared_matrix "shared_matrix"',
        "declarations": "%pshared = OpTypePointer Workgroup %M\n%shared_matrix = OpVariable %pshared Workgroup",
    },
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_offered_is_refused_by_name(message: str) -> None:
    case = {"component": "float32", "shape": (16, 16), "use": co.SUM, "body": LOAD, **REFUSED[message]}
    component, shape, use = case.pop("component"), case.pop("shape"), case.pop("use")
    words = co.module(
        [component], {"M": (component, *shape, use), "N": ("float16", 16, 16, co.SUM)}, case.pop("body"), **case
    )
    dev = device(*CASES[0])
    with pytest.raises((tg.UnsupportedError, tg.ShaderError), match=message):
        if case.get("model") == "Fragment":
            dev.pipeline(
                "#version 450\nvoid main() { gl_Position = vec4(0, 0, 0, 1); }", words, color=["r8g8b8a8_unorm"]
            )
        else:
            dev.compute_pipeline(words)


def test_products_that_are_not_in_the_table() -> None:
    """By signs, sizes, kinds: what a query does not list is refused."""
    made = {"A": ("int8", 8, 16, co.A), "B": ("int8", 16, 8, co.B), "C": ("int32", 8, 8, co.SUM)}
    body = """%a = OpCooperativeMatrixLoadKHR %A %p_0_0 %c_0 %c_16
%b = OpCooperativeMatrixLoadKHR %B %p_0_0 %c_0 %c_16
%c = OpCooperativeMatrixLoadKHR %C %p_1_0 %c_0 %c_16
%d = OpCooperativeMatrixMulAddKHR %C %a %b %c 15
OpCooperativeMatrixStoreKHR %p_1_0 %d %c_0 %c_16"""
    dev = device(*CASES[0])
    with pytest.raises(tg.UnsupportedError, match="A 8 x 16 of int8, B 16 x 8 of int8, C 8 x 8 of int32"):
        dev.compute_pipeline(co.module(["int8", "int32"], made, body))
    square = {"A": ("int8", 16, 16, co.A), "B": ("int8", 16, 16, co.B), "C": ("int32", 16, 16, co.SUM)}
    dev.compute_pipeline(co.module(["int8", "int32"], square, body))
    with pytest.raises(
        tg.UnsupportedError, match=r"B 16 x 16 of uint8, C 16 x 16 of uint32.*saturating is not in the table"
    ):
        dev.compute_pipeline(co.module(["int8", "int32"], square, body.replace(" 15\n", " 17\n")))


def test_glsl_says_what_to_do() -> None:
    text = "#version 450\n#extension GL_KHR_cooperative_matrix : require\nvoid main() { coopmat<float, 3, 8, 8, 0> a; }"
    with pytest.raises(tg.ShaderError, match="give the SPIR-V"):
        device(*CASES[0]).compute_pipeline(text)
