"""Linear fusion against the toolkit, calibration, naive sums, and real systems."""

import copy
import itertools
import json
import pickle
import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from bosaris_py.calibration import LinearCalibration, cross_fit
from bosaris_py.errors import (
    ConvergenceWarning,
    ExtrapolationWarning,
    FileFormatError,
    InvalidInputError,
    SeparableDataWarning,
    TrialMismatchError,
)
from bosaris_py.evaluation import Results
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.numerics.objective import TrainingObjective, evaluate_objective
from bosaris_py.numerics.scoring import OBJECTIVES
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
    fusion = LinearFusion.fit(tar, non, **chosen)
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
    fusion = LinearFusion.fit(tar, non, **settings(run)[1])
    assert fusion.objective_value <= RECORD[f"{run}_nxe"] + 1e-14
    # Far out the loss is flat or steep; the slope is rounded like the largest trial's.
    assert np.abs(gradient(fusion, tar, non)).max() < 1e-13


@pytest.mark.parametrize("run", RUNS)
def test_applying_and_judging_the_weights_of_the_toolkit(run):
    systems, chosen = settings(run)
    tar, non = load(run)
    toolkit = LinearFusion(
        weights=RECORD[f"{run}_w"][:-1],
        offset=RECORD[f"{run}_w"][-1],
        objective_value=RECORD[f"{run}_nxe"],
        ridge=0.0,
        n_tar=tar.shape[1],
        n_non=non.shape[1],
        **chosen,
    )
    value = evaluate_objective(toolkit.apply(tar), toolkit.apply(non), **chosen)
    assert value == pytest.approx(RECORD[f"{run}_nxe"], rel=1e-12)
    if f"{run}_fusedtest" in RECORD:
        fused = toolkit.apply(RECORD[f"{systems}_test"])
        # Scores and offsets of up to 1e5 that nearly cancel.
        np.testing.assert_allclose(fused, RECORD[f"{run}_fusedtest"], rtol=1e-12, atol=1e-9)


def test_hard_decisions_are_pointed_out():
    with pytest.warns(ConvergenceWarning, match="objective 'brier' is lowest for hard"):
        LinearFusion.fit(*load("K1_brier_p10_cstep1_zeros0"), prior=0.01, objective="brier")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fusion_of_one_system_is_calibration(objective):
    tar, non = load("K1_cllr_p100_cstep1_zeros0")
    fusion = LinearFusion.fit(tar, non, prior=0.1, objective=objective)
    calibration = LinearCalibration.fit(tar[0], non[0], prior=0.1, objective=objective)
    assert coefficients(fusion).tolist() == [calibration.scale, calibration.offset]
    assert fusion.objective_value == calibration.objective_value


@pytest.fixture
def systems(rng):
    """Three correlated systems, the third of no use on its own."""
    tar, non = rng.normal(size=(3, 80)), rng.normal(size=(3, 120))
    common_tar, common_non = rng.normal(size=80), rng.normal(size=120)
    strength = np.array([[1.5], [1.0], [0.0]])
    return tar + common_tar + strength, non + common_non


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_units_of_each_system_do_not_matter(objective, systems):
    tar, non = systems
    factor, shift = np.array([[1e6], [-1e-6], [3.0]]), np.array([[0.0], [10.0], [-200.0]])
    plain = LinearFusion.fit(tar, non, objective=objective)
    changed = LinearFusion.fit(factor * (tar + shift), factor * (non + shift), objective=objective)
    # A shift by 200 costs two digits of the scores.
    np.testing.assert_allclose(changed.apply(factor * (tar + shift)), plain.apply(tar), atol=1e-11)
    assert changed.objective_value == pytest.approx(plain.objective_value, rel=1e-13)


def test_order_of_systems_and_trials_does_not_matter(systems, rng):
    tar, non = systems
    plain = LinearFusion.fit(tar, non, prior=0.1)
    mixed = LinearFusion.fit(
        tar[::-1, rng.permutation(80)], non[::-1, rng.permutation(120)], prior=0.1
    )
    np.testing.assert_allclose(mixed.weights[::-1], plain.weights, rtol=1e-12)
    assert mixed.offset == pytest.approx(plain.offset, rel=1e-12)


