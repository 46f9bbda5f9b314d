"""Everyday work on finished pictures: blur (separable, and a disc), a chain of bloom, tone mapping with a table.

The picture is a city at night.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from tilegpu._samples._everyday import ADD, EDGE, HDR, SRGB, frame_of, full, read_only

from tilegpu.scene import Draw, Frame, Output, Pass, Sampled, Scene, Target, Texture, procedural

WIDTH, HEIGHT = 1920, 1080
F = np.float32


def add_light(image, x, y, radius, color) -> None:
    """A round light with a soft rim."""
    x0, x1, y0, y1 = max(0, int(x - radius)), min(WIDTH, int(x + radius) + 1), max(0, int(y - radius)), min(HEIGHT, int(y + radius) + 1)
    if x0 >= x1 or y0 >= y1:
        return
    yy, xx = np.mgrid[y0:y1, x0:x1].astype(F)
    inside = np.clip(1 - ((xx - F(x)) ** 2 + (yy - F(y)) ** 2) / F(radius * radius), 0, 1)
    image[y0:y1, x0:x1] += (inside * inside)[..., None] * np.array(color, F)


def tower(image, x, base, wide, high, seed, near) -> None:
    """A building with windows, some of them lit."""
    x0, x1, y0 = max(0, x), min(WIDTH, x + wide), max(0, base - high)
    image[y0:base, x0:x1] = np.array((0.012, 0.014, 0.024), F) * F(1.0 + 2.2 * (1 - near))
    image[y0 : y0 + 3, x0:x1] += F(0.02)
    step_x, step_y = 11 + int(9 * near), 15 + int(11 * near)
    columns, rows = max(1, (wide - 10) // step_x), max(1, (high - 14) // step_y)
    r = procedural.random_numbers(seed, 3 * columns * rows).reshape(rows, columns, 3).tolist()
    for row, column in itertools.product(range(rows), range(columns)):
        lit, tone, bright = r[row][column]
        if lit > 0.42:
            continue
        left, top = x + 7 + column * step_x, y0 + 9 + row * step_y
        color = (1.0, 0.72, 0.36) if tone < 0.7 else (0.75, 0.9, 1.0) if tone < 0.9 else (1.0, 0.4, 0.5)
        power = F((0.25 + 2.6 * bright * bright * bright) * (0.45 + 0.8 * near))
        image[max(0, top) : top + step_y * 5 // 9, max(0, left) : max(0, left + step_x // 2)] = np.array(color, F) * power


@functools.cache
@read_only
def city() -> np.ndarray:
    """(1080, 1920, 3) float32, linear, up to 27: a skyline with a moon, lamps, and all of it in the water."""
    image = np.zeros((HEIGHT, WIDTH, 3), F)
    up = np.linspace(1, 0, 700, dtype=F)[:, None]
    image[:700] = np.array((0.10, 0.055, 0.085), F) * (1 - up)[..., None] + np.array((0.008, 0.012, 0.045), F) * up[..., None]
    cloud = procedural.fractal_noise(1024, 4, 6, 8)[:700].repeat(2, 1)[:, :WIDTH]
    image[:700] *= (0.6 + 0.9 * procedural.smooth(0.35, 0.75, cloud)).astype(F)[..., None]
    for x, y, power in procedural.random_numbers(3, 900).reshape(-1, 3).tolist():
        add_light(image, 1920 * x, 430 * y * y, 1.6, (2.2 * power,) * 3)
    add_light(image, 1520, 170, 62, (14.0, 13.0, 11.0))
    for layer, near in enumerate((0.0, 0.4, 1.0)):
        x, k = -30, 0
        r = procedural.random_numbers(60 + layer, 200).tolist()
        while x < WIDTH:
            wide, high = int((70, 95, 130)[layer] * (0.7 + 0.9 * r[k])), int((430, 330, 200)[layer] * (0.35 + 0.9 * r[k + 1]))
            tower(image, x, 690, wide, high, 1000 * layer + k, near)
            x, k = x + wide + int(24 * r[k + 2]), k + 3
    image[690:702] = (0.03, 0.026, 0.024)
    for k in range(24):
        x, color = 40 + 82 * k, ((26.0, 17.0, 7.0), (24.0, 21.0, 15.0), (7.0, 14.0, 25.0))[k % 3]
        image[652:694, x - 1 : x + 2] = 0.02
        add_light(image, x, 652, 8, color)
        add_light(image, x, 690, 34, (0.5, 0.34, 0.16))
    signs = (
        (300, 470, 120, 26, (9.0, 0.7, 2.2)),
        (900, 520, 90, 34, (0.6, 6.0, 7.0)),
        (1290, 455, 30, 130, (7.5, 4.0, 0.5)),
        (1700, 540, 110, 28, (1.4, 7.0, 1.8)),
    )
    for x, y, w, h, color in signs:
        image[y : y + h, x : x + w] = np.array(color, F) * F(0.10)
        image[y + 5 : y + h - 5 : 7, x + 5 : x + w - 5] = color
    depth = np.arange(HEIGHT - 702)
    wave = procedural.fractal_noise(1024, 16, 4, 77)
    sway = ((wave[depth % 1024][:, (np.arange(WIDTH) // 4) % 1024] - 0.5) * (4 + depth * 0.14)[:, None]).astype(int)
    source_y = np.clip(700 - (depth * 1.5).astype(int)[:, None] + sway, 0, 700)
    source_x = np.clip(np.arange(WIDTH)[None] + sway // 2, 0, WIDTH - 1)
    image[702:] = image[source_y, source_x] * F(0.55) + np.array((0.004, 0.006, 0.012), F)
    return image


@functools.cache
@read_only
def bright_city() -> Texture:
    pixels = np.ones((HEIGHT, WIDTH, 4), np.float16)
    pixels[..., :3] = city()
    return Texture(pixels, HDR, False, EDGE, "city, high range")


@functools.cache
@read_only
def plain_city() -> Texture:
    """As a screen shows it."""
    light = city() * F(2.2)
    return Texture(procedural.to_srgb8(light / (1 + light)), "r8g8b8a8_srgb", False, EDGE, "city")


def last(scene: Scene, size, samples, draw, passes) -> Frame:
    return frame_of(scene, size, samples, (draw,), color_formats=SRGB, depth_format=None, passes=tuple(passes))


class SeparableBlur(Scene):
    name, description = "blur_separable", "a Gaussian blur of 13 taps along rows, then along columns"
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        half = Target("r8g8b8a8_srgb", label="rows")

        def step(source, across, down) -> Draw:
            return full(
                "blur_line.frag", "blur", {"source": source}, {"texel_step": np.array([across / size[0], down / size[1], 0, 0], "f4")}
            )

        first = Pass((Output(half, load="dont_care"),), draws=(step(plain_city(), 1.7, 0),), label="rows")
        return last(self, size, samples, step(Sampled(half, EDGE), 0, 1.7), (first,))


class DiscBlur(Scene):
    name, description = "blur_disc", "a lens out of focus: 48 taps over a disc in rgba16f, then a tone curve"
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        blurred = Target(HDR, label="blurred")
        push = {"reach": np.array([0.020 * size[1] / size[0], 0.020, 0, 0], "f4")}
        first = Pass(
            (Output(blurred, load="dont_care"),), draws=(full("blur_disc.frag", "disc", {"source": bright_city()}, push),), label="disc"
        )
        tone = full("tone_curve.frag", "tone curve", {"source": Sampled(blurred, EDGE)}, {"exposure": np.array([1.8, 0, 0, 0], "f4")})
        return last(self, size, samples, tone, (first,))


class BloomChain(Scene):
    name, description = "bloom_chain", "bloom in rgba16f: six levels down by 13 taps, up again by 9, added to the picture"
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        chain = [Target(HDR, (max(1, size[0] >> k), max(1, size[1] >> k)), f"1/{1 << k}") for k in range(1, 7)]
        passes = []
        for k, target in enumerate(chain):
            source = Sampled(chain[k - 1], EDGE) if k else bright_city()
            draw = full("bloom_down.frag", "down", {"source": source}, **({} if k else {"BRIGHT": 1}))
            passes.append(Pass((Output(target, load="dont_care"),), draws=(draw,), label=f"down {target.label}"))
        for a, b in reversed([*itertools.pairwise(chain)]):
            draw = full("bloom_up.frag", "up", {"source": Sampled(b, EDGE)}, state=ADD)
            passes.append(Pass((Output(a, load="load"),), draws=(draw,), label=f"up {a.label}"))
        tone = full("bloom_compose.frag", "compose", {"source": bright_city(), "glow": Sampled(chain[0], EDGE)})
        return last(self, size, samples, tone, passes)


@functools.cache
@read_only
def grading() -> Texture:
    """A table of colours, 16 squares of 16x16 side by side: blue shadows, warm lights, a little contrast."""
    k = np.arange(16, dtype=F) / F(15)
    rgb = np.stack(np.meshgrid(k, k, k, indexing="ij"), -1)[..., ::-1]  # blue, green, red -> (b, g, r, 3)
    grey = (rgb * np.array((0.21, 0.72, 0.07), F)).sum(-1, keepdims=True)
    curve = rgb * rgb * (3 - 2 * rgb) * F(0.45) + rgb * F(0.55)
    graded = curve + (1 - grey) * np.array((-0.035, 0.0, 0.055), F) * (grey * 4).clip(0, 1) + grey * np.array((0.05, 0.012, -0.05), F)
    table = graded.transpose(1, 0, 2, 3).reshape(16, 256, 3)
    pixels = np.full((16, 256, 4), 255, np.uint8)
    pixels[..., :3] = (table.clip(0, 1) * 255 + F(0.5)).astype(np.uint8)
    return Texture(pixels, "r8g8b8a8_unorm", False, EDGE, "grading")


class ToneMapping(Scene):
    name, description = "tone_mapping", "one pass: exposure, the ACES curve, a table of colours, colour fringes, grain and dark corners"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        push = {"exposure": np.array([1.9, time, size[0], size[1]], "f4")}
        draw = full("tone_grade.frag", "tone", {"source": bright_city(), "grading": grading()}, push)
        return frame_of(self, size, samples, (draw,), depth_format=None)


SCENES = [SeparableBlur(), DiscBlur(), BloomChain(), ToneMapping()]
