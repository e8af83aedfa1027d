"""Quality fusion against the toolkit, linear fusion, naive sums, and real systems."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py.errors import MissingTrialsWarning, SeparableDataWarning
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.fusion.quality_fusion import form_from_triangle
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import OBJECTIVES, TrainingObjective
from bosaris_py.trials import Key, QualityMeasures, Scores
from tests.forms import evolve

NAMES = ("I2", "sum", "first")
MODELS = [f"m{index:02}" for index in range(12)]
SEGMENTS = [f"s{index:02}" for index in range(25)]


@pytest.fixture(scope="module")
def record(oracle):
    with np.load(oracle / "fusion_quality.npz") as arrays:
        return dict(arrays)


def problem(record, part):
    """Return the systems, the quality measures and the key of "dev" or "eval"."""
    key = Key(MODELS, SEGMENTS, record[f"{part}_tar"] > 0, record[f"{part}_non"] > 0)
    systems = [Scores(record[f"{part}_s{number}"], MODELS, SEGMENTS) for number in (1, 2)]
    return (
        systems,
        QualityMeasures(MODELS, SEGMENTS, record[f"{part}_mq"], record[f"{part}_sq"]),
        key,
    )


def naive_features(systems, quality, key, qtrans=None):
    """Materialise scores and raw features of targets and non-targets, entry by entry."""
    mix = np.eye(quality.n_measures) if qtrans is None else np.asarray(qtrans)
    model = np.vstack((mix @ quality.modelQ, np.ones(len(quality.modelset))))
    segment = np.vstack((mix @ quality.segQ, np.ones(len(quality.segset))))
    rows = [system.scoremat for system in systems]
    for i, j in itertools.combinations_with_replacement(range(len(model)), 2):
        if (i, j) == (len(model) - 1, len(model) - 1):
            continue
        product = np.outer(model[i], segment[j])
        rows.append(product if i == j else product + np.outer(model[j], segment[i]))
    return [np.array([row.T[mask.T] for row in rows]) for mask in (key.tar, key.non)]


def naive_fused(weights, systems, quality, qtrans=None):
    """Apply the toolkit's weights to every trial, one at a time."""
    mix = np.eye(quality.n_measures) if qtrans is None else np.asarray(qtrans)
    n_systems = len(systems)
    form = form_from_triangle(weights[n_systems + 1 :])
    fused = np.empty(systems[0].scoremat.shape)
    for row, column in np.ndindex(fused.shape):
        q = np.append(mix @ quality.modelQ[:, row], 1.0)
        r = np.append(mix @ quality.segQ[:, column], 1.0)
        scores = [system.scoremat[row, column] for system in systems]
        fused[row, column] = weights[:n_systems] @ scores + weights[n_systems] + q @ form @ r
    return fused


def raw_coefficients(fusion):
    """Return weights of systems and of raw features as `naive_features` orders them, and offset."""
    weights = fusion.toolkit_weights
    n_systems = fusion.n_systems
    form = form_from_triangle(weights[n_systems + 1 :])
    entries = form[np.triu_indices(len(form))][:-1]
    return np.concatenate((weights[:n_systems], entries, [weights[n_systems]]))


def gradient(fusion, tar, non):
    training = TrainingObjective.from_scores(
        tar, non, prior=fusion.prior, objective=fusion.objective
    )
    return training.evaluate(raw_coefficients(fusion)).gradient


