"""Tests of calibrated Gaussian log-likelihood-ratios."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bosaris_py.calibration.gaussian import (
    gaussian_mixture_cdf,
    gaussian_mixture_quantiles,
    gaussian_variance,
)
from bosaris_py.errors import InvalidInputError


def by_quadrature(variance):
    """Return E log2(1 + exp(-x)) under N(v/2, v), by adaptive quadrature in one piece per side."""
    law = stats.norm(variance / 2, math.sqrt(variance))

    def bits(x):
        return law.pdf(x) * np.logaddexp(0.0, -x) / math.log(2.0)

    ends = [-60.0, 0.0, variance / 2 + 12.0 * math.sqrt(variance)]
    options = {"epsabs": 0.0, "epsrel": 1e-12, "limit": 400}
    return sum(integrate.quad(bits, *ends[i : i + 2], **options)[0] for i in (0, 1))


@pytest.mark.parametrize("variance", [0.25, 1, 4, 16, 36, 64])
def test_the_variance_is_the_root_of_the_integral(variance):
    assert gaussian_variance(by_quadrature(variance)) == pytest.approx(variance, rel=1e-8)


# reference: the exact Cllr to the digits that a fitted formula was compared with, field_needs 3.
@pytest.mark.parametrize(
    ("variance", "cllr"), [(4, 0.5141), (16, 0.0872), (36, 0.00555), (64, 1.35e-4)]
)
def test_known_values(variance, cllr):
    assert gaussian_variance(cllr) == pytest.approx(variance, rel=1e-3)


def test_little_and_much_information():
    assert gaussian_variance(1.0) == gaussian_variance(1.5) == gaussian_variance(1 - 1e-16) == 0
    # Little information: log2(1 + exp(-x)) = 1 - x / (2 log 2) + x^2 / (8 log 2), and the means of
    # x and x^2 are v / 2 and v, up to v^2.
    assert gaussian_variance(1 - 1e-4 / (8 * math.log(2))) == pytest.approx(1e-4, rel=1e-3)
    assert gaussian_variance(by_quadrature(400)) == pytest.approx(400, rel=1e-8)


@pytest.mark.parametrize("variance", [0.01, 4.0, 100.0])
def test_quantiles_undo_the_distribution(variance):
    llrs = np.linspace(-1, 1, 41) * (variance / 2 + 5 * math.sqrt(variance))
    upper, lower = (stats.norm(sign * variance / 2, math.sqrt(variance)) for sign in (1, -1))
    shares = gaussian_mixture_cdf(llrs, variance)
    np.testing.assert_allclose(shares, 0.5 * (upper.cdf(llrs) + lower.cdf(llrs)), rtol=1e-12)
    found = gaussian_mixture_quantiles(shares, variance)
    # Near share 1, and between the two laws, few digits of the share tell places apart.
    np.testing.assert_allclose(gaussian_mixture_cdf(found, variance), shares, rtol=1e-13)


@pytest.mark.parametrize("cllr", [0.0, -1.0, float("nan")])
def test_bad_cllr(cllr):
    with pytest.raises(InvalidInputError, match="`cllr` must lie strictly between 0 and 1"):
        gaussian_variance(cllr)
