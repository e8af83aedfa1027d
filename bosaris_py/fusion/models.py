"""Reading whatever trained map a file holds."""

from __future__ import annotations

from typing import TypeAlias

from bosaris_py._validation import FilePath
from bosaris_py.calibration import LinearCalibration, PAVCalibration
from bosaris_py.calibration.trained import SavedMap
from bosaris_py.errors import FileFormatError
from bosaris_py.fusion.linear import LinearFusion
from bosaris_py.fusion.quality import QualityFusion
from bosaris_py.storage import parameters

Model: TypeAlias = LinearCalibration | PAVCalibration | LinearFusion | QualityFusion

_CLASSES: dict[str, type[SavedMap]] = {
    item.__name__: item for item in (LinearCalibration, PAVCalibration, LinearFusion, QualityFusion)
}


def read_model(path: FilePath) -> Model:
    """Read a calibration or a fusion that was saved as JSON, whichever it is.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    LinearCalibration, PAVCalibration, LinearFusion or QualityFusion
        Equal to the one that was saved, to the last bit.

    Raises
    ------
    FileFormatError
        If the file holds something else.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5]).save(path)
    >>> read_model(path)
    LinearCalibration: llr = 1.977 * score - 2.299, cllr 0.543 at prior 0.5,
    3 targets, 3 non-targets
    """
    kind = parameters.kind_of(path)
    if kind not in _CLASSES:
        message = f"{path}: expected one of {', '.join(_CLASSES)}; the file holds {kind}"
        raise FileFormatError(message)
    found = _CLASSES[kind].read(path)
    assert isinstance(found, Model), "they are the classes above"
    return found
