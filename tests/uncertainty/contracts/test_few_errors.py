"""Results that look more certain than they are: warnings, refusals, and zeros that are exact."""

import gc
import math
import pickle
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from scipy import special, stats

from bosaris_py import IdMap, Key, Scores, uncertainty as unc
from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._cautions import cautions
from bosaris_py.errors import (
    DegenerateReplicatesWarning,
    DuplicateIdWarning,
    FewErrorsWarning,
    FewSpeakersWarning,
    InvalidInputError,
)
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.influence.speaker_influence import check_few_speakers
from bosaris_py.uncertainty.statistics.class_means import Brier, LossStatistic

RNG = np.random.default_rng(3)
TAR, NON = RNG.normal(2.0, 1.0, 50), RNG.normal(0.0, 1.0, 400)
NAMES = [f"speaker{i}" for i in range(12)]
SAME = np.eye(12, dtype=bool)
KEY = Key(NAMES, NAMES, SAME, ~SAME)


def matrix(seed: int) -> Scores:
    return Scores(np.random.default_rng(seed).normal(size=SAME.shape) + 3.0 * SAME, NAMES, NAMES)


@attrs.frozen
class BrierOfAUser(LossStatistic):
    """The Brier score written once more, as another loss would be."""

    bounds = 0.0, 4.0

    def loss(self, which: int, scores: FloatArray) -> Float64Array:
        return 2.0 / (1.0 + np.exp((1.0, -1.0)[which] * np.asarray(scores, dtype=float))) ** 2


