"""Bad shaders: every error of a compile with its place, SPIR-V that strangers wrote; never a crash."""

# ruff: noqa: E501, RUF043
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilegpu as tg
from tilegpu import shader

GOOD = "#version 450\nlayout(location = 0) in vec3 p;\nvoid main() { gl_Position = vec4(p, 1.0); }\n"
GOOD_FRAGMENT = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1); }"


def compile_errors(text: str, stage: str = "vertex", **options: object) -> tg.ShaderError:
    with pytest.raises(tg.ShaderError) as caught:
        tg.compile_glsl(text, stage, **options)
    return caught.value


def test_every_error_has_file_line_and_source_line() -> None:
    error = compile_errors(
        "#version 450\nvoid main() {\n  x = 1;\n  gl_Position = y;\n  int z = 1.5;\n}\n", file="a dir/odd:name.vert"
    )
    places = dict.fromkeys((m.file, m.line, m.source_line.strip()) for m in error.messages)
    assert list(places) == [
        ("a dir/odd:name.vert", 3, "x = 1;"),
        ("a dir/odd:name.vert", 4, "gl_Position = y;"),
        ("a dir/odd:name.vert", 5, "int z = 1.5;"),
    ]
    assert "'x' : undeclared identifier" in error.messages[0].text
    text = str(error)
    assert f"{len(error.messages)} errors" in text
    assert "a dir/odd:name.vert:4: 'y' : undeclared identifier" in text
    assert "| gl_Position = y;" in text
    assert error.code == "VK_ERROR_INVALID_SHADER_NV"


def test_syntax_error() -> None:
    error = compile_errors("#version 450\nvoid main() { gl_Position = vec4(1) }\n")
    assert error.messages[0].line == 2
    assert "syntax error" in error.messages[0].text


def test_missing_main() -> None:
    assert "Missing entry point" in str(compile_errors("#version 450\nint f() { return 1; }\n"))


def test_missing_location_is_named() -> None:
    assert "requires location" in str(
        compile_errors("#version 450\nin vec3 p;\nvoid main() { gl_Position = vec4(p, 1); }\n")
    )


def test_stage_is_checked() -> None:
    with pytest.raises(tg.ValidationError, match="stage is 'raygen', which is no shader_stage.*vertex, tessellation_control"):
        tg.compile_glsl(GOOD, "raygen")


def test_defines() -> None:
    text = "#version 450\nvoid main() { gl_Position = vec4(N) * VALUE; }\n"
    assert tg.compile_glsl(text, "vertex", defines={"N": 3, "VALUE": 0.5})
    assert "'N' : undeclared" in str(compile_errors(text, defines={"VALUE": 1}))
    assert "define '1x' is not a GLSL name" in str(compile_errors(text, defines={"1x": 1}))


def test_include_beside_the_file_and_from_directories(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "half.glsl").write_text("float half_() { return 0.5; }\n")
    (tmp_path / "local.glsl").write_text('#include "half.glsl"\nvec4 local() { return vec4(half_()); }\n')
    (tmp_path / "a.vert").write_text('#version 450\n#include "local.glsl"\nvoid main() { gl_Position = local(); }\n')
    path = str(tmp_path / "a.vert")
    searched = rf"it is in no folder that was searched \({tmp_path}, {tmp_path}/none\); name it among the include folders"
    with pytest.raises(tg.ShaderError, match=rf"local.glsl:1: '#include' : 'half.glsl': {searched}"):
        shader.load(path, "vertex", include=[tmp_path / "none"])
    assert shader.load(path, "vertex", include=[tmp_path / "lib"]).reflection.entry_point == "main"


def test_what_can_not_be_included_is_said(tmp_path: Path) -> None:
    """A pipe was waited for, a device read until memory ran out."""
    os.mkfifo(tmp_path / "pipe.glsl")
    (tmp_path / "folder.glsl").mkdir()
    with (tmp_path / "long.glsl").open("wb") as stream:
        stream.truncate(1 << 30)
    for line, said in (
        ('"pipe.glsl"', f"{tmp_path}/pipe.glsl is no regular file"), ('"folder.glsl"', "folder.glsl is no regular file"),
        ("</dev/zero>", "/dev/zero is no regular file"), ('"/dev/zero"', "/dev/zero is no regular file"), ("</none>", "there is no such file"),
        ('"long.glsl"', "long.glsl has 1073741824 bytes; at most 16777216 are read"),
        ('"none.glsl"', f"it is in no folder that was searched (the working directory, {tmp_path}); name it among the include folders"),
        ("<none.glsl>", f"it is in no folder that was searched ({tmp_path}); name it among the include folders"),
    ):  # fmt: skip
        error = compile_errors(f"#version 450\n#include {line}\nvoid main() {{}}\n", include=[tmp_path])
        assert any(said in message.text and message.line == 2 for message in error.messages), str(error)
    assert "no folder is searched for <...>" in str(compile_errors("#version 450\n#include <a.glsl>\nvoid main() {}\n"))
    (tmp_path / "a.glsl").write_text('#include "a.glsl"\n')
    assert "more than 64 deep" in str(compile_errors('#version 450\n#include "a.glsl"\nvoid main() {}\n', include=[tmp_path]))


