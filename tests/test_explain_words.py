"""The words of ``explain``: those of a plan are in the documents, and columns say what the plan says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.small_frames import COVER, DEPTH, RGBA, Bench

import tilegpu as tg


def test_the_words_of_explain_are_in_the_document() -> None:
    """All that the core makes a plan of, and the states of the columns."""
    root = Path(__file__).parent.parent
    source = (root / "cpp/src/tile/plan/describe.cpp").read_text().partition("describe_tests")[2]
    page = (root / "docs/hidden_surface_removal.md").read_text()
    text = page.partition("### The words of `explain`")[2].partition("Where it comes from")[0]
    literals = [literal for line in source.splitlines() for literal in re.findall(r'"([^"]*)"', line)]
    parts = (part.strip(" ,:") for literal in literals for part in re.split(r"[;|]|, but |, (?=at custom|tests at|late tests)", literal))
    phrases = {part for part in parts if len(part) > 4}
    missing = {phrase for phrase in phrases if phrase not in text and phrase.split(": pre-pass")[0] not in text}
    assert len(phrases) > 40 and not missing


def test_early_tests_that_do_not_write_are_not_called_off() -> None:
    bench = Bench("host")
    z, out = bench.image("z", DEPTH), bench.image("out")
    body = "#version 450\nlayout(location = 0) out vec4 o; void main() { if (gl_FragCoord.x < 3) discard; o = vec4(1); }"
    with bench.dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1)), depth=tg.Attachment(z, clear=1.0)) as rp:
        for words in (body, body.replace("o = ", "gl_FragDepth = 0.5; o = ")):
            rp.draw(bench.dev.pipeline(COVER, words, color=[RGBA], depth=DEPTH, depth_compare="less"), count=3)
    first, second = (line.split() for line in str(rp.explain()).splitlines()[2:4])
    assert first[2:4] == ["tests", "only"] and second[2] == "off"
    plans = [row["plan"] for row in rp.explain().rows]
    assert "early tests without writes, late tests" in plans[0] and "early" not in plans[1] and "late tests" in plans[1]


@pytest.mark.parametrize(("kinds", "rule", "words"), [
    (["both", "other", "one"], "1.2", "; draw 0 wrote an attachment that this one leaves out"),
    (["one", "other", "both", "other", "one"], "1.2", "; draw 1 wrote an attachment that this one leaves out"),
    (["both", "blends", "depth"], "2", "; the earlier one is draw 1"),
])  # fmt: skip
def test_what_ends_a_pre_pass_names_the_draw_that_the_rule_is_about(kinds: list[str], rule: str, words: str) -> None:
    """Who wrote the attachment that is missing, and who is not opaque: never a "that" with two draws before it."""
    bench = Bench("immortalis-g925")
    z, outs = bench.image("z", DEPTH), [bench.image("a"), bench.image("b")]
    colors = [tg.Attachment(image, clear=(0, 0, 0, 1)) for image in outs]
    body = "#version 450\nlayout(location = 0) out vec4 o; layout(location = 1) out vec4 p; void main() { o = p = vec4(1); }"
    masks = {"one": ["rgba", ""], "other": ["", "rgba"]}
    with bench.dev.render_pass(color=colors, depth=tg.Attachment(z, clear=1.0)) as rp:
        for kind in kinds:
            writes = kind in ("one", "both", "depth")
            given: dict[str, Any] = {"blend": "alpha"} if kind == "blends" else {"write_mask": masks[kind]} if kind in masks else {}
            shaders = [COVER] if kind == "depth" else [COVER, body]
            given |= {"depth": DEPTH, "depth_compare": "less_or_equal", "depth_write": writes}
            rp.draw(bench.dev.pipeline(*shaders, color=[RGBA] * 2, **given), count=3)
    states = [t for row in rp.explain().rows for t in row["techniques"] if t["technique"] == "pre_pass" and t["rule"]]
    assert [(t["rule"], t["reason"].partition(" tiles")[2]) for t in states][:1] == [(rule, words)], rp.stats.prepass_stops
    assert "(that is draw" not in str(rp.explain())
