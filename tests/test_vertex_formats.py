"""Attributes of every format that vertices can have, against the formats of tests/oracle: random bits, and every edge of each component.

In: a format's texels in a vertex buffer. Out: what the vertex shader reads, drawn to a row of pixels. Source: Vulkan specification,
"Vertex Input Extraction", "Format Definition".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from oracle import formats
from tilegpu import enums

COUNT = 256
#: Those of 64 bits have tests/test_long_attributes.py.
NAMES = sorted(
    info.name for info in enums._formats_by_number().values() if info.vertex and "b8g8r8a8" not in info.name and "r64" not in info.name
)
_devices: dict[str, tg.Device] = {}
KINDS = {"uint": ("uvec4", "r32g32b32a32_uint"), "sint": ("ivec4", "r32g32b32a32_sint")}


def codes_of(format_: formats.Format) -> np.ndarray:
    rng = np.random.default_rng(len(format_.name))
    columns = []
    for c in format_.components:
        top = 1 << c.bits
        edges = [0, 1, top - 1, top >> 1, (top >> 1) - 1, (top >> 1) + 1, *(1 << k for k in range(c.bits))]
        columns.append(np.concatenate([np.array(edges, np.int64) % top, rng.integers(0, top, COUNT)])[:COUNT])
    codes = np.stack(columns, 1)
    if format_.numeric in ("sfloat", "ufloat"):  # no infinities and no NaN: their exponent has a bit less
        for k, c in enumerate(format_.components):
            exponent = {10: 0x3E0, 11: 0x7C0, 16: 0x7C00, 32: 0x7F800000}[c.bits]
            codes[:, k] = np.where(
                codes[:, k] & exponent == exponent, codes[:, k] & ~(1 << (exponent.bit_length() - 1)), codes[:, k]
            )
    return codes


@pytest.fixture(params=["quick", "optimised"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tg.Device:
    if request.param not in _devices:
        monkeypatch.setenv("TILEGPU_CODE", request.param)
        _devices[request.param] = tg.Device(threads=1)
    return _devices[request.param]


def read(device: tg.Device, name: str, codes: np.ndarray, rate: str) -> np.ndarray:
    format_ = formats.parse(name)
    type_, target = KINDS.get(format_.numeric, ("vec4", "r32g32b32a32_sfloat"))
    vert = f"""#version 450
layout(location = 0) in {type_} a; layout(location = 0) flat out {type_} v;
void main() {{ v = a; gl_PointSize = 1; int i = {"gl_VertexIndex" if rate == "vertex" else "gl_InstanceIndex"};
  gl_Position = vec4((i + 0.5) / {COUNT / 2} - 1, 0, 0, 1); }}"""
    frag = f"#version 450\nlayout(location = 0) flat in {type_} v; layout(location = 0) out {type_} o; void main() {{ o = v; }}"
    stride = (format_.texel_B + 3) // 4 * 4
    raw = np.zeros((COUNT, stride), np.uint8)
    raw[:, : format_.texel_B] = np.frombuffer(formats.to_bytes(format_, codes), np.uint8).reshape(COUNT, -1)
    layout: dict[str, Any] = {rate: tg.VertexBinding(stride, [(0, name, 0)], rate)}
    pipe = device.pipeline(vert, frag, color=[target], topology="point_list", **layout)
    out = device.image((COUNT, 1), target)
    buffer = device.buffer(raw)
    with device.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        if rate == "vertex":
            rp.draw(pipe, buffer, count=COUNT)
        else:
            rp.draw(pipe, count=1, instances=buffer)
    return np.asarray(out.numpy())[0]


def expected(name: str, codes: np.ndarray) -> np.ndarray:
    format_ = formats.parse(name)
    if format_.numeric not in ("uscaled", "sscaled"):
        return formats.decode(format_, codes)
    as_integers = formats.parse(name.replace("scaled", "int"))
    return formats.decode(as_integers, codes)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_what_their_format_says(device: tg.Device, name: str) -> None:
    check(device, name, "vertex")


@pytest.mark.parametrize(
    "name", ["b10g11r11_ufloat_pack32", "a1r5g5b5_unorm_pack16", "r5g6b5_unorm_pack16", "r16g16b16_sfloat"]
)
def test_attributes_of_instances_too(device: tg.Device, name: str) -> None:
    check(device, name, "instance")


def check(device: tg.Device, name: str, rate: str) -> None:
    codes = codes_of(formats.parse(name))
    seen, want = read(device, name, codes, rate), expected(name, codes)
    if seen.dtype != np.float32:
        assert (seen == want.astype(np.int64).astype(seen.dtype)).all()
    else:
        np.testing.assert_array_equal(seen, want.astype(np.float32))
