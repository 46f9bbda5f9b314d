"""tilegpu.testing: golden pictures, by itself and as a plugin of a pytest of its own, as a project of somebody else has them."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg
from tilegpu import testing
from tilegpu.testing import GoldenError, ImageMismatch, assert_image_equal, difference_of
from tilegpu.testing.golden import Picture

RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TILEGPU_GOLDEN_OUTPUT", str(tmp_path / "out"))
    monkeypatch.delenv("TILEGPU_GOLDEN_UPDATE", raising=False)
    monkeypatch.delenv("TILEGPU_GOLDEN_KEEP", raising=False)
    yield
    testing.take_pictures()  # not of the session that runs this


def written(path: Path, picture: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILEGPU_GOLDEN_UPDATE", "1")
    assert_image_equal(picture, path)
    monkeypatch.delenv("TILEGPU_GOLDEN_UPDATE")
    return path


def array_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return RNG.standard_normal(shape).astype(kind)
    return RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)


KINDS = [
    ("a.png", "u1", (5, 7)), ("a.png", "u1", (5, 7, 1)), ("a.png", "u1", (5, 7, 2)), ("a.png", "u1", (5, 7, 3)), ("a.png", "u1", (5, 7, 4)),
    ("a.png", "u2", (5, 7)), ("a.png", "u2", (5, 7, 1)), ("a.npy", "f4", (5, 7, 4)), ("a.npy", "f2", (5, 7)), ("a.npy", "u4", (5, 7, 2)),
    ("a.npy", "i8", (5, 7)), ("a.npy", "u8", (5, 7)), ("a.npy", "u2", (5, 7, 4)), ("a.npy", "u1", (3, 5, 7, 4)), ("a.npy", "f8", (5, 7)),
]  # fmt: skip


@pytest.mark.parametrize("name, dtype, shape", KINDS)
def test_what_was_written_is_equal_and_one_bit_is_not(
    name: str, dtype: str, shape: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = array_of(dtype, shape)
    golden = written(tmp_path / name, picture, monkeypatch)
    before = golden.read_bytes()
    assert_image_equal(picture, golden)
    other = picture.copy()
    other.view(np.uint8).reshape(-1)[-picture.itemsize] ^= 1  # of the last value the last bit
    with pytest.raises(ImageMismatch, match=r"1 of \d+ pixels") as caught:
        assert_image_equal(other, golden)
    assert caught.value.picture.status == "different" and golden.read_bytes() == before
    for kind, file in caught.value.picture.files.items():
        if kind != "side_by_side":
            assert Pillow.open(file).size == (shape[1], shape[0])


def test_the_message_says_number_size_and_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.zeros((64, 100, 4), np.uint8)
    golden = written(tmp_path / "a.png", picture, monkeypatch)
    picture[10:12, 20:23] = (0, 13, 0, 0)
    picture[11, 22] = (0, 0, 200, 0)
    with pytest.raises(ImageMismatch) as caught:
        assert_image_equal(picture, golden)
    said = str(caught.value)
    assert "6 of 6,400 pixels (0.0938 %) differ, the largest by 200 of 255, in columns 20 to 22, rows 10 to 11" in said
    assert "first at x 20, y 10: expected (0, 0, 0, 0), is (0, 13, 0, 0)" in said
    assert set(caught.value.picture.files) == {"side_by_side", "expected", "actual", "difference"}
    marked = np.asarray(Pillow.open(caught.value.picture.files["difference"]))
    assert (marked[11, 22] == (255, 220, 40)).all()  # the most
    assert (marked[10, 20] > (160, 0, 0)).any() and marked[10, 20, 1] < 60 and not marked[0, 0].any()
    assert_image_equal(picture, golden, tolerance=13, differing_px=1)
    assert_image_equal(picture, golden, tolerance=200)
    for limits in ({"tolerance": 12}, {"tolerance": 13}, {"differing_px": 5}):
        with pytest.raises(ImageMismatch, match="pixels"):
            assert_image_equal(picture, golden, **limits)  # type: ignore[arg-type]


def test_exact_means_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.array([[0.0, np.nan], [np.inf, 1.0]], np.float32)
    golden = written(tmp_path / "a.npy", picture, monkeypatch)
    assert_image_equal(picture, golden)
    for y, x, value in ((0, 0, -0.0), (0, 1, 1.0), (1, 0, -np.inf), (1, 1, np.nextafter(np.float32(1), np.float32(2)))):
        other = picture.copy()
        other[y, x] = value
        with pytest.raises(ImageMismatch, match=f"1 of 4 pixels.*first at x {x}, y {y}".replace(".*", r"[\s\S]*")):
            assert_image_equal(other, golden)
    assert_image_equal(np.array([[-0.0, np.nan], [np.inf, 1.0]], np.float32), golden, tolerance=1e-6)
    with pytest.raises(ImageMismatch):
        assert_image_equal(np.array([[0.0, 5.0], [np.inf, 1.0]], np.float32), golden, tolerance=1e6)


def test_figures_of_random_pictures() -> None:
    """Against the words of the document, pixel by pixel."""
    for dtype in ("u1", "u2", "i4", "u8", "i8", "f4"):
        a = array_of(dtype, (6, 9, 3))
        b = np.where(RNG.random(a.shape) < 0.2, array_of(dtype, a.shape), a).astype(a.dtype)
        number = float if a.dtype.kind == "f" else int
        values = zip(a.reshape(-1, 3), b.reshape(-1, 3), strict=True)
        by_pixel = [max(abs(number(p) - number(q)) for p, q in zip(*texels, strict=True)) for texels in values]
        far = np.array(by_pixel, np.float64).reshape(6, 9)
        for tolerance in (0, float(np.median(far)), 40):
            found = difference_of(a, b, tolerance)
            assert found.differing_px == (far > tolerance).sum() and found.largest == far.max() and found.pixels == 54
            if found.differing_px:
                rows, columns = np.nonzero(far > tolerance)
                assert found.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)


def test_what_is_no_picture_or_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.zeros((4, 4, 4), np.uint8)
    golden = written(tmp_path / "a.png", picture, monkeypatch)
    for wrong in (np.zeros(4, np.uint8), np.zeros((0, 4), np.uint8), "picture", np.zeros((4, 4), object), np.zeros((4, 4), complex)):
        with pytest.raises(TypeError, match=r"a picture(.s file| of| has)"):
            assert_image_equal(wrong, golden)
    for shape in ((4, 5, 4), (4, 4, 3), (4, 4)):
        with pytest.raises(ImageMismatch, match=re.escape(f"it is uint8 {shape}, the golden uint8 (4, 4, 4)")):
            assert_image_equal(np.zeros(shape, np.uint8), golden)
    with pytest.raises(ValueError, match=r"name it 'a\.npy'"):
        assert_image_equal(np.zeros((4, 4, 4), np.float32), golden)
    with pytest.raises(ValueError, match=r"ends in \.png or \.npy"):
        assert_image_equal(picture, tmp_path / "a.jpg")
    golden.write_bytes(b"no picture")
    with pytest.raises(ValueError, match="golden picture"):
        assert_image_equal(picture, golden)
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
    with pytest.raises(ValueError, match=r"b\.npy"):
        assert_image_equal(picture, tmp_path / "b.npy")
    for limits in ({"tolerance": -1}, {"tolerance": float("nan")}, {"differing_px": -1}, {"perceptual": 2}):
        with pytest.raises(ValueError, match=r"0 or more|0 to 1"):
            assert_image_equal(picture, golden, **limits)  # type: ignore[arg-type]


def test_perceptual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flip_evaluator")
    y, x = np.mgrid[0:64, 0:64]
    picture = np.dstack([x * 4, y * 4, (x ^ y) * 4, np.full_like(x, 255)]).astype(np.uint8)
    golden = written(tmp_path / "a.png", picture, monkeypatch)
    near, far = picture.copy(), picture.copy()
    near[..., 0] ^= 1
    far[16:48, 16:48, :3] = 255 - far[16:48, 16:48, :3]
    assert_image_equal(near, golden, perceptual=0.05)
    with pytest.raises(ImageMismatch, match=r"FLIP has a mean of 0\.\d+, allowed is 0\.05"):
        assert_image_equal(far, golden, perceptual=0.05)
    with pytest.raises(ImageMismatch, match="pixels"):
        assert_image_equal(near, golden, perceptual=0.05, differing_px=1)
    assert_image_equal(picture.astype(np.float32)[..., 0] / 1024, written(tmp_path / "f.npy", picture.astype(np.float32)[..., 0] / 1024, monkeypatch), perceptual=0)  # fmt: skip  # noqa: E501


def test_images_of_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dev = tg.Device()
    for fmt, name in (("r8g8b8a8_srgb", "c.png"), ("r16_unorm", "r.png"), ("r16g16b16a16_sfloat", "h.npy"), ("d32_sfloat", "d.npy")):
        image = dev.image((9, 5), fmt)
        dev.clear(image, **({"depth": 0.25} if fmt[0] == "d" else {"color": (0.25, 0.5, 0.75, 1)}))
        golden = written(tmp_path / name, image, monkeypatch)
        assert_image_equal(image, golden)


PROJECT = """
import numpy as np, pytest
from tilegpu.testing import assert_image_equal

