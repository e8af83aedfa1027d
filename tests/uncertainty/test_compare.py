"""Comparisons of systems and intervals by speaker, through the public functions."""

import math

import numpy as np
import pytest
from scipy import stats

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewSpeakersWarning, InvalidInputError, TrialMismatchError
from bosaris_py.uncertainty.compare import Comparison, ComparisonTable, holm

K = 14
IDS = [f"s{i}" for i in range(K)]
SAME = np.eye(K, dtype=bool)
KEY = bp.Key(IDS, IDS, SAME, ~SAME)


def system(seed: int, gain: float = 2.0) -> bp.Scores:
    """Return scores of speakers with habits."""
    rng = np.random.default_rng(seed)
    habits = rng.normal(size=(K, 1))
    return bp.Scores(gain * SAME + habits + habits.T + rng.normal(size=(K, K)), IDS, IDS)


def without(scores: bp.Scores, k: int, metric) -> float:
    """Compute a metric without speaker k."""
    kept = np.arange(K) != k
    matrix = scores.scoremat[np.ix_(kept, kept)]
    same = np.eye(K - 1, dtype=bool)
    return metric(matrix[same], matrix[~same])


def test_holm() -> None:
    # Holm 1979: .01 x 3, .02 x 2, .04 x 1, and none below the one before.
    assert holm([0.04, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


def test_tables_of_costs_are_no_percentages() -> None:
    differences = {("a", "b"): unc.Estimate.from_error(0.5, 0.125, confidence=0.9)}
    found = ComparisonTable.from_differences(differences, "cost", level=0.1, percent=False)
    (line,) = repr(found).splitlines()[1:2]
    assert ("0.500" in line, "0.125" in line, "%)" in repr(found)) == (True, True, False)
    assert found.rows[0].p == pytest.approx(2 * stats.norm.sf(4.0), rel=1e-12)
    unknown = {("a", "b"): unc.Estimate(value=0.5, standard_error=None)}
    found = ComparisonTable.from_differences(unknown, "cost", level=0.1, percent=False)
    assert (found.rows[0].p, found.to_dict()[0]["low"]) == (1.0, None)
    assert "0.5000" in repr(found)


def test_difference_equals_a_naive_loop() -> None:
    systems, metric = {"a": system(1), "b": system(2)}, unc.EER()
    with pytest.warns(FewSpeakersWarning):
        table = unc.compare_systems(systems, KEY, metric)
    (row,) = table.rows
    values = [np.array([without(s, k, metric) for k in range(K)]) for s in systems.values()]
    d = values[0] - values[1]
    error = np.sqrt((K - 1) / K * ((d - d.mean()) ** 2).sum())
    assert row.difference.standard_error == pytest.approx(error, rel=1e-11)
    expected = 2 * stats.t.sf(abs(row.difference.value) / error, K - 1)
    assert row.p == row.p_holm == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def table() -> ComparisonTable:
    """Return three systems, the last of which is far worse."""
    systems = {"a": system(1, 4.0), "b": system(1, 4.0001), "c": system(3, 0.0)}
    with pytest.warns(FewSpeakersWarning):
        return unc.compare_systems(systems, KEY, unc.EER(), confidence=0.9)


def test_all_pairs(table: ComparisonTable) -> None:
    assert [(row.first, row.second) for row in table.rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [row.p_holm for row in table.rows] == holm([row.p for row in table.rows]).tolist()
    assert table.rows[1].difference.confidence == pytest.approx(0.9)
    assert table.groups() == (("a", "b"), ("c",))


def test_systems_differ_from_the_level_on() -> None:
    one = unc.Estimate.from_error(0.1, 0.1)
    pairs = {("a", "b"): 0.05, ("a", "c"): 0.050001, ("b", "c"): 0.9}
    rows = tuple(Comparison(*pair, one, p, p) for pair, p in pairs.items())
    found = ComparisonTable(rows, "EER")
    assert [record["significant"] for record in found.to_dict()] == [True, False, False]
    assert found.groups() == (("a", "c"), ("b", "c"))


def test_table_prints_and_exports(table: ComparisonTable) -> None:
    assert " 90 % intervals" in repr(table)
    # Three digits of the least standard error, in per cent.
    errors = [row.difference.standard_error for row in table.rows]
    digits = max(0, 2 - math.floor(math.log10(100 * min(filter(None, errors)))))
    for row, line in zip(table.rows, repr(table).splitlines()[1:], strict=False):
        found = row.difference
        for number in (found.value, found.low, found.high, found.standard_error):
            assert f"{100 * number:.{digits}f}" in line
        assert ("yes" in line) == (row.p_holm <= 0.1)
    assert [note.kind for note in table.notes] == [FewSpeakersWarning]
    record = table.to_dict()[1]
    assert record["significant"] is True
    assert record["low"] < record["difference"] < record["high"]


def test_bad_input() -> None:
    with pytest.raises(InvalidInputError):
        unc.compare_systems({"a": system(1)}, KEY, unc.EER())
    part = system(2).filter(IDS[:-1], IDS, keep=True)
    with pytest.raises(TrialMismatchError):
        unc.compare_systems({"a": system(1), "b": part}, KEY, unc.EER())
    with pytest.raises(InvalidInputError):
        unc.speaker_interval(system(1), KEY, unc.EER)
    with pytest.raises(InvalidInputError):
        unc.speaker_interval(system(1), KEY, unc.EER(), confidence=95)
