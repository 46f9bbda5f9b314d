"""Blocks of which a texture has nothing are not shaded, nor those that a shader discards, and no bit of the picture tells: random sprites
with and without.

Textures have holes, of each level its own; sprites are turned, mirrored, tiny and large, reach beyond the texture's edges by every
address mode, or are drawn with perspective. What would make a skipped block wrong is among them: levels that hold what others lack, alpha
that only rounding sees, borders, biases, colours that are no numbers, shaders of which the texture decides only a part.
"""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest
from tests.spirv import optimise

import tilegpu as tg

SIZE = (96, 80)
VERTEX = np.dtype([("position", "f4", 4), ("uv", "f4", 2), ("color", "f4", 4)])
VERT = """#version 450
layout(location = 0) in vec4 position;  layout(location = 1) in vec2 uv;  layout(location = 2) in vec4 color;
layout(location = 0) out vec2 v_uv;     layout(location = 1) out vec4 v_color;
void main() { gl_Position = position; v_uv = uv; v_color = color; }"""
HEAD = """#version 450
layout(set = 0, binding = 0) uniform sampler2D map;
layout(location = 0) in vec2 v_uv;  layout(location = 1) in vec4 v_color;  layout(location = 0) out vec4 o_color;
"""
# Some decide by alpha alone; others not, or at another place than the input says.
SHADERS = {
    "product": "void main() { o_color = texture(map, v_uv) * v_color; }",
    "parts": "void main() { vec4 t = texture(map, v_uv); o_color = vec4(mix(t.rgb, v_color.rgb, 0.3), v_color.a * t.a * 0.9); }",
    "steps": "void main() { vec4 t = texture(map, v_uv); float a = t.a; a *= v_color.a; o_color.rgb = v_color.rgb; o_color.a = a; }",
    "premultiplied": "void main() { vec4 t = texture(map, v_uv); o_color = vec4(v_color.rgb, 1.0) * t.a; }",
    "sum": "void main() { vec4 t = texture(map, v_uv); o_color = vec4(t.rgb, t.a * v_color.a + 0.01); }",
    "quotient": "void main() { vec4 t = texture(map, v_uv); o_color = vec4(v_color.rgb, v_color.a / max(t.a, 0.1)); }",
    "moved": "void main() { o_color = texture(map, v_uv + vec2(0.25, 0.0)) * v_color; }",
    "branch": "void main() { vec4 t = texture(map, v_uv); if (v_color.r > 0.5) t.a = 0.5; o_color = t * v_color; }",
    "biased": "void main() { o_color = texture(map, v_uv, 1.5) * v_color; }",
    "element": "void main() { vec4 t = texture(map, v_uv); t[int(v_color.r * 3.99) & 3] = 0.7; o_color = t * v_color; }",
    "whole part": "void main() { vec4 t = texture(map, v_uv); float f = modf(v_color.r * 3.0, t.a); o_color = vec4(t.rgb * f, t.a); }",
    "output element": "void main() { o_color = texture(map, v_uv) * v_color; o_color[int(v_color.r * 3.99) & 3] = 0.7; }",
    "other": "void main() { vec4 t = texture(map, v_uv); o_color = vec4(v_color.rgb, v_color.a * texture(map, v_uv.yx).a); }",
}
WRITES = """#version 450
layout(set = 0, binding = 0) buffer Count { uint count; };
layout(location = 0) in vec2 v_uv;  layout(location = 1) in vec4 v_color;  layout(location = 0) out vec4 o_color;
void main() { atomicAdd(count, 1u); o_color = vec4(v_uv, 0.0, 1.0); }"""
# Some discard by how much alpha there is, or leave no sample of it; others ask more than one texture's alpha.
DISCARDS = {
    "test": "void main() { vec4 t = texture(map, v_uv); if (t.a < 0.4) discard; o_color = vec4(t.rgb * v_color.rgb, 1.0); }",
    "turned round": "void main() { vec4 t = texture(map, v_uv); if (!(t.a - 0.5 >= 0.0)) discard; o_color = t; }",
    "step": "void main() { vec4 t = texture(map, v_uv); if (step(0.5, t.a) * 2.0 <= 1.0) discard; o_color = t * v_color; }",
    "chosen": "void main() { vec4 t = texture(map, v_uv); float a = t.a > 0.3 ? t.a : -1.0; if (a < 0.0) discard; o_color = t; }",
    "nothing at all": "void main() { vec4 t = texture(map, v_uv); if (t.a <= 0.0) discard; o_color = vec4(t.rgb, 1.0); }",
    "smooth": "void main() { vec4 t = texture(map, v_uv); if (smoothstep(0.2, 0.6, t.a) < 0.1) discard; o_color = t; }",
    "both": "void main() { vec4 t = texture(map, v_uv); if (min(t.a, 1.0) < 0.5 || t.r > v_color.r) discard; o_color = t; }",
    "slope": "void main() { vec4 t = texture(map, v_uv); if ((t.a - 0.4) / max(fwidth(t.a), 1e-3) < -0.5) discard; o_color = t; }",
    "deep": "void main() { vec4 t = texture(map, v_uv); if (t.a < 0.4) discard; o_color = t; gl_FragDepth = v_color.r; }",
    "late": "void main() { vec4 t = texture(map, v_uv); o_color = t * v_color; if (o_color.r < 0.3) discard; }",
    "one of two": "void main() { vec4 t = texture(map, v_uv); if (t.a < 0.4 && t.r < v_color.r) discard; o_color = t; }",
    "by colour": "void main() { vec4 t = texture(map, v_uv); if (t.a * v_color.a < 0.4) discard; o_color = t; }",
    "divided": "void main() { vec4 t = texture(map, v_uv); if (0.01 / t.a > 0.5) discard; o_color = t; }",
    "more": "void main() { vec4 t = texture(map, v_uv); if (t.a > 0.4) discard; o_color = t; }",
    "else": "void main() { vec4 t = texture(map, v_uv); if (v_color.r < 0.5) { if (t.a < 0.4) discard; } o_color = t; }",
    "a branch before": "void main() { vec4 t = texture(map, v_uv); if (v_color.r < 0.5) t.a = 0.7; if (t.a < 0.4) discard; o_color = t; }",
}
DISCARDED = ("test", "turned round", "step", "chosen", "nothing at all", "smooth", "both", "slope", "deep")
COVERAGE = {
    "sharp": """void main() { vec4 t = texture(map, v_uv); float a = clamp((t.a - 0.4) / max(fwidth(t.a), 1e-3) + 0.5, 0.0, 1.0);
      o_color = vec4(t.rgb, a); }""",
    "plain": "void main() { o_color = texture(map, v_uv); }",
    "product": "void main() { o_color = texture(map, v_uv) * v_color; }",
    "some": "void main() { vec4 t = texture(map, v_uv); o_color = vec4(t.rgb, 0.1 + t.a); }",
}
COVERED = ("sharp", "plain")
SKIPPED = ("product", "parts", "steps", "premultiplied", "other")


