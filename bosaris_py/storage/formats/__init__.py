"""Text formats of the field, read into a `TrialTable` and written from one.

`read_table` reads any of them, `write_table` writes any; `FORMATS` has them by name. To add a
format, add a `TrialFormat` to `catalogue`.
"""

from bosaris_py.storage.formats.catalogue import FORMATS, TrialFormat
from bosaris_py.storage.formats.detection import detect_format
from bosaris_py.storage.formats.reading import ReadOptions, read_answers, read_table, write_answers
from bosaris_py.storage.formats.writing import write_table
from bosaris_py.storage.trial_table import TrialTable

__all__ = [
    "FORMATS",
    "ReadOptions",
    "TrialFormat",
    "TrialTable",
    "detect_format",
    "read_answers",
    "read_table",
    "write_answers",
    "write_table",
]
