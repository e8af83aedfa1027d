"""Numbers from arrays of scores: error-rates, costs, hulls; numpy and scipy only."""

from bosaris_py.numerics.hull import ROCCH, Threshold
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

__all__ = ["ROC", "ROCCH", "OperatingPoint", "SpoofCosts", "Threshold", "effective_prior"]
__all__ += ["logit", "posterior", "probit", "sigmoid"]

# What completion offers.
__dir__ = __all__.copy
