"""Tables I to III of Wu et al. 2016 and Table 1 of NISTIR 7722: systems, methods, standard errors.

Each cell is what the single call gives from the same seed: `bootstrap_scores`, then
`standard_error_distribution` and `dcf_standard_error_scores`.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import attrs

from bosaris_py._cautions import Caution, cautions, collected
from bosaris_py._parallel import whole_number
from bosaris_py._tables import AnnotatedTable, Table, joined_notes, or_none, scale_of_costs
from bosaris_py._validation import Rng, as_seed, check_choice, describe, invalid, list_some
from bosaris_py.trials.inputs import KeyLike, SystemsLike, as_systems, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.uncertainty.analytic import cost_error
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, IntervalKind
from bosaris_py.uncertainty.bootstrapping import SampledSystem, bootstrap_sample, metric_name
from bosaris_py.uncertainty.comparison.all_pairs import compare_systems
from bosaris_py.uncertainty.decisions import rejected
from bosaris_py.uncertainty.influence.losses import FixedCost
from bosaris_py.uncertainty.papers.standard_errors import (
    FEWEST_RUNS,
    StandardErrorDistribution,
    distribution_of,
)
from bosaris_py.uncertainty.resampling import Resampling, ScoresMethod
from bosaris_py.uncertainty.statistics import functions
from bosaris_py.uncertainty.statistics.class_means import (
    DCF,
    ActDCF,
    ThresholdStatistic,
    count_twice,
)

# Section VII of Wu et al. finds so many enough.
_RUNS = 500

PaperTable = Literal["I", "II", "III"]


@attrs.frozen(eq=False, repr=False)
class BootstrapRow:
    """What one method of resampling says of one system.

    Parameters
    ----------
    system : str
        Its name.
    result : BootstrapResult
        Estimate, standard error, interval and replicates of one bootstrap.
    upper_bound : float or None
        The analytical standard error without its covariance, equation (4) of Wu et al.; None
        unless the statistic is a cost at a fixed threshold.
    distribution : StandardErrorDistribution or None
        Standard errors of many such bootstraps; None without runs.
    groups : str
        Letters of the groups that the system is in; empty where none were asked for.
    """

    system: str
    result: BootstrapResult
    upper_bound: float | None
    distribution: StandardErrorDistribution | None
    groups: str = ""

    @property
    def method(self) -> str:
        """How trials were resampled."""
        return self.result.method

    def __repr__(self) -> str:
        """Show the system and its result."""
        return f"{self.system}: {self.result!r}"

    def record(self) -> dict[str, Any]:
        """Return the numbers as a dict; those of `BootstrapTable.records`.

        Returns
        -------
        dict
        """
        of_one = self.result
        found = {
            "system": self.system,
            "method": self.method,
            "estimate": of_one.estimate,
            "standard_error": of_one.standard_error,
            "relative_error": or_none(of_one.relative_error),
            "low": of_one.low,
            "high": of_one.high,
            "upper_bound": self.upper_bound,
        }
        runs = self.distribution
        if runs is not None:
            found |= {
                "mean_se": runs.mean,
                "se_of_se": runs.standard_error,
                "relative_error_of_se": or_none(runs.relative_error),
                "se_low": runs.low,
                "se_high": runs.high,
                "relative_error_of_mean": or_none(runs.relative_error_of_estimate),
            }
        return found | {
            "groups": self.groups or None,
            "interval": of_one.interval,
            "confidence": of_one.confidence,
            "replications": of_one.replicates.shape[0],
            "runs": 0 if runs is None else runs.standard_errors.size,
        }


@attrs.frozen(eq=False, repr=False)
class BootstrapTable(AnnotatedTable):
    """Standard errors of several systems by several methods of resampling.

    Made by `bootstrap_table`.

    Parameters
    ----------
    rows : tuple of BootstrapRow
        System by system, each with all methods.
    metric : str
        What was judged: the name of the statistic.
    cautions : tuple of Caution
        What was warned of. Intervals that it concerns have a sign, which a footnote explains.
    """

    rows: tuple[BootstrapRow, ...]
    metric: str
    cautions: tuple[Caution, ...] = attrs.field(default=(), kw_only=True)

    def row(self, system: str, method: str) -> BootstrapRow:
        """Return what a method says of a system.

        Parameters
        ----------
        system, method : str
            Their names.

        Returns
        -------
        BootstrapRow
        """
        check_choice(system, list(dict.fromkeys(row.system for row in self.rows)), "system")
        check_choice(method, list(dict.fromkeys(row.method for row in self.rows)), "method")
        return next(row for row in self.rows if (row.system, row.method) == (system, method))

    def records(self) -> list[dict[str, Any]]:
        """Return one dict for each system and method; errors are fractions.

        Returns
        -------
        list of dict
            ``system``, ``method``, ``estimate``, ``standard_error``, ``relative_error``, ``low``,
            ``high``, ``upper_bound``; of the runs, if there are any, ``mean_se``, ``se_of_se``,
            ``relative_error_of_se``, ``se_low``, ``se_high`` and ``relative_error_of_mean``; then
            ``groups``, how they were made, and ``metric``.
        """
        return [row.record() | {"metric": self.metric} for row in self.rows]

    @property
    def _left(self) -> tuple[int, ...]:
        return 0, 1

    @property
    def facts(self) -> str:
        """What the figures are, in words."""
        first = self.rows[0]
        notes = f"{self.metric}; {_replicates_of(self.rows)}"
        runs = ""
        if first.distribution is not None:
            runs = f"distributions of SEs of {first.distribution.standard_errors.size} runs"
        groups = "systems that share a letter do not differ significantly" if first.groups else ""
        return joined_notes(notes, runs, groups)

    def _concerned(self, caution: Caution, heads: Sequence[str]) -> Iterable[tuple[int, int]]:
        about = dict(caution.about)
        for number, row in enumerate(self.rows):
            here = about.get("system", row.system), about.get("method", row.method)
            if here == (row.system, row.method):
                yield number, heads.index("interval")

    def _plain_texts(self) -> list[list[str]]:
        bounds = any(row.upper_bound is not None for row in self.rows)
        runs = any(row.distribution is not None for row in self.rows)
        head = ["system", "method", "estimate", "SE", "(rel.)", "interval"]
        head += ["upper bound"] * bounds
        head += ["mean SE", "SE of SE", "(rel.)", "interval of SE"] * runs
        head += ["groups"] * bool(self.rows[0].groups)
        lines = [head]
        for row in self.rows:
            line = [row.system, row.method, f"{row.result.estimate:.6f}", *_of_result(row.result)]
            if bounds:
                line.append("" if row.upper_bound is None else f"{row.upper_bound:.6f}")
            if row.distribution is not None:
                line += _of_runs(row.distribution, row.distribution.relative_error)
            elif runs:
                line += [""] * 4
            line += [row.groups] * bool(row.groups)
            lines.append(line)
        return lines

    def __repr__(self) -> str:
        """Return the table and how it was made."""
        return "\n".join((self._laid_out(()), *self._below))

    def as_printed(self, table: PaperTable) -> PrintedTable:
        """Lay the figures out as a table of Wu et al.: a row for each system, methods beside it.

        Parameters
        ----------
        table : {"I", "II", "III"}
            ``"I"``: estimates, standard errors and intervals; of ``methods=["iid"]`` it is Table 1
            of NISTIR 7722. ``"II"``: analytical upper bounds, and distributions of the standard
            errors. ``"III"``: these with the estimates, to which the relative errors then are.

        Returns
        -------
        PrintedTable
            With `to_latex` and the other forms.

        Raises
        ------
        InvalidInputError
            If the table has no runs, and one of them is asked for.
        """
        check_choice(table, PaperTable, "table")
        if table != "I" and self.rows[0].distribution is None:
            raise invalid("table", 'be "I" where there are no runs', describe(table))
        systems = list(dict.fromkeys(row.system for row in self.rows))
        methods = list(dict.fromkeys(row.method for row in self.rows))
        with_bound = table != "I" and self.rows[0].upper_bound is not None
        head = ["system", *["estimate"] * (table != "II"), *["upper bound"] * with_bound, *methods]
        lines = [head]
        for system in systems:
            first = self.row(system, methods[0])
            line = [system, *[f"{first.result.estimate:.6f}"] * (table != "II")]
            if with_bound:
                line.append(f"{first.upper_bound:.6f}")
            for method in methods:
                row = self.row(system, method)
                line.append(" ".join([*_cells(row, table), *[row.groups] * bool(row.groups)]))
            lines.append(line)
        records = tuple(self.records())
        return PrintedTable(tuple(map(tuple, lines)), records, self._note)


@attrs.frozen(eq=False, repr=False)
class PrintedTable(Table):
    """A table as a paper prints it; made by `BootstrapTable.as_printed`.

    Parameters
    ----------
    lines : tuple of tuple of str
        The head, then a row for each system.
    content : tuple of dict
        All digits, see `BootstrapTable.records`.
    note : str
        How the figures were made.
    """

    lines: tuple[tuple[str, ...], ...]
    content: tuple[dict[str, Any], ...]
    note: str

    def records(self) -> list[dict[str, Any]]:
        """Return all digits, as `BootstrapTable.records` does.

        Returns
        -------
        list of dict
        """
        return [{**record} for record in self.content]

    @property
    def _note(self) -> str:
        return self.note

    def _texts(self) -> list[list[str]]:
        return [[*line] for line in self.lines]


def _replicates_of(rows: Sequence[BootstrapRow]) -> str:
    result = rows[0].result
    by_method = {row.method: row.result.interval for row in rows}
    kinds = set(by_method.values())
    kind = " and ".join(f"{one} (by {method})" for method, one in by_method.items())
    return (
        f"{100 * result.confidence:g} % {kind if len(kinds) > 1 else kinds.pop()} intervals of "
        f"{result.replicates.shape[0]} replicates; relative errors are 1.96 SE over the mean"
    )


def _of_result(result: BootstrapResult) -> list[str]:
    ends = f"({result.low:.6f}, {result.high:.6f})"
    return [f"{result.standard_error:.6f}", f"({100 * result.relative_error:.2f}%)", ends]


def _of_runs(runs: StandardErrorDistribution, relative_error: float) -> list[str]:
    spread, ends = f"{runs.standard_error:.6g}", f"({runs.low:.6f}, {runs.high:.6f})"
    return [f"{runs.mean:.6f}", spread, f"({100 * relative_error:.2f}%)", ends]


def _cells(row: BootstrapRow, table: PaperTable) -> list[str]:
    """Return what a table of Wu et al. prints of one system and method."""
    runs = row.distribution
    if table == "I" or runs is None:
        return _of_result(row.result)
    if table == "II":
        return _of_runs(runs, runs.relative_error)
    mean, _, *others = _of_runs(runs, runs.relative_error_of_estimate)
    return [mean, *others]


def bootstrap_table(
    systems: SystemsLike,
    key: KeyLike,
    statistic: functions.StatisticLike | Mapping[str, functions.StatisticLike],
    *,
    methods: Sequence[ScoresMethod] = ("iid", "one-layer", "two-layer"),
    runs: int | None = None,
    count_threshold_twice: bool = False,
    groups: bool = False,
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    pigeonhole: bool = False,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> BootstrapTable:
    """Bootstrap several systems by several methods, and measure the spread of standard errors.

    This is the experiment of Wu et al. 2017 and, with ``methods=["iid"]``, of NISTIR 7722.

    Parameters
    ----------
    systems : mapping of str to Scores, FlatScores or path
        As for `evaluate`.
    key : Key or FlatKey, pair (key, metadata), or path
        Which trials are targets and which non-targets.
    statistic : Statistic, callable, or mapping from name of a system to these
        What is judged; one number. With a mapping each system has its own, such as a `DCF` at the
        threshold that came with it.
    methods : sequence of {"iid", "one-layer", "two-layer", "speaker"}
        How to resample, see `bootstrap_scores`; by default the three of the paper.
    runs : int, optional
        Number of bootstraps whose standard errors are compared; 0 leaves them out. By default 500,
        as in the paper, for statistics at fixed thresholds and methods other than ``"speaker"``,
        whose replicates take little time; else 0.
    count_threshold_twice : bool, default: False
        As for `bootstrap`.
    groups : bool, default: False
        Compare all pairs of systems by each method, and name the groups within which no difference
        was found by letters: "classes of accuracy", section IX. See
        `ComparisonTable.groups`.
    speakers, unknown
        As for `bootstrap_scores`; a set of ``"one-layer"`` and ``"two-layer"`` is all trials of a
        class with the models of one speaker.
    pigeonhole
        As for `bootstrap_scores`; of ``"speaker"`` only.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap`. Each cell draws from the same seed.

    Returns
    -------
    BootstrapTable
        It prints as a table; `BootstrapTable.as_printed` lays it out as the papers do.

    Raises
    ------
    InvalidInputError
        If a statistic is not one number, a system has none, or no sets are known.

    Warns
    -----
    FewErrorsWarning, DegenerateReplicatesWarning, FewSpeakersWarning, MissingTrialsWarning
        As for `bootstrap_scores`; they name the systems.

    See Also
    --------
    standard_error_distribution : One system, from lists of scores.
    equal_size_sets : The papers drop trials until all sets have one size; here any size will do.
    compare_systems : Tests of pairs of systems.

    Notes
    -----
    Sets of equal size are drawn by the distribution of their number of errors, so that a replicate
    takes as long as two random numbers; sets of other sizes take up to a hundred times as long.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> same, habits = np.eye(80, dtype=bool), np.random.default_rng(1).normal(size=(80, 1))
    >>> names = [f"speaker{i}" for i in range(80)]
    >>> noise = np.random.default_rng(2).normal(size=(80, 80))
    >>> scores = bp.Scores(3.0 * same + habits + noise, names, names)
    >>> key = bp.Key(names, names, same, ~same)
    >>> cost = unc.DCF(3.0, p_target=0.02, c_miss=1, c_fa=1)
    >>> table = unc.bootstrap_table({"EL": scores}, key, cost, rng=1, runs=20,
    ...                             methods=["iid", "one-layer"])
    >>> iid, layer = (table.row("EL", method).result for method in ("iid", "one-layer"))
    >>> layer.standard_error > iid.standard_error
    True
    >>> print(table.as_printed("I").to_markdown().splitlines()[0])
    | system | estimate | iid | one-layer |
    """
    named = as_systems(systems)
    chosen = _statistics(statistic, [*named], twice=count_threshold_twice)
    ways = _as_methods(methods, twice=count_threshold_twice)
    n_runs = None if runs is None else whole_number(runs, 0, "runs")
    if n_runs is not None and 0 < n_runs < FEWEST_RUNS:
        raise invalid("runs", f"be 0 or at least {FEWEST_RUNS}", describe(runs))
    both = split_key(key)
    seed, who = as_seed(rng), Speakers(speakers, unknown)
    # Other methods do not take what the speaker's does.
    hows = {
        method: Resampling(
            *(method, replications, confidence, interval, seed, workers, progress),
            pigeonhole=pigeonhole and (method == "speaker" or "speaker" not in ways),
        )
        for method in ways
    }
    rows = []
    with cautions() as heard:
        for name, scores in named.items():
            with cautions(system=name):
                samples: dict[bool | None, ListedSample] = {}
                for method in ways:
                    how, again = (attrs.evolve(hows[method], rng=seed) for _ in range(2))
                    # Methods of sets have the same sample.
                    kind = None if method == "iid" else method == "speaker"
                    if kind not in samples:
                        samples[kind] = how.sample(scores, both, who, None)
                    by_default = _default_runs(chosen[name], method)
                    n = by_default if n_runs is None else n_runs
                    with cautions(**{"method": method} if len(ways) > 1 else {}):
                        rows.append(_row(name, chosen[name], samples[kind], how, again, n))
        if groups:
            rows = _with_groups(rows, named, both, chosen, who, hows, seed)
    metrics = {_name_of(one) for one in chosen.values()}
    metric = metrics.pop() if len(metrics) == 1 else "each system its own statistic"
    return BootstrapTable(tuple(rows), metric, cautions=tuple(heard))


def _with_groups(
    rows: Sequence[BootstrapRow],
    systems: Mapping[str, AnyScores],
    key: KeyLike,
    statistics: Mapping[str, functions.AnyStatistic],
    who: Speakers,
    hows: Mapping[ScoresMethod, Resampling],
    seed: int,
) -> list[BootstrapRow]:
    """Compare the systems by each method, and give rows the letters of their groups."""
    first, *others = statistics.values()
    if any(other != first for other in others):
        hint = "Costs at thresholds of their own are compared by paired_bootstrap."
        raise invalid("groups", "be False where systems have statistics of their own", "True", hint)
    found = []
    for method, how in hows.items():
        given = attrs.asdict(how, recurse=False) | {"rng": seed}
        compared = compare_systems(systems, key, first, **attrs.asdict(who, recurse=False), **given)
        named_groups = compared.groups()
        for row in rows:
            if row.method == method:
                letters = zip(string.ascii_lowercase, named_groups, strict=False)
                mine = "".join(letter for letter, group in letters if row.system in group)
                found.append(attrs.evolve(row, groups=mine))
    return sorted(found, key=lambda row: [*systems].index(row.system))


def _row(
    name: str,
    statistic: functions.AnyStatistic,
    sample: ListedSample,
    first: Resampling,
    second: Resampling,
    runs: int,
) -> BootstrapRow:
    """Draw replicates of a system, and runs of them; single calls begin with one generator each."""
    functions.warn_unless_fit([statistic], sample)
    plan = first.plan(sample)
    result = bootstrap_sample([statistic], sample, plan, first)[0]
    if result.replicates.ndim > 1:
        raise invalid("statistic", "be a number", f"{result.replicates[0].size} values")
    bound, distribution = None, None
    if isinstance(statistic, (DCF, ActDCF)):
        tar, non = sample.lists
        errors = rejected(tar, statistic.miss_limits[0]), ~rejected(non, statistic.fa_limits[0])
        cost = FixedCost.of(statistic)
        # The bootstrap has warned of few errors.
        with collected():
            bound = cost_error(cost, errors, sample.strata, (None, None), "upper-bound")
    if runs:
        system = SampledSystem.of(statistic, sample)
        sampler = system.statistic.sampler(sample, plan)
        distribution = distribution_of(system, sampler, second, runs)
    return BootstrapRow(name, result, bound, distribution)


def _default_runs(statistic: functions.AnyStatistic, method: ScoresMethod) -> int:
    return _RUNS if isinstance(statistic, ThresholdStatistic) and method != "speaker" else 0


def _name_of(statistic: functions.AnyStatistic) -> str:
    """Name a statistic below a table, with its point, its definition and its scale."""
    if isinstance(statistic, DCF):
        return repr(statistic)
    scale = scale_of_costs(getattr(statistic, "normalize", None))
    return joined_notes(metric_name(statistic), scale)


def _as_methods(
    methods: ScoresMethod | Sequence[ScoresMethod], *, twice: bool
) -> list[ScoresMethod]:
    given: Any = methods
    found: list[Any] = (
        [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    )
    for method in found:
        check_choice(method, ScoresMethod, "methods")
    if not found or len(set(found)) < len(found):
        expected = f"be some of {list_some(get_args(ScoresMethod))}, each once"
        raise invalid("methods", expected, list_some(found) or "none")
    if twice and "speaker" in found:
        hint = "The papers, which count so, do not draw speakers."
        raise invalid("count_threshold_twice", 'be False with method "speaker"', "True", hint)
    return found


def _statistics(
    statistic: object, systems: Sequence[str], *, twice: bool
) -> dict[str, functions.AnyStatistic]:
    """Return the statistic of each system."""

    def made(one: object) -> functions.AnyStatistic:
        return functions.as_statistic(count_twice(one) if twice else one)

    if not isinstance(statistic, Mapping):
        return dict.fromkeys(systems, made(statistic))
    if set(statistic) != set(systems):
        missing = [name for name in systems if name not in statistic]
        others = [name for name in statistic if name not in systems]
        got = f"none for {list_some(missing)}" if missing else f"one for {list_some(others)}"
        raise invalid("statistic", "have one for each system", got)
    return {name: made(statistic[name]) for name in systems}
