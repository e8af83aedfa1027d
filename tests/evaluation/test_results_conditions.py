"""Condition-weighted metrics, against fractions, weighted trials and averaged error-rates."""

import pickle
import warnings
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import optimal_llrs
from bosaris_py.errors import ConditionWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.evaluation import Results
from bosaris_py.metrics.ranks import EER
from bosaris_py.trials import Conditions, Key, Scores
from bosaris_py.trials.sample import Sample
from tests.forms import labelled
from tests.score_strategies import any_scores, priors, score_lists

PRIORS = np.linspace(0.05, 0.95, 19)


def in_a_row(parts: dict[str, tuple[list[float], list[float]]]) -> tuple[Scores, Key, np.ndarray]:
    """Lay conditions out as one model tested on many segments; return the label of each trial."""
    values = [value for tar, non in parts.values() for value in (*tar, *non)]
    is_target = np.array(
        [flag for tar, non in parts.values() for flag in (*[True] * len(tar), *[False] * len(non))]
    )
    labels = np.array([name for name, (tar, non) in parts.items() for _ in (*tar, *non)])
    segments = [f"{number:04}" for number in range(len(values))]
    key = Key(["m"], segments, is_target[None, :], ~is_target[None, :])
    return Scores(np.array([values]), ["m"], segments), key, labels


