"""Golden pictures that can't be: what is no picture, what is no golden, and settings of the environment under pytest."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu import testing
from tilegpu.testing import GoldenError, ImageMismatch, assert_image_equal, summary, take_pictures, write_report
from tilegpu.testing.golden import Picture

PICTURE = np.random.default_rng(1).integers(0, 255, (16, 16, 4), np.uint8)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def png(array: Any = PICTURE) -> bytes:
    out = io.BytesIO()
    Pillow.fromarray(array).save(out, "png")
    return out.getvalue()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TILEGPU_GOLDEN_OUTPUT", str(tmp_path / "out"))
    yield
    testing.take_pictures()


def test_several_pictures_and_samples_are_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    for image, one in (([PICTURE], r"is 1 picture: compare one, such as image\[0\]"), (np.stack([PICTURE] * 3), r"is 3 pictures: compare"),
                       (PICTURE[None, None], r"such as image\[0\]\[0\]")):  # fmt: skip
        with pytest.raises(GoldenError, match=rf"golden picture 'a.png': .*{one}.*; or name it 'a.npy'"):
            assert_image_equal(image, path)
    dev = tg.Device(threads=1)
    image = dev.image((8, 8), "r8g8b8a8_unorm", samples=4)
    dev.clear(image, (0, 0, 0, 1))
    for given in (image, image.view()):
        with pytest.raises(GoldenError, match=r"it has 4 samples a pixel: resolve it .*dev.resolve\), and compare that; or name it"):
            assert_image_equal(given, path)


WRONG: list[tuple[bytes, str]] = [
    (POINTER, "is a pointer of Git LFS in place of the file, which was not fetched; run git lfs pull"),
    (png()[:20], "begins as a PNG and is none that can be read; is it cut short, or damaged"),
    (png()[:200], "truncated|cut short"), (b"", "is empty"), (b"\xff\xd8\xff\xe0" + bytes(50), r"\(PNG\) but a JPEG"),
    (b"<html></html>", r"is no picture in a format that is read here \(PNG\)$"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "said"), WRONG, ids=[said[:20] for _, said in WRONG])
def test_files_that_are_no_pictures(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(GoldenError, match=rf"golden picture '.*a.png': .*({said})"):
        assert_image_equal(PICTURE, tmp_path / "a.png")
    if "PNG" not in said or "cut" in said:
        with pytest.raises(GoldenError, match=rf"a picture's file, '.*a.png': .*({said})"):
            assert_image_equal(tmp_path / "a.png", tmp_path / "b.png")


def test_pointers_of_git_lfs_in_place_of_other_files(tmp_path: Path) -> None:
    for name in ("a.npy", "a.glb", "a.obj", "a.gltf", "a.ply", "a.hdr"):
        (tmp_path / name).write_bytes(POINTER)
    with pytest.raises(GoldenError, match="run git lfs pull"):
        assert_image_equal(PICTURE, tmp_path / "a.npy")
    for name in ("a.glb", "a.obj", "a.gltf", "a.ply"):
        with pytest.raises(tg.Error, match="run git lfs pull"):
            tg.scene.find_scene(str(tmp_path / name))
    with pytest.raises(ValueError, match="run git lfs pull"):
        tg.scene.Environment.read(tmp_path / "a.hdr")


def test_damaged_goldens_are_told_by_name(tmp_path: Path) -> None:
    data, chance = bytearray(png()), np.random.default_rng(5)
    for _ in range(150):
        damaged = data.copy()
        damaged[int(chance.integers(8, len(data)))] ^= 1 << int(chance.integers(8))
        (tmp_path / "a.png").write_bytes(damaged[: int(chance.integers(30, len(data)))] if chance.integers(2) else damaged)
        with contextlib.suppress(GoldenError, ImageMismatch):
            assert_image_equal(PICTURE, tmp_path / "a.png")


def test_what_writes_a_golden_is_said_for_who_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImageMismatch, match="`pytest --tilegpu-update` writes it"):
        assert_image_equal(PICTURE, tmp_path / "none.png")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    with pytest.raises(ImageMismatch, match="TILEGPU_GOLDEN_UPDATE=1 in the environment writes it"):
        assert_image_equal(PICTURE, tmp_path / "none.png")
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "x (call)")


def test_reports_of_what_is_no_comparison(tmp_path: Path) -> None:
    right = Picture("a", "", "a.png", "equal")
    swapped = r"write_report: pictures is 'r.html'.*the path comes behind: write_report\(take_pictures\(\), path\)"
    with pytest.raises(GoldenError, match=swapped):
        write_report("r.html", [right])  # type: ignore[arg-type]
    for given in (take_pictures, None, 5, [None], "x", {"a": 1}, [PICTURE], [Picture("a", "", "a.png", "bogus")]):  # type: ignore[arg-type]
        for call in (summary, lambda pictures: write_report(pictures, tmp_path / "r.html")):
            with pytest.raises(GoldenError, match=r"pictures.* is .*it must be the comparisons of a run, such as take_pictures\(\)"):
                call(given)  # type: ignore[arg-type]
    for path in (None, 5, []):
        with pytest.raises(GoldenError, match=r"path is .*it must be a path, such as 'report.html'"):
            write_report([right], path)  # type: ignore[arg-type]
    (tmp_path / "text.png").write_text("no picture")
    gone = Picture("a", "", "a.png", "different", "m", {"actual": str(tmp_path / "text.png"), "expected": str(tmp_path / "none.png")})
    assert "<img" not in write_report(iter([gone]), tmp_path / "r.html").read_text()
    assert summary([right, gone]) == "1 different, 1 equal"


PROJECT = """import numpy as np
from tilegpu.testing import assert_image_equal
def test_a():
    assert_image_equal(np.full((4, 4), {value}, np.uint8), "a.png")
"""


def run_pytest(folder: Path, value: int, *words: str, **environment: str) -> tuple[int, str]:
    (folder / "test_one.py").write_text(PROJECT.format(value=value))
    package = str(Path(tg.__file__).parent.parent)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TILEGPU_GOLDEN", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_tilegpu", "-q", *words], cwd=folder, capture_output=True, text=True, check=False,
        env=clean | environment | {"PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_environment_says_where_goldens_are_under_pytest_too(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ntilegpu_golden = of_ini\n")
    here = {"TILEGPU_GOLDEN_FOLDER": "mine", "TILEGPU_GOLDEN_OUTPUT": "looked_at"}
    code, said = run_pytest(tmp_path, 1, "--tilegpu-update", **here)
    assert code == 0, said
    assert (tmp_path / "mine" / "a.png").is_file()
    assert not (tmp_path / "of_ini").exists()
    code, said = run_pytest(tmp_path, 2, **here)
    assert code == 1, said
    assert "is not the golden mine/a.png" in said
    assert (tmp_path / "looked_at" / "index.html").is_file()
    # What a pytest around this one set is no word of the user's.
    code, said = run_pytest(tmp_path, 2, "--tilegpu-update", **here, TILEGPU_GOLDEN_OWN="TILEGPU_GOLDEN_FOLDER TILEGPU_GOLDEN_OUTPUT")
    assert code == 0, said
    assert (tmp_path / "of_ini" / "a.png").is_file()
    (tmp_path / "file").write_text("")
    code, said = run_pytest(tmp_path, 2, TILEGPU_GOLDEN_OUTPUT="file")
    assert code == 4, said
    assert "TILEGPU_GOLDEN_OUTPUT file: " in said
