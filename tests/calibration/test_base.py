"""What all maps share: files, damage to them, notes of training, and the trials of training."""

import functools
import json
import math
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import errors
from bosaris_py.calibration import (
    BoundedCalibration,
    GaussianCalibration,
    LinearCalibration,
    PAVCalibration,
)
from bosaris_py.files import models
from bosaris_py.fusion import LinearFusion, QualityFusion, SASVFusion, read_model
from bosaris_py.trials import Conditions, Key, Scores, SegmentQuality

TRAINED: dict[str, Any] = {
    **{"prior": 0.5, "objective": "cllr", "objective_value": 0.5},
    **{"ridge": 0.0, "n_tar": 3, "n_non": 4},
}
LINE = LinearCalibration(scale=2.0, offset=-1.0, low_score=0, high_score=1, **TRAINED)
FUSION = LinearFusion(
    weights=[0.5, 1.5], offset=-1.0, low_scores=[0, 5], high_scores=[1, 6], **TRAINED
)
MAPS = {
    "old": LinearCalibration(scale=2.0, offset=-1.0, **TRAINED),
    "linear": LINE,
    "gauss": GaussianCalibration(
        scale=2, offset=0, target_share=0.5, low_score=0, high_score=1, n_tar=3, n_non=4
    ),
    "fusion": FUSION,
    "named": attrs.evolve(FUSION, system_names=["b", "a"]),
    # Two pools; an offset of 0.3 lets their bounds overlap.
    "pav": PAVCalibration(
        **{"score_bounds": [-1.0, 0.0, 0.5, 1.0], "llr_bounds": [-0.4, 0.2, -0.2, 0.4]},
        **{"score_offset": 0.3, "n_tar": 3, "n_non": 4},
    ),
    "bounded": BoundedCalibration(map=LINE, low=-1.0, high=2.0),
    "sasv": SASVFusion(asv=LINE, cm=LINE, spoof_share=0.25),
    "quality": QualityFusion(
        **{"weights": [1.0, 2.0], "offset": 0.5, "form": [[1.0, 2.0], [2.0, 0.0]], "centre": [3]},
        **{"spread": [0.1], "qtrans": [[1.0, 0.5]], "linear": FUSION, **TRAINED},
    ),
}
BAD = [
    ("pav", "score_bounds", ["-0.4", "0.2", "0.5", "0.9"]),
    *(("pav", "llr_bounds", x) for x in (None, [0.0, 0.2, 0.3], [0.2, 0.4, -0.4, -0.2])),
    *(("pav", "llr_bounds", x) for x in ([0.0, [0.2], 0.3, 0.4], [-math.inf, 0.2, 0.5, 0.9])),
    ("pav", "score_bounds", [0.0, 0.2, 0.1, 0.9]),
    ("pav", "score_offset", -0.1),
    ("pav", "n_tar", True),
    *(("linear", "scale", value) for value in (10**400, math.nan, True, "2.0", [1.0], None)),
    *(("linear", "n_non", value) for value in (-1, 2.5)),
    *(("linear", *each) for each in (("ridge", -1), ("prior", 1.0), ("objective", "mse"))),
    *(("fusion", "weights", w) for w in (["0.5", "1.5"], [], [0.5, math.inf], [[0.5, 1.5]])),
    *(("fusion", *each) for each in (("low_scores", [1.0]), ("system_names", ["a", "a"]))),
    *(("bounded", *each) for each in (("low", 1.0), ("map", {"kind": "LinearFusion"}))),
    *(("sasv", *each) for each in (("spoof_share", 1.5), ("asv", 3.0))),
    *(("quality", *each) for each in (("form", [[1.0, 2.0], [3.0, 0.0]]), ("spread", [-1.0]))),
    *(("quality", *each) for each in (("qtrans", [[1.0], [2.0]]), ("weights", [1.0]))),
    ("quality", "linear", None),
]


