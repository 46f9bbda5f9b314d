"""``tilegpu explain``: what became of each draw of a scene's pass, technique by technique, and what it cost."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli.common import (
    EXIT_OK,
    UsageError,
    add_isolation_option,
    add_quiet_option,
    add_scene_options,
    as_plain,
    capture_of,
    check_device_used,
    check_different,
    check_output,
    chosen_scene,
    is_capture,
    make_device,
    progress,
    read_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilegpu import Device, RenderPass


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "explain", help="why hidden-surface removal was on or off for each draw of a scene", description=__doc__
    )
    add_scene_options(parser, captures=True)
    parser.add_argument("--profile", default="host", metavar="P", help="the GPU to model (default: host)")
    parser.add_argument(
        "--hsr",
        default="default",
        metavar="T",
        help="default, off, all, or names with commas: visibility_buffer, pre_pass, ... (default: the profile's)",
    )
    parser.add_argument(
        "--pixel",
        action="append",
        type=parse_pixel,
        metavar="X,Y[,S]",
        help="the history of a pixel, or of its sample S: every fragment that reached it in the last pass; may be repeated. "
        "In place of the table of draws, as --heatmaps and --report are (the table is what is printed without the three)",
    )
    parser.add_argument(
        "--heatmaps",
        metavar="DIR",
        help="writes overdraw, shaded, killed by whom, ... there, as PNG with a legend; of several passes in a folder each. "
        "In place of the table of draws",
    )
    parser.add_argument(
        "--report",
        metavar="OUT.html",
        help="writes one page: passes and what flows between them, bytes, lint, tiles, profiles side by side. "
        "In place of the table of draws, "
        "which is in the page",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, with the pass's statistics")
    add_isolation_option(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Renders the scene once and prints the explanation."""
    import tilegpu
    from tilegpu.scene import SceneRenderer

    if is_capture(options.scene):
        return explain_capture(options)
    if options.report:
        check_output(options.report, "--report", content="HTML pages")
        check_different({"--report": options.report}, read_by(options))
    if options.heatmaps:
        check_output(options.heatmaps, "--heatmaps", folder=True)
    scene = chosen_scene(options)
    device = device_of(options)
    renderer = SceneRenderer(device)
    frame = device.frame(scene.name)
    frame.takes_inner = True
    with frame:
        made = scene.frame(options.size, options.samples, time=options.time)
        result = renderer.render(made)
    check_device_used(options, made)
    if options.report:
        frame.report(options.report)
        if not options.json:
            print(f"{options.report}: {len(frame.passes)} pass{'es' if len(frame.passes) != 1 else ''}, {len(frame.lint())} to look at")
        if not (options.pixel or options.heatmaps or options.json):
            return EXIT_OK
    render_pass = renderer.render_pass
    try:
        histories = [render_pass.why(*pixel) for pixel in options.pixel or ()]
        written = write_all_heatmaps(renderer.passes, Path(options.heatmaps)) if options.heatmaps else []
        costs = result.explain.costs if options.json else []
    except tilegpu.ValidationError as error:
        raise UsageError(str(error)) from None
    if options.json:
        print(
            json.dumps(
                {
                    "scene": scene.name,
                    "explain": as_plain(result.explain),
                    "costs": as_plain(costs),
                    "stats": as_plain(result.stats),
                    "pixels": [as_plain(dataclasses.asdict(h)) for h in histories],
                    "heatmaps": written,
                    "report": options.report,
                },
                indent=1,
            )
        )
        return EXIT_OK
    if histories:
        print("\n".join([*map(str, histories), *written]))
        return EXIT_OK
    print(result.explain)
    stats = result.stats
    print(
        f"fragments: {stats.fragments_rasterized:,} rasterized, {stats.fragments_early_killed:,} killed by early tests, "
        f"{stats.fragments_killed_by_prepass:,} by the pre-pass, {stats.fragments_killed_by_fpk:,} by forward pixel kill, "
        f"{stats.fragments_shaded:,} shaded"
    )
    if written:
        print("\n".join(written))
    return EXIT_OK


def device_of(options: argparse.Namespace) -> Device:
    """A device of the profile, with the techniques that ``--hsr`` names. Raises :class:`UsageError` for what there is not."""
    import tilegpu

    choice = options.hsr.split(",") if options.hsr not in ("default", "off", "all") else options.hsr
    try:
        return make_device(options, hsr=choice)
    except tilegpu.ValidationError as error:
        raise UsageError(str(error)) from None


def explain_capture(options: argparse.Namespace) -> int:
    """Draws a capture once, and prints of each pass what became of its draws and what it pays without need."""
    path = capture_of(options)
    for name in ("pixel", "heatmaps", "report"):
        if getattr(options, name):
            raise UsageError(f"--{name}: '{path}' is a capture, whose passes have no traces; give a scene, or a program's own frame")
    replay = device_of(options).load_capture(path)
    stats = replay.run()
    explanations, findings = replay.explain(), replay.lint()
    if options.json:
        passes = [
            {"pass": e.label, "explain": as_plain(e), "stats": as_plain(s)} for e, s in zip(explanations, stats, strict=True)
        ]
        print(json.dumps({"capture": str(path), "passes": passes, "lint": findings}, indent=1))
        return EXIT_OK
    print("\n".join([*map(str, explanations), *findings]))
    return EXIT_OK


def parse_pixel(text: str) -> tuple[int, ...]:
    """``X,Y`` or ``X,Y,SAMPLE``."""
    parts = text.split(",")
    if len(parts) not in (2, 3) or not all(p.isdecimal() for p in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is no pixel; write X,Y or X,Y,SAMPLE")
    return tuple(map(int, parts))


def write_all_heatmaps(passes: Sequence[RenderPass], directory: Path) -> list[str]:
    """Of a frame of several passes, each in a folder of its own, by number and name."""
    if len(passes) == 1:
        return write_heatmaps(passes[0], directory)
    lines: list[str] = []
    for number, one in enumerate(passes):
        safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in one.label)
        lines += write_heatmaps(one, directory / f"{number}_{safe}")
    return lines


def write_heatmaps(render_pass: RenderPass, directory: Path) -> list[str]:
    """The maps of a pass as PNG: at the top left one pixel for each of the framebuffer's, below it the legend; a line for each file."""
    from tilegpu.history import HEATMAPS, KILLERS, PICTURE_NAMES
    from tilegpu.legend import killers_with_legend, map_with_legend, title_of
    from tilegpu.picture_file import save_to

    directory.mkdir(parents=True, exist_ok=True)
    maps = {kind: render_pass.heatmap(kind) for kind in progress(HEATMAPS, len(HEATMAPS), f"heatmaps of {render_pass.label}")}
    lines = []

    def write(name: str, picture: Any, text: str) -> None:
        path = directory / f"{name}.png"
        save_to(picture, path, "the heatmap")
        lines.append(f"{path}: {text}")

    for kind, values in maps.items():
        if values.any():
            name = PICTURE_NAMES.get(kind, kind)
            write(name, map_with_legend(kind, values), title_of(kind, values))
    colours = ", ".join(f"{name} #{r:02x}{g:02x}{b:02x}" for name, (r, g, b) in KILLERS.items())
    write("killed_by", killers_with_legend(maps), f"who killed fragments: {colours}")
    return lines