def devices() -> list[tg.Device]:
    """Without, then with: lanes, bins, threads and tiers may not matter either."""
    return [
        tg.Device(lanes=8, threads=1, compress_samples=False),
        tg.Device(lanes=8, threads=2),
        tg.Device(lanes=16, threads=2, bin_px=32),
        tg.Device(lanes=4, threads=1),
    ]


def holed(rng: np.random.Generator, width: int, height: int) -> np.ndarray:
    """Colours everywhere, alpha in some spots alone, some of it as faint as can be."""
    pixels = rng.integers(0, 256, (height, width, 4), np.uint8)
    alpha = np.zeros((height, width), np.uint8)
    for _ in range(rng.integers(0, 4)):
        x, y = rng.integers(0, width), rng.integers(0, height)
        w, h = rng.integers(1, max(2, width // 3)), rng.integers(1, max(2, height // 3))
        alpha[y : y + h, x : x + w] = rng.choice([1, 1, 128, 255])
    pixels[..., 3] = alpha
    return pixels


def texture(device: tg.Device, rng: np.random.Generator, width: int, height: int, levels: int, fmt: str) -> Any:
    image = device.image((width, height), fmt, mip_levels=levels)
    for level in range(levels):
        pixels = holed(rng, max(1, width >> level), max(1, height >> level))
        device.copy(pixels[..., 3].copy() if fmt == "r8_unorm" else pixels, image, destination_level=level)
    return image.view(swizzle="rrrr") if fmt == "r8_unorm" else image


def quads(rng: np.random.Generator, count: int, perspective: bool) -> np.ndarray:
    """Two triangles each."""
    out = np.zeros((count, 6), VERTEX)
    angle, half = rng.uniform(0, 6.3, count), rng.choice([0.03, 0.2, 0.6, 1.5], count) * rng.uniform(0.5, 1.0, count)
    angle[rng.random(count) < 0.4] = 0
    corner = np.array([(-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1)], "f8")
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    at = rng.uniform(-1, 1, (count, 1, 2))
    x, y = corner[None, :, 0] * half[:, None], corner[None, :, 1] * half[:, None]
    out["position"][..., 0], out["position"][..., 1] = c * x - s * y + at[..., 0], s * x + c * y + at[..., 1]
    out["position"][..., 3] = rng.uniform(0.5, 2, (count, 6)) if perspective else rng.uniform(0.5, 2, (count, 1))
    out["position"][..., :2] *= out["position"][..., 3:]
    uv = corner * 0.5 + 0.5
    scale = rng.choice([0.25, 1, 1, 1, 2, 9], (count, 1, 1)) * rng.choice([-1, 1], (count, 1, 2))
    out["uv"] = (
        (uv[None] - 0.5) * scale + 0.5 + np.where(rng.random((count, 1, 1)) < 0.3, rng.uniform(-2, 2, (count, 1, 2)), 0)
    )
    color = rng.uniform(0, 1.2, (count, 6, 4))
    color[rng.random(count) < 0.1] = np.inf
    color[rng.random(count) < 0.1, :, 1] = np.nan
    out["color"] = color
    return out.reshape(-1)


def drawn(device: tg.Device, seed: int, shader: str, **given: Any) -> tuple[np.ndarray, Any]:
    rng = np.random.default_rng(seed)
    width, height = given.get("size", (int(rng.integers(1, 40)), int(rng.integers(1, 40))))
    most = int(np.log2(max(width, height))) + 1
    levels = given.get("levels", int(rng.integers(1, most + 1)))
    fmt = str(rng.choice(["r8g8b8a8_unorm", "r8g8b8a8_srgb", "b8g8r8a8_unorm", "r8_unorm"]))
    image = texture(device, rng, width, height, levels, given.get("format", fmt))
    modes = ["clamp_to_edge", "repeat", "mirrored_repeat", "clamp_to_border", "mirror_clamp_to_edge"]
    address = tuple(str(m) for m in rng.choice(given.get("address", modes), 2))
    filters = {k: str(rng.choice(["nearest", "linear"])) for k in ("mag_filter", "min_filter", "mipmap_mode")}
    sampler = device.sampler(
        **filters,
        address=address,
        border_color="float_opaque_white"
        if "clamp_to_border" in address and rng.random() < 0.5
        else "float_transparent_black",
        max_lod=float(rng.choice([0, 0.5, 1.25, 99])),
        mip_lod_bias=float(given.get("bias", rng.choice([0, 0, 0.7]))),
    )
    blend = "premultiplied" if shader == "premultiplied" else given.get("blend", "alpha")
    samples, depth = given.get("samples", 1), given.get("depth", False)
    coverage = given.get("alpha_to_coverage", False)
    pipeline = device.pipeline(
        VERT,
        HEAD + given.get("shaders", SHADERS)[shader],
        color=["r8g8b8a8_unorm"],
        depth="d32_sfloat" if depth else None,
        vertex=VERTEX,
        blend=blend,
        samples=samples,
        alpha_to_coverage=coverage,
    )
    target = device.image(SIZE, "r8g8b8a8_unorm", samples=samples)
    vertices = quads(rng, given.get("count", 40), given.get("perspective", bool(rng.random() < 0.2)))
    if depth:
        vertices["position"][:, 2] = rng.uniform(0, 1, len(vertices)) * vertices["position"][:, 3]
    clear = tuple(rng.uniform(0, 1, 4))
    depths = tg.Attachment(device.image(SIZE, "d32_sfloat", samples=samples), clear=1.0) if depth else None
    with device.render_pass(color=tg.Attachment(target, clear=clear), depth=depths) as rp:
        if given.get("writes"):
            counting = device.pipeline(VERT, WRITES, color=["r8g8b8a8_unorm"], vertex=VERTEX)
            rp.draw(counting, vertices[:6], bind={"Count": device.buffer(np.zeros(1, np.uint32))})
        rp.draw(pipeline, vertices, bind={"map": (image, sampler)})
    return target.numpy(), rp.stats


def compare(shader: str, seeds: int, skips: bool, **given: Any) -> None:
    """The same pictures, and fragments that are not shaded where it is known that some need not be."""
    fewer = 0
    every = devices()
    # Where a shader that discards writes depth, it is late, and how many fragments pass early tests a matter of how many wait.
    counts = not given.get("depth")
    for seed in range(seeds):
        (want, plain), *others = [drawn(device, seed, shader, **given) for device in every]
        for picture, stats in others:
            assert np.array_equal(picture, want), (shader, seed)
            if counts:
                assert stats.fragments_shaded == others[0][1].fragments_shaded <= plain.fragments_shaded, (shader, seed)
        fewer += plain.fragments_shaded - others[0][1].fragments_shaded
    assert fewer > 1000 if skips else not counts or fewer == 0


@pytest.mark.parametrize("shader", SHADERS)
def test_no_bit_changes(shader: str) -> None:
    """Random textures, samplers and sprites."""
    compare(shader, 24, shader in SKIPPED)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("shader", DISCARDS)
def test_what_is_discarded(shader: str, samples: int) -> None:
    """Alpha tests, with depth and without, in perspective mostly."""
    for given in ({"depth": True, "perspective": True, "blend": None}, {"blend": "alpha"})[
        : 1 if shader == "deep" else 2
    ]:
        compare(shader, 10, shader in DISCARDED, shaders=DISCARDS, samples=samples, **given)


@pytest.mark.parametrize("samples", [1, 2, 16])
@pytest.mark.parametrize("shader", COVERAGE)
def test_what_alpha_does_not_cover(shader: str, samples: int) -> None:
    given = {"depth": True, "perspective": samples != 2, "blend": None, "alpha_to_coverage": True}
    compare(shader, 10, shader in COVERED, shaders=COVERAGE, samples=samples, **given)


@pytest.mark.parametrize("given", [{"samples": 4}, {"perspective": True}], ids=["samples", "perspective"])
def test_blends_of_several_samples_and_in_perspective(given: dict[str, Any]) -> None:
    compare("product", 12, True, **given)


@pytest.mark.parametrize(
    "given",
    [{"bias": 0.5}, {"writes": True}, {"count": 1, "size": (60, 60)}],
    ids=["bias", "a shader that writes memory", "fewer vertices than texels"],
)
def test_all_is_shaded_where_it_is_not_sure(given: dict[str, Any]) -> None:
    every = devices()[:2]
    for seed in range(4):
        (want, plain), (picture, stats) = (drawn(device, seed, "product", **given) for device in every)
        assert np.array_equal(picture, want) and stats.fragments_shaded == plain.fragments_shaded > 0


def test_a_texture_that_was_written_since() -> None:
    """What is known of texels is one pass's."""
    device = tg.Device(lanes=8, threads=1)
    image, sampler = device.image((16, 16), "r8g8b8a8_unorm"), device.sampler(filter="nearest")
    pipeline = device.pipeline(VERT, HEAD + SHADERS["product"], color=["r8g8b8a8_unorm"], vertex=VERTEX, blend="alpha")
    vertices = np.zeros(6, VERTEX)
    corner = np.array([(-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1)])
    vertices["position"], vertices["uv"], vertices["color"] = (
        np.c_[corner, np.zeros(6), np.ones(6)],
        corner * 0.5 + 0.5,
        1,
    )
    target = device.image((64, 64), "r8g8b8a8_unorm")
    for alpha in (0, 255, 0, 255):
        device.copy(np.full((16, 16, 4), alpha, np.uint8), image)
        with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipeline, vertices, bind={"map": (image, sampler)})
        assert (target.numpy() == alpha).all() and rp.stats.fragments_shaded == (64 * 64 if alpha else 0)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("mode", ["repeat", "clamp_to_edge", "mirrored_repeat", "mirror_clamp_to_edge"])
def test_what_lies_at_the_other_edge(axis: int, mode: str) -> None:
    """A filter at one edge takes texels of the other where coordinates repeat."""
    pictures = []
    for device in devices()[:2]:
        pixels = np.zeros((16, 16, 4), np.uint8)
        pixels[(slice(None), -1) if axis == 0 else (-1, slice(None))] = 255
        image = device.image((16, 16), "r8g8b8a8_unorm")
        device.copy(pixels, image)
        pipeline = device.pipeline(
            VERT, HEAD + SHADERS["product"], color=["r8g8b8a8_unorm"], vertex=VERTEX, blend="alpha"
        )
        vertices = np.zeros(6, VERTEX)
        corner = np.array([(-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1)])
        vertices["position"], vertices["uv"], vertices["color"] = (
            np.c_[corner, np.zeros(6), np.ones(6)],
            corner * 0.5 + 0.5,
            1,
        )
        target = device.image((128, 128), "r8g8b8a8_unorm")
        with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipeline, vertices, bind={"map": (image, device.sampler(filter="linear", address=mode))})
        pictures.append(target.numpy())
    first = pictures[0].take(0, 1 - axis)[..., 3]
    assert np.array_equal(pictures[0], pictures[1]) and (first > 0).any() == (mode == "repeat")
    assert rp.stats.fragments_shaded < 128 * 128 // 2


