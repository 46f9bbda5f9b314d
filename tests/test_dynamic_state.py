"""Dynamic state: a program drawn with all state dynamic equals the same with all state fixed; what was never set is named."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import _core
from tilegpu.errors import ValidationError

#: Random scenes, and states that nothing asks for, are the matter of this file.
pytestmark = pytest.mark.filterwarnings("ignore::tilegpu.UnusedNameWarning")

VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
layout(location = 1) flat out vec4 f_color;
void main() { gl_Position = position; gl_PointSize = 1.0; v_color = color; f_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 1) flat in vec4 f_color;
layout(location = 0) out vec4 o_first;
layout(location = 1) out vec4 o_second;
void main() { o_first = v_color; o_second = f_color; }"""
DTYPE = np.dtype([("position", "f4", 4), ("color", "f4", 4)])
#: The same fields otherwise: another order, other offsets and strides, other numbers.
DTYPES = [
    DTYPE,
    np.dtype({"names": ["color", "position"], "formats": ["4f4", "4f4"], "offsets": [4, 24], "itemsize": 44}),
    np.dtype([("position", "f2", 4), ("color", "f4", 4)]),
]
SIZE = 24
SAMPLES = [1, 2, 4, 8, 16]
#: Each primitive to one of three viewports, of which there may be fewer.
VERT_VIEWPORTS = VERT.replace("#version 450", "#version 450\n#extension GL_ARB_shader_viewport_layer_array : require").replace(
    "f_color = color;", "f_color = color; gl_ViewportIndex = gl_VertexIndex % 3;"
)
COMPARE = ["never", "less", "equal", "less_or_equal", "greater", "not_equal", "greater_or_equal", "always"]
STENCIL = list(_core.ENUMS["stencil_op"])
LOGIC = list(_core.ENUMS["logic_op"])
BLENDS: list[Any] = [
    "alpha",
    "premultiplied",
    "additive",
    {"src_color": "constant_color", "dst_color": "one_minus_src_alpha", "color_op": "max"},
    {"src_color": "dst_color", "dst_color": "constant_alpha", "alpha_op": "reverse_subtract"},
]
ADVANCED = [name for name, op in _core.ENUMS["blend_op"].items() if op > _core.ENUMS["blend_op"]["max"]]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def shapes(rng: random.Random, count: int = 18) -> np.ndarray:
    out = np.zeros(count, DTYPE)
    for vertex in out:
        vertex["position"] = [
            *(rng.uniform(-1.2, 1.2) for _ in range(2)),
            rng.uniform(-1.2, 1.2) if rng.random() < 0.5 else rng.uniform(-0.2, 1.2),
            rng.uniform(0.6, 1.4),
        ]
        vertex["color"] = [rng.random() for _ in range(4)]
    return out


State = tuple[dict[str, Any], dict[str, Any]]
TOPOLOGIES = [name for name in _core.ENUMS["primitive_topology"] if name != "patch_list"]
VIEWPORTS, SCISSORS = ("viewport", "viewport_with_count"), ("scissor", "scissor_with_count")


def flag(rng: random.Random, chance: float = 0.5) -> bool:
    return rng.random() < chance


def assembly(rng: random.Random) -> State:
    topology = rng.choice(["triangle_list", rng.choice(TOPOLOGIES)])
    restart = flag(rng) and ("strip" in topology or "fan" in topology)
    provoking = rng.choice(["first", "last"])
    stream = 0  # without a geometry shader there is no other
    fixed = {"topology": topology, "primitive_restart": restart, "provoking_vertex": provoking, "rasterization_stream": stream}
    dynamic = {
        "primitive_topology": topology,
        "primitive_restart_enable": restart,
        "provoking_vertex_mode": provoking,
        "rasterization_stream": stream,
    }
    return fixed, dynamic


def patches(rng: random.Random) -> State:
    """What only tessellation reads."""
    points, origin = rng.choice([3, 4, 6, 9]), rng.choice(["upper_left", "lower_left"])
    return (
        {"patch_control_points": points, "domain_origin": origin},
        {"patch_control_points": points, "tessellation_domain_origin": origin},
    )


