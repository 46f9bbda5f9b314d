"""``tilegpu bench peers``: the reference scenes, or everyday ones, on tilegpu and on other renderers, by turns in one run.

Peers are OpenGL through moderngl (here Mesa's llvmpipe), OpenGL in a Python of its own (``--opengl NAME=PYTHON``), and any Vulkan
driver (``--vulkan NAME=ICD``), through the program ``vkpeer`` that draws the reference scenes by itself (``--vkpeer PATH``), or through
``vkframe``, which draws any scene from a file (``--vkframe PATH``, built by ``make vkframe``; scenes that are no reference scenes need it).
With both, reference scenes have a row of each: ``NAME`` by vkpeer, ``NAME.file`` by vkframe. ``NAME=ICD,PROGRAM`` has a program of its
own in place of the one that is given, or needed. PYTHON and PROGRAM may be scripts that start Python or vkpeer with another loader and
other libraries: so drivers that need a newer system take part. A peer that was asked for and is missing ends the run. Timed is what a
frame costs from the submission of recorded commands until the image is complete; recording from Python, and frames whose transform
changes every time, are columns of their own. The pictures of the same run are compared, so that nobody is fast by drawing less. Of the
set ``everyday`` (``--set``) the scene ``tiny_64`` is recorded anew from Python for every frame, ours and OpenGL's: there the whole path
counts. What a peer can't draw is said in its row.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tilegpu as tg
from tilegpu.bench.frame_file import write
from tilegpu.bench.timing import by_turns, machine, ratio_of
from tilegpu.scene import Frame, SceneRenderer, find_scene, scenes
from tilegpu.terminal import UsageError, progress, say, scene_file

SCENES = (
    "clear", "fill_opaque_back_to_front", "fill_opaque_front_to_back", "fill_blend", "heavy_overdraw_512", "heavy_overdraw_1080p",
    "mesh_100k", "mesh_1m", "textured_pbr", "msaa1", "msaa4_pass_resolve", "multisampling1", "multisampling4_pass_resolve", "gbuffer5",
    "draws_10k",
)  # fmt: skip
#: Real work of many kinds, which nothing was tuned for.
EVERYDAY = (
    "foliage", "foliage_msaa", "foliage_coverage", "forest", "terrain", "crowd", "particles", "particles_additive", "particles_soft",
    "toy_ray_march", "toy_noise", "toy_fractal", "blur_separable", "blur_disc", "bloom_chain", "tone_mapping", "ssao", "taa",
    "shadow_cascades", "decals", "lights_200", "sky_ibl", "materials", "interface", "text_4k", "line_chart", "point_cloud", "sprites",
    "tiny_64", "poster_8k",
)  # fmt: skip
SETS = {"reference": SCENES, "everyday": EVERYDAY}
#: Scenes so small that what they cost is the way from Python: recorded anew for every frame.
RECORDED = frozenset({"tiny_64"})
#: The file of a frame, in the folder that peers are given.
FRAME = "frame"


@dataclass(frozen=True)
class Row:
    """One scene and one peer. ``ratio``: the peer's time over ours, median of the rounds, with its least and greatest.

    Where no peer was asked for there is one row, whose peer is ``"none"`` and whose figures of it are ``None``.
    ``differ``: share of the pixels whose colour differs by more than 2/255 from ours, ``None`` where the peer has no picture.
    ``moving_ms``: a frame of ours that is recorded anew with another transform, ``None`` unless asked for.
    ``note``: why the peer has no figures.
    """

    scene: str
    tilegpu_ms: float
    peer: str = "none"
    peer_ms: float | None = None
    ratio: float | None = None
    ratio_min: float | None = None
    ratio_max: float | None = None
    differ: float | None = None
    moving_ms: float | None = None
    note: str = ""


def is_reference(scene: str) -> bool:
    """Whether it is one of the scenes that vkpeer has too: those of ``samples/reference.py``."""
    return type(scenes().get(scene)).__module__.endswith("._samples.reference")


@dataclass(frozen=True)
class VulkanPeer:
    """A driver: its ICD file, drawn on by vkpeer."""

    name: str
    icd: Path
    program: Path

    def draws(self, scene: str) -> bool:
        """vkpeer knows the reference scenes alone."""
        return is_reference(scene)

    def run(self, scene: str, seconds: float, pictures: Path) -> tuple[float, NDArray[np.uint8] | None]:
        """Median milliseconds and the picture. Raises ``RuntimeError`` with the program's own words."""
        log = pictures / "vkpeer.json"
        environment = os.environ | {
            "VK_ICD_FILENAMES": str(self.icd),
            "VK_DRIVER_FILES": str(self.icd),
            "MESA_SHADER_CACHE_DISABLE": "true",
        }
        command = [
            str(self.program),
            "--scene",
            scene,
            "--time",
            f"{seconds:g}",
            "--attempts",
            "1",
            "--json",
            str(log),
            "--out",
        ]
        done = subprocess.run([*command, str(pictures)], env=environment, capture_output=True, text=True, check=False)
        rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        found = [row for row in rows if row.get("scene") == scene and not row.get("skipped")]
        if done.returncode or not found:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise RuntimeError(f"peer '{self.name}' did not draw {scene}: {words[-1] if words else 'no output'}")
        return float(found[0]["median_ms"]), _read_ppm(pictures / f"{scene}.ppm")