def ramp(value):
    picture = np.zeros((16, 16, 4), np.uint8); picture[..., 0] = np.arange(16); picture[3, 5] = value; return picture

def test_named(): assert_image_equal(ramp(VALUE), "ramp.png")
@pytest.mark.parametrize("k", [1, 2])
def test_by_its_own_name(k): assert_image_equal(ramp(k))
def test_of_floats(): assert_image_equal(ramp(3).astype(np.float32), "ramp.npy")
"""


NAMES = """
import numpy as np, pytest
from tilegpu.testing import assert_image_equal

def flat(value): return np.full((8, 8), value, np.uint8)

ODD = ["a/b", "c/b", "a b", "a:b", "a::b", "é", "x" * 300, "x" * 301, "1", ""]
@pytest.mark.parametrize("k", range(len(ODD)), ids=ODD)
def test_p(k): assert_image_equal(flat(k))
def test_p_1(): assert_image_equal(flat(20))
class TestC:
    @pytest.mark.parametrize("k", [30, 31], ids=["a b", "a_b"])
    def test_p(self, k): assert_image_equal(flat(k))
def test_several():
    for k in range(40, 43): assert_image_equal(flat(k))
    assert_image_equal(flat(50), "sub/named.png")
@pytest.mark.parametrize("threads", [1, 2])
def test_one_picture_of_two(threads): assert_image_equal(flat(60), "shared.png")
"""

TWICE = """
import numpy as np, pytest
from tilegpu.testing import assert_image_equal