def rasterization(rng: random.Random) -> State:
    same: dict[str, Any] = {
        "polygon_mode": rng.choice(["fill", "fill", "fill", "line", "point"]),
        "front_face": rng.choice(["clockwise", "counter_clockwise"]),
        "line_width": rng.choice([1.0, 3.0]),
        "depth_clip_negative_one_to_one": flag(rng),
    }
    conservative, extra = rng.choice(["disabled", "disabled", "overestimate", "underestimate"]), rng.choice([0.0, 0.25, 0.7])
    cull, clamp, clip, discard = rng.choice(["none", "none", "front", "back"]), flag(rng, 0.3), flag(rng, 0.7), flag(rng, 0.05)
    bias = None
    if flag(rng, 0.4):
        bias = (rng.uniform(-100, 100), rng.choice([0.0, 0.001, -0.001]), rng.uniform(-2, 2))
    fixed = {"conservative": {"mode": conservative, "extra_overestimation_px": extra}}
    same["fragment_shading_rate"] = {"fragment_size": rng.choice([(1, 1), (1, 1), (2, 2), (4, 2)]), "combiner_ops": ("keep", "max")}
    limits = rng.choice([None, (0.2, 0.7), (0.45, 1.0)])
    fixed |= {"depth_clamp": limits if clamp and limits else clamp}
    fixed |= {"cull": cull, "depth_clip": clip, "rasterizer_discard": discard, "depth_bias": bias}
    dynamic = {
        "conservative_rasterization_mode": conservative,
        "extra_primitive_overestimation_size": extra,
        "cull_mode": cull,
        "depth_clamp_enable": clamp,
        "depth_clamp_range": limits,
        "depth_clip_enable": clip,
        "rasterizer_discard_enable": discard,
        "depth_bias_enable": bias is not None,
        "depth_bias": bias or (0, 0, 0),
    }
    return fixed | same, dynamic | same


def lines(rng: random.Random) -> State:
    """Only lines that are strict have a stipple."""
    mode = rng.choice(["default", "rectangular", "bresenham", "rectangular_smooth"])
    stipple, enabled = (rng.choice([1, 2, 7]), rng.randrange(1, 1 << 16)), flag(rng) and mode != "default"
    fixed = {"line_mode": mode, "line_stipple": stipple if enabled else None}
    return fixed, {"line_rasterization_mode": mode, "line_stipple_enable": enabled, "line_stipple": stipple}


def discarded(rng: random.Random) -> State:
    """Rectangles where nothing is drawn."""
    rects = [(rng.randrange(SIZE), rng.randrange(SIZE), rng.randrange(SIZE), rng.randrange(9)) for _ in range(rng.choice([1, 2]))]
    mode, enabled = rng.choice(["exclusive", "exclusive", "inclusive"]), flag(rng, 0.3)
    fixed = {"discard_rectangles": {"rectangles": rects, "mode": mode}} if enabled else {}
    return fixed, {"discard_rectangle": rects, "discard_rectangle_enable": enabled, "discard_rectangle_mode": mode}


def depth(rng: random.Random) -> State:
    test, write, compare = flag(rng, 0.8), flag(rng, 0.7), rng.choice(COMPARE[1:])
    bounds = (rng.uniform(0, 0.4), rng.uniform(0.5, 1)) if flag(rng, 0.2) else None
    fixed = {"depth_test": test, "depth_write": write, "depth_compare": compare, "depth_bounds": bounds}
    dynamic = {
        "depth_test_enable": test,
        "depth_write_enable": write,
        "depth_compare_op": compare,
        "depth_bounds_test_enable": bounds is not None,
        "depth_bounds": bounds or (0, 1),
    }
    return fixed, dynamic


