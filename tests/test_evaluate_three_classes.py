"""evaluate and the command under plans of three classes: no figure of the mixture."""

import json

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.cli import main
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError

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
    pair = bp.read_key(files / "protocol.trl", spoof="keep")
    return bp.read_scores(files / "scores.txt"), pair


def lists_of(scores, key, metadata):
    tar, non = scores.get_tar_non(key)
    spoofed = metadata.factor("kind").values()[~key.trial_labels()] == "spoof"
    return tar, non[~spoofed], non[spoofed]


def cm_of(metadata):
    """Scores of a countermeasure, column by column."""
    kinds = metadata.factor("kind").values()
    return np.round(2 * (kinds != "spoof") + np.random.default_rng(4).normal(size=kinds.size), 3)


WHO = {"speakers": (lambda m: m, lambda s: "s" + s[1:].split("_")[0])}


def test_the_figures_are_those_of_the_functions(read):
    scores, pair = read
    found = bp.evaluate({"a": scores}, pair, plan="ASVspoof5-2")
    (record,) = found.records()
    lists = lists_of(scores, *pair)
    expected = {
        "a_dcf": bp.a_dcf(*lists, "ASVspoof5"),
        "act_a_dcf": bp.act_a_dcf(*lists, "ASVspoof5"),
        "sv_eer": bp.sv_eer(*lists),
        "spf_eer": bp.spf_eer(*lists),
        "sasv_eer": bp.sasv_eer(*lists),
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


def test_what_takes_two_classes_is_refused(read):
    scores, pair = read
    found = bp.evaluate({"a": scores, "b": scores}, pair, plan="SASV2022")
    for call in (found.det, found.bayes, found.compare, lambda: found.report("no.html")):
        with pytest.raises(InvalidInputError, match="`plan` must be one of two classes, for"):
            call()
    with pytest.raises(InvalidInputError, match="with a column 'kind'; got no metadata"):
        bp.evaluate({"a": scores}, pair[0], plan="SASV2022")
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
        ({"operating_points": [0.5], "spoof_costs": "a-DCF1"}, "left out without `figures`"),
    ],
)
def test_a_plan_of_three_classes_is_checked(given, message):
    with pytest.raises(InvalidInputError, match=message):
        bp.EvaluationPlan(name="mine", **given)


def test_the_costs_count_in_the_fingerprint():
    plan = bp.PLANS["ASVspoof5-2"]
    other = plan.evolve(spoof_costs="a-DCF1")
    assert plan.fingerprint != other.fingerprint


