"""Nodes of a glTF document: the tree of the drawn scene, and where its nodes stand.

In: a validated :class:`~tilegpu.scene.gltf.Document`. Out: visits in the order of drawing, and their global matrices for given local
transforms. Source: Khronos glTF 2.0, section 3.5 (scenes, nodes, transforms). All in float64, products and sums elementwise: the same
bits on every CPU (BLAS is not).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from tilegpu.scene.gltf import Document
from tilegpu.scene.matrices import rotation
from tilegpu.scene.model_file import say, shown
from tilegpu.scene.part import Array

#: So far from 1 a length may be that was rounded to a few digits.
_UNIT = 0.01

_MAX_DEPTH = 256


class Visit(NamedTuple):
    """A node met on the way from the roots. ``parent``: number of the visit of its parent, -1 for a root."""

    node: int
    parent: int


@dataclass(frozen=True, eq=False)
class Local:
    """A node's transform to its parent: ``matrix`` where the file gives one, else translation, rotation (x, y, z, w) and scale."""

    translation: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)
    scale: Sequence[float] = (1.0, 1.0, 1.0)
    matrix: Array | None = None

    def to_matrix(self, where: str, document: Document) -> Array:
        """(4, 4) float64."""
        if self.matrix is not None:
            return self.matrix
        x, y, z, w = self.rotation
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if length < 1e-12:
            raise document.error(where, "rotation is a quaternion of length 0")
        x, y, z, w = x / length, y / length, z / length, w / length
        out = np.eye(4)
        out[:3, :3] = rotation((x, y, z, w)) * np.array(self.scale)
        out[:3, 3] = self.translation
        return out


class NodeTree:
    """The nodes of the drawn scene. ``visits``: in the order of drawing, parents before their children."""

    def __init__(self, document: Document) -> None:
        self.doc = document
        self.visits = self._walk()
        self.visit_of = {visit.node: number for number, visit in enumerate(self.visits)}  #: of each node that is drawn
        self._locals: list[Local] = [self._local(document.json["nodes"][v.node], f"nodes[{v.node}]") for v in self.visits]

    def matrices(self, changed: dict[int, dict[str, Sequence[float]]] | None = None) -> list[Array]:
        """(4, 4) float64 node to world, of each visit. ``changed``: by node, what an animation puts in place of the file's values."""
        out: list[Array] = []
        for visit, local in zip(self.visits, self._locals, strict=True):
            moved = (changed or {}).get(visit.node)
            if moved:
                local = replace(local, **cast("dict[str, Any]", moved), matrix=None)
            own = local.to_matrix(f"nodes[{visit.node}]", self.doc)
            above = np.eye(4) if visit.parent < 0 else out[visit.parent]
            # As one sum over an axis: the pictures of models that stand still keep their bits.
            out.append((above[:, :, None] * own[None]).sum(1))
        return out

    def _local(self, node: dict[str, Any], where: str) -> Local:
        doc = self.doc
        if "matrix" in node:
            both = [name for name in ("translation", "rotation", "scale") if name in node]
            if both:
                raise doc.error(where, f"has matrix and {' and '.join(both)}; a node has the one or the others (section 3.5.3)")
            matrix = np.array(doc.numbers(node, "matrix", 16, [], where)).reshape(4, 4).T
            if tuple(matrix[3]) != (0.0, 0.0, 0.0, 1.0):
                row = ", ".join(f"{v:g}" for v in matrix[3])
                raise doc.error(where, f"the last row of matrix is ({row}), not (0, 0, 0, 1); it is written column by column")
            return Local(matrix=matrix)
        turned = doc.numbers(node, "rotation", 4, [0.0, 0.0, 0.0, 1.0], where)
        length = math.sqrt(sum(v * v for v in turned))
        if abs(length - 1) > _UNIT:
            say(f"model '{doc.path}': {where}: rotation has length {length:.4g}; it is a quaternion of length 1, and no angles")
        return Local(
            doc.numbers(node, "translation", 3, [0.0, 0.0, 0.0], where),
            turned,
            doc.numbers(node, "scale", 3, [1.0, 1.0, 1.0], where),
        )

    def _roots(self) -> tuple[list[Any], str]:
        doc = self.doc
        table = doc.json
        if table["scenes"] or "scene" in table:
            index = table.get("scene", 0)
            roots, where = doc.item("scenes", index, "scene").get("nodes", []), f"scenes[{index}]"
        else:  # no scene: every node that is nobody's child
            lists = [node.get("children") for node in table["nodes"]]
            children = {c for cs in lists if isinstance(cs, list) for c in cs if isinstance(c, int)}
            roots, where = [k for k in range(len(table["nodes"])) if k not in children], "nodes"
        if not isinstance(roots, list):
            raise doc.error(where, f"nodes is {shown(roots)}; a list of indices is needed")
        return roots, where

    def _walk(self) -> list[Visit]:
        doc = self.doc
        roots, where = self._roots()
        out: list[Visit] = []
        met: dict[int, int] = {}  # each node once (section 3.5.2): a child named twice would double the tree at each level
        stack: list[tuple[Any, int, int, str]] = [(n, -1, 0, where) for n in reversed(roots)]
        while stack:
            index, parent, depth, where = stack.pop()
            node = doc.item("nodes", index, where)
            here = f"nodes[{index}]"
            if index in met:
                raise doc.error(here, self._met_twice(out, index, met[index], parent, where))
            if depth > _MAX_DEPTH:
                raise doc.error(here, f"lies deeper than {_MAX_DEPTH} nodes; make the tree flatter")
            children = node.get("children", [])
            if not isinstance(children, list):
                raise doc.error(here, f"children is {shown(children)}; a list of indices is needed")
            met[index] = number = len(out)
            out.append(Visit(index, parent))
            stack += [(child, number, depth + 1, here) for child in reversed(children)]
        return out

    def _met_twice(self, visits: list[Visit], index: int, first: int, parent: int, where: str) -> str:
        above = parent
        while above >= 0:
            if visits[above].node == index:
                return "is its own ancestor; a tree of nodes has no circles"
            above = visits[above].parent
        before = visits[first].parent
        other = "the scene's list" if before < 0 else f"nodes[{visits[before].node}]"
        return f"is named by {other} and by {where}; a node may have one parent only: make a node for each place, with the same mesh"
