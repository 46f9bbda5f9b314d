"""What passes did without a word: undefined attachments that draws read, the order of lines and of execution, states that nobody wants,
vertices that are left over, attachments that no shader writes.

Each warning comes with the legal things beside it that must stay quiet.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

COVER = """#version 450
void main() { vec2 p = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2); gl_Position = vec4(p * 2 - 1, 0.5, 1); }"""
POSITION = "#version 450\nlayout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0, 1); }"
HALF = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1, 1, 1, 0.5); }"
NOTHING = "#version 450\nvoid main() {}"
READS = """#version 450
layout(input_attachment_index = 0, binding = 0) uniform subpassInput i; layout(location = 0) out vec4 o;
void main() { o = subpassLoad(i) * 0.5; }"""
COLOR, DEPTH, BOTH = "r8g8b8a8_unorm", "d32_sfloat", "d32_sfloat_s8_uint"


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(threads=1)


def said(call: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return list(found)


# ------------------------------------------------------------------------------------- what dont_care leaves, and draws read

OVERWRITES = {"src_color": "src_alpha", "dst_color": "zero", "src_alpha": "one", "dst_alpha": "zero"}
STENCIL_TEST = {"compare": "equal", "reference": 1}
#: Of each: arguments of the pipeline, which attachment it reads and how; "": it reads none.
READERS: dict[str, tuple[dict[str, Any], str]] = {
    "depth_test": ({"depth_compare": "less"}, "depth: draw 0, pipeline 'p', tests against"),
    "depth_always": ({"depth_compare": "always"}, ""),
    "depth_never": ({"depth_compare": "never"}, ""),
    "depth_bounds": ({"depth_test": False, "depth_bounds": (0.0, 1.0)}, "depth: draw 0, pipeline 'p', tests against"),
    "stencil": ({"depth_test": False, "stencil_test": STENCIL_TEST}, "stencil: draw 0, pipeline 'p', tests against"),
    "stencil_mask_0": ({"depth_test": False, "stencil_test": {**STENCIL_TEST, "compare_mask": 0}}, ""),
    "stencil_replace": ({"depth_test": False, "stencil_test": {"compare": "always", "pass": "replace"}}, ""),
    "stencil_count": ({"depth_test": False, "stencil_test": {"compare": "always", "pass": "increment_and_wrap"}}, "stencil: draw 0"),
    "stencil_culled": (
        {"depth_test": False, "cull": "back", "stencil_front": {"compare": "always"}, "stencil_back": STENCIL_TEST},
        "",
    ),
    "blend": ({"depth_test": False, "blend": "alpha"}, "color0: draw 0, pipeline 'p', blends with"),
    "blend_min": ({"depth_test": False, "blend": {"color_op": "min"}}, "color0: draw 0"),
    "blend_source": ({"depth_test": False, "blend": OVERWRITES}, ""),
    "blend_masked": ({"depth_test": False, "write_mask": "rgb", "blend": {**OVERWRITES, "dst_alpha": "one"}}, ""),
    "advanced": ({"depth_test": False, "blend": "multiply"}, "color0: draw 0"),
    "logic_xor": ({"depth_test": False, "logic_op": "xor"}, "color0: draw 0"),
    "logic_set": ({"depth_test": False, "logic_op": "set"}, ""),
    "no_tests": ({"depth_test": False}, ""),
    "masked": ({"depth_test": False, "write_mask": "r"}, ""),
}  # fmt: skip


def reading_pass(dev: tg.Device, state: dict[str, Any], before: Callable[[Any], None] = lambda rp: None, **draw: Any) -> Any:
    out, both = dev.image((16, 16), COLOR), dev.image((16, 16), BOTH)
    pipe = dev.pipeline(COVER, draw.pop("frag", HALF), color=[COLOR], depth=BOTH, stencil=BOTH, label="p", **state)
    left = tg.Attachment(both, load_op="dont_care", store_op="dont_care")
    given = {"color": tg.Attachment(out, load_op="dont_care"), "depth": left, "stencil": left}
    with dev.render_pass(**given, label="a") as rp:
        before(rp)
        rp.draw(pipe, count=3, **draw)
    return rp


@pytest.mark.parametrize("name", READERS)
def test_draws_that_read_what_dont_care_left(dev: tg.Device, name: str) -> None:
    state, line = READERS[name]
    found = [w for w in said(lambda: reading_pass(dev, state)) if "with compare_mask=0" not in str(w.message)]  # of the pipeline
    assert [w.category for w in found] == [tg.UndefinedContentsWarning] * bool(line)
    if line:
        assert str(found[0].message).startswith(f"pass 'a': {line}") and "load_op dont_care" in str(found[0].message)
        lines, first = inspect.getsourcelines(reading_pass)
        assert first <= found[0].lineno < first + len(lines) and found[0].filename == __file__
    strict = tg.Device(threads=1, strict=True)
    if line:
        with pytest.raises(tg.UndefinedContentsError, match="load_op dont_care left there"):
            reading_pass(strict, state)
    else:
        reading_pass(strict, state)


def test_an_input_attachment_reads_too(dev: tg.Device) -> None:
    (found,) = said(lambda: reading_pass(dev, {"depth_test": False}, frag=READS))
    assert "color0: draw 0, pipeline 'p', reads what load_op dont_care left there" in str(found.message)


def test_none_is_as_undefined_as_dont_care(dev: tg.Device) -> None:
    out = dev.image((8, 8), COLOR)
    dev.clear(out, (0, 0, 0, 0))
    pipe = dev.pipeline(COVER, HALF, color=[COLOR], blend="alpha")

    def draw() -> None:
        with dev.render_pass(color=tg.Attachment(out, load_op="none")) as rp:
            rp.draw(pipe, count=3)

    assert "load_op none left" in str(said(draw)[0].message)


CLEARS: dict[str, tuple[Callable[[Any], None], dict[str, Any], bool]] = {
    "all": (lambda rp: rp.clear((0, 0, 0, 0)), {}, True),
    "halves": (lambda rp: (rp.clear((0, 0, 0, 0), rect=(0, 0, 16, 7)), rp.clear((0, 0, 0, 0), rect=(0, 7, 16, 9))), {}, True),
    "a_half": (lambda rp: rp.clear((0, 0, 0, 0), rect=(0, 0, 16, 8)), {}, False),
    "what_is_drawn": (lambda rp: rp.clear((0, 0, 0, 0), rect=(4, 4, 8, 8)), {"scissor": (4, 4, 8, 8)}, True),
    "what_the_viewport_shows": (lambda rp: rp.clear((0, 0, 0, 0), rect=(4, 4, 8, 8)), {"viewport": (4, 4, 8, 8)}, True),
    "beside_it": (lambda rp: rp.clear((0, 0, 0, 0), rect=(0, 0, 8, 8)), {"scissor": (7, 7, 4, 4)}, False),
    "depth_instead": (lambda rp: rp.clear(depth=1.0), {}, False),
    "nothing_drawn": (lambda rp: None, {"instances": 0}, True),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEARS)
def test_clears_within_the_pass(dev: tg.Device, name: str) -> None:
    before, arguments, quiet = CLEARS[name]
    found = said(lambda: reading_pass(dev, {"depth_test": False, "blend": "alpha"}, before, **arguments))
    assert bool(found) != quiet


def test_draws_before_count_as_having_covered(dev: tg.Device) -> None:
    """What they cover of their viewport and scissor is not known when the pass is recorded."""
    plain = dev.pipeline(COVER, HALF, color=[COLOR], depth=BOTH, stencil=BOTH, depth_test=False)
    blend = {"depth_test": False, "blend": "alpha"}
    assert not said(lambda: reading_pass(dev, blend, lambda rp: rp.draw(plain, count=3)))
    (found,) = said(lambda: reading_pass(dev, blend, lambda rp: rp.draw(plain, count=3, scissor=(0, 0, 8, 16))))
    assert "color0: draw 1, pipeline 'p', blends with" in str(found.message)
    always = dev.pipeline(COVER, HALF, color=[COLOR], depth=BOTH, stencil=BOTH, depth_compare="always")
    assert not said(lambda: reading_pass(dev, {"depth_compare": "less"}, lambda rp: rp.draw(always, count=3)))


def test_each_attachment_is_named_once_and_lint_says_it_too(dev: tg.Device) -> None:
    state = {"depth_compare": "less", "blend": "alpha"}
    found: list[Any] = []
    passes: list[Any] = []
    found = said(lambda: passes.append(reading_pass(dev, state)))
    assert [str(w.message).split(":")[1].strip() for w in found] == ["color0", "depth"]
    assert sum("dont_care left there" in line for line in passes[0].lint()) == 2


def test_secondaries_are_looked_into(dev: tg.Device) -> None:
    out = dev.image((8, 8), COLOR)
    pipe = dev.pipeline(COVER, HALF, color=[COLOR], blend="alpha", label="p")
    with dev.secondary(color=[COLOR]) as part:
        part.draw(pipe, count=3)

    def execute() -> None:
        with dev.render_pass(color=tg.Attachment(out, load_op="dont_care")) as rp:
            rp.execute_commands(part)

    assert "draw 0, pipeline 'p', blends with" in str(said(execute)[0].message)


def test_dynamic_state_is_what_was_set(dev: tg.Device) -> None:
    depth = dev.image((8, 8), DEPTH)
    pipe = dev.pipeline(COVER, depth=DEPTH, dynamic=["depth_compare_op"])

    def draw(op: str) -> None:
        with dev.render_pass(depth=tg.Attachment(depth, load_op="dont_care")) as rp:
            rp.set(depth_compare_op=op)
            rp.draw(pipe, count=3)

    assert not said(lambda: draw("always"))
    assert "depth: draw 0" in str(said(lambda: draw("less"))[0].message)


@pytest.mark.parametrize("samples", [1, 4])
def test_what_nobody_drew_to_stays_undefined(dev: tg.Device, samples: int) -> None:
    """A pass that neither loads nor clears an attachment, and draws nothing to it, stores nothing that could be read."""
    out, other = dev.image((8, 8), COLOR, label="out"), dev.image((8, 8), COLOR)
    pipe = dev.pipeline(COVER, HALF, color=[COLOR, COLOR], attachment_locations=[None, 0], samples=samples)
    given = [tg.Attachment(out, load_op="dont_care"), tg.Attachment(other, load_op="dont_care")]
    with dev.render_pass(color=given, samples=samples if samples > 1 else 0, label="a") as rp:
        rp.draw(pipe, count=3)
    assert other.numpy().min() > 0
    with pytest.raises(tg.UndefinedContentsError, match="load_op of pass 'a' was dont_care, and nothing was drawn there"):
        out.numpy()


# ------------------------------------------------------------------------------------------ the order of lines and of execution


class Within:
    """An open pass that has drawn, and what it uses."""

    def __init__(self, dev: tg.Device) -> None:
        self.dev = dev
        self.out, self.depth = dev.image((8, 8), COLOR, label="out"), dev.image((8, 8), DEPTH, label="depth")
        self.texture = dev.texture(np.zeros((8, 8, 4), "u1"), label="texture")
        self.block = dev.buffer(np.ones(8, "f4"), label="block")
        self.sums = dev.buffer(np.zeros(8, "f4"), label="sums")
        self.vertices = dev.buffer(np.array([[-1, -1], [3, -1], [-1, 3]], "f4"), label="vertices")
        self.free, self.other = dev.buffer(np.ones(8, "f4"), label="free"), dev.image((8, 8), COLOR, label="other")
        dev.clear(self.other, (0, 0, 0, 0))
        frag = """#version 450