class TestWarnings:
    @pytest.mark.parametrize(
        "interval",
        [
            unc.wilson_interval,
            unc.jeffreys_interval,
            lambda k, n: unc.error_rate_interval(k, n, method="normal"),
            lambda k, n: unc.error_rate_interval(k, n, method="jeffreys"),
            lambda k, n: unc.error_rate_interval(k, n, method="wilson"),
        ],
    )
    def test_intervals_of_a_rate(self, interval: Callable[..., unc.Interval]) -> None:
        with pytest.warns(FewErrorsWarning, match="rests on 29 errors") as caught:
            interval(29, 1000)
        assert len(caught) == 1
        interval(30, 1000)

    @pytest.mark.parametrize("statistic", [unc.DCF(5.0, 0.01, 10, 1), unc.ErrorRates(5.0)])
    def test_a_bootstrap_without_false_alarms(self, statistic: unc.Statistic) -> None:
        """All 50 targets are missed, no non-target is accepted: no replicate differs."""
        tar, non = np.zeros(50), np.zeros(400)
        with pytest.warns(FewErrorsWarning, match="^The false-alarm rate rests on 0 err") as caught:
            result = unc.bootstrap(tar, non, statistic, replications=20, rng=1)
        assert len(caught) == 1
        assert np.all(np.asarray(result.standard_error) == 0)

    def test_thirty_errors_are_enough_for_a_bootstrap(self) -> None:
        tar, non = np.repeat([0.0, 9.0], 30), np.repeat([0.0, 9.0], [400, 30])
        unc.bootstrap(tar, non, unc.DCF(5.0, 0.01, 10, 1), replications=20, rng=1)
        with pytest.warns(FewErrorsWarning, match="^The miss rate rests on 29 err"):
            unc.bootstrap(tar[1:], non, unc.DCF(5.0, 0.01, 10, 1), replications=20, rng=1)

    def test_a_score_matrix_and_two(self) -> None:
        cost = unc.ActDCF(0.5)
        # 12 targets cannot yield 30 misses, nor 12 speakers 20.
        few_speakers = "rests on 12 effective speakers. With fewer than 20"
        with (
            pytest.warns(FewSpeakersWarning, match=few_speakers) as caught,
            pytest.warns(FewErrorsWarning, match="miss rate rests on"),
        ):
            unc.bootstrap_scores(matrix(1), KEY, cost, replications=20, rng=1)
        assert len(caught) == 1
        with (
            pytest.warns(FewSpeakersWarning, match="difference rests on .* With fewer than 30"),
            pytest.warns(FewErrorsWarning, match="2 of 2 miss rates rest on few err"),
        ):
            unc.paired_bootstrap(matrix(1), matrix(2), KEY, cost, replications=20, rng=1)

    def test_a_little_less_than_enough_speakers_is_said_to_be_less(self) -> None:
        with (
            pytest.warns(FewSpeakersWarning, match="rests on 19 effective .* fewer than 20"),
            cautions() as heard,
        ):
            assert check_few_speakers({"EER": 19.97}, 20)
        # Footnotes and reports print the count.
        assert [caution.count for caution in heard] == [19]

    @pytest.mark.parametrize(
        "statistic", [unc.MinDCF(0.1), unc.EER(), unc.AUC(), unc.Cllr(), unc.MinCllr()]
    )
    def test_no_noise_from_other_metrics(self, statistic: unc.Statistic) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            unc.bootstrap(TAR, NON, statistic, replications=20, rng=1)

    def test_replicates_that_are_all_alike(self) -> None:
        with pytest.warns(FewErrorsWarning, match="All 20 bootstrap replicates are alike"):
            result = unc.bootstrap([3.0, 4.0], [0.0, 1.0], unc.AUC(), replications=20, rng=1)
        assert result.standard_error == 0

    @pytest.mark.parametrize("interval", ["percentile", "basic", "normal"])
    def test_no_variation_leaves_open_what_the_numbers_of_trials_do(
        self, interval: IntervalKind
    ) -> None:
        """The limit of Clopper and Pearson for no error; in other metrics that of such errors."""
        tar, non = np.linspace(3.0, 4.0, 200, dtype=np.float32), np.linspace(-4.0, -3.0, 500)
        a, b = (1 - 0.025 ** (1 / n) for n in (200, 500))
        entropy = special.entr([1 - a, b, 1 - b, a]).sum()
        entropy -= special.entr([1 - a + b, 1 + a - b]).sum()
        expected = {
            unc.DCF(0.0, 0.1, 1, 1): (0.0, 0.1 * a + 0.9 * b),
            unc.DCF(9.0, 0.1, 1, 1): (0.1 * (1 - a), 0.1 + 0.9 * b),
            unc.ActDCF(0.5): (0.0, (a + b) / 2),
            unc.MinDCF(0.5): (0.0, (a + b) / 2),
            unc.EER(): (0.0, a / (1 + a - b)),
            unc.AUC(): ((1 - a) * (1 - b), 1.0),
            unc.MinCllr(): (0.0, entropy / np.log(4)),
            unc.ErrorRates([0.0, 9.0]): ([[0.0, 1 - a], [0.0, 0.0]], [[a, 1.0], [b, b]]),
        }
        for statistic, ends in expected.items():
            with pytest.warns(FewErrorsWarning):
                result = unc.bootstrap(
                    tar, non, statistic, interval=interval, replications=20, rng=1
                )
            for found, end in zip((result.low, result.high), ends, strict=True):
                np.testing.assert_allclose(found, end, rtol=1e-9, err_msg=repr(statistic))
            low, high = result.interval_of(interval, 0.99)
            assert np.all(low <= result.low)
            assert np.all(high >= result.high)
            copied = pickle.loads(pickle.dumps(result))
            assert np.array_equal(copied.interval_of(interval, 0.99), (low, high))
            assert result.minus(result).open_ends is None

    @pytest.mark.parametrize("statistic", [Brier(), BrierOfAUser()])
    def test_no_variation_of_losses_leaves_open_the_greatest_loss(
        self, statistic: LossStatistic
    ) -> None:
        """Of shares a and b that nobody has seen no loss, or the largest of the Brier score, 2."""
        tar, non = np.full(40, 2.0), np.full(90, -1.0)
        shares = [1 - 0.025 ** (1 / n) for n in (40, 90)]
        losses = [2.0 / (1.0 + math.exp(x)) ** 2 for x in (2.0, 1.0)]
        with pytest.warns(FewErrorsWarning, match="what the number of trials"):
            found = unc.bootstrap(tar, non, statistic, replications=20, rng=1)
        low = sum((1 - a) * loss for a, loss in zip(shares, losses, strict=True))
        assert found.estimate == pytest.approx(sum(losses), rel=1e-12)
        assert found.low == pytest.approx(low, rel=1e-9)
        assert found.high == pytest.approx(low + 2.0 * sum(shares), rel=1e-9)

    def test_no_variation_of_scores_that_are_all_alike(self) -> None:
        tar, non = np.full(40, 0.5), np.full(90, 0.5)
        ends = []
        for statistic in (unc.EER(), unc.AUC(), unc.MinCllr(), unc.MinDCF(0.1), unc.Cllr()):
            with pytest.warns(FewErrorsWarning, match="what the number of trials"):
                ends.append(unc.bootstrap(tar, non, statistic, replications=20, rng=1))
        a, b = 1 - 0.025 ** (1 / 40), 1 - 0.025 ** (1 / 90)
        assert all(result.low < result.estimate for result in ends)
        assert ends[0].low == pytest.approx((1 - a) * (1 - b) / (2 - a - b))
        area = 0.5 * (1 - a) * (1 - b)
        assert (ends[1].low, ends[1].high) == pytest.approx((area, 1 - area))
        assert ends[4].high == np.inf
        assert "inf" in repr(ends[4])
        # Nothing is known of a function.
        with pytest.warns(FewErrorsWarning):
            result = unc.bootstrap(tar, non, lambda *_: 1.0, replications=20, rng=1)
        assert (result.low, result.high) == (-np.inf, np.inf)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "statistic",
        [
            *(unc.EER(), unc.AUC(), unc.MinCllr(), unc.MinDCF(0.1), unc.ActDCF(0.1)),
            *(unc.DCF(0.0, 0.01, 10, 1), unc.ErrorRates([0.0, 1.0]), lambda *_: 1.0),
        ],
    )
    def test_no_variation_keeps_no_trials(self, statistic: Any) -> None:
        tar, non = np.linspace(3.0, 4.0, 2000), np.linspace(-4.0, -3.0, 1000)
        trials = weakref.ref(tar), weakref.ref(non)
        with pytest.warns(FewErrorsWarning):
            result = unc.bootstrap(tar, non, statistic, replications=20, rng=1)
        del tar, non
        gc.collect()
        assert [trial() for trial in trials] == [None, None]
        # 8000 bytes are 1000 of the trials; beside the replicates there are about 1000 bytes.
        assert len(pickle.dumps(attrs.evolve(result, replicates=np.zeros(2)))) < 2000
        low, high = result.interval_of("percentile", 0.99)
        assert np.all(low <= result.low)
        assert np.all(high >= result.high)

    def test_no_variation_of_infinite_scores(self) -> None:
        """To the area and the other metrics of ranks an infinite score is one like others."""
        for statistic in (unc.AUC(), unc.EER(), unc.MinCllr(), unc.MinDCF(0.1)):
            found = []
            for size in (5.0, np.inf):
                tar, non = np.full(200, size), np.full(500, -size)
                with pytest.warns(FewErrorsWarning):
                    result = unc.bootstrap(tar, non, statistic, replications=20, rng=1)
                found.append((result.low, result.high))
            assert found[0] == found[1]
            assert found[0][0] < found[0][1]

    def test_no_variation_counts_sets_speakers_and_the_heaviest_trials(self) -> None:
        tar, non, cost = np.full(40, 5.0), np.full(90, -5.0), unc.DCF(0.0, 0.5, 1, 1)
        alike = {"replications": 20, "rng": 1}
        sets = {"method": "one-layer", "tar_sets": np.arange(40) % 8, "non_sets": np.arange(90) % 5}
        groups = {"tar_conditions": np.arange(40) < 4, "non_conditions": np.arange(90) < 45}
        with pytest.warns(FewErrorsWarning):
            by_set = unc.bootstrap(tar, non, cost, **sets, **alike)
        with pytest.warns(FewErrorsWarning):
            weighted = unc.bootstrap(tar, non, cost, **groups, **alike)
        limits = [1 - 0.025 ** (1 / n) for n in (8, 5, 8, 90)]
        assert by_set.high == pytest.approx(0.5 * sum(limits[:2]))
        # Four trials of half the weight leave as much open as eight.
        assert weighted.high == pytest.approx(0.5 * sum(limits[2:]))
        scores, rates = Scores(np.where(SAME, 5.0, -5.0), NAMES, NAMES), unc.ErrorRates(0.0)
        with pytest.warns(FewErrorsWarning):
            by_speaker = unc.bootstrap_scores(scores, KEY, rates, **alike)
        rare = 1 - 0.025 ** (1 / len(NAMES))
        np.testing.assert_allclose(by_speaker.high, [rare, rare])

    @pytest.mark.parametrize(
        "statistic", [unc.EER(), unc.AUC(), unc.MinCllr(), unc.MinDCF(0.1), unc.Cllr()]
    )
    def test_no_interval_by_speaker_is_without_length(self, statistic: unc.Statistic) -> None:
        scores = Scores(np.full(SAME.shape, 0.5), NAMES, NAMES)
        with pytest.warns(FewSpeakersWarning):
            one = unc.speaker_interval(scores, KEY, statistic)
        with pytest.warns(FewSpeakersWarning):
            other = unc.bootstrap_scores(scores, KEY, statistic, replications=20, rng=1)
        assert one.low < one.estimate
        assert (one.low, one.high) == (other.low, other.high)

    def test_few_speakers_that_are_often_lost(self) -> None:
        """Of two speakers one is picked twice half the time: then no non-target is left."""
        key = Key(NAMES[:2], NAMES[:2], SAME[:2, :2], ~SAME[:2, :2])
        scores = Scores(np.array([[3.0, 0.0], [0.0, 4.0]]), NAMES[:2], NAMES[:2])
        with pytest.warns(DegenerateReplicatesWarning, match="All others are alike.*too few"):
            unc.bootstrap_scores(scores, key, unc.AUC(), replications=100, rng=1)


