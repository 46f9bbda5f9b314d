"""The cost model where it is easily wrong: hidden layers, orders, commands between passes, immediate-mode caches; and advice that must hold
when it is taken. Figures are worked out on paper or are those of the frame that took the advice."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.test_costs import EARLY_DISCARD, FORMAT, FRAG, LATE_DISCARD, VERT, VERTEX, cells, drawn, rect

import tilegpu as tg
from tilegpu.cost_changes import changes
from tilegpu.cost_constants import CONSTANTS
from tilegpu.costs import constants_of, costs_of

MALI = [name for name, row in CONSTANTS.items() if row.kind == "buffer"]
PRE_PASS = [name for name in MALI if CONSTANTS[name].prepass_overlap.value]
DEAR = LATE_DISCARD.replace("if (c.a < 0.1) discard;", "")


def helper_factor(rp: tg.RenderPass) -> float:
    """Lanes that run for each that shades."""
    costs = rp.costs()
    k, fragments = constants_of(costs.profile), costs.arithmetic["fragments"]
    vertices = costs.total("arithmetic") - fragments
    return (costs.units["arithmetic"] * k.cores.value * k.operations.value - vertices) / fragments


# -- helpers


@pytest.mark.parametrize("profile", ["mali-g57", "mali-g610", "immortalis-g925", "adreno-a650", "desktop-immediate"])
def test_what_is_hidden_and_where_tiles_lie_makes_no_helpers(profile: str) -> None:
    """A layer of 64 x 64 pixels in front of 40 others: 1024 quads, and 32 on the diagonal twice. As draws of their own, and as one."""
    size = (64, 64)
    layers = [rect(0, 0, *size, 0.1 + 0.01 * i, size) for i in range(41)]
    alone, behind = (drawn(profile, some, size, fragment=DEAR) for some in (layers[:1], layers))
    assert alone.stats.fragments_shaded == behind.stats.fragments_shaded == 64 * 64
    paper = 4 * (1024 + 32) / (64 * 64)
    assert helper_factor(alone) == pytest.approx(paper, abs=0.06)
    assert helper_factor(behind) == pytest.approx(helper_factor(alone))
    if profile in MALI:  # low-resolution Z rejects triangles before they are rasterized, so that of one draw fewer fragments are known
        together = drawn(profile, [np.concatenate(layers)], size, fragment=DEAR)
        assert helper_factor(together) == pytest.approx(helper_factor(alone))


def test_small_triangles_have_the_helpers_of_their_size() -> None:
    """Cells of 2 x 2 pixels are triangles of two pixels: a quad for each of them, two lanes for a fragment."""
    size = (64, 64)
    small, large = (helper_factor(drawn("mali-g57", [cells(0.5, size, side)], size, fragment=DEAR)) for side in (2, 16))
    assert large < 1.5 < 2 <= small


# -- the pre-pass


@pytest.mark.parametrize("profile", PRE_PASS)
@pytest.mark.parametrize("side", [8, 64])
def test_the_pre_pass_costs_the_same_in_any_order(profile: str, side: int) -> None:
    """Arm: a primitive that covers no samples is culled. Who failed Z at once covers none either: 51 layers are tested once, and the one
    that is seen a second time."""
    size = (64, 64)
    depths = [0.1 + 0.01 * i for i in range(51)]
    orders = {"near first": depths, "near last": [*depths[1:], depths[0]], "far to near": depths[::-1]}
    found = {name: drawn(profile, [cells(z, size, side) for z in order], size).costs() for name, order in orders.items()}
    first, *others = found.values()
    for other in others:
        assert other.cycles == pytest.approx(first.cycles, rel=0.01)
        assert other.units["depth tests"] == first.units["depth tests"]
    k = constants_of(profile)
    assert first.units["depth tests"] == pytest.approx(52 * 64 * 64 / (k.depth_tests.value * k.cores.value), rel=0.03)


# -- advice


def random_grid(count: int = 400, triangles: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    vertices = np.zeros(count, VERTEX)
    vertices["position"][:, :2] = rng.uniform(-0.9, 0.9, (count, 2))
    vertices["position"][:, 2:] = (0.5, 1)
    return vertices, rng.integers(0, count, 3 * triangles).astype(np.uint32)


@pytest.mark.parametrize("profile", CONSTANTS)
def test_nothing_is_said_of_the_order_of_indices(profile: str) -> None:
    """What an order would gain needs the indices, which `tilegpu bench vertex` has, and a pass's counts don't."""
    size = (64, 64)
    vertices, indices = random_grid()
    device = tg.Device(profile)
    for kind in ({"indices": indices}, {}):
        pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT])
        with device.render_pass(color=[tg.Attachment(device.image(size, FORMAT), clear=(0, 0, 0, 1))]) as rp:
            rp.draw(pipeline, vertices if kind else vertices[:399], **kind)
        assert not [c.text for c in changes(rp._counts(), rp.explain().rows) if "ind" in c.text.split()[0]]


def layers_of(profile: str, whole: bool = True, load: bool = False) -> tg.RenderPass:
    """Six layers far to near. Without ``whole`` the shader leaves out the second attachment, so that no draw may write low-resolution Z;
    with ``load`` depth comes from a pass before, of which A6xx's processor knows no direction."""
    size = (256, 256)
    device = tg.Device(profile)
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT, FORMAT], "depth": "d32_sfloat"}
    both = DEAR.replace("void main", "layout(location = 1) out vec4 second;\nvoid main").replace("}", "second = vec4(1); }")
    outputs: dict[str, Any] = {} if whole else {"attachment_locations": [0, None]}
    pipeline = device.pipeline(VERT, both if whole else DEAR, depth_compare="less", **outputs, **state)
    colors = [device.image(size, FORMAT) for _ in range(2)]
    depth = device.image(size, "d32_sfloat")
    attachments = [tg.Attachment(color, clear=(0, 0, 0, 1)) for color in colors]
    if load:
        with device.render_pass(color=attachments, depth=tg.Attachment(depth, clear=1.0)):
            pass
    begin = tg.Attachment(depth, load_op="load") if load else tg.Attachment(depth, clear=1.0, store_op="dont_care")
    with device.render_pass(color=attachments, depth=begin, trace="fragments") as rp:
        for i in range(6):
            rp.draw(pipeline, rect(0, 0, *size, 0.9 - 0.1 * i, size))
    return rp


