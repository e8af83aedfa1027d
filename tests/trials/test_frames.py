"""Data frames in: what `from_trials` makes of the same rows is the reference."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials.key import WORDS
from tests.forms import as_list


def frame_of(columns, library):
    """Return columns as a data frame, texts as categories on request."""
    name, _, categories = library.partition(" ")
    if name == "dict":
        return columns
    module = pytest.importorskip(name)
    frame = (module.table if name == "pyarrow" else module.DataFrame)(columns)
    texts = [key for key, values in columns.items() if {*map(type, values[:1])} == {str}]
    if not categories:
        return frame
    if name == "pandas":
        return frame.astype(dict.fromkeys(texts, "category"))
    return frame.with_columns(module.col(texts).cast(module.Categorical))


LIBRARIES = ("dict", "pandas", "pandas categories", "polars", "polars categories", "pyarrow")


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
@pytest.mark.parametrize("shape", [(30, 40, 500), (300, 400, 200), (6, 7, 42)], ids=str)
def test_trials_scores_and_columns(library, shape):
    """A few of many cells, and all of them; float32 stays, numbers become ids."""
    rows = rows_of(*shape) | {"number": np.arange(shape[2])}
    data = bp.from_frame(frame_of(rows, library), columns=["gender", "number"])
    ids, labels = (rows["model"], rows["segment"]), [word == "target" for word in rows["label"]]
    columns = {name: rows[name] for name in ("gender", "number")}
    assert data.key == bp.Key.from_trials(*ids, labels, columns)
    assert data.key.columns["number"].dtype.kind == "i"
    assert list(data.scores) == ["A", "B"]
    for name, scores in data.scores.items():
        assert scores == bp.Scores.from_trials(*ids, rows[name])
        assert scores.values.dtype == rows[name].dtype
    rows["model"] = list(range(shape[2]))
    key = bp.from_frame(frame_of(rows, library), score="A").key
    assert set(key.modelset) == set(map(str, range(shape[2])))
    # Without labels there is an Ndx.
    del rows["label"]
    assert bp.from_frame(frame_of(rows, library), score="A").key == key.to_ndx()


@pytest.mark.parametrize("library", LIBRARIES)
def test_labels(library) -> None:
    rows = rows_of(5, 6, 20)
    is_target = [word == "target" for word in rows["label"]]
    expected = bp.from_frame(rows).key
    for tar, non in [(True, False), (1, 0), (1, -1), (1.0, 0.0), ("TGT", "imp"), ("True", "false")]:
        rows["label"] = [tar if each else non for each in is_target]
        assert bp.from_frame(frame_of(rows, library), score="A").key == expected
    for name in ("model", "label", "gender"):
        rows = rows_of(5, 6, 20)
        rows[name][7] = None
        with pytest.raises(InvalidInputError, match="row 7"):
            bp.from_frame(frame_of(rows, library), columns="gender")


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (["same", "spoof", "other"], {"tar": "same", "non": ["other", "spoof"]}),
        (["same", "other", "other"], {"tar": "same"}),
        ([5, 2, 3], {"tar": 5, "non": (2, 3)}),
    ],
)
def test_labels_that_are_named(labels, options):
    assert bp.from_frame(ROWS | {"label": labels}, **options).key.labels.tolist() == [1, -1, -1]


def test_categories_that_no_row_has():
    """They are no ids, nor labels."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(rows_of(30, 40, 500))
    few = rows.astype(dict.fromkeys(("model", "segment", "label"), "category"))
    few["label"] = few["label"].cat.add_categories(["nobody"])
    few = few[few.gender == "f"]
    assert bp.from_frame(few).key == bp.from_frame(few.to_dict("list")).key


