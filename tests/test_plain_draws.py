"""Draws whose arguments are plain are recorded in one call of the core: the same bits, the same that frames and statistics tell, and the
same errors as by the general way; and whatever comes between them."""

from __future__ import annotations

import functools
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

PLACED = """#version 450
layout(location = 0) in vec2 position; layout(location = 1) in vec3 tint; layout(location = 0) out vec3 color;
void main() { gl_Position = vec4(position, 0, 1); color = tint; }"""
PUSHED = """#version 450
layout(push_constant) uniform Push { vec4 place; float grey; } push;
layout(location = 0) in vec2 position; layout(location = 1) in vec3 tint; layout(location = 0) out vec3 color;
void main() { gl_Position = vec4(position * push.place.zw + push.place.xy, 0, 1); color = tint * push.grey; }"""
BLOCK = """#version 450
layout(set = 0, binding = 0) uniform Block { vec4 place; float grey; } block;
layout(location = 0) in vec2 position; layout(location = 1) in vec3 tint; layout(location = 0) out vec3 color;
void main() { gl_Position = vec4(position * block.place.zw + block.place.xy, 0, 1); color = tint * block.grey; }"""
PLAIN = """#version 450
layout(location = 0) in vec3 color; layout(location = 0) out vec4 result; void main() { result = vec4(color, 1); }"""
TEXTURED = """#version 450
layout(set = 0, binding = 1) uniform sampler2D picture;
layout(location = 0) in vec3 color; layout(location = 0) out vec4 result;
void main() { result = vec4(color, 1) * texture(picture, color.xy); }"""
VERTEX = np.dtype([("position", "f4", 2), ("tint", "f4", 3)])
WHITE = (1.0, 1.0, 1.0, 1.0)


class World:
    """Everything that draws need, on one device."""

    def __init__(self) -> None:
        self.device = tg.Device()
        self.image = self.device.image((64, 64), "r8g8b8a8_unorm")
        random = np.random.default_rng(7)
        self.arrays = []
        for _ in range(5):
            array = np.zeros(6, VERTEX)
            array["position"], array["tint"] = random.uniform(-1, 1, (6, 2)), random.uniform(0, 1, (6, 3))
            self.arrays.append(array)
        self.buffers = [self.device.buffer(array, usage="vertex", label=f"vertices {k}") for k, array in enumerate(self.arrays)]
        self.indices = [self.device.buffer(np.arange(6, dtype=kind), usage="index") for kind in (np.uint8, np.uint16, np.uint32)]
        made = {"vertex": VERTEX, "color": [self.image.format]}
        self.placed = self.device.pipeline(PLACED, PLAIN, label="placed", **made)
        self.pushed = self.device.pipeline(PUSHED, PLAIN, label="pushed", **made)
        self.block = self.device.pipeline(BLOCK, PLAIN, label="block", **made)
        self.both = self.device.pipeline(BLOCK, TEXTURED, label="both", **made)
        self.culled = self.device.pipeline(PLACED, PLAIN, dynamic=["cull_mode", "scissor"], label="culled", **made)
        self.textures = [self.device.texture(random.integers(0, 255, (4, 4, 4), dtype=np.uint8)) for _ in range(2)]
        self.blocks = [self.device.buffer(np.array([0.1 * k, 0, 0.5, 0.5, 0.7], np.float32), usage="uniform") for k in range(3)]

    def run(self, draws: Callable[[tg.RenderPass], None], plain: bool = True, frame: bool = False) -> tuple[Any, ...]:
        """The picture, counters, what a frame tells that it used."""
        node_uses: list[Any] = []
        if frame:
            with self.device.frame() as f:
                rp = self._pass(draws, plain)
            node_uses = [(id(use.thing), *use[1:]) for use in f.nodes[0].uses]
        else:
            rp = self._pass(draws, plain)
        counters = {name: value for name, value in rp.stats.asdict().items() if not name.endswith("_ms")}
        return self.image.numpy().tobytes(), counters, node_uses, rp.lint(), str(rp.explain())

    def _pass(self, draws: Callable[[tg.RenderPass], None], plain: bool) -> tg.RenderPass:
        with self.device.render_pass(color=tg.Attachment(self.image, clear=WHITE)) as rp:
            if not plain:
                vars(rp)["_quick"] = None
            draws(rp)
        return rp


@pytest.fixture(scope="module")
def world() -> World:
    made = World()
    for pipeline in (made.placed, made.pushed, made.block, made.both):  # the first draw of each goes the general way
        made.run(lambda rp, pipeline=pipeline: draw_one(made, rp, pipeline, 0))  # type: ignore[misc]
        assert pipeline._plain is not None
    return made


def draw_one(world: World, rp: tg.RenderPass, pipeline: tg.Pipeline, k: int) -> None:
    values = {"place": (0.1 * (k % 5), -0.1, 0.6, 0.5), "grey": 0.5 + 0.1 * (k % 4)}
    given: dict[str, Any] = {"push": values} if pipeline is world.pushed else {}
    if pipeline in (world.block, world.both):
        given["bind"] = {"Block": values if k % 2 else world.blocks[k % 3]}
    if pipeline is world.both:
        texture = world.textures[k % 2]
        given["bind"]["picture"] = texture if k % 3 else (texture.image, texture.sampler)
    rp.draw(pipeline, world.buffers[k % 5], **given)


