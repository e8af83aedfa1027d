"""Equal error rates by name: fractions worked out by hand, and naive scorers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import ROC, Results, eer
from bosaris_py.errors import InvalidInputError
from tests.score_strategies import naive_points, score_lists, weighted_scores

STEPPY = ("interpolated", "step")


def polyline_crossing(tar: np.ndarray, non: np.ndarray) -> Fraction:
    """Exact crossing of pmiss = pfa by the straight lines between all points of the ROC."""
    points = naive_points(tar, non)
    for (m0, f0), (m1, f1) in zip([(Fraction(0), Fraction(1)), *points], points, strict=False):
        if m1 >= f1:
            rise = (m1 - m0) + (f0 - f1)
            return m1 if rise == 0 else (m0 * (f0 - f1) + f0 * (m1 - m0)) / rise
    raise AssertionError


def asvspoof_rates(tar: np.ndarray, non: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error-rates trial by trial in the order of all scores, as that challenge has them."""
    labels = np.concatenate((np.ones(tar.size), np.zeros(non.size)))
    labels = labels[np.argsort(np.concatenate((tar, non)), kind="stable")]
    misses = np.concatenate(([0], np.cumsum(labels)))
    rejected = np.arange(labels.size + 1) - misses
    return misses / tar.size, 1.0 - rejected / non.size


@given(score_lists(), score_lists())
def test_interpolated_is_the_crossing_of_the_polyline(tar: np.ndarray, non: np.ndarray) -> None:
    expected = float(polyline_crossing(tar, non))
    assert eer(tar, non, definition="interpolated") == pytest.approx(expected, abs=1e-15)


@given(
    st.lists(st.integers(-40, 40), unique=True, min_size=2, max_size=40),
    st.integers(1, 39),
    st.integers(0, 2),
)
def test_step_without_ties_between_classes_is_the_nearest_trial(
    values: list[int], cut: int, repeats: int
) -> None:
    """Ties within a class, made by repeating, do not matter."""
    cut = min(cut, len(values) - 1)
    tar, non = np.array(values[:cut], float), np.array(values[cut:], float)
    tar, non = np.append(tar, tar[:repeats]), np.append(non, np.repeat(non[:1], repeats))
    pmiss, pfa = asvspoof_rates(tar, non)
    gap = np.abs(pmiss - pfa)
    nearest = gap <= gap.min() + 1e-12
    expected = ((pmiss + pfa) / 2)[nearest].min()
    assert eer(tar, non, definition="step") == pytest.approx(expected, abs=1e-15)


@given(score_lists(), score_lists(), st.sampled_from(("rocch", *STEPPY)))
def test_swapping_the_classes_changes_nothing(tar, non, definition: str) -> None:
    swapped = eer(-non, -tar, definition=definition)
    assert eer(tar, non, definition=definition) == pytest.approx(swapped, abs=1e-15)


@given(score_lists(), score_lists())
def test_the_hull_is_never_above_and_results_agree(tar, non) -> None:
    results = Results(tar, non)
    assert results.equal_error_rate() == results.eer == eer(tar, non)
    for definition in STEPPY:
        value = results.equal_error_rate(definition)
        assert value == eer(tar, non, definition=definition)
        assert value <= 1.0
    assert results.eer <= results.equal_error_rate("interpolated") + 1e-15


@given(weighted_scores(), weighted_scores(), st.sampled_from(STEPPY))
def test_whole_weights_are_repeated_trials(tar, non, definition: str) -> None:
    weighted = eer(tar[0], non[0], tar_weights=tar[1], non_weights=non[1], definition=definition)
    assert weighted == eer(np.repeat(*tar), np.repeat(*non), definition=definition)


@given(weighted_scores(), weighted_scores())
def test_scaled_weights_interpolate_to_the_same(tar, non) -> None:
    weights = {"tar_weights": tar[1] / 7, "non_weights": non[1] / 3}
    scaled = eer(tar[0], non[0], **weights, definition="interpolated")
    repeated = eer(np.repeat(*tar), np.repeat(*non), definition="interpolated")
    assert scaled == pytest.approx(repeated, abs=1e-14)


