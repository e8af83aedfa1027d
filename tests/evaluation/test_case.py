"""The likelihood-ratio of one comparison: by its parts, by a naive loop, and what it states."""

import hashlib
import json
import math

import attrs
import numpy as np
import pytest
from scipy import stats

from bosaris_py import (
    BoundedCalibration,
    LinearCalibration,
    LLRBounds,
    PAVCalibration,
    Scores,
    case_llr,
    cross_fit,
    llr_bounds,
)
from bosaris_py.errors import (
    BosarisWarning,
    FewSpeakersWarning,
    InvalidInputError,
    SuspectScoresWarning,
)
from tests.calibration.test_cross_fitting import simulated

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")

SCORES, KEY, SPEAKERS = simulated(n_speakers=20)
TOLD = {
    "propositions": ("the suspect speaks", "somebody else speaks"),
    "reference": "20 simulated speakers",
    "speakers": SPEAKERS,
    "rng": 3,
}


@pytest.fixture(scope="module")
def case():
    return case_llr(1.5, SCORES, KEY, **TOLD)


@pytest.fixture(scope="module")
def far():
    """A score beyond the bound, with the default seed."""
    told = {name: value for name, value in TOLD.items() if name != "rng"}
    with pytest.warns(SuspectScoresWarning, match=r"The bound limits its LLR\.$"):
        return case_llr(12.0, SCORES, KEY, **told)


def with_llr(case, log10_lr):
    """Return a case whose map gives another LLR."""
    estimate = attrs.evolve(case.estimate, value=log10_lr * math.log(10))
    return attrs.evolve(case, estimate=estimate, bounds=None)


def test_numbers_are_those_of_their_parts(case):
    linear = LinearCalibration.fit_scores(SCORES, KEY, ridge="weak")
    assert case.calibration == linear
    assert case.estimate.value == linear.apply(1.5)
    divisions = [
        llr_bounds(
            cross_fit(
                LinearCalibration, SCORES, KEY, speakers=SPEAKERS, rng=rng, ridge="weak"
            ).scores,
            KEY,
            speakers=SPEAKERS,
        )
        for rng in np.random.default_rng(3).spawn(11)
    ]
    assert case.n_speakers == 20
    assert case.bounds == tuple(np.median(divisions, axis=0))
    assert case.low < case.llr < case.high
    assert case.log10_lr == pytest.approx(case.llr / math.log(10))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["iv", "wide"])
def test_bounds_are_of_the_kind_that_is_asked_for(kind):
    found = case_llr(1.5, SCORES, KEY, bounds=kind, folds="speaker", **TOLD)
    how = {"speakers": SPEAKERS, "folds": "speaker", "ridge": "weak"}
    fitted = cross_fit(LinearCalibration, SCORES, KEY, **how)
    assert found.bounds == tuple(llr_bounds(fitted.scores, KEY, kind, speakers=SPEAKERS))
    assert found.bounds != tuple(llr_bounds(fitted.scores, KEY, speakers=SPEAKERS))
    assert found.by_division == (found.llr,)
    assert repr(found).splitlines()[5].startswith("bounds: each speaker left out; interval:")


def without_each_speaker(model, score, **options):
    """Return the LLR of the map without each speaker, by a naive loop."""
    sides = zip(SPEAKERS, KEY.ids, strict=True)
    who, whose = (np.array([speakers[name] for name in ids]) for speakers, ids in sides)
    llrs = []
    for speaker in np.unique(who):
        kept = (who != speaker)[:, None] & (whose != speaker)[None]
        tar, non = (SCORES.scoremat[mask & kept] for mask in (KEY.tar, KEY.non))
        llrs.append(model.fit(tar, non, **options).apply(score))
    return np.array(llrs)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (LinearCalibration, {"ridge": 0.0}),
        (LinearCalibration, {"ridge": "weak", "prior": 0.1}),
        (PAVCalibration, {}),
    ],
)
def test_the_interval_is_students_of_the_maps_without_each_speaker(model, options):
    found = case_llr(1.5, SCORES, KEY, model=model, bounds=None, **options, **TOLD)
    squares = without_each_speaker(model, 1.5, **options)
    squares = (squares - squares.mean()) ** 2
    error = np.sqrt(19 / 20 * squares.sum())
    degrees = np.sqrt(19 * max(squares.sum() ** 2 / (squares**2).sum() - 1, 2))
    half = stats.t.ppf(0.975, degrees) * error
    assert (found.low, found.high) == pytest.approx((found.llr - half, found.llr + half))
    assert found.estimate.degrees == pytest.approx(degrees)


def test_maps_without_a_speaker_have_the_ridge_that_separable_classes_got():
    apart = Scores(np.where(KEY.tar, 3.0, -3.0) + 0.1 * SCORES.scoremat, *KEY.ids)
    with pytest.warns(BosarisWarning):
        found = case_llr(1.0, apart, KEY, bounds=None, ridge=0.0, **TOLD)
    same = case_llr(1.0, apart, KEY, bounds=None, ridge=found.calibration.ridge, **TOLD)
    assert (found.low, found.high) == pytest.approx((same.low, same.high), rel=1e-9)
    assert found.low < found.llr < found.high


