"""Least levels of detail: of a shader's operand (textureClampARB) and of a view (VK_EXT_image_view_min_lod), against NumPy written from the
specification ("LOD Operation", "Image Level(s) Selection", "Integer Texel Coordinate Operations", "Texel Gathering")."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIDE, LEVELS = 16, 5
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
HEAD = """#version 450
#extension GL_ARB_sparse_texture_clamp : require
layout(location = 0) out vec4 o;
layout(binding = 0) uniform sampler{kind} t;
layout(push_constant) uniform P {{ vec2 dx, dy; float least, bias; }};
"""
AT = "vec2 at = vec2(0.31, 0.27) + (gl_FragCoord.x - 8.0) * dx + (gl_FragCoord.y - 8.0) * dy;"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def leveled(dev: tg.Device, format_: str = "r32g32b32a32_sfloat", **options: Any) -> tg.Image:
    """Each level has one colour, its number: what is read says at which level of detail."""
    image = dev.image((64, 64), format_, mip_levels=LEVELS, **options)
    for level in range(LEVELS):
        dev.clear(image, (level / 8, level / 8, level / 8, 1), level=level)
    return image


def run(
    dev: tg.Device, body: str, texture: Any, step: float = 0.001, least: float = 0, kind: str = "2D", bias: float = 0, format_: str = "r32g32b32a32_sfloat"
) -> np.ndarray[Any, Any]:
    out = dev.image((SIDE, SIDE), format_)
    pipe = dev.pipeline(FULL, HEAD.format(kind=kind) + f"void main() {{ {AT} o = vec4({body}); }}", color=[out])
    push = {"dx": (step, 0), "dy": (0, step / 2), "least": least, "bias": bias}
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": texture}, push=push)
    return out.numpy()


def level_of(lod: float, least: float = 0, low: float = 0, high: float = 1000, of_view: float = 0, last: int = LEVELS - 1, nearest: bool = False) -> float:
    """The level that is read, from the view's first one on."""
    lod = float(np.clip(lod, max(low, least), high))
    d = max(float(np.clip(lod, 0, last)), of_view)
    return max(np.ceil(d + 0.5) - 1, 0) if nearest else d


SAMPLED = ["textureClampARB(t, at, least)", "textureGradClampARB(t, at, dx, dy, least)", "textureClampARB(t, at, least, bias)",
           "textureOffsetClampARB(t, at, ivec2(1, 2), least)", "textureGradOffsetClampARB(t, at, dx, dy, ivec2(1), least)"]  # fmt: skip


@pytest.mark.parametrize("mipmap", ["nearest", "linear"])
@pytest.mark.parametrize("limits", [{}, {"min_lod": 1.25, "max_lod": 3.25}, {"mip_lod_bias": 0.75}, {"max_anisotropy": 8.0}])
@pytest.mark.parametrize("body", SAMPLED)
def test_a_shaders_least_lod(dev: tg.Device, body: str, limits: dict[str, float], mipmap: str) -> None:
    image, sampler = leveled(dev), dev.sampler(mag_filter="linear", min_filter="linear", mipmap_mode=mipmap, **limits)
    bias = 0.5 if "bias" in body else 0.0
    for step in (0.001, 0.07, 0.3):
        for least in (-1.0, 0.3, 1.7, 2.6, float("nan")):
            rho = step * 64
            if "max_anisotropy" in limits:
                rho /= 2  # the ratio of the derivatives
            lod = np.log2(rho) + bias + limits.get("mip_lod_bias", 0)
            want = level_of(lod, -100 if np.isnan(least) else least, limits.get("min_lod", 0), limits.get("max_lod", 1000), nearest=mipmap == "nearest")
            got = run(dev, body, (image, sampler), step, least, bias=bias)[..., 0] * 8
            np.testing.assert_allclose(got, want, atol=4e-3, err_msg=f"{step} {least}")


