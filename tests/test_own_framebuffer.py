"""Framebuffers of one's own: pieces with images of their own, resolves as a parallel copy, borders, splits; errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

SIZE = (150, 90)
VERTEX = """#version 450
layout(location = 0) in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }"""
FRAGMENT = """#version 450
layout(push_constant) uniform P { vec4 color; };
layout(location = 0) out vec4 c0;
layout(location = 1) out vec4 c1;
void main() { c0 = color; c1 = color.bgra; }"""
LAYOUT = np.dtype([("position", np.float32, 3)])
CORNERS = [[-0.9, -0.9, 0.2], [0.1, -0.7, 0.6], [-0.5, 0.8, 0.4], [-0.2, -0.5, 0.5], [0.3, -0.5, 0.5], [0.0, 0.9, 0.1]]
TRIANGLES = np.float32(CORNERS).view(LAYOUT).ravel()
COLORS = [(1.0, 0.25, 0.0, 1.0), (0.0, 0.5, 1.0, 1.0)]
CONFIGURATIONS = [
    {},
    {"threads": 1, "bin_px": 32, "lanes": 4},
    {"threads": 2, "bin_px": 128, "lanes": 16},
    {"profile": "mali-g57"},
    {"profile": "mali-g720"},
    {"profile": "adreno-a660"},
]


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    there = tg.profile_names()
    return [tg.Device(cache_dir="off", **c) for c in CONFIGURATIONS if c.get("profile", "host") in there]


def texels(seed: int, shape: tuple[int, ...] = (SIZE[1], SIZE[0], 4)) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8)


def image(dev: tg.Device, seed: int | None, **more: Any) -> tg.Image:
    made = dev.image(SIZE, "r8g8b8a8_unorm", **more)
    if seed is not None:
        made.write(texels(seed))
    return made


def draw(dev: tg.Device, rp: tg.RenderPass, colors: int, samples: int, depth: str | None = None, draws: int = 2) -> None:
    state = {"depth_test": True, "depth_write": True} if depth else {}
    one = FRAGMENT.replace("layout(location = 1) out vec4 c1;", "").replace("c1 = color.bgra;", "")
    pipe = dev.pipeline(VERTEX, FRAGMENT if colors > 1 else one,
                        vertex=LAYOUT, color=["r8g8b8a8_unorm"] * colors, depth=depth, samples=samples, **state)  # fmt: skip
    for k in range(draws):
        rp.draw(pipe, vertices=TRIANGLES, count=3, first=3 * k, push=np.float32(COLORS[k]))


Pictures = list[np.ndarray[Any, Any]]


def agree(devices: list[tg.Device], picture: Callable[[tg.Device, tg.FramebufferDesc], Pictures]) -> Pictures:
    """The same on all devices, split or not."""
    found = None
    for dev, desc in itertools.product(devices, (tg.FramebufferDesc(), tg.FramebufferDesc(draws_a_part=1))):
        got = picture(dev, desc)
        if found is None:
            found = got
        for a, b in zip(found, got, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{dev.profile}, {desc.draws_a_part}")
    assert found is not None
    return found


def plain(dev: tg.Device, area: tuple[int, ...] | None = None) -> np.ndarray[Any, Any]:
    """What a pass over attachments makes of image 1."""
    target = image(dev, 1)
    with dev.render_pass(target, area=area) as rp:
        draw(dev, rp, 1, 1)
    return target.numpy()


@pytest.mark.parametrize("tiling", ["linear", "block_compressed"])
@pytest.mark.parametrize("area", [None, (33, 17, 70, 50)])
def test_load_and_store_name_two_images(devices: list[tg.Device], tiling: str, area: tuple[int, ...] | None) -> None:
    def picture(dev: tg.Device, desc: tg.FramebufferDesc) -> list[np.ndarray[Any, Any]]:
        source, target = image(dev, 1), image(dev, 2, tiling=tiling)
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=SIZE, area=area)
        fb = dev.framebuffer(layout, {"color0": source}, {"color0": target}, desc=desc)
        with dev.render_pass(framebuffer=fb) as rp:
            draw(dev, rp, 1, 1)
        assert rp.stats.splits == (1 if desc.draws_a_part else 0)
        np.testing.assert_array_equal(source.numpy(), texels(1))
        return [target.numpy()]

    want = texels(2)
    x, y, width, height = area or (0, 0, *SIZE)
    inside = np.s_[y : y + height, x : x + width]
    want[inside] = plain(devices[0], area)[inside]
    np.testing.assert_array_equal(agree(devices, picture)[0], want)


@pytest.mark.parametrize("samples", [1, 4])
def test_resolves_are_a_parallel_copy(devices: list[tg.Device], samples: int) -> None:
    """Two targets are exchanged; each has what the other had, also in tiles that no primitive touches."""

    def picture(dev: tg.Device, desc: tg.FramebufferDesc, resolve: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
        targets = [image(dev, 8), image(dev, 9)]
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm"] * 2, size=SIZE, samples=samples)
        load = {f"color{k}": tg.Load(image(dev, 3 + k)) for k in range(2)}
        store = {f"color{k}": tg.Store(targets[k]) for k in range(2)}
        fb = dev.framebuffer(layout, load, store, resolve, desc)
        with dev.render_pass(framebuffer=fb) as rp:
            draw(dev, rp, 2, samples)
        return [t.numpy() for t in targets]

    own = {} if samples == 1 else {"color0": "color0", "color1": "color1"}
    kept = agree(devices, lambda dev, desc: picture(dev, desc, own))
    exchanged = agree(devices, lambda dev, desc: picture(dev, desc, {"color0": "color1", "color1": "color0"}))
    assert not np.array_equal(kept[0], kept[1])
    np.testing.assert_array_equal(exchanged[0], kept[1])
    np.testing.assert_array_equal(exchanged[1], kept[0])


def test_samples_and_their_average_are_both_stored(devices: list[tg.Device]) -> None:
    """Through a second target, as the article has it: what resolve= of an attachment does."""

    def picture(dev: tg.Device, desc: tg.FramebufferDesc) -> list[np.ndarray[Any, Any]]:
        all_samples, average = image(dev, None, samples=4), image(dev, 1)
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm"] * 2, size=SIZE, samples=4)
        store = {"color0": all_samples, "color1": average}
        fb = dev.framebuffer(layout, {"color0": tg.Load(clear=(0, 0, 0, 0))}, store, {"color1": "color0"}, desc)
        with dev.render_pass(framebuffer=fb) as rp:
            draw(dev, rp, 2, 4)
        again = image(dev, 2)
        dev.resolve(all_samples, again)
        np.testing.assert_array_equal(again.numpy(), average.numpy())
        return [average.numpy()]

    dev = devices[0]
    target, resolved = image(dev, None, samples=4, transient=True), image(dev, 1)
    with dev.render_pass(tg.Attachment(target, clear=(0, 0, 0, 0), store_op="dont_care", resolve=resolved)) as rp:
        draw(dev, rp, 1, 4)
    np.testing.assert_array_equal(agree(devices, picture)[0], resolved.numpy())


def test_depth_becomes_a_colour(devices: list[tg.Device]) -> None:
    def picture(dev: tg.Device, desc: tg.FramebufferDesc) -> list[np.ndarray[Any, Any]]:
        found, depth = dev.image(SIZE, "r32_sfloat"), dev.image(SIZE, "d32_sfloat")
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm", "r32_sfloat"], "d32_sfloat", size=SIZE)
        fb = dev.framebuffer(layout, {"depth": tg.Load(clear=0.75)}, {"color1": found, "depth": depth}, {"color1": "depth"}, desc)
        pipe = dev.pipeline(VERTEX, FRAGMENT, vertex=LAYOUT, color=["r8g8b8a8_unorm", "r32_sfloat"], depth="d32_sfloat",
                            depth_test=True, depth_write=True)  # fmt: skip
        with dev.render_pass(framebuffer=fb) as rp:
            for k in range(2):
                rp.draw(pipe, vertices=TRIANGLES, count=3, first=3 * k, push=np.float32(COLORS[k]))
        np.testing.assert_array_equal(found.numpy().reshape(SIZE[::-1]), depth.numpy().reshape(SIZE[::-1]))
        return [found.numpy()]

    values = agree(devices, picture)[0]
    assert values.max() == np.float32(0.75) and values.min() < 0.5


def test_one_sample_goes_to_all_and_an_image_is_resolved_from(devices: list[tg.Device]) -> None:
    def picture(dev: tg.Device, desc: tg.FramebufferDesc) -> list[np.ndarray[Any, Any]]:
        through, over = image(dev, 5), image(dev, 6)
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm"] * 2, size=SIZE, samples=4)
        fb = dev.framebuffer(layout, {"color0": image(dev, 1)}, {"color0": through, "color1": over}, {"color1": image(dev, 7)}, desc)
        with dev.render_pass(framebuffer=fb):
            pass
        return [through.numpy(), over.numpy()]

    through, over = agree(devices, picture)
    np.testing.assert_array_equal(through, texels(1))  # the average of equal samples
    np.testing.assert_array_equal(over, texels(7))


def test_borders_of_blocks_are_what_they_are_told(devices: list[tg.Device]) -> None:
    """The superblocks that the area touches are written whole."""
    area = (20, 20, 40, 30)  # superblocks: x from 16 to 63, y from 16 to 63

    def picture(dev: tg.Device, desc: tg.FramebufferDesc) -> list[np.ndarray[Any, Any]]:
        cleared, sourced = image(dev, 1, tiling="block_compressed"), image(dev, 1, tiling="block_compressed")
        layout = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=SIZE, area=area)
        red = tg.Load(clear=(1, 0, 0, 1), border="clear")
        fb = dev.framebuffer(layout, {"color0": red}, {"color0": cleared}, desc=desc)
        with dev.render_pass(framebuffer=fb):
            pass
        load, border = tg.Load(image(dev, 2)), tg.Resolve("none", border=image(dev, 3))
        fb = dev.framebuffer(layout, {"color0": load}, {"color0": sourced}, {"color0": border}, desc)
        with dev.render_pass(framebuffer=fb):
            pass
        return [cleared.numpy(), sourced.numpy()]

    cleared, sourced = agree(devices, picture)
    block, inside = np.s_[16:64, 16:64], np.s_[20:50, 20:60]
    want = texels(1)
    want[block] = (255, 0, 0, 255)
    np.testing.assert_array_equal(cleared, want)
    want = texels(1)
    want[block] = texels(3)[block]
    want[inside] = texels(2)[inside]
    np.testing.assert_array_equal(sourced, want)


@pytest.mark.parametrize("seed", range(24))
def test_any_pieces_have_one_result(devices: list[tg.Device], seed: int) -> None:
    """Whatever is loaded, resolved and stored, in whatever tiles and parts."""
    rng = np.random.default_rng(seed)
    samples, count = int(rng.choice([1, 4])), int(rng.integers(1, 4))
    formats = [str(rng.choice(["r8g8b8a8_unorm", "r16g16b16a16_sfloat"])) for _ in range(count)]
    area = None if rng.random() < 0.4 else tuple(int(rng.integers(*ends)) for ends in ((0, 60), (0, 40), (1, 90), (1, 50)))
    tilings = [str(rng.choice(["linear", "block_compressed"])) for _ in range(count)]
    loads, borders = rng.integers(0, 3, count), rng.integers(0, 3, count)
    sources = [None if rng.random() < 0.4 else int(rng.integers(-1, count)) for _ in range(count)]
    draws = int(rng.integers(0, 3))

    def picture(dev: tg.Device, desc: tg.FramebufferDesc) -> list[np.ndarray[Any, Any]]:
        def made(k: int, number: int, **more: Any) -> tg.Image:
            new = dev.image(SIZE, formats[k], **more)
            noise = texels(10 * k + number)
            new.write(noise if formats[k].startswith("r8") else (noise / 16).astype(np.float16))
            return new

        layout = tg.FramebufferLayout(formats, size=SIZE, samples=samples, area=area)
        load, store, resolve, found = {}, {}, {}, []
        for k, name in enumerate(layout.formats):
            target = made(k, 1, tiling=tilings[k])
            border = (None, "clear", "none")[borders[k]] if tilings[k] == "block_compressed" else None
            load[name] = (
                tg.Load(target, border=border) if loads[k] == 0 else
                tg.Load(made(k, 2), border=border) if loads[k] == 1 else
                tg.Load(clear=(0.25, 0.5, 0.75, 1.0), border=border)
            )  # fmt: skip
            source = sources[k]
            if source is not None:
                resolve[name] = tg.Resolve(made(k, 3) if source < 0 else f"color{source}", None)
            store[name] = tg.Store(target)
            found.append(target)
        fb = dev.framebuffer(layout, load, store, resolve, desc)
        for _ in range(2):  # the second finds what the first left, in the images and in what it spilled to
            with dev.render_pass(framebuffer=fb) as rp:
                outputs = "".join(f"layout(location = {k}) out vec4 c{k};\n" for k in range(count))
                body = "".join(f"c{k} = color / {k + 1}.0;" for k in range(count))
                fragment = FRAGMENT[: FRAGMENT.index("layout(location")] + outputs + "void main() { " + body + " }"
                pipe = dev.pipeline(VERTEX, fragment, vertex=LAYOUT, color=formats, samples=samples)
                for k in range(draws):
                    rp.draw(pipe, vertices=TRIANGLES[3 * k : 3 * k + 3], count=3, push=np.float32(COLORS[k]))
        return [t.numpy() for t in found]

    agree(devices, picture)


def test_the_ledger_counts_each_image_once_and_always_counts_more() -> None:
    dev = tg.Device(profile="mali-g610" if "mali-g610" in tg.profile_names() else "host", cache_dir="off")
    source, target = image(dev, 1), image(dev, 2)
    layout = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=SIZE)
    image_B = SIZE[0] * SIZE[1] * 4

    def moved(load: Any, always: bool) -> dict[str, int]:
        desc = tg.FramebufferDesc(transaction_elimination=False)
        fb = dev.framebuffer(layout, {"color0": load}, {"color0": tg.Store(target, always=always)}, desc=desc)
        with dev.render_pass(framebuffer=fb) as rp:
            pass
        assert rp.desc["transaction_elimination"] is False
        return rp.stats.traffic["color0"]

    copied = moved(source, False)
    assert (copied["load"], copied["store"]) == (image_B, image_B)
    assert not any(moved(target, False).get(cause, 0) for cause in ("load", "store"))  # clean tiles have what they have
    assert moved(target, True)["store"] == image_B


def test_the_pieces_can_be_read_and_replayed(tmp_path: Path) -> None:
    dev = tg.Device(cache_dir="off")
    source, target = image(dev, 1, label="from"), image(dev, 2, label="to")
    layout = tg.FramebufferLayout(["r8g8b8a8_unorm"] * 2, size=SIZE)
    store = {"color0": target, "color1": image(dev, 4)}
    fb = dev.framebuffer(layout, {"color0": source}, store, {"color1": "color0"}, tg.FramebufferDesc(draws_a_part=1), label="mine")
    with dev.frame("f") as frame, dev.render_pass(framebuffer=fb, label="p") as rp:
        draw(dev, rp, 2, 1)
    assert (rp.load["color0"]["image"], rp.store["color0"]["samples"]["image"]) == ("from", "to")
    assert rp.resolve["color1"]["in_bounds"]["from"] == "color0" and rp.desc["draws_a_part"] == 1
    uses = {(use.thing.label, use.write) for use in frame.nodes[0].uses if isinstance(use.thing, tg.Image)}
    assert {("from", False), ("to", True)} <= uses
    rp.capture(tmp_path / "p.tgc")
    drawn = target.numpy().copy()
    target.write(texels(2))
    replay = dev.load_capture(tmp_path / "p.tgc")
    replay.run()
    np.testing.assert_array_equal(replay.pictures[0], drawn)


def test_contents_that_nobody_wrote_are_named() -> None:
    dev = tg.Device(strict=True, cache_dir="off")
    layout = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=SIZE)
    fb = dev.framebuffer(layout, {"color0": image(dev, None, label="empty")}, {"color0": image(dev, 2)})
    with pytest.raises(tg.UndefinedContentsError, match="'empty' is loaded"), dev.render_pass(framebuffer=fb):
        pass


def test_a_shader_reads_no_image_that_the_pass_stores() -> None:
    dev = tg.Device(cache_dir="off")
    target = image(dev, 2, label="stored")
    fb = dev.framebuffer(tg.FramebufferLayout(["r8g8b8a8_unorm"], size=SIZE, samples=4), None, {"color0": target})
    fragment = """#version 450
    layout(set = 0, binding = 0) uniform sampler2D tex;
    layout(location = 0) out vec4 c;
    void main() { c = texelFetch(tex, ivec2(0), 0); }"""
    pipe = dev.pipeline(VERTEX, fragment, vertex=LAYOUT, color=["r8g8b8a8_unorm"], samples=4)
    with pytest.raises(tg.ValidationError, match="stored"), dev.render_pass(framebuffer=fb) as rp:
        rp.draw(pipe, vertices=TRIANGLES, count=3, bind={"tex": target})


def wrong(dev: tg.Device) -> list[tuple[str, str, Callable[[], Any]]]:
    """A name, words of the message, and what raises it."""
    rgba = "r8g8b8a8_unorm"
    one, four = tg.FramebufferLayout([rgba], size=SIZE), tg.FramebufferLayout([rgba], size=SIZE, samples=4)
    two = tg.FramebufferLayout([rgba, "r32_uint"], size=SIZE, samples=4)
    odd = tg.FramebufferLayout([rgba], size=SIZE, area=(3, 3, 20, 20), samples=4)
    A, B, small = image(dev, 1, label="A"), image(dev, 2, label="B"), dev.image((8, 8), rgba)
    A4, B4 = image(dev, None, samples=4), image(dev, None, samples=4, tiling="block_compressed", label="B4")
    deep = tg.FramebufferLayout(depth="d24_unorm_s8_uint", size=SIZE)
    both, number = tg.FramebufferLayout([rgba, rgba], size=SIZE), dev.image(SIZE, "r32_uint")
    return [
        ("no target", "no target", lambda: tg.FramebufferLayout(size=SIZE)),
        ("a depth format as colour", "color0 is d32", lambda: tg.FramebufferLayout(["d32_sfloat"], size=SIZE)),
        ("3 samples", "samples is 3", lambda: tg.FramebufferLayout([rgba], size=SIZE, samples=3)),
        ("size 0", "size is", lambda: tg.FramebufferLayout([rgba], size=(0, 4))),
        ("layout as a dictionary", "FramebufferLayout", lambda: dev.framebuffer({"color0": rgba})),
        ("an unknown target", "the layout has color0", lambda: dev.framebuffer(one, {"color1": A})),
        ("pieces as a list", "by target", lambda: dev.framebuffer(one, [A])),
        ("a string to load", "tilegpu.Load", lambda: dev.framebuffer(one, {"color0": "clear"})),
        ("image and clear", "both given", lambda: tg.Load(A, clear=(0, 0, 0, 0))),
        ("an unknown border", "border is 'keep'", lambda: tg.Load(A, border="keep")),
        ("a smaller image", "8x8", lambda: dev.framebuffer(one, {"color0": small})),
        ("another format", "color0 is r8g8b8a8_unorm", lambda: dev.framebuffer(one, {"color0": dev.image(SIZE, "r32_uint")})),
        ("another format stored", "has format r16g16b16a16_sfloat; the layout's color0 is r8g8b8a8_unorm",
         lambda: dev.framebuffer(one, None, {"color0": dev.image(SIZE, "r16g16b16a16_sfloat")})),
        ("its sRGB twin stored", "has format r8g8b8a8_srgb",
         lambda: dev.framebuffer(one, None, {"color0": dev.image(SIZE, "r8g8b8a8_srgb")})),
        ("another format stored of samples", "store: color0", lambda: dev.framebuffer(four, None, {"color0": dev.image(SIZE, "r32_uint")})),
        ("another depth format", "the layout's depth is d24_unorm_s8_uint",
         lambda: dev.framebuffer(deep, None, {"depth": dev.image(SIZE, "d32_sfloat")})),
        ("another format as a source", "resolve: color0",
         lambda: dev.framebuffer(one, None, {"color0": A}, {"color0": dev.image(SIZE, "r32_uint")})),
        ("samples that differ", "load.samples", lambda: dev.framebuffer(one, {"color0": A4})),
        ("all samples to one", "store.samples", lambda: dev.framebuffer(four, None, {"color0": tg.Store(A, samples="all")})),
        ("an average of one", "store.mode", lambda: dev.framebuffer(one, None, {"color0": tg.Store(A, samples="average")})),
        ("an average of integers", "store.mode", lambda: dev.framebuffer(two, None, {"color1": tg.Store(number, samples="average")})),
        ("an unknown reduction", "samples is 'mean'", lambda: dev.framebuffer(four, None, {"color0": tg.Store(A, samples="mean")})),
        ("integers as floats", "unsigned integers", lambda: dev.framebuffer(two, None, None, {"color0": "color1"})),
        ("a target that is not there", "a target of the layout", lambda: dev.framebuffer(one, None, None, {"color0": "color3"})),
        ("two sources", "reads one", lambda: dev.framebuffer(one, None, {"color0": A}, {"color0": tg.Resolve(A, border=B)})),
        ("one image stored twice", "same part", lambda: dev.framebuffer(both, None, {"color0": A, "color1": A})),
        ("a load of what another stores", "reads what", lambda: dev.framebuffer(both, {"color0": A}, {"color1": A, "color0": B})),
        ("a border that can't be kept", "can't be kept", lambda: dev.framebuffer(odd, {"color0": A4}, {"color0": B4})),
        ("no draws a part", "at least 1", lambda: tg.FramebufferDesc(draws_a_part=0)),
        ("a heap of 0", "at least 1", lambda: tg.FramebufferDesc(tiler_heap_B=0)),
        ("attachments beside it", "color is given", lambda: dev.render_pass(A, framebuffer=dev.framebuffer(one))),
        ("samples beside it", "its layout", lambda: dev.render_pass(samples=4, framebuffer=dev.framebuffer(one))),
        ("no framebuffer", "dev.framebuffer", lambda: dev.render_pass(framebuffer="mine")),
    ]  # fmt: skip


def test_what_can_not_be_is_named() -> None:
    dev = tg.Device(cache_dir="off")
    for name, words, call in wrong(dev):
        with pytest.raises((tg.ValidationError, tg.UnsupportedError)) as raised:
            call()
            pytest.fail(f"{name}: no error")
        assert words in str(raised.value), f"{name}: {raised.value}"
        assert "pass '" not in str(raised.value) or "beside" in str(raised.value) or "made" in str(raised.value), f"{name}: {raised.value}"


def test_the_format_is_that_of_the_view() -> None:
    dev = tg.Device(threads=1)
    made = dev.image(SIZE, "r8g8b8a8_unorm", label="a")
    layout = tg.FramebufferLayout(["r8g8b8a8_srgb"], size=SIZE)
    with pytest.raises(tg.ValidationError, match="image 'a' has format r8g8b8a8_unorm; the layout's color0 is r8g8b8a8_srgb"):
        dev.framebuffer(layout, store={"color0": made})
    plain = tg.FramebufferLayout(["r8g8b8a8_unorm"], size=SIZE)
    with pytest.raises(tg.ValidationError, match="the view of image 'a' has format r8g8b8a8_srgb; the layout's color0 is r8g8b8a8_unorm"):
        dev.framebuffer(plain, store={"color0": made.view(format="r8g8b8a8_srgb")})
    own = dev.framebuffer(layout, load={"color0": tg.Load(clear=(0.5, 0, 0, 1))}, store={"color0": made.view(format="r8g8b8a8_srgb")})
    with dev.render_pass(framebuffer=own):
        pass
    assert made.numpy()[0, 0].tolist() == [188, 0, 0, 255]


def test_a_pass_clears_a_view_by_its_own_format() -> None:
    dev = tg.Device(threads=1)
    made = dev.image((4, 4), "r8g8b8a8_unorm", label="a")
    view = made.view(format="r8g8b8a8_uint")
    with dev.render_pass(color=[tg.Attachment(view, clear=(1, 2, 3, 255))]) as rp:
        rp.clear((7, 200, 9, 10), rect=(0, 0, 2, 4))
    assert made.numpy()[0].tolist() == [[7, 200, 9, 10]] * 2 + [[1, 2, 3, 255]] * 2
    whole = "#version 450\nlayout(location = 0) out uvec4 o; void main() { o = uvec4(5); }"
    assert dev.pipeline("#version 450\nvoid main() { gl_Position = vec4(0); }", whole, color=[view]).color_formats
