"""Files to plain arrays and back; nothing here knows the classes of trials.

`text` reads the text formats of the field, which `formats` lists, and `writing` writes them;
`cells` cuts lines; `toolkit` has the text files of the MATLAB toolkit; `labels` says what words
of labels mean.
"""

from bosaris_py._lazy import on_demand

__all__ = ["cells", "formats", "labels", "text", "toolkit", "writing"]

__getattr__, __dir__ = on_demand(__name__, {}, __all__)
