"""What was taken without a word: kinds of numbers that a buffer was written with, indices without a width, pixels that no format holds,
state behind the last draw; and words of other interfaces and languages, which led nowhere."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

F = "r8g8b8a8_unorm"
AT = "#version 450\nlayout(location = 0) in vec2 p; void main() { gl_Position = vec4(p, 0, 1); }"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
CORNERS = np.array([(-1, -1), (3, -1), (-1, 3)], "f4").view([("p", "f4", 2)]).ravel()
INDICES = np.array([0, 1, 2], np.uint16)
FLOATS = "#version 450\nlayout(binding = 0) buffer B { float a[]; };\nvoid main() { a[0] += 1; }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


def drawn(dev: tg.Device, vertices: Any, indices: Any = None) -> int:
    """The middle's red: 255 where the triangle is."""
    out = dev.image((8, 8), F)
    pipe = dev.pipeline(AT, WHITE, vertex=CORNERS.dtype, color=[F])
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, vertices, indices=indices)
    return int(out.numpy()[4, 4, 0])


def written(dev: tg.Device, array: np.ndarray) -> tg.Buffer:
    buffer = dev.buffer(array.nbytes)
    buffer.write(array)
    return buffer


@pytest.mark.parametrize("kind", ["u2", "u4", "i4"])
def test_indices_that_were_written_have_their_width(dev: tg.Device, kind: str) -> None:
    """They were uint32 whatever was written: two of three were read together, and nothing was drawn."""
    assert drawn(dev, CORNERS, written(dev, INDICES.astype(kind))) == 255


@pytest.mark.parametrize("kind", ["u2", "u4"])
def test_indices_through_a_view_have_its_width(dev: tg.Device, kind: str) -> None:
    buffer = dev.buffer(3 * np.dtype(kind).itemsize)
    buffer.numpy(kind)[:] = INDICES
    assert drawn(dev, CORNERS, buffer) == 255


def test_indices_without_a_width_are_refused(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match=r"index buffer 'buffer' holds bytes, which don't say .* np\.frombuffer"):
        drawn(dev, CORNERS, dev.buffer(INDICES.tobytes()))
    with pytest.raises(tg.ValidationError, match="holds bytes, which don't say how wide an index is"):
        drawn(dev, CORNERS, written(dev, INDICES.view("u1")))
    with pytest.raises(tg.ValidationError, match="index buffer 'buffer' was written with int64; make it from uint8, uint16 or uint32"):
        drawn(dev, CORNERS, written(dev, INDICES.astype("i8")))


def run(dev: tg.Device, buffer: tg.Buffer) -> None:
    dev.dispatch(dev.compute_pipeline(FLOATS), (1, 1, 1), bind={"B": buffer})


def test_a_buffer_of_a_size_remembers_what_was_written(dev: tg.Device) -> None:
    """As one that is made from the array: float64 for floats gave other numbers without a word."""
    with pytest.raises(tg.ValidationError, match="buffer 'buffer' was written with float64, the pipeline was made for"):
        drawn(dev, written(dev, CORNERS.view("f4").astype("f8")))
    with pytest.raises(tg.ValidationError, match=r"was written with float64, the block has .* make it from float32"):
        run(dev, written(dev, np.arange(4.0)))
    copied = dev.buffer(32)
    dev.copy(dev.buffer(np.arange(4.0)), copied)
    with pytest.raises(tg.ValidationError, match="was written with float64"):
        run(dev, copied)
    rows = written(dev, np.array([3, 1, 0, 0]))
    pipe = dev.pipeline(FULL, WHITE, color=[F])
    with (
        pytest.raises(tg.ValidationError, match="was written with int64; make it from uint32"),
        dev.render_pass(color=tg.Attachment(dev.image((8, 8), F), clear=(0, 0, 0, 0))) as rp,
    ):
        rp.draw_indirect(pipe, rows)


def test_what_may_hold_anything_fits(dev: tg.Device) -> None:
    """Zeros of any kind, several kinds, bytes, what was written through a view."""
    mixed = written(dev, np.arange(4.0))
    mixed.write(np.arange(2, dtype="f4"), 8)
    viewed = written(dev, np.arange(4.0))
    viewed.numpy("f4")[:] = 1
    looked_at = written(dev, np.arange(4, dtype="f4"))
    looked_at.numpy("u4")
    for buffer in (written(dev, np.zeros(4)), mixed, viewed, looked_at, written(dev, np.arange(16, dtype="u1")), dev.buffer(16)):
        run(dev, buffer)


