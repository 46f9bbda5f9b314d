"""A difference made small: what can be left out of a module while the compiler and the interpreter still disagree.

In: a module and a question, whether a module is still interesting. Out: a smaller module. Each step is tried and kept if spirv-val takes
the module and the question is answered yes: branches that are taken always, blocks that nothing reaches, instructions left out,
values replaced by constants or by their own operands.
Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002 (chunks of instructions, halved).
"""

from __future__ import annotations

import copy
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.oracle.shaders import words
from tests.oracle.shaders.words import Instruction, Words

Question = Callable[[bytes], bool]
_KEPT = {"OpLabel", "OpFunction", "OpFunctionEnd", "OpFunctionParameter", "OpReturn", "OpReturnValue", "OpBranch", "OpBranchConditional",
         "OpSwitch", "OpKill", "OpUnreachable", "OpSelectionMerge", "OpLoopMerge", "OpEntryPoint", "OpMemoryModel", "OpCapability",
         "OpExecutionMode", "OpExtension", "OpTerminateInvocation"}  # fmt: skip


def is_valid(module: bytes, vulkan: str = "vulkan1.2") -> bool:
    """By spirv-val."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.spv"
        path.write_bytes(module)
        done = subprocess.run(
            ["spirv-val", "--target-env", vulkan, "--scalar-block-layout", path], timeout=60, capture_output=True
        )
        return done.returncode == 0


def text_of(module: bytes) -> str:
    """As a person reads it."""
    done = subprocess.run(["spirv-dis", "--no-color", "-"], input=module, timeout=60, capture_output=True, check=True)
    return done.stdout.decode()


def reduced(module: bytes, interesting: Question, most_tries: int = 4000) -> bytes:
    """A smaller module that is interesting; the module itself where nothing can be left out."""
    search = _Search(words.parse(module), interesting, most_tries)
    while search.round():
        pass
    return words.write(search.best)


class _Search:
    def __init__(self, module: Words, interesting: Question, tries: int) -> None:
        self.best, self.interesting, self.tries = module, interesting, tries

    def round(self) -> bool:
        """Whether anything became smaller."""
        before = len(words.write(self.best))
        for step in (
            self.by_passes,
            self.straighten,
            self.once,
            self.drop_unused,
            self.drop_chunks,
            self.replace_values,
            self.by_passes,
        ):
            step()
        return len(words.write(self.best)) < before and self.tries > 0

    def attempt(self, instructions: list[Instruction]) -> bool:
        """Kept if it is still interesting."""
        if self.tries <= 0:
            return False
        self.tries -= 1
        candidate = Words(self.best.version, self.best.bound, _without_dead_blocks(instructions))
        module = words.write(candidate)
        try:
            if not is_valid(module) or not self.interesting(module):
                return False
        except Exception:  # a candidate that cannot be run is not interesting, whatever the cause
            return False
        self.best = candidate
        return True

    def by_passes(self) -> None:
        """What spirv-opt leaves out, where that is smaller."""
        for name in _PASSES:
            with tempfile.TemporaryDirectory() as directory:
                before, after = Path(directory) / "a.spv", Path(directory) / "b.spv"
                before.write_bytes(words.write(self.best))
                done = subprocess.run(["spirv-opt", name, before, "-o", after], timeout=60, capture_output=True)
                if done.returncode == 0 and after.stat().st_size < before.stat().st_size:
                    found = words.parse(after.read_bytes())
                    kept, self.best = self.best, Words(found.version, found.bound, self.best.instructions)
                    if not self.attempt(found.instructions):
                        self.best = kept

    def once(self) -> None:
        """Loops that run once."""
        for header in [k for k, i in enumerate(self.best.instructions) if i.op == "OpLoopMerge"][::-1]:
            changed = copy.deepcopy(self.best.instructions)
            if header >= len(changed) or changed[header].op != "OpLoopMerge":
                continue
            label = next(i.result for i in changed[header::-1] if i.op == "OpLabel")
            merge = changed[header].operands[0]
            for i in changed[header:]:
                if i.op == "OpFunctionEnd":
                    break
                if i.op in ("OpBranch", "OpBranchConditional"):
                    i.operands = [merge if x == label else x for x in i.operands]
            del changed[header]
            self.attempt(changed)

    def straighten(self) -> None:
        """Branches that always go one way; selections without a choice."""
        k = 0
        while k < len(self.best.instructions):
            i = self.best.instructions[k]
            for label in _choices(i):
                changed = copy.deepcopy(self.best.instructions)
                changed[k] = Instruction("OpBranch", operands=[label])
                if changed[k - 1].op == "OpSelectionMerge":
                    del changed[k - 1]
                if self.attempt(changed):
                    break
            k += 1

    def drop_unused(self) -> None:
        """All results that nobody uses, at once, again and again."""
        while True:
            used = {i.operands[p] for i in self.best.instructions for p in words.id_places(i) if i.op not in _NAMING}
            used |= {i.type for i in self.best.instructions}
            rest = [
                i
                for i in self.best.instructions
                if not (
                    i.result
                    and i.result not in used
                    and i.op not in _KEPT
                    and i.op != "OpFunctionCall"
                    and not i.op.startswith("OpAtomic")
                )
            ]
            there = {i.result for i in rest if i.result}
            rest = [i for i in rest if i.op not in _NAMING or i.operands[0] in there]
            rest = [_entry_without(i, there) for i in rest]
            if len(rest) == len(self.best.instructions) or not self.attempt(rest):
                return

    def drop_chunks(self) -> None:
        """Instructions without a result, and whole functions' worth of them, from large pieces to single ones."""
        size = 32
        while size:
            places = [k for k, i in enumerate(self.best.instructions) if _may_go(i)]
            at = 0
            while at < len(places):
                chosen = set(places[at : at + size])
                if self.attempt([i for k, i in enumerate(self.best.instructions) if k not in chosen]):
                    places = [k for k, i in enumerate(self.best.instructions) if _may_go(i)]
                else:
                    at += size
            size //= 2

    def replace_values(self) -> None:
        """A value by an operand of its own type, or by the null constant of its type."""
        k = len(self.best.instructions) - 1
        while k >= 0:
            if k < len(self.best.instructions):
                i = self.best.instructions[k]
                if i.result and i.type and _is_code(i):
                    for changed in self._replacements(k):
                        if self.attempt(changed):
                            break
            k -= 1

    def _replacements(self, k: int) -> Iterator[list[Instruction]]:
        code = self.best.instructions
        i = code[k]
        types = {x.result: x.type for x in code if x.result}
        others = [
            i.operands[p]
            for p in words.id_places(i)
            if types.get(i.operands[p]) == i.type and i.operands[p] != i.result
        ]
        for other in dict.fromkeys(others):
            yield _substituted(code, k, other)
        null = next((x.result for x in code if x.op == "OpConstantNull" and x.type == i.type), 0)
        if null:
            yield _substituted(code, k, null)
            return
        last_type = max(n for n, x in enumerate(code) if x.op.startswith(("OpType", "OpConstant")))
        first = next(n for n, x in enumerate(code) if x.op == "OpFunction")
        changed = copy.deepcopy(code)
        self.best.bound += 1
        changed.insert(min(last_type + 1, first), Instruction("OpConstantNull", i.type, self.best.bound - 1))
        yield _substituted(changed, k + 1, self.best.bound - 1)


