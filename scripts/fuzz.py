"""Runs every fuzzer on every core, keeps what they find, says how much they did.

    python scripts/fuzz.py run --build build/fuzz-core --seconds 600 [--jobs N] [--only spirv,render]
    python scripts/fuzz.py merge --build build/fuzz-core # the committed corpus becomes what reaches more than others
    python scripts/fuzz.py coverage --build build/fuzz-core     # edges of the core by room, reached by the corpus

Fuzzers are the programs of ``cpp/fuzz`` (libFuzzer), the targets of ``tests/file_fuzz`` (Atheris), ``python -m tests.shader_fuzz`` and the
tests that take TILEGPU_FUZZ_CASES. The cores' time is divided among them: more for those that know what is right and are slow, less for
those that soon have tried what there is (``SHARES``). What they find stays in
``build/fuzz/findings/<fuzzer>``, new cases in ``build/fuzz/corpus/<fuzzer>``; a finding ends its process, and another one goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORK = ROOT / "build" / "fuzz"
CORES, FILES = ROOT / "cpp" / "fuzz", ROOT / "tests"
#: Those that say what is right come first, and again and again.
MODEL_TESTS = ("tests/test_mixed_oracle.py", "tests/test_framebuffer_model.py", "tests/test_compressed_formats.py", "tests/test_ycbcr.py",
               "tests/test_fragment_ops.py", "tests/test_storage_images.py", "tests/test_line_rasterization.py",
               "tests/test_shader_errors.py", "tests/test_gltf.py", "tests/test_model_attack.py",
               "tests/test_argument_kinds.py")  # fmt: skip
#: Of one case; beyond it is a finding.
CASE_SECONDS, CASE_MB = 25, 4000
MOST_B = {"spirv": 24 << 10, "capture": 64 << 10, "glsl": 8 << 10, "render": 1024, "texture": 4096, "cache": 64 << 10,
          "driver": 1024, "pass": 1024}  # fmt: skip
#: Of the time; 1 where nothing is said.
SHARES = {"shaders": 6.0, "model": 3.0, "pass": 3.0, "texture": 3.0, "render": 2.0, "spirv": 2.0, "capture": 2.0, "driver": 2.0,
          "cache": 0.5, "meshes": 0.5, "obj": 0.5, "ply": 0.5, "stl": 0.5, "glb": 0.5, "compressed": 0.5, "picture": 0.25,
          "radiance": 0.25, "manifest": 0.25}  # fmt: skip
LEAST_S = 15.0
KEPT_OF_A_KIND = 3
#: What the repository keeps: bytes of a case, bytes of all of a fuzzer's. The test of all corpora wants less than two megabytes.
KEPT_CASE_B = {"spirv": 6000, "capture": 36 << 10, "picture": 2000}
CORPUS_B = {"spirv": 150_000, "render": 20_000, "texture": 20_000, "capture": 60_000, "glsl": 80_000, "cache": 100_000,
            "driver": 20_000, "pass": 20_000}  # fmt: skip
FOUND = "found-"
SYMBOLIZER = "/usr/lib/llvm-19/bin/llvm-symbolizer"


@dataclass
class Fuzzer:
    """One of them, and what it did. ``kind``: core, file, shaders or model."""

    name: str
    kind: str
    executions: int = 0
    edges: int = 0
    cases: int = 0
    findings: list[str] = field(default_factory=list)
    seconds: float = 0


def fuzzers() -> list[Fuzzer]:
    """All of them."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    from tests.file_fuzz.targets import TARGETS

    text = (CORES / "CMakeLists.txt").read_text()
    cores = text.partition("set(FUZZER_NAMES ")[2].partition(")")[0].split()
    made = [Fuzzer(name, "core") for name in cores] + [Fuzzer(name, "file") for name in TARGETS]
    return [*made, Fuzzer("shaders", "shaders"), Fuzzer("model", "model")]


def committed(fuzzer: Fuzzer) -> Path:
    """The corpus that the repository has."""
    return (CORES / "corpus" if fuzzer.kind == "core" else FILES / "fuzz_corpus") / fuzzer.name


def command(fuzzer: Fuzzer, build: Path) -> list[str]:
    """Without folders and options."""
    if fuzzer.kind == "core":
        return [str(build / "cpp" / "fuzz" / f"fuzz_{fuzzer.name}")]
    return [sys.executable, "-m", "tests.file_fuzz", fuzzer.name]


def environment() -> dict[str, str]:
    symbolizer = SYMBOLIZER if Path(SYMBOLIZER).exists() else ""
    return os.environ | {
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:abort_on_error=1:handle_abort=1:external_symbolizer_path={symbolizer}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:external_symbolizer_path={symbolizer}",
    }


