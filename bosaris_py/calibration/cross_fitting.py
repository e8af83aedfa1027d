"""Cross-fitting: every trial mapped by a map that neither of its speakers helped to train."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.trials.scores as trial_scores
from bosaris_py import _validation as check
from bosaris_py import errors
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    mark_read_only,
)
from bosaris_py._cautions import cautions, hushed
from bosaris_py._validation import Rng
from bosaris_py.calibration.bounds import BoundedCalibration, sorted_bounds, weak_unless_given
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.trained import DrawnMap, ScoreMap
from bosaris_py.numerics.linear_objective import TrainingObjective, evaluate_objective
from bosaris_py.numerics.training import Ridge
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyKey, FlatKey, Key
from bosaris_py.trials.kinds import class_numbers, have_one_speaker
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, ListedScores, Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers, speaker_maps
from bosaris_py.trials.trial_sets import frame_of

# A pair of folds, the lower first; equal where both speakers of a trial are in one fold.
FoldPair: TypeAlias = tuple[int, int]
Folds: TypeAlias = int | Literal["speaker"]
# The class of the map that is trained.
Model = TypeVar("Model")
# The map of each pair, of whatever class; and arguments of `fit`.
Maps: TypeAlias = dict[FoldPair, Any]
Options: TypeAlias = dict[str, Any]
SystemScores: TypeAlias = AnyScores | Sequence[AnyScores] | Mapping[str, AnyScores]
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
class CrossFit(DrawnMap, Generic[Model]):
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

    scores: AnyScores
    final: Model
    folds: Mapping[FoldPair, Model]
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
    # `counts` are the numbers of targets and of non-targets of each pair, (2, n_pairs).
    chosen = np.flatnonzero(~np.isin(pairs, pair).any(axis=1))
    for n_trials, noun in zip(
        counts[:, chosen].sum(axis=1), ("targets", "non-targets"), strict=True
    ):
        if not n_trials:
            found = f"no {noun} without the speakers of folds {pair[0]} and {pair[1]}"
            hint = "Have both classes trials of several speakers? Choose more or fewer folds."
            raise check.invalid("folds", "leave both classes trials to train on", found, hint)
    return chosen.tolist()


@attrs.frozen(eq=False)
class _FoldedClass:
    """The trials of one class and, of each, the pair of folds of its speakers."""

    # `values` are the scores, of several systems (n_systems, trials); `codes` number the pair.

    values: FloatArray
    codes: Positions
    weights: Float64Array | None
    n_pairs: int

    @functools.cached_property
    def order(self) -> IndexArray:
        """Positions of the trials, pair by pair."""
        return np.argsort(self.codes, kind="stable")

    @functools.cached_property
    def parts(self) -> list[slice]:
        """Where each pair lies in that order."""
        edges = np.searchsorted(self.codes[self.order], np.arange(self.n_pairs + 1)).tolist()
        return list(itertools.starmap(slice, itertools.pairwise(edges)))

    @functools.cached_property
    def ordered(self) -> tuple[FloatArray, Float64Array | None]:
        """The scores and the weights in that order."""
        weights = None if self.weights is None else self.weights[self.order]
        return self.values[..., self.order], weights

    def take(self, array: AnyArray, pairs: Sequence[int]) -> AnyArray:
        """Return what an array in that order holds of some pairs."""
        return np.concatenate([array[..., self.parts[pair]] for pair in pairs], axis=-1)


@attrs.frozen(eq=False)
class FoldedTrials:
    """The scored trials of a key, targets before non-targets, by the folds of their speakers."""

    # `sides` are the folds of models and of segments, and `table` numbers the `pairs` of folds.
    # `scored` tells which trials have a score, None says all. `systems` are the first arguments of
    # `fit_scores`, for models that have no `fit`; of a model of three classes, whose kinds of
    # trials are in `metadata`, the keywords of `fit` and `apply`.

    key: AnyKey
    scored: BoolArray | None
    sides: Sequence[IntArray]
    pairs: list[FoldPair]
    table: Positions
    classes: tuple[_FoldedClass, ...]
    systems: tuple[Any, ...]
    metadata: TrialMetadata | None = None

    @classmethod
    def of(
        cls,
        lists: Sequence[FloatArray],
        key: AnyKey,
        scored: BoolArray | None,
        sides: Sequence[IntArray],
        systems: tuple[object, ...] = (),
        one_sided: BoolArray | None = None,
    ) -> "FoldedTrials":
        """Take the scores of both classes, and the folds of models and of segments."""
        n_folds = 1 + max(int(side.max()) for side in sides)
        pairs = list(itertools.combinations_with_replacement(range(n_folds), 2))
        table = np.zeros((n_folds, n_folds), dtype=np.min_scalar_type(len(pairs)))
        low, high = np.transpose(pairs)
        table[low, high] = table[high, low] = np.arange(len(pairs))
        if isinstance(key, Key) and scored is None and one_sided is None:
            cells = table[sides[0]].take(sides[1], axis=1).T
            codes = [cells[mask.T] for mask in (key.tar, key.non)]
        else:
            (models, segments), labels = _listed(key, scored)
            one, other = sides[0][models], sides[1][segments]
            if one_sided is not None:
                # The person of a spoof is the speaker of its model.
                other = np.where(one_sided if scored is None else one_sided[scored], one, other)
            listed = table[one, other]
            codes = [listed[labels], listed[~labels]]
        tar, non = (
            _FoldedClass(*both, None, len(pairs)) for both in zip(lists, codes, strict=True)
        )
        return cls(key, scored, sides, pairs, table, (tar, non), systems)

    @property
    def counts(self) -> IntArray:
        """Numbers of targets and of non-targets of each pair."""
        sizes = [[part.stop - part.start for part in side.parts] for side in self.classes]
        return np.array(sizes)

    def llrs(self, model: object, options: Options) -> Sequence[Float64Array]:
        """Return the log-likelihood-ratios of both classes."""
        maps, llrs = self.fit(model, options)
        return self.by_lines(maps) if llrs is None else llrs

    def by_lines(self, maps: Maps) -> Sequence[Float64Array]:
        """Map both classes by the lines of their pairs."""
        return [_map_by_lines(self.pairs, maps, own.codes, own.values) for own in self.classes]

    def matrix_by_lines(self, maps: Maps, scores: Scores) -> Scores:
        """Map the matrix that the scores came from, which needs no list of the results."""
        # There has been a warning of what is missing.
        with hushed(errors.MissingTrialsWarning):
            aligned: Any = scores.align_with_ndx(self.key)
        codes = self.table[self.sides[0]].take(self.sides[1], axis=1)
        llrs = _map_by_lines(self.pairs, maps, codes, aligned.scoremat)
        llrs[~aligned.scoremask] = 0.0
        mapped: Scores = attrs.evolve(aligned, scoremat=mark_read_only(llrs))
        return mapped

    def fit(self, model: object, options: Options) -> tuple[Maps, list[Float64Array] | None]:
        """Train the map of each pair of folds; return the maps, and what both classes get."""
        # None: maps are lines that were trained on condensed trials, and have not been applied.
        base = model
        if model is BoundedCalibration:
            base = options.get("calibration", LinearCalibration)
        grid = _Grid.of(self) if getattr(base, "_is_smooth", False) else None
        counts = self.counts if grid is None else grid.counts
        maps: Maps = {}
        llrs = None if grid else [np.zeros(side.codes.size) for side in self.classes]
        for number in np.flatnonzero(counts.any(axis=0)).tolist():
            pair = self.pairs[number]
            with cautions(part=f"without the speakers of folds {pair[0]} and {pair[1]}"):
                chosen = _apart(self.pairs, counts, pair)
                if grid is not None:
                    maps[pair] = grid.fit(model, chosen, options)
                    continue
                fit = self._fit_systems if self.systems else self._fit_lists
                maps[pair], found = fit(model, chosen, number, options)
            assert llrs is not None
            for side, own, part in zip(self.classes, llrs, found, strict=True):
                own[side.order[side.parts[number]]] = part
        return maps, llrs

    def _fit_lists(
        self, model: Any, chosen: Sequence[int], number: int, options: Options
    ) -> tuple[Any, list[Float64Array]]:
        """Train a map on some pairs, and apply it to another one."""
        (tar, tar_weights), (non, non_weights) = (
            [None if array is None else side.take(array, chosen) for array in side.ordered]
            for side in self.classes
        )
        weights = (
            {} if tar_weights is None else {_WEIGHTS[0]: tar_weights, _WEIGHTS[1]: non_weights}
        )
        fitted = model.fit(tar, non, **weights, **options)
        # What a fold has not seen the final map may have; its systems are rows.
        with hushed(errors.ExtrapolationWarning, errors.SuspectScoresWarning):
            return fitted, [
                fitted.apply(side.ordered[0][..., side.parts[number]]) for side in self.classes
            ]

    def _fit_systems(
        self, model: Any, chosen: Sequence[int], number: int, options: Options
    ) -> tuple[Any, list[Float64Array]]:
        """Train a map that takes keys, with the trials of some pairs, and apply it to another."""
        lines = [np.sort(side.take(side.order, chosen)) for side in self.classes]
        weights = {
            name: side.weights[own]
            for name, side, own in zip(_WEIGHTS, self.classes, lines, strict=True)
            if side.weights is not None
        }
        used, key = (
            self._key_of(lines),
            self._key_of([side.order[side.parts[number]] for side in self.classes]),
        )
        if self.metadata is None:
            fitted = model.fit_scores(*self.systems, used, **weights, **options)
            llrs = fitted.apply(*self.systems, key)
        else:
            fitted = model.fit((used, self.metadata), **self.systems[0], **options)
            # What a fold has not seen the final map may have.
            with hushed(errors.ExtrapolationWarning):
                llrs = fitted.apply(**self.systems[0], ndx=key)
        found, labels = llrs.scores, key.trial_labels()
        return fitted, [found[labels], found[~labels]]

    def _key_of(self, chosen: Sequence[IndexArray]) -> FlatKey:
        """Return the key of some of the trials of each class."""
        (models, segments), labels = _listed(self.key, self.scored)
        of_classes = np.flatnonzero(labels), np.flatnonzero(~labels)
        found = [of_class[own] for of_class, own in zip(of_classes, chosen, strict=True)]
        lines = np.sort(np.concatenate(found))
        return FlatKey._rebuilt(*self.key.ids, *(a[lines] for a in (models, segments, labels)))

    def assemble(self, llrs: Sequence[Float64Array]) -> AnyScores:
        """Put the log-likelihood-ratios of both classes into the form of the key."""
        labels = _listed(self.key, self.scored)[1]
        vector = np.empty(labels.size)
        vector[labels], vector[~labels] = llrs
        frame = frame_of(self.key, self.key)
        return ListedScores(self.key, frame, mark_read_only(vector), self.scored).in_form_of_ndx()

    def weighted(self, weights: Sequence[npt.ArrayLike | None]) -> "FoldedTrials":
        """Give the trials weights; None says that all of a class weigh the same."""
        if all(given is None for given in weights):
            return self
        classes = []
        for own, given, name in zip(self.classes, weights, _WEIGHTS, strict=True):
            checked = check.as_weights(given, own.codes.size, name)
            checked = np.ones(own.codes.size) if checked is None else checked
            classes.append(attrs.evolve(own, weights=checked))
        return attrs.evolve(self, classes=(classes[0], classes[1]))


def _listed(key: AnyKey, scored: BoolArray | None) -> tuple[tuple[Positions, Positions], BoolArray]:
    """Return the positions of model and segment, and the label, of each trial with a score."""
    (models, segments), labels = key.trial_positions(), key.trial_labels()
    if scored is None:
        return (models, segments), labels
    return (models[scored], segments[scored]), labels[scored]


@attrs.frozen(eq=False)
class _Grid:
    """The scores of one system condensed to moments in each step of a grid."""

    # `moments` is (2, 3, n_pairs, _GRID), targets first: weight, and weighted sums of the position
    # within the step and of its square. `counts` are the trials with weight, (2, n_pairs).

    low: float
    step: float
    moments: Float64Array
    counts: IntArray
    trials: FoldedTrials

    @classmethod
    def of(cls, trials: FoldedTrials) -> "_Grid | None":
        """Condense trials; None if they are few, or the grid would be too coarse or too large."""
        n_pairs = len(trials.pairs)
        n_trials = sum(side.codes.size for side in trials.classes)
        if n_trials < max(_MANY_TRIALS, 2 * n_pairs * _GRID):
            return None
        low = float(min(side.values.min() for side in trials.classes))
        step = (float(max(side.values.max() for side in trials.classes)) - low) / (_GRID - 1)
        # Not the standard deviation, which a single outlier could be.
        some = [side.values[:: 1 + n_trials // _GRID] for side in trials.classes]
        inner = np.quantile(np.concatenate(some), (0.16, 0.84))
        if not 0.0 < step <= _WIDEST * (inner[1] - inner[0]) / 2:
            return None
        moments = np.zeros((2, 3, n_pairs * _GRID))
        counts = np.zeros((2, n_pairs), dtype=np.int64)
        for side, sums, count in zip(trials.classes, moments, counts, strict=True):
            for piece in _pieces(side.codes.size):
                within = (side.values[piece] - np.float64(low)) / step
                places = within.astype(np.int64)
                within -= places
                codes = side.codes[piece].astype(np.int64)
                places += codes * _GRID
                weights = None if side.weights is None else side.weights[piece]
                used = codes if weights is None else codes[weights > 0]
                count += np.bincount(used, minlength=n_pairs)
                first = within if weights is None else within * weights
                # In place: of so many cells most have no trial in a piece.
                np.add.at(sums[0], places, 1.0 if weights is None else weights)
                np.add.at(sums[1], places, first)
                np.add.at(sums[2], places, first * within)
        return cls(low, step, moments.reshape(2, 3, n_pairs, _GRID), counts, trials)

    def fit(self, model: object, pairs: Sequence[int], options: Options) -> Any:
        """Train a map on the trials of some pairs: two points for each step of the grid."""
        points, weights = [], []
        for weight, first, second in self.moments[:, :, pairs].sum(axis=2):
            used = np.flatnonzero(weight)
            size, mean = weight[used], first[used] / weight[used]
            spread = np.sqrt(np.maximum(second[used] / size - mean**2, 0.0))
            # One where that is as good.
            two = spread > _SPREAD
            places = np.concatenate((used + mean - spread, (used + mean + spread)[two]))
            points.append(self.low + self.step * places)
            weights.append(np.concatenate((np.where(two, 0.5, 1.0) * size, 0.5 * size[two])))
        rest = {**options, **dict(zip(_WEIGHTS, weights, strict=True))}
        kind, base = rest.pop("bounds", "wide"), rest.pop("calibration", model)
        if base is BoundedCalibration:
            base = LinearCalibration
        if model is BoundedCalibration:
            rest = weak_unless_given(base, rest)
        penalty = rest.pop("ridge", 0.0), rest.pop("offset", None)
        training = TrainingObjective.from_scores(*points, **rest)
        # A ridge may depend on the numbers of trials, which are not those of points.
        n_tar, n_non = self.counts[:, pairs].sum(axis=1).tolist()
        line = base._train(attrs.evolve(training, sizes=(n_tar, n_non)), *penalty)
        if model is not BoundedCalibration:
            return line
        # A line keeps the order, or turns it round.
        order = slice(None, None, 1 if line.scale >= 0.0 else -1)
        tar, non = ([line._llrs(side[pair][order]) for pair in pairs] for side in self.ascending)
        low, high = sorted_bounds(tar, non, kind)
        return model(map=line, low=low, high=high, bounds=kind)

    @functools.cached_property
    def ascending(self) -> list[list[FloatArray]]:
        """The scores of each pair, of the targets and of the non-targets."""
        return [
            [np.sort(side.ordered[0][part]) for part in side.parts] for side in self.trials.classes
        ]


def _map_by_lines(
    pairs: Sequence[FoldPair], maps: Maps, codes: Positions, values: FloatArray
) -> Float64Array:
    """Map each score by the line of its pair."""
    # Scale, offset, lowest and highest log-likelihood-ratio.
    lines = np.zeros((4, len(pairs)))
    for number, pair in enumerate(pairs):
        if pair in maps:
            limits = getattr(maps[pair], "low", -np.inf), getattr(maps[pair], "high", np.inf)
            line: Any = getattr(maps[pair], "map", maps[pair])
            lines[:, number] = line.scale, line.offset, *limits
    is_bounded = any(hasattr(fitted, "low") for fitted in maps.values())
    llrs = np.empty(codes.shape)
    codes, values, flat = codes.ravel(), values.ravel(), llrs.reshape(-1)
    for piece in _pieces(flat.size):
        own = codes[piece]
        np.multiply(lines[0].take(own), values[piece], out=flat[piece])
        flat[piece] += lines[1].take(own)
        if is_bounded:
            np.clip(flat[piece], lines[2].take(own), lines[3].take(own), out=flat[piece])
    return llrs


def _pieces(n_trials: int) -> Iterator[slice]:
    """Yield parts of a list that stay in the processor's cache."""
    return (slice(start, start + _PIECE) for start in range(0, n_trials, _PIECE))


