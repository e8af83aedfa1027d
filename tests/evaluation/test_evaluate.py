"""One call from scores to an evaluation; figures are those of the functions they come from."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import cli, uncertainty as unc
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import read
from bosaris_py.trials.conditions import as_conditions
from tests.crossed_trials import CrossedExperiment
from tests.forms import described

POINT = bp.OperatingPoint(0.05, 2, 1)

pytestmark = pytest.mark.filterwarnings(
    "ignore::bosaris_py.errors.FewErrorsWarning", "ignore::bosaris_py.errors.FewSpeakersWarning"
)


@pytest.fixture(scope="module")
def drawn() -> Any:
    """Two systems on the same trials of 100 speakers."""
    sizes = {"n_speakers": 100, "n_models": 2, "n_segments": 2}
    experiment = CrossedExperiment(**sizes, tar_mean=1.0, non_mean=-1.0)
    return experiment.draw_systems(np.random.default_rng(4), n_systems=2, shared=0.5)


@pytest.fixture(scope="module")
def systems(drawn: Any) -> dict[str, bp.Scores]:
    return {"A": drawn[0].scores, "B": drawn[1].scores}


@pytest.fixture(scope="module")
def who(drawn: Any) -> Any:
    return drawn[0].model_speakers, drawn[0].segment_speakers


@pytest.fixture(scope="module")
def key(drawn: Any, who: Any) -> bp.Key:
    """The key, with columns."""
    plain = drawn[0].key
    models = who[0].map_left_to_right(plain.modelset)
    gender = ["f" if int(name[-1]) % 2 else "m" for name in models]
    said_by = who[1].map_left_to_right(plain.segset)
    return described(plain, None, {"of_model": models, "gender": gender}, {"said_by": said_by})


def numbers(row: dict[str, object]) -> dict[str, object]:
    """Return a row without the names, which cannot be nearly equal."""
    return {name: value for name, value in row.items() if not isinstance(value, str | None)}


def metrics_at(points: dict[str, object]) -> dict[str, Any]:
    found = {"eer": unc.EER(), "min_cllr": unc.MinCllr(), "cllr": unc.Cllr()}
    found |= {f"min_dcf{name}": unc.MinDCF(point) for name, point in points.items()}
    return found | {f"act_dcf{name}": unc.ActDCF(point) for name, point in points.items()}


def test_figures_are_those_of_results(systems: Any, key: bp.Key) -> None:
    rows = bp.evaluate(systems, key, prior=[0.05, POINT]).to_dict()
    for (name, scores), row in zip(systems.items(), rows, strict=True):
        results = bp.Results.from_scores(scores, key)
        expected: dict[str, object] = {"n_tar": key.n_tar, "n_non": key.n_non, "n_spoof": 0}
        expected |= {"eer": results.eer, "min_cllr": results.min_cllr, "cllr": results.cllr}
        for prior, suffix in ((0.05, "(0.05)"), (POINT, "(0.05, 2, 1)")):
            expected[f"min_dcf{suffix}"] = results.min_dcf(prior)
            expected[f"act_dcf{suffix}"] = results.act_dcf(prior)
        assert (row["system"], row["condition"]) == (name, None)
        assert numbers(row) == pytest.approx(expected, rel=1e-14)
    found = bp.evaluate(systems, key, prior=POINT, plan="SdSV", normalize=False)
    assert "costs are not normalized" in str(found)
    assert str(found).endswith("primary cost of SdSV, normalized)")
    raw = found.to_dict()[0]
    results = bp.Results.from_scores(systems["A"], key)
    assert raw["act_dcf(0.05, 2, 1)"] == results.act_dcf(POINT, normalize=False)


@pytest.mark.parametrize("replications", [0, 50])
def test_intervals(systems: Any, key: bp.Key, who: Any, replications: int) -> None:
    """Of all trials and of a condition, by the jackknife or on the replicates of a seed."""
    options = {"replications": replications, "rng": 3} if replications else {}
    options |= {"speakers": who}
    found = bp.evaluate({"A": systems["A"]}, key, prior=0.3, conditions="gender", **options)
    only_f = as_conditions("gender", key).with_weights({"f": 1.0, "m": 0.0})
    for row, conditions in ((found.rows[0], only_f), (found.rows[2], None)):
        for name, metric in metrics_at({"(0.3)": 0.3}).items():
            judge: Any = unc.bootstrap_scores if replications else unc.speaker_interval
            expected = judge(systems["A"], key, metric, conditions=conditions, **options)
            assert row.figures[name] == pytest.approx(expected.value, rel=1e-12)
            assert row.ends(name) == pytest.approx((expected.low, expected.high), rel=1e-9)
    words = "speaker bootstrap, 50 replicates" if replications else "jackknife over speakers"
    assert f"95 % intervals: {words}" in str(found)


def test_speakers_in_every_form(systems: Any, key: bp.Key, who: Any) -> None:
    of = {i: s for ids in who for i, s in zip(ids.leftids, ids.rightids, strict=True)}
    forms = [who, bp.IdMap([*of], [*of.values()]), of, of.__getitem__, ("of_model", "said_by")]
    # Segments follow from the targets.
    forms += ["of_model", (of.__getitem__, who[1])]
    rows = [bp.evaluate(systems["A"], key, prior=0.3, speakers=form).to_dict() for form in forms]
    assert all(row == rows[0] for row in rows)


def test_rows_of_conditions(systems: Any, key: bp.Key) -> None:
    """Conditions, pooled, averaged with their weights; in each form the same."""
    conditions = as_conditions("gender", key).with_weights({"f": 0.25, "m": 0.75})
    found = bp.evaluate(systems, key, prior=0.3, conditions=conditions)
    rows = found.to_dict()
    assert [row["condition"] for row in rows[:4]] == ["f", "m", "pooled", "weighted"]
    assert "weighted: f 0.25, m 0.75;" in str(found)
    given = [*((conditions.select(key, name),) for name in "fm"), (key,), (key, conditions)]
    for row, one in zip(rows[:4], given, strict=True):
        results = bp.Results.from_scores(systems["A"], *one)
        expected = results.eer, results.act_dcf(0.3)
        assert (row["eer"], row["act_dcf(0.3)"]) == pytest.approx(expected, rel=1e-13)


def test_a_condition_of_one_class(systems: Any, key: bp.Key) -> None:
    odd = np.asarray(key.tar) & (np.arange(key.shape[0])[:, None] < 4)
    with pytest.warns(MissingTrialsWarning, match="without non-targets"):
        found = bp.evaluate(systems["A"], key, prior=0.5, conditions={"t": odd, "rest": ~odd})
    assert set(found.rows[0].figures.values()) == {None}
    assert found.rows[1].figures["eer"] is not None
    assert str(found).splitlines()[2].split()[1:] == ["t", "8", "0", *["-"] * 5]


def test_what_is_taken_as_systems(systems: Any, key: bp.Key, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    systems["A"].save(tmp_path / "s/A.h5")
    systems["B"].save(tmp_path / "s/B.h5")
    key.save(tmp_path / "key.h5")
    (tmp_path / "s/.hidden").write_text("no scores")
    expected = bp.evaluate(systems, key).to_dict()
    folder = tmp_path / "s"
    for given in (folder, str(folder / "*.h5"), [folder / "A.h5", folder / "B.h5"]):
        for labels in (key, tmp_path / "key.h5"):
            assert bp.evaluate(given, labels).to_dict() == expected
    pairs = {name: one.get_tar_non(key) for name, one in systems.items()}
    for lists in (pairs, {name: bp.Results(*pair) for name, pair in pairs.items()}):
        for row, other in zip(bp.evaluate(lists).to_dict(), expected, strict=True):
            assert numbers(row) == pytest.approx(numbers(other), rel=1e-14)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_files_that_are_read_in_blocks(systems, key, tmp_path, monkeypatch):
    monkeypatch.setattr(read, "are_large", lambda _: True)
    there = np.ones(key.shape, dtype=bool)
    there[3, 4] = False
    part = bp.Scores(systems["A"].scoremat, key.modelset, key.segset, there)
    part.save(tmp_path / "A.h5")
    key.save(tmp_path / "key.h5")
    files = {"A": tmp_path / "A.h5"}, tmp_path / "key.h5"
    with pytest.warns(MissingTrialsWarning, match="^1 of"):
        found, expected = (bp.evaluate(*of, prior=0.05) for of in (files, ({"A": part}, key)))
    one, other = numbers(found.to_dict()[0]), numbers(expected.to_dict()[0])
    assert one == pytest.approx(other, rel=1e-12)
    assert str(found) == str(expected)
    assert isinstance(found.det(window="big"), bp.DETPlot)
    with pytest.raises(InvalidInputError, match="at least two in memory"):
        found.compare()
    with pytest.raises(InvalidInputError, match="`plan` must be left out of files"):
        bp.evaluate(*files, plan="VoxSRC")


def test_more_than_half_without_a_score_is_an_error(systems: Any, key: bp.Key) -> None:
    few = systems["A"].filter(key.modelset[:99], key.segset, keep=True)
    with pytest.raises(TrialMismatchError, match=r"^few: 2.* score, more than half"):
        bp.evaluate({"few": few}, key)
    with pytest.warns(MissingTrialsWarning):
        assert bp.evaluate({"few": few}, key, allow_missing=True).rows[0].n_tar == 198


def test_notes_name_systems_once(systems: Any, key: bp.Key) -> None:
    few = systems["B"].filter(key.modelset[:150], key.segset, keep=True)
    with pytest.warns(MissingTrialsWarning, match=r"^B: models reduced from 200 to 150; ") as told:
        found = bp.evaluate({"A": systems["A"], "B": few}, key)
    assert len(told) == 1
    assert found.footnotes == [str(told[0].message)]
    # What holds for all systems is said of none.
    with pytest.warns(MissingTrialsWarning, match=r"^models reduced"):
        bp.evaluate({"A": few, "B": few}, key)


def test_scores_that_are_not_calibrated(systems: Any, key: bp.Key, who: Any) -> None:
    """Cosines between -1 and 1 accept none at prior 0.05; the footnote says so once."""
    cosines = {n: one.transform(lambda x: np.tanh(2 * x - 4)) for n, one in systems.items()}
    with pytest.warns(bp.errors.SuspectScoresWarning) as told:
        found = bp.evaluate(cosines, key, prior=0.05)
    assert [str(one.message) for one in told] == ["not calibrated: see calibrate"]
    assert str(found).splitlines()[-1] == "not calibrated: see calibrate"
    assert found.rows[0].figures["act_dcf(0.05)"] == 1.0
    fitted = bp.evaluate(cosines, key, prior=0.05, cross_fit=True, speakers=who)
    assert not [note for note in fitted.notes if note.kind is bp.errors.SuspectScoresWarning]


@pytest.mark.parametrize(("n_wrong", "n_notes"), [(0, 0), (4, 0), (5, 1)])
def test_labels_beside_scores(n_wrong: int, n_notes: int, tmp_path: Path, capsys: Any) -> None:
    """Of 400 trials 4 may have another label than in the key."""
    rows = [(f"m{i}", f"s{j}", i == j) for i in range(20) for j in range(20)]
    lines = [
        f"{model} {segment} {int(same ^ (k < n_wrong))} {4 * same + k % 7:.1f}\n"
        for k, (model, segment, same) in enumerate(rows)
    ]
    (tmp_path / "a.txt").write_text("".join(lines))
    key = bp.Key.from_trials(*map(list, zip(*rows, strict=True)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", bp.errors.SuspectScoresWarning)
        bp.evaluate(tmp_path / "a.txt", key)
    assert sum("contradict the key on 5 of 400" in str(one.message) for one in told) == n_notes
    key.save(tmp_path / "key.h5")
    words = f"calibrate {tmp_path}/a.txt --key {tmp_path}/key.h5 --model {tmp_path}/m.json"
    assert cli.main(words.split()) == 0
    assert capsys.readouterr().err.count("contradict the key on 5 of 400") == n_notes


def test_cross_fitted(systems: Any, key: bp.Key, who: Any) -> None:
    line = bp.cross_fit(bp.LinearCalibration, systems["A"], key, speakers=who, rng=1)
    options = {"prior": 0.3, "speakers": who, "rng": 1}
    found, *others = (
        bp.evaluate(systems["A"], key, cross_fit=form, **options)
        for form in (True, bp.LinearCalibration, line)
    )
    assert all(one.to_dict() == found.to_dict() for one in others)
    expected = bp.Results.from_scores(line.scores, key).cllr
    assert found.rows[0].figures["cllr"] == pytest.approx(expected, rel=1e-14)
    assert "cross-fitted: LinearCalibration, trained at prior 0.5" in str(found)
    with pytest.raises(InvalidInputError, match="the CrossFit of a single system"):
        bp.evaluate(systems, key, cross_fit=line)


def test_primary_cost_of_a_plan(systems: Any, key: bp.Key, who: Any) -> None:
    found = bp.evaluate(systems, key, plan="VoxSRC", speakers=who, conditions="gender")
    cost = bp.primary_cost(systems["B"], key, "VoxSRC")
    assert found.primary["B"].to_dict() == cost.to_dict()
    *_, m, pooled, equalised = found.rows
    assert pooled.figures["min_primary"] == cost.minimum
    assert m.figures["act_primary"] is equalised.figures["act_primary"] is None
    one = unc.speaker_interval(systems["B"], key, unc.ActDCF(0.05), speakers=who)
    assert pooled.ends("act_primary") == pytest.approx((one.low, one.high), rel=1e-9)
    lists = systems["B"].get_tar_non(key)
    assert pooled.figures["eer"] == bp.eer(*lists, definition="interpolated")
    with pytest.warns(bp.errors.BosarisWarning, match="SRE21: NOT the published cost"):
        judged = bp.evaluate(systems, bp.Key(*key.ids, key.tar, key.non), plan="SRE21")
    assert not [name for name in judged.to_dict()[0] if "primary" in name]
    assert "NO primary cost of SRE21, because trials are pooled" in str(judged)


def test_a_plan_by_condition_has_its_points(systems: Any, key: bp.Key) -> None:
    """SRE10 judges conditions one by one; its costs of misses and false alarms are 1."""
    plan = bp.PLANS["SRE10"].evolve(points=[0.1, bp.OperatingPoint(0.2, 10, 1)])
    found = bp.evaluate({"A": systems["A"]}, key, plan=plan, prior=0.3)
    results, figures = bp.Results.from_scores(systems["A"], key), found.rows[0].figures
    for point, name in ((0.3, "0.3"), (0.1, "0.1"), (bp.OperatingPoint(0.2, 10, 1), "0.2, 10, 1")):
        assert figures[f"min_dcf({name})"] == pytest.approx(results.min_dcf(point), rel=1e-14)
    assert found.primary["A"].to_dict() == bp.primary_cost(systems["A"], key, plan).to_dict()


def test_bad_input(systems: Any, key: bp.Key) -> None:
    for arguments, message in (
        ({"systems": {}}, "at least one system; got none"),
        ({"systems": {"A": [1.0]}}, r"`systems\['A'\]` must be a Scores.*Fuse them first"),
        ({"speakers": 3}, "an IdMap, a dict, a function of the id or a column"),
        ({"plan": "SRE99"}, "SRE99"),
        ({"eer": "hull"}, '`eer` must be one of "rocch", "interpolated", "step"'),
        ({"replications": 1}, "replications"),
        ({"confidence": 95}, "confidence"),
        ({"key": None}, r"or a pair \(tar, non\) where there is no key"),
        ({"key": None, "speakers": "x"}, "`speakers` must be left out of lists of scores"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            bp.evaluate(**({"systems": systems, "key": key} | arguments))
