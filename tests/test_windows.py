"""Windows of a larger framebuffer: what is drawn there is what one pass over all of it draws there, to the bit, whatever is drawn how."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 c;
void main() { gl_Position = position; c = color; gl_PointSize = 9; }"""
FRAG = """#version 450
layout(location = 0) in vec4 c;
layout(location = 0) out vec4 o;
layout(location = 1) out vec4 place;
void main() {
  o = vec4(fract(c.rgb * 7) + vec3(dFdx(c.x), dFdy(c.y), fwidth(c.z)), 0.6);
  place = vec4(gl_FragCoord.xy, gl_FragCoord.z, c.x);
}"""
VERTEX = np.dtype([("position", "4f4"), ("color", "4f4")])
SIZE = (463, 301)
WINDOWS = ((0, 0, 192, 128), (192, 0, 271, 128), (0, 128, 192, 173), (192, 128, 271, 173), (64, 64, 256, 64))


def mesh(seed: int, count: int = 240) -> np.ndarray[Any, Any]:
    """Triangles of all sizes: small ones, some that reach far beyond the picture, some behind the viewer."""
    rng = np.random.default_rng(seed)
    out = np.zeros(count * 3, VERTEX)
    centre = rng.uniform(-1.3, 1.3, (count, 1, 3))
    reach = np.exp(rng.uniform(-4, 1, (count, 1, 1)))
    reach[:5] = 300  # beyond the guard band
    at = centre + reach * rng.uniform(-1, 1, (count, 3, 3))
    w = rng.uniform(0.4, 2, (count, 3, 1))
    w[5:12] *= np.where(rng.random((7, 3, 1)) < 0.4, -1, 1)
    depth = rng.uniform(0, 1, (count, 3, 1))
    out["position"] = np.concatenate([at[..., :2] * w, depth * w, w], axis=2).reshape(-1, 4)
    out["color"] = rng.uniform(0, 1, (count * 3, 4))
    return out


Draws = Callable[[tg.RenderPass, dict[str, Any]], None]


def pipelines(dev: tg.Device, samples: int, **more: Any) -> tg.Pipeline:
    return dev.pipeline(
        VERT, FRAG, vertex=VERTEX, color=["r8g8b8a8_unorm", "r32g32b32a32_sfloat"], depth="d32_sfloat", samples=samples,
        blend=["alpha", None], **more,
    )  # fmt: skip


def drawn(
    dev: tg.Device, draws: Draws, samples: int, window: tuple[int, int, int, int] | None, size: tuple[int, int] = SIZE, **how: Any
) -> list[np.ndarray[Any, Any]]:
    """Colour, place and depth of the whole, or of a window (x, y, width, height)."""
    held = size if window is None else window[2:]
    images = [dev.image(held, f, samples=samples) for f in ("r8g8b8a8_unorm", "r32g32b32a32_sfloat")]
    resolved = [dev.image(held, i.format) for i in images] if samples > 1 else [None, None]
    depth = dev.image(held, "d32_sfloat", samples=samples)
    color = [tg.Attachment(i, clear=(0.1, 0.2, 0.3, 1), resolve=r) for i, r in zip(images, resolved, strict=True)]
    there = None if window is None else (*window[:2], *size)
    with dev.render_pass(color=color, depth=tg.Attachment(depth, clear=1.0), window=there, **how) as rp:
        draws(rp, {"samples": samples, "dev": dev})
    if samples == 1:
        return [*(i.numpy() for i in images), depth.numpy()]
    return [*(r.numpy() for r in resolved if r is not None), *(i.numpy() for i in images)]


def check(dev: tg.Device, draws: Draws, samples: int = 1, windows: Any = WINDOWS, size: tuple[int, int] = SIZE, **how: Any) -> None:
    whole = drawn(dev, draws, samples, None, size, **how)
    assert len(np.unique(whole[0].reshape(-1, 4), axis=0)) > 20, "something is drawn"
    for x, y, w, h in windows:
        part = drawn(dev, draws, samples, (x, y, w, h), size, **how)
        for mine, all_of_it in zip(part, whole, strict=True):
            assert mine.tobytes() == np.ascontiguousarray(all_of_it[y : y + h, x : x + w]).tobytes(), (x, y, w, h)


def triangles(rp: tg.RenderPass, using: dict[str, Any]) -> None:
    rp.draw(pipelines(using["dev"], using["samples"]), mesh(1))


