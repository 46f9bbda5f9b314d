"""Attributes that would do nothing where they are set: names that mean something, in this package or where users come from."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import argument_names, set_names
from tilegpu.math import OrbitCamera

F = "r8g8b8a8_unorm"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
STORES = "#version 450\nlayout(binding = 0) buffer B { float x; }; void main() { x = 1; }"


@pytest.fixture(scope="module")
def things() -> dict[str, Any]:
    """One of each that takes attributes of the user's own."""
    dev = tg.Device(threads=1)
    out = dev.image((8, 8), F, label="a")
    layout = tg.FramebufferLayout([F], size=(8, 8))
    framebuffer = dev.framebuffer(layout, {"color0": tg.Load(clear=(0, 0, 0, 1))}, {"color0": out})
    frame, rp = dev.frame("f", outputs=[out]), dev.render_pass(tg.Attachment(out, clear=(0, 0, 0, 1)), label="r")
    with frame, rp:
        pass
    return {
        "device": dev, "image": out, "buffer": dev.buffer(64, label="b"), "pass": rp, "frame": frame, "framebuffer": framebuffer,
        "pipeline": dev.pipeline(FULL, WHITE, color=[F], label="p"), "compute": dev.compute_pipeline(STORES, label="c"),
        "secondary": dev.secondary(color=[F], label="s"), "layout": dev.descriptor_set_layout({0: "sampler"}, label="l"),
        "set": dev.descriptor_set(dev.descriptor_set_layout({0: "sampler"}), label="t"), "camera": OrbitCamera(),
    }  # fmt: skip


SAMPLED = "it is of samplers: dev.sampler({0}=...), or dev.texture(pixels, {0}=...)"


@pytest.mark.parametrize(
    ("what", "name", "said"),
    [
        ("pass", "depth_test", "render pass 'r': there is no attribute 'depth_test' to set; give it to dev.pipeline(depth_test=...)"),
        ("pass", "depthTest", "give it to dev.pipeline(depth_test=...)"),
        ("pass", "blend", "there is no attribute 'blend' to set; give it to dev.pipeline(blend=...)"),
        ("pass", "topology", "give it to dev.pipeline(topology=...)"),
        ("pass", "wireframe", "give it to dev.pipeline(polygon_mode=...)"),
        ("pass", "clear_color", "it is of an attachment: tilegpu.Attachment(image, clear=...) when the pass is made, or"),
        ("pass", "load_op", "give it to tilegpu.Attachment(load_op=...)"),
        ("pass", "uniforms", "give what they hold to rp.draw(push={...}) and rp.draw(bind={...})"),
        ("secondary", "depth_test", "secondary command buffer 's': there is no attribute 'depth_test' to set"),
        ("image", "filter", SAMPLED.format("filter")),
        ("image", "wrap", SAMPLED.format("address")),
        ("image", "mipmaps", "give it to dev.image(mip_levels=...) or dev.texture(mipmaps=...)"),
        ("image", "sampler", "give it to dev.texture(sampler=...)"),
        ("image", "data", "image.write(pixels=...)"),
        ("image", "topology", "give it to dev.pipeline(topology=...)"),
        ("image", "device", "image 'a': device can't be set"),
        ("pipeline", "uniforms", "pipeline 'p': there is no attribute 'uniforms' to set; give what they hold to rp.draw(push={...})"),
        ("pipeline", "blending", "give it to dev.pipeline(blend=...)"),
        ("pipeline", "program", "shaders are given where it is made: make a new one"),
        ("compute", "groups", "compute pipeline 'c': there is no attribute 'groups' to set; give it to dev.dispatch(groups=...)"),
        ("device", "debug", "device: there is no attribute 'debug' to set; did you mean 'strict'?"),
        ("device", "validation", "did you mean 'strict'?"),
        ("device", "workers", "give it to tilegpu.Device(threads=...)"),
        ("device", "viewport", "give it to rp.draw(viewport=...) or rp.set(viewport=...)"),
        ("device", "cull_mode", "give it to dev.pipeline(cull=...) or rp.set(cull_mode=...)"),
        ("device", "point_size", "the vertex shader says it: gl_PointSize"),
        ("device", "queue", "leaving the with block of a pass draws it, and waits"),
        ("buffer", "offset", "buffer 'b': there is no attribute 'offset' to set; give it to buffer.slice(offset=...)"),
        ("buffer", "count", "give it to rp.draw(count=...)"),
        ("buffer", "stride", "tilegpu.VertexBinding(stride=...)"),
        ("frame", "debug", "frame 'f': there is no attribute 'debug' to set; did you mean 'strict'?"),
        ("framebuffer", "clear_color", "framebuffer"),
        ("layout", "count", "descriptor set layout 'l': there is no attribute 'count' to set"),
        ("set", "bindings", "there is no attribute 'bindings' to set"),
        ("camera", "position", "orbit camera: there is no attribute 'position' to set; eye is where target, distance, yaw and pitch"),
        ("camera", "up", "up is +y; tilegpu.math.look_at(eye, target, up) makes the matrix of another one"),
        ("camera", "aspect", "projection(aspect) and view_projection(aspect) take it"),
        ("camera", "lookat", "set target, (x, y, z) of what the camera looks at"),
        ("camera", "lookAt", "set target"),
        ("camera", "rotation", "set yaw and pitch, in radians"),
        ("camera", "zNear", "set near"),
        ("camera", "field_of_view", "set fov_y, in degrees"),
        ("camera", "view_matrix", "tilegpu.math.look_at"),
    ],
)  # fmt: skip
def test_what_would_do_nothing(things: dict[str, Any], what: str, name: str, said: str) -> None:
    thing = things[what]
    with pytest.raises(tg.ValidationError) as caught:
        setattr(thing, name, 5)
    assert said in str(caught.value)
    assert name not in vars(thing)


