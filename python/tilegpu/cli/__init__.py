"""The command line ``tilegpu``: one module for each command.

Exit codes: 0 fine; 1 failed, or pictures differ by more than the tolerance; 2 the command was not understood or names what does not
exist or is no model; 3 ``compare`` had nothing to compare with; 130, 143, 129 Ctrl-C, SIGTERM,
SIGHUP. ``TILEGPU_DEBUG=1`` shows the traceback behind a message.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from tilegpu.cli import bench, compare, explain, info, render, replay, scenes, verify, view, vulkan, what_if
from tilegpu.cli.common import EXIT_FAILED, EXIT_USAGE, Parser, UsageError
from tilegpu.cli.signals import Ended, as_interrupts, exit_code, tell
from tilegpu.cli.streams import open_missing_streams
from tilegpu.terminal import be_quiet

__all__ = ["build_parser", "main"]


class _Version(argparse.Action):
    """Prints the version; the library is loaded only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import tilegpu

        print(f"tilegpu {tilegpu.__version__}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="tilegpu",
        description="A tile-based GPU in software: renders scenes and models, shows them in a window, compares them with OpenGL.",
        epilog="SCENE is a name that 'tilegpu scenes' lists; FILE is a model (glTF, GLB, OBJ, PLY, STL), or Python of your own: "
        "FILE.py[:NAME].",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for module in (scenes, render, verify, view, compare, explain, what_if, replay, bench, vulkan, info):
        module.add_parser(commands)
    return parser


def plain_warning(message: object, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    """A warning as one line: without tilegpu's own source, with the user's place where it is of a user's file."""
    path = Path(filename)
    own = Path(__file__).resolve().parent.parent in path.resolve().parents
    own = own or path.resolve() == Path(sys.argv[0]).resolve()  # the script that pip makes of the command
    where = "" if own or not path.is_file() else f"{filename}:{lineno}: "
    return f"warning: {where}{' '.join(str(message).split())}\n"


def _where_of(error: BaseException) -> str:
    """The innermost line that raised it, as ``file:line: ``."""
    lines = traceback.extract_tb(error.__traceback__)
    return f"{lines[-1].filename}:{lines[-1].lineno}: " if lines else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    open_missing_streams()
    parser = build_parser()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # argparse can't hand options on to a parser that is built later.
        options = bench.options(words[1:]) if words[:1] == ["bench"] else parser.parse_args(words)
    except SystemExit as stop:  # argparse has written its message
        return int(stop.code or 0)
    if options.command is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE
    be_quiet(getattr(options, "quiet", False))
    form, warnings.formatwarning = warnings.formatwarning, plain_warning
    try:
        with as_interrupts():
            return int(options.run(options))
    except UsageError as error:
        print(f"tilegpu {options.command}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except SystemExit as stop:  # of code of the user's, whose 0 would say that all is done
        where = _where_of(stop)
        print(f"tilegpu {options.command}: {where}sys.exit({stop.code!r:.80}) ended the command before it was done", file=sys.stderr)
        return EXIT_USAGE if options.command in ("compare", "verify") else EXIT_FAILED
    except KeyboardInterrupt as stop:
        tell(f"tilegpu {options.command}: interrupted" + (f" ({stop})" if isinstance(stop, Ended) else ""))
        return exit_code(stop)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("TILEGPU_DEBUG"):
            raise
        text = str(error) or type(error).__name__
        from tilegpu import Error

        if not isinstance(error, (Error, ValueError, OSError, RuntimeError)):
            text = f"{type(error).__name__}: {text} (an error of tilegpu itself; TILEGPU_DEBUG=1 shows where)"
        print(f"tilegpu {options.command}: {text}", file=sys.stderr)
        # 1 says that something differs: where nothing was compared, that is not known.
        return EXIT_USAGE if options.command in ("compare", "verify") else EXIT_FAILED
    finally:
        warnings.formatwarning = form
