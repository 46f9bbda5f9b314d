"""What pipelines say of arrays whose length the layout has, of shaders in each other's place, and of a topology beside tessellation: taken
as it is meant, or an error whose advice, taken literally, draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
INDEXED = "#version 450\n#extension GL_EXT_nonuniform_qualifier : require\n"
MANY = INDEXED + """layout(binding = 0) uniform sampler2D t[]; layout(location = 0) out vec4 o;
void main() { o = texture(t[nonuniformEXT(int(gl_FragCoord.x) & 1)], vec2(0.5)); }"""
COMPUTE = INDEXED + """layout(local_size_x = 2) in; layout(binding = 0) buffer B { uint x; } b[];
layout(constant_id = 0) const uint with = 7;
void main() { b[nonuniformEXT(gl_LocalInvocationID.x)].x = with; }"""
COLOR = "r8g8b8a8_unorm"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def many(dev: tg.Device, count: int, kind: str = "combined_image_sampler") -> Any:
    return {0: dev.descriptor_set_layout({0: (kind, count)})}


def textures(dev: tg.Device, *values: int) -> list[Any]:
    return [dev.texture(np.full((4, 4, 4), value, "u1"), COLOR) for value in values]


def pixels(dev: tg.Device, record: Callable[[Any], Any]) -> list[int]:
    """Of the first two pixels, red."""
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        record(rp)
    return [int(value) for value in out.numpy()[0, :2, 0]]


@pytest.mark.parametrize("key", ["t", (0, 0)])
def test_draws_take_the_length_of_an_array_from_the_layout(dev: tg.Device, key: Any) -> None:
    pipe = dev.pipeline(COVER, MANY, color=[COLOR], set_layouts=many(dev, 2))
    both = textures(dev, 10, 200)
    assert pixels(dev, lambda rp: rp.draw(pipe, count=3, bind={key: both})) == [10, 200]

    def in_secondary(rp: Any) -> None:
        with dev.secondary(color=COLOR) as recorded:
            recorded.draw(pipe, count=3, bind={key: both})
        rp.execute_commands(recorded)

    assert pixels(dev, in_secondary) == [10, 200]


def test_advice_of_an_array_without_a_length_draws(dev: tg.Device) -> None:
    pipe = dev.pipeline(COVER, MANY, color=[COLOR], set_layouts=many(dev, 4))
    given = textures(dev, 10, 200)
    with pytest.raises(tg.ValidationError, match="array of 4 descriptors; given is 2 values, it must be a list of 4, with None for each"):
        pixels(dev, lambda rp: rp.draw(pipe, count=3, bind={"t": given}))
    assert pixels(dev, lambda rp: rp.draw(pipe, count=3, bind={"t": [*given, None, None]})) == [10, 200]
    with pytest.raises(tg.ValidationError, match="given is 0 values, it must be a list of 4"):
        pixels(dev, lambda rp: rp.draw(pipe, count=3, bind={"t": []}))


def test_an_array_whose_layout_has_one_takes_a_list_of_one(dev: tg.Device) -> None:
    pipe = dev.pipeline(COVER, MANY.replace("& 1", "& 0"), color=[COLOR], set_layouts=many(dev, 1))
    (one,) = textures(dev, 10)
    for value in (one, [one], (one.image, one.sampler), [(one.image, one.sampler)]):
        assert pixels(dev, lambda rp, value=value: rp.draw(pipe, count=3, bind={"t": value})) == [10, 10]
        kept = dev.descriptor_set(pipe, 0, {"t": value})
        assert pixels(dev, lambda rp, kept=kept: rp.draw(pipe, count=3, sets={0: kept})) == [10, 10]


@pytest.mark.parametrize("constants", [None, {"with": 9}])
def test_dispatches_take_the_length_of_an_array_from_the_layout(dev: tg.Device, constants: Any) -> None:
    pipe = dev.compute_pipeline(COMPUTE, constants=constants, set_layouts=many(dev, 2, "storage_buffer"))
    buffers = [dev.buffer(np.zeros(1, "u4")) for _ in range(2)]
    dev.dispatch(pipe, 1, bind={"b": buffers})
    assert [int(buffer.numpy()[0]) for buffer in buffers] == [9 if constants else 7] * 2


def test_interfaces_say_the_length_of_the_layout(dev: tg.Device) -> None:
    pipe = dev.pipeline(COVER, MANY, color=[COLOR], set_layouts=many(dev, 2))
    assert "combined_image_sampler[2] " in str(pipe.interface) and "combined_image_sampler[2]" in pipe.interface._repr_html_()
    # A stage that declares a length says nothing of another one's, and push constants that differ make the interface early.
    vertex = COVER.replace(
        "void main() {",
        "layout(binding = 0) uniform sampler2D t[2]; layout(push_constant) uniform P { float z; };\n"
        "void main() { float used = textureLod(t[1], vec2(0), 0).x * z;",
    ).replace("0.5, 1)", "0.5 + used * 0.0, 1)")
    pipe = dev.pipeline(vertex, MANY, color=[COLOR], set_layouts=many(dev, 4))
    assert "combined_image_sampler[4] " in str(pipe.interface)
    alone = type(pipe.interface)("shader", {"fragment": pipe.stages["fragment"]})
    assert "combined_image_sampler[] " in str(alone) and "[0]" not in str(alone)


def test_an_array_that_is_reloaded_keeps_its_length(dev: tg.Device, tmp_path: Any) -> None:
    path = tmp_path / "many.frag"
    path.write_text(MANY)
    pipe = dev.pipeline(COVER, str(path), color=[COLOR], set_layouts=many(dev, 2))
    both = textures(dev, 10, 200)
    path.write_text(MANY.replace("& 1", "+ 1 & 1"))
    assert pixels(dev, lambda rp: rp.draw(pipe, count=3, bind={"t": both})) == [10, 200]
    pipe.reload()
    assert pixels(dev, lambda rp: rp.draw(pipe, count=3, bind={"t": both})) == [200, 10]


# ------------------------------------------------------------------------------------------------------- topology beside tessellation
CONTROL = """#version 450
layout(vertices = 3) out;
void main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1.0; }"""
EVALUATION = """#version 450
layout(triangles) in;
void main() { gl_Position = gl_in[0].gl_Position * gl_TessCoord.x + gl_in[1].gl_Position * gl_TessCoord.y + gl_in[2].gl_Position *
  gl_TessCoord.z; }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