@pytest.mark.parametrize(("kind", "place", "depth"), [
    ("2D", "at", False), ("2DArray", "vec3(at, 1)", False), ("Cube", "vec3(at, 1)", False), ("3D", "vec3(at, 0.5)", False), ("2DShadow", "vec3(at, 0.3)", True),
    ("1D", "at.x", False),
])  # fmt: skip
def test_every_kind_of_texture(dev: tg.Device, kind: str, place: str, depth: bool) -> None:
    options: dict[str, Any] = {"2DArray": {"layers": 2}, "Cube": {"cube": True}}.get(kind, {})
    size: tuple[int, ...] = {"3D": (16, 16, 16), "1D": (16,)}.get(kind, (16, 16))
    image = dev.image(size, "d32_sfloat" if depth else "r32_sfloat", mip_levels=3, **options)
    for level in range(3):
        if depth:
            dev.clear(image, depth=level / 4, level=level)
        else:
            for layer in range(max(1, image.layers)):
                dev.clear(image, (level / 4, 0, 0, 0), level=level, layer=layer)
    sampler = dev.sampler(compare="greater") if depth else dev.sampler()
    for least, want in ((0.0, 0.0), (1.0, 0.25), (1.5, 0.375), (7.0, 0.5)):
        got = run(dev, f"textureClampARB(t, {place}, least)", (image, sampler), 0.0001, least, kind)[..., 0]
        if depth:  # 0.3 is greater than levels 0 and 1
            want = {0.0: 1.0, 1.0: 1.0, 1.5: 0.5, 7.0: 0.0}[least]
        np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("mipmap", ["nearest", "linear"])
@pytest.mark.parametrize("base", [0, 2])
def test_a_views_least_lod(dev: tg.Device, mipmap: str, base: int) -> None:
    """It counts from the image's first level, and comes behind all other limits."""
    image = leveled(dev)
    for limits in ({}, {"max_lod": 0.0}, {"max_lod": 0.4}, {"min_lod": 0.8}):
        sampler = dev.sampler(mag_filter="linear", min_filter="linear", mipmap_mode=mipmap, **limits)
        for least in (0.0, 0.3, 1.0, 2.6, 4.0):
            view, of_view = image.view(level=base, min_lod=least), max(least - base, 0)
            for body, lod in [("texture(t, at)", np.log2(0.07 * 64 / 2**base)), ("textureLod(t, at, 1.25)", 1.25), ("textureLod(t, at, -3.0)", -3.0),
                              ("textureGrad(t, at, dx, dy)", np.log2(0.07 * 64 / 2**base)), ("textureClampARB(t, at, 1.5)", None)]:  # fmt: skip
                if lod is None:
                    level = level_of(np.log2(0.07 * 64 / 2**base), 1.5, limits.get("min_lod", 0), limits.get("max_lod", 1000), of_view, LEVELS - 1 - base, mipmap == "nearest")
                    if limits.get("max_lod", 9) < 1.5:
                        continue  # undefined
                else:
                    level = level_of(lod, -100, limits.get("min_lod", 0), limits.get("max_lod", 1000), of_view, LEVELS - 1 - base, mipmap == "nearest")
                got = run(dev, body, (view, sampler), 0.07)[..., 0] * 8
                np.testing.assert_allclose(got, level + base, atol=4e-3, err_msg=f"{body} {least} {limits}")


@pytest.mark.parametrize("base", [0, 1])
def test_fetches_and_gathers_before_it_are_zeros(dev: tg.Device, base: int) -> None:
    image, sampler = leveled(dev), dev.sampler()
    for least in (0.0, 0.9, 1.0, 2.6, 4.0):
        view = image.view(level=base, min_lod=least)
        for level in range(LEVELS - base):
            there = level + base >= int(least)
            got = run(dev, f"texelFetch(t, ivec2(0), {level})", (view, sampler))
            assert (got[..., 0] * 8 == (level + base if there else 0)).all() and (got[..., 3] == there).all(), (least, level)
        got = run(dev, "textureGather(t, at, 3)", (view, sampler))
        assert (got == (base >= int(least))).all(), least
    query = run(dev, "textureQueryLod(t, at), textureQueryLevels(t), textureSize(t, 0).x", (image.view(min_lod=2.6), sampler), 0.0625)
    np.testing.assert_allclose(query, np.broadcast_to([2.6, 2.0, LEVELS, 64], query.shape), atol=2e-3)


def test_a_storage_image_has_none(dev: tg.Device) -> None:
    """Of sampled images alone: a storage image is the view's first level, whatever the view says."""
    image = dev.image((8, 8), "r32_uint", mip_levels=2)
    dev.clear(image, (5, 0, 0, 0))
    dev.clear(image, (7, 0, 0, 0), level=1)
    view, out = image.view(min_lod=1.0), dev.buffer(np.zeros(3, np.uint32))
    kernel = dev.compute_pipeline("""#version 450
layout(local_size_x = 1) in;
layout(binding = 0, r32ui) uniform uimage2D i; layout(binding = 1) uniform usampler2D t; layout(binding = 2) buffer B { uint b[3]; };
void main() { b[0] = imageLoad(i, ivec2(1)).x; b[1] = texelFetch(t, ivec2(1), 0).x; b[2] = texelFetch(t, ivec2(1), 1).x; }""")
    dev.dispatch(kernel, groups=(1, 1, 1), bind={"i": view, "t": (view, dev.sampler(filter="nearest")), "B": out})
    assert out.numpy().tolist() == [5, 0, 7]


