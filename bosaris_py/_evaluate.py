"""One call from scores to evaluated systems: a table, plots and comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._execution import progress_bar
from bosaris_py._lazy import on_demand
from bosaris_py._tables import Table, joined_notes, or_none, words_of_eer
from bosaris_py._validation import (
    Caution,
    FilePath,
    Rng,
    also,
    as_seed,
    cautions,
    check_choice,
    check_fraction,
    collected,
    describe,
    hushed,
    invalid,
    list_some,
)
from bosaris_py.calibration import LinearCalibration
from bosaris_py.calibration import cross_fit as cross_fitted
from bosaris_py.errors import BosarisWarning, PlotRangeWarning, UncertainPlanWarning
from bosaris_py.evaluation import (
    ConditionRow,
    ConditionTable,
    EvaluationPlan,
    PrimaryCost,
    Results,
    SystemTable,
    primary_cost,
)
from bosaris_py.evaluation.claims import (
    Claim,
    ClaimRow,
    ClaimTable,
    CriterionRow,
    CriterionTable,
    JudgedBy,
)
from bosaris_py.evaluation.condition_table import TableIntervals, table_figures, table_of_sample
from bosaris_py.evaluation.plan_presets import find_plan
from bosaris_py.evaluation.results import named_points
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.numerics.priors import OperatingPoint, PriorLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.storage.atomic import refuse_inputs
from bosaris_py.trials import Conditions, IdMap, TrialMetadata
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, to_natural
from bosaris_py.trials.speakers import (
    KeyLike,
    Speakers,
    SpeakersLike,
    SpeakersOfSide,
    SystemsLike,
    as_conditions,
    as_systems,
    large_files,
    named_systems,
    speaker_maps,
    split_key,
)
from bosaris_py.uncertainty.analytic import errors_by_speaker
from bosaris_py.uncertainty.bands import ECE, ActDCFCurve, DETCurve, PAVMap, Tippett
from bosaris_py.uncertainty.bootstrap_result import Alternative, BootstrapResult
from bosaris_py.uncertainty.bootstrapping import bootstrap_sample, row_intervals, table_statistics
from bosaris_py.uncertainty.comparisons import (
    ComparisonTable,
    compare_samples,
    compare_systems,
    paired_bootstrap,
    refuse_different_trials,
)
from bosaris_py.uncertainty.influence import (
    FEWEST_FOR_INTERVAL,
    LINEAR,
    METHOD,
    SpeakerInfluence,
    check_influences,
    losses_of,
)
from bosaris_py.uncertainty.multiplicity.corrections import holm_correction
from bosaris_py.uncertainty.multiplicity.cross_table import CrossTable, cross_table
from bosaris_py.uncertainty.primary_cost import PrimaryCost as PlanStatistic
from bosaris_py.uncertainty.primary_cost import divided
from bosaris_py.uncertainty.resampling import Resampling, ScoresMethod, refuse_repeated
from bosaris_py.uncertainty.statistic import (
    DCF,
    EER,
    ActDCF,
    MinDCF,
    StatisticLike,
    SteppyEER,
    warn_unless_fit,
)
from bosaris_py.uncertainty.third_class import SpoofStatistic, statistics_of_plan

# Plots by their kinds: of all systems, and others, with the names of their functions.
_KINDS = ("det", "bayes", "tippett", "ece", "pav", "reliability", "ape", "error_rates")
_OTHER_KINDS = {
    "histogram": "histogram",
    "forest": "forest",
    "difference": "difference",
    "map": "condition_map",
}

# Matplotlib is imported when a plot is asked for, so the types of plots are not known here.
_late, _ = on_demand(
    __name__,
    {
        "bosaris_py.plots": (
            "BayesPlot",
            "DETPlot",
            *(f"plot_{kind}" for kind in (*_KINDS, *_OTHER_KINDS.values())),
        ),
        "bosaris_py.report": ("Report", "write_report"),
    },
)


# Bands of a report, if intervals are by bootstrap. Of more systems they would hide each other: then
# that of least Cllr has some.
_BANDS: dict[str, Any] = {
    "det": DETCurve(),
    "bayes": ActDCFCurve(),
    "tippett": Tippett(),
    "ece": ECE(),
    "pav": PAVMap(),
}
_MOST_BANDS, _BAND_REPLICATES = 2, 500

# Pairs of more systems fill no page that is read.
_MOST_COMPARED = 6


def _as_point(point: float | OperatingPoint) -> OperatingPoint:
    return point if isinstance(point, OperatingPoint) else OperatingPoint(point)


@attrs.frozen(kw_only=True)
class _Judging:
    """How systems are evaluated: all that the rows of a table have in common."""

    # A Key or FlatKey; None where scores and key stay in files.
    key: Any
    points: Mapping[str, float | OperatingPoint]
    normalize: bool
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
    # The stratum of each speaker.
    strata: IdMap | None = None
    # What describes the trials of the key.
    metadata: TrialMetadata | None = None
    # What replicates draw.
    method: ScoresMethod = "speaker"

    @property
    def prior(self) -> Any:
        """The operating points, in a list."""
        return [*self.points.values()]

    @property
    def statistic_of_eer(self) -> EER | SteppyEER:
        """The equal error rate of the table."""
        return EER() if self.eer == "rocch" else SteppyEER(self.eer)

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
        return bool(self.replications or any(self.maps) or self.strata)

    @property
    def who(self) -> Speakers:
        """The speakers and their strata."""
        return Speakers(self.maps, strata=self.strata)

    def sample(self, scores: AnyScores, others: Iterable[ListedSample]) -> ListedSample:
        """Join the scores of a system with the key, and with speakers where they are asked for."""
        if not self.by_speaker:
            return ListedSample.of(scores, self.key)
        who = self.who
        if self.method != "speaker":
            return self.resampling(self.replications).sample(scores, self.key, who, None)
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
        options: Any = {"normalize": self.normalize, "intervals": intervals, "eer": self.eer}
        return table_of_sample(sample, members, self.points, **options).rows

    def intervals(self, sample: ListedSample, name: str) -> TableIntervals:
        """Return intervals of the figures of a row; without replications those of a formula."""
        found = {}
        with cautions(**{"condition": name} if name else {}):
            if self.replications:
                statistics = table_statistics(self.prior, normalize=self.normalize, eer=self.eer)
                return row_intervals(sample, statistics, self.resampling(self.replications))
            refuse_repeated(sample)
            for suffix, point in self.points.items():
                cost = _as_point(point)
                errors = errors_by_speaker(sample, cost.threshold)
                options: Any = {"confidence": self.confidence, "normalize": self.normalize}
                interval = errors.dcf_interval(cost, **options)
                found[f"act_dcf{suffix}"] = interval.low, interval.high
        return found, self.how

    def intervals_of_primary(
        self,
        cost: PrimaryCost,
        scores: AnyScores,
        sample: ListedSample,
        metadata: TrialMetadata | None,
    ) -> dict[str, tuple[float, float]]:
        """Return the intervals of the cost of a plan that weighs partitions of one data set."""
        if not self.by_speaker or cost.pooled or cost.parts:
            return {}
        actual = PlanStatistic(cost.plan)
        # What there is to say of the plan has been said of the cost.
        with hushed(UncertainPlanWarning):
            view = divided(sample, actual, scores, self.key, metadata)
        if self.replications:
            least = PlanStatistic(cost.plan, minimum=True)
            statistics = {"min_primary": least.plain, "act_primary": actual.plain}
            found, _ = row_intervals(view, statistics, self.resampling(self.replications))
            return dict(found)
        influence = SpeakerInfluence.on(actual.plain, view)
        check_influences({"act_primary": influence}, FEWEST_FOR_INTERVAL)
        interval = influence.interval(self.confidence, METHOD)
        return {"act_primary": (interval.low, interval.high)}

    def row_of_kinds(self, scores: AnyScores, plan: EvaluationPlan, key: KeyLike) -> ConditionRow:
        """Return the row of a system under a plan of three classes, with intervals."""
        statistics = statistics_of_plan(plan)
        drawn = Resampling(self.method if self.by_speaker else "iid")
        whole = drawn.kinds_sample(scores, key, self.who)
        figures: dict[str, float | None] = {}
        found: dict[str, tuple[float, float]] = {}
        for name, statistic in statistics.items():
            sample, plain = statistic.view(whole), statistic.plain
            if isinstance(plain, EER):
                plain = self.statistic_of_eer
            figures[name] = float(plain.of_sample(sample))
            warn_unless_fit([plain], sample)
            if self.replications:
                once = self.resampling(self.replications)
                found |= row_intervals(sample, {name: plain}, once)[0]
            elif self.by_speaker and isinstance(plain, LINEAR):
                influence = SpeakerInfluence.of(losses_of(plain, sample), sample)
                check_influences({name: influence}, FEWEST_FOR_INTERVAL)
                interval = influence.interval(self.confidence, METHOD)
                found[name] = interval.low, interval.high
        how = self._how("") if found else ""
        return ConditionRow(
            name="pooled",
            kind="pooled",
            weight=None,
            n_tar=whole.n_tar,
            n_non=whole.n_non,
            figures=figures,
            intervals=found,
            normalized=plan.normalize if plan.spoof_costs is not None else None,
            eer_definition=self.eer,
            how=how,
        )

    def resampling(self, replications: int) -> Resampling:
        """Return how replicates are drawn: the same for all rows, systems and bands."""
        options: Any = {"replications": replications, "confidence": self.confidence}
        return Resampling(self.method, rng=self.seed, workers=self.workers, **options)

    def bands(self, sample: ListedSample) -> dict[str, Any]:
        """Return the bands of a system by what they are around."""
        how = self.resampling(min(self.replications, _BAND_REPLICATES))
        curves = [*_BANDS.values()]
        found = bootstrap_sample(curves, sample, how.plan(sample), how, shared=True)
        return {
            name: curve.band(result)
            for (name, curve), result in zip(_BANDS.items(), found, strict=True)
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
            facts["Trials"] = f"{key.n_tar} targets, {key.n_non} non-targets"
            facts["Models and segments"] = f"{models} models, {segments} segments"
            known = self.speakers()
            counts = ", ".join(f"{count} of the {side}" for side, count in known.items())
            facts["Speakers"] = counts or "not given"
        points = [_as_point(point) for point in self.points.values()]
        facts["Operating points"] = "; ".join(
            f"P(target) {point.p_target:g}, C(miss) {point.c_miss:g}, C(false alarm) {point.c_fa:g}"
            for point in points
        )
        facts["Equal error-rate"] = words_of_eer(self.eer)
        if self.strata is not None:
            facts["Strata of speakers"] = str(np.unique(self.strata.rightids).size)
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
            how = f"{percent}: {self.method} bootstrap, {self.replications} replicates"
            if self.method != "speaker":
                return how
            # The least rank of a replicate that ends an interval of Student's kind is 1.
            few = round(0.5 * (1.0 - self.confidence) * (self.replications + 1), 9) < 1
            return f"{how}, too few for quantiles: Student's t by formula" if few else how
        if self.by_speaker:
            return f"{percent}{of_formula}: formula for trials that share speakers"
        return ""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Evaluation(Table):
    """Systems evaluated on one key; made by `evaluate`. It prints as a table.

    Parameters
    ----------
    table : SystemTable
        The figures of each system.
    results : mapping of str to Results
        What each system's figures are taken from.
    primary : mapping of str to PrimaryCost
        The published cost of each system, if there was a plan.
    plan : EvaluationPlan or None
        Whose cost that is.
    systems, samples, judging, heard
        What `evaluate` was given and warned of, for `compare`, `report` and `cautions`.
    """

    table: SystemTable
    results: Mapping[str, Results]
    primary: Mapping[str, PrimaryCost]
    plan: EvaluationPlan | None
    _systems: Mapping[str, AnyScores]
    _samples: Mapping[str, ListedSample]
    _judging: _Judging
    _heard: Sequence[Caution] = ()

    @property
    def cautions(self) -> list[dict[str, Any]]:
        """What `evaluate` warned of, as dicts; None stands for what does not apply.

        ``category`` is the class of the warning, ``system`` and ``condition`` have it, ``figures``
        rest on ``count`` errors or effective speakers at least, ``message`` is for reading.
        """
        return [caution.record() for caution in self._heard]

    def _refuse_kinds(self, what: str) -> None:
        """Raise unless the plan is one of two classes."""
        if self.plan is not None and self.plan.figures:
            hint = "Impostors and spoofs are not pooled; unc.paired_bootstrap compares two systems."
            expected = f"be one of two classes, for {what}"
            raise invalid("plan", expected, repr(self.plan.name), hint)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of the table as dicts; see `evaluation.SystemTable.records`.

        Returns
        -------
        list of dict
        """
        return self.table.records()

    def _content(self) -> dict[str, Any]:
        how = self._judging
        points = [attrs.asdict(_as_point(point)) for point in how.points.values()]
        return {
            "table": self.records(),
            "operating_points": points,
            "normalized": how.normalize,
            "eer_definition": how.eer,
            "plan": None if self.plan is None else self.plan.name,
            "fingerprint": None if self.plan is None else self.plan.fingerprint,
            "intervals": self.table.rows[0][1].how or None,
            "calibration": how.calibrated or None,
        }

    @property
    def _note(self) -> str:
        plan = f"primary cost of {self.plan.name}" if self.plan else ""
        if any(cost.pooled for cost in self.primary.values()):
            plan = f"NO {plan}, because trials are pooled"
        elif self.plan and self.plan.figures:
            plan = f"plan {self.plan.name}, no figure of the mixture"
        elif self.plan and self.plan.by_condition:
            plan = f"NO {plan}, which judges each common condition by itself"
        return joined_notes(self.table._note, plan, self._judging.calibrated)

    @property
    def _left(self) -> tuple[int, ...]:
        return self.table._left

    def _texts(self) -> list[list[str]]:
        return self.table._texts()

    def _best(self) -> set[tuple[int, int]]:
        return self.table._best()

    def __repr__(self) -> str:
        """Return the table and what its figures are."""
        return f"{self.table.body}\n({self._note})"

    def plot(self, kind: str = "det", *, system: str | None = None, **options: Any) -> Any:
        """Draw all systems, or one, with the operating points of the evaluation.

        Parameters
        ----------
        kind : str, default: "det"
            "det", "bayes", "tippett", "ece", "pav", "reliability", "ape", "error_rates"; "forest",
            the metrics with their intervals; "difference", of two systems over the prior;
            "histogram" and "map" (of conditions), of one system.
        system : str, optional
            Of "det" and "bayes", its conditions; of "histogram", "map" and "forest" only this one.
        **options
            As for the function of that kind in ``bosaris_py.plots``. Of "difference",
            ``names=("A", "B")`` and ``curve=`` one of `uncertainty.ActDCFCurve`, the default, and
            `uncertainty.MinDCFCurve`.

        Returns
        -------
        plots.Plot

        Raises
        ------
        InvalidInputError
            If there is no such kind or system, or the kind takes what the evaluation has not.

        Examples
        --------
        >>> import bosaris_py as bp
        >>> dev, test = bp.load_example("asvspoof2019_la")
        >>> found = bp.evaluate({"xvector": test.scores["xvector"]}, test.key, priors=0.05)
        >>> found.plot("error_rates")
        Plot: 4 lines of 1 system
        """
        check_choice(kind, (*_KINDS, *_OTHER_KINDS), "kind")
        self._refuse_kinds("plot")
        draw = _late(f"plot_{_OTHER_KINDS.get(kind, kind)}")
        if system is not None:
            check_choice(system, tuple(self.results), "system")
        if kind in ("det", "bayes") and system is not None:
            return (self.det if kind == "det" else self.bayes)(system=system, **options)
        if kind == "difference":
            return self._plot_difference(draw, **options)
        if kind in ("forest", "map"):
            return self._plot_table(draw, kind, system, options)
        points = [_as_point(point) for point in self._judging.points.values()]
        if kind == "reliability":
            options.setdefault("prior", 0.5)
        elif kind in ("det", "bayes", "error_rates", "histogram") and points:
            options.setdefault("prior", points[0] if kind == "det" else points)
        judged: Any = self.results
        if kind == "histogram":
            if system is None and len(judged) > 1:
                raise invalid("system", "name one, for a histogram", "none")
            judged = judged[system or next(iter(judged))]
        elif system is not None:
            judged = {system: judged[system]}
        # Scores that are no log-likelihood-ratios have actual costs outside of any window.
        with hushed(PlotRangeWarning):
            return draw(judged, **options)

    def _plot_table(self, draw: Any, kind: str, system: str | None, options: Any) -> Any:
        table: Any = self.table
        if system is not None or kind == "map":
            if system is None and len(self.results) > 1:
                raise invalid("system", "name one, for a map", "none")
            system = system or next(iter(self.results))
            table = ConditionTable([row for name, row in self.table.rows if name == system])
        return draw(table, **options)

    def _plot_difference(self, draw: Any, **options: Any) -> Any:
        """Draw the difference of two systems over the prior, by the replicates of `compare`."""
        how, names = self._judging, tuple(options.pop("names", self.results))
        if how.key is None or len(names) != 2:
            expected = "be two systems of scores in memory"
            raise invalid("names", expected, describe(names), 'Give names=("A", "B").')
        for name in names:
            check_choice(name, tuple(self.results), "names")
        curve = options.pop("curve", None) or ActDCFCurve()
        first, second = (self._systems[name] for name in names)
        given: Any = {"replications": how.replications or 500, "rng": how.seed}
        given |= {"confidence": how.confidence, "speakers": how.maps, "method": how.method}
        if how.strata is not None:
            given["strata"] = how.strata
        found = paired_bootstrap(first, second, how.key, curve, **given)
        options.setdefault("prior", how.prior or None)
        return draw(found, curve, names=names, **options)

    def det(self, *, system: str | None = None, **options: Any) -> Any:
        """Draw the DET curves of all systems, or of the conditions of one.

        Parameters
        ----------
        system : str, optional
            Its conditions, pooled and equalised; by default all trials of each system.
        **options
            As for `plot_det`: ``window``, ``title``, ``ax``.

        Returns
        -------
        DETPlot
        """
        self._refuse_kinds("det")
        if system is None:
            return _late("plot_det")(self.results, **options)
        return self._draw_conditions(_late("DETPlot"), system, {"window": "auto", **options})

    def bayes(self, *, system: str | None = None, **options: Any) -> Any:
        """Draw the normalized Bayes error-rates of systems, or conditions, actual and minimum.

        Parameters
        ----------
        system, **options
            As for `det`; ``axes``, ``title``, ``ax`` as for `plot_bayes`.

        Returns
        -------
        BayesPlot
        """
        self._refuse_kinds("bayes")
        if system is None:
            return _late("plot_bayes")(self.results, **options)
        return self._draw_conditions(_late("BayesPlot"), system, options)

    def _draw_conditions(self, plot: Any, system: str, options: dict[str, Any]) -> Any:
        how = self._judging
        check_choice(system, tuple(self.results), "system")
        if how.conditions is None or not self._systems:
            expected = "be left out where evaluate() had no conditions, or files"
            raise invalid("system", expected, repr(system))
        drawn = plot(**options)
        drawn.plot_conditions(self._systems[system], how.key, how.conditions)
        drawn.display_legend()
        return drawn

    def compare(
        self, statistic: StatisticLike | OperatingPoint | None = None, **options: Any
    ) -> ComparisonTable:
        """Compare each pair of systems; see `uncertainty.compare_systems`.

        Parameters
        ----------
        statistic : Statistic, OperatingPoint or callable, optional
            The metric; by default the EER of the table. A cost is normalized where those of the
            table are.
        **options
            As for `compare_systems`. Speakers, replications and random numbers are by
            default those of the evaluation.

        Returns
        -------
        uncertainty.ComparisonTable
        """
        self._refuse_kinds("compare")
        how = self._judging
        if how.key is None:
            expected = "be in memory where pairs of them are compared"
            raise invalid("systems", expected, "files; evaluate() takes Scores")
        if how.normalize and isinstance(statistic, OperatingPoint):
            statistic = ActDCF(statistic)
        if how.normalize and isinstance(statistic, (ActDCF, DCF, MinDCF)):
            statistic = attrs.evolve(statistic, normalize=True)
        judged, replications = statistic or how.statistic_of_eer, how.replications or 2000
        if how.by_speaker and not options.keys() - {"alternative", "level", "correction"}:
            resampling = how.resampling(replications)
            refuse_different_trials(self._systems, how.key, judged, resampling)
            return compare_samples(self._samples, judged, resampling, how.seed, **options)
        given: dict[str, Any] = {"speakers": how.maps, "rng": how.seed, **options}
        if how.strata is not None:
            given["strata"] = how.strata
        given.setdefault("replications", replications)
        given.setdefault("method", how.method)
        return compare_systems(self._systems, how.key, judged, **given)

    def cross(
        self,
        row_factor: str,
        column_factor: str,
        *,
        metric: StatisticLike | SpoofStatistic | None = None,
        system: str | None = None,
    ) -> CrossTable:
        """Return a metric in each cell of two columns of the metadata, such as attack and codec.

        Parameters
        ----------
        row_factor, column_factor : str
            Columns of the metadata. A factor divides a class of trials if trials of the class have
            values of it other than ``"-"``, ``"bonafide"`` or nothing: an attack divides spoofs,
            a codec all trials. A column of bona fide trials alone, and one of spoofs alone, cross
            sets of targets with sets of spoofs.
        metric : Statistic, optional
            A number, of two classes or three. By default the first figure of the plan, or the EER.
        system : str, optional
            Its name; may be left out where there is one.

        Returns
        -------
        CrossTable
            With intervals if the evaluation has replicates.

        Raises
        ------
        InvalidInputError
            If a column is not there, or no cell has trials of all classes.

        See Also
        --------
        evaluate : `conditions` judges rows of all figures.
        """
        how, names = self._judging, [*self._systems]
        if system is None and len(names) > 1:
            raise invalid("system", f"name one of {list_some(names)}", "None")
        if system is not None and system not in names:
            raise invalid("system", f"be one of {list_some(names)}", describe(system))
        if metric is None:
            metric = how.statistic_of_eer
            if self.plan is not None and self.plan.figures:
                metric = next(iter(statistics_of_plan(self.plan).values()))
        scores = self._systems[system or names[0]]
        # What there is to say of the scores has been said by the evaluation.
        with hushed(BosarisWarning):
            return cross_table(
                scores,
                (how.key, how.metadata),
                row_factor,
                column_factor,
                metric,
                who=how.who,
                replications=how.replications,
                confidence=how.confidence,
                rng=how.seed,
            )

    def claims(self, *claims: str) -> ClaimTable:
        """Test claims about the figures of each system, all trials pooled.

        Parameters
        ----------
        *claims : str
            A column of the table, ``<=`` or ``>=``, and a number: ``"eer<=2%"``, ``"cllr<=0.3"``,
            ``"min_dcf(0.05)<=0.1"``. Costs are normalized where those of the table are.

        Returns
        -------
        evaluation.ClaimTable
            A claim is shown if the one-sided end of the figure's interval is within it, at the
            confidence of the evaluation; see `uncertainty.BootstrapResult.test`. With several
            systems the p-values of each claim take Holm's correction.

        Raises
        ------
        InvalidInputError
            If the evaluation has no replicates, a text is no claim, or names no figure.

        Examples
        --------
        >>> import bosaris_py as bp
        >>> _, test = bp.load_example("asvspoof2019_la")
        >>> found = bp.evaluate({"xvector": test.scores["xvector"]}, (test.key, test.metadata),
        ...                     priors=0.05, speakers=("model", "speaker"), replications=200, rng=1)
        >>> found.claims("eer<=4%").shown, found.claims("eer<=3%").shown
        (True, False)
        """
        self._refuse_kinds("claims")
        how = self._judging
        if how.key is None or not how.replications:
            hint = "Give evaluate() speakers and replications=1000, with scores in memory."
            raise invalid("claims", "be tested by replicates", "an evaluation without", hint)
        stated = [Claim.from_text(text) for text in claims]
        names, judged = self._replicated(stated)
        level = 1.0 - how.confidence
        rows = []
        for claim, name in zip(stated, names, strict=True):
            side: Alternative = "less" if claim.relation == "<=" else "greater"
            results = [found[name] for found in judged.values()]
            tests = [result.test(claim.value, side) for result in results]
            p_values = [test.p_value for test in tests]
            holm = holm_correction(p_values, level=level)
            where = [test.lies for test in tests]
            columns = p_values, holm.adjusted.tolist(), holm.significant.tolist(), where
            for system, result, *numbers in zip(judged, results, *columns, strict=True):
                end = _one_sided_end(result, claim, level)
                rows.append(ClaimRow(system, claim, float(result.estimate), end, *numbers))
        rows.sort(key=lambda row: [*judged].index(row.system))
        return ClaimTable(tuple(rows), how.confidence, self._drawn)

    @property
    def _drawn(self) -> str:
        """How replicates are drawn, in words."""
        return f"{self._judging.method} bootstrap, {self._judging.replications} replicates"

    def _replicated(
        self, stated: Sequence[Claim]
    ) -> tuple[list[str], dict[str, dict[str, BootstrapResult]]]:
        """Return the columns that claims are about, and their replicates for each system."""
        how = self._judging
        statistics = table_statistics(how.prior, normalize=how.normalize, eer=how.eer)
        names = [claim.column([*statistics]) for claim in stated]
        chosen = {name: statistics[name] for name in names}
        resampling = how.resampling(how.replications)
        judged: dict[str, dict[str, BootstrapResult]] = {}
        for system, sample in self._samples.items():
            with cautions(system=system):
                found = bootstrap_sample(
                    [*chosen.values()], sample, resampling.plan(sample), resampling,
                    shared=True, names=[*chosen],
                )  # fmt: skip
            judged[system] = dict(zip(chosen, found, strict=True))
        return names, judged

    def criteria(self, *criteria: str, judged_by: JudgedBy | None = None) -> CriterionTable:
        """Check each system against criteria: the validation matrix of a report.

        Parameters
        ----------
        *criteria : str
            As for `claims`: ``"eer<=2%"``, ``"cllr<=0.3"``, ``"min_dcf(0.05)<=0.1"``.
        judged_by : {"estimate", "end"}, optional
            Whether a system passes by its metric, all trials pooled, or by the one-sided end of the
            interval, at the confidence of the evaluation. By default the end where there are
            replicates, else the estimate; the table says which.

        Returns
        -------
        evaluation.CriterionTable
            Each system is judged by itself, without a correction for their number.

        Raises
        ------
        InvalidInputError
            If there is no criterion, a text is none, or names no metric; if ends are asked for
            without replicates.

        See Also
        --------
        claims : Tests of claims, corrected for the number of systems.

        Examples
        --------
        >>> import bosaris_py as bp
        >>> _, test = bp.load_example("asvspoof2019_la")
        >>> found = bp.evaluate({"xvector": test.scores["xvector"]}, test.key, priors=0.05)
        >>> found.criteria("eer<=3%", "cllr<=0.2")
        system   characteristic        criterion   estimate  result
        xvector  discriminating power  eer <= 3 %    2.43 %  pass
        xvector  accuracy              cllr <= 0.2   0.2884  fail
        (judged by the estimate, whatever its interval)
        """
        self._refuse_kinds("criteria")
        how = self._judging
        if not criteria:
            raise invalid("criteria", "hold at least one criterion", "none", "Such as cllr<=0.3.")
        drawn = bool(how.replications) and how.key is not None
        judged_by = ("end" if drawn else "estimate") if judged_by is None else judged_by
        check_choice(judged_by, ("estimate", "end"), "judged_by")
        stated = [Claim.from_text(text) for text in criteria]
        if judged_by == "estimate":
            pooled = {name: row for name, row in self.table.rows if row.kind == "pooled"}
            columns = list(next(iter(pooled.values())).figures)
            rows = [
                CriterionRow(name, claim, math.nan if value is None else value)
                for claim in stated
                for column in [claim.column(columns)]
                for name, row in pooled.items()
                for value in [row.figures[column]]
            ]
            return CriterionTable(tuple(rows), judged_by, how.confidence)
        if not drawn:
            hint = "Give evaluate() speakers and replications=1000, with scores in memory."
            expected = 'be "estimate" for an evaluation without replicates'
            raise invalid("judged_by", expected, describe(judged_by), hint)
        names, judged = self._replicated(stated)
        rows = []
        for claim, name in zip(stated, names, strict=True):
            for system, found in judged.items():
                result = found[name]
                end = _one_sided_end(result, claim, 1.0 - how.confidence)
                rows.append(CriterionRow(system, claim, float(result.estimate), end))
        return CriterionTable(tuple(rows), judged_by, how.confidence, self._drawn)

    def report(
        self,
        path: FilePath,
        *,
        title: str = "Evaluation of detectors",
        files: Mapping[str, FilePath] | None = None,
        date: object = None,
        cases: Mapping[str, Any] | None = None,
        criteria: CriterionTable | Sequence[str] = (),
        author: str = "",
        laboratory: str = "",
    ) -> None:
        """Write an HTML file with tables, cautions and drawings, which needs no network.

        With intervals, pairs of up to six systems are compared. With a bootstrap, curves have bands
        of at most 500 replicates: those of one or two systems, else those of least Cllr.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced when it is complete.
        title : str, default: "Evaluation of detectors"
            Its head.
        files : mapping of str to path, optional
            Files that were evaluated, by their role, as of ``storage.hashed_files``; the report has
            their SHA-256. Of a path it is that of now, and the report says so.
        date : date or str, optional
            Date to name. By default none, so that the same input gives the same bytes.
        cases : mapping of str to CaseLLR, optional
            Likelihood-ratios of single comparisons, made by `case_llr`, by name.
        criteria : CriterionTable or sequence of str, optional
            The validation matrix, made by `criteria`, or what it is made of.
        author, laboratory : str, default: ""
            Who answers for the report, below its head.

        Raises
        ------
        OSError
            If the file cannot be written, or one of `files` not be read.
        """
        self._refuse_kinds("report")
        how = self._judging
        if files is not None and not isinstance(files, Mapping):
            raise invalid("files", "map roles to paths", describe(files))
        refuse_inputs(path, (files or {}).values(), "path")
        stated: Any = cases or {}
        if not (
            isinstance(stated, Mapping) and all(hasattr(case, "verbal") for case in stated.values())
        ):
            raise invalid("cases", "map names to what `case_llr` returns", describe(cases))
        if isinstance(criteria, str):
            hint = f"Such as criteria=[{criteria!r}]."
            raise invalid("criteria", "be a list of criteria", describe(criteria), hint)
        matrix = None
        if isinstance(criteria, CriterionTable):
            matrix = criteria
        elif criteria:
            matrix = self.criteria(*criteria)
        facts = {"Systems": str(len(self.results)), **how.facts()}
        if self.plan is not None:
            facts["Plan"] = f"{self.plan.name} ({self.plan.fingerprint})"
        if date is not None:
            facts["Date"] = str(date)
        comparison, bands = None, {}
        with collected() as others:
            if how.how and 1 < len(self._systems) <= _MOST_COMPARED:
                comparison = self.compare()
            if how.replications:
                best = [min(self.results, key=lambda name: self.results[name].cllr)]
                shaded = best if len(self._systems) > _MOST_BANDS else [*self._systems]
                bands = {name: how.bands(self._samples[name]) for name in shaded}
        if bands:
            count = min(how.replications, _BAND_REPLICATES)
            facts["Bands"] = f"{100 * how.confidence:g} % at each point, {count} replicates"
        # The evaluation has warned of each system.
        of_pairs = [caution for caution in others if "pair" in dict(caution.about)]
        report = _late("Report")(
            title=str(title),
            facts=facts,
            files=files or {},
            cautions=[*self._heard, *of_pairs],
            comparison=comparison,
            cases=stated,
            bands=bands,
            speakers=None if how.key is None else how.speakers(),
            table=self.table,
            results=self.results,
            points=how.points,
            normalized=how.normalize,
            by_speaker=how.method == "speaker",
            criteria=matrix,
            authors=[text for text in map(str, (author, laboratory)) if text],
        )
        _late("write_report")(path, report)


