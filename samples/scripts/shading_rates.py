"""Fewer fragments than pixels: a marble knot at several shading rates, and at rates chosen by what the picture before it had to show.

    python samples/scripts/shading_rates.py [out.png]

Four pictures in one: each pixel shaded; 4x4 pixels a fragment; rates by an attachment, and that attachment (green 1x1, yellow 2x2,
red 4x4).
Edges of triangles stay as sharp as they were, as coverage and depth are each pixel's; what is lost is inside of surfaces. Printed for each:
invocations, the difference to the first, the modelled cycles of two GPUs, and this computer's time.
"""

import sys
import time

import numpy as np

import tilegpu as tg

WIDTH, HEIGHT, TEXEL = 640, 360, 16
VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;
layout(push_constant) uniform Push { mat4 view; vec4 kind; };
layout(location = 0) out vec3 at; layout(location = 1) out vec3 n;
void main() { at = position; n = normal; gl_Position = view * vec4(position, 1); }"""
FRAGMENT = """#version 450
layout(location = 0) in vec3 at; layout(location = 1) in vec3 n;
layout(push_constant) uniform Push { mat4 view; vec4 kind; };
layout(location = 0) out vec4 color;
float hash(vec3 p) { p = fract(p * 0.3183 + 0.1); p *= 17.0; return fract(p.x * p.y * p.z * (p.x + p.y + p.z)); }
float noise(vec3 x) {
  vec3 i = floor(x), f = fract(x); f = f * f * (3.0 - 2.0 * f);
  return mix(mix(mix(hash(i), hash(i + vec3(1, 0, 0)), f.x), mix(hash(i + vec3(0, 1, 0)), hash(i + vec3(1, 1, 0)), f.x), f.y),
             mix(mix(hash(i + vec3(0, 0, 1)), hash(i + vec3(1, 0, 1)), f.x), mix(hash(i + vec3(0, 1, 1)), hash(i + vec3(1)), f.x), f.y),
             f.z);
}
float fbm(vec3 p) { float sum = 0.0, w = 0.5; for (int i = 0; i < 6; i++) { sum += w * noise(p); p = p * 2.03 + 11.5; w *= 0.5; }
  return sum; }
void main() {
  vec3 p = at * kind.x;
  float vein = fbm(p + 2.0 * vec3(fbm(p + 5.2), fbm(p + 1.3), fbm(p + 8.1)));  // four sums of six
  vec3 stone = mix(vec3(0.05, 0.16, 0.22), mix(vec3(0.95, 0.88, 0.75), vec3(0.75, 0.25, 0.1), kind.y), smoothstep(0.3, 0.75, vein));
  vec3 light = normalize(vec3(0.5, 0.9, 0.6)), eye = normalize(vec3(0, 1.6, 4.2) - at), m = normalize(n);
  float shine = pow(max(dot(m, normalize(light + eye)), 0.0), 60.0);
  color = vec4(stone * (0.2 + 0.8 * max(dot(m, light), 0.0)) + 0.6 * shine, 1);
}"""


def scene() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Vertices, indices, and the material: scale of its noise, how red it is."""
    knot, floor = tg.shapes.torus_knot(), tg.shapes.plane(8.0)
    turned = floor.vertices.copy()
    turned["position"] = floor.vertices["position"] - np.array([0, 0.75, 0], np.float32)
    ground = (turned, floor.indices, np.array([1.5, 0, 0, 0], np.float32))
    return [ground, (knot.vertices, knot.indices, np.array([6, 1, 0, 0], np.float32))]


