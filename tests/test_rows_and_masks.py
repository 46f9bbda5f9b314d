"""What was taken without a word though its numbers or its shape say something else: buffers of other numbers than an image's texels, masks
without a bit that there is, constants that attachments cut, rows that are no primitives, strides that are no rows, state without effect."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import Draw, Frame, Program, State
from tilegpu.scene.render import SceneRenderer

F = "r8g8b8a8_unorm"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
AT = "#version 450\nlayout(location = 0) in vec3 position; void main() { gl_Position = vec4(position, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
FACING = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(gl_FrontFacing ? 1 : 0); }"
V24 = np.random.default_rng(0).random((24, 3)).astype("f4")
I24 = np.arange(24, dtype="u4")
CONSTANT = {"src_color": "constant_color", "dst_color": "zero"}


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def said(call: Callable[[], Any]) -> list[str]:
    """Classes and texts of its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [f"{one.category.__name__}: {one.message}" for one in found]


def image(dev: tg.Device, format_: str = F, **clear: Any) -> tg.Image:
    made = dev.image((4, 4), format_)
    dev.clear(made, **(clear or {"color": (1, 1, 1, 1)}))
    return made


Given = dict[str, Any]


def drawn(dev: tg.Device, of_pipeline: Given, of_draw: Given | None = None, state: Given | None = None) -> tg.Image:
    out = dev.image((8, 8), F, samples=of_pipeline.get("samples", 1))
    pipe = dev.pipeline(FULL, WHITE, color=[F], **of_pipeline)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.set(**(state or {}))
        rp.draw(pipe, count=3, **(of_draw or {}))
    return out


# --------------------------------------------------------------------------------------------------------------- copies


def test_copies_to_buffers_of_other_numbers(dev: tg.Device) -> None:
    """The way to an image was an error, and the way back gave NaN."""
    colors, halves, depth = image(dev), image(dev, "r16g16_sfloat"), image(dev, "d32_sfloat", depth=0.5)
    for source, kind, holds in (
        (colors, "f4", "integers"), (halves, "f4", "float16"), (depth, "u4", "float32"), (colors, "f2", "integers"),
    ):  # fmt: skip
        buffer = dev.buffer(np.zeros(64 // np.dtype(kind).itemsize, kind), label="b")
        for to in (buffer, buffer.slice(0, 64)):
            made = rf"buffer 'b' was made from {np.dtype(kind)}"
            with pytest.raises(tg.ValidationError, match=rf"copy: {made}, .* holds {holds}.*image\.numpy"):
                dev.copy(source, to)


def test_copies_to_buffers_that_fit(dev: tg.Device) -> None:
    colors, depth = image(dev), image(dev, "d32_sfloat", depth=0.5)
    for given in (np.zeros(16, "u4"), np.zeros(64, "u1"), 64, np.zeros(16, [("c", "u1", 4)])):
        buffer = dev.buffer(given)
        dev.copy(colors, buffer)
        assert bytes(memoryview(buffer.core)) == b"\xff" * 64
    floats = dev.buffer(np.zeros(16, "f4"))
    dev.copy(depth, floats)
    assert (floats.numpy() == 0.5).all()


def test_buffers_of_a_size_hold_what_was_written_last(dev: tg.Device) -> None:
    colors, buffer = image(dev), dev.buffer(64, label="b")
    buffer.write(np.ones(16, "f4"))
    with pytest.raises(tg.ValidationError, match="copy: buffer 'b' was written with float32"):
        dev.copy(buffer, colors)
    dev.copy(colors, buffer)  # it receives anything, and holds no floats any more
    dev.copy(buffer, colors)


def test_pixels_of_bytes_that_are_written_are_numbers(dev: tg.Device) -> None:
    buffer = dev.buffer(np.zeros(64, "f4"))
    buffer.write(image(dev))
    assert (buffer.numpy() == 255).all()


# ---------------------------------------------------------------------------------------------------------------- masks


def test_sample_masks_without_a_sample(dev: tg.Device) -> None:
    for state in ({"sample_mask": 2}, {"samples": 4, "sample_mask": 0xF0}):
        (text,) = said(lambda: dev.pipeline(FULL, WHITE, color=[F], **state))  # noqa: B023
        assert text.startswith("LostPrimitivesWarning") and "sample_mask is 0x" in text and "nothing is drawn" in text
    (text,) = said(lambda: drawn(dev, {"dynamic": ["sample_mask"]}, state={"sample_mask": 2}))
    assert "sample_mask is 0x2" in text
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[F], samples=4, sample_mask=8))
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[F], sample_mask=2, dynamic=["rasterization_samples"]))
    assert not said(lambda: drawn(dev, {"dynamic": ["sample_mask"]}, state={"sample_mask": 3}))