@pytest.mark.parametrize(
    ("format_", "value", "said"),
    [
        (F, -0.5, "takes floats from 0 to 1, and others are clamped"),
        ("r8g8b8a8_snorm", -1.5, "takes floats from -1 to 1"),
        ("b10g11r11_ufloat_pack32", -1.0, "takes floats from 0 to 65024"),
        ("e5b9g9r9_ufloat_pack32", 1e9, "takes floats from 0 to 65408"),
        (F, -0.1, ""),
        ("b10g11r11_ufloat_pack32", 1000.0, ""),
        ("b10g11r11_ufloat_pack32", np.inf, ""),
    ],
)
def test_pixels_far_from_what_a_format_holds(dev: tg.Device, format_: str, value: float, said: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dev.texture(np.full((2, 2, 4 if format_ == F or "snorm" in format_ else 3), value, "f4"), format_)
    assert [said in str(w.message) for w in caught] == [True] * bool(said)


def test_pictures_of_negative_numbers(dev: tg.Device, tmp_path: Any) -> None:
    image = dev.image((2, 2), "r32g32b32a32_sfloat")
    image.write(np.full((2, 2, 4), -2, "f4"))
    with pytest.warns(tg.ClampedValueWarning, match=r"pixels are down to -2, and \.png holds 0 to 1"):
        image.save(tmp_path / "a.png")


def test_one_slice_of_a_volume_is_no_clear_of_all(dev: tg.Device) -> None:
    volume = dev.image((4, 4, 4), F)
    with pytest.raises(tg.ValidationError, match="of a 3d image it clears all slices"):
        dev.clear(volume, (1, 0, 0, 1), layer=0, layers=1)
    dev.clear(volume, (1, 0, 0, 1))
    assert (volume.numpy(layer=3)[..., 0] == 255).all()


@pytest.mark.parametrize("in_secondary", [False, True])
def test_state_behind_the_last_draw(dev: tg.Device, in_secondary: bool) -> None:
    out, pipe = dev.image((8, 8), F), dev.pipeline(FULL, WHITE, color=[F])
    with (
        pytest.warns(tg.UnusedNameWarning, match="set: viewport has no effect: no draw behind it"),
        dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp,
    ):
        if in_secondary:
            with dev.secondary(color=out) as commands:
                commands.draw(pipe, count=3)
                commands.set(viewport=(0, 0, 4, 4))
            rp.execute_commands(commands)
        else:
            rp.draw(pipe, count=3)
            rp.set(viewport=(0, 0, 4, 4))


def test_floats_of_a_list_that_32_bits_do_not_hold(dev: tg.Device) -> None:
    with pytest.warns(tg.ClampedValueWarning, match=r"buffer 'buffer' holds 1e\+300, which becomes infinite"):
        dev.buffer([1e300])


def test_layers_that_asarray_leaves_out(dev: tg.Device) -> None:
    layers = dev.image((2, 2), F, layers=3)
    dev.clear(layers, (1, 0, 0, 1))
    with pytest.warns(tg.UnusedNameWarning, match="has 3 layers, and the first alone"):
        np.asarray(layers)


@pytest.mark.parametrize("word", ["off", "all", "default"])
def test_words_that_stand_alone(word: str) -> None:
    with pytest.raises(tg.ValidationError, match=rf"hsr: '{word}' stands alone, and in no list: hsr='{word}'"):
        tg.Device(hsr=[word])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (FULL.encode(), "GLSL is text, and bytes are SPIR-V"),
        ("float4 main(float4 p : POSITION) : SV_Position { return p; }", "this is HLSL"),
        ("@vertex fn main() -> @builtin(position) vec4f { return vec4f(0); }", "this is WGSL"),
        ("#version 450\nvoid main() { gl_Position = vec4(gl_VertexID); }", "gl_VertexIndex and gl_InstanceIndex"),
        ("#version 450\nattribute vec2 p;\nvoid main() { gl_Position = vec4(p, 0, 1); }", "attribute and varying"),
    ],
)
def test_other_languages(dev: tg.Device, source: Any, said: str) -> None:
    with pytest.raises(tg.ShaderError, match=said):
        dev.pipeline(source, WHITE, color=[F])


@pytest.mark.parametrize("body", ["gl_FragColor = vec4(1);", "o = texture2D(s, vec2(0));"])
def test_words_of_older_glsl(dev: tg.Device, body: str) -> None:
    head = "#version 450\nlayout(binding = 0) uniform sampler2D s; layout(location = 0) out vec4 o;\n"
    with pytest.raises(tg.ShaderError, match=r"an output of yours|is texture\(\)"):
        dev.pipeline(FULL, f"{head}void main() {{ {body} }}", color=[F])


@pytest.mark.parametrize(
    ("of", "name", "said"),
    [
        ("dev", "create_buffer", "did you mean 'buffer'"),
        ("dev", "createTexture", "did you mean 'image'"),
        ("dev", "begin_render_pass", "did you mean 'render_pass'"),
        ("dev", "submit", "leaving the with block of a pass draws it"),
        ("image", "clear", r"dev\.clear\(image, color\)"),
        ("image", "read", "did you mean 'numpy'"),
        ("image", "release", "nothing has to be freed"),
        ("buffer", "update", "did you mean 'write'"),
        ("rp", "set_viewport", "did you mean 'set'"),
        ("rp", "set_pipeline", "what is bound is given to the draw"),
        ("rp", "draw_indexed", "did you mean 'draw'"),
        ("buffer", "labl", "did you mean 'label'"),
    ],
)
def test_methods_of_other_interfaces(dev: tg.Device, of: str, name: str, said: str) -> None:
    image = dev.image((4, 4), F)
    with dev.render_pass(color=tg.Attachment(image, clear=(0, 0, 0, 0))) as rp:
        things = {"dev": dev, "image": image, "buffer": dev.buffer(4), "rp": rp}
        assert not hasattr(things[of], name)
        with pytest.raises(AttributeError, match=rf"there is no attribute '{name}'.*{said}"):
            getattr(things[of], name)


def test_texels_of_another_kind_are_told_theirs(dev: tg.Device) -> None:
    """float64 in (N,) was told to be (N,)."""
    reads = "layout(binding = 0) uniform samplerBuffer t; layout(binding = 1) buffer B { vec4 b; };"
    pipe = dev.compute_pipeline(f"#version 450\n{reads}\nvoid main() {{ b = texelFetch(t, 0); }}")
    with pytest.raises(tg.ValidationError, match=r"dtype float64 and shape \(4,\) can't be texels .* of float32, float16 or normalised"):
        dev.dispatch(pipe, (1, 1, 1), bind={"t": np.zeros(4), "B": dev.buffer(16)})
