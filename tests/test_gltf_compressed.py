"""Compressed glTF: EXT_meshopt_compression, KHR_draco_mesh_compression, KHR_texture_basisu, EXT_texture_webp.

Streams of meshoptimizer are in ``meshopt.json``, with what its own decoder makes of them; Draco's are made here by the package; the two
pictures of Basis Universal are 8x8 pixels of four colours, by its encoder (ETC1S and UASTC).
"""

from __future__ import annotations

import base64
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gltf_documents import TRIANGLE, Builder, png
from tilegpu.scene.meshopt import MeshoptError, decode
from tilegpu.scene.model import ModelError, load_model

MESHOPT, DRACO, BASIS = "EXT_meshopt_compression", "KHR_draco_mesh_compression", "KHR_texture_basisu"
CASES = json.loads((Path(__file__).parent / "meshopt.json").read_text())["cases"]
KTX2 = {
    "etc1s": (
        "q0tUWCAyMLsNChoKAAAAAAEAAAAIAAAACAAAAAAAAAAAAAAAAQAAAAEAAAABAAAAaAAAACwAAACUAAAAJAAAALgAAAAAAAAAjQAAAAAAAABFAQAAAAAAAAEA"
        "AAAAAAAAAAAAAAAAAAAsAAAAAAAAAAIAKACjAQIAAwMAAAgAAAAAAAAAAAA/AAAAAAAAAAAA/////x8AAABLVFh3cml0ZXIAQmFzaXMgVW5pdmVyc2FsIDIu"
        "MTAAAAQAAgAvAAAACQAAAC0AAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAgwJQAAAAAABDEDZMQwEQAAAAAAACSAAGYAgAAAAAAgbQgAFMAAAAAACBQFoCS"
        "H6yqqqpSVVVVBQDBRAAAAAAAAPJfjQCYAQAAAAAAQMIQMCFAAAAAAIDkmgBgAgAAAAAAAAEEAAQ="
    ),
    "uastc": (
        "q0tUWCAyMLsNChoKAAAAAAEAAAAIAAAACAAAAAAAAAAAAAAAAQAAAAEAAAAAAAAAaAAAACwAAACUAAAALAAAAAAAAAAAAAAAAAAAAAAAAADAAAAAAAAAAEAA"
        "AAAAAAAAQAAAAAAAAAAsAAAAAAAAAAIAKACmAQIAAwMAABAAAAAAAAAAAAB/AAAAAAAAAAAA/////x8AAABLVFh3cml0ZXIAQmFzaXMgVW5pdmVyc2FsIDIu"
        "MTAAAAQAAAB/fwAA9x8A4B96AAAAAAAAAAAAABcAGeD/Ax4AAAAAAAAAAAAXAOD/HwLgAQAAAAAAAAAA9////x987wEAAAAAAAAAAA=="
    ),
}


# ----------------------------------------------------------------------------------------------------------------- meshopt


def stream(case: dict[str, Any]) -> tuple[bytes, str, str, int, int]:
    return base64.b64decode(case["data"]), case["mode"], case["filter"], case["count"], case["stride"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['name']} {c['mode']} {c['stride']}")
def test_streams_of_meshoptimizer(case: dict[str, Any]) -> None:
    ours, theirs = decode(*stream(case)), base64.b64decode(case["raw"])
    if case["filter"] in ("OCTAHEDRAL", "QUATERNION"):  # exact to one unit, says the specification
        kind = "i1" if case["stride"] == 4 else "i2"
        assert np.abs(np.frombuffer(ours, kind).astype(int) - np.frombuffer(theirs, kind)).max() <= 1
    else:
        assert ours == theirs


def test_filters_against_the_formulas() -> None:
    by_name = {case["name"]: case for case in CASES}
    raw = np.frombuffer(decode(*stream({**by_name["oct12"], "filter": "NONE"})), "<i2").reshape(-1, 4)
    for k, (u, v, one, rest) in enumerate(raw.tolist()):
        x, y = u / one, v / one
        z = 1 - abs(x) - abs(y)
        t = min(z, 0)
        x, y = x - np.copysign(t, x), y - np.copysign(t, y)
        n = np.array([x, y, z]) / np.sqrt(x * x + y * y + z * z) * 32767
        found = np.frombuffer(decode(*stream(by_name["oct12"])), "<i2").reshape(-1, 4)[k]
        assert np.abs(found[:3] - n).max() <= 0.501 and found[3] == rest
    raw = np.frombuffer(decode(*stream({**by_name["exp15"], "filter": "NONE"})), "<i4")
    exact = [((x << 8 & 0xFFFFFFFF) - (1 << 32 if x & 0x800000 else 0) >> 8) * 2.0 ** (x >> 24) for x in raw.tolist()]
    assert np.array_equal(np.frombuffer(decode(*stream(by_name["exp15"])), "<f4"), np.array(exact, "f4"))


