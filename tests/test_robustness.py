"""What strangers may give: out-of-range indices and buffers, positions that are no numbers, memory that runs out. A result or an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spirv
import tilegpu as tg

VERT = """#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 v_color;
void main() { gl_Position = position; v_color = color; }"""
FRAG = """#version 450
layout(location = 0) in vec4 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
DTYPE = np.dtype([("position", "f4", 4), ("color", "f4", 4)])
BLACK = (0, 0, 0, 0)


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


@pytest.fixture(scope="module")
def pipe(dev: tg.Device) -> tg.Pipeline:
    return dev.pipeline(VERT, FRAG, vertex=DTYPE, color=["r8g8b8a8_unorm"], label="plain")


def triangle() -> np.ndarray:
    """Covers everything, red."""
    vertices = np.zeros(3, DTYPE)
    vertices["position"] = [(-1, -1, 0, 1), (3, -1, 0, 1), (-1, 3, 0, 1)]
    vertices["color"] = (1, 0, 0, 1)
    return vertices


def drawn(dev: tg.Device, pipe: tg.Pipeline, vertices: Any, **arguments: Any) -> np.ndarray:
    out = dev.image((8, 8), "r8g8b8a8_unorm")
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))]) as rp:
        rp.draw(pipe, vertices, **arguments)
    return out.numpy()


# -- vertices and indices


SPECIAL = [np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e-45, 0.0]


@pytest.mark.parametrize("corner", [0, 1, 2])
@pytest.mark.parametrize("component", [0, 1, 2, 3])
def test_positions_that_are_no_numbers(dev: tg.Device, pipe: tg.Pipeline, corner: int, component: int) -> None:
    """A triangle with a NaN is not drawn; with any special value its neighbours of the same draw are."""
    for value in SPECIAL:
        vertices = np.concatenate([triangle(), triangle()])
        vertices["position"][corner, component] = value
        vertices["position"][3:, :2] *= 0.25  # the neighbour
        vertices["color"][3:] = (0, 1, 0, 1)
        image = drawn(dev, pipe, vertices)
        assert (image[4, 4] == [0, 255, 0, 255]).all(), value
        if np.isnan(value):
            assert (image[:2, :2] == [0, 0, 255, 255]).all(), value


def test_random_special_positions_are_one_result() -> None:
    """Any mixture of special values, on every number of lanes: the same bits."""
    rng = np.random.default_rng(3)
    vertices = np.zeros(3 * 400, DTYPE)
    vertices["position"] = rng.uniform(-2, 2, (len(vertices), 4))
    special = rng.random((len(vertices), 4)) < 0.15
    vertices["position"][special] = rng.choice(np.array(SPECIAL, np.float32), int(special.sum()))
    vertices["color"] = rng.random((len(vertices), 4))
    images = []
    for lanes, threads in ((4, 1), (8, 2), (16, 2)):
        device = tg.Device(cache_dir="off", lanes=lanes, threads=threads)
        pipeline = device.pipeline(
            VERT, FRAG, vertex=DTYPE, color=["r8g8b8a8_unorm"], depth="d32_sfloat", depth_compare="less"
        )
        out, depth = device.image((64, 64), "r8g8b8a8_unorm"), device.image((64, 64), "d32_sfloat")
        with device.render_pass(color=[tg.Attachment(out, clear=BLACK)], depth=tg.Attachment(depth, clear=1.0)) as rp:
            rp.draw(pipeline, vertices)
        images.append((out.numpy(), depth.numpy()))
    for color, depth_values in images[1:]:
        np.testing.assert_array_equal(color, images[0][0])
        np.testing.assert_array_equal(depth_values, images[0][1])


