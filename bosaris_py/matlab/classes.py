"""The toolkit's classes of trials, and its class Results."""

from __future__ import annotations

from typing import Any

import attrs
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

_CLASSES = (Ndx, Key, Scores, QualityMeasures, SegmentQuality, IdMap)


@attrs.frozen(eq=False, init=False, repr=False)
class Results(NativeResults):
    """The results of one system, asked for by the toolkit's methods.

    Toolkit: @Results; native: `bosaris_py.Results`, of which this is one; differs: a prior may be
    an operating point too; `tar` is in ascending order. The arguments are scores and key, or target
    and non-target scores.

    Examples
    --------
    >>> results = Results([3.0, 1.0], [0.0, 2.0])
    >>> results.tar.tolist(), results.numnon, results.pb, results.Pmiss.tolist()
    ([1.0, 3.0], 2, 0.5, [0.0, 0.0, 0.5, 1.0])
    """

    def __init__(self, first: Scores | npt.ArrayLike, second: Key | npt.ArrayLike) -> None:
        # As in the toolkit: Results(scr, key) or Results(tar, non).
        if isinstance(first, Scores):
            # Results do not depend on the order of trials; to keep it would cost time.
            first, second = class_scores(first, require("key", second, Key))
        elif isinstance(second, Key):
            raise invalid("scr", "be a Scores where the second argument is a Key", describe(first))
        super().__init__(flat(first), flat(second))

    def get_act_dcf(self, prior: PriorLike) -> Any:
        """Return the actual DCF at a probability of targets."""
        return self.act_dcf(prior, normalize=False)

    def get_norm_act_dcf(self, prior: PriorLike) -> Any:
        """Return the normalized actual DCF at a probability of targets."""
        return self.act_dcf(prior, normalize=True)

    def get_min_dcf(self, prior: PriorLike) -> Any:
        """Return the minimum DCF at a probability of targets."""
        return self.min_dcf(prior, normalize=False)

    def get_norm_min_dcf(self, prior: PriorLike) -> Any:
        """Return the normalized minimum DCF at a probability of targets."""
        return self.min_dcf(prior, normalize=True)

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
        """The target scores, in ascending order."""
        return self.sample.tar.scores

    @property
    def non(self) -> FloatArray:
        """The non-target scores."""
        return self.sample.non.listed

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
    if not isinstance(obj, _CLASSES):
        expected = f"be a {', '.join(cls.__name__ for cls in _CLASSES[:-1])} or IdMap"
        raise invalid("obj", expected, describe(obj))
    return True