@pytest.mark.parametrize(
    ("what", "name"),
    [("camera", "zoom"), ("camera", "view"), ("pass", "clear"), ("pass", "draw"), ("image", "write"), ("buffer", "slice"),
     ("device", "image"), ("device", "texture")],
)  # fmt: skip
def test_methods_are_called(things: dict[str, Any], what: str, name: str) -> None:
    """`rp.clear = (0, 0, 0, 1)` took the method's place; a function may."""
    thing = things[what]
    with pytest.raises(tg.ValidationError, match=rf"{name} is a method, which is called: {name}\(\.\.\.\); \(0, 0, 0, 1\) is none"):
        setattr(thing, name, (0, 0, 0, 1))
    before = getattr(thing, name)
    setattr(thing, name, lambda *_, **__: before)
    delattr(thing, name)
    assert getattr(thing, name) == before


def test_every_argument_is_refused_or_known(things: dict[str, Any]) -> None:
    """Arguments of what makes and draws, on all of these; and the words of other interfaces for them."""
    functions = (tg.Device.pipeline, tg.RenderPass.draw, tg.Device.render_pass, tg.Device.image, tg.Device.texture, tg.Device.buffer,
                 tg.Device.__init__, tg.Device.frame, tg.Attachment.__init__, tg.Sampler.__init__)  # fmt: skip
    arguments = {name for f in functions for name in inspect.signature(f).parameters} - {"self", "label", "sampling", "unknown"}
    assert len(arguments) > 90
    words = {"uniforms", "blending", "cull_face", "polygon_offset", "pixel_format", "wrap_mode", "sampleCount", "vertexBuffers", "lod_bias"}
    for what, thing in things.items():
        if what == "camera":
            continue
        settable = {"strict", *(n for n in vars(type(thing)) if callable(getattr(type(thing), n)))}
        taken = []
        for name in sorted({*arguments, *words} - settable):
            before = vars(thing).get(name)
            try:
                setattr(thing, name, before)
            except (tg.Error, AttributeError):
                continue
            taken.append(name)
        assert not taken, what


