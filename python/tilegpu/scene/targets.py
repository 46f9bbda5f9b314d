"""Images that a frame's passes draw to. In: passes as plain data. Out: images of a device, kept while frames ask for the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import tilegpu as tg
from tilegpu.scene.description import Frame, Output, Pass, Target


@dataclasses.dataclass
class Targets:
    """Images of a frame: what its own pass writes, what is read afterwards, and those of the passes before."""

    color: list[tg.Image]
    readable: list[tg.Image]  #: the same, or what they are resolved to
    depth: tg.Image | None
    of_passes: list[tg.Image]  #: by the number of the target in the frame
    samples_of_passes: dict[tuple[int, int], tg.Image]  #: (pass, attachment, depth last): where it has several samples


def numbers(frame: Frame) -> dict[int, int]:
    """Number of each target of a frame, by its ``id``."""
    found: dict[int, int] = {}
    for one in frame.passes:
        for output in one.outputs:
            found.setdefault(id(output.target), len(found))
    return found


def key_of(frame: Frame) -> Any:
    """Frames with equal keys draw to the same images."""
    passes = tuple(
        (
            one.samples,
            *(
                (number[id(o.target)], frame.size_of(o.target), o.target.format, o.target.label, o.store)
                for o in one.outputs
            ),
        )
        for number in (numbers(frame),)
        for one in frame.passes
    )
    return (
        frame.size,
        frame.samples,
        frame.color_formats,
        frame.depth_format,
        frame.resolve,
        frame.store_depth,
        passes,
    )


def make(device: tg.Device, frame: Frame, size: tuple[int, int]) -> Targets:
    """New images for a frame; ``size``: of those of its own pass, in pixels."""
    samples = frame.samples
    transient = frame.resolve == "pass"
    color = [
        device.image(size, f, samples=samples, transient=transient, label=f"color{k}")
        for k, f in enumerate(frame.color_formats)
    ]
    readable = color
    if frame.resolve != "none":
        readable = [device.image(size, f, label=f"resolved{k}") for k, f in enumerate(frame.color_formats)]
    depth = None
    if frame.depth_format is not None:
        depth = device.image(size, frame.depth_format, samples=samples, transient=not frame.store_depth, label="depth")
    out = Targets(color, readable, depth, [], {})
    number, stored = numbers(frame), {id(o.target) for one in frame.passes for o in one.outputs if o.store}
    by_number: dict[int, Target] = {}
    for one in frame.passes:
        for output in one.outputs:
            by_number.setdefault(number[id(output.target)], output.target)
    for k in range(len(by_number)):
        target = by_number[k]
        out.of_passes.append(
            device.image(frame.size_of(target), target.format, transient=id(target) not in stored, label=target.label)
        )
    for p, one in enumerate(frame.passes):
        for k, output in enumerate(one.outputs if one.samples > 1 else ()):
            target = output.target
            out.samples_of_passes[p, k] = device.image(
                frame.size_of(target),
                target.format,
                samples=one.samples,
                transient=True,
                label=f"{target.label}, samples",
            )
    return out


def attachments(frame: Frame, targets: Targets) -> tuple[list[tg.Attachment], tg.Attachment | None]:
    """Of the frame's own pass."""
    in_pass = frame.resolve == "pass"
    color = [
        tg.Attachment(
            image,
            clear=frame.clear_color(k),
            store_op="dont_care" if in_pass else "store",
            resolve=targets.readable[k] if in_pass else None,
        )
        for k, image in enumerate(targets.color)
    ]
    depth = None
    if targets.depth is not None:
        store = "store" if frame.store_depth else "dont_care"
        depth = tg.Attachment(targets.depth, clear=frame.clear_depth, store_op=store)
    return color, depth


def attachments_of_pass(
    frame: Frame, position: int, targets: Targets
) -> tuple[list[tg.Attachment], tg.Attachment | None]:
    """Of a pass before it."""
    one, number = frame.passes[position], numbers(frame)

    def attachment(k: int, output: Output) -> tg.Attachment:
        image = targets.of_passes[number[id(output.target)]]
        clear = output.clear if output.load == "clear" else None
        many = targets.samples_of_passes.get((position, k))
        if many is not None:
            resolve = image if output.store else None
            return tg.Attachment(many, output.load, clear, "dont_care", resolve)
        return tg.Attachment(image, output.load, clear, "store" if output.store else "dont_care")

    color = [attachment(k, output) for k, output in enumerate(one.color)]
    return color, None if one.depth is None else attachment(len(one.color), _depth_cleared(one))


def _depth_cleared(one: Pass) -> Output:
    """A depth's clear value is a number; the default of :class:`Output` is colour's."""
    assert one.depth is not None
    clear = one.depth.clear
    return dataclasses.replace(one.depth, clear=1.0 if isinstance(clear, tuple) else clear)
