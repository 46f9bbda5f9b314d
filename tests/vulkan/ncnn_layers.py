"""Layers of ncnn on the Vulkan device beside ncnn's own on the CPU, in 32 bits and in 16, the device's kept: ncnn_layers.py FILE.npy."""

import sys
import tempfile
from pathlib import Path

import ncnn
import numpy as np

#: What may differ, as a share of the largest value: numbers are stored, packed and added as these say.
PRECISIONS = {
    (): 2e-5,
    ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic"): 1e-2,
}
BITS_16 = ["use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_packed", "use_bf16_storage"]
rng = np.random.default_rng(3)


def weights(*counts: int) -> bytes:
    """Of a layer: a word that says that the first array are floats, then the arrays."""
    return bytes(4) + b"".join(rng.normal(0, 0.3, count).astype("f4").tobytes() for count in counts)


#: Of each layer its kind, its parameters by ncnn's numbers, its weights, the shape that goes in.
MAP = (16, 24, 24)
LAYERS = [
    ("Convolution", "0=32 1=3 4=1 5=1 6=4608", weights(4608, 32), MAP),
    ("Convolution", "0=32 1=1 5=1 6=512", weights(512, 32), MAP),
    ("Convolution", "0=32 1=3 3=2 4=1 5=1 6=4608 9=1", weights(4608, 32), MAP),
    ("Convolution", "0=8 1=5 4=2 5=1 6=3200", weights(3200, 8), MAP),
    ("ConvolutionDepthWise", "0=16 1=3 4=1 5=1 6=144 7=16", weights(144, 16), MAP),
    ("Deconvolution", "0=8 1=4 3=2 4=1 5=1 6=2048", weights(2048, 8), MAP),
    ("InnerProduct", "0=10 1=1 2=5120", weights(5120, 10), (512,)),
    ("InstanceNorm", "0=16 1=0.001", weights(16, 16)[4:], MAP),
    *((kind, "", b"", MAP) for kind in ("Sigmoid", "TanH", "HardSwish", "Mish", "Swish")),
    *((kind, words, b"", MAP) for kind, words in [
        ("ReLU", "0=0.1"), ("GELU", "0=1"), ("Softmax", "0=0 1=1"), ("LRN", "0=0 1=5 2=0.0001 3=0.75"),
        ("Pooling", "0=0 1=2 2=2"), ("Pooling", "0=1 1=3 2=2 3=1"), ("Pooling", "0=1 4=1"),
        ("Interp", "0=1 1=2.0 2=2.0"), ("Interp", "0=2 1=2.0 2=2.0"), ("Padding", "0=1 1=2 2=3 3=4 4=0 5=0.5"),
        ("Crop", "0=1 1=2 2=0 3=12 4=11 5=16"), ("Permute", "0=3"), ("Reshape", "0=64 1=12 2=12"), ("PixelShuffle", "0=2"),
    ]),
]  # fmt: skip


def computed(folder: Path, data: np.ndarray, vulkan: bool, options: tuple[str, ...] = ()) -> np.ndarray:
    net = ncnn.Net()
    net.opt.use_vulkan_compute = vulkan
    for option in BITS_16:
        setattr(net.opt, option, option in options)
    assert net.load_param(str(folder / "layer.param")) == 0 and net.load_model(str(folder / "layer.bin")) == 0
    with net.create_extractor() as extractor:
        extractor.input("data", ncnn.Mat(data).clone())
        error, out = extractor.extract("out")
        assert error == 0, error
        return np.array(out)


assert ncnn.get_gpu_count() == 1
kept = []
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for kind, words, blob, shape in LAYERS:
        (folder / "layer.param").write_text(f"7767517\n2 2\nInput input 0 1 data\n{kind} layer 1 1 data out {words}\n")
        (folder / "layer.bin").write_bytes(blob)
        data = rng.normal(0, 1, shape).astype("f4")
        right = computed(folder, data, vulkan=False)
        for options, most in PRECISIONS.items():
            result = computed(folder, data, vulkan=True, options=options)
            off = np.abs(result - right).max() / np.abs(right).max()
            assert result.shape == right.shape and off <= most, f"{kind} {words} {options}: {off}"
            kept.append(result.ravel())
print(len(LAYERS), "layers on", ncnn.get_gpu_info(0).device_name())
np.save(sys.argv[1], np.concatenate(kept))