def test_names_of_the_users_own_are_kept(things: dict[str, Any]) -> None:
    for thing in things.values():
        for name in ("my_tag", "memo", "name", "path", "file", "scene_index", "brush", "renderer", "_mine"):
            setattr(thing, name, {"a": 1})
            setattr(thing, name, 2)
            assert getattr(thing, name) == 2
    image = things["image"]
    image.toarray = lambda: image.numpy()  # an adapter
    image.use = lambda unit: unit
    assert image.toarray().shape == (8, 8, 4) and image.use(3) == 3


def test_classes_of_the_users_own_have_attributes_of_their_own() -> None:
    class Renderer(tg.Device):
        def __init__(self) -> None:
            super().__init__(threads=1)
            self.color = self.image((4, 4), F)
            self.vertices = self.buffer(np.zeros(3, "f4"))
            self.clear_color = (0, 0, 0, 1)

    class Fly(OrbitCamera):
        def __init__(self) -> None:
            super().__init__()
            self.position = (0, 0, 1)

    renderer, fly = Renderer(), Fly()
    renderer.topology = "points"  # type: ignore[attr-defined]
    assert renderer.clear_color == (0, 0, 0, 1) and fly.position == (0, 0, 1)
    with pytest.raises(tg.ValidationError, match="loop_budget is given where it is made"):
        renderer.loop_budget = 3  # type: ignore[misc]


def test_cameras_are_set_copied_and_sent() -> None:
    camera = OrbitCamera()
    camera.target, camera.distance, camera.fov_y, camera.near = (1, 2, 3), 4.0, 60.0, 0.5
    for again in (copy.copy(camera), pickle.loads(pickle.dumps(camera))):
        assert again == camera


def test_what_is_said_of_each_word() -> None:
    """Calls that errors name are there, and no word that is refused of a camera is one of its own."""
    dev = tg.Device(threads=1)
    image = dev.image((4, 4), F)
    rp = dev.render_pass([tg.Attachment(image, clear=(0, 0, 0, 0))])
    of = {"dev": dev, "rp": rp, "image": image, "buffer": dev.buffer(4), "tilegpu": tg}
    for call in (*set_names._FIRST, *(c for calls in set_names._FIRST_OF.values() for c in calls)):
        owner, _, name = call.partition(".")
        assert callable(getattr(of[owner], name)), call
        assert call in set_names._calls, call
    camera = OrbitCamera()
    for word, said in set_names._CAMERA.items():
        assert word == argument_names.plain(word) and word not in vars(camera) and said
    with of["rp"]:
        pass


def test_what_another_device_made() -> None:
    """Layouts and pipelines of one device were taken by another one's sets and pipelines."""
    dev, other = tg.Device(threads=1), tg.Device(threads=1)
    layout = other.descriptor_set_layout({0: "storage_buffer"}, label="theirs")
    said = r"is descriptor set layout 'theirs', which another device made; make one with this device's descriptor_set_layout"
    with pytest.raises(tg.ValidationError, match=f"descriptor set 'set': layout {said}"):
        dev.descriptor_set(layout)
    with pytest.raises(tg.ValidationError, match=rf"set_layouts\[0\] {said}"):
        dev.compute_pipeline(STORES, set_layouts={0: layout})
    with pytest.raises(tg.ValidationError, match=rf"set_layouts\[1\] {said}"):
        dev.pipeline(FULL, WHITE, color=[F], set_layouts={1: layout})
    with pytest.raises(tg.ValidationError, match=r"layout is pipeline 'c', which another device made"):
        dev.descriptor_set(other.compute_pipeline(STORES, label="c"))
    own = other.descriptor_set(layout, bind={0: other.buffer(16)})
    other.dispatch(other.compute_pipeline(STORES, set_layouts={0: layout}), 1, sets={0: own})


def test_nothing_to_execute() -> None:
    dev = tg.Device(threads=1)
    with (
        pytest.raises(tg.ValidationError, match=r"pass 'r': execute_commands has no arguments; give it one secondary command buffer"),
        dev.render_pass(tg.Attachment(dev.image((4, 4), F), clear=(0, 0, 0, 0)), label="r") as rp,
    ):
        rp.execute_commands()
