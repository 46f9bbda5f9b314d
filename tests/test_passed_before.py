"""tests/passed_before.py: what failed is asked again, and so is what was changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import passed_before
from tests.passed_before import told_apart_by


def test_what_passed_is_asked_once_and_what_failed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passed_before, "FOLDER", tmp_path / "passed")
    for _ in range(2):
        with pytest.raises(AssertionError, match="wrong"), passed_before.passed_before("a") as passed:
            assert not passed
            raise AssertionError("wrong")
    for expected in (False, True, True):
        with passed_before.passed_before("a") as passed:
            assert passed is expected
    with passed_before.passed_before("b") as passed:
        assert not passed


def test_each_word_name_and_byte_tells_apart(tmp_path: Path) -> None:
    files = [tmp_path / "a.hpp", tmp_path / "b.hpp"]
    for file in files:
        file.write_text("x")
    names = {told_apart_by(["c++", "-O0"], files, tmp_path), told_apart_by(["c++ -O0"], files, tmp_path)}
    names |= {told_apart_by(["c++", "-O0"], files[:1], tmp_path), told_apart_by(["c++", "-O0"], files, tmp_path.parent)}
    files[1].write_text("y")
    names.add(told_apart_by(["c++", "-O0"], files, tmp_path))
    files[0].write_text("xy")
    names.add(told_apart_by(["c++", "-O0"], files, tmp_path))
    assert len(names) == 6
