"""Buffers: memory that draws read, and shaders write, without a copy in between."""

from __future__ import annotations

import hashlib
import math
import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu import _core, arguments, dlpack, enums, notebook
from tilegpu.context import check_order, open_here, open_passes
from tilegpu.errors import ClampedValueWarning, OutOfMemoryError, ValidationError, users_level, users_place
from tilegpu.fixed import AsArray, Fixed, NoLength, Slotted, makes_things
from tilegpu.written_rows import WrittenRows, row_size_B

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike, NDArray

_MAX_SIZE_B = 1 << 40
_MOST_SHOWN = 8
_WHOLE = 0xFFFFFFFFFFFFFFFF
_BYTES = np.dtype(np.uint8)
#: Of indices, as Vulkan has them.
_INDICES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))
_SHORT_USAGES = ("uniform", "storage", "index", "vertex", "indirect", "uniform_texel", "storage_texel", "transform_feedback")
_USAGE_ALIASES = {n: f"{n}_buffer" for n in (*_SHORT_USAGES, "transform_feedback_counter")}


def all_usages() -> int:
    """Every way to use a buffer, as one mask."""
    mask = 0
    for value in _core.ENUMS["buffer_usage"].values():
        mask |= value
    return mask


def native_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in this machine's byte order, itself where it is so already. NumPy's ``isnative`` is true of all subarrays."""
    own = dtype.newbyteorder("=")
    return dtype if own == dtype else own


def native(array: NDArray[Any]) -> NDArray[Any]:
    """The array C-contiguous and in this machine's byte order; itself where it is so already."""
    dtype = native_dtype(array.dtype)
    return np.ascontiguousarray(array if dtype is array.dtype else array.astype(dtype))


def matrix_fields(dtype: np.dtype[Any]) -> list[str]:
    """Fields of a structured dtype that hold matrices: those of shape (rows, columns)."""
    if not dtype.names or dtype.fields is None:
        return []
    return [n for n in dtype.names if len(dtype.fields[n][0].shape) == 2]


def transposed_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype with its matrix fields as they lie in memory for a shader: column by column."""
    matrices = matrix_fields(dtype)
    if not matrices or dtype.fields is None or dtype.names is None:
        return dtype
    formats: list[Any] = []
    for name in dtype.names:
        field = dtype.fields[name][0]
        formats.append((field.base, field.shape[::-1]) if name in matrices else field)
    return np.dtype(
        {
            "names": list(dtype.names),
            "formats": formats,
            "offsets": [dtype.fields[n][1] for n in dtype.names],
            "itemsize": dtype.itemsize,
        }
    )


def upload_layout(array: NDArray[Any]) -> NDArray[Any]:
    """The array as it goes to a buffer: native, contiguous, matrices of structured fields transposed to columns."""
    array = native(array)
    matrices = matrix_fields(array.dtype)
    if not matrices or array.dtype.names is None:
        return array
    out = np.zeros(array.shape, transposed_dtype(array.dtype))
    for name in array.dtype.names:
        out[name] = np.swapaxes(array[name], -1, -2) if name in matrices else array[name]
    return out


def _has_long_doubles(dtype: np.dtype[Any]) -> bool:
    """Numbers of 80 bits in 16 bytes, whose other six are whatever they are."""
    return any(_has_long_doubles(field[0]) for field in dtype.fields.values()) if dtype.fields else dtype.base.char in "gG"


def _of_32_bits(data: Any, array: NDArray[Any], what: str) -> NDArray[Any]:
    """Numbers of a list have no width: floats get 32 bits, and integers where they fit, as shaders have them."""
    if _has_long_doubles(array.dtype):
        raise ValidationError(f"{what} has dtype {array.dtype}, whose numbers no shader reads; give float32 or float64 (array.astype)")
    if isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "__array__"):
        return array
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            made = array.astype(np.float32)
        if np.any(lost := np.isinf(made) & ~np.isinf(array)):
            text = f"{what} holds {array[lost].flat[0].item():g}, which becomes infinite: a list's floats get 32 bits; give a float64 array"
            warnings.warn(text, ClampedValueWarning, stacklevel=users_level())
        return made
    if array.dtype == np.int64 and array.size and int(array.min()) >= -(1 << 31) and int(array.max()) < 1 << 32:
        fits = int(array.max()) < 1 << 31
        return array.astype(np.int32 if fits else np.uint32) if fits or int(array.min()) >= 0 else array
    return array


def _as_own(array: NDArray[Any], own: np.dtype[Any], what: str) -> NDArray[Any]:
    """Numbers of a list as the buffer's own, all of them unchanged but for the rounding of floats."""
    with np.errstate(all="ignore"):
        made = array.astype(own)
        lost = np.isfinite(array) & ~np.isfinite(made) if own.kind == "f" and array.dtype.kind in "fiu" else made != array
    if own.kind != "f" and array.dtype.kind in "iu" and own.kind in "iu" and array.size:  # NumPy compares what wrapped round as equal
        limits = np.iinfo(own)
        lost = lost | (array < limits.min) | (array > limits.max)
    if np.any(lost):
        raise ValidationError(f"{what} holds {array[lost].flat[0].item()!r}, which {own} does not; the buffer was made from {own}")
    return made


