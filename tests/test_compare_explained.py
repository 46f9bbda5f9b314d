"""What the comparison says about pixels that differ: levels of detail against float64, reasons pixel by pixel, and the scenes themselves.

TILEGPU_COMPARE=all compares every scene and model at its own size (``make compare`` does it too, and prints the table).
"""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.bench.peers import EVERYDAY
from tilegpu.reference import Renderer, Tolerance, compare_frame, explained, primitives
from tilegpu.reference.lod import with_exact_lod
from tilegpu.scene import Draw, Frame, Program, Sampler, State, Texture, find_scene
from tilegpu.scene.render import SceneRenderer
from tilegpu.scene.resources import scenes

ASSETS = Path(os.environ.get("TILEGPU_ASSETS") or Path(__file__).resolve().parents[2] / "shared" / "assets")
ALL = os.environ.get("TILEGPU_COMPARE") == "all"
VERTEX = """#version 450
layout(location = 0) in vec3 position; layout(location = 1) in vec4 color;
layout(location = 0) flat out vec4 v_color;
void main() { gl_Position = vec4(position, 1.0); v_color = color; }"""
FRAGMENT = """#version 450
layout(location = 0) flat in vec4 v_color; layout(location = 0) out vec4 o_color;
void main() { o_color = v_color; }"""
TYPE = np.dtype([("position", "f4", 3), ("color", "f4", 4)])
pytestmark = pytest.mark.gl


@pytest.fixture(scope="module")
def renderer() -> SceneRenderer:
    return SceneRenderer(tg.Device())


def coloured(points: list[tuple[float, float, float]], color: tuple[float, float, float, float]) -> np.ndarray:
    return np.array([(p, color) for p in points], TYPE)


RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)


class TestLevelOfDetail:
    """A texture whose level k holds the value k shows the level of detail that a renderer has chosen."""

    SCALES = tuple(float(s) for s in np.geomspace(1.03, 30.0, 23))

    def frame(self) -> Frame:
        levels = [np.full((256 >> k, 256 >> k, 1), k, np.float32) for k in range(9)]
        texture = Texture(levels[0], "r32_sfloat", levels[1:], Sampler(), "levels")
        program = Program(
            VERTEX,
            FRAGMENT.replace("layout", "layout(binding = 0) uniform sampler2D t;\nlayout", 1).replace(
                "o_color = v_color", "o_color = texture(t, gl_FragCoord.yx * v_color.xy / 256.0)"
            ),
        )
        bands = []
        for i, scale in enumerate(self.SCALES):  # 8 rows each
            y0, y1 = i / 12 - 1, (i + 1) / 12 - 1
            corners = [(-1, y0, 0.5), (-1, y1, 0.5), (1, y0, 0.5), (1, y0, 0.5), (-1, y1, 0.5), (1, y1, 0.5)]
            bands.append(coloured(corners, (scale, scale / 3, 0, 0)))  # type: ignore[arg-type]
        draw = Draw(program, np.concatenate(bands), bind={"t": texture})
        return Frame((32, 192), color_formats=("r32_sfloat",), clear_colors=((0, 0, 0, 0),), draws=(draw,))

    def expected(self) -> np.ndarray:
        return np.array([math.log2(s) for s in self.SCALES])

    def levels(self, image: np.ndarray) -> np.ndarray:
        bands = image[:, :, 0].reshape(24, 8, 32)[: len(self.SCALES)]
        return np.asarray(bands[:, 4, 16], np.float64)

    def test_tilegpu_is_right(self, renderer: SceneRenderer) -> None:
        error = self.levels(renderer.render(self.frame()).images[0]) - self.expected()
        assert np.abs(error).max() < 2e-5

    @pytest.mark.usefixtures("gl")
    def test_so_is_the_reference_with_computed_levels(self) -> None:
        with Renderer.shared(exact_lod=True) as gl:
            error = self.levels(gl.render(self.frame()).images[0]) - self.expected()
        assert np.abs(error).max() < 2e-5

    @pytest.mark.usefixtures("gl")
    def test_the_driver_is_not(self) -> None:
        """Why the levels are computed. Fails when a driver comes that needs it no more."""
        with Renderer.shared() as gl:
            if "llvmpipe" not in gl.ctx.info["GL_RENDERER"]:
                pytest.skip("another driver")
            error = np.abs(self.levels(gl.render(self.frame()).images[0]) - self.expected()).max()
        assert 0.03 < error < 0.0435  # half of the largest error of log2 by straight lines, 0.0861


