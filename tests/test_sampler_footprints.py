"""What a sampler makes of a pixel's footprint: anisotropic filtering, least and greatest in place of the average, custom border colours, and
queries of the level of detail, against NumPy written from the specification."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIDE = 16
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\nlayout(push_constant) uniform P { vec4 dx, dy; };\n"
AT = "vec2 at = vec2(0.31, 0.27) + (gl_FragCoord.x - 8.0) * dx.xy + (gl_FragCoord.y - 8.0) * dy.xy;"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def run(dev: tg.Device, frag: str, bind: Any, dx: Any = (0, 0, 0, 0), dy: Any = (0, 0, 0, 0)) -> np.ndarray:
    out = dev.image((SIDE, SIDE), "r32g32b32a32_sfloat")
    pipe = dev.pipeline(FULL, HEAD + frag, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind=bind, push={"dx": (*dx, 0, 0)[:4], "dy": (*dy, 0, 0)[:4]})
    return out.numpy()


def chain(base: np.ndarray) -> list[np.ndarray]:
    """Levels that are no averages of each other, so that a wrong one is seen."""
    rng = np.random.default_rng(3)
    levels = [base]
    while max(levels[-1].shape[:2]) > 1:
        h, w = (max(1, n // 2) for n in levels[-1].shape[:2])
        levels.append(rng.uniform(0, 1, (h, w, base.shape[2])).astype(np.float32))
    return levels


def bilinear(level: np.ndarray, s: np.ndarray, t: np.ndarray, reduce: str = "average") -> np.ndarray:
    h, w = level.shape[:2]
    u, v = s * w - 0.5, t * h - 0.5
    x, y = np.floor(u), np.floor(v)
    a, b = (u - x)[..., None], (v - y)[..., None]
    at = lambda i, j: level[(y + j).astype(int) % h, (x + i).astype(int) % w]  # noqa: E731
    if reduce == "average":
        return (at(0, 0) * (1 - a) + at(1, 0) * a) * (1 - b) + (at(0, 1) * (1 - a) + at(1, 1) * a) * b
    least = np.minimum if reduce == "min" else np.maximum
    top = np.where(a > 0, least(at(0, 0), at(1, 0)), at(0, 0))
    bottom = np.where(a > 0, least(at(0, 1), at(1, 1)), at(0, 1))
    return np.where(b > 0, least(top, bottom), top)


def nearest_of_levels(levels: list[np.ndarray], s: np.ndarray, t: np.ndarray, lod: float, mips: str) -> np.ndarray:
    """The texel that holds the place, of the nearest level, or of two."""

    def texel(level: np.ndarray) -> np.ndarray:
        h, w = level.shape[:2]
        return np.asarray(level[np.floor(t * h).astype(int) % h, np.floor(s * w).astype(int) % w])

    d = float(np.clip(lod, 0, len(levels) - 1))
    if mips == "nearest":
        return texel(levels[max(0, int(np.ceil(d + 0.5)) - 1)])
    low = int(d)
    first, second = texel(levels[low]), texel(levels[min(low + 1, len(levels) - 1)])
    return np.asarray(first + (second - first) * (d - low))


def trilinear(levels: list[np.ndarray], s: np.ndarray, t: np.ndarray, lod: float, reduce: str = "average") -> np.ndarray:
    d = float(np.clip(lod, 0, len(levels) - 1))
    low = int(d)
    first, second = bilinear(levels[low], s, t, reduce), bilinear(levels[min(low + 1, len(levels) - 1)], s, t, reduce)
    if reduce == "average":
        return first + (second - first) * (d - low)
    return (np.minimum if reduce == "min" else np.maximum)(first, second) if d > low else first


def anisotropic(
    levels: list[np.ndarray], s: np.ndarray, t: np.ndarray, dx: Any, dy: Any, most: float, reduce: str = "average", sample: Any = None
) -> np.ndarray:
    """Vulkan's reference: N samples, N the ratio of the derivatives rounded up, at the level of the longer one divided by the ratio."""
    h, w = levels[0].shape[:2]
    lengths = [np.hypot(d[0] * w, d[1] * h) for d in (dx, dy)]
    longer = dx if lengths[0] > lengths[1] else dy
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.float64(max(lengths)) / min(lengths)
    ratio = 1.0 if np.isnan(ratio) else float(np.clip(ratio, 1, most))
    n = int(np.ceil(ratio))
    lod = np.log2(max(lengths) / ratio) if max(lengths) > 0 else -100
    samples = []
    for i in range(1, n + 1):
        f = i / (n + 1) - 0.5
        at = (levels, s + longer[0] * f, t + longer[1] * f, lod)
        samples.append(sample(*at) if sample else trilinear(*at, reduce))
    return {"average": np.mean, "min": np.min, "max": np.max}[reduce](samples, axis=0)