def stencil(rng: random.Random) -> State:
    on = flag(rng, 0.6)
    faces: list[dict[str, Any]] = [
        {
            **{name: rng.choice(STENCIL) for name in ("fail", "pass", "depth_fail")},
            "compare": rng.choice(COMPARE[1:]),
            "compare_mask": rng.choice([0xFF, 0x0F]),
            "write_mask": rng.choice([0xFF, 0x3C, 0]),
            "reference": rng.randrange(256),
        }
        for _ in range(2)
    ]
    front, back = faces if on else (None, None)
    dynamic = {f"stencil_{name}": tuple(f[name] for f in faces) for name in ("compare_mask", "write_mask", "reference")}
    dynamic["stencil_test_enable"] = on
    dynamic["stencil_op"] = tuple({k: f[k] for k in ("fail", "pass", "depth_fail", "compare")} for f in faces)
    return {"stencil_test": on or None, "stencil_front": front, "stencil_back": back}, dynamic


def advanced_blend(rng: random.Random) -> Any:
    op = rng.choice(ADVANCED)
    if flag(rng, 0.2):
        return op
    overlap = rng.choice(list(_core.ENUMS["blend_overlap"]))
    return {"op": op, "overlap": overlap} | {
        name: flag(rng) for name in ("src_premultiplied", "dst_premultiplied", "clamp_results")
    }


def blending(rng: random.Random) -> State:
    equation, enabled = [rng.choice(BLENDS) for _ in range(2)], [flag(rng), flag(rng)]
    # Of an attachment that has both the later one holds: those from 0 on are advanced, or those up to the last equation are not.
    advanced, advanced_last = [advanced_blend(rng) for _ in range(2)], flag(rng)
    count = rng.choice([0, 1, 2]) if advanced_last else 2
    if not advanced_last:
        equation = equation[: rng.choice([0, 1, 2])]
    holds = [(advanced if (i < count if advanced_last else i >= len(equation)) else equation)[i] for i in range(2)]
    mask, colors = [rng.choice(["rgba", "rgba", "rg", ""]) for _ in range(2)], [flag(rng, 0.8), flag(rng, 0.8)]
    constants, logic = tuple(rng.random() for _ in range(4)), rng.choice(LOGIC) if flag(rng, 0.15) else None
    fixed = {
        "blend": [e if on else None for e, on in zip(holds, enabled, strict=True)],
        "write_mask": [m if on else "" for m, on in zip(mask, colors, strict=True)],
        "blend_constants": constants,
        "logic_op": logic,
    }
    dynamic = {
        "color_blend_enable": enabled,
        **({} if advanced_last else {"color_blend_advanced": advanced}),
        **({"color_blend_equation": equation} if equation else {}),
        **({"color_blend_advanced": advanced[:count]} if advanced_last and count else {}),
        "color_write_mask": mask,
        "color_write_enable": colors,
        "blend_constants": constants,
        "logic_op_enable": logic is not None,
        "logic_op": logic or "copy",
    }
    return fixed, dynamic


def multisampling(rng: random.Random, samples: int) -> State:
    mask, coverage, one = rng.choice([0xFFFFFFFF, 0xFFFFFFFF, 0x5, 0xA5A5]), flag(rng, 0.2), flag(rng, 0.2)
    places = [(rng.randrange(16) / 16, rng.randrange(16) / 16) for _ in range(samples)]
    located = samples > 1 and flag(rng, 0.4)
    fixed = {"sample_locations": places} if located else {}
    fixed |= {"sample_mask": mask, "alpha_to_coverage": coverage, "alpha_to_one": one, "samples": samples}
    dynamic = {
        "rasterization_samples": samples,
        "sample_locations_enable": located,
        "sample_locations": places,
        "sample_mask": mask,
        "alpha_to_coverage_enable": coverage,
        "alpha_to_one_enable": one,
    }
    return fixed, dynamic


