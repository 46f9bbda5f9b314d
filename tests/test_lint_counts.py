"""``frame.lint()`` counts each byte that a change saves once, by the ledger."""

from __future__ import annotations

import pytest

import tilegpu as tg


@pytest.mark.parametrize("size", [(64, 64), (512, 512)])
@pytest.mark.parametrize("read", [False, True])
def test_samples_that_are_stored_and_resolved(size: tuple[int, int], read: bool) -> None:
    dev = tg.Device(threads=1)
    samples, out = dev.image(size, "r8g8b8a8_unorm", samples=4, label="ms"), dev.image(size, "r8g8b8a8_unorm", label="o")
    cleared = tg.Attachment(samples, clear=(0, 0, 0, 1), resolve=out)
    with dev.frame("f", outputs=[out, samples] if read else out) as frame, dev.render_pass(color=cleared, label="m"):
        pass
    stored = size[0] * size[1] * 4 * 4
    found = frame.lint()
    assert [one.saves_B for one in found] == [stored]
    said = "all samples are stored although the pass resolves them" if read else "is stored, and nobody reads it"
    assert said in found[0] and "65,536" in found[0] if stored == 65536 else said in found[0]
