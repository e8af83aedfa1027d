r"""What figures are made of: what the scores allow, and what is lost to thresholds and calibration.

The actual cost is the minimum plus what the threshold loses. Cllr is the Cllr after a recalibration
plus what that one gains. The Brier score is reliability less resolution plus uncertainty.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, Readable
from bosaris_py._cautions import cautions
from bosaris_py._tables import Table, scale_of_costs
from bosaris_py._validation import FilePath, Rng, also, as_seed, invalid
from bosaris_py.calibration import LinearCalibration, PAVCalibration, cross_fit
from bosaris_py.evaluation.results import named_points
from bosaris_py.numerics.llr_cost import softplus
from bosaris_py.numerics.priors import DecisionCosts, PriorLike, sigmoid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, read_scores, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import SpeakersLike, as_conditions

_PARTS = ("minimum", "loss", "reliability", "resolution", "uncertainty")

_MAPS: dict[str, type[Any]] = {"affine": LinearCalibration, "PAV": PAVCalibration}


@attrs.frozen
class DecomposedFigure(metaclass=Readable):
    """A figure and its parts, of which some do not apply.

    Parameters
    ----------
    figure : str
        Such as ``act_dcf(0.05)``, ``cllr`` or ``brier(0.05)``.
    by : str
        How scores were recalibrated, of a Cllr: ``"PAV"`` or ``"affine"``, on the same trials or
        cross-fitted.
    total : float
        The figure: `minimum` + `loss`, or `reliability` - `resolution` + `uncertainty`.
    minimum, loss : float, optional
        What the best threshold or the recalibration leaves, and the rest.
    reliability, resolution, uncertainty : float, optional
        Parts of a Brier score.
    """

    figure: str
    by: str
    total: float
    minimum: float | None = None
    loss: float | None = None
    reliability: float | None = None
    resolution: float | None = None
    uncertainty: float | None = None


@attrs.frozen(repr=False)
class Decomposition(Table):
    """Figures of a system and what they are made of; made by `decompose`. It prints as a table.

    Parameters
    ----------
    rows : tuple of DecomposedFigure
        The figures.
    normalized : bool
        Whether costs are divided by that of the better decision made without a detector.
    """

    rows: tuple[DecomposedFigure, ...]
    normalized: bool

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each figure and way to recalibrate.

        Returns
        -------
        list of dict
            ``figure``, ``by``, ``total`` and the parts, None where they do not apply; and
            ``normalized``.
        """
        return [{**attrs.asdict(row), "normalized": self.normalized} for row in self.rows]

    def row(self, figure: str, by: str = "") -> DecomposedFigure:
        """Return one of the rows.

        Parameters
        ----------
        figure, by : str
            As in the table.

        Returns
        -------
        DecomposedFigure
        """
        found = [row for row in self.rows if (row.figure, row.by) == (str(figure), str(by))]
        if not found:
            known = ", ".join(" ".join(filter(None, (r.figure, r.by))) for r in self.rows)
            raise invalid("figure", f"be a row of the table ({known})", repr((figure, by)))
        return found[0]

    @property
    def _left(self) -> tuple[int, ...]:
        return (0, 1)

    @property
    def _note(self) -> str:
        return scale_of_costs(self.normalized)

    def _texts(self) -> list[list[str]]:
        rows = [["figure", "by", "total", *_PARTS]]
        for row in self.rows:
            values = [row.total, *(getattr(row, name) for name in _PARTS)]
            cells = ["" if value is None else f"{value:.4f}" for value in values]
            rows.append([row.figure, row.by, *cells])
        return rows

    _rules = (1,)


