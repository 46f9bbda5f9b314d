"""Light from a picture of the sky: readers of Radiance and EXR, maps and tables against integrals in NumPy, pictures. All made here."""

from __future__ import annotations

import functools
import hashlib
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from gltf_documents import TRIANGLE, Builder
from tilegpu.cli import main
from tilegpu.hdr import HdrError, read_hdr, read_radiance
from tilegpu.scene import Environment, SceneRenderer
from tilegpu.scene.camera import OrbitCamera
from tilegpu.scene.environment import _arctan2, _fetch, _octahedral, _resized, brdf_table, octahedral_directions
from tilegpu.scene.mesh import sphere
from tilegpu.scene.model import ModelScene, load_model


def directions(height: int) -> np.ndarray:
    """(H, 2H, 3) unit vectors of an equirectangular picture's pixels: the middle looks along -z, +x is to its right."""
    v, u = np.mgrid[0:height, 0 : 2 * height]
    theta, phi = (v + 0.5) / height * math.pi, ((u + 0.5) / (2 * height) - 0.5) * 2 * math.pi
    return np.stack([np.sin(theta) * np.sin(phi), np.cos(theta), -np.sin(theta) * np.cos(phi)], -1)


def radiance_of(d: np.ndarray) -> np.ndarray:
    """A smooth sky with a bright side."""
    side = np.exp(4 * (d @ np.array([0.6, 0.64, 0.48]) - 1))
    return np.stack([0.3 + 2 * side, 0.4 + 0.3 * d[..., 1] + side, 0.6 - 0.2 * d[..., 0]], -1)


SKY = radiance_of(directions(64)).astype("f4")


@functools.cache
def sky_environment() -> Environment:
    return Environment(SKY)


# ----------------------------------------------------------------------------------------------------------------- readers


def rgbe(values: np.ndarray) -> np.ndarray:
    """(H, W, 4) uint8 of what RGBE holds exactly: small whole numbers times a power of two."""
    mantissa, exponent = np.frexp(values.max(-1))
    out = np.zeros((*values.shape[:2], 4), np.uint8)
    out[..., :3] = np.round(values * np.exp2(8 - exponent)[..., None])
    out[..., 3] = np.where(mantissa > 0, exponent + 128, 0)
    return out


def run_length(row: np.ndarray) -> bytes:
    """One component of a row: runs of equal values, and the others as they are."""
    out, k = bytearray(), 0
    while k < len(row):
        n = 1
        while k + n < len(row) and row[k + n] == row[k] and n < 127:
            n += 1
        if n > 2:
            out += bytes([128 + n, row[k]])
        else:
            out += bytes([n, *row[k : k + n]])
        k += n
    return bytes(out)


def radiance_file(pixels: np.ndarray, coding: str = "new", header: bytes = b"FORMAT=32-bit_rle_rgbe\n") -> bytes:
    height, width = pixels.shape[:2]
    body = bytearray()
    for row in pixels:
        if coding == "new":
            body += bytes([2, 2, width >> 8, width & 255])
            for k in range(4):
                body += run_length(row[:, k])
        elif coding == "flat":
            body += row.tobytes()
        else:
            x = 0
            while x < width:
                n = 1
                while x + n < width and np.array_equal(row[x], row[x + n]):
                    n += 1
                body += row[x].tobytes() + (bytes([1, 1, 1, n - 1]) if n > 1 else b"")
                x += n
    return b"#?RADIANCE\n# a comment\n" + header + b"\n-Y %d +X %d\n" % (height, width) + bytes(body)


def stripes() -> np.ndarray:
    values = np.arange(5 * 40 * 3).reshape(5, 40, 3) // 7 % 200 + 10.0
    values[2] = values[2, :1]
    values[3, 5:30] = 1024.0
    values[4, :7] = 0
    return rgbe(values)


