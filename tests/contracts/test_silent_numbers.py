"""Calls that would give a wrong number without a word, and what is said instead."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FileFormatError, InvalidInputError, SuspectScoresWarning
from bosaris_py.evaluation.curves import BayesCurves
from bosaris_py.matlab import Det_Plot, Norm_DCF_Plot, compute_roc, fast_minDCF
from bosaris_py.numerics.objective import evaluate_objective
from bosaris_py.trials.conditions import as_conditions
from bosaris_py.trials.read import named_systems
from tests.forms import as_list, described

Call = Callable[..., object]

RNG = np.random.default_rng(11)
LABELS = np.repeat([1, 0], [30, 70])
SCORES = RNG.normal(2.0 * LABELS, 1.0)

# Labels and scores in the place of two classes

TWO_LISTS: dict[str, Call] = {
    "Results": bp.Results,
    "Sample": bp.Sample.from_scores,
    "set_system": lambda tar, non: bp.DETPlot().set_system(tar, non),
    "LinearCalibration": bp.LinearCalibration.fit,
    "PAVCalibration": bp.PAVCalibration.fit,
    "evaluate_objective": evaluate_objective,
    "bootstrap": lambda tar, non: unc.bootstrap(tar, non, unc.EER()),
    "Statistic": unc.MinDCF(0.1),
    "delong": unc.delong,
    "auc_standard_error": unc.auc_standard_error,
    "dcf_standard_error": lambda tar, non: unc.dcf_standard_error(tar, non, unc.DCF(1.0, 0.01)),
    "Decisions": lambda tar, non: unc.Decisions.at_threshold(tar, non, 1.0),
    "compute_roc": compute_roc,
    "fast_minDCF": lambda tar, non: fast_minDCF(tar, non, 0.0),
}


@pytest.mark.parametrize("call", TWO_LISTS.values(), ids=TWO_LISTS)
@pytest.mark.parametrize("labels", [LABELS, 2.0 * LABELS - 1.0, LABELS + 1, LABELS == 1], ids=str)
def test_labels_and_scores(call: Call, labels: np.ndarray) -> None:
    for classes in ((labels, SCORES), (SCORES, labels), (list(labels), SCORES.astype("f4"))):
        with pytest.raises(InvalidInputError, match=r"split_by_labels\(labels, scores\)"):
            call(*classes)


def test_words_and_scores() -> None:
    words = np.where(LABELS == 1, "target", "nontarget")
    with pytest.raises(InvalidInputError, match=r"Convert text .* Results\.from_labels"):
        bp.eer(words, SCORES)


@pytest.mark.parametrize(
    ("tar", "non"),
    [
        # Fewer than four trials, or not as many.
        ([0.0, 1.0, 1.0], [-0.5, 0.5, -2.0]),
        ([0.0, 1.0, 1.0, 0.0], [-0.5, 0.5, -2.0, 0.25, 7.0]),
        # One value only, others besides, or both lists alike.
        ([1.0] * 30, list(range(30))),
        ([0.0, 1.0, 0.5] * 10, list(range(30))),
        ([0.0, 1.0, -1.0] * 10, list(range(30))),
        ([0.0, 1.0] * 15, [-1.0, 1.0] * 15),
        # Few scores that are tied or label values themselves.
        ([0.0, 1.0] * 5, [-2.0, 0.5] * 5),
        ([0.0, 1.0] * 2, [0.25, -0.5, 3.0, 1.0]),
        ([1.0, 2.0] * 2, [0.25, -0.5, 3.0, 2.0]),
        ([1.0, 2.0, 3.0] * 10, list(range(30))),
    ],
)
def test_scores_that_are_no_labels(tar: list[float], non: list[float]) -> None:
    assert 0.0 <= bp.eer(tar, non, definition="step") <= 1.0


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        LABELS.astype(np.uint8),
        2 * LABELS - 1,
        LABELS.astype(float),
        (LABELS == 1).tolist(),
        np.where(LABELS == 1, "target", "nontarget"),
        np.where(LABELS == 1, "TGT", "imp").tolist(),
        np.where(LABELS == 1, "1", "-1"),
        np.where(LABELS == 1, "genuine", "impostor"),
        np.where(LABELS == 1, "mated", "non-mated"),
        np.where(LABELS == 1, "Same", "Different").tolist(),
        np.where(LABELS == 1, "Bona-fide", "impostor").tolist(),
        np.where(LABELS == 1, "target", "non"),
        np.where(LABELS == 1, "True", "False").astype(object),
    ],
    ids=str,
)
def test_split_by_labels(labels: object) -> None:
    tar, non = bp.split_by_labels(labels, SCORES.astype(np.float32))
    assert tar.dtype == non.dtype == np.float32
    assert tar.tolist() == SCORES.astype(np.float32)[:30].tolist()
    assert non.tolist() == SCORES.astype(np.float32)[30:].tolist()
    assert bp.Results.from_labels(labels, SCORES).eer == bp.eer(SCORES[:30], SCORES[30:])


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        (LABELS[:9], SCORES, "`labels` must hold one label for each of the 100 scores; got 9 la"),
        (SCORES, LABELS, "`labels` must be True and False, 0 and 1, or -1 and 1; got numbers from"),
        (SCORES, LABELS, "Labels come first, then scores"),
        (LABELS + 1, SCORES, "got numbers from 1 to 2. Say which means a target: labels == 2."),
        (np.where(LABELS == 1, 1.0, np.nan), SCORES, "-1 and 1; got NaN at position 30"),
        (LABELS - 1 + 2 * LABELS, SCORES, "0 and 1, or -1 and 1; got numbers from -1 to 2"),
        (LABELS[:, None], SCORES, "`labels` must be one-dimensional; got an array of shape"),
        ({"a": 1, "b": 0}, [1, 2], "must be a list in the order of the scores; got {'a': 1"),
        (["x", "y"], [1, 2], r"means a target: labels == WORD, where WORD is one of 'x', 'y'\."),
        (["genuine", "client"], [1, 2], "one of 'client', 'genuine'"),
        (["same", "other", "different"], [1, 2, 3], "one of 'different', 'other', 'same'"),
        (["target", "spoof"], [1, 2], r"words of one kind \(target|nontarget"),
        (["target", None], [1, 2], "`values` must be a category for each item; got None for 1"),
        (LABELS, LABELS == 1, "`scores` must hold real numbers"),
    ],
)
def test_bad_labels(labels: object, scores: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        bp.Results.from_labels(labels, scores)


# Probabilities


def test_posterior() -> None:
    # Bayes' rule: 3:1 odds times a likelihood ratio of 1/9 are odds of 1:3.
    assert bp.posterior(np.log(1 / 9), 0.75) == pytest.approx(0.25)
    assert bp.posterior([[-np.inf, np.inf]], 0.01).tolist() == [[0.0, 1.0]]
    point = bp.OperatingPoint(0.01, c_miss=10)
    assert bp.posterior(0.0, point) == pytest.approx(point.effective_prior)
    with pytest.raises(InvalidInputError, match="`p_target` must lie strictly between 0 and 1"):
        bp.posterior(0.0, 1.0)
    with pytest.raises(InvalidInputError, match="`llr` must not hold NaN"):
        bp.posterior([0.0, np.nan], 0.5)


# Columns of a table in the place of values in the order of the trials

KEY = bp.Key(
    ["anna", "bert"], ["s1", "s2"], [[True, False], [False, True]], [[False, True], [True, False]]
)
# Row by row, where vectors of trials come column by column.
TABLE = {
    "model": ["anna", "anna", "bert", "bert"],
    "segment": ["s1", "s2", "s1", "s2"],
    "gender": ["f", "f", "m", "m"],
    "seconds": [1.0, 2.0, 3.0, 4.0],
    "calls": [1, 2, 3, 4],
}
COLUMNS = {name: TABLE[name] for name in ("gender", "seconds", "calls")}


class Series(list):
    """What polars' columns are called."""