class TestConstants:
    def test_a_threshold_that_nothing_reaches(self) -> None:
        """The cost is 0.1 for all replicates, which rounding must not make a spread of."""
        with pytest.warns(FewErrorsWarning):
            result = unc.bootstrap(TAR, NON, unc.DCF(np.inf, 0.01, 10, 1), replications=200, rng=1)
        assert result.standard_error == 0

    @pytest.mark.parametrize("interval", ["percentile", "basic", "normal"])
    def test_replicates_that_are_all_alike_test_nothing(self, interval: IntervalKind) -> None:
        """All targets are missed, no non-target is accepted: the cost is 10 x 0.5 throughout."""
        cost = unc.DCF(np.inf, 0.5, 10, 1)
        with pytest.warns(FewErrorsWarning):
            result = unc.bootstrap(TAR, NON, cost, replications=50, interval=interval, rng=1)
        assert result.estimate == 5.0
        assert [result.p_value(side) for side in ("two-sided", "less", "greater")] == [1, 0.5, 0.5]

    def test_a_comparison_of_constants(self) -> None:
        with pytest.warns(FewErrorsWarning):
            result = unc.paired_bootstrap(
                matrix(1),
                matrix(2),
                KEY,
                unc.DCF(np.inf, 0.01, 10, 1),
                unc.DCF(-np.inf, 0.01, 10, 1),
                replications=200,
                rng=1,
            )
        # All 12 speakers differ alike: over flips of their signs the spread is d / sqrt(12).
        assert type(result.difference) is float
        assert result.standard_error == pytest.approx(abs(result.difference) / np.sqrt(12))
        assert result.z == pytest.approx(-np.sqrt(12))
        assert result.p_value == pytest.approx(2 * stats.t.sf(np.sqrt(12), 11))
        assert np.isnan(result.correlation)


