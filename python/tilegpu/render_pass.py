"""Render passes: attachments, draws, queries. Leaving the ``with`` block submits and waits; an exception inside discards the pass."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import _core, arguments, enums
from tilegpu.attachment import Attachment, built_before, rect_of
from tilegpu.buffer import Buffer
from tilegpu.context import Context, open_here
from tilegpu.descriptor_writer import uses_of_descriptor
from tilegpu.draw_arguments import DrawArguments
from tilegpu.errors import PACKAGE, LostPrimitivesWarning, OrderWarning, Place, ValidationError, users_level
from tilegpu.fixed import makes_things
from tilegpu.framebuffer import MAX_LAYERS, Framebuffer
from tilegpu.hsr import parse as parse_hsr
from tilegpu.image import Image, ImageView, Texture, image_of
from tilegpu.pass_commands import PassCommands
from tilegpu.pass_results import PassResults, dict_of
from tilegpu.secondary import SecondaryCommandBuffer
from tilegpu.shading_rate import ShadingRate
from tilegpu.uses import Use, Uses, use_of_buffer, use_of_view
from tilegpu.with_block import WithBlock

#: What the core says of a secondary command buffer that does not fit; it knows no names.
_OTHER_FORMATS = "its inheritance info has other formats or samples than the pass"

if TYPE_CHECKING:
    from tilegpu.enums import FormatInfo

#: Names of colour attachments.
_COLORS = tuple(f"color{i}" for i in range(_core.MAX_COLOR_ATTACHMENTS))


@makes_things
class RenderPass(PassCommands, PassResults, WithBlock):
    """A pass that is recorded in a ``with`` block. Made by :meth:`tilegpu.Device.render_pass`; see there."""

    _example = "with dev.render_pass(...) as rp:"

    def __init__(
        self,
        device: Context,
        color: Any,
        depth: Any,
        stencil: Any,
        area: Sequence[int] | None,
        layers: int,
        samples: int,
        label: str,
        hsr: str | Iterable[str] | None = None,
        trace: bool | str | Sequence[Any] = False,
        view_mask: int = 0,
        window: Sequence[int] | None = None,
        framebuffer: Framebuffer | None = None,
        shading_rate: Any = None,
    ) -> None:
        if not (type(label) is str and label.isascii() and "'" not in label):
            label = arguments.text(label, "pass: label")
        PassResults.__init__(self, device, label, trace)
        color = (color,) if type(color) is Attachment else color
        plain = framebuffer is area is window is stencil is hsr is shading_rate is None and type(color) in (list, tuple)
        if plain and type(layers) is type(samples) is type(view_mask) is int and layers == 1 and samples == view_mask == 0:
            plain = len(color) <= _core.MAX_COLOR_ATTACHMENTS and (depth is None or type(depth) is Attachment)
        else:
            plain = False
        own = dict_of(self)
        own["_blocks"], own["_statistics"], own["_bound"], own["_watched"] = [], [], [], {}
        if plain:
            own["_color"] = [a if type(a) is Attachment else self._attachment(a, f"color[{i}]") for i, a in enumerate(color)]
            own["_depth"] = depth
        else:
            self._take(color, depth, stencil, area, layers, samples, hsr, view_mask, window, framebuffer)
            self._shading_rate = None if shading_rate is None else ShadingRate(self._what, shading_rate, self._layers)
        own["_made_line"] = _core.users_line(PACKAGE)  # as _made(); last: what could not be made was told

    # What a pass is that says nothing else.
    _plain = True
    _stencil: Attachment | None = None
    _framebuffer: Framebuffer | None = None
    _area: Sequence[int] = (0, 0, 0, 0)
    _layers = 1
    _samples = 0
    _view_mask = 0
    _shading_rate: ShadingRate | None = None
    _bound: list[tuple[str, Attachment, ImageView, Any, Any, Any]]  # name, attachment, and what it said at the begin
    _draws_use: Sequence[Any] = ()  # what makes what its draws read and write
    _watched: dict[int, tuple[Buffer, str, Place, bytes]]  # buffers of which a view was asked for, as they were then
    _within: Any = None  # the frame that was open when the pass was entered
    _open_with: Any = None  # the open passes of the thread that entered it, and this one among them
    _color: list[Attachment | None]
    _depth: Attachment | None

    def _take(
        self,
        color: Any,
        depth: Any,
        stencil: Any,
        area: Sequence[int] | None,
        layers: int,
        samples: int,
        hsr: str | Iterable[str] | None,
        view_mask: int,
        window: Sequence[int] | None,
        framebuffer: Framebuffer | None,
    ) -> None:
        """What is said of a pass, looked at."""
        self._plain = False
        self._framebuffer = framebuffer
        if framebuffer is not None:
            if not isinstance(framebuffer, Framebuffer):
                raise ValidationError(f"{self._what}: framebuffer is {arguments.shown(framebuffer)}; it must be what dev.framebuffer made")
            for name, given in (("color", color), ("depth", depth), ("stencil", stencil), ("area", area), ("window", window)):
                if given is not None and given != ():
                    raise ValidationError(f"{self._what}: {name} is given beside framebuffer; its layout and pieces say it")
            if layers != 1 or samples or view_mask:
                raise ValidationError(f"{self._what}: layers, samples or view_mask are given beside framebuffer; its layout says them")
            layout = framebuffer.layout
            area, layers, view_mask = layout.area, layout.layers, layout.view_mask
        if color is None:
            color = ()
        elif isinstance(color, (Attachment, Image, ImageView, Texture)):
            color = (color,)
        color = arguments.sequence(color, f"{self._what}: color", "it must be attachments or images")
        if len(color) > _core.MAX_COLOR_ATTACHMENTS:
            raise ValidationError(
                f"{self._what}: color has {len(color)} attachments; at most {_core.MAX_COLOR_ATTACHMENTS} are allowed"
            )
        self._color = [self._attachment(a, f"color[{i}]") for i, a in enumerate(color)]
        self._depth = self._attachment(depth, "depth")
        self._stencil = self._attachment(stencil, "stencil")
        self._area = [0, 0, 0, 0] if area is None else rect_of(area, f"{self._what}: area")
        if area is not None and not (self._area[2] and self._area[3]):
            raise ValidationError(
                f"{self._what}: area is {tuple(area)!r}; width and height must be at least 1 (None for the whole)"
            )
        self._window = None if window is None else self._window_of(window)
        layers = arguments.whole(layers, f"{self._what}: layers")
        if not 1 <= layers <= MAX_LAYERS:
            raise ValidationError(f"{self._what}: layers is {layers}; it must be 1 to {MAX_LAYERS}, as of images")
        if not isinstance(samples, (int, np.integer)) or samples not in (0, 2, 4, 8, 16):
            raise ValidationError(
                f"{self._what}: samples is {arguments.shown(samples)}; "
                "it must be 2, 4, 8 or 16 (multisampled rendering to single-sampled images), or 0"
            )
        self._view_mask = arguments.view_mask(view_mask, f"{self._what}: view_mask")
        if self._view_mask and layers != 1:
            raise ValidationError(f"{self._what}: layers is {layers} beside view_mask; the views are the layers, leave one of them out")
        self._views = max(1, self._view_mask.bit_count())
        self._layers, self._samples = max(layers, self._view_mask.bit_length()), samples
        self._hsr = None if hsr is None else parse_hsr(hsr, self._device.profile, self._what)

    def __del__(self) -> None:
        """Who drops an open pass has given it up; what it drew, or was to draw, is lost."""
        own = dict_of(self)
        if own.get("_was_entered") and own.get("_draws") is None:
            return
        if self._draws is not None and not sys.is_finalizing() and self._made_at is not None:
            self._made_at.warn(
                f"{self._what} was dropped while it was open: what it recorded is lost; leave its with block, or call __exit__",
                LostPrimitivesWarning,
            )
        self.say_never_entered(getattr(self, "_what", "a pass"), "draws nothing")

    def _window_of(self, value: Sequence[int]) -> tuple[int, int, int, int]:
        most = _core.MAX_FRAMEBUFFER_SIZE_PX
        must = f"it must be (x, y, width, height): where in a picture of up to {most} px each way the attachments lie"
        x, y, width, height = arguments.wholes(value, f"{self._what}: window", 4, must)
        if not (1 <= width <= most and 1 <= height <= most and 0 <= x < width and 0 <= y < height) or x % 64 or y % 64:
            raise ValidationError(f"{self._what}: window is {arguments.shown(value)}; {must}, x and y multiples of 64")
        return x, y, width, height

    def _attachment(self, value: Any, name: str) -> Attachment | None:
        if value is None or isinstance(value, Attachment):
            return value
        if isinstance(value, (Image, ImageView, Texture)):
            return Attachment(value)
        raise ValidationError(
            f"{self._what}: {name} is {arguments.shown(value)}; it must be a tilegpu.Attachment, an image, a view or None"
        )

    # -- the with block

    def __enter__(self) -> RenderPass:
        own = dict_of(self)  # asked by itself wherever every pass comes by: to find an attribute of it takes ten times as long
        own["_was_entered"] = True
        if own.get("_draws") is not None or own.get("_submission") is not None:
            raise ValidationError(f"{self._what} was entered before; make a new one with dev.render_pass")
        if own.get("_plain", True) and (begun := RenderPass._begin_plain(self, own)) is not None:
            return begun
        commands = _core.CommandBuffer(self._device.core)
        commands.begin()
        if self._framebuffer is not None:
            return self._enter_framebuffer(commands, self._framebuffer)
        cores: list[_core.RenderingAttachment] = []
        views: list[ImageView | None] = []
        for number, attachment in enumerate(self._color):
            core, view = (
                (_core.RenderingAttachment(), None)
                if attachment is None
                else attachment.build("color", self._layers, f"{self._what}: color[{number}]")
            )
            cores.append(core)
            views.append(view)
        none = _core.RenderingAttachment()
        depth, depth_view = (
            (none, None) if self._depth is None else self._depth.build("depth", self._layers, f"{self._what}: depth")
        )
        stencil, stencil_view = (
            (none, None)
            if self._stencil is None
            else self._stencil.build("stencil", self._layers, f"{self._what}: stencil")
        )
        present = [v for v in [*views, depth_view, stencil_view] if v is not None]
        if not present and (not any(self._area) or self._window is not None):
            raise ValidationError(
                f"{self._what} has no attachment; give color=[...] or depth=, or for shaders that write buffers and images alone "
                "area=(0, 0, width, height)" + (" without window=" if self._window is not None else "")
            )
        names = [*(f"color{i}" for i in range(len(views))), "depth", "stencil"]
        given = [*self._color, self._depth, self._stencil]
        self._bound = [
            (name, a, view, a.load_op, a.store_op, a.resolve)
            for name, a, view in zip(names, given, [*views, depth_view, stencil_view], strict=True)
            if a is not None and view is not None
        ]
        self._look_at_attachments()
        self._size = (
            min((max(1, v.image.width >> v.level) for v in present), default=self._area[0] + self._area[2]),
            min((max(1, v.image.height >> v.level) for v in present), default=self._area[1] + self._area[3]),
        )
        self._held = self._size
        if self._window is not None:
            self._size = self._window[2:]
        for x, y in self._trace_pixels:
            if x >= self._size[0] or y >= self._size[1]:
                raise ValidationError(
                    f"{self._what}: trace has pixel ({x}, {y}); the framebuffer is {self._size[0]} x {self._size[1]} px"
                )
        self._trace_for_others()
        commands.begin_rendering(
            cores, depth, stencil, self._area, self._layers, self._samples, self.label, self._hsr, self._trace, 0, self._view_mask,
            self._window[:2] if self._window else (0, 0), self._window[2:] if self._window else (0, 0), **self._rates_begin(),
        )  # fmt: skip
        return self._entered(commands, views)

    def _begin_plain(self, own: dict[str, Any]) -> RenderPass | None:
        """Where all attachments were built before as they are now, and nothing is loaded: nothing is left to look at. Else ``None``."""
        bound: list[tuple[str, Attachment, ImageView, Any, Any, Any]] = []
        cores: list[_core.RenderingAttachment] = []
        device, size, depth = own["_device"], None, None
        for number, attachment in enumerate(own["_color"]):
            built = None if attachment is None else built_before(attachment, "color", device)
            if attachment is None or built is None or (size is not None and built.size != size):
                return None
            size = built.size
            cores.append(built.core)
            bound.append((_COLORS[number], attachment, built.view.of(attachment.image), built.load_op, built.store_op, None))
        if (attachment := own["_depth"]) is not None:
            built = built_before(attachment, "depth", device)
            if built is None or (size is not None and built.size != size):
                return None
            size, depth = built.size, built.core
            bound.append(("depth", attachment, built.view.of(attachment.image), built.load_op, built.store_op, None))
        if size is None or own["_trace_pixels"]:
            return None
        own["_bound"], own["_size"], own["_held"] = bound, size, size
        of_device = dict_of(device)
        if of_device["default_trace"] is not False or of_device["_frame"] is not None:
            self._trace_for_others()
        plain = _core.PlainDraws.begin(device, of_device["core"], cores, depth, own["label"], own.get("_trace", False), size)
        RenderPass._open_draws(self, own, plain, [one[2].view_info for one in (bound if depth is None else bound[:-1])])
        return self

    def _enter_framebuffer(self, commands: _core.CommandBuffer, framebuffer: Framebuffer) -> RenderPass:
        """With the pieces of a framebuffer of the user's own."""
        self._bound = [
            (t.name, Attachment(t.view, load_op="dont_care", store_op="dont_care"), t.view, "dont_care", "dont_care", None)
            for t in framebuffer.targets
        ]
        self._undefined += framebuffer.undefined()
        self._size = self._held = framebuffer.layout.size
        self._trace_for_others()
        colors, depth, stencil = framebuffer.attachments()
        commands.begin_rendering(
            colors, depth, stencil, self._area, self._layers, 0, self.label, self._hsr, self._trace, 0, self._view_mask,
            desc=framebuffer.desc.core(), **self._rates_begin(),
        )  # fmt: skip
        views = {t.name: t.view for t in framebuffer.targets}
        return self._entered(commands, [views.get(f"color{i}") for i in range(framebuffer.layout.colors)])

    def _entered(self, commands: _core.CommandBuffer, views: Sequence[ImageView | None]) -> RenderPass:
        for name, _, view, _, _, resolve in self._bound if self._framebuffer is None else ():  # which said it when it was made
            self._device.say_foreign(view.image, f"{self._what}: {name}")
            if resolve is not None:
                self._device.say_foreign(image_of(resolve), f"{self._what}: {name}'s resolve")
        plain = _core.PlainDraws(commands, self._device, self._device.core, self._size)
        if not self._view_mask:
            plain.open()
        self._open_draws(vars(self), plain, [None if v is None else v.view_info for v in views])
        return self

    def _open_draws(self, own: dict[str, Any], plain: _core.PlainDraws, formats: Sequence[FormatInfo | None]) -> None:
        """The pass is open, and takes draws."""
        device = own["_device"]
        draws = DrawArguments(device, own["_what"], own["_size"], plain=plain)
        if own.get("_view_mask"):
            draws.views = True
        place, passes, within = weakref.ref(self), open_here.passes, dict_of(device)["_frame"]
        own["_formats"], own["_draws"], own["_turns"], own["_quick"] = formats, draws, plain, plain
        own["_within"], own["_open_with"] = within, (passes, place)
        if within is not None:
            within.entered(self, self._what)
        passes.append(place)

    def _trace_for_others(self) -> None:
        """What moved for each tile; of passes that load, which can't be asked later, also their fragments and the pixel at a place."""
        asked, place = self._trace, self._device.default_trace
        self._trace = asked or place is not False or self._device._frame is not None  # what a frame says of two passes goes by tiles
        if asked or place is False or place is True:
            return
        if any(str(load_op).lower() == "load" for _, _, _, load_op, _, _ in self._bound):
            self._trace_fragments = True
            x, y = (min(int(at * side), side - 1) for at, side in zip(place, self._size, strict=True))
            self._trace_pixels = [(x, y)]

    def _look_at_attachments(self) -> None:
        """What is loaded though nobody wrote it, for a warning. Raises where sizes differ and no area says what is meant."""
        named: list[tuple[str, tuple[int, int]]] = []
        for name, attachment, view, *_ in self._bound:
            named.append((name, (max(1, view.image.width >> view.level), max(1, view.image.height >> view.level))))
            loads = str(attachment.load_op).lower() == "load"
            if loads and (reason := view.why_undefined(name if name in ("depth", "stencil") else None)):
                undefined = f"the contents of image '{view.image.label}' are undefined: {reason}"
                self._undefined.append(f"{name}: load_op is load, but {undefined}; clear it, or draw to it before")
            if attachment.resolve is not None:
                resolved = attachment.resolve.image if isinstance(attachment.resolve, (Texture, ImageView)) else attachment.resolve
                level = getattr(attachment.resolve, "level", 0)
                size = (max(1, resolved.width >> level), max(1, resolved.height >> level))
                named.append((f"{name}'s resolve", size))
        sizes = {size for _, size in named}
        if len(sizes) > 1 and not any(self._area):
            all_have = tuple(min(size[k] for size in sizes) for k in (0, 1))
            shown = ", ".join(f"{name} {width}x{height}" for name, (width, height) in named)
            raise ValidationError(
                f"{self._what}: attachments have different sizes: {shown}; make them equal, or give area=(0, 0, {all_have[0]}, "
                f"{all_have[1]}), which all have: outside of it nothing changes"
            )

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        own = dict_of(self)
        turns = own.get("_turns")
        with self._turn if turns is None or turns._is_owned() else turns:  # a draw of another thread is whole, or finds no open pass
            draws, own["_draws"], own["_quick"] = own.get("_draws"), None, None
        if own.get("_open_with") is not None:
            (passes, place), own["_open_with"] = own["_open_with"], None
            if passes and passes[-1] is place:
                passes.pop()
            elif place in passes:
                passes.remove(place)
        if draws is None:
            return
        if own["_within"] is not None:
            own["_within"].left(self)
            own["_within"] = None  # the frame has the pass, and ends its life when nobody asks it any more
        plain = draws.plain
        assert plain is not None
        of_draws, has_ended = dict_of(draws), False
        try:
            if kind is not None:
                plain.commands.discard_rendering()
                return
            has_nothing_to_say, commands, notes, drawn = plain.end_pass()
            has_ended = True
            if (binder := of_draws.get("_binder")) is not None and binder.late:
                binder.check_late()
                own["_late"] = tuple(binder.late.values())
            undefined, hazards, state = of_draws.get("undefined"), of_draws.get("hazards"), of_draws.get("state")
            if undefined or (hazards is not None and hazards.found):
                found = () if hazards is None else hazards.found
                self._undefined += [note for note in (*(undefined or ()), *found) if note not in self._undefined]
            if not has_nothing_to_say:
                self._undefined += commands.undefined_reads()
                self._undefined += commands.possible_feedback()
            if state is not None:
                state.warn_unused(self._what, drawn > 0 or draws.has_drawn)
            if not has_nothing_to_say:
                for line in commands.lost_primitives():
                    warnings.warn(f"{self._what}: {line}", LostPrimitivesWarning, stacklevel=users_level())
            if own["_watched"]:
                self._say_changed()
            own["_draws_use"] = notes
            RenderPass._execute(self, commands)
            own["_recorded"] = commands
            if (rate := own.get("_shading_rate")) is not None and draws.has_drawn | (drawn > 0):
                rate.say_unused(self.explain().rows)
            for block in own["_blocks"]:
                block.end_of_pass()
        finally:
            own["_blocks"].clear()  # they know the pass: without this it lives until the garbage collector comes by
            if not has_ended or "_binder" in of_draws:
                draws.end()

    def check_order(
        self,
        what: str,
        thing: Any,
        write: bool,
        *,
        aspect: str = "",
        levels: tuple[int, int] = (0, 1),
        layers: tuple[int, int] = (0, 1),
        bytes: tuple[int, int] = (0, 0),
    ) -> None:
        """Raises :class:`ValidationError` where ``what``, which reads or writes this part of an image or buffer at once, stands behind
        draws that would come first by the order of the lines, and are executed later: this pass's, which is open."""
        draws = self._draws
        if draws is None:
            return
        found = [*self._attachment_touches(thing), *draws.uses.of(thing)]
        for use in found:
            if (write or use.write) and use.meets(aspect, levels, layers, bytes):
                kind = "buffer" if isinstance(thing, Buffer) else "image"
                named = what if f"'{thing.label}'" in what else f"{what}: {kind} '{thing.label}'"
                as_ = f"is its {use.attachment}" if use.attachment else f"is {'written' if use.write else 'read'} by its draws ({use.how})"
                raise ValidationError(
                    f"{named}: {self._what} is open, and the {kind} {as_}: the pass is executed when its with block ends, after "
                    f"this line's work; do it before the block or behind it"
                    + (", or give each draw data of its own (arrays are copied at the draw)" if write and not use.write else "")
                )

    @property
    def title(self) -> str:
        """Kind and label, for messages."""
        return self._what

    def reads_buffer(self, buffer: Buffer) -> str:
        """While it is open, how its draws read some of the buffer; ``""``: they don't."""
        draws = self._draws
        return next((use.how for use in draws.uses.of(buffer) if not use.write), "") if draws is not None else ""

    def watch(self, buffer: Buffer, how: str, place: Place) -> None:
        """A view of a buffer that its draws read was asked for at this line: whether it is written through is seen at the end."""
        if id(buffer) not in self._watched:
            self._watched[id(buffer)] = (buffer, how, place, buffer.content_hash())

    def _say_changed(self) -> None:
        for buffer, how, place, content in self._watched.values():
            if buffer.content_hash() != content:
                place.warn(
                    f"buffer '{buffer.label}': numpy: it was changed through the view within the block of {self._what}, whose draws read "
                    f"it ({how}); they are executed when the block ends: what was written counts for all of them",
                    OrderWarning,
                )

    def _attachment_touches(self, thing: Any) -> list[Use]:
        """Parts of an image that are the pass's attachments; those that it only reads are read."""
        found = [use for use in self._rate_uses() if use.thing is thing]
        for name, attachment, view, *_ in self._bound:
            resolve = attachment.resolve
            resolved = resolve.image if isinstance(resolve, Texture) else resolve
            targets = [view, *([] if resolved is None else [resolved])]
            aspect = name if name in ("depth", "stencil") else "color"
            writes = str(attachment.store_op).lower() != "none" or str(attachment.load_op).lower() == "clear"
            for target in targets:
                target = target if isinstance(target, ImageView) else target.view("2d", level=0, levels=1, layer=0, layers=1)
                if target.image is thing:
                    found += use_of_view(target, writes, "attachment", aspect=aspect, attachment=name)
        return found

    @property
    def uses(self) -> list[Use]:
        """What it loads and stores, and what its draws read and write; for frames."""
        return [*self._attachment_uses(), *Uses(self._device, list(self._draws_use))]

    def images_used(self) -> dict[int, Image]:
        """Images that it reads or writes, by id: of most passes without asking for each use."""
        found: dict[int, Image] = {}
        things = [view for _, _, view, *_ in self._bound]
        if self._shading_rate is not None:
            things.append(self._shading_rate.view)
        for made_by, given in self._draws_use:
            if made_by is use_of_buffer:
                continue
            if made_by is not uses_of_descriptor:
                return super().images_used()
            if isinstance(given[1], ImageView):
                things.append(given[1])
        if self._framebuffer is not None or any(one[5] is not None for one in self._bound):
            return super().images_used()
        for view in things:
            if view.image.planes:
                return super().images_used()
            found[id(view.image)] = view.image
        return found

    def _image_uses(self) -> list[Use]:
        return [*self._attachment_uses(), *Uses(self._device, list(self._draws_use)).but_buffers()]

    def _rate_uses(self) -> list[Use]:
        return [] if self._shading_rate is None else self._shading_rate.uses()

    def _rates_begin(self) -> dict[str, Any]:
        """Of the core's begin_rendering."""
        return {} if self._shading_rate is None else self._shading_rate.begin(self._device, self._undefined)

    def _attachment_uses(self) -> list[Use]:
        """What the tiles load and store."""
        if self._framebuffer is not None:
            return [*self._framebuffer.uses(), *self._rate_uses()]
        uses = self._rate_uses()
        corner = [0, 0] if self._window is None else list(self._window[:2])
        whole = not any(self._area) or (self._area[:2] == corner and tuple(self._area[2:]) == self._held)
        for name, _, view, load_op, store_op, resolve in self._bound:
            aspect = name if name in ("depth", "stencil") else "color"
            loads = enums.name_of("attachment_load_op", enums.parse("attachment_load_op", load_op, name))
            stores = enums.name_of("attachment_store_op", enums.parse("attachment_store_op", store_op, name))
            if loads == "load":
                uses += use_of_view(view, False, "load", aspect=aspect, attachment=name)
            if stores == "store":
                uses += use_of_view(view, True, "store", aspect=aspect, whole=whole, attachment=name)
            if resolve is not None:
                given = resolve.image if isinstance(resolve, Texture) else resolve
                resolved = given if isinstance(given, ImageView) else given.view("2d", level=0, levels=1, layer=0, layers=1)
                uses += use_of_view(resolved, True, "resolve", aspect=aspect, whole=whole, attachment=name)
        return uses

    def execute_commands(self, *secondaries: SecondaryCommandBuffer) -> None:
        """What secondary command buffers recorded (:meth:`Device.secondary`), here, in order: vkCmdExecuteCommands.

        They must have ended, and have the pass's formats and samples. Their viewports and scissors, where they say none, are
        this pass's. They find nothing of what :meth:`set` said, and leave nothing; behind them set anew what draws rely on, as Vulkan wants
        it: what was set before holds, with an :class:`tilegpu.ExtensionWarning`. Raises :class:`ValidationError` where there are none,
        and for what does not fit, among it an active query that they were not made for.
        """
        if not secondaries:
            more = "give it one secondary command buffer or more (dev.secondary)"
            raise ValidationError(f"{self._what}: execute_commands has no arguments; {more}")
        for number, secondary in enumerate(secondaries):
            if not isinstance(secondary, SecondaryCommandBuffer):
                raise ValidationError(
                    f"{self._what}: execute_commands: argument {number} is {arguments.shown(secondary)}; "
                    "it must be a secondary command buffer (dev.secondary)"
                )
        ended = [secondary.ended(self._what) for secondary in secondaries]
        with self._turn:
            for secondary, commands in zip(secondaries, ended, strict=True):
                try:
                    self._open().commands.execute_commands([commands])
                except ValidationError as refused:
                    if _OTHER_FORMATS not in str(refused) or not (how := self._misfit(secondary)):
                        raise
                    raise ValidationError(str(refused).partition(_OTHER_FORMATS)[0] + how) from None
                self._open().state.executed()
                self._reads.append(secondary)
                if secondary.late:
                    self._open().read_late(secondary.late)
                self._open().uses.take(secondary.uses)
                self._open().hazards.take(secondary.hazards)
                self._blocks += secondary._blocks
                self._undefined += [note for note in secondary.undefined if note not in self._undefined]

    def _misfit(self, secondary: SecondaryCommandBuffer) -> str:
        """Which formats, or samples, a secondary command buffer has other ones of, and how it is made."""
        own: dict[str, Any] = {f"color[{k}]": None if info is None else info.name for k, info in enumerate(self._formats)}
        bound = {name: view for name, _, view, *_ in self._bound}
        own |= {name: bound[name].view_format if name in bound else None for name in ("depth", "stencil")}
        own["samples"] = self._samples or max((view.image.samples for view in bound.values()), default=1)
        if self._framebuffer is not None:
            own["samples"] = self._framebuffer.layout.samples
        theirs = secondary.targets
        found = [
            f"{name} is {theirs.get(name) or 'none'}, and the pass has {own.get(name) or 'none'}"
            for name in dict.fromkeys([*own, *theirs])
            if own.get(name) != theirs.get(name)
        ]
        return f"{'; '.join(found)}; give dev.secondary those of the pass" if found else ""

    def __repr__(self) -> str:
        state = "open" if self._draws is not None else "ended" if self._submission is not None else "not entered"
        return f"<tilegpu.RenderPass '{self.label}', {state}>"
