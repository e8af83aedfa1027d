"""Standard errors of condition-weighted costs: formulas, and bootstraps against them."""

import itertools
import math

import numpy as np
import pytest

from bosaris_py import uncertainty as unc
from bosaris_py.trials import Conditions
from tests.crossed_trials import CrossedExperiment, CrossedTrials
from tests.uncertainty import naive_conditions as naive
from tests.uncertainty.naive_speakers import Part, speaker_covariance

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

WEIGHTS = {"same": 0.7, "other": 0.3}
COST = unc.DCF(0.5, 0.2, 1, 1)
PRICES = {True: 0.2, False: 0.8}


def draw_sets(seed: int, n_sets: int, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Draw scores of sets that all have as many trials of each condition."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, mean in (("tar", 1.5), ("non", -0.5)):
        conditions = np.tile(np.repeat(list(sizes), list(sizes.values())), n_sets)
        sets = np.repeat(np.arange(n_sets), sum(sizes.values()))
        shift = np.where(conditions == "same", 0.3, -0.3) + rng.normal(size=n_sets)[sets]
        found[name] = mean + shift + rng.normal(size=sets.size)
        found[f"{name}_conditions"], found[f"{name}_sets"] = conditions, sets
    return found


def test_independent_trials() -> None:
    """Variances of binomial rates, each with the square of its weight."""
    trials = draw_sets(1, 30, {"same": 8, "other": 3})
    variance = 0.0
    for name, is_target in (("tar", True), ("non", False)):
        for condition, weight in WEIGHTS.items():
            scores = trials[name][trials[f"{name}_conditions"] == condition]
            p = np.mean(scores < 0.5)
            variance += (PRICES[is_target] * weight) ** 2 * p * (1 - p) / scores.size
    found = unc.dcf_standard_error(
        trials["tar"], trials["non"], COST, tar_conditions=trials["tar_conditions"],
        non_conditions=trials["non_conditions"], condition_weights=WEIGHTS,
    )  # fmt: skip
    assert found == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer"])
def test_bootstraps_tend_to_the_formula(method: str) -> None:
    """Exact where each set has as many trials of a condition as the others.

    20000 replicates know a standard error to 0.5 %.
    """
    trials = draw_sets(2, 20, {"same": 6, "other": 3})
    options = {name: trials[name] for name in ("tar_conditions", "non_conditions")}
    if method != "iid":
        options |= {name: trials[name] for name in ("tar_sets", "non_sets")}
    options |= {"method": method, "condition_weights": WEIGHTS}
    formula = unc.dcf_standard_error(trials["tar"], trials["non"], COST, **options)
    result = unc.bootstrap(
        trials["tar"], trials["non"], COST, **options, replications=20_000, rng=3
    )
    assert result.standard_error == pytest.approx(formula, rel=0.025)


@pytest.mark.parametrize("method", ["one-layer", "two-layer"])
def test_bootstraps_tend_to_the_formula_with_unequal_sets(method: str) -> None:
    """To first order in the number of sets, where sets have more or fewer trials."""
    trials = draw_sets(4, 150, {"same": 6, "other": 4})
    kept = np.random.default_rng(5).random(trials["tar"].size) < 0.7
    trials = {name: values[kept] for name, values in trials.items()}
    options = {name: values for name, values in trials.items() if "_" in name}
    options |= {"method": method, "condition_weights": WEIGHTS}
    formula = unc.dcf_standard_error(trials["tar"], trials["non"], COST, **options)
    result = unc.bootstrap(
        trials["tar"], trials["non"], COST, **options, replications=10_000, rng=6
    )
    assert result.standard_error == pytest.approx(formula, rel=0.05)


@pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer"])
def test_matrix_and_vectors(method: str) -> None:
    data = crossed(7)
    conditions = naive.conditions_by_phone_match(data, WEIGHTS)
    of_matrix = unc.dcf_standard_error_scores(
        data.scores, data.key, COST, method=method, speakers=(data.model_speakers, None),
        conditions=conditions,
    )  # fmt: skip
    tar, non = data.trials()
    labels, is_target = phone_match(data), data.key.trial_labels()
    options = {"tar_conditions": labels[is_target], "non_conditions": labels[~is_target]}
    if method != "iid":
        options |= dict(zip(("tar_sets", "non_sets"), data.model_sets(), strict=True))
    of_vectors = unc.dcf_standard_error(
        tar, non, COST, method=method, **options, condition_weights=WEIGHTS
    )
    # Conditions are added up in different orders.
    assert of_matrix == pytest.approx(of_vectors, rel=1e-12)


def test_area_of_matrix_and_of_vectors() -> None:
    data = crossed(7)
    conditions = naive.conditions_by_phone_match(data, WEIGHTS)
    tar, non = data.trials()
    labels, is_target = phone_match(data), data.key.trial_labels()
    of_vectors = unc.auc_standard_error(
        tar,
        non,
        tar_conditions=labels[is_target],
        non_conditions=labels[~is_target],
        condition_weights=WEIGHTS,
    )
    of_matrix = unc.auc_standard_error_scores(data.scores, data.key, conditions=conditions)
    # Conditions are added up in different orders.
    assert of_matrix == pytest.approx(of_vectors, rel=1e-12)
    pooled = unc.auc_standard_error_scores(data.scores, data.key)
    assert pooled == pytest.approx(unc.auc_standard_error(tar, non), rel=1e-12)


def crossed(seed: int, n_systems: int = 1) -> CrossedTrials | list[CrossedTrials]:
    experiment = CrossedExperiment(
        n_speakers=8, n_models=2, n_segments=2, tar_mean=1.5, non_mean=-0.5, noise=2.0
    )
    systems = experiment.draw_systems(np.random.default_rng(seed), n_systems=n_systems, shared=0.5)
    return systems if n_systems > 1 else systems[0]


def phone_match(data: CrossedTrials) -> np.ndarray:
    """The labels that `naive_conditions.conditions_by_phone_match` makes."""
    models, segments = data.key.trial_positions()
    return np.where(models % 2 == segments % 2, "same", "other")


def naive_parts(data: CrossedTrials, values: np.ndarray) -> tuple[dict[bool, float], list[Part]]:
    """Weighted means of both classes, and what each trial adds to the luck of its own.

    `values` are one number for each trial of the key, column by column.
    """
    models, segments = data.key.trial_positions()
    is_target, labels = data.key.trial_labels(), phone_match(data)
    of_model = data.model_speakers.map_left_to_right(data.key.modelset)
    of_segment = data.segment_speakers.map_left_to_right(data.key.segset)
    means, parts = {True: 0.0, False: 0.0}, []
    for target, (name, weight) in itertools.product((True, False), WEIGHTS.items()):
        members = np.flatnonzero((is_target == target) & (labels == name))
        mean = values[members].mean()
        means[target] += weight * mean
        parts += [
            (
                weight * (values[i] - mean) / members.size,
                weight / members.size,
                target,
                {of_model[models[i]], of_segment[segments[i]]},
            )
            for i in members
        ]
    return means, parts


def errors_of(data: CrossedTrials) -> np.ndarray:
    models, segments = data.key.trial_positions()
    below = data.scores.scoremat[models, segments] < 0.5
    return (below == data.key.trial_labels()).astype(float)


def test_speaker_errors_against_all_pairs_of_trials() -> None:
    data = crossed(8)
    errors = unc.speaker_errors(
        data.scores, data.key, 0.5, speakers=(data.model_speakers, data.segment_speakers),
        conditions=naive.conditions_by_phone_match(data, WEIGHTS),
    )  # fmt: skip
    means, parts = naive_parts(data, errors_of(data))
    assert (errors.pmiss, errors.pfa) == pytest.approx((means[True], means[False]), rel=1e-12)
    assert errors.method == "speaker pairs"
    assert np.allclose(errors.covariance, speaker_covariance(parts), rtol=1e-10)
    single = [sum(x * x for x, _, is_tar, _ in parts if is_tar == a) for a in (True, False)]
    assert errors.trial_variances == pytest.approx(single, rel=1e-12)


def test_comparisons_against_all_pairs_of_trials() -> None:
    a, b = crossed(9, 2)
    maps = {"speakers": (a.model_speakers, a.segment_speakers)}
    options = maps | {"conditions": naive.conditions_by_phone_match(a, WEIGHTS)}
    gaps = errors_of(a) - errors_of(b)
    means, parts = naive_parts(a, gaps)
    difference = sum(PRICES[c] * means[c] for c in PRICES)
    variance = speaker_covariance([(PRICES[c] * x, f, c, s) for x, f, c, s in parts]).sum()
    test = unc.speaker_z_test(a.scores, b.scores, a.key, COST, **options)
    assert test.difference == pytest.approx(difference, rel=1e-10)
    assert test.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)


def test_weighing_conditions_by_their_share_is_no_weighing() -> None:
    """In each class; here every condition has the same share of both classes."""
    data = crossed(10)
    options = {
        "speakers": (data.model_speakers, data.segment_speakers)
    }  # fmt: skip
    labels = phone_match(data)
    halves = {name: float(np.mean(labels == name)) for name in WEIGHTS}
    conditions = Conditions.from_labels(data.key, labels, halves, order="columns")
    plain = unc.speaker_errors(data.scores, data.key, 0.5, **options)
    weighted = unc.speaker_errors(data.scores, data.key, 0.5, **options, conditions=conditions)
    assert (weighted.pmiss, weighted.pfa) == pytest.approx((plain.pmiss, plain.pfa), rel=1e-12)
