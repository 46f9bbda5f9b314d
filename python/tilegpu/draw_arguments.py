"""The arguments of a draw: its pipeline, descriptors, push constants and dynamic state to commands, with vertex_sources.py's vertices.

In: what the user gives a draw. Out: the binding commands that differ from what the open pass has bound already; what a draw doesn't say
is the pipeline's.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, captured_outputs, enums
from tilegpu.binding import DescriptorBinder, ReadLate
from tilegpu.buffer import Buffer
from tilegpu.context import Context
from tilegpu.descriptor_set import DescriptorSet
from tilegpu.dynamic_state import scissors_of, viewports_of
from tilegpu.errors import LostPrimitivesWarning, ValidationError, beyond_vulkan, users_level
from tilegpu.fixed import made_once
from tilegpu.idle_state import no_samples, say_alpha_to_coverage, say_alpha_to_one
from tilegpu.pass_hazards import Hazards
from tilegpu.pipeline import Pipeline, vertices_of
from tilegpu.pipeline_rules import require_sample_places, require_triangles, say_sample_interpolation
from tilegpu.pipeline_state import depth_bias_of, factors_of, has_samples, say_constants
from tilegpu.vertex_sources import VertexSources

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FRONT, _BACK = 1, 2  # of a stencil reference
_ASSEMBLY = frozenset({"primitive_topology", "patch_control_points"})
_OF_TARGETS = frozenset({"color_blend_enable", "color_blend_equation", "color_write_mask", "color_write_enable", "color_blend_advanced"})
_VIEWPORT, _SCISSOR = frozenset({"viewport", "viewport_with_count"}), frozenset({"scissor", "scissor_with_count"})
#: A draw's own values in their order, and what a pipeline lists them as.
_AS_STATE = {
    "viewport": _VIEWPORT,
    "scissor": _SCISSOR,
    **{name: frozenset({name}) for name in ("stencil_reference", "blend_constants", "depth_bias")},
}


class DrawArguments(VertexSources):
    """What an open pass has bound. ``plain``: of it; ``commands``: of a part of a pass that is not known (a secondary command buffer)."""

    _captures: Sequence[Any] = ()  # buffers of the transform feedback that is active
    _captured: Pipeline | None = None  # which fits them
    views = False  #: the pass has views, which choose the layers
    _push: bytes | None = None
    _dynamic: tuple[Any, ...] = ()
    _pipelines_own: tuple[Any, ...] = ()  # what the bound pipeline says where the draw says nothing
    _viewport: list[tuple[float, ...]] | None = None  # None: the whole; empty: as state says
    _scissor: list[list[int]] | None = None
    _resets = False  # a draw that says nothing has something to set back
    _may_be_plain = True  # since the general way's last draw

    def __init__(
        self,
        device: Context,
        what: str,
        size: tuple[int, int],
        commands: _core.CommandBuffer | None = None,
        plain: _core.PlainDraws | None = None,
    ) -> None:
        VertexSources.__init__(self, device, what, commands, plain)  # super() is a third of it, and every pass makes one
        self._size = size

    @made_once
    def undefined(self) -> dict[str, None]:
        """What draws may read though nobody wrote it."""
        return {}

    @made_once
    def _whole(self) -> list[list[int]]:
        return [[0, 0, *self._size]]

    @made_once
    def _binder(self) -> DescriptorBinder:
        return DescriptorBinder(self.arena, uses=self.uses, undefined=self.undefined)

    @made_once
    def hazards(self) -> Hazards:
        """What draws read that others write too late."""
        return Hazards(part=self.plain is None)

    def made(self, name: str) -> Any:
        """Of those the one of this name, ``None`` where no draw asked."""
        return vars(self).get(name)

    def note_plain(self, pipeline: Pipeline, vertices: Any) -> None:
        """A draw was recorded. Those that follow may be plain, unless there is something to set back, or to look at."""
        plain = self.plain
        if plain is None or self.views or self._captures or self.state.pending or self.hazards.listening:
            return
        if self._viewport is not None or self._dynamic is not self._pipelines_own:
            return
        if self._scissor is not None and len(self._scissor) != 1:
            return  # more than a scissor, which plain draws know
        asked = pipeline._plain
        if asked is None:
            asked = pipeline.look_whether_plain()
        if asked is None:
            return  # the next is most often with the same, and would be looked at in vain
        if isinstance(vertices, Buffer) and not vertices.matrices and vertices.held is not None:
            asked.fits(vertices.held, vertices.row_shape)  # which was looked at
        if (binder := self.made("_binder")) is not None:
            binder.keep_plain(asked)
        plain.open_with((self._scissor or self._whole)[0])
        self._may_be_plain = True

    def _take_over(self) -> None:
        """Plain draws bound what is not known here."""
        self._pipeline = self._index = self._last_vertices = self._last_indices = self._push = None
        self._vertex.clear()
        if (binder := self.made("_binder")) is not None:
            binder.forget_bound()
        if self.plain is not None and (self._scissor is not None or self.plain.scissor != self._whole[0]):
            self._scissor = [self.plain.scissor]

    @property
    def has_drawn(self) -> bool:
        """Whether a pipeline was bound, as each draw does."""
        return self._pipeline is not None

    def read_late(self, late: Mapping[Any, ReadLate]) -> None:
        """Sets that another recording, which is executed here, reads as they are then."""
        self._binder.late.update(late)

    def require_pipeline(self, pipeline: Any, meshes: bool = False) -> None:
        """Raises for anything else; ``meshes``: of draws of a mesh shader's workgroups."""
        if not isinstance(pipeline, Pipeline):
            raise ValidationError(
                f"{self._what}: draw's first argument is {arguments.shown(pipeline)}; it must be a pipeline (dev.pipeline)"
            )
        if pipeline.meshes != meshes:
            why = (
                "draw_mesh_tasks, and the pipeline has no mesh shader; use rp.draw, or make it with dev.pipeline(mesh=...)"
                if meshes
                else "a draw of vertices, and the pipeline has a mesh shader, which has none; use rp.draw_mesh_tasks"
            )
            raise ValidationError(f"{self._what}, {pipeline.title}: {why}")

    def upload(self, data: NDArray[Any]) -> _core.Buffer:
        """A buffer with a copy of an argument, which lives as long as the pass."""
        return self.arena.upload(data)

    def end(self) -> None:
        """The pass has ended: nothing is bound any more."""
        if (binder := self.made("_binder")) is not None:
            binder.clear()
        if self.plain is not None:
            self.plain.end()

    def prepare(
        self,
        pipeline: Pipeline,
        vertices: Any,
        indices: Any,
        bind: Mapping[Any, Any] | None,
        sets: Mapping[int, DescriptorSet] | None,
        push: Any,
        viewport: Any,
        scissor: Any,
        stencil_reference: Any,
        blend_constants: Any,
        depth_bias: Any,
        *,
        meshes: bool = False,
    ) -> int | None:
        """Binds everything; returns the number of indices or vertices that there are, if known."""
        self.require_pipeline(pipeline, meshes)
        if self._may_be_plain:
            self._may_be_plain = False
            if self.plain is not None and self.plain.take_over():
                self._take_over()
        if pipeline is not self._pipeline:
            self._bind_pipeline(pipeline)
        if self._captures and pipeline is not self._captured:
            self._check_captures(pipeline)
        given = (
            viewport is not None
            or scissor is not None
            or stencil_reference is not None
            or blend_constants is not None
            or depth_bias is not None
        )
        if given and pipeline.dynamic:
            viewport, scissor, stencil_reference, blend_constants, depth_bias = self._take_as_state(
                pipeline, viewport, scissor, stencil_reference, blend_constants, depth_bias
            )
        if given and pipeline.idle:
            self._say_idle(pipeline, stencil_reference, blend_constants, depth_bias)
        available = self._vertices(pipeline, vertices)
        if indices is not None:
            available = self._indices(pipeline, indices)
        self._binder.bind(self.commands, pipeline, bind, sets, self._what)
        if push is not None or pipeline.has_push:
            self._push_constants(pipeline, push)
        if given or self._resets:
            self._dynamic_state(pipeline, viewport, scissor, stencil_reference, blend_constants, depth_bias)
        if self.state.pending:
            self._apply_state(pipeline)
        return available

    def capture(self, buffers: Any = ()) -> None:
        """Transform feedback to these begins, or has ended."""
        if self.plain is not None:
            self.plain.close()
        self._captures = list(buffers) if isinstance(buffers, (list, tuple)) else [buffers]
        self._captured = None

    def _check_captures(self, pipeline: Pipeline) -> None:
        for number, given in enumerate(self._captures):
            if wrong := captured_outputs.misfit(pipeline.stages, number, given, f"{self._what}, {pipeline.title}: transform feedback"):
                raise ValidationError(wrong)
        self._captured = pipeline

    def drawn(
        self,
        pipeline: Pipeline,
        bind: Mapping[Any, Any] | None,
        sets: Mapping[int, DescriptorSet] | None,
        vertices: Any,
        indices: Any,
        instances: Any,
        *more: tuple[str, Any],
    ) -> None:
        """What was prepared draws something, or may. ``more``: what else the hardware reads for it, and how."""
        self._binder.take()
        if self.hazards.listening or pipeline.may_write:
            fixed = (("vertices", vertices), ("indices", indices), ("instances", instances), *more)
            self.hazards.note_draw(f"{self._what}, {pipeline.title}", pipeline, bind, sets, fixed)

    def _assembly(self, pipeline: Pipeline) -> tuple[int, int]:
        """As :attr:`Pipeline.primitive`, of what was set."""
        values, (topology, points) = self.state.values, pipeline.assembly
        if "primitive_topology" in pipeline.dynamic:
            given = values.get("primitive_topology", "point_list")
            topology = enums.name_of("primitive_topology", enums.parse("primitive_topology", given, self._what))
        if "patch_control_points" in pipeline.dynamic:
            points = values.get("patch_control_points", 1)
        return vertices_of(topology, points)

    def _bind_pipeline(self, pipeline: Pipeline) -> None:
        if self.views and pipeline.reads_layer:
            meshes = "; gl_MeshPerPrimitiveEXT has it where it is not declared anew, with what is written" if pipeline.meshes else ""
            raise ValidationError(
                f"{self._what}, {pipeline.title}: the pass has views (view_mask), which are the layers, and a shader names "
                f"gl_Layer{meshes}; use gl_ViewIndex, or a pass with layers="
            )
        self.commands.bind_pipeline(pipeline.core)
        state = pipeline.state
        self._dynamic = self._pipelines_own = (state.stencil_reference, state.blend_constants, state.depth_bias)
        self._pipeline, self._primitive = pipeline, pipeline.primitive
        self.state.forget()
        if "vertex_input" in pipeline.dynamic:
            self._vertex_input(pipeline)
        if "vertex_input_binding_stride" in pipeline.dynamic:
            self._last_vertices = None
        self._note_resets(pipeline)

    def _note_resets(self, pipeline: Pipeline) -> None:
        """What was set for one draw, or as state of pipelines that list it, ends with a draw that doesn't say it."""
        self._resets = (
            self._dynamic is not self._pipelines_own
            or (self._viewport is not None and _VIEWPORT.isdisjoint(pipeline.dynamic))
            or (self._scissor not in (None, self._whole) and _SCISSOR.isdisjoint(pipeline.dynamic))
        )

    def _take_as_state(self, pipeline: Pipeline, *values: Any) -> tuple[Any, ...]:
        """Of a draw's own values those that the pipeline lists are state, as if set before; returns the others in their places."""
        taken: dict[str, Any] = {}
        left = list(values)
        for i, (name, names) in enumerate(_AS_STATE.items()):
            if values[i] is not None and not names.isdisjoint(pipeline.dynamic):
                taken[name], left[i] = values[i], None
        if taken:
            self.state.set(taken, f"{self._what}, {pipeline.title}")
        return tuple(left)

    @staticmethod
    def _say_idle(pipeline: Pipeline, *values: Any) -> None:
        """What the draw says, and the pipeline does not look at."""
        for name, value in zip(("stencil_reference", "blend_constants", "depth_bias"), values, strict=True):
            if value is not None and name in pipeline.idle:
                pipeline.warn_unused(name, f"{name} of draw has no effect: the pipeline was made without {pipeline.idle[name]}")

    def _apply_state(self, pipeline: Pipeline) -> None:
        self._check_state(pipeline)
        if self.state.behind and (names := self.state.relied_on(pipeline.dynamic)):
            are = "is" if len(names) == 1 else "are"
            beyond_vulkan(
                f"{self._what}, {pipeline.title}: {', '.join(names)} {are} as set before execute_commands, behind which nothing is set; "
                "set it again",
                self.device.strict,
            )
            self.state.behind.difference_update(names)
        applied = self.state.apply(self.commands, pipeline.dynamic)
        if not _ASSEMBLY.isdisjoint(pipeline.dynamic):
            self._primitive = self._assembly(pipeline)
        # What pipelines that leave it to draws find set.
        if "viewport" in applied:
            self._viewport = []
        if "scissor" in applied:
            self._scissor = []

    def _check_state(self, pipeline: Pipeline) -> None:
        """State that was set fits together, and the pipeline (VUID-vkCmdDraw-viewportCount-03417 to -03419, -attachmentCount-07750,
        -sampleLocationsPerPixel-07482, -conservativePointAndLineRasterization-07499)."""
        values, dynamic, what = self.state.values, pipeline.dynamic, f"{self._what}, {pipeline.title}"
        if not (dynamic.isdisjoint(_VIEWPORT) or dynamic.isdisjoint(_SCISSOR)) and {"viewport", "scissor"} <= values.keys():
            counts = len(viewports_of(values["viewport"], what)), len(scissors_of(values["scissor"], what))
            if counts[0] != counts[1]:
                raise ValidationError(f"{what}: set are {counts[0]} viewport(s) and {counts[1]} scissor(s); give as many")
        targets = len(pipeline.color_formats)
        for name in sorted(_OF_TARGETS & dynamic):  # of those that are fewer, the core says which attachment is meant
            given = values.get(name)
            if isinstance(given, (list, tuple)) and (len(given) > targets or (name == "color_write_enable" and len(given) < targets)):
                said = f"{name} has {arguments.number_of(len(given), 'entry')}; {arguments.there_are(targets, 'colour attachment')}"
                raise ValidationError(f"{what}: {said}: give one value for all, or a list with one for each")
        if "sample_locations" in dynamic and "sample_locations" in values and values.get("sample_locations_enable", True):
            samples = values.get("rasterization_samples", pipeline.samples) if "rasterization_samples" in dynamic else pipeline.samples
            require_sample_places(len(values["sample_locations"]), int(samples), f"{what}: sample_locations")
            say_sample_interpolation(pipeline.stages, what, self.device.strict)
        self._check_samples_and_constants(pipeline, what)
        mode = values.get("conservative_rasterization_mode") if "conservative_rasterization_mode" in dynamic else None
        made = "geometry" in pipeline.stages or pipeline.meshes  # by shaders, whose primitives were looked at
        if mode is not None and not made and enums.parse("conservative_rasterization_mode", mode, what):
            topology = pipeline.assembly[0]
            if "primitive_topology" in dynamic:
                topology = values.get("primitive_topology", topology)
            require_triangles(enums.parse("primitive_topology", topology, what), what)

    def _check_samples_and_constants(self, pipeline: Pipeline, what: str) -> None:
        """Warns of a sample mask that leaves none, of alpha without effect, and of constants that attachments cut."""
        values, dynamic = self.state.values, pipeline.dynamic
        if "sample_mask" in dynamic and "sample_mask" in values:
            samples = int(values.get("rasterization_samples", 1)) if "rasterization_samples" in dynamic else pipeline.samples
            if not has_samples(mask := int(values["sample_mask"]), samples):
                warnings.warn(f"{what}: {no_samples(mask, samples)}", LostPrimitivesWarning, stacklevel=users_level())
        discards = "rasterizer_discard_enable" in dynamic and values.get("rasterizer_discard_enable")
        if "alpha_to_coverage_enable" in dynamic and values.get("alpha_to_coverage_enable") and not discards:
            say_alpha_to_coverage(pipeline)
        if "alpha_to_one_enable" in dynamic and values.get("alpha_to_one_enable") and not discards:
            say_alpha_to_one(pipeline, any(pipeline.color_formats))
        if "blend_constants" in dynamic and "blend_constants" in values:
            self._say_constants(pipeline, values["blend_constants"], f"{what}: blend_constants")

    def _say_constants(self, pipeline: Pipeline, constants: Any, what: str) -> None:
        """Warns of those that the attachments cut which are blended with them, as far as it is known that they are."""
        numbers = tuple(map(float, constants))
        if all(0 <= v <= 1 for v in numbers):
            return
        values, dynamic = self.state.values, pipeline.dynamic
        if values.get("logic_op_enable") if "logic_op_enable" in dynamic else pipeline.logic:
            return
        count, factors = len(pipeline.color_formats), pipeline.factors
        if "color_blend_equation" in dynamic:
            factors = factors_of(values.get("color_blend_equation"), count, what)
        enabled = values.get("color_blend_enable", True) if "color_blend_enable" in dynamic else True
        on = enabled if isinstance(enabled, (list, tuple)) else [enabled] * count
        infos = [None if name is None else enums.parse_format(name, what) for name in pipeline.color_formats]
        if len(factors) == len(on) == count:
            say_constants(numbers, infos, [names if one else frozenset() for names, one in zip(factors, on, strict=True)], what)

    def _vertex_input(self, pipeline: Pipeline) -> None:
        layout = pipeline.vertex_layout
        rates = _core.ENUMS["vertex_input_rate"]
        bindings = [[number, b.stride_B, rates[b.rate], b.divisor] for number, b in enumerate(layout.bindings)]
        self.commands.set_vertex_input(bindings, [list(attribute) for attribute in layout.attributes])

    def _push_constants(self, pipeline: Pipeline, push: Any) -> None:
        floats = pipeline.interface.push_floats
        if floats is not None and type(push) is dict and floats.push(self.commands, push):
            self._push = None  # what was pushed last isn't known here
            return
        data = pipeline.push_bytes(push, self._what)
        if data != self._push:
            self.commands.push_constants(0, data)
            self._push = data

    def _dynamic_state(
        self,
        pipeline: Pipeline,
        viewport: Any,
        scissor: Any,
        stencil_reference: Any,
        blend_constants: Any,
        depth_bias: Any,
    ) -> None:
        state = pipeline.state
        what = f"{self._what}, {pipeline.title}"
        if viewport is not None or (self._viewport is not None and _VIEWPORT.isdisjoint(pipeline.dynamic)):
            if viewport is None:
                self.commands.reset_viewport()
                self._viewport = None
            elif (values := viewports_of(viewport, f"{what}: viewport")) != self._viewport:
                self.commands.set_viewports(values)
                self._viewport = values
        if scissor is not None or (self._scissor is not None and _SCISSOR.isdisjoint(pipeline.dynamic)):
            whole = self._whole
            if scissor is None and viewport is not None:
                whole = whole * len(self._viewport or whole)
            rects = whole if scissor is None else scissors_of(scissor, f"{what}: scissor")
            count = 1 if self._viewport is None else len(self._viewport)  # 0: state has them
            if scissor is not None and count and len(rects) != count:
                raise ValidationError(
                    f"{what}: there {'is 1 viewport' if count == 1 else f'are {count} viewports'} and {len(rects)} "
                    f"scissor{'s' if len(rects) != 1 else ''}; give as many"
                )
            if rects != self._scissor:
                self.commands.set_scissors(rects)
                self._scissor = rects
        reference = state.stencil_reference if stencil_reference is None else stencil_reference
        must = "it must be 0 to 255, or (front, back)"
        reference = (
            (int(reference), int(reference))
            if isinstance(reference, (int, np.integer)) and not isinstance(reference, bool)
            else tuple(arguments.wholes(reference, f"{what}: stencil_reference", 2, must))
        )
        if not all(0 <= v <= 255 for v in reference):
            raise ValidationError(f"{what}: stencil_reference is {arguments.shown(stencil_reference)}; {must}")
        constants = (
            state.blend_constants
            if blend_constants is None
            else arguments.numbers(
                blend_constants, f"{what}: blend_constants", (4,), "it must be four numbers, r g b a"
            )
        )
        if blend_constants is not None:
            self._say_constants(pipeline, constants, f"{what}: blend_constants")
        bias = (
            state.depth_bias
            if depth_bias is None
            else (depth_bias_of(depth_bias, f"{what}: depth_bias") or (0.0, 0.0, 0.0))
        )
        if reference != self._dynamic[0]:
            self.commands.set_stencil_reference(_FRONT, reference[0])
            self.commands.set_stencil_reference(_BACK, reference[1])
        if constants != self._dynamic[1]:
            self.commands.set_blend_constants(list(constants))
        if bias != self._dynamic[2]:
            self.commands.set_depth_bias(*bias)
        now = (reference, constants, bias)
        self._dynamic = self._pipelines_own if now == self._pipelines_own else now
        self._note_resets(pipeline)
