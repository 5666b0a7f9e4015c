"""The command line: `python -m lrmask`."""

import signal
import sys

from ._native import run


def main() -> int:
    # Python's handler would wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["lrmask", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
