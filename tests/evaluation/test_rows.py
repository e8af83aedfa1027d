"""What figures are called, the metric of each, and the operating points of their names."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FewErrorsWarning
from bosaris_py.evaluation import PLANS
from bosaris_py.evaluation.rows import FIGURES, figure_of, metrics_of_plan
from bosaris_py.metrics.costs import ActDCF, Cllr, MinDCF
from bosaris_py.metrics.metric import AnyMetric
from bosaris_py.metrics.ranks import EER, MinCllr


def test_what_figures_are_called() -> None:
    columns = {"act_dcf(0.1, 10, 1)": "actDCF(0.1, 10, 1)", "my_metric": "my_metric"}
    assert all(figure_of(name).head == head for name, head in columns.items())
    assert (figure_of("sv_eer").head, figure_of("sv_eer").text(0.01234)) == ("SV-EER (%)", "1.23")
    rates = {name for name, one in FIGURES.items() if one.is_rate}
    assert rates == {name for name in FIGURES if name.endswith("eer")}
    assert all(one.meaning.endswith(".") for one in FIGURES.values())


def test_metrics_are_called_as_their_columns() -> None:
    metrics: dict[str, AnyMetric] = {"eer": EER(), "cllr": Cllr(), "min_cllr": MinCllr()}
    metrics |= {"min_dcf(0.05)": MinDCF(0.05), "act_dcf(0.05)": ActDCF(0.05)}
    plan = PLANS["ASVspoof5-2"]
    metrics |= metrics_of_plan(plan, "rocch") | metrics_of_plan(PLANS["ESDD"], "rocch")
    tandem = plan.evolve(figures=["t_dcf", "act_t_dcf", "t_eer"])
    metrics |= metrics_of_plan(tandem, "rocch")
    assert all(metric.label == figure_of(name).name for name, metric in metrics.items())
    known = {name.partition("(")[0] for name in metrics} | {"min_primary", "act_primary"}
    assert known == {*FIGURES}


@pytest.mark.parametrize("prior", [(0.01, 0.05), 0.5])
def test_so_few_trials_are_noted_at_every_prior(prior: object) -> None:
    tar = np.linspace(0.0, 3.0, 60)
    with pytest.warns(FewErrorsWarning, match="2 non-targets") as told:
        found = bp.evaluate({"A": (tar, [-1.0, 0.5])}, prior=prior)
    assert found.footnotes == [str(one.message) for one in told]
    with pytest.warns(FewErrorsWarning, match="^4 targets and 1 non-targets"):
        bp.evaluate({"A": (tar[:4], [0.5])}, prior=prior)
    # At the prior 0.01 a false-alarm rate of 1/99 costs as much as no detector.
    found = bp.evaluate({"A": (tar, [-1.0, 0.5, -2.0, 0.0, 0.2])}, prior=prior).footnotes
    text = "5 non-targets cannot show a pfa of 0.0101 at effective prior 0.01; the lowest is 0.2"
    assert found == ([] if prior == 0.5 else [text])
