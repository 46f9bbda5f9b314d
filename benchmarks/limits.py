"""What bounds each reference scene, how far it is from that, and where its time goes; the table of docs/performance.md.

    python benchmarks/limits.py [--scene NAME ...] [--size 1920x1080] [--json] [--write docs/performance.md]

The limit is a roofline measured in the same run by ``benchmarks/cpp/bench_roofline.cpp`` (compiled here with ``c++``), one thread:

- lanes: packets shaded, each by the machine code of its body and epilogue (whole functions, of a function over blocks its longest loop,
  in the shares that the profile has of them; code of samplers is in the body's calls and counted once, whole), as many instructions
  a cycle as the vector units take of a mix of multiply-adds, additions and operations on integers;
- front end: vertices shaded, N at a time, by the whole code of the vertex shader at the same rate, and 128 bytes of each primitive
  (its record and its place in a bin, written and read) at the speed of the L2 cache;
- memory: the bytes of the pass's ledger at the speed of streaming stores to memory.

Lanes and front end add up, memory overlaps with them: the limit is the greater one, and what bounds the scene is the greatest of the
three. Scenes run on one thread, processor time, median; cycles by the clock of the same run. Functions are from ``perf record`` where
perf is installed; generated code goes by its kind.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import tilegpu
from tilegpu.bench import peers
from tilegpu.bench.msaa import MOVES
from tilegpu.scene import SceneRenderer, find_scene

HERE = Path(__file__).resolve().parent
SCENES = tuple(name for name in peers.SCENES if name not in ("clear", "heavy_overdraw_512"))
BEGIN, END = "<!-- limits: written by benchmarks/limits.py -->", "<!-- limits: end -->"
_FRAMES = """
import sys, tilegpu
from tilegpu.scene import find_scene
from tilegpu.scene import SceneRenderer
import time
r = SceneRenderer(tilegpu.Device(threads=1))
f = find_scene(sys.argv[1]).frame(tuple(int(v) for v in sys.argv[2].split("x")))
r.render(f, read=False)
r.device.wait_compiles()
end = time.perf_counter() + float(sys.argv[3])
while time.perf_counter() < end:
    r.render(f, read=False)
