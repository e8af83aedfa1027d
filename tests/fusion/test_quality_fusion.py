"""Quality fusion against the toolkit, linear fusion, naive sums, and real systems."""

import copy
import itertools
import json
import pickle
import re

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py import cllr
from bosaris_py.errors import (
    ConvergenceWarning,
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
    SeparableDataWarning,
    TrialMismatchError,
)
from bosaris_py.evaluation import Results
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.fusion.quality_fusion import form_from_triangle
from bosaris_py.numerics.objective import TrainingObjective
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import OBJECTIVES
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores, SegmentQuality
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
        fusion = QualityFusion.fit_scores(systems, [quality], key, qtrans=qtrans, prior=0.1)
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

    @pytest.mark.parametrize("name", NAMES)
    def test_weights_in_its_order(self, record, name):
        systems, quality, key = problem(record, "dev")
        qtrans = record[f"Qtrans_{name}"]
        fusion = QualityFusion.fit_scores(systems, [quality], key, qtrans=qtrans, prior=0.1)
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
        fused = fusion.apply(systems, [quality], key)
        naive = naive_fused(weights, systems, quality, qtrans)
        np.testing.assert_allclose(
            fused.scoremat[fused.scoremask], naive[fused.scoremask], atol=1e-12
        )

    def test_back_off(self, record):
        fusion = QualityFusion.fit_scores(*_listed(problem(record, "dev")), prior=0.1)
        # The toolkit's early stop.
        found = np.append(fusion.linear.weights, fusion.linear.offset)
        np.testing.assert_allclose(found, record["wlin"], atol=2e-3)
        for part in ("dev", "eval"):
            systems, _, key = problem(record, part)
            fused = fusion.linear.apply(systems, key)
            mask = record[f"lin_{part}_mask"] > 0
            np.testing.assert_array_equal(fused.scoremask, mask)
            np.testing.assert_allclose(fused.scoremat[mask], record[f"lin_{part}"][mask], atol=5e-3)

    def test_missing(self, record):
        systems, quality, key = problem(record, "dev")
        model = int(record["missing_model_indices0"])
        segments = record["missing_segment_indices0"].astype(int)
        absent = [MODELS[model]], [SEGMENTS[index] for index in segments]
        lacking = np.zeros((12, 25), dtype=bool)
        lacking[model] = True
        lacking[:, segments] = True
        trials = key.tar | key.non
        n_missing = np.count_nonzero(lacking & trials)
        with pytest.warns(MissingTrialsWarning) as caught:
            fusion = QualityFusion.fit_scores(
                systems, [quality.filter(*absent, keep=False)], key, prior=0.1
            )
        missing = [one for one in caught if one.category is MissingTrialsWarning]
        assert [str(warning.message) for warning in missing] == [
            "models reduced from 12 to 11",
            "test segments reduced from 25 to 23",
            f"{np.count_nonzero(lacking & key.tar)} of 71 targets missing.",
            f"{np.count_nonzero(lacking & key.non)} of 202 non-targets missing.",
            f"Quality fusion training has {n_missing} missing trials.",
        ]
        assert all(warning.filename == __file__ for warning in caught)
        assert fusion.n_tar + fusion.n_non == 273 - n_missing
        assert fusion.objective_value == pytest.approx(float(record["nxe_missing"]), abs=2e-8)
        for part in ("dev", "eval"):
            systems, quality, key = problem(record, part)
            trials = key.tar | key.non
            n_missing = np.count_nonzero(lacking & trials)
            text = (
                f"Quality missing for {n_missing} of {np.count_nonzero(trials)} trials, "
                "substituting backoff scores."
            )
            with pytest.warns(MissingTrialsWarning) as caught:
                fused = fusion.apply(systems, [quality.filter(*absent, keep=False)], key.to_ndx())
            assert str(caught[-1].message) == text
            assert caught[-1].filename == __file__
            # The toolkit's early stop, here of two fusions.
            np.testing.assert_allclose(
                fused.scoremat[trials], record[f"q{part}_missing"][trials], atol=5e-3
            )
            linear = fusion.linear.apply(systems, key)
            np.testing.assert_array_equal(
                fused.scoremat[trials & lacking], linear.scoremat[trials & lacking]
            )

    def test_spliced(self, record):
        systems, quality, key = problem(record, "dev")
        parts = [
            QualityMeasures(MODELS, SEGMENTS, quality.modelQ[[row]], quality.segQ[[row]])
            for row in (0, 1)
        ]
        whole = QualityFusion.fit_scores(systems, [quality], key, prior=0.1)
        spliced = QualityFusion.fit_scores(systems, parts, key, prior=0.1)
        assert spliced == whole
        assert spliced.apply(systems, parts, key) == whole.apply(systems, [quality], key)


