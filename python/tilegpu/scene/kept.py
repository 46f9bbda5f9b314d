"""What a renderer keeps of what frames name. In: objects, and how to make something of them. Out: what was made, for as long as frames name
the same object and it holds the same; and whether what a recording was made of is still so.

Each object is looked at once a frame at most, however many draws, programs and recordings name it; what is read-only never is
(:mod:`tilegpu.scene.seals`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilegpu.scene.seals import Seal, is_large, seal_of, seal_of_members

#: What no frame named for so many frames is let go.
_KEEP_FRAMES = 8


class _Held:
    """An object, so that its id stays its own, and the version of what it holds: another one from each change that was seen."""

    __slots__ = ("_of_members", "frame", "owner", "recorded", "seal", "version")

    def __init__(self, owner: Any, of_members: bool, kept: Kept) -> None:
        self.owner, self._of_members, self.frame = owner, of_members, kept.frame
        self.seal = kept.seal(owner, of_members)
        self.version = 0
        self.recorded = 0  #: the last recording that noted it

    def look(self, kept: Kept) -> int:
        """The version that it has in this frame of who keeps it: a ring of both would end with its buffers when Python looks for rings."""
        if self.frame != kept.frame:
            self.frame = kept.frame
            if self.seal is not None and self.seal.broken():
                self.seal = kept.seal(self.owner, self._of_members)
                self.version += 1
        return self.version


class _Inner:
    """Of a large array that is in a mapping, a list or a texture: it is looked at as one that is named by itself."""

    __slots__ = ("_held", "_kept", "_version")

    def __init__(self, kept: Kept, held: _Held) -> None:
        self._kept, self._held, self._version = weakref.ref(kept), held, held.version

    def broken(self) -> bool:
        kept = self._kept()
        return kept is None or self._held.look(kept) != self._version


class Recorded:
    """What a recording was made of: things that may change, with their versions, and mappings that were empty."""

    def __init__(self) -> None:
        self.things: list[_Held] = []
        self.versions: list[int] = []
        self.empty: list[Mapping[str, Any]] = []


class Kept:
    """Things made from objects, by identity of the object. What was changed in place since is made anew."""

    def __init__(self) -> None:
        self.frame = 0
        self._recording = 0
        self._held: dict[int, _Held] = {}
        self._members: dict[int, _Held] = {}
        self._made: dict[Any, tuple[Any, _Held, int, Any, int]] = {}  # thing, of what, its version, for whom, last frame
        self._recorded = Recorded()

    def begin(self) -> None:
        """Another frame: what was not looked at in it may hold something else."""
        self.frame += 1

    def is_as(self, recorded: Recorded) -> bool:
        """Whether all that a recording was made of is as it was."""
        for held, version in zip(recorded.things, recorded.versions, strict=True):
            if held.look(self) != version:
                return False
        return not any(recorded.empty)

    def record(self) -> Recorded:
        """Begins another list of what :meth:`get` and :meth:`note_members` are asked for; versions are there after :meth:`end_record`."""
        self._recording += 1
        self._recorded = Recorded()
        return self._recorded

    def end_record(self) -> None:
        """Lets go of what was not asked for lately."""
        recorded, old = self._recorded, self.frame - _KEEP_FRAMES
        recorded.versions = [held.version for held in recorded.things]
        for key in [key for key, entry in self._made.items() if entry[4] < old]:
            del self._made[key]
        for table in (self._held, self._members):
            for number in [number for number, held in table.items() if held.frame < old]:
                del table[number]

    def note_members(self, group: Any) -> None:
        """A replay needs this mapping or list to have the members that it has, whatever they hold."""
        if not group and type(group) is dict:
            self._recorded.empty.append(group)  # quicker to ask
        elif not isinstance(group, (tuple, MappingProxyType)):
            self._note(self._look(self._members, group, True))

    def get(self, key: Any, sealed: Any, make: Callable[[], Any], user: Any = None) -> Any:
        """The thing kept under ``key`` (which contains ``id(sealed)``, and that of its ``user`` if it has one), made if need be of what
        ``sealed`` holds."""
        frame, found = self.frame, self._made.get(key)
        if found is not None and found[4] == frame:
            return found[0]
        held = self._look(self._held, sealed, False)
        same = found is not None and found[1] is held and found[2] == held.version
        thing = found[0] if found is not None and same else make()
        self._made[key] = thing, held, held.version, user, frame
        if held.seal is not None:
            self._note(held)
        return thing

    def _look(self, table: dict[int, _Held], thing: Any, of_members: bool) -> _Held:
        held = table.get(id(thing))
        if held is None:
            held = table[id(thing)] = _Held(thing, of_members, self)
        else:
            held.look(self)
        return held

    def seal(self, thing: Any, of_members: bool) -> Seal | None:
        """What tells whether a thing has changed, or which members it has."""
        return seal_of_members(thing) if of_members else seal_of(thing, self._seal_of_member)

    def _seal_of_member(self, thing: Any) -> Seal | None:
        if not is_large(thing):
            return self.seal(thing, False)
        held = self._look(self._held, thing, False)
        return None if held.seal is None else _Inner(self, held)

    def _note(self, held: _Held) -> None:
        if held.recorded != self._recording:
            held.recorded = self._recording
            self._recorded.things.append(held)
