"""Files of any format: what one holds is found out from its content, not from its name.

HDF5 and MATLAB files say what they are by their first bytes; everything else is taken for one of
the text formats of the field.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError
from bosaris_py.storage import hdf5, mat
from bosaris_py.storage._guarded_hdf5 import usable_memory
from bosaris_py.storage.formats import ReadOptions, TrialTable, read_table
from bosaris_py.trials.base import FileMethods
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import AnyKey, AnyNdx, FlatKey, FlatNdx, Key, Ndx
from bosaris_py.trials.metadata import (
    KeyAndMetadata,
    TrialMetadata,
    read_key,
    read_scores,
    read_trials,
)
from bosaris_py.trials.quality import QualityMeasures, SegmentQuality
from bosaris_py.trials.scores import AnyScores, FlatScores, Scores

AnyObject: TypeAlias = AnyNdx | AnyScores | TrialMetadata | IdMap | SegmentQuality | QualityMeasures

# Of scores in memory: the matrix, both classes, and what sorting or training makes of them.
_COPIES = 3

_CLASSES: dict[str, type[FileMethods]] = {
    item._kind: item
    for item in (
        *(Ndx, Key, Scores, FlatNdx, FlatKey, FlatScores),
        *(SegmentQuality, QualityMeasures, IdMap),
    )
}


def binary_kind(path: FilePath) -> tuple[str, str] | None:
    """Tell format and kind of a file that is no text.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    (str, str) or None
        ``"hdf5"`` or ``"mat"``, and one of `storage.schema.KINDS`; None for other files.

    Raises
    ------
    FileFormatError
        If the file is damaged or of no known kind.
    FileNotFoundError
        If there is no such file.
    """
    file = Path(path)
    # A pipe can be read only once, and holds text.
    if file.exists() and not file.is_file():
        return None
    with file.open("rb") as stream:
        head = stream.read(6)
    if head.startswith(b"\x89HDF"):
        return "hdf5", hdf5.kind_of(file)
    return ("mat", mat.kind_of(file)) if head == b"MATLAB" else None


def are_large(paths: Iterable[FilePath], *, max_bytes: float | None = None) -> bool:
    """Tell whether files should be read in blocks, which only HDF5 files can.

    Parameters
    ----------
    paths : iterable of str or path-like
        The files that are needed at the same time.
    max_bytes : float, optional
        What they may take in memory; by default half of what machine, container and ulimit
        give.

    Returns
    -------
    bool
        True if all are HDF5 files and take more; scores are counted three times, because
        metrics and trainings hold copies.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    files = list(map(Path, paths))
    most = usable_memory() if max_bytes is None else max_bytes
    if _COPIES * sum(file.stat().st_size for file in files) <= most:
        return False
    kinds = map(binary_kind, files)
    return all(kind is not None and kind[0] == "hdf5" for kind in kinds)


def load(path: FilePath, **options: Unpack[ReadOptions]) -> AnyObject | TrialTable:
    """Read whatever a file holds.

    Parameters
    ----------
    path : str or path-like
        A file in HDF5, of MATLAB, or in one of the text formats.
    **options
        Keywords of `storage.formats.read_table`, for text.

    Returns
    -------
    object
        Of the class that the file is of; of text a `TrialTable`.

    Raises
    ------
    FileFormatError
        If the file is damaged, or of no known kind or format.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import Key
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trials"
    >>> Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False]).save_hdf5(path)
    >>> load(path)
    Key: 1 models x 2 segments, 1 targets, 1 non-targets
    """
    binary = binary_kind(path)
    return read_table(path, **options) if binary is None else _read(path, *binary, options)


def load_key(
    path: FilePath, *, format: str | None = None, **options: Unpack[ReadOptions]
) -> KeyAndMetadata:
    """Read a key from a file of any format.

    Parameters
    ----------
    path, format, **options
        As for `bosaris_py.read_key`, which reads text; HDF5 and MATLAB files need no options.

    Returns
    -------
    key : Key or FlatKey
        The trials.
    metadata : TrialMetadata
        What else the file says of them.

    Raises
    ------
    FileFormatError
        If the file is damaged or holds no key.
    FileNotFoundError
        If there is no such file.
    """
    found = _binary(path, AnyKey, "a Key", options)
    if found is None:
        return read_key(path, format=format, **options)
    metadata = found if isinstance(found, TrialMetadata) else TrialMetadata(found)
    key: Any = metadata.trials
    return KeyAndMetadata(key, metadata)


def load_scores(
    path: FilePath, *, format: str | None = None, **options: Unpack[ReadOptions]
) -> AnyScores:
    """Read scores from a file of any format.

    Parameters
    ----------
    path, format, **options
        As for `bosaris_py.read_scores`, which reads text; HDF5 and MATLAB files need no options.

    Returns
    -------
    Scores or FlatScores

    Raises
    ------
    FileFormatError
        If the file is damaged or holds no scores.
    FileNotFoundError
        If there is no such file.
    """
    found = _binary(path, AnyScores, "Scores", options)
    return read_scores(path, format=format, **options) if found is None else found


def load_trials(
    path: FilePath, *, format: str | None = None, **options: Unpack[ReadOptions]
) -> AnyNdx:
    """Read trials from a file of any format, with labels if a binary file has them.

    Parameters
    ----------
    path, format, **options
        As for `bosaris_py.read_trials`, which reads text; HDF5 and MATLAB files need no options.

    Returns
    -------
    Ndx, Key, FlatNdx or FlatKey

    Raises
    ------
    FileFormatError
        If the file is damaged or holds no trials.
    FileNotFoundError
        If there is no such file.
    """
    found = _binary(path, AnyNdx, "an Ndx or Key", options)
    if found is None:
        return read_trials(path, format=format, **options)[0]
    return found.trials if isinstance(found, TrialMetadata) else found


def _binary(path: FilePath, classes: Any, wanted: str, options: ReadOptions) -> Any:
    """Return an object of some classes, or metadata of such trials, or None if it is text."""
    binary = binary_kind(path)
    if binary is None:
        return None
    found = _read(path, *binary, options)
    if not isinstance(found.trials if isinstance(found, TrialMetadata) else found, classes):
        message = f"{path}: expected {wanted}; the file holds {found!r}"
        raise FileFormatError(message)
    return found


def _read(path: FilePath, form: str, kind: str, options: ReadOptions) -> Any:
    """Read an object of a known kind from a binary file."""
    max_bytes = options.get("max_bytes")
    if kind == "trial_metadata":
        return TrialMetadata.read(path, max_bytes=max_bytes)
    return getattr(_CLASSES[kind], f"read_{form}")(path, max_bytes=max_bytes)
