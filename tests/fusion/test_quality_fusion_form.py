"""The bilinear form of quality fusion: toolkit, hand calculation, and its lazy design."""

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.fusion.quality_fusion import (
    QualityDesign,
    form_entries,
    form_from_triangle,
    fuse_trials,
    in_raw_units,
    measure_scale,
    n_form_weights,
    quality_term,
    triangle_from_form,
)
from bosaris_py.numerics.objective import class_moments


def test_given_weights_of_the_toolkit(oracle):
    """fusion_quality.npz: qfuser_linear with arbitrary weights, nothing trained."""
    with np.load(oracle / "fusion_quality.npz") as record:
        segments, models = np.nonzero((record["dev_tar"] + record["dev_non"]).T)
        fused = fuse_trials(
            record["wtest"],
            record["stack_scores"],
            record["dev_mq"][:, models],
            record["dev_sq"][:, segments],
        )
        np.testing.assert_allclose(fused, record["qfuser_at_wtest"], atol=1e-12)


def test_triangle_goes_down_the_columns_and_counts_the_diagonal_twice():
    form = form_from_triangle([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert form.tolist() == [[2.0, 2.0, 3.0], [2.0, 8.0, 5.0], [3.0, 5.0, 12.0]]
    assert triangle_from_form(form).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("n_measures", [0, 1, 2, 5, 40])
def test_triangles_of_any_size(n_measures, rng):
    weights = rng.normal(size=n_form_weights(n_measures))
    form = form_from_triangle(weights)
    assert form.shape == (n_measures + 1, n_measures + 1)
    np.testing.assert_array_equal(form, form.T)
    np.testing.assert_array_equal(triangle_from_form(form), weights)
    assert len(form_entries(n_measures)) == weights.size - 1
    assert len(set(form_entries(n_measures))) == weights.size - 1


@pytest.mark.parametrize("size", [0, 2, 4, 5])
def test_no_triangle(size):
    with pytest.raises(InvalidInputError, match=f"q measures; got {size}"):
        form_from_triangle(np.ones(size))


def test_term_by_hand():
    """2 * 3 * 5 + 7 * (3 + 5) + 11."""
    form = np.array([[2.0, 7.0], [7.0, 11.0]])
    assert quality_term(form, np.array([[3.0]]), np.array([[5.0]])).tolist() == [[97.0]]


def test_raw_units(rng):
    half = rng.normal(size=(4, 4))
    form, centre, spread = half + half.T, rng.normal(size=3), rng.uniform(1, 5, 3)
    models, segments = rng.normal(size=(3, 6)), rng.normal(size=(3, 8))
    standardised = [(x - centre[:, np.newaxis]) / spread[:, np.newaxis] for x in (models, segments)]
    raw = in_raw_units(form, centre, spread)
    np.testing.assert_allclose(raw, raw.T, atol=1e-14)
    np.testing.assert_allclose(
        quality_term(raw, models, segments), quality_term(form, *standardised), atol=1e-12
    )


def test_scale_counts_both_sides_the_same():
    """Measures 0, 2 and 5, 5, 5: centre (1 + 5) / 2; variance half of (9+1)/2 + 4."""
    centre, spread = measure_scale(np.array([[0.0, 2.0]]), np.array([[5.0, 5.0, 5.0]]))
    np.testing.assert_allclose([centre[0], spread[0] ** 2], [3.0, 4.5], rtol=1e-15)
    for constant, expected in ((0.0, 1.0), (0.1, 0.1), (-7.0, 7.0)):
        _, spread = measure_scale(np.full((1, 3), constant), np.full((1, 4), constant))
        assert spread.tolist() == [expected]


@pytest.fixture
def design(rng):
    ones = [np.ones((1, size)) for size in (5, 9)]
    return QualityDesign(
        scores=rng.normal(size=(2, 40)),
        models=rng.integers(0, 5, 40).astype(np.int32),
        segments=rng.integers(0, 9, 40).astype(np.int32),
        model_measures=np.vstack((rng.normal(size=(2, 5)), ones[0])),
        segment_measures=np.vstack((rng.normal(size=(2, 9)), ones[1])),
        entries=form_entries(2),
    )


def test_design_is_a_matrix_of_scores_and_features(design, monkeypatch):
    whole = design[:, :]
    assert whole.shape == design.shape == (7, 40)
    q = design.model_measures[:, design.models]
    r = design.segment_measures[:, design.segments]
    expected = [
        *design.scores,
        q[0] + r[0],
        q[1] + r[1],
        q[0] * r[0],
        q[0] * r[1] + q[1] * r[0],
        q[1] * r[1],
    ]
    np.testing.assert_allclose(whole, expected, atol=1e-15)
    np.testing.assert_array_equal(design[:, 3:17], whole[:, 3:17])
    np.testing.assert_array_equal(design[:, 5::7], whole[:, 5::7])
    # Blocks of seven trials.
    monkeypatch.setattr("bosaris_py.numerics.objective.BLOCK", 7)
    np.testing.assert_array_equal(class_moments(design).scatter, class_moments(whole).scatter)
    fewer = design.keep(np.array([True, False, False, True, False]))
    np.testing.assert_array_equal(fewer[:, :], whole[[0, 1, 2, 5]])


def test_design_gives_whole_trials_only(design):
    with pytest.raises(IndexError, match="only blocks of trials"):
        design[1:2, :]


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, np.ones(7), r"`weights` .* have 3 \+ 3 weights"),
        (0, np.ones(5), r"`weights` .* have 3 \+ 3 weights"),
        (1, np.ones(4), "`scores` .* two-dimensional"),
        (2, np.ones((1, 3)), r"`model_measures` .* 1 measures of 4 trials; got shape \(1, 3\)"),
        (3, np.ones((2, 4)), r"`segment_measures` .* 1 measures of 4 trials; got shape \(2, 4\)"),
    ],
)
def test_weights_that_do_not_fit(position, value, message):
    arguments = [np.ones(6), np.ones((2, 4)), np.ones((1, 4)), np.ones((1, 4))]
    arguments[position] = value
    with pytest.raises(InvalidInputError, match=message):
        fuse_trials(*arguments)
