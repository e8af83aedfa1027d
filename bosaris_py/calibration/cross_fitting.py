"""Cross-fitting: every trial mapped by a map that neither of its speakers helped to train."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    Readable,
    mark_read_only,
)
from bosaris_py._validation import (
    NamedWarnings,
    Rng,
    as_generator,
    as_nonnegative,
    as_weights,
    describe,
    invalid,
)
from bosaris_py.calibration.bounds import BoundedCalibration, sorted_bounds
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.trained import NOT_NEGATIVE, SavedMap
from bosaris_py.errors import BosarisWarning, ExtrapolationWarning, MissingTrialsWarning
from bosaris_py.numerics.linear_objective import TrainingObjective, evaluate_objective
from bosaris_py.numerics.training import Ridge
from bosaris_py.trials.base import frame_of
from bosaris_py.trials.conditions import (
    ConditionMembers,
    Conditions,
    check_conditions,
    class_weights,
)
from bosaris_py.trials.key import AnyKey, AnyNdx, FlatKey, FlatNdx, Key, Ndx
from bosaris_py.trials.scores import (
    AnyScores,
    FlatScores,
    ListedScores,
    Scores,
    class_scores,
    listed_scores,
    stack_scores,
)
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers, speaker_maps, split_key

# A pair of folds, the lower first; equal where both speakers of a trial are in one fold.
FoldPair: TypeAlias = tuple[int, int]
Folds: TypeAlias = int | Literal["speaker"]
_WEIGHTS = ("tar_weights", "non_weights")

# A trial may be between two folds, and a third must be left to train on.
_FEWEST_FOLDS = 3

# So many trials are condensed to moments on a grid before maps with a smooth objective are
# trained on them.
_MANY_TRIALS = 2**19

# Steps of the grid; and their largest width, in standard deviations of the scores. Two points in
# place of the scores in a step keep the first moments, so that the loss changes by the third
# power of the width at most.
_GRID = 2**12
_WIDEST = 8e-3
_PIECE = 2**15

# Deviations of the scores in a step, in its width, up to which one point will do.
_SPREAD = 1e-6


@attrs.frozen(eq=False, repr=False)
class CrossFit(metaclass=Readable):
    """What `cross_fit` returns.

    Parameters
    ----------
    scores : Scores or FlatScores
        Natural-log likelihood-ratios of all scored trials, in the form of the key, each from a
        map that was trained without the trials of either of its speakers.
    final : object of the model's class
        The map trained on all trials: the one to save and to use on new trials.
    folds : dict of (int, int) to object of the model's class
        The map of each pair of folds, the lower first: trained without the speakers of both,
        and used for the trials between them.
    fold_of : dict of str to int
        The fold of each speaker.
    """

    scores: Any
    final: Any
    folds: Mapping[FoldPair, Any]
    fold_of: Mapping[str, int]

    def __repr__(self) -> str:
        """Show the numbers of folds and speakers, and the final map."""
        n_folds = len(set(self.fold_of.values()))
        return (
            f"CrossFit: {n_folds} folds of {len(self.fold_of)} speakers, {len(self.folds)} maps; "
            f"final {self.final!r}"
        )


def _apart(pairs: Sequence[FoldPair], counts: IntArray, pair: FoldPair) -> list[int]:
    """Return which pairs of folds share none with a pair; raise if a class has no trial there."""
    # `counts` are the numbers of non-targets and targets of each pair, (n_pairs, 2).
    chosen = np.flatnonzero(~np.isin(pairs, pair).any(axis=1))
    for n_trials, noun in zip(counts[chosen].sum(axis=0), ("non-targets", "targets"), strict=True):
        if not n_trials:
            found = f"no {noun} without the speakers of folds {pair[0]} and {pair[1]}"
            hint = "Have both classes trials of several speakers? Choose more or fewer folds."
            raise invalid("folds", "leave both classes trials to train on", found, hint)
    return chosen.tolist()


@attrs.frozen(eq=False)
class _Trials:
    """Trials and the pair of folds of their speakers, as a matrix or as a list."""

    # `codes` are twice the number of the pair in `pairs`, of targets one more; where there is no
    # trial, the number after. `values` are the scores, of several systems (n_systems, trials).

    codes: Positions
    values: FloatArray
    weights: Float64Array | None
    pairs: list[FoldPair]

    def cells(self) -> "_Cells":
        """Bring the trials into the order of the pairs."""
        order = np.argsort(self.codes, axis=None, kind="stable")
        edges = np.searchsorted(self.codes.ravel()[order], np.arange(2 * len(self.pairs) + 1))
        values = self.values.reshape(-1, order.size)[:, order]
        weights = None if self.weights is None else self.weights.ravel()[order]
        return _Cells(
            order,
            values if self.values.ndim > self.codes.ndim else values[0],
            weights,
            self.pairs,
            edges,
        )


@attrs.frozen(eq=False)
class _Cells:
    """Trials in the order of the pairs of folds of their speakers, non-targets before targets."""

    # `order` are their positions, `values` their scores, (..., n). `edges` tells where each class
    # of each of the `pairs` begins, and where the last ends.

    order: IndexArray
    values: FloatArray
    weights: Float64Array | None
    pairs: list[FoldPair]
    edges: IntArray

    @property
    def counts(self) -> IntArray:
        """Numbers of non-targets and targets of each pair."""
        return np.diff(self.edges).reshape(-1, 2)

    def part(self, pair: int, label: int) -> slice:
        """Return where a class of a pair lies in the order."""
        return slice(*self.edges[2 * pair + label : 2 * pair + label + 2].tolist())

    def take(self, array: AnyArray, pairs: Sequence[int], label: int) -> AnyArray:
        """Return what an array in this order holds of one class of some pairs."""
        return np.concatenate([array[..., self.part(pair, label)] for pair in pairs], axis=-1)

    def weights_of(self, pairs: Sequence[int]) -> dict[str, Float64Array]:
        """Return the weights of both classes of some pairs, as arguments of a fit."""
        if self.weights is None:
            return {}
        names = enumerate(_WEIGHTS[::-1])
        return {name: self.take(self.weights, pairs, label) for label, name in names}

    def positions(self, pairs: Sequence[int]) -> IndexArray:
        """Return the positions of the trials of some pairs, ascending."""
        return np.sort(np.concatenate([self.take(self.order, pairs, label) for label in (0, 1)]))


@attrs.frozen(eq=False)
class _Grid:
    """The scores of one system condensed to moments in each step of a grid."""

    # `moments` is (3, n_pairs, 2, _GRID): weight, and weighted sums of the position within the step
    # and of its square. `counts` are the trials with weight, (n_pairs, 2).

    low: float
    step: float
    moments: Float64Array
    counts: IntArray
    trials: _Trials

    @classmethod
    def of(cls, trials: _Trials) -> "_Grid | None":
        """Condense trials; None if they are few, or the grid would be too coarse or too large."""
        codes, values = trials.codes.ravel(), trials.values.ravel()
        n_cells = 2 * len(trials.pairs)
        if values.size < max(_MANY_TRIALS, n_cells * _GRID):
            return None
        low, high = float(values.min()), float(values.max())
        step = (high - low) / (_GRID - 1)
        # Not the standard deviation, which a single outlier could be.
        inner = np.quantile(values[:: 1 + values.size // _GRID], (0.16, 0.84))
        if not 0.0 < step <= _WIDEST * (inner[1] - inner[0]) / 2:
            return None
        # What is no trial has a cell of its own, the last.
        moments = np.zeros((3, (n_cells + 1) * _GRID))
        counts = np.zeros(n_cells + 1, dtype=np.int64)
        for piece in _pieces(values.size):
            within = (values[piece] - np.float64(low)) / step
            places = within.astype(np.int64)
            within -= places
            cells = codes[piece].astype(np.int64)
            places += cells * _GRID
            weights = None if trials.weights is None else trials.weights.ravel()[piece]
            counts += np.bincount(
                cells if weights is None else cells[weights > 0], minlength=counts.size
            )
            first = within if weights is None else within * weights
            # In place: of so many cells most have no trial in a piece.
            np.add.at(moments[0], places, 1.0 if weights is None else weights)
            np.add.at(moments[1], places, first)
            np.add.at(moments[2], places, first * within)
        shape = 3, len(trials.pairs), 2, _GRID
        kept = moments[:, :-_GRID].reshape(shape)
        return cls(low, step, kept, counts[:-1].reshape(shape[1:3]), trials)

    def fit(self, model: Any, pairs: Sequence[int], options: Mapping[str, Any]) -> Any:
        """Train a map on the trials of some pairs: two points for each step of the grid."""
        points, weights = [], []
        # Targets first.
        for weight, first, second in self.moments[:, pairs].sum(axis=1).swapaxes(0, 1)[::-1]:
            used = np.flatnonzero(weight)
            size, mean = weight[used], first[used] / weight[used]
            spread = np.sqrt(np.maximum(second[used] / size - mean**2, 0.0))
            # One where that is as good.
            two = spread > _SPREAD
            places = np.concatenate((used + mean - spread, (used + mean + spread)[two]))
            points.append(self.low + self.step * places)
            weights.append(np.concatenate((np.where(two, 0.5, 1.0) * size, 0.5 * size[two])))
        rest = {**options, **dict(zip(_WEIGHTS, weights, strict=True))}
        kind, base = rest.pop("bounds", "elub"), rest.pop("calibration", model)
        if base is BoundedCalibration:
            base = LinearCalibration
        penalty = rest.pop("ridge", 0.0), rest.pop("offset", None)
        training = TrainingObjective.from_scores(*points, **rest)
        # A ridge may depend on the numbers of trials, which are not those of points.
        n_non, n_tar = self.counts[pairs].sum(axis=0).tolist()
        line = base._train(attrs.evolve(training, sizes=(n_tar, n_non)), *penalty)
        if model is not BoundedCalibration:
            return line
        # A line keeps the order, or turns it round.
        order = slice(None, None, 1 if line.scale >= 0.0 else -1)
        non, tar = (
            [line._llrs(self.ascending[pair][label][order]) for pair in pairs] for label in (0, 1)
        )
        low, high = sorted_bounds(tar, non, kind)
        return model(map=line, low=low, high=high, bounds=kind)

    @functools.cached_property
    def ascending(self) -> list[list[FloatArray]]:
        """The scores of the non-targets and the targets of each pair."""
        cells = self.trials.cells()
        pairs = range(len(self.trials.pairs))
        return [[np.sort(cells.take(cells.values, [pair], c)) for c in (0, 1)] for pair in pairs]

    def apply(self, maps: Mapping[FoldPair, Any]) -> Float64Array:
        """Map each trial by the line of its pair."""
        # Scale, offset, lowest and highest log-likelihood-ratio.
        lines = np.zeros((4, 2 * len(self.trials.pairs) + 1))
        for number, pair in enumerate(self.trials.pairs):
            if pair in maps:
                limits = getattr(maps[pair], "low", -np.inf), getattr(maps[pair], "high", np.inf)
                line = getattr(maps[pair], "map", maps[pair])
                values = np.array([line.scale, line.offset, *limits])
                lines[:, 2 * number : 2 * number + 2] = values[:, np.newaxis]
        is_bounded = any(hasattr(fitted, "low") for fitted in maps.values())
        codes, values = self.trials.codes.ravel(), self.trials.values.ravel()
        llrs = np.empty(self.trials.codes.shape)
        flat = llrs.reshape(-1)
        for piece in _pieces(values.size):
            np.multiply(lines[0].take(codes[piece]), values[piece], out=flat[piece])
            flat[piece] += lines[1].take(codes[piece])
            if is_bounded:
                limits = lines[2].take(codes[piece]), lines[3].take(codes[piece])
                np.clip(flat[piece], *limits, out=flat[piece])
        return llrs


def _pieces(n_trials: int) -> Iterator[slice]:
    """Yield parts of a list that stay in the processor's cache."""
    return (slice(start, start + _PIECE) for start in range(0, n_trials, _PIECE))


