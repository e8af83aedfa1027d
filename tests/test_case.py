"""Tests of the likelihood-ratio of one comparison."""

import hashlib
import json
import math

import numpy as np
import pytest
from scipy import stats

from bosaris_py import (
    BoundedCalibration,
    Key,
    LinearCalibration,
    PAVCalibration,
    Results,
    Scores,
    case_llr,
    cross_fit,
    llr_bounds,
    uncertainty as unc,
    validate,
    validate_scores,
)
from bosaris_py._case import _FIGURES
from bosaris_py.errors import (
    BosarisWarning,
    ExtrapolationWarning,
    FewSpeakersWarning,
    InvalidInputError,
)
from tests.calibration.test_cross_fitting import simulated
from tests.forms import evolve

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")

SCORES, KEY, SPEAKERS = simulated(n_speakers=20)
TOLD = {
    "propositions": ("the suspect speaks", "somebody else speaks"),
    "reference": "20 simulated speakers",
    "speakers": SPEAKERS,
    "rng": 3,
}


def test_numbers_are_those_of_their_parts():
    found = case_llr(1.5, SCORES, KEY, **TOLD)
    linear = LinearCalibration.fit_scores(SCORES, KEY, ridge="weak")
    assert found.calibration == linear
    assert found.unbounded == linear.apply(1.5)
    divisions = [
        llr_bounds(
            cross_fit(
                LinearCalibration, SCORES, KEY, speakers=SPEAKERS, rng=rng, ridge="weak"
            ).scores,
            KEY,
            speakers=SPEAKERS,
        )
        for rng in np.random.default_rng(3).spawn(11)
    ]  # fmt: skip
    assert found.n_speakers == 20
    assert found.bounds == tuple(np.median(divisions, axis=0))
    assert found.low < found.llr < found.high
    assert found.log10_lr == pytest.approx(found.llr / math.log(10))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["iv", "wide"])
def test_bounds_are_of_the_kind_that_is_asked_for(kind):
    found = case_llr(1.5, SCORES, KEY, bounds=kind, folds="speaker", **TOLD)
    fitted = cross_fit(
        LinearCalibration, SCORES, KEY, speakers=SPEAKERS, folds="speaker", ridge="weak"
    )
    assert found.bounds == tuple(llr_bounds(fitted.scores, KEY, kind, speakers=SPEAKERS))
    assert found.bounds != tuple(llr_bounds(fitted.scores, KEY, speakers=SPEAKERS))
    assert found.bounds != tuple(llr_bounds(fitted.scores, KEY, kind))


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
    [(LinearCalibration, {"ridge": 0.0}), (LinearCalibration, {"ridge": "weak"}),
     (LinearCalibration, {"prior": 0.1}), (PAVCalibration, {})],
)  # fmt: skip
def test_the_interval_is_students_of_the_maps_without_each_speaker(model, options):
    found = case_llr(1.5, SCORES, KEY, model=model, bounds=None, **options, **TOLD)
    weak = {"ridge": "weak"} if model is LinearCalibration else {}
    squares = without_each_speaker(model, 1.5, **weak | options)
    squares = (squares - squares.mean()) ** 2
    error = np.sqrt(19 / 20 * squares.sum())
    degrees = np.sqrt(19 * max(squares.sum() ** 2 / (squares**2).sum() - 1, 2))
    half = stats.t.ppf(0.975, degrees) * error
    assert (found.low, found.high) == pytest.approx((found.llr - half, found.llr + half))


def test_maps_without_a_speaker_have_the_ridge_that_separable_classes_got():
    apart = Scores(np.where(KEY.tar, 3.0, -3.0) + 0.1 * SCORES.scoremat, *KEY.ids)
    with pytest.warns(BosarisWarning):
        found = case_llr(1.0, apart, KEY, bounds=None, ridge=0.0, **TOLD)
    same = case_llr(1.0, apart, KEY, bounds=None, ridge=found.calibration.ridge, **TOLD)
    assert (found.low, found.high) == pytest.approx((same.low, same.high), rel=1e-9)
    assert found.low < found.llr < found.high


def test_a_far_score_is_warned_of_and_limited():
    with pytest.warns(ExtrapolationWarning, match=r"1 of 1 scores .* The bound limits its LLR\.$"):
        found = case_llr(12.0, SCORES, KEY, **TOLD)
    with pytest.warns(
        ExtrapolationWarning, match=r"far outside .* BoundedCalibration limits it\.$"
    ):
        case_llr(12.0, SCORES, KEY, bounds=None, **TOLD)
    assert found.llr == found.high == found.bounds.high < found.unbounded
    assert found.llr <= math.log(KEY.n_non + 1)
    text = repr(found)
    assert f"at the bound, without it {found.unbounded / math.log(10):.2f}" in text


