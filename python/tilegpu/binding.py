"""``bind=`` and ``sets=`` of a draw to descriptor sets: names to (set, binding), values to descriptors, equal arguments to one set."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tilegpu import _core, arguments
from tilegpu.arena import Arena
from tilegpu.buffer import Buffer, BufferSlice, BufferView
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.descriptor_writer import (
    Contents,
    DescriptorWriter,
    Held,
    check_held,
    check_sampling,
    uses_of_descriptor,
    uses_of_set,
    warn_short,
)
from tilegpu.errors import ValidationError, candidates
from tilegpu.image import Image, ImageView, KeptView, Texture, image_of
from tilegpu.interface import Binding, Interface
from tilegpu.program import Program
from tilegpu.sampler import Sampler
from tilegpu.uses import Uses

#: Values that a draw may bind again, by class: what of them users may change.
_WATCHED: dict[type, list[str]] = {
    Buffer: [],
    BufferSlice: ["buffer", "offset", "size"],
    BufferView: [],
    Texture: ["image", "sampler", "swizzle"],
    Image: [],
    ImageView: [],
    Sampler: [],
}
_MOST_PARTS = 64  # levels and layers that are asked in each pass whether they are defined
_STABLE = (Buffer, BufferSlice, BufferView, Texture, Image, ImageView, Sampler, type(None))


def _member_of(interface: Interface, name: object) -> str:
    """Blocks without an instance name have one name alone, their own; its members are what GLSL calls them by."""
    for block in interface.bindings.values():
        if isinstance(name, str) and block.type is not None and any(member == name for member, _, _ in block.type.members):
            return f": it is a member of block '{block.name}'; bind the block, as '{block.name}': {{'{name}': ...}} or the bytes of it"
    return ""


def _numbered(interface: Interface, name: object) -> str:
    """A number alone says no set."""
    if not isinstance(name, (int, np.integer)) or isinstance(name, bool):
        return ""
    same = [key for key in interface.bindings if key[1] == name]
    meant = " or ".join(str((int(set_), int(number))) for set_, number in same or [(0, int(name))])
    return f": a key is a name, or (set, binding), such as {meant}"


class ReadLate(NamedTuple):
    """Sets of a draw of which some are read as they are when an execution begins (``update_after_bind``), and what came with them."""

    pipeline: Program
    sets: dict[int, DescriptorSet]
    held: tuple[Held, ...]  # of bind=, where images and samplers come apart
    what: str

    @property
    def key(self) -> Any:
        """Equal ones are asked the same."""
        return id(self.pipeline), tuple((n, id(s)) for n, s in self.sets.items()), tuple(id(one.thing) for one in self.held), self.what

    def check(self) -> None:
        """Raises where what they hold now does not fit the shaders."""
        for number, descriptors in self.sets.items():
            if descriptors.late:
                DescriptorBinder._check_fit(self.pipeline, number, descriptors.held(), self.set_title(number))
        DescriptorBinder._check_pairs(self.pipeline, self.held, self.sets, self.what)

    def set_title(self, number: int) -> str:
        """A set, for messages."""
        return f"{self.what}, {self.pipeline.title}: set {number}, '{self.sets[number].label}'"


class DescriptorBinder:
    """Keeps the sets of one pass: draws that bind the same objects share them. ``compute``: of dispatches. ``uses``, ``undefined``: where
    others note such things too."""

    def __init__(
        self, arena: Arena, compute: bool = False, uses: Uses | None = None, undefined: dict[str, None] | None = None
    ) -> None:
        self._arena = arena
        self._compute = compute
        self.uses = Uses(arena.device) if uses is None else uses  #: what is bound, for frames
        # And what may be read undefined, and what they hold.
        self._sets: dict[Any, tuple[list[tuple[int, _core.DescriptorSet]], dict[str, None], list[Held]]] = {}
        self._bound: dict[int, _core.DescriptorSet] = {}
        self._keep: list[Any] = []
        self._parts: dict[ImageView, str] = {}  # what nobody wrote of a view: to look at all levels and layers takes as long as a draw
        # sets= whose views were looked at, at which of their updates, for which pipeline: what may be read undefined.
        self._seen: dict[tuple[Any, ...], dict[str, None]] = {}
        # Storage images of draws before this one, by image: at which places of which pipelines.
        self._storage: dict[int, set[tuple[Program, tuple[int, int]]]] = {}
        self._for: Program | None = None  # what bind= is of
        self._apart: tuple[Sampler, ...] = ()  # samplers of the draw that no image comes with
        self._apart_ids: tuple[int, ...] = ()
        #: What the shaders may read though nobody wrote it, a line each: lint() says so.
        self.undefined: dict[str, None] = {} if undefined is None else undefined
        self._notes: dict[str, None] = {}  # the same of the set that is made
        self._made: list[Held] = []  # what it holds
        #: Sets of draws that are read when the pass is executed, and looked at then, and those of the draw that was bound last.
        self.late: dict[Any, ReadLate] = {}
        self._late_of_draw: ReadLate | None = None
        self._of_draw: list[dict[str, None]] = []  # the same of the draw that was bound last, which may draw nothing
        #: Of the draw that was bound last, where sets were made for it, and nothing is to be said of it: what :meth:`keep_plain` keeps.
        self.fresh: tuple[Program, Mapping[Any, Any], list[tuple[int, _core.DescriptorSet]], list[Held]] | None = None

    def clear(self) -> None:
        """Forgets everything."""
        self._sets.clear()
        self._bound.clear()
        self._keep.clear()
        self._seen.clear()
        self._parts.clear()
        self._storage.clear()
        self.late = {}
        self._late_of_draw = None
        self._made = []

    def forget_bound(self) -> None:
        """Others have bound sets."""
        self._bound.clear()

    def bind(
        self,
        commands: _core.CommandBuffer,
        pipeline: Program,
        bind: Mapping[Any, Any] | None,
        sets: Mapping[int, DescriptorSet] | None,
        what: str,
    ) -> None:
        """Binds what the pipeline needs; raises for unknown and missing names."""
        if bind is not None and not isinstance(bind, Mapping):
            raise ValidationError(
                f"{what}, {pipeline.title}: bind is {arguments.shown(bind)}; it must be a mapping by name or (set, binding)"
            )
        self._of_draw.clear()
        self._late_of_draw = None
        if pipeline.samplers_apart or self._apart:
            self._apart = self._samplers_apart(pipeline, bind, sets)
            self._apart_ids = tuple(map(id, self._apart))
        self.fresh = None
        whole_sets = self._whole_sets(commands, pipeline, sets, what) if sets is not None else ()
        if not bind:
            if pipeline.interface.bindings:
                self._require_all(pipeline, (), whole_sets, what)
            if self._apart:
                self._check_pairs_now(pipeline, [], sets, what)
            return
        key = self._key(pipeline, bind, whole_sets)
        made = self._sets.get(key) if key is not None else None
        if made is None:
            made = self._make(pipeline, bind, whole_sets, what)
            self.fresh = (pipeline, bind, made[0], made[2]) if sets is None and not made[1] else None
            if key is not None:
                self._sets[key] = made
                self._keep.append((pipeline, list(bind.values()), self._apart))
        descriptors_of, notes, held = made
        if self._apart:
            self._check_pairs_now(pipeline, held, sets, what)
        if notes:
            self._of_draw.append(notes)
        for number, descriptors in descriptors_of:
            if self._bound.get(number) is not descriptors:
                self._bind_one(commands, number, descriptors)

    @staticmethod
    def _samplers_apart(
        pipeline: Program, bind: Mapping[Any, Any] | None, sets: Mapping[int, DescriptorSet] | None
    ) -> tuple[Sampler, ...]:
        """Any of them may meet any image that comes without one."""
        if not pipeline.samplers_apart:
            return ()
        values = [item for value in (bind or {}).values() for item in (value if isinstance(value, (list, tuple)) else (value,))]
        for number, descriptors in sets.items() if isinstance(sets, Mapping) else ():
            if isinstance(descriptors, DescriptorSet):
                values += [thing for at, thing in descriptors.bound() if (number, at) in pipeline.samplers_apart]
        return tuple(value for value in values if isinstance(value, Sampler))

    def _check_pairs_now(self, pipeline: Program, held: list[Held], sets: Mapping[int, DescriptorSet] | None, what: str) -> None:
        if self._late_of_draw is not None:
            self._late_of_draw = self._late_of_draw._replace(held=tuple(held))
        if self._late_of_draw is None or self._compute:
            self._check_pairs(pipeline, held, sets, what)

    def check_late(self) -> None:
        """The pass is about to be executed: sets that are read then are looked at as the others were at the draw. Notes what may be
        read undefined. Raises :class:`ValidationError`."""
        for one in self.late.values():
            one.check()
        late = [(one, number, set_) for one in self.late.values() for number, set_ in one.sets.items() if set_.late]
        for one, number, descriptors in late:
            self._note_stores_of_set(one.pipeline, number, descriptors.held())
        for one, number, descriptors in late:
            self._apart = self._samplers_apart(one.pipeline, None, one.sets)
            self._apart += tuple(held.thing for held in one.held if isinstance(held.thing, Sampler))
            self._notes = self.undefined
            self._note_views_of_set(one.pipeline, number, descriptors.held())

    @staticmethod
    def _check_pairs(pipeline: Program, held: Iterable[Held], sets: Mapping[int, DescriptorSet] | None, what: str) -> None:
        """Images and samplers that come apart, as if they came together; of arrays where no pair fits."""
        if not pipeline.sampler_pairs:
            return
        found: dict[tuple[int, int], list[Any]] = {}
        for one in held:
            assert isinstance(one.slot, Binding)
            found.setdefault((one.slot.set, one.binding), []).append(one.thing)
        for number, descriptors in (sets or {}).items():
            for at, thing in descriptors.bound():
                found.setdefault((int(number), at), []).append(thing)
        names = pipeline.interface.bindings
        for image, sampler, compares in pipeline.sampler_pairs:
            wrong: ValidationError | None = None
            for view, with_ in itertools.product(found.get(image, ()), found.get(sampler, ())):
                if not isinstance(view, ImageView) or not isinstance(with_, Sampler):
                    continue
                try:
                    check_sampling(compares, view, with_, f"{what}, {pipeline.title}: {names[image].title} with {names[sampler].title}")
                    wrong = None
                    break
                except ValidationError as error:
                    wrong = wrong or error
            if wrong is not None:
                try:
                    raise wrong
                finally:
                    del wrong  # no ring of it and this frame

    def take(self) -> None:
        """What was bound last is used: something is drawn, or dispatched."""
        for notes in self._of_draw:
            self.undefined.update(notes)
        if self._late_of_draw is not None:
            self.late[self._late_of_draw.key] = self._late_of_draw

    def _bind_one(self, commands: _core.CommandBuffer, number: int, descriptors: _core.DescriptorSet) -> None:
        if self._compute:
            commands.bind_compute_descriptor_set(number, descriptors)
        else:
            commands.bind_descriptor_set(number, descriptors)
        self._bound[number] = descriptors

    def _whole_sets(
        self, commands: _core.CommandBuffer, pipeline: Program, sets: Mapping[int, DescriptorSet], what: str
    ) -> tuple[int, ...]:
        """Binds ``sets=``; their numbers."""
        if not isinstance(sets, Mapping):
            raise ValidationError(
                f"{what}, {pipeline.title}: sets is {arguments.shown(sets)}; it must be a mapping from a set's number to a set "
                "(dev.descriptor_set)"
            )
        used = {b.set for b in pipeline.interface.bindings.values() if b.used}
        numbers = []
        for number, descriptors in sets.items():
            if not isinstance(number, (int, np.integer)) or not isinstance(descriptors, DescriptorSet):
                raise ValidationError(
                    f"{what}, {pipeline.title}: sets has {arguments.shown(number)}: {arguments.shown(descriptors)}; "
                    "it must be a set's number: a set (dev.descriptor_set)"
                )
            if number not in used:
                pipeline.warn_unused(f"set {number}", f"the shaders do not use set {number}")
                continue
            seen = (id(descriptors), 0 if self._waits(descriptors) else descriptors.updates, id(pipeline), self._apart_ids)
            known = self._seen.get(seen)
            held = descriptors.held() if known is None and not self._waits(descriptors) else []
            if held:  # first: what does not fit is not bound, and is told again
                self._check_fit(pipeline, int(number), held, f"{what}, {pipeline.title}: set {number}, '{descriptors.label}'")
            if self._bound.get(number) is not descriptors.core:
                self._bind_one(commands, int(number), descriptors.core)
            numbers.append(int(number))
            if known is None:
                known = self._notes = self._seen[seen] = {}
                self._keep.append((descriptors, pipeline, self._apart))
                self._note_set(pipeline, int(number), descriptors, held)
            if known:
                self._of_draw.append(known)
        if any(sets[number].late for number in numbers):
            self._late_of_draw = ReadLate(pipeline, {number: sets[number] for number in numbers}, (), what)
        return tuple(numbers)

    def _waits(self, descriptors: DescriptorSet) -> bool:
        """It is looked at when the pass is executed; a dispatch is at once."""
        return descriptors.late and not self._compute

    @staticmethod
    def _check_fit(pipeline: Program, number: int, held: Iterable[Held], what: str) -> None:
        """A set may have been written for another pipeline, or for none: what :class:`DescriptorWriter` asks of these shaders. Of arrays
        an element may be one that they don't read, and of several variables at one place none may be meant: there nothing is said where
        anything fits."""
        by_binding: dict[int, list[Held]] = {}
        for one in held:
            by_binding.setdefault(one.binding, []).append(one)
        for at, elements in by_binding.items():
            binding = pipeline.interface.bindings.get((number, at))
            if binding is None or not binding.used or (binding.type is not None and len(pipeline.interface.kinds_at(number, at)) > 1):
                continue
            wrong: ValidationError | None = None
            for one in elements:
                try:
                    check_held(binding, one, f"{what}: {binding.title}" + (f"[{one.element}]" if binding.count != 1 else ""))
                except ValidationError as error:
                    wrong = wrong or error
                else:
                    wrong = None
                    break
            if wrong is not None:
                try:
                    raise wrong
                finally:
                    del wrong  # no ring of it and this frame
            if Contents in map(type, (one.thing for one in elements)) and binding.descriptor == "storage_buffer":
                access = pipeline.accesses.get((number, at))
                if access is not None and (access.vertex_writes or access.fragment_writes):
                    raise ValidationError(
                        f"{what}: {binding.title} is written by the shaders; the set has contents of its own there, it must be a "
                        "tilegpu.Buffer, so that the result can be read"
                    )
            if not binding.conflict:
                for one in elements:
                    warn_short(pipeline, binding, one.thing)

    def _note(self, held: Held) -> None:
        assert self._for is not None and isinstance(held.slot, Binding)
        self._made.append(held)
        self.uses.note(uses_of_descriptor, held.slot, held.thing)
        if isinstance(held.thing, ImageView) and not held.slot.writeonly:
            self._note_view(self._for, (held.slot.set, held.slot.binding), held.thing, held.what, held.sampler)

    def _note_set(self, pipeline: Program, number: int, descriptors: DescriptorSet, held: list[Held]) -> None:
        """What the shaders may read and write of a set, as it is now, or, of sets that are read later, as it is when somebody asks."""
        bindings = pipeline.interface.bindings
        if descriptors.late:
            self.uses.note(lambda: uses_of_set(bindings, number, descriptors.held()))
        else:
            self.uses.note(uses_of_set, bindings, number, held)
        if self._waits(descriptors):
            return
        self._note_views_of_set(pipeline, number, held)
        self._note_stores_of_set(pipeline, number, held)

    def _note_views_of_set(self, pipeline: Program, number: int, held: list[Held]) -> None:
        for one in held:
            if isinstance(one.thing, ImageView):
                self._note_view(pipeline, (number, one.binding), one.thing, one.what, one.sampler)

    def _note_stores_of_set(self, pipeline: Program, number: int, held: list[Held]) -> None:
        for one in held:
            if one.slot.descriptor == "storage_image":
                self._note_stores(pipeline, (number, one.binding), one.thing)

    def keep_plain(self, plain: _core.PlainPipeline) -> None:
        """Draws that bind the same objects find these sets, in this pass and in later ones, as long as the objects live."""
        if self.fresh is None:
            return
        (pipeline, bind, sets, held), self.fresh = self.fresh, None
        given: list[tuple[str, Any, int, int, list[str]]] = []
        for name, value in bind.items():
            binding = pipeline.interface.names.get(name) if isinstance(name, str) else None
            if binding is None or not binding.used or binding.count != 1 or binding.descriptor == "storage_image":
                return
            if type(value) in _WATCHED:
                given.append((name, value, binding.set, binding.binding, _WATCHED[type(value)]))
            elif type(value) is tuple and len(value) == 2 and type(value[0]) in (Image, ImageView) and type(value[1]) is Sampler:
                given.append((name, value, binding.set, binding.binding, []))
            elif type(value) not in (dict, bytes, np.ndarray):
                return
        views = [one.thing for one in held if isinstance(one.thing, ImageView) and not one.slot.writeonly]
        parts = [view.level_count * (view.image._layer_count(0) if view.layers is None else view.layers) for view in views]
        # Their contents are asked for by the image's first aspect.
        if any(view.image.planes or view.read_aspect != view.image.format_info.aspects[0] for view in views):
            return
        if not given or sum(parts) > _MOST_PARTS:
            return
        things = [(one.slot, one.thing) for one in held if not isinstance(one.thing, (Sampler, Contents))]
        # Views are there while somebody has them, and the passes that had these end; images stay as long as the program has them.
        uses = [(slot, t.image, KeptView(t)) if isinstance(t, ImageView) else (slot, t, None) for slot, t in things]
        buffers = [t if isinstance(t, Buffer) else t.buffer for _, t in things if isinstance(t, (Buffer, BufferSlice, BufferView))]
        if any(buffer.matrices for buffer in buffers):
            return
        plain.keep_bound(given, sets, uses, [view.core for view in views], buffers)

    def _note_stores(self, pipeline: Program, place: tuple[int, int], given: Any) -> None:
        """Draws that follow may read what this one stores, though nobody has written it when the pass begins."""
        for thing in given if isinstance(given, (list, tuple)) else (given,):
            if isinstance(thing, (Image, ImageView)):
                self._storage.setdefault(id(image_of(thing)), set()).add((pipeline, place))

    def _note_view(
        self,
        pipeline: Program,
        place: tuple[int, int],
        view: ImageView,
        what: str,
        sampler: Sampler | None,
    ) -> None:
        part = self._parts.get(view)
        if part is None:
            part = self._parts[view] = view.undefined_part()
        if not part or any(other.stores_to(*at) for other, at in self._storage.get(id(view.image), ())):
            return
        layers = pipeline.layers_read(*place) if "array" in view.type else None
        samplers = (sampler,) if sampler is not None else self._apart
        for levels in pipeline.levels_read(*place, view.level_count, samplers, view.min_lod):
            if part := view.undefined_part(levels, layers):
                which = f"{view.read_aspect} " if len(view.image.format_info.aspects) > 1 else ""
                self._notes[f"{what} may be read, but the {which}contents of image '{view.image.label}' {part}"] = None
                return

    def _key(self, pipeline: Program, bind: Mapping[Any, Any], whole_sets: tuple[int, ...]) -> Any:
        """Equal keys bind equal descriptors; None where a value's contents are copied at the draw."""
        parts: list[Any] = [id(pipeline), whole_sets, self._apart_ids]
        for name, value in bind.items():
            if isinstance(value, _STABLE):
                parts.append((name, id(value)))
            elif isinstance(value, (tuple, list)) and all(isinstance(v, _STABLE) for v in value):
                parts.append((name, type(value), tuple(map(id, value))))
            else:
                return None
        return tuple(parts)

    @staticmethod
    def _require_all(pipeline: Program, given: Any, whole_sets: tuple[int, ...], what: str) -> None:
        missing = [
            b
            for key, b in pipeline.interface.bindings.items()
            if b.used and key not in given and b.set not in whole_sets and b.descriptor != "input_attachment"
        ]
        if missing:
            raise ValidationError(
                f"{what}, {pipeline.title}: bind= lacks {', '.join(f'{b.title}, a {b.descriptor}' for b in missing)}"
            )

    def _make(
        self, pipeline: Program, bind: Mapping[Any, Any], whole_sets: tuple[int, ...], what: str
    ) -> tuple[list[tuple[int, _core.DescriptorSet]], dict[str, None], list[Held]]:
        interface = pipeline.interface
        notes = self._notes = {}
        held = self._made = []
        values: dict[tuple[int, int], Any] = {}
        for name, value in bind.items():
            if isinstance(name, tuple):
                numbers = len(name) == 2 and all(isinstance(part, (int, np.integer)) for part in name)
                binding = interface.bindings.get((int(name[0]), int(name[1]))) if numbers else None
            else:
                binding = interface.names.get(name)
            if binding is None:
                raise ValidationError(
                    f"{what}, {pipeline.title}: the shaders have no binding "
                    f"{arguments.shown(name)}{_member_of(interface, name) or _numbered(interface, name)}"
                    f"{candidates(name, interface.candidates())}"
                )
            slot = (binding.set, binding.binding)
            if binding.set in whole_sets:
                raise ValidationError(
                    f"{what}, {pipeline.title}: bind has {binding.title}, and sets has set {binding.set}; give one or the other"
                )
            if slot in values:
                raise ValidationError(f"{what}, {pipeline.title}: {binding.title} is bound twice{binding.shared}")
            values[slot] = value
        self._require_all(pipeline, values, whole_sets, what)
        sets: dict[int, _core.DescriptorSet] = {}
        self._for = pipeline
        # Not kept: it would hold this object, and the pass's memory would wait for the garbage collector.
        writer = DescriptorWriter(self._arena.device, self._arena.upload, self._note)
        for slot, value in values.items():
            binding = interface.bindings[slot]
            if not binding.used:
                pipeline.warn_unused(binding.name, f"the shaders do not use {binding.title}")
                continue
            layout = pipeline.set_layouts[binding.set]
            assert layout is not None
            target = sets.get(binding.set)
            if target is None:
                target = sets[binding.set] = self._arena.descriptor_set(layout)
            writer.write(target, binding, value, f"{what}, {pipeline.title}: {binding.title}")
            warn_short(pipeline, binding, value)  # of what is right otherwise
        for slot, value in values.items():
            if interface.bindings[slot].descriptor == "storage_image":
                self._note_stores(pipeline, slot, value)
        return list(sets.items()), notes, held
