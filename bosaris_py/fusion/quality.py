"""Quality fusion: linear fusion plus what quality measures say about a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast, overload

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, Int32Array, mark_read_only
from bosaris_py._validation import as_matrix, as_weights, describe, invalid, list_some, warn_caller
from bosaris_py.calibration.trained import MATRIX, MATRIX_OR_NONE, NUMBER, VECTOR, TrainedMap
from bosaris_py.errors import MissingTrialsWarning, TrialMismatchError
from bosaris_py.fusion.linear import DenseTrials, FlatTrials, LinearFusion, Systems
from bosaris_py.numerics.linear_objective import (
    LARGEST_SCORE,
    TrainingObjective,
    moderate_weights,
    refuse_non_finite,
)
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.quality_form import (
    QualityDesign,
    form_entries,
    has_too_few_points,
    in_raw_units,
    measure_scale,
    train_quality,
    trial_quality_term,
    triangle_from_form,
)
from bosaris_py.numerics.scoring_rules import resolve_prior, scoring_rule
from bosaris_py.trials import Conditions, FlatScores, QualityMeasures, Scores, SegmentQuality
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import AnyKey, AnyNdx, check_trials
from bosaris_py.trials.quality import TrialQuality, mix_measures, quality_of_trials
from bosaris_py.trials.scores import AnyScores, assemble, stack_scores, stack_tar_non

Backoff: TypeAlias = AnyScores | None
Qualities: TypeAlias = Sequence[QualityMeasures | SegmentQuality]
Weights: TypeAlias = Float64Array | None
# Scores of the training trials of a class, positions of their models and segments, weights.
TrainedPart: TypeAlias = tuple[Float64Array, Int32Array, Int32Array, Weights]


def _trained_part(
    noun: str, chosen: BoolArray, scores: Float64Array, weights: Weights, measures: TrialQuality
) -> TrainedPart:
    """Return the chosen trials, of one class, that have quality measures and a weight."""
    models, segments = measures.models[chosen], measures.segments[chosen]
    used = measures.covered[chosen]
    if not used.any():
        message = (
            f"No {noun} trial has quality measures, so quality fusion cannot be trained; "
            f"{used.size} of {used.size} lack them. Do the ids of scores and measures agree?"
        )
        raise TrialMismatchError(message)
    if weights is not None:
        used &= weights > 0.0
        if not used.any():
            message = f"No {noun} trial with quality measures has a weight above zero."
            raise TrialMismatchError(message)
    # Scores are copied only where trials are left out.
    if not used.all():
        scores, models, segments = scores[:, used], models[used], segments[used]
        weights = None if weights is None else weights[used]
    return scores, models.astype(np.int32), segments.astype(np.int32), weights


def _look_up_measures(
    qualities: Qualities, ndx: AnyNdx, qtrans: npt.ArrayLike | None, n_measures: int | None = None
) -> TrialQuality:
    """Look up and mix quality measures; refuse another number of them than `n_measures`."""
    measures = quality_of_trials(qualities, ndx)
    if not measures.n_measures:
        raise invalid("qualities", "hold at least one quality measure", "none")
    if n_measures is not None and measures.n_measures != n_measures:
        expected = f"hold {n_measures} quality measures in all, as in training"
        raise invalid("qualities", expected, f"{measures.n_measures}")
    for name in ("modelQ", "segQ"):
        too_large = (np.abs(getattr(measures, name), dtype=np.float64) > LARGEST_SCORE).any(axis=1)
        if too_large.any():
            numbers = list_some((np.flatnonzero(too_large) + 1).tolist())
            found = f"larger ones in measure {numbers}"
            raise invalid(name, f"not exceed {LARGEST_SCORE:g}", found)
    return measures if qtrans is None else mix_measures(measures, qtrans)


def _standardise(
    measures: TrialQuality, centre: Float64Array, spread: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the measures of models and of segments less the centre, divided by the spread."""
    columns = centre[:, np.newaxis], spread[:, np.newaxis]
    return (measures.modelQ - columns[0]) / columns[1], (measures.segQ - columns[0]) / columns[1]


def _to_linear(value: LinearFusion | Mapping[str, Any]) -> LinearFusion:
    """Return the back-off, built from its fields if it comes from a file."""
    return LinearFusion(**value) if isinstance(value, Mapping) else value


