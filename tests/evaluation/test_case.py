"""A case by its parts and a naive loop, a validation by its definitions; what both state."""

import hashlib
import json
import math

import attrs
import numpy as np
import pytest
from scipy import stats

import bosaris_py as bp
from bosaris_py import LinearCalibration, Scores, case_llr, cross_fit, uncertainty as unc, validate
from bosaris_py.errors import (
    BosarisWarning,
    FewSpeakersWarning,
    InvalidInputError,
    SuspectScoresWarning,
)
from bosaris_py.evaluation.case import _METRICS, validation_figures
from tests.calibration.test_cross_fitting import simulated

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")

SCORES, KEY, SPEAKERS = simulated(n_speakers=20)
TOLD = {"propositions": ("the suspect speaks", "somebody else speaks"), "speakers": SPEAKERS}
TOLD |= {"reference": "20 simulated speakers", "rng": 3}


@pytest.fixture(scope="module")
def case():
    return case_llr(1.5, SCORES, KEY, **TOLD)


@pytest.fixture(scope="module")
def far():
    """A score beyond the bound, with the default seed."""
    told = {name: value for name, value in TOLD.items() if name != "rng"}
    with pytest.warns(SuspectScoresWarning, match=r"The bound limits its LLR\.$"):
        return case_llr(12.0, SCORES, KEY, **told)


def divided(seed):
    """Return the scores of lines cross-fitted on eleven divisions of the speakers."""
    children = np.random.default_rng(seed).spawn(11)
    fits = (cross_fit(LinearCalibration, SCORES, KEY, speakers=SPEAKERS, rng=r) for r in children)
    return [fit.scores for fit in fits]


def test_numbers_are_those_of_their_parts(case):
    linear = LinearCalibration.fit_scores(SCORES, KEY, ridge="weak")
    assert case.calibration == linear
    assert case.estimate.value == linear.apply(1.5)
    divisions = [bp.llr_bounds(scores, KEY, speakers=SPEAKERS) for scores in divided(3)]
    assert case.n_speakers == 20
    assert case.bounds == tuple(np.median(divisions, axis=0))
    assert case.low < case.llr < case.high


@pytest.mark.slow
def test_bounds_are_of_the_kind_that_is_asked_for():
    found = case_llr(1.5, SCORES, KEY, bounds="iv", folds="speaker", **TOLD)
    how = {"speakers": SPEAKERS, "folds": "speaker", "ridge": "weak"}
    fitted = cross_fit(LinearCalibration, SCORES, KEY, **how)
    assert found.bounds == tuple(bp.llr_bounds(fitted.scores, KEY, "iv", speakers=SPEAKERS))
    assert found.by_division == (found.llr,)


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


LINE, WEAK = {"ridge": 0.0}, {"ridge": "weak", "prior": 0.1}
MAPS = [(LinearCalibration, LINE), (LinearCalibration, WEAK), (bp.PAVCalibration, {})]


@pytest.mark.parametrize(("model", "options"), MAPS)
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
    assert repr(far).startswith(f"log10 LR at least {far.log10_lr:.2f}: the bound of the")
    below = attrs.evolve(case, bounds=bp.LLRBounds(case.llr + 1.0, case.llr + 2.0))
    assert repr(below).startswith(f"log10 LR at most {below.log10_lr:.2f}: the bound of")
    # Within the bounds an end that is beyond one is the bound.
    end = (case.llr + case.high) / 2
    within = attrs.evolve(case, bounds=bp.LLRBounds(-9.0, end))
    assert (within.low, within.llr, within.high) == (case.low, case.llr, end)
    # The bound depends on the division into folds; without a seed it never changes.
    assert (far.seed, len(far.by_division)) == (0, 11)
    assert min(far.by_division) < far.llr == np.median(far.by_division) < max(far.by_division)
    assert "5 folds, median of 11 divisions of the speakers" in repr(far)


def test_without_bounds_a_far_score_is_advised_to_have_some():
    with pytest.warns(SuspectScoresWarning, match=r"BoundedCalibration limits it\.$"):
        found = case_llr(12.0, SCORES, KEY, bounds=None, **TOLD)
    assert found.to_dict()["highest_bound"] is None


def test_what_it_states(case, tmp_path):
    ends = f"{case.low / math.log(10):.2f} to {case.high / math.log(10):.2f}"
    first, *lines = repr(case).splitlines()
    assert first.startswith(f"log10 LR {case.log10_lr:.2f} (95 % interval {ends}); natural log")
    counts = "120 trials of one speaker, 2280 of two, 20 speakers"
    propositions = [f"proposition {i}: {words}" for i, words in enumerate(TOLD["propositions"], 1)]
    assert lines[:3] == [*propositions, f"reference set: 20 simulated speakers; {counts}"]
    content = case.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert (content["lowest_bound"], content["highest_bound"]) == case.bounds
    file = tmp_path / "scores.txt"
    file.write_bytes(b"a b 1.0\n")
    found = case_llr(1.5, SCORES, KEY, bounds=None, files=[file], **TOLD)
    digest = hashlib.sha256(b"a b 1.0\n").hexdigest()
    assert repr(found).splitlines()[-1] == f"{file}: SHA-256 {digest}"


def test_words_of_the_guideline(case):
    """ENFSI guideline 2015, table 1."""
    words = {0.31: "weak", -1.5: "moderate", 3.5: "strong", 5.9: "very strong"}
    for log10, word in {**words, -6.1: "extremely strong", 0.2: ""}.items():
        estimate = attrs.evolve(case.estimate, value=log10 * math.log(10))
        told = f"{word} support for proposition {1 if log10 > 0 else 2}"
        told = told if word else "no support for either proposition"
        assert attrs.evolve(case, estimate=estimate, bounds=None).verbal == told


