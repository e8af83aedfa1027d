"""Cross-fitting: every trial mapped by a map that neither of its speakers helped to train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, Literal, TypeVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import Given, IntArray, Rng
from bosaris_py.calibration import base
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.scores import Scores, assemble, scored_trials, stack_scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

# A pair of folds, the lower first; equal where both speakers of a trial are in one fold.
FoldPair = tuple[int, int]
Folds = int | Literal["speaker"]
# The class of the map that is trained.
Model = TypeVar("Model", bound=base.Map)
SystemScores = Scores | Sequence[Scores] | Mapping[str, Scores]

_WEIGHTS = "tar_weights", "non_weights"


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
        maps = f"{n_folds} folds of {len(self.fold_of)} speakers, {len(self.folds)} maps"
        return f"CrossFit: {maps}; final {self.final!r}"


def cross_fit(
    model: type[Model],
    scores: SystemScores,
    key: Key,
    *,
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = 0,
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
    rng : Generator, int or None, default: 0
        Divides the speakers: a number always in the same way, as the command does, None in another
        way each time. "speaker" needs none.
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
    errors.warn(notes)
    return fitted


def check_model(model: object, kind: type[base.Map]) -> None:
    """Raise unless a model is a class of maps of a kind."""
    if not (isinstance(model, type) and issubclass(model, kind)):
        hint = "Give the class, LinearCalibration for instance, and its options by name."
        expected = f"be a class of calibrations{' or fusions' * (kind is base.Map)}"
        raise check.invalid("model", expected, check.describe(model), hint)


def cross_fitted(
    model: type[Model],
    scores: SystemScores,
    key: Key,
    folds: Folds = 5,
    speakers: SpeakersLike = None,
    rng: Rng = 0,
    qualities: object = None,
    **options: Given,
) -> tuple[CrossFit[Model], list[errors.Note]]:
    """Return what `cross_fit` does, and what is to note of all trainings."""
    trainer: Given = model
    check_model(model, base.Map)
    by_scores = issubclass(model, base.ScoreMap | base.LinearMap)
    if (qualities is not None) != model.takes_qualities:
        expected = f"be {'given' if qualities is None else 'left out'} with {model.__name__}"
        raise check.invalid("qualities", expected, check.describe(qualities))
    given = () if qualities is None else (qualities,)
    key = as_key(key) if model.takes_spoofs else as_key(key).bona_fide()
    scores = check.as_list(scores)
    one = scores if isinstance(scores, Scores) else None
    options = {name: check.as_list(value) for name, value in options.items()}
    options = base.weighted(options, key, one)
    weights = {name: each for name in _WEIGHTS if (each := options.pop(name, None)) is not None}
    # First: what the final map refuses or notes explains more than folds do.
    final = trainer._trained_on(scores, *given, key, **weights, **options)
    systems: Given = scores.values() if isinstance(scores, Mapping) else scores
    scored = scored_trials(one or next(iter(systems)), key)
    numbers = np.arange(key.n_trials) if scored is None else np.flatnonzero(scored)
    is_target = key.is_target[numbers]
    pairs, fold_of = _folds_of_trials(key, folds, speakers, rng)
    low, high = pairs[:, numbers]
    if by_scores:
        values = stack_scores(scores, key) if one is None else one.found_in(key)[0]
    maps, llrs, notes = {}, np.zeros(numbers.size), list(final.notes)
    codes, classes = low * (1 + high.max()) + high, (is_target, ~is_target)
    for code in np.unique(codes).tolist():
        (p, q), here = divmod(code, 1 + int(high.max())), codes == code
        is_left = np.isin(np.arange(1 + high.max()), (p, q))
        train = ~(is_left[low] | is_left[high])
        sides = [train & own for own in classes]
        for side, noun in zip(sides, ("targets", "non-targets"), strict=True):
            if not side.any():
                got = f"no {noun} without the speakers of folds {p} and {q}"
                hint = "Have both classes trials of several speakers? Choose more or fewer folds."
                raise check.invalid("folds", "leave both classes trials to train on", got, hint)
        part = dict(options)
        for name, own in zip(_WEIGHTS, classes, strict=True):
            if name in weights:
                part[name] = np.asarray(weights[name])[train[own]]
        # What a fold has not seen the final map may have: nothing is noted of its application.
        if by_scores:
            fitted = trainer._trained(*(values[..., side] for side in sides), **part)
            llrs[here], _ = fitted._mapped(values[..., here])
        else:
            fitted = trainer._trained_on(scores, *given, key.take(numbers[train]), **part)
            llrs[here], _ = fitted._on_trials(scores, *given, key.take(numbers[here]))
        maps[p, q] = fitted
        about = f"without the speakers of folds {p} and {q}"
        # Parts have fewer errors than the whole, of which the final map tells.
        others = [note for note in fitted.notes if note.kind is not errors.FewErrorsWarning]
        notes += [attrs.evolve(note, about=about) for note in others]
    return CrossFit(assemble(llrs, key, scored), final, maps, fold_of), notes


def _folds_of_trials(
    key: Key, folds: Folds, speakers: SpeakersLike, rng: Rng
) -> tuple[IntArray, dict[str, int]]:
    """Return the lower and the higher fold of each trial, and the fold of each speaker."""
    who = TrialSpeakers.from_key(key, speakers)
    first, second = who.pairs(*key.trial_positions())
    is_spoof, persons = key.labels == -2, np.arange(who.n_speakers)
    if is_spoof.any():
        # Segments of spoofs alone have no person.
        persons = np.union1d(first, second[~is_spoof & (second >= 0)])
    # The person of a spoof is the speaker of its model.
    second = np.where(is_spoof | (second < 0), first, second)
    fold_of = np.zeros(who.n_speakers, dtype=np.int64)
    fold_of[persons] = _divide(persons.size, folds, rng)
    named = zip(who.ids[persons].tolist(), fold_of[persons].tolist(), strict=True)
    return np.sort((fold_of[first], fold_of[second]), axis=0), dict(named)


def _divide(n: int, folds: Folds, rng: Rng) -> IntArray:
    """Return the fold of each of n speakers."""
    if folds == "speaker":
        return np.arange(n)
    # A trial may be between two folds, and a third must be left to train on.
    expected = f'be "speaker", or a whole number from 3 to the number of speakers, {n}'
    number = check.as_number(folds, "folds", expected, lambda x: 3 <= x <= n and x % 1 == 0)
    return np.asarray(check.as_generator(rng).permutation(n) % int(number))