def some_draws(world: World, seed: int) -> Callable[[tg.RenderPass], None]:
    """Forty draws at random, plain ones and others."""

    def draws(rp: tg.RenderPass) -> None:
        random = np.random.default_rng(seed)
        for _ in range(40):
            k = int(random.integers(100))
            vertices: Any = (world.buffers, world.arrays)[k % 2][k % 5]
            more: dict[str, Any] = {}
            if k % 3 == 0:
                more |= {"scissor": (k % 30, 3, 30, 40)}
            if k % 7 == 0:
                more |= {"viewport": (0, 0, 40, 50)}
            if k % 4 == 1:
                more |= {"indices": world.indices[k % 3] if k % 8 == 1 else np.array([5, 4, 3, 0, 1, 2][: 3 + 3 * (k % 2)], np.uint16)}
            elif k % 4 == 2:
                more |= {"first": 3, "count": 3, "instances": 1 + k % 2}
            elif k % 11 == 0:
                rp.set(cull_mode=("none", "back")[k % 2], scissor=(0, 0, 20 + k % 40, 64))
                rp.draw(world.culled, world.buffers[k % 5])
                continue
            pipeline = (world.placed, world.pushed, world.block, world.both)[int(random.integers(4))]
            if pipeline is not world.placed:
                draw_one(world, rp, pipeline, k)
                continue
            rp.draw(pipeline, vertices, **more)

    return draws


@pytest.mark.parametrize("seed", range(6))
def test_the_same_by_either_way(world: World, seed: int) -> None:
    draws = some_draws(world, seed)
    world.run(draws)
    world.device.wait_compiles()  # what the pass wanted: other code counts other lanes
    for frame in (False, True):
        assert world.run(draws, frame=frame) == world.run(draws, plain=False, frame=frame)


def test_plain_draws_are_one_call_each(world: World) -> None:
    def draws(rp: tg.RenderPass) -> None:
        assert rp._quick is not None
        for k in range(12):
            draw_one(world, rp, (world.placed, world.pushed, world.block, world.both)[k % 4], k)
        rp.draw(world.placed, world.arrays[0], scissor=(1, 2, 30, 30))
        rp.draw(world.placed, world.arrays[0], indices=np.array([2, 1, 0], np.uint32))
        assert rp._quick.drawn == 14
        rp.draw(world.placed, world.arrays[0], viewport=(0, 0, 30, 30))
        rp.draw(world.placed, world.arrays[0])  # sets the viewport back
        assert rp._quick.drawn == 14
        rp.draw(world.placed, world.arrays[0])
        assert rp._quick.drawn == 15

    world.run(lambda rp: [draw_one(world, rp, p, k) for p in (world.block, world.both) for k in range(12)] and None)
    world.run(draws)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"count": 4}, "1 of 4 vertices is left over"),
        ({"first": 3, "count": 6}, "reaches vertex 8; there are 6 vertices"),
        ({"first": 7}, "first is 7; there are 6 vertices"),
        ({"vertex_offset": 1}, "vertex_offset=1 is for indexed draws"),
        ({"instances": 1.5}, "instances is 1.5"),
        ({"instances": -1}, "instances is -1"),
        ({"count": 1}, "1 vertex makes no primitive"),
        ({"count": True}, "count=True, first_instance=0 must be whole numbers"),
        ({"first": True}, "first is True; it must be a whole number"),
        ({"instances": True}, "instances is True"),
        ({"indices": np.array([0, 1, 6], np.uint16)}, "indices reach vertex 6; there are 6 vertices"),
        ({"indices": np.array([0, 1, 2], np.float32)}, "indices have dtype float32"),
        ({"push": {"place": 1}}, "the shaders have no push constants"),
        ({"bind": {"nothing": 1}}, "the shaders have no binding 'nothing'"),
        ({"scissor": (0, 0, -1, 4)}, "width and height must not be negative"),
        ({"scissor": (-4, 0, 8, 4)}, "x and y must not be negative"),
        ({"vertices": None}, "give vertices="),
        ({"vertices": np.zeros(3, np.float32)}, "vertices of shape (3,) have 1 columns"),
    ],
)
def test_what_is_wrong_is_said_in_the_same_words(world: World, given: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"vertices": world.buffers[0], **given}
    found = []
    for plain in (True, False):
        with pytest.warns(tg.LostPrimitivesWarning) if "left over" in says or "makes no" in says else pytest.raises(tg.Error) as told:
            world.run(lambda rp: rp.draw(world.placed, **arguments), plain=plain)
        found.append(str(told[0].message) if isinstance(told, pytest.WarningsRecorder) else str(told.value))
    assert found[0] == found[1]
    assert says in found[0]