class TestByHand:
    r"""Two conditions with 2 and 4 trials per class, with ties, for which EERs differ.

    t is a target and n a non-target, A of two trials and B of four::

        score   -3  -2  -1.5  -1     0.5      1   2   3   4   5
        trial   nB  nA   tB   nB  tA nA nB   tB  tA  nB  tB  tB

    Of equal weight, a trial of A steps the rates by 2/8 and one of B by 1/8, as if each trial of A
    had been tried twice. (pmiss, pfa) in eighths, rejecting what is below a score::

        -3 (0, 8)  -2 (0, 7)  -1.5 (0, 5)  -1 (1, 5)  0.5 (1, 4)
         1 (3, 1)   2 (4, 1)     3 (6, 1)   4 (6, 0)    5 (7, 0)  above (8, 0)

    Vertices of the hull: (0, 8), (0, 5), (3, 1), (6, 0), (8, 0).
    """

    A = ([0.5, 2.0], [-2.0, 0.5])
    B = ([-1.5, 1.0, 4.0, 5.0], [-3.0, -1.0, 0.5, 3.0])
    HULL = ((0, 8), (0, 5), (3, 1), (6, 0), (8, 0))

    @pytest.fixture
    def weights(self) -> dict[str, np.ndarray]:
        _, key, labels = in_a_row({"A": self.A, "B": self.B})
        tar_weights, non_weights = labelled(key, labels).trial_weights(key)
        return {"tar_weights": tar_weights, "non_weights": non_weights}

    @pytest.fixture(params=["mixture", "trial weights", "repeated trials"])
    def results(self, request: pytest.FixtureRequest, weights: dict[str, np.ndarray]) -> Results:
        scores, key, labels = in_a_row({"A": self.A, "B": self.B})
        if request.param == "mixture":
            return Results.from_scores(scores, key, labelled(key, labels))
        if request.param == "trial weights":
            return Results(*scores.get_tar_non(key), **weights)
        return Results([*self.A[0] * 2, *self.B[0]], [*self.A[1] * 2, *self.B[1]])

    @pytest.mark.parametrize(
        ("definition", "expected"),
        [
            # From (0, 5) to (3, 1), 5 - 4/3 x = x.
            ("rocch", Fraction(15, 7) / 8),
            # From (1, 4) to (3, 1), 4 - 3/2 (x - 1) = x.
            ("interpolated", Fraction(11, 5) / 8),
            # (3, 1) is nearer to the diagonal than (1, 4): the mean of its rates.
            ("step", Fraction(3 + 1, 2) / 8),
        ],
    )
    def test_equal_error_rates(self, results, definition, expected):
        found = EER(definition).value(results.sample)
        assert found == pytest.approx(float(expected), rel=1e-14)
        if definition == "rocch":
            assert results.eer == pytest.approx(float(expected), rel=1e-14)

    @pytest.mark.parametrize(
        ("ratio", "expected"),
        [
            # 5 - 4/3 x = r x gives the miss rate in eighths.
            (2.0, 2 * Fraction(3, 2) / 8),
            (0.5, Fraction(1, 2) * Fraction(30, 11) / 8),
        ],
    )
    def test_unequal_error_rate(self, results, ratio, expected):
        found = results.rocch.unequal_error_rate(ratio)
        assert found == pytest.approx(float(expected), rel=1e-14)

    def test_hull(self, results):
        expected = np.array(self.HULL) / 8
        np.testing.assert_allclose(results.rocch.pmiss, expected[:, 0], rtol=1e-15)
        np.testing.assert_allclose(results.rocch.pfa, expected[:, 1], rtol=1e-15)

    @pytest.mark.parametrize(
        ("threshold", "expected"),
        [(-np.inf, (0, 8)), (-2.0, (0, 7)), (0.5, (1, 4)), (0.75, (3, 1)), (np.inf, (8, 0))],
    )
    def test_error_rates(self, results, threshold, expected):
        found = results.error_rates_at(threshold)
        np.testing.assert_allclose(found, np.array(expected) / 8, rtol=1e-15)

    @pytest.mark.parametrize(
        ("prior", "actual", "minimum"),
        [
            # Thresholds log(9) = 2.2, 0, -2.2: (6, 1), (1, 4), (0, 7).
            (0.1, Fraction(6 * 1 + 1 * 9, 80), Fraction(6 * 1 + 0 * 9, 80)),
            (0.5, Fraction(1 + 4, 16), Fraction(3 + 1, 16)),
            (0.9, Fraction(0 * 9 + 7 * 1, 80), Fraction(0 * 9 + 5 * 1, 80)),
        ],
    )
    def test_costs(self, results, prior, actual, minimum):
        found = results.act_dcf(prior, normalize=False), results.min_dcf(prior, normalize=False)
        assert found == pytest.approx((float(actual), float(minimum)), rel=1e-14)
        # Without a detector the cost is that of the rarer class.
        normalized = float(minimum / min(Fraction(str(prior)), 1 - Fraction(str(prior))))
        assert results.min_dcf(prior) == pytest.approx(normalized, rel=1e-14)

    def test_cllr(self, results):
        """A trial of A counts 2/8, one of B 1/8."""
        expected = 0.0
        for (tar, non), share in ((self.A, 2 / 8), (self.B, 1 / 8)):
            expected += share * sum(np.log2(1 + np.exp(-score)) for score in tar) / 2
            expected += share * sum(np.log2(1 + np.exp(score)) for score in non) / 2
        assert results.cllr == pytest.approx(expected, rel=1e-14)

    def test_minimum_cllr(self, results):
        """PAV pools (3, 4) and (3, 1) eighths of targets and non-targets; other pools are pure."""
        expected = 0.0
        for t, n in ((3 / 8, 4 / 8), (3 / 8, 1 / 8)):
            expected += (t * np.log2(1 + n / t) + n * np.log2(1 + t / n)) / 2
        assert results.min_cllr == pytest.approx(expected, rel=1e-14)

    def test_pav(self, weights):
        scores, key, _ = in_a_row({"A": self.A, "B": self.B})
        tar_llrs, non_llrs = optimal_llrs(*scores.get_tar_non(key), **weights)
        low, high = np.log(3 / 4), np.log(3 / 1)
        # In the order of A's, then B's trials.
        expected = [low, high, low, high, np.inf, np.inf]
        np.testing.assert_allclose(tar_llrs, expected, rtol=1e-14)
        np.testing.assert_allclose(non_llrs, [-np.inf, low, -np.inf, low, low, high], rtol=1e-14)

    def test_area_under_the_curve(self, results):
        """Eighths of non-targets below each target, half of those at it."""
        below = {"tA 0.5": 4 + Fraction(3, 2), "tA 2": 7}
        below |= {"tB -1.5": 3, "tB 1": 7, "tB 4": 8, "tB 5": 8}
        expected = sum((2 if name[1] == "A" else 1) * n for name, n in below.items()) / 64
        assert expected == Fraction(51, 64)
        assert results.auc == pytest.approx(51 / 64, rel=1e-14)

    def test_break_even_point(self, results):
        """As many misses as false alarms: that of the EER, times the trials of a class."""
        assert results.prbep == pytest.approx(results.n_tar * 15 / 56, rel=1e-14)


