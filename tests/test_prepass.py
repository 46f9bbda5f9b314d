"""The fragment pre-pass and forward pixel kill: the article's example, its rules one by one, same bits whatever is on, and exact counts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.oracle.coverage import covered, snap

import tilegpu as tg

DTYPE = np.dtype([("position", "<f4", 3), ("id", "<u4")])
HEAD = "#version 450\nlayout(location = 0) flat in uint v_id;\n"
VERT = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in uint id;
layout(location = 0) flat out uint v_id;
void main() { gl_Position = vec4(position, 1.0); v_id = id; }"""
COLOR = "vec4 paint() { return vec4(v_id * 37u % 251u, v_id * 59u % 241u, v_id * 83u % 239u, 128u + v_id % 97u) / 255.0; }\n"
OUT0, OUT1 = "layout(location = 0) out vec4 o0;\n", "layout(location = 1) out vec4 o1;\n"
BOTH = HEAD + COLOR + OUT0 + OUT1
PLAIN = BOTH + "void main() { o0 = paint(); o1 = paint().wzyx; }"
ONE = HEAD + COLOR + OUT0 + "void main() { o0 = paint(); }"
HOLES = "(int(gl_FragCoord.x) * 7 + int(gl_FragCoord.y) * 5 + int(v_id)) % 3 == 0"
DISCARD = BOTH + f"void main() {{ if ({HOLES}) discard; o0 = paint(); o1 = paint().wzyx; }}"
DEPTH = BOTH + "void main() { gl_FragDepth = fract(float(v_id) * 0.37 + gl_FragCoord.x * 0.01); o0 = paint(); o1 = paint().wzyx; }"
MASK = BOTH + "void main() { gl_SampleMask[0] = int(v_id * 2654435761u >> 13); o0 = paint(); o1 = paint().wzyx; }"
MASK_IN = BOTH + "void main() { o0 = paint() * float(gl_SampleMaskIn[0] & 1); o1 = paint(); }"
COUNT = "layout(set = 0, binding = 0) buffer Count { uint count[]; };\n"
COUNTING = BOTH + COUNT + "void main() { atomicAdd(count[v_id], 1u); o0 = paint(); o1 = paint().wzyx; }"
COUNTING_HOLES = BOTH + COUNT + f"void main() {{ if ({HOLES}) discard; atomicAdd(count[v_id], 1u); o0 = paint(); o1 = paint().wzyx; }}"
STORING = (
    BOTH + COUNT + "void main() { count[v_id * 4096u + uint(gl_FragCoord.y) * 64u + uint(gl_FragCoord.x)] = v_id + 7u; "
    "o0 = paint(); o1 = paint(); }"
)
EARLY = "layout(early_fragment_tests) in;\n"
TILE = BOTH + "layout(input_attachment_index = 0, set = 0, binding = 1) uniform subpassInput old;\n" + (
    "void main() { o0 = fract(subpassLoad(old) * 1.7 + paint()); o1 = paint(); }"
)
SIDE_PX = 40
LESS: dict[str, Any] = {"depth_test": True, "depth_write": True, "depth_compare": "less_or_equal"}
TEST_ONLY: dict[str, Any] = {"depth_test": True, "depth_write": False, "depth_compare": "less_or_equal"}
INCREMENT = {"pass": "increment_and_wrap", "fail": "keep", "depth_fail": "keep", "compare": "always"}
FAIL_OPS = {"pass": "keep", "fail": "invert", "depth_fail": "increment_and_wrap", "compare": "greater", "reference": 3}
ODD = {"pass": "keep", "fail": "keep", "depth_fail": "keep", "compare": "not_equal", "reference": 1}

