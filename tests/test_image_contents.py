"""What is known of images' contents, by bytes: feedback only where the same bytes are read and written; images and buffers on one memory
and host writes can't make low-resolution Z, transaction elimination or the check of undefined contents lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import _core, enums

FULL = """#version 450
layout(push_constant) uniform PC { float depth; } pc;
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, pc.depth, 1); }"""
SAMPLE = """#version 450
layout(binding = 0) uniform sampler2D src; layout(location = 0) out vec4 o;
void main() { o = textureLod(src, gl_FragCoord.xy / vec2(textureSize(src, 0)) / SCALE, 0.0); }"""
WHITE = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1); }"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device()


def sampling(dev: tg.Device, format_: str, scale: str, **state: Any) -> tg.Pipeline:
    return dev.pipeline(FULL, SAMPLE.replace("SCALE", scale), color=[format_], **state)


# -- feedback


def test_a_mip_chain_is_made_by_drawing(dev: tg.Device) -> None:
    rng = np.random.default_rng(1)
    format_ = "r8g8b8a8_unorm"
    image = dev.image((64, 32), format_, mip_levels=None)
    dev.copy(rng.integers(0, 256, (32, 64, 4), dtype=np.uint8), image)
    want = dev.image((64, 32), format_, mip_levels=None)
    dev.copy(image, want)
    dev.generate_mipmaps(want)
    pipe = sampling(dev, format_, "0.5")
    for level in range(1, image.mip_levels):
        with dev.render_pass(color=[tg.Attachment(image, "dont_care", level=level)]) as rp:
            src = (image.view(level=level - 1, levels=1), dev.sampler(filter="linear", address="clamp_to_edge"))
            rp.draw(pipe, count=3, bind={"src": src}, push={"depth": 0.0})
        error = np.abs(image.numpy(level).astype(int) - want.numpy(level).astype(int))
        assert error.max() <= level, level


def test_another_layer_is_no_feedback(dev: tg.Device) -> None:
    image = dev.image((64, 64), "r8g8b8a8_unorm", layers=3)
    dev.clear(image, (1, 0, 0, 1))
    pipe = sampling(dev, image.format, "1.0")
    with dev.render_pass(color=[tg.Attachment(image, "clear", clear=(0, 0, 0, 0), layer=1)]) as rp:
        rp.draw(pipe, count=3, bind={"src": (image.view("2d", layer=2, layers=1), dev.sampler())}, push={"depth": 0.0})
    assert np.all(image.numpy(layer=1) == (255, 0, 0, 255))


def test_the_same_bytes_are_feedback_and_both_are_named(dev: tg.Device) -> None:
    image = dev.image((64, 64), "r8g8b8a8_unorm", mip_levels=2, layers=2, label="film")
    dev.clear(image, (1, 0, 0, 1))
    pipe = sampling(dev, image.format, "1.0", label="blur")
    said = (
        r"pass 'bloom': pipeline 'blur': 'src' .* reads color0 of this pass, image 'film' \(level 1, layer 1\), "
        r"which its load_op dont_care writes; read another level"
    )
    part = tg.Attachment(image, "dont_care", level=1, layer=1)
    with pytest.raises(tg.Error, match=said), dev.render_pass(color=[part], label="bloom") as rp:
        rp.draw(pipe, count=3, bind={"src": (image.view("2d", level=1, levels=1, layer=1, layers=1), dev.sampler())}, push={"depth": 0.0})
    with pytest.raises(tg.Error, match="which pipeline 'blur' writes"), dev.render_pass(color=[tg.Attachment(image)]) as rp:
        rp.draw(pipe, count=3, bind={"src": (image.view("2d", level=0, levels=1, layer=0, layers=1), dev.sampler())}, push={"depth": 0.0})
    samples = dev.image((64, 64), "r8g8b8a8_unorm", samples=4, transient=True)
    film = dev.image((64, 64), "r8g8b8a8_unorm", label="film")
    dev.clear(film, (0, 0, 0, 0))
    pipe = sampling(dev, film.format, "1.0", samples=4)
    resolved = tg.Attachment(samples, clear=(0, 0, 0, 0), resolve=film)
    said = "reads the resolve of color0 of this pass, image 'film'"
    with pytest.raises(tg.Error, match=said), dev.render_pass(color=[resolved]) as rp:
        rp.draw(pipe, count=3, bind={"src": (film.view(), dev.sampler())}, push={"depth": 0.0})


TWO = """#version 450
layout(binding = 0) uniform sampler2D t[2];
layout(push_constant) uniform PC { layout(offset = 16) uint which; } pc;
layout(location = 0) out vec4 o;
void main() { o = texelFetch(t[INDEX], ivec2(gl_FragCoord.xy), 0) + 0.25; }"""
PLACED = "#version 450\nvoid main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0, 1); }"


def test_an_element_of_an_array_counts_where_a_constant_names_it(dev: tg.Device) -> None:
    """An attachment beside what is read is none of the shader's; by another index it may be read, which lint() says."""
    rng = np.random.default_rng(3)
    format_ = "r32g32b32a32_sfloat"
    source, film = dev.image((32, 32), format_), dev.image((32, 32), format_, label="film")
    texels = rng.random((32, 32, 4), dtype=np.float32)
    dev.copy(texels, source)
    views = [(image.view(), dev.sampler(filter="nearest")) for image in (source, film)]

    def draw(index: str) -> tg.RenderPass:
        pipe = dev.pipeline(PLACED, TWO.replace("INDEX", index), color=[format_], label="pick")
        with dev.render_pass(color=[tg.Attachment(film, clear=(0, 0, 0, 0))], label="bloom") as rp:
            rp.draw(pipe, count=3, bind={"t": views}, push={"which": np.uint32(0)})
        assert np.array_equal(film.numpy(), texels + np.float32(0.25))
        return rp

    dev.clear(film, (0, 0, 0, 0))
    assert not [line for line in draw("0").lint() if "may read" in line]
    (said,) = [line for line in draw("pc.which").lint() if "may read" in line]
    assert said == (
        "pipeline 'pick': 't' (set 0, binding 0, element 1) may read color0 of this pass, image 'film' (level 0, layer 0), "
        "which its load_op clear writes: by an index that is not constant; if it does, the values are undefined"
    )
    with pytest.raises(tg.Error, match=r"'t' \(set 0, binding 0, element 1\) reads color0 of this pass, image 'film'"):
        draw("1")


