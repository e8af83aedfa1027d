"""The table of conditions, by hand and on real data."""

import csv
import gzip
import pickle
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from bosaris_py import LinearCalibration, evaluate
from bosaris_py.errors import (
    ConditionWarning,
    InvalidInputError,
    MissingTrialsWarning,
    SuspectScoresWarning,
)
from bosaris_py.evaluation import ConditionRow, Results, SystemTable
from bosaris_py.numerics import OperatingPoint
from bosaris_py.trials import Conditions, Key, Scores
from bosaris_py.trials.conditions import as_conditions
from tests.forms import as_list, described, labelled

WOMEN = ([3.0, 1.0, -0.5, 2.0], [-3.0, -1.5, 0.0, 1.5])
MEN = ([2.5, 0.5], [-2.0, 1.0, -4.0])


def example(
    parts: dict[str, tuple[list[float], list[float]]], **options: object
) -> tuple[Scores, Key, Conditions]:
    values = np.array([[v for tar, non in parts.values() for v in (*tar, *non)]])
    flags = [f for tar, non in parts.values() for f in (*[True] * len(tar), *[False] * len(non))]
    labels = [name for name, (tar, non) in parts.items() for _ in (*tar, *non)]
    segments = [f"{number:02}" for number in range(values.size)]
    is_target = np.array([flags])
    key = Key(["m"], segments, is_target, ~is_target)
    return (Scores(values, ["m"], segments), key, labelled(key, labels, **options))


def condition_table(
    scores: object, key: object, conditions: object, prior: object = (), **options: object
) -> SystemTable:
    return evaluate({"A": scores}, key, prior=prior, conditions=conditions, **options).table


def rows_of(table: SystemTable) -> list[ConditionRow]:
    return [row for _, row in table.rows]


