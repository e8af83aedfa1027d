"""What people do wrong: each is refused, or warned of, where the numbers can tell.

The list of a newcomer's misuses: swapped arguments, labels for scores, percentages, text, other
orders, too few of everything. What no number shows (LRs to base 10, a seed that is not given) is in
the FAQ.
"""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bosaris_py as bp
from bosaris_py import errors
from bosaris_py import uncertainty as unc

RNG = np.random.default_rng(0)
TAR, NON = RNG.normal(2, 1.5, 300), RNG.normal(-2, 1.5, 3000)
LABELS, SCORES = np.repeat([1, 0], [300, 3000]), np.concatenate((TAR, NON))
IDS = [f"sp{i:02d}_{j}" for i in range(20) for j in range(3)]
SAME = np.arange(60)[:, None] // 3 == np.arange(60) // 3
ONCE = np.triu(np.ones_like(SAME), 1)
SYSTEM = bp.Scores(np.where(SAME, 2, -2) + RNG.normal(0, 1.5, SAME.shape), IDS, IDS)
OTHER = SYSTEM.transform(lambda values: values + RNG.normal(0, 1, values.shape))
KEY = bp.Key(IDS, IDS, SAME & ONCE, ~SAME & ONCE)
FRAME = pd.DataFrame(
    {
        "m": np.repeat(IDS, 60),
        "s": IDS * 60,
        "label": np.where(SAME.ravel(), "same", "different"),
        "score": SYSTEM.scoremat.ravel(),
    }
)
COLUMNS: dict[str, Any] = {"model": "m", "segment": "s", "label": "label", "score": "score"}
RESULTS = bp.Results(TAR, NON)
LINE = bp.LinearCalibration.fit_scores(SYSTEM, KEY)
FUSION = bp.LinearFusion.fit_scores({"a": SYSTEM, "b": OTHER}, KEY)
CASE: Any = {"propositions": ("one", "two"), "reference": "20 people", "replications": 0}


def person(segment: str) -> str:
    return segment.split("_")[0]


def renamed(change: Callable[[str], str]) -> bp.Key:
    return bp.Key([*map(change, IDS)], [*map(change, IDS)], KEY.tar, KEY.non)


def read(text: str, reader: Callable[[Path], object], folder: Path) -> object:
    path = folder / "list.txt"
    path.write_text(text, encoding="utf-8")
    return reader(path)


