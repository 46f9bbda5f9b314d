"""A program by the compiler, at every number of lanes and by both kinds of code, and by the reference interpreter: the same bits.

``check(program)`` raises :class:`Difference`, which says where they differ. Modules go through spirv-opt as well; the interpreter runs what
comes out of it, so that what spirv-opt makes of a program that Vulkan leaves undefined is no difference.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from tests.oracle.shaders import stages
from tests.oracle.shaders.invocation import EndlessError
from tests.shader_fuzz.program import HEIGHT_PX, WIDTH_PX, Program

import spirv
import tilegpu as tg

LANES = (4, 8, 16)
CODES = ("quick", "optimised")
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2.0 - 1.0, 0, 1); }"
PLAIN = "#version 450\nlayout(location = 0) out uvec4 c;\nvoid main() { c = uvec4(0); }"
POINT = "#version 450\nvoid main() { gl_Position = vec4(0, 0, 0, 1); gl_PointSize = 1.0; }"
OBSERVED = (2, 4, 5)
CLEAR = 0xDEAD
#: Passes of spirv-opt, one recipe for each program.
RECIPES = (
    ("-O",),
    ("-Os",),
    ("--loop-peeling",),
    ("--loop-unroll",),
    ("--loop-unswitch",),
    ("--loop-invariant-code-motion",),
    ("--loop-fission=20",),
    ("--loop-fusion=50",),
    ("--inline-entry-points-exhaustive", "--ssa-rewrite", "--code-sink"),
    ("--inline-entry-points-exhaustive", "--eliminate-dead-branches", "--merge-return", "--wrap-opkill"),
    ("--merge-return", "--inline-entry-points-exhaustive"),
    ("--merge-blocks", "--if-conversion", "--simplify-instructions"),
    ("--scalar-replacement=0", "--eliminate-local-single-block", "--eliminate-local-single-store", "--ssa-rewrite"),
    ("--redundancy-elimination", "--local-redundancy-elimination", "--combine-access-chains"),
    ("--ccp", "--eliminate-dead-branches", "--cfg-cleanup", "--vector-dce"),
    ("--private-to-local", "--eliminate-dead-code-aggressive", "--reduce-load-size"),
    ("--copy-propagate-arrays", "--convert-local-access-chains", "--eliminate-dead-inserts"),
    ("--fix-storage-class", "--strength-reduction", "--compact-ids"),
    ("--graphics-robust-access",),
    ("--unify-const", "--fold-spec-const-op-composite", "--workaround-1209"),
)
#: How often each variant is taken where a program runs by one alone.
SHARES = {(4, "quick"): 6, (8, "quick"): 4, (16, "quick"): 3, (4, "optimised"): 3, (8, "optimised"): 2, (16, "optimised"): 2}
#: Of all loops of the invocations that run together; the interpreter has 200,000 instructions for one. More is a difference.
ROUNDS = 4_000_000
_devices: dict[tuple[int, str], tg.Device] = {}


class Difference(AssertionError):
    """``found``, ``wanted``: by binding."""

    def __init__(self, program: Program, module: bytes, lanes: int, code: str, text: str) -> None:
        super().__init__(text)
        self.program, self.module, self.lanes, self.code = program, module, lanes, code


def device(lanes: int, code: str) -> tg.Device:
    """One for each number of lanes and kind of code."""
    if (lanes, code) not in _devices:
        before = os.environ.get("TILEGPU_CODE")
        os.environ["TILEGPU_CODE"] = code
        try:
            _devices[lanes, code] = tg.Device(cache_dir="off", threads=1, lanes=lanes, loop_budget=ROUNDS)
        finally:
            del os.environ["TILEGPU_CODE"]
            if before is not None:
                os.environ["TILEGPU_CODE"] = before
    return _devices[lanes, code]


Results = dict[int | str, bytes]


def compiled(program: Program, module: bytes, lanes: int, code: str) -> Results:
    """What the compiler's code leaves in the buffers, and of a fragment shader in the attachment."""
    dev = device(lanes, code)
    buffers = {
        k: dev.buffer(np.frombuffer(data, "u1").copy(), usage="uniform" if k == 3 else "storage")
        for k, data in program.buffers.items()
    }
    out: Results = {}
    if program.stage == "compute":
        pipe = dev.compute_pipeline(module)
        push = program.push_constants[: pipe.core.push_constants_B] or None
        dev.dispatch(pipe, program.groups, bind=_used(pipe, buffers), push=push)
    else:
        image = dev.image((WIDTH_PX, HEIGHT_PX), "r32g32b32a32_uint")
        if program.stage == "geometry":
            graphics = dev.pipeline(POINT, PLAIN, geometry=module, color=[image.format], topology="point_list")
        else:
            shaders = (FULL, module) if program.stage == "fragment" else (module, PLAIN)
            graphics = dev.pipeline(*shaders, color=[image.format])
        push = program.push_constants[: graphics.core.push_constants_B] or None
        with dev.render_pass(color=[tg.Attachment(image, clear=(CLEAR,) * 4)]) as rp:
            rp.draw(
                graphics,
                count=3 if program.stage == "fragment" else WIDTH_PX * HEIGHT_PX,
                bind=_used(graphics, buffers),
                push=push,
            )
        if program.stage == "fragment":
            out["color"] = image.numpy().tobytes()
    return out | {k: buffers[k].numpy().tobytes() for k in OBSERVED}