class TestRows:
    def test_each_row_is_what_results_say(self):
        scores, key, conditions = example({"f": WOMEN, "m": MEN}, weights=[0.25, 0.75])
        rows = {row.name: row for row in rows_of(condition_table(scores, key, conditions, 0.1))}
        assert list(rows) == ["f", "m", "pooled", "equalised"]
        expected = {
            "f": Results(*WOMEN),
            "m": Results(*MEN),
            "pooled": Results(WOMEN[0] + MEN[0], WOMEN[1] + MEN[1]),
            "equalised": Results.from_scores(scores, key, conditions),
        }
        for name, results in expected.items():
            assert dict(rows[name].figures) == {
                "cllr": results.cllr,
                "min_cllr": results.min_cllr,
                "eer": results.eer,
                "act_dcf(0.1)": results.act_dcf(0.1, normalize=True),
                "min_dcf(0.1)": results.min_dcf(0.1, normalize=True),
            }
            assert (rows[name].n_tar, rows[name].n_non) == (results.n_tar, results.n_non)
        assert [row.weight for row in rows.values()] == [0.25, 0.75, None, None]
        assert [row.kind for row in rows.values()] == [
            *("condition", "condition"),
            *("pooled", "equalised"),
        ]

    @pytest.mark.parametrize("normalize", [True, False])
    def test_says_whether_costs_are_normalized(self, normalize):
        parts = example({"f": WOMEN, "m": MEN})
        table = condition_table(*parts, 0.1, normalize=normalize)
        said = "costs are normalized" if normalize else "costs are not normalized"
        said += "; EER of the ROC's convex hull"
        assert str(table).splitlines()[-1] == f"({said})"
        assert table.to_markdown().endswith(f"({said})\n")
        assert {row["normalized"] for row in table.records()} == {normalize}
        assert rows_of(table)[2].figures["act_dcf(0.1)"] == Results.from_scores(*parts[:2]).act_dcf(
            0.1, normalize
        )

    def test_says_nothing_of_costs_where_there_are_none(self):
        table = condition_table(*example({"f": WOMEN, "m": MEN}))
        assert "normalized" not in str(table)
        assert {row["normalized"] for row in table.records()} == {None}

    def test_several_points_and_costs(self):
        example_ = example({"f": WOMEN, "m": MEN})
        points = [0.5, OperatingPoint(0.01, 10, 1)]
        table = condition_table(*example_, points, normalize=True)
        names = ["eer", "min_dcf(0.5)", "min_dcf(0.01, 10, 1)"]
        names += ["act_dcf(0.5)", "act_dcf(0.01, 10, 1)", "min_cllr", "cllr"]
        assert list(rows_of(table)[0].figures) == names
        expected = Results(*WOMEN).act_dcf(points, normalize=True)
        record = table.records()[0]
        assert [record["act_dcf(0.5)"], record["act_dcf(0.01, 10, 1)"]] == expected.tolist()

    def test_points_that_look_alike_are_told_apart(self):
        table = condition_table(*example({"f": WOMEN}), np.array([0.01, 0.01000000001]))
        assert "act_dcf(0.01000000001)" in rows_of(table)[0].figures

    def test_without_points(self):
        table = condition_table(*example({"f": WOMEN}))
        assert list(rows_of(table)[0].figures) == ["eer", "min_cllr", "cllr"]

    def test_dropped_conditions_are_not_pooled(self):
        table = condition_table(*example({"f": WOMEN, "m": MEN}, weights=[1, 0]))
        assert [row.name for row in rows_of(table)] == ["f", "pooled", "equalised"]
        assert len({tuple(row.figures.values()) for row in rows_of(table)}) == 1
        assert rows_of(table)[1].n_tar == 4

    def test_one_class_only(self):
        with pytest.warns(ConditionWarning, match="no non-targets"):
            table = condition_table(*example({"f": WOMEN, "x": ([1.0], [])}), 0.5)
        assert set(rows_of(table)[1].figures.values()) == {None}
        assert rows_of(table)[2].figures["cllr"] == Results(WOMEN[0] + [1.0], WOMEN[1]).cllr
        assert str(table).splitlines()[3].split()[1:] == ["x", "0.5", "1", "0", *["-"] * 5]

    def test_missing_scores(self):
        scores, key, conditions = example({"f": WOMEN, "m": MEN})
        scored = np.ones(scores.scoremask.shape, dtype=bool)
        scored[0, 0] = False
        partial = Scores(scores.scoremat, scores.modelset, scores.segset, scored)
        with pytest.warns(MissingTrialsWarning, match="1 of 6 targets missing"):
            table = condition_table(partial, key, conditions)
        assert table.records()[0]["n_tar"] == 3

    def test_scores_that_are_no_llrs_are_warned_of_once(self):
        """Distances, warned of by the area under the ROC: all are, or those of one condition."""
        good = (np.linspace(1.0, 3.0, 300).tolist(), np.linspace(-3.0, -1.0, 400).tolist())
        distances = (good[1], good[0])
        with pytest.warns(SuspectScoresWarning) as caught:
            condition_table(*example({"f": distances, "m": distances}), 0.1)
        (told,) = (str(item.message) for item in caught)
        assert told.startswith("A: The area under the ROC is 0,")
        # 4000 good trials of each class, beside which 300 do not show in the area of all.
        many = (good[0] * 14, good[1] * 10)
        with pytest.warns(SuspectScoresWarning) as caught:
            condition_table(*example({"f": many, "m": distances}, weights=[0.99, 0.01]), 0.1)
        (told,) = (str(item.message) for item in caught)
        assert told.startswith("A: m: The area under the ROC is 0,")

    def test_flat_forms_are_the_same(self):
        scores, key, conditions = example({"f": WOMEN, "m": MEN})
        flat = condition_table(as_list(scores), as_list(key), conditions, [0.1, 0.5])
        assert flat == condition_table(scores, key, conditions, [0.1, 0.5])