# ---------------------------------------------------------------------------------------------------------------------------- runs


def last_number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def kind_of(text: str) -> str:
    """What a finding is, in one line: the fuzzer's own words, an exception, or the innermost function of tilegpu's."""
    for pattern in (r"FINDING: (.*)", r"^(\w*(?:Error|Exception|Warning|Interrupt)\b.*)", r"(runtime error: .*)", r"(LLVM ERROR: .*)",
                    r"Assertion `(.*)' failed", r"ERROR: (?:AddressSanitizer|libFuzzer): (.*)"):  # fmt: skip
        if found := re.findall(pattern, text, re.MULTILINE):
            frames = re.findall(r"#\d+ 0x\w+ in (\S*tilegpu\S*)", text)
            return f"{found[0][:200]}{f' in {frames[0]}' if frames and 'FINDING' not in pattern else ''}"
    return "ended without a word"


def run_libfuzzer(fuzzer: Fuzzer, build: Path, seconds: float, worker: int) -> None:
    """Again and again until the time is over: each finding ends a process."""
    corpus, found = WORK / "corpus" / fuzzer.name, WORK / "findings" / fuzzer.name
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    kinds: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 1:
        before = set(found.iterdir())
        options = [f"-max_total_time={int(left)}", f"-artifact_prefix={found}/", f"-timeout={CASE_SECONDS}", "-print_final_stats=1",
                   f"-rss_limit_mb={CASE_MB}", f"-max_len={MOST_B.get(fuzzer.name, 16 << 10)}", "-use_value_profile=0",
                   "-detect_leaks=0", "-reload=0", "-timeout_exitcode=70"]  # fmt: skip
        dictionary = CORES / f"{fuzzer.name}.dict"
        options += [f"-dict={dictionary}"] if fuzzer.kind == "core" and dictionary.exists() else []
        seeds = [str(p) for p in (committed(fuzzer), WORK / "seeds" / fuzzer.name) if p.is_dir()]
        log = WORK / "logs" / f"{fuzzer.name}-{worker}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as stream:
            try:
                subprocess.run([*command(fuzzer, build), str(corpus), *seeds, *options], cwd=ROOT, env=environment(), stdout=stream,
                               stderr=subprocess.STDOUT, timeout=left + 120, check=False)  # fmt: skip
            except subprocess.TimeoutExpired:
                stream.write("\nERROR: libFuzzer: did not end\n")
        text = log.read_text(errors="replace")
        fuzzer.executions += last_number(r"stat::number_of_executed_units: (\d+)", text) or last_number(r"^#(\d+)\t", text)
        fuzzer.edges = max(fuzzer.edges, last_number(r"cov: (\d+)", text))
        new = sorted(set(found.iterdir()) - before)
        new = [p for p in new if not p.name.endswith(".txt")]
        if not new:
            if "Done " not in text and "stat::" not in text:
                raise RuntimeError(f"{fuzzer.name} does not run; see {log}")
            continue
        kind = kind_of(text)
        kinds[kind] += 1
        for path in new:
            if kinds[kind] > KEPT_OF_A_KIND or path.name.startswith("slow-unit"):
                path.unlink()
                continue
            path.with_name(path.name + ".txt").write_text(f"after {time.strftime('%H:%M:%S')}: {kind}\n\n{text[-20000:]}")
        if kinds[kind] == 1 and not all(p.name.startswith("slow-unit") for p in new):
            fuzzer.findings.append(kind)
            print(f"{fuzzer.name}: {kind} ({new[0].name})", flush=True)
    fuzzer.cases = sum(1 for _ in corpus.iterdir())


def run_shaders(fuzzer: Fuzzer, seconds: float) -> None:
    """Random programs against the reference interpreter."""
    first = int(time.time()) % 1_000_000
    done = subprocess.run([sys.executable, "-m", "tests.shader_fuzz", "--seconds", str(int(seconds)), "--first", str(first)], cwd=ROOT,
                          capture_output=True, text=True, check=False)  # fmt: skip
    fuzzer.executions = last_number(r"(\d+) executions compared", done.stdout)
    if done.returncode:
        fuzzer.findings.append(done.stdout[-2000:] + done.stderr[-2000:])
        print(f"{fuzzer.name}: {done.stdout}{done.stderr}", flush=True)


