"""What ``tilegpu bench`` runs, wherever a wheel is installed: tilegpu beside other renderers, techniques and settings beside one another.

One module for each question, with ``add_parser``, a table for people and rows for ``--json``; pictures or counters are checked before
times are shown. What needs the repository (its sources, a C++ compiler, valgrind, perf) is in ``benchmarks/``.
The door of this room; the modules that it names are those whose parts ``benchmarks/`` uses.
"""

from typing import Any

__all__ = ["add_parsers", "msaa", "peers", "timing"]


def add_parsers(group: Any) -> None:
    """Adds the arguments of every measurement to argparse's ``group``."""
    from tilegpu.bench import compute, depth_filter, hsr, msaa, passes, peers, scaling, startup, vertex

    for module in (peers, compute, passes, msaa, hsr, depth_filter, vertex, scaling, startup):
        module.add_parser(group)
