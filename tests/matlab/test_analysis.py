"""Target proportions and divergences of systems: toolkit, hand calculation, extremes; printouts."""

import logging

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError

# niters, obj_func, cstepHessian, quiet
SETTINGS = (100, [], True, True)


def test_proportions_by_hand():
    """Posteriors 1/2, 3/4 and 9/10 at even odds; certainty is 0 or 1."""
    llrs = np.log([[1.0, 3.0, 9.0], [1.0, 1.0, 1.0]])
    found = b.estimate_target_proportions(llrs, 0.5)
    np.testing.assert_allclose(found, [(0.5 + 0.75 + 0.9) / 3, 0.5], rtol=1e-14)
    assert b.estimate_target_proportions([[np.inf, -np.inf, -np.inf, -np.inf]], 0.3) == [0.25]
    # A system without information repeats the prior.
    np.testing.assert_allclose(b.estimate_target_proportions([[0.0]], 0.2), [0.2], rtol=1e-14)


def test_divergence_by_hand():
    posteriors = np.array([[0.5, 0.2, 0.9], [0.75, 0.1, 0.3]])
    llrs = np.log(posteriors / (1 - posteriors))
    by_trial = [
        p * np.log(p / r) + (1 - p) * np.log((1 - p) / (1 - r))
        for p, r in (posteriors, posteriors[::-1])
    ]
    expected = [[0.0, by_trial[0].mean()], [by_trial[1].mean(), 0.0]]
    np.testing.assert_allclose(b.kldivergence_of_systems(llrs, 0.5), expected, rtol=1e-12)
    key = b.Key(["m"], ["s", "t", "u"], [[True, False, False]], [[False, True, True]])
    weighted = [0.2 * x[0] + 0.8 * x[1:].mean() for x in by_trial]
    found = b.kldivergence_of_systems(llrs - b.logit(0.2), 0.2, key)
    np.testing.assert_allclose(found, [[0, weighted[0]], [weighted[1], 0]], rtol=1e-12)


def test_certain_and_extreme_posteriors():
    inf, divergence = np.inf, b.kldivergence_of_systems
    assert divergence([[inf, -inf], [inf, -inf]], 0.1).tolist() == [[0, 0], [0, 0]]
    # Who is certain may be right: log 2 is what an even guess loses. The reverse is infinite.
    found = divergence([[inf], [0.0]], 0.5)
    np.testing.assert_allclose(found, [[0.0, np.log(2)], [inf, 0.0]], rtol=1e-15)
    assert divergence([[inf], [-inf]], 0.5).tolist() == [[0, inf], [inf, 0]]
    # Posteriors that round to 1: the divergence is that of certainty, a log-odds of 100.
    found = divergence([[1000.0], [-100.0]], 0.5)
    np.testing.assert_allclose(found, [[0.0, 100.0], [1000.0, 0.0]], rtol=1e-12)


@given(
    llrs=hnp.arrays(np.float64, (3, 7), elements=st.one_of(st.floats(-30, 30), st.just(np.inf))),
    prior=st.floats(0.001, 0.999),
)
def test_is_never_negative_and_zero_for_the_same(llrs, prior):
    found = b.kldivergence_of_systems(llrs[[0, 1, 2, 0]], prior)
    assert (found >= 0).all()
    assert not found.diagonal().any()
    assert found[0, 3] == found[3, 0] == 0


def test_of_dev(dev, caplog):
    key, systems = dev
    fused = b.linear_fusion_scores(key, systems, 0.1, *SETTINGS)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.analyse_dev_lin_fusion(key, systems, fused, 0.1)
    table = b.evalAll(b.stackScores(key, [*systems, fused]), key, 0.1)
    results = b.Results(fused, key)
    norms = results.get_norm_act_dcf(0.1), results.get_norm_min_dcf(0.1)
    assert table[2].tolist() == [100 * norms[0], 100 * norms[1], results.pb]
    share = 100 * key.n_tar / key.n_trials
    heading = f"True Dev target proportion is {share:g}%. System estimates are:\n"
    assert caplog.messages[0].startswith(heading)
    printed = b.sprintfmatrix(table, "123").rstrip()
    assert caplog.messages[1:] == [
        "Analysing Dev: 2 subsystems and 1 fusions:",
        f"Dev all: dcf*100, mindcf*100, prbep:\n{printed}",
    ]
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.analyse_dev_lin_and_qual_fusion(key, systems[0], fused, fused, 0.1)
    assert caplog.messages[1] == "Analysing Dev: 1 subsystems and 2 fusions:"


def test_of_eval(dev, evaluation, caplog):
    (key, systems), (eval_key, new) = dev, evaluation
    ndx = eval_key.to_ndx()
    fused = b.linear_fusion_dev_eval(key, systems, ndx, new, 0.1, *SETTINGS)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.analyse_eval_lin_fusion(key, ndx, systems, new, *fused)
    stack = b.stackScores(ndx, [*new, fused[1]])
    shares = b.estimate_target_proportions(stack, 0.08)
    known = b.stackScores(key, [*systems, fused[0]])
    tables = (
        ("System Ptar estimates:", shares),
        ("Dev score divergence:", b.kldivergence_of_systems(known, shares[-1], key)),
        ("Eval score divergence:", b.kldivergence_of_systems(stack, shares[-1])),
    )
    expected = [f"{head}\n{b.sprintfmatrix(100 * table).rstrip()}" for head, table in tables]
    assert caplog.messages == expected
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        more = fused[0], fused[1]
        b.analyse_eval_lin_and_qual_fusion(key, ndx, systems, new, *fused, *more)
    # The prior is still the linear fusion's estimate.
    assert caplog.messages[1].splitlines()[1].startswith(expected[1].splitlines()[1])
    with pytest.raises(InvalidInputError, match="eval_scores_obj_array"):
        b.analyse_eval_lin_fusion(key, ndx, systems, new[0], *fused)


@pytest.mark.parametrize("llrs", [[1.0, 2.0], [[1.0, np.nan]], np.empty((2, 0))])
def test_refused(llrs):
    for function in (b.kldivergence_of_systems, b.estimate_target_proportions):
        with pytest.raises(InvalidInputError, match="llrs"):
            function(llrs, 0.5)


def test_columns_are_the_trials_of_the_key(dev):
    for function in (b.evalAll, lambda x, key, p: b.kldivergence_of_systems(x, p, key)):
        with pytest.raises(InvalidInputError, match="one column for each of the 273 trials"):
            function([[1.0, 2.0, 3.0]], dev[0], 0.1)
        with pytest.raises(InvalidInputError, match="key"):
            function(b.stackScores(*dev), dev[0].to_ndx(), 0.1)
