"""vulkaninfo runs, and what it says of the device beside the requirements of Khronos's profiles: what lacks is in deficits.txt, which
may only shrink. Source: VP_KHR_roadmap_2022.json and vk.xml (limittype) of libvulkan-dev."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from programs import need, run

PROFILES = Path("/usr/share/vulkan/registry/profiles")
REGISTRY = Path("/usr/share/vulkan/registry/vk.xml")
DEFICITS = Path(__file__).parent / "deficits.txt"


def flat(structs: dict) -> dict[str, object]:
    """Members by name, whatever struct they are in: profiles and vulkaninfo choose different ones for the same."""
    out: dict[str, object] = {}
    for members in structs.values():
        for name, value in members.items():
            out.update(value if name in ("limits", "sparseProperties") else {name: value})
    return out


def device(tmp_path: Path, version: str) -> dict:
    path = tmp_path / f"{version}.json"
    run([need("vulkaninfo"), "--json", "-o", str(path)], validate=False, TILEGPU_VULKAN=version)
    return json.loads(path.read_text())["capabilities"]["device"]


@pytest.mark.parametrize("version", ["1.1", "1.2", "1.3", "1.4"])
def test_it_runs(version: str) -> None:
    text = run([need("vulkaninfo")], TILEGPU_VULKAN=version)
    assert "tilegpu" in text and f"apiVersion         = {version}." in re.sub(r" +=", "         =", text)
    run([need("vulkaninfo"), "--summary"], TILEGPU_VULKAN=version)


def test_the_type_that_is_asked_for() -> None:
    def says(**asked: str) -> str:
        return run([need("vulkaninfo"), "--summary"], validate=False, **asked)

    assert "PHYSICAL_DEVICE_TYPE_CPU" in says()
    assert "PHYSICAL_DEVICE_TYPE_DISCRETE_GPU" in says(TILEGPU_VULKAN_TYPE="discrete")
    wrong = says(TILEGPU_VULKAN_TYPE="gpu")
    assert "TILEGPU_VULKAN_TYPE is 'gpu'" in wrong and "PHYSICAL_DEVICE_TYPE_CPU" in wrong


def test_without_extensions() -> None:
    def says(without: str) -> str:
        return run([need("vulkaninfo")], validate=False, TILEGPU_VULKAN_WITHOUT=without)

    names = ["VK_KHR_cooperative_matrix", "VK_EXT_mesh_shader"]
    assert all(name in says("") for name in names)
    said = says(", ".join(names))
    assert not any(name in said for name in names) and "VK_KHR_swapchain" in said
    wrong = says("VK_KHR_cooperative_matrix,VK_KHR_nothing")
    assert "TILEGPU_VULKAN_WITHOUT has 'VK_KHR_nothing'; Vulkan has no such extension" in wrong
    assert "VK_KHR_cooperative_matrix" not in wrong and "VK_EXT_mesh_shader" in wrong


def test_with_extensions() -> None:
    def says(with_: str) -> str:
        return run([need("vulkaninfo")], validate=False, TILEGPU_VULKAN_WITH=with_)

    name = "VK_EXT_multisampled_render_to_single_sampled"
    assert name not in says("") and name in says(name)
    wrong = says("VK_KHR_swapchain")
    assert "TILEGPU_VULKAN_WITH has 'VK_KHR_swapchain', which is listed without, or not there" in wrong


def fits(kind: str, have: object, want: object) -> bool:
    if isinstance(want, list) and (not want or isinstance(want[0], str)):
        return isinstance(have, list) and set(want) <= set(have)
    if isinstance(want, list):
        assert isinstance(have, list)
        if kind == "range":
            return have[0] <= want[0] and have[1] >= want[1]
        return all(fits(kind, h, w) for h, w in zip(have, want, strict=True))
    if isinstance(want, bool) or kind in ("exact", "noauto", "bits"):
        return have == want or have is True or (kind == "bits" and have >= want)  # type: ignore[operator]
    return have <= want if kind.startswith("min") else have >= want  # type: ignore[operator]


def deficits(have: dict) -> list[str]:
    found = re.findall(r'limittype="([a-z]+)[a-z,]*"[^\n]*<name>(\w+)</name>', REGISTRY.read_text())
    kinds = {name: kind for kind, name in found}
    lacks = set()
    for path in sorted(PROFILES.glob("*.json")):
        profile = json.loads(path.read_text())
        for use in profile["profiles"].values():
            for part in use["capabilities"]:
                wanted = profile["capabilities"][part]
                lacks |= {f"extension {e}" for e in wanted.get("extensions", {}) if e not in have["extensions"]}
                for what in ("features", "properties"):
                    got = flat(have[what])
                    for name, want in flat(wanted.get(what, {})).items():
                        if name in got and not fits(kinds.get(name, "max"), got[name], want):
                            lacks.add(f"{what[:-1].replace('ie', 'y')} {name}: {got[name]}, wanted {want}")
                        elif name not in got and want is not False:
                            lacks.add(f"{what[:-1].replace('ie', 'y')} {name}: not there, wanted {want}")
    return sorted(lacks)


def test_deficits_only_shrink(tmp_path: Path) -> None:
    if not list(PROFILES.glob("*.json")):
        pytest.skip("libvulkan-dev's profiles are not there")
    known = [line for line in DEFICITS.read_text().splitlines() if line and not line.startswith("#")]
    now = deficits(device(tmp_path, "1.3"))
    new, gone = sorted(set(now) - set(known)), sorted(set(known) - set(now))
    assert not new, "new deficits:\n" + "\n".join(new)
    assert not gone, f"no longer deficits: take them out of {DEFICITS.name}\n" + "\n".join(gone)