@also("prior", "priors")
def decompose(
    scores: AnyScores | FilePath,
    key: KeyLike,
    *,
    priors: PriorLike = (0.01, 0.05),
    conditions: Conditions | str | Sequence[str] | None = None,
    speakers: SpeakersLike = None,
    folds: int | None = 5,
    normalize: bool = True,
    rng: Rng = None,
) -> Decomposition:
    r"""Divide costs, Cllr and Brier scores into what the scores allow and what is lost.

    Parameters
    ----------
    scores : Scores, FlatScores or path
        Natural-log likelihood-ratios of a system.
    key : Key or FlatKey, pair (key, metadata), or path
        Which trials are targets and which non-targets.
    priors : float, OperatingPoint or sequence of them, default: (0.01, 0.05)
        Operating points of costs and Brier scores; may be spelled `prior`.
    conditions : Conditions, or name or names of columns, optional
        Weights of conditions; all figures are then the weighted ones.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        Who speaks, for the folds; as for `evaluate`.
    folds : int or None, default: 5
        Folds of cross-fitted recalibrations; None leaves these out.
    normalize : bool, default: True
        Divide costs by that of the better decision made without a detector.
    rng : Generator, int or None
        Divides the speakers into folds.

    Returns
    -------
    Decomposition

    Warns
    -----
    SuspectScoresWarning
        If the scores cannot be log-likelihood-ratios.

    See Also
    --------
    bosaris_py.transfer : The same for the threshold of another set.

    Notes
    -----
    *Cost*: actual = minimum + threshold loss. *Cllr*: the minimum is that of the scores after a
    recalibration. ``"PAV"`` is the least that any rising map leaves (minimum Cllr), ``"affine"``
    what the best line leaves; what lies between the two is the shape of the calibration map. Both
    are trained on the trials they are judged on, and so are optimistic. Cross-fitted ones are
    trained without the speakers of a trial: their minimum may be above the total, and their loss
    negative, where the scores are already calibrated. Of infinite scores there is only ``"PAV"``.

    *Brier score* at prior :math:`\pi`: the mean squared error of the posterior
    :math:`p = \sigma(\ell + \mathrm{logit}\,\pi)`, with targets weighted :math:`\pi`. With S for
    this score, c for the posteriors after PAV, and the forecast :math:`\pi` for all trials,

    .. math::

        S(p) = [S(p) - S(c)] - [S(\pi) - S(c)] + S(\pi):

    reliability less resolution plus uncertainty [1]_. Without bins, which would change the parts.

    References
    ----------
    .. [1] T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams for
       probabilistic classifiers", PNAS 118, 2021, doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> test = bp.load_example("asvspoof2019_la").eval
    >>> bp.decompose(test.scores["xvector"], test, prior=0.05, folds=None)
    figure         by       total  minimum    loss  reliability  resolution  uncertainty
    ------------------------------------------------------------------------------------
    act_dcf(0.05)          0.1614   0.1456  0.0158
    cllr           PAV     0.2884   0.0889  0.1995
    cllr           affine  0.2884   0.0910  0.1973
    brier(0.05)            0.0069                        0.0012      0.0418       0.0475
    (costs are normalized)
    """
    if isinstance(scores, str | os.PathLike):
        scores = read_scores(scores)
    key, metadata = split_key(key)
    weights = as_conditions(conditions, key, metadata)
    sample, points = ListedSample.of(scores, key, weights), named_points(priors)
    sample.warn_unless_llrs()
    rows = []
    for name, point in points.items():
        costs = DecisionCosts.from_prior(point)
        pmiss, pfa = sample.error_rates(costs.thresholds)
        total = float(costs.cost(pmiss, pfa, normalize=normalize))
        least = float(sample.hull.min_dcf(point, normalize=normalize))
        rows.append(DecomposedFigure(f"act_dcf{name}", "", total, least, total - least))
    minima = {"PAV": sample.hull.min_cllr}
    # No line is trained on infinite scores.
    is_finite = all(np.isfinite(part).all() for part in sample.lists)
    if is_finite:
        minima["affine"] = _after_line(sample)
    if folds is not None and is_finite:
        how: dict[str, Any] = {"folds": folds, "speakers": speakers, "rng": as_seed(rng)}
        how |= _weights_of(sample, ListedSample.of(scores, key))
        for by, model in _MAPS.items():
            with cautions(part=f"{by}, cross-fitted"):
                fitted = cross_fit(model, scores, (key, metadata), **how).scores
            minima[f"{by}, cross-fitted"] = ListedSample.of(fitted, key, weights).cllr
    total = sample.cllr
    rows += [
        DecomposedFigure("cllr", by, total, least, total - least) for by, least in minima.items()
    ]
    for name, point in points.items():
        rows.append(_of_brier(f"brier{name}", sample, float(DecisionCosts.from_prior(point).plo)))
    return Decomposition(tuple(rows), normalize)


def _weights_of(sample: ListedSample, whole: ListedSample) -> dict[str, Float64Array]:
    """Return the weights of conditions that cross-fitted maps are trained with."""
    for one, other in zip(sample.lists, whole.lists, strict=True):
        # Trials of no condition are left out, those of several are listed several times.
        if not np.array_equal(one, other):
            expected = "hold each trial once where maps are cross-fitted"
            raise invalid("conditions", expected, "others", "folds=None leaves these maps out.")
    tar, non = sample.trial_weights
    if tar is None or non is None:
        return {}
    # Of mean one: maps that add dummy trials compare these with the weights.
    return {"tar_weights": tar * tar.size, "non_weights": non * non.size}


def _after_line(sample: ListedSample) -> float:
    """Return the Cllr that is left after the best line."""
    tar_weights, non_weights = sample.trial_weights
    line = LinearCalibration.fit(*sample.lists, tar_weights=tar_weights, non_weights=non_weights)
    tar, non = (line.apply(part.astype(np.float64)) for part in sample.lists)
    strata = sample.strata
    costs = strata.tar.mean(softplus(tar, -1.0)) + strata.non.mean(softplus(non, 1.0))
    return float(0.5 * costs / math.log(2.0))


def _of_brier(name: str, sample: ListedSample, plo: float) -> DecomposedFigure:
    """Return the Brier score at prior log-odds, and its parts."""
    prior, hull, strata = float(sigmoid(plo)), sample.hull, sample.strata

    def score(llrs: Sequence[Float64Array]) -> float:
        tar, non = (sigmoid(part + plo) for part in llrs)
        of_tar, of_non = strata.tar.mean((1.0 - tar) ** 2), strata.non.mean(non**2)
        return float(prior * of_tar + (1.0 - prior) * of_non)

    llrs = [part.astype(np.float64) for part in sample.lists]
    total, least = score(llrs), score([hull.llr_of(part) for part in llrs])
    unknown = prior * (1.0 - prior)
    return DecomposedFigure(
        name, "", total, reliability=total - least, resolution=unknown - least, uncertainty=unknown
    )