class TestToolkit:
    @pytest.mark.parametrize("name", NAMES)
    def test_exact_optimum(self, record, name):
        systems, quality, key = problem(record, "dev")
        qtrans = record[f"Qtrans_{name}"]
        fusion = QualityFusion.fit_scores(
            systems, [quality], key, qtrans=qtrans, prior=0.1, ridge=0
        )
        fused = fusion.apply(systems, [quality], key)
        assert fusion.objective_value == pytest.approx(record[f"nxe_{name}_exact"], rel=1e-13)
        # Two Newton solutions of the same problem: rounding, divided by the curvature.
        trials = key.tar | key.non
        np.testing.assert_allclose(
            fused.scoremat[trials], record[f"qdev_{name}_exact"][trials], atol=1e-12
        )
        np.testing.assert_array_equal(fused.scoremask, trials)
        # The toolkit stops when it expects a decrease below 1.5e-8.
        assert fusion.objective_value == pytest.approx(record[f"nxe_{name}"], abs=2e-8)
        assert fusion.objective_value <= record[f"nxe_{name}"] + 1e-14
        np.testing.assert_allclose(
            fused.scoremat[trials], record[f"qdev_{name}"][trials], atol=5e-3
        )
        new_systems, new_quality, eval_key = problem(record, "eval")
        new = fusion.apply(new_systems, [new_quality], eval_key.to_ndx())
        np.testing.assert_allclose(
            new.scoremat[new.scoremask], record[f"qeval_{name}"][new.scoremask], atol=5e-3
        )
        assert (
            np.abs(gradient(fusion, *naive_features(systems, quality, key, qtrans))).max() < 1e-13
        )
        # Its weights in its order.
        weights, toolkit = fusion.toolkit_weights, record[f"w_{name}"]
        assert weights.shape == toolkit.shape
        assert weights[-1] == 0.0
        # The offset twice, of which only the sum counts; the toolkit's early stop.
        np.testing.assert_allclose(
            weights[2] + 2 * weights[-1], toolkit[2] + 2 * toolkit[-1], atol=2e-3
        )
        np.testing.assert_allclose(
            np.delete(weights, [2, -1]), np.delete(toolkit, [2, -1]), atol=2e-3
        )
        naive = naive_fused(weights, systems, quality, qtrans)
        np.testing.assert_allclose(
            fused.scoremat[fused.scoremask], naive[fused.scoremask], atol=1e-12
        )


def draw_problem(seed, n_measures=2, n_models=7, n_segments=30):
    """Make two systems whose scores shift with the quality of both sides."""
    rng = np.random.default_rng(seed)
    models = [f"m{index}" for index in range(n_models)]
    segments = [f"s{index}" for index in range(n_segments)]
    tar = rng.uniform(size=(n_models, n_segments)) < 0.3
    non = ~tar & (rng.uniform(size=tar.shape) < 0.9)
    quality = QualityMeasures(
        models,
        segments,
        rng.normal(1.0, 1.0, (n_measures, n_models)),
        rng.normal(2.0, 1.5, (n_measures, n_segments)),
    )
    shift = 0.3 * np.outer(quality.modelQ[0], quality.segQ[0])
    systems = [
        Scores(rng.normal(size=tar.shape) * 1.5 + tar - shift, models, segments) for _ in range(2)
    ]
    return systems, quality, Key(models, segments, tar, non)


@pytest.fixture
def drawn():
    return draw_problem(20111209)


def assert_same_scores(first, second, atol=1e-9):
    """Compare fused scores; two optimisations meet to rounding, divided by the curvature."""
    assert first.modelset.tolist() == second.modelset.tolist()
    np.testing.assert_array_equal(first.scoremask, second.scoremask)
    mask = first.scoremask
    np.testing.assert_allclose(first.scoremat[mask], second.scoremat[mask], atol=atol)


SEEDS = st.integers(0, 2**32 - 1)


class TestLaws:
    @given(seed=SEEDS, n_measures=st.integers(1, 3))
    @settings(max_examples=15, deadline=None)
    def test_swapping_model_and_segment(self, seed, n_measures):
        systems, quality, key = draw_problem(seed, n_measures)
        plain = QualityFusion.fit_scores(systems, [quality], key, ridge=1e-3)
        flipped_systems = [Scores(s.scoremat.T, s.segset, s.modelset) for s in systems]
        flipped = QualityMeasures(quality.segset, quality.modelset, quality.segQ, quality.modelQ)
        flipped_key = Key(key.segset, key.modelset, key.tar.T, key.non.T)
        swapped = QualityFusion.fit_scores(flipped_systems, [flipped], flipped_key, ridge=1e-3)
        np.testing.assert_allclose(swapped.toolkit_weights, plain.toolkit_weights, atol=1e-9)
        fused = plain.apply(systems, [quality], key)
        other = swapped.apply(flipped_systems, [flipped], flipped_key)
        np.testing.assert_allclose(other.scoremat.T, fused.scoremat, atol=1e-9)

    def test_units_of_measures_do_not_matter(self, drawn):
        """Any invertible linear map and shift of the measures, the same on both sides."""
        systems, quality, key = drawn
        mix = np.array([[1e4, -2e4], [1e-3, 3e-3]])
        shift = np.array([[5e4], [-1.0]])
        changed = evolve(
            quality, modelQ=mix @ quality.modelQ + shift, segQ=mix @ quality.segQ + shift
        )
        plain = QualityFusion.fit_scores(systems, [quality], key, ridge=0)
        other = QualityFusion.fit_scores(systems, [changed], key, ridge=0)
        assert_same_scores(
            other.apply(systems, [changed], key), plain.apply(systems, [quality], key)
        )
        mixed = QualityFusion.fit_scores(systems, [quality], key, qtrans=mix, ridge=0)
        assert_same_scores(
            mixed.apply(systems, [quality], key), plain.apply(systems, [quality], key)
        )

    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_gradient_vanishes(self, drawn, objective):
        systems, quality, key = drawn
        fusion = QualityFusion.fit_scores(
            systems, [quality], key, objective=objective, prior=OperatingPoint(0.1, 3, 1), ridge=0
        )
        # Raw features reach 30; the standardised gradient vanishes to rounding.
        assert np.abs(gradient(fusion, *naive_features(systems, quality, key))).max() < 1e-12

    def test_weights_repeat_trials(self, drawn):
        """A weight of zero leaves a trial out, whole models keep their measures."""
        systems, quality, key = drawn
        heavy = np.zeros(key.n_tar)
        heavy[::2] = 2.0
        weighted = QualityFusion.fit_scores(systems, [quality], key, tar_weights=heavy, ridge=0)
        chosen = np.zeros_like(key.tar.T)
        chosen[key.tar.T] = heavy > 0
        fewer = Key(key.modelset, key.segset, chosen.T, key.non)
        alone = QualityFusion.fit_scores(systems, [quality], fewer, ridge=0)
        assert weighted.n_tar == alone.n_tar == np.count_nonzero(heavy)
        assert_same_scores(
            weighted.apply(systems, [quality], key), alone.apply(systems, [quality], key)
        )


