r"""Read and write all kinds of objects as HDF5.

Written files have exactly the toolkit's data sets and types, so MATLAB reads them:

========================  =======================================  ======================
object                    data sets                                types
========================  =======================================  ======================
`Ndx`                     ``/trial_mask``                          uint8 0, 1
`Key`                     ``/trial_mask``, ``/file_format``        int8 1, -1, 0; ``"2.0"``
`Scores`                  ``/scores``, ``/score_mask``             float32 or 64; uint8
`QualityMeasures`         ``/modelQ``, ``/segQ``, ``/score_mask``  float64; uint8
\                         ``/ID/has_row``, ``/ID/has_column``      uint8 0, 1
the four above            ``/ID/row_ids``, ``/ID/column_ids``      strings
`SegmentQuality`          ``/values``, ``/ids``                    float64; strings
`IdMap`                   ``/left_ids``, ``/right_ids``            strings
========================  =======================================  ======================

Rows are models and columns are segments, as h5dump shows them. Ids are strings of fixed
length, null-terminated, ASCII (UTF-8 if they are not ASCII). The root carries the attributes
``format`` (such as ``bosaris_py.scores``), ``format_version`` and ``created_by``; of scores that
a trained map has made also ``made_by``, which is ``map``. Each
data set has the checksums of its blocks of rows. The toolkit ignores attributes. Scores are not
compressed (it saves less than a fifth and costs several times the time), masks are, with gzip.
The same content gives the same file, bit for bit.

Lists of trials have a layout of this package's own, which the MATLAB toolkit does not read:

====================  ==========================================  ===========================
object                data sets                                   types
====================  ==========================================  ===========================
all                   ``/ID/row_ids``, ``/ID/column_ids``         strings: models, segments
all                   ``/trials/models``, ``/trials/segments``    int32, int64 if that is too
                                                                  short: positions from 0 in
                                                                  the two lists of ids
`FlatKey`             ``/trials/is_target``                       uint8 0, 1
`FlatScores`          ``/trials/scores``                          float32 or float64
====================  ==========================================  ===========================

The data sets in ``/trials`` have one dimension and one element for each trial. Trials are written
by segment, then by model, each once; a reader takes them in any order. `TrialMetadata` has the
same, ``/trials/is_target`` where the labels are known, and the columns:

====================================  =================================================
data set                              content
====================================  =================================================
``/columns/<kind>/names``             strings: names of the columns, in their order
``/columns/<kind>/<i>/codes``         unsigned integers: positions in the levels
``/columns/<kind>/<i>/levels``        strings: the categories
``/columns/<kind>/<i>/values``        integers or floats: of a column that is measured
====================================  =================================================

``<kind>`` is ``trial``, ``model`` or ``segment``: columns have an element for each trial, model or
segment. ``<i>`` is the number of the column from 0; names are no parts of paths, because they may
be any text. A column has either codes and levels, or values. The attribute ``form`` of the root
names the class that holds the trials.

Reading takes strings of fixed and variable length, however padded, as vectors, rows or columns. It
takes masks of any integer, boolean or float type, and scores of any real type (float32 stays
float32). A matrix of one row or column may be stored as a vector. The older layouts are those of
`schema.LAYOUTS`. What a score file never holds (links, data in other files, other types, a size
that the file does not back) is refused before any data are read.
"""

from bosaris_py.storage.hdf5.metadata import COLUMN_KINDS, read_metadata, write_metadata
from bosaris_py.storage.hdf5.objects import is_from_map, kind_of, read, write
from bosaris_py.storage.hdf5.writing import BY_MAP, CHUNK_TRIALS

__all__ = [
    "BY_MAP",
    "CHUNK_TRIALS",
    "COLUMN_KINDS",
    "is_from_map",
    "kind_of",
    "read",
    "read_metadata",
    "write",
    "write_metadata",
]
