"""What keys can't do to what a function draws. In: the scene, and what came of its last picture. Out: why not, by action of a key.

A function has pipelines and images of its own: the window may tell it things, and can't see to it that it follows them.
"""

from __future__ import annotations

from tilegpu.scene import FunctionScene, Scene

_DEVICE_KEYS = ("next_profile", "switch_technique", "own_techniques")
_OWN_DEVICE = "the function draws with a device of its own; one with a parameter device or view draws with the window's"


def fixed_by(scene: Scene, drawn: bool, described: bool = False, own_device: bool = False) -> dict[str, str]:
    """``drawn``: by the function, with the front end. ``described``: it returned a frame, which the window's device draws.
    ``own_device``: its picture came from another device than the window's."""
    if not isinstance(scene, FunctionScene):
        return {}
    wanted, out = set(scene.parameters), {}
    if not wanted & {"samples", "view"}:
        out["more_samples"] = "the function asks for no samples: name a parameter samples, or view"
    if drawn:
        out["toggle_wireframe"] = "the function draws: polygon_mode='line' of its own pipelines is a wireframe"
        if own_device:
            out |= dict.fromkeys(_DEVICE_KEYS, _OWN_DEVICE)
        elif not wanted & {"device", "view"} and not described:
            out |= dict.fromkeys(_DEVICE_KEYS, "the function asks for no device of the window's: name a parameter device, or view")
    return out


def samples_told(scene: Scene, asked: int, has: int) -> str:
    """What to say where other samples were asked for than the picture has; "" where it can't be known (``has`` is 0), or is the same."""
    if has in (0, asked):
        return ""
    if isinstance(scene, FunctionScene):
        return f"the function was given samples={asked}; its passes have {has} a pixel"
    return f"{asked} samples a pixel were asked for; this scene's frame has {has}"
