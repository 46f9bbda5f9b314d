"""What is suggested for a name that there is not: what people mean, and at most a handful."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import argument_names, enums, keywords
from tilegpu.errors import candidates, near_names
from tilegpu.format_names import meant
from tilegpu.sampler import SamplerOptions

VERT = "#version 450\nvoid main() { gl_Position = vec4(0); }"


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("rgba8", "r8g8b8a8_unorm"), ("RGBA8", "r8g8b8a8_unorm"), ("GL_RGBA8", "r8g8b8a8_unorm"), ("rgba8unorm", "r8g8b8a8_unorm"),
        ("rgba8unorm-srgb", "r8g8b8a8_srgb"), ("SRGB8_ALPHA8", "r8g8b8a8_srgb"), ("bgra8", "b8g8r8a8_unorm"),
        ("bgra8unorm-srgb", "b8g8r8a8_srgb"), ("RGBA32F", "r32g32b32a32_sfloat"), ("r32f", "r32_sfloat"), ("r32float", "r32_sfloat"),
        ("rgba16float", "r16g16b16a16_sfloat"), ("rgba16f", "r16g16b16a16_sfloat"), ("rgba16", "r16g16b16a16_sfloat"),
        ("rg32ui", "r32g32_uint"), ("rg32uint", "r32g32_uint"), ("r8i", "r8_sint"), ("r8_snorm", "r8_snorm"), ("rgb8", "r8g8b8_unorm"),
        ("d32", "d32_sfloat"), ("depth32f", "d32_sfloat"), ("depth32float", "d32_sfloat"), ("GL_DEPTH_COMPONENT32F", "d32_sfloat"),
        ("depth24", "x8_d24_unorm_pack32"), ("depth24plus", "x8_d24_unorm_pack32"), ("d24", "x8_d24_unorm_pack32"),
        ("depth16unorm", "d16_unorm"), ("DEPTH24_STENCIL8", "d24_unorm_s8_uint"), ("depth24plus-stencil8", "d24_unorm_s8_uint"),
        ("depth32float-stencil8", "d32_sfloat_s8_uint"), ("d32fs8", "d32_sfloat_s8_uint"), ("stencil8", "s8_uint"),
        ("STENCIL_INDEX8", "s8_uint"), ("rgb10a2unorm", "a2b10g10r10_unorm_pack32"), ("RGB10_A2", "a2b10g10r10_unorm_pack32"),
        ("R11F_G11F_B10F", "b10g11r11_ufloat_pack32"), ("rg11b10ufloat", "b10g11r11_ufloat_pack32"),
        ("rgb9e5ufloat", "e5b9g9r9_ufloat_pack32"), ("r8g8b8a8", "r8g8b8a8_unorm"), ("R32G32_FLOAT", "r32g32_sfloat"),
    ],
)  # fmt: skip
def test_formats_of_other_interfaces(given: str, first: str) -> None:
    known = enums.format_names()
    assert given.lower() in known or next(name for name in meant(given) if name in known) == first
    if given.lower() in known:
        return
    with pytest.raises(tg.UnsupportedError) as error:
        tg.Device().image((4, 4), given)
    said = str(error.value)
    assert f"format '{given}' is not known; did you mean '{first}'? among the" in said
    assert len(said.partition("that there are: ")[2].split(", ")) <= 5


def test_formats_that_nobody_means() -> None:
    assert meant("xyz8") == meant("rgba7") == meant("argb8") == meant("") == []
    with pytest.raises(tg.UnsupportedError, match=r"'qqq' is not known; among the \d+ that there are: ([a-z0-9_]+, ){5}\.\.\."):
        tg.Device().image((4, 4), "qqq")


def test_beginnings_are_near() -> None:
    assert near_names("add", ["alpha", "additive"]) == ["additive"] and near_names("al", ["alpha"]) == []
    assert candidates("add", ["alpha", "additive"]) == "; did you mean 'additive'? there are: alpha, additive"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda d: d.pipeline(VERT, color=["r8_unorm"], blend="add"), "which is no preset; did you mean 'additive'?"),
        (lambda d: d.buffer(16, usage="stroage"), "usage is 'stroage', which is no buffer_usage; did you mean 'storage'?"),
        (lambda d: d.buffer(16, usage="storage|vretex"), "did you mean 'vertex'?"),
        (lambda d: d.image((4, 4), "r8_unorm", usage="trasient"), "did you mean 'transient'?"),
        (lambda d: d.pipeline(VERT, culll="back"), "dev.pipeline: there is no argument 'culll'; did you mean 'cull'?"),
        (lambda d: d.pipeline(VERT, colour=[]), "no argument 'colour'; did you mean 'color'?"),
        (lambda d: d.compute_pipeline(VERT, labl="x"), "dev.compute_pipeline: there is no argument 'labl'; did you mean 'label'?"),
        (lambda d: d.image((4, 4), "r8_unorm", sampels=4), "dev.image: there is no argument 'sampels'; did you mean 'samples'?"),
        (lambda d: d.render_pass(colors=[]), "dev.render_pass: there is no argument 'colors'; did you mean 'color'?"),
    ],
)
def test_what_is_misspelt(call: Any, said: str) -> None:
    with pytest.raises(tg.ValidationError) as error:
        call(tg.Device())
    assert said in str(error.value)


def public_calls() -> list[tuple[str, Any]]:
    """Every public function, method and constructor of what users call, but for what takes any name."""
    import inspect

    import tilegpu.scene
    import tilegpu.testing
    from tilegpu._core import ExplainedMethod

    doors = {"tilegpu": tg, "tilegpu.math": tg.math, "tilegpu.shapes": tg.shapes, "scene": tilegpu.scene, "testing": tilegpu.testing}
    found: dict[int, tuple[str, Any]] = {}
    for door, module in doors.items():
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                found[id(value)] = (f"{door}.{name}", value)
            if not inspect.isclass(value) or issubclass(value, BaseException):
                continue
            for owner in value.__mro__:
                for method, call in vars(owner).items() if owner.__module__.startswith("tilegpu") else ():
                    if (inspect.isfunction(call) or isinstance(call, ExplainedMethod)) and not method.startswith("_"):
                        found[id(call)] = (f"{owner.__name__}.{method}", call)
    return list(found.values())


def test_every_public_call_knows_its_names() -> None:
    """Called with nothing but a name that there is not: the error says so, whatever else is missing."""
    calls = public_calls()
    assert len(calls) > 150
    plain, own = [], LOOK_THEMSELVES
    for name, call in calls:
        if name in own or name.rpartition(".")[2] in OF_DRAWS:
            continue
        try:
            call(object(), xyzzy=1)
        except tg.ValidationError as error:
            if "there is no argument 'xyzzy'" not in str(error):
                plain.append((name, str(error)))
        except Exception as error:
            plain.append((name, repr(error)))
        else:
            plain.append((name, "no error"))
    assert plain == []


#: They take more names than those that they list, or are called for each draw.
LOOK_THEMSELVES = {"PassCommands.draw", "PassCommands.set", "Device.texture", "Image.view", "Program.struct", "Scene.configured",
                   "View.pipeline", "scene.program"}  # fmt: skip
OF_DRAWS = {"pack_push", "plane_of", "push_bytes", "require_filter"}  # what draws ask of objects, and users don't


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda d: tg.Device(thread=1), "tilegpu.Device: there is no argument 'thread'; did you mean 'threads'?"),
        (lambda d: d.sampler(filtr="nearest"), "dev.sampler: there is no argument 'filtr'; did you mean 'filter'?"),
        (lambda d: d.texture(IMAGE, fliter="nearest"), "dev.texture: there is no argument 'fliter'; did you mean 'filter'?"),
        (lambda d: d.texture(IMAGE, mipmap=True), "dev.texture: there is no argument 'mipmap'; did you mean 'mipmaps'?"),
        (lambda d: tg.Attachment(None, loadop="clear"), "tilegpu.Attachment: there is no argument 'loadop'; did you mean 'load_op'?"),
        (lambda d: tg.VertexBinding(8, [], rat="vertex"), "tilegpu.VertexBinding: there is no argument 'rat'; did you mean 'rate'?"),
        (lambda d: d.image((4, 4), "r8_unorm").view(tpye="2d"), "image.view: there is no argument 'tpye'; did you mean 'type'?"),
        (lambda d: d.buffer(4).write(b"1", ofset=1), "buffer.write: there is no argument 'ofset'; did you mean 'offset'?"),
        (lambda d: drawn(d, lambda rp: rp.draw(None, vertex=1)), "rp.draw: there is no argument 'vertex'; did you mean 'vertices'?"),
        (lambda d: drawn(d, lambda rp: rp.draw_indirect(None, indirct=1)), "rp.draw_indirect: there is no argument 'indirct'; did you"),
        (lambda d: drawn(d, lambda rp: rp.clear((0, 0, 0, 0), rekt=1)), "rp.clear: there is no argument 'rekt'; did you mean 'rect'?"),
        (lambda d: tg.math.perspective(45, 1, near=1, fra=2), "tilegpu.math.perspective: there is no argument 'fra'; did you mean 'far'?"),
        (lambda d: tg.shapes.sphere(radus=1), "tilegpu.shapes.sphere: there is no argument 'radus'; did you mean 'radius'?"),
        (lambda d: d.image((4, 4)), "dev.image: missing 1 required positional argument: 'format'; its arguments are size, format, samples"),
    ],
)  # fmt: skip
def test_names_of_every_call(call: Any, said: str) -> None:
    with pytest.raises(tg.ValidationError) as error:
        call(tg.Device(threads=1))
    assert said in str(error.value)


IMAGE = np.zeros((4, 4, 4), "u1")

#: By call: what Vulkan, WebGPU, moderngl, OpenGL and Direct3D say, and the argument that is meant.
FOREIGN = {
    "dev.pipeline": {
        "cull_mode": "cull", "cullMode": "cull", "primitive_topology": "topology", "sample_count": "samples", "msaa": "samples",
        "wireframe": "polygon_mode", "depth_func": "depth_compare", "fragment_shader": "frag", "vertex_layout": "vertex",
        "depth_write_enabled": "depth_write", "color_formats": "color", "depth_format": "depth", "blend_mode": "blend",
        "specialization": "constants", "winding": "front_face", "polygon_offset": "depth_bias", "color_mask": "write_mask",
    },
    "rp.draw": {
        "push_constants": "push", "vertex_count": "count", "first_vertex": "first", "instance_count": "instances", "base_vertex":
        "vertex_offset", "vertex_buffer": "vertices", "index_buffer": "indices", "descriptor_sets": "sets", "uniforms": "push",
        "bind_group": "bind", "index_count": "count", "stencil_ref": "stencil_reference",
    },
    "tilegpu.Attachment": {"resolve_target": "resolve", "clear_value": "clear", "loadOp": "load_op", "store": "store_op", "mip": "level"},
    "dev.render_pass": {"render_area": "area", "color_attachments": "color", "depth_stencil": "depth", "sample_count": "samples"},
    "dev.image": {"mipmaps": "mip_levels", "extent": "size", "array_layers": "layers", "msaa": "samples", "memoryless": "transient"},
    "dev.sampler": {"wrap": "address", "address_mode": "address", "anisotropy": "max_anisotropy", "lod_bias": "mip_lod_bias",
                    "compare_op": "compare", "mipmap_filter": "mipmap_mode"},
    "dev.texture": {"wrap": "address", "mip_levels": "mipmaps", "data": "pixels"},
    "dev.buffer": {"size": "data", "contents": "data"},
    "tilegpu.Device": {"validation": "strict", "workers": "threads", "gpu": "profile"},
}  # fmt: skip
SAID_ELSEWHERE = {
    ("dev.render_pass", "clear"): r"tg.Attachment(image, clear=...)", ("dev.render_pass", "clear_color"): "tg.Attachment(image, clear",
    ("dev.pipeline", "push_constants"): "rp.draw(..., push=)", ("rp.draw", "topology"): "dev.pipeline(..., topology=)",
    ("dev.image", "data"): "dev.texture(pixels)",
}  # fmt: skip


def _refused(call: str, name: str) -> str:
    dev = tg.Device(threads=1)
    with pytest.raises(tg.ValidationError) as error:
        if call == "rp.draw":
            drawn(dev, lambda rp: rp.draw(None, **{name: 1}))
        elif call == "tilegpu.Device":
            tg.Device(**{name: 1})
        elif call == "tilegpu.Attachment":
            tg.Attachment(None, **{name: 1})
        else:
            made = {"dev.pipeline": ("", ""), "dev.image": ((4, 4), "r8_unorm"), "dev.texture": (IMAGE,)}.get(call, ())
            getattr(dev, call.partition(".")[2])(*made, **{name: 1})
    return str(error.value)


@pytest.mark.parametrize("call", FOREIGN)
def test_arguments_of_other_interfaces(call: str) -> None:
    """What is spelt alike is not what is meant: cull_mode led to line_mode, push_constants to blend_constants."""
    for name, own in FOREIGN[call].items():
        said = _refused(call, name)
        assert said.startswith(f"{call}: there is no argument '{name}'; did you mean '{own}'?"), said


@pytest.mark.parametrize(("call", "name"), SAID_ELSEWHERE)
def test_arguments_that_another_call_has(call: str, name: str) -> None:
    assert SAID_ELSEWHERE[call, name] in _refused(call, name)


def test_every_argument_that_is_suggested_is_there() -> None:
    """The table's own side: a word for an argument that no call has leads nowhere."""
    calls = [call for _, call in public_calls()] + [tg.Attachment.__init__, tg.Device.__init__, tg.RenderPass.draw, tg.farm.Job.__init__]
    known = {name for call in calls for name in keywords.names_of(inspect.unwrap(call))} | set(SamplerOptions.__annotations__)
    assert not [own for own in argument_names._WORDS if own not in known]


def drawn(dev: tg.Device, record: Any) -> None:
    with dev.render_pass(color=tg.Attachment(dev.image((4, 4), "r8_unorm"), clear=(0, 0, 0, 0))) as rp:
        record(rp)


def test_errors_of_what_is_called_stay_what_they_are() -> None:
    """A TypeError from inside a call is no word about its arguments."""

    class Odd:
        def __len__(self) -> int:
            raise TypeError("mine")

        def __iter__(self) -> Any:
            raise TypeError("mine")

    from tilegpu import keywords

    def inner(value: Any = None) -> int:
        return len(value)

    door: dict[str, Any] = {"inner": inner}
    keywords.explain_calls(door, ["inner"], "door")
    with pytest.raises(TypeError, match="mine"):
        door["inner"](Odd())
    with pytest.raises(tg.ValidationError, match=r"door.inner: there is no argument 'valu'; did you mean 'value'"):
        door["inner"](valu=Odd())