# No ratio is near a whole number: rounded up, float32 would decide.
FOOTPRINTS = [
    ((0.11, 0.02), (0.005, 0.013)), ((0.0097, 0.0), (0.0, 0.29)), ((0.4, 0.1), (0.1, 0.03)), ((0.021, 0.0), (0.0, 0.023)), ((0.5, 0.0), (0.0, 0.0)),
    ((0.0, 0.0), (0.0, 0.0)), ((0.0011, 0.0), (0.0, 0.0013)), ((0.03, 0.04), (-0.3, 0.41)),
]  # fmt: skip


@pytest.mark.parametrize("most", [1, 2, 5.5, 16])
@pytest.mark.parametrize("kind", ["textureGrad(t, at, dx.xy, dy.xy)", "texture(t, at)", "texture(t, at, 0.0)"])
def test_anisotropy_is_the_references(dev: tg.Device, most: float, kind: str) -> None:
    levels = chain(np.random.default_rng(1).uniform(0, 1, (32, 64, 4)).astype(np.float32))
    texture = dev.texture(levels[0], "r32g32b32a32_sfloat", mipmaps=levels[1:], max_anisotropy=most)
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    for dx, dy in FOOTPRINTS:
        got = run(dev, f"layout(binding = 0) uniform sampler2D t; void main() {{ {AT} o = {kind}; }}", {"t": texture}, dx, dy)
        s, t = 0.31 + (x - 8) * dx[0] + (y - 8) * dy[0], 0.27 + (x - 8) * dx[1] + (y - 8) * dy[1]
        want = anisotropic(levels, s, t, dx, dy, most)
        # Coordinates are float32, and derivatives their differences.
        np.testing.assert_allclose(got, want, atol=4e-3, err_msg=f"{dx} {dy}")


@pytest.mark.parametrize("mips", ["nearest", "linear"])
@pytest.mark.parametrize("mag", ["nearest", "linear"])
def test_anisotropy_of_nearest_texels(dev: tg.Device, mag: str, mips: str) -> None:
    """Vulkan takes N samples whatever the filter within a level; how many texels of a pixel differ shows that there were several."""
    levels = chain(np.random.default_rng(4).uniform(0, 1, (32, 64, 4)).astype(np.float32))
    filters = {"min_filter": "nearest", "mag_filter": mag, "mipmap_mode": mips}
    texture = dev.texture(levels[0], "r32g32b32a32_sfloat", mipmaps=levels[1:], max_anisotropy=8, **filters)
    plain = dev.texture(levels[0], "r32g32b32a32_sfloat", mipmaps=levels[1:], **filters)
    frag = f"layout(binding = 0) uniform sampler2D t; void main() {{ {AT} o = textureGrad(t, at, dx.xy, dy.xy); }}"
    for dx, dy in [((0.31, 0.061), (0.015, 0.0433)), ((0.4, 0.1), (0.1, 0.03)), ((0.031, 0.043), (-0.31, 0.41))]:
        got, one = (run(dev, frag, {"t": of}, dx, dy) for of in (texture, plain))
        y, x = np.mgrid[:SIDE, :SIDE] + 0.5
        s, t = 0.31 + (x - 8) * dx[0] + (y - 8) * dy[0], 0.27 + (x - 8) * dx[1] + (y - 8) * dy[1]
        want = anisotropic(levels, s, t, dx, dy, 8, sample=lambda *at: nearest_of_levels(*at, mips))
        # A place at a texel's edge may fall to either side of it.
        assert (np.abs(got - want).max(axis=-1) < 1e-3).mean() > 0.9, (dx, dy)
        assert (got != one).any(axis=-1).mean() > 0.5


