"""Components of variance: exact expectations under the model, known components, tables."""

import json
import math

import attrs
import numpy as np
import pytest

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials.sample import ListedSample, ScoredClass
from bosaris_py.trials.strata import Strata
from bosaris_py.uncertainty.inference.components import components_of
from tests.crossed_trials import CrossedExperiment
from tests.uncertainty.speaker_samples import speaker_sample

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")


def _design(kind):
    """Return persons of the targets, and both of the non-targets."""
    if kind == "balanced":
        tar = np.repeat(np.arange(5), 2)
        one, other = (side.repeat(2) for side in np.triu_indices(5, 1))
    else:
        # Speaker 6 has no targets, pairs have two to four trials in both orders, some never meet.
        tar = np.repeat(np.arange(6), [2, 3, 2, 5, 2, 4])
        pairs = [(0, 1), (1, 2), (2, 0), (3, 1), (4, 2), (5, 0), (6, 3), (4, 6), (5, 3), (2, 6)]
        one, other = np.repeat(pairs, [2, 3, 2, 4, 2, 2, 3, 2, 2, 3], axis=0).T
        other, one = np.where(np.arange(one.size) % 2, (one, other), (other, one))
    return tar, one, other


@pytest.mark.parametrize("kind", ["balanced", "unequal"])
def test_each_part_is_unbiased(kind):
    # A quadratic form of independent effects of mean 0 has as its expectation the sum, over the
    # effects, of its value at each effect of size 1 alone, times their variances.
    tar, one, other = _design(kind)
    scores = np.zeros(tar.size), np.zeros(one.size)
    sample = speaker_sample((scores[0], (tar, tar)), (scores[1], (one, other)))
    m = np.bincount(tar, minlength=7) / tar.size
    reach = (np.bincount(one, minlength=7) + np.bincount(other, minlength=7)) / one.size
    pairs = {tuple(sorted(pair)) for pair in zip(one.tolist(), other.tolist(), strict=True)}

    def parts(of_tar, of_non):
        return np.array(components_of(sample.pairs, of_tar * 1.0, of_non * 1.0))

    alone = sum(parts(tar == k, 0.0 * one) for k in range(7))
    assert alone == pytest.approx([m @ m, 0.0, 0.0], abs=1e-12)
    as_impostor = sum(parts(0.0 * tar, (one == k) + (other == k)) for k in range(7))
    assert as_impostor == pytest.approx([reach @ reach, 0.0, 0.0], abs=1e-12)
    # Both of one size: a covariance of 1 more, in both orders.
    both = sum(parts(tar == k, (one == k) + (other == k)) for k in range(7))
    assert both == pytest.approx([m @ m + 2 * m @ reach + reach @ reach, 0.0, 0.0], abs=1e-12)
    met = [((one == i) & (other == j)) | ((one == j) & (other == i)) for i, j in pairs]
    of_pairs = sum(parts(0.0 * tar, where) for where in met)
    expected = sum(np.mean(where) ** 2 for where in met)
    assert of_pairs == pytest.approx([0.0, expected, 0.0], abs=1e-12)
    for size, trials in ((tar.size, np.eye(tar.size)), (one.size, np.eye(one.size))):
        is_tar = size == tar.size
        rows = [parts(row, 0.0 * one) if is_tar else parts(0.0 * tar, row) for row in trials]
        assert sum(rows) == pytest.approx([0.0, 0.0, 1.0 / size], abs=1e-12)


def test_by_hand():
    # Four speakers, one trial a pair, losses a_k + a_j with a = 1, 0, 0, -1: the variance of a is
    # 2/3 (of three degrees), each speaker is in half of the trials.
    one, other = np.triu_indices(4, 1)
    a = np.array([1.0, 0.0, 0.0, -1.0])
    tar = np.arange(4)
    sample = speaker_sample((a, (tar, tar)), (np.zeros(6), (one, other)))
    found = components_of(sample.pairs, np.zeros(4), a[one] + a[other])
    assert found[:2] == pytest.approx((4 * 0.25 * 2 / 3, 0.0))
    assert math.isnan(found[2])


def test_conditions_take_their_means():
    # Losses that differ between conditions only vary by nothing.
    tar, one, other = _design("balanced")
    number = np.arange(tar.size) % 2, np.arange(one.size) % 2
    classes = []
    for persons, labels in zip(((tar, tar), (one, other)), number, strict=True):
        strata = Strata(labels, np.bincount(labels), np.array([0.3, 0.7]))
        classes.append(ScoredClass(np.zeros(labels.size), strata, None, persons))
    sample = ListedSample(tuple(classes))
    found = components_of(sample.pairs, number[0] * 2.0, number[1] * 3.0)
    assert found == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)


@pytest.fixture(scope="module")
def drawn():
    experiment = CrossedExperiment(n_speakers=30, tar_mean=1.5, non_mean=-1.5)
    return experiment.draw_systems(np.random.default_rng(4), n_systems=3, shared=0.8)


@pytest.fixture(scope="module")
def how(drawn):
    return {"speakers": (drawn[0].model_speakers, drawn[0].segment_speakers)}


@pytest.mark.parametrize("statistic", [unc.Cllr(), unc.EER(), unc.AUC(), unc.MinDCF(0.1)])
def test_parts_add_up_to_the_standard_error(drawn, how, statistic):
    one = drawn[0]
    found = unc.variance_components({"A": one.scores}, one.key, statistic, **how)
    interval = unc.speaker_interval(one.scores, one.key, statistic, **how)
    assert found.estimates == pytest.approx([interval.estimate])
    # The jackknife of the interval has (K - 3) / (K - 2) of what pairs and trials make.
    assert found.standard_errors == pytest.approx([interval.standard_error], rel=2 / 28)
    assert found.n_speakers == 30
    assert np.isnan(found.variances[0, 3])
    assert np.nansum(found.shares) == pytest.approx(1.0)


