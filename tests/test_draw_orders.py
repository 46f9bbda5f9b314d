"""Advice about the order of draws: each is followed, and saves what was told; what can't be followed, or is the picture, is not told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.test_costs import FORMAT, LOOP, VERT, VERTEX, rect

import tilegpu as tg
from tilegpu import ValidationError, _core
from tilegpu.cli import main
from tilegpu.frame_orders import run_with_orders
from tilegpu.frame_profiles import run

SIZE = (256, 256)
DISCARDS = f"""#version 450
layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o;
void main() {{ vec4 c = v_color; {LOOP} if (c.a < 0.1) discard; o = v_color + 1e-6 * c; }}"""
DEAR = DISCARDS.replace("if (c.a < 0.1) discard;", "")
PRE_PASS = ["immortalis-g925", "mali-g725"]
LOW_RESOLUTION_Z = ["adreno-a650", "adreno-a740"]


def writes(targets: int) -> str:
    """A dear shader of so many colour attachments."""
    outs = "".join(f"layout(location = {i}) out vec4 o{i};\n" for i in range(targets))
    stores = "".join(f"o{i} = v_color + 1e-6 * c;" for i in range(targets))
    return f"#version 450\nlayout(location = 0) in vec4 v_color;\n{outs}void main() {{ vec4 c = v_color; {LOOP} {stores} }}"


class Layer(NamedTuple):
    z: float
    fragment: str = DEAR
    area: tuple[int, int, int, int] = (0, 0, *SIZE)
    state: dict[str, Any] = {"depth_compare": "less"}  # noqa: RUF012


def blended(z: float) -> Layer:
    return Layer(z, state={"depth_compare": "less", "blend": "alpha"})


def vertices(layer: Layer) -> np.ndarray:
    out = rect(*layer.area, layer.z, SIZE)
    out["color"] = (layer.z, 1 - layer.z, layer.area[2] / 1024, 0.5)
    return out


#: Of passes that were drawn here.
pictures: dict[tg.RenderPass, list[np.ndarray]] = {}


def framed(
    profile: str, layers: Sequence[Layer], colors: int = 1, depth: bool = True, stencil: bool = False
) -> tuple[tg.RenderPass, tg.Frame]:
    device = tg.Device(profile=profile)
    images = [device.image(SIZE, FORMAT) for _ in range(colors)]
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT] * colors}
    at: dict[str, Any] = {}
    if depth:
        state["depth"] = "d24_unorm_s8_uint" if stencil else "d32_sfloat"
        image = device.image(SIZE, state["depth"], transient=True)
        at["depth"] = tg.Attachment(image, clear=1.0, store_op="dont_care")
        if stencil:
            state["stencil"], at["stencil"] = state["depth"], tg.Attachment(image, clear=0, store_op="dont_care")
    with device.frame("f") as frame, device.render_pass(color=[tg.Attachment(i, clear=(0, 0, 0, 1)) for i in images], **at) as rp:
        for layer in layers:
            rp.draw(device.pipeline(VERT, layer.fragment, **state, **layer.state), vertices(layer))
    pictures[rp] = [image.numpy().copy() for image in images]
    return rp, frame


def advised(frame: tg.Frame, profile: str) -> list[dict[str, Any]]:
    """Changes that are an order of draws, with the text."""
    changes = frame.what_if([profile]).changes
    return [{"text": one["text"], **one["saves"][profile]} for one in changes if one["saves"][profile]["order"]]


def followed(profile: str, layers: Sequence[Layer], **options: Any) -> list[dict[str, Any]]:
    """Each order that is told is drawn by hand: it saves what was told, and the picture is what was told."""
    before, frame = framed(profile, layers, **options)
    found = advised(frame, profile)
    for one in found:
        after, _ = framed(profile, [layers[i] for i in one["order"]], **options)
        costs, less = before.costs(), after.costs()
        assert one["cycles"] == pytest.approx(costs.cycles - less.cycles, abs=0.5), one
        assert one["read_B"] == pytest.approx(costs.total("read_B") - less.total("read_B"))
        assert one["write_B"] == pytest.approx(costs.total("write_B") - less.total("write_B"))
        same = all(np.array_equal(a, b) for a, b in zip(pictures[before], pictures[after], strict=True))
        assert one["same_picture"] == same and ("the same picture" in one["detail"]) == same
        one["share"] = one["cycles"] / costs.cycles
    return found


# -- what ends the pre-pass


@pytest.mark.parametrize("profile", PRE_PASS)
def test_a_blended_draw_with_depth_between_far_and_near_is_better_last(profile: str) -> None:
    """Arm, "Place incompatible primitives last": what it ends hides the draws before it too."""
    layers = [Layer(0.9), blended(0.8), Layer(0.2)]
    (one,) = followed(profile, layers)
    assert one["text"] == "draw 1 last: it ends the pre-pass" and one["order"] == [0, 2, 1] and one["same_picture"]
    assert one["share"] > 0.6


@pytest.mark.parametrize("profile", PRE_PASS)
@pytest.mark.parametrize("order", [(1, 2, 1, 1, 1), (2, 1, 1, 1)])
def test_of_a_g_buffer_who_writes_more_is_better_last(profile: str, order: tuple[int, ...]) -> None:
    """The article's standard and special materials: the special one last, or all write all attachments."""
    fewer = {"depth_compare": "less", "attachment_locations": [0, None]}
    states = {1: fewer, 2: {"depth_compare": "less"}}
    layers = [Layer(z, writes(n), state=states[n]) for z, n in zip((0.95, 0.9, 0.6, 0.7, 0.65), order, strict=False)]
    special = order.index(2)
    found = followed(profile, layers, colors=2)
    (one,) = [one for one in found if not one["same_picture"]]
    assert all(other["share"] < one["share"] for other in found if other is not one), "those that keep the picture save less"
    start = f"draw {special} last: it writes more colour attachments than draw {special + 1}, which ends the pre-pass for it"
    assert one["text"].startswith(start)
    assert "rule 1.2; or let all write all of them" in one["text"]
    assert one["order"][-1] == special and one["share"] > 0.4
    whole = [Layer(layer.z, writes(2)) for layer in layers]
    saved = framed(profile, layers, 2)[0].costs().cycles - framed(profile, whole, 2)[0].costs().cycles
    assert saved == pytest.approx(one["cycles"], rel=0.02), "the other fix"


