"""A panel of datoviz offscreen, with points and axes' text drawn by its own shaders, kept as a picture: datoviz_points.py FILE.png."""

import sys

import datoviz as dvz
import numpy as np

app = dvz.App(background="white", offscreen=True)
figure = app.figure(640, 480)
panel = figure.panel()
axes = panel.axes((-1, 1), (-1, 1))
rng = np.random.default_rng(0)
count = 2000
x, y = rng.normal(0, 0.3, (2, count))
colors = rng.integers(50, 240, (count, 4)).astype("u1")
colors[:, 3] = 200
points = app.point(position=axes.normalize(x, y), color=colors, size=rng.uniform(4, 15, count).astype("f4"))
panel.add(points)
app.screenshot(figure, sys.argv[1])
app.destroy()
