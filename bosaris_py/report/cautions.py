"""What speaks against figures: warnings, few errors, few speakers, scores that are not LLRs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

import attrs

from bosaris_py import errors
from bosaris_py._notes import Caution, lines_of
from bosaris_py.evaluation import ConditionRow, Results
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint
from bosaris_py.numerics.roc import FEWEST_ERRORS
from bosaris_py.report.answer import few_speakers

# Scores lose so many bits, and so large a share of Cllr, to calibration that they may be no LLRs.
_LOST_BITS, _LOST_SHARE = 0.1, 0.5

_SUSPECT, _FEW_ERRORS, _FEW_SPEAKERS = "Suspect scores", "Few errors (rule of 30)", "Few speakers"
_SEPARABLE, _OTHER = "Separable scores", "Other warnings"
_MISSING, _OF_ONE_CLASS = "Missing trials", "Conditions of one class"

_FEW = 10

# What warnings are about.
_TOPICS: dict[type[Warning], str] = {
    errors.MissingTrialsWarning: _MISSING,
    errors.ConditionWarning: _OF_ONE_CLASS,
    errors.FewSpeakersWarning: _FEW_SPEAKERS,
    errors.FewErrorsWarning: _FEW_ERRORS,
    errors.SuspectScoresWarning: _SUSPECT,
}

# What each topic means for a reader.
MEANINGS: dict[str, str] = {
    _SEPARABLE: "All targets score above all non-targets. The true error-rates are not 0: the text "
    "of the warning has their upper limits.",
    _SUSPECT: "The scores cost more than no detector, lose much to calibration, or are no "
    "log-likelihood-ratios. Calibrate them, or read EER, minDCF and minCllr alone.",
    _FEW_ERRORS: f"A rate of all trials or of a condition rests on fewer than {FEWEST_ERRORS} "
    "errors. It may be off by more than 30 %.",
    _FEW_SPEAKERS: "A kind of speaker that is rare may be missing from trials of few speakers. "
    "Then intervals are too short.",
    _MISSING: "The key has trials without a score. They do not count.",
    _OF_ONE_CLASS: "A condition has targets only, or non-targets only, and so no metrics.",
    _OTHER: "The texts of these warnings are at the end of the report.",
}


@attrs.frozen(kw_only=True)
class SystemCautions:
    """What speaks against the metrics of a system: a row of the table of cautions.

    Parameters
    ----------
    speakers : str
        How many speakers its metrics rest on at least.
    errors : tuple of (float, float)
        Misses and false alarms at each operating point.
    topics : tuple of str
        Keys of `MEANINGS`.
    """

    speakers: str
    errors: tuple[tuple[float, float], ...]
    topics: tuple[str, ...]

    @classmethod
    def of(
        cls,
        name: str,
        results: Results | None,
        rows: Sequence[ConditionRow],
        points: Mapping[str, float | OperatingPoint],
        heard: Iterable[Caution],
    ) -> Self:
        """Find them in the results of a system, if any, its rows of the table and all warnings."""
        own = [caution for caution in heard if dict(caution.about).get("system") == name]
        scores = () if results is None else of_scores(results, rows, points)
        topics = [topic for topic, _ in (*scores, *of_warnings(own))]
        counts = [count for count in map(few_speakers, own) if count is not None]
        speakers = f"{min(counts):g}" if counts else "at least 100"
        return cls(
            speakers=speakers if any(row.intervals for row in rows) else "-",
            errors=tuple(_errors_at(results, p) for p in points.values()) if results else (),
            topics=tuple(topic for topic in MEANINGS if topic in topics),
        )


def _errors_at(results: Results, point: float | OperatingPoint) -> tuple[float, float]:
    """Return the misses and false alarms at the Bayes threshold of an operating point."""
    pmiss, pfa = results.error_rates_at(DecisionCosts.from_prior(point).thresholds)
    return float(pmiss) * results.n_tar, float(pfa) * results.n_non


def of_warnings(heard: Iterable[Caution]) -> Iterator[tuple[str, list[str]]]:
    """Yield topic and lines of the warnings of each category and system."""
    groups: dict[tuple[type[Warning], object], list[Caution]] = {}
    for caution in heard:
        groups.setdefault((caution.category, caution.about[:1]), []).append(caution)
    for (category, _), group in groups.items():
        yield _TOPICS.get(category, _OTHER), lines_of(group)


def of_speakers(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield topic and text of cautions about the number of speakers, by side of the trials."""
    if not counts:
        yield _FEW_SPEAKERS, "Who speaks was not given; each model counts as one speaker."
    for side, count in counts.items():
        if count < _FEW:
            text = f"There are {count} speakers of the {side}: with so few, intervals may be wrong."
            yield _FEW_SPEAKERS, text


def of_scores(
    results: Results, rows: Iterable[ConditionRow], points: Mapping[str, float | OperatingPoint]
) -> Iterator[tuple[str, str]]:
    """Yield topic and text of cautions about one system."""
    # `rows` are its rows of a table, and `points` the operating points by their names there.
    if results.eer == 0.0:
        limits = [100.0 * (1.0 - 0.05 ** (1.0 / n)) for n in (results.n_tar, results.n_non)]
        text = (
            "All targets score above all non-targets. With 95 % confidence, misses are rarer than"
        )
        yield (_SEPARABLE, f"{text} {limits[0]:.2g} % and false alarms than {limits[1]:.2g} %.")
    lost = results.cllr - results.min_cllr
    if results.cllr > 1.0:
        text = f"Cllr is {results.cllr:.3g} bits. Above 1, the scores are worse than none."
        yield _SUSPECT, f"{text} They need a calibration."
    elif lost > max(_LOST_BITS, _LOST_SHARE * results.cllr):
        text = f"Of a Cllr of {results.cllr:.3g} bits, calibration loses {lost:.3g}."
        yield _SUSPECT, f"{text} They may need a calibration."
    for name, point in points.items():
        where = f"At the operating point {name}" if name else "At the operating point"
        cost = float(results.act_dcf(point, normalize=True))
        if cost > 1.0:
            text = f"{where} the actual cost is {cost:.3g} times that of no detector."
            yield _SUSPECT, text
        misses, alarms = _errors_at(results, point)
        if min(misses, alarms) < FEWEST_ERRORS:
            text = f"{where}, there are {misses:.0f} misses and {alarms:.0f} false alarms."
            text += f" A rate of fewer than {FEWEST_ERRORS} errors may be off by more than 30 %."
            yield _FEW_ERRORS, text
    few = [
        row.name
        for row in rows
        if row.figures["eer"] is not None
        and row.figures["eer"] * min(row.n_tar, row.n_non) < FEWEST_ERRORS
    ]
    if few:
        yield _FEW_ERRORS, f"The EER rests on fewer than {FEWEST_ERRORS} errors: {', '.join(few)}."