@st.composite
def mixtures(
    draw: st.DrawFn, elements: st.SearchStrategy[float] = any_scores
) -> tuple[Scores, Key, Conditions]:
    """Make one to four conditions with at least one score of each class, and whole weights."""
    names = "abcd"[: draw(st.integers(1, 4))]
    lists = score_lists(elements, max_size=8)
    parts = {name: (list(draw(lists)), list(draw(lists))) for name in names}
    scores, key, labels = in_a_row(parts)
    sizes = [draw(st.integers(1, 6)) for _ in names]
    weights = [size / sum(sizes) for size in sizes]
    return scores, key, labelled(key, labels, weights)


def figures(results: Results, prior: float) -> dict[str, object]:
    """Return all figures of results that may be compared with a tolerance."""
    record = results.to_dict([prior, *PRIORS])
    record["operating_points"] = [
        # Which of several thresholds of equal cost is best hangs on the last bit.
        {name: value for name, value in point.items() if not name.startswith("min_t")}
        for point in record["operating_points"]
    ]
    return record


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
class TestLaws:
    @given(mixtures(), priors)
    def test_as_results_with_trial_weights(self, mixture, prior):
        scores, key, conditions = mixture
        mixed = Results.from_scores(scores, key, conditions)
        tar_weights, non_weights = conditions.trial_weights(key)
        tar, non = scores.get_tar_non(key)
        weighted = Results(tar, non, tar_weights=tar_weights, non_weights=non_weights)
        assert (mixed.n_tar, mixed.n_non) == (weighted.n_tar, weighted.n_non)
        for name in ("eer", "prbep", "auc", "cllr", "min_cllr"):
            assert getattr(mixed, name) == pytest.approx(
                getattr(weighted, name), rel=1e-12, abs=1e-12
            ), name
        for normalize in (False, True):
            for method in ("act_dcf", "min_dcf"):
                np.testing.assert_allclose(
                    getattr(mixed, method)([prior, *PRIORS], normalize=normalize),
                    getattr(weighted, method)([prior, *PRIORS], normalize=normalize),
                    rtol=1e-12,
                    atol=1e-12,
                )

    @given(mixtures(), st.lists(any_scores, min_size=1, max_size=5))
    def test_average_of_the_error_rates_at_every_threshold(self, mixture, others):
        """Eqs. 3 and 4 against 13 and 14: at all scores, and elsewhere."""
        scores, key, conditions = mixture
        mixed = Results.from_scores(scores, key, conditions)
        thresholds = np.unique([*scores.get_scores(key), *others, np.inf, -np.inf])
        expected = np.zeros((2, thresholds.size))
        for name, weight in zip(conditions.names, conditions.weights, strict=True):
            tar, non = scores.get_tar_non(conditions.select(key, name))
            expected[0] += weight * np.mean(tar[:, None] < thresholds, axis=0)
            expected[1] += weight * np.mean(non[:, None] >= thresholds, axis=0)
        np.testing.assert_allclose(mixed.error_rates_at(thresholds), expected, rtol=0, atol=1e-12)
        tar_weights, non_weights = conditions.trial_weights(key)
        weighted = Results(
            *scores.get_tar_non(key), tar_weights=tar_weights, non_weights=non_weights
        )
        found = weighted.error_rates_at(thresholds)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        # The ROC by weighted counts has no other points than these, and the rejection of all.
        expected = np.append(expected, [[1.0], [0.0]], axis=1)
        roc = np.array([mixed.roc.pmiss, mixed.roc.pfa])
        distances = np.abs(roc[:, :, None] - expected[:, None, :]).max(axis=0).min(axis=1)
        assert distances.max() < 1e-12

    @given(mixtures())
    def test_conditions_in_their_own_proportions_are_no_conditions(self, mixture):
        """Only with as many trials of both classes can one set of weights say so."""
        scores, key, conditions = mixture
        counts = np.array(list(conditions.counts(key).values()))
        if not np.array_equal(counts[:, 0] * key.n_non, counts[:, 1] * key.n_tar):
            return
        mixed = Results.from_scores(scores, key, conditions.with_weights(counts[:, 0] / key.n_tar))
        assert mixed.cllr == pytest.approx(Results.from_scores(scores, key).cllr, rel=1e-12)


