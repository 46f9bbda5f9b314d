"""Small frames for tests of what is said about frames: a device with the few things that they draw, and what may read an image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tilegpu as tg
from tilegpu.context import CommandStats
from tilegpu.frame_traffic import sum_B

SIZE = (96, 80)
RGBA = "r8g8b8a8_unorm"
DEPTH = "d32_sfloat"
COVER = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0.5, 1); }"""
RED = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }"
SAMPLE = """#version 450
layout(binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o; void main() { o = texelFetch(t, ivec2(gl_FragCoord.xy), 0); }"""
SAMPLE_TWO = """#version 450
layout(binding = 0) uniform sampler2D a; layout(binding = 1) uniform sampler2D b; layout(location = 0) out vec4 o;
void main() { o = texelFetch(a, ivec2(gl_FragCoord.xy), 0) + texelFetch(b, ivec2(gl_FragCoord.xy), 0); }"""
KERNEL = """#version 450
layout(local_size_x = 1) in; layout(binding = 0) uniform sampler2D t; layout(binding = 1) buffer B { vec4 v; };
void main() { v = texelFetch(t, ivec2(0), 0); }"""
TILERS = ("mali-g57", "immortalis-g925", "adreno-a740")


class Bench:
    """A device with the few things that these tests draw."""

    def __init__(self, profile: str = "mali-g57") -> None:
        self.dev = tg.Device(profile, threads=1)
        self.nearest = self.dev.sampler(filter="nearest")

    def image(self, label: str, format: str = RGBA, **how: Any) -> tg.Image:
        made = self.dev.image(SIZE, format, label=label, **how)
        self.dev.clear(made, depth=1.0) if made.format_info.is_depth_stencil else self.dev.clear(made, (0, 0, 0, 1))
        return made

    def fill(self, image: tg.Image, label: str = "fill", **how: Any) -> tg.RenderPass:
        """All of an image, red, or of a depth image 0.5."""
        is_depth = image.format_info.is_depth_stencil
        attachment = tg.Attachment(image, clear=1.0 if is_depth else (0, 0, 0, 1), **how)
        with self.dev.render_pass(**{"depth" if is_depth else "color": attachment}, label=label) as rp:
            given: dict[str, Any] = {"depth": image.format, "depth_compare": "less"} if is_depth else {"color": [image.format]}
            rp.draw(self.dev.pipeline(COVER, *([] if is_depth else [RED]), samples=image.samples, **given), count=3)
        return rp

    def show(self, image: tg.Image, to: tg.Image, label: str = "show") -> tg.RenderPass:
        """Samples an image."""
        with self.dev.render_pass(color=tg.Attachment(to, load_op="dont_care"), label=label) as rp:
            rp.draw(self.dev.pipeline(COVER, SAMPLE, color=[to.format]), count=3, bind={"t": (image, self.nearest)})
        return rp

    def ask(self, image: tg.Image) -> None:
        """Samples it in a dispatch."""
        self.dev.dispatch(self.dev.compute_pipeline(KERNEL), (1, 1, 1), bind={"t": (image, self.nearest), "B": self.dev.buffer(16)})


def moved_B(frame: tg.Frame) -> int:
    """What transaction elimination saved as well: it saves nothing when the picture moves."""
    return sum(n.stats.moved_B if isinstance(n.stats, CommandStats) else sum_B(n.stats.traffic) for n in frame.nodes if n.stats is not None)


READERS: dict[str, Callable[[Bench, tg.Image, tg.Image], Any]] = {
    "a pass that samples it": lambda b, image, out: b.show(image, out),
    "a dispatch": lambda b, image, out: b.ask(image),
    "a copy": lambda b, image, out: b.dev.copy(image, b.image("copied", image.format)),
    "a pass that loads it": lambda b, image, out: _load(b, image, out),
}


def _load(bench: Bench, image: tg.Image, out: tg.Image) -> None:
    if not image.format_info.is_depth_stencil:
        with bench.dev.render_pass(color=tg.Attachment(image), label="again") as rp:
            rp.draw(bench.dev.pipeline(COVER, RED, color=[RGBA], blend="alpha"), count=3)
        return
    tests: dict[str, Any] = {"depth": image.format, "depth_compare": "less_or_equal", "depth_write": False}
    color, depth = tg.Attachment(out, clear=(0, 0, 0, 1)), tg.Attachment(image, store_op="none")
    with bench.dev.render_pass(color=color, depth=depth, label="again") as rp:
        rp.draw(bench.dev.pipeline(COVER, RED, color=[RGBA], **tests), count=3)