def test_weights_repeat_trials(systems):
    tar, non = systems
    times_tar, times_non = np.arange(80) % 3, np.arange(120) % 4
    weighted = LinearFusion.fit(tar, non, tar_weights=times_tar, non_weights=times_non)
    repeated = LinearFusion.fit(np.repeat(tar, times_tar, 1), np.repeat(non, times_non, 1))
    np.testing.assert_allclose(coefficients(weighted), coefficients(repeated), rtol=1e-12)
    assert (weighted.n_tar, weighted.n_non) == (53, 90)


@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only", "float32", "int"])
def test_any_layout_gives_the_same(layout, rng):
    tar = rng.integers(-3, 9, (2, 60)).astype(float)
    non = rng.integers(-9, 4, (2, 90)).astype(float)
    change = {
        "fortran": np.asfortranarray,
        "strided": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
        "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
        "float32": lambda x: x.astype(np.float32),
        "int": lambda x: x.astype(np.int8),
    }[layout]
    found, plain = LinearFusion.fit(change(tar), change(non)), LinearFusion.fit(tar, non)
    # Products of single precision and of other layouts are rounded alike but for the last bits.
    np.testing.assert_allclose(found.weights, plain.weights, rtol=1e-13)
    assert found.offset == pytest.approx(plain.offset, rel=1e-13)


def test_input_is_not_modified(systems):
    copies = [array.copy() for array in systems]
    LinearFusion.fit(*systems).apply(systems[0])
    for array, before in zip(systems, copies, strict=True):
        np.testing.assert_array_equal(array, before)


def test_ridge_shrinks_standardised_weights(systems):
    tar, non = systems
    centre = (tar.mean(axis=1) + non.mean(axis=1)) / 2
    moments = [np.mean((x - centre[:, np.newaxis]) ** 2, axis=1) for x in (tar, non)]
    variance = (moments[0] + moments[1]) / 2
    lengths = []
    for ridge in (0.0, 0.1, 10.0):
        fusion = LinearFusion.fit(tar, non, ridge=ridge)
        penalty = np.append(ridge * fusion.weights * variance, 0.0)
        assert np.abs(gradient(fusion, tar, non) + penalty).max() < 1e-13
        lengths.append(np.sum(fusion.weights**2 * variance))
    assert lengths == sorted(lengths, reverse=True)


def test_a_system_given_twice_shares_its_weight(systems):
    tar, non = systems[0][:2], systems[1][:2]
    plain = LinearFusion.fit(tar, non)
    with pytest.warns(ConvergenceWarning, match="3 systems vary in only 2 directions"):
        doubled = LinearFusion.fit(tar[[0, 1, 0]], non[[0, 1, 0]])
    # The shortest weights with the same sum are equal.
    expected = plain.weights[[0, 1, 0]] / [2, 1, 2]
    np.testing.assert_allclose(doubled.weights, expected, rtol=1e-11)
    assert doubled.objective_value == pytest.approx(plain.objective_value, rel=1e-13)


def test_a_sum_of_systems_adds_nothing(systems):
    tar, non = systems[0][:2], systems[1][:2]
    with pytest.warns(ConvergenceWarning, match="only 2 directions"):
        fusion = LinearFusion.fit(np.vstack((tar, tar.sum(0))), np.vstack((non, non.sum(0))))
    plain = LinearFusion.fit(tar, non)
    np.testing.assert_allclose(
        fusion.apply(np.vstack((tar, tar.sum(0)))), plain.apply(tar), atol=1e-11
    )


def test_constant_systems_get_no_weight(systems):
    tar, non = (np.vstack((x[:1], np.full(x.shape[1], 0.1), x[1:])) for x in systems)
    with pytest.warns(ConvergenceWarning, match="scores of system 2 are equal"):
        fusion = LinearFusion.fit(tar, non)
    assert fusion.weights[1] == 0.0
    plain = LinearFusion.fit(*systems)
    np.testing.assert_allclose(fusion.weights[[0, 2, 3]], plain.weights, rtol=1e-11)


