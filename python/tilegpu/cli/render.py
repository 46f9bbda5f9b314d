"""``tilegpu render``: a scene or model to a picture, to one for each frame of a turn of the camera, or to a GIF, WebP or MP4 of them."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli import animation
from tilegpu.cli.common import (
    EXIT_OK,
    UsageError,
    add_device_options,
    add_quiet_option,
    add_scene_options,
    as_plain,
    check_output,
    chosen_scene,
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
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help=".png, .webp, .jpg, ...; .exr or .npy: the values as they are; of --frames also .gif, .webp, .mp4: all in one file",
    )
    add_device_options(parser)
    parser.add_argument(
        "--frames",
        type=positive,
        default=1,
        metavar="N",
        help="N pictures of one turn of the camera, or of a model's animation: OUT gets the number before its suffix, or is a .gif, "
        ".webp or .mp4 of them all",
    )
    parser.add_argument(
        "--fps",
        type=positive,
        metavar="F",
        help="pictures for each second of time (default: 30; those of a model's animation are spread over it)",
    )
    add_quiet_option(parser)
    parser.add_argument("--stats", metavar="S.json", help="write statistics of every frame")
    parser.set_defaults(run=run)


def output_path(output: str, index: int, frames: int) -> Path:
    """``turn.png`` of frame 7 of 100 is ``turn_007.png``; of one frame it is ``turn.png``."""
    path = Path(output)
    if frames == 1:
        return path
    digits = max(3, len(str(frames - 1)))
    return path.with_name(f"{path.stem}_{index:0{digits}}{path.suffix}")


def pictures_per_second(scene: Scene, options: argparse.Namespace) -> float:
    """``--fps``, or 30; the pictures of a scene with an animation are spread over it once."""
    if options.fps is None and scene.duration_s and options.frames > 1:
        return float(options.frames / scene.duration_s)
    return float(options.fps or 30.0)


def frame_of_turn(scene: Scene, index: int, options: argparse.Namespace) -> Frame:
    """Frame ``index``. Of several, the camera turns once about the scene; a scene with an animation keeps its camera."""
    camera = scene.camera() if options.frames > 1 and not scene.duration_s else None
    if camera is not None:
        camera.rotate(2 * math.pi * index / options.frames, 0.0)
    time = options.time + index / pictures_per_second(scene, options)
    return scene.frame(options.size, options.samples, camera=camera, time=time)


def as_picture(image: Any) -> Any:
    """An (H, W, C) array as a Pillow image of 8 bits."""
    import numpy as np
    from PIL import Image as Pillow

    from tilegpu.picture_file import eight_bits

    image = eight_bits(image)
    channels = image.shape[2]
    if channels == 1:
        image = image[..., 0]
    elif channels == 2:
        image = np.concatenate([image, np.zeros_like(image[..., :1])], axis=2)
    return Pillow.fromarray(np.ascontiguousarray(image))


def save_image(image: Any, path: Path) -> None:
    """Writes an (H, W, C) array in the format of the suffix; ``.npy`` and ``.exr`` take the numbers, all others 8 bits. Raises
    :class:`UsageError` where they don't fit, with what does."""
    import numpy as np

    from tilegpu import Error
    from tilegpu.picture_file import save_exr, save_picture, suffix_of

    try:
        suffix = suffix_of(path, "the picture")
        if suffix == ".npy":
            np.save(path, image)
        elif suffix == ".exr":
            save_exr(image, str(path), f"{path}")
        else:
            save_picture(as_picture(image), str(path), suffix, f"{path}")
    except Error as error:
        raise UsageError(str(error)) from None


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
    path = check_picture_path(options.output, (".mp4",))
    animated = path.suffix.lower() == ".mp4" or (options.frames > 1 and path.suffix.lower() in animation.SUFFIXES)
    if options.stats:
        check_output(options.stats, "--stats")
    scene = chosen_scene(options)
    from tilegpu.scene import DrawnFrame, SceneRenderer

    renderer = SceneRenderer(make_device(options))
    statistics: list[Any] = []
    times_ms: list[float] = []
    written: list[Path] = [path] if animated else []
    frame: Frame | None = None
    size, has = (0, 0), 0  # of the last picture: as large as it is, with as many samples as its passes had

    def drawn() -> Iterator[tuple[Frame, RenderResult]]:
        nonlocal size, has
        for index in progress(range(options.frames), options.frames, scene.name):
            frame = frame_of_turn(scene, index, options)
            if animated and index == 0:
                animation.check(path, frame.size, pictures_per_second(scene, options))
            start = time.perf_counter()
            result = renderer.render(frame)
            times_ms.append((time.perf_counter() - start) * 1e3)
            size, has = (result.images[0].shape[1], result.images[0].shape[0]), renderer.samples_of(frame)
            if options.stats:
                row = {"frame": index, "ms": times_ms[-1], "stats": as_plain(result.stats), "explain": as_plain(result.explain)}
                statistics.append(row)
            yield frame, result

    def pictures() -> Iterator[Any]:
        nonlocal frame
        for frame, result in drawn():  # noqa: B007
            yield as_picture(result.images[0])

    if animated:
        animation.write(path, pictures(), options.frames, pictures_per_second(scene, options))
    else:
        for index, (frame, result) in enumerate(drawn()):  # noqa: B007
            written += save_result(result, output_path(options.output, index, options.frames))
    if options.stats:
        text = json.dumps({"scene": scene.name, "frames": statistics}, indent=1) + "\n"
        Path(options.stats).write_text(text, encoding="utf-8")
    assert frame is not None
    for asked, drawn_as, word in ((options.size, size, "size"), (options.samples, has, "samples")):
        if asked is not None and drawn_as not in (0, asked) and not (word == "samples" and scene.fixed_samples):
            who = f"{scene.name}() was given {word}={asked}" if isinstance(frame, DrawnFrame) else f"asked for was {word} {asked}"
            print(f"warning: {who}; what was drawn has {drawn_as}", file=sys.stderr)
    print(summary(scene.name, frame, size, has, written, times_ms, animated))
    sys.stdout.flush()
    return EXIT_OK


def check_picture_path(output: str, more: tuple[str, ...] = (), option: str = "-o") -> Path:
    """The path of a picture that a command is going to write. Raises :class:`UsageError` for a folder that is not there, a file that may
    not be written, a suffix that is none of a picture's, nor one of ``more``."""
    from tilegpu import Error
    from tilegpu.picture_file import suffix_of

    path = check_output(output, option)
    if path.suffix.lower() not in more:
        try:
            suffix_of(path, "the picture")
        except Error as error:
            raise UsageError(f"{error}" + (f"; {', '.join(more)}" if more else "")) from None
    return path


def summary(
    name: str, frame: Frame, size_px: tuple[int, int], samples: int, written: list[Path], times_ms: list[float], animated: bool
) -> str:
    """What was written, and how long it took. ``samples``: 0 where nobody knows."""
    size = f"{size_px[0]}x{size_px[1]}" + (f", {samples} sample{'s' if samples > 1 else ''}" if samples else "")
    if len(times_ms) == 1:
        return f"{', '.join(map(str, written))}: {name}, {size}, {times_ms[0]:.1f} ms with compilation"
    rest = sorted(times_ms[1:])
    files = str(written[0]) if animated else f"{written[0]} to {written[-1].name}"
    only = f" of colour 0 of {len(frame.color_formats)}" if animated and len(frame.color_formats) > 1 else ""
    return (
        f"{files}: {name}, {size}, {len(times_ms)} frames{only}, {times_ms[0]:.1f} ms the first, "
        f"{rest[len(rest) // 2]:.1f} ms the median of the others"
    )
