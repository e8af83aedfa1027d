"""Fusion: one log-likelihood-ratio from the scores of several systems; any model in a file."""

from typing import get_args

from bosaris_py import calibration, errors
from bosaris_py._arrays import FilePath
from bosaris_py.files import models
from bosaris_py.fusion.linear_fusion import LinearFusion
from bosaris_py.fusion.quality_fusion import QualityFusion, quality_systems
from bosaris_py.fusion.sasv import SASVFusion

__all__ = ["LinearFusion", "QualityFusion", "SASVFusion", "quality_systems", "read_model"]

Model = (
    calibration.LinearCalibration
    | calibration.PAVCalibration
    | calibration.GaussianCalibration
    | calibration.BoundedCalibration
    | LinearFusion
    | QualityFusion
    | SASVFusion
)


__dir__ = __all__.copy


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
    >>> calibration.LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], ridge=0).save(path)
    >>> read_model(path).apply([0.0, 2.0]).round(3).tolist()
    [-2.299, 1.656]
    """
    kind, parameters = models.read(path)
    known: dict[str, type[Model]] = {model.__name__: model for model in get_args(Model)}
    if kind not in known:
        message = f"{path}: expected one of {', '.join(known)}; the file holds {kind}"
        raise errors.FileFormatError(message)
    return known[kind]._built(parameters, path)
