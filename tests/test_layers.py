"""Layered rendering and viewport arrays (VK_EXT_shader_viewport_index_layer, multiViewport): the same bytes as each layer drawn alone with
one viewport after the other, whatever the device; primitives for layers and viewports that are not there are drawn nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COLOR, DEPTH = "r8g8b8a8_unorm", "d32_sfloat"
WIDTH, HEIGHT, LAYERS = 83, 70, 3  # no multiples of a bin
VERTEX = np.dtype([("position", "f4", 4), ("color", "f4", 4), ("place", "i4", 2)])
VERT = """#version 450
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) in vec4 position;  layout(location = 1) in vec4 color;  layout(location = 2) in ivec2 place;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; if (place.x != 0) gl_Layer = place.x; gl_ViewportIndex = place.y; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;  layout(location = 0) out vec4 o_color;
void main() { o_color = v_color * vec4(1, (gl_Layer + 1) / 4.0, (gl_ViewportIndex + 1) / 4.0, 1); }"""
ALONE_VERT = """#version 450
layout(location = 0) in vec4 position;  layout(location = 1) in vec4 color;  layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
ALONE_FRAG = """#version 450
layout(push_constant) uniform Push { ivec2 place; };
layout(location = 0) in vec4 v_color;  layout(location = 0) out vec4 o_color;
void main() { o_color = v_color * vec4(1, (place.x + 1) / 4.0, (place.y + 1) / 4.0, 1); }"""
# A depth range, a flipped one, one that ends within the scissor, an empty one.
VIEWPORTS = [(0, 0, 83, 70, 0, 1), (5.5, 9, 41, 40, 0.25, 0.75), (10, 66, 60, -61, 0.5, 0), (0, 0, 2**-20, 0, 0, 1)]
SCISSORS = [(0, 0, 83, 70), (3, 2, 60, 44), (20, 0, 63, 50), (0, 0, 83, 70)]
DEVICES: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 1, "lanes": 4, "bin_px": 32},
    {"threads": 2, "lanes": 16, "hsr": "all"},
    {"threads": 2, "hsr": "off", "vertex_batch": 7},
    {"threads": 2, "profile": "mali-g57", "tiler_heap": 1 << 13},
]


def triangles(seed: int, count: int, of_vertex: bool = False) -> np.ndarray:
    """Small ones and some that are cut by planes; each with its layer and viewport, some of which are not there."""
    rng = np.random.default_rng(seed)
    out = np.zeros((count, 3), VERTEX)
    w = rng.uniform(0.5, 2, (count, 3))
    out["position"][..., :2] = (rng.uniform(-1, 1, (count, 1, 2)) + rng.normal(0, 0.4, (count, 3, 2))) * w[..., None]
    out["position"][..., 2] = rng.uniform(-0.1, 1.1, (count, 3)) * w
    out["position"][..., 3] = w
    out["color"] = rng.random((count, 3, 4))
    places = [-1, 0, 1, 2, 3, 1 << 20], [0, 1, 2, 3, 4, -1]
    shape = (count, 3 if of_vertex else 1)
    for axis in range(2):
        out["place"][..., axis] = rng.choice(places[axis], shape, p=[0.05, 0.3, 0.3, 0.25, 0.05, 0.05])
    runs = rng.random(count) < 0.5  # with the place of the one before
    for i in np.flatnonzero(runs[1:]) + 1:
        out["place"][i] = out["place"][i - 1]
    return out


def images(dev: tg.Device, samples: int = 1, layers: int = LAYERS) -> tuple[tg.Image, tg.Image, tg.Image | None]:
    color = dev.image((WIDTH, HEIGHT), COLOR, layers=layers)
    depth = dev.image((WIDTH, HEIGHT), DEPTH, layers=layers, samples=samples)
    many = dev.image((WIDTH, HEIGHT), COLOR, layers=layers, samples=samples) if samples > 1 else None
    return color, depth, many


def attachments(found: Any) -> dict[str, Any]:
    color, depth, many = found
    target = tg.Attachment(many or color, clear=(0.1, 0.2, 0.3, 1), resolve=color if many else None)
    return {"color": [target], "depth": tg.Attachment(depth, clear=0.9)}


