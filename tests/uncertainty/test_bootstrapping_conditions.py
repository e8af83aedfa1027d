"""Condition-weighted bootstraps against closed forms, plain loops, and each other."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from bosaris_py import IdMap, Key, numerics, uncertainty as unc
from bosaris_py.errors import (
    ConditionWarning,
    DegenerateReplicatesWarning,
    FewErrorsWarning,
    InvalidInputError,
    TrialMismatchError,
)
from bosaris_py.trials import Conditions
from bosaris_py.trials.strata import Strata
from bosaris_py.uncertainty.resampling import effective_errors
from tests.crossed_trials import CrossedExperiment, CrossedTrials
from tests.uncertainty import naive_conditions as naive

# Small data are quick; few errors have a test of their own below.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

METHODS = ("iid", "one-layer", "two-layer")
SHARES = {"a": 0.5, "b": 0.3, "c": 0.2}
STATISTICS = (
    unc.DCF(0.5, 0.01, 10, 1), unc.ActDCF([0.1, 0.5]), unc.ErrorRates([-1.0, 0.0, 2.0]), unc.Cllr(),
    unc.MinDCF(0.3), unc.MinDCF([0.1, 0.3]), unc.EER(), unc.AUC(), unc.MinCllr(),
    unc.DETCurve([0.1, 0.3]), unc.ActDCFCurve([-1.0, 1.0]), unc.MinDCFCurve([-1.0, 1.0]),
)  # fmt: skip


def draw_trials(seed: int, n_tar: int, n_non: int, n_sets: int) -> dict[str, np.ndarray]:
    """Draw scores whose condition shifts them, in sets that span conditions."""
    rng = np.random.default_rng(seed)
    result = {}
    for name, size, mean in (("tar", n_tar, 2.0), ("non", n_non, 0.0)):
        labels = rng.choice(list(SHARES), size, p=[0.2, 0.3, 0.5])
        shift = np.select([labels == "a", labels == "b"], [-0.7, 0.2], 0.5)
        sets = rng.integers(0, n_sets, size)
        result[name] = (mean + shift + 0.3 * (sets % 3) + rng.normal(size=size)).round(1)
        result[f"{name}_conditions"], result[f"{name}_sets"] = labels, sets
    return result


def options_of(trials: dict[str, np.ndarray], method: str) -> dict[str, Any]:
    names = ["tar_conditions", "non_conditions"]
    if method != "iid":
        names += ["tar_sets", "non_sets"]
    return {"method": method, "condition_weights": SHARES, **{name: trials[name] for name in names}}


def codes_of(trials: dict[str, np.ndarray], name: str) -> np.ndarray:
    return np.unique(trials[f"{name}_conditions"], return_inverse=True)[1]


def lists_of(trials: dict[str, np.ndarray]) -> list[naive.Lists]:
    return [
        [trials[name][trials[f"{name}_conditions"] == label] for label in SHARES]
        for name in ("tar", "non")
    ]


NAIVE: list[tuple[unc.Statistic, Callable[..., float]]] = [
    (unc.DCF(0.5, 0.3, 1, 1), naive.cost_at(0.5, 0.3)),
    (unc.MinDCF(0.3), naive.min_cost(0.3)),
    (unc.AUC(), naive.area),
    (unc.Cllr(), naive.bits),
]
each_naive = pytest.mark.parametrize(
    ("statistic", "plain"), NAIVE, ids=[repr(statistic) for statistic, _ in NAIVE]
)
both_shares = [np.array(list(SHARES.values()))] * 2


class TestAgainstFormulas:
    def test_standard_error_of_a_cost(self) -> None:
        """Independent binomials: sum over conditions of w^2 p (1 - p) / n."""
        trials = draw_trials(1, 400, 900, 5)
        tar, non = lists_of(trials)
        variance = 0.0
        for price, lists, error in ((0.1, tar, lambda x: x < 0.5), (0.99, non, lambda x: x >= 0.5)):
            for share, scores in zip(SHARES.values(), lists, strict=True):
                p = np.mean(error(scores))
                variance += price**2 * share**2 * p * (1 - p) / scores.size
        n = 20_000
        result = unc.bootstrap(
            trials["tar"], trials["non"], unc.DCF(0.5, 0.01, 10, 1), **options_of(trials, "iid"),
            replications=n, rng=2,
        )  # fmt: skip
        pmiss, pfa = naive.rates(tar, non, both_shares, 0.5)
        assert result.estimate == pytest.approx(0.1 * pmiss + 0.99 * pfa, rel=1e-12)
        # A standard error from 20000 replicates is itself known to 0.5 %.
        assert result.standard_error == pytest.approx(np.sqrt(variance), rel=0.025)
        tolerance = 5 * np.sqrt(variance / n)
        assert result.replicates.mean() == pytest.approx(result.estimate, abs=tolerance)

    def test_all_ways_to_pick_three_sets(self) -> None:
        """The sets have 2 + 0, 1 + 2 and 2 + 1 targets of two conditions."""
        sets = np.array([0, 0, 1, 1, 1, 2, 2, 2])
        labels = np.array(["x", "x", "x", "y", "y", "x", "x", "y"])
        missed = np.array([1, 0, 0, 1, 1, 0, 1, 0])
        rates, lost = [], 0
        for picks in itertools.product(range(3), repeat=3):
            weights = np.bincount(picks, minlength=3)[sets]
            if not weights[labels == "y"].any():
                lost += 1
                continue
            parts = [np.average(missed[labels == c], weights=weights[labels == c]) for c in "xy"]
            rates.append(0.25 * parts[0] + 0.75 * parts[1])
        n = 20_000
        with pytest.warns(DegenerateReplicatesWarning):
            result = unc.bootstrap(
                -missed, np.zeros(4), unc.ErrorRates(0.0), method="one-layer",
                tar_sets=sets, non_sets=[0, 0, 1, 1], tar_conditions=labels,
                non_conditions=["x", "y"] * 2, condition_weights={"x": 0.25, "y": 0.75},
                replications=n, rng=3,
            )  # fmt: skip
        assert lost == 1
        assert result.n_degenerate == pytest.approx(n / 27, abs=5 * np.sqrt(n / 27))
        drawn = result.replicates[:, 0][np.isfinite(result.replicates[:, 0])]
        values, chances = np.unique(np.round(rates, 12), return_counts=True)
        chances = chances / len(rates)
        found = np.bincount(np.searchsorted(values, drawn.round(12)), minlength=values.size)
        assert np.isin(drawn.round(12), values).all()
        assert stats.chisquare(found, chances * drawn.size).pvalue > 1e-3


class TestAgainstPlainLoops:
    @each_naive
    def test_estimate(self, statistic: unc.Statistic, plain: Callable[..., float]) -> None:
        trials = draw_trials(4, 40, 60, 7)
        result = unc.bootstrap(
            trials["tar"], trials["non"], statistic, **options_of(trials, "iid"),
            replications=2, rng=1,
        )  # fmt: skip
        assert result.estimate == pytest.approx(plain(*lists_of(trials), both_shares), rel=1e-12)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning")
    @pytest.mark.parametrize("method", METHODS)
    @each_naive
    def test_distribution(
        self, statistic: unc.Statistic, plain: Callable[..., float], method: str
    ) -> None:
        trials = draw_trials(5, 25, 40, 6)
        n = 1500
        result = unc.bootstrap(
            trials["tar"], trials["non"], statistic, **options_of(trials, method),
            replications=n, rng=6,
        )  # fmt: skip
        tar, non = (
            (trials[name], codes_of(trials, name), trials[f"{name}_sets"])
            for name in ("tar", "non")
        )
        expected = naive.plain_replicates(
            tar, non, both_shares, plain, np.random.default_rng(7), n, method
        )
        assert naive.same_law(result.replicates, expected)

    @pytest.mark.slow
    @pytest.mark.parametrize("statistic", [unc.EER(), unc.MinCllr(), unc.MinDCF([0.1, 0.3])])
    def test_iid_curves_by_weights(self, statistic: unc.Statistic) -> None:
        """The general path, for which a user's function stands."""
        trials = draw_trials(8, 60, 90, 6)
        results = [
            unc.bootstrap(
                trials["tar"], trials["non"], f, **options_of(trials, "iid"),
                replications=2000, rng=seed,
            )
            for seed, f in ((9, statistic), (10, lambda *arguments: statistic(*arguments)))
        ]  # fmt: skip
        fast, slow = (result.replicates.reshape(2000, -1)[:, 0] for result in results)
        assert naive.same_law(fast, slow)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning")
