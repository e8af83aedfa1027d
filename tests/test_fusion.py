"""Reading a trained map without knowing which it is."""

from pathlib import Path

import pytest

from bosaris_py import LinearCalibration, LinearFusion, PAVCalibration, read_model
from bosaris_py.errors import FileFormatError
from bosaris_py.files import models

TAR, NON = [1.0, 2.0, 3.0, 0.5], [0.0, -1.0, 1.5, 0.25]


@pytest.mark.parametrize(
    "model",
    [
        LinearCalibration.fit(TAR, NON),
        PAVCalibration.fit(TAR, NON),
        LinearFusion.fit(
            [[1.0, 2.0, 3.0, -0.5], [0.5, 3.0, -1.0, 2.0]],
            [[0.0, -1.0, 2.0, 0.0], [1.0, 0.0, 1.5, -2.0]],
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_equals_what_was_saved(tmp_path: Path, model: object) -> None:
    model.save(tmp_path / "model.json")
    found = read_model(tmp_path / "model.json")
    assert type(found) is type(model)
    assert found == model


def test_refuses_others(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    models.write(path, {"kind": "EvaluationPlan", "name": "x"})
    with pytest.raises(FileFormatError, match=r"expected one of Linear.*holds EvaluationPlan"):
        read_model(path)
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(FileFormatError, match="not of this package"):
        read_model(path)