layout(binding = 0) uniform B { vec4 c; }; layout(binding = 1) uniform sampler2D t; layout(location = 0) out vec4 o;
layout(binding = 2) buffer S { float sums[]; };
void main() { o = c + texture(t, vec2(0.5)); sums[0] = 1; }"""
        self.pipe = dev.pipeline(POSITION, frag, vertex=np.dtype(("f4", 2)), color=[COLOR], depth=DEPTH, depth_test=False)
        kernel = "#version 450\nlayout(local_size_x = 1) in; layout(binding = 0) buffer S { float s[]; }; void main() { s[0] = 2; }"
        self.kernel = dev.compute_pipeline(kernel)

    def run(self, act: Callable[[Within], Any]) -> None:
        colors = tg.Attachment(self.out, clear=(0, 0, 0, 0))
        with self.dev.render_pass(color=colors, depth=tg.Attachment(self.depth, clear=1.0), label="a") as rp:
            rp.draw(self.pipe, self.vertices, bind={"B": self.block, "t": self.texture, "S": self.sums})
            act(self)


ACTS: dict[str, Callable[[Within], Any]] = {
    "clear_attachment": lambda w: w.dev.clear(w.out, (1, 1, 1, 1)),
    "clear_depth": lambda w: w.dev.clear(w.depth, depth=0.5),
    "read_attachment": lambda w: w.out.numpy(),
    "view_attachment": lambda w: np.asarray(w.out),
    "save_attachment": lambda w: w.out.save("x.png"),
    "copy_from_attachment": lambda w: w.dev.copy(w.out, w.other),
    "copy_to_attachment": lambda w: w.dev.copy(w.other, w.out),
    "blit": lambda w: w.dev.blit(w.other, w.out),
    "write_attachment": lambda w: w.out.write(np.zeros((8, 8, 4), "u1")),
    "write_texture": lambda w: w.texture.image.write(np.zeros((8, 8, 4), "u1")),
    "write_block": lambda w: w.block.write(np.zeros(4, "f4")),
    "write_vertices": lambda w: w.vertices.write(np.zeros((3, 2), "f4")),
    "copy_to_block": lambda w: w.dev.copy(w.free, w.block),
    "read_sums": lambda w: w.sums.numpy(),
    "dispatch_to_sums": lambda w: w.dev.dispatch(w.kernel, 1, bind={"S": w.sums}),
    "dispatch_to_block": lambda w: w.dev.dispatch(w.kernel, 1, bind={"S": w.block}),
    "a_pass_that_samples": lambda w: other_pass(w, w.out),
    "a_pass_to_the_texture": lambda w: w.dev.render_pass(color=w.texture.image).__enter__().__exit__(None, None, None),
}  # fmt: skip
QUIET: dict[str, Callable[[Within], Any]] = {
    "new_texture": lambda w: w.dev.texture(np.zeros((4, 4, 4), "u1")),
    "new_buffer": lambda w: w.dev.buffer(np.zeros(4, "f4")),
    "read_texture": lambda w: w.texture.image.numpy(),
    "write_free": lambda w: w.free.write(np.zeros(4, "f4")),
    "read_free": lambda w: w.free.numpy(),
    "copy_from_block": lambda w: w.dev.copy(w.block, w.free),
    "clear_other": lambda w: w.dev.clear(w.other, (1, 1, 1, 1)),
    "read_other": lambda w: w.other.numpy(),
    "dispatch_to_free": lambda w: w.dev.dispatch(w.kernel, 1, bind={"S": w.free}),
    "a_pass_beside_it": lambda w: other_pass(w, w.texture.image),
}  # fmt: skip


def other_pass(w: Within, source: tg.Image) -> None:
    frag = HALF.replace("layout", "layout(binding = 0) uniform sampler2D t; layout", 1).replace("vec4(1, 1, 1, 0.5)", "texture(t, vec2(0))")
    pipe = w.dev.pipeline(COVER, frag, color=[COLOR])
    with w.dev.render_pass(color=tg.Attachment(w.other, clear=(0, 0, 0, 0)), label="b") as rp:
        rp.draw(pipe, count=3, bind={"t": (source, w.dev.sampler())})


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.filterwarnings("ignore::tilegpu.UndefinedContentsWarning")
def test_what_would_come_before_the_draws_is_refused(dev: tg.Device, name: str) -> None:
    within = Within(dev)
    match = r"pass 'a' is open, and the (image|buffer) .*: the pass is executed when its with block ends"
    with pytest.raises(tg.ValidationError, match=match):
        within.run(ACTS[name])
    within.run(lambda w: None)  # nothing is left of the pass that was given up
    if name.startswith("read") or name == "save_attachment":
        return
    ACTS[name](within)


@pytest.mark.parametrize("name", QUIET)
def test_what_the_pass_does_not_mind_is_done(dev: tg.Device, name: str) -> None:
    assert not said(lambda: Within(dev).run(QUIET[name]))


def test_a_pass_that_was_given_up_minds_nothing(dev: tg.Device) -> None:
    """Entered by hand and dropped: it is never executed."""
    out = dev.image((8, 8), COLOR)
    dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0))).__enter__()
    dev.clear(out, (1, 1, 1, 1))
    assert out.numpy().min() == 255


def test_another_threads_pass_is_its_own(dev: tg.Device) -> None:
    import threading

    def act(w: Within) -> None:
        wrong: list[BaseException] = []

        def other() -> None:
            try:
                w.block.write(np.zeros(4, "f4"))
            except BaseException as found:
                wrong.append(found)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert not wrong

    Within(dev).run(act)


def test_a_change_through_a_view_of_what_draws_read_is_an_order_warning(dev: tg.Device) -> None:
    def change(w: Within) -> None:
        w.block.numpy()[...] = 0.25

    found = said(lambda: Within(dev).run(change))
    assert [w.category for w in found] == [tg.OrderWarning]
    changed = "it was changed through the view within the block of pass 'a', whose draws read it (uniform buffer)"
    assert f"buffer 'block': numpy: {changed}" in str(found[0].message) and found[0].filename == __file__
    assert said(lambda: Within(dev).run(lambda w: w.block.numpy().copy())) == []


# --------------------------------------------------------------------------------------------------- states that nobody wants


def test_a_state_that_no_pipeline_leaves_open(dev: tg.Device) -> None:
    out = dev.image((8, 8), COLOR)
    fixed = dev.pipeline(COVER, HALF, color=[COLOR])
    open_ = dev.pipeline(COVER, HALF, color=[COLOR], dynamic=["cull_mode", "front_face"])

    def draw(*pipes: Any, **state: Any) -> None:
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
            rp.set(front_face="clockwise", **state)
            for pipe in pipes:
                rp.draw(pipe, count=3)

    found = said(lambda: draw(fixed, cull_mode="front_and_back"))
    assert [w.category for w in found] == [tg.UnusedNameWarning] * 2
    assert "pass 'a': set: cull_mode has no effect: no draw behind it is with a pipeline that leaves it open" in str(found[1].message)
    source, first = inspect.getsourcelines(draw)
    assert found[0].lineno == first + next(k for k, line in enumerate(source) if "rp.set" in line) and found[0].filename == __file__
    assert not said(lambda: draw(fixed, open_, cull_mode="none"))
    assert not said(draw)  # without a draw nothing has an effect
    (found_one,) = said(lambda: draw(open_, cull_mode="none", line_width=2.0))
    assert "line_width" in str(found_one.message)


# ------------------------------------------------------------------------------------------------- vertices that are left over

LEFT: list[tuple[str, int, dict[str, Any], str]] = [
    ("triangle_list", 4, {}, "1 of 4 vertices is left over: the topology takes 3 each; give count=3"),
    ("triangle_list", 3, {"first": 2}, "1 vertex makes no primitive"),
    ("triangle_list", 6, {"count": 5}, "2 of 5 vertices are left over"),
    ("triangle_list", 4, {"indices": np.array([0, 1, 2, 3])}, "1 of 4 indices is left over"),
    ("line_list", 3, {}, "1 of 3 vertices is left over"),
    ("triangle_strip", 2, {}, "2 vertices make no primitive: the topology takes at least 3; give more"),
    ("line_strip", 1, {}, "1 vertex makes no primitive"),
    ("triangle_list", 6, {}, ""),
    ("triangle_strip", 4, {}, ""),
    ("triangle_fan", 5, {}, ""),
    ("line_strip", 2, {}, ""),
    ("point_list", 1, {}, ""),
    ("triangle_list", 3, {"count": 0}, ""),
    ("triangle_list", 3, {"instances": 0}, ""),
]


@pytest.mark.parametrize(("topology", "vertices", "arguments", "text"), LEFT)
@pytest.mark.parametrize("dynamic", [False, True])
def test_vertices_that_make_no_primitive(
    dev: tg.Device, topology: str, vertices: int, arguments: dict[str, Any], text: str, dynamic: bool
) -> None:
    out = dev.image((8, 8), COLOR)
    kind = {"dynamic": ["primitive_topology"]} if dynamic else {"topology": topology}
    pipe = dev.pipeline(POSITION, HALF, vertex=np.dtype(("f4", 2)), color=[COLOR], label="p", **kind)

    def draw() -> None:
        with dev.render_pass(color=tg.Attachment(out, clear=(0, 0, 0, 0)), label="a") as rp:
            if dynamic:
                rp.set(primitive_topology=topology)
            rp.draw(pipe, np.zeros((vertices, 2), "f4"), **arguments)

    found = [w for w in said(draw) if w.category is not tg.UnusedNameWarning]
    assert [w.category for w in found] == [tg.LostPrimitivesWarning] * bool(text)
    assert not text or f"pass 'a', pipeline 'p': {text}" in str(found[0].message)


# ------------------------------------------------------------------------------------------- attachments that no shader writes


@pytest.mark.parametrize(
    ("frag", "arguments", "text"),
    [
        (HALF, {"color": [COLOR, COLOR]}, r"color\[1\]: the fragment shader has no output at location 1 \(it has: 0\)"),
        (NOTHING, {"color": [COLOR]}, r"no output at location 0 \(it has: none\)"),
        (None, {"color": [COLOR]}, "there is no fragment shader, so that nothing is drawn to color"),
        (HALF, {"color": [COLOR, COLOR], "attachment_locations": [0, None]}, ""),
        (HALF, {"color": [COLOR, COLOR], "write_mask": ["rgba", ""]}, ""),
        (HALF, {"color": [COLOR, None]}, ""),
        (HALF, {"color": [COLOR, COLOR], "dynamic": ["color_write_mask"]}, ""),
        (HALF.replace("vec4 o;", "vec4 o[2];").replace("o =", "o[0] = o[1] ="), {"color": [COLOR, COLOR]}, ""),
        (READS, {"color": [COLOR, COLOR]}, ""),
        (None, {"color": [COLOR], "depth": DEPTH}, ""),
        (None, {"depth": DEPTH}, ""),
    ],
)
def test_color_attachments_without_an_output(dev: tg.Device, frag: str | None, arguments: dict[str, Any], text: str) -> None:
    found = said(lambda: dev.pipeline(COVER, frag, **arguments))
    assert [w.category for w in found] == [tg.UnusedNameWarning] * bool(text)
    if text:
        with pytest.warns(tg.UnusedNameWarning, match=text):
            dev.pipeline(COVER, frag, **arguments)
