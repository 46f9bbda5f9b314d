"""What the system can do for a library that runs code of its own making: its files as they are linked, its pages as they are mapped."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.sanitized import SANITIZED

import tilegpu._core as core

FOLDER = Path(core.__file__).parent
FILES = [Path(core.__file__), FOLDER / "libtilegpu.so", FOLDER / "tilegpu-compiler"]

pytestmark = pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed (binutils)")


def readelf(option: str, path: Path) -> str:
    return subprocess.run(["readelf", "-W", option, str(path)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_files_are_linked_with_what_protects_them(path: Path) -> None:
    """RELRO with all symbols bound at the start (no table of functions can be written later), no stack that is executable, no code that is
    relocated, no page of the file that is writable and executable."""
    segments, dynamic = readelf("-l", path), readelf("-d", path)
    assert "GNU_RELRO" in segments
    assert "BIND_NOW" in dynamic or re.search(r"FLAGS_1.*\bNOW\b", dynamic)
    assert re.search(r"GNU_STACK\s+(?:0x[0-9a-f]+\s+){5}RW\s", segments)
    assert "TEXTREL" not in dynamic
    flags = re.findall(r"^\s*LOAD\s+(?:0x[0-9a-f]+\s+){5}([RWE ]{3})", segments, re.MULTILINE)
    assert len(flags) >= 3 and not any("W" in f and "E" in f for f in flags)
    assert "Type:" in (header := readelf("-h", path)) and "DYN" in header  # a library, or a program at a random place
    # Functions with arrays on the stack look whether their return is whole; the compiler's own main has none. AddressSanitizer does it too.
    if path.suffix == ".so" and not SANITIZED:
        assert "__stack_chk_fail" in readelf("--dyn-syms", path)
    for runpath in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", dynamic):
        assert runpath == "$ORIGIN", "libraries are looked for beside the file and nowhere else"


def test_no_page_is_writable_and_executable() -> None:
    """While code is made, and after: by threads in the background, of pipelines that are gone."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(WATCHED)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    executable, looks = map(int, done.stdout.split())
    assert executable >= 1 and looks >= 10


WATCHED = """
    import re, threading
    from pathlib import Path
    import numpy as np
    import tilegpu as tg

    looks, wrong, stop = 0, [], threading.Event()

    def pages():
        return re.findall(r"^\\S+ (\\S{4}) .*$", Path("/proc/self/maps").read_text(), re.MULTILINE)

    def watch():
        global looks
        while not stop.is_set():
            wrong.extend(line for line in Path("/proc/self/maps").read_text().splitlines() if " rwx" in line)
            looks += 1

    watcher = threading.Thread(target=watch)
    watcher.start()
    device = tg.Device(cache_dir="off", threads=2)
    for k in range(12):
        pipe = device.pipeline(
            "#version 450\\nvoid main() { gl_Position = vec4(gl_VertexIndex & 1, gl_VertexIndex >> 1, 0.5, 1.0) * 4.0 - 1.0; }",
            f"#version 450\\nlayout(location = 0) out vec4 c; void main() {{ c = sin(gl_FragCoord * {k}.5); }}",
            color=["r8g8b8a8_unorm"],
        )
        out = device.image((16, 16), "r8g8b8a8_unorm")
        with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3)
        out.numpy()
    device.wait_compiles()
    stop.set()
    watcher.join()
    assert not wrong, wrong[:5]
    made = [line for line in Path("/proc/self/maps").read_text().splitlines() if " r-xp " in line and line.split()[4] == "0"]
    print(len([line for line in made if "[v" not in line]), looks)
"""
