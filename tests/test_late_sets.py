"""Sets with ``update_after_bind``: what they hold when a pass is executed is what is checked, and nothing else.

Written behind the draw they were not looked at any more; written right behind a draw that saw something wrong, that was an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = "#version 450\nvoid main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\n"
COLOR = "r8g8b8a8_unorm"
#: Of each kind of mistake: the descriptor, the shader, what fits, what does not, and what is said of it.
SAMPLED = "layout(binding = 0) uniform sampler2D t;\nvoid main() { o = texture(t, vec2(0.5)).rrrr; }"
SHADOW = "layout(binding = 0) uniform sampler2DShadow t;\nvoid main() { o = vec4(texture(t, vec3(0.5, 0.5, 0.9))); }"
BLOCK = "layout(binding = 0) uniform U { vec4 m; };\nvoid main() { o = m; }"
WRITES = "layout(binding = 0) buffer U { vec4 m; };\nvoid main() { m = vec4(1); o = vec4(1); }"
READS = "layout(binding = 0) readonly buffer U { vec4 m; };\nvoid main() { o = m; }"
APART = """layout(binding = 0) uniform texture2D t; layout(binding = 1) uniform sampler s;
void main() { o = texture(sampler2D(t, s), vec2(0.5)).rrrr; }"""


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def grey(dev: tg.Device, value: int, **more: Any) -> tg.Texture:
    return dev.texture(np.full((4, 4, 4), value, np.uint8), **more)


def values(dev: tg.Device, kind: str) -> tuple[str, str, Any, Any, type[tg.Error], str]:
    """(descriptor, shader, what is right, what is wrong, the error, its text)."""
    if kind == "comparison":
        depth = dev.image((4, 4), "d32_sfloat")
        dev.clear(depth, depth=1.0)
        right, wrong = ((depth, dev.sampler(compare=compare)) for compare in ("less", None))
        return "combined_image_sampler", SHADOW, right, wrong, tg.ValidationError, "compare"
    if kind == "undefined":
        empty = (dev.image((4, 4), COLOR, label="empty"), dev.sampler())
        return "combined_image_sampler", SAMPLED, grey(dev, 255), empty, tg.UndefinedContentsError, "contents of image 'empty' are"
    if kind == "signs":
        whole = dev.texture(np.ones((4, 4, 4), np.int32), format="r32g32b32a32_sint", filter="nearest")
        return "combined_image_sampler", SAMPLED, grey(dev, 255), whole, tg.ValidationError, "sampler2D|integers|float"
    if kind == "numbers":
        right, wrong = (dev.buffer(np.ones(4, dtype)) for dtype in (np.float32, np.int32))
        return "uniform_buffer", BLOCK, right, wrong, tg.ValidationError, "int32"
    assert kind == "contents"
    right = dev.buffer(np.ones(4, np.float32))
    return "storage_buffer", WRITES, right, b"\0" * 16, tg.ValidationError, "the set has contents of its own there"


KINDS = ["comparison", "undefined", "signs", "numbers", "contents"]


def made(dev: tg.Device, kind: str) -> tuple[tg.Pipeline, tg.DescriptorSet, Any, Any, type[tg.Error], str]:
    descriptor, text, right, wrong, error, said = values(dev, kind)
    layout = dev.descriptor_set_layout({0: descriptor}, update_after_bind=True)
    pipe = dev.pipeline(COVER, HEAD + text, color=[COLOR], set_layouts={0: layout}, label="p")
    if kind == "contents":  # a set that was made for a pipeline that only reads
        reads = dev.pipeline(COVER, HEAD + READS, color=[COLOR], set_layouts={0: layout})
        return pipe, dev.descriptor_set(reads, label="set"), right, wrong, error, said
    return pipe, dev.descriptor_set(layout, label="set"), right, wrong, error, said


def run(dev: tg.Device, pipe: tg.Pipeline, late: tg.DescriptorSet, way: str, then: Callable[[], None]) -> tg.RenderPass:
    """A pass that draws with the set, by itself or by a secondary command buffer; what ``then`` does stands behind the draw."""
    out = dev.image((4, 4), COLOR)
    if way == "secondary":
        with dev.secondary(color=[COLOR]) as part:
            part.draw(pipe, count=3, sets={0: late})
        then()
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="main") as rp:
        if way == "secondary":
            rp.execute_commands(part)
        else:
            rp.draw(pipe, count=3, sets={0: late})
            then()
    assert out.numpy().min() == 255
    return rp


@pytest.mark.parametrize("way", ["draw", "secondary"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_behind_the_draw_is_looked_at(dev: tg.Device, kind: str, way: str) -> None:
    pipe, late, right, wrong, error, said = made(dev, kind)
    late.update({0: right})
    run(dev, pipe, late, way, lambda: None)
    with pytest.raises(error, match=said) as caught:
        run(dev, pipe, late, way, lambda: late.update({0: wrong}))
    assert "pass 'main'" in str(caught.value) or way == "secondary" or kind == "signs"  # the core's own words


@pytest.mark.parametrize("way", ["draw", "secondary"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_put_right_behind_the_draw_is_right(dev: tg.Device, kind: str, way: str) -> None:
    pipe, late, right, wrong, _, _ = made(dev, kind)
    late.update({0: wrong})
    run(dev, pipe, late, way, lambda: late.update({0: right}))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "undefined"])
def test_replays_are_looked_at(dev: tg.Device, kind: str) -> None:
    """They read what the set holds then, and so do frames'."""
    pipe, late, right, wrong, error, said = made(dev, kind)
    late.update({0: right})
    with dev.frame("f") as frame:
        rp = run(dev, pipe, late, "draw", lambda: None)
    late.update({0: wrong})
    for replay in (rp.replay, frame.replay):
        with pytest.raises(error, match=said):
            replay()
    late.update({0: right})
    assert rp.replay().draws == 1 == frame.replay().draws


