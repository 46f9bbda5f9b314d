"""Options of the command line, outputs of frames and light of skies that would have no effect, or another: said, or refused.

And what a notebook shows of each public class: a table or a picture, or the reason why its text is enough.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
import tilegpu.testing
from tilegpu.cli import main
from tilegpu.scene import Environment

COLOR = "r8g8b8a8_unorm"
COVER = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
STILL = "import tilegpu as tg\n\n\ndef still(device, size=(32, 32)):\n    return device.texture([[[1.0] * 4] * 32] * 32).image\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "still.py").write_text(STILL)
    (tmp_path / "moving.py").write_text(STILL.replace("device,", "device, time,").replace("still", "moving"))
    return tmp_path


SMALL = ["--size", "32x32", "--threads", "1"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["render", "triangle", "-o", "x.png", "--fps", "30"], "--fps has no effect: one picture is drawn; give --frames"),
        (["render", "cube", "-o", "x.png", "--fps", "30"], "--fps has no effect: one picture is drawn"),
        (["render", "msaa1", "-o", "x.png", "--frames", "2", "--fps", "30"], "--fps has no effect: msaa1 is turned, frame by"),
        (["render", "triangle", "-o", "x.png", "--of", "4"], "--of has no effect: --frames says which frames are drawn"),
        (["render", "triangle", "-o", "x.png", "--time", "1"], "--time has no effect: triangle looks the same at any time"),
        (["render", "still.py", "-o", "x.png", "--time", "1"], "--time has no effect: the function still() asks for no time; leave it out"),
        (["render", "triangle", "-o", "x.png", "--camera", "0"], "has no camera to choose; models have"),
        (["render", "triangle", "-o", "x.png", "--exposure", "2"], "has no exposure to choose"),
        (["render", "msaa4_pass_resolve", "-o", "x.png", "--samples", "8"], "--samples 8: scene msaa4_pass_resolve is defined with 4"),
        (["compare", "triangle", "--reference", "x.png", "--driver-lod"], "--driver-lod has no effect: --reference takes OpenGL's place"),
        (["explain", "triangle", "--time", "1"], "--time has no effect"),
        (["view", "triangle", "--time", "1"], "--time has no effect"),
        (["view", "triangle", "--frames", "-1"], "--frames"),
        (["verify", "m.json", "--seed", "1"], "--seed has no effect: all frames are drawn; give --share"),
        (["what-if", "x.tgcap", "--time", "1", "--exposure", "2"], "--time, --exposure have no effect: 'x.tgcap' is a capture"),
        (["bench", "hsr", "--profile", "mali-g610", "--rounds", "2"], "--rounds has no effect with --profile"),
        (["what-if", "x.tgcap", "--time", "0", "--exposure", "0"], "--time, --exposure have no effect: 'x.tgcap' is a capture"),
        (["explain", "x.tgcap", "--time", "0"], "--time has no effect"),
        (["verify", "m.json", "--seed", "0"], "--seed has no effect: all frames are drawn; give --share"),
        (["render", "blur_disc", "-o", "x.png", "--time", "1"], "--time has no effect: blur_disc looks the same at any time"),
        (["bench", "peers", "--vkpeer", "x"], "--vkpeer has no effect"),
        (["bench", "peers", "--vkframe", "x"], "--vkframe has no effect"),
    ],
)
def test_options_without_effect(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    if "x.tgcap" in words:
        (here / "x.tgcap").write_bytes(b"")
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert not (here / "x.png").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["render", "cube", "-o", "x.png", "--time", "1", *SMALL],
        ["render", "cube", "-o", "x.gif", "--frames", "2", "--fps", "10", *SMALL],
        ["render", "moving.py", "-o", "x.png", "--frames", "2", "--fps", "10", "--threads", "1"],
        ["render", "triangle", "-o", "x.png", "--time", "0", "--frames", "1", "--of", "1", *SMALL],
    ],
)
def test_options_with_effect(here: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(words) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["replay", "no.tgcap"], "capture 'no.tgcap' is not there; rp.capture() and dev.capture() write one, TILEGPU_CAPTURE of programs"),
        (["explain", "no.tgcap"], "capture 'no.tgcap' is not there"),
        (["what-if", "no.tgcap"], "capture 'no.tgcap' is not there"),
        (["compare", "no.tgcap"], "capture 'no.tgcap' is not there"),
        (["render", "no.tgcap", "-o", "x.png"], "capture 'no.tgcap' is not there"),
        (["compare", "triangle", "--reference", "no.tgcap"], "capture 'no.tgcap' is not there"),
        (["replay", "folder.tgcap"], "capture 'folder.tgcap' is a folder"),
        (["compare", "c.tgcap"], "'c.tgcap' is a capture: tilegpu replay draws it"),
        (["compare", "triangle", "--reference", "c.tgcap"], "is a capture; tilegpu replay c.tgcap -o PICTURE.npy writes what can be"),
        (["compare", "triangle", "--reference", "other"], "is a capture; tilegpu replay other"),
    ],
)
def test_captures_in_place_of_scenes(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    dev = tg.Device(threads=1)
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        pass
    rp.capture(here / "c.tgcap")
    (here / "other").write_bytes((here / "c.tgcap").read_bytes())
    (here / "folder.tgcap").mkdir()
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_frames_that_are_all_alike(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "still.py", "-o", "x.png", "--frames", "2", "--threads", "1"]) == 0
    asks = "warning: --frames: the function still() asks for neither time nor camera (nor view), so nothing tells its pictures apart"
    assert asks in capsys.readouterr().err  # it may use chance: nobody knows that they are one picture
    alike = "triangle has no camera to turn and looks the same at any time; all are one picture"
    words = ["render", "triangle", "-o", "x.png", "--frames", "2", "--size", "8x8"]
    assert main(words) == 0
    assert f"warning: --frames: {alike}\n" in capsys.readouterr().err
    with pytest.warns(tg.UnusedNameWarning, match=f"Job: of=2: {alike}"):
        assert main([*words, "--executor", "threads"]) == 0
    assert "--frames" not in capsys.readouterr().err


OWN = """import numpy as np
import tilegpu as tg
from tilegpu.scene import Frame

