"""Bad input: each is refused, with a message that says what, where and why."""

from collections.abc import Callable

import numpy as np
import pytest

from bosaris_py.errors import BosarisError, InvalidInputError, TrialMismatchError
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality

M = ["m1", "m2"]
S = ["s1", "s2", "s3"]
T = np.ones((2, 3), dtype=bool)
F = np.zeros((2, 3), dtype=bool)
V = np.zeros((2, 3))
KEY = Key(M, S, T, F)
SCORES = Scores(V, M, S)
QUALITY = SegmentQuality(["a", "b"], [[1.0, np.inf], [1.0, 2.0]])

SWAPPED = r"must have shape \(2, 3\) \(models, segments\); got \(3, 2\)\. Did you swap models"

BAD_INPUT: list[tuple[Callable[[], object], str]] = [
    # Repeated ids.
    (lambda: Ndx(["m1", "m1"], S), r"`modelset` must hold each id once; .*\(m1\)"),
    (lambda: Ndx(M, ["s", "t", "s"]), r"`segset` must hold each id once; .*\(s\)"),
    (lambda: Key(["b", "b"], S, T, F), r"`modelset` must hold each id once"),
    (lambda: Scores(V, M, ["s", "s", "t"]), r"`segset` must hold each id once"),
    (lambda: SegmentQuality(["a", "a"], [[1, 2]]), r"`ids` must hold each"),
    (lambda: QualityMeasures(["m"], ["s", "s"], [[1]], [[1, 2]]), r"`segset`"),
    # Ids that are none.
    (lambda: Ndx("m1", S), r"`modelset` must be a one-dimensional list of ids"),
    (lambda: Ndx([1, 2], S), r"`modelset` must hold strings; .*Ids are text"),
    (lambda: Ndx([["m1"]], S), r"`modelset` must be a one-dimensional list"),
    (lambda: Ndx(np.array(["m", None], dtype=object), S), r"must hold strings; .* None"),
    # Shapes.
    (lambda: Ndx(M, S, T.T), "`trialmask` " + SWAPPED),
    (lambda: Key(M, S, T.T, F), "`tar` " + SWAPPED),
    (lambda: Key(M, S, T, F.T), "`non` " + SWAPPED),
    (lambda: Scores(V.T, M, S), "`scoremat` " + SWAPPED),
    (lambda: Scores(V, M, S, T.T), "`scoremask` " + SWAPPED),
    (lambda: Scores(V, M, S, T[0]), r"`scoremask` must have shape \(2, 3\)"),
    (lambda: Scores(V[0], M, S), r"`scoremat` must be two-dimensional"),
    (lambda: Scores([[1, 2], [3]], M, S), r"`scoremat` must be a regular array"),
    (lambda: SegmentQuality(["a", "b"], [[1]]), r"one column for each of the 2 ids"),
    (lambda: SegmentQuality(["a", "b"], [1, 2, 3]), r"one column for each of the 2 ids"),
    (
        lambda: SegmentQuality(["a"], [[1, 2]]),
        r"one column for each of the 1 ids; got shape \(1, 2\)\. Did you swap measures",
    ),
    (
        lambda: QualityMeasures(M, S, np.zeros((2, 3)), np.zeros((2, 3))),
        r"`modelQ` must have one column for each of the 2 ids; .*swap",
    ),
    (
        lambda: QualityMeasures(M, S, np.zeros((1, 2)), np.zeros((2, 3))),
        r"`segQ` must have 1 rows like `modelQ`; got 2",
    ),
    (
        lambda: QualityMeasures(M, S, [[1, 2]], [[1, 2, 3]], hasmodel=[True]),
        r"`hasmodel` must have one flag for each of the 2 ids",
    ),
    (lambda: QualityMeasures(M, S, [[1, 2]], [[1, 2, 3]], scoremask=T.T), "`scoremask` " + SWAPPED),
    (lambda: IdMap(["a"], []), r"`rightids` must have shape \(1,\) like `leftids`"),
    # Types.
    (lambda: Ndx(M, S, V), r"`trialmask` must be boolean; .*say so with \.astype\(bool\)"),
    (lambda: Key(M, S, T.astype(int), F), r"`tar` must be boolean"),
    (lambda: Key(M, S, None, F), r"`tar` must be boolean"),
    (lambda: Scores(T, M, S), r"`scoremat` must hold real numbers; .*like a mask"),
    (lambda: Scores([["a"]], ["m"], ["s"]), r"`scoremat` must hold real numbers"),
    (lambda: Scores(V * 1j, M, S), r"`scoremat` must hold real numbers"),
    (
        lambda: QualityMeasures(M, S, [[1, 2]], [[1, 2, 3]], hasseg=[1, 1, 1]),
        r"`hasseg` must be boolean",
    ),
    # Contradictions.
    (lambda: Key(M, S, T, T), r"`non` must not share trials with `tar`; got 6 trials: \("),
    (
        lambda: Key.from_trials(["m", "m"], ["s", "s"], [True, False]),
        r"`is_target` .* the same for a trial listed twice; .* for 1 trial: \(m, s\)",
    ),
    (
        lambda: Scores.from_trials(["m", "m"], ["s", "s"], [1.0, 2.0]),
        r"`scores` .* the same for a trial listed twice; .* for 1 trial: \(m, s\)",
    ),
    # Lists of trials.
    (lambda: Ndx.from_trials(M, S), r"`segments` must have shape \(2,\) like"),
    (lambda: Key.from_trials(M, M, [True]), r"`is_target` must have shape"),
    (lambda: Key.from_trials(M, M, [1, 0]), r"`is_target` must be boolean"),
    (lambda: Scores.from_trials(M, M, [1.0]), r"`scores` must have shape"),
    (lambda: Scores.from_trials(M, M, V), r"`scores` must be one-dim"),
    # Arguments of methods.
    (lambda: SCORES.align_with_ndx(SCORES), r"`ndx` must be an Ndx or a"),
    (lambda: SCORES.get_scores(None), r"`ndx` must be an Ndx or a Key"),
    (lambda: SCORES.get_tar_non(KEY.to_ndx()), r"`key` must be a Key"),
    (lambda: SCORES.set_missing_to_value(KEY, np.nan), r"`value` must be a number; got nan"),
    (lambda: SCORES.set_missing_to_value(KEY, V), r"`value` must be a number"),
    (lambda: SCORES.set_missing_to_value(KEY, "x"), r"`value` must be a number; got 'x'"),
    (lambda: SCORES.set_missing_to_value(None, 0), r"`ndx` must be"),
    (lambda: SCORES.transform(np.mean), r"`func` must be one-dimensional"),
    (lambda: SCORES.transform(lambda s: s[1:]), r"one score for each of the 6 .*; got 5"),
    (lambda: SCORES.transform(lambda s: s * np.nan), r"not return NaN; got NaN for 6 of 6 scores"),
    (lambda: KEY.filter("m1", S, keep=True), r"`models` must be a one-dimensional list"),
    (lambda: KEY.filter(M, 3, keep=True), r"`segments` must be a one-dimensional list"),
    (lambda: QUALITY.align_with_ids(["b", "b"]), r"`ids` must hold each id"),
    (lambda: QUALITY.align_with_ids(["a", "b"]), r"finite .*; got NaN or infinity for 1 ids \(b\)"),
    (
        lambda: QualityMeasures.from_segment_quality(QUALITY, QUALITY).align_with_ndx(
            Ndx(["b"], ["a"])
        ),
        r"`modelQ` must be finite .*\(b\)",
    ),
    (
        lambda: QualityMeasures.from_segment_quality(QUALITY, KEY),
        r"`segments` must be a SegmentQuality; got Key",
    ),
    (
        lambda: QualityMeasures.from_segment_quality(QUALITY, SegmentQuality(["x"], [[1]])),
        r"`segQ` must have 2 rows like `modelQ`; got 1",
    ),
    (lambda: IdMap(["a"], ["b"]).map_left_to_right("a"), r"`ids` must"),
]