def test_what_it_prints(tmp_path):
    file = tmp_path / "scores.txt"
    file.write_bytes(b"a b 1.0\n")
    found = case_llr(1.5, SCORES, KEY, files=[file], **TOLD)
    lines = repr(found).splitlines()
    assert lines[0].startswith(f"log10 LR {found.log10_lr:.2f} (95 % interval")
    assert f"natural log {found.llr:.3f}" in lines[0]
    assert lines[1] == "proposition 1: the suspect speaks"
    assert lines[2] == "proposition 2: somebody else speaks"
    assert lines[3] == (
        "reference set: 20 simulated speakers; 120 trials of one speaker, 2280 of two, 20 speakers"
    )
    digest = hashlib.sha256(b"a b 1.0\n").hexdigest()
    assert lines[-1] == f"{file}: SHA-256 {digest}"
    assert found.file_hashes == {str(file): digest}


def test_without_bounds_it_says_so():
    found = case_llr(1.5, SCORES, KEY, bounds=None, **TOLD)
    assert repr(found).splitlines()[-1].startswith("no bounds: the reference set may not support")


@pytest.mark.parametrize(
    ("log10", "words"),
    [
        (0.2, "no support for either proposition"),
        (0.31, "weak support for proposition 1"),
        (-1.5, "moderate support for proposition 2"),
        (2.0, "moderately strong support for proposition 1"),
        (5.0, "very strong support for proposition 1"),
        (-7.0, "extremely strong support for proposition 2"),
    ],
)
def test_words(log10, words):
    found = case_llr(1.5, SCORES, KEY, **TOLD)
    assert evolve(found, llr=log10 * math.log(10)).verbal == words


def test_other_calibrations():
    found = case_llr(1.5, SCORES, KEY, model=PAVCalibration, bounds="iv", **TOLD)
    assert isinstance(found.calibration, PAVCalibration)
    found = case_llr(1.5, SCORES, KEY, model=BoundedCalibration, **TOLD)
    assert found.calibration == BoundedCalibration.fit_scores(SCORES, KEY)
    weak = case_llr(1.5, SCORES, KEY, model=BoundedCalibration, ridge="weak", **TOLD)
    assert found == weak
    assert (found.n_tar, found.n_non) == (KEY.n_tar, KEY.n_non)


def test_below_five_speakers_there_is_no_interval():
    scores, key, speakers = simulated(n_speakers=4)
    told = TOLD | {"speakers": speakers}
    with pytest.warns(FewSpeakersWarning):
        found = case_llr(1.0, scores, key, folds=3, bounds=None, **told)
    assert (found.low, found.high, found.log10_high, found.n_speakers) == (None, None, None, 4)
    assert "<svg" in found._repr_html_()
    assert "no interval: 4 speakers are too few" in repr(found)
    with pytest.warns(FewSpeakersWarning):
        validated = validate_scores(scores, key, speakers=speakers)
    assert not validated.intervals
    assert "4 speakers; too few for intervals" in repr(validated)


def test_without_a_seed_it_never_changes_its_mind():
    """Beyond the bound, which depends on the division into folds: 0.4 in log10 LR before 0.3."""
    told = {name: value for name, value in TOLD.items() if name != "rng"}
    with pytest.warns(ExtrapolationWarning):
        first, second = (case_llr(12.0, SCORES, KEY, **told) for _ in range(2))
    assert repr(first) == repr(second)
    assert first.seed == 0
    assert len(first.by_division) == 11
    assert first.llr == np.median(first.by_division)
    lowest, highest = np.array([min(first.by_division), max(first.by_division)]) / math.log(10)
    assert lowest < highest
    assert repr(first).splitlines()[5] == (
        "bounds: 5 folds, median of 11 divisions of the speakers with log10 LRs from "
        f"{lowest:.2f} to {highest:.2f}, seed 0; interval: the map without each speaker in turn"
    )


@pytest.mark.parametrize("seed", [None, 5])
def test_the_seed_in_the_statement_gives_it_again(seed):
    rng = None if seed is None else np.random.default_rng(seed)
    drawn = case_llr(1.5, SCORES, KEY, **{**TOLD, "rng": rng})
    if seed is not None:
        # The first number below 2^31 that the generator draws.
        assert drawn.seed == np.random.default_rng(seed).integers(2**31)
    assert case_llr(1.5, SCORES, KEY, **{**TOLD, "rng": drawn.seed}) == drawn


