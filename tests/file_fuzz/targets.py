"""The targets. In: bytes. Out: nothing, or an exception that says what is wrong with tilegpu."""

from __future__ import annotations

import os
import random
import struct
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.file_fuzz.known_meshes import difference, known_mesh  # noqa: E402
from tests.test_argument_kinds import World  # noqa: E402
from tests.test_gltf_compressed import compressed as compressed_view  # noqa: E402
from tests.test_gltf_compressed import save, textured  # noqa: E402

import tilegpu as tg  # noqa: E402
from gltf_documents import Builder  # noqa: E402
from tilegpu.farm.job import FarmError  # noqa: E402
from tilegpu.farm.manifest import read_manifest  # noqa: E402
from tilegpu.hdr import HdrError, read_hdr  # noqa: E402
from tilegpu.scene.draco import DracoError, draco_counts  # noqa: E402
from tilegpu.scene.meshopt import FILTERS, MODES  # noqa: E402
from tilegpu.scene.model import load_model  # noqa: E402
from tilegpu.scene.model_file import ModelError  # noqa: E402

#: A file of some kilobytes is read within this, by the processor's clock; sanitizers and busy machines are slower.
SECONDS = 10.0
MODEL_MEMORY_MB = "256"
SIZE_PX = (16, 16)
T = TypeVar("T")


@cache
def folder() -> Path:
    """Of this process; with the files that models name."""
    path = Path(tempfile.mkdtemp(prefix="tilegpu_fuzz_"))
    (path / "m.mtl").write_text("newmtl m\nKd 1 0 0\nmap_Kd p.png\n")
    (path / "p.png").write_bytes(png())
    (path / "a.bin").write_bytes(struct.pack("<9f3H", *range(9), 0, 1, 2) + bytes(200))
    return path


