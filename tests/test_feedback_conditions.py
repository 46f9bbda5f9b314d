"""Reads of a pass's own targets by code that always runs, that may run, and that never does: an error, a line of lint(), nothing.

In: fragment shaders of one read each, by how they reach it. Out: what is said, and where the read doesn't happen the picture without it.
Source: Vulkan specification, "Render Pass Feedback Loop": what counts is that something is read.
"""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

FULL = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
HEAD = """#version 450
layout(constant_id = 0) const bool NO = false;
layout(constant_id = 1) const int THREE = 3;
layout(push_constant) uniform P { int zero; };
layout(binding = 0) uniform sampler2D t;
layout(location = 0) out vec4 o;
vec4 read() { return texelFetch(t, ivec2(gl_FragCoord.xy), 0); }
void write_read() { o = read(); }
void leave() { if (zero != 0) return; o = read(); }
void kill() { if (zero != 0) discard; }
void main() { o = vec4(2); """
ALWAYS = {
    "plain": "o = read();",
    "behind a selection": "if (zero != 0) o = vec4(1); else o.x = 3; o = read();",
    "behind a loop": "for (int i = 0; i < zero; i++) o.x += 1; o = read();",
    "in a function": "write_read();",
    "a loop that counts": "for (int i = 0; i < 3; i++) o += read();",
    "a loop that counts down": "for (int i = 3; i > 0; --i) o += read();",
    "a loop of unsigned numbers": "for (uint i = 1u; i <= 9u; i *= 2u) o += read();",
    "a loop to a specialised number": "for (int i = 0; i != THREE; i++) o += read();",
    "loops in one another": "for (int y = -1; y <= 1; y++) for (int x = -1; x <= 1; x++) o += read();",
    "behind a loop that counts": "for (int i = 0; i < 3; i++) if (i == zero) o.x += 1; o = read();",
    "tested at the end": "int i = 0; do { o += read(); i++; } while (i < zero);",
    "until something": "while (true) { o += read(); if (zero == 0) break; }",
    "behind a case": "switch (zero) { case 1: o.x = 1; break; case 2: o.y = 1; default: o.z = 1; } o = read();",
    "a constant": "if (true) o = read();",
    "a specialised constant": "if (!NO) o = read();",
    "before discard": "o = read(); if (zero != 0) discard;",
}
MAYBE = {
    "a selection": "if (zero != 0) o = read();",
    "else": "if (zero == 0) o = vec4(2); else o = read();",
    "the other operand": "if (zero != 0 && read().x >= 0.0) o = vec4(5);",
    "a choice": "o = zero != 0 ? read() : vec4(2);",
    "behind a return": "if (zero == 0) return; o = read();",
    "a function behind a selection": "if (zero != 0) write_read();",
    "a case": "switch (zero) { case 1: o = read(); break; default: break; }",
    "a loop": "for (int i = 0; i < zero; i++) o += read();",
    "a loop from something": "for (int i = 3 + zero; i < 3; i++) o += read();",
    "a loop whose number changes before": "int i = 0; i += 7 + zero; for (; i < 3; i++) o += read();",
    "some rounds": "for (int i = 0; i < 3; i++) { if (i != 7 + zero) continue; o += read(); }",
    "a loop that is left": "for (int i = 0; i < 3; i++) { if (zero == 0) break; o += read(); }",
    "behind a loop that returns": "for (int i = 0; i < 3; i++) if (i == zero) return; o = read();",
    "a loop of no round": "for (int i = 0; i < 0; i++) o += read();",
}
READ_ANYWAY = {  # the same, but the read happens: it is undefined, and said
    "a function that may return": "leave();",
    "behind discard": "if (zero != 0) discard; o = read();",
    "behind a function that may discard": "kill(); o = read();",
    "both arms": "if (zero != 0) o = read(); else o = read() + 1;",
}
NEVER = {
    "a constant": "if (false) o = read();",
    "a constant's else": "if (true) o.x = 2; else o = read();",
    "a specialised constant": "if (NO) o = read();",
    "a comparison of them": "if (THREE == 4) o = read();",
    "another case": "switch (THREE) { case 2: o = read(); break; default: o.x = 2; }",
    "a function of dead code": "if (NO) write_read();",
    "behind a return": "if (!NO) return; o = read();",
    "a loop": "while (NO) o += read();",
}


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def draw(dev: tg.Device, body: str, constants: dict[str, object] | None = None) -> tuple[np.ndarray, list[str]]:
    image = dev.image((8, 8), "r32g32b32a32_sfloat", label="film")
    dev.clear(image, (0, 0, 0, 0))
    pipe = dev.pipeline(FULL, HEAD + body + " }", color=[image.format], label="p", constants=constants or {})
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], label="pass") as rp:
        rp.draw(pipe, count=3, bind={"t": (image.view(), dev.sampler(filter="nearest"))}, push={"zero": np.int32(0)})
    return image.numpy(), [line for line in rp.lint() if "may read" in line]


