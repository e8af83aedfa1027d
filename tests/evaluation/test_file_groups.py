"""Conditions, plans and comparisons of files must be those of the same files in memory."""

import warnings
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from bosaris_py import (
    Conditions,
    FlatNdx,
    Key,
    OperatingPoint,
    Results,
    Scores,
    SystemComparison,
    TrialMetadata,
)
from bosaris_py.errors import ConditionWarning, InvalidInputError, TrialMismatchError
from bosaris_py.evaluation import (
    PLANS,
    ConditionTable,
    PartitionFactor,
    StreamedSample,
    condition_table,
    file_groups,
    primary_cost,
    primary_cost_of_files,
    streaming,
)
from bosaris_py.trials import passes
from tests.evaluation.test_streaming import FORMS, describe, in_form

SHAPE = (40, 30)


@pytest.fixture
def trials(rng: np.random.Generator) -> tuple[Scores, Key, TrialMetadata]:
    """Scores with ties of some trials, and facts about models, segments and trials."""
    models, segments = [f"m{i:02}" for i in range(SHAPE[0])], [f"s{i:02}" for i in range(SHAPE[1])]
    is_tar, is_trial = rng.random(SHAPE) < 0.2, rng.random(SHAPE) < 0.8
    values = (rng.normal(size=SHAPE) * 2 + 4 * is_tar - 2).round(1).astype(np.float32)
    scores = Scores(values, models, segments, rng.random(SHAPE) < 0.95)
    key = Key(models, segments, is_tar & is_trial, ~is_tar & is_trial)
    columns: dict[str, Any] = {
        "model_columns": {"gender": rng.choice(["f", "m"], SHAPE[0])},
        "segment_columns": {"noise": rng.integers(0, 3, SHAPE[1])},
        "trial_columns": {"phone": rng.choice(["Y", "N"], key.n_trials)},
    }
    return scores, key, TrialMetadata(key, **columns)


@pytest.fixture(autouse=True)
def _missing() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*missing")
        yield


def save(folder: Path, scores: Any, key: Any) -> tuple[Path, Path]:
    """Save scores and a key, and return where."""
    scores.save(folder / "scores.h5")
    key.save(folder / "key.h5")
    return folder / "scores.h5", folder / "key.h5"


DIVISIONS = {
    "by model": lambda metadata: ("gender",),
    "by model and segment": lambda metadata: ("gender", "noise"),
    "by all": lambda metadata: ("phone", "noise", "gender"),
    "conditions": lambda metadata: metadata.conditions("noise", weights=[0.5, 0.2, 0.3]),
    "masks": lambda metadata: halves({"a": 0.75, "b": 0.25}),
    "weight 0": lambda metadata: halves({"a": 1.0, "b": 0.0}),
}


def halves(weights: dict[str, float]) -> Conditions:
    mask = np.arange(SHAPE[0])[:, np.newaxis] + np.arange(SHAPE[1]) < 30
    return Conditions({"a": mask, "b": ~mask}, weights)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("division", DIVISIONS)
@pytest.mark.parametrize("block_rows", [None, 7])
def test_conditions(
    tmp_path: Path, trials: Any, form: str, division: str, block_rows: int | None
) -> None:
    scores, key, metadata = trials
    wanted = DIVISIONS[division](metadata)
    conditions = metadata.conditions(*wanted) if isinstance(wanted, tuple) else wanted
    expected = Results.from_scores(scores, key, conditions)
    paths = save(tmp_path, *in_form(form, scores, key))
    found = Results.from_files(*paths, wanted, metadata=metadata, block_rows=block_rows)
    assert describe(found) == describe(expected)
    assert found.cllr == pytest.approx(expected.cllr, rel=1e-13)


def test_columns_need_no_list_of_trials(tmp_path: Path, trials: Any) -> None:
    scores, key, metadata = trials
    columns = {"gender": metadata.model_column("gender")}
    alone = TrialMetadata(FlatNdx(key.modelset, key.segset, [], []), model_columns=columns)
    found = Results.from_files(*save(tmp_path, scores, key), "gender", metadata=alone)
    expected = Results.from_scores(scores, key, metadata.conditions("gender"))
    assert describe(found) == describe(expected)


@pytest.mark.slow
def test_who_runs_what_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: Any
) -> None:
    """One thread, two, or two processes: the same bits."""
    scores, key, metadata = trials
    paths, wanted = save(tmp_path, scores, key), ("gender", "phone")
    found = []
    for threads, workers in ((1, 1), (2, 1), (1, 2)):
        monkeypatch.setattr(passes, "n_threads", lambda threads=threads: threads)
        results = Results.from_files(
            *paths, wanted, metadata=metadata, block_rows=3, workers=workers
        )
        found.append({**describe(results), "cllr": results.cllr})
    assert found[1:] == found[:1] * 2


