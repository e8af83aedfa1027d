"""Figures of a threshold of another set, their intervals and tests."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

import attrs
import numpy as np
import scipy

import bosaris_py.uncertainty.bootstrap_result as bootstrap_result
import bosaris_py.uncertainty.decisions as decisions
from bosaris_py._arrays import Float64Array, IntArray
from bosaris_py._cautions import hushed
from bosaris_py._tables import Table, or_none
from bosaris_py._validation import check_choice, check_fraction, describe, invalid
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, TrialMismatchError
from bosaris_py.evaluation import transfer
from bosaris_py.evaluation.results import Results
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.sample import ListedSample, Sample
from bosaris_py.uncertainty.bootstrap_result import Alternative, Interval, ZTest
from bosaris_py.uncertainty.decisions import Decisions, ErrorCounts
from bosaris_py.uncertainty.threshold_transfer.closed_form import (
    ErrorsAt,
    refuse_common_speakers,
    thresholds_left_open,
)
from bosaris_py.uncertainty.threshold_transfer.draws import DrawnSet, draw_thresholds, draw_weights

Figure = Literal["threshold", "far", "frr", "hter", "cost", "own_minimum", "regret"]


Drawn = Literal["both", "test"]


TransferMethod = Literal["corrected", "percentile", "speakers", "trials", "naive", "class"]


ReplicateInterval = Literal["corrected", "percentile"]


TransferTest = Literal["paired", "independent", "dependent", "stricter", "naive", "class"]


FIGURES: tuple[Figure, ...] = get_args(Figure)


FEWEST_REPLICATES = 2


_NAMES = {"far": "FAR", "frr": "FRR", "hter": "HTER", "own_minimum": "own minimum"}


# ---- Figures and their intervals


def _corrected(replicates: Float64Array, estimate: float, confidence: float) -> tuple[float, float]:
    """Return percentiles of replicates, corrected for their bias."""
    # Where a share p of the replicates lies below the estimate, the levels are Phi(z_p -+ z). By
    # Efron and Tibshirani 1993, section 14.3, they would be moved by 2 z_p; half as much covers
    # best, see `benchmarks/transfer_study.py` of b4de7a22. What is equal but for
    # rounding counts half.
    moved = replicates - estimate
    rounding = max(transfer.ROUNDING * abs(estimate), np.finfo(float).tiny)
    below, within = (np.count_nonzero(moved < end) for end in (-rounding, rounding))
    n, share = replicates.size, 0.5 * (below + within) / replicates.size
    shift = scipy.special.ndtri(min(max(share, 0.5 / n), 1.0 - 0.5 / n))
    z = scipy.special.ndtri(0.5 + 0.5 * confidence)
    low, high = bootstrap_result.quantile(replicates, scipy.special.ndtr([shift - z, shift + z]))
    return float(low), float(high)


@attrs.frozen(eq=False)
class _Replicates:
    """The figures of each replicate, of both sets drawn and of the test set alone."""

    both: Mapping[str, Float64Array]
    test: Mapping[str, Float64Array]

    @classmethod
    def of(
        cls,
        sets: "tuple[DrawnSet, DrawnSet]",
        chosen: transfer.ChosenThreshold,
        rule: transfer.ThresholdRule,
        point: OperatingPoint,
        weights: tuple[IntArray, IntArray],
    ) -> "_Replicates":
        """Make the figures of drawn weights."""
        (dev, test), (of_dev, of_test) = sets, weights
        prices = decisions.prices_of(point)
        minima = test.minima(point, of_test)
        fixed = _figures(test.fixed_rates(chosen.value, of_test)[:, 0], prices, minima)
        if rule.kind == "bayes":
            always = np.full(minima.size, chosen.value)
            return cls({"threshold": always, **fixed}, fixed)
        thresholds = draw_thresholds(dev, rule, np.array([prices]), of_dev)
        figures = _figures(test.rates(thresholds, of_test)[:, 0], prices, minima)
        return cls({"threshold": thresholds[:, 0], **figures}, fixed)


def _figures(
    rates: Float64Array, prices: tuple[float, float], minima: Float64Array
) -> dict[str, Float64Array]:
    frr, far = rates[..., 0], rates[..., 1]
    cost = prices[0] * frr + prices[1] * far
    return {
        "far": far,
        "frr": frr,
        "hter": 0.5 * (frr + far),
        "cost": cost,
        "own_minimum": np.where(np.isnan(cost), np.nan, minima),
        # A cost that is the minimum differs from it by rounding.
        "regret": np.maximum(cost - minima, 0.0),
    }


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Transfer(Table):
    """What the threshold of one set costs on another; made by `transfer` or `from_counts`.

    Parameters
    ----------
    chosen : ChosenThreshold or None
        The threshold, the gap of scores it lies in, and both rates on the development set.
    rule : str
        How it was chosen.
    point : OperatingPoint
        The prior and the costs of `cost`.
    errors : ErrorCounts
        How many errors of the test set are made at the threshold; not weighted by conditions.
    frr, far : float
        Miss rate and false-alarm rate on the test set.
    own_minimum : float
        The least cost that a threshold chosen on the test set has there.
    confidence : float
        Of the intervals.
    replications : int
        Number of replicates; 0 without.
    n_speakers : tuple of two ints, or None
        Number of speakers of dev and of test who are drawn.
    samples, sets, replicates, interval, seed
        What `transfer` was given and has drawn, for `interval` and `compare`.
    """

    chosen: transfer.ChosenThreshold | None
    rule: str
    point: OperatingPoint
    errors: ErrorCounts
    frr: float
    far: float
    own_minimum: float
    confidence: float = 0.95
    replications: int = 0
    n_speakers: tuple[int, int] | None = None
    _samples: tuple[Sample, Sample] | None = None
    _sets: tuple[DrawnSet, DrawnSet] | None = None
    _replicates: _Replicates | None = None
    _interval: ReplicateInterval = "corrected"
    _seed: int = 0

    @classmethod
    def from_counts(
        cls,
        errors: ErrorCounts,
        *,
        point: OperatingPoint | float = 0.5,
        rule: str = "eer",
        confidence: float = 0.95,
    ) -> "Transfer":
        """Take the errors of a test set as they are printed, for the intervals and tests of papers.

        Parameters
        ----------
        errors : ErrorCounts
            Errors at the threshold of another set; see `ErrorCounts.from_rates`.
        point, rule, confidence
            As for `transfer`.

        Returns
        -------
        Transfer
            Its threshold and own minimum are NaN.
        """
        given: object = errors
        if not isinstance(given, ErrorCounts):
            raise invalid("errors", "be ErrorCounts", describe(given))
        return cls(
            chosen=None,
            rule=str(transfer.ThresholdRule.parse(rule)),
            point=as_point(point),
            errors=errors,
            frr=errors.pmiss,
            far=errors.pfa,
            own_minimum=math.nan,
            confidence=check_fraction(confidence, "confidence"),
        )

    @property
    def threshold(self) -> float:
        """The threshold that the development set chose; accept iff score >= threshold."""
        return math.nan if self.chosen is None else self.chosen.value

    @property
    def gap(self) -> tuple[float, float]:
        """The neighbouring scores of the development set between which the threshold lies."""
        return (math.nan, math.nan) if self.chosen is None else (self.chosen.low, self.chosen.high)

    @property
    def results(self) -> Results:
        """The results of the test set, such as its EER."""
        if self._samples is None:
            raise invalid("transfer", "have scores", "counts of errors only")
        return Results.from_sample(self._samples[1])

    @property
    def hter(self) -> float:
        """Half total error rate on the test set, (far + frr) / 2."""
        return 0.5 * (self.far + self.frr)

    @property
    def cost(self) -> float:
        """Detection cost on the test set at `point`, not normalized."""
        miss, alarm = decisions.prices_of(self.point)
        return miss * self.frr + alarm * self.far

    @property
    def regret(self) -> float:
        """What the cost exceeds `own_minimum` by: the price of not knowing the test set."""
        return max(self.cost - self.own_minimum, 0.0) if self.chosen else math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval of the cost, both sets drawn; NaN where there is none."""
        return self._cost_interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval of the cost, both sets drawn; NaN where there is none."""
        return self._cost_interval[1]

    @functools.cached_property
    def _cost_interval(self) -> tuple[float, float]:
        interval = self._known("cost", "both")
        return (interval.low, interval.high) if interval else (math.nan, math.nan)

    def _known(self, figure: Figure, drawn: Drawn) -> Interval | None:
        """Return the interval of a figure, None where there is none; `transfer` has warned."""
        try:
            with hushed(FewErrorsWarning):
                return self.interval(figure, drawn=drawn)
        except InvalidInputError:
            return None

    def interval(
        self,
        figure: Figure = "cost",
        *,
        drawn: Drawn = "both",
        confidence: float | None = None,
        method: TransferMethod | None = None,
    ) -> Interval:
        r"""Return the confidence interval of a figure.

        Parameters
        ----------
        figure : {"cost", "hter", "far", "frr", "own_minimum", "regret", "threshold"}
            Of which figure.
        drawn : {"both", "test"}, default: "both"
            Whether the development set is drawn, too. Of ``"test"`` alone an interval tells what
            other test sets would show at this very threshold.
        confidence : float, optional
            Strictly between 0 and 1; that of the result by default.
        method : str, optional
            ``"corrected"``: bias-corrected percentiles of the replicates; ``"percentile"``: their
            percentiles. By default what `transfer` was told, where there are any. Rates and costs
            also have closed forms: ``"speakers"``, as `speaker_errors`, the default without
            replicates where speakers were given; ``"trials"``, equations (13) and (14) of Bengio
            and Mariethoz, the default without speakers, where all trials weigh the same;
            ``"naive"`` (18) and ``"class"`` (17) of an HTER and the test set alone, for comparison.
            Of the own minimum ``"speakers"`` is the default.

        Returns
        -------
        Interval

        Raises
        ------
        InvalidInputError
            If a figure, a rule or a method needs replicates, and there are none, or needs
            speakers, as where trials weigh differently.

        Notes
        -----
        In closed form, the threshold of dev is open as far as the rate that its rule keeps is,
        and with "eer" the difference of both rates: from the interval of these there, by
        `speaker_errors`, follow two other thresholds. What the test set costs at these is what the
        choice adds to either end. Distances of the ends add up as standard errors do [1]_. This is
        the interval of a quantile by Woodruff [2]_, with no estimate of a density.

        The threshold of least cost, "min-cost", has no such form. There the cost of dev has no
        slope, and noise decides among neighbours. Its error falls as the cube root of the number of
        trials and is not normal [3]_. Neither has a dev set that shares speakers with the test set.

        With a share p of the replicates below the estimate, bias-corrected percentiles are those at
        :math:`\Phi(z_p \mp z_{1-\alpha/2})`. Replicates of a transferred cost lie too high: a
        threshold that is drawn misses the best one by more than the estimate does. Efron's
        correction is twice as large; it covers too little. Replicates of a regret lie above it,
        also where it is chance: its lower end is at most :math:`2 \hat\theta - q_{1-\alpha/2}`.
        Where a class has no errors, or nothing else, the ends count with
        :math:`1 - (\alpha/2)^{1/K}` for K speakers of the test set.

        References
        ----------
        .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
           general approach", Statistics in Medicine 27, 2008, doi:10.1002/sim.3095.
        .. [2] R. S. Woodruff, "Confidence intervals for medians and other position measures",
           Journal of the American Statistical Association 47, 1952,
           doi:10.1080/01621459.1952.10483443.
        .. [3] J. Kim and D. Pollard, "Cube root asymptotics", Annals of Statistics 18, 1990,
           doi:10.1214/aos/1176347498.
        """
        check_choice(figure, Figure, "figure")
        check_choice(drawn, Drawn, "drawn")
        level = check_fraction(self.confidence if confidence is None else confidence, "confidence")
        if method is None:
            method = "speakers" if self._sets else "trials"
            # A minimum is fitted to its trials, in each replicate anew: percentiles lie too low.
            if self._replicates and figure != "own_minimum":
                method = self._interval
        check_choice(method, TransferMethod, "method")
        if method in ("corrected", "percentile"):
            return self._of_replicates(figure, drawn, level, method)
        if figure == "own_minimum" and method == "speakers":
            return self._least(level)
        if drawn == "test" or self.rule == "bayes":
            return self._closed(figure, level, method)
        if self.rule == "min-cost" or self._samples is None:
            expected = "be given where both sets are drawn and the rule has no closed form"
            hint = 'transfer(..., replications=1000); or ask for drawn="test".'
            raise invalid("replications", expected, "0", hint)
        return self._closed_of_both(figure, level, method)

    def _of_replicates(
        self, figure: Figure, drawn: Drawn, level: float, method: TransferMethod
    ) -> Interval:
        if self._replicates is None or self._sets is None:
            hint = "transfer(..., replications=1000) draws them."
            raise invalid("method", "be in closed form where nothing was drawn", repr(method), hint)
        if figure == "threshold" and drawn == "test":
            raise invalid("figure", 'not be drawn="test"', "'threshold'", "It is chosen on dev.")
        held = getattr(self._replicates, drawn)[figure]
        values = held[bootstrap_result.defined_replicates(held)]
        estimate = float(getattr(self, figure))
        if values.size < FEWEST_REPLICATES:
            expected = f"leave at least {FEWEST_REPLICATES} replicates with trials of both classes"
            raise invalid("replications", expected, f"{values.size} of {held.size}")
        if method == "corrected":
            low, high = _corrected(values, estimate, level)
        else:
            low, high = bootstrap_result.quantile(
                values, [0.5 - 0.5 * level, 0.5 + 0.5 * level]
            ).tolist()
        finite = values[np.isfinite(values)]
        error = float(finite.std(ddof=1)) if finite.size > 1 else 0.0
        if figure == "regret":
            # What the threshold is fitted to makes replicates larger than the figure. It may be
            # chance: the lower end is no higher than that which mirrors the upper one.
            most = float(bootstrap_result.quantile(values, 0.5 + 0.5 * level))
            low = min(low, max(2.0 * estimate - most, 0.0))
        if figure != "threshold":
            rates = (self.frr, self.far) if figure != "own_minimum" else self._least_at[1]
            low, high = self._sets[1].opened((low, high), rates, self._prices(figure), level)
        which = "dev and test" if drawn == "both" else "test"
        how = f"speakers of {which}, {method}, {held.size} replicates"
        remade = functools.partial(self._of_replicates, figure, drawn, method=method)
        return Interval(estimate, low, high, error, level, how, remade)

    def _prices(self, figure: Figure) -> tuple[float, float]:
        """Return what a miss rate and a false-alarm rate of one add to a figure."""
        fixed = {"far": (0.0, 1.0), "frr": (1.0, 0.0), "hter": (0.5, 0.5)}
        return fixed[figure] if figure in fixed else decisions.prices_of(self.point)

    def _closed(self, figure: Figure, level: float, method: TransferMethod) -> Interval:
        if figure not in ("far", "frr", "hter", "cost"):
            hint = "transfer(..., replications=1000) draws replicates of all figures."
            raise invalid("figure", "be a rate or a cost in closed form", repr(figure), hint)
        self._check_closed(method)
        if method == "speakers":
            return self._by_speaker(figure, level)
        if method in ("naive", "class"):
            if figure != "hter":
                raise invalid("method", "be of an HTER", f"{method!r} of {figure}")
            return decisions.hter_interval(self.errors, confidence=level, method=method)
        if figure == "hter":
            return decisions.hter_interval(self.errors, confidence=level)
        if figure == "cost":
            return decisions.dcf_interval(self.errors, self.point, confidence=level)
        counts = self.errors
        pair = (counts.misses, counts.n_tar)
        if figure == "far":
            pair = counts.false_alarms, counts.n_non
        return decisions.error_rate_interval(*pair, confidence=level)

    def _check_closed(self, method: TransferMethod) -> None:
        if method == "speakers" and self._sets is None:
            raise invalid("method", "have speakers", "'speakers'", "transfer(..., speakers=...).")
        if method != "speakers":
            self._refuse_weights(method)

    def _refuse_weights(self, method: str | None) -> None:
        """Raise if trials weigh differently: counts of errors do not make such rates."""
        for sample in self._samples or ():
            classes = (sample.tar, sample.non) if isinstance(sample, ListedSample) else ()
            for part in classes:
                if part.trial_weights is not None:
                    expected = "be by speaker where trials weigh differently"
                    hint = 'Give speakers, for method="speakers".'
                    raise invalid("method", expected, repr(method), hint)

    @functools.cached_property
    def _least_at(self) -> tuple[float, tuple[float, float]]:
        """The threshold of the least cost of the test set, and both rates there."""
        assert self._samples is not None
        at = float(self._samples[1].hull.min_dcf_threshold(self.point))
        return at, transfer.rates_at(self._samples[1], at)

    def _least(self, level: float) -> Interval:
        """Return the interval of the least cost of the test set, at its threshold."""
        self._check_closed("speakers")
        assert self._sets is not None
        assert self._samples is not None
        test = ErrorsAt(self._samples[1], self._sets[1], *self._least_at)
        return attrs.evolve(test.by_speaker(self._prices("cost"), level), remade=self._least)

    def _by_speaker(self, figure: Figure, level: float) -> Interval:
        """Return the interval of a sum of both rates by speaker, on the logarithmic scale."""
        assert self._sets is not None
        assert self._samples is not None
        rates = self.frr, self.far
        test = ErrorsAt(self._samples[1], self._sets[1], self.threshold, rates)
        remade = functools.partial(self._by_speaker, figure)
        return attrs.evolve(test.by_speaker(self._prices(figure), level), remade=remade)

    def _closed_of_both(self, figure: Figure, level: float, method: TransferMethod) -> Interval:
        """Return the interval of a figure with what dev leaves open of the threshold."""
        assert self._samples is not None
        if method in ("naive", "class"):
            hint = 'These take the threshold as given: ask for drawn="test".'
            raise invalid("method", "be 'speakers' or 'trials' with both sets drawn", method, hint)
        self._check_closed(method)
        # Raises where figure or method have no closed form.
        of_test = None if figure == "threshold" else self._closed(figure, level, method)
        ends, t = self._left_open(level, method)
        remade = functools.partial(self._closed_of_both, figure, method=method)
        how = f"{method} of dev and test"
        if of_test is None:
            error = 0.5 * (ends[1] - ends[0]) / t
            return Interval(self.threshold, *ends, error, level, how, remade)
        miss, alarm = self._prices(figure)
        value = of_test.estimate
        frr, far = self._samples[1].error_rates(np.array(ends))
        moved = miss * frr + alarm * far - value
        # Zou and Donner 2008: distances of the ends add up as standard errors do.
        low = value - math.hypot(value - of_test.low, max(-float(moved.min()), 0.0))
        high = value + math.hypot(of_test.high - value, max(float(moved.max()), 0.0))
        error = math.hypot(of_test.standard_error, 0.5 * float(np.ptp(moved)) / t)
        return Interval(value, max(low, 0.0), min(high, miss + alarm), error, level, how, remade)

    def _left_open(self, level: float, method: TransferMethod) -> tuple[tuple[float, float], float]:
        """Return the ends of the interval of the threshold, and the quantile of its error."""
        if (level, method) not in self._found_ends:
            assert self._samples is not None
            assert self.chosen is not None
            sets = self._sets if method == "speakers" else None
            if sets is not None:
                refuse_common_speakers(*sets)
            rates = self.chosen.frr, self.chosen.far
            dev = ErrorsAt(self._samples[0], sets and sets[0], self.threshold, rates)
            found = thresholds_left_open(dev, transfer.ThresholdRule.parse(self.rule), level)
            self._found_ends[level, method] = found
        return self._found_ends[level, method]

    @functools.cached_property
    def _found_ends(self) -> dict[tuple[float, str], tuple[tuple[float, float], float]]:
        return {}

    def compare(
        self,
        other: "Transfer",
        figure: Figure = "cost",
        *,
        method: TransferTest | None = None,
        alternative: Alternative = "two-sided",
    ) -> ZTest:
        """Test if a figure of two systems differs, each at the threshold of its own dev set.

        Parameters
        ----------
        other : Transfer
            The second system, on the same trials.
        figure : {"cost", "hter", "far", "frr", "own_minimum", "regret", "threshold"}
            What to compare.
        method : str, optional
            ``"paired"``, the default with replicates: the speakers of both sets are drawn, for both
            systems alike. Of costs and HTERs also the tests of Bengio and Mariethoz, which take
            the thresholds as given and trials as independent: ``"independent"`` (15),
            ``"dependent"`` (16), ``"stricter"`` of both, and of HTERs ``"naive"`` (18) and
            ``"class"`` (17); see `hter_z_test`.
        alternative : {"two-sided", "less", "greater"}
            As for `hter_z_test`.

        Returns
        -------
        ZTest
            Of the difference, this system less the other. The paired test has Student's t of K - 1
            degrees for the K speakers of the set that has fewer.

        Raises
        ------
        TrialMismatchError
            If the systems were not judged on the same trials.
        """
        given: object = other
        if not isinstance(given, Transfer):
            raise invalid("other", "be a Transfer", describe(given))
        check_choice(figure, Figure, "figure")
        if method is None and (self._replicates is None or other._sets is None):
            method = "independent" if self._samples is None else "dependent"
        check_choice("paired" if method is None else method, TransferTest, "method")
        if method is None or method == "paired":
            return self._paired(other, figure, alternative)
        a, b = (one._decided(method) for one in (self, other))
        if figure == "hter":
            return decisions.hter_z_test(a, b, method=method, alternative=alternative)
        if figure != "cost" or method == "naive" or method == "class":
            raise invalid("figure", f'be an HTER or a cost with method="{method}"', repr(figure))
        if self.point != other.point:
            raise invalid("other", f"have the same point, {self.point}", f"{other.point}")
        return decisions.dcf_z_test(a, b, self.point, method=method, alternative=alternative)

    def _decided(self, method: str | None) -> Decisions | ErrorCounts:
        """Return the decisions on the test set, or only their errors where these do."""
        self._refuse_weights(method)
        sample = self._samples[1] if self._samples else None
        if isinstance(sample, ListedSample):
            return Decisions(*(~decisions.rejected(part, self.threshold) for part in sample.lists))
        if method in ("dependent", "stricter"):
            expected = "be in memory for a dependent test"
            raise invalid("test", expected, "counts of errors")
        return self.errors

    def _paired(self, other: "Transfer", figure: Figure, alternative: Alternative) -> ZTest:
        if self._replicates is None or self._sets is None or other._sets is None:
            hint = "transfer(..., replications=1000) draws the speakers of both sets."
            raise invalid("method", "have replicates of both systems", "none", hint)
        for mine, theirs, name in zip(self._sets, other._sets, ("dev", "test"), strict=True):
            if not mine.has_trials_of(theirs):
                text = f"Both systems must have scores of the same trials of the {name} set."
                raise TrialMismatchError(text)
        same = (self._seed, self.replications) == (other._seed, other.replications)
        if not same or other._replicates is None:
            other = other._drawn(self.replications, self._seed)
        assert other._replicates is not None
        pair = (one._replicates.both[figure] for one in (self, other) if one._replicates)
        differences = np.subtract(*pair)
        defined = differences[bootstrap_result.defined_replicates(differences)]
        difference = float(getattr(self, figure) - getattr(other, figure))
        error = float(defined.std(ddof=1)) if np.ptp(defined) > 0 else 0.0
        if error == 0.0 and difference != 0.0:
            # What is the same in all replicates is not certain.
            error = abs(difference)
        degrees = min(one.n_speakers for one in self._sets) - 1.0
        how = f"paired, speakers of dev and test, {self.replications} replicates"
        return bootstrap_result.z_test(difference, error, alternative, how, degrees, 2.0**-degrees)

    def _drawn(self, replications: int, seed: int) -> "Transfer":
        """Return the same with replicates."""
        assert self._sets is not None
        assert self.chosen is not None
        weights = draw_weights(*self._sets, replications, seed)
        rule = transfer.ThresholdRule.parse(self.rule)
        made = _Replicates.of(self._sets, self.chosen, rule, self.point, weights)
        return attrs.evolve(self, replications=replications, replicates=made, seed=seed)

    def records(self) -> list[dict[str, Any]]:
        """Return one row: the threshold and all figures, each with its interval of both sets.

        Returns
        -------
        list of dict
            Ends are None where there are none.
        """
        low, high = self.gap
        row: dict[str, Any] = {"rule": self.rule, "threshold": or_none(self.threshold)}
        row |= {"gap_low": or_none(low), "gap_high": or_none(high)}
        for figure in FIGURES[1:]:
            row[figure] = or_none(float(getattr(self, figure)))
            interval = self._known(figure, "both")
            row[f"{figure}_low"] = None if interval is None else interval.low
            row[f"{figure}_high"] = None if interval is None else interval.high
        row |= {"n_tar": self.errors.n_tar, "n_non": self.errors.n_non}
        speakers = self.n_speakers or (None, None)
        row |= {"dev_speakers": speakers[0], "test_speakers": speakers[1]}
        return [row | {"normalized": False, "defined": self._note}]

    def _texts(self) -> list[list[str]]:
        rows = [["figure", "test (%)", "dev and test drawn", "test drawn"]]
        for figure in FIGURES[1:]:
            cells = []
            for drawn in get_args(Drawn):
                found = self._known(figure, drawn)
                ends = f"[{100 * found.low:.2f}, {100 * found.high:.2f}]" if found else ""
                cells.append(ends)
            value = float(getattr(self, figure))
            shown = "" if math.isnan(value) else f"{100 * value:.2f}"
            rows.append([_NAMES.get(figure, figure), shown, *cells])
        return rows

    _rules = (1,)

    @property
    def _note(self) -> str:
        point = f"cost at P(target) {self.point.p_target:g}"
        if (self.point.c_miss, self.point.c_fa) != (1.0, 1.0):
            point += f", C(miss) {self.point.c_miss:g}, C(false alarm) {self.point.c_fa:g}"
        parts = [f"threshold of rule {self.rule}", f"{point}, not normalized"]
        chosen = self.chosen
        if chosen is not None:
            parts[0] = f"threshold {chosen.value:.6g} by rule {self.rule} on dev"
            if chosen.is_midpoint:
                parts[0] += f", the midpoint of the gap {chosen.low:.6g} to {chosen.high:.6g}"
        if self.n_speakers is not None:
            parts.append("{} speakers of dev, {} of test".format(*self.n_speakers))
        drawn = [self._known(figure, which) for figure in FIGURES[1:] for which in get_args(Drawn)]
        if not any(drawn):
            return "; ".join([*parts, "no intervals without replicates"])
        how = "formula for trials that share speakers" if self._sets else "independent trials"
        if self.replications:
            how = f"{self.replications} replicates"
        parts.append(f"{100 * self.confidence:g} % intervals: {how}")
        return "; ".join(parts)


# ---- The call


def as_point(point: object) -> OperatingPoint:
    """Return an operating point, given one or a probability."""
    return point if isinstance(point, OperatingPoint) else OperatingPoint(point)  # type: ignore[arg-type]
