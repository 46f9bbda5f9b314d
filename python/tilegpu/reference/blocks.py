"""Uniform and storage block contents from Python values, by the offsets that SPIRV-Cross reflects.

In: a reflected type name with the table of types, and a mapping of member values. Out: the bytes of the block.
Matrices are those of mathematics and are stored by columns (or rows, where the member says so).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_SCALARS = {"float": "f4", "int": "i4", "uint": "u4", "bool": "u4", "double": "f8"}
_VECTOR_PREFIXES = {"vec": "f4", "ivec": "i4", "uvec": "u4", "bvec": "u4", "dvec": "f8"}


def _shape(glsl_type: str) -> tuple[str, int, int]:
    """(NumPy type, rows, columns) of a GLSL scalar, vector or matrix name."""
    if glsl_type in _SCALARS:
        return _SCALARS[glsl_type], 1, 1
    if glsl_type.startswith("mat"):
        columns, _, rows = glsl_type[3:].partition("x")
        return "f4", int(rows or columns), int(columns)
    for prefix, scalar in _VECTOR_PREFIXES.items():
        if glsl_type.startswith(prefix) and glsl_type[len(prefix) :].isdigit():
            return scalar, int(glsl_type[len(prefix) :]), 1
    raise ValueError(f"type {glsl_type} is not expected in a block")


def _write(out: bytearray, offset: int, data: bytes) -> None:
    if len(out) < offset + len(data):
        out.extend(bytes(offset + len(data) - len(out)))
    out[offset : offset + len(data)] = data


def _put_plain(out: bytearray, offset: int, member: Mapping[str, Any], value: Any, label: str) -> None:
    scalar, rows, columns = _shape(member["type"])
    array = np.asarray(value, scalar)
    if columns == 1:
        if array.size != rows:
            raise ValueError(f"{label}: value has shape {array.shape}, {member['type']} is expected")
        _write(out, offset, array.tobytes())
        return
    if array.shape != (rows, columns):
        raise ValueError(f"{label}: value has shape {array.shape}, ({rows}, {columns}) is expected")
    vectors = array if member.get("row_major") else array.T
    for i, vector in enumerate(vectors):
        _write(out, offset + i * int(member["matrix_stride"]), np.ascontiguousarray(vector).tobytes())


def _put_member(
    out: bytearray, base: int, member: Mapping[str, Any], types: Mapping[str, Any], value: Any, label: str
) -> None:
    offset = base + int(member["offset"])
    lengths = member.get("array")
    if lengths:
        values = list(value) if not isinstance(value, np.ndarray) else value
        if lengths[-1] and len(values) > int(lengths[-1]):
            raise ValueError(f"{label}: {len(values)} elements for an array of {lengths[-1]}")
        element = {k: v for k, v in member.items() if k not in ("array", "offset")} | {"offset": 0}
        for i, one in enumerate(values):
            _put_member(out, offset + i * int(member["array_stride"]), element, types, one, f"{label}[{i}]")
    elif member["type"] in types:
        put_struct(out, offset, member["type"], types, value, label)
    else:
        _put_plain(out, offset, member, value, label)


def put_struct(
    out: bytearray, base: int, type_name: str, types: Mapping[str, Any], values: Mapping[str, Any], label: str
) -> None:
    """Writes the members that ``values`` names into ``out`` (grown as needed) at ``base``; the others stay zero."""
    members = {m["name"]: m for m in types[type_name]["members"]}
    for name, value in values.items():
        if name not in members:
            raise ValueError(f"{label}: no member '{name}'; there are {', '.join(members)}")
        _put_member(out, base, members[name], types, value, f"{label}.{name}")


def block_bytes(block: Mapping[str, Any], types: Mapping[str, Any], values: Mapping[str, Any] | np.ndarray) -> bytes:
    """The content of a uniform or storage block: packed members of a mapping, or an array's bytes as they are."""
    out = bytearray(int(block.get("block_size", 0)))
    if isinstance(values, np.ndarray):
        _write(out, 0, np.ascontiguousarray(values).tobytes())
    else:
        put_struct(out, 0, block["type"], types, values, str(block["name"]))
    return bytes(out) or bytes(16)


def plain_uniforms(
    type_name: str, types: Mapping[str, Any], values: Mapping[str, Any], prefix: str
) -> dict[str, tuple[np.ndarray, int]]:
    """Push constants as OpenGL uniforms: name -> (tightly packed columns, number of array elements)."""
    out: dict[str, tuple[np.ndarray, int]] = {}
    members = {m["name"]: m for m in types[type_name]["members"]}
    for name, value in values.items():
        if name not in members:
            raise ValueError(f"{prefix}: no member '{name}'; there are {', '.join(members)}")
        member = members[name]
        full = f"{prefix}.{name}"
        if member["type"] in types:
            elements: Sequence[Any] = value if member.get("array") else [value]
            for i, one in enumerate(elements):
                inner = f"{full}[{i}]" if member.get("array") else full
                out |= plain_uniforms(member["type"], types, one, inner)
            continue
        scalar, rows, columns = _shape(member["type"])
        array = np.asarray(value, scalar)
        count = int(member["array"][-1]) if member.get("array") else 1
        if array.size != rows * columns * count:
            raise ValueError(f"{full}: value has shape {array.shape}, {count} x {member['type']} is expected")
        if columns > 1:
            array = array.reshape(count, rows, columns).transpose(0, 2, 1)
        out[full] = np.ascontiguousarray(array), count
    return out