@pytest.mark.parametrize("profile", PRE_PASS)
def test_who_ends_the_pre_pass_once_another_is_last_is_named_too(profile: str) -> None:
    layers = [blended(0.95), blended(0.94), *(Layer(z) for z in (0.9, 0.8, 0.7, 0.6))]
    (one,) = followed(profile, layers)
    assert one["text"] == "draws 0 and 1 last: they end the pre-pass" and one["order"] == [2, 3, 4, 5, 0, 1]
    assert one["share"] > 0.8


@pytest.mark.parametrize("profile", PRE_PASS)
def test_who_ends_the_pre_pass_in_tiles_of_their_own_go_last_together(profile: str) -> None:
    """More than are tried one by one."""
    layers = [Layer(0.9), *(blended(0.8)._replace(area=(64 * i, 0, 64 * i + 64, 256)) for i in range(4)), Layer(0.2)]
    (one,) = followed(profile, layers)
    assert one["text"] == "draws 1, 2, 3 and 4 last: they end the pre-pass" and one["order"] == [0, 5, 1, 2, 3, 4] and one["same_picture"]


# -- what breaks low-resolution Z


@pytest.mark.parametrize("profile", LOW_RESOLUTION_Z)
def test_who_breaks_low_resolution_z_between_far_and_near_is_better_last(profile: str) -> None:
    layers = [Layer(0.9), Layer(0.1, area=(0, 0, 8, 8), state={"depth_compare": "always"}), Layer(0.2)]
    found = {one["text"]: one for one in followed(profile, layers)}
    one = found["draw 1 last: it breaks low-resolution Z"]
    assert one["order"] == [0, 2, 1] and one["same_picture"] and one["share"] > 0.4
    assert "draws near to far, as far as the picture allows" in found, "draw 1 comes later there, too"


