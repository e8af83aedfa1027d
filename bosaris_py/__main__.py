"""The command ``bosaris``, also ``python -m bosaris_py``; Ctrl-C ends its imports quietly, too."""

import os
import signal
import sys


def _end(*_: object) -> None:
    """End the program while it imports: nothing is written yet that would be lost."""
    os.write(2, b"bosaris: interrupted\n")
    os._exit(130)


# Raised in the midst of an import, KeyboardInterrupt can become another error, as in numpy's.
# In the background of a shell the signal is ignored, and stays so.
_is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _is_heard:
    signal.signal(signal.SIGINT, _end)

from bosaris_py import cli  # noqa: E402


def main() -> int:
    """Run the command; return its exit code."""
    if _is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
