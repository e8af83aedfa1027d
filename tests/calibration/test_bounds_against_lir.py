"""Figures of another package on the same log-likelihood-ratios, where it computes the same.

They were made with lir 1.8.0 (Netherlands Forensic Institute), on 100 targets of N(4.5, 3^2) and
300 non-targets of N(-4.5, 3^2), natural logarithms. Its bounds come from a grid in steps of 1e-4
(log10), one step nearer to 0. Its logistic regression has a penalty, C = 1 by default, which makes
the LLRs 6 % smaller here; these are of C = 1e12.
"""

import math

import numpy as np
import pytest

from bosaris_py import LinearCalibration, Results, llr_bounds, validate

RNG = np.random.default_rng(1)
TAR, NON = RNG.normal(4.5, 3.0, 100), RNG.normal(-4.5, 3.0, 300)


def test_figures_of_a_validation():
    found = validate(Results(TAR, NON))
    assert found.cllr == pytest.approx(0.20860758002782803, rel=1e-12)
    assert found.min_cllr == pytest.approx(0.17843632830035422, rel=1e-12)
    assert found.dev_pav == pytest.approx(0.2010641475638653, rel=1e-10)


@pytest.mark.parametrize(
    ("kind", "log10"), [("elub", (-1.5322, 1.7679)), ("iv", (-2.02101, 1.99729))]
)
def test_bounds(kind, log10):
    found = np.array(llr_bounds(TAR, NON, kind)) / math.log(10)
    np.testing.assert_allclose(found, log10, rtol=0, atol=1.01e-4)
    assert np.all(np.abs(found) >= np.abs(log10))


def test_logistic_regression():
    found = LinearCalibration.fit(TAR, NON).apply(np.linspace(-2, 2, 5) * math.log(10))
    expected = [-1.93873656, -0.92539459, 0.08794738, 1.10128935, 2.11463132]
    np.testing.assert_allclose(found / math.log(10), expected, rtol=0, atol=1e-7)