@pytest.mark.parametrize("format_", ["d32_sfloat", "d24_unorm_s8_uint"])
def test_depth_that_nobody_writes_may_be_read(dev: tg.Device, format_: str) -> None:
    """Tested and sampled in one pass; a draw or a clear that writes it, before or after, is feedback."""
    color, z = dev.image((64, 64), "r32_sfloat"), dev.image((64, 64), format_, label="z")
    kept = {"depth": z.format, "depth_compare": "less"}
    write = dev.pipeline(FULL, WHITE, color=[color.format], label="writer", **kept)
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(z, clear=0.75)) as rp:
        rp.draw(write, count=3, push={"depth": 0.5}, scissor=(0, 0, 32, 64))
    read = sampling(dev, color.format, "1.0", depth_write=False, label="fog", **kept)
    bind = {"src": (z.view(aspect="depth"), dev.sampler(filter="nearest"))}
    for store in ("store", "none"):
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=tg.Attachment(z, "load", store_op=store)) as rp:
            rp.draw(read, count=3, bind=bind, push={"depth": 0.625})
        want = np.where(np.arange(64) < 32, 0.0, 0.75)  # 0.625 is hidden by 0.5 on the left
        assert np.abs(color.numpy()[..., 0] - want).max() < 1e-6

    def pass_with(depth: tg.Attachment) -> tg.RenderPass:
        return dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=depth)

    said = r"'src' .* reads depth of this pass, image 'z' \(level 0, layer 0\), which pipeline 'writer' writes"
    with pytest.raises(tg.Error, match=said), pass_with(tg.Attachment(z, "load")) as rp:
        rp.draw(read, count=3, bind=bind, push={"depth": 0.625})
        rp.draw(write, count=3, push={"depth": 0.25})
    said = r"reads depth of this pass.*which clear_attachment writes"
    with pytest.raises(tg.Error, match=said), pass_with(tg.Attachment(z, "load")) as rp:
        rp.clear(depth=0.5)
        rp.draw(read, count=3, bind=bind, push={"depth": 0.625})
    with pytest.raises(tg.Error, match="which its load_op clear writes"), pass_with(tg.Attachment(z, clear=1.0)) as rp:
        rp.draw(read, count=3, bind=bind, push={"depth": 0.625})


