"""Models from strangers: no pipe is waited for, no program started, no memory taken unannounced; each is an error that says why."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import accessor, data_uri, document, one_colour_png, primitive, textured, write
from tilegpu.scene.model import load_model
from tilegpu.scene.model_file import ModelError

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"


def picture(kind: str = "PNG", size: tuple[int, int] = (4, 4)) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(stream, kind)
    return stream.getvalue()


# -------------------------------------------------------------------------------------------------- what may be opened


def test_a_picture_that_is_postscript_starts_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    log = tmp_path / "log"
    program = tmp_path / "bin" / "gs"
    program.write_text(f"#!/bin/sh\necho started >> {log}\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(ModelError, match=r"images\[0\]: cannot be decoded: is no picture in a format .*\(PNG, JPEG\)"):
        load_model(write(tmp_path / "a.gltf", textured({"uri": data_uri(EPS)})))
    write(tmp_path / "a.eps", EPS)
    write(tmp_path / "a.mtl", "newmtl m\nmap_Kd a.eps\n")
    with pytest.raises(ModelError, match=r"material 'm' of 'a.mtl'.*no picture in a format"):
        load_model(write(tmp_path / "a.obj", "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"))
    with pytest.raises(tg.ValidationError, match=r"can't read '.*a.eps': is no picture in a format"):
        tg.Device().texture(tmp_path / "a.eps")
    assert not log.exists()


@pytest.mark.parametrize("kind", ["TIFF", "ICO", "PCX", "DDS", "BMP", "GIF", "WEBP"])
def test_gltf_takes_png_and_jpeg_alone(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ModelError, match=r"images\[0\]: cannot be decoded: is no picture in a format"):
        load_model(write(tmp_path / "a.gltf", textured({"uri": data_uri(picture(kind, (16, 16)))})))
    assert load_model(write(tmp_path / "b.gltf", textured({"uri": data_uri(picture("JPEG", (16, 16)))}))).parts


def test_pipes_devices_and_folders_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.bin")
    (tmp_path / "d.bin").mkdir()
    for name, message in (("f.bin", "is a named pipe; only regular files"), ("d.bin", "is a directory")):
        gltf = document(buffers=[{"byteLength": 36, "uri": name}], bufferViews=[{"buffer": 0, "byteLength": 36}],
                        accessors=[accessor(3, bufferView=0)], **primitive())  # fmt: skip
        with pytest.raises(ModelError, match=message):
            load_model(write(tmp_path / "a.gltf", gltf))
        with pytest.raises(ModelError, match=message):
            load_model(write(tmp_path / "b.gltf", textured({"uri": name})))
        with pytest.raises(ModelError, match=message):
            load_model(write(tmp_path / "a.obj", f"mtllib {name}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"))
        with pytest.raises(ModelError, match=message):
            load_model(tmp_path / name)
        with pytest.raises(tg.ValidationError, match=message):
            tg.Device().texture(tmp_path / name)
    with pytest.raises(ModelError, match="is a device"):
        load_model("/dev/zero")
    os.mkfifo(tmp_path / "f.vert")
    with pytest.raises(tg.ValidationError, match=r"can't read vertex shader .*is a named pipe"):
        tg.Device().pipeline(str(tmp_path / "f.vert"), "x", color=["r8g8b8a8_unorm"])


def test_a_file_of_60_gigabytes_is_not_read(tmp_path: Path) -> None:
    for name in ("a.glb", "a.obj", "a.ply", "a.stl", "a.gltf"):
        with (tmp_path / name).open("wb") as stream:
            stream.write(b"glTF" if name == "a.glb" else b"{}")
            stream.truncate(60 << 30)
        with pytest.raises(ModelError, match=rf"{name}': the file: reading '{name}' needs 61,440 MB; a model may take 4,096 MB"):
            load_model(tmp_path / name)
    gltf = document(buffers=[{"byteLength": 36, "uri": "a.stl"}], bufferViews=[{"buffer": 0, "byteLength": 36}],
                    accessors=[accessor(3, bufferView=0)], **primitive())  # fmt: skip
    with pytest.raises(ModelError, match=r"buffers\[0\]: reading 'a.stl' needs 61,440 MB"):
        load_model(write(tmp_path / "b.gltf", gltf))


# ------------------------------------------------------------------------------------------------------------ the budget


def many_nodes(count: int) -> dict[str, Any]:
    return {"nodes": [{"mesh": 0}] * count, "scenes": [{"nodes": list(range(count))}]}


drawn = {"attributes": {"POSITION": 0, "TEXCOORD_0": 1}}
BOMBS: dict[str, Callable[[], dict[str, Any]]] = {
    "indices": lambda: document(accessors=[accessor(3), accessor(1 << 28, "SCALAR", 5121)], **primitive(indices=1)),
    "positions": lambda: document(accessors=[accessor(20_000_000)], **primitive()),
    "primitives": lambda: document(
        accessors=[accessor(300_000)], meshes=[{"primitives": [{"attributes": {"POSITION": 0}}] * 3000}]
    ),
    "placed": lambda: document(accessors=[accessor(300_000)], **primitive()) | many_nodes(3000),
    "sparse": lambda: document(
        accessors=[accessor(10**12, sparse={"count": 1, "indices": {}, "values": {}})], **primitive()
    ),
    "triangles": lambda: document(
        accessors=[accessor(3), accessor(3), accessor(3_000_000, "SCALAR", 5121)],
        **primitive(attributes={"POSITION": 0, "NORMAL": 1}, indices=2),
    ) | many_nodes(300),
    "lists in lists": lambda: document(extras=[[] for _ in range(1000)], more="," * 45_000_000),
    "picture": lambda: textured({"uri": data_uri(one_colour_png(9000, 9000))}),
    "pictures": lambda: textured({}, images=[{"uri": data_uri(one_colour_png(3000, 3000))}] * 60,
                                 textures=[{"source": k} for k in range(60)],
                                 materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}} for k in range(60)],
                                 meshes=[{"primitives": [drawn | {"material": k} for k in range(60)]}]),
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
def test_a_model_is_counted_before_it_is_made(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "pictures":  # the real limit takes a minute to fill
        monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "300")
    path = write(tmp_path / "bomb.gltf", BOMBS[kind]())
    size_B = path.stat().st_size
    tracemalloc.start()
    try:
        reasons = r"needs [\d,]+ MB; a model may take|at most 200,000,000 are drawn|cannot be decoded"
        with pytest.raises(ModelError, match=rf"bomb\.gltf.*({reasons})"):
            load_model(path)
        most_B = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    limit_B = 300 << 20 if kind == "pictures" else 40 << 20
    assert most_B < limit_B + 4 * size_B


def test_more_may_be_allowed_and_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.gltf", document(accessors=[accessor(30_000)], **primitive()))
    assert load_model(path).parts
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "3")
    with pytest.raises(ModelError, match=r"meshes\[0\].primitives\[0\].*a model may take 3 MB .* TILEGPU_MODEL_MEMORY_MB"):
        load_model(path)
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "much")
    with pytest.raises(ModelError, match="TILEGPU_MODEL_MEMORY_MB is 'much'; a number of megabytes"):
        load_model(path)


def test_textures_of_one_picture_share_their_mipmaps(tmp_path: Path) -> None:
    gltf = textured({"uri": data_uri(picture())})
    gltf["samplers"] = [{"wrapS": 33071}]
    gltf["textures"].append({"source": 0, "sampler": 0})
    gltf["materials"].append({"pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}})
    gltf["meshes"][0]["primitives"].append({"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 1})
    one, other = (part.material.maps["base_color"] for part in load_model(write(tmp_path / "a.gltf", gltf)).parts)
    assert one.mipmaps is other.mipmaps and one.sampler != other.sampler


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 1000000000000\nproperty float x\nend_header\n",
         "has no element 'face'"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 1000000000000\nproperty float x\nelement face 1\n"
                  "property list uchar int vertex_indices\nend_header\n",
         "element 'vertex': 1,000,000,000,000 rows need 2,000,000,000,000 bytes, there are 0; is it truncated"),
        ("a.ply", b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
                  b"element face 1\nproperty list uint int vertex_indices\nend_header\n" + bytes(12) + b"\xff\xff\xff\xff" + bytes(12),
         "a list 'vertex_indices' has 4294967295 values"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
                  "property list uchar int vertex_indices\nend_header\n0 0 0 1 0 0 0 1 0 3 0 1 7\n",
         "face 0: refers to vertex 7, which is out of 0..2"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
                  "property list uchar int vertex_indices\nend_header\n0 0 0 3 0 0 ten\n",
         "number 6 behind the header: 'ten' is not a number"),
        ("a.obj", "v 0 0 0\nf 1 2 3\n", "line 2: a corner refers to what the file does not have; it has 1 v"),
        ("a.obj", "v 0 0 0\nf 1 2 3\nv 1 1 1\n#\n", "line 2: a corner refers to"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 0 1 2\n", "line 4: a corner refers to"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf -4 1 2\n", "line 4: a corner refers to"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2\n", "line 4: a face has 2 corners; at least 3"),
        ("a.obj", "v 0 0\nf 1 1 1\n", "line 1: has 2 numbers; at least 3 are needed"),
        ("a.obj", "v 0 0 zero\nf 1 1 1\n", "line 1: 'zero' is not a number"),
        ("a.obj", "v 0 0 1_0\nf 1 1 1\n", "line 1: '1_0' is not a number"),
        ("a.obj", "v 0 0 0\nf 1 1.5 1\n", "line 2: '1.5' is not an integer"),
        ("a.obj", "v 0 0 0\nf 1 99999999999999999999 1\n", "line 2: '99999999999999999999' is not an integer"),
        ("a.obj", "v 0 0 0\nf 1/1/1/1 1 1\n", "line 2: a corner has 4 indices"),
        ("a.obj", "v 0 0 nan\nf 1 1 1\n", "vertex 0: its position is not a finite number"),
        ("a.obj", "v 0 0 0\ncurv 0 1 2\n", "line 2: 'curv': free-form curves and surfaces are not read"),
        ("a.obj", "v 0 0 0\n", "has no faces"),
        ("a.stl", b"solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n", "ends inside a solid"),
        ("a.stl", b"solid x\nfacet\nvertex 0 0 0\nvertex 1 1 1\nendfacet\nendsolid\n",
         "line 5: 'endfacet' after 2 vertices; a facet has 3"),
        ("a.stl", bytes(80) + struct.pack("<I", 10**9), "1,000,000,000 facets are 50,000,000,084 bytes, the file has 84; is it truncated"),
        ("a.stl", bytes(84), "has no triangles"),
        ("a.stl", b"", "0 bytes are too few for an STL"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_plain_formats_is_said(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        load_model(write(tmp_path / name, content))
    assert name in str(raised.value)


def test_a_glb_of_chunks_alone(tmp_path: Path) -> None:
    chunks = struct.pack("<II", 0, 0x31545845) * 1_000_000
    path = write(tmp_path / "a.glb", struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)
    with pytest.raises(ModelError, match="has more than 1000 chunks"):
        load_model(path)


# --------------------------------------------------------------------------------------------------------- plain formats


def soup(path: Path) -> np.ndarray:
    part = load_model(path).parts[0]
    return part.vertices["position"][part.indices].reshape(-1, 3, 3)


def test_obj_polygons_relative_indices_colours_materials(tmp_path: Path) -> None:
    write(tmp_path / "a b.png", picture())
    write(tmp_path / "m.mtl", "newmtl red\nKd 1 0 0\nmap_Kd -s 1 1 1 -clamp on a b.png\nnewmtl none\nKd 0 1 0\n")
    text = ("mtllib m.mtl\r\nv 0 0 0 1 0 0\r\nv 1 0 0 0 1 0\nv 1 1 \\\n 0 0 0 1\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nusemtl red\n"
            "f -4/1 -3/2 -2/3 # a comment\nusemtl none\nf 1 2 3 4\nusemtl red\nf 1/1 3/3 2/2\n")  # fmt: skip
    red, none = load_model(write(tmp_path / "a.obj", text)).parts
    assert "base_color" in red.material.maps and red.indices.size == 6 and "uv0" in red.attributes
    assert not none.material.maps and none.indices.reshape(-1, 3).tolist() == [[0, 1, 2], [0, 2, 3]]
    assert np.allclose(none.vertices["color"], [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    with pytest.warns(UserWarning, match=r"there is no material library 'gone.mtl'"):
        load_model(write(tmp_path / "b.obj", "mtllib gone.mtl\n" + text.partition("\n")[2]))
    write(tmp_path / "m.mtl", "newmtl red\nmap_Kd gone.png\n")
    with pytest.warns(UserWarning, match=r"material 'red' of 'm.mtl': there is no file 'gone.png'"):
        load_model(tmp_path / "a.obj")


@pytest.mark.parametrize("order", ["<", ">"])
def test_ply_with_lists_of_different_lengths(tmp_path: Path, order: str) -> None:
    kind = "little" if order == "<" else "big"
    head = (f"ply\nformat binary_{kind}_endian 1.0\ncomment made here\nelement material 2\nproperty list uchar float kd\n"
            "element vertex 5\nproperty float x\nproperty double y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
            "property uchar blue\n"
            "element face 2\nproperty uchar flags\nproperty list uchar int vertex_indices\nend_header\n").encode()  # fmt: skip
    body = struct.pack(f"{order}Bf", 1, 0.5) + struct.pack(f"{order}Bff", 2, 0.5, 0.25)
    points = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 2)]
    for k, (x, y) in enumerate(points):
        body += struct.pack(f"{order}fdfBBB", x, y, 0, 255 if k == 0 else 0, 0, 0)
    body += struct.pack(f"{order}BB4i", 7, 4, 0, 1, 2, 3) + struct.pack(f"{order}BB3i", 7, 3, 3, 2, 4)
    path = write(tmp_path / "a.ply", head + body)
    expected = np.array([[*points[k], 0] for t in ((0, 1, 2), (0, 2, 3), (3, 2, 4)) for k in t]).reshape(-1, 3, 3)
    assert np.array_equal(soup(path), expected)
    assert load_model(path).parts[0].vertices["color"][0].tolist() == [1, 0, 0, 1]
    text = head.split(b"end_header")[0].replace(f"binary_{kind}_endian".encode(), b"ascii") + b"end_header\n"
    text += b"1 0.5\n2 0.5 0.25\n" + b"".join(b"%g %g 0 0 0 0\n" % p for p in points) + b"7 4 0 1 2 3\n7 3 3 2 4\n"
    assert np.array_equal(soup(write(tmp_path / "b.ply", text)), expected)
    for size in range(len(head), len(head + body)):
        with pytest.raises(ModelError, match="truncated"):
            load_model(write(path, (head + body)[:size]))


def test_ply_with_texture_coordinates_of_corners(tmp_path: Path) -> None:
    write(tmp_path / "p.png", picture())
    head = ("ply\nformat ascii 1.0\ncomment TextureFile p.png\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
            "element face 2\nproperty list uchar int vertex_index\nproperty list uchar float texcoord\nend_header\n")  # fmt: skip
    body = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 0 0 0.5 1 0 1\n"
    part = load_model(write(tmp_path / "a.ply", head + body)).parts[0]
    assert "base_color" in part.material.maps and len(part.vertices) == 5  # vertex 2 has two coordinates
    assert part.vertices["uv0"][part.indices].tolist() == [[0, 1], [1, 1], [1, 0], [0, 1], [0.5, 0], [0, 0]]


def test_stl_needs_nothing_that_is_not_declared(tmp_path: Path) -> None:
    """A name in Latin-1 made trimesh ask for charset_normalizer; and only NumPy and Pillow are dependencies."""
    text = b"solid caf\xe9\n" + b"facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n" * 2
    path = write(tmp_path / "a.stl", text + b"endsolid caf\xe9\n")
    assert len(soup(path)) == 2
    code = ("import sys; sys.modules.update(dict.fromkeys(('trimesh', 'charset_normalizer', 'chardet', 'scipy')));"
            "from tilegpu.scene.model import load_model; print(len(load_model(sys.argv[1]).parts))")  # fmt: skip
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "1", ran.stderr


def test_the_plain_formats_as_another_reader_reads_them(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    shape = trimesh.creation.icosphere(1)
    shape.vertices += np.random.default_rng(3).normal(0, 0.1, shape.vertices.shape)
    text: dict[str, dict[str, Any]] = {"b.ply": {"encoding": "ascii"}, "b.stl": {"file_type": "stl_ascii"}}
    for name, options in {"a.obj": {}, "a.ply": {}, "a.stl": {}, **text}.items():
        shape.export(tmp_path / name, **options)
        other = trimesh.load(tmp_path / name, process=False)
        assert np.array_equal(soup(tmp_path / name), other.vertices[other.faces].astype("f4")), name


# ------------------------------------------------------------------------------------------------------------------ fuzz

WORDS = [b"0", b"-1", b"1", b"3", b"1e400", b"nan", b"4294967295", b"-9223372036854775808", b"999999999999999999999", b"/", b"//", b"1_0",
         b"v", b"f", b"f 1 2 3\n", b"\n", b"\r", b"\0", b"#", b"\\\n", b"\xff", b"list", b"face", b"vertex", b"end_header\n", b"element",
         b"property", b"endsolid", b"facet", b"{", b"[", b"}", b"null", b"{}", b"[]", b"1.5", b'"', b"count", b"indices", b""]  # fmt: skip


def seeds(tmp_path: Path) -> dict[str, bytes]:
    png = data_uri(picture())
    gltf = textured({"uri": png})
    gltf["materials"][0]["normalTexture"] = {"index": 0}
    gltf["bufferViews"].append({"buffer": 0, "byteLength": 3})
    gltf["accessors"].append(accessor(3, "SCALAR", 5121, bufferView=2, sparse={
        "count": 3, "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 2}}))  # fmt: skip
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    glb = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", 60, 0x004E4942) + bytes(60)
    obj = b"mtllib m.mtl\nv 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0 0 0 1\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvn 0 0 1\nusemtl m\n"
    obj += b"f 1/1/1 2/2/1 3/3/1\nf -4//1 -3//1 -2//1 -1//1\n"
    ply = (b"ply\nformat ascii 1.0\ncomment TextureFile p.png\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
           b"property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\nproperty list uchar int vertex_indices\n"
           b"property list uchar float texcoord\nend_header\n"
           b"0 0 0 1 2 3\n1 0 0 1 2 3\n1 1 0 1 2 3\n0 1 0 1 2 3\n4 0 1 2 3 8 0 0 1 0 1 1 0 1\n3 0 1 2 6 0 0 1 0 1 1\n")  # fmt: skip
    binary = (b"ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
              b"element face 2\n"
              b"property list uchar ushort vertex_indices\nend_header\n" + bytes(36) + b"\3" + bytes(6) + b"\4" + bytes(8))  # fmt: skip
    facet = b"facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    stl = b"solid x\n" + facet * 2 + b"endsolid x\n"
    write(tmp_path / "m.mtl", "newmtl m\nmap_Kd p.png\n")
    write(tmp_path / "p.png", picture())
    return {
        "a.gltf": text,
        "b.glb": struct.pack("<III", 0x46546C67, 2, 12 + len(glb)) + glb,
        "c.obj": obj,
        "d.ply": ply,
        "e.ply": binary,
        "f.stl": stl,
        "g.stl": bytes(80) + struct.pack("<I", 2) + bytes(100),
    }


def mutated(data: bytes, choose: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(choose.randint(1, 6)):
        at = choose.randrange(len(out) + 1)
        what = choose.random()
        if what < 0.3 and at < len(out):
            out[at] = choose.randrange(256)
        elif what < 0.6:
            out[at : at + choose.randint(0, 6)] = choose.choice(WORDS)
        elif what < 0.75:
            del out[at : at + choose.randint(1, 40)]
        elif what < 0.9:
            other = choose.randrange(len(out) + 1)
            out[at:at] = out[other : other + choose.randint(1, 80)]
        else:
            digits = [k for k, byte in enumerate(out) if 48 <= byte < 58]
            if digits:
                at = choose.choice(digits)
                out[at : at + 1] = choose.choice((b"0", b"9", b"-1", b"65536", b"100000000", b"1e9"))
    return bytes(out)


def test_mutated_models_end_in_a_picture_or_in_an_error_that_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but ModelError, no warning of NumPy, each file in bounded time. TILEGPU_FUZZ_CASES for more."""
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "256")
    choose = random.Random(int(os.environ.get("TILEGPU_FUZZ_SEED", "1")))
    files = seeds(tmp_path)
    for name, data in files.items():
        assert load_model(write(tmp_path / name, data)).parts, name
    cases, loaded = 10 * int(os.environ.get("TILEGPU_FUZZ_CASES", "300")), 0  # they are quick
    for _ in range(cases):
        name = choose.choice(list(files))
        data = mutated(files[name], choose)
        path = write(tmp_path / name, data)
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", UserWarning)
                load_model(path).frame((16, 16))
            loaded += 1
        except ModelError as error:
            assert name in str(error)
        except BaseException:
            print(f"{name}: {data!r}")
            raise
        assert time.process_time() - start < 5, data
    assert loaded > cases // 20


@pytest.mark.parametrize("at", [(-512.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1e14, -1e14, 3.0)])
def test_a_model_that_is_a_single_point_has_a_picture(tmp_path: Path, at: tuple[float, ...]) -> None:
    """Found by the fuzzing: the camera stood so near that its matrix had no inverse in 32-bit floats."""
    line = "v " + " ".join(map(str, at)) + "\n"
    scene = load_model(write(tmp_path / "a.obj", line * 3 + "f 1 2 3\n"))
    matrix = scene.frame().draws[0].bind["view"]["view_projection"]
    clip = matrix.astype("f8") @ (*at, 1)
    assert np.all(np.isfinite(clip)) and clip[3] > 0 and min(scene.default_size) >= 1
