"""Captures: a pass in a file is drawn in another process with the same bits; what is wrong with a file is an error."""

from __future__ import annotations

import json
import pickle
import random
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import _core
from tilegpu.cli import main

VERTEX = """#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 v_uv;
layout(set = 0, binding = 0) uniform Block { mat4 turn; };
void main() { gl_Position = turn * vec4(position, 1.0); v_uv = uv; }
"""
FRAGMENT = """#version 450
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o_color;
layout(set = 0, binding = 1) uniform sampler2D image;
layout(push_constant) uniform Push { vec4 tint; };
layout(constant_id = 3) const float GAIN = 1.0;
void main() { o_color = texture(image, v_uv) * tint * GAIN; }
"""
VERTICES = np.zeros(4, dtype=[("position", "f4", 3), ("uv", "f4", 2)])
VERTICES["position"] = [(-0.8, -0.7, 0.2), (0.9, -0.6, 0.4), (-0.7, 0.8, 0.6), (0.8, 0.9, 0.3)]
VERTICES["uv"] = [(0, 0), (2, 0), (0, 2), (2, 2)]
SIZE = (90, 70)


class Scene:
    """Textured triangles with depth and blending, over what the image held; a query; a scissor; draws from memory."""

    def __init__(self, samples: int = 1) -> None:
        self.device = tg.Device(cache_dir="off", threads=2)
        self.out = self.device.image(SIZE, "r8g8b8a8_unorm", label="out")
        self.depth = self.device.image(SIZE, "d32_sfloat", samples=samples, label="depth")
        self.color = self.out if samples == 1 else self.device.image(SIZE, "r8g8b8a8_unorm", samples=samples)
        pixels = np.random.default_rng(7).integers(0, 256, (16, 16, 4), dtype=np.uint8)
        self.texture = self.device.texture(pixels)
        self.pipeline = self.device.pipeline(
            VERTEX,
            FRAGMENT,
            vertex=VERTICES.dtype,
            color=["r8g8b8a8_unorm"],
            depth="d32_sfloat",
            blend="alpha",
            samples=samples,
            constants={"GAIN": 0.8},
        )
        self.samples = samples

    def draw(self, load: bool = False) -> tg.RenderPass:
        target = (
            tg.Attachment(self.out)
            if load
            else tg.Attachment(
                self.color, clear=(0.1, 0.2, 0.3, 1), resolve=None if self.samples == 1 else self.out
            )
        )
        indirect = np.array([[3, 1, 1, 0, 0]], dtype=np.uint32)
        with self.device.render_pass(color=[target], depth=tg.Attachment(self.depth, clear=1.0), label="main") as rp:
            for i in range(3):
                turn = np.eye(4, dtype=np.float32)
                turn[:2, :2] *= 1 - 0.2 * i
                arguments = {"indices": [0, 1, 2, 2, 1, 3], "bind": {"Block": {"turn": turn}, "image": self.texture}}
                push = {"tint": (1, 0.5 + 0.2 * i, 1, 0.6)}
                with rp.query() as query:
                    rp.draw(self.pipeline, VERTICES, push=push, scissor=(5 * i, 3, 60, 60), **arguments)
                rp.clear((0, 1, 0, 1), rect=(2 * i, 2, 2, 3))
            rp.draw_indirect(self.pipeline, indirect, VERTICES, push=push, **arguments)
        assert query.samples > 0
        return rp


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    scene = Scene()
    rp = scene.draw()
    path = tmp_path_factory.mktemp("capture") / "main.tgcap"
    rp.capture(path)
    return path, scene.out.numpy()


