"""``tilegpu bench compute``: eight well-known kernels on tilegpu and on OpenGL (Mesa's llvmpipe, through moderngl), by turns in one run.

The same GLSL on both: matrix product with shared memory, reduction, scan, radix sort, filter 5 x 5, n-body, Mandelbrot, histogram by
atomics. Every result is compared with NumPy's before times are shown. Timed is a dispatch (of the sort: all of its dispatches) from its
start until the result is there, buffers and pipelines made before; medians, and the ratio with its least and greatest over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilegpu as tg
from tilegpu.bench.timing import by_turns, machine, ratio_of
from tilegpu.terminal import UsageError, progress

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Step:
    """One dispatch of a kernel; its blocks are named B and the name of the array."""

    source: str
    groups: tuple[int, int, int]


@dataclass(frozen=True)
class Kernel:
    """What is run, on what, and what comes out. ``arrays``: by the blocks' names, in the order of their bindings."""

    name: str
    steps: tuple[Step, ...]
    arrays: Arrays
    result: str
    want: NDArray[Any]
    tolerance: float = 0.0

    def check(self, got: NDArray[Any], who: str) -> None:
        """Raises ``RuntimeError`` where the result is not NumPy's."""
        got = got.view(self.want.dtype)[: self.want.size].reshape(self.want.shape)
        error = np.abs(got.astype(np.float64) - self.want.astype(np.float64)).max()
        if not error <= self.tolerance * max(1.0, float(np.abs(self.want).max())):
            raise RuntimeError(f"kernel '{self.name}' on {who}: the result is off by up to {error:g}")


def _blocks(**members: str) -> str:
    return "".join(f"layout(std430, binding = {k}) buffer B{name} {{ {text} }};\n" for k, (name, text) in enumerate(members.items()))


def _kernel(size: str, blocks: str, body: str) -> str:
    return f"#version 450\nlayout({size}) in;\n{blocks}{body}"