def flat(value): return np.full((8, 8), value, np.uint8)

def test_one(): assert_image_equal(flat(1), "same.png")
def test_two(): assert_image_equal(flat(2), "sub/../same.png")
"""


def project(folder: Path, *words: str, value: int = 9) -> tuple[int, str]:
    """pytest on somebody's project; its exit code and what it said."""
    tests = folder / "checks" / "deep"
    tests.mkdir(parents=True, exist_ok=True)
    (tests / "test_ramp.py").write_text(PROJECT.replace("VALUE", str(value)))
    return run_pytest(folder, *words)


def run_pytest(folder: Path, *words: str) -> tuple[int, str]:
    """pytest in a folder that knows nothing of this project's settings."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "temporary").mkdir(exist_ok=True)
    package = str(Path(tg.__file__).parent.parent)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TILEGPU_GOLDEN", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_tilegpu", "-q", *words],
        cwd=folder,
        env=clean | {"TMPDIR": str(folder / "temporary"), "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_project_from_its_first_run_to_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = project(tmp_path)
    assert code == 1 and "4 without a golden" in said and "`pytest --tilegpu-update` writes it: look at it, commit it" in said, said
    code, said = project(tmp_path, "--tilegpu-update")
    assert code == 0 and "4 written" in said, said
    golden = tmp_path / "checks" / "deep" / "golden"
    names = ["ramp.npy", "ramp.png", "test_ramp.test_by_its_own_name-1.png", "test_ramp.test_by_its_own_name-2.png"]
    assert sorted(p.name for p in golden.iterdir()) == names
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in golden.iterdir()}
    code, said = project(tmp_path, "--tilegpu-update")
    assert code == 0 and "4 equal" in said and "look at" not in said, said
    assert before == {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in golden.iterdir()}
    assert not (tmp_path / "tilegpu-pictures").exists()

    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "tilegpu-pictures").mkdir()
    (tmp_path / "tilegpu-pictures" / "mine.png").write_bytes(b"")  # nobody else's file goes
    code, said = project(tmp_path, value=7)
    assert code == 1 and "1 different, 3 equal" in said, said
    assert "E   tilegpu.testing.ImageMismatch: 1 of 256 pixels (0.391 %) differ, the largest by" in said  # not the module within
    assert ": picture 'ramp.png' is not the golden checks/deep/golden/ramp.png\n" in said
    assert re.search(r"^FAILED \S+ - tilegpu\.testing\.ImageMismatch: 1 of 256 pix", said, re.MULTILINE), said
    assert "keywords.py" not in said and "golden.py" not in said  # the test's own lines, and no frame between
    page = (tmp_path / "tilegpu-pictures" / "index.html").read_text()
    assert page.count("<article") == 4 and page.count('class="different failed"') == 1
    assert len(re.findall('src="data:image/png;base64,', page)) == 3 and "http" not in page.replace("http-equiv", "")
    kept = {p.name for p in (tmp_path / "tilegpu-pictures").rglob("*.png")}
    assert kept == {"mine.png"} | {f"ramp.png.{kind}.png" for kind in ("side_by_side", "expected", "actual", "difference")}

    code, said = project(tmp_path, "--tilegpu-report", "all.html", "--tilegpu-output", "elsewhere")
    page = (tmp_path / "all.html").read_text()
    assert code == 0 and page.count("<article") == 4 and page.count("data:image/png") == 4
    code, said = project(tmp_path, "--tilegpu-update", value=7)
    assert code == 0 and "1 replaced, 3 equal" in said, said
    assert project(tmp_path, value=7)[0] == 0
    for words, wrong in ((("--tilegpu-report", "all.html/page.html"), "all.html is no folder"), (("--tilegpu-report", "golden"), ""),
                         (("--tilegpu-output", "all.html"), "all.html is no folder"),
                         (("--tilegpu-report", "checks"), "checks is a folder; name a file in it")):  # fmt: skip
        code, said = project(tmp_path, *words)
        assert (code == 4 and f"{words[0]} {words[1]}: " in said and wrong in said and "passed" not in said) == bool(wrong), said


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_every_picture_without_a_name_has_its_own(tmp_path: Path, words: tuple[str, ...]) -> None:
    if words:
        pytest.importorskip("xdist")
    (tmp_path / "test_n.py").write_text(NAMES)
    code, said = run_pytest(tmp_path, "--tilegpu-update", *words)
    assert code == 0 and "18 written" in said, said
    golden = tmp_path / "golden"
    values = {p.relative_to(golden).as_posix(): int(np.asarray(Pillow.open(p))[0, 0]) for p in golden.rglob("*.png")}
    assert sorted(values.values()) == [*range(10), 20, 30, 31, 40, 41, 42, 50, 60]
    plain = {"test_n.test_p-1.png": 8, "test_n.test_p-.png": 9, "test_n.test_p_1.png": 20, "test_n.TestC.test_p-a_b.png": 31}
    plain |= {"test_n.test_several.png": 40, "test_n.test_several.2.png": 41, "test_n.test_several.3.png": 42, "sub/named.png": 50}
    assert values.items() >= plain.items()
    assert {v for k, v in values.items() if re.fullmatch(r"test_n\.test_p-a_b-[0-9a-f]{8}\.png", k)} == {0, 2, 3}
    code, said = run_pytest(tmp_path, "--tilegpu-report", "all.html", *words)
    assert code == 0 and "19 equal" in said, said
    shown = {int(np.asarray(Pillow.open(p))[0, 0, 0]) for p in (tmp_path / "tilegpu-pictures").rglob("*.actual.png")}
    assert shown == set(values.values()) and "sub/named.png" in (tmp_path / "all.html").read_text()


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_two_pictures_of_one_name_are_an_error_that_names_both(tmp_path: Path, words: tuple[str, ...]) -> None:
    if words:
        pytest.importorskip("xdist")
    (tmp_path / "test_t.py").write_text(TWICE)
    golden = tmp_path / "golden" / "same.png"
    for before in (None, 1, 7):  # no golden, that of one of them, another
        if before is not None:
            Pillow.fromarray(np.full((8, 8), before, np.uint8)).save(golden)
        code, said = run_pytest(tmp_path, "--tilegpu-update", *words)
        assert code == 1 and "1 failed, 1 passed" in said and "give each a name of its own" in said, said
        assert "test_t.py::test_one (test_t.py, line 7)" in said and "test_t.py::test_two (test_t.py, line 8)" in said
        assert np.asarray(Pillow.open(golden))[0, 0] == (2 if "it is that of test_t.py::test_two" in said else 1)
    assert not list((tmp_path / "temporary").glob("tilegpu*"))  # each run takes its notes away


def test_a_test_that_is_run_again_has_the_same_names(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    for _ in range(2): reports = runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "    for report in reports: item.ihook.pytest_runtest_logreport(report=report)\n"
        "    return True\n"
    )
    test = "def test_a():\n    for k in (1, 2): assert_image_equal(np.full((4, 4), k, np.uint8))\n"
    (tmp_path / "test_a.py").write_text(f"import numpy as np\nfrom tilegpu.testing import *\n{test}")
    code, said = run_pytest(tmp_path, "--tilegpu-update")
    assert code == 0 and "2 equal" in said, said
    assert {p.name for p in (tmp_path / "golden").iterdir()} == {"test_a.test_a.png", "test_a.test_a.2.png"}


def test_names_stay_in_their_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGPU_GOLDEN_UPDATE", "1")
    for name in ("../x.png", "a/../../x.png", ".."):
        with pytest.raises(ValueError, match=re.escape(f"golden picture '{name}': the name leads out of the folder of golden pictures")):
            assert_image_equal(np.zeros((2, 2), np.uint8), name)


def test_the_document_as_written(tmp_path: Path) -> None:
    text = (Path(__file__).parent.parent / "docs" / "golden-tests.md").read_text()
    found = re.search(r"```python\n# tests/test_triangle.py\n(.*?)```", text, re.DOTALL)
    assert found
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_triangle.py").write_text(found.group(1))
    assert [run_pytest(tmp_path, *words)[0] for words in ((), ("--tilegpu-update",), ())] == [1, 0, 0]
    assert np.asarray(Pillow.open(tmp_path / "tests" / "golden" / "triangle.png")).std() > 50
    assert set(re.findall(r"`(--tilegpu-\w+)", text)) == set(re.findall(r"--tilegpu-\w+", run_pytest(tmp_path, "--help")[1]))


def sizes_in_browser(page: Path, width_px: int, name: str) -> list[tuple[int, int]]:
    """Width and height, in CSS pixels, of each picture of an article as Chromium lays it out."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="make test-docs installs playwright")
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": width_px, "height": 900})
        tab.goto(page.as_uri())
        boxes = [img.bounding_box() for img in tab.locator("article.failed", has_text=name).locator("img").all()]
        browser.close()
    return [(round(box["width"]), round(box["height"])) for box in boxes if box is not None]


