"""Vertex attributes of 64 bits: doubles and integers, vectors and matrices that take two locations, by vertex and by instance;
what does not fit. Oracle: the numbers that the test put there, which the vertex shader writes to a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

HEAD = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
#: By code: lanes 4, 8 and 16 of each.
CODES = ["quick", "optimised"]
LANES = [4, 8, 16]
N = 19  # no multiple of any number of lanes
SCALARS = {"double": "f8", "int64_t": "i8", "uint64_t": "u8"}
VECTORS = {"double": "dvec", "int64_t": "i64vec", "uint64_t": "u64vec"}


@pytest.fixture(params=CODES)
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TILEGPU_CODE", request.param)
    return str(request.param)


def numbers(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Of all bits, but no NaNs, which have no bits of their own."""
    random = np.random.default_rng(3)
    words = random.integers(0, 1 << 64, shape, np.uint64).view(kind)
    if kind == "f8":
        words = np.where(np.isnan(words), 1 / 3, words)
    return words


def stored(dev: tg.Device, inputs: str, writes: str, count: int, each: int, vertex: Any, data: Any, **how: Any) -> np.ndarray:
    """What each vertex (of each instance) writes: ``each`` words of 64 bits from ``at`` on."""
    instances = len(how.get("instances", [0]))
    shader = f"""{HEAD}{inputs}
layout(binding = 0) writeonly buffer B {{ uint64_t b[]; }};
void main() {{ uint at = (gl_InstanceIndex * {count} + gl_VertexIndex) * {each}; {writes}
  gl_Position = vec4(0, 0, 0, 1); gl_PointSize = 1; }}"""
    target = dev.image((8, 8), "r8g8b8a8_unorm")
    white = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
    pipe = dev.pipeline(shader, white, color=target, topology="point_list", **vertex)
    out = dev.buffer(count * instances * each * 8, usage="storage")
    with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, *data, count=count, bind={(0, 0): out}, **how)
    return np.frombuffer(out.numpy().tobytes(), np.uint64).reshape(instances, count, each)


def as_bits(kind: str, x: str) -> str:
    return f"doubleBitsToUint64({x})" if kind == "double" else f"uint64_t({x})"


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", SCALARS)
def test_vectors_of_64_bits(kind: str, lanes: int, code: str) -> None:
    """Of one to four numbers, behind a float, beside each other: what is behind a vector of two locations is what it was."""
    dev = tg.Device(lanes=lanes, threads=2)
    types = [kind, *(f"{VECTORS[kind]}{n}" for n in (2, 3, 4))]
    places = [0, 1, 2, 4]
    inputs = "".join(f"layout(location = {at}) in {t} v{k};\n" for k, (at, t) in enumerate(zip(places, types, strict=True)))
    inputs += "layout(location = 6) in float behind;\n"
    names = ["v0", "v1.x", "v1.y", "v2.x", "v2.y", "v2.z", "v3.x", "v3.y", "v3.z", "v3.w"]
    writes = "".join(f"b[at + {k}] = {as_bits(kind, x)}; " for k, x in enumerate(names)) + "b[at + 10] = floatBitsToUint(behind); "
    s = SCALARS[kind]
    data = np.zeros(N, [("behind", "f4"), ("v0", s), ("v1", s, 2), ("v2", s, 3), ("v3", s, 4)])
    for k, shape in enumerate([(N,), (N, 2), (N, 3), (N, 4)]):
        data[f"v{k}"] = numbers(s, shape)
    data["behind"] = np.arange(N) + 0.5
    want = np.concatenate([data[f"v{k}"].reshape(N, -1) for k in range(4)], axis=1).view(np.uint64)
    with pytest.warns(tg.ExtensionWarning, match="not both multiples of 8"):
        packed = stored(dev, inputs, writes, N, 11, {"vertex": data.dtype}, [data])[0]
    fields, shapes = ("behind", "v0", "v1", "v2", "v3"), ("f4", s, (s, 2), (s, 3), (s, 4))
    aligned: np.dtype[Any] = np.dtype({"names": fields, "formats": shapes, "offsets": [80, 0, 8, 24, 48], "itemsize": 88})  # type: ignore[call-overload]
    for found in (packed, stored(dev, inputs, writes, N, 11, {"vertex": aligned}, [data.astype(aligned)])[0]):
        np.testing.assert_array_equal(found[:, :10], want)
        np.testing.assert_array_equal(found[:, 10], data["behind"].view(np.uint32))