#: name: fragment shader, state
KINDS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "opaque": (PLAIN, LESS),
    "greater": (PLAIN, {**LESS, "depth_compare": "greater"}),
    "no depth": (PLAIN, {}),
    "discard": (DISCARD, LESS),
    "shader depth": (DEPTH, LESS),
    "mask": (MASK, LESS),
    "blend": (PLAIN, {**TEST_ONLY, "blend": "alpha"}),
    "blend discard": (DISCARD, {**TEST_ONLY, "blend": "alpha"}),
    "blend and write": (PLAIN, {**LESS, "blend": "alpha"}),
    "blend stencil": (PLAIN, {"blend": "additive", "stencil_test": ODD}),
    "one target": (ONE, {**TEST_ONLY, "write_mask": ["rgba", ""]}),
    "one target and depth": (ONE, {**LESS, "write_mask": ["rgba", ""]}),
    "channels": (PLAIN, {**TEST_ONLY, "write_mask": "rb"}),
    "stencil": (PLAIN, {**LESS, "stencil_test": INCREMENT}),
    "stencil where it fails": (PLAIN, {**LESS, "stencil_test": FAIL_OPS}),
    "depth only": (None, LESS),
    "counting": (COUNTING, LESS),
    "counting holes": (COUNTING_HOLES, LESS),
    "counting early": (EARLY + COUNTING.replace("#version 450\n", ""), LESS),
    "storing": (STORING, LESS),
    "counting blend": (COUNTING, {**TEST_ONLY, "blend": "alpha"}),
    "early discard": (EARLY + DISCARD.replace("#version 450\n", ""), LESS),
    "early discard, no depth": (EARLY + DISCARD.replace("#version 450\n", ""), {}),
    "tile": (TILE, TEST_ONLY),
    "tile beside derivatives": (TILE.replace("+ paint()", "+ paint() + fwidth(gl_FragCoord).yxyx * 0.125"), {}),
    "mask in": (MASK_IN, LESS),
}
TECHNIQUES = ["visibility_buffer", "hierarchical_z", "pre_pass", "forward_pixel_kill"]
Triangles = list[tuple[tuple[float, float], ...]]


def vertices(triangles: Any, z: Any, ids: Any, side: int = SIDE_PX) -> np.ndarray:
    """Corners (n, 3, 2) in pixels, depth (n,) or (n, 3), ids (n,)."""
    corners = np.asarray(triangles, np.float64)
    out = np.zeros((len(corners), 3), DTYPE)
    out["position"][..., :2] = corners / side * 2 - 1
    z = np.asarray(z, np.float32)
    out["position"][..., 2] = z[:, None] if z.ndim == 1 else z
    out["id"] = np.asarray(ids, np.uint32)[:, None]
    return out.reshape(-1)


DEPTH_STENCIL = "d32_sfloat_s8_uint"


class Kit:
    """A device and the pipelines of KINDS, made when first asked for."""

    def __init__(self, **device: Any) -> None:
        self.device = tg.Device(**device)
        self._pipelines: dict[tuple[str, int], tg.Pipeline] = {}

    def pipeline(self, kind: str, samples: int) -> tg.Pipeline:
        key = (kind, samples)
        if key not in self._pipelines:
            frag, state = KINDS[kind]
            if frag is not None and frag.startswith(EARLY):
                frag = "#version 450\n" + frag
            if samples > 1 and frag is not None:
                frag = frag.replace("subpassInput old", "subpassInputMS old").replace("subpassLoad(old)", "subpassLoad(old, 0)")
            self._pipelines[key] = self.device.pipeline(
                VERT, frag, vertex=DTYPE, color=["r8g8b8a8_unorm", "r8g8b8a8_unorm"], depth=DEPTH_STENCIL, stencil=DEPTH_STENCIL,
                samples=samples, label=kind, **{"depth_test": False, "depth_write": False, **state},
            )  # fmt: skip
        return self._pipelines[key]

    def draw(
        self, scene: list[tuple[str, np.ndarray, bool]], hsr: Any, samples: int = 1, side: int = SIDE_PX
    ) -> tuple[list[Any], tg.RenderPass]:
        """Attachments, query counts and storage; and the pass."""
        dev = self.device
        images = [dev.image((side, side), f, samples=samples) for f in ("r8g8b8a8_unorm", "r8g8b8a8_unorm", DEPTH_STENCIL)]
        count = dev.buffer(np.zeros(1 << 17, np.uint32), usage="storage")
        queries = []
        with dev.render_pass(
            color=[tg.Attachment(images[0], clear=(0.2, 0.4, 0.6, 0.8)), tg.Attachment(images[1], clear=(0, 0, 0, 0))],
            depth=tg.Attachment(images[2], clear=0.6),
            stencil=tg.Attachment(images[2], clear=2),
            hsr=hsr,
        ) as rp:
            for kind, array, counted in scene:
                bind = {"Count": count} if KINDS[kind][0] is not None and "Count" in KINDS[kind][0] else None  # type: ignore[operator]
                if kind == "clear":
                    continue
                if counted:
                    with rp.query() as query:
                        rp.draw(self.pipeline(kind, samples), array, bind=bind)
                    queries.append(query)
                else:
                    rp.draw(self.pipeline(kind, samples), array, bind=bind)
        pictures = [i.numpy() for i in images] + [images[2].numpy(aspect="stencil")]
        result = [*pictures, np.array([q.samples for q in queries]), np.frombuffer(count.numpy().tobytes(), np.uint32)]
        return result, rp


