"""scripts/conformance.py with a stand-in for deqp-vk: how cases end, what a process that dies leaves, the list that may only shrink."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_PROGRAM = """#!{python}
import os, signal, sys, time
cases = open(next(a for a in sys.argv if a.startswith("--deqp-caselist-file=")).partition("=")[2]).read().split()
if os.path.exists(sys.argv[0] + ".dies"):
    os.kill(os.getpid(), signal.SIGSEGV)
for case in cases:
    end = case.rpartition(".")[2]
    if end.startswith("absent"):
        continue
    print(f"\\nTest case '{{case}}'..", flush=True)
    if end.startswith("crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if end.startswith("hang"):
        time.sleep(60)
    words = {{"pass": "Pass (as it should)", "fail": "Fail (a pixel (1, 2))", "none": "NotSupported (no such feature)"}}
    print("  " + words[end.rstrip("0123456789")], flush=True)
print("DONE!")
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = Path(__file__).parent.parent / "scripts" / "conformance.py"
    spec = importlib.util.spec_from_file_location("conformance", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def deqp(tmp_path: Path) -> Path:
    path = tmp_path / "deqp-vk"
    path.write_text(_PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    return path


def names(*ends: str) -> list[str]:
    return [f"dEQP-VK.draw.some.{end}" for end in ends]


def test_each_case_ends_in_its_own_way(script: Any, deqp: Path) -> None:
    cases = names("pass1", "crash1", "fail1", "absent1", "hang1", "pass2", "none1", "crash2")
    found = script.run_some(script.suite_of(deqp), cases, {}, 10.0)
    ends = {case.rpartition(".")[2]: status for case, (status, _) in found.items()}
    assert ends == {"pass1": "Pass", "crash1": "Crash", "fail1": "Fail", "absent1": "Absent", "hang1": "Timeout", "pass2": "Pass",
                    "none1": "NotSupported", "crash2": "Crash"}  # fmt: skip
    assert found[names("fail1")[0]][1] == "a pixel (1, 2)"
    table = script.table_of({"tilegpu": found})
    assert [cell.strip() for cell in table.splitlines()[-1].strip("|").split("|")] == ["all", "2", "2", "4"]


def test_a_driver_that_dies_at_once_fails_all(script: Any, deqp: Path) -> None:
    deqp.with_name("deqp-vk.dies").touch()
    found = script.run_some(script.suite_of(deqp), names("pass1", "pass2"), {}, 60.0)
    assert [status for status, _ in found.values()] == ["Crash", "Crash"], "and none of them is passed over"


def test_every_nth_of_each_list(script: Any, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("# a comment\n" + "\n".join(f"dEQP-VK.{name}.x.{i}" for i in range(10)) + "\n")
    found = script.chosen([tmp_path / "a", tmp_path / "b"], 4, 1)
    assert found == [f"dEQP-VK.{name}.x.{i}" for name in "ab" for i in (1, 5, 9)] and script.group_of(found[0]) == "a.x"


def test_the_list_of_failures_only_shrinks(
    script: Any, deqp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known, cases = tmp_path / "known.txt", tmp_path / "cases"
    known.write_text("# words\ndEQP-VK.draw.some.pass1 was wrong once\ndEQP-VK.draw.some.fail1 why\n")
    cases.write_text("\n".join(names("pass1", "fail1", "pass3")) + "\n")
    monkeypatch.setattr(script, "KNOWN", known)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    arguments = ["--deqp", str(deqp), "--cases", str(cases)]
    assert script.main([*arguments, "--update"]) == 0 and "1 fewer failures are known" in capsys.readouterr().out
    assert known.read_text() == "# words\ndEQP-VK.draw.some.fail1 why\n"
    cases.write_text("\n".join(names("fail1", "fail2")) + "\n")
    assert script.main([*arguments, "--update"]) == 1
    out = capsys.readouterr().out
    known.write_text("dEQP-VK.draw.*.fail* why\n")
    assert script.main([*arguments, "--update"]) == 0, "a pattern knows both"
    known.write_text("# words\ndEQP-VK.draw.some.fail1 why\n")
    assert "known dEQP-VK.draw.some.fail1 Fail" in out and "NEW   dEQP-VK.draw.some.fail2 Fail: a pixel (1, 2)" in out
    assert known.read_text() == "# words\ndEQP-VK.draw.some.fail1 why\n", "nothing is ever added"
