"""Costs: fractions by hand, every threshold tried, published figures, laws."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import OperatingPoint, Results, act_dcf, cllr, error_rates_at, min_dcf
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, SuspectScoresWarning
from bosaris_py.metrics.costs import Brier, no_llrs, not_calibrated
from bosaris_py.metrics.metric import Opening
from bosaris_py.metrics.ranks import PmissAt
from bosaris_py.trials.conditions import ConditionMembers
from bosaris_py.trials.sample import Sample
from bosaris_py.uncertainty import DCF, ActDCF, Cllr, MinDCF, Pfa, Pmiss
from tests.score_strategies import any_scores, score_lists

NIST = OperatingPoint(0.01, 10, 1)


def test_fractions_by_hand() -> None:
    """Targets 2 and 5, non-targets -1 and 3: at the Bayes threshold of 2.29 half of both err."""
    tar, non = [2.0, 5.0], [-1.0, 3.0]
    assert act_dcf(tar, non, NIST, normalize=False) == pytest.approx(0.545, rel=1e-15)
    assert act_dcf(tar, non, NIST) == pytest.approx(5.45, rel=1e-15)
    assert ActDCF(NIST)(tar, non) == pytest.approx(5.45, rel=1e-15)
    assert DCF(2.29, NIST)(tar, non) == pytest.approx(5.45, rel=1e-15)
    # At 5 nothing is accepted wrongly: .1 / 2.
    assert min_dcf(tar, non, NIST, normalize=False) == pytest.approx(0.05, rel=1e-15)
    assert MinDCF(NIST)(tar, non) == pytest.approx(0.5, rel=1e-15)
    assert (Pmiss(3.0)(tar, non), Pfa(3.0)(tar, non)) == (0.5, 0.5)


def test_what_a_cost_is_made_of() -> None:
    assert repr(MinDCF(np.float32(0.5))) == repr(MinDCF([0.5])) == repr(MinDCF(np.array([0.5])))
    for make in (
        *(lambda wrong=wrong: MinDCF(0.5, normalize=wrong) for wrong in ("no", 2, None)),
        *(lambda wrong=wrong: DCF(wrong, 0.5) for wrong in (math.nan, "x", [1.0, 2.0])),
        *(lambda wrong=wrong: Pmiss(wrong) for wrong in (math.nan, "x")),
        *(lambda wrong=wrong: ActDCF(wrong) for wrong in (1.0, [0.5, 2.0])),
    ):
        with pytest.raises(InvalidInputError):
            make()


def test_a_score_on_the_threshold_is_accepted() -> None:
    for tar, non, limit in ((2.0, 2.0, 2.0), (-0.0, 0.0, 0.0), (0.0, -0.0, -0.0)):
        assert error_rates_at([tar], [non], limit) == (0.0, 1.0)
    # 0.7 in float32 lies below 0.7 in float64, for few thresholds and for many.
    single = np.array([0.7], dtype=np.float32)
    assert error_rates_at(single, single, 0.7) == (1.0, 0.0)
    assert error_rates_at(single, single, [0.7] * 20)[0].tolist() == [1.0] * 20
    with pytest.raises(InvalidInputError, match="NaN"):
        error_rates_at([1.0], [0.0], math.nan)


@given(score_lists(), score_lists(), st.lists(any_scores, min_size=1, max_size=20))
def test_error_rates_count_trials(tar: np.ndarray, non: np.ndarray, limits: list[float]) -> None:
    pmiss, pfa = error_rates_at(tar, non, limits)
    assert pmiss.tolist() == [np.mean(tar < limit) for limit in limits]
    assert pfa.tolist() == [np.mean(non >= limit) for limit in limits]
    assert Results(tar, non).error_rates_at(limits[0]) == (pmiss[0], pfa[0])
    assert (Pmiss(limits[0])(tar, non), Pfa(limits[0])(tar, non)) == (pmiss[0], pfa[0])


def test_what_errors_cost_and_how_many_there_are() -> None:
    sample = Sample.from_scores([2.0, 5.0], [-1.0, 3.0])
    assert MinDCF(0.5).openings(sample) == [Opening(1.0, 0.0, 0), Opening(1.0, 0.5, 1)]
    assert ActDCF(0.5, normalize=False).openings(sample) == [
        *(Opening(0.5, 0.0, 0), Opening(0.5, 0.5, 1))
    ]
    assert Pmiss(3.0).openings(sample) == [Opening(1.0, 0.5, 0)]
    # Log-odds of nothing cost a bit, of log 3 against the truth two.
    wrong = Sample.from_scores([0.0], [math.log(3)])
    assert Cllr().openings(wrong) == [Opening(0.5, 1.0, 0), Opening(0.5, pytest.approx(2.0), 1)]


@pytest.mark.parametrize(
    ("tar", "non", "expected"),
    [
        ([0.0], [0.0], 1.0),
        ([math.inf], [-math.inf], 0.0),
        ([-math.inf, 1.0], [0.0], math.inf),
        # log2(1 + exp(-40)) does not round to zero.
        ([40.0], [-40.0], math.log1p(math.exp(-40.0)) / math.log(2)),
        ([-1e5], [0.0], (1e5 / math.log(2) + 1) / 2),
        # log2(1 + 3) and log2(1 + 1).
        ([-math.log(3)], [0.0], 1.5),
    ],
)
def test_cllr_by_hand(tar: list[float], non: list[float], expected: float) -> None:
    assert cllr(tar, non) == pytest.approx(expected, rel=1e-15)
    assert Cllr()(tar, non, [1.0] * len(tar)) == pytest.approx(expected, rel=1e-14)


def test_a_trial_without_weight_costs_nothing() -> None:
    assert cllr([-math.inf, 0.0], [0.0], tar_weights=[0.0, 1.0]) == 1.0
    sample = Sample.from_scores([-math.inf, 0.0], [0.0])
    assert Cllr().value(sample, (np.array([0, 1]), np.array([1]))) == 1.0


def test_brier_by_hand() -> None:
    """Posteriors of the wrong class 1/4 and 1/2: 2 (1/16 + 1/4); certain and wrong: 4."""
    assert Brier()([math.log(3)], [0.0]) == pytest.approx(2 * (1 / 16 + 1 / 4), rel=1e-15)
    assert Brier()([-math.inf], [math.inf]) == 4.0
    assert Brier()([0.0], [0.0]) == 1.0


def llrs(rng: np.random.Generator, n_tar: int, n_non: int, spread: float) -> list[np.ndarray]:
    """Draw calibrated log-likelihood-ratios: normal, of mean half of the variance, or minus it."""
    half = spread * spread / 2.0
    return [rng.normal(half, spread, n_tar), rng.normal(-half, spread, n_non)]


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("sizes", [(31, 31), (40, 400), (300, 3000)])
def test_calibrated_scores_are_not_strange(sizes: Any, spread: float) -> None:
    """None of 40 sets: limits are above what chance does."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        sample = Sample.from_scores(*llrs(rng, *sizes, spread))
        # Nor where a few trials have half of the mass.
        parts = [[np.arange(n)[part] for n in sizes] for part in (slice(12), slice(12, None))]
        heavy = [ConditionMembers("", 0.5, *part, 0.5, 0.5) for part in parts]
        for one in (sample, sample.weighted(heavy)):
            assert not_calibrated(one, (0.01, 0.05, 0.5)) == []
        assert no_llrs(sample) == []