def _matmul(rng: np.random.Generator, n: int) -> Kernel:
    a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    text = _kernel("local_size_x = 16, local_size_y = 16", _blocks(a="float a[];", b="float b[];", c="float c[];"), f"""
shared float ta[16][16], tb[16][16];
void main() {{
  uvec2 g = gl_GlobalInvocationID.xy, l = gl_LocalInvocationID.xy;
  float sum = 0.0;
  for (uint k = 0u; k < {n}u; k += 16u) {{
    ta[l.y][l.x] = a[g.y * {n}u + k + l.x];
    tb[l.y][l.x] = b[(k + l.y) * {n}u + g.x];
    barrier();
    for (uint i = 0u; i < 16u; i++) sum += ta[l.y][i] * tb[i][l.x];
    barrier();
  }}
  c[g.y * {n}u + g.x] = sum;
}}""")  # fmt: skip
    arrays = {"a": a, "b": b, "c": np.zeros((n, n), np.float32)}
    return Kernel("matrix product", (Step(text, (n // 16, n // 16, 1)),), arrays, "c", a @ b, 1e-5)


def _reduction(rng: np.random.Generator, n: int) -> Kernel:
    x = rng.integers(0, 1000, n, np.uint32)
    text = _kernel("local_size_x = 256", _blocks(x="uint x[];", o="uint o[];"), """
shared uint part[256];
void main() {
  uint i = gl_LocalInvocationIndex, sum = 0u;
  for (uint k = 0u; k < 8u; k++) sum += x[(gl_WorkGroupID.x * 8u + k) * 256u + i];
  part[i] = sum;
  barrier();
  for (uint step = 128u; step > 0u; step >>= 1) {
    if (i < step) part[i] += part[i + step];
    barrier();
  }
  if (i == 0u) o[gl_WorkGroupID.x] = part[0];
}""")  # fmt: skip
    want = x.reshape(-1, 2048).sum(1).astype(np.uint32)
    return Kernel("reduction", (Step(text, (n // 2048, 1, 1)),), {"x": x, "o": np.zeros(n // 2048, np.uint32)}, "o", want)


def _scan(rng: np.random.Generator, n: int) -> Kernel:
    x = rng.integers(0, 1000, n, np.uint32)
    text = _kernel("local_size_x = 256", _blocks(x="uint x[];", o="uint o[];"), """
shared uint part[256];
void main() {
  uint i = gl_LocalInvocationIndex, at = gl_GlobalInvocationID.x;
  part[i] = x[at];
  for (uint reach = 1u; reach < 256u; reach *= 2u) {
    barrier();
    uint v = part[i] + (i >= reach ? part[i - reach] : 0u);
    barrier();
    part[i] = v;
  }
  o[at] = part[i];
}""")  # fmt: skip
    want = x.reshape(-1, 256).cumsum(1).astype(np.uint32).ravel()
    return Kernel("scan", (Step(text, (n // 256, 1, 1)),), {"x": x, "o": np.zeros(n, np.uint32)}, "o", want)


def _radix_sort(rng: np.random.Generator, n: int) -> Kernel:
    """By four bits at a time: counts of each workgroup, where they begin, and the numbers moved; eight times, to and fro."""
    x = rng.integers(0, 2**32, n, np.uint32)
    groups = n // 256
    blocks = _blocks(x="uint x[];", y="uint y[];", counts="uint counts[];")

    def steps(shift: int, source: str, to: str) -> list[Step]:
        count = _kernel("local_size_x = 256", blocks, f"""
shared uint own[16];
void main() {{
  uint i = gl_LocalInvocationIndex;
  if (i < 16u) own[i] = 0u;
  barrier();
  atomicAdd(own[{source}[gl_GlobalInvocationID.x] >> {shift} & 15u], 1u);
  barrier();
  if (i < 16u) counts[i * {groups}u + gl_WorkGroupID.x] = own[i];
}}""")  # fmt: skip
        begin = _kernel("local_size_x = 256", blocks, f"""
shared uint part[256];
void main() {{
  uint i = gl_LocalInvocationIndex, each = {16 * groups // 256}u, sum = 0u;
  for (uint k = 0u; k < each; k++) sum += counts[i * each + k];
  part[i] = sum;
  for (uint reach = 1u; reach < 256u; reach *= 2u) {{
    barrier();
    uint v = part[i] + (i >= reach ? part[i - reach] : 0u);
    barrier();
    part[i] = v;
  }}
  uint before = part[i] - sum;
  for (uint k = 0u; k < each; k++) {{ uint c = counts[i * each + k]; counts[i * each + k] = before; before += c; }}
}}""")  # fmt: skip
        move = _kernel("local_size_x = 256", blocks, f"""
shared uint digits[256];
void main() {{
  uint i = gl_LocalInvocationIndex, v = {source}[gl_GlobalInvocationID.x], digit = v >> {shift} & 15u, before = 0u;
  digits[i] = digit;
  barrier();
  for (uint k = 0u; k < i; k++) before += uint(digits[k] == digit);
  {to}[counts[digit * {groups}u + gl_WorkGroupID.x] + before] = v;
}}""")  # fmt: skip
        return [Step(count, (groups, 1, 1)), Step(begin, (1, 1, 1)), Step(move, (groups, 1, 1))]

    every = [step for k in range(8) for step in steps(4 * k, *(("x", "y") if k % 2 == 0 else ("y", "x")))]
    arrays = {"x": x, "y": np.zeros(n, np.uint32), "counts": np.zeros(16 * groups, np.uint32)}
    return Kernel("radix sort", tuple(every), arrays, "x", np.sort(x))


def _filter(rng: np.random.Generator, n: int) -> Kernel:
    x = rng.random((n, n), np.float32)
    text = _kernel("local_size_x = 16, local_size_y = 16", _blocks(x="float x[];", o="float o[];"), f"""
void main() {{
  ivec2 g = ivec2(gl_GlobalInvocationID.xy);
  float sum = 0.0;
  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {{
      ivec2 p = clamp(g + ivec2(dx, dy), ivec2(0), ivec2({n - 1}));
      sum += x[p.y * {n} + p.x] * float((3 - abs(dx)) * (3 - abs(dy)));
    }}
  o[g.y * {n} + g.x] = sum / 81.0;
}}""")  # fmt: skip
    padded = np.pad(x.astype(np.float64), 2, "edge")
    weights = 3 - np.abs(np.arange(-2, 3))
    want = sum(
        (padded[dy : dy + n, dx : dx + n] * (weights[dy] * weights[dx]) for dy in range(5) for dx in range(5)), np.zeros((n, n))
    )
    arrays = {"x": x, "o": np.zeros((n, n), np.float32)}
    return Kernel("filter 5 x 5", (Step(text, (n // 16, n // 16, 1)),), arrays, "o", (want / 81).astype(np.float32), 1e-5)


def _nbody(rng: np.random.Generator, n: int) -> Kernel:
    p = rng.random((n, 4), np.float32)
    text = _kernel("local_size_x = 64", _blocks(p="vec4 p[];", o="vec4 o[];"), f"""
void main() {{
  vec4 own = p[gl_GlobalInvocationID.x];
  vec3 a = vec3(0.0);
  for (uint i = 0u; i < {n}u; i++) {{
    vec4 other = p[i];
    vec3 d = other.xyz - own.xyz;
    float r = inversesqrt(dot(d, d) + 0.01);
    a += d * (other.w * r * r * r);
  }}
  o[gl_GlobalInvocationID.x] = vec4(a, 0.0);
}}""")  # fmt: skip
    q = p.astype(np.float64)
    d = q[None, :, :3] - q[:, None, :3]
    want = np.zeros((n, 4), np.float32)
    want[:, :3] = (d * (q[None, :, 3] * ((d * d).sum(2) + 0.01) ** -1.5)[:, :, None]).sum(1)
    return Kernel("n-body", (Step(text, (n // 64, 1, 1)),), {"p": p, "o": np.zeros((n, 4), np.float32)}, "o", want, 1e-4)


def _mandelbrot(rng: np.random.Generator, n: int) -> Kernel:
    most = 256
    text = _kernel("local_size_x = 8, local_size_y = 8", _blocks(o="uint o[];"), f"""
void main() {{
  vec2 c = vec2(gl_GlobalInvocationID.xy) * {3.0 / n!r} - vec2(2.25, 1.5), z = vec2(0.0);
  uint i = 0u;
  for (; i < {most}u && dot(z, z) <= 4.0; i++) z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
  o[gl_GlobalInvocationID.y * {n}u + gl_GlobalInvocationID.x] = i;
}}""")  # fmt: skip
    y, x = np.mgrid[0:n, 0:n]
    c = (x * (3.0 / n) - 2.25) + 1j * (y * (3.0 / n) - 1.5)
    z, count = np.zeros_like(c), np.zeros((n, n), np.uint32)
    for _ in range(most):
        runs = np.abs(z) <= 2
        z[runs] = z[runs] ** 2 + c[runs]
        count += runs
    return Kernel("Mandelbrot", (Step(text, (n // 8, n // 8, 1)),), {"o": np.zeros((n, n), np.uint32)}, "o", count, 1.0)


def _histogram(rng: np.random.Generator, n: int) -> Kernel:
    x = rng.integers(0, 2**32, n, np.uint32)
    text = _kernel("local_size_x = 256", _blocks(x="uint x[];", o="uint o[];"), """
shared uint own[256];
void main() {
  uint i = gl_LocalInvocationIndex;
  own[i] = 0u;
  barrier();
  for (uint k = 0u; k < 16u; k++) atomicAdd(own[x[(gl_WorkGroupID.x * 16u + k) * 256u + i] >> 24], 1u);
  barrier();
  atomicAdd(o[i], own[i]);
}""")  # fmt: skip
    reset = _kernel("local_size_x = 256", _blocks(x="uint x[];", o="uint o[];"), "void main() { o[gl_LocalInvocationIndex] = 0u; }")
    want = np.bincount(x >> 24, minlength=256).astype(np.uint32)
    return Kernel(
        "histogram", (Step(reset, (1, 1, 1)), Step(text, (n // 4096, 1, 1))), {"x": x, "o": np.zeros(256, np.uint32)}, "o", want
    )


#: Names, makers and full sizes.
KERNELS: dict[str, tuple[Callable[[np.random.Generator, int], Kernel], int]] = {
    "matrix product": (_matmul, 512),
    "reduction": (_reduction, 1 << 22),
    "scan": (_scan, 1 << 20),
    "radix sort": (_radix_sort, 1 << 18),
    "filter 5 x 5": (_filter, 1024),
    "n-body": (_nbody, 2048),
    "Mandelbrot": (_mandelbrot, 1024),
    "histogram": (_histogram, 1 << 22),
}


def kernels(shrink: int = 1, names: Sequence[str] = ()) -> list[Kernel]:
    """Those of these names (none: all), on the same numbers each time; ``shrink`` divides their sizes, for tests."""
    return [make(np.random.default_rng(7), size // shrink) for name, (make, size) in KERNELS.items() if not names or name in names]


def on_tilegpu(device: tg.Device, kernel: Kernel) -> tuple[Callable[[], object], Callable[[], NDArray[Any]]]:
    """What runs it, and what reads its result."""
    buffers = {f"B{name}": device.buffer(array) for name, array in kernel.arrays.items()}
    made = {source: device.compute_pipeline(source, label=kernel.name) for source in {step.source for step in kernel.steps}}
    steps = []
    for step in kernel.steps:
        pipe = made[step.source]
        used = {name: buffers[name] for name in buffers if name in {b.block_name for b in pipe.interface.bindings.values() if b.used}}
        steps.append((pipe, step.groups, used))

    def run() -> None:
        for pipe, groups, bound in steps:
            device.dispatch(pipe, groups, bind=bound)

    return run, lambda: buffers[f"B{kernel.result}"].numpy(kernel.want.dtype)


def on_opengl(context: Any, kernel: Kernel) -> tuple[Callable[[], object], Callable[[], NDArray[Any]]]:
    """The same by moderngl."""
    buffers = {name: context.buffer(array.tobytes()) for name, array in kernel.arrays.items()}
    made = {source: context.compute_shader(source) for source in {step.source for step in kernel.steps}}
    steps = [(made[step.source], step.groups) for step in kernel.steps]

    def run() -> None:
        for binding, buffer in enumerate(buffers.values()):
            buffer.bind_to_storage_buffer(binding)
        for shader, groups in steps:
            shader.run(*groups)
            context.memory_barrier()
        context.finish()

    return run, lambda: np.frombuffer(buffers[kernel.result].read(), kernel.want.dtype)


def measure(names: Sequence[str], seconds: float, rounds: int, opengl: bool, shrink: int = 1) -> list[dict[str, Any]]:
    """One row for each kernel: milliseconds, and the ratio theirs / ours where OpenGL takes part."""
    rows: list[dict[str, Any]] = []
    device = tg.Device()
    context = None
    if opengl:
        os.environ.setdefault("GALLIVM_PERF", "")  # as in tilegpu bench peers
        from tilegpu.reference import Renderer

        renderer = Renderer()
        context = renderer.ctx
    chosen = list(kernels(shrink, names))
    for kernel in progress(chosen, len(chosen), "bench compute"):
        runs: dict[str, Callable[[], object]] = {}
        for who, (run, result) in (
            ("tilegpu", on_tilegpu(device, kernel)),
            *((("opengl", on_opengl(context, kernel)),) if context else ()),
        ):
            run()
            kernel.check(result(), who)
            runs[who] = run
        times = by_turns(runs, seconds, rounds)
        row: dict[str, Any] = {"kernel": kernel.name, "tilegpu_ms": statistics.median(times["tilegpu"])}
        if context:
            ratio, least, most = ratio_of(times["tilegpu"], times["opengl"])
            row |= {"opengl_ms": statistics.median(times["opengl"]), "ratio": ratio, "ratio_min": least, "ratio_max": most}
        rows.append(row)
    return rows


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "compute",
        help="eight kernels beside OpenGL's compute shaders",
        description=(__doc__ or "").split("\n\n")[1].replace("\n", " "),
    )
    parser.add_argument("--kernel", action="append", metavar="NAME", help="only this one, as the table names it (default: all)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each kernel and renderer (default 1)")
    parser.add_argument("--rounds", type=int, default=5, help="turns that the seconds are divided into (default 5)")
    parser.add_argument("--no-gl", action="store_true", help="tilegpu alone")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command."""
    unknown = [name for name in options.kernel or [] if name not in KERNELS]
    if unknown:
        raise UsageError(f"kernel '{unknown[0]}' is not known; there are {', '.join(KERNELS)}")
    rows = measure(options.kernel or [], options.seconds, options.rounds, not options.no_gl)
    if options.json:
        print(json.dumps({"machine": machine(), "rows": rows}, indent=1))
        return 0
    print(f"{'kernel':16}{'tilegpu ms':>11}" + ("" if options.no_gl else f"{'OpenGL ms':>11}{'ratio':>8}"))
    for row in rows:
        theirs = ""
        if "ratio" in row:
            theirs = f"{row['opengl_ms']:11.2f}{row['ratio']:8.2f}  ({row['ratio_min']:.2f} to {row['ratio_max']:.2f})"
        print(f"{row['kernel']:16}{row['tilegpu_ms']:11.2f}{theirs}")
    if rows and not options.no_gl:
        print(f"geometric mean of the ratios: {statistics.geometric_mean(row['ratio'] for row in rows):.2f}")
    return 0
