"""Functions of Slang, called on arrays by slangpy, beside NumPy: slang_kernels.py FILE.npy. Their modules name a language (11) that is
newer than many tools."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import slangpy as spy

SOURCE = """
interface IShape { float area(); }
struct Disc : IShape { float radius; float area() { return 3.14159265 * radius * radius; } }
struct Box : IShape { float2 sides; float area() { return sides.x * sides.y; } }
float sum<T : IShape>(T shape, int n) { float s = 0; for (int i = 0; i < n; ++i) s += shape.area() / (i + 1); return s; }
float areas(float a, float b) { Disc disc = {a}; Box box = {float2(a, b)}; return sum(disc, 3) + sum(box, 2); }
[Differentiable] float wave(float a, float b) { return a * a + sin(b) * a; }
uint mixed(uint x, uint y) { return (x * 2654435761u ^ reversebits(y)) + countbits(x) + uint(firstbithigh(y)); }
float3 turned(float3 v, float angle) { float s = sin(angle), c = cos(angle); return mul(float3x3(c, -s, 0, s, c, 0, 0, 0, 1), v); }
"""
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "kernels.slang").write_text(SOURCE)
    device = spy.create_device(type=spy.DeviceType.vulkan, include_paths=[Path(folder)], enable_debug_layers=False)
    print(device.info.adapter_name)
    module = spy.Module.load_from_file(device, "kernels.slang")
    rng = np.random.default_rng(5)
    a, b = rng.uniform(0, 5, (2, 3000)).astype("f4")
    areas = module.areas(a, b, _result="numpy")
    wave = module.wave(a, b, _result="numpy")
    x, y = rng.integers(1, 2**32, (2, 3000), dtype="u4")
    mixed = module.mixed(x, y, _result="numpy")
    assert np.allclose(areas, np.pi * a * a * (1 + 1 / 2 + 1 / 3) + a * b * 1.5, rtol=1e-5)
    assert np.allclose(wave, a * a + np.sin(b) * a, rtol=1e-5, atol=1e-5)
    reversed_bits = np.array([int(f"{v:032b}"[::-1], 2) for v in y], "u4")
    ones = np.array([int(v).bit_count() for v in x], "u4")
    highest = np.array([int(v).bit_length() - 1 for v in y], "u4")
    assert np.array_equal(mixed, (x * np.uint32(2654435761) ^ reversed_bits) + ones + highest)
    np.save(sys.argv[1], np.concatenate([areas.view("u4"), wave.view("u4"), mixed]))