@pytest.mark.parametrize(("kind", "name", "value"), BAD)
def test_bad_fields_are_refused_by_the_constructor_and_in_files(kind, name, value, tmp_path):
    item, path = MAPS[kind], tmp_path / "damaged.json"
    changed = attrs.asdict(item, recurse=False) | {name: value}
    with pytest.raises(errors.InvalidInputError):
        type(item)(**changed)
    models.write(path, {"kind": type(item).__name__, **item._content(), name: value})
    with pytest.raises(errors.FileFormatError):
        type(item).read(path)


@pytest.mark.parametrize("kind", MAPS)
def test_saved_maps_are_read_again(kind: str, tmp_path: Path) -> None:
    item = MAPS[kind]
    item.save(tmp_path / "a.b.Json")
    again = read_model(tmp_path / "a.b.Json")
    assert again == item == type(item).read((tmp_path / "a.b.Json").rename(tmp_path / "a.cal"))
    for name in ("scores.h5", "a.json.txt", ".json"):
        (tmp_path / name).write_text("old")
        with pytest.raises(errors.InvalidInputError):
            item.save(tmp_path / name)
        assert (tmp_path / name).read_text() == "old"


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    kinds = '{"kind": "EvaluationPlan"}', '{"kind": "LinearFusion"}'
    for text in ("", "{}", "[1, 2]", "scale = 2", *kinds):
        (tmp_path / "x.json").write_text(text)
        for read in (LinearCalibration.read, read_model):
            with pytest.raises(errors.FileFormatError):
                read(tmp_path / "x.json")


def test_files_tell_how_a_map_was_trained(tmp_path: Path) -> None:
    """Version 0.1 overlooks what stands beside the parameters."""
    MAPS["named"].save(tmp_path / "map.json")
    content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert content["parameters"] == {"weights": [0.5, 1.5], "offset": -1.0, **TRAINED}
    later = {"low_scores": [0, 5], "high_scores": [1, 6], "system_names": ["b", "a"]}
    assert content["training_scores"] == later
    assert content["created_by"].startswith("bosaris_py ")


def test_files_of_version_0_3_are_read(tmp_path: Path) -> None:
    """Notes of where scores came from; and fields of a back-off that stood beside it."""
    for kind in ("linear", "bounded", "quality"):
        path = tmp_path / f"{kind}.json"
        MAPS[kind].save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        later = content.setdefault("training_scores", {})
        later["of_llrs"] = False
        if kind == "bounded":
            content["parameters"]["map"]["of_llrs"] = False
        if kind == "quality":
            for name in ("low_scores", "high_scores", "system_names"):
                later[name] = content["parameters"]["linear"].pop(name)
        path.write_text(json.dumps(content), encoding="utf-8")
        assert read_model(path) == MAPS[kind]


LAWS = [
    (LinearCalibration, {}),
    (LinearCalibration, {"ridge": 0.0}),
    (LinearCalibration, {"objective": "boost", "prior": 0.1}),
    (PAVCalibration, {}),
    (GaussianCalibration, {}),
    *(
        (BoundedCalibration, {"calibration": inner, "bounds": bounds})
        for inner in (LinearCalibration, PAVCalibration, GaussianCalibration)
        for bounds in ("elub", "iv", "wide")
    ),
]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@given(st.sampled_from(LAWS), st.integers(0, 2**32 - 1), st.integers(-120, 120))
def test_laws_of_every_map(which: tuple[Any, dict[str, Any]], seed: int, power: int) -> None:
    """Neither the order nor the unit of scores matters, and files keep every bit."""
    model, options = which
    rng = np.random.default_rng(seed)
    tar, non = rng.normal(1.0, 1.0, 25), rng.normal(-1.0, 1.3, 40)
    fitted, unit = model.fit(tar, non, **options), 10.0**power
    other = model.fit(unit * rng.permutation(tar), unit * rng.permutation(non), **options)
    points = np.linspace(-2.0, 2.0, 21)
    np.testing.assert_allclose(other.apply(unit * points), fitted.apply(points), atol=1e-9)
    with TemporaryDirectory() as folder:
        other.save(Path(folder) / "map.json")
        again = read_model(Path(folder) / "map.json")
    assert again == other
    np.testing.assert_array_equal(again.apply(unit * points), other.apply(unit * points))


