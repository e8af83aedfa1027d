"""One contract for every public metric: what it takes, refuses, and leaves alone."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given

import bosaris_py
from bosaris_py import Conditions, Key, OperatingPoint, Scores
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results, primary_cost
from bosaris_py.metrics.ranks import EER
from tests.forms import as_list
from tests.score_strategies import weighted_scores

Metric = Callable[..., object]
DEFINITIONS = ("rocch", "interpolated", "step")
POINT = OperatingPoint(0.01, 10, 1)

METRICS: dict[str, Metric] = {
    "eer": bosaris_py.eer,
    "eer interpolated": partial(bosaris_py.eer, definition="interpolated"),
    "eer step": partial(bosaris_py.eer, definition="step"),
    "prbep": bosaris_py.prbep,
    "auc": bosaris_py.auc,
    "cllr": bosaris_py.cllr,
    "min_cllr": bosaris_py.min_cllr,
    "act_dcf": lambda tar, non, **w: bosaris_py.act_dcf(tar, non, 0.1, **w),
    "act_dcf at many priors": lambda tar, non, **w: bosaris_py.act_dcf(
        tar, non, np.linspace(0.01, 0.99, 50), **w
    ),
    "min_dcf": lambda tar, non, **w: bosaris_py.min_dcf(tar, non, 0.1, **w),
    "min_dcf at many priors": lambda tar, non, **w: bosaris_py.min_dcf(
        tar, non, np.linspace(0.01, 0.99, 50), **w
    ),
    "act_dcf, not normalized": partial(bosaris_py.act_dcf, prior=POINT, normalize=False),
    "min_dcf, not normalized": partial(bosaris_py.min_dcf, prior=POINT, normalize=False),
    "error_rates_at": lambda tar, non, **w: bosaris_py.error_rates_at(tar, non, 0.25, **w),
    "optimal_llrs": lambda tar, non, **w: np.sort(
        np.concatenate(bosaris_py.optimal_llrs(tar, non, **w))
    ),
    "roc": lambda tar, non, **w: bosaris_py.ROC.from_scores(tar, non, **w).pmiss,
    "hull": lambda tar, non, **w: bosaris_py.ROC.from_scores(tar, non, **w).convex_hull().pfa,
    "uer": lambda tar, non, **w: (
        bosaris_py.ROC.from_scores(tar, non, **w).convex_hull().unequal_error_rate(0.3)
    ),
    "results": lambda tar, non, **w: list(
        Results(tar, non, **w).to_dict([0.01, 0.5])["operating_points"][0].values()
    ),
    "eer_threshold": lambda tar, non, **w: Results(tar, non, **w).eer_threshold,
    "threshold_at": lambda tar, non, **w: Results(tar, non, **w).threshold_at(pfa=0.1),
}
TAR = np.array([-1.0, 0.25, 0.5, 0.5, 2.0, 3.0, 3.0, 8.0])
NON = np.array([-4.0, -4.0, -1.0, 0.0, 0.25, 0.5, 2.5, -2.0, -8.0, -0.5])


@pytest.fixture(params=METRICS, ids=str)
def metric(request: pytest.FixtureRequest) -> Metric:
    return METRICS[request.param]


def test_every_public_metric_is_here() -> None:
    """Functions of (tar, non, ...) that the package exports."""
    import inspect

    public = {
        name
        for name in bosaris_py.__all__
        if inspect.isfunction(getattr(bosaris_py, name))
        and list(inspect.signature(getattr(bosaris_py, name)).parameters)[:2] == ["tar", "non"]
    }
    # Bounds are counts of trials plus one, and costs of three classes weigh these: no weights.
    others = {"llr_bounds", "a_dcf", "act_a_dcf", "sv_eer", "spf_eer", "sasv_eer"}
    assert public - others <= set(METRICS)


@pytest.mark.parametrize(("tar", "non", "name"), [([], NON, "tar"), (TAR, [], "non")])
def test_empty_class(metric: Metric, tar: object, non: object, name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"`{name}` must hold at least one score"):
        metric(tar, non)


@pytest.mark.parametrize("name", ["tar", "non"])
def test_nan_is_counted_and_located(metric: Metric, name: str) -> None:
    scores = {"tar": TAR.copy(), "non": NON.copy()}
    scores[name][[1, 4]] = np.nan
    with pytest.raises(InvalidInputError, match=rf"`{name}` .* NaN at 2 of \d+ positions \(1, 4\)"):
        metric(**scores)


def test_infinities_are_legal(metric: Metric) -> None:
    result = metric(np.append(TAR, [np.inf, -np.inf]), np.append(NON, [np.inf, -np.inf]))
    assert not np.any(np.isnan(np.asarray(result, dtype=float)))


def test_float32_is_the_same(metric: Metric) -> None:
    """All scores here are exact in float32."""
    expected = metric(TAR, NON)
    for tar, non in (
        (TAR.astype(np.float32), NON.astype(np.float32)),
        (TAR.astype(np.float32), NON),
        (TAR, NON.astype(np.float32)),
        (TAR.astype(np.float16), NON.astype(np.float16)),
    ):
        np.testing.assert_array_equal(metric(tar, non), expected)


def test_integers_and_lists_are_the_same(metric: Metric) -> None:
    tar, non = (4 * TAR).astype(np.int64), (4 * NON).astype(np.int8)
    expected = metric(tar.astype(float), non.astype(float))
    np.testing.assert_array_equal(metric(tar, non), expected)
    np.testing.assert_array_equal(metric(tar.tolist(), tuple(non.tolist())), expected)


def test_strided_and_read_only_input(metric: Metric) -> None:
    expected = metric(TAR, NON)
    tar, non = np.repeat(TAR, 3)[::3], np.repeat(NON[::-1], 2)[::-2]
    tar.setflags(write=False)
    non.setflags(write=False)
    np.testing.assert_array_equal(metric(tar, non), expected)
    big_endian = TAR.astype(">f8"), NON.astype(">f8")
    np.testing.assert_array_equal(metric(*big_endian), expected)


def test_input_is_not_modified(metric: Metric) -> None:
    tar, non, tar_weights, non_weights = TAR.copy(), NON.copy(), TAR**2, NON**2 + 1
    copies = [array.copy() for array in (tar, non, tar_weights, non_weights)]
    metric(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    for array, copy in zip((tar, non, tar_weights, non_weights), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", sorted(METRICS))
@given(tar=weighted_scores(), non=weighted_scores())
def test_whole_weights_are_repeated_trials(
    name: str, tar: tuple[np.ndarray, np.ndarray], non: tuple[np.ndarray, np.ndarray]
) -> None:
    weighted = METRICS[name](tar[0], non[0], tar_weights=tar[1], non_weights=non[1])
    repeated = METRICS[name](np.repeat(*tar), np.repeat(*non))
    if name == "optimal_llrs":
        # One for each trial: trials of weight 0 have a place on the map, too.
        kept = METRICS[name](
            tar[0][tar[1] > 0],
            non[0][non[1] > 0],
            tar_weights=tar[1][tar[1] > 0],
            non_weights=non[1][non[1] > 0],
        )
        weighted, repeated = np.unique(kept), np.unique(repeated)
    np.testing.assert_allclose(
        np.asarray(weighted, dtype=float), np.asarray(repeated, dtype=float), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tar": TAR.reshape(2, 4)}, r"`tar` .* one-dimensional; got .* \(2, 4\)"),
        ({"tar": TAR[None, :]}, r"Flatten it with .ravel\(\)"),
        ({"tar": 1.0}, "Put a single score into a list"),
        ({"non": TAR > 0}, "looks like a mask"),
        ({"non": ["a", "b"]}, "Convert text to numbers"),
        ({"non": NON.astype(complex)}, "hold real numbers"),
        ({"tar": [[1.0], [1.0, 2.0]]}, "regular array of numbers"),
        ({"tar_weights": 0.5}, "got the number 0.5. .* the weight of a class is in the prior"),
        ({"tar_weights": [1.0]}, "one weight for each of the 8 scores; got 1 weights"),
        ({"non_weights": -np.ones(NON.size)}, "finite and not negative; got -1.0 at position 0"),
        ({"tar_weights": np.full(TAR.size, np.nan)}, r"not negative; got nan .*8 bad in all"),
        ({"tar_weights": np.zeros(TAR.size)}, "not all be zero"),
        ({"tar_weights": np.full(TAR.size, 1e300)}, "lie between 1e-100 and 1e.100, or be 0"),
        ({"non_weights": np.full(NON.size, 1e-300)}, "divide by the largest"),
        ({"tar": np.ma.masked_array(TAR, TAR > 2)}, "plain array; got a masked array with 3"),
    ],
)
def test_bad_input(metric: Metric, change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        metric(**{"tar": TAR, "non": NON, **change})


@pytest.mark.parametrize("low", [0, -1])
def test_labels_and_scores_are_no_classes(metric: Metric, low: int) -> None:
    scores = np.array([0.1, 2.5, -0.7, 3.2])
    labels = np.array([low, 1, low, 1])
    remedy = r"Results\.from_labels\(labels, scores\)"
    found = f"must hold the scores of one class; got only {low} and 1, for as many trials as"
    for name, classes in (("tar", (labels, scores)), ("non", (scores, labels))):
        with pytest.raises(InvalidInputError, match=f"`{name}` {found}.*{remedy}"):
            metric(*classes)
    with pytest.raises(InvalidInputError, match=f"`tar` must hold real numbers; .*{remedy}"):
        metric(labels == 1, scores)


# What takes scores, a key and conditions, as a number or a list of numbers.
JUDGES: dict[str, Metric] = {
    "Results": lambda scores, key, conditions: _figures(
        Results.from_scores(scores, key, conditions)
    ),
    "primary_cost, pooled": lambda scores, key, _: _both(primary_cost(scores, key, "VoxSRC")),
    "primary_cost": lambda scores, key, conditions: _both(
        primary_cost(scores, key, "VoxSRC", conditions)
    ),
}


def _figures(results: Results) -> list[float]:
    rates = [EER(name).computed(results.sample) for name in DEFINITIONS]
    costs = results.to_dict([0.01, 0.5])["operating_points"][0].values()
    return [*rates, results.auc, results.prbep, results.cllr, results.min_cllr, *costs]


def _both(cost: object) -> list[float]:
    return [cost.actual, cost.minimum]


def judged(
    judge: Metric, tar: object, non: object, *, flat: bool = False, order: int = 1
) -> np.ndarray:
    """Judge one model's scores, of which every second one is of the odd condition."""
    values = np.concatenate((tar, non))
    is_target = np.arange(values.size) < len(tar)
    segments = np.array([f"{number:03}" for number in range(values.size)])
    # Strided, reversed if asked for, and without leave to write.
    matrix = np.repeat(values, 2)[None, ::2][:, ::order]
    mask = is_target[None, ::order]
    for array in (matrix, mask):
        array.setflags(write=False)
    scores = Scores(matrix, ["m"], segments[::order])
    key = Key(["m"], segments[::order], mask, ~mask)
    odd = Key(["m"], segments[1::2], mask[:, ::order][:, 1::2], ~mask[:, ::order][:, 1::2])
    even = Key(["m"], segments[::2], mask[:, ::order][:, ::2], ~mask[:, ::order][:, ::2])
    conditions = Conditions({"even": even, "odd": odd}, [0.25, 0.75], lacking="ignore")
    before = matrix.copy(), mask.copy()
    if flat:
        found = judge(as_list(scores), as_list(key), conditions)
    else:
        found = judge(scores, key, conditions)
    for array, copy in zip((matrix, mask), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    return np.array(found)


@pytest.fixture(params=JUDGES, ids=str)
def judge(request: pytest.FixtureRequest) -> Metric:
    return JUDGES[request.param]


def test_judges_take_any_numbers_form_and_order(judge: Metric) -> None:
    """All scores here are exact in float32, none is a Bayes threshold's neighbour."""
    expected = judged(judge, TAR, NON)
    for kind in (np.float32, np.float16, ">f8"):
        np.testing.assert_array_equal(judged(judge, TAR.astype(kind), NON.astype(kind)), expected)
    np.testing.assert_array_equal(judged(judge, TAR, NON, flat=True), expected)
    np.testing.assert_allclose(judged(judge, TAR, NON, order=-1), expected, rtol=1e-14)
    whole = (4 * TAR).astype(np.int64), (4 * NON).astype(np.int64)
    np.testing.assert_array_equal(judged(judge, *whole), judged(judge, 4 * TAR, 4 * NON))


def test_judges_take_infinities(judge: Metric) -> None:
    found = judged(judge, np.append(TAR, [np.inf, -np.inf]), np.append(NON, [np.inf, -np.inf]))
    assert not np.isnan(found).any()


@pytest.mark.parametrize(("tar", "non", "name"), [([], NON, "tar"), (TAR, [], "non")])
def test_judges_refuse_an_empty_class(judge: Metric, tar: object, non: object, name: str) -> None:
    words = {"tar": "target", "non": "non-target"}[name]
    with pytest.raises(InvalidInputError, match=f"(`{name}`|{words}).*; got none"):
        judged(judge, tar, non)
