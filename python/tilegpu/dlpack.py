"""DLPack, for images and buffers: arrays of this process's memory to other array packages.

In: what ``__dlpack__`` is asked for, an array. Out: NumPy's capsule. Source: Python array API standard, "Data interchange mechanisms".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

CPU = (1, 0)  #: kDLCPU, its only device


def require_cpu(stream: Any, dl_device: tuple[int, int] | None, what: str) -> None:
    """Raises ``BufferError`` for another device, or a stream."""
    if stream is not None or dl_device not in (None, CPU):
        raise BufferError(f"{what}: DLPack of device {dl_device}, stream {stream}; it is in the CPU's memory, without streams")


def capsule(array: NDArray[Any], max_version: tuple[int, int] | None) -> Any:
    """Of an array, which is copied where NumPy can't say that it is read-only."""
    try:
        return array.__dlpack__() if max_version is None else array.__dlpack__(max_version=max_version)
    except TypeError:  # NumPy before 2.1 knows no versions, and no read-only memory
        return (array if array.flags.writeable else array.copy()).__dlpack__()