def test_stencil_masks_have_8_bits(dev: tg.Device) -> None:
    """Bit 8 alone switched the test off."""
    stencil = {"compare": "equal", "reference": 1}
    for name in ("compare_mask", "write_mask"):
        with pytest.raises(tg.ValidationError, match=f"{name} is 0x100; stencil has 8 bits"):
            dev.pipeline(FULL, WHITE, color=[F], stencil="s8_uint", stencil_test={**stencil, name: 256})
        dev.pipeline(FULL, WHITE, color=[F], stencil="s8_uint", stencil_test={**stencil, name: 0xFFFFFFFF})
        state = f"stencil_{name}"
        with pytest.raises(tg.ValidationError, match=f"{state} is 0x12c; stencil has 8 bits"):
            drawn(dev, {"dynamic": [state]}, state={state: 300})
        with pytest.raises(tg.ValidationError, match=f"{state} is True"):
            drawn(dev, {"dynamic": [state]}, state={state: True})


def test_usages_have_bits_that_there_are(dev: tg.Device) -> None:
    for wrong in (True, 1 << 30, -1):
        with pytest.raises(tg.ValidationError, match="usage is"):
            dev.buffer(16, usage=wrong)
        with pytest.raises(tg.ValidationError, match="usage is"):
            dev.image((4, 4), F, usage=wrong)
    assert dev.buffer(16, usage=0x80).usage == 0x80


def test_write_masks_of_flags_are_letters(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="components are letters: give 'rgb'"):
        dev.pipeline(FULL, WHITE, color=[F], write_mask=(True, True, True, False))


# ------------------------------------------------------------------------------------------------------------ constants


def test_constants_of_blending_that_are_cut(dev: tg.Device) -> None:
    for ways in (
        lambda v: dev.pipeline(FULL, WHITE, color=[F], blend=CONSTANT, blend_constants=v),
        lambda v: drawn(dev, {"blend": CONSTANT}, {"blend_constants": v}),
        lambda v: drawn(dev, {"blend": CONSTANT, "dynamic": ["blend_constants"]}, state={"blend_constants": v}),
    ):
        (text,) = said(lambda: ways((128, 64, 0, 255)))  # noqa: B023
        assert text.startswith("ClampedValueWarning") and "are divided by 255" in text
        (text,) = said(lambda: ways((float("nan"), 0, 0, 1)))  # noqa: B023
        assert "nan" in text
        assert not said(lambda: ways((1.0, 0.5, 0, 1)))  # noqa: B023
    floats = "r16g16b16a16_sfloat"
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[floats], blend=CONSTANT, blend_constants=(128, 64, 0, 255)))
    alpha = {"src_color": "constant_alpha", "dst_color": "zero"}
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[F], blend=alpha, blend_constants=(128, 64, 0, 1)))
    left = ["blend_constants", "color_blend_equation", "color_blend_enable"]
    state = {"color_blend_equation": CONSTANT, "blend_constants": (2, 2, 2, 2)}
    assert said(lambda: drawn(dev, {"dynamic": left}, state={**state, "color_blend_enable": True}))
    assert not said(lambda: drawn(dev, {"dynamic": left}, state={**state, "color_blend_enable": False}))


def test_borders_that_are_no_numbers(dev: tg.Device) -> None:
    text = WHITE.replace("layout", "layout(binding = 0) uniform sampler2D s; layout", 1).replace("vec4(1)", "texture(s, vec2(2))")
    pipe, out, source = dev.pipeline(FULL, text, color=[F]), dev.image((4, 4), F), image(dev)
    for color in ((0.0, float("nan"), 0.0, 1.0), (float("nan"), 0.0, 0.0, 1.0), (255, 0.0, 0, 255)):

        def draws(color: Any = color) -> None:
            sampler = dev.sampler(address="clamp_to_border", border_color=color)
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
                rp.draw(pipe, count=3, bind={"s": (source, sampler)})

        assert any(text.startswith("ClampedValueWarning") for text in said(draws)), color


# ----------------------------------------------------------------------------------------------------------------- rows