def test_nearest_texels_against_float64(renderer: SceneRenderer) -> None:
    """A tilted plane with a number in each texel: wrong ones may only be where a subpixel's shift reaches the texel's border."""
    size, texels = (160, 120), 64
    y, x = np.mgrid[:texels, :texels]
    pixels = np.stack([x, y, 0 * x, 0 * x + 255], axis=-1).astype(np.uint8)
    texture = Texture(pixels, mipmaps=False, sampler=Sampler("nearest", "nearest", "nearest"))
    vertex = """#version 450
    layout(location = 0) in vec4 position; layout(location = 1) in vec2 uv; layout(location = 0) out vec2 v_uv;
    void main() { gl_Position = position; v_uv = uv; }"""
    fragment = """#version 450
    layout(binding = 0) uniform sampler2D t; layout(location = 0) in vec2 v_uv; layout(location = 0) out vec4 o_color;
    void main() { o_color = texture(t, v_uv); }"""
    corners = [(-1.31, -1.17, 1.3), (1.22, -1.4, 2.2), (-1.73, 1.34, 0.9)]
    points = [((px * w, py * w, 0.5 * w, w), (px * 0.7 + 0.1, py * 0.9)) for px, py, w in corners]
    vertices = np.array(points, [("position", "f4", 4), ("uv", "f4", 2)])
    draw = Draw(Program(vertex, fragment), vertices, bind={"t": texture})
    image = renderer.render(Frame(size, clear_colors=((0, 0, 1, 0),), draws=(draw,))).images[0]

    clip, uv = vertices["position"].astype(float), vertices["uv"].astype(float)
    screen = (clip[:, :2] / clip[:, 3:] + 1) * np.array(size) / 2
    planes = np.linalg.inv(np.c_[screen, np.ones(3)]) / clip[None, :, 3]

    def at(dx: float, dy: float) -> np.ndarray:
        """(H, W, 2): texel coordinates, moved by a part of a pixel."""
        rows, columns = np.mgrid[: size[1], : size[0]] + 0.5
        weights = np.stack([columns + dx, rows + dy, np.ones_like(rows)], axis=-1) @ planes
        return np.asarray(weights @ uv / weights.sum(-1, keepdims=True) * texels)

    covered = image[..., 3] == 255
    exact = at(0, 0)
    reach = np.abs(at(1 / 256, 0) - exact) + np.abs(at(0, 1 / 256) - exact) + 1e-4
    clear_cut = covered & (np.abs(exact - np.rint(exact)) > reach).all(-1)
    assert clear_cut.sum() > 0.9 * covered.sum() > 5000
    assert np.array_equal(image[clear_cut][:, :2], np.floor(exact[clear_cut]).astype(int) % texels)


def test_shaders_that_sample_otherwise_are_left_alone() -> None:
    shadow = "#version 450\nuniform sampler2DShadow s;\nvoid main() { texture(s, vec3(0)); }"
    assert with_exact_lod(shadow) == shadow
    plain = "#version 450\nuniform sampler2D s;\nvoid main() { texture(s, vec2(0)); textureLod(s, vec2(0), 1.0); }"
    changed = with_exact_lod(plain)
    assert changed.startswith("#version 450\n")
    assert changed.endswith("void main() { tg_texture(s, vec2(0)); textureLod(s, vec2(0), 1.0); }")