def _listed(parts):
    systems, quality, key = parts
    return systems, [quality], key


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

    @given(seed=SEEDS)
    @settings(max_examples=15, deadline=None)
    def test_order_of_models_and_segments_does_not_matter(self, seed):
        systems, quality, key = draw_problem(seed)
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(7), rng.permutation(30)
        grid = np.ix_(rows, columns)
        models, segments = key.modelset[rows], key.segset[columns]
        mixed_key = Key(models, segments, key.tar[grid], key.non[grid])
        mixed_quality = QualityMeasures(
            models, segments, quality.modelQ[:, rows], quality.segQ[:, columns]
        )
        plain = QualityFusion.fit_scores(systems, [quality], key, ridge=1e-3)
        mixed = QualityFusion.fit_scores(systems, [mixed_quality], mixed_key, ridge=1e-3)
        assert_same_scores(
            mixed.apply(systems, [mixed_quality], key), plain.apply(systems, [quality], key)
        )

    @given(seed=SEEDS, fixed=st.sampled_from([0.0, 1.0, -0.1, 1e6]))
    @settings(max_examples=15, deadline=None)
    def test_useless_quality_is_linear_fusion(self, seed, fixed):
        systems, quality, key = draw_problem(seed)
        constant = evolve(quality, modelQ=np.full((2, 7), 0.1), segQ=np.full((2, 30), fixed))
        fusion = QualityFusion.fit_scores(systems, [constant], key, ridge=1e-3)
        assert not fusion.form.any()
        np.testing.assert_allclose(fusion.weights, fusion.linear.weights, rtol=1e-9)
        assert fusion.objective_value == pytest.approx(fusion.linear.objective_value, rel=1e-12)
        assert_same_scores(
            fusion.apply(systems, [constant], key), fusion.linear.apply(systems, key)
        )

    @given(seed=SEEDS)
    @settings(max_examples=15, deadline=None)
    def test_never_worse_in_training_than_linear_fusion(self, seed):
        systems, quality, key = draw_problem(seed)
        fusion = QualityFusion.fit_scores(systems, [quality], key)
        assert fusion.ridge > 0 or fusion.objective_value <= fusion.linear.objective_value + 1e-14

    def test_units_of_measures_do_not_matter(self, drawn):
        """Any invertible linear map and shift of the measures, the same on both sides."""
        systems, quality, key = drawn
        mix = np.array([[1e4, -2e4], [1e-3, 3e-3]])
        shift = np.array([[5e4], [-1.0]])
        changed = evolve(
            quality, modelQ=mix @ quality.modelQ + shift, segQ=mix @ quality.segQ + shift
        )
        plain = QualityFusion.fit_scores(systems, [quality], key)
        other = QualityFusion.fit_scores(systems, [changed], key)
        assert_same_scores(
            other.apply(systems, [changed], key), plain.apply(systems, [quality], key)
        )
        mixed = QualityFusion.fit_scores(systems, [quality], key, qtrans=mix)
        assert_same_scores(
            mixed.apply(systems, [quality], key), plain.apply(systems, [quality], key)
        )

    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_gradient_vanishes(self, drawn, objective):
        systems, quality, key = drawn
        fusion = QualityFusion.fit_scores(
            systems, [quality], key, objective=objective, prior=OperatingPoint(0.1, 3, 1)
        )
        # Raw features reach 30; the standardised gradient vanishes to rounding.
        assert np.abs(gradient(fusion, *naive_features(systems, quality, key))).max() < 1e-12

    def test_ridge_shrinks_standardised_features(self, drawn):
        systems, quality, key = drawn
        lengths = []
        for ridge in (0.0, 0.1, 10.0):
            fusion = QualityFusion.fit_scores(systems, [quality], key, ridge=ridge)
            assert fusion.ridge == ridge
            lengths.append(np.sum(fusion.weights**2) + np.sum(fusion.form**2))
        assert lengths == sorted(lengths, reverse=True)

    def test_weights_repeat_trials(self, drawn):
        """A weight of zero leaves a trial out, whole models keep their measures."""
        systems, quality, key = drawn
        heavy = np.zeros(key.n_tar)
        heavy[::2] = 2.0
        weighted = QualityFusion.fit_scores(systems, [quality], key, tar_weights=heavy)
        chosen = np.zeros_like(key.tar.T)
        chosen[key.tar.T] = heavy > 0
        fewer = Key(key.modelset, key.segset, chosen.T, key.non)
        alone = QualityFusion.fit_scores(systems, [quality], fewer)
        assert weighted.n_tar == alone.n_tar == np.count_nonzero(heavy)
        assert_same_scores(
            weighted.apply(systems, [quality], key), alone.apply(systems, [quality], key)
        )

    def test_a_measure_given_twice_changes_nothing(self, drawn):
        systems, quality, key = drawn
        plain = QualityFusion.fit_scores(systems, [quality], key)
        twice = QualityFusion.fit_scores(systems, [quality, quality], key)
        assert_same_scores(
            twice.apply(systems, [quality, quality], key), plain.apply(systems, [quality], key)
        )

    @pytest.mark.filterwarnings("ignore:.*far outside:bosaris_py.errors.ExtrapolationWarning")
    @pytest.mark.parametrize(("n_models", "n_measures"), [(2, 2), (3, 3), (2, 3)])
    def test_fewer_models_than_measures_plus_one(self, n_models, n_measures):
        """Weights that trained models leave open are the shortest, as in LinearFusion."""
        dev = draw_problem(7, n_measures, n_models)
        systems, quality, key = draw_problem(8, n_measures, 12)
        with pytest.warns(ConvergenceWarning, match="models or segments fewer than measures plus"):
            fusion = QualityFusion.fit_scores(*_listed(dev))
        scale = [side[:, np.newaxis] for side in (fusion.centre, fusion.spread)]
        stacks = []
        for scores, q, trials in (dev, (systems, quality, key)):
            sides = ((side - scale[0]) / scale[1] for side in (q.modelQ, q.segQ))
            standardised = QualityMeasures(q.modelset, q.segset, *sides)
            stacks.append(naive_features(scores, standardised, trials))
        with pytest.warns(ConvergenceWarning, match="shortest standardised weights"):
            linear = LinearFusion.fit(*stacks[0])
        fused = fusion.apply(systems, [quality], key).get_tar_non(key)
        for llrs, features in zip(fused, stacks[1], strict=True):
            np.testing.assert_allclose(llrs, linear.apply(features), atol=1e-6)

    @pytest.mark.filterwarnings("ignore:.*far outside:bosaris_py.errors.ExtrapolationWarning")
    def test_eval_llrs_of_the_shortest_weights_are_moderate(self):
        """Three models and three measures; weights of a subset of the features reach 60,000."""
        largest = 0.0
        for seed in range(20):
            dev = draw_problem(seed, 3, 3, 60)
            systems, quality, key = draw_problem(seed + 1000, 3, 12)
            with pytest.warns(ConvergenceWarning, match="shortest"):
                fusion = QualityFusion.fit_scores(*_listed(dev))
            largest = max(largest, np.abs(fusion.apply(systems, [quality], key).scoremat).max())
        assert largest < 200.0

    def test_few_segments_and_repeated_models_are_noticed(self, drawn):
        systems, quality, key = drawn
        rows = np.arange(7) % 2
        with pytest.warns(ConvergenceWarning, match="fewer than measures plus one"):
            QualityFusion.fit_scores(
                systems, [evolve(quality, modelQ=quality.modelQ[:, rows])], key
            )

    def test_far_from_zero(self, drawn):
        """Measures around 1e6 with a spread of 1 cost digits, but no sense."""
        systems, quality, key = drawn
        far = evolve(quality, modelQ=quality.modelQ + 1e6, segQ=quality.segQ + 1e6)
        plain = QualityFusion.fit_scores(systems, [quality], key)
        shifted = QualityFusion.fit_scores(systems, [far], key)
        # Of 16 digits 6 are lost in the measures.
        assert_same_scores(
            shifted.apply(systems, [far], key), plain.apply(systems, [quality], key), atol=1e-7
        )


