"""One call from scores to judged systems.

Figures are compared with the functions that they come from, each called by itself.
"""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import _evaluate, uncertainty as unc
from bosaris_py.errors import (
    FewErrorsWarning,
    InvalidInputError,
    MissingTrialsWarning,
    UncertainPlanWarning,
)
from bosaris_py.trials.conditions import as_conditions
from tests.crossed_trials import CrossedExperiment
from tests.forms import as_list, described

POINT = bp.OperatingPoint(0.05, 2, 1)

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


@pytest.fixture(scope="module")
def drawn():
    """Two systems on the same trials, with misses and false alarms enough for all intervals."""
    experiment = CrossedExperiment(
        n_speakers=100, n_models=2, n_segments=2, tar_mean=1.0, non_mean=-1.0
    )
    return experiment.draw_systems(np.random.default_rng(4), n_systems=2, shared=0.5)


@pytest.fixture(scope="module")
def systems(drawn):
    return {"A": drawn[0].scores, "B": drawn[1].scores}


@pytest.fixture(scope="module")
def key(drawn):
    return drawn[0].key


@pytest.fixture(scope="module")
def maps(drawn):
    return {"speakers": (drawn[0].model_speakers, drawn[0].segment_speakers)}


@pytest.fixture(scope="module")
def metadata(key, maps):
    models = maps["speakers"][0].map_left_to_right(key.modelset)
    segments = maps["speakers"][1].map_left_to_right(key.segset)
    gender = ["f" if int(name[-1]) % 2 else "m" for name in models]
    return described(
        key,
        model_columns={"of_model": models, "gender": gender},
        segment_columns={"said_by": segments},
    )


@pytest.fixture(scope="module")
def evaluation(systems, key, maps):
    options = {"replications": 20, "rng": 1, **maps}
    return bp.evaluate(systems, key, prior=[0.3, 0.5], plan="VoxSRC", eer="rocch", **options)