def test_all_systems_constant():
    with pytest.warns(ConvergenceWarning, match="scores of system 1, 2 are equal"):
        fusion = LinearFusion.fit(np.ones((2, 5)), np.ones((2, 9)), prior=0.01)
    assert coefficients(fusion).tolist() == [0.0, 0.0, 0.0]
    assert fusion.objective_value == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_jointly_separable(objective, rng):
    """Neither system separates the classes, their difference does."""
    common = rng.normal(0.0, 5.0, 300)
    tar = np.vstack((common[:100] + 0.5, common[:100]))
    non = np.vstack((common[100:] - 0.5, common[100:]))
    with pytest.warns(SeparableDataWarning, match=r"separable: .*ridge=0\.01"):
        fusion = LinearFusion.fit(tar, non, objective=objective, prior=0.1)
    assert fusion.ridge == 0.01
    assert fusion.apply(tar).min() > fusion.apply(non).max()
    # What 100 trials can support: log-likelihood-ratios of about log(100) = 4.6.
    assert 1.0 < np.abs(fusion.apply(np.hstack((tar, non)))).max() < 14.0
    assert 0 < fusion.objective_value < 0.2
    # The systems may be mixed in any way: here sum and difference.
    mix = np.array([[1.0, 1.0], [1.0, -1.0]])
    with pytest.warns(SeparableDataWarning):
        mixed = LinearFusion.fit(mix @ tar, mix @ non, objective=objective, prior=0.1)
    np.testing.assert_allclose(mixed.apply(mix @ tar), fusion.apply(tar), atol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n_lucky", [1, 2])
def test_partly_separable(objective, n_lucky, systems):
    """Features that only a few targets have: their weights would grow for ever."""
    tar, non = systems
    lucky_tar, lucky_non = np.zeros((n_lucky, 80)), np.zeros((n_lucky, 120))
    for feature in range(n_lucky):
        lucky_tar[feature, 3 * feature : 3 * feature + 2] = 1.0
    with pytest.warns(SeparableDataWarning, match="no target scores below a non-target"):
        fusion = LinearFusion.fit(
            np.vstack((tar, lucky_tar)), np.vstack((non, lucky_non)), objective=objective
        )
    assert fusion.ridge == 1 / 80
    assert np.all(fusion.weights[3:] > 0)
    assert np.all(fusion.weights < 50)


def test_nearly_separable_has_an_optimum(rng):
    """One target on the wrong side of every direction: between two non-targets."""
    tar, non = rng.uniform(1, 2, (2, 50)), rng.uniform(-2, -1, (2, 70))
    tar = np.column_stack((tar, [-1.5, -1.5]))
    non = np.column_stack((non, [-1.4, -1.6], [-1.6, -1.4], [-1.45, -1.45]))
    fusion = LinearFusion.fit(tar, non)
    assert fusion.ridge == 0.0
    assert np.abs(gradient(fusion, tar, non)).max() < 1e-13


BAD = np.array([[1.0, 2.0, 0.0], [np.nan, np.inf, np.nan]])
GOOD = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"tar": BAD},
            r"A linear map .* 2 of 3 scores of `tar` of system 2 are NaN \(at positions 0, 2\)",
        ),
        ({"tar": BAD}, r"1 of 3 scores of `tar` of system 2 are infinite \(at positions 1\)"),
        ({"non": GOOD[:1]}, "`non` .* each of the 2 systems in `tar`.* got 1 row"),
        ({"tar": GOOD[0]}, "`tar` .* one dimension.*use LinearCalibration"),
        ({"tar": np.ones((2, 0))}, "`tar` .* at least one score"),
        ({"non": np.ones((2, 0))}, "`non` .* at least one score"),
        ({"tar": np.ones((0, 3)), "non": np.ones((0, 3))}, "`tar` .* at least one system"),
        ({"tar": []}, "`tar`"),
        ({"prior": 1.5}, "`prior` .* strictly between 0 and 1"),
        ({"objective": "mse"}, "`objective` .* 'cllr', 'brier', 'boost'"),
        ({"ridge": -0.1}, "`ridge` .* not negative"),
        ({"tar_weights": [1.0]}, "`tar_weights` .* each of the 3 scores"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        LinearFusion.fit(**{"tar": GOOD, "non": -GOOD, **arguments})


@pytest.fixture
def fusion(systems):
    return LinearFusion.fit(*systems, prior=0.1)


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


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones((2, 5)), "`x` must hold the scores of 3 systems.* got 2"),
        (1.0, "scores of 3 systems.* got 0"),
        ([[0.0], [np.nan], [1.0]], "`x, system 2,` .* NaN at 1 of 1"),
    ],
)
def test_bad_arrays(fusion, x, message):
    with pytest.raises(InvalidInputError, match=message):
        fusion.apply(x)


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
    fusion = LinearFusion.fit_scores(systems, key, prior=0.2, objective="boost")
    tar, non = (np.vstack(x) for x in zip(*(s.get_tar_non(key) for s in systems), strict=True))
    assert fusion == LinearFusion.fit(tar, non, prior=0.2, objective="boost")
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


