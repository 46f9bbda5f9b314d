"""Exceptions of tilegpu. All derive from :class:`Error`; a message names the object, the field, the value, what is allowed and the fix."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = str(Path(__file__).parent) + os.sep
MAX_SHOWN = 80


def shown(value: Any) -> str:
    """``repr`` for a message: short, on one line, and never an exception."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 4]} ..."


class Error(Exception):
    """Base of all errors of tilegpu. ``code`` is the ``VkResult`` that a Vulkan driver would return, by name."""

    code: str

    def __init__(self, message: str, code: str = "VK_ERROR_UNKNOWN") -> None:
        super().__init__(message)
        self.code = code


class ValidationError(Error, ValueError):
    """An argument or a combination of arguments is not allowed. Nothing was executed."""

    def __init__(self, message: str, code: str = "VK_ERROR_VALIDATION_FAILED_EXT") -> None:
        super().__init__(message, code)


class UnsupportedError(Error):
    """Vulkan has it, tilegpu has not (a format, a feature, a capability of SPIR-V); the message names it."""


class UndefinedContentsError(ValidationError):
    """The image holds nothing that could be read; the message says which operation to set."""


class OutOfMemoryError(Error, MemoryError):
    """The host has not enough memory."""


class WriteError(Error, OSError):
    """A file can't be written to its end (a full disk, a limit, a pipe that nobody reads): the one that was there before is as it was. Its
    ``errno`` is the system's; code that catches ``OSError`` goes on working."""

    def __init__(self, message: str, code: str = "VK_ERROR_UNKNOWN", *, errno: int | None = None, path: str = "") -> None:
        super().__init__(message, code)
        self.errno, self.path = errno, path

    def __reduce__(self) -> tuple[Any, ...]:
        """With its number: errors of workers arrive in the process that waits for them."""
        return _write_error, (str(self), self.code, self.errno, self.path)


def _write_error(message: str, code: str, errno: int | None, path: str) -> WriteError:
    return WriteError(message, code, errno=errno, path=path)


class DeviceLostError(Error):
    """The work was cancelled, or the device can't go on."""


class ShaderMessage(NamedTuple):
    """One error of a shader compile. ``line`` counts from 1; 0 where the compiler names none."""

    file: str
    line: int
    text: str
    source_line: str


class ShaderError(Error):
    """A shader does not compile or is not valid. ``messages`` has every error of the compile; empty for SPIR-V."""

    messages: tuple[ShaderMessage, ...]

    def __init__(
        self, message: str, code: str = "VK_ERROR_INVALID_SHADER_NV", messages: Sequence[ShaderMessage] = ()
    ) -> None:
        super().__init__(message, code)
        self.messages = tuple(messages)


class ShortBufferWarning(UserWarning):
    """A buffer ends before the shader's block does; what is read beyond its end is 0. Shown once for each pipeline and block."""


class ClampedValueWarning(UserWarning):
    """A clear value that the format does not hold, such as (255, 128, 0, 255) of a ``unorm`` format, whose numbers are 0 to 1. Vulkan
    clamps it, as it does constants of blending. And a picture of floats that a file of 8 bits would hold as white, or as black where they
    are NaN; and bytes that a pipeline's float field takes as 0 to 255. Shown once for each place."""


class UndefinedContentsWarning(UserWarning):
    """Something reads, or may read, an image that nobody wrote, or what an earlier draw of the same pass writes too late for it; it gets
    what the memory holds: zeros in a new image. Or a pipeline's shaders never write ``gl_Position`` or what the next stage reads, read
    vertices that a patch has not, or emit vertices without what is read of them; or invocations of a dispatch load what others store,
    with nothing to order them. Shown once for each place; ``Device(strict=True)`` makes it an
    :class:`UndefinedContentsError` before anything is executed."""


class UnusedNameWarning(UserWarning):
    """A name was given that the shader has not or does not use, a colour attachment that it does not write, a depth that no
    test looks at, state of a pipeline that changes nothing, a state (``rp.set``) that no pipeline of the pass leaves open, or something was
    made for a ``with`` block (a pass, a query, a condition) and never entered. Or a golden test, or a scene's function, hands over an image
    that has more than is looked at: layers, slices, stencil. Shown once for each pipeline, or place, and name."""


