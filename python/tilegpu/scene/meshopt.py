"""Bytes compressed by meshoptimizer, as the glTF extension EXT_meshopt_compression stores them.

In: a compressed view, its mode, filter, count and stride. Out: the bytes that the view stands for. Source: the extension's specification,
appendix A (bitstreams, version 0 of attributes, 1 of triangles and of indices) and B (filters). Why no package: docs/dependencies.md.
Nothing in the data is trusted: what ends too early, goes on too long or names a vertex that is not there is a :class:`MeshoptError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu import Error

Array = NDArray[Any]
MODES = ("ATTRIBUTES", "TRIANGLES", "INDICES")
FILTERS = ("NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL")
_EARLY = "ends too early"
#: The deltas in a byte of four, and of two; the sentinel says that the delta is a byte of its own.
_PAIRS = [(byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3) for byte in range(256)]
_HALVES = [(byte >> 4, byte & 15) for byte in range(256)]


class MeshoptError(Error, ValueError):
    """What is wrong with the data."""


def decode(data: bytes, mode: str, filter_name: str, count: int, stride_B: int) -> bytes:
    """``count`` elements of ``stride_B`` bytes. Raises :class:`MeshoptError`; sizes are checked by who calls."""
    try:
        if mode == "ATTRIBUTES":
            values = _attributes(data, count, stride_B)
            return _FILTERS[filter_name](values).tobytes() if count else b""
        found = _triangles(data, count) if mode == "TRIANGLES" else _indices(data, count)
    except IndexError:
        raise MeshoptError(_EARLY) from None
    most = (1 << 8 * stride_B) - 1
    if found and (max(found) > most or min(found) < 0):
        raise MeshoptError(f"has an index that {stride_B} bytes can't hold")
    return np.array(found, f"<u{stride_B}").tobytes()


def _header(data: bytes, wanted: int, tail_B: int) -> int:
    """Checks the first byte; where the tail begins."""
    if len(data) < 1 + tail_B:
        raise MeshoptError(_EARLY)
    if data[0] != wanted:
        raise MeshoptError(f"begins with 0x{data[0]:02x}; of this mode and version 0x{wanted:02x} is read")
    return len(data) - tail_B


# -------------------------------------------------------------------------------------------------------------- attributes


def _attributes(data: bytes, count: int, stride_B: int) -> Array:
    """(count, stride_B) uint8."""
    end = _header(data, 0xA0, max(32, stride_B))
    out = np.empty((count, stride_B), np.uint8)
    before = np.frombuffer(data, np.uint8)[len(data) - stride_B :]
    block, at, done = min(8192 // stride_B & ~15, 256), 1, 0
    while done < count:
        n = min(block, count - done)
        groups = (n + 15) // 16
        deltas = bytearray(stride_B * groups * 16)
        for byte in range(stride_B):
            at = _deltas(data, at, end, deltas, byte * groups * 16, groups)
        coded = np.frombuffer(deltas, np.uint8).reshape(stride_B, groups * 16)[:, :n]
        change = (coded >> 1) ^ (0 - (coded & 1)).astype(np.uint8)
        rows = np.cumsum(change, 1, np.uint8) + before[:, None]
        out[done : done + n] = rows.T
        before = rows[:, -1]
        done += n
    if at != end:
        raise MeshoptError(f"has {end - at} bytes too many")
    return out


def _deltas(data: bytes, at: int, end: int, out: bytearray, to: int, groups: int) -> int:
    """The deltas of one byte of a block's elements, 16 for each group; where the next begin."""
    head, at = at, at + (groups + 3) // 4
    for group in range(groups):
        mode = data[head + (group >> 2)] >> 2 * (group & 3) & 3
        if mode == 3:
            out[to : to + 16] = data[at : at + 16]
            at += 16
        elif mode:
            table, size, sentinel = (_PAIRS, 4, 3) if mode == 1 else (_HALVES, 8, 15)
            packed, at = data[at : at + size], at + size
            k = to
            for byte in packed:
                for delta in table[byte]:
                    if delta == sentinel:
                        delta = data[at]
                        at += 1
                    out[k] = delta
                    k += 1
        to += 16
        if at > end:
            raise MeshoptError(_EARLY)
    return at


# ----------------------------------------------------------------------------------------------------------------- indices


