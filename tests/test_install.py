"""scripts/install_python.sh: programs keep the files that they have opened, and what is there already is left alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "install_python.sh"
NAMES = ("libtilegpu.so", "_core.so", "tilegpu_icd.json")


def build(folder: Path, content: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / name).write_text(content)
    files = " ".join(f'"{folder / name}"' for name in NAMES)
    (folder / "cmake_install.cmake").write_text(f'file(INSTALL DESTINATION "${{CMAKE_INSTALL_PREFIX}}/tilegpu" TYPE FILE FILES {files})\n')


def install(folder: Path, site: Path) -> list[str]:
    subprocess.run(["sh", SCRIPT, folder, site], check=True, timeout=60)
    assert sorted(p.name for p in site.iterdir()) == ["tilegpu"], "nothing is left behind"
    return [(site / "tilegpu" / name).read_text() for name in NAMES]


def test_files_are_replaced_by_name(tmp_path: Path) -> None:
    site, one, other = tmp_path / "site", tmp_path / "one", tmp_path / "other"
    site.mkdir()
    build(one, "first")
    assert install(one, site) == ["first"] * 3
    with (site / "tilegpu" / "libtilegpu.so").open() as running:
        build(one, "second")
        assert install(one, site) == ["second"] * 3
        assert running.read() == "first"
    (site / "tilegpu" / "_core.so").write_text("looked at")
    assert install(one, site)[1] == "looked at", "nothing is new"
    build(other, "third")
    assert install(other, site) == ["third"] * 3
    assert install(one, site) == ["second"] * 3, "another build, however old"