def test_at_a_bound_there_is_no_interval(case, far):
    """Never an interval of one point, which looks exact."""
    assert far.llr == far.bounds.high < far.estimate.value
    assert far.llr <= math.log(KEY.n_non + 1)
    assert (far.low, far.high, far.is_at_bound) == (None, None, True)
    first, *_, last = repr(far).splitlines()
    assert first == (
        f"log10 LR at least {far.log10_lr:.2f}: the bound of the reference set, no interval; "
        f"natural log at least {far.llr:.3f}"
    )
    assert last.endswith(f"at the bound, without it {far.estimate.value / math.log(10):.2f}")
    below = attrs.evolve(case, bounds=LLRBounds(case.llr + 1.0, case.llr + 2.0))
    assert repr(below).startswith(f"log10 LR at most {below.log10_lr:.2f}: the bound of")
    # Within the bounds an end that is beyond one is the bound.
    end = (case.llr + case.high) / 2
    within = attrs.evolve(case, bounds=LLRBounds(-9.0, end))
    assert (within.low, within.llr, within.high) == (case.low, case.llr, end)


def test_without_bounds_a_far_score_is_advised_to_have_some():
    with pytest.warns(SuspectScoresWarning, match=r"BoundedCalibration limits it\.$"):
        found = case_llr(12.0, SCORES, KEY, bounds=None, **TOLD)
    assert found.to_dict()["highest_bound"] is None
    assert repr(found).splitlines()[-1].startswith("no bounds: the reference set may not support")


def test_what_it_states(case, tmp_path):
    ends = f"{case.low / math.log(10):.2f} to {case.high / math.log(10):.2f}"
    lines = repr(case).splitlines()
    assert lines[0] == (
        f"log10 LR {case.log10_lr:.2f} (95 % interval {ends}); natural log {case.llr:.3f} "
        f"({case.low:.3f} to {case.high:.3f})"
    )
    assert lines[1:4] == [
        "proposition 1: the suspect speaks",
        "proposition 2: somebody else speaks",
        "reference set: 20 simulated speakers; 120 trials of one speaker, 2280 of two, 20 speakers",
    ]
    content = case.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert (content["lowest_bound"], content["highest_bound"]) == case.bounds
    file = tmp_path / "scores.txt"
    file.write_bytes(b"a b 1.0\n")
    found = case_llr(1.5, SCORES, KEY, bounds=None, files=[file], **TOLD)
    digest = hashlib.sha256(b"a b 1.0\n").hexdigest()
    assert repr(found).splitlines()[-1] == f"{file}: SHA-256 {digest}"
    assert found.to_dict()["file_hashes"] == {str(file): digest}


@pytest.mark.parametrize(
    ("log10", "words"),
    [
        (0.2, "no support for either proposition"),
        (0.31, "weak support for proposition 1"),
        (-1.5, "moderate support for proposition 2"),
        (2.0, "moderately strong support for proposition 1"),
        (3.5, "strong support for proposition 1"),
        (4.0, "very strong support for proposition 1"),
        (5.9, "very strong support for proposition 1"),
        (-6.1, "extremely strong support for proposition 2"),
    ],
)
def test_words_of_the_guideline(case, log10, words):
    """ENFSI guideline 2015, table 1."""
    assert with_llr(case, log10).verbal == words


def test_other_calibrations():
    scores, key, speakers = simulated(n_speakers=6)
    how = TOLD | {"speakers": speakers, "folds": 3}
    for model, bounds in ((PAVCalibration, "iv"), (BoundedCalibration, "elub")):
        found = case_llr(1.5, scores, key, model=model, bounds=bounds, **how)
        assert isinstance(found.calibration, model)


def test_below_five_speakers_there_is_no_interval():
    scores, key, speakers = simulated(n_speakers=4)
    with pytest.warns(FewSpeakersWarning) as caught:
        found = case_llr(1.0, scores, key, bounds=None, **TOLD | {"speakers": speakers})
    assert [one.category for one in caught].count(FewSpeakersWarning) == 1
    assert (found.low, found.high, found.n_speakers) == (None, None, 4)
    assert "(no interval)" in repr(found)
    assert "no interval: 4 speakers are too few" in repr(found)
    with pytest.raises(InvalidInputError):
        case_llr(1.0, scores, key, **TOLD | {"speakers": speakers})


def test_without_a_seed_it_never_changes_its_mind(far):
    """Beyond the bound, which depends on the division into folds."""
    assert far.seed == 0
    assert len(far.by_division) == 11
    assert far.llr == np.median(far.by_division)
    lowest, highest = np.array([min(far.by_division), max(far.by_division)]) / math.log(10)
    assert lowest < highest
    assert repr(far).splitlines()[5] == (
        "bounds: 5 folds, median of 11 divisions of the speakers with log10 LRs from "
        f"{lowest:.2f} to {highest:.2f}, seed 0; interval: the map without each speaker in turn"
    )


def test_the_seed_in_the_statement_gives_it_again():
    scores, key, speakers = simulated(n_speakers=6)
    how = TOLD | {"speakers": speakers, "folds": 3}
    drawn = case_llr(1.5, scores, key, **how | {"rng": np.random.default_rng(5)})
    again = case_llr(1.5, scores, key, **how | {"rng": drawn.seed})
    assert again.to_dict() == drawn.to_dict()


@pytest.mark.parametrize(
    "arguments",
    [
        {"propositions": ("one", " ")},
        {"propositions": {"one", "other"}},
        {"propositions": "ab"},
        {"propositions": ()},
        {"reference": ""},
        {"score": np.nan},
        {"score": "1"},
        {"bounds": "none"},
        {"files": [b"scores.txt"]},
        {"confidence": 95},
    ],
)
def test_bad_input(arguments):
    (name,) = arguments
    with pytest.raises(InvalidInputError, match=f"`{name}` must"):
        case_llr(**{"score": 1.0, "scores": SCORES, "key": KEY, **TOLD, **arguments})
