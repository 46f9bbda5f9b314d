"""Secondary command buffers: draws that are recorded once, outside of passes, and are part of as many passes as wished.

In: the formats that those passes have. Out: a recording for :meth:`tilegpu.RenderPass.execute_commands`. Source: Vulkan specification,
"Secondary Command Buffer Execution", VkCommandBufferInheritanceRenderingInfo.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from tilegpu import _core, arguments
from tilegpu.binding import ReadLate
from tilegpu.context import Context
from tilegpu.draw_arguments import DrawArguments
from tilegpu.errors import ValidationError
from tilegpu.fixed import Fixed
from tilegpu.pass_commands import PassCommands
from tilegpu.pass_hazards import Hazards
from tilegpu.pipeline import formats_of
from tilegpu.uses import Uses

#: What a pass has and a secondary command buffer has not.
_NAMES = "capture costs desc execute_commands explain heatmap layout lint load lrz replay resolve stats store tiles why"
OF_THE_PASS = frozenset(_NAMES.split())


class SecondaryCommandBuffer(PassCommands, Fixed):
    """Draws for passes that others begin and end. Made by :meth:`tilegpu.Device.secondary`; see there."""

    def __init__(
        self, device: Context, color: Any, depth: Any, stencil: Any, samples: int, occlusion_query: bool, label: str, view_mask: int = 0
    ) -> None:
        super().__init__()
        self.label = arguments.text(label, "secondary command buffer: label")
        self._what = f"secondary command buffer '{self.label}'"
        self._device = device
        colors, depth_info, stencil_info = formats_of(color, depth, stencil, self._what)
        if len(colors) > _core.MAX_COLOR_ATTACHMENTS:
            raise ValidationError(f"{self._what}: color has {len(colors)} formats; at most {_core.MAX_COLOR_ATTACHMENTS} are allowed")
        if not isinstance(samples, int) or isinstance(samples, bool) or samples not in (1, 2, 4, 8, 16):
            raise ValidationError(f"{self._what}: samples is {arguments.shown(samples)}; allowed are 1, 2, 4, 8 and 16")
        for k, info in enumerate(colors):
            if info is not None and not info.color_attachment:
                raise ValidationError(f"{self._what}: color[{k}] is {info.name}, which can't be a colour attachment")
        if depth_info is not None and not depth_info.depth_bits:
            raise ValidationError(f"{self._what}: depth is {depth_info.name}, which has no depth")
        if stencil_info is not None and not stencil_info.stencil_bits:
            raise ValidationError(f"{self._what}: stencil is {stencil_info.name}, which has no stencil")
        if depth_info is not None and stencil_info is not None and depth_info.name != stencil_info.name:
            raise ValidationError(
                f"{self._what}: depth is {depth_info.name} and stencil {stencil_info.name}; where a pass has both they are one image"
            )
        self._formats = colors
        self._begin = (
            [0 if info is None else info.number for info in colors],
            0 if depth_info is None else depth_info.number,
            0 if stencil_info is None else stencil_info.number,
            samples,
            arguments.flag(occlusion_query, f"{self._what}: occlusion_query"),
            self.label,
            arguments.view_mask(view_mask, f"{self._what}: view_mask"),
        )
        #: What the passes must have, by name, for messages.
        self.targets: dict[str, Any] = {
            **{f"color[{k}]": None if info is None else info.name for k, info in enumerate(colors)},
            "depth": None if depth_info is None else depth_info.name,
            "stencil": None if stencil_info is None else stencil_info.name,
            "samples": samples,
        }
        self._views = max(1, self._begin[-1].bit_count())
        self._size = (_core.MAX_FRAMEBUFFER_SIZE_PX, _core.MAX_FRAMEBUFFER_SIZE_PX)
        self._reads: Any = None  # memory of arrays, which the recording reads
        self._ended: _core.CommandBuffer | None = None
        self._discarded = False
        self.uses = Uses(device)  #: what draws read and write, for frames
        self.late: dict[Any, ReadLate] = {}  #: sets that its draws read as they are when a pass executes them
        self.undefined: list[str] = []  #: what draws may read though nobody wrote it, for lint()
        self.hazards = Hazards(part=True)  #: what draws read and write, for those of the pass around it

    def __enter__(self) -> SecondaryCommandBuffer:
        if self._draws is not None or self._ended is not None or self._discarded:
            raise ValidationError(f"{self._what} was entered before; make a new one with dev.secondary")
        commands = _core.CommandBuffer(self._device.core, True)
        commands.begin_part(*self._begin)
        self._draws = DrawArguments(self._device, self._what, self._size, commands)
        self._draws.views = bool(self._begin[-1])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._turn:  # a draw of another thread is whole, or finds nothing open
            draws, self._draws = self._draws, None
        if draws is None:
            return
        self._discarded = True
        try:
            if kind is None:
                draws.commands.end()
                draws.state.warn_unused(self._what, draws.has_drawn)
                self._ended, self._reads, self._discarded = draws.commands, draws.arena, False
                self.undefined = list(draws.undefined)
                if (binder := draws.made("_binder")) is not None:
                    self.late = binder.late
                self.uses, self.hazards = draws.uses, draws.hazards
        finally:
            draws.end()

    def ended(self, who: str) -> _core.CommandBuffer:
        """What it recorded; an error of ``who`` where it has not ended."""
        if self._ended is None:
            why = "an exception left its with block, or end failed" if self._discarded else "leave its with block first"
            raise ValidationError(f"{who}: execute_commands: {self._what} has not ended; {why}")
        return self._ended

    def _where_else(self, name: str) -> str:
        return f"that is of the pass which executes it: rp.{name}" if name in OF_THE_PASS else ""

    def __repr__(self) -> str:
        ended = "ended" if self._ended is not None else "discarded" if self._discarded else "not entered"
        state = "open" if self._draws is not None else ended
        return f"<tilegpu.SecondaryCommandBuffer '{self.label}', {state}>"
