"""A figure of fastplotlib offscreen, four plots in it, kept as an array: fastplotlib_plot.py FILE.npy."""

import sys

import fastplotlib as fpl
import numpy as np

rng = np.random.default_rng(8)
figure = fpl.Figure(shape=(2, 2), canvas="offscreen", size=(640, 480))
y, x = np.mgrid[0:64, 0:96]
figure[0, 0].add_image(np.sin(x / 9 + y / 5).astype("f4"), cmap="plasma")
t = np.linspace(0, 12, 200)
for k in range(3):
    line = np.column_stack([t, np.sin(t + k) + 2.5 * k]).astype("f4")
    figure[0, 1].add_line(line, thickness=1 + 2 * k, cmap="jet")
points = rng.normal(0, 1, (400, 2)).astype("f4")
figure[1, 0].add_scatter(points, sizes=rng.uniform(3, 12, 400).astype("f4"), colors=rng.uniform(0.2, 1, (400, 4)).astype("f4"))
figure[1, 1].add_text("tilegpu", font_size=32, face_color="white")
figure[1, 1].add_line(np.column_stack([np.cos(t), np.sin(t)]).astype("f4") * 40, thickness=4, colors="magenta")
figure.show(maintain_aspect=False)
for _ in range(2):
    picture = np.asarray(figure.renderer.target.draw())
assert picture.shape == (480, 640, 4) and picture[..., :3].std() > 20, "nothing was drawn"
np.save(sys.argv[1], picture)
