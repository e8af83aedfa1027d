"""All pairs of several systems, and several statistics of one bootstrap.

Each row is compared with the test of its pair called by itself.
"""

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import (
    FewErrorsWarning,
    FewSpeakersWarning,
    InvalidInputError,
    TrialMismatchError,
)
from bosaris_py.uncertainty.comparison.table import holm
from tests.crossed_trials import CrossedExperiment

COST = unc.ActDCF(0.4)


@pytest.fixture(scope="module")
def drawn():
    experiment = CrossedExperiment(n_speakers=70, tar_mean=1.0, non_mean=-1.0)
    return experiment.draw_systems(np.random.default_rng(7), n_systems=3, shared=0.6)


@pytest.fixture(scope="module")
def systems(drawn):
    return {name: one.scores for name, one in zip("ABC", drawn, strict=True)}


@pytest.fixture(scope="module")
def key(drawn):
    return drawn[0].key


@pytest.fixture(scope="module")
def maps(drawn):
    return {"speakers": (drawn[0].model_speakers, drawn[0].segment_speakers)}


class TestPairs:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("statistic", "method"),
        [
            (unc.EER(), "iid"),
            (unc.Cllr(), "iid"),
            (unc.MinDCF(0.3), "iid"),
            # By speaker, what has a formula is compared by `speaker_z_test`.
            (lambda tar, non, *weights: np.median(tar) - np.median(non), "speaker"),
        ],
    )
    def test_are_those_of_the_paired_bootstrap(self, systems, key, maps, statistic, method):
        options = {"replications": 60, "rng": 5, "method": method}
        speakers = maps["speakers"]
        table = unc.compare_systems(systems, key, statistic, speakers=speakers, **options)
        assert table.pairs == (("A", "B"), ("A", "C"), ("B", "C"))
        for (a, b), test in zip(table.pairs, table.tests, strict=True):
            pair = systems[a], systems[b]
            alone = unc.paired_bootstrap(*pair, key, statistic, **maps, **options)
            assert test.difference == pytest.approx(alone.difference, rel=1e-9)
            assert (test.low, test.high, test.p_value) == (alone.low, alone.high, alone.p_value)

    def test_are_those_of_the_z_test_for_a_fixed_threshold(self, systems, key, maps):
        table = unc.compare_systems(systems, key, COST, **maps)
        for (a, b), test in zip(table.pairs, table.tests, strict=True):
            assert test == unc.speaker_z_test(systems[a], systems[b], key, COST, **maps)
        p_values = [test.p_value for test in table.tests]
        assert table.p_holm.tolist() == holm(p_values).tolist()

    def test_records(self, systems, key, maps):
        table = unc.compare_systems(systems, key, COST, **maps)
        first = table.records()[0]
        assert list(first)[:3] == ["first", "second", "difference"]
        assert first["p_value"] == table.tests[0].p_value
        assert first["p_holm"] == table.p_holm[0]
        assert table.to_markdown().count("\n") == 7

    def test_a_system_beside_itself(self, systems, key, maps):
        doubled = {"A": systems["A"], "again": systems["A"]}
        options = {**maps, "replications": 20, "rng": 1}
        with pytest.warns(FewSpeakersWarning, match="A and again: "):
            table = unc.compare_systems(doubled, key, unc.EER(), **options)
        assert table.records()[0]["p_value"] == 1.0


@attrs.frozen
class Outcome:
    """A test of a pair."""

    difference: float
    standard_error: float
    p_value: float


def test_a_pair_without_p_value_does_not_cost_the_table():
    tests = {
        ("A", "B"): Outcome(0.1, 0.02, 0.01),
        ("A", "C"): Outcome(0.1, 0.0, np.nan),
        ("B", "C"): Outcome(0.1, 0.03, 0.03),
    }
    table = unc.ComparisonTable.from_tests(tests)
    # It counts as no difference, p = 1; Holm: 3 * 0.01, 2 * 0.03 and 1 * 1.
    assert [row["p_holm"] for row in table.records()] == [0.03, 1.0, 0.06]
    assert [row["significant"] for row in table.records()] == [True, False, False]
    assert repr(table).splitlines()[2].split() == ["A", "C", "0.1000", "0.0000", "1", "1", "no"]