def cross_fit(
    model: Any,
    scores: Any,
    key: Any,
    *,
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = None,
    qualities: Any = None,
    **options: Any,
) -> CrossFit:
    r"""Calibrate or fuse the trials on which the map is trained, without judging it on itself.

    Speakers, not trials, are divided into folds. A trial whose speakers are in folds p and q
    gets the log-likelihood-ratio of a map trained on the trials of which no speaker is in p or
    q. So Cllr and actual costs of the result are those of a map on new speakers.

    Parameters
    ----------
    model : class
        `LinearCalibration`, `PAVCalibration`, `LinearFusion`, `QualityFusion`, or another class
        with their ``fit`` or ``fit_scores``.
    scores : Scores or FlatScores; of a fusion a list of them
        Scores of at least some of the key's trials; of a fusion of all.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets.
    folds : int or "speaker", default: 5
        Number of folds, at least 3; "speaker" leaves one speaker out (of a non-target trial
        two), which takes a map for each pair of speakers.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speaker of each model and segment, as for `evaluate`. By default each model is a
        speaker of its own, and a segment is spoken by the model whose target it is.
    rng : Generator, int or None
        Divides the speakers; "speaker" needs none.
    qualities : sequence of QualityMeasures or SegmentQuality, optional
        Of a `QualityFusion`.
    **options
        Arguments of the model's ``fit``: ``prior``, ``objective``, ``ridge``, ``conditions``,
        weights of the scored trials column by column, and so on.

    Returns
    -------
    CrossFit
        ``scores``, the log-likelihood-ratios; ``final``, the map trained on all trials; and
        ``folds``, the others.

    Warns
    -----
    MissingTrialsWarning
        If the key holds trials without score; they are left out.
    SeparableDataWarning, ConvergenceWarning, BosarisWarning
        As for the model's ``fit``; each names the folds that were left out.

    Notes
    -----
    F folds take F (F + 1) / 2 maps besides the final one, which has seen more speakers and is
    slightly better than the figures say. For a line, bounded or not, and more than 500 000 trials
    they are trained on moments of the scores on a fine grid, to about 1e-9.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, LinearCalibration, Scores, cross_fit
    >>> speakers = [f"speaker {number}" for number in range(12)]
    >>> tar = np.eye(12, dtype=bool)
    >>> noise = np.random.default_rng(1).normal(size=(12, 12))
    >>> scores = Scores(tar + noise, speakers, speakers)
    >>> key = Key(speakers, speakers, tar, ~tar)
    >>> fitted = cross_fit(LinearCalibration, scores, key, folds=3, rng=1)
    >>> fitted.scores
    Scores: 12 models x 12 segments, 144 scores
    >>> sorted(fitted.folds)
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    """
    if not isinstance(model, type) or not hasattr(model, "fit_scores"):
        hint = "Give the class, LinearCalibration for instance, and its options by name."
        raise invalid("model", "be a class of calibrations or fusions", describe(model), hint)
    trainer: Any = model
    key, metadata = split_key(key)
    given = () if qualities is None else (qualities,)
    if given and hasattr(model, "fit"):
        raise invalid("qualities", f"be left out with {model.__name__}", describe(qualities))
    # First: what it refuses or warns of explains more than folds do.
    final = model.fit_scores(scores, *given, key, **options)
    who = TrialSpeakers.of_key(key, *speaker_maps(speakers, key, metadata))
    fold_of = _divide(who, folds, rng)

    conditions, by_class = options.pop("conditions", None), [options.pop(n, None) for n in _WEIGHTS]
    one = scores if isinstance(scores, AnyScores) else None
    of_classes = class_weights(conditions, by_class[0], by_class[1], key, scores=one)
    sides = fold_of[who.of_models], fold_of[who.of_segments]
    by_arrays = hasattr(model, "fit")
    form = _Matrix if by_arrays and isinstance(one, Scores) and isinstance(key, Key) else _Listed
    listed: Any = form.of(scores, key)
    trials = listed.trials(sides, of_classes)
    is_bounded = model is BoundedCalibration
    base = options.get("calibration", LinearCalibration) if is_bounded else model
    grid = _Grid.of(trials) if getattr(base, "_is_smooth", False) else None
    source = trials.cells() if grid is None else grid

    llrs, maps = np.zeros(trials.codes.shape), {}
    flat = llrs.reshape(-1)
    for number in np.flatnonzero(source.counts.any(axis=1)).tolist():
        pair = trials.pairs[number]
        with NamedWarnings(f"without the speakers of folds {pair[0]} and {pair[1]}"):
            chosen = _apart(trials.pairs, source.counts, pair)
            if isinstance(source, _Grid):
                maps[pair] = source.fit(model, chosen, options)
                continue
            weights = source.weights_of(chosen)
            if not by_arrays:
                subset = listed.key_of(source.positions(chosen))
                maps[pair] = model.fit_scores(scores, *given, subset, **weights, **options)
                here = source.positions([number])
                flat[here] = maps[pair].apply(scores, *given, listed.key_of(here)).scores
                continue
            classes = [source.take(source.values, chosen, label) for label in (1, 0)]
            maps[pair] = trainer.fit(*classes, **weights, **options)
            with warnings.catch_warnings():
                # What a fold has not seen the final map may have.
                warnings.simplefilter("ignore", ExtrapolationWarning)
                for part in (source.part(number, label) for label in (0, 1)):
                    flat[source.order[part]] = maps[pair].apply(source.values[..., part])
    if isinstance(source, _Grid):
        llrs = source.apply(maps)
    assembled = listed.assemble(mark_read_only(llrs))
    names = dict(zip(who.ids.tolist(), fold_of.tolist(), strict=True))
    return CrossFit(assembled, final, maps, names)