def rates_of(picture: np.ndarray) -> np.ndarray:
    """A texel for each 16x16 pixels, from how much neighbours in the picture before differ: 4x4, 2x2 or 1x1."""
    luma = picture[..., :3].astype(np.float32) @ np.float32([0.299, 0.587, 0.114])
    steps = np.abs(np.diff(luma, axis=1, append=luma[:, -1:])) + np.abs(np.diff(luma, axis=0, append=luma[-1:]))
    rows, columns = -(-HEIGHT // TEXEL), -(-WIDTH // TEXEL)
    padded = np.pad(steps, ((0, rows * TEXEL - HEIGHT), (0, columns * TEXEL - WIDTH)))
    contrast = padded.reshape(rows, TEXEL, columns, TEXEL).mean((1, 3))
    return np.select([contrast < 4, contrast < 10], [np.uint8(10), np.uint8(5)], np.uint8(0))  # log2 of the width times 4, of the height


class Drawing:
    """The scene at a rate, or at those of an attachment; drawn as often as asked."""

    def __init__(self, device: tg.Device, rate: object, rates: np.ndarray | None = None) -> None:
        self.device, self.things = device, scene()
        self.color, self.depth = device.image((WIDTH, HEIGHT), "r8g8b8a8_srgb"), device.image((WIDTH, HEIGHT), "d32_sfloat")
        vertex = self.things[0][0].dtype
        self.pipe = device.pipeline(VERTEX, FRAGMENT, vertex=vertex, color=self.color, depth=self.depth, fragment_shading_rate=rate)
        self.view = tg.math.perspective(40, WIDTH / HEIGHT, 0.1, 20) @ tg.math.look_at((0, 0.9, 2.6), (0, -0.12, 0))
        self.more = {} if rates is None else {"shading_rate": (device.texture(rates, "r8_uint").image, (TEXEL, TEXEL))}

    def draw(self, trace: object = False) -> tg.RenderPass:
        color = [tg.Attachment(self.color, clear=(0.6, 0.7, 0.8, 1))]
        depth = tg.Attachment(self.depth, clear=1.0, store_op="dont_care")
        with self.device.render_pass(color=color, depth=depth, trace=trace, **self.more) as rp:
            for vertices, indices, kind in self.things:
                rp.draw(self.pipe, vertices, indices=indices, push={"view": self.view, "kind": kind})
        return rp

    def best_ms(self) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            self.draw()
            times.append(time.perf_counter() - start)
        return 1000 * min(times)


def psnr(a: np.ndarray, b: np.ndarray) -> str:
    error = np.mean((a[..., :3].astype(float) - b[..., :3]) ** 2)
    return f"{10 * np.log10(255**2 / error):.1f} dB" if error else "equal"


def main() -> None:
    host = tg.Device()
    gpus = {name: tg.Device(name) for name in ("immortalis-g925", "adreno-a740")}
    first = Drawing(host, (1, 1))
    first.draw()
    full = first.color.numpy().copy()
    rates = rates_of(full)  # a program would take those of the frame before
    by_attachment = {"combiner_ops": ("keep", "replace")}
    ways = {
        "1x1": ((1, 1), None),
        "2x1": ((2, 1), None),
        "2x2": ((2, 2), None),
        "4x2": ((4, 2), None),
        "4x4": ((4, 4), None),
        "attachment": (by_attachment, rates),
    }
    pictures = {}
    print(f"{'rate':12}{'invocations':>12}{'PSNR':>10}" + "".join(f"{name + ', cycles':>26}" for name in gpus) + f"{'here, ms':>10}")
    for name, (rate, texels) in ways.items():
        drawing = Drawing(host, rate, texels)
        rp = drawing.draw()
        pictures[name] = drawing.color.numpy().copy()
        cycles = [Drawing(gpu, rate, texels).draw("fragments").costs().cycles for gpu in gpus.values()]
        row = f"{name:12}{rp.stats.fragments_shaded:12,}{psnr(pictures[name], full):>10}"
        print(row + "".join(f"{c:26,.0f}" for c in cycles) + f"{drawing.best_ms():10.1f}")
    palette = np.zeros((16, 4), np.uint8)
    palette[[0, 5, 10]] = [[60, 180, 75, 255], [255, 210, 60, 255], [220, 60, 50, 255]]
    shown = palette[np.repeat(np.repeat(rates, TEXEL, 0), TEXEL, 1)[:HEIGHT, :WIDTH]]
    grid = np.vstack([np.hstack([pictures["1x1"], pictures["4x4"]]), np.hstack([pictures["attachment"], shown])])
    host.texture(grid, "r8g8b8a8_srgb").image.save(sys.argv[1] if len(sys.argv) > 1 else "shading_rates.png")


if __name__ == "__main__":
    main()