class TestFigures:
    def test_are_those_of_results(self, systems, key):
        records = bp.evaluate(systems, key, prior=[0.05, POINT]).records()
        for (name, scores), record in zip(systems.items(), records, strict=True):
            results = bp.Results.from_scores(scores, key)
            expected = {"system": name, "n_tar": key.n_tar, "n_non": key.n_non, "eer": results.eer}
            for prior, suffix in ((0.05, "(0.05)"), (POINT, "(0.05, 2, 1)")):
                for cost in ("min_dcf", "act_dcf"):
                    expected[cost + suffix] = getattr(results, cost)(prior)
            expected |= {"min_cllr": results.min_cllr, "cllr": results.cllr, "normalized": True}
            expected |= {"eer_definition": "rocch", "intervals": None}
            assert record == expected

    def test_without_normalization(self, systems, key):
        record = bp.evaluate(systems, key, prior=POINT, normalize=False).records()[0]
        results = bp.Results.from_scores(systems["A"], key)
        assert record["act_dcf(0.05, 2, 1)"] == results.act_dcf(POINT, normalize=False)

    def test_primary_cost_of_a_plan(self, systems, key):
        evaluation = bp.evaluate(systems, key, plan="VoxSRC")
        cost = bp.primary_cost(systems["B"], key, "VoxSRC")
        assert evaluation.primary["B"] == cost
        record = evaluation.records()[1]
        assert (record["min_primary"], record["act_primary"]) == (cost.minimum, cost.actual)
        # The plan has the EER of the kit, which `eer` overrides.
        results = bp.Results.from_scores(systems["B"], key)
        lists = systems["B"].get_tar_non(key)
        assert record["eer"] == bp.eer(*lists, definition="interpolated")
        hull = bp.evaluate(systems, key, plan="VoxSRC", eer="rocch")
        assert hull.records()[1]["eer"] == results.eer
        assert "EER of the ROC's convex hull; primary cost of VoxSRC)" in str(hull)

    def test_segments_of_unknown_speakers(self, key, systems):
        """Nobody is the target of the last segment, so its speaker is not known."""
        one = np.zeros_like(key.tar)
        one[0, 0] = True
        alone = bp.Key(key.modelset, key.segset, one, (key.tar | key.non) & ~one)
        for call in (
            lambda: bp.evaluate(systems, alone).compare(),
            lambda: bp.evaluate(systems, alone, replications=2, rng=1),
            lambda: unc.compare_systems(systems, alone, unc.EER()),
        ):
            with pytest.raises(InvalidInputError, match="Give speakers, for instance a column, "):
                call()

    def test_no_primary_cost_without_metadata(self, systems, key):
        """A cost of pooled trials is not that of a plan which equalises partitions."""
        with pytest.warns(UncertainPlanWarning, match="SRE21: NOT the published cost"):
            evaluation = bp.evaluate(systems, key, plan="SRE21")
        assert not [name for name in evaluation.records()[0] if "primary" in name]
        assert "NO primary cost of SRE21, because trials are pooled" in str(evaluation)
        assert set(evaluation.primary) == set(systems)

    def test_primary_cost_is_of_all_trials(self, systems, key, metadata):
        rows = bp.evaluate(systems, metadata, plan="VoxSRC", conditions="gender").records()
        known = [row["condition"] for row in rows if row["min_primary"] is not None]
        assert known == ["pooled", "pooled"]

    def test_intervals_of_the_primary_cost_are_of_all_trials(self, systems, key, metadata, maps):
        options = {"replications": 20, "rng": 1, **maps}
        judged = bp.evaluate(systems, metadata, plan="VoxSRC", conditions="gender", **options)
        found = {row.kind for _, row in judged.table.rows if "min_primary" in row.intervals}
        others = {row.kind for _, row in judged.table.rows if "eer" in row.intervals}
        assert found == {"pooled"} < others

    def test_files_are_read_whole_for_what_needs_all_trials(self, systems, key, monkeypatch):
        def large_files(*_):
            raise InterruptedError

        monkeypatch.setattr(_evaluate, "large_files", large_files)
        with pytest.raises(InterruptedError):
            bp.evaluate(systems, key)
        assert bp.evaluate(systems, key, plan="VoxSRC").primary.keys() == systems.keys()

    def test_how_scores_were_calibrated(self):
        line = bp.LinearCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0], prior=0.25)
        bounded = bp.BoundedCalibration(map=line, low=-1.0, high=1.0)
        pav = bp.PAVCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0])
        told = ", trained at prior 0.25"
        for final, prior in ((line, told), (bounded, told), (pav, "")):
            said = _evaluate._calibrated(type(final), final)
            assert said == f"cross-fitted: {type(final).__name__}{prior}"

    def test_rows_of_conditions(self, systems, key, metadata):
        conditions = as_conditions("gender", metadata)
        found = bp.evaluate({"B": systems["B"]}, key, prior=0.05, conditions=conditions)
        expected = found.records()
        for given in (conditions, "gender", ("gender",)):
            evaluation = bp.evaluate(systems, metadata, prior=0.05, conditions=given)
            records = evaluation.records()[4:]
            assert [record["system"] for record in records] == ["B"] * 4
            assert records == expected
        assert str(evaluation).count("equalised") == 2

    def test_named_masks_are_conditions(self, systems, key):
        first = np.zeros(key.tar.shape, dtype=bool)
        first[:20] = True
        records = bp.evaluate(systems, key, conditions={"x": first, "y": ~first}).records()
        assert [r["condition"] for r in records[:4]] == ["x", "y", "pooled", "equalised"]

    def test_a_condition_of_one_class_has_none(self, systems, key):
        odd = np.asarray(key.tar) & (np.arange(key.tar.shape[0])[:, None] < 4)
        conditions = bp.Conditions({"targets": odd, "rest": ~odd}, lacking="ignore")
        evaluation = bp.evaluate(systems, key, prior=0.5, conditions=conditions)
        assert evaluation.records()[0]["eer"] is None
        assert json.loads(evaluation.to_json())["table"][0]["eer"] is None

    def test_single_scores_and_lists_are_numbered(self, systems, key):
        alone = bp.evaluate(systems["A"], key).records()
        several = bp.evaluate([systems["A"], as_list(systems["B"])], key).records()
        assert [r["system"] for r in alone + several] == ["system", "system 1", "system 2"]
        assert several[1] == bp.evaluate(systems, key).records()[1] | {"system": "system 2"}