def test_error_in_an_included_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "bad.glsl").write_text("int f() { return 1; }\nint g() { return oops; }\n")
    error = compile_errors('#version 450\n#include "bad.glsl"\nvoid main() { x; }\n', include=[tmp_path])
    assert error.messages[0].file.endswith("bad.glsl")
    assert error.messages[0].line == 2
    assert "oops" in error.messages[0].source_line
    assert error.messages[-1].line == 3


def test_include_that_includes_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "loop.glsl").write_text('#include "loop.glsl"\n')
    assert compile_errors('#version 450\n#include "loop.glsl"\nvoid main() {}\n', include=[tmp_path]).messages


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(tg.ValidationError, match=r"can't read vertex shader 'nowhere.vert': No such file"):
        shader.load("nowhere.vert", "vertex")
    (tmp_path / "binary.vert").write_bytes(b"\xff\xfe\x00\x80" * 9)
    with pytest.raises(tg.ValidationError, match="neither UTF-8 text nor SPIR-V"):
        shader.load(tmp_path / "binary.vert", "vertex")


# -- SPIR-V


def words() -> np.ndarray:
    return np.frombuffer(tg.compile_glsl(GOOD, "vertex"), np.uint32)


def module(data: bytes) -> object:
    return shader.load(data, "vertex")


def test_spirv_file_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.spv").write_bytes(words().tobytes())
    assert shader.load(tmp_path / "a.spv", "vertex").reflection.inputs[0].name == "p"
    assert shader.load(words().tobytes(), "vertex").reflection.inputs[0].name == "p"


def test_spirv_of_the_other_byte_order() -> None:
    assert shader.load(words().byteswap().tobytes(), "vertex").reflection.inputs[0].name == "p"


def test_stripped_module_has_no_names() -> None:
    stripped = strip(words())
    reflection = shader.load(stripped.tobytes(), "vertex").reflection
    assert [(v.name, v.location) for v in reflection.inputs] == [("", 0)]


def strip(code: np.ndarray) -> np.ndarray:
    """Without OpName, OpMemberName, OpLine, OpSource, OpString, OpModuleProcessed."""
    kept, at = [code[:5]], 5
    while at < len(code):
        count, op = int(code[at]) >> 16, int(code[at]) & 0xFFFF
        if op not in (3, 4, 5, 6, 7, 8, 317, 330):
            kept.append(code[at : at + count])
        at += count
    return np.concatenate(kept)


def test_empty() -> None:
    with pytest.raises(tg.ShaderError, match="has 0 words; a SPIR-V module has at least 5"):
        module(b"")


def test_bytes_that_are_no_words() -> None:
    with pytest.raises(tg.ShaderError, match="made of 4-byte words, but there are 41 bytes"):
        module(words().tobytes()[:41])


def test_wrong_magic() -> None:
    with pytest.raises(tg.ShaderError, match="first word is 0x00000000, the magic number is 0x07230203"):
        module(bytes(64))


def test_every_truncation_is_an_error() -> None:
    code = words()
    for count in range(len(code)):
        with pytest.raises(tg.Error):
            module(code[:count].tobytes())


def test_unsupported_capability_is_named() -> None:
    text = "#version 450\n#extension GL_ARB_shader_clock : enable\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(float(clock2x32ARB().x)); }\n"
    with pytest.raises(tg.Error, match="ShaderClock"):
        shader.load(text, "fragment")


def test_wrong_stage_is_said() -> None:
    device = tg.Device(cache_dir="off")
    with pytest.raises(tg.ValidationError, match="given as the fragment shader, but it is a vertex shader"):
        device.pipeline(GOOD, words().tobytes(), vertex=np.dtype([("p", "f4", 3)]), color=["r8g8b8a8_unorm"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 31)), min_size=1, max_size=4))
def test_flipped_bits_never_crash(flips: list[tuple[int, int]]) -> None:
    code = words().copy()
    for index, bit in flips:
        code[index % len(code)] ^= np.uint32(1 << bit)
    try:
        module(code.tobytes())
    except tg.Error as error:
        assert str(error)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_never_crash(data: bytes) -> None:
    with pytest.raises(tg.Error):
        module(b"\x03\x02\x23\x07" + data)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_random_text_never_crashes(text: str) -> None:
    try:
        tg.compile_glsl("#version 450\n" + text, "fragment")
    except tg.ShaderError as error:
        assert error.messages


