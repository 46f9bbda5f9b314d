"""What ``what-if`` says of passes that could be one, against the model of the frame that was written as one."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

SIZE, FORMAT = (112, 80), "r8g8b8a8_unorm"
IMAGE_B = SIZE[0] * SIZE[1] * 4
COVER = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0.5, 1); }"""
FILL = """#version 450
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() { a = vec4(0.25); b = vec4(0.5); }"""
FETCH = """#version 450
layout(binding = 0) uniform sampler2D a;
layout(binding = 1) uniform sampler2D b;
layout(binding = 2) uniform sampler2D history;
layout(location = 0) out vec4 o;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); o = texelFetch(a, p, 0) + texelFetch(b, p, 0) + HISTORY; }"""
IN_TILE = """#version 450
layout(input_attachment_index = 0, binding = 0) uniform subpassInput a;
layout(input_attachment_index = 1, binding = 1) uniform subpassInput b;
layout(binding = 2) uniform sampler2D history;
layout(location = 2) out vec4 o;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); o = subpassLoad(a) + subpassLoad(b) + HISTORY; }"""
#: Another texture of the same shape, that stays one: nothing, all of it, and its left half.
HISTORIES = ["vec4(0)", "texelFetch(history, p, 0)", "texelFetch(history, p / ivec2(2, 1), 0)"]


@pytest.mark.parametrize("profile", ["mali-g610", "immortalis-g925", "adreno-a740"])
@pytest.mark.parametrize("history", HISTORIES)
def test_a_g_buffer_in_the_tile_is_neither_stored_nor_fetched(profile: str, history: str) -> None:
    device = tg.Device(profile=profile)
    out = device.image(SIZE, FORMAT, label="out")
    near = device.sampler(filter="nearest")
    texture = device.texture(np.full((SIZE[1], SIZE[0], 4), 9, np.uint8), mipmaps=False)
    bound = {} if history == HISTORIES[0] else {"history": (texture, near)}
    images = [device.image(SIZE, FORMAT, label=name) for name in "ab"]
    with device.frame("two", outputs=out) as two:
        with device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images]) as rp:
            rp.draw(device.pipeline(COVER, FILL, color=[FORMAT] * 2), count=3)
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
            fetch = device.pipeline(COVER, FETCH.replace("HISTORY", history), color=[FORMAT])
            rp.draw(fetch, count=3, bind={"a": (images[0], near), "b": (images[1], near), **bound})
    in_tile = [device.image(SIZE, FORMAT, transient=True) for _ in range(2)]
    kept = [tg.Attachment(i, clear=(0, 0, 0, 1), store_op="dont_care") for i in in_tile]
    picture = out.numpy()
    with device.frame("one", outputs=out) as one, device.render_pass(color=[*kept, tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
        rp.draw(device.pipeline(COVER, FILL, color=[FORMAT] * 3, attachment_locations=[0, 1, None]), count=3)
        read = device.pipeline(COVER, IN_TILE.replace("HISTORY", history), color=[FORMAT] * 3, attachment_locations=[None, None, 2])
        rp.draw(read, count=3, bind=bound)
    assert (out.numpy() == picture).all() and picture[0, 0, 0] > 100
    before, after = (frame.what_if(profiles=[profile]).profiles[0] for frame in (two, one))
    (change,) = [c for c in two.what_if(profiles=[profile]).changes if "one pass with input attachments" in c["text"]]
    saves = change["saves"][profile]
    assert saves["write_B"] == before["write_B"] - after["write_B"] == 2 * IMAGE_B
    read_B = before["read_B"] - after["read_B"]
    assert read_B == 2 * IMAGE_B or history == HISTORIES[2]
    assert saves["read_B"] <= read_B, "of textures of one shape the model can't tell which stays: it says no more than is saved"
    assert saves["read_B"] == read_B if history != HISTORIES[2] else saves["read_B"] > 0
    assert change["drawn_B"] == 2 * IMAGE_B, "the ledger's, which has no textures"
#: An overlay in a corner.
CORNER = """#version 450
void main() { gl_Position = vec4((vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 0.5 - 1.0), 0.5, 1); }"""
ONE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(VALUE); }"


def overlaid(profile: str, passes: int) -> tg.Frame:
    """A scene and what lies over its corner, in as many passes."""
    device = tg.Device(profile=profile)
    out = device.image((256, 256), FORMAT, label="out")
    scene, overlay = (device.pipeline(v, ONE.replace("VALUE", value), color=[FORMAT]) for v, value in ((COVER, "0.25"), (CORNER, "0.5")))
    frame = device.frame("overlaid", outputs=out)
    with frame:
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], label="scene") as rp:
            rp.draw(scene, count=3)
            if passes == 1:
                rp.draw(overlay, count=3)
        if passes == 2:
            with device.render_pass(color=[tg.Attachment(out, load_op="load")], label="overlay") as rp:
                rp.draw(overlay, count=3)
    return frame


@pytest.mark.parametrize("profile", ["mali-g57", "mali-g610", "immortalis-g925", "adreno-a650"])
def test_joined_passes_save_no_more_than_moves(profile: str) -> None:
    """The second pass leaves blocks as the first has stored them, so that nothing is written there: one pass saves no such bytes either."""
    two, one = overlaid(profile, 2), overlaid(profile, 1)
    (line,) = [line for line in two.lint() if "one pass with the draws of both" in line]
    before, after = (frame.what_if([profile]).profiles[0] for frame in (two, one))
    assert line.saves_B == two.stats.moved_B - one.stats.moved_B > 0
    (change,) = [c for c in two.what_if([profile]).changes if "one pass with the draws of both" in c["text"]]
    saves, moved_B = change["saves"][profile], [row["read_B"] + row["write_B"] for row in (before, after)]
    assert saves["read_B"] + saves["write_B"] <= moved_B[0] - moved_B[1]
    assert saves["write_B"] == line.saves_B - saves["read_B"] or profile.startswith("adreno")
    assert saves["cycles"] <= before["cycles"] - after["cycles"] + 0.5
