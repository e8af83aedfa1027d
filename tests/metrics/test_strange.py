"""Notes of scores that are inverted, or no log-likelihood-ratios."""

import math
import warnings

import numpy as np
import pytest

from bosaris_py import act_dcf, cllr, eer, min_dcf
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.metrics.strange import (
    _SAMPLE,
    _look_inverted,
    _some_bits,
    ill_ranged,
    inverted,
    inverted_systems,
    negative_scale,
    no_llrs,
)
from bosaris_py.trials.sample import Sample


def sample_of_area(n: int, below: int) -> Sample:
    """Make n and n trials; so many targets lie below all non-targets, the others above."""
    tar = np.append(np.arange(below) - 2.0 * n, np.arange(n - below) + 2.0 * n)
    return Sample.from_scores(tar, np.arange(n))


def test_inverted_is_beyond_three_standard_errors() -> None:
    """Of 100 and 100 scores that tell nothing: sqrt(201 / 120000) = 0.0409, so 0.3772."""
    assert inverted(sample_of_area(100, 62)) == []
    (note,) = inverted(sample_of_area(100, 63))
    assert (note.kind, "0.37" in note.text) == (SuspectScoresWarning, True)
    assert inverted(sample_of_area(30, 30)) == []
    assert inverted(sample_of_area(100, 0)) == []


def test_of_30_trials_of_a_class_nothing_is_said() -> None:
    # All of one sign, and inverted: whichever class is the smaller one.
    for n_tar, n_non, said in ((30, 99, 0), (99, 30, 0), (31, 99, 1), (99, 31, 1)):
        sample = Sample.from_scores(np.arange(n_tar) + 1.0, np.arange(n_non) + 200.0)
        swapped = Sample.from_scores(sample.non.listed, sample.tar.listed)
        found = inverted(sample), no_llrs(sample), ill_ranged(swapped), no_llrs(swapped)
        assert list(map(len, found)) == [said] * 4
    assert list(map(len, (inverted_systems(np.array([-1.0]), n) for n in (30, 31)))) == [0, 1]


def llrs(rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(2.0, 2.0, n), rng.normal(-2.0, 2.0, n)


def test_calibrated_llrs_are_not_strange(rng: np.random.Generator) -> None:
    tar, non = llrs(rng)
    tar[0], non[0] = -np.inf, np.inf
    assert no_llrs(Sample.from_scores(tar, non)) == []
    useless = rng.normal(0, 0.01, 500), rng.normal(0, 0.01, 500)
    assert no_llrs(Sample.from_scores(*useless)) == []


@pytest.mark.parametrize(
    "warp",
    [
        lambda s: np.tanh(s),  # from -1 to 1, but too good for that
        lambda s: s + 100.0,  # of one sign
        lambda s: s - 100.0,
        lambda s: 100.0 * s,  # worse than none
        lambda s: -s,  # inverted
    ],
)
def test_scores_that_are_no_llrs(rng: np.random.Generator, warp) -> None:
    tar, non = map(warp, llrs(rng))
    (note,) = no_llrs(Sample.from_scores(tar, non))
    assert note.kind is SuspectScoresWarning
    # Of few trials nothing is said.
    assert no_llrs(Sample.from_scores(tar[:30], non)) == []


def test_a_few_infinite_scores_do_not_hide_what_the_others_are(rng: np.random.Generator) -> None:
    tar, non = (scores + 100.0 for scores in llrs(rng))
    tar[0] = non[0] = -np.inf
    assert len(no_llrs(Sample.from_scores(tar, non))) == 1
    # More than one in a hundred may be decisions that were made.
    tar[:5] = -np.inf
    assert no_llrs(Sample.from_scores(tar, non)) == []


def test_llrs_of_both_signs_may_be_short(rng: np.random.Generator) -> None:
    """Three eighths of errors: llrs from -1 to 1 can do that, those of one sign cannot."""
    tar, non = rng.uniform(-0.6, 1.0, 400), rng.uniform(-1.0, 0.6, 400)
    assert no_llrs(Sample.from_scores(tar, non)) == []
    assert len(no_llrs(Sample.from_scores(tar + 1.0, non + 1.0))) == 1
    # Beyond 1 they may be as good as they are.
    far = (1.5 * np.tanh(scores) for scores in llrs(rng))
    assert no_llrs(Sample.from_scores(*far)) == []


def test_a_look_at_few_costs_is_cllr(rng: np.random.Generator) -> None:
    tar, non = llrs(rng, 200)
    assert _some_bits(tar, non) == pytest.approx(cllr(tar, non), rel=1e-13)


@pytest.mark.parametrize("scale", [1e-100, 0.01, 1.0, 1e100])
@pytest.mark.parametrize("n_non", [40, 5000])
def test_lists_look_inverted_on_any_scale(
    rng: np.random.Generator, scale: float, n_non: int
) -> None:
    """Means that lie three standard errors apart, whatever the unit of the scores."""
    low, high = rng.normal(0, 1, 40), rng.normal(0, 1, n_non)
    low = (low - low.mean()) / low.std()
    some = high[:: high.size // _SAMPLE + 1]
    error = math.sqrt(1 / 40 + some.var() / some.size)
    for gap, expected in ((3.1, True), (2.9, False), (-3.1, False)):
        moved = high - some.mean() + gap * error
        assert _look_inverted(scale * low, scale * moved) == expected
    assert not _look_inverted(np.array([0.0, -np.inf] * 20), high)


def test_maps_that_fall_and_systems_that_are_inverted() -> None:
    assert "-0.5" in negative_scale(-0.5).text
    assert inverted_systems(np.array([-0.8, 2.0]), 100) == []
    (note,) = inverted_systems(np.array([-1.0, 2.0, -3.0]), 100)
    assert "1 and 3" in note.text
    assert inverted_systems(np.array([-1.0]), 30) == []


def test_functions_warn_once_at_the_line_of_the_caller(rng: np.random.Generator) -> None:
    tar, non = llrs(rng)
    for call in (
        lambda: eer(-tar, -non),
        lambda: eer(-tar, -non, definition="step"),
        lambda: min_dcf(-tar, -non, 0.5),
        lambda: act_dcf(-tar, -non, [0.1, 0.5]),
        lambda: cllr(-tar, -non),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [(w.category, w.filename) for w in caught] == [(SuspectScoresWarning, __file__)]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
def test_a_huge_wrong_llr_costs_its_share(rng: np.random.Generator) -> None:
    """The square of the gap of the means, which tells inverted scores, is beyond all numbers."""
    non = np.append(rng.normal(-1.0, 1.0, 49), 1e200)
    assert cllr(rng.normal(1.0, 1.0, 50), non) == pytest.approx(1e200 / math.log(2) / 100)
