"""VK_EXT_blend_operation_advanced: all 46 operators against NumPy, by format, several attachments, samples, order, and one result.

The oracle (tests/oracle/advanced_blend.py) is float64 from the specification's tables; values that a reader can check stand in VALUES.
"""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.oracle import advanced_blend as oracle
from tests.oracle import formats as fm
from tests.oracle.advanced_blend import How

import tilegpu as tg
from tilegpu.errors import Error, ValidationError

COUNT = 384
TARGETS = 8
FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
ALL_HOW = [
    How(s, d, overlap, clamp)
    for s, d, overlap, clamp in itertools.product((True, False), (True, False), oracle.OVERLAPS, (False, True))
]


@cache
def device() -> tg.Device:
    return tg.Device()


def frag(targets: int) -> str:
    """Pixel x takes row x of a storage buffer, for all targets."""
    outs = "".join(f"layout(location = {i}) out vec4 o{i};\n" for i in range(targets))
    body = "".join(f"o{i} = c; " for i in range(targets))
    return f"""#version 450
layout(set = 0, binding = 0) readonly buffer Colors {{ vec4 colors[]; }};
{outs}void main() {{ vec4 c = colors[int(gl_FragCoord.x)]; {body}}}"""


def argument(op: str, how: How) -> dict[str, Any]:
    return {
        "op": op,
        "src_premultiplied": how.src_premultiplied,
        "dst_premultiplied": how.dst_premultiplied,
        "overlap": how.overlap,
        "clamp_results": how.clamp_results,
    }


