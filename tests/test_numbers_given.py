"""Numbers that users give, in buffers, push constants and varyings: of the width and the components that shaders have, or an error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"
COLOR = "r8g8b8a8_unorm"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def copied(dev: tg.Device, source: tg.Buffer, kind: str = "float") -> list[float]:
    text = f"""#version 450
    layout(binding = 0) buffer Out {{ {kind} o[4]; }};
    layout(binding = 1) buffer In {{ {kind} x[4]; }};
    void main() {{ for (int k = 0; k < 4; k++) o[k] = x[k]; }}"""
    out = dev.buffer(np.zeros(4, {"float": "f4", "int": "i4", "double": "f8"}[kind]))
    dev.dispatch(dev.compute_pipeline(text), 1, bind={"Out": out, "In": source})
    return out.numpy().tolist()


def test_lists_have_32_bits(dev: tg.Device) -> None:
    assert copied(dev, dev.buffer([1.5, 2.0, 3.0, 4.0])) == [1.5, 2, 3, 4]
    assert copied(dev, dev.buffer([1, -2, 3, 4]), "int") == [1, -2, 3, 4]
    assert dev.buffer([1 << 40]).dtype == np.int64 and dev.buffer(np.zeros(2)).dtype == np.float64  # arrays say what they are
    buffer = dev.buffer(np.zeros(4, "f4"))
    buffer.write([1.0, 2.0], offset=4)
    assert copied(dev, buffer) == [0, 1, 2, 0]
    with pytest.raises(tg.ValidationError, match="write of float64; the buffer was made from float32: convert it with astype"):
        buffer.write(np.ones(2))
    buffer.write(np.ones(2, "f4").tobytes())
    dev.buffer(64).write(np.ones(2))  # nothing is known of this one


def test_numbers_of_64_bits_in_blocks(dev: tg.Device) -> None:
    with pytest.raises(tg.ValidationError, match="was made from float64, the block has no numbers of 64 bits; make it from float32"):
        copied(dev, dev.buffer(np.ones(4)))
    with pytest.raises(tg.ValidationError, match="was made from int64, the block has no numbers of 64 bits; make it from int32"):
        copied(dev, dev.buffer(np.ones(4, "i8")), "int")
    assert copied(dev, dev.buffer(np.ones(4)), "double") == [1] * 4
    vert = COVER.replace("void main() {", "layout(location = 0) in vec4 a; void main() {").replace("0, 1);", "a.x, 1);")
    out = dev.image((2, 2), COLOR)
    pipe = dev.pipeline(vert, WHITE, vertex=np.dtype(("f4", 4)), color=[COLOR])
    clear = tg.Attachment(out, clear=(0, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match="was made from float64"), dev.render_pass(color=clear) as rp:
        rp.draw(pipe, dev.buffer(np.zeros((3, 4))))


def test_indirect_parameters_are_whole_numbers(dev: tg.Device) -> None:
    """3.0 as bits are a thousand million vertices."""
    out = dev.image((2, 2), COLOR)
    pipe = dev.pipeline(COVER, WHITE, color=[COLOR])
    clear = tg.Attachment(out, clear=(0, 0, 0, 0))
    for wrong in ("f4", "f8", "i8", "u2"):
        match = f"indirect: buffer 'buffer' was made from {np.dtype(wrong)}; make it from uint32"
        with pytest.raises(tg.ValidationError, match=match), dev.render_pass(color=clear) as rp:
            rp.draw_indirect(pipe, dev.buffer(np.array([3, 1, 0, 0], wrong)))
    kernel = dev.compute_pipeline("#version 450\nvoid main() {}")
    with pytest.raises(tg.ValidationError, match="was made from float32; make it from uint32"):
        dev.dispatch_indirect(kernel, dev.buffer(np.ones(3, "f4")))
    command = np.array([(3, 1, 0, 0)], [(name, "u4") for name in ("vertexCount", "instanceCount", "firstVertex", "firstInstance")])
    with dev.render_pass(color=clear) as rp:
        rp.draw_indirect(pipe, dev.buffer(command))
        rp.draw_indirect(pipe, dev.buffer([3, 1, 0, 0]))
    assert out.numpy().min() == 255


PUSHED = """#version 450
layout(push_constant) uniform P { mat4 m; };
layout(location = 0) out vec4 o; void main() { o = m * vec4(0, 0, 0, 1); }"""


def test_push_constants_by_array_are_what_they_are_by_name(dev: tg.Device) -> None:
    matrix = np.eye(4)
    matrix[:, 3] = 1, 0.5, 0.25, 1
    out = dev.image((2, 2), COLOR)
    pipe = dev.pipeline(COVER, PUSHED, color=[COLOR])
    found = []
    for push in (matrix, {"m": matrix}, matrix.astype("i4") * 0 + matrix, matrix.astype("f4").T.tobytes()):
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, push=push)
        found.append(out.numpy()[0, 0].tolist())
    assert found == [[255, 128, 64, 255]] * 4
    two = dev.pipeline(COVER, PUSHED.replace("mat4 m;", "mat4 m; vec4 v;").replace("vec4(0, 0, 0, 1)", "v"), color=[COLOR])
    with pytest.raises(tg.ValidationError, match="it must be a mapping by name"), dev.render_pass(color=out) as rp:
        rp.draw(two, count=3, push=np.zeros(20, "f4"))


def test_components_that_are_read_are_declared(dev: tg.Device) -> None:
    vert = COVER.replace("void main() {", "layout(location = 0) out vec2 t; void main() { t = vec2(1);")
    frag = "#version 450\nlayout(location = 0) in vec3 t; layout(location = 0) out vec4 o; void main() { o = vec4(t, 1); }"
    match = r"pipeline 'p': the fragment shader reads 't' \(location 0\) as vec3, which the vertex shader writes as vec2 't'; declare"
    with pytest.raises(tg.ValidationError, match=match):
        dev.pipeline(vert, frag, color=[COLOR], label="p")
    dev.pipeline(vert, frag.replace("vec3 t", "vec2 t").replace("vec4(t, 1)", "vec4(t, 0, 1)"), color=[COLOR])
    dev.pipeline(vert, frag.replace("vec3 t", "float t").replace("vec4(t, 1)", "vec4(t)"), color=[COLOR])  # fewer are no mistake
    packed = vert.replace("out vec2 t;", "out vec2 t; layout(location = 0, component = 2) out vec2 u;")
    dev.pipeline(packed.replace("t = vec2(1);", "t = u = vec2(1);"), frag, color=[COLOR])


def test_levels_and_layers_that_nobody_wrote(dev: tg.Device) -> None:
    frag = """#version 450
    layout(binding = 0) uniform sampler2D s; layout(location = 0) out vec4 o; void main() { o = textureLod(s, vec2(0.5), 2); }"""
    image, out = dev.image((8, 8), COLOR, mip_levels=3, label="chain"), dev.image((2, 2), COLOR)
    dev.clear(image, (0, 1, 0, 1), level=0, levels=2)
    pipe = dev.pipeline(COVER, frag, color=[COLOR])

    def run(thing: Any) -> None:
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, bind={"s": (thing, dev.sampler())})

    with pytest.warns(tg.UndefinedContentsWarning, match="contents of image 'chain' of level 2, layer 0 are undefined"):
        run(image)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(image.view(levels=2))
        dev.clear(image, (0, 1, 0, 1), level=2, levels=1)
        run(image)


def test_numbers_of_mathematics() -> None:
    for call, message in (
        (lambda: tg.math.perspective("45", 1, 0.1, 10), "perspective: fov_y_degrees is '45'; it must be a number"),
        (lambda: tg.math.perspective(45, 1, None, 10), "perspective: near is None; it must be a number"),
        (lambda: tg.math.ray_through(np.eye(4), (5, 5), (0, 0)), r"ray_through: size is \(0, 0\); both sides must be above 0"),
        (lambda: tg.shapes.cube(attributes="position"), "shapes: attributes is 'position'; it must be a list of names"),
    ):
        with pytest.raises(tg.ValidationError, match=message):
            call()


def test_levels_and_layers_are_looked_at_once(dev: tg.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a cube with its chain there are 60: for each draw with a block of its own that was as much as all the rest of it."""
    asked = []
    look = tg.ImageView.undefined_part
    monkeypatch.setattr(tg.ImageView, "undefined_part", lambda view: asked.append(view) or look(view))
    frag = """#version 450
    layout(binding = 0) uniform samplerCube s; layout(binding = 1) uniform U { vec4 c; };
    layout(location = 0) out vec4 o; void main() { o = texture(s, vec3(1)) * c; }"""
    cube = dev.texture(np.zeros((6, 16, 16, 4), "u1"), cube=True, mipmaps=True)
    out, pipe = dev.image((2, 2), COLOR), dev.pipeline(COVER, frag, color=[COLOR])
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        for k in range(20):
            rp.draw(pipe, count=3, bind={"s": cube, "U": {"c": (1, 1, 1, k)}})
    assert len(asked) == 1