def test_edge_distance_and_depth_in_float64() -> None:
    one = primitives.Triangles(
        np.array([[0.0, 4.0, 0.0]]),
        np.array([[0.0, 0.0, 4.0]]),
        np.array([[0.0, 0.4, 0.8]]),
        np.array([7]),
        np.array([0]),
    )
    distance, depth = one.at(0, 1.0, 1.5)
    assert distance == pytest.approx(1.0)
    assert depth == pytest.approx(0.1 + 0.3)
    assert one.at(0, 2.5, 2.0)[0] == pytest.approx(-0.5 / math.sqrt(2))
    turned = primitives.Triangles(one.x[:, ::-1], one.y[:, ::-1], one.z[:, ::-1], one.primitive, one.draw)
    assert turned.at(0, 1.0, 1.5) == pytest.approx((distance, depth))
    assert one.near(10, 1).size == 0 and one.near(4, 1).tolist() == [0]


@pytest.mark.usefixtures("gl")
class TestReasons:
    def compared(self, renderer: SceneRenderer, frame: Frame, spoil: bool = False) -> explained.Findings:
        found = [dataclasses.replace(one, edges=None) for one in compare_frame(frame, renderer.render(frame).images)]
        if spoil:
            found[0].reference = found[0].reference.copy()
            found[0].reference[20, 30, :3] = 255 - found[0].reference[20, 30, :3]
        return explained.explain(renderer, frame, found)

    def fan(self, samples: int) -> Frame:
        """Many thin triangles in two colours around a point: edges pass everywhere."""
        corners = []
        for i in range(60):
            a, b = math.tau * i / 60 + 0.1, math.tau * (i + 1) / 60 + 0.1
            points = [
                (0.01, 0.02, 0.5),
                (2 * math.cos(b), 2 * math.sin(b), 0.5),
                (2 * math.cos(a), 2 * math.sin(a), 0.5),
            ]
            corners.append(coloured(points, RED if i % 2 else GREEN))
        draw = Draw(Program(VERTEX, FRAGMENT), np.concatenate(corners))
        resolve = "pass" if samples > 1 else "none"
        return Frame((96, 64), samples, clear_colors=((0, 0, 0, 1),), resolve=resolve, draws=(draw,))  # type: ignore[arg-type]

    def ties(self) -> Frame:
        """A tilted plane drawn twice, by triangles that are cut differently: depths differ by roundings alone."""

        def z(x: float, y: float) -> float:
            return 0.5 + 0.23 * x + 0.17 * y

        def plane(points: list[tuple[float, float]], color: tuple[float, float, float, float]) -> np.ndarray:
            return coloured([(x, y, z(x, y)) for x, y in points], color)

        one = plane([(-1, -1), (-1, 1), (1, -1), (1, -1), (-1, 1), (1, 1)], RED)
        two = plane([(-1, -1), (0.3, 1), (1, -1), (-1, -1), (-1, 1), (0.3, 1), (1, -1), (0.3, 1), (1, 1)], GREEN)
        program = Program(VERTEX, FRAGMENT)
        return Frame((96, 64), clear_colors=((0, 0, 0, 1),), draws=(Draw(program, one), Draw(program, two)))

    @pytest.mark.parametrize("samples", [1, 4])
    def test_what_is_spoilt_is_not_explained(self, renderer: SceneRenderer, samples: int) -> None:
        findings = self.compared(renderer, self.fan(samples), spoil=True)
        spoilt = [p for p in findings.pixels if (p.x, p.y) == (30, 20)]
        assert [p.reason for p in spoilt] == [explained.UNEXPLAINED]
        assert findings.unexplained_px(0) == 1

    def test_both_name_the_same_primitives(self, renderer: SceneRenderer) -> None:
        frame = self.fan(4)
        mine = primitives.ours(renderer, frame)
        with Renderer.shared() as gl:
            theirs = primitives.reference(gl, frame)
            geometry = primitives.triangles(gl, frame)
        assert mine.shape == theirs.shape == (64, 96, 4, 4)
        assert np.mean(mine[..., 0] == theirs[..., 0]) > 0.999
        assert len(geometry.x) == 60
        shown = int(mine[5, 70, 2, 0])
        assert geometry.at(shown, 70.125, 5.625)[0] > 0

    def test_a_depth_tie_is_called_one(self, renderer: SceneRenderer) -> None:
        findings = self.compared(renderer, self.ties())
        if not findings.pixels:
            pytest.skip("this driver rounds depth as tilegpu does")
        assert {p.reason for p in findings.pixels} <= {"depth tie", "edge"}

    def test_surfaces_apart_are_no_tie(self, renderer: SceneRenderer) -> None:
        """tilegpu with the wrong depth test: another surface wins everywhere, which no rounding explains."""
        frame = self.ties()
        far = frame.draws[1].vertices.copy()  # type: ignore[union-attr]
        far["position"][:, 2] += 1e-5
        right = dataclasses.replace(frame, draws=(frame.draws[0], dataclasses.replace(frame.draws[1], vertices=far)))
        wrong = [dataclasses.replace(draw, state=State(depth_compare="always")) for draw in right.draws]
        images = renderer.render(dataclasses.replace(right, draws=tuple(wrong))).images
        found = compare_frame(right, images)
        assert found[0].difference.over_8_inside_px > explained.MAX_PIXELS
        assert explained.explain(renderer, right, found).unexplained_px(0) == found[0].difference.over_8_inside_px


