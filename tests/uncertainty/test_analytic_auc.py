import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from bosaris_py.errors import FewErrorsWarning, InvalidInputError, TrialMismatchError
from bosaris_py.numerics import auc
from bosaris_py.uncertainty.analytic import auc_standard_error, delong
from tests.score_strategies import any_scores, score_lists, tied_scores

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


def kernel(tar: np.ndarray, non: np.ndarray) -> np.ndarray:
    """1, 1/2 or 0 for all pairs: (n_tar, n_non)."""
    t, n = tar[:, np.newaxis], non
    return (t > n) + 0.5 * (t == n)


def chance_both_first(a: float, b: float, other: float) -> float:
    """Chance that a and b both outrank `other` if coins decide the order of equal scores."""
    if a < other or b < other:
        return 0.0
    return {0: 1.0, 1: 0.5, 2: 1 / 3}[int(a == other) + int(b == other)]


def naive_variance(tar: np.ndarray, non: np.ndarray, ties: str) -> float:
    """NISTIR 7722 eqs. 12 to 14 by going through all triples of scores."""
    pairs = kernel(tar, non)
    area = pairs.mean()
    if ties == "coin":
        ttn = np.mean([chance_both_first(a, b, n) for a, b, n in itertools.product(tar, tar, non)])
        nnt = np.mean(
            [chance_both_first(-a, -b, -t) for a, b, t in itertools.product(non, non, tar)]
        )
        square = area
    else:
        ttn = np.mean([x * y for column in pairs.T for x, y in itertools.product(column, column)])
        nnt = np.mean([x * y for row in pairs for x, y in itertools.product(row, row)])
        square = np.mean(pairs**2)
    total = square - area**2 + (tar.size - 1) * (ttn - area**2) + (non.size - 1) * (nnt - area**2)
    return max(total, 0) / (tar.size * non.size)


@settings(deadline=None)
@given(
    score_lists(tied_scores, max_size=9),
    score_lists(tied_scores, max_size=9),
    st.sampled_from(["coin", "half"]),
)
def test_equation_14_against_all_triples(tar, non, ties):
    variance = auc_standard_error(tar, non, ties=ties) ** 2
    # Both sum numbers of order 1 that cancel; the variance itself is at most 1/4.
    assert variance == pytest.approx(naive_variance(tar, non, ties), rel=1e-12, abs=1e-14)


def test_equation_14_on_a_larger_tied_set(rng):
    tar, non = rng.integers(0, 8, 60) + 2.0, rng.integers(0, 8, 45) * 1.0
    for ties in ("coin", "half"):
        expected = naive_variance(tar, non, ties)
        assert auc_standard_error(tar, non, ties=ties) ** 2 == pytest.approx(expected, rel=1e-12)


def test_half_ties_is_the_exact_variance_of_the_bootstrap():
    # All 3^3 * 2^2 equally likely resamples of three targets and two non-targets.
    tar, non = np.array([1.0, 2.0, 2.0]), np.array([0.5, 2.0])
    areas = [
        auc(t, n)
        for t in itertools.product(tar, repeat=3)
        for n in itertools.product(non, repeat=2)
    ]
    exact = np.var(areas)
    assert auc_standard_error(tar, non, ties="half") ** 2 == pytest.approx(exact, rel=1e-12)
    assert auc_standard_error(tar, non, ties="coin") ** 2 > exact


@given(score_lists(any_scores), score_lists(any_scores))
def test_laws(tar, non):
    for ties in ("coin", "half"):
        error = auc_standard_error(tar, non, ties=ties)
        assert 0 <= error <= 0.5
        # Swapping the classes mirrors the area; the sums are taken in another order, and a
        # variance of 0 may come out as 2^-51, whose root is 2e-8.
        mirrored = auc_standard_error(-non, -tar, ties=ties)
        assert mirrored == pytest.approx(error, rel=1e-7, abs=3e-8)
        # Only ranks matter, to the last bit.
        _, ranks = np.unique(np.concatenate((tar, non)), return_inverse=True)
        ranked = auc_standard_error(ranks[: tar.size], ranks[tar.size :], ties=ties)
        assert ranked == error


