"""``tilegpu bench compute``: every kernel's result is NumPy's, on tilegpu and, where it is there, on OpenGL; its messages and its table."""

from __future__ import annotations

import json

import pytest

import tilegpu as tg
from tilegpu.bench import compute
from tilegpu.cli import main


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_results(lanes: int) -> None:
    device = tg.Device(lanes=lanes, threads=2, cache_dir="off")
    for kernel in compute.kernels(shrink=8):
        run, result = compute.on_tilegpu(device, kernel)
        for _ in range(2):
            run()
            if kernel.name != "radix sort":  # the second time it sorts what is sorted
                kernel.check(result(), f"{lanes} lanes")
        kernel.check(result(), f"{lanes} lanes, again")


def test_a_wrong_result_is_said() -> None:
    kernel = compute.kernels(shrink=8)[1]
    with pytest.raises(RuntimeError, match="kernel 'reduction' on nobody: the result is off by up to"):
        kernel.check(kernel.want + 1, "nobody")


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compute", "--kernel", "histogram", "--seconds", "0", "--rounds", "1", "--no-gl", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["kernel"] for row in printed["rows"]] == ["histogram"] and printed["rows"][0]["tilegpu_ms"] > 0
    assert main(["bench", "compute", "--kernel", "sort"]) == 2
    assert "kernel 'sort' is not known; there are matrix product, reduction" in capsys.readouterr().err
