"""Names of keys and buttons that nothing is called: asked for they are errors, where a set would say no for ever."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tilegpu as tg
from tilegpu.scene import Keys, Mouse
from tilegpu.scene.interaction import KEY_NAMES
from tilegpu.viewer.function import _own_keys
from tilegpu.viewer.window import _key_names

KEYS = Keys(frozenset({"w", "shift"}), frozenset({"w"}))


def test_what_is_held_is_told_as_before() -> None:
    assert "w" in KEYS
    assert "shift" in KEYS
    assert "a" not in KEYS
    assert "w" in KEYS.held
    assert KEYS.pressed == {"w"}
    assert KEYS.axis("a", "w") == 1.0
    assert KEYS.axis("w", "shift") == 0.0
    assert Keys() == Keys(frozenset(), frozenset())
    for again in (copy.deepcopy(KEYS), pickle.loads(pickle.dumps(KEYS))):
        assert again == KEYS
    assert "left" in Mouse(buttons=frozenset({"left"})).buttons
    assert not Mouse().buttons


MEANT = [("W", "w"), ("ctrl", "control"), ("Control", "control"), ("esc", "escape"), ("Return", "enter"), (" ", "space"),
         ("Space", "space"), ("ArrowLeft", "left"), ("KEY_A", "a"), ("LeftShift", "shift"), ("left_shift", "shift"),
         ("ctrl_left", "control"), ("Up", "up"), ("spcae", "space")]  # fmt: skip


@pytest.mark.parametrize(("name", "meant"), MEANT)
def test_names_that_no_key_has(name: str, meant: str) -> None:
    for ask in (lambda: name in KEYS, lambda: name in KEYS.held, lambda: name in KEYS.pressed, lambda: KEYS.axis(name, "w"),
                lambda: KEYS.axis("w", name)):  # fmt: skip
        with pytest.raises(tg.ValidationError, match=f"there is no key '{name}'; did you mean '{meant}'"):
            ask()


@pytest.mark.parametrize("name", ["foo", "", "wasd"])
def test_names_that_nothing_is_near(name: str) -> None:
    with pytest.raises(tg.ValidationError, match=f"there is no key '{name}'.*there are: a, b, c"):
        assert name in KEYS


@pytest.mark.parametrize("name", [None, 65, b"w", ("w",), []])
def test_what_is_no_name(name: Any) -> None:
    with pytest.raises(tg.ValidationError, match=r"key .* is no name; there are: a, b, c"):
        assert name in KEYS


def test_buttons() -> None:
    with pytest.raises(tg.ValidationError, match="there is no button 'Left'; did you mean 'left'"):
        assert "Left" in Mouse().buttons
    with pytest.raises(tg.ValidationError, match="button 1 is no name; there are: left, middle, right"):
        assert 1 in Mouse().buttons


def test_keys_of_the_functions_own_are_keys() -> None:
    assert list(_own_keys("wasd")) == list("wasd")
    assert _own_keys({"space": "jumps", "left": "", "shift": "runs"})["space"] == "jumps"
    for given in ({"foo": "x"}, {"ctrl": "x"}, "W", {"escape": "x"}, {"h": ""}, {1: "x"}, "wä"):
        with pytest.raises(tg.ValidationError, match=r"own_keys has .*names are lower-case letters, digits and 'space', .*'control'"):
            _own_keys(given)  # type: ignore[arg-type]


class _Glfw:
    """Numbers for whatever it is asked for."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __getattr__(self, name: str) -> int:
        return self.known.setdefault(name, 1000 * (len(self.known) + 1))


def test_the_window_gives_these_names_and_no_others() -> None:
    assert set(_key_names(_Glfw()).values()) | {"?"} == set(KEY_NAMES)
