"""Columns of categories, and the order of trials in lists."""

from bosaris_py.storage.columns import Factor

__all__ = ["Factor"]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
