"""Threads: what a call warns of, computes and draws is the same beside other calls as alone."""

import contextlib
import io
import os
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
NOISE = np.random.default_rng(1).normal(size=(3, 12, 12))
WHOLE = bp.Scores(2.0 * IS_TAR + NOISE[0] - 1.0, SPEAKERS, SPEAKERS)
# Of each model, every second segment has a score: 6 targets and 66 non-targets have none.
HALF = bp.Scores(WHOLE.scoremat, SPEAKERS, SPEAKERS, np.indices((12, 12)).sum(0) % 4 < 2)
OTHER = bp.Scores(2.0 * IS_TAR + NOISE[1], SPEAKERS, SPEAKERS)


class StoppedError(Exception):
    """What interrupts a call in its middle."""


class FullDisk(io.RawIOBase):
    """A stream that takes nothing."""

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> int:
        raise StoppedError


@pytest.fixture(autouse=True)
def _often_switched() -> Iterator[None]:
    """Let threads take turns a hundred times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(usual)


def judge(name: str, scores: bp.Scores) -> tuple[str, str]:
    """Return the table and the cautions of one system."""
    found = bp.evaluate({name: scores}, KEY, replications=40, rng=1)
    return found.to_json(), str(found.cautions)


def compare() -> str:
    return repr(unc.compare_systems({"whole": WHOLE, "other": OTHER}, KEY, unc.Cllr()))


def svg() -> bytes:
    picture = io.BytesIO()
    plots.plot_det({"whole": bp.Results.from_scores(WHOLE, KEY)}).figure.savefig(
        picture, format="svg", metadata={"Date": None}
    )
    return picture.getvalue()


def paper() -> list[float]:
    with plots.style("paper"):
        return [*plots.plot_bayes({"A": bp.Results.from_scores(OTHER, KEY)}).figure.bbox.bounds]


def report(folder: Path, **systems: bp.Scores) -> bytes:
    descriptor, path = tempfile.mkstemp(".html", dir=folder)
    os.close(descriptor)
    bp.evaluate(systems, KEY, replications=40, rng=1).report(path)
    return Path(path).read_bytes()


def interrupted() -> None:
    """Fail within an evaluation, a bootstrap and a drawing, each of which has begun."""

    def metric(tar: Any, non: Any, *_: Any) -> float:
        calls.append(1)
        if len(calls) > 3:
            raise StoppedError
        return bp.eer(tar, non)

    calls: list[int] = []
    with contextlib.suppress(StoppedError):
        unc.compare_systems({"a": WHOLE, "b": OTHER}, KEY, metric)
    with contextlib.suppress(StoppedError):
        plots.plot_det({"whole": bp.Results.from_scores(WHOLE, KEY)}).figure.savefig(FullDisk())
    assert len(calls) == 4


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
    "whole": lambda: judge("whole", WHOLE),
    "half": lambda: judge("half", HALF),
    "other": lambda: judge("other", OTHER),
    "compare": compare,
    "interrupted": interrupted,
}


def test_each_call_has_its_own_warnings() -> None:
    check(JOBS, 3)
    assert "missing" in judge_quietly(HALF)
    assert "missing" not in judge_quietly(WHOLE)


def judge_quietly(scores: bp.Scores) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judge("system", scores)[1]


# Python 3.11 cannot trace two threads that begin at the same moment, which measuring coverage asks
# of it; others of the pool do the work of such a thread.
@pytest.mark.filterwarnings("ignore:Exception ignored in thread started by")
@pytest.mark.slow
def test_evaluations_reports_and_plots_in_threads(tmp_path: Path) -> None:
    # 40 calls in 8 threads, then 18 of which half draw.
    check(JOBS, 8)
    drawn: dict[str, Callable[[], Any]] = {
        "report of two": lambda: report(tmp_path, whole=WHOLE, other=OTHER),
        "report of half": lambda: report(tmp_path, half=HALF),
        "svg": svg,
    }
    check({**drawn, **JOBS}, 2)
    # These settings hold in all threads, as documented.
    check({"paper": paper}, 2 * N_THREADS)


def test_settings_of_nested_styles_end_with_the_last() -> None:
    before = mpl.rcParams["font.size"]
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        first.enter_context(plots.style("paper"))
        second.enter_context(plots.style("paper"))
        first.close()
        assert mpl.rcParams["font.size"] == 7.0 != before
    assert mpl.rcParams["font.size"] == before
