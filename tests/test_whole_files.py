"""What a user names is written whole or not at all: the old file stays, and the error is tilegpu's, with path and cause."""

from __future__ import annotations

import errno
import os
import pickle
import re
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.farm.encoding import BandWriter
from tilegpu.picture_file import SUFFIXES
from tilegpu.testing.pictures import write_file
from tilegpu.whole_file import whole_file, write_whole

PIXELS = np.random.default_rng(1).integers(0, 256, (64, 64, 4), np.uint8)
SCENE = """
import numpy as np
def draw(size=(64, 64), time=0.0):
    return np.random.default_rng(int(time * 30)).integers(0, 256, (size[1], size[0], 4), np.uint8)
"""


@contextmanager
def limited(most_B: int) -> Iterator[None]:
    """No file of this process grows beyond."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_B, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def image() -> tg.Image:
    return tg.Device(threads=1).texture(PIXELS, "r8g8b8a8_unorm").image


@pytest.fixture(scope="module")
def floats() -> tg.Image:
    return tg.Device(threads=1).texture(np.random.default_rng(1).random((64, 64, 4), np.float32), "r32g32b32a32_sfloat").image


def frame_of() -> tg.Frame:
    dev = tg.Device(threads=1)
    with dev.frame("f") as frame:
        dev.clear(dev.image((8, 8), "r8g8b8a8_unorm"), (1, 0, 0, 1))
    return frame


def there(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pictures_keep_the_old_file(suffix: str, tmp_path: Path, image: tg.Image, floats: tg.Image) -> None:
    if suffix == ".exr":
        pytest.importorskip("OpenEXR")
    one = floats if suffix == ".exr" else image
    path = tmp_path / f"x{suffix}"
    one.save(path)
    before = path.read_bytes()
    assert len(before) > 1024
    with limited(1024), pytest.raises(tg.WriteError, match=re.escape(f"can't write {path}: ")) as caught:
        one.save(path)
    assert path.read_bytes() == before and there(tmp_path) == [path.name]
    assert isinstance(caught.value, OSError) and "the file that was there is as it was" in str(caught.value)
    assert suffix == ".exr" or caught.value.errno == errno.EFBIG


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_said(suffix: str, tmp_path: Path, image: tg.Image, floats: tg.Image) -> None:
    if suffix == ".exr":
        pytest.importorskip("OpenEXR")
    path = tmp_path / f"x{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(tg.WriteError, match="the disk is full") as caught:
        (floats if suffix == ".exr" else image).save(path)
    assert caught.value.errno == errno.ENOSPC and path.is_symlink()


@pytest.mark.parametrize("size", [1, 8])
def test_small_exr_files_too(size: int, tmp_path: Path) -> None:
    """Which the library holds back until it closes the file, and then says nothing."""
    pytest.importorskip("OpenEXR")
    one = tg.Device(threads=1).texture(np.random.default_rng(1).random((size, size, 4), np.float32), "r32g32b32a32_sfloat").image
    with limited(64), pytest.raises(tg.WriteError):
        one.save(tmp_path / "x.exr")
    assert there(tmp_path) == []


WRITERS: dict[str, Callable[[Path], object]] = {
    "report.html": lambda path: frame_of().report(path),
    "text.json": lambda path: write_whole(path, "x" * 5000, "a test"),
    "golden.png": lambda path: write_file(path, b"x" * 5000),
    "capture.tgcap": lambda path: frame_of().capture(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_other_files_keep_the_old_one(name: str, tmp_path: Path) -> None:
    path, full = tmp_path / name, tmp_path / f"full{Path(name).suffix}"
    path.write_bytes(b"good")
    full.symlink_to("/dev/full")
    with pytest.raises(tg.Error, match=r"disk is full|took only a part"):
        WRITERS[name](full)
    if name != "report.html":  # which writes a capture of its own first
        with limited(128), pytest.raises(tg.Error, match=re.escape(name)):
            WRITERS[name](path)
    assert path.read_bytes() == b"good" and there(tmp_path) == sorted([name, full.name])
    WRITERS[name](path)
    assert path.stat().st_size > 128 and there(tmp_path) == sorted([name, full.name])


def test_captures_follow_no_links_of_others(tmp_path: Path) -> None:
    """Names on their way are random: nobody can lay a link there. A link of the user's own stays, and its file is replaced."""
    victim, path = tmp_path / "victim", tmp_path / "frame.tgcap"
    victim.write_bytes(b"precious")
    for name in (f"frame.tgcap.part{os.getpid()}", "frame.tgcap.tmp", "frame.tgcap.part"):
        (tmp_path / name).symlink_to(victim)
    frame_of().capture(path)
    assert victim.read_bytes() == b"precious" and path.stat().st_size > 128 and not path.is_symlink()
    path.chmod(0o640)
    (link := tmp_path / "latest.tgcap").symlink_to(path.name)
    before = path.stat().st_ino
    frame_of().capture(link)
    assert link.is_symlink() and path.stat().st_ino != before and stat.S_IMODE(path.stat().st_mode) == 0o640
    (lost := tmp_path / "lost.tgcap").symlink_to("nowhere.tgcap")
    with pytest.raises(tg.Error, match="it is a link to a file that is not there; remove the link"):
        frame_of().capture(lost)
    with pytest.raises(tg.Error, match="there is no folder"):
        frame_of().capture(tmp_path / "no" / "x.tgcap")


