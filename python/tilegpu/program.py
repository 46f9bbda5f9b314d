"""What pipelines of any kind have of their shaders: names, layouts of blocks, push constants, warnings, specialisation."""

from __future__ import annotations

import math
import struct as _struct
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilegpu import _core, arguments, notebook
from tilegpu.block_bytes import Ranges, block_bytes
from tilegpu.constant_numbers import with_levels
from tilegpu.errors import ShortBufferWarning, UnusedNameWarning, ValidationError, candidates, near_names, users_level
from tilegpu.fixed import Fixed, made_once
from tilegpu.image_layers import layers_read
from tilegpu.interface import Interface, Stages
from tilegpu.sampler_pairs import Place, pairs
from tilegpu.shader import files_of, is_path, unnamed_defines
from tilegpu.structs import SCALAR_CODES

if TYPE_CHECKING:
    from tilegpu.sampler import Sampler

#: All that were made of files and are in use.
_FROM_FILES: weakref.WeakSet[Program] = weakref.WeakSet()


class Accesses(NamedTuple):
    """Of one binding: what stages before the rasterizer do, and what the fragment shader does. Atomics write, and don't read."""

    vertex_reads: bool
    vertex_writes: bool
    fragment_reads: bool
    fragment_writes: bool


class Program(Fixed):
    """Base of pipelines: what their shaders ask for by name."""

    def __init__(self, core: _core.Pipeline | _core.ComputePipeline, stages: Stages) -> None:
        self.label = core.label
        self.title = f"pipeline '{core.label}'"  #: what messages call it
        self._stages = stages
        self.has_push = core.push_constants_B > 0
        self.made_by: _core.Device | None = None  #: the device of it, which its sets are of too
        self.set_layouts: list[_core.DescriptorSetLayout | None] = core.set_layouts
        self._warned: set[str] = set()
        self._leveled: dict[str, tuple[_core.ShaderModule, _core.ShaderModule]] = {}
        self._sources: tuple[Any, ...] = ()
        self._again: Callable[[], Program] | None = None

    @property
    def stages(self) -> Stages:
        """Its modules by stage."""
        return self._stages

    def keep_sources(self, sources: Iterable[Any], again: Callable[[], Program]) -> None:
        """What it was made of, and how it is made once more, where files are among that; see :meth:`reload`."""
        if any(is_path(s) for s in sources):
            self._sources, self._again = tuple(sources), again
            _FROM_FILES.add(self)

    @property
    def files(self) -> tuple[str, ...]:
        """Absolute paths of its shaders, and of what they include beside themselves; empty if it was made of texts."""
        return files_of(self._sources)

    def reload(self) -> None:
        """Reads its shader files again and becomes what they say now, in place: draws that follow use it.

        Raises what its creation would raise (:class:`tilegpu.ShaderError`, ...), and stays as it was then; and
        :class:`tilegpu.ValidationError` for one that was made of texts alone. Sets and secondary command buffers that were made for it
        fit as long as the shaders' bindings stay.
        """
        if self._again is None:
            raise ValidationError(f"{self.title}: reload() is for shaders given as paths; these were texts or SPIR-V")
        made = self._again()
        for known in ("interface", "may_write", "accesses", "block_bytes", "samplers_apart", "sampler_pairs", "_plain", "_races"):
            self.__dict__.pop(known, None)
        self.__dict__.update(made.__dict__)

    @made_once
    def interface(self) -> Interface:
        """The table of names that its shaders ask for."""
        return Interface(self.title, self._stages).with_lengths(self.set_layouts)

    def _repr_html_(self) -> str:
        """What it is, and what its shaders ask for."""
        return f"<pre>{notebook.escaped(repr(self))}</pre>{self.interface._repr_html_()}"

    @made_once
    def may_write(self) -> bool:
        """Whether a shader stores through a descriptor, or may."""
        bindings = self.interface.bindings.values()
        if not any(b.used and not b.readonly and b.descriptor.startswith("storage") for b in bindings):
            return False
        return any(access.vertex_writes or access.fragment_writes for access in self.accesses.values())

    @made_once
    def samplers_apart(self) -> frozenset[tuple[int, int]]:
        """Where samplers stand that no image comes with: each (set, binding) in use."""
        return frozenset(place for place, b in self.interface.bindings.items() if b.used and b.descriptor == "sampler")

    @made_once
    def sampler_pairs(self) -> list[tuple[Place, Place, bool]]:
        """Images and samplers that come apart and are sampled together, and whether depths are compared: of those that always are, or
        never."""
        found: dict[tuple[Place, Place], frozenset[bool]] = {}
        for module in self._stages.values() if self.samplers_apart else ():
            for pair, compares in pairs(bytes(module.spirv)).items():
                found[pair] = found.get(pair, frozenset()) | compares
        return [(image, sampler, True in compares) for (image, sampler), compares in found.items() if len(compares) == 1]

    @made_once
    def accesses(self) -> dict[tuple[int, int], Accesses]:
        """What the shaders do with the memory at each (set, binding), as far as the constants let them."""
        found: dict[tuple[int, int], list[bool]] = {}
        for stage, module in self._stages.items():
            for place, (reads, writes, atomics) in module.binding_accesses(self.interface.specialization.get(stage, [])).items():
                entry = found.setdefault(place, [False] * 4)
                first = 2 if stage == "fragment" else 0
                entry[first] |= reads
                entry[first + 1] |= writes or atomics
        return {place: Accesses(*entry) for place, entry in found.items()}

    @made_once
    def block_bytes(self) -> dict[str, tuple[Ranges, Ranges]]:
        """Of each stage: bytes of blocks that it may load, and may store."""
        constants = self.interface.specialization
        return {stage: block_bytes(bytes(module.spirv), dict(constants.get(stage, []))) for stage, module in self._stages.items()}

    def only_stores(self, set: int, binding: int) -> bool:
        """Whether the shaders store to the memory at a binding and want nothing of what lies there, not even of atomics."""
        constants, place = self.interface.specialization, (set, binding)
        found = [module.binding_accesses(constants.get(stage, [])).get(place) for stage, module in self._stages.items()]
        there = [accesses for accesses in found if accesses is not None]
        return any(writes for _, writes, _ in there) and not any(reads or atomics for reads, _, atomics in there)

    def levels_read(
        self, set: int, binding: int, count: int, samplers: Sequence[Sampler], view_min_lod: float = 0.0
    ) -> list[tuple[int, int]]:
        """Which of the ``count`` levels of a view at a binding the shaders can read, as (first, end) in several ranges; ``samplers``:
        those that it may be sampled with, empty if nobody knows. ``view_min_lod``: the view's own limit, from its first level on."""
        found: list[tuple[int, int]] = []
        for stage, module in self._stages.items():
            if not any((b.set, b.binding) == (set, binding) and b.used for b in module.reflection.bindings):
                continue
            constants = self.interface.specialization.get(stage, [])
            reads = module.image_reads(set, binding, constants)
            if reads["samples"] or reads["fetched_levels"] > count:
                reads = self._with_levels(stage, module).image_reads(set, binding, constants)
            first = math.floor(view_min_lod)  # of fetches and gathers
            if reads["loads"] or (reads["gathers"] and first == 0):
                found.append((0, 1))
            if reads["fetched_levels"] > first:
                found.append((first, min(count, reads["fetched_levels"])))
            if reads["samples"]:
                found += [s.levels_of(0, math.inf, count, view_min_lod) for s in samplers] or [(first, count)]
            if reads["lods"] is not None:
                least, greatest = reads["lods"]
                found += [s.levels_of(least, greatest, count, view_min_lod) for s in samplers] or [(first, count)]
        return found

    def _with_levels(self, stage: str, module: _core.ShaderModule) -> _core.ShaderModule:
        """The same with levels that its constants say as literals; made once, where a level that nobody wrote may be read."""
        made = self._leveled.get(stage)
        if made is None or made[0] is not module:
            words = with_levels(bytes(module.spirv), tuple(self.interface.specialization.get(stage, [])))
            made = self._leveled[stage] = module, module if words is None else _core.ShaderModule(words, module.label)
        return made[1]

    def layers_read(self, set: int, binding: int) -> frozenset[int] | None:
        """The same of the layers of an array, where all that the shaders read are constants; ``None``: any."""
        found: frozenset[int] = frozenset()
        for stage, module in self._stages.items():
            if any((b.set, b.binding) == (set, binding) and b.used for b in module.reflection.bindings):
                layers = layers_read(bytes(module.spirv), tuple(self.interface.specialization.get(stage, [])), set, binding)
                if layers is None:
                    return None
                found |= layers
        return found

    def stores_to(self, set: int, binding: int) -> bool:
        """Whether the shaders store to an image at a binding."""
        return any(
            module.image_reads(set, binding, self.interface.specialization.get(stage, []))["stores"]
            for stage, module in self._stages.items()
            if any((b.set, b.binding) == (set, binding) and b.used for b in module.reflection.bindings)
        )

    def struct(self, name: str, /, **fields: Any) -> bytes:
        """Bytes of the block ``name`` (of the interface's bindings, or ``"push"``) in the shader's layout.

        Every member must be given by name. A (4, 4) array is the matrix of mathematics; structs are mappings,
        arrays sequences.
        Raises :class:`ValidationError` with the candidates for wrong and missing names.
        """
        name = arguments.text(name, f"{self.title}: struct: the block's name")
        if name == "push" and "push" not in self.interface.names:
            return self.pack_push(fields)
        binding = self.interface.names.get(name)
        if binding is None:
            raise ValidationError(
                f"{self.title}: no block '{name}'{candidates(name, [b.name for b in self.interface.bindings.values() if b.layout])}"
            )
        if binding.layout is None:
            raise ValidationError(f"{self.title}: {binding.title} is a {binding.descriptor}, which has no members")
        if binding.conflict:
            raise ValidationError(
                f"{self.title}: {binding.title}: the stages declare other blocks at this binding: {binding.conflict}; declare one in both"
            )
        return binding.layout.pack(fields)

    def pack_push(self, fields: Mapping[str, Any]) -> bytes:
        """Bytes of the push constants."""
        if self.interface.push_layout is None:
            raise ValidationError(
                f"{self.title}: the shaders have no push constants, but push= has: {', '.join(map(str, fields)) or 'nothing'}"
            )
        for a, b in self.interface.push_overlaps:
            if a.name in fields and b.name in fields:
                raise ValidationError(
                    f"{self.title}: push: '{a.name}' is at bytes {a.offset_B} to {a.offset_B + a.type.size_B - 1} and '{b.name}' at "
                    f"{b.offset_B} to {b.offset_B + b.type.size_B - 1}, each in another stage's block: push constants of all stages share "
                    "their bytes; give one of them a layout(offset = ...) behind the other, or declare one block in both stages"
                )
        return self.interface.push_layout.pack(fields)

    def _packed_push(self, push: Mapping[str, Any], what: str) -> bytes:
        """The same, whose errors begin with what pushes them: the layout, which pipelines of one shader share, knows none."""
        try:
            return self.pack_push(push)
        except ValidationError as wrong:
            own, text = f"{self.interface.label}: push constants", str(wrong)
            if not text.startswith(own):
                raise
            raise ValidationError(f"{what}, {self.title}: push constants{text[len(own):]}") from None

    def push_bytes(self, push: Any, what: str) -> bytes:
        """All push constants from what ``push=`` gives: a mapping by name, a structured array, or bytes."""
        layout = self.interface.push_layout
        size_B = layout.size_B if layout is not None else 0
        if push is None:
            names = ", ".join(m.name for m in self.interface.push_constants)
            raise ValidationError(f"{what}, {self.title}: the shaders have push constants ({names}); give push=")
        if type(push) is bytes:
            data = push
        elif type(push) is dict or isinstance(push, Mapping):  # the second question alone costs a tenth of a draw
            data = self._packed_push(push, what)
        elif isinstance(push, (bytes, bytearray, memoryview)):
            data = bytes(push)
        elif isinstance(push, (np.ndarray, np.void)) and push.dtype.names:
            data = self._packed_push({n: push[n] for n in push.dtype.names}, what)
        elif isinstance(push, np.ndarray) and push.dtype == np.uint8:
            data = push.tobytes()
        elif isinstance(push, np.ndarray) and len(self.interface.push_constants) == 1:
            data = self.pack_push({self.interface.push_constants[0].name: push})
        else:
            raise ValidationError(
                f"{what}, {self.title}: push is {arguments.shown(push)}; it must be a mapping by name, all as bytes, "
                "or an array where there is one name"
            )
        if len(data) != size_B:
            raise ValidationError(
                f"{what}, {self.title}: push has {len(data)} bytes; the shaders' push constants take {size_B}"
            )
        return data

    def warn_unused(self, name: str, what: str) -> None:
        """Warns once for each name."""
        self._warn_once(name, what, UnusedNameWarning)

    def warn_of_defines(self, sources: Iterable[Any], defines: Mapping[str, Any] | None, include: Any) -> None:
        """Of macros that no text of its shaders names."""
        for name, asked in unnamed_defines(sources, defines, include):
            near = near_names(name, asked)
            why = f"; did you mean '{near[0]}'?" if near else "; leave it out"
            self.warn_unused(f"define {name}", f"defines has '{name}', which no shader text of the pipeline names{why}")

    def warn_short(self, name: str, what: str) -> None:
        """Warns once for each block."""
        self._warn_once(f"{name} is short", what, ShortBufferWarning)

    def _warn_once(self, key: str, what: str, category: type[Warning]) -> None:
        if key not in self._warned:
            self._warned.add(key)
            warnings.warn(f"{self.title}: {what}", category, stacklevel=users_level())


