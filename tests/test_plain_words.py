"""What is told in few words: warnings on the command line and in pytest, tables in notebooks; buffers by DLPack."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.cli import main

DOUBLE = """#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer B { float b[]; };
void main() { b[gl_GlobalInvocationID.x] *= 2; }"""
WARNS = """
import warnings
import numpy as np
def draw(device):
    warnings.warn("two\\nlines")
    return np.zeros((4, 4, 3), np.uint8)
"""


def test_warnings_are_one_line(run_cli: Any, tmp_path: Path) -> None:
    """Those of the user's file with its place."""
    path = tmp_path / "mine.py"
    path.write_text(WARNS)
    said = run_cli("render", str(path), "-o", "x.png").stderr
    assert [line for line in said.splitlines() if "two" in line] == [f"warning: {path}:5: two lines"] and "warnings.warn" not in said


def test_the_form_of_warnings_stays_when_the_command_has_ended() -> None:
    before = warnings.formatwarning
    assert main(["scenes"]) == 0 and warnings.formatwarning is before


def test_warnings_of_tilegpus_own_modules_have_no_place() -> None:
    from tilegpu.cli import plain_warning
    from tilegpu.scene import gltf

    assert plain_warning("drawn without it", UserWarning, gltf.__file__, 140) == "warning: drawn without it\n"
    assert plain_warning("odd", UserWarning, "<string>", 1) == "warning: odd\n"
    assert plain_warning("mine", UserWarning, __file__, 7) == f"warning: {__file__}:7: mine\n"


def test_pytest_does_not_warn_of_the_editable_install(tmp_path: Path) -> None:
    """Of nothing else it keeps quiet."""
    (tmp_path / "test_a.py").write_text("import warnings\ndef test_a(): warnings.warn('seen')\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "test_a.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Module already imported" not in done.stdout, done.stdout
    assert "UserWarning: seen" in done.stdout and "1 passed, 1 warning" in done.stdout


def test_tables_of_devices_and_dispatches() -> None:
    dev = tg.Device(label="<mine>", threads=1)
    text = dev._repr_html_()
    assert text.startswith("<table>") and "device &#x27;&lt;mine&gt;&#x27;" in text and ">host<" in text and "visibility_buffer" in text
    data = dev.buffer(np.arange(8, dtype=np.float32))
    stats = dev.dispatch(dev.compute_pipeline(DOUBLE), (2, 1, 1), bind={"B": data})
    assert "2 x 1 x 1" in stats._repr_html_() and ">8<" in stats._repr_html_() and " ms<" in stats._repr_html_()


def test_buffers_by_dlpack() -> None:
    """A view: what shaders write is seen, what is written shaders see."""
    dev = tg.Device()
    data = dev.buffer(np.arange(8, dtype=np.float32))
    shared = np.from_dlpack(data)
    assert data.__dlpack_device__() == (1, 0) and shared.dtype == np.float32
    dev.dispatch(dev.compute_pipeline(DOUBLE), (2, 1, 1), bind={"B": data})
    assert shared.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    assert np.from_dlpack(dev.buffer(16)).dtype == np.uint8 and "dltensor" in repr(data.__dlpack__())
    with pytest.raises(BufferError, match=r"buffer 'lights': dtype .* is structured"):
        dev.buffer(np.zeros(2, [("a", "f4"), ("b", "f4")]), label="lights").__dlpack__()
    with pytest.raises(BufferError, match="is in the CPU's memory"):
        data.__dlpack__(dl_device=(2, 0))