@pytest.mark.parametrize("lanes", LANES)
def test_matrices_and_components_of_64_bits(lanes: int, code: str) -> None:
    """Columns of three take two locations each; two doubles share a location; an array of two has one each."""
    dev = tg.Device(lanes=lanes, threads=1)
    inputs = """layout(location = 0) in dmat3 m; layout(location = 6, component = 0) in double a;
layout(location = 6, component = 2) in double b2;
layout(location = 7) in dvec4 c[2];
"""
    names = [f"m[{c}][{r}]" for c in range(3) for r in range(3)] + ["a", "b2"] + [f"c[{k}][{r}]" for k in range(2) for r in range(4)]
    writes = "".join(f"b[at + {k}] = {as_bits('double', x)}; " for k, x in enumerate(names))
    data = numbers("f8", (N, len(names)))
    attributes = [(2 * c, "r64g64b64_sfloat", 24 * c) for c in range(3)] + [(6, "r64g64_sfloat", 72)]
    attributes += [(7, "r64g64b64a64_sfloat", 88), (9, "r64g64b64a64_sfloat", 120)]
    layout = tg.VertexBinding(8 * len(names), attributes)
    found = stored(dev, inputs, writes, N, len(names), {"vertex": layout}, [data])[0]
    np.testing.assert_array_equal(found, data.view(np.uint64))


@pytest.mark.parametrize("lanes", LANES)
def test_matrices_by_field(lanes: int, code: str) -> None:
    """A field of a matrix, row by row as NumPy has it: the columns follow at locations 0, 2 and 4."""
    dev = tg.Device(lanes=lanes, threads=1)
    names = [f"m[{c}][{r}]" for r in range(4) for c in range(3)] + ["x"]
    writes = "".join(f"b[at + {k}] = {as_bits('double', x)}; " for k, x in enumerate(names))
    data = np.zeros(N, [("m", "f8", (4, 3)), ("x", "f8")])
    data["m"], data["x"] = numbers("f8", (N, 4, 3)), np.arange(N)
    inputs = "layout(location = 0) in dmat3x4 m; layout(location = 6) in double x;\n"
    found = stored(dev, inputs, writes, N, 13, {"vertex": data.dtype}, [data])[0]
    np.testing.assert_array_equal(found[:, :12], data["m"].reshape(N, 12).view(np.uint64))
    np.testing.assert_array_equal(found[:, 12], data["x"].view(np.uint64))


@pytest.mark.parametrize("lanes", LANES)
def test_instances(lanes: int, code: str) -> None:
    """By vertex beside by instance."""
    dev = tg.Device(lanes=lanes, threads=1)
    inputs = "layout(location = 0) in dvec4 v; layout(location = 2) in i64vec3 w;\n"
    writes = "".join(f"b[at + {k}] = {as_bits('double', 'v.' + x)}; b[at + {4 + k}] = w.{'xyzx'[k]}; " for k, x in enumerate("xyzw"))
    points, each = numbers("f8", (N, 4)), numbers("i8", (3, 3))
    how = {"vertex": np.dtype(("f8", 4)), "instance": np.dtype(("i8", 3))}
    found = stored(dev, inputs, writes, N, 8, how, [points], instances=each)
    for k in range(3):
        np.testing.assert_array_equal(found[k, :, :4], points.view(np.uint64))
        np.testing.assert_array_equal(found[k, :, 4:], np.tile(each[k][[0, 1, 2, 0]].view(np.uint64), (N, 1)))


def test_what_does_not_fit() -> None:
    dev = tg.Device()
    white = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"

    def make(kind: str, vertex: Any) -> None:
        text = f"{HEAD}layout(location = 0) in {kind} a; void main() {{ gl_Position = vec4(a); }}"
        dev.pipeline(text, white, vertex=vertex, color="r8g8b8a8_unorm")

    for kind, field, words in (
        ("double", "f4", "is double; use 'f8'"),
        ("double", "i8", "is double; use 'f8'"),
        ("int64_t", "i4", "use 'i8'"),
        ("uint64_t", "f8", "use 'u8'"),
        ("float", "f8", "is float, which 64-bit floats can't feed; use 'f4'"),
        ("int", "i8", "is int, which 64-bit integers can't feed"),
    ):
        with pytest.raises(tg.ValidationError, match=words):
            make(kind, np.dtype([("a", field)]))
    for kind, format_, words in (
        ("double", "r32_sfloat", "use a format of as many bits"),
        ("float", "r64_sfloat", "use a format of as many bits"),
        ("double", "r64_uint", "use a format of that kind"),
        ("uint64_t", "r64_sfloat", "use a format of that kind"),
    ):
        with pytest.raises(tg.Error, match=words):
            make(kind, tg.VertexBinding(8, [(0, format_, 0)]))
    dvec3 = f"{HEAD}layout(location = 0) in dvec3 a; void main() {{ gl_Position = vec4(a, 1); }}"
    with pytest.raises(tg.Error, match="reads 3 components; use a format with as many"):
        dev.pipeline(dvec3, white, vertex=tg.VertexBinding(16, [(0, "r64g64_sfloat", 0)]), color="r8g8b8a8_unorm")
    with pytest.raises(tg.ValidationError, match="takes all of its numbers"):
        dev.pipeline(dvec3, white, vertex=np.dtype([("a", "f8", 2)]), color="r8g8b8a8_unorm")
    with pytest.raises(tg.Error, match=r"can't be a colour attachment|r64_uint"):
        dev.image((4, 4), "r64_uint", usage="color_attachment")