def test_weights_act_by_their_ratios_and_are_no_repetitions(rng):
    tar, non = rng.normal(1, 1, 40), rng.normal(0, 1, 70)
    weights = rng.random(40) + 0.1
    error = auc_standard_error(tar, non, tar_weights=weights)
    assert auc_standard_error(tar, non, tar_weights=8 * weights) == pytest.approx(error, rel=1e-12)
    plain = auc_standard_error(tar, non)
    assert auc_standard_error(tar, non, tar_weights=np.full(40, 3)) == pytest.approx(
        plain, rel=1e-12
    )
    # A weight of zero takes a trial away.
    weights[:10] = 0
    without = auc_standard_error(tar[10:], non, tar_weights=weights[10:])
    assert auc_standard_error(tar, non, tar_weights=weights) == pytest.approx(without, rel=1e-12)


@pytest.mark.slow
def test_weighted_error_is_that_of_repeated_experiments(rng):
    # Fixed weights, 4000 new data sets: the standard deviation of a standard deviation is
    # 1 / sqrt(2 * 4000) = 1.1 %; three times that, and a little for the error of the formula.
    weights, others = rng.random(60) ** 2, rng.random(90) ** 2
    sets = [(rng.normal(1, 1, 60), rng.normal(0, 1, 90)) for _ in range(4000)]
    areas = [auc(t, n, tar_weights=weights, non_weights=others) for t, n in sets]
    errors = [
        auc_standard_error(t, n, tar_weights=weights, non_weights=others) for t, n in sets[:400]
    ]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(areas), rel=0.05)


def test_conditions_keep_their_share_in_every_resample():
    # All resamples within conditions, 2^2 * 1 * 2^2 * 2^2 of them equally likely.
    tar, non = [np.array([1.0, 2.0]), np.array([2.5])], [np.array([0.5, 2.0]), np.array([1.0, 3.0])]
    weights = {"a": 0.25, "b": 0.75}
    tar_labels, non_labels = ["a", "a", "b"], ["a", "a", "b", "b"]
    # Weights of trials: a condition's weight over its number of trials.
    of_tar, of_non = [0.125, 0.125, 0.75], [0.125, 0.125, 0.375, 0.375]
    areas = [
        auc([*a, *tar[1]], [*c, *d], tar_weights=of_tar, non_weights=of_non)
        for a in itertools.product(tar[0], repeat=2)
        for c in itertools.product(non[0], repeat=2)
        for d in itertools.product(non[1], repeat=2)
    ]
    error = auc_standard_error(
        np.concatenate(tar),
        np.concatenate(non),
        ties="half",
        tar_conditions=tar_labels,
        non_conditions=non_labels,
        condition_weights=weights,
    )
    assert error == pytest.approx(np.std(areas), rel=1e-12)


@pytest.mark.parametrize("ties", ["coin", "half"])
def test_one_condition_is_none(ties, rng):
    tar, non = rng.integers(0, 8, 30) + 2.0, rng.integers(0, 8, 45) * 1.0
    error = auc_standard_error(
        tar, non, ties=ties, tar_conditions=["a"] * 30, non_conditions=["a"] * 45
    )
    assert error == auc_standard_error(tar, non, ties=ties)


@pytest.mark.slow
def test_error_with_conditions_is_that_of_repeated_experiments(rng):
    # 4000 new data sets; conditions differ in their scores by more than the classes do. The
    # standard deviation is known to 1.1 %, and the formula takes 40 trials for the population.
    tar_labels, non_labels = np.repeat([0, 1], (40, 80)), np.repeat([0, 1], (150, 50))
    weights = {0: 0.3, 1: 0.7}
    of_tar = np.where(tar_labels == 0, 0.3 / 40, 0.7 / 80)
    of_non = np.where(non_labels == 0, 0.3 / 150, 0.7 / 50)
    sets = [(rng.normal(1 + 2 * tar_labels, 1), rng.normal(2 * non_labels, 1)) for _ in range(4000)]
    areas = [auc(t, n, tar_weights=of_tar, non_weights=of_non) for t, n in sets]
    labels = {"tar_conditions": tar_labels, "non_conditions": non_labels}
    errors = [auc_standard_error(t, n, **labels, condition_weights=weights) for t, n in sets[:400]]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(areas), rel=0.05)