class TestSpeakers:
    def test_a_model_of_two_speakers(self) -> None:
        left = [*NAMES, NAMES[0]]
        with pytest.warns(DuplicateIdWarning):
            torn = IdMap(left, [*NAMES, "somebody"])
        with pytest.raises(InvalidInputError, match=r"several for 1 ids.*speaker0: somebody and"):
            unc.bootstrap_scores(matrix(1), KEY, unc.AUC(), speakers=(torn, None))

    def test_two_speakers_of_a_model_without_trials(self) -> None:
        with pytest.warns(DuplicateIdWarning):
            maps = IdMap([*NAMES, "unused", "unused"], [*NAMES, "a", "b"])
        options = {"replications": 20, "rng": 1, "method": "one-layer"}
        result = unc.bootstrap_scores(matrix(1), KEY, unc.Cllr(), speakers=(maps, None), **options)
        plain = unc.bootstrap_scores(matrix(1), KEY, unc.Cllr(), **options)
        assert np.array_equal(result.replicates, plain.replicates)

    def test_the_hint_does_not_ask_for_what_was_given(self) -> None:
        maps = {"speakers": (IdMap(NAMES, NAMES), IdMap(NAMES, NAMES[::-1]))}
        with pytest.raises(InvalidInputError, match="belong together") as error:
            unc.bootstrap_scores(matrix(1), KEY, unc.AUC(), **maps)
        assert "need a map" not in str(error.value)


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [
            ["a", None, "b", float("nan")],
            np.array(["a", None, "b", np.nan], dtype=object),
            [1.0, np.nan, 2.0, None],
        ],
    )
    def test_missing(self, labels: object) -> None:
        with pytest.raises(InvalidInputError, match=r"for 2 of 4 trials \(positions 1, 3\)"):
            unc.equal_size_sets(labels)

    def test_missing_among_floats(self) -> None:
        with pytest.raises(InvalidInputError, match="for 1 of 3 trials"):
            unc.equal_size_sets(np.array([1.0, np.nan, 2.0]))

    def test_numbers_and_texts_differ(self) -> None:
        # 1 and "1" are two sets, so with 2 there are three sets of two.
        assert unc.equal_size_sets([1, "1", 2, 1, "1", 2], rng=1).n_sets == 3