def _one_sided_end(result: BootstrapResult, claim: Claim, level: float) -> float:
    """Return the end of an interval of one side, that of the claim."""
    # A two-sided interval of twice the level has the one-sided ends.
    ends = result.interval_of(result.interval, 1.0 - 2.0 * level)
    return float(ends[1] if claim.relation == "<=" else ends[0])


@also("prior", "priors")
def evaluate(
    systems: SystemsLike | ResultsLike,
    key: KeyLike | None = None,
    *,
    priors: PriorLike = (0.01, 0.05),
    plan: EvaluationPlan | str | None = None,
    conditions: Any = None,
    speakers: SpeakersLike = None,
    strata: SpeakersOfSide = None,
    replications: int = 0,
    method: ScoresMethod = "speaker",
    rng: Rng = None,
    normalize: bool = True,
    confidence: float = 0.95,
    cross_fit: Any = None,
    base: float | None = None,
    eer: EERDefinition = "rocch",
    sort: str | None = None,
    workers: int = 1,
    progress: bool = False,
) -> Evaluation:
    """Evaluate systems: a table of metrics, plots and paired tests.

    Parameters
    ----------
    systems : mapping of str to Scores, FlatScores or path
        Scores, or their file, by name of the system; for actual costs and Cllr
        log-likelihood-ratios. Single scores, or a list, have the names of the files, or numbers. A
        folder, or a pattern such as ``"scores/*.txt"``, stands for its files. Without a key also
        pairs (tar, non) of arrays, or `Results`.
    key : Key or FlatKey, pair (key, metadata), or path
        Which trials are targets and which non-targets; what `read_key` returns, or its file.
        HDF5 files that are large are evaluated in blocks, as by `evaluate_files`, if no other
        argument needs all trials.
    priors : float, OperatingPoint or sequence of them, default: (0.01, 0.05)
        Operating points of the actual and minimum costs; may be spelled `prior`, as elsewhere.
    plan : EvaluationPlan or str, optional
        Adds the published cost of an evaluation, see `primary_cost`; most need metadata. Plans
        without an overall cost, as SRE10, add their operating points. Plans of three classes, as
        ASVspoof5-2, have figures of their own in place of all others.
    conditions : Conditions, mapping, or name or names of columns, optional
        Adds a row for each condition, and one for all equalised; a mapping is as for
        `Conditions`, columns are of the metadata.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speaker of each model and segment, for confidence intervals: a map, a function of the
        id, or a column of the metadata. A pair is for (models, segments), a single value for
        both, where it fits. By default each model is a speaker of its own.
    strata : IdMap, dict, callable or str, optional
        From speaker to stratum, or a column of the metadata, such as ``"gender"``: another
        evaluation would have the same shares of these speakers. Intervals are then narrower.
    replications : int, default: 0
        Replicates of a bootstrap, which gives intervals of all figures. Without, and with
        `speakers`, actual costs have intervals by `uncertainty.speaker_errors`.
    method : {"speaker", "iid", "one-layer", "two-layer"}, default: "speaker"
        What replicates draw, see `uncertainty.bootstrap_scores`: speakers; or, as the papers do,
        trials, or sets of them. Where speakers recur, intervals of the latter are too short.
    rng : Generator, int or None
        Source of randomness. All systems see the same replicates.
    normalize : bool, default: True
        Divide costs by that of the better decision made without a detector.
    confidence : float, default: 0.95
        Nominal coverage of the intervals.
    cross_fit : class or True, optional
        Calibrate the scores before: each trial by a map that was trained without its speakers, see
        `bosaris_py.cross_fit`, in 5 folds. A class such as `LinearCalibration`, which True is.
        Maps are trained at their default prior, which is printed.
    base : float, optional
        Base of the log-likelihood-ratios, such as 10; by default they are natural.
    eer : {"rocch", "interpolated", "step"}, default: "rocch"
        Which equal error-rate the table has; see `bosaris_py.eer`.
    sort : str, optional
        A column, such as ``"eer"`` or ``"min_dcf(0.05)"``, by which systems are put in order, the
        lowest first; by default they stand as given. The point in brackets may be left out where
        there is one.
    workers : int, default: 1
        Number of processes for the replicates, or of threads for files that are read in blocks.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    Evaluation

    Raises
    ------
    TrialMismatchError
        As for `Results.from_scores`, `evaluation.condition_table`, `primary_cost` and
        `uncertainty.bootstrap_scores`.

    Warns
    -----
    MissingTrialsWarning, ConditionWarning, FewErrorsWarning, DegenerateReplicatesWarning
        As for these; each names the system.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key(["anna", "bert"], ["s1", "s2", "s3"],
    ...              tar=[[True, False, True], [False, True, False]],
    ...              non=[[False, True, False], [True, False, True]])
    >>> systems = {"A": bp.Scores([[2.0, -1.0, 0.5], [-2.0, 1.0, 1.5]], key.modelset, key.segset),
    ...            "B": bp.Scores([[3.0, -1.0, 2.5], [-2.0, 1.0, 0.0]], key.modelset, key.segset)}
    >>> evaluate(systems, key, priors=0.5)
    system  EER (%)  minDCF(0.5)  actDCF(0.5)  minCllr    Cllr
    ----------------------------------------------------------
    A         22.22       0.3333       0.3333   0.4591  0.7348
    B          0.00       0.0000       0.3333   0.0000  0.3785
    (3 targets, 3 non-targets; costs are normalized; EER of the ROC's convex hull)
    """
    check_choice(eer, EERDefinition, "eer")
    check_choice(method, ScoresMethod, "method")
    if method != "speaker" and not replications:
        expected = f'be given with method="{method}"'
        raise invalid("replications", expected, describe(replications), "For instance 1000.")
    if method != "speaker" and strata is not None:
        raise invalid("strata", f'be left out with method="{method}"', describe(strata))
    only_whole = plan, conditions, speakers, cross_fit, base, replications or None
    whole = [part for part in only_whole if part is not None]
    if key is None:
        found = _results_by_name(systems, base)
        if whole and whole != [base]:
            expected = "be Scores of trials, with a key, for all options but priors, eer and sort"
            raise invalid("systems", expected, describe(systems), "See Scores.from_trials.")
        how = _without_key(priors, normalize=normalize, eer=eer)
        return _of_results(found, how, sort)
    systems = cast("SystemsLike", systems)
    large = () if whole else large_files(systems, key)
    if large:
        blocks: dict[str, Any] = {"workers": workers, "progress": progress}
        return evaluate_files(
            *large, priors=priors, normalize=normalize, eer=eer, sort=sort, **blocks
        )
    named = {name: to_natural(scores, base) for name, scores in as_systems(systems).items()}
    key, metadata = split_key(key)
    chosen = None if plan is None else find_plan(plan)
    points = named_points(priors)
    by_condition = chosen is not None and chosen.by_condition
    if chosen is not None and by_condition:
        # The cost of each condition is the plan's.
        own = [p.p_target if p.c_miss == p.c_fa == 1 else p for p in chosen.operating_points]
        both: Any = dict.fromkeys([*points.values(), *own])
        points = named_points([*both])
    model = LinearCalibration if cross_fit is True else cross_fit
    if model in (LinearFusion, QualityFusion):
        hint = "Fuse systems first, and evaluate cross_fit(LinearFusion, [...], key).scores."
        raise invalid("cross_fit", "be a calibration, which has one system", describe(model), hint)
    maps = speaker_maps(speakers, key, metadata)
    of_speakers = None
    if strata is not None:
        # The key alone, without metadata, goes on: the stratum of each speaker is found here.
        who = Speakers(maps, strata=strata).of_trials((key, metadata))
        assert who.strata is not None
        of_speakers = IdMap(who.ids, who.strata.astype(np.str_))
    how = _Judging(
        key=key,
        points=points,
        normalize=normalize,
        conditions=as_conditions(conditions, key, metadata),
        maps=maps,
        replications=replications,
        seed=as_seed(rng),
        confidence=check_fraction(confidence, "confidence"),
        eer=eer,
        workers=workers,
        method=method,
        strata=of_speakers,
        metadata=metadata,
    )
    _check_sort(sort, how.points)
    if replications:
        how.resampling(replications)
    options: dict[str, Any] = {"speakers": how.maps, "rng": how.seed}
    samples: dict[str, ListedSample] = {}
    results, primary, rows = {}, {}, []
    if chosen is not None and chosen.figures:
        for given, what in ((conditions, "conditions"), (cross_fit, "cross_fit")):
            if given is not None:
                raise invalid(what, f"be left out with the plan {chosen.name}", describe(given))
        how = attrs.evolve(how, points={}, normalize=chosen.normalize)
        pair: Any = (key, metadata) if metadata is not None else key
        with cautions() as heard:
            for name, scores in named.items():
                with cautions(system=name):
                    rows.append((name, how.row_of_kinds(scores, chosen, pair)))
        empty: dict[str, Any] = {}
        return Evaluation(
            table=SystemTable(rows),
            results=empty,
            primary=empty,
            plan=chosen,
            systems=named,
            samples=empty,
            judging=how,
            heard=heard,
        )
    with cautions() as heard:
        for name in progress_bar([*named], shown=progress, unit="system"):
            with cautions(system=name):
                if model is not None:
                    fitted = cross_fitted(model, named[name], key, **options)
                    named[name] = fitted.scores
                    how = attrs.evolve(how, calibrated=_calibrated(model, fitted.final))
                scores = named[name]
                samples[name] = how.sample(scores, samples.values())
                results[name] = Results.from_sample(samples[name])
                cost, of_cost = None, {}
                if chosen is not None:
                    primary[name] = primary_cost(scores, key, chosen, metadata)
                    if not by_condition:
                        cost = primary[name]
                        of_cost = how.intervals_of_primary(cost, scores, samples[name], metadata)
                of_system = how.rows(scores, samples[name], results[name])
            rows += [(name, _with_primary(row, cost, of_cost)) for row in of_system]
    return Evaluation(
        table=_sorted(rows, sort),
        results=results,
        primary=primary,
        plan=chosen,
        systems=named,
        samples=samples,
        judging=how,
        heard=heard,
    )


