"""The bootstrap of a score matrix, against enumeration, closed forms and simulated truth."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from bosaris_py import IdMap, Key, Scores, uncertainty as unc
from bosaris_py.errors import DegenerateReplicatesWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.uncertainty.resampling import PersonWeights, SpeakerPlan
from tests.crossed_trials import CrossedExperiment, CrossedTrials
from tests.uncertainty.speaker_samples import speaker_sample

# Small data are quick; the warning has tests of its own, in test_few_errors.py.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

METHODS = ("iid", "one-layer", "two-layer", "speaker")
COST = unc.DCF(0.0, 0.05, 1, 1, normalize=True)
STATISTICS = (
    COST, unc.ActDCF([0.1, 0.5]), unc.ErrorRates([-1.0, 0.0, 2.0]), unc.Cllr(), unc.MinDCF(0.3),
    unc.EER(), unc.AUC(), unc.MinCllr(),
)  # fmt: skip
EXPERIMENT = CrossedExperiment(n_speakers=12, n_models=2, n_segments=3, tar_mean=1.5)


@pytest.fixture(scope="module")
def large() -> CrossedTrials:
    return CrossedExperiment(n_speakers=80, tar_mean=2.0).draw(np.random.default_rng(20))


def speaker_maps(data: CrossedTrials) -> dict[str, tuple[IdMap, IdMap]]:
    return {"speakers": (data.model_speakers, data.segment_speakers)}


@pytest.fixture(scope="module")
def crossed() -> CrossedTrials:
    return EXPERIMENT.draw(np.random.default_rng(1))


@pytest.fixture(scope="module")
def sparse(crossed: CrossedTrials) -> CrossedTrials:
    """A list of trials rather than a matrix, with rounded scores that tie."""
    kept = np.random.default_rng(2).random(crossed.key.tar.shape) < 0.3
    key = Key(crossed.key.modelset, crossed.key.segset, crossed.key.tar & kept,
              crossed.key.non & kept)  # fmt: skip
    scores = crossed.scores.transform(np.round)
    return CrossedTrials(scores, key, crossed.model_speakers, crossed.segment_speakers)


def naive_weights(
    data: CrossedTrials, first: np.ndarray, second: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Weight of each trial, trial by trial, column by column, by name of the speaker.

    `first` and `second` are in alphabetical order of the speakers.
    """
    names = sorted(set(data.model_speakers.rightids.tolist()))
    of_model = dict(zip(data.model_speakers.leftids, data.model_speakers.rightids, strict=True))
    of_segment = dict(
        zip(data.segment_speakers.leftids, data.segment_speakers.rightids, strict=True)
    )
    tar, non = [], []
    for j, segment in enumerate(data.key.segset):
        for i, model in enumerate(data.key.modelset):
            a, b = names.index(of_model[model]), names.index(of_segment[segment])
            if data.key.tar[i, j]:
                tar.append(first[a] if second is None else first[a] * second[b])
            if data.key.non[i, j]:
                non.append(first[a] * (first if second is None else second)[b])
    return np.array(tar), np.array(non)


def record_weights(seen: list[tuple[np.ndarray, np.ndarray]]) -> Callable[..., float]:
    def spy(tar: np.ndarray, non: np.ndarray, tw: np.ndarray, nw: np.ndarray) -> float:
        seen.append((tw, nw))
        return float(tw.sum())

    return spy