#: (scene or model, size, or None for its own).
QUICK: list[tuple[str, tuple[int, int] | None]] = [
    ("heavy_overdraw_512", None),
    ("mesh_100k", (640, 360)),
    ("textured_pbr", (640, 360)),
    ("multisampling4_pass_resolve", (640, 360)),
    ("msaa2_pass_resolve", (480, 270)),
    ("msaa8_store_cmd_resolve", (480, 270)),
    ("multisampling16_pass_resolve", (480, 270)),
    ("gbuffer5", (640, 360)),
    ("demo", (480, 270)),
    ("box_textured/BoxTextured.glb", (480, 488)),
    ("duck/Duck.glb", (472, 488)),
    ("house/house.glb", (640, 360)),
    ("sheen_cloth/SheenCloth.gltf", (608, 376)),
]
SCENES = [name for name in scenes() if name not in EVERYDAY]
#: Everyday scenes of which OpenGL's picture is another one by right.
OTHERWISE = {
    "foliage_coverage": "which samples an alpha covers is left to the implementation",
    "particles": "hundreds of layers into 8 bits, which llvmpipe rounds by integers",
    "particles_soft": "dozens of layers into 8 bits, which llvmpipe rounds by integers",
    "toy_fractal": "chaos: the last bit of a product decides about a point at the edge of the set",
}
MODELS = [
    "alpha_blend_mode_test/AlphaBlendModeTest.glb", "box_textured/BoxTextured.glb", "duck/Duck.glb", "flight_helmet/FlightHelmet.gltf",
    "house/house.glb", "normal_tangent_test/NormalTangentTest.glb", "sheen_cloth/SheenCloth.gltf", "skull/skull.obj",
    "spot/spot_triangulated.obj", "teapot/teapot.obj", "water_bottle/WaterBottle.gltf",
]  # fmt: skip
EVERYTHING: list[tuple[str, tuple[int, int] | None]] = [
    *((name, None) for name in SCENES + MODELS),
    *((name, (960, 540)) for name in EVERYDAY if name not in OTHERWISE),
]


@pytest.mark.usefixtures("gl")
@pytest.mark.parametrize(("name", "size"), EVERYTHING if ALL else QUICK)
def test_scenes_agree_with_the_reference(renderer: SceneRenderer, name: str, size: tuple[int, int] | None) -> None:
    is_model = "/" in name
    if is_model and not ASSETS.is_dir():
        pytest.skip(f"no models at {ASSETS}")
    frame = find_scene(str(ASSETS / name) if is_model else name).frame(size)
    found = compare_frame(frame, renderer.render(frame).images)
    findings = explained.explain(renderer, frame, found)
    for one in found:
        assert not Tolerance().failures(one.difference, findings.unexplained_px(one.attachment)), findings.pixels
        if is_model:
            assert one.difference.covered_px >= 0.25 * frame.size[0] * frame.size[1]
