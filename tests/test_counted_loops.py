"""Loops that count between constants, written out round after round: against Python, at 4, 8 and 16 lanes, in quick code (which keeps the
loops) and optimised code, as glslang writes them and through spirv-opt."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import spirv

import tilegpu as tg
from tilegpu.shader import compile_glsl

N = 32
MASK = 0xFFFFFFFF


class Program:
    """GLSL and the same in Python, of nested loops over a state of two words a lane; ``i0``, ``i1``, ... are the loops' variables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0
        self.glsl: list[str] = []
        self.python: list[str] = []
        self.statements(1, [], False)
        while not self.loops:
            self.statements(1, [], False)

    def line(self, depth: int, glsl: str, python: str) -> None:
        self.glsl.append("  " * depth + glsl)
        self.python.append("  " * depth + python)

    def statements(self, depth: int, counted: list[str], in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.5 and depth < 4:
                self.loop(depth, counted)
            elif kind < 0.65 and in_loop:
                condition = self.random.choice(
                    ["(a & 3u) == 1u", f"uint({counted[-1]}) == 2u", "((a ^ lane) & 7u) < 3u"]
                )
                which = self.random.choice(["continue", "continue", "continue", "break"])
                self.line(
                    depth,
                    f"if ({condition}) {which};",
                    f"if {re.sub('(?<=[0-9])u', '', condition).replace('uint', 'int')}: {which}",
                )
            else:
                self.arithmetic(depth, counted)

    def arithmetic(self, depth: int, counted: list[str]) -> None:
        term = f"uint({self.random.choice(counted)})" if counted and self.random.random() < 0.8 else "lane"
        other = term.replace("uint", "int")
        k = self.random.randrange(1, 1 << 16) | 1
        form = self.random.randrange(4)
        if form == 0:
            self.line(depth, f"a = a * {k}u + {term};", f"a = (a * {k} + {other}) & {MASK}")
        elif form == 1:
            self.line(depth, f"b ^= a + {term};", f"b ^= (a + {other}) & {MASK}")
        elif form == 2:
            self.line(depth, f"b += table[({term} + {k}u) & 7u];", f"b = (b + table[({other} + {k}) & 7]) & {MASK}")
        else:
            self.line(depth, f"a = (a << 1u) ^ (b >> 3u) ^ {term};", f"a = ((a << 1) & {MASK}) ^ (b >> 3) ^ {other}")

    def loop(self, depth: int, counted: list[str]) -> None:
        name = f"i{self.loops}"
        self.loops += 1
        kind = self.random.choice(["int", "uint", "float"])
        up = kind == "uint" or self.random.random() < 0.7
        step = self.random.choice([1, 1, 2, 3])
        rounds = self.random.choice([0, 1, 2, 3, 5, 9])
        first = self.random.randint(0, 5) if up else self.random.randint(0, 3) + rounds * step
        bound = first + rounds * step if up else first - rounds * step
        compare = self.random.choice(["<", "<=", "!="] if up else [">", ">=", "!="])
        suffix = {"int": "", "uint": "u", "float": ".0"}[kind]
        change = f"{name} {'+=' if up else '-='} {step}{suffix}"
        self.line(
            depth,
            f"for ({kind} {name} = {first}{suffix}; {name} {compare} {bound}{suffix}; {change}) {{",
            f"for {name} in values({first}, {bound}, {step if up else -step}, '{compare}'):",
        )
        inside = len(self.python)
        self.statements(depth + 1, [*counted, name], True)
        assert len(self.python) > inside
        self.glsl.append("  " * depth + "}")

    def shader(self) -> str:
        body = "\n".join(self.glsl)
        return f"""#version 450
layout(local_size_x = {N}) in;
layout(binding = 0) buffer Out {{ uvec2 result[]; }};
void main() {{
  const uint table[8] = uint[](3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u);
  uint lane = gl_LocalInvocationIndex, a = lane * 77u + 5u, b = 1u;
{body}
  result[lane] = uvec2(a, b);
}}"""

    def want(self) -> np.ndarray[Any, Any]:
        scope: dict[str, Any] = {"values": values, "table": [3, 1, 4, 1, 5, 9, 2, 6]}
        code = "def run(lane):\n  a, b = lane * 77 + 5, 1\n" + "\n".join(self.python) + "\n  return a, b"
        exec(compile(code, "program", "exec"), scope)
        return np.array([scope["run"](lane) for lane in range(N)], np.uint32)


def values(first: int, bound: int, step: int, compare: str) -> list[int]:
    holds = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "!=": int.__ne__}[compare]
    found = []
    while holds(first, bound):
        found.append(first)
        first += step
    return found


@pytest.fixture(scope="module", params=["quick", "optimised"])
def devices(request: pytest.FixtureRequest) -> list[tg.Device]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEGPU_CODE", request.param)
        return [tg.Device(threads=1, lanes=lanes, cache_dir="off") for lanes in (4, 8, 16)]