class TestIntervals:
    def test_are_those_of_the_bootstrap(self, systems, key, maps):
        speakers = maps["speakers"]
        options = {"replications": 100, "rng": 3}
        record = bp.evaluate(systems, key, prior=0.05, speakers=speakers, **options).records()[1]
        metrics = {
            "eer": unc.EER(),
            "act_dcf(0.05)": unc.ActDCF(0.05),
            "min_dcf(0.05)": unc.MinDCF(0.05),
            "cllr": unc.Cllr(),
            "min_cllr": unc.MinCllr(),
        }
        for name, metric in metrics.items():
            single = unc.bootstrap_scores(systems["B"], key, metric, **maps, **options)
            assert record[f"{name}_low"] == pytest.approx(single.low, rel=1e-12)
            assert record[f"{name}_high"] == pytest.approx(single.high, rel=1e-12)

    def test_are_those_of_the_jackknife_without_replications(self, systems, key, maps):
        evaluation = bp.evaluate(systems, key, prior=POINT, plan="VoxSRC", eer="rocch", **maps)
        record = evaluation.records()[1]
        for name, metric in {
            "eer": unc.EER(),
            "act_dcf(0.05, 2, 1)": unc.ActDCF(POINT),
            "min_dcf(0.05, 2, 1)": unc.MinDCF(POINT),
            "min_cllr": unc.MinCllr(),
            "cllr": unc.Cllr(),
            "min_primary": unc.MinDCF(0.05),
            "act_primary": unc.ActDCF(0.05),
        }.items():
            expected = unc.speaker_interval(systems["B"], key, metric, **maps)
            ends = record[f"{name}_low"], record[f"{name}_high"]
            assert ends == pytest.approx((expected.low, expected.high), rel=1e-9)
        assert "95 % intervals: jackknife over speakers" in str(evaluation)

    def test_of_conditions(self, systems, key, metadata, maps):
        options = {"replications": 50, "rng": 3}
        evaluation = bp.evaluate(
            {"A": systems["A"]}, metadata, prior=0.3, conditions="gender",
            **maps, **options,
        )  # fmt: skip
        only_f = as_conditions("gender", metadata).with_weights({"f": 1.0, "m": 0.0})
        expected = unc.bootstrap_scores(
            systems["A"], key, unc.EER(), conditions=only_f, **maps, **options
        )
        record = evaluation.records()[0]
        assert record["condition"] == "f"
        assert record["eer_low"] == pytest.approx(expected.low, rel=1e-12)

    def test_speakers_in_every_form(self, systems, key, maps, metadata):
        models, segments = maps["speakers"]
        of = {
            i: s for ids in maps["speakers"] for i, s in zip(ids.leftids, ids.rightids, strict=True)
        }
        forms = [
            (models, segments),
            bp.IdMap(list(of), list(of.values())),
            of,
            lambda name: of[name],
            (lambda name: of[name], segments),
            ("of_model", "said_by"),
            "of_model",  # segments follow from the targets
        ]
        records = [
            bp.evaluate(
                systems["A"], metadata, prior=0.3, speakers=form, replications=20, rng=1
            ).records()
            for form in forms
        ]
        assert all(record == records[0] for record in records)

    @pytest.mark.parametrize(
        "judge",
        [
            lambda a, _, key, **who: unc.bootstrap_scores(
                a, key, unc.Cllr(), replications=10, rng=1, **who
            ),
            lambda a, _, key, **who: unc.speaker_interval(a, key, unc.EER(), **who),
            lambda a, b, key, **who: unc.compare_systems(
                {"A": a, "B": b}, key, unc.Cllr(), **who
            ).records(),
        ],
    )
    def test_speakers_are_given_alike_everywhere(self, systems, key, maps, metadata, judge):
        models, segments = maps["speakers"]
        of = dict(zip(models.leftids, models.rightids, strict=True))
        told = [
            repr(judge(systems["A"], systems["B"], key_of, **who))
            for key_of, who in (
                (key, maps),
                (key, {"speakers": (of, segments)}),
                (key, {"speakers": (of.__getitem__, segments)}),
                (metadata, {"speakers": ("of_model", "said_by")}),
                (metadata, {"speakers": ("of_model", None)}),
            )
        ]
        assert all(text == told[0] for text in told)
        with pytest.raises(InvalidInputError, match="`speakers` must be an IdMap, a dict, a"):
            judge(systems["A"], systems["B"], key, speakers=(3, None))

    def test_ids_are_columns(self, key, systems):
        known = described(key, segment_columns={"length": ["s"] * key.ids[1].size})
        rows = bp.evaluate(systems["A"], known, conditions=("segment", "length"))
        names = {record["condition"] for record in rows.records()}
        assert {f"{name}, s" for name in key.segset} < names


