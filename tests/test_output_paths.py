"""Paths that a command is going to write are checked before it works: a picture of an hour that nobody can save is no picture."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import tilegpu as tg
from tilegpu.bench import add_parsers
from tilegpu.cli import build_parser, main
from tilegpu.files import output_problem
from tilegpu.frame import Frame

#: Of each option that writes: a command up to its value.
WRITES = {
    "render -o": ["render", "triangle", "-o"],
    "render --stats": ["render", "triangle", "-o", "{there}/a.png", "--stats"],
    "render --manifest": ["render", "triangle", "-o", "{there}/a.png", "--frames", "0:2", "--manifest"],
    "view --screenshot": ["view", "triangle", "--frames", "1", "--screenshot"],
    "compare -o": ["compare", "triangle", "-o"],
    "explain --heatmaps": ["explain", "triangle", "--heatmaps"],
    "explain --report": ["explain", "triangle", "--report"],
    "replay -o": ["replay", "{there}/a.tgcap", "-o"],
    "bench depth-filter --plots": ["bench", "depth-filter", "--plots"],
    "bench scaling --plot": ["bench", "scaling", "--plot"],
}
#: Those that make the folder.
FOLDERS = ("explain --heatmaps", "bench depth-filter --plots", "bench scaling --plot")


def options_that_write() -> Iterator[str]:
    """By their placeholders: OUT, DIR, and names of files that end in a suffix."""
    bench = argparse.ArgumentParser()
    group = bench.add_subparsers()
    add_parsers(group)
    [commands] = [a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    all_of_them = {**commands.choices, **{f"bench {name}": parser for name, parser in group.choices.items()}}
    for name, parser in all_of_them.items():
        for action in parser._actions:
            placeholder = str(action.metavar or "")
            if action.option_strings and (placeholder in ("OUT", "DIR") or placeholder.endswith((".png", ".json", ".html"))):
                yield f"{name} {action.option_strings[0]}"


def test_the_table_has_every_option() -> None:
    assert set(options_that_write()) == set(WRITES)


@pytest.mark.parametrize("option", WRITES)
def test_it_is_said_before_any_work(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr(tg, "Device", work)
    monkeypatch.setattr("tilegpu.bench.plots.load_pyplot", lambda: None)
    monkeypatch.setattr("tilegpu.bench.depth_filter.load_pyplot", lambda: None)
    monkeypatch.setattr("tilegpu.bench.depth_filter.run_frames", work)
    monkeypatch.setattr("tilegpu.bench.scaling.run_series", work)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    words = [word.format(there=tmp_path) for word in WRITES[option]]
    (tmp_path / "file").write_text("")
    suffix = "json" if option.endswith(("--stats", "--manifest")) else "html" if option.endswith("--report") else "png"
    said = "{0} is no folder" if option in FOLDERS else "there is no folder {0}"
    wrong = [(tmp_path / "file" / f"a.{suffix}", said.format(tmp_path / "file"))]
    if option not in FOLDERS:
        (tmp_path / f"folder.{suffix}").mkdir()
        wrong.append((tmp_path / "none" / f"a.{suffix}", f"there is no folder {tmp_path}/none"))
        wrong.append((tmp_path / f"folder.{suffix}", "is a folder; name a file in it"))
    for path, message in wrong:
        assert main([*words, str(path)]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


def test_pictures_have_a_suffix_of_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("render -o", "compare -o", "view --screenshot", "replay -o"):
        words = [word.format(there=tmp_path) for word in WRITES[option]]
        assert main([*words, str(tmp_path / "a.jpgg")]) == 2
        assert "the suffix is '.jpgg'; it must be .png" in capsys.readouterr().err


def test_what_is_wrong_with_a_place(tmp_path: Path) -> None:
    assert output_problem("a.png") == output_problem(tmp_path / "a.png") == output_problem(tmp_path / "a" / "b", folder=True) == ""
    assert output_problem(tmp_path) == f"{tmp_path} is a folder; name a file in it"
    (tmp_path / "file").write_text("")
    assert output_problem(tmp_path / "file") == "" and output_problem(tmp_path / "file", folder=True) == f"{tmp_path / 'file'} is no folder"
    if os.geteuid() != 0:  # who may do everything is told nothing
        tmp_path.chmod(0o500)
        assert output_problem(tmp_path / "b.png") == f"the folder {tmp_path} may not be written to"
        tmp_path.chmod(0o700)


def test_reports_and_captures_of_a_program(tmp_path: Path) -> None:
    dev = tg.Device(threads=1)
    with dev.frame("f") as frame:
        pass
    assert isinstance(frame, Frame)
    for write in (frame.report, dev.capture):
        with pytest.raises(tg.ValidationError, match=r"(report|capture): there is no folder .*none"):
            write(tmp_path / "none" / "a.html")


def test_each_output_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def check(path: object, option: str, folder: bool = False, content: str = "") -> Path:
        asked.append(option)
        return Path(str(path))

    monkeypatch.setattr("tilegpu.cli.render.check_output", check)
    monkeypatch.setattr("tilegpu.cli.farm.render_frames", lambda *_: 0)
    words = ["render", "triangle", "-o", f"{tmp_path}/a.png", "--frames", "2", "--size", "8x8"]
    assert main([*words, "--stats", f"{tmp_path}/s.json", "--manifest", f"{tmp_path}/m.json"]) == 0
    assert sorted(asked) == ["--manifest", "--stats", "-o"]
