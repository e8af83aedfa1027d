"""The matrices of an object that shall be written, checked against its ids, for all formats."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import StrArray, as_ids, as_mask, as_matrix, check_shape
from bosaris_py.errors import InvalidInputError

__all__ = ["MatrixChecks"]


@attrs.frozen(eq=False)
class MatrixChecks:
    """Models and segments of an object, and checks of whether its matrices fit them.

    Parameters
    ----------
    owner : str
        The class of the object, for error messages.
    models, segments : (m,), (n,) array of str
        Ids of the rows and of the columns.
    """

    owner: str
    models: StrArray
    segments: StrArray

    @classmethod
    def of(cls, owner: str, modelset: npt.ArrayLike, segset: npt.ArrayLike) -> "MatrixChecks":
        """Check the ids of an object."""
        return cls(owner, as_ids(modelset, "modelset", owner), as_ids(segset, "segset", owner))

    def mask(self, mask: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
        """Return a mask of trials in C order."""
        array = as_mask(mask, name, self.owner)
        self._check_shape(array, name)
        return np.ascontiguousarray(array)

    def scores(self, scores: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
        """Return a matrix with a number for each trial, as float32 or float64."""
        array = as_matrix(scores, name, self.owner)
        self._check_shape(array, name)
        return array

    def classes(
        self, tar: npt.ArrayLike, non: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return the masks of targets and of non-targets, refusing trials that are both."""
        targets, nontargets = self.mask(tar, "tar"), self.mask(non, "non")
        if (targets & nontargets).any():
            message = f"`tar` and `non` of {self.owner} must be disjoint; some trials are in both"
            raise InvalidInputError(message)
        return targets, nontargets

    def measures(
        self, of_models: npt.ArrayLike, of_segments: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return quality measures of models and of segments, as many of both."""
        models = as_matrix(of_models, "modelQ", self.owner)
        segments = as_matrix(of_segments, "segQ", self.owner)
        count = models.shape[0]
        check_shape(models, (count, self.models.size), "modelQ", self.owner, "like `modelset`")
        shape = (count, self.segments.size)
        check_shape(segments, shape, "segQ", self.owner, "like `modelQ`, `segset`")
        return models.astype(np.float64, copy=False), segments.astype(np.float64, copy=False)

    def measured(
        self, models: npt.ArrayLike, segments: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which models and which segments have quality measures."""
        has_model = as_mask(models, "hasmodel", self.owner)
        has_segment = as_mask(segments, "hasseg", self.owner)
        check_shape(has_model, self.models.shape, "hasmodel", self.owner, "like `modelset`")
        check_shape(has_segment, self.segments.shape, "hasseg", self.owner, "like `segset`")
        return has_model, has_segment

    def _check_shape(self, array: npt.NDArray[Any], name: str) -> None:
        shape = (self.models.size, self.segments.size)
        like = f"({shape[0]} models, {shape[1]} segments)"
        check_shape(array, shape, name, self.owner, like)