@pytest.mark.parametrize(("call", "message"), BAD_INPUT)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


MISMATCHES: list[tuple[Callable[[], object], str]] = [
    (lambda: KEY.merge(Key(M, S, F, T)), r"disagree whether a trial is a target: 6 trials: \("),
    (
        lambda: SCORES.merge(SCORES),
        r"hold two scores for 6 trials: \(m1, s1\), \(m2, s1\), .*\.\.\.",
    ),
    (lambda: QUALITY.merge(QUALITY), r"share 2 segments \(a, b\); each must be in one only"),
    (lambda: QUALITY.merge(SegmentQuality(["x"], [[1]])), r"have 2, 1 quality measures"),
]


@pytest.mark.parametrize(("call", "message"), MISMATCHES)
def test_objects_that_do_not_fit_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TrialMismatchError, match=message):
        call()


def test_nan_scores_are_counted_and_named() -> None:
    values = V.copy()
    values[1, :2] = np.nan
    scores = Scores(values, M, S)
    calls = [
        lambda: scores.align_with_ndx(KEY),
        lambda: scores.get_tar_non(KEY),
        lambda: scores.get_tar_non(KEY, any_order=True),
        lambda: scores.get_scores(KEY.to_ndx()),
        lambda: scores.set_missing_to_value(KEY, 0.0),
    ]
    expected = (
        r"`scoremat` must not hold NaN where there is a trial; "
        r"got NaN for 2 trials: \(m2, s1\), \(m2, s2\)\."
    )
    for call in calls:
        with pytest.raises(InvalidInputError, match=expected):
            call()


def test_one_filter_catches_all() -> None:
    with pytest.raises(BosarisError):
        Ndx(["m", "m"], [])
    with pytest.raises(ValueError, match="once"):
        Ndx(["m", "m"], [])


@pytest.mark.parametrize("keep", ["no", None, 2])
def test_what_to_keep_is_said_by_a_boolean(keep: object) -> None:
    ndx = Ndx(["a"], ["s"])
    with pytest.raises(InvalidInputError, match="`keep` must be True or False; got"):
        ndx.filter(["a"], ["s"], keep)