class TestConstantMeasure:
    """A measure that does not vary leaves the scores alone as inputs: the fusion is linear."""

    @pytest.mark.parametrize(
        ("size", "objective"), [(40, "brier"), pytest.param(1200, "cllr", marks=pytest.mark.slow)]
    )
    def test_is_linear_fusion(self, size, objective):
        ids = [f"m{index}" for index in range(size)]
        tar = np.eye(size, dtype=bool)
        scores = Scores(np.random.default_rng(1).normal(size=(size, size)) + 2.0 * tar, ids, ids)
        key = Key(ids, ids, tar, ~tar)
        constant = SegmentQuality(ids, np.ones((1, size)))
        fitted = QualityFusion.fit_scores([scores], [constant], key, objective=objective)
        linear = LinearFusion.fit_scores([scores], key, objective=objective)
        np.testing.assert_allclose(fitted.weights, linear.weights, rtol=1e-6)
        assert fitted.form.tolist() == [[0.0, 0.0], [0.0, 0.0]]


class TestSegmentQuality:
    def test_is_the_same_as_constant_measures_of_models(self, drawn):
        systems, quality, key = drawn
        alone = SegmentQuality(quality.segset, quality.segQ)
        fusion = QualityFusion.fit_scores(systems, [alone], key)
        # A sum of both sides only: the segment's measure, weighted.
        assert not fusion.form[:-1, :-1].any()
        fused = fusion.apply(systems, [alone], key)
        for constant in (0.0, 1.0, -40.0):
            given_too = evolve(quality, modelQ=np.full((2, 7), constant))
            other = QualityFusion.fit_scores(systems, [given_too], key)
            assert_same_scores(other.apply(systems, [given_too], key), fused)

    def test_is_the_same_as_one_more_system(self, drawn):
        systems, quality, key = drawn
        alone = SegmentQuality(quality.segset, quality.segQ[:1])
        more = [*systems, Scores(np.repeat(quality.segQ[:1], 7, axis=0), key.modelset, key.segset)]
        fusion = QualityFusion.fit_scores(systems, [alone], key)
        linear = LinearFusion.fit_scores(more, key)
        assert_same_scores(fusion.apply(systems, [alone], key), linear.apply(more, key))

    def test_beside_measures_of_both_sides(self, drawn):
        systems, quality, key = drawn
        alone = SegmentQuality(quality.segset, quality.segQ[:1])
        both = evolve(quality, modelQ=quality.modelQ[1:], segQ=quality.segQ[1:])
        fusion = QualityFusion.fit_scores(systems, [alone, both], key)
        zero = evolve(quality, modelQ=np.vstack((np.zeros(7), quality.modelQ[1])))
        other = QualityFusion.fit_scores(systems, [zero], key)
        assert fusion == other
        assert fusion.n_measures == 2

    def test_missing_segments(self, drawn):
        systems, quality, key = drawn
        alone = SegmentQuality(quality.segset[3:], quality.segQ[:, 3:])
        with pytest.warns(MissingTrialsWarning) as caught:
            fusion = QualityFusion.fit_scores(systems, [alone], key)
        n_missing = np.count_nonzero((key.tar | key.non)[:, :3])
        assert str(caught[0].message) == "test segments reduced from 30 to 27"
        assert f"{n_missing} missing trials." in str(caught[-1].message)
        assert fusion.n_tar + fusion.n_non == key.n_trials - n_missing


