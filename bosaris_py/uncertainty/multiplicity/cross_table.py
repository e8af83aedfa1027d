"""A metric in the cells of two factors, such as attacks and codecs, and the worst of the cells.

A factor divides a class of trials if trials of the class have values of it: an attack divides
spoofs, a codec all trials. A cell has the trials of each class with the values of its row and
column, so far as they divide the class.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    IndexArray,
    IntArray,
    Readable,
    mark_read_only,
)
from bosaris_py._cautions import hushed
from bosaris_py._tables import Table, joined_notes, or_none, scale_of_costs, text_table
from bosaris_py._validation import Rng, as_seed, check_choice, describe, invalid, safe
from bosaris_py.errors import BosarisWarning
from bosaris_py.numerics.roc import FEWEST_ERRORS
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.kinds import CLASS_WORDS, class_numbers
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample, ScoredClass
from bosaris_py.trials.scores import AnyScores, scored_trials
from bosaris_py.trials.speakers import Speakers
from bosaris_py.trials.strata import Strata
from bosaris_py.uncertainty.bootstrapping import draw_replicates, metric_name
from bosaris_py.uncertainty.influence.losses import has_losses
from bosaris_py.uncertainty.influence.open_ends import open_ends, units_of
from bosaris_py.uncertainty.influence.speaker_influence import METHOD, SpeakerInfluence
from bosaris_py.uncertainty.resampling import Resampling, SpeakerPlan
from bosaris_py.uncertainty.spoof_statistics import SpoofStatistic
from bosaris_py.uncertainty.statistics.class_means import ActDCF
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, StatisticLike, as_statistic
from bosaris_py.uncertainty.statistics.roc_functions import EER, MinDCF

# Words for trials that have no value of a factor, as bona fide ones have no attack.
_NO_VALUE = frozenset(("", "-", "bonafide", "none", "None"))

Bold = Literal["worst"]


@attrs.frozen
class WorstCell(metaclass=Readable):
    """The cell with the largest value, and a simultaneous interval of the largest true value.

    Parameters
    ----------
    row, column : str
        Where it is.
    value : float
        The value.
    low, high : float or None
        The interval of the largest true value, where replicates were drawn.
    """

    row: str
    column: str
    value: float
    low: float | None
    high: float | None


@attrs.frozen(eq=False, repr=False, kw_only=True)
class CrossTable(Table):
    """A metric in each cell of two factors; made by `Evaluation.cross` and `cross_table`.

    Parameters
    ----------
    metric : str
        What it is.
    factors : (str, str)
        Names of the factors of the rows and of the columns.
    rows, columns : tuple of str
        Their values.
    values : (r, c) ndarray of float64
        The metric in each cell; NaN where a class has no trials.
    pooled : (ndarray, ndarray, float)
        The metric of all trials of each row, of each column, and of the table.
    n_errors : (r, c) ndarray of float64
        The smaller number of errors of the classes in each cell; NaN for metrics without any.
    low, high : (r, c) ndarray of float64 or None
        Simultaneous interval of all cells, where replicates were drawn.
    bias_of_maximum : float or None
        How much the largest value of a table exceeds the largest true one, by the same replicates.
    how : str
        What the intervals are.
    """

    metric: str
    factors: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Float64Array
    pooled: tuple[Float64Array, Float64Array, float]
    n_errors: Float64Array
    low: Float64Array | None = None
    high: Float64Array | None = None
    bias_of_maximum: float | None = None
    how: str = ""

    @property
    def worst(self) -> WorstCell:
        """The cell with the largest value."""
        row, column = np.unravel_index(int(np.nanargmax(self.values)), self.values.shape)
        ends: list[float | None] = [None, None]
        if self.low is not None and self.high is not None:
            # With the chance of all intervals the largest true value is at most the largest end.
            ends = [float(np.nanmax(self.low)), float(np.nanmax(self.high))]
        value = float(self.values[row, column])
        return WorstCell(self.rows[row], self.columns[column], value, ends[0], ends[1])

    @property
    def is_few(self) -> BoolArray:
        """Whether a cell has fewer than 30 errors of a class: (r, c)."""
        return np.asarray(self.n_errors < FEWEST_ERRORS)

    def margins(self, axis: int) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the pooled metric, the mean and the largest value of each row or column.

        Parameters
        ----------
        axis : {0, 1}
            0 for the rows, 1 for the columns.

        Returns
        -------
        pooled, mean, largest : ndarray of float64
        """
        values = self.values if axis == 0 else self.values.T
        known = np.isfinite(values)
        counts = known.sum(axis=1)
        with np.errstate(invalid="ignore"):
            mean = np.where(known, values, 0.0).sum(axis=1) / counts
        largest = np.where(counts > 0, np.where(known, values, -np.inf).max(axis=1), np.nan)
        return (self.pooled[0] if axis == 0 else self.pooled[1]), mean, largest

    def records(self) -> list[dict[str, Any]]:
        """Return the cells as dicts, row by row.

        Returns
        -------
        list of dict
            The names of both factors, ``value``, ``low``, ``high``, ``n_errors`` and ``metric``;
            None where a number is not defined.
        """
        found = []
        for i, row in enumerate(self.rows):
            for j, column in enumerate(self.columns):
                ends = (
                    None if side is None else or_none(float(side[i, j]))
                    for side in (self.low, self.high)
                )
                found.append(
                    {
                        self.factors[0]: row,
                        self.factors[1]: column,
                        "value": or_none(float(self.values[i, j])),
                        **dict(zip(("low", "high"), ends, strict=True)),
                        "n_errors": or_none(float(self.n_errors[i, j])),
                        "metric": self.metric,
                    }
                )
        return found

    @property
    def _note(self) -> str:
        few = ""
        if bool(self.is_few.any()):
            few = f"* fewer than {FEWEST_ERRORS} errors of a class"
        worst = ""
        if self.low is not None:
            found = self.worst
            where = ", ".join(safe(name, 200) for name in (found.row, found.column))
            worst = (
                f"largest {found.value:.4g} at {where}; the largest true value "
                f"lies in [{found.low:.4g}, {found.high:.4g}]; bias of the largest value "
                f"{self.bias_of_maximum:.2g}"
            )
        names = " by ".join(safe(name, 200) for name in self.factors)
        return joined_notes(f"{self.metric}, rows {names}", few, worst, self.how)

    def _texts(self) -> list[list[str]]:
        of_rows, of_columns = zip(*self.margins(0), strict=True), self.margins(1)
        head = [self.factors[0], *self.columns, "pooled", "mean", "max"]
        lines = [head]
        for name, values, few, ends in zip(
            self.rows, self.values, self.is_few, of_rows, strict=True
        ):
            cells = [
                _text(v) + ("*" if is_few else "") for v, is_few in zip(values, few, strict=True)
            ]
            lines.append([name, *cells, *map(_text, ends)])
        known = self.values[np.isfinite(self.values)]
        corner = self.pooled[2], float(known.mean()), float(known.max())
        for i, (name, side) in enumerate(zip(("pooled", "mean", "max"), of_columns, strict=True)):
            last = ["", "", ""]
            last[i] = _text(corner[i])
            lines.append([name, *map(_text, side), *last])
        return lines

    def __repr__(self) -> str:
        """Lay the cells out as a table."""
        lines = text_table(self._texts(), left=(0,), rules=(1, len(self.rows) + 1))
        return "\n".join([*lines, f"({self._note})"])

    def to_latex(self, *, bold: Bold | None = None) -> str:
        r"""Return the printed table as a ``tabular`` of LaTeX, and its note; it needs no package.

        Parameters
        ----------
        bold : {"worst"}, optional
            Print the largest value of each row in bold type.

        Returns
        -------
        str
        """
        text = super().to_latex()
        if bold is None:
            return text
        check_choice(bold, Bold, "bold")
        lines = text.split("\n")
        # The head stands between two rules; the cells follow.
        first = 4
        for i, values in enumerate(self.values):
            if not np.isfinite(values).any():
                continue
            cells = lines[first + i].removesuffix(r" \\").split(" & ")
            place = 1 + int(np.nanargmax(values))
            cells[place] = rf"\textbf{{{cells[place]}}}"
            lines[first + i] = " & ".join(cells) + r" \\"
        return "\n".join(lines)


