"""What a pipeline's shaders ask for, by name: vertex inputs, outputs, descriptors, push constants, specialisation constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tilegpu import _core, notebook
from tilegpu.enums import name_of
from tilegpu.errors import ValidationError
from tilegpu.fixed import OfThisProcess, Told
from tilegpu.structs import SCALAR_CODES, StructLayout, block_conflict, type_name

Stages = dict[str, _core.ShaderModule]
_PAIR = {"combined_image_sampler", "sampled_image", "sampler"}


class Variable(NamedTuple):
    """A vertex input or a fragment output."""

    name: str
    location: int
    component: int
    type: _core.ReflectedType
    used: bool


class Member(NamedTuple):
    """A member of a block; ``offset_B`` from the block's start."""

    name: str
    offset_B: int
    type: _core.ReflectedType


class Binding:
    """One descriptor binding, merged over both stages."""

    __slots__ = (
        "aliases",
        "binding",
        "block_name",
        "conflict",
        "count",
        "descriptor",
        "layout",
        "name",
        "readonly",
        "set",
        "stages",
        "type",
        "unsized",
        "used",
        "writeonly",
    )

    def __init__(
        self, reflected: _core.ReflectedBinding, descriptor: str, stages: list[str], layout: StructLayout | None
    ) -> None:
        self.name: str = reflected.name
        self.block_name: str = reflected.block_name
        self.set: int = reflected.set
        self.binding: int = reflected.binding
        self.descriptor = descriptor
        self.count: int = reflected.count  #: elements, of arrays of descriptors
        self.unsized = not reflected.count  #: a stage declares an array without a length: the layout says it
        self.type: _core.ReflectedType = reflected.type
        self.readonly: bool = reflected.readonly
        self.writeonly: bool = reflected.writeonly
        self.used: bool = reflected.used
        self.stages = stages
        self.layout = layout
        self.aliases: list[str] = []  #: what stages call it too: names of other variables at the same place
        self.conflict = ""  #: of a block: why its members have no names, as stages declare other blocks there

    @property
    def kind(self) -> str:
        """Its descriptor and how many, for tables; ``[]`` where nobody said a length."""
        return self.descriptor + (f"[{self.count or ''}]" if self.count != 1 or self.unsized else "")

    @property
    def title(self) -> str:
        """Names and numbers, for messages."""
        return f"{' or '.join(repr(n) for n in self.all_names) or repr('?')} (set {self.set}, binding {self.binding})"

    @property
    def all_names(self) -> list[str]:
        """What the shaders call it: one name, unless several variables lie at the place."""
        return [*([self.name] if self.name else []), *self.aliases]

    @property
    def shared(self) -> str:
        """For messages that go on: what to do where several names are one place."""
        if not self.aliases:
            return ""
        names = " and ".join(f"'{n}'" for n in self.all_names)
        return f": {names} are at one place; give them a binding each in the shaders (layout(binding = ...)), or bind one value by one name"


class Constant(NamedTuple):
    """A specialisation constant."""

    name: str
    constant_id: int
    base: str
    default: bool | int | float
    stages: tuple[str, ...]


def _default(constant: _core.ReflectedConstant) -> bool | int | float:
    import struct

    raw = struct.pack("<Q", constant.default_bits)
    base = constant.type.base
    if base == "bool":
        return bool(constant.default_bits)
    value: int | float = struct.unpack_from("<" + SCALAR_CODES[base], raw)[0]
    return value


def _variables(reflected: Sequence[_core.ReflectedVariable]) -> list[Variable]:
    return [Variable(v.name, v.location, v.component, v.type, v.used) for v in reflected]


