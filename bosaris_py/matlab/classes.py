"""The toolkit's classes of trials, and its class Results."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation import Results as NativeResults
from bosaris_py.matlab.arguments import flat, require
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality
from bosaris_py.trials.scores import class_scores

# The toolkit's names of classes that are called otherwise here.
Seg_Quality = SegmentQuality

Quality = QualityMeasures

Id_Map = IdMap

# A number at each prior, or the number at the only one.
Figures = Float64Array | float

_CLASSES = (Ndx, Key, Scores, QualityMeasures, SegmentQuality, IdMap)


@attrs.frozen(eq=False, init=False, repr=False)
class Results(NativeResults):
    """The results of one system, asked for by the toolkit's methods.

    Toolkit: @Results; native: `bosaris_py.Results`, of which this is one; differs: a prior may be
    an operating point too; `tar` and `non` are in ascending order. The arguments are scores and
    key, or target and non-target scores.

    Examples
    --------
    >>> results = Results([3.0, 1.0], [0.0, 2.0])
    >>> results.tar.tolist(), results.numnon, results.pb, results.Pmiss.tolist()
    ([1.0, 3.0], 2, 0.5, [0.0, 0.0, 0.5, 1.0])
    """

    def __init__(self, first: Scores | npt.ArrayLike, second: Key | npt.ArrayLike) -> None:
        # As in the toolkit: Results(scr, key) or Results(tar, non).
        if isinstance(first, Scores):
            first, second = class_scores(first, require("key", second, Key))
        super().__init__(flat(first), flat(np.asarray(second)))

    def get_act_dcf(self, prior: PriorLike) -> Figures:
        """Return the actual DCF at a probability of targets."""
        value: Figures = self.act_dcf(prior, normalize=False)
        return value

    def get_norm_act_dcf(self, prior: PriorLike) -> Figures:
        """Return the normalized actual DCF at a probability of targets."""
        value: Figures = self.act_dcf(prior, normalize=True)
        return value

    def get_min_dcf(self, prior: PriorLike) -> Figures:
        """Return the minimum DCF at a probability of targets."""
        value: Figures = self.min_dcf(prior, normalize=False)
        return value

    def get_norm_min_dcf(self, prior: PriorLike) -> Figures:
        """Return the normalized minimum DCF at a probability of targets."""
        value: Figures = self.min_dcf(prior, normalize=True)
        return value

    def get_prbep(self) -> float:
        """Return the precision-recall break-even point, a number of errors."""
        return self.prbep

    def get_eer(self) -> float:
        """Return the equal error rate, a fraction."""
        return self.eer

    def num_tar(self) -> int:
        """Return the number of target trials."""
        return self.n_tar

    def num_non(self) -> int:
        """Return the number of non-target trials."""
        return self.n_non

    @property
    def tar(self) -> FloatArray:
        """The target scores, ascending."""
        return self.sample.tar.scores

    @property
    def non(self) -> FloatArray:
        """The non-target scores, ascending."""
        return self.sample.non.scores

    @property
    def Pmiss(self) -> Float64Array:
        """Miss rates at the vertices of the convex hull, as of `rocch`."""
        return self.rocch.pmiss

    @property
    def Pfa(self) -> Float64Array:
        """False-alarm rates at the vertices of the convex hull."""
        return self.rocch.pfa

    numtar, numnon, pb = map(property, (num_tar, num_non, get_prbep))


def seg_qual_to_qual(
    model_segqual: SegmentQuality, test_segqual: SegmentQuality
) -> QualityMeasures:
    """Combine the quality measures of models with those of test segments.

    Toolkit: seg_qual_to_qual.m; native: `QualityMeasures.from_segment_quality`; differs: nothing.
    """
    return QualityMeasures.from_segment_quality(model_segqual, test_segqual)


def validate(obj: object, warn: bool = True) -> bool:  # noqa: FBT001, FBT002 -- as in the toolkit
    """Tell that an object of trials is valid.

    Toolkit: the method validate of every class; native: none, objects are checked when they are
    made; differs: a function only, and `warn` has no effect.
    """
    if type(obj) not in _CLASSES:
        raise invalid("obj", "be an object of trials", describe(obj))
    return True
