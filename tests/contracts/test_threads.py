"""Threads: what a call warns of, computes and draws is the same beside other calls as alone."""

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

N_THREADS = 8
SPEAKERS = [f"speaker {i:02}" for i in range(12)]
IS_TAR = np.eye(12, dtype=bool)
KEY = bp.Key(SPEAKERS, SPEAKERS, IS_TAR, ~IS_TAR)
NOISE = np.random.default_rng(1).normal(size=(2, 12, 12))
WHOLE = bp.Scores(2.0 * IS_TAR + NOISE[0] - 1.0, SPEAKERS, SPEAKERS)
# Of each model, every second segment has a score: 6 targets and 66 non-targets have none.
HALF = bp.Scores(WHOLE.scoremat, SPEAKERS, SPEAKERS, np.indices((12, 12)).sum(0) % 4 < 2)
OTHER = bp.Scores(2.0 * IS_TAR + NOISE[1], SPEAKERS, SPEAKERS)


@pytest.fixture(autouse=True)
def _often_switched() -> Iterator[None]:
    """Let threads take turns a hundred times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(usual)


def judge(scores: bp.Scores) -> tuple[str, str]:
    """Return the table and the notes of one system."""
    found = bp.evaluate({"system": scores}, KEY, replications=40, rng=1)
    return found.to_json(), str(found.notes)


def report(**systems: bp.Scores) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        bp.evaluate(systems, KEY, replications=40, rng=1).report(file.name)
        return Path(file.name).read_bytes()


def check(jobs: dict[str, Callable[[], Any]], rounds: int) -> None:
    """Do jobs alone, then many times in threads; compare results, warnings and settings."""
    alone, expected = {}, Counter[tuple[type, str]]()
    for name, job in jobs.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            alone[name] = job()
        for warning in caught:
            expected[warning.category, str(warning.message)] += rounds
    settings, filters = dict(mpl.rcParams), [*warnings.filters]
    names = [*jobs] * rounds
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(N_THREADS) as pool:
            found = list(pool.map(lambda name: jobs[name](), names))
    assert [name for name, one in zip(names, found, strict=True) if one != alone[name]] == []
    assert Counter((w.category, str(w.message)) for w in caught) == expected
    assert dict(mpl.rcParams) == settings
    assert warnings.filters == filters


JOBS: dict[str, Callable[[], Any]] = {
    **{"whole": lambda: judge(WHOLE), "half": lambda: judge(HALF)},
    "compare": lambda: repr(unc.compare_systems({"a": WHOLE, "b": OTHER}, KEY, unc.Cllr())),
}


def test_each_call_has_its_own_warnings() -> None:
    check(JOBS, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ["targets missing" in judge(scores)[1] for scores in (HALF, WHOLE)] == [True, False]


# Python 3.11 cannot trace two threads that begin at the same moment, which measuring coverage asks
# of it; others of the pool do the work of such a thread.
@pytest.mark.filterwarnings("ignore:Exception ignored in thread started by")
@pytest.mark.slow
def test_evaluations_reports_and_plots_in_threads() -> None:
    # 24 calls in 8 threads, then 12 of which half draw.
    check(JOBS, 8)
    drawn: dict[str, Callable[[], Any]] = {
        "report of two": lambda: report(whole=WHOLE, other=OTHER),
        "report of half": lambda: report(half=HALF),
        "png": lambda: plots.plot_det({"a": bp.Results.from_scores(WHOLE, KEY)})._repr_png_(),
    }
    check({**drawn, **JOBS}, 2)
