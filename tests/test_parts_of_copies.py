"""Copies between buffers that would leave a part of the source behind say so; border colours of one's own are looked at in integers too."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

VERT = "#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"


@pytest.mark.parametrize("options", [{}, {"destination_offset": 32}, {"source_offset": 4, "destination_offset": 8}])
def test_a_copy_of_a_part_is_asked_for(options: dict[str, int]) -> None:
    dev = tg.Device()
    source = dev.buffer(np.arange(16, dtype="f4"))
    room = 56 if "source_offset" not in options else 64
    target = dev.buffer(room)
    with pytest.raises(
        tg.ValidationError,
        match=r"source buffer .* has \d+ B from byte .* has room for \d+ B from byte .*; give size=\d+ to copy a part",
    ):
        dev.copy(source, target, **options)
    at, from_ = options.get("destination_offset", 0), options.get("source_offset", 0)
    dev.copy(source, target, size=room - at, **options)
    assert target.numpy().tobytes()[at:] == source.numpy().tobytes()[from_ : from_ + room - at]
    dev.copy(source, dev.buffer(128))  # all of it fits


@pytest.mark.parametrize(
    ("format_", "color", "told"),
    [
        ("r8g8b8a8_uint", (300, 0, 0, 1), "from 0 to 300, .* has 0 to 255: shaders get it as it is"),
        ("r8g8b8a8_uint", (-1, 0, 0, 1), "from -1 to 1, .* has 0 to 255"),
        ("r8g8b8a8_sint", (-129, 0, 0, 1), "has -128 to 127"),
        ("r16g16b16a16_uint", (65536, 0, 0, 1), "has 0 to 65,535"),
        ("r8g8b8a8_uint", (255, 0, 0, 1), ""),
        ("r8g8b8a8_sint", (-128, 0, 0, 127), ""),
        ("r32g32b32a32_uint", (-1, 0, 0, 1), ""),
    ],
)
def test_border_colours_of_integers(
    format_: str, color: tuple[int, ...], told: str, recwarn: pytest.WarningsRecorder
) -> None:
    dev = tg.Device()
    of: dict[str, Any] = {
        "r8g8b8a8_uint": np.uint8,
        "r8g8b8a8_sint": np.int8,
        "r16g16b16a16_uint": np.uint16,
        "r32g32b32a32_uint": np.uint32,
    }
    texture = dev.texture(
        np.zeros((4, 4, 4), of[format_]), format_, address="clamp_to_border", border_color=color, filter="nearest"
    )
    kind = "u" if format_.endswith("uint") else "i"
    out = dev.image((4, 4), f"r32g32b32a32_{kind}int" if kind == "u" else "r32g32b32a32_sint")
    fragment = f"""#version 450
layout(set = 0, binding = 0) uniform {kind}sampler2D t; layout(location = 0) out {kind}vec4 o;
void main() {{ o = texture(t, vec2(-1.0)); }}"""
    pipe = dev.pipeline(VERT, fragment, color=[out.format])
    recwarn.clear()
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": texture})
    assert out.numpy()[0, 0].tolist() == [value % (1 << 32) if kind == "u" else value for value in color]
    found = [str(w.message) for w in recwarn if isinstance(w.message, tg.ClampedValueWarning)]
    assert len(found) == bool(told)
    if told:
        assert re.search(told, found[0])


def test_whole_numbers_that_feed_floats_are_normalised() -> None:
    dev = tg.Device()
    out = dev.image((1, 1), "r32g32b32a32_sfloat")
    vert = """#version 450
layout(location = 0) in vec2 a; layout(location = 1) in vec2 b; layout(location = 0) out vec4 v;
void main() { v = vec4(a, b); gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }"""
    frag = "#version 450\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 o; void main() { o = v; }"
    data = np.zeros(3, [("a", "i2", 2), ("b", "u1", 2)])
    data["a"], data["b"] = (32767, -32767), (255, 0)
    pipe = dev.pipeline(vert, frag, vertex=data.dtype, color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, data)
    assert out.numpy()[0, 0].tolist() == [1.0, -1.0, 1.0, 0.0]
    binding = tg.VertexBinding(4, [(0, "r16g16_sscaled", 0)])  # numbers as they are
    one = dev.pipeline(
        vert.replace("layout(location = 1) in vec2 b;", "const vec2 b = vec2(0);"),
        frag,
        vertex=binding,
        color=[out.format],
    )
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(one, dev.buffer(np.full((3, 2), 200, "i2")))
    assert out.numpy()[0, 0].tolist() == [200.0, 200.0, 0.0, 0.0]