def _number(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number of 7 bits a byte, and where the next thing begins."""
    value = 0
    for shift in range(0, 35, 7):
        if at >= end:
            raise MeshoptError(_EARLY)
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFF, at
    raise MeshoptError("has a number of more than 32 bits")


def _indices(data: bytes, count: int) -> list[int]:
    end, at = _header(data, 0xD1, 4), 1
    last = [0, 0]
    out: list[int] = []
    for _ in range(count):
        value, at = _number(data, at, end)
        delta = ~(value >> 2) if value & 2 else value >> 2
        last[value & 1] = (last[value & 1] + delta) & 0xFFFFFFFF
        out.append(last[value & 1])
    if at != end:
        raise MeshoptError(f"has {end - at} bytes too many")
    return out


class _Triangles:
    """State of the decoder of triangle lists: the two queues, the next new vertex, the last one that was written out."""

    def __init__(self, data: bytes, count: int) -> None:
        self.data, self.end = data, _header(data, 0xE1, 16)
        self.at = 1 + count // 3
        if self.at > self.end:
            raise MeshoptError(_EARLY)
        self.next = self.last = 0
        self.edges = [(0, 0)] * 16
        self.vertices = [0] * 16
        self.edge = self.vertex = 0  # where the next is put

    def new(self) -> int:
        self.next += 1
        return self.next - 1

    def written(self) -> int:
        value, self.at = _number(self.data, self.at, self.end)
        self.last = (self.last + (~(value >> 1) if value & 1 else value >> 1)) & 0xFFFFFFFF
        return self.last

    def recent(self, age: int) -> int:
        return self.vertices[self.vertex - 1 - age & 15]

    def keep(self, vertex: int) -> None:
        self.vertices[self.vertex] = vertex
        self.vertex = self.vertex + 1 & 15

    def keep_edges(self, *edges: tuple[int, int]) -> None:
        for edge in edges:
            self.edges[self.edge] = edge
            self.edge = self.edge + 1 & 15

    def beside_edge(self, age: int, how: int) -> tuple[int, int, int]:
        """A triangle at an edge met lately."""
        a, b = self.edges[self.edge - 1 - age & 15]
        if 0 < how < 13:
            c = self.recent(how)
        else:
            if how == 0:
                c = self.new()
            elif how == 15:
                c = self.written()
            else:
                c = self.last = (self.last + (1 if how == 14 else -1)) & 0xFFFFFFFF
            self.keep(c)
        self.keep_edges((c, b), (a, c))
        return a, b, c

    def apart(self, low: int, pair: int) -> tuple[int, int, int]:
        """A triangle of its own; ``pair``: how its second and third vertex are given; ``low`` 15: the first is written out."""
        if low >= 14 and pair == 0:
            self.next = 0
        a = self.written() if low == 15 else self.new()
        given = []
        for how in (pair >> 4, pair & 15):
            given.append(self.new() if how == 0 else self.written() if how == 15 else self.recent(how - 1))
        b, c = given
        self.keep(a)
        for vertex, how in zip(given, (pair >> 4, pair & 15), strict=True):
            if how in (0, 15):
                self.keep(vertex)
        self.keep_edges((b, a), (c, b), (a, c))
        return a, b, c


def _triangles(data: bytes, count: int) -> list[int]:
    state = _Triangles(data, count)
    table = data[len(data) - 16 :]
    out: list[int] = []
    for k in range(1, 1 + count // 3):
        high, low = data[k] >> 4, data[k] & 15
        if high < 15:
            out += state.beside_edge(high, low)
        elif low < 14:
            pair = table[low]
            if pair >> 4 == 15 or pair & 15 == 15:
                raise MeshoptError(f"has 0x{pair:02x} in its table, where no digit may be f")
            out += state.apart(low, pair)
        else:
            if state.at >= state.end:
                raise MeshoptError(_EARLY)
            state.at += 1
            out += state.apart(low, data[state.at - 1])
    if state.at != state.end:
        raise MeshoptError(f"has {state.end - state.at} bytes too many")
    return out


# ----------------------------------------------------------------------------------------------------------------- filters


def _rounded(x: Array, most: float) -> Array:
    """``x`` times ``most`` to the nearest integer, halves away from 0."""
    scaled = x * most
    return np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)


def _octahedral(raw: Array) -> Array:
    values = raw.view("<i1" if raw.shape[1] == 4 else "<i2").copy()
    most = float(np.iinfo(values.dtype).max)
    v = values.astype(np.float64)
    one = np.where(v[:, 2] == 0, 1, v[:, 2])
    x, y = v[:, 0] / one, v[:, 1] / one
    z = 1 - np.abs(x) - np.abs(y)
    fold = np.minimum(z, 0)
    x, y = x - np.copysign(fold, x), y - np.copysign(fold, y)
    length = np.sqrt(x * x + y * y + z * z)
    length = np.where(length == 0, 1, length)
    for k, part in enumerate((x, y, z)):
        values[:, k] = np.clip(_rounded(part / length, most), -most - 1, most)
    return values


def _quaternion(raw: Array) -> Array:
    values = raw.view("<i2")
    v = values.astype(np.float64)
    one = (values[:, 3] | 3).astype(np.float64)
    x, y, z = (v[:, k] / one * np.sqrt(0.5) for k in range(3))
    w = np.sqrt(np.maximum(0, 1 - x * x - y * y - z * z))
    out, largest = np.empty_like(values), (values[:, 3] & 3).astype(np.int64)
    row = np.arange(len(values))
    for k, part in enumerate((w, x, y, z)):
        out[row, (largest + k) % 4] = np.clip(_rounded(part, 32767.0), -32768, 32767)
    return out


def _exponential(raw: Array) -> Array:
    values = np.ascontiguousarray(raw).view("<i4")
    with np.errstate(over="ignore"):
        return np.ldexp((values << 8 >> 8).astype(np.float64), values >> 24).astype("<f4")


_FILTERS = {"NONE": lambda raw: raw, "OCTAHEDRAL": _octahedral, "QUATERNION": _quaternion, "EXPONENTIAL": _exponential}
