"""The command line: exit codes, messages, files."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tilegpu.cli import main
from tilegpu.cli.common import as_plain, progress
from tilegpu.farm import output_path
from tilegpu.reference import unavailable
from tilegpu.scene import Frame, RenderResult
from tilegpu.terminal import duration_text, end_of_steps, progress_text, step

Cli = Callable[..., CompletedProcess[str]]


def usage_error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Runs a command that must end with 2, and returns what it says."""
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    return said.err


def test_scenes_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("textured_pbr ") and "1920x1080" in line for line in lines)
    assert any(line.startswith("msaa4_pass_resolve ") and " 4x " in line for line in lines)


def test_wrong_scene_names_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    said = usage_error(capsys, "render", "textured_pbrr", "-o", "x.png")
    assert "textured_pbr" in said.split("did you mean")[1]


def test_wrong_command_names_a_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean render?" in usage_error(capsys, "rendre")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["render", "clear", "-o", "x.png", "--size", "640"], "WIDTHxHEIGHT"),
        (["render", "clear", "-o", "x.png", "--size", "0x5"], "1 to 65534"),
        (["render", "clear", "-o", "x.png", "--samples", "3"], "1, 2, 4, 8, 16"),
        (["render", "clear", "-o", "x.png", "--threads", "0"], "at least 1"),
        (["render", "clear", "-o", "x.png", "--lanes", "5"], "4, 8, 16"),
        (["render", "clear"], "-o"),
        (["render", "clear", "-o", "no/such/folder/x.png"], "no folder no/such/folder"),
        (["render", "nothing.glb", "-o", "x.png"], "nothing.glb"),
        (["render", "clear", "-o", "x.png", "--profile", "mali-g720x"], "did you mean mali-g720?"),
        ([], "COMMAND"),
    ],
)
def test_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert said in usage_error(capsys, *arguments)


