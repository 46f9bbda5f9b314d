"""Everyday work of many small things: charts and point clouds as scientific users draw them, and sprites by the thousand."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from tilegpu._samples._everyday import OVER, frame_of, full, read_only

from tilegpu.scene import CLAMPED, Draw, Frame, Page, Scene, State, Texture, mip_chain, procedural, program, shapes
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.mesh import quad_indices

LINE_VERTEX = np.dtype([("position", "<f4", 2), ("other", "<f4", 2), ("side", "<f4", 2), ("color", "<f4", 4)])
PLAIN_VERTEX = np.dtype([("position", "<f4", 2), ("color", "<f4", 4)])
POINT_VERTEX = np.dtype([("position", "<f4", 3), ("shade", "<f4")])
COLORS = ((0.12, 0.47, 0.71), (1.0, 0.5, 0.05), (0.17, 0.63, 0.17), (0.84, 0.15, 0.16), (0.58, 0.4, 0.74), (0.09, 0.75, 0.81))
BLACK, GREY = (30, 30, 34, 255), (100, 100, 108, 255)


def bell(seed: int, count: int) -> np.ndarray:
    """(count,) numbers that are nearly normal: sums of twelve."""
    return procedural.random_numbers(seed, 12 * count).reshape(count, 12).astype(np.float64).sum(1) - 6.0


def sine(x: np.ndarray) -> np.ndarray:
    return shapes.cos_sin(x)[1]


def thick_line(points: np.ndarray, width_px: float, color) -> np.ndarray:
    """(n, 2) points in pixels as four vertices for each piece, which the vertex shader pulls apart."""
    a, b = points[:-1], points[1:]
    out = np.zeros((len(a), 4), LINE_VERTEX)
    for k, (here, there, along, across) in enumerate(((a, b, -1, -1), (a, b, -1, 1), (b, a, 1, -1), (b, a, 1, 1))):
        out["position"][:, k], out["other"][:, k] = here, there
        out["side"][:, k] = (-along * across * width_px / 2, width_px / 2)
    out["color"] = (*color, 1)
    return out.reshape(-1)


class Chart(Page):
    """A page with axes: one box of it at a time."""

    def axes(self, box, x_range, y_range, title, x_label) -> None:
        self.box, self.x_range, self.y_range = box, x_range, y_range
        x, y, w, h = box
        self.panel(box, (1, 1, 1, 1), label="axes")
        parts = [(title, x, y - 34, 17, BLACK), (x_label, x + w - 150, y + h + 40, 11, GREY)]
        for k in range(7):
            at = x + w * k / 6
            self.panel((at - 0.5, y, 1, h), (0.87, 0.87, 0.89, 1), label="grid")
            parts.append((f"{x_range[0] + (x_range[1] - x_range[0]) * k / 6:.3g}", at - 10, y + h + 14, 10, GREY))
        for k in range(5):
            at = y + h * (1 - k / 4)
            self.panel((x, at - 0.5, w, 1), (0.87, 0.87, 0.89, 1), label="grid")
            parts.append((f"{y_range[0] + (y_range[1] - y_range[0]) * k / 4:.3g}", x - 52, at - 5, 10, GREY))
        self.text(parts, "labels")

    def place(self, x, y) -> np.ndarray:
        """(n, 2) pixels of values."""
        px = self.box[0] + (np.asarray(x) - self.x_range[0]) / (self.x_range[1] - self.x_range[0]) * self.box[2]
        py = self.box[1] + (self.y_range[1] - np.asarray(y)) / (self.y_range[1] - self.y_range[0]) * self.box[3]
        return np.stack(np.broadcast_arrays(px, py), 1).astype("f4")

    def add(self, what, vertices, indices, topology="triangle_list", label="curve") -> None:
        state = dataclasses.replace(OVER, topology=topology)
        self.draws.append(
            Draw(
                what,
                vertices,
                indices,
                push={"size_px": self.size_px, "scale": np.array(self.scale, "f4")},
                state=state,
                label=label,
                scissor=self.clip(self.box),
            )
        )

    def thick(self, x, y, width_px, color) -> None:
        vertices = thick_line(self.place(x, y), width_px, color)
        self.add(program("chart_thick.vert", "chart_thick.frag"), vertices, quad_indices(len(vertices) // 4))

    def thin(self, x, y, color) -> None:
        """Lines of one pixel, as fast plots draw them."""
        points = self.place(x, y)
        vertices = np.zeros(len(points), PLAIN_VERTEX)
        vertices["position"], vertices["color"] = points, (*color, 1)
        k = np.arange(len(points) - 1, dtype=np.uint32)
        self.add(program("chart.vert", "passes_ui.frag"), vertices, np.stack([k, k + 1], 1).reshape(-1), "line_list", "signal")

    def area(self, x, y, low, color) -> None:
        """What lies between a curve and a number."""
        top, bottom = self.place(x, y), self.place(x, low)
        vertices = np.zeros(2 * len(top), PLAIN_VERTEX)
        vertices["position"][0::2], vertices["position"][1::2], vertices["color"] = top, bottom, color
        self.add(program("chart.vert", "passes_ui.frag"), vertices, None, "triangle_strip", "area")

    def legend(self, names) -> None:
        x, y = self.box[0] + self.box[2] - 190, self.box[1] + 14
        self.panel((x, y, 176, 14 + 24 * len(names)), (1, 1, 1, 0.88), radius=5, border=(0.8, 0.8, 0.82, 1), width=1, label="legend")
        for k, _ in enumerate(names):
            self.panel((x + 12, y + 15 + 24 * k, 28, 4), (*COLORS[k], 1), label="legend")
        self.text([(name, x + 52, y + 11 + 24 * k, 11, BLACK) for k, name in enumerate(names)], "legend")

    def markers(self, x, y, radius_px, color) -> None:
        """Round marks, drawn as one."""
        points = self.place(x, y)
        out = np.zeros((len(points), 4), LINE_VERTEX)
        for k in range(4):
            out["position"][:, k], out["side"][:, k] = points, ((k & 1) * 2 - 1, (k >> 1) * 2 - 1)
        out["other"], out["color"] = radius_px, color
        self.add(program("chart_mark.vert", "chart_mark.frag"), out.reshape(-1), quad_indices(len(points)), label="marks")


class LineChart(Scene):
    name = "line_chart"
    description = "four diagrams: signals of 60,000 points, thick smooth curves, areas and bars, 16,000 translucent marks"
    moves = False

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        return frame_of(self, size, samples, drawn_chart(size), clear_colors=((0.965, 0.965, 0.975, 1),), depth_format=None)


@functools.lru_cache(4)
@read_only
def drawn_chart(size: tuple[int, int]) -> tuple[Draw, ...]:
    chart = Chart(size, (1920, 1080))
    chart.axes((100, 70, 800, 390), (0, 6), (-4, 4), "Raw signal, three channels", "time / s")
    t = np.arange(20000) * (6 / 19999)
    for k in range(3):
        walk = np.cumsum(bell(k, 20000)) * 0.008
        chart.thin(t, 2.2 - 2.2 * k + 0.5 * sine(t * (3 + k)) + 0.12 * bell(9 + k, 20000) + 0.2 * (walk - t * walk[-1] / 6), COLORS[k])
    chart.legend(("channel A", "channel B", "channel C"))
    chart.axes((1060, 70, 800, 390), (0, 30), (-1, 1), "Damped oscillation", "time / s")
    t = np.arange(1500) * (30 / 1499)
    for k in range(6):
        fade = 1 / (1 + t * (0.02 + 0.06 * k) + 0.01 * t * t)
        chart.thick(t, fade * sine(t * (1.0 + 0.13 * k) + 1.57), 3.2, COLORS[k])
    chart.legend([f"damping {0.02 + 0.06 * k:.2f}" for k in range(6)])
    chart.axes((100, 600, 800, 390), (0, 12), (0, 8), "Distribution by month", "month")
    t = np.arange(400) * (12 / 399)
    for k in range(3):
        curve = 5.8 - 1.7 * k + 1.1 * sine(t * 0.9 + k) + 0.5 * sine(t * 2.3 + 2 * k)
        chart.area(t, curve, 0.0, (*COLORS[k], 0.45))
        chart.thick(t, curve, 2.5, COLORS[k])
    for k, high in enumerate(procedural.random_numbers(3, 48).tolist()):
        x, y = chart.place([0.25 * k + 0.06], [0.4 + 1.3 * high])[0].tolist()
        chart.panel((x, y, 8.7, chart.box[1] + chart.box[3] - y), (0.2, 0.22, 0.3, 0.85), label="bar")
    chart.axes((1060, 600, 800, 390), (-4, 8), (-4, 6), "Two populations", "length / mm")
    for k, (mx, my, slope) in enumerate(((0.2, -0.6, 0.7), (4.2, 2.4, -0.5))):
        x = bell(20 + k, 8000)
        chart.markers(mx + x, my + slope * x + 0.8 * bell(30 + k, 8000), 3.5, (*COLORS[3 * k], 0.28))
    chart.legend(("control", "treated"))
    return tuple(chart.draws)


class PointCloud(Scene):
    name, description = "point_cloud", "a scan of a village: 617,344 round points, coloured by height"
    moves = False

    def camera(self) -> OrbitCamera:
        return OrbitCamera(target=(0, 0.2, 0), distance=11.0, yaw=0.7, pitch=0.42, fov_y=38.0, radius=8.0, near=0.5, far=40.0)

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        camera = camera or self.camera()
        push = {"view_projection": camera.view_projection(size[0] / size[1]), "point": np.array([0.016 * size[1] * 1.45, 0, 0, 0], "f4")}
        draw = Draw(program("point_cloud.vert", "point_cloud.frag"), scan(), push=push, state=State(topology="point_list"), label="scan")
        return frame_of(self, size, samples, (draw,), clear_colors=((0.03, 0.035, 0.05, 1),))


@functools.cache
@read_only
def scan() -> np.ndarray:
    """The points, in no order of depth."""
    n = 512
    height = procedural.fractal_noise(n, 4, 6, 5).astype(np.float64)
    y, x = np.mgrid[0:n, 0:n]
    jitter = procedural.random_numbers(6, 2 * n * n).reshape(2, n, n) - 0.5
    places = [np.stack([(x + jitter[0]) * (12 / n) - 6, 2.2 * height - 1.2, (y + jitter[1]) * (12 / n) - 6], -1).reshape(-1, 3)]
    shades = [0.75 + 0.5 * (procedural.fractal_noise(n, 32, 3, 8).reshape(-1) - 0.5)]
    numbers = procedural.random_numbers(77, 4000).reshape(-1, 4).astype(np.float64)
    for k in range(60):  # houses: walls and a ridged roof
        cx, cz, w, d = numbers[k] * (10, 10, 0.35, 0.35) + (-5, -5, 0.22, 0.22)
        base = float(height[int((cz + 6) * n / 12), int((cx + 6) * n / 12)]) * 2.2 - 1.2
        r = procedural.random_numbers(100 + k, 3 * 2400).reshape(3, -1).astype(np.float64)
        side = (r[0] * 4).astype(int)
        wall = np.stack(
            [
                np.where(side < 2, (side * 2 - 1) * w, (r[1] * 2 - 1) * w),
                r[2] * 0.42,
                np.where(side < 2, (r[1] * 2 - 1) * d, (side * 2 - 5) * d),
            ],
            1,
        )
        roof = np.stack([(r[0] * 2 - 1) * w * 1.1, 0.42 + 0.3 * (1 - np.abs(r[1] * 2 - 1)), (r[1] * 2 - 1) * d * 1.15], 1)
        at = np.array([cx, base, cz])
        places += [wall + at, roof + at]
        shades += [np.full(2400, 1.0), np.full(2400, 0.55)]
    for k in range(120):  # trees: a ball of leaves on a stem
        cx, cz, r0, _ = numbers[200 + k] * (11, 11, 0.22, 1) + (-5.5, -5.5, 0.14, 0)
        base = float(height[int((cz + 6) * n / 12), int((cx + 6) * n / 12)]) * 2.2 - 1.2
        ball = np.stack([bell(300 + 3 * k + j, 560) for j in range(3)], 1)
        ball /= np.sqrt((ball * ball).sum(1, keepdims=True))
        places.append(ball * (r0, 1.5 * r0, r0) + (cx, base + 0.2 + 1.6 * r0, cz))
        shades.append(0.7 + 0.3 * ball[:, 1])
    out = np.zeros(sum(len(p) for p in places), POINT_VERTEX)
    out["position"], out["shade"] = np.vstack(places), np.concatenate(shades)
    order = np.argsort(procedural.random_numbers(9, len(out)), kind="stable")
    return out[order]


class Sprites(Scene):
    name, description = "sprites", "an aquarium: 12,000 blended sprites out of one atlas, back to front"

    def frame(self, size=None, samples=None, camera=None, time=0.0) -> Frame:
        size, samples = self._resolve_request(size, samples, camera, time)
        push = {"size": np.array([size[0] / size[1], time, 0, 0], "f4")}
        water = full("sprites_water.frag", "water", push=push)
        fish = Draw(
            program("sprites.vert", "sprites.frag"),
            count=4,
            instances=len(shoal()),
            push=push,
            bind={"atlas": fish_atlas(), "Shoal": shoal()},
            label="shoal",
            state=dataclasses.replace(OVER, topology="triangle_strip"),
        )
        return frame_of(self, size, samples, (water, fish), clear_colors=((0.0, 0.2, 0.3, 1),), depth_format=None)


@functools.cache
@read_only
def shoal() -> np.ndarray:
    """(n, 8) float32: place x, y (height 1), size, angle; cell, distance (1 far, 0 near), tint, direction."""
    n = 12000
    r = procedural.random_numbers(55, 8 * n).reshape(n, 8).astype(np.float64)
    far = np.sort(1 - r[:, 0] * r[:, 0])[::-1]
    out = np.zeros((n, 8), "f4")
    wave = sine(r[:, 1] * 6.283 + r[:, 4])
    out[:, 0] = r[:, 1] * 1.9 - 0.06
    out[:, 1] = np.clip(0.52 + 0.20 * wave + 0.36 * (r[:, 2] + r[:, 3] - 1.0), -0.05, 1.05)
    out[:, 2] = 0.009 + 0.055 * (1 - far) * (1 - far) * (0.5 + r[:, 5])
    out[:, 3] = 0.35 * (r[:, 6] - 0.5)
    out[:, 4] = np.where(r[:, 7] > 0.93, 7, (r[:, 7] * 7.5).astype(int))
    out[:, 5], out[:, 6], out[:, 7] = far, r[:, 5], np.where(r[:, 4] > 0.22, 1, -1)
    return out


@functools.cache
@read_only
def fish_atlas() -> Texture:
    """Eight cells of 64x64, premultiplied by nothing: seven fish and a bubble."""
    y, x = (np.mgrid[0:64, 0:64] + 0.5) / 32 - 1
    cells = []
    paints = ((250, 140, 30), (245, 205, 60), (70, 150, 235), (230, 80, 90), (150, 210, 120), (190, 120, 220), (235, 235, 240))
    for k, paint in enumerate(paints):
        tall = 0.42 + 0.05 * (k % 3)
        body = 1 - ((x - 0.12) / 0.72) ** 2 - (y / tall) ** 2
        tail = np.minimum(-0.42 - x, x + 0.98) + 0 * y
        tail = np.minimum(tail * 1.4, (0.06 - x - 0.42) * 0.75 - np.abs(y) + 0.12)
        fin = np.minimum(0.62 - np.abs(x * 1.3 - 0.1) - np.abs(y + 0.30), -0.1 - y)
        shape = np.maximum(np.maximum(body * 0.4, tail), fin)
        alpha = np.clip(shape * 18 + 0.5, 0, 1)
        light = np.clip(0.75 - 0.5 * y + 0.25 * (body > 0.35), 0.3, 1.25)
        color = np.array(paint) * light[..., None]
        bands = (np.abs(((x * (2 + k % 3) + 0.2 * y) % 1) - 0.5) < 0.14) & (body > 0.08)
        color = np.where((bands & (k % 2 == 0))[..., None], color * 0.35 + 150, color)
        color = np.where((body < 0.0)[..., None], color * 0.8, color)
        eye = np.sqrt((x - 0.55) ** 2 + (y + 0.1) ** 2)
        color = np.where((eye < 0.12)[..., None], 250, color)
        color = np.where((eye < 0.065)[..., None], 15, color)
        cells.append(np.concatenate([np.clip(color, 0, 255), alpha[..., None] * 255], 2))
    r = np.sqrt(x * x + y * y)
    shine = np.clip(1 - np.sqrt((x + 0.35) ** 2 + (y + 0.35) ** 2) * 3, 0, 1)
    alpha = np.clip((0.85 - r) * 20, 0, 1) * (0.12 + 0.75 * np.clip(r - 0.45, 0, 1)) + shine
    cells.append(np.concatenate([np.full((64, 64, 3), 225.0), np.clip(alpha, 0, 1)[..., None] * 255], 2))
    pixels = np.concatenate([np.concatenate(cells[0:4], 1), np.concatenate(cells[4:8], 1)], 0).astype(np.uint8)
    return Texture(pixels, "r8g8b8a8_unorm", mip_chain(pixels, False)[:3], CLAMPED, "fish")


SCENES = [LineChart(), PointCloud(), Sprites()]
