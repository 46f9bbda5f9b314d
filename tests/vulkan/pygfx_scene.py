"""A scene of pygfx, drawn offscreen and kept as an array: pygfx_scene.py NAME FILE.npy. Run by test_wgpu.py in the clients' environment."""

import sys

import numpy as np
import pygfx as gfx
from rendercanvas.offscreen import RenderCanvas

canvas = RenderCanvas(size=(320, 240), pixel_ratio=1)
renderer = gfx.renderers.WgpuRenderer(canvas)
scene = gfx.Scene()
rng = np.random.default_rng(4)


def mesh() -> None:
    """Lit, over a background."""
    scene.add(gfx.Background.from_color("#224466", "#88aacc"))
    scene.add(gfx.Mesh(gfx.torus_knot_geometry(1, 0.3, 128, 16), gfx.MeshPhongMaterial(color="#ff8844")))
    light = gfx.DirectionalLight()
    light.local.position = (3, 4, 5)
    scene.add(gfx.AmbientLight(), light)


def metal() -> None:
    """Physically based, in a shadow."""
    ball = gfx.Mesh(gfx.sphere_geometry(1, 48, 32), gfx.MeshStandardMaterial(color="#ddbb77", metalness=0.4, roughness=0.3))
    floor = gfx.Mesh(gfx.plane_geometry(8, 8), gfx.MeshStandardMaterial(color="#446"))
    floor.local.position = (0, 0, -1.2)
    light = gfx.PointLight("#fff", 4)
    light.local.position = (2, 3, 5)
    ball.cast_shadow = ball.receive_shadow = floor.receive_shadow = light.cast_shadow = True
    scene.add(gfx.AmbientLight(intensity=0.3), light, ball, floor)


def marks() -> None:
    """Lines, points and text, whose edges are blended."""
    positions = rng.uniform(-1, 1, (60, 3)).astype(np.float32)
    scene.add(gfx.Line(gfx.Geometry(positions=positions), gfx.LineMaterial(color="#4cf", thickness=3)))
    scene.add(gfx.Points(gfx.Geometry(positions=positions, sizes=rng.uniform(4, 16, 60).astype(np.float32)),
                         gfx.PointsMarkerMaterial(size_mode="vertex", marker="diamond", color="#fa4")))  # fmt: skip
    scene.add(gfx.Text(text="tilegpu", font_size=0.6, material=gfx.TextMaterial(color="#fff")))


def picture() -> None:
    """A texture with a colour map."""
    data = np.add.outer(np.sin(np.linspace(0, 9, 64)), np.cos(np.linspace(0, 7, 64))).astype(np.float32)
    scene.add(gfx.Image(gfx.Geometry(grid=gfx.Texture(data, dim=2)), gfx.ImageBasicMaterial(clim=(-2, 2), map=gfx.cm.viridis)))


def volume() -> None:
    """Rays through a 3D texture."""
    z, y, x = np.mgrid[-1:1:24j, -1:1:24j, -1:1:24j]
    data = np.exp(-4 * (x**2 + 2 * y**2 + (z - 0.2) ** 2)).astype(np.float32)
    scene.add(gfx.Volume(gfx.Geometry(grid=gfx.Texture(data, dim=3)), gfx.VolumeMipMaterial(clim=(0, 1))))


name, path = sys.argv[1:]
globals()[name]()
camera = gfx.PerspectiveCamera(50, 4 / 3)
camera.show_object(scene, view_dir=(-1, -2, -3))
canvas.request_draw(lambda: renderer.render(scene, camera))
picture_of = np.asarray(canvas.draw())
assert picture_of.shape == (240, 320, 4) and picture_of[..., :3].std() > 5, "nothing was drawn"
np.save(path, picture_of)