"""


def roofline(folder: Path) -> dict[str, Any]:
    """Compiles and runs the roofline; its figures for one thread and for all."""
    program = folder / "roofline"
    compiler = os.environ.get("CXX", "c++")
    source = HERE / "cpp" / "bench_roofline.cpp"
    subprocess.run(
        [compiler, "-std=c++20", "-O3", "-march=native", "-pthread", str(source), "-o", str(program)], check=True
    )
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _instructions(lines: list[str]) -> int:
    return sum(1 for x in lines if x.startswith("\t") and not x.startswith(("\t.", "\t#")))


def _longest_loop(lines: list[str]) -> int:
    """Instructions of the loop with the most, from its label to the jump back; all where there is none."""
    labels: dict[str, int] = {}
    loops: list[int] = []
    for at, line in enumerate(lines):
        if match := re.match(r"(\.LBB\w+):", line):
            labels[match.group(1)] = at
        elif (match := re.match(r"\tj\w+\s+(\.LBB\w+)$", line)) and match.group(1) in labels:
            loops.append(_instructions(lines[labels[match.group(1)] : at + 1]))
    return max(loops, default=_instructions(lines))


def code_lengths(scene: str, folder: Path) -> dict[str, int]:
    """Instructions of the machine code of a scene's functions by kind: vertex, fragment, pixels, blocks (its longest loop), sampler,
    epilogue."""
    dump = folder / f"dump_{scene}"
    dump.mkdir()
    os.environ["TILEGPU_DUMP"] = str(dump)
    try:
        SceneRenderer(tilegpu.Device(cache_dir="off")).render(find_scene(scene).frame((16, 16)), read=False)
    finally:
        del os.environ["TILEGPU_DUMP"]
    lengths: dict[str, int] = {}
    for listing in dump.glob("*.s"):
        kind = listing.name.split("_")[0].split()[0]
        lines = listing.read_text().splitlines()
        count = _longest_loop(lines) if kind == "blocks" else _instructions(lines)
        lengths[kind] = max(lengths.get(kind, 0), count)
    return lengths


def profile(scene: str, size: str, folder: Path, seconds: float) -> dict[str, float]:
    """Functions and their shares in per cent, most first; none without perf."""
    perf = shutil.which("perf")
    if not perf:
        return {}
    data = folder / f"{scene}.perf"
    command = [perf, "record", "-q", "-F", "2000", "-o", str(data), sys.executable, "-c", _FRAMES, scene, size]
    environment = {**os.environ, "TILEGPU_PERF_MAP": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([*command, str(seconds)], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        return {}
    report = subprocess.run(
        [perf, "report", "-i", str(data), "--no-children", "--sort", "symbol", "--stdio"],
        capture_output=True,
        text=True,
        check=False,
    )
    shares: dict[str, float] = {}
    for line in report.stdout.splitlines():
        match = re.match(r"\s*([0-9.]+)%\s+\[[.k]\]\s+(.*?)\s*$", line)
        if not match:
            continue
        name = re.sub(r"\s{2,}.*", "", match.group(2))
        if re.match(r"(fragment|pixels|blocks|vertex|sampler|epilogue)\b", name) or re.match(
            r"0x0*[0-9a-f]{9,}$", name
        ):
            name = name.split()[0] if not name.startswith("0x") else "generated code"
        else:
            name = re.sub(r"\(anonymous namespace\)::|tilegpu::|<.*|\(.*", "", name)
        shares[name] = shares.get(name, 0) + float(match.group(1))
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def measure(scene: str, size: str, roof: dict[str, Any], folder: Path, seconds: float) -> dict[str, Any]:
    """A scene's row."""
    one = roof["threads"][0]
    device = tilegpu.Device(threads=1)
    renderer, frame = SceneRenderer(device), find_scene(scene).frame(tuple(int(v) for v in size.split("x")))  # type: ignore[arg-type]
    for _ in range(3):  # code for pixel packets follows the first frame that wanted it
        stats = renderer.render(frame, read=False).stats
        device.wait_compiles()
    times_ms: list[float] = []
    end = time.perf_counter() + seconds
    while len(times_ms) < 5 or time.perf_counter() < end:
        start = time.process_time()
        renderer.render(frame, read=False)
        times_ms.append((time.process_time() - start) * 1e3)
    ms = statistics.median(times_ms)
    lanes = device.info["lanes"]
    code = code_lengths(scene, folder)
    cycles_per_ms = roof["GHz"] * 1e6
    shares = profile(scene, size, folder, seconds)
    ways = {
        "fragment": (
            code.get("fragment", 0) + code.get("epilogue", 0),
            shares.get("fragment", 0) + shares.get("epilogue", 0),
        ),
        **{kind: (code[kind], shares.get(kind, 0)) for kind in ("pixels", "blocks") if kind in code},
    }
    known = sum(share for _, share in ways.values())
    per_packet = sum(c * share for c, share in ways.values()) / known if known else ways["fragment"][0]
    instructions_per_ms = roof["vector_per_cycle"] * cycles_per_ms
    lanes_ms = stats.packets * (per_packet + code.get("sampler", 0)) / instructions_per_ms
    vertex_ms = stats.vertices_shaded / lanes * code.get("vertex", 0) / instructions_per_ms
    record_ms = stats.primitives_out * 128 / (one["L2_write_GBps"] * 1e6)
    moved_B = sum(causes.get(cause, 0) for causes in stats.traffic.values() for cause in MOVES)
    memory_ms = moved_B / (one["memory_stream_GBps"] * 1e6)
    parts = {"lanes": lanes_ms, "front end": vertex_ms + record_ms, "memory": memory_ms}
    limit_ms = max(lanes_ms + vertex_ms + record_ms, memory_ms)
    return {
        "scene": scene,
        "ms": ms,
        "triangles": stats.primitives_in,
        "fragments": stats.fragments_shaded,
        "cycles_per_triangle": ms * cycles_per_ms / max(stats.primitives_in, 1),
        "cycles_per_fragment": ms * cycles_per_ms / max(stats.fragments_shaded, 1),
        "lanes_used": stats.fragments_shaded / max(stats.packets * lanes, 1),
        "bound_by": max(parts, key=lambda name: parts[name]),
        "lanes_ms": lanes_ms,
        "front_end_ms": vertex_ms + record_ms,
        "memory_ms": memory_ms,
        "limit_ms": limit_ms,
        "distance": ms / limit_ms if limit_ms else None,
        "functions": [f"{name} {share:.0f} %" for name, share in list(shares.items())[:3]],
    }


