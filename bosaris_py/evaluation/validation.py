"""Numbers that a validation of log-likelihood-ratios reports, beside Cllr and error-rates."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from scipy import special

from bosaris_py._arrays import FloatArray
from bosaris_py._tables import text_table
from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation.calibration_curves import PAVCurve
from bosaris_py.evaluation.results import Results, ScoreLists

_MEANING = {
    "cllr": "Cllr",
    "min_cllr": "minimum Cllr: discrimination",
    "calibration_loss": "Cllr - minimum Cllr: calibration",
    "brier": "Brier score at even odds, over that of no detector",
    "min_brier": "minimum Brier score: discrimination",
    "dev_pav": "devPAV, log10",
    "misleading_tar": "targets with LR < 1",
    "misleading_non": "non-targets with LR > 1",
    "mean_inverse_lr_tar": "mean 1/LR of targets (calibrated: 1)",
    "mean_lr_non": "mean LR of non-targets (calibrated: 1)",
    "mean_log10_lr_tar": "mean log10 LR of targets",
    "mean_log10_lr_non": "mean log10 LR of non-targets",
}


@attrs.frozen(kw_only=True, repr=False)
class Validation:
    r"""How good log-likelihood-ratios are, for a validation report; made by `validate`.

    Parameters
    ----------
    n_tar, n_non : int
        Numbers of trials.
    cllr, min_cllr, calibration_loss : float
        Cllr in bits, and its parts: discrimination, and what calibration adds.
    brier, min_brier : float
        Mean of both classes' squared posterior errors at prior 0.5, over that of a detector
        that knows only the prior; and the same after optimal recalibration by PAV.
    dev_pav : float
        Mean distance of the PAV curve from the diagonal, log10 units; NaN where the classes are
        apart.
    misleading_tar, misleading_non : float
        Share of the trials of the class whose likelihood-ratio favours the other.
    mean_inverse_lr_tar, mean_lr_non : float
        Both are 1 in expectation if the likelihood-ratios are calibrated.
    mean_log10_lr_tar, mean_log10_lr_non : float
        Mean decimal logarithms.
    """

    n_tar: int
    n_non: int
    cllr: float
    min_cllr: float
    calibration_loss: float
    brier: float
    min_brier: float
    dev_pav: float
    misleading_tar: float
    misleading_non: float
    mean_inverse_lr_tar: float
    mean_lr_non: float
    mean_log10_lr_tar: float
    mean_log10_lr_non: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name.

        Returns
        -------
        dict
        """
        return attrs.asdict(self)

    def __repr__(self) -> str:
        """Return a line for each figure."""
        rows = [
            (_MEANING[name], f"{value:.4g}") for name, value in list(self.to_dict().items())[2:]
        ]
        head = f"{self.n_tar} targets, {self.n_non} non-targets"
        return "\n".join((head, *text_table(rows)))


def validate(results: Results) -> Validation:
    r"""Compute the figures of a validation report from log-likelihood-ratios.

    Parameters
    ----------
    results : Results
        Of two lists of scores without weights: ``Results(tar, non)`` or ``Results.from_scores``;
        best those of `cross_fit`.

    Returns
    -------
    Validation

    Raises
    ------
    InvalidInputError
        If the trials are in files, weighted, or in weighted conditions.

    Notes
    -----
    devPAV is that of `PAVCurve`. It and the loss of calibration are fitted to the trials that they
    judge: of few trials they show noise. The loss by cross-fitting does not, see the page on
    calibration.

    Examples
    --------
    >>> from bosaris_py import Results
    >>> validate(Results([1.0, 3.0, 4.0], [-2.0, 0.5, 2.0])).misleading_non
    0.6666666666666666
    """
    evidence = getattr(results, "evidence", None)
    if (
        not isinstance(evidence, ScoreLists)
        or evidence.tar.weights is not None
        or evidence.non_weights is not None
    ):
        hint = "Give Results(tar, non)."
        raise invalid("results", "hold two lists without weights", describe(results), hint)
    tar, non = evidence.tar.values, evidence.non.astype(np.float64)
    curve = PAVCurve.from_results(results)
    # Both classes after optimal recalibration: the pool of each trial.
    best = [
        curve.llr[np.searchsorted(curve.lowest, scores, side="right") - 1] for scores in (tar, non)
    ]
    log10 = float(np.log(10.0))
    return Validation(
        n_tar=results.n_tar,
        n_non=results.n_non,
        cllr=results.cllr,
        min_cllr=results.min_cllr,
        calibration_loss=results.calibration_loss,
        brier=_brier(tar, non),
        min_brier=_brier(*best),
        dev_pav=curve.dev_pav,
        misleading_tar=float(np.mean(tar < 0)),
        misleading_non=float(np.mean(non > 0)),
        mean_inverse_lr_tar=_mean_exp(-tar),
        mean_lr_non=_mean_exp(non),
        mean_log10_lr_tar=float(tar.mean()) / log10,
        mean_log10_lr_non=float(non.mean()) / log10,
    )


def _mean_exp(llrs: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(np.mean(np.exp(llrs)))


def _brier(tar: FloatArray, non: FloatArray) -> float:
    """Return the Brier score at prior 0.5 over 1/4, what the prior alone costs."""
    errors = (np.mean(special.expit(sign * llrs) ** 2) for sign, llrs in ((-1, tar), (1, non)))
    return float(2.0 * sum(errors))
