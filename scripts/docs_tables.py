"""Tables of the documents that are made from the code's own tables: formats, capabilities of SPIR-V, GLSL, limits, enumerations, keys.

    python scripts/docs_tables.py NAME          prints one; a page asks for it by <!-- table: NAME -->

In: the built package, and cpp/src/shader/spirv/support.cpp, whose lists the core does not give to Python. Out: Markdown. The table of
GLSL is made by compiling a small shader for each row (``GLSL``); tests/test_docs_tables.py does the same for capabilities.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import tilegpu as tg

CORE = Path(__file__).resolve().parent.parent / "cpp"
SUPPORT = CORE / "src" / "shader" / "spirv" / "support.cpp"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    line = "| " + " | ".join(head) + " |"
    return "\n".join([line, "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


# --- formats


def formats() -> str:
    """Every format and what it may be used for."""

    def mark(flag: bool) -> str:
        return "yes" if flag else ""

    rows = []
    for name in tg.format_names():
        f = tg.format_info(name)
        size = f"{f.texel_B} B" if f.block_px == (1, 1) else f"{f.texel_B} B for {f.block_px[0]}x{f.block_px[1]}"
        rows.append(
            (f"`{name}`", size, mark(f.vertex), mark(f.sampled), mark(f.linear_filter), mark(f.storage), mark(f.is_atomic),
             mark(f.color_attachment or f.is_depth_stencil), mark(f.blend))
        )  # fmt: skip
    return markdown(("format", "texel", "vertex", "sampled", "linear filter", "storage", "atomic", "attachment", "blend"), rows)


# --- capabilities


def capabilities() -> tuple[list[str], list[str]]:
    """Names of the SPIR-V capabilities that the core takes, and of those that it knows and refuses."""
    text = SUPPORT.read_text(encoding="utf-8")
    body = re.search(r"kSupported\[\] = \{(.*?)^\};", text, re.DOTALL | re.MULTILINE)
    refused = re.search(r"kNotSupported\[\] = \{(.*?)^\};", text, re.DOTALL | re.MULTILINE)
    if body is None or refused is None:
        raise ValueError(f"{SUPPORT}: the lists kSupported and kNotSupported are not where they were; mend scripts/docs_tables.py")
    return re.findall(r"spv::Capability(\w+),", body[1]), re.findall(r"TILEGPU_ROW\((\w+)\)", refused[1])


def spirv() -> str:
    """Both lists."""
    there, refused = capabilities()
    return (
        f"Supported ({len(there)}): {', '.join(f'`{name}`' for name in sorted(there))}.\n\n"
        f"Refused by name: {', '.join(f'`{name}`' for name in sorted(refused))}; all others as unknown."
    )


# --- GLSL: a shader for each row


class Probe(NamedTuple):
    """``stage``: ``"fragment"``, ``"vertex"``, ``"compute"``. ``head``: extensions and declarations; ``body``: of main, which may set
    ``float r``."""

    what: str
    stage: str
    head: str
    body: str


def _of(extension: str) -> str:
    return f"#extension {extension} : require\n"


GLSL = (
    Probe("8-bit integers (`GL_EXT_shader_explicit_arithmetic_types_int8`)", "fragment",
          _of("GL_EXT_shader_explicit_arithmetic_types_int8"), "r = float(int8_t(gl_FragCoord.x));"),
    Probe("16-bit integers (`..._int16`)", "fragment", _of("GL_EXT_shader_explicit_arithmetic_types_int16"),
          "r = float(int16_t(gl_FragCoord.x));"),
    Probe("64-bit integers (`..._int64`)", "fragment", _of("GL_EXT_shader_explicit_arithmetic_types_int64"),
          "r = float(int64_t(gl_FragCoord.x));"),
    Probe("half floats (`..._float16`)", "fragment", _of("GL_EXT_shader_explicit_arithmetic_types_float16"),
          "r = float(float16_t(gl_FragCoord.x));"),
    Probe("`double`", "fragment", "", "r = float(double(gl_FragCoord.x) * 2.0lf);"),
    Probe("8- and 16-bit members of blocks (`GL_EXT_shader_8bit_storage`, `_16bit_storage`)", "compute",
          _of("GL_EXT_shader_8bit_storage") + _of("GL_EXT_shader_16bit_storage") + "layout(binding = 1) buffer B { uint8_t a[]; } b;",
          "r = float(int(b.a[0]));"),
    Probe("scalar block layout (`GL_EXT_scalar_block_layout`)", "compute",
          _of("GL_EXT_scalar_block_layout") + "layout(binding = 1, scalar) buffer B { vec3 a[]; } b;", "r = b.a[0].x;"),
    Probe("buffer references (`GL_EXT_buffer_reference`)", "compute",
          _of("GL_EXT_buffer_reference") + "layout(buffer_reference) buffer R { float a[]; };\n"
          "layout(push_constant) uniform P { R p; } p;", "r = p.p.a[0];"),
    Probe("arrays of descriptors by any index (`GL_EXT_nonuniform_qualifier`)", "fragment",
          _of("GL_EXT_nonuniform_qualifier") + "layout(binding = 1) uniform sampler2D t[4];",
          "r = texture(t[nonuniformEXT(int(gl_FragCoord.x) & 3)], vec2(0)).r;"),
    Probe("atomics on buffers", "compute", "layout(binding = 1) buffer B { uint a; } b;", "r = float(atomicAdd(b.a, 1u));"),
    Probe("64-bit atomics (`GL_EXT_shader_atomic_int64`)", "compute",
          _of("GL_EXT_shader_atomic_int64") + _of("GL_EXT_shader_explicit_arithmetic_types_int64")
          + "layout(binding = 1) buffer B { uint64_t a; } b;", "r = float(atomicAdd(b.a, 1ul));"),
    Probe("atomics on floats (`GL_EXT_shader_atomic_float`)", "compute",
          _of("GL_EXT_shader_atomic_float") + "layout(binding = 1) buffer B { float a; } b;", "r = atomicAdd(b.a, 1.0);"),
    Probe("storage images", "compute", "layout(binding = 1, rgba8) uniform image2D i;", "imageStore(i, ivec2(0), vec4(1)); r = 0;"),
    Probe("storage images without a format", "compute",
          _of("GL_EXT_shader_image_load_formatted") + "layout(binding = 1) uniform image2D i;", "r = imageLoad(i, ivec2(0)).x;"),
    Probe("atomics on images", "compute", "layout(binding = 1, r32ui) uniform uimage2D i;", "r = float(imageAtomicAdd(i, ivec2(0), 1u));"),
    Probe("texel buffers", "fragment", "layout(binding = 1) uniform samplerBuffer t;", "r = texelFetch(t, 0).r;"),
    Probe("1D, 3D, cube array textures", "fragment",
          "layout(binding = 1) uniform sampler1D a; layout(binding = 2) uniform sampler3D b;\n"
          "layout(binding = 3) uniform samplerCubeArray c;",
          "r = texture(a, 0).r + texture(b, vec3(0)).r + texture(c, vec4(1)).r;"),
    Probe("samples of multisampled textures", "fragment", "layout(binding = 1) uniform sampler2DMS t;",
          "r = texelFetch(t, ivec2(0), 1).r;"),
    Probe("`textureGather` with offsets", "fragment", "layout(binding = 1) uniform sampler2D t;",
          "r = textureGatherOffsets(t, vec2(0), ivec2[](ivec2(0), ivec2(1), ivec2(2), ivec2(3))).x;"),
    Probe("`textureQueryLod`, `textureQueryLevels`", "fragment", "layout(binding = 1) uniform sampler2D t;",
          "r = textureQueryLod(t, gl_FragCoord.xy).x + float(textureQueryLevels(t));"),
    Probe("`textureClampARB`, `textureGradClampARB` (`GL_ARB_sparse_texture_clamp`)", "fragment",
          _of("GL_ARB_sparse_texture_clamp") + "layout(binding = 1) uniform sampler2D t;", "r = textureClampARB(t, vec2(0), 1.0).r;"),
    Probe("shadow samplers", "fragment", "layout(binding = 1) uniform sampler2DShadow t;", "r = texture(t, vec3(0));"),
    Probe("input attachments (`subpassInput`)", "fragment", "layout(binding = 1, input_attachment_index = 0) uniform subpassInput t;",
          "r = subpassLoad(t).r;"),
    Probe("fine and coarse derivatives", "fragment", "", "r = dFdxFine(gl_FragCoord.x) + dFdyCoarse(gl_FragCoord.y);"),
    Probe("`interpolateAt...`", "fragment", "layout(location = 0) in float v;", "r = interpolateAtSample(v, 0);"),
    Probe("barycentrics (`GL_EXT_fragment_shader_barycentric`)", "fragment", _of("GL_EXT_fragment_shader_barycentric"),
          "r = gl_BaryCoordEXT.x;"),
    Probe("pixel interlock (`GL_ARB_fragment_shader_interlock`)", "fragment",
          _of("GL_ARB_fragment_shader_interlock") + "layout(pixel_interlock_ordered) in;",
          "beginInvocationInterlockARB(); r = 1; endInvocationInterlockARB();"),
    Probe("demote to helper (`GL_EXT_demote_to_helper_invocation`)", "fragment", _of("GL_EXT_demote_to_helper_invocation"),
          "if (gl_FragCoord.x < 4) demote; r = 1;"),
    Probe("stencil export (`GL_ARB_shader_stencil_export`)", "fragment", _of("GL_ARB_shader_stencil_export"),
          "gl_FragStencilRefARB = 1; r = 0;"),
    Probe("subgroups: vote, ballot, arithmetic, shuffle, quad (`GL_KHR_shader_subgroup_...`)", "compute",
          "".join(_of(f"GL_KHR_shader_subgroup_{w}") for w in ("vote", "ballot", "arithmetic", "shuffle", "quad")),
          "r = subgroupAdd(1.0) + subgroupShuffle(1.0, 0) + subgroupQuadBroadcast(1.0, 0) + (subgroupAll(true) ? 1 : 0);"),
    Probe("subgroups in vertex shaders", "vertex", _of("GL_KHR_shader_subgroup_arithmetic"), "r = subgroupAdd(1.0);"),
    Probe("quads in vertex shaders", "vertex", _of("GL_KHR_shader_subgroup_quad"), "r = subgroupQuadBroadcast(1.0, 0);"),
    Probe("`gl_Layer`, `gl_ViewportIndex` of vertex shaders (`GL_ARB_shader_viewport_layer_array`)", "vertex",
          _of("GL_ARB_shader_viewport_layer_array"), "gl_Layer = 0; gl_ViewportIndex = 0; r = 0;"),
    Probe("`gl_ViewIndex` (`GL_EXT_multiview`)", "vertex", _of("GL_EXT_multiview"), "r = float(gl_ViewIndex);"),
    Probe("`gl_DrawID`, `gl_BaseVertex` (4.6, `GL_ARB_shader_draw_parameters`)", "vertex", _of("GL_ARB_shader_draw_parameters"),
          "r = float(gl_DrawIDARB + gl_BaseVertexARB);"),
    Probe("`gl_ClipDistance`, `gl_CullDistance`", "vertex", "", "gl_ClipDistance[0] = 1; gl_CullDistance[0] = 1; r = 0;"),
    Probe("shared memory and barriers", "compute", "shared float s[64];", "s[gl_LocalInvocationIndex] = 1; barrier(); r = s[0];"),
    Probe("`#include` (`GL_GOOGLE_include_directive`; folders by `include=`)", "compute", _of("GL_GOOGLE_include_directive"), "r = 0;"),
    Probe("shader clock (`GL_EXT_shader_realtime_clock`)", "compute", _of("GL_EXT_shader_realtime_clock"),
          "r = float(clockRealtime2x32EXT().x);"),
    Probe("ray queries (`GL_EXT_ray_query`)", "compute",
          _of("GL_EXT_ray_query") + "layout(binding = 1) uniform accelerationStructureEXT a;",
          "rayQueryEXT q; rayQueryInitializeEXT(q, a, 0, 255, vec3(0), 0.0, vec3(1), 1.0); r = 0;"),
)  # fmt: skip

_FULL = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4 - 1, 0, 1); }"


def _shader(probe: Probe) -> str:
    version = "#version 460\n"
    local = "layout(local_size_x = 64) in;\nlayout(binding = 0) buffer Result { float result[]; };\n" if probe.stage == "compute" else ""
    out = "layout(location = 0) out vec4 o;\n" if probe.stage == "fragment" else ""
    end = {"compute": "result[0] = r;", "fragment": "o = vec4(r);", "vertex": "gl_Position = vec4(r);"}[probe.stage]
    extensions = "".join(re.findall(r"^#extension.*\n", probe.head, re.MULTILINE))
    rest = re.sub(r"^#extension.*\n", "", probe.head, flags=re.MULTILINE)
    return f"{version}{extensions}{local}{out}{rest}\nvoid main() {{ float r = 0; {probe.body} {end} }}"


def try_glsl(device: tg.Device, probe: Probe) -> str:
    """``""`` where a pipeline is made of the probe's shader, else what the core says."""
    text = _shader(probe)
    try:
        if probe.stage == "compute":
            device.compute_pipeline(text)
        elif probe.stage == "vertex":
            device.pipeline(text)
        else:
            varying = "layout(location = 0) out float v;" if "in float v" in probe.head else ""
            full = _FULL.replace("void main() {", f"{varying} void main() {{ {'v = 0;' if varying else ''}")
            state: dict[str, Any] = {"stencil": "s8_uint", "stencil_test": {"pass": "replace"}} if "StencilRef" in text else {}
            state |= {"depth": "d32_sfloat"} if "gl_FragDepth" in text else {}
            device.pipeline(full, text, color=["r8g8b8a8_unorm"], **state)
    except tg.Error as error:
        return str(error)
    return ""