class TestBackOff:
    def test_no_quality_at_all(self, drawn):
        systems, quality, key = drawn
        fusion = QualityFusion.fit_scores(systems, [quality], key)
        nothing = evolve(quality, hasmodel=np.zeros(7, dtype=bool))
        with pytest.warns(MissingTrialsWarning) as caught:
            fused = fusion.apply(systems, [nothing], key.to_ndx())
        assert f"missing for {key.n_trials} of {key.n_trials} trials" in str(caught[-1].message)
        assert fused == fusion.linear.apply(systems, key.to_ndx())

    def test_single_trials_without_quality(self, drawn):
        systems, quality, key = drawn
        fusion = QualityFusion.fit_scores(systems, [quality], key)
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
        fusion = QualityFusion.fit_scores(systems, [quality], key)
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
        linear = LinearFusion.fit_scores(systems, key, prior=0.01)
        fusion = QualityFusion.fit_scores(systems, [quality], key, linear=linear)
        assert fusion.linear == linear
        own = evolve(systems[0], scoremat=np.full((7, 30), 42.0))
        nothing = evolve(quality, hasseg=np.zeros(30, dtype=bool))
        with pytest.warns(MissingTrialsWarning):
            fused = fusion.apply(systems, [nothing], key, backoff=own)
        assert set(fused.scoremat[fused.scoremask]) == {42.0}

    def test_linear_fusion_learns_from_all_trials(self, drawn):
        systems, quality, key = drawn
        with pytest.warns(MissingTrialsWarning):
            fusion = QualityFusion.fit_scores(
                systems, [quality.filter(["m1"], [], keep=False)], key, prior=0.2
            )
        assert fusion.linear == LinearFusion.fit_scores(systems, key, prior=0.2)