def run_model(fuzzer: Fuzzer, seconds: float) -> None:
    """The suite's own random cases, a file after the other, from another seed each time."""
    end, seed, cases = time.monotonic() + seconds, int(os.environ.get("TILEGPU_FUZZ_SEED", time.time())) % 1_000_000, 100
    while (left := end - time.monotonic()) > 20:
        for test in MODEL_TESTS:
            env = os.environ | {"TILEGPU_FUZZ_CASES": str(cases), "TILEGPU_FUZZ_SEED": str(seed)}
            try:
                done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", test], cwd=ROOT, env=env, capture_output=True, text=True,
                                      timeout=max(left, 5), check=False)  # fmt: skip
            except subprocess.TimeoutExpired:
                return
            fuzzer.executions += cases
            if done.returncode:
                fuzzer.findings.append(f"TILEGPU_FUZZ_SEED={seed} TILEGPU_FUZZ_CASES={cases} {test}: {done.stdout[-3000:]}")
                print(f"{fuzzer.name}: {fuzzer.findings[-1]}", flush=True)
            left = end - time.monotonic()
        seed += 1


def run_one(fuzzer: Fuzzer, build: Path, seconds: float, worker: int) -> Fuzzer:
    start = time.monotonic()
    if fuzzer.kind == "shaders":
        run_shaders(fuzzer, seconds)
    elif fuzzer.kind == "model":
        run_model(fuzzer, seconds)
    else:
        run_libfuzzer(fuzzer, build, seconds, worker)
    fuzzer.seconds = time.monotonic() - start
    return fuzzer


def table(done: list[Fuzzer]) -> str:
    lines = ["| fuzzer | seconds | executions | edges | cases in the corpus | findings |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {f.name} | {f.seconds:.0f} | {f.executions:,} | {f.edges or ''} | {f.cases or ''} | {len(f.findings)} |" for f in done]
    return "\n".join(lines)


def chosen(options: argparse.Namespace) -> list[Fuzzer]:
    """Those that --only names; all without it."""
    found = [f for f in fuzzers() if not options.only or f.name in options.only.split(",")]
    if not found:
        raise SystemExit(f"no fuzzer of {options.only}; there are {', '.join(f.name for f in fuzzers())}")
    return found


def make_seeds() -> None:
    """Once for each build of the extension: captures and entries of the disk cache are those of its version."""
    import tilegpu.vulkan

    made, library = WORK / "seeds" / "manifest", tilegpu.vulkan.manifest().parent / "libtilegpu.so"
    if not made.exists() or made.stat().st_mtime < library.stat().st_mtime:
        shutil.rmtree(WORK / "seeds", ignore_errors=True)
        subprocess.run([sys.executable, "-m", "tests.file_fuzz.seeds", str(WORK / "seeds")], cwd=ROOT, check=True,
                       stderr=subprocess.DEVNULL)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """0: nothing was found."""
    wanted = chosen(options)
    make_seeds()
    workers = min(options.jobs, len(wanted))
    whole = sum(SHARES.get(f.name, 1.0) for f in wanted)
    seconds = {f.name: max(LEAST_S, options.seconds * workers * SHARES.get(f.name, 1.0) / whole) for f in wanted}
    for f in wanted:  # no process runs one alone for longer than the whole takes
        seconds[f.name] = min(seconds[f.name], max(LEAST_S, options.seconds))
    print(f"{len(wanted)} fuzzers, {workers} at a time: " + ", ".join(f"{name} {s:.0f} s" for name, s in seconds.items()), flush=True)
    numbers: dict[int, int] = {}

    def task(fuzzer: Fuzzer) -> Fuzzer:
        return run_one(fuzzer, options.build, seconds[fuzzer.name], numbers.setdefault(threading.get_ident(), len(numbers)))

    with ThreadPoolExecutor(workers) as pool:  # the long ones first
        done = list(pool.map(task, sorted(wanted, key=lambda f: -seconds[f.name])))
    text = table(done)
    (WORK / "report.md").write_text(text + "\n")
    print(text)
    found = sum(len(f.findings) for f in done)
    print(f"{found} findings" + (f": {WORK / 'findings'}" if found else ""))
    return 1 if found else 0


# --------------------------------------------------------------------------------------------------------------------- the corpus


def staged(fuzzer: Fuzzer) -> Path:
    """All its cases that are small enough, in one folder."""
    stage = WORK / "staged" / fuzzer.name
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for folder in (committed(fuzzer), WORK / "corpus" / fuzzer.name, WORK / "seeds" / fuzzer.name):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.stat().st_size <= KEPT_CASE_B.get(fuzzer.name, 8 << 10) and not path.name.startswith(FOUND):
                (stage / hashlib.sha1(path.read_bytes()).hexdigest()[:12]).write_bytes(path.read_bytes())
    return stage


