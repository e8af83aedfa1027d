"""Target proportions and divergences of systems: toolkit, hand calculation, extremes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from bosaris_py.errors import InvalidInputError
from bosaris_py.matlab import analysis
from bosaris_py.matlab.analysis import estimate_target_proportions, kl_divergence
from bosaris_py.numerics.priors import OperatingPoint


@pytest.fixture(scope="module")
def record(oracle):
    with np.load(oracle / "fusion_helpers.npz") as arrays:
        return dict(arrays)


@pytest.mark.parametrize(("prior", "name"), [(0.08, "prop_008"), (0.5, "prop_05")])
def test_proportions_of_the_toolkit(record, prior, name):
    found = estimate_target_proportions(record["scores"], prior)
    np.testing.assert_allclose(found, record[name], rtol=1e-12)


def test_divergence_of_the_toolkit(record):
    scores, is_target = record["scores"], record["classf"] > 0
    np.testing.assert_allclose(kl_divergence(scores, 0.08), record["kl_unsup_008"], atol=1e-12)
    supervised = kl_divergence(scores, 0.08, is_target=is_target)
    np.testing.assert_allclose(supervised, record["kl_sup_008"], atol=1e-12)


def test_proportions_by_hand():
    """Posteriors 1/2, 3/4 and 9/10 at even odds; certainty is 0 or 1."""
    llrs = np.log([[1.0, 3.0, 9.0], [1.0, 1.0, 1.0]])
    found = estimate_target_proportions(llrs, 0.5)
    np.testing.assert_allclose(found, [(0.5 + 0.75 + 0.9) / 3, 0.5], rtol=1e-14)
    assert estimate_target_proportions([[np.inf, -np.inf, -np.inf, -np.inf]], 0.3) == [0.25]
    # A system without information repeats the prior.
    np.testing.assert_allclose(estimate_target_proportions([[0.0]], 0.2), [0.2], rtol=1e-14)
    at_costs = estimate_target_proportions([[0.0]], OperatingPoint(0.01, 10, 1))
    np.testing.assert_allclose(at_costs, [10 / 109], rtol=1e-14)


def naive(p, r):
    """Divergence of two binary distributions."""
    return p * np.log(p / r) + (1 - p) * np.log((1 - p) / (1 - r))


def test_divergence_by_hand():
    posteriors = np.array([[0.5, 0.2, 0.9], [0.75, 0.1, 0.3]])
    llrs = np.log(posteriors / (1 - posteriors))
    by_trial = [naive(p, r) for p, r in (posteriors, posteriors[::-1])]
    expected = [[0.0, by_trial[0].mean()], [by_trial[1].mean(), 0.0]]
    np.testing.assert_allclose(kl_divergence(llrs, 0.5), expected, rtol=1e-12)
    labels = [True, False, False]
    weighted = [0.5 * x[0] + 0.5 * x[1:].mean() for x in by_trial]
    np.testing.assert_allclose(
        kl_divergence(llrs, 0.5, is_target=labels), [[0, weighted[0]], [weighted[1], 0]], rtol=1e-12
    )


def test_certain_and_extreme_posteriors():
    inf = np.inf
    assert kl_divergence([[inf, -inf], [inf, -inf]], 0.1).tolist() == [[0, 0], [0, 0]]
    # Who is certain may be right: log 2 is what an even guess loses. The reverse is infinite.
    found = kl_divergence([[inf], [0.0]], 0.5)
    np.testing.assert_allclose(found, [[0.0, np.log(2)], [inf, 0.0]], rtol=1e-15)
    assert kl_divergence([[inf], [-inf]], 0.5).tolist() == [[0, inf], [inf, 0]]
    # Posteriors that round to 1: the divergence is that of certainty, a log-odds of 100.
    found = kl_divergence([[1000.0], [-100.0]], 0.5)
    np.testing.assert_allclose(found, [[0.0, 100.0], [1000.0, 0.0]], rtol=1e-12)


@given(
    llrs=hnp.arrays(np.float64, (3, 7), elements=st.one_of(st.floats(-30, 30), st.just(np.inf))),
    prior=st.floats(0.001, 0.999),
)
def test_is_never_negative_and_zero_for_the_same(llrs, prior):
    found = kl_divergence(llrs[[0, 1, 2, 0]], prior)
    assert (found >= 0).all()
    assert not found.diagonal().any()
    assert found[0, 3] == found[3, 0] == 0
    np.testing.assert_array_equal(found[:3, :3], kl_divergence(llrs, prior))


def naive_divergence(llrs, prior):
    """Row i, column j: of system j from system i, as the docstring has it."""
    p = 1 / (1 + (1 - prior) / prior * np.exp(-llrs.astype(float)))
    rows, columns = p[:, None], p[None]
    terms = rows * np.log(rows / columns) + (1 - rows) * np.log((1 - rows) / (1 - columns))
    return terms.mean(axis=2)


def test_blocks_do_not_matter(monkeypatch, rng):
    llrs = rng.normal(0, 3, (3, 500)).astype(np.float32)
    whole = kl_divergence(llrs, 0.3)
    monkeypatch.setattr(analysis, "_BLOCK_CELLS", 9 * 64)
    # Another order of summation.
    np.testing.assert_allclose(kl_divergence(llrs, 0.3), whole, rtol=1e-12)
    np.testing.assert_allclose(kl_divergence(llrs.astype(float), 0.3), whole, rtol=1e-12)
    # More pairs of systems than cells of a block.
    monkeypatch.setattr(analysis, "_BLOCK_CELLS", 8)
    np.testing.assert_allclose(kl_divergence(llrs[:, :9], 0.3), naive_divergence(llrs[:, :9], 0.3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"llrs": [1.0, 2.0]}, "`llrs` .* two-dimensional"),
        ({"llrs": [[1.0, np.nan]]}, "`llrs` .* NaN at 1 of 2"),
        ({"llrs": np.empty((2, 0))}, "`llrs` .* at least one"),
        ({"prior": 0.0}, "`prior` .* strictly between 0 and 1"),
        ({"is_target": [True]}, r"`is_target` .* each of the 2 trials; got shape \(1,\)"),
        ({"is_target": [1, 0]}, "`is_target` .* boolean"),
        ({"is_target": [True, True]}, "`is_target` .* both classes"),
    ],
)
def test_bad_input(arguments, message):
    complete = {"llrs": [[1.0, 2.0], [0.0, 1.0]], "prior": 0.5, **arguments}
    with pytest.raises(InvalidInputError, match=message):
        kl_divergence(**complete)
    if "is_target" not in arguments:
        with pytest.raises(InvalidInputError, match=message):
            estimate_target_proportions(**complete)
