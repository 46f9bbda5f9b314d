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
