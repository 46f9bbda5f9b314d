"""Graphics pipelines: shaders and fixed-function state, all by Vulkan's names."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tilegpu import _core, arguments, enums, shader
from tilegpu.buffer import matrix_fields, native_dtype
from tilegpu.context import Context
from tilegpu.dynamic_state import dynamic_states
from tilegpu.emissions import warn_of_emissions
from tilegpu.errors import ValidationError
from tilegpu.fixed import made_once
from tilegpu.idle_state import warn_of_constants, warn_of_idle_state
from tilegpu.interface import Binding, Interface, Stages
from tilegpu.mesh_rules import check_mesh_arguments, check_mesh_stages, left_of_meshes
from tilegpu.pipeline_rules import check_pipeline, reads_layer
from tilegpu.pipeline_state import (
    PipelineState,
    factors_of,
    per_target,
    set_attachment_locations,
    set_blend,
    set_clipping,
    set_depth,
    set_depth_bias,
    set_discard_rectangles,
    set_input_attachments,
    set_multisampling,
    set_primitives,
    set_rasterization,
    set_sample_locations,
    set_stencil,
    shading_rate_of,
    write_mask_of,
)
from tilegpu.pipeline_warnings import (
    idle_arguments,
    warn_of_assembly,
    warn_of_idle,
    warn_of_outputs,
    warn_of_position,
    warn_of_replaced,
    warn_of_tests,
)
from tilegpu.program import Program, specialization_of
from tilegpu.set_layout import DescriptorSetLayout, layouts_by_number
from tilegpu.unwritten import warn_of_unwritten_inputs
from tilegpu.vertex import VertexLayout, make_layout, warn_of_layout

_MOST_BLOCK_B = 1024  # of blocks whose contents draws give, packed by the core
_SHORT = {"vertex": "vert", "fragment": "frag"}  # of the arguments
#: Vertices of a primitive of a list, and the fewest that make one; 1 and as many as the first takes of the others.
_LISTS = {
    "line_list": 2, "triangle_list": 3, "line_list_with_adjacency": 4, "triangle_list_with_adjacency": 6,
}  # fmt: skip
_LEAST = {
    "line_strip": 2, "triangle_strip": 3, "triangle_fan": 3, "line_strip_with_adjacency": 4, "triangle_strip_with_adjacency": 6,
}  # fmt: skip


def vertices_of(topology: str, patch_control_points: int) -> tuple[int, int]:
    """Vertices by which a draw is cut into primitives, and the fewest that make one."""
    if topology == "patch_list":
        return patch_control_points, patch_control_points
    step = _LISTS.get(topology, 1)
    return step, _LEAST.get(topology, step)


class Pipeline(Program):
    """A compiled pipeline. Made by :meth:`tilegpu.Device.pipeline`."""

    def __init__(
        self,
        core: _core.Pipeline,
        stages: Stages,
        layout: VertexLayout,
        primitive_restart: bool,
        samples: int,
        color_formats: list[str | None],
        state: PipelineState,
        dynamic: frozenset[str] = frozenset(),
        assembly: tuple[str, int] = ("point_list", 1),
    ) -> None:
        super().__init__(core, stages)
        self.assembly = assembly  #: topology, and the control points of a patch
        self.primitive = vertices_of(*assembly)
        self.idle: dict[str, str] = {}  #: arguments of a draw that have no effect, and what of dev.pipeline gives them one
        self.core = core
        self.samples = samples
        self.color_formats = color_formats
        self.vertex_layout = layout
        self.primitive_restart = primitive_restart
        self.state = state
        self.factors: Sequence[frozenset[str]] = ()  #: names of the blend factors of each colour attachment, where it fixes them
        self.logic = False  #: a logic operation takes the place of blending
        self.dynamic = dynamic  #: what it leaves to the pass, by Vulkan's names

    _plain: _core.PlainPipeline | None = None  #: what draws ask of it whose arguments are plain, once one was drawn

    def look_whether_plain(self) -> _core.PlainPipeline | None:
        """One binding of vertices at most, and nothing that a draw would have to look at: its draws may be recorded in one call."""
        layout = self.vertex_layout
        if self.meshes or self.dynamic or self.may_write or len(layout.bindings) > 1 or layout.per_instance:
            return None
        binding = layout.bindings[0] if layout.bindings else None
        dtype = None if binding is None else binding.dtype
        if binding is not None and dtype is None:
            return None
        push = self.interface.push_layout
        if self.has_push and push is None:
            return None
        own: Any = None
        row: tuple[int, ...] = ()
        if dtype is not None and len(dtype.shape) <= 1 and native_dtype(dtype) is dtype and not matrix_fields(dtype):
            own, row = (dtype, ()) if dtype.names else (dtype.base, dtype.shape)
        found = self.__dict__["_plain"] = _core.PlainPipeline(
            self.core,
            dtype,
            own,
            row,
            0 if binding is None else binding.stride_B,
            layout.alignments_B[0] if binding is not None else 1,
            0 if dtype is None else dtype.itemsize,
            self.primitive,
            self.primitive_restart,
            push.size_B if self.has_push and push is not None else 0,
            self.interface.push_floats,
            sum(b.used and b.descriptor != "input_attachment" for b in self.interface.bindings.values()),
            [block for b in self.interface.bindings.values() for block in _plain_blocks(b)],
            self.set_layouts,
        )
        return found

    def _said_elsewhere(self, name: str) -> str:
        """Of state by the names that passes set it by."""
        if name in _core.DYNAMIC_STATES and name not in create_pipeline.__annotations__:
            return f"say it with dev.pipeline's arguments, or with dynamic=[{name!r}] there and rp.set({name}=...)"
        return ""

    @made_once
    def meshes(self) -> bool:
        """Whether a mesh shader makes what it draws."""
        return "mesh" in self._stages

    @made_once
    def reads_layer(self) -> bool:
        """Whether one of its shaders names gl_Layer."""
        return reads_layer(self._stages)

    def __repr__(self) -> str:
        formats = ", ".join(f or "none" for f in self.color_formats)
        return f"<tilegpu.Pipeline '{self.label}', color [{formats}], {self.samples} sample{'s' if self.samples != 1 else ''}>"


def _plain_blocks(binding: Binding) -> list[tuple[str, int, int, _core.FloatBlock, bool]]:
    """Of a block that draws may give the contents of, all floats: by each of its names."""
    layout = binding.layout
    if layout is None or binding.conflict or not binding.used or binding.count != 1 or layout.size_B > _MOST_BLOCK_B:
        return []
    if binding.descriptor != "uniform_buffer" and not (binding.descriptor == "storage_buffer" and binding.readonly):
        return []
    floats = layout.float_block(_MOST_BLOCK_B)
    names = dict.fromkeys(name for name in (binding.block_name, *binding.all_names) if name)
    return [(name, binding.set, binding.binding, floats, len(layout.names) == 1) for name in names if floats is not None]


def formats_of(
    color: Any, depth: Any, stencil: Any, what: str
) -> tuple[list[enums.FormatInfo | None], enums.FormatInfo | None, enums.FormatInfo | None]:
    """The formats of the attachments: colours, depth, stencil."""
    must = "it must be a format, or a list with one for each colour attachment"
    one = isinstance(color, str) or hasattr(color, "format")
    given = [color] if one else arguments.sequence(color, f"{what}: color", must)
    colors = [None if c is None else enums.parse_format(c, f"{what}: color[{i}]") for i, c in enumerate(given)]
    depth_info = None if depth is None else enums.parse_format(depth, f"{what}: depth")
    stencil_info = None if stencil is None else enums.parse_format(stencil, f"{what}: stencil")
    return colors, depth_info, stencil_info


def _load_stages(
    device: Context,
    sources: Mapping[str, tuple[shader.ShaderSource | None, str]],
    label: str,
    defines: Mapping[str, Any] | None,
    include: Sequence[str | os.PathLike[str]],
) -> tuple[str, Stages]:
    """Modules of the sources and of what messages call them; the pipeline's label is that of its shaders where none is given."""
    label = arguments.text(label, "pipeline: label")
    what = f"pipeline '{label}'" if label else "pipeline"
    if not (isinstance(include, tuple) and not include):
        include = shader.directories(include, f"{what}: include")  # once, and not for each stage
    load = functools.partial(shader.load, defines=defines, include=include, label=label, device=device.core)
    given = {
        stage: (source, arguments.text(file, f"{what}: {_SHORT.get(stage, stage)}_file"))
        for stage, (source, file) in sources.items()
        if source is not None
    }
    stages: Stages = {stage: load(source, stage, file=file) for stage, (source, file) in given.items()}
    check_mesh_stages(stages, what)
    if "vertex" not in stages and "mesh" not in stages:
        raise ValidationError(f"{what}: vertex shader is None; give GLSL text, a path, or SPIR-V bytes, or a mesh shader (mesh=)")
    for stage, module in stages.items():
        if module.reflection.stage != _core.ENUMS["shader_stage"][stage]:
            known = {number: name for name, number in _core.ENUMS["shader_stage"].items()}
            raise ValidationError(
                f"{what}: '{module.label}' is given as the {stage} shader, but it is a {known[module.reflection.stage]} shader"
            )
    if not label:
        label = shader.label_of(device, list(stages.values()))
    return label, stages