def replay_elsewhere(path: Path, picture: Path, *options: str) -> np.ndarray:
    done = subprocess.run(
        [sys.executable, "-m", "tilegpu", "replay", str(path), "-o", str(picture), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return np.load(picture)


def test_another_process_draws_the_same_bits(capture: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    path, right = capture
    assert len(np.unique(right.reshape(-1, 4), axis=0)) > 100
    for options in ((), ("--lanes", "4", "--threads", "1")):
        assert np.array_equal(replay_elsewhere(path, tmp_path / "picture.npy", *options), right)


def test_replay_tells_what_the_pass_cost(capture: tuple[Path, np.ndarray]) -> None:
    path, right = capture
    assert tg.capture_profile(path) == "host"
    replay = tg.Device(cache_dir="off").load_capture(path)
    with pytest.raises(tg.ValidationError, match="run"):
        _ = replay.pictures
    for _ in range(2):
        (stats,) = replay.run()
        assert stats.draws == 4
        assert np.array_equal(replay.pictures[0], right)


def test_a_picture_of_samples_that_are_resolved(tmp_path: Path) -> None:
    scene = Scene(samples=4)
    scene.draw().capture(tmp_path / "c")
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
    replay.run()
    assert np.array_equal(replay.pictures[0], scene.out.numpy())


def test_a_picture_in_blocks(tmp_path: Path) -> None:
    scene = Scene()
    scene.out = scene.color = scene.device.image(SIZE, "r8g8b8a8_unorm", tiling="block_compressed", label="out")
    scene.draw().capture(tmp_path / "c")
    right = scene.out.numpy()
    assert len(np.unique(right.reshape(-1, 4), axis=0)) > 100
    assert np.array_equal(replay_elsewhere(tmp_path / "c", tmp_path / "picture.npy"), right)


def test_the_next_pass_is_written_with_what_it_loads(tmp_path: Path) -> None:
    scene = Scene()
    scene.draw()
    scene.device.capture(tmp_path / "c")
    rp = scene.draw(load=True)
    after = scene.out.numpy()
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
    replay.run()
    assert np.array_equal(replay.pictures[0], after)
    rp.capture(tmp_path / "later")  # blends over what the pass has left
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "later")
    replay.run()
    assert not np.array_equal(replay.pictures[0], after)


def test_copies_are_written_too(tmp_path: Path) -> None:
    scene = Scene()
    rp = scene.draw()
    copy = scene.device.image(SIZE, "r8g8b8a8_unorm")
    copy_commands = _core.CommandBuffer(scene.device.core)
    copy_commands.begin()
    bit = _core.ENUMS["image_aspect"]["color"]
    part, origin = (bit, 0, 0, 1), (0, 0, 0)
    copy_commands.copy_image(scene.out.core, copy.core, [(part, origin, part, origin, (*SIZE, 1))])
    copy_commands.end()
    assert rp._recorded is not None
    _core.save_capture(scene.device.core, [copy_commands, rp._recorded], str(tmp_path / "c"))
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "c")
    (stats,) = replay.run()
    assert stats.draws == 4
    assert np.array_equal(replay.pictures[0], scene.out.numpy())


def test_regions_fills_and_updates_are_written_too(tmp_path: Path) -> None:
    """A volume that is filled by every kind of transfer, a pass that draws one slice of it into another; both levels are compared."""
    device = tg.Device(cache_dir="off", threads=2)
    rng = np.random.default_rng(11)
    levels = 2
    volume = device.image((12, 10, 6), "r8g8b8a8_unorm", mip_levels=levels, label="volume")
    flat = device.image((12, 10), "r8g8b8a8_unorm", layers=3)
    words, out = device.buffer(rng.integers(0, 256, 12 * 10 * 4 * 6, dtype=np.uint8)), device.buffer(12 * 10 * 4 * 6)
    color = _core.ENUMS["image_aspect"]["color"]
    layer, layers, origin = (color, 0, 0, 1), (color, 0, 0, 3), (0, 0, 0)
    commands = _core.CommandBuffer(device.core)
    commands.begin()
    grey = _core.ClearValue.color(volume.format_info.number, [0.5, 0.25, 0.0, 1.0])
    commands.clear_color_image(volume.core, grey, [(color, 0, 1, 0, 1), (color, 1, 1, 0, 1)])
    commands.fill_buffer(words.core, 400, 64, 0x01020304)
    commands.update_buffer(words.core, 800, bytes(range(200)))
    commands.copy_buffer(words.core, out.core, [(0, 4, 100), (400, 200, 900)])
    up = [(0, 0, 0, layer, (0, 0, 1), (12, 10, 2)), (80, 16, 12, layer, (1, 2, 4), (5, 6, 2))]
    commands.copy_buffer_to_image(words.core, volume.core, up)
    commands.copy_image(volume.core, flat.core, [(layer, (0, 0, 1), layers, origin, (12, 10, 3))])
    commands.copy_image(flat.core, volume.core, [(layers, (2, 2, 0), (color, 1, 0, 1), (1, 1, 0), (4, 3, 3))])
    corners = ((12, 0, 6), (0, 10, 2))
    commands.blit_image(volume.core, volume.core, [(layer, corners, (color, 1, 0, 1), ((0, 0, 0), (6, 5, 1)))], 1)
    commands.copy_image_to_buffer(volume.core, out.core, [(1200, 0, 0, layer, (0, 0, 2), (6, 7, 2))])
    commands.end()
    device.core.submit_and_wait([commands])
    frag = """#version 450
    layout(binding = 0) uniform sampler2DArray src; layout(location = 0) out vec4 o;
    void main() { o = texelFetch(src, ivec3(gl_FragCoord.xy, 1), 0).bgra; }"""
    full = "#version 450\nvoid main() { gl_Position = vec4((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex & 2) * 2 - 1, 0, 1); }"
    pipe = device.pipeline(full, frag, color=[volume.format])
    target = tg.Attachment(volume, "dont_care", level=1, layer=2)
    with device.render_pass(color=[target], label="slice") as rp:
        rp.draw(pipe, count=3, bind={"src": (flat, device.sampler(filter="nearest"))})
    want = volume.numpy(1, 2)
    assert rp._recorded is not None and len(np.unique(want.reshape(-1, 4), axis=0)) > 20
    _core.save_capture(device.core, [commands, rp._recorded], str(tmp_path / "c"))
    replay = tg.Device(cache_dir="off", lanes=4).load_capture(tmp_path / "c")
    (stats,) = replay.run()
    assert stats.draws == 1
    assert np.array_equal(replay.pictures[0], want)
    ((image, at_level, at_layer),) = replay._capture.pictures
    assert (at_level, at_layer) == (1, 2)
    for level in range(levels):
        for z in range(max(1, 6 >> level)):
            assert np.array_equal(image.read(color, level, z), volume.numpy(level, z)), (level, z)


def with_checksum(header: bytes, payload: bytes) -> bytes:
    total = 0xCBF29CE484222325
    padded = payload + bytes(-len(payload) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        total = ((total ^ word) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return header + struct.pack("<QQ", len(payload), total) + payload


HOSTILE = """
import sys, tilegpu as tg
device = tg.Device(cache_dir="off", threads=1)
refused = 0
for path in sys.argv[1:]:
    try:
        device.load_capture(path)
    except tg.Error as error:
        assert path in str(error), error
        refused += 1
print(refused)
"""


def test_what_is_wrong_with_a_file_is_an_error(
    capture: tuple[Path, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = capture[0].read_bytes()
    sizes = 24 + len(tg.__version__)  # behind: magic, format version, version, "host"
    header, payload = whole[:sizes], whole[sizes + 16 :]
    assert with_checksum(header, payload) == whole
    wrong = [b"", whole[:10], whole[:-1], whole + b"x", whole[:8] + b"\x63" + whole[9:]]
    wrong.append(whole[:400] + bytes([whole[400] ^ 1]) + whole[401:])  # only the checksum tells
    random.seed(3)
    objects = payload.index(b"out") - 400  # before it: contents of memory, in which every value is right
    for _ in range(150):
        words = bytearray(payload)
        for _ in range(random.choice((1, 1, 3))):
            at = random.randrange(objects, len(words) - 4)
            words[at : at + 4] = struct.pack("<I", random.choice((0, 1, 2, 0x7FFFFFFF, 0xFFFFFFFF, random.getrandbits(32))))
        wrong.append(with_checksum(header, bytes(words)))
    wrong += [with_checksum(header, payload[: len(payload) * i // 20]) for i in range(20)]
    paths = []
    for i, data in enumerate(wrong):
        paths.append(tmp_path / str(i))
        paths[-1].write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE, *map(str, paths)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40
    assert main(["replay", str(paths[2])]) == 1
    assert "bytes where it says" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "missing")]) == 2
    assert "missing' is not there" in capsys.readouterr().err


def test_a_small_file_may_not_stand_for_any_memory(tmp_path: Path) -> None:
    """Zeros are not in the file: memories of terabytes took a few words each, which the system gave until it had none."""
    dev = tg.Device(threads=1)
    image = dev.image((37, 41), "r8g8b8a8_unorm", label="out")
    with dev.render_pass(color=[tg.Attachment(image, clear=(1, 0, 0, 1))]) as rp:
        pass
    path = tmp_path / "a.tgcap"
    rp.capture(path)
    whole = path.read_bytes()
    sizes = 24 + len(tg.__version__)
    header, payload = whole[:sizes], whole[sizes + 16 :]
    memories, size_B = struct.unpack_from("<IQ", payload)
    assert memories == 1 and 37 * 41 * 4 <= size_B < 1 << 20
    for more in ((5 << 30,), (3 << 30, 3 << 30)):
        zeros = b"".join(struct.pack("<QQ", size, 0) for size in more)  # without any contents
        path.write_bytes(with_checksum(header, struct.pack("<I", 1 + len(more)) + zeros + payload[4:]))
        with pytest.raises(tg.ValidationError, match=r"a.tgcap': its memories have more than \d+ bytes, .*4 GiB and 1000 times"):
            dev.load_capture(path)


def test_a_device_is_no_capture() -> None:
    """It never ends; its first bytes tell."""
    with pytest.raises(tg.ValidationError, match="it is a device; only regular files are read"):
        tg.capture_profile("/dev/zero")


def test_a_capture_is_explained(capture: tuple[Path, np.ndarray], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, _ = capture
    device = tg.Device(cache_dir="off")
    replay = device.load_capture(path)
    with pytest.raises(tg.ValidationError, match="explanations are there only after run"):
        replay.explain()
    with pytest.raises(tg.ValidationError, match="run it outside of the frame"), device.frame("f"):
        replay.run()
    (stats,) = replay.run()
    (explanation,) = replay.explain()
    assert sum(row["draws"] for row in explanation.rows) == stats.draws == 4
    assert isinstance(replay.lint(), list)
    again = pickle.loads(pickle.dumps(stats))
    assert again.asdict() == stats.asdict() and str(again) == str(stats)

    assert main(["explain", str(path)]) == 0
    assert str(explanation) in capsys.readouterr().out
    assert main(["explain", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passes"][0]["stats"]["draws"] == 4
    for words in ([str(path), "--pixel", "1,1"], [str(path), "--size", "8x8"], [str(tmp_path / "none.tgcap")]):
        assert main(["explain", *words]) == 2
        said = capsys.readouterr().err
        assert "capture" in said
    for command in (["render", str(path), "-o", str(tmp_path / "x.png")], ["compare", str(path)]):
        assert main(command) == 2
        assert "is a capture: tilegpu replay draws it" in capsys.readouterr().err
