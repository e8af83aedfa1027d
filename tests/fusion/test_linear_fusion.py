"""Linear fusion against the toolkit, calibration, naive sums, and real systems."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from bosaris_py import errors
from bosaris_py.calibration import LinearCalibration
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.numerics.scoring import OBJECTIVES, TrainingObjective
from bosaris_py.trials import Key, Ndx, Scores, SegmentQuality
from tests.forms import evolve

ORACLE = Path(__file__).resolve().parent.parent / "reference" / "oracle"
with np.load(ORACLE / "fusion_linear.npz") as _arrays:
    RECORD = dict(_arrays)
RUNS = sorted(name.removesuffix("_nxe") for name in RECORD if name.endswith("_nxe"))
EXACT = [run for run in RUNS if f"{run}_w_exact" in RECORD]
BRIER = [run for run in RUNS if run.split("_")[1] == "brier"]


def settings(run):
    """Read systems, objective and prior from a name such as K2_cllr_p100_cstep1_zeros0."""
    systems, objective, prior = run.split("_")[:3]
    return systems, {"objective": objective, "prior": int(prior[1:]) / 1000}


def load(run):
    systems, _ = settings(run)
    labels = RECORD[f"{systems}_classf" + ("_zeros" if run.endswith("zeros1") else "")]
    train = RECORD[f"{systems}_train"]
    return train[:, labels == 1], train[:, labels == -1]


def coefficients(fusion):
    return np.append(fusion.weights, fusion.offset)


def gradient(fusion, tar, non):
    """Gradient of the plain objective with respect to weights and offset."""
    how = {"prior": fusion.prior, "objective": fusion.objective}
    training = TrainingObjective.from_scores(tar, non, **how)
    return training.evaluate(coefficients(fusion)).gradient


@pytest.mark.parametrize("run", EXACT)
def test_exact_optimum(run):
    tar, non = load(run)
    systems, chosen = settings(run)
    fusion = LinearFusion.fit(tar, non, ridge=0, **chosen)
    # Two Newton solutions of the same problem: rounding, divided by the curvature.
    np.testing.assert_allclose(coefficients(fusion), RECORD[f"{run}_w_exact"], atol=1e-12)
    assert fusion.objective_value == pytest.approx(RECORD[f"{run}_nxe_exact"], rel=1e-13)
    # The toolkit stops when it expects a decrease below 1.5e-8.
    assert fusion.objective_value == pytest.approx(RECORD[f"{run}_nxe"], abs=2e-8)
    assert fusion.objective_value <= RECORD[f"{run}_nxe"] + 1e-14
    np.testing.assert_allclose(coefficients(fusion), RECORD[f"{run}_w"], atol=2e-3)
    assert np.abs(gradient(fusion, tar, non)).max() < 1e-14
    if f"{run}_fusedtest" in RECORD:
        *weights, offset = RECORD[f"{run}_w"]
        found = LinearFusion.from_weights(weights, offset).apply(RECORD[f"{systems}_test"])
        np.testing.assert_allclose(found, RECORD[f"{run}_fusedtest"], atol=1e-13)


@pytest.mark.parametrize("run", BRIER)
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConvergenceWarning")
def test_brier_is_never_worse_than_the_toolkit(run):
    tar, non = load(run)
    fusion = LinearFusion.fit(tar, non, ridge=0, **settings(run)[1])
    assert fusion.objective_value <= RECORD[f"{run}_nxe"] + 1e-14
    # Far out the loss is flat or steep; the slope is rounded like the largest trial's.
    assert np.abs(gradient(fusion, tar, non)).max() < 1e-13


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fusion_of_one_system_is_calibration(objective):
    tar, non = load("K1_cllr_p100_cstep1_zeros0")
    fusion = LinearFusion.fit(tar, non, prior=0.1, objective=objective, ridge=0)
    calibration = LinearCalibration.fit(tar[0], non[0], prior=0.1, objective=objective, ridge=0)
    assert coefficients(fusion).tolist() == [calibration.scale, calibration.offset]
    assert fusion.objective_value == calibration.objective_value


@pytest.fixture
def systems(rng):
    """Three correlated systems, the third of no use on its own."""
    tar, non = rng.normal(size=(3, 80)), rng.normal(size=(3, 120))
    common_tar, common_non = rng.normal(size=80), rng.normal(size=120)
    strength = np.array([[1.5], [1.0], [0.0]])
    return tar + common_tar + strength, non + common_non


def test_constant_systems_get_no_weight_and_one_given_twice_shares_it(systems):
    plain = LinearFusion.fit(*systems, ridge=0)
    more = (np.vstack((x[:1], np.full(x.shape[1], 0.1), x[[1, 2, 0]])) for x in systems)
    with pytest.warns(errors.ConvergenceWarning):
        fusion = LinearFusion.fit(*more, ridge=0)
    # The shortest weights with the same sum are equal.
    expected = plain.weights[[0, 0, 1, 2, 0]] / [2, 1, 1, 1, 2] * [1, 0, 1, 1, 1]
    np.testing.assert_allclose(fusion.weights, expected, rtol=1e-11)
    assert fusion.objective_value == pytest.approx(plain.objective_value, rel=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_jointly_separable(objective, rng):
    """Neither system separates the classes, their difference does."""
    common = rng.normal(0.0, 5.0, 300)
    tar = np.vstack((common[:100] + 0.5, common[:100]))
    non = np.vstack((common[100:] - 0.5, common[100:]))
    with pytest.warns(errors.ConvergenceWarning):
        fusion = LinearFusion.fit(tar, non, objective=objective, prior=0.1, ridge=0)
    assert fusion.ridge == 0.01
    assert fusion.apply(tar).min() > fusion.apply(non).max()
    # What 100 trials can support: log-likelihood-ratios of about log(100) = 4.6.
    assert 1.0 < np.abs(fusion.apply(np.hstack((tar, non)))).max() < 14.0
    assert 0 < fusion.objective_value < 0.2
    # The systems may be mixed in any way: here sum and difference.
    mix = np.array([[1.0, 1.0], [1.0, -1.0]])
    with pytest.warns(errors.ConvergenceWarning):
        mixed = LinearFusion.fit(mix @ tar, mix @ non, objective=objective, prior=0.1, ridge=0)
    np.testing.assert_allclose(mixed.apply(mix @ tar), fusion.apply(tar), atol=1e-9)


def test_apply_to_arrays(systems, rng):
    fusion, scores = LinearFusion.fit(*systems, prior=0.1, ridge=0), rng.normal(size=(3, 4, 5))
    fused = fusion.apply(scores)
    assert fused.shape == (4, 5)
    expected = sum(w * s for w, s in zip(fusion.weights, scores, strict=True)) + fusion.offset
    np.testing.assert_allclose(fused, expected, atol=1e-14)
    np.testing.assert_array_equal(fusion.apply(scores.reshape(3, 20)), fused.ravel())
    assert fusion.apply(scores[:, 0, 0].tolist()) == fused[0, 0]
    assert fusion.apply(np.empty((3, 0))).shape == (0,)
    single = scores.astype(np.float32)
    np.testing.assert_array_equal(fusion.apply(single), fusion.apply(single.astype(float)))
    away, inf = LinearFusion.from_weights([1.0, 2.0, 0.0], 0.5), np.inf
    found = away.apply([[inf, 1.0, -inf], [0.0, inf, -inf], [-inf, inf, 0.0]])
    assert found.tolist() == [inf, inf, -inf]
    with pytest.raises(errors.InvalidInputError, match="1 of 2 trials"):
        away.apply([[1.0, inf], [1.0, -inf], [0.0, 0.0]])


@pytest.fixture
def matrices(rng):
    """Scores of two systems with different orders of models and segments, and a key."""
    models, segments = [f"m{i}" for i in range(8)], [f"s{i}" for i in range(30)]
    tar = rng.uniform(size=(8, 30)) < 0.2
    non = ~tar & (rng.uniform(size=(8, 30)) < 0.7)
    key = Key(models, segments, tar, non)
    first = Scores(rng.normal(size=(8, 30)) + 1.5 * tar, models, segments)
    other = (rng.normal(size=(8, 30)) + 1.2 * tar)[::-1, ::-1].astype(np.float32)
    return [first, Scores(other, models[::-1], segments[::-1])], key


def test_scores_and_key(matrices):
    systems, key = matrices
    fusion = LinearFusion.fit_scores(systems, key, prior=0.2, objective="boost", ridge=0)
    tar, non = (np.vstack(x) for x in zip(*(s.get_tar_non(key) for s in systems), strict=True))
    assert fusion == LinearFusion.fit(tar, non, prior=0.2, objective="boost", ridge=0)
    fused = fusion.apply(systems, key)
    assert fused.to_ndx() == key.to_ndx()
    for one, stack in zip(fused.get_tar_non(key), (tar, non), strict=True):
        np.testing.assert_allclose(one, fusion.apply(stack), atol=1e-14)
    other = Ndx(["m3", "m1"], ["s9", "s2", "s5"], [[True, False, True], [False, True, True]])
    part = fusion.apply(tuple(systems), other)
    assert part.scoremat[1, 1] == pytest.approx(fused.scoremat[1, 2], abs=1e-14)


def test_systems_in_another_order_are_warned_of(matrices):
    """A list has no names: the range of each system in training tells."""
    systems, key = matrices
    large = evolve(systems[1], scoremat=100.0 * systems[1].scoremat)
    fusion = LinearFusion.fit_scores([systems[0], large], key, ridge=0)
    used = large.get_scores(key)
    assert (fusion.low_scores[1], fusion.high_scores[1]) == (used.min(), used.max())
    with pytest.warns(errors.SuspectScoresWarning):
        fusion.apply([large, systems[0]], key)
    # Files of version 0.1 have no ranges.
    old = evolve(fusion, low_scores=None, high_scores=None)
    old.apply([large, systems[0]], key)


def test_weights_that_are_known():
    """2 * 1 + 3 - 0.5 = 4.5; as the toolkit's `wlin` and FoCal's `w` have them."""
    plain = LinearFusion.from_weights([2, 1], -0.5)
    assert plain.apply([[1.0, 0.0], [3.0, 0.0]]).tolist() == [4.5, -0.5]
    assert (plain.n_tar, plain.notes, plain.system_names) == (0, (), None)
    named = LinearFusion.from_weights(np.array([2.0, 1.0]), -0.5, ["a", "b"])
    assert named.apply({"a": [1.0], "b": [3.0]}).tolist() == [4.5]
    for wrong in (([1.0, 2.0], 0.0, ["a"]), ([np.nan], 0.0), ([], 0.0), ([1.0], "x")):
        with pytest.raises(errors.InvalidInputError):
            LinearFusion.from_weights(*wrong)


@pytest.mark.parametrize("seed", range(12))
def test_nonnegative_weights_are_the_best_of_all_subsets(seed: int) -> None:
    """The optimum is that of the subset of systems whose weights are positive, and lowest."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(4, 4))
    tar = mixing @ rng.normal(size=(4, 60)) + 0.3 * rng.normal(size=(4, 1))
    non = mixing @ rng.normal(size=(4, 90)) - 0.3 * rng.normal(size=(4, 1))
    found = LinearFusion.fit(tar, non, nonnegative=True, ridge=0)
    assert (found.weights >= 0).all()
    subsets = [list(c) for n in range(1, 5) for c in itertools.combinations(range(4), n)]
    fitted = [LinearFusion.fit(tar[chosen], non[chosen], ridge=0) for chosen in subsets]
    values = [each.objective_value for each in fitted if (each.weights >= 0).all()]
    assert found.objective_value == pytest.approx(min([1.0, *values]), rel=1e-9)


