"""The stub of the compiled module tells the truth: every name in it is there, and every name that is there is in it."""

from __future__ import annotations

import ast
from pathlib import Path

from tilegpu import _core

STUB = Path(__file__).parent.parent / "python" / "tilegpu" / "_core.pyi"
#: What pybind11 and Python give every class, and enumerations.
GIVEN = {"name", "value"}


def names_in(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Names that are defined here, with the bodies of classes."""
    out: dict[str, list[ast.stmt]] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            out[node.name] = node.body
        elif isinstance(node, ast.FunctionDef):
            out.setdefault(node.name, [])
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            out[node.target.id] = []
        elif isinstance(node, ast.Assign):
            out.update((t.id, []) for t in node.targets if isinstance(t, ast.Name))
    return {name: inner for name, inner in out.items() if not name.startswith("_")}


def public(value: object) -> set[str]:
    return {name for name in vars(value) if not name.startswith("_")}


def test_stub_and_module_have_the_same_names() -> None:
    stub = names_in(ast.parse(STUB.read_text(encoding="utf-8")).body)
    assert set(stub) == public(_core)
    for name, body in stub.items():
        value = getattr(_core, name)
        if isinstance(value, type):
            assert set(names_in(body)) - GIVEN == public(value) - GIVEN, name
