"""What Vulkan forbids of a pipeline though the core could draw with it: errors before anything is compiled.

In: the state as Vulkan has it, the stages' modules. Out: :class:`ValidationError`, or nothing. Source: Vulkan specification, "Valid Usage"
of VkGraphicsPipelineCreateInfo and "RuntimeSpirv"; the limits are those of the Vulkan driver (``cpp/src/icd/capabilities.cpp``).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu import _core, enums
from tilegpu.errors import ValidationError, beyond_vulkan

if TYPE_CHECKING:
    from tilegpu.interface import Stages

_TOPOLOGIES: dict[str, int] = _core.ENUMS["primitive_topology"]
_POINTS_AND_LINES = frozenset(
    _TOPOLOGIES[name]
    for name in ("point_list", "line_list", "line_strip", "line_list_with_adjacency", "line_strip_with_adjacency")
)
_DISABLED: int = _core.ENUMS["conservative_rasterization_mode"]["disabled"]
_STAGES = ("vertex", "tessellation_control", "tessellation_evaluation", "geometry", "task", "mesh", "fragment")
_WIDE = frozenset({"double", "int64_t", "uint64_t"})
_MOST_LOCATIONS = 32  # maxVertexOutputComponents / 4
_LEAST_TEXEL, _MOST_TEXEL = -8, 7  # minTexelOffset, maxTexelOffset, and of gathers
_LEAST_INTERPOLATION, _MOST_INTERPOLATION = -0.5, 0.4375

# SPIR-V's numbers: instructions, decorations, execution modes, capabilities, image operands, GLSL.std.450.
_CAPABILITY, _EXT_INST, _EXECUTION_MODE, _CONSTANT, _COMPOSITE, _NULL, _DECORATE, _MEMBER_DECORATE = 17, 12, 16, 43, 44, 46, 71, 72
_SAMPLES, _EMIT_STREAM = frozenset(range(87, 98)), 220
_LEAST_SAMPLE, _MOST_SAMPLE = min(_SAMPLES), max(_SAMPLES)
_LEAST_OFFSET_WORDS, _MOST_OFFSET_WORDS = 7, 11  # of those that may have an offset: six operands at least
POSITION, _OUTPUT, _TYPE_ARRAY, _TYPE_POINTER, _VARIABLE, _CALL, _CHAINS, _STORES = 0, 3, 28, 32, 59, 57, (65, 66), (62, 63)
_BUILT_IN, _STREAM, _LAYER, _OUTPUT_POINTS, _OUTPUT_LINES = 11, 29, 9, 27, frozenset({28, 5269})
_INTERPOLATION_FUNCTION, _GEOMETRY_STREAMS = 52, 54
_AT_SAMPLE, _AT_OFFSET = 77, 78
_OFFSETS, _BEFORE_OFFSETS = 0x8 | 0x10 | 0x20, ((0x1, 1), (0x2, 1), (0x4, 2))  # and how many operands each takes


class Words:
    """A module of SPIR-V, read as far as a question goes."""

    def __init__(self, spirv: bytes) -> None:
        self._array = np.frombuffer(spirv, np.uint32)
        self.capabilities: set[int] = set()
        for at in range(5, len(self._array) - 1, 2):
            if self._array[at] != 2 << 16 | _CAPABILITY:
                break
            self.capabilities.add(int(self._array[at + 1]))

    def may_offset_texels(self) -> bool:
        """Whether a sample with an offset may be there: another's operand may look like one."""
        number, count = self._array & 0xFFFF, self._array >> 16
        samples = (number >= _LEAST_SAMPLE) & (number <= _MOST_SAMPLE)
        return bool((samples & (count >= _LEAST_OFFSET_WORDS) & (count <= _MOST_OFFSET_WORDS)).any())

    def instructions(self) -> Iterator[tuple[int, list[int]]]:
        """(number, operands) of each."""
        words, at = self._array.tolist(), 5
        while at < len(words):
            count = max(1, words[at] >> 16)
            yield words[at] & 0xFFFF, words[at + 1 : at + count]
            at += count

    def constants(self) -> dict[int, list[int]]:
        """Words of constants by id; those of composites one after another."""
        found: dict[int, list[int]] = {}
        for number, operands in self.instructions():
            if number == _CONSTANT:
                found[operands[1]] = operands[2:]
            elif number == _NULL:
                found[operands[1]] = [0]
            elif number == _COMPOSITE and all(member in found for member in operands[2:]):
                found[operands[1]] = [word for member in operands[2:] for word in found[member]]
        return found