@pytest.fixture(scope="module")
def kit() -> Kit:
    return Kit(lanes=8, threads=2, bin_px=32)


def random_scene(rng: np.random.Generator, kinds: list[str]) -> list[tuple[str, np.ndarray, bool]]:
    scene = []
    next_id = 1
    for _ in range(int(rng.integers(2, 9))):
        n = int(rng.integers(1, 5)) if rng.random() < 0.8 else 20
        size = SIDE_PX if n < 20 else 8
        at = rng.uniform(-4, SIDE_PX + 4, (n, 1, 2))
        corners = at + rng.uniform(-size, size, (n, 3, 2))
        z = rng.uniform(0, 1, (n, 3)) if rng.random() < 0.5 else rng.integers(0, 8, n) / 8
        kind = kinds[int(rng.integers(len(kinds)))]
        ids = np.full(n, next_id) + (np.arange(n) if n < 20 else 0)
        next_id = (int(ids[-1]) + 1 - 1) % 28 + 1
        scene.append((kind, vertices(corners, z, ids % 30), bool(rng.random() < 0.3)))
    return scene


# -- the article's example ------------------------------------------------------------------------------------------------------

ORANGE = [((1.2, 2.2), (1.9, 2.3), (1.4, 2.9))]  # (1, 2)
BLUE = [((2.2, 1.2), (4.1, 1.2), (2.2, 3.1))]  # (2, 1), (2, 2), (3, 1)
GREEN = [((0.1, 1.3), (2.9, 1.3), (1.5, 3.1))]  # (0, 1), (1, 1), (2, 1), (1, 2)


def example(blue: str) -> list[tuple[str, np.ndarray, bool]]:
    return [
        ("opaque", vertices(ORANGE, [0.5], [1], 4), False),
        (blue, vertices(BLUE, [0.4], [2], 4), False),
        ("opaque", vertices(GREEN, [0.3], [3], 4), False),
    ]


def owners(color: np.ndarray) -> list[list[int]]:
    """Ids of a 4x4 picture, 0 where nothing was drawn."""
    red = {k * 37 % 251: k for k in (1, 2, 3)}
    return [[red.get(int(v), 0) for v in row] for row in color[..., 0]]


def test_the_article_s_example(kit: Kit) -> None:
    (color, *_), rp = kit.draw(example("opaque"), ["pre_pass"], side=4)
    assert owners(color) == [[0, 0, 0, 0], [3, 3, 3, 2], [0, 3, 2, 0], [0, 0, 0, 0]]
    stats = rp.stats
    assert (stats.fragments_rasterized, stats.fragments_shaded) == (1 + 3 + 4, 2 + 4)
    assert stats.primitives_culled_by_prepass == 1  # orange
    assert stats.fragments_killed_by_prepass == 2  # (1, 2) of orange, (2, 1) of blue
    assert stats.prepass_stops == []


