"""The window itself: glfw for window and input, and the loop between input, the thread that paints and what is shown.

In: a scene, and what the viewer may change of it. Out: a window until somebody closes it. What is shown at once is text: that shaders are
being compiled, what keys did, what went wrong; the picture follows when it is there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.errors import needs_packages
from tilegpu.scene import FunctionScene, Scene
from tilegpu.viewer import panels
from tilegpu.viewer.blitter import Blitter, ViewerError
from tilegpu.viewer.keys import TABLE
from tilegpu.viewer.limits import fixed_by, samples_told
from tilegpu.viewer.mapping import Size
from tilegpu.viewer.painter import Painter, Shown, Worker, files_of_scene
from tilegpu.viewer.state import MESSAGE_S, ViewState
from tilegpu.viewer.watch import EVERY_S, Watcher

_SLOW_S = 0.3  # without a picture for so long, a text says so
_HINT_S = 4.0
_BUTTONS = ("left", "right", "middle")


def _key_names(glfw: Any) -> dict[int, str]:
    names = {glfw.KEY_A + k: chr(ord("a") + k) for k in range(26)}
    names |= {glfw.KEY_0 + k: str(k) for k in range(10)} | {glfw.KEY_KP_0 + k: str(k) for k in range(10)}
    names |= {
        glfw.KEY_SPACE: "space", glfw.KEY_ESCAPE: "escape", glfw.KEY_ENTER: "enter", glfw.KEY_TAB: "tab", glfw.KEY_LEFT: "left",
        glfw.KEY_RIGHT: "right", glfw.KEY_UP: "up", glfw.KEY_DOWN: "down", glfw.KEY_KP_ADD: "+", glfw.KEY_KP_SUBTRACT: "-",
    }  # fmt: skip
    for name in ("shift", "control", "alt"):
        names |= {getattr(glfw, f"KEY_{side}_{name.upper()}"): name for side in ("LEFT", "RIGHT")}
    return names


def _attach(glfw: Any, window: Any, state: ViewState, shown: Callable[[], Size | None]) -> None:
    """Connects the window's input to the state."""
    last = [0.0, 0.0]
    names = _key_names(glfw)

    def on_key(_: Any, key: int, __: int, action: int, modifiers: int) -> None:
        name = names.get(key)
        if name is None:
            return
        state.hold(name, action != glfw.RELEASE)
        again = action == glfw.REPEAT and name in ("left", "right", "up", "down")
        if action == glfw.PRESS or again:
            state.key(name, bool(modifiers & glfw.MOD_SHIFT))

    def on_char(_: Any, code: int) -> None:
        if chr(code) in "?+-":  # where they are on the keyboard is the layout's business
            state.key(chr(code))

    def on_cursor(_: Any, x: float, y: float) -> None:
        dx, dy = x - last[0], y - last[1]
        last[:] = x, y
        width, height = state.window
        state.point(x, y, 0 <= x < width and 0 <= y < height, shown())
        held = [glfw.get_mouse_button(window, b) == glfw.PRESS for b in range(3)]
        shift = any(glfw.get_key(window, key) == glfw.PRESS for key in (glfw.KEY_LEFT_SHIFT, glfw.KEY_RIGHT_SHIFT))
        if any(held) and (dx or dy):
            state.drag(dx, dy, pan=held[1] or held[2] or shift)

    def on_button(_: Any, __: int, action: int, ___: int) -> None:
        if action == glfw.PRESS:
            last[:] = glfw.get_cursor_pos(window)
        state.buttons(frozenset(n for b, n in enumerate(_BUTTONS) if glfw.get_mouse_button(window, b) == glfw.PRESS))

    def on_leave(_: Any, entered: int) -> None:
        if not entered:
            state.point(0, 0, False, shown())

    def on_refresh(_: Any) -> None:
        state.changed = True

    glfw.set_key_callback(window, on_key)
    glfw.set_char_callback(window, on_char)
    glfw.set_cursor_pos_callback(window, on_cursor)
    glfw.set_cursor_enter_callback(window, on_leave)
    glfw.set_mouse_button_callback(window, on_button)
    glfw.set_scroll_callback(window, lambda _, __, y: state.wheel(y))
    glfw.set_window_refresh_callback(window, on_refresh)