class TestScores:
    def test_infinite_scores_when_applied(self, drawn):
        systems, quality, key = drawn
        fusion = QualityFusion.fit_scores(systems, [quality], key)
        row, column = np.argwhere(key.tar | key.non)[0]
        matrix = systems[0].scoremat.copy()
        matrix[row, column] = np.inf
        fused = fusion.apply([evolve(systems[0], scoremat=matrix), systems[1]], [quality], key)
        assert fused.scoremat[row, column] == np.sign(fusion.weights[0]) * np.inf

    def test_any_layout(self, drawn):
        systems, quality, key = drawn
        single = [evolve(s, scoremat=np.asfortranarray(s.scoremat)) for s in systems]
        changed = evolve(
            quality,
            modelQ=np.repeat(quality.modelQ, 2, axis=1)[:, ::2],
            segQ=np.asfortranarray(quality.segQ),
        )
        assert QualityFusion.fit_scores(single, [changed], key) == QualityFusion.fit_scores(
            tuple(systems), (quality,), key
        )
        small = evolve(
            quality,
            modelQ=np.round(quality.modelQ).astype(np.float32),
            segQ=np.round(quality.segQ).astype(np.float32),
        )
        large = evolve(quality, modelQ=np.round(quality.modelQ), segQ=np.round(quality.segQ))
        assert QualityFusion.fit_scores(systems, [small], key) == QualityFusion.fit_scores(
            systems, [large], key
        )

    def test_separable(self, drawn):
        systems, quality, key = drawn
        telling = evolve(systems[0], scoremat=np.where(key.tar, 1.0, -1.0))
        with pytest.warns(SeparableDataWarning) as caught:
            fusion = QualityFusion.fit_scores([telling, systems[1]], [quality], key)
        # One warning of the linear fusion that training starts from, one of the whole.
        told = [str(warning.message).split(":")[0] for warning in caught]
        assert told == 2 * ["The training scores are separable"]
        assert fusion.ridge == 1 / key.n_tar
        assert np.abs(fusion.apply([telling, systems[1]], [quality], key).scoremat).max() < 20

    def test_quasi_separable(self, drawn):
        """Two targets that alone have a feature: its weight would grow for ever."""
        systems, quality, key = drawn
        lucky = np.zeros(key.tar.shape)
        rows, columns = np.nonzero(key.tar)
        lucky[rows[:2], columns[:2]] = 1.0
        with pytest.warns(SeparableDataWarning) as caught:
            fusion = QualityFusion.fit_scores(
                [systems[0], evolve(systems[1], scoremat=lucky)], [quality], key
            )
        # One warning of the linear fusion that training starts from, one of the whole.
        told = [str(warning.message).split(":")[0] for warning in caught]
        assert told == 2 * ["The training scores are separable"]
        assert np.abs(fusion.weights).max() < 50

    def test_collinear_systems_are_told_from_features(self, drawn):
        systems, quality, key = drawn
        with pytest.warns(ConvergenceWarning) as caught:
            fusion = QualityFusion.fit_scores([systems[0], systems[0]], [quality], key)
        linear, joint = (str(warning.message) for warning in caught)
        assert linear.startswith("The scores of the 2 systems vary in only 1 ")
        assert re.match(
            r"The scores of the 2 systems and \d quality features vary "
            r"in only \d directions",
            joint,
        )
        assert fusion.weights[0] == pytest.approx(fusion.weights[1], rel=1e-9)

    @pytest.mark.parametrize("size", [1e308, 1e-300])
    def test_only_proportions_of_weights_matter(self, drawn, size):
        systems, quality, key = drawn
        plain = QualityFusion.fit_scores(systems, [quality], key)
        sized = QualityFusion.fit_scores(
            systems, [quality], key, tar_weights=np.full(key.n_tar, size)
        )
        np.testing.assert_allclose(sized.weights, plain.weights, rtol=1e-9)


