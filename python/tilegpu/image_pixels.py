"""Pixels of images to NumPy, to files and back.

In: an image whose contents are defined; arrays. Out: arrays (views where format and tiling allow), DLPack, files; written texels. The
half of :class:`tilegpu.Image` that is about what it holds.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, dlpack, enums, notebook, picture_file
from tilegpu.buffer import Buffer
from tilegpu.context import check_order, open_here
from tilegpu.errors import UndefinedContentsError, UnusedNameWarning, ValidationError, users_level
from tilegpu.files import output_problem
from tilegpu.texels import (
    as_colors,
    depth_stencil_texels,
    layers_of,
    numbers_of,
    samples_side_by_side,
    say_depth,
    texels_of,
    to_pillow,
)
from tilegpu.whole_file import whole_file

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from tilegpu.context import Context

ASPECT_BITS: dict[str, int] = _core.ENUMS["image_aspect"]


class ImagePixels:
    """What images hold, for the program. :class:`tilegpu.Image` says what it is."""

    core: _core.Image
    size: tuple[int, int]
    format_info: enums.FormatInfo
    samples: int
    mip_levels: int
    layers: int
    depth: int
    type: str
    tiling: str
    label: str
    planes: tuple[Any, ...]
    _device: Context
    create: Any  # :meth:`Image.create`
    _host_reads: int  # how often its pixels went to the program
    _blocks_of: Any
    _whole: Any  # :meth:`Image._whole`

    def _note_host_read(self) -> None:
        """Its pixels go to the program; frames tell by it what is read by nobody."""
        self._host_reads += 1
        if self._blocks_of is not None:
            self._whole()[0]._host_reads += 1

    def plane_of(self, aspect: str | None) -> Any:
        """The image of a plane, where ``aspect`` is one (``"plane_0"`` ...); else this image."""
        if not isinstance(aspect, str) or not aspect.startswith("plane_") or not self.planes:
            return self
        number = {"plane_0": 0, "plane_1": 1, "plane_2": 2}.get(aspect, -1)
        if not 0 <= number < len(self.planes):
            raise ValidationError(
                f"image '{self.label}' of {self.format_info.name} has no {aspect}; it has {len(self.planes)} planes, from plane_0 on"
            )
        return self.planes[number]

    def _aspect(self, aspect: str | None) -> str:
        have = self.format_info.aspects
        if aspect is None:
            return have[0]
        if not isinstance(aspect, str) or aspect not in have:
            raise ValidationError(
                f"image '{self.label}' has format {self.format_info.name} without aspect {arguments.shown(aspect)}; "
                f"it has: {', '.join(have)}"
            )
        return aspect

    def _require_readable(
        self, aspect: str | None, level: int, layer: int, rect: tuple[int, int, int, int] | None = None
    ) -> str:
        """The aspect's name; ``rect``: only of this (x, y, width, height), which the core has to check."""
        name = self._aspect(aspect)
        level = arguments.whole(level, f"image '{self.label}': level")
        layer = arguments.whole(layer, f"image '{self.label}': layer")
        if not 0 <= level < self.mip_levels or not 0 <= layer < self._layer_count(level):
            raise ValidationError(
                f"image '{self.label}': level {level}, layer {layer} does not exist; "
                f"it has {self.mip_levels} levels and {self._layer_count(max(level, 0))} layers"
            )
        if open_here.passes:
            check_order(f"image '{self.label}': read", self, False, aspect=name, levels=(level, level + 1), layers=(layer, layer + 1))
        width, height, _ = self._level_size(level)
        if rect is not None and not (0 <= rect[0] < rect[0] + rect[2] <= width and 0 <= rect[1] < rect[1] + rect[3] <= height):
            return name
        reason = self.core.why_undefined(ASPECT_BITS[name], level, layer, rect)
        if reason:
            never = reason.startswith("nothing was stored")
            fix = "clear it, copy or draw to it before" if never else "give its attachment store_op='store'"
            if self.samples > 1:
                fix += ", or resolve it into a single-sampled image with resolve= and read that"
            where = "" if self.mip_levels == self._layer_count(0) == 1 else f" of level {level}, layer {layer}"
            fixes = "" if "load_op of" in reason else f"; {fix}"  # that says itself what to do
            raise UndefinedContentsError(f"image '{self.label}': its {name} contents{where} are undefined: {reason}{fixes}")
        return name

    def _require_all_readable(
        self,
        aspects: Sequence[str],
        level: int,
        first: int,
        count: int,
        rect: tuple[int, int, int, int] | None = None,
    ) -> None:
        """So many layers or slices."""
        for aspect in aspects:
            for layer in range(first, first + count):
                self._require_readable(aspect, level, layer, rect)

    def _level_size(self, level: int, pos: Sequence[int] = (0, 0, 0)) -> tuple[int, int, int]:
        """Width, height and depth of a level from a position on."""
        level = arguments.whole(level, f"image '{self.label}': level")
        must = "it must be (x, y) in pixels, or (x, y, z) of a 3D image"
        x, y, z = arguments.vector(pos, 0, f"image '{self.label}': position", must)
        if not 0 <= level < self.mip_levels:
            raise ValidationError(f"image '{self.label}': level {level} does not exist; it has {self.mip_levels}")
        depth = max(1, self.depth >> level) - z if self.type == "3d" else 1
        return max(1, self.size[0] >> level) - x, max(1, self.size[1] >> level) - y, depth

    def _layer_count(self, level: int) -> int:
        """Layers, or the slices of a 3D image."""
        return max(1, self.depth >> level) if self.type == "3d" else self.layers

    def say_left_out(self, what: str, level: int = 0) -> None:
        """An :class:`UnusedNameWarning` where ``what`` takes one picture, and the image has more: layers, slices, stencil that is not
        all 0. Smaller levels are made of the first."""
        count, noun = self._layer_count(level), "slices" if self.type == "3d" else "layers"
        if count > 1:
            text = f"image '{self.label}' has {count} {noun}, and the first alone is looked at; give image.numpy(layer=k) for each"
        elif {"depth", "stencil"} <= set(self.format_info.aspects) and self._has_stencil(level):
            text = f"image '{self.label}' has stencil, and depth alone is looked at; give image.numpy(aspect='stencil') too"
        else:
            return
        warnings.warn(f"{what}: {text} (image.numpy() where one is meant)", UnusedNameWarning, stacklevel=users_level())

    def _say_unsaved(self, level: int, aspect: str | None) -> None:
        """The same of what a file of one picture leaves out."""
        count, noun = self._layer_count(level), "slices" if self.type == "3d" else "layers"
        if count > 1:
            text = f"has {count} {noun}, and the first alone is written; give layer=0 to {count - 1} for each (layer=0 where that is meant)"
        elif aspect is None and {"depth", "stencil"} <= set(self.format_info.aspects) and self._has_stencil(level):
            text = "has stencil, and depth alone is written; give aspect='stencil' for another file (aspect='depth' where that is meant)"
        else:
            return
        warnings.warn(f"image '{self.label}': save: it {text}", UnusedNameWarning, stacklevel=users_level())

    def _has_stencil(self, level: int) -> bool:
        known = not self.core.why_undefined(ASPECT_BITS["stencil"], level, 0)
        return known and bool(np.any(self.numpy(level, aspect="stencil")))

    def _linear_copy(self, level: int, layer: int, aspect: str) -> _core.Image:
        width, height, _ = self._level_size(level)
        copy = type(self).create(
            self._device, (width, height), self.format_info.name, samples=self.samples, label=f"copy of {self.label}"
        )
        self.core.copy_level(copy.core, ASPECT_BITS[aspect], level, layer)  # the host's, whatever the usage is
        return copy.core

    def numpy(self, level: int = 0, layer: int = 0, aspect: str | None = None) -> NDArray[Any]:
        """Copy of one level of one layer: shape (H, W, C), with more than one sample (H, W, samples, C).

        Components of 8, 16 or 32 bits keep their bits: ``*_unorm`` and ``*_srgb`` are unsigned integers (sRGB stays
        encoded), ``*_sfloat``
        floats. Packed formats become float32 (or 32-bit integers where they hold integers). Order is R, G, B, A
        whatever the memory order. Compressed formats become float32, as shaders read them (``*_srgb``: linear).
        Packed 4:2:2 is (H, W / 2, 4) words as they lie in memory; of a multi-planar image ``aspect`` is ``"plane_0"`` to ``"plane_2"``.
        Depth is float32 and stencil uint8, with C = 1; ``aspect`` is ``"depth"`` (default) or ``"stencil"``.

        Raises :class:`UndefinedContentsError` for a level and layer that was never stored.
        """
        if aspect is None and type(level) is type(layer) is int and level == layer == 0 and not open_here.passes:
            own = _core.dict_of(self)
            plain: NDArray[Any] | None = own["core"].read_plain()
            if plain is not None:
                own["_host_reads"] += 1
                if own["_blocks_of"] is not None:
                    self._whole()[0]._host_reads += 1
                return plain
        if (plane := self.plane_of(aspect)) is not self:
            return plane.numpy(level, layer)
        name = self._require_readable(aspect, level, layer)
        self._require_pixels()
        self._note_host_read()
        source = self.core if self.tiling == "linear" else self._linear_copy(level, layer, name)
        if source is not self.core:
            level = layer = 0
        return source.read(ASPECT_BITS[name], int(level), int(layer))

    def _require_pixels(self) -> None:
        if self.planes:
            formats = ", ".join(f"planes[{k}] of {p.format}" for k, p in enumerate(self.planes))
            raise ValidationError(f"image '{self.label}' of {self.format_info.name} has no pixels of its own; read its planes: {formats}")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Level 0, layer 0 as :meth:`numpy` has it: a read-only view where format and tiling allow it, else a copy.

        ``copy=False`` raises :class:`ValidationError` where only a copy can be had.
        """
        name = self._require_readable(None, 0, 0)
        self._require_pixels()
        self.say_left_out("np.asarray has one picture")
        view = None if self.samples > 1 else self.core.view(ASPECT_BITS[name], 0, 0)
        what = f"np.asarray: image '{self.label}'"
        wanted = None if dtype is None else arguments.dtype(dtype, what)
        converts = view is not None and wanted is not None and wanted != view.dtype
        if copy is False and (view is None or converts):
            why = (
                f"is {view.dtype}, not {wanted}"
                if view is not None
                else f"has {self.samples} samples"
                if self.samples > 1
                else f"has tiling {self.tiling}"
                if self.tiling != "linear"
                else f"has format {self.format_info.name}"
            )
            raise ValidationError(f"{what} {why}; that needs a copy: leave copy=False out")
        if view is None:
            array = self.numpy()
            return array if wanted is None else arguments.converted(array, wanted, what)
        self._note_host_read()
        return arguments.converted(view, wanted, what) if converts else view.copy() if copy else view

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU's memory."""
        return dlpack.CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Level 0, layer 0 for ``torch.from_dlpack(image)`` and others, as :meth:`__array__` has it.

        A view where the consumer says that it knows read-only memory (DLPack 1.0), else a copy.
        """
        dlpack.require_cpu(stream, dl_device, f"image '{self.label}'")
        array = self.__array__(copy=copy)
        if not array.flags.writeable and (max_version is None or max_version < (1, 0)):
            if copy is False:
                raise BufferError(f"image '{self.label}' is read-only, which DLPack before 1.0 can't say; leave copy=False out")
            array = array.copy()
        return dlpack.capsule(array, max_version)

    def write(
        self, pixels: Any, *, pos: Sequence[int] = (0, 0), level: int = 0, layer: int = 0, aspect: str | None = None
    ) -> None:
        """Writes pixels: an array, a path or a Pillow image, converted as :meth:`tilegpu.Device.texture` does.

        ``pixels``: (H, W), (H, W, C) or (L, H, W, C) for L layers or slices from ``layer`` on; of a 3D image (L, H, W) too, where W is
        more than 4. Integers of the format's width are
        stored as they are, floats are converted (linear light for ``*_srgb``). Depth takes floats from 0 to 1 (or the
        format's own integers), stencil integers from 0 to 255; ``aspect`` says which where a format has both. ``pos``: (x, y) in
        pixels of the level where the upper left pixel goes. Nothing outside of it changes.

        Raises :class:`ValidationError` for pixels that don't fit, and for formats that only :meth:`tilegpu.Device.copy` can fill.
        """
        if (plane := self.plane_of(aspect)) is not self:
            plane.write(pixels, pos=pos, level=level, layer=layer)
            return
        self._require_pixels()
        what = f"image '{self.label}': write"
        if self.samples > 1:
            raise ValidationError(f"{what}: it has {self.samples} samples; draw to it, or clear it")
        name = self._aspect(aspect)
        level = arguments.count(level, f"{what}: level")
        layer = arguments.count(layer, f"{what}: layer")
        x, y, _ = arguments.vector(pos, 0, f"{what}: pos", "it must be (x, y) in pixels")
        volume = self.type == "3d"
        pixels, grey = numbers_of(pixels, what)
        array = layers_of(pixels, what, "slices" if volume else "2d")
        array = as_colors(array, self.format_info) if grey and name == "color" else array
        count, height, width = array.shape[:3]
        if not level < self.mip_levels:
            raise ValidationError(f"{what}: level is {level}; it has {self.mip_levels}")
        level_width, level_height, _ = self._level_size(level)
        if x < 0 or y < 0 or x + width > level_width or y + height > level_height or layer + count > self._layer_count(level):
            raise ValidationError(
                f"{what}: pixels have shape {array.shape} and go to ({x}, {y}), layer {layer}; level {level} has "
                f"{level_width}x{level_height} pixels and {self._layer_count(level)} layer(s)"
            )
        texels = [
            texels_of(part, self.format_info, what) if name == "color" else depth_stencil_texels(part, self.format_info, name, what)
            for part in array
        ]
        if name == "depth" and self.format_info.depth_bits == 32:
            say_depth(self.label, np.concatenate(texels).view(np.float32), what, self._device.strict)
        check_order(what, self, True, aspect=name, levels=(level, level + 1), layers=(layer, layer + count))
        source = Buffer.create(np.concatenate(texels), None, f"pixels of {self.label}")
        part = (ASPECT_BITS[name], level, 0 if volume else layer, 1 if volume else count)
        region = (0, 0, 0, part, (x, y, layer if volume else 0), (width, height, count if volume else 1))
        self._device._run(lambda cb: cb.copy_buffer_to_image(source.core, self.core, [region]))
        if (frame := self._device._frame) is not None:
            frame.host_wrote(self)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        aspect: str | None = None,
        sample: int | None = None,
        level: int = 0,
        layer: int | None = None,
        quality: int | None = None,
    ) -> None:
        """Writes a picture, in the format of the suffix; ``.npy``: the array of :meth:`numpy`.

        ``layer``: of several, and of cubes (faces +x, -x, +y, -y, +z, -z), or the slice of a 3D image. Where it is not given, the first is
        written, and a :class:`tilegpu.UnusedNameWarning` says how many are not; of depth and stencil it says so of stencil (``aspect``).
        ``.exr`` keeps floats as they are (float16, float32; depth as channel Z; uint32), with the package OpenEXR (``tilegpu[exr]``).
        All others have 8 bits: floats are clamped to 0..1, 16-bit values rounded; integers (of ``uint`` and ``sint`` formats) are kept,
        and beyond 0..255 an error; depth is grey, 1 white. ``.png``, ``.webp``, ``.tga``, ``.tif``, ``.bmp``, ``.ppm`` are lossless,
        ``.jpg`` and ``.gif`` (256 colours) are not. The last four have no alpha: the colours are written as they are. ``quality``: 1 to
        100, of ``.jpg`` (default 95), and of ``.webp``, which it makes lossy. An image with more than one sample needs ``sample=`` (or
        ``.npy``, which takes all).

        Raises :class:`tilegpu.ValidationError` for a suffix or a format that does not fit, and names those that do;
        :class:`tilegpu.WriteError` where the disk is full or the like: then the file that was there is as it was.
        """
        suffix = picture_file.suffix_of(path, f"image '{self.label}'")
        target = os.fspath(path)
        picture_file.check_quality(quality, suffix, f"image '{self.label}'")
        if problem := output_problem(target):
            raise ValidationError(f"image '{self.label}': can't save to {arguments.shown(target)}: {problem}")
        left_out = layer is None
        layer = 0 if layer is None else layer
        name = self._require_readable(aspect, level, layer)
        if left_out:
            self._say_unsaved(level, aspect)
        if sample is not None and not 0 <= arguments.whole(sample, f"image '{self.label}': sample") < self.samples:
            raise ValidationError(f"image '{self.label}': sample is {sample}; it has samples 0 to {self.samples - 1}")
        who = f"image '{self.label}'"
        if suffix == ".npy":
            array = self.numpy(level, layer, name)
            with whole_file(target, who) as stream:
                np.save(stream, array[:, :, sample] if sample is not None and self.samples > 1 else array)
            return
        self._require_one_sample(sample)
        if suffix == ".exr":
            array = self.numpy(level, layer, name)
            one = array[:, :, sample] if self.samples > 1 else array
            with whole_file(target, who) as stream:
                picture_file.save_exr(one, stream.path, f"{who} of {self.format_info.name}", depth=name == "depth")
            return
        if self.format_info.is_integer:
            picture_file.check_integers(self.numpy(level, layer, name), suffix, f"{who} of {self.format_info.name}")
        if name == "depth" or self.format_info.numeric in ("sfloat", "ufloat"):
            picture_file.say_clamped(self.numpy(level, layer, name), suffix, f"{who} of {self.format_info.name}")
        elif self.format_info.numeric == "snorm":
            values = self.numpy(level, layer, name)
            scale = np.iinfo(values.dtype).max if values.dtype.kind == "i" else 1
            picture_file.say_clamped(values, suffix, f"{who} of {self.format_info.name}", scale)
        picture = self._pillow(name, sample, level, layer)
        with whole_file(target, who) as stream:
            picture_file.save_picture(picture, stream, suffix, who, quality)

    def _require_one_sample(self, sample: int | None) -> None:
        """Of a picture; and pixels at all."""
        self._require_pixels()
        if self.format_info.needs_conversion:
            raise ValidationError(
                f"image '{self.label}' of {self.format_info.name} is no picture; draw it with a conversion, or save as .npy"
            )
        if self.samples > 1 and sample is None:
            raise ValidationError(
                f"image '{self.label}' has {self.samples} samples; resolve it (resolve= of its attachment), "
                f"or save one with sample=0 to {self.samples - 1}, or all as .npy"
            )

    def _pillow(self, aspect: str, sample: int | None, level: int, layer: int) -> Any:
        self._require_one_sample(sample)
        array = self.numpy(level, layer, aspect)
        if self.samples > 1:
            array = array[:, :, sample]
        return to_pillow(array, self.format_info)

    def _repr_png_(self) -> bytes | None:
        """Level 0 of layer 0; of several samples all, beside and below each other. ``None`` where nothing is stored, or is no picture."""
        if self.planes or self.format_info.needs_conversion or self.core.why_undefined(ASPECT_BITS[self._aspect(None)], 0, 0):
            return None
        import io

        stream = io.BytesIO()
        if self.samples > 1:
            to_pillow(samples_side_by_side(self.numpy()), self.format_info).save(stream, format="PNG")
        else:
            self._pillow(self._aspect(None), None, 0, 0).save(stream, format="PNG")
        return stream.getvalue()

    def _repr_html_(self) -> str | None:
        """Says of several samples, layers or slices what the picture is; others are their PNG."""
        count, noun = self._layer_count(0), "slice" if self.type == "3d" else "layer"
        png = self._repr_png_() if self.samples > 1 or count > 1 else None
        if png is None:
            return None
        what = f"its {self.samples} samples, from left to right, then down" if self.samples > 1 else ""
        only = f"{noun} 0 of {count}" if count > 1 else ""
        return notebook.picture(png, f"{self.label}: {', '.join(filter(None, (only, what)))}")