class Indexed(list):
    """A column with labels of its rows, as in pandas."""

    index = property(lambda self: range(len(self)))


@pytest.mark.parametrize("kind", [Series, Indexed])
def test_columns_of_a_data_frame(kind: type) -> None:
    column = kind(TABLE["gender"])
    expected = f"must hold one value for each trial in the order of the .*; got a {kind.__name__}"
    with pytest.raises(InvalidInputError, match=rf"{expected}.* Key\.from_trials takes"):
        KEY.with_columns(gender=column)


def test_columns_by_id() -> None:
    pandas = pytest.importorskip("pandas")
    wanted = described(KEY, None, {"gender": ["f", "m"]}, {"seconds": [3.5, 1.0]})
    gender, seconds = {"bert": "m", "anna": "f", "carl": "m"}, {"s2": 1.0, "s1": 3.5}
    for kind in (dict, pandas.Series):
        found = described(KEY, None, {"gender": kind(gender)}, {"seconds": kind(seconds)})
        assert found == wanted == found.with_columns(gender=("model", kind(gender)))
    series = pandas.Series(gender)
    for given, message in [
        (series.iloc[:1], r"have a value for each model; got none for 1 of 2: anna\."),
        (dict(bert="m"), r"have a value for each model; got none for 1 of 2: anna\."),
        ({}, "got none for 2 of 2: anna, bert"),
        (series.iloc[[0, 1, 1]], r"have each id once; got 'anna'\."),
        (series.reset_index(drop=True), "got a Series, which has the order of its table"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            described(KEY, model_columns={"gender": given})


def test_genders_of_real_trials(shared_data: Path) -> None:
    """Counts of the file's lines, by `zcat FILE | cut -d, -f3,4 | sort | uniq -c`."""
    pandas = pytest.importorskip("pandas")
    lines = pandas.read_csv(shared_data / "asvspoof2019_la" / "bonafide_dev.csv.gz")
    key = bp.from_frame(lines).key
    counts = {"f": (924, 4536), "m": (560, 1232)}
    of_models = lines.drop_duplicates("model").set_index("model").gender
    for gender in (of_models, of_models.to_dict()):
        metadata = described(key, model_columns={"gender": gender})
        assert as_conditions("gender", metadata).counts(key) == counts
    with pytest.raises(InvalidInputError, match="each model in the order of the ids"):
        described(key, model_columns={"gender": of_models.reset_index(drop=True)})


@pytest.mark.parametrize("kind", [Series, Indexed])
def test_masks_and_factors_of_a_data_frame(kind: type) -> None:
    mask = kind([True, True, False, False])
    message = r"subsets\['f'\]` must hold one value for each trial.* Ndx\(frame\.index"
    with pytest.raises(InvalidInputError, match=message):
        bp.Conditions({"f": mask, "m": [False, False, True, True]})
    scores = bp.Scores([[1.0, -1.0], [0.0, 2.0]], *KEY.ids)
    with pytest.raises(InvalidInputError, match=message):
        bp.evaluate(scores, KEY, conditions={"f": mask})
    gender = kind(TABLE["gender"])
    with pytest.raises(InvalidInputError, match=r"index a Factor would lose.* \.to_numpy\(\)"):
        bp.Factor.from_values(gender)


def test_columns_of_other_rows() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE)
    other, model, segment = frame[::-1], frame.model, frame.segment
    for call in (
        lambda f: bp.Key.from_trials(model, segment, frame.calls > 1, {"gender": f.gender}),
        lambda f: bp.Scores.from_trials(model, segment, f.seconds),
        lambda f: bp.Scores.from_trials(model, segment, f.seconds),
        lambda f: bp.Key.from_trials(model, segment, f.calls > 1),
        lambda f: bp.Key.from_trials(model, segment, f.calls > 1),
        lambda f: bp.Ndx.from_trials(model, f.segment),
        lambda f: bp.Ndx.from_trials(model, f.segment),
        lambda f: bp.IdMap(segment[:2], f.gender[f.gender == "f"]),
        lambda f: bp.from_frame({"model": model, "segment": segment, "score": f.seconds}),
        lambda f: bp.Results(frame.seconds, [0.0], tar_weights=f.calls),
        lambda f: bp.eer([9.0], frame.seconds, non_weights=f.calls),
        lambda f: bp.cllr(frame.seconds, [0.0], tar_weights=f.calls),
    ):
        call(frame)
        with pytest.raises(InvalidInputError, match=r"must have the index of `.*got a Series with"):
            call(other)


def test_columns_of_other_trials_of_a_class() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"x": np.linspace(-1.0, 3.0, 60), "w": 2.0, "who": list("abcdef") * 10}
    )
    tar, non, other = table.x + 1.0, table.x.to_numpy() - 1.0, table[::-1]
    who = table.who.to_numpy()
    for call in (
        lambda f: bp.LinearCalibration.fit(tar, non, tar_weights=f.w),
        lambda f: bp.PAVCalibration.fit(non, tar, non_weights=f.w),
        lambda f: bp.GaussianCalibration.fit(tar, non, tar_weights=f.w),
        lambda f: unc.auc_standard_error(tar, non, tar_weights=f.w),
        lambda f: unc.bootstrap(
            tar,
            non,
            unc.Cllr(),
            method="one-layer",
            tar_sets=f.who,
            non_sets=who,
            replications=3,
            rng=1,
        ),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.errors.BosarisWarning)
            call(table)
        with pytest.raises(
            InvalidInputError, match=r"must have the index of `(tar|non)`; got a Ser"
        ):
            call(other)


