"""1D and 3D images: copies, clears, slices as attachments, levels; regions of the copies that Python has."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

FULL = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device()


def test_a_volume_is_copied_cleared_and_drawn_by_slices(dev: tg.Device) -> None:
    rng = np.random.default_rng(2)
    data = rng.integers(0, 2**32, (5, 6, 7, 1), dtype=np.uint32)
    volume = dev.image((7, 6, 5), "r32_uint", mip_levels=3, label="volume")
    dev.copy(data, volume)
    assert all(np.array_equal(volume.numpy(layer=z), data[z]) for z in range(5))
    with pytest.raises(tg.UndefinedContentsError, match="of level 1, layer 0 are undefined"):
        volume.numpy(1, 0)
    with pytest.raises(tg.ValidationError, match="level 2, layer 1 does not exist"):
        volume.numpy(2, 1)
    dev.clear(volume, (9, 0, 0, 0), level=1)
    assert np.all(volume.numpy(1, 1) == 9) and np.array_equal(volume.numpy(layer=4), data[4])
    # A slice is an attachment of its own; the one beside it may be read.
    frag = """#version 450
    layout(binding = 0) uniform usampler2D src; layout(location = 0) out uint o;
    void main() { o = texelFetch(src, ivec2(gl_FragCoord.xy), 0).r + 1u; }"""
    pipe = dev.pipeline(FULL, frag, color=[volume.format])
    src = (volume.view("2d", level=0, levels=1, layer=1, layers=1), dev.sampler(filter="nearest"))
    with dev.render_pass(color=[tg.Attachment(volume, "dont_care", layer=3)]) as rp:
        rp.draw(pipe, count=3, bind={"src": src})
    assert np.array_equal(volume.numpy(layer=3), data[1] + 1)
    for z in (0, 1, 2, 4):
        assert np.array_equal(volume.numpy(layer=z), data[z])
    with (
        pytest.raises(tg.Error, match=r"reads color0 of this pass, image 'volume' \(level 0, layer 1\)"),
        dev.render_pass(color=[tg.Attachment(volume, "dont_care", layer=1)]) as rp,
    ):
        rp.draw(pipe, count=3, bind={"src": src})


def test_layers_become_slices_and_come_back(dev: tg.Device) -> None:
    rng = np.random.default_rng(3)
    data = rng.integers(0, 256, (4, 8, 8, 4), dtype=np.uint8)
    layers, volume = dev.image((8, 8), "r8g8b8a8_unorm", layers=4), dev.image((8, 8, 6), "r8g8b8a8_unorm")
    dev.copy(data, layers, layers=4)
    dev.clear(volume, (0, 0, 0, 0))
    dev.copy(layers, volume, layers=3, source_layer=1, destination_pos=(2, 1, 2), extent=(5, 6))
    for z in range(6):
        want = np.zeros((8, 8, 4), np.uint8)
        if 2 <= z < 5:
            want[1:7, 2:7] = data[z - 1][:6, :5]
        assert np.array_equal(volume.numpy(layer=z), want), z
    back = dev.buffer(np.zeros((6, 8, 8, 4), np.uint8))
    dev.copy(volume, back)
    assert np.array_equal(
        np.frombuffer(memoryview(back.core), np.uint8).reshape(6, 8, 8, 4)[3, 1:7, 2:7], data[2][:6, :5]
    )


def test_a_line_is_sampled(dev: tg.Device) -> None:
    line = dev.image((16,), "r32_sfloat", mip_levels=2)
    dev.copy(np.arange(16, dtype=np.float32), line)
    dev.generate_mipmaps(line)
    assert np.array_equal(line.numpy(1)[0, :, 0], np.arange(8) * 2 + 0.5)
    out = dev.image((16, 2), "r32_sfloat")
    frag = """#version 450
    layout(binding = 0) uniform sampler1D src; layout(location = 0) out float o;
    void main() { o = textureLod(src, gl_FragCoord.x / 16.0, 0.0).r; }"""
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(
            dev.pipeline(FULL, frag, color=[out.format]), count=3, bind={"src": (line, dev.sampler(filter="nearest"))}
        )
    assert np.array_equal(out.numpy()[1, :, 0], np.arange(16))


def test_a_region_is_resolved(dev: tg.Device) -> None:
    samples, target = dev.image((32, 32), "r8_unorm", samples=4), dev.image((16, 16), "r8_unorm", mip_levels=2)
    dev.clear(samples, (1, 0, 0, 0))
    dev.clear(target, (0, 0, 0, 0))
    dev.resolve(samples, target, source_pos=(20, 20), destination_level=1, destination_pos=(1, 2), extent=(3, 4))
    want = np.zeros((8, 8, 1), np.uint8)
    want[2:6, 1:4] = 255
    assert np.array_equal(target.numpy(1), want) and not target.numpy(0).any()
    with pytest.raises(
        tg.Error, match=r"resolve: destination_pos and extent .* is 32x32x1 px at \(0, 0, 0\), allowed is"
    ):
        dev.resolve(samples, target)


def test_what_cannot_be_is_refused(dev: tg.Device) -> None:
    with pytest.raises(tg.Error, match="mip_levels"):
        dev.image((4, 4, 4), "r8_unorm", mip_levels=4)
    with pytest.raises(tg.Error, match="layers is 2, allowed is 1 for a 3d image; its slices are the third of size"):
        dev.image((4, 4, 4), "r8_unorm", layers=2)
    with pytest.raises(tg.Error, match="samples is 4, allowed is 1 for a 1d or 3d image"):
        dev.image((4, 4, 4), "r8_unorm", samples=4)
    volume = dev.image((4, 4, 4), "r8_unorm", label="v")
    with pytest.raises(tg.Error, match=r"view of image 'v': type is .*allowed is 3d, or slices as 2d or 2d_array"):
        volume.view("cube")
    with pytest.raises(tg.Error, match=" layer is 4, allowed is 0 to 3"):
        volume.view("2d", layer=4, layers=1)
    with pytest.raises(tg.Error, match=r"sampler3D|Sampled3D|3D|view type 2"):
        frag = """#version 450
        layout(binding = 0) uniform sampler3D src; layout(location = 0) out vec4 o; void main() { o = texture(src, vec3(0)); }"""
        dev.pipeline(FULL, frag, color=["r8g8b8a8_unorm"])