_PASSES = ("--eliminate-dead-functions", "--eliminate-dead-branches", "--cfg-cleanup", "--merge-blocks", "--eliminate-dead-const",
           "--eliminate-dead-code-aggressive", "--ccp", "--simplify-instructions", "--eliminate-dead-variables",
           "--inline-entry-points-exhaustive")  # fmt: skip
_NAMING = {"OpName", "OpMemberName", "OpDecorate", "OpMemberDecorate"}
#: Barriers stay: without them invocations race, and a race is a difference of its own.
_SIDE_EFFECTS = {"OpStore", "OpCopyMemory", "OpMemoryBarrier", "OpFunctionCall", "OpDemoteToHelperInvocation",
                 "OpAtomicStore", "OpAssumeTrueKHR"}  # fmt: skip


def _choices(i: Instruction) -> list[int]:
    if i.op == "OpBranchConditional":
        return [i.operands[1], i.operands[2]]
    if i.op == "OpSwitch":
        return [i.operands[1], *i.operands[1 + i.case_words :: i.case_words]]
    return []


def _may_go(i: Instruction) -> bool:
    return (i.op in _SIDE_EFFECTS or i.op.startswith("OpAtomic") or i.op in _NAMING) and (
        not i.result or i.op.startswith("OpAtomic") or i.op == "OpFunctionCall"
    )