def framing(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of a draw; one or several, by either of Vulkan's names."""
    viewports, scissors = [], []
    for _ in range(rng.choice([1, 1, 2, 3])):
        near, far = rng.choice([(0.0, 1.0), (0.2, 0.7), (0.9, 0.1)])
        viewports.append((rng.randrange(-4, 4), rng.randrange(4), SIZE - rng.randrange(6), SIZE + rng.randrange(4), near, far))
        scissors.append((rng.randrange(4), rng.randrange(4), SIZE - rng.randrange(4, 9), SIZE - rng.randrange(4, 9)))
    viewport: Any = viewports if len(viewports) > 1 else viewports[0]
    scissor: Any = scissors if len(scissors) > 1 else scissors[0]
    return {"viewport": viewport, "scissor": scissor}, {rng.choice(VIEWPORTS): viewport, rng.choice(SCISSORS): scissor}


def random_state(rng: random.Random, samples: int) -> State:
    """Arguments of a pipeline that fixes it, and the same state as a pass sets it; without :func:`framing`."""
    fixed: dict[str, Any] = {}
    dynamic: dict[str, Any] = {}
    for part in (
        *(make(rng) for make in (assembly, rasterization, lines, discarded, depth, stencil, blending)),
        multisampling(rng, samples),
    ):
        fixed |= part[0]
        dynamic |= part[1]
    if "point" in fixed["topology"] or "line" in fixed["topology"]:  # which have no conservative coverage
        fixed |= {"conservative": None}
        dynamic |= {"conservative_rasterization_mode": "disabled"}
    if fixed["line_mode"] in ("bresenham", "rectangular_smooth"):  # where all is fixed, these don't go together
        fixed |= {"alpha_to_coverage": False, "alpha_to_one": False}
        dynamic |= {"alpha_to_coverage_enable": False, "alpha_to_one_enable": False}
    return fixed, dynamic


def test_every_state_is_drawn_by_the_random_ones() -> None:
    """A state that the core has and nobody draws fails here: then give it to one of the functions above."""
    values: dict[str, set[str]] = {}
    for seed in range(200):
        rng = random.Random(seed)
        for part in (random_state(rng, rng.choice(SAMPLES))[1], framing(rng)[1], patches(rng)[1]):
            for name, value in part.items():
                values.setdefault(name, set()).add(repr(value))
    vertex = {"vertex_input", "vertex_input_binding_stride"}  # DTYPES
    assert set(values) | vertex == set(_core.DYNAMIC_STATES)
    # Streams are geometry shaders': test_depth_clip_control.
    assert [name for name, drawn in values.items() if len(drawn) < 2] == ["rasterization_stream"]
    assert values["primitive_topology"] == {repr(name) for name in TOPOLOGIES}


#: What a pipeline has where nothing is said.
PLAIN: dict[str, Any] = {
    "primitive_restart_enable": False,
    "polygon_mode": "fill",
    "provoking_vertex_mode": "first",
    "line_width": 1.0,
    "depth_clamp_enable": False,
    "depth_clamp_range": None,
    "depth_clip_enable": True,
    "depth_clip_negative_one_to_one": False,
    "rasterization_stream": 0,
    "conservative_rasterization_mode": "disabled",
    "extra_primitive_overestimation_size": 0.0,
    "fragment_shading_rate": (1, 1),
    "line_rasterization_mode": "default",
    "line_stipple_enable": False,
    "line_stipple": (1, 0xFFFF),
    "sample_locations_enable": False,
    "discard_rectangle_enable": False,
    "rasterizer_discard_enable": False,
    "depth_bias_enable": False,
    "depth_write_enable": True,
    "depth_bounds_test_enable": False,
    "stencil_test_enable": False,
    "color_blend_enable": [False, False],
    "color_write_mask": ["rgba", "rgba"],
    "color_write_enable": [True, True],
    "logic_op_enable": False,
    "sample_mask": 0xFFFFFFFF,
    "alpha_to_coverage_enable": False,
    "alpha_to_one_enable": False,
    "viewport": (0, 0, SIZE, SIZE),
    "scissor": (0, 0, SIZE, SIZE),
}


class Target:
    def __init__(self, dev: tg.Device, samples: int) -> None:
        self.dev, self.samples = dev, samples
        self.colors = [dev.image((SIZE, SIZE), "r8g8b8a8_unorm", samples=samples) for _ in range(2)]
        self.zs = dev.image((SIZE, SIZE), "d32_sfloat_s8_uint", samples=samples)

    def formats(self) -> dict[str, Any]:
        return {"color": ["r8g8b8a8_unorm"] * 2, "depth": "d32_sfloat_s8_uint", "stencil": "d32_sfloat_s8_uint"}

    def open(self) -> tg.RenderPass:
        return self.dev.render_pass(
            color=[tg.Attachment(c, clear=(0.25, 0.5, 0.75, 0.5)) for c in self.colors],
            depth=tg.Attachment(self.zs, clear=0.6),
            stencil=tg.Attachment(self.zs, clear=0x5A),
        )

    def contents(self) -> list[np.ndarray]:
        return [c.numpy() for c in self.colors] + [self.zs.numpy(aspect=a) for a in ("depth", "stencil")]


def draw_both(dev: tg.Device, everything: Mapping[Any, tg.Pipeline], samples: int, seed: int) -> None:
    rng = random.Random(seed)
    fixed_target, dynamic_target = Target(dev, samples), Target(dev, samples)
    draws = []
    for _ in range(4):
        fixed, dynamic = random_state(rng, samples)
        frame, dynamic_frame = framing(rng)
        indices = np.array([rng.randrange(18) for _ in range(24)], np.uint16)
        if fixed["primitive_restart"]:
            indices[rng.randrange(24)] = indices[rng.randrange(24)] = 0xFFFF
        vertices = shapes(rng).astype(rng.choice(DTYPES))
        draws.append((rng.choice([VERT, VERT_VIEWPORTS]), vertices, indices, fixed, frame, dynamic | dynamic_frame))
    formats = fixed_target.formats()
    with fixed_target.open() as rp:
        for shader, vertices, indices, fixed, frame, _ in draws:
            pipeline = dev.pipeline(shader, FRAG, vertex=vertices.dtype, **formats, **fixed)
            rp.draw(pipeline, vertices, indices=indices, **frame)
    with dynamic_target.open() as rp:
        for shader, vertices, indices, _, _, dynamic in draws:
            rp.set(**dynamic)
            rp.draw(everything[shader, vertices.dtype], vertices, indices=indices)
    for name, a, b in zip(
        ("first", "second", "depth", "stencil"), fixed_target.contents(), dynamic_target.contents(), strict=True
    ):
        assert np.array_equal(a, b), f"seed {seed}, {samples} samples: {name} differs"


def everything_dynamic(dev: tg.Device, vertex: Any = DTYPE, shader: str = VERT, **more: Any) -> tg.Pipeline:
    return dev.pipeline(shader, FRAG, **{"vertex": vertex, **Target(dev, 1).formats(), "dynamic": "all", "label": "all", **more})


def all_of_them(dev: tg.Device) -> dict[Any, tg.Pipeline]:
    return {(shader, dtype): everything_dynamic(dev, dtype, shader) for shader in (VERT, VERT_VIEWPORTS) for dtype in DTYPES}


@pytest.mark.parametrize("samples", SAMPLES)
def test_all_dynamic_equals_all_fixed(dev: tg.Device, samples: int) -> None:
    everything = all_of_them(dev)
    for seed in range(20 if samples == 1 else 10):
        draw_both(dev, everything, samples, 100 * samples + seed)


CONTROL = """#version 450
layout(vertices = 3) out;
layout(location = 0) in vec4 v_color[]; layout(location = 1) flat in vec4 f_color[];
layout(location = 0) out vec4 c_color[];
void main() {
  int last = gl_PatchVerticesIn - 1;
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID * last / 2].gl_Position;
  c_color[gl_InvocationID] = v_color[last - gl_InvocationID] + 0.1 * f_color[0];
  gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 3.0; gl_TessLevelOuter[2] = 4.5; gl_TessLevelInner[0] = 2.5;
}"""
EVALUATION = """#version 450
layout(triangles, fractional_odd_spacing, ccw) in;
layout(location = 0) in vec4 c_color[];
layout(location = 0) out vec4 v_color; layout(location = 1) flat out vec4 f_color;
void main() {
  vec3 t = gl_TessCoord;
  gl_Position = t.x * gl_in[0].gl_Position + t.y * gl_in[1].gl_Position + t.z * gl_in[2].gl_Position;
  v_color = t.x * c_color[0] + t.y * c_color[1] + t.z * c_color[2];
  f_color = vec4(t, 1.0);
}"""


def test_patches_by_dynamic_state(dev: tg.Device) -> None:
    """Vertices of a patch and the origin of its domain, which says what is front: as a pipeline fixes them."""
    stages = {"tessellation_control": CONTROL, "tessellation_evaluation": EVALUATION, "depth_compare": "less", "cull": "back"}
    everything = everything_dynamic(dev, **stages)
    pictures = []
    for seed in range(8):
        rng = random.Random(seed)
        (of_patch, set_of_patch), vertices, front = patches(rng), shapes(rng), rng.choice(["clockwise", "counter_clockwise"])
        one, other = Target(dev, 1), Target(dev, 1)
        fixed = dev.pipeline(VERT, FRAG, vertex=DTYPE, front_face=front, **of_patch, **stages, **one.formats())
        with one.open() as rp:
            rp.draw(fixed, vertices)
        _, dynamic = random_state(random.Random(0), 1)
        dynamic |= set_of_patch | {"primitive_topology": "patch_list"}
        dynamic |= {"front_face": front, "cull_mode": "back", "depth_compare_op": "less", "depth_test_enable": True}
        dynamic |= PLAIN
        with other.open() as rp:
            rp.set(**dynamic)
            rp.draw(everything, vertices)
        pictures.append(one.contents()[0])
        for a, b in zip(one.contents(), other.contents(), strict=True):
            assert np.array_equal(a, b), f"seed {seed}: {of_patch}"
    assert len({p.tobytes() for p in pictures}) > 4


def test_from_several_threads(dev: tg.Device) -> None:
    everything = all_of_them(dev)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(draw_both, dev, everything, 1, 900 + i // 2) for i in range(8)]:
            done.result()


def open_plain(dev: tg.Device) -> tuple[tg.RenderPass, Target]:
    target = Target(dev, 1)
    return target.open(), target


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("cull_mode", {}),
        ("primitive_topology", {}),
        ("viewport", {}),
        ("depth_compare_op", {"depth_test": True}),
        ("stencil_reference", {"stencil_test": {"pass": "replace"}}),
        ("blend_constants", {"blend": {"src_color": "constant_color"}}),
        ("color_blend_advanced", {"blend": "multiply"}),
        ("color_write_mask", {}),
        ("line_width", {"topology": "line_strip"}),
        ("line_rasterization_mode", {"topology": "line_strip"}),
        ("line_stipple", {"polygon_mode": "line", "line_mode": "bresenham", "line_stipple": (1, 5)}),
        ("sample_locations", {"samples": 4, "sample_locations": [(0, 0), (0.5, 0), (0, 0.5), (0.5, 0.5)]}),
        ("extra_primitive_overestimation_size", {"conservative": "overestimate"}),
        ("rasterization_samples", {}),
        ("fragment_shading_rate", {}),
    ],
)
def test_a_state_that_was_never_set_is_named(dev: tg.Device, name: str, more: dict[str, Any]) -> None:
    pipeline = everything_dynamic(dev, dynamic=[name], **more)
    with pytest.raises(ValidationError, match=f"{name}.*not set"), open_plain(dev)[0] as rp:
        rp.draw(pipeline, shapes(random.Random(1)))


