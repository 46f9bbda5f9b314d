"""``tilegpu scenes``: what there is to draw."""

from __future__ import annotations

import argparse
from typing import Any

from tilegpu.cli.common import EXIT_OK


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "scenes", help="list the scenes", description="Lists the scenes, with size, samples and content."
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Prints one line for each scene."""
    from tilegpu.scene import scenes

    table = scenes()
    width = max(len(name) for name in table)
    for name, scene in table.items():
        size = f"{scene.default_size[0]}x{scene.default_size[1]}"
        print(f"{name:{width}}  {size:>9}  {scene.default_samples:2}x  {scene.description}")
    return EXIT_OK
