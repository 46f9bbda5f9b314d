"""Barycentrics in fragment shaders: which vertex is which by the table, and weights that make a varying again; the same bits
on every device. Source: Vulkan specification, "Barycentric Interpolation"; triStripVertexOrderIndependentOfProvokingVertex is false."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from primitive_scenes import CASES, FLAT_EVALUATION, PASS_CONTROL, PASS_TRIANGLES, PLAIN, Array, triangles

SIZE = (48, 48)
WORDS = "r32g32b32a32_sfloat"
HEAD = "#version 450\n#extension GL_EXT_fragment_shader_barycentric : require\n"
NUMBERS_VERT = """#version 450
layout(location = 0) in vec2 p; layout(location = 0) out float number;
void main() { gl_Position = vec4(p, 0.5, 1); number = float(gl_VertexIndex); gl_PointSize = 5; }"""
NUMBERS = (
    HEAD
    + """layout(location = 0) pervertexEXT in float number[3]; layout(location = 0) out vec4 o;
void main() { o = vec4(number[0], number[1], number[2], gl_PrimitiveID + 1); }"""
)
#: Of primitive i: vertices by first and by last provoking vertex.
TABLE: dict[str, Any] = {
    "point_list": lambda i, last: (i, i, i),
    "line_list": lambda i, last: (2 * i, 2 * i + 1, 2 * i + 1),
    "line_strip": lambda i, last: (i, i + 1, i + 1),
    "triangle_list": lambda i, last: (3 * i, 3 * i + 1, 3 * i + 2),
    "triangle_strip": lambda i, last: (i, i + 1, i + 2) if i % 2 == 0 else (i + 1, i, i + 2) if last else (i, i + 2, i + 1),
    "triangle_fan": lambda i, last: (0, i + 1, i + 2) if last else (i + 1, i + 2, 0),
    "line_list_with_adjacency": lambda i, last: (4 * i + 1, 4 * i + 2, 4 * i + 2),
    "line_strip_with_adjacency": lambda i, last: (i + 1, i + 2, i + 2),
    "triangle_list_with_adjacency": lambda i, last: (6 * i, 6 * i + 2, 6 * i + 4),
    "triangle_strip_with_adjacency": lambda i, last: (
        (2 * i, 2 * i + 2, 2 * i + 4)
        if i % 2 == 0
        else (2 * i + 2, 2 * i, 2 * i + 4)
        if last
        else (2 * i, 2 * i + 4, 2 * i + 2)
    ),
}


def drawn(dev: tg.Device, frag: str, vertices: Array, count: int = 1, vert: Any = PLAIN, **state: Any) -> list[Array]:
    """``count`` pictures of floats: each pixel's first sample."""
    samples = state.get("samples", 1)
    hsr = state.pop("hsr", None)
    targets = [dev.image(SIZE, WORDS, samples=samples) for _ in range(count)]
    pipe = dev.pipeline(vert, frag, vertex=vertices.dtype, color=[WORDS] * count, **state)
    colors = [tg.Attachment(target, clear=(0, 0, 0, 0)) for target in targets]
    with dev.render_pass(color=colors, **({"hsr": hsr} if hsr else {})) as rp:
        rp.draw(pipe, vertices)
    return [t.numpy() if samples == 1 else t.numpy()[:, :, 0] for t in targets]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("topology", TABLE)
def test_vertices_have_the_numbers_of_the_table(topology: str, last: bool) -> None:
    rng = np.random.default_rng(3)
    points = np.zeros(24, [("p", "f4", 2)])
    points["p"] = rng.uniform(-0.9, 0.9, (24, 2))
    for lanes, threads, target in CASES:
        dev = tg.Device(cache_dir="off", lanes=lanes, threads=threads, jit_target=target)
        (found,) = drawn(dev, NUMBERS, points, vert=NUMBERS_VERT, topology=topology, provoking_vertex="last" if last else "first")
        hit = found[found[..., 3] > 0]
        assert len(np.unique(hit[:, 3])) > 3
        for *numbers, primitive in np.unique(hit, axis=0):
            assert tuple(numbers) == TABLE[topology](int(primitive) - 1, last)


WEIGHTS = (
    HEAD
    + """layout(location = 0) pervertexEXT in vec3 corner[3];
layout(location = 0) out vec4 weights; layout(location = 1) out vec4 linear; layout(location = 2) out vec4 made;
layout(location = 3) out vec4 flatly;
void main() {
  weights = vec4(gl_BaryCoordEXT, 1); linear = vec4(gl_BaryCoordNoPerspEXT, 1);
  made = vec4(gl_BaryCoordEXT.x * corner[0] + gl_BaryCoordEXT.y * corner[1] + gl_BaryCoordEXT.z * corner[2], 1);
  flatly = vec4(gl_BaryCoordNoPerspEXT.x * corner[0] + gl_BaryCoordNoPerspEXT.y * corner[1] + gl_BaryCoordNoPerspEXT.z * corner[2], 1);
}"""
)


def interpolated(how: str) -> str:
    return f"#version 450\nlayout(location = 0) {how} in vec3 c; layout(location = 0) out vec4 o; void main() {{ o = vec4(c, 1); }}"


