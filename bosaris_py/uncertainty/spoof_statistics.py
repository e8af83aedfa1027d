"""Statistics of three classes: targets, zero-effort impostors and spoofs.

Each is a statistic of two classes on a view of the sample: with shares of both kinds of
non-targets, with one kind only, or with both pooled. So it has all ways of that statistic: closed
form, bootstraps, studentised intervals and paired tests.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import ClassVar

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.evaluation.third_class as third_class
from bosaris_py._validation import as_flag, one_of
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.evaluation.plans.evaluation_plan import EvaluationPlan
from bosaris_py.files.labels import NON_TARGET_KINDS
from bosaris_py.numerics.priors import SPOOF_COSTS, SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.statistics.class_means import ActDCF
from bosaris_py.uncertainty.statistics.roc_functions import MinDCF, statistic_of_eer
from bosaris_py.uncertainty.statistics.statistic import Statistic


@attrs.frozen
class SpoofStatistic(abc.ABC):
    """Base of the statistics of three classes.

    Where scores come with a pair (key, metadata), the metadata tell the kinds of trials in the
    column ``kind``, as ``read_key(path, spoof="keep")`` gives them.
    """

    # What it is called below tables.
    words: ClassVar[str]
    # The function that computes the statistic, with the fields as its keyword arguments.
    _of_scores: ClassVar[Callable[..., float]]
    # How the kinds of non-targets share the false-alarm rate.
    _shares: ClassVar[tuple[float, ...]]

    @property
    @abc.abstractmethod
    def plain(self) -> Statistic:
        """The statistic of two classes that a view of the sample has."""

    def view(self, sample: ListedSample) -> ListedSample:
        """Return the targets and non-targets of a sample with kinds.

        Parameters
        ----------
        sample : ListedSample
            With kinds of non-targets.

        Returns
        -------
        ListedSample
        """
        return sample.with_shares(*self._shares)

    def __call__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        spoof: npt.ArrayLike | None = None,
        **kinds: npt.ArrayLike,
    ) -> float:
        """Compute the statistic of the scores of targets, and of each kind of non-targets."""
        return self._of_scores(tar, non, spoof, **kinds, **attrs.asdict(self, recurse=False))


def to_costs(costs: SpoofCostsLike) -> SpoofCosts:
    """Return costs, which may be named."""
    return SpoofCosts.named(costs)


@attrs.frozen
class _OfCosts(SpoofStatistic):
    costs: SpoofCosts = attrs.field(default=SPOOF_COSTS["a-DCF1"], converter=to_costs)
    normalize: bool = attrs.field(default=True, converter=as_flag, kw_only=True)

    _of_two: ClassVar[type[MinDCF] | type[ActDCF]]

    @property
    def _shares(self) -> tuple[float, ...]:  # type: ignore[override]
        return self.costs.kind_shares

    @property
    def plain(self) -> Statistic:
        """The cost of two classes."""
        return self._of_two(self.costs.decision, normalize=self.normalize)


@attrs.frozen
class ADCF(_OfCosts):
    """Minimum architecture-agnostic detection cost.

    Parameters
    ----------
    costs : SpoofCosts or str, default: "a-DCF1"
        Priors and costs, or their name.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    See Also
    --------
    bosaris_py.a_dcf : The same number as a function.

    Examples
    --------
    >>> round(ADCF()([1.0, 3.0], [0.0, 0.5], [0.0, 2.0]), 12)
    0.5
    """

    words = figure_of("a_dcf").name
    _of_scores = staticmethod(third_class.a_dcf)
    _of_two = MinDCF


@attrs.frozen
class ActADCF(_OfCosts):
    """Architecture-agnostic detection cost of Bayes decisions.

    Parameters
    ----------
    costs, normalize
        As for `ADCF`.

    See Also
    --------
    bosaris_py.act_a_dcf : The same number as a function.

    Examples
    --------
    >>> round(ActADCF()([1.0, 3.0], [0.0, 0.5], [0.0, 2.0]), 12)
    0.555555555556
    """

    words = figure_of("act_a_dcf").name
    _of_scores = staticmethod(third_class.act_a_dcf)
    _of_two = ActDCF


@attrs.frozen
class _OfRates(SpoofStatistic):
    # The kind of non-targets that count, where it is one.
    _kind: ClassVar[str] = ""

    definition: EERDefinition = attrs.field(default="rocch", validator=one_of(EERDefinition))

    @property
    def _shares(self) -> tuple[float, ...]:  # type: ignore[override]
        return tuple(float(kind.word == self._kind) for kind in NON_TARGET_KINDS)

    @property
    def plain(self) -> Statistic:
        """The equal error rate of two classes."""
        return statistic_of_eer(self.definition)


def statistics_of_plan(
    plan: EvaluationPlan, eer: EERDefinition = "rocch"
) -> dict[str, SpoofStatistic]:
    """Return the statistic of each figure of a plan of three classes.

    Parameters
    ----------
    plan : EvaluationPlan
        With figures.
    eer : {"rocch", "interpolated", "step"}, default: "rocch"
        The definition of equal error rates.

    Returns
    -------
    dict
    """
    known: dict[str, SpoofStatistic] = {"sv_eer": SVEER(eer), "spf_eer": SPFEER(eer)}
    known |= {"sasv_eer": SASVEER(eer), "cm_eer": BonafideEER(eer)}
    if plan.spoof_costs is not None:
        options = {"normalize": plan.normalize}
        known["a_dcf"] = ADCF(plan.spoof_costs, **options)
        known["act_a_dcf"] = ActADCF(plan.spoof_costs, **options)
    return {name: known[name] for name in plan.figures}


@attrs.frozen
class SVEER(_OfRates):
    """Equal error rate of targets and zero-effort impostors.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant, see `bosaris_py.eer`.

    See Also
    --------
    bosaris_py.sv_eer : The same number as a function.

    Examples
    --------
    >>> SVEER()([1.0, 3.0], [0.0, 2.0])
    0.25
    """

    words = figure_of("sv_eer").name
    _of_scores = staticmethod(third_class.sv_eer)
    _kind = "nontarget"


@attrs.frozen
class SPFEER(_OfRates):
    """Equal error rate of targets and spoofs.

    Parameters
    ----------
    definition
        As for `SVEER`.

    See Also
    --------
    bosaris_py.spf_eer : The same number as a function.

    Examples
    --------
    >>> SPFEER()([1.0, 3.0], [0.5], [0.0, 2.0])
    0.25
    """

    words = figure_of("spf_eer").name
    _of_scores = staticmethod(third_class.spf_eer)
    _kind = "spoof"


@attrs.frozen
class SASVEER(_OfRates):
    """Equal error rate of targets, and both kinds of non-targets pooled.

    Parameters
    ----------
    definition
        As for `SVEER`.

    See Also
    --------
    bosaris_py.sasv_eer : The same number as a function.

    Examples
    --------
    >>> round(SASVEER()([1.0, 3.0], [0.0, 2.0], [0.0, 0.0]), 12)
    0.166666666667
    """

    words = figure_of("sasv_eer").name
    _of_scores = staticmethod(third_class.sasv_eer)

    def view(self, sample: ListedSample) -> ListedSample:
        """Take all non-targets alike."""
        return sample.with_kinds_pooled()


@attrs.frozen
class BonafideEER(_OfRates):
    """Equal error rate of bona fide speech and spoofs: that of a countermeasure alone.

    Its trials are utterances: targets are bona fide, and every non-target is a spoof.

    Parameters
    ----------
    definition
        As for `SVEER`.

    Examples
    --------
    >>> BonafideEER()([1.0, 3.0], [], [0.0, 2.0])
    0.25
    """

    words = figure_of("cm_eer").name

    @staticmethod
    def _of_scores(
        tar: npt.ArrayLike, non: npt.ArrayLike, spoof: npt.ArrayLike, *, definition: EERDefinition
    ) -> float:
        bona_fide = np.concatenate([np.asarray(tar, float), np.asarray(non, float)])
        return third_class.spf_eer(bona_fide, None, spoof, definition=definition)

    def view(self, sample: ListedSample) -> ListedSample:
        """Return a sample of two classes as it is."""
        return sample