class TestWeights:
    @pytest.mark.parametrize("pigeonhole", [False, True])
    def test_of_every_trial(
        self, crossed: CrossedTrials, sparse: CrossedTrials, *, pigeonhole: bool
    ) -> None:
        for data in (crossed, sparse):
            seen: list[tuple[np.ndarray, np.ndarray]] = []
            unc.bootstrap_scores(
                data.scores, data.key, record_weights(seen), **speaker_maps(data),
                pigeonhole=pigeonhole, replications=5, rng=3,
            )  # fmt: skip
            assert np.array_equal(seen[0][0], np.ones(data.key.n_tar))
            # The generator of the first block of replicates draws the persons' weights.
            (child,) = np.random.default_rng(3).spawn(1)
            persons = PersonWeights(12, 12 if pigeonhole else None)
            first, second = persons.draw(5, child)
            for i, (tar, non) in enumerate(seen[1:]):
                expected = naive_weights(data, first[i], second[i] if pigeonhole else None)
                assert np.array_equal(tar, expected[0])
                assert np.array_equal(non, expected[1])

    @pytest.mark.slow
    def test_all_weights_of_three_speakers_in_their_frequencies(self) -> None:
        """27 equally likely picks of three speakers from three; all trials of a 3 x 3 matrix."""
        names, same = ["a", "b", "c"], np.eye(3, dtype=bool)
        scores, key = Scores(np.zeros((3, 3)), names, names), Key(names, names, same, ~same)
        exact: dict[tuple[int, ...], float] = {}
        for picks in itertools.product(range(3), repeat=3):
            w = np.bincount(picks, minlength=3)
            tar = [w[0], w[1], w[2]]
            non = [w[1] * w[0], w[2] * w[0], w[0] * w[1], w[2] * w[1], w[0] * w[2], w[1] * w[2]]
            trials = tuple(int(x) for x in (*tar, *non))
            exact[trials] = exact.get(trials, 0.0) + 1 / 27

        def all_weights(t: object, n: object, tw: np.ndarray, nw: np.ndarray) -> np.ndarray:
            return np.concatenate((tw, nw))

        n = 20_000
        with pytest.warns(DegenerateReplicatesWarning):
            result = unc.bootstrap_scores(scores, key, all_weights, replications=n, rng=4)
        # One speaker picked three times: no non-target trial is left, 3 of the 27.
        lost = {trials for trials in exact if not any(trials[3:])}
        chance = sum(exact.pop(trials) for trials in lost)
        assert chance == pytest.approx(3 / 27)
        assert abs(result.n_degenerate - n * chance) < 5 * np.sqrt(n * chance * (1 - chance))
        defined = result.replicates[np.isfinite(result.replicates).all(axis=1)].astype(int)
        values, counts = np.unique(defined, axis=0, return_counts=True)
        assert {tuple(row) for row in values.tolist()} == set(exact)
        expected = [exact[tuple(row)] * defined.shape[0] / (1 - chance) for row in values.tolist()]
        assert stats.chisquare(counts, expected).pvalue > 1e-3

    def test_mean_and_variance_of_a_speaker_s_weight(self) -> None:
        n = 20_000
        drawn, again = PersonWeights(5, None).draw(n, np.random.default_rng(5))
        assert again is drawn
        # Five standard deviations.
        assert np.allclose(drawn.mean(axis=0), 1, atol=5 / np.sqrt(n))
        assert np.allclose(drawn.var(axis=0), 0.8, atol=5 * 3 / np.sqrt(n))
        assert np.all(drawn.sum(axis=1) == 5)

    def test_sides_of_a_pigeonhole_are_independent(self) -> None:
        n = 5000
        first, second = PersonWeights(4, 3).draw(n, np.random.default_rng(6))
        between = np.corrcoef(first.T, second.T)[:4, 4:]
        assert np.allclose(between, 0, atol=5 / np.sqrt(n))

    def test_drawing_several_at_once_makes_no_difference(self) -> None:
        for n_second in (None, 3):
            persons = PersonWeights(7, n_second)
            at_once = persons.draw(4, np.random.default_rng(7))
            rng = np.random.default_rng(7)
            singly = [persons.draw(1, rng) for _ in range(4)]
            for side in (0, 1):
                one_by_one = np.concatenate([pair[side] for pair in singly])
                assert np.array_equal(at_once[side], one_by_one)

    def test_reordered_plan_moves_the_weights(self, sparse: CrossedTrials) -> None:
        rng = np.random.default_rng(8)
        tar, non = (tuple(rng.integers(0, 9, (2, n))) for n in (20, 50))
        non = (non[0], 9 + non[1])  # never the same speaker on both sides
        sample = speaker_sample((np.zeros(20), tar), (np.zeros(50), non))
        plan = SpeakerPlan.of(sample, pigeonhole=False)
        orders = rng.permutation(20), rng.permutation(50)
        plain = plan.draw_weights(np.random.default_rng(9))
        moved = plan.reordered(*orders).draw_weights(np.random.default_rng(9))
        for before, after, order in zip(plain, moved, orders, strict=True):
            assert np.array_equal(before[order], after)


