"""``what-if`` and reports execute a frame as its device would: with its heap, its batches of vertices, its flushes and its budgets."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FORMAT, SIZE = "r8g8b8a8_unorm", (256, 256)
VERTEX = np.dtype([("position", "f4", 3)])
VERT = "#version 450\nlayout(location = 0) in vec3 position;\nvoid main() { gl_Position = vec4(position, 1); }"
FRAG = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(0.5); }"


def drawn(profile: str, **options: Any) -> tuple[tg.Device, tg.Frame, tg.RenderPass]:
    device = tg.Device(profile, **options)
    rng = np.random.default_rng(1)
    vertices = np.zeros(3 * 6000, VERTEX)
    vertices["position"][:, :2] = (rng.uniform(-1, 1, (6000, 1, 2)) + rng.normal(0, 0.05, (6000, 3, 2))).reshape(-1, 2)
    vertices["position"][:, 2] = np.repeat(rng.random(6000), 3)
    out, depth = device.image(SIZE, FORMAT, label="out"), device.image(SIZE, "d32_sfloat", transient=True)
    pipe = device.pipeline(VERT, FRAG, vertex=VERTEX, color=[FORMAT], depth="d32_sfloat", depth_compare="less")
    at: dict[str, Any] = {"color": [tg.Attachment(out, clear=(0, 0, 0, 1))],
                          "depth": tg.Attachment(depth, clear=1.0, store_op="dont_care")}  # fmt: skip
    with device.frame("f", outputs=out) as frame, device.render_pass(**at) as rp:
        rp.draw(pipe, vertices, indices=np.arange(3 * 6000, dtype=np.uint32))
    return device, frame, rp


@pytest.mark.parametrize("profile", ["mali-g610", "immortalis-g925"])
def test_splits_of_a_small_heap_are_modelled_and_said_first(profile: str, tmp_path: Path) -> None:
    _, frame, rp = drawn(profile, tiler_heap=16384)
    found = frame.what_if([profile])
    row = found.profiles[0]
    spilled_B = rp.stats.bytes("spill_load") + rp.stats.bytes("spill_store")
    assert row["splits"] == rp.stats.splits > 10 and row["cycles"] == pytest.approx(rp.costs().cycles)
    (line,) = [line for line in frame.lint() if "the tiler heap was full" in line]
    assert line.saves_B == spilled_B > 1 << 20
    (change,) = [change for change in found.changes if "the tiler heap was full" in change["text"]]
    saves = change["saves"][profile]
    assert saves["read_B"] + saves["write_B"] == pytest.approx(spilled_B) and saves["cycles"] > 0
    frame.report(tmp_path / "r.html", profiles=[profile])
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", (tmp_path / "r.html").read_text())).split())
    assert "nothing was found" not in text and f"the dearest finding saves {spilled_B / (1 << 20):.1f} MiB" in text


def test_other_profiles_have_the_heap_too() -> None:
    _, frame, _ = drawn("host", tiler_heap=16384)
    assert frame.what_if(["mali-g610"]).profiles[0]["splits"] > 10
    _, frame, _ = drawn("host")
    assert frame.what_if(["mali-g610"]).profiles[0]["splits"] == 0


def test_batches_of_vertices_are_the_devices_on_its_own_profile_alone() -> None:
    _, frame, rp = drawn("mali-g610", vertex_batch=32)
    _, plain, of_plain = drawn("mali-g610")
    own, other = frame.what_if(["mali-g610", "mali-g57"]).profiles
    assert own["cycles"] == pytest.approx(rp.costs().cycles)
    assert other["cycles"] == plain.what_if(["mali-g57"]).profiles[0]["cycles"]
    assert plain.what_if(["mali-g610"]).profiles[0]["cycles"] == pytest.approx(of_plain.costs().cycles)


def test_options_reach_the_devices_that_execute_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilegpu import _core

    device, frame, _ = drawn("adreno-a650", lrz_flush=False, loop_budget=1 << 20, indirect_budget=1 << 21, ordered_atomics=False)
    made: list[tuple[Any, ...]] = []
    make = _core.Device
    monkeypatch.setattr(_core, "Device", lambda *values, **named: made.append(values) or make(*values, **named))
    frame.what_if(["adreno-a650", "mali-g57"])
    assert len(made) >= 2 and device.profile == "adreno-a650"
    assert all((values[10], values[11], values[12], values[13]) == (False, 1 << 20, 1 << 21, False) for values in made)
