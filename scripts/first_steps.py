"""The first programs of the documentation, as files, and whether they draw what is committed (tests/first_steps.json).

`first_steps.py write FOLDER` takes them out of README.md and docs/ (`make test-wheels-bare` does, outside of the system that it tries).
`first_steps.py draw FOLDER` runs them with this Python's tilegpu. `first_steps.py check FOLDER` compares their pictures with hashes that
`write` laid beside them. tests/test_wheels.py does all three with the build, so that the hashes are always of the pages as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HASHES = ROOT / "tests" / "first_steps.json"
#: Folder of a program: the page, the words that its block comes after, the file it is, the picture that it leaves.
PROGRAMS = {
    "readme": ("README.md", "## The first triangle", "program.py", "triangle.png"),
    "first-triangle": ("docs/first-triangle.md", "# The first triangle", "program.py", "triangle.png"),
    "golden": ("docs/golden-tests.md", "## In five minutes", "tests/test_triangle.py", "tests/golden/triangle.png"),
    "gradient": ("README.md", "# tilegpu", "tests/test_gradient.py", "tests/golden/gradient.png"),
}


def program(page: str, after: str) -> str:
    """The first Python block behind these words of a page."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"{after}\n")[2]
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    if found is None:
        raise SystemExit(f"{page}: no Python block after {after!r}; scripts/first_steps.py names it")
    return found[1]


def write(folder: Path) -> None:
    """Each program in a folder of its own, this file and the hashes beside them."""
    for name, (page, after, file, _) in PROGRAMS.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(program(page, after), encoding="utf-8")
    shutil.copy(__file__, folder)
    shutil.copy(HASHES, folder)


def draw(folder: Path) -> None:
    """Runs them as the pages say: programs as they are, tests with the plugin: fail, `--tilegpu-update`, pass."""
    for name, (_, _, file, _) in PROGRAMS.items():
        where = folder / name
        if not file.startswith("tests/"):
            subprocess.run([sys.executable, "-W", "error", file], cwd=where, check=True, stdout=subprocess.DEVNULL)
            continue
        (where / "pytest.ini").write_text("[pytest]\n")  # what lies around this folder is not its configuration
        for words, wanted in (((), 1), (("--tilegpu-update",), 0), ((), 0)):
            test = [sys.executable, "-m", "pytest", "-q", *words]
            done = subprocess.run(test, cwd=where, capture_output=True, text=True, check=False)
            if done.returncode != wanted:
                raise SystemExit(f"{name}: pytest {' '.join(words)} ended with {done.returncode}, not {wanted}\n{done.stdout}{done.stderr}")


def hash_of(picture: Path) -> str:
    """Of size, mode and pixels; how they are packed is a library's own business."""
    from PIL import Image

    with Image.open(picture) as image:
        return hashlib.sha256(f"{image.size} {image.mode} ".encode() + image.tobytes()).hexdigest()[:16]


def pictures(folder: Path) -> dict[str, str]:
    return {name: hash_of(folder / name / picture) for name, (_, _, _, picture) in PROGRAMS.items()}


def check(folder: Path) -> int:
    """1 where a picture isn't the committed one."""
    wanted, found = json.loads((folder / HASHES.name).read_text()), pictures(folder)
    for name, value in found.items():
        page, _, _, picture = PROGRAMS[name]
        verdict = "is the committed one" if value == wanted[name] else f"differs: {value}, not {wanted[name]}"
        print(f"{page}: {Path(picture).name} {verdict}")
    return 0 if found == wanted else 1


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "draw", "check"):
        raise SystemExit("first_steps.py write|draw|check FOLDER")
    raise SystemExit({"write": write, "draw": draw, "check": check}[sys.argv[1]](Path(sys.argv[2])))
