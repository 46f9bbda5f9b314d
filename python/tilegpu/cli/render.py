"""``tilegpu render``: a scene or model to a picture, to one for each frame of a turn of the camera, or to a GIF, WebP or MP4 of them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli import animation, farm
from tilegpu.cli.common import (
    EXIT_OK,
    UsageError,
    add_device_options,
    add_quiet_option,
    add_scene_options,
    as_plain,
    check_device_used,
    check_different,
    check_output,
    chosen_scene,
    make_device,
    positive,
    progress,
    read_by,
    refuse,
)
from tilegpu.whole_file import write_whole

if TYPE_CHECKING:
    from tilegpu.farm import Job
    from tilegpu.scene import Frame, RenderResult, Scene


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("render", help="render a scene or a model to a file", description=__doc__)
    add_scene_options(parser, farm.parse_large_size)
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
        type=frame_range,
        metavar="N|A:B",
        help="N pictures of one turn of the camera, or of a model's animation: OUT gets the number before its suffix, or is a .gif, "
        ".webp or .mp4 of them all; A:B: those from number A to B - 1",
    )
    parser.add_argument(
        "--of", type=positive, metavar="N", help="how many the whole turn or animation has, of which --frames names some (default: B)"
    )
    parser.add_argument(
        "--fps",
        type=positive,
        metavar="F",
        help="pictures for each second of time (default: 30; those of a model's animation are spread over it)",
    )
    add_quiet_option(parser)
    parser.add_argument("--stats", metavar="S.json", help="write statistics of every frame")
    farm.add_options(parser)
    parser.set_defaults(run=run)


def frame_range(text: str) -> range:
    """``"120"`` as the numbers 0 to 119, ``"40:80"`` as 40 to 79; for argparse."""
    first, _, end = text.partition(":") if ":" in text else ("0", "", text)
    if ":" in end:
        raise argparse.ArgumentTypeError(f"'{text}' has steps, which frames of a turn have not; write FIRST:END, such as 0:1000")
    if not (text.isascii() and first.isdecimal() and end.isdecimal() and int(first) < int(end) <= 10**7):
        raise argparse.ArgumentTypeError(f"'{text}' names no frames; write a number of at least 1, or FIRST:END, such as 0:1000")
    return range(int(first), int(end))


def whole_of(options: argparse.Namespace) -> int:
    """How many frames the whole has. Raises :class:`UsageError` where a part is named and the whole is not, or is less."""
    refuse(options, () if options.frames else ("of",), "--frames says which frames are drawn; give it too")
    numbers, of = options.frames or range(1), options.of
    options.frames = numbers
    if of is None and numbers.start > 0:
        raise UsageError(f"--frames {numbers.start}:{numbers.stop}: of how many? Give the whole turn or animation: --of N")
    if of is not None and of < numbers.stop:
        raise UsageError(f"--of {of}: --frames goes on to {numbers.stop - 1}; the whole has at least {numbers.stop}")
    return int(of or numbers.stop)


def _check_frames(options: argparse.Namespace, scene: Scene, of: int, animated: bool) -> None:
    """Warns of frames that are all alike; raises :class:`UsageError` for a rate that nothing goes by."""
    from tilegpu.farm import why_alike

    if (alike := why_alike(scene, of)) and not farm.is_wanted(options):  # workers' coordinator says it itself
        print(f"warning: --frames: {alike}", file=sys.stderr)
    if not animated and not (of > 1 and scene.moves):
        what = "one picture is drawn; give --frames" if of == 1 else f"{scene.name} is turned, frame by frame, and pictures have no rate"
        refuse(options, ("fps",), what)


def job_of_options(options: argparse.Namespace, of: int) -> Job:
    """What the options ask for, as plain data."""
    from tilegpu.farm import Job

    return Job(
        options.scene,
        size=options.size,
        samples=options.samples,
        of=of,
        fps=options.fps,
        time=options.time,
        animation=options.animation,
        camera=options.camera,
        lights=options.lights,
        exposure=options.exposure,
        environment=options.environment,
        profile=options.profile,
        tile=options.tile,
        isolate_compiler=options.isolate_compiler,
    )


def _check_number(options: argparse.Namespace, of: int, animated: bool) -> None:
    """Raises :class:`UsageError` for a pattern of C's, which would stand in the name beside the number."""
    from tilegpu.farm import number_problem

    if not animated and (problem := number_problem(options.output, of)):
        raise UsageError(f"-o {problem}")


def _check_paths(options: argparse.Namespace, path: Path, of: int, animated: bool) -> None:
    """Raises :class:`UsageError` where one file would be written twice, or one that is read."""
    from tilegpu.farm import is_picture_of

    others = {"--stats": options.stats, "--manifest": options.manifest}
    if animated or of == 1:
        check_different({"-o": path, **others}, read_by(options))
    else:
        check_different(others, read_by(options))
    for option, other in ({} if animated else {**others, **read_by(options)}).items():
        if other and is_picture_of(other, path, options.frames, of):
            raise UsageError(f"-o {path}: {option} {other} has the name of one of its pictures; give each a path of its own")


