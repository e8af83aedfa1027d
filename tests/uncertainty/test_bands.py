"""Bands: curves by hand, against the plots' own numbers, and pointwise against plain loops."""

import numpy as np
import pytest
from scipy.stats import norm

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.curves import ECECurve
from bosaris_py.numerics import sigmoid
from tests.uncertainty.samples import square

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
KINDS = ("det", "bayes", "tippett", "ece")
PLO = np.array([-2.0, 0.0, 1.5])
X = {"det": np.array([0.01, 0.1, 0.5]), "bayes": PLO, "tippett": PLO, "ece": PLO}


def simulated(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(2, 2, 60), 1), np.round(rng.normal(-2, 2, 200), 1)


TAR, NON = simulated()


def curve(kind: str, tar: np.ndarray, non: np.ndarray) -> np.ndarray:
    """Compute a curve by other means."""
    results, x = bp.Results(tar, non), X[kind]
    if kind == "det":
        limits = np.append(np.unique(tar), np.inf)
        rates = [(np.mean(tar < t), np.mean(non >= t)) for t in limits]
        return np.array([min(miss for miss, fa in rates if fa <= most) for most in x])
    if kind == "bayes":
        return np.array([results.act_dcf(p, normalize=True) for p in sigmoid(x)])
    if kind == "tippett":
        return np.array([[np.mean(one >= t) for t in x] for one in (tar, non)])
    return ECECurve.from_sample(results.sample, x).ece


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_ends_are_those_of_a_plain_loop(kind: str) -> None:
    band = unc.bootstrap_bands((TAR, NON), kind=kind, x=X[kind], replications=1000, rng=1)
    assert band.value == pytest.approx(curve(kind, TAR, NON), rel=1e-12)
    assert f"3 points from {X[kind][0]:.3g} to {X[kind][-1]:.3g}" in repr(band)
    assert not any(x.flags.writeable for x in (band.x, band.value, band.low, band.high))
    rng = np.random.default_rng(2)
    loop = [curve(kind, rng.choice(TAR, TAR.size), rng.choice(NON, NON.size)) for _ in range(250)]
    low, high = unc.quantile(np.array(loop), [0.025, 0.975])
    spread = np.std(loop, axis=0).max()
    assert np.abs(band.low - low).max() < 0.5 * spread
    assert np.abs(band.high - high).max() < 0.5 * spread


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["speaker", "one-layer", "two-layer", "iid"])
def test_bands_of_a_key(kind: str, method: str) -> None:
    scores, key = square(3, 12)
    how = {"method": method, "speakers": str if method == "speaker" else None}
    band = unc.bootstrap_bands(scores, key, kind=kind, x=X[kind], **how, replications=50, rng=1)
    assert band.value == pytest.approx(curve(kind, *scores.get_tar_non(key)), rel=1e-12)
    assert (band.low <= band.high).all()
    assert (band.low < band.high).any()
    assert band.method == method


def test_the_default_points_are_those_of_the_plots() -> None:
    # Miss rates of -4.5 to 2.5 deviates, log-odds of ten nats, six decades, two and a half.
    ends = {"det": (norm.cdf(-4.5), norm.cdf(2.5)), "bayes": (-10, 10)}
    ends |= {"tippett": np.log([1e-6, 1e6]), "ece": np.log(10) * np.array([-2.5, 2.5])}
    for kind in KINDS:
        band = unc.bootstrap_bands((TAR, NON), kind=kind, replications=3, rng=1)
        assert band.x[[0, -1]] == pytest.approx(ends[kind])
        # Equally spaced on the plot. A DET curve falls, and so do shares at or above.
        steps = np.diff(norm.ppf(band.x) if kind == "det" else band.x)
        assert steps == pytest.approx(steps[0])
        assert kind in ("bayes", "ece") or (np.diff(band.low) <= 0).all()


@pytest.mark.parametrize(
    ("kind", "x"),
    [
        ("det", [0.1, 1.1]), ("det", [0.2, 0.1]), ("bayes", [0.0, 701.0]), ("ece", []),
        ("tippett", [0.0, np.nan]), ("roc", None),
    ],
)  # fmt: skip
def test_bad_points(kind: str, x: object) -> None:
    with pytest.raises(InvalidInputError):
        unc.bootstrap_bands((TAR, NON), kind=kind, x=x)


def test_lists_have_no_speakers() -> None:
    with pytest.raises(InvalidInputError):
        unc.bootstrap_bands((TAR, NON), method="speaker")
    plain = unc.bootstrap_bands((TAR, NON), replications=3, rng=1)
    assert (plain.method, plain.kind, plain.confidence) == ("iid", "det", 0.95)
    key = bp.Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    with pytest.raises(InvalidInputError):
        unc.bootstrap_bands((TAR, NON), key, method="iid")
