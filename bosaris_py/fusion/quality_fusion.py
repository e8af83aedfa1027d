r"""Quality fusion: linear fusion plus a bilinear form of quality measures.

Quality-dependent fusion adds to the weighted scores of a trial

.. math:: [q; 1]^T S\, [r; 1],

with the quality measures q of the model and r of the test segment. S is symmetric (eq. 30 of the
user guide, see `QualityFusion`). The form is linear in the distinct entries of S. Training it is
therefore linear training on more inputs, the *features* of a trial: for each entry (i, j) below the
diagonal :math:`q_i r_j + q_j r_i`, for each on it :math:`q_i r_i`. The last entry is an offset.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Literal, Self

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, BoolArray, FilePath, FloatArray, Given, IntArray, StrArray
from bosaris_py.calibration import base
from bosaris_py.files.models import LATER
from bosaris_py.fusion.linear_fusion import LinearFusion, in_order, names_of
from bosaris_py.numerics.newton import train_linear
from bosaris_py.numerics.scoring import TrainingObjective, pool_classes, refuse_non_finite
from bosaris_py.trials import Key, Ndx, Scores, SegmentQuality, quality as measuring
from bosaris_py.trials.alignment import places_of
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.key import as_key, as_ndx
from bosaris_py.trials.scores import Systems, assemble, stack_scores, stack_tar_non

# A feature of which less than this share of the variance is its own, not a combination of
# the inputs before it, is redundant.
_REDUNDANT = 1e-10

# What varies by less than this, relative to its size, is constant but for rounding. Features
# of standardised measures have a size of about 1.
_CONSTANT = 8 * float(np.finfo(np.float64).eps)


# ---- The form


def form_from_triangle(triangle: ArrayLike) -> FloatArray:
    """Build the symmetric form L + L' from the toolkit's weights, the lower triangle L."""
    # The triangle comes column after column; its weights on the diagonal count twice.
    weights = check.as_vector(triangle, "triangle")
    size = (math.isqrt(8 * weights.size + 1) - 1) // 2
    if weights.size == 0 or size * (size + 1) // 2 != weights.size:
        expected = "have (q + 1) (q + 2) / 2 weights for q measures"
        raise check.invalid("triangle", expected, f"{weights.size}")
    lower = np.zeros((size, size))
    lower[np.triu_indices(size)[::-1]] = weights
    return lower + lower.T


def quality_term(
    form: FloatArray, modelQ: FloatArray, segQ: FloatArray, models: IntArray, segments: IntArray
) -> FloatArray:
    """Evaluate the form for trials, given by the positions of their models and segments."""
    left, right = _with_ones(modelQ), form @ _with_ones(segQ)
    return np.asarray(np.einsum("it,it->t", left[:, models], right[:, segments]))


def _with_ones(measures: FloatArray) -> FloatArray:
    """Return measures, one column for each id, with a row of ones below."""
    return np.vstack((measures, np.ones(measures.shape[1])))


def measure_scale(models: FloatArray, segments: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return centre and spread of each measure, models and segments counting the same."""
    # Of a constant measure the spread is its magnitude instead, or 1.
    # The same shift and scale on both sides leave the form symmetric; different ones would not.
    sides = [np.asarray(side, np.float64) for side in (models, segments)]
    centre = 0.5 * sum(side.mean(axis=1) for side in sides)
    squares = [np.square(side - centre[:, np.newaxis]).mean(axis=1) for side in sides]
    spread = np.sqrt(0.5 * (squares[0] + squares[1]))
    largest = np.maximum(*(np.abs(side).max(axis=1) for side in sides))
    magnitude = np.where(largest > 0.0, largest, 1.0)
    return centre, np.where(spread <= _CONSTANT * largest, magnitude, spread)


def _standardised(
    measures: measuring.TrialQuality, centre: FloatArray, spread: FloatArray
) -> list[FloatArray]:
    """Return the measures of models and of segments less the centre, divided by the spread."""
    sides = measures.modelQ, measures.segQ
    return [(side - centre[:, np.newaxis]) / spread[:, np.newaxis] for side in sides]


# ---- Its entries as inputs of a training


