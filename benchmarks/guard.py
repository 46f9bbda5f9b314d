"""``make bench-guard``: work counted, not timed, against the figures in ``guard.json``; what grew by more than 3 % is named.

Two kinds of counts, the same on every machine with the same compiler and LLVM:

- instructions of one frame of fixed small scenes, in the core's C++ and in shaders (callgrind; a run of three frames less a run of
  one, so that start-up, compilation and the first frame do not count), with the functions that they are spent in;
- instructions of the machine code of every shader of the reference scenes, compiled for 16 lanes.

    python benchmarks/guard.py --core BUILT_EXTENSION [--update] [--scene NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import site
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import tilegpu
from tilegpu.scene import SceneRenderer, find_scene

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "guard.json"
LIMIT = 1.03
#: Functions below this share of a scene are not kept: they come and go.
LEAST_SHARE = 0.01
SCENES = {
    "fill_opaque_back_to_front": "128x128",
    "fill_blend": "128x128",
    "heavy_overdraw_512": "96x96",
    "mesh_100k": "128x128",
    "textured_pbr": "96x54",
    "msaa4_pass_resolve": "128x72",
    "multisampling4_pass_resolve": "128x72",
    "gbuffer5": "128x72",
    "draws_10k": "100x100",
    "draws_10k recorded": "100x100",
    "draws_10k recorded dynamic": "100x100",
    "foliage": "96x54",
    "forest": "64x36",
    "particles_additive": "64x36",
    "toy_ray_march": "64x36",
    "toy_noise": "64x36",
    "blur_separable": "96x54",
    "ssao": "64x36",
    "taa": "96x54",
    "shadow_cascades": "96x54",
    "sky_ibl": "96x54",
    "materials": "96x54",
    "interface": "240x135",
    "tiny_64 recorded": "64x64",
}  # fmt: skip


#: Warm-ups after which nothing may be left to compile.
WARM_UPS = 3


def package(core: Path, folder: Path) -> Path:
    """A folder for PYTHONPATH with the package and this very extension and core, symbols and all.

    Python is run with ``-S``: an editable package's finder would come before PYTHONPATH with the installed library, which has no symbols.
    """
    source = Path(tilegpu.__file__).resolve().parent
    target = folder / "tilegpu"
    target.mkdir()
    for entry in source.iterdir():
        if not entry.name.endswith(".so"):
            (target / entry.name).symlink_to(entry)
    for name in ("shaders", "samples"):
        if not (target / f"_{name}").exists():
            (target / f"_{name}").symlink_to(HERE.parent / name)
    for library in (core, core.parent / "libtilegpu.so"):  # the extension looks for the core beside itself
        (target / library.name).symlink_to(library.resolve())
    return folder


def function_name(signature: str) -> str:
    """Without namespaces that say nothing, result and parameters: ``void tilegpu::tile::(anonymous namespace)::f<int>(int)`` is
    ``tile::f<int>``."""
    name = re.sub(r"\((?:anonymous namespace\)::|\w+\)(?=\d))", "", signature)  # and casts of template arguments
    start = re.search(r"(?:^|\s)(tilegpu::)", name.split("<")[0])
    return name[start.start(1) if start else 0 :].split("(")[0].replace("tilegpu::", "")


def self_costs(path: Path) -> Counter[str]:
    """Instructions by function of a callgrind file: of the core and of generated code (``shader code``)."""
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    now = {"ob": "", "fn": ""}
    costs: Counter[str] = Counter()
    called = False
    for line in path.read_text(errors="replace").splitlines():
        match = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$", line)
        if match:
            caller, kind, number, name = match.groups()
            if name is not None:
                names[kind][number] = name
            if not caller:
                now[kind] = names[kind].get(number, "")
        elif line.startswith("calls="):
            called = True
        elif line[:1] in "0123456789+-*":
            if called:
                called = False
                continue
            words = line.split()
            cost = int(words[1]) if len(words) > 1 else 0  # a line without an instruction of its own
            if "_core.cpython" in now["ob"] or "libtilegpu.so" in now["ob"]:
                costs[function_name(now["fn"])] += cost
            elif now["ob"] in ("", "???"):
                costs["shader code"] += cost
    return costs


def draw(scene: str, frames: int, environment: dict[str, str], tool: tuple[str, ...] = ()) -> int:
    """Draws so many frames in a process of its own; returns how many functions and shaders were compiled for them."""
    command = [*tool, sys.executable, "-S", str(HERE / "guard_scene.py"), scene, SCENES[scene], str(frames)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{scene}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return int(done.stdout.split()[-1])


def warm_up(scene: str, environment: dict[str, str]) -> None:
    """Everything that the scene compiles is in the cache afterwards."""
    if not any(draw(scene, 1, environment) == 0 for _ in range(WARM_UPS)):
        raise RuntimeError(f"{scene}: after {WARM_UPS} warm-ups there is still code that does not come from the cache")


def count_frame(scene: str, environment: dict[str, str], folder: Path) -> Counter[str]:
    """Instructions of a frame by function."""
    runs = []
    for frames in (1, 3):
        out = folder / f"{scene}.{frames}"
        compiled = draw(
            scene, frames, environment, ("valgrind", "--tool=callgrind", "--compress-strings=yes", f"--callgrind-out-file={out}")
        )
        if compiled:
            raise RuntimeError(f"{scene}: {compiled} functions or shaders were compiled while instructions were counted")
        runs.append(self_costs(out))
    costs = Counter({name: max(0, (n - runs[0][name]) // 2) for name, n in runs[1].items()})
    nameless = sum(count for name, count in costs.items() if name.startswith("0x"))  # stubs of the linker alone
    if nameless > LEAST_SHARE * sum(costs.values()):
        raise RuntimeError(f"{scene}: functions without names were counted; --core wants the library of the build, with its symbols")
    return costs


def count_shaders(folder: Path) -> dict[str, int]:
    """Instructions of the machine code of each stage of each reference scene, 16 lanes."""
    found: dict[str, int] = {}
    for scene in (name for name in SCENES if " " not in name):  # with words: how it is drawn, guard_scene.py
        dump = folder / f"dump_{scene}"
        dump.mkdir()
        os.environ["TILEGPU_DUMP"] = str(dump)
        device = tilegpu.Device(lanes=16, jit_target="x86-64-v3", cache_dir="off")
        SceneRenderer(device).render(find_scene(scene).frame((16, 16)), read=False)
        del os.environ["TILEGPU_DUMP"]
        for listing in dump.glob("*.s"):
            lines = listing.read_text().splitlines()
            count = sum(1 for x in lines if x.startswith("\t") and not x.startswith(("\t.", "\t#")))
            name = f"{scene} {listing.name.split('_')[0]}"
            found[name] = found.get(name, 0) + count
    return found


def compare(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for each figure that grew by more than the limit."""
    grown = []
    for scene, figures in new["frames"].items():
        before = old["frames"].get(scene)
        if not before or figures["instructions"] <= before["instructions"] * LIMIT:
            continue
        growth = _growth(before["instructions"], figures["instructions"])
        grown.append(f"{scene}: a frame takes {figures['instructions']:,} instructions, {growth}")
        for name, count in figures["functions"].items():
            earlier = before["functions"].get(name, 0)
            if count - earlier > 0.005 * before["instructions"]:
                grown.append(f"    {name}: {earlier:,} to {count:,}")
    for name, count in new["shaders"].items():
        before_count = old["shaders"].get(name)
        if before_count and count > before_count * LIMIT:
            grown.append(f"{name} shader: {count:,} instructions of code, {_growth(before_count, count)}")
    return grown