class TestFastPaths:
    """The same generator gives the same weights, so replicates agree one by one."""

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning")
    @pytest.mark.parametrize("pigeonhole", [False, True])
    @pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
    def test_equal_the_slow_path(
        self,
        crossed: CrossedTrials,
        sparse: CrossedTrials,
        statistic: unc.Statistic,
        *,
        pigeonhole: bool,
    ) -> None:
        def slowly(*arguments: np.ndarray) -> object:
            return statistic(*arguments)

        for data in (crossed, sparse):
            fast, slow = (
                unc.bootstrap_scores(
                    data.scores, data.key, f, **speaker_maps(data),
                    pigeonhole=pigeonhole, replications=60, rng=10,
                )
                for f in (statistic, slowly)
            )  # fmt: skip
            assert fast.n_degenerate == slow.n_degenerate < 5
            assert np.allclose(
                fast.replicates, slow.replicates, rtol=1e-12, atol=1e-14, equal_nan=True
            )

    @pytest.mark.parametrize("statistic", [COST, unc.Cllr(), unc.ErrorRates([-1.0, 1.0])], ids=repr)
    @pytest.mark.parametrize("pigeonhole", [False, True])
    def test_pairs_that_rarely_meet(
        self,
        sparse: CrossedTrials,
        statistic: unc.Statistic,
        monkeypatch: pytest.MonkeyPatch,
        *,
        pigeonhole: bool,
    ) -> None:
        """With thousands of speakers few pairs meet, and a table of all pairs is not made."""
        results = []
        for cells in (2**18, 0):
            monkeypatch.setattr("bosaris_py.uncertainty.speaker_curve._SMALL_TABLE", cells)
            # A few trials at a time.
            monkeypatch.setattr("bosaris_py.uncertainty.speaker_curve._PRODUCTS_AT_A_TIME", 1000)
            results.append(
                unc.bootstrap_scores(
                    sparse.scores, sparse.key, statistic, **speaker_maps(sparse),
                    pigeonhole=pigeonhole, replications=60, rng=11,
                ).replicates
            )  # fmt: skip
        assert np.allclose(*results, rtol=1e-12)


