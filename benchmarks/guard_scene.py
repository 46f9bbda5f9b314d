"""Draws one reference scene, small, so many times: what ``guard.py`` counts the instructions of. Not for use by hand.

python guard_scene.py SCENE WIDTHxHEIGHT FRAMES

Prints how many shaders and functions were compiled, where all should have come from the cache.
"""

from __future__ import annotations

import sys

import tilegpu
from tilegpu.scene import SceneRenderer, find_scene


def main() -> None:
    """One thread, 8 lanes, x86-64-v3: valgrind knows no AVX-512."""
    name, size, frames = sys.argv[1:]
    width, height = map(int, size.split("x"))
    frame = find_scene(name).frame((width, height))
    device = tilegpu.Device(threads=1, lanes=8, jit_target="x86-64-v3")
    renderer = SceneRenderer(device)
    for _ in range(int(frames)):
        renderer.render(frame, read=False)
        device.wait_compiles()  # no frame is counted with code that is about to be replaced, nor with the making of it
    stats = device.compile_stats
    print(stats["functions_compiled"] + stats["glsl_compiled"])


main()