class TestWaysOut:
    def test_json_is_the_table_digit_by_digit(self, evaluation, tmp_path):
        content = json.loads(evaluation.to_json(tmp_path / "table.json"))
        assert content["table"] == evaluation.records()
        assert content["plan"] == "VoxSRC"
        assert (tmp_path / "table.json").read_text() == evaluation.to_json()

    def test_csv_is_the_table_digit_by_digit(self, evaluation, tmp_path):
        text = evaluation.to_csv(tmp_path / "table.csv")
        for read, record in zip(
            csv.DictReader(io.StringIO(text)), evaluation.records(), strict=True
        ):
            assert {name: type(record[name])(value) for name, value in read.items()} == record
        assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]

    def test_frame(self, evaluation):
        pytest.importorskip("pandas")
        assert evaluation.to_frame().to_dict("records") == evaluation.records()

    def test_text_has_the_eer_in_per_cent(self, evaluation):
        head, _, first, *_ = str(evaluation).splitlines()
        assert "EER (%)" in head
        record = evaluation.records()[0]
        ends = (100 * record[name] for name in ("eer", "eer_low", "eer_high"))
        cell = "{:.2f} [{:.2f}, {:.2f}]".format(*ends)
        for text in (first, evaluation.to_markdown(), evaluation.to_latex()):
            assert cell in text

    def test_plots_show_every_system(self, evaluation):
        for plot in (evaluation.det(title="t"), evaluation.bayes()):
            labels = [text.get_text() for text in plot.ax.get_legend().get_texts()]
            assert any("A" in label for label in labels)
            assert any("B" in label for label in labels)

    def test_comparison_uses_the_same_speakers(self, evaluation, systems, key, maps):
        expected = unc.compare_systems(systems, key, unc.EER(), **maps)
        assert evaluation.compare().records() == expected.records()

    @pytest.mark.parametrize("normalize", [True, False])
    def test_comparison_has_the_scale_of_the_table(self, systems, key, maps, normalize):
        """Differences are those of two cells: exact costs, one divided by 0.1 = min(0.1, 0.95)."""
        found = bp.evaluate(systems, key, prior=POINT, normalize=normalize, **maps)
        a, b = found.records()
        for name, metric in (
            ("act_dcf(0.05, 2, 1)", unc.ActDCF(POINT, normalize)),
            ("act_dcf(0.05, 2, 1)", unc.DCF(POINT.threshold, POINT, normalize)),
            ("min_dcf(0.05, 2, 1)", unc.MinDCF(POINT, normalize)),
        ):
            (row,) = found.compare(metric).records()
            assert row["difference"] == pytest.approx(a[name] - b[name], rel=1e-9)

    def test_comparison_without_speakers_is_that_of_compare_systems(self):
        """Each segment has a target trial, so the key tells who speaks; nothing else does."""
        same = np.eye(100, dtype=bool)
        ids = [f"m{i}" for i in range(100)], [f"s{i}" for i in range(100)]
        key, rng = bp.Key(*ids, same, ~same), np.random.default_rng(3)
        noise = rng.normal(size=(2, 100, 100))
        systems = {"A": bp.Scores(same + noise[0], *ids), "B": bp.Scores(same + noise[1], *ids)}
        expected = unc.compare_systems(systems, key, unc.EER())
        assert bp.evaluate(systems, key).compare().records() == expected.records()