def test_a_dispatch_of_a_frame(dev: tg.Device) -> None:
    layout = dev.descriptor_set_layout({0: "uniform_buffer", 1: "storage_buffer"}, update_after_bind=True)
    text = "layout(binding = 0) uniform U { vec4 m; }; layout(binding = 1) buffer B { vec4 r; };\nvoid main() { r = m; }"
    pipe = dev.compute_pipeline("#version 450\nlayout(local_size_x = 1) in;\n" + text, set_layouts={0: layout})
    result, (right, wrong) = dev.buffer(np.zeros(4, np.float32)), (dev.buffer(np.full(4, 3, dtype)) for dtype in (np.float32, np.int32))
    late = dev.descriptor_set(layout, bind={0: right, 1: result})
    with dev.frame("f") as frame:
        dev.dispatch(pipe, groups=1, sets={0: late})
    assert result.numpy().tolist() == [3] * 4
    late.update({0: wrong})
    with pytest.raises(tg.ValidationError, match="int32"):
        frame.replay()
    with pytest.raises(tg.ValidationError, match="int32"):  # at once
        dev.dispatch(pipe, groups=1, sets={0: late})
    late.update({0: right})
    frame.replay()


def test_images_and_samplers_that_come_apart(dev: tg.Device) -> None:
    layout = dev.descriptor_set_layout({0: "sampled_image", 1: "sampler"}, update_after_bind=True)
    pipe = dev.pipeline(COVER, HEAD + APART, color=[COLOR], set_layouts={0: layout})
    late = dev.descriptor_set(layout, bind={0: grey(dev, 255).image, 1: dev.sampler()})
    run(dev, pipe, late, "draw", lambda: None)
    with pytest.raises(tg.ValidationError, match="compare"):
        run(dev, pipe, late, "draw", lambda: late.update({1: dev.sampler(compare="less")}))
    run(dev, pipe, late, "draw", lambda: late.update({1: dev.sampler()}))
    chain = dev.image((4, 4), COLOR, mip_levels=2, label="chain")
    dev.clear(chain, (1, 1, 1, 1), level=0, levels=1)
    late.update({0: chain, 1: dev.sampler(max_lod=0.0)})
    run(dev, pipe, late, "draw", lambda: None)
    with pytest.raises(tg.UndefinedContentsError, match="contents of image 'chain'"):
        run(dev, pipe, late, "draw", lambda: late.update({1: dev.sampler()}))


def test_what_draws_nothing_reads_nothing(dev: tg.Device) -> None:
    pipe, late, right, wrong, _, _ = made(dev, "numbers")
    late.update({0: right})
    with dev.render_pass(color=tg.Attachment(dev.image((4, 4), COLOR), clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=0, sets={0: late})
        late.update({0: wrong})
