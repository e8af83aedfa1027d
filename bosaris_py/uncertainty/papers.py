r"""The experiments of NISTIR 7722 and of Wu et al. 2017: laws of standard errors, and tables.

A bootstrap is run many times; its standard errors have a law of their own [1]_ (section VII). Two
methods of resampling are compared by the means and variances of these laws (section VIII-B).

References
----------
.. [1] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
   IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Mapping, Sequence
from typing import Literal

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, BoolArray, FloatArray, Rng, mark_read_only
from bosaris_py._parallel import whole_number
from bosaris_py._tables import Record, Table, joined_notes, or_none
from bosaris_py.metrics.metric import AnyMetric, ThresholdMetric, as_metric
from bosaris_py.trials.key import Key
from bosaris_py.trials.read import SystemsLike, as_systems
from bosaris_py.trials.sample import Sample, check_same_trials
from bosaris_py.trials.speakers import SpeakersLike
from bosaris_py.uncertainty.bootstrap import Resampling, drawn_lists, few_errors, set_numbers
from bosaris_py.uncertainty.compare import ComparisonTable
from bosaris_py.uncertainty.draws import Method
from bosaris_py.uncertainty.estimate import Alternative, Estimate, IntervalKind

PaperTable = Literal["I", "II", "III"]

# Section VII of Wu et al. finds so many enough.
_RUNS = 500
_FEWEST_RUNS = 2

_COLUMNS = (
    *("system", "method", "estimate", "standard_error", "relative_error", "low", "high"),
    *("upper_bound", "mean_se", "se_of_se", "se_low", "se_high", "groups", "metric"),
)


# ---- Sets of equal size


@attrs.frozen(eq=False, repr=False)
class EqualSizeSets:
    """A choice of trials that leaves sets of equal size; made by `equal_size_sets`.

    Parameters
    ----------
    mask : (n,) ndarray of bool
        Which trials are kept.
    size : int
        Number of trials in each set that is kept.
    n_sets : int
        Number of sets that are kept.
    """

    mask: BoolArray
    size: int
    n_sets: int

    def __repr__(self) -> str:
        """Say what is kept."""
        kept = f"{self.size * self.n_sets} of {self.mask.size} trials"
        return f"EqualSizeSets: {self.n_sets} sets of {self.size}, {kept}"


def equal_size_sets(sets: ArrayLike, *, rng: Rng = None) -> EqualSizeSets:
    """Keep as many trials as possible such that all sets have the same size.

    Parameters
    ----------
    sets : (n,) array_like of str or int
        Label of each trial's set.
    rng : int, numpy.random.Generator or SeedSequence, optional
        Decides which trials of the larger sets are kept.

    Returns
    -------
    EqualSizeSets
        With a mask of the trials to keep. Sets smaller than the size chosen are dropped, larger
        ones are sampled without replacement.

    Notes
    -----
    Wu et al. 2017, section V-D, choose the size by trial and error; `bootstrap` takes sets of any
    size. It has an exact answer: with the sizes in descending order, the j largest sets keep at
    most j times the size of the j-th, and only these products compete. At least two sets are kept;
    of equally good choices the one with more sets.

    Examples
    --------
    >>> equal_size_sets(["a"] * 5 + ["b"] * 4 + ["c"], rng=0)
    EqualSizeSets: 2 sets of 4, 8 of 10 trials
    """
    generator = check.as_generator(rng)
    numbers = set_numbers(sets, None, "sets")
    sizes = np.bincount(numbers)
    descending = np.sort(sizes)[::-1]
    kept = descending * np.arange(1, descending.size + 1)
    # The last of equal products has the most sets.
    n_sets = descending.size - int(np.argmax(kept[:0:-1]))
    size = int(descending[n_sets - 1])
    # In random order within each set, the first `size` trials are a random choice.
    order = np.lexsort((generator.random(numbers.size), numbers))
    rank = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mask = np.zeros(order.size, dtype=np.bool_)
    mask[order[(rank < size) & (np.repeat(sizes, sizes) >= size)]] = True
    return EqualSizeSets(mark_read_only(mask), size, n_sets)


# ---- Standard errors of standard errors


@attrs.frozen(eq=False, repr=False)
class StandardErrorDistribution:
    """Standard errors of one metric from many runs of one bootstrap.

    Parameters
    ----------
    value : float
        The metric of the data.
    spread : Estimate
        Mean of the standard errors, their standard deviation and their quantiles.
    """

    value: float
    spread: Estimate

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error that each run found."""
        found = self.spread.replicates
        return np.empty(0) if found is None else found

    @property
    def relative_error(self) -> float:
        """1.96 times the mean standard error over the value, a fraction: Table III of Wu et al."""
        return 1.96 * self.spread.value / abs(self.value) if self.value else math.inf

    def __repr__(self) -> str:
        """Show the mean, its interval, and the method."""
        return f"StandardErrorDistribution: {self.spread!r}"


