"""Attributes that there are not, classes that users don't call, and blocks that are none: errors that say what is meant."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pydoc
import re
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

F = "r8g8b8a8_unorm"
FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
NOTHING = "#version 450\nlayout(local_size_x = 1) in; void main() { }"


@pytest.fixture(scope="module")
def things() -> dict[str, Any]:
    """One of each that users hold."""
    dev = tg.Device(threads=1, strict=True)
    out, buffer = dev.image((8, 8), F, label="out"), dev.buffer(64, label="buffer")
    pipeline = dev.pipeline(FULL, WHITE, color=[F])
    attachment = tg.Attachment(out, clear=(0, 0, 0, 1))
    frame, rp = dev.frame("f", outputs=[out]), dev.render_pass(color=attachment)
    with frame, rp, rp.query() as query, rp.statistics() as statistics:
        rp.draw(pipeline, count=3)
    layout = tg.FramebufferLayout([F], size=(8, 8))
    framebuffer = dev.framebuffer(layout, {"color0": tg.Load(clear=(0, 0, 0, 1))}, {"color0": out})
    set_layout = dev.descriptor_set_layout({0: "uniform_buffer"})
    return {
        "device": dev, "image": out, "view": out.view(), "texture": dev.texture(np.zeros((4, 4, 4), np.uint8)), "sampler": dev.sampler(),
        "buffer": buffer, "slice": buffer.slice(0, 16), "texels": buffer.texels(F), "pipeline": pipeline, "attachment": attachment,
        "compute": dev.compute_pipeline(NOTHING), "pass": rp, "frame": frame, "node": frame.nodes[0], "stats": rp.stats,
        "frame stats": frame.stats, "query": query, "statistics": statistics, "layout": layout, "load": tg.Load(out),
        "store": tg.Store(out), "resolve": tg.Resolve("color0"), "desc": tg.FramebufferDesc(), "framebuffer": framebuffer,
        "interface": pipeline.interface, "explanation": rp.explain(), "set layout": set_layout, "secondary": dev.secondary(color=[F]),
    }  # fmt: skip


#: What is misspelt of each, and what is meant.
MISSPELT = {
    "device": ("bufer", "buffer"), "image": ("lable", "label"), "view": ("lever", "level"), "texture": ("samplr", "sampler"),
    "buffer": ("lable", "label"), "slice": ("ofset", "offset"), "texels": ("fromat", "format"), "pipeline": ("lable", "label"),
    "attachment": ("claer", "clear"), "compute": ("lable", "label"), "pass": ("explian", "explain"), "frame": ("unraed", "unread"),
    "node": ("lable", "label"), "stats": ("vertices_shadd", "vertices_shaded"), "frame stats": ("drews", "draws"),
    "query": ("sampels", "samples"), "layout": ("smaples", "samples"), "load": ("claer", "clear"), "store": ("alwyas", "always"),
    "resolve": ("mdoe", "mode"), "desc": ("draws_apart", "draws_a_part"), "framebuffer": ("lable", "label"),
    "interface": ("bindngs", "bindings"),
    "explanation": ("rosw", "rows"), "set layout": ("bindngs", "bindings"), "secondary": ("lable", "label"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(MISSPELT))
def test_what_is_read_and_is_not_there(things: dict[str, Any], what: str) -> None:
    """Slots, results and pieces of framebuffers said no more than Python does; what objects have of their own was never offered."""
    name, meant = MISSPELT[what]
    with pytest.raises(tg.Error, match=rf"there is no attribute '{name}'; did you mean '{meant}'\?") as caught:
        getattr(things[what], name)
    assert isinstance(caught.value, AttributeError)
    assert not hasattr(things[what], name) and getattr(things[what], name, 5) == 5
    with pytest.raises(tg.Error, match="there is no attribute 'xyzzy'") as caught:
        _ = things[what].xyzzy
    for inside in ("create", "core", "require_identity", "say_left_out", "built_before", "uses", "push_bytes"):
        assert f" {inside}," not in f"{caught.value},"


@pytest.mark.parametrize("what", ["attachment", "texture", "slice", "view", "sampler", "texels"])
def test_what_has_slots_takes_no_other(things: dict[str, Any], what: str) -> None:
    """`attachment.claer = ...` was a bare AttributeError, of views one of '_users'."""
    with pytest.raises(tg.Error, match=r"there is no attribute 'xyzzy' to set") as caught:
        things[what].xyzzy = 1
    assert isinstance(caught.value, AttributeError)


def test_attachments_are_set_by_their_names(things: dict[str, Any]) -> None:
    attachment = tg.Attachment(things["image"], clear=(0, 0, 0, 1))
    said = r"Attachment: there is no attribute 'claer' to set; did you mean 'clear'\? there are: clear, image, layer"
    with pytest.raises(tg.Error, match=said):
        attachment.claer = (1, 1, 1, 1)  # type: ignore[attr-defined]
    attachment.clear = (1, 0, 0, 1)
    with things["device"].render_pass(color=attachment):
        pass
    assert things["image"].numpy()[0, 0].tolist() == [255, 0, 0, 255]
    with pytest.raises(tg.ValidationError, match="size can't be set"):
        things["texture"].size = (1, 1)
    copied = copy.copy(attachment)
    assert (copied.image, copied.clear, copied.level) == (attachment.image, attachment.clear, 0)


@pytest.mark.parametrize(
    ("what", "name"),
    [("layout", "samples"), ("layout", "smaples"), ("load", "clear"), ("load", "claer"), ("store", "image"), ("resolve", "mode"),
     ("desc", "hsr_prepass"), ("desc", "draws_part"), ("desc", "xyzzy"), ("stats", "draws"), ("frame stats", "draws")],
)  # fmt: skip
def test_what_was_made_or_counted_is_not_set(things: dict[str, Any], what: str, name: str) -> None:
    """Pieces of a framebuffer took anything, and stats answered with what was set."""
    before = repr(things[what])
    said = f"{name} is given where it is made|{name} can't be set|there is no attribute '{name}' to set"
    with pytest.raises(tg.ValidationError, match=said):
        setattr(things[what], name, 3)
    assert repr(things[what]) == before


def test_results_still_go_to_other_processes(things: dict[str, Any]) -> None:
    for what in ("stats", "frame stats"):
        assert pickle.loads(pickle.dumps(things[what])).asdict() == things[what].asdict()
        assert copy.copy(things[what]).draws == things[what].draws == 1


CALLS: dict[str, tuple[Any, ...]] = {
    "Image": ((8, 8), F), "Buffer": (64,), "BufferSlice": (0, 4), "BufferView": (F,), "Pipeline": (FULL, WHITE),
    "ComputePipeline": (NOTHING,), "RenderPass": (), "Frame": ("name",), "DescriptorSet": (), "DescriptorSetLayout": ({},),
    "Framebuffer": (), "ImageView": (), "Query": (), "StatisticsQuery": (),
    "Replay": ("a.tgcap",), "SecondaryCommandBuffer": (),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CALLS))
def test_classes_that_are_not_called(name: str) -> None:
    """`tg.Image((8, 8), format)` was Python's TypeError about arguments that nobody gives."""
    made_by = r"(dev\.\w+\(|buffer\.|image\.|frame\.|pipeline\.|rp\.)"
    with pytest.raises(tg.ValidationError, match=rf"^tilegpu\.{name} is not called: .*{made_by}"):
        getattr(tg, name)(*CALLS[name])