@pytest.mark.parametrize("coding", ["new", "old", "flat"])
def test_radiance(tmp_path: Path, coding: str) -> None:
    pixels = stripes()
    expected = np.where(pixels[..., 3:] == 0, 0, pixels[..., :3] * np.exp2(pixels[..., 3:].astype(float) - 136))
    path = tmp_path / "a.hdr"
    path.write_bytes(radiance_file(pixels, coding))
    found = read_hdr(path)
    assert found.dtype == np.float32 and np.array_equal(found, expected.astype("f4")) and found.max() == 1024
    header = b"FORMAT=32-bit_rle_rgbe\nEXPOSURE=2\nEXPOSURE= 4\n"
    assert np.array_equal(read_radiance(radiance_file(pixels, coding, header)), (expected / 8).astype("f4"))


def test_what_is_wrong_with_a_picture_is_said(tmp_path: Path) -> None:
    good = radiance_file(stripes())
    wrong = {
        "no Radiance picture": b"P6" + good,
        "FORMAT is 32-bit_rle_xyze": good.replace(b"rgbe", b"xyze"),
        "the resolution is '\\+Y 5": good.replace(b"-Y 5", b"+Y 5"),
        "999999x999999 pixels": good.replace(b"-Y 5 +X 40", b"-Y 999999 +X 999999"),
        "0x5 pixels": good.replace(b"+X 40", b"+X 0"),
        "the header has no end": good[:30],
        "EXPOSURE makes 0": good.replace(b"# a comment", b"EXPOSURE=x"),
        "end too early": good[:-20],
    }
    for message, data in wrong.items():
        path = tmp_path / "bad.hdr"
        path.write_bytes(data)
        with pytest.raises(HdrError, match=rf"bad\.hdr.*{message}"):
            Environment.read(path)
    with pytest.raises(HdrError, match=r"the suffix is '.png'; .hdr \(Radiance\) and .exr"):
        read_hdr("sky.png")
    for name in ("none.hdr", "none.exr"):
        with pytest.raises(HdrError, match=rf"{name}.*cannot be read"):
            read_hdr(tmp_path / name)
    for value, message in ((SKY[..., 0], "shape"), ((SKY * 255).astype("u1"), "uint8"), (SKY * np.nan, "no numbers")):
        with pytest.raises(ValueError, match=message):
            Environment(value)


def test_broken_files_are_errors() -> None:
    choose, refused = random.Random(2), 0
    whole = [radiance_file(stripes(), coding) for coding in ("new", "old", "flat")]
    for _ in range(600):
        broken = bytearray(choose.choice(whole))
        for _ in range(3):
            broken[choose.randrange(40, len(broken))] = choose.choice([0, 1, 2, 128, 255, choose.randrange(256)])
        if choose.random() < 0.3:
            broken = broken[: choose.randrange(len(broken))]
        try:
            read_radiance(bytes(broken))
        except HdrError:
            refused += 1
    assert refused > 150


def test_exr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exr = pytest.importorskip("OpenEXR")
    path = str(tmp_path / "sky.exr")
    for name, values in (("RGB", SKY), ("RGBA", np.concatenate([SKY, SKY[..., :1]], -1)), ("Y", SKY[..., 0].copy())):
        with exr.File({}, {name: np.ascontiguousarray(values)}) as file:
            file.write(path)
        expected = SKY if values.ndim == 3 else np.repeat(SKY[..., :1], 3, 2)
        assert np.array_equal(read_hdr(path), expected)
    with exr.File({}, {"Z": SKY[..., 0].copy()}) as file:
        file.write(path)
    with pytest.raises(HdrError, match="has the channels Z; R, G and B"):
        read_hdr(path)
    deep = bytearray(Path(path).read_bytes())
    deep[5] |= 8  # the version field's 0x800: half a megabyte of it took four gigabytes
    Path(path).write_bytes(deep)
    with pytest.raises(HdrError, match=r"has deep pixels.*flat ones are read"):
        read_hdr(path)
    Path(path).write_bytes(b"no picture")
    with pytest.raises(HdrError, match="OpenEXR can't read it"):
        read_hdr(path)
    monkeypatch.setitem(__import__("sys").modules, "OpenEXR", None)
    with pytest.raises(HdrError, match=r'pip install OpenEXR \(tilegpu\[exr\]\)'):
        read_hdr(path)