def test_broken_streams_are_errors_and_end() -> None:
    choose = random.Random(3)
    refused = 0
    for _ in range(1500):
        data, *rest = stream(choose.choice(CASES))
        broken = bytearray(data)
        for _ in range(choose.randint(1, 4)):
            broken[choose.randrange(len(broken))] = choose.choice([0, 255, choose.randrange(256)])
        if choose.random() < 0.3:
            broken = broken[: choose.randrange(len(broken))]
        try:
            decode(bytes(broken), *rest)
        except MeshoptError:
            refused += 1
    assert refused > 500


def compressed(b: Builder, case: dict[str, Any], data: bytes | None = None) -> int:
    """A view that is compressed; its own bytes are in a buffer that is not there."""
    inner = b.view(base64.b64decode(case["data"]) if data is None else data)
    place = b.json["bufferViews"].pop(inner)
    size = case["count"] * case["stride"]
    extension = {"buffer": 0, "byteOffset": place["byteOffset"], "byteLength": place["byteLength"], "byteStride": case["stride"],
                 "count": case["count"], "mode": case["mode"], "filter": case["filter"]}  # fmt: skip
    b.json["bufferViews"].append({"buffer": 1, "byteLength": size, "extensions": {MESHOPT: extension}})
    return len(b.json["bufferViews"]) - 1


def meshopt_model() -> Builder:
    b = Builder()
    grid = next(case for case in CASES if case["name"] == "grid" and case["mode"] == "TRIANGLES")
    view = compressed(b, grid)
    b.json["accessors"].append({"bufferView": view, "componentType": 5123, "count": grid["count"], "type": "SCALAR"})
    y, x = np.mgrid[0:5, 0:5]
    places = np.stack([x, y, 0 * x], -1).reshape(-1, 3).astype("f4")
    b.mesh(indices=len(b.json["accessors"]) - 1, attributes={"POSITION": b.accessor(places)})
    b.json["extensionsRequired"] = b.json["extensionsUsed"] = [MESHOPT]
    return b


def save(b: Builder, path: Path) -> Path:
    b.glb(path)
    b.json["buffers"].append({"byteLength": 10_000, "extensions": {MESHOPT: {"fallback": True}}})
    return with_buffers(b, path)


def with_buffers(b: Builder, path: Path) -> Path:
    buffers = b.json["buffers"]
    uri = "data:application/octet-stream;base64," + base64.b64encode(b.data).decode()
    buffers[0] = {"byteLength": len(b.data), "uri": uri}
    path = path.with_suffix(".gltf")
    path.write_text(json.dumps(b.json))
    return path


def test_a_model_with_compressed_views(tmp_path: Path) -> None:
    part = load_model(save(meshopt_model(), tmp_path / "a.glb")).parts[0]
    a = np.arange(4)[:, None] * 5 + np.arange(4)
    triangles = np.stack([a, a + 1, a + 5, a + 1, a + 6, a + 5], -1).reshape(-1, 3)
    places = part.vertices["position"][part.indices].reshape(-1, 3, 3)
    y, x = np.divmod(triangles, 5)
    expected = np.stack([x, y, 0 * x], -1)
    turned = [sorted(map(tuple, t.tolist())) for t in places.astype(int)]
    assert turned == [sorted(map(tuple, t.tolist())) for t in expected]  # the stream may begin a triangle at another corner
    cross = np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    assert np.array_equal(cross, np.cross(expected[:, 1] - expected[:, 0], expected[:, 2] - expected[:, 0]))