def form_entries(n_measures: int) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the form without the offset, those of single measures first."""
    # Of redundant features the earlier are kept: better a term of one measure than a product.
    columns, rows = np.triu_indices(n_measures)
    single = np.arange(n_measures)
    return np.append(np.full_like(single, n_measures), rows), np.append(single, columns)


def _features(q: FloatArray, r: FloatArray) -> FloatArray:
    """Return the feature of each entry of the form, of measures (q + 1, t) with a row of ones."""
    i, j = form_entries(len(q) - 1)
    features, below = q[i] * r[j], i != j
    # Each entry below the diagonal stands for two of S in (30) of [1].
    features[below] += q[j[below]] * r[i[below]]
    return np.asarray(features)


def _kept_inputs(
    training: TrainingObjective, n_systems: int, sides: Sequence[FloatArray]
) -> BoolArray:
    """Tell which inputs, systems and features, vary, and not only with those before them.

    All systems are kept. Where a side has fewer distinct points than measures that vary, plus one,
    measures are collinear by chance, not by what they are, and other ids will show it: all that
    vary are kept, and weights are the shortest.
    """
    few = [len(np.unique(x.T, axis=0)) <= np.count_nonzero(np.ptp(x, axis=1)) for x in sides]
    _, residual = pool_classes(training.tar.moments(), training.non.moments())
    variance = residual.diagonal().copy()
    kept = variance > _CONSTANT**2
    kept[:n_systems] = True
    for index in [] if any(few) else np.flatnonzero(kept):
        own = residual[index, index]
        if own > _REDUNDANT * variance[index]:
            # What this input explains of the others is taken from their covariance.
            residual = residual - np.outer(residual[index], residual[index]) / own
        else:
            kept[index] = index < n_systems
    return kept


# ---- The fusion


def _measures_of(
    qualities: measuring.Qualities, ndx: Ndx | Key, qtrans: ArrayLike | None, n_measures: int = 0
) -> measuring.TrialQuality:
    """Look up and mix quality measures; refuse another number of them than `n_measures`."""
    measures = measuring.quality_of_trials(qualities, ndx)
    found = measures.n_measures
    if not found or found != (n_measures or found):
        expected = f"hold {n_measures or 'some'} quality measures in all, as in training"
        raise check.invalid("qualities", expected, f"{found}")
    return measures if qtrans is None else measuring.mix_measures(measures, qtrans)


@attrs.frozen(kw_only=True, repr=False)
class QualityFusion(base.TrainedMap):
    r"""A fusion of several systems that takes the quality of model and segment into account.

    Make one with `fit_scores` or `read`.

    Parameters
    ----------
    weights : (n_systems,) ndarray of float64
        Factor of each system's score, read-only.
    offset : float
        What is added, a natural-log likelihood-ratio.
    form : (p + 1, p + 1) ndarray of float64
        The symmetric matrix S of the quality term, for standardised measures; its last
        entry is 0, because `offset` stands for it. See Notes.
    centre, spread : (p,) ndarray of float64
        What is subtracted from each measure, and what it is divided by, before `form`
        is applied. For models and segments alike.
    qtrans : (p, q) ndarray of float64 or None
        How the q given measures are mixed to p before anything else; None: not at all.
    linear : LinearFusion
        The fusion for trials that lack quality measures.
    prior, objective, objective_value, ridge
        The record of the training, as for `LinearCalibration`.
    n_tar, n_non : int
        Number of training trials with quality measures and a weight above zero.
    notes : tuple of Note
        What the training left to note; files do not keep it.

    Notes
    -----
    The log-likelihood-ratio of a trial is (eq. 30 of [1]_)

    .. math:: w^T s + b + [q; 1]^T S\, [r; 1],

    with the scores s, the measures q of the model and r of the segment, both standardised. S is
    symmetric: model and segment may change roles. Quality is added; it does not scale the scores.

    BOSARIS: ``train_quality_fusion_function.m``, ``apply_quality_fusion_function.m``. The toolkit
    trains the last entry of S besides the offset, though both do the same, and stops as early as in
    linear fusion. Its fused scores are reached to a few thousandths, see `toolkit_weights`.

    References
    ----------
    .. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory, algorithms and
       code for binary classifier score processing", 2011.

    Examples
    --------
    >>> from bosaris_py import Key, Scores, SegmentQuality
    >>> models, segments = ["anna"], ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]
    >>> tar = [[True, True, True, True, False, False, False, False]]
    >>> non = [[False, False, False, False, True, True, True, True]]
    >>> key = Key(models, segments, tar, non)
    >>> scores = Scores([[1.0, 2.0, 3.0, -0.5, 0.0, -1.0, 2.0, 0.0]], models, segments)
    >>> noise = SegmentQuality(segments, [[0.0, 1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 2.0]])
    >>> fusion = QualityFusion.fit_scores([scores], [noise], key, ridge=0)
    >>> fusion
    QualityFusion: 1 systems, 1 quality measures, cllr 0.8311 at prior 0.5,
    4 targets, 4 non-targets
    >>> fused = fusion.apply([scores], [noise], key)
    """

    takes_qualities: ClassVar[bool] = True

    weights: FloatArray = attrs.field(**base.VECTOR)
    offset: float = attrs.field(**base.NUMBER)
    form: FloatArray = attrs.field(**base.MATRIX)
    centre: FloatArray = attrs.field(**base.VECTOR)
    spread: FloatArray = attrs.field(**base.VECTOR)
    qtrans: FloatArray | None = attrs.field(**base.MATRIX_OR_NONE)
    linear: LinearFusion = attrs.field(**base.part(LinearFusion))

    def __attrs_post_init__(self) -> None:
        """Raise unless all parts speak of as many systems and measures."""
        size, n_systems = self.centre.size, self.weights.size
        fits = (
            self.linear.n_systems == n_systems
            and self.form.shape == (size + 1, size + 1)
            and np.array_equal(self.form, self.form.T)
            and self.spread.shape == (size,)
            and (self.spread > 0.0).all()
            and (self.qtrans is None or len(self.qtrans) == size)
        )
        if not fits:
            expected = f"fit {n_systems} systems and {size} measures"
            raise check.invalid("linear, form, spread and qtrans", expected, "others")

    @classmethod
    def _built(cls, parameters: base.Options, path: FilePath) -> Self:
        # Up to version 0.3 some fields of `linear` stand beside it.
        later = {name: parameters.pop(name) for name in LATER if name in parameters}
        if later and isinstance(parameters.get("linear"), dict):
            parameters["linear"] = {**parameters["linear"], **later}
        return super()._built(parameters, path)

    @classmethod
    def fit_scores(
        cls,
        systems: Systems,
        qualities: measuring.Qualities,
        key: Key,
        *,
        qtrans: ArrayLike | None = None,
        conditions: ConditionsLike = None,
        linear: LinearFusion | None = None,
        **options: Given,
    ) -> Self:
        r"""Train the weights of systems and quality measures together.

        Parameters
        ----------
        systems : Scores, or mapping or sequence of these
            The scores of each system, for every trial of the key. Names are kept.
        qualities : QualityMeasures, SegmentQuality, mapping of id to number, or sequence of these
            Quality measures, which are put together. A SegmentQuality, or a mapping, describes the
            test segments; where only it is known, there is no information on the model side.
        key : Key
            Which trials are targets and which non-targets.
        qtrans : (p, q) array_like of float, optional
            Replaces the q measures by p linear combinations of them, for models and
            segments alike. By default they are used as they are.
        conditions : str, list of str or Conditions, optional
            As for `LinearFusion.fit_scores`.
        linear : LinearFusion, optional
            The fusion for trials without quality measures. By default it is
            trained on all trials of the key, with the same settings.
        **options
            As for `LinearFusion.fit`. For the ridge standardised quality features count
            like systems.

        Returns
        -------
        QualityFusion

        Raises
        ------
        TrialMismatchError
            If a system lacks scores of the key's trials, or no target or no non-target
            has quality measures.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of the key have no quality measures, with counts.
            The trials are left out of the training, but for that of `linear`.
        ConvergenceWarning, FewErrorsWarning
            As for `LinearFusion.fit`, of either fusion.

        Notes
        -----
        The q measures give :math:`q (q + 3) / 2` features besides the scores: of each
        measure the sum of both sides, of each two measures (and of each with itself) the
        symmetric product. A feature that is constant, or a linear combination of scores and earlier
        features, gets the weight zero. Where models, or segments, are fewer than the measures plus
        one, features are collinear by chance. Then all that vary are kept, with the shortest of the
        equally good standardised weights and a ConvergenceWarning, as in `LinearFusion`.

        Memory is that of the features of all trials. The Hessian has the size of
        the number of features squared; hundreds of measures call for `qtrans`.
        """
        how = {"qtrans": qtrans, "conditions": conditions, "linear": linear, **options}
        return cls._trained_on(systems, qualities, key, **how)._with_warnings()

    @classmethod
    def _trained_on(
        cls, systems: Systems, qualities: measuring.Qualities, key: Key, **options: Given
    ) -> Self:
        """Train as `fit_scores` does, without a warning of the training."""
        linear, qtrans = options.pop("linear", None), options.pop("qtrans", None)
        key = as_key(key).bona_fide()
        options = base.weighted(options, key)
        if not isinstance(linear, LinearFusion | None):
            raise check.invalid("linear", "be a LinearFusion", check.describe(linear))
        names = None if linear is None else linear.system_names
        rows = stack_tar_non(in_order(systems, names), key)
        measures, n_systems = _measures_of(qualities, key, qtrans), len(rows[0])
        notes: list[errors.Note] = []
        if linear is None:
            linear = LinearFusion._trained(*rows, **options)
            linear = attrs.evolve(linear, system_names=names_of(systems))
            notes += [attrs.evolve(note, about="linear") for note in linear.notes]
        linear._check_systems(n_systems, "systems")
        # What a given `linear` has not seen may be NaN, or too large.
        refuse_non_finite(*rows)
        if measures.n_missing:
            text = f"Quality fusion training has {measures.n_missing} missing trials."
            notes.append(errors.Note(errors.MissingTrialsWarning, text, count=measures.n_missing))
        ridge = options.pop("ridge", "weak")
        used, classes = measures.covered.copy(), (key.is_target, ~key.is_target)
        for name, own in zip(("tar_weights", "non_weights"), classes, strict=True):
            mass = check.as_weights(options.get(name), int(own.sum()), name)
            used[own] &= True if mass is None else mass > 0.0
            if not used[own].any():
                text = f"No trial of {name[:3]} has quality measures and a weight above zero."
                raise errors.TrialMismatchError(f"{text} Do the ids of scores and measures agree?")
            options[name] = None if mass is None else mass[used[own]]
        # Centre and spread of what is trained on: other ids of the key must not shift them.
        models, segments = np.unique(measures.models[used]), np.unique(measures.segments[used])
        sides = measures.modelQ[:, models], measures.segQ[:, segments]
        centre, spread = measure_scale(*sides)
        # The last row, of ones, makes the linear terms and the offset of the quadratic form.
        q, r = map(_with_ones, _standardised(measures, centre, spread))
        inputs = []
        for scores, own in zip(rows, classes, strict=True):
            at = measures.models[own & used], measures.segments[own & used]
            inputs.append(np.vstack((scores[:, used[own]], _features(q[:, at[0]], r[:, at[1]]))))
        training = TrainingObjective.from_scores(*inputs, **options)
        kept = _kept_inputs(training, n_systems, sides)
        training = training.with_systems(kept)
        solution = train_linear(training, ridge=ridge)
        form = np.zeros((len(q), len(q)))
        i, j = (each[kept[n_systems:]] for each in form_entries(len(centre)))
        form[i, j] = form[j, i] = solution.weights[n_systems:]
        solution.notes.extend(notes)
        return cls(
            weights=solution.weights[:n_systems],
            offset=solution.offset,
            form=form,
            centre=centre,
            spread=spread,
            qtrans=qtrans,
            linear=linear,
            **base.record(training, solution),
        )

    @property
    def n_measures(self) -> int:
        """Number of quality measures that are wanted, before they are mixed."""
        return int(self.centre.size if self.qtrans is None else self.qtrans.shape[1])

    @property
    def toolkit_weights(self) -> FloatArray:
        """The weights as the MATLAB toolkit orders them, for measures as they are.

        Weights of the systems, offset, then the lower triangle of a matrix L, column after column,
        with S = L + L'. The last one is 0: it would be a second offset. (In the toolkit the two
        share the sum, offset + 2 * last, in a way that depends on the optimiser.)
        """
        # With [q'; 1] = A [q; 1] the form S on standardised measures q' is A^T S A on q.
        standardise = np.diag(np.append(1.0 / self.spread, 1.0))
        standardise[:-1, -1] = -self.centre / self.spread
        raw = standardise.T @ self.form @ standardise
        offset, raw[-1, -1] = self.offset + raw[-1, -1], 0.0
        lower = raw - 0.5 * np.diag(raw.diagonal())
        return np.concatenate((self.weights, [offset], lower[np.triu_indices(len(lower))[::-1]]))

    def apply(
        self,
        systems: Systems,
        qualities: measuring.Qualities,
        ndx: Ndx | Key,
        *,
        backoff: Scores | None = None,
    ) -> Scores:
        """Fuse the scores of several systems to log-likelihood-ratios.

        Parameters
        ----------
        systems, qualities
            As for `fit_scores`: by name, or in the order of the training.
        ndx : Ndx or Key
            The trials to fuse.
        backoff : Scores, optional
            Log-likelihood-ratios for the trials that lack quality measures. By
            default those of the linear fusion.

        Returns
        -------
        Scores
            Natural-log likelihood-ratios, with the models, segments and trials of `ndx`.

        Raises
        ------
        TrialMismatchError
            As for `LinearFusion.apply`.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials have no quality measures, with counts. Those
            trials get the score of the linear fusion, or of `backoff`.
        SuspectScoresWarning
            As for `LinearFusion.apply`.
        """
        llrs, notes = self._on_trials(systems, qualities, as_ndx(ndx), backoff)
        errors.warn(notes)
        return assemble(llrs, ndx)

    def _on_trials(
        self,
        systems: Systems,
        qualities: measuring.Qualities,
        ndx: Ndx | Key,
        backoff: Scores | None = None,
    ) -> base.Mapped:
        """Return the log-likelihood-ratios of trials, and notes on their scores."""
        stack = stack_scores(in_order(systems, self.linear.system_names), ndx)
        self.linear._check_systems(len(stack), "systems")
        measures = _measures_of(qualities, ndx, self.qtrans, self.n_measures)
        # Equation 30 of the user guide: the sum with the weights trained beside the measures, then
        # the quality term.
        beside = attrs.evolve(self.linear, weights=self.weights, offset=self.offset)
        llrs, notes = beside._mapped(stack)
        q, r = _standardised(measures, self.centre, self.spread)
        llrs += quality_term(self.form, q, r, measures.models, measures.segments)
        if n := measures.n_missing:
            text = f"Quality missing for {n} of {llrs.size} trials, substituting backoff scores."
            notes.append(errors.Note(errors.MissingTrialsWarning, text, count=n))
            simple = self.linear._llrs(stack) if backoff is None else stack_scores(backoff, ndx)[0]
            llrs = np.where(measures.covered, llrs, simple)
        return llrs, notes

    def __repr__(self) -> str:
        """Show the numbers of systems and measures and how good the fusion was in training."""
        sizes = f"{self.weights.size} systems, {self.n_measures} quality measures"
        return f"QualityFusion: {sizes}, {self._describe_training()}"


# ---- Measures as systems

Combine = Literal["min", "max", "sum", "difference"]

# One for both sides, or a pair for (models, segments), None for a side that does not count.
OfSide = SegmentQuality | measuring.Numbers | None
Measured = OfSide | tuple[OfSide, OfSide]

# The difference of two values is their range.
_COMBINE: dict[str, Given] = {"min": np.min, "max": np.max, "sum": np.sum, "difference": np.ptp}


def quality_systems(
    scores: Scores | Sequence[Scores],
    qualities: Mapping[str, Measured],
    ndx: Ndx | Key,
    *,
    offset: Collection[str] | None = None,
    scale: Collection[str] = (),
    combine: Combine = "min",
) -> list[Scores]:
    r"""Turn quality measures into systems that a `LinearFusion` joins with the scores.

    A calibration whose offset and scale depend on a measure q of the trial is linear,

    .. math:: (w_0 + w_1 q)\, s + w_2 q + b,

    so it is a fusion of three systems: the scores s, q itself and the product of both. Several
    systems have a product each.

    Parameters
    ----------
    scores : Scores or sequence of these
        Scores of all trials of `ndx`.
    qualities : mapping of str to SegmentQuality, mapping of id to number, or pair of these
        Measures by name, one value for each id. What holds models and segments; or
        a pair (models, segments), None for a side that does not count.
    ndx : Ndx or Key
        The trials.
    offset : collection of str, optional
        The measures that shift the log-likelihood-ratio; by default all.
    scale : collection of str, default: none
        The measures that the scale depends on. Logarithms of durations serve best.
    combine : {"min", "max", "sum", "difference"}, default: "min"
        How the values of model and segment make that of the trial; all are symmetric.

    Returns
    -------
    list of Scores
        `scores`, the measures of `offset`, and the products with those of `scale`, for
        ``LinearFusion.fit_scores(systems, key)``, ``cross_fit`` and ``apply``.

    Raises
    ------
    TrialMismatchError
        If scores, or measures of models or segments with trials, are missing.

    Examples
    --------
    >>> from bosaris_py import Ndx, Scores
    >>> ids = ["anna"], ["short", "long"]
    >>> duration = {"anna": 3.0, "short": 1.0, "long": 4.0}
    >>> systems = quality_systems(Scores([[2.0, 5.0]], *ids), {"duration": duration},
    ...                           Ndx(*ids), scale=["duration"])
    >>> [system.scoremat.tolist() for system in systems]
    [[[2.0, 5.0]], [[1.0, 3.0]], [[2.0, 15.0]]]
    """
    ndx = as_ndx(ndx)
    check.check_choice(combine, Combine, "combine")
    check.check_mapping(qualities, "qualities", "measures")
    scale = check.listed(scale, "scale")
    for argument, names in (("offset", offset), ("scale", scale)):
        if not all(name in [*qualities] for name in check.listed(names, argument)):
            expected = f"hold names among {', '.join(qualities)}"
            raise check.invalid(argument, expected, check.describe(names))
    values = stack_scores(scores, ndx)
    shifts, products = list[FloatArray](), list[FloatArray]()
    for name, measured in qualities.items():
        pair = measured if isinstance(measured, tuple) else (measured, measured)
        parts = zip(pair, ndx.ids, ndx.trial_positions(), strict=True)
        sides = [_trial_values(side, ids, at, name) for side, ids, at in parts if side is not None]
        measure = sides[0] if len(sides) == 1 else _COMBINE[combine](sides, axis=0)
        if offset is None or name in offset:
            shifts.append(measure)
        if name in scale:
            products.extend(measure * values)
    return [assemble(vector, ndx) for vector in (*values, *shifts, *products)]


def _trial_values(given: object, ids: StrArray, positions: IntArray, name: str) -> FloatArray:
    """Return the value of the model, or of the segment, of each trial."""
    quality = measuring.as_quality(given)
    if not isinstance(quality, SegmentQuality) or quality.n_measures != 1:
        expected = "be SegmentQuality of one measure, or numbers by id"
        raise check.invalid(f"qualities[{name!r}]", expected, check.describe(quality))
    places = places_of(ids, quality.ids)[positions]
    if (missing := places < 0).any():
        examples = np.unique(ids[positions[missing]])
        found = f"{examples.size} ids with trials have no value of {name!r}"
        hint = "For a measure of one side give a pair, (None, quality) for segments only."
        raise errors.TrialMismatchError(f"{found} ({check.list_some(examples)}). {hint}")
    values = quality.values[:, places].astype(np.float64)
    measuring.check_finite(values, f"qualities[{name!r}]", ids[positions])
    return np.asarray(values[0])