class TestOneMetric:
    """The same weights make the same replicates, whichever way they are computed."""

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["one-layer", "two-layer"])
    @pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
    def test_sets_of_weighted_trials(self, statistic: unc.Statistic, method: str) -> None:
        """Weights are drawn in the order of sorted scores, so compare distributions."""
        trials = draw_trials(11, 60, 90, 5)
        results = [
            unc.bootstrap(
                trials["tar"], trials["non"], f, **options_of(trials, method),
                replications=1000, rng=seed,
            )
            for seed, f in ((12, statistic), (13, lambda *arguments: statistic(*arguments)))
        ]  # fmt: skip
        assert np.allclose(results[0].estimate, results[1].estimate, rtol=1e-12)
        for fast, slow in zip(
            *(result.replicates.reshape(1000, -1).T for result in results), strict=True
        ):
            assert naive.same_law(fast, slow)

    @pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
    def test_speakers(self, crossed: CrossedTrials, statistic: unc.Statistic) -> None:
        conditions = naive.conditions_by_phone_match(crossed, {"same": 0.7, "other": 0.3})
        fast, slow = (
            unc.bootstrap_scores(
                crossed.scores, crossed.key, f, **speaker_maps(crossed),
                conditions=conditions, replications=60, rng=14,
            )
            for f in (statistic, lambda *arguments: statistic(*arguments))
        )  # fmt: skip
        assert fast.n_degenerate == slow.n_degenerate
        assert np.allclose(fast.replicates, slow.replicates, rtol=1e-11, atol=1e-13, equal_nan=True)

    @pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer", "speaker"])
    @pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
    def test_one_condition_is_none(
        self, crossed: CrossedTrials, statistic: unc.Statistic, method: str
    ) -> None:
        everything = Conditions({"all": np.ones(crossed.key.n_trials, dtype=bool)})
        options = {"speakers": (crossed.model_speakers, None)}
        if method == "speaker":
            options = speaker_maps(crossed)
        alone, plain = (
            unc.bootstrap_scores(
                crossed.scores, crossed.key, statistic, method=method, **options,
                conditions=conditions, replications=20, rng=15,
            )
            for conditions in (everything, None)
        )  # fmt: skip
        assert np.array_equal(alone.estimate, plain.estimate)
        assert np.array_equal(alone.replicates, plain.replicates, equal_nan=True)


