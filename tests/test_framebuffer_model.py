"""Random passes against the whole-framebuffer model: load, store, resolve, border, spill, tile size, layout, samples, formats.

A case is one to three passes over the same images: every aspect with its own operations, NONE on both sides, images in rows and
block-compressed, larger than the framebuffer, layers, transient images, multisampled rendering to single-sampled images, areas at any
pixel, tiny heaps, every profile. Content: clears inside the pass and flat rectangles and triangles. TILEGPU_FUZZ_CASES sets how many
cases there are (`make fuzz`: thousands), TILEGPU_FUZZ_SEED where they begin; a failing case names its seed, and a capture of its pass.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracle import formats as fm
from tests.oracle import framebuffer as model
from tests.oracle.coverage import covered, snap

import tilegpu as tg

# Random passes also load what an earlier one gave up; the model knows which texels are undefined then.
pytestmark = pytest.mark.filterwarnings("ignore::tilegpu.UndefinedContentsWarning")

CASES = int(os.environ.get("TILEGPU_FUZZ_CASES", "320"))
SEED = int(os.environ.get("TILEGPU_FUZZ_SEED", "0"))
BLOCKS = 8
CAPTURES = Path(__file__).parent.parent / "build" / "fuzz"  # of passes that failed

DEVICES: list[dict[str, Any]] = [
    {},
    {"bin_px": 32, "lanes": 8, "hsr": ["hierarchical_z"]},
    {"bin_px": 32, "lanes": 4, "threads": 1, "tiler_heap": 1},
    {"tiler_heap": 1, "hsr": ["visibility_buffer"]},
    {"profile": "immortalis-g925"},
    {"profile": "mali-g725", "bin_px": 32, "tiler_heap": 1},
    {"profile": "mali-g57", "bin_px": 32},
    {"profile": "adreno-a650", "threads": 1},
]
# Colour formats, depth format, stencil format. The same name in both: one interleaved (or two-plane) image.
SETS: list[tuple[list[str | None], str | None, str | None]] = [
    (["r8g8b8a8_unorm"], "d32_sfloat", None),
    (["r8g8b8a8_unorm", "r16g16b16a16_sfloat"], "d24_unorm_s8_uint", "d24_unorm_s8_uint"),
    (["r8_uint", "b8g8r8a8_srgb"], None, "s8_uint"),
    (["r32g32b32a32_sfloat"], "d16_unorm", None),
    (["r16g16_sint", None, "r8g8_snorm"], "x8_d24_unorm_pack32", None),
    (["b5g6r5_unorm_pack16"], "d32_sfloat_s8_uint", "d32_sfloat_s8_uint"),
    ([], "d24_unorm_s8_uint", None),
    ([], None, "d24_unorm_s8_uint"),
    (["r16g16b16a16_unorm"], "d32_sfloat_s8_uint", "d32_sfloat_s8_uint"),
    (["a2b10g10r10_unorm_pack32", "r8g8b8a8_srgb"], None, None),
]
DEPTH_BITS = {"d16_unorm": 16, "x8_d24_unorm_pack32": 24, "d24_unorm_s8_uint": 24, "d32_sfloat": 32, "d32_sfloat_s8_uint": 32}

VERT = """#version 450
layout(location = 0) in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }"""
VERTEX = np.dtype([("position", "f4", 3)])


@cache
def device(number: int) -> tg.Device:
    return tg.Device(**DEVICES[number])


@cache
def pipeline(number: int, which: int, samples: int, depth: str, stencil: str) -> tg.Pipeline:
    colors, depth_format, stencil_format = SETS[which]
    kinds = ["" if c is None else {"uint": "u", "sint": "i"}.get(fm.parse(c).numeric, "f") for c in colors]
    outputs, writes = "", ""
    for i, kind in enumerate(kinds):
        if kind:
            cast = {"f": "uintBitsToFloat(pc.c[%d])", "u": "pc.c[%d]", "i": "ivec4(pc.c[%d])"}[kind] % i
            outputs += f"layout(location = {i}) out {kind.strip('f')}vec4 o{i};\n"
            writes += f"o{i} = {cast}; "
    push = "layout(push_constant) uniform PC { uvec4 c[3]; } pc;" if writes else ""
    state = {"pass": "increment_and_wrap"} if stencil == "increment" else {"pass": "replace"} if stencil == "replace" else None
    return device(number).pipeline(
        VERT, f"#version 450\n{push}\n{outputs}void main() {{ {writes} }}" if writes else None, vertex=VERTEX, color=colors,
        depth=depth_format, stencil=stencil_format, samples=samples, depth_test=depth != "none",
        depth_compare="less" if depth == "less" else "always", stencil_test=state,
    )  # fmt: skip


@dataclass
class Target:
    """An image and its model: a colour, or depth and stencil."""

    image: tg.Image
    planes: dict[str, model.Plane] = field(default_factory=dict)  # by aspect


def kind_of(aspect: str, format_: str) -> model.Kind:
    if aspect == "color":
        return model.Kind(color=fm.parse(format_))
    return model.Kind(depth_bits=DEPTH_BITS[format_] if aspect == "depth" else 0)


def random_codes(rng: np.random.Generator, kind: model.Kind) -> tuple[int, ...]:
    """Codes whose averages floats hold exactly."""
    if kind.color is None:
        if kind.depth_bits == 0:
            return (int(rng.integers(0, 256)),)
        z = float(rng.integers(0, 17)) / 16
        return (int(np.rint(z * ((1 << kind.depth_bits) - 1))) if kind.depth_bits < 32 else int(np.float32(z).view(np.uint32)),)
    if kind.color.numeric == "sfloat":
        values = rng.integers(-16, 17, 4) / 16.0
    elif kind.color.is_integer:
        values = rng.integers(0, 100, 4) - (50 if kind.color.numeric == "sint" else 0)
    else:
        values = np.array(rng.integers(0, 256, 4) / 255.0, np.float32)
    return tuple(int(v) for v in fm.encode(kind.color, values[None])[0])


def api_value(kind: model.Kind, codes: tuple[int, ...]) -> Any:
    """The codes as Python's API takes them: (r, g, b, a) or a number."""
    values = kind.values(np.array(codes, np.int64))
    if kind.color is None:
        return float(values[0]) / ((1 << kind.depth_bits) - 1 if kind.depth_bits in (16, 24) else 1)
    rgba = [0.0, 0.0, 0.0, 1.0]
    for k, c in enumerate(kind.color.components):
        rgba[c.channel] = float(values[k])
    return tuple(rgba)