class OrderWarning(UserWarning):
    """A buffer was changed within a pass through a view that was asked for there, and draws of the pass read it: they are executed when the
    pass ends, and find what was written in the meantime. Shown once for each place."""


class ExtensionWarning(UserWarning):
    """Vulkan forbids it, and tilegpu has a result all the same, which :doc:`/undefined` says; what does it runs on no other Vulkan. Shown
    once for each place; ``Device(strict=True)`` makes it a :class:`ValidationError`."""


class LostPrimitivesWarning(UserWarning):
    """The vertices of a draw end within a primitive, or its shader chooses among layers or viewports where there is one: what of it lies
    beyond is not drawn. Or rows of its indices are no primitives, such as four corners of a face for triangles; or a sample mask leaves no
    sample. So is what an open pass recorded that was dropped, and of transform feedback what its buffers don't hold. Shown
    once for each place. Or a geometry shader makes no primitive, or emits more vertices than it may, which ``Device(strict=True)`` makes a
    :class:`ValidationError`."""


class ModelWarning(UserWarning):
    """A model is drawn without something that its file has or names: an extension, a picture or a material library that is not there.
    Shown once for each place."""


class CacheWarning(UserWarning):
    """Compiled shaders can't be kept, for want of their folder or of the key that signs them: each run compiles them anew. Shown once for
    each folder and cause."""


class Place(NamedTuple):
    """A line of the user's, to warn of later."""

    file: str
    line: int
    registry: dict[Any, Any]

    def warn(self, message: str, category: type[Warning]) -> None:
        """Once for each place, as ``warnings.warn`` does."""
        warnings.warn_explicit(message, category, self.file, self.line, registry=self.registry)


def users_place() -> Place:
    """The first line outside of this package that called."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_globals.setdefault("__warningregistry__", {}))


def users_level() -> int:
    """The ``stacklevel`` of a warning by the caller that names the first line outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def beyond_vulkan(message: str, strict: bool) -> None:
    """Says that something is tilegpu's own, or raises where the device is strict. A row of ``docs/undefined.md`` has its result."""
    if strict:
        raise ValidationError(f"{message} (Device(strict=True): what Vulkan forbids is an error)")
    warnings.warn(f"{message}; Vulkan forbids it, and other drivers do as they like", ExtensionWarning, stacklevel=users_level())


_CLASSES: dict[str, type[Error]] = {
    "VK_ERROR_OUT_OF_HOST_MEMORY": OutOfMemoryError,
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": OutOfMemoryError,
    "VK_ERROR_DEVICE_LOST": DeviceLostError,
    "VK_ERROR_FEATURE_NOT_PRESENT": UnsupportedError,
    "VK_ERROR_FORMAT_NOT_SUPPORTED": UnsupportedError,
    "VK_ERROR_INVALID_SHADER_NV": ShaderError,
    "VK_ERROR_INITIALIZATION_FAILED": ValidationError,
    "VK_ERROR_VALIDATION_FAILED_EXT": ValidationError,
    "VK_ERROR_TOO_MANY_OBJECTS": ValidationError,
}


