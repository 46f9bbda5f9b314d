"""The README's programs, extracted and run in an empty directory; its links, in the repository and beside a wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_first_triangle_runs_in_an_empty_directory(tmp_path: Path) -> None:
    found = BLOCK.search(README.read_text(encoding="utf-8").partition("## The first triangle")[2])
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


def test_the_golden_test_on_the_first_screen(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    found = BLOCK.search(text)
    assert found and text.count("\n", 0, found.start()) < 25, "the first screen shows it"
    (tmp_path / "test_gradient.py").write_text(found.group(1), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_tilegpu"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TILEGPU_GOLDEN", "PYTEST_"))}
    done = [
        subprocess.run([*run, *words], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
        for words in ((), ("--tilegpu-update",), ())
    ]
    assert [d.returncode for d in done] == [1, 0, 0], done[1].stdout + done[2].stdout
    assert (tmp_path / "golden" / "gradient.png").is_file()


def test_nothing_leads_nowhere_beside_a_wheel() -> None:
    """What pyproject.toml takes out of the README that a package index shows."""
    project = (README.parent / "pyproject.toml").read_text(encoding="utf-8")
    rules = re.findall(r"^pattern = '(.*)'\nreplacement = '(.*)'$", project, re.MULTILINE)
    assert len(rules) == 2
    text = README.read_text(encoding="utf-8")
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    assert "golden tests" in text and BLOCK.findall(text) == BLOCK.findall(README.read_text(encoding="utf-8"))


def test_readme_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