def standard_error_distribution(
    tar: ArrayLike,
    non: ArrayLike,
    metric: object,
    *,
    method: Literal["iid", "one-layer", "two-layer"] = "iid",
    tar_sets: ArrayLike | None = None,
    non_sets: ArrayLike | None = None,
    runs: int = _RUNS,
    replications: int = 2000,
    confidence: float = 0.95,
    rng: Rng = None,
    progress: bool = False,
) -> StandardErrorDistribution:
    r"""Repeat a bootstrap many times to see how its standard error varies.

    Parameters
    ----------
    tar, non, metric, method, tar_sets, non_sets
        As for `bootstrap`.
    runs : int, default: 500
        Number of bootstraps, at least 2.
    replications : int, default: 2000
        Number of replicates in each.
    confidence : float, default: 0.95
        Share of runs in the interval, strictly between 0 and 1.
    rng, progress
        As for `bootstrap`.

    Returns
    -------
    StandardErrorDistribution

    Warns
    -----
    FewErrorsWarning
        If a rate of the metric rests on fewer than 30 errors.

    Notes
    -----
    Wu et al. 2017, section VII, which finds 500 runs enough.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(0)
    >>> tar, non = rng.normal(3, 1, 1000), rng.normal(0, 1, 9000)
    >>> runs = unc.standard_error_distribution(tar, non, unc.DCF(2.0, 0.1), runs=100, rng=1)
    >>> 0.02 < runs.spread.relative_error < 0.05  # near 1.96 / sqrt(2 * 2000)
    True
    """
    chosen, n_runs = as_metric(metric), whole_number(runs, _FEWEST_RUNS, "runs")
    how = Resampling(method, replications, "percentile", confidence, rng, progress)
    view = chosen.view(drawn_lists(tar, non, method, tar_sets, non_sets))
    found = _many_runs(chosen, view, how, n_runs)
    errors.warn([*chosen.notes(view), *few_errors(chosen, view)])
    return found


def _many_runs(
    metric: AnyMetric, view: Sample, how: Resampling, runs: int
) -> StandardErrorDistribution:
    """Run the bootstrap of a metric many times."""
    together = attrs.evolve(how, replications=runs * how.replications)
    (replicates,) = together.replicates(metric, [view])
    if not np.isfinite(replicates).all():
        raise check.invalid("metric", "be finite on all replicates", "one that is not")
    found = replicates.reshape(runs, how.replications).std(axis=1, ddof=1)
    said = f"{runs} runs of {how.replications} replicates, {how.method} bootstrap"
    spread = Estimate.from_replicates(
        float(found.mean()), found, interval="percentile", confidence=how.confidence, method=said
    )
    return StandardErrorDistribution(metric.computed(view), spread)


@attrs.frozen
class FTest:
    """The outcome of an F-test of the equality of two variances.

    Parameters
    ----------
    ratio : float
        First variance over second.
    p_value : float
        Chance of a ratio at least as extreme if the variances are equal and the samples normal.
    """

    ratio: float
    p_value: float


def z_test_of_means(first: ArrayLike, second: ArrayLike) -> Estimate:
    r"""Test if two distributions of standard errors have the same mean.

    Parameters
    ----------
    first, second : (n,) array_like of float
        Standard errors by two methods of resampling; independent of each other.

    Returns
    -------
    Estimate
        The difference of the means; it has `Estimate.z` and `Estimate.p_value`.

    Notes
    -----
    Section VIII-B of Wu et al. 2017:
    :math:`z = (\bar x_1 - \bar x_2) / \sqrt{s_1^2/n_1 + s_2^2/n_2}`. It tells whether two
    *methods* differ, and with enough runs they always do; it tells nothing about systems.

    Examples
    --------
    >>> z_test_of_means([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).z
    -1.224744871391589
    """
    x, y = _as_numbers(first, "first"), _as_numbers(second, "second")
    variance = x.var(ddof=1) / x.size + y.var(ddof=1) / y.size
    difference = float(x.mean() - y.mean())
    return Estimate.from_error(difference, math.sqrt(variance), method="z-test of means")


