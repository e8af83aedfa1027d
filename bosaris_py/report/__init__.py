"""The report of an evaluation: one HTML file with tables and pictures, which needs no network."""

from bosaris_py.report.page import Report, write_report

__all__ = ["Report", "write_report"]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
