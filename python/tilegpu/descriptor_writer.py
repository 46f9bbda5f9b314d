"""Values of the user's to descriptors: buffers, textures, views, samplers, arrays of these, and contents of blocks.

In: what a binding is, a value. Out: writes to a descriptor set. Errors name the binding, what was given and what it takes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tilegpu import _core, arguments, enums
from tilegpu.array_fit import array_misfit, block_misfit, matrix_misfit, texel_misfit
from tilegpu.buffer import Buffer, BufferSlice, BufferView, matrix_rows, native, require_usage, upload_layout
from tilegpu.context import Context
from tilegpu.errors import ClampedValueWarning, ValidationError, beyond_vulkan, users_level
from tilegpu.image import Image, ImageView, Texture
from tilegpu.program import Program
from tilegpu.sampler import Sampler
from tilegpu.structs import StructLayout, widest_B
from tilegpu.uses import Use, use_of_buffer, use_of_view
from tilegpu.ycbcr import SamplerYcbcrConversion

_WHOLE = 0xFFFFFFFFFFFFFFFF
#: Where slices begin: a multiple of the first in any case, of the second (min...BufferOffsetAlignment of the driver) in Vulkan.
_OFFSETS_B, _VULKANS_OFFSETS_B = 4, 16


class Slot(Protocol):
    """What is written to: :class:`tilegpu.interface.Binding`, or one that a layout knows without a shader."""

    @property
    def binding(self) -> int:
        """Its number in the set."""
    @property
    def count(self) -> int:
        """Elements, of arrays of descriptors; 0 of one without a length."""
    @property
    def unsized(self) -> bool:
        """Whether shaders declare an array without a length, of which ``count`` is the layout's."""
    @property
    def descriptor(self) -> str:
        """Its type by Vulkan's name, such as ``"storage_buffer"``."""
    @property
    def title(self) -> str:
        """What messages call it."""
    @property
    def readonly(self) -> bool:
        """Whether shaders only read it."""
    @property
    def writeonly(self) -> bool:
        """Whether shaders only write it."""
    @property
    def layout(self) -> StructLayout | None:
        """How a block is laid out; ``None`` of what is no block, or where nobody knows."""
    @property
    def conflict(self) -> str:
        """Why the members of a block have no names; ``""`` where they have."""
    @property
    def type(self) -> _core.ReflectedType | None:
        """What the shader declares; ``None`` where there is no shader."""


@dataclass(frozen=True)
class NumberedSlot:
    """A binding of a layout: nothing is known of what shaders make of it."""

    binding: int
    count: int
    descriptor: str
    title: str
    readonly: bool = False
    layout: StructLayout | None = None
    type: _core.ReflectedType | None = None
    writeonly: bool = False
    conflict: str = ""
    unsized: bool = False


class Contents(NamedTuple):
    """Of a block that was given by value: it has memory of its own."""

    size_B: int

    def __repr__(self) -> str:
        return f"{self.size_B} bytes of its own"


Bound = Buffer | BufferSlice | BufferView | ImageView | Sampler | Contents


class Held(NamedTuple):
    """What stands at an element of a set: ``slot`` is what it was written to, ``sampler`` what goes with an image."""

    binding: int
    element: int
    slot: Slot
    thing: Bound
    sampler: Sampler | None
    what: str  # what messages call it


def _read_aspect(image: Image) -> str | None:
    return image.format_info.aspects[0] if image.format_info.is_depth_stencil else None


def _declared_format(binding: Slot) -> str | None:
    """Of a storage texel buffer whose shader says one."""
    number = 0 if binding.type is None else binding.type.format
    return next((n for n in enums.format_names() if enums.parse_format(n, "").number == number), None) if number else None


#: dtypes of arrays that are texels as they are, by what the shader reads.
_TEXEL_KINDS = {
    "float": "float32, float16 or normalised integers of 8 or 16 bits",
    "int": "int32, int16 or int8",
    "uint": "uint32, uint16 or uint8",
}