@attrs.frozen(kw_only=True, repr=False)
class QualityFusion(TrainedMap):
    r"""A fusion of several systems that takes the quality of model and segment into account.

    Make one with `fit_scores` or `read`. To the weighted sum of the scores a term is added
    that depends on the quality measures of the trial's two sides.

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

    Notes
    -----
    The log-likelihood-ratio of a trial is (eq. 30 of [1]_)

    .. math:: w^T s + b + [q; 1]^T S\, [r; 1],

    with the scores s, the measures q of the model and r of the segment, both
    standardised. S is symmetric: model and segment may change roles. Quality is
    added; it does not scale the scores.

    BOSARIS: ``train_quality_fusion_function.m``, ``apply_quality_fusion_function.m``. The
    toolkit trains the last entry of S besides the offset, though both do the same,
    and stops as early as in linear fusion. Its fused scores are reached to a few
    thousandths; its weights mean nothing one by one, see `toolkit_weights`.

    References
    ----------
    .. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
       algorithms and code for binary classifier score processing", 2011.

    Examples
    --------
    >>> from bosaris_py import Key, Scores, SegmentQuality
    >>> models, segments = ["anna"], ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]
    >>> tar = [[True, True, True, True, False, False, False, False]]
    >>> non = [[False, False, False, False, True, True, True, True]]
    >>> key = Key(models, segments, tar, non)
    >>> scores = Scores([[1.0, 2.0, 3.0, -0.5, 0.0, -1.0, 2.0, 0.0]], models, segments)
    >>> noise = SegmentQuality(segments, [[0.0, 1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 2.0]])
    >>> fusion = QualityFusion.fit_scores([scores], [noise], key)
    >>> fusion
    QualityFusion: 1 systems, 1 quality measures, cllr 0.8311 at prior 0.5,
    4 targets, 4 non-targets
    >>> fused = fusion.apply([scores], [noise], key)
    """

    weights: Float64Array = attrs.field(**VECTOR)
    offset: float = attrs.field(**NUMBER)
    form: Float64Array = attrs.field(**MATRIX)
    centre: Float64Array = attrs.field(**VECTOR)
    spread: Float64Array = attrs.field(**VECTOR)
    qtrans: Float64Array | None = attrs.field(**MATRIX_OR_NONE)
    linear: LinearFusion = attrs.field(converter=_to_linear)

    @linear.validator
    def _check_sizes(self, attribute: "attrs.Attribute[Any]", linear: LinearFusion) -> None:
        """Raise unless all parts speak of as many systems and measures."""
        if not isinstance(linear, LinearFusion):
            raise invalid("linear", "be a LinearFusion", describe(linear))
        if linear.n_systems != self.n_systems:
            expected = f"fuse {self.n_systems} systems, as there are `weights`"
            raise invalid("linear", expected, f"{linear.n_systems}")
        size = self.centre.size
        if self.form.shape != (size + 1, size + 1) or not np.array_equal(self.form, self.form.T):
            expected = f"be symmetric, with {size} + 1 rows, one more than `centre`"
            raise invalid("form", expected, f"{self.form.tolist()}")
        if self.spread.shape != (size,) or not (self.spread > 0.0).all():
            expected = f"hold {size} positive numbers, one for each in `centre`"
            raise invalid("spread", expected, f"{self.spread.tolist()}")
        if self.qtrans is not None and len(self.qtrans) != size:
            expected = f"have {size} rows, one for each in `centre`"
            raise invalid("qtrans", expected, f"{len(self.qtrans)}")

    @classmethod
    def fit_scores(
        cls,
        systems: Systems,
        qualities: Qualities,
        key: AnyKey,
        *,
        qtrans: npt.ArrayLike | None = None,
        conditions: Conditions | None = None,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
        ridge: float = 0.0,
        linear: LinearFusion | None = None,
    ) -> "QualityFusion":
        r"""Train the weights of systems and quality measures together.

        Parameters
        ----------
        systems : sequence of Scores or FlatScores
            The scores of each system, for every trial of the key.
        qualities : sequence of QualityMeasures or SegmentQuality
            Quality measures, which are put together. A SegmentQuality describes the test
            segments; where only it is known, there is no information on the model side.
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        qtrans : (p, q) array_like of float, optional
            Replaces the q measures by p linear combinations of them, for models and
            segments alike. By default they are used as they are.
        conditions, prior, objective, tar_weights, non_weights
            As for `LinearFusion.fit_scores`.
        ridge : float, default: 0.0
            As for `LinearFusion.fit`; standardised quality features count like systems.
        linear : LinearFusion, optional
            The fusion for trials without quality measures. By default it is
            trained on all trials of the key, with the same settings.

        Returns
        -------
        QualityFusion

        Raises
        ------
        TrialMismatchError
            If a system lacks scores of the key's trials, or no target or no non-target
            has quality measures.
        InvalidInputError
            As for `LinearFusion.fit`; or if there are no quality measures, one that is
            wanted is not finite, or `qtrans` does not fit them.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of the key have no quality measures, with counts.
            The trials are left out of the training, but for that of `linear`.
        SeparableDataWarning, ConvergenceWarning
            As for `LinearFusion.fit`, of either fusion.

        Notes
        -----
        The q measures give :math:`q (q + 3) / 2` features besides the scores: of each
        measure the sum of both sides, of each two measures (and of each with itself) the
        symmetric product. A feature that is constant, or a linear combination of scores
        and earlier features, gets the weight zero: measures that do not vary, on
        one side or on both, do no harm. Models, or segments, that are fewer than the
        measures plus one make features collinear by chance: then all that vary are kept,
        and the shortest of the equally good standardised weights are taken, with a
        ConvergenceWarning, as in `LinearFusion`.

        Features are computed in blocks of trials whenever they are needed: however many there
        are, memory beyond the scores is a few small integers for each trial. The Hessian has
        the size of the number of features squared; hundreds of measures call for `qtrans`.
        """
        settings: dict[str, Any] = {"prior": prior, "objective": objective, "ridge": ridge}
        tar, non = stack_tar_non(systems, key)
        weights = class_weights(conditions, tar_weights, non_weights, key)
        sizes = {"tar_weights": key.n_tar, "non_weights": key.n_non}
        # Both fusions see weights of moderate size: only proportions count, squares overflow.
        tar_weights, non_weights = (
            None if checked is None else moderate_weights(checked)
            for checked in map(as_weights, weights, sizes.values(), sizes)
        )
        measures = _look_up_measures(qualities, key, qtrans)
        if linear is None:
            linear = LinearFusion.fit(
                tar, non, tar_weights=tar_weights, non_weights=non_weights, **settings
            )
        elif not isinstance(linear, LinearFusion):
            raise invalid("linear", "be a LinearFusion", describe(linear))
        elif linear.n_systems != len(tar):
            raise invalid("linear", f"fuse {len(tar)} systems", f"one of {linear.n_systems}")
        # NaN and what is too large, which a given `linear` has not seen. NaN fails both tests.
        for stack in (tar, non):
            if stack.size and not (stack.min() >= -LARGEST_SCORE and stack.max() <= LARGEST_SCORE):
                refuse_non_finite(tar, non)
        if measures.n_missing:
            message = f"Quality fusion training has {measures.n_missing} missing trials."
            warn_caller(message, MissingTrialsWarning)
        labels = key.trial_labels()
        classes = [
            _trained_part("target", labels, tar, tar_weights, measures),
            _trained_part("non-target", ~labels, non, non_weights, measures),
        ]
        # Centre and spread of what is trained on: other ids of the key must not shift them.
        models, segments = (
            np.unique(np.concatenate([part[side] for part in classes])) for side in (1, 2)
        )
        sides = measures.modelQ[:, models], measures.segQ[:, segments]
        centre, spread = measure_scale(*sides)
        # The last row, of ones, makes the linear terms and the offset of the quadratic form.
        model_measures, segment_measures = (
            np.vstack((side, np.ones((1, side.shape[1]))))
            for side in _standardise(measures, centre, spread)
        )
        entries = form_entries(len(centre))
        designs = [
            QualityDesign(*part[:3], model_measures, segment_measures, entries) for part in classes
        ]
        probability, plo = resolve_prior(prior)
        rule = scoring_rule(objective)
        # Training takes blocks of trials only, and so can do with a design instead of an array.
        tar_design, non_design = cast("list[FloatArray]", designs)
        training = TrainingObjective(
            rule=rule,
            prior=probability,
            plo=plo,
            tar=tar_design,
            non=non_design,
            tar_weights=classes[0][3],
            non_weights=classes[1][3],
        )
        solution = train_quality(training, ridge, few_points=any(map(has_too_few_points, sides)))
        return cls(
            weights=mark_read_only(solution.linear.weights[: len(tar)].copy()),
            offset=solution.linear.offset,
            form=mark_read_only(solution.form),
            centre=mark_read_only(centre),
            spread=mark_read_only(spread),
            qtrans=None if qtrans is None else as_matrix(qtrans, "qtrans").astype(np.float64),
            linear=linear,
            prior=probability,
            objective=rule.name,
            objective_value=solution.linear.objective_value,
            ridge=solution.linear.ridge,
            n_tar=designs[0].shape[1],
            n_non=designs[1].shape[1],
        )

    @property
    def n_systems(self) -> int:
        """Number of systems that are fused."""
        return int(self.weights.size)

    @property
    def n_measures(self) -> int:
        """Number of quality measures that are wanted, before they are mixed."""
        return int(self.centre.size if self.qtrans is None else self.qtrans.shape[1])

    @property
    def toolkit_weights(self) -> Float64Array:
        """The weights as the MATLAB toolkit orders them, for measures as they are.

        Weights of the systems, offset, then the lower triangle of a matrix L, column
        after column, with S = L + L'; so the entries on its diagonal are half of those
        of S. The last one is 0: it would be a second offset. (In the toolkit the two share
        the sum, offset + 2 * last, in a way that depends on the optimiser.)
        """
        # q'S r of standardised measures is q'(A'S A) r of raw ones, A the affine map.
        raw = in_raw_units(self.form, self.centre, self.spread)
        offset = self.offset + raw[-1, -1]
        raw[-1, -1] = 0.0
        return np.concatenate((self.weights, [offset], triangle_from_form(raw)))

    @overload
    def apply(
        self, systems: Systems, qualities: Qualities, ndx: DenseTrials, *, backoff: Backoff = None
    ) -> Scores: ...
    @overload
    def apply(
        self, systems: Systems, qualities: Qualities, ndx: FlatTrials, *, backoff: Backoff = None
    ) -> FlatScores: ...
    def apply(
        self, systems: Systems, qualities: Qualities, ndx: AnyNdx, *, backoff: Backoff = None
    ) -> AnyScores:
        """Fuse the scores of several systems to log-likelihood-ratios.

        Parameters
        ----------
        systems, qualities
            As for `fit_scores`, in the order of the training.
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials to fuse.
        backoff : Scores or FlatScores, optional
            Log-likelihood-ratios for the trials that lack quality measures. By
            default those of the linear fusion.

        Returns
        -------
        Scores or FlatScores
            Natural-log likelihood-ratios in the form of `ndx`, with its models, segments
            and trials.

        Raises
        ------
        InvalidInputError
            If the number of systems or measures is wrong, a score is NaN, a measure
            that is wanted is not finite, or a fused score is the difference of two
            infinite ones.
        TrialMismatchError
            If a system lacks scores of the trials in `ndx`; says how many for each.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials have no quality measures, with counts. Those
            trials get the score of the linear fusion, or of `backoff`.
        """
        check_trials(ndx)
        stack = stack_scores(systems, ndx)
        if len(stack) != self.n_systems:
            expected = f"hold the scores of {self.n_systems} systems, as in training"
            raise invalid("systems", expected, f"{len(stack)}")
        measures = _look_up_measures(qualities, ndx, self.qtrans, self.n_measures)
        # The scores' part is a linear fusion with the weights trained beside the measures.
        joint = attrs.evolve(self.linear, weights=self.weights, offset=self.offset)
        # Equation 30 of the user guide: the weighted sum, then the quality term.
        llrs = joint.apply(stack)
        sides = _standardise(measures, self.centre, self.spread)
        llrs += trial_quality_term(self.form, *sides, measures.models, measures.segments)
        if measures.n_missing:
            message = (
                f"Quality missing for {measures.n_missing} of {llrs.size} trials, "
                "substituting backoff scores."
            )
            warn_caller(message, MissingTrialsWarning)
            if backoff is None:
                simple = self.linear.apply(stack)
            else:
                (simple,) = stack_scores([backoff], ndx)
            llrs = np.where(measures.covered, llrs, simple)
        return assemble(llrs, ndx)

    def __repr__(self) -> str:
        """Show the numbers of systems and measures and how good the fusion was in training."""
        return (
            f"{type(self).__name__}: {self.n_systems} systems, {self.n_measures} quality "
            f"measures, {self._describe_training()}"
        )
