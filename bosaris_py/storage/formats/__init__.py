"""Text formats of the field, read into a `TrialTable` and written from one.

`read_table` reads any of them, `write_table` writes any; `FORMATS` has them by name. The
modules `nist`, `kaldi`, `voxceleb`, `toolkits`, `sdsv`, `asvspoof`, `bob` and `csv` say
what their columns are, and nothing else: adding a format is adding a `TrialFormat`.
"""

from bosaris_py.storage.formats.answers import read_answers, write_answers
from bosaris_py.storage.formats.detection import detect_format
from bosaris_py.storage.formats.reading import ReadOptions, read_table
from bosaris_py.storage.formats.registry import FORMATS
from bosaris_py.storage.formats.table import TrialTable
from bosaris_py.storage.formats.trial_format import TrialFormat
from bosaris_py.storage.formats.writing import write_table

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