@dataclass(frozen=True)
class VulkanFramePeer(VulkanPeer):
    """A driver that draws the scene's frame out of a file (:mod:`tilegpu.bench.frame_file`), ``pictures / FRAME``, by vkframe."""

    def draws(self, scene: str) -> bool:
        """Any scene, as far as the file has words for it."""
        return True

    def run(self, scene: str, seconds: float, pictures: Path) -> tuple[float, NDArray[np.uint8] | None]:
        """Median milliseconds and the picture. Raises ``RuntimeError`` with the program's own words."""
        log, shown = pictures / f"{self.name}.json", pictures / f"{self.name}.ppm"
        environment = os.environ | {
            "VK_ICD_FILENAMES": str(self.icd),
            "VK_DRIVER_FILES": str(self.icd),
            "MESA_SHADER_CACHE_DISABLE": "true",
        }
        command = [self.program, "--frame", pictures / FRAME, "--time", f"{seconds:g}", "--json", log, "--out", shown]
        done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=False)
        if done.returncode or not log.exists():
            words = (done.stderr or done.stdout).strip().splitlines()
            raise RuntimeError(f"peer '{self.name}' did not draw {scene}: {words[-1] if words else 'no output'}")
        return float(json.loads(log.read_text())["median_ms"]), _read_ppm(shown)


@dataclass(frozen=True)
class OpenGLPeer:
    """OpenGL in a process of its own: a Python interpreter, or a script that starts one with other libraries."""

    name: str
    python: Path

    def draws(self, scene: str) -> bool:
        """Any scene; what OpenGL has not is an error."""
        return True

    def run(self, scene: str, seconds: float, pictures: Path) -> tuple[float, NDArray[np.uint8] | None]:
        """Median milliseconds and the picture. Raises ``RuntimeError`` with the interpreter's last words."""
        shown = pictures / f"{self.name}.npy"
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "MESA_SHADER_CACHE_DISABLE": "true",
        }
        command = [str(self.python), "-m", "tilegpu.bench.gl_peer", scene, f"{seconds:g}", str(shown)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise RuntimeError(f"peer '{self.name}' did not draw {scene}: {words[-1] if words else 'no output'}")
        return float(done.stdout.split()[-1]), np.load(shown)


def _read_ppm(path: Path) -> NDArray[np.uint8] | None:
    if not path.exists():
        return None
    kind, size, _, pixels = path.read_bytes().split(b"\n", 3)
    if kind != b"P6":
        return None
    width, height = map(int, size.split())
    return np.frombuffer(pixels, np.uint8, width * height * 3).reshape(height, width, 3)


def _share_over_2(ours: NDArray[Any], theirs: NDArray[Any] | None) -> float | None:
    if theirs is None or ours.dtype != np.uint8 or ours.shape[:2] != theirs.shape[:2]:
        return None
    difference = np.abs(ours[..., :3].astype(np.int16) - theirs[..., :3])
    return float((difference.max(-1) > 2).mean())


def _turned(frame: Frame, angle: float) -> Frame:
    """The frame with every draw's transform nudged: what a frame from the application brings that no cache can know."""
    draws = []
    c, s = math.cos(angle), math.sin(angle)
    nudge = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)
    for draw in frame.draws:
        push = dict(draw.push)
        if "mvp" in push:
            push["mvp"] = nudge @ np.asarray(push["mvp"], np.float32)
        draws.append(dataclasses.replace(draw, push=push))
    return dataclasses.replace(frame, draws=tuple(draws))


def _moving(renderer: SceneRenderer, frame: Frame) -> Callable[[], None]:
    frames = [_turned(frame, 1e-4 * k) for k in range(1, 9)]
    state = {"next": 0}

    def run() -> None:
        renderer.render(frames[state["next"] % len(frames)], read=False)
        state["next"] += 1

    return run


