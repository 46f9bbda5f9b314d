"""One array of descriptors for views of all types, as layers over other interfaces keep their heaps: several variables at one binding,
each of the type of some elements, and indices that are known as shaders run. What such an index does not reach may be of any type (Vulkan
specification, "Descriptor Set Layout": PARTIALLY_BOUND). Oracle: what the views hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from test_input_attachments import FULL
from tilegpu.errors import ValidationError

SIZE = (8, 4)
HEAP = """#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform sampler2D flats[];
layout(set = 0, binding = 0) uniform samplerCube cubes[];
layout(set = 0, binding = 0) uniform usampler2DArray stacks[];
layout(location = 0) out vec4 o;
void main() {
  int i = int(gl_FragCoord.x) % 4;
  vec3 at = vec3(1.0, 0.25, 0.125);
  if (i == 0) o = texture(flats[nonuniformEXT(i)], vec2(0.5));
  else if (i == 1) o = texture(cubes[nonuniformEXT(i)], at);
  else if (i == 2) o = vec4(texture(stacks[nonuniformEXT(i)], vec3(0.5, 0.5, 2.0))) / 255.0;
  else o = texelFetch(flats[nonuniformEXT(i)], ivec2(1), 0);
}"""


def heap(device: tg.Device) -> list[Any]:
    near = device.sampler(filter="nearest")
    flat, last = (device.texture(np.full((4, 4, 4), value, np.uint8)).image for value in (40, 200))
    cube = device.image((4, 4), "r8g8b8a8_unorm", layers=6, cube=True)
    device.clear(cube, (80 / 255,) * 4)
    stack = device.image((4, 4), "r8g8b8a8_uint", layers=3)
    device.clear(stack, (120, 120, 120, 120))
    return [(flat, near), (cube.view(type="cube"), near), (stack.view(type="2d_array"), near), (last, near)]


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("code", ["quick", "optimised"])
def test_elements_are_of_the_variable_that_reads_them(lanes: int, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEGPU_CODE", code)
    device = tg.Device(lanes=lanes)
    layout = device.descriptor_set_layout({0: ("combined_image_sampler", 4)}, partially_bound=True)
    pipe = device.pipeline(FULL, HEAP, color=["r8g8b8a8_unorm"], set_layouts={0: layout})
    out = device.image(SIZE, "r8g8b8a8_unorm")
    with device.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=3, sets={0: device.descriptor_set(layout, bind={0: heap(device)})})
    assert (out.numpy() == np.array([40, 80, 120, 200] * 2, np.uint8)[None, :, None]).all()


def test_without_partially_bound_each_must_fit_one_variable() -> None:
    """Of every element somebody knows the type: the last is of none of the three."""
    device = tg.Device()
    layout = device.descriptor_set_layout({0: ("combined_image_sampler", 4)})
    pipe = device.pipeline(FULL, HEAP, color=["r8g8b8a8_unorm"], set_layouts={0: layout})
    out = device.image(SIZE, "r8g8b8a8_unorm")
    held = heap(device)
    with device.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=3, sets={0: device.descriptor_set(layout, bind={0: held})})
    assert (out.numpy() == np.array([40, 80, 120, 200] * 2, np.uint8)[None, :, None]).all()
    held[3] = (device.image((4, 4, 4), "r8g8b8a8_unorm"), held[3][1])
    with pytest.raises(ValidationError, match=r"type of the view of .* is 3d, allowed is"), device.render_pass(color=out) as rp:
        rp.draw(pipe, count=3, sets={0: device.descriptor_set(layout, bind={0: held})})


CHOSEN = """#version 450
layout(set = 0, binding = 0) uniform sampler2D flat_one;
layout(set = 0, binding = 0) uniform sampler3D deep_one;
layout(set = 0, binding = 0) uniform samplerCube cube_one;
layout(set = 0, binding = 0) uniform usampler2DArray stack_one;
layout(set = 0, binding = 0) uniform sampler2DMS samples_one;
layout(push_constant) uniform Which { int which; };
layout(location = 0) out vec4 o;
void main() {
  vec3 at = vec3(1.0, 0.25, 0.125);
  if (which == 0) o = texture(flat_one, at.xy);
  else if (which == 1) o = texture(deep_one, at);
  else if (which == 2) o = texture(cube_one, at);
  else if (which == 3) o = vec4(texture(stack_one, vec3(0.5, 0.5, 2.0))) / 255.0;
  else o = texelFetch(samples_one, ivec2(1), 2);
}"""


@pytest.mark.parametrize("code", ["quick", "optimised"])
def test_one_descriptor_is_of_the_variable_that_is_chosen(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As layers over Direct3D 9 keep a texture's type: a number that the shader asks, so that one shader is there for all types."""
    monkeypatch.setenv("TILEGPU_CODE", code)
    device = tg.Device()
    layout = device.descriptor_set_layout({0: "combined_image_sampler"})
    pipe = device.pipeline(FULL, CHOSEN, color=["r8g8b8a8_unorm"], set_layouts={0: layout})
    near = device.sampler(filter="nearest")
    deep = device.image((4, 4, 4), "r8g8b8a8_unorm")
    device.clear(deep, (160 / 255,) * 4)
    many = device.image((4, 4), "r8g8b8a8_unorm", samples=4)
    with device.render_pass(color=tg.Attachment(many, clear=(220 / 255,) * 4)):
        pass
    held = heap(device)
    views = [held[0], (deep, near), held[1], held[2], (many, near)]
    out = device.image(SIZE, "r8g8b8a8_unorm")
    for which, (view, value) in enumerate(zip(views, [40, 160, 80, 120, 220], strict=True)):
        with device.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, sets={0: device.descriptor_set(layout, bind={0: view})}, push={"which": which})
        assert (out.numpy() == value).all(), which


