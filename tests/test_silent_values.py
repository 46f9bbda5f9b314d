"""Values that were changed, and arguments that did nothing, without a word: what formats and floats can't hold, lists in buffers, offsets
within numbers, True for a number, a draw's values that its pipeline does not look at, layers and viewports that there are not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
POSITION = "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
COLOR = "r8g8b8a8_unorm"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def said(call: Any, *arguments: Any, **named: Any) -> list[tuple[type[Warning], str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*arguments, **named)
    return [(w.category, str(w.message)) for w in found]


# ------------------------------------------------------------------------------------------------------------------- pixels


@pytest.mark.parametrize(
    ("format_", "low", "high", "text"),
    [
        (COLOR, 0.0, 255.0, "takes floats from 0 to 1, and others are clamped; divide pixels of 255 by 255, or give uint8"),
        ("r8g8b8a8_srgb", -1.0, 1.0, "takes floats from 0 to 1, and others are clamped"),
        ("r8g8b8a8_snorm", -4.0, 1.0, "takes floats from -1 to 1, and others are clamped"),
        ("r16g16b16a16_sfloat", 0.0, 1e6, "takes floats up to 65504, and larger ones become infinite"),
        ("r32g32b32a32_sfloat", 0.0, 1e300, "takes floats up to"),
        (COLOR, 0.0, float("nan"), "takes floats from 0 to 1"),
        (COLOR, -0.2, 1.3, ""),  # as filters overshoot
        ("r8g8b8a8_snorm", -1.0, 1.0, ""),
        ("r16g16b16a16_sfloat", -65504.0, 65504.0, ""),
        ("r16g16b16a16_sfloat", 0.0, float("inf"), ""),
        ("r32g32b32a32_sfloat", 0.0, 1e9, ""),
    ],
)
def test_floats_that_a_format_does_not_hold(dev: tg.Device, format_: str, low: float, high: float, text: str) -> None:
    pixels = np.zeros((2, 2, 4))
    pixels[0, 0], pixels[1, 1] = low, high
    image = dev.image((2, 2), format_)
    for call in (lambda: dev.texture(pixels, format_), lambda: image.write(pixels)):
        found = said(call)
        assert [kind for kind, _ in found] == [tg.ClampedValueWarning] * bool(text)
        assert not text or text in found[0][1]


@pytest.mark.parametrize(
    ("format_", "value"),
    [("r16_uint", 70000), ("r16_uint", -1), ("r8_sint", 128), ("r8_sint", -129), ("r32_uint", 2**32), ("r32_sint", 2**31)],
)
def test_integers_that_a_format_does_not_hold(dev: tg.Device, format_: str, value: int) -> None:
    image = dev.image((2, 2), format_)
    with pytest.raises(tg.ValidationError, match=rf"pixels are from {value} to {value}; format {format_} holds integers from"):
        image.write(np.full((2, 2, 1), value, np.int64))
    image.write(np.full((2, 2, 1), 100, np.int64))
    assert image.numpy()[0, 0, 0] == 100


# ------------------------------------------------------------------------------------------------- numbers larger than floats


def test_numbers_that_floats_do_not_hold(dev: tg.Device) -> None:
    declared = """#version 450
