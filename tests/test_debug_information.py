"""What a shader computes does not depend on lines, names, debug information, or the numbers of its ids.

Literals lie among the ids of an instruction (the number of a line, a storage class, a mask of image operands), and products wait for
their sum where no other instruction names them: a literal that looked like a product's id decided how the sum was rounded.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg

# Products with one use, several uses, uses in another block; variables, loops, extracts, a texture with an explicit level.
SHADER = """#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { vec4 given[]; };
layout(set = 0, binding = 1) buffer Out { vec4 found[]; };
layout(set = 0, binding = 2) uniform sampler2D image;
float bent(float x, float y) { return x * y + y; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec4 a = given[i];
  float x = a.x * a.y + a.z;
  float both = a.x * a.z;
  float y = both - a.w + both;
  vec4 t = textureLod(image, a.xy, 0.0) * a.w + a.zyxw;
  t += textureOffset(image, a.yx, ivec2(1, 0)) * x - y;
  float sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum = sum + t[k] * a[3 - k];
    if (sum > 1.0) sum -= x * 0.37;
  }
  switch (int(i) & 3) {
    case 0: sum = sum * y + x; break;
    case 2: sum = bent(sum, x); break;
    default: sum = bent(sum, y) + sum * 0.3; break;
  }
  found[i] = vec4(t.x * sum + x, t.y * x - y, sum, t.z + y * t.w);
}
"""
COUNT = 64


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off")


def run(dev: tg.Device, shader: Any) -> bytes:
    rng = np.random.default_rng(5)
    given, found = dev.buffer(rng.random((COUNT, 4), dtype=np.float32) * 3 - 1), dev.buffer(COUNT * 16)
    image = dev.texture(rng.integers(0, 255, (8, 8, 4), dtype=np.uint8))
    pipe = dev.compute_pipeline(shader)
    by_binding = {(0, 0): given, (0, 1): found, (0, 2): image}
    dev.dispatch(pipe, COUNT // 64, bind=by_binding)
    return found.numpy(np.float32).tobytes()


def with_lines(k: int) -> str:
    """The shader with ``k`` empty lines before its first function."""
    return SHADER.replace("float bent", "\n" * k + "float bent", 1)


def test_empty_lines_decide_nothing(dev: tg.Device) -> None:
    assert len({run(dev, with_lines(k)) for k in range(96)}) == 1


def compiled(tmp_path: Path, *options: str) -> bytes:
    (tmp_path / "s.comp").write_text(SHADER)
    command = ["glslangValidator", "-V", *options, "--target-env", "vulkan1.2", "-o", "s.spv", "s.comp"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    return (tmp_path / "s.spv").read_bytes()


def test_debug_information_decides_nothing(dev: tg.Device, tmp_path: Path) -> None:
    modules = [compiled(tmp_path, option) for option in ("-g0", "-g", "-gVS")]
    assert len(set(modules)) == 3
    assert len({run(dev, module) for module in modules}) == 1


def renumbered(text: str, seed: int) -> str:
    """Its ids changed about, small numbers among them, which literals have as well."""
    ids = sorted({int(number) for number in re.findall(r"%(\d+)", text)})
    others = random.Random(seed).sample(range(1, max(ids) + 1), len(ids))
    table = dict(zip(ids, others, strict=True))
    return re.sub(r"%(\d+)", lambda m: f"%{table[int(m[1])]}", text)


def test_numbers_of_ids_decide_nothing(dev: tg.Device, tmp_path: Path) -> None:
    module = compiled(tmp_path, "-g")
    text = subprocess.run(["spirv-dis", "--raw-id", "-"], input=module, check=True, capture_output=True).stdout.decode()
    found = {run(dev, module)}
    for seed in range(60):
        changed = subprocess.run(
            ["spirv-as", "--preserve-numeric-ids", "--target-env", "spv1.5", "-o", "-", "-"],
            input=renumbered(text, seed).encode(),
            check=True,
            capture_output=True,
        ).stdout
        found.add(run(dev, changed))
    assert len(found) == 1