class Interface(OfThisProcess, Told):
    """Printed, it is the table of everything that the shaders name."""

    def __init__(
        self, label: str, stages: Stages, specialization: Mapping[str, list[tuple[int, int]]] | None = None
    ) -> None:
        if not isinstance(stages, Mapping) or not all(isinstance(module, _core.ShaderModule) for module in stages.values()):
            raise ValidationError(
                f"interface: stages is {type(stages).__name__}; it must be a mapping from stages to what tilegpu.compile_glsl gives; "
                "pipelines have theirs: pipeline.interface"
            )
        self.label = label
        self.specialization = {stage: list(pairs) for stage, pairs in (specialization or {}).items()}  #: (id, bits) by stage
        self.inputs: list[Variable] = []
        #: Array lengths and sizes are those with the constants' values.
        self.reflections: dict[str, _core.Reflection] = {
            stage: module.reflect(specialization[stage])
            if specialization and stage in specialization
            else module.reflection
            for stage, module in stages.items()
        }
        self.bindings: dict[tuple[int, int], Binding] = {}
        self._kinds: dict[tuple[int, int], frozenset[tuple[str, bool]]] = {}  # of those that were asked for
        self.constants: list[Constant] = []
        reflections = list(self.reflections.values())
        for stage, reflection in self.reflections.items():
            self._add_stage(stage, reflection)
        self.has_push = any(r.has_push_constants for r in reflections)
        self._push: tuple[StructLayout | None, list[Member]] | None = None
        self._outputs: list[Variable] | None = None
        #: Push constants of different names that lie at the same bytes, in blocks of two stages: what is given by name can't be both.
        self.push_overlaps: list[tuple[Member, Member]] = []
        #: All push constants are floats, vectors and matrices: the core writes them.
        self.push_floats = _core.FloatBlock.of(reflections) if self.has_push else None
        if self.has_push and self.push_floats is None:
            # The stages' blocks differ, or not all members are floats; what is wrong with them is said now.
            layout = self.push_layout
            self.push_floats = layout.float_block() if layout is not None and not self.push_overlaps else None
        self.names: dict[str, Binding] = {}
        for binding in self.bindings.values():
            for name in (binding.block_name, binding.name):
                if name:
                    self.names[name] = binding
        for binding in self.bindings.values():
            for name in binding.aliases:
                self.names.setdefault(name, binding)

    def with_lengths(self, layouts: Sequence[_core.DescriptorSetLayout | None]) -> Interface:
        """Itself, with the lengths of arrays that the shaders declare without one, from the layouts of a pipeline's sets, by number."""
        for (set, number), binding in self.bindings.items():
            layout = layouts[set] if binding.unsized and set < len(layouts) else None
            if layout is not None:
                binding.count = next((count for at, _, count in layout.bindings if at == number), binding.count)
        return self

    @property
    def outputs(self) -> list[Variable]:
        """Of the fragment shader; made when somebody asks."""
        if self._outputs is None:
            fragment = self.reflections.get("fragment")
            self._outputs = [] if fragment is None else _variables(fragment.outputs)
        return self._outputs

    def kinds_at(self, set: int, binding: int) -> frozenset[tuple[str, bool]]:
        """Kinds of texels, and whether they are compared, of all images at a place: several variables may lie at one, of other kinds."""
        found = self._kinds.get((set, binding))
        if found is None:
            there = (b for one in self.reflections.values() for b in one.bindings if (b.set, b.binding) == (set, binding) and b.used)
            images = (b for b in there if name_of("descriptor_type", b.descriptor) != "sampler")
            found = self._kinds[set, binding] = frozenset((b.type.base, b.type.depth_compare) for b in images)
        return found

    def _add_stage(self, stage: str, reflection: _core.Reflection) -> None:
        if stage == "vertex":
            self.inputs = _variables(reflection.inputs)
        for b in reflection.bindings:
            self._add_binding(stage, b)
        places = {(k.constant_id, k.name, k.base): n for n, k in enumerate(self.constants)}
        for c in reflection.constants:
            place = places.setdefault((c.constant_id, c.name, c.type.base), len(self.constants))
            if place < len(self.constants):
                same = self.constants[place]
                stages = tuple(dict.fromkeys((*same.stages, stage)))
                self.constants[place] = Constant(same.name, same.constant_id, same.base, same.default, stages)
            else:
                self.constants.append(Constant(c.name, c.constant_id, c.type.base, _default(c), (stage,)))

    def _add_binding(self, stage: str, b: _core.ReflectedBinding) -> None:
        key = (b.set, b.binding)
        old = self.bindings.get(key)
        descriptor = name_of("descriptor_type", b.descriptor)
        if (
            old is not None
            and b.used
            and old.used
            and descriptor != old.descriptor
            and {descriptor, old.descriptor} <= _PAIR
        ):
            # A texture and a sampler at one place are one descriptor of both; the texture says what may be bound.
            if old.descriptor == "sampler":
                old.name, old.type = b.name, b.type
            old.descriptor = "combined_image_sampler"
        if old is None or (b.used and not old.used):
            layout = StructLayout(b.type, f"{self.label}: '{b.name}'") if b.type.kind == "structure" else None
            stages = ([*old.stages] if old else []) + [stage]
            self.bindings[key] = Binding(b, descriptor, stages, layout)
            return
        if stage not in old.stages:
            old.stages.append(stage)
        if b.used:
            if b.name and not ({b.name, b.block_name} - {""}) & {old.name, old.block_name, *old.aliases}:
                old.aliases.append(b.name)
            old.count = max(old.count, b.count)
            old.unsized = old.unsized or not b.count
            old.readonly = old.readonly and b.readonly
            if old.layout is not None and b.type.kind == "structure":
                self._join_blocks(old, b)

    def _join_blocks(self, old: Binding, b: _core.ReflectedBinding) -> None:
        """Another stage's block at a binding: its names too, where both can mean one place."""
        old.conflict = old.conflict or block_conflict(old.type, b.type)
        first, second = (old.type, b.type) if old.type.size_B >= b.type.size_B else (b.type, old.type)
        old.type, layout = first, StructLayout(first, f"{self.label}: '{old.name}'")
        for name, offset_B, type_ in () if old.conflict else second.members:
            layout.add_member(name, offset_B, type_)
        old.layout = layout
    @property
    def push_layout(self) -> StructLayout | None:
        """Packs the push constants; ``None`` where there are none."""
        return self._merged_push()[0]

    @property
    def push_constants(self) -> list[Member]:
        """Members of the push constants of all stages."""
        return self._merged_push()[1]

    def _merged_push(self) -> tuple[StructLayout | None, list[Member]]:
        """Members of both stages' blocks are one table; a name must mean the same place in both. Made when somebody asks."""
        if self._push is not None:
            return self._push
        layout: StructLayout | None = None
        table: dict[str, Member] = {}
        stages_of: dict[str, set[str]] = {}
        for stage, reflection in self.reflections.items():
            block = reflection.push_constants
            if block is None:
                continue
            if layout is None or block.type.size_B > layout.size_B:
                layout = StructLayout(block.type, f"{self.label}: push constants")
            for index, (name, offset_B, type_) in enumerate(block.type.members):
                key = name or f"_{index}"
                stages_of.setdefault(key, set()).add(stage)
                same = table.get(key)
                if same is None:
                    table[key] = Member(key, offset_B, type_)
                elif same.offset_B != offset_B or type_name(same.type) != type_name(type_):
                    raise ValidationError(
                        f"{self.label}: push constant '{key}' is {type_name(same.type)} at byte {same.offset_B} in the vertex shader "
                        f"and {type_name(type_)} at byte {offset_B} in the {stage} shader; declare the same block in both"
                    )
            for member in table.values():
                layout.add_member(member.name, member.offset_B, member.type)
        members = sorted(table.values(), key=lambda m: m.offset_B)
        self.push_overlaps = [
            (a, b)
            for i, a in enumerate(members)
            for b in members[i + 1 :]
            if b.offset_B < a.offset_B + a.type.size_B and stages_of[a.name].isdisjoint(stages_of[b.name])
        ]
        self._push = layout, list(table.values())
        return self._push

    def candidates(self) -> list[str]:
        """Names of the bindings, numbers where there is no name."""
        return [n for b in self.bindings.values() for n in b.all_names or [f"(set {b.set}, binding {b.binding})"]]

    def __str__(self) -> str:
        lines = [f"Interface of {self.label}"]
        if self.inputs:
            lines.append("  vertex inputs")
            lines += [
                f"    location {v.location:<2} {type_name(v.type):<10} {v.name or '?'}{_unused(v.used)}"
                for v in self.inputs
            ]
        if self.bindings:
            lines.append("  bindings")
            for b in self.bindings.values():
                kind, stages = b.kind, ", ".join(b.stages)
                lines.append(
                    f"    set {b.set} binding {b.binding:<2} {kind:<24} {' or '.join(b.all_names) or '?'}  ({stages}){_unused(b.used)}"
                )
                lines += _member_lines(b.type)
        if self.push_constants:
            lines.append("  push constants")
            lines += [f"      {m.offset_B:>4} B  {type_name(m.type):<12} {m.name}" for m in self.push_constants]
        if self.constants:
            lines.append("  specialisation constants")
            lines += [
                f"    id {c.constant_id:<3} {c.base:<6} {c.name or '?'} = {c.default}  ({', '.join(c.stages)})"
                for c in self.constants
            ]
        if self.outputs:
            lines.append("  colour outputs")
            lines += [f"    location {v.location:<2} {type_name(v.type):<10} {v.name or '?'}" for v in self.outputs]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for each kind of thing that the shaders name."""
        out = [notebook.Html(f"<b>Interface of {notebook.escaped(self.label)}</b>")]

        def add(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], numeric: tuple[int, ...] = (0,)) -> None:
            if rows:
                out.append(notebook.table(title, heads, rows, numeric))

        places = [(str(v.location), type_name(v.type), (v.name or "?") + _unused(v.used)) for v in self.inputs]
        add("vertex inputs", ("location", "type", "name"), places)
        rows = []
        for b in self.bindings.values():
            kind = b.kind
            members = [notebook.escaped(line.strip()) for line in _member_lines(b.type)]
            name = notebook.Html("<br>".join([notebook.escaped((" or ".join(b.all_names) or "?") + _unused(b.used)), *members]))
            rows.append((str(b.set), str(b.binding), kind, name, ", ".join(b.stages)))
        add("bindings", ("set", "binding", "kind", "name, members", "stages"), rows, (0, 1))
        add("push constants", ("byte", "type", "name"), [(str(m.offset_B), type_name(m.type), m.name) for m in self.push_constants])
        given = [(str(c.constant_id), c.base, c.name or "?", str(c.default), ", ".join(c.stages)) for c in self.constants]
        add("specialisation constants", ("id", "type", "name", "value", "stages"), given)
        add("colour outputs", ("location", "type", "name"), [(str(v.location), type_name(v.type), v.name or "?") for v in self.outputs])
        return "".join(out)


def _unused(used: bool) -> str:
    return "" if used else "  [not used]"


def _member_lines(type_: _core.ReflectedType, indent: int = 6) -> list[str]:
    lines: list[str] = []
    if type_.kind != "structure":
        return lines
    for name, offset_B, member in type_.members:
        lines.append(f"{' ' * indent}{offset_B:>4} B  {type_name(member):<12} {name or '?'}")
        inner = member
        while inner.kind == "array":
            inner = inner.members[0][2]
        lines += _member_lines(inner, indent + 4)
    return lines
