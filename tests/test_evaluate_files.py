"""Systems in files, judged as in memory."""

from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError, MissingTrialsWarning

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
    expected = bp.evaluate(*files, priors=priors, normalize=normalize)
    paths = {name: tmp_path / f"{name}.h5" for name in "AB"}
    found = bp.evaluate_files(paths, tmp_path / "key.h5", priors=priors, normalize=normalize)
    for one, other in zip(found.records(), expected.records(), strict=True):
        assert one.pop("cllr") == pytest.approx(other.pop("cllr"), rel=1e-12)
        assert one == other
    assert repr(found) == repr(expected)
    assert isinstance(found.det(), bp.DETPlot)
    with pytest.raises(InvalidInputError, match="in memory where pairs of them are compared"):
        found.compare()


def test_missing_trials_name_the_system(tmp_path: Path, files) -> None:
    systems, _ = files
    systems["B"].filter(MODELS[1:], SEGMENTS, keep=True).save(tmp_path / "B.h5")
    paths = {name: tmp_path / f"{name}.h5" for name in "AB"}
    with pytest.warns(MissingTrialsWarning, match="^B: "):
        bp.evaluate_files(paths, tmp_path / "key.h5")


@pytest.mark.parametrize(
    ("systems", "error", "message"),
    [
        (["A.h5"], InvalidInputError, "map names to score files; got"),
        ({}, InvalidInputError, "map names to score files; got {}"),
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
