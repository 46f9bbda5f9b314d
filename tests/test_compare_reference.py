"""The OpenGL reference: rows, winding, edges, block packing, kept pictures. Needs EGL and spirv-cross where it draws."""

from __future__ import annotations

import dataclasses
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from tilegpu.reference import ReferenceError, Renderer, compare_frame, stored
from tilegpu.reference.blocks import block_bytes, plain_uniforms
from tilegpu.reference.edges import edge_mask
from tilegpu.reference.metrics import difference
from tilegpu.scene import Draw, Frame, Program, Sampler, State, Texture, find_scene
from tilegpu.scene.description import Address

VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec4 color;
layout(location = 0) flat out vec4 v_color;
void main() { gl_Position = vec4(position, 1.0); v_color = color; }"""
FRAGMENT = """#version 450
layout(location = 0) flat in vec4 v_color; layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
FLAT = Program(VERTEX, FRAGMENT, "flat")
TYPE = np.dtype([("position", "f4", 3), ("color", "f4", 4)])
KEPT = Path(__file__).parent / "reference"
#: Kept pictures: (scene, size, samples).
KEPT_FRAMES = [
    ("textured_pbr", (320, 180), 1),
    ("heavy_overdraw_512", (256, 256), 1),
    ("fill_blend", (64, 36), 1),
    ("msaa4_pass_resolve", (320, 180), 4),
]


def rectangle(
    x0: float, y0: float, x1: float, y1: float, z: float, *colors: tuple[float, float, float, float]
) -> np.ndarray:
    """Two triangles; the vertices' colours in turn, so that the provoking vertex can be told."""
    corners = [(x0, y0), (x0, y1), (x1, y0), (x1, y0), (x0, y1), (x1, y1)]
    return np.array([((x, y, z), colors[i % len(colors)]) for i, (x, y) in enumerate(corners)], TYPE)


def frame(*draws: Draw, size: tuple[int, int] = (64, 48), **more: object) -> Frame:
    return Frame(size, clear_colors=((0, 0, 0, 1),), draws=draws, **more)  # type: ignore[arg-type]


def draw(vertices: np.ndarray, **state: object) -> Draw:
    return Draw(FLAT, vertices, state=State(**state), label="rectangle")  # type: ignore[arg-type]


def render(what: Frame) -> np.ndarray:
    with Renderer.shared() as renderer:
        return renderer.render(what).images[0]


def edges_of(what: Frame) -> np.ndarray:
    with Renderer.shared() as renderer:
        return edge_mask(renderer, what)


RED, GREEN, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)


