"""Every case of the oracle's edge_cases.json through the toolkit's names, at 1e-12.

Where the toolkit raises an error so does the package, unless `DIFFERENCES` says why not.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.scoring import scoring_rule

ORACLE = Path(__file__).parents[2] / "reference" / "oracle"
CASES: list[dict[str, Any]] = json.loads((ORACLE / "edge_cases.json").read_text())
ATOL = 1e-12

# Cases by number where we do something else on purpose, and why.
DIFFERENCES = {
    0: "repeated prior log-odds miscount in the toolkit",
    2: "repeated prior log-odds miscount in the toolkit",
    14: "exact means are pooled, rounding keeps them apart in the toolkit",
    15: "exact means are pooled, rounding keeps them apart in the toolkit",
    26: "NaN is refused, the toolkit returns NaN",
    **dict.fromkeys((33, 34, 41, 42), "a class without scores is refused"),
    **dict.fromkeys((44, 47, 48), "the map goes on beyond its bounds, the toolkit's does not"),
}


def numbers(values: Any) -> np.ndarray:
    return np.array(values, dtype=float).reshape(-1)


def given(case: dict[str, Any], *names: str) -> list[np.ndarray]:
    return [numbers(case["in"][name]) for name in names]


def costs(name: str, case: dict[str, Any]) -> dict[str, Any]:
    function, arguments = getattr(b, name), given(case, "tar", "non", "plo")
    dcf, pmiss, pfa, *_ = function(*arguments)
    normalized = function(*arguments, True)[0]
    return {"dcf": dcf, "pmiss": pmiss, "pfa": pfa, "dcf_norm": normalized}


def pooled(case: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(("ghat", "width", "height"), b.pavx(*given(case, "y")), strict=True))


def hull(case: dict[str, Any]) -> dict[str, Any]:
    scores = given(case, "tar", "non")
    return dict(zip(("pmiss", "pfa", "eer"), (*b.rocch(*scores), b.eer(*scores)), strict=True))


def of_classes(name: str) -> Callable[[dict[str, Any]], Any]:
    def call(case: dict[str, Any]) -> Any:
        arguments = given(case, "tar", "non")
        if name.startswith("fast_"):
            arguments.append(np.zeros(1))
        value = getattr(b, name)(*arguments)
        return {name: value} if isinstance(case["out"], dict) else value

    return call


def judged(case: dict[str, Any]) -> dict[str, Any]:
    name = case["name"].removeprefix("evaluate_objective ")
    objective = b.make_objective_function_from_name(name)
    scores, classf = given(case, "scores", "classf")
    prior = case["in"]["prior"]
    return {
        "value": b.evaluate_objective(objective, scores, classf, prior),
        "prior_entropy": scoring_rule(objective).entropy(prior),
    }


EMPTY = "rocch eer prbep fast_actDCF fast_minDCF cllr min_cllr compute_roc"
ACTIONS: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    *((f"{name} with an empty class", of_classes(name)) for name in EMPTY.split()),
    ("fast_actDCF", partial(costs, "fast_actDCF")),
    ("fast_minDCF", partial(costs, "fast_minDCF")),
    ("pavx", pooled),
    ("rocch2eer", lambda case: b.rocch2eer(*given(case, "pmiss", "pfa"))),
    ("rocch floating-point", hull),
    ("cllr", of_classes("cllr")),
    (
        "pav_calibration([1 2]",
        lambda case: b.pav_calibration([1.0, 2.0], [0.0, 1.5], 0.0)[0](numbers(case["in"]["x"])),
    ),
    ("pav_calibration needs", lambda _: b.pav_calibration([[1.0], [2.0]], [[0.0]], 0.0)),
    (
        "train_linear_calibration needs row vectors",
        lambda _: b.train_linear_calibration([[1.0], [2.0]], [[0.0]], 0.5, [], 100, True),
    ),
    ("make_objective_function", lambda _: b.make_objective_function_from_name("wmlr")),
    ("evaluate_objective", judged),
    ("area_under_rocch", lambda case: b.area_under_rocch(*given(case, "pmiss", "pfa"))),
    ("sprintfmatrix", lambda _: b.sprintfmatrix([[1, 2.5], [3, 4]], range(1, 3))),
]


def act(case: dict[str, Any]) -> Any:
    return next(action for name, action in ACTIONS if case["name"].startswith(name))(case)


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert set(result) == set(expected)
        for name, value in expected.items():
            same(result[name], value)
    elif isinstance(result, str):
        assert result == expected
    else:
        np.testing.assert_allclose(
            np.atleast_1d(result).astype(float), numbers(expected), rtol=0, atol=ATOL, strict=True
        )


def cases(*, different: bool) -> list[Any]:
    return [
        pytest.param(case, id=f"{number}-{case['name']}")
        for number, case in enumerate(CASES)
        if (number in DIFFERENCES) == different
    ]


@pytest.mark.parametrize("case", cases(different=False))
def test_like_the_toolkit(case: dict[str, Any]) -> None:
    if case["error"]:
        with pytest.raises(InvalidInputError) as caught:
            act(case)
        # The toolkit's own words, unless they are those of a bare assertion or of a crash.
        if not case["error"].startswith(("assert", "operator", "score_bounds")):
            assert case["error"] in str(caught.value)
        return
    same(act(case), case["out"])


@pytest.mark.parametrize("case", cases(different=True))
def test_differences(case: dict[str, Any]) -> None:
    reason = DIFFERENCES[CASES.index(case)]
    if "is refused" in reason:
        with pytest.raises(InvalidInputError):
            act(case)
    elif "beyond its bounds" in reason:
        assert case["error"] or float(case["in"]["x"][0]) >= 1e6
        assert act(case).tolist() == [0.0]
    elif "rounding" in reason:
        result = act(case)
        if "ghat" in result:
            # Eight labels of mean 4/8, then a one.
            same(result | {"ghat": 0}, {"ghat": 0, "width": [8, 1], "height": [0.5, 1.0]})
        else:
            corners = [(0.0, 1.0), (0.8, 0.0), (1.0, 0.0)]
            assert [*zip(result["pmiss"], result["pfa"], strict=True)] == corners
            assert result["eer"] == pytest.approx(float(case["out"]["eer"][0]), abs=ATOL)
    else:
        tar, non, plo = given(case, "tar", "non", "plo")
        result = act(case)
        assert min(numbers(case["out"]["pmiss"])) < 0
        np.testing.assert_array_equal(result["pmiss"], [(tar < -p).mean() for p in plo])
        np.testing.assert_array_equal(result["pfa"], [(non >= -p).mean() for p in plo])