def test_the_article_s_example_with_blue_incompatible(kit: Kit) -> None:
    (color, *_), rp = kit.draw(example("blend and write"), ["pre_pass"], side=4)
    assert [[v in (1, 3) for v in row] for row in owners(color)] == [
        [False] * 4, [True, True, True, False], [False, True, False, False], [False] * 4,
    ]  # fmt: skip
    stats = rp.stats
    assert (stats.fragments_shaded, stats.primitives_culled_by_prepass, stats.fragments_killed_by_prepass) == (8, 0, 0)
    assert [(s["draw"], s["rule"]) for s in stats.prepass_stops] == [(1, "1.1")]


# -- rules ----------------------------------------------------------------------------------------------------------------------

KINDS |= {
    "rule tile and depth": (TILE, LESS),
    "rule atomic result": (
        BOTH + COUNT + "void main() { uint n = atomicAdd(count[0], 1u); o0 = paint() * float(n & 1u); o1 = paint(); }",
        {},
    ),
    "rule read and write": (
        BOTH + COUNT + "void main() { count[v_id] = count[v_id + 100u] + 1u; o0 = paint(); o1 = paint(); }",
        {},
    ),
    "rule centroid": (
        BOTH.replace("flat in uint v_id;\n", "flat in uint v_id;\nlayout(location = 1) centroid in vec2 v_at;\n")
        + "void main() { o0 = paint() + v_at.x; o1 = paint(); }",
        LESS,
    ),
    "rule helper": (BOTH + "void main() { o0 = gl_HelperInvocation ? vec4(0) : paint(); o1 = paint(); }", LESS),
    "rule derivative": (TILE.replace("fract(", "dFdx("), {}),
    "rule derivative of a copy": (
        TILE.replace("void main", "vec4 twice(vec4 a) { vec4 b[2]; b[1] = a; b[1].x *= 2.0; return b[1]; }\nvoid main").replace(
            "fract(subpassLoad(old)", "dFdx(twice(subpassLoad(old))"
        ),
        {},
    ),
    "rule derivative of a choice": (
        TILE.replace(
            "o0 = fract(subpassLoad(old) * 1.7 + paint());", "vec4 c = paint(); if (subpassLoad(old).x > 0.3) c *= 2.0; o0 = dFdx(c);"
        ),
        {},
    ),
    "stencil fails": (PLAIN, {**LESS, "stencil_test": FAIL_OPS}),
    "blend reads stencil": (PLAIN, {"blend": "alpha", "stencil_test": ODD}),
}
RULES: list[tuple[str, list[str], int, str, int]] = [
    # scene, the draw that ends it, rule, words of the reason, the earlier draw
    ("1.1", ["opaque", "blend and write", "opaque"], 1, "blending", -1),
    ("1.2", ["opaque", "one target and depth"], 1, "not every colour attachment", 0),
    ("1.3", ["opaque", "rule tile and depth"], 1, "reads the tile", -1),
    ("2", ["opaque", "blend", "depth only"], 2, "after a draw that is not opaque", 1),
    ("3", ["opaque", "rule atomic result"], 1, "result of an atomic", -1),
    ("3", ["opaque", "rule read and write"], 1, "reads and writes the same buffer", -1),
    ("4", ["opaque", "mask in"], 1, "gl_SampleMaskIn", -1),
    ("4", ["opaque", "rule centroid"], 1, "centroid", -1),
    ("4", ["opaque", "rule helper"], 1, "gl_HelperInvocation", -1),
    ("5", ["opaque", "rule derivative"], 1, "neighbours", -1),
    ("5", ["opaque", "rule derivative of a copy"], 1, "neighbours", -1),
    ("5", ["opaque", "rule derivative of a choice"], 1, "neighbours", -1),
    ("6", ["opaque", "early discard"], 1, "early_fragment_tests", -1),
    ("7", ["opaque", "blend reads stencil", "stencil fails"], 2, "changes stencil where it fails", 1),
    ("8", ["opaque", "counting early"], 1, "early tests", -1),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kinds", "draw", "words", "because"), RULES)
def test_each_rule_is_named_and_no_other(kit: Kit, rule: str, kinds: list[str], draw: int, words: str, because: int) -> None:
    whole = [((-1, -1), (3 * SIDE_PX, -1), (-1, 3 * SIDE_PX))]
    scene = [(kind, vertices(whole, [0.5 - 0.1 * i], [i + 1]), False) for i, kind in enumerate(kinds)]
    if "rule centroid" in kinds:  # its own vertex shader
        kit._pipelines[("rule centroid", 1)] = kit.device.pipeline(
            VERT.replace("void main() {", "layout(location = 1) out vec2 v_at;\nvoid main() { v_at = position.xy;"),
            KINDS["rule centroid"][0],
            vertex=DTYPE, color=["r8g8b8a8_unorm"] * 2, depth=DEPTH_STENCIL, stencil=DEPTH_STENCIL, label="rule centroid", **LESS,
        )  # fmt: skip
    _, rp = kit.draw(scene, ["pre_pass"])
    stops = rp.stats.prepass_stops
    assert [(s["rule"], s["draw"], s["because_of"]) for s in stops] == [(rule, draw, because)]
    assert words in stops[0]["reason"]
    assert stops[0]["tiles"] == rp.stats.prepass_tiles == 4
    rows = rp.explain().rows
    states = [next(t for t in row["techniques"] if t["technique"] == "pre_pass") for row in rows]
    named = [s["rule"] for s in states if s["rule"]]
    assert named == [rule]
    assert [s["state"] for s in states][:draw] == ["on"] * draw
    assert all(s["state"] == "stopped" and s["by_draw"] == draw for s in states[draw:])


@pytest.mark.parametrize("samples", [4])
def test_rule_5_with_more_samples(kit: Kit, samples: int) -> None:
    whole = [((-1, -1), (3 * SIDE_PX, -1), (-1, 3 * SIDE_PX))]
    _, rp = kit.draw([("opaque", vertices(whole, [0.5], [1]), False), ("tile", vertices(whole, [0.4], [2]), False)], ["pre_pass"], samples)
    assert [(s["rule"], s["draw"]) for s in rp.stats.prepass_stops] == [("5", 1)]


@pytest.mark.parametrize("kinds", [
    ["opaque", "blend", "opaque"], ["opaque", "discard", "shader depth", "mask"], ["counting", "opaque", "storing"],
    ["depth only", "opaque", "depth only"], ["stencil", "opaque", "stencil where it fails"], ["opaque", "tile", "opaque"],
    ["opaque", "tile beside derivatives", "opaque"],
    ["opaque", "one target", "opaque"], ["blend", "blend discard", "channels"], ["counting blend", "opaque"],
    ["early discard, no depth", "opaque"], ["no depth", "greater", "blend"],
])  # fmt: skip
def test_what_the_article_allows_does_not_end_it(kit: Kit, kinds: list[str]) -> None:
    whole = [((-1, -1), (3 * SIDE_PX, -1), (-1, 3 * SIDE_PX))]
    _, rp = kit.draw([(kind, vertices(whole, [0.5 - 0.1 * i], [i + 1]), False) for i, kind in enumerate(kinds)], ["pre_pass"])
    assert rp.stats.prepass_stops == []


def test_a_clear_ends_it(kit: Kit) -> None:
    dev = kit.device
    image = dev.image((8, 8), "r8g8b8a8_unorm")
    pipe = dev.pipeline(VERT, ONE, vertex=DTYPE, color=["r8g8b8a8_unorm"])
    whole = vertices([((-1, -1), (24, -1), (-1, 24))], [0.5], [1], 8)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))], hsr=["pre_pass"]) as rp:
        rp.clear((1, 1, 1, 1))
        rp.draw(pipe, whole)
        rp.clear((1, 0, 1, 1), rect=(0, 0, 4, 8))
        rp.draw(pipe, whole)
    # The draw that the clear follows is in the pre-pass: the rule says that it is not to blame.
    stops = [(s["draw"], s["rule"], s["reason"]) for s in rp.stats.prepass_stops]
    assert stops == [(0, "clear", "a clear inside the pass")]
    taken, after = (next(t for t in row["techniques"] if t["technique"] == "pre_pass") for row in rp.explain().rows)
    assert taken["state"] == "on" and taken["reason"].startswith("a clear inside the pass ends it after this draw, in 1 of ")
    assert after["state"] == "stopped" and after["reason"].startswith("a clear after draw 0 ended the pre-pass before it, in 1 of ")