@pytest.mark.parametrize("format_", ["r8g8b8a8_unorm", "r8g8b8a8_srgb", "r16_unorm", "r8_snorm", "r16g16b16a16_sfloat"])
def test_formats_keep_a_flat_colour(dev: tg.Device, format_: str) -> None:
    pixels = np.full((16, 16, tg.format_info(format_).component_count), 0.25, np.float32)
    frag = f"layout(binding = 0) uniform sampler2D t; void main() {{ {AT} o = texture(t, at); }}"
    plain = run(dev, frag, {"t": dev.texture(pixels, format_, mipmaps=True)}, (0.2, 0.05), (0.0, 0.02))
    many = run(dev, frag, {"t": dev.texture(pixels, format_, mipmaps=True, max_anisotropy=16)}, (0.2, 0.05), (0.0, 0.02))
    np.testing.assert_allclose(many, plain, atol=1e-6)


def test_arrays_cubes_lines_and_comparison_are_anisotropic_too(dev: tg.Device) -> None:
    """Each against the same texels as a plain 2D texture, or against a flat one."""
    rng = np.random.default_rng(2)
    pixels = rng.uniform(0, 1, (4, 16, 16, 4)).astype(np.float32)
    layered = dev.texture(pixels, "r32g32b32a32_sfloat", mipmaps=True, max_anisotropy=8)
    dx, dy = (0.21, 0.05), (0.01, 0.02)
    frag = f"layout(binding = 0) uniform sampler2DArray t; void main() {{ {AT} o = texture(t, vec3(at, 2.0)); }}"
    plain = dev.texture(pixels[2], "r32g32b32a32_sfloat", mipmaps=True, max_anisotropy=8)
    one = f"layout(binding = 0) uniform sampler2D t; void main() {{ {AT} o = texture(t, at); }}"
    np.testing.assert_array_equal(run(dev, frag, {"t": layered}, dx, dy), run(dev, one, {"t": plain}, dx, dy))
    cube = dev.texture(np.full((6, 8, 8, 4), 0.5, np.float32), "r32g32b32a32_sfloat", cube=True, mipmaps=True, max_anisotropy=16)
    frag = f"layout(binding = 0) uniform samplerCube t; void main() {{ {AT} o = texture(t, vec3(1, at * 4.0)); }}"
    np.testing.assert_allclose(run(dev, frag, {"t": cube}, dx, dy), 0.5, atol=1e-6)
    line = dev.texture(np.full((16, 4), 0.5, np.float32), "r32g32b32a32_sfloat", type="1d", max_anisotropy=16)
    frag = f"layout(binding = 0) uniform sampler1D t; void main() {{ {AT} o = texture(t, at.x); }}"
    np.testing.assert_allclose(run(dev, frag, {"t": line}, dx, dy), 0.5, atol=1e-6)
    shadow = dev.texture(np.full((16, 16), 0.5, np.float32), "d32_sfloat", compare="less", max_anisotropy=16)
    frag = f"layout(binding = 0) uniform sampler2DShadow t; void main() {{ {AT} o = vec4(texture(t, vec3(at, 0.4)), texture(t, vec3(at, 0.6)), 0, 0); }}"
    assert (run(dev, frag, {"t": shadow}, dx, dy) == (1, 0, 0, 0)).all()


