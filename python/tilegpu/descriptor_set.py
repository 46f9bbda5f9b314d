"""Descriptor sets that stay: written when the user says so, bound for many draws in many passes.

In: a layout, or a pipeline that has one; values by name or binding. Out: a set for ``sets=`` of draws. Source: Vulkan specification,
"Descriptor Sets", "Descriptor Set Updates".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tilegpu import _core, arguments, enums, notebook
from tilegpu.buffer import all_usages
from tilegpu.context import Context
from tilegpu.descriptor_writer import DescriptorWriter, Held, NumberedSlot, Slot, warn_short
from tilegpu.errors import ValidationError, candidates
from tilegpu.fixed import Fixed
from tilegpu.interface import Binding
from tilegpu.program import Program
from tilegpu.set_layout import DescriptorSetLayout, is_read_late


class DescriptorSet(Fixed):
    """Descriptors of one set. Made by :meth:`tilegpu.Device.descriptor_set`; see there."""

    def __init__(
        self,
        device: Context,
        layout: DescriptorSetLayout | Program,
        set: int | None,
        bind: Mapping[Any, Any] | None,
        label: str,
    ) -> None:
        self.label = arguments.text(label, "descriptor set: label")
        self._what = f"descriptor set '{self.label}'"
        self._pipeline = layout if isinstance(layout, Program) else None
        if isinstance(layout, DescriptorSetLayout):
            if set is not None:
                raise ValidationError(
                    f"{self._what}: set is {arguments.shown(set)}; it is for a pipeline's sets, a layout is of any number"
                )
            layout.require_device(device.core, f"{self._what}: layout")
            self.set, core = None, layout.core
        elif isinstance(layout, Program):
            if layout.made_by is not None and layout.made_by is not device.core:
                raise ValidationError(f"{self._what}: layout is {layout.title}, which another device made; make one with this device")
            self.set, core = self._of_pipeline(layout, set)
        else:
            raise ValidationError(
                f"{self._what}: layout is {arguments.shown(layout)}; it must be a pipeline, or a layout (dev.descriptor_set_layout)"
            )
        self._counts = {
            number: (enums.name_of("descriptor_type", kind), count) for number, kind, count in core.bindings
        }
        self.core = _core.DescriptorSet(device.core, core)
        self.updates = 0  #: how often something was written
        self.late = is_read_late(core)  #: it is read as it is when an execution begins
        self._held: dict[tuple[int, int], Held] = {}  # what stands where
        self._device = device
        if bind is not None:
            self.update(bind)

    def _of_pipeline(self, pipeline: Program, set: int | None) -> tuple[int, _core.DescriptorSetLayout]:
        layouts = {number: layout for number, layout in enumerate(pipeline.set_layouts) if layout is not None}
        there = f"there {'is' if len(layouts) == 1 else 'are'} {', '.join(map(str, layouts)) or 'none'}"
        number = arguments.whole(
            next(iter(layouts)) if set is None and len(layouts) == 1 else set,
            f"{self._what}: set",
            f"it must be a set's number; {there}",
        )
        if number not in layouts:
            raise ValidationError(f"{self._what}: set is {number}, which {pipeline.title} has not; {there}")
        return number, layouts[number]

    def update(self, bind: Mapping[Any, Any]) -> None:
        """Writes descriptors: vkUpdateDescriptorSets.

        ``bind``: by the names of the pipeline's shaders, or by binding. Values are those of ``bind`` in
        :meth:`RenderPass.draw`; of arrays a list of all elements, or a mapping of some, by their numbers. Contents of blocks are
        copied to memory of their own. Draws that were recorded see what the set held then, but for layouts with
        ``update_after_bind``: there every execution sees what the set holds when it begins. Raises :class:`ValidationError` for
        wrong names and values; what stands before them in ``bind`` is written then.
        """
        if not isinstance(bind, Mapping):
            raise ValidationError(
                f"{self._what}: bind is {arguments.shown(bind)}; it must be a mapping by name or binding"
            )
        seen: dict[int, Any] = {}
        # Not kept: it would hold this object, and what the set holds would wait for the garbage collector.
        writer = DescriptorWriter(self._device, _upload, self._note)
        for name, value in bind.items():
            slot = self._slot(name)
            before = seen.setdefault(slot.binding, name)
            if before is not name and bind[before] is not value:
                both = f"{arguments.shown(before)} and {arguments.shown(name)}"
                raise ValidationError(f"{self._what}: {slot.title} is bound twice, as {both}; give one of them")
            what = f"{self._what}: {slot.title}"
            self.updates += 1
            if slot.count != 1 and isinstance(value, Mapping):
                for key, item in value.items():
                    element = arguments.count(key, f"{what}: an element's number", slot.count - 1)
                    self._held.pop((slot.binding, element), None)
                    writer.write_element(self.core, slot, element, item, f"{what}[{element}]")
            else:
                for place in list(self._held):  # another thread may write as well
                    if place[0] == slot.binding:
                        self._held.pop(place, None)
                writer.write(self.core, slot, value, what)
            if self._pipeline is not None:
                warn_short(self._pipeline, slot, value)  # of what is right otherwise

    def _slot(self, name: Any) -> Slot:
        binding = self._named(name) if self._pipeline is not None else None
        number = binding.binding if binding is not None else name
        if not isinstance(number, (int, np.integer)) or number not in self._counts:
            raise ValidationError(
                f"{self._what} has no binding {arguments.shown(name)}{candidates(name, self._names())}"
            )
        kind, count = self._counts[int(number)]
        if binding is not None and binding.used:
            known = binding.title, binding.readonly, binding.layout, binding.type, binding.writeonly, binding.conflict, binding.unsized
            return NumberedSlot(int(number), count, kind, *known)
        return NumberedSlot(int(number), count, kind, f"binding {number}")

    def _named(self, name: Any) -> Binding | None:
        """The pipeline's binding of this name or number, if it is one of this set."""
        assert self._pipeline is not None
        interface = self._pipeline.interface
        if isinstance(name, (int, np.integer)):
            return interface.bindings.get((self.set or 0, int(name)))
        binding = interface.names.get(name) if isinstance(name, str) else None
        return binding if binding is not None and binding.set == self.set else None

    def _names(self) -> list[str]:
        named = {number: self._named(number) if self._pipeline is not None else None for number in self._counts}
        return [b.name if b is not None and b.name else str(number) for number, b in named.items()]

    def _note(self, held: Held) -> None:
        self._held[held.binding, held.element] = held

    def held(self) -> list[Held]:
        """What it holds now."""
        return list(self._held.values())

    def bound(self) -> list[tuple[int, Any]]:
        """The same by binding, things alone."""
        return [(one.binding, one.thing) for one in self.held()]

    def _repr_html_(self) -> str:
        """Its bindings, and what was bound to them."""
        held: dict[int, list[str]] = {}
        for number, element, _, thing, *_ in sorted(self.held(), key=lambda one: one[:2]):
            held.setdefault(number, []).append(f"[{element}] {thing!r}" if self._counts[number][1] != 1 else repr(thing))
        names = dict(zip(self._counts, self._names(), strict=True))
        rows = [
            (str(number), names[number], kind + (f"[{count}]" if count != 1 else ""), ", ".join(held.get(number, [])))
            for number, (kind, count) in self._counts.items()
        ]
        return notebook.table(f"descriptor set '{self.label}'", ("binding", "name", "kind", "holds"), rows, {0})

    def __repr__(self) -> str:
        of = "" if self._pipeline is None else f", set {self.set} of {self._pipeline.title}"
        return f"<tilegpu.DescriptorSet '{self.label}'{of}, bindings {', '.join(self._names())}>"


def _upload(data: bytes) -> _core.Buffer:
    """A buffer with memory that nobody else has: descriptors keep it alive, and nobody writes it again."""
    buffer = _core.Buffer(max(1, len(data)), all_usages(), "contents of a descriptor")
    memory = _core.DeviceMemory(buffer.size_B)
    buffer.bind(memory, 0)
    np.frombuffer(memoryview(memory), np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    return buffer
