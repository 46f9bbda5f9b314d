"""The core as a library: what libtilegpu.so shows, where the extension finds it; the C++ package: a program against the installed tree."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.passed_before import passed_before, told_apart_by

import tilegpu as tg
from tilegpu import _core

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "build" / "release"
EXTENSION = Path(_core.__file__)
LIBRARY = EXTENSION.parent / "libtilegpu.so"


def symbols(library: Path) -> list[str]:
    """Names that a library defines for others."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in text.splitlines() if " A " not in line]  # A: the names of versions


def dynamic(library: Path, tag: str) -> list[str]:
    text = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    return re.findall(rf"\({tag}\).*\[(.*)\]", text)


def test_extension_finds_the_core_beside_itself() -> None:
    assert "libtilegpu.so" in dynamic(EXTENSION, "NEEDED")
    assert dynamic(EXTENSION, "RPATH") == ["$ORIGIN"]  # RUNPATH would come after LD_LIBRARY_PATH
    maps = Path("/proc/self/maps").read_text()
    assert {line.split()[-1] for line in maps.splitlines() if "libtilegpu" in line} == {str(LIBRARY.resolve())}


def test_only_our_interface_is_seen() -> None:
    names = symbols(LIBRARY)
    assert any(name.startswith("_ZN7tilegpu6Device6create") for name in names)
    strangers = {name.split("@")[0] for name in names if not re.match(r"_Z(N|NK|TIN|TSN|TVN)7tilegpu", name)}
    loaders = {"vk_icdNegotiateLoaderICDInterfaceVersion", "vk_icdGetInstanceProcAddr", "vk_icdGetPhysicalDeviceProcAddr"}
    assert strangers == loaders, "LLVM, glslang and SPIRV-Tools are hidden: another LLVM may be in the process"
    assert not [name for name in names if "LLVM" in name]
    assert "PyInit__core" in symbols(EXTENSION)
    assert not [name for name in symbols(EXTENSION) if name.startswith("_ZN7tilegpu")]


def test_versions_are_not_mixed() -> None:
    """The extension asks for the interface of its own version: the loader refuses a library of another one."""
    text = subprocess.run(["readelf", "-VW", EXTENSION], capture_output=True, text=True, check=True).stdout
    assert f"TILEGPU_{tg.__version__}" in text


@pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists(), reason="no build/release to install from")
@pytest.mark.skipif("TILEGPU_SANITIZED" in os.environ, reason="the compiler is not to be run with the sanitizers' library")
def test_first_triangle_against_the_installed_tree(tmp_path: Path) -> None:
    prefix, build = tmp_path / "prefix", tmp_path / "build"

    def call(*command: str | Path) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    call("cmake", "--install", BUILD, "--component", "cpp", "--prefix", prefix)
    assert (prefix / "include" / "tilegpu" / "device.hpp").exists()
    assert not list(prefix.rglob("_core*"))
    assert list(prefix.rglob("THIRD_PARTY_NOTICES"))
    words = ("c++", "-std=c++20", "-fsyntax-only", "-x", "c++")
    compiler = subprocess.run([words[0], "--version"], capture_output=True, text=True, check=True).stdout
    headers = [p for p in (prefix / "include").rglob("*") if p.is_file()]
    with passed_before(told_apart_by([compiler, *words], headers, prefix)) as passed:
        for header in sorted((prefix / "include" / "tilegpu").glob("*.hpp")):  # each by itself
            if not passed:
                call(*words, f"-I{prefix / 'include'}", header)
    sample = REPOSITORY / "samples" / "cpp" / "first_triangle"
    flags = "-Wall -Wextra -Wno-missing-field-initializers -Werror"
    call("cmake", "-S", sample, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_FLAGS={flags}")
    call("cmake", "--build", build)
    picture = tmp_path / "triangle.ppm"
    call(build / "first_triangle", picture)

    head, pixels = picture.read_bytes().split(b"\n", 1)
    assert head == b"P6 512 512 255"
    source = (sample / "first_triangle.cpp").read_text()
    vertex, fragment = re.findall(r'R"\((.*?)\)"', source, re.DOTALL)
    vertices = np.array(
        [((0, -0.5), (1, 0, 0)), ((0.5, 0.5), (0, 1, 0)), ((-0.5, 0.5), (0, 0, 1))],
        dtype=[("position", "f4", 2), ("color", "f4", 3)],
    )
    device = tg.Device()
    samples = device.image((512, 512), "r8g8b8a8_srgb", samples=4, transient=True)
    out = device.image((512, 512), "r8g8b8a8_srgb")
    pipeline = device.pipeline(vertex, fragment, vertex=vertices.dtype, color=[samples.format], samples=4)
    attachment = tg.Attachment(samples, load_op="clear", clear=(0, 0, 0, 1), store_op="dont_care", resolve=out)
    with device.render_pass(color=[attachment]) as rp:
        rp.draw(pipeline, vertices)
    expected = out.numpy()[:, :, :3]
    assert (np.frombuffer(pixels, np.uint8).reshape(512, 512, 3) == expected).all()
    assert len(np.unique(expected.reshape(-1, 3), axis=0)) > 1000