def test_the_page_shows_pictures_of_one_size_in_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(name: str, expected: tuple[int, int], actual: tuple[int, int]) -> None:
        golden = written(tmp_path / name, np.zeros(expected, np.uint8), monkeypatch)
        with pytest.raises(ImageMismatch):
            assert_image_equal(np.full(actual, 200, np.uint8), golden)

    failed("small.png", (64, 64), (64, 64))
    failed("wide.png", (20, 100), (20, 100))
    failed("large.png", (300, 500), (300, 500))
    failed("other.png", (64, 64), (32, 64))
    page = testing.write_report(testing.take_pictures(), tmp_path / "page.html")
    text = page.read_text()
    sizes = {}
    for name in ("small", "wide", "large", "other"):
        article = text.partition(f"<h2>{name}.png")[2].partition("</article>")[0]
        sizes[name] = re.findall(r'width="(\d+)" height="(\d+)"', article)
    assert sizes["small"] == [("256", "256")] * 3 and sizes["wide"] == [("200", "40")] * 3 and sizes["large"] == [("500", "300")] * 3
    assert sizes["other"] == [("256", "256"), ("256", "128")]
    assert sizes_in_browser(page, 1280, "small.png") == [(256, 256)] * 3
    assert len(set(sizes_in_browser(page, 700, "small.png"))) == 1
    narrow = sizes_in_browser(page, 420, "large.png")
    assert len(narrow) == 3 and len(set(narrow)) == 1 and abs(narrow[0][0] * 0.6 - narrow[0][1]) < 2 and narrow[0][0] < 420