def _constant_bits(value: Any, base: str, what: str) -> int:
    try:
        if isinstance(value, (str, bytes)):
            pass  # float("2") is 2
        elif base == "bool":
            if isinstance(value, (bool, np.bool_)) or value in (0, 1):
                return int(bool(value))
        elif SCALAR_CODES[base] in "efd":
            return int.from_bytes(_struct.pack("<" + SCALAR_CODES[base], float(value)), "little")
        elif int(value) == value:
            return int.from_bytes(_struct.pack("<" + SCALAR_CODES[base], int(value)), "little")
    except (TypeError, ValueError, OverflowError, _struct.error):
        pass
    raise ValidationError(f"{what} is {arguments.shown(value)}; the shader's constant is of type {base}")


def specialization_of(
    interface: Interface, constants: Mapping[Any, Any], label: str
) -> dict[str, list[tuple[int, int]]]:
    """Pairs of id and bits for each stage that has constants of these names or ids."""
    result: dict[str, list[tuple[int, int]]] = {}
    given: dict[tuple[str, int], tuple[Any, int]] = {}
    for key, value in constants.items():
        found = [c for c in interface.constants if c.name == key or (c.constant_id == key and not isinstance(key, str))]
        if not found:
            names = [f"{c.name} ({c.constant_id})" if c.name else str(c.constant_id) for c in interface.constants]
            raise ValidationError(f"{label}: no specialisation constant {arguments.shown(key)}{candidates(key, names)}")
        for constant in found:
            bits = _constant_bits(value, constant.base, f"{label}: constant {arguments.shown(key)}")
            for stage in constant.stages:
                before = given.setdefault((stage, constant.constant_id), (key, bits))
                if before[0] != key:
                    if before[1] != bits:
                        both = f"{arguments.shown(before[0])} and {arguments.shown(key)}"
                        raise ValidationError(f"{label}: constants has two values of one constant, as {both}; give one of them")
                    continue
                result.setdefault(stage, []).append((constant.constant_id, bits))
    return result


def made_of_files() -> list[Program]:
    """All pipelines in use whose shaders are files, for who watches these."""
    return list(_FROM_FILES)
