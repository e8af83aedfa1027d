"""Parts of a report, from tables that are made here: nothing is drawn."""

import re
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py._notes import Caution
from bosaris_py.errors import FewSpeakersWarning, MissingTrialsWarning
from bosaris_py.evaluation import ConditionRow, SystemTable
from bosaris_py.report import drawings, page
from bosaris_py.report.cautions import SystemCautions, of_scores, of_speakers
from bosaris_py.uncertainty import ComparisonTable


def row(eer: float | None = 0.05, **changes: Any) -> ConditionRow:
    figures = {"eer": eer, "cllr": None if eer is None else 4 * eer}
    common: dict[str, Any] = {"kind": "pooled", "name": "pooled", "weight": None, "how": "HOW"}
    common |= {"n_tar": 9, "n_non": 9, "figures": figures, "intervals": {}}
    return ConditionRow(**(common | changes))


def report(*rows: tuple[str, ConditionRow], **changes: Any) -> page.Report:
    common: dict[str, Any] = {"title": "T", "facts": {}, "files": {}, "cautions": []}
    common |= {"speakers": None, "table": SystemTable([*(rows or [("A", row())])]), "results": {}}
    return page.Report(**(common | {"points": {}, "normalized": False} | changes))


def comparison(metric: str = "EER", *, percent: bool = False) -> ComparisonTable:
    found = unc.Estimate.from_error(0.1, 0.1)
    return ComparisonTable.from_differences({("A", "B"): found}, metric, percent=percent)


@pytest.fixture(scope="module")
def many_errors() -> bp.Results:
    """200 misses and 200 false alarms at an LLR of 0, of 1,000 trials each: LLRs of -log 4, log 4.

    (200 / 1000) / (800 / 1000) = 1 / 4: they are calibrated, and Cllr is minCllr.
    """
    llrs = np.repeat([-np.log(4.0), np.log(4.0)], [200, 800])
    return bp.Results(llrs, -llrs)


@pytest.fixture(autouse=True)
def _no_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "make_figures", lambda *_, **__: [])


def test_titles_and_names_are_cut_at_200_letters() -> None:
    for count, shown in ((200, "x" * 200), (201, "x" * 199 + "…"), (300, "x" * 199 + "…")):
        text = page._page(report(title="x" * count))
        (found,) = re.findall(r"<title>(.*?)</title>", text)
        assert found in (shown, "x" * 197 + "...")
        assert len(found) == 200
        assert (found == "x" * 200) == (count == 200)


def test_sections_without_content_are_left_out() -> None:
    text = page._page(report())
    found = re.findall(r'<section id="(\w+)">', text)
    assert found == ["answer", "cautions", "systems", "summary"]
    assert re.findall(r'<a href="#(\w+)">', text) == found


def test_warnings_are_of_their_system_and_linked_where_there_are_any(
    many_errors: bp.Results,
) -> None:
    """A has 200 errors of each class and is calibrated; B has no error."""
    few = bp.Results([1.0] * 9, [-1.0] * 9)
    rows = [("A", row(0.2, n_tar=1000, n_non=1000)), ("B", row())]
    judged = report(*rows, results={"A": many_errors, "B": few}, points={"(0.5)": 0.5})
    assert "B: All targets score above" in page._warnings(judged)
    assert "A: " not in page._warnings(judged)
    assert 'href="#warnings"' in page._cautions(judged)
    alone = report(rows[0], results={"A": many_errors}, points={"(0.5)": 0.5})
    assert page._cautions(alone).count("<p>") == 1
    assert 'href="#warnings"' not in page._cautions(alone)


def test_conditions_have_a_section_if_there_are_any() -> None:
    women = row(kind="condition", name="women")
    assert '<section id="conditions">' in page._page(report(("A", row()), ("A", women)))


def test_intervals_of_conditions_are_in_per_cent() -> None:
    cell = page._shaded(row(0.05, intervals={"eer": (0.01234, 0.5)}), 0.05, "eer")
    assert cell == '<td class="shade5">5.00<span class="interval"> [1.23, 50.00]</span></td>'
    # 5 x 0.021 / 0.1 = 1.05, upwards.
    assert page._shaded(row(0.021), 0.1, "eer") == '<td class="shade2">2.10</td>'
    assert page._shaded(row(0.0), 0.0, "eer") == '<td class="shade0">0.00</td>'
    # Costs and bits are no shares.
    cell = page._shaded(row(0.05, intervals={"cllr": (0.1, 0.3)}), 0.2, "cllr")
    assert cell == '<td class="shade5">0.2000<span class="interval"> [0.1000, 0.3000]</span></td>'