def test_the_other_aspect_is_no_feedback(dev: tg.Device) -> None:
    """Depth is sampled while stencil, in the same words, is written."""
    color, z = dev.image((64, 64), "r32_sfloat"), dev.image((64, 64), "d24_unorm_s8_uint")
    dev.clear(z, depth=0.5, stencil=1)
    pipe = sampling(dev, color.format, "1.0", stencil=z.format, depth_test=False, depth_write=False,
                    stencil_test={"pass": "increment_and_clamp"})  # fmt: skip
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], stencil=tg.Attachment(z, "load")) as rp:
        rp.draw(pipe, count=3, bind={"src": (z.view(aspect="depth"), dev.sampler(filter="nearest"))}, push={"depth": 0.0})
    assert np.abs(color.numpy() - 0.5).max() < 1e-6
    assert np.all(z.numpy(aspect="stencil") == 2) and np.abs(z.numpy(aspect="depth") - 0.5).max() < 1e-6


# -- several images on one memory


def on_memory(dev: tg.Device, memory: _core.DeviceMemory, size: tuple[int, int], format_: str, **more: Any) -> tg.Image:
    """An image whose bytes are the memory's first."""
    image = dev.image(size, format_, **more)
    usage = sum(_core.ENUMS["image_usage"][u] for u in ("transfer_src", "transfer_dst", "sampled"))
    usage |= _core.ENUMS["image_usage"]["depth_stencil_attachment" if image.format_info.is_depth_stencil else "color_attachment"]
    number = enums.parse_format(format_, "alias").number
    object.__setattr__(image, "core", _core.Image(number, *size, 1, 1, image.samples, usage, False, 0, image.label))
    image.core.bind(memory, 0)
    return image


SIZE = (96, 80)
ROW_B = 96 * 4  # a multiple of 64


def alias_pass(dev: tg.Device, alias: tg.Image) -> None:
    with dev.render_pass(color=[tg.Attachment(alias, clear=(0.875, 0, 0, 0))]):
        pass


def host_write(bytes_: np.ndarray) -> None:
    bytes_[: ROW_B * SIZE[1]] = np.full(SIZE[0] * SIZE[1], 0.875, np.float32).view(np.uint8)


def buffer_copy(dev: tg.Device, memory: _core.DeviceMemory) -> None:
    target = dev.buffer(ROW_B * SIZE[1])
    object.__setattr__(target, "core", _core.Buffer(ROW_B * SIZE[1], target.core.usage, "alias"))
    target.core.bind(memory, 0)
    dev.copy(np.full(SIZE[0] * SIZE[1], 0.875, np.float32), target)


def shader_write(dev: tg.Device, memory: _core.DeviceMemory) -> None:
    target = dev.buffer(ROW_B * SIZE[1])
    object.__setattr__(target, "core", _core.Buffer(ROW_B * SIZE[1], target.core.usage, "alias"))
    target.core.bind(memory, 0)
    frag = """#version 450
layout(std430, binding = 0) buffer Z { float z[]; } b; layout(location = 0) out vec4 o;
void main() { b.z[int(gl_FragCoord.y) * 96 + int(gl_FragCoord.x)] = 0.875; o = vec4(0); }"""
    color = dev.image(SIZE, "r8g8b8a8_unorm")
    with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(dev.pipeline(FULL, frag, color=[color.format]), count=3, bind={"b": target}, push={"depth": 0.0})