def test_what_a_draw_does_not_read_need_not_be_set(dev: tg.Device) -> None:
    names = [
        "line_width",
        "line_rasterization_mode",
        "line_stipple_enable",
        "line_stipple",
        "blend_constants",
        "color_blend_advanced",
        "extra_primitive_overestimation_size",
        "sample_locations",
        "depth_bias",
        "depth_bounds",
        "stencil_op",
        "stencil_reference",
        "logic_op",
    ]
    pipeline = everything_dynamic(dev, dynamic=names)
    rp, target = open_plain(dev)
    with rp:
        rp.draw(pipeline, shapes(random.Random(2)))
    assert len(np.unique(target.contents()[0].reshape(-1, 4), axis=0)) > 1


def test_state_for_one_attachment_of_two(dev: tg.Device) -> None:
    pipeline = everything_dynamic(dev, dynamic=["color_write_mask"])
    with pytest.raises(ValidationError, match=r"color_write_mask.*color\[1\]"), open_plain(dev)[0] as rp:
        rp.set(color_write_mask=["rgba"])
        rp.draw(pipeline, shapes(random.Random(3)))


def test_documents_count_and_name_the_states() -> None:
    here = len(_core.DYNAMIC_STATES)
    docs = Path(__file__).parent.parent / "docs"
    text = (docs / "vulkan.md").read_text(encoding="utf-8")
    assert f"(all {here} states" in text
    assert f"(all {here} states" in (docs / "architecture.md").read_text(encoding="utf-8")


