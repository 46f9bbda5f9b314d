"""Whether two passes can be one with the same picture, and what has to be done for it.

In: two passes of a frame. Out: the joined pass as a change of what moves (:class:`tilegpu.frame_traffic.Join`), and what the text of it
has to say: what is cleared between the draws, which scissor the second's draws get. What can't be kept is left out: another depth image,
colour that is cleared again, samples that are resolved in between, areas that don't lie within each other.
"""

from __future__ import annotations

from typing import Any

from tilegpu import enums
from tilegpu.frame_graph import Node
from tilegpu.frame_traffic import Attached, Join
from tilegpu.image import ImageView, image_of

_Named = dict[str, Attached]


def _key(view: ImageView, name: str) -> tuple[Any, ...]:
    aspect = name if name in ("depth", "stencil") else "color"
    return (id(view.image), aspect, view.level, view.layer, view.layers)


def _resolved_key(resolve: Any) -> Any:
    if resolve is None:
        return None
    level, layer = getattr(resolve, "level", 0), getattr(resolve, "layer", 0)
    return (id(image_of(resolve)), level, layer)


def _attached(node: Node) -> _Named | None:
    """By name; None for a pass that is made of pieces of the user's own, or whose images have fewer samples than its tiles."""
    rp: Any = node.render_pass
    if rp is None or getattr(rp, "_framebuffer", None) is not None or getattr(rp, "_samples", False) or not hasattr(rp, "_bound"):
        return None
    found = {}
    for name, _, view, load_op, store_op, resolve in rp._bound:
        ops = [
            enums.name_of(kind, enums.parse(kind, given, name))
            for kind, given in (("attachment_load_op", load_op), ("attachment_store_op", store_op))
        ]
        found[name] = Attached(_key(view, name), ops[0], ops[1], _resolved_key(resolve),
                               view.image.tiling != "linear")  # fmt: skip
    return found


def _areas(first: Node, second: Node) -> tuple[bool, bool]:
    """Whether the second's area lies within the first's, and whether they are the same."""
    a, b = ([int(v) for v in node.render_pass.layout["render_area_px"]] for node in (first, second))  # type: ignore[union-attr]
    return a[0] <= b[0] and a[1] <= b[1] and b[2] <= a[2] and b[3] <= a[3], a == b


def _fit(first: Node, second: Node) -> bool:
    one, other = first.render_pass, second.render_pass
    assert one is not None and other is not None
    keys = ("width_px", "height_px", "samples", "layers", "view_mask")
    return all(one.layout.get(key) == other.layout.get(key) for key in keys) and one._window == other._window


def _shapes(node: Node, dropped: frozenset[int]) -> tuple[tuple[str, int, int], ...]:
    """Format, width and height of images that are read in the tile in place of being fetched, each once: depth and stencil are one."""
    rp: Any = node.render_pass
    views = {id(view.image): view for _, _, view, *_ in rp._bound if id(view.image) in dropped}
    return tuple((view.image.format, *view.image.size[:2]) for view in views.values())


def join_of(first: Node, second: Node, dropped: frozenset[int] = frozenset()) -> tuple[Join, list[str], str] | None:
    """The joined pass, what is done between the draws, and words for the second's scissor. ``dropped``: ids of images that the second reads
    at its own pixel, as input attachments, and that are not stored any more; without them both passes have the same colours."""
    a, b = _attached(first), _attached(second)
    if a is None or b is None or not _fit(first, second):
        return None
    within, same_area = _areas(first, second)
    colors = [[of[name].key for name in sorted(of) if name.startswith("color")] for of in (a, b)]
    if not within or (dropped and not same_area) or (not dropped and colors[0] != colors[1]):
        return None
    if any(a[name].key != b[name].key for name in ("depth", "stencil") if name in a and name in b):
        return None  # another depth image
    keys, other_keys = ({one.key: one for one in of.values()} for of in (a, b))
    between: list[str] = []
    for name, one in b.items():
        before = keys.get(one.key)
        if before is not None and one.load_op == "clear" and name in ("depth", "stencil"):
            between.append(f"rp.clear({name}=...)")
        elif before is not None and (one.load_op != "load" or not before.stores):
            return None
        if (before is None or one.load_op == "clear" or one.resolved is not None) and not same_area:
            return None
    for one in a.values():
        other = other_keys.get(one.key)
        if one.resolved is not None and (dropped or other is None or other.resolved != one.resolved):
            return None  # it is resolved as it is after the first
        if between and one.load_op != "clear" and (one.loads or one.stores):
            return None  # what clears between them draws in all tiles
    scissor = "" if same_area else f" (those of {second.title} with its area as scissor)"
    join = Join(first.number, second.number, tuple(a.items()), tuple(b.items()),
                frozenset(one.key for one in a.values() if one.key[0] in dropped), same_area, _shapes(first, dropped))  # fmt: skip
    return join, between, scissor