def f_test_of_variances(
    first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided"
) -> FTest:
    r"""Test if two distributions of standard errors have the same variance.

    Parameters
    ----------
    first, second
        As for `z_test_of_means`.
    alternative : {"two-sided", "less", "greater"}
        What to look for: any difference, or the first variance being less, or greater.

    Returns
    -------
    FTest
        Two-sided: twice the smaller tail.

    Notes
    -----
    Section VIII-B of Wu et al. 2017: :math:`s_1^2/s_2^2` has an F distribution with
    :math:`n_1 - 1` and :math:`n_2 - 1` degrees of freedom if both samples are normal and the
    variances equal.

    Examples
    --------
    >>> test = f_test_of_variances([1.0, 2.0, 3.0], [1.0, 3.0, 5.0])
    >>> test.ratio, round(test.p_value, 12)
    (0.25, 0.4)
    """
    x, y = _as_numbers(first, "first"), _as_numbers(second, "second")
    check.check_choice(alternative, Alternative, "alternative")
    variances = x.var(ddof=1), y.var(ddof=1)
    if not min(variances) > 0:
        raise check.invalid("samples", "not be constant", "equal values")
    ratio = float(variances[0] / variances[1])
    lower = float(scipy.special.fdtr(x.size - 1, y.size - 1, ratio))
    upper = float(scipy.special.fdtrc(x.size - 1, y.size - 1, ratio))
    tails = {"less": lower, "greater": upper, "two-sided": min(1.0, 2.0 * min(lower, upper))}
    return FTest(ratio, tails[alternative])


def _as_numbers(values: ArrayLike, name: str) -> FloatArray:
    found = check.as_vector(values, name).astype(np.float64, copy=False)
    check.refuse_nan(found, name)
    if found.size < _FEWEST_RUNS:
        raise check.invalid(name, f"hold at least {_FEWEST_RUNS} values", f"{found.size}")
    return found


# ---- Tables I to III of Wu et al., Table 1 of NISTIR 7722


@attrs.frozen(eq=False)
class BootstrapRow:
    """What one method of resampling finds for one system.

    Parameters
    ----------
    system, method : str
        Their names.
    estimate : Estimate
        Value, standard error, interval and replicates of one bootstrap.
    upper_bound : float or None
        The standard error without its covariance, equation (4) of Wu et al.; None unless the
        metric is a cost at one threshold.
    runs : StandardErrorDistribution or None
        Standard errors of many such bootstraps; None without runs.
    groups : str
        Letters of the groups that the system is in; empty where none were asked for.
    """

    system: str
    method: str
    estimate: Estimate
    upper_bound: float | None
    runs: StandardErrorDistribution | None
    groups: str = ""

    def cell(self, layout: PaperTable) -> str:
        """Return what a table of Wu et al. prints: standard error, relative error, interval."""
        shown, relative = self.estimate, self.estimate.relative_error
        printed = f"{shown.standard_error:.6f}"
        if layout != "I" and self.runs is not None:
            shown, relative = self.runs.spread, self.runs.relative_error
            printed = f"{shown.value:.6f}"
            if layout == "II":
                printed, relative = f"{printed} {shown.standard_error:.6g}", shown.relative_error
        ends = f"({shown.low:.6f}, {shown.high:.6f})"
        return f"{printed} ({100 * relative:.2f}%) {ends} {self.groups}".rstrip()