def patches(dev: tg.Device, **arguments: Any) -> Any:
    return dev.pipeline(
        COVER, WHITE, tessellation_control=CONTROL, tessellation_evaluation=EVALUATION, color=[COLOR], **arguments
    )


TOPOLOGIES = [
    "point_list", "line_list", "triangle_list", "line_strip", "triangle_strip", "triangle_fan", "line_list_with_adjacency",
    "triangle_list_with_adjacency",
]  # fmt: skip


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_topology_beside_tessellation_is_of_patches(dev: tg.Device, topology: str) -> None:
    with pytest.raises(tg.ValidationError, match=f"topology is '{topology}', and tessellation shaders take patches.*leave topology= out"):
        patches(dev, topology=topology)
    # What a pass sets in its place is not read, and the pass's own is asked.
    left = patches(dev, topology=topology, dynamic=["primitive_topology"])

    def drawn(rp: Any, value: str) -> None:
        rp.set(primitive_topology=value)
        rp.draw(left, count=3)

    assert pixels(dev, lambda rp: drawn(rp, "patch_list")) == [255, 255]
    with pytest.raises(tg.ValidationError, match="there are tessellation shaders, whose topology is PATCH_LIST"):
        pixels(dev, lambda rp: drawn(rp, topology))


@pytest.mark.parametrize("given", [{}, {"topology": "patch_list"}, {"topology": None}])
def test_the_advice_about_patches_draws(dev: tg.Device, given: dict[str, Any]) -> None:
    assert pixels(dev, lambda rp: rp.draw(patches(dev, **given), count=3)) == [255, 255]
    without = dev.pipeline(COVER, WHITE, color=[COLOR], topology="triangle_list")
    assert pixels(dev, lambda rp: rp.draw(without, count=3)) == [255, 255]