def _sources_of(given: Mapping[str, Any]) -> dict[str, tuple[shader.ShaderSource | None, str]]:
    """Of the arguments of ``dev.pipeline``, by stage, with what messages call them."""
    names = ("tessellation_control", "tessellation_evaluation", "geometry", "task", "mesh")
    between = {name: (given[name], "") for name in names}
    return {"vertex": (given["vert"], given["vert_file"]), **between, "fragment": (given["frag"], given["frag_file"])}


def _first_stage(stages: Stages, given: Mapping[str, Any], what: str) -> str:
    """Whose inputs vertices would feed; a mesh shader has none."""
    if "mesh" not in stages:
        return "vertex"
    check_mesh_arguments(given, what)
    return "mesh"


def _specialize(
    stages: Stages, constants: Mapping[Any, Any] | None, what: str
) -> tuple[Interface | None, dict[str, list[tuple[int, int]]]]:
    """The constants' bits by stage, and the interface where they or different push constants want it already.

    What the names mean is found out when somebody asks; what is wrong with them is said now.
    """
    if constants is not None and not isinstance(constants, Mapping):
        raise ValidationError(f"{what}: constants is {arguments.shown(constants)}; it must be a mapping by name or id")
    fragment = stages.get("fragment")
    if not constants and (
        set(stages) <= {"vertex", "fragment"}
        and (fragment is None or _core.same_push_constants(stages["vertex"].reflection, fragment.reflection))
    ):
        return None, {}
    interface = Interface(what, stages)
    specialization = specialization_of(interface, constants, what) if constants else {}
    return Interface(what, stages, specialization) if specialization else interface, specialization


