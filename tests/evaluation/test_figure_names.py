"""One name for each figure, whichever statistic draws it again and whatever shows it."""

import pytest

from bosaris_py import evaluate
from bosaris_py.evaluation import PLANS
from bosaris_py.evaluation.figure_names import FIGURES, figure_of
from bosaris_py.evaluation.rows import metrics_of_plan
from bosaris_py.metrics.costs import ActDCF, Cllr, MinDCF
from bosaris_py.metrics.ranks import EER, MinCllr


def test_a_column_of_an_operating_point_is_named_after_it():
    assert figure_of("min_dcf(0.05)").name == "minDCF(0.05)"
    assert figure_of("act_dcf(0.1, 10, 1)").head == "actDCF(0.1, 10, 1)"
    assert figure_of("act_dcf(0.1, 10, 1)").column == "act_dcf(0.1, 10, 1)"


def test_an_unknown_column_is_shown_as_it_is():
    assert figure_of("my_metric").head == "my_metric"
    assert figure_of("my_metric").text(0.25) == "0.2500"


def test_rates_are_in_per_cent():
    assert figure_of("sv_eer").head == "SV-EER (%)"
    assert figure_of("sv_eer").text(0.01234) == "1.23"
    rates = {name for name, one in FIGURES.items() if one.is_rate}
    assert rates == {name for name in FIGURES if name.endswith("eer")}


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("eer", "an EER"),
        ("sv_eer", "an SV-EER"),
        ("act_dcf", "an actDCF"),
        ("min_dcf", "a minDCF"),
        ("cm_eer", "a CM-EER"),
        ("t_eer", "a t-EER"),
    ],
)
def test_names_stand_in_sentences(column, text):
    assert figure_of(column).with_article == text


def test_a_report_explains_every_figure():
    assert all(one.meaning.endswith(".") for one in FIGURES.values())


def test_metrics_are_called_as_their_columns():
    metrics = {"eer": EER(), "cllr": Cllr(), "min_cllr": MinCllr()}
    metrics |= {"min_dcf(0.05)": MinDCF(0.05), "act_dcf(0.05)": ActDCF(0.05)}
    plan, of_kinds = PLANS["ASVspoof5-2"], [one for one in FIGURES.values() if one.of_kinds]
    alone = [one.column for one in of_kinds if not one.of_tandem and one.column != "cm_eer"]
    metrics |= metrics_of_plan(plan.evolve(figures=alone), "rocch")
    metrics |= metrics_of_plan(PLANS["ESDD"], "rocch")
    tandem = [one.column for one in of_kinds if one.of_tandem]
    metrics |= metrics_of_plan(plan.evolve(figures=tandem), "rocch")
    assert {*alone, *tandem} < {*metrics}
    assert all(metric.label == figure_of(name).name for name, metric in metrics.items())


def test_all_figures_of_a_table_are_known():
    table = evaluate({"a": ([1.0, 3.0], [-2.0, 0.5, 2.0])}, plan=None, prior=[0.05, 0.5])
    (row,) = table.rows
    assert {name.partition("(")[0] for name in row.figures} <= {*FIGURES}
