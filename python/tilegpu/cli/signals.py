"""SIGTERM and SIGHUP as Ctrl-C: a command ends in its own words, with what is done kept. In: signals. Out: an exception, an exit code.

Only where the handler is the system's: whoever ignores SIGHUP (``nohup``) or has a handler of his own keeps it. Python calls handlers in
the main thread alone, so elsewhere nothing is changed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
#: A signal that comes again so soon is the same one: ``timeout`` and terminals send it to a process and to its group.
_SAME_S = 1.0


class Ended(KeyboardInterrupt):
    """A signal that ends the command: whatever knows Ctrl-C knows it too."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """As shells say it: 130 of Ctrl-C, 143 of SIGTERM, 129 of SIGHUP."""
    return 128 + (stop.number if isinstance(stop, Ended) else int(signal.SIGINT))


def tell(text: str) -> None:
    """A line on stderr, if that is still there: with SIGHUP the terminal has gone."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def as_interrupts() -> Iterator[None]:
    """Inside, the first SIGTERM or SIGHUP raises :class:`Ended`; one more, a second later, ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process, first_s = os.getpid(), [0.0]

    def ended(number: int, _: FrameType | None) -> None:
        now_s = time.monotonic()
        if os.getpid() != process or (first_s[0] and now_s - first_s[0] > _SAME_S):  # a fork of this process ends as forks do
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not first_s[0]:
            first_s[0] = now_s
            raise Ended(number)

    ours = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, ended)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is ended:  # a user's code may have set one of its own
                signal.signal(number, signal.SIG_DFL)