@pytest.mark.parametrize("reduce", ["min", "max"])
@pytest.mark.parametrize("most", [1, 8])
def test_least_and_greatest(dev: tg.Device, reduce: str, most: float) -> None:
    levels = chain(np.random.default_rng(4).uniform(-1, 1, (16, 16, 4)).astype(np.float32))
    texture = dev.texture(levels[0], "r32g32b32a32_sfloat", mipmaps=levels[1:], reduction=reduce, max_anisotropy=most)
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    dx, dy = (0.137, 0.031), (0.011, 0.043)
    got = run(dev, f"layout(binding = 0) uniform sampler2D t; void main() {{ {AT} o = textureGrad(t, at, dx.xy, dy.xy); }}", {"t": texture}, dx, dy)
    s, t = 0.31 + (x - 8) * dx[0] + (y - 8) * dy[0], 0.27 + (x - 8) * dx[1] + (y - 8) * dy[1]
    want = anisotropic(levels, s, t, dx, dy, most, reduce)
    assert (np.abs(got - want) > 1e-6).any(-1).mean() < 0.03  # where float32 falls on the other side of a texel's middle


def test_a_texel_without_weight_does_not_count(dev: tg.Device) -> None:
    """In the middles of texels, and at whole levels, the footprint is one texel."""
    pixels = np.arange(64, dtype=np.float32).reshape(8, 8, 1)
    for reduce in ("min", "max"):
        texture = dev.texture(pixels, "r32_sfloat", reduction=reduce)
        frag = "layout(binding = 0) uniform sampler2D t; void main() { o = textureLod(t, (floor(gl_FragCoord.xy / 2.0) + 0.5) / 8.0, 0.0); }"
        np.testing.assert_array_equal(run(dev, frag, {"t": texture})[::2, ::2, 0], pixels[..., 0])


def test_border_colours_of_ones_own(dev: tg.Device) -> None:
    frag = "layout(binding = 0) uniform sampler2D t; void main() { o = textureLod(t, vec2(-0.5), 0.0); }"
    for format_, border, want in [
        ("r32g32b32a32_sfloat", (0.25, -3.0, 100.5, 0.0), (0.25, -3, 100.5, 0)), ("r8g8b8a8_unorm", (0.25, -3.0, 7.0, 0.5), (0.25, 0, 1, 0.5)),
        ("r8g8b8a8_snorm", (0.25, -3.0, 7.0, 0.5), (0.25, -1, 1, 0.5)), ("r16_sfloat", (0.5, 9.0, 9.0, 9.0), (0.5, 0, 0, 1)),
    ]:  # fmt: skip
        pixels = np.zeros((4, 4, tg.format_info(format_).component_count), np.float32)
        texture = dev.texture(pixels, format_, filter="nearest", address="clamp_to_border", border_color=border)
        np.testing.assert_allclose(run(dev, frag, {"t": texture}), np.broadcast_to(want, (SIDE, SIDE, 4)), atol=1e-6)
    view = dev.texture(np.zeros((4, 4, 4), np.float32), "r32g32b32a32_sfloat").image.view(swizzle="b1rg")  # VK_EXT_border_color_swizzle
    sampler = dev.sampler(filter="nearest", address="clamp_to_border", border_color=(0.25, -3.0, 100.5, 0.5))
    assert (run(dev, frag, {"t": (view, sampler)}) == (100.5, 1, 0.25, -3)).all()
    whole = dev.texture(np.zeros((4, 4, 4), np.int32), "r32g32b32a32_sint", filter="nearest", address="clamp_to_border", border_color=(-7, 1 << 30, 3, 0))
    frag = "layout(binding = 0) uniform isampler2D t; void main() { o = intBitsToFloat(textureLod(t, vec2(1.5), 0.0) & 0x3fffffff); }"
    got = run(dev, frag, {"t": whole}).view(np.int32)
    assert (got == [-7 & 0x3FFFFFFF, 0, 3, 0]).all()
    two = [dev.texture(np.zeros((4, 4, 1), np.float32), "r32_sfloat", address="clamp_to_border", border_color=(v, 0.0, 0.0, 0.0)) for v in (2.0, 3.0)]
    frag = "layout(binding = 0) uniform sampler2D a; layout(binding = 1) uniform sampler2D b; void main() { o = vec4(texture(a, vec2(9)).x, texture(b, vec2(9)).x, 0, 0); }"
    assert (run(dev, frag, {"a": two[0], "b": two[1]}) == (2, 3, 0, 0)).all()