def test_names_of_no_state(dev: tg.Device) -> None:
    with pytest.raises(ValidationError, match=r"no dynamic state.*did you mean 'cull_mode'"):
        everything_dynamic(dev, dynamic=["cul_mode"])
    with open_plain(dev)[0] as rp, pytest.raises(ValidationError, match="comes with the pipeline's vertex="):
        rp.set(vertex_input=[])


def test_names_as_vulkan_writes_them(dev: tg.Device) -> None:
    pipeline = everything_dynamic(dev, dynamic=["VK_DYNAMIC_STATE_POLYGON_MODE_EXT", "Cull_Mode"])
    assert pipeline.dynamic == {"polygon_mode", "cull_mode"}
    assert sorted(pipeline.core.dynamic_states) == ["cull_mode", "polygon_mode"]


def core_pass(dev: tg.Device, target: Target) -> _core.CommandBuffer:
    """A command buffer with an open pass, without the front end's help."""
    rp = target.open()
    rp.__enter__()
    assert rp._draws is not None
    return rp._draws.commands


def test_a_pipeline_that_fixes_a_state_makes_what_was_set_invalid(dev: tg.Device) -> None:
    # Which side is the front is asked for where one side is culled.
    listed = everything_dynamic(dev, dynamic=["front_face"], cull="back", label="listed")
    fixed = everything_dynamic(dev, dynamic=[], cull="back", label="fixes")
    vertices = shapes(random.Random(4))
    target = Target(dev, 1)
    commands = core_pass(dev, target)
    buffer = dev.buffer(vertices, usage="vertex_buffer")
    commands.bind_vertex_buffer(0, buffer.core, 0)
    commands.set_front_face(1)
    commands.bind_pipeline(listed.core)
    commands.draw(3, 1, 0, 0)
    commands.bind_pipeline(fixed.core)
    commands.draw(3, 1, 0, 0)
    commands.bind_pipeline(listed.core)
    with pytest.raises(ValidationError, match=r"front_face.*not set"):
        commands.draw(3, 1, 0, 0)
    commands.set_front_face(1)
    commands.draw(3, 1, 0, 0)
    commands.bind_pipeline(fixed.core)
    commands.set_front_face(0)
    with pytest.raises(ValidationError, match="'fixes' fixes front_face"):
        commands.draw(3, 1, 0, 0)
    commands.discard_rendering()


