"""Storage images: stores, loads and atomic operations by shaders, for every format, dimension and place, against NumPy; what is outside of
an image, null or of another kind; what other passes and commands see of it; and the draws that must run exactly once for each fragment."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from oracle import formats as oracle

SIDE = 16
COUNT = SIDE * SIDE
FULL = """#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4 - 1, (gl_VertexIndex >> 1) * 4 - 1), 0.5, 1.0); }"""
HEAD = """#version 450
#extension GL_EXT_shader_image_load_formatted : require
"""
AT = "int at = int(gl_FragCoord.y) * 16 + int(gl_FragCoord.x);"
#: Neither sRGB nor words with unused bits are storage.
STORED = [n for n in oracle.COLOR_FORMATS if not n.split("_pack")[0].endswith("srgb") and "x6" not in n and "x4" not in n]
LETTER = {"float": "", "int": "i", "uint": "u"}
MORE = ["r8g8b8a8_snorm", "a2b10g10r10_snorm_pack32", "a2r10g10b10_sint_pack32"]


@pytest.fixture(scope="module")
def dev() -> tg.Device:
    return tg.Device(cache_dir="off", threads=2)


def run(dev: tg.Device, frag: str, bind: Any, *, side: int = SIDE, **state: Any) -> tg.RenderPass:
    """A triangle over a small attachment that nobody looks at."""
    out = dev.image((side, side), "r8_unorm")
    pipe = dev.pipeline(FULL, HEAD + frag, color=[out], **state)
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind=bind)
    return rp


def base_of(name: str) -> str:
    return {"uint": "uint", "sint": "int"}.get(tg.format_info(name).numeric, "float")


def raw(dev: tg.Device, image: tg.Image) -> bytes:
    """The texels of a 16x16 image as they lie in memory."""
    buffer = dev.buffer(COUNT * tg.format_info(image.format).texel_B)
    dev.copy(image, buffer)
    return bytes(buffer.numpy())


def colours(name: str) -> np.ndarray:
    """(256, 4) values with the edges of every format among them, as the shader's vectors hold them."""
    rng = np.random.default_rng(sum(name.encode()))
    base = base_of(name)
    if base != "float":
        values = rng.integers(-(1 << 31) if base == "int" else 0, 1 << (31 if base == "int" else 32), (COUNT, 4))
        values[:64] >>= rng.integers(0, 32, (64, 4))
        edges = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, (1 << 31) - 1]
        edges += [-1, -128, -129, -32768, -32769, -(1 << 31)] if base == "int" else [(1 << 32) - 1]
        values[64 : 64 + len(edges)] = np.array(edges)[:, None]
        return values.astype(np.int32 if base == "int" else np.uint32)
    values = rng.uniform(-1.5, 1.5, (COUNT, 4)).astype(np.float32)
    values[64:128] = rng.integers(0, 256, (64, 4)) / np.float32(255)  # codes, and halves between them
    values[128:160] = (rng.integers(0, 510, (32, 4)) / np.float32(510)).astype(np.float32)
    edges = [0, -0.0, 1, -1, 0.5, 1e-7, 6e-8, 6.1e-5, 65504, 2e-5, 1000.25]
    values[160 : 160 + len(edges)] = np.array(edges, np.float32)[:, None]
    return np.minimum(values, np.float32(64512)) if name.startswith("b10g11") else values  # the largest finite one


def write_of(name: str, declared: str = "") -> str:
    base = base_of(name)
    prefix, layout = LETTER[base], f", {declared}" if declared else ""
    return (
        f"layout(binding = 0{layout}) uniform writeonly {prefix}image2D target;\n"
        f"layout(std430, binding = 1) readonly buffer B {{ {prefix}vec4 values[]; }};\n"
        f"void main() {{ {AT} imageStore(target, ivec2(gl_FragCoord.xy), values[at]); }}"
    )


# -- formats


@pytest.mark.parametrize("name", [*STORED, *MORE])
def test_stores_convert_as_the_specification_says(dev: tg.Device, name: str) -> None:
    image = dev.image((SIDE, SIDE), name, usage="storage|transfer_src")
    values = colours(name)
    run(dev, write_of(name), {"target": image, "B": dev.buffer(values)})
    form = oracle.parse(name)
    want = oracle.encode(form, values if base_of(name) == "float" else values.astype(np.int64))
    got = oracle.from_bytes(form, raw(dev, image))
    if form.numeric in ("unorm", "snorm"):  # float32's product is rounded once: a half may fall either way
        steps = np.abs(want - got)
        steps = np.minimum(steps, (1 << np.array([c.bits for c in form.components])) - steps)
        assert steps.max() <= 1 and (steps > 0).mean() < 0.01
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", [*STORED, *MORE])
def test_loads_give_what_the_texel_means(dev: tg.Device, name: str) -> None:
    form = oracle.parse(name)
    rng = np.random.default_rng(sum(name.encode()))
    codes = np.stack([rng.integers(0, 1 << c.bits, COUNT) for c in form.components], 1)
    if form.numeric in ("sfloat", "ufloat"):  # infinities and NaNs have a test of their own
        for k, c in enumerate(form.components):
            exponent = c.bits - 1 - (23 if c.bits == 32 else 10 if c.bits == 16 else 0)
            mantissa = {32: 23, 16: 10}.get(c.bits, c.bits - 5)
            exponent = 8 if c.bits == 32 else 5
            high = (codes[:, k] >> mantissa) & ((1 << exponent) - 1) == (1 << exponent) - 1
            codes[high, k] ^= 1 << mantissa
    buffer = dev.buffer(oracle.to_bytes(form, codes))
    image = dev.image((SIDE, SIDE), name, usage="storage|transfer_dst")
    dev.copy(buffer, image)
    prefix = LETTER[base_of(name)]
    kind = {"": np.float32, "i": np.int32, "u": np.uint32}[prefix]
    result = dev.buffer(COUNT * 16)
    frag = (
        f"layout(binding = 0) uniform readonly {prefix}image2D source;\n"
        f"layout(std430, binding = 1) writeonly buffer B {{ {prefix}vec4 values[]; }};\n"
        f"void main() {{ {AT} values[at] = imageLoad(source, ivec2(gl_FragCoord.xy)); }}"
    )
    run(dev, frag, {"source": image, "B": result})
    want = oracle.decode(form, codes)
    np.testing.assert_array_equal(result.numpy(kind, (COUNT, 4)), want.astype(kind) if kind is not np.float32 else want.astype(np.float32))


