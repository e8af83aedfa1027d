"""Cross-fitting: every trial mapped by a map that neither of its speakers helped to train."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

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
from bosaris_py._validation import NamedWarnings, Rng, as_generator, as_weights, describe, invalid
from bosaris_py.errors import ExtrapolationWarning, MissingTrialsWarning
from bosaris_py.numerics.linear_objective import evaluate_objective
from bosaris_py.trials.base import frame_of
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import AnyKey, FlatKey, Key
from bosaris_py.trials.scores import AnyScores, ListedScores, Scores, listed_scores, stack_scores
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
_PIECE = 2**16


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


@attrs.frozen(eq=False)
class _Cells:
    """Trials in the order of the pairs of folds of their speakers, non-targets before targets.

    `order` are their positions in the key, `values` their scores, (..., n). `pairs` are those that
    occur, `parts` where the two classes of each lie in the order.
    """

    order: IndexArray
    values: FloatArray
    weights: Float64Array | None
    pairs: list[FoldPair]
    parts: list[tuple[slice, slice]]

    @classmethod
    def of(
        cls, codes: Positions, n_folds: int, values: FloatArray, weights: Float64Array | None
    ) -> "_Cells":
        """Bring trials into order; the codes are 2 (p n_folds + q), of targets one more."""
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=2 * n_folds**2).reshape(-1, 2)
        ends = np.cumsum(sizes).tolist()
        occurring = np.flatnonzero(sizes.any(axis=1)).tolist()
        edges = [0, *ends]
        parts = [
            (slice(*edges[2 * cell : 2 * cell + 2]), slice(*edges[2 * cell + 1 : 2 * cell + 3]))
            for cell in occurring
        ]
        weights = None if weights is None else weights[order]
        pairs = [divmod(cell, n_folds) for cell in occurring]
        return cls(order, values[..., order], weights, pairs, parts)

    @classmethod
    def of_matrix(
        cls,
        scores: Scores,
        masks: Sequence[BoolArray],
        folds: Sequence[IntArray],
        weights: Float64Array | None,
    ) -> "_Cells":
        """Bring the trials of a matrix into order without a sort, given the folds of both sides.

        `masks` are those of the non-targets and of the targets; positions are row by row.
        """
        n_folds = 1 + max(int(side.max()) for side in folds)
        rows, cols = ([np.flatnonzero(side == fold) for fold in range(n_folds)] for side in folds)
        order: list[IndexArray] = []
        pairs, parts, end = [], [], 0
        for pair in itertools.combinations_with_replacement(range(n_folds), 2):
            edges = [end]
            for mask in masks:
                for here, there in dict.fromkeys((pair, pair[::-1])):
                    block = np.ix_(rows[here], cols[there])
                    cells = np.add.outer(rows[here] * mask.shape[1], cols[there])
                    order.append(cells[mask[block]])
                    end += order[-1].size
                edges.append(end)
            if end > edges[0]:
                pairs.append(pair)
                parts.append((slice(*edges[:2]), slice(*edges[1:])))
        positions = np.concatenate(order)
        of_trials = None if weights is None else weights.ravel()[positions]
        return cls(positions, scores.scoremat.ravel()[positions], of_trials, pairs, parts)

    def apart(self, pair: FoldPair) -> list[int]:
        """Return the cells that share no fold with a pair; raise if a class has no trial there."""
        cells = np.flatnonzero(~np.isin(self.pairs, pair).any(axis=1)).tolist()
        for label, noun in enumerate(("non-targets", "targets")):
            if not any(self.order[self.parts[cell][label]].size for cell in cells):
                found = f"no {noun} without the speakers of folds {pair[0]} and {pair[1]}"
                hint = "Have both classes trials of several speakers? Choose more or fewer folds."
                raise invalid("folds", "leave both classes trials to train on", found, hint)
        return cells

    def take(self, array: AnyArray, cells: Sequence[int], label: int) -> AnyArray:
        """Return what an array in this order holds of one class of some cells."""
        return np.concatenate([array[..., self.parts[cell][label]] for cell in cells], axis=-1)

    def weights_of(self, cells: Sequence[int]) -> dict[str, Float64Array]:
        """Return the weights of both classes of some cells, as arguments of a fit."""
        if self.weights is None:
            return {}
        names = enumerate(_WEIGHTS[::-1])
        return {name: self.take(self.weights, cells, label) for label, name in names}

    def positions(self, cells: Sequence[int]) -> IndexArray:
        """Return the positions of the trials of some cells, ascending."""
        return np.sort(np.concatenate([self.take(self.order, cells, label) for label in (0, 1)]))


@attrs.frozen(eq=False)
class _Grid:
    """The scores of one system condensed to moments in each step of a grid.

    `moments` is (3, n_cells, 2, _GRID): weight, and weighted sums of the position within the step
    and of its square. `counts` are the trials with weight, (n_cells, 2).
    """

    low: float
    step: float
    moments: Float64Array
    counts: IntArray

    @classmethod
    def of(cls, cells: _Cells) -> "_Grid | None":
        """Condense trials; None if they are few, or the grid would be too coarse."""
        values = cells.values
        if values.ndim != 1 or values.size < _MANY_TRIALS:
            return None
        low, high = float(values.min()), float(values.max())
        step = (high - low) / (_GRID - 1)
        # Not the standard deviation, which a single outlier could be.
        inner = np.quantile(values[:: 1 + values.size // _GRID], (0.16, 0.84))
        if not 0.0 < step <= _WIDEST * (inner[1] - inner[0]) / 2:
            return None
        moments = np.zeros((3, len(cells.parts), 2, _GRID))
        counts = np.zeros(moments.shape[1:3], dtype=np.int64)
        for cell, label in np.ndindex(counts.shape):
            part = cells.parts[cell][label]
            # In pieces that stay in the processor's cache.
            for start in range(part.start, part.stop, _PIECE):
                piece = slice(start, min(start + _PIECE, part.stop))
                weights = None if cells.weights is None else cells.weights[piece]
                within = (values[piece] - np.float64(low)) / step
                places = within.astype(np.int64)
                within -= places
                first = within if weights is None else within * weights
                for moment, factor in zip(moments, (weights, first, first * within), strict=True):
                    moment[cell, label] += np.bincount(places, factor, minlength=_GRID)
                counts[cell, label] += within.size if weights is None else np.count_nonzero(weights)
        return cls(low, step, moments, counts)

    def fit(self, model: Any, cells: Sequence[int], options: Mapping[str, Any]) -> Any:
        """Train a map on the trials of some cells: two points for each step of the grid."""
        points, weights = [], []
        # Targets first.
        for weight, first, second in self.moments[:, cells].sum(axis=1).swapaxes(0, 1)[::-1]:
            used = np.flatnonzero(weight)
            size, mean = weight[used], first[used] / weight[used]
            spread = np.sqrt(np.maximum(second[used] / size - mean**2, 0.0))
            places = np.concatenate((used + mean - spread, used + mean + spread))
            points.append(self.low + self.step * places)
            weights.append(np.tile(size, 2))
        fitted = model.fit(*points, **dict(zip(_WEIGHTS, weights, strict=True)), **options)
        n_non, n_tar = self.counts[cells].sum(axis=0).tolist()
        return attrs.evolve(fitted, n_tar=n_tar, n_non=n_non)


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
    q; so Cllr and actual costs of the result are those of a map on new speakers.

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

    Raises
    ------
    InvalidInputError
        If there are fewer speakers than folds, a fold leaves a class without trials to train
        on, the speakers are not known or contradict the key, or as for the model's ``fit``.

    Warns
    -----
    MissingTrialsWarning
        If the key holds trials without score; they are left out.
    SeparableDataWarning, ConvergenceWarning, BosarisWarning
        As for the model's ``fit``; each names the folds that were left out.

    Notes
    -----
    F folds take F (F + 1) / 2 maps besides the final one. For a `LinearCalibration` of more
    than 500 000 trials they are trained on moments of the scores on a fine grid, of one pass
    over all trials: they differ from maps trained on the trials by about 1e-9, and all take
    together about as long as the final map.

    The final map is slightly better than the figures say, as it has seen more speakers.

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
    who = TrialSpeakers.of_key(key, *speaker_maps(speakers, key, metadata))
    fold_of = _divide(who, folds, rng)
    given = () if qualities is None else (qualities,)
    final = model.fit_scores(scores, *given, key, **options)

    conditions, by_class = options.pop("conditions", None), [options.pop(n, None) for n in _WEIGHTS]
    one = scores if isinstance(scores, AnyScores) else None
    of_classes = class_weights(conditions, by_class[0], by_class[1], key, scores=one)
    sides = fold_of[who.of_models], fold_of[who.of_segments]
    by_arrays = hasattr(model, "fit") and not given
    if by_arrays and isinstance(one, Scores) and isinstance(key, Key):
        cells, assemble, shape = *_of_matrix(one, key, sides, of_classes), key.shape
    else:
        trials = _Listed.of(scores, key)
        cells, assemble = trials.cells(sides, of_classes), trials.assemble
        shape = trials.labels.shape
    grid = _Grid.of(cells) if getattr(model, "_is_smooth", False) else None

    llrs, maps = np.zeros(shape), {}
    places = llrs.reshape(-1)
    for number, pair in enumerate(cells.pairs):
        with NamedWarnings(f"without the speakers of folds {pair[0]} and {pair[1]}"):
            chosen = cells.apart(pair)
            weights = cells.weights_of(chosen)
            if not by_arrays:
                subset = trials.key_of(cells.positions(chosen))
                maps[pair] = model.fit_scores(scores, *given, subset, **weights, **options)
                here = cells.positions([number])
                places[here] = maps[pair].apply(scores, *given, trials.key_of(here)).scores
                continue
            if grid is not None:
                maps[pair] = grid.fit(model, chosen, options)
            else:
                classes = [cells.take(cells.values, chosen, label) for label in (1, 0)]
                maps[pair] = trainer.fit(*classes, **weights, **options)
            with warnings.catch_warnings():
                # What a fold has not seen the final map may have.
                warnings.simplefilter("ignore", ExtrapolationWarning)
                for part in cells.parts[number]:
                    places[cells.order[part]] = maps[pair].apply(cells.values[..., part])
    names = dict(zip(who.ids.tolist(), fold_of.tolist(), strict=True))
    return CrossFit(assemble(mark_read_only(llrs)), final, maps, names)


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

    def cells(self, sides: Sequence[IntArray], of_classes: Sequence[Any]) -> _Cells:
        """Bring the trials into order, given the folds of models and of segments."""
        n_folds = 1 + max(int(side.max()) for side in sides)
        # The lower fold first, whichever side it is of; the number of such a pair, doubled.
        every = np.arange(n_folds)
        table = 2 * (np.minimum.outer(every, every) * n_folds + np.maximum.outer(every, every))
        small = table.astype(np.min_scalar_type(2 * n_folds**2))
        codes = small[sides[0]][:, sides[1]][self.rows, self.cols]
        codes += self.labels
        return _Cells.of(codes, n_folds, self.values, _in_order(of_classes, self.labels))

    def key_of(self, lines: IndexArray) -> FlatKey:
        """Return the key of some of the trials."""
        positions = self.rows[lines], self.cols[lines]
        return FlatKey(self.key.modelset, self.key.segset, *positions, self.labels[lines])

    def assemble(self, llrs: Float64Array) -> AnyScores:
        """Put log-likelihood-ratios into the form of the key."""
        frame = frame_of(self.key, self.key)
        return ListedScores(self.key, frame, llrs, self.found).in_form_of_ndx()


def _of_matrix(
    scores: Scores, key: Key, sides: Sequence[IntArray], of_classes: Sequence[Any]
) -> tuple[_Cells, Callable[[Float64Array], AnyScores]]:
    """Bring the trials of a matrix into order; return also what puts LLRs back."""
    with warnings.catch_warnings():
        # The final map has warned of what is missing.
        warnings.simplefilter("ignore", MissingTrialsWarning)
        aligned = scores.align_with_ndx(key)
    tar, non = (mask & aligned.scoremask for mask in (key.tar, key.non))
    weights = None
    if any(given is not None for given in of_classes):
        trials = tar | non
        weights = np.zeros(trials.shape)
        weights.T[trials.T] = _in_order(of_classes, tar.T[trials.T])

    def assemble(llrs: Float64Array) -> Scores:
        return Scores(llrs, *key.ids, aligned.scoremask)

    return _Cells.of_matrix(aligned, (non, tar), sides, weights), assemble


def choose_ridge(
    model: Any,
    scores: Any,
    key: Any,
    *,
    ridges: Sequence[float] = (0.0, 1e-3, 1e-2, 1e-1, 1.0),
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = None,
    **options: Any,
) -> float:
    """Choose the strength of a ridge by cross-fitting.

    Parameters
    ----------
    model, scores, key
        As for `cross_fit`, of a model with a ridge: `LinearCalibration`, `LinearFusion` or
        `QualityFusion`.
    ridges : sequence of float, default: (0, 0.001, 0.01, 0.1, 1)
        The strengths to try, all on the same folds.
    folds, speakers, rng, **options
        As for `cross_fit`.

    Returns
    -------
    float
        That with the lowest objective on the cross-fitted trials; of equally good ones the first.

    Raises
    ------
    InvalidInputError
        As for `cross_fit`; if there are no ridges.

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
    if not len(ridges):
        raise invalid("ridges", "hold at least one strength", "none")
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
    return float(ridges[int(np.argmin(values))])


def _divide(who: TrialSpeakers, folds: Folds, rng: Rng) -> IntArray:
    """Return the fold of each speaker."""
    n = who.n_speakers
    if folds == "speaker":
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