@attrs.frozen(eq=False)
class _Listed:
    """The scored trials of a key as a list, column by column."""

    key: AnyKey
    values: FloatArray
    found: BoolArray | None
    rows: Positions
    cols: Positions
    labels: BoolArray

    @classmethod
    def of(cls, scores: Any, key: AnyKey) -> "_Listed":
        """List the trials that have a score; of several systems all must have."""
        listed = key if isinstance(key, FlatKey) else key.to_flat()
        found: BoolArray | None = None
        if isinstance(scores, AnyScores):
            own = listed_scores(scores, listed)
            values, found = own.values, own.found
        else:
            values = stack_scores(scores, listed)
        columns = *listed.trial_positions(), listed.trial_labels()
        if found is not None:
            columns = columns[0][found], columns[1][found], columns[2][found]
        return cls(key, values, found, *columns)

    def trials(self, sides: Sequence[IntArray], of_classes: Sequence[Any]) -> _Trials:
        """Return the trials, given the folds of models and of segments."""
        table, pairs = _table_of_pairs(sides)
        # In the smallest type that will do: there is one for each trial.
        small = np.min_scalar_type(table.size)
        rows, cols = (side.astype(small) for side in sides)
        cells = rows.take(self.rows)
        cells *= len(table)
        cells += cols.take(self.cols)
        codes = table.ravel().take(cells)
        codes += self.labels
        return _Trials(codes, self.values, _in_order(of_classes, self.labels), pairs)

    def key_of(self, lines: IndexArray) -> FlatKey:
        """Return the key of some of the trials."""
        positions = self.rows[lines], self.cols[lines]
        return FlatKey(self.key.modelset, self.key.segset, *positions, self.labels[lines])

    def assemble(self, llrs: Float64Array) -> AnyScores:
        """Put log-likelihood-ratios into the form of the key."""
        frame = frame_of(self.key, self.key)
        return ListedScores(self.key, frame, llrs, self.found).in_form_of_ndx()