def returns(value: object) -> Callable[..., object]:
    return lambda tar, non, tar_weights, non_weights: value


def by_trials(statistic: Callable[..., object]) -> object:
    return unc.bootstrap(TAR, NON, statistic, replications=5, rng=1)


def of_two(statistic: Callable[..., object]) -> object:
    systems = matrix(1), matrix(2)
    return unc.paired_bootstrap(*systems, KEY, statistic, method="iid", replications=5, rng=1)


class TestFunctions:
    @pytest.mark.parametrize("value", ["0.5", 1j, None, [], [[1.0], [1.0, 2.0]]])
    @pytest.mark.parametrize("run", [by_trials, of_two])
    def test_no_number(self, value: object, run: Callable[..., object]) -> None:
        with pytest.raises(InvalidInputError, match="return a number or an array of numbers"):
            run(returns(value))

    @pytest.mark.parametrize("run", [by_trials, of_two])
    def test_changing_shape(self, run: Callable[..., object]) -> None:
        def statistic(tar: np.ndarray, *others: np.ndarray) -> np.ndarray:
            return tar[: 1 + int(others[1].max() > 1)]

        with pytest.raises(InvalidInputError, match="same shape for all replicates"):
            run(statistic)

    def test_cannot_change_the_scores(self) -> None:
        def statistic(tar: np.ndarray, *others: np.ndarray) -> float:
            tar += 1.0
            return float(tar.mean())

        tar = TAR.copy()
        with pytest.raises(ValueError, match="read-only"):
            unc.bootstrap(tar, NON, statistic, replications=5)
        assert np.array_equal(tar, TAR)


