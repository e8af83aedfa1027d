"""Parts of costs, Cllr and Brier scores, against sums over the trials."""

import numpy as np
import pytest
from scipy.special import expit

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError

PARTS = ("minimum", "loss", "reliability", "resolution", "uncertainty")


def trials(rng, n=14, *, scale=1.0, shift=0.0):
    """Speakers with two models and two segments each; llrs are off by a line."""
    names = [f"p{i}" for i in range(n)]
    models = [f"{name}-m{i}" for name in names for i in (1, 2)]
    segments = [f"{name}-s{i}" for name in names for i in (1, 2)]
    same = np.repeat(np.repeat(np.eye(n, dtype=bool), 2, axis=0), 2, axis=1)
    values = 2.0 * rng.normal(size=same.shape) + np.where(same, 2.0, -2.0)
    return bp.Scores(scale * values + shift, models, segments), bp.Key(
        models, segments, same, ~same
    )


def speaker(name):
    return name.split("-")[0]


def test_parts_add_up(rng):
    scores, key = trials(rng, scale=1.7, shift=0.8)
    points = [0.02, bp.OperatingPoint(0.3, 2.0, 1.0)]
    found = bp.decompose(scores, key, priors=points, speakers=speaker, rng=1)
    assert len(found.rows) == 2 + 4 + 2
    for row in found.rows:
        if row.reliability is None:
            parts = row.minimum + row.loss
        else:
            parts = row.reliability - row.resolution + row.uncertainty
        assert parts == pytest.approx(row.total, abs=1e-12)


def test_costs_and_cllr_are_those_of_the_results(rng):
    scores, key = trials(rng, scale=1.7, shift=0.8)
    results = bp.Results.from_scores(scores, key)
    found = bp.decompose(scores, key, prior=0.05, folds=None)
    cost, pav, line = (
        found.row(*which) for which in (("act_dcf(0.05)",), ("cllr", "PAV"), ("cllr", "affine"))
    )
    assert cost.total == results.norm_act_dcf(0.05)
    assert cost.minimum == results.norm_min_dcf(0.05)
    assert (pav.total, pav.minimum) == (results.cllr, results.min_cllr)
    # The best line leaves what training on these trials reaches.
    trained = bp.LinearCalibration.fit_scores(scores, key)
    assert line.minimum == pytest.approx(trained.objective_value, rel=1e-9)
    assert pav.minimum <= line.minimum <= line.total
    plain = bp.decompose(scores, key, prior=0.05, folds=None, normalize=False)
    assert plain.row("act_dcf(0.05)").total == pytest.approx(0.05 * cost.total, rel=1e-12)


def test_cross_fitted_maps_are_those_of_cross_fit(rng):
    scores, key = trials(rng)
    found = bp.decompose(scores, key, speakers=speaker, rng=3, folds=4)
    for name, model in (("affine", bp.LinearCalibration), ("PAV", bp.PAVCalibration)):
        fitted = bp.cross_fit(model, scores, key, speakers=speaker, rng=3, folds=4).scores
        expected = bp.cllr(*fitted.get_tar_non(key))
        assert found.row("cllr", f"{name}, cross-fitted").minimum == pytest.approx(
            expected, rel=1e-12
        )


def test_the_brier_score_is_a_mean_of_squares(rng):
    scores, key = trials(rng, scale=1.7, shift=0.8)
    tar, non = scores.get_tar_non(key)
    prior = 0.2
    row = bp.decompose(scores, key, prior=prior, folds=None).row("brier(0.2)")
    log_odds = np.log(prior / (1 - prior))

    def brier(tar_llrs, non_llrs):
        squares = (1 - expit(tar_llrs + log_odds)) ** 2, expit(non_llrs + log_odds) ** 2
        return prior * squares[0].mean() + (1 - prior) * squares[1].mean()

    assert row.total == pytest.approx(brier(tar, non), rel=1e-12)
    after = brier(*bp.optimal_llrs(tar, non))
    assert row.reliability == pytest.approx(row.total - after, abs=1e-14)
    assert row.uncertainty == pytest.approx(0.16, rel=1e-14)
    assert row.resolution == pytest.approx(0.16 - after, abs=1e-14)
    assert min(row.reliability, row.resolution) > 0


