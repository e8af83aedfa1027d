"""What `evaluate` takes as systems: files of a folder, arrays, results; and their order."""

from pathlib import Path

import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError

KEY = bp.Key(
    ["m"], ["a", "b", "c", "d"], [[True, True, False, False]], [[False, False, True, True]]
)
GOOD = bp.Scores([[2.0, 1.0, -1.0, 0.0]], KEY.modelset, KEY.segset)
BAD = bp.Scores([[1.0, -1.0, 2.0, 0.0]], KEY.modelset, KEY.segset)
PAIRS = {"bad": ([1.0, -1.0], [2.0, 0.0]), "good": ([2.0, 1.0], [-1.0, 0.0])}

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")


def test_folder_and_pattern(tmp_path: Path) -> None:
    GOOD.save(tmp_path / "x.h5")
    BAD.save(tmp_path / "y.h5")
    (tmp_path / ".hidden").write_text("no scores")
    expected = bp.evaluate({"x": GOOD, "y": BAD}, KEY).records()
    for given in (tmp_path, str(tmp_path), str(tmp_path / "*.h5"), tmp_path / "[xy].h5"):
        assert bp.evaluate(given, KEY).records() == expected
    assert bp.evaluate_files(tmp_path / "*.h5", key_file(tmp_path)).records() == expected


def key_file(folder: Path) -> Path:
    path = folder / "key" / "key.h5"
    path.parent.mkdir(exist_ok=True)
    KEY.save(path)
    return path


def test_empty_folder_and_pattern(tmp_path: Path) -> None:
    for given in (tmp_path, tmp_path / "*.txt"):
        with pytest.raises(
            InvalidInputError, match="`systems` must name files of scores; got none"
        ):
            bp.evaluate(given, KEY)


def test_arrays_and_results_take_no_key() -> None:
    expected = bp.evaluate({"bad": BAD, "good": GOOD}, KEY).records()
    assert bp.evaluate(PAIRS).records() == expected
    results = {name: bp.Results(*pair) for name, pair in PAIRS.items()}
    assert bp.evaluate(results).records() == expected
    names = [row["system"] for row in bp.evaluate([*results.values()]).records()]
    assert names == ["system 1", "system 2"]
    assert bp.evaluate(results["good"]).records() == [expected[1] | {"system": "system"}]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (PAIRS, {"replications": 10}, "`systems` must be Scores of trials, with a key"),
        (PAIRS, {"conditions": "gender"}, "`systems` must be Scores of trials, with a key"),
        ({"A": GOOD}, {}, r"or a pair \(tar, non\) where there is no key"),
        ({}, {}, "`systems` must hold at least one system"),
        (PAIRS, {"eer": "hull"}, '`eer` must be one of "rocch", "interpolated", "step"'),
    ],
)
def test_refused(given: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        bp.evaluate(given, **options)


@pytest.mark.parametrize("definition", ["rocch", "interpolated", "step"])
def test_definition_of_the_eer(definition: str) -> None:
    """Each by `bosaris_py.eer`, in memory, in conditions, without a key and from files."""
    expected = bp.eer(*PAIRS["bad"], definition=definition)
    rows = bp.evaluate({"bad": BAD}, KEY, eer=definition).records()
    rows += bp.evaluate({"bad": PAIRS["bad"]}, eer=definition).records()
    rows += bp.evaluate(
        {"bad": BAD}, KEY, eer=definition, conditions={"all": KEY.to_ndx()}
    ).records()
    assert [row["eer"] for row in rows] == [expected] * 5
    assert {row["eer_definition"] for row in rows} == {definition}
