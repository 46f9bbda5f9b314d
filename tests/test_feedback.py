"""Passes that read other levels, layers and slices of their own attachments than they write: what is accessed decides.

In: views that show what the pass writes beside what it leaves. Out: exact texels of what is left, a warning where the shader could read
what is written too, an error where it can read nothing else. Source: Vulkan specification, "Render Pass Feedback Loop".
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import _core, enums

FULL = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
FORMAT = "r32g32b32a32_sfloat"
SIDE = 32
DOUBT = "as well; if it reads this one, the values are undefined; bind a view of those that it reads"


@pytest.fixture(scope="module", params=[4, 16])
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(cache_dir="off", threads=2, lanes=request.param)


def filled(dev: tg.Device, size: tuple[int, ...] = (SIDE, SIDE), **more: Any) -> tuple[tg.Image, dict[tuple[int, int], np.ndarray]]:
    """An image with other texels in every level and layer (or slice), and these by level and layer."""
    rng = np.random.default_rng(5)
    image = dev.image(size, FORMAT, label="film", **more)
    texels: dict[tuple[int, int], np.ndarray] = {}
    for level in range(image.mip_levels):
        w, h = (max(1, n >> level) for n in size[:2])
        slices = max(1, size[2] >> level) if len(size) > 2 else image.layers
        for layer in range(slices):
            texels[level, layer] = rng.random((h, w, 4), dtype=np.float32)
            where: dict[str, Any] = {"destination_pos": (0, 0, layer)} if len(size) > 2 else {"destination_layer": layer}
            dev.copy(texels[level, layer], image, destination_level=level, **where)
    return image, texels


def shader(declarations: str, body: str) -> str:
    return f"#version 450\n{declarations}\nlayout(location = 0) out vec4 o;\nvoid main() {{ {body} }}"


def draw(dev: tg.Device, color: Any, declarations: str, body: str, bind: dict[str, Any], **more: Any) -> list[str]:
    """What lint() says of possible feedback after one draw over everything."""
    attachments = color if isinstance(color, list) else [color]
    pipe = dev.pipeline(FULL, shader(declarations, body), color=[FORMAT] * len(attachments), label="p", **more)
    with dev.render_pass(color=attachments, label="pass") as rp:
        rp.draw(pipe, count=3, bind=bind)
    return [line for line in rp.lint() if "may read" in line or "may write" in line]


def refused(said: str) -> Any:
    return pytest.raises(tg.ValidationError, match=said)


READS = "'src' .*reads color0 of this pass, image 'film'"

# -- levels

LEVELS = "layout(binding = 0) uniform sampler2D src;"
READ_LEVELS = {
    "textureLod": "textureLod(src, (floor(gl_FragCoord.xy) * 2 + 0.5) / 32.0, 0.0 * gl_FragCoord.w)",
    "textureGrad": "textureGrad(src, (floor(gl_FragCoord.xy) * 2 + 0.5) / 32.0, vec2(0), vec2(0))",
    "texelFetch": "texelFetch(src, ivec2(gl_FragCoord.xy) * 2, int(gl_FragCoord.z))",
}


@pytest.mark.parametrize("by", READ_LEVELS)
@pytest.mark.parametrize("mipmap_mode", ["nearest", "linear"])
def test_a_view_of_all_levels_reads_level_0_while_level_1_is_written(dev: tg.Device, by: str, mipmap_mode: str) -> None:
    image, texels = filled(dev, mip_levels=3)
    sampler = dev.sampler(mag_filter="nearest", min_filter="nearest", mipmap_mode=mipmap_mode)
    said = draw(dev, tg.Attachment(image, "dont_care", level=1), LEVELS, f"o = {READ_LEVELS[by]};", {"src": (image.view(), sampler)})
    assert said == [
        "pipeline 'p': 'src' (set 0, binding 0) may read color0 of this pass, image 'film' (level 1, layer 0), "
        f"which its load_op dont_care writes: its view has other levels or layers {DOUBT}"
    ]
    assert np.array_equal(image.numpy(1), texels[0, 0][::2, ::2])
    assert np.array_equal(image.numpy(0), texels[0, 0]) and np.array_equal(image.numpy(2), texels[2, 0])


@pytest.mark.parametrize(
    ("lod", "mode", "reads"),
    [
        ((0.0, 0.0), "linear", {0}),
        ((0.0, 0.5), "nearest", {0}),
        ((0.0, 0.51), "nearest", {0, 1}),
        ((0.51, 1.5), "nearest", {1}),
        ((1.0, 1.0), "linear", {1}),
        ((0.9, 1.0), "linear", {0, 1}),
        ((1.0, 1.1), "linear", {1, 2}),
        ((1.6, 9.0), "nearest", {2}),
        ((7.0, 9.0), "linear", {2}),
        ((0.0, 1000.0), "linear", {0, 1, 2}),
    ],
)
def test_limits_of_the_sampler_count(dev: tg.Device, lod: tuple[float, float], mode: str, reads: set[int]) -> None:
    """Only levels that it can reach, combined and apart; each of them as the target."""
    sampler = dev.sampler(mag_filter="nearest", min_filter="nearest", mipmap_mode=mode, min_lod=lod[0], max_lod=lod[1])
    forms = (
        (LEVELS, "src", lambda image: {"src": (image.view(), sampler)}),
        ("layout(binding = 0) uniform texture2D src; layout(binding = 1) uniform sampler s;", "sampler2D(src, s)",
         lambda image: {"src": image.view(), "s": sampler}),
    )  # fmt: skip
    image, texels = filled(dev, mip_levels=3)
    for declarations, sampled, bind in forms:
        for target in range(3):
            color = tg.Attachment(image, "dont_care", level=target)
            body = f"o = textureLod({sampled}, gl_FragCoord.xy / {SIDE >> target}.0, (LEVEL) * gl_FragCoord.w);"  # not a constant
            if reads == {target}:
                with refused(READS + rf" \(level {target}, layer 0\)"):
                    draw(dev, color, declarations, body.replace("LEVEL", "0.0"), bind(image))
                continue
            other = min(reads - {target})
            said = draw(dev, color, declarations, body.replace("LEVEL", f"{other}.0 - 0.25"), bind(image))
            assert bool(said) == (target in reads), (target, said)
            if lod[0] <= other <= lod[1] and mode == "nearest":  # linear: a quarter of a level less is a mix
                rows = (np.arange(SIDE >> target) * 2 + 1) * (SIDE >> other) // (2 * (SIDE >> target))
                assert np.array_equal(image.numpy(target), texels[other, 0][np.ix_(rows, rows)])
            dev.copy(texels[target, 0], image, destination_level=target)


def test_limits_mean_nothing_to_a_fetch(dev: tg.Device) -> None:
    """It names its level: what the sampler can reach is not all that the shader can."""
    image, texels = filled(dev, mip_levels=2)
    only_1 = dev.sampler(filter="nearest", min_lod=1, max_lod=1)
    color, body = tg.Attachment(image, "dont_care", level=1), "o = texelFetch(src, ivec2(gl_FragCoord.xy), int(gl_FragCoord.z));"
    assert draw(dev, color, LEVELS, body, {"src": (image.view(), only_1)})
    assert np.array_equal(image.numpy(1), texels[0, 0][: SIDE // 2, : SIDE // 2])
    with refused(READS):
        draw(dev, color, LEVELS, body, {"src": (image.view(level=1, levels=1), only_1)})


def test_a_gather_reads_the_first_level_and_a_question_none(dev: tg.Device) -> None:
    image, texels = filled(dev, mip_levels=2)
    bind = {"src": (image.view(), dev.sampler(filter="nearest", address="clamp_to_edge"))}
    gather = "o = textureGather(src, (floor(gl_FragCoord.xy) + 1.0) / 32.0, 0);"
    assert draw(dev, tg.Attachment(image, "dont_care", level=1), LEVELS, gather, bind) == []
    a = texels[0, 0][..., 0]
    want = np.stack([a[1:17, 0:16], a[1:17, 1:17], a[0:16, 1:17], a[0:16, 0:16]], -1)
    assert np.array_equal(image.numpy(1), want)
    with refused(READS):
        draw(dev, tg.Attachment(image, "dont_care"), LEVELS, gather, bind)
    size = "o = vec4(textureSize(src, 0), textureQueryLevels(src), textureQueryLod(src, gl_FragCoord.xy).y * 0);"
    assert draw(dev, tg.Attachment(image, "dont_care"), LEVELS, size, bind) == []
    assert (image.numpy() == (SIDE, SIDE, 2, 0)).all()


def test_levels_of_depth(dev: tg.Device) -> None:
    """Depth of a level is made from that of the level before, through a view of all."""
    z = dev.image((SIDE, SIDE), "d32_sfloat", mip_levels=2, label="z")
    depths = np.random.default_rng(2).random((SIDE, SIDE), dtype=np.float32)
    dev.copy(depths, z)
    code = f"#version 450\n{LEVELS}\nvoid main() {{ gl_FragDepth = texelFetch(src, ivec2(gl_FragCoord.xy) * 2, 0).x; }}"
    pipe = dev.pipeline(FULL, code, depth=z.format, depth_compare="always", label="p")
    bind = {"src": (z.view(aspect="depth"), dev.sampler(filter="nearest"))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the shader fetches of level 0 alone
        with dev.render_pass(depth=tg.Attachment(z, "dont_care", level=1)) as rp:
            rp.draw(pipe, count=3, bind=bind)
    assert not [line for line in rp.lint() if "may read" in line]
    assert np.array_equal(z.numpy(1)[..., 0], depths[::2, ::2])
    with refused("reads depth of this pass"), dev.render_pass(depth=tg.Attachment(z, "dont_care")) as rp:
        rp.draw(pipe, count=3, bind={"src": (z.view(level=0, levels=1, aspect="depth"), dev.sampler(filter="nearest"))})


# -- layers, faces, slices


def test_another_layer_of_an_array_that_is_bound_as_a_whole(dev: tg.Device) -> None:
    image, texels = filled(dev, layers=4)
    declarations = "layout(binding = 0) uniform sampler2DArray src;"
    bind = {"src": (image.view("2d_array"), dev.sampler(filter="nearest"))}
    said = draw(dev, tg.Attachment(image, "dont_care", layer=2), declarations, "o = texelFetch(src, ivec3(gl_FragCoord.xy, 3), 0);", bind)
    assert len(said) == 1 and "image 'film' (level 0, layer 2)" in said[0] and said[0].endswith(DOUBT)
    assert np.array_equal(image.numpy(layer=2), texels[0, 3]) and np.array_equal(image.numpy(layer=1), texels[0, 1])
    some = {"src": (image.view("2d_array", layer=0, layers=2), dev.sampler(filter="nearest"))}
    color, body = tg.Attachment(image, "dont_care", layer=2), "o = texelFetch(src, ivec3(gl_FragCoord.xy, 1), 0);"
    assert draw(dev, color, declarations, body, some) == []
    one = {"src": (image.view("2d_array", layer=2, layers=1), dev.sampler(filter="nearest"))}
    with refused(READS + r" \(level 0, layer 2\)"):
        draw(dev, color, declarations, body, one)


def test_another_face_of_a_cube(dev: tg.Device) -> None:
    image, texels = filled(dev, layers=6, cube=True)
    body = "o = textureLod(src, vec3(1, (vec2(-1, -1) * ((gl_FragCoord.xy / 32.0) * 2 - 1)).yx), 0.0);"  # +x: sc = -z, tc = -y
    said = draw(dev, tg.Attachment(image, "dont_care", layer=4), "layout(binding = 0) uniform samplerCube src;", body,
                {"src": (image.view("cube"), dev.sampler(filter="nearest"))})  # fmt: skip
    assert len(said) == 1 and "(level 0, layer 4)" in said[0]
    assert np.array_equal(image.numpy(layer=4), texels[0, 0])


def test_another_slice_of_a_volume(dev: tg.Device) -> None:
    image, texels = filled(dev, (SIDE, SIDE, 8), mip_levels=2)
    declarations = "layout(binding = 0) uniform sampler3D src;"
    bind = {"src": (image.view("3d"), dev.sampler(filter="nearest"))}
    color = tg.Attachment(image, "dont_care", layer=2)
    said = draw(dev, color, declarations, "o = texelFetch(src, ivec3(gl_FragCoord.xy, 5), 0);", bind)
    assert len(said) == 1 and "(level 0, layer 2)" in said[0]
    for i in range(8):
        assert np.array_equal(image.numpy(layer=i), texels[0, 5 if i == 2 else i]), i
    flat = dev.image((SIDE, SIDE, 1), FORMAT, label="film")
    dev.clear(flat, (0, 0, 0, 0))
    with refused(READS):  # the only slice that there is
        bind = {"src": (flat.view("3d"), dev.sampler())}
        draw(dev, tg.Attachment(flat, "dont_care"), declarations, "o = texelFetch(src, ivec3(0), 0);", bind)


def test_all_that_could_be_read_is_written(dev: tg.Device) -> None:
    """Both layers of a view are attachments: an error as soon as both are written, in whichever order."""
    image, texels = filled(dev, layers=2)
    declarations = "layout(binding = 0) uniform sampler2DArray src; layout(location = 1) out vec4 o1;"
    bind = {"src": (image.view("2d_array"), dev.sampler(filter="nearest"))}
    body = "o = texelFetch(src, ivec3(gl_FragCoord.xy, 1), 0); o1 = vec4(0);"

    def parts(second: str) -> list[tg.Attachment]:
        return [tg.Attachment(image, "dont_care", layer=0), tg.Attachment(image, second, layer=1)]

    with refused(READS + r" \(level 0, layer 0\)"):
        draw(dev, parts("dont_care"), declarations, body, bind)
    kept = dev.pipeline(FULL, shader(declarations, body), color=[FORMAT] * 2, write_mask=["rgba", ""], label="p")
    with dev.render_pass(color=parts("load")) as rp:
        rp.draw(kept, count=3, bind=bind)
    assert len([line for line in rp.lint() if "may read color0" in line]) == 1
    assert np.array_equal(image.numpy(layer=0), texels[0, 1]) and np.array_equal(image.numpy(layer=1), texels[0, 1])
    white = dev.pipeline(FULL, shader("layout(location = 1) out vec4 o1;", "o = o1 = vec4(1);"), color=[FORMAT] * 2, label="white")
    for first, second in ((kept, white), (white, kept)):
        with refused("pipeline 'p': 'src' .*reads color0 of this pass"), dev.render_pass(color=parts("load")) as rp:
            rp.draw(first, count=3, **({"bind": bind} if first is kept else {}))
            rp.draw(second, count=3, **({"bind": bind} if second is kept else {}))


def test_a_resolve_writes_a_level_too(dev: tg.Device) -> None:
    image, texels = filled(dev, mip_levels=2)
    half = (SIDE // 2, SIDE // 2)
    samples = dev.image(half, FORMAT, samples=4, transient=True)
    color = tg.Attachment(samples, clear=(0, 0, 0, 0), store_op="dont_care", resolve=image.view(level=1, levels=1))
    body = "o = texelFetch(src, ivec2(gl_FragCoord.xy), int(gl_FragCoord.z));"
    (said,) = draw(dev, color, LEVELS, body, {"src": (image.view(), dev.sampler())}, samples=4)
    assert "may read the resolve of color0 of this pass, image 'film' (level 1, layer 0), which the pass writes" in said
    assert np.array_equal(image.numpy(1), texels[0, 0][: SIDE // 2, : SIDE // 2])


# -- storage images


def test_layers_of_a_storage_image(dev: tg.Device) -> None:
    image, texels = filled(dev, layers=3)
    declarations = "layout(binding = 0, rgba32f) uniform image2DArray src;"
    bind = {"src": image.view("2d_array")}
    color = tg.Attachment(image, "dont_care", layer=1)
    body = "ivec2 at = ivec2(gl_FragCoord.xy); o = imageLoad(src, ivec3(at, 2)); imageStore(src, ivec3(at, 0), o * 2);"
    said = draw(dev, color, declarations, body, bind)
    assert said == [
        "pipeline 'p': 'src' (set 0, binding 0) may write color0 of this pass, image 'film' (level 0, layer 1), which its load_op "
        "dont_care writes: its view has other layers as well; if it writes this one, the values are undefined"
    ]
    assert np.array_equal(image.numpy(layer=1), texels[0, 2]) and np.array_equal(image.numpy(layer=0), texels[0, 2] * 2)
    store = "imageStore(src, ivec3(gl_FragCoord.xy, 0), vec4(1)); o = vec4(0);"
    with refused("reads color0 of this pass"):
        draw(dev, color, declarations, store, {"src": image.view("2d_array", layer=1, layers=1)})
    # Loaded and changed by nobody else: what is stored there may vanish.
    loaded = tg.Attachment(image, "load", layer=1)
    (said_loaded,) = draw(dev, loaded, declarations, store, bind, write_mask="")
    assert "may write color0 of this pass" in said_loaded and "which the pass loads" in said_loaded


def test_a_storage_image_is_its_first_level(dev: tg.Device) -> None:
    image, texels = filled(dev, mip_levels=2)
    declarations = "layout(binding = 0, rgba32f) uniform readonly image2D src;"
    color = tg.Attachment(image, "dont_care", level=1)
    body = "o = imageLoad(src, ivec2(gl_FragCoord.xy));"
    assert draw(dev, color, declarations, body, {"src": image.view(level=0, levels=1)}) == []
    assert np.array_equal(image.numpy(1), texels[0, 0][: SIDE // 2, : SIDE // 2])
    with refused(READS):
        draw(dev, color, declarations, body, {"src": image.view(level=1, levels=1)})


# -- arrays, sets, parts of passes


def test_elements_of_arrays(dev: tg.Device) -> None:
    """A constant element has the doubt of its view; another index its own."""
    image, texels = filled(dev, mip_levels=2)
    declarations = LEVELS.replace("src", "src[2]") + "layout(push_constant) uniform PC { uint k; };"
    views = [(image.view(), dev.sampler(filter="nearest")), (image.view(level=1, levels=1), dev.sampler(filter="nearest"))]
    for index, why in (("0", "its view has other levels"), ("k", "by an index that is not constant")):
        code = shader(declarations, f"o = texelFetch(src[{index}], ivec2(gl_FragCoord.xy), int(gl_FragCoord.z));")
        pipe = dev.pipeline(FULL, code, color=[FORMAT], label="p")
        with dev.render_pass(color=[tg.Attachment(image, "dont_care", level=1)]) as rp:
            rp.draw(pipe, count=3, bind={"src": views}, push={"k": np.uint32(0)})
        (said,) = [line for line in rp.lint() if "may read" in line]
        assert why in said
        assert np.array_equal(image.numpy(1), texels[0, 0][: SIDE // 2, : SIDE // 2])
    with refused(r"'src' \(set 0, binding 0, element 1\) reads color0"):
        color = tg.Attachment(image, "dont_care", level=1)
        draw(dev, color, LEVELS.replace("src", "src[2]"), "o = texelFetch(src[1], ivec2(0), 0);", {"src": views})


@pytest.mark.parametrize("late", [False, True])
def test_sets_that_stay(dev: tg.Device, late: bool) -> None:
    """Of one that may be updated after it was bound, the view counts that it holds when the pass is executed."""
    image, texels = filled(dev, mip_levels=2)
    layout = dev.descriptor_set_layout({0: "combined_image_sampler"}, update_after_bind=late)
    code = shader(LEVELS, "o = texelFetch(src, ivec2(gl_FragCoord.xy), int(gl_FragCoord.z));")
    pipe = dev.pipeline(FULL, code, color=[FORMAT], set_layouts={0: layout}, label="p")
    views = {"all": image.view(), "written": image.view(level=1, levels=1)}
    sets = {name: dev.descriptor_set(layout, bind={0: (view, dev.sampler())}) for name, view in views.items()}

    def run(name: str, then: str) -> tg.RenderPass:
        with dev.render_pass(color=[tg.Attachment(image, "dont_care", level=1)]) as rp:
            rp.draw(pipe, count=3, sets={0: sets[name]})
            sets[name].update({0: (views[then], dev.sampler())})
        return rp

    rp = run("written" if late else "all", "all")
    assert len([line for line in rp.lint() if "may read color0" in line]) == 1
    assert np.array_equal(image.numpy(1), texels[0, 0][: SIDE // 2, : SIDE // 2])
    with refused("reads color0 of this pass"):
        run("all" if late else "written", "written")


def test_secondaries_do_not_know_the_pass(dev: tg.Device) -> None:
    image, texels = filled(dev, mip_levels=2)
    code = shader(LEVELS, "o = texelFetch(src, ivec2(gl_FragCoord.xy), int(gl_FragCoord.z));")
    pipe = dev.pipeline(FULL, code, color=[FORMAT], label="p")

    def part(view: Any) -> tg.SecondaryCommandBuffer:
        with dev.secondary(color=[FORMAT]) as recorded:
            recorded.draw(pipe, count=3, bind={"src": (view, dev.sampler())})
        return recorded

    with dev.render_pass(color=[tg.Attachment(image, "dont_care", level=1)]) as rp:
        rp.execute_commands(part(image.view()))
    assert len([line for line in rp.lint() if "may read color0" in line]) == 1
    assert np.array_equal(image.numpy(1), texels[0, 0][: SIDE // 2, : SIDE // 2])
    with refused("reads color0"), dev.render_pass(color=[tg.Attachment(image, "dont_care", level=1)]) as rp:
        rp.execute_commands(part(image.view(level=1, levels=1)))


# -- bytes of buffers


def on_memory(dev: tg.Device, memory: _core.DeviceMemory, offset_B: int, size_B: int) -> tg.Buffer:
    buffer = dev.buffer(size_B)
    object.__setattr__(buffer, "core", _core.Buffer(size_B, buffer.core.usage, "words"))
    buffer.core.bind(memory, offset_B)
    return buffer


@pytest.mark.parametrize("written", [False, True])
def test_a_buffer_with_other_bytes_than_the_attachment(dev: tg.Device, written: bool) -> None:
    """Its range holds the target and as much again: a warning. A range within the target is an error."""
    size_B = SIDE * SIDE * 16
    memory = _core.DeviceMemory(2 * size_B)
    image = dev.image((SIDE, SIDE), FORMAT, label="film")
    usage = sum(_core.ENUMS["image_usage"][u] for u in ("transfer_src", "transfer_dst", "sampled", "color_attachment"))
    object.__setattr__(image, "core", _core.Image(enums.parse_format(FORMAT, "t").number, SIDE, SIDE, 1, 1, 1, usage, False, 0, "film"))
    image.core.bind(memory, 0)
    texels = np.random.default_rng(1).random((2, SIDE, SIDE, 4), dtype=np.float32)
    whole, within = on_memory(dev, memory, 0, 2 * size_B), on_memory(dev, memory, 64, size_B - 64)
    dev.copy(texels, whole)
    declarations = f"layout(binding = 0) {'buffer' if written else 'uniform'} Src {{ vec4 src[{2 * SIDE * SIDE}]; }};"
    body = f"int i = int(gl_FragCoord.y) * {SIDE} + int(gl_FragCoord.x) + {SIDE * SIDE}; o = src[i];"
    body += " src[i] = o * 2;" if written else ""
    (said,) = draw(dev, tg.Attachment(image, "dont_care"), declarations, body, {"Src": whole})
    assert f"'Src' (set 0, binding 0) may {'write' if written else 'read'} color0 of this pass" in said
    assert "its range has other bytes as well; if it does, the values are undefined" in said
    assert np.array_equal(image.numpy(), texels[1])
    with refused("'Src' .*reads color0"), pytest.warns(tg.ShortBufferWarning):
        draw(dev, tg.Attachment(image, "dont_care"), declarations, body, {"Src": within})


def test_each_form_of_reading_is_still_an_error_where_it_is_one(dev: tg.Device) -> None:
    """One level and layer, which the pass writes, however it is read."""
    image, _ = filled(dev, layers=2, mip_levels=2)
    one = image.view("2d", level=1, levels=1, layer=1, layers=1)
    sampler = dev.sampler(filter="nearest")
    forms: dict[str, tuple[str, dict[str, Any]]] = {
        "texture(src, vec2(0.5))": (LEVELS, {"src": (one, sampler)}),
        "textureGather(src, vec2(0.5))": (LEVELS, {"src": (one, sampler)}),
        "texture(sampler2D(src, s), vec2(0.5))": (
            "layout(binding = 0) uniform texture2D src; layout(binding = 1) uniform sampler s;", {"src": one, "s": sampler}),
        "texelFetch(src, ivec2(0), 0)": (
            "#extension GL_EXT_samplerless_texture_functions : enable\nlayout(binding = 0) uniform texture2D src;", {"src": one}),
        "imageLoad(src, ivec2(0))": ("layout(binding = 0, rgba32f) uniform image2D src;", {"src": one}),
    }  # fmt: skip
    for read, (declarations, bind) in forms.items():
        with refused(READS + r" \(level 1, layer 1\)"):
            draw(dev, tg.Attachment(image, "dont_care", level=1, layer=1), declarations, f"o = {read};", bind)


@pytest.mark.parametrize(
    "read",
    ["texture(src, gl_FragCoord.xy / 32)", "textureLod(src, gl_FragCoord.xy / 32, float(zero))", "texelFetch(src, ivec2(0), zero)"],
)
def test_a_chain_that_is_read_while_a_level_is_drawn_is_said_before(dev: tg.Device, read: str) -> None:
    """Which level is read is known at run time alone: a warning before the pass is executed, an error where the device is strict."""
    head = f"#version 450\n{LEVELS}\nlayout(push_constant) uniform P {{ int zero; }};\nlayout(location = 0) out vec4 o;\n"
    code = f"{head}void main() {{ o = {read}; }}"
    strict = tg.Device(cache_dir="off", threads=2, strict=True)
    for device in (dev, strict):
        image = device.image((SIDE, SIDE), "r32g32b32a32_sfloat", mip_levels=2, label="chain")
        for level in range(2):
            device.clear(image, (level, 0, 0, 1), level=level)
        pipe = device.pipeline(FULL, code, color=image.format, label="p")
        bind = {"src": (image.view(), device.sampler())}

        def draw_level(device: tg.Device = device, image: tg.Image = image, pipe: tg.Pipeline = pipe, bind: dict = bind) -> None:
            with device.render_pass(tg.Attachment(image, level=1)) as rp:
                rp.draw(pipe, count=3, bind=bind, push={"zero": 0})

        if device is strict:
            with pytest.raises(tg.UndefinedContentsError, match="bind a view of those that it reads"):
                draw_level()
            assert (image.numpy(level=1) == (1, 0, 0, 1)).all()
        else:
            with pytest.warns(tg.UndefinedContentsWarning, match=r"'src' .* may read color0 of this pass, image 'chain' \(level 1"):
                draw_level()


@pytest.mark.parametrize("read", ["textureLod(src, gl_FragCoord.xy / 32, 0.0)", "texelFetch(src, ivec2(gl_FragCoord.xy), 0)"])
def test_a_constant_level_is_known(dev: tg.Device, read: str) -> None:
    image, _ = filled(dev, mip_levels=3)
    bind = {"src": (image.view(), dev.sampler(filter="nearest"))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw(dev, tg.Attachment(image, "dont_care", level=1), LEVELS, f"o = {read};", bind) == []
    with refused(READS):
        draw(dev, tg.Attachment(image, "dont_care"), LEVELS, f"o = {read};", bind)


@pytest.mark.parametrize(
    ("lod", "limits", "mode", "levels"),
    [
        ("0.0", {"min_lod": 0.6}, "nearest", {1}),
        ("0.0", {"min_lod": 0.5}, "linear", {0, 1}),
        ("2.0", {"max_lod": 1.4}, "nearest", {1}),
        ("2.0", {"max_lod": 1.5}, "linear", {1, 2}),
        ("1.0", {"min_lod": 1.75, "max_lod": 1.75}, "linear", {1, 2}),
        ("0.5", {}, "nearest", {0}),
        ("-3.0", {"max_lod": 0.25}, "linear", {0}),
    ],
)
def test_a_constant_level_goes_through_the_samplers_limits(
    dev: tg.Device, lod: str, limits: dict[str, float], mode: str, levels: set[int]
) -> None:
    """They are not whole numbers: the level that the sampler makes of it decides, as it does for what is drawn."""
    body = f"o = textureLod(src, gl_FragCoord.xy / 32.0, {lod});"
    for target in range(3):
        image, _ = filled(dev, mip_levels=3)
        bind = {"src": (image.view(), dev.sampler(filter="nearest", mipmap_mode=mode, **limits))}
        color = tg.Attachment(image, "dont_care", level=target)
        if levels == {target}:
            with refused(READS):
                draw(dev, color, LEVELS, body, bind)
        else:
            assert bool(draw(dev, color, LEVELS, body, bind)) == (target in levels), target


def test_a_level_that_is_no_number_is_any(dev: tg.Device) -> None:
    image, _ = filled(dev, mip_levels=3)
    bind = {"src": (image.view(), dev.sampler(filter="nearest"))}
    body = "o = textureLod(src, gl_FragCoord.xy / 32.0, uintBitsToFloat(0x7fc00000u));"
    for target in range(3):
        assert draw(dev, tg.Attachment(image, "dont_care", level=target), LEVELS, body, bind)