def check_pipeline(
    info: _core.GraphicsPipelineCreateInfo,
    stages: Stages,
    reflections: Mapping[str, _core.Reflection],
    dynamic: frozenset[str],
    factors: Sequence[frozenset[str]],
    given: Mapping[str, Any],
    what: str,
    strict: bool,
) -> None:
    """``reflections``: of the stages, with the constants' values.
    ``factors``: names of blend factors of each attachment; ``given``: the arguments of ``dev.pipeline``; ``strict``: the device."""
    _check_locations(reflections, what)
    _check_interfaces(reflections, what)
    for stage, module in stages.items():
        _check_offsets(Words(module.spirv), stage, what)
    _check_topology(info.topology, stages, "primitive_topology" in dynamic, what)
    if info.rasterization.rasterization_stream:
        _check_stream(info.rasterization.rasterization_stream, stages, what)
    if given["conservative"] is not None and info.rasterization.conservative_mode != _DISABLED:
        _check_conservative(info.topology, stages, "primitive_topology" in dynamic, what)
    if given["sample_locations"] is not None and "sample_locations" not in dynamic:
        if dynamic.isdisjoint({"rasterization_samples"}):
            require_sample_places(len(given["sample_locations"]), info.multisample.samples, f"{what}: sample_locations")
        say_sample_interpolation(stages, what, strict)
    _check_dual_source(stages, factors, what)


def _check_topology(topology: int, stages: Stages, dynamic: bool, what: str) -> None:
    """VUID-VkGraphicsPipelineCreateInfo-pStages-08888: what is tessellated are patches. A dynamic one is the draw's."""
    if not dynamic and "tessellation_control" in stages and topology != _TOPOLOGIES["patch_list"]:
        given = enums.name_of("primitive_topology", topology)
        raise ValidationError(
            f"{what}: topology is '{given}', and tessellation shaders take patches (Vulkan, VUID 08888); leave topology= out, which is "
            "'patch_list' then, or leave out the tessellation shaders"
        )


# ------------------------------------------------------------------------------------------------------- between stages


class _Part(NamedTuple):
    """What one name of an interface stands for: a scalar, a vector, a matrix, or an array of these; ``s[1].uv`` within structures."""

    name: str
    location: int
    type: _core.ReflectedType
    base: str
    words: frozenset[tuple[bool, int, int]]  #: (of the patch, location, component), two for a number of 64 bits


