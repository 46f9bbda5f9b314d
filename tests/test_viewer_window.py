"""The real window, under Xvfb: what it shows, keys, resizing. A process of its own, because glfw wants the main thread."""

from __future__ import annotations

import ctypes.util
import os
import re
import shutil
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def run_in_window(display: str, folder: Path, code: str) -> str:
    """Runs Python code with the display; returns what it prints."""
    environment = dict(os.environ, DISPLAY=display, LIBGL_ALWAYS_SOFTWARE="1")
    environment.pop("WAYLAND_DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_xwd(data: bytes) -> np.ndarray:
    """(H, W, 3) of an X window dump (ZPixmap, true colour); ``bits_per_pixel`` is what the header says."""
    header = struct.unpack(">25I", data[:100])
    size, width, height, order, bits, pitch, colors = (
        header[0],
        header[4],
        header[5],
        header[7],
        header[11],
        header[12],
        header[19],
    )
    rows = np.frombuffer(data, np.uint8, height * pitch, size + 12 * colors).reshape(height, pitch)
    pixels = rows[:, : width * bits // 8].reshape(height, width, bits // 8)
    return pixels[..., 2::-1] if order == 0 else pixels[..., -3:]


def test_read_xwd() -> None:
    header = [100, 7, 2, 24, 2, 1, 0, 0, 32, 0, 32, 32, 8, 5, 0, 0, 0, 8, 256, 0, 2, 1, 0, 0, 0]
    data = struct.pack(">25I", *header) + bytes([1, 2, 3, 0, 4, 5, 6, 0])
    assert read_xwd(data).tolist() == [[[3, 2, 1], [6, 5, 4]]]


def test_window_shows_the_rendered_picture(display: str, tmp_path: Path) -> None:
    """The dump of the X window equals the scene as rendered, row 0 on top."""
    if shutil.which("xwd") is None:
        pytest.skip("xwd is not installed (x11-apps)")
    code = """
        import subprocess, numpy as np
        from tilegpu.scene import find_scene
        from tilegpu.scene.render import SceneRenderer
        from tilegpu.viewer import view
        import tilegpu
        def hook(glfw, window, state, number):
            if number == 4:
                glfw.poll_events()
                title = glfw.get_window_title(window)
                title = title.decode() if isinstance(title, bytes) else title
                open("title.txt", "w").write(title)
                dump = subprocess.run(["xwd", "-name", title], capture_output=True, check=True).stdout
                open("window.xwd", "wb").write(dump)
        scene = find_scene("heavy_overdraw_512")
        view(scene, size=(320, 240), max_frames=6, screenshot="shot.png", event_hook=hook)
        image = SceneRenderer(tilegpu.Device()).render(scene.frame((320, 240), camera=scene.camera())).images[0]
        np.save("expected.npy", image)
    """
    run_in_window(display, tmp_path, code)
    expected = np.load(tmp_path / "expected.npy")[..., :3]
    assert np.array_equal(np.asarray(Image.open(tmp_path / "shot.png")), expected)
    assert np.array_equal(read_xwd((tmp_path / "window.xwd").read_bytes()), expected)
    title = (tmp_path / "title.txt").read_text()
    assert re.search(r"heavy_overdraw_512  \|  320x240 1x  \|  host  \|  [\d.]+ ms", title)


def test_keys_and_resizing_in_the_window(display: str, tmp_path: Path) -> None:
    """M, W and a new size reach the picture; S writes it."""
    code = """
        from tilegpu.scene import find_scene
        from tilegpu.viewer import view
        sizes = []
        def hook(glfw, window, state, number):
            if number == 1:
                glfw.set_window_size(window, 200, 150)
                state.key("m")
                state.key("w")
                state.drag(20, 5, pan=False)
            if number == 6:
                state.key("s")
            frame = state.frame()
            if frame: sizes.append((frame.size, frame.samples))
        state = view(find_scene("cube"), size=(160, 120), samples=1, max_frames=8, event_hook=hook)
        print(sizes[0], sizes[-1], state.wireframe, state.screenshots)
    """
    out = run_in_window(display, tmp_path, code)
    assert out.strip() == "((160, 120), 1) ((200, 150), 2) True 1"
    assert Image.open(tmp_path / "cube_000.png").size == (200, 150)


def test_real_keys_and_mouse_reach_the_window(display: str, tmp_path: Path) -> None:
    """Events that the X server makes (XTEST), not calls of the state: keys, a drag, the wheel."""
    if ctypes.util.find_library("Xtst") is None:
        pytest.skip("libXtst is not installed")
    code = """
        import ctypes, ctypes.util, time
        from tilegpu.scene import find_scene
        from tilegpu.viewer import view
        x11, xtst = (ctypes.CDLL(ctypes.util.find_library(name)) for name in ("X11", "Xtst"))
        x11.XOpenDisplay.restype = ctypes.c_void_p
        x11.XStringToKeysym.restype = ctypes.c_ulong
        server = ctypes.c_void_p(x11.XOpenDisplay(None))
        def key(name):
            code = x11.XKeysymToKeycode(server, ctypes.c_ulong(x11.XStringToKeysym(name)))
            for down in (1, 0):
                xtst.XTestFakeKeyEvent(server, code, down, 0)
        def move(x, y):
            xtst.XTestFakeMotionEvent(server, -1, x, y, 0)
        def button(number, down):
            xtst.XTestFakeButtonEvent(server, number, down, 0)
        cameras = []
        def hook(glfw, window, state, number):
            cameras.append((state.camera.yaw, state.camera.distance))
            x, y = glfw.get_window_pos(window)
            if number == 1:
                glfw.focus_window(window)
                move(x + 40, y + 60)
            if number == 3:
                for name in (b"m", b"w", b"p", b"s"):
                    key(name)
            if number == 6:
                button(1, 1)
            if number in (8, 9, 10):
                move(x + 20 * number - 100, y + 60)
            if number == 12:
                button(1, 0)
            if number == 14:
                button(4, 1), button(4, 0)
            x11.XFlush(server)
            time.sleep(0.03)
        state = view(find_scene("cube"), size=(160, 120), samples=1, max_frames=20, event_hook=hook)
        turned, nearer = cameras[-1][0] != cameras[5][0], cameras[-1][1] < cameras[5][1]
        print(state.samples, state.wireframe, state.profile, state.screenshots, turned, nearer)
    """
    out = run_in_window(display, tmp_path, code)
    assert out.strip() == "2 True immortalis-g925 1 True True"
    assert Image.open(tmp_path / "cube_000.png").size == (160, 120)


def test_show_goes_on_after_errors(display: str, tmp_path: Path) -> None:
    """An exception is drawn over the last good picture, the help over that; the script goes on after the window."""
    code = """
        import numpy as np, tilegpu as tg
        times, seen = [], []
        def draw(t, size, keys, mouse):
            times.append(t)
            seen.append((sorted(keys.pressed), mouse.wheel))
            if len(times) > 3: raise RuntimeError("no more")
            return np.full((size[1], size[0], 3), (10, 200, 30), np.uint8)
        def hook(glfw, window, state, number):
            if number == 1:
                state.hold("w", True); state.key("w"); state.wheel(2)
        tg.show(draw, size=(320, 240), own_keys="w", max_frames=6, screenshot="shot.png", event_hook=hook)
        print(len(times), times == sorted(times), times[0] < times[-1], seen[0][0], seen[1])
    """
    out = run_in_window(display, tmp_path, code)
    assert out.strip() == "6 True True [] (['w'], 2.0)"
    shot = np.asarray(Image.open(tmp_path / "shot.png"))
    assert shot.shape == (240, 320, 3) and (shot[200, 10] == (10, 200, 30)).all()
    assert (np.abs(shot[12, 100].astype(int) - (113, 29, 24)) < 20).all(), "a red box at the top"


def test_keys_that_do_nothing_to_a_function_are_not_listed(display: str, tmp_path: Path) -> None:
    """tilegpu view of a file whose function ignores its samples: M, W, the help and the title say what is true."""
    (tmp_path / "mine.py").write_text("""
def draw(device, size, samples):
    out = device.image(size, "r8g8b8a8_unorm")
    import tilegpu as tg
    with device.render_pass(color=[tg.Attachment(out, clear=(0, 0, 1, 1))]): pass
    return out
""")
    code = """
        from pathlib import Path
        from tilegpu.scene import load_file
        from tilegpu.viewer import view, window
        said, rows = [], []
        original = window.panels.draw
        window.panels.draw = lambda o: (said.append(o.message), rows.append([r[0] for r in o.help]), said.append(o.cost), original(o))[-1]
        def hook(glfw, w, state, number):
            if number == 0: state.key("h")
            if number == 1: state.key("h"); state.key("f"); state.key("m")
            if number == 3: state.key("w")
        state = view(load_file(Path("mine.py")), size=(320, 240), max_frames=6, event_hook=hook)
        helped = [r for r in rows if r][0]
        print("W" in helped, "F" in helped, state.wireframe)
        print("the function was given samples=2; its passes have 1 a pixel" in said)
        print([s for s in said if s.startswith("320 x 240")][0].startswith("320 x 240, 1x, host"), said[-2])
    """
    out = run_in_window(display, tmp_path, code).splitlines()
    assert out == ["False True False", "True", "True the function draws: polygon_mode='line' of its own pipelines is a wireframe"]


def test_help_is_seen_and_gone(display: str, tmp_path: Path) -> None:
    code = """
        import numpy as np, tilegpu as tg
        from tilegpu.scene import find_scene
        from tilegpu.viewer import view
        def with_help(glfw, window, state, number):
            if number == 1: glfw.poll_events(); state.key("h")
        def twice(glfw, window, state, number):
            if number in (1, 2): state.key("h")
        for name, hook in (("help", with_help), ("none", twice), ("plain", None)):
            view(find_scene("cube"), size=(320, 240), max_frames=4, screenshot=f"{name}.png", event_hook=hook)
    """
    run_in_window(display, tmp_path, code)
    pictures = {n: np.asarray(Image.open(tmp_path / f"{n}.png")) for n in ("help", "none", "plain")}
    assert np.array_equal(pictures["none"], pictures["plain"])
    assert (pictures["help"] != pictures["plain"]).any(-1).mean() > 0.3


def test_the_first_thing_shown_is_a_text(display: str, tmp_path: Path) -> None:
    """While the first picture takes long the window answers, and says what it does."""
    code = """
        import time, numpy as np, tilegpu as tg
        from tilegpu.viewer import window
        said = []
        original = window.panels.draw
        window.panels.draw = lambda overlay: (said.append(overlay.status), original(overlay))[1]
        polls = []
        def draw(t):
            time.sleep(1.2)
            return np.zeros((4, 4, 3), np.uint8)
        def hook(glfw, w, state, number):
            if number == 0:
                poll = glfw.poll_events
                glfw.poll_events = lambda: (polls.append(time.perf_counter()), poll())
        tg.show(draw, size=(160, 120), max_frames=1, event_hook=hook)
        gaps = np.diff(polls)
        print(said[0], "|", any(s.endswith("1 s") for s in said), len(polls) > 20, gaps.max() < 0.5)
    """
    assert run_in_window(display, tmp_path, code).strip() == "compiling shaders | True True True"


def test_the_program_of_the_page_runs(display: str, tmp_path: Path) -> None:
    """docs/show.md: its program and its shaders, as they stand there; a shader that changes is read again."""
    page = (Path(__file__).parent.parent / "docs" / "show.md").read_text(encoding="utf-8")
    program = re.search(r"```python no-run\n(.*?)```", page, re.DOTALL)
    assert program
    for name, text in zip(("lit.vert", "lit.frag"), re.findall(r"```glsl\n(.*?)```", page, re.DOTALL), strict=True):
        (tmp_path / name).write_text(text)
    code = """
        from pathlib import Path
        import time
        def hook(glfw, window, state, number):
            if number == 1:
                state.camera.zoom(0.3)
            if number == 2:
                frag = Path("lit.frag")
                frag.write_text(frag.read_text().replace("normalize(n) * 0.5 + 0.5", "1.0, 0.0, 1.0"))
            time.sleep(0.03)
    """
    shown = program[1].replace("tg.show(draw)", 'tg.show(draw, size=(320, 240), max_frames=30, screenshot="shot.png", event_hook=hook)')
    run_in_window(display, tmp_path, textwrap.dedent(code) + shown)
    shot = np.asarray(Image.open(tmp_path / "shot.png"))
    assert ((shot == (255, 0, 255)).all(-1)).mean() > 0.05