def of_speakers(
    n: int, matrix: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[Scores, Key]:
    """Return scores of n speakers, each a model and a segment, made of noise and what is same."""
    names, same = [f"p{i}" for i in range(n)], np.eye(n, dtype=bool)
    noise = np.random.default_rng(n).normal(size=(n, n))
    return Scores(matrix(noise, same), names, names), Key(names, names, same, ~same)


def usual(noise: np.ndarray, same: np.ndarray) -> np.ndarray:
    return noise + 2.0 * same


KINDS = ["percentile", "basic", "normal", "student"]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("kind", KINDS)
class TestEnds:
    """Data that say little: an answer that does not mislead, or an error that says what lacks."""

    @pytest.mark.parametrize("statistic", [unc.DCF(1.0, 0.5, 10, 1), unc.EER(), unc.Cllr()])
    @pytest.mark.parametrize("n", [2, 3, 5, 30])
    def test_no_p_below_what_the_speakers_allow(
        self, n: int, statistic: unc.Statistic, kind: str
    ) -> None:
        """Of flips of the signs of n speakers; the p-value and the interval say the same."""
        a, key = of_speakers(n, usual)
        b = of_speakers(n, lambda noise, same: noise[::-1] + 0.5 * same)[0]
        options = {"replications": 200, "rng": 1, "interval": kind}
        result = unc.paired_bootstrap(a, b, key, statistic, **options)
        assert 2.0 ** (1 - n) <= result.p_value <= 1
        for confidence in (0.2, 0.6, 0.95, 0.999):
            low, high = result.contrast.interval_of(kind, confidence)
            if abs(result.p_value - (1 - confidence)) > 2 / 200:
                assert (result.p_value < 1 - confidence) == (not low <= 0 <= high), confidence

    def test_one_speaker(self, kind: str) -> None:
        key = Key(["a", "b"], ["x", "y"], np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))
        one = IdMap(["a", "b", "x", "y"], ["p"] * 4)
        scores = Scores(np.eye(2), ["a", "b"], ["x", "y"])
        with pytest.raises(InvalidInputError, match="two speakers"):
            unc.bootstrap_scores(scores, key, unc.EER(), interval=kind, speakers=one)

    @pytest.mark.parametrize(("threshold", "rate"), [(-9.0, 0.0), (9.0, 1.0)])
    def test_no_miss_and_nothing_else(self, threshold: float, rate: float, kind: str) -> None:
        """Of 40 speakers none, or all: the interval reaches what so many leave open."""
        scores, key = of_speakers(40, usual)
        miss_only = unc.DCF(threshold, 0.5, 2.0, 1e-9)
        result = unc.bootstrap_scores(
            scores, key, miss_only, interval=kind, replications=100, rng=1
        )
        assert result.estimate == pytest.approx(rate, abs=1e-8)
        assert np.isfinite([result.low, result.high]).all()
        # Replicates alone show no spread: a warning says so, and the default interval has one.
        room = 1 - 0.025 ** (1 / 40)
        if kind == "student":
            reach = abs((result.high if rate == 0 else result.low) - rate)
            assert reach == pytest.approx(room, rel=1e-6)
        else:
            with pytest.warns(FewErrorsWarning):
                unc.bootstrap_scores(scores, key, miss_only, interval=kind, replications=100, rng=1)

    @pytest.mark.parametrize(
        "statistic", [unc.DCF(1.0, 0.5, 10, 1), unc.EER(), unc.AUC(), unc.Cllr()]
    )
    @pytest.mark.parametrize("step", [0.0, 1e-13])
    def test_systems_that_are_one(self, statistic: unc.Statistic, step: float, kind: str) -> None:
        scores, key = of_speakers(12, usual)
        other = scores.transform(lambda x: x + step)
        result = unc.paired_bootstrap(
            scores, other, key, statistic, interval=kind, replications=100, rng=1
        )
        assert abs(result.difference) < 1e-12
        assert result.low <= 0 <= result.high
        assert result.p_value > 0.05 or step > 0
        assert 2.0**-11 <= result.p_value <= 1

    def test_a_difference_that_is_constant(self, kind: str) -> None:
        scores, key = of_speakers(12, usual)
        result = unc.paired_bootstrap(
            scores, scores, key, unc.DCF(np.inf, 0.01, 10, 1), unc.DCF(-np.inf, 0.01, 10, 1),
            interval=kind, replications=100, rng=1,
        )  # fmt: skip
        # All speakers differ alike, which flips of their signs can tell; the spread is theirs.
        assert 2.0**-11 <= result.p_value < 0.05
        assert result.standard_error == pytest.approx(abs(result.difference) / np.sqrt(12))
        assert not result.low <= 0 <= result.high


def test_sources_of_randomness() -> None:
    for call in (lambda: unc.equal_size_sets(["a", "a", "b", "b"], rng="x"),):
        with pytest.raises(InvalidInputError, match="`rng`"):
            call()


@pytest.mark.slow
def test_workers_of_a_program_without_a_file() -> None:
    program = """
import numpy as np
from bosaris_py import uncertainty as unc
unc.bootstrap(np.arange(9.0), np.arange(9.0), unc.AUC(), replications=200, workers=2)
"""
    done = subprocess.run(
        [sys.executable, "-"], input=program, capture_output=True, text=True, check=False
    )
    assert "or use workers=1" in done.stderr