def test_missing_scores_are_refused_with_counts(matrices):
    systems, key = matrices
    fusion = LinearFusion.fit_scores(systems, key)
    mask = np.ones((8, 30), dtype=bool)
    mask[2] = False
    lacking = evolve(systems[0], scoremask=mask)
    n_tar, n_non = np.count_nonzero(key.tar[2]), np.count_nonzero(key.non[2])
    message = re.escape(
        f"system 2 lacks {n_tar} of {key.n_tar} targets and {n_non} of {key.n_non} non"
    )
    with pytest.raises(TrialMismatchError, match=message):
        LinearFusion.fit_scores([systems[1], lacking], key)
    with pytest.raises(TrialMismatchError, match=f"system 1 lacks {n_tar + n_non} of "):
        fusion.apply([lacking, systems[1]], key.to_ndx())


def test_systems_in_another_order_are_warned_of(tmp_path, matrices):
    """The range of each system is kept beside the parameters, where version 0.1 overlooks it."""
    systems, key = matrices
    large = evolve(systems[1], scoremat=100.0 * systems[1].scoremat)
    fusion = LinearFusion.fit_scores([systems[0], large], key)
    tar, non = large.get_tar_non(key)
    assert fusion.high_scores[1] == max(tar.max(), non.max())
    assert fusion.low_scores[1] == min(tar.min(), non.min())
    named = evolve(fusion, system_names=("small", "large"))
    named.save(tmp_path / "f.json")
    saved = json.loads((tmp_path / "f.json").read_text())
    assert set(saved["training_scores"]) == {"low_scores", "high_scores", "system_names"}
    assert not {"low_scores", "system_names"} & set(saved["parameters"])
    assert LinearFusion.read(tmp_path / "f.json") == named
    right = {"small": systems[0], "large": large}
    named.apply(right.values(), key)
    message = r"System 1: .* far outside .* order of the training \(small, large\)\?"
    with pytest.warns(ExtrapolationWarning, match=message):
        named.apply([large, systems[0]], key)
    # Files of version 0.1 have no ranges.
    del saved["training_scores"]
    (tmp_path / "old.json").write_text(json.dumps(saved))
    old = LinearFusion.read(tmp_path / "old.json")
    assert old.low_scores is None
    np.testing.assert_array_equal(
        old.apply([large, systems[0]], key).scoremat != 0.0, key.tar | key.non
    )
    with pytest.raises(InvalidInputError, match="`low_scores` must hold 2 values"):
        evolve(fusion, low_scores=[1.0])


