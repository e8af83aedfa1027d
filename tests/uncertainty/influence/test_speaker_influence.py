"""The formula by speakers: losses against derivatives, copies of speakers, and honest ends."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy import stats

from bosaris_py import Conditions, Key, Scores, uncertainty as unc
from bosaris_py.errors import (
    DegenerateReplicatesWarning,
    FewErrorsWarning,
    FewSpeakersWarning,
    InvalidInputError,
)
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.influence.losses import Steps, losses_of
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from tests.crossed_trials import CrossedExperiment, CrossedTrials
from tests.uncertainty.naive_speakers import speaker_covariance
from tests.uncertainty.speaker_samples import speaker_sample

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

COST = unc.DCF(0.0, 0.05, 1, 1, normalize=True)
STATISTICS = (
    COST, unc.ActDCF(0.3), unc.MinDCF(0.2), unc.MinDCF(0.05, normalize=True), unc.EER(),
    unc.Cllr(), unc.MinCllr(), unc.AUC(),
)  # fmt: skip


def crossed(seed: int, n_speakers: int = 8, mean: float = 1.0) -> CrossedTrials:
    experiment = CrossedExperiment(n_speakers, 1, 2, tar_mean=mean, non_mean=-mean)
    return experiment.draw(np.random.default_rng(seed))


def maps(data: CrossedTrials) -> dict[str, object]:
    return {"speakers": (data.model_speakers, data.segment_speakers)}


@pytest.mark.parametrize("statistic", STATISTICS)
def test_losses_are_derivatives(statistic: unc.Statistic) -> None:
    """In the weight of a trial, of sum one: its loss minus the mean loss of the class."""
    rng = np.random.default_rng(4)
    scores = rng.normal(1.5, 1.0, 15), rng.normal(-1.0, 1.0, 40)
    losses = losses_of(statistic, ListedSample.from_scores(*scores))
    assert losses.estimate == pytest.approx(statistic(*scores), rel=1e-12)
    # An area has losses of 1 - AUC. Between vertices of the hull a small step changes no optimum.
    sign = -1.0 if isinstance(statistic, unc.AUC) else 1.0
    step = 1e-5
    for which in (0, 1):
        n, values = scores[which].size, losses[which](scores[which])
        for i in range(n):
            ends = []
            for change in (-step, step):
                weights = [np.ones(15), np.ones(40)]
                weights[which][i] += change
                ends.append(statistic(*scores, *weights))
            slope = sign * (ends[1] - ends[0]) / (2 * step)
            # The second derivative takes step^2 of it.
            assert slope == pytest.approx((values[i] - np.mean(values)) / n, abs=1e-8)


@pytest.mark.parametrize("decimals", [0, 9])
def test_placements(decimals: int) -> None:
    """With ties and without."""
    rng = np.random.default_rng(5)
    tar, non = (np.round(rng.normal(m, 1.0, n), decimals) for m, n in ((1.0, 12), (-1.0, 30)))
    losses = losses_of(unc.AUC(), ListedSample.from_scores(tar, non))
    above = (non > tar[:, None]) + 0.5 * (non == tar[:, None])
    assert losses.tar(tar) == pytest.approx(above.mean(axis=1), abs=1e-15)
    assert losses.non(non) == pytest.approx(above.mean(axis=0), abs=1e-15)


def influence(data: CrossedTrials, statistic: unc.Statistic) -> tuple[SpeakerInfluence, object]:
    tar, non = data.trials()
    models, segments = data.key.trial_positions()
    labels = data.key.trial_labels()
    names = sorted(set(data.model_speakers.rightids))
    number = {name: i for i, name in enumerate(names)}
    of_model = np.array(
        [number[n] for n in data.model_speakers.map_left_to_right(data.key.modelset)]
    )
    of_segment = np.array(
        [number[n] for n in data.segment_speakers.map_left_to_right(data.key.segset)]
    )
    one, other = of_model[models], of_segment[segments]
    sides = ((one[of_class], other[of_class]) for of_class in (labels, ~labels))
    sample = speaker_sample(*zip((tar, non), sides, strict=True))
    found = SpeakerInfluence.of(losses_of(statistic, sample), sample)
    return found, (one, other, labels, tar, non)


def test_copies_of_a_speaker_count_as_speakers() -> None:
    """Student's t of a replicate is that of a data set in which copies are other persons."""
    data = crossed(6, n_speakers=7)
    found, (one, other, labels, tar, non) = influence(data, COST)
    weights = np.random.default_rng(7).multinomial(7, np.full(7, 1 / 7), size=20).astype(float)
    expected = []
    for row in weights.astype(int):
        trials = []
        errors = np.empty(labels.size)
        errors[labels], errors[~labels] = tar < 0, 19.0 * (non >= 0)
        for i in range(labels.size):
            a, b = one[i], other[i]
            if labels[i]:
                trials += [(True, errors[i], {(a, c)}) for c in range(row[a])]
            else:
                both = [(c, d) for c in range(row[a]) for d in range(row[b])]
                trials += [(False, errors[i], {(a, c), (b, d)}) for c, d in both]
        means, sizes = {}, {}
        for c in (True, False):
            values = [t[1] for t in trials if t[0] == c]
            means[c], sizes[c] = np.mean(values), len(values)
        parts = [((e - means[c]) / sizes[c], 1 / sizes[c], c, s) for c, e, s in trials]
        error = math.sqrt(speaker_covariance(parts).sum())
        value = means[True] + means[False]
        if value > 0 and error > 1e-9:
            expected.append(math.log(value / found.estimate) * value / error)
    assert found.students(weights, log=True) == pytest.approx(np.sort(expected), rel=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_close_to_the_bootstrap(statistic: unc.Statistic) -> None:
    data = CrossedExperiment(60, tar_mean=2.0, non_mean=-2.0).draw(np.random.default_rng(8))
    interval = unc.speaker_interval(data.scores, data.key, statistic, **maps(data))
    boot = unc.bootstrap_scores(
        data.scores, data.key, statistic, replications=400, rng=1, **maps(data)
    )
    assert boot.interval == "student"
    assert interval.estimate == pytest.approx(boot.estimate, rel=1e-12)
    # 400 replicates: 3.5 %, three times; replicates of a minimum choose other thresholds, too.
    assert interval.standard_error == pytest.approx(boot.standard_error, rel=0.15)
    assert interval.low < interval.estimate < interval.high


# Two speakers of whom most replicates hold one: z is -40.
@example(65501, "two-sided", 0.0)
@given(st.integers(0, 10**6), st.sampled_from(["two-sided", "less", "greater"]), st.floats(-1, 1))
def test_p_and_interval_agree(seed: int, side: str, shift: float) -> None:
    rng = np.random.default_rng(seed)
    a = crossed(seed, n_speakers=int(rng.integers(2, 9)))
    noise = rng.normal(0.0, 0.7, a.scores.scoremat.shape) + shift
    b = Scores(a.scores.scoremat + noise, a.scores.modelset, a.scores.segset)
    confidence = float(rng.choice([0.5, 0.8, 0.9, 0.95]))
    statistic = STATISTICS[seed % len(STATISTICS)]
    tests = [unc.speaker_z_test(a.scores, b, a.key, statistic, **maps(a))]
    kind = str(rng.choice(["student", "percentile", "basic", "normal"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paired = unc.paired_bootstrap(
            a.scores, b, a.key, statistic, replications=99, interval=kind,
            confidence=confidence, rng=rng, **maps(a),
        )  # fmt: skip
    ends = [tests[0].interval(confidence), paired]
    for test, interval in zip((tests[0], paired), ends, strict=True):
        outside = not interval.low <= 0 <= interval.high
        # A p-value that equals the level is of either side.
        if abs(test.p_value - (1 - confidence)) > 1e-9:
            assert outside == (test.p_value < 1 - confidence)
        assert 0 < test.p_value <= 1
    assert unc.ComparisonTable.from_tests({("a", "b"): paired})


class TestEnds:
    NAMES, EYE = ("p0", "p1"), np.eye(2, dtype=bool)
    KEY = Key(NAMES, NAMES, EYE, ~EYE)
    ALL_MISSED = Scores(-np.ones((2, 2)), NAMES, NAMES)
    PERFECT = Scores(np.where(EYE, 1.0, -1.0), NAMES, NAMES)

    def test_speakers_who_differ_alike(self) -> None:
        """Two speakers: over flips of signs the spread is 0.05 / sqrt(2), and p is 1/2."""
        cost = unc.DCF(0.0, 0.05, 1, 1)
        test = unc.speaker_z_test(self.ALL_MISSED, self.PERFECT, self.KEY, cost)
        assert test.standard_error == pytest.approx(0.05 / math.sqrt(2))
        assert test.p_value == 0.5
        assert test.interval().low < 0 < test.interval().high
        with pytest.warns(DegenerateReplicatesWarning, match="lost a class"):
            paired = unc.paired_bootstrap(self.ALL_MISSED, self.PERFECT, self.KEY, cost, rng=1)
        assert (paired.p_value, paired.standard_error) == (0.5, test.standard_error)
        assert paired.low < 0 < paired.high

    @pytest.mark.parametrize("n", [2, 3, 5, 6])
    def test_no_p_below_that_of_flips(self, n: int) -> None:
        names, eye = [f"p{i}" for i in range(n)], np.eye(n, dtype=bool)
        a, b = (
            Scores(-np.ones((n, n)), names, names),
            Scores(np.where(eye, 1.0, -1.0), names, names),
        )
        key = Key(names, names, eye, ~eye)
        test = unc.speaker_z_test(a, b, key, COST)
        assert test.least_p == 2.0 ** (1 - n)
        expected = max(2 * stats.t.sf(math.sqrt(n), n - 1), 2.0 ** (1 - n))
        assert test.p_value == pytest.approx(expected, rel=1e-12)
        less = unc.speaker_z_test(a, b, key, COST, alternative="greater")
        assert less.p_value == pytest.approx(expected / 2, rel=1e-12)

    @pytest.mark.parametrize("statistic", STATISTICS)
    def test_systems_alike(self, statistic: unc.Statistic) -> None:
        data = crossed(9)
        same = data.scores.transform(lambda x: x + 1e-13)
        for other in (data.scores, same):
            test = unc.speaker_z_test(data.scores, other, data.key, statistic, **maps(data))
            paired = unc.paired_bootstrap(
                data.scores, other, data.key, statistic, replications=20, rng=1, **maps(data)
            )
            assert test.p_value == paired.p_value == 1.0
            assert test.difference == 0.0

    @pytest.mark.parametrize("statistic", [s for s in STATISTICS if not isinstance(s, unc.Cllr)])
    def test_no_errors(self, statistic: unc.Statistic) -> None:
        """The upper end: no event among K speakers, 1 - 0.025^(1/K) of the greatest loss."""
        data = crossed(10, mean=30.0)
        interval = unc.speaker_interval(data.scores, data.key, statistic, **maps(data))
        limit = 1 - 0.025 ** (1 / 8)
        if isinstance(statistic, unc.AUC):
            assert (interval.low, interval.high) == pytest.approx((1 - limit, 1.0))
            return
        most = np.asarray(statistic.bounds[1], dtype=float)
        assert interval.low == 0
        assert 0.5 * limit * most < interval.high <= most
        if isinstance(statistic, (unc.MinDCF, unc.EER, unc.MinCllr)):
            # Whatever the threshold, one class alone need have had no chance to err.
            assert interval.high == pytest.approx(limit * most, rel=1e-9)
        boot = unc.bootstrap_scores(
            data.scores, data.key, statistic, replications=20, rng=1, **maps(data)
        )
        assert (boot.low, boot.high) == (interval.low, interval.high)
        errors = unc.speaker_errors(data.scores, data.key, 0.0, **maps(data))
        assert (errors.effective_n_tar, errors.effective_n_non) == (8, 8)

    def test_nothing_but_errors(self) -> None:
        data = crossed(11)
        errors = unc.speaker_errors(data.scores, data.key, math.inf, **maps(data))
        interval = errors.dcf_interval(unc.DCF(0.0, 0.5, 2, 2))
        assert interval.estimate == 1.0
        limit = 1 - 0.025 ** (1 / 8)
        assert (interval.low, interval.high) == pytest.approx((1 - limit, 1 + limit))

    def test_one_voice(self) -> None:
        """All false alarms are of one pair of speakers: two contribute alike, and that is said."""
        rng = np.random.default_rng(12)
        names, same = [f"s{i:02}" for i in range(40)], np.eye(40, dtype=bool)
        llrs = np.where(same, rng.normal(0.0, 1.0, (40, 40)), -9.0)
        llrs[0, 1:] = 9.0
        key, scores = Key(names, names, same, ~same), Scores(llrs, names, names)
        with pytest.warns(FewSpeakersWarning, match="false-alarm rate rests on 3.9 effective"):
            errors = unc.speaker_errors(scores, key, 0.0)
        # One speaker counts half of 39 false alarms, 39 others half of one.
        assert errors.influence.priced(0.0, 1.0, errors.pfa).effective_speakers == pytest.approx(
            39**2 / (19.5**2 + 39 / 4)
        )
        assert errors.dcf_interval(COST).low > 0


def test_plans_of_a_comparison() -> None:
    data = crossed(13, n_speakers=30)
    b = data.scores.transform(lambda x: 1.1 * x + 0.1)
    test = unc.speaker_z_test(data.scores, b, data.key, unc.Cllr(), **maps(data))
    needed = test.speakers_needed(difference=0.02, power=0.8)
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    estimate = 30 * (reach * test.standard_error / 0.02) ** 2
    assert needed.estimate == math.ceil(estimate)
    # Degrees by the shares of speakers in the variance: sums by speaker, each without the speaker.
    u, v = test.contrast.influences
    squares = (u + v) ** 2
    degrees = squares.sum() ** 2 / (squares**2).sum() - 1
    assert 1 < degrees < 29
    assert needed == math.ceil(estimate * degrees / stats.chi2.ppf(0.05, degrees))
    assert needed.low == math.ceil(estimate * degrees / stats.chi2.ppf(0.95, degrees))
    # As many targets per speaker, and all pairs: 2 and 2 (K - 1) segments in the pilot.
    assert needed.n_trials == math.ceil(60 * needed / 30) + math.ceil(1740 * (needed / 30) ** 2)
    cllr = unc.Cllr()(*data.trials())
    assert test.speakers_needed(relative=0.1) == test.speakers_needed(difference=0.1 * cllr)
    with pytest.raises(InvalidInputError, match="`relative` must be given, or `difference`"):
        test.speakers_needed()
    with pytest.raises(InvalidInputError, match="`power` must be above `level`"):
        test.speakers_needed(relative=0.1, power=0.01)
    with pytest.raises(InvalidInputError, match=r"at most 1; got 10\. Is it in per cent"):
        test.speakers_needed(relative=10)
    with pytest.raises(InvalidInputError, match="`difference` must be a number; got 'x'"):
        test.speakers_needed(difference="x")  # type: ignore[arg-type]
    alike = unc.speaker_z_test(data.scores, data.scores, data.key, unc.Cllr(), **maps(data))
    with pytest.raises(InvalidInputError, match="`pilot` must have a standard error above 0"):
        alike.speakers_needed(relative=0.1)


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        (unc.MinDCF([0.1, 0.2]), "`statistic` must be of one operating point; got 2"),
        (unc.ErrorRates(0.0), "`statistic` must have a threshold"),
        (np.mean, "`statistic` must have a threshold"),
    ],
)
def test_bad_statistics(statistic: object, message: str) -> None:
    data = crossed(14)
    with pytest.raises(InvalidInputError, match=message):
        unc.speaker_interval(data.scores, data.key, statistic, **maps(data))


def test_warnings_of_few_speakers() -> None:
    data = crossed(15, n_speakers=12, mean=0.5)
    assert issubclass(FewSpeakersWarning, FewErrorsWarning)
    for call in (
        lambda: unc.speaker_interval(data.scores, data.key, unc.Cllr(), **maps(data)),
        lambda: unc.bootstrap_scores(
            data.scores, data.key, unc.AUC(), replications=20, rng=1, **maps(data)
        ),
    ):
        with pytest.warns(FewSpeakersWarning, match=r"metric rests on [\d.]+ effective speakers"):
            call()


def test_studentised_needs_speakers() -> None:
    tar, non = np.arange(9.0), np.arange(9.0) - 4
    result = unc.bootstrap(tar, non, unc.AUC(), replications=20, rng=1)
    with pytest.raises(InvalidInputError, match="`interval` must be percentile, basic or normal"):
        result.interval_of("student")


def test_studentised_area() -> None:
    """Either mean of an area A is the whole, so it grows as ((a + b) / 2A)^2, its error as that."""
    found = influence(crossed(16), unc.AUC())[0]
    pairs, area = found.pairs, found.estimate
    weights = np.random.default_rng(17).multinomial(8, np.full(8, 1 / 8), size=20).astype(float)
    tables = found._tables(found.non.residual), found._tables(pairs.pair_mass)
    linear, drawn = (found._students(weights, *tables, log=log) for log in (False, True))
    for row, t, found_t in zip(weights, linear, drawn, strict=True):
        of_pairs = row[pairs.first] * row[pairs.second]
        moved = row @ found.tar.residual / (row @ pairs.tar_mass)
        moved += of_pairs @ found.non.residual / (of_pairs @ pairs.pair_mass)
        ratio, error = 1.0 + moved / (2.0 * area), moved / t
        assert found_t == pytest.approx(math.log(ratio**2) / (error * ratio / (area * ratio**2)))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_matrix_is_added_up_like_lists(statistic: unc.Statistic) -> None:
    """Also where a target would be an infinite loss as a non-target, and with tied scores."""
    data = crossed(17, n_speakers=9)
    llrs = np.round(data.scores.scoremat, 1)
    llrs[data.key.tar & (llrs == llrs[data.key.tar].max())] = np.inf
    dense = Scores(llrs, data.key.modelset, data.key.segset)
    options = maps(data)
    one = unc.speaker_interval(dense, data.key, statistic, **options)
    other = unc.speaker_interval(dense.to_flat(), data.key.to_flat(), statistic, **options)
    for name in ("estimate", "low", "high", "standard_error"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)
    assert np.isfinite([one.low, one.high, one.standard_error]).all()


def test_steps_of_many_edges_against_a_search() -> None:
    rng = np.random.default_rng(18)
    edges = np.unique(np.round(rng.normal(size=60), 3))
    levels = rng.normal(size=edges.size + 1)
    for dtype in (np.float64, np.float32):
        some = np.concatenate((edges, rng.normal(0.0, 3.0, 2000), [-np.inf, np.inf])).astype(dtype)
        expected = levels[np.searchsorted(edges, some.astype(np.float64), side="right")]
        assert np.array_equal(Steps(edges, levels)(some), expected)
    crowd, far = np.linspace(1.0, 1.001, 30), [-1e5, 0.5, 1.0, 1.0005, 2.0, 1e308, np.inf]
    for edges in (np.append(crowd, 1e6), crowd * 1e-310, crowd * 1e308 - 1e308, [-1e308, 0, 1e308]):
        levels, some = np.arange(len(edges) + 1.0), np.concatenate((edges, far))
        expected = levels[np.searchsorted(edges, some, side="right")]
        assert np.array_equal(Steps(np.asarray(edges), levels)(some), expected)
    infinite = Steps(np.array([-np.inf, 0.0, 1.0, np.inf]), np.arange(5.0))
    assert infinite(np.array([-np.inf, -1.0, 0.0, 2.0, np.inf])).tolist() == [1, 1, 2, 3, 4]


def test_results_keep_speakers_but_no_trials() -> None:
    data = crossed(19, n_speakers=10)
    options = maps(data) | {"replications": 30, "rng": 1}
    boot = unc.bootstrap_scores(data.scores, data.key, unc.EER(), **options)
    copied = pickle.loads(pickle.dumps(boot))
    assert copied.interval_of("student", 0.9) == boot.interval_of("student", 0.9)
    assert boot.student.influence.pairs.cells is None
    differs = boot.minus(unc.bootstrap_scores(data.scores, data.key, unc.EER(), **options))
    assert (differs.low, differs.high, differs.p_value("two-sided")) == (0.0, 0.0, 1.0)


def test_a_condition_of_some_speakers() -> None:
    """As if there were no others."""
    data = crossed(20, n_speakers=12)
    speaker_of = data.model_speakers.map_left_to_right(data.key.modelset)
    some = np.isin(speaker_of, np.unique(speaker_of)[:7])[:, None] & np.isin(
        data.segment_speakers.map_left_to_right(data.key.segset), np.unique(speaker_of)[:7]
    )
    conditions = Conditions({"some": some, "others": ~some}, {"some": 1.0, "others": 0.0})
    options = {"replications": 200, "rng": 1} | maps(data)
    weighted = unc.bootstrap_scores(
        data.scores, data.key, unc.Cllr(), conditions=conditions, **options
    )
    key = Key(data.key.modelset, data.key.segset, data.key.tar & some, data.key.non & some)
    alone = unc.speaker_interval(data.scores, key, unc.Cllr(), **maps(data))
    found = weighted.student.influence
    assert (found.pairs.n_speakers, found.estimate) == (7, pytest.approx(alone.estimate))
    assert found.standard_error == pytest.approx(alone.standard_error, rel=1e-12)
    assert weighted.low < weighted.estimate < weighted.high
