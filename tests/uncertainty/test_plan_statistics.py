"""The primary cost as a statistic: that of single points, of single calls, and of naive draws."""

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import PLANS, EvaluationPlan, PartitionFactor
from bosaris_py.uncertainty.resampling import Resampling, SpeakerPlan
from tests.crossed_trials import CrossedExperiment

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]

POINTS = bp.OperatingPoint(0.2), bp.OperatingPoint(0.05, 2.0, 1.0)
CHANNEL = PartitionFactor("channel", ["A", "B"])


def plan_of(points, factors=(), **options):
    return EvaluationPlan(name="mine", operating_points=points, factors=factors, **options)


@pytest.fixture(scope="module")
def data():
    """12 speakers of two models and three segments; every other segment is of channel B."""
    drawn = CrossedExperiment(n_speakers=12, n_models=2, n_segments=3).draw(
        np.random.default_rng(3)
    )
    models, segments = drawn.key.trial_positions()
    columns = {"channel": [("A", "A", "B")[j % 3] for j in segments]}
    ids = drawn.key.modelset[models], drawn.key.segset[segments]
    metadata = bp.TrialMetadata.from_trials(*ids, columns, drawn.key)
    who = {"speakers": (drawn.model_speakers, drawn.segment_speakers)}
    return drawn.scores, (drawn.key, metadata), who


@pytest.mark.parametrize("minimum", [False, True])
@pytest.mark.parametrize("method", ["speaker", "iid", "one-layer"])
def test_one_point_without_factors_is_that_cost(data, minimum, method):
    scores, key, who = data
    statistic = unc.PrimaryCost(plan_of(POINTS[1:], normalize=True), minimum)
    plain = (unc.MinDCF if minimum else unc.ActDCF)(POINTS[1], normalize=True)
    options = {**(who if method != "iid" else {}), "method": method, "replications": 50, "rng": 4}
    found, expected = (
        unc.bootstrap_scores(scores, key, one, **options) for one in (statistic, plain)
    )
    np.testing.assert_array_equal(found.replicates, expected.replicates)
    assert (found.estimate, found.low, found.high, found.interval) == (
        expected.estimate,
        expected.low,
        expected.high,
        expected.interval,
    )


def test_two_points_are_the_mean_of_two_costs(data):
    """As SRE12's two thresholds; a mean of two numbers is rounded once, whatever their order."""
    scores, key, who = data
    options = {**who, "replications": 50, "rng": 4, "method": "speaker"}
    plan = plan_of(POINTS, normalize=False)
    found = unc.bootstrap_scores(scores, key, unc.PrimaryCost(plan), **options)
    pair = [unc.bootstrap_scores(scores, key, unc.ActDCF(p), **options) for p in POINTS]
    both = (pair[0].replicates + pair[1].replicates) / 2
    np.testing.assert_array_equal(found.replicates, both)
    pair = [
        unc.bootstrap_scores(
            scores, key, unc.DCF(p.threshold, p.p_target, p.c_miss, p.c_fa), **options
        )
        for p in POINTS
    ]
    both = (pair[0].replicates + pair[1].replicates) / 2
    np.testing.assert_array_equal(found.replicates, both)
    least = unc.bootstrap_scores(scores, key, unc.PrimaryCost(plan, minimum=True), **options)
    pair = [unc.bootstrap_scores(scores, key, unc.MinDCF(p), **options) for p in POINTS]
    both = (pair[0].replicates + pair[1].replicates) / 2
    np.testing.assert_array_equal(least.replicates, both)


@pytest.mark.parametrize("minimum", [False, True])
def test_estimate_is_that_of_primary_cost(data, minimum):
    scores, key, who = data
    plan = plan_of(POINTS, [CHANNEL])
    cost = bp.primary_cost(scores, key, plan)
    expected = cost.minimum if minimum else cost.actual
    statistic = unc.PrimaryCost(plan, minimum)
    interval = unc.speaker_interval(scores, key, statistic, **who)
    assert interval.estimate == pytest.approx(expected, rel=1e-14)
    boot = unc.bootstrap_scores(scores, key, statistic, replications=20, rng=1, **who)
    assert boot.estimate == pytest.approx(expected, rel=1e-14)
    assert interval.low < expected < interval.high


