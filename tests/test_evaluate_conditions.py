"""Intervals of rows of conditions are those of single calls."""

import warnings

import numpy as np
import pytest

from bosaris_py import evaluate, uncertainty as unc
from bosaris_py.errors import ConditionWarning, FewSpeakersWarning, MissingTrialsWarning
from bosaris_py.evaluation import ConditionRow
from bosaris_py.trials import Conditions, Key, Scores

N_SPEAKERS = 12
IDS = [f"{number:02}" for number in range(N_SPEAKERS)]
SAME = np.eye(N_SPEAKERS, dtype=bool)
KEY = Key(IDS, IDS, SAME, ~SAME)
FIRST = np.tile(np.arange(N_SPEAKERS) < 4, (N_SPEAKERS, 1))

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]


@pytest.fixture
def scores(rng: np.random.Generator) -> Scores:
    return Scores(rng.normal(2.0 * SAME - 1.0), IDS, IDS)


def halves(**options: object) -> Conditions:
    return Conditions({"first": FIRST, "others": ~FIRST}, **options)


def rows_of(scores: Scores, conditions: Conditions, **options: object) -> list[ConditionRow]:
    options = {"speakers": lambda name: name} | options
    return [row for _, row in evaluate(scores, KEY, conditions=conditions, **options).table.rows]


METRICS = {"act_dcf(0.3)": unc.ActDCF(0.3), "eer": unc.EER(), "cllr": unc.Cllr()}


def check_row(row: ConditionRow, scores: Scores, conditions: Conditions | None) -> None:
    for name, metric in METRICS.items():
        found = unc.speaker_interval(scores, KEY, metric, conditions=conditions)
        assert row.figures[name] == pytest.approx(found.value, rel=1e-12)
        assert row.intervals[name] == pytest.approx((found.low, found.high), rel=1e-9)


def test_as_single_intervals(scores):
    rows = rows_of(scores, halves(), prior=0.3)
    each = [halves(weights=[1, 0]), halves(weights=[0, 1]), None, halves()]
    for row, conditions in zip(rows, each, strict=True):
        check_row(row, scores, conditions)


def test_replicates_are_those_of_a_seed(scores):
    drawn = {"replications": 20, "rng": 5}
    rows = rows_of(scores, halves(), prior=0.3, **drawn)
    for row, conditions in ((rows[0], halves(weights=[1, 0])), (rows[3], halves())):
        for name, metric in METRICS.items():
            found = unc.bootstrap_scores(scores, KEY, metric, conditions=conditions, **drawn)
            assert row.intervals[name] == pytest.approx((found.low, found.high), rel=1e-12)


def test_trials_outside_all_conditions_are_not_pooled(scores):
    conditions = Conditions({"first": FIRST}, uncovered="ignore")
    rows = rows_of(scores, conditions, prior=0.3)
    assert rows[0].figures == rows[1].figures == rows[2].figures
    check_row(rows[1], scores, conditions)


def test_rows_without_figures_have_no_intervals(scores):
    conditions = Conditions({"same": SAME, "first": FIRST & ~SAME, "rest": ~(FIRST | SAME)})
    with pytest.warns(ConditionWarning):
        rows = rows_of(scores, conditions)
    assert [bool(row.intervals) for row in rows] == [False, False, False, True, True]


def test_what_all_rows_have_in_common_is_said_once(scores):
    mask = np.ones(SAME.shape, dtype=bool)
    mask[0, 1] = False
    partial = Scores(scores.scoremat, IDS, IDS, mask)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows_of(partial, halves())
    missing = [str(item.message) for item in caught if item.category is MissingTrialsWarning]
    assert missing == ["system: 1 of 132 non-targets missing."]
    # Four rows have few speakers.
    assert sum(item.category is FewSpeakersWarning for item in caught) == 1