def run(dev: tg.Device, shader: Any) -> np.ndarray[Any, Any]:
    out = dev.buffer(np.zeros((N, 2), np.uint32))
    dev.dispatch(dev.compute_pipeline(shader), 1, bind={"Out": out})
    return out.numpy(np.uint32, (N, 2))


@pytest.mark.parametrize("seed", range(24))
def test_random_loops_count_as_in_python(devices: list[tg.Device], seed: int) -> None:
    program = Program(seed)
    want, text = program.want(), program.shader()
    module = compile_glsl(text, "compute")
    forms = [module, spirv.optimise(module, "-O")] if seed % 3 == 0 else [module]
    for dev in devices if seed % 2 else devices[:: 1 + seed % 3]:
        for form in forms:
            got = run(dev, form)
            assert np.array_equal(got, want), f"seed {seed}, {dev}\n{text}"


LOOPS = {
    "for (int i = 0; i < 6; ++i) s += texture(t, uv + float(i) * d) * w[i];": True,
    "for (float i = 6.0; i > 0.0; i -= 1.0) s += texture(t, uv + i * d);": True,
    "for (uint i = 1u; i != 9u; i += 2u) for (int k = -1; k <= 1; ++k) s += texture(t, uv + vec2(i, k) * d);": True,
    "for (int i = 0; i < n; ++i) s += texture(t, uv + float(i) * d);": False,  # not a constant
    "for (int i = 0; i < 6; ++i) { if (s.x > 3.0) break; s += textureLod(t, uv + float(i) * d, 0.0); }": False,  # another way out
    "for (int i = 0; i < 4000; ++i) s += s.yzwx * 0.5;": False,  # too many rounds
    "int i = 0; while (i < 6) { s += texture(t, uv); i += s.x > 2.0 ? 1 : 2; }": False,  # no constant step
}


@pytest.mark.parametrize("loop", LOOPS)
def test_which_loops_are_written_out(loop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the code: `round` ends one that is written out, `latch` one that is not. And the picture is that of quick code."""
    vert = """#version 450
layout(location = 0) out vec2 uv;
void main() { uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0; gl_Position = vec4(uv * 2.0 - 1.0, 0, 1); }"""
    frag = f"""#version 450
layout(location = 0) in vec2 uv; layout(location = 0) out vec4 o;
layout(binding = 0) uniform sampler2D t; layout(push_constant) uniform P {{ int n; }};
const float w[6] = float[](0.3, 0.2, 0.2, 0.1, 0.1, 0.1);
void main() {{ vec4 s = vec4(0.1); vec2 d = vec2(0.01, 0.02); {loop} o = s * 0.2; }}"""
    pictures = []
    for code in ("quick", "optimised"):
        monkeypatch.setenv("TILEGPU_CODE", code)
        monkeypatch.setenv("TILEGPU_DUMP", str(tmp_path / code))
        (tmp_path / code).mkdir()
        dev = tg.Device(threads=1, cache_dir="off")
        texels = np.random.default_rng(1).integers(0, 256, (16, 16, 4), np.uint8)
        image, picture = dev.texture(texels, "r8g8b8a8_unorm"), dev.image((32, 24), "r8g8b8a8_unorm")
        pipe = dev.pipeline(vert, frag, color=[picture.format])
        with dev.render_pass(tg.Attachment(picture, clear=(0, 0, 0, 1))) as rp:
            rp.draw(pipe, count=3, bind={"t": image} if "texture" in loop else {}, push={"n": 5})
        pictures.append(picture.numpy())
    assert np.array_equal(*pictures)
    made = "".join(path.read_text() for path in (tmp_path / "optimised").glob("fragment*.before.ll"))
    assert ("\nround" in made, "\nlatch" in made) == (LOOPS[loop], not LOOPS[loop])


def test_hostile_nests_are_counted_in_bounded_time() -> None:
    """Loops in loops and trees of calls, which a walk for each level would take 2^40 and 10^9 steps for: compiled, or refused by size."""
    dev = tg.Device(threads=1, cache_dir="off")
    nest = "".join(f"for (int i{k} = 0; i{k} < 2; ++i{k}) {{ a += uint(i{k}); " for k in range(40)) + "}" * 40
    head = f"#version 450\nlayout(local_size_x = {N}) in;\nlayout(binding = 0) buffer Out {{ uint a; }};\n"
    dev.compute_pipeline(f"{head}void main() {{ if (a > 0u) {{ {nest} }} }}")
    calls = "uint f0(uint x) { return x * 3u + 1u; }\n"
    for k in range(1, 9):
        calls += f"uint f{k}(uint x) {{ return {' + '.join([f'f{k - 1}(x)'] * 10)}; }}\n"
    with pytest.raises(tg.ShaderError, match="scalar instructions after inlining"):
        dev.compute_pipeline(f"{head}{calls}void main() {{ for (int i = 0; i < 3; ++i) a += f8(a); }}")
