"""Paths that users give: the home folder, names that no file can have, captures that nothing was written to."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import farm, testing
from tilegpu.scene import find_scene

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
FORMAT = "r8g8b8a8_unorm"


def drawn(dev: tg.Device) -> tuple[tg.Image, Any]:
    """A white picture, and the pass that drew it."""
    image = dev.image((4, 4), FORMAT)
    with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 1))) as rp:
        rp.draw(dev.pipeline(FULL, WHITE, color=[FORMAT]), count=3)
    return image, rp


def test_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is called ~ was made in the current one, and nothing that lies in the home folder was found."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    dev = tg.Device(cache_dir="~/cache")
    assert dev.info["cache_dir"].startswith(str(home / "cache"))
    dev.capture("~/next.tgcap")
    image, rp = drawn(dev)
    for name in ("a.png", "a.npy"):
        image.save(f"~/{name}")
    rp.capture("~/pass.tgcap")
    (home / "inc").mkdir()
    (home / "inc" / "one.glsl").write_text("const float ONE = 1;\n")
    (home / "a.frag").write_text(
        f'{WHITE.splitlines()[0]}\n#include "one.glsl"\n' + "\n".join(WHITE.splitlines()[1:]).replace("(1)", "(ONE)")
    )
    pipe = dev.pipeline(FULL, "~/a.frag", color=[FORMAT], include=["~/inc"])
    assert str(home / "a.frag") in pipe.files
    with dev.frame() as frame:
        dev.clear(image, (1, 1, 1, 1))
    frame.capture("~/frame.tgcap")
    with dev.frame() as frame:
        drawn(dev)
    frame.report("~/frame.html", profiles=[])
    assert dev.texture("~/a.png").image.size == (4, 4)
    for name in ("next", "pass"):
        assert tg.capture_profile(f"~/{name}.tgcap") == "host"
        dev.load_capture(f"~/{name}.tgcap").run()
    made = {path.name for path in home.iterdir()}
    assert made >= {"cache", "next.tgcap", "a.png", "a.npy", "pass.tgcap", "frame.tgcap", "frame.html"}
    assert not list(here.iterdir())


NUL: list[Callable[[tg.Device, tg.Image, Any], Any]] = [
    lambda dev, image, rp: image.save("a\0b.png"),
    lambda dev, image, rp: rp.capture("a\0b.tgcap"),
    lambda dev, image, rp: dev.capture("a\0b.tgcap"),
    lambda dev, image, rp: dev.load_capture("a\0b.tgcap"),
    lambda dev, image, rp: tg.capture_profile("a\0b.tgcap"),
    lambda dev, image, rp: dev.texture("a\0b.png"),
    lambda dev, image, rp: dev.texture("a\0b.hdr"),
    lambda dev, image, rp: dev.pipeline("a\0b.vert", WHITE),
    lambda dev, image, rp: dev.pipeline(FULL, WHITE, include=["a\0b"]),
    lambda dev, image, rp: tg.Device(cache_dir="a\0b"),
]


@pytest.mark.parametrize("door", NUL)
def test_zero_bytes(
    door: Callable[[tg.Device, tg.Image, Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dev = tg.Device(cache_dir="off")
    with pytest.raises(tg.Error, match="zero byte"):
        door(dev, *drawn(dev))
    assert not list(tmp_path.iterdir())


def test_what_is_no_path() -> None:
    dev = tg.Device(cache_dir="off")
    for door in (dev.capture, dev.load_capture, tg.capture_profile):
        with pytest.raises(tg.ValidationError, match="path is None; it must be a path"):
            door(None)


def test_capture_of_a_pass_that_never_came(tmp_path: Path) -> None:
    path = tmp_path / "late.tgcap"
    dev = tg.Device(cache_dir="off")
    drawn(dev)
    dev.capture(path)
    with pytest.warns(
        tg.UnusedNameWarning, match=r"no pass ended after it, so .*late.tgcap was not written; call it before the pass"
    ) as told:
        del dev
        gc.collect()
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings(record=True) as said:  # an error would be nobody's, at the end of an object
        warnings.simplefilter("always")
        dev = tg.Device(cache_dir="off")
        dev.capture(path)
        drawn(dev)
        del dev
        gc.collect()
    assert not [one for one in said if one.category is tg.UnusedNameWarning]
    assert path.exists()


def test_capture_that_takes_the_place_of_another(tmp_path: Path) -> None:
    dev = tg.Device(cache_dir="off")
    dev.capture(tmp_path / "first.tgcap")
    with pytest.warns(
        tg.UnusedNameWarning, match=r"no pass ended since .*first.tgcap was asked for, which is not written"
    ):
        dev.capture(tmp_path / "second.tgcap")
    drawn(dev)
    assert np.array_equal([path.name for path in tmp_path.iterdir()], ["second.tgcap"])


def test_home_folder_of_scenes_farms_and_goldens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for what is read and written by other rooms than devices and images."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    (home / "own.py").write_text("import numpy as np\ndef draw():\n    return np.zeros((4, 4, 3), np.uint8)\n")
    job = farm.Job("~/own.py:draw")
    farm.render(job, "~/own.png", executor="threads", workers=1, manifest="~/own.json")
    assert farm.verify("~/own.json", scene="~/own.py:draw", executor="threads", workers=1).same
    assert find_scene("~/own.py").name == "draw"
    monkeypatch.setenv("TILEGPU_GOLDEN_UPDATE", "1")
    testing.assert_image_equal(np.zeros((4, 4, 3), np.uint8), "~/golden.png")
    monkeypatch.delenv("TILEGPU_GOLDEN_UPDATE")
    testing.assert_image_equal("~/golden.png", "~/golden.png")
    assert {path.name for path in home.iterdir()} >= {"own.png", "own.json", "golden.png"}
    assert not [path for path in here.rglob("*") if path.is_file() and "golden.png" not in path.name]
