"""The rows of an evaluation: the figures of each system, on all trials and on conditions.

A figure is a metric of a sample. A condition is a part of the sample, all conditions with their
weights are another, and so is what a plan judges: one route makes every number of a table, and its
interval.
"""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import attrs
import numpy as np

from bosaris_py.errors import FewErrorsWarning, InvalidInputError, Note
from bosaris_py.evaluation.plans import EvaluationPlan
from bosaris_py.metrics import costs, ranks, tandem, third_class
from bosaris_py.metrics.metric import AnyMetric
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials import ConditionMembers, Sample
from bosaris_py.trials.conditions import name_of_all
from bosaris_py.uncertainty.bootstrap import Resampling
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.jackknife import FEWEST_UNITS, jackknife

# The row of all conditions whose trials count alike.
POOLED = "pooled"

# The figures of three classes that every system has one of.
_OF_THREE = ("t_dcf", "cm_eer", "a_dcf", "sasv_eer")


class Figure(NamedTuple):
    """What a figure, which is a column of a table, is called.

    Parameters
    ----------
    column : str
        The name in records, and of the column in a data frame.
    name : str
        What it is called in sentences, below tables and at axes.
    unit : {"rate", "bits", "cost"}
        A rate is a fraction, which is shown in per cent.
    meaning : str
        What a report says that it is.
    """

    column: str
    name: str
    unit: Literal["rate", "bits", "cost"] = "cost"
    meaning: str = ""

    @property
    def is_rate(self) -> bool:
        """Whether it is shown in per cent."""
        return self.unit == "rate"

    @property
    def head(self) -> str:
        """The head of its column."""
        return f"{self.name} (%)" if self.is_rate else self.name

    def text(self, value: float) -> str:
        """Return a value as it is printed below the head."""
        if self.is_rate:
            return f"{100.0 * value:.2f}"
        # Of scores that are no log-likelihood-ratios a cost can have hundreds of digits.
        return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"


_TEXTS = tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8"))

# In the order in which a report explains them.
FIGURES = {column: Figure(column, **texts) for column, texts in _TEXTS.items()}


def figure_of(column: str) -> Figure:
    """Return the record of a column, whose name may end with an operating point: min_dcf(0.05)."""
    kind, bracket, point = column.partition("(")
    if kind not in FIGURES:
        return Figure(column, column)
    known = FIGURES[kind]
    return known._replace(column=column, name=f"{known.name}{bracket}{point}")


def named_points(prior: costs.Points) -> dict[str, float | OperatingPoint]:
    """Return single operating points by what follows the names of costs: ``(0.05)``."""
    points = dict.fromkeys(prior)
    named = {costs.point_words((point,)): point for point in points}
    # Six digits are readable; where they do not tell the points apart, all digits do.
    return named if len(named) == len(points) else {f"({point})": point for point in points}


