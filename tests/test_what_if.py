"""``tilegpu what-if``: all modelled GPUs side by side, and what would help; the same in a frame's report; the benches' modelled tables."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import CommandStats, frame_costs, frame_profiles
from tilegpu.bench import hsr_model, msaa_model
from tilegpu.cli import main
from tilegpu.cost_constants import CONSTANTS
from tilegpu.costs import PassCosts
from tilegpu.frame_lint import Cut, Finding
from tilegpu.scene import SceneRenderer, find_scene

SIZE = ["--size", "96x64"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["what-if", *arguments]) == code
    out, err = capsys.readouterr()
    return err if code else out


def test_a_row_for_each_profile(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "mobile_frame", *SIZE, "-q")
    assert "what would help: nothing that the model knows of" in text, "its textures are drawn images"
    text = printed(capsys, "heavy_overdraw_512", *SIZE, "-q")
    lines = text.splitlines()
    assert lines[0].startswith("heavy_overdraw_512 on 11 modelled GPUs")
    assert [line.split()[0] for line in lines[2:13]] == list(CONSTANTS)
    assert "limited by" in lines[1] and "what would help" in text and "saves up to" in text
    assert "64x64" in lines[2] and "none" in lines[12]


def test_json_has_operations_and_bytes_by_cause(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "heavy_overdraw_512", *SIZE, "--profile", "mali-g57", "--json", "-q"))
    (row,) = found["profiles"]
    (costs,) = row["passes"]
    assert row["profile"] == "mali-g57" and row["tiles_px"] == ["16x16"] and row["splits"] == 0
    assert row["read_B"] == sum(costs["read_B"].values()) and row["write_B"] == sum(costs["write_B"].values())
    assert row["cycles"] == max(costs["units"].values()) and row["limited_by"] == max(costs["units"], key=costs["units"].get)
    assert costs["write_B"]["attachments stored"] == 96 * 64 * 4


def test_what_the_frame_reads_is_not_to_be_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    """The shadow map's depth is sampled by the next pass."""
    of_scene = printed(capsys, "shadow_map", *SIZE, "--profile", "mali-g610", "-q")
    assert "depth: store_op='dont_care', if nothing reads it" not in of_scene


