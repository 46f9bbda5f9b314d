"""Messages that lead to the cause, and what is taken as it is meant: sizes of numbers, arrays for explicit vertices, turned arguments."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.testing import GoldenError, assert_image_equal

F = "r8g8b8a8_unorm"
HEAD = "#version 450\n"
FULL = HEAD + "void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
RED = HEAD + "layout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
AT = HEAD + "layout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
PLACED = HEAD + """layout(location = 0) in vec2 position; layout(location = 1) in vec2 by;
void main() { gl_Position = vec4(position + by, 0, 1); }"""
CORNERS = np.float32([(-1, -1), (3, -1), (-1, 3)])
RECORDS = np.array([((x, y), 7) for x, y in CORNERS], [("position", "f4", 2), ("id", "u4")])


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def drawn(dev: tg.Device, draw: Callable[[Any], None]) -> list[int]:
    out = dev.image((4, 4), F)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 1))) as rp:
        draw(rp)
    return list(out.numpy()[2, 2].tolist())


def bound(stride: int, format_: str = "r32g32_sfloat", **more: Any) -> tg.VertexBinding:
    return tg.VertexBinding(stride, [(0, format_, 0)], **more)


@pytest.mark.parametrize(
    ("binding", "array"),
    [
        (bound(8), CORNERS), (bound(12), RECORDS), (bound(8), CORNERS.reshape(-1)), (bound(8), CORNERS.view(np.uint8)),
        (bound(8), CORNERS.reshape(-1).view(np.uint8)), (bound(8), np.asfortranarray(CORNERS)), (bound(8), CORNERS[::-1]),
        (bound(16), np.float32([(*c, 5, 5) for c in CORNERS])), (bound(8), CORNERS.tobytes()),
        (bound(4, "r16g16_sfloat"), CORNERS.astype(np.float16)), (bound(8, "r32g32_sfloat"), CORNERS.astype(">f4")),
    ],
)  # fmt: skip
def test_explicit_bindings_take_arrays(dev: tg.Device, binding: tg.VertexBinding, array: Any) -> None:
    """They took buffers alone, whose making is one line more; `rp.draw` takes both elsewhere."""
    pipeline = dev.pipeline(AT, RED, vertex=binding, color=[F])
    given = np.frombuffer(array, np.uint8) if isinstance(array, bytes) else array
    for _ in range(2):
        assert drawn(dev, lambda rp: rp.draw(pipeline, given)) == [255, 0, 0, 255]
    assert drawn(dev, lambda rp: rp.draw(pipeline, given, indices=np.uint16([0, 1, 2]))) == [255, 0, 0, 255]
    with pytest.raises(tg.ValidationError, match=r"reaches vertex 5; there are 3 vertices"):
        drawn(dev, lambda rp: rp.draw(pipeline, given, count=6))
    with pytest.raises(tg.ValidationError, match=r"reach vertex 3; there are 3 vertices"):
        drawn(dev, lambda rp: rp.draw(pipeline, given, indices=np.uint16([0, 1, 3])))


def test_explicit_instances_take_arrays(dev: tg.Device) -> None:
    by = tg.VertexBinding(8, [(1, "r32g32_sfloat", 0)], rate="instance")
    pipeline = dev.pipeline(PLACED, RED, vertex=bound(8), instance=by, color=[F])
    far = np.float32([(9, 9), (0, 0)])
    assert drawn(dev, lambda rp: rp.draw(pipeline, CORNERS, instances=far)) == [255, 0, 0, 255]
    assert drawn(dev, lambda rp: rp.draw(pipeline, CORNERS, instances=far[:1])) == [0, 0, 0, 255]


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.ones((3, 3), "f4"), r"vertices have rows of 12 bytes \(float32, shape \(3, 3\)\); the stride of .* binding 0 is 8"),
        (RECORDS, r"rows of 12 bytes .*the stride of .* binding 0 is 8: give rows of as many bytes, or a tilegpu.Buffer"),
        (CORNERS.astype(np.int32), r"the array given as vertices is of int32, the pipeline's attributes are r32g32_sfloat"),
        (CORNERS.astype(np.float64), r"rows of 16 bytes"),
        (np.float64([1, 2, 3, 4]), r"is of float64, the pipeline's attributes are r32g32_sfloat"),
    ],
)
def test_arrays_that_explicit_bindings_do_not_take(dev: tg.Device, array: Any, said: str) -> None:
    pipeline = dev.pipeline(AT, RED, vertex=bound(8), color=[F])
    with pytest.raises(tg.ValidationError, match=said):
        drawn(dev, lambda rp: rp.draw(pipeline, array))


def test_lists_that_are_written_have_32_bits(dev: tg.Device) -> None:
    """As those that a buffer is made from: they were float64, which no block has."""
    for way in (lambda b, given: b.write(given), lambda b, given: dev.copy(given, b)):
        buffer = dev.buffer(16)
        way(buffer, [1.0, 2.0, 3.0, 4.0])
        assert buffer.numpy(np.float32).tolist() == [1, 2, 3, 4]
        whole = dev.buffer(8)
        way(whole, [1, -2])
        assert whole.numpy(np.int32).tolist() == [1, -2]
        wide = dev.buffer(8)
        way(wide, [1 << 40])  # which 32 bits don't hold
        assert wide.numpy(np.int64).tolist() == [1 << 40]
        with pytest.warns(tg.ClampedValueWarning, match="becomes infinite: a list's floats get 32 bits; give a float64 array"):
            way(dev.buffer(16), [1e300])
    double = dev.buffer(16)
    double.write(np.float64([1, 2]))
    assert double.numpy(np.float64).tolist() == [1, 2]
    read = HEAD + "layout(binding = 0) readonly buffer B { vec4 x; }; layout(location = 0) out vec4 o; void main() { o = x; }"
    pipeline, values = dev.pipeline(FULL, read, color=[F]), dev.buffer(16)
    values.write([1.0, 0.0, 0.0, 1.0])
    assert drawn(dev, lambda rp: rp.draw(pipeline, count=3, bind={"B": values})) == [255, 0, 0, 255]


REFERENCE = """#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430) readonly buffer R { vec4 x[]; };
layout(push_constant) uniform P { R r; }; layout(location = 0) out vec4 o; void main() { o = r.x[0]; }"""


def test_buffers_in_the_place_of_their_addresses(dev: tg.Device) -> None:
    """Was "has shape (4,); the shader's uint64_t takes a number"."""
    buffer = dev.buffer(np.float32([1, 0, 0, 1]))
    pipeline = dev.pipeline(FULL, HEAD + REFERENCE, color=[F])
    for given in (buffer, buffer.slice(0)):
        with pytest.raises(tg.ValidationError, match=r"takes its address, as of a buffer_reference: give buffer\.device_address"):
            drawn(dev, lambda rp, given=given: rp.draw(pipeline, count=3, push={"r": given}))
    assert drawn(dev, lambda rp: rp.draw(pipeline, count=3, push={"r": buffer.device_address})) == [255, 0, 0, 255]


def test_copies_of_depth_to_colour(dev: tg.Device) -> None:
    """Said "without aspect 'color'; it has: depth"."""
    depth, color = dev.image((4, 4), "d32_sfloat", label="z"), dev.image((4, 4), "r32_sfloat", label="c")
    dev.clear(depth, depth=0.5)
    for aspect in (None, "depth", "color"):
        said = "image 'z' of d32_sfloat has depth, image 'c' of r32_sfloat has color, which are not copied to each other: copy to a buffer"
        with pytest.raises(tg.ValidationError, match=re.escape(said) if aspect is None else "without aspect|are not copied"):
            dev.copy(depth, color, aspect=aspect)
    between = dev.buffer(64)
    dev.copy(depth, between)
    dev.copy(between, color)
    assert color.numpy().max() == color.numpy().min() == 0.5


@pytest.mark.parametrize("there", [False, True])
def test_golden_arguments_that_are_turned_round(tmp_path: Path, there: bool) -> None:
    """Was "No such file", or the whole array in many lines."""
    path = tmp_path / "a.png"
    if there:
        tg.Device(threads=1).texture(np.zeros((4, 4, 4), np.uint8)).image.save(path)
    with pytest.raises(GoldenError, match=r"name is array\(.*: the picture comes first, assert_image_equal\(image, '.*a\.png'\)") as caught:
        assert_image_equal(str(path), np.zeros((64, 64, 4), np.uint8))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("np.full((4, 4, 3), 40000, np.uint16)", ""),
        ("np.full((4, 4, 3), 200, np.uint16)",
         "returned uint16 up to 200, of which 65535 is white, so all is black; for bytes give"),
        ("np.zeros((4, 4, 3), np.uint16)", ""),
        ("np.full((4, 4, 3), 300)", r"returned whole numbers from 300 to 300 \(int64\); 8 bits hold 0 to 255 alone"),
        ("np.full((4, 4, 3), 200)", ""),
    ],
)
def test_whole_numbers_of_functions(tmp_path: Path, value: str, said: str) -> None:
    """16 bits are scaled, and were said to be clamped; what was said to be clamped was refused then; bytes in 16 bits were black."""
    file = tmp_path / "f.py"
    file.write_text(f"import numpy as np\ndef frame():\n    return {value}\n")
    command = [sys.executable, "-m", "tilegpu", "render", str(file), "-o", str(tmp_path / "o.png")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    warned = [line for line in run.stderr.splitlines() if line.startswith("warning")]
    assert len(warned) == bool(said) and re.search(said, run.stderr) and "are clamped" not in run.stderr
    assert (run.returncode != 0) == ("300" in value)
