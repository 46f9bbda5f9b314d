"""Memory for the NumPy arguments of a pass: chunks that are used again by later passes of the same device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core
from tilegpu.buffer import all_usages
from tilegpu.context import Context

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK_B = 1 << 20
_ALIGN_B = 64
_MAX_KEPT = 64


class Arena:
    """Copies arrays and bytes into buffers. Whoever may execute what reads them holds the arena: their memory is used again without it."""

    def __init__(self, device: Context) -> None:
        self.device = device
        self._chunks: list[tuple[_core.DeviceMemory, NDArray[np.uint8]]] = []
        self._used_B = _CHUNK_B
        self._usage = all_usages()

    def upload(self, data: NDArray[Any] | bytes) -> _core.Buffer:
        """A buffer of exactly the data's size (at least one byte) with a copy of it."""
        source = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data.reshape(-1).view(np.uint8)
        size_B = max(1, source.nbytes)
        buffer = _core.Buffer(size_B, self._usage, "argument of draw")
        if size_B > _CHUNK_B // 4:
            memory = _core.DeviceMemory(size_B)
            buffer.bind(memory, 0)
            np.frombuffer(memoryview(memory), np.uint8)[: source.nbytes] = source
            return buffer
        if self._used_B + size_B > _CHUNK_B:
            self._chunks.append(self.device._take_chunk() or self._new_chunk())
            self._used_B = 0
        memory, view = self._chunks[-1]
        buffer.bind(memory, self._used_B)
        view[self._used_B : self._used_B + source.nbytes] = source
        self._used_B += (size_B + _ALIGN_B - 1) // _ALIGN_B * _ALIGN_B
        return buffer

    def descriptor_set(self, layout: _core.DescriptorSetLayout) -> _core.DescriptorSet:
        """A set of the device, all null."""
        return _core.DescriptorSet(self.device.core, layout)

    @staticmethod
    def _new_chunk() -> tuple[_core.DeviceMemory, NDArray[np.uint8]]:
        memory = _core.DeviceMemory(_CHUNK_B)
        return memory, np.frombuffer(memoryview(memory), np.uint8)

    def __del__(self) -> None:
        # Nobody reads the chunks any more: submissions are waited for, and recordings hold the arena until they are dropped.
        self.device._give_chunks(self._chunks, _MAX_KEPT)