@also("prior", "priors")
def evaluate_files(
    systems: Mapping[str, FilePath],
    key_file: FilePath,
    *,
    priors: PriorLike = (0.01, 0.05),
    normalize: bool = True,
    conditions: Conditions | str | Sequence[str] | None = None,
    metadata: TrialMetadata | None = None,
    eer: EERDefinition = "rocch",
    sort: str | None = None,
    workers: int = 1,
    progress: bool = False,
) -> Evaluation:
    """Evaluate systems in HDF5 files in blocks, however large or small they are.

    Parameters
    ----------
    systems : mapping of str to path
        HDF5 file of the scores of each system, by its name; or one file, or a list.
    key_file : str or path-like
        HDF5 file of the key.
    priors, normalize
        As for `evaluate`.
    conditions, metadata
        As for `ConditionTable.from_files <bosaris_py.evaluation.ConditionTable.from_files>`, whose
        rows the table then has; the files are read four times.
    eer, sort
        As for `evaluate`.
    workers, progress
        As for `Results.from_files <bosaris_py.Results.from_files>`.

    Returns
    -------
    Evaluation
        Its figures are those of `evaluate`, Cllr to 1e-12; it does not compare pairs.

    Raises
    ------
    FileFormatError, RuntimeError
        As for `Results.from_files <bosaris_py.Results.from_files>`.

    Warns
    -----
    MissingTrialsWarning
        If the key holds trials without score; it names the system.
    """
    check_choice(eer, EERDefinition, "eer")
    how = _without_key(priors, normalize=normalize, eer=eer)
    _check_sort(sort, how.points)
    options: dict[str, Any] = {"workers": workers, "progress": progress}
    by_condition: dict[str, Any] = {
        "normalize": normalize,
        "metadata": metadata,
        "eer": eer,
        **options,
    }
    results, rows = {}, []
    with cautions() as heard:
        for name, file in named_systems(systems).items():
            if isinstance(file, AnyScores):
                raise invalid(f"systems[{name!r}]", "be a file", describe(file), "See `evaluate`.")
            with cautions(system=name):
                results[name] = Results.from_files(file, key_file, priors=how.prior, **options)
                found: Iterable[ConditionRow] = [how.pooled(results[name])]
                if conditions is not None:
                    parts = file, key_file, conditions, how.prior
                    found = ConditionTable.from_files(*parts, **by_condition).rows
            rows += [(name, row) for row in found]
    return Evaluation(
        table=_sorted(rows, sort),
        results=results,
        primary={},
        plan=None,
        systems={},
        samples={},
        judging=how,
        heard=heard,
    )


