"""The window itself: glfw for window and input, moderngl to put the picture into it.

The picture is uploaded as a texture of the framebuffer's size and drawn by one full-screen triangle, row 0 on top.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilegpu.scene import Scene
from tilegpu.viewer.mapping import Size
from tilegpu.viewer.state import ViewState

_VERTEX = """#version 330
out vec2 uv;
void main() {
  vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  uv = vec2(p.x * 0.5 + 0.5, 0.5 - p.y * 0.5);
  gl_Position = vec4(p, 0.0, 1.0);
}"""
_FRAGMENT = """#version 330
uniform sampler2D picture;
in vec2 uv;
out vec4 color;
void main() { color = vec4(texture(picture, uv).rgb, 1.0); }"""


class ViewerError(RuntimeError):
    """The window cannot be opened; the message says what is missing."""


class Blitter:
    """Shows (H, W, 4) uint8 pictures in the current window."""

    def __init__(self) -> None:
        import moderngl

        try:
            self.ctx: moderngl.Context = moderngl.create_context(require=330)
        except Exception as error:
            raise ViewerError(f"no OpenGL 3.3 in this window: {error}") from error
        self._program = self.ctx.program(vertex_shader=_VERTEX, fragment_shader=_FRAGMENT)
        self._array = self.ctx.vertex_array(self._program, [])
        self._texture: moderngl.Texture | None = None

    def show(self, picture: NDArray[np.uint8], framebuffer: Size) -> None:
        """Draws the picture over the whole framebuffer."""
        import moderngl

        size = picture.shape[1], picture.shape[0]
        if self._texture is None or self._texture.size != size:
            if self._texture is not None:
                self._texture.release()
            self._texture = self.ctx.texture(size, 4)
            self._texture.filter = moderngl.LINEAR, moderngl.LINEAR
        self._texture.write(np.ascontiguousarray(picture))
        screen = self.ctx.screen
        screen.use()
        self.ctx.viewport = (0, 0, *framebuffer)
        self._texture.use(0)
        self._array.render(moderngl.TRIANGLES, vertices=3)

    def read(self, framebuffer: Size) -> NDArray[np.uint8]:
        """(H, W, 3): what the window's back buffer holds, row 0 on top."""
        data = self.ctx.screen.read(viewport=(0, 0, *framebuffer), components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(framebuffer[1], framebuffer[0], 3)[::-1]


def _key_name(glfw: Any, key: int) -> str:
    if glfw.KEY_A <= key <= glfw.KEY_Z:
        return chr(ord("a") + key - glfw.KEY_A)
    return {glfw.KEY_SPACE: "space", glfw.KEY_ESCAPE: "escape"}.get(key, "")


def _attach(glfw: Any, window: Any, state: ViewState) -> None:
    """Connects the window's input to the state."""
    last = [0.0, 0.0]

    def on_key(_: Any, key: int, __: int, action: int, ___: int) -> None:
        if action == glfw.PRESS:
            state.key(_key_name(glfw, key))

    def on_cursor(_: Any, x: float, y: float) -> None:
        dx, dy = x - last[0], y - last[1]
        last[:] = x, y
        held = [glfw.get_mouse_button(window, b) == glfw.PRESS for b in range(3)]
        shift = (
            glfw.get_key(window, glfw.KEY_LEFT_SHIFT) == glfw.PRESS
            or glfw.get_key(window, glfw.KEY_RIGHT_SHIFT) == glfw.PRESS
        )
        if any(held) and (dx or dy):
            state.drag(dx, dy, pan=held[1] or held[2] or shift)

    def on_button(_: Any, __: int, action: int, ___: int) -> None:
        if action == glfw.PRESS:
            last[:] = glfw.get_cursor_pos(window)

    def on_refresh(_: Any) -> None:
        state.changed = True

    glfw.set_key_callback(window, on_key)
    glfw.set_cursor_pos_callback(window, on_cursor)
    glfw.set_mouse_button_callback(window, on_button)
    glfw.set_scroll_callback(window, lambda _, __, y: state.wheel(y))
    glfw.set_window_refresh_callback(window, on_refresh)


def _open(size: Size, title: str) -> tuple[Any, Any]:
    try:
        import glfw
    except ImportError as error:
        raise ViewerError("the window needs glfw and moderngl: pip install 'tilegpu[view]'") from error
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


def as_rgba(image: NDArray[Any]) -> NDArray[np.uint8]:
    """(H, W, 4) uint8 of any colour image; floats are clamped to 0..1."""
    if image.dtype != np.uint8:
        image = np.rint(np.clip(np.nan_to_num(image.astype(np.float32)), 0, 1) * 255).astype(np.uint8)
    height, width, channels = image.shape
    if channels == 4:
        return image
    out = np.full((height, width, 4), 255, np.uint8)
    out[..., :3] = 0
    out[..., :channels] = image
    return out


def view(
    scene: Scene,
    size: Size | None = None,
    samples: int | None = None,
    profile: str = "host",
    threads: int | None = None,
    lanes: int | None = None,
    max_frames: int = 0,
    screenshot: str | None = None,
    event_hook: Any = None,
    start_time: float = 0.0,
) -> ViewState:
    """Shows the scene in a window until it is closed (or ``max_frames`` are shown); returns the last state.

    ``screenshot``: file for what the window shows at the end. ``start_time``: seconds. ``event_hook(glfw, window, state, frame_number)`` is
    called before each frame; tests use it to press keys. Raises :class:`ViewerError` if no window can be opened.
    """
    import tilegpu
    from tilegpu.scene import SceneRenderer

    state = ViewState(scene, samples or scene.default_samples, profile, tilegpu.profile_names(), time=start_time)
    glfw, window = _open(_window_size(scene, size), f"tilegpu  |  {scene.name}")
    options: dict[str, Any] = {k: v for k, v in (("threads", threads), ("lanes", lanes)) if v is not None}
    renderer: SceneRenderer | None = None
    current_profile = ""
    try:
        glfw.make_context_current(window)
        glfw.swap_interval(0)
        blitter = Blitter()
        _attach(glfw, window, state)
        frames, title_at, last = 0, 0.0, time.perf_counter()
        while not (state.quit or glfw.window_should_close(window)):
            state.resize(glfw.get_window_size(window), glfw.get_framebuffer_size(window))
            now = time.perf_counter()
            state.advance(now - last)
            last = now
            if event_hook is not None:
                event_hook(glfw, window, state, frames)
            if state.changed or max_frames:
                state.changed = False
                if renderer is None or current_profile != state.profile:
                    try:
                        renderer = SceneRenderer(tilegpu.Device(profile=state.profile, **options))
                        current_profile = state.profile
                    except Exception as error:
                        if renderer is None:
                            raise
                        state.message, state.profile = str(error), current_profile
                frame = state.frame()
                if frame is not None:
                    start = time.perf_counter()
                    picture = as_rgba(renderer.render(frame).images[0])
                    milliseconds = (time.perf_counter() - start) * 1e3
                    blitter.show(picture, state.framebuffer)
                    frames += 1
                    if state.want_screenshot:
                        state.want_screenshot = False
                        state.message = f"saved {_save_next(picture, scene.name)}"
                        state.screenshots += 1
                        title_at = 0.0
                    if max_frames and frames >= max_frames:
                        state.quit = True
                        if screenshot:
                            _save(blitter.read(state.framebuffer), Path(screenshot))
                    glfw.swap_buffers(window)
                    if now - title_at > 0.25:
                        title_at = now
                        glfw.set_window_title(window, state.title(frame, milliseconds))
            if state.moves or max_frames or state.changed:
                glfw.poll_events()
            else:
                glfw.wait_events_timeout(0.25)
        if screenshot and not max_frames:
            _save(blitter.read(state.framebuffer), Path(screenshot))
        return state
    finally:
        glfw.destroy_window(window)
        glfw.terminate()


def _save(picture: NDArray[np.uint8], path: Path) -> None:
    from PIL import Image

    Image.fromarray(np.ascontiguousarray(picture)).save(path)


def _save_next(picture: NDArray[np.uint8], name: str) -> str:
    """Saves into the working directory under the first free name."""
    safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
    for number in range(10_000):
        path = Path(f"{safe}_{number:03}.png")
        if not path.exists():
            _save(picture, path)
            return str(path)
    raise OSError(f"{safe}_000.png to {safe}_9999.png exist already")