def test_below_five_speakers_there_is_no_interval():
    scores, key, speakers = simulated(n_speakers=4)
    with pytest.warns(FewSpeakersWarning) as caught:
        found = case_llr(1.0, scores, key, bounds=None, **TOLD | {"speakers": speakers})
    assert [one.category for one in caught].count(FewSpeakersWarning) == 1
    assert (found.low, found.high, found.n_speakers) == (None, None, 4)
    assert "no interval: 4 speakers are too few" in repr(found)
    with pytest.raises(InvalidInputError):
        case_llr(1.0, scores, key, **TOLD | {"speakers": speakers})
    with pytest.warns(FewSpeakersWarning) as caught:
        found = validate(scores, key, speakers=speakers)
    assert len(caught) == 1
    assert all(one.low is None for one in found.figures.values())
    assert "4 speakers; too few for intervals" in repr(found)


def test_the_seed_in_the_statement_gives_it_again():
    scores, key, speakers = simulated(n_speakers=6)
    how = TOLD | {"speakers": speakers, "folds": 3, "model": bp.BoundedCalibration}
    drawn = case_llr(1.5, scores, key, **how | {"rng": np.random.default_rng(5)})
    assert case_llr(1.5, scores, key, **how | {"rng": drawn.seed}).to_dict() == drawn.to_dict()


def test_bad_input():
    for name, value in (
        *(("propositions", ("one", " ")), ("propositions", {"one", "other"}), ("reference", "")),
        *(("score", np.nan), ("bounds", "none"), ("files", [b"scores.txt"]), ("confidence", 95)),
        *(("model", bp.LinearFusion), ("conditions", "gender"), ("tar_weights", [1.0])),
    ):
        with pytest.raises(InvalidInputError, match=f"`{name}` must"):
            case_llr(**{"score": 1.0, "scores": SCORES, "key": KEY, **TOLD, name: value})


# ---- Validation


@pytest.fixture(scope="module")
def validated():
    return validate(SCORES, KEY, speakers=SPEAKERS, rng=1)


def brier(tar, non):
    """Return the mean squared error of posteriors at even odds, over 1/4."""
    return 2 * ((1 / (1 + np.exp(tar)) ** 2).mean() + (1 / (1 + np.exp(-non)) ** 2).mean())


def test_figures_are_their_definitions(validated):
    tar, non = SCORES.get_tar_non(KEY)
    results = bp.Results(tar, non)
    expected = {n: getattr(results, n) for n in ("cllr", "min_cllr", "calibration_loss")}
    expected |= {"misleading_tar": np.mean(tar < 0), "misleading_non": np.mean(non > 0)}
    expected |= {"brier": brier(tar, non), "min_brier": brier(*bp.optimal_llrs(tar, non))}
    expected |= {"mean_inverse_lr_tar": np.exp(-tar).mean(), "mean_lr_non": np.exp(non).mean()}
    for name, one in (("tar", tar), ("non", non)):
        expected[f"mean_log10_lr_{name}"] = one.mean() / np.log(10)
    found = {name: one.value for name, one in validated.figures.items()}
    # devPAV has tests with its curve.
    expected |= {name: found[name] for name in ("dev_pav", "linear_loss")}
    assert found == pytest.approx(expected, rel=1e-12)
    del found["linear_loss"]
    for weights in (None, np.full(tar.size, 2.0)):
        plain = validation_figures(bp.Sample.from_scores(tar, non, weights))
        assert {n: one.value for n, one in plain.items()} == pytest.approx(found, rel=1e-12)
        assert all(one.low is None for one in plain.values())


def test_intervals_are_by_the_jackknife_over_speakers(validated):
    for name, metric in _METRICS.items():
        alone = unc.speaker_interval(SCORES, KEY, metric, speakers=SPEAKERS)
        found = validated.figures[name]
        assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high), name
    content = validated.to_dict()
    assert (content["cllr_low"], content["dev_pav_high"]) == (validated.figures["cllr"].low, None)
    assert (content["n_tar"], content["n_speakers"], content["seed"]) == (120, 20, 1)


def test_the_loss_to_a_line_is_a_difference_of_two_systems(validated):
    """The median over eleven divisions of the speakers."""
    lines = divided(1)
    cllr = validated.figures["cllr"].value
    losses = [cllr - bp.Results.from_scores(line, KEY).cllr for line in lines]
    found = validated.figures["linear_loss"]
    assert found.value == pytest.approx(np.median(losses), abs=1e-12)
    compared = {"llrs": SCORES, "line": lines[int(np.argsort(losses)[5])]}
    (row,) = unc.compare_systems(compared, KEY, unc.Cllr(), speakers=SPEAKERS).rows
    ends = row.difference.low, row.difference.high
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)


def test_infinite_llrs_have_values_and_no_intervals():
    infinite = Scores(np.where(KEY.tar, np.inf, SCORES.scoremat), *KEY.ids)
    found = validate(infinite, KEY, speakers=SPEAKERS).figures
    assert "linear_loss" not in found
    assert (found["mean_log10_lr_tar"].value, found["mean_inverse_lr_tar"].value) == (math.inf, 0)
    assert found["mean_log10_lr_tar"].low is None
    assert found["misleading_tar"].high > 0.0