def test_matrices_that_are_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    models, segments = KEY.ids
    frame = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], models, segments)
    mask = frame > 0
    for call in (
        lambda rows, cols: bp.Scores(frame, rows, cols),
        lambda rows, cols: bp.Scores(frame.to_numpy(), rows, cols, mask),
        lambda rows, cols: bp.Key(rows, cols, mask, ~mask.to_numpy()),
        lambda rows, cols: bp.Key(rows, cols, ~mask.to_numpy(), mask),
        lambda rows, cols: bp.Ndx(rows, cols, mask),
        lambda rows, cols: bp.trials.QualityMeasures(cols, rows, frame, frame.T.to_numpy()),
        lambda rows, cols: bp.trials.QualityMeasures(rows, cols, frame.to_numpy(), frame),
        lambda rows, cols: bp.trials.SegmentQuality(cols, frame),
    ):
        call(frame.index, frame.columns)
        with pytest.raises(
            InvalidInputError, match=r"must have the ids of .* columns; got 's1' at"
        ):
            call(models, segments[::-1])
    message = (
        "ids of `modelset` as its index; got 'anna' at position 0, where `modelset` has 'bert'"
    )
    with pytest.raises(InvalidInputError, match=message):
        bp.Scores(frame, models[::-1], segments)
    with pytest.raises(InvalidInputError, match=r"Ndx\(frame\.index, frame\.columns, frame\)"):
        bp.Conditions({"all": mask})
    with pytest.raises(InvalidInputError, match=r"hold one value for each model.* \.to_numpy\(\)"):
        bp.trials.QualityMeasures(models, segments, frame, frame, hasmodel=mask["s1"])


def test_parts_of_a_frame() -> None:
    data = bp.from_frame({**TABLE, "label": [1, 0, 0, 1]}, columns="gender", score="seconds")
    scores = data.scores["seconds"]
    assert bp.evaluate(scores, data.key, conditions=bp.Conditions({"all": data.key})) is not None
    with pytest.raises(InvalidInputError, match="`key` must be a Key"):
        bp.evaluate(scores, data)
    with pytest.raises(InvalidInputError, match=r"Give its scores: data\.scores"):
        bp.evaluate(data, data.key)
    for ids in (["a", 1.0], np.array([0.0, 1.0])):
        with pytest.raises(InvalidInputError, match="of whole numbers write"):
            bp.Ndx.from_trials(["m", "m"], ids)
    with pytest.raises(InvalidInputError, match="Whole ones become such where some are missing"):
        bp.from_frame({**TABLE, "model": [1.0, 2.0, 1.0, 2.0]}, score="seconds")
    with pytest.raises(InvalidInputError, match="Tables: read_key or read_scores"):
        bp.Key.read("x.csv")


def test_labels_that_would_be_a_system() -> None:
    columns = {"model": ["m"] * 6, "segment": list("abcdef"), "x": [0.5, 1.0, 2.0, 3.0, 4.0, 5.0]}
    for values in ([0, 1, 1, 0, 1, 0], [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]):
        table = {**columns, "is_target": values}
        with pytest.raises(InvalidInputError, match="Give label='is_target'"):
            bp.from_frame(table)
        assert list(bp.from_frame(table, label="is_target").scores) == ["x"]
        assert list(bp.from_frame(table, score="is_target").scores) == ["is_target"]
        # Decisions may be scores; whether x is a system or describes trials, the caller says.
        table = {**columns, "score": values}
        with pytest.raises(InvalidInputError, match="Give score='score', and columns="):
            bp.from_frame(table)
        assert list(bp.from_frame(table, score=["x", "score"]).scores) == ["x", "score"]


# Names


def test_any_model_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    tar, non = SCORES[:30], SCORES[30:]
    for model in (
        bp.LinearCalibration.fit(tar, non),
        bp.PAVCalibration.fit(tar, non),
        bp.LinearFusion.fit([tar], [non]),
    ):
        model.save(path)
        found = bp.read_model(path)
        assert type(found) is type(model)
        assert repr(found) == repr(model)
    text = path.read_text()
    for change, message in (
        (text.replace("LinearFusion", "Novelty"), "expected one of .*; the file holds Novelty"),
        (text.replace('"offset"', '"shift"'), "damaged parameters of a LinearFusion"),
        ("{}", "JSON, but not of this package"),
    ):
        path.write_text(change)
        with pytest.raises(FileFormatError, match=message):
            bp.read_model(path)


# Scores that are hardly what a figure takes them for

TAR, NON = RNG.normal(0.6, 0.1, 100).clip(-1, 1), RNG.normal(0.1, 0.1, 300).clip(-1, 1)
MANY = bp.Conditions({"all": bp.Ndx(["m"], [f"s{number}" for number in range(1000)])})


def both_of(tar: np.ndarray, non: np.ndarray) -> tuple[bp.Scores, bp.Key]:
    segments = [f"s{number}" for number in range(tar.size + non.size)]
    is_target = np.arange(len(segments))[None] < tar.size
    return bp.Scores([[*tar, *non]], ["m"], segments), bp.Key(
        ["m"], segments, is_target, ~is_target
    )


def warned(call: Call) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(item.category is SuspectScoresWarning for item in caught)
    assert all(item.filename == __file__ for item in caught)
    return [str(item.message) for item in caught]