DECLARED = {
    "rgba32f": "r32g32b32a32_sfloat", "rgba16f": "r16g16b16a16_sfloat", "rg32f": "r32g32_sfloat", "rg16f": "r16g16_sfloat",
    "r11f_g11f_b10f": "b10g11r11_ufloat_pack32", "r32f": "r32_sfloat", "r16f": "r16_sfloat", "rgba16": "r16g16b16a16_unorm",
    "rgb10_a2": "a2b10g10r10_unorm_pack32", "rgba8": "r8g8b8a8_unorm", "rg16": "r16g16_unorm", "rg8": "r8g8_unorm", "r16": "r16_unorm",
    "r8": "r8_unorm", "rgba16_snorm": "r16g16b16a16_snorm", "rgba8_snorm": "r8g8b8a8_snorm", "rg16_snorm": "r16g16_snorm",
    "rg8_snorm": "r8g8_snorm", "r16_snorm": "r16_snorm", "r8_snorm": "r8_snorm", "rgba32i": "r32g32b32a32_sint",
    "rgba16i": "r16g16b16a16_sint", "rgba8i": "r8g8b8a8_sint", "rg32i": "r32g32_sint", "rg16i": "r16g16_sint", "rg8i": "r8g8_sint",
    "r32i": "r32_sint", "r16i": "r16_sint", "r8i": "r8_sint", "rgba32ui": "r32g32b32a32_uint", "rgba16ui": "r16g16b16a16_uint",
    "rgb10_a2ui": "a2b10g10r10_uint_pack32", "rgba8ui": "r8g8b8a8_uint", "rg32ui": "r32g32_uint", "rg16ui": "r16g16_uint",
    "rg8ui": "r8g8_uint", "r32ui": "r32_uint", "r16ui": "r16_uint", "r8ui": "r8_uint",
}  # fmt: skip


def test_declared_formats_are_those_of_vulkan(dev: tg.Device) -> None:
    """Each takes a view of its format, gives the bits that no format gives, and refuses a view of another one."""
    for declared, name in DECLARED.items():
        values = dev.buffer(colours(name))
        images = [dev.image((SIDE, SIDE), name, usage="storage|transfer_src") for _ in range(2)]
        run(dev, write_of(name, declared), {"target": images[0], "B": values})
        run(dev, write_of(name), {"target": images[1], "B": values})
        assert raw(dev, images[0]) == raw(dev, images[1]), declared
        other = {"float": "r32_sfloat", "int": "r32_sint", "uint": "r32_uint"}[base_of(name)]
        other = other if other != name else {"float": "r16_sfloat", "int": "r16_sint", "uint": "r16_uint"}[base_of(name)]
        with pytest.raises(tg.ValidationError, match=f"format.*{other}.*{name}, which the shader declares"):
            run(dev, write_of(name, declared), {"target": dev.image((SIDE, SIDE), other), "B": values})


def test_nan_and_infinity(dev: tg.Device) -> None:
    special = np.array([0x7F800000, 0xFF800000, 0x7FC12345, 0xFFC00001, 0x7F800001, 0x80000000], np.uint32).view(np.float32)
    values = np.tile(np.resize(special, COUNT)[:, None], (1, 4)).copy()
    for name, nan, infinity in [("r32_sfloat", 0x7FC00000, 0x7F800000), ("r16_sfloat", 0x7E00, 0x7C00)]:
        image = dev.image((SIDE, SIDE), name, usage="storage|transfer_src")
        run(dev, write_of(name), {"target": image, "B": dev.buffer(values)})
        got = oracle.from_bytes(oracle.parse(name), raw(dev, image))[:6, 0]
        sign = 1 << (8 * tg.format_info(name).texel_B - 1)
        assert got.tolist() == [infinity, infinity | sign, nan, nan, nan, sign]


# -- dimensions: every texel is written by its own coordinates, among many that are outside