def test_wrong_parameters_are_named(dev: tg.Device) -> None:
    for wrong, message in [
        ({"max_anisotropy": 0.5}, "max_anisotropy"), ({"max_anisotropy": 17}, "1 to 16"), ({"max_anisotropy": float("nan")}, "max_anisotropy"),
        ({"border_color": (1, 2, 3)}, "four numbers"), ({"border_color": (1 << 40, 0, 0, 0)}, "32 bits"), ({"reduction": "mean"}, "reduction"),
        ({"reduction": "min", "compare": "less"}, "comparison"),
    ]:  # fmt: skip
        with pytest.raises(tg.ValidationError, match=message):
            dev.sampler(**wrong)


# -- queries


def test_the_level_of_detail_is_asked_for(dev: tg.Device) -> None:
    pixels = np.zeros((4, 32, 64, 4), np.float32)
    textures = {
        "sampler2D": (dev.texture(pixels[0], mipmaps=True), "at"),
        "sampler2DArray": (dev.texture(pixels, mipmaps=True), "at"),
        "sampler1D": (dev.texture(np.zeros((64, 4), np.float32), type="1d"), "at.x"),
        "samplerCube": (dev.texture(np.zeros((6, 64, 64, 4), np.float32), cube=True, mipmaps=True), "vec3(at.x, 1, at.y)"),
    }
    dx, dy = (0.04, 0.03), (0.01, 0.11)
    for kind, (texture, at) in textures.items():
        frag = f"layout(binding = 0) uniform {kind} t; void main() {{ {AT} o.xy = textureQueryLod(t, {at}); o.zw = vec2(textureQueryLevels(t)); }}"
        got = run(dev, frag, {"t": texture}, dx, dy)
        levels = texture.image.mip_levels
        if kind == "samplerCube":
            assert np.isfinite(got).all() and (got[..., 2] == levels).all() and (got[..., 0] <= levels - 1).all()
            continue
        size = np.array([64, 0 if kind == "sampler1D" else 32])
        rho = max(np.hypot(*(np.array(d) * size)) for d in (dx, dy))
        np.testing.assert_allclose(got[..., 1], np.log2(rho), atol=2e-3)
        np.testing.assert_allclose(got[..., 0], np.clip(np.log2(rho), 0, levels - 1), atol=2e-3)
        assert (got[..., 2] == levels).all()


