"""Curves of trials weighted by speakers, against a plain loop over trials and thresholds."""

import tracemalloc
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py import uncertainty as unc
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import Strata, TrialStrata
from bosaris_py.uncertainty import speaker_curve
from bosaris_py.uncertainty.bands import ActDCFCurve, DETCurve, MinDCFCurve
from bosaris_py.uncertainty.resampling import SpeakerPlan
from bosaris_py.uncertainty.speaker_curve import SpeakerTrials
from tests.crossed_trials import CrossedExperiment
from tests.uncertainty.speaker_samples import speaker_sample

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

# Sizes at which small data go through every way of the engine.
TABLES = {"_FEW_TRIALS": 0, "_PAIRS_PER_TRIAL": 1e9, "_STRIPE": 2}
CELLS = TABLES | {"_FEWEST_CELLS": 0, "_OPEN_CELLS": 1e3}
WAYS: dict[str, dict[str, Any]] = {
    "as shipped": {"_ROWS": 50},
    "tables": CELLS,
    "double precision": CELLS | {"_EXACT": 1.0},
    "trial by trial": {"_SMALL_TABLE": 0, "_PRODUCTS_AT_A_TIME": 4, "_ROWS": 2, "_POINTS": 1},
    "many cells": {
        "_FEWEST_CELLS": 0, "_OPEN_CELLS": 1e4, "_ROWS": 2, "_FEW_TRIALS": 1, "_ALIKE": 2.0,
        "_PRODUCTS_AT_A_TIME": 8,
    },
}  # fmt: skip
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)

# No ratio of small numbers but the ends: what is allowed exactly is a matter of rounding.
PFA = (0.0, *(np.array([0.1, 0.25, 0.5, 0.7]) * np.pi / 3).tolist(), 1.0)
STATISTICS = [
    unc.EER(), unc.MinDCF(0.2), unc.MinDCF([0.1, 0.6], normalize=True), unc.AUC(), unc.MinCllr(),
    DETCurve(PFA), MinDCFCurve([-2.0, 0.0, 1.0]), ActDCFCurve(np.linspace(-2, 2, 9)),
    unc.DCF(0.5, 0.01, 10, 1), unc.Cllr(),
]  # fmt: skip

Trials = tuple[ListedSample, SpeakerPlan]


@st.composite
def trials(draw: st.DrawFn) -> Trials:
    """Scores with ties and infinities, of few speakers, in one condition or several."""
    scores = st.sampled_from([-np.inf, -1.5, -1.0, 0.0, 0.5, 1.0, 2.0, np.inf])
    n_speakers = draw(st.integers(2, 4))
    n_tar, n_non = draw(st.integers(1, 12)), draw(st.integers(1, 30))
    person = st.integers(0, n_speakers - 1)
    of_tar = np.array(draw(st.lists(person, min_size=n_tar, max_size=n_tar)))
    first = np.array(draw(st.lists(person, min_size=n_non, max_size=n_non)))
    step = st.integers(1, n_speakers - 1)
    second = (first + draw(st.lists(step, min_size=n_non, max_size=n_non))) % n_speakers
    tar, non = (np.array(draw(st.lists(scores, min_size=n, max_size=n))) for n in (n_tar, n_non))
    strata = TrialStrata.single(n_tar, n_non)
    if draw(st.booleans()):
        shares = np.array([0.25, 0.75])
        strata = TrialStrata(*(
            Strata.from_codes(
                np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))), shares
            )
            for n in (n_tar, n_non)
        ))  # fmt: skip
    sides = (of_tar, of_tar), (first, second)
    pigeonhole = draw(st.booleans()) and all(
        np.unique(np.concatenate(side)).size > 1 for side in zip(*sides, strict=True)
    )
    sample = speaker_sample((tar, sides[0]), (non, sides[1]), strata)
    return sample, SpeakerPlan.of(sample, pigeonhole=pigeonhole)


def of_weights(statistic: unc.Statistic, data: Trials, w: np.ndarray, v: np.ndarray) -> object:
    """Weight each trial and compute the statistic; NaN without the weight of a condition."""
    sample, plan = data
    weights = plan.tar.weights(w, v), plan.non.weights(w, v)
    if not plan.strata.complete(*weights):
        return np.full(statistic.shape, np.nan)
    return statistic(*sample.lists, *plan.strata.weigh(*weights))


