"""Kernels of which only loops count: nothing is read but what all invocations share, nothing is written but results, and rounds are short.

A compiler may go over several vectors of lanes of such a workgroup at once (``packets_at_once`` of ``cpp/src/shader/lower/compute.cpp``).
Programs of :class:`~tests.shader_fuzz.program.Generator` nearly all read an element of their own and have small workgroups, so that it
never does. Rounds here differ from invocation to invocation, up to 31, and workgroups are of 8 to 64.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.shader_fuzz.flow import Function
from tests.shader_fuzz.program import Generator

#: Invocations of a workgroup, and how many of these: whole vectors, pairs and fours of them at 4, 8 and 16 lanes, and what is none.
SIZES = ((8, 2), (12, 1), (16, 2), (16, 1), (32, 1), (32, 1), (48, 1), (64, 1), (64, 1))
#: What code asks for that goes over several vectors: two, of 128 instructions a round at most.
READ = ("%uni", "%push", "%private1")


class Kernel(Generator):
    """``Kernel(seed).program()``; ``size``: statements, about."""

    def __init__(self, seed: int, size: int = 6) -> None:
        super().__init__(seed, size, "compute")
        self.rng = random.Random(seed * 6007 + 11)
        self.local_size, self.groups = self.rng.choice(SIZES)
        self.plain, self.variable_pointers = self.rng.choice([0.2, 0.5]), False

    def any_type(self, composites: bool = True, bools: bool = True) -> str:
        """Most often a scalar: rounds are short."""
        scalar = self.rng.choice([x for x in self.scalars if bools or x != "bool"])
        return f"{scalar}v{self.rng.randint(2, 3)}" if self.rng.random() < 0.2 else scalar

    def plan(self) -> None:
        """No arrays, which are memory."""
        super().plan()
        self.kinds = ["u32", *(self.any_type() for _ in range(3))]
        self.locals = [self.any_type() for _ in range(2)]

    def declare(self) -> None:
        """Of the module's variables those that all invocations share, and one that is an invocation's own."""
        super().declare()
        self.module_roots = [p for p in self.module_roots if p.id in READ]

    def helpers(self) -> list[Function]:
        """None: a function's pointers are memory."""
        return []

    def environment(self, count: int) -> None:
        """Of few variables: each is a phi of each loop."""
        super().environment(min(count, 4))

    def index(self, length: int, inside: bool, depth: int, own: bool = False) -> str:
        """A constant."""
        return self.d.constant("u32", self.rng.randrange(length or 1))

    def bound(self) -> str:
        """Any, other ones for invocations."""
        most = self.rng.choice([3, 7, 15, 31])
        if self.rng.random() < 0.1:
            return self.d.constant("u32", most)
        of = self.value("u32")
        if self.rng.random() < 0.5:  # of anything, words that are all alike are not what is wanted
            of = self.emit("OpIAdd", "u32", of, self.emit("OpIMul", "u32", self.invocation, self.d.constant("u32", 5), keep=False))
        return self.emit("OpBitwiseAnd", "u32", of, self.d.constant("u32", most))

    def special(self, depth: int) -> None:
        """Subgroups, and words that all share."""
        ways: list[Callable[[], None]] = [self.assign, self.write, self.vote, self.ballot, self.reduce]
        if depth == 0 and not self.left:
            ways += [self.shuffle, self.count_up] if self.local_size % 4 == 0 else [self.count_up]
        self.rng.choice(ways)()

    def count_up(self) -> None:
        """An atomic whose result nobody looks at."""
        place = "%" + self.new("q")
        zero, at = self.d.constant("u32", 0), self.d.constant("u32", self.count)  # the slot of sums
        self.line(f"{place} = OpAccessChain {self.d.pointer('StorageBuffer', 'u32')} %atomic {zero} {at}")
        scope, none = self.d.constant("u32", 1), self.d.constant("u32", 0)
        self.emit("OpAtomicIAdd", "u32", place, scope, none, self.value("u32"), keep=False)


__all__ = ["SIZES", "Kernel"]
