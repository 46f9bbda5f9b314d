"""glTF: decoding of accessors, materials, nodes; what is wrong with a file is said, and nothing crashes. All files are made here."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import random
import struct
import urllib.parse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import TRIANGLE, Builder, png, with_oddity
from tilegpu.scene.gltf import Document, ModelError
from tilegpu.scene.model import load_model, triangulate
from tilegpu.scene.tangents import flat_normals, generate_tangents, smooth_normals, weld


def test_interleaved_strides_and_normalised_integers(tmp_path: Path) -> None:
    b = Builder()
    record = np.zeros(3, [("p", "<f4", 3), ("c", "u1", 4), ("t", "<u2", 2), ("n", "i1", 3), ("pad", "u1")])
    record["p"], record["c"], record["t"] = TRIANGLE, [[255, 0, 51, 255]] * 3, [[0, 65535], [65535, 0], [0, 0]]
    record["n"] = [[0, 0, 127], [0, 0, -128], [127, 0, 0]]
    view = b.view(record.tobytes(), byteStride=record.itemsize)
    at = {name: record.dtype.fields[name][1] for name in record.dtype.names}

    def add(field: str, component: int, kind: str, **extra: Any) -> int:
        b.json["accessors"].append(
            {"bufferView": view, "byteOffset": at[field], "componentType": component, "count": 3, "type": kind, **extra}
        )
        return len(b.json["accessors"]) - 1

    b.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    b.json["textures"], b.json["images"] = [{"source": 0}], [{"bufferView": b.view(png())}]
    b.mesh(material=0, attributes={"POSITION": add("p", 5126, "VEC3"), "COLOR_0": add("c", 5121, "VEC4", normalized=True),
                                   "TEXCOORD_0": add("t", 5123, "VEC2", normalized=True),
                                   "NORMAL": add("n", 5120, "VEC3", normalized=True)})  # fmt: skip
    part = load_model(b.glb(tmp_path / "a.glb")).parts[0]
    v = part.vertices
    assert np.array_equal(v["position"], TRIANGLE)
    assert np.allclose(v["color"], [[1, 0, 0.2, 1]] * 3, atol=1e-7)
    assert np.array_equal(v["uv0"], [[0, 1], [1, 0], [0, 0]])
    assert np.array_equal(v["normal"], [[0, 0, 1], [0, 0, -1], [1, 0, 0]])  # -128 is -1, not below


@pytest.mark.parametrize("component", ["u1", "u2", "u4"])
def test_index_types(tmp_path: Path, component: str) -> None:
    b = Builder()
    b.mesh(
        attributes={"NORMAL": b.accessor(np.array([[0, 0, 1]] * 3, "f4"))},
        indices=b.accessor(np.array([2, 0, 1], component)),
    )
    assert load_model(b.gltf(tmp_path / "a.gltf")).parts[0].indices.tolist() == [2, 0, 1]


def test_sparse_accessors(tmp_path: Path) -> None:
    b = Builder()
    base = b.accessor(TRIANGLE)
    b.json["accessors"][base]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": b.view(np.array([1], "u2").tobytes()), "componentType": 5123},
        "values": {"bufferView": b.view(np.array([5, 6, 7], "f4").tobytes())},
    }
    b.mesh(attributes={"POSITION": base})
    assert load_model(b.glb(tmp_path / "a.glb")).parts[0].vertices["position"].tolist() == [
        [0, 0, 0],
        [5, 6, 7],
        [0, 1, 0],
    ]
    del b.json["accessors"][base]["bufferView"]  # then the rest is zero
    assert load_model(b.glb(tmp_path / "b.glb")).parts[0].vertices["position"].tolist() == [
        [0, 0, 0],
        [5, 6, 7],
        [0, 0, 0],
    ]
    b.json["accessors"][base]["sparse"]["indices"]["bufferView"] = b.view(np.array([3], "u2").tobytes())
    with pytest.raises(ModelError, match="sparse index 3 is beyond the accessor's 3"):
        load_model(b.glb(tmp_path / "c.glb"))


def test_matrix_columns_are_padded(tmp_path: Path) -> None:
    b = Builder().mesh()
    columns = np.zeros((2, 3, 4), "u1")  # two mat3 of bytes: three columns, each padded to four bytes
    columns[..., :3] = np.arange(18).reshape(2, 3, 3)
    b.json["accessors"].append(
        {"bufferView": b.view(columns.tobytes()), "componentType": 5121, "count": 2, "type": "MAT3"}
    )
    document = Document.load(b.glb(tmp_path / "a.glb"))
    assert np.array_equal(document.accessor(1, "test", ("MAT3",)), np.arange(18).reshape(2, 9))


def test_normalised_signed_integers_end_at_minus_one(tmp_path: Path) -> None:
    b = Builder().mesh()
    for dtype in ("i1", "i2"):
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).min + 1, 0, np.iinfo(dtype).max], dtype)
        b.accessor(ends, normalized=True)
    document = Document.load(b.glb(tmp_path / "a.glb"))
    for index in (1, 2):
        assert document.accessor(index, "test", ("SCALAR",))[:, 0].tolist() == [-1, -1, 0, 1]


def test_strips_and_fans() -> None:
    assert triangulate(np.arange(5), 5).tolist() == [[0, 1, 2], [1, 3, 2], [2, 3, 4]]
    assert triangulate(np.arange(5), 6).tolist() == [[1, 2, 0], [2, 3, 0], [3, 4, 0]]
    assert triangulate(np.arange(7), 4).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert triangulate(np.arange(2), 5).size == triangulate(np.arange(1), 6).size == 0


def test_nodes_compose_and_meshes_are_shared(tmp_path: Path) -> None:
    b = Builder().mesh()
    half = math.sqrt(0.5)
    b.json["nodes"] = [
        {"mesh": 0, "translation": [1, 2, 3], "rotation": [0, 0, half, half], "scale": [2, 1, -1], "children": [1]},
        {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 10, 0, 0, 1]},
    ]
    b.json["scenes"], b.json["scene"] = [{"nodes": [0]}], 0
    scene = load_model(b.glb(tmp_path / "a.glb"))
    first, second = scene.parts
    assert np.allclose(first.matrix, [[0, -1, 0, 1], [2, 0, 0, 2], [0, 0, -1, 3], [0, 0, 0, 1]], atol=1e-6)
    assert np.allclose(second.matrix[:3, 3], [1, 22, 3], atol=1e-5)
    assert first.vertices is second.vertices
    # The matrix mirrors, so the front is clockwise.
    assert [d.state.front_face for d in scene.frame((64, 64)).draws] == ["clockwise"] * 2


def test_a_cycle_of_nodes_is_an_error(tmp_path: Path) -> None:
    b = Builder().mesh()
    b.json["nodes"][0]["children"] = [0]
    b.json["scenes"] = [{"nodes": [0]}]
    with pytest.raises(ModelError, match=r"nodes\[0\]: is its own ancestor"):
        load_model(b.glb(tmp_path / "a.glb"))


def test_materials_textures_and_samplers(tmp_path: Path) -> None:
    b = Builder()
    uv = b.accessor(np.array([[0, 0], [1, 0], [0, 1]], "f4"))
    uv1 = b.accessor(np.array([[0.5, 0.5]] * 3, "f4"))
    b.json["images"] = [{"uri": "data:image/png;base64," + base64.b64encode(png()).decode()}, {"uri": "white%20.png"}]
    (tmp_path / "white .png").write_bytes(png((255, 255, 255, 255), (4, 2)))
    b.json["samplers"] = [{"minFilter": 9728, "magFilter": 9728, "wrapS": 33071, "wrapT": 33648}]
    b.json["textures"] = [{"source": 0, "sampler": 0}, {"source": 1}]
    transform = {"KHR_texture_transform": {"offset": [0.25, 0], "rotation": math.pi / 2, "scale": [2, 3]}}
    b.json["materials"] = [
        {
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 0.5, 0.25, 1],
                "metallicFactor": 0.3,
                "roughnessFactor": 0.7,
                "baseColorTexture": {"index": 0, "extensions": transform},
                "metallicRoughnessTexture": {"index": 1},
            },
            "normalTexture": {"index": 1, "scale": 0.5},
            "occlusionTexture": {"index": 1, "texCoord": 1, "strength": 0.8},
            "emissiveTexture": {"index": 0},
            "emissiveFactor": [1, 0.5, 0],
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4}},
            "alphaMode": "MASK",
            "alphaCutoff": 0.25,
            "doubleSided": True,
        }
    ]
    normal = b.accessor(np.array([[0, 0, 1]] * 3, "f4"))
    b.mesh(material=0, attributes={"NORMAL": normal, "TEXCOORD_0": uv, "TEXCOORD_1": uv1})
    b.json["extensionsRequired"] = ["KHR_texture_transform"]
    scene = load_model(b.glb(tmp_path / "a.glb"))
    part = scene.parts[0]
    m = part.material
    assert (m.metallic, m.roughness, m.normal_scale, m.occlusion_strength) == (0.3, 0.7, 0.5, 0.8)
    assert m.emissive == (4, 2, 0) and (m.alpha_mode, m.alpha_cutoff, m.double_sided) == ("MASK", 0.25, True)
    assert m.maps["base_color"].format == m.maps["emissive"].format == "r8g8b8a8_srgb"
    assert m.maps["normal"].format == m.maps["metal_rough"].format == "r8g8b8a8_unorm"
    sampler = m.maps["base_color"].sampler
    assert (sampler.min_filter, sampler.mag_filter, sampler.address_u, sampler.address_v) == (
        "nearest", "nearest", "clamp_to_edge", "mirrored_repeat")  # fmt: skip
    assert m.maps["base_color"].mipmaps is False and [x.shape for x in m.maps["normal"].mipmaps] == [
        (1, 2, 4),
        (1, 1, 4),
    ]
    assert m.maps["normal"].pixels.shape == (2, 4, 4)
    assert m.uv_sets == {"base_color": 0, "metal_rough": 1, "normal": 1, "occlusion": 2, "emissive": 1}
    # Corner (1, 0): scaled to (2, 0), turned counter-clockwise (v up) by 90 degrees to (0, -2), moved.
    assert np.allclose(part.vertices["uv0"], [[0.25, 0], [0.25, -2], [3.25, 0]], atol=1e-6)
    assert np.allclose(part.vertices["uv2"], 0.5)
    draw = scene.frame((32, 32)).draws[0]
    assert draw.state.cull == "none"
    assert set(draw.bind) == {
        "view",
        "material",
        "base_color_map",
        "metal_rough_map",
        "normal_map",
        "occlusion_map",
        "emissive_map",
    }


def test_blended_draws_come_last_and_back_to_front(tmp_path: Path) -> None:
    b = Builder()
    b.json["materials"] = [
        {"alphaMode": "BLEND", "name": "glass"},
        {"name": "solid"},
        {"alphaMode": "BLEND", "doubleSided": True, "name": "film"},
    ]
    for k, (material, z) in enumerate([(0, 1.0), (1, 0.0), (2, -1.0)]):
        b.mesh({"translation": [0, 0, z], "name": f"n{k}"}, material=material)
    draws = load_model(b.glb(tmp_path / "a.glb")).frame((32, 32)).draws
    assert [d.label for d in draws] == ["n1 (solid)", "n2 (film)", "n2 (film)", "n0 (glass)"]
    assert [d.state.cull for d in draws] == ["back", "front", "back", "back"]  # inside of a film before its outside
    assert [d.state.blend for d in draws] == [None, "alpha", "alpha", "alpha"]
    assert [d.state.depth_write for d in draws] == [True, False, False, False]


def test_unlit_and_missing_texture_coordinates(tmp_path: Path) -> None:
    b = Builder()
    b.json["images"], b.json["textures"] = [{"bufferView": b.view(png())}], [{"source": 0}]
    b.json["materials"] = [
        {"extensions": {"KHR_materials_unlit": {}}, "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    ]
    b.mesh(material=0)  # no TEXCOORD_0
    part = load_model(b.glb(tmp_path / "a.glb")).parts[0]
    assert part.material.unlit and not part.material.maps
    assert "normal" in part.attributes and np.allclose(part.vertices["normal"], [0, 0, 1])  # flat, made


def test_an_unknown_required_extension_is_named(tmp_path: Path) -> None:
    b = Builder().mesh()
    b.json["extensionsRequired"] = ["KHR_materials_sheen", "KHR_texture_transform"]
    with pytest.raises(ModelError, match=r"a\.glb.*KHR_materials_sheen, which is not supported; supported are"):
        load_model(b.glb(tmp_path / "a.glb"))
    b.json["extensionsRequired"] = []
    b.json["extensionsUsed"] = ["KHR_materials_sheen"]
    with pytest.warns(UserWarning, match="drawn without extension KHR_materials_sheen"):
        assert load_model(b.glb(tmp_path / "b.glb")).parts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda j: j["accessors"][0].update(count=4),
            r"accessors\[0\]: 4 elements from byte 0 end at 48, beyond the view's 36",
        ),
        (lambda j: j["accessors"][0].update(count=-1), r"count is -1"),
        (lambda j: j["accessors"][0].update(byteOffset=4), r"end at 40, beyond"),
        (lambda j: j["accessors"][0].update(componentType=5124), r"componentType is 5124; allowed are"),
        (lambda j: j["accessors"][0].update(type="VEC4"), r"type is 'VEC4'.*needs VEC3"),
        (lambda j: j["accessors"][0].update(bufferView=7), r"refers to bufferViews\[7\]; the file has 2"),
        (lambda j: j["bufferViews"][0].update(byteStride=8), r"byteStride 8 is less than an element's 12"),
        (lambda j: j["bufferViews"][0].update(byteLength=10**9), r"beyond the buffer's"),
        (lambda j: j["bufferViews"][0].update(buffer=1), r"refers to buffers\[1\]"),
        (lambda j: j["meshes"][0]["primitives"][0].update(indices=1), r"index 9 is beyond the 3 vertices"),
        (lambda j: j["meshes"][0]["primitives"][0].update(mode=9), r"mode is 9"),
        (lambda j: j["meshes"][0]["primitives"][0].update(material=0), r"refers to materials\[0\]; the file has 0"),
        (lambda j: j["meshes"][0].update(primitives=3), r"primitives is int"),
        (lambda j: j["accessors"][0].update(componentType=[]), r"componentType is \[\]; allowed are"),
        (lambda j: j["accessors"][0].update(count="3"), r"count is '3'; a non-negative integer"),
        (lambda j: j["accessors"][0].update(count=2.5), r"count is 2.5; a non-negative integer"),
        (lambda j: j["accessors"][0].update(normalized="false"), r"normalized is 'false'; true or false is needed"),
        (lambda j: j["meshes"][0]["primitives"][0].update(mode=True), r"mode is True; allowed are 0, 1"),
        (lambda j: j["nodes"][0].update(translation="123"), r"translation is '123'; 3 finite numbers"),
        (lambda j: j["nodes"][0].update(translation=[0, 10**400, 0]), r"translation is .*; 3 finite numbers"),
        (lambda j: j["nodes"][0].update(scale=[1, 1, 1e39]), r"scale is .*; 3 finite numbers are needed, at most 3.4e38"),
        (lambda j: j["nodes"][0].update(children=3), r"children is 3; a list of indices"),
        (lambda j: j["nodes"][0].update(mesh=0.5), r"refers to meshes\[0.5\]"),
        (lambda j: j["nodes"][0].update(mesh=3), r"nodes\[0\]: refers to meshes\[3\]"),
        (lambda j: j["nodes"][0].update(rotation=[0, 0, 0, 0]), r"quaternion of length 0"),
        (lambda j: j["nodes"][0].update(matrix=[1, 2]), r"matrix is \[1, 2\]; 16 finite numbers"),
        (lambda j: j["nodes"][0].update(children=[5]), r"refers to nodes\[5\]"),
        (lambda j: j.update(asset={"version": "1.0"}), r"asset.version is '1.0'"),
        (lambda j: j.update(meshes={"a": 1}), r"meshes is not a list"),
        (lambda j: j.update(nodes=[]), r"no triangles"),
        (lambda j: j.update(extensionsRequired="x"), r"extensionsRequired"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, change: Any, message: str) -> None:
    b = Builder().mesh()
    b.accessor(np.array([0, 1, 9], "u2"))
    change(b.json)
    with pytest.raises(ModelError, match=message) as raised:
        load_model(b.glb(tmp_path / "bad.glb"))
    assert "bad.glb" in str(raised.value)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_positions_that_are_no_numbers(tmp_path: Path, value: float) -> None:
    b = Builder()
    b.mesh(attributes={"POSITION": b.accessor(np.array([[0, 0, 0], [value, 0, 0], [0, 1, 0]], "f4"))})
    with pytest.raises(ModelError, match="not a finite number"):
        load_model(b.glb(tmp_path / "a.glb"))


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-6, 1e6, 1e14, 1e18, 3e38])
def test_sizes_from_nothing_to_the_largest_float(tmp_path: Path, scale: float) -> None:
    b = Builder()
    b.mesh(attributes={"POSITION": b.accessor(TRIANGLE * np.float32(scale))})
    path = b.glb(tmp_path / "a.glb")
    if scale > 1e15:
        with pytest.raises(ModelError, match="from the origin; at most 1e15"):
            load_model(path)
        return
    frame = load_model(path).frame()
    assert 1 <= frame.size[0] <= 4096 and 1 <= frame.size[1] <= 4096
    if scale >= 1e-6:
        assert np.all(np.isfinite(frame.draws[0].bind["view"]["view_projection"]))


def test_truncated_and_garbled_files_never_crash(tmp_path: Path) -> None:
    b = Builder()
    b.json["images"], b.json["textures"] = [{"bufferView": b.view(png())}], [{"source": 0}]
    b.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    b.mesh(material=0, attributes={"TEXCOORD_0": b.accessor(np.zeros((3, 2), "f4"))})
    whole = b.glb(tmp_path / "a.glb").read_bytes()
    path = tmp_path / "cut.glb"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelError):
            load_model(path)
    choose = random.Random(1)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(choose.randint(1, 8)):
            data[choose.randrange(12, len(data))] = choose.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(ModelError):
            load_model(path).frame((16, 16))


#: What may stand in any place of a document: wrong types, numbers that fit nothing, names that are no text.
ODD = [None, True, False, -1, 1, 1.5, 3.0, 10**18, 2**63, 10**400, 1e300, math.nan, math.inf, "", "x", "\ud800", "\0",
       [], [[]], [1, 2], [10**400] * 3, {}, {"a": 1}]  # fmt: skip


def document_with_everything() -> Builder:
    b = Builder()
    b.json["images"] = [{"bufferView": b.view(png())}]
    b.json["samplers"] = [{"minFilter": 9728, "magFilter": 9728, "wrapS": 33071, "wrapT": 33648}]
    b.json["textures"] = [{"source": 0, "sampler": 0, "name": "t"}]
    transform = {"KHR_texture_transform": {"offset": [0.25, 0], "rotation": 1.0, "scale": [2, 3], "texCoord": 0}}
    b.json["materials"] = [
        {
            "name": "m",
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 0.5, 0.25, 1],
                "metallicFactor": 0.3,
                "roughnessFactor": 0.7,
                "baseColorTexture": {"index": 0, "extensions": transform},
            },
            "normalTexture": {"index": 0, "scale": 0.5},
            "occlusionTexture": {"index": 0, "texCoord": 0, "strength": 0.8},
            "emissiveFactor": [1, 0.5, 0],
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4}, "KHR_materials_unlit": {}},
            "alphaMode": "MASK",
            "alphaCutoff": 0.25,
            "doubleSided": True,
        }
    ]
    base = b.accessor(TRIANGLE, normalized=False)
    b.json["bufferViews"][-1]["byteStride"] = 12
    b.json["accessors"][base]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": b.view(np.array([1], "u2").tobytes()), "componentType": 5123, "byteOffset": 0},
        "values": {"bufferView": b.view(np.array([5, 6, 7], "f4").tobytes()), "byteOffset": 0},
    }
    attributes = {
        "POSITION": base,
        "NORMAL": b.accessor(np.array([[0, 0, 1]] * 3, "f4")),
        "TEXCOORD_0": b.accessor(np.array([[0, 0], [1, 0], [0, 1]], "f4")),
    }
    node = {"translation": [1, 2, 3], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1], "name": "n"}
    b.mesh(node, material=0, mode=4, indices=b.accessor(np.array([0, 1, 2], "u2")), attributes=attributes)
    b.json["nodes"].append({"children": [0], "matrix": np.eye(4).reshape(-1).tolist()})
    b.json["scenes"], b.json["scene"] = [{"nodes": [1]}], 0
    b.json["extensionsRequired"] = ["KHR_texture_transform"]
    b.json["extensionsUsed"] = ["KHR_materials_emissive_strength", "KHR_materials_unlit", "KHR_texture_transform"]
    return b


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


@pytest.mark.filterwarnings("ignore:.*drawn without:UserWarning")
@pytest.mark.filterwarnings("error")
def test_odd_values_at_any_place_of_the_document_never_crash(tmp_path: Path) -> None:
    b = document_with_everything()
    path = b.gltf(tmp_path / "a.gltf")
    load_model(path).frame((16, 16))
    whole = path.read_text()
    cases = [(at, odd, scenes) for at in places(b.json) for odd in [*ODD, "missing"] for scenes in (True, False)]
    refused = 0
    count = int(os.environ.get("TILEGPU_FUZZ_CASES", "1500"))  # all of the nearly 11,000 take half a minute
    choose = random.Random(int(os.environ.get("TILEGPU_FUZZ_SEED", "1")))
    for at, odd, scenes in choose.sample(cases, min(count, len(cases))):
        document = with_oddity(whole, at, odd)
        if not scenes and at[0] not in ("scene", "scenes"):
            del document["scenes"], document["scene"]
        path.write_text(json.dumps(document))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", tg.LostPrimitivesWarning)  # counts that leave indices over
                # Rules that are broken.
                warnings.filterwarnings("ignore", r".*(accessors\[|has length|extensionsUsed|alphaCutoff|one point)", tg.ModelWarning)
                load_model(path).frame((16, 16))
        except ModelError as error:
            assert "a.gltf" in str(error)
            refused += 1
    assert refused > 0


def test_legal_files_that_are_seldom_written(tmp_path: Path) -> None:
    """What the specification allows, or lets readers overlook, and many do not expect; each must give the same triangle."""
    b = Builder().mesh()
    glb = b.glb(tmp_path / "a.glb").read_bytes()
    path = b.gltf(tmp_path / "a.gltf")
    text = path.read_text()

    def same(data: bytes) -> bool:
        path.write_bytes(data)
        return bool(np.array_equal(load_model(path).parts[0].vertices["position"], TRIANGLE))

    def changed(*at: Any, value: Any) -> bytes:
        document = table = json.loads(text)
        for key in at[:-1]:
            table = table[key]
        table[at[-1]] = value
        return json.dumps(document, ensure_ascii=False).encode()

    body = base64.b64encode(b.data).decode()
    (tmp_path / "drei Ecken ä.bin").write_bytes(b.data)
    for uri in (
        f"data:application/gltf-buffer;base64,{body}",
        f"data:;base64,{body}",
        "data:application/octet-stream," + urllib.parse.quote(b.data),
        "drei%20Ecken%20%C3%A4.bin",
        "drei Ecken ä.bin",
    ):
        assert same(changed("buffers", 0, "uri", value=uri)), uri
    for extras in ({"a": 1}, [1, 2], "text", 3, None):  # "extras" may be of any type
        for at in (("extras",), ("asset", "extras"), ("nodes", 0, "extras"), ("accessors", 0, "extras")):
            assert same(changed(*at, value=extras)), (at, extras)
    for at in (("tool",), ("nodes", 0, "self"), ("buffers", 0, "name"), ("accessors", 0, "from")):  # unknown fields
        assert same(changed(*at, value={"cls": [None, 1]})), at
    assert same(changed("meshes", 0, "primitives", 0, "attributes", "_SELF", value=0))
    assert same(changed("meshes", 0, "primitives", 0, "targets", value=[{"POSITION": 0}]))
    assert same(changed("accessors", 0, "count", value=3.0))  # JSON has one kind of number
    assert same(changed("nodes", 0, "name", value="三角形 \u0000"))
    assert same(b"\xef\xbb\xbf" + text.encode())  # a byte order mark, forbidden to writers alone
    for kind in (0x31545845, 0xFFFE0001):  # a chunk of another kind is to be ignored; the second is no text
        longer = glb + struct.pack("<II", 4, kind) + b"abcd"
        assert same(longer[:8] + struct.pack("<I", len(longer)) + longer[12:])
    assert same(glb + b"more")  # after the length that the header says


def test_a_node_has_one_parent(tmp_path: Path) -> None:
    """Section 3.5.2. A child named twice doubled the tree at each level: 1 kB of file was half a million nodes, after ten seconds."""
    b = Builder().mesh()
    b.json["nodes"] = [{"children": [k + 1, k + 1]} for k in range(200)] + [{}]
    with pytest.raises(ModelError, match=r"nodes\[200\]: is named by nodes\[199\] and by nodes\[199\]; a node may have one parent only"):
        load_model(b.glb(tmp_path / "a.glb"))
    b.json["nodes"], b.json["scenes"] = [{"mesh": 0}, {"children": [0]}], [{"nodes": [0, 1]}]
    with pytest.raises(ModelError, match=r"nodes\[0\]: is named by the scene's list and by nodes\[1\]"):
        load_model(b.glb(tmp_path / "a.glb"))
    b.json["nodes"] = [{"children": [k + 1]} for k in range(300)] + [{"mesh": 0}]
    with pytest.raises(ModelError, match=r"nodes\[257\]: lies deeper than 256 nodes; make the tree flatter"):
        load_model(b.glb(tmp_path / "a.glb"))


def test_uris(tmp_path: Path) -> None:
    b = Builder().mesh()
    path = b.gltf(tmp_path / "a.gltf")
    document = json.loads(path.read_text())
    for uri, message in (("data:;base64,@@", "base64 is broken"), ("../up.bin", "leads out of the model's folder"),
                         ("none.bin", "cannot be read"),
                         ("http://x/y.bin", "only files beside the model"), ("data:nothing", "without a comma")):  # fmt: skip
        document["buffers"][0]["uri"] = uri
        path.write_text(json.dumps(document))
        with pytest.raises(ModelError, match=message):
            load_model(path)


def test_generated_tangents_follow_the_texture() -> None:
    # Two quads, the right one mirrored in u; image upright: P.x = u, P.y = -v.
    positions = np.array([[x, y, 0] for x in (0, 1, 2) for y in (0, 1)], "f4")
    uvs = np.array([[u, 1 - y] for u in (0, 1, 0) for y in (0, 1)], "f4")
    triangles = np.array([[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]])
    normals = np.tile(np.array([[0, 0, 1]], "f4"), (6, 1))
    tangents, source, new = generate_tangents(positions, normals, uvs, triangles)
    assert len(source) == 8  # the middle edge is there twice
    assert np.array_equal(source[new], triangles)
    left, right = tangents[new[:2]].reshape(-1, 4), tangents[new[2:]].reshape(-1, 4)
    assert np.allclose(left, [1, 0, 0, 1]) and np.allclose(right, [-1, 0, 0, -1])
    # The bitangent is up in the image in both: +y.
    for t in (left, right):
        assert np.allclose(np.cross([0, 0, 1], t[:, :3]) * t[:, 3:], [0, 1, 0])


def test_mipmaps() -> None:
    from tilegpu.scene.mipmaps import mip_chain

    pixels = np.random.default_rng(1).integers(0, 256, (12, 10, 4)).astype(np.uint8)
    levels = mip_chain(pixels, False)
    assert [x.shape[:2] for x in levels] == [(6, 5), (3, 2), (1, 1)]
    exact = pixels.reshape(6, 2, 5, 2, 4).astype("f8").mean((1, 3))
    assert np.abs(levels[0] - exact).max() <= 0.5 + 1 / 257
    assert np.abs(levels[-1].astype("f8") - pixels.mean((0, 1))).max() < 1.5  # nothing is lost at odd sizes
    grey = np.zeros((2, 2, 4), np.uint8)
    grey[0, :, :3] = 255
    assert mip_chain(grey, True)[0][0, 0].tolist() == [188, 188, 188, 0]  # half the light is code 188
    for code in range(256):
        assert np.all(mip_chain(np.full((2, 2, 4), code, np.uint8), True)[0] == code)


def test_normals() -> None:
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], "f8")
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    assert np.allclose(smooth_normals(cube, triangles), cube / math.sqrt(3), atol=1e-6)
    assert np.allclose(flat_normals(np.zeros((1, 3, 3))), [[0, 0, 1]])
    assert weld(np.array([[0.0, 1], [-0.0, 1], [1, 0]], "f4")).tolist()[:2] in ([0, 0], [1, 1])


def test_obj_ply_stl(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    shape = trimesh.creation.icosphere(2)
    for suffix in ("obj", "ply", "stl"):
        file = tmp_path / f"ball.{suffix}"
        shape.export(file)
        scene = load_model(file)
        v = scene.parts[0].vertices
        assert scene.parts[0].indices.size == 3 * 320
        tolerance = 0.2 if suffix == "stl" else 0.02  # facets
        assert np.abs(v["normal"] - v["position"]).max() < tolerance
    quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n"
    (tmp_path / "card.obj").write_text(quad)
    assert not load_model(tmp_path / "card.obj").parts[0].material.maps
    from PIL import Image

    Image.effect_noise((4, 4), 90).save(tmp_path / "card_texture.png")
    part = load_model(tmp_path / "card.obj").parts[0]
    assert part.material.maps["base_color"].pixels.shape == (4, 4, 4)
    corner = part.vertices["uv0"][np.all(part.vertices["position"] == [0, 0, 0], axis=1)]
    assert np.allclose(corner, [0, 1])  # OBJ counts v upwards
    (tmp_path / "bad.stl").write_bytes(b"solid nothing")
    (tmp_path / "bad.ply").write_bytes(
        b"ply\nformat binary_little_endian 1.0\nelement vertex 99\nproperty float x\nend_header\n"
    )
    (tmp_path / "bad.obj").write_text("f 1 2 3\n")
    for name in ("bad.stl", "bad.ply", "bad.obj", "none.obj"):
        with pytest.raises(ModelError, match=name):
            load_model(tmp_path / name)


LEFT_OUT: dict[str, tuple[dict[str, Any], str]] = {
    "extension": ({"extensionsUsed": ["KHR_materials_sheen", "KHR_materials_unlit"]}, "extension KHR_materials_sheen$"),
    "joints": ({"meshes": [{"primitives": [{"attributes": {"JOINTS_2": 0}}]}]}, "joints of a vertex beyond the eighth"),
    "morph": ({"meshes": [{"primitives": [{"targets": [{"POSITION": 0, "COLOR_0": 1}]}]}]}, "morph targets of COLOR_0$"),
    "no list": ({"extensionsUsed": 3, "meshes": [{"primitives": 5}]}, ""),
    "nothing": ({"extensionsUsed": ["KHR_materials_unlit"]}, ""),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_is_left_out_is_a_warning(tmp_path: Path, what: str) -> None:
    document, words = LEFT_OUT[what]
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps({"asset": {"version": "2.0"}, **document}))
    with pytest.warns(UserWarning, match=words) if words else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("default" if words else "error")
        Document.load(path)
