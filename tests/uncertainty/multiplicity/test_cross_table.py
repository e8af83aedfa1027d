"""Cross tables: each cell is the single call on its trials, and intervals are of common draws."""

import json
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials.speakers import Speakers
from bosaris_py.uncertainty.multiplicity.cross_table import CrossTable, WorstCell, cross_table

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]

METRICS = [unc.ADCF("ASVspoof5"), unc.ActADCF(), unc.SVEER(), unc.SPFEER(), unc.SASVEER()]


class Made:
    """16 speakers; targets and impostors with a codec, spoofs with an attack and a codec."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        rows = []
        for i in range(16):
            for j in range(16):
                for take in range(6 if i == j else 1):
                    kind = "target" if i == j else "nontarget"
                    rows.append(
                        (f"s{i}", f"u{j}_{take}_{i}", kind, "-", "ab"[(take + i + j) % 2], f"s{j}")
                    )
            for fake in range(12):
                codec = "ab"[rng.integers(2)]
                rows.append((f"s{i}", f"f{i}_{fake}", "spoof", f"A{1 + fake % 3:02}", codec, ""))
        models, segments, kind, attack, codec, speaker = map(np.array, zip(*rows, strict=True))
        self.kind, self.attack, self.codec = kind, attack, codec
        self.ids = models, segments
        self.llrs = rng.normal(size=kind.size) * 2 + np.where(kind == "target", 2.0, -2.0)
        self.llrs = np.round(self.llrs + 0.7 * (attack == "A03"), 1)
        key = bp.FlatKey.from_trials(models, segments, kind == "target")
        columns = {"kind": kind, "attack": attack, "codec": codec, "speaker": speaker}
        self.key = key, bp.TrialMetadata.from_trials(models, segments, columns, key)
        # Of two classes: nothing says which non-targets are spoofs.
        del columns["kind"]
        self.bare = key, bp.TrialMetadata.from_trials(models, segments, columns, key)
        self.scores = bp.FlatScores.from_trials(models, segments, self.llrs)
        self.evaluated = bp.evaluate({"a": self.scores}, self.key, plan="ASVspoof5-2")

    def lists(self, attack: str | None, codec: str | None) -> list[np.ndarray]:
        """Scores of targets, impostors and spoofs; the attack divides the last."""
        found = []
        for kind in ("target", "nontarget", "spoof"):
            chosen = self.kind == kind
            if codec is not None:
                chosen &= self.codec == codec
            if attack is not None and kind == "spoof":
                chosen &= self.attack == attack
            found.append(self.llrs[chosen])
        return found


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)
def test_cells_are_single_calls(made: Made, metric: Any) -> None:
    table = made.evaluated.cross("attack", "codec", metric=metric)
    assert (table.rows, table.columns) == (("A01", "A02", "A03"), ("a", "b"))
    for i, attack in enumerate(table.rows):
        for j, codec in enumerate(table.columns):
            assert table.values[i, j] == metric(*made.lists(attack, codec))
        assert table.pooled[0][i] == metric(*made.lists(attack, None))
    for j, codec in enumerate(table.columns):
        assert table.pooled[1][j] == metric(*made.lists(None, codec))
    assert table.pooled[2] == metric(*made.lists(None, None))
    _, mean, largest = table.margins(0)
    np.testing.assert_allclose(mean, table.values.mean(axis=1), rtol=1e-15)
    np.testing.assert_array_equal(largest, table.values.max(axis=1))
    _, mean, largest = table.margins(1)
    np.testing.assert_array_equal(largest, table.values.max(axis=0))


@pytest.mark.parametrize("metric", [unc.EER(), unc.MinDCF(0.1), unc.AUC(), unc.Cllr()])
def test_two_classes(made: Made, metric: Any) -> None:
    """Targets of a codec against spoofs of an attack: only values that a class has divide it."""
    kind = np.where(made.kind == "nontarget", "spoof", made.kind)
    table = bp.evaluate({"a": made.scores}, made.bare, priors=0.1).cross(
        "codec", "attack", metric=metric
    )
    for i, codec in enumerate(table.rows):
        for j, attack in enumerate(table.columns):
            tar = made.llrs[(made.kind == "target") & (made.codec == codec)]
            # Impostors have no attack, and are in no cell of a table of two classes.
            non = made.llrs[(kind == "spoof") & (made.attack == attack) & (made.codec == codec)]
            assert table.values[i, j] == metric(tar, non)


def test_default_metric_is_the_first_of_the_plan(made: Made) -> None:
    table = made.evaluated.cross("attack", "codec")
    assert table.metric == "min a-DCF; costs are normalized"
    expected = made.evaluated.cross("attack", "codec", metric=unc.ADCF("ASVspoof5"))
    np.testing.assert_array_equal(table.values, expected.values)
    plain = bp.evaluate({"a": made.scores}, made.bare, priors=0.1).cross("codec", "attack")
    assert plain.metric == "EER of the ROC's convex hull"


def test_few_errors_are_marked(made: Made) -> None:
    """48 targets of a codec: an EER below 30 / 48 has fewer than 30 misses."""
    table = made.evaluated.cross("attack", "codec", metric=unc.SPFEER())
    assert (table.n_errors < 30).all()
    sizes = [len(made.lists("A02", "a")[i]) for i in (0, 2)]
    i, j = table.rows.index("A02"), table.columns.index("a")
    assert table.n_errors[i, j] == pytest.approx(table.values[i, j] * min(sizes), rel=1e-12)
    assert f"{table.values[i, j]:.4f}*" in str(table)
    assert "* fewer than 30 errors of a class" in str(table)


@pytest.mark.parametrize("metric", [unc.ActDCF(0.1), unc.MinDCF(0.1)])
def test_errors_of_costs_are_those_at_their_threshold(made: Made, metric: Any) -> None:
    """Misses and false alarms counted at the Bayes threshold, log 9, or at that of least cost."""
    evaluated = bp.evaluate({"a": made.scores}, made.bare, priors=0.1)
    table = evaluated.cross("codec", "attack", metric=metric)
    for i, codec in enumerate(table.rows):
        for j, attack in enumerate(table.columns):
            tar, _, non = made.lists(attack, codec)
            thresholds = [np.log(9.0)]
            if isinstance(metric, unc.MinDCF):
                thresholds = [*np.unique([*tar, *non]), np.inf]
            misses = np.array([np.sum(tar < t) for t in thresholds])
            alarms = np.array([np.sum(non >= t) for t in thresholds])
            best = np.argmin(0.1 * misses / tar.size + 0.9 * alarms / non.size)
            expected = min(misses[best], alarms[best])
            assert table.n_errors[i, j] == pytest.approx(expected, abs=1e-9)


def test_intervals_are_those_of_common_draws(made: Made) -> None:
    found = bp.evaluate(
        {"a": made.scores}, made.key, plan="ASVspoof5-2", replications=80, rng=3,
        speakers=(lambda name: name, lambda name: "s" + name[1:].split("_")[0]),
    )  # fmt: skip
    table = found.cross("attack", "codec", metric=unc.ActADCF())
    assert table.low is not None
    assert table.high is not None
    assert (table.low <= table.values).all()
    assert (table.values <= table.high).all()
    worst = table.worst
    assert (
        worst.value
        == table.values.max()
        == table.values[table.rows.index(worst.row), table.columns.index(worst.column)]
    )
    assert (worst.low, worst.high) == (table.low.max(), table.high.max())
    again = found.cross("attack", "codec", metric=unc.ActADCF())
    np.testing.assert_array_equal(again.high, table.high)
    # One interval of all cells is wider than that of one of them.
    single = unc.bootstrap_scores(
        made.scores, made.key, unc.ActADCF(), replications=80, rng=3, interval="normal",
        speakers=(lambda name: name, lambda name: "s" + name[1:].split("_")[0]),
    )  # fmt: skip
    assert np.median(table.high - table.low) > single.high - single.low
    assert f"{worst.row}, {worst.column}" in str(table)


def test_forms(made: Made) -> None:
    table = made.evaluated.cross("attack", "codec")
    records = table.records()
    assert [(r["attack"], r["codec"]) for r in records[:3]] == [
        ("A01", "a"),
        ("A01", "b"),
        ("A02", "a"),
    ]
    assert json.loads(table.to_json())[0]["value"] == records[0]["value"] == table.values[0, 0]
    assert records[0]["low"] is None
    bold = table.to_latex(bold="worst")
    assert bold.count(r"\textbf") == 3
    for values in table.values:
        assert rf"\textbf{{{values.max():.4f}" in bold
    assert bold.replace(r"\textbf{", "").replace("*}", "*").count("&") == table.to_latex().count(
        "&"
    )
    with pytest.raises(InvalidInputError, match="`bold` must be"):
        table.to_latex(bold="best")  # type: ignore[arg-type]
    assert "min a-DCF" in table._repr_html_()


def test_empty_cells_are_told() -> None:
    table = CrossTable(
        metric="EER",
        factors=("attack", "codec"),
        rows=("A01",),
        columns=("a", "b"),
        values=np.array([[np.nan, 0.25]]),
        pooled=(np.array([0.25]), np.array([np.nan, 0.25]), 0.25),
        n_errors=np.array([[np.nan, 40.0]]),
    )
    assert table.records()[0]["value"] is None
    assert str(table).splitlines()[2].split() == [
        "A01",
        "-",
        "0.2500",
        "0.2500",
        "0.2500",
        "0.2500",
    ]
    assert table.worst == WorstCell("A01", "b", 0.25, None, None)


def test_what_cannot_be_crossed_is_refused(made: Made) -> None:
    with pytest.raises(InvalidInputError, match=r"pair \(key, metadata\)"):
        bp.evaluate({"a": made.scores}, made.key[0]).cross("attack", "codec")
    with pytest.raises(InvalidInputError, match="`system` must name one of a, b"):
        bp.evaluate({"a": made.scores, "b": made.scores}, made.bare).cross("attack", "codec")
    with pytest.raises(InvalidInputError, match="`system` must be one of a"):
        made.evaluated.cross("attack", "codec", system="c")
    with pytest.raises(InvalidInputError, match="codecs"):
        made.evaluated.cross("attack", "codecs")
    with pytest.raises(InvalidInputError, match="one of two, and"):
        made.evaluated.cross("attack", "codec", metric=unc.EER())
    with pytest.raises(InvalidInputError, match="`metric` must be a number"):
        bp.evaluate({"a": made.scores}, made.bare).cross(
            "attack", "codec", metric=unc.MinDCF([0.1, 0.2])
        )


@pytest.mark.slow
def test_attacks_of_asvspoof_2019() -> None:
    """Figures of a naive count of all thresholds: the two worst and the two best attacks."""
    trials = bp.load_example("asvspoof2019_la").eval.trials
    ids, labels = (trials.model_ids(), trials.segment_ids()), trials.columns["label"].values()
    key = bp.FlatKey.from_trials(*ids, labels == "target")
    columns = {"kind": labels, **{name: trials.columns[name] for name in ("attack", "gender")}}
    metadata = bp.TrialMetadata.from_trials(*ids, columns, key)
    asv, cm = (np.asarray(trials.columns[name], dtype=float) for name in ("ecapa", "aasist"))
    fused = -np.logaddexp(np.log(0.5) - (27.25 * asv - 12.34), np.log(0.5) - cm)
    scores = bp.FlatScores.from_trials(*ids, fused)
    found = bp.evaluate({"fused": scores}, (key, metadata), plan="ASVspoof5-2")
    table = found.cross("attack", "gender")
    pooled = dict(zip(table.rows, table.pooled[0].tolist(), strict=True))
    expected = {"A10": 0.093367, "A12": 0.084626, "A14": 0.026629, "A09": 0.024598}
    for attack, value in expected.items():
        assert pooled[attack] == pytest.approx(value, abs=5e-7)
    ranked = sorted(pooled, key=lambda attack: -pooled[attack])
    assert (ranked[:2], ranked[-2:]) == (["A10", "A12"], ["A14", "A09"])


def _crossed(made: Made, llrs: np.ndarray, column: np.ndarray) -> CrossTable:
    """Cross a column with one that has one value, without spoofs, speakers drawn."""
    kept = made.kind != "spoof"
    ids = [names[kept] for names in made.ids]
    scores = bp.FlatScores.from_trials(*ids, llrs[kept])
    key = bp.FlatKey.from_trials(*ids, made.kind[kept] == "target")
    described = {"part": column[kept], "set": np.full(kept.sum(), "x")}
    metadata = bp.TrialMetadata.from_trials(*ids, described, key)
    who = Speakers(model_speakers=lambda x: x, segment_speakers=lambda x: f"s{x[1:].split('_')[0]}")
    how = {"who": who, "replications": 50, "rng": 1}
    return cross_table(scores, (key, metadata), "part", "set", unc.EER(), **how)


def test_cells_without_errors_are_open(made: Made) -> None:
    """Of 16 speakers without errors at most 1 - tail^(1/16) err; two cells hold at once."""
    llrs = np.where(made.codec == "a", np.where(made.kind == "target", 9.0, -9.0), made.llrs)
    found = _crossed(made, llrs, made.codec)
    assert found.values[0, 0] == 0.0
    assert found.high[0, 0] == pytest.approx(0.5 * (1 - 0.0125 ** (1 / 16)), rel=1e-12)
    assert found.low[0, 0] == 0.0
    assert found.worst.high == max(found.high[0, 0], found.high[1, 0])


def test_draws_without_one_cell_count_in_the_others(made: Made) -> None:
    """A cell of one speaker is lost in 36 % of the draws; its own draws are all alike."""
    of_one = (made.kind == "target") & np.char.startswith(made.ids[1].astype(str), "u3_")
    of_one |= (made.kind == "nontarget") & (made.ids[0] == "s3")
    column = np.where(of_one, "one", "rest")
    found = _crossed(made, made.llrs, column)
    assert "50 replicates" in found.how
    assert (found.low <= found.values).all()
    assert (found.high >= found.values).all()
    assert found.high.max() <= 0.5
