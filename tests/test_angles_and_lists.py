"""Units that are certainly other ones, lists where tuples are meant, pictures with their sides in each other's places, jobs of scenes that
there are not, and what files of models have without effect."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import Builder
from tilegpu import farm, shapes
from tilegpu import math as tm
from tilegpu.cli import main
from tilegpu.scene import Draw, Frame, Output, Pass, Program, State, Target
from tilegpu.scene.model import load_model
from tilegpu.scene.render import SceneRenderer

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


def said(call: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [f"{one.category.__name__}: {one.message}" for one in found]


# --------------------------------------------------------------------------------------------------------------- angles


@pytest.mark.parametrize("value", [math.pi / 4, math.pi / 3, math.radians(35), np.float32(np.pi / 4)])
def test_radians_where_degrees_are(value: float) -> None:
    """Nobody's field of view is a round number of degrees in radians, to the last place, by accident."""
    degrees = round(math.degrees(value))
    with pytest.raises(tg.ValidationError, match=f"perspective: fov_y_degrees is .*the radians of {degrees} degrees; .*give {degrees}"):
        tm.perspective(value, 1, 0.1, 10)
    with pytest.raises(tg.ValidationError, match=r"OrbitCamera: fov_y is .*it is in degrees"):
        tm.OrbitCamera(fov_y=value)


def test_angles_of_telescopes() -> None:
    """Decision 304."""
    for value in (1.05, 0.785, 1.0, 0.5, 3, 45):
        tm.perspective(value, 1, 0.1, 10)
        tm.OrbitCamera(fov_y=value)
    tm.rotate_x(90)
    tm.OrbitCamera(yaw=45, pitch=2.0)  # turned some times, and over the pole


def test_angles_beyond_what_they_can_be() -> None:
    for pitch in (45, -45, 2.0**70):
        with pytest.raises(tg.ValidationError, match=r"OrbitCamera: pitch is .*radians, within a turn: math\.radians\(45\)"):
            tm.OrbitCamera(pitch=pitch)
    camera = tm.OrbitCamera()
    camera.pitch = 90
    with pytest.raises(tg.ValidationError, match="OrbitCamera: pitch is 90"):
        camera.view()
    with pytest.raises(tg.ValidationError, match="OrbitCamera: yaw"):
        tm.OrbitCamera(yaw=2.0**70)
    for call in (lambda: tm.rotate_x(2.0**70), lambda: tm.quaternion((0, 1, 0), -(2.0**70))):
        with pytest.raises(tg.ValidationError, match="has no places within a turn"):
            call()


def test_depth_is_turned_round_by_name() -> None:
    with pytest.raises(tg.ValidationError, match=r"orthographic: near is 10 and far is 1; .*reverse_z=True"):
        tm.orthographic(-1, 1, -1, 1, 10, 1)
    turned = tm.orthographic(-1, 1, -1, 1, 1, 10, reverse_z=True)
    assert tm.transform(turned, (0, 0, -1))[2] == pytest.approx(1)
    tm.orthographic(-1, 1, -1, 1, -10, -1)  # behind the camera


def test_texts_and_complex_numbers_are_no_numbers() -> None:
    for call in (lambda: tm.scale("2"), lambda: tm.inverse(np.eye(4) * 1j), lambda: tm.transform(np.eye(4), np.zeros(3, complex)),
                 lambda: tm.translate("1", "2", "3")):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(tg.ValidationError, match="of dtype"):
                call()
    for side in ("left", "top", "right", "bottom"):
        with pytest.raises(tg.ValidationError, match=f"quad: {side} is nan"):
            shapes.quad(**{side: math.nan})


# ---------------------------------------------------------------------------------------------------------------- lists


def test_lists_in_frames() -> None:
    """Of formats they were a TypeError of Python's, "unhashable type"."""
    program = Program(FULL, WHITE, input_attachments=["color0"])  # type: ignore[arg-type]
    target = Target(size=[8, 8])  # type: ignore[arg-type]
    draw = Draw(program, count=3, scissor=[0, 0, 4, 4], state=State(depth_bias=[0, 0]))  # type: ignore[arg-type]
    before = Pass(color=[Output(target, clear=[0, 0, 0, 1])], draws=[Draw(Program(FULL, WHITE), count=3)])  # type: ignore[arg-type]
    frame = Frame([8, 8], color_formats=["r8g8b8a8_srgb"], clear_colors=[[0, 0, 0, 1]], draws=[draw], passes=[before])  # type: ignore[arg-type]
    pixels = SceneRenderer(tg.Device(threads=1)).render(frame).images[0]
    assert pixels[0, 0, 0] == 255 and pixels[7, 7, 0] == 0
    assert frame.color_formats == ("r8g8b8a8_srgb",) and before.color[0].clear == (0, 0, 0, 1)