def test_pairs_that_dominate() -> None:
    """Independent scores: the formula has the true standard error, the bootstrap sqrt(3) times it.

    Of 40 data sets, so that the mean of each is known to a few per cent.
    """
    same = np.eye(40, dtype=bool)
    names = [f"speaker{i}" for i in range(40)]
    key = Key(names, names, same, ~same)
    cost = unc.DCF(0.5, 0.05, 1, 1, normalize=True)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewErrorsWarning)
        for rng in np.random.default_rng(1).spawn(40):
            scores = Scores(rng.normal(size=same.shape) + 3.0 * same, names, names)
            boot = unc.bootstrap_scores(scores, key, cost, replications=200, rng=rng)
            rows.append((boot.standard_error, unc.dcf_standard_error_scores(scores, key, cost)))
    bootstrap, formula = np.mean(rows, axis=0)
    pmiss, pfa = stats.norm.sf([2.5, 0.5])
    truth = np.sqrt(pmiss * (1 - pmiss) / 40 + 19**2 * pfa * (1 - pfa) / 1560)
    assert formula == pytest.approx(truth, rel=0.1)
    assert bootstrap == pytest.approx(np.sqrt(3) * truth, rel=0.1)


class TestNothingVaries:
    """Answers that cannot mislead where replicates, or speakers, do not differ."""

    def test_a_plan_from_a_pilot_without_errors(self) -> None:
        separated = Scores(np.where(SAME, 5.0, -5.0), NAMES, NAMES)
        with pytest.warns(FewErrorsWarning):
            pilot = unc.speaker_errors(separated, KEY, 0.0, speakers=lambda name: name)
        with pytest.raises(InvalidInputError, match="does not tell how many are needed"):
            pilot.speakers_needed(unc.DCF(0.0, 0.05, 10, 1), 0.01)

    def test_two_speakers_have_one_replicate(self) -> None:
        """Replicates that lack a class are dropped; the others are the data themselves."""
        names, same = ["a", "b"], np.eye(2, dtype=bool)
        scores = Scores(np.array([[2.0, -1.0], [-3.0, 4.0]]), names, names)
        key, options = Key(names, names, same, ~same), {"speakers": lambda name: name}
        with pytest.warns(DegenerateReplicatesWarning):
            result = unc.bootstrap_scores(
                scores, key, unc.Cllr(), **options, replications=200, rng=1
            )
        with pytest.warns(FewSpeakersWarning):
            formula = unc.speaker_interval(scores, key, unc.Cllr(), **options)
        assert (result.low, result.high) == pytest.approx((formula.low, formula.high))
        assert result.low < 0.1 * result.estimate < result.high

    @pytest.mark.parametrize(
        ("curve", "most"),
        [
            (unc.DETCurve([0.1, 0.5]), 1.0),
            (unc.MinDCFCurve([-1.0, 0.0]), 1.0),
            (unc.ActDCFCurve([0.0]), 2.0),
        ],
    )
    def test_pointwise_bands(self, curve: unc.DETCurve, most: float) -> None:
        """Twelve speakers without an error may have one with a chance of 1 - 0.025^(1/12)."""
        separated = Scores(np.where(SAME, 5.0, -5.0), NAMES, NAMES)
        with pytest.warns(FewErrorsWarning, match="rests on 0 errors|rest on few errors, from 0"):
            result = unc.bootstrap_scores(
                separated, KEY, curve, speakers=lambda name: name, replications=50, rng=1
            )
        band = curve.band(result)
        assert not band.low.any()
        assert band.high == pytest.approx(most * (1 - 0.025 ** (1 / 12)))

    def test_systems_that_differ_by_rounding(self) -> None:
        first = matrix(5)
        second = Scores(first.scoremat + 1e-13, NAMES, NAMES)
        with pytest.warns(FewSpeakersWarning):
            pair = unc.paired_bootstrap(
                first, second, KEY, unc.Cllr(), speakers=lambda name: name, replications=50, rng=1
            )
        assert (pair.difference, pair.z, pair.p_value) == (0.0, 0.0, 1.0)