def _text(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


@attrs.frozen(eq=False)
class _Kind:
    """The trials of one class, and the row and column of each; None where these do not divide."""

    whole: ScoredClass
    codes: tuple[IntArray | None, IntArray | None]
    shape: tuple[int, int]

    @classmethod
    def of(
        cls, whole: ScoredClass, codes: Sequence[IntArray], levels: Sequence[Sequence[str]]
    ) -> "_Kind":
        """Take a class with the level of each trial, and what the levels are called."""
        sides: list[IntArray | None] = []
        for numbers, names in zip(codes, levels, strict=True):
            is_value = np.array([name not in _NO_VALUE for name in names], dtype=np.bool_)
            place = np.where(is_value, np.cumsum(is_value) - 1, -1)[numbers]
            sides.append(place if (place >= 0).any() else None)
        shape = [sum(name not in _NO_VALUE for name in names) for names in levels]
        return cls(whole, (sides[0], sides[1]), (shape[0], shape[1]))

    @functools.cached_property
    def _by_cell(self) -> tuple[IndexArray, IntArray]:
        """Positions by cell, then score, and where each cell begins."""
        cell = np.zeros(self.whole.scores.size, dtype=np.int64)
        kept = np.ones(cell.size, dtype=np.bool_)
        for side, size in zip(self.codes, self.shape, strict=True):
            if side is not None:
                cell = cell * size + side
                kept &= side >= 0
        order = self.whole.order
        order = order[kept[order]]
        order = order[np.argsort(cell[order], kind="stable")]
        n_cells = math.prod(
            size for side, size in zip(self.codes, self.shape, strict=True) if side is not None
        )
        counts = np.bincount(cell[order], minlength=n_cells)
        return order, np.concatenate(([0], np.cumsum(counts)))

    def positions(self, row: int | None, column: int | None) -> IndexArray | slice:
        """Return the trials of a cell, or of a whole row, column or table; sorted by score."""
        chosen = [
            (side, number)
            for side, number in zip(self.codes, (row, column), strict=True)
            if side is not None
        ]
        if not chosen:
            return slice(None)
        if all(number is not None for _, number in chosen):
            order, starts = self._by_cell
            cell = 0
            for (side, number), size in zip(
                zip(self.codes, (row, column), strict=True), self.shape, strict=True
            ):
                if side is not None and number is not None:
                    cell = cell * size + number
            return order[starts[cell] : starts[cell + 1]]
        kept = np.ones(self.whole.scores.size, dtype=np.bool_)
        for side, number in chosen:
            kept &= side >= 0 if number is None else side == number
        order = self.whole.order
        return order[kept[order]]

    def part(self, row: int | None, column: int | None) -> ScoredClass | None:
        """Return the trials of a cell, or of a row or column; None if there are none."""
        chosen = self.positions(row, column)
        if isinstance(chosen, slice):
            return self.whole
        if not chosen.size:
            return None
        persons = self.whole.persons
        if persons is not None:
            first, second = persons
            persons = first[chosen], None if second is None else second[chosen]
        scores = mark_read_only(self.whole.scores[chosen])
        alike = Strata.single(chosen.size)
        return ScoredClass(scores, alike, None, persons, order=np.arange(chosen.size))


@attrs.frozen(eq=False)
class _Crossed:
    """The kinds of trials of a system, and the metric that is taken of each cell."""

    kinds: tuple[_Kind, ...]
    statistic: SpoofStatistic | AnyStatistic
    shares: tuple[float, ...]
    words: tuple[str, ...]

    @property
    def plain(self) -> AnyStatistic:
        """The metric of two classes."""
        one = self.statistic
        return one.plain if isinstance(one, SpoofStatistic) else one

    def _view(self, parts: tuple[ScoredClass, ...]) -> ListedSample:
        sample, one = ListedSample(parts, self.shares, kinds=self.words), self.statistic
        return one.view(sample) if isinstance(one, SpoofStatistic) else sample

    def value(self, row: int | None, column: int | None) -> tuple[float, float]:
        """Return the metric of a cell, and its smaller number of errors; NaN without trials."""
        parts = [kind.part(row, column) for kind in self.kinds]
        found = tuple(part for part in parts if part is not None)
        if len(found) < len(parts):
            return math.nan, math.nan
        sample = self._view(found)
        return float(self.plain.of_sample(sample)), _fewest_errors(self.plain, sample)

    def replicates(
        self, row: int, column: int, whole: SpeakerPlan, how: Resampling
    ) -> tuple[Float64Array, Callable[[float], tuple[float, float]]]:
        """Return the replicates of a cell under draws of the persons of all trials.

        And the ends that cells without variation have.
        """
        parts = [kind.part(row, column) for kind in self.kinds]
        found = tuple(part for part in parts if part is not None)
        sample = self._view(found)
        places = [
            np.arange(kind.whole.scores.size)[kind.positions(row, column)] for kind in self.kinds
        ]
        # The non-targets of the plan are those of all kinds, one after the other. A view leaves
        # kinds out, or joins them all.
        begins = np.cumsum([0, *(kind.whole.scores.size for kind in self.kinds[1:])])
        is_joined = not any(part is one for part in found[1:] for one in sample.classes)
        own = [
            begin + positions
            for begin, positions, part in zip(begins, places[1:], found[1:], strict=False)
            if is_joined or any(part is one for one in sample.classes)
        ]
        tar = whole.tar.reordered(mark_read_only(places[0]))
        non = whole.non.reordered(mark_read_only(np.concatenate(own)))
        plan = attrs.evolve(whole, tar=tar, non=non, strata=sample.strata)
        drawn = draw_replicates(self.plain.sampler(sample.arranged(), plan), how)
        return drawn, functools.partial(_left_open, self.plain, sample, units_of(plan))


def _left_open(
    plain: AnyStatistic, sample: ListedSample, units: tuple[float, float], confidence: float
) -> tuple[float, float]:
    """Return the ends that the number of speakers of a cell leaves open."""
    if has_losses(plain):
        found = SpeakerInfluence.on(plain, sample).interval(confidence, METHOD)
        if found.low < found.high:
            return found.low, found.high
    low, high = open_ends(plain, sample, units)(confidence)
    return float(low), float(high)


def _fewest_errors(plain: AnyStatistic, sample: ListedSample) -> float:
    """Return the smaller number of misses and false alarms at the threshold of a metric."""
    sizes = np.array([sample.n_tar, sample.n_non])
    if isinstance(plain, EER):
        return float(sample.hull.eer * sizes.min())
    if not isinstance(plain, (ActDCF, MinDCF)) or plain.shape:
        return math.nan
    if isinstance(plain, ActDCF):
        threshold = plain.costs.thresholds
    else:
        threshold = sample.hull.thresholds[sample.hull.best_vertices(plain.costs)]
    pmiss, pfa = sample.error_rates(np.atleast_1d(threshold))
    return float(min(pmiss[0] * sizes[0], pfa[0] * sizes[1]))


def cross_table(
    scores: AnyScores,
    key: KeyLike,
    row_factor: str,
    column_factor: str,
    metric: SpoofStatistic | StatisticLike,
    *,
    who: Speakers | None = None,
    replications: int = 0,
    confidence: float = 0.95,
    rng: Rng = None,
) -> CrossTable:
    """Compute a metric in each cell of two columns of the metadata, see `Evaluation.cross`."""
    plain_key, metadata = split_key(key)
    if metadata is None:
        hint = "read_key and load_example give the pair (key, metadata)."
        raise invalid("key", "be a pair (key, metadata), with both factors", "a key alone", hint)
    drawn = who is not None and replications > 0
    how = Resampling("speaker" if drawn else "iid", replications=max(replications, 2), rng=0)
    owner = who if drawn and who is not None else Speakers()
    three = isinstance(metric, SpoofStatistic)
    statistic: SpoofStatistic | AnyStatistic
    statistic = metric if isinstance(metric, SpoofStatistic) else as_statistic(metric)
    both = plain_key, metadata
    if three:
        whole = how.kinds_sample(scores, both, owner)
    else:
        whole = how.sample(scores, both, owner, None)
    kinds, levels = _divided(whole, scores, plain_key, metadata, (row_factor, column_factor))
    crossed = _Crossed(kinds, statistic, whole.kind_shares, whole.kinds)
    if np.shape(crossed.plain.of_sample(whole)):
        raise invalid("metric", "be a number", describe(metric))
    shape = len(levels[0]), len(levels[1])
    cells = np.array([[crossed.value(i, j) for j in range(shape[1])] for i in range(shape[0])])
    rows = np.array([crossed.value(i, None)[0] for i in range(shape[0])])
    columns = np.array([crossed.value(None, j)[0] for j in range(shape[1])])
    table = CrossTable(
        metric=_name(metric),
        factors=(row_factor, column_factor),
        rows=levels[0],
        columns=levels[1],
        values=mark_read_only(np.ascontiguousarray(cells[..., 0])),
        pooled=(mark_read_only(rows), mark_read_only(columns), crossed.value(None, None)[0]),
        n_errors=mark_read_only(np.ascontiguousarray(cells[..., 1])),
    )
    if not np.isfinite(table.values).any():
        raise invalid("key", "have a cell with trials of all classes", "none")
    if not drawn:
        return table
    seed = as_seed(rng)
    options: Any = {"replications": replications, "confidence": confidence}
    plan = SpeakerPlan.of(
        whole.with_kinds_pooled() if three else whole, "multinomial", pigeonhole=False
    )
    known = np.argwhere(np.isfinite(table.values))
    # Tables say of few errors by a sign in the cell.
    with hushed(BosarisWarning):
        drawn_cells = [
            crossed.replicates(i, j, plan, Resampling("speaker", rng=seed, **options))
            for i, j in known.tolist()
        ]
    draws, ends = zip(*drawn_cells, strict=True)
    bounds = crossed.plain.bounds
    return _with_intervals(table, known, np.stack(draws, axis=1), ends, bounds, confidence)


def _name(metric: SpoofStatistic | StatisticLike) -> str:
    """Name a metric below a table, with its point and its scale."""
    scale = scale_of_costs(getattr(metric, "normalize", None))
    return joined_notes(metric_name(metric), scale)


def _divided(
    whole: ListedSample,
    scores: AnyScores,
    key: AnyKey,
    metadata: TrialMetadata,
    factors: tuple[str, str],
) -> tuple[tuple[_Kind, ...], tuple[tuple[str, ...], tuple[str, ...]]]:
    """Divide each class of a sample by both factors; return the levels that any class has."""
    described = metadata.for_trials(key)
    columns = [described.factor(name) for name in factors]
    scored, is_tar = scored_trials(scores, key), key.trial_labels()
    kept = np.ones(is_tar.size, dtype=np.bool_) if scored is None else scored
    masks = [is_tar & kept, ~is_tar & kept]
    if len(whole.kinds) > 1:
        classes = class_numbers(key, metadata)
        masks = [(classes == CLASS_WORDS.index(word)) & kept for word in ("target", *whole.kinds)]
    codes = [np.asarray(column.codes, dtype=np.int64) for column in columns]
    names = [column.levels.tolist() for column in columns]
    for i, (numbers, given) in enumerate(zip(codes, names, strict=True)):
        # Levels that no scored trial has make no row.
        held = np.bincount(numbers[kept], minlength=len(given)) > 0
        names[i] = [level if has else "" for level, has in zip(given, held, strict=True)]
        if all(level in _NO_VALUE for level in names[i]):
            raise invalid("factors", f"have values in column {factors[i]!r}", "none")
    kinds = tuple(
        _Kind.of(part, [numbers[mask] for numbers in codes], names)
        for part, mask in zip(whole.classes, masks, strict=True)
    )
    shown = [tuple(level for level in given if level not in _NO_VALUE) for given in names]
    return kinds, (shown[0], shown[1])


def _with_intervals(
    table: CrossTable,
    known: IntArray,
    draws: Float64Array,
    ends: Sequence[Callable[[float], tuple[float, float]]],
    bounds: tuple[npt.ArrayLike, npt.ArrayLike],
    confidence: float,
) -> CrossTable:
    """Add simultaneous intervals of all cells, from replicates of common draws: (B, cells)."""
    values = table.values[known[:, 0], known[:, 1]]
    # A draw of which a cell has lost a class counts in the others.
    defined = np.isfinite(draws)
    errors = draws.std(axis=0, ddof=1)
    for cell in np.flatnonzero(~defined.all(axis=0)):
        some = draws[defined[:, cell], cell]
        errors[cell] = some.std(ddof=1) if some.size > 1 else 0.0
    # The largest of all deviations, in standard errors: Student's statistics of common draws.
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.abs(draws - values) / errors
    deviations = np.where(defined & (errors > 0), deviations, 0.0)
    factor = float(np.quantile(deviations.max(axis=1), confidence))
    low, high = (np.full(table.values.shape, np.nan) for _ in range(2))
    # On the logarithmic scale, as intervals by speaker are; a value of 0 has the plain one.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(values > 0, np.exp(factor * errors / values), 1.0)
    low[known[:, 0], known[:, 1]] = values / ratio
    high[known[:, 0], known[:, 1]] = np.where(values > 0, values * ratio, factor * errors)
    # Where nothing varies, what the numbers of speakers leave open, in all cells at once.
    sure = 1.0 - (1.0 - confidence) / values.size
    for number in np.flatnonzero(errors == 0).tolist():
        (i, j), (under, over) = known[number].tolist(), ends[number](sure)
        low[i, j], high[i, j] = min(low[i, j], under), max(high[i, j], over)
    least, most = bounds
    low, high = np.clip(low, least, most), np.clip(high, least, most)
    largest = np.where(defined, draws, -np.inf).max(axis=1)
    bias = float(np.mean(largest[np.isfinite(largest)] - values.max()))
    words = f"{100 * confidence:g} % intervals of all cells at once: speaker bootstrap, "
    return attrs.evolve(
        table,
        low=mark_read_only(low),
        high=mark_read_only(high),
        bias_of_maximum=bias,
        how=f"{words}{len(draws)} replicates",
    )