def of_message(said: str) -> str:
    """The reason in the core's words, without the names of the probe's pipeline, stage and line, which no reader has."""
    first = re.sub(r"\s+", " ", said.splitlines()[0] if said else "")
    return re.sub(r"^(?:(?:pipeline|shader) '[^']*'(?: at [^:]*:\d+)?: |\w+ shader: |SPIR-V: )+", "", first)


def glsl() -> str:
    """A row for each probe: yes, or what the core says."""
    device = tg.Device(cache_dir="off", threads=1)
    rows = []
    for probe in GLSL:
        said = try_glsl(device, probe)
        short = of_message(said).replace("|", "\\|")
        rows.append((probe.what, probe.stage, "yes" if not said else f"no: {short}"))
    return markdown(("what", "tried in", "supported"), rows)


# --- limits and enumerations

#: Constant of the public headers, and what to call it.
LIMITS = {
    "kMaxImageSize_px": "width and height of an image, px",
    "kMaxColorAttachments": "colour attachments of a pass",
    "kMaxViewports": "viewports and scissors",
    "kMaxVertexBindings": "vertex bindings",
    "kMaxVertexAttributes": "vertex attributes",
    "kMaxVaryingComponents": "components between two stages",
    "kMaxDescriptorSets": "descriptor sets",
    "kMaxDescriptorsOfSet": "descriptors of a set, all bindings together",
    "kMaxDynamicBuffers": "dynamic buffers of a pipeline layout",
    "kMaxPushConstants_B": "push constants, bytes",
    "kMaxInlineUniformBlock_B": "inline uniform block, bytes",
    "kMaxTexelBufferElements": "elements of a texel buffer",
    "kMaxPatchVertices": "vertices of a patch",
    "kMaxEmittedVertices": "vertices of a geometry shader's invocation",
    "kMaxGeometryInvocations": "invocations of a geometry shader",
    "kMaxTransformFeedbackBuffers": "buffers of transform feedback",
    "kMaxWorkgroupInvocations": "invocations of a workgroup",
    "kMaxSharedMemory_B": "shared memory of a workgroup, bytes",
    "kMaxWorkgroups": "workgroups of a dispatch in each direction",
    "kMaxLineWidth_px": "width of a line, px",
    "kMaxPointSize_px": "size of a point, px",
}