def _parts(variable: _core.ReflectedVariable) -> Iterator[_Part]:
    """All parts of an input or output, one for each vertex left out as the reflection leaves it; structures' members follow each other."""

    def walk(name: str, type_: _core.ReflectedType, location: int, component: int) -> Iterator[_Part]:
        element = type_
        while element.kind == "array" and element.members:
            element = element.members[0][2]
        if element.kind != "structure":
            count, columns, rows = type_.locations, max(1, element.columns), max(1, element.rows)
            step, wide = max(1, element.locations // columns), 2 if element.base in _WIDE else 1
            places = itertools.product(range(0, count, step), range(rows * wide))
            words = ((variable.patch, location + at + (component + word) // 4, (component + word) % 4) for at, word in places)
            yield _Part(name, location, type_, element.base, frozenset(words))
        elif type_.kind == "array":
            step = type_.members[0][2].locations
            for k in range(type_.array_length):
                yield from walk(f"{name}[{k}]", type_.members[0][2], location + k * step, 0)
        else:
            for member, _, inner in type_.members:
                yield from walk(f"{name}.{member}", inner, location, 0)
                location += inner.locations

    return walk(variable.name, variable.type, variable.location, variable.component)


def _check_interfaces(reflections: Mapping[str, _core.Reflection], what: str) -> None:
    """A shader must not read components that the one before it does not declare (VUID-RuntimeSpirv-OpEntryPoint-08743), nor integers with
    the other sign (-07754)."""
    chain = [stage for stage in _STAGES if stage in reflections]
    for writer_stage, reader_stage in itertools.pairwise(chain):
        inputs = [variable for variable in reflections[reader_stage].inputs if variable.used]
        outputs = [part for output in (reflections[writer_stage].outputs if inputs else ()) for part in _parts(output)]
        for part in itertools.chain.from_iterable(map(_parts, inputs)):
            at = {place[:2] for place in part.words}
            there = [output for output in outputs if any(place[:2] in at for place in output.words)]
            if not there:
                continue  # the core says so
            writer = max(there, key=lambda found: len(found.words & part.words))
            if writer.base.removeprefix("u") != part.base.removeprefix("u"):
                continue  # as well
            read, wrote = _core.type_name(part.type), _core.type_name(writer.type)
            reader, by = _stage_words(reader_stage), _stage_words(writer_stage)
            reads = f"{what}: the {reader} shader reads '{part.name}' (location {part.location}) as {read}, which the {by}"
            if not part.words <= frozenset().union(*(output.words for output in there)):
                raise ValidationError(f"{reads} shader writes as {wrote} '{writer.name}'; declare as many components there")
            if writer.base != part.base:
                raise ValidationError(f"{reads} shader writes as {wrote} '{writer.name}'; declare both alike, signed or not")


def _stage_words(stage: str) -> str:
    return stage.replace("_", " ")


def _check_locations(reflections: Mapping[str, _core.Reflection], what: str) -> None:
    """Between stages there are 32 locations (VUID-RuntimeSpirv-Location-06272)."""
    for stage, reflection in reflections.items():
        sides = ([] if stage == "vertex" else [("reads", reflection.inputs)]) + (
            [] if stage == "fragment" else [("writes", reflection.outputs)]
        )
        for verb, variables in sides:
            for variable in variables:
                first, last = variable.location, variable.location + max(1, variable.type.locations) - 1
                if last >= _MOST_LOCATIONS and first < 1 << 16:
                    place = f"location {first}" if first == last else f"locations {first} to {last}"
                    raise ValidationError(
                        f"{what}: the {_stage_words(stage)} shader {verb} '{variable.name}' at {place}; between "
                        f"stages locations go from 0 to {_MOST_LOCATIONS - 1}"
                    )


# --------------------------------------------------------------------------------------------------------- fixed state


def _check_stream(stream: int, stages: Stages, what: str) -> None:
    """What is rasterized must be emitted (VUID-VkGraphicsPipelineCreateInfo-rasterizationStream-02319)."""
    must = f"{what}: rasterization_stream is {stream}, and "
    if "geometry" not in stages:
        raise ValidationError(f"{must}there is no geometry shader, which alone has streams; leave it out")
    words = Words(stages["geometry"].spirv)
    if _GEOMETRY_STREAMS in words.capabilities:
        constants = words.constants()
        for number, operands in words.instructions():
            if number == _EMIT_STREAM and constants.get(operands[0], [stream]) == [stream]:  # or nobody knows: a specialisation constant
                return
    raise ValidationError(f"{must}the geometry shader emits nothing to it (EmitStreamVertex({stream})); nothing would be drawn")


def _check_conservative(topology: int, stages: Stages, open_topology: bool, what: str) -> None:
    """Points and lines have no conservative coverage (VUID-VkGraphicsPipelineCreateInfo-conservativePointAndLineRasterization-06759,
    -06760)."""
    maker = next((name for name in ("geometry", "mesh") if name in stages), None)
    if maker is not None:
        modes = {operands[1] for number, operands in Words(stages[maker].spirv).instructions() if number == _EXECUTION_MODE}
        if _OUTPUT_POINTS in modes or modes & _OUTPUT_LINES:
            made = "points" if _OUTPUT_POINTS in modes else "lines"
            raise ValidationError(f"{what}: conservative is for triangles, and the {maker} shader makes {made}; leave it out")
    elif not open_topology:
        require_triangles(topology, what)


def require_triangles(topology: int, what: str) -> None:
    """Of a conservative pipeline, or of state that is set (VUID-vkCmdDraw-conservativePointAndLineRasterization-07499)."""
    if topology in _POINTS_AND_LINES:
        name = enums.name_of("primitive_topology", topology)
        raise ValidationError(f"{what}: conservative is for triangles, and topology is {name}; leave it out, or draw triangles")


def require_sample_places(count: int, samples: int, what: str) -> None:
    """VUID-VkSampleLocationsInfoEXT-sampleLocationsCount-01527, -sampleLocationsPerPixel-01526, vkCmdDraw -07482, -07483."""
    if samples == 1:
        raise ValidationError(f"{what} is for several samples, and samples is 1; give samples=2, 4, 8 or 16, or leave it out")
    if count != samples:
        raise ValidationError(f"{what} has {count} places, and samples is {samples}; give one for each sample")


def say_sample_interpolation(stages: Stages, what: str, strict: bool) -> None:
    """interpolateAtSample beside sample locations takes the place that was given (VUID-vkCmdDraw-sampleLocationsEnable-07487)."""
    if "fragment" not in stages:
        return
    words = Words(stages["fragment"].spirv)
    if _INTERPOLATION_FUNCTION not in words.capabilities:
        return
    if any(number == _EXT_INST and operands[3] == _AT_SAMPLE for number, operands in words.instructions()):
        beyond_vulkan(f"{what}: sample_locations beside interpolateAtSample in the fragment shader", strict)


def _check_dual_source(stages: Stages, factors: Sequence[frozenset[str]], what: str) -> None:
    """With two sources there is one output (VUID-RuntimeSpirv-Fragment-06427, maxFragmentDualSrcAttachments)."""
    dual = [i for i, names in enumerate(factors) if any("src1" in name for name in names)]
    if not dual or "fragment" not in stages:
        return
    for output in stages["fragment"].reflection.outputs:
        if output.location >= 1:
            raise ValidationError(
                f"{what}: blend[{dual[0]}] takes a second source (src1), and the fragment shader writes location {output.location} too "
                f"('{output.name}'); then location 0 is the only one"
            )


# ------------------------------------------------------------------------------------------------------ inside shaders


@functools.lru_cache(maxsize=256)
def writes_built_in(spirv: bytes, built_in: int) -> bool:
    """Whether a shader has a store to an output such as gl_Position anywhere, or passes it to a function; of a block that holds it, the
    member's. ``built_in``: SPIR-V's number."""
    members: dict[int, int] = {}  # of structures: which member it is
    places: dict[int, int | None] = {}  # variables: which member, None: it is the position itself
    pointees: dict[int, int] = {}  # of pointers to outputs
    alone: set[int] = set()
    elements: dict[int, int] = {}  # of arrays: of a mesh shader's vertices, too
    of_many: set[int] = set()  # variables: such an array, whose first index says which
    constants: dict[int, int] = {}
    for number, operands in Words(spirv).instructions():
        if number == _DECORATE and operands[1:3] == [_BUILT_IN, built_in]:
            alone.add(operands[0])
        elif number == _MEMBER_DECORATE and operands[2:4] == [_BUILT_IN, built_in]:
            members[operands[0]] = operands[1]
        elif number == _TYPE_POINTER and operands[1] == _OUTPUT:
            pointees[operands[0]] = operands[2]
        elif number == _TYPE_ARRAY:
            elements[operands[0]] = operands[1]
        elif number == _CONSTANT:
            constants[operands[1]] = operands[2]
        elif number == _VARIABLE and operands[1] in alone and operands[2] == _OUTPUT:
            places[operands[1]] = None
        elif number == _VARIABLE and pointees.get(operands[0]) in members:
            places[operands[1]] = members[pointees[operands[0]]]
        elif number == _VARIABLE and elements.get(pointees.get(operands[0], 0)) in members:
            places[operands[1]] = members[elements[pointees[operands[0]]]]
            of_many.add(operands[1])
        elif number in _CHAINS and operands[2] in places:
            member = places[operands[2]]
            index = 3 + (operands[2] in of_many)
            if member is None or len(operands) <= index or constants.get(operands[index], member) == member:
                return True
        elif (number in _STORES and operands[0] in places) or (number == _CALL and not places.keys().isdisjoint(operands[3:])):
            return True
    return False


def reads_layer(stages: Stages) -> bool:
    """Whether a shader has gl_Layer in its interface (VUID-VkGraphicsPipelineCreateInfo-renderPass-06059)."""
    for module in stages.values():
        for number, operands in Words(module.spirv).instructions():
            if (number == _DECORATE and operands[1:3] == [_BUILT_IN, _LAYER]) or (
                number == _MEMBER_DECORATE and operands[2:4] == [_BUILT_IN, _LAYER]
            ):
                return True
    return False


def _check_offsets(words: Words, stage: str, what: str) -> None:
    """Constant offsets of texels and interpolation beyond the limits (VUID-RuntimeSpirv-OpImageSample-06435, -06436, -OpImage-06376,
    -06377, -Offset-06344 to -06347)."""
    interpolates = _INTERPOLATION_FUNCTION in words.capabilities
    if not interpolates and not words.may_offset_texels():
        return
    constants = words.constants()
    for number, operands in words.instructions():
        if number in _SAMPLES:
            offsets = _texel_offset(number, operands)
            for word in constants.get(offsets, []):
                value = word - (1 << 32) if word >> 31 else word
                if not _LEAST_TEXEL <= value <= _MOST_TEXEL:
                    raise ValidationError(
                        f"{what}: the {_stage_words(stage)} shader has a texel offset of {value}; {_LEAST_TEXEL} to {_MOST_TEXEL} are "
                        "allowed, add more to the coordinate"
                    )
        elif interpolates and number == _EXT_INST and operands[3] == _AT_OFFSET:
            for value in np.array(constants.get(operands[5], []), np.uint32).view(np.float32).tolist():
                if not _LEAST_INTERPOLATION <= value <= _MOST_INTERPOLATION:
                    raise ValidationError(
                        f"{what}: the {_stage_words(stage)} shader has interpolateAtOffset of {value:g} px; {_LEAST_INTERPOLATION:g} to "
                        f"{_MOST_INTERPOLATION:g} are allowed, within the pixel"
                    )


def _texel_offset(number: int, operands: list[int]) -> int:
    """The id of an instruction's offset, or of its four; 0: it has none."""
    at = 5 if number in (89, 90, 93, 94, 96, 97) else 4  # Dref and gathers have one operand more
    if len(operands) <= at or not operands[at] & _OFFSETS:
        return 0
    return operands[at + 1 + sum(count for bit, count in _BEFORE_OFFSETS if operands[at] & bit)]
