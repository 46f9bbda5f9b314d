"""Depth and stencil of one image are tracked each by itself: what a view of stencil reads is stencil, wherever contents, the order of lines
and frames are looked at.

Each error comes with the program beside it that is valid, of the other aspect, which must stay quiet on a strict device.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
READ = "texelFetch(t, ivec2(0), 0).r"
COLOR = "r8g8b8a8_unorm"
FORMATS = ("d24_unorm_s8_uint", "d32_sfloat_s8_uint")
SAMPLERS = {"depth": "sampler2D", "stencil": "usampler2D"}
OTHER = {"depth": "stencil", "stencil": "depth"}
VALUES: dict[str, dict[str, Any]] = {"depth": {"depth": 0.5}, "stencil": {"stencil": 200}}
READS = {"depth": 0.5, "stencil": 200.0}


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def bound(dev: tg.Device, image: tg.Image, aspect: str) -> tuple[tg.ImageView, tg.Sampler]:
    return image.view(aspect=aspect), dev.sampler(filter="nearest")


def drawn(dev: tg.Device, aspect: str) -> tg.Pipeline:
    frag = f"""#version 450
layout(binding = 0) uniform {SAMPLERS[aspect]} t; layout(location = 0) out vec4 o; void main() {{ o = vec4({READ}); }}"""
    return dev.pipeline(COVER, frag, color=["r32g32b32a32_sfloat"], label="p")


def target(dev: tg.Device) -> tg.Image:
    return dev.image((8, 8), "r32g32b32a32_sfloat", label="o")


def by_bind(dev: tg.Device, image: tg.Image, aspect: str) -> float:
    out = target(dev)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.draw(drawn(dev, aspect), count=3, bind={"t": bound(dev, image, aspect)})
    return float(out.numpy()[0, 0, 0])


def by_set(dev: tg.Device, image: tg.Image, aspect: str) -> float:
    out, pipe = target(dev), drawn(dev, aspect)
    sets = {0: dev.descriptor_set(pipe, 0, {"t": bound(dev, image, aspect)})}
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.draw(pipe, count=3, sets=sets)
    return float(out.numpy()[0, 0, 0])


def by_secondary(dev: tg.Device, image: tg.Image, aspect: str) -> float:
    out = target(dev)
    with dev.secondary(color=[out.format]) as part:
        part.draw(drawn(dev, aspect), count=3, bind={"t": bound(dev, image, aspect)})
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
        rp.execute_commands(part)
    return float(out.numpy()[0, 0, 0])


def by_dispatch(dev: tg.Device, image: tg.Image, aspect: str) -> float:
    comp = f"""#version 450