@pytest.mark.parametrize(
    ("profile", "options", "words"),
    [
        ("adreno-a650", {"whole": False}, "6 draws tested by low-resolution Z and not in it (write off for the rest of the pass: "),
        ("adreno-a740", {"whole": False}, "6 draws tested by low-resolution Z and not in it (write off for the rest of the pass: "),
        ("adreno-a630", {"load": True}, "6 draws without low-resolution Z (off for the pass: depth is not cleared by the pass"),
    ],
)
def test_low_resolution_z_that_is_off_from_the_first_draw(profile: str, options: dict[str, bool], words: str) -> None:
    """No draw before another is to blame: the draws themselves are, or the pass; what it says saves what the better pass saves."""
    before, after = layers_of(profile, **options), layers_of(profile)
    (advice,) = (c for c in changes(before._counts(), before.explain().rows) if "low-resolution Z" in c.text)
    assert advice.text.startswith(words)
    helps = "clear depth in this pass" if options.get("load") else "write all attachments whole, without blending"
    assert advice.text.endswith(f"): {helps}")
    saved = before.costs().cycles - after.costs().cycles
    assert saved > 0.5 * before.costs().cycles
    assert advice.saves_cycles == pytest.approx(saved, rel=0.1)
    assert not any("low-resolution Z" in c.text for c in changes(after._counts(), after.explain().rows))


def test_nothing_is_said_where_low_resolution_z_can_not_be() -> None:
    """A pass without depth, a draw without a test, a draw that discards: others write all the same."""
    reasons = (
        "off for the pass: the pass has no depth attachment",
        "off for the draw: no depth test",
        "write off for the draw: the fragment shader discards",
    )
    rp = layers_of("adreno-a650", whole=False)
    for reason in reasons:
        rows = [{**row, "low_resolution_z_off": reason} for row in rp.explain().rows]
        assert not any("low-resolution Z" in c.text for c in changes(rp._counts(), rows)), reason


# -- commands between passes