def _step_B(dtype: np.dtype[Any] | None) -> int:
    """Bytes from which on something begins in a buffer: of one made from an array, its numbers; of fields the least of them."""
    if dtype is None:
        return 1
    if dtype.fields is None:
        return dtype.base.itemsize
    return min(_step_B(dtype.fields[name][0].base) for name in dtype.names or ())


def _spread(dtype: np.dtype[Any], at_B: int = 0) -> dict[int, np.dtype[Any]]:
    """The kind of number at each byte where one begins."""
    if dtype.subdtype is not None:
        inner, count = dtype.base, int(np.prod(dtype.shape, dtype=int))
        if inner.fields is None:
            return {at_B + k * inner.itemsize: inner for k in range(count)}
        return {at: kind for k in range(count) for at, kind in _spread(inner, at_B + k * inner.itemsize).items()}
    if dtype.fields is None:
        return {at_B: dtype}
    return {at: kind for name in dtype.names or () for at, kind in _spread(dtype.fields[name][0], at_B + dtype.fields[name][1]).items()}


class MatrixRows(NamedTuple):
    """Bytes of a buffer that came from an array without fields whose last two dimensions may be a matrix: row after row.

    ``turned``: it makes no difference, as they are symmetric, or it was turned round by hand.
    """

    start_B: int
    end_B: int
    shape: tuple[int, int]
    itemsize_B: int
    turned: bool


def matrix_rows(array: NDArray[Any], offset_B: int = 0) -> list[MatrixRows]:
    """Of an array that goes to a buffer as it is."""
    if array.ndim < 2 or array.dtype.kind != "f" or not all(2 <= side <= 4 for side in array.shape[-2:]):
        return []
    shape = array.shape[-2], array.shape[-1]
    return [MatrixRows(offset_B, offset_B + array.nbytes, shape, array.dtype.itemsize, is_turned(array))]


def is_turned(array: NDArray[Any]) -> bool:
    """``m.T`` is; of a copy of it what has the last column of a placement or a projection where mathematics has the last row."""
    if array.shape[-2] != array.shape[-1]:
        return False
    if array.strides[-2] < array.strides[-1] or np.array_equal(array, np.swapaxes(array, -1, -2)):
        return True
    if array.shape[-1] != 4:
        return False
    column, row = array[..., :, 3], array[..., 3, :]
    return any(np.all(np.abs(column) == end) and not np.all(np.abs(row) == end) for end in ((0, 0, 0, 1), (0, 0, 1, 0)))