class TestText:
    def test_aligned(self):
        *lines, _ = str(condition_table(*example({"f": WOMEN, "men": MEN}), 0.5)).splitlines()
        assert lines[0].split() == [
            *("system", "condition", "weight", "targets", "non-targets"),
            *("EER", "(%)", "minDCF(0.5)", "actDCF(0.5)", "minCllr", "Cllr"),
        ]
        assert len({len(line) for line in lines}) == 1
        assert lines[2].split()[:5] == ["A", "f", "0.5", "4", "4"]
        assert set(lines[1]) == {"-"}

    def test_pickled(self):
        table = condition_table(*example({"f": WOMEN, "m": MEN}), 0.5)
        again = pickle.loads(pickle.dumps(table))
        assert isinstance(again, SystemTable)
        assert again == table
        with pytest.raises(TypeError):
            rows_of(again)[0].figures["eer"] = 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": 1}, "must be a Scores"),
        ({"key": 1}, "`key`"),
        ({"prior": 2.0}, "`prior` must lie strictly between 0 and 1"),
    ],
)
def test_bad_input(change, message):
    arguments = dict(zip(("scores", "key", "conditions"), example({"f": WOMEN}), strict=True))
    with pytest.raises(InvalidInputError, match=message):
        condition_table(**{**arguments, **change})


def read_columns(path: Path) -> dict[str, np.ndarray]:
    with gzip.open(path, "rt", newline="") as stream:
        rows = list(csv.reader(stream))
    return dict(zip(rows[0], map(np.array, zip(*rows[1:], strict=True)), strict=True))


def flat_trials(
    models: np.ndarray, segments: np.ndarray, is_target: np.ndarray, scores: np.ndarray
) -> tuple[Scores, Key]:
    key = Key.from_trials(models, segments, is_target)
    return Scores.from_trials(models, segments, scores), key


def by_pair(key: Key, models: np.ndarray, segments: np.ndarray, values: np.ndarray) -> list[str]:
    """Return a value for each trial of a key, looked up by its two ids."""
    pairs = zip(models.tolist(), segments.tolist(), strict=True)
    table = dict(zip(pairs, values.tolist(), strict=True))
    rows, cols = key.trial_positions()
    wanted = zip(key.modelset[rows].tolist(), key.segset[cols].tolist(), strict=True)
    return [table[pair] for pair in wanted]


