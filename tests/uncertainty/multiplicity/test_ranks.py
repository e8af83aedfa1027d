"""Rank intervals, counted by hand."""

import itertools
from types import SimpleNamespace

import attrs
import numpy as np
import pytest

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError

TWENTY = {"replications": 20, "rng": 1}


def _table(metrics, sure, **options):
    """Compare systems by their metric, surely different where a pair is named."""
    tests = {
        pair: SimpleNamespace(
            difference=metrics[pair[0]] - metrics[pair[1]],
            standard_error=0.1,
            p_value=1e-6 if "".join(pair) in sure else 0.6,
        )
        for pair in itertools.combinations(metrics, 2)
    }
    return unc.ComparisonTable.from_tests(tests, **options)


def _best_of(test):
    """Return which of two systems may be the best one, by one test."""
    return (
        unc.ComparisonTable.from_tests({("A", "B"): test})
        .rank_intervals(larger_is_better=False)
        .best
    )


def test_counts_by_hand():
    # B is surely better than A and D; C and D overlap with all others.
    table = _table({"A": 0.3, "B": 0.1, "C": 0.2, "D": 0.4}, {"AB", "BD"})
    ranks = table.rank_intervals(larger_is_better=False)
    assert [(r["system"], r["rank_low"], r["rank_high"]) for r in ranks.records()] == [
        ("A", 2, 4),
        ("B", 1, 2),
        ("C", 1, 4),
        ("D", 2, 4),
    ]
    assert ranks.best == ("B", "C")
    assert repr(ranks).splitlines()[1:3] == ["A       2 to 4  no", "B       1 to 2  yes"]
    turned = table.rank_intervals(larger_is_better=True)
    assert turned.high == (3, 4, 4, 3)
    assert turned.low == (1, 3, 1, 1)


def test_records_and_note_say_what_the_ranks_are():
    """At level 0.1 the confidence is 0.9; tests without a metric have none in the records."""
    table = _table({"A": 1.0, "B": 2.0}, {"AB"}, level=0.1)
    ranks = table.rank_intervals(larger_is_better=False)
    common = {"metric": None, "confidence": 0.9, "correction": "holm"}
    assert ranks.records() == [
        {"system": "A", "rank_low": 1, "rank_high": 1, "may_be_best": True} | common,
        {"system": "B", "rank_low": 2, "rank_high": 2, "may_be_best": False} | common,
    ]
    named = attrs.evolve(ranks, metric="EER")
    assert [row["metric"] for row in named.records()] == ["EER", "EER"]
    note = "(EER; ranks of all systems, 90 % confidence; Holm's correction)"
    assert repr(named).splitlines() == [
        "system  rank  may be the best",
        "A          1  yes",
        "B          2  no",
        note,
    ]


def test_nothing_found_leaves_all_ranks_open():
    ranks = _table({"A": 1.0, "B": 2.0, "C": 3.0}, set()).rank_intervals(larger_is_better=False)
    assert ranks.low == (1, 1, 1)
    assert ranks.high == (3, 3, 3)
    assert ranks.best == ("A", "B", "C")


def test_directions_count_twice_as_many_tests():
    # Two-sided p of .02: one-sided .01, times six tests of both directions is .06.
    metrics = {"A": 0.1, "B": 0.2, "C": 0.3}
    tests = {
        pair: SimpleNamespace(
            difference=metrics[pair[0]] - metrics[pair[1]], standard_error=0.1, p_value=p
        )
        for pair, p in {("A", "B"): 0.9, ("B", "C"): 0.9, ("A", "C"): 0.02}.items()
    }
    found = unc.ComparisonTable.from_tests(tests, level=0.059).rank_intervals(
        larger_is_better=False
    )
    assert found.high == (3, 3, 3)
    found = unc.ComparisonTable.from_tests(tests, level=0.061).rank_intervals(
        larger_is_better=False
    )
    assert found.high == (2, 3, 3)


@pytest.mark.parametrize("form", ["to_latex", "to_markdown", "to_csv", "to_json", "_repr_html_"])
def test_ways_out(form):
    ranks = _table({"A_1": 1.0, "B": 2.0}, {"A_1B"}).rank_intervals(larger_is_better=False)
    assert "B" in getattr(ranks, form)()


def test_metric_without_a_better_end():
    with pytest.raises(InvalidInputError, match="`larger_is_better`"):
        _table({"A": 1.0, "B": 2.0}, set()).rank_intervals()


def test_pair_that_was_not_compared():
    tests = {
        pair: SimpleNamespace(difference=0.1, standard_error=0.1, p_value=0.5)
        for pair in (("A", "B"), ("B", "C"))
    }
    with pytest.raises(InvalidInputError, match="not A and C"):
        unc.ComparisonTable.from_tests(tests).rank_intervals(larger_is_better=False)


def test_one_sided_tests_keep_their_side():
    test = SimpleNamespace(
        difference=-0.3, standard_error=0.1, p_value=0.999, alternative="greater"
    )
    table = unc.ComparisonTable.from_tests({("A", "B"): test})
    assert table.rank_intervals(larger_is_better=False).best == ("A",)
    assert not np.any(table.corrected.significant)


def test_sides_that_were_not_asked_about_have_least_p_values():
    """Of three speakers one in eight swaps is as extreme: p is .125 at the least, on each side."""
    test = unc.speaker_permutation_test([0.0] * 3, [1.0] * 3, alternative="greater")
    assert _best_of(test) == ("A", "B")
    # The signs of four misses are alike by chance once in 16 times; z is -2.
    with pytest.warns(FewErrorsWarning):
        test = unc.hter_z_test(unc.Disagreements(0, 4, 400, 0, 0, 9000), alternative="greater")
    assert test.z == -2.0
    assert _best_of(test) == ("A", "B")


def test_side_of_a_paired_bootstrap_that_was_not_asked_about(rng):
    names = [f"s{i:02d}" for i in range(40)]
    key = Key(names, names, np.eye(40, dtype=bool), ~np.eye(40, dtype=bool))
    good = rng.normal(size=(40, 40)) + 3.0 * np.eye(40)
    a, b = (Scores(x, names, names) for x in (good, good - 3.0 * np.eye(40)))
    found = [
        unc.paired_bootstrap(a, b, key, unc.EER(), method="iid", alternative=side, **TWENTY)
        for side in ("less", "greater")
    ]
    # All 20 replicates lie below zero: p is 1 / 20, and there are two directions.
    assert [each.p_value for each in found] == pytest.approx([1 / 20, 1.0])
    assert [_best_of(each) for each in found] == [("A", "B")] * 2