@cautions()
def cross_fit(
    model: type[Model],
    scores: SystemScores,
    key: KeyLike,
    *,
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = None,
    qualities: object = None,
    **options: object,
) -> CrossFit[Model]:
    r"""Calibrate or fuse the trials on which the map is trained, without evaluating it on itself.

    Speakers, not trials, are divided into folds. A trial whose speakers are in folds p and q
    gets the log-likelihood-ratio of a map trained on the trials of which no speaker is in p or
    q. So Cllr and actual costs of the result are those of a map on new speakers.

    Parameters
    ----------
    model : class
        `LinearCalibration`, `PAVCalibration`, `LinearFusion`, `QualityFusion`, `SASVFusion`, or
        another class with their ``fit`` or ``fit_scores``.
    scores : Scores or FlatScores; of a fusion a mapping or list of them
        Scores of at least some of the key's trials; of a fusion of all. Of a `SASVFusion` a mapping
        of ``"asv"`` and ``"cm"``.
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
    The one person of a spoofed trial is the speaker of its model, whose voice is claimed.

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
    final, trials, fold_of = _prepared(
        model, scores, key, options, folds=folds, speakers=speakers, rng=rng, qualities=qualities
    )
    maps, llrs = trials.fit(model, options)
    if llrs is None and isinstance(scores, Scores) and isinstance(trials.key, Key):
        # Without the lists, so that their memory can be used.
        trials = attrs.evolve(trials, classes=())
        mapped: AnyScores = trials.matrix_by_lines(maps, scores)
    else:
        mapped = trials.assemble(trials.by_lines(maps) if llrs is None else llrs)
    return CrossFit(trial_scores.as_output_of_map(mapped), final, maps, fold_of)


def _prepared(
    model: Any, scores: Any, key: KeyLike, options: Options, *, qualities: object = None, **how: Any
) -> tuple[Any, FoldedTrials, dict[str, int]]:
    """Train the final map and fold the trials; weights and conditions go out of the options."""
    of_kinds = getattr(model, "_of_kinds", False) is True
    if not isinstance(model, type) or not (of_kinds or hasattr(model, "fit_scores")):
        hint = "Give the class, LinearCalibration for instance, and its options by name."
        raise check.invalid(
            "model", "be a class of calibrations or fusions", check.describe(model), hint
        )
    given = () if qualities is None else (qualities,)
    by_arrays = hasattr(model, "fit") and not of_kinds
    of_scores = by_arrays and issubclass(model, ScoreMap)
    if given and (by_arrays or of_kinds):
        raise check.invalid(
            "qualities", f"be left out with {model.__name__}", check.describe(qualities)
        )
    only_key, metadata = split_key(key)
    scores = check.as_list(scores)
    trainer: Any = model
    weighting = [check.as_list(options.pop(name, None)) for name in ("conditions", *_WEIGHTS)]
    # First: what the final map refuses or warns of explains more than folds do.
    if of_kinds:
        return _of_kinds(model, scores, key, options, weighting, **how)
    if not of_scores:
        named = dict(zip(("conditions", *_WEIGHTS), weighting, strict=True))
        used = {name: value for name, value in named.items() if value is not None}
        final = trainer.fit_scores(scores, *given, only_key, **used, **options)
    is_alone = of_scores or isinstance(scores, AnyScores)
    one = scores
    if not is_alone:
        one = next(iter(scores.values() if isinstance(scores, Mapping) else scores))
    with hushed(*(() if of_scores else (errors.BosarisWarning,))):
        sample = ListedSample.of(one, only_key, allow_empty=True)
    lists = sample.lists
    if by_arrays and not is_alone:
        lists = trial_scores.stack_tar_non(scores, only_key)
    conditions, of_tar, of_non = weighting
    own_scores = one if is_alone else None
    weights = class_weights(conditions, of_tar, of_non, only_key, scores=own_scores)
    if of_scores:
        final = trainer.fit(*lists, **dict(zip(_WEIGHTS, weights, strict=True)), **options)
        final = final._trained_on(scores)
    systems = () if by_arrays else (scores, *given)
    trials, fold_of = fold_trials(lists, one, only_key, metadata, systems=systems, **how)
    return final, trials.weighted(weights), fold_of


def _of_kinds(
    model: Any,
    scores: object,
    key: KeyLike,
    options: Options,
    weighting: Sequence[object],
    **how: Any,
) -> tuple[Any, FoldedTrials, dict[str, int]]:
    """Train the final map of a model of three classes, and fold the trials."""
    if not isinstance(scores, Mapping) or set(scores) != {"asv", "cm"}:
        found = check.list_some(scores) if isinstance(scores, Mapping) else check.describe(scores)
        hint = 'For instance {"asv": verifier, "cm": countermeasure}.'
        raise check.invalid("scores", "map asv and cm to the scores of both detectors", found, hint)
    if any(value is not None for value in weighting):
        raise check.invalid("weights and conditions", f"be left out with {model.__name__}", "some")
    final = model.fit(key, **scores, **options)
    only_key, metadata = split_key(key)
    assert metadata is not None, "the model looked for kinds"
    # There has been a warning of what is missing.
    with hushed(errors.BosarisWarning):
        sample = ListedSample.of(scores["asv"], only_key, allow_empty=True)
    alone = have_one_speaker(class_numbers(only_key, metadata))
    how |= {"systems": (scores,), "one_sided": alone}
    trials, fold_of = fold_trials(sample.lists, scores["asv"], only_key, metadata, **how)
    return final, attrs.evolve(trials, metadata=metadata), fold_of


def fold_trials(
    lists: Sequence[FloatArray],
    scores: AnyScores,
    key: AnyKey,
    metadata: TrialMetadata | None,
    *,
    folds: Folds,
    speakers: SpeakersLike,
    rng: Rng,
    systems: tuple[object, ...] = (),
    one_sided: BoolArray | None = None,
) -> tuple[FoldedTrials, dict[str, int]]:
    """Divide the speakers of a key into folds; return its trials, and the fold of each speaker."""
    who = TrialSpeakers.of_key(key, *speaker_maps(speakers, key, metadata), one_sided=one_sided)
    persons = np.arange(who.n_speakers)
    if one_sided is not None:
        # Segments of spoofs alone have no person.
        models, segments = key.trial_positions()
        of_segments = who.of_segments[segments[~one_sided]]
        persons = np.union1d(who.of_models[models], of_segments)
    fold_of = np.zeros(who.n_speakers, dtype=np.int64)
    fold_of[persons] = _divide(persons.size, folds, rng)
    sides = fold_of[who.of_models], fold_of[who.of_segments]
    trials = FoldedTrials.of(
        lists, key, trial_scores.scored_trials(scores, key), sides, systems, one_sided
    )
    return trials, dict(zip(who.ids[persons].tolist(), fold_of[persons].tolist(), strict=True))


def choose_ridge(
    model: object,
    scores: SystemScores,
    key: KeyLike,
    *,
    ridges: Sequence[Ridge] = (0.0, 1e-3, 1e-2, 1e-1, 1.0),
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = None,
    **options: object,
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
        raise check.invalid("ridges", "be a list of at least one strength", check.describe(ridges))
    judged: Options = {n: options[n] for n in ("prior", "objective") if n in options}
    options["ridge"] = ridges[0]
    _, trials, _ = _prepared(model, scores, key, options, folds=folds, speakers=speakers, rng=rng)
    judged |= {name: side.weights for name, side in zip(_WEIGHTS, trials.classes, strict=True)}
    values = []
    for ridge in ridges:
        tar, non = trials.llrs(model, {**options, "ridge": ridge})
        values.append(evaluate_objective(tar, non, **judged))
    best = ridges[int(np.argmin(values))]
    return best if best == "weak" else float(best)


def _divide(n: int, folds: Folds, rng: Rng) -> IntArray:
    """Return the fold of each of n speakers."""
    if isinstance(folds, str) and folds == "speaker":
        return np.arange(n)
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)):
        raise check.invalid("folds", 'be a whole number or "speaker"', check.describe(folds))
    if not _FEWEST_FOLDS <= folds <= n:
        hint = "A non-target trial has speakers of two folds; a third is left to train on."
        if folds > n:
            hint += " The set has too few speakers: intervals and bounds want 20 at least."
        expected = f"lie between {_FEWEST_FOLDS} and the number of speakers, {n}"
        raise check.invalid("folds", expected, check.describe(folds), hint)
    return np.asarray(check.as_generator(rng).permutation(n) % folds)