WRONG = {
    "mode": ({"mode": "LINES"}, r"mode is 'LINES'; allowed are ATTRIBUTES, TRIANGLES, INDICES"),
    "filter": ({"filter": "OCTAHEDRAL"}, r".*mode TRIANGLES with filter OCTAHEDRAL takes none"),
    "stride": ({"byteStride": 3}, r"byteStride is 3, the view's none.*takes \[2, 4\]"),
    "count": ({"count": 90}, r"count is 90, byteStride 2, the view's byteLength 192"),
    "range": ({"byteOffset": 10**6}, r"byteOffset 1000000 \+ byteLength \d+ is beyond the buffer's"),
    "data": ({"byteOffset": 1}, r"the compressed data begins with"),
    "short": ({"byteLength": 20}, r"the compressed data ends too early"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_compressed_view_is_said(tmp_path: Path, what: str) -> None:
    b = meshopt_model()
    change, message = WRONG[what]
    b.json["bufferViews"][0]["extensions"][MESHOPT].update(change)
    with pytest.raises(ModelError, match=rf"a\.gltf.*bufferViews\[0\]\.{MESHOPT}: {message}"):
        load_model(save(b, tmp_path / "a.glb"))


def test_views_are_counted_before_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    b = meshopt_model()
    b.json["bufferViews"][0]["byteLength"] = 3 * 10**9
    b.json["bufferViews"][0]["extensions"][MESHOPT].update(count=15 * 10**8)
    with pytest.raises(ModelError, match=r"1,500,000,000 elements needs [\d,]+ MB; a model may take"):
        load_model(save(b, tmp_path / "a.glb"))


# ------------------------------------------------------------------------------------------------------------------- Draco


def draco_model(**options: Any) -> Builder:
    draco = pytest.importorskip("DracoPy")
    j, i = np.mgrid[0:6, 0:6]
    points = np.stack([i, j, np.sin(i) * 0.5], -1).reshape(-1, 3)
    a = (j * 6 + i)[:-1, :-1].reshape(-1)
    faces = np.concatenate([np.stack([a, a + 1, a + 6], -1), np.stack([a + 1, a + 7, a + 6], -1)]).astype("u4")
    colors = (np.arange(36 * 4) % 251).astype("u1").reshape(36, 4)
    data = draco.encode(points.astype("f4"), faces, quantization_bits=20, preserve_order=True, normals=np.tile([0.0, 0.0, 1.0], (36, 1)),
                        generic_attributes={5: colors}, **options)  # fmt: skip
    numbers = {one["attribute_type"]: one["unique_id"] for one in draco.decode(data).attributes}
    b = Builder()
    view = b.view(data)
    b.json["accessors"] = [
        {"componentType": 5126, "count": 36, "type": "VEC3"},
        {"componentType": 5126, "count": 36, "type": "VEC3"},
        {"componentType": 5121, "count": 36, "type": "VEC4", "normalized": True},
        {"componentType": 5123, "count": 150, "type": "SCALAR"},
    ]
    extension = {"bufferView": view, "attributes": {"POSITION": numbers[0], "NORMAL": numbers[1], "COLOR_0": 5}}
    b.mesh(indices=3, attributes={"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, extensions={DRACO: extension})
    b.json["extensionsRequired"] = b.json["extensionsUsed"] = [DRACO]
    return b


def test_a_model_of_draco(tmp_path: Path) -> None:
    part = load_model(draco_model().glb(tmp_path / "a.glb")).parts[0]
    j, i = np.mgrid[0:6, 0:6]
    assert part.indices.size == 150 and len(part.vertices) == 36
    order = np.lexsort((part.vertices["position"][:, 0].round(3), part.vertices["position"][:, 1].round(3)))
    places = part.vertices["position"][order]
    assert np.abs(places - np.stack([i, j, np.sin(i) * 0.5], -1).reshape(-1, 3)).max() < 1e-5
    assert np.allclose(part.vertices["normal"], [0, 0, 1], atol=1e-6)
    assert np.allclose(part.vertices["color"][order], (np.arange(144) % 251).reshape(36, 4) / 255)


DRACO_WRONG = {
    "mode": (lambda p, d: p.update(mode=5), r"mode is 5; of KHR_draco_mesh_compression triangle lists"),
    "number": (lambda p, d: d["attributes"].update(POSITION=77), r"POSITION is number 77; the data has"),
    "name": (lambda p, d: d["attributes"].update(TEXCOORD_0=1), r"has the attribute TEXCOORD_0, which the primitive has not"),
    "view": (lambda p, d: d.update(bufferView=9), r"refers to bufferViews\[9\]"),
    "indices": (lambda p, d: p.pop("indices"), r"has no indices"),
    "count": (lambda p, d: p.update(indices=2), r"has 50 triangles, and accessors\[2\], its indices, 36 elements; three for each"),
    "kind": (lambda p, d: p["attributes"].update(NORMAL=2), r"has 36 elements of 3; accessors\[2\] says 36 of 4"),
}


@pytest.mark.parametrize("what", DRACO_WRONG)
def test_what_is_wrong_with_draco_is_said(tmp_path: Path, what: str) -> None:
    b = draco_model()
    change, message = DRACO_WRONG[what]
    primitive = b.json["meshes"][0]["primitives"][0]
    change(primitive, primitive["extensions"][DRACO])
    with pytest.raises(ModelError, match=message):
        load_model(b.glb(tmp_path / "a.glb"))


def test_broken_draco_and_values_that_do_not_fit(tmp_path: Path) -> None:
    b = draco_model()
    b.json["accessors"][0]["componentType"] = 5120
    with pytest.raises(ModelError, match=r"POSITION: has float32 from .*accessors\[0\] says int8"):
        load_model(b.glb(tmp_path / "a.glb"))
    b = draco_model()
    whole, choose, refused = b.data, random.Random(4), 0
    for _ in range(30):
        broken = bytearray(whole)
        for _ in range(3):
            broken[choose.randrange(5, len(broken))] = choose.randrange(256)
        b.data = bytes(broken)
        try:
            load_model(b.glb(tmp_path / "b.glb"))
        except ModelError:
            refused += 1
    assert refused > 5


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    import sys

    monkeypatch.setitem(sys.modules, package, None)  # importing it is an ImportError now


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    b = draco_model()
    without(monkeypatch, "DracoPy")
    with pytest.raises(ModelError, match=r'needs the package DracoPy, which is not installed: pip install DracoPy \(tilegpu\[gltf\]\)'):
        load_model(b.glb(tmp_path / "a.glb"))
    b.json["extensionsRequired"] = []
    for k, array in enumerate((np.zeros((36, 3), "f4"), np.tile(np.array([0, 0, 1], "f4"), (36, 1)), np.zeros((36, 4), "u1"))):
        b.json["accessors"][k]["bufferView"] = b.view(array.tobytes())
    b.json["accessors"][3]["bufferView"] = b.view((np.arange(150) % 36).astype("u2").tobytes())
    with pytest.warns(UserWarning, match="DracoPy.*the uncompressed copy is read"):
        assert not load_model(b.glb(tmp_path / "b.glb")).parts[0].vertices["position"].any()


# ---------------------------------------------------------------------------------------------------------------- textures


def textured(texture: dict[str, Any], *images: bytes) -> Builder:
    b = Builder()
    b.json["images"] = [{"bufferView": b.view(data)} for data in images]
    b.json["textures"] = [texture]
    b.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    uv = b.accessor(np.array([[0, 0], [1, 0], [0, 1]], "f4"))
    return b.mesh(material=0, attributes={"POSITION": b.accessor(TRIANGLE), "TEXCOORD_0": uv})


def pixels_of(b: Builder, path: Path) -> np.ndarray:
    return load_model(b.glb(path)).parts[0].material.maps["base_color"].pixels


@pytest.mark.parametrize("codec", KTX2)
def test_basis_universal(tmp_path: Path, codec: str) -> None:
    pytest.importorskip("opengl_basisu")
    data = base64.b64decode(KTX2[codec])
    b = textured({"extensions": {BASIS: {"source": 0}}}, data)
    b.json["extensionsRequired"] = [BASIS]
    found = pixels_of(b, tmp_path / "a.glb")
    assert found.shape == (8, 8, 4)
    expected = np.full((8, 8, 4), 255)
    expected[:4, :4, 1:3], expected[:4, 4:, :3], expected[4:, :4, :2] = 0, [0, 200, 0], 0
    assert np.abs(found.astype(int) - expected).max() <= 3
    large = bytearray(data)
    large[20:24] = large[24:28] = (40_000).to_bytes(4, "little")
    bomb = bytearray(data)
    bomb[96:104] = (2**31 - 16).to_bytes(8, "little")  # of level 0: a kilobyte took two gigabytes
    for broken, message in (
        (b"PNG", "no KTX 2 file"), (data[:100], "cannot be decoded"), (bytes(large), "cannot be decoded"),
        (bytes(bomb), "cannot be decoded.*level 0 says that it is 2,147,483,632 bytes"),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=rf"images\[0\].*{message}"):
            pixels_of(textured({"extensions": {BASIS: {"source": 0}}}, broken), tmp_path / "b.glb")


def test_basis_universal_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = base64.b64decode(KTX2["uastc"])
    without(monkeypatch, "opengl_basisu")
    with pytest.raises(ModelError, match=r'opengl_basisu, which is not installed: pip install opengl_basisu \(tilegpu\[gltf\]\)'):
        pixels_of(textured({"extensions": {BASIS: {"source": 0}}}, data), tmp_path / "a.glb")
    both = textured({"source": 1, "extensions": {BASIS: {"source": 0}}}, data, png((9, 8, 7, 255)))
    with pytest.warns(UserWarning, match="opengl_basisu.*the other picture is taken"):
        assert pixels_of(both, tmp_path / "b.glb")[0, 0].tolist() == [9, 8, 7, 255]


def test_webp(tmp_path: Path) -> None:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGBA", (4, 2), (10, 20, 30, 255)).save(stream, "WEBP", lossless=True)
    b = textured({"source": 1, "extensions": {"EXT_texture_webp": {"source": 0}}}, stream.getvalue(), png())
    b.json["extensionsRequired"] = ["EXT_texture_webp"]
    assert pixels_of(b, tmp_path / "a.glb").tolist() == [[[10, 20, 30, 255]] * 4] * 2
    with pytest.raises(ModelError, match=r"images\[0\]"):  # glTF itself has PNG and JPEG alone
        pixels_of(textured({"source": 0}, stream.getvalue()), tmp_path / "b.glb")
