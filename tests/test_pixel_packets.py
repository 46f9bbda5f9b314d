"""Pixel packets (cpp/src/tile/visibility/pixel_groups.hpp): what the visibility buffer holds is shaded by groups of pixels of one
primitive, not by quads, where lanes can find derivatives alone (cpp/src/shader/lower/pixel_slices.hpp). The same bits, and no lane that
only helps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilegpu as tg

SIZE = (150, 90)  # no multiple of a bin
VERTEX = np.dtype([("position", "f4", 4), ("uv", "f4", 2), ("normal", "f4", 3), ("tag", "u4")])
VERT = """#version 450
layout(location = 0) in vec4 position;  layout(location = 1) in vec2 uv;  layout(location = 2) in vec3 normal;
layout(location = 3) in uint tag;
layout(location = 0) out vec2 v_uv;  layout(location = 1) out vec3 v_normal;  layout(location = 2) flat out uint v_tag;
layout(location = 3) noperspective out vec2 v_screen;
void main() { gl_Position = position; v_uv = uv; v_normal = normal; v_tag = tag; v_screen = position.xy; }"""
HEAD = """#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(location = 0) in vec2 v_uv;  layout(location = 1) in vec3 v_normal;  layout(location = 2) flat in uint v_tag;
layout(location = 3) noperspective in vec2 v_screen;
layout(binding = 0) uniform sampler2D map;  layout(binding = 1) uniform samplerCube sky;  layout(binding = 2) uniform sampler2DArray sheets;
layout(push_constant) uniform Push { vec4 scale; };
layout(location = 0) out vec4 o_color;  layout(location = 1) out vec4 o_wide;
"""
NO_USE = "o_color += 1e-9 * (textureLod(map, v_uv, 0) + textureLod(sky, v_normal, 0) + textureLod(sheets, vec3(v_uv, 0), 0) + scale);"
# Everything that lanes can find alone ...
ALONE = {
    "no derivative": "o_color = vec4(fract(v_normal), 1); o_wide = vec4(v_uv, gl_FragCoord.zw);",
    "implicit level": "o_color = texture(map, v_uv * vec2(7, 3)); o_wide = texture(map, v_uv.yx * scale.xy + scale.zw, 0.5);",
    "of a noperspective input": "o_color = texture(map, v_screen * 5.0); o_wide = vec4(dFdx(v_screen), dFdy(v_screen));",
    "cube and layers": "o_color = texture(sky, v_normal); o_wide = texture(sheets, vec3(v_uv * 3.0, float(v_tag & 3u)));",
    "explicit derivatives": "o_wide = vec4(dFdx(v_uv * v_normal.xy), dFdy(v_normal.z), fwidth(v_uv.x + v_normal.y)); "
    "o_color = vec4(fract(abs(o_wide.xyz) * 50.0), 1);",
    "of gl_FragCoord": "o_wide = vec4(dFdx(gl_FragCoord.xy), dFdy(gl_FragCoord.zw)); "
    "o_color = texture(map, gl_FragCoord.xy / 64.0);",
    "in a divergent branch": "o_color = vec4(0.25); o_wide = v_normal.xyzz; "
    "if ((v_tag & 1u) == 0u) o_color = texture(map, fract(v_uv) * 4.0);",
    "a local variable": "vec2 at = v_uv * v_normal.x + v_normal.yz * v_uv.y; o_color = texture(map, at); "
    "o_wide = vec4(dFdx(at), at);",
    "primitive": "o_color = unpackUnorm4x8(uint(gl_PrimitiveID) * 2654435761u); o_wide = vec4(gl_FrontFacing ? 1 : 2);",
    "a point's derivative": "o_color = texture(map, vec2(0.3, 0.6)); o_wide = vec4(dFdx(scale.x), fwidth(float(v_tag)), 0, 1);",
}  # fmt: skip
# ... and what needs its neighbours, or the four pixels of a quad in one packet.
TOGETHER = {
    "a fine derivative": "o_color = vec4(dFdxFine(v_uv), 0, 1); o_wide = vec4(0);",
    "of a texel": "o_color = texture(map, v_uv + texture(map, v_uv).xy); o_wide = vec4(0);",
    "of a loop's result": "vec2 p = v_uv; for (uint i = 0u; i < (v_tag & 3u); i++) p = p * 1.5 + 0.1; "
    "o_color = texture(map, p); o_wide = vec4(0);",
    "of a variable with two values": "vec2 p = v_uv; if (v_uv.x > 0.5) p = v_uv.yx * 2.0; o_color = texture(map, p); "
    "o_wide = vec4(0);",
    "the place in a subgroup": "o_color = vec4(float(gl_SubgroupInvocationID) / 3.0); o_wide = vec4(v_uv, 0, 1);",
    "the masks of a subgroup": "o_wide = vec4(gl_SubgroupEqMask.x, gl_SubgroupLtMask.x, gl_SubgroupGeMask.x, gl_SubgroupGtMask.x); "
    "o_color = vec4(gl_SubgroupLeMask) / 15.0;",
    "a place and a derivative": "o_color = texture(map, v_uv) * float(gl_SubgroupInvocationID); o_wide = vec4(0);",
}  # fmt: skip
# Several samples: what pixel packets draw ...
KEPT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "some samples": {"sample_mask": 0x5A5B},
    "alpha to one": {"alpha_to_one": True},
    "greater or equal": {"depth_compare": "greater_or_equal"},
}
# ... and what is left to quads.
LEFT: list[tuple[str, dict[str, Any]]] = [
    ("nothing", {"blend": "alpha"}),
    ("nothing", {"write_mask": "rb"}),
    ("nothing", {"alpha_to_coverage": True}),
    ("nothing", {"sample_shading": True}),
    ("nothing", {"depth_write": False}),
    ("if ((int(gl_FragCoord.x) & 3) == 0) discard;", {}),
    ("gl_SampleMask[0] = int(v_tag);", {}),
    ("gl_FragDepth = v_uv.x;", {}),
    ("o_color.x = float(gl_SampleMaskIn[0]);", {}),
    ("o_color.xy = interpolateAtCentroid(v_uv);", {}),
    ("o_color.xy = gl_SamplePosition;", {}),
]
PIXELS = "avx512vl" in Path("/proc/cpuinfo").read_text()
needs_pixels = pytest.mark.skipif(not PIXELS, reason="pixel packets are of CPUs with AVX-512")


def fragment(body: str) -> str:
    return f"{HEAD}void main() {{ {body} {NO_USE} }}"


def triangles(rng: np.random.Generator, count: int, size: float) -> np.ndarray:
    """In perspective, most of them small; some lie behind others, some have equal depths."""
    out = np.zeros((count, 3), VERTEX)
    corner = rng.uniform(-1.1, 1.1, (count, 1, 2)) + rng.normal(0, size, (count, 3, 2))
    w = rng.uniform(0.5, 2, (count, 3, 1))
    z = rng.choice([0.25, 0.5, 0.75], (count, 1, 1)) + rng.normal(0, 0.05, (count, 3, 1)) * rng.integers(
        0, 2, (count, 1, 1)
    )
    out["position"] = np.concatenate([corner * w, z * w, w], 2)
    out["uv"] = rng.normal(0, 2, (count, 3, 2))
    out["normal"] = rng.normal(0, 1, (count, 3, 3))
    out["tag"] = np.arange(count)[:, None]
    return out.reshape(-1)


def device(lanes: int, code: str, **options: Any) -> tg.Device:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEGPU_CODE", code)
        return tg.Device(lanes=lanes, **options)


@pytest.fixture(scope="module")
def devices() -> Iterator[list[tg.Device]]:
    """Quads, and pixels with optimised and quick code."""
    yield [
        device(8, "optimised", threads=1),
        device(16, "optimised", threads=1),
        device(16, "quick", threads=2),
        device(16, "optimised", threads=2, bin_px=32),
        *([device(16, "optimised", threads=1, bin_px=128, jit_target="x86-64-v4")] if PIXELS else []),
    ]


def textures(d: tg.Device) -> dict[str, object]:
    rng = np.random.default_rng(7)
    return {
        "map": d.texture(rng.integers(0, 256, (64, 32, 4), np.uint8), mipmaps=True),
        "sky": d.texture(rng.integers(0, 256, (6, 16, 16, 4), np.uint8), cube=True, mipmaps=True),
        "sheets": d.texture(rng.integers(0, 256, (4, 16, 8, 4), np.uint8), mipmaps=True),
    }


def draw_pass(
    d: tg.Device,
    seed: int,
    bodies: list[str],
    formats: tuple[str, str],
    size: float,
    passes: int = 1,
    samples: int = 1,
    states: list[dict[str, Any]] | None = None,
    resolve_only: bool = False,
    clear: tuple[float, ...] | None = (0, 0, 0, 0),
) -> tuple[list[bytes], tg.PassStats]:
    """Everything twice where ``passes`` is 2, with the crew's work done in between; the last pass's pictures (every sample) and counts.
    ``states``: of the pipelines, one for each body. ``resolve_only``: samples do not leave the tile. ``clear`` None: samples that differ
    are loaded."""
    rng = np.random.default_rng(seed)
    images = [d.image(SIZE, f, samples=samples) for f in formats]
    resolved = [d.image(SIZE, f) if samples > 1 else None for f in formats]
    depth = d.image(SIZE, "d32_sfloat", samples=samples)
    pipes = [
        d.pipeline(
            VERT, fragment(b), vertex=VERTEX, color=list(formats), depth="d32_sfloat", samples=samples,
            **{"depth_compare": "less", **state}
        )
        for b, state in zip(bodies, states or [{}] * len(bodies), strict=True)
    ]  # fmt: skip
    draws = [(int(rng.integers(len(pipes))), triangles(rng, int(rng.integers(1, 400)), size)) for _ in range(4)]
    bind = textures(d)
    load: dict[str, Any] = {"load_op": "load"} if clear is None else {"clear": clear}
    store_op = "dont_care" if resolve_only else "store"
    if clear is None:
        with d.render_pass(
            color=[tg.Attachment(i, clear=(0.2, 0.4, 0.6, 0.8)) for i in images], depth=tg.Attachment(depth, clear=0.0)
        ) as rp:
            for which, vertices in draws:
                rp.draw(pipes[which], vertices[::-1].copy(), bind=bind, push={"scale": (1, 1, 1, 1)})
    for _ in range(passes):
        with d.render_pass(
            color=[
                tg.Attachment(i, resolve=r, store_op=store_op, **load) for i, r in zip(images, resolved, strict=True)
            ],
            depth=tg.Attachment(depth, clear=0.6 if samples > 1 else 1.0),
        ) as rp:
            for which, vertices in draws:
                rp.draw(pipes[which], vertices, bind=bind, push={"scale": (1.5, -2.0, 0.25, 0.125)})
        d.wait_compiles()
    return [i.numpy().tobytes() for i in (*([] if resolve_only else images), *resolved, depth) if i], rp.stats


@needs_pixels
@pytest.mark.parametrize("name", ALONE)
def test_no_lane_helps(devices: list[tg.Device], name: str) -> None:
    formats = ("r8g8b8a8_unorm", "r32g32b32a32_sfloat")
    expected, quads = draw_pass(devices[0], 1, [ALONE[name]], formats, 0.05)
    assert quads.helper_lanes > 0
    for d in devices[1:]:
        found, stats = draw_pass(d, 1, [ALONE[name]], formats, 0.05)
        assert found == expected
        assert stats.helper_lanes == 0, "quads were shaded"
        assert stats.fragments_shaded == quads.fragments_shaded


@pytest.mark.parametrize("name", TOGETHER)
def test_quads_where_neighbours_count(devices: list[tg.Device], name: str) -> None:
    formats = ("r8g8b8a8_unorm", "r32g32b32a32_sfloat")
    expected, _ = draw_pass(devices[0], 1, [TOGETHER[name]], formats, 0.05)
    for d in devices[1:]:
        found, stats = draw_pass(d, 1, [TOGETHER[name]], formats, 0.05)
        assert found == expected
        assert stats.helper_lanes > 0


FORMATS = [
    "r8g8b8a8_unorm", "b8g8r8a8_srgb", "r16g16b16a16_sfloat", "r32g32b32a32_sfloat", "r5g6b5_unorm_pack16", "r16g16_unorm",
    "a2b10g10r10_unorm_pack32", "r32_sfloat", "r8_unorm",
]  # fmt: skip


@given(
    st.integers(0, 1 << 30),
    st.lists(st.sampled_from([*ALONE.values(), *ALONE.values(), *TOGETHER.values()]), min_size=1, max_size=3),
    st.sampled_from(FORMATS),
    st.sampled_from(FORMATS),
    st.sampled_from([0.01, 0.05, 0.3]),
)
@settings(max_examples=25, deadline=None)
def test_no_bit_depends_on_it(
    devices: list[tg.Device], seed: int, bodies: list[str], first: str, second: str, size: float
) -> None:
    expected, _ = draw_pass(devices[0], seed, bodies, (first, second), size)
    for d in devices[1:]:
        found, _ = draw_pass(d, seed, bodies, (first, second), size)
        assert found == expected


@needs_pixels
@pytest.mark.parametrize(("samples", "size"), [(2, 0.3), (4, 0.03), (4, 0.3), (8, 0.03), (16, 0.03)])
@pytest.mark.parametrize("name", KEPT)
def test_no_lane_helps_with_several_samples(devices: list[tg.Device], name: str, size: float, samples: int) -> None:
    """Each sample of each pixel, in lists and (many primitives in a block) in the buffer of numbers."""
    formats = ("r8g8b8a8_unorm", "r32g32b32a32_sfloat")
    bodies = [ALONE["implicit level"], ALONE["explicit derivatives"]]
    arguments: Any = (samples, bodies, formats, size, 1, samples, [KEPT[name]] * 2)
    expected, quads = draw_pass(devices[0], *arguments)
    assert quads.helper_lanes > 0
    for d in [*devices[1:], device(16, "optimised", threads=1, compress_samples=False)]:
        found, stats = draw_pass(d, *arguments)
        assert found == expected
        assert stats.helper_lanes == 0, "quads were shaded"
        assert stats.fragments_shaded == quads.fragments_shaded
        assert stats.samples_written == quads.samples_written


@given(
    st.integers(0, 1 << 30),
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from([*ALONE.values(), *TOGETHER.values()]), st.sampled_from(list(KEPT.values()))),
            st.tuples(st.sampled_from([*ALONE.values()]), st.sampled_from(LEFT)).map(
                lambda both: (both[0] + both[1][0].replace("nothing", ""), both[1][1])
            ),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(FORMATS),
    st.sampled_from(FORMATS),
    st.sampled_from([0.01, 0.05, 0.3]),
    st.sampled_from([2, 4, 8, 16]),
    st.booleans(),
    st.sampled_from([None, (0.0, 0.0, 0.0, 0.0), (0.9, 0.2, 0.5, 0.4)]),
)
@settings(max_examples=16, deadline=None)
def test_no_sample_depends_on_it(
    devices: list[tg.Device],
    seed: int,
    draws: list[tuple[str, dict[str, Any]]],
    first: str,
    second: str,
    size: float,
    samples: int,
    resolve_only: bool,
    clear: tuple[float, ...] | None,
) -> None:
    bodies, states = [body for body, _ in draws], [state for _, state in draws]
    arguments: Any = (seed, bodies, (first, second), size, 1, samples, states, resolve_only, clear)
    expected, _ = draw_pass(devices[0], *arguments)
    for d in devices[1:]:
        found, _ = draw_pass(d, *arguments)
        assert found == expected


@needs_pixels
@pytest.mark.parametrize("samples", [2, 4, 8, 16])
@pytest.mark.parametrize("formats", [("r8g8b8a8_unorm", "r8g8_unorm"), ("b8g8r8a8_unorm", "r32g32b32a32_sfloat")])
@pytest.mark.parametrize("clear", [None, (0.1, 0.3, 0.7, 0.9)])
@pytest.mark.parametrize("names", [["nothing"], ["nothing", "some samples"]])
def test_averages_are_those_of_samples(
    devices: list[tg.Device], names: list[str], clear: tuple[float, ...] | None, formats: tuple[str, str], samples: int
) -> None:
    """Where samples are only averaged (cpp/src/tile/visibility/pixel_colors.hpp) they are not made: blocks that are
    covered, blocks with background of one colour or of several, blocks with more primitives than a list holds, one draw or two whose groups
    are sorted."""
    bodies = [ALONE["implicit level"], ALONE["explicit derivatives"]][: len(names)]
    states = [KEPT[name] for name in names]
    for size in (0.02, 0.1, 0.4):
        arguments: Any = (samples, bodies, formats, size, 1, samples, states, True, clear)
        kept: Any = (*arguments[:-2], False, clear)
        expected, _ = draw_pass(devices[0], *arguments)
        stored, _ = draw_pass(devices[0], *kept)
        assert expected == stored[2:]
        others = [device(16, "optimised", compress_samples=False), device(16, "optimised", tiler_heap=1 << 13)]
        for d in [*devices[1:], *others]:
            found, stats = draw_pass(d, *arguments)
            assert found == expected
            assert stats.helper_lanes == 0, "quads were shaded"


@needs_pixels
def test_code_follows_the_first_pass_that_wanted_it(tmp_path: Path) -> None:
    """Quads until the crew is done; then pixels; then, in another device, from disk. Nobody asks where nothing is drawn so."""
    body = [ALONE["implicit level"]]
    formats = ("r8g8b8a8_unorm", "r8g8b8a8_unorm")
    d = device(16, "tiered", threads=1, cache_dir=str(tmp_path))
    first, quads = draw_pass(d, 3, body, formats, 0.05)
    second, pixels = draw_pass(d, 3, body, formats, 0.05, passes=2)
    assert first == second
    assert quads.helper_lanes > 0
    assert pixels.helper_lanes == 0
    compiled = d.compile_stats["functions_compiled"]
    again = device(16, "tiered", threads=1, cache_dir=str(tmp_path))
    assert draw_pass(again, 3, body, formats, 0.05, passes=2)[0] == first
    assert again.compile_stats["functions_compiled"] == 0
    assert d.compile_stats["functions_compiled"] == compiled


@needs_pixels
@pytest.mark.parametrize("samples", [1, 4, 16])
def test_a_primitive_of_whole_blocks_alone(devices: list[tg.Device], samples: int) -> None:
    """Pixels of others are in groups, none of the large triangle's: a rectangle in front of it ends where blocks do."""
    corners = np.array(
        [[-1, -1], [3, -1], [-1, 3], [-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]
    )
    vertices = np.zeros(9, VERTEX)
    vertices["position"] = np.concatenate([corners, np.repeat([[0.5, 1], [0.25, 1]], [3, 6], 0)], 1)
    vertices["tag"] = np.arange(9) // 3
    vertices["normal"] = corners[:, :1]
    found = []
    for d in devices:
        image, resolved = d.image((64, 64), "r8g8b8a8_unorm", samples=samples), d.image((64, 64), "r8g8b8a8_unorm")
        depth = d.image((64, 64), "d32_sfloat", samples=samples)
        pipe = d.pipeline(
            VERT, fragment(ALONE["no derivative"]), vertex=VERTEX, color=["r8g8b8a8_unorm"], depth="d32_sfloat", samples=samples,
            depth_compare="less",
        )  # fmt: skip
        target = tg.Attachment(image, clear=(0, 0, 0, 0), resolve=resolved if samples > 1 else None)
        for _ in range(2):
            with d.render_pass(color=[target], depth=tg.Attachment(depth, clear=1.0)) as rp:
                rp.draw(pipe, vertices, bind=textures(d), push={"scale": (1, 1, 1, 1)})
            d.wait_compiles()
        found.append(image.numpy().tobytes())
    assert all(f == found[0] for f in found)


@needs_pixels
def test_code_that_comes_while_a_bin_is_drawn(tmp_path: Path) -> None:
    """A pass asks for the code of groups of pixels, and the crew makes it while others run, of one bin each whose visibility buffer is
    full again and again: it comes between two times that the same draw is shaded. The bits are those of a device that does without."""
    vertices = triangles(np.random.default_rng(3), 40000, 0.03)
    size, formats = (120, 120), ("r8g8b8a8_unorm", "r32g32b32a32_sfloat")

    def pictures(d: tg.Device, most: int) -> tuple[list[bytes], list[int]]:
        """Of passes, each to its own images, until one has no lane that helps, and the lanes that helped."""
        state: dict[str, Any] = {"color": list(formats), "depth": "d32_sfloat", "depth_compare": "less_or_equal"}
        pipe = d.pipeline(VERT, fragment(ALONE["explicit derivatives"]), vertex=VERTEX, **state)
        bind, passes, out = textures(d), [], []
        buffer, depth = d.buffer(vertices), d.image(size, "d32_sfloat")
        while len(passes) < most and (not passes or passes[-1]):
            both = [d.image(size, f) for f in formats]
            with d.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 0)) for i in both], depth=tg.Attachment(depth, clear=1.0)) as rp:
                rp.draw(pipe, buffer, bind=bind, instances=20, push={"scale": (1.5, -2.0, 0.25, 0.125)})
            passes.append(rp.stats.helper_lanes)
            out.append(b"".join(i.numpy().tobytes() for i in both))
        return out, passes

    (expected,), _ = pictures(device(8, "optimised", threads=1), 1)
    for attempt in range(5):
        found, helpers = pictures(tg.Device(lanes=16, threads=1, bin_px=128, cache_dir=tmp_path / str(attempt)), 100)
        assert all(one == expected for one in found)
        assert helpers[0] > 0
        assert helpers[-1] == 0, "it never came"