BAD_MEASURE = np.ones((2, 7))
BAD_MEASURE = np.where(np.arange(7) == 2, np.nan, BAD_MEASURE)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s, q, k: (s, [q], k.to_ndx(), {}), InvalidInputError, "`key` must be a Key, .*Ndx"),
        (lambda s, q, k: (s, {"snr": q}, k, {}), InvalidInputError, "`values` must"),
        (lambda s, q, k: (s, [], k, {}), InvalidInputError, "at least one QualityMeasures"),
        (lambda s, q, k: (s, s, k, {}), InvalidInputError, "hold QualityMeasures or SegmentQ"),
        (
            lambda s, q, k: (s, [SegmentQuality(k.segset, np.empty((0, 30)))], k, {}),
            InvalidInputError,
            "at least one quality measure; got none",
        ),
        (lambda s, q, k: ([], [q], k, {}), InvalidInputError, "at least one Scores"),
        (lambda s, q, k: ([q], [q], k, {}), InvalidInputError, "hold Scores only"),
        (
            lambda s, q, k: (s, [q], k, {"qtrans": np.eye(3)}),
            InvalidInputError,
            r"`qtrans` .* each of the 2 measures.* got shape \(3, 3\)",
        ),
        (
            lambda s, q, k: (s, [q], k, {"qtrans": np.ones((2, 1))}),
            InvalidInputError,
            "one column for each",
        ),
        (
            lambda s, q, k: (s, [q], k, {"qtrans": [1.0, 1.0]}),
            InvalidInputError,
            "`qtrans` .* two-d",
        ),
        (
            lambda s, q, k: (s, [q], k, {"qtrans": np.empty((0, 2))}),
            InvalidInputError,
            "`qtrans` .* and a row",
        ),
        (
            lambda s, q, k: (s, [q], k, {"qtrans": [[np.inf, 1.0]]}),
            InvalidInputError,
            "`qtrans` .* finite",
        ),
        (
            lambda s, q, k: (s, [evolve(q, modelQ=BAD_MEASURE)], k, {}),
            InvalidInputError,
            r"`modelQ` .* finite.* 1 ids \(m2\)",
        ),
        (
            lambda s, q, k: (s, [evolve(q, segQ=np.full((2, 30), 1e200))], k, {}),
            InvalidInputError,
            "`segQ` .* not exceed 1e.150; .* measure 1, 2",
        ),
        (lambda s, q, k: (s, [q], k, {"prior": 1.0}), InvalidInputError, "`prior`"),
        (lambda s, q, k: (s, [q], k, {"objective": "mse"}), InvalidInputError, "`objective`"),
        (lambda s, q, k: (s, [q], k, {"ridge": -1.0}), InvalidInputError, "`ridge`"),
        (lambda s, q, k: (s, [q], k, {"tar_weights": [1.0]}), InvalidInputError, "`tar_weights`"),
        (lambda s, q, k: (s, [q], k, {"linear": 3.0}), InvalidInputError, "be a LinearFusion"),
        (
            lambda s, q, k: (s[:1], [q], k, {"linear": LinearFusion.fit_scores(s, k)}),
            InvalidInputError,
            "`linear` .* fuse 1 systems; got one of 2",
        ),
        (
            lambda s, q, k: (s, [q], Key(k.modelset, k.segset, k.tar, k.tar & False), {}),
            InvalidInputError,
            "`non` .* at least one score",
        ),
        (
            lambda s, q, k: ([evolve(s[0], scoremask=k.non)], [q], k, {}),
            TrialMismatchError,
            "system 1 lacks .* targets",
        ),
        (
            lambda s, q, k: (
                [evolve(s[0], scoremat=np.where(k.tar, np.inf, 0.0))],
                [q],
                k,
                {"linear": LinearFusion.fit_scores(s[:1], k)},
            ),
            InvalidInputError,
            "A linear map must be trained on finite scores",
        ),
    ],
)
def test_bad_training_input(drawn, change, error, message):
    *arguments, options = change(*drawn)
    with pytest.raises(error, match=message):
        QualityFusion.fit_scores(*arguments, **options)