def test_replicates_weigh_partitions_as_the_plan_does(data):
    """Rates of each channel from the weights of one draw, by hand; both channels count alike."""
    scores, (key, metadata), who = data
    plan = plan_of(POINTS, [CHANNEL])
    statistic = unc.PrimaryCost(plan)
    found = unc.bootstrap_scores(scores, (key, metadata), statistic, replications=8, rng=9, **who)
    names = [
        side.map_left_to_right(ids) for side, ids in zip(who["speakers"], key.ids, strict=True)
    ]
    _, numbers = np.unique(np.concatenate(names), return_inverse=True)
    of_models, of_segments = np.split(numbers, [key.modelset.size])
    draws = Resampling("speaker", replications=8, rng=9)
    sample = draws.sample(scores, (key, metadata), unc.Speakers(**who), None)
    law = SpeakerPlan.of(sample, pigeonhole=False).persons
    [weights, _] = law.draw(8, np.random.default_rng(9).spawn(1)[0])
    channel = np.array([("A", "A", "B")[j % 3] for j in range(key.segset.size)])
    candidates = []
    for w in weights:
        total = 0.0
        for point in POINTS:
            rates = []
            threshold = -np.log(point.miss_cost / point.fa_cost)
            for mask, target in ((key.tar, True), (key.non, False)):
                trial = np.where(mask, w[of_models][:, None] * (1 if target else w[of_segments]), 0)
                wrong = (scores.scoremat < threshold) == target
                of_channels = [
                    (trial * wrong)[:, channel == c].sum() / trial[:, channel == c].sum()
                    for c in "AB"
                ]
                rates.append(np.mean(of_channels))
            cost = point.miss_cost * rates[0] + point.fa_cost * rates[1]
            total += cost / min(point.miss_cost, point.fa_cost) / 2
        candidates.append(total)
    # The order of the draws is an affair of the sampler.
    for value in candidates:
        assert np.min(np.abs(found.replicates - value)) < 1e-12


def test_closed_form_is_that_of_the_mean_loss(data):
    """The standard error of a sum of costs by a jackknife that leaves each speaker out."""
    scores, key, who = data
    plan = plan_of(POINTS, normalize=False)
    interval = unc.speaker_interval(scores, key, unc.PrimaryCost(plan), **who)
    boot = unc.bootstrap_scores(scores, key, unc.PrimaryCost(plan), replications=4000, rng=2, **who)
    # Pairs and trials count three times in the draws: they are at most as large again here.
    assert 0.8 * interval.standard_error < boot.standard_error < 1.5 * interval.standard_error
    one, two = (unc.speaker_interval(scores, key, unc.ActDCF(p), **who) for p in POINTS)
    assert interval.standard_error <= (one.standard_error + two.standard_error) / 2 * (1 + 1e-12)


def test_evaluate_has_intervals_of_primary_costs(data):
    scores, key, who = data
    plan = plan_of(POINTS, [CHANNEL])
    options = {"replications": 40, "rng": 5}
    (record,) = bp.evaluate({"a": scores}, key, plan=plan, **options, **who).records()
    for name, minimum in (("act_primary", False), ("min_primary", True)):
        statistic = unc.PrimaryCost(plan, minimum)
        single = unc.bootstrap_scores(scores, key, statistic, **options, **who)
        assert record[name] == pytest.approx(single.estimate, rel=1e-14)
        assert (record[f"{name}_low"], record[f"{name}_high"]) == (single.low, single.high)
    (record,) = bp.evaluate({"a": scores}, key, plan=plan, **who).records()
    interval = unc.speaker_interval(scores, key, unc.PrimaryCost(plan), **who)
    assert (record["act_primary_low"], record["act_primary_high"]) == (interval.low, interval.high)
    assert record.get("min_primary_low") is None


