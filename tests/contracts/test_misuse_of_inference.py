"""What people do wrong with costs, speakers, cases and thresholds: refused, or warned of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import errors
from bosaris_py import uncertainty as unc

RNG = np.random.default_rng(0)
TAR, NON = RNG.normal(2, 1.5, 300), RNG.normal(-2, 1.5, 3000)
IDS = [f"sp{i:02d}_{j}" for i in range(20) for j in range(3)]
SAME = np.arange(60)[:, None] // 3 == np.arange(60) // 3
ONCE = np.triu(np.ones_like(SAME), 1)
SYSTEM = bp.Scores(np.where(SAME, 2, -2) + RNG.normal(0, 1.5, SAME.shape), IDS, IDS)
OTHER = SYSTEM.transform(lambda values: values + RNG.normal(0, 1, values.shape))
KEY = bp.Key(IDS, IDS, SAME & ONCE, ~SAME & ONCE)
RESULTS = bp.Results(TAR, NON)
LINE = bp.LinearCalibration.fit_scores(SYSTEM, KEY)
FUSION = bp.LinearFusion.fit_scores({"a": SYSTEM, "b": OTHER}, KEY)
CASE: Any = {"propositions": ("one", "two"), "reference": "20 people", "replications": 0}


def person(segment: str) -> str:
    return segment.split("_")[0]


WRONG = errors.InvalidInputError
MISSPELT: Any = "0.01"
# What is done; the error and what its message says.
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
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
    # Operating points
    "a prior of 0": (lambda: bp.min_dcf(TAR, NON, 0.0), WRONG, "strictly between 0 and 1"),
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
    "inverted training": (lambda: bp.LinearCalibration.fit(-TAR, -NON), SUSPECT, "negative"),
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


def test_few_replicates_are_named() -> None:
    """Ends of 95 % lie beyond the extreme ones of fewer than 39 replicates."""
    options: Any = {"rng": 1, "interval": "percentile"}
    few = unc.bootstrap(TAR, NON, unc.EER(), replications=38, **options)
    assert "percentile interval of the extreme ones of 38 replicates" in repr(few)
    assert (few.low, few.high) == (few.replicates.min(), few.replicates.max())
    enough = unc.bootstrap(TAR, NON, unc.EER(), replications=39, **options)
    assert "95 % percentile interval" in repr(enough)