def test_many_groups_are_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: Any
) -> None:
    scores, key, metadata = trials
    monkeypatch.setattr(streaming, "_FEW_GROUPS", 1)
    found = Results.from_files(*save(tmp_path, scores, key), ("noise", "phone"), metadata=metadata)
    expected = Results.from_scores(scores, key, metadata.conditions("noise", "phone"))
    assert describe(found) == describe(expected)


def test_one_class_only(tmp_path: Path, trials: Any) -> None:
    scores, key, metadata = trials
    tar = key.tar.copy()
    tar[metadata.model_column("gender").values() == "f"] = False
    one_sided = Key(key.modelset, key.segset, tar, key.non)
    with pytest.warns(ConditionWarning, match=r"1 condition has no targets .* \(f\)"):
        found = Results.from_files(*save(tmp_path, scores, one_sided), "gender", metadata=metadata)
    with pytest.warns(ConditionWarning):
        expected = Results.from_scores(scores, one_sided, metadata.conditions("gender"))
    assert describe(found) == describe(expected)


def test_other_thresholds_cost_one_pass_for_all_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trials: Any
) -> None:
    scores, key, metadata = trials
    results = Results.from_files(*save(tmp_path, scores, key), "noise", metadata=metadata)
    labels = []
    runner = passes.FilePasses.runner
    monkeypatch.setattr(
        passes.FilePasses, "runner", lambda self, label: labels.append(label) or runner(self, label)
    )
    rates = results.error_rates_at([-0.123, 0.456])
    assert len(labels) == 1
    expected = Results.from_scores(scores, key, metadata.conditions("noise"))
    assert [r.tolist() for r in rates] == [
        r.tolist() for r in expected.error_rates_at([-0.123, 0.456])
    ]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"conditions": "gender"}, InvalidInputError, "`metadata` must be TrialMetadata where"),
        ({"conditions": "sex", "metadata": ...}, InvalidInputError, "`name` must be a column"),
        (
            {"conditions": Conditions({"a": np.ones((2, 2), bool)})},
            InvalidInputError,
            r"masks of the key's shape \(40, 30\), or trials, for scores in files; got",
        ),
        (
            {"conditions": Conditions({"a": np.ones(SHAPE, bool)}, overlap="allow")},
            InvalidInputError,
            "have overlap='error' for scores in files",
        ),
        (
            {"conditions": Conditions({"a": np.zeros(SHAPE, bool), "b": np.ones(SHAPE, bool)})},
            TrialMismatchError,
            r"1 of 2 conditions has no trial of the key \(a\)",
        ),
        (
            {"conditions": Conditions({"a": np.ones(SHAPE, bool), "b": np.ones(SHAPE, bool)})},
            TrialMismatchError,
            "must not belong to several conditions, as do 977 trials",
        ),
        (
            {"conditions": Conditions({"a": np.eye(*SHAPE) > 0})},
            TrialMismatchError,
            "must belong to a condition; to none belong",
        ),
    ],
)
def test_bad_conditions(
    tmp_path: Path, trials: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    scores, key, metadata = trials
    if "metadata" in options:
        options = {**options, "metadata": metadata}
    with pytest.raises(error, match=message):
        Results.from_files(*save(tmp_path, scores, key), **options)


def test_undescribed_trials(tmp_path: Path, trials: Any) -> None:
    scores, key, metadata = trials
    paths = save(tmp_path, scores, key)
    part = key.filter(key.modelset[:20], key.segset, keep=True)
    described = metadata.for_trials(part)
    alone = TrialMetadata(part, trial_columns={"phone": described.factor("phone")})
    for name, partial, message in (
        ("phone", alone, r"do not describe \d+ trials"),
        ("gender", described, "of 40 models"),
    ):
        with pytest.raises(TrialMismatchError, match=message):
            Results.from_files(*paths, name, metadata=partial)


def test_too_many_groups(tmp_path: Path, trials: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, key, metadata = trials
    monkeypatch.setattr(file_groups, "_MOST_GROUPS", 5)
    with pytest.raises(InvalidInputError, match="at most 5 combinations of values; got 6"):
        Results.from_files(*save(tmp_path, scores, key), ("noise", "gender"), metadata=metadata)


@pytest.mark.parametrize("prior", [None, 0.1, [0.01, OperatingPoint(0.1, 10, 1)]])
def test_condition_table(tmp_path: Path, trials: Any, prior: Any) -> None:
    scores, key, metadata = trials
    conditions = metadata.conditions("gender", "noise")
    expected = condition_table(scores, key, conditions, prior, normalize=True)
    paths = save(tmp_path, scores, key)
    for wanted in (conditions, ("gender", "noise")):
        found = ConditionTable.from_files(
            *paths, wanted, prior, normalize=True, metadata=metadata, block_rows=7
        )
        for one, other in zip(found.records(), expected.records(), strict=True):
            assert one.pop("cllr") == pytest.approx(other.pop("cllr"), rel=1e-13)
            assert one == other


PLAN = attrs.evolve(
    PLANS["SRE18-CMN2"],
    factors=(
        PartitionFactor("gender", ("m", "f"), weights=(0.25, 0.75)),
        PartitionFactor("noise", ("0", "1", "2"), target_only=("2",)),
        PartitionFactor("phone", None, classes="tar"),
    ),
)


@pytest.mark.parametrize("only", [None, {"gender": "f"}, {"noise": "2"}])
@pytest.mark.parametrize("form", ["matrices", "lists"])
def test_primary_cost(tmp_path: Path, trials: Any, only: Any, form: str) -> None:
    scores, key, metadata = trials
    expected = primary_cost(scores, key, PLAN, metadata, only=only)
    paths = save(tmp_path, *in_form(form, scores, key))
    found = primary_cost_of_files(*paths, PLAN, metadata, only=only, block_rows=7)
    assert found == expected


@pytest.mark.filterwarnings("ignore:.*NOT the published cost")
def test_primary_cost_by_conditions_and_pooled(tmp_path: Path, trials: Any) -> None:
    scores, key, metadata = trials
    paths = save(tmp_path, scores, key)
    for conditions in (None, metadata.conditions("noise", weights=[0.5, 0.25, 0.25])):
        expected = primary_cost(scores, key, PLAN, conditions)
        assert primary_cost_of_files(*paths, PLAN, conditions) == expected


def test_primary_cost_of_a_partition_without_non_targets(tmp_path: Path, trials: Any) -> None:
    scores, key, metadata = trials
    non = key.non.copy()
    non[metadata.model_column("gender").values() == "f"] = False
    one_sided = Key(key.modelset, key.segset, key.tar, non)
    expected = primary_cost(scores, one_sided, PLAN, metadata)
    assert "take part in the mean of Pmiss only" in str(expected)
    assert primary_cost_of_files(*save(tmp_path, scores, one_sided), PLAN, metadata) == expected


def test_system_comparison(tmp_path: Path, trials: Any) -> None:
    scores, key, _ = trials
    whole = attrs.evolve(scores, scoremask=np.ones(SHAPE, bool))
    systems = {"a": whole, "b": whole.transform(lambda values: values.round() / 2)}
    paths = {}
    for name, system in systems.items():
        paths[name] = tmp_path / f"{name}.h5"
        system.save(paths[name])
    key.save(tmp_path / "key.h5")
    expected = SystemComparison.from_scores(systems, key, prior=0.1)
    found = SystemComparison.from_files(paths, tmp_path / "key.h5", prior=0.1, block_rows=7)
    close = {"estimated_proportions": expected.estimated_proportions}
    np.testing.assert_allclose(found.estimated_proportions, *close.values(), rtol=1e-13)
    assert attrs.evolve(found, **close) == expected
    scores.save(paths["b"])
    with pytest.raises(TrialMismatchError, match=r"system 2 lacks \d+ of \d+ targets"):
        SystemComparison.from_files(paths, tmp_path / "key.h5", prior=0.1)
    with pytest.raises(InvalidInputError, match="map names to score files; got"):
        SystemComparison.from_files([], tmp_path / "key.h5", prior=0.1)


def test_digits_of_groups() -> None:
    """Two levels by model, three by trial with `none` and `several`: 2 x 5 groups."""
    levels = np.array(["a", "b", "c"])
    by_trial = Conditions({name: np.ones((1, 1), dtype=bool) for name in levels}, overlap="allow")
    first = file_groups.GroupFactor("gender", np.array(["f", "m"]), None, step=5)
    second = file_groups.GroupFactor("phone", levels, by_trial, step=1)
    assert (first.n_digits, second.n_digits) == (2, 5)
    assert (second.none, second.several) == (3, 4)
    assert first.digits([0, 4, 5, 9]).tolist() == [0, 0, 1, 1]
    assert second.digits([0, 4, 5, 8]).tolist() == [0, second.several, 0, second.none]


def test_some_groups_alone(tmp_path: Path, trials: Any) -> None:
    """Targets of women, non-targets at noise 1: the same lists by masks in memory."""
    scores, key, metadata = trials
    paths = save(tmp_path, scores, key)
    sample = StreamedSample.from_files(*paths, metadata, ("gender", "noise"))
    groups = sample.files.metadata
    women = groups.factor("gender").values() == "f"
    loud = groups.factor("noise").values() == "1"
    of_models = metadata.model_column("gender").values() == "f"
    of_segments = np.asarray(metadata.segment_column("noise")) == 1
    tar = scores.scoremat[key.tar & scores.scoremask & of_models[:, np.newaxis]]
    non = scores.scoremat[key.non & scores.scoremask & of_segments]
    found = Results.from_sample(sample.restricted(women, loud))
    assert describe(found) == describe(Results(tar, non))
    assert found.cllr == pytest.approx(Results(tar, non).cllr, rel=1e-13)
    nobody = np.zeros_like(loud)
    pmiss, pfa = sample.restricted(women, nobody).error_rates(np.array([0.3, -1.0]))
    assert pmiss.tolist() == [np.mean(tar < 0.3), np.mean(tar < -1.0)]
    assert np.isnan(pfa).all()
