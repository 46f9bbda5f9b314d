"""Scenes drawn by tilegpu: what is kept between frames, resolves, and pictures that must show what they are for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.scene import Draw, Frame, Program, Sampler, State, Texture, scenes
from tilegpu.scene.render import SceneRenderer, render

SMALL = (160, 90)


@pytest.fixture(scope="module")
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device())


def picture(renderer: SceneRenderer, name: str, size: tuple[int, int] = SMALL, **options: int) -> np.ndarray:
    return renderer.render(scenes()[name].frame(size, **options)).images[0]


def test_clear(renderer: SceneRenderer) -> None:
    result = renderer.render(scenes()["clear"].frame(SMALL))
    assert result.images[0].shape == (90, 160, 4)
    assert np.all(result.images[0] == [26, 51, 77, 255])  # round(0.1 * 255), ...: 25.5 is a tie, to even 26
    assert result.depth is not None and np.all(result.depth == 1)


def test_layers(renderer: SceneRenderer) -> None:
    back = picture(renderer, "fill_opaque_back_to_front")
    assert np.all(back == back[0, 0]) and np.allclose(back[0, 0], [255, 0.0625 * 255, 0.8 * 255, 255], atol=1)
    front = picture(renderer, "fill_opaque_front_to_back")
    assert np.allclose(front[0, 0], [0.0625 * 255, 255, 0.2 * 255, 255], atol=1)
    value = np.array([0.1, 0.2, 0.3])
    for i in range(16):
        value = (
            np.round((value * 0.75 + 0.25 * np.array([(i + 1) / 16, 1 - i / 16, 0.8 if i & 1 else 0.2])) * 255) / 255
        )
    blended = picture(renderer, "fill_blend")
    assert np.all(blended == blended[0, 0]) and np.allclose(blended[0, 0, :3], value * 255, atol=1)


@pytest.mark.parametrize("samples", [2, 4, 8, 16])
@pytest.mark.parametrize("family", ["msaa", "multisampling"])
def test_both_resolves_are_one_picture(renderer: SceneRenderer, family: str, samples: int) -> None:
    in_tile = picture(renderer, f"{family}{samples}_pass_resolve")
    stored = picture(renderer, f"{family}{samples}_store_cmd_resolve")
    assert np.array_equal(in_tile, stored)
    single = picture(renderer, f"{family}1")
    assert 0 < np.abs(in_tile.astype(int) - single).mean() < 8  # edges differ, little else


def test_five_attachments(renderer: SceneRenderer) -> None:
    images = renderer.render(scenes()["gbuffer5"].frame(SMALL)).images
    assert [i.dtype.kind for i in images] == ["u", "f", "f", "u", "u"]
    covered = images[2][..., 3] == 1
    covered &= np.abs(images[0][..., :3].astype(int) - [26, 51, 77]).max(-1) > 0
    normals = images[1][covered][:, :3].astype("f4")
    assert covered.mean() > 0.3 and np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 2e-3
    to_eye = np.array([0, 0, 12.3]) - images[2][covered][:, :3].astype("f4")
    assert ((normals * to_eye).sum(1) > -0.3).all()  # back faces are culled


@pytest.mark.parametrize(
    "name", ["triangle", "cube", "textured_pbr", "mesh_100k", "heavy_overdraw_512", "draws_10k", "demo"]
)
def test_something_is_drawn(renderer: SceneRenderer, name: str) -> None:
    image = picture(renderer, name).astype(int)
    assert (np.abs(image - image[0, 0]).max(-1) > 8).mean() > 0.1


def test_the_same_frame_is_replayed(renderer: SceneRenderer) -> None:
    frame = scenes()["cube"].frame(SMALL)
    first = renderer.render(frame)
    second = renderer.render(frame)
    assert np.array_equal(first.images[0], second.images[0])
    assert first.stats.fragments_shaded == second.stats.fragments_shaded > 0
    assert renderer.render(frame, read=False).images == []


@pytest.mark.parametrize("name", ["draws_10k", "fill_blend", "gbuffer5", "msaa4_pass_resolve", "demo"])
def test_everything_dynamic_is_the_same_picture(renderer: SceneRenderer, name: str) -> None:
    frame = scenes()[name].frame(SMALL)
    fixed, dynamic = renderer.render(frame), SceneRenderer(renderer.device, dynamic=True).render(frame)
    for a, b in zip(fixed.images, dynamic.images, strict=True):
        assert np.array_equal(a, b)


def test_what_frames_share_is_uploaded_once(renderer: SceneRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scenes()["multisampling1"]
    camera = scene.camera()
    assert camera is not None
    renderer.render(scene.frame(SMALL, camera=camera))
    made: list[int] = []
    for name in ("buffer", "texture", "pipeline"):
        monkeypatch.setattr(tg.Device, name, lambda *_, **__: made.append(1))
    camera.rotate(0.2, 0.1)
    renderer.render(scene.frame(SMALL, camera=camera))
    assert not made


def test_a_camera_that_moves_changes_the_picture_as_a_new_renderer_would_draw_it(renderer: SceneRenderer) -> None:
    scene = scenes()["demo"]
    camera = scene.camera()
    assert camera is not None
    renderer.render(scene.frame(SMALL, camera=camera))
    camera.rotate(0.3, 0.1)
    frame = scene.frame(SMALL, camera=camera, time=0.5)
    assert np.array_equal(renderer.render(frame).images[0], render(tg.Device(), frame).images[0])


FLAT = Program(
    """#version 450
    layout(location = 0) in vec2 position;
    layout(location = 0) out vec2 uv;
    void main() { gl_Position = vec4(position, 0.5, 1.0); uv = position * 0.5 + 0.5; }""",
    """#version 450
    layout(set = 0, binding = 0) uniform sampler2D image;
    layout(set = 0, binding = 1) uniform Tint { vec4 tint; } tint;
    layout(location = 0) in vec2 uv;
    layout(location = 0) out vec4 color;
    void main() { color = texture(image, uv) * tint.tint; }""",
)


def test_explicit_mipmaps_samplers_and_blocks(renderer: SceneRenderer) -> None:
    levels = [np.full((8 >> k, 8 >> k, 4), 40 * k + 50, np.uint8) for k in range(4)]
    corners = np.array([(-1, -1), (3, -1), (-1, 3)], "f4").view([("position", "f4", 2)]).reshape(-1)

    def drawn(size: int, tint: float, **sampler: object) -> np.ndarray:
        texture = Texture(levels[0], mipmaps=levels[1:], sampler=Sampler(mipmap_mode="nearest", **sampler))  # type: ignore[arg-type]
        bind = {"image": texture, "tint": {"tint": np.full(4, tint, "f4")}}
        draw = Draw(FLAT, corners, bind=bind, state=State(depth_test=False))
        return renderer.render(Frame((size, size), draws=(draw,), depth_format=None)).images[0]

    for k, size in enumerate((8, 4, 2, 1)):
        assert np.all(drawn(size, 1.0) == 40 * k + 50)
    assert np.all(drawn(2, 1.0, max_lod=1.0) == 90)
    assert np.all(drawn(8, 0.5) == 25)


def test_states_reach_the_pipeline(renderer: SceneRenderer) -> None:
    frame = scenes()["cube"].frame(SMALL, samples=1)
    draw = frame.draws[0]

    def covered(**state: object) -> float:
        changed = dataclasses.replace(draw, state=dataclasses.replace(draw.state, **state))  # type: ignore[arg-type]
        image = renderer.render(dataclasses.replace(frame, draws=(changed,))).images[0].astype(int)
        return float((np.abs(image - image[0, 0]).max(-1) > 2).mean())

    whole = covered()
    assert covered(cull="front") == pytest.approx(whole, abs=0.02)  # the inside has the same outline
    assert covered(cull="front_and_back") == 0
    assert 0 < covered(polygon_mode="line") < whole / 2
    assert covered(depth_compare="never") == 0
    assert covered(color_write_mask="") == 0


def test_resolve_without_samples_is_an_error(renderer: SceneRenderer) -> None:
    with pytest.raises(ValueError, match="resolve is 'pass', but samples is 1"):
        renderer.render(Frame(SMALL, resolve="pass"))
    with pytest.raises(ValueError, match="4 samples need resolve"):
        renderer.render(Frame(SMALL, samples=4))
