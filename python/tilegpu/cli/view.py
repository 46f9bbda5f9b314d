"""``tilegpu view``: a scene or model in a window, turned with the mouse."""

from __future__ import annotations

import argparse
from typing import Any

from tilegpu.cli.common import EXIT_OK, add_device_options, add_scene_options, chosen_scene

_KEYS = """keys: drag: turn; right or middle drag, shift+drag: move; wheel: zoom; M: samples; P: GPU profile; W: wireframe;
S: screenshot; R: camera home; space: pause; Q or Escape: quit"""


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("view", help="show a scene or a model in a window", description=__doc__, epilog=_KEYS)
    add_scene_options(parser)
    add_device_options(parser)
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="close after N frames (default: stay open)")
    parser.add_argument("--screenshot", metavar="OUT.png", help="write what the window shows when it closes")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Opens the window and stays until it is closed."""
    from tilegpu.viewer import view

    view(
        chosen_scene(options),
        size=options.size,
        samples=options.samples,
        profile=options.profile,
        threads=options.threads,
        lanes=options.lanes,
        max_frames=options.frames,
        screenshot=options.screenshot,
        start_time=options.time,
    )
    return EXIT_OK