# -- same bits ------------------------------------------------------------------------------------------------------------------

HOLDABLE = [
    "opaque", "discard", "blend", "blend discard", "shader depth", "one target", "tile", "counting", "counting holes", "storing",
    "counting blend", "stencil", "blend stencil", "no depth", "greater", "early discard, no depth", "mask", "depth only",
]  # fmt: skip
CONFIGURATIONS = [list(c) for n in range(1, 5) for c in itertools.combinations(TECHNIQUES, n)]
# The techniques of others beside them.
OTHERS: list[Any] = [
    ["lrz"], ["lrz", "pre_pass"], ["lrz", "pre_pass", "forward_pixel_kill"], ["lrz", "visibility_buffer"],
    ["deferred_vertex_shading"], ["deferred_vertex_shading", "pre_pass"],
    ["deferred_vertex_shading", "visibility_buffer", "forward_pixel_kill"],
    ["depth_filter:three_plane", "pre_pass"], ["depth_filter:two_plane_skip", "lrz", "forward_pixel_kill"], "all",
]  # fmt: skip


def equal(a: list[Any], b: list[Any]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("seed", "samples"), [(s, 1) for s in range(24)] + [(s, 4) for s in range(24, 32)])
def test_same_bits_whatever_is_on(kit: Kit, seed: int, samples: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [k for k in KINDS if not k.startswith("rule")]
    # Two scenes in three are of what a pre-pass can hold, mostly.
    if seed % 3:
        kinds = HOLDABLE
    for _ in range(2):
        scene = random_scene(rng, kinds)
        want, _ = kit.draw(scene, "off", samples)
        for hsr in [*CONFIGURATIONS, *OTHERS]:
            got, _ = kit.draw(scene, hsr, samples)
            assert equal(want, got), f"{hsr} differs: {[(k, q) for k, _, q in scene]}"


@pytest.mark.parametrize("lanes", [4, 16])
def test_same_bits_with_other_lanes(kit: Kit, lanes: int) -> None:
    other = Kit(lanes=lanes, threads=1)
    rng = np.random.default_rng(lanes)
    kinds = [k for k in KINDS if not k.startswith("rule")]
    for _ in range(8):
        scene = random_scene(rng, kinds)
        want, _ = kit.draw(scene, "off")
        for hsr in (["pre_pass"], TECHNIQUES):
            assert equal(want, other.draw(scene, hsr)[0]), f"{hsr}: {[(k, q) for k, _, q in scene]}"


# -- counts ---------------------------------------------------------------------------------------------------------------------


def visible_pairs(triangles: np.ndarray, z: np.ndarray, order: np.ndarray, samples: int, holes: bool) -> int:
    """Pairs of pixel and primitive with at least one finally visible sample, for flat triangles and LESS_OR_EQUAL, clear depth 0.6."""
    depth = np.full((SIDE_PX, SIDE_PX, samples), np.float32(0.6))
    owner = np.zeros(depth.shape, int)
    y, x = np.mgrid[:SIDE_PX, :SIDE_PX]
    for k in order:
        inside = covered(snap(triangles[k]), SIDE_PX, SIDE_PX, samples)
        if holes:
            inside &= ((x * 7 + y * 5 + int(k) + 1) % 3 != 0)[..., None]
        won = inside & (np.float32(z[k]) <= depth)
        depth[won] = z[k]
        owner[won] = k + 1
    return sum(len(np.unique(p[p > 0])) for p in owner.reshape(-1, samples))


@pytest.mark.parametrize("kind", ["opaque", "discard"])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("order", ["near to far", "far to near", "random"])
def test_each_visible_fragment_is_shaded_once(kit: Kit, kind: str, samples: int, order: str) -> None:
    rng = np.random.default_rng(5)
    n = 40
    triangles = np.round(rng.uniform(-8, SIDE_PX + 8, (n, 3, 2)) * 16) / 16
    z = (rng.permutation(n) / 64 + 1 / 64).astype(np.float32)
    sequence = {"near to far": np.argsort(z), "far to near": np.argsort(-z), "random": rng.permutation(n)}[order]
    scene = [(kind, vertices(triangles[[k]], z[[k]], [k + 1]), False) for k in sequence]
    _, rp = kit.draw(scene, ["pre_pass"], samples)
    assert rp.stats.fragments_shaded == visible_pairs(triangles, z, sequence, samples, kind == "discard")
    assert rp.stats.prepass_stops == []


def test_the_shader_s_own_counter_agrees(kit: Kit) -> None:
    """Draws that write memory run all their fragments, and the statistics say what the shader counted, with any technique."""
    rng = np.random.default_rng(11)
    triangles = rng.uniform(-8, SIDE_PX + 8, (12, 3, 2))
    scene = [("counting", vertices(triangles[[k]], rng.uniform(0.1, 0.5, 1), [k + 1]), False) for k in range(12)]
    for hsr in ("off", ["pre_pass"], ["visibility_buffer"], TECHNIQUES):
        (*_, count), rp = kit.draw(scene, hsr)
        assert rp.stats.fragments_shaded == int(count.sum()) == rp.stats.fragments_rasterized


def test_forward_pixel_kill_kills_what_waits(kit: Kit) -> None:
    """Two triangles over each other, far one first: the queue holds all of a small one, so that nothing of it is shaded."""
    small = [((4, 4), (12, 4), (4, 12))]
    scene = [("opaque", vertices(small, [0.5], [1]), False), ("opaque", vertices(small, [0.3], [2]), False)]
    _, rp = kit.draw(scene, ["forward_pixel_kill"])
    assert rp.stats.fragments_shaded * 2 == rp.stats.fragments_rasterized
    assert rp.stats.fragments_killed_by_fpk == rp.stats.fragments_shaded
    # What discards does not kill, what writes memory is not killed.
    for kinds in (("opaque", "discard"), ("counting", "opaque")):
        scene = [(k, vertices(small, [0.5 - 0.1 * i], [i + 1]), False) for i, k in enumerate(kinds)]
        assert kit.draw(scene, ["forward_pixel_kill"])[1].stats.fragments_killed_by_fpk == 0


def test_forward_pixel_kill_goes_on_after_the_pre_pass(kit: Kit) -> None:
    small = [((4, 4), (12, 4), (4, 12))]
    kinds = ("opaque", "blend and write", "opaque", "opaque")
    scene = [(k, vertices(small, [0.5 - 0.1 * i], [i + 1]), False) for i, k in enumerate(kinds)]
    _, rp = kit.draw(scene, ["pre_pass", "forward_pixel_kill"])
    assert [s["rule"] for s in rp.stats.prepass_stops] == ["1.1"]
    # The first opaque draw, which the pre-pass found visible, the blended one that ended it, and the opaque one behind that: by the last.
    assert rp.stats.fragments_killed_by_fpk == 3 * rp.stats.fragments_rasterized // 4
    assert rp.stats.fragments_shaded == rp.stats.fragments_rasterized // 4


def test_profiles_choose(kit: Kit) -> None:
    assert tg.Device(profile="immortalis-g925").hsr == (
        "hierarchical_z", "pre_pass", "forward_pixel_kill", "deferred_vertex_shading",
    )  # fmt: skip
    assert tg.Device(profile="mali-g57").hsr == ("hierarchical_z", "forward_pixel_kill")
    with pytest.raises(tg.ValidationError, match="'prepass' is not known"):
        tg.Device(hsr=["prepass"])