@makes_things
class Buffer(Fixed, AsArray):
    """A buffer with memory of its own. Made by :meth:`tilegpu.Device.buffer`.

    ``size`` in bytes, ``dtype`` of the array that it was made from (``None`` for a size). :meth:`numpy` views the
    memory without a copy;
    what is written through it is what the next pass reads.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_array_dtype", "_device", "_known", "_of_bytes", "_rows", "_viewed", "_written", "core", "dtype",
        "label", "matrices", "row_shape", "usage",
    )  # fmt: skip

    def __init__(
        self,
        core: _core.Buffer,
        usage: int,
        label: str,
        dtype: np.dtype[Any] | None,
        device: _core.Device | None = None,
        row_shape: tuple[int, ...] = (),
        of_bytes: bool = False,
    ) -> None:
        self.core = core
        self.row_shape = row_shape  #: of the array that it was made from, without its first dimension; of a size: that was written
        self._rows = WrittenRows()  # of a buffer made of a size
        self._known: object = None  # another one each time that what is known of its numbers has changed, for who has looked before
        self._device = device
        self.usage = usage
        self.label = label
        self.dtype = dtype
        self._array_dtype = None if dtype is None else transposed_dtype(dtype)
        self.matrices: list[MatrixRows] = []  #: what was not turned round for shaders
        self._written: np.dtype[Any] | None = None  # of a buffer made of a size; bytes: of several kinds, or of none that is known
        self._of_bytes = of_bytes  # made from bytes, or written with them
        self._viewed: np.dtype[Any] | None = None  # the same: by whom it was looked at as wide numbers

    @classmethod
    def create(
        cls, data: Any, usage: str | Iterable[str] | None, label: str, device: _core.Device | None = None
    ) -> Buffer:
        """See :meth:`tilegpu.Device.buffer`."""
        label = arguments.text(label, "buffer: label")
        what = f"buffer '{label}'"
        mask = (
            all_usages()
            if usage is None
            else enums.parse_flags("buffer_usage", usage, f"{what}: usage", _USAGE_ALIASES)
        )
        if not mask:
            raise ValidationError(f"{what}: usage is empty; name at least one use, or leave it out for all")
        array: NDArray[Any] | None = None
        dtype: np.dtype[Any] | None = None
        if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
            size_B = int(data)
            if size_B > _MAX_SIZE_B:
                raise ValidationError(f"{what}: size is {size_B}; it must be at most {_MAX_SIZE_B}")
            if size_B <= 0:
                raise ValidationError(f"{what}: size is {size_B}; it must be at least 1 byte")
        else:
            if isinstance(data, (bytes, bytearray, memoryview)):
                array = source = np.frombuffer(data, np.uint8)
            else:
                if isinstance(data, np.ndarray) and not data.ndim and data.dtype.kind in "iu":
                    number = f"data is the number {data} in an array without dimensions"
                    raise ValidationError(f"{what}: {number}; give int({data}) for a size in bytes, or [{data}] for its contents")
                if isinstance(data, (float, np.floating, bool, np.bool_)):
                    raise ValidationError(f"{what}: data is {data!r}; a size is a whole number of bytes, and data an array or a list")
                source = _of_32_bits(data, arguments.array(data, f"{what}: data", "it must be numbers, bytes, or a size in bytes"), what)
                array = upload_layout(source)
                dtype = native(source[:0]).dtype if source.ndim else array.dtype
            size_B = array.nbytes
            if size_B == 0:
                raise ValidationError(f"{what}: data is empty; a buffer has at least 1 byte")
        core = _core.Buffer(size_B, mask, label)
        try:
            core.bind(_core.DeviceMemory(size_B), 0)
        except OutOfMemoryError as refused:
            limit = re.search(r"this machine's (\d+) bytes", str(refused))
            most = f"; this machine's memory has {limit[1]}" if limit else ""
            raise OutOfMemoryError(f"{what}: {size_B} bytes can't be had{most}; make it smaller", refused.code) from None
        if array is not None:
            np.frombuffer(memoryview(core), np.uint8)[...] = array.reshape(-1).view(np.uint8)
        rows = () if array is None or dtype is None else array.shape[1:]
        made = cls(core, mask, label, dtype, device, rows, array is not None and dtype is None)
        if array is not None:
            made.matrices = matrix_rows(source)
        return made

    @property
    def held(self) -> np.dtype[Any] | None:
        """What its numbers are: of the array that it was made from; where that was a size, of the arrays that were written since, if all
        were of one dtype. ``None`` where nobody knows."""
        return self.dtype if self.dtype is not None else None if self._written is None or self._written == _BYTES else self._written

    def said_of(self, kind: np.dtype[Any] | None) -> str:
        """Of messages: "buffer 'b' was made from float32"; ``kind``: of what it holds."""
        return f"buffer '{self.label}' was {'made from' if self.dtype is not None else 'written with'} {kind}"

    def index_kind(self, what: str) -> np.dtype[Any]:
        """The kind of the indices in it; of a buffer made of a size they are what was written, else uint32, which shaders write. Raises
        :class:`ValidationError` where they are none."""
        kind = self.held
        if kind in _INDICES:
            return kind
        if self.dtype is None and (kind is None or kind == np.int32):
            if self._of_bytes and self._viewed is None:
                how = "bytes, which don't say how wide an index is; give an array, such as np.frombuffer(data, np.uint16)"
                raise ValidationError(f"{what}: index buffer '{self.label}' holds {how}")
            return self._viewed or _INDICES[-1]
        raise ValidationError(f"{what}: index {self.said_of(kind)}; make it from uint8, uint16 or uint32")

    def _note_written(self, kind: np.dtype[Any]) -> None:
        """Another kind than before, or bytes: what it holds is known no more."""
        if self.dtype is None and self._written is None:
            self._written, self._known = kind, object()
        elif self.dtype is None and kind != self._written:  # the same object for what is equal: draws look at that alone
            self._written, self._known = _BYTES, object()

    def rows_at(self, offset_B: int, size_B: int) -> tuple[int, ...]:
        """The shape of the rows that lie in so many bytes from a byte on: of the array that it was made from, or that was written there."""
        return self.row_shape if self.dtype is not None else self._rows.at(offset_B, offset_B + size_B)

    @property
    def rows_known(self) -> bool:
        """Whether an array that was written to it lies there still, as far as is known."""
        return bool(self._rows)

    def take_texels(self, offset_B: int) -> None:
        """An image was copied to it, from a byte on: numbers of no kind that is known."""
        if self.dtype is None:
            self._note_written(_BYTES)
            self._of_bytes = False
            self.forget_rows(offset_B)

    def forget_rows(self, offset_B: int = 0, size_B: int = _WHOLE) -> None:
        """Something else lies there now, or may: a shader stores it, or a view was given out."""
        if self.dtype is None:
            self._rows.forget(offset_B, offset_B + size_B)
            self._rows_changed()

    def _rows_changed(self) -> None:
        self.row_shape, self._known = self._rows.whole, object()

    def _note_rows(self, array: NDArray[Any], offset_B: int) -> None:
        """An array was written to a buffer made of a size."""
        shape = array.shape[1:]
        if self._rows.note(offset_B, offset_B + array.nbytes, shape, row_size_B(shape, array.itemsize)):
            self._rows_changed()

    @property
    def size(self) -> int:
        """Bytes."""
        return self.core.size_B

    @property
    def device_address(self) -> int:
        """The address of byte 0 for shaders: what ``GL_EXT_buffer_reference`` points to, to be passed as ``uint64_t``, ``uvec2`` or
        in the place of a reference, in push constants or in another buffer. Counts bytes: element ``i`` of floats is at
        ``device_address + 4 * i``.

        Given when it is asked for the first time, in the order of asking, and never changed: a multiple of 4 GiB, no address of this
        process, the same on every run. Shaders reach the buffer by it for as long as the buffer lives: keep it until the work that
        does so was executed. An address where no buffer is reads as 0, and what is stored there vanishes.
        """
        if self._device is None:
            raise ValidationError(
                f"buffer '{self.label}': device_address: the buffer was made without a device; make it by dev.buffer"
            )
        require_usage(self, "shader_device_address", "device_address")
        return self._device.buffer_address(self.core)

    def numpy(self, dtype: DTypeLike | None = None, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """Writable view of the memory, without a copy; dtype by default that of the data that the buffer was made
        from, else uint8. It has one number behind the other, of one dimension; ``shape=`` gives rows: ``buffer.numpy(shape=(-1, 3))[:] =
        positions``.

        Matrix fields of a structured dtype appear as they lie in memory: transposed. What is written through the view is not turned
        round; :meth:`write` turns them. The bytes must be a whole number of the dtype.
        """
        try:
            kind = np.dtype(dtype) if dtype is not None else (self._array_dtype or np.dtype(np.uint8))
        except Exception:  # NumPy raises many types for what is no dtype
            raise ValidationError(
                f"buffer '{self.label}': dtype is {arguments.shown(dtype)}, which NumPy knows no dtype by"
            ) from None
        if kind.hasobject or not kind.itemsize:
            raise ValidationError(f"buffer '{self.label}': dtype is {kind}; it must be one of numbers")
        if self.size % kind.itemsize:
            raise ValidationError(
                f"buffer '{self.label}': dtype is {kind}, of {kind.itemsize} bytes; the buffer's {self.size} bytes are no whole number of "
                f"these, {self.size % kind.itemsize} are left over: view a part, such as numpy()[:{self.size - self.size % kind.itemsize}]"
                + (f".view({arguments.shown(kind.name)})" if self.dtype is None and kind.names is None and kind.subdtype is None else "")
            )
        if open_here.passes:
            self._say_order()
        if self.dtype is None and (self._written is None or kind.base != self._written):  # it may be written through
            self._written, self._viewed, self._known = _BYTES, kind if kind in _INDICES[1:] else None, object()
        if self.dtype is None and self._rows:
            self.forget_rows()
        raw: NDArray[Any] = np.frombuffer(memoryview(self.core), np.uint8)
        if kind.subdtype is not None:
            base, inner = kind.subdtype
            count = self.size // kind.itemsize
            view = raw[: count * kind.itemsize].view(base).reshape(count, *inner)
        else:
            view = raw[: self.size // kind.itemsize * kind.itemsize].view(kind)
        try:
            return view if shape is None else view.reshape(shape)
        except Exception:
            raise ValidationError(
                f"buffer '{self.label}': shape is {arguments.shown(shape)}; it must hold {view.size} elements"
            ) from None

    def _say_order(self) -> None:
        """Of a view that is asked for within a pass: its draws write the buffer later, or read what is written through it now, which is
        told when the pass ends, if something was."""
        check_order(f"buffer '{self.label}': numpy", self, False, bytes=(0, self.size))
        for open_pass in open_passes():
            if how := open_pass.reads_buffer(self):
                open_pass.watch(self, how, users_place())

    def content_hash(self) -> bytes:
        """Of its bytes, to see whether they change."""
        return hashlib.blake2b(memoryview(self.core)).digest()

    def write(self, data: Any, offset: int = 0) -> None:
        """Copies an array or bytes into the buffer from byte ``offset`` on (element i of an array with fields begins at
        ``i * dtype.itemsize``; ``offset`` may be that of a field). Lists become the buffer's own numbers, where it was made
        of an array, else such of 32 bits; an array of other numbers than its own is refused, but where it was made of bytes
        (``uint8``). Matrix fields of an array with fields are turned round for shaders; a matrix in an array without fields is not."""
        offset = arguments.whole(offset, f"buffer '{self.label}': offset of write")
        source = self.fitting(data, "write", offset)
        array = upload_layout(source)
        if offset < 0 or offset + array.nbytes > self.size:
            raise ValidationError(
                f"buffer '{self.label}': write of {array.nbytes} bytes at offset {offset}; the buffer has {self.size} bytes"
            )
        if open_here.passes and array.nbytes:
            check_order(f"buffer '{self.label}': write", self, True, bytes=(offset, offset + array.nbytes))
        self._note_matrices(source, offset)
        if self.dtype is None and source.size and (source.dtype.names or source.any()):  # zeros of any kind are zeros
            self._note_written(native(source[:0]).dtype if source.ndim else source.dtype)
            self._of_bytes, self._viewed = source.dtype == _BYTES, None
            if self._rows.last != (written := (offset, array.nbytes, array.shape)):  # who writes the same again pays next to nothing
                self._note_rows(array, offset)
                self._rows.last = written
        elif self.dtype is None and self._written is not None:
            self.forget_rows(offset, array.nbytes)
        np.frombuffer(memoryview(self.core), np.uint8)[offset : offset + array.nbytes] = array.reshape(-1).view(
            np.uint8
        )

    def fitting(self, data: Any, how: str, offset_B: int) -> NDArray[Any]:
        """What is given for the buffer from a byte on, by a write or a copy: bytes as they are, a list as its numbers; an array of others
        is refused, and so are records whose fields are not the buffer's at their places."""
        if isinstance(data, (bytes, bytearray, memoryview)):
            if how == "write":
                self._check_offset(offset_B, how)
            return np.frombuffer(data, np.uint8)
        what = f"buffer '{self.label}': what is {'written' if how == 'write' else 'copied'}"
        array = arguments.array(data, what)
        own = self.dtype.base if self.dtype is not None and self.dtype.names is None else None
        if own is not None and array.dtype.names is None and not isinstance(data, (np.ndarray, np.generic)):
            array = _as_own(array, own, what)
        elif self.dtype is None:
            array = _of_32_bits(data, array, what)
        if own not in (None, _BYTES) and array.dtype.names is None and native(array).dtype.base not in (own, _BYTES):
            raise ValidationError(
                f"buffer '{self.label}': {how} of {array.dtype}; the buffer was made from {own}: convert it with astype, or give bytes"
            )
        if wrong := self._written_misfit(array, offset_B):
            raise ValidationError(f"buffer '{self.label}': {how} of {wrong}")
        self._check_offset(offset_B, how)
        return array

    def _written_misfit(self, array: NDArray[Any], offset_B: int) -> str:
        """Of an array whose bytes go where records lie, or of records: other fields at their places, or none of the numbers."""
        given = native_dtype(array.dtype)
        own = self.dtype.base if self.dtype is not None and self.dtype.names is None else None
        if self.dtype is None or _BYTES in (own, given.base) or given == native_dtype(self.dtype):  # wherever it begins
            return ""
        if self.dtype.names and given.names:
            mine, theirs = _spread(transposed_dtype(self.dtype)), _spread(transposed_dtype(given))
            begins = {name: self.dtype.fields[name][1] for name in self.dtype.names if self.dtype.fields is not None}
            fields, row_B = given.fields, self.dtype.itemsize
            assert fields is not None
            for at_B in range(offset_B, offset_B + given.itemsize * min(array.size, 8), given.itemsize or 1):
                kinds_fit = all(kind in (mine.get((at_B + k) % row_B, kind), _BYTES) for k, kind in theirs.items())
                if not kinds_fit or any((at_B + fields[n][1]) % row_B != begins[n] for n in given.names if n in begins):
                    break
            else:
                return ""
            return (
                f"records of {given}; the buffer was made from {self.dtype}: fields go by their bytes, not by name. Copy by name "
                "(buffer.numpy()['field'] = ...), or give bytes (array.view(np.uint8))"
            )
        if given.names is None and self.dtype.names:
            kinds = set(_spread(self.dtype).values())
            if given.base not in kinds and not any(kind == _BYTES for kind in kinds):
                return f"{given}; the buffer was made from {self.dtype}: convert it with astype, or give bytes (array.view(np.uint8))"
        if given.names and own is not None and own not in set(_spread(given).values()):
            return f"records of {given}; the buffer was made from {own}: give such numbers, or bytes (array.view(np.uint8))"
        return ""

    def _note_matrices(self, array: NDArray[Any], offset: int) -> None:
        """What is written takes the place of what lay there."""
        rows = matrix_rows(array, offset)
        last = self.matrices[-1] if self.matrices else None
        if rows and last is not None and last.end_B == offset and last[2:] == rows[0][2:]:  # one behind the other
            self.matrices[-1] = last._replace(end_B=rows[0].end_B)
        elif rows or last is not None:
            self.matrices = [m for m in self.matrices if m.end_B <= offset or m.start_B >= offset + array.nbytes] + rows

    def take_matrices(self, source: Buffer, offset_B: int, from_B: int, size_B: int) -> None:
        """The same of a copy of bytes from another buffer, and of what it holds."""
        if self.dtype is None:
            self._note_written(_BYTES if source.held is None else source.held)
            rows = source._rows if source.dtype is None else source.row_shape
            row_B = row_size_B(source.row_shape, 1 if source.dtype is None else source.dtype.itemsize)
            if source is self:
                self.forget_rows(offset_B, size_B)
            elif self._rows.take(rows, row_B, from_B, offset_B, size_B):
                self._rows_changed()
        if not (self.matrices or source.matrices) or source is self:
            return
        by_B, end_B = offset_B - from_B, from_B + size_B
        moved = [m._replace(start_B=m.start_B + by_B, end_B=m.end_B + by_B)
                 for m in source.matrices if from_B <= m.start_B and m.end_B <= end_B]  # fmt: skip
        self.matrices = [m for m in self.matrices if m.end_B <= offset_B or m.start_B >= offset_B + size_B] + moved

    def _check_offset(self, offset: int, what: str) -> None:
        """Offsets are bytes; one in the middle of a number is meant as an element's index."""
        if offset % (step_B := _step_B(self.dtype)):
            raise ValidationError(
                f"buffer '{self.label}': offset of {what} is {offset}, in bytes, within a number of {step_B} bytes: the buffer was made "
                f"from {self.dtype}; element {offset} begins at {offset * (self.dtype.itemsize if self.dtype is not None else 1)}"
            )

    def slice(self, offset: int, size: int | None = None) -> BufferSlice:
        """A part of the buffer to be bound or drawn from. ``offset`` and ``size`` are bytes: element i of an array begins at
        ``i * dtype.itemsize``, and a part may begin within a record, at any of its numbers."""
        what = f"buffer '{self.label}': slice"
        offset = arguments.whole(offset, f"{what}: offset")
        self._check_offset(offset, "slice")
        size = self.size - offset if size is None else arguments.whole(size, f"{what}: size")
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValidationError(
                f"buffer '{self.label}': slice of {size} bytes at offset {offset}; the buffer has {self.size} bytes"
            )
        made = object.__new__(BufferSlice)  # draws make some: without what looks at who calls
        _of_buffer(made, self)
        _offset(made, offset)
        _size(made, size)
        return made

    def texels(self, format: Any, offset: int = 0, size: int | None = None) -> BufferView:
        """The bytes from ``offset`` on (a multiple of 16; ``size``: so many, by default all) as texels of ``format``, for shaders
        with ``samplerBuffer``, ``textureBuffer`` or ``imageBuffer``."""
        what = f"buffer '{self.label}': texels"
        info = enums.parse_format(format, f"{what}: format")
        offset = arguments.whole(offset, f"{what}: offset")
        size = _WHOLE if size is None else arguments.whole(size, f"{what}: size")
        if not (0 <= offset <= self.size and (0 <= size <= self.size or size == _WHOLE)):
            raise ValidationError(f"{what}: {size} bytes at offset {offset}; both must be 0 to the buffer's {self.size}")
        usages = _core.ENUMS["buffer_usage"]
        only_storage = self.usage & usages["storage_texel_buffer"] and not self.usage & usages["uniform_texel_buffer"]
        if only_storage and not info.storage:
            raise ValidationError(f"{what}: {info.name} can't be stored to, and storage_texel is the only usage; give uniform_texel too")
        return BufferView(self, _core.BufferView(self.core, info.number, offset, size), info, offset)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        view, what = self.numpy(), f"np.asarray: buffer '{self.label}'"
        if dtype is not None and arguments.dtype(dtype, what) != view.dtype:
            return arguments.converted(view, dtype, what)
        return view.copy() if copy else view

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU's memory."""
        return dlpack.CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A writable view for ``torch.from_dlpack(buffer)`` and others, as :meth:`numpy` has it; ``buffer.numpy(dtype)`` for another dtype.

        Raises ``BufferError`` for a structured dtype, which DLPack has not.
        """
        dlpack.require_cpu(stream, dl_device, f"buffer '{self.label}'")
        array = self.numpy()
        if array.dtype.names is not None:
            raise BufferError(
                f"buffer '{self.label}': dtype {array.dtype} is structured, which DLPack has not; give one field of buffer.numpy()"
            )
        return dlpack.capsule(array.copy() if copy else array, max_version)

    def __len__(self) -> int:
        return self.size // (self.dtype.itemsize if self.dtype else 1)

    def _repr_html_(self) -> str:
        """What it is, and its first elements as they lie in memory."""
        usages = [name.removesuffix("_buffer") for name, bit in _core.ENUMS["buffer_usage"].items() if self.usage & bit]
        usage = "all" if self.usage == all_usages() else ", ".join(usages)
        kind = "bytes" if self.dtype is None else str(self._array_dtype)
        rows = [("size", f"{self.size:,} B"), ("dtype", kind), ("elements", f"{len(self):,}"), ("usage", usage)]
        made = notebook.table(f"buffer '{self.label}'", (), rows)
        return made + _first_elements(self, 0, self.size)

    def __repr__(self) -> str:
        kind = f", dtype {self.dtype}" if self.dtype is not None else ""
        return f"<tilegpu.Buffer '{self.label}', {self.size} bytes{kind}>"


class BufferSlice(Slotted, NoLength):
    """Bytes ``offset`` to ``offset + size`` of a buffer."""

    __slots__ = ("__weakref__", "buffer", "offset", "size")
    _in_its_place = ".size is in bytes"
    buffer: Buffer
    offset: int
    size: int

    def __init__(self, buffer: Buffer, offset: int, size: int) -> None:
        _of_buffer(self, buffer)
        _offset(self, offset)
        _size(self, size)

    @property
    def device_address(self) -> int:
        """The address of its first byte; see :attr:`Buffer.device_address`."""
        return self.buffer.device_address + self.offset

    def _repr_html_(self) -> str:
        rows = [("from byte", f"{self.offset:,}"), ("size", f"{self.size:,} B")]
        made = notebook.table(f"slice of buffer '{self.buffer.label}'", (), rows, {1})
        return made + _first_elements(self.buffer, self.offset, self.size)

    def __repr__(self) -> str:
        return f"<tilegpu.BufferSlice of '{self.buffer.label}', bytes {self.offset} to {self.offset + self.size}>"


_of_buffer, _offset, _size = (vars(BufferSlice)[name].__set__ for name in ("buffer", "offset", "size"))  # without __setattr__


class BufferView(Fixed):
    """Texels in a buffer. Made by :meth:`Buffer.texels`."""

    __slots__ = ("__weakref__", "_offset_B", "buffer", "core", "format_info")

    def __init__(self, buffer: Buffer, core: _core.BufferView, format_: enums.FormatInfo, offset_B: int) -> None:
        self.buffer, self.core, self.format_info, self._offset_B = buffer, core, format_, offset_B

    @property
    def number_rows(self) -> tuple[int, ...]:
        """The shape of the rows of numbers that lie there."""
        return self.buffer.rows_at(self._offset_B, self.core.range_B)

    @property
    def format(self) -> str:
        """Vulkan's name, lower case, without prefix."""
        return self.format_info.name

    def __len__(self) -> int:
        return self.core.range_B // self.format_info.texel_B

    def _repr_html_(self) -> str:
        rows = [("format", self.format), ("texels", f"{len(self):,}")]
        return notebook.table(f"texels in buffer '{self.buffer.label}'", (), rows, {1})

    def __repr__(self) -> str:
        return f"<tilegpu.BufferView of '{self.buffer.label}', {len(self)} texels, {self.format}>"


