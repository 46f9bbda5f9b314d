"""Rules of glTF that a file breaks and that are no reason not to draw it: a warning names the accessor, and what keeps them is quiet."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import TRIANGLE, Builder
from tilegpu.scene import find_scene
from tilegpu.scene.model import load_model

UNIT = np.tile(np.array([[0, 0, 1]], "f4"), (3, 1))
QUAT = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], "f4")


def drawn(b: Builder, path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_model(b.glb(path / "a.glb")).frame((16, 16))
    return [str(one.message) for one in caught]


def with_attribute(name: str, array: Any, **extra: Any) -> Builder:
    b = Builder()
    attributes = {"POSITION": b.accessor(TRIANGLE), "NORMAL": b.accessor(UNIT)}
    return b.mesh(attributes={**attributes, name: b.accessor(array, **extra)})


def bytes_of(kind: str, width: int) -> np.ndarray:
    return np.ones((3, width), kind)


TYPES: list[tuple[str, str, int, bool, str]] = [
    ("COLOR_0", "u1", 4, False, r"is of 5121 \(unsigned byte\), not normalized, and COLOR is 5126 \(float\) or 5123 .* or 5121"),
    ("COLOR_0", "u2", 4, False, "not normalized, and COLOR is"), ("COLOR_0", "i1", 4, True, "and COLOR is"),
    ("TEXCOORD_0", "u2", 2, False, "and TEXCOORD is .*with KHR_mesh_quantization in extensionsUsed it may be"),
    ("NORMAL", "i1", 3, True, "and NORMAL is 5126.*KHR_mesh_quantization"), ("TANGENT", "i2", 4, True, "and TANGENT is 5126"),
    ("POSITION", "u2", 3, False, "and POSITION is 5126.*KHR_mesh_quantization"), ("COLOR_0", "f4", 4, True, "normalized, and of 5126"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "width", "normalized", "said"), TYPES)
def test_types_that_an_attribute_has_not(tmp_path: Path, name: str, kind: str, width: int, normalized: bool, said: str) -> None:
    b = Builder()
    array = np.zeros((3, 4 if kind in ("i1", "i2", "u1", "u2") and width == 3 else width), kind)
    array[:, :3] = TRIANGLE if name == "POSITION" else 1
    view = b.view(array.tobytes(), byteStride=array.strides[0])
    kinds = {2: "VEC2", 3: "VEC3", 4: "VEC4"}
    code = {"u1": 5121, "u2": 5123, "i1": 5120, "i2": 5122, "f4": 5126}[kind]
    number = {"bufferView": view, "componentType": code, "count": 3, "type": kinds[width], **({"normalized": True} if normalized else {})}
    b.json["accessors"].append(number)
    material: dict[str, Any] = {}
    if name in ("TEXCOORD_0", "TANGENT"):  # they are read where a texture needs them
        from gltf_documents import png

        b.json |= {"images": [{"bufferView": b.view(png()), "mimeType": "image/png"}], "textures": [{"source": 0}],
                   "materials": [{"normalTexture": {"index": 0}}]}  # fmt: skip
        material = {"material": 0}
    attributes = {"POSITION": b.accessor(TRIANGLE), "NORMAL": b.accessor(UNIT), "TEXCOORD_0": b.accessor(np.ones((3, 2), "f4"))}
    b.mesh(attributes={**attributes, name: 0}, **material)
    found = drawn(b, tmp_path)
    assert len(found) == 1, found
    import re

    assert re.search(said, found[0]), found
    assert f"a.glb': accessors[0] (meshes[0].primitives[0].attributes.{name}): is " in found[0]
    if "KHR_mesh_quantization" in said:
        b.json["extensionsUsed"] = ["KHR_mesh_quantization"]
        assert drawn(b, tmp_path) == []


def test_what_the_specification_allows_is_quiet(tmp_path: Path) -> None:
    for name, array, extra in (
        ("COLOR_0", bytes_of("u1", 4), {"normalized": True}), ("COLOR_0", bytes_of("u2", 4), {"normalized": True}),
        ("COLOR_0", bytes_of("f4", 3), {}), ("TEXCOORD_0", bytes_of("u1", 2), {"normalized": True}), ("COLOR_0", bytes_of("f4", 4), {}),
    ):  # fmt: skip
        assert drawn(with_attribute(name, array, **extra), tmp_path) == []
    b = Builder()
    assert drawn(b.mesh(indices=b.accessor(np.array([0, 1, 2], "u1"))), tmp_path) == []


def shifted(by_view: int, by_accessor: int, array: np.ndarray = TRIANGLE, stride: int = 0) -> Builder:
    b = Builder()
    number = b.accessor(array)
    view = b.json["bufferViews"][0]
    b.data = bytes(by_view + by_accessor) + b.data
    view["byteOffset"] = by_view
    view["byteLength"] += by_accessor
    if by_accessor:
        b.json["accessors"][number]["byteOffset"] = by_accessor
    if stride:
        view["byteStride"] = stride
    return b.mesh(attributes={"POSITION": number})


@pytest.mark.parametrize(("by_view", "by_accessor", "said"), [
    (35, 0, "byteOffset and that of its bufferView are together 35; for floats it must be a multiple of 4 bytes"),
    (0, 2, "byteOffset is 2; for floats it must be a multiple of 4"), (2, 2, "byteOffset is 2; for floats it must be a multiple of 4"),
    (4, 8, ""), (0, 0, ""),
])  # fmt: skip
def test_places_that_no_float_has(tmp_path: Path, by_view: int, by_accessor: int, said: str) -> None:
    found = drawn(shifted(by_view, by_accessor), tmp_path)
    assert len(found) == bool(said), found
    assert not said or said in found[0]


def test_strides(tmp_path: Path) -> None:
    colors = np.zeros((3, 6), "u1")
    b = Builder()
    view = b.view(colors.tobytes(), byteStride=6)
    b.json["accessors"].append({"bufferView": view, "componentType": 5121, "count": 3, "type": "VEC4", "normalized": True})
    found = drawn(b.mesh(attributes={"POSITION": b.accessor(TRIANGLE), "COLOR_0": 0}), tmp_path)
    assert len(found) == 1
    assert "byteOffset is 0, the byteStride of its bufferView 6; of vertices both must be multiples of 4 bytes" in found[0]
    b = Builder()
    number = b.accessor(np.array([0, 1, 2], "u4"))
    b.json["bufferViews"][0]["byteStride"] = 4
    found = drawn(b.mesh(indices=number), tmp_path)
    assert len(found) == 1
    assert "(meshes[0].primitives[0].indices): the byteStride of its bufferView is 4; only vertices have one" in found[0]


def test_indices_and_animations(tmp_path: Path) -> None:
    b = Builder()
    found = drawn(b.mesh(indices=b.accessor(np.array([0, 1, 2], "u2"), normalized=True)), tmp_path)
    assert len(found) == 1
    assert "is normalized, and holds indices" in found[0]

    def animated(times: np.ndarray, values: np.ndarray, **extra: Any) -> Builder:
        b = Builder().mesh()
        sampler = {"input": b.accessor(times), "output": b.accessor(values, **extra)}
        channel = {"sampler": 0, "target": {"node": 0, "path": "rotation"}}
        b.json["animations"] = [{"samplers": [sampler], "channels": [channel]}]
        return b

    assert drawn(animated(np.array([0, 1], "f4"), QUAT), tmp_path) == []
    assert drawn(animated(np.array([0, 1], "f4"), (QUAT * 127).astype("i1"), normalized=True), tmp_path) == []
    assert "not normalized, and output is" in drawn(animated(np.array([0, 1], "f4"), (QUAT * 127).astype("i1")), tmp_path)[0]
    assert "and input is 5126 (float)" in drawn(animated(np.array([0, 1], "u2"), QUAT), tmp_path)[0]


def test_sparse_indices_that_go_back(tmp_path: Path) -> None:
    b = Builder()
    number = b.accessor(TRIANGLE)
    for at, count in (([2, 2], 1), ([1, 2], 0)):
        values = b.view(TRIANGLE[:2].tobytes())
        b.json["accessors"][number]["sparse"] = {
            "count": 2, "indices": {"bufferView": b.view(np.array(at, "u2").tobytes()), "componentType": 5123},
            "values": {"bufferView": values},
        }  # fmt: skip
        b.json["meshes"], b.json["nodes"] = [], []
        found = drawn(b.mesh(attributes={"POSITION": number}), tmp_path)
        assert len([text for text in found if "sparse indices are not strictly increasing" in text]) == count, found


def test_each_rule_is_told_once(tmp_path: Path) -> None:
    b = Builder()
    for _ in range(5):
        colors = b.accessor(np.ones((3, 4), "u1"))
        b.mesh(attributes={"POSITION": b.accessor(TRIANGLE), "COLOR_0": colors})
    assert len(drawn(b, tmp_path)) == 1


def test_a_camera_that_stands_nowhere(tmp_path: Path) -> None:
    b = Builder().mesh()
    b.json["cameras"] = [{"type": "perspective", "name": "Front", "perspective": {"yfov": 1.0, "znear": 0.1}}]
    model = load_model(b.glb(tmp_path / "a.glb"))
    said = r"camera is '0'; there is none that a node of the scene places \(the file's cameras 0 'Front' stand nowhere"
    with pytest.raises(tg.ValidationError, match=said):
        model.configured(camera="0")
    b.json["nodes"][0]["camera"] = 0
    assert find_scene(str(b.glb(tmp_path / "b.glb"))).configured(camera="0").camera() is not None
    with pytest.raises(tg.ValidationError, match=r"camera is '1'; there is 0 'Front'$"):
        find_scene(str(tmp_path / "b.glb")).configured(camera="1")


def bounded(array: np.ndarray = TRIANGLE, **bounds: Any) -> Builder:
    b = Builder()
    number = b.accessor(array)
    b.json["accessors"][number].update(bounds)
    return b.mesh(attributes={"POSITION": number})


LOW, HIGH = TRIANGLE.min(0), TRIANGLE.max(0)


def test_bounds_that_positions_have_not(tmp_path: Path) -> None:
    right = {"min": LOW.tolist(), "max": HIGH.tolist()}
    assert drawn(bounded(**right), tmp_path) == []
    odd = (TRIANGLE + np.float32(0.1)) * np.float32(3.3)  # as an exporter writes them: decimals of a float
    assert drawn(bounded(odd, min=[float(f"{v:.8g}") for v in odd.min(0)], max=[float(f"{v:.9g}") for v in odd.max(0)]), tmp_path) == []
    for name, values, text in (
        ("max", [float(HIGH[0]) - 0.5, *HIGH[1:].tolist()], f"max[0] is {float(HIGH[0]) - 0.5:g}, and its greatest is {float(HIGH[0]):g}"),
        ("min", [*LOW[:2].tolist(), -5], f"min[2] is -5, and its least is {float(LOW[2]):g}"),
        ("min", [0, 0], "min is [0, 0]; it must be 3 finite numbers"), ("max", [10**400, 0, 0], "it must be 3 finite numbers"),
        ("max", "x", "it must be 3 finite numbers"), ("min", [True, 0, 0], "it must be 3 finite numbers"),
    ):  # fmt: skip
        (found,) = drawn(bounded(**{**right, name: values}), tmp_path)
        assert "a.glb': accessors[0] (meshes[0].primitives[0].attributes.POSITION): " in found and text in found


def test_weights_without_morph_targets(tmp_path: Path) -> None:
    for kind in ("nodes", "meshes"):
        b = bounded()
        b.glb(tmp_path / "a.glb")  # which makes the nodes
        b.json[kind][0]["weights"] = [1, 2]
        (found,) = drawn(b, tmp_path)
        assert f"a.glb': {kind}[0]: has weights" in found and "no morph targets: they move nothing" in found
    b = Builder()
    delta = b.accessor(np.ones((3, 3), "f4"))
    b.mesh(attributes={"POSITION": b.accessor(TRIANGLE)}, targets=[{"POSITION": delta}])
    b.glb(tmp_path / "a.glb")
    b.json["meshes"][0]["weights"] = b.json["nodes"][0]["weights"] = [0.5]
    assert drawn(b, tmp_path) == []
