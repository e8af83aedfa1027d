"""Draws: laws of how often trials count, and rows that equal them."""

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.costs import DCF, ActDCF, Cllr, MinDCF
from bosaris_py.metrics.metric import Metric
from bosaris_py.metrics.ranks import AUC, EER, MinCllr
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty import draws
from tests.uncertainty.samples import make_sample

METRICS = [EER(), EER("step"), AUC(), MinDCF(0.1), ActDCF(0.1), Cllr(), MinCllr()]
GAP = Metric(lambda tar, non: float(tar.mean() - non.mean()))


def test_as_many_units_are_picked_as_there_are() -> None:
    picks = draws.picked_units(1000, 7, np.random.default_rng(1))
    assert (picks.sum(axis=1) == 7).all()
    # Binomial of 7 picks at 1/7: mean 1, variance 6/7; 4 standard errors of 7000 numbers.
    assert picks.mean() == 1.0
    assert abs(picks.var() - 6 / 7) < 4 * np.sqrt(2 / 7000)


def test_trials_are_drawn_within_conditions() -> None:
    sample = make_sample(np.random.default_rng(2), groups=True)
    (rows,) = draws.IidDraws((sample,)).rows(5, np.random.default_rng(3))
    for tar, non in rows.times():
        for one, times in ((sample.tar, tar), (sample.non, non)):
            groups = one.groups
            assert np.array_equal(np.bincount(groups, times), np.bincount(groups))


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        *((metric, {}) for metric in (EER(), DCF(0.5, 0.1), Cllr(), GAP)),
        *((metric, {"groups": True}) for metric in (MinDCF(0.1), DCF(0.5, 0.1))),
        (ActDCF([0.1, 0.5]), {}),
    ],
)
@pytest.mark.parametrize("method", ["iid", "two-layer"])
def test_fast_ways_have_the_law_of_trials_drawn_one_by_one(metric, options, method) -> None:
    """Means of 200 replicates agree within 5 standard errors, and deviations within a quarter."""
    sample = make_sample(np.random.default_rng(4), one_side=True, **options)
    (fast,) = draws.draw_from(method, [sample]).rows(200, np.random.default_rng(5))
    # Of two systems it is known how often each trial was drawn.
    plain, again = draws.draw_from(method, [sample] * 2).rows(200, np.random.default_rng(6))
    assert isinstance(plain, draws.TimesRows)
    one, other = metric.values(fast), metric.values(plain)
    assert np.array_equal(other, metric.values(again))
    assert abs(one.mean() - other.mean()) < 5 * other.std() * np.sqrt(2 / 200)
    assert abs(np.log(one.std() / other.std())) < 0.25


def test_sets_of_two_layers_keep_their_sizes() -> None:
    sets = np.array([0, 0, 1, 1, 1, 2])
    one = ScoredClass(np.arange(6.0), speakers=(sets, None))
    drawn = draws.TwoLayerDraws.from_systems([Sample(one, one)] * 2)
    rows, _ = drawn.rows(50, np.random.default_rng(7))
    for tar, _ in rows.times():
        # As many picks of sets of 2, 3 and 1 trials as there are sets.
        sums = np.bincount(sets, tar)
        picks = sums / np.array([2, 3, 1])
        assert picks.sum() == 3
        assert (picks == picks.astype(int)).all()
    # Within each condition, too: cells of 1, 1, 2, 1 and 1 trials of sets 0, 0, 1, 1 and 2.
    groups = np.array([0, 1, 0, 1, 0, 0])
    divided = ScoredClass(one.listed, groups, np.array([0.5, 0.5]), speakers=(sets, None))
    drawn = draws.TwoLayerDraws.from_systems([Sample(divided, divided)] * 2)
    for tar, _ in drawn.rows(50, np.random.default_rng(8))[0].times():
        cells = np.bincount(2 * sets + groups, tar)
        picks = cells[:5] / np.array([1, 1, 2, 1, 1])
        assert (picks[0], picks[2], picks[[0, 2, 4]].sum()) == (picks[1], picks[3], 3)


def test_sets_that_a_class_lacks_are_not_drawn() -> None:
    tar = ScoredClass(np.array([1.0, 2.0]), speakers=(np.array([3, 9]), None))
    non = ScoredClass(np.array([0.0, 0.5, 1.5]), speakers=(np.array([3, 4, 4]), None))
    drawn = draws.SetDraws.from_systems([Sample(tar, non)])
    assert drawn.n_units == (2, 2)
    (rows,) = drawn.rows(100, np.random.default_rng(10))
    assert not np.isnan(EER().values(rows)).any()


@pytest.mark.parametrize("kind", [draws.SetDraws, draws.SpeakerDraws, draws.TwoLayerDraws])
def test_units_must_be_known(kind) -> None:
    with pytest.raises(InvalidInputError):
        kind.from_systems([Sample.from_scores([1.0], [0.0])])


def times_of(one: ScoredClass, weights: np.ndarray, *, targets: bool) -> np.ndarray:
    """Return how often each sorted trial counts: products of the picks of its speakers."""
    first, second = one.sorted_speakers
    if second is None or targets:
        return weights[first]
    return weights[first] * np.where(second < 0, 1, weights[second])


@pytest.mark.parametrize("seed", range(5))
def test_rows_equal_times_of_trials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sample = make_sample(
        rng, groups=seed % 2 == 1, weights=seed == 2, ties=seed == 3, spoofs=seed == 4
    )
    if seed == 4:
        # A spoof counts as often as its speaker.
        sample = sample.with_shares(0.5, 0.5)
    weights = draws.picked_units(5, 9, rng)
    rows = draws.CellRows.from_sample(sample, 9, 9).drawn(weights, weights)
    times = [
        (times_of(sample.tar, w, targets=True), times_of(sample.non, w, targets=False))
        for w in weights
    ]
    for metric in [*METRICS, GAP] if seed == 0 else METRICS:
        naive = [metric.computed(sample, pair) for pair in times]
        np.testing.assert_allclose(metric.values(rows), naive, rtol=1e-12, atol=1e-13)


def test_non_targets_of_one_speaker_are_refused() -> None:
    sample = make_sample(np.random.default_rng(9))
    first, _ = sample.non.speakers
    same = Sample(sample.tar, ScoredClass(sample.non.listed, speakers=(first, first)))
    with pytest.raises(InvalidInputError):
        draws.CellRows.from_sample(same, 9, 9)
