"""Files to plain arrays and back; nothing here knows the classes of trials.

The modules `hdf5`, `mat` and `text` have functions of the same names, ``read_scores``,
``write_scores`` and so on. Readers return a dict whose keys are the argument names of
the constructor of the class, with read-only arrays; writers take the same names as
keywords, and replace an existing file only when the new one is complete.
`flat_hdf5` and `flat_text` have those of the flat forms. `parameters` does the same for
trained calibrations and fusions, as JSON. A `Factor` is a column of categories, such as
readers return for what else they find about trials. `formats` has the text formats of the
field, which become a `TrialTable` first.
"""

from bosaris_py.storage import formats, hdf5, mat, parameters, text
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.factors import Factor

__all__ = ["Factor", "atomic_write", "formats", "hdf5", "mat", "parameters", "text"]
