"""The reference: the same frames drawn by OpenGL through moderngl, and what differs.

Needs moderngl, EGL with a driver (Mesa's llvmpipe is enough) and the program ``spirv-cross``; where one is missing,
:func:`unavailable` says which, and pictures kept earlier (:mod:`tilegpu.reference.stored`) stand in.
"""

from tilegpu.reference import explained, given, stored
from tilegpu.reference.compare import Comparison, Tolerance, compare_frame, side_by_side
from tilegpu.reference.explained import Findings
from tilegpu.reference.gl import ReferenceError, ReferencePicture, Renderer, unavailable
from tilegpu.reference.metrics import Difference, difference
from tilegpu.reference.prepared import PreparedFrame

__all__ = [
    "Comparison",
    "Difference",
    "Findings",
    "PreparedFrame",
    "ReferenceError",
    "ReferencePicture",
    "Renderer",
    "Tolerance",
    "compare_frame",
    "difference",
    "explained",
    "given",
    "side_by_side",
    "stored",
    "unavailable",
]
