"""Tests of quality measures of trials as systems of a linear fusion."""

import numpy as np
import pytest

from bosaris_py.calibration import LinearCalibration
from bosaris_py.fusion import LinearFusion, QualityFusion, quality_systems
from bosaris_py.metrics import cllr
from bosaris_py.trials import Key, Scores, SegmentQuality
from tests.crossed_trials import mismatched
from tests.forms import as_list

RNG = np.random.default_rng(8)


def both(quality):
    return {"duration": (None, quality)}


@pytest.mark.parametrize(
    ("combine", "function"),
    [
        ("min", np.minimum),
        ("max", np.maximum),
        ("sum", np.add),
        ("difference", lambda a, b: np.abs(a - b)),
    ],
)
def test_measures_of_trials(combine, function):
    scores = Scores(RNG.normal(size=(2, 3)), ["a", "b"], ["x", "y", "z"])
    key = Key(*scores.ids, np.eye(2, 3, dtype=bool), ~np.eye(2, 3, dtype=bool))
    of_models, of_segments = np.array([1.0, 5.0]), np.array([3.0, -2.0, 7.0])
    quality = SegmentQuality(["z", "y", "x", "b", "a", "more"], [[7.0, -2, 3, 5, 1, 9]])
    expected = function(of_models[:, None], of_segments)
    for form in (key, key.to_ndx(), as_list(key)):
        found = quality_systems(scores, {"q": quality}, form, scale=["q"], combine=combine)
        matrices = [item.scoremat for item in found]
        for matrix, wanted in zip(
            matrices, (scores.scoremat, expected, expected * scores.scoremat), strict=True
        ):
            np.testing.assert_array_equal(matrix, wanted)


def test_names_choose_what_is_shifted_and_scaled():
    scores, key, quality = mismatched(1)
    other = SegmentQuality(key.segset, RNG.normal(size=(1, key.segset.size)))
    qualities = {"duration": (None, quality), "snr": (None, other)}
    assert len(quality_systems(scores, qualities, key)) == 3
    assert len(quality_systems(scores, qualities, key, offset=["snr"], scale=["duration"])) == 3
    only = quality_systems(scores, qualities, key, offset=[], scale=["duration"])
    np.testing.assert_array_equal(only[1].scoremat, scores.scoremat * quality.values)


def test_offset_alone_is_the_quality_fusion_of_one_side():
    """With a measure of segments only both have the same features."""
    scores, key, quality = mismatched(2)
    linear = LinearFusion.fit_scores(quality_systems(scores, both(quality), key), key, ridge=0)
    fused = QualityFusion.fit_scores([scores], [quality], key, ridge=0)
    assert linear.objective_value == pytest.approx(fused.objective_value, rel=1e-6)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
@pytest.mark.parametrize("seed", range(10))
def test_a_mismatch_of_duration_is_halved_and_where_there_is_none_nothing_is_lost(seed):
    for effect in (True, False):
        scores, key, quality = mismatched(seed, effect=effect, n=80)
        plain = LinearCalibration.fit_scores(scores, key, ridge=0)
        systems = quality_systems(scores, both(quality), key, scale=["duration"])
        by_quality = LinearFusion.fit_scores(systems, key, ridge=0)
        # Durations beyond those of the training, or where they do not matter like them.
        reach = {"low": 1.0, "high": 1.3} if effect else {}
        new, new_key, new_quality = mismatched(100 + seed, effect=effect, **reach)
        new_systems = quality_systems(new, both(new_quality), new_key, scale=["duration"])
        bits = [
            cllr(*plain.apply(new).get_tar_non(new_key)),
            cllr(*by_quality.apply(new_systems, new_key).get_tar_non(new_key)),
        ]
        used = new_quality.values[0] if effect else 0.5
        true = Scores((new.scoremat - 2.0 * used) * (0.5 + 2.0 * used), *new.ids)
        best = cllr(*true.get_tar_non(new_key))
        if effect:
            assert bits[1] - best < 0.5 * (bits[0] - best)
        else:
            assert bits[1] < 1.02 * bits[0]


def test_several_systems_each_have_a_product():
    scores, key, quality = mismatched(5)
    others = scores.transform(np.square)
    found = quality_systems([scores, others], both(quality), key, scale=["duration"])
    first, second = (
        quality_systems(s, both(quality), key, scale=["duration"]) for s in (scores, others)
    )
    assert found == [first[0], second[0], first[1], first[2], second[2]]


def test_numbers_by_id_are_measures():
    scores, key, quality = mismatched(6)
    by_id = dict(zip(quality.ids.tolist(), quality.values[0].tolist(), strict=True))
    assert SegmentQuality(by_id) == quality == SegmentQuality(by_id.keys(), by_id.values())
    assert SegmentQuality({name: [v, 1] for name, v in by_id.items()}).n_measures == 2
    wanted = quality_systems(scores, both(quality), key)
    assert quality_systems(scores, {"duration": (None, by_id)}, key) == wanted
    # One system and one measure stand for lists of one.
    fused = QualityFusion.fit_scores([scores], [quality], key, ridge=0)
    assert QualityFusion.fit_scores(scores, by_id, key, ridge=0) == fused
    assert fused.apply(scores, by_id, key) == fused.apply([scores], [quality], key)
    alone = LinearFusion.fit_scores(scores, key, ridge=0)
    assert alone.apply(scores, key) == LinearFusion.fit_scores([scores], key, ridge=0).apply(
        [scores], key
    )


SCORES, KEY, QUALITY = mismatched(4)
