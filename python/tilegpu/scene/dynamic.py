"""The state of a draw as a pass sets it. In: what a pipeline would fix. Out: arguments of :meth:`tilegpu.RenderPass.set`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from tilegpu.scene.description import Blend, State


class Shape(NamedTuple):
    """What pipelines and state depend on of a pass."""

    size: tuple[int, int]
    samples: int
    color_formats: tuple[str, ...]
    depth_format: str | None


def dynamic_state(frame: Shape, state: State, scissor: tuple[int, int, int, int] | None = None) -> dict[str, Any]:
    """Of pipelines with ``dynamic="all"``: every state that a draw of the frame reads, with the values that a fixed one has."""
    depth = frame.depth_format is not None and state.depth_test
    blend = dataclasses.asdict(state.blend) if isinstance(state.blend, Blend) else state.blend
    constant, slope = state.depth_bias or (0.0, 0.0)
    return {
        "viewport": (0, 0, *frame.size),
        "scissor": scissor or (0, 0, *frame.size),
        "primitive_topology": state.topology,
        "primitive_restart_enable": state.primitive_restart,
        "polygon_mode": state.polygon_mode,
        "cull_mode": state.cull,
        "front_face": state.front_face,
        "provoking_vertex_mode": "first",
        "line_width": 1.0,
        "rasterizer_discard_enable": False,
        "depth_clamp_enable": False,
        "depth_clip_enable": True,
        "depth_clip_negative_one_to_one": False,
        "rasterization_stream": 0,
        "conservative_rasterization_mode": "disabled",
        "fragment_shading_rate": (1, 1),
        "line_rasterization_mode": "default",
        "line_stipple_enable": False,
        "depth_bias_enable": state.depth_bias is not None,
        "depth_bias": (constant, slope),
        "depth_test_enable": depth,
        "depth_write_enable": depth and state.depth_write,
        "depth_compare_op": state.depth_compare,
        "depth_bounds_test_enable": False,
        "stencil_test_enable": False,
        "color_blend_enable": blend is not None,
        "color_blend_equation": blend,
        "color_write_mask": state.color_write_mask,
        "color_write_enable": True,
        "blend_constants": (0.0, 0.0, 0.0, 0.0),
        "logic_op_enable": False,
        "rasterization_samples": frame.samples,
        "sample_mask": 0xFFFFFFFF,
        "alpha_to_coverage_enable": state.alpha_to_coverage,
        "alpha_to_one_enable": False,
        "sample_locations_enable": False,
        "discard_rectangle_enable": False,
    }
