"""The closed form of a line's log-likelihood-ratio against lines that are trained again."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.influence.line import losses_of_llr

TOLD = {"propositions": ("one", "two"), "reference": "some speakers"}


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(1)
    return rng.normal(1.5, 1.0, 40), rng.normal(-1.0, 1.3, 90)


@pytest.mark.parametrize("ridge", [0.0, 0.02, "weak"])
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_a_trial_of_more_weight_moves_the_line_as_the_losses_say(lists, ridge, prior):
    sample, score, options = ListedSample.from_scores(*lists), 0.8, {"ridge": ridge, "prior": prior}
    line = LinearCalibration.fit(*lists, **options)
    losses = losses_of_llr(line, score, sample, ridge)
    step = 1e-4
    for which, number in ((0, 3), (0, 20), (1, 5), (1, 70)):
        ends = []
        for sign in (1.0, -1.0):
            weights = [np.full(some.size, 1.0) for some in lists]
            weights[which][number] += sign * step
            given = {"tar_weights": weights[0], "non_weights": weights[1]}
            ends.append(LinearCalibration.fit(*lists, **given, **options).apply(score))
        slope = (ends[0] - ends[1]) / (2.0 * step)
        own = losses.of(which, sample)
        # More weight of one trial is less of all others. Differences of second order are left.
        expected = (own[number] - own.mean()) / own.size
        assert slope == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_the_losses_add_up_to_the_pull_of_the_penalty(lists):
    sample = ListedSample.from_scores(*lists)
    line = LinearCalibration.fit(*lists)
    losses = losses_of_llr(line, 0.8, sample, 0.0)
    # At the optimum the gradient is zero.
    total = losses.of(0, sample).mean() + losses.of(1, sample).mean()
    assert total == pytest.approx(0.0, abs=1e-9)


@pytest.fixture(scope="module")
def reference():
    rng, names = np.random.default_rng(2), [f"speaker {i}" for i in range(30)]
    same = np.eye(30, dtype=bool)
    return bp.Scores(2.0 * same + rng.normal(size=(30, 30)), names, names), bp.Key(
        names, names, same, ~same
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
@pytest.mark.parametrize("model", [LinearCalibration, bp.BoundedCalibration])
def test_a_case_without_replicates(reference, model):
    options = {"bounds": None, "model": model, **TOLD}
    drawn = bp.case_llr(1.0, *reference, **options)
    found = bp.case_llr(1.0, *reference, replications=0, **options)
    assert found.llr == drawn.llr
    assert (found.replications, found.low < found.llr < found.high) == (0, True)
    # Both are 95 % intervals of the same number from 30 speakers; their lengths differ by a third
    # at most, as the spread of 500 replicates and the difference of the methods allow.
    assert 0.67 < (found.high - found.low) / (drawn.high - drawn.low) < 1.5
    assert "interval by formula" in repr(found)


def test_other_maps_take_replicates(reference):
    with pytest.raises(bp.errors.InvalidInputError, match="`replications` must be above 0"):
        bp.case_llr(
            1.0, *reference, model=bp.GaussianCalibration, replications=0, bounds=None, **TOLD
        )