def rising_maps(scores: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Warp scores by some rising functions: affine, saturating, steps, and random ones."""
    centred = (scores - np.median(scores)) / scores.std()
    knots = np.quantile(scores, np.linspace(0, 1, 50))
    heights = [np.cumsum(rng.exponential(size=50)) for _ in range(20)]
    return [
        scores,
        *(scale * centred + shift for scale in (0.5, 2.0, 4.0) for shift in (-2.0, 0.0, 2.0)),
        4 * np.tanh(centred),
        np.sinh(np.clip(centred, -5, 5)),
        np.round(2 * centred),
        *(0.3 * (np.interp(scores, knots, h) - h.mean()) for h in heights),
    ]


class TestRealData:
    """Figures of single conditions are those in the README of the data."""

    PUBLISHED: ClassVar = {  # EER in percent, Cllr, minimum Cllr
        "TC1, TS1": ("13.455", ".4562", ".4339"),
        "TC1, TS2": ("7.152", ".2662", ".2503"),
        "TC2, TS1": ("13.542", ".4680", ".4321"),
        "TC2, TS2": ("7.281", ".3064", ".2502"),
        "TC3, TS1": ("10.100", ".3479", ".3316"),
        "TC3, TS2": ("4.541", ".1833", ".1653"),
        "TC4, TS1": ("10.065", ".3750", ".3368"),
        "TC4, TS2": ("5.376", ".2202", ".1879"),
        "TC5, TS1": ("7.266", ".3315", ".2499"),
        "TC5, TS2": ("3.147", ".1530", ".1099"),
        "TC6, TS1": ("5.725", ".2422", ".1868"),
        "TC6, TS2": ("1.638", ".1285", ".0616"),
    }

    @pytest.fixture
    def evalita(self, shared_data):
        columns = read_columns(shared_data / "evalita2009_ru" / "trials.csv.gz")
        models = np.char.add(np.char.add(columns["model"], "_"), columns["mcond"])
        target = columns["target"] == "1"
        scores, key = flat_trials(
            models, columns["test"], target, columns["score"].astype(np.float64)
        )
        metadata = described(
            key,
            {"tcond": by_pair(key, models, columns["test"], columns["tcond"])},
            {"mcond": [name.split("_")[1] for name in key.modelset.tolist()]},
        )
        return scores, key, as_conditions(("mcond", "tcond"), metadata)

    @pytest.fixture
    def asvspoof(self, shared_data):
        columns = read_columns(shared_data / "asvspoof2019_la" / "bonafide_eval.csv.gz")
        models, segments = columns["model"], columns["segment"]
        values = columns["asv_xvector"].astype(np.float64)
        scores, key = flat_trials(models, segments, columns["label"] == "target", values)
        labels = by_pair(key, models, segments, columns["gender"])
        return scores, key, labelled(key, labels)

    @pytest.mark.slow
    def test_evalita(self, evalita):
        table = condition_table(*evalita, 0.5)
        assert len(rows_of(table)) == 14
        for record in table.records()[:12]:
            found = (
                f"{100 * record['eer']:.3f}",
                *(f"{record[name]:.4f}"[1:] for name in ("cllr", "min_cllr")),
            )
            assert found == self.PUBLISHED[record["condition"]]
        pooled, equalised = table.records()[12:]
        assert f"{pooled['eer']:.6f}" == "0.077385"
        assert f"{pooled['cllr']:.5f}" == "0.28985"
        assert f"{pooled['min_cllr']:.5f}" == "0.27132"
        # All conditions are of 2071 trials with the same targets: weights change nothing.
        for name in ("eer", "cllr", "min_cllr", "act_dcf(0.5)", "min_dcf(0.5)"):
            assert equalised[name] == pytest.approx(pooled[name], rel=1e-12)

    def test_asvspoof(self, asvspoof):
        scores, key, conditions = asvspoof
        table = condition_table(scores, key, conditions, 0.05)
        female, male, pooled, equalised = table.records()
        assert (female["condition"], male["condition"]) == ("f", "m")
        assert female["n_tar"] + male["n_tar"] == pooled["n_tar"] == 5370
        assert equalised["cllr"] == pytest.approx((female["cllr"] + male["cllr"]) / 2, rel=1e-12)
        assert equalised["act_dcf(0.05)"] == pytest.approx(
            (female["act_dcf(0.05)"] + male["act_dcf(0.05)"]) / 2, rel=1e-12
        )
        # One calibration for both is no better than one for each.
        assert equalised["min_cllr"] > (female["min_cllr"] + male["min_cllr"]) / 2
        assert equalised["min_cllr"] != pytest.approx(pooled["min_cllr"], rel=1e-3)

    # Most of the maps make scores that are no llrs.
    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
    @pytest.mark.parametrize("name", ["evalita", "asvspoof"])
    def test_no_rising_map_is_better_than_the_minimum(self, name, request, rng):
        scores, key, conditions = request.getfixturevalue(name)
        unequal = np.arange(1.0, len(conditions) + 1)
        for weights in (None, unequal / unequal.sum()):
            weighted = conditions.with_weights(weights)
            minimum = Results.from_scores(scores, key, weighted).min_cllr
            tried = [
                Results.from_scores(
                    scores.transform(lambda _, warped=warped: warped), key, weighted
                ).cllr
                for warped in rising_maps(scores.values, rng)
            ]
            tar, non = scores.get_tar_non(key)
            tar_weights, non_weights = weighted.trial_weights(key)
            best_line = LinearCalibration.fit(
                tar, non, tar_weights=tar_weights, non_weights=non_weights
            )
            tried.append(Results.from_scores(best_line.apply(scores), key, weighted).cllr)
            assert minimum < min(tried)
            assert tried[-1] == min(tried[:11] + tried[-1:])  # the best of all affine maps