@pytest.mark.parametrize("profile", LOW_RESOLUTION_Z)
def test_low_resolution_z_saves_what_the_other_order_saves(profile: str) -> None:
    layers = [blended(0.99), *(Layer(0.9 - 0.1 * i) for i in range(6))]
    found = {one["text"]: one for one in followed(profile, layers)}
    assert found["draw 0 last: it breaks low-resolution Z"]["share"] > 0.5


@pytest.mark.parametrize("profile", LOW_RESOLUTION_Z)
def test_less_or_equal_for_equal_is_not_told_where_it_saves_nothing(profile: str) -> None:
    layers = [Layer(0.9), Layer(0.9, state={"depth_compare": "equal"}), Layer(0.2)]
    other = [layers[0], Layer(0.9, state={"depth_compare": "less_or_equal"}), layers[2]]
    (before, frame), (after, _) = framed(profile, layers), framed(profile, other)
    assert before.costs().cycles == pytest.approx(after.costs().cycles, rel=0.001)
    assert "less_or_equal" not in str(frame.what_if([profile]))
    followed(profile, layers)


@pytest.mark.parametrize("profile", LOW_RESOLUTION_Z)
def test_estimates_beside_orders_say_that_they_are_the_most(profile: str) -> None:
    """A draw against the direction: told up to what following gives."""
    against = {"depth_compare": "greater", "depth_write": False}
    layers = [Layer(0.9), Layer(0.95, state=against), Layer(0.2)]
    other = [layers[0], Layer(0.95, state={**against, "depth_compare": "less"}), layers[2]]
    (before, frame), (after, _) = framed(profile, layers), framed(profile, other)
    (one,) = [c for c in frame.what_if([profile]).changes if "compare in one direction" in c["text"]]
    saves = one["saves"][profile]
    assert saves["at_most"] and saves["cycles"] == pytest.approx(before.costs().cycles - after.costs().cycles, rel=0.02)
    assert "saves up to" in str(frame.what_if([profile]))


# -- near to far


@pytest.mark.parametrize("profile", ["mali-g610", "adreno-a740", "desktop-immediate"])
def test_near_to_far_of_shaders_that_discard(profile: str) -> None:
    """Late quads wait in the queue of a Mali; on the desktop what discards and writes depth is not tested before it is shaded."""
    found = followed(profile, [Layer(z, DISCARDS) for z in (0.9, 0.8, 0.7)])
    if profile == "desktop-immediate":
        assert not found
        return
    (one,) = found
    assert one["text"] == "opaque draws near to far" and one["order"] == [2, 1, 0] and one["same_picture"]
    assert (0.25 < one["share"] < 0.4) if profile == "mali-g610" else one["share"] > 0.6


@pytest.mark.parametrize("profile", ["adreno-a740", "desktop-immediate", "mali-g720", "mali-g610"])
@pytest.mark.parametrize("depth", [True, False])
def test_where_nothing_tests_depth_the_order_is_the_picture(profile: str, depth: bool) -> None:
    state = {"depth_compare": "always"} if depth else {}
    layers = [Layer(z, state=state) for z in (0.9, 0.8, 0.7)]
    _, frame = framed(profile, layers, depth=depth)
    found = str(frame.what_if([profile]))
    assert not advised(frame, profile) and "near to far" not in found and "low-resolution Z" not in found.partition("help")[2]
    assert "draw what breaks it last" not in found


def test_where_blended_draws_are_seen_between_opaque_ones_they_stay() -> None:
    """Near to far would put half of the picture behind glass that it is before; before the glass there is an order."""
    glass = Layer(0.1, state={"depth_compare": "less", "depth_write": False, "blend": "alpha"})
    half = Layer(0.5, area=(0, 0, 128, 256))
    assert not followed("desktop-immediate", [Layer(0.9), glass, half])
    (one,) = followed("desktop-immediate", [Layer(0.9), Layer(0.8), glass, half])
    assert one["order"] == [1, 0, 2, 3] and one["same_picture"]


