"""The paired bootstrap, against its parts, closed forms and the analytic paired test."""

from typing import Any

import attrs
import numpy as np
import pytest
from scipy import stats

from bosaris_py import IdMap, Key, Scores, uncertainty as unc
from bosaris_py.errors import (
    DegenerateReplicatesWarning,
    InvalidInputError,
    MissingTrialsWarning,
    TrialMismatchError,
)
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult
from tests.crossed_trials import CrossedExperiment, CrossedTrials
from tests.uncertainty.naive_conditions import conditions_by_phone_match, same_law

# Small data are quick; the warning has tests of its own, in test_few_errors.py.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

METHODS = ("iid", "one-layer", "two-layer", "speaker")
COST = unc.DCF(0.0, 0.05, 1, 1, normalize=True)
EXPERIMENT = CrossedExperiment(tar_mean=2.0)


@pytest.fixture(scope="module")
def systems() -> tuple[CrossedTrials, CrossedTrials]:
    """Two systems that are equally good, and agree for the most part."""
    a, b = EXPERIMENT.draw_systems(np.random.default_rng(1), n_systems=2, shared=0.7)
    return a, b


@pytest.fixture(scope="module")
def small() -> tuple[CrossedTrials, CrossedTrials]:
    experiment = CrossedExperiment(n_speakers=12, n_models=1, n_segments=2, tar_mean=1.5)
    a, b = experiment.draw_systems(np.random.default_rng(2), n_systems=2, shared=0.5)
    return a, b


def compare(
    pair: tuple[CrossedTrials, CrossedTrials], statistic: object, **options: object
) -> unc.PairedBootstrapResult:
    a, b = pair
    maps = {"speakers": (a.model_speakers, a.segment_speakers)}
    return unc.paired_bootstrap(a.scores, b.scores, a.key, statistic, **(maps | options))


