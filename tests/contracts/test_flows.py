"""Five flows of the package are short: in how many of its files functions run in one call."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc

PACKAGE, EER = Path(bp.__file__).parent, unc.EER()

# Few trials are enough to pass all files.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def data(tmp_path: Path) -> SimpleNamespace:
    """Two systems, the speakers of their trials; lists and a file of the first system."""
    rng = np.random.default_rng(7)
    n, each = 24, 4
    models = [f"m{i:02d}" for i in range(n)]
    segments = [f"s{i:02d}" for i in range(n * each)]
    same = np.arange(n)[:, None] == np.arange(n * each) // each
    speakers = {model: f"p{i}" for i, model in enumerate(models)}
    speakers |= {segment: f"p{i // each}" for i, segment in enumerate(segments)}
    systems = {
        name: bp.Scores(rng.normal(size=same.shape) + distance * same, models, segments)
        for name, distance in {"a": 2.0, "b": 2.5}.items()
    }
    systems["a"].save(tmp_path / "scores.h5")
    key = bp.Key(models, segments, same, ~same)
    made = {"lists": systems["a"].get_tar_non(key), "path": tmp_path / "scores.h5"}
    return SimpleNamespace(key=key, systems=systems, speakers=speakers, **made)


FLOWS: dict[str, Callable[[SimpleNamespace], object]] = {
    "read": lambda x: bp.Scores.read(x.path),
    "number": lambda x: bp.eer(*x.lists),
    "interval": lambda x: unc.speaker_interval(x.systems["a"], x.key, EER, speakers=x.speakers),
    "fuse": lambda x: bp.LinearFusion.fit_scores(x.systems, x.key),
    "evaluate": lambda x: str(bp.evaluate(x.systems, x.key, speakers=x.speakers, prior=0.05)),
}


def files_of(call: Callable[[], object]) -> set[str]:
    """Return the files of the package in which functions run, imports aside."""
    call()
    found = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {name for name in found if PACKAGE in Path(name).parents}


@pytest.mark.parametrize(
    ("flow", "limit"),
    [("read", 7), ("number", 7), ("interval", 14), ("fuse", 12), ("evaluate", 24)],
)
def test_few_files(data: SimpleNamespace, flow: str, limit: int) -> None:
    found = files_of(lambda: FLOWS[flow](data))
    assert len(found) <= limit, sorted(found)
