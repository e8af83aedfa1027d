"""The report of an evaluation: one HTML file with tables and pictures, which needs no network."""

from bosaris_py.report.page import write_report

__all__ = ["write_report"]