def _first_elements(buffer: Buffer, offset_B: int, size_B: int) -> str:
    """A row for each of the first, with a column for each field; of bytes as numbers of 16. ``""`` where nothing whole is there."""
    dtype = buffer._array_dtype or _BYTES
    shape = buffer.row_shape if dtype.names is None else ()
    if dtype == _BYTES and not shape:
        shape = (min(16, size_B),)
    row_B = dtype.itemsize * int(np.prod(shape, dtype=int))
    count = min(_MOST_SHOWN, size_B // row_B if row_B else 0)
    if not count:
        return ""
    raw = np.frombuffer(memoryview(buffer.core), np.uint8)[offset_B : offset_B + count * row_B].copy()
    array = raw.view(dtype).reshape(count, *(() if dtype.names else shape))
    names = list(dtype.names or ("value",))
    cells = [[str(i), *(str((row[n] if dtype.names else row).tolist()) for n in names)] for i, row in enumerate(array)]
    left = size_B // row_B - count
    return notebook.table("", ("", *names), cells, {0}) + (notebook.notes([f"and {left:,} more"]) if left else "")


def require_usage(buffer: Buffer, usage: str, what: str) -> None:
    """Raises unless the buffer was made for this use."""
    if not buffer.usage & _core.ENUMS["buffer_usage"][usage]:
        have = [n for n, bit in _core.ENUMS["buffer_usage"].items() if buffer.usage & bit]
        short = usage.removesuffix("_buffer")
        raise ValidationError(
            f"{what}: buffer '{buffer.label}' has usage {'|'.join(have)}; create it with usage='{short}' too"
        )


def require_words(buffer: Buffer, what: str, offset_B: int = 0, size_B: int | None = None, step_B: int | None = None) -> None:
    """Raises unless the buffer may hold whole numbers of 32 bits, where it is known what it was made from. ``size_B``: so many bytes from
    ``offset_B`` on are read, and with ``step_B`` as many again each so far on; what else records have may be anything."""
    dtype = buffer.held
    if dtype is None:
        return
    if dtype.names is None or size_B is None:
        kinds = list(_spread(dtype).values()) if dtype.names else [dtype.base]
    else:
        row_B, step_B = dtype.itemsize, step_B or dtype.itemsize
        starts = {(offset_B + k * step_B) % row_B for k in range(row_B // math.gcd(row_B, step_B))}
        ends = [(start - turn, start - turn + size_B) for start in starts for turn in (0, row_B)]  # they may go on in the next record
        kinds = [kind for at, kind in _spread(dtype).items() if any(at < end and at + kind.itemsize > start for start, end in ends)]
    wrong = [k for k in kinds if k != np.uint8 and (k.kind not in "iu" or k.itemsize != 4)]
    if wrong:
        raise ValidationError(f"{what}: {buffer.said_of(wrong[0])}; make it from uint32")
