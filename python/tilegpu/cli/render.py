"""``tilegpu render``: a scene or model to PNG (or ``.npy``), one picture or a turn of the camera."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli.common import (
    EXIT_OK,
    UsageError,
    add_device_options,
    add_scene_options,
    as_plain,
    load_scene,
    make_device,
    positive,
    progress,
)

if TYPE_CHECKING:
    from tilegpu.scene import Frame, RenderResult, Scene


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("render", help="render a scene or a model to a file", description=__doc__)
    add_scene_options(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=".png, or .npy for the values as they are")
    add_device_options(parser)
    parser.add_argument(
        "--frames",
        type=positive,
        default=1,
        metavar="N",
        help="N pictures of one turn of the camera: OUT gets the number before its suffix",
    )
    parser.add_argument("--stats", metavar="S.json", help="write statistics of every frame")
    parser.set_defaults(run=run)


def output_path(output: str, index: int, frames: int) -> Path:
    """``turn.png`` of frame 7 of 100 is ``turn_007.png``; of one frame it is ``turn.png``."""
    path = Path(output)
    if frames == 1:
        return path
    digits = max(3, len(str(frames - 1)))
    return path.with_name(f"{path.stem}_{index:0{digits}}{path.suffix}")


def frame_of_turn(scene: Scene, index: int, options: argparse.Namespace) -> Frame:
    """Frame ``index``; of several, the camera turns once about the scene and time runs at 30 frames a second."""
    camera = scene.camera() if options.frames > 1 else None
    if camera is not None:
        camera.rotate(2 * math.pi * index / options.frames, 0.0)
    return scene.frame(options.size, options.samples, camera=camera, time=index / 30.0)


def save_image(image: Any, path: Path) -> None:
    """Writes an (H, W, C) array: uint8 as PNG (or what the suffix says), anything as ``.npy``; floats as PNG are clamped to 0..1."""
    import numpy as np
    from PIL import Image as Pillow

    if path.suffix.lower() == ".npy":
        np.save(path, image)
        return
    if image.dtype != np.uint8:
        image = np.rint(np.clip(np.nan_to_num(image.astype(np.float64)), 0, 1) * 255).astype(np.uint8)
    channels = image.shape[2]
    if channels == 1:
        image = image[..., 0]
    elif channels == 2:
        image = np.concatenate([image, np.zeros_like(image[..., :1])], axis=2)
    try:
        Pillow.fromarray(image).save(path)
    except ValueError as error:
        raise UsageError(f"cannot write {path}: {error}; write .png or .npy") from error


def save_result(result: RenderResult, path: Path) -> list[Path]:
    """Colour 0 goes to ``path``, the others and a stored depth beside it."""
    paths = [path]
    save_image(result.images[0], path)
    for i, image in enumerate(result.images[1:], 1):
        paths.append(path.with_name(f"{path.stem}.color{i}{path.suffix}"))
        save_image(image, paths[-1])
    return paths


def run(options: argparse.Namespace) -> int:
    """Renders and writes; says where, and how long a frame took."""
    scene = load_scene(options.scene)
    folder = Path(options.output).parent
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    from tilegpu.scene import SceneRenderer

    renderer = SceneRenderer(make_device(options))
    statistics: list[Any] = []
    times_ms: list[float] = []
    written: list[Path] = []
    for index in progress(range(options.frames), options.frames, scene.name):
        frame = frame_of_turn(scene, index, options)
        start = time.perf_counter()
        result = renderer.render(frame)
        times_ms.append((time.perf_counter() - start) * 1e3)
        written += save_result(result, output_path(options.output, index, options.frames))
        if options.stats:
            statistics.append(
                {
                    "frame": index,
                    "ms": times_ms[-1],
                    "stats": as_plain(result.stats),
                    "explain": as_plain(result.explain),
                }
            )
    if options.stats:
        Path(options.stats).write_text(
            json.dumps({"scene": scene.name, "frames": statistics}, indent=1) + "\n", encoding="utf-8"
        )
    size = f"{frame.size[0]}x{frame.size[1]}, {frame.samples} sample{'s' if frame.samples > 1 else ''}"
    if options.frames == 1:
        print(f"{', '.join(map(str, written))}: {scene.name}, {size}, {times_ms[0]:.1f} ms with compilation")
    else:
        rest = sorted(times_ms[1:])
        print(
            f"{written[0]} to {written[-1].name}: {scene.name}, {size}, {options.frames} frames, "
            f"{times_ms[0]:.1f} ms the first, {rest[len(rest) // 2]:.1f} ms the median of the others"
        )
    sys.stdout.flush()
    return EXIT_OK