def speaker_maps(data: CrossedTrials) -> dict[str, tuple[IdMap, IdMap]]:
    return {"speakers": (data.model_speakers, data.segment_speakers)}


@pytest.fixture(scope="module")
def crossed() -> CrossedTrials:
    experiment = CrossedExperiment(n_speakers=12, n_models=2, n_segments=4, tar_mean=1.5)
    return experiment.draw(np.random.default_rng(16))


class TestMatrix:
    def test_the_same_as_vectors(self, crossed: CrossedTrials) -> None:
        conditions = naive.conditions_by_phone_match(crossed, {"same": 0.7, "other": 0.3})
        tar, non = crossed.trials()
        labels = []
        models, segments = crossed.key.trial_positions()
        same = np.where(models % 2 == segments % 2, "same", "other")
        is_target = crossed.key.trial_labels()
        labels = [same[is_target], same[~is_target]]
        for statistic in (unc.MinDCF(0.2), unc.DCF(0.0, 0.01, 10, 1), unc.Cllr()):
            of_matrix = unc.bootstrap_scores(
                crossed.scores, crossed.key, statistic, method="iid", conditions=conditions,
                replications=50, rng=17,
            )  # fmt: skip
            of_vectors = unc.bootstrap(
                tar, non, statistic, tar_conditions=labels[0], non_conditions=labels[1],
                condition_weights={"same": 0.7, "other": 0.3}, replications=50, rng=17,
            )  # fmt: skip
            assert of_matrix.estimate == of_vectors.estimate
            # Conditions are numbered in another order, so draws differ.
            assert of_matrix.standard_error == pytest.approx(of_vectors.standard_error, rel=0.5)

    def test_estimate_is_that_of_the_weighted_metric(self, crossed: CrossedTrials) -> None:
        conditions = naive.conditions_by_phone_match(crossed, {"same": 0.7, "other": 0.3})
        tar_weights, non_weights = conditions.trial_weights(crossed.key)
        expected = numerics.eer(*crossed.trials(), tar_weights=tar_weights, non_weights=non_weights)
        result = unc.bootstrap_scores(
            crossed.scores, crossed.key, unc.EER(), **speaker_maps(crossed),
            conditions=conditions, replications=10, rng=18,
        )  # fmt: skip
        assert result.estimate == pytest.approx(expected, rel=1e-12)

    def test_trials_without_a_condition_do_not_count(self, crossed: CrossedTrials) -> None:
        models, _ = crossed.key.trial_positions()
        kept = models < 16
        parts = {"even": kept & (models % 2 == 0), "odd": kept & (models % 2 == 1)}
        conditions = Conditions(parts, uncovered="ignore")
        smaller_key = Key(
            crossed.key.modelset[:16], crossed.key.segset, crossed.key.tar[:16],
            crossed.key.non[:16],
        )  # fmt: skip
        smaller = Conditions(
            {"even": smaller_key.trial_positions()[0] % 2 == 0,
             "odd": smaller_key.trial_positions()[0] % 2 == 1}
        )  # fmt: skip
        results = [
            unc.bootstrap_scores(
                crossed.scores, key, unc.Cllr(), **speaker_maps(crossed), conditions=c,
                replications=20, rng=19,
            )
            for key, c in ((crossed.key, conditions), (smaller_key, smaller))
        ]  # fmt: skip
        assert np.allclose(results[0].replicates, results[1].replicates, rtol=1e-12)

    def test_a_condition_of_one_class(self, crossed: CrossedTrials) -> None:
        """Weights are scaled up in the class that lacks a condition."""
        models, _ = crossed.key.trial_positions()
        is_target = crossed.key.trial_labels()
        labels = np.where(is_target | (models % 2 == 0), "x", "y")
        conditions = Conditions.from_labels(
            crossed.key, labels, {"x": 0.25, "y": 0.75}, order="columns"
        )
        with pytest.warns(ConditionWarning, match="1 condition has no targets"):
            result = unc.bootstrap_scores(
                crossed.scores, crossed.key, unc.ErrorRates(0.0), **speaker_maps(crossed),
                conditions=conditions, replications=10, rng=20,
            )  # fmt: skip
        tar, non = crossed.trials()
        of_x = labels[~is_target] == "x"
        pfa = 0.25 * np.mean(non[of_x] >= 0) + 0.75 * np.mean(non[~of_x] >= 0)
        assert np.allclose(result.estimate, [np.mean(tar < 0), pfa], rtol=1e-12)

    def test_a_condition_that_a_replicate_loses(self, crossed: CrossedTrials) -> None:
        """One speaker has all targets of a condition; her chance to be lost is (1 - 1/12)^12."""
        models, _ = crossed.key.trial_positions()
        conditions = Conditions.from_labels(
            crossed.key, np.where(models < 2, "hers", "others"), order="columns"
        )
        options = {**speaker_maps(crossed), "conditions": conditions, "rng": 21}
        n = 400
        for statistic in (unc.DCF(0.0, 0.01, 10, 1), unc.EER()):
            with pytest.warns(DegenerateReplicatesWarning):
                result = unc.bootstrap_scores(
                    crossed.scores, crossed.key, statistic, replications=n, **options
                )
            chance = (11 / 12) ** 12
            spread = np.sqrt(n * chance * (1 - chance))
            assert abs(result.n_degenerate - n * chance) < 5 * spread


