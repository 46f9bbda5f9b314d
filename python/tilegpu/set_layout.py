"""Layouts of descriptor sets that pipelines share. In: types and counts by binding. Out: the core's layout.

Source: Vulkan specification, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayoutBindingFlagsCreateInfo.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from tilegpu import _core, arguments, enums, notebook
from tilegpu.errors import ValidationError
from tilegpu.fixed import Fixed

_MAX_U32 = 0xFFFFFFFF
#: VkDescriptorBindingFlagBits.
_UPDATE_AFTER_BIND, _PARTIALLY_BOUND = 1, 4
#: Those of the core whose sets are read when something is executed, and not as they were when it was recorded.
_late: weakref.WeakSet[_core.DescriptorSetLayout] = weakref.WeakSet()


def is_read_late(layout: _core.DescriptorSetLayout) -> bool:
    """Whether it was made with ``update_after_bind``."""
    return layout in _late


class DescriptorSetLayout(Fixed):
    """Which descriptors a set has. Made by :meth:`tilegpu.Device.descriptor_set_layout`; see there."""

    def __init__(
        self, device: _core.Device, bindings: Any, update_after_bind: bool, partially_bound: bool, label: str
    ) -> None:
        self.label = arguments.text(label, "descriptor set layout: label")
        what = f"descriptor set layout '{self.label}'"
        if not isinstance(bindings, Mapping):
            raise ValidationError(
                f"{what}: bindings is {arguments.shown(bindings)}; it must be a mapping from the binding's number to a type, "
                "such as 'combined_image_sampler', or (type, count)"
            )
        entries: list[tuple[int, int, int]] = []
        for key, given in bindings.items():
            number = arguments.count(key, f"{what}: a binding's number", _MAX_U32)
            where = f"{what}: binding {number}"
            kind, count = given if isinstance(given, tuple) and len(given) == 2 else (given, 1)
            entries.append(
                (number, enums.parse("descriptor_type", kind, where), arguments.count(count, f"{where}: count", _MAX_U32))
            )
        self.update_after_bind = arguments.flag(update_after_bind, f"{what}: update_after_bind")
        self.partially_bound = arguments.flag(partially_bound, f"{what}: partially_bound")
        flags = self.update_after_bind * _UPDATE_AFTER_BIND | self.partially_bound * _PARTIALLY_BOUND
        self._device = device
        self.core = _core.DescriptorSetLayout(entries, flags)
        if self.update_after_bind:
            _late.add(self.core)

    def require_device(self, device: _core.Device, what: str) -> None:
        """Raises :class:`ValidationError` where another one made it: ``commonparent`` of sets and pipelines. ``what``: what takes it."""
        if self._device is not device:
            raise ValidationError(
                f"{what} is descriptor set layout '{self.label}', which another device made; make one with this device's "
                "descriptor_set_layout"
            )

    @property
    def bindings(self) -> dict[int, tuple[str, int]]:
        """Type and count of each binding."""
        return {number: (enums.name_of("descriptor_type", kind), count) for number, kind, count in self.core.bindings}

    def _repr_html_(self) -> str:
        rows = [(str(number), kind, str(count)) for number, (kind, count) in self.bindings.items()]
        return notebook.table(f"descriptor set layout '{self.label}'", ("binding", "kind", "count"), rows, {0, 2})

    def __repr__(self) -> str:
        return f"<tilegpu.DescriptorSetLayout '{self.label}', {self.bindings}>"


def layouts_by_number(device: _core.Device, layouts: Any, what: str) -> list[_core.DescriptorSetLayout | None]:
    """``set_layouts=`` of a pipeline of any kind as a list; ``None`` where the shaders say it."""
    if not isinstance(layouts, Mapping):
        raise ValidationError(
            f"{what}: set_layouts is {arguments.shown(layouts)}; it must be a mapping from a set's number to a layout "
            "(dev.descriptor_set_layout)"
        )
    sets: list[_core.DescriptorSetLayout | None] = []
    for key, layout in layouts.items():
        number = arguments.count(key, f"{what}: set_layouts: a set's number", _core.MAX_DESCRIPTOR_SETS - 1)
        if not isinstance(layout, DescriptorSetLayout):
            raise ValidationError(
                f"{what}: set_layouts[{number}] is {arguments.shown(layout)}; it must be a layout (dev.descriptor_set_layout)"
            )
        layout.require_device(device, f"{what}: set_layouts[{number}]")
        sets += [None] * (number + 1 - len(sets))
        sets[number] = layout.core
    return sets