def test_the_front_end_sets_again_what_another_pipeline_fixed(dev: tg.Device) -> None:
    listed = everything_dynamic(dev, dynamic=["cull_mode", "viewport"])
    fixed = everything_dynamic(dev, dynamic=[])
    vertices = shapes(random.Random(5))
    both, once = Target(dev, 1), Target(dev, 1)
    with both.open() as rp:
        rp.set(cull_mode="back", viewport=(0, 0, 12, 12))
        rp.draw(listed, vertices)
        rp.draw(fixed, vertices[:3], scissor=(0, 0, 1, 1))
        rp.draw(listed, vertices)
    plain = everything_dynamic(dev, dynamic=[], cull="back")
    with once.open() as rp:
        rp.draw(plain, vertices, viewport=(0, 0, 12, 12))
        rp.draw(fixed, vertices[:3], scissor=(0, 0, 1, 1))
        rp.draw(plain, vertices, viewport=(0, 0, 12, 12))
    for a, b in zip(both.contents(), once.contents(), strict=True):
        assert np.array_equal(a, b)


def calls_of_draws(dev: tg.Device, pipeline: tg.Pipeline, state: Mapping[str, Any], count: int) -> list[str]:
    """Functions of the front end and the core that draws with one state call, in order; the first draw, which sets it, apart."""
    vertices = dev.buffer(shapes(random.Random(6)), usage="vertex_buffer")
    calls: list[str] = []

    def note(frame: Any, event: str, called: Any) -> None:
        if event in ("call", "c_call"):
            calls.append(frame.f_code.co_name if event == "call" else called.__name__)

    with open_plain(dev)[0] as rp:
        vars(rp)["_quick"] = None  # the general way: draws of fixed pipelines are one call else
        rp.set(**state)
        rp.draw(pipeline, vertices)
        sys.setprofile(note)
        try:
            for _ in range(count):
                rp.draw(pipeline, vertices)
        finally:
            sys.setprofile(None)
    return calls


