"""Descriptor sets that stay: the same bits as ``bind=``, in many draws and passes, updated in between; and attachment_locations."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

FULL = "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); }"
FMT = "r32g32b32a32_sfloat"
MATERIALS = """#version 450
layout(set = 0, binding = 0) uniform Place { float row; };
layout(set = 1, binding = 0) uniform sampler2D albedo;
layout(set = 1, binding = 2) uniform Material { vec4 tint; float rough; };
layout(set = 1, binding = 5) readonly buffer Extra { vec4 extra[]; };
layout(location = 0) out vec4 o;
void main() { o = texture(albedo, vec2(0.5)) * tint + extra[1] + vec4(0, 0, rough, row); }"""
ARRAY = """#version 450
#extension GL_EXT_nonuniform_qualifier : enable
layout(set = 1, binding = 0) uniform sampler2D albedo;
layout(set = 1, binding = 1) uniform sampler2D many[8];
layout(location = 0) out vec4 o;
void main() {
  int i = int(gl_FragCoord.x);
  o = vec4(texture(many[nonuniformEXT(i)], vec2(0.5)).x, textureSize(many[nonuniformEXT(i)], 0), texture(albedo, vec2(0.5)).x);
}"""


@pytest.fixture(scope="module", params=[4, 16])
def dev(request: pytest.FixtureRequest) -> tg.Device:
    return tg.Device(cache_dir="off", threads=2, lanes=request.param)


def texture(dev: tg.Device, value: float) -> tg.Texture:
    return dev.texture(np.full((2, 3, 4), value, np.float32))


def values(dev: tg.Device, seed: int) -> dict[str, Any]:
    return {
        "albedo": texture(dev, seed),
        "Material": {"tint": (1, seed, 3, 4), "rough": seed / 8},
        "Extra": dev.buffer(np.full((2, 4), 100 * seed, np.float32)),
    }


class Rows:
    """A pass whose draws are rows of one picture."""

    def __init__(self, dev: tg.Device, rows: int, width: int = 4) -> None:
        self.out = dev.image((width, rows), FMT)
        self.width = width
        self.rp = dev.render_pass(color=[tg.Attachment(self.out, clear=(9, 9, 9, 9))], label="p")

    def draw(self, row: int, pipe: tg.Pipeline, **arguments: Any) -> None:
        self.rp.draw(pipe, count=3, scissor=(0, row, self.width, 1), **arguments)


@pytest.fixture(scope="module")
def pipe(dev: tg.Device) -> tg.Pipeline:
    return dev.pipeline(FULL, MATERIALS, color=[FMT], label="m")


def test_the_same_as_bind(dev: tg.Device, pipe: tg.Pipeline) -> None:
    """Many draws and passes with two sets, mixed with bind=; another pipeline with the same variables takes them too."""
    again = dev.pipeline(FULL, MATERIALS.replace("* tint", "* tint * 2"), color=[FMT], label="again")
    all_values = [values(dev, seed) for seed in range(2)]
    sets = [dev.descriptor_set(pipe, 1, v) for v in all_values]
    pictures = []
    for _ in range(2):
        for long_lived in (False, True):
            rows = Rows(dev, 12)
            with rows.rp:
                for row in range(12):
                    place, which = {"Place": {"row": row}}, (row // 2) % 2
                    if long_lived and row % 4 != 3:
                        rows.draw(row, pipe if row < 8 else again, bind=place, sets={1: sets[which]})
                    else:
                        rows.draw(row, pipe if row < 8 else again, bind=place | all_values[which])
            pictures.append(rows.out.numpy())
    assert all(np.array_equal(pictures[0], p) for p in pictures[1:])
    assert len(np.unique(pictures[0][:, 0], axis=0)) == 12


def test_an_update_is_for_later_draws(dev: tg.Device, pipe: tg.Pipeline) -> None:
    """A draw, a pass that is replayed, a secondary: all see what the set held when they were recorded; contents are copied."""
    tint = np.array([1, 2, 3, 4], np.float32)
    materials = dev.descriptor_set(pipe, 1, values(dev, 1), label="materials")
    materials.update({"Material": {"tint": tint, "rough": 0}, "Extra": None})
    tint[:] = 99
    rows = Rows(dev, 3)
    with dev.secondary(FMT) as part:
        part.draw(pipe, count=3, scissor=(0, 2, 4, 1), bind={"Place": {"row": 2}}, sets={1: materials})
    with rows.rp:
        rows.draw(0, pipe, bind={"Place": {"row": 0}}, sets={1: materials})
        materials.update({"albedo": texture(dev, 2), 2: np.array([5, 6, 7, 8, 0.5, 0, 0, 0], np.float32).tobytes()})
        rows.draw(1, pipe, bind={"Place": {"row": 1}}, sets={1: materials})
        rows.rp.execute_commands(part)
    want = [[1, 2, 3, 4], [10, 12, 14.5, 17], [1, 2, 3, 6]]
    assert np.array_equal(rows.out.numpy()[:, 0], want)
    materials.update({"albedo": texture(dev, 50)})
    rows.rp.replay()
    assert np.array_equal(rows.out.numpy()[:, 0], want)


def test_update_after_bind(dev: tg.Device) -> None:
    """Executions see what the set holds when they begin; two pipelines that use parts of it share it; arrays are written in parts."""
    layout = dev.descriptor_set_layout(
        {0: "combined_image_sampler", 1: ("combined_image_sampler", 8), 7: "storage_buffer"},
        update_after_bind=True,
        partially_bound=True,
        label="bindless",
    )
    assert layout.bindings[1] == ("combined_image_sampler", 8)
    many = dev.pipeline(FULL, ARRAY, color=[FMT], set_layouts={1: layout}, label="many")
    one = dev.pipeline(
        FULL,
        """#version 450