def draws_rows(dev: tg.Device, vertices: Any, indices: Any, indirect: Any = None, **state: Any) -> list[str]:
    dtype = vertices.dtype.base if vertices.dtype.names else np.dtype(("f4", 3))
    pipe, out = dev.pipeline(AT, WHITE, vertex=dtype, color=[F], **state), dev.image((8, 8), F)

    def draw() -> None:
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            if indirect is None:
                rp.draw(pipe, vertices, indices=indices)
            else:
                rp.draw_indirect(pipe, indirect, vertices, indices=indices)

    return said(draw)


def test_rows_of_indices_are_primitives(dev: tg.Device) -> None:
    """Six quads were eight wrong triangles."""
    quads = I24.reshape(6, 4)
    for indices in (quads, quads.tolist(), dev.buffer(quads, usage="index")):
        (text,) = draws_rows(dev, V24, indices)
        assert text.startswith("LostPrimitivesWarning") and "indices of shape (n, 4) are rows of 4" in text and "[0, 1, 2, 0, 2, 3]" in text
    assert draws_rows(dev, V24, quads, np.array([[24, 1, 0, 0, 0]]))
    assert draws_rows(dev, V24, I24.reshape(8, 3), topology="line_list")
    for shape, topology in (((8, 3), "triangle_list"), ((4, 6), "triangle_list"), ((24, 1), "triangle_list"), ((1, 24), "triangle_list"),
                            ((6, 4), "line_list"), ((6, 4), "triangle_strip"), ((6, 4), "point_list")):  # fmt: skip
        assert not draws_rows(dev, V24, I24.reshape(shape), topology=topology), (shape, topology)


def test_rows_of_records_are_primitives(dev: tg.Device) -> None:
    records = V24.view([("position", "f4", 3)]).ravel()
    assert "vertices of shape (n, 4)" in draws_rows(dev, records.reshape(6, 4), None)[0]
    assert "vertices of shape (n, 4)" in draws_rows(dev, dev.buffer(records.reshape(6, 4), usage="vertex"), None)[0]
    assert not draws_rows(dev, records.reshape(8, 3), None) and not draws_rows(dev, records.reshape(6, 4), I24)


def test_rows_of_scenes(dev: tg.Device) -> None:
    program = Program(AT, WHITE)
    for draw, count in (
        ({"vertices": V24, "indices": I24.reshape(6, 4)}, 1),
        ({"vertices": V24.view([("position", "f4", 3)]).reshape(6, 4)}, 1),
        ({"vertices": V24, "indices": I24.reshape(8, 3)}, 0),
        ({"vertices": V24, "indices": I24.reshape(8, 3), "state": State(topology="line_list", depth_test=False)}, 1),
        ({"vertices": V24, "indices": I24.reshape(6, 4), "state": State(topology="triangle_strip")}, 0),
    ):
        found = said(lambda: SceneRenderer(dev).render(Frame((8, 8), draws=(Draw(program, **draw),))))  # noqa: B023
        assert len(found) == count, found  # by the draw, and not again by the pass


def test_strides_of_indirect_draws_are_rows(dev: tg.Device) -> None:
    """The second command began in the first one's row."""
    pipe, out = dev.pipeline(AT, WHITE, vertex=np.dtype(("f4", 3)), color=[F]), dev.image((8, 8), F)

    def draw(indirect: Any, **more: Any) -> None:
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw_indirect(pipe, indirect, V24, **more)

    rows = np.array([[3, 1, 0, 0]] * 3, "u4")
    buffer = dev.buffer(rows, usage="indirect")
    with pytest.raises(tg.ValidationError, match="has rows of 16 bytes, and stride is 20; give stride=16"):
        draw(buffer, draw_count=2, stride=20)
    with pytest.raises(tg.ValidationError, match="has rows of 16 bytes, a draw each, and offset is 4"):
        draw(buffer, stride=16, offset=4)
    with pytest.raises(tg.ValidationError, match="stride is 20, and an array of rows of 4 numbers lies 16 bytes apart"):
        draw(rows, draw_count=2, stride=20)
    draw(buffer, stride=16)
    draw(buffer, stride=32)
    draw(buffer, stride=16, offset=16)
    draw(buffer, stride=20, draw_count=1)
    draw(dev.buffer(np.array([[3, 1, 0, 0, 7]] * 3, "u4"), usage="indirect"), stride=20)
    draw(dev.buffer(np.array([[3, 1, 0, 0] * 2] * 2, "u4"), usage="indirect"), stride=16)
    draw(dev.buffer(np.zeros(60, "u1"), usage="indirect"), stride=20)
    draw(dev.buffer(np.zeros(15, "u4"), usage="indirect"), stride=20)  # of one dimension: nobody knows


