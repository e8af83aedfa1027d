"""Intervals of a table of conditions are those of single bootstraps."""

import warnings

import numpy as np
import pytest

from bosaris_py import uncertainty as unc
from bosaris_py.errors import (
    ConditionWarning,
    FewSpeakersWarning,
    InvalidInputError,
    MissingTrialsWarning,
)
from bosaris_py.evaluation import condition_table
from bosaris_py.trials import Conditions, Key, Scores

N_SPEAKERS = 12
IDS = [f"{number:02}" for number in range(N_SPEAKERS)]
SAME = np.eye(N_SPEAKERS, dtype=bool)
KEY = Key(IDS, IDS, SAME, ~SAME)
FIRST = np.tile(np.arange(N_SPEAKERS) < 4, (N_SPEAKERS, 1))

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


@pytest.fixture
def scores(rng: np.random.Generator) -> Scores:
    return Scores(rng.normal(2.0 * SAME - 1.0), IDS, IDS)


def halves(**options: object) -> Conditions:
    return Conditions({"first": FIRST, "others": ~FIRST}, **options)


@pytest.mark.parametrize("method", ["speaker", "iid"])
def test_as_single_bootstraps(scores, method):
    """All rows, and all figures of a row, see the replicates of one seed."""
    options = {"method": method, "replications": 20}
    table = unc.bootstrap_condition_table(
        scores, KEY, halves(), 0.3, figures=["act_dcf", "eer"], rng=5, **options
    )
    rows = [halves(weights=[1, 0]), halves(weights=[0, 1]), None, halves()]
    for row, conditions in zip(table.rows, rows, strict=True):
        cost = unc.ActDCF(0.3, normalize=True)
        several = unc.bootstrap_scores(
            scores, KEY, [cost, unc.EER()], conditions=conditions, rng=5, **options
        )
        for name, result in zip(("act_dcf(0.3)", "eer"), several, strict=True):
            assert row.figures[name] == pytest.approx(result.estimate, rel=1e-12)
            assert row.intervals[name] == (result.low, result.high)


def test_figures_are_those_of_the_plain_table(scores):
    plain = condition_table(scores, KEY, halves(), [0.1, 0.5], normalize=True)
    table = unc.bootstrap_condition_table(
        scores, KEY, halves(), [0.1, 0.5], normalize=True, figures=[], rng=1
    )
    assert table == plain


def test_all_figures_by_default_and_ends_in_the_records(scores):
    table = unc.bootstrap_condition_table(scores, KEY, halves(), 0.5, replications=10, rng=1)
    for record in table.records():
        for name in ("cllr", "min_cllr", "eer", "act_dcf(0.5)", "min_dcf(0.5)"):
            assert record[f"{name}_low"] <= record[f"{name}_high"]
    assert "[" in str(table)


def test_trials_outside_all_conditions_are_not_pooled(scores):
    conditions = Conditions({"first": FIRST}, uncovered="ignore")
    table = unc.bootstrap_condition_table(
        scores, KEY, conditions, figures=["cllr"], method="iid", replications=10, rng=3
    )
    assert table.rows[0].figures == table.rows[1].figures == table.rows[2].figures
    [pooled] = unc.bootstrap_scores(
        scores, KEY, [unc.Cllr()], conditions=conditions, method="iid", replications=10, rng=3
    )
    assert table.rows[1].intervals["cllr"] == (pooled.low, pooled.high)


def test_rows_without_figures_have_no_intervals(scores):
    conditions = Conditions({"same": SAME, "first": FIRST & ~SAME, "rest": ~(FIRST | SAME)})
    with pytest.warns(ConditionWarning):
        table = unc.bootstrap_condition_table(
            scores, KEY, conditions, figures=["eer"], method="iid", replications=10, rng=3
        )
    assert [list(row.intervals) for row in table.rows] == [[], [], [], ["eer"], ["eer"]]


def test_what_all_rows_have_in_common_is_said_once(scores):
    mask = np.ones(SAME.shape, dtype=bool)
    mask[0, 1] = False
    partial = Scores(scores.scoremat, IDS, IDS, mask)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unc.bootstrap_condition_table(partial, KEY, halves(), replications=10, rng=3)
    missing = [str(item.message) for item in caught if item.category is MissingTrialsWarning]
    assert missing == ["1 of 132 non-targets missing."]
    # Four rows of three figures have few speakers.
    assert sum(item.category is FewSpeakersWarning for item in caught) == 1


def test_unknown_figures(scores):
    with pytest.raises(InvalidInputError, match=r"`figures` .* \(eer, .*\); got 'act_dcf'"):
        unc.bootstrap_condition_table(scores, KEY, halves(), figures=["eer", "act_dcf"])
