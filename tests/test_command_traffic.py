"""What commands outside of passes move: counted on paper, in their result and in frames; 33 to 1 is counted on both sides."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

WIDTH, HEIGHT = 96, 40
TEXELS = WIDTH * HEIGHT


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off")


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
def test_a_resolve_of_its_own_moves_33_samples_a_pixel_and_one_in_the_tile_moves_one(samples: int) -> None:
    """The article's sum: N stored, N read, one written; in tile memory one written."""
    dev = tg.Device(profile="mali-g610" if "mali-g610" in tg.profile_names() else "host", cache_dir="off")
    many, one = dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm", samples=samples), dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm")
    image_B = TEXELS * 4
    with dev.frame("apart") as frame:
        with dev.render_pass(tg.Attachment(many, clear=(1, 0, 0, 1))):
            pass
        moved = dev.resolve(many, one)
    assert moved == tg.CommandStats("resolve", samples * image_B, image_B)
    assert frame.stats.commands == (moved,) and frame.stats.commands_B == (samples + 1) * image_B
    apart = frame.stats.moved_B + frame.stats.commands_B
    transient = dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm", samples=samples, transient=True)
    with dev.frame("in tile") as frame, dev.render_pass(
        tg.Attachment(transient, clear=(1, 0, 0, 1), store_op="dont_care", resolve=one)
    ):
        pass
    assert (apart, frame.stats.moved_B + frame.stats.commands_B) == ((2 * samples + 1) * image_B, image_B)


def test_copies(dev: tg.Device) -> None:
    a, b = dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm"), dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm")
    dev.clear(a, (0, 0, 0, 0))
    assert dev.copy(a, b) == ("copy", TEXELS * 4, TEXELS * 4)
    assert dev.copy(a, b, extent=(10, 5)) == ("copy", 200, 200)
    source, target = dev.buffer(np.zeros(1000, np.uint8)), dev.buffer(1000)
    assert dev.copy(source, target, size=300) == ("copy", 300, 300)
    depth = dev.image((WIDTH, HEIGHT), "d24_unorm_s8_uint")
    dev.clear(depth, depth=1.0, stencil=0)
    whole = dev.buffer(TEXELS * 4)
    assert dev.copy(depth, whole, aspect="stencil").read_B < dev.copy(depth, whole, aspect="depth").read_B
    compressed = [dev.image((16, 8), "bc1_rgba_unorm_block") for _ in range(2)]
    assert dev.copy(np.zeros((2, 4, 8), np.uint8), compressed[0]) == ("copy", 64, 64)
    assert dev.copy(*compressed) == ("copy", 64, 64)
    volumes = [dev.image((8, 8, 4), "r8_unorm") for _ in range(2)]
    dev.clear(volumes[0], (0, 0, 0, 0))
    assert dev.copy(*volumes, extent=(8, 8, 2)) == ("copy", 128, 128)


def test_clears_blits_and_mip_chains(dev: tg.Device) -> None:
    chain = dev.image((64, 32), "r16g16b16a16_sfloat", mip_levels=None, layers=2)
    level_B = [max(1, 64 >> k) * max(1, 32 >> k) * 8 * 2 for k in range(7)]
    assert dev.clear(chain, (0, 0, 0, 0)) == ("clear", 0, sum(level_B))
    assert dev.clear(chain, (0, 0, 0, 0), level=1, levels=2, layer=1) == ("clear", 0, (level_B[1] + level_B[2]) // 2)
    assert dev.generate_mipmaps(chain) == ("generate_mipmaps", sum(level_B[:-1]), sum(level_B[1:]))
    many = dev.image((64, 32), "d32_sfloat", samples=4)
    assert dev.clear(many, depth=0.5).written_B == 64 * 32 * 4 * 4
    a, b = dev.image((64, 32), "r8g8b8a8_unorm"), dev.image((128, 128), "r16g16b16a16_sfloat")
    dev.clear(a, (0, 0, 0, 0))
    assert dev.blit(a, b) == ("blit", 64 * 32 * 4, 128 * 128 * 8)
    assert dev.blit(a, b, source_rect=(20, 30, 10, 10), destination_rect=(0, 0, 5, 6)) == ("blit", 800, 240)


def test_a_frame_lists_them(dev: tg.Device) -> None:
    a, b = dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm"), dev.image((WIDTH, HEIGHT), "r8g8b8a8_unorm")
    with dev.frame("f") as frame:
        dev.clear(a, (1, 1, 1, 1))
        dev.copy(a, b)
    assert [c.command for c in frame.stats.commands] == ["clear", "copy"]
    assert frame.stats.asdict()["commands"][1]["written_B"] == TEXELS * 4
    assert "2 commands" in str(frame.stats) and "by commands" in str(frame) and "written" in str(frame)
    assert frame.replay().commands == frame.stats.commands