# ---------------------------------------------------------------------------------------------------------------- state


def test_state_without_effect(dev: tg.Device) -> None:
    def of(frag: str = WHITE, **state: Any) -> list[str]:
        return said(lambda: dev.pipeline(FULL, frag, color=[F], **state))

    stencil = {"stencil": "s8_uint"}
    for state, name in (
        ({**stencil, "stencil_test": True}, "stencil_test has no effect"),
        ({**stencil, "stencil_test": {"reference": 1}}, "stencil_test has no effect"),
        ({**stencil, "stencil_front": {"compare_mask": 1}}, "stencil_front has no effect"),
        ({"front_face": "clockwise"}, "front_face='clockwise' has no effect"),
        ({"cull": "back", "topology": "line_list"}, "cull='back' has no effect with topology='line_list'"),
    ):
        (text,) = of(**state)
        assert text.startswith("UnusedNameWarning") and name in text
    replaced = {"pass": "replace", "reference": 1}
    for frag, quiet in (
        (WHITE, {**stencil, "stencil_test": {"compare": "equal"}}), (WHITE, {**stencil, "stencil_back": replaced}),
        (WHITE, {**stencil, "stencil_test": True, "dynamic": ["stencil_op"]}), (FACING, {"front_face": "clockwise"}),
        (WHITE, {"front_face": "clockwise", "cull": "back"}), (WHITE, {"front_face": "clockwise", **stencil, "stencil_front": replaced}),
        (WHITE, {"cull": "back", "topology": "line_list", "dynamic": ["primitive_topology"]}),
        (WHITE, {"cull": "back", "polygon_mode": "line"}),
        # These have their effect: nothing is clipped at near and far; a fragment below half is dropped; each sample has its invocation.
        (WHITE, {"depth_clamp": True}), (WHITE, {"alpha_to_coverage": True}), (WHITE, {"sample_shading": True}),
    ):  # fmt: skip
        assert not of(frag, **quiet), quiet


MASKED: list[tuple[dict[str, Any], str]] = [
    ({"stencil_test": {"compare": "always", "pass": "replace", "write_mask": 0}}, "stencil_test: pass='replace' has no effect"),
    ({"stencil_test": {"compare": "less", "fail_op": "zero", "write_mask": 0}}, "fail='zero' has no effect with write_mask=0"),
    ({"stencil_front": {"pass": "invert", "write_mask": 0}}, "stencil_front: pass='invert' has no effect"),
    ({"stencil_test": {"write_mask": 0}, "stencil_back": {"pass": "replace"}}, "stencil_back: pass='replace' has no effect"),
    ({"stencil_test": {"compare": "equal", "compare_mask": 0}}, "compare='equal' has no effect with compare_mask=0: .* it always passes"),
    ({"stencil_test": {"compare": "greater_or_equal", "compare_mask": 0}}, "it always passes; leave compare_mask out"),
    ({"stencil_test": {"compare": "not_equal", "compare_mask": 0}}, "nothing passes; leave compare_mask out"),
    ({"stencil_test": {"compare": "VK_COMPARE_OP_LESS", "compare_mask": 0}}, "compare='less' has no effect .* nothing passes"),
    ({"blend": {"src_color": "src_alpha", "dst_color": "one", "color_op": "min"}}, "blend: src_color='src_alpha' has no effect"),
    ({"blend": [{"dst_color": "zero", "color_op": "max"}]}, r"blend\[0\]: dst_color='zero' has no effect with color_op='max'"),
    ({"blend": {"src_alpha": "zero", "alpha_op": "max"}}, "src_alpha='zero' has no effect with alpha_op='max'"),
    ({"blend": {"dst_alpha": "dst_alpha", "color_op": "min"}}, "dst_alpha='dst_alpha' has no effect with color_op='min'"),
]


