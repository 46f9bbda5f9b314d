"""Which stores of a capture's passes something in the capture reads, or may read.

In: what was executed. Out: stores that no advice may take away. A capture names images by their labels where they are attached, and by
format and size where a shader samples them; what its commands and dispatches read it does not name at all. So this errs on the side of
what is read: the same label, or a format and size that fit, counts, and so does any copy, blit, resolve or mip chain, and any dispatch that
has an image of the format. A frame is drawn again and again: what reads an image before the capture has stored it reads what the capture
left the time before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tilegpu import _core
from tilegpu.enums import format_of


class _Part(NamedTuple):
    """An attachment's image. ``size_px``: (0, 0) where the pass has a part of it, so that nobody knows how large it is."""

    label: str
    format: str
    size_px: tuple[int, int]
    stored: bool

    def may_be(self, label: str, format: str, size_px: tuple[int, int]) -> bool:
        """Whether that may be the same image. ``label``: ``""`` where it has no name; sizes: of any of its levels."""
        if _kind(format) != _kind(self.format) or (label and label != self.label):
            return False
        return not all(self.size_px) or not all(size_px) or any(
            tuple(max(1, side >> k) for side in a) == b for a, b in ((self.size_px, size_px), (size_px, self.size_px)) for k in range(16)
        )  # fmt: skip


def _kind(format: str) -> Any:
    """Equal for what may be formats of an image and of its views: of colours the size of a texel."""
    info = _core.find_format(format)
    return None if info is None else format if info.is_depth_stencil else info.texel_B


def _formats(layout: Mapping[str, Any]) -> dict[str, str]:
    colors = {f"color{i}": name for i, name in enumerate(layout["color_formats"])}
    return {**colors, "depth": layout["depth_format"], "stencil": layout["stencil_format"]}


def _size_px(layout: Mapping[str, Any]) -> tuple[int, int]:
    size = layout["width_px"], layout["height_px"]
    return size if list(layout["render_area_px"]) == [0, 0, size[0] - 1, size[1] - 1] else (0, 0)


def _sampled(submission: _core.Submission, number: int) -> Iterator[tuple[str, str, tuple[int, int]]]:
    for row in submission.draw_programs(number):
        for texture in row["textures"]:
            yield "", format_of(texture["format"]).name, (texture["width_px"], texture["height_px"])


def _loaded(pieces: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[int, int]]]:
    formats, size_px = _formats(pieces["layout"]), _size_px(pieces["layout"])
    for name, load in pieces["load"].items():
        if "image" in (load["in_bounds"], load["border"]):
            yield load["image"], formats[name], size_px


def _part(pieces: Mapping[str, Any], name: str) -> _Part:
    store, load = pieces["store"][name]["samples"], pieces["load"][name]
    label = store["image"] if store["store"] else load["image"]
    return _Part(label, _formats(pieces["layout"])[name], _size_px(pieces["layout"]), store["store"])


def stores_in_use(submission: _core.Submission) -> set[tuple[int, str]]:
    """Number of the pass, and attachment: also of one that is not stored and keeps what it had (``store_op="none"``)."""
    passes = range(submission.pass_count())
    import json

    pieces = [json.loads(submission.describe_framebuffer(number)) for number in passes]
    parts = [{name: _part(of, name) for name in of["store"]} for of in pieces]
    reads = [[*_loaded(pieces[number]), *_sampled(submission, number)] for number in passes]
    if any(read_B for _, read_B, _ in submission.command_traffic()):
        return {(number, name) for number in passes for name in parts[number]}
    by_dispatches = {
        _kind(format_of(bound["format"]).name)
        for number in range(submission.dispatch_count())
        for bound in submission.dispatch_program(number)["bound"]
        if bound["format"]
    }
    found = set()
    for number in passes:
        for name, part in parts[number].items():
            first = min((k for k in passes if any(other.stored and other[:3] == part[:3] for other in parts[k].values())), default=number)
            asked = (read for k in passes if k > number or k <= first for read in reads[k])
            if _kind(part.format) in by_dispatches or any(part.may_be(*read) for read in asked):
                found.add((number, name))
    return found