def merge(options: argparse.Namespace) -> int:
    """Of all small cases the fewest that reach as much, small ones first up to a limit; those that were found once (``found-``) stay."""
    make_seeds()
    for fuzzer in chosen(options):
        if fuzzer.kind not in ("core", "file"):
            continue
        fresh = WORK / "merged" / fuzzer.name
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        if fuzzer.kind == "file":  # Atheris can't start itself again for a merge
            stage = staged(fuzzer)
            done = subprocess.run([sys.executable, "-m", "tests.file_fuzz.reach", fuzzer.name, str(stage)], cwd=ROOT, env=environment(),
                                  capture_output=True, text=True, check=False)  # fmt: skip
            if done.returncode:
                print(done.stderr[-3000:])
                return 1
            for name in done.stdout.split():
                shutil.copy(stage / name, fresh / name)
        else:
            # Edges alone, not how often each is passed: the corpus at hand, in build/fuzz, has those cases.
            limits = ["-max_len=65536", f"-timeout={CASE_SECONDS}", "-use_counters=0"]
            done = subprocess.run([*command(fuzzer, options.build), "-merge=1", *limits, str(fresh), str(staged(fuzzer))],
                                  cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)  # fmt: skip
            if done.returncode:
                print(done.stderr[-3000:])
                return 1
        target = committed(fuzzer)
        target.mkdir(parents=True, exist_ok=True)
        for path in target.iterdir():
            if not path.name.startswith(FOUND):
                path.unlink()
        size = sum(p.stat().st_size for p in target.iterdir())
        for path in sorted(fresh.iterdir(), key=lambda p: (p.stat().st_size, p.name)):
            data = path.read_bytes()
            if size + len(data) <= CORPUS_B.get(fuzzer.name, 40_000):
                size += len(data)
                (target / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)
        print(f"{fuzzer.name}: {sum(1 for _ in target.iterdir())} cases, {size:,} bytes", flush=True)
    return 0


# ------------------------------------------------------------------------------------------------------------------------ coverage


def functions_of(text: str) -> dict[tuple[str, str], tuple[int, int]]:
    """By file and function: edges that were reached, and all."""
    found = {}
    for covered, edges, name, path in re.findall(r"COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) (.*?) \S*/cpp/src/(\S+):\d+", text):
        found[path, name] = int(covered), int(edges)
    return found


def coverage(options: argparse.Namespace) -> int:
    """A table: of each room the functions and edges that the corpora of all fuzzers reach; a function counts as its best fuzzer reaches it.

    With --unreached the largest functions that none reaches. 1: a fuzzer did not end, so that the table is of less than all."""
    best: dict[tuple[str, str], tuple[int, int]] = {}
    failed = []
    for fuzzer in chosen(options):
        if fuzzer.kind != "core":
            continue
        folders = [str(p) for p in (committed(fuzzer), WORK / "corpus" / fuzzer.name) if p.is_dir()]
        done = subprocess.run([*command(fuzzer, options.build), "-runs=0", "-print_coverage=1", f"-timeout={CASE_SECONDS}", *folders],
                              cwd=ROOT, env=environment(), capture_output=True, text=True, errors="replace", check=False)  # fmt: skip
        found = functions_of(done.stdout + done.stderr)
        if done.returncode or not found:
            failed.append(f"{fuzzer.name} ended with {done.returncode}, {len(found)} functions: {kind_of(done.stderr)}")
        for key, (covered, edges) in found.items():
            best[key] = (max(covered, best.get(key, (0, 0))[0]), edges)
    rooms: dict[str, list[int]] = {}
    for (path, _), (covered, edges) in best.items():
        for name in (str(Path(path).parent), "all"):
            room = rooms.setdefault(name, [0, 0, 0, 0])
            room[0], room[1], room[2], room[3] = room[0] + 1, room[1] + (covered > 0), room[2] + edges, room[3] + covered
    print("| room | functions | reached | edges | reached | % |\n| --- | --- | --- | --- | --- | --- |")
    for name, (functions, reached, edges, covered) in sorted(rooms.items(), key=lambda room: (room[0] == "all", room[0])):
        print(f"| {name} | {functions:,} | {reached:,} | {edges:,} | {covered:,} | {100 * covered // max(edges, 1)} |")
    missed = sorted(((edges, *key) for key, (covered, edges) in best.items() if not covered), reverse=True)
    for edges, path, name in missed[: options.unreached]:
        print(f"{edges} edges: {path}: {name}")
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "merge", "coverage"))
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz-core")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="names, with commas")
    parser.add_argument("--unreached", type=int, default=0, help="coverage: so many of the largest functions that no fuzzer reaches")
    options = parser.parse_args()
    options.build = options.build.resolve()
    return {"run": run, "merge": merge, "coverage": coverage}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