# -------------------------------------------------------------------------------------------------------- maps and tables


def test_the_octahedral_map() -> None:
    d = octahedral_directions(33)
    assert np.allclose((d**2).sum(-1), 1) and np.allclose(d[16, 16], [0, 1, 0]) and np.allclose(d[16, 32], [1, 0, 0])
    assert np.allclose(d[0, :], d[0, ::-1] * [-1, 1, 1]) and np.allclose(d[0, 0], [0, -1, 0])
    y, x = np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-2, 2, 41))
    both = (np.abs(x) + np.abs(y)) > 0
    assert np.abs(_arctan2(y, x) - np.arctan2(y, x))[both].max() < 1e-12
    found = _octahedral(SKY.astype(float), 64)
    assert np.abs(found - radiance_of(octahedral_directions(64))).max() < 0.03
    some = np.random.default_rng(1).normal(size=(500, 3))
    some /= np.linalg.norm(some, axis=1, keepdims=True)
    assert np.abs(_fetch(found, some) - radiance_of(some)).max() < 0.04
    values = np.arange(24, dtype=float).reshape(6, 4)
    assert np.allclose(_resized(values, 3, 0), (values[::2] + values[1::2]) / 2)
    assert np.isclose(_resized(values, 5, 0).mean(), values.mean())


def test_irradiance_is_the_integral(tmp_path: Path) -> None:
    block = sky_environment().bind()["Environment"]["irradiance"][:, :3].astype(float)
    d = directions(64)
    theta = (np.arange(64) + 0.5) / 64 * math.pi
    area = (np.sin(theta) * (math.pi / 64) ** 2)[:, None]
    for n in np.array([[0, 1, 0], [0, -1, 0], [0.6, 0.64, 0.48], [-0.8, 0, 0.6], [0.36, -0.48, -0.8]]):
        exact = (SKY * (np.maximum(d @ n, 0) * area)[..., None]).sum((0, 1)) / math.pi
        x, y, z = n
        ours = np.array([1, y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y]) @ block
        assert np.abs(ours / exact - 1).max() < 0.03, n


def test_reflections_are_the_integral() -> None:
    levels = sky_environment()._filtered.mipmaps
    d = directions(128)
    sky = radiance_of(d)
    theta = (np.arange(128) + 0.5) / 128 * math.pi
    area = (np.sin(theta) * (math.pi / 128) ** 2)[:, None]
    for level in (2, 3, 5):
        a2 = (level / 5) ** 4
        image = levels[level - 1][..., :3].astype(float)
        for n in np.array([[0.6, 0.64, 0.48], [0, -1, 0], [-0.8, 0, 0.6]]):
            n_l = d @ n
            h = d + n
            n_h = (h @ n) / np.maximum(np.linalg.norm(h, axis=-1), 1e-9)
            weight = np.maximum(n_l, 0) * a2 / (math.pi * (n_h**2 * (a2 - 1) + 1) ** 2) * area
            exact = (sky * weight[..., None]).sum((0, 1)) / weight.sum()
            assert np.abs(_fetch(image, n[None])[0] - exact).max() < 0.04 * exact.max(), (level, n)


