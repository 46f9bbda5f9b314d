"""Random scenes, states, passes and shaders as lines of hashes, to compare two processors by.

`python -m tests.processor_cases --seed 7 --cases 60`. In: a seed. Out: for each case what it drew, on which device, and hashes of the
pixels and of what was counted. Case k of a seed is the same on every machine, and so must its line be: `make test-aarch64` draws them by
x86-64 and by aarch64 and compares, with `--expect FILE`. Nothing else chooses the cases, so a seed that nobody has tried is as good as one
that was.

Kinds: *scene* (any sample, of any size, time and number of samples, with a device of any profile, lanes, bins, techniques and kind of
code), *state* (draws of random vertices with every state that a pipeline has, fixed or dynamic), *pass* (attachments of all formats with
random operations, resolves, areas and layers), *shader* (random SPIR-V of every stage). `tests/test_processor_cases.py` runs some and looks
that one bit is seen.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests import test_dynamic_state as states  # noqa: E402
from tests import test_framebuffer_model as passes  # noqa: E402
from tests.shader_fuzz import compare  # noqa: E402
from tests.shader_fuzz.program import Generator  # noqa: E402

import spirv  # noqa: E402
import tilegpu as tg  # noqa: E402
from tilegpu.scene import scenes  # noqa: E402
from tilegpu.scene.render import render  # noqa: E402

#: How full packets are is a matter of lanes and threads; how long it took, of the machine; arenas are of threads.
NOT_COUNTED = {"packets", "idle_lanes", "helper_lanes", "peak_arena_B"}
#: Techniques beside the default ones, each with whatever else it wants.
TECHNIQUES: list[Any] = [
    "default", "default", "off", "all", ["hierarchical_z"], ["visibility_buffer"], ["pre_pass", "hierarchical_z"],
    ["pre_pass", "forward_pixel_kill"], ["deferred_vertex_shading", "visibility_buffer"], ["depth_filter:three_plane"],
]  # fmt: skip


def configuration(rng: random.Random) -> dict[str, Any]:
    """Arguments of a device, and ``code``: which of the two kinds of machine code it makes."""
    made: dict[str, Any] = {"lanes": rng.choice([4, 8, 16]), "threads": rng.choice([1, 2, 3]), "bin_px": rng.choice([0, 0, 32, 128])}
    made["profile"] = rng.choice(["host", *tg.profile_names()])
    if made["profile"] == "host":
        made |= {"hsr": rng.choice(TECHNIQUES), "tiler_heap": rng.choice([0, 0, 1 << 15])}
    else:
        made["bin_px"] = 0  # tiles are the profile's
    made["jit_target"] = rng.choice(["", "", "baseline"])
    made["code"] = rng.choice(["optimised", "quick"])
    return made


def device_of(chosen: dict[str, Any]) -> tg.Device:
    options = dict(chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEGPU_CODE", options.pop("code"))
        return tg.Device(cache_dir="off", **options)


def digest(*parts: Any) -> str:
    """Of arrays by their bytes, of everything else by its text."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return whole.hexdigest()[:16]


def counts(stats: Any) -> dict[str, int]:
    names = [n for n in dir(stats) if not n.startswith("_") and n not in NOT_COUNTED]
    return {n: v for n in names if type(v := getattr(stats, n)) is int} | {"traffic": stats.traffic}


def scene_case(rng: random.Random) -> tuple[str, str]:
    name = rng.choice(sorted(scenes()))
    size = (rng.randrange(40, 200), rng.randrange(30, 120))
    time, samples = rng.choice([0.0, round(rng.uniform(0, 9), 3)]), rng.choice([None, None, 1, 2, 4, 8, 16])
    if scenes()[name].fixed_samples:
        samples = None
    chosen = configuration(rng)
    frame = scenes()[name].frame(size, samples, time=time)
    result = render(device_of(chosen), frame)
    pictures = [np.asarray(i) for i in result.images] + ([np.asarray(result.depth)] if result.depth is not None else [])
    what = f"{name} {size[0]}x{size[1]} samples {samples} time {time} {chosen}"
    return what, f"{digest(*pictures)} {digest(counts(result.stats))}"