#: The core speaks Vulkan; what it says of a field, and what the argument is called here. Objects' labels, which stand in quotes, stay.
_WORDS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"create the pipeline with rasterizationSamples (\d+)", r"create the pipeline with samples=\1"),
        (r"begin rendering with pDepthAttachment", "give the pass depth="),
        (r"begin rendering with pStencilAttachment", "give the pass stencil="),
        (r"create the pipeline without depthTestEnable", "create the pipeline with depth_test=False"),
        (r"create the pipeline without stencilTestEnable", "create the pipeline with stencil_test=None"),
        (
            r"request the trace before the pass is executed",
            "ask before, while it is recorded",
        ),
        (r"\bset render_area\b", "give area="),
        (r"\bwhere resolve_view is set\b", "where resolve= is given"),
        (r"\bresolve_view\b", "resolve"),
        (r"\bVK_DYNAMIC_STATE_([A-Z0-9_]+?)(?:_EXT)?\b", lambda match: match[1].lower()),
        (
            r"\bto the command buffer, and it is not set; set it before the draw\b",
            "open, and it is not set; give it by rp.set before the draw",
        ),
        (r"\brender_area\b", "area"),
        (r"\bor 0 for single_sampled_samples\b", "or samples=0"),
        (r"\bsingle_sampled_samples\b", "samples"),
        (r"\bcreate the image with cube_compatible\b", "create the image with cube=True"),
        (r"\b(?:array_layers|layer_count)\b", "layers"),
        (r"\blevel_count\b", "levels"),
        (r"\bbase_level\b", "level"),
        (r"\bbase_layer\b", "layer"),
        (r"\btransient_attachment\b", "transient"),
        (r"\bcompare_op\b", "compare"),
        (r"\baddress mode\b", "address"),
        (r"\b(?:width|height)_px\b", "extent"),
        (r"\bits slices are depth_px\b", "its slices are the third of size"),
        (r"\bdepth_px\b", "depth of size"),
        (r"\bregions\[0\]\.", ""),
        (r"\branges\[0\]\.", ""),
        (r"\bsrcSubresource\.", "source "),
        (r"\bdstSubresource\.", "destination "),
        (r"\bimageSubresource\.", "image "),
        (r"\bsrcOffsets\b", "source_rect"),
        (r"\bdstOffsets\b", "destination_rect"),
        (r"\bsrcOffset\b", "source_pos"),
        (r"\bdstOffset\b", "destination_pos"),
        (r"\bimageOffset\b", "position"),
        (r"\bmipLevel\b", "level"),
        (r"\bbaseArrayLayer\b", "layer"),
        (r"\blayerCount\b", "layers"),
        (r"\baspectMask\b", "aspect"),
        (r"\bbufferOffset\b", "the buffer's offset"),
        (r"\bbufferRowLength\b", "row_length"),
        (r"\bbufferImageHeight\b", "image_height"),
        (r"\bimageExtent\b", "extent"),
        (r"\boffset\.z\b", "the third of a position"),
        (r"\bextent\.depth\b", "the third of extent"),
        (r"\boffset_B\b", "offset"),
        (r"\bstride_B\b", "stride"),
        (r"\bof clear_attachment\b", "of clear"),
        (r"^begin_transform_feedback\b", "transform_feedback"),
        (r"\buse copy_image\b", "use dev.copy"),
        (r"\buse blit_image\b", "use dev.blit"),
        (r"\buse resolve_image\b", "use dev.resolve"),
        (r"\buse clear_(?:color|depth_stencil)_image\b", "use dev.clear"),
        (r"^copy_(?:buffer_to_image|image_to_buffer|buffer|image)\b", "copy"),
        (r"^blit_image\b", "blit"),
        (r"^resolve_image\b", "resolve"),
        (r"\bstippledLineEnable is true and lineRasterizationMode is DEFAULT\b", "line_stipple is given, and line_mode is 'default'"),
        (
            r"\(strictLines is false\) and have no stipple; set RECTANGULAR, BRESENHAM or RECTANGULAR_SMOOTH",
            "and have no stipple; give line_mode='rectangular', 'bresenham' or 'rectangular_smooth'",
        ),
        (
            r"\bend_rendering while a query is active; call end_query first",
            "the pass ends while a query is open; leave its with block first",
        ),
        (
            r"\bbegin_query while another (\w+) query is active; call end_query first",
            r"a query while another \1 query is open; leave its with block first",
        ),
        (
            r"\bbegin_conditional_rendering: it is active already; call end_conditional_rendering first",
            "conditional: another one is open; leave its with block first",
        ),
        (
            r"\bblock \d+ takes (\d+) bytes; at most 256 are allowed",
            r"the block of push constants takes \1 bytes; at most 256 are allowed: put it into a uniform block",
        ),
        (
            r"\btakes (\d+) bytes; at most 256 are allowed(?!:)",
            r"takes \1 bytes of push constants; at most 256 are allowed: put it into a uniform block",
        ),
        (r"\b4294967295 levels from (\d+)", r"all levels from \1 on"),
        (r"\b4294967295 layers from (\d+)", r"all layers from \1 on"),
        (r"^clear_(?:color|depth_stencil)_image\b", "clear"),
    )
)
#: What stands in quotes: an apostrophe in a word opens nothing and closes nothing.
_QUOTED = r"(?<!\w)'(?s:.*?)'(?!\w)"
#: Labels that hold quotes themselves, the newest last: where such a one ends can't be seen in a message.
_labels: dict[str, None] = {}
_MOST_LABELS = 4096


