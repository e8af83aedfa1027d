"""Evaluated systems: rows that print as a table, plots, comparisons and a report."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

import attrs

from bosaris_py import _tables, _validation as check, errors
from bosaris_py._arrays import FilePath, Given
from bosaris_py.evaluation import EvaluationPlan, PrimaryCost, Results
from bosaris_py.evaluation.rows import EvaluationSettings, Row, figure_of
from bosaris_py.metrics.metric import as_metric
from bosaris_py.trials import Conditions, Key, Sample, Scores
from bosaris_py.trials.conditions import name_of_all
from bosaris_py.trials.sample import check_same_trials
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.compare import ComparisonTable, compare_samples

if TYPE_CHECKING:
    from bosaris_py.evaluation.case import CaseLLR

    # Matplotlib is imported when a plot is asked for.
    from bosaris_py.plots import BayesPlot, DETPlot
    from bosaris_py.plots.base import Plot

# Weights of more conditions are not listed below a table.
_MOST_WEIGHTS = 12

Kind = Literal["det", "bayes", "tippett", "ece", "pav", "reliability", "forest", "histogram"]


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Evaluation(_tables.Table):
    """Systems evaluated on one key; made by `evaluate`. It prints as a table.

    Parameters
    ----------
    rows : tuple of Row
        The figures of each system, or of each of its conditions.
    notes : tuple of Note
        What is to be said of them.
    samples : mapping of str to Sample
        The scored trials of each system.
    primary : mapping of str to PrimaryCost
        The published cost of each system, if there was a plan.
    systems, key, conditions, speakers, how
        What `evaluate` was given, for `compare`, plots and `report`.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, same = list("abcde"), np.eye(5, dtype=bool)
    >>> found = bp.evaluate(bp.Scores(2.0 * same, ids, ids), bp.Key(ids, ids, same, ~same))
    >>> found.to_dict()[0]["eer"]
    0.0
    """

    how: EvaluationSettings
    samples: Mapping[str, Sample]
    rows: tuple[Row, ...] = ()
    notes: tuple[errors.Note, ...] = ()
    primary: Mapping[str, PrimaryCost] = attrs.Factory(dict)
    systems: Mapping[str, Scores] = attrs.Factory(dict)
    key: Key | None = None
    conditions: Conditions | None = None
    speakers: SpeakersLike = None

    @property
    def plan(self) -> EvaluationPlan | None:
        """The plan whose costs these are."""
        return self.how.plan

    @functools.cached_property
    def results(self) -> dict[str, Results]:
        """What the curves of each system are taken from: bona fide trials."""
        if self.plan is not None and self.plan.figures:
            return {}
        samples = {name: one.bona_fide() for name, one in self.samples.items()}
        return {name: Results.from_sample(one, warned=True) for name, one in samples.items()}

    # ---- The table

    def to_dict(self) -> list[_tables.Record]:
        """Return the rows as dicts of plain values.

        Returns
        -------
        list of dict
            ``system``; ``condition``, which is None, ``"pooled"``, ``"equalised"`` (``"weighted"``
            where weights differ) or a name;
            ``n_tar``, ``n_non``, ``n_spoof``; figures, such as ``eer`` and ``min_dcf(0.05)``, as
            fractions, with the ends of intervals as ``eer_low`` and ``eer_high``. None stands for
            what is not defined.
        """
        return [row.to_dict() for row in self.rows]

    def _content(self) -> _tables.Record:
        return {
            "table": self.to_dict(),
            "normalized": self.how.normalize,
            "eer_definition": self.how.eer,
            "plan": None if self.plan is None else self.plan.name,
            "intervals": self.how.intervals or None,
            "calibration": self.how.calibrated or None,
            "notes": [
                {"kind": note.kind.__name__, "about": note.about, "text": note.text}
                for note in self.notes
            ],
        }

    @property
    def facts(self) -> str:
        """What the figures are, in words."""
        alike = {row.counts for row in self.rows}
        sizes = zip(alike.pop(), self._nouns, strict=False) if len(alike) == 1 else ()
        counts = ", ".join(f"{n} {noun}" for n, noun in sizes)
        plan, how, of_plan = self.plan, self.how, ""
        if how.intervals:
            n = max(one.n_speakers for one in self.samples.values())
            counts = f"{counts}, {n} speaker{'s' * (n != 1)}".removeprefix(", ")
        if plan is not None and plan.figures:
            of_whom = "of three classes" if plan.detectors == 1 else "of two detectors"
            of_cm = "of a countermeasure: bona fide trials against spoofs"
            of_plan = f"plan {plan.name} {of_cm if plan.figures == ('cm_eer',) else of_whom}"
        elif plan is not None:
            pooled = any(cost.pooled for cost in self.primary.values())
            why = ", which judges each common condition by itself" * plan.by_condition
            why = ", because trials are pooled" if pooled else why
            of_plan = f"{'NO ' * bool(why)}primary cost of {plan.name}{why}"
            if how.normalize != plan.normalize and not why:
                of_plan += f", {'' if plan.normalize else 'not '}normalized"
        has_costs = any(figure_of(name).unit == "cost" for name in self._figures)
        costs = _tables.scale_of_costs(how.normalize if has_costs else None)
        said = counts, costs, _tables.words_of_eer(how.eer), how.intervals, of_plan, how.calibrated
        return _tables.joined_notes(self._weights, *said)

    @property
    def _weights(self) -> str:
        """The weights of conditions that count, where they differ."""
        if self.conditions is None:
            return ""
        named = zip(self.conditions.names, self.conditions.weights.tolist(), strict=True)
        shares = {name: weight for name, weight in named if weight > 0}
        if name_of_all([*shares.values()]) == "equalised":
            return ""
        listed = (f"{name} {weight:.4g}" for name, weight in shares.items())
        return f"weighted: {check.list_some(listed, _MOST_WEIGHTS)}"

    @property
    def footnotes(self) -> list[str]:
        """What is to be said of the figures, once each."""
        return errors.lines_about(self.notes)

    @property
    def _note(self) -> str:
        return _tables.joined_notes(self.facts, *self.footnotes)

    @property
    def _below(self) -> list[str]:
        return [f"({self.facts})", *self.footnotes]

    @property
    def leading(self) -> str:
        """The figure by which systems are compared: the EER, or the first one of a plan."""
        return self._figures[0]

    @property
    def _figures(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row.figures))

    @property
    def _heads(self) -> tuple[str, ...]:
        """The columns before the figures."""
        heads = ["system"]
        if any(row.condition is not None for row in self.rows):
            heads.append("condition")
        if len({row.counts for row in self.rows}) > 1:
            heads += self._nouns
        return tuple(heads)

    @property
    def _nouns(self) -> tuple[str, ...]:
        """What the counts of a row are of."""
        spoofs = self.how.spoofs
        return ("targets", "impostors", "spoofs") if spoofs else ("targets", "non-targets")

    @property
    def _left(self) -> tuple[int, ...]:
        return (0, 1) if "condition" in self._heads else (0,)

    @property
    def _rules(self) -> tuple[int, ...]:
        names = [row.system for row in self.rows]
        first = tuple(1 + names.index(name) for name in dict.fromkeys(names))
        return first if "condition" in self._heads else (1,)

    def _texts(self) -> list[list[str]]:
        lines = [[*self._heads, *(figure_of(name).head for name in self._figures)]]
        for row in self.rows:
            cells = {"system": row.system, "condition": row.condition or ""}
            cells |= zip(self._nouns, map(str, row.counts), strict=False)
            figures = (_cell(row, name, bounded=self.how.normalize) for name in self._figures)
            lines.append([*(cells[head] for head in self._heads), *figures])
        return lines

    def _best(self) -> set[tuple[int, int]]:
        """Return the cells of the lowest figures among all trials of each system."""
        whole = {i: row.figures for i, row in enumerate(self.rows) if row.is_whole}
        found: set[tuple[int, int]] = set()
        for column, name in enumerate(self._figures, start=len(self._heads)):
            values = {i: x for i, one in whole.items() if (x := one.get(name)) is not None}
            if len(whole) > 1:
                found |= {(i, column) for i, x in values.items() if x == min(values.values())}
        return found

    # ---- Plots

    def plot(self, kind: Kind = "det", *, system: str | None = None, **options: Given) -> Given:
        """Draw all systems, or one, with the operating points of the evaluation.

        Parameters
        ----------
        kind : str, default: "det"
            "det", "bayes", "tippett", "ece", "pav", "reliability"; "forest", a figure with its
            intervals; "histogram", of one system.
        system : str, optional
            Of "det" and "bayes", its conditions; of others only this one.
        **options
            As for the function of that kind in ``bosaris_py.plots``; of "forest" also ``figure``,
            by default the first one.

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
        from bosaris_py import plots

        check.check_choice(kind, Kind, "kind")
        if system is not None:
            check.check_choice(system, [*self.samples], "system")
        if kind == "forest":
            return self._forest(system, options)
        if self.plan is not None and self.plan.figures:
            hint = "Impostors and spoofs are not pooled, so there are no curves of both."
            raise check.invalid(
                "plan", "be one of two classes, for plots", repr(self.plan.name), hint
            )
        if kind in ("det", "bayes") and system is not None:
            return self._draw_conditions(kind, system, options)
        points = self.how.prior
        if kind in ("det", "bayes", "histogram") and points:
            options.setdefault("prior", points[0] if kind == "det" else points)
        judged = self.results if system is None else {system: self.results[system]}
        if kind == "histogram":
            if len(judged) > 1:
                raise check.invalid("system", "name one, for a histogram", "none")
            (one,) = judged.values()
            return plots.plot_histogram(one, **options)
        draw: dict[str, Callable[..., Plot]] = {
            "det": plots.plot_det,
            "bayes": plots.plot_bayes,
            "tippett": plots.plot_tippett,
            "ece": plots.plot_ece,
            "pav": plots.plot_pav,
            "reliability": plots.plot_reliability,
        }
        return draw[kind](judged, **options)

    def det(self, *, system: str | None = None, **options: object) -> DETPlot:
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
        return self.plot("det", system=system, **options)  # type: ignore[no-any-return]

    def bayes(self, *, system: str | None = None, **options: object) -> BayesPlot:
        """Draw the normalized Bayes error-rates of systems, or conditions, actual and minimum.

        Parameters
        ----------
        system, **options
            As for `det`; ``axes``, ``title``, ``ax`` as for `plot_bayes`.

        Returns
        -------
        BayesPlot
        """
        return self.plot("bayes", system=system, **options)  # type: ignore[no-any-return]

    def _draw_conditions(self, kind: str, system: str, options: dict[str, Given]) -> Plot:
        from bosaris_py.plots import BayesPlot, DETPlot

        if self.conditions is None or self.key is None:
            expected = "be left out where evaluate() had no conditions"
            raise check.invalid("system", expected, repr(system))
        given = {"window": "auto", **options}
        drawn = DETPlot(**given) if kind == "det" else BayesPlot(**options)
        drawn.plot_conditions(self.systems[system], self.key, self.conditions)
        drawn.display_legend()
        return drawn

    def _forest(self, system: str | None, options: dict[str, Given]) -> Plot:
        from bosaris_py.plots import plot_forest

        figure = figure_of(options.pop("figure", self.leading))
        check.check_choice(figure.column, self._figures, "figure")
        known = [row for row in self.rows if figure.column in row.estimates]
        known = [row for row in known if system in (None, row.system)]
        several, found = len({row.system for row in known}) > 1, {}
        for row in known:
            parts = row.system if several or row.condition is None else "", row.condition
            found[", ".join(filter(None, parts))] = row.estimates[figure.column]
        if not found:
            hint = "evaluate(..., speakers=...) gives them."
            raise check.invalid("kind", "be of figures with intervals", repr(figure.column), hint)
        return plot_forest(found, percent=figure.is_rate, **{"xlabel": figure.head, **options})

    # ---- Comparisons and report

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
        key, samples, systems = self.key, self.samples, self.systems
        if key is None or len(samples) < 2:
            expected = "be at least two in memory, where pairs of them are compared"
            raise check.invalid("systems", expected, "files or one system; evaluate() takes Scores")
        if self.plan is not None and self.plan.sets:
            hint = "Compare systems on the trials of each set."
            raise check.invalid("plan", "be of one data set", self.plan.name, hint)
        chosen = next(iter(self.how.metrics.values())) if metric is None else as_metric(metric)
        check_same_trials(systems, key)
        if not self.how.by_speaker:
            who = TrialSpeakers.from_key(key, self.speakers)
            samples = {n: Sample.from_trials(x, key, None, who) for n, x in systems.items()}
        return compare_samples(samples, chosen, level=1.0 - self.how.confidence)

    def report(
        self,
        path: FilePath,
        *,
        title: str = "Evaluation of detectors",
        files: Mapping[str, FilePath] | None = None,
        date: object = None,
        cases: Mapping[str, CaseLLR] | None = None,
        author: str = "",
        laboratory: str = "",
        validate: bool = False,
    ) -> None:
        """Write an HTML file with tables, notes and drawings, which needs no network.

        With intervals, pairs of up to six systems are compared. With a bootstrap, curves have bands
        of at most 500 replicates: those of one or two systems, else those of least Cllr.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced when it is complete.
        title : str, default: "Evaluation of detectors"
            Its head.
        files : mapping of str to path, optional
            Files that were evaluated, by their role; the report has their SHA-256 as they are now.
        date : date or str, optional
            Date to name. By default none, so that the same input gives the same bytes.
        cases : mapping of str to CaseLLR, optional
            Likelihood-ratios of single comparisons, made by `case_llr`, by name.
        author, laboratory : str, default: ""
            Who answers for the report, below its head.
        validate : bool, default: False
            Begin with the figures of `validate`: rates of misleading evidence, Cllr, mean
            likelihood-ratios.

        Raises
        ------
        OSError
            If the file cannot be written, or one of *files* not be read.
        """
        from bosaris_py.report import write_report

        write_report(
            self,
            path,
            title=title,
            author=author,
            laboratory=laboratory,
            date=date,
            files=files or {},
            cases=cases or {},
            validate=validate,
        )


def _cell(row: Row, name: str, *, bounded: bool) -> str:
    """Return a figure, and its interval if there is one, as text; 1 is a cost without detector."""
    figure, value, ends = figure_of(name), row.figures.get(name), row.ends(name)
    if value is None:
        return "-"
    if ends is None:
        return figure.text(value)
    low, high = map(figure.text, ends)
    # Not shown to be better than no detector.
    high = "> 1" if bounded and figure.unit == "cost" and ends[0] <= 1.0 < ends[1] else high
    return _tables.WithInterval(figure.text(value), f"[{low}, {high}]")