def test_broken_model_is_a_message(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.glb"
    broken.write_bytes(b"glTF\x02\x00\x00\x00\xff\xff\x00\x00")
    assert main(["render", str(broken), "-o", str(tmp_path / "x.png")]) == 2
    said = capsys.readouterr().err
    assert "broken.glb" in said
    assert "an error of tilegpu itself" not in said


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    import tilegpu

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tilegpu {tilegpu.__version__}\n"


def test_output_path() -> None:
    assert output_path("a/turn.png", 7, 100) == Path("a/turn_007.png")
    assert output_path("turn.png", 0, 1) == Path("turn.png")
    assert output_path("turn.png", 12, 20000) == Path("turn_00012.png")


def test_progress_yields_everything() -> None:
    assert list(progress(range(5), 5, "x")) == [0, 1, 2, 3, 4]


def test_progress_has_rate_and_time_left() -> None:
    line = progress_text("demo", 30, 120, 10.0)
    assert line.startswith("demo [####") and line.endswith("30/120  3.0/s  30 s left")
    assert progress_text("demo", 2, 4, 300.0).endswith("2/4  150.0 s each  5:00 left")
    assert progress_text("demo", 0, 4, 7.0).endswith("0/4  7 s so far")
    for label in ("demo", "a name that is longer than any terminal is wide" * 3):
        assert len(progress_text(label, 119, 120, 4000.0, 60)) <= 60
    assert [duration_text(s) for s in (9.4, 60, 3725)] == ["9 s", "1:00", "1:02:05"]


def test_steps_are_shown_on_a_terminal_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    step("drawing")
    end_of_steps()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    step("drawing")
    end_of_steps()
    assert capsys.readouterr().err == "\rdrawing ...\x1b[K\r\x1b[K"


@pytest.mark.parametrize("option", [[], ["--quiet"]])
def test_progress_is_shown_on_a_terminal_alone(option: list[str], tmp_path: Path) -> None:
    """On a pseudo-terminal; the line is gone at the end."""
    code = """
import sys, time
from tilegpu import terminal
terminal.be_quiet("--quiet" in sys.argv)
for k in terminal.progress(range(3), 3, "work"):
    time.sleep(0.4)
    terminal.say(f"row {k}")
"""
    ours, theirs = os.openpty()
    done = subprocess.run([sys.executable, "-c", code, *option], stdout=subprocess.PIPE, stderr=theirs, timeout=60, check=True)
    os.close(theirs)
    shown = ""
    try:
        while part := os.read(ours, 10_000):  # a terminal hands on what was written piece by piece
            shown += part.decode()
    except OSError:  # Linux's word for the end: the other side is closed
        pass
    os.close(ours)
    assert done.stdout == b"row 0\nrow 1\nrow 2\n"
    if option:
        assert shown == ""
    else:
        assert "work [" in shown and "2/3" in shown and " left" in shown and shown.endswith("\r\x1b[K")


def test_statistics_become_json() -> None:
    class Stats:
        def as_dict(self) -> dict[str, object]:
            return {"n": np.uint64(3), "list": (np.float32(1), None), "inner": {1: "a"}}

    assert json.loads(json.dumps(as_plain(Stats()))) == {"n": 3, "list": [1.0, None], "inner": {"1": "a"}}


def test_render_writes_a_png_and_statistics(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("render", "textured_pbr", "-o", "a.png", "--size", "160x90", "--stats", "s.json", "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert "a.png" in done.stdout
    image = np.asarray(Image.open(tmp_path / "a.png"))
    assert image.shape == (90, 160, 4)
    assert len(np.unique(image.reshape(-1, 4), axis=0)) > 100
    statistics = json.loads((tmp_path / "s.json").read_text())
    assert statistics["scene"] == "textured_pbr"
    assert len(statistics["frames"]) == 1


def test_lanes_and_threads_do_not_change_the_picture(run_cli: Cli, tmp_path: Path) -> None:
    for name, options in {"a": ["--lanes", "4", "--threads", "1"], "b": ["--lanes", "16", "--threads", "2"]}.items():
        done = run_cli("render", "heavy_overdraw_512", "-o", f"{name}.npy", "--size", "96x96", *options)
        assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


def test_render_frames_turn_the_camera(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("render", "cube", "-o", "t.png", "--size", "64x64", "--frames", "3")
    assert done.returncode == 0, done.stderr
    pictures = [np.asarray(Image.open(tmp_path / f"t_00{i}.png")) for i in range(3)]
    assert not np.array_equal(pictures[0], pictures[1])


def test_render_writes_every_attachment(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("render", "gbuffer5", "-o", "g.npy", "--size", "64x36")
    assert done.returncode == 0, done.stderr
    names = ["g.npy", "g.color1.npy", "g.color2.npy", "g.color3.npy", "g.color4.npy"]
    arrays = [np.load(tmp_path / name) for name in names]
    assert [a.dtype.name for a in arrays] == ["uint8", "float16", "float16", "uint8", "uint8"]


def test_wrong_profile_lists_profiles(run_cli: Cli) -> None:
    done = run_cli("render", "clear", "-o", "a.png", "--profile", "mali-g75")
    assert done.returncode in (1, 2)
    assert "mali-g57" in done.stderr
    assert "Traceback" not in done.stderr


def test_info_can_be_pasted(run_cli: Cli) -> None:
    done = run_cli("info")
    assert done.returncode == 0, done.stderr
    for word in ("tilegpu:", "cpu:", "lanes:", "llvm:", "threads:", "cache:"):
        assert word in done.stdout
    assert json.loads(run_cli("info", "--json").stdout)["lanes"] in ("4", "8", "16")


def test_info_has_the_constants_of_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    from tilegpu.cli import main
    from tilegpu.cost_constants import CONSTANTS, SOURCES

    assert main(["info", "--profile", "mali-g57", "--profile", "adreno-a740"]) == 0
    said = capsys.readouterr().out
    for profile in ("mali-g57", "adreno-a740"):
        assert f"{profile} ({CONSTANTS[profile].kind}): constants of the cost model" in said
    assert re.search(r"bus_B +32 \*  bytes from and to external memory", said) and f"from: {SOURCES['libGPUInfo']}" in said
    assert main(["info", "--profile", "mali-g57", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["mali-g57"]
    row = CONSTANTS["mali-g57"]
    assert found["kind"] == "buffer" and {"kind", *found["constants"]} == {field.name for field in dataclasses.fields(row)}
    for name, constant in found["constants"].items():
        figure = getattr(row, name)
        assert (constant["value"], constant["estimated"], constant["source"]) == (figure.value, figure.estimated, SOURCES[figure.source])
        assert constant["is"]
    for name, why in (("host", "it is measured, not modelled"), ("voodoo", "there are immortalis-g925")):
        assert main(["info", "--profile", name]) == 2
        assert f"--profile {name}: it has no cost model" in (err := capsys.readouterr().err) and why in err


@pytest.mark.gl
@pytest.mark.usefixtures("gl")
def test_compare_prints_json_and_writes_pictures(run_cli: Cli, tmp_path: Path) -> None:
    done = run_cli("compare", "textured_pbr", "--size", "320x180", "--json", "-o", "d.png")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert {"max_diff", "rms", "share_over_2", "share_over_2_inside", "covered_px"} <= set(found)
    assert found["covered_px"] > 320 * 180 // 4
    assert Image.open(tmp_path / "d.png").size == (3 * 320 + 16, 180)


@pytest.mark.gl
@pytest.mark.usefixtures("gl")
def test_compare_over_tolerance_is_1(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One wrong pixel in the middle of a picture is enough, and is named."""
    from tilegpu.scene.render import SceneRenderer

    render = SceneRenderer.render

    def spoilt(self: SceneRenderer, frame: Frame, *arguments: Any, **more: Any) -> RenderResult:
        result = render(self, frame, *arguments, **more)
        for image in result.images:
            image[40, 30, 0] ^= 64
        return result

    monkeypatch.setattr(SceneRenderer, "render", spoilt)
    assert main(["compare", "fill_blend", "--size", "64x64"]) == 1
    said = capsys.readouterr().out
    assert "pixel (30, 40), 64/255: unexplained" in said
    assert "1 of 1 pixels inside that differ by more than 8/255 are unexplained" in said


@pytest.mark.gl
@pytest.mark.usefixtures("gl")
def test_compare_has_every_sample_count(run_cli: Cli) -> None:
    done = run_cli("compare", "msaa8_pass_resolve", "--size", "64x36", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["samples"] == 8
    assert found["reference"]["samples_by"] == "one picture for each sample"


def test_compare_without_spirv_cross_uses_a_kept_picture(run_cli: Cli) -> None:
    """PATH without spirv-cross: the kept picture stands in, and that is said."""
    done = run_cli("compare", "textured_pbr", "--size", "320x180", env={"PATH": "/nonexistent"})
    assert "spirv-cross is not installed" in done.stderr
    assert "comparing with a kept reference of llvmpipe" in done.stderr
    assert done.returncode == 0, done.stdout
    none = run_cli("compare", "textured_pbr", "--size", "64x36", env={"PATH": "/nonexistent"})
    assert none.returncode == 3
    assert "none is kept" in none.stderr


def test_view_without_a_display_is_a_message(run_cli: Cli) -> None:
    done = run_cli("view", "clear", env={"DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": ""})
    assert done.returncode == 1
    assert "tilegpu render" in done.stderr
    assert "Traceback" not in done.stderr


def test_bench_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "-h"]) == 0
    said = capsys.readouterr().out
    assert "peers" in said and "depth-filter" in said
    assert "WHAT" in usage_error(capsys, "bench")
    assert "NAME=ICD" in usage_error(capsys, "bench", "peers", "--vulkan", "x")
    assert "does not exist" in usage_error(
        capsys, "bench", "peers", "--vkpeer", "/no/vkpeer", "--vulkan", "x=/no/icd.json"
    )
    file = sys.executable
    assert "x needs --vkpeer PATH" in usage_error(capsys, "bench", "peers", "--vulkan", f"x={file}")
    assert "program: /no/vk does" in usage_error(capsys, "bench", "peers", "--vulkan", f"x={file},/no/vk")
    assert "NAME=PYTHON" in usage_error(capsys, "bench", "peers", "--opengl", file)
    assert "/no/python does" in usage_error(capsys, "bench", "peers", "--opengl", "x=/no/python")
    assert "called 'gl'" in usage_error(capsys, "bench", "peers", "--opengl", f"gl={file}")


def test_bench_peers_without_peers(capsys: pytest.CaptureFixture[str]) -> None:
    """Figures that there are not: nothing that JSON does not have, a dash in the table; frames recorded anew stand in both."""
    arguments = ["bench", "peers", "--scene", "clear", "--no-gl", "--moving", "--rounds", "1", "--time", "0.01"]
    assert main([*arguments, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert row["peer"] == "none" and row["peer_ms"] is None and row["ratio"] is None
    assert row["tilegpu_ms"] > 0 and row["moving_ms"] > 0
    assert main(arguments) == 0
    *_, line = capsys.readouterr().out.splitlines()
    assert line.split()[2:] == ["none", "-", "-", "-", "..", "-", "-", line.split()[-1]] and float(line.split()[-1]) > 0


def test_bench_peers_draws_in_other_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenGL in another Python draws the same picture; a program named beside an ICD is run instead of vkpeer's."""
    if unavailable():
        pytest.skip(f"reference: {unavailable()}")
    vk = tmp_path / "vk"
    vk.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, sys\n"
        "at = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "pathlib.Path(at['--json']).write_text(json.dumps({'scene': at['--scene'], 'median_ms': 2.0}))\n"
    )
    vk.chmod(0o755)
    arguments = ["--vulkan", f"made={vk},{vk}", "--opengl", f"other={sys.executable}", "--no-gl"]
    assert main(["bench", "peers", "--scene", "clear", "--rounds", "1", "--time", "0.01", "--json", *arguments]) == 0
    made, other = json.loads(capsys.readouterr().out)
    assert made["peer"] == "made" and made["peer_ms"] == 2.0 and made["differ"] is None
    assert other["peer"] == "other" and other["peer_ms"] > 0 and other["differ"] == 0