#: Of each kind of check that numbers go through; as many others go through the same.
BOOLEANS: dict[str, Any] = {
    "loop_budget is True": lambda d: tg.Device(loop_budget=True),
    "compile_timeout is True": lambda d: tg.Device(isolate_compiler=True, compile_timeout=True),
    "max_anisotropy is True": lambda d: d.sampler(max_anisotropy=True),
    "max_lod is True": lambda d: d.sampler(max_lod=True),
    "levels is True": lambda d: d.image((4, 4), "r8_unorm").view(levels=True),
    "samples is True": lambda d: d.secondary(color="r8_unorm", samples=True),
    "data is True": lambda d: d.buffer(True),
    "fov_y_degrees is True": lambda d: tg.math.perspective(True, 1.0, 0.1, 10),
    "one number": lambda d: d.render_pass(depth=tg.Attachment(d.image((4, 4), "d32_sfloat"), clear=True)).__enter__(),
    "has an item that is True": lambda d: d.clear(d.image((4, 4), "r8_unorm"), (True, 0, 0, 1)),
}


@pytest.mark.parametrize("said", BOOLEANS)
def test_booleans_are_no_numbers(said: str) -> None:
    with pytest.raises(tg.ValidationError, match=said):
        BOOLEANS[said](tg.Device(threads=1))


def test_a_draw_of_true_vertices() -> None:
    dev = tg.Device(threads=1)
    cover = "#version 450\nvoid main() { gl_Position = vec4(0, 0, 0, 1); }"
    pipe = dev.pipeline(cover, "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }", color="r8_unorm")
    with dev.render_pass(color=tg.Attachment(dev.image((4, 4), "r8_unorm"), clear=(0, 0, 0, 0))) as rp:
        for given in ({"count": True}, {"count": 3, "first": False}, {"count": 3, "first_instance": True}):
            with pytest.raises(tg.ValidationError, match=r"=(True|False).* must be whole numbers"):
                rp.draw(pipe, **given)
        rp.draw(pipe, count=np.int64(3), first=np.uint8(0))
