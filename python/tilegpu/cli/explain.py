"""``tilegpu explain``: what became of each draw of a scene's pass, technique by technique, and what it cost."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tilegpu.cli.common import EXIT_OK, UsageError, add_scene_options, as_plain, load_scene


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "explain", help="why hidden-surface removal was on or off for each draw of a scene", description=__doc__
    )
    add_scene_options(parser)
    parser.add_argument("--profile", default="host", metavar="P", help="the GPU to model (default: host)")
    parser.add_argument(
        "--hsr",
        default="default",
        metavar="T",
        help="default, off, all, or names with commas: visibility_buffer, pre_pass, ... (default: the profile's)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, with the pass's statistics")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Renders the scene once and prints the explanation."""
    import tilegpu
    from tilegpu.scene.render import SceneRenderer

    scene = load_scene(options.scene)
    choice = options.hsr.split(",") if options.hsr not in ("default", "off", "all") else options.hsr
    try:
        device = tilegpu.Device(profile=options.profile, hsr=choice)
    except tilegpu.ValidationError as error:
        raise UsageError(str(error)) from None
    result = SceneRenderer(device).render(scene.frame(options.size, options.samples))
    if options.json:
        print(
            json.dumps(
                {"scene": scene.name, "explain": as_plain(result.explain), "stats": as_plain(result.stats)}, indent=1
            )
        )
        return EXIT_OK
    print(result.explain)
    stats = result.stats
    print(
        f"fragments: {stats.fragments_rasterized:,} rasterized, {stats.fragments_early_killed:,} killed by early tests, "
        f"{stats.fragments_killed_by_prepass:,} by the pre-pass, {stats.fragments_killed_by_fpk:,} by forward pixel kill, "
        f"{stats.fragments_shaded:,} shaded"
    )
    return EXIT_OK
