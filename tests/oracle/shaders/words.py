"""SPIR-V modules as lists of instructions: read from words, written to words; which operands are ids.

Source: SPIR-V specification 1.6, section 2.3 "Physical Layout of a SPIR-V Module and Instruction", and its grammar in JSON (the package
spirv-headers), from which names, numbers and kinds of operands come.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

MAGIC = 0x07230203
GRAMMARS = ("/usr/include/spirv/unified1", "/usr/local/include/spirv/unified1")


@dataclass
class Instruction:
    """``operands`` leaves out the result and its type, which are 0 where there are none."""

    op: str
    type: int = 0
    result: int = 0
    operands: list[int] = field(default_factory=list)
    case_words: int = 2  # of OpSwitch: a literal, as wide as the selector, and its label

    def __repr__(self) -> str:
        head = f"%{self.result} = " if self.result else ""
        return f"{head}{self.op} {self.type or ''} {self.operands}"


@dataclass
class Words:
    """A module: its header's version and bound, and its instructions in order."""

    version: int
    bound: int
    instructions: list[Instruction]


@lru_cache(maxsize=1)
def grammar() -> dict[str, Any]:
    """The machine-readable grammar; FileNotFoundError names the package where it is missing."""
    for folder in GRAMMARS:
        path = Path(folder) / "spirv.core.grammar.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
    raise FileNotFoundError("spirv.core.grammar.json is in none of " + ", ".join(GRAMMARS) + "; install spirv-headers")


_ID = [{"kind": "IdResultType"}, {"kind": "IdResult"}, {"kind": "IdRef"}]
#: What the grammar of 2023 lacks. Source: SPV_KHR_quad_control, SPV_EXT_replicated_composites, SPV_KHR_relaxed_extended_instruction,
#: SPV_KHR_maximal_reconvergence, SPV_KHR_float_controls2.
_NEWER: list[dict[str, Any]] = [
    {"opname": "OpGroupNonUniformQuadAllKHR", "opcode": 5110, "operands": _ID},
    {"opname": "OpGroupNonUniformQuadAnyKHR", "opcode": 5111, "operands": _ID},
    {"opname": "OpConstantCompositeReplicateEXT", "opcode": 4461, "operands": _ID},
    {"opname": "OpSpecConstantCompositeReplicateEXT", "opcode": 4462, "operands": _ID},
    {"opname": "OpCompositeConstructReplicateEXT", "opcode": 4463, "operands": _ID},
    {
        "opname": "OpExtInstWithForwardRefsKHR",
        "opcode": 4433,
        "operands": [*_ID, {"kind": "LiteralExtInstInteger"}, {"kind": "IdRef", "quantifier": "*"}],
    },
]
_NEWER_ENUMERANTS = {
    "ExecutionMode": {
        "QuadDerivativesKHR": 5088,
        "RequireFullQuadsKHR": 5089,
        "MaximallyReconvergesKHR": 6023,
        "FPFastMathDefault": 6028,
    },
    "Capability": {"QuadControlKHR": 5087, "ReplicatedCompositesEXT": 6024, "FloatControls2": 6029},
}


@lru_cache(maxsize=1)
def _instructions() -> tuple[dict[int, dict[str, Any]], dict[str, dict[str, Any]]]:
    by_number: dict[int, dict[str, Any]] = {}
    by_name: dict[str, dict[str, Any]] = {}
    for row in [*grammar()["instructions"], *_NEWER]:
        by_number.setdefault(row["opcode"], row)
        by_name[row["opname"]] = row
        for alias in row.get("aliases", ()):
            by_name[alias] = row
    return by_number, by_name


@lru_cache(maxsize=1)
def _kinds() -> dict[str, dict[str, Any]]:
    return {row["kind"]: row for row in grammar()["operand_kinds"]}


@cache
def enumerants(kind: str) -> dict[str, int]:
    """Names and values of an enumeration, such as ``BuiltIn``."""

    def number(value: int | str) -> int:
        return int(value, 0) if isinstance(value, str) else value

    known = {row["enumerant"]: number(row["value"]) for row in _kinds()[kind]["enumerants"]}
    return known | _NEWER_ENUMERANTS.get(kind, {})


def opcode_of(name: str) -> int:
    """The number of an instruction."""
    return _instructions()[1][name]["opcode"]


def name_of(opcode: int) -> str:
    """The first name of a number; later names of the same instruction are aliases."""
    return _instructions()[0][opcode]["opname"]