@attrs.frozen(eq=False)
class _Matrix:
    """The scored trials of a key as a matrix."""

    scores: Scores
    tar: BoolArray
    non: BoolArray

    @classmethod
    def of(cls, scores: Scores, key: Key) -> "_Matrix":
        """Bring the scores into the order of the key."""
        with warnings.catch_warnings():
            # The final map has warned of what is missing.
            warnings.simplefilter("ignore", MissingTrialsWarning)
            aligned = scores.align_with_ndx(key)
        return cls(aligned, *(mask & aligned.scoremask for mask in (key.tar, key.non)))

    def trials(self, sides: Sequence[IntArray], of_classes: Sequence[Any]) -> _Trials:
        """Return the trials, given the folds of models and of segments."""
        table, pairs = _table_of_pairs(sides)
        codes, values = table[sides[0]].take(sides[1], axis=1), self.scores.scoremat
        codes += self.tar
        here, weights = self.tar | self.non, None
        if not here.all():
            codes[~here] = 2 * len(pairs)
            # Any score of a trial will do where there is none.
            values = np.where(here, values, values.flat[np.argmax(here)])
        if any(given is not None for given in of_classes):
            weights = np.zeros(here.shape)
            weights.T[here.T] = _in_order(of_classes, self.tar.T[here.T])
        return _Trials(codes, values, weights, pairs)

    def assemble(self, llrs: Float64Array) -> Scores:
        """Put log-likelihood-ratios into the form of the key."""
        return attrs.evolve(self.scores, scoremat=llrs)


