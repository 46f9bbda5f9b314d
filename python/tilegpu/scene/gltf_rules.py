"""Rules of glTF's accessors that a file may break and be drawn all the same, as something else than it means, or by this reader alone.

In: an accessor, what it is used for, and what was read of it. Out: sentences, for warnings. What can't be read at all is an error where it
is read.
Source: Khronos glTF 2.0, sections 3.6.2.2 (data types), 3.6.2.4 (alignment), 3.7.2.1 (attributes), 3.11 (animations), 3.7.3.1 (skins);
KHR_mesh_quantization, "Extending Mesh Attributes".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tilegpu.scene.model_file import shown
from tilegpu.scene.part import Array

_LARGEST = 3.4e38
_NAMES = {5120: "byte", 5121: "unsigned byte", 5122: "short", 5123: "unsigned short", 5125: "unsigned int", 5126: "float"}
_SIZES_B = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_FLOAT = frozenset({(5126, False)})
_UNSIGNED = frozenset({(5121, True), (5123, True)})
_SIGNED = frozenset({(5120, True), (5122, True)})
_ANY = frozenset((kind, normalized) for kind in (5120, 5121, 5122, 5123) for normalized in (False, True))
#: Component types, and whether they are normalized, by use: the specification's, and those of KHR_mesh_quantization besides.
_ALLOWED: dict[str, tuple[frozenset[tuple[int, bool]], frozenset[tuple[int, bool]]]] = {
    "POSITION": (_FLOAT, _ANY), "NORMAL": (_FLOAT, _SIGNED), "TANGENT": (_FLOAT, _SIGNED), "TEXCOORD": (_FLOAT | _UNSIGNED, _ANY),
    "COLOR": (_FLOAT | _UNSIGNED, frozenset()), "WEIGHTS": (_FLOAT | _UNSIGNED, frozenset()),
    "input": (_FLOAT, frozenset()), "output": (_FLOAT | _UNSIGNED | _SIGNED, frozenset()), "inverseBindMatrices": (_FLOAT, frozenset()),
}  # fmt: skip
#: Of a morph target, which adds: nothing else with the extension, but that normals may be bytes that stand for themselves.
_DELTAS = {"POSITION": (_FLOAT, _ANY), "NORMAL": (_FLOAT, _SIGNED), "TANGENT": (_FLOAT, _SIGNED)}
_USE = re.compile(r"\.(attributes|targets\[\d+\])\.([A-Z]+)\w*$|\.(indices|input|output|inverseBindMatrices)$")


def problems(accessor: dict[str, Any], view: dict[str, Any], where: str, quantized: bool) -> Iterator[tuple[str, str]]:
    """(which rule, what is wrong) of an accessor. ``view``: its buffer view, empty where it has none, or a compressed one; ``where``: what
    names it; ``quantized``: whether the file uses KHR_mesh_quantization."""
    found = _USE.search(where)
    use = "" if found is None else found[2] or found[3]
    kind, normalized = accessor.get("componentType"), accessor.get("normalized") is True
    if not isinstance(kind, int) or kind not in _SIZES_B:
        return
    yield from _types(use, kind, normalized, quantized, found is not None and str(found[1]).startswith("targets"))
    yield from _places(accessor, view, kind, use)


def bounds_problem(accessor: dict[str, Any], values: Array) -> str:
    """What is wrong with ``min`` and ``max`` of an accessor that was read; ``values``: (count, components), as they are stored, with what
    is sparse (section 3.6.2.5). A float may differ in its last place, as it is written in decimals. "" where nothing is wrong."""
    for name, found in (("min", values.min(0)), ("max", values.max(0))) if len(values) else ():
        given = accessor.get(name)
        if given is None:
            continue
        numbers = isinstance(given, list) and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in given)
        if not numbers or len(given) != len(found) or not all(abs(x) <= _LARGEST for x in given):
            return f"{name} is {shown(given)}; it must be {len(found)} finite numbers, one for each component"
        for k, (said, is_) in enumerate(zip(given, found.tolist(), strict=True)):
            place = float(np.spacing(np.float32(max(abs(said), abs(is_))))) if values.dtype.kind == "f" and math.isfinite(is_) else 0.0
            if abs(said - is_) > place:
                what = f"{name}[{k}] is {said:.9g}, and its {'least' if name == 'min' else 'greatest'} is {is_:.9g}"
                return f"{what}: drawn by what is there; readers that frame or cull by {name} take the other"
    return ""


def _types(use: str, kind: int, normalized: bool, quantized: bool, delta: bool) -> Iterator[tuple[str, str]]:
    if normalized and kind in (5125, 5126):
        yield "normalized", f"is normalized, and of {kind} ({_NAMES[kind]}), which can't be: it is read as it is"
        return
    if use == "indices" and normalized:
        yield "indices", "is normalized, and holds indices, which can't be: they are read as they are"
    allowed = (_DELTAS if delta else _ALLOWED).get(use)
    if allowed is None or (kind, normalized) in allowed[0] or (quantized and (kind, normalized) in allowed[1]):
        return
    is_kind = f"is of {kind} ({_NAMES[kind]}){'' if normalized else ', not normalized'}"
    wanted = " or ".join(f"{k} ({_NAMES[k]})" + (" normalized" if n else "") for k, n in sorted(allowed[0], reverse=True))
    extension = "; with KHR_mesh_quantization in extensionsUsed it may be" if not quantized and (kind, normalized) in allowed[1] else ""
    yield f"type of {use}", f"{is_kind}, and {use} is {wanted}: its numbers are taken as they are{extension}"


def _places(accessor: dict[str, Any], view: dict[str, Any], kind: int, use: str) -> Iterator[tuple[str, str]]:
    size_B, offset = _SIZES_B[kind], accessor.get("byteOffset", 0)
    begin, stride = view.get("byteOffset", 0), view.get("byteStride", 0)
    if not view or not all(isinstance(n, int) and not isinstance(n, bool) for n in (offset, begin, stride)):
        return
    for what, at in (("byteOffset", offset), ("byteOffset and that of its bufferView are together", offset + begin)):
        if at % size_B:
            is_at = f"{what} {at}" if "together" in what else f"{what} is {at}"
            must = f"for {_NAMES[kind]}s it must be a multiple of {size_B} bytes: it is read from there, which other readers may refuse"
            yield "alignment", f"{is_at}; {must}"
            return
    if use.isupper() and use and (offset % 4 or stride % 4):
        is_at = f"byteOffset is {offset}, the byteStride of its bufferView {stride or 'none'}"
        yield "alignment", f"{is_at}; of vertices both must be multiples of 4 bytes"
    elif use.isupper() and stride and not 4 <= stride <= 252:
        yield "byteStride", f"the byteStride of its bufferView is {stride}; it must be 4 to 252 bytes"
    elif stride and use and not use.isupper():
        yield "byteStride", f"the byteStride of its bufferView is {stride}; only vertices have one"