class TestStandardErrors:
    @pytest.mark.slow
    def test_agrees_with_the_formula(self, large: CrossedTrials) -> None:
        exact = unc.dcf_standard_error_scores(large.scores, large.key, COST, **speaker_maps(large))
        result = unc.bootstrap_scores(
            large.scores, large.key, COST, **speaker_maps(large), replications=20_000, rng=21
        )
        # The formula has K / (K - 1) = 1.3 % where the multinomial law has (K - 1) / K, in the
        # variance, and counts single pairs once: together a few per cent.
        assert result.standard_error == pytest.approx(exact, rel=0.06)

    @pytest.mark.slow
    def test_covariance_of_the_rates_agrees_with_the_formula(self, large: CrossedTrials) -> None:
        formula = unc.speaker_errors(large.scores, large.key, 0.0, **speaker_maps(large))
        result = unc.bootstrap_scores(
            large.scores, large.key, unc.ErrorRates(0.0), **speaker_maps(large),
            replications=20_000, rng=22,
        )  # fmt: skip
        drawn = np.cov(result.replicates.T)
        assert np.sqrt(np.diag(drawn)) == pytest.approx(
            np.sqrt(np.diag(formula.covariance)), rel=0.08
        )
        correlations = [c[0, 1] / np.sqrt(c[0, 0] * c[1, 1]) for c in (drawn, formula.covariance)]
        assert correlations[0] == pytest.approx(correlations[1], abs=0.08)

    @pytest.mark.slow
    def test_error_of_a_miss_rate_in_closed_form(self, large: CrossedTrials) -> None:
        """Equally many targets of each speaker: the miss rate is a mean of speakers' rates."""
        tar = large.key.tar
        misses = (large.scores.scoremat < 0) & tar
        rates = misses.reshape(80, 2, -1).sum(axis=(1, 2)) / tar.reshape(80, 2, -1).sum(axis=(1, 2))
        n = 20_000
        result = unc.bootstrap_scores(
            large.scores, large.key, unc.ErrorRates(0.0), **speaker_maps(large),
            replications=n, rng=23,
        )  # fmt: skip
        # Never squared weights. Four standard deviations of a standard deviation.
        assert result.standard_error[0] == pytest.approx(
            rates.std() / np.sqrt(80), rel=4 / np.sqrt(2 * n)
        )

    def test_iid_and_sets_agree_with_the_formulas(self, large: CrossedTrials) -> None:
        for method in METHODS[:3]:
            exact = unc.dcf_standard_error_scores(
                large.scores, large.key, COST, method=method, speakers=(large.model_speakers, None)
            )
            n = 8000
            result = unc.bootstrap_scores(
                large.scores, large.key, COST, method=method,
                speakers=(large.model_speakers, None), replications=n, rng=24,
            )  # fmt: skip
            assert result.method == method
            assert result.standard_error == pytest.approx(exact, rel=4 / np.sqrt(2 * n))

    @pytest.mark.slow
    def test_pigeonhole_where_the_two_sides_are_different_things(self) -> None:
        """Rows and columns without anything in common: sums of independent effects."""
        rng = np.random.default_rng(25)
        n_rows, n_cols = 60, 90
        effects = rng.normal(size=(n_rows, 1)) + rng.normal(size=n_cols)
        target = rng.random((n_rows, n_cols)) < 0.3
        names = [f"row{i}" for i in range(n_rows)], [f"column{i}" for i in range(n_cols)]
        scores = Scores(effects + 3.0 * target, *names)
        key = Key(*names, target, ~target)
        n = 4000
        result = unc.bootstrap_scores(
            scores, key, mean_of_targets, speakers=(None, IdMap(names[1], names[1])),
            pigeonhole=True, replications=n, rng=26,
        )  # fmt: skip
        # First order: the sum of both sides' contributions, and that of single trials twice
        # over (once more each in the variance of a product of weights).
        residuals = np.where(target, scores.scoremat - result.estimate, 0.0) / target.sum()
        variance = (residuals.sum(axis=1) ** 2).sum() + (residuals.sum(axis=0) ** 2).sum()
        variance += (residuals**2).sum()
        assert result.standard_error == pytest.approx(np.sqrt(variance), rel=0.06)
        with pytest.raises(InvalidInputError, match="one speaker in each target trial"):
            unc.bootstrap_scores(
                scores, key, mean_of_targets, speakers=(None, IdMap(names[1], names[1]))
            )

    def test_more_variation_than_by_sets_and_by_trials(self, large: CrossedTrials) -> None:
        errors = [
            unc.bootstrap_scores(
                large.scores, large.key, COST, method=method, **speaker_maps(large),
                replications=2000, rng=27,
            ).standard_error
            for method in METHODS
        ]  # fmt: skip
        assert errors[0] < min(errors[1:3])
        assert max(errors[1:3]) < errors[3]


def mean_of_targets(
    tar: np.ndarray, non: np.ndarray, tar_weights: np.ndarray, non_weights: np.ndarray
) -> float:
    return float(np.average(tar, weights=tar_weights))