@pytest.mark.parametrize("nothing", [None, row(None)])
def test_what_has_no_value_is_a_dash(nothing: ConditionRow | None) -> None:
    assert page._shaded(nothing, 0.1, "eer") == "<td>-</td>"


class TestCautions:
    def test_a_system_is_judged_by_its_own_rows(self, many_errors: bp.Results) -> None:
        rows = ("A", row(0.2, n_tar=1000, n_non=1000)), ("B", row(0.01, n_tar=1000, n_non=1000))
        # 200 errors of A, 10 of B.
        text = page._cautions(report(*rows, results={"A": many_errors, "B": many_errors}))
        lines = [re.sub("<[^>]*>", " ", line).split() for line in text.split("<tr>")[2:]]
        assert lines[0] == ["A", "-", "none"]
        assert lines[1][:5] == ["B", "-", "Few", "errors", "(rule"]

    def test_flags_of_systems_and_of_all_are_explained(self, many_errors: bp.Results) -> None:
        missing = Caution(MissingTrialsWarning, "one trial is missing", "", ())
        # 10 errors of 1,000 trials.
        few = row(0.01, n_tar=1000, n_non=1000)
        one = report(("A", few), results={"A": many_errors}, cautions=[missing])
        text = page._cautions(one)
        explained = [re.sub("<[^>]*>", "", term) for term in re.findall(r"<dt>(.*?)</dt>", text)]
        assert explained == ["Few errors (rule of 30)", "Missing trials"]
        assert '<a href="#warnings">' in text

    def test_errors_are_counted_at_the_bayes_threshold(self, many_errors: bp.Results) -> None:
        points = {"": 0.5, "(0.9)": 0.9}
        found = SystemCautions.of("A", many_errors, [row()], points, [])
        # logit(0.9) = log 9 is more than log 4: all are accepted.
        assert found.errors == ((200.0, 200.0), (0.0, 1000.0))
        assert found.speakers == "-"

    @pytest.mark.parametrize(("counts", "told"), [((), "at least 100"), ((7.0, 12.0), "7")])
    def test_effective_speakers(
        self, many_errors: bp.Results, counts: tuple[float, ...], told: str
    ) -> None:
        heard = [
            Caution(FewSpeakersWarning, "", count=count, about=(("system", name),))
            for name, count in (*(("A", count) for count in counts), ("B", 2.0))
        ]
        rows = [row(intervals={"eer": (0.0, 0.1)})]
        found = SystemCautions.of("A", many_errors, rows, {}, heard)
        assert found.speakers == told
        without = SystemCautions.of("A", many_errors, [row()], {}, heard)
        assert without.speakers == "-"

    def test_10_speakers_are_enough_and_9_are_not(self) -> None:
        (_, text), *more = of_speakers({"targets": 9, "non-targets": 10})
        assert text.startswith("There are 9 speakers of the targets: ")
        assert more == []
        assert "each model counts as one speaker" in next(of_speakers({}))[1]

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
    def test_suspect_scores(self, many_errors: bp.Results) -> None:
        # Calibrated: nothing. -log2(0.8) * 0.8 - log2(0.2) * 0.2 = 0.722 bits.
        assert [*of_scores(many_errors, [], {"": 0.5})] == []
        llrs = np.repeat([-np.log(4.0), np.log(4.0)], [200, 800])
        # 10 x: 0.2 log2(1 + 4^10) = 4 bits and the rest is next to 0; a cost of 0.2 / 0.5 at 0.5.
        ((topic, text),) = of_scores(bp.Results(10 * llrs, -10 * llrs), [], {"": 0.5})
        assert topic == "Suspect scores"
        assert text.startswith("Cllr is 4 bits. Above 1, the scores are worse than none.")
        # 4 x: 0.2 log2(1 + 4^4) + 0.8 log2(1 + 4^-4) = 1.6.
        ((_, text),) = of_scores(bp.Results(4 * llrs, -4 * llrs), [], {})
        assert text.startswith("Cllr is 1.61 bits. Above 1, ")
        # Turned round, decisions cost 0.8 / 0.2 = 1.6 times no detector's 0.5.
        points = {"": 0.5, "(x)": 0.5}
        texts = [text for _, text in of_scores(bp.Results(-llrs, llrs), [], points)]
        for name in ("", " (x)"):
            said = f"At the operating point{name} the actual cost is 1.6 times that of no detector."
            assert said in texts

    def test_a_loss_of_half_of_cllr_is_suspect(self) -> None:
        # 10 errors of 1,000: calibrated at log 99, and 0.0808 bits. At a quarter of it Cllr is
        # 0.99 log2(1 + 99^-0.25) + 0.01 log2(1 + 99^0.25) = 0.414; at 0.7 of it 0.130.
        llrs = np.repeat([-np.log(99.0), np.log(99.0)], [10, 990])
        for scale, found in ((0.25, ["Suspect scores"]), (0.7, [])):
            results = bp.Results(scale * llrs, -scale * llrs)
            assert [topic for topic, _ in of_scores(results, [], {})] == found
        # A loss of 0.125 of 0.594 bits: more than 0.1, less than half.
        llrs = 0.46 * np.repeat([-np.log(9.0), np.log(9.0)], [100, 900])
        results = bp.Results(llrs, -llrs)
        assert 0.1 < results.cllr - results.min_cllr < 0.5 * results.cllr
        assert [*of_scores(results, [], {})] == []

    def test_separable_scores_have_limits(self) -> None:
        results = bp.Results(np.full(10, 3.0), np.full(100, -3.0))
        text = dict(of_scores(results, [], {}))["Separable scores"]
        # 1 - 0.05^(1/10) = 0.2589, 1 - 0.05^(1/100) = 0.02951.
        assert text.endswith("misses are rarer than 26 % and false alarms than 3 %.")