def test_a_capture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    device = tg.Device()
    frame = device.frame("shadows")
    frame.takes_inner = True
    with frame:
        SceneRenderer(device).render(find_scene("shadow_map").frame((96, 64)))
    path = tmp_path / "frame.tgcap"
    frame.capture(path)
    text = printed(capsys, str(path), "--profile", "mali-g610", "--profile", "desktop-immediate", "-q")
    assert text.startswith("frame.tgcap on 2 modelled GPUs") and "dearest step: pass " in text
    assert "depth: store_op='dont_care', if nothing reads it" not in text, "the next pass samples it"
    assert "--size has no effect: " in printed(capsys, str(path), "--size", "8x8", code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["triangle", "--profile", "host"], "--profile host: it has no cost model (host is this computer: it is measured, not modelled)"),
        (["triangle", "--profile", "voodoo"], "--profile voodoo: it has no cost model; there are immortalis-g925"),
        (["gone.tgcap"], "capture 'gone.tgcap' is not there"),
    ],
)
def test_what_is_not_there(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert message in printed(capsys, *arguments, code=2)


@pytest.mark.parametrize("profile", [name for name, row in CONSTANTS.items() if row.kind == "gmem"])
def test_what_low_resolution_z_tests_is_on(profile: str) -> None:
    """The g-buffer leaves an attachment out, so none of its draws writes low-resolution Z; all are tested, and by feedback, which a630 has
    not, primitives are rejected."""
    device = tg.Device(profile=profile)
    frame = device.frame("deferred")
    frame.takes_inner = True
    with frame:
        SceneRenderer(device).render(find_scene("deferred").frame((480, 270)), read=False)
    assert (frame.passes[0].stats.lrz_primitives_rejected > 0) == (profile != "adreno-a630")
    (row,) = frame.what_if([profile]).profiles
    assert row["techniques"] == [frame_profiles.TESTED_ONLY]
    written = device.frame("shadow_map")
    written.takes_inner = True
    with written:
        SceneRenderer(device).render(find_scene("shadow_map").frame((96, 64)), read=False)
    (row,) = written.what_if([profile]).profiles
    assert row["techniques"] == ["low-resolution Z"]
    texts = ("", "write off for the draw: x", "off for the draw: x")
    assert [frame_profiles.is_tested_only(text) for text in texts] == [False, True, False]


def test_python_of_ones_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("""
import tilegpu as tg
VERT = "#version 450\\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
FRAG = "#version 450\\nlayout(location = 0) out vec4 c; void main() { c = vec4(1); }"
def draw(device, size):
    out = device.image(size, "r8g8b8a8_unorm")
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
        rp.draw(device.pipeline(VERT, FRAG, color=[out.format]), count=3)
    return out
""")
    found = json.loads(printed(capsys, f"{path}:draw", *SIZE, "--profile", "mali-g57", "--json", "-q"))
    assert found["profiles"][0]["passes"][0]["write_B"]["attachments stored"] == 96 * 64 * 4


def test_a_frame_answers_itself() -> None:
    device = tg.Device(profile="host")
    with (
        device.frame("own") as frame,
        device.render_pass(color=[tg.Attachment(device.image((64, 64), "r8g8b8a8_unorm"), clear=(0, 0, 0, 1))]),
    ):
        pass
    found = frame.what_if(["mali-g57", "desktop-immediate"])
    assert (
        [row["profile"] for row in found.profiles]
        == ["mali-g57", "desktop-immediate"]
        == [r["profile"] for r in found.asdict()["profiles"]]
    )
    assert found.profiles[0]["write_B"] == found.profiles[1]["write_B"] == 64 * 64 * 4
    assert "what would help: nothing that the model knows of" in str(found) and "<table>" in found._repr_html_()
    with pytest.raises(tg.ValidationError, match=r"frame 'own': profiles has 'host'; there are immortalis-g925"):
        frame.what_if(["host"])


def test_what_is_reached_by_address_is_said_to_be_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The dispatches themselves are in the model; whether they reach the same bytes again is not known."""
    device = tg.Device()
    kernel = device.compute_pipeline("""#version 450
    #extension GL_EXT_buffer_reference : require
    layout(local_size_x = 1) in;
    layout(buffer_reference, std430) buffer Data { uint n; };
    layout(push_constant) uniform P { Data data; };
    void main() { data.n = data.n + 1u; }""")
    numbers = device.buffer(np.zeros(4, np.uint32))
    image, other = (device.image((32, 32), "r8g8b8a8_unorm") for _ in range(2))
    with device.frame("mixed") as frame:
        with device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))]):
            pass
        for _ in range(2):
            device.dispatch(kernel, (1, 1, 1), push={"data": numbers.device_address})
        device.copy(image, other)
    words = "how often the same memory is reached by address in 2 dispatches"
    found = frame.what_if(["mali-g57"])
    assert found.left_out == [words] and f"not in the model: {words}\n" in str(found)
    row = next(row for row in found.profiles if row["profile"] == "mali-g57")
    assert [(one["read_B"], one["write_B"]) for one in row["dispatches"]] == [({"buffers": 4}, {"buffers": 4})] * 2
    path = tmp_path / "mixed.bin"
    frame.capture(path)
    assert f"not in the model: {words}" in printed(capsys, str(path), "--profile", "mali-g57", "-q")


def test_the_report_has_the_model(tmp_path: Path) -> None:
    device = tg.Device(profile="immortalis-g925")
    frame = device.frame("shadows")
    frame.takes_inner = True
    with frame:
        SceneRenderer(device).render(find_scene("shadow_map").frame((96, 64)))
    path = tmp_path / "report.html"
    frame.report(path, profiles=["mali-g57", "desktop-immediate"])
    text = path.read_text()
    assert "What it would cost on each GPU" in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert [row["profile"] for row in data["modelled"]] == ["immortalis-g925", "mali-g57", "desktop-immediate"]
    for row in data["modelled"]:
        assert row["cycles"] > 0 and row["read_B"] > 0 and row["write_B"] > 0


def test_the_table_of_the_pre_pass_has_negative_rows(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        *hsr_model.measure(find_scene("heavy_overdraw_512"), (128, 128), "immortalis-g925"),
        *hsr_model.measure(find_scene("gbuffer5"), (128, 96), "immortalis-g925"),
    ]
    wins, loses = rows
    assert wins["technique"] == loses["technique"] == "pre_pass"
    assert wins["reduction"]["arithmetic"] > 30 and wins["reduction"]["texture"] > 30
    assert loses["reduction"]["arithmetic"] < -5 and loses["reduction"]["texture"] == 0
    text = hsr_model.text_of(rows)
    assert all(name in text for name in hsr_model.COLUMNS) and "negative" in text
    arguments = ["bench", "hsr", "heavy_overdraw_512", "--profile", "adreno-a740", "--size", "64x64", "--json", "-q"]
    assert main(arguments) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["technique"] == "lrz"
    assert main([*arguments, "--order", "random"]) == 2


def test_the_curve_of_resolves() -> None:
    def frame_of(n: int, mode: str) -> Any:
        return find_scene(f"multisampling{n}_{'pass_resolve' if mode == 'in_tile' else 'store_cmd_resolve'}").frame((160, 90))

    rows = msaa_model.curve("mali-g610", frame_of, (1, 2, 4))
    assert [(r["samples"], r["most"], r["published"]) for r in rows] == [(2, 5, 4.4), (4, 9, 7.4)]
    for r in rows:
        assert 1 < r["speedup"] < r["most"]
        assert (r["most"] + r["other_samples"]) / (1 + r["other_samples"]) == pytest.approx(r["speedup"])
    assert rows[0]["speedup"] < rows[1]["speedup"]
    assert "model/device" in msaa_model.text_of("multisampling", rows)


def test_what_a_finding_saves_is_the_frame_less_the_frame_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pass is binned behind the rendering of the first, which the finding does not name."""

    @dataclasses.dataclass(frozen=True)
    class Counts:
        traffic: dict[str, dict[str, int]]
        cycles: float
        samples: int = 1

    def costs(counts: Counts) -> PassCosts:
        stored = counts.traffic.get("color0", {}).get("store", 0)
        rendering, binning = counts.cycles + stored, 20.0 + stored
        write_B, units = {"attachments stored": float(stored)}, {"arithmetic": rendering, "bus": 0.0}
        return PassCosts("adreno-a740", "p", {}, {}, {}, write_B, units, binning={"primitives": binning}, concurrent=True)

    monkeypatch.setattr(frame_profiles, "costs_of", costs)
    passes = [frame_profiles.PassRun({}, {}, {}, [], [], counts=cast("Any", Counts(t, 90.0))) for t in ({}, {"color0": {"store": 10}})]
    run = frame_profiles.ProfileRun("adreno-a740", passes, commands=[CommandStats("clear", 0, 640)])
    finding = Finding("drop it", cuts=[Cut(1, "color0", "store")])
    change = frame_costs._of_finding(finding, run, {1: [1]})
    assert (change.saves_read_B, change.saves_write_B, change.saves_cycles) == (0, 10, 10), "its binning is hidden with and without it"
    both = frame_costs._of_finding(Finding("both", cuts=[*finding.cuts, Cut(2)]), run, {1: [1], 2: [0]})
    assert both.saves_write_B == 650 and both.saves_cycles > 10
    total = run.modelled()
    assert total is not None and total.total("write_B") == 650 and run.modelled(commands=False) is not None


def test_what_is_drawn_and_compared_gets_no_advice_of_mip_chains() -> None:
    """A shadow map by sampler2DShadow, and a scene's target; a texture of the user's gets it."""
    device = tg.Device()
    cover = """#version 450
    void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0.5, 1); }"""
    head = "#version 450\nlayout(location = 0) out vec4 o; layout(binding = 0) uniform "
    body = " t; void main() { o = vec4("
    kinds = {"sampler2DShadow": "texture(t, vec3(fract(gl_FragCoord.xy * 0.37), 0.5))); }",
             "sampler2D": "texture(t, fract(gl_FragCoord.xy * 0.37))); }"}  # fmt: skip
    target, out = (device.image((256, 256), "r8g8b8a8_unorm", label=n) for n in ("target", "out"))
    shadow = device.image((512, 512), "d32_sfloat")
    device.clear(shadow, depth=1.0)
    texture = device.texture(np.zeros((512, 512, 4), np.uint8))
    pipes = {kind: device.pipeline(cover, head + kind + body + text, color=[out.format]) for kind, text in kinds.items()}

    def advised(kind: str, what: Any) -> bool:
        with device.frame("f", outputs=out) as frame:
            with device.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 1))]):
                pass
            with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
                rp.draw(pipes[kind], count=3, bind={"t": what})
        return "give textures of one level a mip chain" in str(frame.what_if(["mali-g610"]))

    assert advised("sampler2D", texture)
    assert not advised("sampler2D", (target, device.sampler()))
    assert not advised("sampler2DShadow", (shadow, device.sampler(compare="less")))