def with_viewports_and_scissors(rp: tg.RenderPass, using: dict[str, Any]) -> None:
    pipe = pipelines(using["dev"], using["samples"])
    rp.draw(pipe, mesh(2), viewport=(-30.25, 17.5, 391.5, 222.75))  # ends within the picture, and begins outside of it
    rp.draw(pipe, mesh(3), viewport=(100, 250, 150, -200), scissor=(90, 70, 201, 111))
    rp.clear((1, 0, 0, 1), rect=(180, 100, 40, 50))
    rp.draw(pipe, mesh(4, 40), scissor=(0, 0, 300, 300))


def lines_and_points(rp: tg.RenderPass, using: dict[str, Any]) -> None:
    for topology, more in (("line_list", {}), ("point_list", {}), ("line_strip", {"line_mode": "bresenham", "line_stipple": (2, 0x5A5F)}),
                           ("line_list", {"line_mode": "rectangular", "line_width": 5.0})):  # fmt: skip
        rp.draw(pipelines(using["dev"], using["samples"], topology=topology, **more), mesh(5, 60))


def conservative(rp: tg.RenderPass, using: dict[str, Any]) -> None:
    rp.draw(pipelines(using["dev"], using["samples"], conservative="overestimate"), mesh(6, 80))


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("draws", [triangles, with_viewports_and_scissors, lines_and_points, conservative], ids=lambda d: d.__name__)
def test_a_window_is_its_part_of_the_whole(draws: Draws, samples: int) -> None:
    check(tg.Device(), draws, samples)


@pytest.mark.parametrize(
    "device",
    [{"lanes": 4, "threads": 1}, {"lanes": 8, "bin_px": 128}, {"hsr": "all"}, {"hsr": "off"}, {"profile": "adreno-a650"},
     {"profile": "mali-g720"}, {"tiler_heap": 1 << 16}],
    ids=str,
)  # fmt: skip
def test_whatever_the_device(device: dict[str, Any]) -> None:
    if "adreno" in str(device.get("profile")):
        device = {"profile": next(n for n in tg.profile_names() if "adreno" in n)}
    check(tg.Device(**device), with_viewports_and_scissors, 1, WINDOWS[1:4:2])


def test_what_is_loaded_lies_where_the_window_is() -> None:
    dev = tg.Device()
    whole = dev.image(SIZE, "r8g8b8a8_unorm")
    part = dev.image((271, 173), "r8g8b8a8_unorm")
    for image, window in ((whole, None), (part, (192, 128, *SIZE))):
        pipe = dev.pipeline(VERT, FRAG.replace("layout(location = 1) out vec4 place;", "vec4 place;"), vertex=VERTEX,
                            color=["r8g8b8a8_unorm"], blend="alpha")  # fmt: skip
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))], window=window) as rp:
            rp.draw(pipe, mesh(7))
        with dev.render_pass(color=[image], window=window) as rp:  # loaded and stored
            rp.draw(pipe, mesh(8))
        with dev.render_pass(color=[image], window=window, area=(200, 140, 100, 80)) as rp:
            rp.draw(pipe, mesh(9))
    assert np.array_equal(part.numpy(), whole.numpy()[128:, 192:])


def test_maps_of_a_window_are_of_what_it_holds() -> None:
    """A window of a picture of 60,000 pixels a side would else have maps of 14 GB."""
    dev = tg.Device()
    pipe = dev.pipeline(VERT, FRAG.replace("layout(location = 1) out vec4 place;", "vec4 place;"), vertex=VERTEX, color=["r8g8b8a8_unorm"])
    found = []
    for held, window in ((SIZE, None), ((128, 100), (192, 64, *SIZE))):
        with dev.render_pass(color=[tg.Attachment(dev.image(held, "r8g8b8a8_unorm"), clear=(0, 0, 0, 1))], window=window) as rp:
            rp.draw(pipe, mesh(1))
        found.append((rp.heatmap("shaded"), rp.heatmap("tile_ms")))
    (whole, _), (part, times) = found
    assert part.any() and np.array_equal(part, whole[64:164, 192:320])
    assert times.shape == (100, 128) and times.all()
    with dev.render_pass(color=[tg.Attachment(dev.image((64, 64), "r8g8b8a8_unorm"), clear=(0, 0, 0, 1))],
                         window=(59904, 59904, 60000, 60000)) as rp:  # fmt: skip
        rp.draw(pipe, mesh(1))
    assert rp.heatmap("shaded").shape == (64, 64)


