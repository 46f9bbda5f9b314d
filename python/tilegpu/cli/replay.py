"""``tilegpu replay``: executes a capture (``rp.capture(path)``, ``dev.capture(path)``; of a Vulkan program
``TILEGPU_CAPTURE``), writes what it made."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from tilegpu.cli.common import EXIT_OK, UsageError, add_device_options, check_different, existing_capture, make_device
from tilegpu.cli.render import check_picture_path, save_image
from tilegpu.whole_file import whole_file


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("replay", help="draw a capture that was written to a file", description=__doc__)
    parser.add_argument("capture", metavar="FILE", help="what rp.capture(FILE), f.capture(FILE) of a frame, or dev.capture(FILE) wrote")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help=".png; .npy for the values as they are; .npz: all pictures, and the buffers that dispatches wrote",
    )
    add_device_options(parser)
    parser.set_defaults(run=run, profile=None)


def run(options: argparse.Namespace) -> int:
    """Draws, writes, says what it cost."""
    import tilegpu

    path = check_picture_path(options.output, (".npz",)) if options.output else None
    existing_capture(options.capture)
    check_different({"-o": path}, {"the replay": options.capture})
    profile = options.profile or tilegpu.capture_profile(options.capture)
    replay = make_device(options, profile).load_capture(options.capture)
    start = time.perf_counter()
    passes = replay.run()
    took_ms = (time.perf_counter() - start) * 1e3
    draws = sum(stats.draws for stats in passes)
    dispatches = f", {replay.dispatches} dispatch{'es' if replay.dispatches != 1 else ''}" if replay.dispatches else ""
    counts = f"{len(passes)} pass{'es' if len(passes) != 1 else ''}, {draws} draw{'s' if draws != 1 else ''}{dispatches}, {took_ms:.1f} ms"
    if path is None:
        print(f"{options.capture}: {counts}")
        return EXIT_OK
    pictures = replay.pictures
    if path.suffix.lower() == ".npz":
        arrays: dict[str, Any] = {f"picture{i}": picture for i, picture in enumerate(pictures)}
        arrays |= {f"buffer{i}": content for i, (_, content) in enumerate(replay.buffers)}
        with whole_file(path, "-o") as stream:
            np.savez(stream, **arrays)
        print(f"{path}: {counts}; " + ", ".join(f"{name} {array.shape}" for name, array in arrays.items()))
        return EXIT_OK
    if not pictures:
        raise UsageError(
            f"{options.capture} has no picture: no pass stores colour"
            + ("; write .npz for the buffers" if replay.buffers else "")
        )
    for i, picture in enumerate(pictures):
        target = path if i == 0 else path.with_name(f"{path.stem}.color{i}{path.suffix}")
        if picture.ndim == 4 and target.suffix.lower() != ".npy":
            raise UsageError(f"its picture has {picture.shape[2]} samples a pixel; write .npy for all of them")
        save_image(picture, target)
    print(f"{path}: {counts}")
    return EXIT_OK
