"""The README's first triangle, extracted and run in an empty directory."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

README = Path(__file__).resolve().parent.parent / "README.md"


def test_first_triangle_runs_in_an_empty_directory(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    folder = tmp_path / "empty"
    folder.mkdir()
    (tmp_path / "program.py").write_text(found.group(1), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", tmp_path / "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    image = np.asarray(Image.open(folder / "triangle.png").convert("RGB")).astype(int)
    assert image.shape == (512, 512, 3)
    assert image[:100].max() == 0, "the triangle's tip is a quarter down from the top"
    top, right, left = image[132, 256], image[380, 380], image[380, 132]
    assert [int(c.argmax()) for c in (top, right, left)] == [0, 1, 2]
    covered = (image.sum(axis=2) > 0).mean()
    assert abs(covered - 0.125) < 0.003


def test_readme_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
