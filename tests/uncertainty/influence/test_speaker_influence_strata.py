"""Strata of speakers: influences less the mean of their stratum, and draws within strata."""

import itertools

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py import uncertainty as unc
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.influence.losses import losses_of
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from bosaris_py.uncertainty.resampling import SpeakerPlan
from tests.uncertainty.speaker_samples import speaker_sample

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]

COST = unc.DCF(0.0, 0.5, 2, 2)
METRICS = COST, unc.EER(), unc.MinDCF(0.2), unc.Cllr(), unc.AUC(), unc.MinCllr()


def met(group: np.ndarray, rng: np.random.Generator, *, blocks: bool) -> ListedSample:
    """Two models and two segments of each speaker; in blocks only those of one group meet."""
    of_ids = np.repeat(np.arange(group.size), 2)
    one, other = (side.ravel() for side in np.meshgrid(of_ids, of_ids, indexing="ij"))
    kept = (group[one] == group[other]) if blocks else np.ones(one.size, dtype=bool)
    effect = rng.normal(size=group.size) + group
    scores = rng.normal(size=one.size) + np.where(one == other, 1.0, -1.0) + 0.5 * effect[one]
    sides = [
        (scores[s], (one[s], other[s])) for s in (kept & (one == other), kept & (one != other))
    ]
    return speaker_sample(sides[0], sides[1])


def in_strata(sample: ListedSample, group: np.ndarray) -> ListedSample:
    return ListedSample(sample.classes, speaker_strata=group)


@given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.sampled_from(METRICS))
@settings(deadline=None)
def test_one_stratum_is_none(seed: int, k: int, metric: unc.Statistic) -> None:
    sample = met(np.zeros(k, dtype=np.int64), np.random.default_rng(seed), blocks=False)
    plain = SpeakerInfluence.on(metric, sample)
    found = SpeakerInfluence.on(metric, in_strata(sample, np.zeros(k, dtype=np.int64)))
    np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-9, atol=1e-15)
    assert found.degrees == plain.degrees


def test_blocks_that_never_meet_add_up() -> None:
    """The formula of each block alone, put together with the share of its trials."""
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    sample = met(group, np.random.default_rng(7), blocks=True)
    found = SpeakerInfluence.of(losses_of(COST, sample), in_strata(sample, group))
    expected = np.zeros((2, 2))
    counts = [side.scores.size for side in sample.classes]
    for block in (0, 1):
        own, shares = [], []
        for side, count in zip(sample.classes, counts, strict=True):
            assert side.persons is not None
            chosen = group[side.persons[0]] == block
            own.append(side.take(chosen))
            shares.append(own[-1].scores.size / count)
        alone = ListedSample(tuple(own))
        part = SpeakerInfluence.of(losses_of(COST, alone), alone)
        expected += part.covariance * np.outer(shares, shares)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-12)
    # Of each block the mean is estimated; speakers of the larger one have more trials.
    assert 3 <= found.degrees <= 5


def test_formula_by_hand() -> None:
    """Speakers 0, 1 and 2, 3 of two strata, one target each; misses of 0 and of 2 and 3."""
    # Residuals are (e - .75)/4; stratum means 1/2 and 1 take all but +-1/8 of the first two.
    # Leverages are 2, the correction is 1/2: V = 2 (2/8)^2 / 2 = 1/16.
    tar = np.array([-1.0, 1.0, -1.0, -1.0]), (np.arange(4), np.arange(4))
    one, other = map(np.array, zip(*itertools.permutations(range(4), 2), strict=True))
    non = np.full(one.size, -2.0), (one, other)
    sample = in_strata(speaker_sample(tar, non), np.array([5, 5, 9, 9]))
    found = SpeakerInfluence.of(losses_of(unc.FNMR(0.0), sample), sample)
    assert found.covariance[0, 0] == pytest.approx(1 / 16, rel=1e-14)
    assert found.degrees == pytest.approx(2, rel=1e-14)


def test_draws_keep_the_number_of_each_stratum() -> None:
    group = np.array([0, 1, 0, 1, 1, 0, 1, 2, 2])
    sample = in_strata(met(group, np.random.default_rng(1), blocks=False), group)
    plan = SpeakerPlan.of(sample, pigeonhole=False)
    weights, _ = plan.persons.draw(20_000, np.random.default_rng(2))
    for stratum, size in enumerate(np.bincount(group)):
        assert np.all(weights[:, group == stratum].sum(axis=1) == size)
        # The law of one weight is binomial: the variance is 1 - 1/K_h, its error here .02.
        variances = weights[:, group == stratum].var(axis=0)
        np.testing.assert_allclose(variances, 1 - 1 / size, atol=0.05)
    one_by_one = np.random.default_rng(2)
    again = [plan.persons.draw(1, one_by_one)[0][0] for _ in range(3)]
    np.testing.assert_array_equal(weights[:3], again)


def test_standard_error_of_draws_is_that_of_the_formula() -> None:
    """To first order both are the same; leverages and pairs leave a tenth at 24 speakers."""
    group = np.repeat([0, 1], [8, 16])
    sample = met(group, np.random.default_rng(3), blocks=True)
    non = sample.non
    # Half of the false alarms of one group, and few of the other.
    higher = non.scores + 2.0 * group[non.persons[0]]
    sample = ListedSample((sample.tar, attrs.evolve(non, scores=higher)))
    plain = SpeakerInfluence.of(losses_of(unc.FMR(1.0), sample), sample).standard_error
    strata = in_strata(sample, group)
    formula = SpeakerInfluence.of(losses_of(unc.FMR(1.0), strata), strata).standard_error
    assert formula < 0.8 * plain
    plan = SpeakerPlan.of(strata, pigeonhole=False)
    rng, alarms = np.random.default_rng(4), higher >= 1.0
    values = [np.average(alarms, weights=plan.draw_weights(rng)[1]) for _ in range(2000)]
    assert np.std(values) == pytest.approx(formula, rel=0.12)