layout(binding = 0) uniform {SAMPLERS[aspect]} t; layout(binding = 1) buffer B {{ float b; }}; void main() {{ b = {READ}; }}"""
    result = dev.buffer(np.zeros(1, np.float32))
    dev.dispatch(dev.compute_pipeline(comp, label="p"), 1, bind={"t": bound(dev, image, aspect), "B": result})
    return float(result.numpy(np.float32)[0])


WAYS = (by_bind, by_set, by_secondary, by_dispatch)


def cleared(dev: tg.Device, image: tg.Image, aspect: str) -> None:
    dev.clear(image, **VALUES[aspect])


def stored(dev: tg.Device, image: tg.Image, aspect: str) -> None:
    """A pass clears both, and stores the one."""
    ops = {name: "store" if name == aspect else "dont_care" for name in SAMPLERS}
    with dev.render_pass(
        depth=tg.Attachment(image, clear=0.5, store_op=ops["depth"]),
        stencil=tg.Attachment(image, clear=200, store_op=ops["stencil"]),
        label="z",
    ):
        pass


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("make", [cleared, stored])
@pytest.mark.parametrize("aspect", SAMPLERS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_undefined_is_the_aspect_that_is_read(
    dev: tg.Device, way: Callable[..., float], aspect: str, make: Callable[..., None], format_: str
) -> None:
    image = dev.image((8, 8), format_, label="z")
    make(dev, image, aspect)
    assert abs(way(dev, image, aspect) - READS[aspect]) < 1e-6
    with pytest.raises(
        tg.UndefinedContentsError, match=f"may be read, but the {OTHER[aspect]} contents of image 'z' are undefined"
    ):
        way(dev, image, OTHER[aspect])
    with pytest.raises(tg.UndefinedContentsError, match=f"its {OTHER[aspect]} contents are undefined"):
        image.numpy(aspect=OTHER[aspect])


@pytest.mark.parametrize("aspect", SAMPLERS)
def test_a_warning_without_strict(aspect: str) -> None:
    dev = tg.Device(threads=1)
    image = dev.image((8, 8), FORMATS[0], label="z")
    dev.clear(image, **VALUES[aspect])
    assert by_bind(dev, image, aspect)
    with pytest.warns(tg.UndefinedContentsWarning, match=f"the {OTHER[aspect]} contents of image 'z'"):
        by_bind(dev, image, OTHER[aspect])


def nested(dev: tg.Device, image: tg.Image, aspect: str) -> None:
    given = {aspect: tg.Attachment(image, clear=0.25 if aspect == "depth" else 99)}
    with dev.render_pass(**given):
        pass


CHANGES: dict[str, Callable[[tg.Device, tg.Image, str], Any]] = {
    "clear": lambda dev, image, aspect: dev.clear(image, **{aspect: 0 if aspect == "stencil" else 0.25}),
    "write": lambda dev, image, aspect: image.write(
        np.zeros((8, 8), np.uint8 if aspect == "stencil" else np.float32), aspect=aspect
    ),
    "copy": lambda dev, image, aspect: dev.copy(
        np.zeros((8, 8), np.uint8 if aspect == "stencil" else np.float32), image, aspect=aspect
    ),
    "pass": nested,
}


@pytest.mark.parametrize("aspect", SAMPLERS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("sets", [False, True])
def test_the_order_of_lines_is_of_the_aspect_that_is_read(dev: tg.Device, change: str, aspect: str, sets: bool) -> None:
    """Within the block of a pass that samples one, that may not change; the other may."""
    image, out, pipe = dev.image((8, 8), "d32_sfloat_s8_uint", label="z"), target(dev), drawn(dev, aspect)
    dev.clear(image, depth=0.5, stencil=200)
    draw: dict[str, Any] = {"bind": {"t": bound(dev, image, aspect)}}
    if sets:
        draw = {"sets": {0: dev.descriptor_set(pipe, 0, draw["bind"])}}
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=3, **draw)
        CHANGES[change](dev, image, OTHER[aspect])
        image.numpy(aspect=aspect)
        with pytest.raises(tg.ValidationError, match=r"'z'.* is open, and the image is read by its draws \(sampled\)"):
            CHANGES[change](dev, image, aspect)
    assert abs(float(out.numpy()[0, 0, 0]) - READS[aspect]) < 1e-6


@pytest.mark.parametrize("aspect", SAMPLERS)
def test_a_frame_knows_which_aspect_is_sampled(dev: tg.Device, aspect: str) -> None:
    """Its advice can be followed: what is read stays."""
    image, out, pipe = dev.image((64, 64), "d24_unorm_s8_uint", label="z"), target(dev), drawn(dev, aspect)

    def frame(keep: frozenset[str]) -> tg.Frame:
        ops = {name: "store" if name in keep else "dont_care" for name in SAMPLERS}
        with dev.frame("f", outputs=out) as f:
            with dev.render_pass(
                depth=tg.Attachment(image, clear=0.5, store_op=ops["depth"]),
                stencil=tg.Attachment(image, clear=200, store_op=ops["stencil"]),
            ):
                pass
            with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
                rp.draw(pipe, count=3, bind={"t": bound(dev, image, aspect)})
        return f

    f = frame(frozenset(SAMPLERS))
    assert [(e.source, e.target, e.part, e.read) for e in f.edges] == [(0, 1, aspect, "sampled")]
    text = str(f)
    assert (
        f"'z' ({aspect}): sampled, stored by 0" in text
        and f"'z' ({OTHER[aspect]}): stored, not read in the frame" in text
    )
    (advice,) = f.lint()
    assert advice.startswith(
        f"pass 0 'pass': {OTHER[aspect]}: image 'z' ({OTHER[aspect]}) is stored, and nobody has read it yet; store_op='dont_care'"
    )
    before = out.numpy()
    followed = frame(frozenset([aspect]))
    assert not followed.lint() and f.stats.moved_B - followed.stats.moved_B == advice.saves_B > 0
    assert np.array_equal(out.numpy(), before) and abs(float(before[0, 0, 0]) - READS[aspect]) < 1e-6


@pytest.mark.parametrize("aspect", SAMPLERS)
def test_a_capture_of_what_is_sampled(dev: tg.Device, aspect: str, tmp_path: Any) -> None:
    image, out = dev.image((8, 8), "d24_unorm_s8_uint"), target(dev)
    dev.clear(image, **VALUES[aspect])
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(drawn(dev, aspect), count=3, bind={"t": bound(dev, image, aspect)})
    rp.capture(tmp_path / "a.tgcap")
    replay = dev.load_capture(tmp_path / "a.tgcap")
    replay.run()
    assert np.array_equal(replay.pictures[0], out.numpy())


def test_a_view_of_stencil_is_shown_as_stencil(dev: tg.Device) -> None:
    image = dev.image((4, 4), "d24_unorm_s8_uint")
    dev.clear(image, stencil=200)
    view = image.view(aspect="stencil")
    assert view.read_aspect == "stencil" and image.view().read_aspect == "depth"
    assert view._repr_png_() and image.view(aspect="depth")._repr_png_() is None and np.all(np.asarray(view) == 200)
    assert "stencil" in view._repr_html_()


@pytest.mark.parametrize("aspect", SAMPLERS)
def test_the_same_arguments_once_more(dev: tg.Device, aspect: str) -> None:
    """Draws that were told nothing of are recorded the short way in later passes: what was lost since is told there too."""
    image, pipe = dev.image((8, 8), FORMATS[0], label="z"), drawn(dev, aspect)
    out, bind = target(dev), {"t": bound(dev, image, aspect)}
    dev.clear(image, depth=0.5, stencil=200)

    def draw() -> None:
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
            rp.draw(pipe, count=3, bind=bind)

    for _ in range(3):
        draw()
    stored(dev, image, OTHER[aspect])
    with pytest.raises(tg.UndefinedContentsError, match=f"the {aspect} contents of image 'z' are undefined"):
        draw()
