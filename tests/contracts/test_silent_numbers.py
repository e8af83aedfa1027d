"""Calls that would give a wrong number without a word, and what is said instead."""

import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, SuspectScoresWarning
from bosaris_py.matlab import compute_roc, fast_minDCF
from tests.forms import described

Call = Callable[..., object]

RNG = np.random.default_rng(11)
LABELS = np.repeat([1, 0], [30, 70])
SCORES = RNG.normal(2.0 * LABELS, 1.0)
IS_TARGET = LABELS == 1
EER = unc.EER()


def trials_of(tar: np.ndarray, non: np.ndarray) -> tuple[bp.Scores, bp.Key]:
    """Return scores and key of one model."""
    segments = [f"s{number:04}" for number in range(len(tar) + len(non))]
    mask = np.arange(len(segments))[None] < len(tar)
    return bp.Scores([[*tar, *non]], ["m"], segments), bp.Key(["m"], segments, mask, ~mask)


# Labels and scores in the place of two classes; metrics have a contract of their own.

TWO_LISTS: dict[str, Call] = {
    "Sample": bp.Sample.from_scores,
    "set_system": lambda tar, non: bp.DETPlot().set_system(tar, non),
    "LinearCalibration": bp.LinearCalibration.fit,
    "PAVCalibration": bp.PAVCalibration.fit,
    "bootstrap": lambda tar, non: unc.bootstrap(tar, non, EER),
    "Metric": unc.MinDCF(0.1),
    "delong": unc.delong,
    "auc_standard_error": unc.auc_standard_error,
    "dcf_standard_error": lambda tar, non: unc.dcf_standard_error(tar, non, unc.DCF(1.0, 0.01)),
    "Decisions": lambda tar, non: unc.Decisions.at_threshold(tar, non, 1.0),
    "compute_roc": compute_roc,
    "fast_minDCF": lambda tar, non: fast_minDCF(tar, non, 0.0),
}


@pytest.mark.parametrize("call", TWO_LISTS.values(), ids=TWO_LISTS)
def test_labels_and_scores(call: Call) -> None:
    for labels in (LABELS, 2.0 * LABELS - 1.0, LABELS + 1, IS_TARGET):
        for classes in ((labels, SCORES), (SCORES, labels), (list(labels), SCORES.astype("f4"))):
            with pytest.raises(InvalidInputError, match=r"from_labels\(labels, scores\)"):
                call(*classes)


# Columns of a table in the place of values in the order of the trials

IDS = ["anna", "bert"], ["s1", "s2"]
KEY = bp.Key(*IDS, [[True, False], [False, True]], [[False, True], [True, False]])


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


def test_columns_by_id(pandas) -> None:
    wanted = described(KEY, None, {"gender": ["f", "m"]}, {"seconds": [3.5, 1.0]})
    gender, seconds = {"bert": "m", "anna": "f", "carl": "m"}, {"s2": 1.0, "s1": 3.5}
    for kind in (dict, pandas.Series):
        assert wanted == described(KEY, None, {"gender": kind(gender)}, {"seconds": kind(seconds)})
    series = pandas.Series(gender)
    for given in (series.iloc[:1], {}, series.iloc[[0, 1, 1]], series.reset_index(drop=True)):
        with pytest.raises(InvalidInputError):
            described(KEY, model_columns={"gender": given})
    # Its index would be lost.
    with pytest.raises(InvalidInputError, match=r"Key\.from_trials"):
        KEY.with_columns(gender=pandas.Series(["f", "f", "m", "m"]))
    mask = pandas.Series([True, True, False, False])
    for call in (
        lambda: bp.Conditions({"f": mask, "m": [False, False, True, True]}),
        lambda: bp.evaluate(bp.Scores(np.eye(2), *IDS), KEY, conditions={"f": mask}),
    ):
        with pytest.raises(InvalidInputError):
            call()