def test_frames_without_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.py"
    path.write_text(f"from tilegpu.scene import *\nscene = Frame((8, 8), color_formats=[], draws=[Draw(Program({FULL!r}), count=3)])\n")
    assert main(["render", str(path), "-o", str(tmp_path / "o.png")]) != 0
    assert "has no colour, so there is no picture; give color_formats=" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("options", [[], ["--size", "32x16"]])
@pytest.mark.filterwarnings("always")
def test_pictures_with_their_sides_exchanged(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told with --size alone; without it, 640 x 480 became 480 x 640 in silence."""
    path, out = tmp_path / "f.py", tmp_path / "o.png"
    path.write_text("import numpy as np\ndef draw(device, size):\n    return np.zeros((size[0], size[1], 4), 'u1')\n")
    found = said(lambda: main(["render", str(path), "-o", str(out), *options]))
    text = " ".join(found) + capsys.readouterr().err
    assert text.count("and drew") == 1 and "what was drawn has" not in text and "arrays are (height, width, C)" in text
    for right in ("(device, size): return np.zeros((size[1], size[0], 4), 'u1')", "(device): return np.zeros((640, 480, 4), 'u1')"):
        path.write_text(f"import numpy as np\ndef draw{right}\n")
        found = said(lambda: main(["render", str(path), "-o", str(out)]))
        assert "and drew" not in " ".join(found) + capsys.readouterr().err


# ----------------------------------------------------------------------------------------------------------------- jobs


def test_jobs_are_looked_at_when_they_are_made(tmp_path: Path) -> None:
    with pytest.raises(farm.FarmError, match="Job: there is no scene 'cbe'; did you mean 'cube'"):
        farm.Job("cbe")
    for wrong in ("mali", object()):
        with pytest.raises(farm.FarmError, match=r"Job: profile is .*which is none"):
            farm.Job("cube", profile=wrong)  # type: ignore[arg-type]
    farm.Job(str(tmp_path / "later.py"))  # a file may come yet


# --------------------------------------------------------------------------------------------------------------- models


def test_models_with_what_has_no_effect(tmp_path: Path) -> None:
    b = Builder()
    b.json["materials"] = [{"alphaCutoff": 0.9}]
    b.mesh(material=0)
    (text,) = said(lambda: load_model(b.glb(tmp_path / "a.glb")))
    assert "alphaCutoff 0.9 has no effect with alphaMode OPAQUE" in text
    b.json["materials"] = [{"alphaCutoff": 0.5}]  # the default, which exporters write
    assert not said(lambda: load_model(b.glb(tmp_path / "b.glb")))
    b.json["materials"] = [{"alphaCutoff": 0.9, "alphaMode": "MASK"}]
    assert not said(lambda: load_model(b.glb(tmp_path / "c.glb")))


def test_extensions_that_are_not_declared(tmp_path: Path) -> None:
    b = Builder()
    b.json["materials"] = [{"extensions": {"KHR_materials_unlit": {}}}]
    b.mesh(material=0)
    (text,) = said(lambda: load_model(b.glb(tmp_path / "a.glb")))
    assert "extension KHR_materials_unlit: in the file, and not in extensionsUsed" in text
    b.json["extensionsUsed"] = ["KHR_materials_unlit"]
    assert not said(lambda: load_model(b.glb(tmp_path / "b.glb")))


def test_models_that_lie_in_a_point(tmp_path: Path) -> None:
    """A scale of 0 hides a node, as glTF says; of all of them nothing is left."""
    b = Builder()
    b.mesh({"scale": [0, 0, 0]})
    found = said(lambda: load_model(b.glb(tmp_path / "a.glb")))
    assert any("all of it lies in one point (0, 0, 0), so that nothing is seen; is a node's scale 0?" in text for text in found)
    b.json["nodes"].append({"mesh": 0})
    assert not said(lambda: load_model(b.glb(tmp_path / "b.glb")))