def keep_label(label: str) -> None:
    """Messages of the core may name an object by it from now on."""
    if "'" in label:
        _labels.pop(label, None)
        _labels[label] = None
        if len(_labels) > _MOST_LABELS:
            _labels.pop(next(iter(_labels), ""), None)


def _parts(message: str) -> list[str]:
    """What the core says, and at odd places what it quotes."""
    if "'" not in message:
        return [message]
    known = sorted((label for label in list(_labels) if label in message), key=len, reverse=True)
    # What stands behind a label in its quotes was added to it, as a shader's stage is.
    patterns = [rf"(?<!\w)'{re.escape(label)}(?:'(?!\w)|[^']*')" for label in known]
    return re.split(f"({'|'.join([*patterns, _QUOTED])})", message)


def in_own_words(message: str) -> str:
    """A message of the core with this package's names for what it speaks of."""
    parts = _parts(message)
    for number in range(0, len(parts), 2):
        for pattern, words in _WORDS:
            if number and pattern.pattern.startswith("^"):
                continue
            parts[number] = pattern.sub(words, parts[number])
    return "".join(parts)


_SAYS_WHAT_IS_ALLOWED = re.compile(r"\ballowed\b|; use ")


def from_core(code: str, message: str) -> Error:
    """The exception for an error value of the core; called by the bindings."""
    # Of what Vulkan has no code for, what says what there is to choose refuses an argument.
    other = ValidationError if any(_SAYS_WHAT_IS_ALLOWED.search(part) for part in _parts(message)[::2]) else Error
    return _CLASSES.get(code, other)(in_own_words(message), code)


def needs_packages(what: str, *packages: str, extra: str) -> str:
    """``"x needs the package av, which is not installed: pip install av (tilegpu[video])"``: what an error says where packages are missing
    that only some want. ``packages``: as pip knows them; ``extra``: of tilegpu's, which has them."""
    many = len(packages) > 1
    missing = f"the package{'s' if many else ''} {' and '.join(packages)}, which {'are' if many else 'is'} not installed"
    return f"{what} needs {missing}: pip install {' '.join(packages)} (tilegpu[{extra}])"


_MAX_LISTED, _MAX_NEAR = 24, 5


def near_names(name: object, known: Iterable[str], most: int = _MAX_NEAR) -> list[str]:
    """Those that may be meant, likeliest first: spelt much alike, or one the beginning of the other."""
    import difflib

    by_lower = {n.lower(): n for n in known if n}
    given = name.lower() if isinstance(name, str) else ""
    # One of the same letters (two of them exchanged) is meant, then what is closest, and of those as close what begins the same.
    close = difflib.get_close_matches(given, list(by_lower), n=max(len(by_lower), 1), cutoff=0.6)
    ratio = {n: difflib.SequenceMatcher(None, n, given).ratio() for n in close}
    near = sorted(close, key=lambda n: (sorted(n) != sorted(given), -round(ratio[n], 6), n[0] != given[0]))[:most]
    if len(given) >= 3:
        near += [n for n in by_lower if (n.startswith(given) or (len(n) >= 3 and given.startswith(n))) and n not in near]
    return [by_lower[n] for n in near[:most]]


def candidates(name: object, known: Iterable[str], meant: Sequence[str] = (), all_meant: bool = False) -> str:
    """``"; did you mean 'x'? There are: a, b, c"`` for error messages. ``meant``: what a table of synonyms says, before what is spelt
    alike; ``all_meant``: each of them may be."""
    names = list(dict.fromkeys(n for n in known if n))
    near = [n for n in meant if n in names] or near_names(name, names)
    hint = "; did you mean " + " or ".join(f"'{n}'" for n in (near if meant and all_meant else near[:1])) + "?" if near else ";"
    if len(names) > _MAX_LISTED:
        listed = ", ".join(near or names[:_MAX_NEAR])
        return f"{hint} among the {len(names)} that there are: {listed}" + ("" if near else ", ...")
    return f"{hint} there {'is' if len(names) == 1 else 'are'}: {', '.join(names) if names else 'none'}"