class TestPaired:
    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning")
    @pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer", "speaker"])
    @pytest.mark.parametrize(
        "statistic", [unc.DCF(0.0, 0.01, 10, 1), unc.ErrorRates([0.0, 1.0]), unc.EER()]
    )
    def test_each_system_as_alone(self, statistic: unc.Statistic, method: str) -> None:
        experiment = CrossedExperiment(n_speakers=12, n_models=2, n_segments=4, tar_mean=1.5)
        a, b = experiment.draw_systems(np.random.default_rng(22), n_systems=2, shared=0.95)
        options = {"speakers": (a.model_speakers, None)}
        if method == "speaker":
            options = speaker_maps(a)
        options |= {
            "method": method,
            "conditions": naive.conditions_by_phone_match(a, {"same": 0.7, "other": 0.3}),
        }
        n = 1500
        paired = unc.paired_bootstrap(
            a.scores, b.scores, a.key, statistic, **options, replications=n, rng=23
        )
        for of_pair, data in ((paired.first, a), (paired.second, b)):
            alone = unc.bootstrap_scores(
                data.scores, data.key, statistic, **options, replications=n, rng=34
            )
            assert np.allclose(of_pair.estimate, alone.estimate, rtol=1e-12)
            for x, y in zip(
                *(r.replicates.reshape(n, -1).T for r in (of_pair, alone)), strict=True
            ):
                assert naive.same_law(x, y)
        # Systems that share most of every variance make errors together.
        assert np.all(np.asarray(paired.correlation) > 0.2)


