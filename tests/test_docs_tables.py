"""The tables of docs/support.md say what the core does: capabilities, GLSL, formats, limits."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tilegpu as tg
from spirv import assemble

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import docs_tables

SUPPORTED, REFUSED = docs_tables.capabilities()


@pytest.fixture(scope="module")
def device() -> tg.Device:
    return tg.Device(cache_dir="off", threads=1)


def module_of(capability: str, extension: str) -> bytes:
    return assemble(
        f"OpCapability Shader\nOpCapability {capability}\n"
        + (f'OpExtension "{extension}"\n' if extension else "")
        + "OpMemoryModel Logical GLSL450\n"
        'OpEntryPoint GLCompute %main "main"\nOpExecutionMode %main LocalSize 1 1 1\n'
        "%void = OpTypeVoid\n%f = OpTypeFunction %void\n%main = OpFunction %void None %f\n%l = OpLabel\nOpReturn\nOpFunctionEnd\n",
        validate=False, version="1.6",
    )  # fmt: skip


def refusal(device: tg.Device, capability: str, extension: str = "") -> str:
    """What the core says of the capability itself; other things may be wrong with so small a module."""
    try:
        device.compute_pipeline(module_of(capability, extension))
    except tg.Error as error:
        return str(error)
    return ""


@pytest.mark.skipif(shutil.which("spirv-as") is None, reason="spirv-as of spirv-tools is missing")
@pytest.mark.parametrize(
    "capability", ["Shader", "Float64", "DotProduct", "VulkanMemoryModel", "StencilExportEXT", "MultiView", "MinLod", "MeshShadingEXT"]
)
def test_what_the_table_supports_is_taken(device: tg.Device, capability: str) -> None:
    assert capability in SUPPORTED and capability not in REFUSED
    assert f"capability {capability} is not supported" not in refusal(device, capability)


@pytest.mark.skipif(shutil.which("spirv-as") is None, reason="spirv-as of spirv-tools is missing")
@pytest.mark.parametrize(
    ("capability", "extension"),
    [("SparseResidency", ""), ("RayQueryKHR", "SPV_KHR_ray_query"), ("RayTracingKHR", "SPV_KHR_ray_tracing"),
     ("ShaderClockKHR", "SPV_KHR_shader_clock"), ("FragmentDensityEXT", "SPV_EXT_fragment_invocation_density")],
)  # fmt: skip
def test_what_the_table_refuses_is_refused_by_name(device: tg.Device, capability: str, extension: str) -> None:
    assert capability in REFUSED and capability not in SUPPORTED
    assert f"capability {capability} is not supported" in refusal(device, capability, extension)


def test_the_lists_are_read_whole() -> None:
    text = docs_tables.SUPPORT.read_text(encoding="utf-8")
    assert len(SUPPORTED) == len(set(SUPPORTED)) == len(set(re.findall(r"spv::Capability(\w+),", text))) > 80
    assert len(REFUSED) == text.count("TILEGPU_ROW(") - 1 > 10  # one is the macro's own


def test_rows_of_glsl(device: tg.Device) -> None:
    """Each probe fails for the reason that its row is about, if at all."""
    said = {probe.what: docs_tables.try_glsl(device, probe) for probe in docs_tables.GLSL}
    refused = {what: text for what, text in said.items() if text}
    assert len(said) == len(docs_tables.GLSL)
    assert set(refused) == {
        "quads in vertex shaders", "shader clock (`GL_EXT_shader_realtime_clock`)", "ray queries (`GL_EXT_ray_query`)",
    }  # fmt: skip
    assert all("does not compile" not in text for text in refused.values()), refused


def test_reasons_of_the_glsl_table_name_nothing_of_the_probes(device: tg.Device) -> None:
    vertex = next(p for p in docs_tables.GLSL if p.what == "quads in vertex shaders")
    said = docs_tables.try_glsl(device, vertex)
    assert "pipeline" in said and "main" in said
    assert docs_tables.of_message(said) == "OpGroupNonUniformQuadBroadcast is supported in compute and fragment shaders only"
    clock = "shader 'pipeline <compute shader>': SPIR-V: capability ShaderClockKHR is not supported"
    assert docs_tables.of_message(clock) == "capability ShaderClockKHR is not supported"
    assert docs_tables.of_message("image 'a': size is 0") == "image 'a': size is 0"
    refused = [line for line in docs_tables.table("glsl").splitlines() if "| no: " in line]
    assert refused and not [line for line in refused if "pipeline" in line or "'" in line.rpartition("| no: ")[2]]


def test_rows_of_formats(device: tg.Device) -> None:
    rows = {row.split("|")[1].strip(" `"): row.split("|")[2:-1] for row in docs_tables.formats().splitlines()[2:]}
    assert set(rows) == set(tg.format_names())
    for name in ("r8g8b8a8_srgb", "r32_uint", "bc1_rgb_unorm_block", "e5b9g9r9_ufloat_pack32", "d32_sfloat", "r64_uint"):
        if name not in rows:
            continue
        _, _, sampled, _, storage, _, attachment, _ = (cell.strip() == "yes" for cell in rows[name])
        blocks = tg.format_info(name).is_compressed  # which views of texel blocks may be more than the format can
        for use, there in (("sampled", sampled), ("storage", storage or blocks)):
            try:
                device.image((4, 4), name, usage=use)
                made = True
            except tg.Error:
                made = False
            assert made == there, f"{name}: {use}"
        usage = "depth_stencil_attachment" if name.startswith("d") else "color_attachment"
        try:
            device.image((4, 4), name, usage=usage)
            made = True
        except tg.Error:
            made = False
        assert made == (attachment or blocks), name


def test_rows_of_limits(device: tg.Device) -> None:
    values = docs_tables.limit_values()
    assert set(values) == set(docs_tables.LIMITS)
    most = values["kMaxImageSize_px"]
    device.image((most, 1), "r8_unorm")
    with pytest.raises(tg.Error, match=f"{most}"):
        device.image((most + 1, 1), "r8_unorm")
    images = [device.image((4, 4), "r8_unorm") for _ in range(values["kMaxColorAttachments"] + 1)]
    with pytest.raises(tg.Error, match=rf"at most {values['kMaxColorAttachments']} are allowed"):
        device.render_pass(color=images)
    push = f"#version 450\nlayout(push_constant) uniform P {{ vec4 v[{values['kMaxPushConstants_B'] // 16}]; }};\n"
    full = push + "void main() { gl_Position = v[0]; }"
    device.pipeline(full)
    with pytest.raises(tg.Error):
        device.pipeline(full.replace(f"v[{values['kMaxPushConstants_B'] // 16}]", "v[17]"))


def test_every_table_is_made() -> None:
    for name in docs_tables.TABLES:
        if name not in ("glsl", "scenes"):
            lines = docs_tables.table(name).splitlines()
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")}
            assert len(cells) <= 1 and lines, name
    with pytest.raises(ValueError, match="there are formats"):
        docs_tables.table("format")



def test_what_no_page_has_stands_in_the_reference_all_the_same() -> None:
    made = ModuleType("made")
    made.__dict__.update(__all__=["Thing", "Wrong", "act", "VALUE"], Thing=type("Thing", (), {}), Wrong=KeyError, act=print, VALUE=3)
    lines = docs_tables.further(made).splitlines()
    assert lines[2:-1] == [".. autoclass:: Thing", ".. autoexception:: Wrong", ".. autofunction:: act", ".. autodata:: VALUE"]
    assert docs_tables.documented("\n".join(lines)) == {f"made.{name}" for name in made.__all__}
