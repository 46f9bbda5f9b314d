"""Graphics pipelines: shaders and fixed-function state, all by Vulkan's names."""

from __future__ import annotations

import os
import struct as _struct
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, enums, shader
from tilegpu.errors import UnusedNameWarning, ValidationError, candidates
from tilegpu.interface import Interface, Stages
from tilegpu.vertex import VertexLayout, make_layout

if TYPE_CHECKING:
    from tilegpu.device import Device

_ALL_CHANNELS = 0xF
_PRESETS: dict[str, dict[str, str]] = {
    "alpha": {
        "src_color": "src_alpha",
        "dst_color": "one_minus_src_alpha",
        "src_alpha": "one",
        "dst_alpha": "one_minus_src_alpha",
    },
    "premultiplied": {
        "src_color": "one",
        "dst_color": "one_minus_src_alpha",
        "src_alpha": "one",
        "dst_alpha": "one_minus_src_alpha",
    },
    "additive": {"src_color": "one", "dst_color": "one", "src_alpha": "one", "dst_alpha": "one"},
}
_BLEND_KEYS = ("src_color", "dst_color", "color_op", "src_alpha", "dst_alpha", "alpha_op", "write_mask")
_STENCIL_KEYS = ("fail", "pass", "depth_fail", "compare", "compare_mask", "write_mask", "reference")

Blend = str | Mapping[str, Any] | None


class Pipeline:
    """A compiled pipeline. Made by :meth:`tilegpu.Device.pipeline`.

    ``interface`` is the table of names that its shaders ask for.
    """

    def __init__(
        self,
        core: _core.Pipeline,
        interface: Interface,
        layout: VertexLayout,
        info: _core.GraphicsPipelineCreateInfo,
        samples: int,
        color_formats: list[str | None],
        state: PipelineState,
    ) -> None:
        self.core = core
        self.label = core.label
        self.title = f"pipeline '{core.label}'"  #: what messages call it
        self.interface = interface
        self.samples = samples
        self.color_formats = color_formats
        self.vertex_layout = layout
        self.primitive_restart = info.primitive_restart
        self.state = state
        self.set_layouts: list[_core.DescriptorSetLayout | None] = core.set_layouts
        self._warned: set[str] = set()

    def struct(self, name: str, /, **fields: Any) -> bytes:
        """Bytes of the block ``name`` (of the interface's bindings, or ``"push"``) in the shader's layout.

        Every member must be given by name. A (4, 4) array is the matrix of mathematics; structs are mappings,
        arrays sequences.
        Raises :class:`ValidationError` with the candidates for wrong and missing names.
        """
        if name == "push" and "push" not in self.interface.names:
            return self.pack_push(fields)
        binding = self.interface.names.get(name)
        if binding is None:
            raise ValidationError(
                f"{self.title}: no block '{name}'{candidates(name, [b.name for b in self.interface.bindings.values() if b.layout])}"
            )
        if binding.layout is None:
            raise ValidationError(f"{self.title}: {binding.title} is a {binding.descriptor}, which has no members")
        return binding.layout.pack(fields)

    def pack_push(self, fields: Mapping[str, Any]) -> bytes:
        """Bytes of the push constants."""
        if self.interface.push_layout is None:
            raise ValidationError(
                f"{self.title}: the shaders have no push constants, but push= has: {', '.join(map(str, fields)) or 'nothing'}"
            )
        return self.interface.push_layout.pack(fields)

    def warn_unused(self, name: str, what: str) -> None:
        """Warns once for each name."""
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(f"{self.title}: {what}", UnusedNameWarning, stacklevel=4)

    def __repr__(self) -> str:
        formats = ", ".join(f or "none" for f in self.color_formats)
        return f"<tilegpu.Pipeline '{self.label}', color [{formats}], {self.samples} sample{'s' if self.samples != 1 else ''}>"


class PipelineState:
    """The dynamic state's values that draws start from."""

    __slots__ = ("blend_constants", "depth_bias", "stencil_reference")

    def __init__(
        self,
        blend_constants: tuple[float, ...],
        depth_bias: tuple[float, float, float],
        stencil_reference: tuple[int, int],
    ) -> None:
        self.blend_constants, self.depth_bias, self.stencil_reference = blend_constants, depth_bias, stencil_reference


def _write_mask(value: Any, what: str) -> int:
    if value is None:
        return _ALL_CHANNELS
    if isinstance(value, (bool, int)):
        mask = _ALL_CHANNELS if value is True else int(value)
        if 0 <= mask <= _ALL_CHANNELS:
            return mask
    elif isinstance(value, str) and all(c in "rgba" for c in value.lower()):
        return sum({1 << "rgba".index(c) for c in value.lower()})
    raise ValidationError(f"{what} is {value!r}; it must be some of the letters 'rgba' ('' for none)")