def all_names() -> dict[str, int]:
    """Every instruction that the grammar knows, aliases included."""
    return {name: row["opcode"] for name, row in _instructions()[1].items()}


def _has(row: dict[str, Any], kind: str) -> bool:
    return any(operand["kind"] == kind for operand in row.get("operands", ()))


def parse(module: bytes) -> Words:
    """The instructions of a module of little-endian words. ValueError: it is none."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    if len(words) < 5 or words[0] != MAGIC:
        raise ValueError(f"no SPIR-V module of {len(module)} bytes: it must begin with {MAGIC:#x}")
    out = Words(words[1], words[3], [])
    at = 5
    by_number = _instructions()[0]
    wide: set[int] = set()  # integer types of 64 bits, and values of them
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        if not count or at + count > len(words):
            raise ValueError(f"the instruction at word {at} has {count} words")
        row = by_number[opcode]
        rest = list(words[at + 1 : at + count])
        type_ = rest.pop(0) if _has(row, "IdResultType") else 0
        result = rest.pop(0) if _has(row, "IdResult") else 0
        i = Instruction(row["opname"], type_, result, rest)
        if type_ in wide or (i.op == "OpTypeInt" and rest[0] == 64):
            wide.add(result)
        if i.op == "OpSwitch" and rest[0] in wide:
            i.case_words = 3
        out.instructions.append(i)
        at += count
    return out


def write(module: Words) -> bytes:
    """The words of a module; instructions may have been changed."""
    words = [MAGIC, module.version, 0, module.bound, 0]
    for i in module.instructions:
        body = ([i.type] if i.type else []) + ([i.result] if i.result else []) + i.operands
        words.append((len(body) + 1) << 16 | opcode_of(i.op))
        words += body
    return struct.pack(f"<{len(words)}I", *words)


def _string_words(words: list[int], at: int) -> int:
    """How many words a string takes that begins at ``at``."""
    for k in range(at, len(words)):
        if not words[k] >> 24:
            return k + 1 - at
    return len(words) - at


def string_at(words: list[int], at: int) -> str:
    """The string that begins at ``at``."""
    raw = struct.pack(f"<{len(words) - at}I", *words[at:])
    return raw.partition(b"\0")[0].decode("utf-8", "replace")


def _parameters(kind: dict[str, Any], value: int) -> Iterator[dict[str, Any]]:
    for row in kind.get("enumerants", ()):
        number = int(row["value"], 0) if isinstance(row["value"], str) else row["value"]
        matches = number == value if kind["category"] == "ValueEnum" else number and value & number == number
        if matches:
            yield from row.get("parameters", ())
            if kind["category"] == "ValueEnum":
                return


def id_places(i: Instruction) -> list[int]:
    """Places in ``i.operands`` that hold ids."""
    row = _instructions()[1][i.op]
    kinds = _kinds()
    places: list[int] = []
    at = 0

    def one(kind_name: str) -> None:
        nonlocal at
        kind = kinds[kind_name]
        if kind["category"] == "Id":
            places.append(at)
            at += 1
        elif kind_name == "LiteralString":
            at += _string_words(i.operands, at)
        elif kind_name == "LiteralContextDependentNumber":
            at = len(i.operands)
        elif kind_name == "PairLiteralIntegerIdRef":
            at += i.case_words - 1
            places.append(at)
            at += 1
        elif kind_name == "LiteralSpecConstantOpInteger":
            inner = name_of(i.operands[at])
            at += 1
            literals = {"OpCompositeExtract": 1, "OpCompositeInsert": 2, "OpVectorShuffle": 2}.get(inner, 1 << 30)
            places.extend(range(at, min(len(i.operands), at + literals)))
            at = len(i.operands)
        elif kind["category"] == "Composite":
            for base in kind["bases"]:
                one(base)
        elif kind["category"] in ("ValueEnum", "BitEnum"):
            value = i.operands[at]
            at += 1
            for parameter in _parameters(kind, value):
                one(parameter["kind"])
        else:
            at += 1

    for operand in row.get("operands", ()):
        if operand["kind"] in ("IdResultType", "IdResult"):
            continue
        if operand.get("quantifier") == "*":
            while at < len(i.operands):
                one(operand["kind"])
        elif operand.get("quantifier") != "?" or at < len(i.operands):
            one(operand["kind"])
    return places
