"""What a table says of figures that were warned of."""

import pytest

from bosaris_py._notes import Caution
from bosaris_py.errors import (
    FewErrorsWarning,
    FewSpeakersWarning,
    MissingTrialsWarning,
    SuspectScoresWarning,
)
from bosaris_py.evaluation.condition_table import ConditionRow, SystemTable


def row(name: str, eer: float) -> ConditionRow:
    kind = "pooled" if name == "pooled" else "condition"
    intervals = {"eer": (eer / 2, 2 * eer)}
    figures = {"eer": eer, "cllr": 0.5}
    options = {"n_tar": 10, "n_non": 20, "figures": figures, "intervals": intervals}
    return ConditionRow(name=name, kind=kind, weight=None, **options)


def about(**names: str) -> dict[str, tuple[tuple[str, str], ...]]:
    return {"about": tuple(names.items())}


CAUTIONS = (
    Caution(FewSpeakersWarning, "", "", ("eer",), 5, **about(system="A", condition="pooled")),
    Caution(FewSpeakersWarning, "", "", ("eer", "cllr"), 9, **about(system="B", condition="f")),
    Caution(FewErrorsWarning, "", "", ("miss rate",), 3.0, **about(system="B", condition="f")),
    Caution(SuspectScoresWarning, "", "", (), None, **about(system="B")),
    # Of no system: it concerns all.
    Caution(MissingTrialsWarning, "", "", (), 2.0),
)
ROWS = [("A", row("pooled", 0.02)), ("B", row("f", 0.03)), ("B", row("pooled", 0.04))]
FOOTNOTES = [
    # 0.05 = (1 - 0.45)^5: of 45 % of all speakers, none is among five with a chance of 5 %.
    "5 to 9 speakers: a kind of speaker as common as 45 % may be missing from these trials",
    "+ 3 errors of a class, fewer than 30: rates approximate",
    "# scores are hardly log-likelihood-ratios",
    "^ trials without a score do not count",
]


def test_signs_stand_where_the_cautions_say() -> None:
    table = SystemTable(ROWS, cautions=CAUTIONS)
    assert table.footnotes == FOOTNOTES
    assert [line[:2] for line in table._texts()[1:]] == [
        ["A^", "pooled"],
        ["B#^", "f+"],
        ["B#^", "pooled"],
    ]
    assert [line[-2:] for line in table._texts()[1:]] == [
        ["2.00 [1.00, 4.00]", "0.5000"],
        ["3.00 [1.50, 6.00]", "0.5000"],
        ["4.00 [2.00, 8.00]", "0.5000"],
    ]


def test_digits_stay_below_digits() -> None:
    lines = repr(SystemTable(ROWS, cautions=CAUTIONS)).split("\n")
    values = [line for line in lines if "0.5000" in line]
    assert (
        len({line.rindex("0.5000") for line in values})
        == len({line.index("]") for line in values})
        == 1
    )
    assert lines[-4:] == FOOTNOTES
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize("form", ["to_markdown", "to_latex", "_repr_html_"])
def test_every_form_has_the_footnotes(form: str) -> None:
    text = getattr(SystemTable(ROWS, cautions=CAUTIONS), form)()
    for note in FOOTNOTES:
        assert note.lstrip("+#^ ") in text.replace(r"\%", "%")


def test_no_cautions_no_signs() -> None:
    table = SystemTable(ROWS)
    assert table.footnotes == []
    assert table.records() == SystemTable(ROWS, cautions=CAUTIONS).records()
