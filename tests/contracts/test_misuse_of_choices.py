"""Arguments that take one of a few words refuse everything else, and say which there are."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError

RNG = np.random.default_rng(1)
IDS = [f"m{i:02}" for i in range(12)]
SEGMENTS = [f"{name}-{part}" for name in IDS for part in range(3)]
SAME = np.array([[segment.startswith(name) for segment in SEGMENTS] for name in IDS])
KEY = bp.Key(IDS, SEGMENTS, SAME, ~SAME)
A, B = (
    bp.Scores(2.0 * SAME - 1.0 + 0.9 * RNG.standard_normal(SAME.shape), IDS, SEGMENTS)
    for _ in range(2)
)
TAR, NON = A.get_tar_non(KEY)
WHO: dict[str, Any] = {"speakers": (lambda name: name, lambda name: name.partition("-")[0])}
FEW: dict[str, Any] = {"replications": 50, "rng": 1}
COUNTS = unc.ErrorCounts(3, 60, 5, 200)
DEV, TEST = (KEY.filter(ids, [s for s in SEGMENTS if s[:3] in ids], keep=True)
             for ids in (IDS[:6], IDS[6:]))  # fmt: skip


def made(make: Callable[[], Any]) -> Any:
    """Make what calls need; that so few speakers warn says nothing here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.errors.BosarisWarning)
        return make()


TRANSFER = made(lambda: bp.transfer(dev=(A, DEV), test=(A, TEST), **WHO, **FEW))
STUDENT = made(lambda: unc.bootstrap_scores(A, KEY, unc.EER(), **WHO, **FEW))
PERCENTILE = made(lambda: unc.bootstrap(TAR, NON, unc.EER(), **FEW))
CURVE = unc.DETCurve([0.1, 0.3])
BAND = made(lambda: unc.bootstrap(TAR, NON, CURVE, **FEW))
TIPPETT = made(lambda: unc.Tippett().band(unc.bootstrap(TAR, NON, unc.Tippett(), **FEW)))
TABLE = made(lambda: bp.evaluate({"a": A, "b": B}, KEY, **WHO))
RESULTS = bp.Results(TAR, NON)
COST, SYSTEMS = bp.OperatingPoint(0.1), {"a": A, "b": B}

# The argument; whether None is a choice; the call.
CALLS: dict[str, tuple[str, bool, Callable[[Any], Any]]] = {
    "p_value of speakers": ("alternative", False, STUDENT.p_value),
    "p_value of trials": ("alternative", False, PERCENTILE.p_value),
    "test": ("alternative", False, lambda v: STUDENT.test(0.1, v)),
    "speaker_z_test": (
        "alternative",
        False,
        lambda v: unc.speaker_z_test(A, B, KEY, unc.Cllr(), alternative=v, **WHO),
    ),
    "hter_z_test": ("alternative", False, lambda v: unc.hter_z_test(COUNTS, COUNTS, alternative=v)),
    "dcf_z_test": (
        "alternative",
        False,
        lambda v: unc.dcf_z_test(COUNTS, COUNTS, COST, alternative=v),
    ),
    "z_test_of_means": (
        "alternative",
        False,
        lambda v: unc.z_test_of_means([1, 2], [1, 3], alternative=v),
    ),
    "compare": ("alternative", False, lambda v: TABLE.compare(alternative=v)),
    "compare_systems": (
        "alternative",
        False,
        lambda v: unc.compare_systems(SYSTEMS, KEY, unc.Cllr(), alternative=v, **WHO),
    ),
    "bootstrap": (
        "interval",
        True,
        lambda v: unc.bootstrap(TAR, NON, unc.EER(), interval=v, **FEW),
    ),
    "interval_of": ("interval", False, PERCENTILE.interval_of),
    "bootstrap, method": (
        "method",
        False,
        lambda v: unc.bootstrap(TAR, NON, unc.EER(), method=v, **FEW),
    ),
    "bootstrap_table": (
        "methods",
        False,
        lambda v: unc.bootstrap_table({"a": A}, KEY, unc.EER(), methods=v, **FEW),
    ),
    "error_rate_interval": ("method", False, lambda v: unc.error_rate_interval(3, 60, method=v)),
    "Transfer.compare": ("method", True, lambda v: TRANSFER.compare(TRANSFER, method=v)),
    "Transfer.compare, figure": ("figure", False, lambda v: TRANSFER.compare(TRANSFER, v)),
    "Transfer.interval": ("drawn", False, lambda v: TRANSFER.interval(drawn=v)),
    "transfer": ("rule", False, lambda v: bp.transfer(dev=(A, DEV), test=(A, TEST), rule=v)),
    "band": ("kind", False, lambda v: CURVE.band(BAND, kind=v)),
    "Tippett band": ("convention", False, TIPPETT.of),
    "plot_tippett": ("convention", False, lambda v: bp.plot_tippett({"a": RESULTS}, convention=v)),
    "plot_det": ("window", False, lambda v: bp.plot_det({"a": RESULTS}, window=v)),
    "plot_det, legend": ("legend", False, lambda v: bp.plot_det({"a": RESULTS}, legend=v)),
    "eer": ("definition", False, lambda v: bp.eer(TAR, NON, definition=v)),
    "evaluate, eer": ("eer", True, lambda v: bp.evaluate(SYSTEMS, KEY, eer=v)),
    "read_key": ("form", True, lambda v: bp.read_key("no such file", form=v)),
    "load_example": ("name", False, bp.load_example),
    "fit": ("objective", False, lambda v: bp.LinearCalibration.fit(TAR, NON, objective=v)),
}

# A near miss, other types, what has no hash, what compares by its elements.
STRANGE = ["Less than", 3, None, ["less"], {"less": 1}, np.array([1, 2]), "", b"less", bp.Key]


@pytest.fixture(autouse=True)
def _few_speakers_are_no_matter() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.errors.BosarisWarning)
        yield


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_choice_is_refused_by_name(name: str) -> None:
    argument, takes_none, call = CALLS[name]
    for value in STRANGE:
        if value is None and takes_none:
            continue
        with pytest.raises(InvalidInputError, match=rf"`{argument}` must .*; got .*\.") as caught:
            call(value)
        assert caught.value.argument == argument
