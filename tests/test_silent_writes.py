"""``buffer.write`` of records: fields lie where the buffer's do, or it is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FIELDS = [("position", "f4", 2), ("uv", "f4", 2)]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


@pytest.mark.parametrize(
    ("made", "given", "offset"),
    [
        (FIELDS, [("uv", "f4", 2), ("position", "f4", 2)], 0),
        (FIELDS, [("position", "f4", 2), ("uv", "i4", 2)], 0),
        (FIELDS, [("position", "f4", 2), ("id", "i4", 2)], 0),
        (FIELDS, [("position", "f8", 2), ("uv", "f8", 2)], 0),
        (FIELDS, [("position", "f4", 2)], 0),  # of several: the second lies where uv is
        (FIELDS, [("uv", "f4", 2)], 0),
        (FIELDS, "i4", 0),
        (FIELDS, "f8", 0),
        ("f4", [("x", "i4")], 0),
    ],
)
def test_other_fields_are_refused(dev: tg.Device, made: Any, given: Any, offset: int) -> None:
    buffer = dev.buffer(np.zeros(4, made), label="b")
    with pytest.raises(tg.ValidationError, match=r"buffer 'b': write of .*the buffer was made from .*give"):
        buffer.write(np.ones(2, given), offset)
    assert not buffer.numpy(np.uint8).any()


@pytest.mark.parametrize(
    ("made", "given", "offset"),
    [
        (FIELDS, FIELDS, 0),
        (FIELDS, FIELDS, 16),
        (FIELDS, [("p", "f4", 2), ("t", "f4", 2)], 0),
        (FIELDS, [("position", ">f4", 2), ("uv", ">f4", 2)], 0),
        (FIELDS, "f4", 0),
        (FIELDS, "u1", 0),
        (FIELDS, [("all", "f4", 4)], 0),
        ([("m", "f4", (4, 4)), ("k", "u4", 4)], [("m", "f4", (4, 4)), ("k", "u4", 4)], 0),
        ([("p", "f4", 3), ("c", "u1", 4)], "u4", 0),
        ("f4", FIELDS, 0),
        ("u1", FIELDS, 0),
    ],
)
def test_the_same_fields_are_written(dev: tg.Device, made: Any, given: Any, offset: int) -> None:
    dev.buffer(np.zeros(64, made)).write(np.ones(2, given), offset)


def test_one_field_of_one_record(dev: tg.Device) -> None:
    buffer = dev.buffer(np.zeros(4, FIELDS))
    buffer.write(np.ones(1, [("uv", "f4", 2)]), 24)
    assert buffer.numpy()["uv"].tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("made", "given", "offset"),
    [
        (FIELDS, [("uv", "f4", 2), ("position", "f4", 2)], 0),
        (FIELDS, [("position", "f4", 2), ("uv", "i4", 2)], 16),
        (FIELDS, [("position", "f4", 2)], 0),
        (FIELDS, "i4", 0),
        ("f4", [("x", "i4")], 4),
    ],
)
def test_copies_of_other_fields_are_refused(dev: tg.Device, made: Any, given: Any, offset: int) -> None:
    """As of a write, wherever the first byte comes to lie."""
    buffer = dev.buffer(np.zeros(4, made), label="b")
    copies = [lambda: dev.copy(np.ones(2, given), buffer, destination_offset=offset)]
    if offset:
        copies.append(lambda: dev.copy(np.ones(2, given), buffer.slice(offset)))
    for copy in copies:
        with pytest.raises(tg.ValidationError, match=r"buffer 'b': copy of .*the buffer was made from .*give"):
            copy()
    assert not buffer.numpy(np.uint8).any()


def test_copies_of_the_same_fields(dev: tg.Device) -> None:
    buffer, two = dev.buffer(np.zeros(4, FIELDS), label="b"), np.array([((1, 2), (3, 4)), ((5, 6), (7, 8))], FIELDS)
    dev.copy(two, buffer, destination_offset=16)
    assert buffer.numpy("f4").tolist() == [0] * 4 + [1, 2, 3, 4, 5, 6, 7, 8] + [0] * 4
    dev.copy(two, buffer, source_offset=16)  # the second to the first's place
    dev.copy(two["uv"].view([("uv", "f4", 2)])[:1, 0], buffer, destination_offset=56)
    assert buffer.numpy("f4").tolist() == [5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 3, 4]
    dev.copy(b"\xff", buffer, destination_offset=1)  # bytes are bytes
    with pytest.raises(tg.ValidationError, match="offset of copy is 1, in bytes, within a number of 4 bytes"):
        dev.copy(np.ones(1, "f4"), buffer, destination_offset=1)


def test_a_copy_takes_along_what_was_not_turned_round(dev: tg.Device) -> None:
    read = """#version 450
    layout(std430, binding = 0) readonly buffer A { mat4 m[]; }; layout(std430, binding = 1) buffer B { vec4 o; };
    void main() { o = m[0] * vec4(1); }"""
    kernel, out = dev.compute_pipeline(read), dev.buffer(np.zeros(4, "f4"))
    placed = np.eye(4, dtype="f4")[None] + np.float32([[0, 0, 0, 5]] + [[0] * 4] * 3)
    for source in (placed, dev.buffer(placed)):
        buffer = dev.buffer(64)
        dev.copy(source, buffer)
        with pytest.raises(tg.ValidationError, match="row by row; shaders read columns"):
            dev.dispatch(kernel, 1, bind={"A": buffer, "B": out})
        dev.copy(np.ascontiguousarray(placed.swapaxes(-1, -2)).tobytes(), buffer)
        dev.dispatch(kernel, 1, bind={"A": buffer, "B": out})
        assert out.numpy().tolist() == [6, 1, 1, 1]