# What can be judged without a key, by name.
ResultsLike: TypeAlias = (
    Mapping[str, Results | tuple[npt.ArrayLike, npt.ArrayLike]] | Results | Sequence[Results]
)


def _results_by_name(systems: Any, base: float | None) -> dict[str, Results]:
    """Return results by name, of which pairs of arrays are made."""
    given = systems if isinstance(systems, Mapping | list) else [systems]
    if not isinstance(given, Mapping):
        numbered = {f"system {number}": item for number, item in enumerate(given, start=1)}
        given = {"system": given[0]} if len(given) == 1 else numbered
    if not given:
        raise invalid("systems", "hold at least one system", "none")
    found = {}
    for name, item in given.items():
        if isinstance(item, tuple) and len(item) == 2:
            found[str(name)] = Results(*item, base=base)
        elif isinstance(item, Results) and base is None:
            found[str(name)] = item
        elif isinstance(item, Results):
            hint = "Results(tar, non, base=10) takes it."
            raise invalid("base", "be left out where systems are Results", describe(base), hint)
        else:
            hint = "Scores and files take a key: evaluate(systems, key)."
            expected = "be Results or a pair (tar, non) where there is no key"
            raise invalid(f"systems[{name!r}]", expected, describe(item), hint)
    return found


def _without_key(priors: PriorLike, *, normalize: bool, eer: EERDefinition) -> _Judging:
    """Return how systems are evaluated of which there are no trials in memory."""
    return _Judging(
        key=None,
        points=named_points(priors),
        normalize=normalize,
        conditions=None,
        maps=(None, None),
        replications=0,
        seed=0,
        confidence=0.95,
        eer=eer,
    )


