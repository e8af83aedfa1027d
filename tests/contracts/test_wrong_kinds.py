"""Each argument of each public function, given another kind of thing, is refused in words."""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt

import bosaris_py as bp
from bosaris_py import uncertainty as unc

IDS, SAME = [f"s{i}" for i in range(8)], np.eye(8, dtype=bool)
KEY, RNG = bp.Key(IDS, IDS, SAME, ~SAME), np.random.default_rng(1)
A, B = (bp.Scores(RNG.normal(2.0 * SAME), IDS, IDS) for _ in "ab")
TAR, NON = LISTS = A.get_tar_non(KEY)
THREE, BOTH = (TAR, NON, NON - 1.0), unc.Decisions(TAR > 0.0, NON > 0.0)
FRAME = {"model": IDS, "segment": IDS, "score": TAR, "label": [1, 0] * 4}
# What stands under a name in any function, and in some of them.
GIVEN: dict[str, Any] = {
    **dict.fromkeys(["prior", "p", "llr", "p_target", "probability"], 0.1),
    **dict.fromkeys(["c_miss", "c_fa", "score", "thresholds"], 1.0),
    **dict.fromkeys(["results", "dev", "test", "cm"], LISTS),
    **dict.fromkeys(["a", "b", "errors"], BOTH) | dict.fromkeys(["key", "ndx"], KEY),
    **dict.fromkeys(["tar", "values", "first"], TAR) | dict.fromkeys(["sample", "second"], NON),
    **{"non": NON, "spoof": NON - 1.0, "scores": A, "systems": {"a": A, "b": B}, "df": FRAME},
    **{"metric": unc.DCF(0.0, 0.1), "replications": 9, "runs": 3, "model": bp.LinearCalibration},
    **{"propositions": ("p", "q"), "reference": "r", "name": "forensic", "labels": [1, 0] * 4},
    **{"rows": {"a": unc.error_rate_interval(40, 90)}, "asv": THREE, "sets": IDS, "trials": 9},
    **{"qualities": {"q": dict.fromkeys(IDS, 1.0)}, "trials_or_rate": 100},
}
OWN: dict[str, dict[str, Any]] = {
    **{name: {"systems": {"a": LISTS}} for name in bp.__all__ if "plot_" in name},
    **{"plot_a_dcf": {"systems": {"a": THREE}}, "split_by_labels": {"scores": TAR}},
    **{"from_frame": {"score": "score", "model": "model", "tar": 1, "non": 0}},
    **{"delong": {"tar": [TAR, TAR**2], "non": [NON, NON**2]}, "sigmoid": {"x": 0.1}},
    **{"primary_cost": {"plan": "VoxSRC"}, "cross_fit": {"qualities": None}, "plot_histogram": {}},
    **{"plot_forest": {"reference": 0.0}, "error_rate_interval": {"errors": 1}},
}
PUBLIC = [getattr(module, name) for module in (bp, unc) for name in module.__all__]
FUNCTIONS = {one for one in PUBLIC if inspect.isfunction(one) and one.__name__[:5] != "read_"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", sorted(FUNCTIONS, key=lambda one: one.__name__))
def test_another_kind(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    given = {n: x for n, x in GIVEN.items() if n in parameters} | OWN.get(function.__name__, {})
    function(**given)
    for name in parameters.keys() - {"options"}:
        for wrong in (3, "x", None, ["x"], [], object()):
            with contextlib.suppress(bp.errors.BosarisError, OSError):
                function(**{**given, name: wrong})
    plt.close("all")