class TestRandomness:
    @pytest.mark.slow
    @pytest.mark.parametrize("statistic", [unc.EER(), unc.Cllr()])
    def test_workers_do_not_matter(self, statistic: unc.Statistic) -> None:
        trials = draw_trials(25, 60, 90, 5)
        results = [
            unc.bootstrap(
                trials["tar"], trials["non"], statistic, **options_of(trials, "iid"),
                replications=600, rng=26, workers=n,
            )
            for n in (1, 2)
        ]  # fmt: skip
        assert np.array_equal(*(result.replicates for result in results))

    def test_standard_error_distribution(self) -> None:
        trials = draw_trials(27, 200, 300, 5)
        runs = unc.standard_error_distribution(
            trials["tar"],
            trials["non"],
            unc.DCF(0.5, 0.01, 10, 1),
            **options_of(trials, "iid"),
            runs=30,
            rng=28,
        )
        single = unc.bootstrap(
            trials["tar"],
            trials["non"],
            unc.DCF(0.5, 0.01, 10, 1),
            **options_of(trials, "iid"),
            rng=29,
        )
        assert runs.estimate == single.estimate
        assert runs.mean == pytest.approx(single.standard_error, rel=0.08)


class TestFewErrors:
    def test_effective_number(self) -> None:
        # Alike conditions: the errors add. One error of weight 9 among 81 of weight 1: 2 / 162.
        assert effective_errors(np.array([[3], [7]]), np.array([0.1, 0.1])) == pytest.approx(10.0)
        found = effective_errors(np.array([1, 81]), np.array([9.0, 1.0]))
        assert found == pytest.approx(90**2 / 162)
        # A condition without errors counts as one with a single error.
        assert effective_errors(np.array([0, 90]), np.array([9.0, 1.0])) == pytest.approx(
            90**2 / 171
        )

    @pytest.mark.filterwarnings("default::bosaris_py.errors.FewErrorsWarning")
    def test_a_rare_condition_of_large_weight(self) -> None:
        """40 misses, but half of the weight rests on two trials."""
        tar = np.concatenate((np.repeat([-1.0, 1.0], [40, 160]), [-1.0, 1.0]))
        labels = np.repeat(["common", "rare"], [200, 2])
        options = {"tar_conditions": labels, "non_conditions": ["common"] * 199 + ["rare"]}
        non = np.repeat([1.0, -1.0], [60, 140])
        # (40 / 400 + 1 / 4)^2 / (40 / 400^2 + 1 / 4^2) = 1.95
        with pytest.warns(FewErrorsWarning, match="^The miss rate rests on 1.95 errors"):
            unc.bootstrap(tar, non, unc.DCF(0.0, 0.01, 10, 1), **options, replications=20, rng=1)


class TestStrata:
    def test_picks_keep_the_sizes_of_conditions(self) -> None:
        labels = np.array([2, 0, 1, 0, 2, 2, 1])
        strata = Strata.from_codes(labels, np.array([0.2, 0.3, 0.5]))
        picks = strata.draw_picks(np.random.default_rng(1))
        assert np.bincount(labels, picks).tolist() == [2, 2, 3]
        weights = strata.weigh(picks)
        assert np.bincount(labels, weights) == pytest.approx([0.2, 0.3, 0.5])

    def test_conditions_without_trials_leave_their_weight_to_the_others(self) -> None:
        strata = Strata.from_codes(np.array([2, 0, 2]), np.array([0.2, 0.3, 0.3]))
        assert strata.shares == pytest.approx([0.4, 0.6])
        assert strata.trial_weights() == pytest.approx([0.3, 0.4, 0.3])


