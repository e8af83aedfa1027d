"""Minimum Cllr by the jackknife: its pools are fitted to the scores."""

import math

import numpy as np
import pytest
from scipy import stats

from bosaris_py import uncertainty as unc
from bosaris_py.uncertainty.influence.jackknife import Jackknife
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from tests.uncertainty.speaker_samples import speaker_sample

K = 7


def trials(seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, the speaker of model and segment of each trial."""
    rng = np.random.default_rng(seed)
    one, other = np.divmod(np.arange(K * 3 * K), 3 * K)
    other = other // 3
    habits = rng.normal(size=K)
    return 1.5 * (one == other) + habits[one] + rng.normal(size=one.size) + shift, one, other


def influence(seed: int) -> tuple[SpeakerInfluence, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    scores, one, other = trials(seed)
    same = one == other
    sides = ((scores[s], (one[s], other[s])) for s in (same, ~same))
    return SpeakerInfluence.on(unc.MinCllr(), speaker_sample(*sides)), (scores, one, other)


def without_each(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Minimum Cllr of the trials that each speaker has no part in."""
    scores, one, other = data
    values = []
    for k in range(K):
        kept = (one != k) & (other != k)
        tar, non = scores[kept & (one == other)], scores[kept & (one != other)]
        values.append(unc.MinCllr()(tar, non))
    return np.array(values)


def test_variance_and_bias_by_leaving_speakers_out() -> None:
    found, data = influence(1)
    left = without_each(data)
    variance = (K - 1) / K * np.sum((left - left.mean()) ** 2)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    # Bias of n^(-2/3): half as large again as the jackknife's of n^(-1).
    correction = 1.5 * (K - 1) * (found.estimate - left.mean())
    assert found.jackknife is not None
    assert found.jackknife.correction == pytest.approx(correction, rel=1e-10)
    value = found.estimate + correction
    interval = found.interval(0.95, "")
    half = stats.t.ppf(0.975, K - 1) * math.sqrt(variance) / value
    assert interval.high >= min(value * math.exp(half), 1.0) * (1 - 1e-12)
    assert interval.low <= value * math.exp(-half) * (1 + 1e-12)
    assert interval.estimate == found.estimate
    assert interval.low < found.estimate < interval.high


def test_difference_of_systems() -> None:
    (a, of_a), (b, of_b) = influence(2), influence(3)
    contrast = a.minus(b)
    left = without_each(of_a) - without_each(of_b)
    variance = (K - 1) / K * np.sum((left - left.mean()) ** 2)
    assert contrast.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert contrast.difference == pytest.approx(a.estimate - b.estimate)
    assert contrast.degrees == K - 1
    assert a.minus(a).standard_error == 0


def test_a_law_of_its_own() -> None:
    """Replicates at fixed pools say nothing of an error by the jackknife."""
    found, _ = influence(4)
    assert found.students(np.ones((5, K)), log=True) is None


def test_classes_apart_leave_open_what_speakers_may_do() -> None:
    """1 - 0.025^(1/K), as without the jackknife."""
    scores, one, other = trials(5)
    same = one == other
    sides = ((scores[s] + 99.0 * (s is same), (one[s], other[s])) for s in (same, ~same))
    interval = SpeakerInfluence.on(unc.MinCllr(), speaker_sample(*sides)).interval(0.95, "")
    assert (interval.low, interval.estimate) == (0, 0)
    assert interval.high == pytest.approx(1 - 0.025 ** (1 / K))


def test_the_only_speaker_with_targets_is_kept() -> None:
    scores, one, other = trials(6)
    same = one == other
    tar = same & (one == 0)
    sample = speaker_sample(
        (scores[tar], (one[tar], other[tar])), (scores[~same], (one[~same], other[~same]))
    )
    found = Jackknife.of(unc.MinCllr(), sample)
    assert found.deviations[0] == 0
    assert np.isfinite(found.deviations).all()
