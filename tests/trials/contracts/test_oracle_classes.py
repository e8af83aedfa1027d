"""Every case of the toolkit's trial classes in the oracle: results and messages.

Deliberate differences are listed in `DIFFERENCES`, each with its reason.
"""

import json
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality

ORACLE = Path(__file__).parents[2] / "reference" / "oracle" / "classes.json"
CASES: list[dict[str, Any]] = json.loads(ORACLE.read_text())

# Not about the classes of this folder.
ELSEWHERE = {
    "Results(scr,key)": "evaluation",
    "effective_prior": "numerics",
    "maths": "numerics",
    "map_mod_names": "the toolkit's names",
    "Id_Map row-vector cells are NOT valid": "lists of ids are neither rows nor columns here",
}

# Each with its reason.
DIFFERENCES = {
    "Scores.merge unmasked garbage is added": "what lies under a false mask, 99, is added to a 7",
    "Scores.merge2": "the toolkit adds an unmasked 8 to the score 30 of (m_c, s2)",
    "Scores.align_with_ndx non-finite valid score": "infinite scores are legal, NaN is refused",
}


def ids_of(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def matrix(value: Any, shape: tuple[int, int]) -> np.ndarray:
    """Undo the oracle's flattening of one-row and one-cell matrices."""
    return np.array(value, dtype=float).reshape(shape)


def build(stored: dict[str, Any]) -> Any:
    """Build the object that a dictionary of the oracle describes."""
    if "leftids" in stored:
        return IdMap(ids_of(stored["leftids"]), ids_of(stored["rightids"]))
    if "ids" in stored:
        ids = ids_of(stored["ids"])
        return SegmentQuality(ids, matrix(stored["values"], (-1, len(ids))))
    ids = ids_of(stored["modelset"]), ids_of(stored["segset"])
    shape = len(ids[0]), len(ids[1])
    names = [name for name in ("trialmask", "tar", "non", "scoremask") if name in stored]
    masks = [matrix(stored[name], shape).astype(bool) for name in names]
    if "scoremat" in stored:
        return Scores(matrix(stored["scoremat"], shape), *ids, *masks)
    if "modelQ" not in stored:
        return {"trialmask": Ndx, "tar": Key}[names[0]](*ids, *masks)
    measures = (
        matrix(stored[name], (-1, n)) for name, n in zip(("modelQ", "segQ"), shape, strict=True)
    )
    flags = (matrix(stored[name], (-1,)).astype(bool) for name in ("hasmodel", "hasseg"))
    return QualityMeasures(*ids, *measures, *flags, *masks)


def trials_of(given: dict[str, Any]) -> Ndx | Key:
    return build(given["key"] if "key" in given else given["ndx"])


def objects_of(given: dict[str, Any]) -> list[Any]:
    return [build(given[name]) for name in "abc" if name in given]


ACTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "filter": lambda g: build(g["obj"]).filter(g["modlist"], g["seglist"], g["keep"]),
    "merge": lambda g: (lambda objects: type(objects[0]).merge(*objects))(objects_of(g)),
    "to_ndx": lambda g: build(g["obj"]).to_ndx(),
    "align_with_ndx": lambda g: build(g["obj"]).align_with_ndx(trials_of(g)),
    "get_tar_non": lambda g: dict(
        zip(("tar", "non"), build(g["obj"]).get_tar_non(trials_of(g)), strict=True)
    ),
    "get_scores": lambda g: {"scores": build(g["obj"]).get_scores(trials_of(g))},
    "set_missing_to_value": lambda g: build(g["obj"]).set_missing_to_value(
        trials_of(g), g["value"]
    ),
    "transform": lambda g: build(g["obj"]).transform(lambda s: 2 * s),
    "quality_align": lambda g: build(g["obj"]).align_with_ndx(trials_of(g)),
    "quality_merge": lambda g: QualityMeasures.merge(*objects_of(g)),
    "seg_align": lambda g: build(g["obj"]).align_with_ids(g["ids"]),
    "seg_merge": lambda g: SegmentQuality.merge(*objects_of(g)),
    "seg_qual_to_qual": lambda g: QualityMeasures.from_segment_quality(
        build(g["model"]), build(g["test"])
    ),
    "Id_Map constructor with duplicates": build,
    "Id_Map.map_left_to_right": lambda g: build(g["obj"]).map_left_to_right(g["list"]),
    "Id_Map.map_right_to_left": lambda g: build(g["obj"]).map_right_to_left(g["list"]),
    "Id_Map.filter_on_left keep": lambda g: build(g["obj"]).filter_on_left(g["list"], g["keep"]),
    "Id_Map.filter_on_left discard": lambda g: build(g["obj"]).filter_on_left(g["list"], g["keep"]),
    "Id_Map.filter_on_right keep": lambda g: build(g["obj"]).filter_on_right(g["list"], g["keep"]),
    "Id_Map.merge": lambda g: IdMap.merge(*objects_of(g)),
}


