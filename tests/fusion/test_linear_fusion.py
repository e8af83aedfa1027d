"""Linear fusion against the toolkit, calibration, naive sums, and real systems."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from bosaris_py.calibration import LinearCalibration
from bosaris_py.errors import (
    ConvergenceWarning,
    ExtrapolationWarning,
    InvalidInputError,
    SeparableDataWarning,
)
from bosaris_py.evaluation import Results
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.fusion.linear_fusion import inverted_systems
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
    training = TrainingObjective.from_scores(
        tar, non, prior=fusion.prior, objective=fusion.objective
    )
    return training.evaluate(coefficients(fusion)).gradient


def test_every_run_of_the_toolkit_is_accounted_for():
    assert len(RUNS) == 63
    assert sorted([*EXACT, *BRIER]) == RUNS


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
        test = RECORD[f"{systems}_test"]
        early = coefficients(fusion) - RECORD[f"{run}_w"]
        expected = RECORD[f"{run}_fusedtest"] + early[:-1] @ test + early[-1]
        # Nothing but the toolkit's early stop tells them apart; rounding of scores up to 30.
        np.testing.assert_allclose(fusion.apply(test), expected, atol=1e-13)


@pytest.mark.parametrize("run", BRIER)
@pytest.mark.filterwarnings("ignore:.*lowest for hard decisions:UserWarning")
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


def test_weights_repeat_trials(systems):
    tar, non = systems
    times_tar, times_non = np.arange(80) % 3, np.arange(120) % 4
    weighted = LinearFusion.fit(tar, non, tar_weights=times_tar, non_weights=times_non, ridge=0)
    repeated = LinearFusion.fit(np.repeat(tar, times_tar, 1), np.repeat(non, times_non, 1), ridge=0)
    np.testing.assert_allclose(coefficients(weighted), coefficients(repeated), rtol=1e-12)
    assert (weighted.n_tar, weighted.n_non) == (53, 90)


def test_a_system_given_twice_shares_its_weight(systems):
    tar, non = systems[0][:2], systems[1][:2]
    plain = LinearFusion.fit(tar, non, ridge=0)
    with pytest.warns(ConvergenceWarning):
        doubled = LinearFusion.fit(tar[[0, 1, 0]], non[[0, 1, 0]], ridge=0)
    # The shortest weights with the same sum are equal.
    expected = plain.weights[[0, 1, 0]] / [2, 1, 2]
    np.testing.assert_allclose(doubled.weights, expected, rtol=1e-11)
    assert doubled.objective_value == pytest.approx(plain.objective_value, rel=1e-13)


def test_constant_systems_get_no_weight(systems):
    tar, non = (np.vstack((x[:1], np.full(x.shape[1], 0.1), x[1:])) for x in systems)
    with pytest.warns(ConvergenceWarning, match="scores of system 2 are equal"):
        fusion = LinearFusion.fit(tar, non, ridge=0)
    assert fusion.weights[1] == 0.0
    plain = LinearFusion.fit(*systems, ridge=0)
    np.testing.assert_allclose(fusion.weights[[0, 2, 3]], plain.weights, rtol=1e-11)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_jointly_separable(objective, rng):
    """Neither system separates the classes, their difference does."""
    common = rng.normal(0.0, 5.0, 300)
    tar = np.vstack((common[:100] + 0.5, common[:100]))
    non = np.vstack((common[100:] - 0.5, common[100:]))
    with pytest.warns(SeparableDataWarning, match=r"separable: .*ridge=0\.01"):
        fusion = LinearFusion.fit(tar, non, objective=objective, prior=0.1, ridge=0)
    assert fusion.ridge == 0.01
    assert fusion.apply(tar).min() > fusion.apply(non).max()
    # What 100 trials can support: log-likelihood-ratios of about log(100) = 4.6.
    assert 1.0 < np.abs(fusion.apply(np.hstack((tar, non)))).max() < 14.0
    assert 0 < fusion.objective_value < 0.2
    # The systems may be mixed in any way: here sum and difference.
    mix = np.array([[1.0, 1.0], [1.0, -1.0]])
    with pytest.warns(SeparableDataWarning):
        mixed = LinearFusion.fit(mix @ tar, mix @ non, objective=objective, prior=0.1, ridge=0)
    np.testing.assert_allclose(mixed.apply(mix @ tar), fusion.apply(tar), atol=1e-9)


@pytest.fixture
def fusion(systems):
    return LinearFusion.fit(*systems, prior=0.1, ridge=0)


def test_apply_to_arrays(fusion, rng):
    scores = rng.normal(size=(3, 4, 5))
    fused = fusion.apply(scores)
    assert fused.shape == (4, 5)
    expected = sum(w * s for w, s in zip(fusion.weights, scores, strict=True)) + fusion.offset
    np.testing.assert_allclose(fused, expected, atol=1e-14)
    np.testing.assert_array_equal(fusion.apply(scores.reshape(3, 20)), fused.ravel())
    assert fusion.apply(scores[:, 0, 0].tolist()) == fused[0, 0]
    assert fusion.apply(np.empty((3, 0))).shape == (0,)
    single = scores.astype(np.float32)
    np.testing.assert_array_equal(fusion.apply(single), fusion.apply(single.astype(float)))


def test_infinite_scores_when_applied(fusion):
    away = evolve(fusion, weights=[1.0, 2.0, 0.0], offset=0.5)
    inf = np.inf
    assert away.apply([[inf, 1.0, -inf], [0.0, inf, -inf], [-inf, inf, 0.0]]).tolist() == [
        inf,
        inf,
        -inf,
    ]
    with pytest.raises(InvalidInputError, match=r"for and against at 1 of 2 trials \(1\)"):
        away.apply([[1.0, inf], [1.0, -inf], [0.0, 0.0]])


@pytest.fixture
def matrices(rng):
    """Scores of two systems with different orders of models and segments, and a key."""
    models, segments = [f"m{i}" for i in range(8)], [f"s{i}" for i in range(30)]
    tar = rng.uniform(size=(8, 30)) < 0.2
    non = ~tar & (rng.uniform(size=(8, 30)) < 0.7)
    key = Key(models, segments, tar, non)
    first = Scores(rng.normal(size=(8, 30)) + 1.5 * tar, models, segments)
    second = Scores(
        (rng.normal(size=(8, 30)) + 1.2 * tar)[::-1, ::-1].astype(np.float32),
        models[::-1],
        segments[::-1],
    )
    return [first, second], key


def test_scores_and_key(matrices):
    systems, key = matrices
    fusion = LinearFusion.fit_scores(systems, key, prior=0.2, objective="boost", ridge=0)
    tar, non = (np.vstack(x) for x in zip(*(s.get_tar_non(key) for s in systems), strict=True))
    assert fusion == LinearFusion.fit(tar, non, prior=0.2, objective="boost", ridge=0)
    fused = fusion.apply(systems, key)
    assert isinstance(fused, Scores)
    assert fused.modelset.tolist() == key.modelset.tolist()
    np.testing.assert_array_equal(fused.scoremask, key.tar | key.non)
    fused_tar, fused_non = fused.get_tar_non(key)
    np.testing.assert_allclose(fused_tar, fusion.apply(tar), atol=1e-14)
    np.testing.assert_allclose(fused_non, fusion.apply(non), atol=1e-14)
    other = Ndx(["m3", "m1"], ["s9", "s2", "s5"], [[True, False, True], [False, True, True]])
    part = fusion.apply(tuple(systems), other)
    assert part.scoremat[1, 1] == pytest.approx(fused.scoremat[1, 2], abs=1e-14)


def test_systems_in_another_order_are_warned_of(matrices):
    """A list has no names: the range of each system in training tells."""
    systems, key = matrices
    large = evolve(systems[1], scoremat=100.0 * systems[1].scoremat)
    fusion = LinearFusion.fit_scores([systems[0], large], key, ridge=0)
    tar, non = large.get_tar_non(key)
    assert fusion.high_scores[1] == max(tar.max(), non.max())
    assert fusion.low_scores[1] == min(tar.min(), non.min())
    with pytest.warns(ExtrapolationWarning, match="order of the training"):
        fusion.apply([large, systems[0]], key)
    # Files of version 0.1 have no ranges.
    old = evolve(fusion, low_scores=None, high_scores=None)
    old.apply([large, systems[0]], key)


def test_weights_that_are_known(tmp_path, matrices):
    """2 * 1 + 3 - 0.5 = 4.5; as the toolkit's `wlin` and FoCal's `w` have them."""
    plain = LinearFusion.from_weights([2, 1], -0.5)
    assert plain.apply([[1.0, 0.0], [3.0, 0.0]]).tolist() == [4.5, -0.5]
    assert (plain.n_tar, plain.notes, plain.system_names) == (0, (), None)
    named = LinearFusion.from_weights(np.array([2.0, 1.0]), -0.5, ["a", "b"])
    named.save(tmp_path / "f.json")
    again = LinearFusion.read(tmp_path / "f.json")
    assert again == named
    assert again.apply({"a": [1.0], "b": [3.0]}).tolist() == [4.5]
    systems, key = matrices
    fused = again.apply(dict(zip("ab", systems, strict=True)), key)
    expected = plain.apply(systems, key)
    assert fused == expected
    for wrong in (([1.0, 2.0], 0.0, ["a"]), ([np.nan], 0.0), ([], 0.0), ([1.0], "x")):
        with pytest.raises(InvalidInputError):
            LinearFusion.from_weights(*wrong)


def read_asvspoof(folder, part):
    table = np.loadtxt(folder / f"bonafide_{part}.csv.gz", dtype=str, delimiter=",", skiprows=1)
    models, segments, labels = table[:, 0], table[:, 1], table[:, 2]
    key = Key.from_trials(models, segments, labels == "target")
    systems = [Scores.from_trials(models, segments, table[:, c].astype(float)) for c in (5, 6)]
    return systems, key


def test_real_systems(shared_data):
    """Speaker verification of ASVspoof 2019: fused, two systems beat each of them."""
    dev, dev_key = read_asvspoof(shared_data / "asvspoof2019_la", "dev")
    evaluation, eval_key = read_asvspoof(shared_data / "asvspoof2019_la", "eval")
    assert (dev_key.n_tar, dev_key.n_non) == (1484, 5768)
    assert (eval_key.n_tar, eval_key.n_non) == (5370, 33327)

    fusion = LinearFusion.fit_scores(dev, dev_key, prior=0.5, ridge=0)
    tar, non = (np.vstack(x) for x in zip(*(s.get_tar_non(dev_key) for s in dev), strict=True))
    assert np.linalg.norm(gradient(fusion, tar, non)) < 1e-12
    fused = Results.from_scores(fusion.apply(evaluation, eval_key.to_ndx()), eval_key)
    for system, dev_scores in enumerate(dev):
        calibration = LinearCalibration.fit_scores(dev_scores, dev_key, prior=0.5, ridge=0)
        alone = LinearFusion.fit(tar[[system]], non[[system]], ridge=0)
        assert np.linalg.norm(gradient(alone, tar[[system]], non[[system]])) < 1e-12
        assert calibration.scale == pytest.approx(alone.weights[0], rel=1e-12)
        single = Results.from_scores(calibration.apply(evaluation[system]), eval_key)
        assert fused.cllr < single.cllr
        assert fused.min_dcf(0.01) < single.min_dcf(0.01)
        assert fused.eer < single.eer


@pytest.mark.parametrize("seed", range(12))
def test_nonnegative_weights_are_the_best_of_all_subsets(seed: int) -> None:
    """The optimum is that of the subset of systems whose weights are positive, and lowest."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(4, 4))
    tar = mixing @ rng.normal(size=(4, 60)) + 0.3 * rng.normal(size=(4, 1))
    non = mixing @ rng.normal(size=(4, 90)) - 0.3 * rng.normal(size=(4, 1))
    found = LinearFusion.fit(tar, non, nonnegative=True, ridge=0)
    assert (found.weights >= 0).all()
    values = [1.0]
    for size in range(1, 5):
        for chosen in itertools.combinations(range(4), size):
            some = LinearFusion.fit(tar[list(chosen)], non[list(chosen)], ridge=0)
            if (some.weights >= 0).all():
                values.append(some.objective_value)
    assert found.objective_value == pytest.approx(min(values), rel=1e-9)