def _used(
    pipe: tg.Pipeline | tg.ComputePipeline, buffers: dict[int, tg.Buffer]
) -> dict[tuple[int, int], tg.Buffer] | None:
    return {(b.set, b.binding): buffers[b.binding] for b in pipe.interface.bindings.values() if b.used} or None


def interpreted(program: Program, module: bytes) -> Results:
    """The same by the interpreter."""
    buffers = {(0, k): stages.Buffer(bytearray(data)) for k, data in program.buffers.items()}
    run = stages.Program(stages.read(module), buffers, program.push_constants)
    out: Results = {}
    if program.stage == "compute":
        stages.dispatch(run, (program.groups, 1, 1))
    elif program.stage != "fragment":
        for index in range(WIDTH_PX * HEIGHT_PX):
            (stages.vertex if program.stage == "vertex" else stages.geometry)(run, index)
    else:
        image = np.full((HEIGHT_PX, WIDTH_PX, 4), CLEAR, "u4")
        for (x, y), outputs in stages.fragments(run, (WIDTH_PX, HEIGHT_PX)).items():
            image[y, x] = outputs[0]
        out["color"] = image.tobytes()
    return out | {k: bytes(buffers[0, k].data) for k in OBSERVED}


def optimised(module: bytes, passes: tuple[str, ...]) -> bytes:
    """Through spirv-opt, which crashes on some modules: those stay as they are."""
    try:
        return spirv.optimise(module, *passes) if passes else module
    except subprocess.SubprocessError:
        return module


def differs(program: Program, module: bytes, lanes: int, code: str) -> str:
    """What differs, in words; empty: nothing. An endless program is none that is compared."""
    try:
        wanted = interpreted(program, module)
    except EndlessError:
        return ""
    try:
        return _words(compiled(program, module, lanes, code), wanted)
    except tg.Error as error:
        return f"refused: {error}"


def _words(found: Results, wanted: Results) -> str:
    lines = []
    for key, want in wanted.items():
        got = found[key]
        if got == want:
            continue
        at = next(k for k in range(len(want)) if got[k : k + 1] != want[k : k + 1])
        word = at & ~3
        count = sum(a != b for a, b in zip(got, want, strict=True))
        name = {2: "tout", 4: "out", 5: "atomic"}.get(key, str(key))  # type: ignore[call-overload]
        here, there = (x[word : word + 4][::-1].hex() for x in (got, want))
        lines.append(f"{name}: {count} of {len(want)} bytes, first at {at}: word {here}, wanted {there}")
    return "; ".join(lines)


def assembled(program: Program, validate: bool = True) -> bytes:
    """The module as it was written."""
    vulkan = "vulkan1.1" if program.version == "1.3" else "vulkan1.2"
    text = spirv.with_numbers(program.text) if is_newer(program) else program.text
    return spirv.assemble(text, validate=validate and not is_newer(program), version=program.version, vulkan=vulkan)


def is_newer(program: Program) -> bool:
    """It has what spirv-val and spirv-opt of 2023 don't know."""
    return any(f"OpCapability {name}" in program.text for name in spirv.NEWER_NAMES)


def compare_one(program: Program, words: bytes, passes: tuple[str, ...], variants: Iterable[tuple[int, str]]) -> int:
    """Raises Difference. Executions: one for each number of lanes and kind of code."""
    try:
        wanted = interpreted(program, words)
    except EndlessError:
        return 0
    count = 0
    for width, code in variants:
        try:
            text = _words(compiled(program, words, width, code), wanted)
        except tg.Error as error:
            text = f"refused: {error}"
        count += 1
        if text:
            how = f"seed {program.seed}, {program.stage}, {' '.join(passes) or 'as written'}, {width} lanes, {code}"
            raise Difference(replace(program, text=""), words, width, code, f"{how}: {text}")
    return count


def check(program: Program, *, thorough: bool = True) -> int:
    """Raises Difference. Executions: the module, and what spirv-opt makes of it, by the compiler's variants.

    Not ``thorough``: each number of lanes by one kind of code, which changes from program to program.
    """
    choose = random.Random(program.seed)
    module, recipe = assembled(program), choose.choice(RECIPES)
    count = 0
    for passes in ((),) if is_newer(program) else ((), recipe):
        words = optimised(module, passes)
        if passes and words == module:
            continue
        variants = [(width, code) for width in LANES for code in (CODES if thorough else (choose.choice(CODES),))]
        count += compare_one(program, words, passes, variants)
    return count


def sample(program: Program, recipes: float = 0.25) -> int:
    """Raises Difference. One execution by one of the variants, cheap ones more often; through spirv-opt as often as ``recipes`` says."""
    choose = random.Random(program.seed)
    passes = choose.choice(RECIPES) if choose.random() < recipes and not is_newer(program) else ()
    variant = choose.choices(list(SHARES), list(SHARES.values()))[0]
    return compare_one(program, optimised(assembled(program, validate=False), passes), passes, [variant])