MUTATED_VERTEX = """#version 450
layout(push_constant) uniform P { mat4 m; vec4 a[3]; int n; };
layout(location = 0) in vec3 p;
layout(location = 1) in uvec2 q;
layout(location = 0) out vec4 c;
layout(location = 1) flat out int k;
vec4 f(int i) { vec4 s = vec4(0); for (int j = 0; j < i; ++j) { if (j == 5) break; s += a[j % 3]; } return s; }
void main() { gl_Position = m * vec4(p, 1) + vec4(gl_InstanceIndex); c = f(int(q.x)) + vec4(gl_VertexIndex); k = int(q.y) + n; }"""
MUTATED_FRAGMENT = """#version 450
layout(set = 0, binding = 0) uniform U { vec4 t; mat3 m; float list[4]; } u;
layout(set = 0, binding = 1) uniform sampler2D s;
layout(set = 0, binding = 2) buffer B { uint x[]; } b;
layout(location = 0) in vec4 c;
layout(location = 1) flat in int k;
layout(location = 0) out vec4 o;
struct S { vec2 a; float b[3]; };
void main() {
  S z; z.a = c.xy; z.b[0] = c.z; z.b[1] = dFdx(c.x); z.b[2] = 1;
  float w = z.b[k % 3];
  switch (k) { case 0: w += 1; break; case 2: w *= 2; break; default: w -= 1; }
  while (w > 4.0) { w *= 0.5; if (w < 0.1) continue; }
  if (c.w < 0.0) discard;
  b.x[k] = uint(w);
  uint q = atomicAdd(b.x[1], 2u);
  o = texture(s, c.xy) * u.t + vec4(u.m * c.xyz, u.list[k & 3]) + vec4(w) + float(q);
}"""


def body(code: np.ndarray) -> int:
    """Index of the first OpFunction."""
    at = 5
    while int(code[at]) & 0xFFFF != 54:
        at += int(code[at]) >> 16
    return at


def test_mutated_functions_are_drawn_or_refused() -> None:
    """Operands of function bodies swapped at random: what still validates must run within bounds. `make fuzz` runs more."""
    rng = np.random.default_rng(int(os.environ.get("TILEGPU_FUZZ_SEED", "5")))
    device = tg.Device(cache_dir="off", threads=1)
    good = [
        np.frombuffer(tg.compile_glsl(text, stage), np.uint32)
        for text, stage in ((MUTATED_VERTEX, "vertex"), (MUTATED_FRAGMENT, "fragment"))
    ]
    dtype = np.dtype([("p", "f4", 3), ("q", "u4", 2)])
    vertices = np.zeros(6, dtype)
    vertices["p"], vertices["q"] = rng.random((6, 3)) * 4 - 2, rng.integers(0, 5, (6, 2))
    out = device.image((16, 16), "r8g8b8a8_unorm")
    texture = device.texture(rng.integers(0, 255, (4, 4, 4), dtype=np.uint8))
    drawn = 0
    for round_ in range(int(os.environ.get("TILEGPU_FUZZ_CASES", "250"))):
        codes = [code.copy() for code in good]
        code = codes[rng.integers(0, 2)]
        first = body(code)
        for _ in range(0 if round_ == 0 else int(rng.integers(1, 3))):
            code[rng.integers(first, len(code))] = code[rng.integers(first, len(code))]
        try:
            pipe = device.pipeline(codes[0].tobytes(), codes[1].tobytes(), vertex=dtype, color=[out])
            used = [(key, b) for key, b in pipe.interface.bindings.items() if b.used]
            bind = {key: texture if b.layout is None else device.buffer(max(64, b.layout.size_B)) for key, b in used}
            push = bytes(pipe.interface.push_layout.size_B) if pipe.interface.push_layout else None
            with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
                rp.draw(pipe, vertices, bind=bind, push=push)
            drawn += 1
        except tg.Error as error:
            assert str(error)
    assert drawn > 1


def test_the_bits_of_a_pointer_are_refused() -> None:
    """OpBitcast takes pointers by its grammar, and the validator lets them pass; without addresses they have no bits."""
    code = np.frombuffer(tg.compile_glsl(MUTATED_VERTEX, "vertex"), np.uint32).copy()
    access_chain, bitcast, pointer, at, changed = 65, 124, 0, body(code), 0
    while at < len(code):
        op = int(code[at]) & 0xFFFF
        if op == access_chain:
            pointer = code[at + 2]
        elif op == bitcast and pointer:
            code[at + 3] = pointer
            changed += 1
        at += int(code[at]) >> 16
    assert changed > 0
    with pytest.raises(tg.UnsupportedError, match=r"OpBitcast is not supported"):
        tg.Device(cache_dir="off").pipeline(
            code.tobytes(), MUTATED_FRAGMENT, vertex=np.dtype([("p", "f4", 3), ("q", "u4", 2)]), color=["r8g8b8a8_unorm"]
        )