WRITERS: dict[str, Callable[[tg.Device, tg.Image, _core.DeviceMemory, np.ndarray], None]] = {
    "pass": lambda dev, alias, memory, bytes_: alias_pass(dev, alias),
    "clear": lambda dev, alias, memory, bytes_: dev.clear(alias, (0.875, 0, 0, 0)),
    "copy": lambda dev, alias, memory, bytes_: dev.copy(np.full((80, 96, 1), 0.875, np.float32), alias),
    "buffer": lambda dev, alias, memory, bytes_: buffer_copy(dev, memory),
    "shader": lambda dev, alias, memory, bytes_: shader_write(dev, memory),
    "host": lambda dev, alias, memory, bytes_: host_write(bytes_),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_low_resolution_z_notices_every_writer(writer: str) -> None:
    dev = tg.Device(profile="adreno-a740")
    memory = _core.DeviceMemory(ROW_B * SIZE[1])
    # The host's view is older than what is derived: nobody calls when it is written through.
    bytes_ = np.frombuffer(memoryview(memory), np.uint8) if writer == "host" else np.zeros(0, np.uint8)
    z, alias = on_memory(dev, memory, SIZE, "d32_sfloat"), on_memory(dev, memory, SIZE, "r32_sfloat")
    color = dev.image(SIZE, "r8g8b8a8_unorm")
    pipe = dev.pipeline(FULL, WHITE, color=[color.format], depth=z.format, depth_compare="less")

    def draw(depth: float, load: str) -> tg.Stats:
        loaded = tg.Attachment(z, load, clear=1.0 if load == "clear" else None)
        with dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 0))], depth=loaded) as rp:
            rp.draw(pipe, count=3, push={"depth": depth})
        return rp.stats

    draw(0.25, "clear")
    if writer != "host":  # what the others must end: the buffer is used by the next pass
        assert draw(0.5, "load").lrz_primitives_rejected_in_binning > 0 and not color.numpy().any()
    WRITERS[writer](dev, alias, memory, bytes_)
    assert np.all(z.numpy() == 0.875)
    stats = draw(0.5, "load")
    assert stats.lrz_primitives_rejected == stats.lrz_primitives_rejected_in_binning == 0
    assert np.all(color.numpy() == 255) and np.all(z.numpy() == 0.5)


def test_transaction_elimination_notices_other_images() -> None:
    dev = tg.Device(profile="mali-g725")
    memory = _core.DeviceMemory(ROW_B * SIZE[1])
    image, alias = on_memory(dev, memory, SIZE, "r8g8b8a8_unorm"), on_memory(dev, memory, SIZE, "r32_uint")
    pipe = dev.pipeline(FULL, WHITE, color=[image.format])

    def frame(target: tg.Image) -> None:
        with dev.render_pass(color=[tg.Attachment(target, clear=(0, 0, 0, 1))]) as rp:
            rp.draw(pipe, count=3, push={"depth": 0.0}, scissor=(10, 10, 30, 30))

    frame(image)
    want = image.numpy()
    frame(image)
    assert np.array_equal(image.numpy(), want)
    dev.clear(alias, (7, 0, 0, 0))
    assert np.all(image.numpy() == (7, 0, 0, 0))
    frame(image)
    assert np.array_equal(image.numpy(), want)


def test_what_is_defined_is_of_bytes(dev: tg.Device) -> None:
    memory = _core.DeviceMemory(ROW_B * SIZE[1])
    image, alias = on_memory(dev, memory, SIZE, "r8g8b8a8_unorm", label="a"), on_memory(dev, memory, SIZE, "r32_uint", label="b")
    with pytest.raises(tg.UndefinedContentsError, match="nothing was stored"):
        image.numpy()
    dev.clear(alias, (0x01020304, 0, 0, 0))
    assert np.all(image.numpy() == (4, 3, 2, 1))
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0), store_op="dont_care")], label="lost"):
        pass
    with pytest.raises(tg.UndefinedContentsError, match=r"image 'b': .*store_op of pass 'lost' was dont_care"):
        alias.numpy()
    np.frombuffer(memoryview(memory), np.uint8)[:] = 9
    with pytest.raises(tg.UndefinedContentsError, match="dont_care"):
        image.numpy()  # what the host did since can't be known
    memory.unmap()


def test_what_is_defined_is_of_a_level_and_layer(dev: tg.Device) -> None:
    image = dev.image((32, 32), "r8g8b8a8_unorm", mip_levels=3, layers=2, label="pyramid")
    with dev.render_pass(color=[tg.Attachment(image, "clear", clear=(1, 0, 0, 1), level=1, layer=1)]):
        pass
    assert np.all(image.numpy(1, 1) == (255, 0, 0, 255))
    for level, layer in ((0, 0), (0, 1), (1, 0), (2, 1)):
        with pytest.raises(tg.UndefinedContentsError, match=f"of level {level}, layer {layer} are undefined: nothing was stored"):
            image.numpy(level, layer)
    with dev.render_pass(color=[tg.Attachment(image, "clear", (1, 0, 0, 1), "dont_care", level=1, layer=1)]):
        pass
    with pytest.raises(tg.UndefinedContentsError, match="was dont_care"):
        image.numpy(1, 1)


