"""tilegpu: a tile-based Vulkan-subset GPU in software.

Real Vulkan shaders and render passes go in, pixels come out, the same bits on any machine; and with them what each
pass cost.

>>> import tilegpu as tg
>>> dev = tg.Device()
>>> out = dev.image((512, 512), "r8g8b8a8_srgb")
>>> with dev.render_pass(color=[tg.Attachment(out, clear=(0, 0, 0, 1))]) as rp:
...     pass
>>> out.numpy().shape
(512, 512, 4)

Strings are accepted for every enumeration: Vulkan's names, any case, with or without prefix. Row 0 is the top row,
y points down, depth is
0..1. A (4, 4) array is the matrix of mathematics (``M @ v``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tilegpu import _core, at_exit, keywords
from tilegpu.attachment import Attachment
from tilegpu.buffer import Buffer, BufferSlice, BufferView
from tilegpu.capture import Replay, capture_profile
from tilegpu.compute import ComputePipeline, DispatchStats
from tilegpu.context import CommandStats
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.device import Device
from tilegpu.enums import FormatInfo, format_names, parse_format
from tilegpu.errors import (
    CacheWarning,
    ClampedValueWarning,
    DeviceLostError,
    Error,
    ExtensionWarning,
    LostPrimitivesWarning,
    ModelWarning,
    OrderWarning,
    OutOfMemoryError,
    ShaderError,
    ShaderMessage,
    ShortBufferWarning,
    UndefinedContentsError,
    UndefinedContentsWarning,
    UnsupportedError,
    UnusedNameWarning,
    ValidationError,
    WriteError,
    near_names,
)
from tilegpu.frame import Frame, FrameExplanation
from tilegpu.frame_graph import Edge, Node
from tilegpu.frame_stats import FrameStats
from tilegpu.framebuffer import Framebuffer, FramebufferDesc, FramebufferLayout, Load, Resolve, Store
from tilegpu.image import Image, ImageView, Texture
from tilegpu.interface import Interface
from tilegpu.pipeline import Pipeline
from tilegpu.query import Query, StatisticsQuery
from tilegpu.render_pass import RenderPass
from tilegpu.sampler import Sampler
from tilegpu.secondary import SecondaryCommandBuffer
from tilegpu.set_layout import DescriptorSetLayout
from tilegpu.shader import compile_glsl
from tilegpu.stats import PassStats
from tilegpu.vertex import VertexBinding
from tilegpu.ycbcr import SamplerYcbcrConversion

if TYPE_CHECKING:
    from tilegpu import farm as farm
    from tilegpu import math as math
    from tilegpu import scene as scene
    from tilegpu import shapes as shapes
    from tilegpu import testing as testing
    from tilegpu.viewer import show as show

__version__: str = _core.version()
at_exit.watch()


def format_info(format: str) -> FormatInfo:
    """What a format is: bits, components, numeric type, uses."""
    return parse_format(format, "format_info: format")


def profile_names() -> tuple[str, ...]:
    """Names of all GPU profiles, ``"host"`` first."""
    names = str(_core.profile_names()).split(", ")
    return ("host", *(n for n in names if n != "host"))


def shading_rates(samples: int = 1) -> list[tuple[int, int]]:
    """Sizes (width, height) that fragments may have where pixels have so many samples, the largest first; other ones are clamped to them.

    >>> tg.shading_rates(4)
    [(4, 2), (2, 4), (2, 2), (2, 1), (1, 2), (1, 1)]
    """
    if isinstance(samples, bool) or samples not in (1, 2, 4, 8, 16):
        raise ValidationError(f"shading_rates: samples is {samples!r}; allowed are 1, 2, 4, 8 and 16")
    return [(width, height) for width, height, counts in _core.SHADING_RATES if counts & samples]


class CooperativeMatrix(NamedTuple):
    """A product of :func:`cooperative_matrices`: A (m x k) times B (k x n) plus C (m x n); C's components are the result's."""

    m: int
    n: int
    k: int
    a: str  # components: "float16", "int8", ...
    b: str
    c: str
    saturates: bool  # with SaturatingAccumulationKHR: the sum with C stops at the ends of its type


def cooperative_matrices() -> list[CooperativeMatrix]:
    """The products of cooperative matrices that compute shaders have (``VK_KHR_cooperative_matrix``, scope of a subgroup).

    >>> tg.cooperative_matrices()[1]
    CooperativeMatrix(m=8, n=8, k=8, a='float16', b='float16', c='float32', saturates=False)
    """
    names = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    return [
        CooperativeMatrix(m, n, k, names[a], names[b], names[c], saturates)
        for m, n, k, a, b, c, saturates in _core.COOPERATIVE_MATRICES
    ]


def __getattr__(name: str) -> Any:
    """Of rooms after this one, loaded when they are asked for: ``tilegpu.math``, ``tilegpu.shapes``, ``tilegpu.farm``,
    ``tilegpu.scene``, ``tilegpu.testing``, ``tilegpu.show``."""
    if name == "math":
        import tilegpu.math as found
    elif name == "farm":
        import tilegpu.farm as found  # type: ignore[no-redef]
    elif name == "shapes":
        import tilegpu.shapes as found  # type: ignore[no-redef]
    elif name == "scene":
        import tilegpu.scene as found  # type: ignore[no-redef]
    elif name == "testing":
        import tilegpu.testing as found  # type: ignore[no-redef]
    elif name == "show":
        from tilegpu.viewer import show as found  # type: ignore[no-redef, assignment]
    else:
        raise AttributeError(f"module 'tilegpu' has no attribute '{name}'{_meant(name)}", name=name)
    return found


def _meant(name: str) -> str:
    if name[:1] == "_":
        return ""
    if hasattr(Device, name):
        return f"; a device has it: dev.{name}, with dev = tilegpu.Device()"
    near = near_names(name, [*__all__, "farm", "math", "scene", "shapes", "show", "testing"])
    return f"; did you mean '{near[0]}'?" if near else ""


def __dir__() -> list[str]:
    return sorted({*globals(), "farm", "math", "scene", "shapes", "show", "testing"})


__all__ = [
    "Attachment",
    "Buffer",
    "BufferSlice",
    "BufferView",
    "CacheWarning",
    "ClampedValueWarning",
    "CommandStats",
    "ComputePipeline",
    "CooperativeMatrix",
    "DescriptorSet",
    "DescriptorSetLayout",
    "Device",
    "DeviceLostError",
    "DispatchStats",
    "Edge",
    "Error",
    "ExtensionWarning",
    "FormatInfo",
    "Frame",
    "FrameExplanation",
    "FrameStats",
    "Framebuffer",
    "FramebufferDesc",
    "FramebufferLayout",
    "Image",
    "ImageView",
    "Interface",
    "Load",
    "LostPrimitivesWarning",
    "ModelWarning",
    "Node",
    "OrderWarning",
    "OutOfMemoryError",
    "PassStats",
    "Pipeline",
    "Query",
    "RenderPass",
    "Replay",
    "Resolve",
    "Sampler",
    "SamplerYcbcrConversion",
    "SecondaryCommandBuffer",
    "ShaderError",
    "ShaderMessage",
    "ShortBufferWarning",
    "StatisticsQuery",
    "Store",
    "Texture",
    "UndefinedContentsError",
    "UndefinedContentsWarning",
    "UnsupportedError",
    "UnusedNameWarning",
    "ValidationError",
    "VertexBinding",
    "WriteError",
    "__version__",
    "capture_profile",
    "compile_glsl",
    "cooperative_matrices",
    "format_info",
    "format_names",
    "profile_names",
    "shading_rates",
]

#: Of the others objects are made by methods.
_MADE_BY = {
    "Attachment": "tilegpu.Attachment",
    "Device": "tilegpu.Device",
    "FramebufferDesc": "tilegpu.FramebufferDesc",
    "FramebufferLayout": "tilegpu.FramebufferLayout",
    "Interface": "tilegpu.Interface",
    "Load": "tilegpu.Load",
    "Resolve": "tilegpu.Resolve",
    "Sampler": "dev.sampler",
    "SamplerYcbcrConversion": "dev.sampler_ycbcr_conversion",
    "Store": "tilegpu.Store",
    "Texture": "tilegpu.Texture",
    "VertexBinding": "tilegpu.VertexBinding",
}
#: And by which.
_MADE_OTHERWISE = {
    "Buffer": "a device makes buffers, dev.buffer(array) or dev.buffer(size); dev = tilegpu.Device()",
    "BufferSlice": "buffers have them: buffer.slice(offset, size)",
    "BufferView": "buffers have them: buffer.texels(format)",
    "ComputePipeline": "a device makes pipelines, dev.compute_pipeline(comp); dev = tilegpu.Device()",
    "DescriptorSet": "a device makes sets, dev.descriptor_set(layout or pipeline, bind={...}); dev = tilegpu.Device()",
    "DescriptorSetLayout": "a device makes layouts, dev.descriptor_set_layout(bindings); dev = tilegpu.Device()",
    "Frame": "a device makes frames, with dev.frame('name') as f; dev = tilegpu.Device() (frames of scenes are tilegpu.scene.Frame)",
    "Framebuffer": "a device makes framebuffers, dev.framebuffer(layout, load, store, resolve, desc); dev = tilegpu.Device()",
    "Image": "a device makes images, dev.image((width, height), format), or dev.texture(pixels) of an array; dev = tilegpu.Device()",
    "ImageView": "images have them: image.view(...)",
    "Pipeline": "a device makes pipelines, dev.pipeline(vert, frag, color=[format]); dev = tilegpu.Device()",
    "Query": "passes have them: with rp.query() as q",
    "RenderPass": "a device makes passes, with dev.render_pass(color=[...]) as rp; dev = tilegpu.Device()",
    "Replay": "a device reads captures, dev.load_capture(path); dev = tilegpu.Device()",
    "SecondaryCommandBuffer": "a device makes them, with dev.secondary(color=[format]) as s; dev = tilegpu.Device()",
    "StatisticsQuery": "passes have them: with rp.statistics() as q",
}
keywords.explain_calls(globals(), __all__, "tilegpu", _MADE_BY)
keywords.refuse_calls(globals(), _MADE_OTHERWISE)
#: Modules that are named as what makes something.
_MODULES = {
    "attachment": "tilegpu.Attachment(image, clear=...)",
    "buffer": _MADE_OTHERWISE["Buffer"],
    "capture": "rp.capture(path), frame.capture(path) and dev.capture(path) write captures, dev.load_capture(path) reads one",
    "descriptor_set": _MADE_OTHERWISE["DescriptorSet"],
    "device": "dev = tilegpu.Device()",
    "frame": _MADE_OTHERWISE["Frame"],
    "framebuffer": _MADE_OTHERWISE["Framebuffer"],
    "image": _MADE_OTHERWISE["Image"],
    "pipeline": _MADE_OTHERWISE["Pipeline"],
    "query": _MADE_OTHERWISE["Query"],
    "render_pass": _MADE_OTHERWISE["RenderPass"],
    "sampler": "a device makes samplers, dev.sampler(filter='linear'); dev = tilegpu.Device()",
    "secondary": _MADE_OTHERWISE["SecondaryCommandBuffer"],
    "transform_feedback": "passes have it: with rp.transform_feedback(buffer)",
}
keywords.refuse_modules(globals(), _MODULES)
