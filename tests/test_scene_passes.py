"""Scenes of several passes: targets, what is said of those that make no sense, the same picture by OpenGL, explained and benchmarked."""

from __future__ import annotations

import dataclasses
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cli import main
from tilegpu.reference import PreparedFrame, compare_frame, unavailable
from tilegpu.reference import Renderer as GlRenderer
from tilegpu.scene import (
    CLAMPED,
    Draw,
    Frame,
    Output,
    Pass,
    Program,
    Sampled,
    Sampler,
    SceneRenderer,
    State,
    Target,
    frozen,
    scenes,
)

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
        (frame(Pass((Output(A),), samples=3)), "samples is 3; it must be 1, 2, 4, 8 or 16"),
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
        "(not one of host's techniques; hsr adds it)"
    ]
    assert len(notes) == 3 and all(len(cell) <= 60 for row in rows for cell in row)
    assert {row[3] for row in rows} == {"on", "off [2]"} and notes[1].startswith("[2] reads the tile")
    assert "low-resolution Z" not in explanation._repr_html_().partition("</table>")[0]


# ------------------------------------------------------------------------------------------- depth only, and short samplers

TRIANGLE = """#version 450
layout(push_constant) uniform Push { float z; float size; };
void main() { gl_Position = vec4(size * vec2(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1), z, 1); }"""
NOTHING = "#version 450\nvoid main() {}"
RED = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1, 0, 0, 1); }"


def at(program: Program, z: float, size: float = 1.0) -> Draw:
    return Draw(program, count=3, push={"z": z, "size": size}, label=program.label)


def shadowed(fragment: str | None) -> Frame:
    """Depth alone in a pass before; then that depth as a colour."""
    depth = Target("d32_sfloat", label="depth")
    first = Pass(depth=Output(depth, clear=1.0), draws=(at(Program(TRIANGLE, fragment), 0.25, 0.5),), label="depth")
    return dataclasses.replace(frame(first, source=depth), label="shadowed")


def prepass(fragment: str | None) -> Frame:
    """Depth of a half first, in a pass with a colour; then all of it behind that, in red."""
    draws = (at(Program(TRIANGLE, fragment), 0.25, 0.5), at(Program(TRIANGLE, RED), 0.5))
    return Frame((16, 12), clear_colors=((0, 0, 1, 1),), draws=draws, label="prepass")


@pytest.mark.parametrize("made", [shadowed, prepass])
@pytest.mark.filterwarnings("error")
def test_a_program_of_depth_alone(renderer: SceneRenderer, made: Any) -> None:
    image = renderer.render(made(None)).images[0]
    assert len(np.unique(image.reshape(-1, 4), axis=0)) == 2  # something is there, and something is not
    if made is shadowed:
        assert np.array_equal(image, renderer.render(made(NOTHING)).images[0])
    else:
        assert {tuple(p) for p in image.reshape(-1, 4).tolist()} == {(0, 0, 255, 255), (255, 0, 0, 255)}  # it leaves colours as they are
    assert np.array_equal(SceneRenderer(tg.Device(), dynamic=True).render(made(None)).images[0], image)


def test_a_program_of_depth_alone_is_plain_data(tmp_path: Path) -> None:
    """It goes to other processes, has a hash of its own, is read again, and is written for other drivers."""
    from tilegpu.bench import frame_file
    from tilegpu.farm import frame_hash
    from tilegpu.viewer.painter import reread

    alone = shadowed(None)
    assert pickle.loads(pickle.dumps(alone)).passes[0].draws[0].program.fragment is None
    assert frame_hash(alone) == frame_hash(shadowed(None)) != frame_hash(shadowed(NOTHING))
    assert reread(Program(TRIANGLE)).fragment is None
    assert frozen(alone) is not None
    renderer = SceneRenderer(tg.Device())
    for made in (shadowed, prepass):
        drawn = dataclasses.replace(made(None))
        renderer.render(drawn)
        frame_file.write(drawn, renderer, tmp_path / "frame")
        words = [line.split() for line in (tmp_path / "frame").read_text().splitlines() if line.startswith("pipeline ")]
        masks = {int(w[13]) for w in words}
        assert len(words) == 2 and masks == {0, 15}, words


@needs_reference
@pytest.mark.parametrize("made", [shadowed, prepass])
def test_opengl_draws_depth_alone(renderer: SceneRenderer, made: Any) -> None:
    what = made(None)
    ours = renderer.render(what).images[0]
    (found,) = compare_frame(what, [ours])
    assert found.difference.over_8_inside_px == 0 and found.difference.share_over_2_inside == 0
    with GlRenderer.shared() as gl:
        assert np.array_equal(gl.render(what).images[0], ours)
    PreparedFrame(what).run()


