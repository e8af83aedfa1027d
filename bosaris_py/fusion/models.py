"""A trained calibration or fusion, whichever a file holds."""

from __future__ import annotations

from typing import get_args

from bosaris_py._validation import FilePath
from bosaris_py.calibration import (
    BoundedCalibration,
    GaussianCalibration,
    LinearCalibration,
    PAVCalibration,
)
from bosaris_py.errors import FileFormatError
from bosaris_py.files import models
from bosaris_py.fusion.linear_fusion import LinearFusion
from bosaris_py.fusion.quality_fusion import QualityFusion
from bosaris_py.fusion.sasv import SASVFusion

Model = (
    LinearCalibration
    | PAVCalibration
    | GaussianCalibration
    | BoundedCalibration
    | LinearFusion
    | QualityFusion
    | SASVFusion
)

_MODELS: dict[str, type[Model]] = {model.__name__: model for model in get_args(Model)}


def read_model(path: FilePath) -> Model:
    """Read a trained calibration or fusion, whichever a file holds.

    Parameters
    ----------
    path : str or path-like
        A JSON file that ``save`` of one of these classes has written.

    Returns
    -------
    LinearCalibration, PAVCalibration, GaussianCalibration, BoundedCalibration,
    LinearFusion, QualityFusion or SASVFusion
        Equal to the one that was saved, to the last bit.

    Raises
    ------
    FileFormatError
        If the file holds something else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], ridge=0).save(path)
    >>> read_model(path).apply([0.0, 2.0]).round(3).tolist()
    [-2.299, 1.656]
    """
    kind, parameters = models.read(path)
    if kind not in _MODELS:
        message = f"{path}: expected one of {', '.join(_MODELS)}; the file holds {kind}"
        raise FileFormatError(message)
    return _MODELS[kind]._built(parameters, path)
