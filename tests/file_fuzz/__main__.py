"""``python -m tests.file_fuzz TARGET [FOLDER ...] [libFuzzer's options]``: Atheris on one of the targets, with tilegpu's own code watched.

New cases go to the first folder. Documents are changed as documents half of the time: a value at any place becomes another one.
"""

from __future__ import annotations

import gc
import importlib
import json
import pkgutil
import random
import struct
import sys
import types
from pathlib import Path
from typing import Any

import atheris

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.file_fuzz.targets import TARGETS  # noqa: E402
from tests.test_gltf import ODD, places, with_oddity  # noqa: E402
from tests.test_model_attack import WORDS, mutated  # noqa: E402

import tilegpu  # noqa: E402

JSON_CHUNK = 0x4E4F534A


def watch() -> int:
    """Functions of tilegpu's that report what they reach. Atheris's own hook of imports does not see an editable package's modules."""
    for name in ("tilegpu.scene", "tilegpu.farm"):
        for module in pkgutil.iter_modules([str(Path(tilegpu.__file__).parent / name.partition(".")[2])]):
            importlib.import_module(f"{name}.{module.name}")
    count = 0
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType) and (function.__module__ or "").startswith("tilegpu"):
            atheris.instrument_func(function)
            count += 1
    return count


def changed_document(text: str, choose: random.Random) -> str:
    """One to three values become odd ones, or what stands at another place."""
    document = json.loads(text)
    for _ in range(choose.randint(1, 3)):
        all_places = list(places(document))
        if not all_places:
            break
        at = choose.choice(all_places)
        odd: Any = choose.choice([*ODD, "missing", 0, 2, 3, 5121, 5125, 5126])
        if choose.random() < 0.3:
            odd = document
            for key in choose.choice(all_places):
                odd = odd[key]
        document = with_oddity(json.dumps(document), at, odd)
    return json.dumps(document)


def changed_glb(data: bytes, choose: random.Random) -> bytes:
    """The document in it, with lengths that fit it again."""
    size, kind = struct.unpack_from("<II", data, 12)
    if kind != JSON_CHUNK:
        raise ValueError
    text = changed_document(data[20 : 20 + size].decode(), choose).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size :]
    return struct.pack("<III", 0x46546C67, 2, 20 + len(text) + len(rest)) + struct.pack("<II", len(text), kind) + text + rest


def main() -> None:
    name = sys.argv[1]
    target = TARGETS[name]
    assert watch() > 1000

    def change(data: bytes, most_B: int, seed: int) -> bytes:
        choose = random.Random(seed)
        way = choose.random()
        try:
            if name in ("gltf", "manifest") and way < 0.5:
                first = data[:1] if name == "manifest" else b""
                return (first + changed_document(data[len(first) :].decode(), choose).encode())[:most_B]
            if name == "glb" and way < 0.5:
                return changed_glb(data, choose)[:most_B]
        except (ValueError, TypeError, KeyError, IndexError, RecursionError, struct.error):
            pass
        if name in ("gltf", "obj", "ply", "stl", "radiance") and way < 0.75 and WORDS:
            return mutated(data, choose)[:most_B]
        return atheris.Mutate(data, min(most_B, max(len(data) * 2, 64)))

    # libFuzzer takes what follows the target's name.
    atheris.Setup([sys.argv[0], *sys.argv[2:]], lambda data: target(data), custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