def test_processes_of_xdist(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    project(tmp_path, "--tilegpu-update", "-n", "2")
    code, said = project(tmp_path, "-n", "2", value=7)
    assert code == 1 and "1 different, 3 equal" in said, said


def test_without_pytest(tmp_path: Path) -> None:
    script = tmp_path / "look.py"
    script.write_text("import numpy as np\nfrom tilegpu.testing import *\nassert_image_equal(np.zeros((2, 2), np.uint8), 'a.png')\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TILEGPU_GOLDEN", "PYTEST_"))}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(tg.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, script], cwd=tmp_path, env=environment | more, capture_output=True, text=True, check=False)

    assert "there is no golden golden/a.png yet" in run().stderr
    assert run(TILEGPU_GOLDEN_UPDATE="1").returncode == 0 and (tmp_path / "golden" / "a.png").exists()
    assert run().returncode == 0
    twice = "for k in (1, 2):\n  assert_image_equal(np.full((2, 2), k, np.uint8), 'b.png')\n"
    script.write_text(script.read_text() + twice)
    said = run(TILEGPU_GOLDEN_UPDATE="1").stderr
    assert "it is that of look.py, line 5,\n  not that of look.py, line 5; give each a name of its own" in said
    assert "tilegpu.testing.ImageMismatch: 4 of 4 pixels (100 %) differ" in said


