"""Cross-fitting: every trial mapped by a map that neither of its speakers helped to train."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.trials.scores as trial_scores
from bosaris_py import _validation as check, errors
from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, IntArray
from bosaris_py._notes import cautions, hushed
from bosaris_py._validation import Rng
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

# A pair of folds, the lower first; equal where both speakers of a trial are in one fold.
FoldPair: TypeAlias = tuple[int, int]
Folds: TypeAlias = int | Literal["speaker"]
# The class of the map that is trained.
Model = TypeVar("Model")
SystemScores: TypeAlias = Scores | Sequence[Scores] | Mapping[str, Scores]
# Trains a map on some of the scored trials, and applies it to others.
Learner: TypeAlias = Callable[[BoolArray, BoolArray], tuple[Any, FloatArray]]
_WEIGHTS = ("tar_weights", "non_weights")

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

    `scored` tells which trials have a score, None says all. `models`, `segments`, `labels` and
    `codes`, the number of the pair in `pairs`, are of these.
    """

    key: Key
    scored: BoolArray | None
    models: IntArray
    segments: IntArray
    labels: BoolArray
    codes: IntArray
    pairs: list[FoldPair]
    fold_of: dict[str, int]

    @classmethod
    def of(
        cls,
        scores: Scores,
        key: Key,
        folds: Folds,
        speakers: SpeakersLike,
        rng: Rng,
        one_sided: BoolArray | None = None,
    ) -> "_Folded":
        """Divide the speakers of a key into folds."""
        who = TrialSpeakers.from_key(key, speakers)
        models, segments = key.trial_positions()
        persons = np.arange(who.n_speakers)
        if one_sided is not None:
            # Segments of spoofs alone have no person.
            of_segments = who.of_segments[segments[~one_sided]]
            persons = np.union1d(who.of_models[models], of_segments)
        fold_of = np.zeros(who.n_speakers, dtype=np.int64)
        fold_of[persons] = _divide(persons.size, folds, rng)
        one, other = fold_of[who.of_models[models]], fold_of[who.of_segments[segments]]
        if one_sided is not None:
            # The person of a spoof is the speaker of its model.
            other = np.where(one_sided, one, other)
        n_folds = 1 + int(fold_of.max())
        pairs = list(itertools.combinations_with_replacement(range(n_folds), 2))
        table = np.zeros((n_folds, n_folds), dtype=np.int64)
        low, high = np.transpose(pairs)
        table[low, high] = table[high, low] = np.arange(len(pairs))
        scored = trial_scores.scored_trials(scores, key)
        own: Any = slice(None) if scored is None else scored
        labels, codes = key.is_target[own], table[one, other][own]
        named = dict(zip(who.ids[persons].tolist(), fold_of[persons].tolist(), strict=True))
        return cls(key, scored, models[own], segments[own], labels, codes, pairs, named)

    def fit(self, learn: Learner) -> tuple[dict[FoldPair, Any], Scores]:
        """Train the map of each pair of folds on the trials apart from both; apply it to its own.

        Returns the maps, and the log-likelihood-ratios in the form of the key.
        """
        maps, llrs = {}, np.zeros(self.codes.size)
        for number in np.unique(self.codes).tolist():
            pair = self.pairs[number]
            is_apart = np.array([not set(each) & set(pair) for each in self.pairs])
            train, here = is_apart[self.codes], self.codes == number
            with cautions(part=f"without the speakers of folds {pair[0]} and {pair[1]}"):
                for chosen, noun in ((self.labels, "targets"), (~self.labels, "non-targets")):
                    if not (train & chosen).any():
                        found = f"no {noun} without the speakers of folds {pair[0]} and {pair[1]}"
                        hint = "Have both classes trials of several speakers? "
                        hint += "Choose more or fewer folds."
                        expected = "leave both classes trials to train on"
                        raise check.invalid("folds", expected, found, hint)
                maps[pair], llrs[here] = learn(train, here)
        return maps, trial_scores.assemble(llrs, self.key, self.scored)

    def key_of(self, chosen: BoolArray) -> Key:
        """Return the key of some of the scored trials."""
        if self.scored is None:
            return self.key.take(chosen)
        return self.key.take(np.flatnonzero(self.scored)[chosen])