TAR, NON = [1.0, 2.0, 0.5, 3.0], [0.0, 1.5, 0.7]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tar_conditions": None}, "`tar_conditions` must be given like the other"),
        ({"tar_conditions": ["a", "b"]}, "one label for each of the 4 trials; got 2 labels"),
        ({"tar_conditions": ["a", None, "b", "b"]}, "must tell the set of each trial|None"),
        ({"condition_weights": [0.5, 0.5]}, "map the label of each condition to its weight"),
        ({"condition_weights": {"a": 1.0}}, "no others; got none for b"),
        (
            {"condition_weights": {"a": 0.5, "b": 0.3, "z": 0.2}},
            "no others; got conditions without trials: z",
        ),
        ({"condition_weights": {"a": 0.5, "b": 0.4}}, "must sum to one; got the sum 0.9"),
        ({"condition_weights": {"a": 1.5, "b": -0.5}}, "must be finite and positive"),
        ({"condition_weights": {"a": "much", "b": 0.5}}, "must be numbers"),
        (
            {"tar_conditions": None, "non_conditions": None, "condition_weights": {"a": 1.0}},
            "`condition_weights` .* left out where there are no conditions",
        ),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    options: dict[str, Any] = {
        "tar_conditions": ["a", "b", "a", "b"],
        "non_conditions": ["a", "b", "b"],
        **changes,
    }
    with pytest.raises(InvalidInputError, match=message):
        unc.bootstrap(TAR, NON, unc.EER(), **options)


def test_bad_conditions_of_a_matrix(crossed: CrossedTrials) -> None:
    masks = {"x": np.ones(crossed.key.n_trials, dtype=bool)}
    masks["y"] = np.arange(crossed.key.n_trials) < 900
    with pytest.raises(InvalidInputError, match=r"`conditions` .* not overlap"):
        unc.bootstrap_scores(
            crossed.scores, crossed.key, unc.EER(), **speaker_maps(crossed),
            conditions=Conditions(masks, overlap="allow"),
        )  # fmt: skip
    with pytest.raises(InvalidInputError, match=r"`conditions` must be a Conditions object"):
        unc.bootstrap_scores(
            crossed.scores, crossed.key, unc.EER(), **speaker_maps(crossed), conditions=masks
        )
    with pytest.raises(TrialMismatchError, match="to none belong"):
        unc.bootstrap_scores(
            crossed.scores, crossed.key, unc.EER(), **speaker_maps(crossed),
            conditions=Conditions({"y": masks["y"]}),
        )  # fmt: skip


@pytest.mark.slow
def test_coverage_of_the_interval_of_an_equalised_cost() -> None:
    """A rare condition with half of the weight: the pooled interval would be another one's."""
    rng = np.random.default_rng(30)
    means, n_tar, n_non = {"x": 2.0, "y": 1.2}, {"x": 900, "y": 100}, {"x": 3000, "y": 300}
    labels = [np.repeat(list(n), list(n.values())) for n in (n_tar, n_non)]
    centres = [np.where(part == "x", 2.0, 1.2) for part in labels]
    cost = unc.DCF(0.5, 0.5, 1, 1)
    pmiss = np.mean([special.ndtr(0.5 - m) for m in means.values()])
    pfa = np.mean([special.ndtr(-0.5 - m) for m in means.values()])
    truth, n_runs = 0.5 * (pmiss + pfa), 600
    covered = 0
    for _ in range(n_runs):
        tar, non = (
            sign * c + rng.normal(size=c.size) for sign, c in zip((1, -1), centres, strict=True)
        )
        result = unc.bootstrap(
            tar, non, cost, tar_conditions=labels[0], non_conditions=labels[1],
            replications=500, rng=rng,
        )  # fmt: skip
        covered += result.low <= truth <= result.high
    assert stats.binomtest(covered, n_runs, 0.945).pvalue > 1e-3