@pytest.mark.parametrize("name", list(tg._MODULES))
def test_modules_that_are_called(name: str) -> None:
    """`tg.image(...)` in place of `dev.image(...)` was "'module' object is not callable"."""
    with pytest.raises(tg.ValidationError, match=rf"^tilegpu\.{name} is a module of the package, and not called: .+"):
        getattr(tg, name)((8, 8), F)
    assert importlib.import_module(f"tilegpu.{name}") is getattr(tg, name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("texture", "a device has it: dev.texture, with dev = tilegpu.Device()"), ("dispatch", "a device has it: dev.dispatch"),
     ("Devcie", "did you mean 'Device'?"), ("Texure", "did you mean 'Texture'?"), ("shape", "did you mean 'shapes'?")],
)  # fmt: skip
def test_names_that_the_package_has_not(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"module 'tilegpu' has no attribute '{name}'; {meant}")):
        getattr(tg, name)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("label", 3, "device: label is 3; it must be text"), ("label", None, "device: label is None; it must be text"),
     ("strict", "no", "device: strict is 'no'; it must be True or False"), ("default_trace", "yes", "default_trace is 'yes'; it must be")],
)  # fmt: skip
def test_what_may_be_set_is_looked_at(name: str, value: Any, said: str) -> None:
    """`dev.strict = "no"` was strict."""
    dev = tg.Device(threads=1)
    before = getattr(dev, name)
    with pytest.raises(tg.ValidationError, match=said):
        setattr(dev, name, value)
    assert getattr(dev, name) == before
    dev.label, dev.strict = "mine", True
    assert (dev.label, dev.strict) == ("mine", True)