FULL = """#version 450
layout(location = 0) out vec2 v_uv;
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); v_uv = p; gl_Position = vec4(p * 2.0 - 1.0, 0.0, 1.0); }"""
HALF = """#version 450
layout(set = 0, binding = 0) uniform sampler2D map;  layout(location = 0) in vec2 v_uv;  layout(location = 0) out vec4 o_color;
void main() { CODE }"""
LOOPS = {
    "another place": ("""vec2 at = v_uv; float a = 0.0;
      for (float i = 0.0; i < 1.5; i += 1.0) { a = texture(map, at).a; at = vec2(0.75, 0.5); }
      if (a < 0.4) discard; o_color = vec4(1.0);""", 4096),
    "exchanged": ("""float a = 1.0, b = texture(map, v_uv).a;
      for (float i = 0.0; i < 0.5; i += 1.0) { float c = a; a = b; b = c; }
      if (b < 0.4) discard; o_color = vec4(1.0);""", 4096),
    "exchanged twice": ("""float a = 1.0, b = texture(map, v_uv).a;
      for (float i = 0.0; i < 1.5; i += 1.0) { float c = a; a = b; b = c; }
      if (b < 0.4) discard; o_color = vec4(1.0);""", 2048),
}  # fmt: skip


def half_clear(device: tg.Device) -> tg.Image:
    """The left half has an alpha of 0."""
    pixels = np.zeros((16, 16, 4), np.uint8)
    pixels[:, 8:, 3] = 255
    image = device.image((16, 16), "r8g8b8a8_unorm")
    device.copy(pixels, image)
    return image