def draw_rows(data: st.DataObject, plan: SpeakerPlan) -> tuple[np.ndarray, np.ndarray]:
    """Weights with zeros: whole numbers, or binary fractions, whose sums are exact, too."""
    n_rows, whole = data.draw(st.integers(1, 7)), data.draw(st.booleans())
    rows = [
        np.array(data.draw(st.lists(
            st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=n_rows, max_size=n_rows
        )))
        for n in plan.persons.shape
    ]  # fmt: skip
    first, second = rows if whole else [row / 8 + row // 3 for row in rows]
    return (first, first) if plan.persons.n_second is None else (first, second)


@pytest.mark.slow
@each_way
@settings(max_examples=50)
@given(data=st.data())
def test_values_are_those_of_weighted_trials(way: dict[str, Any], data: st.DataObject) -> None:
    drawn = data.draw(trials())
    rows = draw_rows(data, drawn[1])
    for statistic in STATISTICS:
        if not np.isfinite(statistic(*drawn[0].lists)).all():
            continue  # not resampled
        with mock.patch.multiple(speaker_curve, **way):
            found = statistic.speaker_sums(SpeakerTrials(*drawn))(*rows)
        expected = [of_weights(statistic, drawn, *row) for row in zip(*rows, strict=True)]
        # The same sums, divided in another order.
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=repr(statistic))


@each_way
def test_values_by_trying_every_threshold(way: dict[str, Any]) -> None:
    """Shares no code with the library: rates of each replicate by masks of weighted trials."""
    data = CrossedExperiment(n_speakers=30, n_models=2, n_segments=5, tar_mean=2.0).draw(
        np.random.default_rng(1)
    )
    names = data.model_speakers.rightids, data.segment_speakers.rightids
    numbers = np.unique(np.concatenate(names), return_inverse=True)[1]
    of_models, of_segments = np.split(numbers, [names[0].size])
    tar, non = data.trials()
    rows = (np.nonzero(mask.T)[::-1] for mask in (data.key.tar, data.key.non))
    (tar_rows, _), (non_rows, non_cols) = rows
    who = of_models[tar_rows], of_models[non_rows], of_segments[non_cols]
    costs, misses, n = [], [], 30
    for child in np.random.default_rng(2).spawn(1):
        for _ in range(20):
            w = np.bincount(child.integers(0, n, n), minlength=n)
            tar_weights, non_weights = w[who[0]], w[who[1]] * w[who[2]]
            limits = np.append(np.unique(tar), np.inf)
            pmiss = np.array([tar_weights[tar < t].sum() for t in limits]) / tar_weights.sum()
            pfa = np.array([non_weights[non >= t].sum() for t in limits]) / non_weights.sum()
            costs.append(min((0.1 * pmiss + 0.9 * pfa).min(), 0.1))
            misses.append([pmiss[pfa <= allowed].min() for allowed in PFA])
    maps = {"speakers": (data.model_speakers, data.segment_speakers)}
    with mock.patch.multiple(speaker_curve, **way):
        for statistic, expected in ((unc.MinDCF(0.1), costs), (DETCurve(PFA), misses)):
            found = unc.bootstrap_scores(
                data.scores, data.key, statistic, **maps, replications=20, rng=2
            ).replicates
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_products_of_matrices_do_not_depend_on_the_order_of_sums() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 1000, (5, 300)).astype(np.float64)
    weights = rng.standard_exponential((300, 4))
    found = speaker_curve._exact_product(counts, weights, upper=False)
    order = rng.permutation(300)
    again = speaker_curve._exact_product(counts[:, order], weights[order], upper=False)
    assert np.array_equal(found, again)
    for (i, j), value in np.ndenumerate(found):
        exact = sum(
            int(count) * Fraction(weight)
            for count, weight in zip(counts[i], weights[:, j], strict=True)
        )
        assert value == pytest.approx(float(exact), rel=1e-15)


def test_sums_that_single_precision_cannot_hold() -> None:
    """Of 2^24 + 1 pairs of picks, each counts."""
    tar, non = np.zeros(2), np.array([1.0, -1.0])
    persons = (np.array([0, 1]),) * 2, (np.array([0, 1]), np.array([1, 2]))
    sample = speaker_sample((tar, persons[0]), (non, persons[1]))
    plan = SpeakerPlan.of(sample, pigeonhole=False)
    weights = np.array([[4097, 4096, 1]])
    for way in WAYS.values():
        with mock.patch.multiple(speaker_curve, **(way | {"_EXACT": 2.0**24})):
            found = unc.AUC().speaker_sums(SpeakerTrials(sample, plan))(weights, weights)
        assert found[0] == 4096 / (4097 * 4096 + 4096)


@pytest.mark.slow
@pytest.mark.parametrize("flat", [False, True], ids=["matrix", "list"])
def test_peak_memory_is_at_most_six_times_the_scores(*, flat: bool) -> None:
    data = CrossedExperiment(n_speakers=120, n_models=4, n_segments=25, tar_mean=3.0).draw(
        np.random.default_rng(4)
    )
    scores, key = data.scores, data.key
    if flat:
        scores, key = scores.to_flat(), key.to_flat()
    tracemalloc.start()
    try:
        for statistic in (unc.EER(), unc.MinDCF(0.01), DETCurve()):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            unc.bootstrap_scores(
                scores,
                key,
                statistic,
                speakers=(data.model_speakers, data.segment_speakers),
                replications=250,
                rng=5,
            )
            assert tracemalloc.get_traced_memory()[1] - before < 6 * 8 * data.key.n_trials
    finally:
        tracemalloc.stop()
