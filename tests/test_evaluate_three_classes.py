"""evaluate and the command under plans of three classes, whose figures replace those of two."""

import json

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.cli import main
from bosaris_py.errors import (
    InvalidInputError,
    MissingTrialsWarning,
    TrialMismatchError,
    UncertainPlanWarning,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]

FIGURES = ("a_dcf", "act_a_dcf", "sv_eer", "spf_eer", "sasv_eer")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A protocol and scores of 20 speakers, as ASVspoof writes them."""
    folder, rng = tmp_path_factory.mktemp("spoofs"), np.random.default_rng(1)
    protocol, lines = [], []
    for i in range(20):
        for j in range(20):
            for take in range(6 if i == j else 1):
                kind = "target" if i == j else "nontarget"
                protocol.append(f"s{i} u{j}_{take} bonafide {kind}")
                lines.append(f"s{i} u{j}_{take} {4 * (i == j) - 2 + 2 * rng.normal():.6f}")
        for fake in range(8):
            protocol.append(f"s{i} f{i}_{fake} A{7 + fake % 3:02} spoof")
            lines.append(f"s{i} f{i}_{fake} {2 * rng.normal():.6f}")
    for name, text in (("protocol.trl", protocol), ("scores.txt", lines)):
        (folder / name).write_text("\n".join(text) + "\n")
    return folder


@pytest.fixture(scope="module")
def read(files):
    pair = bp.read_key(files / "protocol.trl")
    return bp.read_scores(files / "scores.txt"), pair


def lists_of(scores, key):
    listed = scores.get_scores(key)
    return [listed[key.labels == label] for label in (1, -1, -2)]


def cm_of(key):
    """Scores of a countermeasure, column by column."""
    bona = key.labels != -2
    return np.round(2 * bona + np.random.default_rng(4).normal(size=bona.size), 3)


WHO = {"speakers": (lambda m: m, lambda s: "s" + s[1:].split("_")[0])}


def test_the_figures_are_those_of_the_functions(read):
    scores, pair = read
    found = bp.evaluate({"a": scores}, pair, plan="ASVspoof5-2")
    (record,) = found.records()
    lists, kit = lists_of(scores, pair), {"definition": "step"}
    expected = {
        "a_dcf": bp.a_dcf(*lists, "ASVspoof5"),
        "act_a_dcf": bp.act_a_dcf(*lists, "ASVspoof5"),
        "sv_eer": bp.sv_eer(*lists, **kit),
        "spf_eer": bp.spf_eer(*lists, **kit),
        "sasv_eer": bp.sasv_eer(*lists, **kit),
    }
    # Sums in another order.
    assert {name: record[name] for name in FIGURES} == pytest.approx(expected, rel=1e-12)
    assert not {"cllr", "min_cllr", "eer"} & set(record)
    for text in (str(found), found.to_markdown(), found.to_latex()):
        assert "minDCF" not in text
        assert "Cllr" not in text


@pytest.mark.parametrize("replications", [0, 100])
def test_each_figure_has_an_interval(read, replications):
    scores, pair = read
    options = {"replications": replications, "rng": 1}
    (record,) = bp.evaluate({"a": scores}, pair, plan="asvspoof5_2", **WHO, **options).records()
    for name in FIGURES:
        assert record[f"{name}_low"] < record[name] < record[f"{name}_high"]
    if not replications:
        interval = unc.speaker_interval(scores, pair, unc.ADCF("ASVspoof5"), **WHO)
        assert (record["a_dcf_low"], record["a_dcf_high"]) == (interval.low, interval.high)


def test_a_plan_without_costs_has_rates_only(read):
    scores, pair = read
    found = bp.evaluate({"a": scores}, pair, plan="SASV2022")
    assert [name for name in found.records()[0] if "dcf" in name] == []
    assert "normalized" not in str(found)


def test_attacks_that_a_plan_does_not_know(files, tmp_path):
    """The trials of one of three attacks are counted, which has another name."""
    text = (files / "protocol.trl").read_text()
    scores = bp.read_scores(files / "scores.txt")
    (tmp_path / "other.trl").write_text(text.replace(" A08 spoof", " X1 spoof"))
    pair = bp.read_key(tmp_path / "other.trl")
    n = text.count(" A08 spoof")
    with pytest.warns(UncertainPlanWarning, match=rf"{n} trials .* SASV2022 do not have \(X1\)"):
        found = bp.evaluate({"a": scores}, pair, plan="SASV2022")
    assert [each["category"] for each in found.cautions] == ["UncertainPlanWarning"]
    own = bp.evaluation.PLANS["SASV2022"].evolve(attacks=["A07", "A09", "X1"])
    assert not bp.evaluate({"a": scores}, pair, plan=own).cautions


def test_what_takes_two_classes_is_refused(read):
    scores, pair = read
    found = bp.evaluate({"a": scores, "b": scores}, pair, plan="SASV2022")
    for call in (found.det, found.bayes):
        with pytest.raises(InvalidInputError, match="`plan` must be one of two classes, for"):
            call()
    with pytest.raises(InvalidInputError):
        bp.evaluate({"a": scores}, pair.bona_fide(), plan="SASV2022")
    with pytest.raises(InvalidInputError, match="`cross_fit` must be left out with the plan"):
        bp.evaluate({"a": scores}, pair, plan="SASV2022", cross_fit=True)
    with pytest.raises(InvalidInputError, match="have a primary cost of two classes"):
        bp.primary_cost(scores, pair, "SASV2022")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"figures": ["eer"]}, "`figures` must be one of"),
        ({"figures": ["a_dcf"]}, "`spoof_costs` must be given, for a_dcf"),
        ({"figures": ["sv_eer"], "operating_points": [0.5]}, "stand without points"),
        ({"figures": ["t_eer", "sv_eer"]}, "left out beside figures of two detectors"),
        ({"figures": ["min_t_dcf"]}, "be given, for min_t_dcf"),
        ({"operating_points": [0.5], "sets": "dataset"}, "left out without `figures`"),
        ({"operating_points": [0.5], "spoof_costs": "a-DCF1"}, "left out without `figures`"),
    ],
)
def test_a_plan_of_three_classes_is_checked(given, message):
    with pytest.raises(InvalidInputError, match=message):
        bp.EvaluationPlan(name="mine", **given)


def test_the_command(read, files, capsys):
    scores, pair = read
    given = [str(files / "scores.txt"), "--key", str(files / "protocol.trl")]
    assert main(["evaluate", *given, "--plan", "ASVspoof5-2", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    (expected,) = bp.evaluate({"scores": scores}, pair, plan="ASVspoof5-2").records()
    (record,) = content["table"] if isinstance(content, dict) else content
    assert record["a_dcf"] == pytest.approx(expected["a_dcf"], rel=1e-12)


@pytest.mark.parametrize("option", ["conditions", "cross_fit"])
def test_what_the_plan_does_not_know_is_refused(read, option):
    scores, pair = read
    given = {"conditions": "model", "cross_fit": True}[option]
    with pytest.raises(InvalidInputError, match=f"`{option}` must be left out with the plan"):
        bp.evaluate({"a": scores}, pair, plan="ASVspoof5-2", **{option: given})


def test_without_replicates_figures_with_a_formula_have_intervals(read):
    scores, pair = read
    (record,) = bp.evaluate({"a": scores}, pair, plan="ASVspoof5-2", **WHO).records()
    expected = unc.speaker_interval(scores, pair, unc.SVEER("step"), **WHO)
    assert (record["sv_eer_low"], record["sv_eer_high"]) == (expected.low, expected.high)


@pytest.mark.parametrize("plan", [None, "VoxSRC"])
def test_spoofs_want_a_plan_that_knows_them(read, plan):
    scores, key = read
    message = r"`plan` must be one of three classes where trials are spoofs; .* and 160 spoofs"
    with pytest.raises(InvalidInputError, match=message):
        bp.evaluate({"a": scores}, key, plan=plan)
    if plan is not None:
        with pytest.raises(InvalidInputError, match=message):
            bp.primary_cost(scores, key, plan)
    found = bp.evaluate({"a": scores}, key.bona_fide(), plan=plan)
    assert found.records()[0]["n_non"] == 380


def test_the_command_says_which_plans_know_spoofs(files, capsys):
    given = [str(files / "scores.txt"), "--key", str(files / "protocol.trl")]
    assert main(["evaluate", *given]) == 1
    assert "ASVspoof5-2" in capsys.readouterr().err


def test_a_spoof_of_somebody_who_never_enrolled(read):
    """Its unit is the person whose voice is claimed, so a map must know this one."""
    scores, pair = read
    models = {f"s{i}": f"s{i}" for i in range(19)}
    with pytest.raises(InvalidInputError, match=r"the speaker of all models .* none for 1 \(s19\)"):
        bp.evaluate({"a": scores}, pair, plan="SASV2022", speakers=(models, WHO["speakers"][1]))


def test_missing_scores_are_counted_and_fusion_refuses_them(read, tmp_path):
    """A dash in the place of a score, as in submissions to ASVspoof 5."""
    scores, key = read
    lines = ["spk\tfilename\tcm-score\tasv-score\tsasv-score"]
    sides = (ids[at] for ids, at in zip(key.ids, key.trial_positions(), strict=True))
    rows = zip(*sides, scores.get_scores(key), cm_of(key), strict=True)
    for number, (model, segment, asv, cm) in enumerate(rows):
        dash = "-" if number == 0 else f"{cm}"
        lines.append(f"{model}\t{segment}\t{dash}\t{asv}\t{dash}")
    path = tmp_path / "score.tsv"
    path.write_text("\n".join(lines) + "\n")
    how = {"format": "asvspoof5-sasv-scores"}
    with pytest.warns(MissingTrialsWarning, match="1 of 660 lines .* have no score"):
        less = bp.read_scores(path, **how)
    with pytest.warns(MissingTrialsWarning):
        bp.evaluate({"a": less}, key, plan="SASV2022")
    asv = bp.read_scores(path, columns={"score": "asv-score"}, **how)
    with pytest.warns(MissingTrialsWarning):
        fusion = bp.SASVFusion.fit(key, asv=asv, cm=less, ridge=0.1)
    with pytest.raises(TrialMismatchError):
        fusion.apply(asv=asv, cm=less, ndx=key)


def test_scores_of_utterances_are_told_from_those_of_trials(read, files, tmp_path, capsys):
    scores, key = read
    rng = np.random.default_rng(3)
    utterances = bp.Scores.from_trials(
        ["bonafide"] * key.segset.size, key.segset, rng.normal(size=key.segset.size)
    )
    message = "`cm` must have a score for each trial; got scores of utterances, under the one model"
    both = {"asv": scores, "cm": utterances}
    cm = bp.trials.scores.assemble(cm_of(key), key)
    fusion = bp.SASVFusion.fit(key, asv=scores, cm=cm, ridge=0.1)
    for call in (
        lambda: bp.SASVFusion.fit(key, **both),
        lambda: fusion.apply(**both, ndx=key),
        lambda: unc.speaker_interval(both, key, unc.TDCF(), **WHO),
    ):
        with pytest.raises(InvalidInputError, match=message):
            call()
    # The remedy that the hint names.
    of_trials = bp.trials.scores_of_segments(utterances, key)
    pair = {"asv": scores, "cm": of_trials}
    expected = bp.evaluate(pair, key, plan="ASVspoof2019-LA").records()
    path = tmp_path / "cm.txt"
    flat = zip(key.segset[utterances.trial_positions()[1]], utterances.values.tolist(), strict=True)
    path.write_text("".join(f"{segment} {score!r}\n" for segment, score in flat))
    given = [f"asv={files / 'scores.txt'}", f"cm={path}", "--plan", "ASVspoof2019-LA"]
    assert main(["evaluate", *given, "--key", str(files / "protocol.trl"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert "scored utterances" in err
    (found,) = json.loads(out)["table"]
    assert (found["min_t_dcf"], found["cm_eer"]) == (
        expected[0]["min_t_dcf"],
        expected[0]["cm_eer"],
    )


@pytest.mark.parametrize(
    ("plan", "form"), [("ASVspoof2019-LA", "legacy"), ("ASVspoof2021-LA", "revised")]
)
@pytest.mark.parametrize("replications", [0, 60])
def test_a_plan_of_two_detectors(read, plan, form, replications):
    scores, key = read
    cm = bp.trials.scores.assemble(cm_of(key), key)
    drawn = {**WHO, "replications": replications, "rng": 1}
    both, pair = {"asv": scores, "cm": cm}, key
    found = bp.evaluate(both, pair, plan=plan, eer="step", **drawn)
    (record,) = found.records()
    of_asv, of_cm = (lists_of(one, key) for one in (scores, cm))
    assert record["min_t_dcf"] == bp.t_dcf(asv=of_asv, cm=of_cm, form=form)
    bona = np.concatenate(of_cm[:2])
    assert record["cm_eer"] == bp.eer(bona, of_cm[2], definition="step")
    assert not {"cllr", "eer", "a_dcf", "min_dcf"} & set(record)
    if replications:
        expected = unc.bootstrap_scores(both, pair, unc.TDCF(form=form), **drawn)
    else:
        expected = unc.speaker_interval(both, pair, unc.TDCF(form=form), **WHO)
    assert (record["min_t_dcf_low"], record["min_t_dcf_high"]) == (expected.low, expected.high)
    assert record["cm_eer_low"] < record["cm_eer"] < record["cm_eer_high"]
    text = str(found)
    assert "min t-DCF" in text
    assert "CM-EER" in text
    assert "Cllr" not in text


@pytest.mark.parametrize("names", [["asv"], ["asv", "cm", "other"], ["verifier", "cm"]])
def test_one_system_under_a_plan_of_two_detectors(read, names):
    scores, pair = read
    message = "`systems` must be two detectors, named asv and cm, for the plan ASVspoof2019-LA"
    with pytest.raises(InvalidInputError, match=message):
        bp.evaluate(dict.fromkeys(names, scores), pair, plan="ASVspoof2019-LA")


def test_a_mean_over_data_sets_is_no_figure_of_the_pool(read):
    scores, key = read
    models, _ = key.trial_positions()
    # Speakers 0 to 9 claim to be in the first set, the others in the second.
    sets = np.where(np.char.str_len(key.modelset[models]) == 2, "first", "second")
    pair = key.with_columns(dataset=sets)
    found = bp.evaluate({"a": scores}, pair, plan="WildSpoof", **WHO, replications=60, rng=1)
    *of_sets, macro = found.records()
    assert [row["condition"] for row in found.records()] == ["first", "second", "mean over sets"]
    listed = scores.get_scores(key)
    for row in of_sets:
        own = sets == row["condition"]
        lists = [listed[own & (key.labels == label)] for label in (1, -1, -2)]
        # Sums in another order.
        assert row["a_dcf"] == pytest.approx(bp.a_dcf(*lists, "ASVspoof5"), rel=1e-12)
        assert row["sasv_eer"] == pytest.approx(bp.sasv_eer(*lists, definition="step"), rel=1e-12)
    for name in FIGURES:
        assert macro[name] == pytest.approx(sum(row[name] for row in of_sets) / 2, rel=1e-12)
        assert macro.get(f"{name}_low") is None
    with pytest.raises(InvalidInputError):
        bp.evaluate({"a": scores}, key, plan="WildSpoof")


def test_a_set_without_spoofs_is_refused(read):
    scores, key = read
    pair = key.with_columns(part=np.where(key.labels == -2, "x", "y"))
    plan = bp.PLANS["WildSpoof"].evolve(sets="part")
    with pytest.raises(InvalidInputError):
        bp.evaluate({"a": scores}, pair, plan=plan)


def test_a_countermeasure_alone(read):
    _, key = read
    models, segments = key.trial_positions()
    ids = key.modelset[models], key.segset[segments]
    spoofed = key.labels == -2
    bona = bp.Key.from_trials(*ids, ~spoofed)
    listed = cm_of(key)
    cm = bp.Scores.from_trials(*ids, listed)
    (record,) = bp.evaluate({"cm": cm}, bona, plan="ESDD", eer="step").records()
    assert record["cm_eer"] == bp.eer(listed[~spoofed], listed[spoofed], definition="step")
    assert not {"cllr", "eer", "min_dcf"} & set(record)
    with pytest.raises(InvalidInputError):
        bp.evaluate({"cm": cm}, key, plan="ESDD")


@pytest.fixture(scope="module")
def systems(read):
    scores, _ = read
    noise = np.random.default_rng(9).normal(size=scores.scoremat.shape)
    noisy = bp.Scores(scores.scoremat + 2 * noise, scores.modelset, scores.segset, scores.scoremask)
    return {"a": scores, "b": noisy}


@pytest.mark.parametrize("statistic", [None, unc.SASVEER(), unc.ActADCF("ASVspoof5")])
def test_systems_are_compared_by_a_figure_of_three_classes(read, systems, statistic):
    _, pair = read
    found = bp.evaluate(systems, pair, plan="ASVspoof5-2", **WHO)
    assert found.records()[0]["eer_definition"] == "step"
    table = found.compare(statistic)
    judged = statistic or unc.ADCF("ASVspoof5")
    (record,) = table.records()
    first, second = (judged(*lists_of(one, pair)) for one in systems.values())
    # Sums in another order.
    assert record["difference"] == pytest.approx(first - second, rel=1e-12)
    name = {None: "min a-DCF", unc.SASVEER(): "SASV-EER"}.get(statistic, "act a-DCF")
    assert table.metric == name
    alone = unc.compare_systems(systems, pair, judged, **WHO)
    assert alone.records() == table.records()


def test_systems_are_not_compared_by_a_mean_over_sets(read, systems):
    _, key = read
    models, _ = key.trial_positions()
    sets = np.where(np.char.str_len(key.modelset[models]) == 2, "first", "second")
    pair = key.with_columns(dataset=sets)
    plan = bp.PLANS["WildSpoof"]
    found = bp.evaluate(systems, pair, plan=plan, **WHO)
    with pytest.raises(InvalidInputError):
        found.compare()


def test_what_cannot_be_compared_is_refused(read, systems):
    _, pair = read
    one = bp.evaluate({"a": systems["a"]}, pair, plan="SASV2022", **WHO)
    with pytest.raises(InvalidInputError):
        one.compare()
    cm = bp.trials.scores.assemble(cm_of(pair), pair)
    both = {"asv": systems["a"], "cm": cm}
    tandem = bp.evaluate(both, pair, plan="ASVspoof2021-LA")
    with pytest.raises(InvalidInputError):
        tandem.compare()


@pytest.mark.parametrize("plan", ["ASVspoof5-2", "SASV2022", "ASVspoof2019-LA"])
def test_the_report_has_no_figure_of_the_mixture(read, systems, tmp_path, plan):
    _, pair = read
    tandem = plan == "ASVspoof2019-LA"
    cm = bp.trials.scores.assemble(cm_of(pair), pair)
    given = {"asv": systems["a"], "cm": cm} if tandem else systems
    found = bp.evaluate(given, pair, plan=plan, **WHO, replications=50, rng=1)
    path = tmp_path / "report.html"
    found.report(path)
    page = path.read_text()
    for words in ("minDCF", "actDCF", "Tippett", "Normalized Bayes", "operating point"):
        assert words not in page.split("Reasons for caution")[0]
        assert f"<dt>{words}</dt>" not in page
    assert "<dt>Cllr</dt>" not in page
    assert "160 spoofs" in page
    first = next(iter(found.records()))
    leading = {"ASVspoof5-2": "min a-DCF", "SASV2022": "SV-EER", "ASVspoof2019-LA": "min t-DCF"}
    assert f"{leading[plan]} of the systems" in page
    if not tandem:
        assert f"Differences of {leading[plan]}s" in page
        value = first["a_dcf"] if plan == "ASVspoof5-2" else 100 * first["sv_eer"]
        assert f"{value:.4f}" in page or f"{value:.2f}" in page
    drawn = plan == "ASVspoof5-2"
    assert page.count("(DET) of") == 2 * drawn * len(systems)
    assert ("a-DCF over the prior of spoofs" in page) == drawn


@pytest.mark.parametrize("definition", ["rocch", "interpolated", "step"])
def test_rates_have_intervals_in_all_three_definitions(read, definition):
    scores, pair = read
    drawn = {**WHO, "replications": 60, "rng": 1}
    found = bp.evaluate({"a": scores}, pair, plan="SASV2022", eer=definition, **drawn)
    (record,) = found.records()
    lists = lists_of(scores, pair)
    functions = {"sv_eer": bp.sv_eer, "spf_eer": bp.spf_eer, "sasv_eer": bp.sasv_eer}
    statistics = {"sv_eer": unc.SVEER, "spf_eer": unc.SPFEER, "sasv_eer": unc.SASVEER}
    for name, function in functions.items():
        value = function(*lists, definition=definition)
        # Sums in another order.
        assert record[name] == pytest.approx(value, rel=1e-12)
        statistic = statistics[name](definition)
        assert statistic(*lists) == value
        alone = unc.bootstrap_scores(scores, pair, statistic, **drawn)
        assert (record[f"{name}_low"], record[f"{name}_high"]) == (alone.low, alone.high)


@pytest.mark.parametrize("eer", [None, "step", "interpolated"])
def test_the_definition_of_a_plan_is_overridden(read, eer):
    scores, pair = read
    plan = bp.PLANS["SASV2022"].evolve(eer="interpolated")
    (record,) = bp.evaluate({"a": scores}, pair, plan=plan, eer=eer).records()
    definition = eer or "interpolated"
    expected = bp.sasv_eer(*lists_of(scores, pair), definition=definition)
    # Sums in another order.
    assert record["sasv_eer"] == pytest.approx(expected, rel=1e-12)
    assert "equal error-rates  interpolated" in str(plan)
    with pytest.raises(InvalidInputError, match="`eer` must be one of"):
        bp.PLANS["SASV2022"].evolve(eer="mean")