def _table_of_pairs(sides: Sequence[IntArray]) -> tuple[Positions, list[FoldPair]]:
    """Return pairs of folds, the lower first; and twice the number of that of any two folds."""
    n_folds = 1 + max(int(side.max()) for side in sides)
    pairs = list(itertools.combinations_with_replacement(range(n_folds), 2))
    table = np.zeros((n_folds, n_folds), dtype=np.min_scalar_type(2 * len(pairs)))
    low, high = np.transpose(pairs)
    table[low, high] = table[high, low] = 2 * np.arange(len(pairs))
    return table, pairs


def choose_ridge(
    model: Any,
    scores: Any,
    key: Any,
    *,
    ridges: Sequence[Ridge] = (0.0, 1e-3, 1e-2, 1e-1, 1.0),
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = None,
    **options: Any,
) -> Ridge:
    """Choose the strength of a ridge by cross-fitting.

    Parameters
    ----------
    model, scores, key
        As for `cross_fit`, of a model with a ridge: `LinearCalibration`, `LinearFusion` or
        `QualityFusion`.
    ridges : sequence of float or "weak", default: (0, 0.001, 0.01, 0.1, 1)
        The strengths to try, all on the same folds.
    folds, speakers, rng, **options
        As for `cross_fit`.

    Returns
    -------
    float or "weak"
        That with the lowest objective on the cross-fitted trials; of equally good ones the first.

    Warns
    -----
    MissingTrialsWarning, SeparableDataWarning, ConvergenceWarning, BosarisWarning
        As for `cross_fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, LinearCalibration, Scores
    >>> speakers = [f"speaker {number}" for number in range(12)]
    >>> tar = np.eye(12, dtype=bool)
    >>> scores = Scores(tar + np.random.default_rng(1).normal(size=(12, 12)), speakers, speakers)
    >>> choose_ridge(LinearCalibration, scores, Key(speakers, speakers, tar, ~tar), folds=3, rng=1)
    0.001
    """
    if np.ndim(ridges) != 1 or not len(ridges):
        raise invalid("ridges", "be a list of at least one strength", describe(ridges))
    seed = int(as_generator(rng).integers(2**63)) if not isinstance(rng, int) else rng
    only_key, _ = split_key(key)
    judged: dict[str, Any] = {
        name: options[name] for name in ("prior", "objective") if name in options
    }
    conditions, of_tar, of_non = (options.get(name) for name in ("conditions", *_WEIGHTS))
    how = {"folds": folds, "speakers": speakers, "rng": seed, **options}
    values = []
    for ridge in ridges:
        fitted = cross_fit(model, scores, key, ridge=ridge, **how)
        with warnings.catch_warnings():
            # `cross_fit` has said what is missing.
            warnings.simplefilter("ignore", MissingTrialsWarning)
            classes = fitted.scores.get_tar_non(only_key)
        used = class_weights(conditions, of_tar, of_non, only_key, scores=fitted.scores)
        judged |= dict(zip(_WEIGHTS, used, strict=True))
        values.append(evaluate_objective(*classes, **judged))
    best = ridges[int(np.argmin(values))]
    return best if best == "weak" else float(best)