def run(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> tuple[Any, str]:
    """Return the result of a case and what was said, written like the toolkit's log."""
    action = ACTIONS[case["name"] if case["op"] == "idmap" else case["op"]]
    with (
        warnings.catch_warnings(record=True) as caught,
        caplog.at_level(logging.INFO, logger="bosaris_py"),
    ):
        warnings.simplefilter("always")
        result = action(case["in"])
    said = [f"Info: {record.getMessage()}\n" for record in caplog.records]
    # The toolkit's word, which is not the field's.
    warned = (str(warning.message).replace("test segments", "testsegs") for warning in caught)
    # What is missing is one warning here.
    said += [f"Warning: {part}\n" for text in warned for part in text.split("; ")]
    assert all(warning.filename == __file__ for warning in caught), "points at the caller"
    return result, "".join(said)


def check_same(result: Any, expected: Any) -> None:
    """Compare with the toolkit's result; scores under a false mask are not content."""
    if isinstance(result, np.ndarray):
        assert result.tolist() == (expected[0] if isinstance(expected[0], list) else expected)
    elif isinstance(result, dict):
        assert {name: vector.tolist() for name, vector in result.items()} == expected
    elif isinstance(result, IdMap):
        assert [x.tolist() for x in (result.leftids, result.rightids)] == [*expected.values()]
    else:
        assert result == build(expected)


PLAIN = [
    pytest.param(case, id=f"{number}-{case['name']}")
    for number, case in enumerate(CASES)
    if case["name"] not in ELSEWHERE | DIFFERENCES and not case["error"]
    if "where" not in case["in"]
]


@pytest.mark.parametrize("case", PLAIN)
def test_like_the_toolkit(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    result, said = run(case, caplog)
    check_same(result, case["out"])
    assert said == case["log"].replace("missing.", "missing")


def case_called(name: str) -> dict[str, Any]:
    (case,) = (case for case in CASES if case["name"] == name)
    return case


@pytest.mark.parametrize(
    ("name", "which"),
    [
        ("Key.merge clash", r"1 trial: \(m_a, s1\)"),
        ("Scores.merge clash", r"1 trial: \(m_b, s5\)"),
        ("Quality.merge overlap", r"2 models \(m_a, m_d\)"),
    ],
)
def test_refused_by_both(name: str, which: str) -> None:
    case = case_called(name)
    assert case["error"]
    with pytest.raises(TrialMismatchError, match=which):
        ACTIONS[case["op"]](case["in"])


def test_differences_of_merged_scores() -> None:
    case = case_called("Scores.merge unmasked garbage is added")
    assert ACTIONS["merge"](case["in"]).scoremat.tolist() == [[1.0, 7.0]]
    case = case_called("Scores.merge2")
    right = json.loads(json.dumps(case["out"]))
    row = right["scoremat"][right["modelset"].index("m_c")]
    assert row[right["segset"].index("s2")] == 38
    row[right["segset"].index("s2")] = 30
    assert ACTIONS["merge"](case["in"]) == build(right)


def test_differences_of_scores_that_are_not_finite() -> None:
    """Infinite scores pass, and NaN only where there is no trial."""
    given = case_called("Scores.align_with_ndx Key, all present")["in"]
    full, key = build(given["obj"]), build(given["key"])

    def with_score(model: str, segment: str, value: float) -> Scores:
        values = full.scoremat.copy()
        values[np.ix_(full.modelset == model, full.segset == segment)] = value
        return Scores(values, *full.ids)

    where = case_called("Scores.align_with_ndx non-finite valid score")["in"]["where"]
    assert "m_a/s1 is Inf" in where
    aligned = with_score("m_a", "s1", np.inf).align_with_ndx(key)
    assert aligned.scoremat[key.modelset == "m_a", key.segset == "s1"].tolist() == [np.inf]
    with pytest.raises(InvalidInputError, match=r"1 trial: \(m_a, s1\)"):
        with_score("m_a", "s1", np.nan).align_with_ndx(key)
    case = case_called("Scores.align_with_ndx non-finite score outside key")
    assert ("m_x/s6 is NaN" in case["in"]["where"], case["error"]) == (True, "")
    assert with_score("m_x", "s6", np.nan).align_with_ndx(key) == full.align_with_ndx(key)


def test_no_case_is_forgotten() -> None:
    names = {case["name"] for case in CASES}
    tested = {param.values[0]["name"] for param in PLAIN}
    special = {case["name"] for case in CASES if case["error"] or "where" in case["in"]}
    assert tested | special | set(ELSEWHERE) | set(DIFFERENCES) == names