def check_weights(dev: tg.Device, vertices: Array, **more: Any) -> Array:
    weights, linear, made, flatly = drawn(dev, WEIGHTS, vertices, 4, **more)
    hit = weights[..., 3] > 0
    assert hit.sum() > 200
    for found in (weights, linear):
        np.testing.assert_allclose(found[hit][:, :3].sum(1), 1, atol=3e-6)
    # Lines are wider than long enough, and a vertex behind the eye is on the other side of the screen.
    assert "line" in more.get("topology", "") or weights[hit].min() > -1e-5
    vert = more.pop("vert", PLAIN)
    (smooth,) = drawn(dev, interpolated("smooth"), vertices, vert=vert, **more)
    np.testing.assert_allclose(made, smooth, atol=5e-6)
    if "geometry" not in more and "tessellation_control" not in more:
        straight = PLAIN.replace("layout(location = 0) out", "layout(location = 0) noperspective out")
        (plain,) = drawn(dev, interpolated("noperspective"), vertices, vert=straight, **more)
        np.testing.assert_allclose(flatly, plain, atol=5e-6)
    return np.stack([weights, linear, made, flatly])


@pytest.mark.parametrize("topology", ["triangle_list", "triangle_strip", "triangle_fan", "line_list", "line_strip"])
def test_weights_make_a_varying_again(topology: str) -> None:
    """Perspective and linear; triangles that the view volume cuts have the weights of the whole ones."""
    vertices = triangles(30, 5)
    vertices["p"][::7, 3] = -0.4  # behind the eye
    check_weights(tg.Device(cache_dir="off"), vertices, topology=topology)


def test_points_are_their_first_vertex() -> None:
    vertices = triangles(20, 5)
    vert = PLAIN.replace("void main() {", "void main() { gl_PointSize = 7;")
    weights, linear, made, _ = drawn(tg.Device(cache_dir="off"), WEIGHTS, vertices, 4, vert=vert, topology="point_list")
    hit = weights[..., 3] > 0
    assert hit.sum() > 200
    assert (weights[hit] == (1, 0, 0, 1)).all() and (linear[hit] == (1, 0, 0, 1)).all()
    (smooth,) = drawn(tg.Device(cache_dir="off"), interpolated("smooth"), vertices, vert=vert, topology="point_list")
    np.testing.assert_array_equal(made, smooth)


@pytest.mark.parametrize("state", [{"line_width": 6}, {"line_mode": "bresenham"}, {"line_mode": "rectangular", "line_width": 4}])
def test_lines_of_all_modes(state: dict[str, Any]) -> None:
    check_weights(tg.Device(cache_dir="off"), triangles(30, 9), topology="line_list", **state)


def test_stages_before_the_rasterizer() -> None:
    """What a geometry shader emits, and the tessellator's triangles: whatever their order is, weights and corners agree."""
    vertices = triangles(20, 7)
    dev = tg.Device(cache_dir="off")
    check_weights(dev, vertices, geometry=PASS_TRIANGLES)
    check_weights(dev, vertices, tessellation_control=PASS_CONTROL.replace("LEVEL", "4"), tessellation_evaluation=FLAT_EVALUATION)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("where", ["", "centroid ", "sample "])
def test_same_bits(where: str, samples: int) -> None:
    frag = WEIGHTS.replace("weights = vec4(gl_BaryCoordEXT, 1)", "weights = vec4(interpolateAtOffset(gl_BaryCoordEXT, vec2(0.25)), 1)")
    if where:
        frag = WEIGHTS + f"\n// {where}"
        frag = frag.replace("void main() {", f"layout(location = 4) {where}in vec3 other;\nvoid main() {{", 1)
        frag = frag.replace("flatly = vec4(", "flatly = vec4(other * 0.25 + ", 1)
    vertices = triangles(60, 11)
    vert = PLAIN.replace("void main() {", "layout(location = 4) out vec3 other;\nvoid main() { other = c * 2;") if where else PLAIN
    seen = []
    for profile in ("host", "immortalis-g925", "adreno-a740"):
        for hsr in ("off", "all"):
            lanes, threads, target = CASES[len(seen) % 3]
            dev = tg.Device(cache_dir="off", lanes=lanes, threads=threads, jit_target=target, profile=profile, hsr=hsr)
            seen.append(np.stack(drawn(dev, frag, vertices, 4, vert=vert, samples=samples)))
    for other in seen[1:]:
        np.testing.assert_array_equal(other, seen[0])
    assert seen[0].any()


def test_explained_and_counted() -> None:
    """Deferred vertex shading says why it does not take such a draw."""
    dev = tg.Device(cache_dir="off", profile="immortalis-g925", hsr="all")
    pipe = dev.pipeline(PLAIN, WEIGHTS, vertex=triangles(1, 1).dtype, color=[WORDS] * 4)
    with dev.render_pass(color=[tg.Attachment(dev.image(SIZE, WORDS), clear=(0, 0, 0, 0)) for _ in range(4)]) as rp:
        rp.draw(pipe, triangles(30, 2))
    assert "barycentrics" in str(rp.explain())