def _reflections(interface: Interface | None, stages: Stages) -> dict[str, _core.Reflection]:
    """Of the stages, with the constants' values."""
    return interface.reflections if interface else {stage: module.reflection for stage, module in stages.items()}


def _start_info(
    label: str, stages: Stages, specialization: Mapping[str, list[tuple[int, int]]], layout: VertexLayout
) -> _core.GraphicsPipelineCreateInfo:
    """Stages and vertex input; the rest is Vulkan's plain state."""
    info = _core.GraphicsPipelineCreateInfo()
    info.label = label
    for stage, module in stages.items():
        info.set_stage(module, specialization.get(stage, []))
    for number, binding in enumerate(layout.bindings):
        info.add_vertex_binding(number, binding.stride_B, _core.ENUMS["vertex_input_rate"][binding.rate], binding.divisor)
    for location, number, format_, offset_B in layout.attributes:
        info.add_vertex_attribute(location, number, format_, offset_B)
    return info


def _set_assembly(
    info: _core.GraphicsPipelineCreateInfo,
    topology: str,
    primitive_restart: bool,
    patch_control_points: int,
    domain_origin: str,
    what: str,
) -> None:
    info.patch_control_points = arguments.count(patch_control_points, f"{what}: patch_control_points", 32)
    if not isinstance(domain_origin, str) or domain_origin != "upper_left":
        info.domain_origin = enums.parse("tessellation_domain_origin", domain_origin, f"{what}: domain_origin")
    if not isinstance(topology, str) or topology != "triangle_list":
        info.topology = enums.parse("primitive_topology", topology, f"{what}: topology")
    if arguments.flag(primitive_restart, f"{what}: primitive_restart"):
        info.primitive_restart = True


