"""Cubic filters, in samplers and blits, against NumPy written from the specification ("Texel Cubic Filtering", Catmull-Rom weights)."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracle.sampling import kept

import tilegpu as tg

SIDE = 16
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\nlayout(binding = 0) uniform sampler{kind} t;\n"
AT = "vec3 at = (gl_FragCoord.xyx - 5.3) * vec3(0.171, 0.113, 0.091);"
MATRIX = np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]], np.float64) / 2
MODES = ["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border", "mirror_clamp_to_edge"]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def run(dev: tg.Device, body: str, texture: Any, kind: str = "2D", format_: str = "r32g32b32a32_sfloat") -> np.ndarray[Any, Any]:
    out = dev.image((SIDE, SIDE), format_)
    pipe = dev.pipeline(FULL, HEAD.format(kind=kind) + f"void main() {{ {AT} o = vec4({body}); }}", color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": texture})
    return out.numpy()


def coordinates() -> list[np.ndarray[Any, Any]]:
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    return [(x - 5.3) * 0.171, (y - 5.3) * 0.113, (x - 5.3) * 0.091]


def wrapped(mode: str, i: np.ndarray[Any, Any], n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    outside = ((i < 0) | (i >= n)) & (mode == "clamp_to_border")
    if mode == "repeat":
        return i % n, outside
    if mode == "mirrored_repeat":
        i = i % (2 * n)
        return np.minimum(i, 2 * n - 1 - i), outside
    if mode == "mirror_clamp_to_edge":
        i = np.where(i < 0, -1 - i, i)
    return np.clip(i, 0, n - 1), outside


def cubic(
    texels: np.ndarray[Any, Any], at: list[np.ndarray[Any, Any]], mode: str = "repeat", reduce: str = "", keep: Any = kept
) -> np.ndarray[Any, Any]:
    """``texels``: (..., C), the axes of ``at`` (s first) from the last one on. Texels outside of a border are 0.

    ``keep``: what is kept of places between texels; blits keep all bits."""
    sizes = texels.shape[-2::-1][: len(at)]
    low = [np.floor(keep(c * n - 1.5)).astype(int) for c, n in zip(at, sizes, strict=True)]
    weights = []
    for c, n in zip(at, sizes, strict=True):
        a = keep(c * n - 0.5) - np.floor(keep(c * n - 0.5))
        weights.append(np.stack([np.ones_like(a), a, a * a, a**3], -1) @ MATRIX)
    values, all_weights = [], []
    for taps in product(range(4), repeat=len(at)):
        index, outside, weight = [], np.zeros(at[0].shape, bool), np.ones(at[0].shape)
        for axis, tap in enumerate(taps):
            i, beside = wrapped(mode, low[axis] + tap, sizes[axis])
            index.append(i)
            outside |= beside
            weight = weight * weights[axis][..., tap]
        texel = texels[tuple(index[::-1])].astype(np.float64)
        values.append(np.where(outside[..., None], 0, texel))
        all_weights.append(weight[..., None])
    v, w = np.stack(values), np.stack(all_weights)
    if not reduce:
        return (v * w).sum(0)
    least = np.inf if reduce == "min" else -np.inf
    return getattr(np.where(w != 0, v, least), reduce)(axis=0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["1D", "2D", "2DArray", "3D"])
def test_every_dimension_and_address(dev: tg.Device, kind: str, mode: str) -> None:
    rng = np.random.default_rng(3)
    shape = {"1D": (11,), "2D": (9, 13), "2DArray": (3, 9, 13), "3D": (5, 6, 7)}[kind]
    texels = rng.uniform(0, 1, (*shape, 4)).astype(np.float32)
    options: dict[str, Any] = {"1D": {"type": "1d"}, "3D": {"type": "3d"}}.get(kind, {})
    texture = dev.texture(texels, "r32g32b32a32_sfloat", filter="cubic", address=mode, **options)
    place = {"1D": "at.x", "2D": "at.xy", "2DArray": "vec3(at.xy, 2.0)", "3D": "at"}[kind]
    at = coordinates()[: {"1D": 1, "3D": 3}.get(kind, 2)]
    want = cubic(texels[2] if kind == "2DArray" else texels, at, mode)
    np.testing.assert_allclose(run(dev, f"textureLod(t, {place}, 0.0)", texture, kind), want, atol=2e-5)


def test_compressed_texels(dev: tg.Device) -> None:
    image = dev.image((16, 16), "bc7_unorm_block")
    dev.copy(dev.buffer(np.random.default_rng(9).integers(0, 256, 4 * 4 * 16, np.uint8)), image)
    texels = run(dev, "texelFetch(t, ivec2(gl_FragCoord.xy), 0)", (image, dev.sampler(filter="nearest"))).astype(np.float64)
    got = run(dev, "textureLod(t, at.xy, 0.0)", (image, dev.sampler(filter="cubic")))
    np.testing.assert_allclose(got, cubic(texels, coordinates()[:2]), atol=1e-5)


FLAT = ["r8g8b8a8_unorm", "r8g8b8a8_srgb", "r16_unorm", "r8_snorm", "r16g16b16a16_sfloat", "r5g6b5_unorm_pack16"]


@pytest.mark.parametrize("format_", FLAT)
def test_a_colour_is_kept(dev: tg.Device, format_: str) -> None:
    """Weights have the sum 1, to the bit: a flat texture is its colour, which nearest texels are."""
    image = dev.image((16, 16), format_)
    dev.clear(image, (0.25, 0.5, 0.75, 1.0))
    plain = run(dev, "textureLod(t, at.xy, 0.0)", (image, dev.sampler(filter="nearest")))
    assert np.array_equal(run(dev, "textureLod(t, at.xy, 0.0)", (image, dev.sampler(filter="cubic"))), plain)


def test_least_and_greatest_of_what_has_weight(dev: tg.Device) -> None:
    texels = np.random.default_rng(4).uniform(-1, 1, (9, 13, 4)).astype(np.float32)
    for reduce in ("min", "max"):
        texture = dev.texture(texels, "r32g32b32a32_sfloat", filter="cubic", reduction=reduce)
        want = cubic(texels, coordinates()[:2], reduce=reduce).astype(np.float32)
        assert np.array_equal(run(dev, "textureLod(t, at.xy, 0.0)", texture), want)
        square = dev.texture(texels[:8, :8], "r32g32b32a32_sfloat", filter="cubic", reduction=reduce)
        assert np.array_equal(run(dev, "textureLod(t, gl_FragCoord.xy / 8.0, 0.0)", square)[:8, :8], texels[:8, :8])


def test_levels_and_magnification(dev: tg.Device) -> None:
    """Cubic within levels and linear between them; and as one of the two filters alone."""
    rng = np.random.default_rng(5)
    levels = [rng.uniform(0, 1, (16 >> k, 16 >> k, 4)).astype(np.float32) for k in range(3)]
    image = dev.image((16, 16), "r32g32b32a32_sfloat", mip_levels=3)
    for k, level in enumerate(levels):
        image.write(level, level=k)
    at = coordinates()[:2]
    of = [cubic(level, at) for level in levels]
    sampler = dev.sampler(filter="cubic")
    for lod, want in ((0.0, of[0]), (0.25, of[0] * 0.75 + of[1] * 0.25), (1.5, of[1] * 0.5 + of[2] * 0.5), (9.0, of[2])):
        np.testing.assert_allclose(run(dev, f"textureLod(t, at.xy, {lod})", (image, sampler)), want, atol=2e-5)
    mixed = dev.sampler(mag_filter="cubic", min_filter="nearest", mipmap_mode="nearest")
    np.testing.assert_allclose(run(dev, "textureLod(t, at.xy, -1.0)", (image, mixed)), of[0], atol=2e-5)
    nearest = run(dev, "textureLod(t, at.xy, 1.0)", (image, dev.sampler(filter="nearest")))
    assert np.array_equal(run(dev, "textureLod(t, at.xy, 1.0)", (image, mixed)), nearest)
    minified = dev.sampler(mag_filter="linear", min_filter="cubic", mipmap_mode="nearest")
    np.testing.assert_allclose(run(dev, "textureLod(t, at.xy, 1.0)", (image, minified)), of[1], atol=2e-5)


def test_comparison_comes_before_the_filter(dev: tg.Device) -> None:
    depths = np.random.default_rng(6).uniform(0, 1, (8, 8)).astype(np.float32)
    texture = dev.texture(depths, "d32_sfloat", filter="cubic", compare="less")
    got = run(dev, "textureLod(t, vec3(at.xy, 0.5), 0.0)", texture, "2DShadow")[..., :1]
    np.testing.assert_allclose(got, cubic((np.float32(0.5) < depths)[..., None].astype(np.float64), coordinates()[:2]), atol=2e-5)


def test_one_result_on_every_target() -> None:
    rng = np.random.default_rng(7)
    small, volume = rng.integers(0, 256, (9, 13, 4), np.uint8), rng.integers(0, 256, (5, 6, 7, 4), np.uint8)
    results = set()
    for how in [{"lanes": 4}, {"lanes": 8}, {"lanes": 16}, {"jit_target": "baseline"}, {"jit_target": "x86-64-v3"}, {"threads": 3}]:
        try:
            dev = tg.Device(cache_dir="off", **how)  # type: ignore[arg-type]
        except tg.Error:
            continue  # another processor
        bits = b""
        for texels, kind, place in ((small, "2D", "at.xy"), (volume, "3D", "at")):
            options = {"type": "3d"} if kind == "3D" else {"mipmaps": True}
            texture = dev.texture(texels, "r8g8b8a8_unorm", filter="cubic", **options)  # type: ignore[arg-type]
            bits += run(dev, f"texture(t, {place})", texture, kind).tobytes()
        results.add(bits)
    assert len(results) == 1


# -- blits


def blitted(source: np.ndarray[Any, Any], size: tuple[int, int], rect: tuple[float, float, float, float]) -> np.ndarray[Any, Any]:
    """``rect``: x0, y0, x1, y1 of the source; its edges are clamped to."""
    x0, y0, x1, y1 = rect
    u = (np.arange(size[0]) + 0.5) * (x1 - x0) / size[0] + x0
    v = (np.arange(size[1]) + 0.5) * (y1 - y0) / size[1] + y0
    box = source[int(min(y0, y1)) : int(max(y0, y1)), int(min(x0, x1)) : int(max(x0, x1))]
    s, t = (u - min(x0, x1)) / box.shape[1], (v - min(y0, y1)) / box.shape[0]
    t2, s2 = np.meshgrid(t, s, indexing="ij")
    return cubic(box, [s2, t2], "clamp_to_edge", keep=np.asarray)


BLITS = [((0, 0, 13, 9), (40, 31)), ((2, 1, 11, 8), (5, 4)), ((12, 8, 1, 2), (23, 17)), ((0, 0, 1, 1), (4, 4))]


@pytest.mark.parametrize(("rect", "size"), BLITS)
def test_blits(dev: tg.Device, rect: Any, size: tuple[int, int]) -> None:
    texels = np.random.default_rng(8).uniform(0, 1, (9, 13, 4)).astype(np.float32)
    source, target = dev.image((13, 9), "r32g32b32a32_sfloat"), dev.image(size, "r32g32b32a32_sfloat")
    source.write(texels)
    dev.blit(source, target, filter="cubic", source_rect=rect)
    np.testing.assert_allclose(target.numpy(), blitted(texels, size, rect), atol=1e-5)
    dev.blit(source, target, filter="linear", source_rect=rect)
    assert size == (4, 4) or np.abs(target.numpy() - blitted(texels, size, rect)).max() > 0.01


def test_blits_are_cut_to_the_format(dev: tg.Device) -> None:
    edge = np.zeros((4, 4, 4), np.uint8)
    edge[:, 2:] = 255
    source, target = dev.image((4, 4), "r8g8b8a8_unorm"), dev.image((32, 32), "r8g8b8a8_unorm")
    source.write(edge)
    dev.blit(source, target, filter="cubic")
    want = np.clip(blitted(edge / 255.0, (32, 32), (0, 0, 4, 4)), 0, 1) * 255
    assert np.abs(target.numpy() - want).max() <= 0.51 and (target.numpy() == 255).sum() > (want > 254.5).sum() * 0.9


# -- what is refused, and what is counted


def test_what_has_no_cubic_filter_is_named(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match=r"max_anisotropy is 4.*allowed is 1 with a cubic filter"):
        dev.sampler(filter="cubic", max_anisotropy=4)
    with pytest.raises(tg.ValidationError, match="filter is cubic, allowed is nearest or linear where the sampler has a Y'CbCr conversion"):
        conversion = dev.sampler_ycbcr_conversion("g8_b8_r8_3plane_420_unorm", model="ycbcr_709")
        dev.sampler(filter="cubic", ycbcr=conversion)
    with pytest.raises(tg.ValidationError, match="sampler: mipmap_mode is 'cubic'"):
        dev.sampler(mipmap_mode="cubic")
    cube = dev.texture(np.zeros((6, 8, 8, 4), np.uint8), cube=True, filter="cubic")
    with pytest.raises(tg.ValidationError, match=r"its sampler has a cubic filter, and the view of image .* is cube; bind one"):
        run(dev, "texture(t, at)", cube, "Cube")
    assert run(dev, "textureGather(t, at)", cube, "Cube").shape == (SIDE, SIDE, 4)  # a gather filters nothing
    with pytest.raises(tg.ValidationError, match="r8g8b8a8_uint, which can't be filtered, and the sampler's filter is cubic"):
        dev.texture(np.zeros((8, 8, 4), np.uint8), "r8g8b8a8_uint", filter="cubic")
    whole, volume = dev.image((8, 8), "r8_uint"), dev.image((8, 8, 4), "r8_unorm")
    for image in (whole, volume):
        dev.clear(image, (0, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match="filter is cubic, allowed is nearest for r8_uint"):
        dev.blit(whole, dev.image((16, 16), "r8_uint"), filter="cubic")
    with pytest.raises(tg.ValidationError, match="filter is cubic, allowed is nearest or linear where the source is no 2d image"):
        dev.blit(volume, dev.image((16, 16, 4), "r8_unorm"), filter="cubic")
    info = tg.format_info("r8g8b8a8_unorm")
    without = [tg.format_info(name).cubic_filter for name in ("r8_uint", "g8_b8_r8_3plane_420_unorm")]
    assert info.cubic_filter and without == [False, False]


def test_names_of_others_lead_to_it(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="cubic"):
        dev.sampler(filter="bicubic")


@pytest.mark.parametrize(("filter_", "lines"), [("nearest", [1, 1, 1]), ("linear", [1, 1, 1]), ("cubic", [4, 1, 4])])
def test_sixteen_texels_are_counted(filter_: str, lines: list[int]) -> None:
    """Lines of 4x4 texels. From 8.6 on a linear filter reads texels 8 and 9, a cubic one 7 to 10; the next ones 8 to 11, 9 to 12."""
    dev = tg.Device(profile="mali-g57", cache_dir="off")
    texture = dev.texture(np.zeros((64, 64, 4), np.uint8), filter=filter_)
    out = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
    counted = []
    for place in (8.6, 9.6, 10.6):
        body = f"void main() {{ o = textureLod(t, vec2({place}) / 64.0, 0.0); }}"
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(dev.pipeline(FULL, HEAD.format(kind="2D") + body, color=[out]), count=3, bind={"t": texture})
        found = rp._counts().texture_lines
        assert found is not None
        counted.append(found[0].lines)
    assert counted == lines


def test_a_capture_keeps_both(dev: tg.Device, tmp_path: Path) -> None:
    """The filter, that of a blit, and a view's least level of detail."""
    texels = np.random.default_rng(10).uniform(0, 1, (16, 16, 4)).astype(np.float32)
    image, out = dev.image((16, 16), "r32g32b32a32_sfloat", mip_levels=2), dev.image((SIDE, SIDE), "r32g32b32a32_sfloat")
    image.write(texels)
    dev.blit(image, image, filter="cubic", destination_level=1)
    pipe = dev.pipeline(FULL, HEAD.format(kind="2D") + f"void main() {{ {AT} o = textureLod(t, at.xy, 0.0); }}", color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": (image.view(min_lod=0.5), dev.sampler(filter="cubic"))})
    rp.capture(tmp_path / "c")
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
    replay.run()
    assert np.array_equal(replay.pictures[0], out.numpy())
    at, half = coordinates()[:2], image.numpy(1)
    np.testing.assert_allclose(out.numpy(), (cubic(texels, at) + cubic(half, at)) / 2, atol=2e-5)
