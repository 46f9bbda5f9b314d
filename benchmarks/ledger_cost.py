"""What counting costs: instructions of three scenes with and without the ledger and the fragment counters, by callgrind.

    python benchmarks/ledger_cost.py [--json] [--on DIR --off DIR]

Builds the extension twice (``-DTILEGPU_LEDGER=ON`` and ``OFF``) unless two build directories are given, and counts the instructions
within ``PassExecutor::execute``: geometry, tiles, generated code; not recording and not compiling. One thread, 8 lanes, x86-64-v3:
valgrind knows no AVX-512. The pictures must be the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SCENES = ("textured_pbr", "mesh_100k", "msaa4_pass_resolve")
SIZE = (480, 270)


def render(scene: str) -> None:
    """What runs under callgrind: prints the picture's hash."""
    import numpy as np

    import tilegpu as tg
    from tilegpu.scene import SceneRenderer, find_scene

    device = tg.Device(threads=1, lanes=8, jit_target="x86-64-v3")
    result = SceneRenderer(device).render(find_scene(scene).frame(SIZE))
    print("hash", hashlib.sha256(np.ascontiguousarray(result.images[0]).tobytes()).hexdigest())


def build(folder: Path, ledger: bool) -> None:
    pybind = subprocess.check_output([sys.executable, "-m", "pybind11", "--cmakedir"], text=True).strip()
    definitions = {
        "CMAKE_BUILD_TYPE": "Release", "TILEGPU_TESTS": "OFF", "TILEGPU_LEDGER": "ON" if ledger else "OFF",
        "Python_EXECUTABLE": sys.executable, "pybind11_DIR": pybind,
    }  # fmt: skip
    configure = ["cmake", "-S", REPOSITORY, "-B", folder, *(f"-D{k}={v}" for k, v in definitions.items())]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "_core", "-j", str(os.cpu_count())], check=True, stdout=subprocess.DEVNULL)


def package(extension: Path, folder: Path) -> Path:
    """A directory from which `import tilegpu` takes this extension and the core beside it."""
    inside = folder / "tilegpu"
    inside.mkdir(parents=True)
    for source in (REPOSITORY / "python" / "tilegpu").iterdir():
        (inside / source.name).symlink_to(source)
    (inside / "_shaders").symlink_to(REPOSITORY / "shaders")
    (inside / "_samples").symlink_to(REPOSITORY / "samples")
    for library in (extension, extension.parent / "libtilegpu.so"):
        (inside / library.name).symlink_to(library.resolve())
    return folder


def count(path: Path, scene: str, cache: Path) -> tuple[int, str]:
    """Instructions within execute, and the picture's hash."""
    environment = {**os.environ, "PYTHONPATH": str(path), "XDG_CACHE_HOME": str(cache), "TILEGPU_CODE": "optimised"}
    me = [sys.executable, str(Path(__file__).resolve()), "--render", scene]
    subprocess.run(me, env=environment, check=True, stdout=subprocess.DEVNULL)  # fills the cache of compiled pipelines
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=tilegpu::exec::PassExecutor::execute*",
                f"--callgrind-out-file={folder}/out"]  # fmt: skip
        done = subprocess.run([*tool, *me], env=environment, check=True, capture_output=True, text=True)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if found is None or int(found[1]) == 0:
        raise RuntimeError(f"callgrind counted nothing in scene {scene}:\n{done.stderr}")
    return int(found[1]), done.stdout.split()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--on", type=Path, help="a build directory with the ledger")
    parser.add_argument("--off", type=Path, help="one without")
    parser.add_argument("--render", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.render:
        render(options.render)
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        paths = {}
        for name, given, ledger in (("on", options.on, True), ("off", options.off, False)):
            folder = given or REPOSITORY / "build" / f"ledger_{name}"
            if given is None:
                build(folder, ledger)
            extension = next(folder.glob("_core*.so"))
            paths[name] = package(extension, Path(temporary) / name)
        for scene in SCENES:
            (on, picture), (off, other) = (count(paths[n], scene, Path(temporary) / "cache") for n in ("on", "off"))
            if picture != other:
                raise RuntimeError(f"scene {scene}: the pictures differ")
            cost = round(100 * (on / off - 1), 3)
            rows.append({"scene": scene, "instructions_with": on, "instructions_without": off, "cost_percent": cost})
    if options.json:
        print(json.dumps(rows, indent=1))
        return 0
    print(f"{'scene':<22} {'with':>15} {'without':>15} {'cost':>8}")
    for row in rows:
        print(f"{row['scene']:<22} {row['instructions_with']:>15,} {row['instructions_without']:>15,} {row['cost_percent']:>7.2f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