def test_the_plugin_does_not_load_tilegpu_by_itself(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import sys\ndef test(): assert 'tilegpu' not in sys.modules\n")
    words = [sys.executable, "-m", "pytest", "-p", "pytest_tilegpu", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(Path(tg.__file__).parent.parent)}
    done = subprocess.run([*words, "test_a.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_mismatch_arrives_from_another_process() -> None:
    picture = Picture("a.png", "", "golden/a.png", "different", "it differs", {"actual": "x.png"})
    made = pickle.loads(pickle.dumps(ImageMismatch("a.png is another one", picture)))
    assert type(made) is ImageMismatch and str(made) == "a.png is another one" and made.picture == picture


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a: difference_of(a, a, tolerance=None), "tolerance is None; it must be a number"),  # type: ignore[arg-type]
        (lambda a: difference_of(a, a, tolerance=-1), "tolerance is -1; it must be 0 or more"),
        (lambda a: difference_of(a, a, tolerance=float("nan")), "tolerance is nan; it must be 0 or more"),
        (lambda a: difference_of("a.png", a), "a picture's file, 'a.png': No such file or directory"),  # type: ignore[arg-type]
        (lambda a: difference_of(np.array([["x"]]), a), "it must be numbers"),
        (lambda a: difference_of(a[0, 0], a[0, 0]), "shape \\(height, width\\)"),
        (lambda a: assert_image_equal(np.ma.masked_array(a, mask=a == 0), "x.png"), "masked array"),
        (lambda a: assert_image_equal(object(), "x.png"), "a picture is <object object"),
        (lambda a: assert_image_equal(a, "x.png", perceptual=1.5), "perceptual is 1.5; it must be 0 or more, and at most 1"),
        (lambda a: assert_image_equal(a, "x.png", differing_px=None), "differing_px is None; it must be a number"),  # type: ignore[arg-type]
    ],
)
def test_arguments_that_make_no_sense(call: Callable[[np.ndarray[Any, Any]], object], said: str) -> None:
    with pytest.raises(GoldenError, match=said):
        call(np.zeros((2, 2, 4), np.uint8))


def test_an_environment_that_says_neither_yes_nor_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGPU_GOLDEN_UPDATE", "maybe")
    with pytest.raises(GoldenError, match="TILEGPU_GOLDEN_UPDATE is 'maybe'"):
        assert_image_equal(np.zeros((2, 2, 4), np.uint8), "x.png")


def layered(dev: tg.Device, **shape: object) -> tg.Image:
    image = dev.image((4, 4) if "size" not in shape else shape.pop("size"), "r8g8b8a8_unorm", label="i", **shape)  # type: ignore[arg-type]
    dev.clear(image, (1, 0, 0, 1))
    return image