def png() -> bytes:
    """Two pixels by two."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes([k, 99, 7] * 2) for k in range(2))
    head = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@cache
def device() -> tg.Device:
    return tg.Device(threads=1, cache_dir="off")


def _file(name: str, data: bytes) -> Path:
    path = folder() / name
    path.write_bytes(data)
    return path


def _within_time(data: bytes, read: Callable[[], object]) -> None:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of NumPy's: a number that nobody looked at
        warnings.simplefilter("ignore", UserWarning)
        read()
    took = time.process_time() - start
    assert took < SECONDS, f"{len(data)} bytes took {took:.0f} s"


def _model(name: str, data: bytes) -> None:
    os.environ["TILEGPU_MODEL_MEMORY_MB"] = MODEL_MEMORY_MB
    path = _file(name, data)

    def read() -> None:
        try:
            load_model(path).frame(SIZE_PX)
        except ModelError as error:
            assert name in str(error), f"an error without the file's name: {error}"

    _within_time(data, read)


def gltf(data: bytes) -> None:
    _model("a.gltf", data)


def glb(data: bytes) -> None:
    _model("b.glb", data)


def obj(data: bytes) -> None:
    _model("c.obj", data)


def ply(data: bytes) -> None:
    _model("d.ply", data)


def stl(data: bytes) -> None:
    _model("e.stl", data)


def meshes(data: bytes) -> None:
    """A mesh that is known, in a file of any format: what is read is what was written."""
    known = known_mesh(random.Random(data), folder())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is no larger than a point
        (part,) = load_model(_file(known.name, known.data)).parts
    wrong = difference(known, part)
    assert not wrong, f"{known.name}: {wrong}"


def compressed(data: bytes) -> None:
    """A stream of meshoptimizer, Draco or Basis Universal, by the first byte, in a document that says of it what is true."""
    kind, rest = data[0] % 3 if data else 0, data[1:]
    b = Builder()
    if kind == 0:  # mode, filter, elements, a fourth of the stride
        mode, filter_name = MODES[rest[0] % 3 if rest else 0], FILTERS[rest[1] % 4 if len(rest) > 1 else 0]
        count, step = int.from_bytes(rest[2:4], "little"), (rest[4] if len(rest) > 4 else 0) * 4 % 256 or 4
        step, filter_name = (step, filter_name) if mode == "ATTRIBUTES" else (2 + (step & 2), "NONE")
        count -= count % 3 if mode == "TRIANGLES" else 0
        view = compressed_view(b, {"mode": mode, "filter": filter_name, "count": count, "stride": step}, rest[5:] or b"\0")
        shape = ("SCALAR", 5123 if step == 2 else 5125) if mode != "ATTRIBUTES" else ("VEC3", 5126)
        b.json["accessors"].append({"bufferView": view, "componentType": shape[1], "count": count, "type": shape[0]})
        places = b.accessor(np.zeros((64, 3), "f4")) if mode != "ATTRIBUTES" else 0
        b.mesh(**({} if mode == "ATTRIBUTES" else {"indices": 0}), attributes={"POSITION": places})
        b.json["extensionsRequired"] = b.json["extensionsUsed"] = ["EXT_meshopt_compression"]
    elif kind == 1:
        try:
            triangles = draco_counts(rest)[0]
        except DracoError:
            triangles = 0
        accessors = [(5126, 36, "VEC3"), (5126, 36, "VEC3"), (5123, triangles * 3, "SCALAR")]
        b.json["accessors"] = [dict(zip(("componentType", "count", "type"), one, strict=True)) for one in accessors]
        extension = {"bufferView": b.view(rest or b"\0"), "attributes": {"POSITION": 6, "NORMAL": 7}}  # as DracoPy numbers them
        b.mesh(indices=2, attributes={"POSITION": 0, "NORMAL": 1}, extensions={"KHR_draco_mesh_compression": extension})
        b.json["extensionsRequired"] = b.json["extensionsUsed"] = ["KHR_draco_mesh_compression"]
    else:
        b = textured({"extensions": {"KHR_texture_basisu": {"source": 0}}}, rest or b"\0")
        b.json["extensionsRequired"] = ["KHR_texture_basisu"]
    path = folder() / "m.gltf"
    save(b, path.with_name("m.glb"))
    _model("m.gltf", path.read_bytes())


def picture(data: bytes) -> None:
    """Whatever Pillow may be asked to read."""
    path = _file("f.png", data)

    def read() -> None:
        try:
            texture = device().texture(path)
            assert np.asarray(texture.image.numpy()).size
        except tg.Error as error:
            assert "f.png" in str(error), f"an error without the file's name: {error}"

    _within_time(data, read)


def radiance(data: bytes) -> None:
    path = _file("g.hdr", data)

    def read() -> None:
        try:
            pixels = read_hdr(path)
            assert pixels.ndim == 3 and pixels.shape[2] == 3
        except HdrError as error:
            assert "g.hdr" in str(error), f"an error without the file's name: {error}"

    _within_time(data, read)


def manifest(data: bytes) -> None:
    """A manifest, or where the first byte is odd a journal of one."""
    name = "h.part" if data[:1] and data[0] & 1 else "h.json"
    path = _file(name, data[1:])

    def read() -> None:
        try:
            read_manifest(path)
        except FarmError as error:
            assert name in str(error), f"an error without the file's name: {error}"

    _within_time(data, read)


class Chooser:
    """As much of ``random.Random`` as :class:`World` asks for, out of bytes; zeros behind their end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def randrange(self, stop: int) -> int:
        """One byte decides among 256 or fewer."""
        value = self.data[self.at] if self.at < len(self.data) else 0
        self.at += 1
        return value % stop

    def randint(self, first: int, last: int) -> int:
        return first + self.randrange(last - first + 1)

    def random(self) -> float:
        return self.randrange(256) / 256

    def choice(self, items: Sequence[T]) -> T:
        return items[self.randrange(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        left = list(items)
        return [left.pop(self.randrange(len(left))) for _ in range(count)]


@cache
def _world() -> World:
    return World(1)


CALLS = 12


def api(data: bytes) -> None:
    """A few calls in a row with arguments of any kind, on objects that stay."""
    world = _world()
    chooser: Any = Chooser(data)
    world.random = chooser
    calls = world.calls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            if chooser.at >= len(data):
                break
            number = chooser.randrange(len(calls))
            try:
                calls[number]()
            except tg.Error as error:
                assert str(error), f"call {number}: an error without a word"


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (gltf, glb, obj, ply, stl, meshes, compressed, picture, radiance, manifest, api)
}