def test_the_table_is_the_integral() -> None:
    table = brdf_table().pixels.astype(float)
    theta, phi = np.meshgrid((np.arange(1500) + 0.5) / 1500 * math.pi / 2, (np.arange(400) + 0.5) / 400 * 2 * math.pi, indexing="ij")
    light = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1)
    area = np.sin(theta) * (math.pi / 2 / 1500) * (2 * math.pi / 400)
    for column, row in ((60, 63), (20, 40), (40, 20), (10, 50)):
        n_v, a2 = column / 63, (row / 63) ** 4
        v = np.array([math.sqrt(1 - n_v * n_v), 0, n_v])
        h = light + v
        h /= np.linalg.norm(h, axis=-1, keepdims=True)
        n_l, n_h, v_h = light[..., 2], h[..., 2], h @ v
        density = a2 / (math.pi * (n_h**2 * (a2 - 1) + 1) ** 2)
        g = 0.5 / (n_l * np.sqrt(n_v * n_v * (1 - a2) + a2) + n_v * np.sqrt(n_l * n_l * (1 - a2) + a2))
        share = density * g * n_l * area
        fresnel = (1 - v_h) ** 5
        assert table[row, column, :2] == pytest.approx([(share * (1 - fresnel)).sum(), (share * fresnel).sum()], abs=0.01)


def test_the_same_bits_everywhere() -> None:
    """Pinned: sums in a fixed order, no function that differs from CPU to CPU."""
    environment = sky_environment()
    digest = hashlib.sha256()
    for array in (environment._filtered.pixels, *environment._filtered.mipmaps, brdf_table().pixels):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(environment.bind()["Environment"]["irradiance"].tobytes())
    assert digest.hexdigest()[:16] == "b2b62986a2611a08"


# ---------------------------------------------------------------------------------------------------------------- pictures


def ball(path: Path, **material: Any) -> ModelScene:
    b, mesh = Builder(), sphere(48, 24)
    b.json["materials"] = [{"pbrMetallicRoughness": {"metallicFactor": 1, "roughnessFactor": 0, **material}}]
    attributes = {"POSITION": b.accessor(np.ascontiguousarray(mesh.vertices["aPos"])),
                  "NORMAL": b.accessor(np.ascontiguousarray(mesh.vertices["aNormal"]))}  # fmt: skip
    b.mesh(material=0, attributes=attributes, indices=b.accessor(mesh.indices))
    return load_model(b.glb(path))


def toned(c: np.ndarray) -> np.ndarray:
    c = np.clip(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0, 1)
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * c ** (1 / 2.4) - 0.055) * 255


def test_background_and_mirror(tmp_path: Path) -> None:
    scene = ball(tmp_path / "a.glb").configured(environment=sky_environment(), exposure=0.5)
    camera = OrbitCamera(distance=3.0, yaw=0.7, pitch=0.3, fov_y=60)
    frame = scene.frame((96, 64), 1, camera=camera)
    assert [draw.label for draw in frame.draws][-1] == "the sky" and frame.draws[-1].state.depth_write is False
    image = SceneRenderer(tg.Device()).render(frame).images[0].astype(float)
    inverse = np.linalg.inv(camera.view_projection(1.5).astype(float))
    eye = camera.eye.astype(float)
    sky = mirror = 0
    for y in range(1, 64, 6):
        for x in range(1, 96, 6):
            far = inverse @ [(x + 0.5) / 48 - 1, (y + 0.5) / 32 - 1, 1, 1]
            d = far[:3] / far[3] - eye
            d /= np.linalg.norm(d)
            b, c = eye @ d, eye @ eye - 1
            if b * b < c - 0.15:
                assert np.abs(image[y, x, :3] - toned(radiance_of(d) * 0.5)).max() < 3, (x, y)
                sky += 1
            elif b * b > c + 0.3:
                n = eye + d * (-b - math.sqrt(b * b - c))
                reflected = d - 2 * (d @ n) * n
                # The ball has facets, and no roughness is less than 0.04.
                assert np.abs(image[y, x, :3] - toned(radiance_of(reflected) * 0.5)).max() < 9, (x, y)
                mirror += 1
    assert sky > 50 and mirror > 15