def test_systems_that_are_inverted() -> None:
    """Of more than 30 trials of a class, and by more than 0.9 deviations."""
    assert inverted_systems(np.array([-0.8, 2.0]), 100) == []
    (note,) = inverted_systems(np.array([-1.0, 2.0, -3.0]), 31)
    assert "1 and 3" in note.text
    assert inverted_systems(np.array([-1.0]), 30) == []


class TestNames:
    """Systems by name: kept, checked, and put into the order of the training."""

    IDS = tuple(f"s{i}" for i in range(20))
    SAME = np.eye(20, dtype=bool)
    KEY = Key(IDS, IDS, SAME, ~SAME)

    @pytest.fixture
    def systems(self) -> dict[str, Scores]:
        rng = np.random.default_rng(3)
        return {
            name: Scores(self.SAME + spread * rng.normal(size=(20, 20)), self.IDS, self.IDS)
            for name, spread in (("good", 1.0), ("poor", 1.1))
        }

    def test_of_scores(self, systems: dict[str, Scores]) -> None:
        fusion = LinearFusion.fit_scores(systems, self.KEY, ridge=0)
        assert fusion.system_names == ("good", "poor")
        listed = LinearFusion.fit_scores(list(systems.values()), self.KEY, ridge=0)
        assert listed.system_names is None
        assert evolve(fusion, system_names=None) == listed
        expected = listed.apply(list(systems.values()), self.KEY)
        assert fusion.apply(systems, self.KEY) == listed.apply(systems, self.KEY) == expected
        arrays = {name: system.scoremat for name, system in systems.items()}
        assert np.array_equal(fusion.apply(arrays), expected.scoremat)

    def test_another_order_a_missing_system_and_other_names(self, systems, tmp_path):
        good, poor = systems.values()
        fusion = LinearFusion.fit_scores(systems, self.KEY, ridge=0)
        quality = SegmentQuality(self.IDS, np.random.default_rng(4).normal(size=(1, 20)))
        qualities = QualityFusion.fit_scores(systems, quality, self.KEY, ridge=0)
        for wrong in (
            {"poor": poor, "good": good},
            {"good": good},
            {"good": good, "other": poor},
            {**systems, "third": poor},
            [good],
        ):
            with pytest.raises(InvalidInputError):
                fusion.apply(wrong, self.KEY)
            with pytest.raises(InvalidInputError):
                qualities.apply(wrong, quality, self.KEY)
        with pytest.raises(InvalidInputError):
            QualityFusion.fit_scores(
                {"poor": poor, "good": good}, quality, self.KEY, linear=fusion, ridge=0
            )

    def test_of_files(self, systems: dict[str, Scores], tmp_path: Path) -> None:
        files = {name: tmp_path / f"{name}.h5" for name in systems}
        for name, system in systems.items():
            system.save(files[name])
        key, fused = tmp_path / "key.h5", tmp_path / "fused.h5"
        self.KEY.save(key)
        fusion = LinearFusion.fit_files(files, key, ridge=0)
        assert fusion.system_names == ("good", "poor")
        fusion.apply_files(files, key, fused)
        assert Scores.read(fused) == fusion.apply(systems, self.KEY)
        with pytest.raises(InvalidInputError):
            fusion.apply_files(dict(reversed(files.items())), key, fused)