def _to_line(value: Any) -> LinearCalibration:
    if isinstance(value, LinearCalibration):
        return value
    if not isinstance(value, Mapping):
        raise invalid("lines", "be LinearCalibration", describe(value))
    return LinearCalibration(**value)


def _to_lines(value: Any) -> dict[str, LinearCalibration]:
    if not isinstance(value, Mapping):
        raise invalid("lines", "map names to LinearCalibration", describe(value))
    return {name: _to_line(line) for name, line in value.items()}


@attrs.frozen(kw_only=True, repr=False)
class ConditionCalibration(SavedMap):
    r"""A line for each condition, drawn towards the line of all trials where it has few.

    Make one with `fit_scores` or `read`.

    Parameters
    ----------
    lines : mapping of str to LinearCalibration
        The map of each condition.
    pooled : LinearCalibration
        The map of all trials; for trials of no condition, or of a new one.
    strength : float
        Of how many trials of a class the pooled set takes the place.

    Notes
    -----
    The line of a condition minimises the objective of its own trials times :math:`1 - \rho` plus
    that of all trials times :math:`\rho = m / (n + m)`. Here m is the strength, and n is the number
    of its trials in the smaller class. A condition of one class gets the pooled line.

    Examples
    --------
    >>> from bosaris_py import Conditions, Key, Scores
    >>> ids, same = [f"speaker {i}" for i in range(40)], np.eye(40, dtype=bool)
    >>> noise = np.random.default_rng(1).normal(size=(40, 40))
    >>> noisy = np.arange(40) % 2 == 1
    >>> scores = Scores(2.5 * same + noise + 3.0 * noisy, ids, ids)
    >>> masks = [np.tile(chosen, (40, 1)) for chosen in (noisy, ~noisy)]
    >>> conditions = Conditions(dict(zip(("noisy", "clean"), masks, strict=True)))
    >>> key = Key(ids, ids, same, ~same)
    >>> ConditionCalibration.fit_scores(scores, key, conditions, rng=1)
    ConditionCalibration: strength 1; noisy: llr = 2.146 * score - 8.9;
    clean: llr = 1.75 * score - 2.085
    """

    lines: Mapping[str, LinearCalibration] = attrs.field(converter=_to_lines)
    pooled: LinearCalibration = attrs.field(converter=_to_line)
    strength: float = attrs.field(**NOT_NEGATIVE)

    @classmethod
    def fit_scores(
        cls,
        scores: AnyScores,
        key: Any,
        conditions: Conditions,
        *,
        strengths: Sequence[float] = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0),
        folds: Folds = 5,
        speakers: SpeakersLike = None,
        rng: Rng = None,
        **options: Any,
    ) -> Self:
        """Train the lines, and choose the strength by cross-fitting.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of at least some of the key's trials.
        key : Key or FlatKey, or pair (key, metadata)
            Which trials are targets and which non-targets.
        conditions : Conditions
            The condition of each trial; weights do not matter.
        strengths : sequence of float
            Those to try, on the same folds; the first of the best is taken. A single one is taken
            without cross-fitting.
        folds, speakers, rng
            As for `cross_fit`.
        **options
            ``prior``, ``objective`` and ``ridge``, as for `LinearCalibration.fit`.

        Returns
        -------
        ConditionCalibration

        Raises
        ------
        TrialMismatchError
            As for `Conditions.members`.

        Warns
        -----
        MissingTrialsWarning, SeparableDataWarning, ConditionWarning
            As for `cross_fit` and `Conditions.members`.
        """
        if np.ndim(strengths) != 1 or not len(strengths):
            raise invalid("strengths", "be a list of at least one strength", describe(strengths))
        tried = [as_nonnegative(strength, "strengths") for strength in strengths]
        only_key, _ = split_key(key)
        classes = class_scores(scores, only_key)
        check_conditions(conditions)
        members = conditions.scored_members(scores, only_key)
        pooled = LinearCalibration.fit(*classes, **options)
        judged = {name: options[name] for name in ("prior", "objective") if name in options}
        seed = int(as_generator(rng).integers(2**63))

        def cost(strength: float) -> float:
            # The mean of the objectives of the conditions on cross-fitted trials.
            found = []
            for item in members:
                if not (item.tar.size and item.non.size):
                    continue
                how: dict[str, Any] = {"folds": folds, "speakers": speakers, "rng": seed}
                weights = _drawn_weights(item, classes, strength)
                fitted = cross_fit(LinearCalibration, scores, key, **how, **weights, **options)
                tar, non = fitted.scores.get_tar_non(only_key)
                found.append(evaluate_objective(tar[item.tar], non[item.non], **judged))
            return float(np.mean(found)) if found else 0.0

        with warnings.catch_warnings():
            # The final maps warn of what is wrong.
            warnings.simplefilter("ignore", BosarisWarning)
            best = min(tried, key=cost) if len(tried) > 1 else tried[0]
        trainer: Any = LinearCalibration
        lines = {
            item.name: trainer.fit(*classes, **_drawn_weights(item, classes, best), **options)
            for item in members
        }
        return cls(lines=lines, pooled=pooled, strength=best)

    def apply(self, scores: AnyScores, conditions: Conditions) -> AnyScores:
        """Turn scores into log-likelihood-ratios by the lines of their conditions.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of trials.
        conditions : Conditions
            Their conditions, with the names of the training.

        Returns
        -------
        Scores or FlatScores
            Of the same trials.
        """
        check_conditions(conditions)
        if not isinstance(scores, AnyScores):
            raise invalid("scores", "be a Scores or FlatScores", describe(scores))
        ndx: AnyNdx
        if isinstance(scores, FlatScores):
            ndx = FlatNdx(*scores.ids, scores.models, scores.segments)
        else:
            ndx = Ndx(*scores.ids, scores.scoremask)
        parts = conditions.trials_of(ndx)

        def mapped(values: FloatArray) -> Float64Array:
            llrs = np.asarray(self.pooled.apply(values))
            for name, places in parts.items():
                if name in self.lines and places.size:
                    llrs[places] = self.lines[name].apply(values[places])
            return llrs

        return scores.transform(mapped)

    def __repr__(self) -> str:
        """Show the strength and the lines."""
        lines = "; ".join(
            f"{name}: llr = {line.scale:.4g} * score {'-' if line.offset < 0 else '+'} "
            f"{abs(line.offset):.4g}"
            for name, line in self.lines.items()
        )
        return f"ConditionCalibration: strength {self.strength:g}; {lines}"