RANKS: dict[str, Call] = {
    "eer": bp.eer,
    "step": lambda tar, non: bp.eer(tar, non, definition="step"),
    "min_dcf": lambda tar, non: bp.min_dcf(tar, non, 0.1),
    "norm_min_dcf": lambda tar, non: bp.min_dcf(tar, non, 0.1, normalize=True),
    "min_cllr": bp.min_cllr,
    "Results": lambda tar, non: repr(bp.Results(5 * tar, 5 * non)),
    "to_dict": lambda tar, non: bp.Results(5 * tar, 5 * non).to_dict(0.1),
    "from_scores": lambda tar, non: bp.Results.from_scores(*both_of(tar, non)).eer,
    "conditions": lambda tar, non: bp.Results.from_scores(*both_of(tar, non), MANY).eer,
}
LLRS: dict[str, Call] = {
    "act_dcf": lambda tar, non: bp.act_dcf(tar, non, 0.01),
    "norm_act_dcf": lambda tar, non: bp.act_dcf(tar, non, 0.01, normalize=True),
    "cllr": bp.cllr,
    "Results": lambda tar, non: repr(bp.Results(tar, non)),
    "Results.act_dcf": lambda tar, non: bp.Results(tar, non).act_dcf([0.1, 0.5]),
    "to_dict": lambda tar, non: bp.Results(tar, non).to_dict(0.1),
    "conditions": lambda tar, non: bp.Results.from_scores(*both_of(tar, non), MANY).cllr,
    "Bayes": lambda tar, non: BayesCurves.from_results(bp.Results(tar, non), [0.0]),
    "ECE": lambda tar, non: bp.evaluation.ECECurve.from_results(bp.Results(tar, non)),
    "Tippett": lambda tar, non: bp.evaluation.TippettCurve.from_results(bp.Results(tar, non)),
}


@pytest.mark.parametrize("call", RANKS.values(), ids=RANKS)
def test_inverted_scores(call: Call) -> None:
    (said,) = warned(lambda: call(-TAR, -NON))
    assert "so higher scores speak against targets" in said
    assert "distances? Then take -scores." in said
    # Swapped classes, and more targets than non-targets.
    assert len(warned(lambda: call(NON, TAR))) == 1
    assert not warned(lambda: call(TAR, NON))
    # Chance: about half of such sets have an AUC below 0.5, one in 740 by 3 standard errors.
    tar, non = np.random.default_rng(8).normal(size=(2, 400))[:, :200]
    assert bp.auc(tar, non) < 0.5
    assert not warned(lambda: call(tar, non))
    # Too few trials of a class.
    assert not warned(lambda: call(-TAR[:30], -NON))


@pytest.mark.parametrize("call", LLRS.values())
def test_few_infinite_scores_do_not_make_llrs(call: Call) -> None:
    # A wrong hard decision in each class: given that they are finite, llrs of the others are what
    # they were, but for the logarithm of a ratio of two shares near 1. Many are a hard detector.
    tar, non = np.append(TAR, -np.inf), np.append(NON, np.inf)
    assert "all lie between -1 and 1" in warned(lambda: call(tar, non))[0]
    assert not warned(lambda: call(np.append(TAR, np.full(TAR.size, np.inf)), NON))


@pytest.mark.parametrize("call", LLRS.values(), ids=LLRS)
def test_scores_that_are_no_llrs(call: Call) -> None:
    (said,) = warned(lambda: call(TAR, NON))
    assert "These scores are no log-likelihood-ratios: all lie between -1 and 1" in said
    # Posteriors.
    assert len(warned(lambda: call(bp.sigmoid(20 * TAR - 7), bp.sigmoid(20 * NON - 7)))) == 1
    # One score beyond 1, too few trials, and llrs that are small because the detector is poor.
    assert not warned(lambda: call(np.append(TAR, 1.5), NON))
    assert not warned(lambda: call(TAR[:30], NON))
    # Llrs of two normal classes with means +-d^2/2 and deviation d are calibrated.
    poor = np.random.default_rng(9).normal(0.045, 0.3, (2, 500)) * [[1], [-1]]
    assert np.abs(poor).max() <= 1.0
    assert bp.auc(*poor) > 0.5
    assert not warned(lambda: call(*poor))


def test_no_llrs_are_better_than_the_bound() -> None:
    """Llrs of -1 and 1 are the best that there are in this range: no warning, one beyond it."""
    # Of 731 and 269 in 1000 the ratio is e, to a thousandth.
    tar, non = np.repeat([1.0, -1.0], [731, 269]), np.repeat([1.0, -1.0], [269, 731])
    assert not warned(lambda: bp.cllr(tar, non))
    tar, non = np.repeat([1.0, -1.0], [831, 169]), np.repeat([1.0, -1.0], [169, 831])
    assert len(warned(lambda: bp.cllr(tar, non))) == 1


GOOD = np.random.default_rng(5).normal([[2.0], [-2.0]], 2.0, (2, 400))
NO_LLRS = {
    "ratios": (np.exp(GOOD), "all have one sign, but they tell the classes apart better"),
    "per cent": (100.0 * bp.sigmoid(GOOD), "all have one sign"),
    "log-posteriors": (np.log(bp.sigmoid(GOOD)), "all have one sign"),
    "scaled cosines": (5.0 * GOOD + 20.0, r"Cllr is \d.*, where 0 for each has 1, and calib.* 0\."),
    "without ratio": (GOOD + 8.0, "Cllr is .*LinearCalibration"),
}


@pytest.mark.parametrize(("scores", "reason"), NO_LLRS.values(), ids=NO_LLRS)
@pytest.mark.parametrize("call", LLRS.values(), ids=LLRS)
def test_scores_that_are_worse_than_none(call: Call, scores: np.ndarray, reason: str) -> None:
    (said,) = warned(lambda: call(*scores))
    assert re.search(f"These scores are no log-likelihood-ratios: {reason}", said)
    assert not warned(lambda: call(*scores[:, :30]))


def test_the_warning_of_cllr_names_what_is_returned() -> None:
    tar, non = GOOD + 8.0
    found: list[float] = []
    (said,) = warned(lambda: found.append(bp.cllr(tar, non)))
    assert f"Cllr is {found[0]:.3g}," in said


