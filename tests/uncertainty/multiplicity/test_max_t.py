"""Max-T against a naive step-down over all signs, and its limits."""

import itertools

import numpy as np
import pytest

from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.uncertainty.multiplicity.max_t import CommonDraws
from tests.crossed_trials import CrossedExperiment


def _naive(psi, turn):
    """Correct the sums of columns by all signs of the rows, one hypothesis at a time."""
    size = np.sqrt((psi**2).sum(axis=0))
    observed = turn(psi.sum(axis=0) / size)
    all_draws = [
        turn(np.array(signs) @ psi / size)
        for signs in itertools.product([-1.0, 1.0], repeat=len(psi))
    ]
    left, adjusted, least = set(range(psi.shape[1])), np.empty(psi.shape[1]), 0.0
    while left:
        j = max(left, key=lambda i: observed[i])
        share = np.mean([max(draw[i] for i in left) >= observed[j] - 1e-9 for draw in all_draws])
        adjusted[j] = least = max(least, float(share))
        left.remove(j)
    return adjusted


TURNS = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}


@pytest.mark.parametrize("alternative", TURNS)
@pytest.mark.parametrize("m", [1, 3, 6])
def test_all_signs_of_few_speakers(m, alternative):
    rng = np.random.default_rng(m)
    psi = rng.normal(size=(7, m)) + rng.normal(size=(7, 1)) + 0.5 * np.arange(m)
    draws = CommonDraws.of_signs(list(psi.T))
    found = draws.corrected(alternative, np.zeros(m))
    assert found == pytest.approx(_naive(psi, TURNS[alternative]), abs=1e-12)
    both = np.hstack([psi, -psi])
    assert draws.of_directions() == pytest.approx(_naive(both, np.positive), abs=1e-12)


def test_random_signs_are_near_all_signs():
    psi = np.random.default_rng(1).normal(size=(14, 3)) + np.array([0.3, 0.6, 0.9])
    found = CommonDraws.of_signs(list(psi.T)).corrected("two-sided", np.zeros(3))
    # 9,999 draws: four standard errors of a share are at most .02.
    assert found == pytest.approx(_naive(psi, np.abs), abs=0.02)


@pytest.mark.parametrize(("k", "n_draws"), [(13, 2**13), (14, 9_999)])
def test_all_signs_are_tried_where_they_are_fewer_than_random_ones(k, n_draws):
    """All influences are alike: of all rounds only those that keep or turn all are as extreme."""
    draws = CommonDraws.of_signs([np.ones(k)])
    assert len(draws.draws) == n_draws
    (p,) = draws.corrected("two-sided", np.zeros(1))
    # Of random ones about one in 2^13 is, and the observed one: 15 of 10,000 are out of reach.
    assert p == 2 / 2**13 if k == 13 else 1e-4 <= p < 15e-4


def test_no_corrected_p_value_is_below_its_own():
    psi = np.random.default_rng(2).normal(size=(9, 3)) + 2.0
    own = np.array([0.9, 0.0, 0.3])
    found = CommonDraws.of_signs(list(psi.T)).corrected("two-sided", own)
    assert np.all(found >= own)


def test_speakers_without_any_difference():
    found = CommonDraws.of_signs([np.zeros(5), np.ones(5)]).corrected("two-sided", np.zeros(2))
    # All signs alike in 2 of 32.
    assert found.tolist() == [1.0, 2 / 32]


def test_replicates_without_variation_or_numbers():
    none = CommonDraws.of_replicates(np.array([0.1, 0.2]), np.full((9, 2), np.nan))
    assert none.corrected("two-sided", np.zeros(2)).tolist() == [1.0, 1.0]