def test_a_white_furnace(tmp_path: Path) -> None:
    """In a sky of 1 everywhere a white surface, rough or smooth, is nearly 1: what one bounce loses, no more."""
    white = Environment(np.ones((32, 64, 3), "f4"))
    assert all((level[..., :3] == 1).all() for level in (white._filtered.pixels, *white._filtered.mipmaps))
    for roughness, least in ((0.0, 0.97), (0.4, 0.9), (1.0, 0.29)):
        scene = ball(tmp_path / "a.glb", roughnessFactor=roughness).configured(environment=white, exposure=1.0)
        image = SceneRenderer(tg.Device()).render(scene.frame((48, 48), 1)).images[0].astype(float)
        background = toned(np.array(1.0))
        assert abs(image[0, 0, 0] - background) <= 1 and toned(np.array(least)) < image[24, 24, 0] <= background + 1


def test_with_other_things_of_a_model(tmp_path: Path) -> None:
    b = Builder()
    b.json["materials"] = [{"alphaMode": "BLEND"}, {"extensions": {"KHR_materials_unlit": {}}}, {}]
    for k in range(3):
        b.mesh({"translation": [0, 0, 0.2 * k]}, material=k)
    b.mesh(mode=1, attributes={"POSITION": b.accessor(TRIANGLE)})
    b.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 4}]}}
    b.json["cameras"] = [{"type": "orthographic", "orthographic": {"xmag": 1, "ymag": 1, "znear": 0, "zfar": 9}}]
    b.json["nodes"].append({"extensions": {"KHR_lights_punctual": {"light": 0}}, "translation": [0, 0, 1]})
    b.json["nodes"].append({"camera": 0, "translation": [0, 0, 5]})
    scene = load_model(b.glb(tmp_path / "a.glb")).configured(environment=sky_environment())
    frame = scene.frame((40, 40), 4)
    labels = [draw.label for draw in frame.draws]
    assert labels.index("the sky") == len(labels) - 2  # before what is blended
    both = {"Lights", "sky_map"}
    assert [set(draw.bind) & both for draw in frame.draws] == [set(), both, set(), {"sky_map"}, both]
    assert SceneRenderer(tg.Device()).render(frame).images[0].std() > 5
    seen = scene.configured(camera=0)
    corners = SceneRenderer(tg.Device()).render(seen.frame((40, 40), 1)).images[0][[0, -1], [-1, -1]]
    assert np.array_equal(corners[0], corners[1])  # of an orthographic camera all rays are parallel
    studio = scene.configured(environment="none").frame((40, 40), 4)
    assert all("sky_map" not in draw.bind for draw in studio.draws)


@pytest.mark.gl
def test_opengl_draws_the_same(tmp_path: Path) -> None:
    from tilegpu.reference import compare_frame, unavailable

    if missing := unavailable():
        pytest.skip(missing)
    scene = ball(tmp_path / "a.glb", roughnessFactor=0.3).configured(environment=sky_environment())
    frame = scene.frame((120, 100), 4)
    found = compare_frame(frame, SceneRenderer(tg.Device()).render(frame).images)[0].difference
    assert found.covered_px > 5000 and found.share_over_2_inside < 0.005


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    ball(tmp_path / "a.glb")
    sky, out = tmp_path / "sky.hdr", tmp_path / "a.png"
    sky.write_bytes(radiance_file(rgbe(SKY)))
    arguments = ["render", str(tmp_path / "a.glb"), "-o", str(out), "--size", "40x30"]
    assert main([*arguments, "--environment", str(sky)]) == 0
    assert np.asarray(Image.open(out))[0].std() > 1
    assert main([*arguments, "--environment", str(tmp_path / "no.hdr")]) == 2
    assert "no.hdr': cannot be read" in capsys.readouterr().err
    assert main(["render", "triangle", "-o", str(out), "--environment", str(sky)]) == 2
    assert "scene 'triangle' has no environment to choose" in capsys.readouterr().err