def test_who_would_be_seen_if_it_were_last_and_tests_nothing_stays() -> None:
    """A breaker that is hidden where it is, and would cover the others."""
    layers = [Layer(0.99, state={"depth_compare": "always"}), *(Layer(0.9 - 0.1 * i) for i in range(3))]
    found = followed("adreno-a650", layers)
    assert "draws near to far, as far as the picture allows" in [one["text"] for one in found]
    assert all(one["same_picture"] for one in found)


@pytest.mark.parametrize("profile", PRE_PASS)
def test_who_ends_the_pre_pass_goes_behind_those_that_keep_the_picture(profile: str) -> None:
    """Draw 2 lies at the depth of draw 0, and would hide it if it came first; behind draw 1 alone it saves as much."""
    layers = [blended(0.66), Layer(0.58, area=(44, 84, 256, 244)), Layer(0.66), blended(0.74)._replace(area=(8, 42, 144, 102))]
    (one,) = followed(profile, layers)
    assert one["text"] == "draw 0 as late as the picture allows: it ends the pre-pass"
    assert one["order"] == [1, 0, 2, 3] and one["same_picture"] and one["share"] > 0.2


@pytest.mark.parametrize("rows", [9, 3])
@pytest.mark.parametrize("profile", ["desktop-immediate", "adreno-a740"])
def test_where_an_order_makes_another_picture_another_is_looked_for(profile: str, rows: int) -> None:
    """Draws 1 and 2 share a few rows, between those of the pixels that are looked at: there draw 2 lies over draw 1."""
    glass = Layer(0.11, area=(0, 0, 60, 6 + rows), state={"depth_compare": "less", "depth_write": False, "blend": "alpha"})
    layers = [Layer(0.87, area=(0, 60, 256, 256)), glass, Layer(0.99, area=(0, 6, 256, 200)), Layer(0.1, area=(0, 60, 256, 256))]
    (one,) = followed(profile, layers)
    assert one["order"] == [3, 0, 1, 2] and one["same_picture"] and one["share"] > 0.05


@pytest.mark.parametrize("profile", ["desktop-immediate", "adreno-a740"])
def test_draws_of_equal_depth_keep_their_order(profile: str) -> None:
    small, half_of_it = Layer(0.2, area=(0, 0, 16, 16)), Layer(0.1, area=(0, 0, 16, 8))
    layers = [Layer(0.9), Layer(0.8), small, Layer(0.2), half_of_it]
    (one,) = followed(profile, layers)
    assert one["same_picture"] and one["order"] == [4, 2, 3, 1, 0]


