"""Small files that ask for much: each ends in an error that names the file, the object, the limit and what to do, before the memory is
taken or the work is done. All of them are read by one process whose address space is limited (``RLIMIT_AS``)."""

from __future__ import annotations

import io
import json
import re
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sanitized import CRASH, SANITIZED

from gltf_documents import TRIANGLE, Builder, accessor, data_uri, document, one_colour_png, primitive, textured, write
from tilegpu import files
from tilegpu.hdr import HdrError, read_radiance
from tilegpu.scene import mipmaps
from tilegpu.scene.environment import Environment
from tilegpu.scene.model import load_model
from tilegpu.scene.model_file import Budget, ModelError, named, shown

LIMIT_B = 1 << 30
MESHOPT, DRACO = "EXT_meshopt_compression", "KHR_draco_mesh_compression"
ATTACKS: dict[str, tuple[Callable[[Path], Path], str]] = {}


def attack(message: str) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    def keep(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
        ATTACKS[make.__name__] = make, message
        return make

    return keep


def one_triangle(**more: Any) -> dict[str, Any]:
    made = document(buffers=[{"byteLength": 36, "uri": data_uri(TRIANGLE.tobytes())}], bufferViews=[{"buffer": 0, "byteLength": 36}],
                    accessors=[accessor(3, bufferView=0)], **primitive())  # fmt: skip
    return made | more


def webp(width: int, height: int) -> bytes:
    """An animated WebP whose canvas is large and whose frame is one pixel."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGBA", (1, 1)).save(stream, "WEBP", lossless=True)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return kind + struct.pack("<I", len(data)) + data + bytes(len(data) & 1)

    canvas = struct.pack("<I", 0x12) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    frame = bytes(12) + b"\1\0\0\0" + stream.getvalue()[12:]
    body = b"WEBP" + chunk(b"VP8X", canvas) + chunk(b"ANIM", bytes(6)) + chunk(b"ANMF", frame)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def jpeg(width: int, height: int, scans: int) -> bytes:
    """A progressive JPEG, grey, whose scans say of all blocks at once that there is nothing in them."""

    def segment(marker: int, data: bytes) -> bytes:
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data

    def coded(bits: str) -> bytes:
        bits += "1" * (-len(bits) % 8)
        return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")

    blocks = -(-width // 8) * -(-height // 8)
    head = b"\xff\xd8" + segment(0xDB, bytes([0, *[1] * 64])) + segment(0xC2, struct.pack(">BHHB", 8, height, width, 1) + b"\1\x11\0")
    head += segment(0xC4, bytes([0, 1, *[0] * 15, 0])) + segment(0xC4, bytes([16, 1, 1, *[0] * 14, 0xE0, 0]))
    scan = segment(0xDA, bytes([1, 1, 0, 1, 63, 0])) + coded(("0" + "0" * 14) * -(-blocks // 16384))
    return head + segment(0xDA, bytes([1, 1, 0, 0, 0, 0])) + coded("0" * blocks) + scan * (scans - 1) + b"\xff\xd9"


def radiance(width: int, height: int) -> bytes:
    """A Radiance picture whose rows are one pixel, repeated."""
    row, left = b"\x80\x80\x80\x80", width - 1
    while left:
        row, left = row + bytes([1, 1, 1, left & 255]), left >> 8
    return f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n".encode() + row * height


# ----------------------------------------------------------------------------------------------------------------- trees


@attack(r"nodes\[40\]: is named by nodes\[39\] and by nodes\[39\]; a node may have one parent only")
def doubled_nodes(at: Path) -> Path:
    return write(at / "a.gltf", one_triangle(nodes=[{"children": [k + 1, k + 1]} for k in range(40)] + [{"mesh": 0}]))


@attack(r"nodes\[0\]: is named by the scene's list and by scenes\[0\]")
def one_root_many_times(at: Path) -> Path:
    return write(at / "a.gltf", one_triangle(scenes=[{"nodes": [0] * 400_000}]))


@attack("LOADED")
def meshes_of_nodes_that_are_not_drawn(at: Path) -> Path:
    """Quadratic: the targets of a mesh were counted for each of its nodes."""
    meshes = [{"primitives": [{"attributes": {"POSITION": 0}}]}, {"primitives": [{}] * 20_000}]
    return write(at / "a.gltf", one_triangle(meshes=meshes, nodes=[{"mesh": 0}] + [{"mesh": 1}] * 20_000))


@attack("LOADED")
def long_names(at: Path) -> Path:
    """A name is in the label of every draw: a megabyte in a thousand of them."""
    meshes = [{"primitives": [{"attributes": {"POSITION": 0}}] * 2000}]
    return write(at / "a.gltf", one_triangle(nodes=[{"mesh": 0, "name": "n" * 1_000_000}], meshes=meshes))


@attack(r"to frame it takes 600,038 moves of a vertex .* at most 6,2[\d,]+ are made for files of 7\d")
def morph_targets_of_many_places(at: Path) -> Path:
    vertices, targets, places = 300, 2000, 2000
    mesh = {"primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 0}] * targets}], "weights": [1] * targets}
    nodes = {"nodes": [{"mesh": 0}] * places, "scenes": [{"nodes": list(range(places))}]}
    return write(at / "a.gltf", document(accessors=[accessor(vertices)], meshes=[mesh]) | nodes)


@attack(r"draw \d+ \(mesh 0\): to frame it takes [\d,]+ moves .* place bent meshes less often")
def a_skinned_crowd(at: Path) -> Path:
    vertices, places = 20_000, 120
    drawn = {"attributes": {"POSITION": 0, "NORMAL": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}
    times = struct.pack("<8f", 0, 1, *[0] * 6)
    motion = {"samplers": [{"input": 3, "output": 4}], "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]}
    return write(at / "a.gltf", document(
        buffers=[{"byteLength": 32, "uri": data_uri(times)}],
        bufferViews=[{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 24}],
        accessors=[accessor(vertices), accessor(vertices, "VEC4", 5121), accessor(vertices, "VEC4"),
                   accessor(2, "SCALAR", bufferView=0), accessor(2, bufferView=1)],
        skins=[{"joints": [0]}], meshes=[{"primitives": [drawn]}], animations=[motion],
    ) | {"nodes": [{"mesh": 0, "skin": 0}] * places, "scenes": [{"nodes": list(range(places))}]})  # fmt: skip


@attack(r"a primitive that is drawn 1 times needs [\d,]+ MB; a model may take 512 MB \(512 MB and 1,000 times the \d+ B of its files\)")
def positions_of_nothing(at: Path) -> Path:
    return write(at / "a.gltf", document(accessors=[accessor(8_000_000)], **primitive()))


# -------------------------------------------------------------------------------------------------------- compressed data


@attack(r"bufferViews\[\d+\].EXT_meshopt_compression: with its 97.7 KiB the model has .* to decompress; at most .* 4 times its files")
def one_stream_in_many_views(at: Path) -> Path:
    triangles, views = 100_000, 60
    body = b"\xe1" + b"\xf0" * triangles + bytes(16)
    table = {"buffer": 0, "byteLength": len(body), "mode": "TRIANGLES", "count": 3 * triangles, "byteStride": 4}
    return write(at / "a.gltf", document(
        buffers=[{"byteLength": len(body), "uri": data_uri(body)}, {"byteLength": 12 * triangles}],
        bufferViews=[{"buffer": 1, "byteLength": 12 * triangles, "extensions": {MESHOPT: table}}] * views,
        accessors=[accessor(3, "SCALAR", 5125, bufferView=k) for k in range(views)] + [accessor(3)],
        meshes=[{"primitives": [{"attributes": {"POSITION": views}, "indices": k} for k in range(views)]}]))  # fmt: skip


def draco_primitive(**more: Any) -> dict[str, Any]:
    return {"attributes": {"POSITION": 0}, "indices": 1, "extensions": {DRACO: {"bufferView": 0, "attributes": {"POSITION": 0}}}, **more}


def draco_document(data: bytes, vertices: int, triangles: int, **more: Any) -> dict[str, Any]:
    return document(buffers=[{"byteLength": len(data), "uri": data_uri(data)}], bufferViews=[{"buffer": 0, "byteLength": len(data)}],
                    accessors=[accessor(vertices), accessor(3 * triangles, "SCALAR", 5125)], extensionsRequired=[DRACO],
                    meshes=[{"primitives": [draco_primitive()]}], **more)  # fmt: skip


def varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


@attack(r"primitives\[0\].KHR_draco_mesh_compression: a mesh of 50,000,000 triangles needs|drawn 1 times needs")
def a_draco_header_that_promises_much(at: Path) -> Path:
    data = b"DRACO\2\2\1\1\0\0\0" + varint(25_000_000) + varint(50_000_000) + bytes(20)
    return write(at / "a.gltf", draco_document(data, 3, 50_000_000))


@attack(r"KHR_draco_mesh_compression: has 50,000,000 triangles, and accessors\[1\], its indices, 3 elements; three for each are needed")
def a_draco_header_of_more_than_the_accessor(at: Path) -> Path:
    data = b"DRACO\2\2\1\0\0\0" + varint(50_000_000) + varint(25_000_000) + bytes(20)
    return write(at / "a.gltf", draco_document(data, 3, 1))


# --------------------------------------------------------------------------------------------------------------- pictures


@attack(r"images\[0\]: a picture of 7000x7000 pixels needs [\d,]+ MB; a model may take 5\d\d MB .* allow more with TILEGPU_MODEL_MEMORY_MB")
def a_one_colour_png(at: Path) -> Path:
    return write(at / "a.gltf", textured({"uri": data_uri(one_colour_png(7000, 7000))}))


@attack(r"images\[0\]: a picture of 16383x16383 pixels needs 7,167 MB; a model may take")
def a_webp_of_one_pixel(at: Path) -> Path:
    """Its decoder takes two canvasses when it is opened."""
    made = textured({"uri": data_uri(webp(16383, 16383))})
    return write(at / "a.gltf", made | {"textures": [{"extensions": {"EXT_texture_webp": {"source": 0}}}]})


@attack(r"images\[0\]: cannot be decoded: is a JPEG of 200 scans; at most 64 are read, each goes over all pixels; save it anew")
def a_jpeg_of_many_scans(at: Path) -> Path:
    return write(at / "a.gltf", textured({"uri": data_uri(jpeg(512, 512, 200))}))


@attack(r"images\[0\]: cannot be decoded: 16384x16384 pixels need 1,024 MiB")
def a_ktx_header(at: Path) -> Path:
    data = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 0, 1, 16384, 16384, 0, 0, 1, 1, 1) + bytes(200)
    made = textured({"uri": data_uri(data)})
    return write(at / "a.gltf", made | {"textures": [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]})


@attack(r"environment '.*sky.hdr': 900000x100 pixels need 1,373 MiB to be decoded; a file of .* may take 51\d MiB")
def a_sky_of_repetitions(at: Path) -> Path:
    return write(at / "sky.hdr", radiance(900_000, 100))


@attack(r"environment '.*sky.exr': 2048x2048 pixels need [\d,]+ MiB")
def a_sky_of_many_channels(at: Path) -> Path:
    exr = pytest.importorskip("OpenEXR")
    path = at / "sky.exr"
    header = {"compression": exr.ZIP_COMPRESSION, "type": exr.scanlineimage}
    with exr.File(header, {f"c{k}": np.zeros((256, 256), np.float16) for k in range(100)}) as file:
        file.write(str(path))
    data = path.read_bytes()
    small, large = (struct.pack("<4i", 0, 0, side, side) for side in (255, 2047))
    return write(path, data.replace(small, large))


@attack(r"can't read '.*t.png': 13000x13000 pixels need 2,579 MiB .*; if you trust it, decode it yourself and give the pixels as an array")
def a_texture_of_one_colour(at: Path) -> Path:
    return write(at / "t.png", one_colour_png(13000, 13000))


@attack(r"the scene: its materials and meshes differ in 406 ways that a shader has to know; at most 256 variants are compiled")
def a_shader_for_each_material(at: Path) -> Path:
    """Which maps there are, which of them share texture coordinates, whether they are cut out: each a compilation at the first picture."""
    slots = ("baseColorTexture", "metallicRoughnessTexture", "normalTexture", "occlusionTexture", "emissiveTexture")

    def choices(rest: int, used: int) -> list[list[int]]:  # of each map: none (-1), one of the coordinates so far, or the next
        if rest == 0:
            return [[]]
        return [[k, *more] for k in range(-1, used + 1) for more in choices(rest - 1, max(used, k + 1))]

    materials: list[dict[str, Any]] = []
    for chosen in choices(5, 0):
        maps = {slot: {"index": 0, "texCoord": k} for slot, k in zip(slots, chosen, strict=True) if k >= 0}
        plain = {slot: maps.pop(slot) for slot in slots[:2] if slot in maps}
        materials += [{"pbrMetallicRoughness": plain, "alphaMode": mode, **maps} for mode in ("OPAQUE", "MASK")]
    made = textured({"uri": data_uri(one_colour_png(4, 4))}, materials=materials)
    drawn = {"POSITION": 0, **{f"TEXCOORD_{k}": 1 for k in range(5)}}
    made["meshes"] = [{"primitives": [{"attributes": drawn, "material": k} for k in range(len(materials))]}]
    return write(at / "a.gltf", made)


# ------------------------------------------------------------------------------------------------------------------- text


@attack(r"its faces use 25,000 materials \(usemtl\); at most 20,000 are drawn")
def a_material_for_each_face(at: Path) -> Path:
    faces = "".join(f"usemtl m{k}\nf 1 2 3\n" for k in range(25_000))
    return write(at / "a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + faces)


@attack("LOADED")
def one_picture_of_many_materials(at: Path) -> Path:
    """The mipmaps were made for each of them, and the picture read under each of its spellings."""
    from PIL import Image

    picture = Image.new("RGB", (1024, 1024))
    picture.putpixel((0, 0), (1, 2, 3))
    picture.save(at / "a.png")
    write(at / "m.mtl", "".join(f"newmtl m{k}\nmap_Kd {'./' * k}a.png\n" for k in range(200)))
    faces = "".join(f"usemtl m{k}\nf 1/1 2/2 3/3\n" for k in range(400))  # the later ones have none: the picture beside the model
    return write(at / "a.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n" + faces)


@attack(r"material 'm' of 'm.mtl': its map has 900,005 characters; at most 8,192 are read")
def a_map_of_options(at: Path) -> Path:
    """Quadratic: what is behind an option was copied for each."""
    write(at / "m.mtl", f"newmtl m\nmap_Kd {'-s 1 1 1 ' * 100_000}a.png\n")
    return write(at / "a.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n")


@attack("element 'vertex' has the property 'z' twice")
def a_property_twice(at: Path) -> Path:
    head = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty uchar z\n"
    head += b"property float z\nproperty list uchar uchar q\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    rows = b"".join(struct.pack("<ffBfB", 0, 0, 0, 0, k) + bytes(k) for k in range(3))
    return write(at / "a.ply", head + rows + struct.pack("<B3i", 3, 0, 1, 2))


@attack(r"nodes\[0\]: children is \{'a': \{'a': .*\.\.\.")
def a_deep_value(at: Path) -> Path:
    text = json.dumps(one_triangle(nodes=[{"mesh": 0, "children": "@"}]))
    return write(at / "a.gltf", text.replace('"@"', '{"a":' * 900 + "1" + "}" * 900))


@attack("not JSON and not GLB")
def deep_json(at: Path) -> Path:
    return write(at / "a.gltf", '{"asset":{"version":"2.0"},"a":' + "[" * 2_000_000)


@attack(r"extensionsRequired names x+ \.*, x+.* and 99,992 more|and 99,992 more, which is not supported")
def many_extensions(at: Path) -> Path:
    return write(at / "a.gltf", one_triangle(extensionsRequired=[f"x{k}" for k in range(100_000)]))


@attack(r"byteOffset is 9+\.\.\.9+; a non-negative integer is needed, at most 2\^53")
def a_number_of_four_thousand_digits(at: Path) -> Path:
    text = json.dumps(one_triangle(accessors=[accessor(3, bufferView=0, byteOffset=7)]))
    return write(at / "a.gltf", text.replace('"byteOffset": 7', '"byteOffset": ' + "9" * 4299))


CHILD = """
import json, resource, sys, warnings
import numpy, PIL.Image
import tilegpu as tg
from tilegpu.scene import Environment
from tilegpu.scene.model import load_model
device = tg.Device(threads=1)
with open("/proc/self/statm") as stream:
    have_B = int(stream.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (have_B + int(sys.argv[1]),) * 2)
warnings.simplefilter("ignore")
out = {}
for name, path in json.load(sys.stdin).items():
    try:
        if path.endswith((".hdr", ".exr")):
            Environment.read(path)
        elif path.endswith(".png"):
            device.texture(path)
        else:
            load_model(path).frame((32, 32))
        out[name] = "LOADED"
    except (ValueError, tg.Error) as error:
        out[name] = str(error)
    except BaseException as error:
        out[name] = f"{type(error).__name__}: {error} (not an error that says what is wrong)"
print(json.dumps(out))
"""


def test_small_files_that_ask_for_much(tmp_path: Path) -> None:
    pytest.importorskip("OpenEXR")
    paths: dict[str, str] = {}
    for name, (make, _) in ATTACKS.items():
        (tmp_path / name).mkdir()
        paths[name] = str(make(tmp_path / name))
    ran = subprocess.run([sys.executable, "-c", CHILD, str(LIMIT_B)], input=json.dumps(paths), capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    wrong = {}
    for name, message in json.loads(ran.stdout).items():
        named_and_short = f"/{name}/" in message and len(message) < 1500
        if not re.search(ATTACKS[name][1], message, re.DOTALL) or not (named_and_short or message == "LOADED"):
            wrong[name] = message[:1500]
    assert not wrong, "\n".join(f"{name}: {message}" for name, message in wrong.items())


# ------------------------------------------------------------------------------------------------------------- the budgets


def test_a_model_may_take_what_its_files_are_worth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(tmp_path / "a.gltf")
    assert budget.limit_B == files.LEAST_B
    budget.read(1 << 20, "the file", "reading", again=False)
    assert budget.limit_B == files.LEAST_B + files.TIMES * (1 << 20) == files.allowed_B(1 << 20)
    budget.read(1 << 20, "buffers[0]", "reading", again=True)  # the same file: its bytes count once, what is kept of them twice
    assert budget.limit_B == files.allowed_B(1 << 20) and budget.used_B == 2 << 20
    budget.read(100 << 20, "buffers[1]", "reading", again=False)
    assert budget.limit_B == 4096 << 20  # never more
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "9000")
    assert Budget(tmp_path / "a.gltf").limit_B == 9000 << 20  # whatever the files have


def test_each_file_counts_once(tmp_path: Path) -> None:
    b = Builder().mesh()
    write(tmp_path / "a.bin", b.data + bytes(10_000))
    buffers = [{"byteLength": 36, "uri": uri} for uri in ("a.bin", "./a.bin", "a.bin")]
    path = write(tmp_path / "a.gltf", b.json | {"buffers": buffers, "bufferViews": [{"buffer": k, "byteLength": 36} for k in range(3)]})
    from tilegpu.scene.gltf import Document

    document = Document.load(path)
    for k in range(3):
        document.buffer(k, "here")
    assert document.budget.files_B == path.stat().st_size + (tmp_path / "a.bin").stat().st_size


def test_draco_is_decoded_once_for_all_primitives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draco = pytest.importorskip("DracoPy")
    from tilegpu.scene.draco import DracoDecoder

    k = np.arange(50, dtype=np.uint32)
    data = draco.encode(np.random.default_rng(1).random((52, 3)), np.stack([k, k + 1, k + 2], 1), preserve_order=True)
    made = draco_document(data, 52, 50) | {"meshes": [{"primitives": [draco_primitive()] * 40}]}
    calls, decode = [], DracoDecoder.mesh
    monkeypatch.setattr(DracoDecoder, "mesh", lambda *given: calls.append(1) or decode(*given))
    assert len(load_model(write(tmp_path / "a.gltf", made)).parts) == 40 and len(calls) == 1


def draco_of_many_attributes(count: int) -> dict[str, Any]:
    """A document of 30,000 vertices, none of whose attributes is named: 127 components each, all 0, which take some ten bytes."""
    draco = pytest.importorskip("DracoPy")
    k = np.arange(29_998, dtype=np.uint32)
    points = np.stack([np.arange(30_000.0), np.zeros(30_000), np.zeros(30_000)], 1)
    more = {10 + n: np.zeros((30_000, 127), "u1") for n in range(count)}
    data = draco.encode(points, np.stack([k, k + 1, k + 2], 1), preserve_order=True, generic_attributes=more)
    made = draco_document(data, 30_000, 29_998)
    made["meshes"][0]["primitives"][0]["extensions"][DRACO]["attributes"]["POSITION"] = 10 + count  # the first number that is free
    return made


@pytest.mark.skipif(SANITIZED, reason="the address space of its decoder can't be limited")
def test_attributes_of_draco_that_nobody_asks_for_are_within_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.gltf", draco_of_many_attributes(10))
    assert len(load_model(path).parts[0].vertices) == 89_994  # flat triangles
    monkeypatch.setenv("TILEGPU_MODEL_MEMORY_MB", "24")
    with pytest.raises(ModelError, match=r"decoding it takes more than the \d\d MB that are left to the model; allow more with TILEGPU_"):
        load_model(path)


def test_a_decoder_of_draco_that_ends_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.gltf", draco_of_many_attributes(1))
    from tilegpu.scene import draco

    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    for text, message in ((crash, rf"its decoder ended \(by signal {CRASH}\)"), ("", "its decoder ended$")):
        worker = tmp_path / "worker.py"
        worker.write_text(text)
        with monkeypatch.context() as changed:
            changed.setattr(draco, "_WORKER", worker)
            with pytest.raises(ModelError, match=message):
                load_model(path)
    assert len(load_model(path).parts) == 1


def test_a_program_around_the_decoder_of_draco(tmp_path: Path) -> None:
    """A child by fork while the error of a broken stream is kept, paths that are no text, SIGPIPE that ends programs, no decoder."""
    good = write(tmp_path / "a.gltf", draco_of_many_attributes(1))
    broken = json.loads(good.read_text())
    uri = broken["buffers"][0]["uri"]
    broken["buffers"][0]["uri"] = uri[: len(uri) // 2] + "A" * (len(uri) - len(uri) // 2 - 2) + uri[-2:]
    bad = write(tmp_path / "b.gltf", broken)
    program = f"""
        import gc, os, pathlib, signal, sys, warnings
        from tilegpu.scene.model import load_model
        from tilegpu.scene.model_file import ModelError
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        sys.path.append(pathlib.Path("/tmp"))
        kept = None
        try:
            load_model({str(bad)!r})
        except ModelError as error:
            kept = error
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            kept = None
            gc.collect()
            os._exit(len(load_model({str(good)!r}).parts))
        print(kept is not None, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        for sys.executable in ("/bin/true", "/nothing/python"):
            try:
                load_model({str(good)!r})
            except ModelError as error:
                print(str(error).partition("its decoder")[2].partition(":")[0])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["True 1", " ended", ", /nothing/python, can't be started"], done


@pytest.mark.parametrize("level", range(0, 11, 2))
def test_the_header_of_draco_says_what_decoding_gives(level: int) -> None:
    draco = pytest.importorskip("DracoPy")
    from tilegpu.scene.draco import draco_counts

    k = np.arange(300, dtype=np.uint32)
    faces, points = np.stack([k, k + 1, k + 2], 1), np.random.default_rng(level).random((302, 3))
    for order in (False, True):
        data = draco.encode(points, faces, compression_level=level, preserve_order=order)
        mesh = draco.decode(data)
        triangles, vertices = draco_counts(data)
        assert triangles == len(mesh.faces) and 0 < vertices <= len(mesh.points)
    data = draco.encode(points, faces, compression_level=level, preserve_order=True)
    entry = b"\1" + b"\4name" + b"\3abc" + b"\0"  # one entry, nothing nested
    tagged = data[:9] + b"\0\x80" + b"\1\0" + entry + b"\0\0" + data[11:]  # of attribute 0; none of the file
    assert draco_counts(tagged) == draco_counts(data) and len(draco.decode(tagged).faces) == 300
    for wrong, message in ((b"DRACO", "no Draco"), (data[:12], "ends within"), (data[:5] + b"\1\2" + data[7:], "version 1.2; 2.2 is read"),
                           (data[:7] + b"\0" + data[8:], "cloud of points")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            draco_counts(wrong)


def test_what_a_file_says_is_shown_shortly() -> None:
    deep: Any = 0
    for _ in range(5000):
        deep = [deep]
    for value in (deep, "x" * 10**6, {str(k): k for k in range(10**5)}, 10**4000):
        assert len(shown(value)) < 500
    assert shown("a.png") == "'a.png'" and shown(3) == "3"
    assert named("n" * 1000, "") == "n" * 120 + "..." and named(None, "mesh 3") == named("", "mesh 3") == "mesh 3"


def test_bytes_for_people() -> None:
    sizes = (0, 1023, 1024, 1599, 150_000, (1 << 20) - 1, 1 << 20, 512 << 20, 7 << 30)
    assert [files.size_text(size) for size in sizes] == [
        "0 B", "1,023 B", "1.00 KiB", "1.56 KiB", "146 KiB", "1,024 KiB", "1.00 MiB", "512 MiB", "7,168 MiB"
    ]  # fmt: skip


# --------------------------------------------------------------------------------------------------- strips keep the bits


def test_mipmaps_by_strips_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = np.random.default_rng(2)
    for _ in range(40):
        height, width = (int(n) for n in choose.integers(1, 40, 2))
        pixels = choose.integers(0, 256, (height, width, 4), dtype=np.uint8)
        for srgb in (False, True):
            levels = {}
            for texels in (1, 37, 1 << 30):
                monkeypatch.setattr(mipmaps, "_STRIP_TEXELS", texels)
                levels[texels] = [level.tobytes() for level in mipmaps.mip_chain(pixels, srgb)]
            assert levels[1] == levels[37] == levels[1 << 30]


def test_skies_by_strips_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilegpu.scene import environment

    values = (np.random.default_rng(3).random((70, 130, 3)) ** 8 * 1e5 - 10).astype("f4")
    wanted = {(64, 128), (8, 16), (70, 130)}
    whole = environment._shrunk(values, wanted)
    monkeypatch.setattr(environment, "_STRIP_VALUES", 70 * 7)
    monkeypatch.setattr(environment, "_STRIP_px", 9)
    strips = environment._shrunk(values, wanted)
    assert all(strips[size].tobytes() == whole[size].tobytes() for size in wanted)
    assert np.array_equal(whole[70, 130], values.astype("f8").clip(0, 65504))


def test_a_sky_of_the_same_content_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilegpu.scene.environment._filtered", lambda *_: [np.zeros((1, 1, 4), np.float16)] * 6)  # which takes a second
    monkeypatch.setattr("tilegpu.scene.environment._read", {})
    path = write(tmp_path / "sky.hdr", radiance(64, 32))
    first = Environment.read(path)
    assert Environment.read(path) is first
    write(path, radiance(64, 33))
    other = Environment.read(path)
    assert other is not first and Environment.read(path) is other
    write(path, radiance(64, 32))
    assert Environment.read(path) is first
    (tmp_path / "named otherwise.hdr").write_bytes(path.read_bytes())
    assert Environment.read(tmp_path / "named otherwise.hdr").name == "named otherwise.hdr"
    path.unlink()
    with pytest.raises(HdrError, match="cannot be read"):
        Environment.read(path)


def test_large_pictures_that_are_worth_it_are_read() -> None:
    assert read_radiance(radiance(3000, 1000)).shape == (1000, 3000, 3)
    with files.open_picture(one_colour_png(5700, 5700)) as picture:
        assert picture.size == (5700, 5700)
    with pytest.raises(ValueError, match="6000x6000 pixels need 549 MiB"):
        files.open_picture(one_colour_png(6000, 6000))
    with pytest.raises(ModelError):
        load_model("nowhere.gltf")
