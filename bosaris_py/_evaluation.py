"""Evaluated systems: a table, plots, comparisons and a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from bosaris_py._notes import Caution, collected, hushed
from bosaris_py._system_rows import Judging, as_point, metrics_of_plan
from bosaris_py._tables import Table, joined_notes
from bosaris_py._validation import FilePath, check_choice, describe, invalid
from bosaris_py.errors import BosarisWarning, PlotRangeWarning
from bosaris_py.evaluation import EvaluationPlan, Results, SystemTable
from bosaris_py.files.replacing import refuse_inputs
from bosaris_py.metrics.metric import as_metric
from bosaris_py.trials.sample import Sample, check_same_trials, lists_of_kinds
from bosaris_py.trials.scores import Scores

if TYPE_CHECKING:
    # Matplotlib is imported when a plot is asked for.
    from bosaris_py.evaluation import PrimaryCost
    from bosaris_py.plots import BayesPlot, DETPlot
    from bosaris_py.plots.display import Plot
    from bosaris_py.uncertainty.compare import ComparisonTable

Kind: TypeAlias = Literal[
    "det", "bayes", "tippett", "ece", "pav", "reliability", "forest", "histogram"
]
# Plots by their kinds: of all systems, and others, with the names of their functions.
_KINDS = ("det", "bayes", "tippett", "ece", "pav", "reliability")
_OTHER_KINDS = "histogram", "forest"


def _plot_of(kind: str) -> Callable[..., Any]:
    """Return the function that draws a plot of this kind."""
    from bosaris_py import plots

    drawing: dict[str, Callable[..., Any]] = {
        "det": plots.plot_det,
        "bayes": plots.plot_bayes,
        "tippett": plots.plot_tippett,
        "ece": plots.plot_ece,
        "pav": plots.plot_pav,
        "reliability": plots.plot_reliability,
        "histogram": plots.plot_histogram,
        "forest": plots.plot_forest,
    }
    return drawing[kind]


# Pairs of more systems fill no page that is read.
_MOST_COMPARED = 6

# Bands of more systems hide each other: then only the system of least Cllr has some.
_MOST_BANDS = 2


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
    _systems: Mapping[str, Scores]
    _samples: Mapping[str, Sample]
    _judging: Judging
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
            hint = f"Impostors and spoofs are not pooled, so there are no {what} of both."
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
        points = [attrs.asdict(as_point(point)) for point in how.points.values()]
        return {
            "table": self.records(),
            "operating_points": points,
            "normalized": how.normalize,
            "eer_definition": how.eer,
            "plan": None if self.plan is None else self.plan.name,
            "intervals": self.table.rows[0][1].how or None,
            "calibration": how.calibrated or None,
            "cautions": self.cautions,
        }

    @property
    def _facts(self) -> str:
        plan = f"primary cost of {self.plan.name}" if self.plan else ""
        if any(cost.pooled for cost in self.primary.values()):
            plan = f"NO {plan}, because trials are pooled"
        elif self.plan and self.plan.figures:
            plan = f"plan {self.plan.name} of three classes"
        elif self.plan and self.plan.by_condition:
            plan = f"NO {plan}, which judges each common condition by itself"
        return joined_notes(self.table.facts, plan, self._judging.calibrated)

    @property
    def _note(self) -> str:
        return joined_notes(self._facts, *self.table.footnotes)

    @property
    def _left(self) -> tuple[int, ...]:
        return self.table._left

    def _texts(self) -> list[list[str]]:
        return self.table._texts()

    def _best(self) -> set[tuple[int, int]]:
        return self.table._best()

    def __repr__(self) -> str:
        """Return the table and what its figures and its signs are."""
        return "\n".join((self.table.body, *self._below))

    @property
    def _below(self) -> list[str]:
        return [f"({self._facts})", *self.table.footnotes]

    def plot(self, kind: Kind = "det", *, system: str | None = None, **options: object) -> "Plot":
        """Draw all systems, or one, with the operating points of the evaluation.

        Parameters
        ----------
        kind : str, default: "det"
            "det", "bayes", "tippett", "ece", "pav", "reliability"; "forest", the metrics with their
            intervals; "histogram", of one system.
        system : str, optional
            Of "det" and "bayes", its conditions; of "histogram" and "forest" only this one.
        **options
            As for the function of that kind in ``bosaris_py.plots``.

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
        >>> found = bp.evaluate({"xvector": test.scores["xvector"]}, test.key, prior=0.05)
        >>> found.plot("tippett")
        Plot: 5 lines of 1 system
        """
        check_choice(kind, (*_KINDS, *_OTHER_KINDS), "kind")
        self._refuse_kinds("plot")
        draw = _plot_of(kind)
        if system is not None:
            check_choice(system, tuple(self.results), "system")
        if kind in ("det", "bayes") and system is not None:
            return (self.det if kind == "det" else self.bayes)(system=system, **options)
        if kind == "forest":
            return self._plot_table(draw, system, options)
        points = [as_point(point) for point in self._judging.points.values()]
        if kind == "reliability":
            options.setdefault("prior", 0.5)
        elif kind in ("det", "bayes", "histogram") and points:
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
            drawn: Plot = draw(judged, **options)
        return drawn

    def _plot_table(
        self, draw: "Callable[..., Plot]", system: str | None, options: dict[str, Any]
    ) -> "Plot":
        table: Any = self.table
        if system is not None:
            table = SystemTable([("", row) for name, row in self.table.rows if name == system])
        return draw(table, **options)

    def det(self, *, system: str | None = None, **options: object) -> "DETPlot":
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
        drawn: DETPlot = self._curves("det", system, options)
        return drawn

    def bayes(self, *, system: str | None = None, **options: object) -> "BayesPlot":
        """Draw the normalized Bayes error-rates of systems, or conditions, actual and minimum.

        Parameters
        ----------
        system, **options
            As for `det`; ``axes``, ``title``, ``ax`` as for `plot_bayes`.

        Returns
        -------
        BayesPlot
        """
        drawn: BayesPlot = self._curves("bayes", system, options)
        return drawn

    def _curves(self, kind: str, system: str | None, options: Mapping[str, object]) -> Any:
        """Draw the curves of all systems, or of the conditions of one."""
        self._refuse_kinds(kind)
        from bosaris_py.plots import BayesPlot, DETPlot

        if system is None:
            return _plot_of(kind)(self.results, **options)
        how = self._judging
        check_choice(system, tuple(self.results), "system")
        if how.conditions is None or not self._systems:
            expected = "be left out where evaluate() had no conditions, or files"
            raise invalid("system", expected, repr(system))
        given: dict[str, Any] = {"window": "auto", **options} if kind == "det" else {**options}
        drawn = DETPlot(**given) if kind == "det" else BayesPlot(**given)
        drawn.plot_conditions(self._systems[system], how.key, how.conditions)
        drawn.display_legend()
        return drawn

    def compare(self, metric: object = None) -> ComparisonTable:
        """Compare each pair of systems by the jackknife over speakers.

        Parameters
        ----------
        metric : metric or callable, optional
            Such as ``unc.MinDCF(0.05)``; by default the EER of the table, or the first figure of
            a plan of three classes.

        Returns
        -------
        ComparisonTable
            With p-values by Holm.

        Raises
        ------
        InvalidInputError
            If there is one system, or systems are in files.
        """
        from bosaris_py.uncertainty.compare import compare_samples

        how = self._judging
        if how.key is None or len(self._systems) < 2:
            expected = "be at least two in memory, where pairs of them are compared"
            raise invalid("systems", expected, "files or one system; evaluate() takes Scores")
        if self.plan is not None and (self.plan.detectors == 2 or self.plan.sets):
            hint = "Compare systems on the trials of each set."
            raise invalid("plan", "be of one detector and one data set", self.plan.name, hint)
        own = how.metrics
        if self.plan is not None and self.plan.figures:
            own = metrics_of_plan(self.plan, how.eer)
        chosen = next(iter(own.values())) if metric is None else as_metric(metric)
        check_same_trials(self._systems, how.key)
        samples = self._samples
        if not (samples and how.by_speaker):
            judging = attrs.evolve(how, replications=how.replications or 1)
            samples = {name: judging.sample(scores) for name, scores in self._systems.items()}
        return compare_samples(samples, chosen, level=1.0 - how.confidence)

    def report(
        self,
        path: FilePath,
        *,
        title: str = "Evaluation of detectors",
        files: Mapping[str, FilePath] | None = None,
        date: object = None,
        cases: Mapping[str, object] | None = None,
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
            Files that were evaluated, by their role; the report has
            their SHA-256. Of a path it is that of now, and the report says so.
        date : date or str, optional
            Date to name. By default none, so that the same input gives the same bytes.
        cases : mapping of str to CaseLLR, optional
            Likelihood-ratios of single comparisons, made by `case_llr`, by name.
        author, laboratory : str, default: ""
            Who answers for the report, below its head.

        Raises
        ------
        OSError
            If the file cannot be written, or one of *files* not be read.
        """
        from bosaris_py.report import Report, write_report

        how = self._judging
        if files is not None and not isinstance(files, Mapping):
            raise invalid("files", "map roles to paths", describe(files))
        refuse_inputs(path, (files or {}).values(), "path")
        stated: Any = cases or {}
        if not (
            isinstance(stated, Mapping) and all(hasattr(case, "verbal") for case in stated.values())
        ):
            raise invalid("cases", "map names to what `case_llr` returns", describe(cases))
        facts = {"Systems": str(len(self._systems) or len(self.results)), **how.facts()}
        if self.plan is not None and self.plan.figures:
            facts["Costs"] = self.plan.costs_in_words
        facts = {name: fact for name, fact in facts.items() if fact}
        if self.plan is not None:
            facts["Plan"] = self.plan.name
        if date is not None:
            facts["Date"] = str(date)
        comparison, bands = None, {}
        with collected() as others:
            alone = self.plan is not None and (self.plan.detectors == 2 or bool(self.plan.sets))
            if how.how and 1 < len(self._systems) <= _MOST_COMPARED and not alone:
                comparison = self.compare()
            if how.replications and self.results:
                best = [min(self.results, key=lambda name: self.results[name].cllr)]
                shaded = best if len(self._systems) > _MOST_BANDS else [*self._systems]
                bands = {name: how.bands(self._samples[name]) for name in shaded}
        if bands:
            drawn = f"{100 * how.confidence:g} % at each point, {how.band_replicates} replicates"
            facts["Bands"] = drawn
        kinds, costs = {}, None
        if self.plan is not None and "a_dcf" in self.plan.figures and self._systems:
            costs = self.plan.spoof_costs
            with hushed(BosarisWarning):
                parts = {n: Sample.from_trials(x, how.key) for n, x in self._systems.items()}
            kinds = {name: lists_of_kinds(part) for name, part in parts.items()}
        # The evaluation has warned of each system.
        of_pairs = [caution for caution in others if "pair" in dict(caution.about)]
        report = Report(
            title=str(title),
            facts=facts,
            files=files or {},
            cautions=[*self._heard, *of_pairs],
            comparison=comparison,
            cases=stated,
            bands=bands,
            speakers=None if how.key is None else how.speaker_counts(),
            table=self.table,
            results=self.results,
            kinds=kinds,
            spoof_costs=costs,
            points=how.points,
            normalized=how.normalize,
            authors=[text for text in map(str, (author, laboratory)) if text],
        )
        write_report(path, report)
