"""Compares every measured scene and every model of a folder with the OpenGL reference; prints a Markdown table, exit code 1 if one fails.

    python scripts/compare_all.py [--assets FOLDER] [-o TABLE.md] [NAME ...]

The second figure for pixels over 2/255 inside is with mipmap levels as OpenGL's driver approximates them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import tilegpu as tg
from tilegpu.reference import Comparison, Difference, ReferenceError, Tolerance, compare_frame, explained, unavailable
from tilegpu.scene import MODEL_SUFFIXES, SceneRenderer, find_scene, scenes

HEAD = (
    "| scene | size | samples | covered | max | inside: max | over 2/255 | driver's LOD | over 8/255 | edges over 2/255 | reasons |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def row(
    name: str, size: tuple[int, int], samples: int, one: Comparison, driver: Difference, reasons: dict[str, int]
) -> str:
    """One line of the table."""
    d = one.difference
    cells = [
        name,
        f"{size[0]}x{size[1]}",
        str(samples),
        f"{d.covered_px / (size[0] * size[1]):.1%}",
        f"{d.max_diff * 255:.1f}" if d.covered_px else "-",
        f"{d.max_diff_inside * 255:.1f}",
        f"{d.share_over_2_inside:.4%}",
        f"{driver.share_over_2_inside:.4%}",
        str(d.over_8_inside_px),
        f"{d.share_over_2_edges:.4%}",
        ", ".join(f"{n} {reason}" for reason, n in reasons.items()),
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Runs all; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of names; without any: everything")
    parser.add_argument("--assets", type=Path, help="a folder of models")
    parser.add_argument("-o", "--output", type=Path, help="write the table there too")
    options = parser.parse_args()
    missing = unavailable()
    if missing:
        print(f"no OpenGL reference on this machine: {missing}", file=sys.stderr)
        return 3
    todo = list(scenes())
    if options.assets:
        todo += sorted(str(p) for p in options.assets.rglob("*") if p.suffix.lower() in MODEL_SUFFIXES)
    if options.names:
        todo = [name for name in todo if any(part in name for part in options.names)]
    renderer = SceneRenderer(tg.Device())
    lines, failed = [HEAD], []
    print(HEAD)
    for name in todo:
        scene = find_scene(name)
        frame = scene.frame()
        images = renderer.render(frame).images
        try:
            found = compare_frame(frame, images)
            findings = explained.explain(renderer, frame, found)
            driver = compare_frame(frame, images, exact_lod=False)
        except ReferenceError as error:
            print(f"{scene.name}: not compared: {error}", file=sys.stderr)
            continue
        for one, other in zip(found, driver, strict=True):
            label = scene.name if len(found) == 1 else f"{scene.name}, colour {one.attachment}"
            counts = findings.counts(one.attachment)
            lines.append(row(label, frame.size, frame.samples, one, other.difference, counts))
            print(lines[-1], flush=True)
            failed += [
                f"{label}: {text}"
                for text in Tolerance().failures(one.difference, findings.unexplained_px(one.attachment))
            ]
    for text in failed:
        print(f"over tolerance: {text}", file=sys.stderr)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