def state_case(rng: random.Random) -> tuple[str, str]:
    chosen, samples = configuration(rng), rng.choice(states.SAMPLES)
    device = device_of(chosen)
    target, counted = states.Target(device, samples), []
    for _ in range(3):
        fixed, dynamic = states.random_state(rng, samples)
        frame, dynamic_frame = states.framing(rng)
        indices = np.array([rng.randrange(18) for _ in range(24)], np.uint16)
        if fixed["primitive_restart"]:
            indices[rng.randrange(24)] = 0xFFFF
        vertices = states.shapes(rng).astype(rng.choice(states.DTYPES))
        shader, by_pass = rng.choice([states.VERT, states.VERT_VIEWPORTS]), rng.random() < 0.3
        with target.open() as rp:
            if by_pass:
                rp.set(**(dynamic | dynamic_frame))
                rp.draw(states.everything_dynamic(device, vertices.dtype, shader), vertices, indices=indices)
            else:
                pipeline = device.pipeline(shader, states.FRAG, vertex=vertices.dtype, **target.formats(), **fixed)
                rp.draw(pipeline, vertices, indices=indices, **frame)
        counted += [counts(rp.stats), *target.contents()]
    return f"{samples} samples {chosen}", digest(*counted)


def pass_case(rng: random.Random) -> tuple[str, str]:
    """The models of these passes are asked too: a picture that is wrong on both processors ends the run."""
    seed = rng.randrange(1 << 30)
    case = passes.run_case(seed)
    targets = [*case.colors, *case.color_resolves, case.depth, case.depth_resolve, case.stencil, case.stencil_resolve]
    contents: list[Any] = [counts(case.stats)]
    for target in {id(t): t for t in targets if t is not None}.values():
        for aspect, plane in target.planes.items():
            for layer in range(len(plane.codes)):
                if plane.readable(layer):
                    got = target.image.numpy(layer=layer, aspect=None if aspect == "color" else aspect)
                    known = plane.known[layer].reshape(*got.shape[:2], -1)
                    contents += [got.reshape((*known.shape, -1))[known]]
    return f"{seed} {passes.DEVICES[case.number]} {passes.SETS[case.which]}", digest(*contents)


def shader_case(rng: random.Random) -> tuple[str, str]:
    program = Generator(rng.randrange(1, 1 << 30), 30, "").program()
    lanes, code = rng.choice(compare.LANES), rng.choice(compare.CODES)
    module = spirv.assemble(program.text, version=program.version, vulkan="vulkan1.1" if program.version == "1.3" else "vulkan1.2")
    found = compare.compiled(program, module, lanes, code)
    return f"{program.seed} {program.stage} {lanes} lanes, {code}", digest(*(found[k] for k in sorted(found, key=str)))


KINDS: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "scene": scene_case,
    "state": state_case,
    "pass": pass_case,
    "shader": shader_case,
}


def lines(seed: int, cases: int, first: int = 0) -> Iterator[str]:
    """A line for each case; one that is refused has the refusal, which must be the same text as well."""
    assert cases > 0 and first >= 0
    for k in range(first, first + cases):
        kind = list(KINDS)[k % len(KINDS)]
        rng = random.Random(f"{seed} {k}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                what, result = KINDS[kind](rng)
            except tg.Error as error:
                what, result = "refused", " ".join(str(error).split())
        yield f"{seed} {k} {kind} {what}: {result}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="one case alone: --first K --cases 1")
    parser.add_argument("--expect", type=Path, help="lines of another processor: what differs is printed, and the exit code is 1")
    options = parser.parse_args()
    expected = options.expect.read_text(encoding="utf-8").splitlines() if options.expect else None
    if expected is not None and len(expected) != options.cases:
        print(f"{options.expect} has {len(expected)} lines, and there are {options.cases} cases", file=sys.stderr)
        return 1
    differ = refused = 0
    for at, line in enumerate(lines(options.seed, options.cases, options.first)):
        refused += " refused: " in line
        if expected is None:
            print(line, flush=True)
        elif line != expected[at]:
            differ += 1
            print(f"there: {expected[at]}\nhere:  {line}", flush=True)
    if expected is not None:
        print(f"{options.cases} random cases of seed {options.seed}: {differ} differ from {options.expect.name}; {refused} refused alike")
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