def _value(text: str) -> int:
    text = text.replace("u", "").strip()
    left, shift, right = text.partition("<<")
    return int(left) << int(right) if shift else int(float(left.rstrip("f")))


def limit_values() -> dict[str, int]:
    """Of the public headers, by constant."""
    found = {}
    for path in sorted((CORE / "include" / "tilegpu").glob("*.hpp")):
        for line in re.findall(r"^inline constexpr \w+ (.*?);", path.read_text(encoding="utf-8"), re.MULTILINE):
            for name, value in re.findall(r"(kM\w+) *= *([^,]+)", line):
                if name in LIMITS:
                    found[name] = _value(value)
    return found


def limits() -> str:
    """The device's limits."""
    values = limit_values()
    rows = [(what, f"{values[name]:,}") for name, what in LIMITS.items()]
    return markdown(("limit", "value"), [*rows, ("samples of a pixel", "1, 2, 4, 8, 16"), ("invocations of a subgroup", "4")])


def enumerations() -> str:
    """Names that strings may be, by enumeration."""
    tables = tg._core.ENUMS
    most = 60
    rows = []
    for kind in sorted(tables):
        names = list(tables[kind])
        shown = ", ".join(f"`{n}`" for n in names[:most])
        rows.append((f"`{kind}`", shown + (f" and {len(names) - most} more" if len(names) > most else "")))
    return markdown(("enumeration", "names"), rows)


