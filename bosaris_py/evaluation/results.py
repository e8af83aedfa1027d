"""The metrics of one detector on its sample, each computed once; and scores split by labels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import Executor

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import Answer, ArrayLike, FilePath, FloatArray, read_only
from bosaris_py.files.columns import as_labels
from bosaris_py.metrics.costs import Cllr, not_calibrated, unseen_costs
from bosaris_py.metrics.ranks import AUC, cannot_show, inverted
from bosaris_py.numerics import ROC, ROCCH, Threshold
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.trials import Key, Sample, Scores
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.key import as_key
from bosaris_py.trials.large import TrialFiles, as_pairs
from bosaris_py.trials.large_sample import LargeSample
from bosaris_py.trials.scores import to_natural


def split_by_labels(
    labels: ArrayLike | Sequence[object], scores: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Split the scores of all trials into those of targets and those of non-targets.

    Parameters
    ----------
    labels : (n,) array_like of bool, int or str
        Which trials are targets: truth values, 1 and 0, 1 and -1, or words as in files, such as
        ``"target"`` and ``"nontarget"``.
    scores : (n,) array_like of float
        The score of each trial; no NaN.

    Returns
    -------
    tar, non : (n_tar,), (n_non,) ndarray of float32 or float64
        The scores of the two classes, in their order.

    Examples
    --------
    >>> tar, non = split_by_labels([1, 0, 1], [2.0, -1.0, 3.0])
    >>> tar.tolist(), non.tolist()
    ([2.0, 3.0], [-1.0])
    """
    check.check_same_rows({"scores": scores, "labels": labels})
    is_target = as_labels(labels, "labels")
    values = check.as_vector(scores, "scores")
    if is_target.size != values.size:
        expected = f"hold one label for each of the {values.size} scores"
        raise check.invalid("labels", expected, f"{is_target.size} labels")
    # The position in this list, where that among the targets would say little.
    check.refuse_nan(values, "scores")
    return values[is_target], values[~is_target]


