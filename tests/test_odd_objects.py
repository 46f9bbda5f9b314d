"""Objects, arrays and streams that are not what programs give as a rule: an error in words, or the same work."""

from __future__ import annotations

import copy
import pickle
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import _core

MOST = 2048


def test_a_pass_without_attachments_has_as_many_layers_as_images() -> None:
    """It went over 2^32 - 1 of them."""
    dev = tg.Device()
    for layers in (MOST + 1, 2**32 - 1):
        with pytest.raises(tg.ValidationError, match=f"layers is {layers}; it must be 1 to {MOST}"):
            dev.render_pass(area=(0, 0, 8, 8), layers=layers)
        with pytest.raises(tg.ValidationError, match=f"with {layers} layers; .* 1 to {MOST} layers"):
            tg.FramebufferLayout(color=["r8_unorm"], size=(8, 8), layers=layers)
    with dev.render_pass(area=(0, 0, 8, 8), layers=MOST) as rp:
        pass
    assert rp.stats.draws == 0


def test_objects_of_the_core_are_made_by_their_classes() -> None:
    """An object of which nothing exists crashed where it was looked at."""
    base = tg.FormatInfo.__mro__[1]
    kinds = [kind for kind in map(_core.__dict__.get, dir(_core)) if isinstance(kind, type) and issubclass(kind, base)]
    assert len(kinds) > 40
    for kind in kinds:
        with pytest.raises(TypeError, match="objects are made by calling their class, or handed out by the core"):
            kind.__new__(kind)
        for parent in (base, object):
            with pytest.raises(TypeError, match="is not safe"):
                parent.__new__(kind)  # type: ignore[call-overload]
    assert _core.DeviceMemory(64) and tg.format_info("r8_unorm").name == "r8_unorm"
    with pytest.raises(TypeError):
        tg.FormatInfo()


def test_objects_of_the_core_are_not_pickled() -> None:
    """Python's own way ended the process, or made an object of which nothing exists."""
    dev = tg.Device()
    image = dev.image((2, 2), "r8_unorm")
    for thing in (dev.core, image.core, image.view("2d").core):
        for protocol in (0, 2, 5):
            with pytest.raises(TypeError, match="objects are of this process"):
                pickle.dumps(thing, protocol)
        with pytest.raises(TypeError, match="objects are of this process"):
            copy.copy(thing)
    info = tg.format_info("r8_unorm")
    assert pickle.loads(pickle.dumps(info)).name == copy.copy(info).name == "r8_unorm"


def test_masked_numbers_are_none() -> None:
    """What was masked became NaN in the picture."""
    dev = tg.Device()
    image = dev.image((2, 2), "r32g32b32a32_sfloat")
    color = np.ma.array([1.0, 2, 3, 4], mask=[1, 0, 0, 0])
    with pytest.raises(tg.ValidationError, match="is a masked array, and what is masked would be used"):
        dev.clear(image, color)
    with pytest.raises(tg.ValidationError, match="is a masked array"), dev.render_pass(color=tg.Attachment(image, clear=color)):
        pass
    with pytest.raises(tg.ValidationError, match="is a masked array"):
        dev.clear(image, (np.ma.masked, 0, 0, 1))
    dev.clear(image, np.ma.array([1.0, 2, 3, 4], mask=False))
    assert image.numpy()[0, 0].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble, [("a", "f4"), ("b", np.longdouble)]], ids=str)
def test_buffers_have_no_long_doubles(dtype: object) -> None:
    """Six of their sixteen bytes are whatever they are."""
    dev = tg.Device()
    array = np.zeros(4, dtype)  # type: ignore[call-overload]
    with pytest.raises(tg.ValidationError, match="whose numbers no shader reads; give float32 or float64"):
        dev.buffer(array)
    with pytest.raises(tg.ValidationError, match="whose numbers no shader reads"):
        dev.buffer(1024).write(array)


def test_a_copy_of_what_is_open_is_itself() -> None:
    dev = tg.Device()
    image = dev.image((2, 2), "r8g8b8a8_unorm")
    with dev.frame(), dev.render_pass(color=image) as rp:
        for thing in (dev, image, rp, image.view("2d")):
            assert copy.copy(thing) is thing
    with dev.frame():  # the device's copy kept the frame open
        pass


def test_what_an_object_tells_stays() -> None:
    image = tg.Device().image((2, 2), "r8_unorm")
    with pytest.raises(tg.ValidationError, match="label can't be deleted"):
        del image.label
    image.mine = 1  # type: ignore[attr-defined]
    del image.mine  # type: ignore[attr-defined]
    assert repr(image.view("2d"))


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(closed: str, tmp_path: Path) -> None:
    """Some daemons start programs so; Python has None in their place."""
    words = [sys.executable, "-m", "tilegpu", "render", "triangle", "-o", "out.png", "--size", "16x16"]
    line = f"{shlex.join(words)} {closed}"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done
    assert "tilegpu itself" not in done.stdout + done.stderr
    assert (tmp_path / "out.png").stat().st_size > 60
