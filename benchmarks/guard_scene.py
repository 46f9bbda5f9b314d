"""Draws one reference scene, small, so many times: what ``guard.py`` counts the instructions of. Not for use by hand.

python guard_scene.py SCENE WIDTHxHEIGHT FRAMES

SCENE: its name, and words behind it: "recorded", each frame from Python anew, where the others are replayed; "dynamic", with
pipelines that leave all state to the pass.

Prints how many shaders and functions were compiled, where all should have come from the cache.
"""

from __future__ import annotations

import dataclasses
import sys

import tilegpu
from tilegpu.scene import SceneRenderer, find_scene


def main() -> None:
    """One thread, 8 lanes, x86-64-v3: valgrind knows no AVX-512."""
    name, size, frames = sys.argv[1:]
    width, height = map(int, size.split("x"))
    scene, *how = name.split()
    assert set(how) <= {"recorded", "dynamic"}
    frame = find_scene(scene).frame((width, height))
    device = tilegpu.Device(threads=1, lanes=8, jit_target="x86-64-v3")
    renderer = SceneRenderer(device, dynamic="dynamic" in how)
    for _ in range(int(frames)):
        renderer.render(dataclasses.replace(frame) if "recorded" in how else frame, read=False)
        device.wait_compiles()  # no frame is counted with code that is about to be replaced, nor with the making of it
    stats = device.compile_stats
    print(stats["functions_compiled"] + stats["glsl_compiled"])


main()
