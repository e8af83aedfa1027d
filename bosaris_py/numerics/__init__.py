"""Numbers from arrays of scores: error-rates, costs, hulls; numpy and scipy only."""

from bosaris_py.numerics.llr_cost import cllr, min_cllr
from bosaris_py.numerics.metrics import (
    act_dcf,
    auc,
    eer,
    error_rates_at,
    min_dcf,
    optimal_llrs,
    prbep,
)
from bosaris_py.numerics.priors import (
    OperatingPoint,
    SpoofCosts,
    effective_prior,
    logit,
    posterior,
    probit,
    sigmoid,
)
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import ROCCH, Threshold

__all__ = [
    "ROC",
    "ROCCH",
    "OperatingPoint",
    "SpoofCosts",
    "Threshold",
    "act_dcf",
    "auc",
    "cllr",
    "eer",
    "effective_prior",
    "error_rates_at",
    "logit",
    "min_cllr",
    "min_dcf",
    "optimal_llrs",
    "posterior",
    "prbep",
    "probit",
    "sigmoid",
]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
