"""Files to plain arrays and back; nothing here knows the classes of trials.

`hdf5` and `mat` read and write the kinds of `schema.KINDS`. Readers return a dict of
read-only arrays, named as the arguments of the constructor. Writers take the same names as
keywords, and replace an existing file only when the new one is complete. `parameters` does the same
for trained calibrations and fusions, as JSON. `rows` reads files that are larger than memory. A
`Factor` is a column of categories. Text is in `bosaris_py.files`.
"""

from bosaris_py.storage import hdf5, mat, parameters
from bosaris_py.storage.atomic import atomic_write, hashed_files
from bosaris_py.storage.columns import Factor

__all__ = ["Factor", "atomic_write", "hashed_files", "hdf5", "mat", "parameters"]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
