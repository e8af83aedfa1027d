"""A verifier and a countermeasure as one LLR against the formula, on real scores too."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(1)
    kinds = np.repeat(["target", "nontarget", "spoof"], [200, 300, 400])
    names = np.arange(kinds.size).astype(str)
    key = bp.FlatKey.from_trials(names, names, kinds == "target")
    metadata = bp.TrialMetadata.from_trials(names, names, {"kind": kinds}, key)
    asv = np.repeat([0.8, 0.2, 0.6], [200, 300, 400]) + 0.2 * rng.normal(size=900)
    cm = np.repeat([4.0, 4.0, -4.0], [200, 300, 400]) + 5 * rng.normal(size=900)
    systems = [bp.FlatScores.from_trials(names, names, scores) for scores in (asv, cm)]
    return (key, metadata), systems, kinds, asv, cm


def test_both_lines_are_those_of_their_classes(trials):
    pair, (asv, cm), kinds, one, other = trials
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, costs="a-DCF1")
    # 0.9 to 0.05 x 10, and 0.9 to 0.05 x 20.
    expected = bp.LinearCalibration.fit(
        one[kinds == "target"], one[kinds == "nontarget"], prior=0.9 / 1.4
    )
    assert fusion.asv.scale == pytest.approx(expected.scale, rel=1e-9)
    expected = bp.LinearCalibration.fit(
        other[kinds != "spoof"], other[kinds == "spoof"], prior=0.9 / 1.9
    )
    assert fusion.cm.offset == pytest.approx(expected.offset, rel=1e-9)
    assert fusion.spoof_share == pytest.approx(2 / 3, rel=1e-15)


def test_the_llr_is_that_of_the_mixture(trials):
    pair, (asv, cm), _, one, other = trials
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, spoof_share=0.25)
    a, c = (
        line.scale * scores + line.offset
        for line, scores in ((fusion.asv, one), (fusion.cm, other))
    )
    expected = -np.log(0.75 * np.exp(-a) + 0.25 * np.exp(-c))
    found = fusion.apply(asv=one, cm=other)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    fused = fusion.apply(asv=asv, cm=cm, ndx=pair[0])
    listed = bp.FlatScores.get_tar_non(fused, pair[0])
    np.testing.assert_array_equal(np.sort(listed[0]), np.sort(found[trials[2] == "target"]))
    # Far from 0 nothing overflows.
    with pytest.warns(bp.errors.ExtrapolationWarning):
        assert np.isfinite(fusion.apply(asv=[1e4, -1e4], cm=[-1e4, -1e4])).all()


def test_a_share_of_zero_or_one_is_one_detector(trials):
    pair, (asv, cm), _, one, other = trials
    for share, name in ((0.0, "asv"), (1.0, "cm")):
        fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, spoof_share=share)
        alone = getattr(fusion, name).apply(one if name == "asv" else other)
        np.testing.assert_array_equal(fusion.apply(asv=one, cm=other), alone)


def test_it_is_saved_and_read(trials, tmp_path):
    pair, (asv, cm), *_ = trials
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm)
    fusion.save(tmp_path / "fusion.json")
    assert bp.SASVFusion.read(tmp_path / "fusion.json") == fusion
    assert bp.read_model(tmp_path / "fusion.json") == fusion


def test_it_is_better_than_either_on_asvspoof_2019():
    example = bp.load_example("asvspoof2019_la")
    parts = []
    for part in example:
        table = part.trials
        labels = table.columns["label"].values()
        ids = table.model_ids(), table.segment_ids()
        key = bp.FlatKey.from_trials(*ids, labels == "target")
        metadata = bp.TrialMetadata.from_trials(*ids, {"kind": labels}, key)
        scores = [
            bp.FlatScores.from_trials(*ids, np.asarray(table.columns[name], float))
            for name in ("ecapa", "aasist")
        ]
        values = [np.asarray(table.columns[name], float) for name in ("ecapa", "aasist")]
        parts.append(((key, metadata), scores, values, labels))
    (pair, (asv, cm), _, _), (_, _, values, labels) = parts
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, costs="ASVspoof5")
    fused = fusion.apply(asv=values[0], cm=values[1])

    def cost(function, scores):
        lists = [scores[labels == kind] for kind in ("target", "nontarget", "spoof")]
        return function(*lists, "ASVspoof5")

    # Of the fixed score of the anchor 0.0626; of either detector alone 0.55 and more.
    assert cost(bp.a_dcf, fused) < 0.08
    assert cost(bp.act_a_dcf, fused) < 0.5
    assert cost(bp.a_dcf, values[0]) > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": "sasv"}, "`costs` must be SpoofCosts, or the name of some"),
        ({"costs": bp.SpoofCosts(0.99, 0.01, 0.0)}, "three classes of positive prior"),
        ({"spoof_share": 2}, r"`spoof_share` must lie in \[0, 1\]"),
    ],
)
def test_bad_training(trials, change, message):
    pair, (asv, cm), *_ = trials
    with pytest.raises(InvalidInputError, match=message):
        bp.SASVFusion.fit(pair, asv=asv, cm=cm, **change)


def test_bad_scores(trials):
    pair, (asv, cm), _, one, _ = trials
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm)
    for given, message in (
        ({"asv": asv, "cm": cm}, "`ndx` must be given with Scores"),
        ({"asv": asv, "cm": one}, "be of the same kind as the other"),
        ({"asv": one, "cm": one[:3]}, r"have the shape \(900,\) of `asv`"),
        ({"asv": one, "cm": one, "ndx": pair[0]}, "be given with Scores only"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            fusion.apply(**given)
