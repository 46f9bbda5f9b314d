"""What Arm's article and Mesa's driver say of single machines, claim by claim: a test each, of what a pass then counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.test_profile_tiles import FORMAT, PROFILES, VERT, VERTEX, fragment_of, rect

import tilegpu as tg

SIZE = (64, 64)
FRAG = fragment_of(1)


def drawn(hsr: Any, *draws: tuple[str, np.ndarray], profile: str = "immortalis-g925") -> tg.PassStats:
    """Draws of kinds ``"opaque"`` and ``"blended"`` over a cleared target."""
    device = tg.Device(profile, hsr=hsr)
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "depth": "d32_sfloat", "depth_compare": "less"}
    pipelines = {"opaque": device.pipeline(VERT, FRAG, **state), "blended": device.pipeline(VERT, FRAG, blend="alpha", **state)}
    with device.render_pass(
        color=[tg.Attachment(device.image(SIZE, FORMAT), clear=(0, 0, 0, 1))],
        depth=tg.Attachment(device.image(SIZE, "d32_sfloat", transient=True), clear=1.0, store_op="dont_care"),
    ) as rp:
        for kind, vertices in draws:
            rp.draw(pipelines[kind], vertices)
    return rp.stats


def over_a_group(z: float) -> np.ndarray:
    """One triangle that covers the four pixels from (8, 8) on, and more."""
    out = np.zeros(3, VERTEX)
    out["position"] = [(2 * x / SIZE[0] - 1, 2 * y / SIZE[1] - 1, z, 1) for x, y in ((8, 8), (14, 8), (8, 14))]
    return out


def test_pre_pass_and_forward_pixel_kill_complete_each_other() -> None:
    """Where a draw ends a tile's pre-pass, forward pixel kill still takes what the draws before had found visible there: with both nothing
    is shaded that either of them alone would save."""
    draws = (
        ("opaque", rect(8, 8, 24, 24, 0.9, SIZE)),
        ("blended", rect(40, 40, 42, 42, 0.5, SIZE)),  # writes depth over old colour: not compatible
        ("opaque", rect(8, 8, 24, 24, 0.2, SIZE)),  # behind the stop: the pre-pass knows nothing of it
    )
    both = drawn(["pre_pass", "forward_pixel_kill"], *draws)
    kill, pre_pass, off = (drawn(hsr, *draws) for hsr in (["forward_pixel_kill"], ["pre_pass"], "off"))
    assert [stop["draw"] for stop in both.prepass_stops] == [1]
    assert off.fragments_shaded == pre_pass.fragments_shaded > kill.fragments_shaded
    assert both.fragments_shaded == kill.fragments_shaded and both.fragments_killed_by_fpk == kill.fragments_killed_by_fpk
    # And the other way round: what comes from near to far, or does not fit in the queue, the pre-pass alone hides.
    layers = tuple(("opaque", rect(0, 0, *SIZE, 0.9 - 0.1 * i, SIZE)) for i in range(4))
    both, kill = drawn(["pre_pass", "forward_pixel_kill"], *layers), drawn(["forward_pixel_kill"], *layers)
    assert both.fragments_shaded == SIZE[0] * SIZE[1] < kill.fragments_shaded


@pytest.mark.parametrize("profile", PROFILES)
def test_deferred_vertex_shading_came_with_mali_g720(profile: str) -> None:
    """That GPU has it, as all of Arm's after it, and none before or of others; and there it defers what is small."""
    has = profile in ("mali-g720", "immortalis-g920", "mali-g625", "mali-g725", "immortalis-g925")
    assert ("deferred_vertex_shading" in tg.Device(profile).hsr) == has
    stats = drawn("default", *(("opaque", rect(8 * i, 8, 8 * i + 4, 12, 0.5, SIZE)) for i in range(4)), profile=profile)
    assert (stats.primitives_deferred > 0) == has


def test_a_group_is_killed_only_by_what_covers_it_wholly() -> None:
    """Groups are quads. One pixel in front, or four by two triangles, kills nothing of it; one triangle over all four does. Single samples
    are a mode of their own."""
    victim = ("opaque", over_a_group(0.9))  # in one triangle: of what is drawn by two, each waits for itself
    whole = drawn("off", victim).fragments_shaded
    nearer = {
        "one pixel": ("opaque", rect(8, 8, 9, 9, 0.2, SIZE)),
        "two triangles": ("opaque", rect(8, 8, 10, 10, 0.2, SIZE)),
        "one triangle": ("opaque", over_a_group(0.2)),
    }
    killed = {
        mode: {name: drawn([mode], victim, draw).fragments_killed_by_fpk for name, draw in nearer.items()}
        for mode in ("forward_pixel_kill", "forward_pixel_kill:samples")
    }
    assert killed["forward_pixel_kill"] == {"one pixel": 0, "two triangles": 0, "one triangle": whole}
    assert killed["forward_pixel_kill:samples"] == {"one pixel": 1, "two triangles": 4, "one triangle": whole}


def test_where_sources_differ_a_layout_names_its_own() -> None:
    """Arm's article has tiles of 64x64 up to 128 bits a pixel, 64x32 up to 256 and 32x32 beyond on the G925; Mesa's driver halves each of
    them on the G725. Neither is bent to the other, and ``rp.layout`` says whose the sizes are."""
    wide = "r16g16b16a16_sfloat"
    formats = {128: [wide] * 2, 160: [wide] * 2 + [FORMAT], 256: [wide] * 4, 288: [wide] * 4 + [FORMAT]}
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for profile, source in (("immortalis-g925", "Arm"), ("mali-g725", "Mesa")):
        device = tg.Device(profile)
        found[profile] = {}
        for bits, names in formats.items():
            colors = [tg.Attachment(device.image(SIZE, name), clear=(0, 0, 0, 0)) for name in names]
            with device.render_pass(color=colors) as rp:
                pass
            found[profile][bits] = (rp.layout["tile_width_px"], rp.layout["tile_height_px"])
            assert source in rp.layout["profile_source"]
    assert found["immortalis-g925"] == {128: (64, 64), 160: (64, 32), 256: (64, 32), 288: (32, 32)}
    assert found["mali-g725"] == {128: (64, 32), 160: (32, 32), 256: (32, 32), 288: (32, 16)}