WEIGHTED = [LinearCalibration, PAVCalibration, GaussianCalibration, LinearFusion, QualityFusion]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("model", WEIGHTED)
def test_conditions_are_weights_of_trials(model: Any, trials: tuple[Scores, Key]) -> None:
    """A rare condition counts as much as a common one; what has no score has no share."""
    scores, key = trials
    is_rare = np.zeros(key.shape, dtype=bool)
    is_rare[:, 40:] = True
    conditions = Conditions({"common": ~is_rare, "rare": is_rare})
    weights = conditions.trial_weights(key)
    for own, mass in zip((key.tar, key.non), weights, strict=True):
        rare = is_rare.T[own.T]
        assert mass[rare].sum() == pytest.approx(mass[~rare].sum())
    given: list[Any] = [scores, scores.transform(np.tanh)] if "Fusion" in model.__name__ else scores
    quality = [SegmentQuality(key.segset, np.arange(50.0))] if model is QualityFusion else []
    how = dict(zip(("tar_weights", "non_weights"), weights, strict=True))
    found = model.fit_scores(given, *quality, key, conditions=conditions)
    assert found == model.fit_scores(given, *quality, key, **how)
    assert found != model.fit_scores(given, *quality, key)
    if model is not QualityFusion and model is not LinearFusion:
        kept = key.modelset, key.segset[:45]
        some, inner = (each.filter(*kept, keep=True) for each in (scores, key))
        parts = {"common": ~is_rare[:, :45], "rare": is_rare[:, :45]}
        with pytest.warns(errors.MissingTrialsWarning):
            part = model.fit_scores(some, key, conditions=conditions)
        assert part == model.fit_scores(some, inner, conditions=Conditions(parts))