@pytest.mark.gl
@pytest.mark.usefixtures("gl")
class TestDrawing:
    def test_y_points_down_and_row_0_is_the_top(self) -> None:
        image = render(frame(draw(rectangle(-1, -1, 0, -0.5, 0.5, RED))))
        assert image[:12, :32, 0].min() == 255
        assert image[12:].max(axis=(0, 1)).tolist() == [0, 0, 0, 255]

    def test_first_vertex_is_provoking(self) -> None:
        image = render(frame(draw(rectangle(-1, -1, 1, 1, 0.5, RED, GREEN, BLUE))))
        assert (image[..., 0] == 255).all()

    def test_front_face_is_as_seen_on_the_picture(self) -> None:
        # The corners run (left, top), (left, bottom), (right, top): counter-clockwise as seen with y down.
        quad = rectangle(-1, -1, 1, 1, 0.5, RED)
        assert render(frame(draw(quad, cull="back"))).any(axis=2).all()
        assert not render(frame(draw(quad, cull="front")))[..., 0].any()
        assert not render(frame(draw(quad, cull="back", front_face="clockwise")))[..., 0].any()

    def test_depth_is_0_to_1(self) -> None:
        near, far = rectangle(-1, -1, 1, 1, 0.2, RED), rectangle(-1, -1, 1, 1, 0.8, GREEN)
        assert (render(frame(draw(near), draw(far)))[..., 0] == 255).all()
        assert not render(frame(draw(rectangle(-1, -1, 1, 1, -0.1, RED))))[..., 0].any()  # clipped

    def test_srgb_targets_encode(self) -> None:
        half = (0.5, 0.5, 0.5, 1.0)
        what = frame(draw(rectangle(-1, -1, 1, 1, 0.5, half)), color_formats=("r8g8b8a8_srgb",))
        pixel = render(what)[0, 0].tolist()
        assert pixel in ([187] * 3 + [255], [188] * 3 + [255])  # 187.5; llvmpipe's conversion is an approximation

    def test_texture_without_mipmaps_and_address_modes(self) -> None:
        textured = Program(
            VERTEX.replace("v_color = color", "v_color = vec4(0)"),
            FRAGMENT.replace("layout", "layout(binding = 0) uniform sampler2D t;\nlayout", 1).replace(
                "o_color = v_color", "o_color = texture(t, gl_FragCoord.xy / 16.0 - 1.0)"
            ),
        )
        pixels = np.zeros((16, 16, 4), np.uint8)
        pixels[:, :8], pixels[..., 3] = 200, 255

        def row(address: Address) -> list[int]:
            texture = Texture(pixels, mipmaps=False, sampler=Sampler(address_u=address, mipmap_mode="linear"))
            what = Draw(textured, rectangle(-1, -1, 1, 1, 0.5, RED), bind={"t": texture})
            return render(frame(what))[20, 4::8, 0].tolist()

        assert row("repeat") == [200, 0] * 4
        assert row("clamp_to_edge") == [200, 200, 200, 0, 0, 0, 0, 0]
        assert row("mirrored_repeat") == [0, 200, 200, 0, 0, 200, 200, 0]
        assert row("clamp_to_border") == [0, 0, 200, 0, 0, 0, 0, 0]

    def test_write_mask(self) -> None:
        white = (1.0, 1.0, 1.0, 1.0)
        assert render(frame(draw(rectangle(-1, -1, 1, 1, 0.5, white), color_write_mask="ga")))[0, 0].tolist() == [
            0,
            255,
            0,
            255,
        ]

    def test_samples_that_nobody_has_are_an_error(self) -> None:
        with pytest.raises(ReferenceError, match="3 samples; there are 1, 2, 4, 8, 16"):
            render(frame(samples=3, resolve="pass"))
        with pytest.raises(ReferenceError, match="alpha to coverage with 8 samples"):
            render(frame(draw(rectangle(-1, -1, 1, 1, 0.5, RED), alpha_to_coverage=True), samples=8, resolve="pass"))

    @pytest.mark.parametrize("scene", ["multisampling4_pass_resolve", "cube", "msaa4_pass_resolve"])
    def test_a_picture_for_each_sample_is_the_drivers_multisampling(
        self, scene: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What stands in for 2, 8 and 16 samples gives with 4 what the driver gives: edges, shading at the centre, sRGB resolve."""
        what = find_scene(scene).frame((320, 180), 4)
        with Renderer.shared(exact_lod=True) as renderer:
            native = renderer.render(what).images[0]
            monkeypatch.setattr(renderer, "has_samples", lambda count: count == 1)
            together = renderer.render(what).images[0]
        found = difference(together, native)
        assert found.share_over_2 < 1e-3
        assert found.rms < 0.5 / 255

    def test_unknown_format_is_an_error_that_lists(self) -> None:
        with pytest.raises(ReferenceError, match="r8g8b8a8_unorm"):
            render(frame(color_formats=("b5g6r5_unorm_pack16",)))

    def test_compare_finds_what_was_changed(self) -> None:
        what = frame(draw(rectangle(-0.5, -0.5, 0.5, 0.5, 0.5, RED)))
        ours = render(what).copy()
        ours[24, 32] = (200, 0, 0, 255)  # in the middle
        ours[24, 16] = (0, 0, 0, 255)  # at the border
        found = compare_frame(what, [ours])[0]
        assert found.difference.covered_px == 32 * 24
        assert found.difference.over_8_inside_px == 1
        assert found.difference.max_diff == 1.0
        assert found.difference.max_diff_inside == pytest.approx(55 / 255)


@pytest.mark.gl
@pytest.mark.usefixtures("gl")
class TestEdges:
    def test_outline_and_no_diagonal(self) -> None:
        edges = edges_of(frame(draw(rectangle(-0.5, -0.5, 0.5, 0.5, 0.5, RED))))
        expected = np.zeros((48, 64), bool)
        expected[11:37, 15:49] = True
        expected[13:35, 17:47] = False
        assert (edges == expected).all()

    def test_full_screen_has_none(self) -> None:
        assert not edges_of(frame(draw(rectangle(-1, -1, 1, 1, 0.5, RED)))).any()

    def test_draws_meet(self) -> None:
        left, right = rectangle(-1, -1, 0, 1, 0.5, RED), rectangle(0, -1, 1, 1, 0.5, RED)
        edges = edges_of(frame(draw(left), draw(right)))
        assert edges[:, 31:33].all()
        assert edges.sum() == 2 * 48

    def test_crease_within_a_draw(self) -> None:
        """A roof: two slopes that meet in the middle, one draw."""
        program = dataclasses.replace(
            FLAT, vertex=VERTEX.replace("vec4(position, 1.0)", "vec4(position.xy, 0.5 * position.z, position.z)")
        )
        roof = [
            ((-2, -2, 2), RED),
            ((-2, 2, 2), RED),
            ((0, -1, 1), RED),
            ((0, -1, 1), RED),
            ((-2, 2, 2), RED),
            ((0, 1, 1), RED),
        ]
        roof += [((-x, y, z), c) for (x, y, z), c in roof]
        edges = edges_of(frame(Draw(program, np.array(roof, TYPE))))
        assert edges[5:43, 31:33].all()
        assert not edges[5:43, 5:28].any()

    def test_one_surface_in_front_of_another_within_a_draw(self) -> None:
        program = dataclasses.replace(
            FLAT,
            vertex=VERTEX.replace(
                "vec4(position, 1.0)", "vec4(position.xy * position.z, 0.5 * position.z, position.z)"
            ),
        )
        both = np.concatenate([rectangle(-1, -1, 1, 1, 5, RED), rectangle(-0.5, -0.5, 0.5, 0.5, 4.0, RED)])
        what = frame(Draw(program, both, state=State(depth_compare="less_or_equal")))
        edges = edges_of(what)
        assert edges[11:37, 15:17].all() and edges[11:13, 15:49].all()
        assert not edges[15:33, 19:45].any()

    def test_discard_makes_edges(self) -> None:
        cut = dataclasses.replace(
            FLAT, fragment=FRAGMENT.replace("{ o_color", "{ if (gl_FragCoord.x > 20.0) discard; o_color")
        )
        edges = edges_of(frame(Draw(cut, rectangle(-1, -1, 1, 1, 0.5, RED))))
        assert edges[:, 19:21].all()
        assert edges.sum() == 2 * 48

    def test_blended_draws_below_others_count(self) -> None:
        over = draw(rectangle(-1, -1, 1, 1, 0.3, (0.0, 0.0, 1.0, 0.5)), blend="alpha", depth_write=False)
        below = draw(rectangle(-0.5, -0.5, 0.5, 0.5, 0.5, (1.0, 0.0, 0.0, 0.5)), blend="alpha", depth_write=False)
        assert edges_of(frame(below, over))[24, 15:17].all()

    def test_multisampled_frames_see_slivers(self) -> None:
        """A rectangle a third of a pixel wide, between pixel centres."""
        x = -1 + 2 * 20.05 / 64
        thin = draw(rectangle(x, -1, x + 2 * 0.3 / 64, 1, 0.5, RED))
        assert not edges_of(frame(thin)).any()
        assert edges_of(frame(thin, samples=4, resolve="pass"))[:, 20].all()


def test_block_bytes_follow_the_offsets() -> None:
    types = {
        "_1": {"name": "B", "members": [
            {"name": "a", "type": "vec3", "offset": 0},
            {"name": "b", "type": "float", "offset": 12},
            {"name": "m", "type": "mat3", "offset": 16, "matrix_stride": 16},
            {"name": "l", "type": "_2", "offset": 64, "array": [2], "array_stride": 32},
        ]},
        "_2": {"name": "L", "members": [{"name": "p", "type": "vec4", "offset": 0}, {"name": "i", "type": "int", "offset": 16}]},
    }  # fmt: skip
    matrix = np.arange(9.0).reshape(3, 3)
    data = block_bytes(
        {"type": "_1", "name": "B", "block_size": 128},
        types,
        {"a": (1, 2, 3), "b": 4, "m": matrix, "l": [{"i": 7}, {"p": (5, 6, 7, 8), "i": -1}]},
    )
    assert len(data) == 128
    assert struct.unpack_from("4f", data, 0) == (1, 2, 3, 4)
    assert struct.unpack_from("3f", data, 16) == (0, 3, 6)  # the first column
    assert struct.unpack_from("3f", data, 48) == (2, 5, 8)
    assert struct.unpack_from("i", data, 80) == (7,)
    assert struct.unpack_from("4fi", data, 96) == (5, 6, 7, 8, -1)
    with pytest.raises(ValueError, match="no member 'c'; there are a, b, m, l"):
        block_bytes({"type": "_1", "name": "B", "block_size": 128}, types, {"c": 1})


def test_plain_uniforms_are_columns() -> None:
    types = {"_1": {"name": "P", "members": [{"name": "m", "type": "mat4", "offset": 0, "matrix_stride": 16}]}}
    found = plain_uniforms("_1", types, {"m": np.arange(16.0).reshape(4, 4)}, "pc")
    assert found["pc.m"][0].reshape(-1)[:4].tolist() == [0, 4, 8, 12]


@pytest.mark.parametrize(("scene", "size", "samples"), KEPT_FRAMES)
def test_kept_pictures_have_provenance(scene: str, size: tuple[int, int], samples: int) -> None:
    what = find_scene(scene).frame(size, samples)
    kept = stored.find(scene, what, KEPT)
    assert kept is not None, f"tests/reference has no picture of {scene}; TILEGPU_REGENERATE=1 makes it"
    assert kept.image.shape == (size[1], size[0], 4)
    assert kept.provenance["scene"] == scene
    assert kept.provenance["renderer"]
    assert kept.provenance["driver"]


@pytest.mark.gl
@pytest.mark.usefixtures("gl")
@pytest.mark.parametrize(("scene", "size", "samples"), KEPT_FRAMES)
def test_kept_pictures_can_be_made_again(scene: str, size: tuple[int, int], samples: int, tmp_path: Path) -> None:
    """Another driver may differ by a little; the same one may not differ at all."""
    import os

    what = find_scene(scene).frame(size, samples)
    if os.environ.get("TILEGPU_REGENERATE") == "1":
        KEPT.mkdir(exist_ok=True)
        stored.keep(scene, what, KEPT)
    stored.keep(scene, what, tmp_path)
    again, kept = stored.find(scene, what, tmp_path), stored.find(scene, what, KEPT)
    assert again is not None and kept is not None
    found = difference(again.image, kept.image)
    assert found.share_over_2 <= 0.005
    if again.provenance == kept.provenance:
        assert found.max_diff == 0
    json.dumps(found.as_dict())
