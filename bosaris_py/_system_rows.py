"""How systems are evaluated: the rows of a table, their intervals, and the words for both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from bosaris_py._cautions import cautions, collected, hushed
from bosaris_py._tables import words_of_eer
from bosaris_py._validation import as_flag
from bosaris_py.errors import FewErrorsWarning, FewSpeakersWarning, UncertainPlanWarning
from bosaris_py.evaluation import ConditionRow, EvaluationPlan, Results
from bosaris_py.evaluation.condition_table import TableIntervals, rows_of_sample, table_figures
from bosaris_py.evaluation.plans.partitions import Partitioning, PlanTrials
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials import Conditions, IdMap, TrialMetadata
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.kinds import nouns_of_third
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers
from bosaris_py.uncertainty.analytic import errors_by_speaker
from bosaris_py.uncertainty.bootstrapping import bootstrap_sample, row_intervals, table_statistics
from bosaris_py.uncertainty.influence.losses import has_losses, losses_of
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    METHOD,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.plan_statistics import (
    PrimaryCost as PlanStatistic,
    views_of_sets,
    whole_sample,
)
from bosaris_py.uncertainty.resampling import Resampling, refuse_repeated
from bosaris_py.uncertainty.spoof_statistics import statistics_of_plan
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, warn_unless_fit
from bosaris_py.uncertainty.statistics.roc_functions import EER, SteppyEER, statistic_of_eer
from bosaris_py.uncertainty.statistics.statistic import Statistic

if TYPE_CHECKING:
    from bosaris_py.evaluation import PrimaryCost

_BAND_REPLICATES = 500


def _costs_of(plan: EvaluationPlan) -> dict[str, Statistic]:
    """Return both costs of a plan, by the names that they have in tables."""
    least, actual = (PlanStatistic(plan, minimum=minimum).plain for minimum in (True, False))
    return {"min_primary": least, "act_primary": actual}


def _by_kind(ends: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    return {"minimum": ends["min_primary"], "actual": ends["act_primary"]}


def as_point(point: float | OperatingPoint) -> OperatingPoint:
    return point if isinstance(point, OperatingPoint) else OperatingPoint(point)


@attrs.frozen(kw_only=True)
class Judging:
    """How systems are evaluated: all that the rows of a table have in common."""

    # A Key or FlatKey; None where scores and key stay in files.
    key: Any
    points: Mapping[str, float | OperatingPoint]
    normalize: bool = attrs.field(converter=as_flag)
    conditions: Conditions | None
    # From models and from segments to speakers.
    maps: tuple[IdMap | None, IdMap | None]
    replications: int
    seed: int
    confidence: float
    # How the scores became log-likelihood-ratios, if that was done here.
    calibrated: str = ""
    eer: EERDefinition = "rocch"
    workers: int = 1
    # What describes the trials of the key.
    metadata: TrialMetadata | None = None

    @property
    def prior(self) -> list[float | OperatingPoint]:
        """The operating points, in a list."""
        return [*self.points.values()]

    @property
    def statistic_of_eer(self) -> EER | SteppyEER:
        """The equal error rate of the table."""
        return statistic_of_eer(self.eer)

    def pooled(self, results: Results) -> ConditionRow:
        """Return the row of all trials, without intervals."""
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

    @property
    def by_speaker(self) -> bool:
        """Whether intervals are asked for, which take the speakers of the trials."""
        return bool(self.replications or any(self.maps))

    @property
    def who(self) -> Speakers:
        """The speakers of both sides."""
        return Speakers(self.maps)

    @property
    def drawn(self) -> dict[str, Any]:
        """Whose trials other functions draw, and from which seed."""
        return {"speakers": self.maps, "rng": self.seed}

    def sample(self, scores: AnyScores, others: Iterable[ListedSample]) -> ListedSample:
        """Join the scores of a system with the key, and with speakers where they are asked for."""
        if not self.by_speaker:
            return ListedSample.of(scores, self.key)
        who = self.who
        sample = ListedSample.of(scores, self.key, None, lambda: who.of_trials(self.key))
        for other in others:
            sample = sample.sharing_pairs(other)
        return sample.arranged()

    def rows(
        self, scores: AnyScores, sample: ListedSample, results: Results
    ) -> Iterable[ConditionRow]:
        """Return the rows of one system, with intervals."""
        intervals = self.intervals if self.by_speaker else None
        if self.conditions is None:
            row = self.pooled(results)
            ends, words = intervals(sample, "") if intervals else ({}, "")
            return [attrs.evolve(row, intervals=ends, how=words)]
        members = self.conditions.scored_members(scores, self.key)
        return rows_of_sample(
            sample,
            members,
            self.points,
            normalize=self.normalize,
            intervals=intervals,
            eer=self.eer,
        )

    def intervals(self, sample: ListedSample, name: str) -> TableIntervals:
        """Return intervals of the figures of a row; without replications those of a formula."""
        found = {}
        with cautions(**{"condition": name} if name else {}):
            if self.replications:
                statistics = table_statistics(self.prior, normalize=self.normalize, eer=self.eer)
                return row_intervals(sample, statistics, self.resampling(self.replications))
            refuse_repeated(sample)
            for suffix, point in self.points.items():
                cost = as_point(point)
                # Of several points a warning says which one it is about.
                about = {"figure": f"actDCF{suffix}"} if len(self.points) > 1 else {}
                with cautions(**about):
                    errors = errors_by_speaker(sample, cost.threshold)
                    interval = errors.dcf_interval(
                        cost, confidence=self.confidence, normalize=self.normalize
                    )
                found[f"act_dcf{suffix}"] = interval.low, interval.high
        return found, self.how

    def with_intervals(
        self,
        cost: PrimaryCost,
        scores: AnyScores,
        sample: ListedSample,
        metadata: TrialMetadata | None,
    ) -> PrimaryCost:
        """Return the cost of a plan with its intervals, those of its points and its partitions."""
        if not self.by_speaker or cost.pooled or cost.parts:
            return cost
        # What there is to say of the plan has been said of the cost.
        with hushed(UncertainPlanWarning):
            cut = PlanTrials.of(scores, self.key, metadata).partition(cost.plan, {})
        return self._with_ends(cost, sample, cut)

    def _with_ends(self, cost: PrimaryCost, sample: ListedSample, cut: Partitioning) -> PrimaryCost:
        """Return the cost of one data set, as `with_intervals` does."""
        plan, view = cost.plan, sample.weighted(cut.members)
        both = _costs_of(plan)
        ends, words = self._ends_of_costs(view, both)
        # Of points and partitions no warnings are given, but a note is.
        with collected() as heard:
            points = []
            for point in cost.points:
                own = _costs_of(plan.evolve(operating_points=[point.point]))
                found = ends if len(cost.points) == 1 else self._ends_of_costs(view, own)[0]
                points.append(attrs.evolve(point, intervals=found))
            parts = []
            for part, of_part in zip(cost.partitions, cut.partitions, strict=True):
                members = of_part.members
                if len(cost.partitions) > 1 and part.n_tar and part.n_non and not part.n_stand_ins:
                    alone = sample.restricted(members.tar, members.non)
                    found = self._ends_of_costs(alone, both)[0]
                    part = attrs.evolve(part, intervals=found)
                parts.append(part)
        notes = [*cost.notes]
        if any(issubclass(one.category, FewSpeakersWarning | FewErrorsWarning) for one in heard):
            notes.append(
                "Intervals of some points or partitions rest on few speakers or few errors: they "
                "are approximate."
            )
        return attrs.evolve(
            cost,
            intervals=ends,
            points=tuple(points),
            partitions=tuple(parts),
            how=words,
            notes=tuple(notes),
        )

    def _ends_of_costs(
        self, sample: ListedSample, statistics: Mapping[str, Statistic]
    ) -> TableIntervals:
        """Return intervals by replicates, or without those of the actual cost by its formula."""
        if self.replications:
            ends, words = row_intervals(sample, statistics, self.resampling(self.replications))
            return _by_kind(ends), words
        influence = SpeakerInfluence.on(statistics["act_primary"], sample)
        check_influences({"act_primary": influence}, FEWEST_FOR_INTERVAL)
        interval = influence.interval(self.confidence, METHOD)
        return {"actual": (interval.low, interval.high)}, self.how

    def rows_of_kinds(
        self, scores: AnyScores, plan: EvaluationPlan, key: KeyLike
    ) -> list[ConditionRow]:
        """Return the row of a system under a plan of three classes, after those of data sets."""
        # What is drawn without replicates is not looked at, but speakers are.
        drawn = Resampling("speaker" if self.by_speaker else "iid")
        found = statistics_of_plan(plan, self.eer)
        whole = whole_sample(next(iter(found.values())), scores, key, self.who, drawn)
        statistics = {name: (one, one.plain) for name, one in found.items()}
        sets = views_of_sets(scores, key, plan.sets) if plan.sets else {}
        rows = []
        for name, take in sets.items():
            part = take(whole)
            own = {figure: (one.view(part), plain) for figure, (one, plain) in statistics.items()}
            with cautions(condition=name):
                rows.append(self._row_of_views(own, plan, part, name, 1.0 / len(sets)))
        if sets:
            means: dict[str, float | None] = {
                figure: math.fsum(v for row in rows if (v := row.figures[figure]) is not None)
                / len(rows)
                for figure in statistics
            }
            return [*rows, self._row_of_plan(plan, whole, means, {})]
        viewed = {f: (one.view(whole), plain) for f, (one, plain) in statistics.items()}
        return [self._row_of_views(viewed, plan, whole)]

    def _row_of_views(
        self,
        viewed: Mapping[str, tuple[ListedSample, AnyStatistic]],
        plan: EvaluationPlan,
        whole: ListedSample,
        name: str = "",
        weight: float | None = None,
    ) -> ConditionRow:
        """Return the row of some statistics, each of a sample."""
        figures: dict[str, float | None] = {}
        found: dict[str, tuple[float, float]] = {}
        for figure, (sample, plain) in viewed.items():
            figures[figure] = float(plain.of_sample(sample))
            warn_unless_fit([plain], sample)
            if self.replications:
                once = self.resampling(self.replications)
                found |= row_intervals(sample, {figure: plain}, once)[0]
            elif self.by_speaker and (has_losses(plain) or isinstance(plain, SteppyEER)):
                influence = SpeakerInfluence.of(losses_of(plain, sample), sample)
                check_influences({figure: influence}, FEWEST_FOR_INTERVAL)
                interval = influence.interval(self.confidence, METHOD)
                found[figure] = interval.low, interval.high
        return self._row_of_plan(plan, whole, figures, found, name, weight)

    def _row_of_plan(
        self,
        plan: EvaluationPlan,
        whole: ListedSample,
        figures: Mapping[str, float | None],
        found: Mapping[str, tuple[float, float]],
        name: str = "",
        weight: float | None = None,
    ) -> ConditionRow:
        return ConditionRow(
            name=name or ("mean over sets" if plan.sets else "pooled"),
            kind="condition" if name else "pooled",
            weight=weight,
            n_tar=whole.n_tar,
            n_non=whole.n_non,
            figures=figures,
            intervals=found,
            # The cost of a tandem always is.
            normalized=(plan.normalize or plan.detectors == 2) if plan.spoof_costs else None,
            eer_definition=self.eer,
            how=self._how("") if found else "",
        )

    def row_of_tandem(
        self, systems: Mapping[str, AnyScores], plan: EvaluationPlan, key: KeyLike
    ) -> ConditionRow:
        """Return the row of a verifier and a countermeasure, with intervals by replicates."""
        from bosaris_py.uncertainty.tandem_statistics import statistics_of_tandem, tandem_figures

        statistics = statistics_of_tandem(plan, self.eer)
        how = {"method": "speaker", "confidence": self.confidence, "workers": self.workers}
        drawn = {**self.drawn, **how} if self.replications else {}
        found = tandem_figures(
            key,
            [*statistics.values()],
            asv=systems["asv"],
            cm=systems["cm"],
            replications=self.replications,
            **drawn,
        )
        numbers = dict(zip(statistics, found, strict=True))
        ends = {
            name: (low, high)
            for name, (_, low, high) in numbers.items()
            if low is not None and high is not None
        }
        whole = Resampling("iid").kinds_sample(systems["asv"], key, self.who)
        figures = {name: value for name, (value, _, _) in numbers.items()}
        return self._row_of_plan(plan, whole, figures, ends)

    def resampling(self, replications: int) -> Resampling:
        """Return how replicates are drawn: the same for all rows, systems and bands."""
        return Resampling(
            "speaker",
            rng=self.seed,
            workers=self.workers,
            replications=replications,
            confidence=self.confidence,
        )

    @property
    def band_replicates(self) -> int:
        """Number of replicates of bands."""
        return min(self.replications, _BAND_REPLICATES)

    def bands(self, sample: ListedSample) -> dict[str, Any]:
        """Return the bands of a system by what they are around."""
        from bosaris_py.uncertainty.bands import ECE, ActDCFCurve, DETCurve, Tippett

        how = self.resampling(self.band_replicates)
        curves: dict[str, Any] = {
            "det": DETCurve(),
            "bayes": ActDCFCurve(),
            "tippett": Tippett(),
            "ece": ECE(),
        }
        found = bootstrap_sample([*curves.values()], sample, how.plan(sample), how, shared=True)
        return {
            name: curve.band(result)
            for (name, curve), result in zip(curves.items(), found, strict=True)
        }

    def speakers(self) -> dict[str, int]:
        """Return the number of speakers of each side whose speakers are known."""
        sides = zip(self.maps, ("models", "segments"), self.key.ids, strict=True)
        return {
            side: np.unique(found.rightids[np.isin(found.leftids, ids)]).size
            for found, side, ids in sides
            if found is not None
        }

    def facts(self) -> dict[str, str]:
        """Say what was evaluated, and how."""
        key = self.key
        facts = {}
        if key is not None:
            models, segments = (ids.size for ids in key.ids)
            third = nouns_of_third(self.metadata)
            facts["Trials"] = f"{key.n_tar} targets, {key.n_non} non-targets"
            facts["Trials"] += f", of which {third}" if third else ""
            facts["Models and segments"] = f"{models} models, {segments} segments"
            known = self.speakers()
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
        return self._how(" of actual costs")

    def _how(self, of_formula: str) -> str:
        """Say what the intervals are; `of_formula` names the figures that have a formula."""
        percent = f"{100 * self.confidence:g} % intervals"
        if self.replications:
            how = f"{percent}: speaker bootstrap, {self.replications} replicates"
            # The least rank of a replicate that ends an interval of Student's kind is 1.
            few = round(0.5 * (1.0 - self.confidence) * (self.replications + 1), 9) < 1
            return f"{how}, too few for quantiles: Student's t by formula" if few else how
        if self.by_speaker:
            return f"{percent}{of_formula}: formula for trials that share speakers"
        return ""
