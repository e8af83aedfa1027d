"""Laws of every metric of the package: what holds whatever the scores are."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, note, strategies as st
from hypothesis.extra import numpy as hnp

import bosaris_py
from bosaris_py import OperatingPoint, Sample, uncertainty
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, SuspectScoresWarning
from bosaris_py.metrics.costs import DCF, ActDCF, Brier, Cllr, MinDCF, Pfa, Pmiss
from bosaris_py.metrics.metric import AnyMetric, Metric as UserMetric, RatesMetric
from bosaris_py.metrics.ranks import AUC, EER, PRBEP, MinCllr, PfaAt, PmissAt
from bosaris_py.metrics.tandem import TDCF, TEER, CountermeasureEER, TandemMetric
from bosaris_py.metrics.third_class import ADCF, SASVEER, SPFEER, SVEER, ActADCF
from bosaris_py.trials.sample import ScoredClass
from tests.score_strategies import weighted_scores

Function = Callable[..., object]
DEFINITIONS = ("rocch", "interpolated", "step")
POINT = OperatingPoint(0.01, 10, 1)

# Metrics of two classes, each with the function that is its twin.
PLAIN: dict[str, Any] = {"prior": [0.01, 0.5], "normalize": False}
COSTS = [(ActDCF, bosaris_py.act_dcf), (MinDCF, bosaris_py.min_dcf)]
OF_TWO: list[tuple[AnyMetric, Function | None]] = [
    *((EER(name), partial(bosaris_py.eer, definition=name)) for name in DEFINITIONS),
    *((AUC(), bosaris_py.auc), (PRBEP(), bosaris_py.prbep), (Brier(), None)),
    *((Cllr(), bosaris_py.cllr), (MinCllr(), bosaris_py.min_cllr)),
    *((cls(POINT), partial(function, prior=POINT)) for cls, function in COSTS),
    *((cls(**PLAIN), partial(function, **PLAIN)) for cls, function in COSTS),
    (Pmiss(0.25), lambda *lists, **w: bosaris_py.error_rates_at(*lists, 0.25, **w)[0]),
    (Pfa(0.25), lambda *lists, **w: bosaris_py.error_rates_at(*lists, 0.25, **w)[1]),
    *((DCF(0.25, 0.1), None), (PmissAt(0.1), None), (PfaAt(0.1), None)),
]
OF_THREE: list[tuple[AnyMetric, Function]] = [
    *((ADCF(), bosaris_py.a_dcf), (ActADCF(), bosaris_py.act_a_dcf)),
    *((SVEER(), lambda tar, non, _: bosaris_py.sv_eer(tar, non)), (SASVEER(), bosaris_py.sasv_eer)),
    (SPFEER(), lambda tar, _, spoof: bosaris_py.spf_eer(tar, None, spoof)),
]
ACTUAL = TDCF(form="legacy", threshold="bayes")
TANDEM = [TDCF(), ACTUAL, TEER(), CountermeasureEER()]
ONE_DETECTOR = [*(one for one, _ in OF_TWO), *(one for one, _ in OF_THREE)]
ALL = [*ONE_DETECTOR, *TANDEM]


def test_every_metric_is_here() -> None:
    public = {getattr(uncertainty, name) for name in uncertainty.__all__}
    metrics = {one for one in public if isinstance(one, type) and issubclass(one, AnyMetric)}
    assert metrics - {UserMetric} <= {type(one) for one in ALL}


@attrs.frozen
class Lists:
    """Scores of two detectors, (n, 2), of targets and of non-targets, with their kinds."""

    tar: np.ndarray
    non: np.ndarray
    kinds: np.ndarray
    rng: np.random.Generator

    def sample(self, metric: AnyMetric) -> Sample:
        """Return the scores of both detectors where the metric judges these, else of the first."""
        tar, non = self.tar, self.non
        if not isinstance(metric, TandemMetric):
            tar, non = tar[:, 0], non[:, 0]
        return Sample(ScoredClass(tar), ScoredClass(non), self.kinds)

    def permuted(self) -> "Lists":
        tar, non = (self.rng.permutation(len(one)) for one in (self.tar, self.non))
        return Lists(self.tar[tar], self.non[non], self.kinds[non], self.rng)

    def through_a_rising_map(self) -> "Lists":
        """Replace scores by their ranks, of which distances grow."""
        both = np.concatenate((self.tar, self.non))
        ranks = np.stack([np.unique(one, return_inverse=True)[1] ** 3.0 for one in both.T], axis=1)
        return attrs.evolve(self, tar=ranks[: len(self.tar)], non=ranks[len(self.tar) :])

    def times(self, view: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Draw how often each trial counts, from 1 to 3."""
        tar, non = (self.rng.integers(1, 4, one.size) for one in (view.tar, view.non))
        return tar, non