def _set_formats(
    info: _core.GraphicsPipelineCreateInfo,
    colors: list[enums.FormatInfo | None],
    depth: enums.FormatInfo | None,
    stencil: enums.FormatInfo | None,
    what: str,
) -> None:
    """After the tests: a depth format that has stencil serves both, where stencil is tested and has none of its own."""
    if info.depth_stencil.stencil_test and stencil is None:
        if depth is None or not depth.stencil_bits:
            raise ValidationError(
                f"{what}: stencil is tested, but stencil= names no format; give the attachment's, such as stencil='s8_uint'"
            )
        stencil = depth
    info.color_formats = [0 if c is None else c.number for c in colors]
    if depth is not None:
        info.depth_format = depth.number
    if stencil is not None:
        info.stencil_format = stencil.number


def _set_dynamic(
    info: _core.GraphicsPipelineCreateInfo, dynamic: str | Iterable[str], meshes: bool, what: str
) -> frozenset[str]:
    """Returns what is left to the pass, by Vulkan's names."""
    left = frozenset() if isinstance(dynamic, tuple) and not dynamic else dynamic_states(dynamic, what)
    if meshes:
        left = left_of_meshes(left, dynamic == "all", what)
    if left:
        info.set_dynamic_states([_core.DYNAMIC_STATES[name] for name in sorted(left)])
    return left


