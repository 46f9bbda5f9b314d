"""Which stores of a capture are read by what is in it: advice to drop one goes by the images themselves, command by command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0.5, 1); }"
HEAD = "#version 450\nlayout(location = 0) out vec4 o;\n"
WHITE = HEAD + "void main() { o = vec4(1); }"
SAMPLES = HEAD + "layout(binding = 0) uniform sampler2D t; void main() { o = texture(t, vec2(0.5)); }"
READS = """#version 450
layout(local_size_x = 1) in; layout(binding = 0) uniform sampler2D t; layout(binding = 1) buffer B { float v[]; };
void main() { v[0] = texture(t, vec2(0.5)).x; }"""
COLOR, DEPTH, SIZE = "r8g8b8a8_unorm", "d32_sfloat", (32, 32)


class World:
    """A frame whose first pass stores colour and depth, and images like these beside them."""

    def __init__(self) -> None:
        self.dev = tg.Device(threads=1, strict=True)
        self.color, self.out = (self.dev.image(SIZE, COLOR, label=name) for name in ("color", "out"))
        self.depth, self.other = (self.dev.image(SIZE, DEPTH, layers=2, label="same name") for _ in range(2))
        for image in (self.depth, self.other):
            self.dev.clear(image, depth=1.0)
        self.draws = self.dev.pipeline(FULL, WHITE, color=[COLOR], depth=DEPTH)
        self.samples = self.dev.pipeline(FULL, SAMPLES, color=[COLOR])
        self.reads = self.dev.compute_pipeline(READS)
        self.taken = self.dev.buffer(np.zeros(2 * SIZE[0] * SIZE[1], np.float32))

    def first(self) -> None:
        depth = tg.Attachment(self.depth, clear=1.0, layer=0)
        with self.dev.render_pass(color=tg.Attachment(self.color, clear=(0, 0, 0, 1)), depth=depth, label="first") as rp:
            rp.draw(self.draws, count=3)

    def view(self, image: tg.Image, layer: int = 0) -> tuple[Any, tg.Sampler]:
        return image.view("2d", aspect="depth", layer=layer, layers=1), self.dev.sampler()

    def drawn(self, image: tg.Image, layer: int = 0, way: str = "bind") -> None:
        target = tg.Attachment(self.out, clear=(0, 0, 0, 1))
        if way == "secondary":
            with self.dev.secondary(color=[COLOR]) as part:
                part.draw(self.samples, count=3, bind={"t": self.view(image, layer)})
        with self.dev.render_pass(color=target, label="second") as rp:
            if way == "secondary":
                rp.execute_commands(part)
            else:
                rp.draw(self.samples, count=3, bind={"t": self.view(image, layer)})

    def dispatched(self, image: tg.Image, layer: int = 0) -> None:
        self.dev.dispatch(self.reads, groups=1, bind={"t": self.view(image, layer), "B": self.taken})

    def tested(self, image: tg.Image) -> None:
        depth = tg.Attachment(image, load_op="load", store_op="none")
        with self.dev.render_pass(color=tg.Attachment(self.out, clear=(0, 0, 0, 1)), depth=depth, label="second") as rp:
            rp.draw(self.draws, count=3)


#: What stands behind the pass, and whether it reads the depth that the pass stores.
BEHIND: dict[str, tuple[Callable[[World], Any], bool]] = {
    "nothing": (lambda w: None, False),
    "copies the colour": (lambda w: w.dev.copy(w.color, w.out), False),
    "copies it": (lambda w: w.dev.copy(w.depth, w.other, layers=1), True),
    "copies its other layer": (lambda w: w.dev.copy(w.depth, w.other, source_layer=1, layers=1), False),
    "copies it to a buffer": (lambda w: w.dev.copy(w.depth, w.taken, layers=1), True),
    "copies another to a buffer": (lambda w: w.dev.copy(w.other, w.taken, layers=1), False),
    "blits the colour": (lambda w: w.dev.blit(w.color, w.out), False),
    "blits it": (lambda w: w.dev.blit(w.depth, w.other, filter="nearest"), True),
    "clears another": (lambda w: w.dev.clear(w.other, depth=0.5), False),
    "samples it": (lambda w: w.drawn(w.depth), True),
    "samples it in a secondary": (lambda w: w.drawn(w.depth, way="secondary"), True),
    "samples its other layer": (lambda w: w.drawn(w.depth, 1), False),
    "samples another": (lambda w: w.drawn(w.other), False),
    "dispatches with it": (lambda w: w.dispatched(w.depth), True),
    "dispatches with another": (lambda w: w.dispatched(w.other), False),
    "tests against it": (lambda w: w.tested(w.depth), True),
    "tests against another": (lambda w: w.tested(w.other), False),
}


def advises(world: World, path: Path) -> bool:
    """Whether the capture's lint would drop the first pass's depth."""
    replay = world.dev.load_capture(path)
    replay.run()
    return any(line.startswith("pass 'first': depth: is stored; if nothing reads it after the pass") for line in replay.lint())


@pytest.mark.parametrize("way", list(BEHIND))
def test_what_reads_a_store(way: str, tmp_path: Path) -> None:
    """Any copy in a capture took all advice away, and so did any texture or dispatch of the format; the name said which image it was."""
    does, reads = BEHIND[way]
    world = World()
    with world.dev.frame("f") as frame:
        world.first()
        does(world)
    frame.capture(tmp_path / "f.tgcap")
    assert advises(world, tmp_path / "f.tgcap") == (not reads)
    said = any("depth" in line and "'first'" in line and "store_op='dont_care'" in line for line in frame.lint())
    assert said == (not reads)


@pytest.mark.parametrize("way", ["copies it", "samples it", "dispatches with it", "copies the colour", "samples another"])
def test_what_reads_it_before(way: str, tmp_path: Path) -> None:
    """A frame is drawn again: it reads what the frame before stored."""
    does, reads = BEHIND[way]
    world = World()
    world.first()
    with world.dev.frame("f") as frame:
        does(world)
        world.first()
    frame.capture(tmp_path / "f.tgcap")
    assert advises(world, tmp_path / "f.tgcap") == (not reads)


def test_sets_that_are_read_late_and_elements_of_arrays(tmp_path: Path) -> None:
    world = World()
    layout = world.dev.descriptor_set_layout({0: "combined_image_sampler"}, update_after_bind=True)
    pipe = world.dev.pipeline(FULL, SAMPLES, color=[COLOR], set_layouts={0: layout})
    late = world.dev.descriptor_set(layout, bind={0: world.view(world.depth)})
    for behind, reads in ((world.other, False), (world.depth, True)):
        with world.dev.frame("f") as frame:
            world.first()
            with world.dev.render_pass(color=tg.Attachment(world.out, clear=(0, 0, 0, 1)), label="second") as rp:
                rp.draw(pipe, count=3, sets={0: late})
                late.update({0: world.view(behind)})
        frame.capture(tmp_path / "f.tgcap")
        assert advises(world, tmp_path / "f.tgcap") == (not reads)
    text = SAMPLES.replace("sampler2D t;", "sampler2D t[2];").replace("texture(t,", "texture(t[1],")
    pipe = world.dev.pipeline(FULL, text, color=[COLOR])
    with world.dev.frame("f") as frame:
        world.first()
        with world.dev.render_pass(color=tg.Attachment(world.out, clear=(0, 0, 0, 1)), label="second") as rp:
            rp.draw(pipe, count=3, bind={"t": [world.view(world.other), world.view(world.depth)]})
    frame.capture(tmp_path / "f.tgcap")
    assert not advises(world, tmp_path / "f.tgcap")
