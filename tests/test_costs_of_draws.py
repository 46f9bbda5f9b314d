"""What the vertices of a draw cost is the draw's own: what is drawn beside it changes nothing, what is culled, hidden or rejected shades no
varyings, and tiles shade again what they have, not what the pass has in the mean. The expected numbers are counted on paper.

Claims: Arm, "Hidden Surface Removal in Immortalis-G925": "Early-Z primitives that end up with no covered samples never have to shade their
varyings"; Mesa, Turnip's visibility streams: what binning rejects is in no tile's stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cost_constants import CONSTANTS

FORMAT, DEPTH = "r8g8b8a8_unorm", "d32_sfloat"
DTYPE = np.dtype([("position", "4f4"), ("color", "4f4")])
HEAD = """#version 450
layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
"""
CHEAP = HEAD + "void main() { gl_Position = position; v_color = color; }"
HEAVY = HEAD + "void main() { gl_Position = position; vec4 c = color; " + "c = c * c + color; " * 50 + "v_color = c; }"
FRAG = "#version 450\nlayout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o; void main() { o = v_color; }"
HEAVY_OPERATIONS = 50 * 8  #: of varyings: a product and a sum of four components, fifty times; the position is moved alone
SMALL, WIDE = (128, 128), (1920, 1080)
MALI = [name for name, k in CONSTANTS.items() if k.kind == "buffer"]
ADRENO = [name for name, k in CONSTANTS.items() if k.kind == "gmem"]


def triangles(corners: list[list[tuple[float, float]]], z: float, size_px: tuple[int, int]) -> Any:
    v = np.zeros(3 * len(corners), DTYPE)
    at = np.asarray(corners, np.float32).reshape(-1, 2)
    v["position"][:, :2] = at / np.asarray(size_px, np.float32) * 2 - 1
    v["position"][:, 2], v["position"][:, 3], v["color"] = z, 1, 0.5
    return v


def cells(
    count: int, x0: int, y0: int, z: float, size_px: tuple[int, int] = SMALL, flip: bool = False, side_px: int = 2, across: int = 60
) -> Any:
    """Triangles that share no vertex, row by row; ``flip``: they face away."""
    found = []
    for i in range(count):
        x, y = x0 + i % across * side_px, y0 + i // across * side_px
        corners = [(x, y), (x + side_px, y), (x, y + side_px)]
        found.append([corners[0], corners[2], corners[1]] if flip else corners)
    return triangles(found, z, size_px)


def whole(z: float, size_px: tuple[int, int]) -> Any:
    """One triangle over all."""
    return triangles([[(0, 0), (2 * size_px[0], 0), (0, 2 * size_px[1])]], z, size_px)


class Kit:
    def __init__(self, profile: str, size_px: tuple[int, int] = SMALL, **options: Any) -> None:
        self.dev, self.size_px = tg.Device(profile, **options), size_px
        self.color, self.depth = self.dev.image(size_px, FORMAT), self.dev.image(size_px, DEPTH)

    def pipeline(self, vert: str = CHEAP, frag: str = FRAG, **state: Any) -> tg.Pipeline:
        return self.dev.pipeline(vert, frag, vertex=DTYPE, color=[FORMAT], depth=DEPTH, depth_compare="less", **state)

    def draw(self, *draws: tuple[tg.Pipeline, Any]) -> tg.RenderPass:
        depth = tg.Attachment(self.depth, clear=1.0, store_op="dont_care")
        with self.dev.render_pass(color=[tg.Attachment(self.color, clear=(0, 0, 0, 1))], depth=depth) as rp:
            for pipeline, vertices in draws:
                rp.draw(pipeline, vertices)
        return rp


def runs(rp: tg.RenderPass, step: str) -> float:
    """Of the heavy shader's varyings."""
    costs = rp.costs()
    assert costs.exact
    return costs.arithmetic.get(step, 0.0) / HEAVY_OPERATIONS


@pytest.mark.parametrize("profile", [*MALI, *ADRENO])
def test_a_culled_draw_shades_no_varyings_beside_a_visible_one(profile: str) -> None:
    kit = Kit(profile)
    heavy, cheap = kit.pipeline(HEAVY, cull="back"), kit.pipeline()
    facing = bool(kit.draw((heavy, cells(600, 2, 2, 0.5))).stats.primitives_out)
    away = cells(600, 2, 2, 0.5, flip=facing)
    for rp in (kit.draw((heavy, away)), kit.draw((heavy, away), (cheap, cells(600, 2, 70, 0.5)))):
        assert runs(rp, "varyings, binning") == 0
        if rp.stats.bins > 2 or profile in MALI:  # Adreno's driver does not bin for one tile: it gets all of the geometry
            assert runs(rp, "vertices, tiles") == 0


@pytest.mark.parametrize("profile", ["mali-g610", "mali-g57"])
def test_varyings_are_of_what_culling_leaves_of_the_draw(profile: str) -> None:
    """Of 600 triangles 200 face away, and beside them is a draw of which nothing or all is left."""
    kit = Kit(profile)
    heavy, cheap, none = kit.pipeline(HEAVY, cull="back"), kit.pipeline(), kit.pipeline(cull="front_and_back")
    facing = bool(kit.draw((heavy, cells(600, 2, 2, 0.5))).stats.primitives_out)
    mixed = np.concatenate([cells(400, 2, 2, 0.5, flip=not facing), cells(200, 2, 40, 0.5, flip=facing)])
    beside = cells(600, 2, 70, 0.5)
    for rp in (kit.draw((heavy, mixed)), kit.draw((heavy, mixed), (cheap, beside)), kit.draw((heavy, mixed), (none, beside))):
        assert runs(rp, "varyings, binning") == 3 * 400