SHAPES = [
    # name, image, view, GLSL, coordinate from (x, y, z), size in texels
    ("1d", {"size": (13,)}, "1d", "image1D", "c.x", (13, 1, 1)),
    ("1d_array", {"size": (13,), "layers": 5}, "1d_array", "image1DArray", "ivec2(c.x, c.z)", (13, 1, 5)),
    ("2d", {"size": (13, 7)}, "2d", "image2D", "c.xy", (13, 7, 1)),
    ("2d_array", {"size": (13, 7), "layers": 5}, "2d_array", "image2DArray", "c", (13, 7, 5)),
    ("3d", {"size": (13, 7, 5)}, "3d", "image3D", "c", (13, 7, 5)),
    ("cube", {"size": (7, 7), "cube": True}, "cube", "imageCube", "c", (7, 7, 6)),
    ("cube_array", {"size": (7, 7), "cube": True, "layers": 12}, "cube_array", "imageCubeArray", "c", (7, 7, 12)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=[s[0] for s in SHAPES])
@pytest.mark.parametrize("name", ["r32_uint", "r16_uint", "r32g32b32a32_uint"])
def test_dimensions_and_what_is_outside(dev: tg.Device, shape: Any, name: str) -> None:
    _, made, view, glsl, coordinate, (width, height, depth) = shape
    arguments = dict(made)
    image = dev.image(arguments.pop("size"), name, mip_levels=2 if width > 1 else 1, **arguments)
    for layer in range(image.layers if image.type != "3d" else image.depth):
        image_fill(dev, image, 0, layer, 7)
        if image.type != "3d" or layer < image.depth // 2:
            image_fill(dev, image, 1, layer, 9)
    body = f"""
layout(binding = 0) uniform u{glsl} target;
layout(std430, binding = 1) buffer B {{ uint sum; uint outside; uint size[3]; }};
void main() {{
  int lane = int(gl_FragCoord.y) * 64 + int(gl_FragCoord.x);
  ivec3 c = ivec3(lane % 16, lane / 16 % 16, lane / 256) - ivec3(1);
  if (lane % 5 == 3) c = c * 0x10000001;
  imageStore(target, {coordinate}, uvec4(c.x + 100 * c.y + 10000 * c.z));
  if (lane < 16) {{ uvec4 v = imageLoad(target, {coordinate.replace("c", "ivec3(-1 - lane)") if coordinate == "c" else coordinate.replace("c.", "ivec3(-1 - lane).")}); atomicAdd(outside, v.x); }}
}}"""
    counts = dev.buffer(np.zeros(5, np.uint32))
    run(dev, body, {"target": image.view(view), "B": counts}, side=64)
    got = np.stack([image.numpy(0, z)[:, :, 0] for z in range(depth)])
    lane = np.arange(64 * 64)
    c = np.stack([lane % 16, lane // 16 % 16, lane // 256]).astype(np.int64) - 1
    far = lane % 5 == 3
    wild = ((c * 0x10000001 + (1 << 31)) % (1 << 32)) - (1 << 31)
    c = np.where(far, wild, c)
    want = np.full((depth, height, width), 7, np.int64)
    kept = np.ones(len(lane), bool)
    used = {"1d": (0,), "1d_array": (0, 2), "2d": (0, 1)}.get(shape[0], (0, 1, 2))
    for axis in used:
        kept &= (c[axis] >= 0) & (c[axis] < (width, height, depth)[axis])
    order = np.flatnonzero(kept)
    value = (c[0] + 100 * c[1] + 10000 * c[2]) % (1 << 32)
    value = np.minimum(value, 0xFFFF) if name == "r16_uint" else value
    if len(used) == 3:  # else many lanes meet in a texel: the last that was written counts, whichever it is
        want[c[2, order], c[1, order], c[0, order]] = value[order]
        np.testing.assert_array_equal(got, want)
    else:
        possible: dict[tuple[int, ...], set[int]] = {}
        for i in order:
            at = tuple(int(c[a, i]) if a in used else 0 for a in (2, 1, 0))
            possible.setdefault(at, set()).add(int(value[i]))
        for at, values in possible.items():
            assert int(got[at]) in values, at
    assert counts.numpy()[1] == 0
    for layer in range(image._layer_count(1)):
        assert (image.numpy(1, layer)[..., 0] == 9).all()  # the next level lies behind


def image_fill(dev: tg.Device, image: tg.Image, level: int, layer: int, value: int) -> None:
    info = tg.format_info(image.format)
    width, height = max(1, image.width >> level), max(1, image.height >> level)
    kind = {2: np.uint16, 4: np.uint32, 16: np.uint32}[info.texel_B]
    where: dict[str, Any] = {"destination_level": level}
    where |= {"destination_pos": (0, 0, layer)} if image.type == "3d" else {"destination_layer": layer}
    dev.copy(np.full((height, width, info.component_count), value, kind), image, **where)


@pytest.mark.parametrize("samples", [2, 4, 16])
def test_samples(dev: tg.Device, samples: int) -> None:
    image = dev.image((SIDE, SIDE), "r32_uint", samples=samples, usage="storage|transfer_src")
    frag = f"""layout(binding = 0, r32ui) uniform uimage2DMS target;
layout(std430, binding = 1) buffer B {{ uint read[]; }};
void main() {{ {AT}
  for (int s = -1; s <= {samples}; ++s) imageStore(target, ivec2(gl_FragCoord.xy), s, uvec4(at * 100 + s));
  uint sum = imageLoad(target, ivec2(gl_FragCoord.xy), {samples}).x + imageLoad(target, ivec2(gl_FragCoord.xy), -1).x;
  for (int s = 0; s < {samples}; ++s) sum += imageAtomicAdd(target, ivec2(gl_FragCoord.xy), s, 1000000u);
  read[at] = sum; }}"""
    read = dev.buffer(COUNT * 4)
    run(dev, frag, {"target": image, "B": read})
    got = image.numpy()[..., 0].reshape(COUNT, samples)
    at, s = np.arange(COUNT)[:, None], np.arange(samples)[None]
    np.testing.assert_array_equal(got, at * 100 + s + 1000000)
    np.testing.assert_array_equal(read.numpy(np.uint32), (at * 100 + s).sum(1))


def test_sizes(dev: tg.Device) -> None:
    wanted = {"image1D": 1, "image1DArray": 2, "image2D": 2, "image2DArray": 3, "image3D": 3, "imageCube": 2, "imageCubeArray": 3}
    for _, made, view, glsl, _, size in SHAPES:
        arguments = dict(made)
        image = dev.image(arguments.pop("size"), "r32_sfloat", **arguments)
        components = wanted[glsl]
        result = dev.buffer(np.zeros(4, np.int32))
        frag = f"""layout(binding = 0) uniform readonly {glsl} source;
layout(std430, binding = 1) buffer B {{ int size[4]; }};
void main() {{ {"int" if components == 1 else f"ivec{components}"} s = imageSize(source); {"".join(f"size[{k}] = s{f'[{k}]' if components > 1 else ''};" for k in range(components))} }}"""
        run(dev, frag, {"source": image.view(view), "B": result})
        want = {"image1DArray": (size[0], size[2]), "imageCubeArray": (*size[:2], size[2] // 6)}.get(glsl, size)[:components]
        assert tuple(result.numpy()[:components]) == want, glsl


# -- atomics

OPERATIONS = {
    "imageAtomicAdd": lambda a, v: a + v, "imageAtomicMin": min, "imageAtomicMax": max, "imageAtomicAnd": lambda a, v: a & v,
    "imageAtomicOr": lambda a, v: a | v, "imageAtomicXor": lambda a, v: a ^ v,
}  # fmt: skip


@pytest.mark.parametrize("base", ["uint", "int"])
@pytest.mark.parametrize("operation", list(OPERATIONS))
def test_atomics_of_many_fragments_in_a_texel(dev: tg.Device, operation: str, base: str) -> None:
    prefix, kind = ("u", np.uint32) if base == "uint" else ("i", np.int32)
    values = np.random.default_rng(5).integers(0, 1 << 32, COUNT, np.uint64).astype(np.uint32).view(kind)
    start = 0 if operation in ("imageAtomicAdd", "imageAtomicOr", "imageAtomicXor") else -1
    image = dev.image((4, 4), f"r32_{'uint' if base == 'uint' else 'sint'}")
    dev.copy(np.full((4, 4, 1), start, np.int32).view(kind), image)
    frag = f"""layout(binding = 0, r32{prefix if prefix == "i" else "ui"}) uniform {prefix}image2D target;
layout(std430, binding = 1) readonly buffer B {{ {base} values[]; }};
void main() {{ {AT} {operation}(target, ivec2(at & 1, at >> 1 & 3), values[at]); {operation}(target, ivec2(4, at), values[at]); }}"""
    run(dev, frag, {"target": image, "B": dev.buffer(values)})
    got = image.numpy()[..., 0]
    for x in range(2):
        for y in range(4):
            want = int(np.array(start, np.int32).view(kind))
            for at in range(COUNT):
                if at & 1 == x and at >> 1 & 3 == y:
                    want = OPERATIONS[operation](want, int(values[at]))
            assert got[y, x] == np.array(want & 0xFFFFFFFF, np.uint32).view(kind)
    assert (got[:, 2:].view(np.int32) == start).all()


def test_exchange_and_compare(dev: tg.Device) -> None:
    """A counter by compare-and-swap counts each fragment once; exchanges hand each value on once."""
    image = dev.image((2, 1), "r32_uint")
    dev.copy(np.array([[[0], [999]]], np.uint32), image)
    frag = f"""layout(binding = 0, r32ui) uniform uimage2D target;
layout(std430, binding = 1) buffer B {{ uint counted[256]; uint handed[256]; }};
void main() {{ {AT}
  uint seen = 0u, was;
  for (int k = 0; k < 100000; ++k) {{ was = imageAtomicCompSwap(target, ivec2(0), seen, seen + 1u); if (was == seen) break; seen = was; }}
  counted[at] = seen;
  handed[at] = imageAtomicExchange(target, ivec2(1, 0), uint(at));
  imageAtomicCompSwap(target, ivec2(-1, 0), 0u, 5u); }}"""
    result = dev.buffer(np.zeros(512, np.uint32))
    run(dev, frag, {"target": image, "B": result})
    got = result.numpy()
    assert sorted(got[:256]) == list(range(256)) and image.numpy()[0, 0, 0] == 256
    assert sorted([*got[256:], image.numpy()[0, 1, 0]]) == sorted([999, *range(256)])


def test_atomics_want_whole_words(dev: tg.Device) -> None:
    frag = "layout(binding = 0, r32ui) uniform uimage2D target; void main() { imageAtomicAdd(target, ivec2(0), 1u); }"
    with pytest.raises(tg.ValidationError, match="r16_uint"):
        run(dev, frag, {"target": dev.image((4, 4), "r16_uint")})


# -- descriptors


def test_views_of_levels_layers_and_slices(dev: tg.Device) -> None:
    image = dev.image((8, 8), "r32_uint", mip_levels=3, layers=4)
    volume = dev.image((8, 8, 4), "r32_uint")
    for level in range(3):
        for layer in range(4):
            image_fill(dev, image, level, layer, 0)
    for z in range(4):
        image_fill(dev, volume, 0, z, 0)
    frag = "layout(binding = 0, r32ui) uniform uimage2D a; layout(binding = 1, r32ui) uniform uimage2D b;\n"
    frag += "void main() { imageStore(a, ivec2(gl_FragCoord.xy), uvec4(5)); imageStore(b, ivec2(gl_FragCoord.xy), uvec4(6)); }"
    run(dev, frag, {"a": image.view("2d", level=1, levels=2, layer=2, layers=1), "b": volume.view("2d", levels=1, layer=3, layers=1)})
    for level in range(3):
        for layer in range(4):
            assert (image.numpy(level, layer) == (5 if (level, layer) == (1, 2) else 0)).all(), (level, layer)
    for z in range(4):
        assert (volume.numpy(0, z) == (6 if z == 3 else 0)).all()


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_arrays_by_lane_with_holes(lanes: int) -> None:
    dev = tg.Device(cache_dir="off", lanes=lanes)
    images = [dev.image((SIDE, SIDE), "r32_uint") for _ in range(4)]
    for image in images:
        image_fill(dev, image, 0, 0, 1)
    frag = f"""#extension GL_EXT_nonuniform_qualifier : require
layout(binding = 0, r32ui) uniform uimage2D targets[5];
layout(std430, binding = 1) buffer B {{ uint read[]; }};
void main() {{ {AT} int k = at % 5;
  imageStore(targets[nonuniformEXT(k)], ivec2(gl_FragCoord.xy), uvec4(at));
  read[at] = imageAtomicAdd(targets[nonuniformEXT(k)], ivec2(gl_FragCoord.xy), 1000u) + imageLoad(targets[nonuniformEXT(k)], ivec2(gl_FragCoord.xy)).x
           + imageSize(targets[nonuniformEXT(k)]).x; }}"""
    read = dev.buffer(COUNT * 4)
    run(dev, frag, {"targets": [*images[:2], None, *images[2:]], "B": read})
    at = np.arange(COUNT)
    want = np.where(at % 5 == 2, 0, 2 * at + 1000 + SIDE)
    np.testing.assert_array_equal(read.numpy(np.uint32), want)
    for k, image in zip((0, 1, 3, 4), images, strict=True):
        np.testing.assert_array_equal(image.numpy()[..., 0].reshape(-1), np.where(at % 5 == k, at + 1000, 1))


def test_a_null_image_keeps_nothing(dev: tg.Device) -> None:
    frag = f"""layout(binding = 0, r32ui) uniform uimage2D target;
layout(std430, binding = 1) buffer B {{ uint read[]; }};
void main() {{ {AT} imageStore(target, ivec2(0), uvec4(at)); read[at] = imageLoad(target, ivec2(0)).x + imageAtomicAdd(target, ivec2(0), 7u)
  + imageSize(target).x; }}"""
    read = dev.buffer(np.full(COUNT, 5, np.uint32))
    run(dev, frag, {"target": None, "B": read})
    assert (read.numpy() == 0).all()


STORE = "layout(binding = 0) uniform writeonly image2D target; void main() { imageStore(target, ivec2(gl_FragCoord.xy), vec4(1)); }"


def test_wrong_views_are_named(dev: tg.Device) -> None:
    image = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
    with pytest.raises(tg.ValidationError, match=r"target.*swizzle"):
        run(dev, STORE, {"target": image.view(swizzle="bgra")})
    with pytest.raises(tg.ValidationError, match=r"target.*usage.*storage"):
        run(dev, STORE, {"target": dev.image((SIDE, SIDE), "r8g8b8a8_unorm", usage="sampled")})
    with pytest.raises(tg.ValidationError, match=r"target.*format.*r8g8b8a8_uint.*floats"):
        run(dev, STORE, {"target": dev.image((SIDE, SIDE), "r8g8b8a8_uint")})
    with pytest.raises(tg.Error, match="storage with format r8g8b8a8_srgb"):
        dev.image((SIDE, SIDE), "r8g8b8a8_srgb", usage="storage")
    with pytest.raises(tg.Error, match="storage with format d32_sfloat"):
        dev.image((SIDE, SIDE), "d32_sfloat", usage="storage")
    with pytest.raises(tg.ValidationError, match=r"storage_image.*must be an image"):
        run(dev, STORE, {"target": dev.buffer(64)})
    with pytest.raises(tg.ValidationError, match="reads a 2d image, the view is 2d_array"):
        run(dev, STORE, {"target": dev.image((SIDE, SIDE), "r8g8b8a8_unorm", layers=2).view("2d_array")})
    with pytest.raises(tg.ValidationError, match="single-sampled"):
        run(dev, STORE, {"target": dev.image((SIDE, SIDE), "r8g8b8a8_unorm", samples=4)})


# -- other passes, other commands


def test_a_store_is_seen_by_later_passes(dev: tg.Device) -> None:
    image = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
    assert image.core.why_undefined(1, 0, 0)
    run(dev, STORE, {"target": image})
    assert not image.core.why_undefined(1, 0, 0)
    out = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
    frag = "#version 450\nlayout(binding = 0) uniform sampler2D t; layout(location = 0) out vec4 o; void main() { o = texelFetch(t, ivec2(gl_FragCoord.xy), 0) * 0.5; }"
    pipe = dev.pipeline(FULL, frag, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"t": (image, dev.sampler())})
    assert (out.numpy() == 128).all()
    again = dev.pipeline(FULL, "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0.25); }", color=[image],
                         blend={"src_color": "one", "dst_color": "one", "color_op": "reverse_subtract", "src_alpha": "one", "dst_alpha": "one", "alpha_op": "reverse_subtract"})
    with dev.render_pass(color=[tg.Attachment(image, load_op="load")]) as rp:  # an attachment that goes on with what was stored
        rp.draw(again, count=3)
    assert (image.numpy() == 191).all()


def test_what_was_discarded_is_defined_where_it_is_stored(dev: tg.Device) -> None:
    image = dev.image((SIDE, SIDE), "r8g8b8a8_unorm", label="lost")
    with dev.render_pass(color=[tg.Attachment(image, load_op="clear", clear=(0, 0, 0, 0), store_op="dont_care")]):
        pass
    assert "dont_care" in image.core.why_undefined(1, 0, 0)
    run(dev, STORE, {"target": image})
    assert (image.numpy() == 255).all()


def test_an_attachment_of_the_same_pass_is_feedback(dev: tg.Device) -> None:
    image = dev.image((SIDE, SIDE), "r8g8b8a8_unorm", label="both")
    pipe = dev.pipeline(FULL, HEAD + STORE, color=[image])
    attachment = tg.Attachment(image, clear=(0, 0, 0, 0))
    with pytest.raises(tg.ValidationError, match=r"target.*both"), dev.render_pass(color=[attachment]) as rp:
        rp.draw(pipe, count=3, bind={"target": image})
    levels = dev.image((SIDE, SIDE), "r8g8b8a8_unorm", mip_levels=2)
    with dev.render_pass(color=[tg.Attachment(levels.view("2d", level=0, levels=1), clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"target": levels.view("2d", level=1, levels=1)})
    assert (levels.numpy(1) == 255).all() and (levels.numpy(0) == 0).all()


# -- exactly once for each fragment

SCENE = """#version 450
layout(location = 0) in vec3 position;
void main() { gl_Position = vec4(position, 1.0); }"""
COUNTING = """#version 450
%s
layout(binding = 0, r32ui) uniform uimage2D counts;
layout(location = 0) out vec4 o;
void main() { %s imageAtomicAdd(counts, ivec2(gl_FragCoord.xy), 1u); o = vec4(1); %s }"""


def layers(depths: list[float]) -> np.ndarray:
    """A triangle over everything at each depth."""
    corners = np.array([(-1, -1), (3, -1), (-1, 3)], np.float32)
    return np.concatenate([np.c_[corners, np.full(3, z, np.float32)] for z in depths]).astype(np.float32)


@pytest.mark.parametrize("hsr", ["off", "pre_pass", "all"])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(("early", "want"), [("", 4), ("layout(early_fragment_tests) in;", 3)])
def test_hidden_fragments_write_as_the_api_says(dev: tg.Device, hsr: str, samples: int, early: str, want: int) -> None:
    """Far to near and one behind: late tests count all four, early ones the three that passed when they were drawn."""
    counts = dev.image((SIDE, SIDE), "r32_uint")
    image_fill(dev, counts, 0, 0, 0)
    colour = dev.image((SIDE, SIDE), "r8g8b8a8_unorm", samples=samples)
    depth = dev.image((SIDE, SIDE), "d32_sfloat", samples=samples)
    pipe = dev.pipeline(SCENE, COUNTING % (early, "", ""), color=[colour], depth=depth, depth_test=True, depth_write=True,
                        samples=samples, vertex=np.dtype([("position", "f4", 3)]))
    vertices = layers([0.9, 0.6, 0.3, 0.5]).view([("position", "f4", 3)]).reshape(-1)
    with dev.render_pass(color=[tg.Attachment(colour, clear=(0, 0, 0, 0))], depth=tg.Attachment(depth, clear=1.0), hsr=hsr) as rp:
        rp.draw(pipe, vertices, bind={"counts": counts})
    assert (counts.numpy() == want).all()


def test_helpers_and_killed_fragments_write_nothing(dev: tg.Device) -> None:
    counts = dev.image((SIDE, SIDE), "r32_uint")
    image_fill(dev, counts, 0, 0, 0)
    colour = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
    body = COUNTING % ("layout(binding = 1) uniform sampler2D t;", "if ((int(gl_FragCoord.x) + int(gl_FragCoord.y)) % 3 == 0) discard; vec4 d = texture(t, gl_FragCoord.xy / 16.0);", "o = d;")
    pipe = dev.pipeline(SCENE, body, color=[colour], vertex=np.dtype([("position", "f4", 3)]))
    triangle = np.array([(-1, -1, 0.5), (0.7, -1, 0.5), (-1, 0.9, 0.5)], np.float32).view([("position", "f4", 3)]).reshape(-1)
    texture = dev.texture(np.full((4, 4, 4), 255, np.uint8))
    with dev.render_pass(color=[tg.Attachment(colour, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, triangle, bind={"counts": counts, "t": texture})
    got = counts.numpy()[..., 0]
    covered = colour.numpy()[..., 0] == 255
    assert 20 < covered.sum() < 150 and (got == covered).all()
    y, x = np.mgrid[:SIDE, :SIDE]
    assert not got[(x + y) % 3 == 0].any()


def test_helpers_store_nothing(dev: tg.Device) -> None:
    """Neither those beside the triangle nor the demoted ones, which go on for the sake of derivatives."""
    target = dev.image((SIDE, SIDE), "r32_uint")
    image_fill(dev, target, 0, 0, 0)
    colour = dev.image((SIDE, SIDE), "r8g8b8a8_unorm")
    frag = """#version 450
#extension GL_EXT_demote_to_helper_invocation : require
layout(binding = 0, r32ui) uniform uimage2D target; layout(binding = 1) uniform sampler2D t; layout(location = 0) out vec4 o;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); if ((p.x + p.y) % 3 == 0) demote;
  imageStore(target, p, uvec4(1)); o = texture(t, gl_FragCoord.xy / 16.0); }"""
    pipe = dev.pipeline(SCENE, frag, color=[colour], vertex=np.dtype([("position", "f4", 3)]))
    triangle = np.array([(-1, -1, 0.5), (0.7, -1, 0.5), (-1, 0.9, 0.5)], np.float32).view([("position", "f4", 3)]).reshape(-1)
    texture = dev.texture(np.full((4, 4, 4), 255, np.uint8))
    with dev.render_pass(color=[tg.Attachment(colour, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, triangle, bind={"target": target, "t": texture})
    covered = colour.numpy()[..., 0] == 255
    assert 20 < covered.sum() < 150 and (target.numpy()[..., 0] == covered).all()


def test_the_same_bits_everywhere() -> None:
    """Any lanes, threads and code: what each fragment stores of its own, and sums of atomics."""
    results = []
    frag = """layout(binding = 0) uniform image2D target; layout(binding = 1, r32ui) uniform uimage2D sums;
void main() { ivec2 p = ivec2(gl_FragCoord.xy); vec4 v = vec4(gl_FragCoord.xy * 0.013, sin(float(p.x * p.y)), 1.5);
  imageStore(target, p, v); v += imageLoad(target, p); imageStore(target, p, v * 0.3);
  imageAtomicAdd(sums, p & 7, uint(p.x * 31 + p.y)); }"""
    for lanes, threads in [(4, 1), (8, 2), (16, 1), (16, 2)]:
        dev = tg.Device(cache_dir="off", lanes=lanes, threads=threads)
        target, sums = dev.image((96, 96), "r16g16b16a16_sfloat"), dev.image((8, 8), "r32_uint")
        image_fill(dev, sums, 0, 0, 0)
        run(dev, frag, {"target": target, "sums": sums}, side=96)
        results.append((target.numpy().tobytes(), sums.numpy().tobytes()))
    assert len(set(results)) == 1


def test_vertex_shaders_store(dev: tg.Device) -> None:
    image = dev.image((64, 1), "r32_uint")
    image_fill(dev, image, 0, 0, 0)
    vert = """#version 450
layout(binding = 0, r32ui) uniform uimage2D target;
void main() { imageAtomicAdd(target, ivec2(gl_VertexIndex, 0), 1u + gl_InstanceIndex); gl_Position = vec4(0, 0, 0, 1); }"""
    out = dev.image((8, 8), "r8_unorm")
    pipe = dev.pipeline(vert, "#version 450\nlayout(location = 0) out float o; void main() { o = 1.0; }", color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=45, instances=2, bind={"target": image})
    np.testing.assert_array_equal(image.numpy()[0, :, 0], np.where(np.arange(64) < 45, 3, 0))


# -- texel buffers


@pytest.mark.parametrize("name", ["r32_sfloat", "r8g8b8a8_unorm", "r16g16_sint", "r32g32b32a32_uint", "r8_snorm", "a2b10g10r10_unorm_pack32"])
def test_texel_buffers_read_and_write(dev: tg.Device, name: str) -> None:
    form, base = oracle.parse(name), base_of(name)
    prefix, kind = LETTER[base], {"float": np.float32, "int": np.int32, "uint": np.uint32}[base]
    values = colours(name)
    target = dev.buffer(np.zeros(COUNT * form.texel_B + 64, np.uint8))
    frag = f"""layout(binding = 0) uniform writeonly {prefix}imageBuffer target;
layout(std430, binding = 1) readonly buffer B {{ {prefix}vec4 values[]; }};
void main() {{ {AT} imageStore(target, at, values[at]); imageStore(target, at + 256, values[at]); imageStore(target, -1 - at, values[at]); }}"""
    run(dev, frag, {"target": target.texels(name, 16, COUNT * form.texel_B), "B": dev.buffer(values)})
    assert not target.numpy()[:16].any() and not target.numpy()[16 + COUNT * form.texel_B :].any()
    codes = oracle.from_bytes(form, bytes(target.numpy()[16 : 16 + COUNT * form.texel_B]))
    want = oracle.encode(form, values if base == "float" else values.astype(np.int64))
    assert (np.abs(codes - want) > 0).mean() < 0.01
    for declaration, read in [(f"{prefix}samplerBuffer", "texelFetch(source, %s)"), (f"readonly {prefix}imageBuffer", "imageLoad(source, %s)")]:
        result = dev.buffer(np.full(COUNT * 4 + 8, 77, kind))
        frag = f"""layout(binding = 0) uniform {declaration} source;
layout(std430, binding = 1) buffer B {{ {prefix}vec4 values[256]; int size; uint beyond; }};
void main() {{ {AT} values[at] = {read % "at"}; if (at == 0) size = {"textureSize" if "sampler" in declaration else "imageSize"}(source);
  if (at == 1) beyond = uint({read % "256"}.x) + uint({read % "-1"}.x) + uint({read % "0x7fffffff"}.y); }}"""
        run(dev, frag, {"source": target.texels(name, 16, COUNT * form.texel_B), "B": result})
        got = result.numpy()
        np.testing.assert_array_equal(got[: COUNT * 4].reshape(COUNT, 4), oracle.decode(form, codes).astype(kind))
        assert got.view(np.int32)[COUNT * 4] == COUNT and got.view(np.uint32)[COUNT * 4 + 1] == 0


@pytest.mark.parametrize(("name", "kind"), [("r32g32b32_sfloat", np.float32), ("r32g32b32_uint", np.uint32), ("r32g32b32_sint", np.int32)])
def test_texel_buffers_of_three_components_are_read(dev: tg.Device, name: str, kind: Any) -> None:
    """The fourth is 1; what is beyond reads 0; writes are refused."""
    prefix = {np.float32: "", np.uint32: "u", np.int32: "i"}[kind]
    values = np.random.default_rng(5).integers(-1000, 1000, (COUNT, 3)).astype(np.int32).astype(kind)
    source = dev.buffer(np.concatenate([np.zeros(16, np.uint8), values.view(np.uint8).ravel()])).texels(name, 16)
    result = dev.buffer(np.full(COUNT * 4 + 4, 77, kind))
    frag = f"""layout(binding = 0) uniform {prefix}samplerBuffer source;
layout(std430, binding = 1) buffer B {{ {prefix}vec4 values[256]; {prefix}vec4 beyond; }};
void main() {{ {AT} values[at] = texelFetch(source, at); if (at == 1) beyond = texelFetch(source, 256) + texelFetch(source, -1); }}"""
    run(dev, frag, {"source": source, "B": result})
    got = result.numpy().reshape(-1, 4)
    np.testing.assert_array_equal(got[:COUNT], np.concatenate([values, np.ones((COUNT, 1), kind)], 1))
    assert not got[COUNT, :3].any()
    store = f"layout(binding = 0) uniform writeonly {prefix}imageBuffer source; void main() {{ {AT} imageStore(source, at, {prefix}vec4(1)); }}"
    with pytest.raises(tg.ValidationError, match="which shaders can write"):
        run(dev, store, {"source": source})


def test_texel_buffers_by_arrays_formats_and_names(dev: tg.Device) -> None:
    numbers = np.arange(COUNT * 4, dtype=np.float32).reshape(COUNT, 4)
    frag = f"""layout(binding = 0) uniform samplerBuffer source; layout(binding = 1, r32f) uniform imageBuffer target;
void main() {{ {AT} imageStore(target, at, vec4(texelFetch(source, at).w)); }}"""
    target = dev.buffer(np.zeros(COUNT, np.float32))
    run(dev, frag, {"source": numbers, "target": target})
    np.testing.assert_array_equal(target.numpy(), numbers[:, 3])
    for wrong, message in [(dev.buffer(64), "without a format"), (np.zeros((4, 3), np.float32), "C 1, 2 or 4"), (5, "buffer.texels")]:
        with pytest.raises(tg.ValidationError, match=rf"source.*{message}"):
            run(dev, frag, {"source": wrong, "target": target})
    with pytest.raises(tg.ValidationError, match="r32_sfloat, which the shader declares"):
        run(dev, frag, {"source": numbers, "target": dev.buffer(target.size).texels("r16_sfloat")})
    plain = dev.buffer(64, usage="vertex", label="plain")
    with pytest.raises(tg.ValidationError, match=r"plain.*usage"):
        plain.texels("r32_sfloat")
    for offset, size, message in [(4, None, "multiple of 16"), (0, 3, "multiple of the texel"), (1024, None, "below"), (0, 4096, "both must be 0 to")]:
        with pytest.raises(tg.ValidationError, match=message):
            target.texels("r32_sfloat", offset, size)
    with pytest.raises(tg.Error, match="r8g8b8_unorm"):
        target.texels("r8g8b8_unorm")


def test_atomics_in_texel_buffers(dev: tg.Device) -> None:
    target = dev.buffer(np.zeros(8, np.uint32))
    frag = f"layout(binding = 0, r32ui) uniform uimageBuffer target; void main() {{ {AT} imageAtomicAdd(target, at % 9, 1u); }}"
    run(dev, frag, {"target": target})
    np.testing.assert_array_equal(target.numpy(), [len(range(k, COUNT, 9)) for k in range(8)])


def test_captures_keep_them(dev: tg.Device, tmp_path: Any) -> None:
    image, buffer = dev.image((SIDE, SIDE), "r32_uint"), dev.buffer(np.arange(COUNT, dtype=np.uint32))
    image_fill(dev, image, 0, 0, 3)
    out = dev.image((SIDE, SIDE), "r32_uint")
    frag = HEAD + f"""layout(binding = 0, r32ui) uniform uimage2D source; layout(binding = 1) uniform usamplerBuffer more;
layout(location = 0) out uint o; void main() {{ {AT} o = imageLoad(source, ivec2(gl_FragCoord.xy)).x + texelFetch(more, at).x; }}"""
    pipe = dev.pipeline(FULL, frag, color=[out])
    with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 0))]) as rp:
        rp.draw(pipe, count=3, bind={"source": image, "more": buffer.texels("r32_uint")})
    rp.capture(tmp_path / "pass.tgcap")
    replay = tg.Device(cache_dir="off").load_capture(tmp_path / "pass.tgcap")
    replay.run()
    np.testing.assert_array_equal(replay.pictures[0][..., 0].reshape(-1), np.arange(COUNT) + 3)
