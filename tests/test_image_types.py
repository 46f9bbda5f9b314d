"""1D and 3D images: copies, clears, slices as attachments, levels; regions of the copies that Python has."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.sampling import kept

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


LINE = """#version 450
layout(binding = 0) uniform sampler1D src; layout(location = 0) out vec4 o; void main() { o = texture(src, gl_FragCoord.x / 16.0); }"""
LINES = LINE.replace("sampler1D", "sampler1DArray").replace("gl_FragCoord.x / 16.0", "vec2(gl_FragCoord.x / 16.0, 1)")


def test_textures_of_one_dimension(dev: tg.Device) -> None:
    rng = np.random.default_rng(4)
    out = dev.image((16, 2), "r8g8b8a8_unorm")
    pixels = rng.integers(0, 256, (2, 16, 4), dtype=np.uint8)
    for frag, given in ((LINE, pixels[1]), (LINES, pixels)):
        texture = dev.texture(given, type="1d", filter="nearest", mipmaps=True, address="clamp_to_edge")
        assert texture.image.type == "1d" and texture.image.mip_levels == 5 and texture.image.layers == given.ndim - 1
        with dev.render_pass(color=[tg.Attachment(out, "dont_care")]) as rp:
            rp.draw(dev.pipeline(FULL, frag, color=[out.format]), count=3, bind={"src": texture})
        assert np.array_equal(out.numpy()[1], pixels[1])
    flat = LINE.replace("sampler1D", "sampler2D").replace("gl_FragCoord.x / 16.0", "gl_FragCoord.xy")
    for frag, given, message in (
        (LINE, dev.texture(pixels[:1]), "a 1d image, image '.*' is 2d; create it with a size of 1 number, or"),
        (flat, (dev.image((4, 4, 4), out.format), dev.sampler()), "a 2d image, image '.*' is 3d; bind slices of a level"),
    ):
        pipe = dev.pipeline(FULL, frag, color=[out.format])
        with (
            pytest.raises(tg.ValidationError, match=f"the shader reads {message}"),
            dev.render_pass(color=[tg.Attachment(out, "dont_care")]) as rp,
        ):
            rp.draw(pipe, count=3, bind={"src": given})
    with pytest.raises(tg.ValidationError, match="pixels have shape"):
        dev.texture(np.zeros((2, 2, 2, 4), np.uint8), type="1d")


@pytest.mark.parametrize("size", [(16,), (16, 16), (8, 8, 8)])
def test_a_mip_chain_is_drawn_in_every_type(dev: tg.Device, size: tuple[int, ...]) -> None:
    """Each level from the one above, slice by slice; beside generate_mipmaps, or a mean in NumPy of volumes."""
    rng = np.random.default_rng(6)
    image = dev.image(size, "r32_sfloat", mip_levels=None, label="chain")
    data = rng.random((*(1,) * (3 - len(size)), *size[::-1]), dtype=np.float32)
    dev.copy(data, image)
    kind = "1d" if image.type == "1d" else "2d"
    at = "(gl_FragCoord.xy * 2.0) / vec2(textureSize(src, 0))" if kind == "2d" else "gl_FragCoord.x * 2.0 / textureSize(src, 0)"
    frag = f"""#version 450
    layout(binding = 0) uniform sampler{kind.upper()} src; layout(binding = 1) uniform sampler{kind.upper()} far;
    layout(location = 0) out float o;
    void main() {{ o = (textureLod(src, {at}, 0.0).r + textureLod(far, {at}, 0.0).r) * 0.5; }}"""
    pipe, sampler = dev.pipeline(FULL, frag, color=[image.format]), dev.sampler(filter="linear", address="clamp_to_edge")
    want = data
    for level in range(1, image.mip_levels):
        slices = max(1, image.depth >> level)
        for z in range(slices):
            near, far = (z * 2, z * 2 + 1) if image.type == "3d" else (0, 0)
            above = {"level": level - 1, "levels": 1, "layers": 1}
            bind = {n: (image.view(kind, layer=s, **above), sampler) for n, s in (("src", near), ("far", far))}
            with dev.render_pass(color=[tg.Attachment(image, "dont_care", level=level, layer=z)]) as rp:
                rp.draw(pipe, count=3, bind=bind)
        for axis in range(3):
            if want.shape[axis] > 1:
                even, odd = np.split(np.moveaxis(want, axis, 0).reshape(want.shape[axis] // 2, 2, -1), 2, 1)
                rest = [n for k, n in enumerate(want.shape) if k != axis]
                want = np.moveaxis(((even + odd) * 0.5).reshape(-1, *rest), 0, axis)
        got = np.stack([image.numpy(level, z)[..., 0] for z in range(slices)])
        assert np.abs(got - want).max() < 1e-5, level


def test_an_array_says_its_extent_and_its_texels(dev: tg.Device) -> None:
    image = dev.image((8, 8), "r8g8b8a8_unorm", layers=3, label="t")
    dev.clear(image, (0, 0, 0, 0))
    patch = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    dev.copy(patch, image, destination_pos=(4, 3), destination_layer=1)
    want = np.zeros((8, 8, 4), np.uint8)
    want[3:5, 4:7] = patch
    assert np.array_equal(image.numpy(layer=1), want) and not image.numpy(layer=0).any()
    dev.copy(np.full((3, 8, 8, 4), 9, np.uint8), image)  # all layers
    dev.copy(patch, image, extent=(2, 1), destination_layer=2)  # its first pixels
    assert np.all(image.numpy(layer=0) == 9) and np.array_equal(image.numpy(layer=2)[0, :3], [*patch[0, :2], [9] * 4])
    for wrong in (np.full((8, 8, 4), 5, np.int16), np.zeros((8, 32), np.uint8), np.zeros((2, 2, 3), np.uint8)):
        with pytest.raises(tg.ValidationError, match=r"copy: the array has shape .* image 't' of r8g8b8a8_unorm takes .* 4 bytes a pixel"):
            dev.copy(wrong, image)
    with pytest.raises(tg.ValidationError, match="allowed is at least 1x1x1 px within the level's 8x8x1 px"):
        dev.copy(np.zeros((16, 16, 4), np.uint8), image)


def test_lint_tells_of_undefined_contents(dev: tg.Device) -> None:
    out, src = (dev.image((8, 8), "r8g8b8a8_unorm", label=label) for label in ("out", "src"))
    z = dev.image((4, 4), "d32_sfloat")
    with dev.render_pass(color=[tg.Attachment(src, clear=(1, 0, 0, 1), store_op="dont_care")], label="lost"):
        pass
    frag = """#version 450
    layout(binding = 0) uniform sampler2D s; layout(location = 0) out vec4 o; void main() { o = texture(s, vec2(0.5)); }"""
    pipe = dev.pipeline(FULL, frag, color=[out.format])
    with pytest.warns(tg.UndefinedContentsWarning), dev.render_pass(color=[out]) as rp:
        rp.draw(pipe, count=3, bind={"s": (src, dev.sampler())})
    loads, reads = rp.lint()
    assert "color0: load_op is load, but the contents of image 'out' are undefined: nothing was stored" in loads
    assert "'s'" in reads and "the contents of image 'src' are undefined: store_op of pass 'lost' was dont_care" in reads
    with dev.render_pass(color=[out], depth=tg.Attachment(z, clear=1.0, store_op="dont_care"), area=(0, 0, 4, 4)) as rp:
        pass
    assert rp.lint() == []


def test_a_volume_is_sampled(dev: tg.Device) -> None:
    """Between slices, through the border, at implicit and explicit levels, with a texel offset; beside eight texels mixed in NumPy."""
    rng = np.random.default_rng(8)
    data = rng.random((6, 5, 4, 1), dtype=np.float32)
    volume = dev.image((4, 5, 6), "r32_sfloat", mip_levels=2, label="volume")
    dev.copy(data, volume)
    dev.clear(volume, (0.25, 0, 0, 0), level=1)
    n = 16
    at = (rng.random((n, n, 4), dtype=np.float32) * 1.5 - 0.25).astype(np.float32)
    where = dev.image((n, n), "r32g32b32a32_sfloat")
    dev.copy(at, where)
    frag = """#version 450
    layout(binding = 0) uniform sampler3D src; layout(binding = 1) uniform sampler2D where;
    layout(location = 0) out vec4 o;
    void main() {
      vec3 p = texelFetch(where, ivec2(gl_FragCoord.xy), 0).xyz;
      o.x = textureLod(src, p, 0).r;
      o.y = textureLod(src, p, 1).r;
      o.z = textureLodOffset(src, p, 0, ivec3(1, 0, -2)).r;
      o.w = texture(src, vec3(0.4, 0.4, gl_FragCoord.x * 2.0 / 6.0)).r;  // two slices a pixel: level 1
    }"""
    pipe = dev.pipeline(FULL, frag, color=["r32g32b32a32_sfloat"])
    out = dev.image((n, n), "r32g32b32a32_sfloat")
    sampler = dev.sampler(filter="linear", mipmap_mode="nearest", address="clamp_to_border", border_color="float_opaque_white")
    fetch = dev.sampler(filter="nearest")
    with dev.render_pass(color=[tg.Attachment(out, "dont_care")]) as rp:
        rp.draw(pipe, count=3, bind={"src": (volume.view(), sampler), "where": (where, fetch)})
    got = out.numpy()

    padded = np.pad(data[..., 0], 4, constant_values=1)

    def linear(p: np.ndarray, offset: tuple[int, int, int]) -> np.ndarray:
        u = kept(p.astype(np.float64) * (4, 5, 6) - 0.5)
        low = np.floor(u)
        f, i = u - low, low.astype(int) + offset
        total = np.zeros(p.shape[:-1])
        for corner in np.ndindex(2, 2, 2):
            weight = np.prod(np.where(corner, f, 1 - f), axis=-1)
            x, y, z = (np.clip(i[..., k] + corner[k] + 4, 0, padded.shape[2 - k] - 1) for k in range(3))
            total += weight * padded[z, y, x]
        return total

    assert np.abs(got[..., 0] - linear(at[..., :3], (0, 0, 0))).max() < 1e-5
    assert np.abs(got[..., 2] - linear(at[..., :3], (1, 0, -2))).max() < 1e-5
    inside = np.all((at[..., :3] > 0.26) & (at[..., :3] < 0.74), axis=-1)  # of level 1: 2 x 2 x 3 texels
    assert inside.any() and np.all(got[inside][:, 1] == 0.25)
    assert np.abs(got[:, :1, 3] - 0.25).max() < 1e-6


def test_a_volume_as_a_texture(dev: tg.Device) -> None:
    """``type="3d"``: slices, with a chain by boxes, and what does not fit."""
    texels = np.random.default_rng(4).integers(0, 256, (4, 6, 8), dtype=np.uint8)
    texture = dev.texture(texels, type="3d", filter="nearest", label="fog")
    assert texture.image.type == "3d" and texture.image.size == (8, 6) and texture.image.depth == 4
    for z in range(4):
        assert np.array_equal(texture.image.numpy(layer=z)[..., 0], texels[z])
    code = """#version 450