def test_optimal_llrs_lose_nothing(rng):
    scores, key = trials(rng)
    tar, non = bp.optimal_llrs(*scores.get_tar_non(key))
    values = np.empty(key.shape)
    # Column by column, as targets are listed.
    values.T[key.tar.T], values.T[key.non.T] = tar, non
    optimal = bp.Scores(values, *key.ids)
    results = bp.Results.from_scores(optimal, key)
    found = bp.decompose(optimal, key, priors=[0.1, 0.5], folds=None)
    for row in found.rows:
        if row.by != "affine":
            assert (row.loss if row.reliability is None else row.reliability) == pytest.approx(0)
    for prior in (0.1, 0.5):
        assert results.cllr == pytest.approx(results.min_cllr, rel=1e-12)
        assert results.act_dcf(prior) == pytest.approx(results.min_dcf(prior), rel=1e-12)


def test_conditions_weigh_all_parts(rng):
    scores, key = trials(rng, 30)
    even = (np.arange(60) % 4 < 2)[:, None]
    masks = {"even": key.trial_mask & even, "odd": key.trial_mask & ~even}
    conditions = bp.Conditions(masks, {"even": 0.9, "odd": 0.1})
    options = {"prior": 0.1, "speakers": speaker, "rng": 1}
    found = bp.decompose(scores, key, conditions=conditions, **options)
    results = bp.Results.from_scores(scores, key, conditions)
    assert found.row("cllr", "PAV").total == results.cllr
    assert found.row("act_dcf(0.1)").minimum == results.norm_min_dcf(0.1)
    tar, non = (
        [scores.scoremat[of_class & mask] for mask in masks.values()]
        for of_class in (key.tar, key.non)
    )
    log_odds = np.log(1 / 9)
    squares = [
        sum(w * np.mean(part) for w, part in zip((0.9, 0.1), parts, strict=True))
        for parts in (
            [(1 - expit(x + log_odds)) ** 2 for x in tar],
            [expit(x + log_odds) ** 2 for x in non],
        )
    ]
    assert found.row("brier(0.1)").total == pytest.approx(
        0.1 * squares[0] + 0.9 * squares[1], rel=1e-12
    )
    # Maps trained on so many trials are not far from the best.
    crossed = found.row("cllr", "PAV, cross-fitted").minimum
    assert found.row("cllr", "PAV").minimum < crossed < 1.3 * found.row("cllr", "PAV").minimum


def test_conditions_that_lack_trials_cannot_be_cross_fitted(rng):
    scores, key = trials(rng)
    part = key.trial_mask & (np.arange(28) < 20)[:, None]
    conditions = bp.Conditions({"some": part}, uncovered="ignore")
    with pytest.raises(InvalidInputError, match="folds=None"):
        bp.decompose(scores, key, conditions=conditions, speakers=speaker)
    assert bp.decompose(scores, key, conditions=conditions, folds=None).rows


def test_files_and_ways_out(rng, tmp_path):
    scores, key = trials(rng)
    scores.save(tmp_path / "scores.h5")
    key.save(tmp_path / "key.h5")
    options = {"speakers": speaker, "rng": 1}
    found = bp.decompose(tmp_path / "scores.h5", tmp_path / "key.h5", **options)
    assert repr(found) == repr(bp.decompose(scores, key, **options))
    assert [row["figure"] for row in found.records()][:2] == ["act_dcf(0.01)", "act_dcf(0.05)"]
    assert "costs are normalized" in found.to_markdown()
    assert found.records()[0]["reliability"] is None
    assert set(PARTS) < found.records()[0].keys()


def test_a_row_that_is_none(rng):
    scores, key = trials(rng)
    with pytest.raises(InvalidInputError, match=r"act_dcf\(0\.01\), .*, cllr PAV"):
        bp.decompose(scores, key, folds=None).row("cllr")