def measure(
    scene: str, gl: bool, others: Sequence[VulkanPeer | OpenGLPeer], seconds: float, rounds: int, moving: bool
) -> list[Row]:
    """Rows of one scene."""
    frame = find_scene(scene).frame()
    renderer = SceneRenderer(tg.Device(isolate_compiler=scene_file(scene) is not None))
    picture = renderer.render(frame).images[0]
    renderer.device.wait_compiles()
    anew = scene in RECORDED
    runs: dict[str, Callable[[], object]] = {
        "tilegpu": lambda: renderer.render(dataclasses.replace(frame) if anew else frame, read=False)
    }
    differ: dict[str, float | None] = {}
    notes: dict[str, str] = {}
    if gl:
        from tilegpu.reference import PreparedFrame, ReferenceError, Renderer

        try:
            prepared = PreparedFrame(frame)
            with Renderer.shared() as reference:
                differ["gl"] = _share_over_2(picture, reference.render(frame).images[0])
            runs["gl"] = prepared.run
        except ReferenceError as error:
            notes["gl"] = f"OpenGL does not draw it: {error}"
    times: dict[str, list[float]] = {}
    others = [peer for peer in others if peer.draws(scene)]
    with tempfile.TemporaryDirectory() as folder:
        if any(isinstance(peer, VulkanFramePeer) for peer in others):
            try:
                write(frame, renderer, Path(folder) / FRAME)
            except ValueError as error:
                absent = [peer for peer in others if isinstance(peer, VulkanFramePeer)]
                notes |= {peer.name: f"vkframe does not draw it: {error}" for peer in absent}
                others = [peer for peer in others if peer not in absent]
        for _ in range(rounds):
            for name, found in by_turns(runs, seconds / rounds, 1).items():
                times.setdefault(name, []).extend(found)
            for peer in others:
                peer_ms, shown = peer.run(scene, seconds / rounds, Path(folder))
                times.setdefault(peer.name, []).append(peer_ms)
                differ[peer.name] = _share_over_2(picture, shown)
    ours = times.pop("tilegpu")
    ours_ms, moving_ms = statistics.median(ours), None
    if moving:
        moving_ms = statistics.median(by_turns({"moving": _moving(renderer, frame)}, seconds / rounds, 1)["moving"])
    rows = [
        Row(scene, ours_ms, name, statistics.median(theirs), *ratio_of(ours, theirs), differ.get(name), moving_ms)
        for name, theirs in times.items()
    ]
    rows += [Row(scene, ours_ms, name, moving_ms=moving_ms, note=note) for name, note in notes.items()]
    return rows or [Row(scene, ours_ms, moving_ms=moving_ms)]


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "peers",
        help="the reference scenes, or everyday ones, beside OpenGL and Vulkan drivers, by turns",
        description=(__doc__ or "").split("\n\n", 1)[1].replace("\n", " "),
    )
    parser.add_argument("--scene", action="append", metavar="NAME", help="one scene (again for more; default: all of the set)")
    parser.add_argument("--set", choices=SETS, default="reference", help="which scenes (default reference)")
    parser.add_argument("--no-gl", action="store_true", help="leave OpenGL out")
    parser.add_argument(
        "--vkpeer", metavar="PATH", type=Path, help="the program that draws the reference scenes on Vulkan drivers"
    )
    parser.add_argument(
        "--vkframe", metavar="PATH", type=Path, help="the program that draws any scene from a file on Vulkan drivers (make vkframe)"
    )
    parser.add_argument(
        "--vulkan",
        action="append",
        default=[],
        metavar="NAME=ICD[,PROGRAM]",
        help="a driver's ICD file, with a name (again for more); PROGRAM draws on it instead of --vkpeer's, or --vkframe's",
    )
    parser.add_argument(
        "--opengl",
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help="OpenGL in a process of this Python, or of a script that starts one with other libraries (again for more)",
    )
    parser.add_argument(
        "--time", type=float, default=1.5, metavar="SECONDS", help="for each scene and renderer (default 1.5)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns (default 3)")
    parser.add_argument("--moving", action="store_true", help="also frames recorded anew with another transform")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.set_defaults(run=run)


