"""What objects say of themselves, printed and in notebooks; what can't be set; what does not go to another process."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import Environment, Interaction, Page, SceneRenderer, View
from tilegpu.scene.camera import OrbitCamera

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"
NAME = "<b>&"


def made(dev: tg.Device) -> Iterator[Any]:
    """One of each class that users hold in their hands."""
    image = dev.image((4, 4), "r8g8b8a8_unorm", label=NAME)
    buffer = dev.buffer(np.zeros(4, "f4"), label=NAME)
    pipe = dev.pipeline(FULL, WHITE, color=[image.format], label=NAME)
    layout = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=(4, 4))
    with dev.frame(NAME) as frame, dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 1))], label=NAME) as rp:
        with rp.query() as query, rp.statistics() as statistics:
            rp.draw(pipe, count=3)
        yield from (query, statistics)
    with dev.secondary(color=[image.format]) as secondary:
        pass
    yield from (dev, image, image.view(), buffer, buffer.slice(0, 4), buffer.texels("r32_sfloat"), pipe, pipe.interface, frame, rp, query)
    yield from (statistics, secondary, dev.sampler(), dev.texture(np.zeros((2, 2), np.uint8)), tg.Attachment(image, clear=(1, 0, 0, 1)))
    yield from (dev.compute_pipeline("#version 450\nvoid main() {}"), dev.sampler_ycbcr_conversion("g8_b8r8_2plane_420_unorm"))
    yield from (layout, tg.Load(image), tg.Store(image), tg.Resolve("color0"), tg.FramebufferDesc(draws_a_part=3))
    yield from (dev.framebuffer(layout, store={"color0": image}), frame.nodes[0], *frame.edges, tg.format_info("r8_unorm"))
    yield from (tg.shapes.sphere(), dev.descriptor_set_layout({0: "uniform_buffer"}))


def test_nothing_prints_its_address() -> None:
    for thing in made(tg.Device()):
        assert " object at 0x" not in str(thing) and "object at 0x" not in repr(thing), type(thing)


def test_queries_say_their_results() -> None:
    said: dict[str, list[str]] = {}
    for thing in made(tg.Device()):  # first while the pass is open
        said.setdefault(type(thing).__name__, []).append(repr(thing))
    assert said["Query"] == [f"<tilegpu.Query of pass '{NAME}', {result}>" for result in ("no result yet", "16 samples")]
    assert said["StatisticsQuery"][0] == f"<tilegpu.StatisticsQuery of pass '{NAME}', no result yet>"
    assert "input_assembly_vertices 3" in said["StatisticsQuery"][1]


KINDS = ("Sampler", "Attachment", "Mesh", "FormatInfo", "Node", "Query", "SamplerYcbcrConversion", "Device", "Image")


@pytest.mark.parametrize("kind", KINDS)
def test_notebooks_show(kind: str) -> None:
    found = [thing for thing in made(tg.Device()) if type(thing).__name__ == kind]
    assert found
    for thing in found:
        text = thing._repr_html_() if kind != "Image" else thing._repr_png_() and "<table"
        assert text.startswith(("<table", "<b>", "<div", "<pre")) and NAME not in text
        assert kind in ("Device", "Image") or "<td" in text


def _set(make: Callable[[tg.Device], Any], name: str) -> None:
    setattr(make(tg.Device()), name, 3)


IMAGE: Callable[[tg.Device], Any] = lambda dev: dev.image((4, 4), "r8_unorm", label="a")  # noqa: E731
ITSELF: Callable[[tg.Device], Any] = lambda dev: dev  # noqa: E731
BUFFER: Callable[[tg.Device], Any] = lambda dev: dev.buffer(np.zeros(3, "f4"), label="b")  # noqa: E731
PIPELINE: Callable[[tg.Device], Any] = lambda dev: dev.pipeline(FULL, WHITE, color=["r8_unorm"], label="p")  # noqa: E731
SECONDARY: Callable[[tg.Device], Any] = lambda dev: dev.secondary(color=["r8_unorm"], label="s")  # noqa: E731
COMPUTE: Callable[[tg.Device], Any] = lambda dev: dev.compute_pipeline("#version 450\nvoid main() {}", label="c")  # noqa: E731
PASS: Callable[[tg.Device], Any] = lambda dev: dev.render_pass([IMAGE(dev)], label="r")  # noqa: E731
VIEW: Callable[[tg.Device], Any] = lambda dev: IMAGE(dev).view()  # noqa: E731


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (IMAGE, "size", "image 'a': size is given where it is made; make a new one with size="),
        (IMAGE, "lable", "image 'a': there is no attribute 'lable' to set; did you mean 'label'?"),
        (IMAGE, "format", "image 'a': format "),
        (ITSELF, "loop_budget", "device: loop_budget is given where it is made; make a new one with loop_budget="),
        (ITSELF, "loop_budgt", "device: there is no attribute 'loop_budgt' to set; did you mean 'loop_budget'?"),
        (ITSELF, "info", "device: info can't be set"),
        (BUFFER, "size", "buffer 'b': size "),
        (BUFFER, "dtyp", "did you mean 'dtype'?"),
        (PIPELINE, "interface", "pipeline 'p': interface "),
        (IMAGE, "labell", "did you mean 'label'?"),
        (IMAGE, "sise", "did you mean 'size'?"),
        (IMAGE, "sampels", "did you mean 'samples'?"),
        (SECONDARY, "lable", "secondary command buffer 's': there is no attribute 'lable' to set; did you mean 'label'?"),
        (SECONDARY, "unndefined", "did you mean 'undefined'?"),
        (SECONDARY, "uses", "secondary command buffer 's': uses can't be set"),
        (VIEW, "layer", "image view: layer is given where it is made; make a new one with layer="),
        (VIEW, "levle", "image view: there is no attribute 'levle' to set; did you mean 'level'?"),
        (PIPELINE, "cull", "pipeline 'p': cull is given where it is made; make a new one with cull="),
        (PIPELINE, "blend", "make a new one with blend="),
        (PIPELINE, "depth_test", "make a new one with depth_test="),
        (PIPELINE, "topology", "make a new one with topology="),
        (PIPELINE, "line_width", "make a new one with line_width="),
        (PIPELINE, "constants", "make a new one with constants="),
        (PIPELINE, "write_mask", "make a new one with write_mask="),
        (PIPELINE, "depth_tset", "did you mean 'depth_test'?"),
        (PIPELINE, "cull_mode", "cull_mode can't be set; say it with dev.pipeline's arguments, or with dynamic=['cull_mode'] there and"),
        (COMPUTE, "constants", "compute pipeline 'c': constants is given where it is made; make a new one with constants="),
        (COMPUTE, "defines", "make a new one with defines="),
        (PASS, "viewport", "render pass 'r': viewport can't be set; give it to draw(..., viewport=...), or set(viewport=...)"),
        (PASS, "scissor", "scissor can't be set; give it to draw(..., scissor=...), or set(scissor=...)"),
        (PASS, "cull_mode", "cull_mode can't be set; give it to set(cull_mode=...) for draws whose pipeline lists it in dynamic"),
        (PASS, "push", "push can't be set; give it to each draw: draw(..., push=...)"),
        (SECONDARY, "viewport", "secondary command buffer 's': viewport can't be set; give it to draw(..., viewport=...)"),
        (lambda dev: dev.sampler(), "lod_bias", "sampler: lod_bias "),
        (lambda dev: BUFFER(dev).texels("r32_sfloat"), "format_info", "buffer view: format_info "),
        (lambda dev: dev.descriptor_set_layout({0: "sampler"}, label="l"), "bindigns", "did you mean 'bindings'?"),
        (lambda dev: dev.sampler_ycbcr_conversion("g8_b8r8_2plane_420_unorm"), "format_info", "conversion: format_info "),
    ],
)
def test_what_was_made_is_as_it_was_made(make: Callable[[tg.Device], Any], name: str, said: str) -> None:
    with pytest.raises(tg.ValidationError) as error:
        _set(make, name)
    assert said in str(error.value)


def test_names_of_the_users_own() -> None:
    dev = tg.Device()
    for thing in (dev, IMAGE(dev), BUFFER(dev), PIPELINE(dev), SECONDARY(dev)):
        for name in ("mine", "images", "_private", "pipelines", "notes", "format2", "xsize", "cores", "minee"):
            for value in ("x", "y"):  # their own can be changed
                setattr(thing, name, value)
            assert getattr(thing, name) == "y"
    for thing in (dev, IMAGE(dev), BUFFER(dev), PIPELINE(dev), SECONDARY(dev)):
        thing.label = "x"
    for thing in (VIEW(dev), dev.sampler(), BUFFER(dev).texels("r32_sfloat")):  # they have none
        for name in ("mine", "label"):
            with pytest.raises(AttributeError):
                setattr(thing, name, "x")
    dev.strict = True
    dev.image = lambda *_, **__: None  # type: ignore[method-assign, assignment]

    class Mine(tg.Device):
        def __init__(self) -> None:
            super().__init__()
            self.images = [self.image((4, 4), "r8_unorm")]

    assert Mine().images[0].size == (4, 4)


def scene_things() -> list[Any]:
    """What scenes have that may be set."""
    dev = tg.Device(threads=1)
    view = View(dev, (4, 4), 1, 0.0, None, Interaction())
    return [OrbitCamera(), SceneRenderer(dev), view, Page((4, 4), (4, 4)), Environment(np.zeros((2, 2, 3), "f4"))]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("OrbitCamera", "picth", "orbit camera: there is no attribute 'picth' to set; did you mean 'pitch'?"),
        ("OrbitCamera", "fov", "did you mean 'fov_y'?"),
        ("OrbitCamera", "fov_y_degrees", "did you mean 'fov_y'?"),
        ("OrbitCamera", "dist", "did you mean 'distance'?"),
        ("OrbitCamera", "near_plane", "did you mean 'near'?"),
        ("OrbitCamera", "distanc", "did you mean 'distance'?"),
        ("OrbitCamera", "eye", "orbit camera: eye can't be set"),
        ("SceneRenderer", "trase", "scene renderer: there is no attribute 'trase' to set; did you mean 'trace'?"),
        ("SceneRenderer", "dynamic", "scene renderer: dynamic is given where it is made; make a new one with dynamic="),
        ("SceneRenderer", "passes", "scene renderer: passes can't be set"),
        ("View", "aspect", "view: aspect can't be set"),
        ("View", "sampels", "view: there is no attribute 'sampels' to set; did you mean 'samples'?"),
        ("Page", "drwas", "page: there is no attribute 'drwas' to set; did you mean 'draws'?"),
        ("Environment", "irradience", "environment: there is no attribute 'irradience' to set; did you mean 'irradiance'?"),
    ],
)
def test_misspelt_attributes_of_scenes(kind: str, name: str, said: str) -> None:
    (thing,) = (thing for thing in scene_things() if type(thing).__name__ == kind)
    with pytest.raises(tg.ValidationError) as error:
        setattr(thing, name, 1)
    assert said in str(error.value)


def test_scenes_may_be_set_and_have_names_of_the_users_own() -> None:
    for thing in scene_things():
        for name in [n for n in vars(thing) if n[0] != "_"] + ["mine", "notes", "_private", "targets"]:
            setattr(thing, name, None)
    camera = copy.copy(OrbitCamera(yaw=1.0))
    camera.yaw = 2.0
    assert pickle.loads(pickle.dumps(camera)).yaw == 2.0

    class Mine(OrbitCamera):
        def __init__(self) -> None:
            super().__init__()
            self.speed = 3.0

    assert Mine().speed == 3.0


def test_nothing_of_a_device_is_pickled() -> None:
    told = 0
    for thing in made(tg.Device()):
        try:
            pickle.dumps(thing)
        except tg.ValidationError as error:
            told += 1
            assert "is of this process, and can't be pickled or copied; send arrays" in str(error) and "docs/farms.md" in str(error)
            assert isinstance(error, TypeError)
            with pytest.raises(tg.ValidationError):
                copy.deepcopy(thing)
            assert type(copy.copy(thing)) is type(thing)
    assert told >= 20
    info = tg.format_info("r8_unorm")
    assert pickle.loads(pickle.dumps(info)).name == copy.deepcopy(info).name == "r8_unorm"


def test_pillow_is_told_what_to_take() -> None:
    pillow: Any = pytest.importorskip("PIL.Image")
    dev = tg.Device()
    image = dev.image((4, 2), "r8g8b8a8_unorm", label="a")
    dev.clear(image, (1, 0, 0, 1))
    for thing in (image, image.view(), dev.texture(np.zeros((2, 2, 4), np.uint8)), dev.buffer(np.zeros((2, 2, 4), np.uint8))):
        with pytest.raises(tg.ValidationError, match=r"is no NumPy array; give np.asarray\(...\) of it") as error:
            pillow.fromarray(thing)
        assert isinstance(error.value, AttributeError) and not hasattr(thing, "__array_interface__")
        assert np.asarray(thing).dtype == np.uint8
    assert pillow.fromarray(np.asarray(image)).size == (4, 2)


def test_every_argument_of_a_maker_is_told() -> None:
    """Nothing that dev.pipeline or dev.compute_pipeline takes is taken as an attribute of the user's own."""
    dev = tg.Device()
    for thing, maker in ((PIPELINE(dev), tg.Device.pipeline), (COMPUTE(dev), tg.Device.compute_pipeline)):
        names = [name for name in inspect.signature(maker).parameters if name not in ("self", "label")]
        assert len(names) > 5
        for name in names:
            with pytest.raises(tg.ValidationError, match=name):
                setattr(thing, name, 1)