def no_red(image: np.ndarray) -> bool:
    """Zeros were read for a vertex, and with them its colour: what Vulkan leaves undefined of such a triangle is not red."""
    return not (image[..., 0] > 0).any()


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_indices_beyond_the_vertices_read_zero(dev: tg.Device, pipe: tg.Pipeline, dtype: Any) -> None:
    last = int(np.iinfo(dtype).max) - 1  # the largest restarts strips
    vertices = dev.buffer(triangle(), usage="vertex")
    beyond = dev.buffer(np.array([3, last - 5, last, last, last - 1, 7], dtype), usage="index")
    assert (drawn(dev, pipe, vertices, indices=beyond) == [0, 0, 255, 255]).all(), "three zeros are no triangle"
    mixed = dev.buffer(np.array([0, 3, 4, last, 1, last, 0, 1, 2], dtype), usage="index")
    assert (drawn(dev, pipe, vertices, indices=mixed) == [255, 0, 0, 255]).all(), "the last one is whole"


def test_vertex_offsets_that_wrap(dev: tg.Device, pipe: tg.Pipeline) -> None:
    vertices = dev.buffer(triangle(), usage="vertex")
    for offset in (-2, -3, 2, 2**31 - 1, -(2**31), 1000):
        indices = dev.buffer(np.arange(3, dtype=np.uint32))  # of an array it would be an error
        assert no_red(drawn(dev, pipe, vertices, indices=indices, vertex_offset=offset)), offset


def test_indirect_commands_of_any_bits(dev: tg.Device, pipe: tg.Pipeline) -> None:
    """Counts and firsts from a buffer are any 32 bits; nothing outside of the buffers is read, and work is bounded."""
    vertices, indices = dev.buffer(triangle(), usage="vertex"), dev.buffer(np.arange(3, dtype=np.uint32), usage="index")
    out = dev.image((8, 8), "r8g8b8a8_unorm")
    big = 2**32 - 1
    indexed: list[tuple[list[int], bool]] = [
        ([3, 1, 3, 1, 0], False), ([3, 1, 0, big - 5, 0], False), ([3, 1, big, big, big], False), ([6, 1, 0, 0, 0], True),
        ([5000, 1, 0, 0, 7], True), ([3, 0, 0, 0, 0], False),
    ]  # fmt: skip
    for command, whole in indexed:
        commands = dev.buffer(np.array([command], np.uint32), usage="indirect")
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))]) as rp:
            rp.draw_indirect(pipe, commands, vertices, indices=indices)
        red = out.numpy()[..., 0] > 0
        assert red.all() if whole else not red.any(), command
    for command in ([3, 1, 2, 0], [3, 1, big, 0], [3, 1, big - 1, big], [7, 1, 3, 0], [0, big, 0, 0]):
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))]) as rp:
            rp.draw_indirect(pipe, dev.buffer(np.array([command], np.uint32), usage="indirect"), vertices)
        assert no_red(out.numpy()), command


# -- buffers of shaders


def test_storage_beyond_its_end_reads_zero_and_keeps_what_is_beside(dev: tg.Device) -> None:
    frag = """#version 450
layout(set = 0, binding = 0) buffer B { uint x[]; } b;
layout(push_constant) uniform P { uint at; };
layout(location = 0) out vec4 o;
void main() { uint i = at + uint(gl_FragCoord.x); o = vec4(b.x[i] == 0u); b.x[i] = 7u; atomicAdd(b.x[i + 1u], 1u); }"""
    pipe = dev.pipeline(FULL, frag, color=["r8g8b8a8_unorm"])
    out = dev.image((8, 8), "r8g8b8a8_unorm")
    for at in (16, 1000, 2**30 - 1, 2**31 - 4, 2**32 - 9):
        whole = dev.buffer(np.full(64, 5, np.uint32), usage="storage")
        with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
            rp.draw(pipe, count=3, bind={"b": whole.slice(64, 64)}, push={"at": at})
        assert (whole.numpy() == 5).all(), at
        assert (out.numpy() == 255).all(), at


def test_uniform_array_beyond_its_end_reads_zero_or_what_is_there(dev: tg.Device) -> None:
    frag = """#version 450
layout(set = 0, binding = 0) uniform U { vec4 a[4]; } u;
layout(push_constant) uniform P { int at; };
layout(location = 0) out vec4 o;
void main() { o = u.a[at + int(gl_FragCoord.x)]; }"""
    pipe = dev.pipeline(FULL, frag, color=["r32g32b32a32_sfloat"])
    out = dev.image((8, 8), "r32g32b32a32_sfloat")
    values = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
    for at in (4, -8, 100, 2**27, 2**31 - 9, -(2**31)):
        with dev.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
            rp.draw(pipe, count=3, bind={"u": dev.buffer(values, usage="uniform")}, push={"at": at})
        rows = out.numpy().reshape(-1, 4)
        assert all((row == 0).all() or (values == row).all(axis=1).any() for row in rows), at