def test_parts_of_scenes_and_results(things: dict[str, Any]) -> None:
    scene = tg.scene
    draw = scene.Draw(scene.Program(FULL, WHITE), count=3)
    camera, history = tg.math.OrbitCamera(), things["pass"].why(1, 1)
    things_ = (
        (draw, "vertces", "vertices"), (draw.state, "cul", "cull"), (tg.shapes.cube(), "indicse", "indices"), (camera, "veiw", "view"),
        (history, "fragmnts", "fragments"), (tg.farm.Job("triangle"), "scen", "scene"),
    )  # fmt: skip
    for thing, name, meant in things_:
        with pytest.raises(tg.Error, match=f"there is no attribute '{name}'; did you mean '{meant}'") as caught:
            getattr(thing, name)
        assert isinstance(caught.value, AttributeError) and not hasattr(thing, name)
    for again in (pickle.loads(pickle.dumps(draw)), copy.deepcopy(draw), dataclasses.replace(draw)):
        assert (again.count, again.program.vertex) == (3, FULL)
    texture = things["texture"]
    for name, value, said in (("sampler", "linear", r"it must be dev\.sampler\(\)"), ("image", texture, "it must be an image")):
        with pytest.raises(tg.ValidationError, match=f"texture: {name} is .*; {said}"):
            setattr(texture, name, value)


@pytest.mark.parametrize("cls", [tg.Buffer, tg.Image, tg.RenderPass, tg.Frame, tg.Pipeline, tg.Device, tg.Sampler])
def test_help_is_of_the_interface(cls: type, things: dict[str, Any]) -> None:
    """What only the package calls stood between what users do."""
    text = pydoc.plain(pydoc.render_doc(cls))
    listed = {line[4:].split("(")[0].strip() for line in text.splitlines() if line[:4] == " |  " and line[4:5].isalpha()}
    inside = {"content_hash", "fitting", "create", "check_order", "add_pass", "say_left_out", "push_bytes", "levels_of", "host_wrote"}
    assert not listed & inside and not inside & {*dir(cls), *dir(things["buffer"]), *dir(things["pass"])}
    assert cls is not tg.Buffer or {"numpy", "slice", "write", "texels", "held", "size"} <= listed
    assert cls is not tg.RenderPass or {"draw", "query", "explain", "why", "stats", "lint"} <= listed
    assert things["buffer"].content_hash() and "views" in dir(tg.Query)


def test_a_texture_is_of_an_image_and_a_sampler(things: dict[str, Any]) -> None:
    assert tg.Texture(things["image"], things["sampler"]).image is things["image"]
    with pytest.raises(tg.ValidationError, match=r"texture: image is \(8, 8\); it must be an image; dev\.texture\(pixels\) makes both"):
        tg.Texture((8, 8), things["sampler"])  # type: ignore[arg-type]
    with pytest.raises(tg.ValidationError, match=r"texture: sampler is 'linear'; it must be dev\.sampler\(\)"):
        tg.Texture(things["image"], "linear")  # type: ignore[arg-type]


def test_a_device_may_be_a_block() -> None:
    with tg.Device(threads=1) as dev:
        image = dev.image((4, 4), F)
    with dev.render_pass(color=tg.Attachment(image, clear=(1, 1, 1, 1))):
        pass
    assert image.numpy().min() == 255


@pytest.mark.parametrize("what", ["image", "view", "buffer", "pipeline", "sampler", "framebuffer", "set layout"])
def test_what_is_no_block(things: dict[str, Any], what: str) -> None:
    said = "is no with block; nothing has to be freed: it lives as long as something names it"
    with pytest.raises(tg.ValidationError, match=said), things[what]:
        pass
