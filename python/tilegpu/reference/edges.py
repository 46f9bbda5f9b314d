"""Where geometry has edges in a picture: the pixels in which two renderers may differ by a rounding of coverage.

The frame is drawn a second time by the reference, with the same shaders (what they discard is discarded), at twice the size where
the frame is multisampled. Behind each fragment shader a few lines write the draw, the fragment's place P = (x w, y w, w) -- a linear
image of camera space; (x, y, z) where w is 1 -- and the normal of its facet. A pixel is an edge if, between itself and one of its
eight neighbours,

* the draw (or the background) changes,
* the facets' normals differ by more than 30 degrees (a crease), or
* the step P' - P leaves both facets' planes by more than 30 degrees (a surface in front of another).

Blended draws are looked at one by one over the opaque ones, since all of them show.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tilegpu.reference import glraw
from tilegpu.reference.gl import Renderer
from tilegpu.scene import Draw, Frame

_MAX_BLENDED_LAYERS = 64
#: Where only edges are looked for, formats of targets that the framebuffers here have not.
TARGETS_AS = {"a2b10g10r10_unorm_pack32": "r8g8b8a8_unorm", "b10g11r11_ufloat_pack32": "r16g16b16a16_sfloat"}
_COS_CREASE = 0.866
_SIN_STEP = 0.5
_TAIL = """
uniform float tg_draw;
uniform vec2 tg_size;
layout(location = {a}) out vec4 tg_a;
layout(location = {b}) out vec4 tg_b;
void main() {{
  float w = 1.0 / gl_FragCoord.w;
  vec2 ndc = gl_FragCoord.xy / tg_size * 2.0 - 1.0;
  vec3 p = vec3(ndc * w, abs(w - 1.0) < 1e-6 ? gl_FragCoord.z : w);
  vec3 px = dFdx(p), py = dFdy(p);
  vec3 n = cross(px, py);
  shaded_main();
  tg_a = vec4(p, tg_draw);
  tg_b = vec4(n / max(length(n), 1e-30), 1.0);
}}
"""

Mask = NDArray[np.bool_]


def _layer_edges(a: NDArray[np.float32], b: NDArray[np.float32]) -> Mask:
    """Edges of one layer: (H, W, 4) place and draw, (H, W, 4) normal."""
    full = np.zeros(a.shape[:2], bool)
    rows, columns = np.flatnonzero(a[..., 3].any(axis=1)), np.flatnonzero(a[..., 3].any(axis=0))
    if not rows.size:
        return full
    window = slice(max(0, rows[0] - 1), rows[-1] + 2), slice(max(0, columns[0] - 1), columns[-1] + 2)
    a, b, out = a[window], b[window], full[window]
    height, width = out.shape
    for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
        here = (slice(0, height - dy), slice(max(0, -dx), width - max(0, dx)))
        there = (slice(dy, height), slice(max(0, dx), width - max(0, -dx)))
        pa, pb, na, nb = a[here], a[there], b[here][..., :3], b[there][..., :3]
        edge = pa[..., 3] != pb[..., 3]
        covered = (pa[..., 3] > 0) & (pb[..., 3] > 0)
        edge |= covered & (np.abs(np.sum(na * nb, -1)) < _COS_CREASE)
        step = pb[..., :3] - pa[..., :3]
        length = np.sqrt(np.sum(step * step, -1))
        off = np.maximum(np.abs(np.sum(na * step, -1)), np.abs(np.sum(nb * step, -1)))
        edge |= covered & (off > _SIN_STEP * length)
        out[here] |= edge
        out[there] |= edge
    return full


def edge_mask(renderer: Renderer, frame: Frame) -> Mask:
    """(H, W) booleans: True at geometry edges, one pixel to each side; those of passes before the frame's own too, where they draw to
    targets of its size: what is on the screen. The renderer's context is current."""
    renderer.draw_passes(frame)
    edges = _edges_of_draws(renderer, frame)
    for number, one in enumerate(frame.passes):
        if frame.size_of(one.outputs[0].target) == frame.size and one.color:
            view = dataclasses.replace(
                frame,
                samples=one.samples,
                color_formats=tuple(TARGETS_AS.get(o.target.format, o.target.format) for o in one.color),
                clear_colors=((0.0, 0.0, 0.0, 0.0),),
                depth_format=None if one.depth is None else one.depth.target.format,
                draws=tuple(draw for draw in one.draws if not draw.program.input_attachments),
                label=f"{one.label} ({number})",
            )
            edges |= _edges_of_draws(renderer, view)
    return edges


def _edges_of_draws(renderer: Renderer, frame: Frame) -> Mask:
    """Of the frame's own pass."""
    scale = 2 if frame.samples > 1 and max(frame.size) <= 4096 else 1
    width, height = frame.size[0] * scale, frame.size[1] * scale
    colors = len(frame.color_formats)
    tail = _TAIL.format(a=colors, b=colors + 1)
    formats = (*frame.color_formats, "r32g32b32a32_sfloat", "r32g32b32a32_sfloat")
    target = renderer.framebuffer((width, height), 1, formats, frame.depth_format is not None)
    ctx = renderer.ctx
    ctx.enable_direct(glraw.FRAMEBUFFER_SRGB)
    ids = ctx.framebuffer(list(target.color_attachments[colors:]))

    def forget_ids() -> None:
        ids.color_mask = [(True,) * 4, (True,) * 4]
        ids.clear(0.0, 0.0, 0.0, 0.0)

    def look() -> Mask:
        a, b = (
            np.frombuffer(ids.read(components=4, attachment=i, dtype="f4"), "f4").reshape(height, width, 4)
            for i in range(2)
        )
        return _layer_edges(a, b)

    def put(number: int, draw: Draw) -> None:
        uniforms = {"tg_draw": float(number + 1), "tg_size": (float(width), float(height))}
        renderer.draw(target, draw, tail, uniforms, blend_off=True, color_count=colors, scale=scale)

    renderer.clear(target, frame)
    forget_ids()
    blended = [(i, d) for i, d in enumerate(frame.draws) if d.state.blend is not None]
    for i, draw in enumerate(frame.draws):
        if draw.state.blend is None:
            put(i, draw)
    edges = look()
    if len(blended) > _MAX_BLENDED_LAYERS:  # then in groups, later draws over earlier ones
        size = -(-len(blended) // _MAX_BLENDED_LAYERS)
        groups = [blended[i : i + size] for i in range(0, len(blended), size)]
    else:
        groups = [[one] for one in blended]
    for group in groups:
        forget_ids()
        for i, draw in group:
            put(i, draw)
        edges |= look()
    renderer.free(target)
    ids.release()
    if scale > 1:
        edges = np.asarray(edges.reshape(frame.size[1], scale, frame.size[0], scale).any(axis=(1, 3)))
    return edges
