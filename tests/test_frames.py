"""Frames: nodes, edges by image, level, layer and bytes, what nobody reads, lint across passes, replays and captures of the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg

FULL = """#version 450
void main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.5, 1.0); }"""
RED = """#version 450
layout(location = 0) out vec4 o;
void main() { o = vec4(1.0, 0.25, 0.0, 1.0); }"""
SAMPLE = """#version 450
layout(binding = 0) uniform sampler2D source;
layout(location = 0) out vec4 o;
void main() { o = texture(source, gl_FragCoord.xy / 32.0) * 0.5; }"""
ADD = """#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer Data { float x[]; };
void main() { x[gl_GlobalInvocationID.x] += 1.0; }"""
FORMAT = "r8g8b8a8_unorm"
SIZE = (32, 32)
SIZE_B = 32 * 32 * 4


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device()


@pytest.fixture(scope="module")
def pipes(dev: tg.Device) -> dict[str, tg.Pipeline]:
    made = {"red": dev.pipeline(FULL, RED, color=[FORMAT]), "sample": dev.pipeline(FULL, SAMPLE, color=[FORMAT])}
    made["red4"] = dev.pipeline(FULL, RED, color=[FORMAT], samples=4)
    made["deep"] = dev.pipeline(FULL, RED, color=[FORMAT], depth="d32_sfloat")
    return made


def clear(image: tg.Image, **options: object) -> tg.Attachment:
    return tg.Attachment(image, clear=(0, 0, 0, 1), **options)  # type: ignore[arg-type]


def edges(f: tg.Frame) -> list[tuple[int, int, str, str, str, str, int]]:
    return [(e.source, e.target, e.thing.label, e.written, e.read, e.part, e.size_B) for e in f.edges]


def test_what_is_done_is_its_nodes(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    a, b = (dev.image(SIZE, FORMAT, label=n) for n in "ab")
    data = dev.buffer(np.zeros(16, np.float32), label="data")
    add = dev.compute_pipeline(ADD, label="add")
    with dev.frame("mine") as f:
        with dev.render_pass(color=[clear(a)], label="first") as rp:
            rp.draw(pipes["red"], count=3)
        dev.dispatch(add, invocations=16, bind={"Data": data})
        dev.dispatch(add, invocations=16, bind={"Data": data})
        with dev.render_pass(color=[clear(b)], label="second") as second:
            second.draw(pipes["sample"], count=3, bind={"source": (a, dev.sampler())})
    assert [(n.kind, n.label) for n in f.nodes] == [
        ("pass", "first"),
        ("dispatch", "add"),
        ("dispatch", "add"),
        ("pass", "second"),
    ]
    assert edges(f) == [
        (-1, 1, "data", "", "storage buffer", "", 64),
        (1, 2, "data", "storage buffer", "storage buffer", "", 64),
        (0, 3, "a", "store", "sampled", "", SIZE_B),
    ]
    assert f.stats.fragments_rasterized == 2 * 1024 == rp.stats.fragments_rasterized + second.stats.fragments_rasterized
    assert f.stats.bytes("store") == 2 * SIZE_B == f.stats.moved_B
    assert f.outputs == [b] and f.lint() == []
    before = b.numpy()
    assert f.replay().fragments_rasterized == 2048
    assert np.array_equal(b.numpy(), before) and (data.numpy() == 4).all()
    text = str(f)
    assert "'a': sampled, stored by 0, 4,096 B" in text and "2 passes, 2 dispatches" in text
    assert f"{f.stats}".count("\n") == 4


def test_a_capture_has_all_of_it(dev: tg.Device, pipes: dict[str, tg.Pipeline], tmp_path: Path) -> None:
    a, b = (dev.image(SIZE, FORMAT) for _ in range(2))
    with dev.frame() as f:
        with dev.render_pass(color=[clear(a)]) as rp:
            rp.draw(pipes["red"], count=3)
        dev.clear(b, (0, 0, 0, 0))
        with dev.render_pass(color=[b]) as rp:
            rp.draw(pipes["sample"], count=3, bind={"source": (a, dev.sampler())})
    f.capture(tmp_path / "f.tgcap")
    replay = tg.Device().load_capture(tmp_path / "f.tgcap")
    assert len(replay.run()) == 2
    assert np.array_equal(replay.pictures[0], b.numpy())


def test_edges_are_of_levels_layers_and_aspects(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    chain = dev.image(SIZE, FORMAT, mip_levels=3, layers=2, label="chain")
    out = dev.image((16, 16), FORMAT, label="out")
    with dev.frame() as f:
        for layer in (0, 1):
            with dev.render_pass(color=[tg.Attachment(chain, clear=(1, 1, 1, 1), level=1, layer=layer)]) as rp:
                rp.draw(pipes["red"], count=3)
        with dev.render_pass(color=[clear(out)]) as rp:
            view = chain.view("2d", level=1, levels=1, layer=1, layers=1)
            rp.draw(pipes["sample"], count=3, bind={"source": (view, dev.sampler())})
        dev.copy(chain, out, source_level=1)
    assert edges(f) == [
        (1, 2, "chain", "store", "sampled", "level 1, layer 1", 1024),
        (0, 3, "chain", "store", "copy", "level 1, layer 0", 1024),
    ]
    both = dev.image(SIZE, "d32_sfloat_s8_uint", label="both")
    with dev.frame() as f:
        with dev.render_pass(
            depth=tg.Attachment(both, clear=1.0), stencil=tg.Attachment(both, clear=0, store_op="dont_care")
        ):
            pass
        with dev.render_pass(depth=both):
            pass
    assert edges(f) == [(0, 1, "both", "store", "load", "depth", SIZE_B)]


def test_a_part_that_is_written_adds_to_who_wrote_it(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    a, b = dev.image(SIZE, FORMAT, label="a"), dev.image(SIZE, FORMAT, label="b")
    with dev.frame() as f:
        dev.clear(a, (1, 0, 0, 1))
        with dev.render_pass(color=[clear(a)], area=(0, 0, 8, 8)) as rp:
            rp.draw(pipes["red"], count=3)
        dev.copy(a, b)
        dev.clear(a, (0, 0, 0, 0))
        dev.copy(a, b)
    assert [e[:2] for e in edges(f)] == [(0, 2), (1, 2), (3, 4)]
    assert {(u.source, u.overwritten_by) for u in f.unread} == {(2, 4), (4, None)}


def test_buffers_by_their_bytes(dev: tg.Device) -> None:
    a, b = (dev.buffer(np.zeros(64, np.float32), label=n) for n in "ab")
    add = dev.compute_pipeline(ADD, label="add")
    with dev.frame() as f:
        dev.copy(b, a, size=64, destination_offset=64)
        dev.dispatch(add, invocations=16, bind={"Data": a.slice(0, 64)})
        dev.dispatch(add, invocations=16, bind={"Data": a.slice(64, 64)})
        dev.copy(a, b, source_offset=32, size=64)
    assert edges(f)[2:] == [
        (0, 2, "a", "copy", "storage buffer", "bytes 64 to 128", 64),
        (0, 3, "a", "copy", "copy", "bytes 64 to 96", 32),
        (1, 3, "a", "storage buffer", "copy", "bytes 32 to 64", 32),
        (2, 3, "a", "storage buffer", "copy", "bytes 64 to 96", 32),
    ]


def test_lint_names_what_is_stored_and_never_read(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    out, other, depth = (
        dev.image(SIZE, FORMAT, label="out"),
        dev.image(SIZE, FORMAT, label="other"),
        dev.image(SIZE, "d32_sfloat", label="depth"),
    )
    with dev.frame() as f:
        with dev.render_pass(color=[clear(other)], depth=tg.Attachment(depth, clear=1.0), label="lost") as rp:
            rp.draw(pipes["deep"], count=3)
        with dev.render_pass(color=[clear(other)], label="again") as rp:
            rp.draw(pipes["red"], count=3)
        with dev.render_pass(color=[clear(out)], label="last") as rp:
            rp.draw(pipes["sample"], count=3, bind={"source": (other, dev.sampler())})
    lines = f.lint()
    assert [(x.saves_B, x.nodes) for x in lines] == [(SIZE_B, (0, 1)), (SIZE_B, (0,))]
    assert (
        "color0: image 'other' is stored, and pass 1 'again' overwrites it, and nobody reads it before; store_op='dont_care' saves"
        in lines[0]
    )
    assert "depth: image 'depth' is stored, and nobody has read it yet" in lines[1]
    depth.numpy()
    assert len(f.lint()) == 1, "the program read it"
    with dev.frame() as f:
        for _ in range(2):
            with dev.render_pass(color=[clear(out)], label="turn") as rp:
                rp.draw(pipes["red"], count=3)
            out.numpy()
    assert f.lint() == [], "the program read it before it was written again"


def test_lint_joins_passes_and_moves_resolves_into_the_tile(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    out, many = dev.image(SIZE, FORMAT, label="out"), dev.image(SIZE, FORMAT, samples=4, label="many")
    with dev.frame() as f:
        with dev.render_pass(color=[clear(many)], label="one") as rp:
            rp.draw(pipes["red4"], count=3)
        with dev.render_pass(color=[many], label="two") as rp:
            rp.draw(pipes["red4"], count=3)
        dev.resolve(many, out)
    joined, resolved = sorted(f.lint(), key=lambda x: x.nodes)
    assert (joined.saves_B, joined.nodes) == (2 * 4 * SIZE_B, (0, 1))
    assert "pass 1 'two' loads what pass 0 'one' stored ('many')" in joined
    assert (resolved.saves_B, resolved.nodes) == (2 * 4 * SIZE_B, (1, 2))
    assert "resolves them by a command" in resolved
    with dev.frame() as f:  # what comes between needs the first pass's store
        with dev.render_pass(color=[clear(out)], label="one") as rp:
            rp.draw(pipes["red"], count=3)
        copy = dev.image(SIZE, FORMAT)
        dev.copy(out, copy)
        with dev.render_pass(color=[out], label="two") as rp:
            rp.draw(pipes["sample"], count=3, bind={"source": (copy, dev.sampler())})
    assert f.lint() == []


def test_lint_of_clears(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    out = dev.image(SIZE, FORMAT, label="out")
    with dev.frame() as f:
        dev.clear(out, (1, 1, 1, 1))
        with dev.render_pass(color=[out], label="p") as rp:
            rp.draw(pipes["red"], count=3)
        with dev.render_pass(color=[out], label="q") as rp:
            rp.clear((0, 0, 0, 1))
            rp.draw(pipes["red"], count=3)
    texts = f.lint()
    assert any(
        "which clear 0 filled by a command: clear= of the attachment saves 8,192 B" in t and t.saves_B == 2 * SIZE_B
        for t in texts
    )
    assert any("is loaded and then cleared; load_op clear saves" in t for t in texts)


def test_undefined_reads_are_known_before_they_happen(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    out, never = dev.image(SIZE, FORMAT, label="out"), dev.image(SIZE, FORMAT, label="never")
    said = pytest.warns(tg.UndefinedContentsWarning, match="'source' .* may be read, but the contents of image 'never' are undefined")
    with said, dev.frame() as f, dev.render_pass(color=[clear(out)], label="p") as rp:
        rp.draw(pipes["sample"], count=3, bind={"source": (never, dev.sampler())})
    (line,) = f.lint()
    assert "may be read, but the contents of image 'never' are undefined" in line and line.nodes == (0,)
    picture = out.numpy()
    with (
        pytest.raises(tg.UndefinedContentsError, match=r"frame 'f', pass 'p': .*image 'never' are undefined"),
        dev.frame("f", strict=True) as f,
        dev.render_pass(color=[tg.Attachment(out, clear=(1, 1, 1, 1))], label="p") as rp,
    ):
        rp.draw(pipes["sample"], count=3, bind={"source": (never, dev.sampler())})
    assert np.array_equal(out.numpy(), picture), "nothing was executed"
    with pytest.raises(
        tg.ValidationError, match=r"frame 'f' is left by an exception: lint\(\) has an answer only after"
    ):
        f.lint()
    undefined = pytest.raises(tg.UndefinedContentsError, match="color0: load_op is load")
    with undefined, dev.frame(strict=True), dev.render_pass(color=[dev.image(SIZE, FORMAT)]):
        pass


def test_one_frame_at_a_time(dev: tg.Device) -> None:
    with dev.frame("a") as f:
        with pytest.raises(tg.ValidationError, match="frame 'b': frame 'a' is open on this device"), dev.frame("b"):
            pass
        assert dev.open_frame is f
        with pytest.raises(tg.ValidationError, match="is open: replay"):
            f.replay()
    assert dev.open_frame is None
    with pytest.raises(tg.ValidationError, match="was entered before"), f:
        pass
    with pytest.raises(tg.ValidationError, match="outputs has 'x'"):
        dev.frame(outputs=["x"])
    with pytest.raises(tg.ValidationError, match="nothing to capture"):
        f.capture("x")
    assert str(f).startswith("frame 'a', ended: nothing done")


def test_secondaries_sets_vertices_and_indirect_draws_are_uses(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    a, out = dev.image(SIZE, FORMAT, label="a"), dev.image(SIZE, FORMAT, label="out")
    words = dev.buffer(np.array([[3, 1, 0, 0]], np.uint32), label="words")
    dev.clear(a, (1, 1, 1, 1))
    held = dev.descriptor_set(pipes["sample"], 0, {"source": (a, dev.sampler())})
    with dev.secondary(color=[FORMAT]) as part:
        part.draw(pipes["sample"], count=3, sets={0: held})
    with dev.frame() as f:
        dev.clear(a, (0, 1, 0, 1))
        dev.copy(np.array([3, 1, 0, 0], np.uint32).tobytes(), words)
        with dev.render_pass(color=[clear(out)]) as rp:
            rp.execute_commands(part)
        with dev.render_pass(color=[clear(out)]) as rp:
            rp.draw_indirect(pipes["red"], words)
    assert [(e[0], e[1], e[2], e[4]) for e in edges(f) if e[0] >= 0] == [
        (0, 2, "a", "sampled"),
        (1, 3, "words", "indirect"),
    ]


def test_lint_of_a_g_buffer_that_leaves_the_tile(dev: tg.Device) -> None:
    fill = dev.pipeline(
        FULL,
        """#version 450
        layout(location = 0) out vec4 a;
        layout(location = 1) out vec4 b;
        void main() { a = vec4(0.5); b = vec4(0.25); }""",
        color=[FORMAT, FORMAT],
    )
    light = dev.pipeline(
        FULL,
        """#version 450
        layout(binding = 0) uniform sampler2D a;
        layout(binding = 1) uniform sampler2D b;
        layout(location = 0) out vec4 o;
        void main() { o = texelFetch(a, ivec2(gl_FragCoord.xy), 0) + texelFetch(b, ivec2(gl_FragCoord.xy), 0); }""",
        color=[FORMAT],
    )
    a, b, out, other = (dev.image(SIZE, FORMAT, label=n) for n in ("a", "b", "out", "other"))
    near = dev.sampler()

    def draw(read_again: bool) -> tg.Frame:
        with dev.frame(outputs=[out, other]) as f:
            with dev.render_pass(color=[clear(a), clear(b)], label="fill") as rp:
                rp.draw(fill, count=3)
            with dev.render_pass(color=[clear(out)], label="light") as rp:
                rp.draw(light, count=3, bind={"a": (a, near), "b": (b, near)})
            if read_again:
                dev.copy(a, other)
        return f

    (line,) = draw(False).lint()
    assert (line.saves_B, line.nodes) == (2 * SIZE_B, (0, 1)) and "stored at the same size ('a', 'b')" in line
    assert draw(True).lint() == []


def test_dispatches_are_asked_before_as_well(dev: tg.Device) -> None:
    read = dev.compute_pipeline("""#version 450
        layout(local_size_x = 1) in;
        layout(binding = 0) uniform sampler2D source;
        layout(binding = 1) buffer Data { float x[]; };
        void main() { x[0] = texelFetch(source, ivec2(0), 0).x + 7.0; }""")
    data, never = dev.buffer(np.zeros(4, np.float32), label="data"), dev.image(SIZE, FORMAT, label="never")
    bind = {"source": (never, dev.sampler()), "Data": data}
    with (
        pytest.raises(tg.UndefinedContentsError, match=r"dispatch, pipeline .*image 'never' are undefined"),
        dev.frame(strict=True),
    ):
        dev.dispatch(read, 1, bind=bind)
    assert data.numpy()[0] == 0
    with pytest.warns(tg.UndefinedContentsWarning, match="dispatch, .* 'never' are undefined"), dev.frame() as f:
        dev.dispatch(read, 1, bind=bind)
    assert data.numpy()[0] == 7 and len(f.lint()) == 1


def test_planes_are_images(dev: tg.Device) -> None:
    conversion = dev.sampler_ycbcr_conversion("g8_b8r8_2plane_420_unorm")
    sampler = dev.sampler(ycbcr=conversion, address="clamp_to_edge")
    image = dev.image((32, 32), "g8_b8r8_2plane_420_unorm", label="video")
    out = dev.image(SIZE, FORMAT, label="out")
    pipe = dev.pipeline(FULL, SAMPLE, color=[FORMAT])
    with dev.frame() as f:
        for plane in image.planes:
            dev.clear(plane, (0.5, 0.5, 0, 0))
        with dev.render_pass(color=[clear(out)]) as rp:
            rp.draw(pipe, count=3, bind={"source": (image, sampler)})
    assert [e[:5] for e in edges(f)] == [
        (0, 2, "video (plane 0)", "clear", "sampled"),
        (1, 2, "video (plane 1)", "clear", "sampled"),
    ]


def test_a_frame_that_watches_takes_inner_ones() -> None:
    """What an inner frame holds is the outer one's too; without being asked frames don't nest."""
    dev = tg.Device()
    out = dev.image((8, 8), "r8g8b8a8_unorm", label="out")

    def clear(label: str) -> None:
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))], label=label):
            pass

    outer = dev.frame("outer")
    outer.takes_inner = True
    with outer:
        clear("a")
        with dev.frame("inner") as inner:
            clear("b")
            clear("c")
        clear("d")
    assert [n.label for n in outer.nodes] == ["a", "b", "c", "d"] and [n.number for n in outer.nodes] == [0, 1, 2, 3]
    assert [n.label for n in inner.nodes] == ["b", "c"] and [n.number for n in inner.nodes] == [0, 1]
    assert outer.stats.bytes("store") == 2 * inner.stats.bytes("store")
    with dev.frame("alone"), pytest.raises(tg.ValidationError, match="frames don't nest"), dev.frame("second"):
        pass
    with dev.frame("again"):
        clear("e")


def test_a_frame_does_not_end_before_its_passes(dev: tg.Device) -> None:
    """Such a pass was no node of the frame, and nobody said so."""
    a = dev.image(SIZE, FORMAT, label="a")
    frame, render_pass = dev.frame("mine"), dev.render_pass(color=[clear(a)], label="late")
    message = r"frame 'mine' ends while pass 'late' is open: .* leave the pass first, its with block lies within the frame's"
    with pytest.raises(tg.ValidationError, match=message), frame:
        render_pass.__enter__()
    with pytest.raises(tg.ValidationError, match="only after its with block has ended without an exception"):
        frame.lint()
    render_pass.__exit__(None, None, None)  # it is a pass like any other
    assert render_pass.stats.bytes("store") == SIZE_B
    with pytest.raises(RuntimeError, match="of the user's"), dev.frame("other"):  # what ends it otherwise is what is said
        dev.render_pass(color=[clear(a)]).__enter__()
        raise RuntimeError("of the user's")
    message = "frame 'within a pass': pass 'early' is open"  # nothing of it would be in the frame
    with dev.render_pass(color=[clear(a)], label="early") as outside, pytest.raises(tg.ValidationError, match=message):
        dev.frame("within a pass").__enter__()
    assert outside.stats.bytes("store") == SIZE_B
    with dev.frame("whole") as whole:
        with dev.render_pass(color=[clear(a)]):
            pass
        with pytest.raises(RuntimeError), dev.render_pass(color=[clear(a)]):
            raise RuntimeError
    assert len(whole.nodes) == 1


def test_one_of_a_thing_is_said_in_the_singular(dev: tg.Device, pipes: dict[str, tg.Pipeline]) -> None:
    """And several are not."""
    a, buffer = dev.image(SIZE, FORMAT, label="a"), dev.buffer(np.zeros(64, np.float32))
    add = dev.compute_pipeline(ADD)
    words = {1: ("1 pass, 1 dispatch", "1 draw", "1 fragment"), 2: ("2 passes, 2 dispatches", "2 draws", "2 fragments")}
    for count, (passes, draws, fragments) in words.items():
        with dev.frame("all") as f:
            for _ in range(count):
                dev.dispatch(add, invocations=64, bind={"Data": buffer})
                with dev.render_pass(color=clear(a), trace="fragments") as rp:
                    for _ in range(count):
                        rp.draw(pipes["red"], count=3)
        assert str(f.stats).splitlines()[0] == f"frame 'all': {passes}" and f": {passes}<" in f.stats._repr_html_()
        assert str(rp.explain()).splitlines()[0] == f"pass 'pass': {draws}" and f": {draws}<" in rp.explain()._repr_html_()
        assert str(rp.why(3, 3)).splitlines()[0].endswith(f": {fragments}")
