"""``bind=`` of a draw to descriptor sets: names to (set, binding), values to descriptors, equal arguments to one set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tilegpu import _core, arguments, enums
from tilegpu.arena import Arena
from tilegpu.buffer import Buffer, BufferSlice, native, require_usage
from tilegpu.errors import ValidationError, candidates
from tilegpu.image import Image, ImageView, Texture
from tilegpu.interface import Binding
from tilegpu.pipeline import Pipeline
from tilegpu.sampler import Sampler

_WHOLE = 0xFFFFFFFFFFFFFFFF
_STABLE = (Buffer, BufferSlice, Texture, Image, ImageView, Sampler, type(None))


class DescriptorBinder:
    """Keeps the sets of one pass: draws that bind the same objects share them."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._sets: dict[Any, list[tuple[int, _core.DescriptorSet]]] = {}
        self._bound: dict[int, _core.DescriptorSet] = {}
        self._keep: list[Any] = []
        #: What the shaders may read though nobody wrote it, a line each: lint() says so.
        self.undefined: dict[str, None] = {}

    def clear(self) -> None:
        """Forgets everything."""
        self._sets.clear()
        self._bound.clear()
        self._keep.clear()

    def bind(
        self, commands: _core.CommandBuffer, pipeline: Pipeline, bind: Mapping[Any, Any] | None, what: str
    ) -> None:
        """Binds what the pipeline needs; raises for unknown and missing names."""
        if bind is not None and not isinstance(bind, Mapping):
            raise ValidationError(
                f"{what}, {pipeline.title}: bind is {arguments.shown(bind)}; it must be a mapping by name or (set, binding)"
            )
        if not bind:
            if pipeline.interface.bindings:
                self._require_all(pipeline, (), what)
            return
        key = self._key(pipeline, bind)
        sets = self._sets.get(key) if key is not None else None
        if sets is None:
            sets = self._make(pipeline, bind, what)
            if key is not None:
                self._sets[key] = sets
                self._keep.append((pipeline, list(bind.values())))
        for number, descriptors in sets:
            if self._bound.get(number) is not descriptors:
                commands.bind_descriptor_set(number, descriptors)
                self._bound[number] = descriptors

    @staticmethod
    def _key(pipeline: Pipeline, bind: Mapping[Any, Any]) -> Any:
        """Equal keys bind equal descriptors; None where a value's contents are copied at the draw."""
        parts: list[Any] = [id(pipeline)]
        for name, value in bind.items():
            if isinstance(value, _STABLE):
                parts.append((name, id(value)))
            elif isinstance(value, (tuple, list)) and all(isinstance(v, _STABLE) for v in value):
                parts.append((name, type(value), tuple(map(id, value))))
            else:
                return None
        return tuple(parts)

    @staticmethod
    def _require_all(pipeline: Pipeline, given: Any, what: str) -> None:
        missing = [
            b
            for key, b in pipeline.interface.bindings.items()
            if b.used and key not in given and b.descriptor != "input_attachment"
        ]
        if missing:
            raise ValidationError(
                f"{what}, {pipeline.title}: bind= lacks {', '.join(f'{b.title}, a {b.descriptor}' for b in missing)}"
            )

    def _make(self, pipeline: Pipeline, bind: Mapping[Any, Any], what: str) -> list[tuple[int, _core.DescriptorSet]]:
        interface = pipeline.interface
        values: dict[tuple[int, int], Any] = {}
        for name, value in bind.items():
            if isinstance(name, tuple):
                whole = len(name) == 2 and all(isinstance(part, (int, np.integer)) for part in name)
                binding = interface.bindings.get((int(name[0]), int(name[1]))) if whole else None
            else:
                binding = interface.names.get(name)
            if binding is None:
                raise ValidationError(
                    f"{what}, {pipeline.title}: the shaders have no binding "
                    f"{arguments.shown(name)}{candidates(name, interface.candidates())}"
                )
            slot = (binding.set, binding.binding)
            if slot in values:
                raise ValidationError(f"{what}, {pipeline.title}: {binding.title} is bound twice")
            values[slot] = value
        self._require_all(pipeline, values, what)
        sets: dict[int, _core.DescriptorSet] = {}
        for slot, value in values.items():
            binding = interface.bindings[slot]
            if not binding.used:
                pipeline.warn_unused(binding.name, f"the shaders do not use {binding.title}")
                continue
            layout = pipeline.set_layouts[binding.set]
            assert layout is not None
            target = sets.get(binding.set)
            if target is None:
                target = sets[binding.set] = self._arena.descriptor_set(layout)
            self._warn_short(pipeline, binding, value)
            self._write(target, binding, value, f"{what}, {pipeline.title}: {binding.title}")
        return list(sets.items())

    @staticmethod
    def _warn_short(pipeline: Pipeline, binding: Binding, value: Any) -> None:
        """Vulkan lets a buffer end before its block does, where nothing behind the end is read."""
        for given in value if isinstance(value, (list, tuple)) else (value,):
            if binding.layout is not None and isinstance(given, (Buffer, BufferSlice)) and given.size < binding.layout.end_B:
                sizes = f"{binding.title} has {binding.layout.end_B} bytes, buffer of {given.size} bytes is bound"
                pipeline.warn_short(binding.name, f"{sizes}; what the shader reads beyond is clamped")

    def _write(self, target: _core.DescriptorSet, binding: Binding, value: Any, what: str) -> None:
        if binding.count == 1:
            self._write_element(target, binding, 0, value, what)
            return
        if not isinstance(value, (list, tuple)) or len(value) != binding.count:
            given = f"{len(value)} values" if isinstance(value, (list, tuple)) else arguments.shown(value)
            raise ValidationError(
                f"{what} is an array of {binding.count} descriptors; given is {given}, it must be a list of {binding.count}, "
                "with None for each that there is none of"
            )
        for element, item in enumerate(value):
            self._write_element(target, binding, element, item, f"{what}[{element}]")

    def _write_element(
        self, target: _core.DescriptorSet, binding: Binding, element: int, value: Any, what: str
    ) -> None:
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
            return
        view: _core.ImageView | None = None
        sampler: _core.Sampler | None = None
        image: Any = value
        given_sampler: Sampler | None = None
        if isinstance(value, Texture):
            image, given_sampler = value.image, value.sampler
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            image, given_sampler = value
            if isinstance(image, Texture):
                image = image.image
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
            seen = self._view(binding, image, what)
            view = seen.core
            if reason := seen.why_undefined():
                note = f"the contents of image '{seen.image.label}' are undefined: {reason}"
                self.undefined[f"{what} may be read, but {note}"] = None
        target.write_image(binding.binding, element, view, sampler)

    @staticmethod
    def _view(binding: Binding, image: Image | ImageView, what: str) -> ImageView:
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
                        f"or dev.texture(..., type='{wanted[:2]}')"
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
            view = image.view(
                wanted, aspect=image.format_info.aspects[0] if image.format_info.is_depth_stencil else None
            )
        multisampled = view.image.samples > 1
        if binding.type.multisampled != multisampled:
            have = f"has {view.image.samples} sample{'s' if multisampled else ''}"
            takes = "a multisampled image (sampler2DMS)" if binding.type.multisampled else "a single-sampled image"
            raise ValidationError(
                f"{what}: the shader reads {takes}, image '{view.image.label}' {have}"
                + ("; resolve it first" if multisampled else "")
            )
        return view

    def _buffer(self, binding: Binding, value: Any, what: str) -> tuple[_core.Buffer, int, int]:
        if isinstance(value, (Buffer, BufferSlice)):
            buffer, offset_B, size_B = (
                (value, 0, value.size) if isinstance(value, Buffer) else (value.buffer, value.offset, value.size)
            )
            require_usage(buffer, binding.descriptor, what)
            return buffer.core, offset_B, size_B
        if binding.descriptor == "storage_buffer" and not binding.readonly:
            raise ValidationError(
                f"{what} is written by the shaders; given is {type(value).__name__}, it must be a tilegpu.Buffer, "
                "so that the result can be read"
            )
        data = self._bytes(binding, value, what)
        return self._arena.upload(data), 0, len(data)

    @staticmethod
    def _bytes(binding: Binding, value: Any, what: str) -> bytes:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        layout = binding.layout
        if isinstance(value, Mapping) and layout is not None:
            return layout.pack(value)
        if isinstance(value, (np.ndarray, np.generic, list, tuple, int, float)) and layout is not None:
            array = arguments.array(value, f"{what}: what is given")
            if array.dtype.names and array.ndim == 0 and set(array.dtype.names) == set(layout.names):
                return layout.pack({n: array[n] for n in array.dtype.names})
            if len(layout.names) == 1:
                return layout.pack({layout.names[0]: value if array.dtype.hasobject else array})
            if isinstance(value, np.ndarray) and not array.dtype.hasobject and array.nbytes == layout.size_B:
                return native(array).tobytes()
            raise ValidationError(
                f"{what}: an array of shape {array.shape} can't fill the block; give a mapping with: {', '.join(layout.names)}"
            )
        raise ValidationError(
            f"{what} is a {binding.descriptor}; given is {arguments.shown(value)}, "
            "it must be a tilegpu.Buffer, bytes, a mapping or an array"
        )
