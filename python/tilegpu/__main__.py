"""``python -m tilegpu``: the command line."""

import sys

from tilegpu.cli import main

if __name__ == "__main__":
    sys.exit(main())
