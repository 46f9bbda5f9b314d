"""What the fuzzers of ``tests/file_fuzz`` kept, once more: cases that reach code which no other one reaches, and what was found and mended.

The cases of the core's fuzzers are C++ tests (``fuzz_spirv`` and its kind, over ``cpp/fuzz/corpus``). Another case: `make fuzz-corpus`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.file_fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "fuzz_corpus"
CORES = Path(__file__).parent.parent / "cpp" / "fuzz"
MOST_B = 2 << 20


def cases(name: str) -> list[Path]:
    return sorted(p for p in (CORPUS / name).iterdir() if p.is_file())


@pytest.mark.parametrize("name", TARGETS)
def test_kept_cases_end_in_a_result_or_in_an_error_of_tilegpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "")  # targets set it: as before afterwards
    monkeypatch.delenv("TILEGPU_MODEL_MEMORY_MB")
    kept = cases(name)
    assert len(kept) >= 2
    for path in kept:
        try:
            TARGETS[name](path.read_bytes())
        except BaseException:
            print(path)
            raise


def test_the_corpus_is_small_and_every_fuzzer_has_one() -> None:
    text = (CORES / "CMakeLists.txt").read_text()
    fuzzers = text.partition("set(FUZZER_NAMES ")[2].partition(")")[0].split()
    assert len(fuzzers) >= 6
    for name in fuzzers:
        assert (CORES / f"fuzz_{name}.cpp").exists() and any((CORES / "corpus" / name).iterdir()), name
    files = [p for folder in (CORPUS, CORES / "corpus") for p in folder.rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < MOST_B


def test_what_is_no_error_of_tilegpu_is_a_finding() -> None:
    """A reader that raises anything else ends the target."""
    program = (
        "from tests.file_fuzz import targets\n"
        "def broken(path): raise IndexError('planted')\n"
        "targets.load_model = broken\n"
        "targets.obj(b'v 0 0 0')\n"
    )
    root = CORPUS.parent.parent
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "IndexError: planted" in done.stderr
