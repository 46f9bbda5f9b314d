"""Memory for the NumPy arguments of a pass: chunks that are used again by later passes of the same device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core
from tilegpu.context import Context

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Arena:
    """Copies arrays and bytes into buffers. Whoever may execute what reads them holds the arena: their memory is used again without it."""

    __slots__ = ("core", "device")

    def __init__(self, device: Context, core: _core.ArgumentArena | None = None) -> None:
        self.device = device
        self.core = _core.ArgumentArena(device._chunks) if core is None else core

    def upload(self, data: NDArray[Any] | bytes) -> _core.Buffer:
        """A buffer of exactly the data's size (at least one byte) with a copy of it."""
        return self.core.upload(data if isinstance(data, bytes) else data.reshape(-1).view(np.uint8))

    def descriptor_set(self, layout: _core.DescriptorSetLayout) -> _core.DescriptorSet:
        """A set of the device, all null."""
        return _core.DescriptorSet(self.device.core, layout)
