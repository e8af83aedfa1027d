"""The report of an evaluation: one HTML file with tables and pictures, which needs no network."""

from bosaris_py.report.page import Report, write_report

__all__ = ["Report", "write_report"]