def resolved(device: tg.Device, how: str, size: tuple[int, int] = (256, 256)) -> None:
    color, depth = (device.image(size, name, samples=8) for name in (FORMAT, "d32_sfloat"))
    out = device.image(size, FORMAT, label="out")
    pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less", samples=8)
    more: dict[str, Any] = {"resolve": out, "store_op": "dont_care"} if how == "in the tile" else {}
    with device.render_pass(
        color=[tg.Attachment(color, clear=(0, 0, 0, 1), **more)], depth=tg.Attachment(depth, clear=1.0, store_op="dont_care")
    ) as rp:
        rp.draw(pipeline, rect(0, 0, *size, 0.5, size))
    if how == "by a command":
        device.resolve(color, out)


def cleared(device: tg.Device, how: str, size: tuple[int, int] = (256, 256)) -> None:
    out = device.image(size, FORMAT, label="out")
    if how == "by a command":
        device.clear(out, (0, 0, 0, 1))
    pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT])
    begin = tg.Attachment(out, load_op="load") if how == "by a command" else tg.Attachment(out, clear=(0, 0, 0, 1))
    with device.render_pass(color=[begin]) as rp:
        rp.draw(pipeline, rect(0, 0, *size, 0.5, size))


def framed(draw: Callable[[tg.Device, str], None], how: str) -> tg.Frame:
    device = tg.Device("immortalis-g925")
    with device.frame(how) as frame:
        draw(device, how)
    return frame


@pytest.mark.parametrize(("draw", "words"), [(resolved, "resolves them by a command"), (cleared, "filled by a command")])
def test_a_finding_saves_what_taking_it_saves(draw: Callable[[tg.Device, str], None], words: str) -> None:
    """On each GPU with tiles: bytes and cycles of the frame that has the command, less those of the frame that hasn't."""
    names = [name for name, row in CONSTANTS.items() if row.kind != "immediate"]
    before, after = (framed(draw, how).what_if(names) for how in ("by a command", "in the tile"))
    assert before.left_out == []
    (change,) = (c for c in before.changes if words in c["text"])
    for one, other in zip(before.profiles, after.profiles, strict=True):
        saves = change["saves"][one["profile"]]
        assert saves["read_B"] == pytest.approx(one["read_B"] - other["read_B"])
        assert saves["write_B"] == pytest.approx(one["write_B"] - other["write_B"])
        assert saves["cycles"] == pytest.approx(one["cycles"] - other["cycles"])
        assert 0 < saves["bytes_share"] <= 1 and 0 < saves["cycles_share"] <= 1


def test_no_change_saves_more_than_there_is() -> None:
    for draw in (resolved, cleared):
        for change in framed(draw, "by a command").what_if().changes:
            for saves in change["saves"].values():
                assert saves["bytes_share"] <= 1 and saves["cycles_share"] <= 1, change["text"]


def test_commands_are_in_the_totals_of_every_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """256 x 256 px: eight samples of four bytes read, one written; of a frame and of its capture."""
    from tilegpu.cli import main

    frame = framed(resolved, "by a command")
    found = frame.what_if().asdict()["profiles"]
    path = tmp_path / "frame.tgcap"
    frame.capture(path)
    assert main(["what-if", str(path), "--json", "-q"]) == 0
    of_capture = json.loads(capsys.readouterr().out)["profiles"]
    assert [row["profile"] for row in found] == list(CONSTANTS)
    for row, other in zip(found, of_capture, strict=True):
        (command,) = row["commands"]
        assert command["read_B"] == {"resolve image": 8 * 4 * 256 * 256} and command["write_B"] == {"resolve image": 4 * 256 * 256}
        assert row["read_B"] == 8 * 4 * 256 * 256 + sum(sum(one["read_B"].values()) for one in row["passes"])
        assert row["cycles"] == pytest.approx(command["cycles"] + sum(one["cycles"] for one in row["passes"]))
        assert {key: other[key] for key in ("read_B", "write_B", "cycles")} == {key: row[key] for key in ("read_B", "write_B", "cycles")}


