"""Arrays for vertices and instances whose numbers are others than the pipeline's: what a field can't hold is an error, as of buffers.

In: an array, the pipeline's dtype. Out: what the shader saw of the first vertex, or the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

dev = tg.Device(threads=1)
KINDS = {"vec4": ("vec4", "r32g32b32a32_sfloat"), "uvec4": ("uvec4", "r32g32b32a32_uint"), "ivec4": ("ivec4", "r32g32b32a32_sint")}
_pipes: dict[Any, tg.Pipeline] = {}


def seen(data: Any, own: Any, kind: str = "vec4", rate: str = "vertex") -> list[float]:
    """What a shader whose input is of ``kind`` reads, where the pipeline's dtype is ``own``."""
    type_, format_ = KINDS[kind]
    key = (str(own), kind, rate)
    if key not in _pipes:
        vert = f"""#version 450
layout(location = 0) in {type_} p; layout(location = 0) flat out {type_} c;
void main() {{ c = p; gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }}"""
        frag = f"#version 450\nlayout(location = 0) flat in {type_} c; layout(location = 0) out {type_} o; void main() {{ o = c; }}"
        _pipes[key] = dev.pipeline(vert, frag, color=[format_], **{rate: np.dtype(own)})
    out = dev.image((4, 4), format_)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))], label="p") as rp:
        rp.draw(_pipes[key], data) if rate == "vertex" else rp.draw(_pipes[key], count=3, instances=data)
    return [round(float(v), 4) for v in out.numpy()[0, 0]]


def rows(value: Any, dtype: str, fields: bool = True) -> Any:
    array = np.zeros(3, [("p", dtype, 4)])
    array["p"] = value
    return array if fields else np.ascontiguousarray(array["p"])


WRONG = [
    ((1, 0.5, 0.25, 1), "f4", "u1", "vec4", r"floats \(float32\), .*uint8, which the shader reads as 0 to 1 .*multiply by 255"),
    (-0.5, "f4", "i2", "vec4", r"reads as -1 to 1 .*multiply by 32767"),
    (200.0, "f8", "u1", "vec4", "a normalised integer of 0 to 255"),
    (300, "i8", "u1", "vec4", "has 300, which the pipeline's uint8 can't hold: it takes whole numbers from 0 to 255"),
    (-1, "i4", "u2", "uvec4", "has -1, .*from 0 to 65535"),
    (70000, "u4", "i2", "ivec4", "has 70000, .*from -32768 to 32767"),
    (2**40, "u8", "u4", "uvec4", f"has {2**40}, "),
    (2**63, "u8", "i4", "ivec4", f"has {2**63}, "),
    (1.5, "f4", "i4", "ivec4", "has 1.5, .*whole numbers"),
    (float(2**32), "f8", "u4", "uvec4", "has 4294967296.0, "),
    (np.nan, "f4", "u4", "uvec4", "has nan, "),
    (1.5, "f2", "i4", "ivec4", "has 1.5, .*whole numbers"),
    (np.inf, "f2", "u4", "uvec4", "has inf, "),
    (-np.inf, "f2", "i4", "ivec4", "has -inf, "),
    (1e6, "f4", "f2", "vec4", "has 1000000.0, which the pipeline's float16 can't hold"),
]


@pytest.mark.parametrize(("value", "dtype", "own", "kind", "said"), WRONG)
def test_what_a_field_can_not_hold_is_an_error(value: Any, dtype: str, own: str, kind: str, said: str) -> None:
    with pytest.raises(tg.ValidationError, match=f"vertex field 'p' .*{said}"):
        seen(rows(value, dtype), [("p", own, 4)], kind)
    with pytest.raises(tg.ValidationError, match=f"vertex field 'p' .*{said}"):  # plain rows for a pipeline with fields
        seen(rows(value, dtype, fields=False), [("p", own, 4)], kind)


def test_plain_arrays_and_instances_too() -> None:
    with pytest.raises(tg.ValidationError, match="the array has 300, which"):
        seen(np.full((3, 4), 300), ("u1", 4))
    with pytest.raises(tg.ValidationError, match="the array has floats"):
        seen(np.full((3, 4), 0.5), ("u1", 4))
    with pytest.raises(tg.ValidationError, match="instances: vertex field 'p' has 300"):
        seen(rows(300, "i8"), [("p", "u1", 4)], rate="instance")


@pytest.mark.parametrize(
    ("value", "dtype", "own", "kind", "shown"),
    [
        (255, "i8", "u1", "vec4", 1.0),
        (3.0, "f8", "i4", "ivec4", 3),
        (2048.0, "f2", "u4", "uvec4", 2048),
        (65504.0, "f2", "i4", "ivec4", 65504),
        (-7, "i8", "i2", "ivec4", -7),
        (2**32 - 1, "u8", "u4", "uvec4", 2**32 - 1),
        (2**24 + 1, "i8", "f4", "vec4", 2**24),
        (np.inf, "f8", "f2", "vec4", np.inf),
        (True, "?", "u1", "uvec4", 1),
        (0.1, "f8", "f4", "vec4", 0.1),
    ],
)
def test_what_it_holds_is_taken(value: Any, dtype: str, own: str, kind: str, shown: float) -> None:
    assert seen(rows(value, dtype), [("p", own, 4)], kind) == [shown] * 4


@pytest.mark.parametrize("rate", ["vertex", "instance"])
def test_the_other_byte_order_is_turned_round(rate: str) -> None:
    """NumPy calls dtypes with subarrays native, whatever they are."""
    for data, own in (
        (rows(0.5, ">f4"), [("p", ">f4", 4)]),
        (rows(0.5, ">f4"), [("p", "f4", 4)]),
        (rows(0.5, "f4"), [("p", ">f4", 4)]),
        (rows(0.5, ">f4", fields=False), (">f4", 4)),
    ):
        assert seen(data, own, rate=rate) == [0.5] * 4
    assert seen(dev.buffer(rows(0.5, ">f4")), [("p", ">f4", 4)], rate=rate) == [0.5] * 4


def test_buffers_of_fields_in_the_other_byte_order() -> None:
    inner = np.dtype([("v", ">f4", 4), ("n", ">u2", 2)])
    array = np.zeros(2, [("a", inner), ("b", ">i4")])
    array["a"]["v"], array["a"]["n"], array["b"] = 0.25, 7, -3
    held = dev.buffer(array).numpy()
    assert held["a"]["v"].tolist() == [[0.25] * 4] * 2 and held["a"]["n"].tolist() == [[7, 7]] * 2 and held["b"].tolist() == [-3, -3]
    assert held.dtype["a"]["v"].base == np.dtype("<f4")
    buffer = dev.buffer(np.zeros(2, array.dtype))
    buffer.write(array)
    assert buffer.numpy()["b"].tolist() == [-3, -3]