ALL = """#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform sampler1D lines[];
layout(set = 0, binding = 0) uniform sampler2D flats[];
layout(set = 0, binding = 0) uniform sampler3D volumes[];
layout(set = 0, binding = 0) uniform samplerCube cubes[];
layout(set = 0, binding = 0) uniform sampler2DArray stacks[];
layout(set = 0, binding = 0) uniform samplerCubeArray crowds[];
layout(set = 0, binding = 0) uniform sampler2DMS many[];
layout(location = 0) out vec4 o;
void main() {
  int i = int(gl_FragCoord.x) % 8;
  vec3 at = vec3(1.0, 0.25, 0.125);
  vec2 uv = gl_FragCoord.xy / 64.0;
  if (i == 0) o = texture(lines[nonuniformEXT(i)], uv.x);
  else if (i == 1) o = texture(flats[nonuniformEXT(i)], uv) * 0.5 + textureGather(flats[nonuniformEXT(i)], uv) * 0.5;
  else if (i == 2) o = texture(volumes[nonuniformEXT(i)], vec3(uv, 0.5)) + texelFetch(volumes[nonuniformEXT(i)], ivec3(9), 0);
  else if (i == 3) o = texture(cubes[nonuniformEXT(i)], at) * 0.5 + textureGather(cubes[nonuniformEXT(i)], at) * 0.5;
  else if (i == 4) o = textureLod(stacks[nonuniformEXT(i)], vec3(uv, 2.0), 0.0);
  else if (i == 5) o = texture(crowds[nonuniformEXT(i)], vec4(at, 1.0));
  else if (i == 6) o = texelFetch(many[nonuniformEXT(i)], ivec2(1), 1);
  else o = vec4(textureQueryLod(flats[nonuniformEXT(i)], uv), textureSize(flats[nonuniformEXT(i)], 0)) / 255.0;
}"""