def pipeline(dev: tg.Device, vert: str = VERT, frag: str = FRAG, samples: int = 1, **state: Any) -> tg.Pipeline:
    state = {"depth_compare": "less", **state}
    return dev.pipeline(vert, frag, vertex=VERTEX, color=[COLOR], depth=DEPTH, samples=samples, **state)


def draw_layered(dev: tg.Device, data: np.ndarray, samples: int = 1, **state: Any) -> tuple[np.ndarray, tg.RenderPass, Any]:
    found = images(dev, samples)
    pipe = pipeline(dev, samples=samples, **state)
    with dev.render_pass(**attachments(found), layers=LAYERS) as rp:
        rp.draw(pipe, data.reshape(-1), viewport=VIEWPORTS, scissor=SCISSORS)
    return np.stack([found[0].numpy(layer=i) for i in range(LAYERS)]), rp, found


def draw_alone(data: np.ndarray, samples: int = 1, **state: Any) -> np.ndarray:
    dev = tg.Device(hsr="off", threads=1)
    pipe = pipeline(dev, ALONE_VERT, ALONE_FRAG, samples, **state)
    pictures = []
    last = state.get("provoking_vertex") == "last"
    for layer in range(LAYERS):
        found = images(dev, samples, 1)
        with dev.render_pass(**attachments(found)) as rp:
            for one in data:
                x, y = (int(v) for v in one["place"][2 if last else 0])
                if x == layer and 0 <= y < len(VIEWPORTS):
                    push = np.array([x, y], "i4").tobytes()
                    rp.draw(pipe, one, viewport=VIEWPORTS[y], scissor=SCISSORS[y], push=push)
        pictures.append(found[0].numpy())
    return np.stack(pictures)


@pytest.mark.parametrize("state", [{}, {"blend": "alpha", "depth_test": False}, {"depth_clamp": True}, {"cull": "back"}], ids=str)
def test_layers_and_viewports_are_those_drawn_alone(state: dict[str, Any]) -> None:
    data = triangles(3, 90)
    right = draw_alone(data, **state)
    assert sum(len(np.unique(picture.reshape(-1, 4), axis=0)) for picture in right) > 300
    for device in DEVICES:
        found, _, _ = draw_layered(tg.Device(**device), data, **state)
        assert np.array_equal(found, right), device


@pytest.mark.parametrize("samples", [4, 16])
def test_each_layer_is_resolved(samples: int) -> None:
    data = triangles(5, 60)
    right = draw_alone(data, samples)
    for device in DEVICES[:3]:
        assert np.array_equal(draw_layered(tg.Device(**device), data, samples)[0], right), device


def test_the_provoking_vertex_chooses() -> None:
    data = triangles(7, 80, of_vertex=True)
    for mode in ("first", "last"):
        state = {"provoking_vertex": mode}
        assert np.array_equal(draw_layered(tg.Device(threads=2), data, **state)[0], draw_alone(data, **state)), mode


@pytest.mark.parametrize("topology", ["point_list", "line_list"])
def test_points_and_lines_have_layers_too(topology: str) -> None:
    data = triangles(9, 80)
    if topology == "line_list":
        data = data[:, :2]
    else:
        data = data[:, :1]
    right = draw_alone(data, topology=topology)
    assert np.array_equal(draw_layered(tg.Device(threads=2), data, topology=topology)[0], right)