def _drawn_weights(
    item: ConditionMembers, classes: Sequence[FloatArray], strength: float
) -> dict[str, Any]:
    """Return weights of all trials that draw the line of a condition towards that of all."""
    own = item.tar, item.non
    n = min(side.size for side in own)
    share = strength / (n + strength) if n else 1.0
    weights: dict[str, Any] = {}
    for name, side, scores in zip(_WEIGHTS, own, classes, strict=True):
        weights[name] = np.full(scores.size, share / scores.size)
        weights[name][side] += (1.0 - share) / max(side.size, 1)
    return weights


def _divide(who: TrialSpeakers, folds: Folds, rng: Rng) -> IntArray:
    """Return the fold of each speaker."""
    n = who.n_speakers
    if isinstance(folds, str) and folds == "speaker":
        return np.arange(n)
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)):
        raise invalid("folds", 'be a whole number or "speaker"', describe(folds))
    if not _FEWEST_FOLDS <= folds <= n:
        hint = "A non-target trial has speakers of two folds; a third is left to train on."
        expected = f"lie between {_FEWEST_FOLDS} and the number of speakers, {n}"
        raise invalid("folds", expected, describe(folds), hint)
    return np.asarray(as_generator(rng).permutation(n) % folds)


def _in_order(weights: Sequence[Any], labels: BoolArray) -> Float64Array | None:
    """Return the weights of all trials in their order, given those of the classes."""
    if all(given is None for given in weights):
        return None
    of_trials = np.ones(labels.size)
    for chosen, given, name in zip((labels, ~labels), weights, _WEIGHTS, strict=True):
        checked = as_weights(given, int(np.count_nonzero(chosen)), name)
        of_trials[chosen] = 1.0 if checked is None else checked
    return of_trials