def test_after_a_pre_pass_a_draw_shades_what_is_seen_of_it() -> None:
    """One of 601 triangles is seen: three vertices, whatever the cheap draw beside it has."""
    kit = Kit("immortalis-g925")
    heavy, cheap = kit.pipeline(HEAVY), kit.pipeline()
    hidden = np.concatenate([cells(600, 2, 2, 0.9), cells(1, 2, 50, 0.9)])
    hides = triangles([[(0, 0), (128, 0), (0, 40)], [(128, 0), (128, 40), (0, 40)]], 0.1, SMALL)
    beside = cells(600, 2, 70, 0.5)
    assert runs(kit.draw((heavy, hidden), (cheap, hides)), "vertices, tiles") == 3
    rp = kit.draw((heavy, hidden), (cheap, beside), (cheap, hides))
    assert runs(rp, "vertices, tiles") == 3
    first, second, _ = rp.stats.draw_vertices
    assert (first["vertices_shaded_after_prepass"], second["vertices_shaded_after_prepass"]) == (3, 1800)
    assert first["vertices_positioned_in_prepass"] == first["vertices_in_tiles"] > 1800


def test_vertices_that_the_pre_pass_shades_whole_are_at_most_so_many() -> None:
    """Where the fragment shader discards it is not known which are needed again, so that the count is a bound and says so."""
    kit = Kit("immortalis-g925")
    discards = FRAG.replace("{ o", "{ if (gl_FragCoord.x < 0) discard; o")
    costs = kit.draw((kit.pipeline(HEAVY, discards), cells(600, 2, 2, 0.9))).costs()
    assert not costs.exact and "arithmetic operations (at most)" in str(costs)


@pytest.mark.parametrize("profile", ADRENO)
def test_tiles_shade_what_they_have_of_the_draw(profile: str) -> None:
    """A triangle over all has its three vertices in every tile, with and without a mesh of small ones beside it."""
    kit = Kit(profile, WIDE)
    heavy, cheap = kit.pipeline(HEAVY), kit.pipeline()
    alone = kit.draw((heavy, whole(0.9, WIDE)))
    beside = kit.draw((heavy, whole(0.9, WIDE)), (cheap, cells(6000, 2, 2, 0.5, WIDE, side_px=3, across=600)))
    assert alone.stats.bins > 2
    assert runs(alone, "vertices, tiles") == runs(beside, "vertices, tiles") == 3 * alone.stats.bins


@pytest.mark.parametrize("profile", ADRENO)
def test_what_is_rejected_while_binning_is_shaded_in_no_tile(profile: str) -> None:
    kit = Kit(profile, WIDE)
    heavy, cheap = kit.pipeline(HEAVY), kit.pipeline()
    behind = cells(600, 100, 100, 0.9, WIDE, side_px=3)
    rp = kit.draw((cheap, whole(0.1, WIDE)), (heavy, behind))
    assert rp.stats.lrz_primitives_rejected_in_binning >= 600
    assert runs(rp, "vertices, tiles") == 0
    assert rp.stats.draw_vertices[1]["primitives_out"] == 600 and rp.stats.draw_vertices[1]["bin_entries"] == 0
    seen = kit.draw((cheap, whole(0.9, WIDE)), (heavy, cells(600, 100, 100, 0.1, WIDE, side_px=3)))
    assert runs(seen, "vertices, tiles") >= 1800


@pytest.mark.parametrize("profile", CONSTANTS)
def test_operations_of_two_draws_are_the_sum_of_each(profile: str) -> None:
    """Nothing of one hides anything of the other, so whatever is counted of both together is what is counted of each alone."""
    kit = Kit(profile, (640, 640))
    size_px = kit.size_px
    large = triangles([[(0, 0), (600, 0), (0, 300)]], 0.3, size_px)
    small, away = cells(900, 4, 320, 0.5, size_px), cells(500, 4, 380, 0.5, size_px, flip=True)
    meshes = {"back": small, "front": away, "none": cells(700, 300, 340, 0.5, size_px, side_px=5)}
    draws = [(kit.pipeline((HEAVY, CHEAP)[i % 2], cull=cull), mesh) for i, (cull, mesh) in enumerate(meshes.items())]
    draws.append((kit.pipeline(HEAVY), large))
    alone = [kit.draw(draw).costs() for draw in draws]
    for i in range(4):
        for k in range(i):
            both = kit.draw(draws[i], draws[k]).costs()
            for what in {*both.arithmetic, *alone[i].arithmetic, *alone[k].arithmetic}:
                wanted = alone[i].arithmetic.get(what, 0.0) + alone[k].arithmetic.get(what, 0.0)
                assert both.arithmetic.get(what, 0.0) == pytest.approx(wanted), (what, i, k)


@pytest.mark.parametrize("profile", ["mali-g610", "immortalis-g925", "adreno-a650"])
def test_counts_of_draws_are_the_same_for_threads_and_bins(profile: str) -> None:
    found = []
    for options in ({"threads": 1}, {"threads": 2, "bin_px": 32}, {"threads": 3, "bin_px": 128, "lanes": 4}):
        kit = Kit(profile, WIDE, **options)
        heavy, cheap = kit.pipeline(HEAVY, cull="back"), kit.pipeline()
        hidden, away = cells(3000, 2, 2, 0.9, WIDE, side_px=5, across=300), cells(3000, 2, 200, 0.2, WIDE, True, 5, 300)
        rp = kit.draw((cheap, whole(0.6, WIDE)), (heavy, hidden), (heavy, away), (cheap, cells(900, 7, 9, 0.5, WIDE)))
        found.append(rp.stats.draw_vertices)
    assert found[0] == found[1] == found[2]
    assert all(sum(row[name] for row in found[0]) for name in ("primitives_in", "primitives_out", "bin_entries", "vertices_kept_in_tiles"))
