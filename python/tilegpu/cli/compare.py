"""``tilegpu compare``: the same frame by tilegpu and by OpenGL (moderngl, EGL), and what differs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilegpu.cli.common import (
    EXIT_FAILED,
    EXIT_NO_REFERENCE,
    EXIT_OK,
    add_device_options,
    add_quiet_option,
    add_scene_options,
    chosen_scene,
    make_device,
)
from tilegpu.cli.render import save_image
from tilegpu.terminal import end_of_steps, step

if TYPE_CHECKING:
    from tilegpu.reference import Comparison, Findings
    from tilegpu.scene import Frame

_DESCRIPTION = """Renders the same frame with tilegpu and with OpenGL (moderngl over EGL; the shaders are translated from the same
SPIR-V) and compares. Exit code 0: within tolerance (inside at most 0.5 % of the covered pixels over 2/255 and none over 8/255 without a
proved reason; at geometry edges at most 2 %), 1: not, 3: there is no reference for it here. Reasons are found for each pixel: a depth tie,
an edge within a subpixel of a sample, or a colour that tilegpu has too when the picture is moved by a subpixel."""
_LISTED = 12


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser("compare", help="compare with OpenGL", description=_DESCRIPTION)
    add_scene_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIFF.png",
        help="write tilegpu's picture, the reference and the difference, amplified",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--driver-lod",
        action="store_true",
        help="let OpenGL choose mipmap levels by its driver's approximation (default: by the specification's formula)",
    )
    add_device_options(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def _text(found: Comparison) -> str:
    d = found.difference
    height, width = found.ours.shape[:2]
    lines = [
        f"covered           {d.covered_px} pixels ({d.covered_px / (width * height):.1%} of the picture), {d.edge_px} of them at edges",
        f"max difference    {d.max_diff * 255:.2f}/255   (inside {d.max_diff_inside * 255:.2f}/255)",
        f"RMS               {d.rms * 255:.3f}/255",
        f"over 2/255        {d.share_over_2:.4%} of the covered pixels",
        f"  inside          {d.share_over_2_inside:.4%} of the pixels inside; {d.over_8_inside_px} over 8/255",
        f"  at edges        {d.share_over_2_edges:.4%} of the covered pixels",
    ]
    if found.edges is None:
        lines.append("  (a kept reference has no edge mask: edges count as inside)")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Compares every colour attachment; prints the figures and the verdict."""
    from tilegpu.reference import ReferenceError, Tolerance, compare_frame, explained, side_by_side, stored, unavailable
    from tilegpu.scene import SceneRenderer

    scene = chosen_scene(options)
    frame = scene.frame(options.size, options.samples, time=options.time)
    missing = unavailable()
    kept = stored.find(scene.name, frame) if missing else None
    if missing and kept is None:
        return _no_reference(
            options,
            f"no OpenGL reference on this machine: {missing}; and none is kept for this scene, size and samples",
        )
    renderer = SceneRenderer(make_device(options))
    tolerance = Tolerance()
    findings = explained.Findings()
    try:
        step(f"{scene.name}: drawing")
        result = renderer.render(frame)
        if kept is not None:
            print(
                f"tilegpu compare: {missing}; comparing with a kept reference of {kept.provenance['renderer']}",
                file=sys.stderr,
            )
            found = [stored.compare(kept, frame, result.images)]
            tolerance = stored.TOLERANCE
        else:
            words = {"reference": "OpenGL draws", "edges": "edges"}
            found = compare_frame(frame, result.images, lambda name: step(f"{scene.name}: {words[name]}"), exact_lod=not options.driver_lod)
            step(f"{scene.name}: reasons of what differs")
            findings = explained.explain(renderer, frame, found)
    except ReferenceError as error:
        return _no_reference(options, f"scene '{scene.name}': the reference cannot draw this: {error}")
    finally:
        end_of_steps()
    if options.output:
        path = Path(options.output)
        for one in found:
            target = path if one.attachment == 0 else path.with_name(f"{path.stem}.color{one.attachment}{path.suffix}")
            save_image(side_by_side(one), target)
    failures = [
        (one.attachment, text)
        for one in found
        for text in tolerance.failures(one.difference, None if kept else findings.unexplained_px(one.attachment))
    ]
    if options.json:
        _print_json(scene.name, frame, found, findings, not failures)
        return EXIT_FAILED if failures else EXIT_OK
    print(
        f"{scene.name}, {frame.size[0]}x{frame.size[1]}, {frame.samples} sample(s), against {found[0].provenance['renderer']}"
    )
    for one in found:
        if len(found) > 1:
            print(f"colour {one.attachment} ({frame.color_formats[one.attachment]})")
        print(_text(one))
    for pixel in findings.pixels[:_LISTED]:
        where = f"colour {pixel.attachment}, " if len(found) > 1 else ""
        print(f"{where}pixel ({pixel.x}, {pixel.y}), {pixel.difference * 255:.0f}/255: {pixel.reason}: {pixel.detail}")
    if len(findings.pixels) > _LISTED:
        print(f"and {len(findings.pixels) - _LISTED} more pixels over 8/255 (--json lists them all)")
    for attachment, text in failures:
        print(f"over tolerance, colour {attachment}: {text}")
    if not failures:
        print("within tolerance")
    if options.output:
        print(f"pictures: {options.output}")
    return EXIT_FAILED if failures else EXIT_OK


def _print_json(name: str, frame: Frame, found: list[Comparison], findings: Findings, within: bool) -> None:
    """The figures of the worst attachment, all attachments if there are several, and every pixel over 8/255 inside."""
    worst = max(found, key=lambda one: (one.difference.share_over_2_inside, one.difference.max_diff))
    out: dict[str, Any] = {
        "scene": name,
        "size": list(frame.size),
        "samples": frame.samples,
        **worst.difference.as_dict(),
        "covered_share": worst.difference.covered_px / (frame.size[0] * frame.size[1]),
        "within_tolerance": within,
        "reasons": {str(one.attachment): findings.counts(one.attachment) for one in found},
        "pixels": [dataclasses.asdict(pixel) for pixel in findings.pixels],
        "reference": found[0].provenance,
    }
    if len(found) > 1:
        out["attachments"] = [one.difference.as_dict() for one in found]
    print(json.dumps(out))


def _no_reference(options: argparse.Namespace, reason: str) -> int:
    if options.json:
        print(json.dumps({"compared": False, "reason": reason}))
    print(f"tilegpu compare: {reason}", file=sys.stderr)
    return EXIT_NO_REFERENCE