def bootstrap_error(tar, non, replications, rng):
    """A plain bootstrap of the area: resample scores, rank them anew."""
    areas = []
    for _ in range(replications):
        t, n = rng.choice(tar, tar.size), rng.choice(non, non.size)
        ranks = stats.rankdata(np.concatenate((t, n)))[: t.size]
        areas.append((ranks.sum() - t.size * (t.size + 1) / 2) / (t.size * n.size))
    return np.std(areas, ddof=1)


REAL_SCORES = {
    "asvspoof, xvector": ("asvspoof2019_la/bonafide_eval.csv.gz", "asv_xvector"),
    "asvspoof, ecapa": ("asvspoof2019_la/bonafide_eval.csv.gz", "asv_ecapa"),
    "evalita": ("evalita2009_ru/trials.csv.gz", "score"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REAL_SCORES))
def test_table_2_in_kind(name, shared_data, rng):
    folder, column = REAL_SCORES[name]
    table = np.genfromtxt(
        shared_data / folder, delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    is_target = table["target"] == 1 if name == "evalita" else table["label"] == "target"
    tar, non = table[column][is_target], table[column][~is_target]
    # The standard error of the bootstrap's is 1 / sqrt(2 * 2000) = 1.6 %.
    error = bootstrap_error(tar, non, 2000, rng)
    assert auc_standard_error(tar, non) == pytest.approx(error, rel=0.05)
    assert auc_standard_error(tar, non, ties="half") == pytest.approx(error, rel=0.05)
    assert delong(tar, non).standard_errors[0] == pytest.approx(error, rel=0.05)


def naive_delong(tar: np.ndarray, non: np.ndarray) -> np.ndarray:
    """The covariance of DeLong et al. 1988, equations 3 to 6, from all pairs."""
    placements = [kernel(t, n) for t, n in zip(tar, non, strict=True)]
    of_tar = np.array([pairs.mean(axis=1) for pairs in placements])
    of_non = np.array([pairs.mean(axis=0) for pairs in placements])
    return np.cov(of_tar) / tar.shape[1] + np.cov(of_non) / non.shape[1]


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_delong_against_all_pairs(n_tar, n_non, seed):
    rng = np.random.default_rng(seed)
    tar, non = rng.integers(0, 6, (3, n_tar)) + 1.0, rng.integers(0, 6, (3, n_non)) * 1.0
    result = delong(tar, non)
    # Variances are below 1/2; sums of at most 12 fractions.
    np.testing.assert_allclose(result.covariance, naive_delong(tar, non), rtol=1e-12, atol=1e-15)
    expected = [kernel(t, n).mean() for t, n in zip(tar, non, strict=True)]
    np.testing.assert_allclose(result.auc, expected, rtol=1e-13)


def test_delong_of_a_larger_set_and_one_system(rng):
    tar, non = rng.normal(1, 1, (2, 300)).round(1), rng.normal(0, 1, (2, 500)).round(1)
    result = delong(tar, non)
    np.testing.assert_allclose(result.covariance, naive_delong(tar, non), rtol=1e-12)
    single = delong(tar[0], non[0])
    assert single.covariance[0, 0] == pytest.approx(result.covariance[0, 0], rel=1e-14)
    assert single.auc[0] == pytest.approx(auc(tar[0], non[0]), rel=1e-13)
    # The plug-in variance differs by terms of relative order 1/n.
    assert single.standard_errors[0] == pytest.approx(
        auc_standard_error(tar[0], non[0], ties="half"), rel=0.01
    )


def test_delong_comparison(rng):
    tar, non = rng.normal(1, 1, (3, 200)), rng.normal(0, 1, (3, 300))
    result = delong(tar, non)
    test = result.compare(2, 0)
    c = result.covariance
    assert test.difference == result.auc[2] - result.auc[0]
    # The same sum, as a product with a vector.
    assert test.standard_error == pytest.approx(
        math.sqrt(c[2, 2] + c[0, 0] - 2 * c[0, 2]), rel=1e-12
    )
    assert test.p_value == pytest.approx(2 * stats.norm.sf(abs(test.z)), rel=1e-12)
    assert result.compare(0, 0).p_value == 1
    assert result.compare(0, 2, alternative="less").p_value == pytest.approx(
        result.compare(2, 0, alternative="greater").p_value, rel=1e-12
    )


def test_delong_test_has_the_size_it_claims(rng):
    # 1500 pairs of equally good, correlated systems: binomial(1500, 0.05) rejections, give or take
    # the asymptotics; 0.1 % of such counts would be judged as too many or too few.
    rejections = 0
    for _ in range(1500):
        common_tar, common_non = rng.normal(1, 1, 80), rng.normal(0, 1, 80)
        tar, non = common_tar + rng.normal(0, 1, (2, 80)), common_non + rng.normal(0, 1, (2, 80))
        rejections += delong(tar, non).compare().p_value < 0.05
    assert stats.binomtest(rejections, 1500, 0.05).pvalue > 0.001


def test_inputs_of_any_kind(rng):
    tar, non = rng.normal(1, 1, 50).astype(np.float32), rng.normal(0, 1, 60).astype(np.float32)
    before = tar.copy()
    # float32 values are float64 values too, and are compared as such.
    assert auc_standard_error(tar, non) == auc_standard_error(
        tar.astype(np.float64), non.astype(np.float64)
    )
    assert (
        delong(tar, non).covariance
        == delong(tar.astype(np.float64), non.astype(np.float64)).covariance
    ).all()
    assert (tar == before).all()
    assert not delong(tar, non).covariance.flags.writeable


@pytest.mark.filterwarnings("default")
def test_no_overlap_is_pointed_out():
    with pytest.warns(FewErrorsWarning, match="compare alike, so the standard error is 0"):
        assert auc_standard_error([3.0, 4.0], [1.0, 2.0]) == 0
    with pytest.warns(FewErrorsWarning, match="compare alike, so the standard error is 0"):
        assert delong([3.0, 4.0], [1.0, 2.0]).standard_errors[0] == 0
    # Coins still decide among equal scores.
    assert auc_standard_error([1.0], [1.0]) == 0.5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: auc_standard_error([], [1.0]), InvalidInputError, "`tar`"),
        (lambda: auc_standard_error([1.0], [math.nan]), InvalidInputError, "`non` .* NaN at 1"),
        (lambda: auc_standard_error([1.0], [0.0], ties="no"), InvalidInputError, '"coin", "half"'),
        (
            lambda: auc_standard_error([1.0], [0.0], tar_weights=[-1]),
            InvalidInputError,
            "`tar_weights` must be finite and not negative",
        ),
        (
            lambda: auc_standard_error(
                [1.0], [0.0], tar_weights=[1], tar_conditions=["a"], non_conditions=["a"]
            ),
            InvalidInputError,
            "`tar_weights` must be left out where there are conditions",
        ),
        (
            lambda: auc_standard_error([1.0], [0.0], tar_conditions=["a"]),
            InvalidInputError,
            "`non_conditions` must be given like the other one",
        ),
        (lambda: delong([1.0], [0.0, 1.0]), InvalidInputError, "`tar` .* at least two trials"),
        (lambda: delong([1.0, math.nan], [0.0, 1.0]), InvalidInputError, "`tar` .* NaN at 1 of 2"),
        (
            lambda: delong([[1, 2], [1, math.nan]], np.eye(2)),
            InvalidInputError,
            r"`tar` .* NaN at 1 of 4 positions \(3\)",
        ),
        (
            lambda: delong(np.eye(2), np.eye(3)),
            TrialMismatchError,
            "one row of scores per system; got 2 and 3 rows",
        ),
        (
            lambda: delong(np.eye(2), np.eye(2)).compare(0, 2),
            InvalidInputError,
            "`second` must be the position of one of 2 systems; got 2",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_prints_areas():
    text = repr(delong([[1.0, 3.0]], [[0.0, 2.0]]))
    # Placements 0.5, 1 and 1, 0.5: variance 2 * 0.125 / 2.
    assert text == "DeLongResult: AUC 0.7500 +- 0.35 (2 targets, 2 non-targets)"


def test_areas_without_variance_do_not_show_a_difference() -> None:
    with pytest.warns(FewErrorsWarning, match="compare alike"):
        result = delong([[1.0, 2.0], [-1.0, -2.0]], [[0.0, 0.5], [0.0, 0.5]])
    test = result.compare()
    assert (test.difference, test.standard_error, test.p_value) == (1.0, 0.0, 1.0)
    assert test.interval().low <= 0.0 <= test.interval().high
