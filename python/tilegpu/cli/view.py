"""``tilegpu view``: a scene or model in a window, turned with the mouse."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli.common import (
    EXIT_OK,
    UsageError,
    add_device_options,
    add_scene_options,
    check_different,
    chosen_scene,
    positive,
    read_by,
    scene_file,
    wants_isolation,
)
from tilegpu.cli.render import check_picture_path

if TYPE_CHECKING:
    from tilegpu.scene import Scene


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("view", help="show a scene or a model in a window", description=__doc__)
    add_scene_options(parser)
    add_device_options(parser)
    parser.add_argument("--frames", type=positive, default=0, metavar="N", help="close after N frames (default: stay open)")
    parser.add_argument("--screenshot", metavar="OUT.png", help="write what the window shows when it closes")
    parser.set_defaults(run=run)
    own_help = parser.format_help

    def with_keys() -> str:
        from tilegpu.viewer import help_text

        return f"{own_help()}\nkeys in the window:\n{help_text()}\n"

    parser.format_help = with_keys


def files_of(name: str) -> tuple[str, ...]:
    """The file that a scene's name on the command line stands for; none for a sample, which knows its own."""
    path = scene_file(name)
    return () if path is None else (str(path.resolve()),)


def read_again(options: argparse.Namespace) -> Scene:
    """The scene as its file is now. Raises what :func:`chosen_scene` raises, as an error that the window shows."""
    from tilegpu.scene import SceneFileError, load_file, scenes

    try:
        sample = scenes().get(options.scene)
        if sample is None:
            return chosen_scene(options)
        import inspect

        return load_file(Path(inspect.getsourcefile(type(sample)) or ""), sample.name)
    except UsageError as error:
        raise SceneFileError(str(error)) from None


def runs_at_once(scene: Scene, frames: int) -> bool:
    """Time runs from the beginning, as in :func:`tilegpu.show`: of a function that asks for it, where no number of frames is said."""
    from tilegpu.scene import FunctionScene

    return isinstance(scene, FunctionScene) and scene.moves and not frames


def run(options: argparse.Namespace) -> int:
    """Opens the window and stays until it is closed."""
    from tilegpu.viewer import view

    if options.screenshot:
        check_picture_path(options.screenshot, option="--screenshot")
        check_different({"--screenshot": options.screenshot}, read_by(options))
    scene = chosen_scene(options)
    runs = runs_at_once(scene, options.frames)
    view(
        scene,
        size=options.size,
        samples=options.samples,
        profile=options.profile,
        threads=options.threads,
        lanes=options.lanes,
        isolate_compiler=wants_isolation(options),
        max_frames=options.frames,
        screenshot=options.screenshot,
        start_time=options.time,
        spin=runs,
        turns=not runs,  # it has a time of its own
        reload=lambda: read_again(options),
        scene_files=files_of(options.scene),
    )
    return EXIT_OK
