"""The head of a frame's report and its profiles: what is first to be tried where nothing moves in vain, bytes beside attachments, draws
that forward pixel kill may kill and that kill nothing, and GPUs without tiles."""

from __future__ import annotations

import html
import re
from pathlib import Path

import tilegpu as tg

VERT = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.5, 1.0); }"
FRAG = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0.5); }"
FORMAT, SIZE = "r16g16b16a16_sfloat", (128, 128)


def test_what_the_report_says_first(tmp_path: Path) -> None:
    dev = tg.Device("immortalis-g925")
    images = [dev.image(SIZE, FORMAT, label=name) for name in ("lit", "glow")]
    pipe = dev.pipeline(VERT, FRAG, color=[FORMAT] * 2, attachment_locations=[0, None])
    frame = dev.frame("two")
    with frame, dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1)) for image in images], label="p") as rp:
        rp.draw(pipe, count=3)
    frame.report(tmp_path / "r.html", profiles=["desktop-immediate"])
    page = (tmp_path / "r.html").read_text()
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert "no bytes" not in text and "all of external memory 2" in text
    half = "r16g16b16a16_sfloat, 256 KiB of 256 KiB; as b10g11r11_ufloat_pack32 half of it, 128 KiB, where neither alpha"
    assert re.search(f"(lit, glow|glow, lit): {half}", text)
    assert re.search("between tiles and images 256 KiB .*no tiles", text)
    assert "forward pixel kill (killed, does not kill): draws 1 of 1" in text and "forward pixel kill: draws" not in text
    assert "bound and not written: color1 'glow'" in text


LONG = """#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
void main() { vec4 c = v_color; for (int i = 0; i < 60; i++) c = c * 1.001 + vec4(0.0001); o = vec4(clamp(c.xyz, 0, 1), v_color.a); }"""
AT = """#version 450
layout(push_constant) uniform Push { vec4 color; float z; };
layout(location = 0) out vec4 v_color;
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, z, 1.0); v_color = color; }"""


def test_bytes_do_not_hide_what_saves_most_cycles(tmp_path: Path) -> None:
    """A depth store that nobody reads, in a pass that waits for its shaders and whose pre-pass a glass ends."""
    dev = tg.Device("immortalis-g925")
    screen, depth = dev.image((256, 256), "r8g8b8a8_unorm", label="screen"), dev.image((256, 256), "d32_sfloat", label="z")
    pipes = {blend: dev.pipeline(AT, LONG, color=[screen.format], depth=depth.format, depth_compare="less", blend=blend)
             for blend in (None, "alpha")}  # fmt: skip
    frame = dev.frame("f", outputs=screen)
    at = {"color": [tg.Attachment(screen, clear=(0, 0, 0, 1))], "depth": tg.Attachment(depth, clear=1.0)}
    with frame, dev.render_pass(**at, label="main") as rp:
        for z, blend in ((0.9, None), (0.5, "alpha"), (0.4, None)):
            rp.draw(pipes[blend], count=3, push={"color": (z, 0.5, 0.2, 0.5), "z": z})
    frame.report(tmp_path / "r.html", profiles=["immortalis-g925", "adreno-a740"])
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", (tmp_path / "r.html").read_text())).split())
    assert "the dearest finding saves 256 KiB" in text
    head = text[text.index("what would help most saves") :]
    culprit = "draw 1 last: it ends the pre-pass"
    share = re.match(rf"what would help most saves (\d+)% of the cycles modelled on immortalis-g925: {culprit}", head)
    assert share and int(share[1]) > 30
    first = head[head.index("Look at first:") :]
    assert re.match(rf"Look at first: {culprit}: saves {share[1]}% of the cycles, modelled on immortalis-g925 pass 0 'main'", first)


def test_vertices_of_the_report_are_the_modelled_gpus(tmp_path: Path) -> None:
    """Adreno shades positions while binning, and whole vertices in each tile; a Mali the rest of them while binning; the desktop once."""
    dev = tg.Device("host")
    screen = dev.image((1024, 1024), "r8g8b8a8_unorm")
    pipe = dev.pipeline(AT, LONG, color=[screen.format])
    frame = dev.frame("f", outputs=screen)
    with frame, dev.render_pass(color=[tg.Attachment(screen, clear=(0, 0, 0, 1))]) as rp:
        rp.draw(pipe, count=3, push={"color": (1, 1, 1, 1), "z": 0.5})
    frame.report(tmp_path / "r.html", profiles=["mali-g57", "adreno-a630", "desktop-immediate"])
    page = (tmp_path / "r.html").read_text()
    found: dict[str, list[str]] = {}  # of all tables
    for row in re.findall("<tr.*?</tr>", page, re.S):
        name, *cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall("<t[dh].*?</t[dh]>", row, re.S)]
        found.setdefault(name, []).extend(cell for cell in cells if cell)
    assert found["vertices shaded by this program"] == ["3"]
    assert found["vertices for their positions, while binning, modelled"] == ["3", "3"]
    assert found["vertices for the rest of them, while binning, modelled"] == ["3"]
    assert found["vertices and what is made of them, modelled"] == ["3"]
    assert found["vertices, whole, in tiles, modelled"] == ["12"], "of four tiles"
