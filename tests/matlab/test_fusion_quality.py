"""The toolkit's fusion with quality measures, against its recorded runs, and on files.

The toolkit stops early: its fused scores differ from the exact ones by up to 3e-3 (README). Where
exact ones are recorded they are met to 1e-6.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

from pathlib import Path

import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning

Record = dict[str, np.ndarray]
Names = tuple[list[str], list[str]]
Part = tuple[b.Key, list[b.Scores]]

PRIOR = 0.1
EARLY_STOP = 3e-3
PARTS = ("dev", "eval")
# niters, obj_func, cstepHessian, quiet
SETTINGS = (100, [], True, True)


Qualities = list[b.Quality]


@pytest.fixture
def qualities(quality_record: Record, names: Names) -> Qualities:
    record = quality_record
    return [b.Quality(*names, record[f"{part}_mq"], record[f"{part}_sq"]) for part in PARTS]


def close(found: b.Scores, expected: np.ndarray, key: b.Key, atol: float) -> None:
    mask = key.tar | key.non
    np.testing.assert_array_equal(found.scoremask, mask)
    np.testing.assert_allclose(found.scoremat[mask], expected[mask], rtol=0, atol=atol)


@pytest.mark.parametrize("mixing", ["I2", "sum", "first"])
def test_dev_and_eval(quality_record, dev, evaluation, qualities, mixing):
    assert quality_record["analysis_prior"] == PRIOR
    qtrans = quality_record[f"Qtrans_{mixing}"]
    new = evaluation[0].to_ndx(), evaluation[1], [qualities[1]]
    dev_lin, eval_lin, dev_qual, eval_qual = b.linear_and_quality_fusion_dev_eval(
        *dev, [qualities[0]], qtrans, *new, PRIOR, *SETTINGS
    )
    close(dev_lin, quality_record["lin_dev"], dev[0], EARLY_STOP)
    close(eval_lin, quality_record["lin_eval"], evaluation[0], EARLY_STOP)
    close(dev_qual, quality_record[f"qdev_{mixing}"], dev[0], EARLY_STOP)
    close(dev_qual, quality_record[f"qdev_{mixing}_exact"], dev[0], 1e-6)
    close(eval_qual, quality_record[f"qeval_{mixing}"], evaluation[0], EARLY_STOP)
    lin, qual = b.linear_and_quality_fusion_scores(*dev, [qualities[0]], qtrans, PRIOR, *SETTINGS)
    assert (lin, qual) == (dev_lin, dev_qual)
    # Its training.
    key, systems = dev
    mixed, stack = b.applyQtrans(qualities[0], qtrans), b.stackScores(key, systems)
    f, nxe, w = b.train_qfuser(stack, mixed, key, True, [], True, 100, [], PRIOR)
    for name, atol in ((f"nxe_{mixing}", 2e-8), (f"nxe_{mixing}_exact", 1e-12)):
        assert nxe == pytest.approx(float(quality_record[name]), rel=0, abs=atol)
    own = b.assemble_scr(f(stack, mixed, key), key)
    close(own, quality_record[f"qdev_{mixing}_exact"], key, 1e-6)
    # The toolkit's weights are not unique, what they give is: the recorded scores.
    recorded = quality_record[f"w_{mixing}"]
    assert recorded.shape == w.shape
    fused = b.assemble_scr(b.qfuser_linear(recorded, stack, mixed, key), key)
    close(fused, quality_record[f"qdev_{mixing}"], key, 1e-12)


def test_qfuser_linear_at_any_weights(quality_record, dev, qualities):
    key, systems = dev
    stack = b.stackScores(key, systems)
    w = quality_record["wtest"]
    fused = b.qfuser_linear(w, stack, qualities[0], key)
    np.testing.assert_allclose(fused, quality_record["qfuser_at_wtest"], rtol=0, atol=1e-12)
    # It is the linear fusion and the quality term.
    parts = b.linear_fuser(w[:3], stack) + b.AWB_sparse(qualities[0], key, w[3:])
    np.testing.assert_allclose(fused, parts, rtol=0, atol=1e-12)


def test_stackQ_and_spliceQ(quality_record, names, dev, qualities):
    single = [
        b.Quality(*names, qualities[0].modelQ[[row]], qualities[0].segQ[[row]]) for row in (0, 1)
    ]
    stacked = b.stackQ(dev[0], single)
    for field in ("modelQ", "segQ", "scoremask"):
        np.testing.assert_array_equal(getattr(stacked, field), quality_record[f"spliced_{field}"])
    assert b.spliceQ(*single, dev[0]) == stacked


def test_missing_quality(quality_record, names, dev, evaluation, qualities):
    """Model 2 and segments 4 and 5 without measures: their trials get the linear score."""
    models = [names[0][int(i)] for i in np.atleast_1d(quality_record["missing_model_indices0"])]
    segments = [names[1][int(j)] for j in quality_record["missing_segment_indices0"]]
    lacking = [item.filter(models, segments, False) for item in qualities]
    new = evaluation[0].to_ndx(), evaluation[1], [lacking[1]]
    with pytest.warns(MissingTrialsWarning) as caught:
        dev_lin, _, dev_qual, eval_qual = b.linear_and_quality_fusion_dev_eval(
            *dev, [lacking[0]], np.eye(2), *new, PRIOR, *SETTINGS
        )
    close(dev_qual, quality_record["qdev_missing"], dev[0], EARLY_STOP)
    # The README's bound is that of dev; on eval scores lie further out, as far as -29.
    close(eval_qual, quality_record["qeval_missing"], evaluation[0], 4e-3)
    mask = dev[0].tar | dev[0].non
    without = np.zeros_like(mask)
    without[[names[0].index(m) for m in models]] = True
    without[:, [names[1].index(s) for s in segments]] = True
    without &= mask
    np.testing.assert_array_equal(dev_qual.scoremat[without], dev_lin.scoremat[without])
    said = " ".join(str(warning.message) for warning in caught)
    count, total = np.count_nonzero(without), np.count_nonzero(mask)
    assert f"Quality fusion training has {count} missing trials." in said
    assert f"Quality missing for {count} of {total} trials, substituting backoff scores." in said
    assert all(warning.filename == __file__ for warning in caught), "points at the caller"
    # On given weights: training leaves the trials out.
    key, systems = dev
    stack = b.stackScores(key, systems)
    with pytest.warns(MissingTrialsWarning):
        _, nxe, w = b.train_qfuser(stack, lacking[0], key, True, [], True, 100, [], PRIOR)
    assert nxe == pytest.approx(float(quality_record["nxe_missing"]), rel=0, abs=2e-8)
    for weights, backoff, atol in (
        (w, dev_lin, EARLY_STOP),
        (w, b.stackScores(key, [dev_lin])[0], EARLY_STOP),
        (quality_record["w_missing"], dev_lin, 1e-12),
    ):
        with pytest.warns(MissingTrialsWarning):
            fused = b.qfuser_backoff(weights, stack, lacking[0], key, backoff)
        covered = b.assemble_scr(fused, key).scoremat[mask & ~without]
        recorded = quality_record["qdev_missing"][mask & ~without]
        np.testing.assert_allclose(covered, recorded, rtol=0, atol=atol)


def test_from_files(dev: Part, evaluation: Part, qualities: Qualities, tmp_path: Path) -> None:
    ndx = evaluation[0].to_ndx()
    paths = [tmp_path / f"{n}.h5" for n in range(12)]
    items = (dev[0], *dev[1], qualities[0], ndx, *evaluation[1], qualities[1])
    for item, path in zip(items, paths, strict=False):
        item.save(path)
    identity, out = np.eye(2), paths[8:]
    dev_files = paths[0], paths[1:3], [paths[3]], identity
    b.linear_and_quality_fusion_scores_from_files(*dev_files, *out[:2], PRIOR, *SETTINGS)
    expected = b.linear_and_quality_fusion_scores(*dev, [qualities[0]], identity, PRIOR, *SETTINGS)
    assert tuple(b.Scores.read(name) for name in out[:2]) == expected
    eval_files = paths[4], paths[5:7], [paths[7]]
    b.linear_and_quality_fusion_dev_eval_from_files(*dev_files, *eval_files, *out, PRIOR, *SETTINGS)
    new = ndx, evaluation[1], [qualities[1]]
    dev_lin, eval_lin, dev_qual, eval_qual = b.linear_and_quality_fusion_dev_eval(
        *dev, [qualities[0]], identity, *new, PRIOR, *SETTINGS
    )
    # Files come in another order than values: dev without and with quality, then eval.
    assert [*map(b.Scores.read, out)] == [dev_lin, dev_qual, eval_lin, eval_qual]
    assert b.load_qual_files([paths[3]]) == [qualities[0]]


def test_a_single_object_is_an_array_of_one(dev: Part, qualities: Qualities) -> None:
    (key, (system, _)), mixing = dev, (np.eye(2), PRIOR, *SETTINGS)
    assert b.stackQ(key, qualities[0]) == b.stackQ(key, [qualities[0]])
    alone = b.linear_and_quality_fusion_scores(key, system, qualities[0], *mixing)
    listed = b.linear_and_quality_fusion_scores(key, [system], [qualities[0]], *mixing)
    assert alone == listed


def test_a_trained_fusion_is_applied(dev: Part, qualities: Qualities) -> None:
    key, systems = dev
    quality, identity = qualities[0], np.eye(2)
    fqual = b.train_quality_fusion_function(
        key, systems, [quality], identity, np.zeros(3), PRIOR, [], 9, True, True
    )
    flin, _ = b.train_linear_fusion_function(key, systems, PRIOR, [], 100, True, True)
    lin = b.apply_linear_fusion_function(key, systems, flin)
    fused = b.apply_quality_fusion_function(key, systems, [quality], identity, fqual, lin)
    in_one = b.linear_and_quality_fusion_scores(key, systems, [quality], identity, PRIOR, *SETTINGS)
    assert (lin, fused) == in_one
    with pytest.raises(InvalidInputError, match="Qtrans"):
        b.apply_quality_fusion_function(key, systems, [quality], [[1.0, 0.0]], fqual, lin)
