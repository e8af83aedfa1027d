"""A verifier and a countermeasure as one LLR against the formula, on real scores too."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, SuspectScoresWarning
from tests.forms import as_matrix

# A line is trained on two of the three kinds, and applied to all.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(1)
    kinds = np.repeat(["target", "nontarget", "spoof"], [200, 300, 400])
    names = np.arange(kinds.size).astype(str)
    asv = np.repeat([0.8, 0.2, 0.6], [200, 300, 400]) + 0.2 * rng.normal(size=900)
    cm = np.repeat([4.0, 4.0, -4.0], [200, 300, 400]) + 5 * rng.normal(size=900)
    systems = [bp.Scores.from_trials(names, names, scores) for scores in (asv, cm)]
    return bp.Key.from_trials(names, names, kinds), systems, kinds, asv, cm


def test_both_lines_are_those_of_their_classes(trials):
    key, (asv, cm), kinds, one, other = trials
    fusion = bp.SASVFusion.fit(key, asv=asv, cm=cm, costs="a-DCF1", ridge=0)
    # 0.9 to 0.05 x 10, and 0.9 to 0.05 x 20.
    for line, scores, tar, non, prior in (
        (fusion.asv, one, kinds == "target", kinds == "nontarget", 0.9 / 1.4),
        (fusion.cm, other, kinds != "spoof", kinds == "spoof", 0.9 / 1.9),
    ):
        expected = bp.LinearCalibration.fit(scores[tar], scores[non], prior=prior, ridge=0)
        found = line.scale, line.offset
        np.testing.assert_allclose(found, (expected.scale, expected.offset), rtol=1e-9)
    assert fusion.spoof_share == pytest.approx(2 / 3, rel=1e-15)
    some = bp.Scores.from_trials(*[np.arange(890).astype(str)] * 2, one[:890])
    with pytest.warns(MissingTrialsWarning):
        bp.SASVFusion.fit(key, asv=some, cm=cm)
    with pytest.raises(InvalidInputError):
        bp.SASVFusion.fit(key.bona_fide(), asv=asv, cm=cm)


def test_the_llr_is_that_of_the_mixture(trials):
    key, (asv, cm), kinds, one, other = trials
    fusion = bp.SASVFusion.fit(key, asv=asv, cm=cm, spoof_share=0.25, ridge=0)
    a, c = fusion.asv.apply(one), fusion.cm.apply(other)
    expected = -np.log(0.75 * np.exp(-a) + 0.25 * np.exp(-c))
    found = fusion.apply(asv=one, cm=other)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    tar, _ = fusion.apply(asv=asv, cm=cm, ndx=key).get_tar_non(key)
    np.testing.assert_array_equal(np.sort(tar), np.sort(found[kinds == "target"]))
    for name, bad in (("ndx", {"cm": cm}), ("cm", {"cm": [1.0]}), ("asv", {"ndx": key, "cm": cm})):
        with pytest.raises(InvalidInputError, match=f"^`{name}` must"):
            fusion.apply(**{"asv": one, "cm": other, **bad})
    # Far from 0 nothing overflows.
    with pytest.warns(SuspectScoresWarning):
        assert np.isfinite(fusion.apply(asv=[1e4, -1e4], cm=[-1e4, -1e4])).all()


@pytest.fixture(scope="module")
def spoken():
    """Trials of 12 speakers with habits, whose voices are also claimed by spoofs."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(12):
        rows += [(i, f"u{j}", "target" if i == j else "nontarget") for j in range(12)]
        rows += [(i, f"f{i}_{k}", "spoof") for k in range(6)]
    models, segments = [f"s{i}" for i, *_ in rows], [segment for _, segment, _ in rows]
    kinds = np.array([kind for *_, kind in rows])
    habits = rng.normal(size=12)
    asv = 3.0 * (kinds != "nontarget") - 1 + np.array([habits[i] for i, *_ in rows])
    asv, cm = (part + rng.normal(size=kinds.size) for part in (asv, 2.0 * (kinds != "spoof") - 1))
    systems = [bp.Scores.from_trials(models, segments, scores) for scores in (asv, cm)]
    key = bp.Key.from_trials(models, segments, kinds)
    return key, dict(zip(("asv", "cm"), systems, strict=True)), kinds, models, segments


def _speaker(segment):
    return "s" + segment[1:] if segment.startswith("u") else ""


@pytest.mark.parametrize("form", [as_matrix, lambda item: item])
def test_cross_fitting_leaves_out_both_persons_and_the_claimed_one(spoken, form):
    pair, systems, kinds, models, segments = spoken
    key, who = form(pair), (lambda model: model, _speaker)
    how = {"folds": 3, "rng": 1, "speakers": who, "ridge": 0.01}
    fitted = bp.cross_fit(bp.SASVFusion, systems, key, **how)
    assert sorted(fitted.fold_of) == sorted(set(models))
    assert fitted.final == bp.SASVFusion.fit(key, **systems, ridge=0.01)
    # One trial of each kind, by a map trained on a list of what its persons do not touch.
    for trial in (("s0", "u0"), ("s0", "u5"), ("s3", "f3_2")):
        folds = {fitted.fold_of[each] for each in (trial[0], _speaker(trial[1]) or trial[0])}
        left = [
            not folds & {fitted.fold_of[m], fitted.fold_of[_speaker(s) or m]}
            for m, s in zip(models, segments, strict=True)
        ]
        own = bp.Key.from_trials(*(np.array(each)[left] for each in (models, segments, kinds)))
        single = bp.Ndx.from_trials([trial[0]], [trial[1]])
        by_map = bp.SASVFusion.fit(own, **systems, ridge=0.01).apply(**systems, ndx=single)
        # Trainings on the same trials in the same order.
        np.testing.assert_allclose(fitted.scores.get_scores(single), by_map.values, rtol=1e-12)


@pytest.mark.parametrize("form", [as_matrix, lambda item: item])
def test_files_are_fused_to_the_last_bit_as_in_memory(spoken, form, tmp_path):
    key, systems = form(spoken[0]), spoken[1]
    fusion = bp.SASVFusion.fit(key, **systems, ridge=0.01)
    files = {name: tmp_path / f"{name}.h5" for name in (*systems, "ndx_file", "output_file")}
    for name, scores in systems.items():
        form(scores).save(files[name])
    key.save(files["ndx_file"])
    fusion.apply_files(**files)
    found, expected = bp.read_scores(files["output_file"]), fusion.apply(**systems, ndx=key)
    np.testing.assert_array_equal(found.get_scores(key), expected.get_scores(key))
