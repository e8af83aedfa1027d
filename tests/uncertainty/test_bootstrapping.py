"""The bootstraps against closed forms, against plain loops, and against the truth."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import bosaris_py
from bosaris_py import uncertainty as unc
from bosaris_py.errors import DegenerateReplicatesWarning, InvalidInputError
from tests.uncertainty.naive_bootstrap import (
    naive_min_dcf,
    plain_replicates,
    scores_with_set_effects,
    variance_of_mean,
    with_sets_where_used,
)

# Small data are quick; the warning has tests of its own, in test_few_errors.py.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
resample = with_sets_where_used(unc.bootstrap)

METHODS = ("iid", "one-layer", "two-layer")
SetScores = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def papers_sets() -> SetScores:
    """Sets as in Wu et al.: 132 of 96 target scores and 130 of 244 non-target scores."""
    return scores_with_set_effects(np.random.default_rng(11), (132, 96), (130, 244))


def small_sets(*, tied: bool, unequal: bool = False) -> SetScores:
    """Few sets of few scores, so that a plain loop is quick and replicates are coarse."""
    rng = np.random.default_rng(12)
    tar, non, tar_sets, non_sets = scores_with_set_effects(rng, (7, 6), (9, 8))
    if tied:
        tar, non = tar.round(), non.round()
    if unequal:
        tar_kept, non_kept = rng.random(tar.size) < 0.6, rng.random(non.size) < 0.6
        tar, tar_sets = tar[tar_kept], tar_sets[tar_kept]
        non, non_sets = non[non_kept], non_sets[non_kept]
    return tar, non, tar_sets, non_sets


class TestClosedForms:
    @pytest.mark.parametrize("method", METHODS)
    def test_standard_error_and_mean_of_a_dcf(self, papers_sets: SetScores, method: str) -> None:
        tar, non, tar_sets, non_sets = papers_sets
        statistic = unc.DCF(1.5, 0.01, 10, 1)
        n = 20_000
        result = resample(
            tar, non, statistic, method=method, tar_sets=tar_sets, non_sets=non_sets,
            replications=n, rng=21,
        )  # fmt: skip
        variance = 0.1**2 * variance_of_mean(tar < 1.5, tar_sets, method)
        variance += 0.99**2 * variance_of_mean(non >= 1.5, non_sets, method)
        # The standard error of a standard error from 20000 replicates is 0.5 %.
        assert result.standard_error == pytest.approx(np.sqrt(variance), rel=0.02)
        # The mean of all replicates is the estimate itself; 5 standard deviations.
        tolerance = 5 * np.sqrt(variance / n)
        assert result.replicates.mean() == pytest.approx(result.estimate, abs=tolerance)

    def test_errors_grow_with_the_layers(self, papers_sets: SetScores) -> None:
        tar, non, tar_sets, non_sets = papers_sets
        mean_errors = [
            with_sets_where_used(unc.standard_error_distribution)(
                tar,
                non,
                unc.DCF(1.5, 0.01, 10, 1),
                method=method,
                tar_sets=tar_sets,
                non_sets=non_sets,
                runs=20,
                rng=22,
            ).mean
            for method in METHODS
        ]
        assert mean_errors == sorted(mean_errors)

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["iid", "one-layer"])
    def test_standard_error_of_cllr(self, papers_sets: SetScores, method: str) -> None:
        tar, non, tar_sets, non_sets = papers_sets
        n = 4000
        result = resample(
            tar, non, unc.Cllr(), method=method, tar_sets=tar_sets, non_sets=non_sets,
            replications=n, rng=23,
        )  # fmt: skip
        variance = 0.0
        for values, sets in ((np.logaddexp(0, -tar), tar_sets), (np.logaddexp(0, non), non_sets)):
            bits = values / np.log(2)
            units = bits
            if method == "one-layer":
                units = np.bincount(sets, weights=bits) / np.bincount(sets)
            variance += units.var() / units.size / 4
        # 4 standard deviations of a standard error from 4000 replicates.
        assert result.standard_error == pytest.approx(np.sqrt(variance), rel=4 / np.sqrt(2 * n))

    def test_two_rates_at_two_thresholds_are_correlated_as_they_must(self) -> None:
        tar = np.arange(10.0)
        result = resample(tar, [0.0, 1.0], unc.ErrorRates([7.0, 3.0]), replications=20_000, rng=24)
        misses = result.replicates[:, 0]
        # P(below 3) = .3, P(below 7) = .7: covariance of the rates (.3 - .3 * .7) / 10.
        covariance = np.cov(misses.T)
        assert np.allclose(covariance, [[0.021, 0.009], [0.009, 0.021]], atol=0.001)


NAIVE: dict[unc.Statistic, Callable[[np.ndarray, np.ndarray], float]] = {
    unc.DCF(1.0, 0.01, 10, 1): lambda t, n: 0.1 * np.mean(t < 1.0) + 0.99 * np.mean(n >= 1.0),
    unc.MinDCF(0.3): lambda t, n: naive_min_dcf(t, n, 0.3),
    unc.EER(): bosaris_py.eer,
    unc.AUC(): lambda t, n: np.mean((t[:, None] > n[None, :]) + 0.5 * (t[:, None] == n[None, :])),
    unc.Cllr(): lambda t, n: (np.log2(1 + np.exp(-t)).mean() + np.log2(1 + np.exp(n)).mean()) / 2,
    unc.MinCllr(): bosaris_py.min_cllr,
}


class TestDistribution:
    """Fast replicates against those of the plain loop, by Kolmogorov and Smirnov."""

    def check(
        self, statistic: unc.Statistic, scores: SetScores, method: str, n: int, seed: int
    ) -> None:
        tar, non, tar_sets, non_sets = scores
        fast = resample(
            tar, non, statistic, method=method, tar_sets=tar_sets, non_sets=non_sets,
            replications=n, rng=seed,
        ).replicates  # fmt: skip
        plain = plain_replicates(
            tar, non, NAIVE[statistic], np.random.default_rng(seed + 1), n, method=method,
            tar_sets=tar_sets, non_sets=non_sets,
        )  # fmt: skip
        # Equal costs that were rounded differently must not count as different.
        p_value = stats.ks_2samp(fast.round(11), plain.round(11)).pvalue
        # About a hundred such comparisons: a false alarm in one of ten runs at 1e-3,
        # but seeds are fixed.
        assert p_value > 1e-3

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("statistic", "method", "tied"),
        # All pairs: each statistic with each method, and each of them with ties and without.
        [(s, m, (i + j) % 2 == 1) for i, s in enumerate(NAIVE) for j, m in enumerate(METHODS)],
        ids=repr,
    )
    def test_quickly(self, statistic: unc.Statistic, method: str, *, tied: bool) -> None:
        self.check(statistic, small_sets(tied=tied), method, 1000, 31)

    @pytest.mark.slow
    @pytest.mark.parametrize("statistic", NAIVE, ids=repr)
    @pytest.mark.parametrize("method", METHODS[1:])
    def test_unequal_sets(self, statistic: unc.Statistic, method: str) -> None:
        self.check(statistic, small_sets(tied=True, unequal=True), method, 1000, 32)

    @pytest.mark.slow
    @pytest.mark.parametrize("statistic", NAIVE, ids=repr)
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("tied", [False, True])
    def test_thoroughly(self, statistic: unc.Statistic, method: str, *, tied: bool) -> None:
        self.check(statistic, small_sets(tied=tied, unequal=tied), method, 20_000, 33)

    @pytest.mark.slow
    @pytest.mark.parametrize("statistic", [unc.MinDCF(0.3), unc.EER()], ids=repr)
    @pytest.mark.parametrize("decimals", [1, 9])
    def test_lazy_draws_on_larger_sets(self, statistic: unc.Statistic, decimals: int) -> None:
        rng = np.random.default_rng(34)
        tar, non = rng.normal(2, 1, 900).round(decimals), rng.normal(0, 1, 2500).round(decimals)
        self.check(statistic, (tar, non, None, None), "iid", 20_000, 35)

    @pytest.mark.slow
    def test_counts_drawn_at_once_for_many_non_targets(self) -> None:
        # So many non-targets that the picks between target scores are drawn as a multinomial.
        rng = np.random.default_rng(36)
        tar, non = rng.normal(2, 1, 8).round(), rng.normal(0, 1, 600).round(1)
        self.check(unc.AUC(), (tar, non, None, None), "iid", 2000, 37)
        self.check(unc.MinCllr(), (tar, non, None, None), "iid", 2000, 38)

    def test_all_replicates_of_a_tiny_set_in_their_exact_frequencies(self) -> None:
        # Two targets, two non-targets, sixteen equally likely replicates.
        tar, non = np.array([0.0, 2.0]), np.array([1.0, -1.0])
        exact: dict[float, float] = {}
        for picks in itertools.product(range(2), repeat=4):
            value = bosaris_py.eer(tar[list(picks[:2])], non[list(picks[2:])])
            exact[round(value, 12)] = exact.get(round(value, 12), 0.0) + 1 / 16
        n = 16_000
        drawn = resample(tar, non, unc.EER(), replications=n, rng=39).replicates.round(12)
        values, counts = np.unique(drawn, return_counts=True)
        assert values.tolist() == sorted(exact)
        expected = [n * exact[value] for value in values.tolist()]
        assert stats.chisquare(counts, expected).pvalue > 1e-3


class TestAnyFunction:
    @staticmethod
    def weighted_dcf(
        tar: np.ndarray, non: np.ndarray, tar_weights: np.ndarray, non_weights: np.ndarray
    ) -> float:
        pmiss = np.average(tar < 1.0, weights=tar_weights)
        pfa = np.average(non >= 1.0, weights=non_weights)
        return float(0.1 * pmiss + 0.99 * pfa)

    @pytest.mark.parametrize("method", METHODS)
    def test_agrees_with_the_statistic(self, method: str) -> None:
        tar, non, tar_sets, non_sets = small_sets(tied=False, unequal=True)
        results = [
            resample(
                tar, non, statistic, method=method, tar_sets=tar_sets, non_sets=non_sets,
                replications=2000, rng=seed,
            )
            for seed, statistic in ((41, self.weighted_dcf), (42, unc.DCF(1.0, 0.01, 10, 1)))
        ]  # fmt: skip
        assert results[0].estimate == pytest.approx(results[1].estimate, rel=1e-14)
        rounded = [result.replicates.round(11) for result in results]
        assert stats.ks_2samp(*rounded).pvalue > 1e-3

    def test_gets_scores_as_given_and_whole_weights(self) -> None:
        seen = []

        def spy(tar: np.ndarray, non: np.ndarray, tw: np.ndarray, nw: np.ndarray) -> float:
            seen.append((tar, non, tw, nw))
            return float(tw[0])

        resample([3.0, 1.0, 2.0], [0.0, -1.0], spy, replications=5, rng=0)
        assert len(seen) == 6
        for tar, non, tw, nw in seen:
            assert tar.tolist() == [3.0, 1.0, 2.0]
            assert non.tolist() == [0.0, -1.0]
            assert (tw.sum(), nw.sum()) == (3.0, 2.0)
            assert tw.dtype == np.float64
            assert np.array_equal(tw, np.rint(tw))
        assert seen[0][2].tolist() == [1.0, 1.0, 1.0]

    def test_may_return_an_array(self) -> None:
        result = resample(
            [3.0, 1.0, 2.0], [0.0, -1.0], lambda t, n, tw, nw: tw[:2], replications=50, rng=0
        )
        assert result.replicates.shape == (50, 2)
        assert result.standard_error.shape == (2,)
        assert np.array_equal(result.standard_error, result.replicates.std(axis=0, ddof=1))
        assert "2 values" in repr(result)

    def test_undefined_replicates_are_counted_and_kept(self) -> None:
        def first_weight(t: object, n: object, tw: np.ndarray, nw: object) -> float:
            return float(tw[0]) if tw[0] else np.nan

        with pytest.warns(DegenerateReplicatesWarning, match="of 500 bootstrap replicates") as all_:
            result = unc.bootstrap([1.0, 2.0], [0.0], first_weight, replications=500, rng=1)
        assert all_[0].filename == __file__
        undefined = np.isnan(result.replicates)
        # Chance 1/4 each: 125 +- 5 * 9.7.
        assert 76 < undefined.sum() < 174
        assert result.n_degenerate == undefined.sum()
        assert result.replicates.size == 500
        assert result.standard_error == result.replicates[~undefined].std(ddof=1)
        assert (result.low, result.high) == (1.0, 2.0)
        assert f"{result.n_degenerate} degenerate" in repr(result)

    def test_undefined_on_nearly_all_replicates(self) -> None:
        calls = iter([1.0])

        def once(*_: object) -> float:
            return next(calls, np.nan)

        with pytest.raises(InvalidInputError, match="at least 2 replicates; got 0 of 10"):
            resample([1.0, 2.0], [0.0], once, replications=10, rng=1)


class TestRandomness:
    STATISTICS = (
        unc.DCF(1.0, 0.01, 10, 1),
        unc.ErrorRates([0.0, 1.0]),
        unc.MinDCF(0.3),
        unc.EER(),
        unc.AUC(),
        unc.Cllr(),
    )

    @pytest.mark.parametrize("method", METHODS)
    def test_same_seed_same_replicates(self, method: str) -> None:
        tar, non, tar_sets, non_sets = small_sets(tied=False)
        for statistic in self.STATISTICS:
            runs = [
                resample(
                    tar, non, statistic, method=method, tar_sets=tar_sets, non_sets=non_sets,
                    replications=60, rng=seed,
                ).replicates
                for seed in (5, np.random.default_rng(5), 6)
            ]  # fmt: skip
            assert np.array_equal(runs[0], runs[1])
            assert not np.array_equal(runs[0], runs[2])

    def test_a_generator_goes_on(self) -> None:
        rng = np.random.default_rng(5)
        runs = [resample([1.0, 2.0], [0.0, 1.5], unc.AUC(), rng=rng) for _ in range(2)]
        assert not np.array_equal(runs[0].replicates, runs[1].replicates)

    def test_a_longer_run_begins_as_a_shorter_one(self) -> None:
        tar, non, *_ = small_sets(tied=False)
        short = resample(tar, non, unc.EER(), replications=500, rng=1).replicates
        long = resample(tar, non, unc.EER(), replications=1000, rng=1).replicates
        assert np.array_equal(long[:500], short)

    @pytest.mark.slow
    def test_workers_do_not_matter(self) -> None:
        rng = np.random.default_rng(51)
        tar, non, tar_sets, non_sets = scores_with_set_effects(rng, (100, 100), (100, 300))
        for statistic, method, n, several in (
            (unc.Cllr(), "two-layer", 120, (2, 3)),
            (bosaris_min_dcf, "iid", 120, (2,)),
            (unc.EER(), "iid", 600, (2,)),
        ):
            alone, *shared = (
                resample(
                    tar, non, statistic, method=method, tar_sets=tar_sets, non_sets=non_sets,
                    replications=n, rng=52, workers=workers,
                ).replicates
                for workers in (1, *several)
            )  # fmt: skip
            for replicates in shared:
                assert np.array_equal(alone, replicates)

    def test_progress_is_shown_on_request(self, capsys: pytest.CaptureFixture[str]) -> None:
        resample([1.0, 2.0], [0.0], unc.EER(), rng=0)
        assert capsys.readouterr().err == ""
        resample([1.0, 2.0], [0.0], unc.EER(), rng=0, progress=True)
        assert "bootstrap: 100%" in capsys.readouterr().err


def bosaris_min_dcf(
    tar: np.ndarray, non: np.ndarray, tar_weights: np.ndarray, non_weights: np.ndarray
) -> float:
    """A function of the kind a user writes, at the top of a module."""
    value = bosaris_py.min_dcf(tar, non, 0.3, tar_weights=tar_weights, non_weights=non_weights)
    return float(value)


class TestIntervals:
    def test_kinds(self) -> None:
        tar, non, *_ = small_sets(tied=False)
        result = resample(tar, non, unc.ActDCF(0.5), rng=61, confidence=0.9)
        ordered = np.sort(result.replicates)
        # 2000 replicates: np = 100 and 1900 are whole, so neighbours are averaged.
        low, high = ordered[99:101].mean(), ordered[1899:1901].mean()
        assert (result.low, result.high) == (low, high)
        mirrored = result.interval_of("basic")
        assert mirrored == (2 * result.estimate - high, 2 * result.estimate - low)
        ratio = result.interval_of("ratio")
        assert ratio == (result.estimate**2 / high, result.estimate**2 / low)
        normal = result.interval_of("normal", 0.95)
        half = 1.959963984540054 * result.standard_error
        assert np.allclose(normal, (result.estimate - half, result.estimate + half), rtol=1e-12)
        named = resample(tar, non, unc.ActDCF(0.5), rng=61, confidence=0.9, interval="basic")
        assert (named.low, named.high) == mirrored

    @pytest.mark.parametrize("kind", ["percentile", "basic", "ratio", "normal"])
    @pytest.mark.parametrize(
        "statistic",
        [unc.EER(), unc.MinDCF(0.1, normalize=True), unc.ErrorRates([2.0, 5.0]), unc.AUC()],
        ids=repr,
    )
    def test_a_rate_stays_a_rate(self, statistic: unc.Statistic, kind: str) -> None:
        for tar, non in (([1.0, 4.0, 5.0], [0.0, 1.0, 3.0]), ([-1.0, 0.0], [1.0, 0.5])):
            result = resample(tar, non, statistic, interval=kind, rng=62)
            assert np.all(np.asarray(result.low) >= 0)
            assert np.all(result.low <= np.asarray(result.high))
            assert np.all(np.asarray(result.high) <= 1)

    @pytest.mark.slow
    def test_default_follows_the_statistic(self) -> None:
        tar, non, *_ = small_sets(tied=False)
        assert resample(tar, non, unc.EER(), rng=0).interval == "basic"
        assert resample(tar, non, unc.DCF(0.0, 0.01, 10, 1), rng=0).interval == "percentile"
        assert resample(tar, non, bosaris_min_dcf, rng=0).interval == "percentile"

    def test_what_the_result_says(self) -> None:
        tar, non, *_ = small_sets(tied=False)
        result = resample(tar, non, unc.DCF(1.0, 0.01, 10, 1), rng=63)
        assert result.relative_error == 1.96 * result.standard_error / result.estimate
        assert result.bias == result.replicates.mean() - result.estimate
        assert "iid bootstrap, 2000 replicates" in repr(result)
        assert not result.replicates.flags.writeable
        assert 0 <= result.normality_test().p_value <= 1

    def test_no_spread_no_error(self) -> None:
        result = resample([5.0, 6.0], [0.0, 1.0], unc.EER(), rng=0)
        assert result.standard_error == 0.0
        # Two trials of a class leave any EER open.
        assert (result.low, result.high) == (0.0, 0.5)


class TestCoverage:
    """Intervals of simulated experiments against the truth."""

    N_EXPERIMENTS = 300

    def covered(
        self, experiment: Callable[[np.random.Generator], tuple[float, float]], truth: float
    ) -> int:
        rng = np.random.default_rng(71)
        intervals = [experiment(rng) for _ in range(self.N_EXPERIMENTS)]
        return sum(low <= truth <= high for low, high in intervals)

    @pytest.mark.slow
    def test_independent_trials(self) -> None:
        threshold = 1.5
        truth = float(0.1 * stats.norm.cdf(threshold, 3) + 0.99 * stats.norm.sf(threshold))

        def experiment(rng: np.random.Generator) -> tuple[float, float]:
            tar, non = rng.normal(3, 1, 2000), rng.normal(0, 1, 4000)
            result = resample(tar, non, unc.DCF(threshold, 0.01, 10, 1), rng=rng)
            return result.low, result.high

        count = self.covered(experiment, truth)
        assert stats.binomtest(count, self.N_EXPERIMENTS, 0.95).pvalue > 1e-3

    @pytest.mark.slow
    @pytest.mark.parametrize(("method", "holds"), [("iid", False), ("one-layer", True)])
    def test_sets_that_differ(self, method: str, *, holds: bool) -> None:
        threshold, spread = 1.5, np.sqrt(1 + 0.5**2)
        truth = 0.1 * stats.norm.cdf(threshold, 2.5, spread)
        truth += 0.99 * stats.norm.sf(threshold, 0, spread)

        def experiment(rng: np.random.Generator) -> tuple[float, float]:
            tar, non, tar_sets, non_sets = scores_with_set_effects(rng, (100, 20), (100, 40))
            result = resample(
                tar, non, unc.DCF(threshold, 0.01, 10, 1), method=method, tar_sets=tar_sets,
                non_sets=non_sets, replications=1000, rng=rng,
            )  # fmt: skip
            return result.low, result.high

        count = self.covered(experiment, float(truth))
        p_value = stats.binomtest(count, self.N_EXPERIMENTS, 0.95).pvalue
        assert (p_value > 1e-3) == holds

    @pytest.mark.slow
    def test_basic_intervals_of_a_minimum_beat_percentile_ones(self) -> None:
        # Equal spreads: the true minimum at prior 0.1 is at the threshold d/2 + log(9)/d.
        d = 2.0
        threshold = d / 2 + np.log(9) / d
        truth = 0.1 * stats.norm.cdf(threshold, d) + 0.9 * stats.norm.sf(threshold)
        intervals: dict[str, list[tuple[float, float]]] = {"basic": [], "percentile": []}
        rng = np.random.default_rng(72)
        for _ in range(self.N_EXPERIMENTS):
            tar, non = rng.normal(d, 1, 100), rng.normal(0, 1, 1000)
            result = resample(tar, non, unc.MinDCF(0.1), replications=1000, rng=rng)
            for kind, found in intervals.items():
                found.append(result.interval_of(kind))
        counts = {
            kind: sum(low <= truth <= high for low, high in found)
            for kind, found in intervals.items()
        }
        assert counts["percentile"] < 0.85 * self.N_EXPERIMENTS
        assert counts["basic"] > 0.87 * self.N_EXPERIMENTS


TAR, NON = [1.0, 2.0, 3.0], [0.0, 1.5]
SETS = {"method": "one-layer", "tar_sets": [0, 1, 1], "non_sets": ["a", "b"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tar": []}, "`tar` must hold at least one score"),
        ({"non": [0.0, np.nan]}, "`non` must not hold NaN; got NaN at 1 of 2"),
        ({"statistic": unc.EER}, r"not a class; got EER. Make one first: EER\(...\)"),
        ({"statistic": 3}, "`statistic` must be callable; got 3"),
        (
            {"statistic": bosaris_py.eer},
            r"f\(tar, non, tar_weights, non_weights\); got eer, which takes oth",
        ),
        ({"statistic": lambda t, n, tw, nw: np.nan}, "be finite on the data; got nan"),
        ({"statistic": unc.Cllr(), "tar": [-np.inf, 1.0]}, "be finite on the data; got inf"),
        ({"method": "jackknife"}, '`method` .* one of "iid", "one-layer", "two-layer"'),
        ({"method": "one-layer"}, '`tar_sets` must be given .* method="iid"'),
        (SETS | {"tar_sets": [0, 1]}, "`tar_sets` .* each of the 3 trials; got 2 labels"),
        (SETS | {"non_sets": ["a"]}, "`non_sets` .* each of the 2 trials; got 1 labels"),
        (SETS | {"tar_sets": [7, 7, 7]}, "`tar_sets` .* at least 2 sets; got 1"),
        (SETS | {"tar_sets": [0.5, 1.0, 1.0]}, "text or whole numbers"),
        ({"replications": 0}, "`replications` .* at least 2 .*; got 0"),
        ({"replications": 1}, "`replications` .* at least 2 .*; got 1"),
        ({"replications": 2.5}, "`replications` .* whole number"),
        ({"workers": 0}, "`workers` .* at least 1; got 0"),
        ({"confidence": 0.0}, "`confidence` .* strictly between 0 and 1"),
        ({"confidence": 1.0}, "`confidence` .* strictly between 0 and 1"),
        ({"confidence": 95}, "`confidence` .* percentage"),
        ({"interval": "bca"}, '`interval` .* one of "percentile", "basic", "ratio", "normal"'),
        ({"rng": "seed"}, "`rng` .* Generator"),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"tar": TAR, "non": NON, "statistic": unc.EER()}
    with pytest.raises(InvalidInputError, match=message):
        resample(**(arguments | changes))


def test_input_is_left_alone() -> None:
    tar, non, tar_sets, non_sets = small_sets(tied=False)
    for array in (tar, non, tar_sets, non_sets):
        array.setflags(write=False)
    for statistic, method in itertools.product(NAIVE, METHODS):
        resample(
            tar, non, statistic, method=method, tar_sets=tar_sets, non_sets=non_sets,
            replications=3, rng=0,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["tar_sets", "non_sets"])
@pytest.mark.parametrize("function", [unc.bootstrap, unc.standard_error_distribution])
def test_trials_alone_take_no_sets(function: Callable[..., object], name: str) -> None:
    """Else a forgotten `method` would make errors far too small, in silence."""
    with pytest.raises(InvalidInputError, match=f"`{name}`.* left out.*Sets take method="):
        function(TAR, NON, unc.EER(), **{name: [0, 1, 1]})


def test_infinite_scores_are_ranks_like_others() -> None:
    tar, non = np.array([-np.inf, 1.0, np.inf]), np.array([-np.inf, 0.0, 2.0, np.inf])
    finite = bosaris_py.eer([-9.0, 1.0, 9.0], [-9.0, 0.0, 2.0, 9.0])
    result = resample(tar, non, unc.EER(), rng=2)
    assert result.estimate == finite
    assert result.standard_error > 0


def test_a_difference_has_no_ratio() -> None:
    scores = bosaris_py.Scores([[2.0, -1.0], [0.0, 1.5]], ["m", "n"], ["s", "t"])
    key = bosaris_py.Key(
        ["m", "n"], ["s", "t"], [[True, False], [False, True]], [[False, True], [True, False]]
    )
    options = {"method": "iid", "replications": 50, "rng": 1}
    with pytest.raises(InvalidInputError, match="`interval` must be of one system"):
        unc.paired_bootstrap(scores, scores, key, unc.EER(), interval="ratio", **options)