WRONG = errors.InvalidInputError
MISSPELT: Any = "0.01"
# What is done; the error and what its message says.
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    # Arrays
    "scores and labels": (lambda: bp.eer(SCORES, LABELS), WRONG, "`non` must hold the scores of o"),
    "labels and scores": (lambda: bp.eer(LABELS, SCORES), WRONG, "`tar` must hold the scores of o"),
    "NaN": (lambda: bp.eer([*TAR, np.nan], NON), WRONG, "`tar` must not hold NaN"),
    "masked": (lambda: bp.eer(np.ma.masked_less(TAR, 0), NON), WRONG, "masked values"),
    "columns": (lambda: bp.eer(TAR[:, None], NON), WRONG, "one-dimensional"),
    "text": (lambda: bp.eer([*map(str, TAR)], NON), WRONG, "Convert text to numbers"),
    "nothing": (lambda: bp.eer([], NON), WRONG, "at least one score"),
    "masks": (lambda: bp.eer(TAR > 0, NON > 0), WRONG, "looks like a mask"),
    "complex": (lambda: bp.eer(TAR + 0j, NON), WRONG, "real numbers"),
    "None": (lambda: bp.eer([*TAR, None], NON), WRONG, "real numbers"),
    "dates": (lambda: bp.eer([dt.date(2020, 1, 1)], NON), WRONG, "real numbers"),
    "results of results": (lambda: bp.Results(RESULTS, NON), WRONG, "`tar` must hold real"),  # type: ignore[arg-type]
    "negative weights": (
        lambda: bp.Results(TAR, NON, tar_weights=-TAR),
        WRONG,
        "`tar_weights` must be finite",
    ),
    "no weights": (
        lambda: bp.Results(TAR, NON, tar_weights=0 * TAR),
        WRONG,
        "must not all be zero",
    ),
    # Labels
    "labels of 1 and 2": (lambda: bp.Results.from_labels(LABELS + 1, SCORES), WRONG, "True and Fa"),
    "labels last": (lambda: bp.Results.from_labels(SCORES, LABELS), WRONG, "Labels come first"),
    "labels of a half": (lambda: bp.Results.from_labels(LABELS / 2, SCORES), WRONG, "0 and 1"),
    "a label too few": (lambda: bp.Results.from_labels(LABELS[1:], SCORES), WRONG, "3299 labels"),
    "another index": (
        lambda: bp.Results.from_labels(pd.Series(LABELS), pd.Series(SCORES, range(3300, 0, -1))),
        WRONG,
        "the index of `scores`",
    ),
    # Operating points
    "per cent": (lambda: bp.min_dcf(TAR, NON, 5), WRONG, "strictly between 0 and 1"),
    "a prior of 0": (lambda: bp.min_dcf(TAR, NON, 0.0), WRONG, "strictly between 0 and 1"),
    "log-odds": (lambda: bp.min_dcf(TAR, NON, -4.6), WRONG, "Is this a prior log-odds"),
    "a prior of text": (lambda: bp.evaluate(SYSTEM, KEY, priors=MISSPELT), WRONG, "got '0.01'"),
    "normalize of text": (lambda: bp.min_dcf(TAR, NON, 0.1, MISSPELT), WRONG, "True or False"),
    "normalized tables of text": (
        lambda: bp.evaluate(SYSTEM, KEY, normalize=MISSPELT),
        WRONG,
        "`normalize` must be True or False",
    ),
    "statistics of text": (lambda: unc.MinDCF(0.1, normalize=MISSPELT), WRONG, "True or False"),
    "threshold as prior": (lambda: bp.OperatingPoint(-2.0), WRONG, "strictly between 0 and 1"),
    "negative costs": (lambda: bp.OperatingPoint(0.1, -1, 1), WRONG, "must be positive"),
    "DCF without costs": (lambda: unc.DCF(2.0, 0.05), TypeError, "c_miss"),  # type: ignore[call-arg]
    # Keys and scores
    "swapped sides": (
        lambda: bp.Key(IDS[:30], IDS, SAME[:, :30], ~SAME[:, :30]),
        WRONG,
        "Did you swap models and segments",
    ),
    "both classes": (lambda: bp.Key(IDS, IDS, SAME, SAME | True), WRONG, "must not share trials"),
    "rows missing": (lambda: bp.Scores(SYSTEM.scoremat[:5], IDS, IDS), WRONG, "must have shape"),
    "other ids": (
        lambda: bp.evaluate(SYSTEM, renamed(lambda i: f"x{i}")),
        errors.DisjointIdsError,
        "its ids are others",
    ),
    "capitals": (
        lambda: bp.evaluate(SYSTEM, renamed(str.upper)),
        errors.DisjointIdsError,
        "upper and lower case",
    ),
    "endings": (
        lambda: bp.evaluate(SYSTEM, renamed(lambda i: f"{i}.wav")),
        errors.DisjointIdsError,
        r"end with '.wav",
    ),
    "frames": (lambda: bp.evaluate(FRAME, FRAME), WRONG, "from_frame"),
    "key before scores": (lambda: bp.evaluate(KEY, SYSTEM), WRONG, "got Key"),  # type: ignore[arg-type]
    "arrays with a key": (lambda: bp.evaluate((TAR, NON), KEY), WRONG, "must be a Scores"),  # type: ignore[arg-type]
    "unknown labels": (
        lambda: bp.from_frame(FRAME.replace("different", "unknown")[::7], tar="target", **COLUMNS),
        WRONG,
        "`tar`|`label`",
    ),
    "conditions in an order": (
        lambda: bp.Conditions.from_labels(KEY, ["a"] * 1770),
        WRONG,
        "`order` must tell",
    ),
    "too few conditions": (lambda: bp.Conditions.from_labels(KEY, ["a"]), WRONG, "1770 trials"),
    # Maps
    "a system too few": (lambda: FUSION.apply({"b": OTHER}, KEY), WRONG, r"\(a, b\); got b"),
    "transposed systems": (lambda: FUSION.apply(np.ones((5, 2))), WRONG, "systems"),
    # Speakers and replicates
    "speakers of segments": (
        lambda: bp.evaluate(SYSTEM, KEY, speakers=lambda i: i, replications=50),
        WRONG,
        "one speaker in each target",
    ),
    "one speaker": (
        lambda: bp.evaluate(SYSTEM, KEY, speakers=lambda i: "a", replications=50),
        WRONG,
        "two speakers in each non-target",
    ),
    "confidence in per cent": (
        lambda: unc.bootstrap(TAR, NON, unc.EER(), confidence=95),
        WRONG,
        "between 0 and 1; got 95",
    ),
    "a seed of text": (lambda: unc.bootstrap(TAR, NON, unc.EER(), rng=MISSPELT), WRONG, "`rng`"),
    "other trials": (
        lambda: unc.compare_systems(
            {"a": SYSTEM, "b": SYSTEM.filter(IDS[:40], IDS[:40], keep=True)},
            KEY,
            unc.EER(),
            speakers=person,
        ),
        errors.TrialMismatchError,
        r"systems\['b'\]",
    ),
    "rates for counts of trials": (lambda: unc.hter_z_test(3, 4), WRONG, "must be ErrorCounts"),  # type: ignore[arg-type]
    "more errors than trials": (lambda: unc.ErrorCounts(50, 40, 3, 100), WRONG, "The order is"),
    # A case
    "a score of text": (
        lambda: bp.case_llr("1", SYSTEM, KEY, **CASE),
        WRONG,
        "`score` must be a n",
    ),  # type: ignore[arg-type]
    "no score": (lambda: bp.case_llr(np.nan, SYSTEM, KEY, **CASE), WRONG, "`score` must be finite"),
    # Thresholds and plans
    "a rate that dev cannot show": (
        lambda: bp.transfer(dev=RESULTS, test=RESULTS, rule="fmr=0.00001"),
        WRONG,
        "at least 0.000334",
    ),
    "a rate in per cent": (
        lambda: bp.transfer(dev=RESULTS, test=RESULTS, rule="fmr=1"),
        WRONG,
        "between 0 and 1 behind",
    ),
    "no such plan": (
        lambda: bp.evaluate(SYSTEM, KEY, plan="SRE99"),
        errors.UnknownPlanError,
        "Did",
    ),
}
SUSPECT = errors.SuspectScoresWarning
# What is done; the warning and what it says.
WARNED: dict[str, tuple[Callable[[], object], type[Warning], str]] = {
    "swapped": (lambda: bp.eer(NON, TAR), SUSPECT, "Are targets and non-targets swapped"),
    "distances": (lambda: bp.Results(-TAR, -NON).eer, SUSPECT, "distances"),
    "words the other way round": (
        lambda: bp.Results.from_labels(np.where(LABELS, "impostor", "genuine"), SCORES).eer,
        SUSPECT,
        "swapped",
    ),
    "posteriors": (lambda: bp.cllr(*(bp.sigmoid(x) for x in (TAR, NON))), SUSPECT, "one sign"),
    "ratios": (lambda: bp.cllr(np.exp(TAR), np.exp(NON)), SUSPECT, "one sign"),
    "per cent": (lambda: bp.cllr(*(100 * bp.sigmoid(x) for x in (TAR, NON))), SUSPECT, "one sign"),
    "cosines": (lambda: bp.act_dcf(0.5 + TAR / 20, 0.5 + NON / 20, 0.01), SUSPECT, "no log-lik"),
    "cosines in a table": (
        lambda: bp.evaluate(SYSTEM.transform(lambda x: 0.5 + x / 20), KEY),
        SUSPECT,
        "no log-likelihood-ratios",
    ),
    "markers": (
        lambda: bp.cllr([*TAR, *[-999.0] * 5], [*NON, *[-999.0] * 5]),
        SUSPECT,
        "Calibrate them first",
    ),
    "a recording with itself": (
        lambda: bp.Key(IDS, IDS, SAME, ~SAME),
        errors.DuplicateTrialWarning,
        "60 of 180 targets compare a recording with itself",
    ),
    "half of the ids": (
        lambda: bp.evaluate(SYSTEM, renamed(lambda i: i.upper() if i.endswith("1") else i)),
        errors.MissingTrialsWarning,
        "missing",
    ),
    "inverted training": (lambda: bp.LinearCalibration.fit(-TAR, -NON), SUSPECT, "negative"),
    "the same system twice": (
        lambda: bp.LinearFusion.fit_scores([SYSTEM, SYSTEM], KEY),
        errors.ConvergenceWarning,
        "vary in only 1 direction",
    ),
    "calibrated twice": (lambda: LINE.apply(LINE.apply(SYSTEM)), SUSPECT, "map"),
    "a score far outside": (
        lambda: bp.case_llr(1e6, SYSTEM, KEY, speakers=person, **CASE),
        errors.ExtrapolationWarning,
        "far outside",
    ),
    "swapped test": (
        lambda: bp.transfer(dev=RESULTS, test=bp.Results(NON, TAR)),
        SUSPECT,
        "test: The area under the ROC",
    ),
    "rates for counts": (
        lambda: unc.ErrorCounts(0.05, 400, 0.1, 6000),
        SUSPECT,
        "from_rates takes rates",
    ),
    "few speakers": (
        lambda: unc.compare_systems({"a": SYSTEM, "b": OTHER}, KEY, unc.EER(), speakers=person),
        errors.FewSpeakersWarning,
        "effective speakers",
    ),
    "a plan without metadata": (
        lambda: bp.evaluate(SYSTEM, KEY, plan="SRE18-CMN2"),
        errors.UncertainPlanWarning,
        "NOT the published cost",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, error, words = REFUSED[what]
    with pytest.raises(error, match=words):
        call()


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("what", WARNED)
def test_warned_of(what: str) -> None:
    call, warning, words = WARNED[what]
    with pytest.warns(warning, match=words):
        call()


@pytest.mark.parametrize(
    ("text", "reader", "words"),
    [
        ("m s target\nm t spoof\nm u nontarget\n", bp.read_key, "the trial is a spoof"),
        ("m s\nm t\n", bp.read_key, "this file has no labels"),
        ("m s target\nm t nontarget\n", bp.read_scores, "is it a key"),
        ("m s x\nm t y\n", bp.read_scores, "list.txt"),
        ("", bp.read_scores, "list.txt"),
    ],
)
def test_files_of_others(
    text: str, reader: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    with pytest.raises(errors.FileFormatError, match=words):
        read(text, reader, tmp_path)


def test_few_replicates_are_named() -> None:
    """Ends of 95 % lie beyond the extreme ones of fewer than 39 replicates."""
    options: Any = {"rng": 1, "interval": "percentile"}
    few = unc.bootstrap(TAR, NON, unc.EER(), replications=38, **options)
    assert "percentile interval of the extreme ones of 38 replicates" in repr(few)
    assert (few.low, few.high) == (few.replicates.min(), few.replicates.max())
    enough = unc.bootstrap(TAR, NON, unc.EER(), replications=39, **options)
    assert "95 % percentile interval" in repr(enough)
