"""`python -m tests.shader_fuzz.frequencies [PROGRAMS]`: how often programs contain each instruction, and each of one operand type.

In: assembly texts. Out: counts. A kind is an instruction, or a function of GLSL.std.450, with the scalar types of its result and of its
first operand whose type is known.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.shader_fuzz.palette import shape  # noqa: E402
from tests.shader_fuzz.program import Program  # noqa: E402
from tests.shader_fuzz.tables import any_program  # noqa: E402

_RESULT = re.compile(r"(%\w+) = (Op\w+) %t_(\w+)(.*)")


def instructions(program: Program) -> Counter[str]:
    """By name, functions of GLSL.std.450 too."""
    names = re.findall(r"\b(Op[A-Z]\w+)", program.text)
    return Counter([*names, *re.findall(r"%glsl ([A-Z]\w+)", program.text)])


def kinds(program: Program) -> Counter[str]:
    """By name and types: "OpConvertFToU u32 f64"."""
    types: dict[str, str] = {}
    found: Counter[str] = Counter()
    for id_, op, type_, rest in _RESULT.findall(program.text):
        types[id_] = type_
        s = shape(type_)
        if s.kind == "struct" or s.kind == "array" or op in ("OpLoad", "OpConstant"):
            continue
        name = rest.split()[1] if op == "OpExtInst" else op
        operand = next((shape(types[x]).scalar for x in rest.split() if x in types), "")
        found[f"{name} {s.scalar} {operand}"] += 1
    return found


def main() -> int:
    """The rarest instructions and kinds, and how many there are."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    single: Counter[str] = Counter()
    typed: Counter[str] = Counter()
    for seed in range(1, count + 1):
        program = any_program(seed)
        single.update(instructions(program).keys())
        typed.update(kinds(program).keys())
    print(f"{count} programs; {len(single)} instructions, the rarest in so many of a hundred:")
    print(", ".join(f"{name} {n * 100 / count:.1f}" for name, n in single.most_common()[: -41 : -1]))
    by = {n: sum(k >= n * count / 100 for k in typed.values()) for n in (0, 1, 2, 5, 10)}
    print(f"{len(typed)} kinds; " + ", ".join(f"{k} in {n} of a hundred or more" for n, k in by.items() if n))
    return 0


if __name__ == "__main__":
    sys.exit(main())