def test_instances_inside_a_draw_are_an_estimate() -> None:
    """One draw of layers far to near: no order of draws helps it, and it saves at most what near to far does."""
    device = tg.Device(profile="desktop-immediate")
    pipeline = device.pipeline(VERT, DEAR, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")

    def drawn(depths: Sequence[float]) -> tuple[tg.RenderPass, tg.Frame]:
        with (
            device.frame("f") as frame,
            device.render_pass(
                color=[tg.Attachment(device.image(SIZE, FORMAT), clear=(0, 0, 0, 1))],
                depth=tg.Attachment(device.image(SIZE, "d32_sfloat"), clear=1.0, store_op="dont_care"),
            ) as rp,
        ):
            rp.draw(pipeline, np.concatenate([vertices(Layer(z)) for z in depths]))
        return rp, frame

    (before, frame), (after, _) = drawn((0.9, 0.5, 0.1)), drawn((0.1, 0.5, 0.9))
    (one,) = [c for c in frame.what_if(["desktop-immediate"]).changes if "near to far" in c["text"]]
    saves = one["saves"]["desktop-immediate"]
    assert one["text"].startswith("instances and triangles") and saves["at_most"] and not saves["order"]
    assert 0 < before.costs().cycles - after.costs().cycles <= saves["cycles"] + 0.5


# -- as far as the picture allows


HUD: dict[str, Any] = {"depth_test": False, "depth_write": False}


@pytest.mark.parametrize("profile", ["mali-g610", "mali-g720", "adreno-a740", "desktop-immediate"])
def test_near_to_far_goes_by_depth_not_by_what_is_seen(profile: str) -> None:
    """Each before the last and smaller than it: all are seen by as much."""
    layers = [Layer(z, area=(0, 0, width, 256)) for z, width in ((0.9, 256), (0.7, 180), (0.5, 128), (0.4, 92), (0.3, 66))]
    (one,) = followed(profile, layers)
    assert one["text"] == "opaque draws near to far" and one["order"] == [4, 3, 2, 1, 0] and one["same_picture"]


@pytest.mark.parametrize("blend", [{}, {"blend": "alpha"}])
def test_what_ends_the_pre_pass_stays_behind_an_interface(blend: dict[str, Any]) -> None:
    layers = [Layer(0.9), blended(0.5)._replace(area=(0, 0, 128, 256)), Layer(0.4, area=(64, 0, 256, 256)),
              Layer(0.5, area=(0, 0, 256, 80), state={**HUD, **blend})]  # fmt: skip
    (one,) = followed("immortalis-g925", layers)
    assert one["text"] == "draw 1 as late as the picture allows: it ends the pre-pass"
    assert one["same_picture"] and one["order"] == [0, 2, 1, 3] and one["share"] > 0.2


@pytest.mark.parametrize("profile", ["adreno-a650", "desktop-immediate", "mali-g610"])
def test_what_others_cover_is_no_order_inside_a_draw(profile: str) -> None:
    _, frame = framed(profile, [Layer(0.2), Layer(0.5, area=(0, 0, 256, 80), state=HUD)])
    assert "instances and triangles" not in str(frame.what_if([profile]))


@pytest.mark.parametrize("order", [(3, 2, 1), (3, 2, 1, 1)])
def test_all_richer_materials_go_last(order: tuple[int, ...]) -> None:
    """Rule 1.2 with three of them; each word is true of the draws that it names."""
    layers = []
    for z, n in zip((0.9, 0.8, 0.7, 0.5), order, strict=False):
        targets = [i if i < n else None for i in range(3)]
        layers.append(Layer(z, writes(n), state={"depth_compare": "less", "attachment_locations": targets}))
    one = followed("immortalis-g925", layers, colors=3)[0]
    assert one["text"].startswith("draws 0 and 1 last: they write more colour attachments than draw 2 (rule 1.2")
    assert set(one["order"][-2:]) == {0, 1} and one["share"] > 0.6


@pytest.mark.parametrize("profile", PRE_PASS)
def test_late_z_is_better_behind_a_wall_that_hides_it(profile: str) -> None:
    found = followed(profile, [*(Layer(z, DISCARDS) for z in (0.9, 0.8, 0.7, 0.6)), Layer(0.2)])
    (one,) = [one for one in found if "late Z" in one["text"]]
    assert one["order"] == [4, 0, 1, 2, 3] and one["same_picture"] and one["share"] > 0.3


# -- what can't be moved


def test_draws_stay_on_their_side_of_a_clear() -> None:
    device = tg.Device(profile="desktop-immediate")
    pipeline = device.pipeline(VERT, DEAR, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    with (
        device.frame("f") as frame,
        device.render_pass(
            color=[tg.Attachment(device.image(SIZE, FORMAT), clear=(0, 0, 0, 1))],
            depth=tg.Attachment(device.image(SIZE, "d32_sfloat"), clear=1.0, store_op="dont_care"),
        ) as rp,
    ):
        for z in (0.9, 0.5, 0.7, 0.3):
            if z == 0.7:
                rp.clear(depth=1.0)
            rp.draw(pipeline, vertices(Layer(z)))
    (one,) = advised(frame, "desktop-immediate")
    assert one["order"] == [1, 0, 3, 2] and one["same_picture"]


@pytest.mark.parametrize("kind", ["memory", "query"])
def test_what_sees_the_order_is_not_tried_and_that_is_said(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = tg.Device(profile="desktop-immediate")
    counts = DEAR.replace("void main() {", "layout(set = 0, binding = 0) buffer B { uint n; };\nvoid main() { atomicAdd(n, 1u);")
    early = counts.replace("void main", "layout(early_fragment_tests) in;\nvoid main")
    shader = early if kind == "memory" else DEAR
    pipeline = device.pipeline(VERT, shader, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    bind = {"bind": {"B": device.buffer(np.zeros(4, np.uint32))}} if kind == "memory" else {}
    with (
        device.frame("f") as frame,
        device.render_pass(
            color=[tg.Attachment(device.image(SIZE, FORMAT), clear=(0, 0, 0, 1))],
            depth=tg.Attachment(device.image(SIZE, "d32_sfloat"), clear=1.0, store_op="dont_care"),
        ) as rp,
    ):
        for z in (0.9, 0.5):
            if kind == "query":
                with rp.query():
                    rp.draw(pipeline, vertices(Layer(z)))
            else:
                rp.draw(pipeline, vertices(Layer(z)), **bind)
    why = {"memory": "its shaders write memory", "query": "it has queries"}[kind]
    found = frame.what_if(["desktop-immediate"])
    assert found.left_out == [f"other orders of the draws of pass 0: {why}"] and not advised(frame, "desktop-immediate")
    path = tmp_path / "f.tgcap"
    frame.capture(path)
    assert main(["what-if", str(path), "--profile", "desktop-immediate", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == found.left_out
    with pytest.raises(ValidationError, match=f"orders: pass 0: {why}; its draws stay in their order"):
        _core.load_capture(device.core, str(path), [(0, [1, 0])])


# -- captures in another order


def test_a_capture_in_another_order_is_the_pass_that_was_recorded_so(tmp_path: Path) -> None:
    """Pipelines, push constants, dynamic states and vertices go with their draws."""
    device = tg.Device(profile="mali-g57")
    fragment = """#version 450
    layout(location = 0) in vec4 v_color; layout(location = 0) out vec4 o; layout(push_constant) uniform P { vec4 tint; };
    void main() { o = v_color * tint; }"""
    state: dict[str, Any] = {"vertex": VERTEX, "color": [FORMAT], "blend": "alpha"}
    pipelines = [device.pipeline(VERT, fragment, **state), device.pipeline(VERT, DEAR, **state)]

    def drawn(order: Sequence[int]) -> tuple[tg.Image, tg.Frame]:
        image = device.image(SIZE, FORMAT)
        with device.frame("f") as frame, device.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))]) as rp:
            for i in order:
                push = {"push": {"tint": (0.2 * i, 1, 0.5, 0.7)}} if i % 2 == 0 else {}
                area = (20 * i, 10, 250 - 20 * i, 200)
                rp.draw(pipelines[i % 2], vertices(Layer(0.1 * i, area=area)), scissor=(0, 0, 256, 60 + 30 * i), **push)
        return image, frame

    order = [3, 0, 4, 2, 1]
    (_, frame), (wanted, _) = drawn(range(5)), drawn(order)
    path = str(tmp_path / "f.tgcap")
    frame.capture(path)
    capture = _core.load_capture(device.core, path, [(0, order)])
    device.core.submit_and_wait(capture.command_buffers)
    ((image, level, layer, aspect, rows),) = capture.stored_parts()
    assert rows is None and np.array_equal(image.read(aspect, level, layer), wanted.numpy())
    assert capture.draws_that_move() == [([5], [False] * 5, "")]
    for wrong, message in (
        ([(0, [0, 1, 2, 3])], "places 0 to 4 must have the draws of these numbers, each once"),
        ([(0, [0, 1, 2, 3, 3])], "places 0 to 4 must have the draws of these numbers, each once"),
        ([(0, [0, 1, 2, 3, 9])], "places 0 to 4 must have the draws of these numbers, each once"),
        ([(0, [0, 1, 2, 3, 4, 5])], "the order has 6 draws; it must have each of the pass's 5 once"),
        ([(1, [0])], "orders: pass 1: there are 1 passes"),
        ([(0, order), (0, [0, 1, 2, 3, 4])], "orders: pass 0: there are two orders of it; one is allowed"),
    ):
        with pytest.raises(ValidationError, match=message):
            _core.load_capture(device.core, path, wrong)


def test_orders_are_tried_where_they_may_help_alone(tmp_path: Path) -> None:
    """Near to far as it is: one run."""
    _, frame = framed("desktop-immediate", [Layer(z) for z in (0.1, 0.5, 0.9)])
    path = tmp_path / "f.tgcap"
    frame.capture(path)
    assert run(path, "desktop-immediate").orders == {} and run_with_orders(path, "desktop-immediate").orders == {}


@pytest.mark.parametrize("profile", ["immortalis-g925", "adreno-a740", "mali-g610"])
def test_who_reads_stencil_stays_behind_who_marks_it(profile: str) -> None:
    """The near draw goes first, and the mask is drawn before what it cuts out."""
    mark = {"compare": "always", "pass": "replace", "reference": 1}
    read = {"compare": "equal", "reference": 1}
    marks: dict[str, Any] = {"blend": "alpha", "depth_write": False, "stencil_front": mark, "stencil_back": mark}
    layers = [
        Layer(0.9),
        Layer(0.8, area=(0, 0, 128, 256), state={"depth_compare": "less", **marks}),
        Layer(0.5, state={"depth_compare": "less", "stencil_front": read, "stencil_back": read}),
        Layer(0.4, area=(200, 0, 256, 256)),
    ]
    found = followed(profile, layers, stencil=True)
    assert found and all(one["same_picture"] and one["order"].index(1) < one["order"].index(2) for one in found)
    assert max(one["share"] for one in found) > 0.15


@pytest.mark.parametrize("profile", ["mali-g610", "desktop-immediate", "adreno-a740"])
def test_what_stencil_shows_and_a_wall_hides_comes_behind_the_wall(profile: str) -> None:
    """A marker, what is seen through it, and a wall before both: whether a hidden draw passes its stencil test does not matter."""
    one = {"compare": "always", "pass_op": "replace", "reference": 1}
    same = {"compare": "equal", "reference": 1}
    layers = [Layer(0.9), Layer(0.8, area=(60, 60, 200, 200), state={"depth_compare": "less", "stencil_front": one, "stencil_back": one}),
              Layer(0.7, state={"depth_compare": "less", "stencil_front": same, "stencil_back": same}), Layer(0.2)]  # fmt: skip
    found = followed(profile, layers, stencil=True)
    best = max(found, key=lambda one: one["share"])
    assert best["order"][0] == 3 and best["same_picture"] and best["share"] > 0.3


@pytest.mark.parametrize("profile", ["mali-g610", "desktop-immediate"])
def test_what_stencil_shows_stays_behind_what_marks_it(profile: str) -> None:
    """Near to far would put what is seen through the marker before it."""
    one = {"compare": "always", "pass_op": "replace", "reference": 1}
    same = {"compare": "equal", "reference": 1}
    layers = [Layer(0.9), Layer(0.8, area=(60, 60, 200, 200), state={"depth_compare": "less", "stencil_front": one, "stencil_back": one}),
              Layer(0.2, state={"depth_compare": "less", "stencil_front": same, "stencil_back": same})]  # fmt: skip
    assert all(one["same_picture"] and one["order"].index(1) < one["order"].index(2) for one in followed(profile, layers, stencil=True))


@pytest.mark.parametrize("profile", PRE_PASS)
def test_late_draws_hide_each_other_in_the_pre_pass(profile: str) -> None:
    """Shaders that decide coverage after long work run in the pre-pass for all that is not hidden yet, by others of them too."""
    slow = DISCARDS.replace("if (c.a < 0.1) discard;", "for (int j = 0; j < 100; j++) c = fract(c * 1.01 + 0.1); if (c.a < -1.0) discard;")
    layers = [Layer(0.8, slow), Layer(0.6, slow), Layer(0.4, slow), Layer(0.9)]
    found = followed(profile, layers)
    (one,) = [one for one in found if "the nearest of them first" in one["text"]]
    assert one["order"] == [3, 2, 1, 0] and one["same_picture"] and one["share"] > 0.2
    assert all(other["share"] < one["share"] for other in found if other is not one)
