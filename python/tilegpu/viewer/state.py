"""What the viewer shows and how input changes it; knows neither glfw nor OpenGL.

In: keys, drags, wheel, sizes. Out: the frame to render next, the title, whether anything changed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from tilegpu.scene import Frame, Scene
from tilegpu.scene.camera import OrbitCamera
from tilegpu.viewer import mapping

SAMPLE_CHOICES = (1, 2, 4, 8, 16)
HELP = "drag turns, wheel zooms, M samples, P profile, W wireframe, S screenshot, R home, space spins or stops"


@dataclass
class ViewState:
    """The viewer's state. ``profiles``: the GPU profiles to go through with P."""

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
    camera: OrbitCamera | None = field(init=False)

    def __post_init__(self) -> None:
        self.camera = self.scene.camera()

    def key(self, name: str) -> None:
        """A key was pressed: a lower-case letter, ``"space"`` or ``"escape"``; others do nothing."""
        self.message = ""
        if name in ("q", "escape"):
            self.quit = True
        elif name == "m":
            choices = SAMPLE_CHOICES
            self.samples = choices[(choices.index(self.samples) + 1) % len(choices)]
            if self.scene.fixed_samples:
                self.message = f"this scene has {self.scene.default_samples} sample(s) by definition"
        elif name == "p":
            self.profile = self.profiles[(self.profiles.index(self.profile) + 1) % len(self.profiles)]
        elif name == "w":
            self.wireframe = not self.wireframe
        elif name == "s":
            self.want_screenshot = True
        elif name == "r" and self.camera is not None:
            self.camera.reset()
        elif name == "space":
            self.spin = not self.spin
        else:
            return
        self.changed = True

    def drag(self, dx: float, dy: float, pan: bool) -> None:
        """The mouse moved by (dx, dy) window coordinates with a button held."""
        if self.camera is None:
            self.message = "this scene has no camera"
        elif pan:
            self.camera.pan(*mapping.drag_to_pan(dx, dy, self.window))
        else:
            self.camera.rotate(*mapping.drag_to_turn(dx, dy, self.window))
        self.changed = True

    def wheel(self, steps: float) -> None:
        """The wheel turned; up is positive."""
        if self.camera is not None:
            self.camera.zoom(mapping.wheel_to_zoom(steps))
        self.changed = True

    def resize(self, window: mapping.Size, framebuffer: mapping.Size) -> None:
        """The window has a new size, in its own coordinates and in pixels."""
        if (window, framebuffer) != (self.window, self.framebuffer):
            self.window, self.framebuffer = window, framebuffer
            self.changed = True

    def advance(self, seconds: float) -> None:
        """Time passes while the model spins by itself, or plays its animation."""
        if self.moves:
            self.time += seconds
            if self.camera is not None and self.spin and not self.playing:
                self.camera.rotate(0.6 * seconds, 0.0)
            self.changed = True

    @property
    def playing(self) -> bool:
        """Whether the scene has an animation, which plays until space stops it."""
        return self.scene.duration_s > 0

    @property
    def moves(self) -> bool:
        """Whether time passes."""
        return self.spin != self.playing

    def frame(self) -> Frame | None:
        """The frame to show; ``None`` while the window is minimised."""
        size = mapping.render_size(self.framebuffer)
        if size is None:
            return None
        frame = self.scene.frame(size, self.samples, camera=self.camera, time=self.time)
        if self.wireframe:
            draws = tuple(
                dataclasses.replace(draw, state=dataclasses.replace(draw.state, polygon_mode="line"))
                for draw in frame.draws
            )
            frame = dataclasses.replace(frame, draws=draws)
        return frame

    def title(self, frame: Frame, milliseconds: float) -> str:
        """The window's title: scene, size, samples, profile, frame time, help or a message."""
        parts = [
            self.scene.name,
            f"{frame.size[0]}x{frame.size[1]} {frame.samples}x",
            self.profile,
            f"{milliseconds:.1f} ms",
            self.message or HELP,
        ]
        return "  |  ".join(parts)