def _blend_attachment(blend: Blend, write_mask: Any, what: str) -> _core.ColorBlendAttachmentState:
    mask = _write_mask(write_mask, f"{what}: write_mask")
    factor, operation = (
        (lambda v, k: enums.parse("blend_factor", v, f"{what}: {k}")),
        (lambda v, k: enums.parse("blend_op", v, f"{what}: {k}")),
    )
    if blend is None or blend is False:
        one, zero, add = factor("one", ""), factor("zero", ""), operation("add", "")
        return _core.ColorBlendAttachmentState(False, one, zero, add, one, zero, add, mask)
    if isinstance(blend, str):
        if blend.lower() not in _PRESETS:
            raise ValidationError(
                f"{what} is '{blend}', which is no preset{candidates(blend, _PRESETS)}; or give a dict with {', '.join(_BLEND_KEYS)}"
            )
        blend = _PRESETS[blend.lower()]
    if not isinstance(blend, Mapping):
        raise ValidationError(
            f"{what} is {blend!r}; it must be None, a preset ({', '.join(_PRESETS)}), a dict, or a list of these, one for each target"
        )
    for key in blend:
        if key not in _BLEND_KEYS:
            raise ValidationError(f"{what} has no field '{key}'{candidates(key, _BLEND_KEYS)}")
    color = [blend.get("src_color", "one"), blend.get("dst_color", "zero"), blend.get("color_op", "add")]
    alpha = [blend.get("src_alpha", color[0]), blend.get("dst_alpha", color[1]), blend.get("alpha_op", color[2])]
    if "write_mask" in blend:
        mask = _write_mask(blend["write_mask"], f"{what}: write_mask")
    return _core.ColorBlendAttachmentState(
        True,
        factor(color[0], "src_color"),
        factor(color[1], "dst_color"),
        operation(color[2], "color_op"),
        factor(alpha[0], "src_alpha"),
        factor(alpha[1], "dst_alpha"),
        operation(alpha[2], "alpha_op"),
        mask,
    )


def _stencil_state(fields: Mapping[str, Any], what: str) -> tuple[_core.StencilOpState, int]:
    named: dict[str, Any] = {}
    for key, value in fields.items():
        short = str(key).removesuffix("_op")
        if short not in _STENCIL_KEYS:
            raise ValidationError(f"{what} has no field '{key}'{candidates(key, _STENCIL_KEYS)}")
        named[short] = value
    operation = lambda key: enums.parse("stencil_op", named.get(key, "keep"), f"{what}: {key}")  # noqa: E731
    reference = int(named.get("reference", 0))
    state = _core.StencilOpState(
        operation("fail"),
        operation("pass"),
        operation("depth_fail"),
        enums.parse("compare_op", named.get("compare", "always"), f"{what}: compare"),
        int(named.get("compare_mask", 0xFF)),
        int(named.get("write_mask", 0xFF)),
        reference,
    )
    return state, reference


def _constant_bits(value: Any, base: str, what: str) -> int:
    try:
        if base == "bool":
            if isinstance(value, (bool, np.bool_)) or value in (0, 1):
                return int(bool(value))
        elif base == "float":
            return int(_struct.unpack("<I", _struct.pack("<f", float(value)))[0])
        elif int(value) == value:
            return int(_struct.unpack("<I", _struct.pack("<i" if base == "int" else "<I", int(value)))[0])
    except (TypeError, ValueError, OverflowError, _struct.error):
        pass
    raise ValidationError(f"{what} is {value!r}; the shader's constant is of type {base}")


def _specialization(
    interface: Interface, stages: Stages, constants: Mapping[Any, Any] | None, label: str
) -> dict[str, list[tuple[int, int]]]:
    result: dict[str, list[tuple[int, int]]] = {stage: [] for stage in stages}
    for key, value in (constants or {}).items():
        found = [c for c in interface.constants if c.name == key or (c.constant_id == key and not isinstance(key, str))]
        if not found:
            names = [f"{c.name} ({c.constant_id})" if c.name else str(c.constant_id) for c in interface.constants]
            raise ValidationError(f"{label}: no specialisation constant {key!r}{candidates(key, names)}")
        for constant in found:
            bits = _constant_bits(value, constant.base, f"{label}: constant {key!r}")
            for stage in constant.stages:
                result[stage].append((constant.constant_id, bits))
    return result