@pytest.mark.parametrize(
    "made, said",
    [
        (lambda: Frame((8, 8), draws=(at(Program(TRIANGLE, label="p"), 0.5),), label="f"),
         "frame 'f': no draw has a fragment shader, so nothing is drawn to color; give fragment="),
        (lambda: Frame((8, 8), depth_format=None, draws=(at(Program(TRIANGLE, label="p"), 0.5), Draw(PAINT, count=3)), label="f"),
         "frame 'f': program 'p' has no fragment shader and the pass no depth, so it draws nothing; give fragment=, or depth"),
        (lambda: frame(Pass((Output(A),), draws=(at(Program(TRIANGLE, label="p"), 0.5),), label="one")),
         "frame 'f', pass 'one': program 'p' has no fragment shader and the pass no depth"),
    ],
)  # fmt: skip
def test_a_program_that_draws_nothing_is_said(renderer: SceneRenderer, made: Any, said: str) -> None:
    with pytest.warns(tg.UnusedNameWarning) as caught:
        renderer.render(made())
    assert [said in str(w.message) for w in caught] == [True]


def test_samplers_by_the_names_of_dev_sampler() -> None:
    assert Sampler() == Sampler("linear", "linear", "linear", "repeat", "repeat", "repeat") == Sampler(filter="linear", address="repeat")
    near = Sampler(filter="nearest", address=("clamp_to_edge", "mirrored_repeat"))
    assert (near.min_filter, near.mag_filter, near.mipmap_mode) == ("nearest",) * 3
    assert (near.address_u, near.address_v, near.address_w) == ("clamp_to_edge", "mirrored_repeat", "mirrored_repeat")
    some = Sampler(filter="nearest", mag_filter="linear", address="clamp_to_border", address_v="repeat")
    assert (some.min_filter, some.mag_filter, some.mipmap_mode) == ("nearest", "linear", "nearest")
    assert (some.address_u, some.address_v, some.address_w) == ("clamp_to_border", "repeat", "clamp_to_border")
    assert Sampler(address="clamp_to_edge", address_w="repeat") == CLAMPED and hash(near) == hash(dataclasses.replace(near))
    assert pickle.loads(pickle.dumps(near)) == near and dataclasses.replace(near, min_filter="linear").mag_filter == "nearest"


@pytest.mark.parametrize("wrong", [(), ("repeat",) * 4, []])
def test_addresses_of_samplers_that_are_none(wrong: Any) -> None:
    for make, who in ((Sampler, "Sampler"), (tg.Device().sampler, "sampler")):
        with pytest.raises(tg.ValidationError, match=f"{who}: address is .*; give one mode, or one each for u, v"):
            make(address=wrong)


def test_filters_and_addresses_that_the_device_does_not_know(renderer: SceneRenderer) -> None:
    for options in ({"filter": "linaer"}, {"address": "repaet"}):
        copy = dataclasses.replace(frame(paint(A)), draws=(draw(COPY, bind={"source": Sampled(A, Sampler(**options))}),))  # type: ignore[arg-type]
        with pytest.raises(tg.ValidationError) as by_scene:
            renderer.render(copy)
        with pytest.raises(tg.ValidationError) as by_device:
            renderer.device.sampler(**options)  # type: ignore[arg-type]
        assert str(by_scene.value).partition(";")[0] in str(by_device.value) or "sampler: " in str(by_scene.value)


def test_filter_beside_all_that_it_stands_for_is_said() -> None:
    """dataclasses.replace gives all six."""
    singly: Any = {"min_filter": "linear", "mag_filter": "linear", "mipmap_mode": "linear"}
    for make, who in ((Sampler, "Sampler"), (tg.Device().sampler, "sampler")):
        with pytest.warns(tg.UnusedNameWarning, match=f"^{who}: filter='nearest' has no effect with .*mag_filter='linear'.*; leave out"):
            make(filter="nearest", **singly)
    with pytest.warns(tg.UnusedNameWarning, match="^Sampler: address='repeat' has no effect with address_u='clamp_to_edge', "):
        assert dataclasses.replace(CLAMPED, address="repeat") == CLAMPED
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sampler(filter="linear", **singly)
        dataclasses.replace(CLAMPED, lod_bias=1.0)
