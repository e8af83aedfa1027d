"""Text tables: alignment, rules, and the head; and the ways out of a table."""

import json
import math
import re
import sys

import attrs
import numpy as np
import pytest

from bosaris_py import Results
from bosaris_py import uncertainty as unc
from bosaris_py._tables import Table, for_json, text_table

ROWS = [("name", "n", "verdict"), ("a", "10", "yes"), ("long name", "5", "no")]


def test_names_stand_left_and_numbers_right():
    assert text_table(ROWS) == [
        "name        n  verdict",
        "a          10      yes",
        "long name   5       no",
    ]


def test_columns_to_the_left_are_padded():
    assert text_table(ROWS, left=(0, 2)) == [
        "name        n  verdict",
        "a          10  yes    ",
        "long name   5  no     ",
    ]


def test_rules_are_as_wide_as_the_table():
    lines = text_table(ROWS, rules=(1, 2))
    assert lines[1] == lines[3] == "-" * len(lines[0])
    assert [lines[i] for i in (0, 2, 4)] == text_table(ROWS)


def test_head_alone():
    assert text_table([("a", "b")]) == ["a  b"]


@attrs.frozen
class Sizes(Table):
    """A table whose cells need care in every format."""

    def records(self):
        return [{"a|b": "<x> & y_z", "share": 1 / 3}, {"a|b": "50 %", "share": None}]

    def _texts(self):
        return [["a|b", "share"], ["<x> & y_z", "0.33"], ["50 %", "-"]]


class TestWaysOut:
    def test_csv(self, tmp_path):
        text = "a|b,share\n<x> & y_z,0.3333333333333333\n50 %,\n"
        assert Sizes().to_csv(tmp_path / "sizes.csv") == text
        assert (tmp_path / "sizes.csv").read_text() == text

    def test_json(self):
        assert json.loads(Sizes().to_json()) == Sizes().records()

    def test_markdown(self):
        lines = ["| a\\|b | share |", "| --- | --: |", "| <x> & y_z | 0.33 |", "| 50 % | - |"]
        assert Sizes().to_markdown().splitlines() == lines

    def test_latex(self):
        lines = [r"\begin{tabular}{lr}", r"\hline", r"a|b & share \\", r"\hline"]
        lines += [r"<x> \& y\_z & 0.33 \\", r"50 \% & - \\", r"\hline", r"\end{tabular}"]
        assert Sizes().to_latex().splitlines() == lines

    def test_html(self):
        head, *rows = re.findall("<tr>(.*)</tr>", Sizes()._repr_html_())
        cells = re.findall("<td[^>]*>([^<]*)<", "".join(rows))
        assert re.findall("<th[^>]*>([^<]*)<", head) == ["a|b", "share"]
        assert cells == ["&lt;x&gt; &amp; y_z", "0.33", "50 %", "-"]
        # Of a long table a printer repeats this part only.
        assert f"<thead><tr>{head}</tr></thead>\n<tbody>\n<tr>{rows[0]}" in Sizes()._repr_html_()
        assert Sizes()._repr_html_().count("text-align: right") == 3

    def test_frame(self):
        pytest.importorskip("pandas")
        frame = Sizes().to_frame()
        assert list(frame.columns) == ["a|b", "share"]
        assert frame.share[0] == 1 / 3

    def test_without_pandas_the_remedy_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match=r"needs pandas.*records\(\) does without"):
            Sizes().to_frame()

    def test_nothing_is_half_written(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Sizes().to_csv(tmp_path / "no folder" / "sizes.csv")


def test_json_has_no_number_that_json_lacks():
    plain = for_json({"x": [math.nan, math.inf, -math.inf, (1.5, None)]})
    assert plain == {"x": [None, "inf", "-inf", [1.5, None]]}


def test_records_of_results_and_costs():
    results = Results([1.0, 3.0], [0.0, 2.0])
    (alone,) = results.records()
    assert alone == results.to_dict()
    rows = results.records([0.1, 0.5])
    assert [row["act_dcf"] for row in rows] == results.norm_act_dcf([0.1, 0.5]).tolist()
    assert all(row["eer"] == results.eer for row in rows)


def test_records_of_a_bootstrap():
    result = unc.bootstrap([1.0, 3.0, 2.0] * 40, [0.0, 2.0] * 60, unc.ErrorRates([1.5, 1.9]), rng=1)
    records = result.records()
    assert [record["low"] for record in records] == np.ravel(result.low).tolist()
    assert {record["replications"] for record in records} == {2000}