def _is_code(i: Instruction) -> bool:
    return not i.op.startswith(("OpType", "OpConstant", "OpSpecConstant")) and i.op not in (*_KEPT, "OpVariable")


def _entry_without(i: Instruction, there: set[int]) -> Instruction:
    """An entry point's interface without what was left out."""
    if i.op != "OpEntryPoint":
        return i
    places = words.id_places(i)
    gone = {p for p in places[1:] if i.operands[p] not in there}
    return Instruction(i.op, i.type, i.result, [x for k, x in enumerate(i.operands) if k not in gone])


def _substituted(code: list[Instruction], k: int, other: int) -> list[Instruction]:
    out = copy.deepcopy(code)
    gone = out[k].result
    for i in out:
        for p in words.id_places(i):
            if i.operands[p] == gone and i.op not in _NAMING:
                i.operands[p] = other
    del out[k]
    return [i for i in out if i.op not in _NAMING or i.operands[0] != gone]


def _without_dead_blocks(code: list[Instruction]) -> list[Instruction]:
    """Blocks that nothing reaches, but for merge blocks and continue targets; operands of phis from blocks that went."""
    out: list[Instruction] = []
    at = 0
    while at < len(code):
        if code[at].op != "OpFunction":
            out.append(code[at])
            at += 1
            continue
        end = next(k for k in range(at, len(code)) if code[k].op == "OpFunctionEnd")
        out += _function_without_dead_blocks(code[at : end + 1])
        at = end + 1
    return out


def _function_without_dead_blocks(code: list[Instruction]) -> list[Instruction]:
    starts = [k for k, i in enumerate(code) if i.op == "OpLabel"]
    if not starts:
        return code
    blocks = {code[s].result: code[s:e] for s, e in zip(starts, [*starts[1:], len(code) - 1], strict=True)}
    reached: set[int] = set()
    named: set[int] = set()
    todo = [code[starts[0]].result]
    while todo:
        label = todo.pop()
        if label in reached:
            continue
        reached.add(label)
        for i in blocks[label]:
            if i.op == "OpBranch":
                todo.append(i.operands[0])
            elif i.op in ("OpSelectionMerge", "OpLoopMerge"):
                named |= {i.operands[p] for p in words.id_places(i)}
            todo += _choices(i)
    out = code[: starts[0]]
    sources: dict[int, set[int]] = {}
    for label, block in blocks.items():
        if label in reached or label in named:
            for i in block:
                for target in [*_choices(i), *(i.operands if i.op == "OpBranch" else ())]:
                    sources.setdefault(target, set()).add(label)
    for label, block in blocks.items():
        if label not in reached and label not in named:
            continue
        if label not in reached and block[-1].op != "OpBranch":
            out += [block[0], Instruction("OpUnreachable")]
            continue
        for i in block:
            if i.op == "OpPhi":
                pairs = [
                    (v, b)
                    for v, b in zip(i.operands[0::2], i.operands[1::2], strict=True)
                    if b in sources.get(label, ())
                ]
                if not pairs:
                    continue
                i = Instruction("OpPhi", i.type, i.result, [x for pair in pairs for x in pair])
            out.append(i)
    return [*out, code[-1]]


__all__ = ["is_valid", "reduced", "text_of"]