class TestNumbers:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", METHODS)
    def test_wu_s_two_algorithm_test(
        self, systems: tuple[CrossedTrials, CrossedTrials], method: str
    ) -> None:
        options = {"method": method, "replications": 400, "rng": 3}
        result = compare(systems, COST, interval="percentile", **options)
        a, b = result.first, result.second
        assert result.difference == a.estimate - b.estimate
        assert np.array_equal(result.contrast.replicates, a.replicates - b.replicates)
        rho = np.corrcoef(a.replicates, b.replicates)[0, 1]
        assert result.correlation == pytest.approx(rho, rel=1e-9)
        variance = a.standard_error**2 + b.standard_error**2
        variance -= 2 * rho * a.standard_error * b.standard_error
        # The same sums in another order.
        assert result.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)
        assert result.z == pytest.approx(result.difference / np.sqrt(variance), rel=1e-9)
        normal = compare(systems, COST, interval="normal", **options)
        assert normal.p_value == pytest.approx(2 * stats.norm.sf(abs(result.z)), rel=1e-9)
        low, high = np.quantile(result.contrast.replicates, [0.025, 0.975])
        # numpy interpolates between neighbouring replicates.
        assert (result.low, result.high) == pytest.approx((low, high), abs=0.01)
        assert result.contrast.method == method

    @pytest.mark.slow
    def test_alternatives(self, systems: tuple[CrossedTrials, CrossedTrials]) -> None:
        two, less, greater = (
            compare(systems, COST, alternative=alternative, replications=500, rng=4)
            for alternative in ("two-sided", "less", "greater")
        )
        assert less.p_value + greater.p_value == pytest.approx(1.0)
        assert (less.p_value < 0.5, greater.p_value < 0.5) == (
            two.difference < 0,
            two.difference > 0,
        )
        assert two.p_value == pytest.approx(2 * min(less.p_value, greater.p_value))

    @pytest.mark.parametrize("replications", [100, 101])
    def test_the_fewest_replicates_that_are_counted(
        self, systems: tuple[CrossedTrials, CrossedTrials], replications: int
    ) -> None:
        result = compare(systems, COST, replications=replications, rng=4)
        student = result.contrast.student
        assert student is not None
        assert student.draws is not None
        z = abs(result.difference) / student.null_error
        counted = (1 + np.count_nonzero(student.draws >= z)) / (replications + 1)
        # Drawn quantiles count up to 1.02 of Student's t.
        limit = 2 * stats.t(student.influence.degrees).sf(z / 1.02)
        expected = max(min(counted, limit), 1 / (replications + 1))
        assert result.p_value == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("statistic", [unc.EER(), unc.AUC()])
    @pytest.mark.parametrize("confidence", [0.95, 0.99])
    def test_longer_than_students_t_by_a_fiftieth_at_most(
        self,
        small: tuple[CrossedTrials, CrossedTrials],
        statistic: unc.Statistic,
        confidence: float,
    ) -> None:
        result = compare(small, statistic, confidence=confidence, replications=999, rng=5)
        student = result.contrast.student
        assert student is not None
        assert student.draws is not None
        level = 1.0 - confidence
        t = stats.t(student.influence.degrees).ppf(1.0 - 0.5 * level)
        # Of 999 draws the 1000 level largest ones are beyond.
        drawn = np.sort(student.draws)[-round(1000 * level)]
        half = 0.5 * (result.high - result.low)
        assert drawn > 1.02 * t  # these few speakers have long tails
        assert half == pytest.approx(1.02 * t * student.null_error, rel=1e-9)
        assert (result.p_value < level) == (abs(result.difference) > half)

    def test_each_system_is_what_it_is_alone(
        self, small: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        """The same weights as for one system: replicate by replicate the same numbers."""
        for statistic in (COST, unc.Cllr(), unc.EER(), unc.ErrorRates([0.0, 1.0])):
            paired = compare(small, statistic, replications=60, rng=5)
            for data, result in zip(small, (paired.first, paired.second), strict=True):
                alone = unc.bootstrap_scores(
                    data.scores,
                    data.key,
                    statistic,
                    speakers=(data.model_speakers, data.segment_speakers),
                    replications=60,
                    rng=5,
                )
                assert np.allclose(result.replicates, alone.replicates, rtol=1e-12)
                assert np.array_equal(result.estimate, alone.estimate)
                assert result.interval == alone.interval
                assert np.allclose(result.low, alone.low)

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize(
        "statistic", [COST, unc.Cllr(), unc.MinDCF(0.2), unc.EER(), unc.AUC()], ids=repr
    )
    def test_equals_a_function_of_scores_and_weights(
        self, small: tuple[CrossedTrials, CrossedTrials], statistic: unc.Statistic, method: str
    ) -> None:
        def slowly(*arguments: np.ndarray) -> object:
            return statistic(*arguments)

        fast, slow = (
            compare(small, f, method=method, replications=60, rng=6, interval="normal")
            for f in (statistic, slowly)
        )
        if statistic == COST and method in ("iid", "one-layer"):
            # Drawn by kinds of trials, see below.
            return
        for name in ("first", "second", "contrast"):
            replicates = (getattr(result, name).replicates for result in (fast, slow))
            assert np.allclose(*replicates, rtol=1e-12, atol=1e-13)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning")
    @pytest.mark.parametrize("conditions", [False, True], ids=["plain", "conditions"])
    @pytest.mark.parametrize("method", ["iid", "one-layer"])
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (COST, COST),
            (unc.DCF(0.5, 0.01, 10, 1), unc.DCF(-0.5, 0.01, 10, 1)),
            (unc.ErrorRates([1.0, -1.0, 0.0]), unc.ErrorRates([0.0, 0.5, -2.0])),
            (unc.ActDCF([0.5, 0.1]), unc.ActDCF([0.5, 0.1])),
        ],
        ids=["one cost", "two thresholds", "rates", "costs"],
    )
    def test_law_of_kinds_of_trials(
        self,
        small: tuple[CrossedTrials, CrossedTrials],
        first: unc.Statistic,
        second: unc.Statistic,
        method: str,
        *,
        conditions: bool,
    ) -> None:
        """Errors of both systems together: those of the same picks given as weights."""
        options: dict[str, object] = {"method": method, "replications": 1500, "interval": "normal"}
        if conditions:
            options["conditions"] = conditions_by_phone_match(small[0], {"same": 0.7, "other": 0.3})
        fast = compare(small, first, statistic_b=second, rng=16, **options)
        slow = compare(
            small,
            lambda *arguments: first(*arguments),
            statistic_b=lambda *arguments: second(*arguments),
            rng=17,
            **options,
        )
        for name in ("first", "second", "contrast"):
            replicates = (
                getattr(result, name).replicates.reshape(1500, -1).T for result in (fast, slow)
            )
            for a, b in zip(*replicates, strict=True):
                assert same_law(a, b)

    def test_iid_standard_error_in_closed_form(
        self, systems: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        """The difference of decisions is -1, 0 or 1 on each trial."""
        n = 2000
        result = compare(systems, unc.DCF(0.0, 0.5, 1, 1), method="iid", replications=n, rng=7)
        variance = 0.0
        for a, b in zip(systems[0].trials(), systems[1].trials(), strict=True):
            gaps = (a < 0).astype(float) - (b < 0)
            variance += 0.25 * gaps.var() / gaps.size
        # Four standard deviations of a standard deviation.
        assert result.standard_error == pytest.approx(np.sqrt(variance), rel=4 / np.sqrt(2 * n))

    @pytest.mark.slow
    def test_agrees_with_the_analytic_paired_test(
        self, systems: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        a, b = systems
        result = compare(systems, COST, replications=4000, rng=8)
        test = unc.speaker_z_test(
            a.scores, b.scores, a.key, COST, speakers=(a.model_speakers, None)
        )
        assert result.difference == pytest.approx(test.difference, rel=1e-12)
        # Single pairs of speakers count once there, three times here.
        assert 0.97 < result.standard_error / test.standard_error < 1.15

    def test_another_statistic_for_the_second_system(
        self, small: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        a, _ = small
        result = unc.paired_bootstrap(
            a.scores,
            a.scores,
            a.key,
            unc.DCF(1.0, 0.01, 10, 1),
            unc.DCF(0.0, 0.01, 10, 1),
            replications=50,
            rng=9,
        )
        tar, non = a.trials()
        assert result.difference == unc.DCF(1.0, 0.01, 10, 1)(tar, non) - unc.DCF(0.0, 0.01, 10, 1)(
            tar, non
        )
        assert result.correlation < 1

    def test_a_system_against_itself(self, small: tuple[CrossedTrials, CrossedTrials]) -> None:
        result = compare((small[0], small[0]), unc.Cllr(), replications=50, rng=10)
        assert (result.difference, result.standard_error, result.z) == (0.0, 0.0, 0.0)
        assert (result.low, result.high, result.p_value) == (0.0, 0.0, 1.0)
        assert result.correlation == pytest.approx(1.0)

    def test_a_system_that_does_not_vary(self) -> None:
        names, same = ["a", "b", "c", "d", "e"], np.eye(5, dtype=bool)
        key = Key(names, names, same, ~same)
        perfect = Scores(np.where(same, 1.0, -1.0), names, names)
        other = Scores(np.random.default_rng(11).normal(size=(5, 5)), names, names)
        result = unc.paired_bootstrap(
            perfect, other, key, unc.DCF(0.0, 0.01, 10, 1), replications=50, rng=12
        )
        assert np.isnan(result.correlation)
        assert result.standard_error == result.second.standard_error

    @pytest.mark.parametrize("interval", ["student", "percentile", "basic", "normal"])
    @pytest.mark.parametrize("confidence", [0.9, 0.99, 0.999])
    def test_p_and_interval_agree_with_few_replicates(
        self, systems: tuple[CrossedTrials, CrossedTrials], interval: str, confidence: float
    ) -> None:
        """The least p-value of 199 replicates is 2/199, of as many Student's t 1/200."""
        a, b = systems
        worse = attrs.evolve(b, scores=Scores(-b.scores.scoremat, *b.scores.ids))
        result = compare((a, worse), COST, interval=interval, confidence=confidence,
                         replications=199, rng=15)  # fmt: skip
        outside = not result.low <= 0 <= result.high
        assert outside == (result.p_value < 1 - confidence)
        least = {"student": 1 / 200, "normal": 0.0}.get(interval, 2 / 199)
        assert outside == (least < 1 - confidence)

    def test_no_p_value_is_below_what_speakers_allow(self) -> None:
        """D1 of the review: two speakers who differ alike; the exact p-value is 1/2."""
        names, same = ["a", "b"], np.eye(2, dtype=bool)
        key = Key(names, names, same, ~same)
        a, b = Scores(-np.ones((2, 2)), names, names), Scores(2.0 * same - 1.0, names, names)
        with pytest.warns(DegenerateReplicatesWarning):
            result = unc.paired_bootstrap(
                a, b, key, unc.DCF(0.0, 0.01, 10, 1), replications=200, rng=16
            )
        assert result.p_value == 0.5

    def test_arrays(self, small: tuple[CrossedTrials, CrossedTrials]) -> None:
        rates = unc.ErrorRates([0.0, 1.0])
        result = compare(small, rates, replications=100, rng=13)
        single = compare(small, unc.ErrorRates(1.0), replications=100, rng=13)
        for name in ("difference", "standard_error", "low", "high", "z", "p_value", "correlation"):
            value = getattr(result, name)
            assert value.shape == (2, 2)
            assert np.allclose(value[:, 1], getattr(single, name), rtol=1e-9), name
        assert "4 values" in repr(result)

    def test_repr(self, small: tuple[CrossedTrials, CrossedTrials]) -> None:
        result = compare(small, COST, replications=100, rng=14)
        assert repr(result).startswith(
            f"PairedBootstrapResult: {result.first.estimate:.4g} - {result.second.estimate:.4g} = "
        )
        assert "speaker bootstrap, 100 replicates" in repr(result)

    def test_fits_a_table(self, systems: tuple[CrossedTrials, CrossedTrials]) -> None:
        result = compare(systems, COST, replications=200, rng=15)
        table = unc.ComparisonTable.from_tests({("a", "b"): result, ("b", "a"): result})
        assert table.p_holm[0] == min(1.0, 2 * result.p_value)
        # Differences have as many decimals as show three digits of the standard error.
        assert f"{result.difference:.4f}" in repr(table)


def test_undefined_replicates_are_counted_once() -> None:
    names, same = [f"s{i}" for i in range(6)], np.eye(6, dtype=bool)
    target = same.copy()
    target[2:] = False
    key = Key(names, names, target, ~same)
    rng = np.random.default_rng(20)
    a, b = (Scores(rng.normal(size=(6, 6)), names, names) for _ in range(2))
    with pytest.warns(DegenerateReplicatesWarning, match="bootstrap replicates") as caught:
        result = unc.paired_bootstrap(
            a, b, key, unc.EER(), speakers=(None, IdMap(names, names)), rng=21
        )
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert result.n_degenerate == result.first.n_degenerate == result.second.n_degenerate > 0
    assert np.isfinite([result.z, result.p_value, result.correlation, result.low]).all()


class TestRandomness:
    def test_workers_do_not_matter(self, small: tuple[CrossedTrials, CrossedTrials]) -> None:
        for statistic, method in ((unc.EER(), "iid"), (unc.Cllr(), "speaker")):
            alone, shared = (
                compare(small, statistic, method=method, replications=120, rng=30, workers=workers)
                for workers in (1, 2)
            )
            assert np.array_equal(alone.contrast.replicates, shared.contrast.replicates)

    def test_seeds(self, small: tuple[CrossedTrials, CrossedTrials]) -> None:
        first, again, other = (
            compare(small, COST, replications=60, rng=seed).contrast.replicates
            for seed in (1, 1, 2)
        )
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


class TestTrials:
    def test_order_of_models_and_segments_does_not_matter(
        self, small: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        a, b = small
        rng = np.random.default_rng(40)
        rows, cols = (rng.permutation(n) for n in b.scores.scoremat.shape)
        shuffled = Scores(
            b.scores.scoremat[np.ix_(rows, cols)], b.scores.modelset[rows], b.scores.segset[cols]
        )
        moved = CrossedTrials(shuffled, b.key, b.model_speakers, b.segment_speakers)
        plain, other = (
            compare((a, second), unc.EER(), replications=50, rng=41) for second in (b, moved)
        )
        assert np.array_equal(plain.contrast.replicates, other.contrast.replicates)

    def test_both_may_lack_the_same_trials(
        self, small: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        a, b = small
        mask = np.random.default_rng(42).random(a.key.tar.shape) < 0.7
        partial = [Scores(s.scores.scoremat, s.key.modelset, s.key.segset, mask) for s in small]
        with pytest.warns(MissingTrialsWarning):
            missing = unc.paired_bootstrap(*partial, a.key, COST, replications=50, rng=43)
        key = Key(a.key.modelset, a.key.segset, a.key.tar & mask, a.key.non & mask)
        speakers = IdMap(a.key.segset, a.segment_speakers.rightids)
        models = IdMap(a.key.modelset, a.model_speakers.rightids)
        whole = unc.paired_bootstrap(
            a.scores, b.scores, key, COST, speakers=(models, speakers),
            replications=50, rng=43,
        )  # fmt: skip
        assert np.array_equal(missing.contrast.replicates, whole.contrast.replicates)

    def test_unpaired_trials_are_refused_with_counts(
        self, small: tuple[CrossedTrials, CrossedTrials]
    ) -> None:
        a, b = small
        masks = np.ones((2, *a.key.tar.shape), dtype=bool)
        masks[0, 0, :3] = False
        masks[1, 5, 7] = False
        scores = [
            Scores(s.scores.scoremat, s.key.modelset, s.key.segset, mask)
            for s, mask in zip((a, b), masks, strict=True)
        ]
        message = r"of the 288 trials .* 1 have a score in `scores_a` only and 3 in `scores_b` only"
        with pytest.raises(TrialMismatchError, match=message):
            unc.paired_bootstrap(*scores, a.key, COST)


NAMES = ["a", "b", "c"]
SAME = np.eye(3, dtype=bool)
GOOD = Scores([[2.0, 0.1, -1.0], [0.3, 1.0, 0.2], [-2.0, 0.5, 3.0]], NAMES, NAMES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores_a": [[1.0]]}, "`scores_a` must be Scores"),
        ({"scores_b": None}, "`scores_b` must be Scores"),
        ({"key": GOOD}, "`key` must be a Key"),
        ({"statistic": unc.EER}, "be a statistic, not a class"),
        ({"statistic_b": 3.0}, "`statistic` .* callable"),
        ({"statistic_b": unc.ErrorRates(0.0)}, r"`statistic_b` .* shape \(\).*got \(2,\)"),
        ({"method": "paired"}, "`method` .* one of"),
        ({"alternative": "better"}, '`alternative` .* one of "two-sided", "less", "greater"'),
        ({"replications": 0}, "`replications` .* at least 2"),
        ({"confidence": 1.0}, "`confidence` .* strictly between 0 and 1"),
        ({"interval": "bca"}, "`interval` .* one of"),
        ({"speakers": (IdMap(["a"], ["x"]), None)}, "tell the speaker of all models"),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "scores_a": GOOD,
        "scores_b": GOOD,
        "key": Key(NAMES, NAMES, SAME, ~SAME),
        "statistic": unc.EER(),
    }
    with pytest.raises(InvalidInputError, match=message):
        unc.paired_bootstrap(**(arguments | changes))


@pytest.mark.slow
@pytest.mark.parametrize("statistic", [COST, unc.EER()], ids=repr)
def test_equal_systems_are_seldom_told_apart(statistic: unc.Statistic) -> None:
    """Trials are not independent: by trials, equal systems look different too often."""
    experiment = CrossedExperiment(n_speakers=40, tar_mean=2.0)
    n_sets = 200
    rejected = dict.fromkeys(("speaker", "iid"), 0)
    for rng in np.random.default_rng(50).spawn(n_sets):
        a, b = experiment.draw_systems(rng, n_systems=2, shared=0.6)
        for method in rejected:
            result = compare((a, b), statistic, method=method, replications=200, rng=rng)
            rejected[method] += result.p_value < 0.05
    # At a level of 5 %; the speaker bootstrap of 40 speakers is not far from it.
    assert stats.binomtest(rejected["speaker"], n_sets, 0.05).pvalue > 0.01
    # By trials, the EER of these systems differs significantly in 16 % of the cases.
    assert rejected["iid"] / n_sets > 0.1


@pytest.mark.parametrize("value", [0.5, -0.5, 0.0])
@pytest.mark.parametrize("interval", ["percentile", "basic"])
def test_a_difference_that_never_varies_is_no_evidence(value: float, interval: str) -> None:
    # Chance and habit look the same.
    options: Any = {"method": "iid", "interval": interval, "confidence": 0.95, "bounds": (-1, 1)}
    result = BootstrapResult.from_replicates(value, np.full(50, value), **options)
    found = [result.p_value(which) for which in ("two-sided", "less", "greater")]
    assert found == [1.0, 0.5, 0.5]
