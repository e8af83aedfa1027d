"""Comparisons of systems and intervals by speaker, through the public functions."""

import numpy as np
import pytest
from scipy import stats

from bosaris_py import Scores, errors, uncertainty as unc
from bosaris_py.uncertainty.compare import Comparison, ComparisonTable, holm
from tests.uncertainty.samples import square

K = 14
(ONE, KEY), (OTHER, _) = (square(seed, K) for seed in (1, 2))


def without(scores: Scores, k: int, metric) -> float:
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
    assert "%)" not in repr(found)
    assert "\na      b       " in repr(found)
    assert found.rows[0].p == pytest.approx(2 * stats.norm.sf(4.0), rel=1e-12)
    unknown = {("a", "b"): unc.Estimate(value=0.5, standard_error=None)}
    found = ComparisonTable.from_differences(unknown, "cost", level=0.1, percent=False)
    # Where there is no test, there is no p-value and no verdict.
    assert {*map(found.to_dict()[0].get, ("low", "p_value", "p_holm", "significant"))} == {None}
    assert "\na      b           0.5000   -         -  -\n" in repr(found)


def test_difference_equals_a_naive_loop() -> None:
    systems, metric = {"a": ONE, "b": OTHER}, unc.EER()
    with pytest.warns(errors.FewSpeakersWarning):
        table = unc.compare_systems(systems, KEY, metric)
    (row,) = table.rows
    values = [np.array([without(s, k, metric) for k in range(K)]) for s in systems.values()]
    d = values[0] - values[1]
    error = np.sqrt((K - 1) / K * ((d - d.mean()) ** 2).sum())
    assert row.difference.standard_error == pytest.approx(error, rel=1e-11)
    expected = 2 * stats.t.sf(abs(row.difference.value) / error, K - 1)
    assert row.p == row.p_holm == pytest.approx(expected, rel=1e-9)
    systems["b"] = OTHER.transform(np.negative)
    with (
        pytest.warns(errors.FewSpeakersWarning),
        pytest.warns(errors.SuspectScoresWarning, match="^b: The area"),
    ):
        unc.compare_systems(systems, KEY, metric)


@pytest.fixture(scope="module")
def table() -> ComparisonTable:
    """Return three systems, the last of which is far worse."""
    drawn = {"a": (1, 4.0), "b": (1, 4.0001), "c": (3, 0.0)}
    systems = {name: square(seed, K, gain)[0] for name, (seed, gain) in drawn.items()}
    with pytest.warns(errors.FewSpeakersWarning):
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


def test_table_exports(table: ComparisonTable) -> None:
    assert [note.kind for note in table.notes] == [errors.FewSpeakersWarning]
    record = table.to_dict()[1]
    assert record["significant"] is True
    assert record["low"] < record["difference"] < record["high"]


def test_bad_input() -> None:
    with pytest.raises(errors.InvalidInputError):
        unc.compare_systems({"a": ONE}, KEY, unc.EER())
    part = OTHER.filter(KEY.modelset[:-1], KEY.segset, keep=True)
    with pytest.raises(errors.TrialMismatchError):
        unc.compare_systems({"a": ONE, "b": part}, KEY, unc.EER())
    for metric, options in ((unc.EER, {}), (unc.EER(), {"confidence": 95})):
        with pytest.raises(errors.InvalidInputError):
            unc.speaker_interval(ONE, KEY, metric, **options)