class TestMixture:
    PARTS: ClassVar = {"a": ([1.0, 2.0], [0.0]), "b": ([3.0], []), "c": ([0.5], [-1.0])}

    def mixture(self, **options: object) -> tuple[Scores, Key, Conditions]:
        scores, key, labels = in_a_row(self.PARTS)
        return scores, key, labelled(key, labels, **options)

    def test_condition_of_one_class_counts_for_one_rate(self):
        with pytest.warns(ConditionWarning, match=r"no non-targets .* \(b\)"):
            results = Results.from_scores(*self.mixture())
        # Targets: thirds of (1, 2), (3), (0.5); non-targets: halves of (0), (-1).
        pmiss, pfa = results.error_rates_at([0.0, 1.5])
        np.testing.assert_allclose(pmiss, [0, 1 / 3 + 1 / 6], rtol=1e-15)
        np.testing.assert_allclose(pfa, [0.5, 0], rtol=1e-15)

    def test_dropped_conditions_do_not_count(self):
        results = Results.from_scores(*self.mixture(weights=[0.5, 0, 0.5]))
        assert (results.n_tar, results.n_non) == (3, 2)
        assert float(results.roc.thresholds[-2]) == np.nextafter(2.0, 3.0)

    def test_missing_scores(self):
        scores, key, conditions = self.mixture(lacking="ignore")
        mask = np.ones(scores.scoremask.shape, dtype=bool)
        mask[0, 0] = False  # the target 1.0 of a
        partial = Scores(scores.scoremat, scores.modelset, scores.segset, mask)
        with pytest.warns(MissingTrialsWarning, match="1 of 4 targets missing"):
            results = Results.from_scores(partial, key, conditions)
        # A third of a is now the target 2.0 alone.
        assert results.error_rates_at(1.5)[0] == pytest.approx(1 / 3)
        assert results.n_tar == 3

    def test_float32_is_the_same(self):
        scores, key, conditions = self.mixture(lacking="ignore")
        single = Scores(scores.scoremat.astype(np.float32), scores.modelset, scores.segset)
        assert figures(Results.from_scores(single, key, conditions), 0.1) == figures(
            Results.from_scores(scores, key, conditions), 0.1
        )

    def test_pickled(self):
        results = Results.from_scores(*self.mixture(lacking="ignore"))
        again = pickle.loads(pickle.dumps(results))
        assert figures(again, 0.2) == figures(results, 0.2)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"tar": [1.0, np.nan, 3.0, 0.5]}, "`tar` .* NaN at 1 of 4"),
            ({"non": []}, "`non` must hold at least one score"),
            ({"tar": [1.0]}, "`members` .* belong to the 1 trials of the class; got position 1"),
            ({"members": ()}, "`conditions` .* have targets in some condition; got none"),
        ],
    )
    def test_bad_input(self, change, message):
        scores, key, conditions = self.mixture(lacking="ignore")
        tar, non = scores.get_tar_non(key)
        arguments = {"tar": tar, "non": non, "members": conditions.members(key), **change}
        with pytest.raises(InvalidInputError, match=message):
            Sample.from_scores(arguments["tar"], arguments["non"]).weighted(arguments["members"])

    def test_conditions_without_a_class(self):
        scores, key, _ = self.mixture()
        conditions = Conditions({"all": key.tar}, uncovered="ignore", lacking="ignore")
        with pytest.raises(InvalidInputError, match=r"`conditions` .* have non-targets in"):
            Results.from_scores(scores, key, conditions)

    def test_not_conditions(self):
        scores, key, _ = self.mixture()
        with pytest.raises(InvalidInputError, match=r"`conditions` must name columns in a list"):
            Results.from_scores(scores, key, 3)

    def test_pooled_results_need_no_order_and_do_not_warn(self):
        scores, key, _ = self.mixture()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Results.from_scores(scores, key, None).n_tar == 4
