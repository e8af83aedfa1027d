"""The toolkit's mathematical functions."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py.numerics import effective_prior, logit, probit, sigmoid

__all__ = ["effective_prior", "logit", "neglogsigmoid", "probit", "sigmoid"]


def neglogsigmoid(log_odds: npt.ArrayLike) -> Any:
    """Compute -log(sigmoid(x)) = log(1 + exp(-x)).

    Toolkit: neglogsigmoid.m; native: none; differs: for x above 37 the value is exp(-x), where the
    toolkit rounds it to 0. That of NaN is NaN, as in the toolkit.
    """
    # numpy warns of NaN, which passes through.
    with np.errstate(invalid="ignore"):
        return np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))[()]
