"""``python -m bosaris_py`` is the command ``bosaris``."""

import sys

from bosaris_py.cli import main

if __name__ == "__main__":
    sys.exit(main())