def _open(size: Size, title: str) -> tuple[Any, Any]:
    try:
        import glfw
        import moderngl  # noqa: F401
    except ImportError as error:
        raise ViewerError(needs_packages("the window", "glfw", "moderngl", extra="view")) from error
    problems: list[str] = []
    glfw.set_error_callback(lambda _, text: problems.append(text.decode() if isinstance(text, bytes) else str(text)))
    if not glfw.init():
        hint = "" if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else " (DISPLAY is not set)"
        raise ViewerError(
            f"no window system{hint}: {'; '.join(problems) or 'glfw.init failed'}; 'tilegpu render' needs none"
        )
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
    window = glfw.create_window(*size, title, None, None)
    if not window:
        glfw.terminate()
        raise ViewerError(f"no window: {'; '.join(problems) or 'glfw.create_window failed'}")
    return glfw, window


def _window_size(scene: Scene, size: Size | None) -> Size:
    """The size asked for, or the scene's own, reduced to 1280x720."""
    if size is not None:
        return size
    width, height = scene.default_size
    factor = min(1.0, 1280 / width, 720 / height)
    return max(1, round(width * factor)), max(1, round(height * factor))


class _Loop:
    """One window. ``hook(glfw, window, state, number)`` is called before each picture; ``most``: pictures until it ends, 0 for no end."""

    def __init__(self, glfw: Any, window: Any, state: ViewState, painter: Painter, most: int, hook: Any, strict: bool) -> None:
        self.glfw, self.window, self.state = glfw, window, state
        self.most, self.hook, self.strict = most, hook, strict
        self.worker = Worker(painter.paint)
        self.blitter = Blitter()
        self.watcher = Watcher()
        self.shown = Shown()
        self.picture: NDArray[np.uint8] | None = None
        self.count = 0
        self._files_changed: set[str] = set()
        self._overlay: panels.Overlay | None = None
        self._asked_at = self._last = self._opened_at = time.perf_counter()
        self._title_at = 0.0
        self._ends: list[float] = []  # of the last pictures
        self._dirty = True
        self._cost = (0.0, "")
        _attach(glfw, window, state, lambda: self.blitter.shown)

    def run(self, screenshot: str | None) -> None:
        """Until it is closed."""
        glfw, state = self.glfw, self.state
        while not (state.quit or glfw.window_should_close(self.window)):
            state.resize(glfw.get_window_size(self.window), glfw.get_framebuffer_size(self.window))
            now = time.perf_counter()
            if not self.worker.busy:
                state.advance(now - self._last)
                self._last = now
                self._look_at_files(now)
                self._ask(now)
            if self.worker.busy:
                shown = self.worker.wait(0.008)
                if shown is not None:
                    self._take(shown)
            self._show(time.perf_counter(), screenshot)
            self._wait()
        if screenshot and not self.most:
            self._draw()
            save_picture(self.blitter.read(state.framebuffer), Path(screenshot))

    def _look_at_files(self, now: float) -> None:
        changed = self.watcher.changed(now)
        if changed:
            self._files_changed |= set(changed)
            self.state.say(f"read again: {', '.join(sorted(Path(p).name for p in changed))}")
            self.state.changed = True

    def _ask(self, now: float) -> None:
        if not (self.state.changed or self.most):
            return
        if self.hook is not None:
            self.hook(self.glfw, self.window, self.state, self.count)
        self.state.changed = False
        request = self.state.request()
        if request is not None:
            self._asked_at = now
            changed, self._files_changed = frozenset(self._files_changed), set()
            self.worker.start(request, changed)

    def _take(self, shown: Shown) -> None:
        state = self.state
        if shown.ended and shown.raised is not None:
            raise shown.raised
        state.quit |= shown.ended
        if self.strict and shown.raised is not None:
            raise shown.raised
        self.watcher.add(shown.files)
        if shown.scene is not None:
            state.scene = shown.scene
        if shown.hsr and state.hsr is None:
            state.default_hsr = shown.hsr
        if shown.picture is not None:
            state.fix(fixed_by(state.scene, shown.drawn, shown.described, shown.own_device))
            if state.tell_samples and shown.asked == state.samples:
                state.tell_samples = False
                state.say(samples_told(state.scene, shown.asked, shown.samples) or state.message)
            state.passes = shown.passes
            state.changed |= shown.first and not self.most  # once more, so that figures compare
            if self.picture is None:
                self._title_at = 0.0
            self.picture = shown.picture
            before = self.blitter.shown
            self.blitter.put(shown.picture, state.framebuffer)
            if self.blitter.shown != before and state.pixel is not None:  # another one is below the mouse
                x, y = self.glfw.get_cursor_pos(self.window)
                state.point(x, y, True, self.blitter.shown)
            self._ends = [*self._ends[-29:], time.perf_counter()]
        else:  # the last good one stays, with its figures
            shown.size, shown.samples, shown.ms, shown.cost = self.shown.size, self.shown.samples, self.shown.ms, self.shown.cost
        self.shown = shown
        self.count += 1
        self._dirty = True
        if state.want_screenshot and self.picture is not None:
            state.want_screenshot = False
            state.say(f"saved {save_next(self._for_a_file(), state.scene.name)}")
            state.screenshots += 1
            self._title_at = 0.0
        if self.most and self.count >= self.most:
            state.quit = True

    def _for_a_file(self) -> NDArray[np.uint8]:
        """The picture; a heatmap with its legend."""
        assert self.picture is not None
        strip = self.shown.look.strip
        if strip is None:
            return self.picture
        (data, (width, height)), shape = strip, self.picture.shape
        out = np.zeros((shape[0] + height, max(shape[1], width), 3), np.uint8)
        out[: shape[0], : shape[1]] = self.picture[..., :3]
        out[shape[0] :, :width] = np.frombuffer(data, np.uint8).reshape(height, width, 3)
        return out

    # ------------------------------------------------------------------------------------------------------------ show

    def frames_per_second(self) -> float:
        """Of the last pictures, while they follow each other."""
        ends = self._ends
        return (len(ends) - 1) / (ends[-1] - ends[0]) if len(ends) > 1 and ends[-1] > ends[0] else 0.0

    def _status(self, now: float) -> str:
        waited = now - self._asked_at
        if not self.worker.busy or (self.picture is not None and waited < _SLOW_S):
            return ""
        seconds = f", {waited:.0f} s" if waited >= 1 else ""
        return f"compiling shaders{seconds}" if self.picture is None else f"drawing{seconds}"

    def _cost_text(self, now: float) -> str:
        """Four times a second while time runs: nobody reads faster, and it takes a millisecond to draw."""
        state, shown = self.state, self.shown
        if not (state.cost and shown.cost):
            self._cost = (0.0, "")
        elif not (state.moves and now - self._cost[0] < 0.25):
            fps = self.frames_per_second()
            rate = f", {fps:.1f} a second" if fps and state.moves else ""
            samples = f" {shown.samples}x," if shown.samples else ""
            head = f"{shown.size[0]} x {shown.size[1]},{samples} {state.profile}, {shown.ms:.1f} ms{rate}"
            self._cost = (now, f"{head}\n{shown.cost}")
        return self._cost[1]

    def _make_overlay(self, now: float) -> panels.Overlay:
        state, shown = self.state, self.shown
        message = state.saying
        if not message and not self.most and not state.help and now - self._opened_at < _HINT_S:
            message = "H: keys"
        rows = [(key.shown, key.text) for key in TABLE if key.action not in state.fixed]
        rows += [(name.upper(), text or "the function's own") for name, text in state.own_keys.items()]
        same = self.blitter.shown == state.framebuffer
        probing = state.probing and same
        return panels.Overlay(
            state.framebuffer,
            state.framebuffer[0] / max(1, state.window[0]),
            tuple(rows) if state.help else (),
            message,
            self._status(now),
            self._cost_text(now),
            shown.look.text if state.probing or state.heatmap else "",
            shown.error,
            shown.look.strip if state.heatmap else None,
            shown.look.tile if probing else None,
            state.pixel if probing else None,
        )

    def _draw(self) -> None:
        self.blitter.draw(self.state.framebuffer)

    def _show(self, now: float, screenshot: str | None) -> None:
        """Draws and swaps where something is new; at the end writes what the window shows."""
        state = self.state
        if min(state.framebuffer) <= 0:
            return
        overlay = self._make_overlay(now)
        if overlay != self._overlay:
            self._overlay = overlay
            self.blitter.put_over(panels.draw(overlay))
            self._dirty = True
        if not self._dirty:
            return
        self._dirty = False
        self._draw()
        if screenshot and self.most and state.quit:
            save_picture(self.blitter.read(state.framebuffer), Path(screenshot))
        self.glfw.swap_buffers(self.window)
        if now - self._title_at > 0.25:
            self._title_at = now
            self.glfw.set_window_title(self.window, self._title())

    def _title(self) -> str:
        if self.picture is None:
            return f"tilegpu  |  {self.state.scene.name}"
        return self.state.title(self.shown.size, self.shown.samples, self.shown.ms)

    def _wait(self) -> None:
        """For input; not longer than until a message goes, or files are looked at."""
        state = self.state
        if self.worker.busy or state.moves or self.most or state.changed:
            self.glfw.poll_events()
        else:
            soon = bool(state.saying) or time.perf_counter() - self._opened_at < max(_HINT_S, MESSAGE_S) + 0.2
            self.glfw.wait_events_timeout(0.1 if soon else EVERY_S)


