"""``tilegpu vulkan``: other programs on tilegpu's Vulkan driver.

    tilegpu vulkan run -- PROGRAM ...      start a program that finds this driver and no other
    tilegpu vulkan env                     the variables for it, for `eval "$(tilegpu vulkan env)"`
    tilegpu vulkan install | uninstall     for all programs of this user (--system: of all users)
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from typing import Any

from tilegpu.cli.common import EXIT_OK, Parser, UsageError

NOT_FOUND, NOT_EXECUTABLE = 127, 126


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "vulkan",
        help="start other programs on tilegpu's Vulkan driver",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser, required=True)
    run_verb = verbs.add_parser("run", help="start a program that finds this driver")
    run_verb.add_argument("--add", action="store_true", help="beside the machine's own drivers, not alone")
    run_verb.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM ...", help="the program and its arguments")
    env = verbs.add_parser("env", help="print the variables that a program needs")
    env.add_argument("--add", action="store_true", help="beside the machine's own drivers, not alone")
    for name, text in (("install", "for all programs of this user"), ("uninstall", "no longer")):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("--system", action="store_true", help="in /etc/vulkan/icd.d, for all users")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Does what the verb says."""
    from tilegpu import vulkan

    if options.verb == "env":
        for name, value in vulkan.environment(add=options.add).items():
            print(f"export {name}={shlex.quote(value)}")
    elif options.verb == "install":
        print(f"wrote {vulkan.install(system=options.system)}; tilegpu vulkan uninstall takes it away again")
    elif options.verb == "uninstall":
        path = vulkan.uninstall(system=options.system)
        print(f"removed {path}" if path else "nothing was installed")
    else:
        return start(options.program, vulkan.environment(add=options.add))
    return EXIT_OK


def start(words: list[str], variables: dict[str, str]) -> int:
    """Becomes the program; returns only where that is not possible."""
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UsageError("run: which program? tilegpu vulkan run -- PROGRAM ARGUMENTS")
    program = shutil.which(words[0])
    if program is None:
        raise UsageError(f"run: there is no program {words[0]}")
    os.environ.update(variables)
    os.execv(program, words)