layout(set = 0, binding = 3) uniform Place { float row; };
layout(set = 1, binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o; void main() { o = texture(t, vec2(0.5)) + row; }""",
        color=[FMT],
        set_layouts={1: layout},
        label="one",
    )
    shared = dev.descriptor_set(layout, bind={0: texture(dev, 1), 1: {3: texture(dev, 30), 5: texture(dev, 50)}})
    rows = Rows(dev, 2, width=8)
    with rows.rp:
        rows.draw(0, many, sets={1: shared})
        rows.draw(1, one, bind={"Place": {"row": 0.5}}, sets={1: shared})
        shared.update({0: texture(dev, 2)})
    picture = rows.out.numpy()
    assert np.array_equal(picture[0, :, 0], [0, 0, 0, 30, 0, 50, 0, 0])
    assert np.array_equal(picture[0, :, 3], np.full(8, 2))
    assert (picture[1] == 2.5).all()
    named = dev.descriptor_set(many, 1, {"many": [None, *[texture(dev, k) for k in range(1, 8)]], "albedo": texture(dev, 4)})
    shared.update({1: {0: texture(dev, 10), 3: None}})
    rows.rp.replay()
    assert np.array_equal(rows.out.numpy()[0, :, 0], [10, 0, 0, 0, 0, 50, 0, 0])
    with dev.render_pass(color=[rows.out]) as rp:
        rp.draw(many, count=3, sets={1: named}, scissor=(0, 0, 8, 1))
    assert np.array_equal(rows.out.numpy()[0, :, 0], np.arange(8))


def test_written_by_one_thread_read_by_others(dev: tg.Device, pipe: tg.Pipeline) -> None:
    """Whatever a pass finds is one of the states that the set had."""
    sets = dev.descriptor_set(pipe, 1, values(dev, 0))
    materials = [{"Material": {"tint": (0, 0, 0, 0), "rough": k}} for k in range(3)]
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for material in materials:
                sets.update(material)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            rows = Rows(dev, 1)
            with rows.rp:
                rows.draw(0, pipe, bind={"Place": {"row": 0}}, sets={1: sets})
            assert rows.out.numpy()[0, 0, 2] in (0, 1, 2)
    finally:
        stop.set()
        thread.join()


def test_lint_sees_their_images(dev: tg.Device, pipe: tg.Pipeline) -> None:
    unwritten = (dev.image((4, 4), "r8g8b8a8_unorm", label="empty"), dev.sampler())
    materials = dev.descriptor_set(pipe, 1, values(dev, 1) | {"albedo": unwritten}, label="materials")
    rows = Rows(dev, 2)
    with pytest.warns(tg.UndefinedContentsWarning, match="'albedo' .* image 'empty' are undefined"), rows.rp:
        for row in range(2):
            rows.draw(row, pipe, bind={"Place": {"row": 0}}, sets={1: materials})
    (line,) = [line for line in rows.rp.lint() if "empty" in line]
    assert "descriptor set 'materials': 'albedo' (set 1, binding 0) may be read" in line


    materials.update({"albedo": None})
    with dev.render_pass(color=[rows.out]) as rp:
        rp.draw(pipe, count=3, bind={"Place": {"row": 0}}, sets={1: materials})
    assert not [line for line in rp.lint() if "empty" in line], "it is bound no more"
    with pytest.warns(tg.ShortBufferWarning, match=r"'Material' \(set 1, binding 2\) has 20 bytes, buffer of 16 bytes is bound"):
        materials.update({"Material": dev.buffer(16)})


def wrong_draws(dev: tg.Device, pipe: tg.Pipeline) -> dict[str, dict[str, Any]]:
    good = dev.descriptor_set(pipe, 1, values(dev, 1))
    place = {"Place": {"row": 0}}
    layout = dev.descriptor_set_layout({0: "combined_image_sampler"})
    return {
        r"bind= lacks 'Place' \(set 0, binding 0\), a uniform_buffer$": {"sets": {1: good}},
        r"bind= lacks 'albedo' \(set 1, binding 0\)": {"bind": place},
        r"bind has 'albedo' \(set 1, binding 0\), and sets has set 1; give one or the other": {
            "bind": place | {"albedo": texture(dev, 1)},
            "sets": {1: good},
        },
        r"sets is \[.*; it must be a mapping from a set's number to a set \(dev.descriptor_set\)": {"bind": place, "sets": [good]},
        r"sets has 1: None; it must be a set's number: a set": {"bind": place, "sets": {1: None}},
        r"'m': descriptor set 1 was made with another layout than the pipeline's: bindings, types, counts": {
            "bind": place,
            "sets": {1: dev.descriptor_set(layout, bind={0: texture(dev, 1)})},
        },
        r"'Material' \(set 1, binding 2\) is used by the shader, but nothing is bound there": {
            "bind": place,
            "sets": {1: dev.descriptor_set(pipe, 1, {"albedo": texture(dev, 1)})},
        },
    }


def test_wrong_draws(dev: tg.Device, pipe: tg.Pipeline) -> None:
    for message, arguments in wrong_draws(dev, pipe).items():
        rows = Rows(dev, 1)
        with rows.rp, pytest.raises(tg.ValidationError, match=message):
            rows.draw(0, pipe, **arguments)
    rows = Rows(dev, 1)
    good = dev.descriptor_set(pipe, 1, values(dev, 1))
    with rows.rp, pytest.warns(tg.UnusedNameWarning, match="the shaders do not use set 3"):
        rows.draw(0, pipe, bind={"Place": {"row": 0}}, sets={1: good, 3: good})


ADD = """#version 450
layout(local_size_x = 1) in; layout(set = 0, binding = 0) buffer Sum { uint sum; };
void main() { sum += 1u; }"""


def test_wrong_sets(dev: tg.Device, pipe: tg.Pipeline) -> None:
    layout = dev.descriptor_set_layout({0: ("sampler", 2), 1: "uniform_buffer", 4: "combined_image_sampler"}, label="l")
    of_layout = dev.descriptor_set(layout, label="s")
    of_pipe = dev.descriptor_set(pipe, 1, label="s")
    makes: dict[str, Any] = {
        r"set 's': set is None; it must be a set's number; there are 0, 1": lambda: dev.descriptor_set(pipe, label="s"),
        r"set 's': set is 2, which pipeline 'm' has not; there are 0, 1": lambda: dev.descriptor_set(pipe, 2, label="s"),
        r"set 's': layout is 5; it must be a pipeline, or a layout": lambda: dev.descriptor_set(5, label="s"),
        r"set 's': set is 1; it is for a pipeline's sets": lambda: dev.descriptor_set(layout, 1, label="s"),
        r"set 's': bind is 3; it must be a mapping by name or binding": lambda: of_pipe.update(3),
        r"set 's' has no binding 'albedos'; did you mean 'albedo'\?": lambda: of_pipe.update({"albedos": None}),
        r"set 's' has no binding 'Place'; there are: albedo, Material, Extra": lambda: of_pipe.update({"Place": None}),
        r"set 's' has no binding 1;": lambda: of_pipe.update({1: None}),
        r"set 's' has no binding 'albedo'; there are: 0, 1, 4": lambda: of_layout.update({"albedo": None}),
        r"'albedo' \(set 1, binding 0\) is a combined_image_sampler; given is 1.0": lambda: of_pipe.update({"albedo": 1.0}),
        r"binding 0 is an array of 2 descriptors; given is 1 values": lambda: of_layout.update({0: [dev.sampler()]}),
        r"binding 0: an element's number is 2; it must not be above 1": lambda: of_layout.update({0: {2: dev.sampler()}}),
        r"binding 1 is a uniform_buffer; given is \{'x': 1\}, it must be a tilegpu.Buffer or": lambda: of_layout.update({1: {"x": 1}}),
        r"layout 'l': binding 0 is 'texture', which is no descriptor_type": lambda: dev.descriptor_set_layout({0: "texture"}, label="l"),
        r"layout 'l': bindings is \[\]; it must be a mapping": lambda: dev.descriptor_set_layout([], label="l"),
        r"layout 'l': binding 0: count is -1": lambda: dev.descriptor_set_layout({0: ("sampler", -1)}, label="l"),
        r"binding 0 \(input_attachment\) can't be updated after bind": lambda: dev.descriptor_set_layout(
            {0: "input_attachment"}, update_after_bind=True
        ),
        r"'m': the shader uses 'albedo' \(set 1, binding 0\), which the pipeline layout does not have": lambda: dev.pipeline(
            FULL, MATERIALS, color=[FMT], label="m", set_layouts={1: dev.descriptor_set_layout({})}
        ),
        r"'m': set_layouts\[1\] is 0; it must be a layout": lambda: dev.pipeline(FULL, MATERIALS, label="m", set_layouts={1: 0}),
        r"'k': set_layouts\[0\] is 'u'; it must be a layout": lambda: dev.compute_pipeline(ADD, label="k", set_layouts={0: "u"}),
        r"'k': the shader uses 'Sum' \(set 0, binding 0\), which the pipeline layout does not have": lambda: dev.compute_pipeline(
            ADD, label="k", set_layouts={0: dev.descriptor_set_layout({})}
        ),
        r"'m': set_layouts: a set's number is 8": lambda: dev.pipeline(FULL, MATERIALS, label="m", set_layouts={8: layout}),
    }
    for message, make in makes.items():
        with pytest.raises(tg.ValidationError, match=message):
            make()
    other = tg.Device(cache_dir="off", threads=1)
    rows = Rows(other, 1)
    with rows.rp, pytest.raises(tg.ValidationError, match="is of another device"):
        rows.draw(
            0,
            other.pipeline(FULL, MATERIALS, color=[FMT]),
            bind={"Place": {"row": 0}},
            sets={1: dev.descriptor_set(pipe, 1, values(dev, 1))},
        )


def test_attachment_locations(dev: tg.Device) -> None:
    frag = """#version 450
layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; layout(location = 2) out vec4 c;
void main() { a = vec4(1); b = vec4(2); c = vec4(3); }"""
    for locations, want in ((None, (1, 2, 3)), ((2, 0, 1), (3, 1, 2)), ((None, 1, 0), (9, 2, 1))):
        images = [dev.image((4, 4), FMT) for _ in range(3)]
        pipe = dev.pipeline(FULL, frag, color=images, attachment_locations=locations)
        with dev.render_pass(color=[tg.Attachment(image, clear=(9, 9, 9, 9)) for image in images]) as rp:
            rp.draw(pipe, count=3)
        assert tuple(image.numpy()[1, 1, 0] for image in images) == want
    for locations, message in (
        ([0, 0, 1], "attachment_locations of color.1. is 0"),
        ([0, 1], "attachment_locations has 2 entries; it must be a location or None for each of the 3 colour attachments"),
        ([0, 1, 9], r"attachment_locations\[2\] is 9; it must not be above 7"),
        ("012", "attachment_locations is '012'"),
    ):
        with pytest.raises(tg.ValidationError, match=message):
            dev.pipeline(FULL, frag, color=[FMT] * 3, attachment_locations=locations)  # type: ignore[arg-type]


def test_what_does_not_fit_is_not_bound() -> None:
    """A set that was written for no pipeline: it is looked at before anything is bound, by the size of the slice."""
    dev = tg.Device(threads=1)
    layout = dev.descriptor_set_layout({0: "storage_buffer", 1: "storage_buffer"})
    kernel = dev.compute_pipeline("""#version 450
        layout(std430, set = 0, binding = 0) readonly buffer A { vec3 v[]; }; layout(std430, set = 0, binding = 1) buffer B { vec4 o; };
        void main() { o = vec4(v[0], 1); }""", set_layouts={0: layout})
    three, out = dev.buffer(np.arange(1, 10, dtype="f4").reshape(3, 3), label="three"), dev.buffer(np.zeros(4, "f4"))
    with pytest.warns(tg.ExtensionWarning, match="the slice begins at byte 12 of buffer 'three', no multiple of 16"):
        one = dev.descriptor_set(layout, bind={0: three.slice(12, 12), 1: out}, label="one")  # a row alone is no array
    dev.dispatch(kernel, 1, sets={0: one})
    assert out.numpy().tolist() == [4, 5, 6, 1]
    for what in ("whole", "again"):
        whole = dev.descriptor_set(layout, bind={0: three, 1: out}, label=what)
        with pytest.raises(tg.ValidationError, match=f"set 0, '{what}': .*buffer 'three' was made from float32, .*in rows of 3"):
            dev.dispatch(kernel, 1, sets={0: whole})
    pipe = dev.pipeline(FULL, """#version 450
        layout(std430, set = 0, binding = 0) readonly buffer A { vec3 v[]; }; layout(location = 0) out vec4 o;
        void main() { o = vec4(v[0], 1); }""", color=[FMT], set_layouts={0: layout})
    image = dev.image((4, 4), FMT)
    with dev.render_pass(color=[tg.Attachment(image, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, sets={0: one})
        for _ in range(2):  # a second draw with it is refused as well, and leaves what is bound alone
            with pytest.raises(tg.ValidationError, match="in rows of 3"):
                rp.draw(pipe, count=3, sets={0: whole})
        rp.draw(pipe, count=3, sets={0: one})
    assert image.numpy()[0, 0].tolist() == [4, 5, 6, 1]