@pytest.mark.parametrize(
    ("metric", "unit", "shown"), [("EER", " (%)", "10.0"), ("Cllr", "", "0.100")]
)
def test_differences_of_rates_are_in_per_cent(metric: str, unit: str, shown: str) -> None:
    text = page._compared(comparison(metric, percent=bool(unit)))
    assert f">difference{unit}</th>" in text
    assert f">SE{unit}</th>" in text
    # A difference and a standard error of 0.1, in three digits of the latter.
    assert text.count(f">{shown}<") == 2


class TestFigures:
    def test_names_of_legends(self) -> None:
        names = ["x" * 32, "x" * 33, "x" * 34, "_a", "a\nb", "x" * 33]
        short = drawings._short(names)
        assert short == [
            "x" * 32,
            "x" * 31 + "…",
            "x" * 31 + "…\u00a0(2)",
            "'_a'",
            drawings.drawable("a\nb"),
            "x" * 31 + "…\u00a0(3)",
        ]
        assert "\n" not in short[4]

    def test_differences_are_in_per_cent_and_of_short_names(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(drawings.plots, "plot_forest", lambda table, **words: (table, words))
        shown = {"A": "short", "B": "b"}
        drawing = drawings._differences(shown, comparison(), "eer")
        table, words = drawing.draw()
        (row,) = table.rows
        assert (drawing.title, row.first, row.second) == ("Differences of EERs", "short", "b")
        assert words == {"percent": True, "xlabel": "difference (%)"}

    def test_drawings_have_the_operating_points(
        self, many_errors: bp.Results, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        heard: dict[str, Any] = {}
        for name in ("det", "bayes", "tippett", "ece", "pav", "histogram"):
            monkeypatch.setattr(
                drawings.plots,
                f"plot_{name}",
                lambda *found, name=name, **words: heard.setdefault(name, (found, words)),
            )
        for points, first, every in (([], None, None), ([0.01, 0.5], 0.01, [0.01, 0.5])):
            heard.clear()
            drawn = [*drawings._drawings({"A": many_errors}, {"A": "a"}, points, {})]
            assert len([one.draw() for one in drawn]) == 6
            systems = ({"a": many_errors},)
            assert heard["det"] == (systems, {"prior": first, "bands": {}})
            assert heard["bayes"] == (systems, {"prior": every, "bands": {}})
            assert heard["histogram"] == ((many_errors,), {"prior": every})
            assert ("Filled stars" in drawn[0].sentence) == (first is not None)
            assert not any("Shade" in one.sentence for one in drawn)

    @pytest.mark.parametrize(
        ("rows", "titles"),
        [
            ([row(), row(kind="condition", name="w")], ["EER by condition: A"]),
            ([row(None), row(None, kind="condition", name="w")], []),
            ([row(None), row(kind="condition", name="w")], ["EER by condition: A"]),
            ([row(intervals={"eer": (0.0, 0.1)})], ["EER of the systems"]),
            ([row(intervals={"cllr": (0.0, 0.1)})], []),
        ],
    )
    def test_what_is_in_a_forest(self, rows: list[ConditionRow], titles: list[str]) -> None:
        found = drawings._forests({"A": "A"}, SystemTable([("A", each) for each in rows]))
        assert [one.title for one in found] == titles