@pytest.mark.parametrize("lanes", [4, 16])
@pytest.mark.parametrize("anisotropy", [1.0, 4.0])
def test_each_view_has_the_code_of_its_type(lanes: int, anisotropy: float) -> None:
    """What one variable does is asked of every element, and no view of another type has all of it."""
    device = tg.Device(lanes=lanes)
    shapes: list[dict[str, Any]] = [
        {"size": (4,)}, {"size": (4, 4)}, {"size": (4, 4, 4)},
        {"size": (4, 4), "layers": 6, "cube": True}, {"size": (4, 4), "layers": 3}, {"size": (4, 4), "layers": 12, "cube": True},
        {"size": (4, 4), "samples": 4}, {"size": (4, 4)},
    ]  # fmt: skip
    views = [None, None, None, "cube", "2d_array", "cube_array", None, None]
    sampler = device.sampler(filter="linear", max_anisotropy=anisotropy)
    held = []
    for k, (shape, view) in enumerate(zip(shapes, views, strict=True)):
        image = device.image(shape.pop("size"), "r8g8b8a8_unorm", **shape)
        if shape.get("samples"):
            with device.render_pass(color=tg.Attachment(image, clear=(20 * (k + 1) / 255,) * 4)):
                pass
        else:
            device.clear(image, (20 * (k + 1) / 255,) * 4)
        held.append((image.view(type=view) if view else image, sampler))
    layout = device.descriptor_set_layout({0: ("combined_image_sampler", 8)}, partially_bound=True)
    pipe = device.pipeline(FULL, ALL, color=["r8g8b8a8_unorm"], set_layouts={0: layout})
    out = device.image((16, 4), "r8g8b8a8_unorm")
    with device.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=3, sets={0: device.descriptor_set(layout, bind={0: held})})
    seen = out.numpy()
    for k in range(7):
        assert (seen[:, k::8] == 20 * (k + 1)).all(), k
    assert (seen[:, 7::8, 2:] == 4).all()


@pytest.mark.parametrize("kind", ["storage_image", "storage_texel_buffer"])
@pytest.mark.parametrize("formats", [("r32_uint", "r8g8b8a8_unorm"), ("r32_uint", "r32g32b32a32_uint")])
def test_atomics_of_elements_whose_format_has_them(kind: str, formats: tuple[str, str]) -> None:
    """The other element is stored to by a variable of its own; nobody adds to it."""
    device = tg.Device()
    image = "image2D" if kind == "storage_image" else "imageBuffer"
    at = "ivec2(1, 0)" if kind == "storage_image" else "1"
    whole = formats[1].endswith("uint")
    kernel = device.compute_pipeline(f"""#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, r32ui) uniform u{image} sums[];
layout(set = 0, binding = 0, {"rgba32ui" if whole else "rgba8"}) uniform {"u" if whole else ""}{image} colours[];
void main() {{
  uint i = gl_GlobalInvocationID.x % 2u;
  if (i == 0u) imageAtomicAdd(sums[nonuniformEXT(i)], {at}, 3u);
  else imageStore(colours[nonuniformEXT(i)], {at}, {"u" if whole else ""}vec4(1));
}}""", set_layouts={0: (layout := device.descriptor_set_layout({0: (kind, 2)}, partially_bound=True))})  # fmt: skip
    held: list[Any] = []
    raw: list[Any] = []
    for name in formats:
        if kind == "storage_image":
            raw.append(device.image((4, 1), name))
            device.clear(raw[-1], (0, 0, 0, 0))
            held.append(raw[-1])
        else:
            raw.append(device.buffer(np.zeros(16, np.uint32)))
            held.append(raw[-1].texels(name))
    device.dispatch(kernel, 1, sets={0: device.descriptor_set(layout, bind={0: held})})
    sums, colours = (np.asarray(thing.numpy()).reshape(-1) for thing in raw)
    assert sums[1] == 6 and sums[0] == 0
    assert np.any(colours != 0)
