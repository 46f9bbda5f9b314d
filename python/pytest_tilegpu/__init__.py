"""pytest's plugin for golden pictures: ``--tilegpu-update``, ``--tilegpu-report``, a summary, one page of all pictures that failed.

It is loaded in every pytest of an environment with tilegpu, so it imports nothing of tilegpu until a test has compared a picture.
Processes of pytest-xdist send what they compared with their test reports.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_ENVIRONMENT = (
    "TILEGPU_GOLDEN_UPDATE",
    "TILEGPU_GOLDEN_FOLDER",
    "TILEGPU_GOLDEN_OUTPUT",
    "TILEGPU_GOLDEN_ROOT",
    "TILEGPU_GOLDEN_KEEP",
    "TILEGPU_GOLDEN_RUN",
    "TILEGPU_GOLDEN_OWN",
)
#: Suffixes of other things than pages: those of tilegpu.files, which is not imported here.
_NO_PAGES = frozenset(
    (
        *(".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tga", ".tif", ".tiff", ".ppm", ".exr", ".hdr", ".svg"),
        *(".mp4", ".npy", ".npz", ".json", ".tgcap", ".pdf"),
        *(".txt", ".log", ".md", ".rst", ".csv", ".tsv", ".xml", ".yaml", ".yml", ".toml", ".ini"),
        *(".py", ".ipynb", ".sh", ".js", ".css", ".c", ".h", ".cpp", ".hpp", ".glsl", ".vert", ".frag", ".comp", ".spv"),
        *(".gltf", ".glb", ".obj", ".ply", ".stl", ".mtl", ".zip", ".gz", ".tar", ".xz", ".7z"),
    )
)
#: What a variable says where something is off; as tilegpu.testing reads it, which is not imported here.
_NO = ("", "0", "false", "no", "off")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of ``tilegpu.testing``."""
    group = parser.getgroup("tilegpu", "golden pictures (tilegpu.testing)")
    group.addoption("--tilegpu-update", action="store_true", help="write golden pictures that are missing or differ: then look at them")
    group.addoption("--tilegpu-report", metavar="FILE.html", help="one page of all pictures (else: of a run in which one failed)")
    group.addoption(
        "--tilegpu-output", metavar="DIR", help="folder for pictures that differ (default: TILEGPU_GOLDEN_OUTPUT, or tilegpu-pictures)"
    )
    about = "folder of golden pictures beside each test file, where TILEGPU_GOLDEN_FOLDER says none"
    parser.addini("tilegpu_golden", about, default="golden")


def _of_user(name: str) -> str:
    """A variable of the environment that somebody set, "" for one that a pytest around this one did (``TILEGPU_GOLDEN_OWN``)."""
    return "" if name in os.environ.get("TILEGPU_GOLDEN_OWN", "").split() else os.environ.get(name, "")


def _output(config: pytest.Config) -> Path:
    """Of the option, which is of the root's folder, or the environment's, of this one."""
    given = config.getoption("--tilegpu-output")
    of_user = _of_user("TILEGPU_GOLDEN_OUTPUT")
    return Path.cwd() / of_user if of_user and not given else config.rootpath / (given or "tilegpu-pictures")


def _check_outputs(config: pytest.Config) -> None:
    """A folder or page that can't be written is an error before the tests run. (Nothing of tilegpu is loaded yet: not tilegpu.files.)"""
    by_option, of_user = config.getoption("--tilegpu-output"), _of_user("TILEGPU_GOLDEN_OUTPUT")
    pictures = ("TILEGPU_GOLDEN_OUTPUT", of_user) if of_user and not by_option else ("--tilegpu-output", by_option or "tilegpu-pictures")
    for (option, given), folder in ((pictures, True), (("--tilegpu-report", config.getoption("--tilegpu-report")), False)):
        if not given:
            continue
        path = _output(config) if folder else config.rootpath / given
        above = path if folder else path.parent
        while not above.exists():
            above = above.parent
        if not above.is_dir() or (not folder and path.is_dir()):
            wrong = f"{path} is a folder; name a file in it" if path.is_dir() else f"{above} is no folder"
            raise pytest.UsageError(f"{option} {given}: {wrong}")
        if not folder and path.suffix.lower() in _NO_PAGES:
            raise pytest.UsageError(f"{option} {given}: it is a page of HTML, and {path.suffix} says something else; name it *.html")
        if not os.access(above, os.W_OK | os.X_OK):
            raise pytest.UsageError(f"{option} {given}: the folder {above} may not be written to")