@pytest.mark.parametrize("class_name", ["target", "non-target"])
def test_a_class_without_quality_cannot_be_trained(drawn, class_name):
    systems, quality, key = drawn
    bare = evolve(quality, scoremask=key.non if class_name == "target" else key.tar)
    with (
        pytest.warns(MissingTrialsWarning),
        pytest.raises(TrialMismatchError, match=f"No {class_name} trial has quality"),
    ):
        QualityFusion.fit_scores(systems, [bare], key)


def test_no_trial_with_quality_has_a_weight(drawn):
    systems, quality, key = drawn
    first = evolve(quality, hasmodel=np.arange(7) == 0)
    weights = np.where(np.nonzero(key.tar.T)[1] == 0, 0.0, 1.0)
    with (
        pytest.warns(MissingTrialsWarning),
        pytest.raises(TrialMismatchError, match=r"No target trial with quality .* weight"),
    ):
        QualityFusion.fit_scores(systems, [first], key, tar_weights=weights)


@pytest.fixture
def fusion(drawn):
    systems, quality, key = drawn
    return QualityFusion.fit_scores(systems, [quality], key, prior=0.1, qtrans=[[1.0, 0.5]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, q, k: (s[:1], [q], k), "`systems` .* scores of 2 systems.*; got 1"),
        (lambda s, q, k: (s, [q, q], k), "`qualities` .* 2 quality measures in all.*; got 4"),
        (lambda s, q, k: (s, [q, 3.0], k), "SegmentQuality only; got 3.0"),
        (lambda s, q, k: (s, [q], k.tar), "`ndx` must be an Ndx or a Key"),
        (lambda s, q, k: (s, [q], None), "`ndx` must be an Ndx or a Key; got None"),
        (lambda s, q, k: ([evolve(s[0], scoremat=np.full((7, 30), np.nan)), s[1]], [q], k), "NaN"),
    ],
)
def test_bad_input_when_applied(drawn, fusion, change, message):
    with pytest.raises(InvalidInputError, match=message):
        fusion.apply(*change(*drawn))


def test_different_numbers_of_measures_on_the_two_sides():
    with pytest.raises(InvalidInputError, match=r"`segQ` .* 2 rows like `modelQ`; got 1"):
        QualityMeasures(["m"], ["s"], np.ones((2, 1)), np.ones((1, 1)))


