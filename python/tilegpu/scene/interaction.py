"""What a function that draws may know of the window it draws for. In: mouse, keys, time. Out: a :class:`View`, with images and pipelines
that are kept from picture to picture.

Without a window (``tilegpu render``) nothing is pressed, and the mouse is nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tilegpu import Device, Image, Pipeline, ValidationError, arguments
from tilegpu.errors import candidates
from tilegpu.fixed import Spelt
from tilegpu.scene.camera import OrbitCamera

#: What keys are called.
KEY_NAMES = (
    *map(chr, range(ord("a"), ord("z") + 1)), *map(str, range(10)), "space", "left", "right", "up", "down", "enter", "tab", "escape",
    "shift", "control", "alt", "+", "-", "?",
)  # fmt: skip
_BUTTONS = ("left", "middle", "right")
#: What others call keys: as GLFW, SDL, the web and Qt have it.
_OTHERS = {"ctrl": "control", "esc": "escape", "return": "enter", " ": "space", "spacebar": "space", "option": "alt", "lshift": "shift",
           "arrowleft": "left", "arrowright": "right", "arrowup": "up", "arrowdown": "down", "plus": "+", "minus": "-"}  # fmt: skip


def require_name(name: Any, known: Sequence[str], what: str) -> None:
    """Raises for what nothing is called, which would never be held. ``what``: "key", "button"."""
    if not isinstance(name, str):
        raise ValidationError(f"{what} {arguments.shown(name)} is no name; there are: {', '.join(known)}")
    if name in known:
        return
    lower = name.lower().removeprefix("key_")
    meant = lower if lower in known else _OTHERS.get(lower, _OTHERS.get(lower.removesuffix("left").removesuffix("right").strip("_"), ""))
    near = f"; did you mean '{meant}'? there are: {', '.join(known)}" if meant in known else candidates(name, known)
    raise ValidationError(f"there is no {what} '{name}'{near}")


class _Names(frozenset[str]):
    """Of what is held: asked for what nothing is called it raises, where a plain set would say no for ever."""

    known: Sequence[str] = KEY_NAMES
    what = "key"

    def __contains__(self, name: object) -> bool:
        return frozenset.__contains__(self, name) if isinstance(name, str) and name in self.known else self._refuse(name)

    def _refuse(self, name: object) -> bool:
        require_name(name, self.known, self.what)
        return False


class _Buttons(_Names):
    known, what = _BUTTONS, "button"


@dataclass(frozen=True)
class Mouse:
    """``x``, ``y``: the picture's pixel below the mouse, (0, 0) at the top left; ``inside``: it is over the picture. ``buttons``: those
    that are held, of ``"left"``, ``"middle"``, ``"right"``. ``wheel``: steps since the last picture, up is positive."""

    x: int = 0
    y: int = 0
    inside: bool = False
    buttons: frozenset[str] = frozenset()
    wheel: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "buttons", _Buttons(self.buttons))


@dataclass(frozen=True)
class Keys:
    """``held``: names of the keys that are down: ``"a"`` to ``"z"``, ``"0"`` to ``"9"``, ``"space"``, ``"left"``, ``"right"``, ``"up"``,
    ``"down"``, ``"enter"``, ``"tab"``, ``"escape"``, ``"shift"``, ``"control"``, ``"alt"``, ``"+"``, ``"-"``, ``"?"``. ``pressed``: those
    that went down since the last picture.

    ``"w" in keys`` asks whether one is held. A name that no key has (``"W"``, ``"ctrl"``) is a :class:`tilegpu.ValidationError`.
    """

    held: frozenset[str] = frozenset()
    pressed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", _Names(self.held))
        object.__setattr__(self, "pressed", _Names(self.pressed))

    def __contains__(self, name: object) -> bool:
        return name in self.held

    def axis(self, less: str, more: str) -> float:
        """-1, 0 or 1: whether ``less`` or ``more`` is held, for movements."""
        return float((more in self.held) - (less in self.held))


@dataclass
class Interaction:
    """What changes from picture to picture beside time and camera, and what is kept between them. ``returned``: by the function, last."""

    mouse: Mouse = Mouse()
    keys: Keys = Keys()
    dt: float = 0.0
    number: int = 0
    kept: dict[Any, Any] = field(default_factory=dict)
    returned: Any = None
    turned: bool = False  #: whether it was told that its width and height changed places
    clamped: bool = False  #: whether it was told that floats of it are clamped


class View(Spelt):
    """What a function is given as ``view``.

    ``device``: draw with this one. ``size``: (width, height) of the picture in pixels. ``samples``: as many as are asked for. ``time``: in
    seconds; ``dt``: since the last picture; ``number``: of the picture, from 0. ``camera``: an :class:`OrbitCamera` that the mouse turns.
    ``mouse``, ``keys``: :class:`Mouse`, :class:`Keys`.
    """

    def __init__(
        self, device: Device, size: tuple[int, int], samples: int, time: float, camera: OrbitCamera | None, live: Interaction
    ) -> None:
        self.device, self.size, self.samples, self.time = device, size, samples, time
        self.camera = camera or OrbitCamera()
        self.mouse, self.keys, self.dt, self.number = live.mouse, live.keys, live.dt, live.number
        self._kept: dict[Any, Any] = live.kept
        if self._kept.get("device") is not device:
            self._kept.clear()
            self._kept["device"] = device

    @property
    def width(self) -> int:
        """Pixels."""
        return self.size[0]

    @property
    def height(self) -> int:
        """Pixels."""
        return self.size[1]

    @property
    def aspect(self) -> float:
        """Width / height, for projections."""
        return self.size[0] / self.size[1]

    def image(self, format: str, name: str = "", *, samples: int = 1, transient: bool = False, scale: float = 1.0) -> Image:
        """An image as large as the picture (times ``scale``), the same one each time until the size changes; ``name`` tells those apart
        that have the same format. See :meth:`tilegpu.Device.image`."""
        if not scale > 0:
            raise ValidationError(f"view.image: scale is {scale}; it must be above 0")
        size = max(1, round(self.width * scale)), max(1, round(self.height * scale))
        key = ("image", format, name, samples, transient, scale)
        found: Image | None = self._kept.get(key)
        if found is None or found.size != size:
            label = name or format
            found = self._kept[key] = self.device.image(size, format, samples=samples, transient=transient, label=label)
        return found

    def pipeline(self, vert: Any, frag: Any = None, **options: Any) -> Pipeline:
        """A pipeline, made the first time that it is asked for with these arguments; see :meth:`tilegpu.Device.pipeline`. Shaders given as
        paths are read again when their files change, as the window watches them."""
        key = ("pipeline", str(vert), str(frag), repr(sorted(options.items(), key=lambda item: item[0])))
        found: Pipeline | None = self._kept.get(key)
        if found is None:
            found = self._kept[key] = self.device.pipeline(vert, frag, **options)
        return found

    def keep(self, name: str, make: Any) -> Any:
        """What ``make(device)`` returned the first time: textures, buffers, whatever takes long."""
        key = ("kept", name)
        if not callable(make):
            must = "it must be a function of the device that makes it, such as lambda device: device.texture(pixels)"
            raise ValidationError(f"view.keep: make is {arguments.shown(make)}; {must}")
        if key not in self._kept:
            self._kept[key] = make(self.device)
        return self._kept[key]
