"""``tilegpu verify``: draws a share of a manifest's frames again, here, and compares hashes. Exit code 1: something differs, or a file of
what was drawn is missing among others."""

from __future__ import annotations

import argparse
from typing import Any

from tilegpu.cli.common import (
    EXIT_FAILED,
    EXIT_OK,
    LANE_COUNTS,
    UsageError,
    add_isolation_option,
    add_quiet_option,
    positive,
    progress,
    refuse,
)
from tilegpu.cli.farm import add_executor_options
from tilegpu.cli.render import frame_range


def share(text: str) -> float:
    """``"5%"`` or ``"0.05"`` as 0.05; for argparse."""
    number, percent = text.removesuffix("%"), text.endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"share is '{text}'; write a part of the frames above 0, such as 5% or 0.05, up to 100%")
    return value


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("verify", help="draw frames of a manifest again and compare", description=__doc__)
    parser.add_argument("manifest", metavar="M.json", help="what 'tilegpu render --executor ...' wrote")
    parser.add_argument("--share", type=share, default=1.0, metavar="P%", help="how much of it, chosen by chance (default: 100%%)")
    parser.add_argument("--frames", type=frame_range, metavar="A:B", help="of these frames alone")
    parser.add_argument("--seed", type=int, metavar="S", help="what chooses the share (default: by chance, and said)")
    parser.add_argument("--scene", metavar="SCENE|FILE", help="where the scene's file is here; a manifest's Python is run only so")
    parser.add_argument("--environment", metavar="SKY", help="where the environment's file is here")
    add_executor_options(parser, "threads")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of each worker (default: 1)")
    parser.add_argument("--lanes", type=int, choices=LANE_COUNTS, default=0, metavar="N", help="4, 8 or 16 (default: by CPU)")
    add_isolation_option(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draws and compares; says what differs."""
    from tilegpu.farm import FarmError, verify

    if options.share == 1:
        refuse(options, ("seed",), "all frames are drawn; give --share, of which it chooses")

    try:
        result = verify(
            options.manifest,
            options.share,
            options.frames,
            scene=options.scene,
            environment=options.environment,
            seed=options.seed,
            executor=options.executor,
            workers=options.workers,
            threads=options.threads,
            lanes=options.lanes,
            isolate_compiler=options.isolate_compiler,
            progress=progress,
        )
    except FarmError as error:
        raise UsageError(str(error)) from None
    print(result)
    return EXIT_OK if result.same else EXIT_FAILED