class TestObject:
    def test_saved_and_read_again_it_is_the_same(self, drawn, fusion, tmp_path):
        systems, quality, key = drawn
        path = tmp_path / "quality.json"
        for saved in (fusion, QualityFusion.fit_scores(systems, [quality], key)):
            saved.save(path)
            again = QualityFusion.read(path)
            assert again == saved
            assert not again.form.flags.writeable
            assert isinstance(again.linear, LinearFusion)
            assert again.apply(systems, [quality], key) == saved.apply(systems, [quality], key)
        content = json.loads(path.read_text())
        assert content["kind"] == "QualityFusion"
        assert content["parameters"]["qtrans"] is None
        # Version 0.1 reads parameters only.
        assert not content["training_scores"].keys() & content["parameters"]["linear"].keys()
        assert len(content["training_scores"]["low_scores"]) == fusion.n_systems
        with pytest.raises(FileFormatError, match="expected LinearFusion"):
            LinearFusion.read(path)

    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
    )
    def test_copies_are_equal_and_read_only(self, copied, fusion):
        again = copied(fusion)
        assert again == fusion
        for name in ("weights", "form", "centre", "spread", "qtrans"):
            assert not getattr(again, name).flags.writeable

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"form"', '"from"'),
            ('"n_tar": ', '"n_tar": -'),
            ('"cllr"', '"mse"'),
            ('"weights": [', '"weights": ["a",'),
            ('"linear": {', '"linear": {"more": 1,'),
            ('"centre": [', '"centre": [0.5,'),
            ('"spread": [', '"spread": [-'),
        ],
    )
    def test_damaged_files_are_refused(self, fusion, tmp_path, old, new):
        path = tmp_path / "quality.json"
        fusion.save(path)
        text = path.read_text()
        assert old in text
        # The brackets of a list are on a line of their own.
        pattern = re.escape(old) + (r"\s*" if old.endswith("[") else "")
        path.write_text(re.sub(pattern, lambda _: new, text, count=1))
        message = r"quality\.json: damaged parameters of a QualityFusion"
        with pytest.raises(FileFormatError, match=message):
            QualityFusion.read(path)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"weights": [[1.0]]}, "`weights` .* vector of finite numbers"),
            ({"weights": [1.0, np.nan]}, "`weights` .* vector of finite numbers"),
            ({"weights": ["a"]}, "`weights` .* real numbers; got among others 'a'"),
            ({"weights": [1.0]}, "`linear` .* fuse 1 systems.*; got 2"),
            ({"form": [[0.0, 1.0], [2.0, 0.0]]}, "`form` .* symmetric"),
            ({"form": np.zeros((3, 3))}, "`form` .* 1 . 1 rows"),
            ({"form": [1.0, 2.0]}, "`form` .* matrix of finite"),
            ({"spread": [0.0]}, "`spread` .* 1 positive"),
            ({"spread": [1.0, 1.0]}, "`spread` .* 1 positive"),
            ({"qtrans": np.eye(2)}, "`qtrans` .* 1 rows"),
            ({"linear": 1.0}, "`linear` must be a LinearFusion"),
            ({"offset": np.inf}, "`offset` .* finite"),
        ],
    )
    def test_bad_parameters(self, fusion, change, message):
        with pytest.raises(InvalidInputError, match=message):
            evolve(fusion, **change)

    def test_equality(self, fusion):
        form = fusion.form.copy()
        form[0, 0] = np.nextafter(form[0, 0], 9.0)
        assert evolve(fusion) == fusion
        assert evolve(fusion, form=form) != fusion
        assert evolve(fusion, qtrans=None) != fusion

    def test_looks(self, fusion):
        assert repr(fusion) == (
            "QualityFusion: 2 systems, 2 quality measures, "
            f"cllr {fusion.objective_value:.4g} at prior 0.1, "
            f"{fusion.n_tar} targets, {fusion.n_non} non-targets"
        )

    def test_cannot_be_changed(self, fusion):
        with pytest.raises(ValueError, match="read-only"):
            fusion.form[0, 0] = 1.0
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            fusion.offset = 1.0


def read_asvspoof(folder, part):
    table = np.loadtxt(folder / f"bonafide_{part}.csv.gz", dtype=str, delimiter=",", skiprows=1)
    models, segments = table[:, 0], table[:, 1]
    key = Key.from_trials(models, segments, table[:, 2] == "target")
    systems = [Scores.from_trials(models, segments, table[:, c].astype(float)) for c in (5, 6)]
    ids, first = np.unique(segments, return_index=True)
    return systems, [SegmentQuality(ids, table[first, 7].astype(float)[np.newaxis])], key


def test_real_systems(shared_data):
    """ASVspoof 2019: how genuine a recording sounds improves a fusion of two verifiers."""
    dev, dev_quality, dev_key = read_asvspoof(shared_data / "asvspoof2019_la", "dev")
    new, new_quality, eval_key = read_asvspoof(shared_data / "asvspoof2019_la", "eval")
    fusion = QualityFusion.fit_scores(dev, dev_quality, dev_key, prior=0.5)
    assert (fusion.n_tar, fusion.n_non) == (1484, 5768)
    ndx = eval_key.to_ndx()
    assert isinstance(ndx, Ndx)
    linear = Results.from_scores(fusion.linear.apply(new, ndx), eval_key)
    joint = Results.from_scores(fusion.apply(new, new_quality, ndx), eval_key)
    # Measured: 0.05102 and 0.04742.
    assert joint.cllr < 0.95 * linear.cllr
    assert joint.min_cllr < linear.min_cllr
    assert joint.eer < linear.eer
    dev_fused = fusion.apply(dev, dev_quality, dev_key).get_tar_non(dev_key)
    assert cllr(*dev_fused) == pytest.approx(fusion.objective_value, rel=1e-12)

    segment_only = QualityMeasures(
        dev_key.modelset,
        dev_quality[0].ids,
        np.zeros((1, dev_key.modelset.size)),
        dev_quality[0].values,
    ).align_with_ndx(dev_key)
    tar, non = naive_features(
        [system.align_with_ndx(dev_key) for system in dev], segment_only, dev_key
    )
    assert np.linalg.norm(gradient(fusion, tar, non)) < 1e-12