def _warn_of_variables(config: pytest.Config) -> None:
    """Of variables that are almost called as one of ours: nobody reads them."""
    for name in os.environ:
        unknown = name.startswith("TILEGPU_") and name not in _ENVIRONMENT
        near = difflib.get_close_matches(name, _ENVIRONMENT, 1, 0.85) if unknown else []
        if near and not hasattr(config, "workerinput"):
            text = f"the variable {name} of the environment is read by nobody; did you mean {near[0]}?"
            config.issue_config_time_warning(pytest.PytestConfigWarning(text), stacklevel=2)


def pytest_configure(config: pytest.Config) -> None:
    """Tells ``tilegpu.testing``, which pytest needn't know, by environment variables."""
    _check_outputs(config)
    _warn_of_variables(config)
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    output = _output(config)
    if config.getoption("--tilegpu-update"):
        os.environ["TILEGPU_GOLDEN_UPDATE"] = "1"
    if config.getoption("--tilegpu-report"):
        os.environ["TILEGPU_GOLDEN_KEEP"] = "1"
    folder = _of_user("TILEGPU_GOLDEN_FOLDER") or config.getini("tilegpu_golden")
    own = [name for name in ("TILEGPU_GOLDEN_FOLDER", "TILEGPU_GOLDEN_OUTPUT") if not _of_user(name)]
    if config.getoption("--tilegpu-output"):
        own.append("TILEGPU_GOLDEN_OUTPUT")
    os.environ.update(
        TILEGPU_GOLDEN_FOLDER=folder, TILEGPU_GOLDEN_OUTPUT=str(output), TILEGPU_GOLDEN_ROOT=str(config.rootpath),
        TILEGPU_GOLDEN_OWN=" ".join(own),
    )  # fmt: skip
    own_run = None
    updates = os.environ.get("TILEGPU_GOLDEN_UPDATE", "").lower() not in _NO
    if updates and not hasattr(config, "workerinput"):  # processes of xdist have that of the first
        own_run = os.environ["TILEGPU_GOLDEN_RUN"] = tempfile.mkdtemp(prefix="tilegpu-golden-")
    config.pluginmanager.register(_Pictures(config, output, before, own_run), "tilegpu-pictures")


class _Pictures:
    """What the tests of a run compared."""

    def __init__(self, config: pytest.Config, output: Path, before: dict[str, str | None], own_run: str | None) -> None:
        self.config, self.output, self.before, self.own_run = config, output, before, own_run
        self.pictures: list[dict[str, Any]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Takes out pytest's warning about the module that finds an editable install of tilegpu. It was imported as Python started, and has
        no asserts. Only this warning of this module: pytest gives it before plugins are there, and has no other way to say so."""
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        warned = None if reporter is None else reporter.stats.get("warnings")
        if warned:
            ours = ("Module already imported so cannot be rewritten", "_editable_skbc_tilegpu")
            warned[:] = [one for one in warned if not all(part in one.message for part in ours)]
            if not warned:
                del reporter.stats["warnings"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Removes the last run's pictures, so that what lies there is of this one: files of our names, folders that are then empty."""
        if hasattr(self.config, "workerinput") or self.config.getoption("collectonly"):
            return
        folders = {self.output}
        for kind in ("side_by_side", "expected", "actual", "difference"):
            for path in self.output.rglob(f"*.{kind}.png"):
                path.unlink(missing_ok=True)
                folders.add(path.parent)
        (self.output / "index.html").unlink(missing_ok=True)
        for folder in sorted(folders, key=lambda f: len(f.parts), reverse=True):
            with contextlib.suppress(OSError):  # not there, or something else is in it
                folder.rmdir()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Numbers the test's pictures without a name from the first, also where a test is run again."""
        naming = sys.modules.get("tilegpu.testing.naming")
        if naming is not None:
            naming.begin_test()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Gives each report the comparisons of its test's phase."""
        report = yield
        testing = sys.modules.get("tilegpu.testing")
        if testing is not None:
            report.tilegpu_pictures = [picture.as_dict() for picture in testing.take_pictures()]  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gathers them, from other processes too."""
        self.pictures += getattr(report, "tilegpu_pictures", [])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Counts, and the page."""
        if not self.pictures or hasattr(self.config, "workerinput"):
            return
        from tilegpu import Error
        from tilegpu.testing import Picture, summary, write_report

        pictures = [Picture(**fields) for fields in self.pictures]
        wanted = self.config.getoption("--tilegpu-report")
        terminalreporter.section("golden pictures")
        terminalreporter.line(summary(pictures))
        if wanted or any(picture.files for picture in pictures):
            path = self.config.rootpath / wanted if wanted else self.output / "index.html"
            try:
                terminalreporter.line(f"look at {write_report(pictures, path)}")
            except Error as error:
                terminalreporter.line(f"no page: {error}")

    def pytest_unconfigure(self) -> None:
        """Leaves the environment as it was, and no folder of the run."""
        if self.own_run is not None:
            shutil.rmtree(self.own_run, ignore_errors=True)
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
