"""Ctrl-C for tests of what it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def ctrl_c(after_s: float, within_s: float) -> Iterator[None]:
    """SIGINT to this process, `after_s` seconds from now: what is in the block must be ended by it, `within_s` seconds from now at most."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            yield
        assert time.monotonic() - began < within_s
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