def test_fractions_by_hand() -> None:
    """Points (pmiss, pfa): (0, 1) (0, 1/2) (1/3, 1/2) (1/3, 0) (1, 0).

    The straight edge at pmiss = 1/3 crosses; its ends are 1/6 and 1/3 off the
    diagonal. On the hull, 1/5 = 1/2 (1 - x / (1/3)).
    """
    roc = ROC.from_scores([1.0, 3.0, 4.0], [0.0, 2.0])
    assert roc.equal_error_rate("rocch") == pytest.approx(1 / 5, rel=1e-15)
    assert roc.equal_error_rate("interpolated") == 1 / 3
    assert roc.equal_error_rate("step") == pytest.approx((1 / 3 + 1 / 2) / 2, rel=1e-15)


def test_a_tie_of_the_classes_is_one_step() -> None:
    """From (0, 2/3) to (1/2, 1/3): crossing at 2/5; nearer is the end, 1/6 off."""
    tar, non = [1.0, 2.0], [0.0, 1.0, 3.0]
    assert eer(tar, non, definition="interpolated") == pytest.approx(2 / 5, rel=1e-15)
    assert eer(tar, non, definition="step") == pytest.approx(5 / 12, rel=1e-15)


def test_two_steps_as_near_give_the_lower_rates() -> None:
    """At pmiss = 1/2, pfa = 2/3 and 1/3 are as near: (1/2 + 1/3) / 2."""
    tar, non = [0.0, 9.0], [1.0, 2.0, 3.0]
    assert eer(tar, non, definition="step") == pytest.approx(5 / 12, rel=1e-15)


def test_fractional_weights_divide_a_run_as_finely_as_one_likes() -> None:
    roc = ROC.from_scores([1.0, 3.0, 4.0], [0.0, 2.0]).weighted(0.25, 0.75)
    assert roc.equal_error_rate("step") == pytest.approx(1 / 3, rel=1e-15)


@pytest.mark.parametrize("definition", ["rocch", *STEPPY])
def test_perfect_useless_and_inverted(definition: str) -> None:
    assert eer([2.0, 3.0], [0.0, 1.0], definition=definition) == 0.0
    assert eer([1.0, 1.0], [1.0], definition=definition) == 0.5
    inverted = eer([0.0, 1.0], [2.0, 3.0], definition=definition)
    assert inverted == (0.5 if definition == "rocch" else 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: eer([1.0], [0.0], definition="brentq"),
        lambda: ROC.from_scores([1.0], [0.0]).equal_error_rate("brentq"),
        lambda: Results([1.0], [0.0]).equal_error_rate("brentq"),
    ],
)
def test_unknown_definition(call) -> None:
    with pytest.raises(InvalidInputError, match='one of "rocch", "interpolated", "step"; got'):
        call()


# ROC.weighted


def test_equalised_rates_are_means_of_conditions() -> None:
    """Van Leeuwen's equations (3) and (4), two conditions with weights 1/4 and 3/4."""
    tar, non = ([1.0, 4.0], [2.0, 3.0, 5.0]), ([0.0, 2.5], [1.5, 2.0, 3.5, -1.0])
    scores = np.unique(np.concatenate(tar))
    shares = (0.25, 0.75)
    pooled, *others = (
        ROC.at_target_scores(scores, t, n).weighted(w / len(t), w / len(n))
        for t, n, w in zip(tar, non, shares, strict=True)
    )
    for other in others:
        pooled = pooled + other
    for threshold, pmiss, pfa in zip(
        pooled.thresholds[:-1], pooled.pmiss[:-1], pooled.pfa[:-1], strict=True
    ):
        rates = [
            (w * np.mean(np.array(t) < threshold), w * np.mean(np.array(n) >= threshold))
            for t, n, w in zip(tar, non, shares, strict=True)
        ]
        assert (pmiss, pfa) == pytest.approx(tuple(np.sum(rates, axis=0)), abs=1e-15)


def test_whole_factors_keep_whole_counts() -> None:
    roc = ROC.from_scores([1.0, 3.0], [0.0, 2.0])
    assert roc.weighted(2, 3).tar_at.tolist() == [2, 2]
    assert roc.weighted(2, 3).non_between.dtype == np.int64
    assert roc.weighted(0, 1).tar_at.tolist() == [0, 0]
    assert roc.weighted(2.0**60, 1).tar_at.tolist() == [2.0**60, 2.0**60]


@pytest.mark.parametrize("factor", [-1.0, np.inf, np.nan, "x"])
def test_bad_factors(factor: object) -> None:
    roc = ROC.from_scores([1.0], [0.0])
    with pytest.raises(InvalidInputError, match=r"`tar_factor` must be (finite|a number)"):
        roc.weighted(factor, 1.0)
    with pytest.raises(InvalidInputError, match="`non_factor`"):
        roc.weighted(1.0, factor)