def test_llrs_are_not_taken_for_others() -> None:
    """Calibrated scores of two normal classes, from useless to good, of few trials to many."""
    rng = np.random.default_rng(12)
    for d in (0.1, 0.5, 1.0, 2.0, 4.0, 8.0):
        for n in (31, 31, 31, 300, 3000):
            llrs = rng.normal([[d * d / 2.0], [-d * d / 2.0]], d, (2, n))
            assert not [text for text in warned(lambda x=llrs: bp.cllr(*x)) if "no log" in text]
    # So do scores that are moderately wrong.
    assert not warned(lambda: bp.cllr(*(2.0 * GOOD)))
    assert not warned(lambda: bp.cllr(*(GOOD + 1.0)))


def test_maps_of_inverted_scores() -> None:
    (said,) = warned(lambda: bp.PAVCalibration.fit(-TAR, -NON))
    assert "The map has one pool" in said
    (said,) = warned(lambda: bp.LinearCalibration.fit(*RNG.normal([[0.0], [1.0]], 1.0, (2, 100))))
    assert "The scale is negative" in said
    assert not warned(lambda: bp.PAVCalibration.fit(-TAR[:30], -NON))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_minus_scores(dtype: type) -> None:
    scores, key = both_of(TAR.astype(dtype), NON.astype(dtype))
    for item in (scores, as_list(scores)):
        turned = -item
        assert type(turned) is type(item)
        assert -turned == item
        for found, expected in zip(turned.get_tar_non(key), (TAR, NON), strict=True):
            assert found.dtype == dtype
            assert found.tolist() == (-expected.astype(dtype)).tolist()


# Plots


def test_operating_points_are_priors_or_log_odds() -> None:
    plot = bp.BayesPlot((-7, 3, 0, 1.2))
    point = bp.OperatingPoint(0.01, c_miss=10)
    plot.plot_operating_point(prior=0.01)
    plot.plot_operating_point(prior=point)
    plot.plot_operating_point(-2.5, "k:")
    plot.plot_operating_point(prior=bp.sigmoid(0.5))
    found = [line.get_xdata()[0] for line in plot.artists["operating_point"]]
    assert found == pytest.approx([bp.logit(0.01), point.plo, -2.5, 0.5])
    # All are log-odds in the toolkit.
    toolkit = Norm_DCF_Plot((-7, 3, 0, 1.2))
    toolkit.plot_operating_point(0.5, "m--")
    assert toolkit.plot.artists["operating_point"][0].get_xdata().tolist() == [0.5, 0.5]