@st.composite
def lists(draw: st.DrawFn) -> Lists:
    """Draw up to 8 trials of each kind, with ties; the first two non-targets are of two kinds."""
    tar, non = (
        draw(hnp.arrays(int, (draw(st.integers(2, 8)), 2), elements=level))
        for level in (st.integers(0, 8), st.integers(-4, 4))
    )
    kinds = np.append([0, 1], draw(hnp.arrays(int, len(non) - 2, elements=st.integers(0, 1))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Lists(tar / 2, non / 2, kinds, rng)


def number(metric: AnyMetric, view: Sample, times: object = None) -> float:
    """Return the metric of what `view` returned; NaN where a verifier is worse than none."""
    try:
        return metric.computed(view, times)
    except InvalidInputError:
        assert isinstance(metric, TDCF)
        return np.nan


def same(value: float, expected: float) -> bool:
    return value == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)


def each(*metrics: AnyMetric) -> Iterator[AnyMetric]:
    """Yield metrics; the last that a failure notes is the one that breaks a law."""
    for metric in metrics:
        note(repr(metric))
        yield metric


# ---- Order, ranks


@given(drawn=lists())
def test_the_order_of_trials_and_of_scores(drawn: Lists) -> None:
    """A permutation changes nothing; a strictly rising map no metric of ranks, to the last bit."""
    shuffled, warped = drawn.permuted(), drawn.through_a_rising_map()
    for metric in each(*ALL):
        value = number(metric, metric.view(drawn.sample(metric)))
        low, high = metric.bounds
        assert np.isnan(value) or low <= value <= high + 1e-14
        assert same(number(metric, metric.view(shuffled.sample(metric))), value)
        if isinstance(metric, RatesMetric | PRBEP | TandemMetric) and metric != ACTUAL:
            again = number(metric, metric.view(warped.sample(metric)))
            np.testing.assert_equal(again, value)


def test_perfect_and_inverted_scores_attain_the_bounds() -> None:
    kinds = np.array([0, 1])
    for metric in ONE_DETECTOR:
        values = {
            metric.value(Sample(ScoredClass(-non), ScoredClass(non), kinds))
            for non in (np.full(2, -np.inf), np.full(2, np.inf))
        }
        # On the hull of no information 2 x errors of 2 targets are 1 - x of one non-target.
        high = 2 / 3 if isinstance(metric, PRBEP) else metric.bounds[1]
        assert [min(values), max(values)] == pytest.approx([metric.bounds[0], high]), metric


# ---- Masses


@given(drawn=lists())
def test_times_are_repetitions(drawn: Lists) -> None:
    # PRBEP is a number of the trials that there are, however often they count.
    for metric in each(*(one for one in ALL if one != PRBEP())):
        view = metric.view(drawn.sample(metric))
        ones = np.ones(view.tar.size, int), np.ones(view.non.size, int)
        assert same(number(metric, view, ones), number(metric, view))
        assert np.isnan(number(metric, view, (0 * ones[0], ones[1])))
        times = drawn.times(view)
        places = [np.repeat(x.order, n) for x, n in zip((view.tar, view.non), times, strict=True)]
        assert same(number(metric, view, times), number(metric, view.take(*places)))


@given(drawn=lists())
def test_weights_are_repetitions(drawn: Lists) -> None:
    for metric in each(*ONE_DETECTOR):
        view = metric.view(drawn.sample(metric))
        times = drawn.times(view)
        pairs = list(zip((view.tar, view.non), times, strict=True))
        tar, non = (attrs.evolve(one, weights=n.astype(float)) for one, n in pairs)
        weighted = attrs.evolve(view, tar=tar, non=non)
        places = [np.repeat(np.arange(one.size), n) for one, n in pairs]
        assert same(metric.computed(weighted), metric.computed(view.take(*places)))


@given(drawn=lists())
def test_parts_with_the_shares_of_their_sizes_are_the_whole(drawn: Lists) -> None:
    def parted(one: ScoredClass) -> ScoredClass:
        groups = np.zeros(one.size, int) if one.groups is None else one.groups
        finer = 2 * groups + drawn.rng.integers(0, 2, one.size)
        n_parts = np.bincount(finer, minlength=2 * one.shares.size)
        n_whole = np.repeat(np.bincount(groups, minlength=one.shares.size), 2)
        return attrs.evolve(one, groups=finer, shares=np.repeat(one.shares, 2) * n_parts / n_whole)

    for metric in each(*ALL):
        view = metric.view(drawn.sample(metric))
        whole = attrs.evolve(view, tar=parted(view.tar), non=parted(view.non))
        assert same(number(metric, whole), number(metric, view))


@given(drawn=lists())
def test_a_group_of_share_0_is_left_out(drawn: Lists) -> None:
    # The first two of each class stay.
    tar, non = (
        np.append([0, 0], drawn.rng.integers(0, 2, len(one) - 2)) for one in (drawn.tar, drawn.non)
    )
    shares = np.array([1.0, 0.0])
    for metric in each(*(one for one in ONE_DETECTOR if one != PRBEP())):
        sample = drawn.sample(metric)
        pairs = ((sample.tar, tar), (sample.non, non))
        classes = [attrs.evolve(one, groups=groups, shares=shares) for one, groups in pairs]
        shared = attrs.evolve(sample, tar=classes[0], non=classes[1])
        assert same(metric.value(shared), metric.value(sample.take(tar == 0, non == 0)))


def test_unequal_masses_that_a_metric_cannot_know_are_refused() -> None:
    """Two groups of one share but of two sizes, too."""
    pairs = np.arange(6.0).reshape(3, 2)
    halves = {"groups": np.array([0, 0, 1]), "shares": np.array([0.5, 0.5])}
    for metric in (*TANDEM, UserMetric(lambda tar, _: float(tar.mean()))):
        listed = pairs if isinstance(metric, TandemMetric) else pairs[:, 0]
        for unequal in (halves, {"weights": np.array([1.0, 2.0, 1.0])}):
            classes = ScoredClass(listed, **unequal), ScoredClass(listed)
            sample = Sample(*classes, np.array([0, 1, 1]))
            with pytest.raises(InvalidInputError):
                metric.value(sample)


# ---- Minima


@given(drawn=lists())
def test_minima_are_not_above(drawn: Lists) -> None:
    for least, actual in (
        (MinDCF(POINT), ActDCF(POINT)),
        (MinDCF(**PLAIN), ActDCF(**PLAIN)),
        (MinDCF(0.1), DCF(0.25, 0.1)),
        (MinCllr(), Cllr()),
        (ADCF(), ActADCF()),
        (ADCF("ASVspoof5", normalize=False), ActADCF("ASVspoof5", normalize=False)),
        (TDCF(), TDCF(threshold="bayes")),
        (EER(), EER("interpolated")),
    ):
        note(repr(least))
        view = least.view(drawn.sample(least))
        for times in (None, drawn.times(view)):
            assert not number(least, view, times) > number(actual, view, times) + 1e-14


# ---- Twins, and what metrics tell of themselves


@given(tar=weighted_scores(), non=weighted_scores())
def test_functions_of_two_classes_are_twins(tar, non) -> None:
    weights = {"tar_weights": tar[1], "non_weights": non[1]}
    for metric, twin in OF_TWO:
        note(repr(metric))
        value = metric(tar[0], non[0], **weights)
        if twin is not None:
            expected = np.mean(twin(tar[0], non[0], **weights))
            assert value == pytest.approx(expected, rel=1e-13, abs=1e-15)
        assert same(metric(np.repeat(*tar), np.repeat(*non)), value)


@given(drawn=lists())
def test_functions_of_three_classes_are_twins(drawn: Lists) -> None:
    tar, non = drawn.tar[:, 0], drawn.non[:, 0]
    kinds = [non[drawn.kinds == kind] for kind in (0, 1)]
    for metric, twin in OF_THREE:
        value = metric.value(drawn.sample(metric))
        assert same(metric(tar, *kinds), value)
        assert same(twin(tar, *kinds), value)
    # Spoofs do not change metrics of two classes.
    for metric, _ in OF_TWO:
        assert same(metric.value(drawn.sample(metric)), metric(tar, kinds[0]))
    gap = UserMetric(lambda tar, non: float(tar.mean() - non.mean()))
    assert same(gap.value(drawn.sample(gap)), tar.mean() - kinds[0].mean())


@given(drawn=lists())
def test_metrics_tell_what_they_are(drawn: Lists) -> None:
    for metric in each(*ALL):
        assert metric.label
        assert metric.unit in ("", "%", "bits")
        assert metric.scale in ("logit", "log")
        assert metric == attrs.evolve(metric)
        assert hash(metric) == hash(attrs.evolve(metric))
        view = metric.view(drawn.sample(metric))
        if not np.isnan(value := number(metric, view)):
            openings = metric.openings(view)
            assert all(opening.rate >= 0.0 for opening in openings)
            # What errors cost adds up to the value, but of ranks that have no price of an error.
            if not isinstance(metric, AUC | PRBEP | PmissAt | PfaAt | MinCllr | Brier):
                cost = sum(opening.price * opening.rate for opening in openings)
                assert metric == ACTUAL or same(cost, value)
        # So few trials can be inverted, or too few for a rate, but no more is said of them.
        kinds = {note.kind for note in metric.notes(view)}
        assert kinds <= {SuspectScoresWarning, FewErrorsWarning}


def test_an_option_has_one_default_wherever_it_is_taken() -> None:
    """It is documented once, and elsewhere "as for" another function."""
    options = {"replications": 2000, "interval": "percentile", "confidence": 0.95}
    options |= {"progress": False, "normalize": True, "definition": "rocch", "folds": 5}
    options |= dict.fromkeys(("tar_weights", "non_weights", "tar_sets", "non_sets"))
    options |= dict.fromkeys(("speakers", "conditions", "against"))
    functions = [getattr(one, name) for one in (bosaris_py, uncertainty) for name in one.__all__]
    taken = dict.fromkeys(options, 0)
    for function in filter(inspect.isfunction, functions):
        for name, parameter in inspect.signature(function).parameters.items():
            # `evaluate` draws no replicates unless asked to.
            if name in options and (name, parameter.default) != ("replications", 0):
                assert parameter.default in (options[name], parameter.empty), function.__name__
                taken[name] += parameter.default == options[name]
    assert min(taken.values()) >= 1
