"""What the disk cache keeps of shader modules: a pipeline whose shaders were seen by another process is the same pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import shader

VERT = """#version 450
layout(constant_id = 1) const float kSize = 1.0;
layout(set = 0, binding = 0) uniform Place { vec2 offset; } place;
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 tint;
layout(location = 0) out vec4 v_tint;
layout(location = 1) flat out uint v_number;
void main() {
  gl_Position = vec4(position * kSize + place.offset, 0.25, 1.0);
  v_tint = tint;
  v_number = uint(gl_VertexIndex);
}"""
FRAG = """#version 450
layout(constant_id = 2) const bool kHoles = false;
layout(push_constant) uniform Push { vec4 scale; } push;
layout(location = 0) in vec4 v_tint;
layout(location = 1) flat in uint v_number;
layout(location = 0) out vec4 o_color;
void main() {
  if (kHoles && (uint(gl_FragCoord.x) & 3u) == v_number % 3u) discard;
  o_color = v_tint * push.scale + fwidth(v_tint.x);
}"""
VERTICES = np.array(
    [((-0.9, -0.8), (1, 0, 0, 1)), ((0.8, -0.6), (0, 1, 0, 1)), ((0.1, 0.9), (0, 0, 1, 1))],
    dtype=[("position", "f4", 2), ("tint", "f4", 4)],
)


def picture(cache: str | Path, samples: int = 1, constants: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
    shader._cache.clear()  # as another process would start
    device = tg.Device(cache_dir=cache, threads=2)
    image = device.image((40, 24), "r8g8b8a8_unorm")
    color = device.image((40, 24), "r8g8b8a8_unorm", samples=samples) if samples > 1 else image
    pipe = device.pipeline(
        VERT, FRAG, vertex=VERTICES.dtype, color=[image.format], samples=samples, constants=constants
    )
    target = tg.Attachment(color, clear=(0.25, 0, 0.5, 1), resolve=image if samples > 1 else None)
    with device.render_pass(color=[target]) as rp:
        place = device.buffer(np.array([0.05, -0.1], "f4"))
        rp.draw(pipe, VERTICES, bind={"place": place}, push={"scale": (0.5, 1, 0.75, 1)})
    device.wait_compiles()
    return image.numpy(), device.compile_stats


def test_code_that_is_not_on_disk_is_made_from_a_record(tmp_path: Path) -> None:
    """One process leaves the shaders; in the next ones other states and constants want other code of them."""
    first, cold = picture(tmp_path)
    assert (cold["modules_validated"], cold["functions_from_disk"]) == (2, 0)
    again, warm = picture(tmp_path)
    assert (warm["modules_validated"], warm["functions_compiled"]) == (0, 0)
    assert np.array_equal(first, again) and len(np.unique(first.reshape(-1, 4), axis=0)) > 20
    for samples, constants in ((4, None), (1, {"kHoles": True}), (2, {"kHoles": True, "kSize": 0.5})):
        expected, _ = picture("off", samples, constants)
        made, stats = picture(tmp_path, samples, constants)
        assert stats["modules_validated"] == 0 and stats["functions_compiled"] > 0
        assert np.array_equal(made, expected) and not np.array_equal(made, first)
        kept, stats = picture(tmp_path, samples, constants)
        assert (stats["modules_validated"], stats["functions_compiled"]) == (0, 0)
        assert np.array_equal(kept, expected)


def test_broken_records_are_made_anew(tmp_path: Path) -> None:
    """Files that were cut or changed count as not there; nothing crashes and nothing changes."""
    expected, _ = picture(tmp_path)
    files = sorted((tmp_path / "objects").iterdir())
    random = np.random.default_rng(5)
    for turn in range(12):
        for file in files:
            data = bytearray(file.read_bytes())
            if turn % 2:
                data[random.integers(len(data))] ^= 1 << random.integers(8)
            else:
                del data[random.integers(len(data)) :]
            file.write_bytes(data)
        found, stats = picture(tmp_path)
        assert np.array_equal(found, expected)
        assert stats["functions_from_disk"] == 0 and stats["modules_validated"] == 2


def test_errors_between_stages_come_with_the_pipeline() -> None:
    """The table of names is made when somebody asks; what is wrong with it is said before."""
    device = tg.Device(cache_dir="off", threads=1)

    def create(vert: str, frag: str) -> tg.Pipeline:
        head = "#version 450\n"
        main = "\nvoid main() { %s; }"
        return device.pipeline(
            head + vert + main % "gl_Position = vec4(x)",
            head + "layout(location = 0) out vec4 o;\n" + frag + main % "o = vec4(y)",
            color=["r8g8b8a8_unorm"],
            label="p",
        )

    push = "layout(push_constant) uniform P { %s; };"
    with pytest.raises(
        tg.ValidationError,
        match=r"pipeline 'p': push constant 'x' is float at byte 0 in the vertex shader "
        "and int at byte 0 in the fragment shader; declare the same",
    ):
        create(push % "float x", push % "int x; float y")
    with pytest.raises(
        tg.Error,
        match=r"pipeline 'p': \(set 1, binding 2\) is uniform_buffer 'U' in the vertex shader "
        "and storage_buffer 'S' in the fragment shader; give them different",
    ):
        create(
            "layout(set = 1, binding = 2) uniform U { float x; };",
            "layout(set = 1, binding = 2) buffer S { float y; };",
        )
    same = create(push % "float x; float y", push % "float x; float y")
    assert [m.name for m in same.interface.push_constants] == ["x", "y"]
    assert [m.name for m in create(push % "float x", push % "float x; float y").interface.push_constants] == ["x", "y"]