def test_runs_are_those_of_the_test(drawn, how):
    key, scores = drawn[0].key, [one.scores for one in drawn]
    found = unc.variance_components({"A": scores, "B": scores[:1]}, key, unc.Cllr(), **how)
    tested = unc.compare_runs({"A": scores, "B": scores[:1]}, key, unc.Cllr(), **how)
    assert found.run_variances[0] == pytest.approx(tested.run_variance)
    assert found.variances[0, 3] == pytest.approx(tested.run_variance / 3)
    assert np.isnan(found.run_variances[1])
    assert found.n_runs == (3, 1)
    assert found.estimates == pytest.approx([values.mean() for values in tested.values])


def test_one_run_three_times_has_its_parts(drawn, how):
    key, scores = drawn[0].key, drawn[0].scores
    alone = unc.variance_components({"A": scores}, key, unc.EER(), **how)
    thrice = unc.variance_components({"A": [scores] * 3}, key, unc.EER(), **how)
    assert thrice.variances[0, :3] == pytest.approx(alone.variances[0, :3])
    assert thrice.variances[0, 3] == 0.0


@pytest.mark.slow
def test_known_components():
    # Losses at a fixed threshold are 0 or 1, so means of many trials have normal laws of known
    # variance. Here they are scores: Cllr of large LLRs is half their negative, in bits.
    rng, rows = np.random.default_rng(5), []
    k, n_models = 12, 2
    owner = np.repeat(np.arange(k), n_models)
    same = owner[:, np.newaxis] == owner
    ids = [f"s{i}" for i in range(owner.size)]
    key, who = Key(ids, ids, same, ~same), dict(zip(ids, owner.tolist(), strict=True))
    for _ in range(400):
        habit, met = rng.normal(size=k), np.triu(rng.normal(size=(k, k)), 1)
        table = 2.0 * (met + met.T) + habit + habit[:, np.newaxis]
        llrs = table[np.ix_(owner, owner)] + 3.0 * rng.normal(size=same.shape) + 1000.0
        scores = Scores(np.where(same, 1000.0, llrs), ids, ids)
        rows.append(
            unc.variance_components({"A": scores}, key, unc.Cllr(), speakers=who).variances[0]
        )
    bits = (0.5 / math.log(2.0)) ** 2
    pairs = k * (k - 1) / 2
    # sigma_a = 1, sigma_g = 2, sigma_e = 3; eight trials of each pair.
    truth = bits * np.array([4.0 / k, 4.0 / pairs, 9.0 / (8 * pairs)])
    found = np.array(rows)[:, :3]
    error = found.std(axis=0, ddof=1) / math.sqrt(len(rows))
    # Four standard errors of the mean: one seed in 5,000 would fail.
    assert np.all(np.abs(found.mean(axis=0) - truth) < 4.0 * error)
    assert np.all(error < 0.05 * truth)


def test_tables(drawn, how):
    key, scores = drawn[0].key, [one.scores for one in drawn]
    found = unc.variance_components({"A": scores, "B": scores[0]}, key, unc.EER(), **how)
    head, *rows = str(found).splitlines()
    assert head.split() == ["system", "value", "SE", "speakers", "pairs", "trials", "runs"]
    assert rows[1].endswith("-")
    assert rows[2] == (
        "(EER of the ROC's convex hull; shares of speakers, pairs, trials, runs in the variance; "
        "30 speakers)"
    )
    first, second = json.loads(found.to_json())
    assert first["system"] == "A"
    assert second["runs_variance"] is None
    assert first["n_runs"] == 3
    assert "speakers_share" in found.to_csv()
    assert found.to_markdown().count("|\n") == 4
    assert r"\%" in found.to_latex()
    assert "<table>" in found._repr_html_()


def test_shares_are_printed_in_per_cent():
    """Of parts of 3, 1 and -1, of which the root of their sum is the standard error."""
    parts = np.array([[3e-4, 1e-4, -1e-4, math.nan]])
    found = unc.VarianceComponents(("A",), np.array([0.1]), (1,), 9, parts)
    row = " ".join(repr(found).splitlines()[1].split())
    assert row == "A 0.1000 0.0173 75 % 25 % 0 % -"


def test_what_does_not_tell_is_refused(drawn, how):
    key, scores = drawn[0].key, drawn[0].scores
    with pytest.raises(InvalidInputError, match="`strata`"):
        unc.variance_components({"A": scores}, key, unc.EER(), strata=lambda s: "f", **how)
    with pytest.raises(InvalidInputError, match="`systems`"):
        unc.variance_components(scores, key, unc.EER(), **how)
    with pytest.raises(InvalidInputError, match="list of runs"):
        unc.variance_components({"A": []}, key, unc.EER(), **how)
    ids = ["a", "b", "c"]
    same = np.eye(3, dtype=bool)
    three = Scores(np.random.default_rng(1).normal(size=(3, 3)) + 2 * same, ids, ids)
    with pytest.raises(InvalidInputError, match="at least four"):
        unc.variance_components({"A": three}, Key(ids, ids, same, ~same), unc.Cllr())


def test_frozen(drawn, how):
    found = unc.variance_components({"A": drawn[0].scores}, drawn[0].key, unc.EER(), **how)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        found.names = ()
    with pytest.raises(ValueError, match="read-only"):
        found.variances[0, 0] = 1.0