@pytest.mark.parametrize("state, text", MASKED)
def test_masks_of_nothing_and_factors_of_operations_without(dev: tg.Device, state: dict[str, Any], text: str) -> None:
    both = {"stencil": "s8_uint"} if "blend" not in state else {}
    (found,) = said(lambda: dev.pipeline(FULL, WHITE, color=[F], **both, **state))
    assert found.startswith("UnusedNameWarning") and re.search(text, found)
    states = ["stencil_write_mask", "stencil_compare_mask", "color_blend_equation"]
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[F], **both, **state, dynamic=states))
    # The advice, taken literally.
    mask_or_key = re.search(r"leave (\w+) out", found) if "blend" not in state else re.search(r": (\w+)='", found)
    assert mask_or_key is not None
    left = [mask_or_key[1]]
    without = {
        name: [{k: v for k, v in one.items() if k not in left} for one in value] if isinstance(value, list)
        else {k: v for k, v in value.items() if k not in left}
        for name, value in state.items()
    }  # fmt: skip
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[F], **both, **without))


QUIET: list[dict[str, Any]] = [
    {"stencil_test": {"compare": "equal", "write_mask": 0}}, {"stencil_test": {"compare": "equal", "compare_mask": 0xFFFFFFFF}},
    {"stencil_test": {"compare": "never", "compare_mask": 0}}, {"stencil_test": {"pass": "replace", "compare_mask": 0}},
    {"stencil_test": {"pass": "replace"}, "stencil_front": {"write_mask": 0}},  # the front face is switched off
    {"stencil_test": {"compare": "equal"}, "stencil_back": {"compare_mask": 0}},
    {"blend": {"src_color": "one", "dst_color": "one", "color_op": "min"}}, {"blend": {"color_op": "max"}}, {"blend": "alpha"},
    {"blend": {"src_color": "src_alpha", "color_op": "max", "alpha_op": "add"}},  # which alpha takes
    {"blend": {"src_color": "src_alpha", "dst_color": "one_minus_src_alpha", "alpha_op": "max"}}, {"blend": "multiply"},
]  # fmt: skip


@pytest.mark.parametrize("state", QUIET)
def test_masks_and_factors_that_do_something(dev: tg.Device, state: dict[str, Any]) -> None:
    both = {"stencil": "s8_uint"} if "blend" not in state else {}
    assert not said(lambda: dev.pipeline(FULL, WHITE, color=[F], **both, **state))


def test_what_is_said_to_have_an_effect_has_one(dev: tg.Device) -> None:
    """Depth clamp without depth, and alpha to coverage of one sample."""
    behind = FULL.replace("0, 1);", "1.5, 1);")
    half = WHITE.replace("vec4(1)", "vec4(1, 1, 1, 0.4)")
    for vert, frag, state in ((behind, WHITE, "depth_clamp"), (FULL, half, "alpha_to_coverage")):
        seen = []
        for value in (False, True):
            out, pipe = dev.image((4, 4), F), dev.pipeline(vert, frag, color=[F], **{state: value})
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
                rp.draw(pipe, count=3)
            seen.append(int(out.numpy()[0, 0, 0]))
        assert seen[0] != seen[1]


def test_samples_are_no_flag(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="samples is True"):
        dev.pipeline(FULL, WHITE, color=[F], samples=True)
    with pytest.raises(tg.ValidationError, match="rasterization_samples is True"):
        drawn(dev, {"dynamic": ["rasterization_samples"]}, state={"rasterization_samples": True})
    with pytest.raises(tg.ValidationError, match="instances is True"):
        drawn(dev, {}, {"instances": True, "viewport": (0, 0, 8, 8)})
    with pytest.raises(tg.ValidationError, match=f"strict is {2**70}"):
        tg.Device(strict=2**70)  # type: ignore[arg-type]


def test_inverted_turns_a_condition_round(dev: tg.Device) -> None:
    pipe = dev.compute_pipeline("#version 450\nlayout(binding = 0) buffer B { uint x; }; layout(push_constant) uniform P { float k; };\n"
                                "void main() { x = uint(k); }", label="c")  # fmt: skip
    bound = {"B": dev.buffer(np.zeros(1, "u4"))}
    with pytest.raises(tg.ValidationError, match=r"dispatch, pipeline 'c': inverted is given without condition="):
        dev.dispatch(pipe, 1, bind=bound, push={"k": 1}, inverted=True)
    with pytest.raises(tg.ValidationError, match=r"inverted is 'no'; it must be True or False"):
        dev.dispatch(pipe, 1, bind=bound, push={"k": 1}, inverted="no")  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"^dispatch, pipeline 'c': push constants\.k is 'a'"):
        dev.dispatch(pipe, 1, bind=bound, push={"k": "a"})
