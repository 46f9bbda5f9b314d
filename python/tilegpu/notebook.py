"""HTML of what a notebook shows. In: texts, rows, colours. Out: tables of one look, as text; everything that is given is escaped.

Notebooks take styles in elements alone, and their themes are light or dark: nothing here sets a background or the colour of text, but for
the squares that are colours themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilegpu.enums import FormatInfo


class Html(str):
    """Text that is HTML already."""


def escaped(text: str) -> str:
    """For between tags."""
    import html

    return text if isinstance(text, Html) else html.escape(str(text))


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numeric: Iterable[int] = ()) -> Html:
    """A table; ``numeric``: columns that stand to the right. No headings, no row of them."""
    right = set(numeric)

    def row(cells: Sequence[str], tag: str) -> str:
        styled = (
            f'<{tag} style="text-align:{"right" if k in right else "left"};vertical-align:top;padding:.15em .6em">{escaped(text)}</{tag}>'
            for k, text in enumerate(cells)
        )
        return f"<tr>{''.join(styled)}</tr>"

    head = f"<thead>{row(headings, 'th')}</thead>" if headings else ""
    title = f'<caption style="text-align:left;font-weight:bold;white-space:nowrap">{escaped(caption)}</caption>' if caption else ""
    return Html(f"<table>{title}{head}<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>")


def notes(lines: Iterable[str]) -> Html:
    """Small lines below a table."""
    return Html("".join(f'<div style="font-size:smaller">{escaped(line)}</div>' for line in lines))


def swatch(color: Sequence[float], numeric: str) -> Html:
    """A square of a colour attachment's value, as a screen shows it. ``numeric``: ``"unorm"`` and others as they are; ``"srgb"`` and floats
    are linear light."""
    parts = [*color, 0.0, 0.0, 0.0][:3]
    if len(color) == 1:
        parts = [color[0]] * 3
    levels = []
    for value in parts:
        v = min(max(value, 0.0), 1.0) if value == value else 0.0
        if numeric in ("srgb", "sfloat", "ufloat"):
            v = 12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055
        levels.append(round(255 * v))
    square = "display:inline-block;width:1em;height:1em;border:1px solid gray;vertical-align:middle"
    return Html(f'<span style="{square};background:rgb({levels[0]},{levels[1]},{levels[2]})"></span>')


def picture(png: bytes, caption: str) -> Html:
    """A PNG with a line below it."""
    import base64

    address = base64.b64encode(png).decode()
    below = f"<figcaption>{escaped(caption)}</figcaption>"
    return Html(f'<figure style="margin:0"><img src="data:image/png;base64,{address}" alt="{escaped(caption)}">{below}</figure>')


def facts(caption: str, rows: Iterable[tuple[str, object]]) -> Html:
    """What an object says of itself, a row each; those without a value are left out."""
    return table(caption, (), [(name, str(value)) for name, value in rows if value not in ("", None, (), False)])


def _format_table(info: FormatInfo) -> Html:
    """A format's bits and uses."""
    uses = {"sampled": info.sampled, "linear filter": info.linear_filter, "cubic filter": info.cubic_filter,
            "storage": info.storage, "atomics": info.is_atomic, "colour attachment": info.color_attachment,
            "blending": info.blend, "depth or stencil attachment": info.is_depth_stencil, "vertices": info.vertex}  # fmt: skip
    rows = [
        ("numbers", info.numeric),
        ("components", info.component_count),
        ("bits of a component", "" if info.is_compressed else info.component_bits),
        ("depth, stencil bits", f"{info.depth_bits}, {info.stencil_bits}" if info.is_depth_stencil else ""),
        ("bytes of a block" if info.is_compressed else "bytes of a texel", info.texel_B),
        ("block", "x".join(map(str, info.block_px)) + " px" if info.is_compressed else ""),
        ("planes", ", ".join(plane.name for plane in info.planes)),
        ("uses", ", ".join(name for name, has in uses.items() if has)),
    ]
    return facts(f"format {info.name}", rows)


setattr(FormatInfo, "_repr_html_", _format_table)  # noqa: B010 -- a class of the core, which knows no notebooks
