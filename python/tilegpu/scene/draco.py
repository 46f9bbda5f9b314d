"""Draco bitstreams. In: bytes of a file. Out: what their header promises, and triangles and attributes as arrays.

The decoder is DracoPy's (``pip install "tilegpu[gltf]"``), native code that makes room for whatever a stream says: attributes that nobody
asks for, of 127 components, 2.4 GB from 30 kB. It works in a process of its own (``draco_worker.py``) with as much memory as the model has
left; a crash there is an error here. Where Python has no program of its own (a frozen application), it works in this process, without a
bound.
Source: "Draco Bitstream Specification", version 2.2.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilegpu import Error
from tilegpu.scene.draco_worker import NO_MEMORY, decode
from tilegpu.scene.model_file import MEMORY_VARIABLE
from tilegpu.scene.packages import Array, MissingPackage

_WORKER = Path(__file__).with_name("draco_worker.py")


class DracoError(Error, ValueError):
    """What is wrong with a Draco bitstream."""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of 7 bits a byte, and where the next thing begins."""
    value = 0
    for k in range(5):
        byte = data[at + k]
        value |= (byte & 127) << 7 * k
        if byte < 128:
            return value, at + k + 1
    raise DracoError("it has a number of more than 32 bits")


def _skip_metadata(data: bytes, at: int, depth: int = 0) -> int:
    """Entries and nested metadata: names of one byte's length, values of a number's."""
    if depth > 8:
        raise DracoError("its metadata lies deeper than 8")
    count, at = _varint(data, at)
    for _ in range(min(count, len(data))):
        at += 1 + data[at]
        size, at = _varint(data, at)
        at += size
    count, at = _varint(data, at)
    for _ in range(min(count, len(data))):
        at = _skip_metadata(data, at + 1 + data[at], depth + 1)
    return at


def draco_counts(data: bytes) -> tuple[int, int]:
    """How many triangles and vertices (at least) the header of a Draco mesh says, before anything is decoded. Raises :class:`DracoError`.

    Source: "Draco Bitstream Specification", version 2.2 (header, metadata, beginnings of the two kinds of connectivity); glTF's extension
    asks for that version.
    """
    if data[:5] != b"DRACO" or len(data) < 12:
        raise DracoError("it is no Draco bitstream")
    if data[5:7] != b"\2\2":
        raise DracoError(f"it is of version {data[5]}.{data[6]}; 2.2 is read")
    if data[7] != 1:
        raise DracoError("it is a cloud of points; a mesh is needed")
    method, flags, at = data[8], data[9] | data[10] << 8, 11
    try:
        if flags & 0x8000:
            count, at = _varint(data, at)
            for _ in range(min(count, len(data))):
                at = _skip_metadata(data, _varint(data, at)[1])
            at = _skip_metadata(data, at)
        if method == 0:  # sequential
            triangles, at = _varint(data, at)
            return triangles, _varint(data, at)[0]
        vertices, at = _varint(data, at + 1)  # edgebreaker: behind the kind of traversal
        return _varint(data, at)[0], vertices
    except IndexError:
        raise DracoError("it ends within its header") from None


@dataclass
class DracoMesh:
    """What a stream holds: ``indices`` (n,), those ``attributes`` by their number that were asked for, (V, components), and which
    ``numbers`` it has."""

    indices: Array
    attributes: dict[int, Array]
    numbers: list[int]


class DracoDecoder:
    """Decodes in a process, which is started with the first stream and ends with :meth:`close`, or with this object."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._owner = 0  #: the process whose child it is

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next stream starts another. In a child by fork it is the parent's, and goes on."""
        process, self._process = self._process, None
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()
        if process is None:
            return
        if self._owner == os.getpid():
            process.kill()
            process.wait()
        else:
            process.returncode = 0  # nobody's to wait for

    def mesh(self, data: bytes, wanted: list[int], room_B: int) -> DracoMesh:
        """A stream's triangles, and those of the attributes ``wanted`` that it has. ``room_B``: memory that decoding may take. Raises
        :class:`DracoError` for what is no mesh, or takes more, and :class:`MissingPackage`."""
        if not _is_there("DracoPy"):
            raise MissingPackage("DracoPy", "KHR_draco_mesh_compression")
        if getattr(sys, "frozen", False) or not sys.executable:
            answer, arrays = decode(data, wanted)
        else:
            try:
                answer, arrays = self._ask(data, wanted, room_B)
            except BaseException:  # Ctrl-C too: what the process still says is nobody's
                self.close()
                raise
        if answer.get("error") == NO_MEMORY:
            left = f"{room_B >> 20:,} MB that are left to the model"
            raise DracoError(f"decoding it takes more than the {left}; allow more with {MEMORY_VARIABLE}")
        if "error" in answer:
            raise DracoError(answer["error"])
        held = [number for number in answer["numbers"] if number in wanted]
        return DracoMesh(arrays[0].reshape(-1), dict(zip(held, arrays[1:], strict=True)), answer["numbers"])

    def _start(self) -> socket.socket:
        here, there = socket.socketpair()
        try:
            command = [sys.executable, "-I", "-S", str(_WORKER)]
            self._process = subprocess.Popen(command, stdin=there.fileno(), stdout=there.fileno(), stderr=subprocess.DEVNULL)
        except BaseException:
            here.close()
            raise
        finally:
            there.close()
        self._socket, self._owner = here, os.getpid()
        return here

    def _ask(self, data: bytes, wanted: list[int], room_B: int) -> tuple[dict[str, Any], list[Array]]:
        if self._owner != os.getpid():
            self.close()
        is_new = self._socket is None
        try:
            connection = self._socket or self._start()
        except (OSError, ValueError) as error:
            raise DracoError(f"its decoder, {sys.executable}, can't be started: {error}") from error
        process = self._process
        assert process is not None
        try:
            if is_new:
                _send(connection, json.dumps([path for path in sys.path if type(path) is str]).encode() + b"\n")
            _send(connection, json.dumps({"size_B": len(data), "wanted": wanted, "room_B": room_B}).encode() + b"\n" + data)
            with connection.makefile("rb") as answers:
                line = answers.readline()
                answer: dict[str, Any] = json.loads(line) if line else {}
                kinds = [(np.dtype(kind), tuple(shape)) for kind, shape in answer.get("arrays", ())]
                sizes_B = [int(kind.itemsize * np.prod(shape, dtype=np.int64)) for kind, shape in kinds]
                if sum(sizes_B) > room_B:
                    raise DracoError(f"what it holds takes {sum(sizes_B) >> 20:,} MB; {room_B >> 20:,} are left to the model")
                arrays = []
                for (kind, shape), size_B in zip(kinds, sizes_B, strict=True):
                    arrays.append(np.frombuffer(answers.read(size_B), kind).reshape(shape))
        except (OSError, ValueError) as error:
            if isinstance(error, DracoError):
                raise
            answer, arrays = {}, []
        if "error" not in answer and not arrays:
            self.close()
            code = process.returncode
            raise DracoError(f"its decoder ended (by signal {-code})" if code < 0 and code != -signal.SIGKILL else "its decoder ended")
        return answer, arrays


def _send(connection: socket.socket, data: bytes) -> None:
    """A worker that has ended is an error, also where the program lets SIGPIPE end it."""
    connection.sendall(data, socket.MSG_NOSIGNAL)


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # imported, without a word of where it comes from
        return True
