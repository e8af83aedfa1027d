"""Replicates of tandems against the functions on trials that are listed several times."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError, TrialMismatchError

STATISTICS = [
    unc.TDCF(),
    unc.TDCF("a-DCF1", form="legacy"),
    unc.TDCF(actual=True),
    unc.TDCF(actual=True, asv_threshold=1.0),
    unc.TEER(),
]


@pytest.fixture(scope="module")
def lists():
    """Scores with ties."""
    rng = np.random.default_rng(1)
    asv = [np.round(rng.normal(m, 1, n), 1) for m, n in ((3, 60), (0, 80), (2, 70))]
    cm = [np.round(rng.normal(m, 1, n), 1) for m, n in ((2, 60), (2, 80), (-1, 70))]
    return tuple(asv), tuple(cm)


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_weights_are_numbers_of_copies(lists, statistic):
    asv, cm = lists
    evaluate = statistic.evaluator(asv, cm)
    rng = np.random.default_rng(2)
    for _ in range(20):
        copies = [rng.integers(0, 4, part.size) for part in asv]
        listed = [
            [np.repeat(part, n) for part, n in zip(one, copies, strict=True)] for one in lists
        ]
        expected = statistic(asv=listed[0], cm=listed[1])
        found = evaluate(copies[0], np.concatenate(copies[1:]))
        # Sums of weights in another order; ties of rates by rounding are rare, and cost nothing.
        assert found == pytest.approx(expected, rel=1e-9)


def _trial_ids(lists):
    """Kinds, segments and models of trials of ten speakers, in the order of the lists."""
    kinds = np.repeat(["target", "nontarget", "spoof"], [part.size for part in lists[0]])
    who = np.arange(kinds.size) % 10
    other = np.where(kinds == "nontarget", (who + 1 + np.arange(kinds.size) // 10 % 9) % 10, who)
    return kinds, [f"s{j}-{k}" for k, j in enumerate(other)], [f"s{i}" for i in who]


@pytest.fixture(scope="module")
def trials(lists):
    kinds, segments, models = _trial_ids(lists)
    key = bp.FlatKey.from_trials(models, segments, kinds == "target")
    metadata = bp.TrialMetadata.from_trials(models, segments, {"kind": kinds}, key)
    systems = [bp.FlatScores.from_trials(models, segments, np.concatenate(one)) for one in lists]
    return (key, metadata), {"asv": systems[0], "cm": systems[1]}


WHO = {"speakers": (lambda m: m, lambda s: s.split("-")[0])}


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("method", ["speaker", "iid"])
def test_the_estimate_is_that_of_the_function(trials, lists, statistic, method):
    key, systems = trials
    who = WHO if method == "speaker" else {}
    found = unc.bootstrap_tandem(
        key, statistic, method=method, replications=60, rng=1, **systems, **who
    )
    assert found.estimate == statistic(asv=lists[0], cm=lists[1])
    assert found.standard_error > 0


@pytest.mark.parametrize(("method", "units"), [("speaker", (10, 10)), ("iid", (80, 60))])
def test_detectors_without_errors_may_err(trials, lists, method, units):
    """Of 60 targets of 10 speakers a share of 1 - .025^(1/10) may be missed, by trial less."""
    key, _ = trials
    right = (np.repeat(x, [part.size for part in lists[0]]) for x in ((9, -9, -9), (9, 9, -9)))
    _, segments, models = _trial_ids(lists)
    perfect = {
        name: bp.FlatScores.from_trials(models, segments, scores)
        for name, scores in zip(("asv", "cm"), right, strict=True)
    }
    who = WHO if method == "speaker" else {}
    found = unc.bootstrap_tandem(
        key, unc.TEER(), method=method, replications=20, rng=1, **perfect, **who
    )
    assert (found.estimate, found.low) == (0.0, 0.0)
    # The rates of all three classes, of as many or fewer and more units.
    least, most = (1 - 0.025 ** (1 / n) for n in units)
    assert least * (1 - 1e-9) <= found.high <= most * (1 + 1e-9)


@pytest.mark.slow
def test_seeds_make_replicates_and_workers_do_not(trials):
    key, systems = trials
    options = {"replications": 120, "rng": 3, **systems, **WHO}
    one, two = (
        unc.bootstrap_tandem(key, unc.TDCF(), workers=workers, **options) for workers in (1, 2)
    )
    np.testing.assert_array_equal(one.replicates, two.replicates)


def test_bad_input(trials):
    key, systems = trials
    with pytest.raises(InvalidInputError, match="be TDCF, TEER or CountermeasureEER"):
        unc.bootstrap_tandem(key, unc.EER(), **systems)
    with pytest.raises(InvalidInputError, match="`form` must be one of"):
        unc.TDCF(form="old")
    with pytest.raises(InvalidInputError, match="with a column 'kind'"):
        unc.bootstrap_tandem(key[0], unc.TEER(), **systems)
    few = bp.FlatScores.from_trials(["s0"], ["s0-0"], [1.0])
    with pytest.raises(TrialMismatchError, match="must be of the same trials"):
        unc.bootstrap_tandem(key, unc.TEER(), asv=systems["asv"], cm=few)