def test_bad_lists_of_scores(matrices):
    systems, key = matrices
    fusion = LinearFusion.fit_scores(systems, key)
    for x, ndx, message in [
        (systems[:1], key, "hold the scores of 2 systems"),
        (systems, None, "`ndx` must be given with Scores"),
        (systems[0], key, "hold the scores of 2 systems"),
        ([systems[0], 3.0], key, "hold Scores only"),
        (np.ones((2, 3)), key, "`ndx` must be given with Scores only; got it with an array"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            fusion.apply(x, ndx)
    with pytest.raises(InvalidInputError, match="at least one Scores"):
        LinearFusion.fit_scores([], key)
    with pytest.raises(InvalidInputError, match="must hold Scores only; got Key: "):
        LinearFusion.fit_scores(key, key)
    with pytest.raises(InvalidInputError, match=r"`key` must be a Key"):
        LinearFusion.fit_scores(systems, key.to_ndx())


def test_saved_and_read_again_it_is_the_same(fusion, tmp_path):
    path = tmp_path / "fusion.json"
    fusion.save(path)
    again = LinearFusion.read(path)
    assert again == fusion
    assert not again.weights.flags.writeable
    assert json.loads(path.read_text())["parameters"]["weights"] == fusion.weights.tolist()
    with pytest.raises(FileFormatError, match=r"fusion\.json"):
        LinearCalibration.read(path)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_are_equal_and_read_only(copied, fusion):
    assert copied(fusion) == fusion
    assert not copied(fusion).weights.flags.writeable


def test_damaged_files_are_refused(fusion, tmp_path):
    path = tmp_path / "fusion.json"
    fusion.save(path)
    text = path.read_text()
    for old, new in [
        ('"offset"', '"ofset"'),
        ('"weights": [', '"weights": ["a",'),
        ('"n_tar": 80', '"n_tar": -1'),
        ('"cllr"', '"mse"'),
    ]:
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(
            FileFormatError, match=r"fusion\.json: damaged parameters of a LinearFusion"
        ):
            LinearFusion.read(path)


def test_equality_looks_at_every_weight(fusion):
    other = evolve(fusion, weights=np.nextafter(fusion.weights, [9.0, 0.0, -9.0]))
    assert other != fusion
    assert evolve(fusion) == fusion


def test_cannot_be_changed(fusion):
    with pytest.raises(ValueError, match="read-only"):
        fusion.weights[0] = 1.0
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        fusion.offset = 1.0


@pytest.mark.parametrize("weights", [[], [1.0, np.nan], [np.inf], [[1.0, 2.0]]])
def test_bad_weights(fusion, weights):
    with pytest.raises(InvalidInputError, match="`weights`"):
        evolve(fusion, weights=weights)


def test_looks(fusion):
    first, second, third = (f"{weight:.4g}" for weight in fusion.weights)
    assert repr(fusion) == (
        f"LinearFusion: weights [{first}, {second}, {third}], offset {fusion.offset:.4g}, "
        f"cllr {fusion.objective_value:.4g} at prior 0.1, 80 targets, 120 non-targets"
    )


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

    fusion = LinearFusion.fit_scores(dev, dev_key, prior=0.5)
    tar, non = (np.vstack(x) for x in zip(*(s.get_tar_non(dev_key) for s in dev), strict=True))
    assert np.linalg.norm(gradient(fusion, tar, non)) < 1e-12
    fused = Results.from_scores(fusion.apply(evaluation, eval_key.to_ndx()), eval_key)
    for system, dev_scores in enumerate(dev):
        calibration = LinearCalibration.fit_scores(dev_scores, dev_key, prior=0.5)
        alone = LinearFusion.fit(tar[[system]], non[[system]])
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
    found = LinearFusion.fit(tar, non, nonnegative=True)
    assert (found.weights >= 0).all()
    values = [1.0]
    for size in range(1, 5):
        for chosen in itertools.combinations(range(4), size):
            some = LinearFusion.fit(tar[list(chosen)], non[list(chosen)])
            if (some.weights >= 0).all():
                values.append(some.objective_value)
    assert found.objective_value == pytest.approx(min(values), rel=1e-9)


@pytest.mark.parametrize("ridge", ["weak", 0.02])
@pytest.mark.parametrize("seed", range(12))
def test_nonnegative_weights_with_a_penalty_do_not_depend_on_where_zero_lies(
    seed: int, ridge: Any
) -> None:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=60)
    tar = common[:20] + 0.5 * rng.normal(size=(3, 20)) + np.array([1.2, 1.0, 0.4])[:, None]
    non = common[20:] + 0.5 * rng.normal(size=(3, 40))
    shift = np.array([[-30.0], [300.0], [30.0]])
    how: dict[str, Any] = {"prior": 0.1, "ridge": ridge, "nonnegative": True}
    found, moved = (LinearFusion.fit(tar + x, non + x, **how) for x in (0.0 * shift, shift))
    assert moved.weights == pytest.approx(found.weights, rel=1e-6, abs=1e-9)
    assert moved.offset == pytest.approx(
        found.offset - float(found.weights @ shift[:, 0]), rel=1e-6
    )
    # The optimum of the systems that are left.
    kept = found.weights > 0
    alone = LinearFusion.fit(tar[kept], non[kept], prior=0.1, ridge=ridge)
    assert found.weights[kept] == pytest.approx(alone.weights, rel=1e-12)


def test_nonnegative_weights_of_useless_systems_are_zero() -> None:
    tar, non = np.array([[0.0, -1.0, 2.0]]), np.array([[1.0, 3.0, 1.5]])
    found = LinearFusion.fit(tar, non, nonnegative=True)
    assert (found.weights.tolist(), found.offset, found.objective_value) == ([0.0], 0.0, 1.0)
    alone, plain = LinearFusion.fit(-tar, -non, nonnegative=True), LinearFusion.fit(-tar, -non)
    assert (alone.weights.tolist(), alone.offset) == (plain.weights.tolist(), plain.offset)


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
        fusion = LinearFusion.fit_scores(systems, self.KEY)
        assert fusion.system_names == ("good", "poor")
        listed = LinearFusion.fit_scores(list(systems.values()), self.KEY)
        assert listed.system_names is None
        assert evolve(fusion, system_names=None) == listed
        expected = listed.apply(list(systems.values()), self.KEY)
        swapped = dict(reversed(systems.items()))
        assert list(swapped) == ["poor", "good"]
        assert fusion.apply(swapped, self.KEY) == fusion.apply(systems, self.KEY) == expected
        arrays = {name: system.scoremat for name, system in swapped.items()}
        assert np.array_equal(fusion.apply(arrays), expected.scoremat)
        assert listed.apply(systems, self.KEY) == expected
        renamed = {"good": systems["good"], "other": systems["poor"]}
        message = r"`x` must have the systems of the training \(good, poor\); got good, other"
        with pytest.raises(InvalidInputError, match=message):
            fusion.apply(renamed, self.KEY)
        with pytest.raises(InvalidInputError, match="`x` must have the systems of the training"):
            fusion.apply({"good": systems["good"]}, self.KEY)
        message = r"`x` must hold the scores of 2 systems, as in training \(good, poor\); got 1\."
        with pytest.raises(InvalidInputError, match=message):
            fusion.apply([systems["good"]], self.KEY)

    def test_of_files(self, systems: dict[str, Scores], tmp_path: Path) -> None:
        files = {name: tmp_path / f"{name}.h5" for name in systems}
        for name, system in systems.items():
            system.save(files[name])
        key, fused = tmp_path / "key.h5", tmp_path / "fused.h5"
        self.KEY.save(key)
        fusion = LinearFusion.fit_files(files, key)
        assert fusion.system_names == ("good", "poor")
        fusion.save(tmp_path / "fusion.json")
        again = LinearFusion.read(tmp_path / "fusion.json")
        again.apply_files(dict(reversed(files.items())), key, fused)
        assert Scores.read(fused) == fusion.apply(systems, self.KEY)
        with pytest.raises(InvalidInputError, match="`score_files` must have the systems of the"):
            again.apply_files({"good": files["good"], "x": files["poor"]}, key, fused)

    def test_of_cross_fitting(self, systems: dict[str, Scores]) -> None:
        found = cross_fit(LinearFusion, systems, self.KEY, rng=1)
        assert found.final.system_names == ("good", "poor")
        listed = cross_fit(LinearFusion, list(systems.values()), self.KEY, rng=1)
        assert found.scores == listed.scores

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
    def test_with_qualities(self, systems: dict[str, Scores]) -> None:
        quality = SegmentQuality(self.IDS, np.random.default_rng(4).normal(size=(1, 20)))
        fusion = QualityFusion.fit_scores(systems, quality, self.KEY)
        assert fusion.linear.system_names == ("good", "poor")
        swapped = dict(reversed(systems.items()))
        expected = fusion.apply(list(systems.values()), quality, self.KEY)
        assert fusion.apply(swapped, quality, self.KEY) == expected
        crossed = cross_fit(QualityFusion, systems, self.KEY, qualities=quality, folds=3, rng=1)
        assert crossed.final.linear.system_names == ("good", "poor")
        again = QualityFusion.fit_scores(swapped, quality, self.KEY, linear=fusion.linear)
        assert again == fusion

    def test_missing_scores_are_told_by_name(self, systems: dict[str, Scores]) -> None:
        fewer = systems["poor"].filter(["s0"], [], keep=False)
        with pytest.raises(TrialMismatchError, match="system poor lacks"):
            LinearFusion.fit_scores({**systems, "poor": fewer}, self.KEY)
