"""OpenGL by Mesa's Zink on tilegpu: a moderngl scene has the same bits for any threads and lanes, and is near Mesa's own rasterizer's;
every scene of `tilegpu scenes`, drawn by OpenGL, agrees with the core's own picture (two front ends, one rasterizer); glxgears and glmark2.

The version that Zink finds is its own conclusion from the driver's features. Source: docs.mesa3d.org, drivers/zink."""

from __future__ import annotations

import ctypes.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import environment, need, run

from tilegpu.scene.resources import scenes

SCENE = str(Path(__file__).parent / "moderngl_scene.py")
MESA = {"LIBGL_ALWAYS_SOFTWARE": "1"}
ZINK = {**MESA, "MESA_LOADER_DRIVER_OVERRIDE": "zink", "GALLIUM_DRIVER": "zink"}


def drawn(tmp_path: Path, renderer: str, **more: str) -> np.ndarray:
    path = tmp_path / "picture.npy"
    text = run([sys.executable, SCENE, str(path)], validate=False, **more)
    assert renderer in text, text
    return np.load(path)


def test_moderngl(tmp_path: Path) -> None:
    if ctypes.util.find_library("EGL") is None:
        pytest.skip("EGL is not installed")
    picture = drawn(tmp_path, "zink (tilegpu", **ZINK)
    assert picture[..., :3].std() > 20
    for settings in ({"TILEGPU_THREADS": "1", "TILEGPU_LANES": "4"}, {"TILEGPU_LANES": "8", "TILEGPU_BIN": "32"}):
        assert np.array_equal(drawn(tmp_path, "zink (tilegpu", **ZINK, **settings), picture), settings
    far = np.abs(picture.astype(int) - drawn(tmp_path, "llvmpipe", **MESA)).max(-1) > 8
    assert far.sum() <= 120, f"{far.sum()} of {far.size} pixels"  # edges between texels, and the ball's


#: Orbits of the Mandelbrot set: the last bit of a product decides, which Mesa's compiler adds in one step or in two. Pixels over 2/255.
CHAOS = {"toy_fractal": 0.03}


@pytest.mark.parametrize("scene", scenes())
def test_scenes(scene: str) -> None:
    """`tilegpu compare` with its reference, moderngl, on the same rasterizer: within its tolerance, whose exit code is 0."""
    if ctypes.util.find_library("EGL") is None:
        pytest.skip("EGL is not installed")
    words = [sys.executable, "-m", "tilegpu", "compare", scene, "--size", "480x270", "--json", "-q"]
    done = subprocess.run(words, env=environment(validate=False, **ZINK), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    assert found["reference"]["renderer"].startswith("zink (tilegpu"), found["reference"]
    if scene in CHAOS:
        assert found["share_over_2"] <= CHAOS[scene], found
    else:
        assert found["within_tolerance"], {name: value for name, value in found.items() if name != "pixels"}


def test_glxgears(xvfb: str) -> None:
    words = ["timeout", "--preserve-status", "-s", "INT", "7", need("glxgears"), "-info"]
    done = subprocess.run(words, env=environment(validate=False, DISPLAY=xvfb, **ZINK), capture_output=True, text=True, check=False)
    assert "zink (tilegpu" in done.stdout, done.stdout + done.stderr
    assert re.search(r"\d+ frames in", done.stdout), done.stdout[-500:]


def test_glmark2(xvfb: str) -> None:
    """Its own check of what each of its scenes draws; those that it can't check say so, and must draw."""
    benchmarks = [
        *(f"build:use-vbo={word}" for word in ("false", "true")),
        *(f"texture:texture-filter={word}" for word in ("nearest", "linear", "mipmap")),
        *(f"shading:shading={word}" for word in ("gouraud", "phong", "cel")),
        *(f"bump:bump-render={word}" for word in ("high-poly", "normals", "height")),
        *(f"buffer:update-method={word}" for word in ("map", "subdata")),
        *(f"desktop:effect={word}:windows=2" for word in ("blur", "shadow")),
        *(f"{word}:fragment-steps=5" for word in ("conditionals", "function", "loop")),
        *("pulsar:quads=5", "effect2d", "ideas", "jellyfish", "terrain", "shadow", "refract"),
    ]
    words = [need("glmark2"), "--validate", "-s", "320x240"]
    for benchmark in benchmarks:
        words += ["-b", benchmark]
    said = run(words, 300, validate=False, DISPLAY=xvfb, **ZINK)
    assert "zink (tilegpu" in said, said
    assert len(re.findall("Validation: (?:Success|Unknown)", said)) == len(benchmarks), said
    assert len(re.findall("Validation: Success", said)) >= 16, said