@pytest.mark.parametrize("optimised", [False, True])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_knows_no_more_than_its_first_turn(name: str, optimised: bool) -> None:
    """What a look-up gave in one turn was taken for what it gives in the next."""
    code, seen = LOOPS[name]
    fragment: Any = HALF.replace("CODE", code)
    if optimised:
        if shutil.which("spirv-opt") is None:
            pytest.skip("spirv-opt is not installed")
        # Variables become values, as an application's compiler writes them.
        fragment = optimise(
            tg.compile_glsl(fragment, "fragment"), "--eliminate-local-single-block", "--eliminate-local-multi-store"
        )
    for device in devices():
        target = device.image((64, 64), "r8g8b8a8_unorm")
        pipeline = device.pipeline(FULL, fragment, color=[target])
        with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipeline, count=3, bind={"map": (half_clear(device), device.sampler(filter="nearest"))})
        assert (target.numpy()[..., 3] == 255).sum() == seen, device


@pytest.mark.parametrize("order", ["counted first", "counted last"])
def test_a_draw_that_is_counted_is_shaded_whole(order: str) -> None:
    """Draws of one state and as many vertices are asked about once; whether somebody counts is not of the state."""
    device = tg.Device(threads=1)
    target = device.image((64, 64), "r8g8b8a8_unorm")
    pipeline = device.pipeline(FULL, HALF.replace("CODE", "if (texture(map, v_uv).a < 0.4) discard; o_color = vec4(1.0);"), color=[target])
    held = device.descriptor_set(pipeline, 0, {"map": (half_clear(device), device.sampler(filter="nearest"))})
    with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
        statistics = rp.statistics()
        for what in sorted(("counted", "plain"), reverse=order == "counted last"):
            if what == "plain":
                rp.draw(pipeline, count=3, sets={0: held})
            else:
                with statistics:
                    rp.draw(pipeline, count=3, sets={0: held})
    assert statistics["fragment_shader_invocations"] == 4096
    assert rp.stats.fragments_shaded == 4096 + 2560