def test_attachments_on_the_same_bytes_are_refused(dev: tg.Device) -> None:
    memory = _core.DeviceMemory(ROW_B * SIZE[1])
    image, alias = on_memory(dev, memory, SIZE, "r8g8b8a8_unorm", label="a"), on_memory(dev, memory, SIZE, "r32_uint", label="b")
    both, said = [tg.Attachment(image, "dont_care"), tg.Attachment(alias, "dont_care")], "color1 and color0 are the same part of image 'b'"
    with pytest.raises(tg.Error, match=said), dev.render_pass(color=both):
        pass


def lose(image: tg.Image, area: tuple[int, int, int, int] | None = None, **part: int) -> None:
    """A pass that leaves it undefined."""
    lost = tg.Attachment(image, "clear", clear=(0, 0, 0, 0), store_op="dont_care", **part)
    with image._device.render_pass(color=[lost], area=area, label="lost"):
        pass


@pytest.mark.parametrize("tiling", ["linear", "block_compressed"])
def test_a_part_that_is_written_leaves_the_rest_undefined(dev: tg.Device, tiling: str) -> None:
    """Areas of passes, regions of copies, blits and resolves: what was discarded beside them stays so."""
    image = dev.image((40, 24), "r8g8b8a8_unorm", layers=2, tiling=tiling)
    pixels = np.full((24, 40, 4), 7, np.uint8)
    small, samples = dev.image((8, 8), image.format), dev.image((40, 24), image.format, samples=4)
    dev.clear(small, (1, 1, 1, 1))
    dev.clear(samples, (1, 1, 1, 1))

    def area(x: int, y: int, width: int, height: int) -> None:
        with dev.render_pass(color=[tg.Attachment(image, clear=(1, 1, 1, 1), layer=1)], area=(x, y, width, height)):
            pass

    at = {"destination_layer": 1}
    writers: list[Callable[[int, int, int, int], None]] = [
        area,
        lambda x, y, w, h: dev.copy(pixels[:h, :w].copy(), image, destination_pos=(x, y), extent=(w, h), **at),
        lambda x, y, w, h: dev.blit(small, image, destination_rect=(x, y, x + w, y + h), **at),
        lambda x, y, w, h: dev.resolve(samples, image, destination_pos=(x, y), extent=(w, h), layers=1, **at),
    ]
    for write in writers:
        dev.clear(image, (0.5, 0, 0, 1))
        lose(image, layer=1)
        write(3, 2, 20, 20)
        with pytest.raises(tg.UndefinedContentsError, match="of level 0, layer 1 are undefined: store_op of pass 'lost' was dont_care"):
            image.numpy(layer=1)
        assert np.all(image.numpy(layer=0) == (128, 0, 0, 255))
        if tiling == "linear":  # the part may be read, and whatever becomes whole by parts
            dev.copy(image, small, source_layer=1, source_pos=(4, 3), extent=(8, 8))
            with pytest.raises(tg.UndefinedContentsError, match="was dont_care"):
                dev.copy(image, small, source_layer=1, source_pos=(2, 3), extent=(8, 8))
            write(0, 0, 3, 24)
            write(23, 0, 17, 24)
            write(3, 0, 20, 2)
            write(3, 22, 20, 2)
        else:
            write(0, 0, 40, 24)
        image.numpy(layer=1)


def test_only_the_area_of_a_pass_is_lost(dev: tg.Device) -> None:
    image = dev.image((40, 24), "r8g8b8a8_unorm")
    target = dev.image((40, 24), image.format)
    dev.clear(image, (1, 0, 0, 1))
    lose(image, (8, 4, 16, 10))
    with pytest.raises(tg.UndefinedContentsError, match="was dont_care"):
        image.numpy()
    for rect in ((0, 0, 40, 4), (0, 0, 8, 24), (24, 0, 16, 24), (0, 14, 40, 10)):
        dev.copy(image, target, source_pos=rect[:2], destination_pos=rect[:2], extent=rect[2:])
    with pytest.raises(tg.UndefinedContentsError, match="was dont_care"):
        dev.copy(image, target, source_pos=(7, 4), extent=(2, 1))
    with dev.render_pass(color=[tg.Attachment(target, clear=(1, 0, 0, 1))], area=(8, 4, 16, 10)):
        pass
    assert np.all(target.numpy() == (255, 0, 0, 255))


