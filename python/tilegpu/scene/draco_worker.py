"""The process in which Draco bitstreams are decoded: ``python -I -S draco_worker.py``. Imports nothing of tilegpu's.

In, by stdin: a line of JSON with ``sys.path``; requests, a line of JSON each (``size_B``; ``wanted``, numbers of attributes; ``room_B``,
bytes of memory), and the stream. Out, by stdout: a line of JSON (``error``, or ``numbers`` of the attributes, and ``arrays``, types and
shapes), and the arrays' bytes: the triangles, and of the attributes those that are wanted, in the order of ``numbers``.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

NO_MEMORY = "memory"


def decode(data: bytes, wanted: list[int]) -> tuple[dict[str, Any], list[Any]]:
    """The answer to a request, and its arrays."""
    import DracoPy
    import numpy as np

    try:
        mesh = DracoPy.decode(data)
    except MemoryError:
        return {"error": NO_MEMORY}, []
    except (DracoPy.FileTypeException, ValueError, RuntimeError) as error:
        return {"error": f"Draco can't decode it: {error}"}, []
    if getattr(mesh, "faces", None) is None:
        return {"error": "it is a cloud of points; a mesh is needed"}, []
    found = {int(one["unique_id"]): one["data"] for one in mesh.attributes}
    arrays = [np.ascontiguousarray(array) for array in (mesh.faces, *(found[number] for number in found if number in wanted))]
    return {"numbers": list(found), "arrays": [(array.dtype.str, array.shape) for array in arrays]}, arrays


def _limit(room_B: int) -> None:
    """No more memory than what the process has, and this."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        here_B = int(file.read().split()[0]) * resource.getpagesize()
    most_B = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted_B = here_B + room_B
    resource.setrlimit(resource.RLIMIT_AS, (wanted_B if most_B == resource.RLIM_INFINITY else min(wanted_B, most_B), most_B))


def main() -> None:
    """Answer until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, which it is sent to as well: who asks ends this process
    sys.path[:] = json.loads(sys.stdin.buffer.readline())
    import DracoPy  # noqa: F401
    import numpy  # noqa: F401

    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        data = sys.stdin.buffer.read(request["size_B"])
        _limit(request["room_B"])
        try:
            answer, arrays = decode(data, request["wanted"])
        except MemoryError:
            answer, arrays = {"error": NO_MEMORY}, []
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        for array in arrays:
            sys.stdout.buffer.write(memoryview(array).cast("B"))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