layout({}) uniform B {{ vec2 a; float b[2]; }} u; layout(location = 0) out vec4 o;
void main() {{ o = vec4(u.a, u.b[0], 1); }}"""
    block = dev.pipeline(COVER, declared.format("binding = 0"), color=[COLOR])
    push = dev.pipeline(COVER, declared.format("push_constant"), color=[COLOR])
    out = dev.image((2, 2), COLOR)
    for pipe, how in ((block, "bind"), (push, "push")):
        for name, wrong in (("a", (0.0, 1e300)), ("b", np.array([1e39, 0])), ("b", [1e39, 0])):
            fields = {"a": (0.0, 0.0), "b": (0.0, 0.0), name: wrong}
            refused = pytest.raises(tg.ValidationError, match=rf": {name} has .*, which float can't hold")
            with warnings.catch_warnings(), refused, dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
                warnings.simplefilter("error")
                rp.draw(pipe, count=3, **{how: {"u": fields} if how == "bind" else fields})
    # Those that a float only rounds, and such as are infinite themselves, are what they are.
    assert len(block.struct("u", a=(1e-60, float("inf")), b=(float("nan"), 0.1))) == 16 + 32
    pipe = dev.pipeline(POSITION, WHITE, vertex=np.dtype(("f4", 2)), color=[COLOR])
    refused = pytest.raises(tg.ValidationError, match=r"vertices: the array has 1e\+300, which the pipeline's float32 can't hold")
    with refused, dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, np.full((3, 2), 1e300))


# ------------------------------------------------------------------------------------------------------------------ buffers


def test_lists_become_what_the_buffer_holds_or_are_refused(dev: tg.Device) -> None:
    for own, wrong in (("u1", [300]), ("u1", [-1]), ("i4", [1.5]), ("u4", [-1]), ("i4", [2**31]), ("i4", [float("nan")]), ("f4", [1e39])):
        buffer = dev.buffer(np.zeros(4, own), label="b")
        with pytest.raises(tg.ValidationError, match=rf"buffer 'b': what is written holds .*, which {np.dtype(own)} does not"):
            buffer.write(wrong)
        assert not buffer.numpy().any()
    kept = (("u1", [255, 0]), ("i4", [1.0, -5]), ("u4", [2**32 - 1]), ("f4", [0.1, float("inf")]), ("f4", [2**24 + 1]), ("u1", [True]))
    for own, right in kept:
        buffer = dev.buffer(np.zeros(4, own))
        buffer.write(right)
        assert buffer.numpy()[: len(right)].tolist() == np.array(right, own).tolist()
    assert dev.buffer([3_000_000_000]).dtype == np.uint32 and dev.buffer([-1, 5]).dtype == np.int32
    assert dev.buffer([-1, 3_000_000_000]).dtype == np.int64


def test_offsets_within_a_number(dev: tg.Device) -> None:
    buffer = dev.buffer(np.zeros(8, "f4"), label="b")
    for call in (lambda: buffer.write(np.ones(1, "f4"), offset=1), lambda: buffer.slice(3)):
        with pytest.raises(tg.ValidationError, match=r"in bytes, within a number of 4 bytes: .* float32; element \d begins at"):
            call()
    buffer.write(np.ones(1, "f4"), offset=4)
    assert buffer.slice(4).offset == 4 and dev.buffer(64).slice(3).offset == 3 and dev.buffer(b"abcdef").slice(1).offset == 1
    mixed = dev.buffer(np.zeros(4, [("a", "f4"), ("b", "u1", 4), ("c", "u2", 2)]))
    assert mixed.slice(13).offset == 13  # the least of its fields is a byte


def test_sizes_are_whole_numbers(dev: tg.Device) -> None:
    for wrong in (64.0, np.float32(64)):
        with pytest.raises(tg.ValidationError, match="a size is a whole number of bytes"):
            dev.buffer(wrong)
    for call in (
        lambda: dev.image((8, 8), COLOR, mip_levels=True),
        lambda: dev.image((True, True), COLOR),
        lambda: dev.render_pass(color=dev.image((8, 8), COLOR), layers=True),
    ):
        with pytest.raises(tg.ValidationError, match=r"True"):
            call()


def test_pictures_go_to_folders_that_there_are(dev: tg.Device, tmp_path: Path) -> None:
    image = dev.image((2, 2), COLOR)
    dev.clear(image, (1, 1, 1, 1))
    for name in ("a.png", "a.npy"):
        with pytest.raises(tg.ValidationError, match=r"can't save to .*: there is no folder"):
            image.save(tmp_path / "no" / name)


# ------------------------------------------------------------------------------------- what a draw says and nobody looks at


def test_values_of_a_draw_without_effect(dev: tg.Device) -> None:
    out, depth = dev.image((4, 4), COLOR), dev.image((4, 4), "d32_sfloat_s8_uint")
    formats = {"color": [COLOR], "depth": depth.format, "stencil": depth.format}

    def draw(value: dict[str, Any], **state: Any) -> None:
        pipe = dev.pipeline(COVER, WHITE, **formats, **state)
        cleared = {"depth": tg.Attachment(depth, clear=1.0), "stencil": tg.Attachment(depth, clear=0)}
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), **cleared) as rp:
            if "dynamic" in state:
                rp.set(depth_bias_enable=True, stencil_test_enable=True)
            rp.draw(pipe, count=3, **value)

    constant = {"src_color": "constant_color", "dst_color": "zero"}
    for value, without, with_it in (
        ({"stencil_reference": 1}, "stencil_test=", {"stencil_test": {"compare": "equal"}}),
        ({"depth_bias": (1, 1)}, r"depth_bias=(0, 0)", {"depth_bias": (0, 0)}),
        ({"blend_constants": (1, 1, 1, 1)}, "blend=", {"blend": constant}),
    ):
        (found,) = said(draw, value)
        assert found[0] is tg.UnusedNameWarning
        assert f"{next(iter(value))} of draw has no effect: the pipeline was made without {without}" in found[1]
        assert not said(draw, value, **with_it)
    assert not said(draw, {"stencil_reference": 1, "depth_bias": (1, 1)}, dynamic=["depth_bias_enable", "stencil_test_enable"])


def test_depth_is_written_where_it_is_tested(dev: tg.Device) -> None:
    formats: dict[str, Any] = {"color": [COLOR], "depth": "d32_sfloat"}
    (found,) = said(dev.pipeline, COVER, WHITE, **formats, depth_test=False, depth_write=True)
    assert found[0] is tg.UnusedNameWarning and "depth_write=True has no effect without depth_test" in found[1]
    for quiet in (
        {},
        {"depth_test": False},
        {"depth_write": True},
        {"depth_test": False, "depth_write": False},
        {"depth_test": False, "depth_compare": "less"},  # Vulkan's state has both, and many set both
        {"depth_test": False, "depth_write": True, "depth_compare": "less", "dynamic": ["depth_test_enable"]},
    ):
        assert not said(dev.pipeline, COVER, WHITE, **formats, **quiet)


def test_arrays_of_textures_and_views(dev: tg.Device) -> None:
    pixels = np.arange(64, dtype=np.uint8).reshape(4, 4, 4)
    texture = dev.texture(pixels)
    assert np.array_equal(np.asarray(texture), pixels) and np.asarray(texture, np.float32).dtype == np.float32
    chain = dev.image((4, 4), COLOR, mip_levels=2, layers=2)
    dev.clear(chain, (1, 0, 0, 1))
    chain.write(pixels[:2, :2], level=1, layer=1)
    assert np.array_equal(np.asarray(chain.view("2d", level=1, levels=1, layer=1, layers=1)), pixels[:2, :2])
    with pytest.raises(tg.ValidationError, match=r"shows 2 level\(s\) and 2 layer\(s\); image.numpy\(level, layer\) gives a copy of one"):
        np.asarray(chain.view("2d_array"))


def test_what_is_asked_for_and_is_not_there(dev: tg.Device) -> None:
    chain = dev.image((8, 8), COLOR, mip_levels=3)
    rp = dev.render_pass(color=tg.Attachment(chain.view(level=1, levels=1), clear=(0, 0, 0, 0), level=2))
    with pytest.raises(tg.ValidationError, match="level is 2 and layer 0 beside a view, which says both"), rp:
        pass
    pixel = dev.render_pass(color=tg.Attachment(chain, clear=(0, 0, 0, 0)), trace=[(3, 3), (8, 0)])
    with pytest.raises(tg.ValidationError, match=r"trace has pixel \(8, 0\); the framebuffer is 8 x 8 px"), pixel:
        pass
    with dev.render_pass(color=tg.Attachment(chain, clear=(0, 0, 0, 0))) as rp:
        rp.draw(dev.pipeline(COVER, WHITE, color=[COLOR]), count=3)
    with pytest.raises(tg.ValidationError, match=r"why\(\): x is 1.5; it must be a whole number"):
        rp.why(1.5, 0)  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"bytes\('stores'\): there is no such cause; did you mean 'store'"):
        rp.stats.bytes("stores")
    assert rp.stats.bytes("load") == 0
    wrong: Any = "x"
    for call in (
        lambda: tg.math.rotate((1, 0, 0), wrong),
        lambda: tg.math.quaternion((1, 0, 0), wrong),
        lambda: tg.math.slerp((0, 0, 0, 1), (1, 0, 0, 0), wrong),
    ):
        with pytest.raises(tg.ValidationError, match="it must be a number"):
            call()


@pytest.mark.parametrize(
    ("kind", "blend", "text"),
    [
        ("vec3", "alpha", "blend[0] reads the source's alpha, and the fragment shader's output 'o' (vec3) has none: it is 0"),
        ("float", {"src_color": "one", "dst_color": "one_minus_src_alpha"}, "output 'o' (float) has none"),
        ("vec3", "multiply", "output 'o' (vec3) has none"),
        ("vec4", "alpha", ""),
        ("vec3", "additive", ""),
        ("vec3", {"src_color": "one", "dst_color": "one"}, ""),
        ("vec3", None, ""),
    ],
)
def test_blending_by_an_alpha_that_is_not_there(dev: tg.Device, kind: str, blend: Any, text: str) -> None:
    frag = f"#version 450\nlayout(location = 0) out {kind} o; void main() {{ o = {kind}(1); }}"
    found = said(dev.pipeline, COVER, frag, color=[COLOR], blend=blend)
    assert [w for w, _ in found] == [tg.UnusedNameWarning] * bool(text) and (not text or text in found[0][1])


def test_layers_and_viewports_that_there_are_not(dev: tg.Device) -> None:
    chooses = COVER.replace("450\n", "450\n#extension GL_ARB_shader_viewport_layer_array : require\n")
    chooses = chooses.replace("0.5, 1); }", "0.5, 1); CHOICE }")
    layer = dev.pipeline(chooses.replace("CHOICE", "gl_Layer = gl_InstanceIndex;"), WHITE, color=[COLOR], label="p")
    view = dev.pipeline(chooses.replace("CHOICE", "gl_ViewportIndex = gl_InstanceIndex;"), WHITE, color=[COLOR], label="v")
    several, one = dev.image((4, 4), COLOR, layers=3), dev.image((4, 4), COLOR)

    def draw(pipe: Any, image: tg.Image, layers: int = 1, **arguments: Any) -> None:
        with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 0)), layers=layers, label="a") as rp:
            rp.draw(pipe, count=3, instances=3, **arguments)

    (found,) = said(draw, layer, several)
    assert found[0] is tg.LostPrimitivesWarning
    assert found[1].startswith("pass 'a': pipeline 'p' writes gl_Layer, and the pass has one layer: what goes to another is drawn nowhere")
    assert not said(draw, layer, several, 3)
    assert not said(draw, layer, one)  # of which there is one layer
    (found,) = said(draw, view, one)
    assert found[0] is tg.LostPrimitivesWarning and "pipeline 'v' writes gl_ViewportIndex, and the pass has one viewport" in found[1]
    assert not said(draw, view, one, viewport=[(0, 0, 2, 4), (2, 0, 2, 4)])


def test_parameters_of_indirect_draws_that_are_an_array(dev: tg.Device) -> None:
    """They are known when the draw is recorded, as those of a direct one are."""
    pipe = dev.pipeline(POSITION, WHITE, vertex=np.dtype(("f4", 2)), color=[COLOR], label="p")
    out, corners = dev.image((4, 4), COLOR), np.array([[-1, -1], [3, -1], [-1, 3]], "f4")

    def draw(rows: Any, **arguments: Any) -> None:
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
            rp.draw_indirect(pipe, np.array(rows), corners, **arguments)

    assert not said(draw, [(3, 1, 0, 0), (0, 1, 9, 0), (9, 0, 9, 0)])
    assert not said(draw, [(3, 1, 0, 0), (9, 1, 0, 0)], draw_count=1)
    assert not said(draw, [(3, 1, 0, -3, 0)], indices=np.array([3, 4, 5]))
    for rows, more, text in (
        ([(3, 1, 0, 0), (-3, 1, 0, 0)], {}, r"indirect\[1\] has -3 as vertex count; it must be 0 to 4294967295"),
        ([(3, 2**32, 0, 0)], {}, r"indirect\[0\] has 4294967296 as instance count"),
        ([(3, 1, 0, -(2**31) - 1, 0)], {"indices": np.array([0, 1, 2])}, r"as vertex offset; it must be -2147483648 to 2147483647"),
        ([(3, 1, 0, 0), (3, 1, 1, 0)], {}, "first=1, count=3 reaches vertex 3; there are 3 vertices"),
        ([(6, 1, 0, 0, 0)], {"indices": np.array([0, 1, 2])}, "first=0, count=6 reaches index 5; there are 3 indices"),
    ):
        with pytest.raises(tg.ValidationError, match=text):
            draw(rows, **more)
    (found,) = said(draw, [(3, 1, 0, 0), (2, 1, 0, 0)])
    assert found[0] is tg.LostPrimitivesWarning and "2 vertices make no primitive" in found[1]