def test_leaving_each_speaker_out_needs_no_division():
    told = {**TOLD, "folds": "speaker"}
    first, second = (case_llr(1.5, SCORES, KEY, **{**told, "rng": rng}) for rng in (1, 2))
    assert first.bounds == second.bounds
    assert first.by_division == (first.llr,)
    assert repr(first).splitlines()[5].startswith("bounds: each speaker left out; interval:")


def test_its_numbers_have_one_base_each():
    found = case_llr(1.5, SCORES, KEY, **TOLD)
    content = found.to_dict()
    assert found.records() == [content]
    for name in ("lr", "low", "high"):
        log10 = content["log10_" + name]
        assert log10 == pytest.approx(content[name.replace("lr", "llr")] / math.log(10), rel=1e-15)
        assert getattr(found, f"log10_{name}") == log10
    assert content["lr"] == found.lr == pytest.approx(math.exp(found.llr), rel=1e-12)
    assert (content["lowest_bound"], content["highest_bound"]) == found.bounds
    assert json.loads(json.dumps(content)) == content
    assert evolve(found, llr=1e4).lr == math.inf
    unbounded = case_llr(1.5, SCORES, KEY, bounds=None, **TOLD)
    assert unbounded.to_dict()["highest_bound"] is None
    assert repr(unbounded).splitlines()[5] == "interval: the map without each speaker in turn"


def test_a_single_file_needs_no_list(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("x")
    assert list(case_llr(1.0, SCORES, KEY, files=path, **TOLD).file_hashes) == [str(path)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"propositions": None}, "`propositions` must be two texts"),
        ({"propositions": ("one", " ")}, "`propositions` must be two texts"),
        ({"propositions": {"one", "other"}}, "`propositions` must be two texts"),
        ({"propositions": "ab"}, "`propositions` must be two texts"),
        ({"reference": None}, "`reference` must be a text"),
        ({"reference": ""}, "`reference` must be a text"),
        ({"score": np.nan}, "`score` must be finite"),
        ({"bounds": "none"}, "`bounds` must be one of"),
        ({"bounds": np.zeros(2)}, "`bounds` must be one of"),
        ({"files": 3}, "`files` must be the name of a file; got 3"),
        ({"files": [b"scores.txt"]}, "`files` must be the name of a file"),
        ({"score": 10**400}, "`score` must be a number"),
        ({"score": "1"}, "`score` must be a number"),
        ({"score": True}, "`score` must be a number"),
    ],
)
def test_bad_input(arguments, message):
    given = {"score": 1.0, "scores": SCORES, "key": KEY, **TOLD, **arguments}
    with pytest.raises(InvalidInputError, match=message):
        case_llr(**given)


def test_without_propositions_and_reference_set_there_is_no_number():
    with pytest.raises(InvalidInputError, match="`propositions` must be two texts"):
        case_llr(1.0, SCORES, KEY)


@pytest.fixture(scope="module")
def validated():
    return validate_scores(SCORES, KEY, speakers=SPEAKERS, rng=1)


def test_a_validation_has_intervals_by_speakers(validated):
    drawn = dict.fromkeys(("confidence", "n_speakers", "seed", "linear_loss"))
    plain = validate(Results(*SCORES.get_tar_non(KEY)))
    assert evolve(validated, intervals={}, **drawn) == plain
    for name, metric in _FIGURES.items():
        alone = unc.speaker_interval(SCORES, KEY, metric, speakers=SPEAKERS)
        assert alone.value == pytest.approx(getattr(validated, name), rel=1e-12), name
        assert validated.intervals[name] == (alone.low, alone.high), name


def test_the_loss_to_a_line_is_a_difference_of_two_systems(validated):
    """The median over eleven divisions of the speakers."""
    lines = [
        cross_fit(LinearCalibration, SCORES, KEY, speakers=SPEAKERS, rng=child).scores
        for child in np.random.default_rng(1).spawn(11)
    ]
    losses = [validated.cllr - Results.from_scores(line, KEY).cllr for line in lines]
    assert validated.linear_loss == pytest.approx(np.median(losses), abs=1e-12)
    middle = lines[int(np.argsort(losses)[5])]
    compared = {"llrs": SCORES, "line": middle}
    (row,) = unc.compare_systems(compared, KEY, unc.Cllr(), speakers=SPEAKERS).rows
    ends = row.difference.low, row.difference.high
    assert validated.intervals["linear_loss"] == pytest.approx(ends, rel=1e-9)


