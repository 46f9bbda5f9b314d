"""What the viewer shows and how input changes it; knows neither glfw nor OpenGL.

In: keys, drags, wheel, sizes. Out: what to draw next (:class:`Request`), the title, the message, whether anything changed.
"""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from tilegpu.history import HEATMAPS
from tilegpu.hsr import TECHNIQUES, absent
from tilegpu.scene import Frame, FunctionScene, Interaction, Keys, Mouse, Scene
from tilegpu.scene.camera import OrbitCamera
from tilegpu.viewer import keys, mapping

SAMPLE_CHOICES = (1, 2, 4, 8, 16)
#: What T goes through; "" is the picture.
MAPS = ("", *HEATMAPS, "killed_by")
MESSAGE_S = 2.5
_ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}


@dataclass(frozen=True)
class Request:
    """A picture to draw, as things are now: nothing of it changes while it is drawn."""

    scene: Scene
    size: mapping.Size
    samples: int
    camera: OrbitCamera | None
    time: float
    wireframe: bool
    profile: str
    hsr: tuple[str, ...] | None
    heatmap: str
    probe: tuple[int, int] | None
    from_last: int
    mouse: Mouse
    keys: Keys
    dt: float
    number: int

    def frame(self, kept: Interaction) -> Frame:
        """The scene's frame; a function that draws is told of mouse and keys (``kept``, which keeps what it made)."""
        time = self.time if self.scene.moves else 0.0  # the clock runs in any case
        frame = self.scene.frame(self.size, self.samples, camera=self.camera, time=time)
        kept.mouse, kept.keys, kept.dt, kept.number = self.mouse, self.keys, self.dt, self.number
        frame = frame.told(kept)
        if self.wireframe:
            draws = tuple(
                dataclasses.replace(draw, state=dataclasses.replace(draw.state, polygon_mode="line")) for draw in frame.draws
            )
            frame = dataclasses.replace(frame, draws=draws)
        return frame