def _peers(options: argparse.Namespace, names: Sequence[str]) -> list[VulkanPeer | OpenGLPeer]:
    """The peers that run in processes of their own. ``names``: of the scenes."""
    peers: list[VulkanPeer | OpenGLPeer] = []
    given = [(option, path) for option, path in (("--vkpeer", options.vkpeer), ("--vkframe", options.vkframe)) if path is not None]
    for option, path in given:
        if not options.vulkan:
            raise UsageError(f"{option} has no effect: it draws on drivers; give --vulkan NAME=ICD")
        _must_be_files((option, path))
    others = [name for name in names if not is_reference(name)]
    if options.vkpeer is not None and len(others) == len(names):
        raise UsageError("--vkpeer has no effect: it draws the reference scenes alone, and none of them is asked for; give --vkframe")
    for text in options.vulkan:
        peers += _drivers(text, options, others)
    for text in options.opengl:
        name, equals, python = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--opengl is '{text}'; it must be NAME=PYTHON, such as other=/usr/bin/python3")
        _must_be_files((f"--opengl {name}", Path(python)))
        peers.append(OpenGLPeer(name, Path(python)))
    called = ["tilegpu", *([] if options.no_gl else ["gl"]), *(peer.name for peer in peers)]
    for name in called:
        if called.count(name) > 1:
            raise UsageError(
                f"two peers are called '{name}'; names of --vulkan and --opengl must differ, also from 'gl' and 'tilegpu'"
            )
    return peers


def _drivers(text: str, options: argparse.Namespace, others: Sequence[str]) -> list[VulkanPeer | OpenGLPeer]:
    """What ``--vulkan`` names, by each of the programs that draw on it. ``others``: scenes that are no reference scenes."""
    name, equals, rest = text.partition("=")
    if not equals or not name:
        raise UsageError(
            f"--vulkan is '{text}'; it must be NAME=ICD[,PROGRAM], such as lavapipe=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
        )
    file, _, own = rest.partition(",")
    icd, by_itself, by_file = Path(file), options.vkpeer, options.vkframe
    if own and by_itself is not None and by_file is not None:
        raise UsageError(f"--vulkan {name}: which of --vkpeer and --vkframe is {own} in place of? Leave one of them out")
    if own and (by_file is not None or others):
        by_file = Path(own)
    elif own:
        by_itself = Path(own)
    if others and by_file is None:
        raise UsageError(f"--vulkan {name}: scene {others[0]} needs --vkframe PATH, which draws any scene, or NAME=ICD,PROGRAM")
    if by_itself is None and by_file is None:
        raise UsageError(
            f"--vulkan {name} needs --vkpeer PATH, the program that draws the scenes on a Vulkan driver, or NAME=ICD,PROGRAM"
        )
    _must_be_files((f"--vulkan {name}", icd), *([("program", Path(own))] if own else []))
    found: list[VulkanPeer | OpenGLPeer] = []
    if by_itself is not None:
        found.append(VulkanPeer(name, icd, by_itself))
    if by_file is not None:
        found.append(VulkanFramePeer(f"{name}.file" if found else name, icd, by_file))
    return found


def _must_be_files(*named: tuple[str, Path]) -> None:
    for what, path in named:
        if not path.is_file():
            raise UsageError(f"{what}: {path} does not exist")


def run(options: argparse.Namespace) -> int:
    """Runs the command; a peer that fails ends it."""
    os.environ.setdefault("GALLIVM_PERF", "")  # comparisons switch llvmpipe's shortcuts off; here it may take them
    names = options.scene or SETS[options.set]
    peers = _peers(options, names)
    rows: list[Row] = []
    if not options.json:
        print(", ".join(f"{k} {v}" for k, v in machine().items()))
        print(
            f"{'scene':28}{'tilegpu ms':>11}  {'peer':8}{'ms':>10}{'ratio':>7}  {'spread':13}{'differ':>8}{'moving ms':>11}"
        )
    for scene in progress(names, len(names), "bench peers"):
        found = measure(scene, not options.no_gl, peers, options.time, options.rounds, options.moving)
        rows += found
        if not options.json:
            _print(found)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print_mean(rows)
    return 0


def _print(rows: Iterable[Row]) -> None:
    def figure(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    for row in rows:
        differ = "-" if row.differ is None else f"{row.differ:.2%}"
        spread = f"{figure(row.ratio_min):>5} ..{figure(row.ratio_max):>5}"
        moving = "" if row.moving_ms is None else f"{row.moving_ms:11.2f}"
        moving += f"  {row.note}" if row.note else ""
        say(
            f"{row.scene:28}{row.tilegpu_ms:11.2f}  {row.peer:8}{figure(row.peer_ms):>10}{figure(row.ratio):>7}  "
            f"{spread}{differ:>8}{moving}"
        )


def _print_mean(rows: Sequence[Row]) -> None:
    """Geometric mean over the scenes of the ratio to the fastest peer, clear left out."""
    fastest: dict[str, float] = {}
    for row in rows:
        if row.scene != "clear" and row.ratio is not None:
            fastest[row.scene] = min(row.ratio, fastest.get(row.scene, math.inf))
    if fastest:
        mean = math.exp(sum(math.log(r) for r in fastest.values()) / len(fastest))
        print(f"geometric mean over {len(fastest)} scenes, to the fastest peer of each: {mean:.2f}")