def test_out_and_in_again():
    """The rows of the data frame are shuffled, so that a copy by position is wrong."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(rows_of(5, 6, 20)).sample(frac=1, random_state=1).reset_index(drop=True)
    data = bp.from_frame(rows)
    assert bp.from_frame(data.key.to_frame()).key == data.key
    for scores in (data.scores["B"], as_list(data.scores["B"])):
        frame = scores.to_frame()
        assert bp.from_frame(frame).scores["score"] == scores
        joined = rows.merge(frame, on=["model", "segment"])
        assert (joined["score"] == rows["B"]).all()
        # Rows with numbers for names find none of the trials.
        assert rows.assign(again=frame["score"])["again"].isna().all()
    # What else is in an index is not taken.
    noted = rows.assign(note="n").set_index(["model", "segment", "note"])
    assert bp.from_frame(noted).key == data.key


ROWS = {"model": [*"aab"], "segment": [*"sts"], "label": [1, 0, 0], "x": [1.0, 2.0, 3.0]}
FIVE = {"model": [*"abcde"], "segment": [*"sssss"], "x": [0.5, 1.5, 2.5, 3.5, 4.5]}


@pytest.mark.parametrize(
    ("changed", "options", "argument"),
    [
        *(({}, {name: "no"}, name) for name in ("model", "score", "label", "columns")),
        ({}, {"score": {"x"}}, "score"),
        ({"x": [1.0, np.nan, np.nan]}, {}, "score.*row 1 .2 rows"),
        # No column of scores is left out silently.
        ({"system": [Fraction(1, 2)] * 3}, {}, "score"),
        ({"score": ["1.5", "2", "x"]}, {}, "score"),
        ({"label": [1, 2, 0]}, {}, "label"),
        ({"label": ["same", "unknown", "different"]}, {"tar": "same", "non": "different"}, "non"),
        *(({"label": [1, 2, 2]}, {"tar": tar}, "tar") for tar in ("zz", None, np.nan, 3)),
        ({"target": [1, 0, 0]}, {}, "label"),
        ({"segment": ["s", "s", "s"]}, {}, "df.*row 0 again in row 1"),
        ({"model": [0.5, 1.5, 2.5]}, {}, "model"),
        ({"segment": [*"st"]}, {}, "(df|segment)"),
        ({"model": ["m" * 10**6, "n", "n"]}, {}, "models"),
        # Two values may be labels, from four rows on.
        (FIVE | {"label": [1, 0, 1, 0, 0], "y": [0, 1, 1, 0, 1]}, {"label": "label"}, "score"),
        (FIVE | {"label": None, "y": [-1, 1, 1, -1, 1]}, {}, "label"),
        # A score beside other numbers.
        (FIVE | {"label": [1, 0, 1, 0, 0], "score": FIVE["x"]}, {}, "score"),
    ],
)
def test_bad_input(changed, options, argument):
    rows = {name: values for name, values in (ROWS | changed).items() if values is not None}
    with pytest.raises(InvalidInputError, match=f"`{argument}"):
        bp.from_frame(rows, **options)


def test_numbers_that_are_scores_because_they_are_named() -> None:
    rows = FIVE | {"y": [0, 1, 1, 0, 1]}
    few = {name: values[:3] for name, values in rows.items()}
    both = FIVE | {"score": FIVE["x"], "label": [1, 0, 1, 0, 0]}
    for frame, options, names in (
        (rows, {"score": ["x", "y"]}, ["x", "y"]),
        (rows, {"label": "y"}, ["x"]),
        # Of three rows, scores may be 0 and 1 by chance.
        (few, {}, ["x", "y"]),
        (both, {"columns": "x"}, ["score"]),
    ):
        assert list(bp.from_frame(frame, **options).scores) == names


@pytest.mark.parametrize("value", [3, np.zeros((2, 2)), "rows.csv", [{"model": "a"}], (), {}])
def test_no_data_frame(value) -> None:
    with pytest.raises(InvalidInputError, match="`df` must"):
        bp.from_frame(value)
    for library in ("pandas", "polars", "pyarrow", "dict"):
        with pytest.raises(InvalidInputError, match="`df` must have a row"):
            bp.from_frame(frame_of({"model": [], "segment": [], "label": [], "s": []}, library))


def test_spoofs() -> None:
    frame = {
        **{"model": [*"baba"], "segment": [*"stuv"], "attack": ["A09", "-", "-", "A10"]},
        **{"label": ["spoof", "target", "nontarget", "spoof"], "llr": [0.5, 2.5, -1.0, 1.5]},
    }
    data = bp.from_frame(frame, columns="attack")
    scores, attacks = data.scores["llr"].get_scores(data.key), data.key.columns["attack"].values()
    found = zip(*(x.tolist() for x in (attacks, WORDS[data.key.labels], scores)), strict=True)
    assert {*found} == {*zip(frame["attack"], frame["label"], frame["llr"], strict=True)}


def test_bins_and_dates_describe_trials_but_are_no_ids():
    """Bins keep their order, which that of their texts is not: "(9, 20]" comes last of these."""
    pd = pytest.importorskip("pandas")
    days = pd.to_datetime(["2026-02-01", "2026-01-01", "2026-02-01"])
    bins = pd.cut([15, 1, 7], [0, 5, 9, 20])
    df = pd.DataFrame(ROWS | {"bin": bins, "day": days, "month": days.to_period("M")})
    found = bp.from_frame(df, score="x", columns=["bin", "day", "month"]).key.columns
    assert found.factor("bin").levels.tolist() == ["(0, 5]", "(5, 9]", "(9, 20]"]
    assert found.factor("bin").values().tolist() == ["(9, 20]", "(5, 9]", "(0, 5]"]
    assert found.factor("day").values()[0] == "2026-02-01 00:00:00"
    with pytest.raises(InvalidInputError, match="`model` must name"):
        bp.from_frame(df, model="day", score="x")
    df["bin"] = pd.cut([15, 1, 7], [0, 5, 9])
    with pytest.raises(InvalidInputError, match=r"`columns`.* row 0"):
        bp.from_frame(df, score="x", columns="bin")
    with pytest.raises(InvalidInputError, match="`df` must be a data frame"):
        bp.from_frame(df["x"])


@pytest.mark.slow
def test_imports_no_data_frame_library() -> None:
    code = "import sys, bosaris_py as bp; bp.from_frame({'model': 'a', 'segment': 'b', 's': [1.0]})"
    code += "; assert not {'pandas', 'polars', 'pyarrow'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