def view(
    scene: Scene,
    size: Size | None = None,
    samples: int | None = None,
    profile: str = "host",
    threads: int | None = None,
    lanes: int | None = None,
    isolate_compiler: bool = False,
    max_frames: int = 0,
    screenshot: str | None = None,
    event_hook: Any = None,
    start_time: float = 0.0,
    reload: Callable[[], Scene] | None = None,
    scene_files: Iterable[str] = (),
    own_keys: Mapping[str, str] | None = None,
    spin: bool = False,
    turns: bool = True,
    strict: bool | None = None,
) -> ViewState:
    """Shows the scene in a window until it is closed (or ``max_frames`` are shown); returns the last state.

    ``screenshot``: file for what the window shows at the end. ``start_time``: seconds. ``event_hook(glfw, window, state, frame_number)`` is
    called before each frame; tests use it to press keys. ``reload``: makes the scene anew when one of ``scene_files`` changed (by default
    the file that it was written in). ``own_keys``, ``turns``: see :class:`ViewState`; ``spin``: time runs from the beginning.
    ``strict``: an error ends the window, and is raised; by default where ``max_frames`` is given.

    Raises :class:`ViewerError` if no window can be opened.
    """
    import tilegpu

    state = ViewState(
        scene, samples or scene.default_samples, profile, tilegpu.profile_names(), time=start_time, spin=spin, turns=turns,
        own_keys=dict(own_keys or {}), fixed=fixed_by(scene, isinstance(scene, FunctionScene) and scene.draws_itself),
        tell_samples=samples is not None,
        tell_device=", ".join(name for name, given in (("profile", profile != "host"), ("threads", threads), ("lanes", lanes)) if given),
    )  # fmt: skip
    options: dict[str, Any] = {k: v for k, v in (("threads", threads), ("lanes", lanes)) if v is not None}
    if isolate_compiler:
        options["isolate_compiler"] = True
    painter = Painter(options, reload, scene_files or files_of_scene(scene))
    glfw, window = _open(_window_size(scene, size), f"tilegpu  |  {scene.name}")
    loop: _Loop | None = None
    try:
        glfw.make_context_current(window)
        glfw.swap_interval(0)
        loop = _Loop(glfw, window, state, painter, max_frames, event_hook, bool(max_frames) if strict is None else strict)
        loop.run(screenshot)
        return state
    finally:
        if loop is not None:
            loop.worker.stop()
        glfw.destroy_window(window)
        glfw.terminate()


def save_picture(picture: NDArray[np.uint8], path: Path) -> None:
    """Writes what was shown."""
    from PIL import Image

    from tilegpu.picture_file import save_to

    save_to(Image.fromarray(np.ascontiguousarray(picture)), path, "the screenshot")


def save_next(picture: NDArray[np.uint8], name: str) -> str:
    """Saves into the working directory under the first free name."""
    safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
    for number in range(10_000):
        path = Path(f"{safe}_{number:03}.png")
        if not path.exists():
            save_picture(picture, path)
            return str(path)
    raise OSError(f"{safe}_000.png to {safe}_9999.png exist already")