# -- NaN


def test_stored_nan_has_one_payload() -> None:
    """Whatever operation made it, a NaN in a buffer or an attachment has the same bits for every width and target."""
    frag = """#version 450
layout(set = 0, binding = 0) buffer B { float x[]; } b;
layout(location = 0) out vec4 o;
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy);
  float z = float(p.x - p.x), payload = uintBitsToFloat(0xffc12345u + uint(p.y));
  float n = 0.0;
  switch (p.x) {
    case 0: n = z / z; break;
    case 1: n = payload + float(p.y); break;
    case 2: n = float(p.y) + payload; break;
    case 3: n = sqrt(z - 1.0); break;
    case 4: n = (1.0 / z) - (1.0 / z); break;
    case 5: n = payload * (z / z); break;
    case 6: n = -(z / z); break;
    case 7: n = fma(payload, z / z, z); break;
  }
  b.x[p.y * 8 + p.x] = n;
  o = vec4(n, -n, abs(n), n * 2.0);
}"""
    results = []
    targets = ["", "baseline"]
    for lanes in (4, 8, 16):
        for target in targets:
            device = tg.Device(cache_dir="off", lanes=lanes, jit_target=target, threads=1)
            pipe = device.pipeline(FULL, frag, color=["r32g32b32a32_sfloat"])
            buffer = device.buffer(np.zeros(64, np.float32), usage="storage")
            out = device.image((8, 8), "r32g32b32a32_sfloat")
            with device.render_pass(color=[tg.Attachment(out, clear=BLACK)]) as rp:
                rp.draw(pipe, count=3, bind={"b": buffer})
            results.append((np.array(buffer.numpy()).view(np.uint32), out.numpy().view(np.uint32)))
    assert (results[0][0] == 0x7FC00000).all()
    for stored, color in results[1:]:
        np.testing.assert_array_equal(stored, results[0][0])
        np.testing.assert_array_equal(color, results[0][1])


# -- files that TILEGPU_DUMP writes


DUMP = """
import numpy as np, tilegpu as tg
dev = tg.Device()
vert = '#version 450\\nvoid main() { gl_Position = vec4(gl_VertexIndex); }'
frag = '#version 450\\nlayout(location = 0) out vec4 o;\\nvoid main() { o = vec4(gl_FragCoord.x * 0.125); }'
dev.pipeline(vert, frag, color=["r8g8b8a8_unorm"])
"""


def run(program: str, tmp_path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=dict(os.environ, **env),
        timeout=120,
        check=False,
    )


def test_dump_writes_ir_and_assembly(tmp_path: Path) -> None:
    done = run(DUMP, tmp_path, TILEGPU_DUMP=str(tmp_path / "dump"))
    assert done.returncode == 0, done.stderr
    names = sorted(p.name for p in (tmp_path / "dump").iterdir())
    for suffix in (".before.ll", ".after.ll", ".s"):
        for stage in ("vertex", "fragment"):
            assert any(n.startswith(stage) and n.endswith(suffix) for n in names), (stage, suffix, names)
    for path in (tmp_path / "dump").iterdir():
        text = path.read_text()
        assert ("define " in text) if path.suffix == ".ll" else (".text" in text and "ret" in text), path


# -- memory that runs out

