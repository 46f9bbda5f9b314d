"""scripts/webgpu_cts.py with a stand-in for node: which cases it runs, how they end, what it takes for known."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
GROUP = "webgpu:shader,execution,expression,call,builtin,abs"

_NODE = """#!{python}
import os, signal, sys
runner, checkout, modules, mode, *words = sys.argv[2:]
assert sys.argv[1] == "--expose-gc" and os.path.isfile(runner) and os.path.isdir(checkout) and os.path.isdir(modules), sys.argv
if mode == "list":
    print(open(os.path.join(checkout, words[0])).read(), end="")
    sys.exit()
assert mode == "run" and os.getcwd() == checkout
for case in open(words[0]).read().splitlines():
    print(f"\\nTest case '{{case}}'..", flush=True)
    if 'end="crash"' in case:
        os.kill(os.getpid(), signal.SIGSEGV)
    print("warning: of a module", end="")  # Dawn's words, between
    print("\\n  " + {{"pass": "Pass ()", "skip": "NotSupported (SKIP no such feature)", "fail": "Fail (EXPECTATION FAILED: 1 (of 2))"}}[
        case.split('end="')[1].split('"')[0]], flush=True)
"""

#: As much of a checkout's modules as the runner asks for: two files of tests, each with cases that end in their own way.
_CHECKOUT = {
    "framework/resources": "exports.setBaseResourcePath = () => {}; exports.getResourcePath = path => path;",
    "framework/data_cache": "exports.dataCache = { setStore() {} };",
    "internal/query/parseQuery": "exports.parseQuery = text => text.split(':')[1];",
    "internal/logging/logger": """
        exports.Logger = class { record(name) { const result = {}; return [result, result]; } };""",
    "internal/file_loader": """
        exports.DefaultTestFileLoader = class {
          async loadCases(file) {
            const found = (await this.listing('webgpu')).map(one => one.file.join(',')).filter(one => file === '*' || one === file);
            return found.flatMap(one => ['pass', 'skip', 'fail', 'warn'].map(status => ({
              query: { toString: () => `webgpu:${one}:t:end="${status}"` },
              async run(result) {
                if (!require('../util/navigator_gpu').gpu()) throw new Error('no GPU');
                process.stdout.write('warning: without an end of line');
                result.status = status;
                result.logs = [{ name: 'INFO', message: 'ran' }, { name: 'SKIP', message: 'no feature' }];
                if (status === 'fail') result.logs.push({ name: 'EXPECTATION FAILED', message: 'one\\n  (of two)' });
              } })));
          }
        };""",
    "util/navigator_gpu": "exports.setGPUProvider = provider => { exports.gpu = provider; };",
}


@pytest.fixture(scope="module")
def script() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module("webgpu_cts")
    for name in ("webgpu_cts", "conformance"):
        sys.modules.pop(name, None)


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    node = tmp_path / "node"
    node.write_text(_NODE.format(python=sys.executable))
    node.chmod(0o755)
    (tmp_path / "cts" / "out-node" / "common").mkdir(parents=True)
    (tmp_path / "modules" / "node_modules" / "webgpu").mkdir(parents=True)
    return ["--cts", str(tmp_path / "cts"), "--node", str(node), "--modules", str(tmp_path / "modules")]


def case(test: str, end: str) -> str:
    return f'{GROUP}:{test}:size=[4,1,1];end="{end}"'


def test_each_case_ends_in_its_own_way(
    script: Any, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = tmp_path / "known.txt"
    monkeypatch.setattr(script, "KNOWN", known)
    cases = [case("a", "pass"), case("b", "crash"), case("c", "fail"), case("d", "skip"), case("e", "pass")]
    (tmp_path / "cts" / "all").write_text("\n".join(cases) + "\n")
    known.write_text(f"# words\n{GROUP}:b:size=[4,1,1];* it ends\n{cases[0]} was wrong once\n")
    assert script.main([*arguments, "--every", "1", "all"]) == 1
    out = capsys.readouterr().out
    rows = {row[0]: row[1:] for row in ([cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if "|" in line)}
    assert rows["shader,execution,expression,call"] == rows["all"] == ["2", "1", "2"]
    assert f"known {cases[1]} Crash" in out and f"NEW   {cases[2]} Fail: EXPECTATION FAILED: 1 (of 2)" in out
    assert "not supported, 1: SKIP no such feature" in out and "1 known failures pass now" in out
    known.write_text(f"{GROUP}:b:* it ends\n{cases[2]} why\n{cases[0]} was wrong once\n")
    assert script.main([*arguments, "--every", "1", "--update", "all"]) == 0
    assert known.read_text() == f"{GROUP}:b:* it ends\n{cases[2]} why\n"


def test_the_runner_says_how_cases_end(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node (packages/clients.txt)")
    files = {f"out-node/common/{name}.js": text for name, text in _CHECKOUT.items()}
    files |= {"out-node/package.json": "{}", "out-node/webgpu/a/one.spec.js": "", "out-node/webgpu/a/two.spec.js": ""}
    files |= {"node_modules/webgpu/package.json": '{"type": "module", "main": "index.js"}'}
    files |= {"node_modules/webgpu/index.js": "export const globals = {}; export const create = flags => flags[0] === 'backend=vulkan';"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    words = [node, str(SCRIPTS.parent / "tests" / "vulkan" / "webgpu_cts.mjs"), str(tmp_path), str(tmp_path)]
    listed = subprocess.run([*words, "list", "webgpu:*"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert listed == [f'webgpu:a,{one}:t:end="{status}"' for one in ("one", "two") for status in ("pass", "skip", "fail", "warn")]
    (tmp_path / "cases").write_text("\n".join([listed[6], *listed[:4]]) + "\n")
    ran = subprocess.run([*words, "run", str(tmp_path / "cases")], check=True, capture_output=True, text=True).stdout.splitlines()
    begun = [line for line in ran if line.startswith("Test case ")]
    assert begun == [f"Test case '{name}'.." for name in (listed[6], *listed[:4])]
    failed = "  Fail (EXPECTATION FAILED one (of two))"
    assert [line for line in ran if line.startswith("  ")] == [
        failed, "  Pass (SKIP no feature)", "  NotSupported (SKIP no feature)", failed, "  QualityWarning (SKIP no feature)"]  # fmt: skip


def test_every_nth_of_each_query(script: Any, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (tmp_path / "cts" / name).write_text("\n".join(case(f"{name}{i}", "fail") for i in range(10)) + "\n")
    assert script.main([*arguments, "--every", "4", "--from", "1", "one", "two"]) == 1
    out = capsys.readouterr().out
    assert [line.split(":")[2] for line in out.splitlines() if line.startswith("NEW")] == ["one1", "one5", "one9", "two1", "two5", "two9"]


def test_what_is_not_there_is_said(script: Any, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        script.main([*arguments, "--cts", "/nowhere"])
    assert "/nowhere/out-node/common is not there" in capsys.readouterr().err


def test_the_list_names_reasons(script: Any) -> None:
    known = importlib.import_module("conformance").known_failures(script.KNOWN)
    assert known and all(len(why) > 20 for why in known.values()), "a reason each"