@attrs.frozen(eq=False, init=False, repr=False)
class Results:
    """The performance of one detector on one set of trials.

    Each class is sorted once, when a metric first needs it; every metric after that costs little.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores, for `act_dcf` and `cllr` natural-log likelihood-ratios; no NaN, +-inf
        allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.
    base : float, optional
        Base of the log-likelihood-ratios, such as 10; by default they are natural.

    Warns
    -----
    SuspectScoresWarning
        Once, when a figure is first asked for: those that rank scores as for `eer`, `act_dcf` and
        `cllr` as for these functions.

    Notes
    -----
    Costs are normalized unless `normalize` is False. BOSARIS: ``Results.m``.

    Examples
    --------
    >>> results = Results([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])
    >>> results
    Results: 3 targets, 3 non-targets, EER 0.1667, Cllr 0.8, minCllr 0.3333
    >>> float(results.min_dcf(0.5))
    0.3333333333333333
    >>> results.min_dcf_threshold(0.5)
    Threshold(1.0, pmiss=0, pfa=0.333333)
    """

    sample: Sample
    # Who made them has warned what is strange about the scores.
    _warned: bool = False

    def __init__(
        self,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        tar_weights: ArrayLike | None = None,
        non_weights: ArrayLike | None = None,
        base: float | None = None,
    ) -> None:
        lists = check.as_score_lists(tar, non, tar_weights, non_weights)
        if base is not None:
            factor = check.log_of_base(base)
            lists = factor * lists[0].astype(np.float64), factor * lists[1].astype(np.float64)
        # What the caller may change is copied.
        given = (tar_weights, non_weights)
        weights = (None if w is None else np.array(check.as_list(w)) for w in given)
        self.__attrs_init__(Sample.from_scores(*map(read_only, lists), *weights))

    @classmethod
    def from_labels(
        cls, labels: ArrayLike | Sequence[object], scores: ArrayLike, *, base: float | None = None
    ) -> "Results":
        """Evaluate the scores of all trials in one list, with a label for each.

        Parameters
        ----------
        labels, scores : (n,) array_like
            As for `split_by_labels`.
        base : float, optional
            Base of the log-likelihood-ratios, such as 10; by default they are natural.

        Returns
        -------
        Results

        Examples
        --------
        >>> Results.from_labels(["target", "nontarget", "target"], [2.0, -1.0, 3.0]).n_tar
        2
        """
        return cls(*split_by_labels(labels, scores), base=base)

    @classmethod
    def from_sample(cls, sample: Sample, *, warned: bool = False) -> "Results":
        """Evaluate trials that do not lie in two lists.

        Parameters
        ----------
        sample : Sample
            The scored trials of one system.
        warned : bool, default: False
            What is strange about the scores has been said: figures do not warn.

        Returns
        -------
        Results
        """
        results = cls.__new__(cls)
        results.__attrs_init__(sample, warned)
        return results

    @classmethod
    def from_scores(
        cls,
        scores: Scores,
        key: Key,
        conditions: ConditionsLike = None,
        *,
        base: float | None = None,
    ) -> "Results":
        """Evaluate the scores of the trials in a key.

        Parameters
        ----------
        scores : Scores
            Scores of at least some of the key's trials.
        key : Key
            Which trials are targets and which non-targets; spoofs are left out.
        conditions : Conditions, optional
            Count each condition with its weight, whatever its number of trials; see
            `bosaris_py.Conditions`. By default all trials count alike.
        base : float, optional
            Base of the log-likelihood-ratios, such as 10; by default they are natural.

        Returns
        -------
        Results

        Raises
        ------
        TrialMismatchError
            If trials of the key are in several conditions or in none, or a condition has no trial.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts. They are left out of all figures.
        MissingTrialsWarning
            If conditions have trials of one class only.
        """
        own = as_key(key).bona_fide()
        sample = Sample.from_trials(to_natural(scores, base), own, conditions)
        errors.warn(sample.notes)
        return cls.from_sample(sample)

    @classmethod
    def from_files(
        cls,
        score_files: FilePath | Sequence[FilePath],
        key_files: FilePath | Sequence[FilePath],
        *,
        prior: PriorLike | None = None,
        base: float | None = None,
        workers: int = 1,
        executor: Executor | None = None,
        progress: bool = False,
    ) -> "Results":
        """Evaluate score files of any size, in memory that does not grow with them.

        The files are read twice, by blocks of rows. Counts, and so all metrics that rank scores,
        are those of `from_scores` exactly; Cllr agrees to 1e-12. Neither depends on where it runs.

        Parameters
        ----------
        score_files : str, path-like, or sequence of these
            HDF5 file of a `Scores`; several are evaluated as one set of trials.
        key_files : str, path-like, or sequence of these
            HDF5 file of the `Key` to judge it by; for several score files,
            one for each. Ids may come in any order; the same order is read faster.
        prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
            Operating points at which actual costs will be asked for. At others the files are read a
            third time, except at those of a Bayes plot with the horizontal axis that it has by
            default.
        base : float, optional
            Base of log-likelihood-ratios, such as 10, which are read as natural logarithms.
        workers, executor, progress
            As for `LinearCalibration.fit_files <bosaris_py.LinearCalibration.fit_files>`.

        Returns
        -------
        Results

        Raises
        ------
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.

        Warns
        -----
        MissingTrialsWarning
            As for `from_scores`, with counts.

        Notes
        -----
        Memory: some numbers for each target, and a block for each worker.
        """
        files = TrialFiles.open(
            as_pairs(score_files, key_files),
            base,
            workers=workers,
            executor=executor,
            progress=progress,
        )
        sample = LargeSample.from_files(files, prior)
        errors.warn(sample.notes)
        return cls.from_sample(sample)

    def __repr__(self) -> str:
        """Show the counts and the three figures that need no operating point."""
        return (
            f"Results: {self.n_tar} targets, {self.n_non} non-targets, "
            f"EER {self.eer:.4g}, Cllr {self.cllr:.4g}, minCllr {self.min_cllr:.4g}"
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials, those of weight 0 left out."""
        return self.sample.n_tar

    @property
    def n_non(self) -> int:
        """Number of non-target trials, those of weight 0 left out."""
        return self.sample.non.n_trials

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        return self.sample.roc()

    @property
    def rocch(self) -> ROCCH:
        """The ROC's convex hull."""
        return self._ranks.hull

    @functools.cached_property
    def _ranks(self) -> Sample:
        """The sample; warns once of inverted scores."""
        errors.warn([] if self._warned else inverted(self.sample))
        return self.sample

    @functools.cached_property
    def _llrs(self) -> Sample:
        """The sample; warns once of scores that cannot be log-likelihood-ratios."""
        # Of inverted scores no calibration makes good ones, and the ranks warn of these.
        warned = self._warned or inverted(self.sample)
        errors.warn([] if warned else not_calibrated(self.sample))
        return self.sample

    @property
    def eer(self) -> float:
        """Equal error rate on the convex hull, a fraction; see `bosaris_py.eer`."""
        # Theory paper, equation 26: the largest minDCF over all priors.
        return self.rocch.eer

    @property
    def prbep(self) -> float:
        """Precision-recall break-even point, a number of errors; see `bosaris_py.prbep`."""
        # Theory paper, equation 29.
        return self.rocch.prbep

    @functools.cached_property
    def auc(self) -> float:
        """Area under the ROC; see `bosaris_py.auc`."""
        return AUC().computed(self.sample)

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits; see `bosaris_py.cllr`."""
        return Cllr().computed(self._llrs)

    @property
    def min_cllr(self) -> float:
        """Cllr after optimal recalibration, in bits; see `bosaris_py.min_cllr`."""
        return self.rocch.min_cllr

    @property
    def calibration_loss(self) -> float:
        """What calibration adds to Cllr, in bits: `cllr` - `min_cllr`."""
        return self.cllr - self.min_cllr

    @property
    def eer_threshold(self) -> Threshold:
        """Threshold where the larger of both error-rates is smallest, with those rates.

        In general no single threshold attains the EER, which lies between two.
        """
        return self.roc.eer_threshold

    def act_dcf(
        self,
        prior: PriorLike,
        normalize: bool = True,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    ) -> Answer:
        """Compute the cost of Bayes decisions; see `bosaris_py.act_dcf`.

        Parameters
        ----------
        prior, normalize
            As for `bosaris_py.act_dcf`.

        Returns
        -------
        float or (k,) ndarray of float64
            Actual DCF; scores are taken as log-likelihood-ratios.
        """
        costs = DecisionCosts.from_prior(prior)
        self._warn_of_costs(prior)
        return costs.cost(*self._llrs.rates(costs.thresholds), normalize=normalize)

    def min_dcf(
        self,
        prior: PriorLike,
        normalize: bool = True,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    ) -> Answer:
        """Compute the minimum cost over all thresholds; see `bosaris_py.min_dcf`.

        Parameters
        ----------
        prior, normalize
            As for `bosaris_py.min_dcf`.

        Returns
        -------
        float or (k,) ndarray of float64
        """
        self._warn_of_costs(prior)
        # Theory paper, last line of equation 25: one of the hull's vertices is best.
        return self.rocch.min_dcf(prior, normalize=normalize)

    def _warn_of_costs(self, prior: PriorLike) -> None:
        """Warn of costs that so few trials cannot show."""
        errors.warn([] if self._warned else unseen_costs(self.sample, prior))

    def min_dcf_threshold(self, prior: PriorLike) -> Threshold:
        """Return the threshold of minimum cost at one operating point, with its error-rates.

        Parameters
        ----------
        prior
            As for `ROCCH.min_dcf_threshold <bosaris_py.ROCCH.min_dcf_threshold>`.

        Returns
        -------
        Threshold
            A target score, or -inf (accept all) or inf (reject all).
        """
        return self.rocch.min_dcf_threshold(prior)

    def threshold_at(
        self, *, pmiss: ArrayLike | None = None, pfa: ArrayLike | None = None
    ) -> Threshold | list[Threshold]:
        """Find the best threshold within a limit of one error-rate.

        Parameters
        ----------
        pmiss, pfa : float or (k,) array_like of float, optional
            Largest error-rate allowed, in [0, 1]; exactly one, as for `ROC.threshold_at`.

        Returns
        -------
        Threshold or list of Threshold
            A float that carries the error-rates that hold at it; of an array a list.

        Warns
        -----
        FewErrorsWarning
            If the trials cannot show so low a rate: less than one of them may err. Costs warn
            likewise.
        """
        which = "pmiss" if pfa is None else "pfa"
        asked = {"pmiss": pmiss, "pfa": pfa}
        rates = np.asarray(asked[which])
        found = [self.roc.threshold_at(**{**asked, which: rate}) for rate in rates.ravel().tolist()]
        one = self.sample.tar if pfa is None else self.sample.non
        errors.warn(cannot_show(one, which, rates[rates > 0].min(initial=1.0)))
        return found if rates.ndim else found[0]

    def error_rates_at(self, thresholds: ArrayLike) -> tuple[Answer, Answer]:
        """Return both error-rates at given thresholds; see `bosaris_py.error_rates_at`.

        Parameters
        ----------
        thresholds : float or array_like of float
            Accept iff score >= threshold; any order.

        Returns
        -------
        pmiss, pfa : float or ndarray of float64, like `thresholds`
        """
        limits = check.as_float_array(thresholds, "thresholds").astype(np.float64, copy=False)
        check.refuse_nan(np.atleast_1d(limits), "thresholds")
        pmiss, pfa = self.sample.rates(limits)
        return pmiss[()], pfa[()]

    def to_dict(self) -> dict[str, float]:
        """Return the results as plain numbers, for JSON or any table library.

        Returns
        -------
        dict
            ``n_tar``, ``n_non``, ``eer``, ``eer_threshold``, ``prbep``, ``auc``, ``cllr``,
            ``min_cllr``.
        """
        names = ("n_tar", "n_non", "eer", "prbep", "auc", "cllr", "min_cllr")
        # A plain number, without the error-rates at the threshold.
        eer_threshold = float(self.eer_threshold)
        return {name: getattr(self, name) for name in names} | {"eer_threshold": eer_threshold}