@pytest.mark.parametrize("suffix", [".png", ".npy"])
def test_pictures_of_tiles(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"good")
    with limited(1024), pytest.raises(tg.WriteError, match="can't write"), BandWriter(path, (64, 64), suffix) as out:
        out.write(PIXELS)
    assert path.read_bytes() == b"good" and there(tmp_path) == [path.name]


COMMANDS = {
    "x.png": ["{scene}", "--size", "64x64", "-o", "{path}"],
    "x.json": ["{scene}", "--size", "64x64", "-o", "{folder}/other.png", "--stats", "{path}"],
    "x.gif": ["{scene}", "--size", "64x64", "--frames", "3", "-o", "{path}"],
    "x.webp": ["{scene}", "--size", "64x64", "--frames", "3", "-o", "{path}"],
    "x.mp4": ["{scene}", "--size", "64x64", "--frames", "3", "-o", "{path}"],
    "x.manifest.json": ["{scene}", "--size", "64x64", "-o", "{folder}/other.png", "--executor", "threads", "--manifest", "{path}"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_keep_the_old_file(name: str, tmp_path: Path) -> None:
    if name == "x.mp4":
        pytest.importorskip("av")
    (scene := tmp_path / "scene.py").write_text(SCENE)
    (folder := tmp_path / "out").mkdir()
    path = folder / name
    words = ["render", *(word.format(scene=scene, path=path, folder=folder) for word in COMMANDS[name])]
    most_B = 16 if name.endswith(".json") else 1024
    run = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({most_B}, resource.RLIM_INFINITY))
from tilegpu.cli import main
sys.exit(main({words!r}))
"""
    path.write_bytes(b"" if "manifest" in name else b"good")
    if "manifest" in name:
        path.unlink()
    environment = {**os.environ, "TILEGPU_CACHE": "off", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode != 0 and "can't write" in done.stderr and "an error of tilegpu itself" not in done.stderr, done.stderr
    assert not any(entry.startswith(".tilegpu-") for entry in there(folder))
    if "manifest" not in name:
        assert path.read_bytes() == b"good"


def test_links_modes_and_masks_stay(tmp_path: Path, image: tg.Image) -> None:
    (real := tmp_path / "real.png").write_bytes(b"old")
    real.chmod(0o640)
    (link := tmp_path / "link.png").symlink_to(real)
    image.save(link)
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640 and real.read_bytes()[:4] == b"\x89PNG"
    before = os.umask(0o027)
    try:
        image.save(tmp_path / "new.png")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.png").stat().st_mode) == 0o640
    (dangling := tmp_path / "d.png").symlink_to(tmp_path / "made.png")
    image.save(dangling)
    assert dangling.is_symlink() and (tmp_path / "made.png").is_file()


def test_names_as_long_as_they_may_be(tmp_path: Path, image: tg.Image) -> None:
    path = tmp_path / ("x" * 251 + ".png")
    image.save(path)
    assert path.stat().st_size


def test_a_folder_that_takes_no_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of it that may be written to is written all the same, and gets its content back where that fails."""
    (path := tmp_path / "x.txt").write_bytes(b"good")
    opened = os.open

    def refuses(name: str, flags: int, *more: int) -> int:
        if flags & os.O_EXCL and str(name).startswith(str(tmp_path / ".tilegpu-")):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(name, flags, *more)

    monkeypatch.setattr(os, "open", refuses)
    write_whole(path, b"better", "a test")
    assert path.read_bytes() == b"better"
    with pytest.raises(tg.WriteError, match=r"can't write .*new\.txt: Permission denied"):
        write_whole(tmp_path / "new.txt", b"x", "a test")


def test_what_raises_leaves_nothing(tmp_path: Path) -> None:
    (path := tmp_path / "x.txt").write_bytes(b"good")
    with pytest.raises(KeyError), whole_file(path, "a test") as stream:
        stream.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"good" and there(tmp_path) == ["x.txt"]


def test_pipes_take_a_picture_if_somebody_reads(tmp_path: Path, image: tg.Image) -> None:
    os.mkfifo(path := tmp_path / "x.png")
    with pytest.raises(tg.WriteError, match="is a named pipe that nobody reads"):
        image.save(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    image.save(path)
    reader.join()
    image.save(tmp_path / "y.png")
    assert got == [(tmp_path / "y.png").read_bytes()] and stat.S_ISFIFO(path.stat().st_mode)


def test_what_is_printed_to_stays(tmp_path: Path) -> None:
    """``--report /dev/stdout > file``: the shell's file is written, and what is printed later comes into it too."""
    run = "from tilegpu.whole_file import write_whole as write; write('/dev/stdout', 'page', 'a test'); write('/dev/null', 'x', 'a test')"
    assert subprocess.run([sys.executable, "-c", run], capture_output=True, check=True).stdout == b"page"
    with (tmp_path / "out").open("wb") as out:
        number = out.fileno()
        subprocess.run([sys.executable, "-c", run], stdout=out, check=True)
        assert os.fstat(number).st_ino == (tmp_path / "out").stat().st_ino
    assert (tmp_path / "out").read_bytes() == b"page"


def test_the_error_goes_to_other_processes() -> None:
    error = tg.WriteError("a: can't write b: full", errno=errno.ENOSPC, path="b")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.errno, again.path, again.code) == (str(error), errno.ENOSPC, "b", "VK_ERROR_UNKNOWN")


def test_screenshots_have_a_format_of_pictures(tmp_path: Path) -> None:
    from tilegpu.viewer.window import save_picture

    save_picture(PIXELS[..., :3], tmp_path / "x.jpg")
    with pytest.raises(tg.ValidationError, match=r"\.npy is for numbers"):
        save_picture(PIXELS[..., :3], tmp_path / "x.npy")


def test_stats_go_where_they_are_asked_to(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "triangle", "--size", "32x32", "-o", str(tmp_path / "x.png"), "--stats", "/dev/stdout"]) == 0
    assert '"explain": ' in capfd.readouterr().out


def test_tempfile_is_imported_where_it_is_wanted() -> None:
    code = "import sys, numpy; had = set(sys.modules); import tilegpu; print(*sorted(set(sys.modules) - had))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"tempfile", "random", "shutil"} & set(done.stdout.split())