def random_colors(seed: int, low: float, high: float) -> np.ndarray:
    """(COUNT, 4) float32, premultiplied or meant not to be: alphas 0 and 1 among them, colours at 0, 1/2, 1 and equal ones."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0, 1, (COUNT, 3))
    base[: COUNT // 4] = rng.uniform(low, high, (COUNT // 4, 3))  # some beyond what formats hold
    special = rng.random((COUNT, 3)) < 0.15
    base[special] = rng.choice([0.0, 0.25, 0.5, 1.0], special.sum())
    grey = rng.random(COUNT) < 0.1
    base[grey] = base[grey, :1]
    alpha = rng.uniform(0.02, 1, (COUNT, 1))
    alpha[rng.random(COUNT) < 0.15] = 0
    alpha[rng.random(COUNT) < 0.25] = 1
    premultiplied = rng.random((COUNT, 1)) < 0.6
    return np.concatenate([np.where(premultiplied, base * alpha, base), alpha], 1).astype(np.float32)


def limits_of(format_: fm.Format) -> tuple[float, float]:
    return {"snorm": (-1.0, 1.0), "ufloat": (0.0, np.inf), "sfloat": (-np.inf, np.inf)}.get(format_.numeric, (0.0, 1.0))


def texels(image: tg.Image, texel_B: int) -> bytes:
    buffer = device().buffer(np.zeros(COUNT * texel_B, np.uint8))
    device().copy(image, buffer)
    return bytes(buffer.numpy().tobytes())


def check(blends: list[tuple[str, str, How]], seed: int) -> None:
    """(format, operator, parameters) of each attachment, in one pass."""
    formats = [fm.parse(name) for name, _, _ in blends]
    colors = random_colors(seed, -1.0 if all(f.numeric in ("sfloat", "snorm") for f in formats) else 0.0, 1.5)
    old, images = [], []
    for i, format_ in enumerate(formats):
        before = random_colors(1000 * seed + i, -1.0 if format_.numeric in ("sfloat", "snorm") else 0.0, 1.5)
        old.append(fm.encode(format_, before))
        images.append(device().image((COUNT, 1), format_.name))
        device().copy(np.frombuffer(fm.to_bytes(format_, old[i]), np.uint8), images[i])
    pipe = device().pipeline(
        FULL, frag(len(blends)), color=[f.name for f in formats], blend=[argument(op, how) for _, op, how in blends]
    )
    with device().render_pass(color=[tg.Attachment(image) for image in images]) as rp:
        rp.draw(pipe, count=3, bind={"Colors": device().buffer(colors, usage="storage")})
    for i, (format_, (_, op, how)) in enumerate(zip(formats, blends, strict=True)):
        codes = fm.from_bytes(format_, texels(images[i], format_.texel_B))
        least, most = limits_of(format_)
        fixed = format_.numeric in ("unorm", "srgb", "snorm")
        source = np.clip(colors, least, most) if fixed else colors
        destination = fm.decode(format_, old[i]).astype(np.float32)
        want = oracle.blend(op, source.astype(np.float64), destination.astype(np.float64), how)
        for k, c in enumerate(format_.components):
            what = f"{format_.name}, {op}, {how}, component {'rgba'[c.channel]}, seed {seed}"
            low, high = (np.clip(v[:, c.channel], least, most) for v in (want.low, want.high))
            defined = want.defined[:, c.channel]
            assert defined.sum() > COUNT // 5, what
            if format_.numeric == "srgb" and c.channel < 3:
                wrong = (codes[:, k] < fm.srgb_exact(low) - 0.6) | (codes[:, k] > fm.srgb_exact(high) + 0.6)
            else:
                stored = fm.decode_component(format_.numeric, c.bits, c.channel, codes[:, k])
                assert np.isfinite(stored).all(), what  # also where it is not defined
                wrong = (stored < low - 0.5 * fm.step_of(format_, c, low)) | (stored > high + 0.5 * fm.step_of(format_, c, high))
            at = np.flatnonzero(wrong & defined)
            at = at[:1]
            assert not len(at), f"{what}: {source[at]} on {destination[at]} is {codes[at]}, not {low[at]} to {high[at]}"


@pytest.mark.parametrize("op", oracle.OPERATORS)
def test_operators(op: str) -> None:
    """Every combination of parameters, eight attachments with another one each in a pass, 8 bits beside floats."""
    blends = [("r8g8b8a8_unorm", op, how) for how in ALL_HOW if not how.clamp_results]
    blends += [("r32g32b32a32_sfloat", op, how) for how in ALL_HOW]
    random.Random(op).shuffle(blends)
    for start in range(0, len(blends), TARGETS):
        check(blends[start : start + TARGETS], start + 1)


FORMATS = [
    "r8g8b8a8_snorm", "b8g8r8a8_srgb", "r16g16b16a16_sfloat", "r16g16b16a16_unorm", "r16g16b16a16_snorm", "a2b10g10r10_unorm_pack32",
    "b10g11r11_ufloat_pack32", "r5g6b5_unorm_pack16", "r8g8_unorm", "r16_sfloat", "r8_unorm", "r10x6g10x6b10x6a10x6_unorm_4pack16",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str) -> None:
    """Absent components read as 0, 0, 0, 1; sources are clamped to what fixed-point formats hold."""
    rng = random.Random(name)
    blends = [(name, op, rng.choice(ALL_HOW)) for op in oracle.OPERATORS]
    for start in range(0, len(blends), TARGETS):
        check(blends[start : start + TARGETS], start + 3)


#: Opaque over opaque, so that the result is f(source, destination): operator, source, destination, result; exact in float32.
VALUES: list[tuple[str, float, float, float]] = [
    ("zero", 0.5, 0.25, 0), ("src", 0.5, 0.25, 0.5), ("dst", 0.5, 0.25, 0.25), ("src_over", 0.5, 0.25, 0.5),
    ("dst_over", 0.5, 0.25, 0.25), ("src_in", 0.5, 0.25, 0.5), ("dst_in", 0.5, 0.25, 0.25), ("src_out", 0.5, 0.25, 0),
    ("dst_out", 0.5, 0.25, 0), ("src_atop", 0.5, 0.25, 0.5), ("dst_atop", 0.5, 0.25, 0.25), ("xor", 0.5, 0.25, 0),
    ("multiply", 0.5, 0.25, 0.125), ("screen", 0.5, 0.25, 0.625), ("overlay", 0.25, 0.5, 0.25), ("overlay", 0.25, 0.75, 0.625),
    ("darken", 0.5, 0.25, 0.25), ("lighten", 0.5, 0.25, 0.5), ("colordodge", 1, 0, 0), ("colordodge", 1, 0.25, 1),
    ("colordodge", 0.5, 0.25, 0.5), ("colordodge", 0.875, 0.25, 1), ("colorburn", 0, 1, 1), ("colorburn", 0, 0.75, 0),
    ("colorburn", 0.5, 0.75, 0.5), ("colorburn", 0.125, 0.75, 0), ("hardlight", 0.5, 0.25, 0.25), ("hardlight", 0.75, 0.25, 0.625),
    ("softlight", 0.5, 0.25, 0.25), ("softlight", 0.25, 0.5, 0.375), ("softlight", 1, 0.25, 0.5), ("softlight", 1, 0.125, 0.34375),
    ("softlight", 0.75, 0.5625, 0.65625), ("difference", 0.5, 0.75, 0.25), ("difference", 0.75, 0.5, 0.25),
    ("exclusion", 0.5, 0.25, 0.5), ("exclusion", 1, 0.25, 0.75), ("invert", 0.5, 0.25, 0.75), ("invert_rgb", 0.5, 0.25, 0.375),
    ("lineardodge", 0.5, 0.25, 0.75), ("lineardodge", 0.5, 0.75, 1), ("linearburn", 0.5, 0.25, 0), ("linearburn", 0.5, 0.75, 0.25),
    ("vividlight", 0, 1, 0), ("vividlight", 1, 0, 1), ("vividlight", 0.25, 0.75, 0.5), ("vividlight", 0.5, 0.25, 0.25),
    ("vividlight", 0.75, 0.25, 0.5), ("vividlight", 0.25, 0.25, 0), ("linearlight", 0.25, 0.25, 0), ("linearlight", 0.5, 0.25, 0.25),
    ("linearlight", 0.75, 0.75, 1), ("pinlight", 0.75, 0.25, 0.5), ("pinlight", 0.125, 0.5, 0.25), ("pinlight", 0.5, 0.25, 0.25),
    ("hardmix", 0.5, 0.5, 1), ("hardmix", 0.5, 0.25, 0), ("plus", 0.5, 0.75, 1.25), ("plus_clamped", 0.5, 0.75, 1),
    ("plus_clamped_alpha", 0.5, 0.75, 1), ("plus_clamped_alpha", 0.25, 0.5, 0.75), ("plus_darker", 0.5, 0.75, 0.25),
    ("plus_darker", 0.25, 0.5, 0), ("minus", 0.5, 0.75, 0.25), ("minus", 0.5, 0.25, -0.25), ("minus_clamped", 0.5, 0.25, 0),
    ("contrast", 0.75, 0.75, 0.625), ("contrast", 0.5, 0.75, 0.5), ("invert_ovg", 0.5, 0.25, 0.75),
]  # fmt: skip


def one_pixel(source: tuple[float, ...], destination: tuple[float, ...], **blend: Any) -> np.ndarray:
    image = device().image((1, 1), "r32g32b32a32_sfloat")
    pipe = device().pipeline(FULL, frag(1), color=[image.format], blend=blend)
    with device().render_pass(color=[tg.Attachment(image, clear=destination)]) as rp:
        rp.draw(pipe, count=3, bind={"Colors": device().buffer(np.array([source], np.float32), usage="storage")})
    return image.numpy()[0, 0]


def test_values() -> None:
    """Limits of the cases of f, exactly: premultiplied and not are the same for opaque colours."""
    assert {v[0] for v in VALUES} | set(oracle.HSL) | {"red", "green", "blue"} == set(oracle.OPERATORS)
    for (op, s, d, want), premultiplied in itertools.product(VALUES, (True, False)):
        got = one_pixel((s, s, s, 1), (d, d, d, 1), src_premultiplied=premultiplied, dst_premultiplied=True, op=op)
        assert got[:3].tolist() == [want] * 3, (op, s, d)


def test_values_of_whole_colors() -> None:
    s, d = (0.75, 0.5, 0.25, 1), (0.25, 0.5, 0.125, 1)
    assert one_pixel(s, d, op="red").tolist() == [0.75, 0.5, 0.125, 1]
    assert one_pixel(s, (0.25, 0, 0.125, 1), op="green").tolist() == [0.25, 0.5, 0.125, 1]
    assert one_pixel(s, d, op="blue").tolist() == [0.25, 0.5, 0.25, 1]
    grey = (0.5, 0.5, 0.5, 1)
    assert np.allclose(one_pixel(grey, d, op="hsl_color")[:3], 0.30 * 0.25 + 0.59 * 0.5 + 0.11 * 0.125, atol=1e-6)
    assert np.allclose(one_pixel(d, grey, op="hsl_luminosity")[:3], 0.30 * 0.25 + 0.59 * 0.5 + 0.11 * 0.125, atol=1e-6)
    assert np.allclose(one_pixel(grey, d, op="hsl_saturation")[:3], 0.30 * 0.25 + 0.59 * 0.5 + 0.11 * 0.125, atol=1e-6)
    # Red's hue, with the saturation (0.5) and the luminosity (0.5) of the destination: (0.5, 0, 0) moved by 0.35, none beyond 1.
    assert np.allclose(one_pixel((1, 0, 0, 1), (0.205, 0.705, 0.205, 1), op="hsl_hue")[:3], [0.85, 0.35, 0.35], atol=1e-6)
    # And of luminosity 0.8: (1.15, 0.65, 0.65), drawn towards 0.8 by 0.2 / 0.35.
    want = [1, 0.8 - 0.15 * 0.2 / 0.35, 0.8 - 0.15 * 0.2 / 0.35]
    assert np.allclose(one_pixel((1, 0, 0, 1), (0.505, 1.005, 0.505, 1), op="hsl_hue")[:3], want, atol=1e-6)
    # White's luminosity on a colour: everything beyond 1 is drawn to white.
    assert np.allclose(one_pixel((1, 1, 1, 1), d, op="hsl_luminosity")[:3], 1, atol=1e-6)


def test_alpha_zero_and_clamped_results() -> None:
    """Division by alpha 0, as the specification defines it: the base colour is 0; colours that are not premultiplied lose theirs."""
    assert one_pixel((0, 0, 0, 0), (0.25, 0.5, 0.75, 0.5), op="src_over").tolist() == [0.25, 0.5, 0.75, 0.5]
    assert one_pixel((0.5, 0.5, 0.5, 0), (1, 1, 1, 1), src_premultiplied=False, op="src").tolist() == [0, 0, 0, 0]
    for op in ("dst", "src_over", "multiply"):
        got = one_pixel((0.5, 0.5, 0.5, 0), (0.25, 0.5, 0.75, 0), src_premultiplied=False, dst_premultiplied=False, op=op)
        assert got.tolist() == [0, 0, 0, 0]
    assert one_pixel((0.5, 0.25, 1, 0.5), (0, 0, 0, 0), dst_premultiplied=False, op="src_over").tolist() == [1, 0.5, 2, 0.5]
    assert one_pixel((0.5, 2, 0.25, 1), (0.75, 1, 0.5, 1), op="plus").tolist() == [1.25, 3, 0.75, 2]
    assert one_pixel((0.5, 2, 0.25, 1), (0.75, 1, 0.5, 1), clamp_results=True, op="plus").tolist() == [1, 1, 0.75, 1]
    assert one_pixel((0.5, 2, 0.25, 1), (0.75, 1, 0.5, 1), clamp_results=True, op="minus").tolist() == [0.25, 0, 0.25, 0]


SCENE_VERT = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = vec4(position, 1.0); v_color = color; }"""
SCENE_FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o0; layout(location = 1) out vec4 o1;
void main() { o0 = v_color; o1 = v_color.bgra; }"""
VERTEX = np.dtype([("position", "f4", 3), ("color", "f4", 4)])
SIZE = 80
FORMATS_OF_SCENE = ["r8g8b8a8_unorm", "r16g16b16a16_sfloat"]


def triangles(rng: random.Random, count: int) -> np.ndarray:
    v = np.zeros(3 * count, VERTEX)
    for i in range(3 * count):
        alpha = rng.choice([0.0, 1.0, rng.random(), rng.random()])
        v[i]["position"] = [rng.uniform(-1.4, 1.4), rng.uniform(-1.4, 1.4), rng.random()]
        v[i]["color"] = [alpha * rng.random(), alpha * rng.random(), alpha * rng.random(), alpha]
    return v


def random_blend(rng: random.Random) -> Any:
    if rng.random() < 0.2:
        return rng.choice([None, "alpha", "premultiplied"])
    op = rng.choice([*oracle.OPERATORS, "src", "zero", "src"])
    return argument(op, rng.choice(ALL_HOW))


def scene(seed: int) -> list[tuple[dict[str, Any], np.ndarray]]:
    rng = random.Random(seed)
    draws = []
    for _ in range(10):
        state: dict[str, Any] = {"blend": [random_blend(rng), random_blend(rng)], "depth_write": rng.random() < 0.7}
        state["write_mask"] = rng.choice([None, None, None, "rgb", "a"])
        state["depth_compare"] = rng.choice(["less", "less", "always", "greater_or_equal"])
        draws.append((state, triangles(rng, rng.randrange(1, 12))))
    return draws


def render(dev: tg.Device, seed: int, samples: int, passes: int = 1) -> list[np.ndarray]:
    colors = [dev.image((SIZE, SIZE), name, samples=samples) for name in FORMATS_OF_SCENE]
    zs = dev.image((SIZE, SIZE), "d32_sfloat", samples=samples)
    draws = scene(seed)
    for k in range(passes):
        clear: dict[str, Any] = {} if k else {"clear": (0.25, 0.5, 0.75, 0.5)}
        attachments = [tg.Attachment(c, **clear) for c in colors]
        with dev.render_pass(color=attachments, depth=tg.Attachment(zs, **({} if k else {"clear": 0.8}))) as rp:
            for state, vertices in draws[k::1] if passes == 1 else draws[k : k + 1]:
                pipe = dev.pipeline(
                    SCENE_VERT, SCENE_FRAG, vertex=VERTEX, color=FORMATS_OF_SCENE, depth="d32_sfloat", samples=samples, **state
                )
                rp.draw(pipe, vertices)
    return [c.numpy() for c in colors]


DEVICES: list[dict[str, Any]] = [
    {"lanes": 8, "threads": 1},
    {"lanes": 8, "threads": 2, "hsr": "off"},
    {"lanes": 4, "threads": 2},
    {"lanes": 16, "threads": 2},
    {"lanes": 16, "threads": 1, "hsr": "all"},
    {"lanes": 8, "threads": 2, "hsr": ["visibility_buffer"], "bin_px": 32},
    {"lanes": 8, "threads": 2, "hsr": ["pre_pass", "hierarchical_z"]},
    {"lanes": 4, "threads": 1, "profile": "mali-g57"},
    {"lanes": 8, "threads": 2, "code": "quick"},
    {"lanes": 8, "threads": 2, "jit_target": "baseline"},
]


def open_device(options: dict[str, Any]) -> tg.Device:
    """``code``: which of the two kinds of machine code it uses."""
    given = dict(options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEGPU_CODE", given.pop("code", ""))
        return tg.Device(**given)


@pytest.mark.parametrize("samples", [1, 4])
def test_one_result(samples: int) -> None:
    """The same bits for lanes, threads, bins, profiles, with and without hidden-surface removal; SRC and ZERO among opaque draws."""
    devices = [open_device(d) for d in DEVICES]
    for seed in range(4):
        yardstick = render(open_device({"lanes": 8, "threads": 2}), seed, samples)
        for given, dev in zip(DEVICES, devices, strict=True):
            for a, b in zip(yardstick, render(dev, seed, samples), strict=True):
                assert np.array_equal(a.view(np.uint8), b.view(np.uint8)), (seed, given)


@pytest.mark.parametrize("samples", [1, 4])
def test_draws_follow_each_other_in_order(samples: int) -> None:
    """Blending is coherent: draws of one pass give what they give in passes of their own."""
    for seed in range(20, 24):
        together = render(device(), seed, samples)
        for a, b in zip(together, render(device(), seed, samples, passes=10), strict=True):
            assert np.array_equal(a.view(np.uint8), b.view(np.uint8)), seed


def test_samples_are_blended_one_by_one() -> None:
    """Where a triangle covers some samples of a pixel, the others keep the destination."""
    image = device().image((16, 16), "r32g32b32a32_sfloat", samples=4)
    pipe = device().pipeline(SCENE_VERT, SCENE_FRAG.replace("layout(location = 1) out vec4 o1;", "").replace("o1 = v_color.bgra;", ""),
                             vertex=VERTEX, color=[image.format], samples=4, blend="screen")  # fmt: skip
    v = np.zeros(3, VERTEX)
    v["position"] = [(-1, -1, 0), (1, -1, 0), (-1, 1, 0)]
    v["color"] = (0.5, 0.5, 0.5, 1)
    out = device().image((16, 16), "r32g32b32a32_sfloat")
    with device().render_pass(color=[tg.Attachment(image, clear=(0.25, 0.25, 0.25, 1), resolve=out)]) as rp:
        rp.draw(pipe, v)
    means = set(np.unique(out.numpy()[..., 0]).tolist())
    assert {0.25, 0.625} < means <= {0.25 + 0.375 * k / 4 for k in range(5)}


def test_src_and_zero_hide_what_is_below() -> None:
    """They read nothing, so that hidden-surface removal is theirs; the others are shaded one above the other."""
    for op, hides in (("src", True), ("zero", True), ("dst", False), ("src_over", False), ("plus", False), ("multiply", False)):
        dev = tg.Device(hsr=["visibility_buffer"])
        image = dev.image((64, 64), "r8g8b8a8_unorm")
        zs = dev.image((64, 64), "d32_sfloat")
        pipe = dev.pipeline(FULL, frag(1), color=[image.format], depth="d32_sfloat", blend=op, depth_compare="less_or_equal")
        with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], depth=tg.Attachment(zs, clear=1.0)) as rp:
            for _ in range(3):
                rp.draw(pipe, count=3, bind={"Colors": dev.buffer(random_colors(1, 0, 1), usage="storage")})
        shaded = rp.stats.fragments_shaded
        assert (shaded <= 64 * 64 * 1.1) == hides, (op, shaded)


def test_what_is_undefined_stays_in_bounds() -> None:
    """NaN, infinities, negative alphas: some bits, the same for any lanes, and none outside of what is drawn."""
    rng = np.random.default_rng(5)
    colors = random_colors(6, -1, 2)
    wild = rng.random(colors.shape) < 0.3
    colors[wild] = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38, -1.0, -3e38], np.float32), wild.sum())
    formats = ("r8g8b8a8_unorm", "r8g8b8a8_snorm", "r16g16b16a16_sfloat", "r32g32b32a32_sfloat")
    for k, op in enumerate(oracle.OPERATORS):
        name, how = formats[k % 4], random.Random(op).choice(ALL_HOW)
        results = []
        for lanes in (4, 8, 16):
            dev = lanes_device(lanes)
            image = dev.image((COUNT, 1), name)
            pipe = dev.pipeline(FULL, frag(1), color=[name], blend=argument(op, how))
            with dev.render_pass(color=[tg.Attachment(image, clear=(0.5, -0.25, 2.0, 0.75))]) as rp:
                for _ in range(2):
                    rp.draw(pipe, count=3, bind={"Colors": dev.buffer(colors, usage="storage")})
            results.append(image.numpy().view(np.uint8))
        assert all(np.array_equal(results[0], r) for r in results[1:]), (name, op)


@cache
def lanes_device(lanes: int) -> tg.Device:
    return tg.Device(lanes=lanes)


def test_names() -> None:
    """An operator alone has Vulkan's defaults; Vulkan's own names; as both equations of a pipeline."""
    s, d = (0.5, 0.25, 0.125, 0.5), (0.25, 0.25, 0.5, 0.75)
    want = one_pixel(s, d, op="multiply")
    image = device().image((1, 1), "r32g32b32a32_sfloat")
    for blend in (
        "multiply",
        "VK_BLEND_OP_MULTIPLY_EXT",
        {"op": "VK_BLEND_OP_MULTIPLY_EXT"},
        {"color_op": "multiply", "alpha_op": "multiply"},
        argument("multiply", How()),
    ):
        pipe = device().pipeline(FULL, frag(1), color=[image.format], blend=blend)
        with device().render_pass(color=[tg.Attachment(image, clear=d)]) as rp:
            rp.draw(pipe, count=3, bind={"Colors": device().buffer(np.array([s], np.float32), usage="storage")})
        assert np.array_equal(image.numpy()[0, 0], want), blend


def test_write_mask_and_logic_op() -> None:
    s, d = (0.5, 0.25, 0.125, 1), (0.25, 0.25, 0.5, 1)
    assert one_pixel(s, d, write_mask="gb", op="src").tolist() == [0.25, 0.25, 0.125, 1]
    assert one_pixel(s, d, write_mask="r", op="multiply").tolist() == [0.125, 0.25, 0.5, 1]
    image = device().image((1, 1), "r8g8b8a8_unorm")
    for op in ("copy", "invert"):  # a logic operation takes the place of blending
        pipe = device().pipeline(FULL, frag(1), color=[image.format], blend="multiply", logic_op=op)
        with device().render_pass(color=[tg.Attachment(image, clear=(1, 0, 1, 0))]) as rp:
            rp.draw(pipe, count=3, bind={"Colors": device().buffer(np.array([(0.2, 0.4, 0.6, 0.8)], np.float32), usage="storage")})
        assert image.numpy()[0, 0].tolist() == ([51, 102, 153, 204] if op == "copy" else [0, 255, 0, 255])


@pytest.mark.parametrize(
    ("blend", "message"),
    [
        ("mutliply", r"is 'mutliply', which is no preset.*did you mean 'multiply'"),
        ({"op": "add"}, r"blend\[0\]: op is 'add', which is no advanced operation"),
        ({"op": "multply"}, r"op is 'multply', which is no blend_op.*did you mean 'multiply'"),
        ({"op": "multiply", "overlap": "joint"}, r"overlap is 'joint', which is no blend_overlap"),
        ({"op": "multiply", "src_premultiplied": "yes"}, r"src_premultiplied is 'yes'"),
        ({"op": "multiply", "src_color": "one"}, r"blend\[0\] has 'src_color' beside 'multiply', an advanced"),
        ({"src_color": "one", "overlap": "disjoint"}, r"blend\[0\] has 'overlap' without an advanced operation"),
        ({"color_op": "multiply", "alpha_op": "add"}, r"blend of color\[0\]: colorBlendOp is VK_BLEND_OP_MULTIPLY_EXT and alphaBlendOp is "
         r"VK_BLEND_OP_ADD; where one is an advanced operation, both must be the same"),
    ],
)  # fmt: skip
def test_errors(blend: Any, message: str) -> None:
    with pytest.raises(Error, match=message):
        device().pipeline(FULL, frag(1), color=["r8g8b8a8_unorm"], blend=blend)


def test_integers_are_not_blended() -> None:
    uint = frag(1).replace("out vec4 o0", "out uvec4 o0").replace("o0 = c;", "o0 = uvec4(c);")
    with pytest.raises(Error, match=r"format r8g8b8a8_uint holds integers"):
        device().pipeline(FULL, uint, color=["r8g8b8a8_uint"], blend="multiply")


def test_dynamic_state_sets_it() -> None:
    """The later of equation and advanced operation holds; an equation has no advanced operator."""
    s, d = (0.5, 0.25, 0.125, 1), (0.25, 0.25, 0.5, 1)
    image = device().image((1, 1), "r32g32b32a32_sfloat")
    dynamic = ["color_blend_enable", "color_blend_equation", "color_blend_advanced"]
    pipe = device().pipeline(FULL, frag(1), color=[image.format], dynamic=dynamic)
    colors = device().buffer(np.array([s], np.float32), usage="storage")
    results = []
    for settings in (
        [{"color_blend_equation": ["alpha"]}, {"color_blend_advanced": [{"op": "plus", "clamp_results": True}]}],
        [{"color_blend_advanced": ["multiply"]}, {"color_blend_equation": ["additive"]}],
    ):
        with device().render_pass(color=[tg.Attachment(image, clear=d)]) as rp:
            rp.set(color_blend_enable=[True])
            for setting in settings:
                rp.set(**setting)
            rp.draw(pipe, count=3, bind={"Colors": colors})
        results.append(image.numpy()[0, 0].tolist())
    assert results == [[0.75, 0.5, 0.625, 1], [0.75, 0.5, 0.625, 2]]
    # One pipeline, one operation: other parameters are other code.
    pipe = device().pipeline(FULL, frag(1), color=[image.format], blend="plus", dynamic=["color_blend_advanced"])
    half, under = (0.5, 0.25, 0.125, 0.5), (0.25, 0.25, 0.5, 0.75)
    colors = device().buffer(np.array([half], np.float32), usage="storage")
    for how in ALL_HOW:
        with device().render_pass(color=[tg.Attachment(image, clear=under)]) as rp:
            rp.set(color_blend_advanced=[argument("screen", how)])
            rp.draw(pipe, count=3, bind={"Colors": colors})
        assert np.array_equal(image.numpy()[0, 0], one_pixel(half, under, **argument("screen", how))), how
    with device().render_pass(color=[tg.Attachment(image, clear=d)]) as rp:
        with pytest.raises(ValidationError, match="color_blend_advanced"):
            rp.set(color_blend_equation=["multiply"])
        with pytest.raises(ValidationError, match="no advanced operation"):
            rp.set(color_blend_advanced=["add"])
