"""PAV calibration: the toolkit's outputs to 1e-12, and the laws of a rising map."""

import json
from pathlib import Path

import numpy as np
import pytest

from bosaris_py.calibration import PAVCalibration
from bosaris_py.errors import SuspectScoresWarning


def test_outside_the_dummies_the_map_goes_on(oracle: Path) -> None:
    """The toolkit fails at x >= 1e6 and x < -1e6; inside it agrees with us."""
    calibration = PAVCalibration.fit([1.0, 2.0], [0.0, 1.5])
    cases = json.loads((oracle / "edge_cases.json").read_text())
    used = [c for c in cases if c["name"].startswith("pav_calibration([1 2],[0 1.5],0)")]
    assert len(used) == 13
    points = {float(case["in"]["x"][0]): case for case in used}
    for x, case in points.items():
        if not np.isnan(x):
            expected = 0.0 if case["error"] else float(case["out"][0])
            assert calibration.apply(x) == pytest.approx(expected, abs=1e-12)
    assert calibration.apply([-np.inf, np.inf]).tolist() == [0.0, 0.0]


def test_bounds_by_hand() -> None:
    """T=[1,3,4], N=[-2,0,2] with dummies: pools {-2,0,dummy}, {1,2}, {3,4,dummy}."""
    trials = [1.0, 3.0, 4.0], [-2.0, 0.0, 2.0]
    calibration = PAVCalibration.fit(*trials)
    # Each class has four trials then; pools hold targets/non-targets 1/2, 1/1, 2/1.
    expected = np.repeat(np.log([1 / 2, 1 / 1, 2 / 1]), 2)
    np.testing.assert_allclose(calibration.llr_bounds, expected, atol=1e-15)
    assert calibration.score_bounds.tolist() == [-1e6, 0.0, 1.0, 2.0, 3.0, 1e6]
    np.testing.assert_allclose(calibration.apply(2.5), np.log(2) / 2, rtol=1e-15)
    # The pools are log 2 apart: an offset of more than half of that makes the map fall.
    rising = PAVCalibration.fit(*trials, score_offset=0.49 * np.log(2))
    assert np.all(np.diff(rising.llr_bounds) > 0)
    with pytest.warns(SuspectScoresWarning, match="2 of its 3 pools"):
        PAVCalibration.fit(*trials, score_offset=0.51 * np.log(2))
