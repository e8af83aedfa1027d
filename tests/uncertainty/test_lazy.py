"""Lazy draws: in law equal to drawing each trial."""

import numpy as np
import pytest
from scipy import stats

from bosaris_py.metrics.costs import MinDCF
from bosaris_py.metrics.ranks import AUC, EER
from bosaris_py.trials.sample import Sample
from bosaris_py.uncertainty.draws import IidDraws
from bosaris_py.uncertainty.lazy import lazy_draws
from tests.uncertainty.samples import make_sample


@pytest.mark.parametrize("metric", [EER(), MinDCF(0.1), MinDCF([0.2, 0.02])])
@pytest.mark.parametrize("options", [{}, {"ties": True}, {"groups": True}])
def test_equal_in_law(metric, options) -> None:
    sample = make_sample(np.random.default_rng(1), **options)
    lazy = lazy_draws(metric, sample).draw(1500, np.random.default_rng(2))
    (rows,) = IidDraws((sample,)).rows(1500, np.random.default_rng(3))
    assert stats.ks_2samp(lazy, metric.values(rows)).pvalue > 1e-4


def test_classes_apart_stay_apart() -> None:
    sample = Sample.from_scores([2.0, 3.0, 4.0], [-1.0, 0.0, 1.0])
    for metric in (EER(), MinDCF(0.1)):
        assert not lazy_draws(metric, sample).draw(50, np.random.default_rng(4)).any()


def test_other_metrics_and_weights_have_none() -> None:
    assert lazy_draws(AUC(), make_sample(np.random.default_rng(5))) is None
    weighted = make_sample(np.random.default_rng(5), weights=True)
    assert lazy_draws(EER(), weighted) is None