def test_a_shared_recording_and_its_pixels() -> None:
    """Secondary command buffers, why(), replay, capture."""
    dev = tg.Device()
    pipe = dev.pipeline(VERT, FRAG.replace("layout(location = 1) out vec4 place;", "vec4 place;"), vertex=VERTEX, color=["r8g8b8a8_unorm"])
    part = dev.secondary(color=["r8g8b8a8_unorm"])
    with part:
        part.draw(pipe, mesh(1))
    whole, held = dev.image(SIZE, "r8g8b8a8_unorm"), dev.image((64, 64), "r8g8b8a8_unorm")
    with dev.render_pass(color=[tg.Attachment(whole, clear=(0, 0, 0, 1))]) as rp:
        rp.execute_commands(part)
    with dev.render_pass(color=[tg.Attachment(held, clear=(0, 0, 0, 1))], window=(256, 64, *SIZE)) as rp:
        rp.execute_commands(part)
    expected = whole.numpy()[64:128, 256:320]
    assert np.array_equal(held.numpy(), expected)
    rp.replay()
    assert np.array_equal(held.numpy(), expected)
    assert "260, 70" in str(rp.why(260, 70))
    assert rp.layout["width_px"] == SIZE[0]


def test_a_capture_knows_its_window(tmp_path: Path) -> None:
    dev = tg.Device()
    image = dev.image((128, 64), "r8g8b8a8_unorm")
    pipe = dev.pipeline(VERT, FRAG.replace("layout(location = 1) out vec4 place;", "vec4 place;"), vertex=VERTEX, color=["r8g8b8a8_unorm"])
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))], window=(128, 192, *SIZE)) as rp:
        rp.draw(pipe, mesh(1))
    rp.capture(tmp_path / "w.tgcap")
    replay = tg.Device().load_capture(tmp_path / "w.tgcap")
    replay.run()
    assert any(np.array_equal(one, image.numpy()) for one in replay.pictures)


def corner(size: tuple[int, int], x: int, y: int, width: int, height: int, dev: tg.Device) -> np.ndarray[Any, Any]:
    return drawn(dev, triangles, 1, (x, y, width, height), size)[1]


@pytest.mark.parametrize("size", [(32767, 1000), (32768, 512), (40000, 20000), (65534, 65534)])
def test_windows_beyond_every_image_agree(size: tuple[int, int]) -> None:
    """No whole to compare with: windows that overlap, and the places that fragments were told."""
    dev = tg.Device()
    width, height = size
    for x, y in ((0, 0), (width // 128 * 64, height // 128 * 64), (width // 64 * 64 - 128, height // 64 * 64 - 128)):
        w, h = min(192, width - x), min(192, height - y)
        all_of_it = corner(size, x, y, w, h, dev)
        for dx, dy in ((64, 0), (0, 64), (64, 64), (128, 128))[: 3 + (w > 128 < h)]:
            part = corner(size, x + dx, y + dy, w - dx, h - dy, dev)
            assert part.tobytes() == np.ascontiguousarray(all_of_it[dy:, dx:]).tobytes(), (x, y, dx, dy)
        told = all_of_it[..., 2] != np.float32(0.3)
        assert told.any()
        ys, xs = np.nonzero(told)
        assert (all_of_it[told][:, 0] == xs + x + np.float32(0.5)).all() and (all_of_it[told][:, 1] == ys + y + np.float32(0.5)).all()


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ((32, 0, 463, 301), "multiples of 64"),
        ((0, 0, 65535, 301), "65534"),
        ((-64, 0, 463, 301), "it must be (x, y, width, height)"),
        ((0, 0, 463), "it must be (x, y, width, height)"),
        ((448, 0, 463, 301), "64x64 px at (448, 0)"),
        ((0, 256, 463, 301), "64x64 px at (0, 256)"),
        ((0.5, 0, 463, 301), "it must be (x, y, width, height)"),
    ],
)
def test_windows_that_are_none(window: Any, said: str) -> None:
    dev = tg.Device()
    with pytest.raises(tg.ValidationError) as error, dev.render_pass(color=[dev.image((64, 64), "r8g8b8a8_unorm")], window=window):
        pass
    assert said in str(error.value)


def test_blocks_and_areas_of_windows() -> None:
    dev = tg.Device()
    blocks = dev.image((64, 64), "r8g8b8a8_unorm", tiling="block_compressed")
    with pytest.raises(tg.ValidationError, match="linear where the attachments are a window"):  # noqa: SIM117
        with dev.render_pass(color=[blocks], window=(0, 0, 99, 99)):
            pass
    rows = dev.image((64, 64), "r8g8b8a8_unorm")
    with pytest.raises(tg.ValidationError, match=r"64x64 px from \(64, 0\) on"), dev.render_pass(
        color=[tg.Attachment(rows, clear=(0, 0, 0, 1))], window=(64, 0, 200, 99), area=(0, 0, 64, 64)
    ):
        pass