def _texel_format(array: np.ndarray[Any, Any], base: str) -> str | None:
    """The format of an array's rows, as a shader with texels of ``base`` reads them."""
    components = 1 if array.ndim == 1 else array.shape[1] if array.ndim == 2 else 0
    kind, bits = array.dtype.kind, array.dtype.itemsize * 8
    fixed = base == "float" and bits < 32
    suffix = {
        "f": "sfloat" if base == "float" and bits in (16, 32) else None,
        "u": "unorm" if fixed else "uint" if base == "uint" and bits <= 32 else None,
        "i": "snorm" if fixed else "sint" if base == "int" and bits <= 32 else None,
    }.get(kind)
    if suffix is None or components not in (1, 2, 4):
        return None
    return "".join(f"{c}{bits}" for c in "rgba"[:components]) + f"_{suffix}"


def uses_of_descriptor(slot: Slot, thing: Bound) -> list[Use]:
    """What shaders read and write through it, for frames. ``slot``: of the pipeline that is drawn with."""
    if isinstance(thing, (Sampler, Contents)):
        return []
    storage = slot.descriptor.startswith("storage")
    how = slot.descriptor.replace("_", " ") if storage or not isinstance(thing, ImageView) else "sampled"
    writes = [write for write in (False, True) if not (slot.readonly if write else slot.writeonly)] if storage else [False]
    if isinstance(thing, ImageView):
        return [use for write in writes for use in use_of_view(thing, write, how)]
    return [use_of_buffer(thing, write, how) for write in writes]


def uses_of_set(bindings: Mapping[tuple[int, int], Any], number: int, held: Iterable[Held]) -> list[Use]:
    """The same of what a set holds: of what the shaders don't use of it, nothing."""
    found: list[Use] = []
    for one in held:
        binding = bindings.get((number, one.binding))
        if binding is not None and binding.used:
            found += uses_of_descriptor(binding, one.thing)
    return found


def warn_short(pipeline: Program, slot: Slot, value: Any) -> None:
    """Vulkan lets a buffer end before its block does, where nothing behind the end is read."""
    if slot.layout is None:
        return
    for given in value if isinstance(value, (list, tuple)) and not isinstance(value, Contents) else (value,):
        size_B = given.size_B if isinstance(given, Contents) else given.size if isinstance(given, (Buffer, BufferSlice)) else None
        if size_B is not None and size_B < slot.layout.end_B:
            sizes = f"{slot.title} has {slot.layout.end_B} bytes, buffer of {size_B} bytes is bound"
            pipeline.warn_short(slot.title, f"{sizes}; what the shader reads beyond is 0: make it of {slot.layout.end_B} bytes")


def _require_offset(binding: Slot, buffer: Buffer, offset_B: int, what: str) -> None:
    """Numbers of a block lie at multiples of their size."""
    least_B = _OFFSETS_B if binding.layout is None else max(_OFFSETS_B, widest_B(binding.layout))
    if offset_B % least_B:
        raise ValidationError(
            f"{what}: the slice begins at byte {offset_B} of buffer '{buffer.label}'; it must be a multiple of {least_B}: "
            "copy it to a buffer of its own, or make the array's rows longer"
        )


def _require_aspect(base: str, numeric: str, aspects: Sequence[str], what: str) -> None:
    """Depth is floats and stencil integers, whatever a format with both is called."""
    if base in ("float", "int", "uint") and (base == "float") == (numeric == "uint"):
        read = "stencil" if numeric == "uint" else "depth"
        other = next((f"; or bind the other aspect: image.view(aspect='{name}')" for name in aspects if name != read), "")
        fix = "usampler2D" if read == "stencil" else "sampler2D"
        kind = "integers (uint)" if read == "stencil" else "floats"
        raise ValidationError(f"{what}: the shader reads {base}, and the {read} aspect of the image is {kind}; declare {fix}{other}")


def _require_sign(binding: Slot, numeric: str, what: str, aspects: Sequence[str] = ()) -> None:
    """Integers of the other sign are other numbers (VUID-vkCmdDraw-format-07753)."""
    base = "" if binding.type is None else binding.type.base
    if aspects:
        _require_aspect(base, numeric, aspects, what)
    if (base, numeric) in (("int", "uint"), ("uint", "sint")):
        prefix = {"int": "i", "uint": "u"}
        raise ValidationError(
            f"{what}: the shader reads {base}, and the texels are {numeric}; declare {prefix[numeric.replace('sint', 'int')]}sampler2D (or "
            "image), or bind a view of the other format"
        )