@pytest.fixture
def named(matrices):
    return dict(zip(("good", "poor"), matrices[0], strict=True)), matrices[1]


def test_names_are_kept(named, matrices, tmp_path):
    systems, key = named
    fusion, listed = (LinearFusion.fit_scores(each, key) for each in (systems, matrices[0]))
    assert (fusion.system_names, listed.system_names) == (("good", "poor"), None)
    assert evolve(fusion, system_names=None) == listed
    expected = listed.apply(matrices[0], key)
    assert fusion.apply(systems, key) == listed.apply(systems, key) == expected
    files = {name: tmp_path / f"{name}.h5" for name in (*systems, "key", "fused")}
    for name, item in {**systems, "key": key}.items():
        item.save(files[name])
    key_file, fused = files.pop("key"), files.pop("fused")
    trained = LinearFusion.fit_files(files, key_file)
    assert trained.system_names == ("good", "poor")
    trained.apply_files(files, key_file, fused)
    assert Scores.read(fused) == trained.apply(systems, key)
    with pytest.raises(errors.InvalidInputError):
        trained.apply_files(dict(reversed(files.items())), key_file, fused)


def test_another_order_a_missing_system_and_other_names(named):
    systems, key = named
    good, poor = systems.values()
    fusion = LinearFusion.fit_scores(systems, key)
    quality = SegmentQuality(key.segset, np.random.default_rng(4).normal(size=(1, 30)))
    qualities = QualityFusion.fit_scores(systems, quality, key)
    swapped = {"poor": poor, "good": good}
    others = {"good": good}, {"good": good, "other": poor}, {**systems, "third": poor}, [good]
    for wrong in (swapped, *others):
        with pytest.raises(errors.InvalidInputError):
            fusion.apply(wrong, key)
        with pytest.raises(errors.InvalidInputError):
            qualities.apply(wrong, quality, key)
    with pytest.raises(errors.InvalidInputError):
        QualityFusion.fit_scores(swapped, quality, key, linear=fusion)
