"""Data frames in: what `from_trials` makes of the same rows is the reference."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials import Key, Scores
from bosaris_py.trials.key import WORDS
from tests.forms import as_list

LIBRARIES = ("dict", "pandas", "pandas categories", "polars", "polars categories", "pyarrow")


def frame_of(columns, library):
    """Return columns as a data frame, texts as categories on request."""
    name, categories, _ = [*library.split(), "", ""][:3]
    if name == "dict":
        return columns
    module = pytest.importorskip(name)
    if name == "pyarrow":
        return module.table(columns)
    frame = module.DataFrame(columns)
    texts = [key for key, values in columns.items() if isinstance(values[0], str)]
    if not categories:
        return frame
    if name == "pandas":
        return frame.astype(dict.fromkeys(texts, "category"))
    return frame.with_columns(module.col(texts).cast(module.Categorical))


def rows_of(n_models, n_segments, n_rows, seed=0):
    """Return rows of random trials in random order, each once."""
    rng = np.random.default_rng(seed)
    models, segments = np.divmod(rng.permutation(n_models * n_segments)[:n_rows], n_segments)
    is_target = rng.random(n_rows) < 0.2
    return {
        "model": [f"m{i}" for i in models],
        "segment": [f"s{i}" for i in segments],
        "label": np.where(is_target, "target", "nontarget").tolist(),
        "A": rng.normal(size=n_rows),
        "B": rng.normal(size=n_rows).astype(np.float32),
        "gender": np.where(models % 2, "f", "m").tolist(),
    }


@pytest.mark.parametrize("library", LIBRARIES)
class TestEachLibrary:
    @pytest.mark.parametrize(
        ("shape", "classes"),
        [
            ((30, 40, 500), (Key, Scores)),
            pytest.param((3000, 4000, 2000), (Key, Scores), marks=pytest.mark.slow),
        ],
    )
    def test_trials_scores_and_metadata(self, library, shape, classes):
        rows = rows_of(*shape)
        data = bp.from_frame(frame_of(rows, library), columns="gender")
        ids, labels = (rows["model"], rows["segment"]), [word == "target" for word in rows["label"]]
        columns = {"gender": rows["gender"]}
        assert data.key == classes[0].from_trials(*ids, labels, columns)
        assert list(data.scores) == ["A", "B"]
        for name, scores in data.scores.items():
            assert scores == classes[1].from_trials(*ids, rows[name])

    def test_float32_stays(self, library):
        data = bp.from_frame(frame_of(rows_of(3, 4, 9), library))
        assert [scores.scoremat.dtype for scores in data.scores.values()] == [
            np.float64,
            np.float32,
        ]

    @pytest.mark.parametrize("labels", [(True, False), (1, 0), (1, -1), (1.0, 0.0), ("TGT", "imp")])
    def test_labels(self, library, labels):
        rows = rows_of(5, 6, 20)
        expected = bp.from_frame(rows).key
        rows["label"] = [labels[0] if word == "target" else labels[1] for word in rows["label"]]
        assert bp.from_frame(frame_of(rows, library), score="A").key == expected

    def test_any_word_for_target(self, library):
        rows = rows_of(5, 6, 20)
        expected = bp.from_frame(rows).key
        others = iter(["different", "spoof", "?"] * 10)
        rows["same"] = ["yes" if word == "target" else next(others) for word in rows.pop("label")]
        others = ["different", "spoof", "?"]
        data = bp.from_frame(frame_of(rows, library), label="same", tar="yes", non=others)
        assert data.key == expected

    def test_missing_values_name_the_row(self, library):
        for name, argument in (("model", "model"), ("label", "label"), ("gender", "columns")):
            rows = rows_of(5, 6, 20)
            rows[name][7] = None
            with pytest.raises(InvalidInputError) as error:
                bp.from_frame(frame_of(rows, library), columns="gender")
            if library != "dict":  # a list is refused by its own reader
                assert f"`{argument}` must hold a value in each row" in str(error.value)
                assert "row 7 (1 rows in all)" in str(error.value)

    def test_missing_truth_values_name_the_row(self, library):
        rows = rows_of(5, 6, 20) | {"label": [True, False, None, True] * 5}
        with pytest.raises(InvalidInputError, match=r"None for 5 of 20|none in row 2 "):
            bp.from_frame(frame_of(rows, library))

    def test_numbers_as_ids_become_text(self, library):
        rows = rows_of(3, 4, 9) | {"model": list(range(9))}
        key = bp.from_frame(frame_of(rows, library)).key
        assert key.modelset.tolist() == [str(i) for i in range(9)]


class TestOrders:
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("share", [1.0, 0.6])
    def test_rows_in_the_order_of_a_matrix(self, order, share):
        rng = np.random.default_rng(1)
        m, s = (side.ravel(order) for side in np.indices((6, 7)))
        kept = np.sort(rng.permutation(42)[: int(42 * share)])
        models, segments = [f"m{i}" for i in m[kept]], [f"s{i}" for i in s[kept]]
        values, labels = rng.normal(size=kept.size), rng.random(kept.size) < 0.5
        data = bp.from_frame(
            {"model": models, "segment": segments, "label": labels, "x": values, "y": -values}
        )
        assert data.key == Key.from_trials(models, segments, labels)
        assert data.scores["x"] == Scores.from_trials(models, segments, values)
        assert data.scores["y"] == Scores.from_trials(models, segments, -values)

    @pytest.mark.slow
    def test_categories_that_no_row_has_are_no_ids(self):
        pandas = pytest.importorskip("pandas")
        for shape in ((30, 40, 500), (3000, 4000, 2000)):
            rows = pandas.DataFrame(rows_of(*shape)).astype(
                {"model": "category", "segment": "category"}
            )
            few = rows[rows.gender == "f"]
            data = bp.from_frame(few)
            assert set(data.key.modelset) == set(few.model.astype(str))
            assert data.key == bp.from_frame(few.to_dict("list")).key

    def test_frames_align_by_trial(self):
        """The rows of the data frame are shuffled, so that a copy by position is wrong."""
        pandas = pytest.importorskip("pandas")
        rows = pandas.DataFrame(rows_of(5, 6, 20)).sample(frac=1, random_state=1)
        rows = rows.reset_index(drop=True)
        data = bp.from_frame(rows)
        for scores in (data.scores["B"], as_list(data.scores["B"])):
            frame = scores.to_frame()
            assert frame.index.names == ["model", "segment"]
            indexed = rows.astype({"model": str, "segment": str}).set_index(["model", "segment"])
            indexed["again"] = frame["score"]
            assert (indexed["again"] == indexed["B"]).all()
            # Rows with numbers for names find none of the trials.
            assert rows.assign(again=frame["score"])["again"].isna().all()
            assert np.array_equal(data.column(scores), rows["B"].to_numpy())
        joined = rows.astype({"model": str, "segment": str}).merge(
            data.scores["A"].to_frame(), on=["model", "segment"]
        )
        assert (joined["score"] == joined["A"]).all()
        assert list(data.key.to_frame().columns) == ["target"]
        assert list(data.key.to_ndx().to_frame().columns) == []

    @pytest.mark.parametrize("n_models", [5, 400])
    def test_a_column_has_the_order_of_the_rows(self, n_models):
        """As matrices, and as a list of trials that are few among many models and segments."""
        rng = np.random.default_rng(5)
        cells = rng.choice(n_models * n_models, size=20, replace=False)
        models, segments = np.divmod(cells, n_models)
        table = {"model": models, "segment": segments, "llr": rng.normal(size=20)}
        data = bp.from_frame(table)
        assert data.column(data.scores["llr"]).tolist() == table["llr"].tolist()
        doubled = data.scores["llr"].transform(lambda x: np.arange(x.size) + 0.0)
        positions = zip(doubled.ids, doubled.trial_positions(), strict=True)
        names = (ids[of_trials].tolist() for ids, of_trials in positions)
        taken = {trial: value for value, trial in enumerate(zip(*names, strict=True))}
        expected = [taken[str(m), str(s)] for m, s in zip(models, segments, strict=True)]
        assert data.column(doubled).tolist() == expected
        some = data.scores["llr"].filter([str(models[0])], [], keep=False)
        with pytest.raises(TrialMismatchError, match="lacks"):
            data.column(some)

    def test_out_and_in_again(self):
        pytest.importorskip("pandas")
        data = bp.from_frame(rows_of(5, 6, 20))
        assert bp.from_frame(data.key.to_frame()).key == data.key
        assert bp.from_frame(data.scores["B"].to_frame()).scores["score"] == data.scores["B"]
        flat = as_list(data.key)
        assert flat.records() == data.key.records()
        assert as_list(data.scores["A"]).records() == data.scores["A"].records()


class TestChoices:
    def test_numbers_beside_are_scores(self):
        data = bp.from_frame(rows_of(3, 4, 9) | {"length": list(range(9))}, columns=["length"])
        assert list(data.scores) == ["A", "B"]
        assert data.key.columns["length"].dtype.kind == "i"

    def test_named_columns(self):
        rows = rows_of(3, 4, 9)
        rows["enrol"], rows["test"] = rows.pop("model"), rows.pop("segment")
        data = bp.from_frame(rows, model="enrol", segment="test", score="A", label="label")
        assert list(data.scores) == ["A"]

    def test_without_labels_there_is_an_ndx(self):
        rows = rows_of(3, 4, 9)
        key = bp.from_frame(rows).key
        del rows["label"]
        assert bp.from_frame(rows).key == key.to_ndx()

    def test_evaluate_takes_it_all(self):
        data = bp.from_frame(rows_of(8, 9, 72), columns="gender")
        evaluation = bp.evaluate(data.scores, data.key, prior=0.5, conditions="gender")
        assert [r["system"] for r in evaluation.records()] == ["A"] * 4 + ["B"] * 4


ROWS = {
    "model": ["a", "a", "b"],
    "segment": ["s", "t", "s"],
    "label": [1, 0, 0],
    "x": [1.0, 2.0, 3.0],
}


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        (
            {},
            {"model": "enrol"},
            r"`model` must name a column \(model, segment, label, x\); got 'enrol'",
        ),
        ({}, {"score": "y"}, "`score` must name a column"),
        ({}, {"label": "key"}, "`label` must name a column"),
        ({}, {"columns": ["sex"]}, "`columns` must name a column"),
        ({"x": [1.0, np.nan, np.nan]}, {}, r"NaN in row 1 \(2 rows in all\)"),
        ({"x": ["1", "2", "3"]}, {"score": "x"}, "must hold real numbers"),
        ({"label": [1, 2, 0]}, {}, r"must be 1 or 0, or 1 or -1; got 2 in row 1"),
        ({"label": [1.0, np.nan, 0.0]}, {}, "got nan in row 1"),
        (
            {"label": ["target", "spoof", "nontarget"]},
            {"spoof": "error"},
            'row 1 .*spoof="keep" tells the kinds',
        ),
        (
            {"label": ["same", "unknown", "different"]},
            {"tar": "same"},
            r"`non` must name the labels .* several others; got .*different.*unknown is|Leave out",
        ),
        ({"label": [1, 0, 2]}, {"tar": 1}, "`non` must name the labels that mean non-target"),
        (
            {"label": ["same", "unknown", "different"]},
            {"tar": "same", "non": "different"},
            "`non` must name all labels of column 'label' but `tar`; got none of 'unknown'",
        ),
        ({"label": [1, 0, 0]}, {"non": 0}, "`non` must be given with `tar` only"),
        *[
            (
                {"label": [1, 2, 2]},
                {"tar": tar},
                r"`tar` must be a label of column 'label' \(1, 2\)",
            )
            for tar in ("2", "zz", None, np.nan, 3)
        ],
        (
            {"label": ["x", "y", "x"]},
            {"tar": "z"},
            r"be a label of column 'label' \(x, y\); got 'z'",
        ),
        ({"segment": ["s", "s", "s"]}, {}, r"\(a, s\) of row 0 again in row 1 with another label"),
        (
            {"segment": ["s", "s", "s"], "label": [1, 1, 0]},
            {},
            r"one row for each trial; got \(a, s\) of row 0 again in row 1 \(1 rows repeat",
        ),
        ({"model": [0.5, 1.5, 2.5]}, {}, "text or whole numbers; got floating-point num"),
    ],
)
def test_bad_input(changed, options, message):
    with pytest.raises(InvalidInputError, match=message):
        bp.from_frame(ROWS | changed, **options)


@pytest.mark.parametrize("values", [[1.5, None, 2.0], ["1.5", "2", "x"], [Fraction(1, 2)] * 3])
def test_no_column_of_scores_is_left_out_silently(values):
    pandas = pytest.importorskip("pandas")
    name = "score" if isinstance(values[0], str) else "system"
    frame = pandas.DataFrame(ROWS).assign(**{name: pandas.Series(values, dtype=object)})
    with pytest.raises(InvalidInputError, match=f"`score '{name}'` must hold real numbers"):
        bp.from_frame(frame)
    assert list(bp.from_frame(frame, score="x").scores) == ["x"]


@pytest.mark.slow
def test_repeated_rows_in_a_large_grid():
    rows = rows_of(3000, 4000, 2000)
    rows = {name: [*values, values[5]] for name, values in rows.items()}
    with pytest.raises(InvalidInputError, match="of row 5 again in row 2000"):
        bp.from_frame(rows)


@pytest.mark.parametrize("shape", [(3, 4, 9), (400, 500, 40)])
def test_repeated_rows_without_labels(shape):
    """In a matrix, and in a list of few trials among many models and segments."""
    rows = rows_of(*shape)
    del rows["label"]
    rows = {name: [*values, values[5]] for name, values in rows.items()}
    with pytest.raises(InvalidInputError, match=f"of row 5 again in row {shape[2]}"):
        bp.from_frame(rows)


@pytest.mark.parametrize("shape", [(9000, 4000), (4000, 9000)])
def test_a_list_of_trials_has_the_order_of_the_matrix(shape):
    """With more models than segments, and with fewer; the model index runs fastest."""
    rng = np.random.default_rng(2)
    cells = rng.choice(shape[0] * shape[1], size=3000, replace=False)
    m, s = np.divmod(cells, shape[1])
    models, segments = [f"m{i:04d}" for i in m], [f"s{i:04d}" for i in s]
    values = rng.normal(size=3000)
    data = bp.from_frame({"model": models, "segment": segments, "llr": values})
    (scores,) = data.scores.values()
    assert isinstance(scores, bp.Scores)
    order = np.lexsort((m, s))
    names = [ids[at] for ids, at in zip(scores.ids, scores.trial_positions(), strict=True)]
    assert names[0].tolist() == np.array(models)[order].tolist()
    assert names[1].tolist() == np.array(segments)[order].tolist()
    assert scores.values.tolist() == values[order].tolist()


@pytest.mark.parametrize("value", [3, np.zeros((2, 2)), "rows.csv", [{"model": "a"}], ()])
def test_no_data_frame(value):
    with pytest.raises(InvalidInputError, match="must be a data frame"):
        bp.from_frame(value)


@pytest.mark.parametrize("name", list(ROWS))
def test_columns_of_other_lengths(name):
    with pytest.raises(InvalidInputError, match=r"`df` must have \d+ rows in each column; got"):
        bp.from_frame(ROWS | {name: ROWS[name][:1]})


def test_labels_that_no_row_has():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"model": ["a", "a", "b"], "segment": ["x", "y", "x"], "s": [1.0, 0.0, 2.0]}
    )
    frame["label"] = pandas.Categorical(["target", "nontarget", "attack"])
    key = bp.from_frame(frame[frame.label != "attack"]).key
    assert key.records() == [
        {"model": "a", "segment": "x", "target": True},
        {"model": "a", "segment": "y", "target": False},
    ]


def test_ids_with_fractions():
    with pytest.raises(InvalidInputError, match="`model` must name a column of text or whole"):
        bp.from_frame({"model": [1.5, 2.5], "segment": ["x", "y"], "s": [0.0, 1.0]})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_no_rows(library):
    empty = {"model": [], "segment": [], "label": [], "s": []}
    if library != "dict":
        module = pytest.importorskip(library)
        empty = module.table(empty) if library == "pyarrow" else module.DataFrame(empty)
    with pytest.raises(InvalidInputError, match="`df` must have a row for each trial; got no rows"):
        bp.from_frame(empty)


@pytest.mark.slow
def test_imports_no_data_frame_library():
    code = (
        "import sys, bosaris_py as bp\n"
        "bp.from_frame({'model': ['a'], 'segment': ['b'], 's': [1.0]})\n"
        "print({'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("labels", "how"),
    [
        (["same", "spoof", "other"], {"tar": "same", "non": ["other", "spoof"]}),
        (["same", "other", "other"], {"tar": "same"}),
        (["same", "other", "other"], {"tar": "same", "non": "other"}),
        ([5, 2, 3], {"tar": 5, "non": (2, 3)}),
        ([5, 2, 2], {"tar": 5}),
        ([5, 2, 2], {"tar": 5, "non": 2}),
    ],
)
def test_labels_that_mean_no_target_are_named(labels, how):
    table = {"model": ["a", "b", "c"], "segment": ["x", "y", "z"], "label": labels}
    assert bp.from_frame(table, **how).key.is_target.tolist() == [True, False, False]


@pytest.mark.parametrize("count", [4, 20, 299])
def test_columns_that_look_like_labels_are_refused_from_four_rows_on(count):
    rows = {
        "model": [f"m{i}" for i in range(count)],
        "segment": ["s"] * count,
        "x": [float(i % 2) for i in range(count)],
    }
    with pytest.raises(InvalidInputError, match="looks like labels"):
        bp.from_frame(rows)
    # Of three, scores may be 0 and 1 by chance.
    assert list(bp.from_frame({name: values[:3] for name, values in rows.items()}).scores) == ["x"]


def test_one_long_id_does_not_take_room_for_all():
    rows = {"model": ["m" * 10**6, "n"], "segment": ["s", "t"], "x": [0.5, 1.5]}
    with pytest.raises(InvalidInputError, match=r"at most 16,384 characters"):
        bp.from_frame(rows)
    with pytest.raises(InvalidInputError, match=r"`modelset` must .* at most 16,384 characters"):
        bp.Scores([[0.5], [1.5]], rows["model"], ["s"])


@pytest.mark.parametrize("name", ["score", "columns"])
def test_sets_have_no_order(name):
    frame = rows_of(3, 4, 10)
    with pytest.raises(InvalidInputError, match=rf"`{name}` must be a list of names.*order"):
        bp.from_frame(frame, label="label", **{name: {"A", "B"}})


def test_a_column_of_two_values_is_no_score_beside_labels():
    """From four rows on; fewer scores may be 0 and 1 by chance."""
    frame = rows_of(3, 4, 10)
    del frame["A"], frame["B"]
    frame["answer"] = [0, 1] * 5
    with pytest.raises(InvalidInputError, match=r"`score`.*looks like labels.*only 0 and 1"):
        bp.from_frame(frame, label="label")
    few = {name: values[:3] for name, values in frame.items()}
    few["label"] = ["target", "nontarget", "nontarget"]
    assert bp.from_frame(few, label="label").scores["answer"].n_trials == 3


def test_categories_without_rows_are_left_out():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows_of(4, 5, 20))
    for column in ("model", "segment"):
        frame[column] = frame[column].astype("category").cat.add_categories(["nobody"])
    data = bp.from_frame(frame, label="label", score="A")
    assert "nobody" not in [*data.key.modelset, *data.key.segset]
    assert data.scores["A"].scoremat.shape == data.key.tar.shape == (4, 5)


@pytest.mark.parametrize(("name", "value"), [("score", 3), ("columns", 5)])
def test_names_of_columns_are_names(name, value):
    with pytest.raises(InvalidInputError, match=f"`{name}` must be the name of a column, or"):
        bp.from_frame(rows_of(3, 4, 10), label="label", **{name: value})


def test_a_single_column_is_no_data_frame():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidInputError, match="`df` must be a data frame"):
        bp.from_frame(pandas.Series([1.0, 2.0]))


_SPOOFED = {
    "model": ["b", "a", "b", "a"],
    "segment": ["s2", "s1", "s1", "s3"],
    "label": ["spoof", "target", "nontarget", "spoof"],
    "attack": ["A09", "-", "-", "A10"],
    "llr": [0.5, 2.5, -1.0, 1.5],
}


@pytest.mark.parametrize("rows", [1, 500], ids=["matrix", "list"])
def test_spoofs_are_kept_with_their_kind(rows):
    frame = {name: values * rows for name, values in _SPOOFED.items()}
    for name in ("model", "segment"):
        frame[name] = [f"{value}{i // 4}" for i, value in enumerate(frame[name])]
    data = bp.from_frame(frame, columns="attack", spoof="keep")
    assert data.key.n_tar == rows
    scores = data.scores["llr"].get_scores(data.key)
    kinds = dict(zip(scores.tolist(), WORDS[data.key.labels].tolist(), strict=True))
    assert kinds == {0.5: "spoof", 2.5: "target", -1.0: "nontarget", 1.5: "spoof"}
    lists = [2.5] * rows, [-1.0] * rows, [0.5, 1.5] * rows
    found = bp.evaluate(data.scores, data.key, plan="SASV2022").records()[0]
    assert found["spf_eer"] == bp.spf_eer(*lists)


def test_spoofs_as_non_targets():
    kept = bp.from_frame(_SPOOFED, spoof="keep")
    pooled = bp.from_frame(_SPOOFED, spoof="nontarget")
    assert kept.key.to_ndx() == pooled.key.to_ndx()
    assert (kept.key.n_spoof > 0, pooled.key.n_spoof) == (True, 0)
    unlike = {**_SPOOFED, "label": [True, False, False, False]}
    assert sorted(bp.from_frame(unlike).key.labels.tolist()) == [-1, -1, -1, 1]


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({}, {"spoof": "drop"}, "`spoof` must be"),
        ({}, {"spoof": "nontarget", "tar": "spoof"}, "`spoof` must be left out with"),
    ],
)
def test_bad_spoofs(changed, options, message):
    with pytest.raises(InvalidInputError, match=message):
        bp.from_frame({**_SPOOFED, **changed}, label="label", score="llr", **options)


def test_categories_of_polars_without_a_value():
    polars = pytest.importorskip("polars")
    types = {"model": polars.Categorical, "segment": polars.Categorical, "score": polars.Float64}
    empty = polars.DataFrame({name: [] for name in types}, schema=types)
    with pytest.raises(InvalidInputError, match="a row for each trial; got no rows"):
        bp.from_frame(empty, score="score")
    nobody = polars.DataFrame({"model": [None], "segment": ["s"], "score": [1.0]}, schema=types)
    with pytest.raises(InvalidInputError, match="`model` must hold a value in each row; got none"):
        bp.from_frame(nobody, score="score")


def test_bins_and_dates_describe_trials_but_are_no_ids() -> None:
    """Bins keep their order, which that of their texts is not: "(9, 20]" comes last of these."""
    pd = pytest.importorskip("pandas")
    days = pd.to_datetime(["2026-02-01", "2026-01-01", "2026-02-01"])
    df = pd.DataFrame(
        {
            **{"model": ["a", "a", "b"], "segment": ["s", "t", "s"], "score": [1.0, 2.0, 3.0]},
            "label": [1, 0, 0],
            **{"bin": pd.cut([15, 1, 7], [0, 5, 9, 20]), "day": days, "month": days.to_period("M")},
        }
    )
    found = bp.from_frame(df, score="score", columns=["bin", "day", "month"]).key.columns
    assert found.factor("bin").levels.tolist() == ["(0, 5]", "(5, 9]", "(9, 20]"]
    assert found.factor("bin").values().tolist() == ["(9, 20]", "(5, 9]", "(0, 5]"]
    assert found.factor("month").values().tolist() == ["2026-02", "2026-02", "2026-01"]
    assert found.factor("day").values()[0] == "2026-02-01 00:00:00"
    with pytest.raises(InvalidInputError, match="`model` must name a column of text or whole"):
        bp.from_frame(df, model="day", score="score")
    df["bin"] = pd.cut([15, 1, 7], [0, 5, 9])
    with pytest.raises(InvalidInputError, match=r"`columns` .* none in row 0 .*'unknown'"):
        bp.from_frame(df, score="score", columns="bin")


def test_an_index_of_other_names_is_no_column():
    """Ids in the index of a data frame are taken, and what else is there is not."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(rows_of(3, 4, 9))
    indexed = rows.assign(note=["n"] * len(rows)).set_index(["model", "segment", "note"])
    found = bp.from_frame(indexed)
    assert found.key == bp.from_frame(rows).key
    assert "note" not in found.key.columns


def test_labels_that_are_named_beside_the_target():
    rows = {"model": [*"aab"], "segment": [*"xyx"], "label": [*"tno"], "llr": [1.0, 2.0, 3.0]}
    with pytest.raises(InvalidInputError, match="name all labels of column 'label' but `tar`"):
        bp.from_frame(rows, tar="t", non=["n"])
    assert bp.from_frame(rows, tar="t", non=["n", "o"]).key.n_non == 2