def test_what_is_not_compared_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dev = tg.Device(threads=1)
    whole = layered(dev)
    golden = written(tmp_path / "a.png", whole.numpy(), monkeypatch)
    for image, says in (
        (layered(dev, layers=3), "image 'i' has 3 layers, and the first alone is looked at"),
        (layered(dev, layers=6, cube=True), "has 6 layers"),
        (layered(dev, size=(4, 4, 2)), "has 2 slices"),
    ):
        with pytest.warns(tg.UnusedNameWarning, match=says) as caught:
            assert_image_equal(image, golden)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_image_equal(image.numpy(), golden)
            assert_image_equal(image.numpy(layer=1), golden)
    both = dev.image((4, 4), "d24_unorm_s8_uint", label="both")
    dev.clear(both, depth=0.5, stencil=0)
    golden = written(tmp_path / "depth.npy", both.numpy(), monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_image_equal(both, golden)  # nobody uses its stencil
        assert_image_equal(layered(dev, mip_levels=None), tmp_path / "a.png")  # smaller levels are of the first
    dev.clear(both, depth=0.5, stencil=3)
    with pytest.warns(tg.UnusedNameWarning, match="'both' has stencil, and depth alone is looked at"):
        assert_image_equal(both, golden)


def test_a_picture_may_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.arange(4 * 4 * 3, dtype=np.uint8).reshape(4, 4, 3)
    golden = written(tmp_path / "golden.png", picture, monkeypatch)
    shot = tmp_path / "shot.png"
    Pillow.fromarray(picture).save(shot)
    assert_image_equal(shot, golden)
    assert_image_equal(str(shot), golden)
    Pillow.fromarray(picture).quantize(64).save(tmp_path / "palette.png")
    assert_image_equal(tmp_path / "palette.png", golden)
    Pillow.fromarray(255 - picture).save(shot)
    with pytest.raises(ImageMismatch, match="16 of 16 pixels"):
        assert_image_equal(shot, golden)
    floats = written(tmp_path / "floats.npy", np.ones((2, 2), np.float32), monkeypatch)
    np.save(tmp_path / "shot.npy", np.ones((2, 2), np.float32))
    assert_image_equal(tmp_path / "shot.npy", floats)
    for name, says in (("nothing.png", "No such file"), ("text.png", "is no picture")):
        if name == "text.png":
            (tmp_path / name).write_text("x")
        with pytest.raises(GoldenError, match=f"a picture's file, '.*{name}': .*{says}"):
            assert_image_equal(tmp_path / name, golden)


def test_numbers_that_are_bytes_may_be_named_so(tmp_path: Path) -> None:
    for picture in (np.full((2, 2, 3), 200), np.zeros((2, 2), np.int32)):
        with pytest.raises(GoldenError, match=r"its numbers are 0 to 255: give it as \.astype\(np\.uint8\), or name it 'x\.npy'"):
            assert_image_equal(picture, tmp_path / "x.png")
    for picture in (np.full((2, 2, 3), 256), np.full((2, 2), -1), np.zeros((2, 2, 5), np.int64), np.zeros((2, 2))):
        with pytest.raises(GoldenError, match=r"; name it 'x\.npy'"):
            assert_image_equal(picture, tmp_path / "x.png")


def test_a_view_is_the_picture_that_it_shows() -> None:
    dev = tg.Device(threads=1)
    image = dev.image((4, 2), "r8_unorm", layers=2, mip_levels=2, label="a")
    for level in range(2):
        for layer in range(2):
            dev.clear(image, (0.2 * (1 + level + 2 * layer), 0, 0, 0), level=level, levels=1, layer=layer, layers=1)
    for level in range(2):
        for layer in range(2):
            view = image.view("2d", level=level, levels=1, layer=layer, layers=1)
            assert difference_of(view, image.numpy(level, layer)).differing_px == 0
    both = dev.image((4, 2), "d32_sfloat_s8_uint")
    dev.clear(both, depth=0.25, stencil=7)
    assert np.asarray(both.view(aspect="stencil")).tolist() == [[[7]] * 4] * 2
    assert difference_of(both.view(aspect="stencil"), both.numpy(aspect="stencil")).differing_px == 0
    with pytest.raises(GoldenError, match="shows 2 level"):
        difference_of(image.view(), image.view())
    for wrong, text in ((both.view(aspect="depth", swizzle="rrr1"), "swizzle 'rrr1'"), (
        dev.image((4, 2), "r32_sfloat").view(format="r32_uint"), "format r32_uint")):  # fmt: skip
        with pytest.raises(GoldenError, match=f"has {text}, and the image's pixels are of"):
            difference_of(wrong, wrong)
