"""What goes wrong goes wrong aloud: draws that reach too far, sizes that differ, contents that nobody wrote, loops that don't end.

Each is what a newcomer met without a word (b04 to b11 of the first report); errors come before anything is executed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

POSITION = np.dtype([("position", "f4", 2)])
VERT = "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
SAMPLED = """#version 450
layout(binding = 0) uniform sampler2D s; layout(location = 0) out vec4 o; void main() { o = texture(s, vec2(0.5)); }"""
COLOR = "r8g8b8a8_unorm"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def triangle(count: int = 3) -> np.ndarray[Any, Any]:
    return np.resize(np.array([((-1, -1),), ((3, -1),), ((-1, 3),)], POSITION), count)


# ------------------------------------------------------------------------------------------------------------ draws


def draw(dev: tg.Device, vertices: Any, **arguments: Any) -> None:
    out = dev.image((4, 4), COLOR)
    restart = arguments.pop("primitive_restart", False)
    topology = "triangle_strip" if restart else "triangle_list"
    pipe = dev.pipeline(VERT, WHITE, vertex=POSITION, color=[COLOR], topology=topology, primitive_restart=restart, label="p")
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.draw(pipe, vertices, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 9}, r"pass 'a', pipeline 'p': first=0, count=9 reaches vertex 8; there are 3 vertices"),
        ({"first": 1, "count": 3}, r"first=1, count=3 reaches vertex 3; there are 3 vertices"),
        ({"first": 7}, r"first is 7; there are 3 vertices"),
        ({"indices": np.array([0, 1, 7])}, r"indices reach vertex 7; there are 3 vertices"),
        ({"indices": np.array([0, 1, 2], "u1"), "vertex_offset": 1}, r"with vertex_offset=1 reach vertex 3; there are 3"),
        ({"indices": np.array([0, 1, 2], "u2"), "vertex_offset": -1}, r"with vertex_offset=-1 reach vertex -1; there are 3"),
        ({"indices": np.array([0, 1, 2]), "count": 4}, r"first=0, count=4 reaches index 3; there are 3 indices"),
        ({"indices": np.array([0, 1, 2]), "first": 5}, r"first is 5; there are 3 indices"),
        ({"indices": np.array([0, 1, 0xFFFF], "u2")}, r"indices reach vertex 65535; there are 3"),
        ({"indices": np.array([0, 1, 2, -1, 3]), "primitive_restart": True}, r"indices reach vertex 3; there are 3"),
    ],
)
@pytest.mark.parametrize("where", ["array", "buffer"])
def test_draws_that_reach_too_far(dev: tg.Device, where: str, arguments: dict[str, Any], message: str) -> None:
    vertices = triangle() if where == "array" else dev.buffer(triangle())
    with pytest.raises(tg.ValidationError, match=message):
        draw(dev, vertices, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"count": 3, "first": 3},
        {"indices": np.array([0, 1, 2, 7]), "count": 3},  # what isn't drawn may be anything
        {"indices": np.array([7, 0, 1, 2]), "first": 1},
        {"indices": np.array([3, 4, 5]), "vertex_offset": -3},
        {"indices": np.array([0, 1, 2, 0xFFFF, 3, 4, 5], "u2"), "primitive_restart": True},
        {"indices": np.zeros(0, "u4")},
        {"count": 0, "first": 6},
    ],
)
def test_draws_that_reach_the_end(dev: tg.Device, arguments: dict[str, Any]) -> None:
    draw(dev, triangle(6), **arguments)


def test_a_buffer_that_is_bound_again_is_checked_again(dev: tg.Device) -> None:
    out, vertices = dev.image((4, 4), COLOR), dev.buffer(triangle())
    pipe = dev.pipeline(VERT, WHITE, vertex=POSITION, color=[COLOR])
    with pytest.raises(tg.ValidationError, match="reaches vertex 3"), dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, vertices)
        rp.draw(pipe, vertices, count=4)


def test_instances_begin_where_they_are_said_to(dev: tg.Device) -> None:
    """``first_instance`` with data: the rest of it, as ``first`` is of vertices."""
    vert = VERT.replace("void main", "layout(location = 1) in float shift; void main").replace("position, 0", "position + shift, 0")
    vert = vert.replace("0, 1); }", "0, 1); }")
    each = np.array([(0,), (0,), (9,)], [("shift", "f4")])
    out = dev.image((2, 2), COLOR)
    pipe = dev.pipeline(vert, WHITE, vertex=POSITION, instance=each.dtype, color=[COLOR])
    covered = []
    for first in range(3):
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, triangle(), instances=each, first_instance=first)
        covered.append((rp.stats.primitives_in, int(out.numpy().max())))
    assert covered == [(3, 255), (2, 255), (1, 0)]
    with pytest.raises(tg.ValidationError, match="instances: first_instance is 3; there are 3 elements"), dev.render_pass(color=out) as rp:
        rp.draw(pipe, triangle(), instances=each, first_instance=3)


# ------------------------------------------------------------------------------------------------- sizes of attachments


def test_attachments_of_different_sizes(dev: tg.Device) -> None:
    color, depth = dev.image((64, 48), COLOR), dev.image((32, 64), "d32_sfloat")
    given = {"color": tg.Attachment(color, clear=(0, 0, 0, 0)), "depth": tg.Attachment(depth, clear=1)}
    match = r"pass 'a': attachments have different sizes: color0 64x48, depth 32x64; make them equal, or give area=\(0, 0, 32, 48\)"
    with pytest.raises(tg.ValidationError, match=match), dev.render_pass(**given, label="a"):
        pass
    with dev.render_pass(**given, area=(0, 0, 32, 48)) as rp:
        pass
    assert rp.layout["width_px"] == 32


def test_a_resolve_of_another_size(dev: tg.Device) -> None:
    samples, small = dev.image((64, 64), COLOR, samples=4), dev.image((32, 32), COLOR)
    attachment = tg.Attachment(samples, clear=(0, 0, 0, 1), resolve=small)
    with pytest.raises(tg.ValidationError, match="color0 64x64, color0's resolve 32x32"), dev.render_pass(color=attachment):
        pass


def test_levels_have_their_own_sizes(dev: tg.Device) -> None:
    chain = dev.image((64, 64), COLOR, mip_levels=None)
    depth = dev.image((16, 16), "d32_sfloat")
    with dev.render_pass(color=tg.Attachment(chain.view(level=2, levels=1), clear=(0, 0, 0, 0)), depth=tg.Attachment(depth, clear=1)):
        pass


# ----------------------------------------------------------------------------------------- contents that nobody wrote


def read_undefined(dev: tg.Device, how: str) -> None:
    out, source = dev.image((4, 4), COLOR), dev.image((4, 4), COLOR, label="src")
    if how == "load":
        with dev.render_pass(color=source, label="a"):
            pass
    elif how == "sampled":
        pipe = dev.pipeline(COVER, SAMPLED, color=[COLOR])
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
            rp.draw(pipe, count=3, bind={"s": (source, dev.sampler())})
    else:
        text = """#version 450
        layout(binding = 0) uniform sampler2D s; layout(binding = 1) buffer Out { vec4 o; }; void main() { o = texture(s, vec2(0)); }"""
        result = dev.buffer(16)
        dev.dispatch(dev.compute_pipeline(text), 1, bind={"s": (source, dev.sampler()), "Out": result})


@pytest.mark.parametrize("how", ["load", "sampled", "dispatch"])
def test_reads_of_what_nobody_wrote(dev: tg.Device, how: str) -> None:
    with pytest.warns(tg.UndefinedContentsWarning, match="contents of image 'src' are undefined: nothing was stored") as found:
        read_undefined(dev, how)
    assert len(found) == 1 and found[0].filename == __file__  # the user's line
    with pytest.raises(tg.UndefinedContentsError, match="contents of image 'src' are undefined"):
        read_undefined(tg.Device(threads=1, strict=True), how)


def test_strict_devices_draw_what_is_defined() -> None:
    strict = tg.Device(threads=1, strict=True)
    out, source = strict.image((4, 4), COLOR), strict.image((4, 4), COLOR)
    strict.clear(source, (1, 0, 0, 1))
    pipe = strict.pipeline(COVER, SAMPLED, color=[COLOR])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with strict.render_pass(color=tg.Attachment(out, "dont_care")) as rp:
            rp.draw(pipe, count=3, bind={"s": (source, strict.sampler())})
    assert out.numpy()[0, 0].tolist() == [255, 0, 0, 255]


def test_a_strict_device_executes_nothing_undefined() -> None:
    strict = tg.Device(threads=1, strict=True)
    out, source = strict.image((4, 4), COLOR), strict.image((4, 4), COLOR)
    strict.clear(out, (0, 1, 0, 1))
    pipe = strict.pipeline(COVER, SAMPLED, color=[COLOR])
    with pytest.raises(tg.UndefinedContentsError), strict.render_pass(color=tg.Attachment(out, "dont_care")) as rp:
        rp.draw(pipe, count=3, bind={"s": (source, strict.sampler())})
    assert out.numpy()[0, 0].tolist() == [0, 255, 0, 255]


# ---------------------------------------------------------------------------------------------------------- why()


def test_why_says_how_to_ask_before(dev: tg.Device) -> None:
    out = dev.image((8, 8), COLOR)
    dev.clear(out, (0, 0, 0, 1))
    pipe = dev.pipeline(COVER, WHITE, color=[COLOR])
    with dev.render_pass(color=out, trace="fragments") as rp:
        rp.draw(pipe, count=3)
    with pytest.raises(tg.ValidationError, match=r"ask before, while it is recorded: dev.render_pass\(..., trace=\[\(4, 4\)\]\)$"):
        rp.why(4, 4)
    with dev.render_pass(color=out) as rp:
        rp.draw(pipe, count=3)
    with pytest.raises(tg.ValidationError, match=r"dev.render_pass\(..., trace='fragments'\)$"):
        rp.heatmap("shaded")


# ---------------------------------------------------------------------------------------------- loops that don't end

ENDLESS = """#version 450
layout(location = 0) out vec4 o;
layout(push_constant) uniform P { uint most; };
void main() {
  uint i = 0u;
  for (uint k = 0u; k < 3u + (most & 1u); k++)
    i ^= k;

  while (i < most + uint(gl_FragCoord.x))
    i++;
  o = vec4(i);
}"""


def spend(dev: tg.Device, most: int, **shaders: str) -> tg.Image:
    out = dev.image((8, 8), COLOR)
    shaders = {"vert": COVER, "frag": ENDLESS, **shaders}
    pipe = dev.pipeline(shaders["vert"], shaders["frag"], color=[COLOR], label="p", frag_file="long.frag", vert_file="long.vert")
    with dev.render_pass(color=tg.Attachment(out, "dont_care"), label="a") as rp:
        rp.draw(dev.pipeline(COVER, WHITE, color=[COLOR]), count=3)
        rp.draw(pipe, count=3, push={"most": most} if shaders["frag"] == ENDLESS else None)
    return out


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_loop_that_spends_its_budget(lanes: int, threads: int) -> None:
    dev = tg.Device(lanes=lanes, threads=threads, loop_budget=1000)
    message = (
        r"pass 'a', draw 1, pipeline 'p': the loop at long.frag:9 of the fragment shader was ended: "
        r"its loops went round more than 1000 times; .*loop_budget"
    )
    with pytest.raises(tg.DeviceLostError, match=message):
        spend(dev, 5000)
    assert spend(dev, 900).numpy().min() == 255  # the device goes on, with all of its budget
    with pytest.raises(tg.DeviceLostError, match=message):
        spend(dev, 1000)


def test_what_a_pass_stored_that_was_not_done_is_undefined() -> None:
    dev = tg.Device(threads=1, loop_budget=1000)
    out = dev.image((8, 8), COLOR)
    pipe = dev.pipeline(COVER, ENDLESS, color=[COLOR])
    with pytest.raises(tg.DeviceLostError), dev.render_pass(color=tg.Attachment(out, "dont_care")) as rp:
        rp.draw(pipe, count=3, push={"most": 5000})
    with pytest.raises(tg.UndefinedContentsError):
        out.numpy()


def test_the_default_budget_is_not_met_by_long_loops() -> None:
    assert spend(tg.Device(threads=1), 3_000_000).numpy().min() == 255


def test_endless_loops_end_soon() -> None:
    """Every packet of a thread that follows the first one has nothing left."""
    dev = tg.Device(threads=2)
    with pytest.raises(tg.DeviceLostError, match="more than 16777216 times"):
        spend(dev, 0xFFFFFF00)


def test_loops_of_other_stages() -> None:
    dev = tg.Device(threads=1, loop_budget=1000)
    vert = COVER.replace("{ vec2", "{\n  uint i = 0u;\n  while (i < 5000u + gl_VertexIndex)\n    i++;\n  vec2")
    vert = vert.replace("0, 1)", "i * 1e-9, 1)")
    with pytest.raises(tg.DeviceLostError, match=r"draw 1, pipeline 'p': the loop at long.vert:4 of the vertex shader"):
        spend(dev, 0, vert=vert, frag=WHITE)
    text = """#version 450
    layout(binding = 0) buffer Out { uint o; };
    void main() {
      uint i = 0u;
      while (i < 5000u + o)
        i++;
      o = i;
    }"""
    kernel, out = dev.compute_pipeline(text, comp_file="long.comp"), dev.buffer(np.zeros(1, "u4"))
    with pytest.raises(tg.DeviceLostError, match=r"the loop at long.comp:5 of the compute shader.*more than 1000 times"):
        dev.dispatch(kernel, 1, bind={"Out": out})
    wide = tg.Device(threads=1)
    out = wide.buffer(np.zeros(1, "u4"))
    wide.dispatch(wide.compute_pipeline(text), 1, bind={"Out": out})
    assert int(out.numpy().view("u4")[0]) == 5000


# ----------------------------------------------------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "options", [{"format": "b8g8r8a8_unorm"}, {"format": COLOR, "tiling": "block_compressed"}, {"format": COLOR, "samples": 4}]
)
def test_arrays_of_images_that_no_view_can_show_are_copies(dev: tg.Device, options: dict[str, Any]) -> None:
    image = dev.image((4, 4), **options)
    dev.clear(image, (1, 0.5, 0, 1))
    for array in (np.asarray(image), np.array(image, copy=True), np.from_dlpack(image)):
        assert array.shape == image.shape and array.reshape(-1, 4)[0].tolist() == [255, 128, 0, 255]
    assert np.asarray(image, dtype=np.float32).dtype == np.float32
    with pytest.raises(tg.ValidationError, match="that needs a copy: leave copy=False out"):
        image.__array__(copy=False)


def test_views_stay_views(dev: tg.Device) -> None:
    image = dev.image((4, 4), COLOR)
    dev.clear(image, (1, 0, 0, 1))
    view, shared = np.asarray(image), np.from_dlpack(image)
    assert not view.flags.writeable and not view.flags.owndata
    dev.clear(image, (0, 1, 0, 1))
    assert view[0, 0].tolist() == [0, 255, 0, 255]
    assert image.__dlpack_device__() == (1, 0)
    assert shared.shape == (4, 4, 4)
    with pytest.raises(BufferError, match="is in the CPU's memory"):
        image.__dlpack__(dl_device=(2, 0))
    old = image.__dlpack__()  # a consumer of before 1.0, which can't know that memory is read-only, has a copy
    assert "dltensor" in repr(old)


# ------------------------------------------------------------------------------------------------------------ write


def test_write_converts_as_textures_do(dev: tg.Device) -> None:
    rng = np.random.default_rng(1)
    for format_, pixels in (
        (COLOR, rng.integers(0, 256, (6, 5, 4), np.uint8)),
        (COLOR, rng.random((6, 5, 3), np.float32)),
        ("b8g8r8a8_srgb", rng.random((6, 5, 4), np.float32)),
        ("r16g16b16a16_sfloat", rng.random((6, 5, 4), np.float32)),
        ("r32_uint", rng.integers(0, 99, (6, 5), np.uint32)),
    ):
        image = dev.image((5, 6), format_)
        image.write(pixels)
        assert image.numpy().tobytes() == dev.texture(pixels, format_).image.numpy().tobytes()


def test_write_of_a_part(dev: tg.Device) -> None:
    image = dev.image((8, 8), COLOR, layers=3, mip_levels=2)
    for level in range(2):
        for layer in range(3):
            image.write(np.zeros((8 >> level, 8 >> level, 4), np.uint8), level=level, layer=layer)
    image.write(np.full((2, 2, 3, 4), 255, np.uint8), pos=(1, 2), level=1, layer=1)
    for layer in range(3):
        got = image.numpy(1, layer)[..., 0]
        wanted = np.zeros((4, 4), np.uint8)
        if layer:
            wanted[2:4, 1:4] = 255
        assert np.array_equal(got, wanted) and not image.numpy(0, layer).any()


def test_write_of_slices(dev: tg.Device) -> None:
    image = dev.image((4, 3, 5), "r8_unorm")
    volume = np.arange(60, dtype=np.uint8).reshape(5, 3, 4, 1)
    image.write(volume)
    image.write(np.full((2, 1, 1, 1), 200, np.uint8), pos=(3, 1), layer=2)
    volume[2:4, 1, 3] = 200
    assert all(np.array_equal(image.numpy(layer=z), volume[z]) for z in range(5))


@pytest.mark.parametrize("format_", ["d16_unorm", "x8_d24_unorm_pack32", "d32_sfloat", "d24_unorm_s8_uint", "d32_sfloat_s8_uint"])
def test_write_of_depth_and_stencil(dev: tg.Device, format_: str) -> None:
    image = dev.image((5, 4), format_)
    depths = np.random.default_rng(2).random((4, 5), np.float32)
    depths[0, :3] = 0, 1, 0.5
    image.write(depths)
    bits = tg.format_info(format_).depth_bits
    exact = depths if bits == 32 else (np.rint(depths.astype(float) * (2**bits - 1)) / (2**bits - 1)).astype(np.float32)
    assert np.allclose(image.numpy()[..., 0], exact, rtol=0, atol=2**-24)
    if format_.endswith("s8_uint"):
        image.write(np.arange(20).reshape(4, 5), aspect="stencil")
        assert np.array_equal(image.numpy(aspect="stencil").reshape(-1), np.arange(20))
        assert np.allclose(image.numpy()[..., 0], exact, rtol=0, atol=2**-24)  # the other aspect stays
        with pytest.raises(tg.ValidationError, match="stencil has integers from 0 to 255"):
            image.write(np.full((4, 5), 256), aspect="stencil")
    if bits != 32:
        with pytest.raises(tg.ValidationError, match=f"depth of {format_} is from 0 to 1"):
            image.write(depths * 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pixels": np.zeros((5, 4, 4), "u1")}, r"pixels have shape \(1, 5, 4, 4\) and go to \(0, 0\), layer 0; level 0 has 4x4 pixels"),
        ({"pixels": np.zeros((2, 2, 4), "u1"), "pos": (3, 0)}, r"go to \(3, 0\)"),
        ({"pixels": np.zeros((2, 2, 4), "u1"), "pos": (-1, 0)}, r"go to \(-1, 0\)"),
        ({"pixels": np.zeros((2, 2, 4), "u1"), "layer": 1}, r"layer 1; level 0 has 4x4 pixels and 1 layer"),
        ({"pixels": np.zeros((2, 2, 4), "u1"), "level": 1}, r"level is 1; it has 1"),
        ({"pixels": np.zeros((2, 2, 2), "u1")}, r"pixels have 2 components, format r8g8b8a8_unorm has 4"),
        ({"pixels": np.zeros((2, 2, 4), "c8")}, r"pixels have dtype complex64"),
        ({"pixels": "no such file.png"}, r"can't read 'no such file.png'"),
    ],
)
def test_write_of_what_does_not_fit(dev: tg.Device, arguments: dict[str, Any], message: str) -> None:
    image = dev.image((4, 4), COLOR, label="small")
    with pytest.raises(tg.ValidationError, match=f"image 'small': write.*{message}"):
        image.write(**arguments)
    with pytest.raises(tg.ValidationError, match="it has 4 samples; draw to it, or clear it"):
        dev.image((4, 4), COLOR, samples=4).write(np.zeros((4, 4, 4), "u1"))


# ------------------------------------------------------------------------------------------------- what Vulkan forbids


def test_objects_of_another_device(dev: tg.Device) -> None:
    """Code is made for a number of lanes: with another device's it would read beyond its vectors (it crashed)."""
    other = tg.Device(threads=1, lanes=4 if dev.info["lanes"] != 4 else 8)
    out = dev.image((4, 4), COLOR)
    pipe = other.pipeline(COVER, WHITE, color=[COLOR], label="p")
    match = "pass 'a': pipeline 'p' was made by another device; make one with this device"
    with pytest.raises(tg.ValidationError, match=match), dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.draw(pipe, count=3)
    kernel = other.compute_pipeline("#version 450\nvoid main() {}", label="k")
    with pytest.raises(tg.ValidationError, match="pipeline 'k' was made by another device"):
        dev.dispatch(kernel, 1)
    sampled = dev.pipeline(COVER, SAMPLED, color=[COLOR])
    texture = other.texture(np.zeros((2, 2, 4), "u1"))  # plain data, which goes anywhere, and is said
    foreign = other.descriptor_set(other.pipeline(COVER, SAMPLED, color=[COLOR]), 0, {"s": texture}, label="d")
    clear = tg.Attachment(out, clear=(0, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match="is of another device"), dev.render_pass(color=clear) as rp:
        rp.draw(sampled, count=3, sets={0: foreign})
    said = pytest.warns(tg.ExtensionWarning, match="made by another device; Vulkan forbids it")
    with said, dev.render_pass(color=tg.Attachment(out, clear=(1, 1, 1, 1))) as rp:
        rp.draw(sampled, count=3, bind={"s": texture})
    assert not out.numpy()[..., :3].any()
    with other.secondary(color=[COLOR]) as secondary:
        secondary.draw(other.pipeline(COVER, WHITE, color=[COLOR]), count=3)
    clear = tg.Attachment(out, clear=(0, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match="belongs to another device"), dev.render_pass(color=clear) as rp:
        rp.execute_commands(secondary)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"viewport": (0, 0, 0, 8)}, r"viewport is \(0, 0, 0, 8\); width must be above 0"),
        ({"viewport": (0, 0, 1e9, 8)}, "width and height at most"),
        ({"viewport": (0, 0, 8, -1e9)}, "width and height at most"),
        ({"viewport": (1e6, 0, 8, 8)}, "it must lie within"),
        ({"scissor": (-1, 0, 4, 4)}, r"scissor is \(-1, 0, 4, 4\); x and y must not be negative"),
        ({"depth_bias": (float("nan"), 0)}, "its numbers must be finite"),
    ],
)
def test_state_of_draws(dev: tg.Device, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(tg.ValidationError, match=message):
        draw(dev, triangle(), **arguments)


def test_a_viewport_may_be_upside_down_or_flat(dev: tg.Device) -> None:
    draw(dev, triangle(), viewport=(0, 4, 4, -4))
    draw(dev, triangle(), viewport=(0, 0, 4, 0))


@pytest.mark.parametrize("bounds", [(2, 3), (0.9, 0.1), (-0.5, 1), (float("nan"), 1)])
def test_depth_bounds(dev: tg.Device, bounds: tuple[float, float]) -> None:
    with pytest.raises(tg.ValidationError, match=r"depth_bounds is .*; both must be 0 to 1"):
        dev.pipeline(COVER, WHITE, color=[COLOR], depth="d32_sfloat", depth_bounds=bounds)


def test_indirect_draws_that_have_no_room(dev: tg.Device) -> None:
    out = dev.image((4, 4), COLOR)
    pipe = dev.pipeline(COVER, WHITE, color=[COLOR])
    clear = tg.Attachment(out, clear=(0, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match="8 B from offset 8 on; a draw takes 16 B"), dev.render_pass(color=clear) as rp:
        rp.draw_indirect(pipe, dev.buffer(np.zeros(4, "u4")), offset=8)


def test_views_with_a_swizzle_are_read_only(dev: tg.Device) -> None:
    image = dev.image((4, 4), COLOR, label="i")
    view = image.view(swizzle="bgra")
    with pytest.raises(tg.ValidationError, match="view of image 'i' has swizzle 'bgra'; an attachment takes"), dev.render_pass(color=view):
        pass
    kernel = dev.compute_pipeline(
        "#version 450\nlayout(binding = 0, rgba8) uniform image2D i; void main() { imageStore(i, ivec2(0), vec4(1)); }"
    )
    with pytest.raises(tg.ValidationError, match="a storage image takes views without one"):
        dev.dispatch(kernel, 1, bind={"i": view})
    with dev.render_pass(color=tg.Attachment(image.view(swizzle="RGBA"), clear=(0, 0, 0, 0))):
        pass


@pytest.mark.parametrize(
    ("format_", "clear", "message"),
    [
        (COLOR, (255, 128, 0, 255), r"r8g8b8a8_unorm takes numbers from 0 to 1, .*; \(r, g, b, a\) of 255 are divided by 255"),
        (COLOR, (float("nan"), 0, 0, 1), "takes numbers from 0 to 1"),
        ("r8g8b8a8_snorm", (-1.5, 0, 0, 1), "takes numbers from -1 to 1"),
        ("r8g8b8a8_uint", (-1, 0, 0.5, 999), "takes whole numbers from 0 to 255"),
        ("r16_sint", (40000,), "takes whole numbers from -32768 to 32767"),
    ],
)
def test_clears_with_what_the_format_does_not_hold(dev: tg.Device, format_: str, clear: Any, message: str) -> None:
    """Vulkan clamps, so that it is no error; 0 to 255 is the commonest slip."""
    image = dev.image((4, 4), format_)
    with pytest.warns(tg.ClampedValueWarning, match=message) as found, dev.render_pass(color=tg.Attachment(image, clear=clear)):
        pass
    assert found[0].filename == __file__
    with pytest.warns(tg.ClampedValueWarning, match=message):
        dev.clear(image, clear)
    with pytest.warns(tg.ClampedValueWarning, match=message), dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 1))) as rp:
        rp.clear(clear)


