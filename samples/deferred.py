"""Deferred shading in one pass: the g-buffer is written and read in tile memory, and no byte of it ever leaves.

    python samples/deferred.py [picture.png] [samples]

A program that draws with the front end. As plain data, which OpenGL draws too, it is the scene ``deferred`` (passes.py).
"""

from __future__ import annotations

import sys

import numpy as np

import tilegpu as tg
from tilegpu.scene import shader_text
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.shapes import ball, disc, torus_knot

SCENES: list = []
FORMATS = ["r8g8b8a8_unorm", "a2b10g10r10_unorm_pack32", "r8g8b8a8_srgb"]  # albedo, normal, lit
LIGHTS = 24


def render(device: tg.Device, size: tuple[int, int] = (960, 540), samples: int = 1, trace: bool = False) -> tuple[tg.Image, tg.RenderPass]:
    """The lit picture and the finished pass."""
    shaders = {n: shader_text(f"deferred_{n}") for n in ("fill.vert", "fill.frag", "light.vert", "light.frag")}
    knot, sphere, floor = torus_knot(2, 3, 1.0, 0.4, 0.24), ball(0.5, 48), disc(14.0, 1.0)
    fill = device.pipeline(shaders["fill.vert"], shaders["fill.frag"], vertex=knot.vertices.dtype, color=FORMATS, depth="d32_sfloat",
                           attachment_locations=[0, 1, None],
                           samples=samples, cull="back", label="g-buffer")
    light = device.pipeline(shaders["light.vert"], shaders["light.frag"], color=FORMATS, depth="d32_sfloat", depth_test=False,
                            samples=samples, input_attachments=["color0", "color1", "depth"],
                            defines={"MULTISAMPLED": 1} if samples > 1 else {}, label="lights")
    camera = OrbitCamera(target=(0, 0.6, 0), distance=9.0, yaw=0.5, pitch=0.35, fov_y=40.0, radius=12.0)
    matrix = camera.view_projection(size[0] / size[1])
    rng = np.random.default_rng(4)
    lights = np.zeros(LIGHTS, [("place", "f4", 4), ("color", "f4", 4)])
    angle = np.arange(LIGHTS) * 2.399963  # the golden angle: spread evenly over a disc
    radius = 5.0 * np.sqrt((np.arange(LIGHTS) + 0.5) / LIGHTS)
    lights["place"] = np.stack([radius * np.cos(angle), rng.uniform(0.3, 1.6, LIGHTS), radius * np.sin(angle), np.full(LIGHTS, 3.5)], 1)
    lights["color"][:, :3] = 0.25 + 0.9 * np.stack([np.cos(angle + k * 2.094) for k in range(3)], 1).clip(0)
    scene = {"inverse_view_projection": tg.math.inverse(matrix), "eye": (*camera.eye, 1.0), "lights": lights}

    albedo, normal = (device.image(size, f, samples=samples, transient=True, label=n)
                      for f, n in zip(FORMATS, ("albedo", "normal"), strict=False))
    depth = device.image(size, "d32_sfloat", samples=samples, transient=True, label="depth")
    lit = device.image(size, FORMATS[2], label="lit")
    many = device.image(size, FORMATS[2], samples=samples, transient=True, label="lit samples") if samples > 1 else lit
    last = tg.Attachment(many, load_op="dont_care", store_op="dont_care", resolve=lit) if samples > 1 else tg.Attachment(
        lit, load_op="dont_care")
    gone = {"clear": (0, 0, 0, 0), "store_op": "dont_care"}
    with device.render_pass(color=[tg.Attachment(albedo, **gone), tg.Attachment(normal, **gone), last],
                            depth=tg.Attachment(depth, clear=1.0, store_op="dont_care"), trace=trace, label="deferred") as rp:
        def place(mesh, at, scale, color):
            rp.draw(fill, mesh.vertices, indices=mesh.indices,
                    push={"view_projection": matrix, "place": (*at, scale), "color": color})

        place(knot, (0, 1.25, 0), 0.85, (0.9, 0.8, 0.7, 0.9))
        for i in range(18):
            turn = i * 2 * np.pi / 18
            place(sphere, (3.4 * np.cos(turn), 0.5, 3.4 * np.sin(turn)), 1.0, (*(0.55 + 0.4 * np.cos(turn + np.arange(3) * 2.1)), i / 18))
        place(floor, (0, 0, 0), 1.0, (0.75, 0.75, 0.78, 0.15))
        rp.draw(light, count=3, bind={"Scene": scene})
    return lit, rp


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "deferred.png"
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    picture, rp = render(tg.Device(), samples=samples)
    picture.save(path)
    print(rp.stats)
    print(f"wrote {path}; bytes of the g-buffer that left the tile: "
          f"{sum(sum(v for k, v in rp.stats.traffic[n].items() if not k.startswith('saved')) for n in ('color0', 'color1', 'depth'))}")


if __name__ == "__main__":
    main()
