"""Lines with dynamic state: what is drawn decides, whichever stage makes the lines, and random states equal fixed ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.errors import ValidationError

SIZE = 24


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


LINES = """#version 450
layout(points) in;
layout(line_strip, max_vertices = 2) out;
void main() {
  for (int i = 0; i < 2; i++) { gl_Position = gl_in[0].gl_Position + vec4(0.7 * i, 0.2 * i, 0, 0); EmitVertex(); }
}"""
TRIANGLES = """#version 450
layout(lines) in;
layout(triangle_strip, max_vertices = 3) out;
void main() {
  for (int i = 0; i < 3; i++) { gl_Position = vec4(i == 1 ? 1 : -1, i == 2 ? 1 : -1, 0.5, 1); EmitVertex(); }
}"""
PLACE = "#version 450\nlayout(location = 0) in vec4 position;\nvoid main() { gl_Position = position; gl_PointSize = 1.0; }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"


def draw_by_stages(dev: tg.Device, dynamic: list[str], values: dict[str, Any], **state: Any) -> tuple[np.ndarray, Any]:
    image = dev.image((SIZE, SIZE), "r8g8b8a8_unorm", samples=state.get("samples") or 1)
    dtype = np.dtype([("position", "f4", 4)])
    pipeline = dev.pipeline(PLACE, WHITE, vertex=dtype, color=[image.format], dynamic=dynamic, **state)
    vertices = np.zeros(3, dtype)
    vertices["position"] = [(-0.5, -0.5, 0.5, 1), (0.4, 0.1, 0.5, 1), (-0.3, 0.6, 0.5, 1)]
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        rp.set(**values)
        rp.draw(pipeline, vertices)
    return image.numpy()[..., 0], rp.explain().rows[0]


@pytest.mark.parametrize("name", ["line_width", "line_rasterization_mode", "line_stipple_enable"])
def test_lines_of_a_geometry_shader_need_the_state_of_lines(dev: tg.Device, name: str) -> None:
    with pytest.raises(ValidationError, match=f"{name}.*not set"):
        draw_by_stages(dev, [name], {}, geometry=LINES, topology="point_list", line_width=7.0)
    picture, _ = draw_by_stages(dev, [name], {}, geometry=TRIANGLES, topology="line_list")
    assert picture.any()
    assert draw_by_stages(dev, [name], {}, topology="point_list", polygon_mode="line")[0].any()


def test_smooth_lines_are_what_is_drawn_not_what_is_set(dev: tg.Device) -> None:
    """Triangles keep hidden-surface removal; who draws both with one pipeline has the right one for each."""
    triangles, row = draw_by_stages(dev, [], {}, line_mode="rectangular_smooth")
    assert "visibility buffer" in row["plan"] and "smooth" not in row["plan"]
    smooth, row = draw_by_stages(dev, [], {}, line_mode="rectangular_smooth", topology="line_strip", blend="alpha")
    assert "smooth lines" in row["plan"]
    for names in (["primitive_topology"], ["primitive_topology", "line_rasterization_mode"], ["polygon_mode", "primitive_topology"]):
        fixed = {} if "line_rasterization_mode" in names else {"line_mode": "rectangular_smooth"}
        values: dict[str, Any] = {"polygon_mode": "fill", "line_rasterization_mode": "rectangular_smooth"}
        values = {name: value for name, value in values.items() if name in names}
        for topology, want in (("triangle_list", triangles), ("line_strip", smooth)):
            got, _ = draw_by_stages(dev, names, values | {"primitive_topology": topology}, blend="alpha", **fixed)
            assert np.array_equal(got, want), (names, topology)


@pytest.mark.parametrize("mode", ["bresenham", "rectangular_smooth"])
@pytest.mark.parametrize("given", ["alpha_to_coverage", "alpha_to_one", "sample_shading"])
def test_lines_without_samples_of_their_own_are_refused_with_what_needs_them(dev: tg.Device, mode: str, given: str) -> None:
    """VUID-VkGraphicsPipelineCreateInfo-lineRasterizationMode-02766 where both are fixed, VUID-vkCmdDraw-None-10608 at draws."""
    names = {"line_rasterization_mode": mode} | ({} if given == "sample_shading" else {f"{given}_enable": True})
    for count in range(1 << len(names)):
        dynamic = [name for i, name in enumerate(names) if count >> i & 1]
        state: dict[str, Any] = {"topology": "line_strip"}
        state |= {} if "line_rasterization_mode" in dynamic else {"line_mode": mode}
        state |= {} if f"{given}_enable" in dynamic else {given: True}
        values = {name: names[name] for name in dynamic}
        rule = "10608" if dynamic else "02766"
        with pytest.raises(ValidationError, match=f"(?i){mode}.*{rule}"):
            draw_by_stages(dev, dynamic, values, **state)
        if dynamic:  # what draws no lines may have them
            assert draw_by_stages(dev, dynamic, values, **(state | {"topology": "triangle_list"}))[0].any()


ISOLINES_CONTROL = """#version 450
layout(vertices = 2) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 5.0;
}"""
ISOLINES = """#version 450
layout(isolines, fractional_odd_spacing) in;
void main() {
  gl_Position = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x)
    + vec4(0.1 * sin(9.0 * gl_TessCoord.x), gl_TessCoord.y, 0, 0);
}"""
PASSING = """#version 450
layout(lines) in;
layout(line_strip, max_vertices = 4) out;
void main() {
  for (int i = 0; i < 4; i++) {
    gl_Position = gl_in[i & 1].gl_Position + vec4(0, 0.2 * (i >> 1), 0, 0);
    EmitVertex();
    if (i == 1) EndPrimitive();
  }
}"""
PATCHES = {
    "tessellation_control": ISOLINES_CONTROL,
    "tessellation_evaluation": ISOLINES,
    "topology": "patch_list",
    "patch_control_points": 2,
}
STAGES: dict[str, dict[str, Any]] = {
    "none": {"topology": "line_strip"},
    "outlines": {"polygon_mode": "line"},
    "geometry of points": {"geometry": LINES, "topology": "point_list"},
    "geometry of lines": {"geometry": PASSING, "topology": "line_strip"},
    "isolines": PATCHES,
    "isolines, geometry": PATCHES | {"geometry": PASSING},
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stages", STAGES)
def test_random_states_of_lines_equal_fixed_ones_from_every_stage(dev: tg.Device, stages: str, seed: int) -> None:
    rng = random.Random(f"{stages} {seed}")
    mode = rng.choice(["default", "rectangular", "bresenham", "rectangular_smooth"])
    stipple = (rng.randint(1, 9), rng.randrange(1 << 16) | 3)  # a short line must show
    stippled = mode != "default" and rng.random() < 0.7
    width = rng.choice([1.0, 2.5, 6.0])
    samples = rng.choice([1, 4])
    blend = rng.choice([None, "alpha"])
    fixed = {"line_width": width, "line_mode": mode, "line_stipple": stipple if stippled else None}
    values = {
        "line_width": width,
        "line_rasterization_mode": mode,
        "line_stipple_enable": stippled,
        "line_stipple": stipple,
    }
    picture, row = draw_by_stages(dev, [], {}, samples=samples, blend=blend, **fixed, **STAGES[stages])
    assert picture.any() and ("smooth lines" in row["plan"]) == (mode == "rectangular_smooth")
    for names in (list(values), rng.sample(list(values), 2)):
        rest = {"line_width": width, "line_mode": mode, "line_stipple": stipple if stippled else None}
        if "line_width" in names:
            del rest["line_width"]
        if "line_rasterization_mode" in names:
            del rest["line_mode"]
            if "line_stipple_enable" not in names and not stippled:
                del rest["line_stipple"]
        if "line_stipple_enable" in names and "line_stipple" in names:
            rest.pop("line_stipple", None)
        elif "line_stipple_enable" in names:
            rest["line_stipple"] = stipple
        given = {name: values[name] for name in names}
        got, other = draw_by_stages(dev, names, given, samples=samples, blend=blend, **rest, **STAGES[stages])
        assert np.array_equal(got, picture) and other["plan"] == row["plan"], names