def kinds_of(call: Any) -> tuple[Any, list[type[Warning]]]:
    """Return the result of a call, and the kinds of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    assert all(Path(warning.filename) == Path(__file__) for warning in caught)
    return result, [warning.category for warning in caught]


ANY = [LinearCalibration, PAVCalibration, GaussianCalibration, BoundedCalibration]


@pytest.mark.parametrize("model", ANY)
@pytest.mark.parametrize(("n_tar", "n_non", "few"), [(29, 90, 29), (90, 2, 2), (300, 300, None)])
def test_few_trials_of_a_class_are_noted(model: Any, n_tar: int, n_non: int, few: Any) -> None:
    """Also with the default prior and the default ridge; with 30 errors of both kinds nothing."""
    rng = np.random.default_rng(4)
    tar, non = rng.normal(0.8, 1.0, n_tar), rng.normal(-0.8, 1.0, n_non)
    fitted, kinds = kinds_of(lambda: model.fit(tar, non))
    assert [note.count for note in fitted.notes] == ([] if few is None else [few])
    assert kinds == ([] if few is None else [errors.FewErrorsWarning])
    assert [note.kind for note in fitted.notes] == kinds


@pytest.mark.parametrize("ridge", [0.0, "weak"])
@pytest.mark.parametrize("model", [LinearCalibration, LinearFusion])
@pytest.mark.parametrize("prior", [0.5, 0.01])
def test_few_errors_at_the_prior_are_counted(model: Any, prior: float, ridge: Any) -> None:
    """Misses and false alarms of Bayes decisions, counted one by one."""
    rng = np.random.default_rng(8)
    tar, non = rng.normal(1.5, 1.0, 400), rng.normal(-1.5, 1.0, 500)
    lists = (tar, non) if model is LinearCalibration else (tar[None], non[None])
    fitted, kinds = kinds_of(lambda: model.fit(*lists, prior=prior, ridge=ridge))
    limit = -math.log(prior / (1 - prior))
    misses = np.count_nonzero(fitted.apply(lists[0]) < limit)
    alarms = np.count_nonzero(fitted.apply(lists[1]) >= limit)
    (note,) = fitted.notes
    assert kinds == [errors.FewErrorsWarning]
    assert note.count == min(misses, alarms) < 30


@pytest.fixture
def trials() -> tuple[Scores, Key]:
    rng = np.random.default_rng(2)
    ids = [f"m{i}" for i in range(20)], [f"s{i}" for i in range(50)]
    tar = rng.uniform(size=(20, 50)) < 0.4
    return Scores(rng.normal(size=(20, 50)) + tar, *ids), Key(*ids, tar, ~tar)


@pytest.mark.parametrize("model", [*ANY, LinearFusion])
def test_training_trials_are_no_test_trials(model: Any, trials: Any, tmp_path: Path) -> None:
    """One warning where half of the trials are of the training, also when the map was saved."""
    scores, key = trials
    many = model is LinearFusion
    fitted = model.fit_scores([scores, scores.transform(np.tanh)] if many else scores, key)
    fitted.save(tmp_path / "map.json")
    old, new = scores.scoremat, np.random.default_rng(3).normal(size=(60, 50))
    # All; 8 and 2 of 20 models; with as many others, and half as many again; others; one score.
    both = [np.vstack((old, new[:n])) for n in (19, 40)]
    for values, known in (
        *((old, True), (old[3:11], True), (old[:2], None), (both[0], True), (both[1], False)),
        *((new, False), (old + 1e-9, False), (old[:1, :1], False)),
    ):
        ids = [f"m{i}" for i in range(len(values))], key.segset.tolist()[: values.shape[1]]
        test = Scores(values, *ids)
        args = ([test, test.transform(np.tanh)], test.to_ndx()) if many else (test,)
        # A file has 12 scores, which need not be among so few trials.
        for one in (fitted, read_model(tmp_path / "map.json"))[: None if known is not None else 1]:
            kinds = kinds_of(functools.partial(one.apply, *args))[1]
            assert kinds == [errors.SuspectScoresWarning] * (known is not False)
    # Of equal scores others have those of the training by chance.
    rough = scores.transform(np.round)
    fitted = model.fit_scores([rough, rough.transform(np.tanh)] if many else rough, key)
    part = rough.filter(rough.modelset.tolist()[1:], rough.segset.tolist(), keep=True)
    args = ([part, part.transform(np.tanh)], part.to_ndx()) if many else (part,)
    assert kinds_of(lambda: fitted.apply(*args))[1] == []


def test_training_files_are_no_test_files(trials: Any, tmp_path: Path) -> None:
    files, ndx, out = (tmp_path / name for name in ("s.h5", "k.h5", "out.h5"))
    for item, path in zip(trials, (files, ndx), strict=True):
        item.save(path)
    line = LinearCalibration.fit_files(files, ndx)
    assert kinds_of(lambda: line.apply_file(files, out))[1] == [errors.SuspectScoresWarning]
    fusion = LinearFusion.fit_files({"a": files}, ndx)
    fuse = lambda: fusion.apply_files({"a": files}, ndx, out)  # noqa: E731
    assert kinds_of(fuse)[1] == [errors.SuspectScoresWarning]


def test_scores_far_from_the_training_are_counted() -> None:
    """Beyond a fifth of the range, 0 to 1: above 1.2 or below -0.2."""
    scores = [0.5, 1.2, 1.21, -0.21, np.inf]
    llrs, kinds = kinds_of(lambda: LINE.apply(scores))
    assert kinds == [errors.SuspectScoresWarning]
    np.testing.assert_array_equal(llrs, 2 * np.array(scores) - 1)
    (note,) = LINE._mapped(np.array(scores))[1]
    assert note.count == 2
    assert kinds_of(lambda: MAPS["bounded"].apply(scores))[1] == []
