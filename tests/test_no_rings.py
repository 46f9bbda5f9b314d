"""Objects end when nobody has them: none is part of a ring that waits until Python looks for rings, with its image or device."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import scenes
from tilegpu.scene.render import SceneRenderer

FORMAT = "r8g8b8a8_unorm"
VERT = """#version 450
void main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }"""
FRAG = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
TEXTURED = """#version 450
layout(location = 0) out vec4 o;
layout(binding = 0) uniform sampler2D t;
void main() { o = texture(t, vec2(0.5)); }"""
KERNEL = """#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Data { uint data[]; };
layout(binding = 1, rgba8) uniform writeonly image2D target;
void main() { data[0] = 1u; imageStore(target, ivec2(0), vec4(1)); }"""

BLACK = (0.0, 0.0, 0.0, 1.0)


def draw(dev: tg.Device, path: Path) -> None:
    pipe, out = dev.pipeline(VERT, FRAG, color=[FORMAT]), dev.image((8, 8), FORMAT)
    for clear in (BLACK, BLACK, [0.0, 0.0, 0.0, 1.0], None):
        with dev.render_pass(color=[tg.Attachment(out, clear=clear)]) as rp:
            rp.draw(pipe, count=3)
    out.save(path)


def depth(dev: tg.Device, path: Path) -> None:
    pipe = dev.pipeline(VERT, FRAG, color=[FORMAT], depth="d32_sfloat")
    out, far = dev.image((8, 8), FORMAT), dev.image((8, 8), "d32_sfloat")
    for _ in range(2):
        attachment = tg.Attachment(far, clear=1.0, store_op="dont_care")
        with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)], depth=attachment) as rp:
            rp.draw(pipe, count=3)


def samples(dev: tg.Device, path: Path) -> None:
    pipe, out = dev.pipeline(VERT, FRAG, color=[FORMAT], samples=4), dev.image((8, 8), FORMAT)
    many = dev.image((8, 8), FORMAT, samples=4, transient=True)
    with dev.render_pass(color=[tg.Attachment(many, clear=BLACK, store_op="dont_care", resolve=out)]) as rp:
        rp.draw(pipe, count=3)
    assert out.numpy().min() == 255


def texture(dev: tg.Device, path: Path) -> None:
    sampled = dev.texture(np.zeros((4, 4, 4), "u1"), mipmaps=True)
    pipe, out = dev.pipeline(VERT, TEXTURED, color=[FORMAT]), dev.image((8, 8), FORMAT)
    for bound in (sampled, tg.Texture(sampled.image, sampled.sampler, swizzle="bgr1")):
        with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
            rp.draw(pipe, count=3, bind={"t": bound})


def descriptor_set(dev: tg.Device, path: Path) -> None:
    sampled = dev.texture(np.zeros((4, 4, 4), "u1"))
    pipe, out = dev.pipeline(VERT, TEXTURED, color=[FORMAT]), dev.image((8, 8), FORMAT)
    bound = dev.descriptor_set(pipe, 0, {"t": sampled})
    with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
        rp.draw(pipe, count=3, sets={0: bound})


def dispatch(dev: tg.Device, path: Path) -> None:
    data, target = dev.buffer(16), dev.image((4, 4), FORMAT)
    dev.dispatch(dev.compute_pipeline(KERNEL), 1, bind={"Data": data, "target": target})
    assert data.numpy().any()


def views(dev: tg.Device, path: Path) -> None:
    out, pipe = dev.image((8, 8), FORMAT, mip_levels=2), dev.pipeline(VERT, FRAG, color=[FORMAT])
    view = out.view(level=1, levels=1)
    assert out.view(level=1, levels=1) is view
    with dev.render_pass(color=[tg.Attachment(view, clear=BLACK)]) as rp:
        rp.draw(pipe, count=3)
    assert np.asarray(view).min() == 255


def frame(dev: tg.Device, path: Path) -> None:
    with dev.frame() as recorded:
        draw(dev, path)
    assert recorded.explain()


def explained(dev: tg.Device, path: Path) -> None:
    pipe, out = dev.pipeline(VERT, FRAG, color=[FORMAT]), dev.image((8, 8), FORMAT)
    with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)], trace=True) as rp, rp.query() as seen:
        rp.draw(pipe, count=3)
    assert rp.explain() and seen.samples


def mistaken(dev: tg.Device, path: Path) -> None:
    out = dev.image((8, 8), FORMAT)
    with pytest.raises(tg.Error), dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
        rp.draw("nothing", count=3)  # type: ignore[arg-type]


def wrong_arguments(dev: tg.Device, path: Path) -> None:
    """Each holds an image while it is refused."""
    out, pipe = dev.image((8, 8), FORMAT), dev.pipeline(VERT, TEXTURED, color=[FORMAT])
    calls: list[Callable[[], object]] = [
        lambda: dev.render_pass(color=out, foo=1),  # type: ignore[call-arg]
        lambda: dev.copy(out, out, foo=2),  # type: ignore[call-overload]
        lambda: out.save(),  # type: ignore[call-arg]
        lambda: tg.Attachment(out, foo=1),  # type: ignore[call-arg]
        lambda: dev.blit(out),  # type: ignore[call-arg]
        lambda: tg.Texture(out),  # type: ignore[call-arg]
        lambda: dev.sampler(fo=1),  # type: ignore[call-arg]
    ]
    for call in calls:
        with pytest.raises(tg.Error):
            call()
    for wrong in ({"t": out, "u": out}, {"t": dev.sampler()}, {}):
        with pytest.raises(tg.Error), dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
            rp.draw(pipe, count=3, bind=wrong)


def secondary(dev: tg.Device, path: Path) -> None:
    pipe, out = dev.pipeline(VERT, FRAG, color=[FORMAT]), dev.image((8, 8), FORMAT)
    with dev.secondary(color=[FORMAT]) as part:
        part.draw(pipe, count=3)
    with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
        rp.execute_commands(part)


def transfers(dev: tg.Device, path: Path) -> None:
    out, other = dev.image((8, 8), FORMAT), dev.image((4, 4), FORMAT)
    dev.clear(out, BLACK)
    dev.blit(out, other)
    dev.copy(other, dev.buffer(64))


def scene(dev: tg.Device, path: Path) -> None:
    result = SceneRenderer(dev).render(scenes()["materials"].frame((64, 36)))
    assert result.images[0].any()


def device(dev: tg.Device, path: Path) -> None:
    draw(tg.Device(threads=1, cache_dir="off"), path)


WORK = [draw, depth, samples, texture, descriptor_set, dispatch, views, frame, explained, mistaken, wrong_arguments, secondary, transfers]
WORK += [scene, device]


@pytest.mark.parametrize("work", WORK)
def test_what_is_dropped_is_gone(work: Callable[[tg.Device, Path], None], tmp_path: Path) -> None:
    dev = tg.Device(threads=1, cache_dir="off")
    work(dev, tmp_path / "a.png")  # what is made once for all stays
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        work(dev, tmp_path / "b.png")
        gc.collect()
        found = sorted({type(one).__name__ for one in gc.garbage if type(one).__module__.partition(".")[0] == "tilegpu"})
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not found