device_ = tg.Device()


def drawn():
    image = device_.image((8, 8), "r8g8b8a8_unorm")
    device_.clear(image, (1, 0, 0, 1))
    return image


def array(size):
    return np.zeros((8, 8, 3), np.uint8)


def described(size=(8, 8)):
    return Frame(size)


def held(keys):
    return Frame((8, 8))


def pressed(keys):
    return np.zeros((8, 8, 3), np.uint8)


def given(device):
    image = device.image((8, 8), "r8g8b8a8_unorm")
    device.clear(image, (1, 0, 0, 1))
    return image
"""
OF_DEVICE = [["--threads", "2"], ["--lanes", "4"], ["--profile", "immortalis-g925"], ["--isolate-compiler"], ["--no-isolate-compiler"]]


@pytest.mark.parametrize("option", OF_DEVICE, ids=lambda option: option[0])
def test_options_of_a_device_that_nobody_draws_with(here: Path, capsys: pytest.CaptureFixture[str], option: list[str]) -> None:
    (here / "own.py").write_text(OWN)
    for name in ("drawn", "array", "pressed"):
        for more in ([], ["--executor", "threads"]) if name != "pressed" else ([],):
            assert main(["render", f"own.py:{name}", "-o", "x.png", *option, *more]) == 2
            asks = f"the function {name}() asks for no device, and draws by itself; give it a parameter device (or view)"
            word = option[0].removeprefix("--no-").strip("-").replace("-", "_" if more else "-")
            text = capsys.readouterr().err
            assert asks in text
            assert word in text
            assert not list(here.glob("x*"))
    for name in ("described", "held", "given"):  # the options' device draws these
        assert main(["render", f"own.py:{name}", "-o", "x.png", *option]) == 0
    assert not capsys.readouterr().err
    assert main(["render", "own.py:drawn", "-o", "x.png"]) == 0


def test_numbers_as_c_writes_them(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["render", "triangle", "--size", "8x8", "--frames", "2", "-o"]
    for name, plain in (("f_%03d.png", "f.png gives f_000.png"), ("%d.png", "frame.png gives frame_000.png"), ("a%04d_b.png", "a_b.png"),
                        ("f_%s.png", "f.png"), ("f_{}.png", "f.png"), ("f{:03d}.png", "f.png"), ("f_{frame:04}.png", "f.png"),
                        ("f_####.png", "f.png")):  # fmt: skip
        for more in ([], ["--executor", "threads"]):
            assert main([*words, name, *more]) == 2
            text = capsys.readouterr().err
            assert f"{name}: " in text
            assert "would stay in the name as it is; a number is put before the suffix by itself" in text
            assert plain in text
    assert not list(here.glob("*.png"))
    assert main(["render", "triangle", "--size", "8x8", "-o", "f_%03d.png"]) == 0  # one picture is called as it is said
    assert (here / "f_%03d.png").is_file()
    assert main([*words, "100%.png"]) == 0 == main([*words, "set{1}#2.png"])


@pytest.mark.parametrize(
    ("command", "option", "values"),
    [("render", "-o", ("a.png", "b.png")), ("render", "--stats", ("a.json", "b.json")), ("explain", "--report", ("a.html", "b.html")),
     ("explain", "--heatmaps", ("a", "b")), ("view", "--screenshot", ("a.png", "b.png")),
     ("compare", "-o", ("a.png", "b.png")), ("render", "--manifest", ("a.json", "b.json"))],
)  # fmt: skip
def test_what_is_given_twice(here: Path, capsys: pytest.CaptureFixture[str], command: str, option: str, values: tuple[str, str]) -> None:
    """The first picture was written by nobody. Of other options the last counts."""
    assert main([command, "triangle", option, values[0], option, values[1]]) == 2
    assert f"{option} is given twice, {values[0]} and {values[1]}, and one counts; leave one of them out" in capsys.readouterr().err
    assert list(here.iterdir()) == list(here.glob("*.py"))
    assert main(["render", "triangle", "--size", "4x4", "--size", "8x8", "--threads", "1", "--threads", "2", "-o", "a.png"]) == 0


# -------------------------------------------------------------------------------------------------- frames and skies


def test_outputs_that_nothing_writes() -> None:
    dev = tg.Device(threads=1)
    made, other = dev.image((4, 4), COLOR), dev.image((4, 4), COLOR, label="other")

    def frame(strict: bool = False, outputs: Any = (made, other)) -> None:
        with dev.frame("f", strict=strict, outputs=outputs), dev.render_pass(tg.Attachment(made, clear=(0, 0, 0, 0))):
            pass

    with pytest.warns(tg.UnusedNameWarning, match="frame 'f': outputs has image 'other', which nothing in the frame writes") as found:
        frame()
    assert found[0].filename == __file__ and len(found) == 1
    with pytest.raises(tg.ValidationError, match="outputs has image 'other'"):
        frame(strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame(outputs=made)
        with dev.frame("by hand", outputs=other):
            other.write(np.zeros((4, 4, 4), "u1"))
        with dev.frame("copied", outputs=other):
            dev.copy(made, other)


def test_light_that_there_is_not() -> None:
    sky = np.ones((8, 16, 3), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = Environment(sky, "plain")
    sky[0, 0] = 1.0, -2.5, 1.0
    sky[1, 0, 0] = np.inf
    said = r"'s': the least is -2.5, and negative .* as 0; the largest is inf, .* above 65504"
    with pytest.warns(tg.ClampedValueWarning, match=said) as found:
        made = Environment(sky, "s")
    assert found[0].filename == __file__ and np.isfinite(made.irradiance).all() and not np.array_equal(made.irradiance, plain.irradiance)
    sky[2, 0] = np.nan
    for wrong in (sky, sky[0], np.ones((8, 16, 3), np.uint8)):
        with pytest.raises(tg.ValidationError, match="environment 's'"):
            Environment(wrong, "s")


def test_errors_of_golden_tests_are_tilegpus() -> None:
    assert_equal, pictures = tilegpu.testing.assert_image_equal, np.zeros((2, 2), np.uint8)
    for arguments in ((pictures, 7), (np.zeros(2, "c8"), "a.png"), (pictures, "a.jpg"), (pictures, "../a.png")):
        with pytest.raises(tg.Error) as found:
            assert_equal(*arguments)
        assert isinstance(found.value, ValueError) and isinstance(found.value, TypeError)
    with pytest.raises(tilegpu.testing.GoldenError, match="they must be alike"):
        tilegpu.testing.difference_of(pictures, pictures[:1])


# --------------------------------------------------------------------------------------------------------- notebooks

#: Public classes whose text says all that there is to see: a few values, or nothing before a pass has ended.
AS_TEXT = {
    "CooperativeMatrix", "FramebufferDesc", "FramebufferLayout", "Load", "Resolve", "SecondaryCommandBuffer", "ShaderMessage", "Store",
    "VertexBinding",
}  # fmt: skip


def test_every_class_has_something_to_show() -> None:
    classes = [getattr(tg, name) for name in tg.__all__ if inspect.isclass(getattr(tg, name))]
    classes = [one for one in classes if not issubclass(one, (Exception, Warning))]
    shown = {one.__name__ for one in classes if hasattr(one, "_repr_html_") or hasattr(one, "_repr_png_")}
    assert {one.__name__ for one in classes} - shown == AS_TEXT
    assert hasattr(tilegpu.testing.Difference, "_repr_html_")


def test_what_notebooks_show() -> None:
    dev = tg.Device(threads=1)
    fields = np.zeros(12, [("position", "f4", 2), ("<id>", "u4")])
    fields["position"] = np.arange(24).reshape(12, 2)
    vertices = dev.buffer(fields, label="<b>", usage="vertex|storage")
    html = vertices._repr_html_()
    for part in ("buffer &#x27;&lt;b&gt;&#x27;", "144 B", "storage, vertex", "&lt;id&gt;", "[2.0, 3.0]", "and 4 more"):
        assert part in html, part
    assert "[12.0, 13.0]" in vertices.slice(72, 72)._repr_html_() and "from byte" in vertices.slice(72, 72)._repr_html_()
    assert "[7, 0, 0]" in dev.buffer(bytes([7, 0, 0]))._repr_html_() and "2 B" in dev.buffer(2)._repr_html_()
    assert "texels" in dev.buffer(64).texels("r32_uint")._repr_html_()
    out = dev.image((4, 4), COLOR, mip_levels=2, label="out")
    assert "data:image" not in out.view()._repr_html_()  # nothing was stored
    stats = dev.clear(out, (1, 0, 0, 1))
    assert "80 B" in stats._repr_html_() and "data:image/png" in out.view(level=1)._repr_html_()
    text = "#version 450\nlayout(binding = 0) buffer B { vec4 b; }; void main() { b = vec4(1); }"
    kernel = dev.compute_pipeline(text, label="k")
    assert "storage_buffer" in kernel._repr_html_()
    held = dev.descriptor_set(kernel, 0, {"B": vertices}, label="s")
    assert "tilegpu.Buffer" in held._repr_html_() and "storage_buffer" in held._repr_html_()
    assert "uniform_buffer" in dev.descriptor_set_layout({3: "uniform_buffer"})._repr_html_()
    rp = dev.render_pass(tg.Attachment(out.view(levels=1), clear=(0, 0, 0, 0)), label="<a>")
    assert "&lt;" in rp._repr_html_() or "RenderPass" in rp._repr_html_()
    with rp:
        counted = rp.statistics()
        assert "StatisticsQuery" in counted._repr_html_()
        with counted:
            pass
    assert "vertex shader invocations" in counted._repr_html_() and "<table>" in rp._repr_html_()
    layout = tg.FramebufferLayout(color=[COLOR], size=(4, 4))
    assert "color0" in dev.framebuffer(layout, store={"color0": out.view(levels=1)})._repr_html_()
    assert "differing" in tilegpu.testing.difference_of(np.zeros((2, 2), "u1"), np.ones((2, 2), "u1"))._repr_html_()


def test_a_filter_beside_filter_is_heard() -> None:
    dev = tg.Device(threads=1)
    filters = ("mag", "min", "mip")
    for given, linear in (("mag_filter", "mag"), ("min_filter", "min"), ("mipmap_mode", "mip")):
        made = repr(dev.sampler(filter="nearest", **{given: "linear"}))
        assert all(f"{name} {'linear' if name == linear else 'nearest'}" in made for name in filters), made


def test_blending_of_nothing_beside_a_logic_operation() -> None:
    dev = tg.Device(threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev.pipeline(COVER, WHITE, color=[COLOR], blend=[None], logic_op="xor")
        dev.pipeline(COVER, WHITE, color=[COLOR], line_width=2.0, dynamic=["line_width"], topology="line_list")
    with pytest.warns(tg.UnusedNameWarning, match="blend has no effect beside logic_op"):
        dev.pipeline(COVER, WHITE, color=[COLOR], blend=["alpha"], logic_op="xor")


def test_commands_of_a_view_of_a_part() -> None:
    """They go by the image: the other layers were cleared too."""
    dev = tg.Device(threads=1)
    image = dev.image((4, 4), COLOR, layers=2, mip_levels=2)
    for view in (image.view("2d", layer=1, layers=1), image.view("2d_array", level=1, levels=1)):
        with pytest.raises(tg.ValidationError, match=r"is a view of a part of image .*give the image, and the command's own"):
            dev.clear(view, (1, 1, 1, 1))
    dev.clear(image.view("2d_array"), (1, 1, 1, 1))
    assert image.numpy(layer=1).min() == 255


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ({"type": "2d", "layer": 1, "layers": 1}, "1 of 2 layers, from 1 on"),
        ({"level": 1}, "1 of 2 levels, from 1 on"),
        ({"format": "r8g8b8a8_uint"}, "the texels as r8g8b8a8_uint"),
        ({"swizzle": "bgra"}, "the components as 'bgra'"),
    ],
)
def test_every_command_refuses_a_view_of_a_part(shown: dict[str, Any], said: str) -> None:
    dev = tg.Device(threads=1)
    make = lambda **more: dev.image((4, 4), COLOR, layers=2, mip_levels=more.pop("mip_levels", 2), **more)  # noqa: E731
    image, other, many = make(label="a"), make(), make(samples=4, mip_levels=1)
    for each in (image, other, many):
        dev.clear(each, (0, 0, 0, 0))
    part, room = image.view(**shown), dev.buffer(4 * 4 * 4)
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("clear", lambda: dev.clear(part, (1, 1, 1, 1))),
        ("copy: source", lambda: dev.copy(part, other)),
        ("copy: source", lambda: dev.copy(part, room)),
        ("copy: destination", lambda: dev.copy(other, part)),
        ("copy: destination", lambda: dev.copy(np.ones((4, 4, 4), np.uint8), part)),
        ("blit: source", lambda: dev.blit(part, other)),
        ("blit: destination", lambda: dev.blit(other, part)),
        ("resolve: destination", lambda: dev.resolve(many, part)),
        ("generate_mipmaps", lambda: dev.generate_mipmaps(part)),
    ]
    for what, call in calls:
        with pytest.raises(tg.ValidationError) as error:
            call()
        text = str(error.value)
        assert text.startswith(f"{what} is a view of a part of image 'a', or of it in another way: it shows {said}"), text
        assert "give the image, and the command's own level, layer or aspect" in text
    assert not image.numpy().any() and not image.numpy(layer=1).any() and not room.numpy().any()
    dev.copy(other.view(), image.view())


def test_a_command_refuses_a_view_of_one_aspect() -> None:
    dev = tg.Device(threads=1)
    image = dev.image((4, 4), "d32_sfloat_s8_uint", label="d")
    with pytest.raises(tg.ValidationError, match="it shows the stencil aspect alone"):
        dev.clear(image.view(aspect="stencil"), depth=1.0)
    dev.clear(image.view(), depth=1.0, stencil=3)
    with pytest.raises(tg.ValidationError, match="it shows the stencil aspect alone"):
        dev.copy(image.view(aspect="stencil"), dev.buffer(4 * 4 * 4))  # depth would come
    only = dev.image((4, 4), "d32_sfloat")
    dev.clear(only.view(aspect="depth"), depth=0.5)  # it has no other
    assert only.numpy().max() == 0.5