@dataclass
class ViewState:
    """The viewer's state. ``profiles``: the GPU profiles to go through with P. ``hsr``: techniques that are on, ``None``: the profile's.
    ``own_keys``: keys that are the function's, with what they do. ``fixed``: why M, P and 1 to 7 can't do anything here, by action."""

    scene: Scene
    samples: int
    profile: str = "host"
    profiles: tuple[str, ...] = ("host",)
    window: mapping.Size = (1, 1)
    framebuffer: mapping.Size = (1, 1)
    wireframe: bool = False
    spin: bool = False
    time: float = 0.0
    changed: bool = True
    quit: bool = False
    screenshots: int = 0
    want_screenshot: bool = False
    message: str = ""
    hsr: tuple[str, ...] | None = None
    default_hsr: tuple[str, ...] = ()
    heatmap: str = ""
    help: bool = False
    cost: bool = False
    probing: bool = False
    from_last: int = 0  # of which pass maps and pixels are: 0 is the last
    passes: int = 1  # of the last picture
    own_keys: Mapping[str, str] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    tell_samples: bool = False  # samples were asked for: say so if the picture has others
    tell_device: str = ""  # what was asked of the window's device: say so if the picture is of none of its passes
    turns: bool = True  # without a time of its own, the scene's camera turns while time runs
    camera: OrbitCamera | None = field(init=False)

    def __post_init__(self) -> None:
        self._turning = False  # the camera is one that frames a whole turn
        self._begin_camera()
        self.mouse = Mouse()
        self.pixel: tuple[int, int] | None = None  # of the picture, below the mouse
        self._held: set[str] = set()
        self._pressed: set[str] = set()
        self._buttons: frozenset[str] = frozenset()
        self._wheel = 0.0
        self._number, self._asked_at = 0, time.perf_counter()
        self._said_at = 0.0

    # ------------------------------------------------------------------------------------------------------------ keys

    def key(self, name: str, shift: bool = False) -> None:
        """A key was pressed: a lower-case letter, a digit, ``"space"``, ``"escape"``, ...; those without a meaning do nothing."""
        self._pressed.add(name)
        if name in self.own_keys:
            self.changed = True
            return
        found = keys.ACTIONS.get(f"shift+{name}" if shift else name) or keys.ACTIONS.get(name)
        if found is None:
            return
        why_not = self.fixed.get(found.action)
        if why_not:
            self.say(why_not)
        else:
            self.message = ""
            getattr(self, found.action)(f"shift+{name}" if shift else name)
        self.changed = True

    def hold(self, name: str, down: bool) -> None:
        """A key went down, or up."""
        if down:
            self._held.add(name)
        else:
            self._held.discard(name)
        self.changed |= name in self.own_keys

    def fix(self, fixed: dict[str, str]) -> None:
        """What keys can't do to the picture that is there now; with it the same of what was asked for the device, once."""
        self.fixed = fixed
        if self.tell_device and (why := fixed.get("next_profile")):
            self.say(f"{self.tell_device}: no effect, as {why}")
            self.tell_device = ""

    def say(self, text: str) -> None:
        """A message for a moment, in the picture and in the title."""
        self.message, self._said_at = text, time.perf_counter()

    @property
    def saying(self) -> str:
        """The message, while it is to be read in the picture."""
        return self.message if self.message and time.perf_counter() - self._said_at < MESSAGE_S else ""

    def toggle_help(self, _: str = "") -> None:
        """H."""
        self.help = not self.help

    def end(self, name: str) -> None:
        """Escape closes the help first."""
        if name == "escape" and self.help:
            self.help = False
        else:
            self.quit = True

    def turn(self, name: str) -> None:
        """Arrows."""
        x, y = _ARROWS[name.removeprefix("shift+")]
        if self.camera is None:
            self.say("this scene has no camera")
        else:
            self.camera.rotate(0.1 * x, 0.1 * y)

    def near(self, name: str) -> None:
        """Plus and minus."""
        self.wheel(1 if name.endswith("+") else -1)

    def home(self, _: str = "") -> None:
        """R."""
        if self.camera is None:
            self.say("this scene has no camera")
        else:
            self._turning = self._spins
            self._begin_camera()
            self.say("camera as it was at first")

    def run_or_stop(self, _: str = "") -> None:
        """Space."""
        self.spin = not self.spin
        self._turning |= self._spins
        self.say("time runs" if self.moves else "time stands still")

    def more_samples(self, name: str) -> None:
        """M."""
        if self.scene.fixed_samples:
            self.say(f"this scene has {self.scene.default_samples} sample(s) by definition")
            return
        step = -1 if name.startswith("shift") else 1
        self.samples = SAMPLE_CHOICES[(SAMPLE_CHOICES.index(self.samples) + step) % len(SAMPLE_CHOICES)]
        self.tell_samples = True
        if isinstance(self.scene, FunctionScene):
            self.say(f"the function is given samples={self.samples}")
        else:
            self.say(f"{self.samples} sample{'s' if self.samples > 1 else ''} a pixel")

    def next_profile(self, name: str) -> None:
        """P."""
        step = -1 if name.startswith("shift") else 1
        self.profile = self.profiles[(self.profiles.index(self.profile) + step) % len(self.profiles)]
        self.hsr = None
        self.say(f"profile {self.profile}")

    def switch_technique(self, name: str) -> None:
        """1 to 7."""
        chosen = tuple(TECHNIQUES)[int(name[-1]) - 1]
        if chosen in absent(self.profile):
            self.say(f"no GPU like {self.profile} has {chosen.replace('_', ' ')}")
            return
        on = [technique.partition(":")[0] for technique in (self.default_hsr if self.hsr is None else self.hsr)]
        self.hsr = tuple(t for t in TECHNIQUES if (t in on) != (t == chosen))
        self.say(f"{chosen.replace('_', ' ')} {'on' if chosen in self.hsr else 'off'}")
        self.cost = True

    def own_techniques(self, _: str = "") -> None:
        """0."""
        self.hsr = None
        self.say(f"techniques of {self.profile}")

    def next_map(self, name: str) -> None:
        """T."""
        step = -1 if name.startswith("shift") else 1
        self.heatmap = MAPS[(MAPS.index(self.heatmap) + step) % len(MAPS)]
        self.say(f"heatmap: {self.heatmap.replace('_', ' ')}" if self.heatmap else "the picture")

    def toggle_probe(self, _: str = "") -> None:
        """I."""
        self.probing = not self.probing
        self.say("the pixel below the mouse" if self.probing else "")

    def next_pass(self, name: str) -> None:
        """N."""
        step = 1 if name.startswith("shift") else -1
        self.from_last = (self.from_last - step) % max(1, self.passes)
        at = self.passes - self.from_last
        self.say(f"pass {at} of {self.passes}" + ("" if self.heatmap or self.probing else ": T or I show what it did"))

    def toggle_cost(self, _: str = "") -> None:
        """F."""
        self.cost = not self.cost

    def toggle_wireframe(self, _: str = "") -> None:
        """W."""
        self.wireframe = not self.wireframe
        self.say("wireframe" if self.wireframe else "filled")

    def save(self, _: str = "") -> None:
        """S."""
        self.want_screenshot = True

    # ----------------------------------------------------------------------------------------------------------- mouse

    def drag(self, dx: float, dy: float, pan: bool) -> None:
        """The mouse moved by (dx, dy) window coordinates with a button held."""
        if self.camera is None:
            if not self._buttons_are_own:
                self.say("this scene has no camera")
        elif pan:
            self.camera.pan(*mapping.drag_to_pan(dx, dy, self.window))
        else:
            self.camera.rotate(*mapping.drag_to_turn(dx, dy, self.window))
        self.changed = True

    @property
    def _buttons_are_own(self) -> bool:
        return not self.turns

    def wheel(self, steps: float) -> None:
        """The wheel turned; up is positive."""
        self._wheel += steps
        if self.camera is not None:
            self.camera.zoom(mapping.wheel_to_zoom(steps))
        self.changed = True

    def point(self, x: float, y: float, inside: bool, picture: mapping.Size | None) -> None:
        """The mouse is at (x, y) window coordinates; ``picture``: the size of the picture that is shown."""
        at = mapping.to_framebuffer(x, y, self.window, self.framebuffer)
        found = at if picture in (None, self.framebuffer) else mapping.to_picture(at, self.framebuffer, picture or self.framebuffer)
        pixel = found if inside else None
        self.changed |= pixel != self.pixel and (self.probing or self._buttons_are_own)
        self.pixel = pixel

    def buttons(self, held: frozenset[str]) -> None:
        """Which buttons are down."""
        self.changed |= held != self._buttons
        self._buttons = held

    # ------------------------------------------------------------------------------------------------------------ time

    def resize(self, window: mapping.Size, framebuffer: mapping.Size) -> None:
        """The window has a new size, in its own coordinates and in pixels."""
        if (window, framebuffer) != (self.window, self.framebuffer):
            self.window, self.framebuffer = window, framebuffer
            self.changed = True

    @property
    def _framed_by(self) -> tuple[Scene, float, bool]:
        """What a camera of the scene's depends on."""
        width, height = mapping.render_size(self.framebuffer) or self.scene.default_size
        return self.scene, width / height, self._turning

    def _framing(self) -> OrbitCamera | None:
        """The scene's camera for the window as it is; once it spins, one that turns about all of it."""
        scene, aspect, turning = self._fit_of = self._framed_by
        return copy.copy(scene.turn_camera(aspect) if turning else scene.camera(aspect))  # a scene may keep its own

    def _begin_camera(self) -> None:
        self.camera = self._framing()
        self._fit = copy.copy(self.camera)  # where it would be had nobody moved it

    def _frame_again(self) -> None:
        """Before a picture, if what the camera depends on is not what it was (the window's shape, the scene's file, that it spins): a
        camera that nobody moved is the new one; else it keeps its direction, and how near it is to the one that frames all."""
        if self._fit_of == self._framed_by:
            return
        try:
            new = self._framing()
        except Exception as error:  # of a scene of the user's: the window stays
            self.say(str(error))
            return
        old, now, self._fit = self._fit, self.camera, copy.copy(new)
        if now == old or not (isinstance(now, OrbitCamera) and isinstance(new, OrbitCamera) and isinstance(old, OrbitCamera)):
            self.camera = new
            return
        now.distance *= new.distance / old.distance
        x, y, z = (n + (a - b) for n, a, b in zip(now.target, new.target, old.target, strict=True))
        now.target, now.radius, now.near, now.far = (x, y, z), new.radius, new.near, new.far

    def advance(self, seconds: float) -> None:
        """Time passes while the model spins by itself, or plays its animation."""
        if self.moves:
            self.time += seconds
            if self.camera is not None and self._spins:
                self.camera.rotate(0.6 * seconds, 0.0)
            self.changed = True

    @property
    def _spins(self) -> bool:
        """Whether the camera turns by itself while time runs."""
        return self.spin and self.turns and not self.playing

    @property
    def playing(self) -> bool:
        """Whether the scene has an animation, which plays until space stops it."""
        return self.scene.duration_s > 0

    @property
    def moves(self) -> bool:
        """Whether time passes."""
        return self.spin != self.playing

    # ---------------------------------------------------------------------------------------------------------- output

    def request(self) -> Request | None:
        """What to draw now; ``None`` while the window is minimised. Presses and the wheel are told once."""
        size = mapping.render_size(self.framebuffer)
        if size is None:
            return None
        self._frame_again()
        now = time.perf_counter()
        x, y = self.pixel or (self.mouse.x, self.mouse.y)
        self.mouse = Mouse(x, y, self.pixel is not None, self._buttons, self._wheel)
        request = Request(
            self.scene, size, self.samples, copy.copy(self.camera), self.time, self.wireframe, self.profile, self.hsr, self.heatmap,
            self.pixel if self.probing else None, self.from_last, self.mouse, Keys(frozenset(self._held), frozenset(self._pressed)),
            now - self._asked_at, self._number,
        )  # fmt: skip
        self._wheel, self._number, self._asked_at = 0.0, self._number + 1, now
        self._pressed.clear()
        return request

    def frame(self) -> Frame | None:
        """The frame to show; ``None`` while the window is minimised."""
        size = mapping.render_size(self.framebuffer)
        if size is None:
            return None
        self._frame_again()
        request = Request(
            self.scene, size, self.samples, self.camera, self.time, self.wireframe, self.profile, self.hsr, "", None, 0, self.mouse, Keys(),
            0.0, 0,
        )  # fmt: skip
        return request.frame(Interaction())

    def title(self, size: mapping.Size, samples: int, milliseconds: float) -> str:
        """The window's title: scene, size, samples (0: not known, and left out), profile, frame time, message or how to find the keys."""
        shown = f"{size[0]}x{size[1]} {samples}x" if samples else f"{size[0]}x{size[1]}"
        return "  |  ".join([self.scene.name, shown, self.profile, f"{milliseconds:.1f} ms", self.message or "H: keys"])