SHORT_OF_MEMORY = """
import resource, sys
import numpy as np, tilegpu as tg
VERT = '''#version 450
layout(location = 0) out vec4 c;
void main() {
  float a = float(gl_VertexIndex / 3) * 2.3999632 + float(gl_InstanceIndex);
  int k = gl_VertexIndex % 3;
  gl_Position = vec4(fract(a) * 2.0 - 1.0 + float(k & 1) * 0.01, fract(a * 1.7) * 2.0 - 1.0 + float(k >> 1) * 0.01, 0.5, 1.0);
  c = vec4(1.0);
}'''
FRAG = '''#version 450
layout(location = 0) in vec4 c;
layout(location = 0) out vec4 o;
void main() { o = c; }'''
dev = tg.Device(cache_dir="off", threads=2)
out = dev.image((512, 512), "r8g8b8a8_unorm")
pipe = dev.pipeline(VERT, FRAG, color=[out])
with dev.render_pass(color=[tg.Attachment(out, clear=(0, 1, 0, 1))]) as rp:
    rp.draw(pipe, count=3)  # threads are there
with dev.render_pass(color=[tg.Attachment(out, clear=(1, 0, 0, 1))]):
    pass
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**20, resource.RLIM_INFINITY))
for attempt in range(2):
    try:
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))], label="mesh") as rp:
            rp.draw(pipe, count=3 * 4096, instances=300)
        print("drawn")
    except tg.OutOfMemoryError as error:
        print(error.code, error)
def image():
    dev.image((4096, 4096), "r8g8b8a8_unorm").clear((0, 0, 0, 0))
def pipeline():
    dev.pipeline(VERT + " ", FRAG + " ", color=[out])
for call in (image, pipeline):
    try:
        call()
        print("done")
    except tg.OutOfMemoryError as error:
        print(error.code, error)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
pixels = out.numpy()
print("kept", int((pixels == [255, 0, 0, 255]).all(axis=2).sum()), int((pixels == [255, 0, 0, 255]).all()))
with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))], label="mesh") as rp:
    rp.draw(pipe, count=3 * 4096, instances=2)
print("again", rp.stats.primitives_in)
"""


def test_running_out_of_memory_is_an_error(tmp_path: Path) -> None:
    if os.environ.get("TILEGPU_SANITIZED"):
        pytest.skip("AddressSanitizer reserves terabytes of address space")
    done = run(SHORT_OF_MEMORY, tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    lines = done.stdout.splitlines()
    assert all(
        line.startswith("VK_ERROR_OUT_OF_DEVICE_MEMORY pass 'mesh': the system refused") for line in lines[:2]
    ), lines
    assert all(line.startswith("VK_ERROR_OUT_OF") for line in lines[2:4]), lines
    assert lines[4].split()[2] == "1", "the image keeps what was stored"
    assert lines[5] == f"again {4096 * 2}"


@pytest.mark.parametrize("count, words", [(17, "a structure of 131072 members"), (48, "a structure of 131072 members"), (16, "")])
def test_structures_of_two_of_the_one_before_are_refused_before_validation(dev: tg.Device, count: int, words: str) -> None:
    """Each line of text doubles what a validator walks: 48 would be a day of it."""
    structs = ["%t0 = OpTypeInt 32 0", *(f"%t{i + 1} = OpTypeStruct %t{i} %t{i}" for i in range(count))]
    module = spirv.assemble(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"
        "%void = OpTypeVoid\n%function = OpTypeFunction %void\n" + "\n".join(structs) +
        "\n%main = OpFunction %void None %function\n%0 = OpLabel\nOpReturn\nOpFunctionEnd",
        validate=False,
    )  # fmt: skip
    if not words:
        dev.compute_pipeline(module)
        return
    with pytest.raises(tg.ShaderError, match=f"{words}.*at most 65536 are allowed"):
        dev.compute_pipeline(module)


def test_structures_are_bounded_together(dev: tg.Device) -> None:
    inner = "%t0 = OpTypeInt 32 0\n%t1 = OpTypeStruct " + "%t0 " * 32768
    structs = "\n".join(f"%t{i} = OpTypeStruct %t1 %t0" for i in range(2, 40))
    module = spirv.assemble(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"
        f"%void = OpTypeVoid\n%function = OpTypeFunction %void\n{inner}\n{structs}\n"
        "%main = OpFunction %void None %function\n%0 = OpLabel\nOpReturn\nOpFunctionEnd",
        validate=False,
    )  # fmt: skip
    with pytest.raises(tg.ShaderError, match="more than 1048576 members, those of structures within them counted again"):
        dev.compute_pipeline(module)