def _compares(binding: Slot) -> bool | None:
    """Whether the shader compares depths; ``None``: nobody knows."""
    return None if binding.type is None else binding.type.depth_compare


def _require_comparison(compares: bool | None, sampler: Sampler, what: str) -> None:
    """A shader that compares has a sampler that does, and the other way round (VUID-vkCmdDraw-None-06479)."""
    if compares is not None and compares != sampler.compares:
        raise ValidationError(
            f"{what}: the shader compares depths (sampler2DShadow), the sampler has no compare=; "
            "give it one, such as compare='less_or_equal'"
            if compares
            else f"{what}: the sampler has compare=, the shader compares nothing (it is no sampler2DShadow); leave compare= out"
        )


def check_held(binding: Slot, held: Held, what: str) -> None:
    """What :class:`DescriptorWriter` asks of the shader, of an element of a set that was written for another one, or for none. Types of
    views and formats of storage images are the core's, which knows which elements are read."""
    thing = held.thing
    texels = "texel" in binding.descriptor
    if isinstance(thing, (Buffer, BufferSlice)) and not texels and binding.layout is not None and not binding.conflict:
        buffer, offset_B = (thing, 0) if isinstance(thing, Buffer) else (thing.buffer, thing.offset)
        if wrong := block_misfit(buffer, binding.layout, what, offset_B, thing.size):
            raise ValidationError(wrong)
        _require_offset(binding, buffer, offset_B, what)
    elif texels and isinstance(thing, (Buffer, BufferSlice, BufferView)):
        name = thing.format_info.name if isinstance(thing, BufferView) else _declared_format(held.slot)
        if name is not None:
            _require_sign(binding, enums.parse_format(name, what).numeric, what)
    elif isinstance(thing, ImageView):
        _require_sign(binding, thing.numeric, what, thing.image.format_info.aspects if thing.image.format_info.is_depth_stencil else ())
        if held.sampler is not None and binding.descriptor == "combined_image_sampler":
            _require_comparison(_compares(binding), held.sampler, what)


def check_sampling(compares: bool | None, view: ImageView, sampler: Sampler, what: str) -> None:
    """What a sampler may do with an image, and what the shader expects of both; where they come together. ``compares``: the shader."""
    info, label = view.view_info, view.image.label
    _require_comparison(compares, sampler, what)
    stencil = info.is_depth_stencil and view.numeric == "uint"
    if sampler.compares and (stencil or view.numeric in ("uint", "sint")):
        raise ValidationError(
            f"{what}: the sampler has compare=, and image '{label}' has format {info.name}"
            f"{', of which stencil is read' if stencil else ''}; integers are not compared"
        )
    read = ", of which stencil is read" if stencil else ""
    sampler.require_filter(info, f"{what}: image '{label}' has format {info.name}{read}", stencil)
    integers = view.numeric in ("uint", "sint")
    if sampler.border and integers != (sampler.border == "int"):
        fix = "an int_... colour, or integers" if integers else "a float_... colour, or floats such as (1.0, 0.0, 0.0, 1.0)"
        raise ValidationError(
            f"{what}: the sampler's border_color is of {sampler.border}s, and image '{label}' holds "
            f"{'integers' if integers else 'no integers'}; give {fix}"
        )
    if sampler.border and sampler.border_numbers != (0.0, 1.0):
        _require_border(info, sampler, what, label)


def _require_border(info: _core.FormatInfo, sampler: Sampler, what: str, label: str) -> None:
    """Border colours of one's own that the format has not: floats are clamped, integers come as they are."""
    low, high = sampler.border_numbers
    least, most = (-1 if info.numeric == "snorm" else 0), 1
    if sampler.border == "int":
        bits, signed = info.component_bits or info.stencil_bits, info.numeric == "sint"
        if bits >= 32:  # all that a colour can hold, by its bits
            return
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    elif info.numeric not in ("unorm", "srgb", "snorm"):
        return
    if low >= least and high <= most:
        return
    given = f"the sampler's border_color is from {low:g} to {high:g}, and image '{label}' of {info.name} has {least} to {most:,}"
    if sampler.border == "int":
        does = "shaders get it as it is, which no texel of the format can be (and Vulkan leaves undefined)"
    else:
        does = "it is clamped" + ("; divide colours of 255 by 255" if high > 2 else "")
    warnings.warn(f"{what}: {given}: {does}", ClampedValueWarning, stacklevel=users_level())