class TestSpeakers:
    def test_speakers_are_the_models_by_default(self) -> None:
        data = CrossedExperiment(n_speakers=20, n_models=1, tar_mean=1.0).draw(
            np.random.default_rng(30)
        )
        by_map, by_default = (
            unc.bootstrap_scores(data.scores, data.key, COST, replications=50, rng=31, **maps)
            for maps in (speaker_maps(data), {})
        )
        assert np.array_equal(by_map.replicates, by_default.replicates)

    def test_unknown_speakers(self, crossed: CrossedTrials) -> None:
        some = crossed.model_speakers.filter_on_left(["model0000"], keep=False)
        maps = {"speakers": (some, crossed.segment_speakers)}
        with pytest.raises(
            InvalidInputError, match=r"`speakers`.*model0000.*`unknown` takes \"own\""
        ):
            unc.bootstrap_scores(crossed.scores, crossed.key, COST, **maps)
        # Segments of unknown people, as impostors often are.
        known = crossed.segment_speakers.filter_on_right(["speaker000"], keep=False)
        key = Key(crossed.key.modelset, crossed.key.segset,
                  crossed.key.tar & ~np.isin(crossed.segment_speakers.rightids, "speaker000"),
                  crossed.key.non)  # fmt: skip
        with pytest.warns(MissingTrialsWarning, match="3 segments are not known"):
            result = unc.bootstrap_scores(
                crossed.scores,
                key,
                COST,
                speakers=(crossed.model_speakers, known),
                unknown="own",
                rng=32,
            )
        assert result.standard_error > 0

    def test_sets_of_models_do_not_ask_for_the_segments_speakers(
        self, crossed: CrossedTrials
    ) -> None:
        key = Key(crossed.key.modelset, crossed.key.segset,
                  crossed.key.tar & (np.arange(36) > 3), crossed.key.non)  # fmt: skip
        for method in METHODS[:3]:
            result = unc.bootstrap_scores(
                crossed.scores, key, COST, method=method, speakers=(crossed.model_speakers, None),
                rng=33,
            )  # fmt: skip
            assert result.standard_error > 0

    def test_speakers_without_scored_trials_do_not_count(self, crossed: CrossedTrials) -> None:
        mask = np.ones(crossed.key.tar.shape, dtype=bool)
        mask[:4], mask[:, :6] = False, False
        scores = Scores(crossed.scores.scoremat, crossed.key.modelset, crossed.key.segset, mask)
        with pytest.warns(MissingTrialsWarning):
            partial = unc.bootstrap_scores(
                scores, crossed.key, COST, **speaker_maps(crossed), replications=50, rng=34
            )
        # The same key without these two speakers' trials.
        key = Key(crossed.key.modelset[4:], crossed.key.segset[6:], crossed.key.tar[4:, 6:],
                  crossed.key.non[4:, 6:])  # fmt: skip
        whole = unc.bootstrap_scores(
            scores, key, COST, **speaker_maps(crossed), replications=50, rng=34
        )
        assert np.array_equal(partial.replicates, whole.replicates)
        assert partial.estimate == whole.estimate

    def test_the_estimate_is_that_of_all_scores(self, crossed: CrossedTrials) -> None:
        tar, non = crossed.scores.get_tar_non(crossed.key)
        for statistic in STATISTICS:
            result = unc.bootstrap_scores(
                crossed.scores, crossed.key, statistic, **speaker_maps(crossed), replications=2,
                rng=0,
            )  # fmt: skip
            assert np.array_equal(result.estimate, statistic(tar, non))


class TestDegenerate:
    @pytest.fixture
    def few_targets(self) -> tuple[Scores, Key]:
        """Targets of two speakers only, of six."""
        names = [f"s{i}" for i in range(6)]
        same = np.eye(6, dtype=bool)
        target = same.copy()
        target[2:] = False
        scores = Scores(np.random.default_rng(40).normal(size=(6, 6)), names, names)
        return scores, Key(names, names, target, ~same)

    @pytest.mark.parametrize("statistic", [COST, unc.EER(), unc.Cllr()], ids=repr)
    def test_lost_classes_are_counted(
        self, few_targets: tuple[Scores, Key], statistic: unc.Statistic
    ) -> None:
        scores, key = few_targets
        maps = {"speakers": (None, IdMap(key.segset, key.segset))}
        n = 2000
        with pytest.warns(
            DegenerateReplicatesWarning, match="of 2000 bootstrap replicates"
        ) as all_:
            result = unc.bootstrap_scores(scores, key, statistic, **maps, replications=n, rng=41)
        assert all_[0].filename == __file__
        # Both of two speakers lost: (4 / 6) ** 6; one speaker picked six times, of all: none
        # of the non-targets left, 6 / 6 ** 6, in 2 of which targets remain.
        chance = (4 / 6) ** 6 + 2 / 6**6
        assert abs(result.n_degenerate - n * chance) < 5 * np.sqrt(n * chance * (1 - chance))
        assert np.isnan(result.replicates).sum() == result.n_degenerate


class TestRandomness:
    def test_same_seed_same_replicates(self, crossed: CrossedTrials) -> None:
        for method, statistic in itertools.product(METHODS, (COST, unc.EER())):
            runs = [
                unc.bootstrap_scores(
                    crossed.scores, crossed.key, statistic, method=method,
                    **speaker_maps(crossed), replications=60, rng=seed,
                ).replicates
                for seed in (5, np.random.default_rng(5), 6)
            ]  # fmt: skip
            assert np.array_equal(runs[0], runs[1])
            assert not np.array_equal(runs[0], runs[2])

    def test_workers_do_not_matter(self, crossed: CrossedTrials) -> None:
        for statistic in (unc.Cllr(), unc.EER(), COST):
            alone, shared = (
                unc.bootstrap_scores(
                    crossed.scores, crossed.key, statistic, **speaker_maps(crossed),
                    replications=520, rng=52, workers=workers,
                ).replicates
                for workers in (1, 2)
            )  # fmt: skip
            assert np.array_equal(alone, shared)