def profiles() -> str:
    """The GPU profiles with what each turns on."""
    rows = []
    for name in tg.profile_names():
        device = tg.Device(name, threads=1)
        rows.append((f"`{name}`", ", ".join(f"`{h}`" for h in device.hsr) or "none"))
    return markdown(("profile", "hidden-surface removal by default"), rows)


@functools.cache  # every module of the package is parsed for it, and pages ask many times
def error_classes() -> tuple[tuple[str, str, str], ...]:
    """Name, module and first paragraph of every class of the package that derives from an exception or a warning, the front end's first."""
    package = Path(tg.__file__).parent
    found = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            bases = " ".join(ast.unparse(base) for base in node.bases) if isinstance(node, ast.ClassDef) else ""
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and re.search("Error|Warning|Exception", bases):
                first = (ast.get_docstring(node) or "").partition("\n\n")[0]
                found.append((node.name, "tilegpu" if module == "tilegpu.errors" else module, re.sub(r"\s+", " ", first)))
    return tuple(sorted(found, key=lambda row: (row[1] != "tilegpu", row[1])))


def errors() -> str:
    """All of them."""

    def plain(text: str) -> str:
        return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`").replace("|", "\\|")

    return markdown(("class", "of", "what it says"), [(f"`{name}`", f"`{module}`", plain(text)) for name, module, text in error_classes()])


def class_reference(base: type[BaseException]) -> str:
    """Autodoc's directives for what ``tilegpu`` exports of a kind, in the order of the source; ShaderError with its messages."""
    names = [name for name, module, _ in error_classes() if module == "tilegpu" and issubclass(getattr(tg, name), base)]
    lines = [line for n in names for line in (f".. autoexception:: {n}", *([".. autoclass:: ShaderMessage"] if n == "ShaderError" else []))]
    return "\n".join(["```{eval-rst}", ".. currentmodule:: tilegpu", *lines, "```"])


# --- the reference

DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto\w+|data|class):: ([\w.]+)", re.MULTILINE)
API = Path(__file__).resolve().parent.parent / "docs" / "api"


def documented(text: str) -> set[str]:
    """Full names of what a text with autodoc's directives documents."""
    found, current = set(), ""
    for directive, name in DIRECTIVE.findall(text):
        if directive == "currentmodule":
            current = name
        else:
            found.add(name if "." in name else f"{current}.{name}")
    return found


def further(module: ModuleType) -> str:
    """Directives for what a module exports and no page of docs/api has, so that nothing is missing until somebody gives it a place."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in sorted(API.glob("*.md")))
    there = documented(texts) | documented("\n".join(class_reference(base) for base in (tg.Error, Warning)))
    lines = []
    for name in module.__all__:
        thing = getattr(module, name)
        if f"{module.__name__}.{name}" not in there and not isinstance(thing, ModuleType):
            error = isinstance(thing, type) and issubclass(thing, BaseException)
            kind = "exception" if error else "class" if isinstance(thing, type) else "function" if callable(thing) else "data"
            lines.append(f".. auto{kind}:: {name}")
    return "\n".join(["```{eval-rst}", f".. currentmodule:: {module.__name__}", *lines, "```"])


def counters() -> str:
    """Of a pass's statistics."""
    groups = vars(sys.modules[tg.PassStats.__module__])["GROUPS"]
    rows = [(group, f"`{name}`", what) for group, counted in groups.items() for name, what in counted]
    return markdown(("", "counter", "what it counts"), rows)


def cost_constants() -> str:
    """The constants of the cost model, a column for each profile; what is an estimate has a star."""
    from tilegpu.cost_constants import CONSTANTS

    fields = [f.name for f in dataclasses.fields(next(iter(CONSTANTS.values()))) if f.name != "kind"]
    rows = [(f"`{profile}`", *(getattr(row, name).text for name in fields)) for profile, row in CONSTANTS.items()]
    return markdown(("profile", *(f"`{name}`" for name in fields)), rows)


def cost_sources() -> str:
    """Where each constant is from: by field, the sources of its figures."""
    from tilegpu.cost_constants import CONSTANTS, SOURCES

    rows = []
    for field in dataclasses.fields(next(iter(CONSTANTS.values()))):
        if field.name == "kind":
            continue
        by: dict[str, list[str]] = {}
        for profile, row in CONSTANTS.items():
            by.setdefault(getattr(row, field.name).source, []).append(f"`{profile}`")
        for source, profiles_of in by.items():
            rows.append((f"`{field.name}`", "all" if len(by) == 1 else ", ".join(profiles_of), SOURCES[source]))
    return markdown(("constant", "profiles", "source"), rows)


def scenes() -> str:
    """The sample scenes."""
    from tilegpu.scene import scenes as all_scenes

    return markdown(("scene", "what it is"), [(f"`{name}`", scene.description) for name, scene in all_scenes().items()])


TABLES = {
    "formats": formats,
    "spirv": spirv,
    "glsl": glsl,
    "limits": limits,
    "enumerations": enumerations,
    "profiles": profiles,
    "counters": counters,
    "cost constants": cost_constants,
    "cost sources": cost_sources,
    "errors": errors,
    "error reference": lambda: class_reference(tg.Error),
    "warning reference": lambda: class_reference(Warning),
    "further reference": lambda: further(tg),
    "further scene reference": lambda: further(importlib.import_module("tilegpu.scene")),
    "further testing reference": lambda: further(importlib.import_module("tilegpu.testing")),
    "scenes": scenes,
}


def table(name: str) -> str:
    """Markdown of one table."""
    if name not in TABLES:
        raise ValueError(f"<!-- table: {name} --> is not known; there are {', '.join(TABLES)}")
    return TABLES[name]()


if __name__ == "__main__":
    print(table(sys.argv[1]))