def test_undefined_levels_before_it_are_not_read() -> None:
    strict = tg.Device(cache_dir="off", strict=True)
    other = strict.image((16, 16), "r8g8b8a8_unorm", mip_levels=3)
    for level in (1, 2):
        strict.clear(other, (1, 1, 1, 1), level=level)
    view = other.view(min_lod=1.0)
    assert (run(strict, "texture(t, at) + texelFetch(t, ivec2(0), 1)", (view, strict.sampler())) == 2).all()
    with pytest.raises(tg.Error, match="undefined"):
        run(strict, "texture(t, at)", (other.view(min_lod=0.5), strict.sampler()))


def test_wrong_ones_are_named(dev: tg.Device) -> None:
    image = leveled(dev)
    for wrong, message in [
        ({"min_lod": 4.5}, "min_lod is 4.5, allowed is at most 4, the view's last level in its image"), ({"min_lod": float("nan")}, "min_lod is nan"),
        ({"min_lod": 2.5, "levels": 2}, "min_lod is 2.5, allowed is at most 1"), ({"min_lod": "low"}, "min_lod is 'low'; it must be a number"),
    ]:  # fmt: skip
        with pytest.raises(tg.ValidationError, match=message):
            image.view(**wrong)
    assert image.view(min_lod=1.5, level=1).min_lod == 0.5 and image.view(min_lod=-3.0).min_lod == 0


def test_a_vertex_shader_takes_it_with_gradients_alone(dev: tg.Device) -> None:
    image = leveled(dev)
    body = "textureGradClampARB(t, vec2(0.5), vec2(0.001), vec2(0.001), 2.0)"
    head = """#version 450
#extension GL_ARB_sparse_texture_clamp : require
layout(location = 0) out vec4 v; layout(binding = 0) uniform sampler2D t;"""
    vert = FULL.replace("#version 450", head).replace("{ gl_Pos", f"{{ v = {body}; gl_Pos")
    frag = "#version 450\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 o; void main() { o = v; }"
    out = dev.image((SIDE, SIDE), "r32g32b32a32_sfloat")
    pipe = dev.pipeline(vert, frag, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": (image, dev.sampler())})
    np.testing.assert_allclose(out.numpy()[..., 0], 0.25, atol=1e-6)


def test_one_result_on_every_target() -> None:
    rng = np.random.default_rng(7)
    texels = rng.integers(0, 256, (64, 64, 4), np.uint8)
    results = set()
    for options in [{"lanes": 4}, {"lanes": 8}, {"lanes": 16}, {"jit_target": "baseline"}, {"jit_target": "x86-64-v3"}, {"hsr": "all"}]:
        try:
            dev = tg.Device(cache_dir="off", **options)  # type: ignore[arg-type]
        except tg.Error:
            continue  # another processor
        image = dev.texture(texels, mipmaps=True).image
        sampler = dev.sampler()
        bits = b""
        for view in (image.view(), image.view(min_lod=1.3)):
            for body in ("textureClampARB(t, at, gl_FragCoord.x * 0.2 + least)", "texture(t, at)", "textureLod(t, at, gl_FragCoord.y * 0.2)"):
                bits += run(dev, body, (view, sampler), 0.05, 0.1).tobytes()
        results.add(bits)
    assert len(results) == 1


def test_what_is_counted_is_what_is_read() -> None:
    dev = tg.Device(profile="mali-g57", cache_dir="off")
    image = dev.texture(np.zeros((64, 64, 4), np.uint8), mipmaps=True).image
    head = "\n".join(line for line in HEAD.format(kind="2D").splitlines() if "push_constant" not in line) + "\n"
    found = []
    for view, body in [(image.view(), "textureLod(t, vec2(0.3), 0.0)"), (image.view(min_lod=1.5), "textureLod(t, vec2(0.3), 0.0)"),
                       (image.view(), "textureClampARB(t, gl_FragCoord.xy / 64.0, 2.0)"), (image.view(min_lod=1.0), "texelFetch(t, ivec2(3), 0)")]:  # fmt: skip
        out = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
        pipe = dev.pipeline(FULL, head + f"void main() {{ o = {body}; }}", color=[out])
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, bind={"t": (view, dev.sampler(filter="nearest", mipmap_mode="linear"))})
        lines = rp._counts().texture_lines
        found.append(sum(one.lines for one in lines) if lines else 0)
    assert found == [1, 2, 1, 0]  # level 0; levels 1 and 2; 4x4 texels of level 2; none
