"""One source for x86-64 and aarch64: what the processor is asks one header, and what is used of its instructions is tested."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(p for p in (ROOT / "cpp" / "src").rglob("*") if p.suffix in (".cpp", ".hpp"))
LAYER = ROOT / "cpp" / "src" / "base" / "intrinsics.hpp"
#: Files that ask which processor it is, and why.
ASKS = {
    "base/intrinsics.hpp",  # whose instructions
    "shader/ir/ir_builder.hpp",  # whose intrinsics of LLVM
    "shader/jit/relocation.cpp",  # whose relocations
    "shader/jit/jit_target.cpp",  # which CPU code is made for
    "shader/jit/jit_target.hpp",
    "shader/jit/object_request.cpp",  # which of LLVM's targets
    "device/cpu_check.cpp",  # what a CPU may lack
    "base/prefetch.hpp",  # of none: an asm without instructions
}
WIDE = re.compile(r"^#if TILEGPU_HAS_WIDE\n.*?^#(?:else|endif)\b", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"\b_(?:mm|mm256|mm512)_([a-z0-9_]+)")
#: Neither calculates: they move what is there, or name it by another type; or they are hints.
MOVES = re.compile(
    r"(?:cast|load|loadu|loadl|store|storeu|storel|stream|set|setr|set1|setzero|zextsi128)(?:_|ps|pd|si|\d|$)|prefetch|sfence"
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "cpp" / "src"))


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def test_only_the_layer_asks_for_the_processor() -> None:
    asks = re.compile(r"__x86_64__|__aarch64__|\w*mmintrin|<simde/|__builtin_cpu_\w+|\basm (?:volatile|\()")
    found = {name_of(p): a for p in SOURCES if (a := asks.findall(without_comments(p.read_text())))}
    assert found.keys() == ASKS, {name: a for name, a in found.items() if name not in ASKS} or ASKS - found.keys()


def test_avx512_stands_apart() -> None:
    """aarch64 has none: it is compiled where TILEGPU_HAS_WIDE is 1."""
    wide = re.compile(r"_mm512\w+|__m512\w*|__mmask\d+|TILEGPU_WIDE\b")
    assert not {
        name_of(p): f
        for p in SOURCES
        if p != LAYER and (f := wide.findall(WIDE.sub("", without_comments(p.read_text()))))
    }


def test_every_instruction_is_held_to_x86() -> None:
    tested = set(INSTRUCTION.findall((ROOT / "cpp" / "tests" / "test_intrinsics.cpp").read_text()))
    tested |= set(
        INSTRUCTION.findall(without_comments((ROOT / "cpp" / "src" / "base" / "simd.hpp").read_text()))
    )  # by hash_core
    used = {
        n for p in SOURCES if p != LAYER for n in INSTRUCTION.findall(WIDE.sub("", without_comments(p.read_text())))
    }
    missing = sorted(n for n in used - tested if not MOVES.match(n))
    assert len(used) > 100 and not missing, f"cpp/tests/test_intrinsics.cpp: {', '.join(missing)}"


def test_the_makefile_has_both_lists() -> None:
    for name in ("cross", "aarch64"):
        lines = (ROOT / "packages" / f"{name}.txt").read_text().splitlines()
        assert [line for line in lines if line and not line.startswith("#")]
        assert f"packages/{name}.txt" in (ROOT / "Makefile").read_text()


def test_geometry_is_made_without_what_differs_by_processor() -> None:
    """hypot, einsum, inverse: the C library's, NumPy's and LAPACK's go by fused steps and widths; BLAS's dot of floats too."""
    differs = re.compile(r"np\.(?:hypot|einsum|linalg\.(?:inv|solve|eig\w*|svd)|exp2?|log2?|tan|power|cbrt|arc\w+)\(")
    files = [*(ROOT / "python" / "tilegpu" / "scene").glob("*.py"), *(ROOT / "samples").glob("*.py")]
    assert len(files) > 30 and not {p.name: f for p in files if (f := differs.findall(p.read_text()))}