@cautions()
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
        `LinearCalibration`, `PAVCalibration`, `LinearFusion`, `QualityFusion`, `SASVFusion`, or
        another class with their ``fit`` or ``fit_scores``.
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
    SeparableDataWarning, ConvergenceWarning, BosarisWarning
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
    given_model: object = model
    of_kinds = getattr(model, "_of_kinds", False) is True
    if not isinstance(given_model, type) or not (of_kinds or hasattr(model, "fit_scores")):
        hint = "Give the class, LinearCalibration for instance, and its options by name."
        raise check.invalid(
            "model", "be a class of calibrations or fusions", check.describe(model), hint
        )
    if qualities is not None and (of_kinds or hasattr(model, "fit")):
        expected = f"be left out with {model.__name__}"
        raise check.invalid("qualities", expected, check.describe(qualities))
    if of_kinds:
        return _cross_fit_kinds(model, scores, key, options, (folds, speakers, rng))
    trainer: Any = model
    given = () if qualities is None else (qualities,)
    plain = as_key(key)
    scores = check.as_list(scores)
    conditions, of_tar, of_non = (
        check.as_list(options.pop(name, None)) for name in ("conditions", *_WEIGHTS)
    )
    named = zip(("conditions", *_WEIGHTS), (conditions, of_tar, of_non), strict=True)
    used = {name: value for name, value in named if value is not None}
    # First: what the final map refuses or warns of explains more than folds do.
    final = trainer.fit_scores(scores, *given, plain, **used, **options)
    some: Any = scores.values() if isinstance(scores, Mapping) else scores
    one = scores if isinstance(scores, Scores) else next(iter(some))
    trials = _Folded.of(one, plain, folds, speakers, rng)
    labels = trials.labels
    # There has been a warning of what is missing.
    with hushed(errors.BosarisWarning):
        own = scores if isinstance(scores, Scores) else None
        classes = class_weights(conditions, of_tar, of_non, plain, scores=own)
    weights = _joined(labels, classes)

    def weights_of(train: BoolArray) -> dict[str, Float64Array]:
        if weights is None:
            return {}
        return dict(zip(_WEIGHTS, (weights[train & labels], weights[train & ~labels]), strict=True))

    def by_scores(train: BoolArray, here: BoolArray) -> tuple[Any, FloatArray]:
        lists = values[..., train & labels], values[..., train & ~labels]
        fitted = trainer.fit(*lists, **weights_of(train), **options)
        # What a fold has not seen the final map may have; its systems are rows.
        with hushed(errors.ExtrapolationWarning, errors.SuspectScoresWarning):
            return fitted, fitted.apply(values[..., here])

    def by_keys(train: BoolArray, here: BoolArray) -> tuple[Any, FloatArray]:
        part = trials.key_of(train)
        fitted = trainer.fit_scores(scores, *given, part, **weights_of(train), **options)
        return fitted, fitted.apply(scores, *given, trials.key_of(here)).values

    if not hasattr(model, "fit"):
        maps, llrs = trials.fit(by_keys)
    else:
        values = (
            one.found_in(plain)[0]
            if isinstance(scores, Scores)
            else trial_scores.stack_scores(scores, plain)
        )
        maps, llrs = trials.fit(by_scores)
    return CrossFit(llrs, final, maps, trials.fold_of)


def _joined(labels: BoolArray, classes: Sequence[npt.ArrayLike | None]) -> Float64Array | None:
    """Return the weights of all trials, of those of each class; None says that all weigh one."""
    if all(given is None for given in classes):
        return None
    weights = np.ones(labels.size)
    for chosen, given, name in zip((labels, ~labels), classes, _WEIGHTS, strict=True):
        checked = check.as_weights(given, int(np.count_nonzero(chosen)), name)
        if checked is not None:
            weights[chosen] = checked
    return weights


def _cross_fit_kinds(
    model: Any,
    scores: object,
    key: Key,
    options: dict[str, Any],
    how: tuple[Folds, SpeakersLike, Rng],
) -> CrossFit[Any]:
    """Cross-fit a model of three classes, whose kinds of trials the key tells."""
    if not isinstance(scores, Mapping) or set(scores) != {"asv", "cm"}:
        found = check.list_some(scores) if isinstance(scores, Mapping) else check.describe(scores)
        hint = 'For instance {"asv": verifier, "cm": countermeasure}.'
        raise check.invalid("scores", "map asv and cm to the scores of both detectors", found, hint)
    if any(options.pop(name, None) is not None for name in ("conditions", *_WEIGHTS)):
        raise check.invalid("weights and conditions", f"be left out with {model.__name__}", "some")
    final = model.fit(key, **scores, **options)
    plain = as_key(key)
    trials = _Folded.of(scores["asv"], plain, *how, one_sided=plain.labels == -2)

    def learn(train: BoolArray, here: BoolArray) -> tuple[Any, FloatArray]:
        fitted = model.fit(trials.key_of(train), **scores, **options)
        # What a fold has not seen the final map may have.
        with hushed(errors.ExtrapolationWarning):
            return fitted, fitted.apply(**scores, ndx=trials.key_of(here)).values

    maps, llrs = trials.fit(learn)
    return CrossFit(llrs, final, maps, trials.fold_of)


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