def test_replicates_are_compared_with_the_largest_of_all():
    # Each difference has an unit of its own: t has none.
    scales = np.array([1e-3, 1.0, 10.0, 0.1])
    replicates = scales * np.random.default_rng(3).normal(size=(500, 4))
    estimates = scales * np.array([0.0, 1.0, 2.0, 9.0])
    found = CommonDraws.of_replicates(estimates, replicates).corrected("two-sided", np.zeros(4))
    error = replicates.std(axis=0, ddof=1)
    t, draws = np.abs(estimates / error), np.abs((replicates - estimates) / error)
    assert found[3] == (1 + np.sum(draws.max(axis=1) >= t[3])) / 501
    assert found[0] == (1 + np.sum(draws.max(axis=1) >= 0.0)) / 501 or found[0] >= found[1]


@pytest.fixture(scope="module")
def drawn():
    experiment = CrossedExperiment(n_speakers=40, tar_mean=1.5, non_mean=-1.5)
    return experiment.draw_systems(np.random.default_rng(7), n_systems=3, shared=0.6)


def _compare(drawn, statistic, **options):
    systems = {name: one.scores for name, one in zip("ABC", drawn, strict=False)}
    speakers = drawn[0].model_speakers, drawn[0].segment_speakers
    return unc.compare_systems(systems, drawn[0].key, statistic, speakers=speakers, **options)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
class TestTables:
    def test_three_systems_by_speaker_take_the_largest_t(self, drawn):
        table = _compare(drawn, unc.Cllr())
        assert table.corrected.correction == "max-t"
        assert "p max-t" in repr(table)
        assert "largest t of all pairs, step-down, level 0.05" in repr(table)
        swaps = [test.contrast.swaps for test in table.tests]
        p_values = np.array([test.p_value for test in table.tests])
        expected = CommonDraws.of_signs(swaps).corrected("two-sided", p_values)
        assert [row["p_corrected"] for row in table.records()] == expected.tolist()
        holm = unc.holm_correction(p_values).adjusted.tolist()
        assert [row["p_holm"] for row in table.records()] == holm

    def test_a_table_is_the_same_each_time(self, drawn):
        assert repr(_compare(drawn, unc.EER())) == repr(_compare(drawn, unc.EER(), rng=8))

    def test_areas_are_turned(self, drawn):
        # The area grows where the loss falls: "greater" of the area is "less" of 1 - area.
        table = _compare(drawn, unc.AUC(), alternative="greater")
        swaps = [-test.contrast.swaps for test in table.tests]
        p_values = np.array([test.p_value for test in table.tests])
        expected = CommonDraws.of_signs(swaps).corrected("greater", p_values)
        assert table.corrected.adjusted.tolist() == expected.tolist()
        signs = np.sign([test.difference for test in table.tests])
        assert np.sign([swap.sum() for swap in swaps]).tolist() == signs.tolist()
        assert table.rank_intervals().names == ("A", "B", "C")

    def test_two_systems_and_other_methods_take_holm(self, drawn):
        assert _compare(drawn[:2], unc.EER()).corrected.correction == "holm"
        options = {"method": "iid", "replications": 30, "rng": 1}
        assert _compare(drawn, unc.EER(), **options).corrected.correction == "holm"
        for name in ("holm", "by"):
            assert _compare(drawn, unc.EER(), correction=name).corrected.correction == name

    def test_functions_take_their_replicates(self, drawn):
        def median(tar, non, tar_weights, non_weights):
            tar = np.repeat(tar, tar_weights.astype(int))
            non = np.repeat(non, non_weights.astype(int))
            return float(np.median(non) - np.median(tar))

        options = {"replications": 60, "rng": 1}
        table = _compare(drawn, median, **options)
        replicates = np.stack([test.contrast.replicates for test in table.tests], axis=1)
        estimates = np.array([test.difference for test in table.tests])
        own = np.array([test.p_value for test in table.tests])
        draws = CommonDraws.of_replicates(estimates, replicates)
        assert table.corrected.adjusted.tolist() == draws.corrected("two-sided", own).tolist()
        assert table.larger_is_better is None


def test_warnings_stay(drawn):
    with pytest.warns(FewSpeakersWarning):
        _compare(drawn[:3], unc.EER())