def test_points_and_partitions_have_intervals(data):
    """Those of single calls with the same seed; a partition's are those of a condition table."""
    scores, key, who = data
    options = {**who, "replications": 60, "rng": 4}
    plan = plan_of(POINTS, [CHANNEL], normalize=True)
    (cost,) = bp.evaluate(scores, key, plan=plan, **options).primary.values()
    assert [*cost.intervals] == ["minimum", "actual"]
    for point in cost.points:
        own = plan.evolve(operating_points=[point.point])
        for kind, ends in point.intervals.items():
            statistic = unc.PrimaryCost(own, kind == "minimum")
            found = unc.bootstrap_scores(scores, key, statistic, **options)
            assert ends == (found.low, found.high)
    single = plan_of(POINTS[:1], [CHANNEL], normalize=True)
    (alone,) = bp.evaluate(scores, key, plan=single, **options).primary.values()
    assert alone.points[0].intervals == alone.intervals
    conditions = key[1].conditions("channel")
    table = bp.evaluate(scores, key, prior=POINTS[0], conditions=conditions, **options).table
    rows = {row.name: row.intervals for _, row in table.rows}
    for part in alone.partitions:
        name = part.levels[0][1]
        for kind, ends in part.intervals.items():
            # "min_dcf" or "act_dcf", and the point.
            (figure,) = (one for one in rows[name] if one.startswith(f"{kind[:3]}_dcf"))
            assert ends == rows[name][figure]
        assert len(part.intervals) == 2
    record = alone.records()[-1]
    assert (record["partition"], record["actual_low"]) == ("overall", alone.intervals["actual"][0])
    point = alone.to_dict()["operating_points"][0]
    assert (point["minimum_low"], point["minimum_high"]) == alone.intervals["minimum"]
    assert "[{:.4f}, {:.4f}]".format(*alone.partitions[0].intervals["actual"]) in str(alone)
    assert alone.how == "95 % intervals: speaker bootstrap, 60 replicates, student"
    # Without replicates the actual costs have those of the formula.
    (closed,) = bp.evaluate(scores, key, plan=plan, **who).primary.values()
    assert all([*one.intervals] == ["actual"] for one in (*closed.points, *closed.partitions))
    (bare,) = bp.evaluate(scores, key, plan=plan).primary.values()
    assert not bare.how
    assert "actual_low" not in bare.records()[0]


def test_systems_are_compared_by_their_cost(data):
    scores, key, who = data
    plan = plan_of(POINTS, [CHANNEL])
    worse = attrs.evolve(scores, scoremat=scores.scoremat * 0.5 - 1.0)
    statistic = unc.PrimaryCost(plan)
    table = unc.compare_systems({"a": scores, "b": worse}, key, statistic, **who)
    assert (table.metric, table.normalized) == ("actCprimary of mine", True)
    (test,) = table.tests
    alone = unc.speaker_z_test(scores, worse, key, statistic, **who)
    assert (test.difference, test.p_value) == (alone.difference, alone.p_value)
    costs = [bp.primary_cost(each, key, plan).actual for each in (scores, worse)]
    assert test.difference == pytest.approx(costs[0] - costs[1], rel=1e-12)
    pair = unc.paired_bootstrap(scores, worse, key, statistic, replications=30, rng=1, **who)
    assert pair.difference == pytest.approx(costs[0] - costs[1], rel=1e-12)


def test_an_emptied_partition_is_counted(data):
    """One speaker has all targets of channel B: a draw without it has no rate there."""
    scores, (key, metadata), who = data
    models, segments = key.trial_positions()
    rare = np.flatnonzero(key.trial_labels())[:1]
    labels = np.full(models.size, "A", dtype=object)
    labels[rare] = "B"
    labels[np.flatnonzero(~key.trial_labels())[::2]] = "B"
    ids = key.modelset[models], key.segset[segments]
    metadata = bp.TrialMetadata.from_trials(*ids, {"channel": labels.tolist()}, key)
    with pytest.warns(bp.errors.DegenerateReplicatesWarning):
        found = unc.bootstrap_scores(
            scores,
            (key, metadata),
            unc.PrimaryCost(plan_of(POINTS, [CHANNEL])),
            replications=200,
            rng=1,
            **who,
        )
    # (1 - 1/12)^12 of the draws lack that speaker: .352, with a standard error of .034.
    assert abs(found.n_degenerate / 200 - (11 / 12) ** 12) < 4 * 0.034


def test_what_is_no_plan_of_one_data_set_is_refused(data):
    scores, key, who = data
    with pytest.raises(InvalidInputError, match=r"one data set.*Take one of SRE18-CMN2"):
        unc.speaker_interval(scores, key, unc.PrimaryCost(PLANS["SRE18"]), **who)
    with pytest.raises(InvalidInputError, match="one data set"):
        unc.bootstrap_scores(scores, key, unc.PrimaryCost(PLANS["SRE18"]), **who)
    with pytest.raises(InvalidInputError, match="`conditions` must be left out"):
        unc.bootstrap_scores(
            scores,
            key,
            unc.PrimaryCost(plan_of(POINTS)),
            conditions=key[1].conditions("channel"),
            **who,
        )
    with pytest.raises(InvalidInputError, match="come with a key and metadata"):
        unc.PrimaryCost(plan_of(POINTS, [CHANNEL]))([1.0], [0.0])