@attrs.frozen(eq=False, repr=False)
class BootstrapTable(Table):
    """Standard errors of several systems by several methods; made by `bootstrap_table`.

    Parameters
    ----------
    rows : tuple of BootstrapRow
        System by system, each with all methods.
    metric : str
        What was judged.
    layout : {"I", "II", "III"}, default: "I"
        As which table of Wu et al. it prints.
    """

    rows: tuple[BootstrapRow, ...]
    metric: str
    layout: PaperTable = "I"

    def row(self, system: str, method: str) -> BootstrapRow:
        """Return what a method finds for a system.

        Parameters
        ----------
        system, method : str
            Their names.

        Returns
        -------
        BootstrapRow
        """
        return {(row.system, row.method): row for row in self.rows}[system, method]

    def to_dict(self) -> list[Record]:
        """Return one dict for each system and method; errors are fractions.

        Returns
        -------
        list of dict
            ``system``, ``method``, ``estimate``, ``standard_error``, ``relative_error``, ``low``,
            ``high``, ``upper_bound``, ``mean_se``, ``se_of_se``, ``se_low``, ``se_high``,
            ``groups`` and ``metric``.
        """
        found = []
        for row in self.rows:
            one, spread = row.estimate, row.runs and row.runs.spread
            cells = [row.system, row.method, one.value, one.standard_error]
            cells += [or_none(one.relative_error), one.low, one.high, row.upper_bound]
            cells += [spread.value, spread.standard_error] if spread else [None, None]
            cells += [spread.low, spread.high] if spread else [None, None]
            cells += [row.groups or None, self.metric]
            found.append(dict(zip(_COLUMNS, cells, strict=True)))
        return found

    def as_printed(self, table: PaperTable) -> "BootstrapTable":
        """Lay the figures out as a table of Wu et al.: a row for each system, methods beside it.

        Parameters
        ----------
        table : {"I", "II", "III"}
            ``"I"``: estimates, standard errors and intervals; of ``methods=["iid"]`` it is Table 1
            of NISTIR 7722. ``"II"``: analytical upper bounds, and distributions of the standard
            errors. ``"III"``: these with the estimates, to which the relative errors then are.

        Returns
        -------
        BootstrapTable

        Raises
        ------
        InvalidInputError
            If there are no runs, and a table of them is asked for.
        """
        check.check_choice(table, PaperTable, "table")
        if table != "I" and self.rows[0].runs is None:
            raise check.invalid("table", 'be "I" where there are no runs', check.describe(table))
        return attrs.evolve(self, layout=table)

    def _texts(self) -> list[list[str]]:
        methods = list(dict.fromkeys(row.method for row in self.rows))
        bound = self.layout != "I" and self.rows[0].upper_bound is not None
        value = self.layout != "II"
        head = ["system", *["estimate"] * value, *["upper bound"] * bound, *methods]
        lines = [head]
        for system in dict.fromkeys(row.system for row in self.rows):
            rows = [self.row(system, method) for method in methods]
            line = [system, *[f"{rows[0].estimate.value:.6f}"] * value]
            line += [f"{rows[0].upper_bound:.6f}"] if bound else []
            lines.append(line + [row.cell(self.layout) for row in rows])
        return lines

    @property
    def _note(self) -> str:
        one, runs = self.rows[0].estimate, self.rows[0].runs
        drawn = 0 if one.replicates is None else one.replicates.size
        said = [self.metric, f"{100 * one.confidence:g} % intervals of {drawn} replicates"]
        if self.layout != "I" and runs is not None:
            said.append(f"standard errors of {runs.standard_errors.size} runs")
        said.append("relative errors are 1.96 SE over the mean")
        if self.rows[0].groups:
            said.append("systems that share a letter do not differ significantly")
        return joined_notes(*said)