class TestBackOff:
    def test_single_trials_without_quality(self, drawn):
        systems, quality, key = drawn
        fusion = QualityFusion.fit_scores(systems, [quality], key, ridge=0)
        mask = np.ones((7, 30), dtype=bool)
        mask[3, 4:9] = False
        masked = evolve(quality, scoremask=mask)
        with pytest.warns(MissingTrialsWarning):
            fused = fusion.apply(systems, [masked], key)
        linear = fusion.linear.apply(systems, key).scoremat
        complete = fusion.apply(systems, [quality], key).scoremat
        np.testing.assert_array_equal(fused.scoremat, np.where(mask, complete, linear))

    def test_masks_of_several_objects_are_joined(self, drawn):
        systems, quality, key = drawn
        parts = []
        for row in (0, 1):
            has = np.ones(7, dtype=bool)
            has[row] = False
            parts.append(
                QualityMeasures(
                    quality.modelset,
                    quality.segset,
                    quality.modelQ[[row]],
                    quality.segQ[[row]],
                    has,
                )
            )
        fusion = QualityFusion.fit_scores(systems, [quality], key, ridge=0)
        n_missing = np.count_nonzero((key.tar | key.non)[:2])
        with pytest.warns(MissingTrialsWarning) as caught:
            fused = fusion.apply(systems, parts, key)
        assert f"missing for {n_missing} of {key.n_trials} " in str(caught[-1].message)
        linear = fusion.linear.apply(systems, key).scoremat
        complete = fusion.apply(systems, [quality], key).scoremat
        np.testing.assert_array_equal(fused.scoremat[:2], linear[:2])
        np.testing.assert_array_equal(fused.scoremat[2:], complete[2:])

    def test_given_linear_fusion_and_given_scores(self, drawn):
        systems, quality, key = drawn
        linear = LinearFusion.fit_scores(systems, key, prior=0.01, ridge=0)
        fusion = QualityFusion.fit_scores(systems, [quality], key, linear=linear, ridge=0)
        assert fusion.linear == linear
        own = evolve(systems[0], scoremat=np.full((7, 30), 42.0))
        nothing = evolve(quality, hasseg=np.zeros(30, dtype=bool))
        with pytest.warns(MissingTrialsWarning):
            fused = fusion.apply(systems, [nothing], key, backoff=own)
        assert set(fused.scoremat[fused.scoremask]) == {42.0}


class TestScores:
    def test_separable(self, drawn):
        systems, quality, key = drawn
        telling = evolve(systems[0], scoremat=np.where(key.tar, 1.0, -1.0))
        with pytest.warns(SeparableDataWarning) as caught:
            fusion = QualityFusion.fit_scores([telling, systems[1]], [quality], key, ridge=0)
        # One warning; notes of the whole, and of the linear fusion of all trials.
        assert [warning.category for warning in caught].count(SeparableDataWarning) == 1
        assert [note.kind for note in fusion.notes].count(SeparableDataWarning) == 2
        assert fusion.ridge == 1 / key.n_tar
        assert np.abs(fusion.apply([telling, systems[1]], [quality], key).scoremat).max() < 20
