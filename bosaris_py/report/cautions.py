"""What speaks against figures: warnings, few errors, few speakers, scores that are not LLRs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bosaris_py import errors
from bosaris_py._validation import Caution, lines_of
from bosaris_py.evaluation import ConditionRow, Results
from bosaris_py.numerics.priors import DecisionCosts
from bosaris_py.numerics.roc import FEWEST_ERRORS
from bosaris_py.uncertainty.influence import FEWEST_FOR_TEST

# Scores lose so many bits, and so large a share of Cllr, to calibration that they may be no LLRs.
_LOST_BITS, _LOST_SHARE = 0.1, 0.5

_SUSPECT, _FEW_ERRORS, _FEW_SPEAKERS = "Suspect scores", "Few errors (rule of 30)", "Few speakers"

# What warnings are about.
_TOPICS: dict[type[Warning], str] = {
    errors.MissingTrialsWarning: "Missing trials",
    errors.ConditionWarning: "Conditions of one class",
    errors.FewSpeakersWarning: _FEW_SPEAKERS,
    errors.FewErrorsWarning: _FEW_ERRORS,
    errors.SuspectScoresWarning: _SUSPECT,
    errors.DegenerateReplicatesWarning: "Replicates without a value",
}


def of_warnings(heard: Iterable[Caution]) -> Iterator[tuple[str, list[str]]]:
    """Yield topic and lines of the warnings of each category and system."""
    groups: dict[Any, list[Caution]] = {}
    for caution in heard:
        groups.setdefault((caution.category, caution.about[:1]), []).append(caution)
    for (category, _), group in groups.items():
        yield _TOPICS.get(category, "Other warnings"), lines_of(group)


def of_speakers(counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield topic and text of cautions about the number of speakers, by side of the trials."""
    if not counts:
        yield _FEW_SPEAKERS, "Who speaks was not given; each model counts as one speaker."
    for side, count in counts.items():
        if count < FEWEST_FOR_TEST:
            text = f"There are {count} speakers of the {side}. With fewer than"
            yield _FEW_SPEAKERS, f"{text} {FEWEST_FOR_TEST}, intervals may be too short."


def of_scores(
    results: Results, rows: Iterable[ConditionRow], points: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield topic and text of cautions about one system."""
    # `rows` are its rows of a table, and `points` the operating points by their names there.
    if results.eer == 0.0:
        limits = [100.0 * (1.0 - 0.05 ** (1.0 / n)) for n in (results.n_tar, results.n_non)]
        text = (
            "All targets score above all non-targets. With 95 % confidence, misses are rarer than"
        )
        yield (
            "Separable scores",
            f"{text} {limits[0]:.2g} % and false alarms than {limits[1]:.2g} %.",
        )
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
        pmiss, pfa = results.error_rates_at(DecisionCosts.from_prior(point).thresholds)
        misses, alarms = float(pmiss) * results.n_tar, float(pfa) * results.n_non
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
