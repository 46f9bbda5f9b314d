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
