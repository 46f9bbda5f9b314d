"""What every profile's model says of some scenes: tests/profile_costs.json holds it; `python -m tests.test_profile_costs` writes it anew
(after looking at what changed, and why)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

import tilegpu as tg
from tilegpu.cost_constants import CONSTANTS
from tilegpu.costs import PassCosts
from tilegpu.frame_profiles import run
from tilegpu.scene import SceneRenderer, scenes

COSTS = Path(__file__).with_name("profile_costs.json")
SCENES = ["heavy_overdraw_512", "gbuffer5", "msaa4_pass_resolve", "mobile_frame"]
SIZE = (240, 136)


def rounded(amounts: dict[str, float]) -> dict[str, int]:
    return {what: round(value) for what, value in amounts.items() if round(value)}


def captures(folder: Path) -> dict[str, Path]:
    """Each scene, drawn once."""
    found = {}
    for name in SCENES:
        device = tg.Device(threads=2, lanes=8)
        frame = device.frame(name)
        frame.takes_inner = True
        with frame:
            SceneRenderer(device).render(scenes()[name].frame(SIZE))
        found[name] = folder / f"{name}.tgcap"
        frame.capture(found[name])
    return found


def costs_on(path: Path, profile: str) -> list[PassCosts]:
    return [costs for one in run(path, profile).passes if (costs := one.modelled()) is not None]


def plain(costs: list[PassCosts]) -> list[dict[str, object]]:
    """What is committed: whole numbers."""
    return [
        {"cycles": round(c.cycles), "limited_by": c.limited_by, "read_B": rounded(dict(c.read_B)), "write_B": rounded(dict(c.write_B)),
         "arithmetic": rounded(dict(c.arithmetic)), "texture": rounded(dict(c.texture))}
        for c in costs
    ]  # fmt: skip


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return captures(tmp_path_factory.mktemp("captures"))


@pytest.mark.parametrize("profile", CONSTANTS)
def test_costs_are_those_that_are_committed(profile: str, captured: dict[str, Path]) -> None:
    committed = json.loads(COSTS.read_text())[profile]
    for name, path in captured.items():
        assert plain(costs_on(path, profile)) == committed[name], f"{profile}, {name}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        paths = captures(Path(made))
        table = {one: {name: plain(costs_on(path, one)) for name, path in paths.items()} for one in CONSTANTS}
    COSTS.write_text(json.dumps(table, indent=0) + "\n")
