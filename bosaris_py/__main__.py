"""The command ``bosaris``, also ``python -m bosaris_py``; Ctrl-C ends its imports quietly, too."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command; return its exit code."""
    try:
        # numpy takes an interrupt of this import for a broken installation.
        import datetime as dt  # noqa: F401

        from bosaris_py import cli

        return cli.main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("bosaris: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
