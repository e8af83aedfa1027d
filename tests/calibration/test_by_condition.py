"""Tests of lines by condition, drawn towards the line of all trials."""

import numpy as np
import pytest

from bosaris_py.calibration import ConditionCalibration, LinearCalibration
from bosaris_py.errors import ConditionWarning, InvalidInputError
from bosaris_py.fusion import read_model
from bosaris_py.numerics import cllr
from bosaris_py.trials import Conditions, Key
from tests.crossed_trials import in_conditions

SCORES, KEY, CONDITIONS = in_conditions(1)


def assert_like(line, other):
    np.testing.assert_allclose([line.scale, line.offset], [other.scale, other.offset], rtol=1e-9)


def test_without_strength_lines_are_separate_and_with_much_of_it_the_same():
    apart = ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[0.0], ridge=0.01)
    one = ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[1e15])
    pooled = LinearCalibration.fit_scores(SCORES, KEY)
    for name in CONDITIONS.names:
        own = CONDITIONS.select(KEY, name)
        classes = SCORES.get_tar_non(own)
        # The ridge is in units of the deviation of all trials, of which these are some.
        plain = ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[0.0])
        assert_like(plain.lines[name], LinearCalibration.fit(*classes))
        assert apart.lines[name].ridge == 0.01
        assert_like(one.lines[name], pooled)
    assert one.pooled == pooled


def test_a_line_minimises_both_objectives_in_the_shares_of_the_notes():
    """Trials of weight 2 count like two: with whole weights the same is trained on copies."""
    found = ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[30.0])
    own = CONDITIONS.select(KEY, "c2")
    parts, weights = [], []
    # 10 targets are in each condition; 30 / (10 + 30) of the weight is that of all trials.
    for every, some in zip(SCORES.get_tar_non(KEY), SCORES.get_tar_non(own), strict=True):
        parts.append(np.concatenate((every, some)))
        weights.append(np.repeat([0.75 / every.size, 0.25 / some.size], [every.size, some.size]))
    expected = LinearCalibration.fit(*parts, tar_weights=weights[0], non_weights=weights[1])
    assert_like(found.lines["c2"], expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize(("shift", "loss"), [(0.0, 1.02), (1.5, 1.15)])
def test_the_chosen_strength_is_about_as_good_as_the_better_of_both_ways(shift, loss):
    """Folds leave six or so of the ten targets of a condition, and call for more strength."""
    new, new_key, new_conditions = in_conditions(99, n=160, shift=shift)
    bits = []
    for seed in range(3):
        scores, key, conditions = in_conditions(seed, shift=shift)
        ways = {"chosen": (0.0, 1.0, 10.0, 1000.0), "separate": [0.0], "pooled": [1e15]}
        row = []
        for strengths in ways.values():
            fitted = ConditionCalibration.fit_scores(
                scores, key, conditions, strengths=strengths, rng=seed
            )
            llrs = fitted.apply(new, new_conditions).get_tar_non(new_key)
            row.append(np.mean([
                cllr(llrs[0][part.tar], llrs[1][part.non])
                for part in new_conditions.members(new_key)
            ]))  # fmt: skip
        bits.append(row)
    chosen, separate, pooled = np.mean(bits, axis=0)
    assert chosen < loss * min(separate, pooled)


def test_each_trial_gets_the_line_of_its_condition():
    fitted = ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[10.0])
    some = Conditions(
        {"c1": np.tile(np.arange(40) == 1, (40, 1)), "new": np.tile(np.arange(40) == 2, (40, 1))},
        uncovered="ignore",
    )
    found = fitted.apply(SCORES, some)
    expected = fitted.pooled.apply(SCORES.scoremat)
    expected[:, 1] = fitted.lines["c1"].apply(SCORES.scoremat[:, 1])
    np.testing.assert_array_equal(found.scoremat, expected)
    flat = ConditionCalibration.fit_scores(
        SCORES.to_flat(), KEY.to_flat(),
        Conditions({name: key_of(name) for name in CONDITIONS.names}), strengths=[10.0],
    )  # fmt: skip
    assert flat.lines.keys() == fitted.lines.keys()
    ways = fitted.apply(SCORES.to_flat(), CONDITIONS), fitted.apply(SCORES, CONDITIONS).to_flat()
    assert ways[0] == ways[1]


def key_of(name):
    return CONDITIONS.select(KEY, name)


def test_a_condition_of_one_class_gets_the_line_of_all():
    odd = np.tile(np.arange(40) % 2 == 1, (40, 1))
    conditions = Conditions({"targets": KEY.tar & odd, "rest": ~(KEY.tar & odd)})
    with pytest.warns(ConditionWarning, match="no non-targets"):
        fitted = ConditionCalibration.fit_scores(SCORES, KEY, conditions, strengths=[5.0])
    assert_like(fitted.lines["targets"], fitted.pooled)


def test_saved_and_read(tmp_path):
    fitted = ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[10.0])
    fitted.save(tmp_path / "map.json")
    assert read_model(tmp_path / "map.json") == fitted
    assert "strength 10; c0: llr = " in repr(fitted)


LINE = LinearCalibration.fit_scores(SCORES, KEY)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ConditionCalibration.fit_scores(SCORES, KEY, KEY), "`conditions` must be a Cond"),
        (
            lambda: ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[]),
            "`strengths` must be a list of at least one strength",
        ),
        (
            lambda: ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=3.0),
            "`strengths` must be a list of at least one strength; got 3.0",
        ),
        (
            lambda: ConditionCalibration.fit_scores(SCORES, KEY, CONDITIONS, strengths=[-1.0]),
            "`strengths` must",
        ),
        (
            lambda: ConditionCalibration(lines={}, pooled=LINE, strength=1.0).apply(
                [1], CONDITIONS
            ),
            "`scores` must be a Scores",
        ),
        (
            lambda: ConditionCalibration(lines=[], pooled=LINE, strength=1.0),
            "`lines` must map names",
        ),
        (
            lambda: ConditionCalibration(lines={"a": 3}, pooled=LINE, strength=1.0),
            "`lines` must be LinearCalibration",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
def test_classes_that_are_missing():
    """Without a class there is no line; where no condition has both, each gets that of all."""
    no_non = Key(*KEY.ids, KEY.tar, np.zeros_like(KEY.non))
    with pytest.raises(InvalidInputError, match="`non` must hold at least one score"):
        ConditionCalibration.fit_scores(SCORES, no_non, CONDITIONS)
    apart = Conditions({"same": KEY.tar, "different": KEY.non})
    found = ConditionCalibration.fit_scores(SCORES, KEY, apart, rng=1)
    for name in apart.names:
        assert_like(found.lines[name], found.pooled)