def _of_results(results: Mapping[str, Results], how: _Judging, sort: str | None) -> Evaluation:
    """Evaluate systems by their results alone."""
    _check_sort(sort, how.points)
    rows = []
    with cautions() as heard:
        for name, found in results.items():
            with cautions(system=name):
                rows.append((name, how.pooled(found)))
    return Evaluation(
        table=_sorted(rows, sort),
        results=results,
        primary={},
        plan=None,
        systems={},
        samples={},
        judging=how,
        heard=heard,
    )


def _check_sort(sort: str | None, points: Mapping[str, Any]) -> None:
    """Raise unless a column has this name; before any work."""
    names = ["eer", "min_cllr", "cllr", "min_primary", "act_primary"]
    costs = ("min_dcf", "act_dcf")
    names += [cost + suffix for cost in costs for suffix in points]
    names += costs if len(points) == 1 else ()
    if sort is not None:
        check_choice(sort, tuple(names), "sort")


def _sorted(rows: Sequence[tuple[str, ConditionRow]], sort: str | None) -> SystemTable:
    """Put systems into the order of a figure of all their trials, the lowest first."""
    if sort is None:
        return SystemTable(rows)
    value = {
        name: figure
        for name, row in rows
        if row.kind == "pooled"
        for column, figure in row.figures.items()
        if sort in (column, column.partition("(")[0]) and figure is not None
    }
    return SystemTable(sorted(rows, key=lambda pair: value.get(pair[0], math.inf)))


def _calibrated(model: Any, final: Any) -> str:
    """Say how scores were calibrated; not every map has a prior, and a bounded one has a map."""
    prior = getattr(getattr(final, "map", final), "prior", None)
    trained = "" if prior is None else f", trained at prior {prior:g}"
    return f"cross-fitted: {getattr(model, '__name__', model)}{trained}"


def _with_primary(
    row: ConditionRow, primary: PrimaryCost | None, intervals: Mapping[str, tuple[float, float]]
) -> ConditionRow:
    """Add the primary cost, which is of all trials, and its intervals."""
    if primary is None or primary.pooled:
        return row
    of_all = row.kind == "pooled"
    figures = {
        "min_primary": or_none(primary.minimum) if of_all else None,
        "act_primary": or_none(primary.actual) if of_all else None,
    }
    found = {**row.intervals, **intervals} if of_all else row.intervals
    return attrs.evolve(row, figures={**row.figures, **figures}, intervals=found)