def test_the_mean_of_llrs_has_the_interval_of_students_t():
    """One target of each of 30 speakers, so that the deviation is the textbook's."""
    ids, same = [f"s{i:02}" for i in range(30)], np.eye(30, dtype=bool)
    llrs = np.where(same, 2.0, -2.0) + np.random.default_rng(1).normal(size=(30, 30))
    found = validate_scores(Scores(llrs, ids, ids), Key(ids, ids, same, ~same))
    own = np.diag(llrs) / math.log(10.0)
    low, high = found.intervals["mean_log10_lr_tar"]
    squares = (own - own.mean()) ** 2
    degrees = np.sqrt(29 * (squares.sum() ** 2 / (squares**2).sum() - 1))
    half = stats.t.ppf(0.975, degrees) * own.std(ddof=1) / math.sqrt(30)
    assert (low, high) == pytest.approx((own.mean() - half, own.mean() + half))
    # Whatever the sign: all are lower by 1 in log10.
    lower = Scores(llrs - math.log(10.0), ids, ids)
    moved = validate_scores(lower, Key(ids, ids, same, ~same))
    assert moved.intervals["mean_log10_lr_tar"] == pytest.approx((low - 1.0, high - 1.0))


@pytest.mark.slow
def test_a_validation_is_the_same_twice_and_by_the_seed_it_states(validated):
    first, second = (validate_scores(SCORES, KEY, speakers=SPEAKERS) for _ in range(2))
    assert first == second
    rng = np.random.default_rng(3)
    by_generator = validate_scores(SCORES, KEY, speakers=SPEAKERS, rng=rng)
    again = validate_scores(SCORES, KEY, speakers=SPEAKERS, rng=by_generator.seed)
    assert again == by_generator
    assert first.to_dict()["n_speakers"] == validated.n_speakers == 20


def test_a_case_and_a_validation_of_few_speakers_warn_once_each():
    with pytest.warns(FewSpeakersWarning) as caught:
        validate_scores(SCORES, KEY, speakers=SPEAKERS)
    assert len(caught) == 1
    with pytest.warns(FewSpeakersWarning) as caught:
        case_llr(1.0, SCORES, KEY, **TOLD)
    assert len(caught) == 1


def test_a_set_of_three_speakers_is_said_to_be_too_small():
    scores, key, speakers = simulated(n_speakers=3)
    with pytest.raises(InvalidInputError, match="The set has too few speakers"):
        case_llr(1.0, scores, key, **TOLD | {"speakers": speakers})


def test_what_a_validation_prints(validated):
    low, high = validated.intervals["cllr"]
    lines = repr(validated).splitlines()
    assert lines[0].endswith(", 20 speakers; 95 % intervals, seed 1")
    assert lines[1].split() == ["Cllr", f"{validated.cllr:.4g}", f"[{low:.4g},", f"{high:.4g}]"]
    assert next(line for line in lines if line.startswith("devPAV")).endswith("no interval")
    assert next(line for line in lines if "cross-fitted line" in line).endswith("]")
    assert "intervals" not in validated.to_dict()


@pytest.mark.slow
def test_the_loss_to_a_line_is_that_of_miscalibration_and_covers_zero_without():
    """The true map is 2 s - 1 of these scores: both classes normal, two deviations of 1 apart."""
    ids, same = [f"s{i}" for i in range(60)], np.eye(60, dtype=bool)
    key = Key(ids, ids, same, ~same)
    raw = 2.0 * same - 1.0 + np.random.default_rng(5).normal(size=(60, 60))
    for scale, is_calibrated in ((2.0, True), (6.0, False)):
        found = validate_scores(Scores(scale * raw, ids, ids), key, rng=1)
        low, high = found.intervals["linear_loss"]
        assert (low <= 0.0 <= high) is is_calibrated
        assert low <= found.linear_loss <= high


def test_infinite_llrs_have_no_intervals():
    infinite = np.where(KEY.tar, np.inf, SCORES.scoremat)
    with pytest.raises(InvalidInputError, match=r"`llrs` must be finite; .*evaluation.validate"):
        validate_scores(evolve(SCORES, scoremat=infinite), KEY, speakers=SPEAKERS)


@pytest.mark.parametrize(
    ("log10_lr", "words"),
    [(6.1, "extremely strong"), (5.9, "very strong"), (4.0, "very strong"), (3.5, "strong")],
)
def test_words_of_the_guideline(log10_lr, words):
    """ENFSI guideline 2015, table 1: from 10^6, 10^4 and 10^3 on."""
    case = case_llr(1.0, SCORES, KEY, **TOLD)
    strong = evolve(case, llr=log10_lr * math.log(10))
    assert strong.verbal.startswith(f"{words} support")


def test_an_lr_beyond_floats_is_infinite():
    case = case_llr(1.0, SCORES, KEY, **TOLD)
    assert evolve(case, llr=307 * math.log(10)).lr == pytest.approx(1e307, rel=1e-9)
    assert evolve(case, llr=309 * math.log(10)).lr == math.inf
