"""Metrics as functions of rows; metrics of users."""

import attrs
import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.costs import DCF, ActDCF, Brier, Cllr, MinDCF, Pfa, Pmiss
from bosaris_py.metrics.metric import Metric, OneRow, SummedClass, SummedRows, as_metric
from bosaris_py.metrics.ranks import AUC, EER, PRBEP, MinCllr, PfaAt, PmissAt
from bosaris_py.metrics.tandem import TDCF, TEER
from bosaris_py.metrics.third_class import ADCF, SASVEER, ActADCF
from bosaris_py.trials.sample import Sample, ScoredClass

TAR, NON = np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.5])


def gap(tar: np.ndarray, non: np.ndarray) -> float:
    return float(np.mean(tar) - np.mean(non))


def test_a_function_of_a_user() -> None:
    metric = as_metric(gap)
    assert metric == Metric(gap)
    assert (metric.label, metric.scale, metric.bounds) == ("gap", "identity", (-np.inf, np.inf))
    assert metric(TAR, NON) == 0.75
    # It sees the scores in the order given.
    assert Metric(lambda tar, non: tar[1] - non[0])(TAR, NON) == 1.0
    named = Metric(gap, scale="log", bounds=(0.0, 1.0), label="G")
    assert (named.label, named.scale, named.bounds) == ("G", "log", (0.0, 1.0))
    # Targets ascend as 1, 2, 3: scores (1, 3, 3) and (2.5,).
    times = np.array([1, 0, 2]), np.array([0, 1])
    assert metric.value(Sample.from_scores(TAR, NON), times) == pytest.approx(7 / 3 - 2.5)


class Gap:
    scale = "log"

    def value(self, sample: Sample) -> float:
        return gap(sample.tar.listed, sample.non.listed)


class Own(Gap, EER):
    """A metric of the package whose value is the user's own."""


def test_a_class_with_a_value() -> None:
    for cls in (Gap, Own):
        metric = as_metric(cls())
        assert (metric.label, metric.scale) == (cls.__name__ if cls is Gap else "EER", "log")
        assert metric(TAR, NON) == metric.value(Sample.from_scores(TAR, NON)) == 0.75


def test_a_function_of_three_classes() -> None:
    sample = Sample(ScoredClass(TAR), ScoredClass(np.array([5.0, 1.0, 4.0])), np.array([1, 0, 1]))
    assert next(OneRow(sample).lists())[2].tolist() in ([5.0, 4.0], [4.0, 5.0])
    assert Metric(lambda tar, non: float(non.sum())).value(sample) == 1.0


def test_what_a_function_cannot_know() -> None:
    metric = as_metric(gap)
    plain = Sample.from_scores(TAR, NON)
    with pytest.raises(InvalidInputError, match="whole numbers"):
        metric.value(plain, (np.array([0.5, 1.0, 1.0]), np.ones(2)))
    assert np.isnan(metric.value(plain, (np.zeros(3), np.ones(2))))
    # Masses that are equal but for rounding change nothing.
    shares = np.array([2 / 3 * (1 + 1e-14), 1 / 3])
    alike = Sample(ScoredClass(TAR, np.array([0, 0, 1]), shares), ScoredClass(NON))
    assert metric.value(alike) == 0.75
    with pytest.raises(InvalidInputError, match="return a number"):
        Metric(lambda tar, _: tar)(TAR, NON)


def test_metrics_of_the_package_stay_as_they_are() -> None:
    assert as_metric(EER()) == EER()
    assert MinDCF(0.05) == MinDCF([0.05]) != MinDCF(0.05, normalize=False)
    assert len({Cllr(), Cllr(), EER(), EER("step")}) == 3
    for wrong in (EER, "eer", None, 1.0):
        with pytest.raises(InvalidInputError):
            as_metric(wrong)


SCALES = {
    ("logit", "%"): [EER(), PmissAt(0.1), PfaAt(0.1), Pmiss(1.0), Pfa(1.0), SASVEER(), TEER()],
    ("log", ""): [DCF(1.0, 0.2), ActDCF(0.2), MinDCF(0.2), Brier(), PRBEP(), ADCF(), ActADCF()],
    ("log", "bits"): [Cllr(), MinCllr()],
    ("logit", ""): [AUC(), TDCF()],
}


@pytest.mark.parametrize(("kind", "metrics"), SCALES.items())
def test_on_which_scale_errors_are_alike(kind: tuple[str, str], metrics: list) -> None:
    assert {(metric.scale, metric.unit) for metric in metrics} == {kind}


@attrs.frozen(eq=False)
class Repeated(SummedClass):
    """Rows in which each sorted trial counts as often as a row of whole numbers says."""

    one: ScoredClass
    units: np.ndarray

    def times(self):
        """Yield the rows."""
        return iter(self.units)

    def add_up(self, values, cells, n_cells) -> np.ndarray:
        """Add up trial by trial."""
        found = np.zeros((len(self.units), n_cells))
        for row, trial in np.ndindex(*self.units.shape):
            value = 1.0 if values is None else values[trial]
            found[row, cells[trial]] += self.units[row, trial] * value
        return found


@pytest.mark.parametrize("shares", [(1.0,), (0.25, 0.75), (0.0, 1.0)])
@pytest.mark.filterwarnings("error")
def test_rows_answer_what_each_of_them_answers(shares: tuple[float, ...]) -> None:
    """Infinite losses count where their trials do; rows without trials have no numbers."""
    rng, classes = np.random.default_rng(1), []
    for n in (7, 9):
        groups = None if len(shares) == 1 else np.arange(n) % 2
        weights = rng.uniform(1.0, 2.0, n) if shares[0] == 0.25 else None
        classes.append(ScoredClass(rng.integers(0, 5, n) + 0.0, groups, np.array(shares), weights))
    sample = Sample(*classes)
    units = tuple(rng.integers(0, 3, (6, one.size)) for one in classes)
    for times in units:
        times[4], times[5] = 0, np.arange(times.shape[1]) % 2
    limits = np.array([3.0, -np.inf, np.inf, 1.0, 3.0])
    losses = [np.stack((rng.random(n), np.where(np.arange(n) == 2, np.inf, 1.0))) for n in (7, 9)]
    rows = SummedRows(sample, *map(Repeated, classes, units))
    for i, times in enumerate(zip(*units, strict=True)):
        one = OneRow(sample, times)
        with np.errstate(invalid="ignore", divide="ignore"):
            pairs = [(rows.rates(grid), one.rates(grid)) for grid in ("hull", "ties", "all")]
            pairs.append((rows.rates_at(limits), one.rates_at(limits)))
            for part in (losses, [two[1] for two in losses]):
                pairs.append((rows.means(part), one.means(tuple(part))))
        for found, expected in pairs:
            for mine, theirs in zip(found, expected, strict=True):
                if np.isnan(theirs).any():
                    assert np.isnan(mine[i]).any()
                else:
                    np.testing.assert_allclose(mine[i], theirs[0], atol=1e-15)