def test_pushes_and_blocks_that_are_wrong(world: World) -> None:
    for pipeline, given in (
        (world.pushed, {}),
        (world.pushed, {"push": {"place": (0, 0, 1), "grey": 1.0}}),
        (world.pushed, {"push": b"1234"}),
        (world.block, {}),
        (world.block, {"bind": {"Block": {"place": (0, 0, 1, 1)}}}),
        (world.both, {"bind": {"Block": world.blocks[0]}}),
        (world.both, {"bind": {"Block": world.blocks[0], "picture": world.blocks[0]}}),
    ):
        found = []
        for plain in (True, False):
            with pytest.raises(tg.Error) as told:
                world.run(lambda rp, p=pipeline, g=given: rp.draw(p, world.buffers[0], **g), plain=plain)  # type: ignore[misc]
            found.append(str(told.value))
        assert found[0] == found[1], given


def test_what_a_slice_or_a_texture_shows_may_change(world: World) -> None:
    device = world.device
    values = np.zeros(128, np.float32)
    values[:5], values[64:69] = (0, 0, 1, 1, 1), (0.3, 0.3, 0.5, 0.5, 0.2)
    buffer = device.buffer(values, usage="uniform")
    part, picture = buffer.slice(0, 32), tg.Texture(world.textures[0].image, world.textures[0].sampler)

    def draws(rp: tg.RenderPass) -> None:
        rp.draw(world.both, world.buffers[1], bind={"Block": part, "picture": picture})

    first = world.run(draws)
    assert world.run(draws)[0] == first[0] == world.run(draws, plain=False)[0]
    part.offset = 256
    picture.image = world.textures[1].image
    assert world.run(draws)[0] == world.run(draws, plain=False)[0] != first[0]


def test_objects_that_were_bound_live_no_longer(world: World) -> None:
    texture = world.device.texture(np.full((4, 4, 4), 200, np.uint8))
    image = weakref.ref(texture.image)

    def draws(rp: tg.RenderPass, texture: tg.Texture) -> None:
        rp.draw(world.both, world.buffers[0], bind={"Block": world.blocks[0], "picture": texture})

    for _ in range(3):
        world.run(functools.partial(draws, texture=texture))
    del texture
    gc.collect()
    assert image() is None


def test_contents_that_became_undefined_are_told(world: World) -> None:
    target = world.device.image((4, 4), "r8g8b8a8_unorm")
    world.device.clear(target, (1, 0, 0, 1))
    texture = tg.Texture(target, world.textures[0].sampler)

    def draws(rp: tg.RenderPass) -> None:
        rp.draw(world.both, world.buffers[0], bind={"Block": world.blocks[0], "picture": texture})

    assert world.run(draws)[3] == world.run(draws)[3] == []
    with world.device.render_pass(color=tg.Attachment(target, clear=WHITE, store_op="dont_care")):
        pass
    with pytest.warns(tg.UndefinedContentsWarning, match="store_op of pass 'pass' was dont_care"):
        assert len(world.run(draws)[3]) == 1


def test_a_reloaded_pipeline_draws_what_it_is_now(world: World, tmp_path: Any) -> None:
    file = tmp_path / "plain.frag"
    file.write_text(PLAIN)
    pipeline = world.device.pipeline(PLACED, file, vertex=VERTEX, color=[world.image.format])
    for _ in range(2):
        before = world.run(lambda rp: rp.draw(pipeline, world.buffers[0]))[0]
    file.write_text(PLAIN.replace("color, 1", "color.bgr, 1"))
    pipeline.reload()
    after = world.run(lambda rp: rp.draw(pipeline, world.buffers[0]))[0]
    assert after != before
    assert world.run(lambda rp: rp.draw(pipeline, world.buffers[0]))[0] == after


def test_draws_of_threads_are_whole(world: World) -> None:
    """Plain draws and others of two threads in one pass: each has its own vertices and push constants."""
    errors: list[BaseException] = []
    with world.device.render_pass(color=tg.Attachment(world.image, clear=WHITE)) as rp:

        def work(first: int) -> None:
            try:
                for k in range(200):
                    draw_one(world, rp, world.pushed, first + k)
                    rp.draw(world.placed, world.buffers[k % 5], viewport=(0, 0, 64, 64) if k % 3 == first else None)
            except BaseException as wrong:
                errors.append(wrong)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors
    assert rp.stats.draws == 800


def test_a_pass_begun_again_has_its_own_clear_value(world: World) -> None:
    """Attachments that were built before are used again; not for another value, though it compares equal."""
    image = world.device.image((8, 8), "r32g32b32a32_sfloat")
    for clear in ((0.0, 0.5, 0.0, 1.0), (0.0, 0.5, 0.0, 1.0), (-0.0, 0.5, 0.0, 1.0), (0.25, 0.5, 0.0, 1.0), None):
        for _ in range(2):
            with world.device.render_pass(color=tg.Attachment(image, clear=clear, load_op="clear")):
                pass
            expected = np.array(clear or (0.0, 0.0, 0.0, 0.0), np.float32)
            assert image.numpy()[0, 0].tobytes() == expected.tobytes()
