"""Words do not steer: what the program does hangs on no text of a message."""

import ast
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.cli import parser

ROOT = Path(__file__).parents[2]

# Fields and methods that hold words for the reader.
WORDS = {"message", "finding", "advice", "hint", "expected", "got", "notes"}
CUTTERS = {"split", "rsplit", "splitlines", "partition", "rpartition", "replace", "startswith"}
CUTTERS |= {"endswith", "removeprefix", "removesuffix", "find", "index", "sub", "match", "search"}


def _has_words(node: ast.AST) -> bool:
    """Tell whether an expression is a message: a field of one, or str(error)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        (shown,) = node.args
        return isinstance(shown, ast.Name) and shown.id in ("error", "warning", "caution", "e")
    return isinstance(node, ast.Attribute) and node.attr in WORDS


def _steered(tree: ast.AST) -> list[int]:
    """Return the lines that compare, split or replace the words of a message."""
    found = []
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            parts = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parts = [node.func.value, *node.args] if node.func.attr in CUTTERS else []
        found += [part.lineno for part in parts if _has_words(part)]  # type: ignore[attr-defined]
    return found


def test_no_words_of_a_message_are_compared_split_or_replaced() -> None:
    assert _steered(ast.parse("x = 'difference' in str(error), caution.advice.split()[0]")) == [
        1,
        1,
    ]
    assert {
        (path.name, line)
        for path in (ROOT / "bosaris_py").rglob("*.py")
        for line in _steered(ast.parse(path.read_text(encoding="utf-8")))
    } == set()


@pytest.mark.slow
def test_the_doors_work_in_another_language() -> None:
    doors = ("cli", "report", "evaluate", "case")
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "foreign", "-p", "no:cacheprovider"]
        + [f"tests/test_{door}.py" for door in doors]
        + ["-m", "not slow"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-3000:]


@pytest.mark.slow
def test_without_docstrings_help_and_messages_are_the_same() -> None:
    script = """
import bosaris_py as bp
from bosaris_py import cli
from bosaris_py.cli import parser
for name in parser.COMMANDS:
    cli.main([name, "--help"])
for call in (lambda: bp.OperatingPoint(2), bp.LinearCalibration,
             lambda: setattr(bp.OperatingPoint(0.5), "c_miss", 2), lambda: bp.Key(["a"], ["b"], 1),
             lambda: bp.primary_cost(1, 2, 3)):
    try:
        call()
    except Exception as error:
        print(repr(error))
"""
    with_, without = (
        subprocess.run(
            [sys.executable, *options, "-c", script], cwd=ROOT, capture_output=True, text=True
        )
        for options in ((), ("-OO",))
    )
    assert (with_.stderr, without.stderr) == ("", "")
    assert with_.stdout.count("examples:") == len(parser.COMMANDS)
    assert with_.stdout == without.stdout


IDS = [f"s{i:02}" for i in range(12)]
SAME = np.eye(12, dtype=bool)
KEY = bp.Key(IDS, IDS, SAME, ~SAME)
NOISE = np.random.default_rng(1).normal(size=(3, 12, 12))
SYSTEMS = {
    "A": bp.Scores(2.0 * SAME - 1.0 + NOISE[0], IDS, IDS),
    # Without the scores of one target and 11 non-targets.
    "B": bp.Scores(2.0 * SAME - 1.0 + NOISE[1], IDS, IDS).filter(IDS[1:], IDS, keep=True),
    # No log-likelihood-ratios, far from it.
    "C": bp.Scores(-9.0 * SAME + NOISE[2], IDS, IDS),
}


@pytest.mark.parametrize(
    "options",
    [
        {"speakers": lambda name: name},
        {"replications": 20, "rng": 1},
        {
            "replications": 20,
            "rng": 1,
            "conditions": bp.Conditions({"all": np.ones((12, 12), bool)}),
        },
        {"cross_fit": True, "rng": 1, "speakers": lambda name: name},
    ],
)
def test_a_table_warns_of_what_single_calls_warn_of(options: dict[str, Any]) -> None:
    """One warning of a category, and in the records each system of a call of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bp.evaluate(SYSTEMS, KEY, **options)
    given = [item.category.__name__ for item in caught]
    assert len(set(given)) == len(given) >= 2
    assert {record["category"] for record in found.cautions} == set(given)
    for item in caught:
        named = {r["system"] for r in found.cautions if r["category"] == item.category.__name__}
        assert all(
            f"{name}: " in str(item.message) or f"{name} (" in str(item.message) for name in named
        )
    alone = set()
    for name, scores in SYSTEMS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bp.evaluate({name: scores}, KEY, **options)
        alone |= {(item.category.__name__, name) for item in caught}
    assert {(record["category"], record["system"]) for record in found.cautions} == alone


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_few_speakers_are_records_of_figures_and_counts() -> None:
    found = bp.evaluate({"A": SYSTEMS["A"]}, KEY, priors=0.5, replications=20, rng=1)
    few = [r for r in found.cautions if r["category"] == "FewSpeakersWarning"]
    # The other one has no count: one speaker makes most of the variance.
    (record,) = (r for r in few if r["count"] is not None)
    assert record["figures"] == ["eer", "min_dcf(0.5)", "act_dcf(0.5)", "min_cllr", "cllr"]
    # No figure rests on more speakers than there are.
    assert 0.0 < record["count"] < 12.0
    assert record["message"].startswith(
        "A: The eer, min_dcf(0.5), act_dcf(0.5), min_cllr, cllr rest "
    )