def push_bits(kind: model.Kind, codes: tuple[int, ...]) -> np.ndarray:
    value = np.array(api_value(kind, codes), np.float64)
    assert kind.color is not None
    if kind.color.numeric == "sint":
        return value.astype(np.int64).astype(np.uint32)
    return value.astype(np.uint32) if kind.color.numeric == "uint" else value.astype(np.float32).view(np.uint32)


class Case:
    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng([SEED, seed])
        self.number = int(rng.integers(len(DEVICES)))
        self.device = device(self.number)
        self.which = int(rng.integers(len(SETS)))
        self.samples = int(rng.choice([1, 1, 2, 4, 4, 8, 16]))
        self.single_sampled = self.samples > 1 and rng.random() < 0.3
        self.width, self.height = (int(v) for v in rng.integers(1, 90, 2))
        self.layers = int(rng.choice([1, 1, 1, 2, 3]))
        colors, depth, stencil = SETS[self.which]
        stored_samples = 1 if self.single_sampled else self.samples
        self.colors = [None if c is None else self.target({"color": c}, stored_samples) for c in colors]
        self.color_resolves = [None if c is None else self.target({"color": c}, 1) for c in colors]
        if depth is not None and depth == stencil:
            self.depth = self.stencil = self.target({"depth": depth, "stencil": depth}, stored_samples)
            self.depth_resolve = self.stencil_resolve = self.target({"depth": depth, "stencil": depth}, 1)
        else:
            both = (depth is not None and depth.startswith("d24")) or (stencil is not None and stencil.startswith("d24"))
            self.depth, self.depth_resolve = (self.depth_target("depth", depth, n, both) for n in (stored_samples, 1))
            self.stencil, self.stencil_resolve = (self.depth_target("stencil", stencil, n, both) for n in (stored_samples, 1))

    def depth_target(self, aspect: str, format_: str | None, samples: int, both: bool) -> Target | None:
        if format_ is None:
            return None
        # Of an interleaved image of which one aspect is bound, the other must survive.
        return self.target(dict.fromkeys(("depth", "stencil") if both else (aspect,), format_), samples)

    def target(self, formats: dict[str, str], samples: int) -> Target:
        rng = self.rng
        format_ = next(iter(formats.values()))
        width, height = (int(v + rng.choice([0, 0, 0, 1, 7, 20])) for v in (self.width, self.height))
        layers = self.layers + int(rng.choice([0, 0, 1]))
        tiling = "block_compressed" if rng.random() < 0.35 else "linear"
        transient = rng.random() < 0.15
        image = self.device.image((width, height), format_, samples=samples, layers=layers, tiling=tiling, transient=transient)
        target = Target(image)
        for aspect, name in formats.items():
            target.planes[aspect] = model.Plane.make(kind_of(aspect, name), layers, height, width, samples, tiling == "linear")
        if not transient:
            self.fill(target)
        return target

    def fill(self, target: Target) -> None:
        """Contents to begin with: one value; single-sampled colours in rows get noise as well."""
        arguments: dict[str, Any] = {}
        for aspect, plane in target.planes.items():
            codes = random_codes(self.rng, plane.kind)
            plane.codes[:], plane.known[:], plane.stored[:] = codes, True, True
            value = api_value(plane.kind, codes)
            arguments[aspect] = int(value) if aspect == "stencil" else value
        self.device.clear(target.image, **arguments)
        plane = next(iter(target.planes.values()))
        if target.image.samples == 1 and plane.kind.color is not None and self.rng.random() < 0.7:
            kind = plane.kind
            choices = np.array([random_codes(self.rng, kind) for _ in range(8)])
            for layer in range(len(plane.codes)):
                plane.codes[layer, :, :, 0] = choices[self.rng.integers(0, 8, plane.codes.shape[1:3])]
                texels = fm.to_bytes(kind.color, plane.codes[layer, :, :, 0].reshape(-1, kind.components))
                self.device.copy(np.frombuffer(texels, np.uint8), target.image, destination_layer=layer)

    def attachment(self, target: Target | None, resolve: Target | None, aspect: str) -> tuple[Any, model.Attachment | None]:
        if target is None:
            return None, None
        rng, plane = self.rng, target.planes[aspect]
        transient = target.image.transient
        load = str(rng.choice(["clear", "dont_care"] if transient else ["load", "load", "clear", "clear", "dont_care", "none"]))
        store = str(rng.choice(["dont_care", "dont_care", "none"] if transient else ["store", "store", "store", "none", "dont_care"]))
        if transient and load == "dont_care" and store == "none":
            store = "dont_care"
        layer = int(rng.integers(0, target.image.layers - self.layers + 1))
        codes = random_codes(rng, plane.kind)
        made = model.Attachment(plane, load, store, codes, layer)
        arguments: dict[str, Any] = {"load_op": load, "store_op": store, "layer": layer}
        if load == "clear":
            arguments["clear"] = api_value(plane.kind, codes)
        if resolve is not None and self.samples > 1 and rng.random() < 0.6:
            modes = ["average"] if plane.kind.averages else ["sample_zero"]
            if aspect != "color":
                modes += ["sample_zero", "min", "max"]
            made.resolve, made.mode = resolve.planes[aspect], str(rng.choice(modes))
            arguments |= {"resolve": resolve.image, "resolve_mode": made.mode}
            if self.layers < resolve.image.layers:
                made.resolve_layer = int(rng.integers(0, resolve.image.layers - self.layers + 1))
                arguments["resolve"] = resolve.image.view(
                    "2d_array" if self.layers > 1 else "2d", layer=made.resolve_layer, layers=self.layers
                )
        return tg.Attachment(target.image, **arguments), made

    def random_area(self, width: int, height: int) -> model.Rect | None:
        rng = self.rng
        if rng.random() < 0.25:
            return None
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        if rng.random() < 0.3:
            x, y = x // 16 * 16, y // 16 * 16
        return x, y, int(rng.integers(1, width - x + 1)), int(rng.integers(1, height - y + 1))

    def run_pass(self) -> None:
        rng = self.rng
        pairs = [self.attachment(t, r, "color") for t, r in zip(self.colors, self.color_resolves, strict=True)]
        z_pair = self.attachment(self.depth, self.depth_resolve, "depth")
        s_pair = self.attachment(self.stencil, self.stencil_resolve, "stencil")
        if self.depth is not None and self.depth is self.stencil:
            # One view for both aspects, and one for both resolves.
            s_pair[0].layer = z_pair[0].layer
            s_pair[1].layer = z_pair[1].layer
            if s_pair[1].resolve is not None and z_pair[1].resolve is not None:
                s_pair[0].resolve, s_pair[1].resolve_layer = z_pair[0].resolve, z_pair[1].resolve_layer
        attachments = [made for _, made in pairs] + [z_pair[1], s_pair[1]]
        views = [a.plane for a in attachments if a] + [a.resolve for a in attachments if a and a.resolve]
        width, height = min(v.codes.shape[2] for v in views), min(v.codes.shape[1] for v in views)
        area = self.random_area(width, height)
        if any(v.codes.shape[1:3] != (height, width) for v in views):  # then the pass has to be told what it covers
            area = area or (0, 0, width, height)
        p = model.Pass(attachments, (width, height), area or (0, 0, width, height), self.samples, self.layers, self.single_sampled)
        # Depth and stencil that are not defined when the pass begins are only written.
        loads = [a is not None and (a.load == "clear" or (a.load == "load" and bool(a.plane.known.all()))) for a in attachments[-2:]]
        with self.device.render_pass(
            color=[given for given, _ in pairs], depth=z_pair[0], stencil=s_pair[0], area=area, layers=self.layers,
            samples=self.samples if self.single_sampled else 0,
        ) as rp:  # fmt: skip
            for _ in range(int(rng.integers(0, 7))):
                if rng.random() < 0.3:
                    self.clear(rp, p)
                else:
                    self.draw(rp, p, loads)
        self.stats, self.area = rp.stats, area
        model.run(p)

    def pass_count(self) -> int:
        return int(self.rng.integers(1, 4))

    def clear(self, rp: tg.RenderPass, p: model.Pass) -> None:
        rng = self.rng
        index = int(rng.choice([i for i, a in enumerate(p.attachments) if a is not None]))
        made = p.attachments[index]
        assert made is not None
        codes = random_codes(rng, made.plane.kind)
        left, top, width, height = p.area
        x, y = int(rng.integers(left, left + width)), int(rng.integers(top, top + height))
        rect = (x, y, int(rng.integers(1, left + width - x + 1)), int(rng.integers(1, top + height - y + 1)))
        value = api_value(made.plane.kind, codes)
        if index < len(self.colors):
            rp.clear({index: value}, rect=rect)
        elif index == len(self.colors):
            rp.clear(depth=value, rect=rect)
        else:
            rp.clear(stencil=int(value), rect=rect)
        p.commands.append(model.Clear(index, rect, codes))

    def draw(self, rp: tg.RenderPass, p: model.Pass, loads: list[bool]) -> None:
        rng = self.rng
        width, height = p.size
        depth = str(rng.choice(["none", "less" if loads[0] else "always", "always"])) if self.depth is not None else "none"
        stencil = str(rng.choice(["none", "increment" if loads[1] else "replace"])) if self.stencil is not None else "none"
        z = float(rng.integers(1, 16)) / 16
        reference = int(rng.integers(0, 256))
        points = rng.integers(-256, (max(width, height) + 8) * 32, (3, 2)) / 32 * rng.choice([1.0, 1.0, 0.25])
        corners = np.array([points])
        if rng.random() < 0.5:  # a rectangle
            (x0, y0), (x1, y1) = points[0], points[1]
            corners = np.array([[(x0, y0), (x1, y0), (x0, y1)], [(x1, y0), (x1, y1), (x0, y1)]])
        coverage = np.zeros((height, width, self.samples), bool)
        for corner in corners:
            coverage |= covered(snap(corner), width, height, self.samples)
        vertices = np.zeros(corners.size // 2, VERTEX)
        vertices["position"][:, :2] = corners.reshape(-1, 2) / (width, height) * 2 - 1
        vertices["position"][:, 2] = z
        made = list(p.attachments[: len(self.colors)])
        codes = [random_codes(rng, a.plane.kind) for a in made if a is not None]
        push = np.zeros((3, 4), np.uint32)
        for i, code in zip([i for i, a in enumerate(made) if a is not None], codes, strict=True):
            attachment = made[i]
            assert attachment is not None
            push[i] = push_bits(attachment.plane.kind, code)
        pipe = pipeline(self.number, self.which, self.samples, depth, stencil)
        rp.draw(
            pipe, vertices, push=push.tobytes() if codes else None,
            stencil_reference=reference if stencil != "none" else None,
        )  # fmt: skip
        z_plane = p.attachments[-2]
        z_code = 0
        if z_plane is not None:
            bits = z_plane.plane.kind.depth_bits
            z_code = int(np.float32(z).view(np.uint32)) if bits == 32 else int(np.rint(z * ((1 << bits) - 1)))
        p.commands.append(model.Draw(coverage, codes, z_code, depth, stencil, reference))

    def compare(self, what: str) -> None:
        targets = [*self.colors, *self.color_resolves, self.depth, self.depth_resolve, self.stencil, self.stencil_resolve]
        for target in {id(t): t for t in targets if t is not None}.values():
            for aspect, plane in target.planes.items():
                for layer in range(len(plane.codes)):
                    try:
                        got = target.image.numpy(layer=layer, aspect=aspect if aspect != "color" else None)
                    except tg.UndefinedContentsError as error:
                        assert not plane.readable(layer), f"{what}, {aspect}: {error}"
                        continue
                    assert plane.readable(layer), f"{what}, {aspect} of {target.image}: undefined contents were read"
                    self.compare_layer(got, plane, layer, f"{what}, {target.image}, {aspect}, layer {layer}")

    @staticmethod
    def compare_layer(got: np.ndarray, plane: model.Plane, layer: int, what: str) -> None:
        codes, known = plane.codes[layer], plane.known[layer]
        got = got.reshape((*codes.shape[:3], -1))
        kind = plane.kind
        if kind.color is None:
            have = got[..., 0].astype(np.float64)
            want = kind.values(codes)[..., 0]
            if kind.depth_bits in (16, 24):
                have = np.rint(have * ((1 << kind.depth_bits) - 1))
            wrong = known & (have != want)
        else:
            wrong = np.zeros(known.shape, bool)
            for k, c in enumerate(kind.color.components):
                # Images of array formats come in the order r, g, b, a as codes; packed ones as values.
                have = got[..., c.channel]
                if "_pack" in kind.color.name:
                    have = np.rint(have.astype(np.float64) * ((1 << c.bits) - 1)).astype(np.int64)
                elif kind.color.numeric == "sfloat":
                    have = have.view(np.uint16 if c.bits == 16 else np.uint32).astype(np.int64)
                else:
                    have = have.astype(np.int64) & ((1 << c.bits) - 1)
                slack = 1 if plane.inexact and c.channel < 3 else 0
                wrong |= known & (np.abs(have - codes[..., k]) > slack)
        if wrong.any():
            at = tuple(int(v) for v in np.argwhere(wrong)[0])
            raise AssertionError(
                f"{what}: {int(wrong.sum())} samples differ, the first at (y, x, sample) {at}: {got[at]} where {codes[at]} (codes) belong"
            )


def keep_capture(seed: int, number: int) -> Path:
    """Draws the case again up to a pass, which goes to a file with what it loads."""
    path = CAPTURES / f"{SEED}-{seed}-{number}.tgcap"
    path.parent.mkdir(parents=True, exist_ok=True)
    case = Case(seed)
    case.pass_count()
    for before in range(number + 1):
        if before == number:
            case.device.capture(path)
        case.run_pass()
    return path


def run_case(seed: int) -> Case:
    case = Case(seed)
    name = (
        f"case {seed} (TILEGPU_FUZZ_SEED={SEED}): {DEVICES[case.number]}, {SETS[case.which]}, {case.samples} samples"
        f"{' to single-sampled images' if case.single_sampled else ''}, {case.layers} layers"
    )
    for number in range(case.pass_count()):
        case.run_pass()
        try:
            case.compare(f"{name}, after pass {number} with area {case.area}, {case.stats.splits} splits")
        except AssertionError as error:
            raise AssertionError(f"{error}; the pass: tilegpu replay {keep_capture(seed, number)}") from error
    return case


def test_a_failing_pass_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It replays to what the case had drawn when it failed."""
    seed = 1375  # of one colour that both passes change, in one layer of one sample
    drawn: list[np.ndarray] = []

    def compare(case: Case, what: str) -> None:
        assert case.colors[0] is not None
        drawn.append(case.colors[0].image.numpy())
        if len(drawn) == 2:
            raise AssertionError(what)

    monkeypatch.setattr(Case, "compare", compare)
    monkeypatch.setitem(globals(), "CAPTURES", tmp_path)
    monkeypatch.setitem(globals(), "SEED", 0)
    path = tmp_path / f"0-{seed}-1.tgcap"
    with pytest.raises(AssertionError, match=f"after pass 1 with .*; the pass: tilegpu replay {path}$"):
        run_case(seed)
    replay = tg.Device(cache_dir="off").load_capture(path)
    replay.run()
    assert len(np.unique(drawn[1].reshape(-1, 4), axis=0)) > 2 and not np.array_equal(*drawn)
    assert np.array_equal(replay.pictures[0], drawn[1])


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_passes_are_the_model_s(block: int) -> None:
    for seed in range(block, CASES, BLOCKS):
        run_case(seed)
