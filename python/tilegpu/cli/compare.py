"""``tilegpu compare``: the same frame by tilegpu and by OpenGL (moderngl, EGL), or a picture that the user names, and what differs."""

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
    UsageError,
    add_device_options,
    add_quiet_option,
    add_scene_options,
    check_device_used,
    check_different,
    chosen_scene,
    existing_capture,
    is_capture,
    load_scene,
    make_device,
    read_by,
    refuse,
    scene_file,
)
from tilegpu.cli.render import check_picture_path, save_image
from tilegpu.terminal import end_of_steps, step

if TYPE_CHECKING:
    from tilegpu.reference import Comparison, Findings
    from tilegpu.scene import Frame, Scene

_DESCRIPTION = """Renders the same frame with tilegpu and with OpenGL (moderngl over EGL; the shaders are translated from the same
SPIR-V) and compares. Exit code 0: within tolerance (inside at most 0.5 % of the covered pixels over 2/255 and none over 8/255 without a
proved reason; at geometry edges at most 2 %), 1: not, 3: there is no reference for it here. Reasons are found for each pixel: a depth tie,
an edge within a subpixel of a sample, or a colour that tilegpu has too when the picture is moved by a subpixel. With --reference the
picture is compared with a file, or with what another function returns: a function of yours, which OpenGL can't draw, needs one. Then
nobody knows where edges are, and they count as inside: at most 2 % of the covered pixels over 2/255."""
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
    parser.add_argument(
        "--reference",
        metavar="PICTURE|FILE.py:NAME",
        help="compare with this in place of OpenGL: a picture (.png, .exr, .hdr, .npy, ...), or a function that returns one or an array",
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
        lines.append("  (of this reference no edges are known: they count as inside)")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Compares every colour attachment; prints the figures and the verdict."""
    from tilegpu.farm import color_path
    from tilegpu.reference import Tolerance, stored

    if options.output:
        path = check_picture_path(options.output)
        read = {**read_by(options), "--reference": scene_file(options.reference or "")}
        check_different({"-o": path}, read)
    scene = chosen_scene(options)
    found: list[Comparison]
    if options.reference is not None:
        refuse(options, ("driver_lod",), "--reference takes OpenGL's place; leave one of them out")
        frame, found, findings = _beside_a_given(options, scene)
        tolerance, proved = stored.TOLERANCE, False
    else:
        outcome = _beside_opengl(options, scene)
        if isinstance(outcome, str):
            return _no_reference(options, outcome)
        frame, found, findings = outcome
        proved = any(one.edges is not None for one in found)
        tolerance = Tolerance() if proved else stored.TOLERANCE
    if options.output:
        from tilegpu.reference import side_by_side

        path = Path(options.output)
        for one in found:
            save_image(side_by_side(one), color_path(path, one.attachment))
    failures = [
        (one.attachment, text)
        for one in found
        for text in tolerance.failures(one.difference, findings.unexplained_px(one.attachment) if proved else None)
    ]
    if options.json:
        _print_json(scene.name, frame, found, findings, not failures)
        return EXIT_FAILED if failures else EXIT_OK
    _print_text(options, scene.name, frame, found, findings)
    for attachment, text in failures:
        print(f"over tolerance, colour {attachment}: {text}")
    if not failures:
        print("within tolerance")
    if options.output:
        print(f"pictures: {options.output}")
    return EXIT_FAILED if failures else EXIT_OK


def _beside_opengl(options: argparse.Namespace, scene: Scene) -> tuple[Frame, list[Comparison], Findings] | str:
    """The frame by OpenGL, or by a picture that it made earlier; or why there is no reference."""
    from tilegpu.reference import ReferenceError, compare_frame, explained, stored, unavailable
    from tilegpu.scene import DrawnFrame, Frame, SceneRenderer

    frame = scene.frame(options.size, options.samples, time=options.time)
    renderer = SceneRenderer(make_device(options))
    try:
        step(f"{scene.name}: drawing")
        if isinstance(frame, DrawnFrame):
            renderer.render(frame, read=False)
            if not isinstance(frame.live.returned, Frame):
                return (
                    f"the picture is drawn by the function {scene.name}(), which OpenGL can't do; say what it should be: --reference "
                    "PICTURE (.png, .exr, .hdr, .npy, ...), or --reference FILE.py:NAME, a function that returns it, an image or an array "
                    "(drawn with moderngl, say); or return a tilegpu.scene.Frame, which OpenGL draws"
                )
            frame = frame.live.returned
        missing = unavailable()
        kept = stored.find(scene.name, frame) if missing else None
        if missing and kept is None:
            return f"no OpenGL reference on this machine: {missing}; and none is kept for this scene, size and samples"
        result = renderer.render(frame)
        if kept is not None:
            print(f"tilegpu compare: {missing}; comparing with a kept reference of {kept.provenance['renderer']}", file=sys.stderr)
            return frame, [stored.compare(kept, frame, result.images)], explained.Findings()
        words = {"reference": "OpenGL draws", "edges": "edges"}
        found = compare_frame(frame, result.images, lambda name: step(f"{scene.name}: {words[name]}"), exact_lod=not options.driver_lod)
        step(f"{scene.name}: reasons of what differs")
        return frame, found, explained.explain(renderer, frame, found)
    except ReferenceError as error:
        return f"scene '{scene.name}': the reference cannot draw this: {error}"
    finally:
        end_of_steps()


def _beside_a_given(options: argparse.Namespace, scene: Scene) -> tuple[Frame, list[Comparison], Findings]:
    """The picture beside what ``--reference`` names. Raises :class:`UsageError` for what can't be compared."""
    from tilegpu.reference import Findings, given

    named = f"reference '{options.reference}'"
    try:
        if Path(options.reference).suffix.lower() in given.PICTURE_SUFFIXES:
            pictures = [given.read_reference(options.reference)]
            size = options.size
            if size is None and takes_size(scene):
                size = pictures[0].shape[1], pictures[0].shape[0]
            frame, ours = _drawn(options, scene, size)
            ours = ours[:1]
        else:
            if options.reference == options.scene:
                raise UsageError(f"{named}: is the scene itself, which is equal to itself; name a picture, or another scene or function")
            if is_capture(options.reference):
                writes = f"tilegpu replay {existing_capture(options.reference)} -o PICTURE.npy writes what can be compared with"
                raise UsageError(f"{named}: is a capture; {writes}")
            other = load_scene(options.reference)
            frame, ours = _drawn(options, scene, options.size)
            size = (ours[0].shape[1], ours[0].shape[0]) if takes_size(other) else None
            _, pictures = _drawn(options, other, size, options.reference)
        if len(pictures) != len(ours):
            raise UsageError(f"{named}: has {len(pictures)} pictures, {scene.name} {len(ours)}; they must be as many")
        return frame, [given.compare(a, b, k, named) for k, (a, b) in enumerate(zip(ours, pictures, strict=True))], Findings()
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        end_of_steps()


def takes_size(scene: Scene) -> bool:
    """Whether a scene draws at the size that it is asked for."""
    from tilegpu.scene import FrameScene, FunctionScene

    if isinstance(scene, FunctionScene):
        return bool({"size", "view"} & set(scene.parameters))
    return not isinstance(scene, FrameScene)


def _drawn(
    options: argparse.Namespace, scene: Scene, size: tuple[int, int] | None, source: str | None = None
) -> tuple[Frame, list[Any]]:
    """The frame and its colour images. ``source``: the scene's name, if it is not the command's."""
    from tilegpu.scene import SceneRenderer

    step(f"{scene.name}: drawing")
    frame = scene.frame(size, options.samples, time=options.time)
    images = SceneRenderer(make_device(options, source=source)).render(frame).images
    if source is None:  # a reference may be drawn by whatever it likes
        check_device_used(options, frame)
    return frame, images


def _print_text(options: argparse.Namespace, name: str, frame: Frame, found: list[Comparison], findings: Findings) -> None:
    height, width = found[0].ours.shape[:2]
    samples = "" if options.reference is not None else f", {frame.samples} sample(s)"
    print(f"{name}, {width}x{height}{samples}, against {found[0].provenance['renderer']}")
    for one in found:
        if len(found) > 1:
            formats = frame.color_formats
            print(f"colour {one.attachment}" + (f" ({formats[one.attachment]})" if len(formats) == len(found) else ""))
        print(_text(one))
        if "left_out" in one.provenance:
            print(f"  ({one.provenance['left_out']})")
    for pixel in findings.pixels[:_LISTED]:
        where = f"colour {pixel.attachment}, " if len(found) > 1 else ""
        print(f"{where}pixel ({pixel.x}, {pixel.y}), {pixel.difference * 255:.0f}/255: {pixel.reason}: {pixel.detail}")
    if len(findings.pixels) > _LISTED:
        print(f"and {len(findings.pixels) - _LISTED} more pixels over 8/255 (--json lists them all)")


def _print_json(name: str, frame: Frame, found: list[Comparison], findings: Findings, within: bool) -> None:
    """The figures of the worst attachment, all attachments if there are several, and every pixel over 8/255 inside."""
    worst = max(found, key=lambda one: (one.difference.share_over_2_inside, one.difference.max_diff))
    out: dict[str, Any] = {
        "scene": name,
        "size": [found[0].ours.shape[1], found[0].ours.shape[0]],
        "samples": frame.samples,
        **worst.difference.as_dict(),
        "covered_share": worst.difference.covered_px / (worst.ours.shape[0] * worst.ours.shape[1]),
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