def test_the_command(read, files, capsys):
    scores, pair = read
    given = [str(files / "scores.txt"), "--key", str(files / "protocol.trl"), "--spoof", "keep"]
    assert main(["evaluate", *given, "--plan", "ASVspoof5-2", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    (expected,) = bp.evaluate({"scores": scores}, pair, plan="ASVspoof5-2").records()
    (record,) = content["table"] if isinstance(content, dict) else content
    assert record["a_dcf"] == pytest.approx(expected["a_dcf"], rel=1e-12)


@pytest.mark.parametrize("option", ["conditions", "cross_fit"])
def test_what_the_plan_does_not_know_is_refused(read, option):
    scores, pair = read
    given = {"conditions": "attack", "cross_fit": True}[option]
    with pytest.raises(InvalidInputError, match=f"`{option}` must be left out with the plan"):
        bp.evaluate({"a": scores}, pair, plan="ASVspoof5-2", **{option: given})


def test_without_replicates_figures_with_a_formula_have_intervals(read):
    scores, pair = read
    (record,) = bp.evaluate({"a": scores}, pair, plan="ASVspoof5-2", **WHO).records()
    expected = unc.speaker_interval(scores, pair, unc.SVEER(), **WHO)
    assert (record["sv_eer_low"], record["sv_eer_high"]) == (expected.low, expected.high)


def test_a_plan_with_the_cllr_of_the_mixture(read):
    scores, pair = read
    own = bp.EvaluationPlan(
        name="mine", figures=["sasv_cllr", "min_sasv_cllr"], spoof_costs="ASVspoof5"
    )
    found = bp.evaluate({"a": scores}, pair, plan=own, **WHO)
    (record,) = found.records()
    lists = lists_of(scores, *pair)
    # Sums in another order.
    assert record["sasv_cllr"] == pytest.approx(bp.sasv_cllr(*lists, "ASVspoof5"), rel=1e-12)
    least = bp.min_sasv_cllr(*lists, "ASVspoof5")
    assert record["min_sasv_cllr"] == pytest.approx(least, rel=1e-12)
    assert record["sasv_cllr_low"] < record["sasv_cllr"] < record["sasv_cllr_high"]
    assert "min SASV-Cllr" in str(found)
    with pytest.raises(InvalidInputError, match="be given, for sasv_cllr"):
        bp.EvaluationPlan(name="mine", figures=["sasv_cllr"])


@pytest.mark.parametrize("plan", [None, "VoxSRC"])
def test_spoofs_want_a_plan_that_knows_them(read, plan):
    scores, (key, metadata) = read
    message = r"`plan` must be one of three classes where trials are spoofs; .* and 160 spoofs"
    with pytest.raises(InvalidInputError, match=message):
        bp.evaluate({"a": scores}, (key, metadata), plan=plan)
    if plan is not None:
        with pytest.raises(InvalidInputError, match=message):
            bp.primary_cost(scores, (key, metadata), plan)
    # Without metadata they are pooled, as the hint says.
    assert bp.evaluate({"a": scores}, key, plan=plan).records()[0]["n_non"] == 540


def test_the_command_says_which_plans_know_spoofs(files, capsys):
    given = [str(files / "scores.txt"), "--key", str(files / "protocol.trl"), "--spoof", "keep"]
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
    scores, (key, metadata) = read
    lines = ["spk\tfilename\tcm-score\tasv-score\tsasv-score"]
    sides = (ids[at] for ids, at in zip(key.ids, key.trial_positions(), strict=True))
    rows = zip(*sides, scores.get_scores(key), cm_of(metadata), strict=True)
    for number, (model, segment, asv, cm) in enumerate(rows):
        dash = "-" if number == 0 else f"{cm}"
        lines.append(f"{model}\t{segment}\t{dash}\t{asv}\t{dash}")
    path = tmp_path / "score.tsv"
    path.write_text("\n".join(lines) + "\n")
    how = {"format": "asvspoof5-sasv-scores"}
    with pytest.warns(MissingTrialsWarning, match="1 of 660 lines .* have no score"):
        less = bp.read_scores(path, **how)
    with pytest.warns(MissingTrialsWarning):
        bp.evaluate({"a": less}, (key, metadata), plan="SASV2022")
    asv = bp.read_scores(path, columns={"score": "asv-score"}, **how)
    with pytest.warns(MissingTrialsWarning):
        fusion = bp.SASVFusion.fit((key, metadata), asv=asv, cm=less, ridge=0.1)
    with pytest.raises(TrialMismatchError):
        fusion.apply(asv=asv, cm=less, ndx=key)


def test_scores_of_utterances_are_told_from_those_of_trials(read, files, tmp_path, capsys):
    scores, (key, metadata) = read
    rng = np.random.default_rng(3)
    utterances = bp.FlatScores.from_trials(
        ["bonafide"] * key.segset.size, key.segset, rng.normal(size=key.segset.size)
    )
    message = "`cm` must have a score for each trial; got scores of utterances, under the one model"
    both = {"asv": scores, "cm": utterances}
    cm = bp.trials.scores.assemble(cm_of(metadata), key)
    fusion = bp.SASVFusion.fit((key, metadata), asv=scores, cm=cm, ridge=0.1)
    for call in (
        lambda: bp.SASVFusion.fit((key, metadata), **both),
        lambda: fusion.apply(**both, ndx=key),
        lambda: unc.tandem_table((key, metadata), **both),
        lambda: unc.bootstrap_tandem((key, metadata), unc.TDCF(), **both, replications=20),
    ):
        with pytest.raises(InvalidInputError, match=message):
            call()
    # The remedy that the hint names.
    of_trials = bp.trials.scores_of_segments(utterances, key)
    expected = unc.tandem_table((key, metadata), asv=scores, cm=of_trials)
    path = tmp_path / "cm.txt"
    flat = zip(key.segset[utterances.segments], utterances.scores.tolist(), strict=True)
    path.write_text("".join(f"{segment} {score!r}\n" for segment, score in flat))
    given = ["--asv", str(files / "scores.txt"), "--cm", str(path), "--spoof", "keep"]
    assert main(["tandem", *given, "--key", str(files / "protocol.trl"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert "scored utterances" in err
    found = json.loads(out)
    rows = found["table"] if isinstance(found, dict) else found
    assert [row["value"] for row in rows] == [row["value"] for row in expected.records()]
