"""``tilegpu what-if``: the same frame on every modelled GPU side by side, and the changes that would help, each with what it saves."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli.common import (
    EXIT_OK,
    UsageError,
    add_isolation_option,
    add_quiet_option,
    add_scene_options,
    capture_of,
    chosen_scene,
    is_capture,
    make_device,
    progress,
    wants_isolation,
)

if TYPE_CHECKING:
    from tilegpu.frame_profiles import ProfileRun


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "what-if", help="the same frame on all modelled GPUs side by side, and what would make it cheaper", description=__doc__
    )
    add_scene_options(parser, captures=True)
    parser.add_argument(
        "--profile", action="append", metavar="P", help="only this one; may be repeated (default: all that have a cost model)"
    )
    add_isolation_option(parser)
    parser.add_argument("--json", action="store_true", help="as JSON, with operations and bytes by cause, pass by pass")
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draws once, runs what was drawn on each profile, prints."""
    from tilegpu.cost_constants import CONSTANTS
    from tilegpu.frame_costs import comparison
    from tilegpu.frame_orders import run_with_orders
    from tilegpu.frame_profiles import options_of

    profiles = options.profile or list(CONSTANTS)
    for name in profiles:
        if name not in CONSTANTS:
            why = " (host is this computer: it is measured, not modelled)" if name == "host" else ""
            raise UsageError(f"--profile {name}: it has no cost model{why}; there are {', '.join(CONSTANTS)}")
    made = options_of(wants_isolation(options))
    with tempfile.TemporaryDirectory(prefix="tilegpu-what-if-") as folder:
        capture, title, known = _captured(options, Path(folder))
        runs: list[ProfileRun] = [
            run_with_orders(capture, name, options=made) for name in progress(profiles, len(profiles), "what-if")
        ]
    found = comparison(title, runs, *known)
    print(json.dumps(found.asdict(), indent=1) if options.json else found)
    return EXIT_OK


def _captured(options: argparse.Namespace, folder: Path) -> tuple[Path, str, tuple[Any, ...]]:
    """A capture of what is asked for, its name, and what its frame knows across passes (of a capture: nothing): what costs without need,
    its nodes, what nobody reads, what it is drawn for, and the profile that drew it."""
    if is_capture(options.scene):
        path = capture_of(options)
        return path, path.name, ()
    from tilegpu.scene import SceneRenderer

    scene = chosen_scene(options)
    device = make_device(options, "host")
    frame = device.frame(scene.name)
    frame.takes_inner = True
    with frame:
        SceneRenderer(device).render(scene.frame(options.size, options.samples, time=options.time))
    if not frame.passes:
        raise UsageError(f"'{options.scene}' has no render pass; there is nothing to compare")
    path = folder / "frame.tgcap"
    frame.capture(path)
    return path, scene.name, (frame._findings(), frame.nodes, frame.unread, frame.outputs, device.profile)
