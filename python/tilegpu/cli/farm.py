"""``tilegpu render`` on many workers: its options, and what is said of a run. In: options. Out: files, films, manifests."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli import animation
from tilegpu.cli.common import EXIT_OK, UsageError, parse_size, positive, progress
from tilegpu.cli.signals import tell

if TYPE_CHECKING:
    from tilegpu.farm import Job, Run
    from tilegpu.scene import Scene

#: Sides of images end at 16,384 px, those of pictures of tiles here.
_MOST_PX = 65534
_MOST_WHOLE_PX = 16384


def parse_large_size(text: str) -> tuple[int, int]:
    """A size, up to what is drawn in tiles; for argparse."""
    return parse_size(text, _MOST_PX)


def tile_side(text: str) -> int:
    """A multiple of 64, at most 16384; for argparse."""
    if not text.isdecimal() or not 64 <= int(text) <= _MOST_WHOLE_PX or int(text) % 64:
        raise argparse.ArgumentTypeError(f"tile is '{text}'; it must be a multiple of 64 px, at most {_MOST_WHOLE_PX}")
    return int(text)


def add_executor_options(parser: argparse._ActionsContainer, default: str | None) -> None:
    """``--executor`` and ``--workers``."""
    parser.add_argument(
        "--executor",
        default=default,
        metavar="E",
        help="who draws: processes, threads, dask://ADDRESS, or MODULE:FUNCTION, which returns a concurrent.futures executor"
        + (f" (default: {default})" if default else ""),
    )
    parser.add_argument("--workers", type=positive, metavar="N", help="processes or threads (default: the CPUs that this process may use)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of ``render``."""
    about = "frames, or tiles of a large picture, drawn by several at once, with a manifest of hashes"
    group = parser.add_argument_group("many workers", about)
    add_executor_options(group, None)
    group.add_argument(
        "--manifest",
        metavar="M.json",
        help="hashes of every frame, which 'tilegpu verify' proves (default with --executor: NAME.manifest.json beside OUT); a run that "
        "was interrupted goes on from it",
    )
    group.add_argument("--restart", action="store_true", help="draw frames anew that the manifest has")
    group.add_argument(
        "--tile", type=tile_side, metavar="PX", help="draw in tiles of so many pixels a side (default above 16384 px: 4096); .png or .npy"
    )


def is_wanted(options: argparse.Namespace) -> bool:
    """Whether something is asked for that only workers do."""
    large = options.size is not None and max(options.size) > _MOST_WHOLE_PX
    return bool(options.executor or options.workers or options.manifest or options.restart or options.tile or large)


def render_frames(options: argparse.Namespace, job: Job, scene: Scene, path: Path, fps: float | None) -> int:
    """Draws, and says what was done. ``fps``: of a film; ``None``: pictures."""
    from tilegpu.farm import FarmError, render

    if options.stats:
        raise UsageError("--stats: workers send pictures and hashes alone; draw without --executor, --manifest and --tile for statistics")
    common: dict[str, Any] = {
        "executor": options.executor or "processes",
        "workers": options.workers,
        "threads": options.threads or 1,
        "lanes": options.lanes or 0,
        "progress": progress,
    }
    try:
        if fps is not None:
            run = _film(options, job, path, fps, common)
            print(f"{path}: {scene.name}, {run.size_px[0]}x{run.size_px[1]}, {run}")
            return EXIT_OK
        run = render(job, path, options.frames, manifest=options.manifest, restart=options.restart, **common)
    except FarmError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        if fps is None:
            tell("what is done is kept: the same command goes on from there")
        raise
    for failure in run.failures:
        print(f"warning: frame {failure.index} was drawn again: {failure.worker}: {failure.error}", file=sys.stderr)
    files = str(run.files[0]) if len(run.files) == 1 else f"{run.files[0]} to {run.files[-1].name}"
    print(f"{files}: {scene.name}, {run.size_px[0]}x{run.size_px[1]}, {run}; {run.manifest}")
    sys.stdout.flush()
    return EXIT_OK


def _film(options: argparse.Namespace, job: Job, path: Path, fps: float, common: dict[str, Any]) -> Run:
    """All frames in one file, as they come."""
    from PIL import Image as Pillow

    from tilegpu.farm import Run, pictures

    if options.manifest or options.restart:
        raise UsageError(f"{path}: a film has no manifest, since it can't go on where it was interrupted; render pictures (.png) for one")
    run = Run(None)

    def each() -> Iterator[Any]:
        for k, (_, images) in enumerate(pictures(job, options.frames, eight_bits=True, run=run, **common)):
            if k == 0:
                animation.check(path, (images[0].shape[1], images[0].shape[0]), fps)
            yield Pillow.fromarray(images[0])

    animation.write(path, each(), len(options.frames), fps, f"scene {job.scene}", options.frames[0])
    return run