class TestSeveralStatistics:
    @pytest.mark.parametrize("method", ["speaker", "iid", "one-layer", "two-layer"])
    def test_share_their_replicates(self, systems, key, maps, method):
        """A sum of two error-rates is the sum of their replicates."""

        def rates(tar, non, tar_weights, non_weights):
            return tar_weights[tar < 0].sum() / tar_weights.sum()

        def alarms(tar, non, tar_weights, non_weights):
            return non_weights[non >= 0].sum() / non_weights.sum()

        half = unc.DCF(0.0, p_target=0.5, c_miss=1, c_fa=1)
        statistics = [rates, half, alarms, unc.ErrorRates([0.0]), unc.EER()]
        miss, cost, alarm, both, eer = unc.bootstrap_scores(
            systems["A"], key, statistics, method=method, replications=60, rng=2, **(
                maps if method == "speaker" else {"speakers": (maps["speakers"][0], None)}
            )
        )  # fmt: skip
        assert cost.replicates == pytest.approx((miss.replicates + alarm.replicates) / 2)
        assert both.replicates.reshape(60, -1).shape == (60, 2)
        assert both.replicates.reshape(60, -1)[:, 0] == pytest.approx(miss.replicates)
        own = ("student", "student") if method == "speaker" else ("basic", "percentile")
        assert (eer.interval, cost.interval) == own

    def test_by_speaker_are_those_of_each_alone(self, systems, key, maps):
        statistics = [unc.EER(), unc.Cllr(), unc.MinDCF([0.1, 0.3])]
        options = {"replications": 70, "rng": 2, **maps}
        several = unc.bootstrap_scores(systems["B"], key, statistics, **options)
        for statistic, result in zip(statistics, several, strict=True):
            alone = unc.bootstrap_scores(systems["B"], key, statistic, **options)
            assert result.replicates == pytest.approx(alone.replicates, rel=1e-12)
            assert np.all(result.estimate == alone.estimate)

    def test_with_conditions_and_workers(self, systems, key, maps):
        rows = np.arange(140)[:, None] < np.full(280, 70)
        conditions = bp.Conditions({"first": rows, "others": ~rows})
        options = {"replications": 60, "rng": 2, "conditions": conditions, **maps}
        alone = unc.bootstrap_scores(systems["B"], key, unc.EER(), **options)
        for workers in (1, 2):
            eer, _ = unc.bootstrap_scores(
                systems["B"], key, [unc.EER(), unc.Cllr()], workers=workers, **options
            )
            assert eer.replicates == pytest.approx(alone.replicates, rel=1e-12)


class TestWarningsAndErrors:
    def test_warnings_name_the_pair(self, systems, key, maps):
        strict = unc.DCF(9.0, p_target=0.5, c_miss=1, c_fa=1)
        with pytest.warns(FewErrorsWarning, match="^A and B: "):
            unc.compare_systems({"A": systems["A"], "B": systems["B"]}, key, strict, **maps)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"systems": {}}, "at least one system"),
            ({"statistic": unc.EER}, "a statistic, not a class"),
            ({"alternative": "both"}, "alternative"),
            ({"level": 5}, "level"),
        ],
    )
    def test_bad_input(self, systems, key, arguments, message):
        given = {"systems": systems, "key": key, "statistic": COST} | arguments
        with pytest.raises(InvalidInputError, match=message):
            unc.compare_systems(**given)

    def test_one_system(self, systems, key):
        with pytest.raises(InvalidInputError, match="at least two systems"):
            unc.compare_systems(systems["A"], key, COST)

    def test_no_statistic(self, systems, key):
        with pytest.raises(InvalidInputError, match="at least one statistic"):
            unc.bootstrap_scores(systems["A"], key, [])

    def test_other_trials(self, systems, key, maps):
        fewer = systems["B"].filter(key.modelset[:40], key.segset, keep=True)
        with pytest.raises(TrialMismatchError):
            unc.compare_systems({"A": systems["A"], "B": fewer}, key, unc.EER(), **maps)
