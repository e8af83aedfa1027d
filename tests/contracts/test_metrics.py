"""One contract for every public metric: what it takes, refuses, and leaves alone."""

from collections.abc import Callable
from functools import partial
from inspect import isfunction, signature

import numpy as np
import pytest

import bosaris_py
from bosaris_py import ROC, OperatingPoint, Results
from bosaris_py.errors import InvalidInputError

Metric = Callable[..., object]
DCFS, MANY = ("act_dcf", "min_dcf"), np.linspace(0.01, 0.99, 50)
PLAIN = {"prior": OperatingPoint(0.01, 10, 1), "normalize": False}

METRICS: dict[str, Metric] = {
    **{name: getattr(bosaris_py, name) for name in ["eer", "prbep", "auc", "cllr", "min_cllr"]},
    **{f"eer {x}": partial(bosaris_py.eer, definition=x) for x in ("interpolated", "step")},
    **{name: partial(getattr(bosaris_py, name), prior=0.1) for name in DCFS},
    **{f"{name}, many": partial(getattr(bosaris_py, name), prior=MANY) for name in DCFS},
    **{f"{name}, plain": partial(getattr(bosaris_py, name), **PLAIN) for name in DCFS},
    "error_rates_at": partial(bosaris_py.error_rates_at, thresholds=0.25),
    "optimal_llrs": lambda *lists, **w: np.sort(np.hstack(bosaris_py.optimal_llrs(*lists, **w))),
    "roc": lambda tar, non, **w: ROC.from_scores(tar, non, **w).pmiss,
    "hull": lambda tar, non, **w: ROC.from_scores(tar, non, **w).convex_hull().pfa,
    "uer": lambda *lists, **w: ROC.from_scores(*lists, **w).convex_hull().unequal_error_rate(0.3),
    "results": lambda tar, non, **w: list(Results(tar, non, **w).to_dict().values()),
    "eer_threshold": lambda tar, non, **w: Results(tar, non, **w).eer_threshold,
    "threshold_at": lambda tar, non, **w: Results(tar, non, **w).threshold_at(pfa=0.1),
}
TAR = np.array([-1.0, 0.25, 0.5, 0.5, 2.0, 3.0, 3.0, 8.0])
NON = np.array([-4.0, -4.0, -1.0, 0.0, 0.25, 0.5, 2.5, -2.0, -8.0, -0.5])


def test_every_public_metric_is_here() -> None:
    """Functions of (tar, non, ...) that the package exports."""
    functions = {name: getattr(bosaris_py, name) for name in bosaris_py.__all__}
    public = {
        name
        for name, function in functions.items()
        if isfunction(function) and [*signature(function).parameters][:2] == ["tar", "non"]
    }
    # Bounds are counts of trials plus one, and costs of three classes weigh these: no weights.
    others = {"llr_bounds", "a_dcf", "act_a_dcf", "sv_eer", "spf_eer", "sasv_eer"}
    assert public - others <= set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_the_form_of_the_numbers_does_not_matter(name: str) -> None:
    """All scores here are exact in float16; a quarter of them are whole. None is changed."""
    metric = METRICS[name]
    expected, whole = metric(TAR, NON), metric(4 * TAR, 4 * NON)
    strided = np.repeat(TAR, 3)[::3], np.repeat(NON[::-1], 2)[::-2]
    for array in strided:
        array.setflags(write=False)
    for tar, non in (
        *((TAR.astype(kind), NON.astype(kind)) for kind in (np.float32, np.float16, ">f8")),
        *((TAR.astype(np.float32), NON), (TAR, NON.astype(np.float32)), strided),
    ):
        np.testing.assert_array_equal(metric(tar, non), expected)
    tar, non = (4 * TAR).astype(np.int64), (4 * NON).astype(np.int8)
    np.testing.assert_array_equal(metric(tar, non), whole)
    np.testing.assert_array_equal(metric(tar.tolist(), iter(non.tolist())), whole)

    arrays = TAR.copy(), NON.copy(), TAR**2, NON**2 + 1
    copies = [array.copy() for array in arrays]
    found = metric(*arrays[:2], tar_weights=arrays[2], non_weights=arrays[3])
    once = metric(*arrays[:2], tar_weights=iter(arrays[2]), non_weights=iter(arrays[3]))
    np.testing.assert_array_equal(once, found)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)

    infinite = metric(np.append(TAR, [np.inf, -np.inf]), np.append(NON, [np.inf, -np.inf]))
    assert not np.any(np.isnan(np.asarray(infinite, dtype=float)))


# The argument that is wrong, its value, and what the error has to say.
BAD: list[tuple[str, object, str]] = [
    ("tar", [], "at least one score"),
    ("non", [], "at least one score"),
    ("tar", [0.0, np.nan, 1.0, 2.0, np.nan], r"NaN at 2 of 5 positions \(1, 4\)"),
    ("non", [np.nan], r"NaN at 1 of 1 positions \(0\)"),
    ("tar", TAR.reshape(2, 4), "one-dimensional"),
    ("tar", 1.0, "one-dimensional|list"),
    ("non", TAR > 0, "mask"),
    ("non", ["a", "b"], "numbers"),
    ("non", NON.astype(complex), "real numbers"),
    ("tar", [[1.0], [1.0, 2.0]], "regular array"),
    ("tar", np.ma.masked_array(TAR, TAR > 2), "masked array with 3"),
    ("tar_weights", 0.5, "each of the 8 scores"),
    ("tar_weights", [1.0], "each of the 8 scores"),
    ("non_weights", -np.ones(NON.size), "-1.0 at position 0"),
    ("tar_weights", np.full(TAR.size, np.nan), "got nan"),
    ("tar_weights", np.zeros(TAR.size), "not all be zero"),
    ("tar_weights", np.full(TAR.size, 1e300), "lie between"),
    ("non_weights", np.full(NON.size, 1e-300), "lie between"),
]


@pytest.mark.parametrize("name", METRICS)
def test_what_is_wrong_is_refused(name: str) -> None:
    """A score of NaN too that has no weight."""
    metric = METRICS[name]
    for argument, value, message in BAD:
        with pytest.raises(InvalidInputError, match=f"`{argument}`.*({message})"):
            metric(**{"tar": TAR, "non": NON, argument: value})
    with pytest.raises(InvalidInputError, match=r"`tar` .*NaN"):
        metric([np.nan, 1.0], NON, tar_weights=[0.0, 1.0])
    for values in [(0, 1), (-1, 1), (1, 2), (False, True)]:
        labels, scores = np.array(values * 2), np.array([0.1, 2.5, -0.7, 3.2])
        for classes in ((labels, scores), (scores, labels)):
            with pytest.raises(InvalidInputError, match=r"from_labels\(labels, scores\)"):
                metric(*classes)
