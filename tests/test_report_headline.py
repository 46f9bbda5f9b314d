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