class TestWarningsAndErrors:
    def test_a_warning_names_the_system(self, systems, key):
        few = systems["B"].filter(key.modelset[:50], key.segset, keep=True)
        with pytest.warns(MissingTrialsWarning, match="^B: "):
            bp.evaluate({"A": systems["A"], "B": few}, key)

    def test_a_warning_names_the_condition_once(self, key, maps, metadata):
        far = bp.Scores(np.where(key.tar, 9.0, -9.0), key.modelset, key.segset)
        with pytest.warns(FewErrorsWarning) as caught:
            bp.evaluate({"far": far}, metadata, conditions="gender", replications=9, rng=1, **maps)
        texts = [str(warning.message) for warning in caught]
        assert all(text.startswith("far") for text in texts)
        assert len(set(texts)) == len(texts)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"systems": {}}, "at least one system; got none"),
            ({"systems": {"A": [1.0]}}, r"`systems\['A'\]` must be a Scores.*Fuse them first"),
            ({"cross_fit": bp.LinearFusion}, r"one system; got .*evaluate cross_fit\(LinearFusion"),
            ({"systems": {3: None}}, "be named by text; got 3"),
            ({"key": 3}, "must be a Key"),
            ({"conditions": "gender"}, "there is none"),
            ({"speakers": "speaker"}, "there is none"),
            ({"speakers": 3}, "an IdMap, a dict, a function of the id or a column"),
            ({"speakers": {"nobody": "x"}}, "tell the speakers of models or segments"),
            ({"speakers": (None, {"nobody": "x"})}, "tell the speakers of the segments"),
            ({"speakers": (None,)}, "one value or a pair"),
            ({"speakers": lambda _: None}, "text or a whole number for each id"),
            ({"prior": 1.5}, "strictly between 0 and 1"),
            ({"plan": "SRE99"}, "SRE99"),
            ({"replications": 1}, "replications"),
            ({"confidence": 95}, "confidence"),
        ],
    )
    def test_bad_input(self, systems, key, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            bp.evaluate(**({"systems": systems, "key": key} | arguments))

    def test_swapped_arguments_are_named(self, systems, key):
        with pytest.raises(InvalidInputError, match="Did you swap `systems` and `key`"):
            bp.evaluate(key, systems["A"])

    def test_a_data_frame_is_sent_to_from_frame(self):
        frame = pytest.importorskip("pandas").DataFrame({"score": [1.0]})
        with pytest.raises(InvalidInputError, match="from_frame makes scores and key"):
            bp.evaluate(frame, frame)

    def test_a_column_that_varies_within_models(self, systems, key, metadata):
        with pytest.raises(InvalidInputError, match="varies within models"):
            bp.evaluate(systems, metadata, speakers=("said_by", "said_by"))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
def test_average_cost_of_languages():
    """C_avg of a closed set, as the plans of NIST's LREs define it."""
    languages, rng = ["cmn", "eng", "spa"], np.random.default_rng(22)
    truth = np.repeat(languages, [7, 20, 33])
    spoken = np.array(languages)[:, np.newaxis] == truth
    llrs = rng.normal(2.0 * spoken - 1.0)
    cost = 0.0
    for i, target in enumerate(languages):
        cost += 0.5 * np.mean(llrs[i, truth == target] < 0.0)
        for other in {*languages} - {target}:
            cost += 0.5 / 2 * np.mean(llrs[i, truth == other] >= 0.0)
    segments = [f"s{i:02}" for i in range(60)]
    scores, key = bp.Scores(llrs, languages, segments), bp.Key(languages, segments, spoken, ~spoken)
    metadata = described(key, segment_columns={"language": truth.tolist()})
    pairs = as_conditions(("model", "language"), metadata)
    results = bp.Results.from_scores(scores, key, pairs)
    assert results.act_dcf(0.5, normalize=False) == pytest.approx(cost / 3, rel=1e-14)
    found = bp.evaluate(scores, metadata, conditions=("model", "language"), prior=0.5)
    assert found.records()[-1]["act_dcf(0.5)"] == results.act_dcf(0.5)
    assert metadata.columns.factor("segment").values()[::3].tolist() == segments


@pytest.mark.slow
def test_no_matplotlib_before_the_first_plot():
    code = "import sys, bosaris_py as bp; bp.evaluate; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_true_is_the_cross_fitted_line(systems, key, maps):
    options = {"prior": 0.3, **maps, "rng": 1}
    found = bp.evaluate(systems, key, cross_fit=True, **options)
    named = bp.evaluate(systems, key, cross_fit=bp.LinearCalibration, **options)
    assert found.records() == named.records()
    line = bp.cross_fit(bp.LinearCalibration, systems["A"], key, **maps, rng=1)
    assert found.records()[0]["cllr"] == bp.Results.from_scores(line.scores, key).cllr
    assert "cross-fitted: LinearCalibration, trained at prior 0.5" in str(found)


def test_a_plan_by_condition_has_its_points_in_the_table_and_its_costs(systems, key, metadata):
    """SRE10 judges conditions one by one; its costs of misses and false alarms are 1."""
    plan = bp.PLANS["SRE10"].evolve(operating_points=[0.1, bp.OperatingPoint(0.2, 10, 1)])
    found = bp.evaluate({"A": systems["A"]}, metadata, plan=plan, prior=0.3)
    (record,) = found.records()
    for point, name in ((0.3, "0.3"), (0.1, "0.1"), (bp.OperatingPoint(0.2, 10, 1), "0.2, 10, 1")):
        cost = bp.Results.from_scores(systems["A"], key).min_dcf(point)
        assert record[f"min_dcf({name})"] == cost
    assert found.primary["A"] == bp.primary_cost(systems["A"], metadata, plan)