def test_what_the_host_wrote_is_there_after_unmap(dev: tg.Device) -> None:
    memory = _core.DeviceMemory(ROW_B * SIZE[1])
    image = on_memory(dev, memory, SIZE, "r8g8b8a8_unorm")
    np.frombuffer(memoryview(memory), np.uint8)[:] = 5
    memory.unmap()
    assert np.all(image.numpy() == 5)


def test_vertices_and_indices_in_the_target_are_feedback(dev: tg.Device) -> None:
    """They are fetched while tiles are stored; bytes of the same memory that the pass does not write may be read."""
    memory = _core.DeviceMemory(2 * ROW_B * SIZE[1])
    image = on_memory(dev, memory, SIZE, "r8g8b8a8_unorm", label="film")
    vert = """#version 450
layout(location = 0) in vec2 p; void main() { gl_Position = vec4(p, 0.5, 1); }"""
    dtype = np.dtype([("p", "f4", 2)])
    pipe = dev.pipeline(vert, WHITE, vertex=dtype, color=[image.format], label="draw")
    triangle = np.array([((-1, -1),), ((3, -1),), ((-1, 3),)], dtype)

    def on(at_B: int, data: np.ndarray) -> tg.Buffer:
        buffer = dev.buffer(data)
        object.__setattr__(buffer, "core", _core.Buffer(data.nbytes, buffer.core.usage, "alias"))
        buffer.core.bind(memory, at_B)
        dev.copy(data.view(np.uint8), buffer)
        return buffer

    indices = np.arange(3, dtype=np.uint32)
    behind_B = ROW_B * SIZE[1]
    for at_B, vertices, given, said in (
        (0, True, None, "vertex buffer 'alias' reads color0 of this pass, image 'film'"),
        (0, False, True, "index buffer 'alias' reads color0 of this pass, image 'film'"),
        (behind_B, True, None, ""),
        (behind_B, False, True, ""),
    ):
        drawn = {"indices": on(at_B, indices)} if given else {}
        from_ = on(at_B, triangle) if vertices else triangle
        target = [tg.Attachment(image, clear=(0, 0, 0, 0))]
        if said:
            with pytest.raises(tg.Error, match=said), dev.render_pass(color=target) as rp:
                rp.draw(pipe, from_, **drawn)
            continue
        with dev.render_pass(color=target) as rp:
            rp.draw(pipe, from_, **drawn)
        assert np.all(image.numpy() == 255)


# -- transient images


def test_a_transient_image_gets_memory_when_a_pass_asks_for_it(dev: tg.Device) -> None:
    """As docs/concepts.md has it; commands that are no pass don't ask."""
    size, format_ = (16, 8), "r8g8b8a8_unorm"
    image, other = dev.image(size, format_, transient=True), dev.image(size, format_)
    green = np.full((8, 16, 4), (0, 255, 0, 255), np.uint8)
    dev.copy(green, other)
    with dev.render_pass(color=tg.Attachment(image, clear=(1, 0, 0, 1), store_op="dont_care")):
        pass
    for use in (image.numpy, lambda: dev.copy(image, other), lambda: dev.copy(other, image), lambda: dev.clear(image, (0, 1, 0, 1))):
        with pytest.raises(tg.ValidationError, match=r"undefined|no memory"):
            use()
    with dev.render_pass(color=tg.Attachment(image, clear=(1, 0, 0, 1))):
        pass
    assert (image.numpy() == (255, 0, 0, 255)).all()
    with pytest.raises(tg.ValidationError, match=r"usage of image .* is one without transfer_dst"):
        dev.copy(other, image)
    pipe = sampling(dev, format_, "1")
    with pytest.raises(tg.ValidationError, match="sampled"), dev.render_pass(color=other) as rp:
        rp.draw(pipe, count=3, push={"depth": 0.5}, bind={"src": (image, dev.sampler())})
