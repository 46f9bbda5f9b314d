"""What a model has and what is drawn of it: extensions that the file does not list, vectors without a direction."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gltf_documents import TRIANGLE, Builder
from tilegpu.scene.model import load_model

UP = np.tile(np.float32([0, 0, 1]), (3, 1))




@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("where", ["materials", "texture of a material", "nodes", "primitives", "the document"])
def test_extensions_that_the_file_does_not_list(tmp_path: Path, where: str, listed: bool) -> None:
    """Only what `extensionsUsed` named was told: a transmission that was not listed was drawn opaque."""
    b = Builder()
    extensions = {"KHR_materials_transmission": {"transmissionFactor": 1.0}}
    material: dict[str, Any] = {"pbrMetallicRoughness": {}}
    if where == "materials":
        material["extensions"] = extensions
    elif where.startswith("texture"):
        b.json["images"] = [{"uri": "none.png"}]
        b.json["textures"] = [{"source": 0, "extensions": extensions}]
    b.json["materials"] = [material]
    b.mesh(node={"extensions": extensions} if where == "nodes" else None, material=0,
           **({"extensions": extensions} if where == "primitives" else {}))  # fmt: skip
    if where == "the document":
        b.json["extensions"] = extensions
    if listed:
        b.json["extensionsUsed"] = ["KHR_materials_transmission"]
    with pytest.warns(UserWarning, match=r"a\.glb': drawn without extension KHR_materials_transmission$"):
        assert load_model(b.glb(tmp_path / "a.glb")).parts


def test_what_is_no_extension_of_the_files(tmp_path: Path) -> None:
    b = Builder()
    b.json["extensionsUsed"] = ["KHR_materials_unlit"]
    b.json["materials"] = [{"extensions": {"KHR_materials_unlit": {}}, "extras": {"extensions": {"VENDOR_notes": {}}}}]
    b.mesh(material=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(b.glb(tmp_path / "a.glb")).parts[0].material.unlit


def test_normals_without_a_direction(tmp_path: Path) -> None:
    """An accessor without a bufferView is zeros, and was drawn as if all looked along z."""
    b = Builder()
    b.json["accessors"].append({"componentType": 5126, "count": 3, "type": "VEC3"})
    b.mesh(attributes={"NORMAL": 0})
    with pytest.warns(UserWarning, match=r"meshes\[0\]\.primitives\[0\]: NORMAL: all of them are 0, which have no direction"):
        load_model(b.glb(tmp_path / "a.glb"))
    text = "".join(f"v {x} {y} {z}\n" for x, y, z in TRIANGLE) + "vn 0 0 0\nf 1//1 2//1 3//1\n"
    (tmp_path / "a.obj").write_text(text)
    with pytest.warns(UserWarning, match=r"normals: all of them are 0"):
        load_model(tmp_path / "a.obj")


def test_tangents_without_a_direction(tmp_path: Path) -> None:
    b = Builder()
    b.mesh(attributes={"NORMAL": b.accessor(UP), "TANGENT": b.accessor(np.zeros((3, 4), "f4"))})
    with pytest.warns(UserWarning, match=r"TANGENT: all of them are 0"):
        load_model(b.glb(tmp_path / "a.glb"))


def test_a_few_normals_may_be_zero(tmp_path: Path) -> None:
    """Of triangles without an area they are."""
    b = Builder()
    b.mesh(attributes={"NORMAL": b.accessor(np.float32([[0, 0, 0], [0, 0, 1], [0, 0, 1]]))})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(b.glb(tmp_path / "a.glb")).parts
