"""``python -m bosaris_py`` is the command ``bosaris``."""

from __future__ import annotations

import sys

from bosaris_py.cli import main

if __name__ == "__main__":
    sys.exit(main())
