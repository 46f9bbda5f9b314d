"""Products that are fused with the sum that they are for.

In: a function's blocks. Out: which sums are fused multiply-adds, and of which product. SPIR-V lets an implementation contract what is not
decorated NoContraction, or forbidden it by a flag of SPV_KHR_float_controls2; which are contracted is tilegpu's choice and written in
docs/undefined.md: a product that nothing else uses, and its sum behind it in the same block. Of two such products the first one is fused.
Source: SPIR-V specification 1.6, decoration NoContraction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.oracle.shaders import numbers, words
from tests.oracle.shaders.arithmetic import each, rounded, widened, work_bits
from tests.oracle.shaders.module import Module, Value
from tests.oracle.shaders.words import Instruction

_PRODUCTS = ("OpFMul", "OpVectorTimesScalar")
_SUMS = ("OpFAdd", "OpFSub")


def fused_products(module: Module) -> dict[int, Instruction]:
    """Products that no rounding of their own has, by their ids."""
    uses: Counter[int] = Counter()
    for i in _code(module):
        uses.update(i.operands[p] for p in words.id_places(i))
    found: dict[int, Instruction] = {}
    for function in module.functions.values():
        for block in function.blocks.values():
            free = [i for i in block.code if i.op in _PRODUCTS + _SUMS and module.contracts(i)]
            products = {i.result: (k, i) for k, i in enumerate(free) if i.op in _PRODUCTS and uses[i.result] == 1}
            for k, i in enumerate(free):
                if i.op in _SUMS:
                    found.update({x: products[x][1] for x in i.operands if x in products and products[x][0] < k})
    return found


def _code(module: Module) -> Iterable[Instruction]:
    return (i for f in module.functions.values() for b in f.blocks.values() for i in b.code)


def fused_sum(module: Module, i: Instruction, products: dict[int, Instruction], values: dict[int, Value]) -> Value:
    """Of a sum one of whose terms is such a product."""
    bits = module.scalar(i.type).bits
    work = work_bits(bits)

    def factors(product: Instruction) -> tuple[Value, Value]:
        x, y = (widened(values[operand], bits) for operand in product.operands)
        return x, each(lambda _: y, x) if product.op == "OpVectorTimesScalar" else y

    k = 0 if i.operands[0] in products else 1
    x, y = factors(products[i.operands[k]])
    other_id = i.operands[1 - k]
    if other_id in products:
        other = each(lambda a, b: numbers.mul(a, b, work), *factors(products[other_id]))
    else:
        other = widened(values[other_id], bits)
    if i.op == "OpFSub":
        if k == 0:
            other = each(lambda a: numbers.neg(a, work), other)
        else:
            x = each(lambda a: numbers.neg(a, work), x)
    return rounded(each(lambda a, b, c: numbers.fma(a, b, c, work), x, y, other), bits)
