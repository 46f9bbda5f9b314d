"""The few OpenGL calls that moderngl does not offer, reached through EGL: parameters of samplers and textures."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from tilegpu.scene import Sampler

_FILTER = {"nearest": 0x2600, "linear": 0x2601}
_MIP_FILTER = {
    ("nearest", "nearest"): 0x2700,
    ("linear", "nearest"): 0x2701,
    ("nearest", "linear"): 0x2702,
    ("linear", "linear"): 0x2703,
}
_WRAP = {
    "repeat": 0x2901,
    "mirrored_repeat": 0x8370,
    "clamp_to_edge": 0x812F,
    "clamp_to_border": 0x812D,
    "mirror_clamp_to_edge": 0x8743,
}
_MAG_FILTER, _MIN_FILTER, _WRAP_S, _WRAP_T, _WRAP_R = 0x2800, 0x2801, 0x2802, 0x2803, 0x8072
_MIN_LOD, _MAX_LOD, _LOD_BIAS = 0x813A, 0x813B, 0x8501

_COMPARE_MODE, _COMPARE_FUNC, _COMPARE_REF_TO_TEXTURE = 0x884C, 0x884D, 0x884E
_COMPARE = {"never": 0x200, "less": 0x201, "equal": 0x202, "less_or_equal": 0x203, "greater": 0x204, "not_equal": 0x205,
            "greater_or_equal": 0x206, "always": 0x207}  # fmt: skip

#: Capabilities for ``Context.enable_direct``.
SAMPLE_ALPHA_TO_COVERAGE = 0x809E
PRIMITIVE_RESTART_FIXED_INDEX = 0x8D69
FRAMEBUFFER_SRGB = 0x8DB9
DEPTH_CLAMP = 0x864F
PROGRAM_POINT_SIZE = 0x8642


@functools.cache
def _function(name: str, *argument_types: Any) -> Any:
    egl = ctypes.CDLL("libEGL.so.1")
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    egl.eglGetProcAddress.argtypes = [ctypes.c_char_p]
    address = egl.eglGetProcAddress(name.encode())
    if not address:
        raise RuntimeError(f"OpenGL has no {name}")
    return ctypes.CFUNCTYPE(None, *argument_types)(address)


def set_sampler(name: int, sampler: Sampler) -> None:
    """All parameters of an OpenGL sampler object as Vulkan's sampler has them; the object's context is current."""
    integer = _function("glSamplerParameteri", ctypes.c_uint, ctypes.c_uint, ctypes.c_int)
    real = _function("glSamplerParameterf", ctypes.c_uint, ctypes.c_uint, ctypes.c_float)
    integer(name, _MAG_FILTER, _FILTER[sampler.mag_filter])
    integer(name, _MIN_FILTER, _MIP_FILTER[sampler.min_filter, sampler.mipmap_mode])
    for parameter, address in ((_WRAP_S, "address_u"), (_WRAP_T, "address_v"), (_WRAP_R, "address_w")):
        integer(name, parameter, _WRAP[getattr(sampler, address)])
    real(name, _MIN_LOD, sampler.min_lod)
    real(name, _MAX_LOD, sampler.max_lod)
    real(name, _LOD_BIAS, sampler.lod_bias)
    integer(name, _COMPARE_MODE, _COMPARE_REF_TO_TEXTURE if sampler.compare else 0)
    if sampler.compare:
        integer(name, _COMPARE_FUNC, _COMPARE[sampler.compare])


def set_max_level(name: int, level: int) -> None:
    """The last mipmap level of an OpenGL texture; without it a texture of one level counts as incomplete."""
    _function("glTextureParameteri", ctypes.c_uint, ctypes.c_uint, ctypes.c_int)(name, 0x813D, level)


def set_viewport(x: float, y: float, width: float, height: float) -> None:
    """The viewport, with fractions of a pixel."""
    real = ctypes.c_float
    _function("glViewportIndexedf", ctypes.c_uint, real, real, real, real)(0, x, y, width, height)
