"""Bootstraps: closed forms of standard errors, seeds, sets, differences and bad input."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import errors, uncertainty as unc
from bosaris_py.trials.sample import Sample
from bosaris_py.uncertainty.bootstrap import Resampling, few_errors
from tests.uncertainty.samples import square

# So few trials have few errors.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

RNG = np.random.default_rng(1)
TAR, NON = 1.5 + RNG.normal(size=200), RNG.normal(size=1000)
(ONE, KEY), (OTHER, _) = (square(seed, 12, 2.5) for seed in (1, 2))


def test_standard_error_of_a_rate_is_binomial() -> None:
    found = unc.bootstrap(TAR, NON, unc.Pfa(1.0), replications=4000, rng=1)
    rate = np.mean(NON >= 1.0)
    # The error of a standard error of B replicates is about 1 / sqrt(2 B).
    expected = np.sqrt(rate * (1 - rate) / NON.size)
    assert found.standard_error == pytest.approx(expected, rel=5 / np.sqrt(8000))
    assert found.value == rate


def test_intervals_are_of_the_replicates() -> None:
    found = unc.bootstrap(TAR, NON, unc.EER(), replications=400, rng=4)
    assert [found.low, found.high] == unc.quantile(found.replicates, [0.025, 0.975]).tolist()
    normal = unc.bootstrap(TAR, NON, unc.EER(), replications=400, rng=4, interval="normal")
    assert normal.high - normal.value == pytest.approx(1.959964 * normal.standard_error, rel=1e-6)


def test_one_set_drawn_as_a_whole() -> None:
    """Two sets of one score each: a replicate has one of three miss rates, 0, 1/2 or 1."""
    found = unc.bootstrap(
        [1.0, 1.0, 3.0, 3.0], NON, unc.Pmiss(2.0), method="one-layer", tar_sets=[0, 0, 1, 1],
        non_sets=np.arange(NON.size) % 20, replications=2000, rng=5,
    )  # fmt: skip
    values, counts = np.unique(found.replicates, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    # Chances 1/4, 1/2, 1/4 of 2000.
    assert np.all(np.abs(counts - [500, 1000, 500]) < 5 * np.sqrt(2000 / 4))


@pytest.mark.parametrize("method", ["speaker", "iid", "one-layer", "two-layer"])
def test_difference_of_systems_is_that_of_replicates(method: str) -> None:
    both = {"method": method, "replications": 30, "rng": 8}
    found = unc.bootstrap_scores(ONE, KEY, unc.Cllr(), against=OTHER, **both)
    turned = unc.bootstrap_scores(OTHER, KEY, unc.Cllr(), against=ONE, **both)
    nothing = unc.bootstrap_scores(ONE, KEY, unc.Cllr(), against=ONE, **both)
    assert (nothing.value, nothing.replicates.any()) == (0.0, False)
    assert nothing.correlation == pytest.approx(1.0)
    assert found.value == -turned.value
    np.testing.assert_allclose(found.replicates, -turned.replicates, atol=1e-12)
    assert found.correlation == pytest.approx(turned.correlation)
    part = OTHER.filter(KEY.modelset[:11], KEY.segset, keep=True)
    with pytest.raises(errors.TrialMismatchError):
        unc.bootstrap_scores(ONE, KEY, unc.EER(), against=part, **both)


def test_conditions_are_weighted_in_each_replicate() -> None:
    men = np.zeros((12, 12), dtype=bool)
    men[:6] = True
    weights = bp.Conditions({"men": men, "women": ~men}, {"men": 1.0, "women": 0.0})
    alone = bp.Key(*KEY.ids, KEY.tar & men, KEY.non & men)
    given = {"method": "iid", "replications": 20, "rng": 9}
    one = unc.bootstrap_scores(ONE, KEY, unc.EER(), conditions=weights, **given)
    other = unc.bootstrap_scores(ONE, alone, unc.EER(), **given)
    assert one.value == other.value


@pytest.mark.parametrize(
    "bad",
    [
        *({"method": "sets"}, {"replications": 1}, {"confidence": 95}, {"interval": "basic"}),
        {"method": "one-layer"},
        {"method": "one-layer", "tar_sets": [0] * 200, "non_sets": [0, 1] * 500},
        {"method": "one-layer", "tar_sets": [0, 1], "non_sets": [0, 1] * 500},
        *(
            {"method": "one-layer", "tar_sets": labels * 100, "non_sets": [0, 1] * 500}
            for labels in ([1, "a"], ["a", None], [1, 2.5], [1.0, 2.0], [[1], [2]])
        ),
        # Else a forgotten method would make errors far too small, in silence.
        *({"tar_sets": [0, 1] * 100}, {"non_sets": [0, 1] * 500}),
    ],
)
def test_bad_input(bad: dict) -> None:
    with pytest.raises(errors.InvalidInputError):
        unc.bootstrap(TAR, NON, unc.EER(), **bad)


def test_few_errors_are_those_of_classes_with_trials() -> None:
    """Neither of spoofs that are the only non-targets, nor of rates that are not known."""
    plain = Sample.from_scores(np.arange(100.0), np.arange(100.0))
    found = [few_errors(metric, plain) for metric in (unc.Pmiss(40.0), unc.Cllr(), unc.AUC())]
    assert found == [[], [], []]
    (note,) = few_errors(unc.Pmiss(29.0), plain)
    assert (note.kind, round(note.count)) == (errors.FewErrorsWarning, 29)
    # The threshold is 50.
    of_spoofs = unc.ActADCF(bp.SpoofCosts(0.5, 0.0, 0.5, c_fa_spoof=np.exp(50.0)))
    spoofed = Sample(plain.tar, plain.non, np.ones(100, int))
    assert few_errors(of_spoofs, of_spoofs.view(spoofed)) == []


def test_few_errors_are_told_and_progress_if_asked(capsys: pytest.CaptureFixture) -> None:
    for progress in (False, True):
        unc.bootstrap(TAR, NON, unc.EER(), replications=10, rng=1, progress=progress)
        assert bool(capsys.readouterr().err) == progress
    assert not Resampling("iid", 2, "percentile", 0.95, rng=1).progress
    with pytest.warns(errors.FewErrorsWarning):
        unc.bootstrap(TAR, NON, unc.Pfa(3.0), replications=10, rng=1)
    with pytest.warns(errors.FewSpeakersWarning, match="^12 speakers: a kind"):
        unc.bootstrap_scores(ONE, KEY, unc.Cllr(), replications=10.0, rng=1)
