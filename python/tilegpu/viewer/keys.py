"""What the keys and the mouse do: one table, of which the help in the window, ``tilegpu view --help`` and docs/viewer.md are made.

In: names of keys, as :mod:`tilegpu.viewer.window` gives them. Out: names of actions, methods of :class:`tilegpu.viewer.state.ViewState`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """``shown``: as people write it. ``text``: what it does. ``action``: the method of the state, "" for the mouse. ``keys``: by which it
    is pressed, with ``"shift+"`` before them where it counts."""

    shown: str
    text: str
    action: str = ""
    keys: tuple[str, ...] = ()


TABLE: tuple[Key, ...] = (
    Key("H, ?", "shows these keys, or hides them", "toggle_help", ("h", "?")),
    Key("drag", "turns the camera about what it looks at"),
    Key("drag with Shift, or with the middle or right button", "moves what it looks at"),
    Key("wheel", "nearer, farther"),
    Key("arrows", "turn the camera", "turn", ("left", "right", "up", "down")),
    Key("+, -", "nearer, farther", "near", ("+", "-")),
    Key("R", "the camera back to where it was", "home", ("r",)),
    Key("space", "time runs, or stops; what has no time of its own turns", "run_or_stop", ("space",)),
    Key("M, Shift+M", "more samples a pixel, fewer: 1, 2, 4, 8, 16", "more_samples", ("m", "shift+m")),
    Key("P, Shift+P", "the next GPU profile, the one before: the picture stays, costs don't", "next_profile", ("p", "shift+p")),
    Key("1 to 7", "a technique of hidden-surface removal on or off; the picture stays", "switch_technique", tuple("1234567")),
    Key("0", "the profile's own techniques again", "own_techniques", ("0",)),
    Key("T, Shift+T", "the next heatmap, the one before: what a pass did, by pixel, with its numbers", "next_map", ("t", "shift+t")),
    Key("I", "the pixel below the mouse: its fragments, and what its tile did and moved", "toggle_probe", ("i",)),
    Key("N, Shift+N", "of which pass T and I are: the last one, or one before", "next_pass", ("n", "shift+n")),
    Key("F", "frames a second, and what the picture cost", "toggle_cost", ("f",)),
    Key("W", "wireframe", "toggle_wireframe", ("w",)),
    Key("S", "writes what is shown to a file", "save", ("s",)),
    Key("Q, Escape", "ends", "end", ("q", "escape")),
)

ACTIONS: dict[str, Key] = {name: key for key in TABLE for name in key.keys}


def help_text(own: dict[str, str] | None = None) -> str:
    """The table as text, a line a key; ``own``: keys that the function has for itself, and what they do there."""
    rows = [(key.shown, key.text) for key in TABLE]
    rows += [(name.upper(), text or "the function's own") for name, text in (own or {}).items()]
    width = max(len(shown) for shown, _ in rows)
    return "\n".join(f"{shown:<{width}}  {text}" for shown, text in rows)
