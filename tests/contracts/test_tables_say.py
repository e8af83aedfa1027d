"""Each table says in each form what its numbers are: point, scale, definition, intervals."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py._tables import Table
from tests.forms import described

IDS = [f"s{i:02}" for i in range(24)]
SAME = np.eye(24, dtype=bool)
KEY = bp.Key(IDS, IDS, SAME, ~SAME)
FIRST = np.arange(24)[:, None] < [12] * 24
POINT = bp.OperatingPoint(0.05, 10, 1)


def make_systems() -> dict[str, bp.Scores]:
    rng = np.random.default_rng(5)
    return {name: bp.Scores(rng.normal(3.0 * SAME - 1), IDS, IDS) for name in ("A", "B")}


SYSTEMS = make_systems()
HALVES = bp.Conditions({"first": FIRST, "others": ~FIRST})
DRAWN = {"replications": 40, "rng": 1}

HULL = "EER of the ROC's convex hull"
BOOTSTRAP = "95 % intervals: speaker bootstrap, 40 replicates, percentile"
JACKKNIFE = "95 % intervals: jackknife over speakers"

# Each table: how it is made, and what it must say below its figures. Records say it in fields.
TABLES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "evaluate": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=[0.3, POINT]),
        ("24 targets, 552 non-targets", "costs are normalized", HULL),
    ),
    "evaluate, costs as they are": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, normalize=False),
        ("costs are not normalized", HULL),
    ),
    "evaluate, steps": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, eer="step"),
        ("costs are normalized", "EER of the step of the ROC where both rates are nearest"),
    ),
    "evaluate, replicates": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, **DRAWN),
        ("costs are normalized", HULL, BOOTSTRAP),
    ),
    "evaluate, interpolated, replicates": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, eer="interpolated", **DRAWN),
        ("EER interpolated on the steppy ROC", BOOTSTRAP),
    ),
    "evaluate, jackknife": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, speakers=lambda name: name),
        (HULL, JACKKNIFE),
    ),
    "evaluate, conditions": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, conditions=HALVES, **DRAWN),
        ("costs are normalized", HULL, BOOTSTRAP),
    ),
    "table of evaluate": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, **DRAWN).table,
        ("24 targets, 552 non-targets", "costs are normalized", HULL, BOOTSTRAP),
    ),
    "results alone": (
        lambda: bp.evaluate({"A": ([1.0, 3.0], [0.0, 2.0])}, prior=0.3),
        ("2 targets, 2 non-targets", "costs are normalized", HULL),
    ),
}


def pages(table: Table) -> dict[str, str]:
    """Return the forms that are for reading, without what each adds for itself."""
    html = table._repr_html_().replace("&#x27;", "'")
    latex = table.to_latex().replace(r"\%", "%").replace(r"\_", "_")
    return {"text": str(table), "Markdown": table.to_markdown(), "LaTeX": latex, "HTML": html}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("name", TABLES)
def test_each_form_says_what_its_numbers_are(name: str) -> None:
    make, said = TABLES[name]
    table = make()
    for form, page in pages(table).items():
        for words in said:
            assert words in page, form
    records = table.records()
    exact = {
        "CSV": table.to_csv(),
        "JSON": json.dumps(json.loads(table.to_json()), ensure_ascii=False),
        "frame": table.to_frame().to_csv(),
    }
    for record in records:
        of_costs = any("DCF" in words or "costs" in words for words in said)
        assert record["normalized"] is (not any("not norm" in w for w in said)) or not of_costs
        # What is a sentence on a page is a field here; counts, scale and definition are values.
        for words in said:
            if "intervals" in words:
                assert words in record["intervals"]
        definitions = {"convex": "rocch", "interpolated": "interpolated", "step of": "step"}
        (found,) = {value for word, value in definitions.items() if word in table._note}
        assert record["eer_definition"] == found
    for form, text in exact.items():
        for field in ("normalized", "intervals"):
            assert field in text, form
        for value in {record["intervals"] for record in records} - {None}:
            assert value in text, form


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_one_and_two_points_have_the_same_columns() -> None:
    for options in ({}, {"conditions": HALVES}, DRAWN):
        one, two = (bp.evaluate(SYSTEMS, KEY, prior=p, **options) for p in (0.3, [0.3, 0.1]))
        for first, second in zip(one.records(), two.records(), strict=True):
            assert [name for name in second if "(0.1)" not in name] == list(first)
        assert "minDCF(0.3)" in str(one).splitlines()[0]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_one_order_of_columns() -> None:
    order = ["eer", "min_dcf(0.3)", "act_dcf(0.3)", "min_cllr", "cllr"]
    for table in (
        bp.evaluate(SYSTEMS, KEY, prior=0.3).table.rows[0][1],
        bp.evaluate(SYSTEMS, KEY, prior=0.3, conditions=HALVES).table.rows[0][1],
    ):
        assert list(table.figures) == order


SEXES = np.array(["f", "m"] * 12)
SPLIT = described(KEY, model_columns={"enrolled": SEXES}, segment_columns={"tested": SEXES})


# Tables of other layouts: how each is made, what is said below it, and what each record says.
OTHERS: dict[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    "comparison": (
        lambda: bp.evaluate(SYSTEMS, KEY, prior=0.3, eer="interpolated").compare(),
        (
            "interpolated",
            "first minus second",
            "95 % intervals: jackknife over speakers",
            "Holm's correction, level 0.05",
        ),
        {"first": "A", "second": "B"},
    ),
    "bootstrap table": (
        lambda: unc.bootstrap_table(SYSTEMS, KEY, unc.MinDCF(0.3), methods=["iid"], **DRAWN),
        ("minDCF(0.3)", "95 % intervals of 40 replicates"),
        {"method": "iid", "metric": unc.MinDCF(0.3).label},
    ),
}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_no_table_is_forgotten() -> None:
    """Of the classes of tables, `PrintedTable` is a page of a paper, word by word."""

    def subclasses(cls: type) -> set[str]:
        own = {each for each in cls.__subclasses__() if each.__module__.startswith("bosaris_py")}
        return {each.__name__ for each in own}.union(*map(subclasses, own))

    made = {type(make()).__name__ for make, *_ in (*TABLES.values(), *OTHERS.values())}
    assert subclasses(Table) - made <= {"AnnotatedTable", "PrintedTable"}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_tables_of_other_layouts_say_it_too(name: str) -> None:
    make, said, fields = OTHERS[name]
    table = make()
    for form, page in pages(table).items():
        for words in said:
            assert words in page, form
    for record in table.records():
        assert {field: record[field] for field in fields} == fields
    exact = table.to_csv(), table.to_json(), table.to_frame().to_csv()
    assert all(field in text for field in fields for text in exact)


NOISE = np.random.default_rng(1).normal(size=(3, 12, 12))
DOZEN = bp.Key(IDS[:12], IDS[:12], SAME[:12, :12], ~SAME[:12, :12])
NOISY = {
    "A": bp.Scores(2.0 * SAME[:12, :12] - 1.0 + NOISE[0], IDS[:12], IDS[:12]),
    # Without the scores of one target and 11 non-targets.
    "B": bp.Scores(2.0 * SAME[:12, :12] - 1.0 + NOISE[1], IDS[:12], IDS[:12]).filter(
        IDS[1:12], IDS[:12], keep=True
    ),
    # No log-likelihood-ratios, far from it.
    "C": bp.Scores(-9.0 * SAME[:12, :12] + NOISE[2], IDS[:12], IDS[:12]),
}


@pytest.mark.parametrize(
    "options",
    [
        {"speakers": lambda name: name},
        {"replications": 20, "rng": 1},
        {
            "replications": 20,
            "rng": 1,
            "conditions": bp.Conditions({"all": np.ones((12, 12), bool)}),
        },
        {"cross_fit": True, "rng": 1, "speakers": lambda name: name},
    ],
)
def test_a_table_warns_of_what_single_calls_warn_of(options: dict[str, Any]) -> None:
    """One warning of a category, and in the records each system of a call of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bp.evaluate(NOISY, DOZEN, **options)
    given = [item.category.__name__ for item in caught]
    assert len(set(given)) == len(given) >= 2
    assert {record["category"] for record in found.cautions} == set(given)
    for item in caught:
        named = {r["system"] for r in found.cautions if r["category"] == item.category.__name__}
        assert named <= {*re.findall(r"\b[ABC]\b", str(item.message))}
    alone = set()
    for name, scores in NOISY.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bp.evaluate({name: scores}, DOZEN, **options)
        alone |= {(item.category.__name__, name) for item in caught}
    assert {(record["category"], record["system"]) for record in found.cautions} == alone


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_few_speakers_are_records_with_their_count() -> None:
    found = bp.evaluate({"A": NOISY["A"]}, DOZEN, prior=0.5, speakers=lambda name: name)
    (record,) = (r for r in found.cautions if r["category"] == "FewSpeakersWarning")
    assert (record["system"], record["count"]) == ("A", 12)