def create_pipeline(
    self: Context,
    vert: shader.ShaderSource | None = None,
    frag: shader.ShaderSource | None = None,
    *,
    tessellation_control: shader.ShaderSource | None = None,
    tessellation_evaluation: shader.ShaderSource | None = None,
    geometry: shader.ShaderSource | None = None,
    task: shader.ShaderSource | None = None,
    mesh: shader.ShaderSource | None = None,
    vertex: Any = None,
    instance: Any = None,
    color: Any = (),
    depth: Any = None,
    stencil: Any = None,
    samples: int = 1,
    topology: str | None = None,
    primitive_restart: bool = False,
    patch_control_points: int = 3,
    domain_origin: str = "upper_left",
    polygon_mode: str = "fill",
    cull: str | None = "none",
    front_face: str = "counter_clockwise",
    provoking_vertex: str = "first",
    line_width: float = 1.0,
    line_mode: str | None = None,
    line_stipple: tuple[int, int] | None = None,
    conservative: str | Mapping[str, Any] | None = None,
    fragment_shading_rate: Sequence[int] | Mapping[str, Any] | None = None,
    rasterizer_discard: bool = False,
    depth_test: bool | None = None,
    depth_write: bool | None = None,
    depth_compare: str | None = None,
    depth_bounds: tuple[float, float] | None = None,
    depth_clamp: bool | tuple[float, float] = False,
    depth_clip: bool | None = None,
    depth_clip_negative_one_to_one: bool = False,
    rasterization_stream: int = 0,
    depth_bias: Any = None,
    stencil_test: bool | Mapping[str, Any] | None = None,
    stencil_front: Mapping[str, Any] | None = None,
    stencil_back: Mapping[str, Any] | None = None,
    blend: Any = None,
    blend_constants: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    write_mask: Any = None,
    logic_op: str | None = None,
    sample_shading: bool | float = False,
    sample_mask: int = 0xFFFFFFFF,
    sample_locations: Sequence[tuple[float, float]] | None = None,
    discard_rectangles: Sequence[Sequence[int]] | Mapping[str, Any] | None = None,
    alpha_to_coverage: bool = False,
    alpha_to_one: bool = False,
    input_attachments: Sequence[str | None] | None = None,
    attachment_locations: Sequence[int | None] | None = None,
    set_layouts: Mapping[int, DescriptorSetLayout] | None = None,
    dynamic: str | Iterable[str] = (),
    constants: Mapping[Any, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    vert_file: str = "",
    frag_file: str = "",
    label: str = "",
) -> Pipeline:
    """Compiles a graphics pipeline.

    Shaders are GLSL text, a path (.vert, .frag, .glsl, .spv) or SPIR-V bytes; ``frag=None`` renders depth only. ``vert_file`` and
    ``frag_file`` are what messages call a text.

    ``topology``: ``"triangle_list"`` unless another one is given. ``tessellation_control`` and ``tessellation_evaluation`` go together:
    patches of ``patch_control_points`` vertices (``"patch_list"``, which is the default then) are cut as ``domain_origin`` and the shaders
    say. ``geometry``: a shader that makes primitives of primitives; topologies ``..._with_adjacency`` give it the neighbours' vertices.

    ``mesh``: in place of all of these a shader that makes vertices and primitives by itself, a workgroup at a time; ``task``: one whose
    workgroups say how many of the mesh shader's there are, and leave them a payload (``GL_EXT_mesh_shader``). Such a pipeline has no
    vertices, no topology and nothing else of what stands before shaders; it is drawn by :meth:`RenderPass.draw_mesh_tasks`.

    ``vertex``: dtype of the vertex array, a list of dtypes (one for each binding) or :class:`tilegpu.VertexBinding`; ``instance``: the
    same for data that advances with the instance. Fields feed the shader's inputs by name; those without a name (plain arrays, and
    NumPy's own f0, f1, ...) by order = location. Whole numbers of 8 and 16 bits that feed floats are normalised: 255 of ``u1`` and 32767
    of ``i2`` arrive as 1.0 (those of 32 bits are an error); other formats are said by :class:`tilegpu.VertexBinding`. ``color``: formats
    of the colour attachments, ``depth`` and ``stencil``: formats of these; ``samples``: of all.

    ``depth_test`` is on by default where ``depth_compare`` or ``depth`` is given, ``depth_write`` where ``depth_test`` is.
    ``depth_clamp``: depths are held within the viewport's, or within ``(least, most)``.
    ``depth_clip``: whether the near and the far plane cut, by default unless ``depth_clamp``;
    ``depth_clip_negative_one_to_one``: the near one is z = -w, as OpenGL has it, and depth -1 to 1 is the viewport's range.
    ``rasterization_stream``: which of a geometry shader's streams (0 to 3) is drawn.
    ``depth_bias``: (constant, slope) or (constant, clamp, slope). ``stencil_test``: a mapping for both faces with ``fail``, ``pass``,
    ``depth_fail``, ``compare``, ``compare_mask``, ``write_mask``, ``reference``; ``stencil_front`` and ``stencil_back`` for one.
    ``blend``: ``None``, ``"alpha"``, ``"premultiplied"``, ``"additive"``, a mapping with ``src_color``, ``dst_color``, ``color_op``,
    ``src_alpha``, ``dst_alpha``, ``alpha_op``; an operation of VK_EXT_blend_operation_advanced by name (``"multiply"``, ``"hsl_hue"``,
    ``"plus_darker"``), or a mapping with ``op``, ``src_premultiplied``, ``dst_premultiplied`` (``True`` by default), ``overlap``
    (``"uncorrelated"``, ``"disjoint"``, ``"conjoint"``), ``clamp_results``; or a list of these, one for each target.
    ``write_mask``: letters of ``"rgba"``, or a list.
    ``input_attachments``: what ``subpassInput`` variables read, by ``input_attachment_index``: a list of ``"color0"`` to ``"color7"``,
    ``"depth"``, ``"stencil"`` and ``None``; by default index i reads colour i, and variables without an index depth (float) or stencil
    (uint). They read the tile at the fragment's own pixel, after all earlier primitives; nothing is bound for them (Vulkan: dynamic
    rendering local read).
    ``attachment_locations``: of each colour attachment, which of the fragment shader's outputs it takes, by location, no two the same;
    ``None``: nothing is written to it (VkRenderingAttachmentLocationInfo). By default attachment i takes location i.
    ``set_layouts``: layouts of descriptor sets by number (:meth:`tilegpu.Device.descriptor_set_layout`), for sets that pipelines share
    or that are updated after they were bound; the layouts of other sets are what the shaders use of them.
    ``dynamic``: state that the pass sets (:meth:`RenderPass.set`) in place of the pipeline, by Vulkan's names, such as ``["cull_mode",
    "depth_test_enable", "primitive_topology"]``, or ``"all"``; what the other arguments say of it is not read. Two have nothing
    that a pass could set: with ``vertex_input`` and ``vertex_input_binding_stride`` each draw sets what ``vertex`` and ``instance`` of the
    pipeline say, which are needed as without (captures and the driver's ways are tried so); other data wants a pipeline of its own.
    ``line_width``: pixels, cut to 1 to 64. ``line_mode``: ``"default"``, ``"rectangular"``, ``"bresenham"``,
    ``"rectangular_smooth"``; ``line_stipple``: (factor, 16-bit pattern); it needs ``line_mode``, any but ``"default"``.
    ``conservative``: ``"overestimate"``, ``"underestimate"``, or a mapping of ``mode`` and ``extra_overestimation_px``.
    ``fragment_shading_rate``: (width, height) in pixels that one invocation of the fragment shader is for, 1, 2 or 4 each; or a mapping of
    ``fragment_size`` and ``combiner_ops``, two of ``"keep"``, ``"replace"``, ``"min"``, ``"max"``, ``"mul"``: how it is combined with what
    the last shader before rasterization wrote to gl_PrimitiveShadingRateEXT, and that with the pass's attachment of rates
    (``render_pass(shading_rate=...)``). What is not offered for the samples is clamped as Vulkan has it (``tilegpu.shading_rates``).
    ``sample_locations``: (x, y) of each sample in the pixel, 0 to 15/16 from its top left corner.
    ``discard_rectangles``: up to 8 rectangles (x, y, width, height) of the framebuffer where nothing is drawn; or a mapping of
    ``rectangles`` and ``mode``, ``"exclusive"`` or ``"inclusive"``: nothing is drawn outside of all of them.
    ``sample_shading``: ``True`` or the minimum share. ``constants``: specialisation constants by name or id. ``defines``: GLSL macros.
    ``include``: directories of ``#include``.

    Raises :class:`ShaderError` with all errors of a compile, :class:`ValidationError` and :class:`UnsupportedError` otherwise.
    """
    sources = _sources_of(given := dict(locals()))
    label, stages = _load_stages(self, sources, label, defines, include)
    what = f"pipeline '{label}'"
    interface, specialization = _specialize(stages, constants, what)
    reflections = _reflections(interface, stages)
    layout = make_layout(vertex, instance, reflections[_first_stage(stages, given, what)], what)
    info = _start_info(label, stages, specialization, layout)
    colors, depth_info, stencil_info = formats_of(color, depth, stencil, what)
    topology = ("patch_list" if "tessellation_control" in stages else "triangle_list") if topology is None else topology
    _set_assembly(info, topology, primitive_restart, patch_control_points, domain_origin, what)
    rasterization = (polygon_mode, cull, front_face, provoking_vertex, line_width, rasterizer_discard, depth_clamp)
    set_rasterization(info.rasterization, *rasterization, what)
    set_clipping(info.rasterization, depth_clip, depth_clip_negative_one_to_one, rasterization_stream, what)
    set_primitives(info.rasterization, conservative, line_mode, line_stipple, what)
    info.set_fragment_shading_rate(*shading_rate_of(fragment_shading_rate, f"{what}: fragment_shading_rate"))
    bias = set_depth_bias(info.rasterization, depth_bias, what)
    set_depth(info.depth_stencil, depth_info is not None, depth_test, depth_write, depth_compare, depth_bounds, what)
    references = set_stencil(info.depth_stencil, stencil_test, stencil_front, stencil_back, what)
    _set_formats(info, colors, depth_info, stencil_info, what)
    info.blend_constants = list(values := set_blend(info.blend, len(colors), blend, write_mask, blend_constants, logic_op, what))
    set_multisampling(info.multisample, samples, sample_shading, sample_mask, alpha_to_coverage, alpha_to_one, what)
    set_sample_locations(info.multisample, sample_locations, what)
    set_discard_rectangles(info, discard_rectangles, what)
    set_input_attachments(info, input_attachments, what)
    set_attachment_locations(info, attachment_locations, len(colors), what)
    if set_layouts is not None:
        info.set_pipeline_layout(layouts_by_number(self.core, set_layouts, what))
    left = _set_dynamic(info, dynamic, "mesh" in stages, what)
    check_pipeline(info, stages, reflections, left, factors := factors_of(blend, len(colors), what), given, what, self.strict)
    warn_of_layout(layout, what, self.strict)
    formats, start = [None if c is None else c.name for c in colors], PipelineState(values, bias, references)
    assembly = enums.name_of("primitive_topology", info.topology), info.patch_control_points
    pipeline = Pipeline(self.core.create_pipeline(info), stages, layout, info.primitive_restart, samples, formats, start, left, assembly)
    _finish(pipeline, info, interface, given, factors, colors, self.strict)
    _keep(pipeline, [source for source, _ in sources.values()], functools.partial(create_pipeline, **given), defines, include)
    return pipeline


def _keep(pipeline: Pipeline, sources: list[Any], remake: Any, defines: Any, include: Any) -> None:
    """What it was made of, for :meth:`Pipeline.reload`, and the macros that nothing of it names."""
    pipeline.warn_of_defines(sources, defines, include)
    pipeline.keep_sources(sources, remake)


def _finish(
    pipeline: Pipeline,
    info: _core.GraphicsPipelineCreateInfo,
    interface: Interface | None,
    given: Mapping[str, Any],
    factors: Sequence[frozenset[str]],
    colors: Sequence[enums.FormatInfo | None],
    strict: bool,
) -> None:
    """What it is beside the core's, and what it is warned of. ``interface``: as specialised; ``given``: the arguments by name;
    ``factors``: what blending reads, of each attachment."""
    pipeline.made_by = given["self"].core
    if interface is not None:
        pipeline.interface = interface.with_lengths(pipeline.set_layouts)
    pipeline.factors, pipeline.logic = factors, info.blend.logic_op_enable
    count = len(info.color_formats)
    masks = [write_mask_of(mask, pipeline.title) for mask in per_target(given["write_mask"], count, pipeline.title)]
    pipeline.idle = idle_arguments(info, pipeline.dynamic, factors)
    warn_of_position(pipeline, info, pipeline.dynamic, strict)
    rasterizes = not info.rasterization.rasterizer_discard and "rasterizer_discard_enable" not in pipeline.dynamic
    patch = None if "patch_control_points" in pipeline.dynamic else info.patch_control_points
    warn_of_unwritten_inputs(pipeline, rasterizes, patch, strict)
    warn_of_emissions(pipeline, info.rasterization.rasterization_stream, rasterizes, strict)
    warn_of_outputs(pipeline, info, pipeline.dynamic, given["attachment_locations"], masks, factors)
    warn_of_tests(pipeline, info, pipeline.dynamic, given["depth_write"])
    warn_of_replaced(pipeline, info, pipeline.dynamic)
    warn_of_assembly(pipeline, info, pipeline.dynamic, given)
    warn_of_idle(pipeline, info, pipeline.idle, any(info.blend_constants))
    warn_of_idle_state(pipeline, info, pipeline.dynamic, given)
    warn_of_constants(pipeline, info, colors, pipeline.dynamic, factors)