def _growth(before: int, after: int) -> str:
    return f"{after / before - 1:+.1%} of {before:,}"


def main() -> int:
    """Counts, then compares or updates. Exit code 1 if something grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=Path, required=True, help="the built extension, with its symbols")
    parser.add_argument("--update", action="store_true", help="write the figures instead of comparing")
    parser.add_argument("--scene", action="append", choices=SCENES, help="only this one")
    options = parser.parse_args()
    info = tilegpu.Device().info
    new: dict[str, Any] = {"llvm": info["llvm_version"], "frames": {}, "shaders": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "python").mkdir()
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(package(options.core, folder / "python")), *site.getsitepackages()]),
            "PYTHONHASHSEED": "0",
            "TILEGPU_CODE": "optimised",
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        for scene in options.scene or SCENES:
            warm_up(scene, environment)
            costs = count_frame(scene, environment, folder)
            total = sum(costs.values())
            functions = {n: c for n, c in costs.most_common() if c > LEAST_SHARE * total}
            new["frames"][scene] = {"instructions": total, "functions": functions}
            print(f"{scene:28} {total:12,} instructions a frame; most in {', '.join(list(functions)[:3])}", flush=True)
        if not options.scene:
            new["shaders"] = count_shaders(folder)
            print(f"{len(new['shaders'])} shaders, {sum(new['shaders'].values()):,} instructions of code for 16 lanes")
    if options.update:
        if options.scene and FIGURES.exists():  # the figures of the others stay
            known = json.loads(FIGURES.read_text(encoding="utf-8"))
            new = known | {"llvm": new["llvm"], "frames": known["frames"] | new["frames"]}
        FIGURES.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {FIGURES}")
        return 0
    if not FIGURES.exists():
        print(f"{FIGURES} does not exist; --update writes it")
        return 1
    old = json.loads(FIGURES.read_text(encoding="utf-8"))
    if old["llvm"] != new["llvm"]:
        print(f"note: the figures were counted with LLVM {old['llvm']}, this is {new['llvm']}: shader code may differ")
    grown = compare(old, new)
    for line in grown:
        print(line)
    print(
        "nothing grew by more than 3 %"
        if not grown
        else "grown by more than 3 %; if it is worth it: --update, and say why"
    )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
