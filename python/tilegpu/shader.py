"""Shaders from GLSL text, files or SPIR-V."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, enums, files
from tilegpu.errors import ShaderError, ShaderMessage, UnusedNameWarning, ValidationError, keep_label, users_level

if TYPE_CHECKING:
    from tilegpu.context import Context

#: GLSL text, a path of GLSL (.vert, .frag, .comp, .glsl) or SPIR-V (.spv), SPIR-V bytes, or a module.
ShaderSource = str | os.PathLike[str] | bytes | bytearray | memoryview | _core.ShaderModule

_SUFFIXES = (".vert", ".tesc", ".tese", ".geom", ".frag", ".comp", ".glsl", ".spv")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_INCLUDES = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(.*)", re.MULTILINE)
_MAX_CACHED = 512
_MAX_FILE_B = 1 << 26
_cache: dict[Any, _core.ShaderModule] = {}


def compile_glsl(
    text: str,
    stage: str,
    *,
    file: str = "",
    defines: Mapping[str, Any] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    label: str = "",
    device: _core.Device | None = None,
) -> bytes:
    """SPIR-V 1.6 of a GLSL shader (``#version 450``) for Vulkan 1.3.

    ``stage`` is ``"vertex"``, ``"tessellation_control"``, ``"tessellation_evaluation"``, ``"geometry"``, ``"task"``, ``"mesh"``,
    ``"fragment"`` or ``"compute"``; ``file`` is what messages call it, and where ``#include "x"`` looks
    first; ``include`` has more directories. ``defines``: macros by name; ``True`` is 1, ``None`` nothing, and ``False`` an
    error, as ``#ifdef`` would find it.
    With a ``device`` (:attr:`tilegpu.Device.core`) its disk cache is used.
    Raises :class:`ShaderError` with every error of the compile in ``messages``.
    """
    if not isinstance(text, str):
        raise ValidationError(f"compile_glsl: text is {type(text).__name__}; it must be a string of GLSL")
    number = enums.parse("shader_stage", stage, "compile_glsl: stage")
    file, label = arguments.text(file, "compile_glsl: file"), arguments.text(label, "compile_glsl: label")
    name = file or label or f"<{stage} shader>"
    if not (defines is None or isinstance(defines, Mapping)):
        raise ValidationError(f"compile_glsl: defines is {arguments.shown(defines)}; it must be a mapping")
    text = arguments.text(text, "compile_glsl: text").removeprefix("\ufeff")  # what some editors begin UTF-8 with
    macros = {
        arguments.text(k, "compile_glsl: a name in defines"): _define(v, f"compile_glsl: in defines '{k}'")
        for k, v in (defines or {}).items()
    }
    words, error, messages = _core.compile_glsl(text, name, number, macros, directories(include, "compile_glsl: include"), device)
    if words is None:
        hint = _version_hint(text, messages) or _language_hint(text)
        if not hint and (swapped := _stage_hint(stage, text, messages)):
            first, rest = error.split("\n", 1) if "\n" in error else (error, "")
            error = f"{first}{swapped}" + (f"\n{rest}" if rest else "")  # the other errors follow from it
        raise ShaderError(error + hint, messages=[ShaderMessage(*m) for m in messages])
    return words


#: Names that shaders of one stage have, and no others.
_OF_STAGES = {
    "vertex": "gl_VertexIndex gl_InstanceIndex gl_BaseVertex gl_BaseInstance",
    "tessellation_evaluation": "gl_TessCoord",
    "geometry": "EmitVertex EndPrimitive max_vertices",
    "task": "EmitMeshTasksEXT",
    "mesh": "SetMeshOutputsEXT gl_MeshVerticesEXT gl_MeshPrimitivesEXT gl_PrimitiveTriangleIndicesEXT max_primitives",
    "tessellation_control": "gl_out vertices",
    "fragment": "gl_FragCoord gl_FragDepth gl_FrontFacing gl_PointCoord gl_HelperInvocation dFdx dFdy fwidth discard",
    "compute": "gl_GlobalInvocationID gl_LocalInvocationID gl_LocalInvocationIndex gl_WorkGroupID gl_NumWorkGroups gl_WorkGroupSize "
    "local_size_x local_size_y local_size_z",
}
#: What each shader of these stages says, and those of no other stage do.
_SAYS = {
    "tessellation_control": "layout(vertices = 3) out",
    "tessellation_evaluation": "layout(triangles) in",
    "geometry": "layout(triangles) in and layout(triangle_strip, max_vertices = 3) out, and calls EmitVertex()",
}
_OF_ONE = re.compile(r"\b(?:vertices|gl_TessCoord|EmitVertex|triangles|quads|isolines|lines|points|lines_adjacency|triangles_adjacency)\b")
_OF_LAYOUTS = frozenset({"vertices", "max_vertices", "local_size_x", "local_size_y", "local_size_z"})
_POSITIONS = ("vertex", "tessellation_evaluation", "geometry")


def _stage_hint(stage: str, text: str, messages: Sequence[Any]) -> str:
    """Where the errors are of names that another stage has: texts were given in each other's place. "" where that isn't why."""
    parts = [part for message in messages for part in message if isinstance(part, str)]
    said = {word for part in parts for word in re.findall(r"'([A-Za-z_]+)'", part)}
    # In a layout alone: a variable may be called so, and not be declared.
    said -= _OF_LAYOUTS - {word for part in parts if "layout identifier" in part for word in re.findall(r"'([A-Za-z_]+)'", part)}
    given = enums.name_of("shader_stage", enums.parse("shader_stage", stage, "compile_glsl: stage"))
    for other, names in _OF_STAGES.items():
        for name in names.split():
            if other != given and name in said:
                return _given_as(name, other, given)
    if "gl_Position" in said and given not in _POSITIONS:
        return _given_as("gl_Position", "vertex", given)
    words = " ".join(parts)
    if given == "compute" and "put qualifier cannot be used in a compute shader" in words:
        return "\nvariables that are in and out are of shaders that draw, and this text was given as the compute shader"
    if given in _SAYS and "#include" not in text and not _OF_ONE.search(text):
        plain = given.replace("_", " ")
        return f"\na {plain} shader says {_SAYS[given]}: this text, which was given as the {plain} shader, is one of another stage"
    return ""


def _given_as(name: str, other: str, given: str) -> str:
    swapped = " (dev.pipeline takes the vertex shader first, then the fragment shader)" if {other, given} == {"vertex", "fragment"} else ""
    words = other.replace("_", " "), given.replace("_", " ")
    return f"\n'{name}' is of {words[0]} shaders, and this text was given as the {words[1]} shader{swapped}"


_VERSION = re.compile(r"^[ \t]*#version[ \t]+(\d+)([ \t]+\w+)?", re.MULTILINE)


def _version_hint(text: str, messages: Sequence[Any]) -> str:
    """What to do where an older GLSL than 4.50 lacks what the text uses; "" where that isn't why."""
    found = _VERSION.search(text)
    said = " ".join(str(part) for message in messages for part in message)
    old = found is not None and (int(found[1]) < 450 or (found[2] or "").strip() == "es")
    if found is None or not old or not re.search(r"this version|require version|requires location|outside a block", said):
        return ""
    return f"\n  its first line says {found[0].strip()}: write #version 450, the GLSL of Vulkan"


#: What older GLSL and other languages have, and what it is here.
_OTHER_WORDS = (
    (r"\b(?:SV_\w+|float4\s+main|cbuffer|Texture2D\s*<|\[shader)", "this is HLSL: dxc -spirv makes SPIR-V of it, which is taken"),
    (r"@(?:vertex|fragment|compute|builtin|location)\b|->\s*vec[234]f?\b", "this is WGSL: naga shader.wgsl shader.spv makes SPIR-V of it"),
    (r"#include\s*<metal_stdlib>|\busing namespace metal\b", "this is Metal's language; write GLSL, or give SPIR-V"),
    (r"\bgl_Frag(?:Color|Data)\b", "gl_FragColor is an output of yours: layout(location = 0) out vec4 color;"),
    (r"\btexture(?:1D|2D|3D|Cube|2DLod|CubeLod|2DProj)\s*\(\s*\w+\s*,", "texture2D() is texture(), texture2DLod() textureLod()"),
    (r"^\s*(?:attribute|varying)\s", "attribute and varying are layout(location = N) in and out"),
    (
        r"\bGL_KHR_cooperative_matrix\b",
        "GL_KHR_cooperative_matrix is younger than the glslang inside: compile the text with glslang 13 or later, and give the SPIR-V",
    ),
    (r"\bgl_(?:VertexID|InstanceID)\b", "gl_VertexID and gl_InstanceID are gl_VertexIndex and gl_InstanceIndex"),
    (r"\bgl_(?:ModelViewProjectionMatrix|Vertex|Normal|MultiTexCoord\d|Color)\b", "matrices and attributes are your own: declare them"),
)


def _language_hint(text: str) -> str:
    """What to do about words of older GLSL and of other languages; "" where there are none."""
    return "".join(f"\n  {fix}" for word, fix in _OTHER_WORDS if re.search(word, text, re.MULTILINE))


class _Folders(list[str]):
    """Folders that were looked at, and told of where they are not there."""


def directories(include: Any, what: str) -> list[str]:
    """Of ``include=``: a path, or a list of them. Of what it gave before, that."""
    if isinstance(include, _Folders):
        return include
    given = [include] if isinstance(include, (str, os.PathLike)) else arguments.sequence(include, what, "it must be a list of directories")
    for directory in given:
        if not isinstance(directory, (str, os.PathLike)):
            raise ValidationError(f"{what} has {arguments.shown(directory)}; it must be a list of directories")
    found = _Folders(files.place(arguments.text(os.fspath(d), what)) for d in given)
    for directory in found:
        if not os.path.isdir(directory):  # noqa: PTH112 -- pathlib would be imported for this alone
            warnings.warn(f"{what}: there is no folder {directory}", UnusedNameWarning, stacklevel=users_level())
    return found


def _define(value: Any, what: str = "a value in defines") -> str:
    if value is False:
        raise ValidationError(f"{what} is False, and #ifdef would find it defined; leave the name out, or give 0 for #if")
    if value is True:
        return "1"
    if value is None or isinstance(value, (str, int, float, np.number)):
        return "" if value is None else arguments.text(str(value), what)
    raise ValidationError(f"{what} is {arguments.shown(value)}; it must be a number or text")


def load(
    source: ShaderSource,
    stage: str,
    *,
    defines: Mapping[str, Any] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    label: str = "",
    file: str = "",
    device: _core.Device | None = None,
) -> _core.ShaderModule:
    """A module of one stage from whatever the user gave; through the disk cache of ``device``, if there is one."""
    if isinstance(source, _core.ShaderModule):
        return source
    name = file or f"{label or 'pipeline'} <{stage} shader>"
    if not (isinstance(include, tuple) and not include):
        include = directories(include, f"{label or 'pipeline'}: include")
    if isinstance(source, (bytes, bytearray, memoryview)):
        if (words := bytes(source)).lstrip().startswith((b"#version", b"//", b"/*", b"#extension")):
            raise ShaderError(f"shader '{name}': GLSL is text, and bytes are SPIR-V; give a str (source.decode())")
        return _module(words, name, device)
    # Whether it is an os.PathLike is asked last: that takes long where it is the first such question.
    if is_path(source):
        path = files.place(source)
        try:
            data = files.read_regular(path, _MAX_FILE_B)
        except OSError as wrong:
            raise ValidationError(
                f"{label or 'pipeline'}: can't read {stage} shader '{path}': {wrong.strerror or wrong}"
            ) from None
        if path.endswith(".spv") or data[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
            return _module(data, path, device)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise ValidationError(f"{stage} shader '{path}' is neither UTF-8 text nor SPIR-V") from None
        name = path
        keep_label(path)
    elif isinstance(source, str):
        text = source
    else:
        raise ValidationError(
            f"{label or 'pipeline'}: {stage} shader is {type(source).__name__}; give GLSL text, a path, or SPIR-V bytes"
        )
    if not (defines is None or isinstance(defines, Mapping)):
        raise ValidationError(f"{label or 'pipeline'}: defines is {arguments.shown(defines)}; it must be a mapping")
    key = None
    if "#include" not in text:
        of = f"{label or 'pipeline'}: in defines"
        pairs = ((arguments.text(k, "a name in defines"), _define(v, f"{of} '{k}'")) for k, v in (defines or {}).items())
        key = (text, name, stage, tuple(sorted(pairs)))
        found = _cache.get(key)
        if found is not None:
            return found
    words = compile_glsl(text, stage, file=name, defines=defines, include=include, device=device)
    module = _core.ShaderModule(words, name, device=device)
    _say_prints(bytes(words), name)
    if key is not None:
        _keep(key, module)
    return module


def unnamed_defines(
    sources: Iterable[ShaderSource | None], defines: Mapping[str, Any] | None, include: Any
) -> list[tuple[str, list[str]]]:
    """Of ``defines=`` the names that no text of the stages has, nor what it includes, each with names that the texts ask for. Nothing where
    that can't be known."""
    if not defines:
        return []
    texts: list[bytes] = []
    for source in sources:
        if isinstance(source, str) and not is_path(source):
            texts.append(source.encode())
    try:
        paths = [files.place(s) for s in sources if isinstance(s, (str, os.PathLike)) and is_path(s)]
        texts += [t for t in (files.read_regular(path, _MAX_FILE_B) for path in paths) if t[:4] != b"\x03\x02\x23\x07"]
        folders = [os.path.dirname(path) for path in paths] + list(directories(include, "include"))  # noqa: PTH120
        texts += _included(texts, folders)
    except OSError:
        return []
    whole = b"\n".join([*texts, *(_define(value).encode() for value in defines.values())])
    if b"##" in whole:  # names may be made of parts
        return []
    words = set(_WORD.findall(whole))
    asked = {word.decode() for line in _CONDITION.findall(whole) for word in _WORD.findall(line)} - {"defined"}
    return [(name, sorted(asked)) for name in defines if name.encode() not in words]


def _included(texts: Sequence[bytes], folders: list[str]) -> list[bytes]:
    """What texts include, and what that includes. Raises ``OSError`` where it can't be found."""
    found: dict[str, bytes] = {}
    todo = [(name.decode(errors="replace"), folders) for text in texts for name in _INCLUDES.findall(text)]
    while todo:
        name, near = todo.pop()
        path = next((p for f in near if os.path.isfile(p := os.path.join(f, name))), name)  # noqa: PTH113, PTH118
        if path in found:
            continue
        found[path] = files.read_regular(path, _MAX_FILE_B)
        inner = [os.path.dirname(path), *folders]  # noqa: PTH120
        todo += [(n.decode(errors="replace"), inner) for n in _INCLUDES.findall(found[path])]
    return list(found.values())


def files_of(sources: Iterable[ShaderSource | None]) -> tuple[str, ...]:
    """Absolute paths of those that are paths, and of what they include beside themselves."""
    found: dict[str, None] = {}
    todo = [str(os.fspath(s)) for s in sources if isinstance(s, (str, os.PathLike)) and is_path(s)]
    while todo:
        path = os.path.abspath(files.place(todo.pop()))  # noqa: PTH100 -- pathlib would be imported for this alone
        if path in found:
            continue
        found[path] = None
        try:
            text = files.read_regular(path, _MAX_FILE_B)
        except OSError:
            continue
        folder = os.path.dirname(path)  # noqa: PTH120
        beside = [os.path.join(folder, name.decode(errors="replace")) for name in _INCLUDE.findall(text)]  # noqa: PTH118
        todo += [name for name in beside if os.path.isfile(name)]  # noqa: PTH113
    return tuple(found)


def _say_prints(words: bytes, name: str) -> None:
    """A module that prints is drawn without: its instructions may be left out by whoever does not know them."""
    if b"NonSemantic.DebugPrintf" in words:
        warnings.warn(
            f"shader '{name}': debugPrintfEXT prints nothing here; store numbers to a buffer and read them, or ask rp.why(x, y) about a "
            "pixel",
            UnusedNameWarning,
            stacklevel=users_level(),
        )


def _module(words: bytes, name: str, device: _core.Device | None) -> _core.ShaderModule:
    """The module of these words and this name, with what is known of it."""
    module = _cache.get((words, name))
    if module is None:
        module = _core.ShaderModule(words, name, device=device)
        _say_prints(words, name)
        _keep((words, name), module)
    return module


def _keep(key: Any, module: _core.ShaderModule) -> None:
    while len(_cache) >= _MAX_CACHED:
        _cache.pop(next(iter(_cache)), None)
    _cache[key] = module


def is_path(source: Any) -> bool:
    """Whether a shader is given as a path, and not as text or SPIR-V."""
    if not isinstance(source, str):
        return isinstance(source, os.PathLike)
    return (
        "\n" not in source
        and len(source) < 4096
        and (source.endswith(_SUFFIXES) or ("{" not in source and "\0" not in source and os.path.isfile(files.place(source))))  # noqa: PTH113
    )


def label_of(device: Context, shaders: Sequence[_core.ShaderModule]) -> str:
    """A pipeline's label where none is given: the names of its shaders' files, with as many folders as tell them from others of the
    device, and a number where the files are the same and shaders that are given as text or words are others."""
    is_file = [not module.label.endswith(" shader>") for module in shaders]
    # The same relative path may be another file by now: the process may have gone to another folder.
    paths = tuple(os.path.abspath(m.label) for m, named in zip(shaders, is_file, strict=True) if named)  # noqa: PTH100
    others = [m for m, named in zip(shaders, is_file, strict=True) if paths and not named]
    texts = tuple(hashlib.blake2b(m.spirv, digest_size=16).digest() for m in others)
    parts = [path.replace("\\", "/").split("/") for path in paths]
    for count in range(1, max(map(len, parts), default=0) + 1):
        label = "+".join("/".join(part[-count:]) for part in parts)
        owner, numbers = device._file_labels.setdefault(label, (paths, {}))
        if owner == paths:
            number = numbers.setdefault(texts, len(numbers) + 1)
            return label if number == 1 else f"{label} ({number})"
    return "pipeline"