def _per_target(value: Any, count: int, what: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValidationError(f"{what} has {len(value)} entries; there are {count} colour formats")
        return list(value)
    return [value] * count


def _depth_bias(value: Any, what: str) -> tuple[float, float, float] | None:
    if value is None or value is False:
        return None
    if isinstance(value, Mapping):
        for key in value:
            if key not in ("constant", "clamp", "slope"):
                raise ValidationError(f"{what} has no field '{key}'{candidates(key, ['constant', 'clamp', 'slope'])}")
        return float(value.get("constant", 0)), float(value.get("clamp", 0)), float(value.get("slope", 0))
    if isinstance(value, (int, float)):
        return float(value), 0.0, 0.0
    values = [float(v) for v in value]
    if len(values) == 2:
        return values[0], 0.0, values[1]
    if len(values) == 3:
        return values[0], values[1], values[2]
    raise ValidationError(f"{what} is {value!r}; give (constant, slope), (constant, clamp, slope), or a dict of these")


def _input_attachments(info: _core.GraphicsPipelineCreateInfo, names: Sequence[str | None], what: str) -> None:
    """From "what does index i read" to Vulkan's "which index has attachment i"."""
    indices: dict[str, int] = {}
    allowed = [f"color{i}" for i in range(_core.MAX_COLOR_ATTACHMENTS)] + ["depth", "stencil"]
    for index, name in enumerate([names] if isinstance(names, str) else names):
        if name is None:
            continue
        if name not in allowed:
            raise ValidationError(
                f"{what}: input_attachments[{index}] is {name!r}{candidates(str(name), allowed)}; or None for an index that is not used"
            )
        if name in indices:
            raise ValidationError(f"{what}: input_attachments names {name!r} twice, at {indices[name]} and {index}")
        indices[name] = index
    colors = [indices.get(f"color{i}") for i in range(_core.MAX_COLOR_ATTACHMENTS)]
    info.set_input_attachments(colors, indices.get("depth"), indices.get("stencil"))


def create(
    device: Device,
    vert: shader.ShaderSource,
    frag: shader.ShaderSource | None,
    *,
    vertex: Any,
    instance: Any,
    color: Any,
    depth: Any,
    stencil: Any,
    samples: int,
    topology: str,
    primitive_restart: bool,
    polygon_mode: str,
    cull: str,
    front_face: str,
    provoking_vertex: str,
    line_width: float,
    rasterizer_discard: bool,
    depth_test: bool | None,
    depth_write: bool | None,
    depth_compare: str | None,
    depth_bounds: tuple[float, float] | None,
    depth_clamp: bool,
    depth_bias: Any,
    stencil_test: Any,
    stencil_front: Mapping[str, Any] | None,
    stencil_back: Mapping[str, Any] | None,
    blend: Any,
    blend_constants: Sequence[float],
    write_mask: Any,
    logic_op: str | None,
    sample_shading: bool | float,
    sample_mask: int,
    alpha_to_coverage: bool,
    alpha_to_one: bool,
    input_attachments: Sequence[str | None] | None,
    constants: Mapping[Any, Any] | None,
    defines: Mapping[str, Any] | None,
    include: Sequence[str | os.PathLike[str]],
    vert_file: str,
    frag_file: str,
    label: str,
) -> Pipeline:
    """See :meth:`tilegpu.Device.pipeline`."""
    what = f"pipeline '{label}'" if label else "pipeline"
    stages: Stages = {
        "vertex": shader.load(
            vert, "vertex", defines=defines, include=include, label=label, file=vert_file, device=device.core
        )
    }
    if frag is not None:
        stages["fragment"] = shader.load(
            frag, "fragment", defines=defines, include=include, label=label, file=frag_file, device=device.core
        )
    for stage, module in stages.items():
        if module.reflection.stage != _core.ENUMS["shader_stage"][stage]:
            raise ValidationError(f"{what}: '{module.label}' is given as the {stage} shader, but it is the other stage")
    label = label or "+".join(m.label for m in stages.values() if "<" not in m.label) or "pipeline"
    what = f"pipeline '{label}'"
    interface = Interface(what, stages)
    layout = make_layout(vertex, instance, interface.inputs, what)

    info = _core.GraphicsPipelineCreateInfo()
    info.label = label
    specialization = _specialization(interface, stages, constants, what)
    for stage, module in stages.items():
        info.set_stage(module, specialization[stage])
    for number, binding in enumerate(layout.bindings):
        info.add_vertex_binding(number, binding.stride_B, _core.ENUMS["vertex_input_rate"][binding.rate])
    for location, number, format_, offset_B in layout.attributes:
        info.add_vertex_attribute(location, number, format_, offset_B)

    color = [color] if isinstance(color, str) or hasattr(color, "format") else list(color)
    colors = [None if c is None else enums.parse_format(c, f"{what}: color[{i}]") for i, c in enumerate(color)]
    info.color_formats = [0 if c is None else c.number for c in colors]
    depth_info = None if depth is None else enums.parse_format(depth, f"{what}: depth")
    stencil_info = None if stencil is None else enums.parse_format(stencil, f"{what}: stencil")

    info.topology = enums.parse("primitive_topology", topology, f"{what}: topology")
    info.primitive_restart = bool(primitive_restart)
    raster = info.rasterization
    raster.polygon_mode = enums.parse("polygon_mode", polygon_mode, f"{what}: polygon_mode")
    raster.cull_mode = enums.parse("cull_mode", "none" if cull is None else cull, f"{what}: cull")
    raster.front_face = enums.parse("front_face", front_face, f"{what}: front_face")
    raster.depth_clamp, raster.rasterizer_discard, raster.line_width = (
        bool(depth_clamp),
        bool(rasterizer_discard),
        float(line_width),
    )
    if provoking_vertex not in ("first", "last"):
        raise ValidationError(f"{what}: provoking_vertex is {provoking_vertex!r}; it must be 'first' or 'last'")
    raster.provoking_vertex_last = provoking_vertex == "last"
    bias = _depth_bias(depth_bias, f"{what}: depth_bias")
    if bias is not None:
        raster.depth_bias_enable = True
        raster.depth_bias_constant, raster.depth_bias_clamp, raster.depth_bias_slope = bias

    state = info.depth_stencil
    state.depth_test = (depth_compare is not None or depth_info is not None) if depth_test is None else bool(depth_test)
    state.depth_write = state.depth_test if depth_write is None else bool(depth_write)
    state.depth_compare = enums.parse("compare_op", depth_compare or "less", f"{what}: depth_compare")
    if state.depth_test and depth_info is None:
        raise ValidationError(
            f"{what}: depth is tested, but depth= names no format; give the depth attachment's, such as depth='d32_sfloat'"
        )
    if depth_bounds is not None:
        state.depth_bounds_test = True
        state.min_depth_bounds, state.max_depth_bounds = (float(v) for v in depth_bounds)
    references = (0, 0)
    if stencil_test is not None and isinstance(stencil_test, Mapping):  # this question takes long when it is the first
        stencil_front = {**stencil_test, **(stencil_front or {})}
        stencil_back = {**stencil_test, **(stencil_back or {})}
    if stencil_front is not None or stencil_back is not None or stencil_test is True:
        state.stencil_test = stencil_test is not False
        state.front, front_reference = _stencil_state(stencil_front or {}, f"{what}: stencil_front")
        state.back, back_reference = _stencil_state(stencil_back or {}, f"{what}: stencil_back")
        references = (front_reference, back_reference)
        if stencil_info is None and depth_info is not None and depth_info.stencil_bits:
            stencil_info = depth_info
        if state.stencil_test and stencil_info is None:
            raise ValidationError(
                f"{what}: stencil is tested, but stencil= names no format; give the attachment's, such as stencil='s8_uint'"
            )
    info.depth_format = 0 if depth_info is None else depth_info.number
    info.stencil_format = 0 if stencil_info is None else stencil_info.number

    blends = _per_target(blend, len(colors), f"{what}: blend")
    masks = _per_target(write_mask, len(colors), f"{what}: write_mask")
    info.blend.attachments = [
        _blend_attachment(b, m, f"{what}: blend[{i}]") for i, (b, m) in enumerate(zip(blends, masks, strict=True))
    ]
    values = tuple(float(v) for v in blend_constants)
    if len(values) != 4:
        raise ValidationError(f"{what}: blend_constants is {blend_constants!r}; it must be four numbers, r g b a")
    info.blend.constants = list(values)
    if logic_op is not None:
        info.blend.logic_op_enable = True
        info.blend.logic_op = enums.parse("logic_op", logic_op, f"{what}: logic_op")

    if samples not in (1, 2, 4, 8, 16):
        raise ValidationError(f"{what}: samples is {samples!r}; allowed are 1, 2, 4, 8 and 16")
    multisample = info.multisample
    multisample.samples = samples
    multisample.sample_shading = sample_shading is not False and sample_shading is not None
    if multisample.sample_shading:
        multisample.min_sample_shading = 1.0 if sample_shading is True else float(sample_shading)
    if not 0 <= int(sample_mask) <= 0xFFFFFFFF:
        raise ValidationError(f"{what}: sample_mask is {sample_mask!r}; it must be a 32-bit mask")
    multisample.sample_mask = int(sample_mask)
    multisample.alpha_to_coverage, multisample.alpha_to_one = bool(alpha_to_coverage), bool(alpha_to_one)

    if input_attachments is not None:
        _input_attachments(info, input_attachments, what)

    core = device.core.create_pipeline(info)
    pipeline = Pipeline(
        core,
        interface,
        layout,
        info,
        samples,
        [None if c is None else c.name for c in colors],
        PipelineState(values, bias or (0.0, 0.0, 0.0), references),
    )
    for name in layout.unused:
        pipeline.warn_unused(f"vertex field {name}", f"the vertex shader does not use the vertex field '{name}'")
    return pipeline
