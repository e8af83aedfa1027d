"""The rows of a table of systems: figures of one system, and their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from bosaris_py._notes import cautions, warn
from bosaris_py._tables import words_of_eer
from bosaris_py._validation import as_flag
from bosaris_py.evaluation import ConditionRow, EvaluationPlan, Results
from bosaris_py.evaluation.condition_table import TableIntervals, rows_of_sample, table_figures
from bosaris_py.evaluation.plans.partitions import Partitioning, PlanTrials
from bosaris_py.metrics.costs import ActDCF, Cllr, MinDCF
from bosaris_py.metrics.metric import AnyMetric
from bosaris_py.metrics.ranks import EER, MinCllr
from bosaris_py.metrics.tandem import TDCF, TEER, CountermeasureEER, tandem_sample
from bosaris_py.metrics.third_class import ADCF, SASVEER, SPFEER, SVEER, ActADCF, BonafideEER
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials import Conditions
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers, speaker_names
from bosaris_py.uncertainty.bands import Band, BandKind, bands_of_sample
from bosaris_py.uncertainty.bootstrap import Resampling
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.jackknife import jackknife

if TYPE_CHECKING:
    from bosaris_py.evaluation import PrimaryCost

# Bands of more replicates look the same.
_BAND_REPLICATES = 500


def metrics_of_plan(plan: EvaluationPlan, eer: EERDefinition) -> dict[str, AnyMetric]:
    """Return the metric of each figure of a plan of three classes, or of two detectors."""
    tandem = plan.detectors == 2
    known: dict[str, AnyMetric] = {"sv_eer": SVEER(eer), "spf_eer": SPFEER(eer)}
    known |= {"sasv_eer": SASVEER(eer), "t_eer": TEER()}
    known["cm_eer"] = CountermeasureEER(eer) if tandem else BonafideEER(eer)
    if plan.spoof_costs is not None:
        known["a_dcf"] = ADCF(plan.spoof_costs, plan.normalize)
        known["act_a_dcf"] = ActADCF(plan.spoof_costs, plan.normalize)
        known["min_t_dcf"] = TDCF(plan.spoof_costs, form=plan.tandem_form)
        known["act_t_dcf"] = TDCF(plan.spoof_costs, form=plan.tandem_form, threshold="bayes")
    return {name: known[name] for name in plan.figures}


def as_point(point: float | OperatingPoint) -> OperatingPoint:
    """Return an operating point; of a prior alone, that of unit costs."""
    return point if isinstance(point, OperatingPoint) else OperatingPoint(point)


@attrs.frozen(kw_only=True)
class Judging:
    """How systems are judged on a key."""

    # A Key; None where scores and key stay in files.
    key: Any
    points: Mapping[str, float | OperatingPoint]
    normalize: bool = attrs.field(converter=as_flag)
    conditions: Conditions | None
    speakers: SpeakersLike
    replications: int
    seed: int
    confidence: float
    # How the scores became log-likelihood-ratios, if that was done here.
    calibrated: str = ""
    eer: EERDefinition = "rocch"

    @property
    def prior(self) -> list[float | OperatingPoint]:
        """The operating points as a list."""
        return [*self.points.values()]

    @property
    def by_speaker(self) -> bool:
        """Whether figures have intervals."""
        told = self.speakers
        is_told = told != (None, None) if isinstance(told, tuple) else told is not None
        return bool(self.replications or is_told)

    @property
    def metrics(self) -> dict[str, AnyMetric]:
        """The metric of each figure of a table."""
        found: dict[str, AnyMetric] = {"eer": EER(self.eer)}
        found |= {f"min_dcf{n}": MinDCF(p, self.normalize) for n, p in self.points.items()}
        found |= {f"act_dcf{n}": ActDCF(p, self.normalize) for n, p in self.points.items()}
        return found | {"min_cllr": MinCllr(), "cllr": Cllr()}

    def pooled(self, results: Results) -> ConditionRow:
        """Return the row of all trials."""
        return ConditionRow(
            name="pooled",
            kind="pooled",
            weight=None,
            n_tar=results.n_tar,
            n_non=results.n_non,
            figures=table_figures(results, self.points, normalize=self.normalize, eer=self.eer),
            normalized=self.normalize,
            eer_definition=self.eer,
        )

    def sample(self, scores: Scores) -> Sample:
        """Join the scores of a system with the key, with speakers where intervals are asked for."""
        who = TrialSpeakers.from_key(self.key, self.speakers) if self.by_speaker else None
        return Sample.from_trials(scores, self.key, None, who)

    def tandem(self, systems: Mapping[str, Scores]) -> Sample:
        """Join the scores of a verifier and of a countermeasure with the key."""
        who = TrialSpeakers.from_key(self.key, self.speakers) if self.by_speaker else None
        return tandem_sample(systems["asv"], systems["cm"], self.key, who)

    def estimates(self, metrics: Mapping[str, AnyMetric], sample: Sample) -> dict[str, Estimate]:
        """Estimate figures, all by the jackknife over speakers, or all on the same replicates."""
        if self.replications:
            return {
                name: self.resampling().estimate(metric, [metric.view(sample)])
                for name, metric in metrics.items()
            }
        found = jackknife([*metrics.values()], sample)
        return {
            name: one.estimate(self.confidence, left.names)
            for name, (one, left) in zip(metrics, found, strict=True)
        }

    def ends(
        self, metrics: Mapping[str, AnyMetric], sample: Sample
    ) -> dict[str, tuple[float, float]]:
        """Return the intervals of figures that have one, and warn once of few speakers."""
        found = self.estimates(metrics, sample)
        notes = {note.kind: note for one in found.values() for note in one.notes}
        warn(notes.values())
        return {
            name: (one.low, one.high)
            for name, one in found.items()
            if one.low is not None and one.high is not None
        }

    def resampling(self) -> Resampling:
        """Return how replicates are drawn; the same for all systems and figures."""
        return Resampling(
            method="speaker",
            replications=self.replications,
            interval="percentile",
            confidence=self.confidence,
            rng=self.seed,
        )

    def rows(self, scores: Scores, sample: Sample, results: Results) -> Iterable[ConditionRow]:
        """Return the rows of a system: of all trials, and of conditions if there are any."""
        if self.conditions is None:
            row = self.pooled(results)
            found, words = self.intervals(sample, "") if self.by_speaker else ({}, "")
            return [attrs.evolve(row, intervals=found, how=words)]
        return rows_of_sample(
            sample,
            self.conditions.scored_members(scores, self.key),
            self.points,
            normalize=self.normalize,
            intervals=self.intervals if self.by_speaker else None,
            eer=self.eer,
        )

    def intervals(self, sample: Sample, name: str) -> TableIntervals:
        """Return the intervals of a row, and what they are."""
        with cautions(**{"condition": name} if name else {}):
            return self.ends(self.metrics, sample), self.how

    def with_intervals(self, cost: PrimaryCost, scores: Scores, sample: Sample) -> PrimaryCost:
        """Add the intervals of a primary cost, of its points and of its partitions."""
        if not self.by_speaker or cost.pooled or cost.parts:
            return cost
        cut = PlanTrials.of(scores, self.key, self.key.columns or None).partition(cost.plan, {})
        return self._with_ends(cost, sample, cut)

    def _with_ends(self, cost: PrimaryCost, sample: Sample, cut: Partitioning) -> PrimaryCost:
        view, points = sample.weighted(cut.members), cost.plan.operating_points

        def ends_of(part: Sample, chosen: Iterable[OperatingPoint]) -> Mapping[str, Any]:
            normalize = cost.plan.normalize
            listed = tuple(chosen)
            both = {"minimum": MinDCF(listed, normalize), "actual": ActDCF(listed, normalize)}
            return self.ends(both, part)

        parts = []
        for part, of_part in zip(cost.partitions, cut.partitions, strict=True):
            if len(cost.partitions) > 1 and part.n_tar and part.n_non and not part.n_stand_ins:
                alone = sample.take(of_part.members.tar, of_part.members.non)
                part = attrs.evolve(part, intervals=ends_of(alone, points))
            parts.append(part)
        return attrs.evolve(
            cost,
            intervals=ends_of(view, points),
            points=tuple(
                attrs.evolve(one, intervals=ends_of(view, [one.point])) for one in cost.points
            ),
            partitions=tuple(parts),
            how=self.how,
        )

    def row_of_plan(self, plan: EvaluationPlan, sample: Sample) -> ConditionRow:
        """Return the row of a plan of three classes, or of two detectors."""
        metrics = metrics_of_plan(plan, self.eer)
        figures = {name: metric.judge(sample) for name, metric in metrics.items()}
        return ConditionRow(
            name="pooled",
            kind="pooled",
            weight=None,
            n_tar=sample.n_tar,
            n_non=sample.non.size,
            figures=figures,
            intervals=self.ends(metrics, sample) if self.by_speaker else {},
            # The cost of a tandem always is.
            normalized=(plan.normalize or plan.detectors == 2) if plan.spoof_costs else None,
            eer_definition=self.eer,
            how=self.how,
        )

    def rows_of_sets(self, plan: EvaluationPlan, scores: Scores) -> list[ConditionRow]:
        """Return the rows of a plan of several data sets: each by itself, and their mean."""
        sample = self.sample(scores)
        rows = []
        for name, tar, non in sets_of_sample(scores, self.key, plan.sets):
            with cautions(condition=name):
                row = self.row_of_plan(plan, sample.take(tar, non))
            rows.append(attrs.evolve(row, name=name, kind="condition"))
        rows = [attrs.evolve(row, weight=1.0 / len(rows)) for row in rows]
        means = {
            name: float(np.mean([row.figures[name] for row in rows])) for name in rows[0].figures
        }
        mean = attrs.evolve(
            rows[0],
            name="mean over sets",
            kind="pooled",
            weight=None,
            n_tar=sample.n_tar,
            n_non=sample.non.size,
            figures=means,
            intervals={},
        )
        return [*rows, mean]

    def bands(self, sample: Sample) -> dict[BandKind, Band]:
        """Return bands around the curves of a system."""
        how = attrs.evolve(self.resampling(), replications=self.band_replicates)
        return bands_of_sample(sample, how)

    @property
    def band_replicates(self) -> int:
        """The number of replicates of bands."""
        return min(self.replications, _BAND_REPLICATES)

    def speaker_counts(self) -> dict[str, int]:
        """Return the number of speakers of models and of segments, where they are known."""
        sides = zip(("models", "segments"), speaker_names(self.speakers, self.key), strict=True)
        return {side: len({*names} - {None}) for side, names in sides if names is not None}

    def facts(self) -> dict[str, str]:
        """Return what a report says of the evaluation."""
        key = self.key
        facts = {}
        if key is not None:
            models, segments = (ids.size for ids in key.ids)
            facts["Trials"] = f"{key.n_tar} targets, {key.n_non} non-targets"
            facts["Trials"] += f", {key.n_spoof} spoofs" if key.n_spoof else ""
            facts["Models and segments"] = f"{models} models, {segments} segments"
            known = self.speaker_counts()
            counts = ", ".join(f"{count} of the {side}" for side, count in known.items())
            facts["Speakers"] = counts or "not given"
        points = [as_point(point) for point in self.points.values()]
        facts["Operating points"] = "; ".join(
            f"P(target) {point.p_target:g}, C(miss) {point.c_miss:g}, C(false alarm) {point.c_fa:g}"
            for point in points
        )
        facts["Equal error-rate"] = words_of_eer(self.eer)
        if self.conditions is not None:
            facts["Conditions"] = str(len(self.conditions.names))
        facts["Intervals"] = self.how or "none"
        if self.calibrated:
            facts["Calibration"] = self.calibrated
        if self.replications or self.calibrated:
            facts["Seed"] = str(self.seed)
        return facts

    @property
    def how(self) -> str:
        """What the intervals are, in words; nothing where there are none."""
        percent = f"{100 * self.confidence:g} % intervals"
        if self.replications:
            return f"{percent}: speaker bootstrap, {self.replications} replicates, percentile"
        return f"{percent}: jackknife over speakers" if self.by_speaker else ""


def sets_of_sample(scores: Scores, key: Key, column: str) -> list[tuple[str, Any, Any]]:
    """Return each data set that a column of the key names: its places among both classes."""
    from bosaris_py.trials.scores import scored_trials

    factor, labels = key.columns.factor(column), key.is_target
    scored = scored_trials(scores, key)
    kept = np.ones(labels.size, dtype=np.bool_) if scored is None else scored
    codes = [factor.codes[kept & mask] for mask in (labels, ~labels)]
    found = []
    for code, name in enumerate(factor.levels.tolist()):
        tar, non = (np.flatnonzero(part == code) for part in codes)
        if tar.size or non.size:
            found.append((name, tar, non))
    return found