def test_what_is_shaded_does_not_depend_on_who_draws_it() -> None:
    """More textures than a pass keeps bits of: each thread kept those that it met first."""
    corners = np.array([(-1, -1), (1, -1), (-1, 1), (-1, 1), (1, -1), (1, 1)])
    pixels = np.zeros((512, 512, 4), np.uint8)
    pixels[:130, :130, 3] = 255
    shaded = set()
    for threads in (1, 2, 4):
        device = tg.Device(threads=threads, lanes=8, bin_px=64)
        pipeline = device.pipeline(
            VERT, HALF.replace("CODE", "if (texture(map, v_uv).a < 0.4) discard; o_color = vec4(1.0);"), color=["r8_unorm"], vertex=VERTEX
        )
        target, sampler, held = device.image((512, 512), "r8_unorm"), device.sampler(filter="nearest"), []
        for k in range(48):
            vertices = np.zeros((350, 6), VERTEX)  # as many as stand for the texture's texels
            vertices["position"][..., :2] = corners * 0.12 + [(k % 8) * 0.25 - 0.875, (k // 8) * 0.25 - 0.875]
            vertices["position"][..., 3] = 1
            vertices["uv"] = corners * 0.1 + 0.3
            image = device.image((512, 512), "r8g8b8a8_unorm")
            device.copy(pixels, image)
            held.append((vertices.reshape(-1), image))
        with device.render_pass(color=tg.Attachment(target, clear=(0, 0, 0, 0))) as rp:
            for vertices, image in held:
                rp.draw(pipeline, vertices, bind={"map": (image, sampler)})
        shaded.add((rp.stats.fragments_shaded, target.numpy().tobytes()))
    assert len(shaded) == 1