def test_columns_of_other_rows(pandas) -> None:
    """All columns of a call are of the same rows, in the same order."""
    # Row by row, where vectors of trials come column by column.
    frame = pandas.DataFrame(
        {"model": ["anna", "anna", "bert", "bert"], "segment": ["s1", "s2"] * 2, "n": range(1, 5)}
    )
    model, segment = frame.model, frame.segment
    long = pandas.DataFrame({"x": np.linspace(-1, 3, 60), "w": 2.0, "who": list("abcdef") * 10})
    tar, non, who = long.x + 1.0, long.x.to_numpy() - 1.0, long.who.to_numpy()
    one_layer = {"method": "one-layer", "replications": 3, "rng": 1}
    for table, call in (
        (frame, lambda f: bp.Key.from_trials(model, segment, frame.n > 1, {"gender": f.n})),
        (frame, lambda f: bp.Scores.from_trials(model, segment, f.n)),
        (frame, lambda f: bp.Key.from_trials(model, segment, f.n > 1)),
        (frame, lambda f: bp.Ndx.from_trials(model, f.segment)),
        (frame, lambda f: bp.IdMap(segment[:2], f.model[f.n < 3])),
        (frame, lambda f: bp.from_frame({"model": model, "segment": segment, "score": f.n})),
        (frame, lambda f: bp.Results(frame.n, [0.0], tar_weights=f.n)),
        (frame, lambda f: bp.Results.from_labels(f.n > 1, frame.n)),
        (frame, lambda f: bp.eer([9.0], frame.n, non_weights=f.n)),
        (long, lambda f: bp.LinearCalibration.fit(tar, non, tar_weights=f.w)),
        (long, lambda f: bp.PAVCalibration.fit(non, tar, non_weights=f.w)),
        (long, lambda f: bp.GaussianCalibration.fit(tar, non, tar_weights=f.w)),
        (long, lambda f: unc.bootstrap(tar, non, EER, tar_sets=f.who, non_sets=who, **one_layer)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.errors.BosarisWarning)
            call(table)
        with pytest.raises(InvalidInputError, match="must have the index of"):
            call(table[::-1])


def test_matrices_that_are_data_frames(pandas) -> None:
    models, segments = IDS
    frame = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], models, segments)
    mask = frame > 0
    for call in (
        lambda rows, cols: bp.Scores(frame, rows, cols),
        lambda rows, cols: bp.Scores(frame.to_numpy(), rows, cols, mask),
        lambda rows, cols: bp.Key(rows, cols, mask, ~mask.to_numpy()),
        lambda rows, cols: bp.Key(rows, cols, ~mask.to_numpy(), mask),
        lambda rows, cols: bp.Ndx(rows, cols, mask),
        lambda rows, cols: bp.QualityMeasures(cols, rows, frame, frame.T.to_numpy()),
        lambda rows, cols: bp.QualityMeasures(rows, cols, frame.to_numpy(), frame),
        lambda rows, cols: bp.SegmentQuality(cols, frame),
    ):
        call(frame.index, frame.columns)
        with pytest.raises(InvalidInputError, match=r"must have the ids of .* columns"):
            call(models, segments[::-1])
    with pytest.raises(InvalidInputError, match="`modelset` as its index"):
        bp.Scores(frame, models[::-1], segments)
    with pytest.raises(InvalidInputError):
        bp.Conditions({"all": mask})
    with pytest.raises(InvalidInputError):
        bp.QualityMeasures(models, segments, frame, frame, hasmodel=mask["s1"])


# Scores that are hardly what a figure takes them for

TAR, NON = RNG.normal(0.6, 0.1, 100).clip(-1, 1), RNG.normal(0.1, 0.1, 300).clip(-1, 1)
MANY = bp.Conditions({"all": bp.Ndx(["m"], [f"s{number:04}" for number in range(2000)])})