@pytest.mark.parametrize("warp", [np.tanh, lambda s: s - 8.0, lambda s: 9.0 * s, np.negative])
def test_scores_that_are_not_calibrated(warp: Any) -> None:
    """One wrong hard decision makes no llrs of the others; five of 400 may be of a PAV map."""
    tar, non = map(warp, llrs(np.random.default_rng(2), 400, 4000, 3.0))
    (note,) = no_llrs(Sample.from_scores(tar, non))
    assert note.kind is SuspectScoresWarning
    tar[0] = -np.inf
    assert len(not_calibrated(Sample.from_scores(tar, non))) == 1
    tar[:5] = -np.inf
    assert not_calibrated(Sample.from_scores(tar, non)) == []
    assert cllr([1.0] * 100, [-1.0] * 98 + [1.7e308] * 2) == math.inf
    assert no_llrs(Sample.from_scores([1.0, 0.5] * 600, non)) != []


def test_an_actual_cost_far_above_the_minimum() -> None:
    """20 non-targets of 1000 above the threshold at prior .01 cost 99 * .02; their bits .07."""
    non = np.concatenate([np.full(980, -9.0), np.full(20, 5.0)])
    sample = Sample.from_scores(np.full(1000, 9.0), non)
    assert not_calibrated(sample) == []
    (note,) = not_calibrated(sample, [0.5, 0.01])
    assert note.kind is SuspectScoresWarning
    # Of 31 non-targets 12 at the threshold are within 3 standard errors and 6 / 31, 16 are not.
    for n, said in ((12, 0), (16, 1)):
        few = Sample.from_scores(np.full(31, 9.0), np.repeat([0.0, -9.0], [n, 31 - n]))
        assert len(not_calibrated(few, 0.5)) == said


@pytest.mark.parametrize(
    "metric",
    [MinDCF(0.01), ActDCF([0.5, 0.01]), DCF(0.0, 0.01), PmissAt(0.01), min_dcf, act_dcf],
    ids=lambda metric: getattr(metric, "__name__", type(metric).__name__),
)
def test_what_so_few_trials_cannot_show(metric) -> None:
    """At prior 0.01 a false-alarm rate of 1/99 costs as much as no detector."""
    priors = (0.01,) if metric in (min_dcf, act_dcf) else ()
    for n in (98, 100):
        tar, non = np.linspace(0.5, 5.0, n), np.linspace(-5.0, -0.5, n)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", FewErrorsWarning)
            metric(tar, non, *priors)
            # A curve shows what it can.
            min_dcf(tar, non, np.linspace(0.01, 0.99, 11))
        assert [one.category for one in told] == [FewErrorsWarning] * (n < 99)