PLOT = bp.DETPlot()
PLOT.set_system([1.0, 2.0], [0.0, 1.5], "A")
TOOLKIT = Det_Plot("old")
TOOLKIT.set_system([1.0, 2.0], [0.0, 1.5], "A")
BAYES = bp.BayesPlot()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BAYES.plot_operating_point(0.01), r"got 0\.01\. Write prior=0\.01 for a prob"),
        (lambda: BAYES.plot_operating_point(np.float64(0.5)), r"prior=sigmoid\(0\.5\)"),
        (lambda: BAYES.plot_operating_point(-1, prior=0.1), "`plo` must be left out where there"),
        (lambda: BAYES.plot_operating_point(prior=-4.6), r"between 0 and 1; got -4\.6"),
        (lambda: BAYES.plot_operating_point(), "`plo` must be prior log-odds"),
        (
            lambda: TOOLKIT.plot_steppy_det({"b", "LineWidth", 2}),
            "Braces make a set, without order",
        ),
        (
            lambda: Norm_DCF_Plot().plot_curves([1, 1, 0, 0, 0, 0, 0, 0], {"b", "r"}),
            "`line_info` must hold line arguments for each of the 2 flags set",
        ),
        (lambda: TOOLKIT.plot_steppy_det("b", {"curve"}), "`label` must be a string"),
        (lambda: PLOT.plot_steppy_det({"b"}), "`style` must be a string; got {'b'}"),
        (lambda: PLOT.plot_steppy_det(label={"curve"}), "`label` must be a string"),
        (lambda: PLOT.set_system([1.0], [0.0], {"A"}), "`name` must be a string"),
    ],
)
def test_bad_plot_arguments(call: Call, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


# What has no order, and words in the place of truth values

FRAME = {"m": ["a", "b"], "s": ["t", "t"], "label": [1, 0], "x": [1.0, 0.0], "y": [2.0, 0.0]}
PAIR = bp.Key(["a", "b"], ["t"], [[True], [False]], [[False], [True]])
ONE = bp.Scores([[1.0], [0.0]], ["a", "b"], ["t"])
TEXTS = ["f", "m"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bp.eer({1.0, 2.0}, [0.0]), "`tar` must be a list of numbers; got .* write a list"),
        (lambda: bp.Scores([[1.0], [2.0]], {"a", "b"}, ["s"]), "`modelset` must be a list of ids"),
        (
            lambda: bp.from_frame(FRAME, model="m", segment="s", score={"x", "y"}),
            "`score` must be a list of n",
        ),
        (
            lambda: bp.from_frame(FRAME, model="m", segment="s", columns={"y"}),
            "`columns` must be a list of names",
        ),
        (lambda: bp.evaluate(ONE, PAIR, conditions={"gender"}), "`conditions` must name columns"),
        (lambda: bp.evaluate(ONE, PAIR, conditions=np.array(TEXTS)), r"key\.with_columns"),
        (
            lambda: bp.Key.from_trials(*[["a", "b"]] * 2, TEXTS),
            "`labels` must be truth values, or target, non",
        ),
    ],
)
def test_sets_and_words(call: Call, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


@pytest.mark.parametrize(("scale", "n_warnings"), [(0.5, 1), (5.0, 0)])
def test_files_whose_scores_are_no_llrs(tmp_path: Path, scale: float, n_warnings: int) -> None:
    """Scores read in blocks warn as those in memory do, and give the same number."""
    is_target = (np.arange(100) < 40).reshape(1, -1)
    ids = ["m"], [f"s{i}" for i in range(100)]
    far = np.where(is_target, 1.0, -1.0) + 0.1 * np.sin(SCORES)
    scores = bp.Scores(scale * far, *ids)
    key = bp.Key(*ids, is_target, ~is_target)
    scores.save(tmp_path / "scores.h5")
    key.save(tmp_path / "key.h5")
    found = []
    for results in (
        bp.Results.from_scores(scores, key),
        bp.Results.from_files(tmp_path / "scores.h5", tmp_path / "key.h5"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append(results.cllr)
        assert [w.category for w in caught] == [SuspectScoresWarning] * n_warnings
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def _warned(call: Call) -> list[str]:
    """Return what a call says of suspect scores."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if w.category is SuspectScoresWarning]


def _two_classes() -> tuple[np.ndarray, np.ndarray]:
    """Scores of a good system: means 4 standard deviations apart."""
    noise = np.random.default_rng(5).normal(size=1200)
    return noise[:200] + 2.0, noise[200:] - 2.0


def test_a_fusion_names_systems_of_the_wrong_sign() -> None:
    tar, non = _two_classes()
    shift = np.random.default_rng(6).normal(size=1200)
    # Quality says little of the class: means half a standard deviation apart.
    quality = shift[:200] - 0.25, shift[200:] + 0.25
    fit = bp.LinearFusion.fit
    assert _warned(lambda: fit([tar, quality[0]], [non, quality[1]])) == []
    for options in ({}, {"nonnegative": True}):
        (told,) = _warned(
            lambda o=options: fit([tar, -tar + shift[:200]], [non, -non + shift[200:]], **o)
        )
        assert "Higher scores of system 2 speak against targets" in told
    (told,) = _warned(lambda: fit([-tar, -tar], [-non, -non + shift[200:]], nonnegative=True))
    assert "system 1 and 2" in told
    assert _warned(lambda: fit([-tar[:20]], [-non[:20]], ridge=0.1)) == []


def test_actual_costs_of_inverted_scores_and_cosines() -> None:
    tar, non = _two_classes()
    ids = ["m"], [f"s{i}" for i in range(1200)]
    is_target = (np.arange(1200) < 200).reshape(1, -1)
    key = bp.Key(*ids, is_target, ~is_target)
    good = bp.Scores(np.concatenate((tar, non)).reshape(1, -1), *ids)
    inverted, cosine = (bp.Scores(f * good.scoremat, *ids) for f in (-1.0, 0.1))
    for scores, message in ((good, ""), (inverted, "area under"), (cosine, "no log-likelihood")):
        classes = scores.get_tar_non(key)
        calls: list[Call] = [
            lambda c=classes: bp.act_dcf(*c, 0.01),
            lambda c=classes: bp.cllr(*c),
            lambda s=scores: bp.primary_cost(s, key, "SRE08"),
        ]
        for call in calls:
            told = _warned(call)
            assert len(told) == bool(message)
            assert all(message in text for text in told)


def _of_speakers() -> tuple[bp.Scores, bp.Key]:
    """Return LLRs of comparisons of all of 60 speakers with all."""
    speakers, same = [f"s{i}" for i in range(60)], np.eye(60, dtype=bool)
    llrs = np.random.default_rng(1).normal(np.where(same, 2.0, -2.0), 2.0)
    return bp.Scores(llrs, speakers, speakers), bp.Key(speakers, speakers, same, ~same)


@pytest.mark.parametrize("name", ["SRE08", "SRE10"])
def test_a_plan_without_a_primary_cost(name: str) -> None:
    llrs, key = _of_speakers()
    [point] = bp.PLANS[name].operating_points
    found = bp.evaluate({"A": llrs}, key, prior=[0.05], plan=name)
    assert "rimary" not in " ".join(found.records()[0])
    text = f"NO primary cost of {name}, which judges each common condition by itself"
    assert text in repr(found)
    assert "no primary cost: overall" in str(found.primary["A"])
    suffix = "(0.001)" if name == "SRE10" else "(0.01, 10, 1)"
    tar, non = llrs.get_tar_non(key)
    assert found.records()[0][f"act_dcf{suffix}"] == bp.act_dcf(tar, non, point, normalize=True)
    # A condition has the costs of the plan, too.
    masks = {name: np.arange(60)[:, None] % 2 == [part] * 60 for part, name in enumerate("ab")}
    found = bp.evaluate({"A": llrs}, key, prior=[0.05, 0.001], plan=name, conditions=masks)
    assert all(record[f"min_dcf{suffix}"] is not None for record in found.records())


def test_costs_in_the_order_of_the_plan() -> None:
    llrs, key = _of_speakers()
    for name, order in (("VoxSRC", "minimum    actual"), ("SRE18-VAST", "actual   minimum")):
        cost = bp.primary_cost(llrs, key, name)
        lines = str(cost).splitlines()
        assert lines[3].strip() == order
        numbers = [f"{getattr(cost, kind):.4f}" for kind in order.split()]
        assert lines[5].split() == ["primary", "cost", *numbers]


@pytest.mark.slow
@pytest.mark.parametrize("model", [True, bp.GaussianCalibration])
def test_at_which_prior_maps_were_trained(model: object, tmp_path: Path) -> None:
    llrs, key = _of_speakers()
    found = bp.evaluate({"A": llrs}, key, cross_fit=model, rng=1)
    found.report(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    for place in (repr(found), found.to_markdown(), found.to_json(), written):
        assert "cross-fitted: " in place
        assert ("trained at prior 0.5" in place) == (model is True)


TWO_LABELS = {
    "model": ["a", "a", "b", "b", "c"],
    "segment": ["1", "2", "1", "2", "2"],
    "label": ["target", "nontarget", "nontarget", "target", "target"],
    "target": [1, 0, 0, 1, 1],
    "llr": [2.0, 1.0, 0.0, 3.0, 1.5],
}


def test_columns_that_could_be_labels() -> None:
    message = r"`label` must name one of the columns that may be it; got \['label', 'target'\]"
    with pytest.raises(InvalidInputError, match=message):
        bp.from_frame(TWO_LABELS)
    with pytest.raises(
        InvalidInputError, match=r"`score` must be given.* 0 and 1 in column 'targe"
    ):
        bp.from_frame(TWO_LABELS, label="label")
    for options in ({"label": "label", "score": "llr"}, {"columns": "target"}):
        found = bp.from_frame(TWO_LABELS, **options)
        assert list(found.scores) == ["llr"]
        assert found.key.n_tar == 3


def test_curves_of_conditions() -> None:
    llrs, key = _of_speakers()
    rows = np.arange(60)[:, None] < [30] * 60
    conditions = bp.Conditions({"first": rows, "rest": ~rows})
    found = bp.evaluate({"A": llrs, "B": llrs}, key, conditions=conditions)
    for plot in (found.det(system="A"), found.bayes(system="B")):
        texts = [text.get_text() for text in plot.ax.get_legend().get_texts()]
        assert all(any(name in text for text in texts) for name in ("first", "rest", "equalised"))
    with pytest.raises(InvalidInputError, match="`system` must be one of"):
        found.det(system="C")
    with pytest.raises(InvalidInputError, match=r"be left out where evaluate.* had no conditions"):
        bp.evaluate({"A": llrs}, key).bayes(system="A")


@pytest.mark.parametrize("other", ["duration", "Unnamed: 0"])
def test_numbers_beside_a_score(other: str) -> None:
    table = {**TWO_LABELS, "score": TWO_LABELS["llr"], other: [1.5, 2.5, 3.5, 4.5, 5.0]}
    del table["llr"], table["target"]
    with pytest.raises(InvalidInputError, match=r"further columns are numbers; got .*score.*, 'co"):
        bp.from_frame({**table, "cosine": table["score"]})
    with pytest.raises(InvalidInputError, match=f"got .*'score', '{other}'.*Give score='score'"):
        bp.from_frame(table)
    assert list(bp.from_frame(table, columns=other).scores) == ["score"]
    assert list(bp.from_frame(table, score=["score", other]).scores) == ["score", other]


def test_systems_of_unequal_length() -> None:
    with pytest.raises(InvalidInputError, match="`tar` must be a regular array of numbers"):
        bp.LinearFusion.fit([[1.0, 2.0], [1.0]], [[0.0], [0.0]])


LOG10 = {
    "Results": lambda tar, non, **base: bp.Results(tar, non, **base).cllr,
    "Results.from_labels": lambda tar, non, **base: (
        bp.Results.from_labels([1] * tar.size + [0] * non.size, [*tar, *non], **base).cllr
    ),
    "Results.from_scores": lambda tar, non, **base: (
        bp.Results.from_scores(*_trials_of(tar, non), **base).cllr
    ),
    "validate_scores": lambda tar, non, **base: (
        bp.validate_scores(*_trials_of(tar, non), **base).cllr
    ),
}


def _trials_of(tar: np.ndarray, non: np.ndarray) -> tuple[bp.Scores, bp.Key]:
    """Return a matrix whose diagonal are the targets."""
    n = tar.size
    matrix = np.diag(tar)
    matrix[~np.eye(n, dtype=bool)] = non
    ids = [f"m{i}" for i in range(n)], [f"s{i}" for i in range(n)]
    same = np.eye(n, dtype=bool)
    return bp.Scores(matrix, *ids), bp.Key(*ids, same, ~same)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("door", LOG10)
def test_llrs_of_another_base(door: str) -> None:
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 2, 12), rng.normal(-2, 2, 12 * 11)
    natural = bp.cllr(tar, non)
    for base in (10, 2.0):
        found = LOG10[door](tar / np.log(base), non / np.log(base), base=base)
        assert found == pytest.approx(natural, rel=1e-12)
    assert LOG10[door](tar, non) == pytest.approx(natural, rel=1e-12)
    for wrong in (1, 0.5, -10, "ten", np.nan):
        with pytest.raises(InvalidInputError, match="`base` must be"):
            LOG10[door](tar, non, base=wrong)


@pytest.mark.parametrize("ending", ["h5", "txt"])
def test_files_of_log10_lrs(tmp_path: Path, ending: str) -> None:
    scores, _ = _trials_of(np.array([1.0, 2.0]), np.array([-1.0, 0.5]))
    scores.save(tmp_path / f"llrs.{ending}")
    found = bp.read_scores(tmp_path / f"llrs.{ending}", base=10)
    assert found.scoremat == pytest.approx(scores.scoremat * np.log(10), rel=1e-15)


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_whole_numbers_that_lose_digits_are_warned_of(kind: type) -> None:
    """Above 2^53 numbers that differ become one float64, and a perfect system has ties."""
    large = np.array([2**53 + 2], dtype=kind)
    with pytest.warns(SuspectScoresWarning, match="above 9007199254740992 they are rounded"):
        bp.eer(large, large - kind(1))
    exact = np.array([2**53], dtype=kind)
    assert bp.eer(exact, exact - kind(1)) == 0.0


def test_a_trial_list_streamed_as_a_key(tmp_path: Path) -> None:
    ids = {"ID/row_ids": np.array([b"a", b"b"]), "ID/column_ids": np.array([b"x", b"y", b"z"])}
    with h5py.File(tmp_path / "ndx.h5", "w") as file:
        # As some programs write it: of a signed type, which a key has too.
        for name, values in {**ids, "trial_mask": np.ones((2, 3), np.int8)}.items():
            file[name] = values
    bp.Scores(np.arange(6.0).reshape(2, 3), ["a", "b"], ["x", "y", "z"]).save(tmp_path / "s.h5")
    files = tmp_path / "s.h5", tmp_path / "ndx.h5"
    for call in (bp.Results.from_files, bp.LinearCalibration.fit_files):
        with pytest.raises(InvalidInputError, match="All 6 trials are targets: is it an Ndx"):
            call(*files)


# What can be looked through once

ONCE: dict[str, Callable[..., object]] = {
    "eer": bp.eer,
    "step": lambda tar, non, **weights: bp.eer(tar, non, definition="step", **weights),
    "min_dcf": lambda tar, non, **weights: bp.min_dcf(tar, non, 0.1, **weights),
    "act_dcf": lambda tar, non, **weights: bp.act_dcf(tar, non, 0.1, **weights),
    "cllr": bp.cllr,
    "optimal_llrs": lambda *args, **kw: [x.tolist() for x in bp.optimal_llrs(*args, **kw)],
    "Bounded": bp.BoundedCalibration.fit,
    "a_dcf": lambda tar, non, **_: bp.a_dcf(tar, non, iter([0.5, 2.0])),
}


@pytest.mark.parametrize("call", ONCE.values(), ids=ONCE)
def test_iterators_are_lists(call: Callable[..., object]) -> None:
    """`optimal_llrs` gave empty arrays; others gave no warning of inverted scores, or an error."""
    tar, non = RNG.normal(-1, 1, 60), RNG.normal(0, 1, 80)
    weights = {"tar_weights": RNG.uniform(1, 2, 60), "non_weights": RNG.uniform(1, 2, 80)}
    with warnings.catch_warnings(record=True) as of_arrays:
        warnings.simplefilter("always")
        wanted = call(tar, non, **weights)
    with warnings.catch_warnings(record=True) as of_iterators:
        warnings.simplefilter("always")
        once = {name: iter(values) for name, values in weights.items()}
        assert call(iter(tar), iter(non), **once) == wanted
    assert [str(w.message) for w in of_iterators] == [str(w.message) for w in of_arrays]


def test_systems_from_an_iterator() -> None:
    scores, key = _trials_of(RNG.normal(1, 1, 30), RNG.normal(-1, 1, 30 * 29))
    systems = [scores, scores.transform(np.tanh)]
    wanted = bp.cross_fit(bp.LinearFusion, systems, key, folds=3, rng=1)
    found = bp.cross_fit(bp.LinearFusion, iter(systems), key, folds=3, rng=1)
    assert found.scores == wanted.scores
    weights = RNG.uniform(1, 2, 30), RNG.uniform(1, 2, 30 * 29)
    weighted, once = (
        bp.cross_fit(
            bp.LinearCalibration,
            scores,
            key,
            folds=3,
            rng=1,
            tar_weights=kind(weights[0]),
            non_weights=kind(weights[1]),
        )
        for kind in (list, iter)
    )
    assert once.scores == weighted.scores


@pytest.mark.parametrize("size", [1e307, 1e-320])
def test_only_proportions_of_weights_count(size: float) -> None:
    """Sums of huge weights were infinite: a map had LLRs up to -0.02 in the place of 6.3."""
    tar, non = RNG.normal(2, 1, 100), RNG.normal(0, 1, 200)
    points = np.linspace(-1, 3, 9)
    alike, sized = (
        bp.GaussianCalibration.fit(
            tar, non, tar_weights=np.full(100, each), non_weights=np.full(200, each)
        )
        for each in (1.0, size)
    )
    np.testing.assert_allclose(sized.apply(points), alike.apply(points), rtol=1e-12)


def test_nan_of_weight_zero() -> None:
    """All metrics refuse it, whatever it weighs; Cllr left the trial out."""
    for call in (bp.cllr, bp.eer, lambda *args, **kw: bp.act_dcf(*args, 0.5, **kw)):
        with pytest.raises(InvalidInputError, match=r"NaN at 1 of 2 positions \(0\)"):
            call([np.nan, 1.0], [0.0], tar_weights=[0.0, 1.0])


@pytest.mark.parametrize("missing", [None, np.nan])
def test_recordings_of_unknown_speakers(missing: object) -> None:
    """Two recordings without a speaker were a target trial."""
    with pytest.raises(InvalidInputError, match=r"got none \(None or NaN\) for 2 \(b, c\)"):
        bp.Key.from_speakers(["a", "b", "c"], ["anna", missing, missing])


def test_utterances_without_a_number() -> None:
    scores = bp.Scores.from_trials(["cm", "cm"], ["s1", "s2"], [1.0, np.nan])
    key = bp.Key(["anna"], ["s1", "s2"], [[True, False]], [[False, True]])
    with pytest.raises(InvalidInputError, match="not hold NaN"):
        bp.trials.scores_of_segments(scores, key)


def test_systems_whose_names_are_one() -> None:
    scores, key = _trials_of(RNG.normal(1, 1, 30), RNG.normal(-1, 1, 30 * 29))
    systems = {1: scores, "1": scores.transform(np.tanh)}
    with pytest.raises(InvalidInputError, match="`system_names` must be different; got 1"):
        bp.LinearFusion.fit_scores(systems, key)


def test_no_share_of_spoofs() -> None:
    """Then the fusion is the verifier's line, whatever the countermeasure says; and so around."""
    line = bp.LinearCalibration.from_line(2.0, 1.0)
    infinite, finite = [-np.inf, np.inf, 0.0], [3.0, -1.0, 2.0]
    verifier = bp.SASVFusion(asv=line, cm=line, spoof_share=0.0)
    assert verifier.apply(asv=finite, cm=infinite).tolist() == [7.0, -1.0, 5.0]
    countermeasure = bp.SASVFusion(asv=line, cm=line, spoof_share=1.0)
    assert countermeasure.apply(asv=infinite, cm=finite).tolist() == [7.0, -1.0, 5.0]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8])
def test_columns_of_numpy_numbers(kind: type) -> None:
    """Lists of float32 were refused as measured quantities, those of integers were categories."""
    key = bp.Key(["anna"], ["s1", "s2"], [[True, False]], [[False, True]])
    column = described(key, segment_columns={"n": [kind(1), kind(2)]}).columns["n"]
    assert column.dtype == kind
    assert column.tolist() == [1, 2]


def test_systems_with_the_names_of_numbers() -> None:
    """The second of the list had the name of the first, and took its place."""
    scores, _ = _trials_of(RNG.normal(1, 1, 3), RNG.normal(-1, 1, 6))
    assert list(named_systems(["system 2.h5", scores])) == ["system 2", "system 3"]
    assert list(named_systems([scores, "a.h5", "a.txt"])) == ["system 1", "a", "system 3"]
    files = ["a.h5", "b/a.h5", "system 2.h5"]
    assert list(named_systems(files)) == ["a", "system 2", "system 3"]


LINE = bp.LinearCalibration.from_line(1.0, 0.0)
HALVES = {"a": np.array([True, False]), "b": np.array([False, True])}


@pytest.mark.parametrize(
    "call",
    [
        lambda value: bp.OperatingPoint(0.5, value),
        lambda value: bp.SpoofCosts(0.9, value, 0.1),
        lambda value: bp.SASVFusion(asv=LINE, cm=LINE, spoof_share=value),
        lambda value: bp.Conditions(HALVES, [value, value]),
    ],
)
@pytest.mark.parametrize("value", ["0.5", True, None])
def test_words_are_no_numbers(call: Call, value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"must be (a number|numbers|finite)"):
        call(value)


def test_words_for_flags_and_costs() -> None:
    pairs = bp.IdMap(["a", "b"], ["x", "y"])
    with pytest.raises(InvalidInputError, match="`keep` must be True or False; got 'no'"):
        pairs.filter_on_left(["a"], "no")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="`costs` must be SpoofCosts"):
        bp.a_dcf([1.0], [0.0], [0.0], {"p_target": 0.9})  # type: ignore[arg-type]
