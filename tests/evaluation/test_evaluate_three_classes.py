"""Trials of three classes: by default, by plans of three classes, and of two detectors."""

from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import (
    BosarisWarning,
    InvalidInputError,
    MissingTrialsWarning,
    SuspectScoresWarning,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::bosaris_py.errors.FewErrorsWarning", "ignore::bosaris_py.errors.FewSpeakersWarning"
)

FIGURES = ("a_dcf", "act_a_dcf", "sv_eer", "spf_eer", "sasv_eer")

WHO = {"speakers": (lambda m: m, lambda s: "s" + s[1:].split("_")[0])}


@pytest.fixture(scope="module")
def trials() -> tuple[bp.Scores, bp.Key]:
    """Scores of 20 speakers: 120 targets, 380 impostors, 160 spoofs of three attacks."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(20):
        for j in range(20):
            for take in range(6 if i == j else 1):
                kind = "target" if i == j else "nontarget"
                rows.append((f"s{i}", f"u{j}_{take}", kind, "-", 4 * (i == j) - 2))
        rows += [(f"s{i}", f"f{i}_{fake}", "spoof", f"A{7 + fake % 3:02}", 0) for fake in range(8)]
    models, segments, kinds, attacks, means = zip(*rows, strict=True)
    key = bp.Key.from_trials(models, segments, kinds, {"attack": attacks})
    noise = 2.0 * rng.normal(size=len(rows))
    return bp.Scores.from_trials(models, segments, np.array(means) + noise), key


def lists_of(scores: bp.Scores, key: bp.Key) -> list[Any]:
    listed = scores.get_scores(key)
    return [listed[key.labels == label] for label in (1, -1, -2)]


def cm_of(key: bp.Key) -> Any:
    """Scores of a countermeasure, column by column."""
    bona = key.labels != -2
    return np.round(2 * bona + np.random.default_rng(4).normal(size=bona.size), 3)


def expected_of(lists: list[Any], costs: str, definition: Any) -> dict[str, float]:
    found = {"a_dcf": bp.a_dcf(*lists, costs), "act_a_dcf": bp.act_a_dcf(*lists, costs)}
    for name in ("sv_eer", "spf_eer", "sasv_eer"):
        found[name] = getattr(bp, name)(*lists, definition=definition)
    return found


def test_without_a_plan(trials: Any) -> None:
    """Figures of two classes are of bona fide trials, beside a-DCF1 and the three EERs."""
    scores, key = trials
    found = bp.evaluate({"a": scores}, key, prior=0.05)
    (row,) = found.to_dict()
    (bona,) = bp.evaluate({"a": scores}, key.bona_fide(), prior=0.05).to_dict()
    assert (row["n_tar"], row["n_non"], row["n_spoof"]) == (120, 380, 160)
    for name in ("eer", "min_dcf(0.05)", "act_dcf(0.05)", "min_cllr", "cllr"):
        assert row[name] == pytest.approx(bona[name], rel=1e-13)
    expected = expected_of(lists_of(scores, key), "a-DCF1", "rocch")
    del expected["act_a_dcf"]
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    assert "(120 targets, 380 impostors, 160 spoofs; costs are normalized" in str(found)
    with pytest.warns(MissingTrialsWarning, match="attack divides one class only"):
        by_attack = bp.evaluate({"a": scores}, key, conditions="attack")
    assert by_attack._heads == ("system", "condition", "targets", "impostors", "spoofs")


@pytest.mark.parametrize("replications", [0, 50])
def test_a_plan_of_three_classes(trials: Any, replications: int) -> None:
    scores, key = trials
    options = {"replications": replications, "rng": 1, **WHO}
    found = bp.evaluate({"a": scores}, key, plan="asvspoof5_2", **options)
    (row,) = found.to_dict()
    expected = expected_of(lists_of(scores, key), "ASVspoof5", "step")
    # Sums in another order.
    assert {name: row[name] for name in FIGURES} == pytest.approx(expected, rel=1e-12)
    for name in FIGURES:
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    assert not {"cllr", "min_cllr", "eer"} & set(row)
    if not replications:
        interval = unc.speaker_interval(scores, key, unc.ADCF("ASVspoof5"), **WHO)
        assert found.rows[0].ends("a_dcf") == (interval.low, interval.high)
    hull = bp.evaluate({"a": scores}, key, plan="asvspoof5_2", eer="rocch").rows[0]
    assert hull.figures["sv_eer"] == bp.sv_eer(*lists_of(scores, key))


def test_attacks_that_a_plan_does_not_know(trials: Any) -> None:
    """The data of 2021 have the attacks A07 to A19; 60 trials are of X1."""
    scores, key = trials
    renamed = np.where(key.columns.factor("attack").values() == "A08", "X1", "A07")
    strange = key.with_columns(attack=np.where(key.labels == -2, renamed, "-"))
    with pytest.warns(BosarisWarning, match=r"^60 trials .* SASV2022 do not have \(X1\)"):
        found = bp.evaluate({"a": scores}, strange, plan="SASV2022")
    assert [note.kind for note in found.notes] == [BosarisWarning]


@pytest.mark.parametrize("plan", ["ASVspoof2019-LA", "ASVspoof2021-LA"])
@pytest.mark.parametrize("replications", [0, 40])
def test_a_plan_of_two_detectors(trials: Any, plan: str, replications: int) -> None:
    scores, key = trials
    form: Any = "legacy" if "2019" in plan else "revised"
    both = {"asv": scores, "cm": bp.trials.scores.assemble(cm_of(key), key)}
    how = {**WHO, "replications": replications, "rng": 1} if replications else WHO
    found = bp.evaluate(both, key, plan=plan, **how)
    of_asv, of_cm = (lists_of(one, key) for one in both.values())
    figures = found.rows[0].figures
    assert figures["t_dcf"] == bp.t_dcf(asv=of_asv, cm=of_cm, form=form)
    bona = np.concatenate(of_cm[:2])
    assert figures["cm_eer"] == bp.eer(bona, of_cm[2], definition="step")
    judge: Any = unc.bootstrap_scores if replications else unc.speaker_interval
    expected = judge(both, key, unc.TDCF(form=form), **how)
    assert found.rows[0].ends("t_dcf") == (expected.low, expected.high)
    assert "min t-DCF" in str(found)
    with pytest.raises(InvalidInputError, match="must be two detectors, named asv and cm"):
        bp.evaluate({"verifier": scores, "cm": scores}, key, plan=plan)


@pytest.mark.parametrize("plan", [None, "ASVspoof2019-LA", "ASVspoof5-2", "SASV2022"])
def test_an_inverted_detector_is_noted(trials: Any, plan: str | None) -> None:
    scores, key = trials
    cm = bp.trials.scores.assemble(-cm_of(key), key)
    with pytest.warns(SuspectScoresWarning, match="^cm: The area .* against targets"):
        bp.evaluate({"asv": scores, "cm": cm}, key, plan=plan)
    with pytest.warns(SuspectScoresWarning, match="^cm: The area .* against targets"):
        bp.t_dcf(asv=lists_of(scores, key), cm=lists_of(cm, key))


def test_a_mean_over_data_sets(trials: Any) -> None:
    """Speakers 0 to 9 are in the first set, the others in the second."""
    scores, key = trials
    models, _ = key.trial_positions()
    sets = np.where(np.char.str_len(key.modelset[models]) == 2, "first", "second")
    found = bp.evaluate({"a": scores}, key.with_columns(dataset=sets), plan="WildSpoof", **WHO)
    *parts, macro = found.to_dict()
    assert [row["condition"] for row in found.to_dict()] == ["first", "second", "mean over sets"]
    listed = scores.get_scores(key)
    for row in parts:
        own = sets == row["condition"]
        lists = [listed[own & (key.labels == label)] for label in (1, -1, -2)]
        expected = expected_of(lists, "ASVspoof5", "step")
        assert {name: row[name] for name in FIGURES} == pytest.approx(expected, rel=1e-12)
    for name in FIGURES:
        assert macro[name] == pytest.approx(sum(row[name] for row in parts) / 2, rel=1e-12)
        assert f"{name}_low" not in macro
    apart = key.with_columns(dataset=np.where(key.labels == -2, "x", "y"))
    with pytest.raises(InvalidInputError, match="trials of each class in each dataset; got none"):
        bp.evaluate({"a": scores}, apart, plan="WildSpoof")


def test_a_countermeasure_alone(trials: Any) -> None:
    """Bona fide trials are its targets; recorded sound is that of ESDD."""
    _, key = trials
    models, segments = key.trial_positions()
    ids = key.modelset[models], key.segset[segments]
    listed, spoofed = cm_of(key), key.labels == -2
    of_cm = bp.Key.from_trials(*ids, ~spoofed)
    found = bp.evaluate({"cm": bp.Scores.from_trials(*ids, listed)}, of_cm, plan="ESDD")
    expected = bp.eer(listed[~spoofed], listed[spoofed], definition="step")
    assert found.rows[0].figures == {"cm_eer": expected}


def test_what_takes_two_classes_is_refused(trials: Any) -> None:
    scores, key = trials
    found = bp.evaluate({"a": scores, "b": scores}, key, plan="SASV2022")
    assert found.compare().rows[0].difference.value == 0.0
    with pytest.raises(InvalidInputError, match="`plan` must be one of two classes, for plots"):
        found.det()
    with pytest.raises(InvalidInputError, match="`cross_fit` must be left out with the plan"):
        bp.evaluate({"a": scores}, key, plan="SASV2022", cross_fit=True)
    message = r"`plan` must be one of three classes where trials are spoofs; got VoxSRC, and 160"
    for judge in (bp.evaluate, bp.primary_cost):
        with pytest.raises(InvalidInputError, match=message):
            judge(scores, key, plan="VoxSRC")
    with pytest.raises(InvalidInputError, match="have a primary cost of two classes"):
        bp.primary_cost(scores, key, "SASV2022")
