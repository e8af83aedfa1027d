"""Cross-fitting: every trial mapped by a map that neither of its speakers helped to train."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, Float64Array, Given, IntArray
from bosaris_py._notes import Note, warn
from bosaris_py._validation import Rng
from bosaris_py.calibration import base
from bosaris_py.errors import FewErrorsWarning
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.scores import Scores, assemble, scored_trials, stack_scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

# A pair of folds, the lower first; equal where both speakers of a trial are in one fold.
FoldPair: TypeAlias = tuple[int, int]
Folds: TypeAlias = int | Literal["speaker"]
# The class of the map that is trained.
Model = TypeVar("Model", bound=base.Map)
SystemScores: TypeAlias = Scores | Sequence[Scores] | Mapping[str, Scores]

_WEIGHTS = "conditions", "tar_weights", "non_weights"

# A trial may be between two folds, and a third must be left to train on.
_FEWEST_FOLDS = 3


@attrs.frozen(eq=False, repr=False)
class CrossFit(Generic[Model]):
    """What `cross_fit` returns.

    Parameters
    ----------
    scores : Scores
        Natural-log likelihood-ratios of all scored trials, in the form of the key, each from a
        map that was trained without the trials of either of its speakers.
    final : object of the model's class
        The map trained on all trials: the one to save and to use on new trials.
    folds : dict of (int, int) to object of the model's class
        The map of each pair of folds, the lower first: trained without the speakers of both,
        and used for the trials between them.
    fold_of : dict of str to int
        The fold of each speaker.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, same = [f"speaker {i}" for i in range(120)], np.eye(120, dtype=bool)
    >>> values = 3.0 * same + np.random.default_rng(1).normal(size=same.shape)
    >>> scores, key = bp.Scores(values, ids, ids), bp.Key(ids, ids, same, ~same)
    >>> fitted = bp.cross_fit(bp.LinearCalibration, scores, key, rng=1)
    >>> len(fitted.folds), fitted.scores
    (15, Scores: 120 models x 120 segments, 14400 scores)
    """

    scores: Scores
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


@attrs.frozen(eq=False)
class _Folded:
    """The scored trials of a key, column by column, and the pair of folds of each.

    `scored` tells which trials have a score, None says all. `labels` and `codes`, the number of
    the pair in `pairs`, are of these.
    """

    key: Key
    scored: BoolArray | None
    labels: BoolArray
    codes: IntArray
    pairs: list[FoldPair]
    fold_of: dict[str, int]

    @classmethod
    def from_key(
        cls, scores: Scores, key: Key, folds: Folds, speakers: SpeakersLike, rng: Rng
    ) -> "_Folded":
        """Divide the speakers of a key into folds."""
        who = TrialSpeakers.from_key(key, speakers)
        models, segments = key.trial_positions()
        first, second = who.pairs(models, segments)
        is_spoof = key.labels == -2
        persons = np.arange(who.n_speakers)
        if is_spoof.any():
            # Segments of spoofs alone have no person.
            persons = np.union1d(first, second[~is_spoof & (second >= 0)])
        fold_of = np.zeros(who.n_speakers, dtype=np.int64)
        fold_of[persons] = _divide(persons.size, folds, rng)
        # The person of a spoof is the speaker of its model.
        one, other = fold_of[first], fold_of[np.where(is_spoof | (second < 0), first, second)]
        n_folds = 1 + int(fold_of.max())
        pairs = list(itertools.combinations_with_replacement(range(n_folds), 2))
        table = np.zeros((n_folds, n_folds), dtype=np.int64)
        low, high = np.transpose(pairs)
        table[low, high] = table[high, low] = np.arange(len(pairs))
        scored = scored_trials(scores, key)
        labels, codes = key.is_target, table[one, other]
        if scored is not None:
            labels, codes = labels[scored], codes[scored]
        named = dict(zip(who.ids[persons].tolist(), fold_of[persons].tolist(), strict=True))
        return cls(key, scored, labels, codes, pairs, named)

    def divisions(self) -> Sequence[tuple[FoldPair, BoolArray, BoolArray]]:
        """Return each pair of folds, the trials apart from both, and its own."""
        found = []
        for number in np.unique(self.codes).tolist():
            pair = self.pairs[number]
            is_apart = np.array([not set(each) & set(pair) for each in self.pairs])
            train = is_apart[self.codes]
            for chosen, noun in ((self.labels, "targets"), (~self.labels, "non-targets")):
                if not (train & chosen).any():
                    got = f"no {noun} without the speakers of folds {pair[0]} and {pair[1]}"
                    hint = "Have both classes trials of several speakers? "
                    hint += "Choose more or fewer folds."
                    expected = "leave both classes trials to train on"
                    raise check.invalid("folds", expected, got, hint)
            found.append((pair, train, self.codes == number))
        return found

    def key_of(self, chosen: BoolArray) -> Key:
        """Return the key of some of the scored trials."""
        if self.scored is None:
            return self.key.take(chosen)
        return self.key.take(np.flatnonzero(self.scored)[chosen])


def cross_fit(
    model: type[Model],
    scores: SystemScores,
    key: Key,
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
        `LinearCalibration`, `PAVCalibration`, `GaussianCalibration`, `BoundedCalibration`,
        `LinearFusion`, `QualityFusion` or `SASVFusion`.
    scores : Scores; of a fusion a mapping or list of them
        Scores of at least some of the key's trials; of a fusion of all. Of a `SASVFusion` a mapping
        of ``"asv"`` and ``"cm"``.
    key : Key
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
    ConvergenceWarning, BosarisWarning
        As for the model's ``fit``; each names the folds that were left out.

    Notes
    -----
    The one person of a spoofed trial is the speaker of its model, whose voice is claimed.

    F folds take F (F + 1) / 2 maps besides the final one, which has seen more speakers and is
    slightly better than the figures say.

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
    fitted, notes = cross_fitted(model, scores, key, folds, speakers, rng, qualities, **options)
    warn(notes)
    return fitted


def cross_fitted(
    model: type[Model],
    scores: SystemScores,
    key: Key,
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = None,
    qualities: object = None,
    **options: object,
) -> tuple[CrossFit[Model], list[Note]]:
    """Return what `cross_fit` does, and what is to note of all trainings."""
    given_model: object = model
    if not (isinstance(given_model, type) and issubclass(given_model, base.Map)):
        hint = "Give the class, LinearCalibration for instance, and its options by name."
        expected = "be a class of calibrations or fusions"
        raise check.invalid("model", expected, check.describe(model), hint)
    by_scores = issubclass(model, base.ScoreMap | base.LinearMap)
    if by_scores and qualities is not None:
        expected = f"be left out with {model.__name__}"
        raise check.invalid("qualities", expected, check.describe(qualities))
    trainer: Given = model
    given = () if qualities is None else (qualities,)
    key = as_key(key) if trainer.takes_spoofs else as_key(key).bona_fide()
    scores = check.as_list(scores)
    own = scores if isinstance(scores, Scores) else None
    conditions, *weights = (check.as_list(options.pop(name, None)) for name in _WEIGHTS)
    classes = class_weights(conditions, weights[0], weights[1], key, scores=own)
    named = zip(_WEIGHTS[1:], classes, strict=True)
    used = {name: value for name, value in named if value is not None}
    # First: what the final map refuses or notes explains more than folds do.
    final = trainer._trained_on(scores, *given, key, **used, **options)
    systems: Given = scores.values() if isinstance(scores, Mapping) else scores
    one = own or next(iter(systems))
    trials = _Folded.from_key(one, key, folds, speakers, rng)
    labels = trials.labels
    masses = _joined(labels, classes)
    if by_scores:
        values = stack_scores(scores, key) if own is None else own.found_in(key)[0]
    maps, llrs, notes = {}, np.zeros(labels.size), list(final.notes)
    for pair, train, here in trials.divisions():
        sides = train & labels, train & ~labels
        part = dict(options)
        if masses is not None:
            part |= {"tar_weights": masses[sides[0]], "non_weights": masses[sides[1]]}
        # What a fold has not seen the final map may have: nothing is noted of its application.
        if by_scores:
            fitted = trainer._trained(values[..., sides[0]], values[..., sides[1]], **part)
            llrs[here], _ = fitted._mapped(values[..., here])
        else:
            fitted = trainer._trained_on(scores, *given, trials.key_of(train), **part)
            llrs[here], _ = fitted._on_trials(scores, *given, trials.key_of(here))
        maps[pair] = fitted
        about = f"without the speakers of folds {pair[0]} and {pair[1]}"
        # Parts have fewer errors than the whole, of which the final map tells.
        others = [note for note in fitted.notes if note.kind is not FewErrorsWarning]
        notes += [attrs.evolve(note, about=about) for note in others]
    llr_scores = assemble(llrs, key, trials.scored)
    return CrossFit(llr_scores, final, maps, trials.fold_of), notes


def _joined(labels: BoolArray, classes: Sequence[npt.ArrayLike | None]) -> Float64Array | None:
    """Return the weights of all trials, of those of each class; None says that all weigh one."""
    if all(given is None for given in classes):
        return None
    weights = np.ones(labels.size)
    for chosen, given, name in zip((labels, ~labels), classes, ("tar", "non"), strict=True):
        checked = check.as_weights(given, int(np.count_nonzero(chosen)), f"{name}_weights")
        if checked is not None:
            weights[chosen] = checked
    return weights


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
