"""Invocations that wait for each other: workgroups, subgroups of four, quads.

In: invocations in order of their places. Out: all of them have ended. Each runs until it must know of others. Of those of a subgroup that
wait, the ones with the least key are together and go on; at a barrier the workgroup waits until nobody can do anything else.
Source: SPIR-V specification 1.6, sections 3.32.20 "Barrier", 3.32.24 "Non-Uniform", 3.32.16 "Derivative"; Vulkan specification, "Group
Operations", "Derivative Operations". Sums go by pairs, then pairs of pairs (docs/undefined.md).
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from tests.oracle.shaders import numbers
from tests.oracle.shaders.arithmetic import each, rounded, widened, work_bits
from tests.oracle.shaders.glsl450 import nmax, nmin
from tests.oracle.shaders.invocation import Invocation, Wait
from tests.oracle.shaders.module import Module, Value
from tests.oracle.shaders.numbers import mask, signed
from tests.oracle.shaders.words import Instruction

SUBGROUP = 4
_QUAD_VOTES = ("OpGroupNonUniformQuadAllKHR", "OpGroupNonUniformQuadAnyKHR")
REDUCE, INCLUSIVE, EXCLUSIVE, CLUSTERED = 0, 1, 2, 3


def run(module: Module, invocations: list[Invocation]) -> None:
    """Until each has ended. ``invocations[k].place`` is k modulo 4."""
    threads: list[Generator[Wait, Value, None] | None] = [x.run() for x in invocations]
    waits: list[Wait | None] = [None] * len(invocations)

    def advance(k: int, value: Value) -> None:
        thread = threads[k]
        assert thread is not None
        try:
            waits[k] = thread.send(value)
        except StopIteration:
            threads[k], waits[k] = None, None

    for k in range(len(threads)):
        advance(k, None)
    while any(waits):
        released = False
        for first in range(0, len(threads), SUBGROUP):
            own = [
                k for k in range(first, min(first + SUBGROUP, len(threads))) if waits[k] and waits[k].kind != "barrier"
            ]  # type: ignore[union-attr]
            if not own:
                continue
            least = min(waits[k].key for k in own)  # type: ignore[union-attr]
            together = [k for k in own if waits[k].key == least]  # type: ignore[union-attr]
            results = _together(module, {k: waits[k] for k in together}, invocations)  # type: ignore[misc]
            for k in together:
                advance(k, results.get(k, 0))
            released = True
        if not released:
            for k in [k for k, wait in enumerate(waits) if wait]:
                advance(k, None)


def _together(module: Module, waits: dict[int, Wait], invocations: list[Invocation]) -> dict[int, Value]:
    """What each gets."""
    i = next(iter(waits.values())).instruction
    if i.op == "OpControlBarrier":
        return {}
    if next(iter(waits.values())).kind == "quad":
        return _derivatives(module, i, {k % SUBGROUP: w.values[0] for k, w in waits.items()}, list(waits))
    # Of a quad all vote, and with full quads helper invocations take part in everything.
    all_take_part = i.op in _QUAD_VOTES or module.mode("RequireFullQuadsKHR") is not None
    active = {k % SUBGROUP: w.values for k, w in waits.items() if all_take_part or not invocations[k].helper}
    out = {}
    for k, wait in waits.items():
        place = k % SUBGROUP
        mine = active if place in active else {**active, place: wait.values}
        out[k] = _subgroup(module, i, place, mine, active)
    return out


# -- derivatives


def _derivatives(m: Module, i: Instruction, of: dict[int, Value], who: list[int]) -> dict[int, Value]:
    """Places of a quad: (0, 0), (1, 0), (0, 1), (1, 1)."""
    bits = m.scalar(i.type).bits

    def difference(a: int, b: int) -> Value:
        return each(lambda x, y: numbers.sub(x, y, bits), of[a], of[b])

    def one(place: int, along_x: bool, fine: bool) -> Value:
        if along_x:
            return difference(3, 2) if fine and place >= 2 else difference(1, 0)
        return difference(3, 1) if fine and place & 1 else difference(2, 0)

    fine = i.op.endswith("Fine")
    out = {}
    for k in who:
        place = k % SUBGROUP
        if i.op.startswith("OpFwidth"):
            x, y = one(place, True, fine), one(place, False, fine)
            out[k] = each(lambda a, b: numbers.add(numbers.absolute(a, bits), numbers.absolute(b, bits), bits), x, y)
        else:
            out[k] = one(place, i.op.startswith("OpDPdx"), fine)
    return out


# -- subgroups


_Operation = tuple[
    Callable[[int, int, int], int], Callable[[int], int]
]  # of (a, b, bits); what changes nothing, of bits


def _float(x: float) -> Callable[[int], int]:
    return lambda bits: numbers.encode(x, bits)


_OPERATIONS: dict[str, _Operation] = {
    "IAdd": (lambda a, b, n: a + b & mask(n), lambda n: 0),
    "FAdd": (numbers.add, _float(-0.0)),
    "IMul": (lambda a, b, n: a * b & mask(n), lambda n: 1),
    "FMul": (numbers.mul, _float(1.0)),
    "SMin": (lambda a, b, n: min(signed(a, n), signed(b, n)) & mask(n), lambda n: mask(n - 1)),
    "UMin": (lambda a, b, n: min(a, b), mask),
    "FMin": (lambda a, b, n: _extreme(a, b, n, True), _float(float("inf"))),
    "SMax": (lambda a, b, n: max(signed(a, n), signed(b, n)) & mask(n), lambda n: 1 << n - 1),
    "UMax": (lambda a, b, n: max(a, b), lambda n: 0),
    "FMax": (lambda a, b, n: _extreme(a, b, n, False), _float(float("-inf"))),
    "BitwiseAnd": (lambda a, b, n: a & b, mask),
    "BitwiseOr": (lambda a, b, n: a | b, lambda n: 0),
    "BitwiseXor": (lambda a, b, n: a ^ b, lambda n: 0),
    "LogicalAnd": (lambda a, b, n: a & b, lambda n: 1),
    "LogicalOr": (lambda a, b, n: a | b, lambda n: 0),
    "LogicalXor": (lambda a, b, n: a ^ b, lambda n: 0),
}


def _extreme(a: int, b: int, bits: int, least: bool) -> int:
    """NaN is left out; of equal numbers the first."""
    return nmin(b, a, bits) if least else nmax(b, a, bits)


def _reduce(
    m: Module, i: Instruction, place: int, values: dict[int, list[Value]], active: dict[int, list[Value]]
) -> Value:
    combine, neutral = _OPERATIONS[i.op.removeprefix("OpGroupNonUniform")]
    operation = i.operands[1]
    own_bits = m.scalar(i.type).bits
    bits = work_bits(own_bits) if m.scalar(i.type).kind == "float" else own_bits
    given = values[place][1]
    parts = len(given) if isinstance(given, tuple) else 1

    def component(k: int) -> int:
        def at(p: int) -> int:
            if p not in active:
                return neutral(bits)
            x = active[p][1][k] if isinstance(given, tuple) else active[p][1]
            return widened(x, own_bits) if m.scalar(i.type).kind == "float" else x

        x = [at(p) for p in range(SUBGROUP)]
        if operation in (INCLUSIVE, EXCLUSIVE):
            for reach in (1, 2):
                x = [combine(x[p - reach] if p >= reach else neutral(bits), x[p], bits) for p in range(SUBGROUP)]
            return x[place] if operation == INCLUSIVE else x[place - 1] if place else neutral(bits)
        cluster = active_cluster(values[place]) if operation == CLUSTERED else SUBGROUP
        for bit in (1, 2):
            if bit < cluster:
                x = [combine(x[p & ~bit], x[p | bit], bits) for p in range(SUBGROUP)]
        return x[place]

    out = tuple(component(k) for k in range(parts))
    result: Value = out if isinstance(given, tuple) else out[0]
    if m.scalar(i.type).kind != "float":
        return result
    # Arithmetic, also where nothing was combined: of NaN there is one.
    return each(lambda x: numbers.canonical(x, own_bits) if own_bits > 16 else x, rounded(result, own_bits))


def active_cluster(values: list[Value]) -> int:
    """ClusterSize, the operand after the value."""
    return values[2]


def _subgroup(
    m: Module, i: Instruction, place: int, values: dict[int, list[Value]], active: dict[int, list[Value]]
) -> Value:
    """``values``: operands of those that are here; ``active``: of those that take part."""
    op = i.op.removeprefix("OpGroupNonUniform").removeprefix("OpSubgroup").removesuffix("KHR")
    if op in _OPERATIONS:
        return _reduce(m, i, place, values, active)
    if i.op in _QUAD_VOTES:
        return int((all if i.op == _QUAD_VOTES[0] else any)(v[0] for v in active.values()))
    own = values[place]
    first = 0 if i.op.startswith("OpSubgroup") else 1  # the operand after the scope
    running = sum(1 << p for p in active)
    lowest = min(active, default=0)

    def ballot(of: Callable[[list[Value]], int]) -> int:
        return sum(1 << p for p, v in active.items() if of(v))

    def taken(p: int) -> Value:
        p &= SUBGROUP - 1
        return values[p][first] if p in values else m.zero(i.type)

    if op == "Elect":
        return int(place == lowest and place in active)
    if op == "All":
        return int(ballot(lambda v: v[first]) == running)
    if op == "Any":
        return int(ballot(lambda v: v[first]) != 0)
    if op == "AllEqual":
        return int(
            all(_equal(m, m.type_of[i.operands[first]], v[first], values[lowest][first]) for v in active.values())
        )
    if op == "Ballot":
        return (ballot(lambda v: v[first]), 0, 0, 0)
    if op in ("BroadcastFirst", "FirstInvocation"):
        return taken(lowest)
    if op in ("Broadcast", "Shuffle", "QuadBroadcast", "ReadInvocation"):
        return taken(own[first + 1])
    if op == "ShuffleXor":
        return taken(place ^ own[2])
    if op == "ShuffleUp":
        return taken(place - own[2])
    if op == "ShuffleDown":
        return taken(place + own[2])
    if op == "QuadSwap":
        return taken(place ^ own[2] + 1)
    if op == "Rotate":
        inside = (own[3] if len(own) > 3 else SUBGROUP) - 1 & SUBGROUP - 1
        return taken(place & ~inside | place + own[2] & inside)
    return _ballot_bits(i, op, place, own)


def _ballot_bits(i: Instruction, op: str, place: int, own: list[Value]) -> Value:
    """Of a ballot that somebody gives: bits of four invocations, but for BallotBitExtract."""
    word = own[1][0]
    bits = word & mask(SUBGROUP)
    if op == "InverseBallot":
        return word >> place & 1
    if op == "BallotBitExtract":
        return word >> own[2] & 1 if own[2] < 32 else 0
    if op == "BallotFindLSB":
        return (bits & -bits).bit_length() - 1 if bits else 32
    if op == "BallotFindMSB":
        return bits.bit_length() - 1 & mask(32)
    assert op == "BallotBitCount"
    below = {REDUCE: SUBGROUP, INCLUSIVE: place + 1, EXCLUSIVE: place}[i.operands[1]]
    return (bits & mask(below)).bit_count()


def _equal(m: Module, type_: int, a: Value, b: Value) -> bool:
    if isinstance(a, tuple):
        return all(_equal(m, m.types[type_].element, x, y) for x, y in zip(a, b, strict=True))
    t = m.types[type_]
    return numbers.decode(a, t.bits) == numbers.decode(b, t.bits) if t.kind == "float" else a == b