def save_image(image: Any, path: Path) -> None:
    """Writes an (H, W, C) array in the format of the suffix; ``.npy`` and ``.exr`` take the numbers, all others 8 bits. Raises
    :class:`UsageError` where they don't fit, with what does."""
    from tilegpu import Error
    from tilegpu.farm import encoded
    from tilegpu.picture_file import suffix_of

    try:
        data = encoded(image, suffix_of(path, "the picture"), f"{path}")
    except Error as error:
        raise UsageError(str(error)) from None
    write_whole(path, data, "the picture")


def save_result(result: RenderResult, path: Path) -> list[Path]:
    """Colour 0 goes to ``path``, the others beside it."""
    from tilegpu.farm import color_path

    paths = [color_path(path, k) for k in range(len(result.images))]
    for image, target in zip(result.images, paths, strict=True):
        save_image(image, target)
    return paths


def run(options: argparse.Namespace) -> int:
    """Renders and writes; says where, and how long a frame took."""
    path = check_picture_path(options.output, (".mp4",))
    if path.suffix.lower() == ".mp4" and options.frames is None:
        raise UsageError(f"-o {options.output}: one picture is no film; give --frames N, or write .png")
    of, numbers = whole_of(options), options.frames
    animated = path.suffix.lower() == ".mp4" or (len(numbers) > 1 and path.suffix.lower() in animation.SUFFIXES)
    _check_number(options, of, animated)
    _check_paths(options, path, of, animated)
    for option, other in (("--stats", options.stats), ("--manifest", options.manifest)):
        if other:
            check_output(other, option, content="JSON")
    scene = chosen_scene(options)
    _check_frames(options, scene, of, animated)
    from tilegpu.farm import frame_of, output_path, pictures_per_second
    from tilegpu.scene import DrawnFrame, SceneRenderer

    job = job_of_options(options, of)
    fps = pictures_per_second(scene, of, options.fps)
    if farm.is_wanted(options):
        return farm.render_frames(options, job, scene, path, fps if animated else None)
    renderer = SceneRenderer(make_device(options))
    statistics: list[Any] = []
    times_ms: list[float] = []
    written: list[Path] = [path] if animated else []
    frame: Frame | None = None
    size, has = (0, 0), 0  # of the last picture: as large as it is, with as many samples as its passes had

    def drawn() -> Iterator[tuple[Frame, RenderResult]]:
        nonlocal size, has
        for index in progress(numbers, len(numbers), scene.name):
            frame = frame_of(scene, job, index)
            if animated and index == numbers[0]:
                animation.check(path, frame.size, fps)
            start = time.perf_counter()
            result = renderer.render(frame)
            if index == numbers[0]:
                check_device_used(options, frame)
            times_ms.append((time.perf_counter() - start) * 1e3)
            picture = result.picture_of(frame)
            size, has = (picture.shape[1], picture.shape[0]), renderer.samples_of(frame)
            if isinstance(frame, DrawnFrame) and path.suffix.lower() not in (".npy", ".exr"):
                frame.say_clamped()
            if options.stats:
                row = {"frame": index, "ms": times_ms[-1], "stats": as_plain(result.stats), "explain": as_plain(result.explain)}
                statistics.append(row)
            yield frame, result

    def pictures() -> Iterator[Any]:
        nonlocal frame
        from tilegpu.farm import as_picture

        for frame, result in drawn():  # noqa: B007
            yield as_picture(result.images[0])

    if animated:
        animation.write(path, pictures(), len(numbers), fps, where_of(scene), numbers[0])
    else:
        for index, (frame, result) in zip(numbers, drawn(), strict=True):  # noqa: B007
            written += save_result(result, output_path(options.output, index, of))
    if options.stats:
        text = json.dumps({"scene": scene.name, "frames": statistics}, indent=1) + "\n"
        write_whole(options.stats, text, "--stats")
    assert frame is not None
    for asked, drawn_as, word in ((options.size, size, "size"), (options.samples, has, "samples")):
        turned = isinstance(frame, DrawnFrame) and frame.live.turned and word == "size"  # told by the function's picture
        if asked is not None and drawn_as not in (0, asked) and not turned and not (word == "samples" and scene.fixed_samples):
            who = f"{scene.name}() was given {word}={asked}" if isinstance(frame, DrawnFrame) else f"asked for was {word} {asked}"
            print(f"warning: {who}; what was drawn has {drawn_as}", file=sys.stderr)
    print(summary(scene.name, frame, size, has, written, times_ms, animated))
    sys.stdout.flush()
    return EXIT_OK


def where_of(scene: Scene) -> str:
    """Who makes its pictures, for messages: of a user's function file, line and name."""
    from tilegpu.scene import FunctionScene

    return scene.where if isinstance(scene, FunctionScene) else f"scene {scene.name}"


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
