r"""What a threshold that one set of trials chooses costs on another set.

A rule chooses a threshold among the scores of the development set. All thresholds between two
neighbouring scores decide alike; the middle of the gap is taken. The test set is judged there. What
its cost exceeds the least cost of the test set by is the *regret*.

No speaker is in both sets. So what either set leaves open of a figure is independent, and the
variances, each by the jackknife over the speakers of its set, add up:

.. math:: s^2 = s_{dev}^2 + s_{test}^2, \qquad
          \nu = \frac{s^4}{s_{dev}^4 / \nu_{dev} + s_{test}^4 / \nu_{test}}.

Without a speaker of dev, dev chooses another threshold, at which the whole test set is judged.
Without a speaker of test, test is judged at the threshold of the whole dev set. The degrees of
freedom of the sum are those of Satterthwaite [1]_.

References
----------
.. [1] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
   Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import ClassVar, Literal

import attrs
import numpy as np

from bosaris_py._arrays import ArrayLike, FloatArray, IntArray
from bosaris_py._tables import joined_notes, scale_of_costs, text_table
from bosaris_py._validation import check_fraction, describe, invalid, list_some
from bosaris_py.errors import Note, lines_about, warn
from bosaris_py.metrics.costs import DCF, MinDCF, Pfa, Pmiss, no_llrs
from bosaris_py.metrics.metric import AnyMetric, Rates
from bosaris_py.metrics.ranks import inverted
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import Sample, Scores
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.speakers import SpeakersLike
from bosaris_py.uncertainty.bootstrap import few_errors
from bosaris_py.uncertainty.draws import speakers_present
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.jackknife import Jackknife, LeftOut, jackknife

# Scores with their key, or two lists of scores.
DataSet = tuple[Scores, Key] | tuple[ArrayLike, ArrayLike]

Rule = Literal["eer", "min-cost", "bayes"] | Mapping[str, float]

# Error-rates that differ by less differ by rounding.
_ROUNDING = 2.0**-40

# What figures are called; rates are shown in per cent.
_RATES = {"pmiss": "miss rate", "pfa": "false-alarm rate", "hter": "HTER"}
_FIGURES = {**_RATES, "cost": "cost", "own_minimum": "own minimum", "regret": "regret"}


@attrs.frozen
class _Rule:
    """How a set of trials chooses a threshold."""

    name: str
    point: OperatingPoint
    # The false-alarm rate that must not be exceeded, of "pfa"; 0 of others.
    rate: float = 0.0

    @classmethod
    def from_argument(cls, rule: object, point: OperatingPoint) -> "_Rule":
        """Read a rule as users write it."""
        match rule:
            case "eer" | "min-cost" | "bayes":
                return cls(rule, point)
            case {"pfa": rate, **others} if not others:
                return cls("pfa", point, check_fraction(rate, "rule"))
        raise invalid("rule", "be 'eer', 'min-cost', 'bayes' or {'pfa': 0.001}", describe(rule))

    def __str__(self) -> str:
        """Write the rule with its rate."""
        return f"{self.name} at most {self.rate:g}" if self.rate else self.name

    def check_support(self, sample: Sample) -> None:
        """Raise if non-targets are too few to show the rate."""
        if 0.0 < self.rate * sample.n_non < 1.0 - 1e-9:
            expected = f"be a rate that the {sample.n_non} non-targets of `dev` can show"
            raise invalid("rule", expected, f"{self.rate:g}, less than one of them")

    def thresholds(self, grid: FloatArray, rates: Rates) -> FloatArray:
        """Choose a threshold for each row of error-rates at all distinct scores: (n_rows,)."""
        pmiss, pfa = rates
        if self.name == "bayes":
            return np.full(len(pmiss), self.point.threshold)
        at = self._best(pmiss, pfa)[:, np.newaxis]
        # Scores of a speaker who is left out are no ends of a gap.
        alike = [part == np.take_along_axis(part, at, axis=1) for part in rates]
        same = alike[0] & alike[1]
        first, last = same.argmax(axis=1), grid.size - 1 - same[:, ::-1].argmax(axis=1)
        found = _middles(np.where(first > 0, grid[first - 1], -np.inf), grid[last], first)
        return np.where(np.isnan(pmiss[:, -1] + pfa[:, -1]), np.nan, found)

    def _best(self, pmiss: FloatArray, pfa: FloatArray) -> IntArray:
        """Return the place of the best threshold of each row."""
        if self.name == "eer":
            # Where both rates are nearest; of two such places the one with fewer errors, and of
            # equal ones the last.
            distance = np.abs(pmiss - pfa)
            near = distance <= distance.min(axis=1, keepdims=True) + _ROUNDING
            errors = np.where(near, pmiss + pfa, np.inf)
            fewest = errors <= errors.min(axis=1, keepdims=True) + _ROUNDING
            return np.asarray(fewest.shape[1] - 1 - fewest[:, ::-1].argmax(axis=1))
        if self.name == "pfa":
            loss = np.where(pfa <= self.rate + _ROUNDING, pmiss, np.inf)
        else:
            loss = self.point.miss_cost * pmiss + self.point.fa_cost * pfa
        # Of equal costs the one with the fewest misses.
        return np.asarray(np.argmax(loss <= loss.min(axis=1, keepdims=True) * (1.0 + _ROUNDING), 1))


def _middles(low: FloatArray, high: FloatArray, first: IntArray) -> FloatArray:
    """Return the thresholds in the gaps above one score and up to the next."""
    # Without a score above there is nothing to accept, without one below nothing to reject. But a
    # score of -inf is rejected by all thresholds above it.
    low = np.where((first > 0) & np.isinf(low), high, low)
    with np.errstate(invalid="ignore"):
        middle = 0.5 * low + 0.5 * high
    middle = np.where((low < middle) & (middle <= high), middle, high)
    return np.where(np.isinf(high), high, np.where(np.isinf(low), low, middle))


@attrs.frozen(eq=False, repr=False)
class Transfer:
    """A test set at the threshold of a development set; made by `transfer`, prints as a table.

    Figures are floats; with speakers they are `Estimate`, whose intervals take the speakers of both
    sets for a sample of others like them.

    Parameters
    ----------
    threshold : float or Estimate
        Accept iff score >= threshold.
    pmiss, pfa : float or Estimate
        Miss rate and false-alarm rate of the test set.
    hter : float or Estimate
        Half total error rate, the mean of both.
    cost : float or Estimate
        Detection cost.
    own_minimum : float or Estimate
        The least cost that any threshold has on the test set.
    regret : float or Estimate
        What `cost` exceeds `own_minimum` by.
    rule : str
        How the threshold was chosen.
    point : OperatingPoint
        Prior and prices of the costs.
    normalize : bool
        Whether costs are divided by that of the better decision without a detector.
    notes : tuple of Note
        What is to be said of it.
    """

    threshold: float | Estimate
    pmiss: float | Estimate
    pfa: float | Estimate
    hter: float | Estimate
    cost: float | Estimate
    own_minimum: float | Estimate
    regret: float | Estimate
    rule: str
    point: OperatingPoint
    normalize: bool = True
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        """Lay the figures out as a table, with what they are below."""
        rows = [["figure", "test"]]
        for figure, name in _FIGURES.items():
            form = ".2%" if figure in _RATES else ".4f"
            rows.append([name, _shown(getattr(self, figure), form)])
        prior, miss, alarm = attrs.astuple(self.point)
        prices = "" if miss == alarm == 1 else f", C(miss) {miss:g}, C(false alarm) {alarm:g}"
        below = (
            f"threshold {_shown(self.threshold, '.4g')} of rule {self.rule} on dev",
            f"cost at P(target) {prior:g}{prices}",
            scale_of_costs(self.normalize),
            *lines_about(self.notes),
        )
        lines = text_table(rows, left=(0, 1), rules=(1,))
        return "\n".join([*map(str.rstrip, lines), f"({joined_notes(*below)})"])


def _shown(figure: float | Estimate, form: str) -> str:
    low, high = getattr(figure, "low", None), getattr(figure, "high", None)
    value = format(getattr(figure, "value", figure), form)
    return value if low is None else f"{value} [{low:{form}}, {high:{form}}]"


@attrs.frozen(eq=False, kw_only=True)
class _OfBothSets(Jackknife):
    """A figure whose variances over the speakers of dev and of test add up."""

    sets: tuple[Jackknife, Jackknife]
    method: ClassVar[str] = "jackknife over speakers of dev and test"

    @classmethod
    def from_sets(cls, dev: Jackknife, test: Jackknife) -> "_OfBothSets":
        """Put the values without each speaker together; what is unseen is that of test."""
        without = np.concatenate((dev.without, test.without))
        shares = np.concatenate((dev.shares, test.shares)) / 2.0
        fields = test.scale, test.bounds, test.bias, test.unseen
        return cls(test.value, without, shares, *fields, sets=(dev, test))

    @functools.cached_property
    def deviations(self) -> FloatArray:
        """What each speaker does to the figure."""
        return np.concatenate([one.deviations for one in self.sets])

    @property
    def fewest(self) -> int:
        """The number of speakers of the smaller set."""
        return min(one.n_units for one in self.sets)

    @functools.cached_property
    def standard_error(self) -> float:
        """The square root of the sum of both variances."""
        return float(np.sqrt(sum(one.standard_error**2 for one in self.sets)))

    @functools.cached_property
    def degrees(self) -> float:
        """The degrees of freedom of the sum."""
        parts = sum(one.standard_error**4 / one.degrees for one in self.sets)
        return self.standard_error**4 / parts if parts else min(one.degrees for one in self.sets)


def _figures(
    test: Sample, threshold: ArrayLike, price: tuple[float, float], minimum: float
) -> dict[str, FloatArray]:
    """Judge the test set at each threshold, NaN where there is none."""
    limits = np.asarray(threshold, dtype=np.float64)
    pmiss, pfa = (np.where(np.isnan(limits), np.nan, rates) for rates in test.rates(limits))
    cost = price[0] * pmiss + price[1] * pfa
    # A cost that is the minimum differs from it by rounding.
    least, regret = np.full(limits.shape, minimum), np.maximum(cost - minimum, 0.0)
    figures = limits, pmiss, pfa, (pmiss + pfa) / 2.0, cost, least, regret
    return dict(zip(("threshold", *_FIGURES), figures, strict=True))


def _estimates(
    dev: Sample, test: Sample, rule: _Rule, figures: Mapping[str, float], least: MinDCF
) -> dict[str, Estimate]:
    """Estimate all figures by leaving out each speaker of either set."""
    threshold, price = figures["threshold"], least.points[0][1:]
    judges: list[AnyMetric] = [Pmiss(threshold), Pfa(threshold)]
    judges += [DCF(threshold, 0.5, normalize=False), DCF(threshold, rule.point, least.normalize)]
    found = jackknife([*judges, least], test)
    of_test = {name: one for name, (one, _) in zip(_FIGURES, found, strict=False)}
    bounds = 0.0, of_test["cost"].bounds[1]
    of_test["regret"] = attrs.evolve(of_test["cost"].minus(of_test["own_minimum"]), bounds=bounds)
    without_dev, without_test = LeftOut.from_sample(dev), found[0][1]
    fixed = np.full(without_test.n_units, threshold)
    of_test["threshold"] = Jackknife(threshold, fixed, without_test.shares)

    grid = dev.grid("all")
    blocks = [rule.thresholds(grid, block.rates("all")) for block in without_dev.blocks("all")]
    of_dev = _figures(test, np.concatenate(blocks), price, figures["own_minimum"])
    names = [one.names for one in (without_dev, without_test) if one.names is not None]
    both = np.concatenate(names) if len(names) == 2 else None
    estimates = {}
    for name, value in figures.items():
        one = attrs.evolve(of_test[name], value=value)
        moved = attrs.evolve(one, without=of_dev[name], shares=without_dev.shares)
        estimates[name] = _OfBothSets.from_sets(moved, one).estimate(0.95, both)
    return estimates


def _sample(given: DataSet, name: str, speakers: SpeakersLike) -> Sample:
    """Join scores with a key, or take two lists of scores."""
    match given:
        case (Scores() as scores, key):
            return Sample.from_trials(scores, as_key(key), None, speakers).bona_fide()
        case (tar, non) if speakers is None:
            return Sample.from_scores(tar, non)
    expected = "be a pair (scores, key); or, without speakers, (tar, non)"
    raise invalid(name, expected, describe(given))


def transfer(
    dev: DataSet,
    test: DataSet,
    *,
    rule: Rule = "eer",
    prior: OperatingPoint | float = 0.5,
    normalize: bool = True,
    speakers: SpeakersLike = None,
) -> Transfer:
    r"""Judge a test set at the threshold that a development set chooses.

    Parameters
    ----------
    dev, test : pair (scores, key) or (tar, non)
        Scores of each set with its key; or, without speakers, two lists of scores.
    rule : {"eer", "min-cost", "bayes"} or dict, default: "eer"
        How dev chooses. ``"eer"``: miss rate and false-alarm rate are nearest. ``"min-cost"``: the
        cost is least. ``{"pfa": 0.001}``: misses are fewest while the false-alarm rate is at most
        so high. ``"bayes"``: the Bayes threshold of `prior`, for log-likelihood-ratios; dev chooses
        nothing.
    prior : float or OperatingPoint, default: 0.5
        Of the costs.
    normalize : bool, default: True
        Divide costs by that of the better decision without a detector. Without it the cost at 0.5
        is the HTER.
    speakers : optional
        A column of the keys, a pair (of models, of segments), a mapping or a function of the id.
        Where a key has one model, as that of a countermeasure has, each trial has one speaker.

    Returns
    -------
    Transfer
        With ``threshold``, ``pmiss``, ``pfa``, ``hter``, ``cost``, ``own_minimum`` and ``regret``:
        floats, or with speakers `Estimate`.

    Raises
    ------
    InvalidInputError
        If dev has too few non-targets to show the rate of the rule, or if speakers are in both
        sets.

    Warns
    -----
    FewErrorsWarning
        If a rate of the test set, or that which the rule keeps on dev, rests on fewer than 30
        errors.
    FewSpeakersWarning
        If a set has fewer than 100 speakers; below 5 there are no intervals.
    SuspectScoresWarning
        If scores are inverted or, with ``"bayes"``, no log-likelihood-ratios.

    Notes
    -----
    Spoofs of a key with three classes are left out.

    Intervals have the scales and openings of `speaker_interval`: miss rate and
    false-alarm rate on the logit, HTER and costs on the logarithm, threshold and regret as they
    are. The openings are those of the test set. With ``"min-cost"`` the intervals of the threshold
    and of both rates are too short: where a cost is least it has no slope, so that noise moves the
    threshold. Those of costs and of the regret are not.

    Examples
    --------
    >>> from bosaris_py import uncertainty as unc
    >>> dev = range(0, 100), range(-50, 50)
    >>> test = range(-15, 85), range(-60, 60)
    >>> found = unc.transfer(dev, test, rule="eer")
    >>> print(f"{found.threshold}: {found.pmiss:.2f}, {found.pfa:.2f}; {found.regret:.4f}")
    24.5: 0.40, 0.29; 0.0667
    """
    point = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
    chosen = _Rule.from_argument(rule, point)
    of_dev, of_test = _sample(dev, "dev", speakers), _sample(test, "test", speakers)
    chosen.check_support(of_dev)
    (threshold,) = chosen.thresholds(of_dev.grid("all"), of_dev.rates_at_all(grid="all"))
    least = MinDCF(point, normalize)
    judged = _figures(of_test, threshold, least.points[0][1:], least.value(of_test))
    figures: dict[str, float] = {name: float(value) for name, value in judged.items()}
    of_scores = no_llrs if chosen.name == "bayes" else inverted
    notes = {
        "dev": [*of_dev.notes, *inverted(of_dev)],
        "test": [*of_test.notes, *of_scores(of_test), *few_errors(DCF(threshold, 0.5), of_test)],
    }
    if chosen.rate:
        notes["dev"] += few_errors(Pfa(threshold), of_dev)
    estimates: dict[str, Estimate] = {}
    if speakers is not None:
        # Errors of who speaks in both sets go together.
        first, second = (np.array(x.speaker_ids)[speakers_present(x)] for x in (of_dev, of_test))
        if (common := np.intersect1d(first, second)).size:
            found = f"{common.size} who are in both ({list_some(common.tolist())})"
            raise invalid("speakers", "be other persons in dev than in test", found)
        estimates = _estimates(of_dev, of_test, chosen, figures, least)
        notes[""] = list(estimates["hter"].notes)
    said = tuple(attrs.evolve(one, about=about) for about in notes for one in notes[about])
    warn(said)
    both = estimates or figures
    return Transfer(**both, rule=str(chosen), point=point, normalize=least.normalize, notes=said)