def test_mip_chains_copies_and_blits_are_counted_where_they_stand() -> None:
    """A copy that nobody reads: what it would save is itself, though a mip chain of several levels stands before it."""
    device = tg.Device("mali-g610")
    image, other = device.image((64, 64), FORMAT, mip_levels=None), device.image((64, 64), FORMAT, label="unread")
    with device.frame("mixed") as frame:
        with device.render_pass(color=[tg.Attachment(image, level=0, clear=(0, 0, 0, 1))]):
            pass
        device.generate_mipmaps(image)
        device.blit(image, device.image((32, 32), FORMAT))
        device.copy(image, other)
        with device.render_pass(color=[tg.Attachment(other, clear=(0, 0, 0, 1))]):
            pass
    names = ["mali-g57", "desktop-immediate"]
    found = frame.what_if(names)
    copy = next(stats for stats in frame.stats.commands if stats.command == "copy")
    (change,) = (c for c in found.changes if c["text"].startswith("copy "))
    assert [change["saves"][name]["read_B"] + change["saves"][name]["write_B"] for name in names] == 2 * [copy.moved_B]
    assert sum(sum(c["read_B"].values()) + sum(c["write_B"].values()) for c in found.profiles[0]["commands"]) == frame.stats.commands_B


def test_a_change_is_listed_once() -> None:
    """Depth that is stored and read by nobody: the frame knows, so the pass doesn't guess."""
    device, size = tg.Device("immortalis-g925"), (128, 128)
    pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    color, depth = device.image(size, FORMAT), device.image(size, "d32_sfloat", label="z")
    with (
        device.frame("once") as frame,
        device.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))], depth=tg.Attachment(depth, clear=1.0)) as rp,
    ):
        rp.draw(pipeline, rect(0, 0, *size, 0.5, size))
    texts = [c["text"] for c in frame.what_if(["immortalis-g925", "mali-g610"]).changes if "dont_care" in c["text"]]
    assert len(texts) == 1 and "nobody has read it yet" in texts[0]


# -- an immediate-mode GPU


def test_immediate_mode_does_not_know_the_hosts_bins() -> None:
    """Nor do its counters, where a shader that discards is tested before it is shaded and writes depth behind it."""
    size = (300, 200)
    rng = np.random.default_rng(5)
    places = rng.uniform((0, 0, 4, 4, 0.1), (290, 190, 40, 40, 0.9), (900, 5))
    layers = [np.concatenate([rect(x, y, x + w, y + h, z, size) for x, y, w, h, z in part]) for part in (places[:600], places[600:])]
    for fragment in (FRAG, EARLY_DISCARD, LATE_DISCARD):
        found = [drawn("desktop-immediate", layers, size, fragment=fragment, bin_px=bin_px) for bin_px in (32, 64, 128)]
        costs = [dataclasses.asdict(rp.costs()) for rp in found]
        assert costs[0] == costs[1] == costs[2]
        assert len({(rp.stats.fragments_shaded, rp.stats.fragments_early_killed) for rp in found}) == 1


@pytest.mark.parametrize(("profile", "options"), [("desktop-immediate", {}), ("adreno-a650", {"render_mode": "sysmem"})])
def test_a_clear_that_the_cache_holds_is_written_once(profile: str, options: dict[str, Any]) -> None:
    """64 x 64 px of four bytes, all of it drawn over, and none; as far as a cache doesn't hold it, what is drawn over is written twice."""
    device, size = tg.Device(profile, **options), (64, 64)
    pipeline = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT])
    written = {}
    for what, begin, draws in (
        ("drawn over", {"clear": (0, 0, 0, 1)}, 1),
        ("alone", {"clear": (0, 0, 0, 1)}, 0),
        ("drawn", {"load_op": "dont_care"}, 1),
    ):
        with device.render_pass(color=[tg.Attachment(device.image(size, FORMAT), **begin)]) as rp:
            for _ in range(draws):
                rp.draw(pipeline, rect(0, 0, *size, 0.5, size))
        counts = rp._counts()
        written[what] = costs_of(counts).total("write_B")
        if what == "drawn over":
            k = constants_of(profile)
            for share in (0.5, 0.0):
                smaller = dataclasses.replace(k, l2_B=k.l2_B._replace(value=share * 16384))
                assert costs_of(counts, smaller).total("write_B") == 16384 * (2 - share)
    assert written == {"drawn over": 16384, "alone": 16384, "drawn": 16384}


# -- passes that can't be executed again