@pytest.mark.parametrize("mipmap", ["nearest", "linear"])
@pytest.mark.parametrize("limits", [{}, {"min_lod": 1.25, "max_lod": 2.25}, {"mip_lod_bias": 1.75}, {"mip_lod_bias": -9.5, "min_lod": 0.75}])
def test_what_limits_the_level_does_not_limit_the_lod(dev: tg.Device, mipmap: str, limits: dict[str, float]) -> None:
    """x: the level that is read, after the sampler's limits and the view's levels; y: lambda' before them. Of a view from level 2 on, too."""
    whole = dev.texture(np.zeros((64, 64, 4), np.float32), mipmaps=True).image
    low, high, bias = limits.get("min_lod", 0), limits.get("max_lod", 1000), limits.get("mip_lod_bias", 0)
    frag = f"layout(binding = 0) uniform sampler2D t; void main() {{ {AT} o = textureQueryLod(t, at).xyxy; }}"
    for base, side in ((0, 64), (2, 16)):
        view = whole.view(level=base, levels=whole.mip_levels - base)
        sampler = dev.sampler(mag_filter="linear", min_filter="linear", mipmap_mode=mipmap, **limits)
        for step in (0.0005, 0.02, 0.04, 0.1, 0.3, 5.0):
            got = run(dev, frag, {"t": (view, sampler)}, (step, 0.0), (0.0, step / 3))
            lod = np.log2(step * side) + bias
            level = np.clip(np.clip(lod, low, high), 0, whole.mip_levels - base - 1)
            if mipmap == "nearest":
                level = max(np.ceil(level + 0.5) - 1, 0)
            np.testing.assert_allclose(got, np.broadcast_to([level, lod, level, lod], got.shape), atol=2e-3)


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_queries_of_textures_by_lane(lanes: int) -> None:
    dev = tg.Device(cache_dir="off", lanes=lanes)
    textures = [dev.texture(np.zeros((size, size, 4), np.float32), mipmaps=True) for size in (8, 16, 64)]
    frag = f"""#extension GL_EXT_nonuniform_qualifier : require
layout(binding = 0) uniform sampler2D t[3];
void main() {{ {AT} int k = int(gl_FragCoord.y) / 2 % 3; o = vec4(textureQueryLod(t[nonuniformEXT(k)], at).y, textureQueryLevels(t[nonuniformEXT(k)]),
  textureSize(t[nonuniformEXT(k)], 1)); }}"""
    got = run(dev, frag, {"t": textures}, (0.125, 0.0), (0.0, 0.0625))
    for y in range(SIDE):
        size = (8, 16, 64)[y // 2 % 3]
        np.testing.assert_allclose(got[y], np.broadcast_to([np.log2(size / 8), size.bit_length(), size // 2, size // 2], (SIDE, 4)), atol=1e-4)


def test_anisotropy_has_the_same_bits_everywhere() -> None:
    """Quads, whole blocks and groups of pixels: one result, though the sampler takes the quad's coordinates."""
    rng = np.random.default_rng(6)
    pixels = rng.integers(0, 256, (64, 64, 4), np.uint8)
    vertices = np.zeros(900, [("position", "f4", 3), ("uv", "f4", 2)])
    centres = np.repeat(rng.uniform(-1, 1, (300, 2)), 3, 0)
    vertices["position"][:, :2] = centres + rng.uniform(-0.25, 0.25, (900, 2))
    vertices["position"][:, 2] = np.repeat(rng.uniform(0, 1, 300), 3)
    vertices["uv"] = rng.uniform(0, 2, (900, 2))
    vert = "#version 450\nlayout(location = 0) in vec3 position; layout(location = 1) in vec2 uv; layout(location = 0) out vec2 v; void main() { gl_Position = vec4(position, 1); v = uv; }"
    frag = "#version 450\nlayout(location = 0) in vec2 v; layout(binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o; void main() { o = texture(t, v); }"
    results = set()
    for options in [{"lanes": 4}, {"lanes": 8}, {"lanes": 16}, {"lanes": 16, "hsr": "off"}, {"lanes": 16, "hsr": "all"}, {"lanes": 16, "threads": 2}]:
        dev = tg.Device(cache_dir="off", **options)
        out, depth = dev.image((96, 96), "r8g8b8a8_unorm"), dev.image((96, 96), "d32_sfloat")
        texture = dev.texture(pixels, mipmaps=True, max_anisotropy=16)
        pipe = dev.pipeline(vert, frag, color=[out], depth=depth, depth_test=True, depth_write=True, vertex=vertices.dtype)
        for _ in range(3):  # code over groups of pixels comes when it was wanted
            with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0)) as rp:
                rp.draw(pipe, vertices, bind={"t": texture})
            results.add(out.numpy().tobytes())
    assert len(results) == 1
