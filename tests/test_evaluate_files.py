"""Systems in files, judged as in memory."""

from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError, MissingTrialsWarning
from bosaris_py.trials import read
from tests.forms import as_list

MODELS, SEGMENTS = [f"m{i}" for i in range(20)], [f"s{j}" for j in range(50)]


@pytest.fixture
def files(tmp_path: Path, rng: np.random.Generator) -> tuple[dict[str, bp.Scores], bp.Key]:
    """Two systems and their key, which lie in files too."""
    is_tar = rng.random((20, 50)) < 0.2
    key = bp.Key(MODELS, SEGMENTS, is_tar, ~is_tar)
    key.save(tmp_path / "key.h5")
    systems = {}
    for name in "AB":
        systems[name] = bp.Scores(rng.normal(3.0 * is_tar - 1.5, 1.5), MODELS, SEGMENTS)
        systems[name].save(tmp_path / f"{name}.h5")
    return systems, key


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("priors", [0.05, [0.01, bp.OperatingPoint(0.1, 10, 1)]])
def test_equals_evaluate(tmp_path: Path, files, priors: object, *, normalize: bool) -> None:
    expected = bp.evaluate(*files, prior=priors, normalize=normalize)
    paths = {name: tmp_path / f"{name}.h5" for name in "AB"}
    found = bp.evaluate_files(paths, tmp_path / "key.h5", prior=priors, normalize=normalize)
    for one, other in zip(found.records(), expected.records(), strict=True):
        assert one.pop("cllr") == pytest.approx(other.pop("cllr"), rel=1e-12)
        assert one == other
    assert repr(found) == repr(expected)
    assert isinstance(found.det(), bp.DETPlot)
    with pytest.raises(InvalidInputError, match="at least two in memory"):
        found.compare()


@pytest.mark.parametrize("as_lists", [False, True])
def test_logarithms_of_a_base(tmp_path: Path, files, *, as_lists: bool) -> None:
    """Those of base 10 give the figures of natural ones, whose file is multiplied beforehand."""
    systems, key = files
    natural, of_ten = systems["A"], tmp_path / "ten.h5"
    in_tens = natural.transform(lambda values: values / np.log(10.0))
    (as_list(in_tens) if as_lists else in_tens).save(of_ten)
    if as_lists:
        as_list(key).save(tmp_path / "key.h5")
    (expected,) = bp.evaluate(bp.read_scores(of_ten, base=10), key).records()
    (found,) = bp.evaluate_files(of_ten, tmp_path / "key.h5", base=10).records()
    for each in (found, expected):
        del each["system"]
    assert found.pop("cllr") == pytest.approx(expected["cllr"], rel=1e-12)
    assert expected.pop("cllr") == pytest.approx(bp.evaluate(natural, key).records()[0]["cllr"])
    assert found == expected
    with pytest.raises(InvalidInputError, match="base"):
        bp.Results.from_files(of_ten, tmp_path / "key.h5", base=1.0)


@pytest.mark.parametrize("large", [True, False])
def test_evaluate_takes_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files, *, large: bool
) -> None:
    systems, key = files
    monkeypatch.setattr(read, "are_large", lambda _: large)
    paths = [str(tmp_path / "A.h5"), tmp_path / "B.h5"]
    found = bp.evaluate(paths, tmp_path / "key.h5", prior=0.05)
    assert repr(found) == repr(bp.evaluate(systems, key, prior=0.05))
    # What needs all trials reads all.
    options = {"prior": 0.05, "plan": "VoxSRC"}
    whole = bp.evaluate(paths, tmp_path / "key.h5", **options)
    assert whole.records() == bp.evaluate(systems, key, **options).records()


def test_names_of_files(tmp_path: Path, files) -> None:
    systems, key = files
    (tmp_path / "other").mkdir()
    systems["B"].save(tmp_path / "other" / "A.h5")
    paths = [tmp_path / "A.h5", tmp_path / "other" / "A.h5", systems["A"]]
    assert list(bp.evaluate(paths, key, prior=0.05).results) == ["A", "system 2", "system 3"]
    single = bp.evaluate(tmp_path / "B.h5", key, prior=0.05)
    assert list(single.results) == ["B"]


def test_key_and_systems_as_text(tmp_path: Path, files) -> None:
    systems, key = files
    key.save(tmp_path / "key.txt")
    systems["A"].save(tmp_path / "A.txt")
    (record,) = bp.evaluate(tmp_path / "A.txt", tmp_path / "key.txt", prior=0.05).records()
    assert record["min_cllr"] == bp.min_cllr(*bp.read_scores(tmp_path / "A.txt").get_tar_non(key))


def test_missing_trials_name_the_system(tmp_path: Path, files) -> None:
    systems, _ = files
    systems["B"].filter(MODELS[1:], SEGMENTS, keep=True).save(tmp_path / "B.h5")
    paths = {name: tmp_path / f"{name}.h5" for name in "AB"}
    with pytest.warns(MissingTrialsWarning, match="^B: "):
        bp.evaluate_files(paths, tmp_path / "key.h5")


@pytest.mark.parametrize(
    ("systems", "error", "message"),
    [
        (3, InvalidInputError, "map names to Scores or files; got 3"),
        ({}, InvalidInputError, "at least one system; got none"),
        (
            {"A": bp.Scores([[1.0]], ["m"], ["s"])},
            InvalidInputError,
            "be a file; got Scores: 1 models",
        ),
        ({"A": "key.h5"}, FileFormatError, "expected Scores; the file holds Key"),
        ({"A": "missing.h5"}, FileNotFoundError, "missing.h5"),
    ],
)
def test_bad_input(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    files,
    systems: object,
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        bp.evaluate_files(systems, "key.h5")


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_what_files_are_warned_of_is_kept(tmp_path: Path, files) -> None:
    """As data, as of scores in memory: here one trial has no score."""
    systems, key = files
    there = np.ones((20, 50), dtype=bool)
    there[3, 4] = False
    part = bp.Scores(systems["A"].scoremat, MODELS, SEGMENTS, there)
    part.save(tmp_path / "part.h5")
    found = bp.evaluate_files(tmp_path / "part.h5", tmp_path / "key.h5", prior=0.5)
    expected = bp.evaluate({"part": part}, key, prior=0.5)
    assert [one["category"] for one in expected.cautions] == ["MissingTrialsWarning"]
    assert [one["category"] for one in found.cautions] == ["MissingTrialsWarning"]
    assert found.cautions[0]["system"] == "part"


def test_spoofs_in_files_are_refused(tmp_path) -> None:
    ids = ["m"] * 3, ["a", "b", "c"]
    key = bp.Key.from_trials(*ids, ["target", "nontarget", "spoof"])
    key.save(tmp_path / "key.h5")
    bp.Scores.from_trials(*ids, [3.0, -1.0, 0.5]).save(tmp_path / "scores.h5")
    with pytest.raises(bp.errors.FileFormatError, match="spoofs are not told from non-targets"):
        bp.Results.from_files(tmp_path / "scores.h5", tmp_path / "key.h5")
    key.bona_fide().save(tmp_path / "key.h5")
    assert bp.Results.from_files(tmp_path / "scores.h5", tmp_path / "key.h5").n_non == 1
