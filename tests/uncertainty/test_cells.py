"""Cells of speakers: rows equal the metric of repeated trials."""

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.costs import ActDCF, Cllr, MinDCF
from bosaris_py.metrics.metric import Metric
from bosaris_py.metrics.ranks import AUC, EER, MinCllr
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty.draws import CellRows, picked_units
from tests.uncertainty.samples import make_sample

METRICS = [EER(), EER("step"), AUC(), MinDCF(0.1), ActDCF(0.1), Cllr(), MinCllr()]
GAP = Metric(lambda tar, non: float(np.mean(tar) - np.mean(non)))


def times_of(one: ScoredClass, weights: np.ndarray, *, targets: bool) -> np.ndarray:
    """Return how often each sorted trial counts: products of the picks of its speakers."""
    first, second = one.sorted_speakers
    if second is None or targets:
        return weights[first]
    return weights[first] * np.where(second < 0, 1, weights[second])


@pytest.mark.parametrize("seed", range(4))
def test_rows_equal_times_of_trials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sample = make_sample(rng, groups=seed % 2 == 1, weights=seed == 2, ties=seed == 3)
    weights = picked_units(5, 9, rng)
    rows = CellRows.from_sample(sample, 9, 9).drawn(weights, weights)
    for metric in METRICS:
        naive = [
            metric.value(
                sample,
                (times_of(sample.tar, w, targets=True), times_of(sample.non, w, targets=False)),
            )
            for w in weights
        ]
        np.testing.assert_allclose(metric.values(rows), naive, rtol=1e-12, atol=1e-13)


def test_functions_of_users_get_trials_as_often_as_they_count() -> None:
    rng = np.random.default_rng(7)
    sample = make_sample(rng)
    weights = picked_units(4, 9, rng)
    rows = CellRows.from_sample(sample, 9, 9).drawn(weights, weights)
    lists = list(rows.lists())
    for (tar, non), w in zip(lists, weights, strict=True):
        assert tar.size == times_of(sample.tar, w, targets=True).sum()
        assert non.size == times_of(sample.non, w, targets=False).sum()
    np.testing.assert_allclose(GAP.values(rows), [t.mean() - n.mean() for t, n in lists])


def test_a_spoof_counts_as_often_as_its_speaker() -> None:
    rng = np.random.default_rng(8)
    sample = make_sample(rng, spoofs=True).with_shares(0.5, 0.5)
    weights = picked_units(3, 9, rng)
    rows = CellRows.from_sample(sample, 9, 9).drawn(weights, weights)
    naive = [
        EER().computed(
            sample, (times_of(sample.tar, w, targets=True), times_of(sample.non, w, targets=False))
        )
        for w in weights
    ]
    np.testing.assert_allclose(EER().values(rows), naive, rtol=1e-12)


def test_non_targets_of_one_speaker_are_refused() -> None:
    sample = make_sample(np.random.default_rng(9))
    first, _ = sample.non.speakers
    same = Sample(sample.tar, ScoredClass(sample.non.listed, speakers=(first, first)))
    with pytest.raises(InvalidInputError):
        CellRows.from_sample(same, 9, 9)
    with pytest.raises(InvalidInputError):
        CellRows.from_sample(Sample.from_scores([1.0], [0.0]), 1, 1)