def bootstrap_table(
    systems: SystemsLike,
    key: Key,
    metric: object,
    *,
    methods: Sequence[Method] = ("iid", "one-layer", "two-layer"),
    runs: int | None = None,
    groups: bool = False,
    speakers: SpeakersLike = None,
    replications: int = 2000,
    interval: IntervalKind = "percentile",
    confidence: float = 0.95,
    rng: Rng = None,
    progress: bool = False,
) -> BootstrapTable:
    """Bootstrap several systems by several methods, and measure the spread of standard errors.

    This is the experiment of Wu et al. 2017 and, with ``methods=["iid"]``, of NISTIR 7722.

    Parameters
    ----------
    systems : mapping of str to Scores or path
        As for `evaluate`.
    key : Key
        Which trials are targets and which non-targets.
    metric : metric, callable, or mapping from name of a system to these
        What is judged. With a mapping each system has its own, such as a `DCF` at the threshold
        that came with it.
    methods : sequence of {"iid", "one-layer", "two-layer", "speaker"}
        What to draw, see `bootstrap_scores`; by default the three of the paper.
    runs : int, optional
        Number of bootstraps whose standard errors are compared; 0 leaves them out. By default 500,
        as in the paper, for costs at fixed thresholds and methods other than ``"speaker"``, whose
        replicates take little time; else 0.
    groups : bool, default: False
        Test all pairs of systems by each method on the same draws, corrected by Holm's method, and
        name the groups within which no difference was found by letters: "classes of accuracy",
        section IX.
    speakers
        As for `bootstrap_scores`.
    replications, interval, confidence, rng, progress
        As for `bootstrap`. Each cell draws from the same seed.

    Returns
    -------
    BootstrapTable
        It prints as a table; `BootstrapTable.as_printed` lays it out as the papers do.

    Warns
    -----
    FewErrorsWarning
        As for `bootstrap_scores`.

    See Also
    --------
    compare_systems : Tests of pairs of systems by the jackknife over speakers.

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
    >>> table = unc.bootstrap_table({"EL": scores}, key, unc.DCF(3.0, 0.1), rng=1, runs=20,
    ...                             methods=["iid", "one-layer"])
    >>> iid, layer = (table.row("EL", method).estimate for method in ("iid", "one-layer"))
    >>> layer.standard_error > iid.standard_error
    True
    >>> print(table.to_markdown().splitlines()[0])
    | system | estimate | iid | one-layer |
    """
    named, seed = as_systems(systems), check.as_seed(rng)
    metrics = _metrics(metric, named)
    n_runs = None if runs is None else whole_number(runs, 0, "runs")
    if groups:
        if len({*metrics.values()}) > 1:
            expected = "be False where systems have metrics of their own"
            raise check.invalid("groups", expected, "True")
        check_same_trials(named, key)
    rows, notes = [], []
    for method in check.listed(methods, "methods"):
        how = Resampling(method, replications, interval, confidence, seed, progress)
        who = how.speakers(key, speakers)
        views = {
            name: metrics[name].view(metrics[name].joined(scores, key, None, who))
            for name, scores in named.items()
        }
        letters = _letters(how, seed, metrics, views) if groups else {}
        for name, view in views.items():
            chosen = metrics[name]
            points = chosen.points if isinstance(chosen, ThresholdMetric) else []
            # Single calls begin with this seed, too.
            one, many = (attrs.evolve(how, rng=seed) for _ in range(2))
            estimate = one.estimate(chosen, [view])
            by_default = _RUNS if points and method != "speaker" else 0
            size = by_default if n_runs is None else n_runs
            spread = _many_runs(chosen, view, many, max(size, _FEWEST_RUNS)) if size else None
            bound = _upper_bound(chosen, view) if len(points) == 1 else None
            rows.append(BootstrapRow(name, method, estimate, bound, spread, letters.get(name, "")))
            found = (*chosen.notes(view), *estimate.notes)
            notes += [attrs.evolve(note, about=name) for note in found]
    errors.warn(notes)
    in_order = sorted(rows, key=lambda row: [*named].index(row.system))
    labels = dict.fromkeys(one.label for one in metrics.values())
    return BootstrapTable(tuple(in_order), "; ".join(labels))


def _metrics(metric: object, names: Mapping[str, object]) -> dict[str, AnyMetric]:
    """Return the metric of each system."""
    match metric:
        case Mapping() if set(metric) == set(names):
            return {name: as_metric(metric[name]) for name in names}
        case Mapping():
            listed = check.list_some(map(str, metric)) or "none"
            raise check.invalid("metric", "have one for each system", listed)
    return dict.fromkeys(names, as_metric(metric))


def _upper_bound(metric: AnyMetric, view: Sample) -> float:
    """Return the standard error of a cost at one threshold, of independent trials."""
    # Wu et al., equation (4); at a fixed threshold both rates do not vary together.
    sizes = view.n_tar, view.n_non, view.n_spoof
    opened = metric.openings(view)
    return math.sqrt(sum(e.price**2 * e.rate * (1.0 - e.rate) / sizes[e.place] for e in opened))


def _letters(
    how: Resampling, seed: int, metrics: Mapping[str, AnyMetric], views: Mapping[str, Sample]
) -> dict[str, str]:
    """Return the letters of each system's groups, from Z-tests on the same draws: section IX."""
    differences = {}
    for a, b in itertools.combinations(views, 2):
        paired = attrs.evolve(how, rng=seed, interval="normal")
        differences[a, b] = paired.estimate(metrics[a], [views[a], views[b]])
    found = ComparisonTable.from_differences(differences, "", percent=False).groups()
    named = list(zip(string.ascii_lowercase, found, strict=False))
    return {name: "".join(letter for letter, group in named if name in group) for name in views}