@pytest.mark.parametrize("case", ALWAYS)
def test_what_always_reads_is_refused(dev: tg.Device, case: str) -> None:
    with pytest.raises(tg.ValidationError, match=r"'t' \(set 0, binding 0\) reads color0"):
        draw(dev, ALWAYS[case])


@pytest.mark.parametrize("case", MAYBE)
def test_what_may_read_is_drawn_and_said(dev: tg.Device, case: str) -> None:
    picture, said = draw(dev, MAYBE[case])
    assert (picture == 2).all()
    assert len(said) == 1 and said[0].endswith("which its load_op clear writes: under a condition; if it does, the values are undefined")


@pytest.mark.parametrize("case", READ_ANYWAY)
def test_what_reads_under_a_condition_is_said(dev: tg.Device, case: str) -> None:
    assert "under a condition" in draw(dev, READ_ANYWAY[case])[1][0]


@pytest.mark.parametrize("case", NEVER)
def test_what_never_reads_is_no_use(dev: tg.Device, case: str) -> None:
    picture, said = draw(dev, NEVER[case])
    assert (picture == 2).all() and not said


def test_specialisation_decides(dev: tg.Device) -> None:
    """The same shader, by its constant: refused, or not a word."""
    assert draw(dev, "if (NO) o = read();", {"NO": False})[1] == []
    with pytest.raises(tg.ValidationError, match="reads color0"):
        draw(dev, "if (NO) o = read();", {"NO": True})
    assert len(draw(dev, "for (int i = 0; i < THREE; i++) o += read();", {"THREE": 0})[1]) == 1
    with pytest.raises(tg.ValidationError, match="reads color0"):
        draw(dev, "for (int i = 0; i < THREE; i++) o += read();", {"THREE": 1})


def test_each_element_has_its_own_condition(dev: tg.Device) -> None:
    """Element 0 is always read, element 1 may be: which one is the target decides."""
    image, other = (dev.image((8, 8), "r32g32b32a32_sfloat", label=label) for label in ("film", "other"))
    dev.clear(image, (0, 0, 0, 0))
    dev.clear(other, (7, 7, 7, 7))
    code = HEAD.replace("sampler2D t;", "sampler2D t[2];").replace("texelFetch(t,", "texelFetch(t[0],") + (
        "o = read(); if (zero != 0) o = texelFetch(t[1], ivec2(0), 0); }"
    )
    pipe = dev.pipeline(FULL, code, color=[image.format], label="p")
    nearest = dev.sampler(filter="nearest")

    def drawn(views: list[tg.Image]) -> list[str]:
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], label="pass") as rp:
            rp.draw(pipe, count=3, bind={"t": [(view.view(), nearest) for view in views]}, push={"zero": np.int32(0)})
        return [line for line in rp.lint() if "may read" in line]

    (said,) = drawn([other, image])
    assert "element 1) may read color0" in said and (image.numpy() == 7).all()
    with pytest.raises(tg.ValidationError, match=r"'t' \(set 0, binding 0\) reads color0"):
        drawn([image, other])
