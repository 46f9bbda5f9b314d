"""One scene by OpenGL in this process: ``python -m tilegpu.bench.gl_peer SCENE SECONDS PICTURE.npy``.

``tilegpu bench peers --opengl NAME=PYTHON`` starts it. It prints the median of the frames' milliseconds and writes the picture.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

import numpy as np

from tilegpu.bench.timing import frames_ms
from tilegpu.scene import find_scene


def main(scene: str, seconds: str, picture: str) -> None:
    """Draws, measures and writes; errors end the process."""
    os.environ.setdefault("GALLIVM_PERF", "")  # as in tilegpu bench peers
    from tilegpu.reference import PreparedFrame, Renderer

    frame = find_scene(scene).frame()
    prepared = PreparedFrame(frame)
    prepared.run()
    prepared.run()
    times = frames_ms(prepared.run, float(seconds))
    with Renderer.shared() as reference:
        np.save(Path(picture), np.asarray(reference.render(frame).images[0]))
        print(reference.ctx.info["GL_RENDERER"], reference.ctx.info["GL_VERSION"], file=sys.stderr)
    print(f"{statistics.median(times):.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
