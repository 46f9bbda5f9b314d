"""Operations of shaders, counted in SPIR-V; and bench hsr's columns of them."""

from __future__ import annotations

import pytest

import tilegpu as tg
from tilegpu.bench import hsr
from tilegpu.bench.operations import Operations, count
from tilegpu.cli.common import load_scene

HEAD = """#version 450
layout(location = 0) in vec4 a; layout(location = 1) flat in int n; layout(location = 0) out vec4 o;
layout(set = 0, binding = 0) uniform sampler2D t; layout(push_constant) uniform P { mat3 m; mat4 w; };
layout(constant_id = 3) const int TURNS = 2;
vec3 twice(vec3 v) { return v + v; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("o = vec4(0);", Operations()),
        ("o = a;", Operations()),
        ("o = a * a + a;", Operations(8)),
        ("o = vec4(dot(a, a));", Operations(7)),
        ("o.xyz = m * a.xyz;", Operations(15)),
        ("o = a * w;", Operations(28)),
        ("o.xyz = (m * m)[1];", Operations(45)),
        ("o.xyz = a.xyz * 2.0;", Operations(3)),
        ("o = sqrt(a);", Operations(4)),
        ("o.x = dFdx(a.x) + float(n);", Operations(3)),
        ("o = texture(t, a.xy) + texelFetch(t, ivec2(1), 0);", Operations(4, 2)),
        ("o.xyz = twice(a.xyz) + twice(a.yzw);", Operations(9)),
        # a turn: compare, step, and the body
        ("for (int i = 0; i < 5; i++) o += a;", Operations(5 * 6)),
        ("for (int i = 1; i <= 7; i += 3) o += a;", Operations(3 * 6)),
        ("for (int i = -1; i <= 1; i++) o += texture(t, a.xy);", Operations(3 * 6, 3)),
        ("for (uint i = 0u; i < 3u; i++) o += a;", Operations(3 * 6)),
        ("for (int i = 0; i < TURNS; i++) o += a;", Operations(4 * 6)),
        ("for (int i = 0; i < 5; i++) for (int k = 0; k < 3; k++) o += a;", Operations(5 * (2 + 3 * 6))),
        ("for (int i = 0; i < 5; i++) if (a.x > 0.0) o += a;", Operations(5 * 7, exact=False)),
        ("for (int i = 0; i < n; i++) o += a;", Operations(6, exact=False)),
        ("if (n > 0) o = a + a; else o = a * a * a;", Operations(1 + 4 + 8, exact=False)),
        ("o = n > 0 ? a : -a;", None),
    ],
)
def test_counts(body: str, expected: Operations | None) -> None:
    found = count(tg.compile_glsl(HEAD + "void main() { " + body + " }", "fragment"), {3: 4})
    if expected is None:  # a selection or a branch, as the compiler likes
        assert found.arithmetic >= 5
    else:
        assert found == expected


def test_no_spirv() -> None:
    with pytest.raises(ValueError, match="no SPIR-V"):
        count(b"\0" * 32)


def test_bench_hsr_has_the_columns() -> None:
    scene = load_scene("heavy_overdraw_512")
    rows = hsr.measure(scene, (64, 64), ["given"], ["off", "default"], 1)
    off, default = rows
    assert off["operations_exact"]
    assert off["texture_operations"] % off["fragments_shaded"] == 0
    assert off["arithmetic_operations"] * default["fragments_shaded"] == default["arithmetic_operations"] * off["fragments_shaded"]
    assert default["arithmetic_operations"] > 0
    assert off["bytes"] == default["bytes"] > 0


def test_slices_are_in_the_columns() -> None:
    """What decides coverage runs apart where it is asked for before shading: its operations count, and no more."""
    from types import SimpleNamespace

    text = """#version 450
    layout(location = 0) in vec4 a; layout(location = 0) out vec4 o;
    void main() { if (a.x < 0.5) discard; o = a * a; }"""
    program = SimpleNamespace(fragment=text, fragment_file=None, constants={})
    frame = SimpleNamespace(draws=[SimpleNamespace(program=program)])
    found = hsr.operations_of(frame, [{"fragments_shaded": 10, "sliced_invocations": 7}])
    assert found.arithmetic == 10 * (1 + 4) + 7 * 1


def test_bench_hsr_compares_orders_turn_by_turn() -> None:
    scene = load_scene("heavy_overdraw_512")
    rows = hsr.measure(scene, (64, 64), ["given", "far_to_near"], ["off", "default"], 3)
    assert [(r["order"], r["hsr"]) for r in rows] == [(o, h) for o in ("given", "far_to_near") for h in ("off", "default")]
    assert rows[1]["fragments_shaded"] == rows[3]["fragments_shaded"] < rows[0]["fragments_shaded"] < rows[2]["fragments_shaded"]
    assert [r["over_first_order"] for r in rows[:2]] == [1, 1]
    assert [rows[i]["over_first_hsr"] for i in (0, 2)] == [1, 1]
    ratios = sorted(a / b for a, b in zip(rows[3]["ms_all"], rows[1]["ms_all"], strict=True))
    assert rows[3]["over_first_order"] == ratios[1]