def table(rows: list[dict[str, Any]], roof: dict[str, Any], size: str) -> str:
    """Markdown."""
    info = tilegpu.Device().info
    one, every = roof["threads"][0], roof["threads"][-1]
    load = os.getloadavg()[0]
    lines = [
        f"{size}, one thread, processor time, {info['lanes']} lanes; {info['cpu']}, {platform.machine()}, "
        f"{info['threads']} threads, {roof['GHz']:.2f} GHz, "
        f"{roof['vector_per_cycle']:.1f} vector instructions a cycle; load of the machine at the end {load:.1f} (1 is this run alone).",
        "",
        "| roofline | FMA GFLOP/s | L1 read, write GB/s | L2 read, write | memory read, write, streamed |",
        "|---|---|---|---|---|",
    ]
    for r in [one] if one is every else [one, every]:
        lines.append(
            f"| {r['threads']} thread{'s' if r['threads'] > 1 else ''} | {r['fma_GFLOPS']:.0f} "
            f"| {r['L1_read_GBps']:.0f}, {r['L1_write_GBps']:.0f} | {r['L2_read_GBps']:.0f}, {r['L2_write_GBps']:.0f} "
            f"| {r['memory_read_GBps']:.1f}, {r['memory_write_GBps']:.1f}, {r['memory_stream_GBps']:.1f} |"
        )
    lines += [
        "",
        "| scene | ms | cycles a triangle | cycles a fragment | lanes used | bound by | limit ms | distance | most expensive |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        distance = "-" if r["distance"] is None else f"{r['distance']:.1f}"
        lines.append(
            f"| {r['scene']} | {r['ms']:.1f} | {r['cycles_per_triangle']:.0f} | {r['cycles_per_fragment']:.1f} "
            f"| {r['lanes_used']:.0%} | {r['bound_by']} | {r['limit_ms']:.1f} | {distance} | {', '.join(r['functions'])} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Measures and prints, or writes between the marks of a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", action="append", choices=SCENES, help="only this one")
    parser.add_argument("--size", default="1920x1080", metavar="WxH")
    parser.add_argument("--seconds", type=float, default=2.0, help="of frames for each scene (default 2)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help="replace the table between the page's marks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roof = roofline(folder)
        rows = []
        for scene in options.scene or SCENES:
            rows.append(measure(scene, options.size, roof, folder, options.seconds))
            print(f"{scene} {rows[-1]['ms']:.1f} ms", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"roofline": roof, "rows": rows}, indent=1))
        return 0
    text = table(rows, roof, options.size)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        if BEGIN not in page or END not in page:
            print(f"{options.write} has no lines '{BEGIN}' and '{END}'", file=sys.stderr)
            return 1
        head, rest = page.split(BEGIN, 1)
        tail = rest.split(END, 1)[1]
        options.write.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")
        print(f"wrote {options.write}")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
