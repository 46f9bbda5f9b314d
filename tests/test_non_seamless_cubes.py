"""Cubes whose faces are images by themselves (VK_EXT_non_seamless_cube_map), against NumPy written from the specification: "Cube Map Face
Selection", then the address modes of a 2D image. And that by default a filter goes over the edge whatever the address mode is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracle.sampling import kept

import tilegpu as tg

SIDE, FACE = 24, 4
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
#: One face after the other, four columns of pixels each, and a little over its edges, which is the next face's.
FRAG = """#version 450
layout(location = 0) out vec4 o;
layout(binding = 0) uniform samplerCube t;
void main() {
  vec2 p = vec2(mod(gl_FragCoord.x, 4.0) * 0.4999 - 0.99, gl_FragCoord.y / 12.0 - 1.0);
  vec3 d[6] = vec3[](vec3(1, -p.y, -p.x), vec3(-1, -p.y, p.x), vec3(p.x, 1, p.y), vec3(p.x, -1, -p.y), vec3(p.x, -p.y, 1),
                     vec3(-p.x, -p.y, -1));
  o = textureLod(t, d[int(gl_FragCoord.x) / 4], 0.0);
}"""
MODES = ["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border", "mirror_clamp_to_edge"]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


@pytest.fixture(scope="module")
def texels() -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).random((6, FACE, FACE, 4)).astype(np.float32)


def drawn(dev: tg.Device, texels: np.ndarray[Any, Any], sampler: tg.Sampler) -> np.ndarray[Any, Any]:
    texture = dev.texture(texels, "r32g32b32a32_sfloat", cube=True)
    out = dev.image((SIDE, SIDE), "r32g32b32a32_sfloat")
    pipe = dev.pipeline(FULL, FRAG, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": (texture.image, sampler)})
    return out.numpy()


def wrapped(mode: str, i: int) -> int | None:
    """The texel, or ``None``: the border."""
    if mode == "repeat":
        return i % FACE
    if mode == "mirrored_repeat":
        return min(i % (2 * FACE), 2 * FACE - 1 - i % (2 * FACE))
    if mode == "clamp_to_border" and not 0 <= i < FACE:
        return None
    if mode == "mirror_clamp_to_edge" and i < 0:
        i = -1 - i
    return int(np.clip(i, 0, FACE - 1))


def expected(texels: np.ndarray[Any, Any], mode: str, linear: bool) -> np.ndarray[Any, Any]:
    out = np.zeros((SIDE, SIDE, 4))
    for y, x in np.ndindex(SIDE, SIDE):
        face = x // 4
        s, t = ((x + 0.5) % 4 * 0.4999 - 0.99 + 1) / 2, (y + 0.5) / 24
        u, v = s * FACE - linear / 2, t * FACE - linear / 2
        if linear:
            u, v = float(kept(u)), float(kept(v))
        i, j = int(np.floor(u)), int(np.floor(v))
        for dx, dy in np.ndindex(2, 2) if linear else [(0, 0)]:
            weight = (u - i if dx else 1 - u + i) * (v - j if dy else 1 - v + j) if linear else 1
            at = wrapped(mode, i + dx), wrapped(mode, j + dy)
            if at[0] is not None and at[1] is not None:
                out[y, x] += weight * texels[face, at[1], at[0]]
    return out


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("filter_", ["linear", "nearest"])
def test_faces_are_images_by_themselves(dev: tg.Device, texels: np.ndarray[Any, Any], mode: str, filter_: str) -> None:
    sampler = dev.sampler(filter=filter_, address=mode, non_seamless_cube_map=True)
    got = drawn(dev, texels, sampler)
    np.testing.assert_allclose(got, expected(texels, mode, filter_ == "linear"), atol=2e-4)
    for lanes in (4, 8, 16):
        other = tg.Device(cache_dir="off", threads=1, lanes=lanes)
        assert np.array_equal(drawn(other, texels, other.sampler(filter=filter_, address=mode, non_seamless_cube_map=True)), got), lanes


def test_by_default_a_filter_goes_over_the_edge(dev: tg.Device, texels: np.ndarray[Any, Any]) -> None:
    seams = drawn(dev, texels, dev.sampler(address="clamp_to_edge", non_seamless_cube_map=True))
    plain = [drawn(dev, texels, dev.sampler(address=mode)) for mode in MODES]
    assert all(np.array_equal(picture, plain[0]) for picture in plain)
    inside = np.s_[6:18, 1::4]  # half a texel and more from every edge
    assert np.array_equal(plain[0][inside], seams[inside]) and not np.array_equal(plain[0], seams)


def test_other_views_have_no_seams(dev: tg.Device, texels: np.ndarray[Any, Any]) -> None:
    pictures = []
    for seams in (False, True):
        texture = dev.texture(texels[0], "r32g32b32a32_sfloat")
        out = dev.image((SIDE, SIDE), "r32g32b32a32_sfloat")
        frag = "#version 450\nlayout(location = 0) out vec4 o; layout(binding = 0) uniform sampler2D t;\n"
        pipe = dev.pipeline(FULL, frag + "void main() { o = texture(t, gl_FragCoord.xy * 0.07); }", color=[out])
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, bind={"t": (texture.image, dev.sampler(non_seamless_cube_map=seams))})
        pictures.append(out.numpy())
    assert np.array_equal(*pictures)


def test_it_is_a_flag(dev: tg.Device) -> None:
    with pytest.raises((tg.ValidationError, TypeError), match="non_seamless_cube_map"):
        dev.sampler(non_seamless_cube_map="yes")  # type: ignore[arg-type]
