"""Secondary command buffers from Python: the same bits as draws in the pass itself, many times, in many passes; every wrong use is said."""

# ruff: noqa: SIM117
from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

VERT = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 color;
layout(push_constant) uniform Push { float shift; };
layout(location = 0) out vec4 v_color;
void main() { gl_Position = vec4(position.x + shift, position.yz, 1); v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(binding = 0) uniform Tint { vec4 tint; };
layout(location = 0) out vec4 o;
void main() { o = v_color * tint; }"""
DTYPE = np.dtype([("position", "f4", 3), ("color", "f4", 4)])
COLOR, DEPTH = "r8g8b8a8_unorm", "d32_sfloat"
SIZE = (45, 37)


@pytest.fixture(scope="module", params=[1, 2])
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(cache_dir="off", threads=request.param)


def triangles(seed: int, count: int = 12) -> np.ndarray:
    random = np.random.default_rng(seed)
    made = np.zeros(3 * count, DTYPE)
    made["position"] = random.uniform((-1, -1, 0), (1, 1, 1), (3 * count, 3))
    made["color"] = random.uniform(0, 1, (3 * count, 4))
    return made


class Scene:
    """Draws that use every kind of argument."""

    def __init__(self, dev: tg.Device, samples: int = 1) -> None:
        self.dev, self.samples = dev, samples
        self.pipe = dev.pipeline(
            VERT, FRAG, vertex=DTYPE, color=[COLOR], depth=DEPTH, depth_compare="less", blend="alpha", samples=samples, label="plain"
        )
        self.moving = dev.pipeline(
            VERT, FRAG, vertex=DTYPE, color=[COLOR], depth=DEPTH, samples=samples, dynamic=["cull_mode", "viewport"], label="moving"
        )

    def draws(self, at: Any, seed: int) -> None:
        tint = {"Tint": {"tint": (1, 0.5, 1, 0.75)}}
        at.draw(self.pipe, triangles(seed), bind=tint, push={"shift": 0.25}, viewport=(3, 4, 20, 30), scissor=(5, 5, 30, 9))
        at.draw(self.pipe, triangles(seed + 1), bind=tint, push={"shift": 0}, indices=np.arange(35, -1, -1))
        at.set(cull_mode="back", viewport=(0, 0, 30, 37))
        at.draw(self.moving, triangles(seed + 2), bind=tint, push={"shift": -0.25})
        at.clear((0.25, 0.5, 0.75, 1), rect=(12, 5, 3, 20))
        at.draw(self.pipe, triangles(seed + 3), bind=tint, push={"shift": 0})

    def target(self) -> tuple[tg.Image, Any, Any]:
        out = self.dev.image(SIZE, COLOR)
        if self.samples == 1:
            return out, tg.Attachment(out, clear=(0, 0, 0, 1)), tg.Attachment(self.dev.image(SIZE, DEPTH), clear=1.0)
        color = self.dev.image(SIZE, COLOR, samples=self.samples, transient=True)
        depth = self.dev.image(SIZE, DEPTH, samples=self.samples, transient=True)
        return (
            out,
            tg.Attachment(color, clear=(0, 0, 0, 1), store_op="dont_care", resolve=out),
            tg.Attachment(depth, clear=1.0, store_op="dont_care"),
        )

    def secondary(self, seed: int, **options: Any) -> tg.SecondaryCommandBuffer:
        with self.dev.secondary(color=COLOR, depth=DEPTH, samples=self.samples, label=f"part {seed}", **options) as part:
            self.draws(part, seed)
        return part


def drawn(scene: Scene, *seeds: int, parts: dict[int, tg.SecondaryCommandBuffer] | None = None, area: Any = None) -> np.ndarray:
    out, color, depth = scene.target()
    with scene.dev.render_pass(color=[color], depth=depth, area=area) as rp:
        for seed in seeds:
            if parts is None:
                scene.draws(rp, seed)
            else:
                rp.execute_commands(parts[seed])
    return out.numpy()


@pytest.mark.parametrize("samples", [1, 4])
def test_the_same_bits_as_in_the_pass(dev: tg.Device, samples: int) -> None:
    scene = Scene(dev, samples)
    parts = {seed: scene.secondary(seed) for seed in (10, 20)}
    for seeds in ((10,), (10, 20), (20, 10, 20)):
        assert np.array_equal(drawn(scene, *seeds), drawn(scene, *seeds, parts=parts))
    area = (7, 3, 25, 30)
    assert np.array_equal(drawn(scene, 20, area=area), drawn(scene, 20, parts=parts, area=area))


def test_between_draws_of_the_pass(dev: tg.Device) -> None:
    """State that was set before is as it was afterwards."""
    scene = Scene(dev)
    part = scene.secondary(3)
    tint = {"Tint": {"tint": (1, 1, 1, 1)}}
    pictures = []
    for inside in (False, True):
        out, color, depth = scene.target()
        with dev.render_pass(color=[color], depth=depth) as rp:
            rp.set(cull_mode="front", viewport=(0, 0, 20, 20))
            for seed in (1, 2):
                if seed == 2 and inside:
                    rp.execute_commands(part)
                elif seed == 2:
                    scene.draws(rp, 3)
                    rp.set(cull_mode="front", viewport=(0, 0, 20, 20))
                told = pytest.warns(tg.ExtensionWarning, match="cull_mode, viewport are as set before execute_commands")
                with told if seed == 2 and inside else nullcontext():
                    rp.draw(scene.moving, triangles(seed), bind=tint, push={"shift": 0.1 * seed})
        pictures.append(out.numpy())
    assert np.array_equal(*pictures)


def test_from_many_threads(dev: tg.Device) -> None:
    scene = Scene(dev)
    parts: dict[int, tg.SecondaryCommandBuffer] = {}

    def record(seed: int) -> None:
        parts[seed] = scene.secondary(seed)

    threads = [threading.Thread(target=record, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out, color, depth = scene.target()
    with dev.render_pass(color=[color], depth=depth) as rp:
        rp.execute_commands(*(parts[seed] for seed in range(6)))
    assert np.array_equal(out.numpy(), drawn(scene, *range(6)))


def test_it_lives_as_long_as_a_pass_that_executed_it(dev: tg.Device, tmp_path: Any) -> None:
    scene = Scene(dev)
    right = drawn(scene, 7)
    out, color, depth = scene.target()
    with dev.render_pass(color=[color], depth=depth) as rp:
        rp.execute_commands(scene.secondary(7))
    rp.capture(tmp_path / "c")
    for seed in range(3):
        drawn(scene, seed)  # takes the memory of arrays that nobody reads
    rp.replay()
    assert np.array_equal(out.numpy(), right)
    replay = dev.load_capture(tmp_path / "c")
    replay.run()
    assert np.array_equal(replay.pictures[0], right)
    assert {row["pipeline"] for row in rp.explain().rows} == {"plain", "moving"}


def test_queries(dev: tg.Device) -> None:
    scene = Scene(dev)
    with dev.secondary(COLOR, DEPTH) as part, part.query() as inner:
        scene.draws(part, 5)
    counted = scene.secondary(5, occlusion_query=True)
    samples = []
    for executed in (None, part, counted):
        _, color, depth = scene.target()
        with dev.render_pass(color=[color], depth=depth) as rp:
            if executed is part:
                rp.execute_commands(part)
                continue
            with rp.query() as outer:
                if executed is None:
                    scene.draws(rp, 5)
                else:
                    rp.execute_commands(counted)
        samples.append(outer.samples)
    assert inner.samples == samples[0] == samples[1] > 0
    _, color, depth = scene.target()
    with dev.render_pass(color=[color], depth=depth, label="p") as rp, rp.query():
        with pytest.raises(tg.ValidationError, match="an occlusion query is active, and its inheritance info does not say occlusion_query"):
            rp.execute_commands(scene.secondary(5))


def test_wrong_uses(dev: tg.Device) -> None:
    scene = Scene(dev)
    part = scene.secondary(1)
    _, color, depth = scene.target()
    open_one = dev.secondary(COLOR, DEPTH, label="open")
    with dev.render_pass(color=[color], depth=depth, label="p") as rp:
        with pytest.raises(tg.ValidationError, match=r"argument 1 is None; it must be a secondary command buffer \(dev.secondary\)"):
            rp.execute_commands(part, None)  # type: ignore[arg-type]
        with open_one, pytest.raises(tg.ValidationError, match="'open' has not ended; leave its with block first"):
            rp.execute_commands(open_one)
        rp.execute_commands(part)
    with dev.render_pass(color=[color], label="p") as rp:
        with pytest.raises(tg.ValidationError, match=r"\('part 1'\): depth is d32_sfloat, and the pass has none; give dev.secondary those"):
            rp.execute_commands(part)
    with pytest.raises(tg.ValidationError, match="pass 'p' is not open"):
        rp.execute_commands(part)
    with pytest.raises(tg.ValidationError, match="secondary command buffer 'part 1' was entered before; make a new one"):
        part.__enter__()
    with pytest.raises(tg.ValidationError, match="secondary command buffer 'part 1' is not open"):
        part.draw(scene.pipe, count=3)
    with pytest.raises(ZeroDivisionError), dev.secondary(COLOR, label="broken") as broken:
        _ = 1 / 0
    with dev.render_pass(color=[color], depth=depth) as rp:
        with pytest.raises(tg.ValidationError, match="'broken' has not ended; an exception left its with block"):
            rp.execute_commands(broken)
    other = tg.Device(cache_dir="off", threads=1)
    with other.secondary(COLOR, DEPTH) as strange:
        pass
    with dev.render_pass(color=[color], depth=depth) as rp:
        with pytest.raises(tg.ValidationError, match="belongs to another device"):
            rp.execute_commands(strange)
    with dev.secondary(COLOR, DEPTH, label="s") as s:
        with pytest.raises(tg.ValidationError, match="secondary command buffer 's': clear of colour attachment 1"):
            s.clear((0, 0, 0, 0), attachment=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"color": "no_format"}, "secondary command buffer 's': color.0.: format 'no_format' is not known"),
        ({"color": COLOR, "samples": 3}, "'s': samples is 3; allowed are 1, 2, 4, 8 and 16"),
        ({"color": [COLOR, DEPTH]}, r"'s': color\[1\] is d32_sfloat, which can't be a colour attachment"),
        ({"depth": COLOR}, "'s': depth is r8g8b8a8_unorm, which has no depth"),
        ({"stencil": DEPTH}, "'s': stencil is d32_sfloat, which has no stencil"),
        ({"color": [COLOR] * 9}, "'s': color has 9 formats; at most 8 are allowed"),
        ({"occlusion_query": "no"}, "'s': occlusion_query is 'no'; it must be True or False"),
    ],
)
def test_wrong_formats(dev: tg.Device, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.Error, match=message):
        dev.secondary(label="s", **arguments)


OTHER: list[tuple[dict[str, Any], str]] = [
    ({"color": ["r8g8b8a8_srgb"]}, r"color\[0\] is r8g8b8a8_srgb, and the pass has r8g8b8a8_unorm"),
    ({"color": [COLOR, COLOR]}, r"color\[1\] is r8g8b8a8_unorm, and the pass has none"),
    ({"color": []}, r"color\[0\] is none, and the pass has r8g8b8a8_unorm"),
    ({"depth": None}, "depth is none, and the pass has d32_sfloat"),
    ({"depth": "d16_unorm", "samples": 2}, "depth is d16_unorm, and the pass has d32_sfloat; samples is 2, and the pass has 4"),
    ({"samples": 1}, "samples is 1, and the pass has 4"),
    ({"depth": None, "stencil": "s8_uint"}, "depth is none, and the pass has d32_sfloat; stencil is s8_uint, and the pass has none"),
]


@pytest.mark.parametrize("way", ["images", "samples", "framebuffer"])
@pytest.mark.parametrize(("given", "message"), OTHER)
def test_what_does_not_fit_is_named(dev: tg.Device, given: dict[str, Any], message: str, way: str) -> None:
    own: dict[str, Any] = {"color": [COLOR], "depth": DEPTH, "samples": 4}
    with dev.secondary(**(own | given), label="s") as part:
        pass
    size, samples = (8, 8), 1 if way == "samples" else 4
    color, depth = dev.image(size, COLOR, samples=samples), dev.image(size, DEPTH, samples=samples)
    both = {"color": tg.Attachment(color, clear=(0, 0, 0, 0)), "depth": tg.Attachment(depth, clear=1.0)}
    if way == "framebuffer":
        layout = tg.FramebufferLayout([COLOR], DEPTH, size=size, samples=4)
        rp = dev.render_pass(framebuffer=dev.framebuffer(layout), label="p")
    else:
        rp = dev.render_pass(**both, samples=4 if way == "samples" else 0, label="p")
    said = rf"^pass 'p': execute_commands .*\('s'\): {message}; give dev.secondary those of the pass$"
    with rp, pytest.raises(tg.ValidationError, match=said):
        rp.execute_commands(part)