NAMES = ["a", "b", "c"]
SAME = np.eye(3, dtype=bool)
GOOD = Scores([[2.0, 0.1, -1.0], [0.3, 1.0, 0.2], [-2.0, 0.5, 3.0]], NAMES, NAMES)
KEY = Key(NAMES, NAMES, SAME, ~SAME)
NONE = np.zeros_like(SAME)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [[1.0]]}, "`scores` must be Scores"),
        ({"key": GOOD}, "`key` must be a Key"),
        ({"statistic": unc.EER}, "be a statistic, not a class"),
        ({"statistic": "eer"}, "`statistic` .* callable"),
        ({"method": "speakers"}, '`method` .* one of "iid", "one-layer", "two-layer", "speaker"'),
        ({"method": "one-layer", "pigeonhole": True}, "`pigeonhole` .* left out"),
        ({"unknown": "guess"}, '`unknown` .* one of "refuse", "own"'),
        ({"speakers": ({"a": "x"}, None)}, r"`speakers` .* got none for 2 \(b, c\)"),
        ({"speakers": (IdMap(NAMES, ["x", "x", "x"]), None)}, "two speakers in each non-target"),
        (
            {"speakers": (IdMap(NAMES, ["x"] * 3), None), "method": "one-layer"},
            "target trials of models of at least two speakers; got 1",
        ),
        (
            {"speakers": (IdMap(NAMES, ["x"] * 3), IdMap(NAMES, NAMES)), "pigeonhole": True},
            "models of at least two speakers with trials; got 1",
        ),
        ({"key": Key(NAMES, NAMES, NONE, ~SAME)}, "have targets with scores; got none"),
        ({"key": Key(NAMES, NAMES, SAME, NONE)}, "have non-targets with scores; got none"),
        ({"key": Key(NAMES, NAMES, NONE, ~SAME), "method": "iid"}, "have targets with scores"),
        ({"scores": Scores(np.full((3, 3), np.nan), NAMES, NAMES)}, "NaN"),
        ({"statistic": lambda t, n, tw, nw: np.nan}, "be finite on the data"),
        ({"replications": 1}, "`replications` .* at least 2 .*; got 1"),
        ({"replications": 0}, "`replications` .* at least 2 .*; got 0"),
        ({"workers": 0}, "`workers` .* at least 1; got 0"),
        ({"confidence": 95}, "`confidence` .* percentage"),
        ({"interval": "bca"}, '`interval` .* one of "percentile", "basic", "ratio", "normal"'),
        ({"rng": "seed"}, "`rng` .* Generator"),
    ],
)  # fmt: skip
def test_bad_input(changes: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"scores": GOOD, "key": KEY, "statistic": unc.EER()}
    with pytest.raises(InvalidInputError, match=message):
        unc.bootstrap_scores(**(arguments | changes))


@pytest.mark.slow
def test_coverage() -> None:
    """Of nominal 95 % intervals of a cost, 300 times 80 new speakers."""
    experiment, n_sets = CrossedExperiment(), 300
    pmiss, pfa = experiment.error_rates(0.0)
    truth = pmiss + 0.95 / 0.05 * pfa
    covered = {"speaker": 0, "two-layer": 0, "one-layer": 0, "iid": 0}
    for rng in np.random.default_rng(60).spawn(n_sets):
        data = experiment.draw(rng)
        for method in covered:
            result = unc.bootstrap_scores(
                data.scores, data.key, COST, method=method, **speaker_maps(data), rng=rng
            )
            covered[method] += result.low <= truth <= result.high
    # Enough for coverage to lie in the range promised, and no contradiction to 94 %.
    assert 0.91 <= covered["speaker"] / n_sets <= 0.97
    assert stats.binomtest(covered["speaker"], n_sets, 0.94).pvalue > 0.01
    assert covered["iid"] / n_sets < 0.45
    for method in ("one-layer", "two-layer"):
        assert covered["iid"] < covered[method] < covered["speaker"]
