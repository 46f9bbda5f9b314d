"""Which texels of an image a shader can read: only where these are undefined is there a warning, and on a strict device an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
COLOR = "r8g8b8a8_unorm"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1, strict=True)


def chain(dev: tg.Device, *written: int) -> tg.Image:
    """Five levels, of which some were written."""
    image = dev.image((16, 16), COLOR, mip_levels=5, label="chain")
    for level in written:
        dev.clear(image, (1, 1, 1, 1), level=level, levels=1)
    return image


def draw(dev: tg.Device, declared: str, result: str, **bind: Any) -> float:
    frag = f"#version 450\n{declared}\nlayout(location = 0) out vec4 o; void main() {{ o = vec4({result}); }}"
    out = dev.image((4, 4), COLOR)
    pipe = dev.pipeline(COVER, frag, color=[COLOR])
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(pipe, count=3, bind=bind)
    return float(out.numpy()[0, 0, 0])


ONE = "layout(binding = 0) uniform sampler2D t;"
NEAREST, LINEAR = {"mipmap_mode": "nearest"}, {"mipmap_mode": "linear"}


@pytest.mark.parametrize(
    ("result", "options", "levels"),
    [
        ("texture(t, vec2(0.5))", {}, "01234"),
        ("texture(t, vec2(0.5))", {"max_lod": 0.0}, "0"),
        ("texture(t, vec2(0.5))", {"min_lod": 1.0, "max_lod": 2.0}, "12"),
        ("texture(t, vec2(0.5))", {"min_lod": 1.4, "max_lod": 1.6, **LINEAR}, "12"),
        ("texture(t, vec2(0.5))", {"min_lod": 1.6, "max_lod": 2.4, **NEAREST}, "2"),
        ("texture(t, vec2(0.5))", {"max_lod": 0.0, "mip_lod_bias": 3.0}, "0"),
        ("textureLod(t, vec2(0.5), 0.0)", {}, "0"),
        ("textureLod(t, vec2(0.5), 1.5)", LINEAR, "12"),
        ("textureLod(t, vec2(0.5), 1.4)", NEAREST, "1"),
        ("textureLod(t, vec2(0.5), 0.0)", {"min_lod": 2.0}, "2"),
        ("textureLod(t, vec2(0.5), 0.0)", {"mip_lod_bias": 1.0, **NEAREST}, "1"),
        ("textureLod(t, vec2(0.5), 9.0)", {}, "4"),
        ("textureLod(t, vec2(0.5), gl_FragCoord.x)", {}, "01234"),
        ("textureLod(t, vec2(0.5), 0.0) + textureLod(t, vec2(0.5), 2.0)", {}, "012"),
        ("textureGrad(t, vec2(0.5), vec2(0), vec2(0))", {}, "01234"),
        ("textureGather(t, vec2(0.5))", {}, "0"),
        ("texelFetch(t, ivec2(0), 0)", {}, "0"),
        ("texelFetch(t, ivec2(0), 2)", {}, "012"),  # levels below count too: a range begins at 0
        ("texelFetch(t, ivec2(0), int(gl_FragCoord.x))", {}, "01234"),
        ("vec4(textureSize(t, 0), textureQueryLevels(t), 1)", {}, ""),
        ("textureQueryLod(t, vec2(0.5)).x", {}, ""),
    ],
)
def test_levels_that_a_shader_can_read(dev: tg.Device, result: str, options: dict[str, Any], levels: str) -> None:
    """All of them written, nothing is said; one of them not, it is; what is not among them does not matter."""
    wanted = [int(level) for level in levels]
    sampler = dev.sampler(**options)
    draw(dev, ONE, result, t=(chain(dev, *wanted), sampler))
    for level in wanted:
        with pytest.raises(tg.UndefinedContentsError, match=rf"image 'chain' of level {level}, layer 0 are undefined"):
            draw(dev, ONE, result, t=(chain(dev, *(k for k in range(5) if k != level)), sampler))


ARRAYS = """layout(binding = 0) uniform sampler2DArray t; const vec3 AT = vec3(0.5, 0.5, 3);
vec4 any_of(sampler2DArray s) { return texture(s, vec3(0.5, 0.5, 2)); }"""


@pytest.mark.parametrize(
    ("result", "layers"),
    [
        ("texture(t, vec3(0.5, 0.5, 1))", "1"),
        ("texture(t, vec3(gl_FragCoord.xy * 0.1, 1.4))", "1"),
        ("textureLod(t, vec3(gl_FragCoord.xy, 1.5), 0.0)", "2"),  # to even
        ("texture(t, AT) + textureGather(t, vec3(gl_FragCoord.xy, 0))", "03"),
        ("texture(t, vec3(0.5, 0.5, 9))", "3"),
        ("texture(t, vec3(0.5, 0.5, -9))", "0"),
        ("texelFetch(t, ivec3(gl_FragCoord.xy * 0.1, 2), 0)", "2"),
        ("texelFetch(t, ivec3(0, 0, gl_FragCoord.x), 0)", "0123"),
        ("texture(t, vec3(0.5, 0.5, gl_FragCoord.x))", "0123"),
        ("any_of(t) + vec4(cos(gl_FragCoord.x), textureSize(t, 0))", "0123"),
        ("vec4(textureSize(t, 0), 1)", ""),
    ],
)
def test_layers_that_a_shader_can_read(dev: tg.Device, result: str, layers: str) -> None:
    """Constants say which; all others nobody knows."""
    read = [int(layer) for layer in layers]

    def array(*written: int) -> tg.Image:
        image = dev.image((16, 16), COLOR, layers=4, label="array")
        for layer in written:
            dev.clear(image, (1, 1, 1, 1), layer=layer, layers=1)
        return image

    draw(dev, ARRAYS, result, t=(array(*read), dev.sampler()))
    for missing in read:
        with pytest.raises(tg.UndefinedContentsError, match=f"of level 0, layer {missing} are undefined"):
            draw(dev, ARRAYS, result, t=(array(*(layer for layer in read if layer != missing)), dev.sampler()))
    if layers == "1":  # counted from the view's first one
        draw(dev, ARRAYS, result, t=(array(2).view("2d_array", layer=1, layers=3), dev.sampler()))


def test_cubes_that_a_shader_can_read(dev: tg.Device) -> None:
    image = dev.image((4, 4), COLOR, layers=12, cube=True, label="cubes")
    cubes, result = "layout(binding = 0) uniform samplerCubeArray t;", "texture(t, vec4(gl_FragCoord.xyz, 1))"
    dev.clear(image, (1, 1, 1, 1), layer=6, layers=6)
    draw(dev, cubes, result, t=(image, dev.sampler()))
    with pytest.raises(tg.UndefinedContentsError, match="of level 0, layer 0 are undefined"):
        draw(dev, cubes, result.replace("1)", "0)"), t=(image, dev.sampler()))


def test_two_stages_read_what_both_do(dev: tg.Device) -> None:
    out = dev.image((4, 4), COLOR)
    vert = COVER.replace("void main() {", ONE + "void main() { float s = textureLod(t, vec2(0.5), 3.0).x;")
    vert = vert.replace("0.5, 1)", "0.5 * s, 1)")
    frag = f"#version 450\n{ONE} layout(location = 0) out vec4 o; void main() {{ o = texelFetch(t, ivec2(0), 0); }}"
    pipe = dev.pipeline(vert, frag, color=[COLOR])
    for written, level in (((0, 3), -1), ((0, 1, 2), 3), ((1, 2, 3), 0)):
        image = chain(dev, *written)
        try:
            with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
                rp.draw(pipe, count=3, bind={"t": (image, dev.sampler())})
            found = ""
        except tg.UndefinedContentsError as error:
            found = str(error)
        assert (f"level {level}," in found) if level >= 0 else not found


def test_samplers_that_are_bound_apart(dev: tg.Device) -> None:
    declared = "layout(binding = 0) uniform texture2D t; layout(binding = 1) uniform sampler s;"
    image = chain(dev, 0)
    draw(dev, declared, "texture(sampler2D(t, s), vec2(0.5))", t=image, s=dev.sampler(max_lod=0.0))
    draw(dev, declared, "textureLod(sampler2D(t, s), vec2(0.5), 0.0)", t=image, s=dev.sampler())
    with pytest.raises(tg.UndefinedContentsError, match="level 1"):
        draw(dev, declared, "texture(sampler2D(t, s), vec2(0.5))", t=image, s=dev.sampler())


def test_sets_are_looked_at_for_each_pipeline(dev: tg.Device) -> None:
    frag = f"#version 450\n{ONE} layout(location = 0) out vec4 o; void main() {{ o = RESULT; }}"
    first = dev.pipeline(COVER, frag.replace("RESULT", "texelFetch(t, ivec2(0), 0)"), color=[COLOR])
    second = dev.pipeline(COVER, frag.replace("RESULT", "texture(t, vec2(0.5))"), color=[COLOR])
    bound = dev.descriptor_set(first, bind={"t": (chain(dev, 0), dev.sampler())})
    out = dev.image((4, 4), COLOR)
    with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(first, count=3, sets={0: bound})
    with pytest.raises(tg.UndefinedContentsError, match="level 1"), dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
        rp.draw(first, count=3, sets={0: bound})
        rp.draw(second, count=3, sets={0: bound})


def test_specialised_shaders_read_what_their_constants_leave_open(dev: tg.Device) -> None:
    """Which way a constant leads is known when the pipeline is made."""
    declared = ONE + " layout(constant_id = 0) const bool all_levels = false;"
    result = "all_levels ? texture(t, vec2(0.5)) : texelFetch(t, ivec2(0), 0)"
    draw(dev, declared, result, t=(chain(dev, 0), dev.sampler()))
    with pytest.raises(tg.UndefinedContentsError, match="level 1"):
        draw(dev, declared.replace("= false", "= true"), result, t=(chain(dev, 0), dev.sampler()))


#: Declarations, the level that the shader asks for, values of constants, which it is: "" for any.
ASKED: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "float": ("layout(constant_id = 0) const float L = 0;", "L", {"L": 1.0}, "1"),
    "default": ("layout(constant_id = 0) const float L = 2;", "L", {}, "2"),
    "other_id": ("layout(constant_id = 3) const int K = 0; layout(constant_id = 7) const int L = 0;", "L", {"K": 3, "L": 2}, "2"),
    "int": ("layout(constant_id = 0) const int L = 0;", "L", {"L": 3}, "3"),
    "uint": ("layout(constant_id = 0) const uint L = 0;", "float(L)", {"L": 1}, "1"),
    "sum": ("layout(constant_id = 0) const int L = 0;", "(L + 3) / 2 - 1", {"L": 4}, "2"),
    "sum_of_floats": ("layout(constant_id = 0) const float L = 0;", "L * 2.0 - 1.0", {"L": 1.5}, "2"),
    "chosen": ("layout(constant_id = 0) const bool L = false;", "(L ? 1 : 2)", {"L": True}, "1"),
    "negative": ("layout(constant_id = 0) const int L = 0;", "-L", {"L": -3}, "3"),
    "variable": ("layout(constant_id = 0) const int L = 0;", "l", {"L": 1}, "1"),
    "set_twice": ("layout(constant_id = 0) const int L = 0;", "m", {"L": 1}, ""),
    "divided_by_0": ("layout(constant_id = 0) const int L = 0;", "1 / L", {"L": 0}, ""),
    "run_time": ("layout(constant_id = 0) const int L = 0;", "L + int(gl_FragCoord.x)", {"L": 1}, ""),
}


@pytest.mark.parametrize("kind", ["textureLod", "texelFetch", "layer"])
@pytest.mark.parametrize("name", ASKED)
def test_levels_and_layers_by_the_constants_of_the_pipeline(dev: tg.Device, name: str, kind: str) -> None:
    """Whatever expression of them it is: the others need not be written, and the one that is asked for must."""
    declared, asked, constants, read = ASKED[name]
    array, sampler = kind == "layer", "sampler2DArray" if kind == "layer" else "sampler2D"
    result = {
        "textureLod": f"textureLod(t, vec2(0.5), {asked})",
        "texelFetch": f"texelFetch(t, ivec2(0), int({asked}))",
        "layer": f"texture(t, vec3(0.5, 0.5, {asked}))",
    }[kind]
    frag = f"""#version 450
{declared} layout(binding = 0) uniform {sampler} t; layout(location = 0) out vec4 o;
void main() {{ float l = L; float m = L; if (gl_FragCoord.x > 2.0) m = 3.0; o = {result}; }}"""
    if name == "chosen":
        frag = frag.replace("float l = L; float m = L;", "float l, m;")
    pipe = dev.pipeline(COVER, frag, color=[COLOR], constants=constants)

    def drawn(*written: int) -> int:
        image = dev.image((16, 16), COLOR, mip_levels=1 if array else 5, layers=5 if array else 1, label="i")
        for k in written:
            dev.clear(image, (1, 1, 1, 1), **({"layer": k, "layers": 1} if array else {"level": k, "levels": 1}))
        out = dev.image((4, 4), COLOR)
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, bind={"t": (image, dev.sampler(mipmap_mode="nearest", filter="nearest"))})
        return int(out.numpy()[0, 0, 0])

    below = range(int(read or 4)) if kind == "texelFetch" else ()  # its range begins at 0
    if read:
        assert drawn(int(read), *below) == 255
    else:
        assert drawn(*range(5)) in (0, 255)
    with pytest.raises(tg.UndefinedContentsError, match=f"of level {0 if array else read or 4}, layer {(read or 4) if array else 0} are"):
        drawn(*(k for k in range(5) if k != int(read or 4)))


def test_levels_of_a_pipeline_that_is_read_again(dev: tg.Device, tmp_path: Any) -> None:
    """What was known of the shader before is forgotten."""
    text = "#version 450\nlayout(constant_id = 0) const float L = 0; %s layout(location = 0) out vec4 o; void main() { o = %s; }"
    file = tmp_path / "a.frag"
    file.write_text(text % (ONE, "textureLod(t, vec2(0.5), L)"))
    pipe, out = dev.pipeline(COVER, file, color=[COLOR], constants={"L": 1.0}), dev.image((4, 4), COLOR)

    def drawn() -> None:
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(pipe, count=3, bind={"t": (chain(dev, 1), dev.sampler(mipmap_mode="nearest"))})

    drawn()
    file.write_text(text % (ONE, "textureLod(t, vec2(0.5), L + 1.0)"))
    pipe.reload()
    with pytest.raises(tg.UndefinedContentsError, match="level 2"):
        drawn()


# ------------------------------------------------------------------------------------------------------------ storage images

KERNEL = """#version 450
layout(local_size_x = 4, local_size_y = 4) in; layout(binding = 0, rgba8) uniform image2D i; layout(binding = 1) buffer B { vec4 b; };
layout(push_constant) uniform P { int n; };
void main() { ivec2 p = ivec2(gl_GlobalInvocationID.xy); BODY }"""
FIRST_STORES = {
    "same_variable": "imageStore(i, p, vec4(1)); b = imageLoad(i, p);",
    "same_expression": "imageStore(i, ivec2(gl_GlobalInvocationID.xy), vec4(1)); b = imageLoad(i, ivec2(gl_GlobalInvocationID.xy));",
    "with_an_offset": "imageStore(i, p + ivec2(n, 1), vec4(1)); b = imageLoad(i, p + ivec2(n, 1));",
    "in_a_branch_behind_it": "imageStore(i, p, vec4(1)); if (n == 1) b = imageLoad(i, p);",
    "stores_alone": "imageStore(i, p, vec4(1)); b = vec4(0);",
    "asks_its_size": "b = vec4(imageSize(i), 0, 0);",
}
READS_FIRST = {
    "load_first": "b = imageLoad(i, p); imageStore(i, p, vec4(1));",
    "neighbour": "imageStore(i, p, vec4(1)); b = imageLoad(i, p + ivec2(1, 0));",
    "other_offset": "imageStore(i, p + ivec2(n, 1), vec4(1)); b = imageLoad(i, p + ivec2(1, n));",
    "store_in_a_branch": "if (n == 1) imageStore(i, p, vec4(1)); b = imageLoad(i, p);",
    "variable_that_changes": "imageStore(i, p, vec4(1)); p += 1; b = imageLoad(i, p);",
    "load_alone": "b = imageLoad(i, p);",
}


@pytest.mark.parametrize("name", [*FIRST_STORES, *READS_FIRST])
def test_kernels_that_store_before_they_load(dev: tg.Device, name: str) -> None:
    body = {**FIRST_STORES, **READS_FIRST}[name]
    kernel = dev.compute_pipeline(KERNEL.replace("BODY", body))
    bind = {"i": dev.image((8, 8), COLOR, label="i")} | ({"B": dev.buffer(16)} if "b =" in body else {})
    push = {"n": 1} if kernel.has_push else None
    if name in READS_FIRST:
        with pytest.raises(tg.UndefinedContentsError, match="may be read, but the contents of image 'i' are undefined"):
            dev.dispatch(kernel, 1, bind=bind, push=push)
    else:
        dev.dispatch(kernel, 1, bind=bind, push=push)


def test_a_draw_reads_what_the_one_before_it_stored(dev: tg.Device) -> None:
    frag = "#version 450\nlayout(binding = 0, rgba8) uniform image2D i; layout(location = 0) out vec4 o; void main() { BODY }"
    stores = dev.pipeline(COVER, frag.replace("BODY", "imageStore(i, ivec2(gl_FragCoord.xy), vec4(1)); o = vec4(1);"), color=[COLOR])
    loads = dev.pipeline(COVER, frag.replace("BODY", "o = imageLoad(i, ivec2(gl_FragCoord.xy));"), color=[COLOR])
    out = dev.image((8, 8), COLOR)

    def both(first: Any, second: Any) -> None:
        image = dev.image((8, 8), COLOR)
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
            rp.draw(first, count=3, bind={"i": image})
            rp.draw(second, count=3, bind={"i": image})

    both(stores, loads)
    with pytest.raises(tg.UndefinedContentsError):
        both(loads, stores)


# ----------------------------------------------------------------------------------------------- work that lies in buffers

POINTS = "#version 450\nvoid main() { gl_Position = vec4(0, 0, 0, 1); gl_PointSize = 1.0; }"
WHITE = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


@pytest.mark.parametrize("rows", [[(1 << 30, 1, 0, 0)], [(1, 1 << 30, 0, 0)], [(1 << 27, 1, 0, 0)] * 3, [(0xFFFFFFFF, 0xFFFFFFFF, 0, 0)]])
def test_indirect_draws_have_a_budget(rows: list[tuple[int, ...]]) -> None:
    dev = tg.Device(threads=1)
    out = dev.image((4, 4), COLOR)
    dev.clear(out, (0, 0, 0, 0))
    pipe = dev.pipeline(POINTS, WHITE, color=[COLOR], topology="point_list", label="p")
    text = r"pass 'a': an indirect draw of pipeline 'p' asks for \d+ vertices in \d+ instances; .* may have 268435456 vertices together"
    with pytest.raises(tg.DeviceLostError, match=text), dev.render_pass(color=out, label="a") as rp:
        rp.draw(pipe, count=1)
        rp.draw_indirect(pipe, np.array(rows, "u4"))
    assert not out.numpy().any()  # nothing was drawn
    small = tg.Device(threads=1, indirect_budget=100)
    pipe = small.pipeline(POINTS, WHITE, color=[COLOR], topology="point_list")
    for count, fits in ((50, True), (51, False)):
        try:
            with small.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))) as rp:
                rp.draw(pipe, count=1000)  # what the program says itself is no matter of the budget
                rp.draw_indirect(pipe, np.array([(count, 1, 0, 0), (25, 2, 0, 0), (7, 0, 0, 0)], "u4"))
            assert fits and rp.stats.draws == 4
        except tg.DeviceLostError:
            assert not fits


def test_indirect_dispatches_have_a_budget() -> None:
    dev = tg.Device(threads=1, indirect_budget=1024)
    text = "#version 450\nlayout(local_size_x = 64) in; layout(binding = 0) buffer B { uint b[]; }; void main() { b[0] = 1; }"
    kernel, result = dev.compute_pipeline(text, label="k"), dev.buffer(np.zeros(4, "u4"))
    match = "dispatch of pipeline 'k': the indirect buffer asks for 17 workgroups of 64 invocations; an indirect dispatch may have 1024"
    with pytest.raises(tg.DeviceLostError, match=match):
        dev.dispatch_indirect(kernel, dev.buffer(np.array([17, 1, 1], "u4")), bind={"B": result})
    assert not result.numpy().any()
    dev.dispatch_indirect(kernel, dev.buffer(np.array([4, 2, 2], "u4")), bind={"B": result})
    assert result.numpy()[0] == 1