def test_instances_choose_layers_of_every_kind_of_image() -> None:
    """A full triangle for each instance, into layers of an array, a cube and slices of a volume: each has its instance's number."""
    vert = """#version 450
    #extension GL_ARB_shader_viewport_layer_array : require
    layout(location = 0) flat out int number;
    void main() { vec2 q = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1; gl_Position = vec4(q, 0, 1);
                  gl_Layer = gl_InstanceIndex; number = gl_InstanceIndex; }"""
    frag = """#version 450
    layout(location = 0) flat in int number;  layout(location = 0) out vec4 o;
    void main() { o = vec4((number + 1) / 255.0, gl_Layer / 255.0, 0, 1); }"""
    dev = tg.Device()
    pipe = dev.pipeline(vert, frag, color=[COLOR])
    for image, first in ((dev.image((64, 64), COLOR, layers=8), 2), (dev.image((64, 64), COLOR, cube=True), 0),
                         (dev.image((64, 64, 8), COLOR), 1)):
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1), layer=first)], layers=6) as rp:
            rp.draw(pipe, count=3, instances=7)  # the last one's layer is not there
        found = [image.numpy(layer=first + i)[5, 60, :2].tolist() for i in range(6)]
        assert found == [[i + 1, i] for i in range(6)]
        assert rp.stats.primitives_out == 6
        beside = image.view("2d", level=0, levels=1, layer=max(first - 1, 0), layers=1)
        assert bool(beside.why_undefined()) == (first > 0)


def test_clears_reach_the_layers_that_they_name() -> None:
    dev = tg.Device()
    image = dev.image((40, 40), COLOR, layers=4)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], layers=4) as rp:
        rp.clear((1, 0, 0, 0), layer=1, layers=2)
        rp.clear((0, 1, 0, 0), rect=(4, 4, 8, 8), layer=2)
        with pytest.raises(tg.ValidationError, match="layers of clear is all from 9, allowed is at least one, of the pass's 4"):
            rp.clear((0, 0, 1, 0), layer=9)
    red, green = np.zeros((40, 40, 4), "u1"), np.zeros((40, 40, 4), "u1")
    red[..., 0] = 255
    both = red.copy()
    both[4:12, 4:12] = green[4:12, 4:12] = (0, 255, 0, 0)
    for layer, right in enumerate((np.zeros((40, 40, 4), "u1"), red, both, green)):
        assert np.array_equal(image.numpy(layer=layer), right), layer


def test_a_layered_pass_costs_its_layers() -> None:
    data = triangles(11, 40)
    one = data.copy()
    one["place"] = 0
    dev = tg.Device(hsr=["lrz", "deferred_vertex_shading", "hierarchical_z"])
    _, rp, _ = draw_layered(dev, data)
    stored = rp.stats.traffic["color0"]["store"]
    assert stored == LAYERS * WIDTH * HEIGHT * 4
    text = str(rp.explain())
    assert "several layers or views" in text and "the vertex shader chooses layers or viewports" in text
    assert rp.layout["layers"] == LAYERS


def test_why_looks_at_one_layer() -> None:
    dev = tg.Device()
    data = triangles(13, 1)
    data["position"] = [(-1, -1, 0.5, 1), (3, -1, 0.5, 1), (-1, 3, 0.5, 1)]
    data["place"] = (2, 0)
    _, rp, _ = draw_layered(dev, data)
    assert [len(rp.why(40, 30, layer=layer).fragments) for layer in range(3)] == [0, 0, 1]
    with pytest.raises(tg.ValidationError, match="the pass has 3"):
        rp.why(1, 1, layer=3)


def test_a_capture_has_layers_and_viewports(tmp_path: Path) -> None:
    dev = tg.Device(threads=2)
    data = triangles(15, 60)
    right, rp, _ = draw_layered(dev, data)
    rp.capture(tmp_path / "a")
    replay = tg.Device(cache_dir="off", lanes=4).load_capture(tmp_path / "a")
    replay.run()
    assert np.array_equal(replay.pictures[0], right[0])


def test_counts_are_checked() -> None:
    dev = tg.Device()
    image = dev.image((16, 16), COLOR, layers=2)
    pipe = dev.pipeline(ALONE_VERT, FRAG, vertex=VERTEX, color=[COLOR])
    with pytest.raises(tg.ValidationError, match="2 layers"), dev.render_pass(color=[image], layers=3):
        pass
    for wrong, message in (([(0, 0, 1, 1)] * 17, "1 to 16"), ([], "it must be"), ([(0, 0, 1)], "it must be")):
        with pytest.raises(tg.ValidationError, match=message), dev.render_pass(color=[image]) as rp:
            rp.draw(pipe, triangles(1, 1).reshape(-1), viewport=wrong)
