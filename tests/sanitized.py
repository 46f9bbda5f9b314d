"""What is another thing in a build with sanitizers (`make test-sanitize`): how a process ends that meets an error, how long work takes."""

from __future__ import annotations

import os
import signal

SANITIZED = bool(os.environ.get("TILEGPU_SANITIZED"))
#: How a process ends that touches what is not its own: AddressSanitizer catches SIGSEGV, reports and aborts (abort_on_error=1).
CRASH = int(signal.SIGABRT if SANITIZED else signal.SIGSEGV)
#: For programs of others: not with the sanitizers' libraries, which are loaded first into every process of the suite.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" or not SANITIZED}