def of_the_draw(calls: list[str]) -> list[str]:
    """Without how far vertices reach, which is asked where strides are fixed, and whether draws before or behind are one call."""
    found, behind = [], False
    for call in calls:
        behind = call == "note_plain" or (behind and call != "__exit__")
        if call not in ("max", "take_over") and not behind:
            found.append(call)
    return found


def test_a_draw_with_everything_dynamic_costs_the_calls_of_a_fixed_one(dev: tg.Device) -> None:
    state = random_state(random.Random(7), 1)[1] | PLAIN
    fixed = calls_of_draws(dev, everything_dynamic(dev, dynamic=[]), {}, 3)
    assert fixed.count("draw") == 6  # the pass's and the command buffer's
    for names in ("all", ["cull_mode"], ["viewport", "scissor_with_count"]):
        calls = calls_of_draws(dev, everything_dynamic(dev, dynamic=names), state, 3)
        assert of_the_draw(calls) == of_the_draw(fixed)
        assert "take_over" not in calls and "open_with" not in calls  # which none of them could be


def test_the_same_value_again_costs_no_command(dev: tg.Device) -> None:
    pipeline, vertices = everything_dynamic(dev, dynamic=["cull_mode"]), shapes(random.Random(8))
    rp, _ = open_plain(dev)
    sent: list[str] = []
    with rp:
        draws = rp._open()
        commands, draws.commands = draws.commands, None  # type: ignore[assignment]

        class Noting:
            def __getattr__(self, name: str) -> Any:
                sent.append(name)
                return getattr(commands, name)

        draws.commands = Noting()  # type: ignore[assignment]
        for value in ("back", "back", "back", "none"):
            rp.set(cull_mode=value)
            rp.draw(pipeline, vertices)
        draws.commands = commands
    assert sent.count("set_cull_mode") == 2 and sent.count("draw") == 4


def test_the_later_of_two_names_of_one_state_holds(dev: tg.Device) -> None:
    vertices = shapes(random.Random(9))
    everything = everything_dynamic(dev, dynamic=["viewport", "scissor"])
    plain = everything_dynamic(dev, dynamic=[])
    one, other = Target(dev, 1), Target(dev, 1)
    with one.open() as rp:
        rp.set(viewport=(0, 0, 12, 12), scissor=(0, 0, 9, 9))
        rp.draw(everything, vertices)
        rp.set(viewport_with_count=(4, 4, 20, 20))
        rp.draw(everything, vertices)
        rp.set(viewport=(0, 0, 12, 12), scissor_with_count=(0, 0, 20, 20))
        rp.draw(everything, vertices)
        rp.draw(plain, vertices[:3])
    with other.open() as rp:
        rp.draw(plain, vertices, viewport=(0, 0, 12, 12), scissor=(0, 0, 9, 9))
        rp.draw(plain, vertices, viewport=(4, 4, 20, 20), scissor=(0, 0, 9, 9))
        rp.draw(plain, vertices, viewport=(0, 0, 12, 12), scissor=(0, 0, 20, 20))
        rp.draw(plain, vertices[:3])
    for a, b in zip(one.contents(), other.contents(), strict=True):
        assert np.array_equal(a, b)