def loads(profile: str, fragments: list[str], **options: Any) -> tg.RenderPass:
    device, size = tg.Device(profile), (64, 64)
    image = device.image(size, FORMAT)
    device.clear(image, (0, 0, 0, 1))
    pipelines = [device.pipeline(VERT, fragment, vertex=VERTEX, color=[FORMAT], label=f"p{i}") for i, fragment in enumerate(fragments)]
    with device.render_pass(color=[tg.Attachment(image, load_op="load")], label="ui", **options) as rp:
        for i, pipeline in enumerate(pipelines):
            rp.draw(pipeline, rect(4 * i, 4 * i, 64, 64, 0.5, size))
    return rp


@pytest.mark.parametrize("profile", CONSTANTS)
def test_a_pass_that_loads_has_costs_of_its_counters(profile: str) -> None:
    """But for helpers, which are those of its mean triangle."""
    plain, traced = loads(profile, [DEAR]), loads(profile, [DEAR], trace="fragments")
    found, counted = plain.costs().asdict(), traced.costs().asdict()
    for name in ("cycles", "units"):
        assert found.pop(name) == pytest.approx(counted.pop(name), rel=0.1)
    assert found == counted
    if profile in MALI:
        assert plain.costs().read_B["attachments loaded"] == 64 * 64 * 4


def test_a_pass_that_loads_and_draws_nothing_has_costs() -> None:
    assert loads("mali-g610", []).costs().arithmetic == {}


def test_a_frame_of_commands_alone_has_costs() -> None:
    """A clear of 64 x 64 px: 16,384 bytes, by the bytes a cycle of the bus."""
    device = tg.Device("mali-g610")
    with device.frame("clear") as frame:
        device.clear(device.image((64, 64), FORMAT), (0, 0, 0, 1))
    (row,) = frame.what_if(["mali-g610"]).profiles
    assert row["write_B"] == 16384 and row["cycles"] == 16384 / CONSTANTS["mali-g610"].bus_B.value and row["limited_by"] == "bus"


def test_a_pass_that_loads_and_has_several_programs_says_how() -> None:
    with pytest.raises(
        tg.ValidationError, match=r"pass 'ui': costs\(\) needs .* \('p0', 'p1'\).*dev\.render_pass\(\.\.\., trace='fragments'\)"
    ):
        loads("mali-g610", [FRAG, DEAR]).costs()
    assert loads("mali-g610", [FRAG, DEAR], trace="fragments").costs().cycles > 0


# -- the report


def layers_far_to_near(profile: str, fragment: str, size: tuple[int, int]) -> tg.Frame:
    """Nothing moves without need, and yet there is a change."""
    device = tg.Device(profile)
    pipeline = device.pipeline(VERT, fragment, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    with (
        device.frame("layers") as frame,
        device.render_pass(
            color=[tg.Attachment(device.image(size, FORMAT), clear=(0, 0, 0, 1))],
            depth=tg.Attachment(device.image(size, "d32_sfloat", transient=True), clear=1.0, store_op="dont_care"),
        ) as rp,
    ):
        for z in (0.9, 0.8, 0.7, 0.6):
            rp.draw(pipeline, rect(0, 0, *size, z, size))
    return frame


def test_the_headline_agrees_with_what_is_listed(tmp_path: Path) -> None:
    layers_far_to_near("mali-g610", DEAR, (128, 128)).report(tmp_path / "report.html", profiles=["mali-g57"])
    text = (tmp_path / "report.html").read_text()
    assert "opaque draws near to far" in text
    assert "what would help most saves" in text and "the dearest finding saves" not in text
    assert "attachments of passes alone" in text and "vertices, lists of tiles, textures, what dispatches read and write, commands" in text


@pytest.mark.parametrize(("profile", "told"), [("immortalis-g925", False), ("desktop-immediate", True)])
def test_the_page_of_a_gpu_says_first_what_helps_that_gpu(tmp_path: Path, profile: str, told: bool) -> None:
    """It named what saves most on any profile: sorting of draws, to a GPU whose pre-pass needs none."""
    layers_far_to_near(profile, FRAG, (256, 256)).report(tmp_path / "report.html", profiles=["desktop-immediate"])
    text = (tmp_path / "report.html").read_text()
    assert ("what would help most saves" in text) is ("modelled on desktop-immediate" in text) is told
    assert "opaque draws near to far" in text