layout(local_size_x = 1) in;
layout(binding = 0) uniform sampler3D fog;
layout(binding = 1, std430) buffer O { float o[]; };
void main() { o[0] = texelFetch(fog, ivec3(5, 2, 3), 0).r; }"""
    out = dev.buffer(np.zeros(1, np.float32))
    dev.dispatch(dev.compute_pipeline(code), 1, bind={"fog": texture, "O": out})
    assert out.numpy()[0] == np.float32(texels[3, 2, 5]) / np.float32(255)
    chain = dev.texture(np.stack([texels] * 4, -1), type="3d", mipmaps=True)
    assert chain.image.mip_levels == 4 and chain.image.numpy(level=1, layer=1).shape[:2] == (3, 4)
    chain.image.write(np.zeros((2, 3, 4, 4), np.uint8), level=1)
    texture.image.write(texels[:2], layer=2)  # (slices, H, W)
    assert np.array_equal(texture.image.numpy(layer=3)[..., 0], texels[1])
    for wrong, said in (
        ({"pixels": texels[0]}, r"it must be \(D, H, W\) or \(D, H, W, C\)"),
        ({"pixels": texels, "cube": True}, "a cube is of type '2d'"),
        ({"pixels": texels, "mipmaps": [texels[:1, :3, :4]]}, r"level 1 has shape \(3, 4\) and 1 slice\(s\); it must be \(3, 4\) and 2"),
    ):
        with pytest.raises(tg.ValidationError, match=said):
            dev.texture(**wrong, type="3d")