def test_clears_of_floats_may_be_anything(dev: tg.Device) -> None:
    image = dev.image((2, 2), "r32g32b32a32_sfloat")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev.clear(image, (255, float("inf"), -3, float("nan")))
    assert image.numpy()[0, 0, 0] == 255
    one = dev.image((2, 2), "r8_unorm")
    dev.clear(one, (0.5, 9, 9, 9))  # what the format has not is nowhere
    assert one.numpy()[0, 0, 0] == 128


# ---------------------------------------------------------------------------------------------------------- sampling

SHADOW = SAMPLED.replace("sampler2D s", "sampler2DShadow s").replace("texture(s, vec2(0.5))", "vec4(texture(s, vec3(0.5)))")
INTEGERS = SAMPLED.replace("sampler2D s", "usampler2D s").replace("texture(s, vec2(0.5))", "vec4(texture(s, vec2(0.5))) / 255.0")


def sample(dev: tg.Device, frag: str, image: tg.Image, **sampling: Any) -> int:
    out = dev.image((2, 2), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(dev.pipeline(COVER, frag, color=[COLOR]), count=3, bind={"s": (image, dev.sampler(**sampling))})
    return int(out.numpy()[0, 0, 0])


def test_filters_of_what_cannot_be_filtered(dev: tg.Device) -> None:
    texture = dev.texture(np.full((2, 2), 7, "u1"), "r8_uint")
    assert sample(dev, INTEGERS, texture.image) == sample(dev, INTEGERS, texture.image, filter="nearest") == 7  # by default: nearest
    with pytest.raises(tg.ValidationError, match=r"image .* has format r8_uint, which can't be filtered, and the sampler's"):
        sample(dev, INTEGERS, texture.image, min_filter="linear")
    with pytest.raises(tg.ValidationError, match="texture: format is r8_uint, which can't be filtered"):
        dev.texture(np.full((2, 2), 7, "u1"), "r8_uint", filter="linear")


def test_comparisons_of_depth(dev: tg.Device) -> None:
    depth, color = dev.image((2, 2), "d32_sfloat"), dev.texture(np.zeros((2, 2, 4), "u1")).image
    dev.clear(depth, depth=0.75)
    assert sample(dev, SHADOW, depth, compare="less_or_equal") == 255 and sample(dev, SHADOW, depth, compare="greater") == 0
    with pytest.raises(tg.ValidationError, match=r"the shader compares depths .*, the sampler has no compare="):
        sample(dev, SHADOW, depth)
    with pytest.raises(tg.ValidationError, match="the sampler has compare=, the shader compares nothing"):
        sample(dev, SAMPLED, depth, compare="less")
    assert sample(dev, SHADOW, color, compare="less") == 0 and sample(dev, SHADOW, color, compare="greater") == 255


def test_images_that_are_only_written_are_not_read(dev: tg.Device) -> None:
    store = "#version 450\nlayout(binding = 0, rgba8) uniform image2D i; void main() { imageStore(i, ivec2(0) * imageSize(i), vec4(1)); }"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev.dispatch(dev.compute_pipeline(store), 1, bind={"i": dev.image((4, 4), COLOR)})
    for text in ("imageStore(i, ivec2(0), imageLoad(i, ivec2(1)));", "imageStore(i, ivec2(0), get());"):
        reads = store.replace("imageStore(i, ivec2(0) * imageSize(i), vec4(1));", text)
        reads = reads.replace("void main", "vec4 get() { return imageLoad(i, ivec2(0)); } void main")
        with pytest.warns(tg.UndefinedContentsWarning, match="'i' .*may be read"):
            dev.dispatch(dev.compute_pipeline(reads), 1, bind={"i": dev.image((4, 4), COLOR)})


def test_outputs_that_go_nowhere(dev: tg.Device) -> None:
    two = WHITE.replace("void main() {", "layout(location = 1) out vec4 second; void main() { second = vec4(1);")
    with pytest.warns(tg.UnusedNameWarning, match="output 'second' goes to location 1; there is 1 colour attachment$") as found:
        dev.pipeline(COVER, two, color=[COLOR])
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev.pipeline(COVER, two, color=[COLOR, COLOR])
        dev.pipeline(COVER, two, depth="d32_sfloat")  # the same shaders, depth alone


def test_push_constants_of_two_stages_at_the_same_bytes() -> None:
    """Both blocks begin at byte 0: what is given by name would overwrite itself. As bytes it is whatever the stages make of it."""
    dev = tg.Device()
    vert = """#version 450
    layout(push_constant) uniform A { vec4 offset_px; };
    void main() { gl_Position = vec4(vec2[](vec2(-1), vec2(3, -1), vec2(-1, 3))[gl_VertexIndex], 0, 1) + offset_px; }"""
    frag = """#version 450
    layout(push_constant) uniform B { HERE vec4 tint; };
    layout(location = 0) out vec4 o;
    void main() { o = tint; }"""
    image = dev.image((4, 4), "r8g8b8a8_unorm")
    for here, apart in (("", False), ("layout(offset = 16)", True)):
        pipeline = dev.pipeline(vert, frag.replace("HERE", here), color=[image])
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
            if apart:
                rp.draw(pipeline, count=3, push={"offset_px": (0, 0, 0, 0), "tint": (1, 1, 1, 1)})
                continue
            with pytest.raises(tg.ValidationError, match="'offset_px' is at bytes 0 to 15 and 'tint' at 0 to 15, each in another"):
                rp.draw(pipeline, count=3, push={"offset_px": (0, 0, 0, 0), "tint": (1, 1, 1, 1)})
            rp.draw(pipeline, count=3, push=np.zeros(4, np.float32).tobytes())
    assert (image.numpy() == 255).all()


def test_views_and_attachments_by_name() -> None:
    """Neither an AttributeError of Python's own nor a number where there is a name."""
    dev = tg.Device()
    image = dev.image((4, 4), "r8g8b8a8_unorm", usage=["sampled"])
    with pytest.raises(tg.ValidationError, match=r"ycbcr is 'x'; it must be what dev\.sampler_ycbcr_conversion"):
        image.view(ycbcr="x")  # type: ignore[arg-type]
    words = "usage of image '4x4 r8g8b8a8_unorm' is one without color_attachment, allowed is one with color_attachment"
    with pytest.raises(tg.ValidationError, match=words), dev.render_pass(color=[image]):
        pass
