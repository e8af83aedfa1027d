"""Text tables: alignment, rules, and the head; and the ways out of a table."""

import json
import math
import re
import sys

import attrs
import pytest

from bosaris_py import _tables
from bosaris_py._tables import Table, WithInterval, fitted, for_json, narrow_table, text_table

ROWS = [("name", "n", "verdict"), ("a", "10", "yes"), ("long name", "5", "no")]


def test_names_stand_left_and_rules_are_as_wide_as_the_table():
    lines = ["name        n  verdict", "a          10      yes", "long name   5       no"]
    assert text_table(ROWS) == lines
    rule = "-" * len(lines[0])
    assert text_table(ROWS, rules=(1, 2)) == [lines[0], rule, lines[1], rule, lines[2]]


def test_narrow_tables_have_intervals_below_and_columns_in_groups():
    rows = [["system", "EER", "Cllr"], ["A", WithInterval("2.4", "[1.8, 3.2]"), "0.29"]]
    assert narrow_table(rows, 24) == [
        "system         EER  Cllr",
        "-" * 24,
        "A              2.4  0.29",
        "        [1.8, 3.2]",
    ]
    assert narrow_table(rows, 23) == [
        "system         EER",
        "-" * 18,
        "A              2.4",
        "        [1.8, 3.2]",
        "",
        "system  Cllr",
        "-" * 12,
        "A       0.29",
    ]


@pytest.mark.parametrize("width", [40, 79])
def test_narrow_tables_break_long_names(width):
    name = "a system with a long name" * 5
    lines = narrow_table([["first", "second", "p"], [name, name, "0.05"]], width, left=(0, 1))
    assert max(map(len, lines)) <= width
    first, second = lines[0].index("second"), lines[0].rindex("p")
    assert "".join(line[:first] for line in lines[2:]).replace(" ", "") == name.replace(" ", "")
    assert second > first


def test_names_get_half_of_the_width():
    """Of 40 columns a name and its gap of two have 20: 18 letters stay whole, 19 do not."""
    lines = narrow_table([["name", "p"], ["x" * 18, "1"], ["y" * 19, "2"]], 40)
    assert [line.split() for line in lines[2:]] == [["x" * 18, "1"], ["y" * 18, "2"], ["y"]]


def test_only_what_is_too_wide_is_laid_out_anew():
    assert fitted("name  some words\nnext", 14) == "name  some\n      words\nnext"
    # Options and names of files have hyphens.
    assert fitted("some well-known", 10) == "some\nwell-known"


@attrs.frozen
class Sizes(Table):
    """A table whose cells need care in every format."""

    def to_dict(self):
        return [{"a|b": "<x> & y_z", "share": 1 / 3}, {"a|b": "50 %", "share": None}]

    def _texts(self):
        return [["a|b", "share"], ["<x> & y_z", "0.33"], ["50 %", "-"]]


class TestWaysOut:
    def test_csv(self, tmp_path):
        text = "a|b,share\n<x> & y_z,0.3333333333333333\n50 %,\n"
        assert Sizes().to_csv(tmp_path / "sizes.csv") == text
        assert (tmp_path / "sizes.csv").read_text() == text

    def test_json(self):
        assert json.loads(Sizes().to_json()) == Sizes().to_dict()
        assert Sizes().to_json().splitlines()[:3] == ["[", " {", '  "a|b": "<x> & y_z",']
        # JSON has neither NaN nor infinities.
        plain = for_json({"x": [math.nan, math.inf, -math.inf, (1.5, None)]})
        assert plain == {"x": [None, "inf", "-inf", [1.5, None]]}
        values = (1.5, math.inf, "nan", None, math.nan)
        assert [_tables.or_none(value) for value in values] == [1.5, math.inf, "nan", None, None]

    def test_markdown(self):
        lines = ["| a\\|b | share |", "| --- | --: |", "| &lt;x> & y_z | 0.33 |", "| 50 % | - |"]
        assert Sizes().to_markdown().splitlines() == lines

    def test_latex(self):
        lines = [r"% \usepackage{booktabs}", r"\begin{tabular}{lr}", r"\toprule"]
        lines += [r"a|b & share \\", r"\midrule"]
        lines += [
            r"\textless{}x\textgreater{} \& y\_z & 0.33 \\",
            r"50 \% & - \\",
            r"\bottomrule",
            r"\end{tabular}",
        ]
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
        with pytest.raises(ImportError, match=r"needs pandas.*to_dict\(\) does without"):
            Sizes().to_frame()

    def test_nothing_is_half_written(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Sizes().to_csv(tmp_path / "no folder" / "sizes.csv")


# Names of systems and conditions come from the files of others: tests/contracts/test_tables.py.
HOSTILE = {
    "formula": "=cmd|' /C calc'!A0",
    "tag": "<script>alert(1)</script>",
    "image": "![x](http://a.b/c) <img onerror=x>",
    "code": "`x` *a* _b_ [y](javascript:1) &lt;",
    "latex": r"\input{/etc/passwd} $x^2$ 50% #1 a~b",
    "argument": "[ours]",
    "star": "*ours",
    "row": "a\nb",
    "return": "a\rb",
    "table": 'a|b,c;"d" & e \\\\',
    "left": "\u202egnp.exe",
    "escape": "\x1b[31mred",
    "nul": "a\0b",
    "half": "a\udcffb",
    "long": "x" * 10**5,
}


@attrs.frozen
class Named(Table):
    """A table of one name, in its first and its second row, which has the best number."""

    name: str
    note: str = ""

    @property
    def _note(self):
        return self.note

    def _best(self):
        return {(1, 1)}

    def to_dict(self):
        return [{"system": self.name, "eer": 0.5}] * 2

    def _texts(self):
        return [["system", "EER"], *[[self.name, "50"]] * 2]


def test_best_cells_are_bold_and_names_have_a_direction_of_their_own():
    shown = Named("a")._repr_html_()
    cells = re.findall(r"<td style=\"text-align: \w+(.*?)\">(\w+)<", shown)
    assert cells == [("", "a"), ("", "50"), ("", "a"), ("; font-weight: bold", "50")]
    assert "<bdi>" not in shown
    assert "<bdi>שלום</bdi>" in Named("שלום")._repr_html_()


def test_notes_stand_below_in_every_form():
    """A note may name a system, or a column of the metadata; no full stop stands before another."""
    noted = Named("a", _tables.joined_notes("50 %.", "", "<img src=x>", "[a](b) *c*", "d\ne\x1b"))
    end = "\n(50 %; &lt;img src=x>; [a\\](b) \\*c\\*; d\\\\ne\\\\x1b)\n"
    assert noted.to_markdown().endswith(end)
    assert r"(50 \%; " in noted.to_latex()
    assert "(50 %; &lt;img" in noted._repr_html_()
    assert "\x1b" not in noted.to_latex() + noted._repr_html_()
    # Sentences and clauses become one sentence.
    assert _tables.joined_notes("A 1.", "b, ...", "Or c?", "D 2. E.") == "A 1; b, ...; Or c? D 2. E"
    assert "footnotesize" not in Named("a").to_latex()
