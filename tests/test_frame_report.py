"""The report of a frame: one page that needs nothing else, what it says, and that it is true; opened in Chromium where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sanitized import ENVIRONMENT

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.scene import SceneRenderer, scenes

VOID = {"meta", "img", "br", "line", "circle", "path", "rect", "image"}
PROFILE = "immortalis-g925"
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
TENTH = """#version 450
layout(location = 0) out vec4 o;
void main() { o = vec4(0.1); }"""


class Balanced(HTMLParser):
    """Raises where a tag is closed that is not open; notes what is drawn from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, f"{tag} at {self.getpos()}"


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture(scope="module")
def drawn() -> tuple[SceneRenderer, tg.Frame]:
    renderer = SceneRenderer(tg.Device(PROFILE))
    with renderer.device.frame("whole <frame>") as f:
        renderer.render(scenes()["mobile_frame"].frame((240, 136)))
    return renderer, f


@pytest.fixture(scope="module")
def page(drawn: tuple[SceneRenderer, tg.Frame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "out.html"
    drawn[1].report(path)
    return path


def test_one_file_that_needs_nothing_else(page: Path) -> None:
    text = page.read_text()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert [r[:40] for r in parser.references if not r.startswith(("data:image/png;base64,", "#"))] == []
    anchors = set(re.findall(r' id="([^"]+)"', text))
    assert {r[1:] for r in parser.references if r.startswith("#")} <= anchors
    assert "whole &lt;frame&gt;" in text and "whole <frame>" not in text
    assert len(text) < 500_000


def test_what_it_says_is_what_the_passes_say(page: Path, drawn: tuple[SceneRenderer, tg.Frame]) -> None:
    f, text = drawn[1], page.read_text()
    data = data_of(text)
    assert [p["profile"] for p in data["profiles"]] == [PROFILE, *(n for n in tg.profile_names() if n != PROFILE)]
    assert data["profiles"][0]["moved_B"] == f.stats.moved_B
    own = data["profiles"][0]["passes"]
    assert own == [{k: dict(v) for k, v in p.traffic.items()} for p in f.stats.passes]
    flows = {(e["source"], e["target"], e["thing"], e["read"]) for e in data["edges"] if e["source"] >= 0}
    assert {
        (0, 1, "shadow map", "sampled"),
        (1, 9, "lit", "sampled"),
        (2, 8, "glow 1/2", "load"),
    } <= flows
    assert text.count("<details id=") == 10 and "in the tile only: albedo, normal, depth" in text
    shaded = drawn[1].stats.fragments_shaded
    assert f"{shaded:,}" in text
    for name in ("pre pass: draws", "low-resolution Z: draws", "killed by the pre-pass"):
        assert name in text
    assert "Cycles of each step" in text and text.count(" more</td>") >= 3, "Adreno's many sizes of tiles are cut short"
    assert "splits" not in re.sub(r"<script.*", "", text), "rows that nobody has anything in are left out"
    assert "late killed</th>" not in text and "off for all draws" in text


def test_findings_are_in_it_with_bytes(tmp_path: Path) -> None:
    dev = tg.Device(PROFILE)
    pipe = dev.pipeline(FULL, TENTH, color=["r8g8b8a8_unorm"], samples=4)
    many, out = (
        dev.image((64, 64), "r8g8b8a8_unorm", samples=4, label="many"),
        dev.image((64, 64), "r8g8b8a8_unorm", label="out"),
    )
    with dev.frame("careless", outputs=out) as f:
        for load in ({"clear": (0, 0, 0, 1)}, {"load_op": "load"}):
            with dev.render_pass(color=[tg.Attachment(many, **load)], label="p") as rp:
                rp.draw(pipe, count=3)
        dev.resolve(many, out)
    f.report(tmp_path / "r.html", profiles=["host"])
    text = (tmp_path / "r.html").read_text()
    data = data_of(text)
    assert [x["saves_B"] for x in data["lint"]] == [x.saves_B for x in f.lint()] == [2 * 64 * 64 * 16] * 2
    assert ("128 KiB" in text and "resolves them by a command" in text and "100%" in text) or "67%" in text
    assert [p["profile"] for p in data["profiles"]] == [PROFILE, "host"]


@pytest.mark.parametrize(("profile", "how"), [("desktop-immediate", {}), ("adreno-a650", {"render_mode": "sysmem"}), ("adreno-a650", {})])
def test_without_tiles_the_page_says_nothing_of_tiles(profile: str, how: dict[str, Any], tmp_path: Path) -> None:
    """As the device rendered it; what GPUs with tiles would save stands with those."""
    dev = tg.Device(profile, **how)
    many = dev.image((64, 64), "r8g8b8a8_unorm", samples=4, label="many")
    depth = dev.image((64, 64), "d32_sfloat", samples=4, transient=True, label="depth")
    out = dev.image((64, 64), "r8g8b8a8_unorm", label="out")
    pipe = dev.pipeline(FULL, TENTH, color=[out.format], depth="d32_sfloat", depth_compare="less", samples=4)
    with dev.frame("f", outputs=out) as f:
        z = tg.Attachment(depth, clear=1.0, store_op="dont_care")
        with dev.render_pass(color=[tg.Attachment(many, clear=(0, 0, 0, 1))], depth=z, label="p") as rp:
            rp.draw(pipe, count=3)
        dev.resolve(many, out)
    f.report(tmp_path / "r.html", profiles=["mali-g57"])
    text = (tmp_path / "r.html").read_text()
    data, shown = data_of(text), re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    tiles = profile == "adreno-a650" and not how
    assert data["profiles"][0]["moved_B"] == f.stats.moved_B == (64 * 64 * 16 if tiles else 0)
    assert ("in the tile only: depth" in shown, "never left the tile" in shown) == (tiles, tiles)
    assert ("no tiles" in shown, "without need</h2><p class=\"good\">Nothing was found" in shown) == (not tiles, not tiles)
    assert [one["saves_B"] for one in data["lint"]] == ([2 * 64 * 64 * 16] if tiles else [])
    (resolve,) = (change for change in data["changes"] if "resolves them by a command" in change["text"])
    assert resolve["saves"].keys() == ({"mali-g57", profile} if tiles else {"mali-g57"})


def test_the_users_images_stay_as_they_are(tmp_path: Path) -> None:
    dev = tg.Device()
    out = dev.image((32, 32), "r8g8b8a8_unorm", label="sum")
    pipe = dev.pipeline(FULL, TENTH, color=[out.format], blend="additive")
    data = dev.buffer(np.zeros(4, np.uint32))
    count = dev.compute_pipeline("""#version 450
        layout(local_size_x = 1) in;
        layout(binding = 0) buffer Data { uint n[]; };
        void main() { n[0] += 1; }""")
    dev.clear(out, (0, 0, 0, 0))
    with dev.frame() as f:
        with dev.render_pass(color=[out], label="add") as rp:
            rp.draw(pipe, count=3)
        dev.dispatch(count, 1, bind={"Data": data})
    before = out.numpy()
    reads = out._host_reads
    f.report(tmp_path / "r.html", profiles=[])
    assert np.array_equal(out.numpy(), before) and data.numpy()[0] == 1
    assert out._host_reads == reads + 1, "a report is no reader"
    assert "<h2>Dispatches</h2>" in (tmp_path / "r.html").read_text()
    with pytest.raises(tg.ValidationError, match="profiles has 'mali'; there are host"):
        f.report(tmp_path / "r.html", profiles=["mali"])
    with dev.frame("nothing") as f:
        pass
    f.report(tmp_path / "empty.html")
    assert "nothing: a frame on host" in (tmp_path / "empty.html").read_text()


def test_the_command_line_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shadow.html"
    assert main(["explain", "shadow_map", "--size", "64x36", "--report", str(path)]) == 0
    assert f"{path}: 2 passes" in capsys.readouterr().out
    assert data_of(path.read_text())["edges"]
    assert main(["explain", "shadow_map", "--report", str(tmp_path / "no" / "x.html")]) == 2


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_opens_it(page: Path, tmp_path: Path) -> None:
    def dom(address: str) -> str:
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--virtual-time-budget=500",
             "--window-size=1280,2000", "--dump-dom", address],
            capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT,
        )  # fmt: skip
        assert done.returncode == 0
        return done.stdout

    measured = tmp_path / "measured.html"
    too_wide = "[...document.querySelectorAll('.wide, pre')].map(e => e.scrollWidth - e.clientWidth).join()"
    measured.write_text(page.read_text().replace("</body>", f"<script>document.body.dataset.scroll = {too_wide};</script></body>"))
    found = re.search(r'data-scroll="([\d,-]*)"', dom(measured.as_uri()))
    assert found and {int(n) for n in found[1].split(",")} == {0}, "no column lies beyond a scroll"

    text = dom(f"{page.as_uri()}#node1")
    opened = re.findall(r'<details id="(\w+)"[^>]*\bopen=""', text)
    assert opened == ["node1"], "a link into the page opens the pass: its script runs"
    assert text.count("<svg") == 1 and text.count("<image ") >= 10
