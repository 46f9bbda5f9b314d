"""VK_KHR_multiview: each view has the bytes of the same draws made for it alone; layers that are no views stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COLOR, DEPTH = "r8g8b8a8_unorm", "d24_unorm_s8_uint"
WIDTH, HEIGHT = 70, 45  # no multiples of a bin
VERTEX = np.dtype([("position", "f4", 3), ("color", "f4", 3)])
VERT = """#version 450
#extension GL_EXT_multiview : require
layout(location = 0) in vec3 position;  layout(location = 1) in vec3 color;  layout(location = 0) out vec3 v_color;
void main() { gl_Position = vec4(position.xy + 0.1 * gl_ViewIndex, position.z, 1); v_color = color; }"""
FRAG = """#version 450
#extension GL_EXT_multiview : require
layout(location = 0) in vec3 v_color;  layout(location = 0) out vec4 o;
void main() { o = vec4(v_color * (gl_ViewIndex + 1) / 32.0, 0.5); }"""
PUSH = "layout(push_constant) uniform Push { int view; };"
DEVICES: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 1, "lanes": 4, "bin_px": 32},
    {"threads": 2, "lanes": 16, "hsr": "all"},
    {"threads": 2, "hsr": "off", "tiler_heap": 1 << 13},
]
MASKS = [0b1, 0b11, 0b101101, 0xFF, 1 << 31 | 0b10]


def alone(text: str) -> str:
    return text.replace("#extension GL_EXT_multiview : require", PUSH).replace("gl_ViewIndex", "view")


def triangles(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    out = np.zeros((count, 3), VERTEX)
    out["position"][..., :2] = rng.uniform(-1.3, 1, (count, 1, 2)) + rng.normal(0, 0.4, (count, 3, 2))
    out["position"][..., 2] = rng.uniform(-0.1, 1.1, (count, 3))
    out["color"] = rng.random((count, 3, 3))
    return out.reshape(-1)


def draw(dev: tg.Device, rp: Any, pipe: tg.Pipeline, data: np.ndarray, **more: Any) -> None:
    rp.draw(pipe, data[:60], **more)
    rp.clear((0.5, 0.25, 0, 1), rect=(10, 4, 9, 30))
    indices = np.arange(60, len(data), dtype="u2")
    rp.draw(pipe, data, indices=indices, **more)


def pipelines(dev: tg.Device, vert: str, frag: str, samples: int) -> tg.Pipeline:
    return dev.pipeline(vert, frag, vertex=VERTEX, color=[COLOR], depth=DEPTH, samples=samples, depth_compare="less", blend="alpha")


def render(dev: tg.Device, data: np.ndarray, mask: int, samples: int = 1, view: int | None = None) -> tuple[tg.Image, tg.RenderPass]:
    layers = mask.bit_length()
    color = dev.image((WIDTH, HEIGHT), COLOR, layers=layers)
    many = dev.image((WIDTH, HEIGHT), COLOR, layers=layers, samples=samples) if samples > 1 else None
    depth = dev.image((WIDTH, HEIGHT), DEPTH, layers=layers, samples=samples)
    target = tg.Attachment(many or color, clear=(0.1, 0.2, 0.3, 1), resolve=color if many else None)
    of = (VERT, FRAG) if view is None else (alone(VERT), alone(FRAG))
    pipe = pipelines(dev, *of, samples)
    push = {} if view is None else {"push": np.array([view], "i4").tobytes()}
    with dev.render_pass(color=[target], depth=tg.Attachment(depth, clear=0.9), view_mask=0 if push else mask) as rp:
        draw(dev, rp, pipe, data, **push)
    return color, rp


def right(data: np.ndarray, view: int, samples: int = 1) -> np.ndarray:
    return render(tg.Device(hsr="off", threads=1), data, 1, samples, view)[0].numpy()


@pytest.mark.parametrize("mask", MASKS, ids=hex)
def test_views_are_those_drawn_alone(mask: int) -> None:
    data = triangles(3, 40)
    for device in DEVICES if mask == MASKS[2] else DEVICES[:1]:
        image, _ = render(tg.Device(**device), data, mask)
        for view in range(mask.bit_length()):
            if mask >> view & 1:
                assert np.array_equal(image.numpy(layer=view), right(data, view)), (device, view)
            else:
                assert image.view("2d", layer=view, layers=1).why_undefined()


def test_views_are_resolved() -> None:
    data = triangles(5, 30)
    image, _ = render(tg.Device(threads=2), data, 0b1010, 4)
    for view in (1, 3):
        assert np.array_equal(image.numpy(layer=view), right(data, view, 4)), view


def test_other_layers_stay_and_are_not_paid() -> None:
    dev = tg.Device()
    image = dev.image((WIDTH, HEIGHT), COLOR, layers=5)
    dev.clear(image, (1, 0, 1, 0))
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 1, 0, 0))], view_mask=0b1010) as rp:
        pass
    for layer in range(5):
        assert image.numpy(layer=layer)[3, 3].tolist() == ([0, 255, 0, 0] if layer in (1, 3) else [255, 0, 255, 0])
    assert rp.stats.traffic["color0"]["store"] == 2 * WIDTH * HEIGHT * 4
    with dev.render_pass(color=[image], view_mask=0b101) as rp:
        rp.clear((0, 0, 0, 0), rect=(0, 0, 8, 8))
    assert [int(image.numpy(layer=i).any(-1)[2, 2]) for i in range(5)] == [0, 1, 0, 1, 1]


def test_queries_have_a_result_for_each_view() -> None:
    dev = tg.Device(threads=2)
    data = triangles(7, 3)
    counts = {}
    for mask, view in [(0b1101, None), *((1, v) for v in (0, 2, 3))]:
        color = dev.image((WIDTH, HEIGHT), COLOR, layers=mask.bit_length())
        of = (VERT, FRAG) if view is None else (alone(VERT), alone(FRAG))
        pipe = dev.pipeline(*of, vertex=VERTEX, color=[COLOR])
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], view_mask=mask if view is None else 0) as rp:
            push = {} if view is None else {"push": np.array([view], "i4").tobytes()}
            rp.draw(pipe, data, **push)
            with rp.query() as q:
                rp.draw(pipe, data, **push)
        counts[view] = q.views
        assert q.samples == sum(q.views)
    assert counts[None] == [counts[0][0], counts[2][0], counts[3][0]] and min(counts[None]) > 0


def test_indirect_draws_secondaries_and_viewports_have_views() -> None:
    vert = VERT.replace(": require", ": require\n#extension GL_ARB_shader_viewport_layer_array : require")
    vert = vert.replace("v_color = color;", "v_color = color; gl_ViewportIndex = gl_ViewIndex & 1;")
    data = triangles(9, 20)
    halves = [(0, 0, WIDTH, HEIGHT), (20, 5, 30, 30)]
    dev = tg.Device(threads=2)
    color = dev.image((WIDTH, HEIGHT), COLOR, layers=4)
    pipe = dev.pipeline(vert, FRAG, vertex=VERTEX, color=[COLOR])
    commands = dev.buffer(np.array([[30, 1, 0, 0], [30, 1, 30, 0]], "u4"))
    with dev.secondary(color=[COLOR], view_mask=0b1110) as part:
        part.draw_indirect(pipe, commands, vertices=data, viewport=halves, scissor=halves)
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], view_mask=0b1110) as rp:
        rp.execute_commands(part)
    plain = dev.pipeline(alone(VERT), alone(FRAG), vertex=VERTEX, color=[COLOR])
    for view in (1, 2, 3):
        one = dev.image((WIDTH, HEIGHT), COLOR)
        with dev.render_pass(color=[tg.Attachment(one, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(plain, data, viewport=halves[view & 1], scissor=halves[view & 1], push=np.array([view], "i4").tobytes())
        assert np.array_equal(color.numpy(layer=view), one.numpy()), view
    with pytest.raises(tg.ValidationError, match="view mask"), dev.render_pass(color=[color]) as rp:
        rp.execute_commands(part)


def test_explained_and_counted_once(tmp_path: Path) -> None:
    dev = tg.Device(hsr=["pre_pass", "lrz", "hierarchical_z"])
    image, rp = render(dev, triangles(11, 40), 0b111)
    explained = rp.explain()
    assert rp.stats.draws == 2 and sum(row["draws"] for row in explained.rows) == 2
    assert "several layers or views" in str(explained)
    rp.capture(tmp_path / "a")
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "a")
    replay.run()
    assert np.array_equal(replay.pictures[0], image.numpy(layer=0))


def test_masks_are_checked() -> None:
    dev = tg.Device()
    image = dev.image((16, 16), COLOR, layers=2)
    with pytest.raises(tg.ValidationError, match="leave one of them out"):
        dev.render_pass(color=[image], layers=2, view_mask=3)
    with pytest.raises(tg.ValidationError, match="2 layers"), dev.render_pass(color=[image], view_mask=4):
        pass
    with pytest.raises(tg.ValidationError, match="a bit for each view"):
        dev.render_pass(color=[image], view_mask=-1)
