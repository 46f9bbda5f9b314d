"""docs/images/environment.png: balls of metal and lacquer, smooth to rough, in the light of a sky that is made here."""

from __future__ import annotations

import base64
import json
import math
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import tilegpu as tg
from tilegpu.scene import Environment, SceneRenderer, find_scene
from tilegpu.scene.mesh import sphere

OUT = Path(__file__).resolve().parent.parent / "docs" / "images" / "environment.png"
ROWS = ((0.95, 0.93, 0.88, 1.0), (0.75, 0.05, 0.04, 1.0), (1.0, 0.72, 0.3, 1.0))


def sky(height: int = 768) -> np.ndarray:
    """(height, 2 height, 3) float32: an evening over tiles, the sun low to the right."""
    v, u = np.mgrid[0:height, 0 : 2 * height]
    theta, phi = (v + 0.5) / height * math.pi, ((u + 0.5) / (2 * height) - 0.5) * 2 * math.pi
    x, y, z = np.sin(theta) * np.sin(phi), np.cos(theta), -np.sin(theta) * np.cos(phi)
    haze = (1 - np.clip(y, 0, 1))[..., None] ** 5
    air = np.array([1.1, 0.75, 0.5]) * haze + np.array([0.12, 0.28, 0.7]) * (1 - haze)
    far = np.maximum(-y, 1e-3)
    tiles = (np.floor(1.5 * x / far) + np.floor(1.5 * z / far)) % 2
    fade = np.clip(1.6 - 0.08 / far, 0, 1) * (far > 0.02)
    ground = np.array([0.3, 0.24, 0.18]) * (0.62 + 0.38 * (fade * tiles + (1 - fade) * 0.5))[..., None]
    sun = np.array([0.55, 0.35, 0.75]) / math.sqrt(0.55**2 + 0.35**2 + 0.75**2)
    towards = x * sun[0] + y * sun[1] + z * sun[2]
    light = np.where(towards > math.cos(0.03), 1200.0, 0) + 1.2 * np.exp(-50 * (1 - towards))
    out: np.ndarray = (np.where(y[..., None] > 0, air, ground) + np.array([1, 0.85, 0.6]) * light[..., None]).astype(np.float32)
    return out


def balls() -> str:
    """A glTF document: one sphere, at 18 places, of as many materials."""
    mesh = sphere(96, 48)
    arrays = [np.ascontiguousarray(mesh.vertices[name]).tobytes() for name in ("aPos", "aNormal")] + [mesh.indices.tobytes()]
    data = b"".join(arrays)
    starts = [0, len(arrays[0]), len(arrays[0]) + len(arrays[1])]
    count = len(mesh.vertices)
    kinds = [(5126, count, "VEC3"), (5126, count, "VEC3"), (5125, mesh.indices.size, "SCALAR")]
    cells = [(row, k) for row in range(len(ROWS)) for k in range(6)]
    return json.dumps({
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(data), "uri": "data:;base64," + base64.b64encode(data).decode()}],
        "bufferViews": [{"buffer": 0, "byteOffset": at, "byteLength": len(a)} for at, a in zip(starts, arrays, strict=True)],
        "accessors": [{"bufferView": k, "componentType": c, "count": n, "type": t} for k, (c, n, t) in enumerate(kinds)],
        "materials": [
            {"pbrMetallicRoughness": {"baseColorFactor": ROWS[row], "metallicFactor": int(row != 1), "roughnessFactor": k / 5}}
            for row, k in cells
        ],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2, "material": number}]} for number in range(len(cells))
        ],
        "nodes": [{"mesh": number, "translation": [2.2 * k, -2.2 * row, 0]} for number, (row, k) in enumerate(cells)],
    })  # fmt: skip


def main() -> None:
    """Draws the picture."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "balls.gltf"
        path.write_text(balls())
        scene = find_scene(path).configured(environment=Environment(sky()), exposure=0.75)
    camera = scene.camera()
    assert camera is not None
    camera.rotate(-0.2, -0.1)
    image = SceneRenderer(tg.Device()).render(scene.frame((800, 430), 4, camera=camera)).images[0]
    Image.fromarray(image[..., :3]).save(OUT, optimize=True)
    print(OUT)


if __name__ == "__main__":
    main()
