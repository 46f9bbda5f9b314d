"""Advice taken literally: what ``what_if`` says of samples, what a capture says beside its frame, and whose figures
are whose. Beside ``test_lint_counts.py``, which does the same with what lint says of one frame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.small_frames import COVER, DEPTH, READERS, RED, RGBA, SIZE, TILERS, Bench, moved_B

import tilegpu as tg
from tilegpu.cli import main

# -- samples


def low_resolution_z_B(frame: tg.Frame, profile: str) -> float:
    """Of all passes, both ways."""
    passes = frame.what_if([profile]).profiles[0]["passes"]
    ways = (way for one in passes for way in (one["read_B"], one["write_B"]))
    return sum(n for way in ways for what, n in way.items() if what.startswith("low-resolution Z"))


def multisampled(bench: Bench, samples: int, loads: bool, how: str, same: bool = False) -> tg.Frame:
    """``how``: ``"of the pass"`` (``samples=`` of it, onto images of one), ``"stored"``, ``"stored and resolved"``, ``"resolved"``,
    ``"dropped"``; one sample is drawn to the target itself. ``same``: which holds the picture already, so that Mali does not write it."""
    out, depth = bench.image("out"), bench.image("z", DEPTH, samples=1 if how == "of the pass" else samples)
    if same:
        bench.dev.clear(out, (1, 0, 0, 1))
    clear = None if loads else (0, 0, 0, 1)
    if how == "of the pass" or samples == 1:
        color = tg.Attachment(out, clear=clear)
    else:
        many = bench.image("many", samples=samples)
        color = tg.Attachment(many, clear=clear, store_op="store" if how.startswith("stored") else "dont_care",
                              resolve=out if how.endswith("resolved") else None)  # fmt: skip
    given: dict[str, Any] = {"samples": samples} if how == "of the pass" and samples > 1 else {}
    pipeline = bench.dev.pipeline(COVER, RED, color=[RGBA], depth=DEPTH, depth_compare="less", samples=samples)
    with (
        bench.dev.frame("f", outputs=[out]) as frame,
        bench.dev.render_pass(color=color, depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), **given) as rp,
    ):
        rp.draw(pipeline, count=3)
    return frame


@pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")
@pytest.mark.parametrize("profile", TILERS)
@pytest.mark.parametrize("loads", [False, True])
@pytest.mark.parametrize("how", ["of the pass", "stored", "stored and resolved", "resolved"])
@pytest.mark.parametrize("same", [False, True])
def test_what_is_said_of_samples(profile: str, loads: bool, how: str, same: bool, tmp_path: Path) -> None:
    """Each change done, against the ledger; and where the image has one sample a pixel there is none."""
    said = []
    for samples in (2, 4, 8):
        frame = multisampled(Bench(profile), samples, loads, how, same)
        frame.capture(tmp_path / "f.tgcap")
        of_frame, of_capture = frame.what_if([profile]).changes, _what_if(tmp_path / "f.tgcap", profile).changes
        own = how == "stored" and not loads  # what is loaded and stored is read the next time
        assert any("resolve= " in change["text"] for change in of_capture) == own
        for change in (*of_frame, *of_capture):
            text, saves = change["text"], change["saves"][profile]
            fewer = re.search(r"(\d+) samples? in place of", text)
            if fewer and fewer[1] == "1" and how == "stored and resolved":
                continue  # of one sample there is nothing to resolve, and no second image
            if fewer:
                better = multisampled(Bench(profile), int(fewer[1]), loads, how, same)
            elif "dont_care" in text and "color0" in text and "clear it" not in text:
                then = "dropped" if "nobody" in text and how == "stored" else "resolved"
                better = multisampled(Bench(profile), samples, loads, then, same)
            else:
                continue
            said_B = saves_B = saves["read_B"] + saves["write_B"]
            if fewer:  # low-resolution Z has samples too, and is in no ledger
                saves_B = round(saves_B - low_resolution_z_B(frame, profile) * (1 - int(fewer[1]) / samples), 3)
            assert saves_B == moved_B(frame) - moved_B(better), f"{samples}, {how}: {text}"
            assert said_B > 0 or samples == 8, "of more than 4 samples a part of the machine is busy longer"
            said += [text] if saves_B else []
    there = {"of the pass": False, "stored": True, "stored and resolved": True, "resolved": loads}[how]
    assert bool(said) == there, said


def test_samples_beside_a_resolve_that_is_eliminated(tmp_path: Path) -> None:
    """The same picture again is not written, and would not be without the samples."""
    bench = Bench()
    many, out = bench.image("many", samples=4), bench.image("out")
    with bench.dev.frame("f", outputs=[out, many]) as frame:
        for label in ("first", "again"):
            bench.fill(many, label, resolve=out)
    again = frame.passes[1].stats
    assert again.bytes("resolve") == 0 and again.bytes("saved_transaction_elimination") == SIZE[0] * SIZE[1] * 4
    frame.capture(tmp_path / "f.tgcap")
    (change,) = (one for one in _what_if(tmp_path / "f.tgcap").changes if "'again': color0: store_op='dont_care' beside" in one["text"])
    assert change["saves"]["mali-g57"]["write_B"] == again.bytes("store") == SIZE[0] * SIZE[1] * 16


# -- captures


def captured(bench: Bench, frame: tg.Frame, path: Path) -> tuple[str, str]:
    """What a capture says: its lint, and ``tilegpu what-if`` of it."""
    frame.capture(path)
    replay = bench.dev.load_capture(path)
    replay.run()
    return "\n".join(replay.lint()), str(_what_if(path))


def _what_if(path: Path, profile: str = "mali-g57") -> Any:
    from tilegpu.frame_costs import comparison
    from tilegpu.frame_profiles import run

    return comparison("capture", [run(path, profile)])


@pytest.mark.parametrize("format", [DEPTH, "d24_unorm_s8_uint"])
@pytest.mark.parametrize("reader", [None, *READERS])
def test_a_capture_says_what_its_frame_says_of_a_store(format: str, reader: str | None, tmp_path: Path) -> None:
    bench = Bench()
    z, out = bench.image("z", format), bench.image("out")
    with bench.dev.frame("f", outputs=out) as frame:
        bench.fill(z, "zpass")
        if reader is not None:
            READERS[reader](bench, z, out)
        bench.fill(out, "last")
    live = any("zpass" in line and "dont_care" in line for line in frame.lint())
    assert live == (reader is None)
    assert any("zpass" in change["text"] for change in frame.what_if(["mali-g57"]).changes) == live
    lint, what_if = captured(bench, frame, tmp_path / "f.tgcap")
    assert [("zpass" in text and "dont_care" in text) for text in (lint, what_if)] == [live, live], f"{lint}\n{what_if}"


def test_a_capture_is_drawn_again_and_again(tmp_path: Path) -> None:
    """What a pass reads before the capture has stored it is of the time before."""
    bench = Bench()
    z, out = bench.image("z", DEPTH), bench.image("out")
    with bench.dev.frame("f", outputs=out) as frame:
        bench.show(z, out)
        bench.fill(z, "zpass")
    lint, what_if = captured(bench, frame, tmp_path / "f.tgcap")
    assert "zpass" not in lint and "dont_care" not in what_if
    with bench.dev.frame("f", outputs=out) as frame:  # stored, read, and stored anew: the second nobody reads
        bench.fill(z, "first")
        bench.show(z, out)
        bench.fill(z, "second")
    lint, what_if = captured(bench, frame, tmp_path / "g.tgcap")
    for text in (lint, what_if):
        assert "second" in text and "'first': depth" not in text


def test_samples_in_a_capture(tmp_path: Path) -> None:
    """Samples that a command resolves are read; others are not."""
    bench = Bench()
    many, out = bench.image("many", samples=4), bench.image("out")
    for reads in (False, True):
        with bench.dev.frame("f", outputs=out) as frame:
            bench.fill(many, "many")
            if reads:
                bench.dev.resolve(many, out)
            else:
                bench.fill(out, "last")
        lint, what_if = captured(bench, frame, tmp_path / "f.tgcap")
        for text in (lint, what_if):
            assert ("with store_op" in text) == (not reads), text


def test_the_command_says_the_same_of_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench()
    z, out = bench.image("z", DEPTH), bench.image("out")
    with bench.dev.frame("f", outputs=out) as frame:
        bench.fill(z, "zpass")
        bench.show(z, out)
    frame.capture(tmp_path / "f.tgcap")
    assert main(["what-if", str(tmp_path / "f.tgcap"), "--profile", "mali-g57", "-q"]) == 0
    assert "dont_care" not in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "f.tgcap")]) == 0
    assert "dont_care" not in capsys.readouterr().out


# -- whose figure it is


def test_whose_figures_stand_in_a_finding() -> None:
    """What the device that drew it saves stands apart and has its name; of one profile there is one figure, written one way."""
    for profile in ("host", "mali-g57"):
        bench = Bench(profile)
        dev, z, out = bench.dev, bench.image("z", DEPTH), bench.image("out")
        pipeline = dev.pipeline(COVER, RED, color=[RGBA])
        with dev.frame("f", outputs=out) as frame:
            dev.clear(out, (0, 0, 0, 1))
            for label in ("a", "b"):
                with dev.render_pass(color=out, label=label) as rp:
                    rp.draw(pipeline, count=3, scissor=(0, 0, 8, 8))
            bench.fill(z, "zpass")
        found = frame.what_if(["mali-g57", "adreno-a740"])
        by_advice = {line.advice: line for line in frame.lint()}
        assert len(by_advice) == 3 and by_advice.keys() <= {change["text"] for change in found.changes}
        for change in found.changes:
            assert not re.search(r"saves [\d.,]+", change["text"])
            assert change["drawn_B"] == (by_advice[change["text"]].saves_B if change["text"] in by_advice else 0)
        assert found.drawn_on == profile
        drawn = [line for line in str(found).splitlines() if "which drew it" in line]
        assert all(line.endswith("B on host, which drew it") and "up to " in line for line in drawn)
        assert bool(drawn) == (profile == "host")
        assert not re.search(r"\d KiB", "".join(line for line in str(found).splitlines() if line.startswith("      saves")))


def test_the_dearest_step_has_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench()
    large, out = bench.dev.image((1024, 1024), RGBA, label="large"), bench.image("out")
    with bench.dev.frame("f", outputs=out) as frame:
        bench.fill(out, "small")
        bench.dev.clear(large, (0, 0, 0, 1))
        bench.ask(large)
    found = frame.what_if(["mali-g57", "immortalis-g925"])
    assert "\ndearest step: clear 1, 9" in str(found) and "on all profiles" in str(found)
    steps = found.profiles[0]["steps"]
    assert [one["step"].partition(" '")[0] for one in steps] == ["pass 0", "dispatch 2", "clear 1"]
    assert sum(one["cycles"] for one in steps) == pytest.approx(found.profiles[0]["cycles"])
    assert "clear 1" in found._repr_html_()
    frame.capture(tmp_path / "f.tgcap")
    assert main(["what-if", str(tmp_path / "f.tgcap"), "--profile", "mali-g57", "-q"]) == 0
    assert "dearest step: command 0 (clear color image), 9" in capsys.readouterr().out
    with bench.dev.frame("one", outputs=out) as frame:
        bench.fill(out)
    assert "dearest" not in str(frame.what_if(["mali-g57"]))


def test_changes_name_the_pass_as_findings_do() -> None:
    bench = Bench()
    z, out = bench.image("z", DEPTH), bench.image("out")
    with bench.dev.frame("f", outputs=out) as frame:
        bench.dev.clear(z, depth=1.0)
        bench.fill(out, "first")
        with bench.dev.render_pass(color=tg.Attachment(out), label="second") as rp:
            rp.draw(bench.dev.pipeline(COVER, RED, color=[RGBA]), count=3)
    texts = [change["text"] for change in frame.what_if(["mali-g57"]).changes]
    assert any(text.startswith("pass 2 'second'") for text in texts) and not any(text.startswith("pass 0") for text in texts)


def test_other_bytes_are_explained() -> None:
    bench = Bench()
    frame = multisampled(bench, 4, False, "resolved")
    text = str(frame.stats)
    resolved = frame.stats.bytes("resolve") or frame.stats.bytes("saved_transaction_elimination")
    assert resolved == SIZE[0] * SIZE[1] * 4
    if frame.stats.bytes("resolve"):
        assert text.splitlines()[-1] == f"  other bytes: {resolved:,} B resolved in the tile"
    with bench.dev.frame("plain") as plain:
        bench.fill(bench.image("out"))
    assert "other bytes:" not in str(plain.stats)