def warned(call: Call) -> list[str]:
    """Return what a call warns of, at this line; of suspect scores and nothing else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", FewErrorsWarning)
        call()
    assert all(item.category is SuspectScoresWarning for item in caught)
    assert all(item.filename == __file__ for item in caught)
    return [str(item.message) for item in caught]


RANKS: dict[str, Call] = {
    "eer": bp.eer,
    "step": lambda tar, non: bp.eer(tar, non, definition="step"),
    "min_dcf": lambda tar, non: bp.min_dcf(tar, non, 0.5),
    "min_cllr": bp.min_cllr,
    "Results": lambda tar, non: bp.Results(tar, non).eer,
    "from_scores": lambda tar, non: bp.Results.from_scores(*trials_of(tar, non)).eer,
    "conditions": lambda tar, non: bp.Results.from_scores(*trials_of(tar, non), MANY).eer,
}
LLRS: dict[str, Call] = {
    "act_dcf": lambda tar, non: bp.act_dcf(tar, non, 0.1),
    "cllr": bp.cllr,
    "repr": lambda tar, non: repr(bp.Results(tar, non)),
    "act_dcf of Results": lambda tar, non: bp.Results(tar, non).act_dcf([0.1, 0.5]),
    "conditions": lambda tar, non: bp.Results.from_scores(*trials_of(tar, non), MANY).cllr,
}
GOOD = np.random.default_rng(5).normal([[2.0], [-2.0]], 2.0, (2, 400))
NO_LLRS = {
    "cosines": (TAR, NON),
    "posteriors": (bp.sigmoid(20 * TAR - 7), bp.sigmoid(20 * NON - 7)),
    # A wrong hard decision in each class does not make llrs of the others.
    "two infinite": (np.append(TAR, -np.inf), np.append(NON, np.inf)),
    "ratios": np.exp(GOOD),
    "per cent": 100.0 * bp.sigmoid(GOOD),
    "log-posteriors": np.log(bp.sigmoid(GOOD)),
    "scaled cosines": 5.0 * GOOD + 20.0,
    "without ratio": GOOD + 8.0,
}
POOR = np.random.default_rng(9).normal(0.045, 0.3, (2, 500)) * [[1], [-1]]
# Llrs of -1 and 1 are the best that there are in this range: of 731 in 1000 the ratio is e.
BEST = [np.repeat(pair, [731, 269]) for pair in ([1.0, -1.0], [-1.0, 1.0])]
MAY_BE_LLRS = {
    "few": (TAR[:30], NON),
    # Of two normal classes with means +-d^2/2 and deviation d llrs are calibrated.
    "poor": tuple(POOR),
    "best": tuple(BEST),
    "moderately wrong": tuple(2.0 * GOOD),
    "moved": tuple(GOOD + 1.0),
}


@pytest.mark.parametrize("call", RANKS.values(), ids=RANKS)
def test_inverted_scores(call: Call) -> None:
    for classes in ((-TAR, -NON), (NON, TAR)):
        (said,) = warned(lambda classes=classes: call(*classes))
        assert "area under" in said or "against targets" in said
    assert not warned(lambda: call(TAR, NON))
    # Chance: about half of such sets have an AUC below 0.5, one in 740 by 3 standard errors.
    tar, non = np.random.default_rng(8).normal(size=(2, 400))[:, :200]
    assert bp.auc(tar, non) < 0.5
    assert not warned(lambda: call(tar, non))
    # Two of each class show nothing: three standard errors are more than one half.
    assert not warned(lambda: call(-TAR[:2], -NON[:2]))


@pytest.mark.parametrize("call", LLRS.values(), ids=LLRS)
def test_scores_that_are_no_llrs(call: Call) -> None:
    for name, (tar, non) in NO_LLRS.items():
        (said,) = warned(lambda tar=tar, non=non: call(tar, non))
        assert said == "not calibrated: see calibrate", name
        assert not warned(lambda tar=tar, non=non: call(tar[-30:], non[-30:])) or name[:3] == "two"
    for name, (tar, non) in MAY_BE_LLRS.items():
        assert not warned(lambda tar=tar, non=non: call(tar, non)), name


def test_a_fusion_names_systems_of_the_wrong_sign() -> None:
    noise, shift = (np.random.default_rng(seed).normal(size=1200) for seed in (5, 6))
    tar, non = noise[:200] + 2.0, noise[200:] - 2.0
    fit = bp.LinearFusion.fit
    # Quality says little of the class: means half a standard deviation apart.
    assert not warned(lambda: fit([tar, shift[:200] - 0.25], [non, shift[200:] + 0.25]))
    for options in ({}, {"nonnegative": True}):
        both = [tar, -tar + shift[:200]], [non, -non + shift[200:]]
        (told,) = warned(lambda both=both, options=options: fit(*both, **options))
        assert "system 2" in told
    assert not warned(lambda: fit([-tar[:20]], [-non[:20]], ridge=0.1))


@pytest.mark.parametrize(("scale", "n_warnings"), [(0.5, 1), (5.0, 0)])
def test_files_whose_scores_are_no_llrs(tmp_path: Path, scale: float, n_warnings: int) -> None:
    """Scores read in blocks warn as those in memory do, and give the same number."""
    far = np.where(np.arange(100) < 40, 1.0, -1.0) + 0.1 * np.sin(SCORES)
    scores, key = trials_of(scale * far[:40], scale * far[40:])
    scores.save(tmp_path / "scores.h5")
    key.save(tmp_path / "key.h5")
    found: list[float] = []
    files = tmp_path / "scores.h5", tmp_path / "key.h5"
    for results in (bp.Results.from_scores(scores, key), bp.Results.from_files(*files)):
        assert len(warned(lambda results=results: found.append(results.cllr))) == n_warnings
    assert found[0] == pytest.approx(found[1], rel=1e-12)


# Log-likelihood-ratios of another base


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_llrs_of_another_base(tmp_path: Path) -> None:
    tar, non = RNG.normal(2, 2, 12), RNG.normal(-2, 2, 12 * 11)
    labels, (scores, key) = [1] * tar.size + [0] * non.size, trials_of(tar, non)
    tenth = scores.transform(lambda llrs: llrs / np.log(10))
    for door, *given in (
        (bp.Results, *tenth.get_tar_non(key)),
        (bp.Results.from_labels, labels, tenth.scoremat[0]),
        (bp.Results.from_scores, tenth, key),
    ):
        assert door(*given, base=10).cllr == pytest.approx(bp.cllr(tar, non), rel=1e-12)
        for wrong in (1, 0.5, -10, "ten", np.nan):
            with pytest.raises(InvalidInputError, match="`base` must be"):
                door(*given, base=wrong)
    for ending in ("h5", "txt"):
        scores.save(tmp_path / f"llrs.{ending}")
        read = bp.read_scores(tmp_path / f"llrs.{ending}", base=10)
        np.testing.assert_allclose(read.scoremat, scores.scoremat * np.log(10), rtol=1e-15)


# What has no order, what can be looked through once, and other odds and ends

PAIR = bp.Key(["a", "b"], ["t"], [[True], [False]], [[False], [True]])
ONE = bp.Scores([[1.0], [0.0]], ["a", "b"], ["t"])
LINE = bp.LinearCalibration.from_line(1.0, 0.0)
HALVES = {"a": np.array([True, False]), "b": np.array([False, True])}
REFUSED: dict[str, tuple[Call, str]] = {
    "a set of ids": (lambda: bp.Scores([[1.0], [2.0]], {"a", "b"}, ["s"]), "modelset"),
    "a set of conditions": (lambda: bp.evaluate(ONE, PAIR, conditions={"sex"}), "conditions"),
    "words for labels": (lambda: bp.Key.from_trials(*[["a", "b"]] * 2, ["f", "m"]), "labels"),
    "fractions for ids": (lambda: bp.Ndx.from_trials(["m", "m"], ["a", 1.0]), "segments"),
    "systems of unequal length": (
        lambda: bp.LinearFusion.fit([[1.0, 2.0], [1.0]], [[0.0], [0.0]]),
        "tar",
    ),
    "two systems of one name": (
        lambda: bp.LinearFusion.fit_scores({1: ONE, "1": ONE.transform(np.tanh)}, PAIR),
        "system_names",
    ),
    "unknown speakers": (lambda: bp.Key.from_speakers([*"abc"], ["x", None, None]), "speakers"),
    "a speaker of NaN": (lambda: bp.Key.from_speakers([*"ab"], ["x", np.nan]), "speakers"),
    "a word for a flag": (
        lambda: bp.IdMap(["a"], ["x"]).filter_on_left(["a"], "no"),  # type: ignore[arg-type]
        "keep",
    ),
    "a mapping for costs": (
        lambda: bp.a_dcf([1.0], [0.0], [0.0], {"p_target": 0.9}),  # type: ignore[arg-type]
        "costs",
    ),
    **{
        f"{value!r} for a number {i}": (lambda call=call, value=value: call(value), r"\w+")
        for value in ("0.5", True, None)
        for i, call in enumerate(
            (
                lambda value: bp.OperatingPoint(0.5, value),
                lambda value: bp.SpoofCosts(0.9, value, 0.1),
                lambda value: bp.SASVFusion(asv=LINE, cm=LINE, spoof_share=value),
                lambda value: bp.Conditions(HALVES, [value, value]),
            )
        )
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, argument = REFUSED[name]
    with pytest.raises(InvalidInputError, match=f"`{argument}.*` must"):
        call()


def test_iterators_are_lists() -> None:
    """Of maps and of three classes; metrics have a contract of their own."""
    weights = {"tar_weights": RNG.uniform(1, 2, 100), "non_weights": RNG.uniform(1, 2, 300)}
    once = {name: iter(values) for name, values in weights.items()}
    fit = bp.BoundedCalibration.fit
    assert fit(iter(TAR), iter(NON), **once) == fit(TAR, NON, **weights)
    assert bp.a_dcf(iter(TAR), iter(NON), iter([0.5, 2.0])) == bp.a_dcf(TAR, NON, [0.5, 2.0])


def test_a_trial_list_in_files_as_a_key(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "ndx.h5", "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = [b"a", b"b"], [b"x", b"y", b"z"]
        # As some programs write it: of a signed type, which a key has too.
        file["trial_mask"] = np.ones((2, 3), np.int8)
    bp.Scores(np.arange(6.0).reshape(2, 3), ["a", "b"], ["x", "y", "z"]).save(tmp_path / "s.h5")
    for call in (bp.Results.from_files, bp.LinearCalibration.fit_files):
        with pytest.raises(InvalidInputError, match="All 6 trials are targets"):
            call(tmp_path / "s.h5", tmp_path / "ndx.h5")