class DescriptorWriter:
    """``upload``: where contents of blocks are copied to; ``used`` is told of all that is bound, with the sampler of an image and what
    messages call it; what another device than ``device`` made is said."""

    def __init__(
        self,
        device: Context,
        upload: Callable[[bytes], _core.Buffer],
        used: Callable[[Held], None],
    ) -> None:
        self._device = device
        self._upload = upload
        self._used = used

    def write(self, target: _core.DescriptorSet, binding: Slot, value: Any, what: str) -> None:
        """All elements of a binding: one value, or a list of as many as there are."""
        if binding.count == 1:
            only = binding.unsized and isinstance(value, (list, tuple)) and len(value) == 1  # a list, as of any other length
            self.write_element(target, binding, 0, value[0] if only else value, what)
            return
        if not isinstance(value, (list, tuple)) or len(value) != binding.count:
            given = f"{len(value)} values" if isinstance(value, (list, tuple)) else arguments.shown(value)
            raise ValidationError(
                f"{what} is an array of {binding.count} descriptors; given is {given}, it must be a list of {binding.count}, "
                "with None for each that there is none of"
            )
        for element, item in enumerate(value):
            self.write_element(target, binding, element, item, f"{what}[{element}]")

    def write_element(self, target: _core.DescriptorSet, binding: Slot, element: int, value: Any, what: str) -> None:
        """One element of a binding."""
        kind = binding.descriptor
        if kind == "input_attachment":
            raise ValidationError(
                f"{what} is an input attachment, which reads the pass's own attachment: bind nothing for it "
                "(dev.pipeline's input_attachments= says which)"
            )
        if value is None and kind != "sampler":
            target.write_null(binding.binding, element)
            return
        if kind in ("uniform_buffer", "storage_buffer"):
            buffer, offset_B, size_B = self._buffer(binding, value, what)
            minimum_B = binding.layout.size_B if binding.layout is not None else 0
            if size_B < minimum_B and not isinstance(value, (Buffer, BufferSlice)):
                raise ValidationError(f"{what} takes {minimum_B} bytes; the given buffer has {size_B}")
            target.write_buffer(binding.binding, element, buffer, offset_B, size_B if size_B else _WHOLE)
            self._tell(binding, element, value if isinstance(value, (Buffer, BufferSlice)) else Contents(size_B), what)
            return
        if kind in ("uniform_texel_buffer", "storage_texel_buffer"):
            target.write_texels(binding.binding, element, self._texels(binding, value, what))
            if isinstance(value, (Buffer, BufferSlice, BufferView)):
                self._tell(binding, element, value, what)
            return
        seen: ImageView | None = None
        view: _core.ImageView | None = None
        sampler: _core.Sampler | None = None
        image: Any = value
        given_sampler: Sampler | None = None
        swizzle: str | None = None
        if isinstance(value, Texture):
            image, given_sampler, swizzle = value.image, value.sampler, value.swizzle
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            image, given_sampler = value
            if isinstance(image, Texture):
                image, swizzle = image.image, image.swizzle
            if not isinstance(given_sampler, Sampler):
                raise ValidationError(
                    f"{what}: the second of the pair is {arguments.shown(given_sampler)}; it must be a sampler (dev.sampler)"
                )
        elif isinstance(value, Sampler):
            image, given_sampler = None, value
        if kind in ("combined_image_sampler", "sampler"):
            if given_sampler is None:
                raise ValidationError(
                    f"{what} is a {kind}; given is {arguments.shown(value)}, it must be "
                    + ("a sampler" if kind == "sampler" else "a texture or (image, sampler)")
                )
            sampler = given_sampler.core
        if kind != "sampler":
            if not isinstance(image, (Image, ImageView)):
                raise ValidationError(
                    f"{what} is a {kind}; given is {arguments.shown(value)}, it must be "
                    + ("a texture or (image, sampler)" if kind == "combined_image_sampler" else "an image or a view")
                )
            swizzle = None if kind == "storage_image" else swizzle
            seen = self._view(binding, image, what, None if given_sampler is None else given_sampler.ycbcr, swizzle)
            view = seen.core
            if kind == "storage_image":
                seen.require_identity(what, "a storage image")
            elif kind == "combined_image_sampler" and given_sampler is not None:
                check_sampling(_compares(binding), seen, given_sampler, what)
        try:
            target.write_image(binding.binding, element, view, sampler)
        except ValidationError as refused:  # the core knows no names
            raise ValidationError(f"{what}: {refused}") from None
        if seen is not None:
            self._tell(binding, element, seen, what, given_sampler)
        elif given_sampler is not None:
            self._tell(binding, element, given_sampler, what)

    def _tell(self, binding: Slot, element: int, thing: Bound, what: str, sampler: Sampler | None = None) -> None:
        """It is bound."""
        if not isinstance(thing, (Sampler, Contents)):
            whole = thing.image if isinstance(thing, ImageView) else thing if isinstance(thing, Buffer) else thing.buffer
            self._device.say_foreign(whole, what)
        self._used(Held(binding.binding, element, binding, thing, sampler, what))

    @staticmethod
    def _view(
        binding: Slot, image: Image | ImageView, what: str, ycbcr: SamplerYcbcrConversion | None, swizzle: str | None
    ) -> ImageView:
        if binding.type is None:
            return image if isinstance(image, ImageView) else image.view(aspect=_read_aspect(image), swizzle=swizzle, ycbcr=ycbcr)
        wanted = enums.name_of("image_view_type", binding.type.dim)
        if isinstance(image, ImageView):
            if image.type != wanted:
                raise ValidationError(
                    f"{what}: the shader reads a {wanted} image, the view is {image.type}; make it with image.view('{wanted}')"
                )
            view = image
        else:
            if not wanted.startswith("cube") and not wanted.startswith(image.type):
                raise ValidationError(
                    f"{what}: the shader reads a {wanted} image, image '{image.label}' is {image.type}; "
                    + (
                        "bind slices of a level: image.view('2d', level=, levels=1, layer=, layers=1)"
                        if image.type == "3d"
                        else f"create it with a size of {wanted[0]} number{'s' if wanted[0] != '1' else ''}, "
                        f"or dev.texture(..., type='{wanted[:2]}') with pixels ({', '.join('DHW'[-int(wanted[0]):])})"
                    )
                )
            if wanted.startswith("cube") and not image.cube:
                raise ValidationError(
                    f"{what}: the shader reads a {wanted} image, image '{image.label}' is none; create it with cube=True"
                )
            if wanted in ("1d", "2d") and image.layers > 1:
                raise ValidationError(
                    f"{what}: the shader reads a {wanted} image, image '{image.label}' has {image.layers} layers; "
                    f"bind image.view('{wanted}', layer=, layers=1)"
                )
            view = image.view(wanted, aspect=_read_aspect(image), swizzle=swizzle, ycbcr=ycbcr)
        aspects = view.image.format_info.aspects if view.image.format_info.is_depth_stencil else ()
        _require_sign(binding, view.numeric, what, aspects)
        multisampled = view.image.samples > 1
        if binding.type.multisampled != multisampled:
            have = f"has {view.image.samples} sample{'s' if multisampled else ''}"
            takes = "a multisampled image (sampler2DMS)" if binding.type.multisampled else "a single-sampled image"
            raise ValidationError(
                f"{what}: the shader reads {takes}, image '{view.image.label}' {have}"
                + ("; resolve it first" if multisampled else "")
            )
        return view

    def _buffer(self, binding: Slot, value: Any, what: str) -> tuple[_core.Buffer, int, int]:
        if isinstance(value, (Buffer, BufferSlice)):
            buffer, offset_B, size_B = (
                (value, 0, value.size) if isinstance(value, Buffer) else (value.buffer, value.offset, value.size)
            )
            require_usage(buffer, binding.descriptor, what)
            if not size_B:
                raise ValidationError(f"{what}: the slice of buffer '{buffer.label}' has 0 bytes; a descriptor has at least 1")
            layout = None if binding.conflict else binding.layout
            if binding.writeonly:
                buffer.forget_rows(offset_B, size_B)
            if layout is not None and (wrong := block_misfit(buffer, layout, what, offset_B, size_B)):
                raise ValidationError(wrong)
            _require_offset(binding, buffer, offset_B, what)
            if offset_B % _VULKANS_OFFSETS_B:
                beyond_vulkan(
                    f"{what}: the slice begins at byte {offset_B} of buffer '{buffer.label}', no multiple of {_VULKANS_OFFSETS_B}",
                    self._device.strict,
                )
            return buffer.core, offset_B, size_B
        if binding.descriptor == "storage_buffer" and not binding.readonly:
            raise ValidationError(
                f"{what} is written by the shaders; given is {type(value).__name__}, it must be a tilegpu.Buffer, "
                "so that the result can be read"
            )
        data = self._bytes(binding, value, what)
        return self._upload(data), 0, len(data)

    def _texels(self, binding: Slot, value: Any, what: str) -> _core.BufferView:
        base = "float" if binding.type is None else binding.type.base
        if isinstance(value, BufferView):
            require_usage(value.buffer, binding.descriptor, what)
            _require_sign(binding, value.format_info.numeric, what)
            if wrong := texel_misfit(value, what):
                raise ValidationError(wrong)
            return value.core
        if isinstance(value, (Buffer, BufferSlice)):
            buffer, offset_B, size_B = (
                (value, 0, None) if isinstance(value, Buffer) else (value.buffer, value.offset, value.size)
            )
            require_usage(buffer, binding.descriptor, what)
            name = _declared_format(binding)
            if name is None:
                numeric = {"float": "sfloat", "int": "sint"}.get(base, "uint")
                raise ValidationError(
                    f"{what} is a {binding.descriptor} without a format; bind buffer.texels(format), such as "
                    f"buffer.texels('r32_{numeric}')"
                )
            view = buffer.texels(name, offset_B, size_B)
            if wrong := texel_misfit(view, what):
                raise ValidationError(wrong)
            return view.core
        if binding.descriptor == "uniform_texel_buffer" and isinstance(value, (np.ndarray, list)):
            array = native(arguments.array(value, f"{what}: what is given"))
            name = _texel_format(array, base)
            if name is not None and array.size:
                format_ = enums.parse_format(name, what).number
                return _core.BufferView(self._upload(array.tobytes()), format_, 0, array.nbytes)
            raise ValidationError(
                f"{what}: an array of dtype {array.dtype} and shape {array.shape} can't be texels of a shader that reads {base}; "
                f"give (N,) or (N, C) with C 1, 2 or 4, of {_TEXEL_KINDS.get(base, base)}, or buffer.texels(format)"
            )
        raise ValidationError(
            f"{what} is a {binding.descriptor}; given is {arguments.shown(value)}, it must be buffer.texels(format)"
        )

    @staticmethod
    def _bytes(binding: Slot, value: Any, what: str) -> bytes:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        if binding.conflict:
            raise ValidationError(
                f"{what}: the stages declare other blocks at this binding: {binding.conflict}; declare one block in both, or give bytes"
            )
        layout = binding.layout
        if isinstance(value, Mapping) and layout is not None:
            return layout.pack(value)
        if isinstance(value, (np.ndarray, np.generic, list, tuple, int, float)) and layout is not None:
            array = arguments.array(value, f"{what}: what is given")
            if array.dtype.names and array.size == 1 and set(array.dtype.names) == set(layout.names):
                one = array.reshape(())
                return layout.pack({n: one[n] for n in array.dtype.names})
            if len(layout.names) == 1:
                return layout.pack({layout.names[0]: value if array.dtype.hasobject else array})
            if isinstance(value, np.ndarray) and not array.dtype.hasobject:
                wrong = matrix_misfit(matrix_rows(array), 0, layout, what) if array.nbytes == layout.size_B else ""
                if wrong := wrong or array_misfit(native(array), layout, what):
                    raise ValidationError(wrong)
            if isinstance(value, np.ndarray) and not array.dtype.hasobject and array.nbytes == layout.size_B:
                return upload_layout(array).tobytes()
            raise ValidationError(
                f"{what}: an array of shape {array.shape} can't fill the block; give a mapping with: {', '.join(layout.names)}"
            )
        must = "a tilegpu.Buffer, bytes, a mapping or an array"
        if layout is None:
            must = "a tilegpu.Buffer or bytes (array.tobytes()), as a layout that is given without shaders knows no members"
        raise ValidationError(f"{what} is a {binding.descriptor}; given is {arguments.shown(value)}, it must be {must}")
