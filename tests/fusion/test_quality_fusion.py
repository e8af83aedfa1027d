"""Fusion with quality measures: the toolkit, naive sums, laws; measures as systems."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py.calibration import LinearCalibration
from bosaris_py.errors import ConvergenceWarning, MissingTrialsWarning
from bosaris_py.fusion import LinearFusion, QualityFusion, quality_systems
from bosaris_py.fusion.quality_fusion import form_from_triangle, measure_scale
from bosaris_py.metrics import cllr
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import OBJECTIVES, TrainingObjective
from bosaris_py.trials import Key, QualityMeasures, Scores, SegmentQuality
from tests.crossed_trials import mismatched
from tests.forms import as_list, evolve

MODELS = [f"m{index:02}" for index in range(12)]
SEGMENTS = [f"s{index:02}" for index in range(25)]


def test_scale_counts_both_sides_the_same():
    """Measures 0, 2 and 5, 5, 5: centre (1 + 5) / 2; variance half of (9+1)/2 + 4."""
    centre, spread = measure_scale(np.array([[0.0, 2.0]]), np.array([[5.0, 5.0, 5.0]]))
    np.testing.assert_allclose([centre[0], spread[0] ** 2], [3.0, 4.5], rtol=1e-15)
    for constant, expected in ((0.0, 1.0), (0.1, 0.1), (-7.0, 7.0)):
        _, spread = measure_scale(np.full((1, 3), constant), np.full((1, 4), constant))
        assert spread.tolist() == [expected]


@pytest.fixture(scope="module")
def record(oracle):
    with np.load(oracle / "fusion_quality.npz") as arrays:
        return dict(arrays)


def problem(record, part):
    """Return the systems, the quality measures and the key of "dev" or "eval"."""
    key = Key(MODELS, SEGMENTS, record[f"{part}_tar"] > 0, record[f"{part}_non"] > 0)
    systems = [Scores(record[f"{part}_s{number}"], MODELS, SEGMENTS) for number in (1, 2)]
    measures = record[f"{part}_mq"], record[f"{part}_sq"]
    return systems, QualityMeasures(MODELS, SEGMENTS, *measures), key


def naive_features(systems, quality, key, qtrans=None):
    """Materialise scores and raw features of targets and non-targets, entry by entry, and ones."""
    mix = np.eye(quality.n_measures) if qtrans is None else np.asarray(qtrans)
    model = np.vstack((mix @ quality.modelQ, np.ones(len(quality.modelset))))
    segment = np.vstack((mix @ quality.segQ, np.ones(len(quality.segset))))
    rows = [system.scoremat for system in systems]
    for i, j in itertools.combinations_with_replacement(range(len(model)), 2):
        product = np.outer(model[i], segment[j])
        rows.append(product if i == j else product + np.outer(model[j], segment[i]))
    return [np.array([row.T[mask.T] for row in rows]) for mask in (key.tar, key.non)]


def raw_coefficients(fusion):
    """Return weights of systems and of raw features as `naive_features` orders them."""
    weights, n_systems = fusion.toolkit_weights, fusion.weights.size
    form = form_from_triangle(weights[n_systems + 1 :])
    entries = form[np.triu_indices(len(form))]
    assert entries[-1] == 0.0
    return np.concatenate((weights[:n_systems], entries[:-1], [weights[n_systems]]))


def gradient(fusion, features):
    """Return the gradient of the plain objective, the last feature being the offset."""
    how = {"prior": fusion.prior, "objective": fusion.objective}
    training = TrainingObjective.from_scores(*(each[:-1] for each in features), **how)
    return training.evaluate(raw_coefficients(fusion)).gradient


@pytest.mark.parametrize("name", ["I2", "sum", "first"])
def test_exact_optimum(record, name):
    """The toolkit stops when it expects a decrease below 1.5e-8."""
    systems, quality, key = problem(record, "dev")
    how = {"qtrans": record[f"Qtrans_{name}"], "prior": 0.1, "ridge": 0}
    fusion = QualityFusion.fit_scores(systems, [quality], key, **how)
    fused, mask = fusion.apply(systems, [quality], key), key.trial_mask
    assert fusion.objective_value == pytest.approx(record[f"nxe_{name}_exact"], rel=1e-13)
    assert fusion.objective_value <= record[f"nxe_{name}"] + 1e-14
    # Two Newton solutions of the same problem: rounding, divided by the curvature.
    exact = record[f"qdev_{name}_exact"]
    np.testing.assert_allclose(fused.scoremat[mask], exact[mask], atol=1e-12)
    new_systems, new_quality, new_key = problem(record, "eval")
    new = fusion.apply(new_systems, [new_quality], new_key.to_ndx())
    mask = new.scoremask
    np.testing.assert_allclose(new.scoremat[mask], record[f"qeval_{name}"][mask], atol=5e-3)
    features = naive_features(systems, quality, key, how["qtrans"])
    assert np.abs(gradient(fusion, features)).max() < 1e-13
    for llrs, rows in zip(fused.get_tar_non(key), features, strict=True):
        np.testing.assert_allclose(llrs, raw_coefficients(fusion) @ rows, atol=1e-12)
    # Its weights in its order; the offset twice, of which only the sum counts.
    weights, toolkit = fusion.toolkit_weights, record[f"w_{name}"].copy()
    toolkit[2], toolkit[-1] = toolkit[2] + 2 * toolkit[-1], 0.0
    np.testing.assert_allclose(weights, toolkit, atol=2e-3)


def draw_problem(seed, n_measures=2, n_models=7, n_segments=30):
    """Make two systems whose scores shift with the quality of both sides."""
    rng = np.random.default_rng(seed)
    ids = [f"m{index}" for index in range(n_models)], [f"s{index}" for index in range(n_segments)]
    tar = rng.uniform(size=(n_models, n_segments)) < 0.3
    non = ~tar & (rng.uniform(size=tar.shape) < 0.9)
    sides = (1.0, 1.0, (n_measures, n_models)), (2.0, 1.5, (n_measures, n_segments))
    measures = [rng.normal(*side) for side in sides]
    shift = 0.3 * np.outer(measures[0][0], measures[1][0])
    systems = [Scores(rng.normal(size=tar.shape) * 1.5 + tar - shift, *ids) for _ in range(2)]
    return systems, QualityMeasures(*ids, *measures), Key(*ids, tar, non)


@pytest.fixture
def drawn():
    return draw_problem(20111209)


def fit(systems, quality, key, **options):
    return QualityFusion.fit_scores(systems, [quality], key, **{"ridge": 0, **options})


def assert_same_llrs(first, second, atol=1e-9):
    """Compare fused scores; two optimisations meet to rounding, divided by the curvature."""
    assert first.to_ndx() == second.to_ndx()
    np.testing.assert_allclose(first.values, second.values, atol=atol)


@given(seed=st.integers(0, 2**32 - 1), n_measures=st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_swapping_model_and_segment(seed, n_measures):
    systems, quality, key = draw_problem(seed, n_measures)
    plain = fit(systems, quality, key, ridge=1e-3)
    swapped = [Scores(s.scoremat.T, s.segset, s.modelset) for s in systems]
    other = QualityMeasures(quality.segset, quality.modelset, quality.segQ, quality.modelQ)
    other_key = Key(key.segset, key.modelset, key.tar.T, key.non.T)
    turned = fit(swapped, other, other_key, ridge=1e-3)
    np.testing.assert_allclose(turned.toolkit_weights, plain.toolkit_weights, atol=1e-9)
    llrs = turned.apply(swapped, [other], other_key).scoremat.T
    np.testing.assert_allclose(llrs, plain.apply(systems, [quality], key).scoremat, atol=1e-9)


def test_units_of_measures_do_not_matter(drawn):
    """Any invertible linear map and shift of the measures, the same on both sides."""
    systems, quality, key = drawn
    mix, shift = np.array([[1e4, -2e4], [1e-3, 3e-3]]), np.array([[5e4], [-1.0]])
    changed = evolve(quality, modelQ=mix @ quality.modelQ + shift, segQ=mix @ quality.segQ + shift)
    plain = fit(systems, quality, key).apply(systems, [quality], key)
    assert_same_llrs(fit(systems, changed, key).apply(systems, [changed], key), plain)
    assert_same_llrs(fit(systems, quality, key, qtrans=mix).apply(systems, [quality], key), plain)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradient_vanishes(drawn, objective):
    fusion = fit(*drawn, objective=objective, prior=OperatingPoint(0.1, 3, 1))
    # Raw features reach 30; the standardised gradient vanishes to rounding.
    assert np.abs(gradient(fusion, naive_features(*drawn))).max() < 1e-12


def test_weights_repeat_trials(drawn):
    """A weight of zero leaves a trial out, whole models keep their measures."""
    systems, quality, key = drawn
    heavy = np.zeros(key.n_tar)
    heavy[::2] = 2.0
    weighted = fit(systems, quality, key, tar_weights=heavy)
    chosen = np.zeros_like(key.tar.T)
    chosen[key.tar.T] = heavy > 0
    alone = fit(systems, quality, Key(*key.ids, chosen.T, key.non))
    assert weighted.n_tar == alone.n_tar == np.count_nonzero(heavy)
    assert_same_llrs(*(each.apply(systems, [quality], key) for each in (weighted, alone)))


def test_points_that_are_too_few_share_the_weight():
    """Of two models measures are collinear by chance: all features that vary have a weight."""
    systems, quality, key = draw_problem(1, n_measures=3, n_models=2, n_segments=60)
    with pytest.warns(match="vary in only"):
        fusion = fit(systems, quality, key)
    assert (fusion.form != 0).sum() == fusion.form.size - 1


def test_single_trials_without_quality(drawn):
    """Of two objects a trial needs the measures of both."""
    systems, quality, key = drawn
    given_linear = LinearFusion.fit_scores(systems, key, prior=0.01)
    fusion = fit(systems, quality, key, linear=given_linear)
    assert fusion.linear == given_linear
    mask = np.ones((7, 30), dtype=bool)
    mask[3, 4:9] = False
    linear = fusion.linear.apply(systems, key).scoremat
    complete = fusion.apply(systems, [quality], key).scoremat
    parts = [QualityMeasures(*quality.ids, quality.modelQ[[i]], quality.segQ[[i]],
                             np.arange(7) != i) for i in (0, 1)]  # fmt: skip
    own = evolve(systems[0], scoremat=np.full((7, 30), 42.0))
    masked, later = [evolve(quality, scoremask=mask)], np.arange(7)[:, None] > np.ones(30)
    for given_measures, covered in ((masked, mask), (parts, later)):
        with pytest.warns(MissingTrialsWarning):
            fused = fusion.apply(systems, given_measures, key)
        np.testing.assert_array_equal(fused.scoremat, np.where(covered, complete, linear))
        with pytest.warns(MissingTrialsWarning):
            fused = fusion.apply(systems, given_measures, key, backoff=own)
        expected = np.where(covered, complete, 42.0)[key.trial_mask]
        np.testing.assert_array_equal(fused.scoremat[key.trial_mask], expected)


def test_separable(drawn):
    """One warning; notes of the whole, and of the linear fusion of all trials."""
    systems, quality, key = drawn
    telling = [evolve(systems[0], scoremat=np.where(key.tar, 1.0, -1.0)), systems[1]]
    with pytest.warns(ConvergenceWarning) as caught:
        fusion = fit(telling, quality, key)
    assert [warning.category for warning in caught].count(ConvergenceWarning) == 1
    assert [note.kind for note in fusion.notes].count(ConvergenceWarning) == 2
    assert fusion.ridge == 1 / key.n_tar
    assert np.abs(fusion.apply(telling, [quality], key).scoremat).max() < 20


RNG = np.random.default_rng(8)


def both(quality):
    return {"duration": (None, quality)}


COMBINED = {"min": np.minimum, "max": np.maximum, "sum": np.add}
COMBINED["difference"] = lambda a, b: np.abs(a - b)


@pytest.mark.parametrize("combine", COMBINED)
def test_measures_of_trials(combine):
    scores = Scores(RNG.normal(size=(2, 3)), ["a", "b"], ["x", "y", "z"])
    key = Key(*scores.ids, np.eye(2, 3, dtype=bool), ~np.eye(2, 3, dtype=bool))
    quality = SegmentQuality(["z", "y", "x", "b", "a", "more"], [[7.0, -2, 3, 5, 1, 9]])
    measure = COMBINED[combine](np.array([[1.0], [5.0]]), np.array([3.0, -2.0, 7.0]))
    for form in (key, key.to_ndx(), as_list(key)):
        found = quality_systems(scores, {"q": quality}, form, scale=["q"], combine=combine)
        expected = scores.scoremat, measure, measure * scores.scoremat
        np.testing.assert_array_equal([item.scoremat for item in found], expected)


def test_names_choose_what_is_shifted_and_scaled():
    scores, key, quality = mismatched(1)
    other = SegmentQuality(key.segset, RNG.normal(size=(1, key.segset.size)))
    qualities = {"duration": (None, quality), "snr": (None, other)}
    assert len(quality_systems(scores, qualities, key)) == 3
    assert len(quality_systems(scores, qualities, key, offset=["snr"], scale=["duration"])) == 3
    only = quality_systems(scores, qualities, key, offset=[], scale=["duration"])
    np.testing.assert_array_equal(only[1].scoremat, scores.scoremat * quality.values)
    # Several systems have a product each.
    pair = [scores, scores.transform(np.square)]
    found = quality_systems(pair, both(quality), key, scale=["duration"])
    parts = [quality_systems(s, both(quality), key, scale=["duration"]) for s in pair]
    assert found == [parts[0][0], parts[1][0], parts[0][1], parts[0][2], parts[1][2]]


def test_offset_alone_is_the_quality_fusion_of_one_side():
    """With a measure of segments only both have the same features."""
    scores, key, quality = mismatched(2)
    linear = LinearFusion.fit_scores(quality_systems(scores, both(quality), key), key, ridge=0)
    fused = fit([scores], quality, key)
    assert linear.objective_value == pytest.approx(fused.objective_value, rel=1e-6)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
@pytest.mark.parametrize("effect", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_mismatch_of_duration_is_halved_and_where_there_is_none_nothing_is_lost(seed, effect):
    scores, key, quality = mismatched(seed, effect=effect, n=80)
    plain = LinearCalibration.fit_scores(scores, key, ridge=0)
    systems = quality_systems(scores, both(quality), key, scale=["duration"])
    by_quality = LinearFusion.fit_scores(systems, key, ridge=0)
    # Durations beyond those of the training, or where they do not matter like them.
    reach = {"low": 1.0, "high": 1.3} if effect else {}
    new, new_key, new_quality = mismatched(100 + seed, effect=effect, **reach)
    new_systems = quality_systems(new, both(new_quality), new_key, scale=["duration"])
    used = new_quality.values[0] if effect else 0.5
    true = Scores((new.scoremat - 2.0 * used) * (0.5 + 2.0 * used), *new.ids)
    llrs = plain.apply(new), by_quality.apply(new_systems, new_key), true
    simple, found, best = (cllr(*each.get_tar_non(new_key)) for each in llrs)
    assert found - best < 0.5 * (simple - best) if effect else found < 1.02 * simple


def test_numbers_by_id_are_measures():
    scores, key, quality = mismatched(6)
    by_id = dict(zip(quality.ids.tolist(), quality.values[0].tolist(), strict=True))
    wanted = quality_systems(scores, both(quality), key)
    assert quality_systems(scores, both(by_id), key) == wanted
    # One system and one measure stand for lists of one.
    fused = fit([scores], quality, key)
    assert QualityFusion.fit_scores(scores, by_id, key, ridge=0) == fused
    assert fused.apply(scores, by_id, key) == fused.apply([scores], [quality], key)
    alone, listed = (LinearFusion.fit_scores(s, key, ridge=0) for s in (scores, [scores]))
    assert alone.apply(scores, key) == listed.apply([scores], key)
