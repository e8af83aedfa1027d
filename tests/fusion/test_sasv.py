"""A verifier and a countermeasure as one LLR against the formula, on real scores too."""

import numpy as np
import pytest

import bosaris_py as bp
from tests.forms import as_matrix


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(1)
    kinds = np.repeat(["target", "nontarget", "spoof"], [200, 300, 400])
    names = np.arange(kinds.size).astype(str)
    key = bp.Key.from_trials(names, names, kinds)
    asv = np.repeat([0.8, 0.2, 0.6], [200, 300, 400]) + 0.2 * rng.normal(size=900)
    cm = np.repeat([4.0, 4.0, -4.0], [200, 300, 400]) + 5 * rng.normal(size=900)
    systems = [bp.Scores.from_trials(names, names, scores) for scores in (asv, cm)]
    return key, systems, kinds, asv, cm


def test_both_lines_are_those_of_their_classes(trials):
    pair, (asv, cm), kinds, one, other = trials
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, costs="a-DCF1", ridge=0)
    # 0.9 to 0.05 x 10, and 0.9 to 0.05 x 20.
    expected = bp.LinearCalibration.fit(
        one[kinds == "target"], one[kinds == "nontarget"], prior=0.9 / 1.4, ridge=0
    )
    assert fusion.asv.scale == pytest.approx(expected.scale, rel=1e-9)
    expected = bp.LinearCalibration.fit(
        other[kinds != "spoof"], other[kinds == "spoof"], prior=0.9 / 1.9, ridge=0
    )
    assert fusion.cm.offset == pytest.approx(expected.offset, rel=1e-9)
    assert fusion.spoof_share == pytest.approx(2 / 3, rel=1e-15)


def test_the_llr_is_that_of_the_mixture(trials):
    pair, (asv, cm), _, one, other = trials
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, spoof_share=0.25, ridge=0)
    a, c = (
        line.scale * scores + line.offset
        for line, scores in ((fusion.asv, one), (fusion.cm, other))
    )
    expected = -np.log(0.75 * np.exp(-a) + 0.25 * np.exp(-c))
    found = fusion.apply(asv=one, cm=other)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    fused = fusion.apply(asv=asv, cm=cm, ndx=pair)
    listed = bp.Scores.get_tar_non(fused, pair)
    np.testing.assert_array_equal(np.sort(listed[0]), np.sort(found[trials[2] == "target"]))
    # Far from 0 nothing overflows.
    with pytest.warns(bp.errors.SuspectScoresWarning):
        assert np.isfinite(fusion.apply(asv=[1e4, -1e4], cm=[-1e4, -1e4])).all()


def test_it_is_better_than_either_on_asvspoof_2019():
    example = bp.load_example("asvspoof2019_la")
    parts = []
    for part in example:
        key = part.key_with_spoofs
        utterances = bp.Scores(part.quality.values, ["cm"], part.quality.ids)
        scores = part.scores["ecapa"], bp.trials.scores_of_segments(utterances, key)
        values = [system.get_scores(key).astype(float) for system in scores]
        parts.append((key, scores, values, key.labels))
    (pair, (asv, cm), _, _), (_, _, values, labels) = parts
    fusion = bp.SASVFusion.fit(pair, asv=asv, cm=cm, costs="ASVspoof5", ridge=0)
    fused = fusion.apply(asv=values[0], cm=values[1])

    def cost(function, scores):
        lists = [scores[labels == kind] for kind in (1, -1, -2)]
        return function(*lists, "ASVspoof5")

    # Of the fixed score of the anchor 0.0626; of either detector alone 0.55 and more.
    assert cost(bp.a_dcf, fused) < 0.08
    assert cost(bp.act_a_dcf, fused) < 0.5
    assert cost(bp.a_dcf, values[0]) > 0.5


# A line is trained on two of the three kinds, and applied to all.
_far = pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")


@pytest.fixture(scope="module")
def spoken():
    """Trials of 12 speakers with habits, whose voices are also claimed by spoofs."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(12):
        rows += [(i, f"u{j}", "target" if i == j else "nontarget") for j in range(12)]
        rows += [(i, f"f{i}_{k}", "spoof") for k in range(6)]
    models = [f"s{i}" for i, *_ in rows]
    segments = [segment for _, segment, _ in rows]
    kinds = np.array([kind for *_, kind in rows])
    habits = rng.normal(size=12)
    asv = 3.0 * (kinds != "nontarget") - 1 + np.array([habits[i] for i, *_ in rows])
    asv, cm = (part + rng.normal(size=kinds.size) for part in (asv, 2.0 * (kinds != "spoof") - 1))
    key = bp.Key.from_trials(models, segments, kinds)
    systems = [bp.Scores.from_trials(models, segments, scores) for scores in (asv, cm)]
    return key, dict(zip(("asv", "cm"), systems, strict=True)), kinds, models, segments


def _speaker(segment):
    return "s" + segment[1:] if segment.startswith("u") else ""


@_far
@pytest.mark.parametrize("form", ["flat", "dense"])
@pytest.mark.parametrize("ridge", [0.01])
def test_cross_fitting_leaves_out_both_persons_and_the_claimed_one(spoken, form, ridge):
    pair, systems, kinds, models, segments = spoken
    key = as_matrix(pair) if form == "dense" else pair
    who = (lambda model: model, _speaker)
    fitted = bp.cross_fit(bp.SASVFusion, systems, key, folds=3, rng=1, speakers=who, ridge=ridge)
    assert sorted(fitted.fold_of) == sorted(set(models))
    assert fitted.final == bp.SASVFusion.fit(key, **systems, ridge=ridge)
    table = {
        (model, segment): number
        for number, (model, segment) in enumerate(zip(models, segments, strict=True))
    }
    # One trial of each kind, by a map trained on a list of what its persons do not touch.
    for trial in (("s0", "u0"), ("s0", "u5"), ("s3", "f3_2")):
        persons = {trial[0], _speaker(trial[1]) or trial[0]}
        folds = {fitted.fold_of[person] for person in persons}
        left = [
            not folds & {fitted.fold_of[m], fitted.fold_of[_speaker(s) or m]}
            for m, s in zip(models, segments, strict=True)
        ]
        ids = [list(np.array(side)[left]) for side in (models, segments)]
        own = bp.Key.from_trials(*ids, kinds[left])
        expected = bp.SASVFusion.fit(own, **systems, ridge=ridge)
        single = bp.Ndx.from_trials([trial[0]], [trial[1]])
        by_map = expected.apply(**systems, ndx=single).values
        found = fitted.scores.get_scores(single)
        # Trainings on the same trials in the same order.
        np.testing.assert_allclose(found, by_map, rtol=1e-12)
        assert trial in table


@_far
@pytest.mark.parametrize("form", ["flat", "dense"])
def test_files_are_fused_to_the_last_bit_as_in_memory(spoken, form, tmp_path):
    pair, systems, *_ = spoken
    fusion = bp.SASVFusion.fit(pair, **systems, ridge=0.01)
    key = pair if form == "flat" else as_matrix(pair)
    files = {name: tmp_path / f"{name}.h5" for name in systems}
    for name, file in files.items():
        scores = systems[name] if form == "flat" else as_matrix(systems[name])
        scores.save(file)
    key.save(tmp_path / "key.h5")
    out = tmp_path / "out.h5"
    fusion.apply_files(**files, ndx_file=tmp_path / "key.h5", output_file=out)
    expected = fusion.apply(**systems, ndx=key)
    found = bp.read_scores(out)
    np.testing.assert_array_equal(found.get_scores(key), expected.get_scores(key))
