"""Look-ups that are made by one call (16 lanes, optimised code) have the bits of single ones (4 and 8 lanes, quick code)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg

OUT = "r32g32b32a32_sfloat"
VERT = """#version 450
layout(location = 0) out vec2 v_uv;
void main() { v_uv = vec2((gl_VertexIndex & 1) * 2, (gl_VertexIndex >> 1) * 2); gl_Position = vec4(v_uv * 2.0 - 1.0, 0.5, 1.0); }"""
TAPS = """#version 450
layout(push_constant) uniform Step { vec4 away; };
layout(binding = 0) uniform sampler2D source;
layout(location = 0) in vec2 v_uv;
layout(location = 0) out vec4 o;
void main() {
  vec2 at = v_uv * away.w + vec2(0.0, v_uv.x * away.z);
  vec4 sum = texture(source, at);
  for (int i = 1; i < 7; i++) sum += (texture(source, at + away.xy * float(i)) - 0.5 * texture(source, at - away.xy * float(i))) / float(i);
  o = sum;
}"""
STEPS = {"rows": (1.7, 0.0, 0.0, 1.0), "columns": (0.0, 1.0, 0.0, 1.0), "half size": (1.0, -1.0, 0.0, 2.0), "twice": (0.5, 0.5, 0.0, 0.5),
         "turned": (1.0, 0.3, 0.4, 1.1)}  # fmt: skip
FORMATS = [
    "r8g8b8a8_unorm",
    "r8g8b8a8_srgb",
    "r16g16b16a16_sfloat",
    "r8_unorm",
    "r16_sfloat",
    "r32_sfloat",
    "b10g11r11_ufloat_pack32",
]
CONFIGURATIONS: list[dict[str, Any]] = [
    {"lanes": 16, "code": "optimised"}, {"lanes": 8}, {"lanes": 4, "code": "optimised"}, {"lanes": 16, "code": "quick"},
]  # fmt: skip


def device_of(configuration: dict[str, Any]) -> tg.Device:
    options = dict(configuration)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEGPU_CODE", options.pop("code", ""))
        return tg.Device(cache_dir="off", threads=1, **options)


@pytest.fixture(scope="module")
def devices() -> list[tg.Device]:
    return [device_of(c) for c in CONFIGURATIONS]


def drawn(
    dev: tg.Device,
    pixels: np.ndarray,
    fmt: str,
    step: tuple[float, ...],
    size: tuple[int, int],
    **sampling: Any,
) -> Any:
    out = dev.image(size, OUT)
    texture = dev.texture(pixels, fmt, **sampling)
    pipe = dev.pipeline(VERT, TAPS, color=[out])
    away = np.array([step[0] / pixels.shape[1], step[1] / pixels.shape[0], *step[2:]], np.float32)
    for _ in range(2):  # quick code first
        with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
            rp.draw(pipe, count=3, push={"away": away}, bind={"source": texture})
        dev.wait_compiles()
    return out.numpy()


def pixels_of(fmt: str, size: tuple[int, int]) -> np.ndarray:
    components = 4 if fmt.startswith(("r8g8", "r16g16")) else 3 if fmt.startswith("b10") else 1
    noise = np.random.default_rng(5).random((size[1], size[0], components), np.float32)
    if fmt.startswith("r8"):
        return (noise * 255).astype(np.uint8)
    values = noise * 4 if fmt.startswith("b10") else noise * 4 - 2
    if fmt == "r16g16b16a16_sfloat":
        values[3, 5] = np.nan
        values[9, 7] = np.inf
    return values.astype(np.float16 if "16" in fmt else np.float32)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fmt", FORMATS)
def test_joined_look_ups_have_the_bits_of_single_ones(devices: list[tg.Device], fmt: str, step: str) -> None:
    for address in ("clamp_to_edge", "repeat", "mirrored_repeat", "clamp_to_border"):
        images = [drawn(d, pixels_of(fmt, (40, 28)), fmt, STEPS[step], (44, 30), address=address) for d in devices]
        for image, configuration in zip(images[1:], CONFIGURATIONS[1:], strict=True):
            assert image.tobytes() == images[0].tobytes(), (address, configuration)


@pytest.mark.parametrize("size", [(1, 1), (3, 40), (7, 7), (8, 8), (9, 2)])
def test_joined_look_ups_of_small_textures(devices: list[tg.Device], size: tuple[int, int]) -> None:
    for fmt in FORMATS[:2]:
        images = [drawn(d, pixels_of(fmt, size), fmt, STEPS["rows"], (20, 20)) for d in devices]
        assert all(image.tobytes() == images[0].tobytes() for image in images[1:])


def test_joined_look_ups_of_levels(devices: list[tg.Device]) -> None:
    images = [
        drawn(d, pixels_of("r8g8b8a8_srgb", (64, 64)), "r8g8b8a8_srgb", STEPS["half size"], (24, 24), mipmaps=True)
        for d in devices
    ]
    assert all(image.tobytes() == images[0].tobytes() for image in images[1:])
    nearest = [
        drawn(d, pixels_of("r8g8b8a8_srgb", (64, 64)), "r8g8b8a8_srgb", STEPS["rows"], (24, 24), filter="nearest")
        for d in devices
    ]
    assert all(image.tobytes() == nearest[0].tobytes() for image in nearest[1:])