@attrs.frozen(kw_only=True, eq=False)
class Row:
    """One row of an evaluation.

    Parameters
    ----------
    system : str
        The system.
    condition : str or None
        None says all trials; ``"pooled"`` and ``"equalised"`` are all conditions, whose trials
        count alike, or whose error-rates are averaged; by weights that differ ``"weighted"``.
    n_tar, n_non, n_spoof : int
        Numbers of trials with a score.
    figures : mapping of str to float or None
        Rates as fractions, Cllr in bits, costs. None where a class has no trials.
    estimates : mapping of str to Estimate
        The figures that have an interval, with it.
    """

    system: str
    condition: str | None
    n_tar: int
    n_non: int
    n_spoof: int
    figures: dict[str, float | None]
    estimates: dict[str, Estimate] = attrs.Factory(dict)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of targets, of impostors or all non-targets, and of spoofs."""
        return self.n_tar, self.n_non, self.n_spoof

    @property
    def is_whole(self) -> bool:
        """Whether it is of all trials alike."""
        return self.condition in (None, POOLED)

    def ends(self, figure: str) -> tuple[float, float] | None:
        """Return the interval of a figure, None without one."""
        found = self.estimates.get(figure)
        if found is None or found.low is None or found.high is None:
            return None
        return found.low, found.high

    def to_dict(self) -> dict[str, object]:
        """Return plain values: counts, figures, and ends as ``<figure>_low`` and ``_high``."""
        names = ("system", "condition", "n_tar", "n_non", "n_spoof")
        record: dict[str, object] = {name: getattr(self, name) for name in names}
        for name, value in self.figures.items():
            record[name] = value
            if (ends := self.ends(name)) is not None:
                record[f"{name}_low"], record[f"{name}_high"] = ends
        return record


@attrs.frozen(kw_only=True)
class EvaluationSettings:
    """What systems are judged by, which is the same for all of them.

    Parameters
    ----------
    prior : sequence of float or OperatingPoint
        Operating points.
    plan : EvaluationPlan or None
        A plan of three classes has the figures, in place of all others.
    normalize, eer, confidence, replications, seed
        As for `evaluate`.
    by_speaker : bool
        Whether figures have intervals.
    spoofs : bool
        Whether trials are spoofs.
    calibrated : str
        How scores became log-likelihood-ratios, if that was done here.
    """

    prior: costs.Points = attrs.field(converter=costs.to_points)
    plan: EvaluationPlan | None
    normalize: bool
    eer: EERDefinition
    confidence: float = 0.95
    replications: int = 0
    seed: int = 0
    by_speaker: bool = False
    spoofs: bool = False
    calibrated: str = ""

    @property
    def metrics(self) -> dict[str, AnyMetric]:
        """The metric of each figure."""
        if self.plan is not None and self.plan.figures:
            return metrics_of_plan(self.plan, self.eer)
        found: dict[str, AnyMetric] = {"eer": ranks.EER(self.eer)}
        for name, metric in (("min_dcf", costs.MinDCF), ("act_dcf", costs.ActDCF)):
            points = named_points(self.prior).items()
            found |= {f"{name}{words}": metric(one, self.normalize) for words, one in points}
        found |= {"min_cllr": ranks.MinCllr(), "cllr": costs.Cllr()}
        if self.spoofs:
            found["a_dcf"] = third_class.ADCF("a-DCF1", self.normalize)
            found |= _rates_of_kinds(self.eer)
        return found

    @property
    def resampling(self) -> Resampling:
        """How replicates are drawn; the same for all systems and figures."""
        return Resampling("speaker", self.replications, "percentile", self.confidence, self.seed)

    @property
    def intervals(self) -> str:
        """What the intervals are, in words; nothing where there are none."""
        percent = f"{100 * self.confidence:g} % intervals"
        if self.replications:
            return f"{percent}: speaker bootstrap, {self.replications} replicates, percentile"
        return f"{percent}: jackknife over speakers" if self.by_speaker else ""

    def row(self, system: str, condition: str | None, sample: Sample) -> Row:
        """Compute the figures of a sample, and their intervals."""
        asked = self.metrics
        defined = {name: one for name, one in asked.items() if _has_classes(one, sample)}
        figures = {n: one.value(sample) if n in defined else None for n, one in asked.items()}
        return Row(
            system=system,
            condition=condition,
            n_tar=sample.n_tar,
            n_non=sample.n_non,
            n_spoof=sample.n_spoof,
            figures=figures,
            estimates=self.estimates(defined, sample) if self.by_speaker else {},
        )

    def estimates(self, metrics: Mapping[str, AnyMetric], sample: Sample) -> dict[str, Estimate]:
        """Estimate figures, all by the jackknife over speakers, or all on the same replicates."""
        if self.replications:
            # Each figure begins with the seed, so that all have the same replicates.
            pairs = ((name, one, [one.view(sample)]) for name, one in metrics.items())
            return {name: self.resampling.estimate(one, view) for name, one, view in pairs}
        found = zip(metrics, jackknife([*metrics.values()], sample), strict=True)
        return {name: one.estimate(self.confidence, left.names) for name, (one, left) in found}

    def notes(self, sample: Sample, row: Row) -> list[Note]:
        """Tell what is strange about a sample, and what few speakers leave open."""
        found = [*sample.notes, *few_trials(sample)]
        # Of figures of three classes the first that is there tells whether scores are inverted.
        third = (self.metrics[name] for name in _OF_THREE if row.figures.get(name) is not None)
        odd = [note for one in itertools.islice(third, 1) for note in one.doubts(one.view(sample))]
        if row.figures.get("eer") is not None:
            scored = sample.bona_fide()
            # Of inverted scores no calibration makes good ones.
            odd = ranks.inverted(scored) or odd or costs.not_calibrated(scored, self.prior or None)
            found += costs.unseen_costs(scored, self.prior)
        found += odd
        found += [note for one in row.estimates.values() for note in one.notes]
        return [*{note.kind: note for note in found[::-1]}.values()][::-1]


def few_trials(sample: Sample) -> list[Note]:
    """Note classes of so few trials that one error more or less is a quarter of the rate."""
    sizes = (sample.n_tar, "targets"), (sample.n_non, "non-targets")
    few = [(n, noun) for n, noun in sizes if 0 < n < FEWEST_UNITS]
    text = " and ".join(f"{n} {noun}" for n, noun in few) + ": too few to show any error-rate"
    return [Note(FewErrorsWarning, text, count=min(few)[0])] if few else []


def _has_classes(metric: AnyMetric, sample: Sample) -> bool:
    """Tell whether a sample has trials of each class that a metric judges."""
    try:
        view = metric.view(sample)
    except InvalidInputError:
        return False
    return bool(view.n_tar and view.non.size)


def pooled(sample: Sample, members: Sequence[ConditionMembers]) -> Sample:
    """Return the trials of some conditions, all alike."""
    tar = np.unique(np.concatenate([item.tar for item in members]))
    non = np.unique(np.concatenate([item.non for item in members]))
    return sample.take(tar, non)


def parts_of(
    sample: Sample, members: Sequence[ConditionMembers] | None
) -> Iterator[tuple[str | None, Sample]]:
    """Yield all trials; of conditions all pooled, each alone, and all weighted."""
    if members is None:
        yield None, sample
        return
    whole = pooled(sample, members)
    yield POOLED, whole
    for item in members:
        yield item.name, sample.take(item.tar, item.non)
    name = name_of_all([item.weight for item in members])
    yield name, sample.weighted(members) if whole.n_tar and whole.non.size else whole


def rows_of(
    how: EvaluationSettings, system: str, sample: Sample, members: Sequence[ConditionMembers] | None
) -> tuple[list[Row], list[Note]]:
    """Return the rows of a system, conditions first, and what is to be said of them."""
    rows, notes = [], []
    # What is said of all trials is not said of each condition.
    said: set[type[Warning]] = set()
    for name, part in parts_of(sample, members):
        row = how.row(system, name, part)
        rows.append(row)
        if members is None and {*row.figures.values()} == {None}:
            # What the trials lack is said in words.
            next(iter(how.metrics.values())).view(sample)
        about = system if row.is_whole else f"{system} ({name})"
        for note in how.notes(part, row):
            if note.kind not in said or (note.count is not None and note.count < FEWEST_UNITS):
                notes.append(attrs.evolve(note, about=about))
        said |= {note.kind for note in notes if row.is_whole}
    return (rows if members is None else [*rows[1:-1], rows[0], rows[-1]]), notes


def _rates_of_kinds(eer: EERDefinition) -> dict[str, AnyMetric]:
    """Return the equal error-rates of targets and impostors, spoofs, or both."""
    kinds = third_class.SVEER(eer), third_class.SPFEER(eer), third_class.SASVEER(eer)
    return dict(zip(("sv_eer", "spf_eer", "sasv_eer"), kinds, strict=True))


def metrics_of_plan(plan: EvaluationPlan, eer: EERDefinition) -> dict[str, AnyMetric]:
    """Return the metric of each figure of a plan of three classes, or of two detectors."""
    of_cm = tandem.CountermeasureEER if plan.detectors == 2 else third_class.BonafideEER
    known = {**_rates_of_kinds(eer), "t_eer": tandem.TEER(), "cm_eer": of_cm(eer)}
    if (given := plan.spoof_costs) is not None:
        known["a_dcf"] = third_class.ADCF(given, plan.normalize)
        known["act_a_dcf"] = third_class.ActADCF(given, plan.normalize)
        known["t_dcf"] = tandem.TDCF(given, form=plan.form)
        known["act_t_dcf"] = tandem.TDCF(given, form=plan.form, threshold="bayes")
    return {name: known[name] for name in plan.figures}
