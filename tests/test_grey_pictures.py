"""A grey file is sampled as grey, and becomes colours in a format that has them; an array of one component is red."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import tilegpu as tg

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
READ = """#version 450
layout(binding = 0) uniform sampler2D t;
layout(location = 0) out vec4 o;
void main() { o = texelFetch(t, ivec2(0), 0); }"""
APART = """#version 450
layout(binding = 0) uniform texture2D t;
layout(binding = 1) uniform sampler s;
layout(location = 0) out vec4 o;
void main() { o = texture(sampler2D(t, s), vec2(0.5)); }"""
GREY = np.full((2, 2), 51, np.uint8)


def _sampled(dev: tg.Device, bind: Any, frag: str = READ) -> list[float]:
    out = dev.image((1, 1), "r32g32b32a32_sfloat")
    pipe = dev.pipeline(FULL, frag, color=[out.format])
    with dev.render_pass(color=[tg.Attachment(out, load_op="dont_care")]) as rp:
        rp.draw(pipe, count=3, bind=bind)
    return [round(float(v), 3) for v in out.numpy()[0, 0]]


@pytest.mark.parametrize("format_", [None, "r8g8b8a8_unorm", "r8g8b8a8_srgb", "b8g8r8a8_unorm", "r16g16b16a16_sfloat"])
@pytest.mark.parametrize("kind", ["L", "path", "1", "I;16"])
def test_grey_pictures_are_grey(tmp_path: Path, kind: str, format_: str | None) -> None:
    if kind == "I;16" and format_ is not None:
        format_ = "r16g16b16a16_unorm"
    picture: Any = Pillow.fromarray(GREY.astype(np.uint16) * 257 if kind == "I;16" else GREY)
    if kind == "1":
        picture = Pillow.fromarray(np.full((2, 2), 255, np.uint8)).convert("1")
    if kind == "path":
        picture.save(tmp_path / "g.png")
        picture = tmp_path / "g.png"
    dev = tg.Device()
    light = 1.0 if kind == "1" else 0.033 if format_ == "r8g8b8a8_srgb" else 0.2
    tex = dev.texture(picture, format_)
    assert _sampled(dev, {"t": tex}) == [light, light, light, 1]
    assert _sampled(dev, {"t": (tex, dev.sampler())}) == [light, light, light, 1]
    assert _sampled(dev, {"t": tex, "s": dev.sampler()}, APART) == [light, light, light, 1]
    if format_ is None:
        assert tex.image.format in ("r8_unorm", "r16_unorm") and tex.image.shape == (2, 2, 1)  # memory of one component
    else:
        image = dev.image((2, 2), format_)
        image.write(picture)
        assert np.array_equal(image.numpy(), tex.image.numpy())


def test_arrays_and_formats_of_one_component_are_red() -> None:
    dev = tg.Device()
    assert _sampled(dev, {"t": dev.texture(GREY)}) == [0.2, 0, 0, 1]
    assert _sampled(dev, {"t": dev.texture(Pillow.fromarray(GREY), "r8_unorm")}) == [0.2, 0, 0, 1]
    with pytest.raises(tg.ValidationError, match="have 1 components, format r8g8b8a8_unorm has 4; give all, or choose a format with 1"):
        dev.texture(GREY, "r8g8b8a8_unorm")


def test_brightness_of_exr_is_grey_and_red_is_red(tmp_path: Path) -> None:
    exr: Any = pytest.importorskip("OpenEXR")
    dev = tg.Device()
    for name, found in (("Y", [0.25, 0.25, 0.25, 1]), ("R", [0.25, 0, 0, 1])):
        with exr.File({"type": exr.scanlineimage}, {name: np.full((2, 2), 0.25, np.float32)}) as file:
            file.write(str(tmp_path / "x.exr"))
        assert _sampled(dev, {"t": dev.texture(tmp_path / "x.exr")}) == found


def test_a_grey_texture_is_stored_to_and_saved_as_it_is(tmp_path: Path) -> None:
    dev = tg.Device()
    tex = dev.texture(Pillow.fromarray(GREY))
    kernel = dev.compute_pipeline(
        "#version 450\nlayout(binding = 0, r8) uniform image2D i;\nvoid main() { imageStore(i, ivec2(0), vec4(1)); }"
    )
    dev.dispatch(kernel, (1, 1, 1), bind={"i": tex})
    assert tex.image.numpy()[0, 0, 0] == 255