def test_second_process_neither_compiles_nor_validates(tmp_path: Path) -> None:
    """What a device's disk cache knows: GLSL, validity, machine code. Shaders with #include are read again: files change."""
    vertex = "#version 450\nvoid main() { gl_Position = vec4(0.0); }"
    fragment = "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(GREY); }"

    def make(defines: dict[str, str], include: bool = False) -> dict[str, Any]:
        shader._cache.clear()  # as another process would start
        device = tg.Device(cache_dir=tmp_path / "cache", threads=1)
        text = fragment.replace("void", '#include "grey.glsl"\nvoid') if include else fragment
        device.pipeline(vertex, text, color=["r8g8b8a8_unorm"], defines=defines, include=[tmp_path])
        return device.compile_stats

    cold, warm, other = make({"GREY": "0.5"}), make({"GREY": "0.5"}), make({"GREY": "0.25"})
    assert (cold["glsl_compiled"], cold["glsl_from_disk"], cold["modules_validated"]) == (2, 0, 2)
    assert (warm["glsl_compiled"], warm["glsl_from_disk"], warm["modules_validated"]) == (0, 2, 0)
    assert (warm["functions_compiled"], warm["functions_from_disk"]) == (0, 4)  # vertex, fragment, epilogue, the last two as one
    assert (other["glsl_compiled"], other["glsl_from_disk"], other["modules_validated"]) == (2, 0, 1)
    for grey, compiled in (("0.5", 2), ("0.75", 1)):  # the vertex shader includes nothing
        (tmp_path / "grey.glsl").write_text(f"#define GREY {grey}\n")
        assert make({}, include=True)["glsl_compiled"] == compiled
    # What never was valid is never known to be.
    broken = words().copy()
    broken[-1] = 0
    for _ in range(2):
        device = tg.Device(cache_dir=tmp_path / "cache", threads=1)
        with pytest.raises(tg.ShaderError):
            shader.load(broken.tobytes(), "vertex", device=device.core)
        assert device.compile_stats["modules_validated"] == 1


def test_a_list_of_extensions_is_kept() -> None:
    """glslang writes what would help on lines of their own, without a prefix."""
    with pytest.raises(tg.ShaderError, match=r"Possible extensions include: GL_\w+, GL_\w+") as caught:
        shader.load("#version 450\nvoid main() { gl_Layer = 0; gl_Position = vec4(0); }", "vertex")
    assert len(caught.value.messages) == 1 and "GL_ARB_shader_viewport_layer_array" in caught.value.messages[0].text


def test_deep_expressions_end_no_process() -> None:
    """A sum of n terms is n deep for glslang, which calls itself for each; it crashed from some 10,000 on."""
    head = "#version 450\nlayout(location = 0) in vec4 p;\nvoid main() { float x = p.x; gl_Position = "
    words = tg.compile_glsl(f"{head}vec4({'+'.join(['x'] * 100_000)}); }}", "vertex")
    assert len(bytes(words)) > 100_000 * 16
    for deep in ("(" * 20_000 + "x" + ")" * 20_000, "- " * 20_000 + "x", "vec2(" * 20_000 + "x" + ").x" * 20_000):
        error = compile_errors(f"{head}vec4({deep}); }}")
        assert "nested too deep for glslang's parser" in str(error)


def test_calls_of_calls_are_told_from_recursion() -> None:
    chain = "".join(f"float f{k}(float x) {{ return f{k - 1}(x); }}\n" for k in range(1, 400))
    code = f"#version 450\nfloat f0(float x) {{ return x; }}\n{chain}void main() {{ gl_Position = vec4(f399(1.0)); }}\n"
    device = tg.Device(threads=1, cache_dir="off")
    with pytest.raises(tg.ShaderError, match="is called through more than 200 others, the limit"):
        device.pipeline(code, GOOD_FRAGMENT, color=["r8g8b8a8_unorm"])


def test_the_end_of_a_process_does_not_wait_for_optimised_code() -> None:
    """2,000 cases take LLVM half a minute on a busy machine; what nobody will call is left."""
    cases = "".join(f"case {k}: o = vec4({k}); break;\n" for k in range(3000))
    frag = f"#version 450\nlayout(location = 0) out vec4 o;\nvoid main() {{ o = vec4(0); switch (int(gl_FragCoord.x)) {{ {cases} }} }}\n"
    code = f"""
import sys, tilegpu as tg
device = tg.Device(threads=1, cache_dir="off")
pipe = device.pipeline({GOOD.replace("layout(location = 0) in vec3 p;", "const vec3 p = vec3(0);")!r}, {frag!r}, color=["r8g8b8a8_unorm"])
assert device.compile_stats["functions_waiting"]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
