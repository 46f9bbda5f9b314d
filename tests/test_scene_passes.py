"""Scenes of several passes: targets, what is said of those that make no sense, the same picture by OpenGL, explained and benchmarked."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.reference import PreparedFrame, compare_frame, unavailable
from tilegpu.reference import Renderer as GlRenderer
from tilegpu.scene import Draw, Frame, Output, Pass, Program, Sampled, SceneRenderer, State, Target, scenes

needs_reference = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
NAMES = ["shadow_map", "reflections", "bloom", "deferred", "mobile_frame"]
SMALL = (96, 54)
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
PAINT = Program(
    FULL, "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(gl_FragCoord.xy / 16.0, 0.25, 1.0); }"
)
COPY = Program(
    FULL,
    """#version 450
    layout(binding = 0) uniform sampler2D source;
    layout(location = 0) out vec4 o;
    void main() { o = texelFetch(source, ivec2(gl_FragCoord.xy), 0).yxzw; }""",
)
FLAT = State(depth_test=False, depth_write=False)
A, B, DEPTH = Target(label="a"), Target(label="b"), Target("d32_sfloat", label="depth")


def draw(program: Program, **options: Any) -> Draw:
    return Draw(program, count=3, state=FLAT, label="full", **options)


def frame(*passes: Pass, source: Target = A) -> Frame:
    return Frame(
        (16, 12), depth_format=None, draws=(draw(COPY, bind={"source": Sampled(source)}),), passes=passes, label="f"
    )


def paint(target: Target, **options: Any) -> Pass:
    return Pass((Output(target, **options),), draws=(draw(PAINT),), label="paint")


@pytest.fixture(scope="module")
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device())


def test_later_passes_read_what_earlier_ones_stored(renderer: SceneRenderer) -> None:
    x, y = (np.arange(n) + 0.5 for n in (16, 12))
    want = np.zeros((12, 16, 4))
    want[..., 0], want[..., 1], want[..., 2], want[..., 3] = (y / 16)[:, None], x / 16, 0.25, 1
    one = frame(paint(A))
    assert np.abs(renderer.render(one).images[0] / 255.0 - want).max() < 1 / 255
    two = frame(paint(A), Pass((Output(B),), draws=(draw(COPY, bind={"source": Sampled(A)}),)), source=B)
    assert np.abs(renderer.render(two).images[0] / 255.0 - want[..., [1, 0, 2, 3]]).max() < 1 / 255
    assert [p.label for p in renderer.passes] == ["paint", "pass", "f"]
    first = renderer.render(two)
    assert np.array_equal(first.images[0], renderer.render(two).images[0]), "replayed"
    assert first.stats.fragments_rasterized == 3 * 192 and len(first.explain.passes) == 3
    many = frame(dataclasses.replace(paint(A), samples=4))
    assert np.array_equal(renderer.render(many).images[0], renderer.render(one).images[0])


def test_new_descriptions_of_the_same_draw_to_the_same_images(
    renderer: SceneRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scenes()["mobile_frame"]
    renderer.render(scene.frame(SMALL))
    made: list[int] = []
    monkeypatch.setattr(tg.Device, "image", lambda *_, **__: made.append(1))
    renderer.render(scene.frame(SMALL, time=0.5))
    assert not made


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (frame(paint(B)), "frame 'f', draw 'full': source samples target 'a', which no pass before stores"),
        (frame(paint(A, store=False)), "source samples target 'a', which no pass before stores"),
        (frame(paint(A, load="load")), "pass 'paint' loads target 'a', which no pass before stored; load='clear'"),
        (frame(Pass()), "pass 'pass' has no attachment"),
        (
            frame(paint(A), Pass((Output(A, load="load"),), draws=(draw(COPY, bind={"source": Sampled(A)}),))),
            "which the pass draws to",
        ),
        (
            frame(Pass((Output(A), Output(Target(size=(8, 8), label="c"))))),
            "its attachments have sizes 'a' 16x12, 'c' 8x8",
        ),
        (frame(paint(A), dataclasses.replace(paint(A, load="load"), samples=4)), "has 4 samples and loads target 'a'"),
        (frame(Pass((Output(A),), Output(DEPTH), samples=4)), "has 4 samples and stores depth target 'depth'"),
        (frame(Pass((Output(A),), samples=3)), "samples is 3; allowed are 1, 2, 4, 8 and 16"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_drawn(
    renderer: SceneRenderer, wrong: Frame, words: str
) -> None:
    with pytest.raises(ValueError) as found:
        renderer.render(wrong)
    assert words in str(found.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("samples", [1, 4])
def test_dynamic_state_and_samples(renderer: SceneRenderer, name: str, samples: int) -> None:
    what = scenes()[name].frame(SMALL, samples)
    fixed, dynamic = renderer.render(what), SceneRenderer(renderer.device, dynamic=True).render(what)
    assert np.array_equal(fixed.images[0], dynamic.images[0])
    assert fixed.images[0].std() > 20


def test_the_g_buffer_never_leaves_the_tile(renderer: SceneRenderer) -> None:
    renderer.render(scenes()["mobile_frame"].frame(SMALL))
    traffic = renderer.passes[1].stats.traffic
    assert traffic["color2"]["store"] == 96 * 54 * 8
    for name in ("color0", "color1", "depth"):
        assert sum(n for cause, n in traffic[name].items() if cause != "clear") == 0


@needs_reference
@pytest.mark.parametrize(
    ("name", "samples"),
    [*((n, 1) for n in NAMES), ("shadow_map", 4), ("reflections", 4), ("bloom", 4), ("shadow_map", 2)],
)
def test_opengl_draws_the_same(renderer: SceneRenderer, name: str, samples: int) -> None:
    what = scenes()[name].frame((240, 136), samples)
    (found,) = compare_frame(what, renderer.render(what).images)
    assert found.difference.over_8_inside_px == 0 and found.difference.share_over_2_inside < 0.001
    assert found.difference.share_over_2_edges < 0.01


@needs_reference
def test_it_is_prepared_for_benchmarks() -> None:
    what = scenes()["mobile_frame"].frame(SMALL)
    prepared = PreparedFrame(what)
    with GlRenderer.shared() as gl:
        before = gl.render(what).images[0]
    for _ in range(3):
        prepared.run()
    with prepared.renderer.ctx:
        data = prepared.target.read(components=4, alignment=1)
    assert np.array_equal(np.frombuffer(data, np.uint8).reshape(before.shape), before)


def test_it_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "shadow_map", "--size", "96x54", "--heatmaps", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "pass 'shadow map': 23 draws" in text and "pass 'main': 23 draws" in text
    assert (tmp_path / "1_main" / "overdraw.png").is_file()
    assert main(["explain", "shadow_map", "--size", "96x54", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["pass"] for row in found["explain"]} == {0, 1} and len(found["stats"]["passes"]) == 2


def test_the_printed_table_is_narrow() -> None:
    device = tg.Device()
    out = SceneRenderer(device)
    explanation = out.render(scenes()["demo"].frame(SMALL)).explain
    headings, rows, notes, off = explanation.folded()
    assert headings == ["draws", "pipeline", "early tests", "visibility buffer", "plan"]
    assert off == [
        "off for all draws: low-resolution Z, pre pass, forward pixel kill, deferred vertex shading "
        "(not one of host's techniques; hsr= adds it)"
    ]
    assert len(notes) == 3 and all(len(cell) <= 60 for row in rows for cell in row)
    assert {row[3] for row in rows} == {"on", "off [2]"} and notes[1].startswith("[2] reads the tile")
    assert "low-resolution Z" not in explanation._repr_html_().partition("</table>")[0]
